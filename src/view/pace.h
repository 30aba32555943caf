/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.h - how many iterations to run before the next picture.
 *
 * A stretch of n iterations takes a + b n seconds. `a`, what it costs to stop and go on, is found
 * from pairs of short stretches, one twice as long as the other: several at first, then one every
 * few seconds; their median counts. A stop and a picture together may take 1 of AMBIT__PACE_COST
 * parts of the time. Pictures are at most 30 a second, and at least 2 a minute; if nobody looks,
 * there is one stop a second. Single pictures that take far longer than those before them count
 * little: the first one of a device is compiled, and the machine may be busy.
 */
#ifndef AMBIT_VIEW_PACE_H
#define AMBIT_VIEW_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { AMBIT__PACE_COST = 80, AMBIT__PACE_PAIRS = 9 };

typedef struct ambit__pace {
  double per;      /* seconds of an iteration; 0: not known */
  double stop;     /* seconds that a stop costs */
  double picture;  /* seconds of a picture, and of the reader if it runs on computing cores */
  int64_t n;       /* iterations of the stretch that runs or ran */
  int half;        /* the stretch that runs or ran: the first or second of a pair; 0: of none */
  double apart;    /* seconds of computation since the last pair */
  int64_t first_n; /* the first of the pair: iterations and seconds */
  double first_seconds;
  double stops[AMBIT__PACE_PAIRS]; /* the last estimates, in a ring */
  int nstops;                      /* all that were made */
} ambit__pace;

void ambit__pace_note(ambit__pace *p, int64_t iterations, double seconds); /* of a stretch */
void ambit__pace_note_picture(ambit__pace *p, double seconds);
/* The iterations of the next stretch. `is_watched`: a picture is wanted; `hurry`: at once. */
int64_t ambit__pace_next(ambit__pace *p, bool is_watched, bool hurry);
double ambit__pace_interval(const ambit__pace *p); /* seconds between two pictures */

#endif
