/* SPDX-License-Identifier: BSD-3-Clause */
/* gather_run.c - copies a block of a sparse grid, and the cells around it that a rule reads, to a
 * buffer.
 *
 * Away from the faces of the box, each row comes from up to three blocks of the table:
 *
 *          left   |  middle  |  right
 *        . . . # # # # # # # # # . . .
 *             x0  0          n  x1
 *
 * At the faces, the boundaries tell which cell each place stands for.
 */
#include "device/cpu/blocks.h"
#include "device/host.h"

#include <stdalign.h>
#include <string.h>

typedef ambit__gather gather;
typedef ambit__gather_row row;
typedef ambit__gather_band band;

/* One block that is gathered. */
typedef struct task {
  const gather *g;
  const ambit__blocks *b;
  const ambit__boundaries *boundaries;
  const unsigned char *pool; /* block 0 */
  unsigned char *buffer;
  int64_t block;
  int size;                         /* of a value */
  alignas(8) unsigned char fill[8]; /* a value of inactive cells */
  /* the block that was looked up last */
  bool any;
  int64_t last_at[AMBIT_MAX_DIMS], last;
} task;

/* ---- one value, many times ---- */

/* `n` cells with the same value: of its size, side by side. */
static void fill_cells(const task *t, unsigned char *to, int64_t n, const unsigned char *value)
{
  const int64_t values = n * t->g->unit / t->size;

  switch (t->size) {
  case 1: memset(to, *value, (size_t)values); break;
  case 2:
    for (int64_t i = 0; i < values; i++)
      memcpy(to + 2 * i, value, 2);
    break;
  case 4:
    for (int64_t i = 0; i < values; i++)
      memcpy(to + 4 * i, value, 4);
    break;
  default:
    for (int64_t i = 0; i < values; i++)
      memcpy(to + 8 * i, value, 8);
    break;
  }
}

/* The same cells of all rows of a band, from cell x on. */
static void fill_band(const task *t, const band *b, int64_t x, int64_t n,
                      const unsigned char *value)
{
  for (int i = 0; i < b->n; i++)
    fill_cells(t, t->buffer + t->g->moves[b->first + i].to + x * t->g->unit, n, value);
}

static void convert(const task *t, double number, unsigned char *value)
{
  const ambit_type type = t->g->layout.type;

  ambit__value_store(value, type, ambit__value_of(number, type));
}

/* ---- rows of blocks that are stored ---- */

/* Copies `bytes` to the same place of every row of a band. The number is a constant where compilers
 * are to copy without a call. */
static inline void copy_each(const task *t, const band *b, const unsigned char *from, int64_t to,
                             size_t bytes)
{
  const ambit__gather_move *m = t->g->moves + b->first;
  unsigned char *buffer = t->buffer + to;

  for (int i = 0; i < b->n; i++)
    memcpy(buffer + m[i].to, from + m[i].from, bytes);
}

/* Cells x .. x + n - 1 of the rows of a band, in one block, to cell `to` and following. */
static void copy_band(const task *t, const band *b, int64_t block, int64_t x, int64_t n, int64_t to)
{
  const unsigned char *from = t->pool + block * t->g->block + x * t->g->unit;

  to *= t->g->unit;
  switch (n * t->g->unit) {
  case 1: copy_each(t, b, from, to, 1); break;
  case 2: copy_each(t, b, from, to, 2); break;
  case 4: copy_each(t, b, from, to, 4); break;
  case 8: copy_each(t, b, from, to, 8); break;
  case 16: copy_each(t, b, from, to, 16); break;
  case 32: copy_each(t, b, from, to, 32); break;
  case 64: copy_each(t, b, from, to, 64); break;
  case 128: copy_each(t, b, from, to, 128); break;
  case 256: copy_each(t, b, from, to, 256); break;
  case 512: copy_each(t, b, from, to, 512); break;
  default: copy_each(t, b, from, to, (size_t)(n * t->g->unit)); break;
  }
}

/* Gives the inactive cells among n of a row their value; place is that of the first in the mask. */
static inline void patch(const task *t, int64_t block, int64_t place, int64_t n, unsigned char *to)
{
  uint64_t off = ~ambit__blocks_bits(t->b, block, place, n);

  if (n < 64) off &= ((uint64_t)1 << n) - 1;
  while (off) { /* run by run */
    const int first = __builtin_ctzll(off);
    const uint64_t rest = ~(off >> first);
    const int length = rest ? __builtin_ctzll(rest) : 64;

    fill_cells(t, to + (int64_t)first * t->g->unit, length, t->fill);
    off &= first + length < 64 ? ~(uint64_t)0 << (first + length) : 0;
  }
}

/* The same as copy_band if cells may be inactive, or the whole block (-1). */
static void copy_active(const task *t, const band *b, int64_t block, int64_t x, int64_t n,
                        int64_t to)
{
  if (block < 0) {
    fill_band(t, b, to, n, t->fill);
    return;
  }
  copy_band(t, b, block, x, n, to);
  for (int i = 0; !t->b->full[block] && i < b->n; i++) {
    const row *r = &t->g->rows[b->first + i];

    patch(t, block, r->place + x, n, t->buffer + r->to + to * t->g->unit);
  }
}

/* ---- at the faces ---- */

/* What a place outside the grid along one axis, or inside, stands for. */
typedef enum stands_for { A_CELL, A_CONSTANT, NOTHING } stands_for;

static stands_for resolve(const task *t, int axis, int64_t *at, double *number)
{
  const int64_t extent = t->b->box.hi[axis];
  const int side = *at >= extent;
  const ambit_boundary kind = t->boundaries->kind[axis][side];

  if (*at >= 0 && !side) return A_CELL;
  if (kind == AMBIT_NONE || kind == AMBIT_FIXED) return NOTHING; /* never read */
  if (kind != AMBIT_CONSTANT) {
    *at = ambit__boundary_map(kind, extent, *at);
    return A_CELL;
  }
  *number = t->boundaries->value[axis][side];
  return A_CONSTANT;
}

static void fill_number(const task *t, unsigned char *to, int64_t n, double number)
{
  alignas(8) unsigned char value[8];

  convert(t, number, value);
  fill_cells(t, to, n, value);
}

/* The block at a place, by the table if it is near, or the one found last. */
static int64_t find_block(task *t, const int64_t *at)
{
  const ambit__blocks *b = t->b;
  const int64_t *own = b->at + t->block * b->box.ndims;
  const size_t bytes = (size_t)b->box.ndims * sizeof *at;
  bool is_near = true;
  int k = 0;

  for (int d = 0; d < b->box.ndims; d++) {
    is_near = is_near && at[d] - own[d] <= 1 && own[d] - at[d] <= 1;
    k = 3 * k + (int)(at[d] - own[d]) + 1;
  }
  if (is_near) return b->near[t->block * b->around + k];
  if (!t->any || memcmp(t->last_at, at, bytes) != 0) {
    t->any = true;
    memcpy(t->last_at, at, bytes);
    t->last = ambit__blocks_find(b, at);
  }
  return t->last;
}

/* `n` cells of the grid from `cell` on, in one block. */
static void copy_piece(task *t, const row *r, const int64_t *cell, int64_t n, unsigned char *to)
{
  const ambit__blocks *b = t->b;
  int64_t from = r->component, at[AMBIT_MAX_DIMS] = {0}, block;

  for (int d = 0; d < b->box.ndims; d++) {
    at[d] = cell[d] >> b->shift[d];
    from += (cell[d] & (((int64_t)1 << b->shift[d]) - 1)) * t->g->stride[d];
  }
  block = find_block(t, at);
  if (block < 0) {
    fill_cells(t, to, n, t->fill);
    return;
  }
  memcpy(to, t->pool + block * t->g->block + from, (size_t)(n * t->g->unit));
  if (!b->full[block]) patch(t, block, ambit__blocks_place(b, cell), n, to);
}

/* Cells x0 .. x1 - 1 of the grid along the row of `cell`. */
static void copy_inside(task *t, const row *r, int64_t *cell, int64_t x0, int64_t x1,
                        unsigned char *to)
{
  const int last = t->b->box.ndims - 1;

  for (int64_t x = x0, next; x < x1; x = next) {
    next = ((x >> t->b->shift[last]) + 1) << t->b->shift[last];
    if (next > x1) next = x1;
    cell[last] = x;
    copy_piece(t, r, cell, next - x, to + (x - x0) * t->g->unit);
  }
}

/* One cell beyond an end of the row. The row may be constant itself, but the last axis wins. */
static void copy_beyond(task *t, const row *r, int64_t *cell, stands_for row_is, double number,
                        unsigned char *to)
{
  const int last = t->b->box.ndims - 1;
  const stands_for this = resolve(t, last, &cell[last], &number);

  if (this == NOTHING || this == A_CONSTANT || row_is == A_CONSTANT)
    fill_number(t, to, 1, this == NOTHING ? 0 : number);
  else
    copy_piece(t, r, cell, 1, to);
}

static stands_for resolve_row(task *t, const row *r, int64_t *cell, double *number)
{
  const ambit__blocks *b = t->b;
  stands_for all = A_CELL;

  for (int d = 0; d < b->box.ndims - 1; d++) {
    stands_for this;

    cell[d] = (b->at[t->block * b->box.ndims + d] << b->shift[d]) + r->outer[d];
    this = resolve(t, d, &cell[d], number);
    if (this > all) all = this;
  }
  return all;
}

/* A row that may leave the box. */
static void copy_far(task *t, const band *c, const row *r)
{
  const ambit__blocks *b = t->b;
  const int last = b->box.ndims - 1;
  const int64_t start = b->at[t->block * b->box.ndims + last] << b->shift[last];
  const int64_t lo = start + c->x0, hi = start + c->x1, extent = b->box.hi[last];
  const int64_t x0 = lo < 0 ? 0 : lo, x1 = hi < extent ? hi : extent;
  unsigned char *to = t->buffer + r->to - start * t->g->unit; /* cell 0 of the grid */
  int64_t cell[AMBIT_MAX_DIMS];
  double number = 0;
  const stands_for row_is = resolve_row(t, r, cell, &number);

  if (row_is == NOTHING) {
    fill_number(t, to + lo * t->g->unit, hi - lo, 0);
    return;
  }
  if (row_is == A_CELL)
    copy_inside(t, r, cell, x0, x1, to + x0 * t->g->unit);
  else if (x0 < x1)
    fill_number(t, to + x0 * t->g->unit, x1 - x0, number);
  for (int64_t x = lo; x < hi; x = x + 1 == x0 && x1 > x0 ? x1 : x + 1) {
    if (x >= x0 && x < x1) continue;
    cell[last] = x;
    copy_beyond(t, r, cell, row_is, number, to + x * t->g->unit);
  }
}

/* ---- bands ---- */

/* Whether the rows of a band are those of a block of the table, in the box along all axes but the
 * last; of that block, all cells are. Sets the place of that block. */
static bool is_stored(const task *t, const band *c, int64_t *at)
{
  const ambit__blocks *b = t->b;
  int k = c->near;

  for (int d = b->box.ndims - 1; d >= 0; d--, k /= 3) {
    at[d] = b->at[t->block * b->box.ndims + d] + k % 3 - 1;
    if (at[d] < 0 || (at[d] + 1) << b->shift[d] > b->box.hi[d]) return false;
  }
  return t->g->is_near;
}

/* Cell x of all rows of a band, counted from the block, that is beyond an end of the rows of the
 * grid. `at` is the place of the block that has the rows. */
static void copy_end(task *t, const band *c, int64_t *at, int64_t x)
{
  const int last = t->b->box.ndims - 1, shift = t->b->shift[last];
  const int64_t own = at[last];
  int64_t there = (own << shift) + x;
  alignas(8) unsigned char value[8];
  double number = 0;

  if (resolve(t, last, &there, &number) == A_CELL) {
    at[last] = there >> shift;
    copy_active(t, c, find_block(t, at), there & ((1 << shift) - 1), 1, x);
    at[last] = own;
  } else {
    convert(t, number, value);
    fill_band(t, c, x, 1, value);
  }
}

/* A band of rows of a block. Of the middle block, whole rows are copied: the buffer has room. */
static void copy_stored(task *t, const band *c, int64_t *at)
{
  const int last = t->b->box.ndims - 1, n = 1 << t->b->shift[last];
  const int32_t *near = t->b->near + t->block * t->b->around + c->near;
  const int64_t start = at[last] * n, left = t->b->box.hi[last] - start; /* in the grid */
  const int64_t end = c->x1 < left ? c->x1 : left;

  if (c->x0 < 0 && start) copy_active(t, c, near[-1], n + c->x0, -c->x0, c->x0);
  if (c->x0 < n && c->x1 > 0) copy_active(t, c, near[0], 0, n, 0);
  if (end > n) copy_active(t, c, near[1], 0, end - n, n);
  for (int x = c->x0; x < 0 && !start; x++)
    copy_end(t, c, at, x);
  for (int64_t x = end; x < c->x1; x++)
    copy_end(t, c, at, x);
}

void ambit__gather_run(const gather *g, const ambit__argument *arg, int64_t block,
                       unsigned char *buffer)
{
  const ambit__layout *l = &arg->store->layout;
  const ambit__boundaries *bounds = arg->boundaries;
  int64_t at[AMBIT_MAX_DIMS];
  task t = {.g = g,
            .b = l->blocks,
            .boundaries = bounds,
            .pool = ambit__host_base(arg->store->buffer),
            .buffer = buffer,
            .block = block,
            .size = (int)ambit_type_size(l->type)};

  convert(&t, bounds->inactive == AMBIT_CONSTANT ? bounds->fill : 0, t.fill);
  for (int i = 0; i < g->nbands; i++) {
    const band *b = &g->bands[i];

    if (is_stored(&t, b, at))
      copy_stored(&t, b, at);
    else
      for (int k = 0; k < b->n; k++)
        copy_far(&t, b, &g->rows[b->first + k]);
  }
}
