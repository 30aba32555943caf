/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - values of fields as blocks of a file: of a dense grid an array of all cells, of a
 * sparse one the active cells in order, and the runs of them as another block.
 *
 * A process writes and reads the cells of its own parts, in pieces. Rows that follow each other in
 * the file are one access (base/file.c).
 */
#include "base/file.h"
#include "base/memory.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/objects/pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 20 }; /* bytes */

/* ---- names ---- */

static int64_t cells_of(const ambit_grid *g)
{
  return g->active ? g->active->cells : ambit__box_volume(&g->box);
}

static ambit_status add_field(ambit__errors *errors, ambit__container *c, const ambit_field *f,
                              int grid)
{
  int64_t extents[AMBIT__BLOCK_DIMS];
  char name[AMBIT__BLOCK_NAME];
  int n = ambit__field_shape(f, extents);

  snprintf(name, sizeof name, "grid%d/%.60s", grid, f->name);
  if (f->grid->active) {
    extents[0] = f->grid->active->cells;
    extents[1] = f->components;
    n = 1 + (f->components > 1);
  }
  return ambit__container_add(errors, c, name, (int)f->type, n, extents) ? AMBIT_OK : AMBIT_ENOMEM;
}

ambit_status ambit__blocks_add(ambit__errors *errors, ambit *a, ambit__container *c)
{
  int number = 1;

  for (const ambit__link *l = a->grids.next; l->owner; l = l->next, number++) {
    const ambit_grid *g = l->owner;
    char name[AMBIT__BLOCK_NAME];

    if (!cells_of(g)) continue;
    snprintf(name, sizeof name, "grid%d/active cells", number);
    if (g->active &&
        !ambit__container_add(errors, c, name, AMBIT_I64, 2, (int64_t[]){g->active->n, 3}))
      return AMBIT_ENOMEM;
    for (const ambit__link *k = g->fields.next; k->owner; k = k->next)
      if (ambit__field_is_kept(k->owner)) AMBIT_TRY(add_field(errors, c, k->owner, number));
  }
  return AMBIT_OK;
}

/* ---- a field and its block ---- */

/* One direction of a transfer. */
typedef struct transfer {
  ambit__errors *errors;
  ambit__file *out; /* NULL: it reads */
  int in;           /* descriptor */
  const char *path;
  ambit__block *block;
  int64_t *before; /* of a sparse grid, by run: active cells before it; owned */
  /* reading: n bytes of the block, from `at`; owned */
  unsigned char *buffer;
  uint64_t at;
  size_t n;
} transfer;

static ambit_status put(transfer *t, uint64_t at, const void *bytes, size_t n)
{
  t->block->sum += ambit__block_sum(at, bytes, n);
  return ambit__file_write_at(t->out, t->block->at + at, bytes, n);
}

static ambit_status get(transfer *t, uint64_t at, unsigned char *bytes, size_t n)
{
  while (n) {
    size_t take;

    if (at < t->at || at >= t->at + t->n) {
      const uint64_t left = t->block->bytes - at;

      t->at = at;
      t->n = left < BUFFER ? (size_t)left : BUFFER;
      AMBIT_TRY(ambit__file_read_at(t->errors, t->in, t->path, t->block->at + at, t->buffer, t->n));
    }
    take = (size_t)(t->at + t->n - at);
    if (take > n) take = n;
    memcpy(bytes, t->buffer + (at - t->at), take);
    at += take;
    bytes += take;
    n -= take;
  }
  return AMBIT_OK;
}

/* Moves bytes that are adjacent in the block. */
static ambit_status move(void *user, size_t at, void *bytes, size_t n)
{
  transfer *t = user;

  return t->out ? put(t, at, bytes, n) : get(t, at, bytes, n);
}

static ambit_status move_runs(transfer *t, const ambit_field *f, const ambit__box *piece,
                              unsigned char *dense)
{
  const ambit__active *a = f->grid->active;
  const int last = piece->ndims - 1;
  const size_t size = ambit__field_cell_bytes(f);
  int64_t i = 0;
  ambit__box row;

  while (ambit__active_next(a, piece, &i, &row)) {
    const int64_t first = t->before[i - 1] + row.lo[last] - a->runs[i - 1].lo;

    AMBIT_TRY(move(t, (size_t)first * size, dense + (size_t)ambit__box_number(piece, row.lo) * size,
                   (size_t)(row.hi[last] - row.lo[last]) * size));
  }
  return AMBIT_OK;
}

static ambit_status move_piece(ambit_field *f, const ambit__box *piece, void *dense, void *user)
{
  transfer *t = user;

  if (f->grid->active && !ambit__active_count(f->grid->active, piece)) return AMBIT_OK;
  if (t->out) AMBIT_TRY(ambit__field_read_own(f, piece, dense));
  AMBIT_TRY(f->grid->active
                ? move_runs(t, f, piece, dense)
                : ambit__each_bytes(f, piece, dense, ambit__field_cell_bytes(f), move, t));
  return t->out ? AMBIT_OK : ambit_field_write(f, piece->lo, piece->hi, dense);
}

/* Each cell has one place in the file, where one part writes it. */
static ambit_status move_field(transfer *t, ambit_field *f)
{
  t->n = 0;
  return ambit__each_own_piece(f, t->out != NULL, move_piece, t);
}

/* ---- grids ---- */

static ambit_status count_before(transfer *t, const ambit_grid *g)
{
  free(t->before);
  t->before = g->active ? ambit__active_before(t->errors, g->active) : NULL;
  return t->before || !g->active ? AMBIT_OK : AMBIT_ENOMEM;
}

/* Process 0 writes the runs; all know them. */
static ambit_status write_active(transfer *t, const ambit_grid *g)
{
  for (int64_t i = 0; !g->context->net->rank && i < g->active->n; i++) {
    const ambit__run *r = &g->active->runs[i];
    const int64_t numbers[3] = {r->row, r->lo, r->hi};

    AMBIT_TRY(put(t, (uint64_t)i * sizeof numbers, numbers, sizeof numbers));
  }
  return AMBIT_OK;
}

static bool is_active_alike(const ambit__active *a, const ambit__run *runs, int64_t n)
{
  bool alike = a->n == n;

  for (int64_t i = 0; alike && i < n; i++)
    alike =
        a->runs[i].row == runs[i].row && a->runs[i].lo == runs[i].lo && a->runs[i].hi == runs[i].hi;
  return alike;
}

static ambit_status read_active(transfer *t, ambit_grid *g)
{
  const int64_t n = t->block->extents[0];
  ambit__run *runs = ambit__new(t->errors, (size_t)n, sizeof *runs);
  ambit_status s = runs ? AMBIT_OK : AMBIT_ENOMEM;

  t->n = 0;
  for (int64_t i = 0; !s && i < n; i++) {
    int64_t numbers[3];

    s = get(t, (uint64_t)i * sizeof numbers, (unsigned char *)numbers, sizeof numbers);
    runs[i] = (ambit__run){.row = numbers[0], .lo = numbers[1], .hi = numbers[2]};
  }
  if (!ambit__net_agree(g->context->net) && !is_active_alike(g->active, runs, n))
    ambit__grid_activate_runs(g, runs, n);
  free(runs);
  return t->errors->status;
}

static ambit_status write_grid(transfer *t, const ambit_grid *g, ambit__container *c, size_t *next)
{
  if (!cells_of(g)) return AMBIT_OK;
  AMBIT_TRY(count_before(t, g));
  if (g->active) {
    t->block = &c->blocks[(*next)++];
    AMBIT_TRY(write_active(t, g));
  }
  for (const ambit__link *l = g->fields.next; l->owner; l = l->next)
    if (ambit__field_is_kept(l->owner)) {
      t->block = &c->blocks[(*next)++];
      AMBIT_TRY(move_field(t, l->owner));
    }
  return AMBIT_OK;
}

ambit_status ambit__blocks_write(ambit__errors *errors, ambit *a, ambit__file *file,
                                 ambit__container *c, size_t first)
{
  transfer t = {.errors = errors, .out = file};
  ambit_status s = AMBIT_OK;

  for (const ambit__link *l = a->grids.next; !s && l->owner; l = l->next)
    s = write_grid(&t, l->owner, c, &first);
  free(t.before);
  return s;
}

/* ---- reading ---- */

static bool is_alike(const ambit__block *a, const ambit__block *b)
{
  return a && b && a->type == b->type && a->ndims == b->ndims &&
         !memcmp(a->extents, b->extents, (size_t)a->ndims * sizeof *a->extents);
}

/* The block of the next field as it would be written now, and as it is there. */
static const ambit__block *find(const ambit__container *now, size_t *next,
                                const ambit__container *c)
{
  const ambit__block *want = &now->blocks[(*next)++];
  const ambit__block *there = ambit__container_find(c, want->name);

  return is_alike(want, there) ? there : NULL;
}

static ambit_status read_grids(transfer *t, ambit *a, const ambit__container *c, bool any)
{
  ambit__container now = {0};
  size_t next = 0;
  ambit_status s = AMBIT_OK;
  int number = 1;

  for (const ambit__link *l = a->grids.next; l->owner; l = l->next, number++) {
    ambit_grid *g = l->owner;
    char name[AMBIT__BLOCK_NAME];

    snprintf(name, sizeof name, "grid%d/active cells", number);
    t->block = g->active ? ambit__container_find(c, name) : NULL;
    if (t->block) AMBIT_TRY(read_active(t, g));
  }
  s = ambit__blocks_add(t->errors, a, &now);
  for (const ambit__link *l = a->grids.next; !s && l->owner; l = l->next) {
    ambit_grid *g = l->owner;

    if (!cells_of(g)) continue;
    s = count_before(t, g);
    if (g->active) next++;
    for (const ambit__link *k = g->fields.next; !s && k->owner; k = k->next) {
      ambit_field *f = k->owner;

      if (!ambit__field_is_kept(f)) continue;
      t->block = (ambit__block *)find(&now, &next, c);
      if (t->block) {
        ambit__field_changed(f);
        s = move_field(t, f);
      } else if (!any) {
        s = ambit__raise(t->errors, AMBIT_EIO, "%s has no values for field '%s'", t->path, f->name);
      }
    }
  }
  ambit__container_free(&now);
  return s;
}

ambit_status ambit__blocks_read(ambit *a)
{
  const ambit__checkpoint *c = a->checkpoint;
  transfer t = {.errors = &a->errors, .path = c->from, .in = c->in};

  t.buffer = ambit__new(&a->errors, BUFFER, 1);
  if (!ambit__net_agree(a->net)) read_grids(&t, a, &c->file, c->takes_any);
  free(t.before);
  free(t.buffer);
  return ambit__net_agree(a->net);
}

ambit_status ambit__block_read(ambit *a, const ambit__block *b, void **bytes)
{
  const ambit__checkpoint *c = a->checkpoint;
  ambit_status s;

  *bytes = ambit__new(&a->errors, (size_t)b->bytes + 1, 1);
  s = *bytes ? ambit__file_read_at(&a->errors, c->in, c->from, b->at, *bytes, (size_t)b->bytes)
             : AMBIT_ENOMEM;
  if (!s) return AMBIT_OK;
  free(*bytes);
  *bytes = NULL;
  return s;
}

ambit_status ambit__block_check(ambit__errors *errors, int fd, const ambit__block *b, int rank,
                                int size, uint64_t *sum)
{
  const uint64_t words = b->bytes / 8, n = (uint64_t)size;
  uint64_t at = words / n * 8 * (uint64_t)rank;
  const uint64_t end = rank + 1 < size ? at + words / n * 8 : b->bytes;
  unsigned char *buffer = ambit__new(errors, BUFFER, 1);
  ambit_status s = buffer ? AMBIT_OK : AMBIT_ENOMEM;

  *sum = 0;
  while (!s && at < end) {
    const size_t take = end - at < BUFFER ? (size_t)(end - at) : BUFFER;

    s = ambit__file_read_at(errors, fd, b->name, b->at + at, buffer, take);
    if (!s) *sum += ambit__block_sum(at, buffer, take);
    at += take;
  }
  free(buffer);
  return s;
}
