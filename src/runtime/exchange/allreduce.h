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
  unsigned char *mine; /* those of this process */
  unsigned char *all;  /* those of every process, by rank */
  ambit__request request;
  bool sent;
} ambit__allreduce;

/* Makes that of a sealed program's step, p->applies[step].allreduce. */
ambit_status ambit__allreduce_make(ambit_program *p, size_t step);
void ambit__allreduce_cancel(ambit__allreduce *x); /* NULL does nothing */
ambit_status ambit__allreduce_begin(ambit__allreduce *x);
ambit_status ambit__allreduce_finish(ambit__allreduce *x);

#endif
