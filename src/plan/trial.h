/* SPDX-License-Identifier: BSD-3-Clause */
/* trial.h - candidates that are timed in turns, and the fastest of them.
 *
 * The only loop that compares times: plans of a kernel (device/cpu/trial.h), several iterations at
 * once with single ones (run/iterate.c), depths and plans of a program (run/tune.c). The caller
 * runs the candidate whose turn it is and notes its time. Candidates are numbered from 0; if times
 * are alike, the first of them is taken.
 */
#ifndef AMBIT_PLAN_TRIAL_H
#define AMBIT_PLAN_TRIAL_H

#include <stdbool.h>

enum { AMBIT__TRIAL_MOST = 16 }; /* candidates */

typedef struct ambit__trial_rules {
  int rounds; /* turns of each candidate that is not given up, at least */
  int most;   /* the same at most, if they take less than `least` seconds; 0: `rounds` */
  double least;
  double slow;    /* times the best time, after two turns: given up; 0: never */
  double decided; /* times the best time, of all others: `least` need not pass; 0: it must */
  /* Of the times of all others: after `least` seconds a round is enough; 0: never. */
  double surely;
  double clearly; /* of the time of an earlier candidate that a later one must have to be taken */
} ambit__trial_rules;

typedef struct ambit__trial {
  int n, at, round;               /* candidates; whose turn it is, in which round */
  double spent;                   /* seconds of all turns */
  double best[AMBIT__TRIAL_MOST]; /* least seconds of a unit of work; 0: not known yet */
  bool out[AMBIT__TRIAL_MOST];    /* given up, or not possible */
} ambit__trial;

/* Of n candidates. Those that turn out not to be possible are put out by the caller; the first one
 * always is. */
void ambit__trial_begin(ambit__trial *t, int n);
/* The candidate of t->at took so many seconds for a unit of work, in a turn of `took` seconds. */
void ambit__trial_note(ambit__trial *t, const ambit__trial_rules *r, double seconds, double took);
/* Whether each has had its turns. */
bool ambit__trial_ended(const ambit__trial *t, const ambit__trial_rules *r);
int ambit__trial_fastest(const ambit__trial *t, const ambit__trial_rules *r);

#endif
