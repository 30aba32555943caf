/* SPDX-License-Identifier: BSD-3-Clause */
/* resample.c - steps that take cells of another grid, or of another type: copies, averages and
 * interpolation. Axes are independent: along each, a cell of the destination depends on
 *
 *      as many cells      the same cell
 *      n times fewer      the mean of n cells
 *      more cells         the two cells around its centre, with linear weights; beyond the last
 *                         centre of the grid the cell there
 *
 *      source        |     0     |     1     |     2     |        centres of the source are at
 *      destination   |  0  |  1  |  2  |  3  |  4  |  5  |        0.5, 1.5, 2.5 of its cells
 *
 * The step is one of kind CHORE_HOST (chores.c), which writes the destination.
 */
#include "runtime/program/program.h"

/* ---- weights ---- */

static int64_t length(const ambit__box *b, int axis)
{
  return b->hi[axis] - b->lo[axis];
}

ambit__resampling ambit__resample_at(const ambit__chore_use *c, int axis, int64_t i)
{
  const int64_t m = length(&c->taken, axis), n = length(&c->given, axis), times = m / n;
  const int64_t k = i - c->given.lo[axis], last = c->source->grid->box.hi[axis] - 1;
  int64_t twice, below;

  if (m >= n)
    return (ambit__resampling){c->taken.lo[axis] + k * times, (int)times, 1 / (double)times};
  /* the centre is at ((2k + 1) m - n) / 2n cells from the centre of the first one */
  twice = (2 * k + 1) * m - n;
  below = twice < 0 ? -1 : twice / (2 * n);
  if (c->taken.lo[axis] + below < 0) return (ambit__resampling){0, 1, 1};
  if (c->taken.lo[axis] + below >= last) return (ambit__resampling){last, 1, 1};
  return (ambit__resampling){c->taken.lo[axis] + below, 2,
                             1 - (double)(twice - below * 2 * n) / (double)(2 * n)};
}

ambit__box ambit__resample_needs(const ambit__chore_use *c, const ambit__box *box)
{
  ambit__box needs = *box;

  for (int d = 0; d < box->ndims; d++) {
    const ambit__resampling first = ambit__resample_at(c, d, box->lo[d]);
    const ambit__resampling last = ambit__resample_at(c, d, box->hi[d] - 1);

    needs.lo[d] = first.first;
    needs.hi[d] = last.first + last.n;
  }
  return needs;
}

bool ambit__resample_is_copy(const ambit__chore_use *c)
{
  for (int d = 0; d < c->given.ndims; d++)
    if (length(&c->taken, d) != length(&c->given, d)) return false;
  return true;
}

/* ---- appending ---- */

static ambit_status check_field(const ambit_program *p, const ambit_field *f)
{
  AMBIT_CHECK(!f->base, ambit__program_errors(p), AMBIT_EPROGRAM,
              "field '%s' is a view and cannot be copied; a kernel can do it", f->name);
  AMBIT_CHECK(!f->grid->active, ambit__program_errors(p), AMBIT_EUNSUPPORTED,
              "field '%s' is on a sparse grid, and cells go between dense grids only", f->name);
  return ambit__field_check_whole(f, "cannot be copied; a kernel can do it");
}

ambit_status ambit__resample_append(ambit_program *p, ambit_field *from, const ambit__box *taken,
                                    ambit_field *to, const ambit__box *given)
{
  const ambit__chore_use use = {
      .kind = CHORE_HOST, .modes = {AMBIT_WRITE}, .source = from, .taken = *taken, .given = *given};
  ambit__errors *errors = ambit__program_errors(p);

  AMBIT_TRY(check_field(p, from));
  AMBIT_TRY(check_field(p, to));
  AMBIT_CHECK(from != to, errors, AMBIT_EPROGRAM,
              "field '%s' is resampled to itself; use a second field", from->name);
  AMBIT_CHECK(from->components == to->components, errors, AMBIT_EPROGRAM,
              "field '%s' cannot be copied to '%s': they differ in components", from->name,
              to->name);
  for (int d = 0; d < taken->ndims; d++) {
    const int64_t m = length(taken, d), n = length(given, d);

    AMBIT_CHECK(n >= m || m % n == 0, errors, AMBIT_EINVAL,
                "%lld cells of field '%s' cannot become %lld cells of '%s' along axis %d: give as "
                "many, more, or a number that divides them, for averages",
                (long long)m, from->name, (long long)n, to->name, d);
  }
  return ambit__program_append_host(p, &use, given, 1, &to);
}

ambit_status ambit_resample(ambit_program *p, const ambit_field *from, const int64_t *lo,
                            const int64_t *hi, ambit_field *to, const int64_t *to_lo,
                            const int64_t *to_hi)
{
  ambit__box taken, given;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_TRY(ambit__copy_check_fields(p, from, to));
  AMBIT_TRY(ambit__program_box(p, from->grid, "a copy takes", lo, hi, &taken));
  AMBIT_TRY(ambit__program_box(p, to->grid, "a copy gives", to_lo, to_hi, &given));
  return ambit__resample_append(p, (ambit_field *)from, &taken, to, &given);
}
