/* share.h - making reduced scalars those of all engines and processes. */
#ifndef AMBIT_RUNTIME_SHARE_H
#define AMBIT_RUNTIME_SHARE_H

#include "runtime/runtime.h"

typedef struct ambit__eight {
  unsigned char bytes[8]; /* of one value, of whatever type */
} ambit__eight;

typedef struct ambit__share {
  ambit *context;
  const ambit__step *step;
  int n;              /* scalars it reduces */
  ambit__eight *mine; /* of this process; owned, and `all` with it */
  ambit__eight *all;  /* of every process, by rank */
  ambit__request request;
  bool sent;
} ambit__share;

ambit_status ambit__share_make(ambit *a, const ambit__step *s, ambit__share **x);
void ambit__share_free(ambit__share *x); /* NULL does nothing */
ambit_status ambit__share_begin(ambit__share *x);
ambit_status ambit__share_finish(ambit__share *x);

#endif
