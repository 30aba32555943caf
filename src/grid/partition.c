/* SPDX-License-Identifier: BSD-3-Clause */
/* partition.c - partitions a grid.
 *
 * The cuts form a tree: axis 0 is cut into slabs in proportion to the weights of their parts, then
 * each slab separately along axis 1, and so on. Each part gets its share as exactly as whole cells
 * allow, and the cuts of neighbouring slabs need not align. Cuts of the last axis are rounded to
 * multiples of LINE cells if that changes no piece by more than an eighth.
 *
 * `auto` takes the counts of lowest cost, in units of one cell update:
 *
 *   work      cells of the largest part, plus ROW cells per row for the overhead of a row
 *   exchange  per neighbour (one or two along a cut axis) the cost of a message, plus that of each
 *             cell of the face between: packing, sending, unpacking. Faces across axis 0 are
 *             contiguous in memory; those across a middle axis are rows (PIECES more per cell);
 *             of those across the last axis every cell is on a cache line of its own.
 *
 * On CPUs the two add up; on a GPU they overlap and the larger one counts. Bands along axis 0 have
 * one face per side and the longest messages; other partitions are used only if they cost less than
 * GAIN times that. Few parts thus become bands, many become blocks, and rows are cut last.
 */
#include "grid/partition.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 16, ROW = 16 };

static const double PIECES = 4, GAIN = 0.9;

/* ---- option partition ---- */

static bool read_count(const char **text, int *count)
{
  char *end;
  long n;

  if (**text < '1' || **text > '9') return false;
  n = strtol(*text, &end, 10);
  if (n > INT32_MAX) return false;
  *count = (int)n;
  *text = end;
  return true;
}

bool ambit__cuts_parse(const char *text, ambit__cuts *cuts)
{
  ambit__cuts c = {.comm_cost = AMBIT__CORES_COMM_COST};

  if (strcmp(text, "auto") != 0) {
    for (;; text++) {
      if (c.n == AMBIT_MAX_DIMS || !read_count(&text, &c.count[c.n])) return false;
      c.n++;
      if (*text != 'x') break;
    }
    if (*text) return false;
  }
  *cuts = c;
  return true;
}

static void print_cuts(ambit__text *t, const ambit__cuts *cuts)
{
  for (int d = 0; d < cuts->n; d++)
    ambit__print(t, "%s%d", d ? "x" : "", cuts->count[d]);
}

/* ---- auto ---- */

typedef struct search {
  int ndims;
  ambit__comm_cost comm_cost;
  int64_t extent[AMBIT_MAX_DIMS];
  int count[AMBIT_MAX_DIMS]; /* current candidate */
  int best[AMBIT_MAX_DIMS];
  double cost; /* of the best candidate */
} search;

/* Cost of one cell of a face across this axis. */
static double cell_cost(const search *s, int axis)
{
  if (axis == s->ndims - 1) return s->comm_cost.cell + s->comm_cost.line;
  return axis == 0 ? s->comm_cost.cell : s->comm_cost.cell + PIECES;
}

/* Cost of the current candidate per iteration. */
static double cost(const search *s)
{
  const int last = s->ndims - 1;
  double piece[AMBIT_MAX_DIMS], volume = 1, exchange = 0, work;

  for (int d = 0; d <= last; d++) {
    piece[d] = ceil((double)s->extent[d] / s->count[d]);
    volume *= piece[d];
  }
  for (int d = 0; d <= last; d++)
    if (s->count[d] > 1)
      exchange +=
          fmin(s->count[d] - 1, 2) * (s->comm_cost.message + volume / piece[d] * cell_cost(s, d));
  work = volume / piece[last] * (piece[last] + ROW);
  return s->comm_cost.overlaps ? fmax(work, exchange) : work + exchange;
}

/* Tries all factorisations of `left` into counts of this and the following axes. */
static void try_counts(search *s, int axis, int left)
{
  if (axis == s->ndims - 1) {
    double c;

    s->count[axis] = left;
    c = cost(s);
    if (c >= s->cost) return;
    s->cost = c;
    memcpy(s->best, s->count, sizeof s->best);
    return;
  }
  for (int n = left; n >= 1; n--) /* from many to few: bands win a tie */
    if (left % n == 0) {
      s->count[axis] = n;
      try_counts(s, axis + 1, left / n);
    }
}

static void choose_counts(const ambit__box *grid, int nparts, const ambit__comm_cost *comm_cost,
                          int *count)
{
  search s = {.ndims = grid->ndims, .comm_cost = *comm_cost};

  for (int d = 0; d < s.ndims; d++) {
    s.extent[d] = grid->hi[d] - grid->lo[d];
    s.count[d] = s.best[d] = d == 0 ? nparts : 1;
  }
  s.cost = GAIN * cost(&s);
  try_counts(&s, 0, nparts);
  memcpy(count, s.best, (size_t)s.ndims * sizeof *count);
}

/* ---- cutting ---- */

typedef struct cutter {
  int count[AMBIT_MAX_DIMS];
  double *before; /* nparts + 1 prefix sums of the weights */
  ambit__box *parts;
} cutter;

/* An axis of a slab to be cut into n pieces of `each` parts. */
typedef struct ruler {
  const double *before; /* prefix sums, from the first part of the slab */
  int64_t lo, hi;
  int n, each;
} ruler;

/* The first cell of piece k. A piece without weight is empty. */
static int64_t exact_cut(const ruler *r, int k)
{
  double total = r->before[r->n * r->each] - r->before[0];
  double share = r->before[k * r->each] - r->before[0];

  if (k == 0 || total <= 0) return r->lo;
  return share >= total ? r->hi : r->lo + llround((double)(r->hi - r->lo) * (share / total));
}

static int64_t line_cut(const ruler *r, int k)
{
  int64_t cut = exact_cut(r, k), line = (cut + LINE / 2) / LINE * LINE;

  if (cut == r->lo || cut == r->hi) return cut;
  return line < r->lo ? r->lo : line > r->hi ? r->hi : line;
}

/* Whether rounding cuts to whole lines changes no piece by more than an eighth. */
static bool allows_lines(const ruler *r)
{
  for (int k = 0; k < r->n; k++) {
    int64_t exact = exact_cut(r, k + 1) - exact_cut(r, k);
    int64_t lines = line_cut(r, k + 1) - line_cut(r, k);

    if (llabs(lines - exact) > exact / 8) return false;
  }
  return true;
}

static void cut_slab(const cutter *c, const ambit__box *slab, int axis, int first, int nparts)
{
  const int last = slab->ndims - 1;
  ambit__box piece = *slab;
  ruler r;
  int64_t (*cut)(const ruler *, int) = exact_cut;

  if (axis > last) {
    c->parts[first] = *slab;
    return;
  }
  r = (ruler){.before = c->before + first,
              .lo = slab->lo[axis],
              .hi = slab->hi[axis],
              .n = c->count[axis],
              .each = c->count[axis] > 0 ? nparts / c->count[axis] : nparts};
  if (axis == last && allows_lines(&r)) cut = line_cut;
  for (int k = 0; k < r.n; k++) {
    piece.lo[axis] = cut(&r, k);
    piece.hi[axis] = cut(&r, k + 1);
    cut_slab(c, &piece, axis + 1, first + k * r.each, r.each);
  }
}

static ambit_status sum_weights(ambit__errors *errors, int nparts, const double *weights,
                                double *before)
{
  for (int k = 0; k < nparts; k++) {
    double w = weights ? weights[k] : 1;

    AMBIT_CHECK(w >= 0 && isfinite(w), errors, AMBIT_EINVAL,
                "the weight of part %d is %g; weights must be finite and not negative", k, w);
    before[k + 1] = before[k] + w;
  }
  AMBIT_CHECK(before[nparts] > 0 && isfinite(before[nparts]), errors, AMBIT_EINVAL,
              "the weights of the %d parts add up to %g; at least one must be positive", nparts,
              before[nparts]);
  return AMBIT_OK;
}

static ambit_status check_cuts(ambit__errors *errors, const ambit__box *grid, int nparts,
                               const ambit__cuts *cuts)
{
  ambit__text t = {0};
  double product = 1;
  char *name;
  ambit_status s = AMBIT_OK;

  for (int d = 0; d < cuts->n; d++)
    product *= cuts->count[d];
  if (cuts->n <= grid->ndims && product == nparts) return AMBIT_OK;
  print_cuts(&t, cuts);
  name = ambit__text_finish(&t);
  if (cuts->n > grid->ndims)
    s = ambit__raise(
        errors, AMBIT_EINVAL,
        "partition %s cuts %d axes, but the grid has %d; give one number per axis, or auto",
        name ? name : "", cuts->n, grid->ndims);
  else
    s = ambit__raise(errors, AMBIT_EINVAL,
                     "partition %s makes %.0f parts, but there are %d; give numbers whose product "
                     "is %d, or auto",
                     name ? name : "", product, nparts, nparts);
  free(name);
  return s;
}

ambit_status ambit__partition_make(ambit__errors *errors, const ambit__box *grid, int nparts,
                                   const ambit__cuts *cuts, const double *weights,
                                   ambit__box *parts)
{
  static const ambit__comm_cost cores = AMBIT__CORES_COMM_COST;
  cutter c = {.parts = parts};
  ambit_status s;

  if (cuts && cuts->n) {
    AMBIT_TRY(check_cuts(errors, grid, nparts, cuts));
    for (int d = 0; d < grid->ndims; d++)
      c.count[d] = d < cuts->n ? cuts->count[d] : 1;
  } else {
    choose_counts(grid, nparts, cuts ? &cuts->comm_cost : &cores, c.count);
  }
  AMBIT_NEW(errors, c.before, (size_t)nparts + 1);
  s = sum_weights(errors, nparts, weights, c.before);
  if (!s) cut_slab(&c, grid, 0, 0, nparts);
  free(c.before);
  return s;
}

int ambit__partition_owner(const ambit__box *parts, int nparts, const int64_t *cell)
{
  for (int p = 0; p < nparts; p++) {
    int d = 0;

    while (d < parts[p].ndims && parts[p].lo[d] <= cell[d] && cell[d] < parts[p].hi[d])
      d++;
    if (d == parts[p].ndims) return p;
  }
  return -1;
}
