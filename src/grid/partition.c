/* partition.c - cutting a grid into parts.
 *
 * The cuts are a tree: axis 0 is cut into slabs, in proportion to the weights of all parts within each; then every slab by
 * itself along axis 1, and so on. So each part gets its share as exactly as whole cells allow, and the cuts of one slab need
 * not meet those of the next. Cuts through the last axis fall on multiples of LINE cells, where that changes no piece by more
 * than an eighth.
 *
 * `auto` takes the counts that cost least, in units of one cell updated:
 *
 *   work      the cells of the largest part, each row ROW cells longer than it is: starting a row is not free
 *   exchange  the toll for each neighbour, one or two along an axis that is cut, and for each cell of the faces between: it is
 *             packed, sent and unpacked. Faces across axis 0 lie in memory as they are sent; those across a middle axis are rows
 *             (PIECES more); of those across the last axis, every cell is alone in its line of memory.
 *
 * Cores do both in turn; on a GPU, the longer of them counts. Bands along axis 0 have one face on each side and the longest
 * messages; others are taken when they cost less than GAIN of that. So few parts are bands, many are blocks, and rows are cut
 * last.
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
  ambit__cuts c = {.toll = AMBIT__CORES_TOLL};

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
  ambit__toll toll;
  int64_t extent[AMBIT_MAX_DIMS];
  int count[AMBIT_MAX_DIMS]; /* being tried */
  int best[AMBIT_MAX_DIMS];
  double cost; /* of the best */
} search;

/* Of a cell of a face across this axis. */
static double cell_cost(const search *s, int axis)
{
  if (axis == s->ndims - 1) return s->toll.cell + s->toll.line;
  return axis == 0 ? s->toll.cell : s->toll.cell + PIECES;
}

/* What the counts being tried cost per iteration. */
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
          fmin(s->count[d] - 1, 2) * (s->toll.message + volume / piece[d] * cell_cost(s, d));
  work = volume / piece[last] * (piece[last] + ROW);
  return s->toll.beside ? fmax(work, exchange) : work + exchange;
}

/* Tries all ways to write `left` as counts of this axis and those after it. */
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

static void choose_counts(const ambit__box *grid, int nparts, const ambit__toll *toll, int *count)
{
  search s = {.ndims = grid->ndims, .toll = *toll};

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
  double *before; /* nparts + 1 sums: the weight of the parts before each one */
  ambit__box *parts;
} cutter;

/* An axis of a slab that is to be cut into n pieces of `each` parts. */
typedef struct ruler {
  const double *before; /* of the first part of the slab */
  int64_t lo, hi;
  int n, each;
} ruler;

/* Where piece k begins. Pieces without weight begin where the next one does. */
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

/* Whether the pieces keep their sizes, within an eighth, when cuts are moved to whole lines. */
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
                "the weight of part %d is %g; weights are numbers from 0 on", k, w);
    before[k + 1] = before[k] + w;
  }
  AMBIT_CHECK(before[nparts] > 0 && isfinite(before[nparts]), errors, AMBIT_EINVAL,
              "the weights of the %d parts add up to %g; at least one must be more than 0", nparts,
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
    s = ambit__raise(errors, AMBIT_EINVAL,
                     "partition %s cuts %d axes, but the grid has %d; give one number per axis, "
                     "or auto",
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
  static const ambit__toll cores = AMBIT__CORES_TOLL;
  cutter c = {.parts = parts};
  ambit_status s;

  if (cuts && cuts->n) {
    AMBIT_TRY(check_cuts(errors, grid, nparts, cuts));
    for (int d = 0; d < grid->ndims; d++)
      c.count[d] = d < cuts->n ? cuts->count[d] : 1;
  } else {
    choose_counts(grid, nparts, cuts ? &cuts->toll : &cores, c.count);
  }
  c.before = ambit__new(errors, (size_t)nparts + 1, sizeof *c.before);
  if (!c.before) return AMBIT_ENOMEM;
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
