/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_verify.c - verifies results before they are timed.
 *
 * On a small grid all cells are compared, including boundaries. A large grid has another plan, so
 * the first iteration of the timed grid is verified as well, in three windows: ref computes each
 * from the values before the iteration.
 *
 *     +---+-----------+       the inner cells of a window are computed from the window; its
 *     |   |           |       margin is as wide as the reach of the reads
 *     +---+ +---+     |
 *     |     |   |     |
 *     |     +---+ +---+
 *     |           |   |
 *     +-----------+---+
 */
#include "bench.h"
#include "runtime/run/run.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALL_STEPS = 3, WINDOWS = 3 };

/* ---- comparing ---- */

/* The allowed difference between fast and strict results: a few roundings of the largest value. */
static double tolerance(ambit_type type, bool strict)
{
  if (strict || !ambit__type_is_real(type)) return 0;
  if (ambit__type_is_half(type)) return 4 * (type == AMBIT_F16 ? 0x1p-10 : 0x1p-7);
  return 64 * (type == AMBIT_F32 ? (double)FLT_EPSILON : DBL_EPSILON);
}

static bool agree(const unsigned char *got, const unsigned char *want, size_t n, ambit_type type,
                  bool strict)
{
  const size_t size = ambit_type_size(type);
  double most = 0, apart = 0;

  for (size_t i = 0; i < n; i++) {
    double x = ambit__value_number(ambit__value_load(got + i * size, type), type);
    double y = ambit__value_number(ambit__value_load(want + i * size, type), type);

    if (isnan(x) && isnan(y)) continue;
    if (isnan(x) || isnan(y)) return false;
    if (x == y) continue;
    most = fmax(most, fabs(y));
    apart = fmax(apart, fabs(x - y));
  }
  return apart <= tolerance(type, strict) * most;
}

/* The values of a box of a field, which the caller frees; NULL on failure. */
static unsigned char *read_box(ambit_field *f, const int64_t *lo, const int64_t *hi, size_t *n)
{
  unsigned char *values;

  *n = (size_t)ambit_field_components(f);
  for (int d = 0; d < ambit_grid_ndims(f->grid); d++)
    *n *= (size_t)(hi[d] - lo[d]);
  values = malloc(*n * ambit_type_size(ambit_field_type(f)) + 1);
  if (values && ambit_field_read(f, lo, hi, values)) {
    free(values);
    values = NULL;
  }
  return values;
}

static bool boxes_agree(ambit_field *got, const int64_t *got_lo, const int64_t *got_hi,
                        ambit_field *want, const int64_t *lo, const int64_t *hi, bool strict)
{
  size_t n, m;
  unsigned char *a = read_box(got, got_lo, got_hi, &n), *b = read_box(want, lo, hi, &m);
  bool same = a && b && n == m && agree(a, b, n, ambit_field_type(got), strict);

  free(a);
  free(b);
  return same;
}

/* ---- a small grid ---- */

static int reach(const tool_problem *p, int axis)
{
  int most = 0;

  for (int i = 0; i < p->nparams; i++) {
    int r = p->params[i].low[axis] + p->params[i].high[axis];

    if (p->params[i].kind == AMBIT_PARAM_FIELD && r > most) most = r;
  }
  return most;
}

/* Odd, different along each axis, and large enough to have inner cells; in planes with rows for all
 * warps of a GPU's largest blocks, 32: the option `plan` may ask for them. */
static void small_size(const tool_problem *p, tool_size *size)
{
  static const int64_t cells[AMBIT_MAX_DIMS] = {1001, 33, 23, 9, 6, 4};

  size->ndims = p->size.ndims;
  for (int d = 0; d < size->ndims; d++)
    size->extents[d] = cells[size->ndims - 1] + 2 * d + reach(p, d);
  if (size->ndims > 2) size->extents[size->ndims - 2] += 32;
}

/* Runs `p`, which may belong to another context, in context `a`. */
static ambit_status run_small(ambit *a, const tool_args *args, tool_problem p, tool_job *job)
{
  p.kernel = NULL;
  if (tool_problem_load(a, args, &p)) return AMBIT_EINVAL;
  AMBIT_TRY(tool_job_open(a, &p, p.kernel, job));
  AMBIT_TRY(tool_job_start(job));
  return ambit_run(job->program, SMALL_STEPS);
}

bool bench_verify_small(ambit *a, const tool_args *args, const bench_line *line)
{
  const int64_t zero[AMBIT_MAX_DIMS] = {0};
  ambit *ref = tool_open_like(a, "ref");
  tool_problem p = line->problem;
  tool_job fast, slow;
  bool same;

  small_size(&line->problem, &p.size);
  same =
      !run_small(a, args, p, &fast) && !run_small(ref, args, p, &slow) &&
      boxes_agree(fast.in, zero, p.size.extents, slow.in, zero, p.size.extents, a->settings.strict);
  if (!same && !ambit_error(a) && !ambit_error(ref))
    fprintf(tool_notes, "ambit bench: '%s' differs from ref\n", line->text);
  if (!ambit_error(a)) ambit_grid_destroy(fast.grid);
  ambit_close(ref);
  return same;
}

/* ---- windows of a large grid ---- */

typedef struct window {
  tool_size size;
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS]; /* in the large grid */
  unsigned char *before;
} window;

/* Window i of WINDOWS, along the diagonal of the grid. */
static void place_window(const tool_problem *p, int i, window *w)
{
  small_size(p, &w->size);
  for (int d = 0; d < p->size.ndims; d++) {
    if (w->size.extents[d] > p->size.extents[d]) w->size.extents[d] = p->size.extents[d];
    w->lo[d] = (p->size.extents[d] - w->size.extents[d]) * i / (WINDOWS - 1);
    w->hi[d] = w->lo[d] + w->size.extents[d];
  }
}

/* Whether the inner cells of the window equal those that ref computes from the values before. */
static bool window_agrees(ambit *ref, const tool_args *args, tool_problem p, const window *w,
                          tool_job *big)
{
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS], at_lo[AMBIT_MAX_DIMS], at_hi[AMBIT_MAX_DIMS];
  bool strict = ref->settings.strict;
  tool_job job;

  p.size = w->size;
  for (int d = 0; d < p.size.ndims; d++)
    p.boundaries.kind[d][0] = p.boundaries.kind[d][1] = AMBIT_FIXED;
  if (tool_problem_load(ref, args, &p) || tool_job_open(ref, &p, p.kernel, &job)) return false;
  if (ambit_field_write(job.in, NULL, NULL, w->before) || ambit_run(job.program, 1)) return false;
  tool_problem_region(&p, lo, hi);
  for (int d = 0; d < p.size.ndims; d++) {
    at_lo[d] = w->lo[d] + lo[d];
    at_hi[d] = w->lo[d] + hi[d];
  }
  return boxes_agree(big->in, at_lo, at_hi, job.in, lo, hi, strict);
}

bool bench_verify_first(ambit *a, const bench_line *line, tool_job *job)
{
  const tool_problem *p = &line->problem;
  const tool_args args = {.command = "bench"};
  ambit *ref = tool_open_like(a, "ref");
  window windows[WINDOWS] = {0};
  const int n = p->rule->max_axis < 0 ? WINDOWS : 0; /* rules with index() cannot run on a window */
  bool same = true;
  size_t values;

  for (int i = 0; i < n; i++) {
    place_window(p, i, &windows[i]);
    windows[i].before = read_box(job->in, windows[i].lo, windows[i].hi, &values);
  }
  ambit_run(job->program, 1);
  for (int i = 0; i < n; i++) {
    same = same && windows[i].before && window_agrees(ref, &args, *p, &windows[i], job);
    free(windows[i].before);
  }
  ambit_close(ref);
  same = same && !ambit_error(a);
  if (!same)
    fprintf(tool_notes, "ambit bench: '%s' differs from ref on its large grid\n", line->text);
  return same;
}
