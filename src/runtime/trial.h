/* trial.h - which of two orders of an iteration is faster: cut steps, which hide messages, or whole ones.
 *
 * Cutting costs launches, and gains the time of messages; unless other processes keep the device busy meanwhile, when there is none to
 * gain. Nobody can tell beforehand: both are tried, in iterations that the user asked for anyway.
 *
 *        warm up | see how long one takes |  cut  whole | whole  cut |  cut  whole | ...      then the faster one
 *
 * A block takes some 50 ms. The order of blocks alternates from round to round, so that what drifts is in both alike. What
 * is measured lies within a stretch: iterations that nothing of the user's comes between. All processes enter the
 * same times, and so come to the same answer in the same iteration. trial.c judges and counts iterations, and knows neither
 * clocks nor programs; trial_run.c has those.
 */
#ifndef AMBIT_RUNTIME_TRIAL_H
#define AMBIT_RUNTIME_TRIAL_H

#include "runtime/schedule.h"

enum { AMBIT__TRIAL_ROUNDS = 5 };

typedef struct ambit__trial {
  ambit__pace pace;
  int64_t n;       /* iterations that the next measurement is to have */
  int64_t stretch; /* iterations left of the stretch */
  int64_t length;  /* of the measurement under way; 0: there is none */
  int64_t left;    /* of it */
  int done; /* measurements: one to warm up, one to see how long an iteration takes, two for each round */
  double seconds[2][AMBIT__TRIAL_ROUNDS]; /* of an iteration: cut, whole; by round */
  int rounds;                             /* done */
  bool whole;                             /* what the next iteration is to have: whole steps */
  bool over;                              /* it stays so */
  /* trial_run.c: */
  double since;  /* the clock when the measurement began */
  double *times; /* by process; owned */
} ambit__trial;

/* ---- trial.c ---- */

void ambit__trial_start(ambit__trial *t, const ambit__pace *pace);
/* A stretch of so many iterations begins. What was under way is measured anew. */
void ambit__trial_resume(ambit__trial *t, int64_t iterations);
/* An iteration was done. True: the measurement ends here, and must be entered before the next one. */
bool ambit__trial_step(ambit__trial *t);
void ambit__trial_enter(ambit__trial *t, double seconds); /* that all of it took */
/* How many iterations, in one stretch, bring it further; enough of them bring it to its end. 0: it is over. */
int64_t ambit__trial_left(const ambit__trial *t);
/* Seconds of an iteration, in the median of rounds. */
double ambit__trial_seconds(const ambit__trial *t, bool whole);

/* ---- trial_run.c ---- */

/* When the order with cut steps is made. */
ambit__stance ambit__program_stance(const ambit_program *p, ambit__overlap overlap);
/* The trial of a program that is being sealed; then, when that went well everywhere: if nobody is against it, and somebody for it,
 * it takes place. Collective. */
ambit_status ambit__program_trial_make(ambit_program *p);
ambit_status ambit__program_trial_agree(ambit_program *p);
void ambit__program_trial_free(ambit_program *p);
/* What it found, as a sentence without its end; false: nothing so far. */
bool ambit__program_trial_tell(const ambit_program *p, char *text, size_t size);

#endif
