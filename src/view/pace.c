/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/pace.h"

#include "base/median.h"

#include <string.h>

#define LEAST_INTERVAL (1.0 / 30)
#define IDLE_INTERVAL  1.0
#define MOST_INTERVAL  30.0
#define FIRST_PICTURE  0.01 /* seconds: no more is believed at first, */
#define DEARER         3    /* and no more than so many times the mean later */
#define APART          4.0  /* seconds between pairs, and eight pictures */

enum { GROWTH = 4 };

/* From a pair. Times that differ too much were disturbed, or iterations ran in another way. */
static void estimate(ambit__pace *p, int64_t n, double seconds)
{
  const double b = (seconds - p->first_seconds) / (double)(n - p->first_n);
  double a = p->first_seconds - b * (double)p->first_n, all[AMBIT__PACE_PAIRS];
  const int known = p->nstops < AMBIT__PACE_PAIRS ? p->nstops + 1 : AMBIT__PACE_PAIRS;

  if (b <= 0) return;
  a = a > 0 ? a : 0;
  p->stops[p->nstops % AMBIT__PACE_PAIRS] = a;
  p->nstops++;
  memcpy(all, p->stops, sizeof all);
  p->stop = ambit__median(all, (size_t)known);
}

void ambit__pace_note(ambit__pace *p, int64_t iterations, double seconds)
{
  double per;

  if (iterations < 1 || seconds <= 0) return;
  p->apart += seconds;
  if (p->half == 1) {
    p->first_n = iterations;
    p->first_seconds = seconds;
  } else if (p->half == 2 && iterations > p->first_n) {
    estimate(p, iterations, seconds);
    p->apart = 0;
  }
  per = (seconds > 2 * p->stop ? seconds - p->stop : seconds / 2) / (double)iterations;
  p->per = p->per > 0 ? (p->per + per) / 2 : per;
}

void ambit__pace_note_picture(ambit__pace *p, double seconds)
{
  const double most = p->picture > 0 ? DEARER * p->picture : FIRST_PICTURE;

  if (seconds > most) seconds = most;
  p->picture = p->picture > 0 ? 0.7 * p->picture + 0.3 * seconds : seconds;
}

double ambit__pace_interval(const ambit__pace *p)
{
  const double t = AMBIT__PACE_COST * (p->stop + p->picture);

  return t < LEAST_INTERVAL ? LEAST_INTERVAL : t > MOST_INTERVAL ? MOST_INTERVAL : t;
}

/* Seconds to the next stop: there are commands between two pictures that are far apart. */
static double to_next_stop(const ambit__pace *p)
{
  const double rare = 4 * AMBIT__PACE_COST * p->stop;
  const double often = rare > IDLE_INTERVAL ? rare : IDLE_INTERVAL;
  const double interval = ambit__pace_interval(p);

  return interval < often ? interval : often;
}

int64_t ambit__pace_next(ambit__pace *p, bool is_watched, bool hurry)
{
  const bool compares = is_watched && !hurry &&
                        (p->half == 1 || p->nstops < AMBIT__PACE_PAIRS ||
                         p->apart > APART + 8 * ambit__pace_interval(p));
  double n = (hurry || compares ? LEAST_INTERVAL
              : is_watched      ? to_next_stop(p)
                                : IDLE_INTERVAL) /
             (p->per > 0 ? p->per : 1);

  if (n > GROWTH * (double)p->n + 1) n = GROWTH * (double)p->n + 1;
  p->half = compares ? p->half % 2 + 1 : 0;
  if (p->half == 2) n = 2 * (double)p->first_n;
  if (p->per <= 0) n = 1;
  return p->n = n < 1 ? 1 : n > 1e15 ? (int64_t)1e15 : (int64_t)n;
}
