/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.h - making reduced scalars those of all engines and processes. */
#ifndef AMBIT_RUNTIME_EXCHANGE_ALLREDUCE_H
#define AMBIT_RUNTIME_EXCHANGE_ALLREDUCE_H

#include "runtime/program/program.h"

typedef struct ambit__allreduce {
  ambit *context;
  const ambit__step *step;
  uint32_t which;      /* a bit for each parameter whose scalar is combined */
  bool strict;         /* sums of real numbers are combined in long accumulators */
  size_t bytes;        /* of the scalars of one process */
  unsigned char *mine; /* of this process; owned, and `all` with it */
  unsigned char *all;  /* of every process, by rank */
  ambit__request request;
  bool sent;
} ambit__allreduce;

/* Of the parameters that have a bit in `which`. */
ambit_status ambit__allreduce_make(ambit *a, const ambit__step *s, uint32_t which,
                                   ambit__allreduce **x);
void ambit__allreduce_free(ambit__allreduce *x); /* NULL does nothing */
ambit_status ambit__allreduce_begin(ambit__allreduce *x);
ambit_status ambit__allreduce_finish(ambit__allreduce *x);

#endif
