/* SPDX-License-Identifier: BSD-3-Clause */
/* function.h - a function of the CPU device: function.c builds it, launch.c runs it. */
#ifndef AMBIT_DEVICE_CPU_FUNCTION_H
#define AMBIT_DEVICE_CPU_FUNCTION_H

#include "device/cpu/cpu.h"
#include "device/cpu/generic.h"

enum {
  AMBIT__CPU_PARTIALS = 1024, /* most slabs of a launch that reduces, */
  AMBIT__CPU_TABLES = 128,    /* and of one with tables */
  AMBIT__CPU_SLAB_ALIGN = 8,  /* slabs start at multiples of this along their axis */
  AMBIT__CPU_LINE_CELLS = 64  /* and of this along rows: a cache line of the smallest type */
};

typedef struct ambit__cpu_trial ambit__cpu_trial; /* trial.h */

typedef struct ambit__cpu_function {
  ambit__function head;
  const ambit__rule *rule;
  ambit_cpu_fn run;              /* compiled here or registered; NULL: one of the next two */
  ambit__module *module;         /* of `run`, if it was compiled here */
  ambit__cpu_trial *trial;       /* NULL: its plan is settled */
  ambit__generic generic;        /* weighted sum; taps NULL: none */
  ambit__function *ref;          /* of the reference device; NULL: none */
  bool exact[AMBIT_MAX_PARAMS];  /* per parameter: a strict sum */
  bool binned[AMBIT_MAX_PARAMS]; /* per parameter: a slab has a value for each component */
  bool has_bins;                 /* ... some parameter */
  int at[AMBIT_MAX_PARAMS];      /* per parameter: its first word in those of a slab */
  unsigned whole;                /* bit d: slabs are not cut along axis d: cells run in order, or
                                 * are folded into totals */
  double cell_ns;                /* for a cell that is in the second-level cache, roughly */
  int64_t
      *partial; /* AMBIT__CPU_PARTIALS x words: a double, an int64_t or a long accumulator each */
} ambit__cpu_function;

static inline const ambit__cpu_function *ambit__cpu_function_of(const ambit__function *fn)
{
  return (const ambit__cpu_function *)fn;
}

static inline int ambit__cpu_most_slabs(const ambit__cpu_function *f)
{
  return f->has_bins ? AMBIT__CPU_TABLES : AMBIT__CPU_PARTIALS;
}

#endif
