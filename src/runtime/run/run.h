/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - sealing a program, and running it. */
#ifndef AMBIT_RUNTIME_RUN_RUN_H
#define AMBIT_RUNTIME_RUN_RUN_H

#include "runtime/program/program.h"

/* ---- seal.c ---- */

ambit_status ambit__program_seal(ambit_program *p); /* if it is not sealed; collective */

/* ---- prepare.c ---- */

/* A field without values of its own that hands its values to a field that has some starts as a copy
 * of it (ambit_swap). */
ambit_status ambit__program_copy_initial(ambit_program *p);
/* Whether a step reads what a step writes: if not, all iterations do the same. */
bool ambit__program_feeds_back(const ambit_program *p);

/* ---- execute.c ---- */

/* Before the first iteration of a run: brings the halos it presumes up to date. */
ambit_status ambit__program_ready(ambit_program *p);
/* After the last one: notes which halos are valid. */
void ambit__program_rest(ambit_program *p);
ambit_status ambit__program_iterate(ambit_program *p);       /* once */
ambit_status ambit__program_iterate_cycle(ambit_program *p); /* as often as p->cycle says */
ambit_status ambit__program_walk(ambit_program *p, const ambit__schedule *list);
void ambit__program_rotate(ambit_program *p);  /* only the rotations */
void ambit__program_give_up(ambit_program *p); /* after ambit__run_or_stop failed */
/* Undoes the rotations of iterations whose launches changed nothing. Halos are invalid then. */
void ambit__program_go_back(ambit_program *p, int64_t iteration);

/* ---- replay.c: recorded iterations, submitted in one call ---- */

ambit_status ambit__replay_make(ambit_program *p); /* if it pays; after all else is made */
void ambit__replay_free(ambit_program *p);
ambit_status ambit__replay_iterate(ambit_program *p); /* as ambit__program_walk; needs p->replay */

/* ---- run.c ---- */

/* In the middle of a run other processes wait for messages of this one: if it failed, stops them
 * with its error (ambit__net_stop). */
ambit_status ambit__run_or_stop(ambit_program *p, ambit_status s);

/* ---- report.c ---- */

typedef struct ambit__progress {
  bool on, live;         /* whether to print; at a terminal */
  double started, shown; /* clock when the run started, and when a line was last shown */
  int64_t first, most;   /* iteration at the start, iterations to do at most */
  double cells;          /* of one iteration */
} ambit__progress;
ambit__progress ambit__progress_start(const ambit_program *p, int64_t most);
void ambit__progress_show(ambit__progress *s, const ambit_program *p, bool last);

/* ---- until.c ---- */

/* The stop condition of a run. */
typedef struct ambit__until {
  ambit_scalar *scalar;
  ambit_condition when;
  double bound;
  int64_t unchecked; /* iterations since the last check */
} ambit__until;
/* Iterates n times, or until a check finds that the condition holds: p->converged tells. Checks
 * after every p->check_every iterations, and with `last` after the n-th. All work is done when it
 * returns. */
ambit_status ambit__program_iterate_until(ambit_program *p, ambit__until *u, int64_t n, bool last,
                                          ambit__progress *progress);

#endif
