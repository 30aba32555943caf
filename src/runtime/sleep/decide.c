/* SPDX-License-Identifier: BSD-3-Clause */
/* decide.c - when tiles sleep, and the end of a run in which nothing changes any more.
 *
 * With sleep=auto, a few iterations now and then are a trial: tiles may
 * sleep, and if enough of them do, it goes on like that until too few do. The decisions depend on
 * the values alone, not on time, so that a run can be repeated; all processes decide alike. A trial
 * that fails doubles the iterations before the next one.
 */
#include "base/log.h"
#include "runtime/sleep/sleep.h"

#include <inttypes.h>

enum {
  TRIAL = 4,        /* iterations of a trial; tiles can sleep from the third on */
  REVIEW = 16,      /* iterations between two reviews of a mode that is on */
  MOST_PAUSE = 4096 /* iterations between two trials */
};

static const double ENOUGH = 0.25;      /* share of tiles that must sleep in a trial, half of which
                                      they cannot */
static const double CYCLE_ENOUGH = 0.4; /* the same if several iterations could run at once */
static const double TOO_FEW = 0.3;      /* below this share it ends */

static void count(ambit__sleep *z)
{
  z->all_tiles += (double)z->tiles;
  z->all_slept += (double)z->slept;
  z->tiles = z->slept = 0;
}

static void set_mode(ambit_program *p, ambit__sleep_mode mode)
{
  ambit__sleep *z = p->sleep;

  count(z);
  z->mode = mode;
  z->since = 0;
}

/* The share of the tiles of all processes that slept since this was last asked. Collective. */
static ambit_status share_asleep(ambit_program *p, double *share)
{
  ambit__sleep *z = p->sleep;
  double sums[2] = {(double)z->tiles, (double)z->slept};

  if (p->grid->context->net->size > 1) AMBIT_TRY(ambit__net_sum(p->grid->context->net, sums, 2));
  *share = sums[0] > 0 ? sums[1] / sums[0] : 0;
  count(z);
  return AMBIT_OK;
}

ambit_status ambit__sleep_share(ambit_program *p, double *tiles, double *slept)
{
  double sums[2] = {0};

  if (p->sleep) {
    count(p->sleep);
    sums[0] = p->sleep->all_tiles;
    sums[1] = p->sleep->all_slept;
  }
  AMBIT_TRY(ambit__net_sum(p->grid->context->net, sums, 2));
  *tiles = sums[0];
  *slept = sums[1];
  return AMBIT_OK;
}

static ambit_status begin(ambit_program *p, ambit__sleep_mode mode)
{
  AMBIT_TRY(ambit__sleep_make(p));
  set_mode(p, mode);
  return AMBIT_OK;
}

static void end(ambit_program *p, const char *why, double share)
{
  ambit__sleep *z = p->sleep;

  ambit__log(&p->grid->context->settings, 1,
             "iteration %" PRId64 ": %.0f %% of the tiles sleep: %s", p->iteration, 100 * share,
             why);
  set_mode(p, SLEEP_OFF);
  z->valid = false; /* other iterations do not keep ids */
  if (z->pause < MOST_PAUSE) z->pause *= 2;
  z->trial = p->iteration + z->pause;
}

/* Whether to go on, at the end of a trial or at a review. */
static ambit_status review(ambit_program *p)
{
  ambit__sleep *z = p->sleep;
  const double enough = z->mode == SLEEP_ON ? TOO_FEW : p->cycle ? CYCLE_ENOUGH : ENOUGH;
  double share;

  AMBIT_TRY(share_asleep(p, &share));
  if (share < enough) {
    end(p, "all are computed", share);
  } else if (z->mode == SLEEP_TRIAL) {
    ambit__log(&p->grid->context->settings, 1,
               "iteration %" PRId64 ": %.0f %% of the tiles sleep: only the others are computed",
               p->iteration, 100 * share);
    set_mode(p, SLEEP_ON);
  }
  return AMBIT_OK;
}

/* Whether tiles sleep in every iteration, even if it does not pay off. */
static bool is_forced(const ambit_program *p)
{
  return p->sleep->always || p->awaits_rest;
}

bool ambit__sleep_is_forced(const ambit_program *p)
{
  return p->sleep && is_forced(p);
}

static bool is_due(const ambit__sleep *z)
{
  if (z->mode == SLEEP_TRIAL) return z->since == TRIAL;
  return z->mode == SLEEP_ON && z->since > 0 && z->since % REVIEW == 0;
}

ambit_status ambit__sleep_turn(ambit_program *p, bool *sleeps)
{
  ambit__sleep *z = p->sleep;

  *sleeps = false;
  if (!z || p->watched) return AMBIT_OK; /* while a device ends the run, it alone knows what ran */
  if (is_forced(p) && z->mode == SLEEP_OFF) AMBIT_TRY(begin(p, SLEEP_ON));
  if (!is_forced(p) && z->mode == SLEEP_OFF && p->iteration >= z->trial)
    AMBIT_TRY(begin(p, SLEEP_TRIAL));
  if (!is_forced(p) && is_due(z)) AMBIT_TRY(review(p));
  *sleeps = z->mode != SLEEP_OFF;
  return AMBIT_OK;
}

int64_t ambit__sleep_pause(const ambit_program *p)
{
  const ambit__sleep *z = p->sleep;

  if (!z) return INT64_MAX;
  if (is_forced(p) || z->mode != SLEEP_OFF || p->iteration >= z->trial) return 0;
  return z->trial - p->iteration;
}

/* ---- iterations ---- */

void ambit__sleep_begin(ambit_program *p)
{
  ambit__sleep *z = p->sleep;

  if (ambit__relax_is_on(p)) {
    ambit__relax_begin(p);
    return;
  }
  if (!z->checked || !z->valid) {
    ambit__sleep_refresh(p);
    ambit__sleep_forget_notes(p);
  }
  z->checked = z->walking = true;
  p->gated = p->gate != NULL;
  ambit__sleep_settle(p);
}

/* Compares the results of an iteration with those of the one before, by their ids. */
static bool is_still(const ambit_program *p)
{
  ambit__sleep *z = p->sleep;
  bool still = true;

  for (int f = 0; f < p->nfields; f++)
    for (int64_t i = 0; z->result[f] && i < z->nlist; i++) {
      uint64_t *end = &z->ends[f * z->map.n + z->list[i]];
      const uint64_t id = ambit__sleep_ids(z, f, z->list[i])[0];

      still &= *end == id;
      *end = id;
    }
  return still;
}

void ambit__sleep_end(ambit_program *p)
{
  ambit__sleep *z = p->sleep;

  z->walking = p->gated = false;
  if (ambit__relax_is_on(p)) {
    z->still = !z->moved;
    z->relaxed++;
    return;
  }
  z->still = is_still(p);
  z->since++;
  z->iterations++;
}
