/* SPDX-License-Identifier: BSD-3-Clause */
/* trial.h - finds the fastest plan of a function of the CPU device, by timing its launches.
 *
 * A function begins with the plan that the estimate prefers. Once its launches have taken some time
 * in all, other plans, the plain nest always among them, and another compiler are tried: they are
 * compiled in the background, then launches go to each of them in turn, and the function goes on
 * with the fastest. Nothing is computed in vain. The result is noted in the cache, under a name
 * made from all that it depends on, and a later run begins with it.
 *
 * Without strict mode the plans round differently, so the last bits of a result may depend on
 * the choice. Option trial=0 leaves the plan to the estimate.
 */
#ifndef AMBIT_DEVICE_CPU_TRIAL_H
#define AMBIT_DEVICE_CPU_TRIAL_H

#include "device/cpu/function.h"

enum { AMBIT__CPU_ENTRY_CHARS = 128, AMBIT__CPU_LINE_CHARS = 160 };

/* A way to run a function. */
typedef struct ambit__cpu_way {
  ambit__plan plan;
  bool settled;                       /* an earlier trial found it */
  ambit__cc *cc;                      /* the compiler of its code */
  char entry[AMBIT__CPU_ENTRY_CHARS]; /* the name of the generated function */
  char line[AMBIT__CPU_LINE_CHARS];   /* "(rows 4)", "(cells) by clang" */
} ambit__cpu_way;

/* The way for a group: that of the user's option plan, that of an earlier trial, or that of the
 * estimate. false: no strategy applies. */
bool ambit__cpu_way_choose(ambit__cpu *d, const ambit__group *g, ambit__cpu_way *way);
/* Its source, to free(); NULL: no memory. */
char *ambit__cpu_way_source(const ambit__cpu *d, const ambit__group *g, const ambit__cpu_way *way);

/* Prepares the trial of a function that was built this way. f->trial stays NULL if there is nothing
 * to try. The rule must outlive the function. */
void ambit__cpu_trial_open(ambit__cpu *d, const ambit__group *g, const ambit__cpu_way *way,
                           ambit__cpu_function *f);
void ambit__cpu_trial_close(ambit__cpu_trial *t);
/* After a launch of f on so many cells; may change f->run for the next one. */
void ambit__cpu_trial_note(ambit__cpu_function *f, int64_t cells, double seconds);

#endif
