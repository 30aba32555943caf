/* SPDX-License-Identifier: BSD-3-Clause */
/* host_ghosts.c - fills ghost cells in host memory.
 *
 * The ghost cells of an axis depend only on cells that are given along that axis, so its rows can
 * be filled in any order. Along every axis but the last, a ghost layer consists of whole rows, each
 * a copy of another row or a constant. Along the last axis every row gets new ends, from a list of
 * (to, from) made once per call. With AMBIT_AOS the components of a cell are treated as one longer
 * row; with AMBIT_SOA they are one more axis, outside the others. For small grids the overhead must
 * be small: there are no allocations, and no calls per cell.
 */
#include "device/host.h"

#include <string.h>

#ifdef __GNUC__
#  define INLINE      static inline __attribute__((always_inline))
#  define PREFETCH(p) __builtin_prefetch(p, 1)
#else
#  define INLINE      static inline
#  define PREFETCH(p) ((void)(p))
#endif

enum {
  COLUMNS = 64, /* values of a row copied in one pass over the rows */
  AHEAD = 16    /* rows to prefetch: row ends are too far apart for hardware prefetchers */
};

/* Rows to fill, counted in row-major order over some axes, the components (AMBIT_SOA) outermost. */
typedef struct rows {
  int n;                         /* axes counted, at least 1 */
  int64_t count[AMBIT_MAX_DIMS]; /* rows along each */
  int64_t step[AMBIT_MAX_DIMS];  /* stride in bytes along each */
  int64_t low[AMBIT_MAX_DIMS];   /* ghost rows before the given ones along each */
  int axis[AMBIT_MAX_DIMS];      /* each but the first, the components */
  int64_t total;                 /* product of the counts */
  int64_t start;                 /* bytes from the origin to row 0 */
} rows;

/* A position among the rows, and the number of rows that follow at equal distances. */
typedef struct cursor {
  int64_t at[AMBIT_MAX_DIMS];
  unsigned char *row; /* its first given cell along the last axis */
  int64_t left;       /* rows still to visit */
  int64_t run;        /* number of them along the innermost axis */
  int64_t step;       /* stride in bytes between those */
} cursor;

/* Values to copy within each row, as byte offsets from the row's first given cell. */
typedef struct columns {
  int n;
  int64_t to[COLUMNS], from[COLUMNS];
  bool negated[COLUMNS];
  bool any_negated;
} columns;

/* The sign is the highest bit, of a number of any size. */
void ambit__host_negate(unsigned char *values, int64_t n, size_t size)
{
  uint16_t x2;
  uint32_t x4;
  uint64_t x8;

  for (; n > 0; n--, values += size)
    switch (size) {
    case 2:
      memcpy(&x2, values, sizeof x2);
      x2 ^= 0x8000u;
      memcpy(values, &x2, sizeof x2);
      break;
    case 4:
      memcpy(&x4, values, sizeof x4);
      x4 ^= 0x80000000u;
      memcpy(values, &x4, sizeof x4);
      break;
    default:
      memcpy(&x8, values, sizeof x8);
      x8 ^= (uint64_t)1 << 63;
      memcpy(values, &x8, sizeof x8);
    }
}

static int64_t min64(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t cells(const ambit__host_ghosts_job *job, int axis)
{
  return job->given.hi[axis] - job->given.lo[axis];
}

/* The rows that axis `axis` fills; if it is not the last axis, the rows of each of its layers. */
static rows rows_of(const ambit__host_ghosts_job *job, int axis)
{
  const ambit__layout *l = job->layout;
  const int64_t size = job->size;
  rows r;

  r.n = 1;
  r.start = 0;
  r.count[0] = r.total = l->order == AMBIT_AOS ? 1 : l->components;
  r.step[0] = l->component * size;
  for (int d = 0; d < job->last; d++) {
    int64_t low = d < axis ? job->low[d] : 0, high = d < axis ? job->high[d] : 0;

    if (d == axis) continue;
    r.axis[r.n] = d;
    r.low[r.n] = low;
    r.count[r.n] = low + cells(job, d) + high;
    r.step[r.n] = l->stride[d] * size;
    r.start -= low * r.step[r.n];
    r.total *= r.count[r.n++];
  }
  return r;
}

static void find_run(const rows *r, cursor *c)
{
  int inner = r->n - 1;

  c->run = min64(c->left, r->count[inner] - c->at[inner]);
}

static cursor cursor_at(const rows *r, unsigned char *origin, int64_t first, int64_t end)
{
  cursor c = {.left = end - first, .step = r->step[r->n - 1]};
  int64_t offset = r->start;

  for (int k = r->n - 1; k >= 0 && first > 0; k--) {
    c.at[k] = first % r->count[k];
    first /= r->count[k];
    offset += c.at[k] * r->step[k];
  }
  c.row = origin + offset;
  find_run(r, &c);
  return c;
}

/* Skips the run; returns false if no rows are left. */
static bool next_run(const rows *r, cursor *c)
{
  int k = r->n - 1;

  c->left -= c->run;
  if (c->left <= 0) return false;
  c->at[k] += c->run;
  c->row += c->run * r->step[k];
  for (; k > 0 && c->at[k] == r->count[k]; k--) {
    c->row += r->step[k - 1] - r->count[k] * r->step[k];
    c->at[k - 1]++;
    c->at[k] = 0;
  }
  find_run(r, c);
  return true;
}

/* ---- operations on a run of rows; the compiler knows `size` ---- */

INLINE void fill_run(const cursor *c, int64_t offset, int64_t n, const unsigned char *value,
                     size_t size)
{
  unsigned char *p = c->row + offset, v[8];

  /* A copy that stores through p cannot change, so it stays in a register. */
  memcpy(v, value, size);
  for (int64_t i = 0; i < c->run; i++, p += c->step) {
    if (i + AHEAD < c->run) PREFETCH(p + AHEAD * c->step);
    for (int64_t k = 0; k < n; k++)
      memcpy(p + (size_t)k * size, v, size);
  }
}

INLINE void copy_run(const cursor *c, const columns *list, size_t size)
{
  unsigned char *p = c->row;

  for (int64_t i = 0; i < c->run; i++, p += c->step) {
    if (i + AHEAD < c->run) {
      PREFETCH(p + AHEAD * c->step + list->to[0]);
      PREFETCH(p + AHEAD * c->step + list->to[list->n - 1]);
    }
    for (int k = 0; k < list->n; k++)
      memcpy(p + list->to[k], p + list->from[k], size);
  }
}

/* Sets n values of each row, from `offset` bytes after its first given cell, to the constant of a
 * face. */
static void fill_rows(const ambit__host_ghosts_job *job, const rows *r, cursor c, int64_t offset,
                      int64_t n, double number)
{
  const ambit_type type = job->layout->type;
  unsigned char value[8];

  ambit__value_store(value, type, ambit__value_of(number, type));
  do {
    switch (job->size) {
    case 1: fill_run(&c, offset, n, value, 1); break;
    case 2: fill_run(&c, offset, n, value, 2); break;
    case 4: fill_run(&c, offset, n, value, 4); break;
    default: fill_run(&c, offset, n, value, 8); break;
    }
  } while (next_run(r, &c));
}

/* Whether row i of the run is a ghost of another axis with a constant, which keeps its sign. */
static bool is_constant(const ambit__host_ghosts_job *job, const rows *r, const cursor *c,
                        int64_t i)
{
  for (int k = 1; k < r->n; k++) {
    const ambit_boundary *kind = job->boundaries->kind[r->axis[k]];
    const int64_t at = c->at[k] - r->low[k] + (k == r->n - 1 ? i : 0);

    if (at < 0 && kind[0] == AMBIT_CONSTANT) return true;
    if (at >= cells(job, r->axis[k]) && kind[1] == AMBIT_CONSTANT) return true;
  }
  return false;
}

static void negate_columns(const ambit__host_ghosts_job *job, const rows *r, const cursor *c,
                           const columns *list)
{
  for (int64_t i = 0; i < c->run; i++)
    for (int k = 0; k < list->n && !is_constant(job, r, c, i); k++)
      if (list->negated[k])
        ambit__host_negate(c->row + i * c->step + list->to[k], 1, (size_t)job->size);
}

static void copy_columns(const ambit__host_ghosts_job *job, const rows *r, cursor c,
                         const columns *list)
{
  do {
    switch (job->size) {
    case 1: copy_run(&c, list, 1); break;
    case 2: copy_run(&c, list, 2); break;
    case 4: copy_run(&c, list, 4); break;
    default: copy_run(&c, list, 8); break;
    }
    if (list->any_negated) negate_columns(job, r, &c, list);
  } while (next_run(r, &c));
}

static void copy_rows(const ambit__host_ghosts_job *job, const rows *r, cursor c, int64_t distance,
                      int64_t values, bool negates)
{
  do {
    unsigned char *p = c.row;

    for (int64_t i = 0; i < c.run; i++, p += c.step) {
      memcpy(p, p + distance, (size_t)(values * job->size));
      if (negates && !is_constant(job, r, &c, i)) ambit__host_negate(p, values, (size_t)job->size);
    }
  } while (next_run(r, &c));
}

/* ---- the two ways to fill an axis ---- */

/* The distance of ghost k of an axis, low ones first, from the first given cell. */
static int64_t ghost_at(const ambit__host_ghosts_job *job, int axis, int64_t k)
{
  k -= job->low[axis];
  return k < 0 ? k : cells(job, axis) + k;
}

/* The same distance of the cell that a ghost copies. */
static int64_t source_of(const ambit__host_ghosts_job *job, int axis, ambit_boundary kind,
                         int64_t at)
{
  const int64_t first = job->given.lo[axis];

  return ambit__boundary_map(kind, job->extents[axis], first + at) - first;
}

static bool negates(const ambit__host_ghosts_job *job, int axis, ambit_boundary kind, int64_t at)
{
  return ambit__boundary_negates(kind, job->extents[axis], job->given.lo[axis] + at);
}

static void fill_layer(const ambit__host_ghosts_job *job, int axis, int64_t layer, const rows *r,
                       int64_t first, int64_t end)
{
  const ambit__layout *l = job->layout;
  const int last = job->last, side = layer >= job->low[axis];
  const ambit_boundary kind = job->boundaries->kind[axis][side];
  const int64_t to = ghost_at(job, axis, layer), step = l->stride[axis] * job->size;
  const int64_t values = l->dropped >> last & 1 ? 1 : cells(job, last) * l->stride[last];
  const cursor c = cursor_at(r, job->origin + to * step, first, end);

  if (kind == AMBIT_CONSTANT)
    fill_rows(job, r, c, 0, values, job->boundaries->value[axis][side]);
  else
    copy_rows(job, r, c, (source_of(job, axis, kind, to) - to) * step, values,
              negates(job, axis, kind, to));
}

static void fill_layers(const ambit__host_ghosts_job *job, int axis, int64_t first, int64_t end)
{
  const rows r = rows_of(job, axis);

  while (first < end) {
    int64_t layer = first / r.total, begin = first - layer * r.total;
    int64_t n = min64(end - first, r.total - begin);

    fill_layer(job, axis, layer, &r, begin, begin + n);
    first += n;
  }
}

/* Copies the ghost cells of both ends of the rows, a list of COLUMNS values at a time. */
static void copy_ends(const ambit__host_ghosts_job *job, const rows *r, cursor c)
{
  const int axis = job->last;
  const int64_t ghosts = job->low[axis] + job->high[axis];
  const int64_t size = job->size, step = job->layout->stride[axis];
  columns list;

  list.n = 0;
  list.any_negated = false;
  for (int64_t k = 0; k < ghosts; k++) {
    ambit_boundary kind = job->boundaries->kind[axis][k >= job->low[axis]];
    int64_t to = ghost_at(job, axis, k), from;

    if (kind == AMBIT_CONSTANT) continue;
    from = source_of(job, axis, kind, to);
    for (int64_t e = 0; e < step; e++) { /* AMBIT_AOS: the values of the cell */
      if (list.n == COLUMNS) {
        copy_columns(job, r, c, &list);
        list.n = 0;
        list.any_negated = false;
      }
      list.negated[list.n] = negates(job, axis, kind, to);
      list.any_negated |= list.negated[list.n];
      list.to[list.n] = (to * step + e) * size;
      list.from[list.n++] = (from * step + e) * size;
    }
  }
  if (list.n) copy_columns(job, r, c, &list);
}

static void fill_ends(const ambit__host_ghosts_job *job, int64_t first, int64_t end)
{
  const int axis = job->last;
  const int64_t step = job->layout->stride[axis];
  const rows r = rows_of(job, axis);
  const cursor c = cursor_at(&r, job->origin, first, end);

  copy_ends(job, &r, c);
  for (int side = 0; side < 2; side++) {
    int64_t from = side ? cells(job, axis) : -job->low[axis];
    int64_t width = side ? job->high[axis] : job->low[axis];

    if (width && job->boundaries->kind[axis][side] == AMBIT_CONSTANT)
      fill_rows(job, &r, c, from * step * job->size, width * step,
                job->boundaries->value[axis][side]);
  }
}

/* ---- the interface ---- */

static bool is_filled(ambit_boundary kind)
{
  return kind != AMBIT_NONE && kind != AMBIT_FIXED;
}

void ambit__host_ghosts_begin(ambit__host_ghosts_job *job, ambit__store *store,
                              const ambit__boundaries *b, const int64_t *extents,
                              const ambit__box *given, const ambit__box *reach)
{
  const ambit__layout *l = &store->layout;

  job->layout = l;
  job->boundaries = b;
  job->extents = extents;
  job->last = l->own.ndims - 1;
  job->size = (int64_t)ambit_type_size(l->type);
  job->given = *given;
  job->origin = ambit__host_base(store->buffer) + ambit__layout_at(l, given->lo) * job->size;
  for (int d = 0; d < l->own.ndims; d++) {
    job->low[d] = is_filled(b->kind[d][0]) ? given->lo[d] - reach->lo[d] : 0;
    job->high[d] = is_filled(b->kind[d][1]) ? reach->hi[d] - given->hi[d] : 0;
  }
}

/* An empty part has no cells to copy. */
int64_t ambit__host_ghost_count(const ambit__host_ghosts_job *job, int axis)
{
  const int64_t ghosts = job->low[axis] + job->high[axis];

  if (ghosts <= 0 || ambit__box_is_empty(&job->given)) return 0;
  return rows_of(job, axis).total * (axis == job->last ? 1 : ghosts);
}

void ambit__host_ghost_rows(const ambit__host_ghosts_job *job, int axis, int64_t first, int64_t end)
{
  if (first >= end) return;
  if (axis == job->last)
    fill_ends(job, first, end);
  else
    fill_layers(job, axis, first, end);
}

ambit_status ambit__host_ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                                const int64_t *extents, const ambit__box *given,
                                const ambit__box *reach)
{
  ambit__host_ghosts_job job;

  (void)q;
  ambit__host_ghosts_begin(&job, store, b, extents, given, reach);
  for (int d = 0; d < store->layout.own.ndims; d++)
    ambit__host_ghost_rows(&job, d, 0, ambit__host_ghost_count(&job, d));
  return AMBIT_OK;
}
