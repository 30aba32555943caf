/* SPDX-License-Identifier: BSD-3-Clause */
/* relax_tile.c - one tile, computed in place until it is at rest.
 *
 * Awake blocks are computed in turn, each from the values that it finds, so that news travels on
 * within one round. The cells that changed wake the blocks that read them, itself among these.
 * Afterwards the strips along the faces of the tile are compared with the values that the tiles
 * around it have seen.
 */
#include "device/cpu/relax.h"

#include <math.h>
#include <string.h>

enum {
  ROW = 16,                                                /* cells along the rows of a block */
  LONE_ROW = 64,                                           /* the same in one dimension */
  MOST_ROW = LONE_ROW * sizeof(double) / sizeof(uint64_t), /* words of a row */
  PATIENCE = 1024 /* most computations of blocks before a tile is given up for a while */
};

/* ---- blocks ---- */

size_t ambit__relax_blocks(ambit__relax_job *j)
{
  static const int64_t others[AMBIT_MAX_DIMS] = {1, 8, 4, 4, 4, 4}; /* by ndims - 1 */
  const int n = j->map->ndims;
  size_t cells = 1;

  for (int d = 0; d < n; d++) {
    j->block[d] = d < n - 1 ? others[n - 1] : n == 1 ? LONE_ROW : ROW;
    cells *= (size_t)j->block[d];
  }
  return cells * ambit_type_size(j->values->layout.type);
}

/* Blocks of a tile along an axis. */
static int64_t count(const ambit__relax_job *j, const ambit__box *tile, int d)
{
  return (tile->hi[d] - tile->lo[d] + j->block[d] - 1) / j->block[d];
}

static ambit__box block_of(const ambit__relax_job *j, const ambit__box *tile, int i)
{
  ambit__box b = *tile;

  for (int d = b.ndims - 1; d >= 0; d--) {
    const int64_t n = count(j, tile, d);

    b.lo[d] += i % n * j->block[d];
    if (b.lo[d] + j->block[d] < b.hi[d]) b.hi[d] = b.lo[d] + j->block[d];
    i /= (int)n;
  }
  return b;
}

uint64_t ambit__relax_mask(const ambit__relax_job *j, const ambit__box *tile,
                           const ambit__box *cells)
{
  const ambit__box some = ambit__box_intersect(tile, cells);
  uint64_t mask = 1; /* of the axes so far, the last ones */
  int width = 1;     /* blocks of them */

  if (ambit__box_is_empty(&some)) return 0;
  for (int d = tile->ndims - 1; d >= 0; d--) {
    const int64_t lo = (some.lo[d] - tile->lo[d]) / j->block[d];
    const int64_t hi = (some.hi[d] - 1 - tile->lo[d]) / j->block[d];
    const uint64_t rows = mask;

    mask = 0;
    for (int64_t i = lo; i <= hi; i++)
      mask |= rows << i * width;
    width *= (int)count(j, tile, d);
  }
  return mask;
}

/* ---- one block ---- */

static unsigned char *cell_of(const ambit__store *s, const int64_t *at)
{
  return ambit__host_base(s->buffer) +
         ambit__layout_at(&s->layout, at) * (int64_t)ambit_type_size(s->layout.type);
}

/* Computes a block. Its results are dense, in rows of block[last] cells. */
static void compute(const ambit__relax_job *j, ambit__relax_room *room, const ambit__box *block)
{
  ambit_compiled_call *call = &room->call.call;
  int64_t stride = (int64_t)ambit_type_size(j->values->layout.type);
  uintptr_t origin = (uintptr_t)room->results;

  for (int d = block->ndims - 1, cells = 1; d >= 0; d--) {
    call->lo[d] = block->lo[d] - call->offset[d];
    call->hi[d] = block->hi[d] - call->offset[d];
    call->stride[j->out][d] = cells;
    origin -= (uintptr_t)(call->lo[d] * stride);
    cells *= (int)j->block[d];
    stride *= j->block[d];
  }
  call->origin[j->out] = (void *)origin;
  ambit__cpu_call(j->fn, call);
}

/* Sets bits of `columns` where two rows differ. Returns whether they do. */
static bool compare(uint64_t *columns, const unsigned char *a, const unsigned char *b, size_t bytes)
{
  const size_t words = bytes / sizeof(uint64_t), rest = bytes % sizeof(uint64_t);
  uint64_t x, y, all = 0;

  for (size_t i = 0; i < words; i++) {
    memcpy(&x, a + i * sizeof x, sizeof x);
    memcpy(&y, b + i * sizeof y, sizeof y);
    columns[i] |= x ^ y;
    all |= x ^ y;
  }
  if (!rest) return all != 0;
  x = y = 0;
  memcpy(&x, a + words * sizeof x, rest);
  memcpy(&y, b + words * sizeof y, rest);
  columns[words] |= x ^ y;
  return (all | (x ^ y)) != 0;
}

/* The first and one past the last cell with a bit in `columns`. */
static void find_ends(const uint64_t *columns, int64_t size, int64_t n, int64_t *lo, int64_t *hi)
{
  const unsigned char *bytes = (const unsigned char *)columns;
  int64_t first = 0, end = n * size;

  while (!bytes[first])
    first++;
  while (!bytes[end - 1])
    end--;
  *lo = first / size;
  *hi = (end - 1) / size + 1;
}

/* Stores the results of a block. Returns a box with all cells that changed, maybe an empty one. */
static ambit__box store(const ambit__relax_job *j, const ambit__relax_room *room,
                        const ambit__box *block)
{
  const int last = block->ndims - 1;
  const int64_t size = (int64_t)ambit_type_size(j->values->layout.type);
  const int64_t n = block->hi[last] - block->lo[last];
  uint64_t columns[MOST_ROW] = {0};
  ambit__box found = {.ndims = block->ndims};
  int64_t at[AMBIT_MAX_DIMS];
  bool some = false;

  ambit__box_first(block, at);
  do {
    unsigned char *to = cell_of(j->values, at);
    const unsigned char *from = room->results;
    int64_t row = 0;

    for (int d = 0; d < last; d++)
      row = (row + at[d] - block->lo[d]) * (d + 1 < last ? j->block[d + 1] : j->block[last]);
    from += row * size;
    if (!compare(columns, to, from, (size_t)(n * size))) continue;
    memcpy(to, from, (size_t)(n * size));
    for (int d = 0; d < last; d++) {
      if (!some || at[d] < found.lo[d]) found.lo[d] = at[d];
      if (!some || at[d] >= found.hi[d]) found.hi[d] = at[d] + 1;
    }
    some = true;
  } while (ambit__box_next_row(block, at));
  if (!some) return found;
  find_ends(columns, size, n, &found.lo[last], &found.hi[last]);
  found.lo[last] += block->lo[last];
  found.hi[last] += block->lo[last];
  return found;
}

/* ---- news for the tiles around ---- */

/* The number by which changes are put in order, the least of a row: the new value, where values
 * sink, and its negative where they rise. In a search for shortest ways the shortest come first. */
#define LEAD(name, type, number)                                                                   \
  static double lead_##name(const void *now, const void *before, int64_t n)                        \
  {                                                                                                \
    const type *a = now, *b = before;                                                              \
    double best = (double)INFINITY;                                                                \
                                                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const double x = number(a[i]), y = number(b[i]), lead = x < y ? x : -x;                      \
                                                                                                   \
      if (x != y && lead < best) best = lead;                                                      \
    }                                                                                              \
    return best;                                                                                   \
  }
LEAD(F32, float, (double))
LEAD(F64, double, (double))
LEAD(I32, int32_t, (double))
LEAD(U8, uint8_t, (double))
LEAD(I16, int16_t, (double))
LEAD(I64, int64_t, (double))
LEAD(F16, uint16_t, ambit_half_decode)
LEAD(BF16, uint16_t, ambit_bfloat_decode)
LEAD(U16, uint16_t, (double))
LEAD(U32, uint32_t, (double))
LEAD(U64, uint64_t, (double))
#undef LEAD

typedef double (*lead_fn)(const void *now, const void *before, int64_t n);

static lead_fn lead_of(ambit_type type)
{
  static const lead_fn leads[] = {
#define X(name, value, ctype, text) [AMBIT_##name] = lead_##name,
      AMBIT_TYPE_MAP(X)
#undef X
  };

  return leads[type];
}

/* Compares the cells of a zone with those that the tiles around have seen. */
static void look(const ambit__relax_job *j, ambit__relax_task *t, int zone, const ambit__box *cells)
{
  const int last = cells->ndims - 1;
  const int64_t n = cells->hi[last] - cells->lo[last];
  const ambit_type type = j->values->layout.type;
  const lead_fn lead = lead_of(type);
  int64_t at[AMBIT_MAX_DIMS];

  t->lead[zone] = (double)INFINITY;
  if (ambit__box_is_empty(cells)) return; /* rules that read the cell alone have no zones */
  ambit__box_first(cells, at);
  do {
    const unsigned char *now = cell_of(j->values, at), *before = cell_of(j->before, at);
    double x;

    if (ambit__values_same(now, before, (size_t)n, type)) continue;
    t->changed |= (uint32_t)1 << zone;
    x = lead(now, before, n);
    if (x < t->lead[zone]) t->lead[zone] = x;
  } while (ambit__box_next_row(cells, at));
}

static void show(const ambit__relax_job *j, const ambit__box *tile)
{
  const int last = tile->ndims - 1;
  const size_t bytes =
      (size_t)(tile->hi[last] - tile->lo[last]) * ambit_type_size(j->values->layout.type);
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(tile, at);
  do
    memcpy(cell_of(j->before, at), cell_of(j->values, at), bytes);
  while (ambit__box_next_row(tile, at));
}

/* ---- the tile ---- */

static ambit__box grow(const ambit__box *box, const int64_t *reach)
{
  ambit__box b = *box;

  for (int d = 0; d < b.ndims; d++) {
    b.lo[d] -= reach[d];
    b.hi[d] += reach[d];
  }
  return b;
}

/* Computes the awake blocks until there are none, or too often. Returns whether cells changed. */
static bool settle(const ambit__relax_job *j, ambit__relax_room *room, ambit__relax_task *t,
                   const ambit__box *tile)
{
  const uint64_t low = ~(uint64_t)0;
  bool changed = false;
  int left = PATIENCE;

  for (int i = 0; t->awake && left-- > 0; i++) {
    ambit__box block, found;

    if (i >= AMBIT__MOST_BLOCKS || !(t->awake & low << i)) i = 0;
    i = __builtin_ctzll(t->awake & low << i);
    t->awake &= ~((uint64_t)1 << i);
    block = block_of(j, tile, i);
    compute(j, room, &block);
    t->updates += ambit__box_volume(&block);
    found = store(j, room, &block);
    if (ambit__box_is_empty(&found)) continue;
    changed = true;
    found = grow(&found, j->map->reach);
    t->awake |= ambit__relax_mask(j, tile, &found);
  }
  return changed;
}

void ambit__relax_run(const ambit__relax_job *j, ambit__relax_room *room, ambit__relax_task *t)
{
  const ambit__box tile = ambit__tile_box(j->map, t->tile);

  t->changed = 0;
  t->updates = 0;
  if (!settle(j, room, t, &tile)) return;
  for (int zone = 0; zone < j->map->nzones; zone++) {
    const ambit__box cells = ambit__tile_zone_box(j->map, &tile, zone);

    if (zone || j->map->nzones == 1) look(j, t, zone, &cells);
  }
  t->changed |= 1;
  show(j, &tile);
}
