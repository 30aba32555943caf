/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_flow.h - the flow of several iterations in the buffers of fields (flow/flow.h): of
 * launches between halo exchanges, and of waves.
 *
 * Every step of every iteration that takes part (roles.h) is a stage. Rotations are followed: the
 * number of a buffer is that of the field that has it at first. */
#ifndef AMBIT_RUNTIME_PROGRAM_MEMORY_FLOW_H
#define AMBIT_RUNTIME_PROGRAM_MEMORY_FLOW_H

#include "flow/flow.h"
#include "runtime/program/program.h"

/* Whether an axis is periodic for the fields that are read at neighbours: 1 or 0; -1: for some. */
int ambit__program_periodic(const ambit_program *p, int axis);
/* By field: a number that it has in common with those with which it rotates, less than nfields. */
void ambit__program_turns(const ambit_program *p, int *class);
/* The reason why a step cannot compute cells beyond those of its part along an axis that is
 * periodic; NULL: it can. */
const char *ambit__step_refuse_periodic(const ambit_program *p, size_t step, int axis);

/* The stages of `depth` iterations, with the layers of cells beyond its own that a part computes,
 * so that the last iteration is right on its own cells. The caller frees the flow, also after a
 * failure. */
ambit_status ambit__memory_flow_make(const ambit_program *p, int depth, ambit__flow *f);

/* The stages that fill ghost cells, in so many iterations, at most. */
size_t ambit__memory_flow_fills(const ambit_program *p, int depth);
/* An empty flow with room for the stages of `depth` iterations and for so many that fill ghost
 * cells. It has the values of all fields. */
ambit_status ambit__memory_flow_open(const ambit_program *p, int depth, size_t fills,
                                     ambit__flow *f);
/* Adds a stage like the given one, of a step with cells or one that fills ghost cells. `buffers`
 * has the buffer of each field argument, or of the field that is filled; `now`, the present value
 * of each buffer, changes. */
void ambit__memory_flow_add(const ambit_program *p, const ambit__flow_stage *like,
                            const int *buffers, int *now, ambit__flow *f);

/* The buffer of a field argument of a stage. */
static inline int ambit__memory_flow_buffer(const ambit__flow *f, int stage, int arg)
{
  return f->values[f->in[f->stages[stage].port[arg]]].field;
}

#endif
