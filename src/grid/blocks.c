/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/blocks.h"

#include <stdlib.h>
#include <string.h>

/* The shape of blocks, as shifts, by number of axes: rows of at most a word of bits. */
static const int shapes[AMBIT_MAX_DIMS][AMBIT_MAX_DIMS] = {
    {6}, {4, 6}, {3, 3, 5}, {2, 2, 2, 5}, {1, 1, 2, 2, 5}, {1, 1, 1, 2, 2, 5}};

void ambit__blocks_begin(ambit__blocks *b, const ambit__box *box)
{
  *b = (ambit__blocks){.box = *box, .volume = 1, .around = 1};
  for (int d = 0; d < box->ndims; d++) {
    b->shift[d] = shapes[box->ndims - 1][d];
    while (b->shift[d] && (int64_t)1 << (b->shift[d] - 1) >= box->hi[d])
      b->shift[d]--;
    b->count[d] = ((box->hi[d] - 1) >> b->shift[d]) + 1;
    b->volume <<= b->shift[d];
    b->around *= 3;
  }
  b->words = b->volume > 64 ? (int)(b->volume / 64) : 1;
}

void ambit__blocks_free(ambit__blocks *b)
{
  free(b->key);
  free(b->at);
  free(b->mask);
  free(b->near);
  free(b->full);
  *b = (ambit__blocks){0};
}

/* ---- the curve ---- */

/* The bits of the coordinates take turns, those of the last axis first, as long as it has any. */
static int64_t key_of(const ambit__blocks *b, const int64_t *at)
{
  int64_t key = 0;
  int to = 0;

  for (int bit = 0; to < 62; bit++) {
    bool any = false;

    for (int d = b->box.ndims - 1; d >= 0; d--) {
      if (!((b->count[d] - 1) >> bit)) continue;
      any = true;
      key |= (at[d] >> bit & 1) << to++;
    }
    if (!any) break;
  }
  return key;
}

/* ---- adding ---- */

static int64_t count_bits(uint64_t w)
{
  return __builtin_popcountll(w);
}

static ambit_status reserve(ambit__errors *errors, ambit__blocks *b, int64_t n)
{
  const size_t twice = b->cap ? 2 * b->cap : 64, cap = (size_t)n > twice ? (size_t)n : twice;
  const size_t ndims = (size_t)b->box.ndims, words = (size_t)b->words;
  int64_t *key, *at;
  uint64_t *mask;

  if ((size_t)n <= b->cap) return AMBIT_OK;
  AMBIT_CHECK(n < INT32_MAX, errors, AMBIT_EINVAL,
              "the grid has more than 2^31 blocks with active cells");
  key = realloc(b->key, cap * sizeof *key);
  if (key) b->key = key;
  at = realloc(b->at, cap * ndims * sizeof *at);
  if (at) b->at = at;
  mask = realloc(b->mask, cap * words * sizeof *mask);
  if (mask) b->mask = mask;
  AMBIT_CHECK(key && at && mask, errors, AMBIT_ENOMEM, "no memory for %zu blocks of a sparse grid",
              cap);
  b->cap = cap;
  return AMBIT_OK;
}

ambit_status ambit__blocks_add(ambit__errors *errors, ambit__blocks *b, const int64_t *at,
                               const uint64_t *mask)
{
  int64_t active = 0;

  for (int w = 0; w < b->words; w++)
    active += count_bits(mask[w]);
  if (!active) return AMBIT_OK;
  AMBIT_TRY(reserve(errors, b, b->n + 1));
  b->key[b->n] = key_of(b, at);
  memcpy(b->at + b->n * b->box.ndims, at, (size_t)b->box.ndims * sizeof *at);
  memcpy(b->mask + b->n * b->words, mask, (size_t)b->words * sizeof *mask);
  b->active += active;
  b->n++;
  return AMBIT_OK;
}

ambit_status ambit__blocks_join(ambit__errors *errors, ambit__blocks *b, ambit__blocks *more)
{
  const size_t n = (size_t)more->n, ndims = (size_t)b->box.ndims, words = (size_t)b->words;
  ambit_status s = reserve(errors, b, b->n + more->n);

  if (!s && n) {
    memcpy(b->key + b->n, more->key, n * sizeof *b->key);
    memcpy(b->at + (size_t)b->n * ndims, more->at, n * ndims * sizeof *b->at);
    memcpy(b->mask + (size_t)b->n * words, more->mask, n * words * sizeof *b->mask);
    b->n += more->n;
    b->active += more->active;
  }
  ambit__blocks_free(more);
  return s;
}

/* ---- sorting ---- */

typedef struct item {
  int64_t key, from;
} item;

static int compare(const void *x, const void *y)
{
  const item *a = x, *b = y;

  return (a->key > b->key) - (a->key < b->key);
}

static ambit_status sort(ambit__errors *errors, ambit__blocks *b)
{
  const size_t n = (size_t)b->n, ndims = (size_t)b->box.ndims, words = (size_t)b->words;
  item *order = ambit__new(errors, n, sizeof *order);
  int64_t *at = ambit__new(errors, n * ndims, sizeof *at);
  uint64_t *mask = ambit__new(errors, n * words, sizeof *mask);
  const bool ok = order && at && mask;

  for (size_t i = 0; ok && i < n; i++)
    order[i] = (item){b->key[i], (int64_t)i};
  if (ok) qsort(order, n, sizeof *order, compare);
  for (size_t i = 0; ok && i < n; i++) {
    b->key[i] = order[i].key;
    memcpy(at + i * ndims, b->at + (size_t)order[i].from * ndims, ndims * sizeof *at);
    memcpy(mask + i * words, b->mask + (size_t)order[i].from * words, words * sizeof *mask);
  }
  free(order);
  free(ok ? b->at : at);
  free(ok ? b->mask : mask);
  if (!ok) return AMBIT_ENOMEM;
  b->at = at;
  b->mask = mask;
  b->cap = n;
  return AMBIT_OK;
}

/* Neighbour k of a block, of 3^ndims in row-major order; false: it would be outside the box. */
static bool neighbour(const ambit__blocks *b, int64_t block, int k, int64_t *at)
{
  for (int d = b->box.ndims - 1; d >= 0; d--, k /= 3) {
    at[d] = b->at[block * b->box.ndims + d] + k % 3 - 1;
    if (at[d] < 0 || at[d] >= b->count[d]) return false;
  }
  return true;
}

static bool is_full(const ambit__blocks *b, int64_t block)
{
  const ambit__box cells = ambit__blocks_box(b, block);

  return ambit__blocks_count_in(b, block, &b->box) == b->volume &&
         ambit__box_volume(&cells) == b->volume;
}

ambit_status ambit__blocks_end(ambit__errors *errors, ambit__blocks *b)
{
  int64_t at[AMBIT_MAX_DIMS] = {0};

  AMBIT_TRY(sort(errors, b));
  b->near = ambit__new(errors, (size_t)b->n * (size_t)b->around, sizeof *b->near);
  b->full = ambit__new(errors, (size_t)b->n, sizeof *b->full);
  if (!b->near || !b->full) return AMBIT_ENOMEM;
  for (int64_t i = 0; i < b->n; i++) {
    for (int k = 0; k < b->around; k++)
      b->near[i * b->around + k] = neighbour(b, i, k, at) ? (int32_t)ambit__blocks_find(b, at) : -1;
    b->full[i] = is_full(b, i);
  }
  return AMBIT_OK;
}

/* ---- looking up ---- */

int64_t ambit__blocks_find(const ambit__blocks *b, const int64_t *at)
{
  const int64_t key = key_of(b, at);
  int64_t low = 0, high = b->n; /* it is in low .. high - 1, if anywhere */

  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;

    if (b->key[middle] <= key)
      low = middle;
    else
      high = middle;
  }
  return low < b->n && b->key[low] == key ? low : -1;
}

int64_t ambit__blocks_of(const ambit__blocks *b, const int64_t *cell)
{
  int64_t at[AMBIT_MAX_DIMS] = {0};

  for (int d = 0; d < b->box.ndims; d++)
    at[d] = cell[d] >> b->shift[d];
  return ambit__blocks_find(b, at);
}

bool ambit__blocks_active(const ambit__blocks *b, const int64_t *cell)
{
  const int64_t block = ambit__blocks_of(b, cell);

  return block >= 0 && ambit__blocks_bit(b, block, ambit__blocks_place(b, cell));
}

ambit__box ambit__blocks_box(const ambit__blocks *b, int64_t block)
{
  ambit__box box = {.ndims = b->box.ndims};

  for (int d = 0; d < box.ndims; d++) {
    box.lo[d] = b->at[block * box.ndims + d] << b->shift[d];
    box.hi[d] = box.lo[d] + ((int64_t)1 << b->shift[d]);
    if (box.hi[d] > b->box.hi[d]) box.hi[d] = b->box.hi[d];
  }
  return box;
}

int64_t ambit__blocks_count_in(const ambit__blocks *b, int64_t block, const ambit__box *box)
{
  const int last = box->ndims - 1;
  const ambit__box cells = ambit__blocks_box(b, block);
  const ambit__box both = ambit__box_intersect(&cells, box);
  int64_t n = 0, at[AMBIT_MAX_DIMS];

  if (ambit__box_is_empty(&both)) return 0;
  if (ambit__box_equal(&both, &cells)) {
    for (int w = 0; w < b->words; w++)
      n += count_bits(b->mask[block * b->words + w]);
    return n;
  }
  ambit__box_first(&both, at);
  do
    n += count_bits(
        ambit__blocks_bits(b, block, ambit__blocks_place(b, at), both.hi[last] - both.lo[last]));
  while (ambit__box_next_row(&both, at));
  return n;
}

int64_t ambit__blocks_count(const ambit__blocks *b, const ambit__box *box)
{
  int64_t n = 0;

  if (ambit__box_equal(box, &b->box)) return b->active;
  for (int64_t i = 0; i < b->n; i++)
    n += ambit__blocks_count_in(b, i, box);
  return n;
}

static uint64_t whole_row(const ambit__blocks *b, int64_t block, int64_t place)
{
  const int64_t n = (int64_t)1 << b->shift[b->box.ndims - 1];

  return block < 0 ? 0 : ambit__blocks_bits(b, block, place, n);
}

uint64_t ambit__blocks_bits_at(const ambit__blocks *b, int64_t block, const int64_t *row,
                               const int *offset)
{
  const int last = b->box.ndims - 1, n = 1 << b->shift[last], x = offset[last];
  const int32_t *near = b->near + block * b->around;
  uint64_t bits;
  int64_t place = 0;
  int k = 0;

  for (int d = 0; d < last; d++) {
    const int64_t size = (int64_t)1 << b->shift[d], at = row[d] + offset[d];
    const int step = at < 0 ? -1 : at >= size;

    k = 3 * k + step + 1;
    place = (place << b->shift[d]) + at - step * size;
  }
  k = 3 * k + 1;
  place <<= b->shift[last];
  if (x == n) return whole_row(b, near[k + 1], place);
  if (x == -n) return whole_row(b, near[k - 1], place);
  bits = whole_row(b, near[k], place);
  if (x > 0) bits = bits >> x | whole_row(b, near[k + 1], place) << (n - x);
  if (x < 0) bits = bits << -x | whole_row(b, near[k - 1], place) >> (n + x);
  return n < 64 ? bits & (((uint64_t)1 << n) - 1) : bits;
}

/* ---- runs ---- */

static uint64_t bits_of_row(const ambit__blocks *b, int64_t block, const ambit__box *clip,
                            const int64_t *row)
{
  const int last = clip->ndims - 1;

  return ambit__blocks_bits(b, block, ambit__blocks_place(b, row), clip->hi[last] - clip->lo[last]);
}

/* Moves on to the next row; false: there is none. */
static bool next_row(const ambit__box *clip, int64_t *row)
{
  row[clip->ndims - 1] = clip->lo[clip->ndims - 1];
  return ambit__box_next_row(clip, row);
}

/* Rows from `row` on, along the axis before the last, that have the same bits. */
static int64_t same_rows(const ambit__blocks *b, int64_t block, const ambit__box *clip,
                         const int64_t *row, uint64_t bits)
{
  const int axis = clip->ndims - 2;
  int64_t at[AMBIT_MAX_DIMS], n = 1;

  if (axis < 0) return 1;
  memcpy(at, row, sizeof at);
  while (++at[axis] < clip->hi[axis] && bits_of_row(b, block, clip, at) == bits)
    n++;
  return n;
}

/* Begins the next band of equal rows that are not empty. */
static bool next_band(const ambit__blocks *b, int64_t block, const ambit__box *clip, ambit__runs *r)
{
  const int axis = clip->ndims - 2;

  if (!r->started) {
    if (ambit__box_is_empty(clip)) return false;
    ambit__box_first(clip, r->row);
    r->started = true;
  } else {
    if (axis >= 0) r->row[axis] += r->rows - 1;
    if (!next_row(clip, r->row)) return false;
  }
  while (!(r->bits = bits_of_row(b, block, clip, r->row)))
    if (!next_row(clip, r->row)) return false;
  r->rows = same_rows(b, block, clip, r->row, r->bits);
  return true;
}

bool ambit__blocks_next_run(const ambit__blocks *b, int64_t block, const ambit__box *clip,
                            ambit__runs *r)
{
  const int last = clip->ndims - 1;
  int from, length;

  if (!r->bits && !next_band(b, block, clip, r)) return false;
  from = __builtin_ctzll(r->bits);
  length = ~(r->bits >> from) ? __builtin_ctzll(~(r->bits >> from)) : 64;
  r->bits &= from + length < 64 ? ~(uint64_t)0 << (from + length) : 0;
  r->box.ndims = clip->ndims;
  for (int d = 0; d < last; d++) {
    r->box.lo[d] = r->row[d];
    r->box.hi[d] = r->row[d] + (d == last - 1 ? r->rows : 1);
  }
  r->box.lo[last] = clip->lo[last] + from;
  r->box.hi[last] = r->box.lo[last] + length;
  return true;
}
