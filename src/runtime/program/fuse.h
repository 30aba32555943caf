/* SPDX-License-Identifier: BSD-3-Clause */
/* fuse.h - several iterations in one launch (flow/flow.h), where a device can.
 *
 * The launch loads fields and stores to others, so that fields trade buffers afterwards. Fields
 * that the next iteration overwrites before it reads them are not stored: a run ends with an
 * iteration of its own. If too few buffers are free, there are spare ones.
 *
 * With several parts an exchange comes first, which brings as many layers of cells as all
 * iterations together read. Kernels compute these cells themselves, as far as they need them. */
#ifndef AMBIT_RUNTIME_PROGRAM_FUSE_H
#define AMBIT_RUNTIME_PROGRAM_FUSE_H

#include "flow/flow.h"
#include "runtime/program/program.h"

enum {
  AMBIT__FUSE_FIELDS = 24,
  AMBIT__FUSE_SPARES = 8,
  AMBIT__FUSE_SLOTS = AMBIT__FUSE_FIELDS + AMBIT__FUSE_SPARES,
  AMBIT__FUSE_OPERANDS = 32,
  AMBIT__FUSE_TURNS = 256 /* iterations of a launch that loops, unless the user asks for others */
};

/* An operand of a flow. */
typedef struct ambit__fuse_operand {
  int slot; /* of a buffer: a field of the program, or a spare buffer after them; -1: a value */
  int step, arg; /* the argument that has the value, or has the type of the field */
  bool points;   /* the points of the step */
} ambit__fuse_operand;

/* The flow of `depth` iterations, its operands, and the buffers after a launch. */
typedef struct ambit__fuse_plan {
  int depth;
  ambit__flow flow;
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
  ambit__group group;
  ambit__arena memory;         /* of the arrays that follow */
  ambit__function **functions; /* by engine; NULL: not built yet */
  ambit__function **points;    /* by engine, AMBIT__FUSE_OPERANDS each: of steps at points */
  ambit__argument *args;       /* by part, AMBIT__FUSE_OPERANDS each */
  ambit__store *spares;        /* by part, AMBIT__FUSE_SPARES each */
  double saved;                /* estimated seconds saved per iteration; alike on all processes */
  double built;                /* seconds that building the function took, at most */
} ambit__fused;

/* Whether a step samples at points. */
static inline bool ambit__step_samples(const ambit__step *s)
{
  return s->chore && s->chore->kind == CHORE_SAMPLE;
}

/* ---- fuse_flow.c ---- */

/* Makes the flow of `depth` iterations. If they are more than a flow has stages, it loops.
 * Returns the reason if there is none, or if memory ran out; NULL: it is made. The caller frees the
 * plan, also after a failure. */
const char *ambit__fuse_flow(const ambit_program *p, int depth, ambit__fuse_plan *plan);
void ambit__fuse_plan_free(ambit__fuse_plan *plan);
/* Whether a step computes a box of cells and passes all others, wherever its fields' values go. If
 * not, no step computes the cells that it leaves out. */
bool ambit__fuse_is_placed(const ambit_program *p, size_t step);

/* ---- fuse.c: the choice ---- */

/* Makes f->plan and f->group for a depth. Returns the reason if this is not possible. */
const char *ambit__fuse_group(const ambit_program *p, int depth, ambit__fused *f);
/* Whether all devices of this process can build functions for several iterations. */
bool ambit__fuse_can(const ambit_program *p);
/* Takes the given number of iterations, or if that is 0, the one that is estimated to be the
 * fastest. Unless the option depth asks for several, they must be estimated to be faster than
 * single ones. *f is NULL if there is none. Sets *rival, unless it is NULL, if no depth is given.
 * Collective. */
ambit_status ambit__fuse_choose(const ambit_program *p, int depth, ambit__rival *rival,
                                ambit__fused **f);
/* Compilers may begin with the launch of a rival. */
void ambit__fuse_foresee(const ambit_program *p, const ambit__rival *rival);
/* The reason why there is none; NULL: there is one. */
const char *ambit__fuse_refusal(const ambit_program *p);
/* Whether some kernel is registered code; false as long as steps have no functions. */
bool ambit__fuse_is_registered(const ambit_program *p);

/* ---- fuse_run.c: functions, buffers and launches ---- */

/* Builds functions and allocates spare buffers, when steps have their functions. *can is false if
 * that failed on some process: a lack of memory is not an error here. Collective. */
ambit_status ambit__fuse_build(ambit_program *p, ambit__fused *f, bool *can);
void ambit__fuse_free(ambit_program *p, ambit__fused *f);
/* Before the fused iterations of a run. *can is false if some fields that trade buffers differ in
 * cells that no step computes: iterations run one by one then. Collective. */
ambit_status ambit__fuse_ready(ambit_program *p, const ambit__fused *f, bool *can);
/* The same for a cycle: what its first launches on boxes need at points. */
ambit_status ambit__fuse_prepare(ambit_program *p, const struct ambit__cycle *c);
ambit_status ambit__fuse_launch(ambit_program *p, ambit__fused *f, const ambit__operation *op);
void ambit__fuse_trade(ambit_program *p, ambit__fused *f); /* buffers, when all is launched */
/* Values that fused iterations sampled become rows of their records. */
ambit_status ambit__fuse_note(ambit_program *p);

#endif
