/* SPDX-License-Identifier: BSD-3-Clause */
/* repeats.c - in C: tiles of a box, for which values that neighbouring cells have in common
 * (kernel/repeats.c) are stored in an array before the rest of the rule is computed.
 *
 *        . f f f f f f .       f: the array, with a margin of values of cells beside the tile
 *        f x x x x x x f       x: cells of the tile
 *        f x x x x x x f
 *        . f f f f f f .
 *
 * Both are functions of a box (nest/rows.c); to them the array is a field. It stays in the caches.
 * Tiles of a plane follow those of the planes before it, whose values the rule may read.
 */
#include "nest/nest.h"

enum { ALIGNED = 16 /* cells: arrays begin at a vector */ };

/* Elements from a row to the next one: a margin and a vector at both ends. */
static int64_t pitch_of(const ambit__repeats *r, const ambit__repeats_tile *tile, int ndims)
{
  const int64_t cells = tile->cells[ndims - 1] + r->low[ndims - 1] + r->high[ndims - 1];

  return (cells + 4 * ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Of an axis but the last. */
static int64_t along(const ambit__repeats *r, const ambit__repeats_tile *tile, int axis)
{
  return tile->cells[axis] + r->low[axis] + r->high[axis];
}

int64_t ambit__repeats_room(const ambit__repeats *r, const ambit__repeats_tile *tile, int ndims)
{
  int64_t room = pitch_of(r, tile, ndims);

  for (int d = 0; d < ndims - 1; d++)
    room *= along(r, tile, d);
  return room;
}

/* The array, and both calls. */
static void let_array(ambit__nest *n, const ambit__repeats *r, const ambit__repeats_tile *tile)
{
  const int ndims = n->group->ndims;
  const int64_t room = ambit__repeats_room(r, tile, ndims);
  int64_t stride = pitch_of(r, tile, ndims);

  ambit__nest_do(n, "%s array[%lld] __attribute__((aligned(64)))", n->dialect->types[r->type],
                 (long long)(room * r->n));
  ambit__nest_do(n, "ambit_compiled_call values = *call, rest = *call");
  ambit__nest_do(n, "values.component[%d] = rest.component[%d] = %lld", r->param, r->param,
                 (long long)room);
  ambit__nest_do(n, "values.stride[%d][%d] = rest.stride[%d][%d] = 1", r->param, ndims - 1,
                 r->param, ndims - 1);
  for (int d = ndims - 2; d >= 0; d--) {
    ambit__nest_do(n, "const int64_t s%d = values.stride[%d][%d] = rest.stride[%d][%d] = %lld", d,
                   r->param, d, r->param, d, (long long)stride);
    stride *= along(r, tile, d);
  }
}

/* "for (y1 = call->lo[1]; y1 < call->hi[1]; y1 += 512 - (y1 & 511))", and the end z1 of the tile:
 * tiles begin with a vector. */
static void open_axis(ambit__nest *n, const ambit__repeats_tile *tile, int d)
{
  const long long cells = tile->cells[d];
  const char *step = ambit__nest_text(n, "%lld", cells);

  if (d == n->group->ndims - 1)
    step = ambit__nest_text(n, "%lld - (y%d & %lld)", cells, d, cells - 1);
  ambit__nest_loop(n, .type = "int64_t", .name = ambit__nest_text(n, "y%d", d),
                   .from = ambit__nest_text(n, "call->lo[%d]", d),
                   .below = ambit__nest_text(n, "call->hi[%d]", d), .step = step);
  ambit__nest_do(n, "const int64_t z%d = y%d + %s < call->hi[%d] ? y%d + %s : call->hi[%d]", d, d,
                 step, d, d, step, d);
}

static void set_boxes(ambit__nest *n, const ambit__repeats *r)
{
  const int last = n->group->ndims - 1;
  const char *at = ambit__nest_text(n, "array - ((y%d & -%d) - %d)", last, ALIGNED, ALIGNED);

  for (int d = 0; d <= last; d++) {
    ambit__nest_do(n, "rest.lo[%d] = y%d, rest.hi[%d] = z%d", d, d, d, d);
    ambit__nest_do(n, "values.lo[%d] = y%d - %d, values.hi[%d] = z%d + %d", d, d, r->low[d], d, d,
                   r->high[d]);
    if (d < last) at = ambit__nest_text(n, "%s - (y%d - %d) * s%d", at, d, r->low[d], d);
  }
  ambit__nest_do(n, "values.origin[%d] = rest.origin[%d] = %s", r->param, r->param, at);
}

/* Planes are the innermost loop: their rows stay in the second-level cache. */
void ambit__nest_repeats(ambit__nest *n, const ambit__repeats *r, const ambit__repeats_tile *tile,
                         const char *values, const char *rest)
{
  const int last = n->group->ndims - 1;

  let_array(n, r, tile);
  for (int d = 0; d < last - 2; d++)
    open_axis(n, tile, d);
  open_axis(n, tile, last);
  if (last > 0) open_axis(n, tile, last - 1);
  if (last > 1) open_axis(n, tile, last - 2);
  set_boxes(n, r);
  ambit__nest_do(n, "%s(&values)", values);
  ambit__nest_do(n, "%s(&rest)", rest);
  while (n->level)
    ambit__nest_close(n);
}
