/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - sealing a program, and running it. */
#ifndef AMBIT_RUNTIME_RUN_RUN_H
#define AMBIT_RUNTIME_RUN_RUN_H

#include "runtime/program/program.h"

/* ---- seal.c ---- */

ambit_status ambit__program_seal(ambit_program *p); /* if it is not sealed yet; collective */

/* ---- prepare.c ---- */

/* A field without values that is rotated into a field with values starts as a copy of it
 * (ambit_swap). */
ambit_status ambit__program_copy_initial(ambit_program *p);
/* Whether a step reads the output of a step. If not, all iterations compute the same. */
bool ambit__program_feeds_back(const ambit_program *p);

/* ---- execute.c ---- */

/* Before the first iteration of a run: exchanges the halos that it requires. */
ambit_status ambit__program_ready(ambit_program *p);
/* Takes the buffers that the bases of views have now. */
void ambit__program_refresh(ambit_program *p);
/* After the last iteration: records which halos are valid. */
void ambit__program_rest(ambit_program *p);
ambit_status ambit__program_iterate(ambit_program *p);       /* one iteration */
ambit_status ambit__program_iterate_cycle(ambit_program *p); /* the iterations of p->cycle */
ambit_status ambit__program_walk(ambit_program *p, const ambit__schedule *list);
void ambit__program_forget_ghosts(ambit_program *p); /* no halo is known to be valid */
void ambit__program_rotate(ambit_program *p);        /* the rotations of an iteration only */
void ambit__program_give_up(ambit_program *p);       /* after ambit__run_or_stop failed */
/* Undoes the rotations of iterations whose launches had no effect. Halos are invalid then. */
void ambit__program_go_back(ambit_program *p, int64_t iteration);

/* ---- replay.c: recorded iterations, submitted in one call ---- */

ambit_status ambit__replay_make(ambit_program *p); /* if it pays; call it last */
void ambit__replay_free(ambit_program *p);
ambit_status ambit__replay_iterate(
    ambit_program *p); /* like ambit__program_walk; needs p->replay */

/* ---- call.c ---- */

ambit_status ambit__program_call(ambit_program *p, const ambit__subrun *call);

/* ---- run.c ---- */

/* A run that a step of another program makes. Both are sealed. Work may be unfinished afterwards.
 */
struct ambit__until;
ambit_status ambit__program_run_called(ambit_program *p, int64_t most, struct ambit__until *until);

/* During a run other processes wait for messages of this one: if it failed, stops them with its
 * error (ambit__net_stop). */
ambit_status ambit__run_or_stop(ambit_program *p, ambit_status s);

/* Whether ambit_stop was called in a run of one process: the loops over iterations then end, after
 * at least one. */
static inline bool ambit__run_stops(const ambit_program *p)
{
  ambit *a = p->grid->context;

  return p->may_stop && atomic_load_explicit(&a->stops, memory_order_relaxed);
}

/* Other programs on these fields must know that this one has changed them. */
void ambit__program_note_changes(ambit_program *p);

/* Rounds a number of iterations up to one that runs as whole cycles, if the program has any. */
int64_t ambit__program_whole(const ambit_program *p, int64_t n);

/* ---- view/viewer.c, a layer above ---- */

/* At the start of a run: lets an observer show it, if the option view or ambit_view asks for that.
 * Collective. */
ambit_status ambit__view_attach(ambit_program *p);

/* ---- report.c ---- */

typedef struct ambit__progress {
  bool on, live;         /* whether to print; whether stderr is a terminal */
  double started, shown; /* times of the start of the run, and of the last line */
  int64_t first, most;   /* iteration at the start; iterations to run; 0: until a condition holds */
  double cells;          /* of one iteration */
} ambit__progress;
ambit__progress ambit__progress_start(const ambit_program *p, int64_t most);
void ambit__progress_show(ambit__progress *s, const ambit_program *p, bool last);

/* ---- lean_run.c ---- */

/* Makes and seals the lean form of a sealed program, if it is worthwhile in a run of so many
 * iterations; the program is sealed then, too. Collective. */
ambit_status ambit__lean_prepare(ambit_program *p, int64_t iterations);
/* Finds whether the values that fields have now allow the lean form. Collective. */
ambit_status ambit__lean_open(ambit_program *p);
bool ambit__lean_is_open(const ambit_program *p);
/* Runs n iterations, as the lean form or by `plain`, whichever is faster. Fields that the lean form
 * does without have no values then: at least one more iteration must follow. */
ambit_status ambit__lean_iterate(ambit_program *p, int64_t n, ambit__progress *progress,
                                 ambit_status (*plain)(ambit_program *, int64_t,
                                                       ambit__progress *));

/* ---- iterate.c ---- */

/* Runs n iterations without waiting in between. */
ambit_status ambit__program_iterate_many(ambit_program *p, int64_t n, ambit__progress *progress);

/* Whether the next iterations run as cycles, if there are enough of them. */
bool ambit__cycle_is_preferred(const ambit_program *p);

/* ---- until.c ---- */

/* The stop condition of a run. */
typedef struct ambit__until {
  ambit_scalar *scalar;       /* NULL: until nothing changes */
  struct ambit__still *still; /* in that case: the values before; owned */
  ambit_condition when;
  double bound;
  int64_t unchecked; /* iterations since the last check */
} ambit__until;
/* Runs n of the `left` iterations of a run, or fewer if a check finds that the condition holds:
 * p->converged. Checks after every p->check_every iterations, and after the last of the run. All
 * work is finished when it returns. */
ambit_status ambit__program_iterate_until(ambit_program *p, ambit__until *u, int64_t n,
                                          int64_t left, ambit__progress *progress);

/* ---- tune.c: the fastest plan ---- */

/* Before a program is sealed for a run of n iterations, or after a run: measures its device, if the
 * run is, or all were, long enough to be worth it. */
void ambit__machine_prepare(const ambit_program *p, int64_t n);

/* At the start of a run of n iterations: the iteration at which plans are to be tried. INT64_MAX:
 * there are no others, or the run is too short. */
int64_t ambit__trial_begin_at(ambit_program *p, int64_t n);
int64_t ambit__trial_iterations(const ambit_program *p); /* that a trial takes */
/* Whether it can be held in the next n iterations. */
bool ambit__trial_fits(const ambit_program *p, int64_t n);
/* Holds it, and keeps and remembers the fastest plan. Collective. */
ambit_status ambit__program_try(ambit_program *p, ambit__progress *progress);

/* ---- fold_step.c: reductions onto fields ---- */

typedef ambit_status (*ambit__launch_fn)(ambit_program *p, int step, int part, ambit__queue *q,
                                         const ambit__launch *l);
/* Launches a piece of such a step, slab by slab; `like` has all but the box. */
ambit_status ambit__fold_launch(ambit_program *p, const ambit__operation *op,
                                const ambit__piece *piece, ambit__queue *q,
                                const ambit__launch *like, ambit__launch_fn launch);
/* Whether the host has no part in it. */
bool ambit__fold_stays(const ambit_program *p, const ambit__operation *op);
/* After all pieces: stores the results. Collective. */
ambit_status ambit__fold_finish_step(ambit_program *p, int step);

/* ---- sweep_step.c: cells in order ---- */

/* Launches cells of a piece of an operation. */
typedef ambit_status (*ambit__launch_piece_fn)(ambit_program *p, const ambit__operation *op,
                                               const ambit__piece *piece);
/* Launches all pieces of a step that sweeps (program/sweeping.h). */
ambit_status ambit__sweep_step(ambit_program *p, const ambit__operation *op,
                               ambit__launch_piece_fn launch);

/* ---- host_step.c ---- */

/* Calls the function of a step of kind CHORE_HOST on a part. */
ambit_status ambit__host_step(ambit_program *p, size_t step, const ambit__piece *piece,
                              int64_t iteration);

/* ---- resample_step.c ---- */

/* Takes the cells of another grid (program/resample.c). Collective. */
ambit_status ambit__resample_step(ambit_program *p, size_t step);

#endif
