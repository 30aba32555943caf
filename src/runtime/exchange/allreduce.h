/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.h - making reduced scalars those of all engines and processes. */
#ifndef AMBIT_RUNTIME_EXCHANGE_ALLREDUCE_H
#define AMBIT_RUNTIME_EXCHANGE_ALLREDUCE_H

#include "runtime/program/program.h"

typedef struct ambit__eight {
  unsigned char bytes[8]; /* of one value, of whatever type */
} ambit__eight;

typedef struct ambit__allreduce {
  ambit *context;
  const ambit__step *step;
  int n;              /* scalars it reduces */
  ambit__eight *mine; /* of this process; owned, and `all` with it */
  ambit__eight *all;  /* of every process, by rank */
  ambit__request request;
  bool sent;
} ambit__allreduce;

ambit_status ambit__allreduce_make(ambit *a, const ambit__step *s, ambit__allreduce **x);
void ambit__allreduce_free(ambit__allreduce *x); /* NULL does nothing */
ambit_status ambit__allreduce_begin(ambit__allreduce *x);
ambit_status ambit__allreduce_finish(ambit__allreduce *x);

#endif
