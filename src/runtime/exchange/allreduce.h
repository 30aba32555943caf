/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.h - combines reduced scalars over all engines and processes. */
#ifndef AMBIT_RUNTIME_EXCHANGE_ALLREDUCE_H
#define AMBIT_RUNTIME_EXCHANGE_ALLREDUCE_H

#include "runtime/program/program.h"

typedef struct ambit__allreduce {
  ambit *context;
  const ambit__step *step;
  uint32_t which;      /* bit i: the scalar of parameter i is combined */
  bool strict;         /* sums of real numbers are combined in long accumulators */
  size_t bytes;        /* the scalars of one process */
  unsigned char *mine; /* those of this process; owned, together with `all` */
  unsigned char *all;  /* those of every process, by rank */
  ambit__request request;
  bool sent;
} ambit__allreduce;

/* For the parameters with a bit in `which`. */
ambit_status ambit__allreduce_make(ambit *a, const ambit__step *s, uint32_t which,
                                   ambit__allreduce **x);
void ambit__allreduce_free(ambit__allreduce *x); /* NULL does nothing */
ambit_status ambit__allreduce_begin(ambit__allreduce *x);
ambit_status ambit__allreduce_finish(ambit__allreduce *x);

#endif
