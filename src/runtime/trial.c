/* trial.c - the trial of two orders, as far as it is a matter of counting and judging.
 *
 * To cut steps is never far off, to leave them whole may be. So they are cut as soon as that is seen to be clearly faster, and left whole only by
 * the median of all rounds, which something that comes between in a block or two does not move.
 */
#include "runtime/trial.h"

#include "base/median.h"

#include <math.h>
#include <string.h>

/* What cut steps save of the time of whole ones: */
#define MUCH   0.09   /* no more rounds are needed */
#define LITTLE 0.0005 /* at least, or it is a tie, and steps are whole, as with overlap=none */

enum {
  WARM_UP,
  GAUGE,
  ROUNDS,    /* numbers of measurements; those of rounds begin here */
  SHORT = 4, /* a block may have this part of its iterations, if the stretch ends there */
  MOST_ITERATIONS = 1 << 30 /* of a block: then the clock stands still */
};

/* ---- what is measured ---- */

/* Cut, whole, whole, cut, cut, ... */
static bool is_whole(int measurement)
{
  const int block = measurement - ROUNDS;

  return block >= 0 && (block + block / 2) % 2;
}

/* The next measurement, if enough of it is in this stretch. */
static void begin(ambit__trial *t)
{
  t->length = t->stretch < t->n ? t->stretch : t->n;
  if (SHORT * t->length < t->n) t->length = 0;
  t->left = t->length;
  t->whole = t->length && is_whole(t->done);
}

void ambit__trial_start(ambit__trial *t, const ambit__pace *pace)
{
  t->pace = *pace;
  t->n = pace->first;
}

void ambit__trial_resume(ambit__trial *t, int64_t iterations)
{
  if (t->over) return;
  t->stretch = iterations;
  begin(t);
}

bool ambit__trial_step(ambit__trial *t)
{
  if (t->over) return false;
  t->stretch--;
  return t->left && --t->left == 0;
}

int64_t ambit__trial_left(const ambit__trial *t)
{
  if (t->over) return 0;
  return t->n * ((t->done < ROUNDS ? ROUNDS : ROUNDS + 2 * AMBIT__TRIAL_ROUNDS) - t->done);
}

/* ---- what comes of it ---- */

double ambit__trial_seconds(const ambit__trial *t, bool whole)
{
  double seconds[AMBIT__TRIAL_ROUNDS];

  memcpy(seconds, t->seconds[whole], sizeof seconds);
  return ambit__median(seconds, (size_t)t->rounds);
}

/* How far values usually are from the middle. */
static double spread(const double *values, int n, double middle)
{
  double apart[AMBIT__TRIAL_ROUNDS];

  for (int i = 0; i < n; i++)
    apart[i] = fabs(values[i] - middle);
  return ambit__median(apart, (size_t)n);
}

/* What slows down a whole round is not in the ratio of its times. A saving that rounds do not agree on is none. */
static void judge(ambit__trial *t)
{
  double saved[AMBIT__TRIAL_ROUNDS], usual;

  for (int i = 0; i < t->rounds; i++)
    saved[i] = 1 - t->seconds[false][i] / t->seconds[true][i];
  usual = ambit__median(saved, (size_t)t->rounds);
  t->over = t->rounds == AMBIT__TRIAL_ROUNDS || usual > MUCH;
  t->whole = t->over && usual <= fmax(LITTLE, spread(saved, t->rounds, usual));
}

static int64_t block_length(const ambit__pace *pace, double seconds)
{
  return (int64_t)fmin(fmax(ceil(pace->seconds / seconds), (double)pace->least), MOST_ITERATIONS);
}

void ambit__trial_enter(ambit__trial *t, double seconds)
{
  const double each = seconds / (double)t->length;

  if (t->done == GAUGE) t->n = block_length(&t->pace, each);
  if (t->done >= ROUNDS) t->seconds[t->whole][t->rounds] = each;
  t->done++;
  if (t->done > ROUNDS && (t->done - ROUNDS) % 2 == 0) {
    t->rounds++;
    judge(t);
  }
  if (!t->over) begin(t);
}
