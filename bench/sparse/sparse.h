/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.h - masks and kernels of bench_sparse, and lists of active cells that are written by hand.
 */
#ifndef AMBIT_BENCH_SPARSE_H
#define AMBIT_BENCH_SPARSE_H

#include "ambit.h"

enum { STAR, D3Q19, MATVEC, MASKED }; /* kernels */

typedef struct mask {
  const char *name;
  int64_t n; /* cells per axis */
  int kind;
} mask;

/* A program, and the best time of it. */
typedef struct job {
  ambit_grid *grid;
  ambit_program *program; /* NULL: none */
  ambit_field *result;    /* of one iteration */
  double cells;           /* active ones */
  double best;            /* seconds per iteration */
} job;

int is_active(const int64_t *i, void *user); /* of a mask */
double now(void);                            /* seconds */

/* ---- list.c: a value per cell, and the numbers of its neighbours ---- */

typedef struct list list;

/* The kernel star on cores, in a loop. NULL: no memory. */
list *list_make(const mask *m);
double list_run(list *l, double seconds); /* of an iteration */
void list_free(list *l);

/* A kernel on a GPU: a program on a dense grid of one axis, with a function that reads anywhere. */
job list_job(ambit *a, const mask *m, int kind);

#endif
