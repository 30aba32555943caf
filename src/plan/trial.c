/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/trial.h"

enum { SEVERAL = 2 }; /* turns, before a candidate is given up */

void ambit__trial_begin(ambit__trial *t, int n)
{
  *t = (ambit__trial){.n = n};
}

/* The least time of all candidates but one; 0: not known yet. */
static double best_but(const ambit__trial *t, int but)
{
  double best = 0;

  for (int i = 0; i < t->n; i++)
    if (i != but && t->best[i] > 0 && (best == 0 || t->best[i] < best)) best = t->best[i];
  return best;
}

void ambit__trial_note(ambit__trial *t, const ambit__trial_rules *r, double seconds, double took)
{
  double *best = &t->best[t->at];

  if (*best == 0 || seconds < *best) *best = seconds;
  t->spent += took;
  do {
    if (++t->at == t->n) {
      t->at = 0;
      t->round++;
    }
    if (t->at && r->slow > 0 && t->round >= SEVERAL && t->best[t->at] > r->slow * best_but(t, -1))
      t->out[t->at] = true;
  } while (t->out[t->at]);
}

/* Whether one candidate takes less than `share` of the time of all others. */
static bool stands_out(const ambit__trial *t, double share)
{
  for (int i = 0; i < t->n; i++)
    if (t->best[i] > 0 && t->best[i] < share * best_but(t, i)) return true;
  return false;
}

bool ambit__trial_ended(const ambit__trial *t, const ambit__trial_rules *r)
{
  if (t->round && t->spent >= r->least && r->surely > 0 && t->best[0] < r->surely * best_but(t, 0))
    return true;
  if (t->round < r->rounds) return false;
  return t->spent >= r->least || t->round >= r->most ||
         (r->decided > 0 && stands_out(t, 1 / r->decided));
}

int ambit__trial_fastest(const ambit__trial *t, const ambit__trial_rules *r)
{
  int best = 0;

  for (int i = 1; i < t->n; i++)
    if (t->best[i] > 0 && t->best[i] < r->clearly * t->best[best]) best = i;
  return best;
}
