/* SPDX-License-Identifier: BSD-3-Clause */
/* fuse.h - several iterations in one launch (plan/pipeline.h), where a device can.
 *
 * The launch loads fields and stores to others, so that fields trade buffers afterwards. Fields
 * that the next iteration overwrites before it reads them are not stored: a run ends with an
 * iteration of its own. If too few buffers are free, there are spare ones. */
#ifndef AMBIT_RUNTIME_PROGRAM_FUSE_H
#define AMBIT_RUNTIME_PROGRAM_FUSE_H

#include "plan/pipeline.h"
#include "runtime/program/program.h"

enum {
  AMBIT__FUSE_FIELDS = 24,
  AMBIT__FUSE_SPARES = 8,
  AMBIT__FUSE_SLOTS = AMBIT__FUSE_FIELDS + AMBIT__FUSE_SPARES,
  AMBIT__FUSE_OPERANDS = 32
};

/* An operand of a pipeline. */
typedef struct ambit__fuse_operand {
  int slot; /* of a buffer: a field of the program, or a spare buffer after them; -1: a value */
  int step, arg; /* the argument that has the value, or has the type of the field */
} ambit__fuse_operand;

/* The pipeline of `depth` iterations, its operands, and the buffers after a launch. */
typedef struct ambit__fuse_plan {
  int depth;
  ambit__pipeline pipe;
  int noperands;
  ambit__fuse_operand operands[AMBIT__FUSE_OPERANDS];
  int nslots;
  int spare_of[AMBIT__FUSE_SPARES]; /* by spare buffer: the field whose layout it has */
  int *after;                       /* by slot: the slot whose buffer it gets; owned */
  /* Fields that trade buffers must agree in the cells that no step computes. */
  bool needs_alike;
} ambit__fuse_plan;

typedef struct ambit__fused {
  ambit__fuse_plan plan;
  ambit__param params[AMBIT__FUSE_OPERANDS]; /* of `rule` */
  char names[AMBIT__FUSE_OPERANDS][8];
  ambit__rule rule; /* has the operands as parameters, and no body */
  ambit__binding bind[AMBIT__FUSE_OPERANDS];
  ambit__group_step step;
  ambit__group group;
  ambit__function *function;
  ambit__argument args[AMBIT__FUSE_OPERANDS];
  ambit__store spares[AMBIT__FUSE_SPARES];
} ambit__fused;

/* ---- pipeline.c ---- */

/* Makes the pipeline of `depth` iterations. Returns the reason if there is none, or if memory ran
 * out; NULL: it is made. The caller frees plan->after, also after a failure. */
const char *ambit__fuse_pipeline(const ambit_program *p, int depth, ambit__fuse_plan *plan);

/* ---- fuse.c ---- */

/* Makes f->plan and f->group for a depth. Returns the reason if this is not possible. */
const char *ambit__fuse_group(const ambit_program *p, int depth, ambit__fused *f);

/* Whether the grid has one part, on a device that can build functions for several iterations. */
bool ambit__fuse_can(const ambit_program *p);
/* Builds a function for several iterations that is estimated to be faster than single ones, or for
 * as many as the option depth asks for. *f is NULL if there is none. */
ambit_status ambit__fuse_make(ambit_program *p, ambit__fused **f);
void ambit__fuse_free(ambit_program *p, ambit__fused *f);
/* The reason why there is none; NULL: there is one. */
const char *ambit__fuse_refusal(const ambit_program *p);
/* Before the fused iterations of a run. *can is false if some fields that trade buffers differ in
 * cells that no step computes: iterations run one by one then. */
ambit_status ambit__fuse_ready(ambit_program *p, const ambit__fused *f, bool *can);
ambit_status ambit__fuse_run(ambit_program *p, ambit__fused *f); /* one launch */

#endif
