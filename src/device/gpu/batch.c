/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.c - moves many boxes of cells at once: a table of them on the device, and one launch.
 *
 * A launch takes a limited number of memories, and all its values have one size; a batch that needs
 * more is several launches. A table holds offsets in memories, which do not change when buffers are
 * swapped; the memories themselves are arguments of each launch.
 */
#include "device/gpu/gpu.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
  MEMORIES = 16,                 /* per launch: see codegen/prelude/moves.h */
  BLOCKS_PER_MULTIPROCESSOR = 32 /* most blocks of an item */
};

/* One launch. */
typedef struct group {
  ambit_type type; /* of the values, or another type of that size */
  ambit__store *stores[MEMORIES];
  int nstores;
  ambit__gpu_item *items; /* owned */
  size_t nitems, cap;
  int64_t blocks;
  ambit__gpu_memory *table; /* items, then the item of each block; owned */
} group;

/* A copy on a sparse grid, or one value for some cells: a launch of its own. */
typedef struct sparse_copy {
  ambit__move move;
  ambit__gpu_kept list;
} sparse_copy;

struct ambit__batch {
  ambit__gpu_device *device;
  group *groups; /* owned */
  size_t ngroups, cap;
  sparse_copy *copies; /* owned */
  size_t ncopies, copies_cap;
};

/* The move whose items are being added. */
typedef struct adding {
  ambit__batch *batch;
  const ambit__move *move;
} adding;

static ambit__errors *errors_of(const ambit__batch *b)
{
  return b->device->head.errors;
}

/* ---- groups ---- */

/* The number of a store in a group, added if needed; -1: the group is full. */
static int join(group *g, ambit__store *store)
{
  for (int i = 0; i < g->nstores; i++)
    if (g->stores[i] == store) return i;
  if (g->nstores == MEMORIES) return -1;
  g->stores[g->nstores] = store;
  return g->nstores++;
}

static group *add_group(ambit__batch *b, ambit_type type)
{
  group *g = ambit__add(errors_of(b), &b->groups, b->ngroups, &b->cap, sizeof *g);

  if (!g) return NULL;
  b->ngroups++;
  *g = (group){.type = type};
  return g;
}

/* The group for a move, with the stores of the move: the last one, if they fit. */
static group *group_for(ambit__batch *b, const ambit__move *m, int *to, int *from)
{
  group *g = b->ngroups ? &b->groups[b->ngroups - 1] : NULL;
  const ambit_type type = m->dst->layout.type;

  if (g && ambit_type_size(g->type) == ambit_type_size(type)) {
    *to = join(g, m->dst);
    *from = *to < 0 ? -1 : join(g, m->src ? m->src : m->dst);
    if (*from >= 0) return g;
  }
  g = add_group(b, type);
  if (!g) return NULL;
  *to = join(g, m->dst);
  *from = join(g, m->src ? m->src : m->dst);
  return g;
}

static ambit_status add_patch(void *user, const ambit__patch *p)
{
  const adding *a = user;
  const int n = a->batch->device->info.multiprocessors;
  const int64_t most = (int64_t)BLOCKS_PER_MULTIPROCESSOR * (n > 0 ? n : 1);
  ambit__gpu_item *item;
  int to, from;
  group *g;

  if (!p->count) return AMBIT_OK;
  g = group_for(a->batch, a->move, &to, &from);
  if (!g) return AMBIT_ENOMEM;
  item = ambit__add(errors_of(a->batch), &g->items, g->nitems, &g->cap, sizeof *item);
  if (!item) return AMBIT_ENOMEM;
  g->nitems++;
  *item = (ambit__gpu_item){.to = to,
                            .from = from,
                            .to_base = p->to,
                            .from_base = p->from,
                            .is_value = p->is_value,
                            .value = p->bits,
                            .first = g->blocks,
                            .count = p->count,
                            .axes = p->naxes};
  for (int k = 0; k < p->naxes; k++) {
    item->n[k] = p->n[k];
    item->to_step[k] = p->to_step[k];
    item->from_step[k] = p->from_step[k];
  }
  item->blocks = (p->count + AMBIT__MOVE_THREADS - 1) / AMBIT__MOVE_THREADS;
  if (item->blocks > most) item->blocks = most;
  g->blocks += item->blocks;
  return AMBIT_OK;
}

/* ---- tables ---- */

static void write_table(const group *g, void *memory)
{
  int64_t *which = (int64_t *)((ambit__gpu_item *)memory + g->nitems);

  memcpy(memory, g->items, g->nitems * sizeof *g->items);
  for (size_t i = 0; i < g->nitems; i++)
    for (int64_t k = 0; k < g->items[i].blocks; k++)
      *which++ = (int64_t)i;
}

static ambit_status make_table(ambit__gpu_device *d, group *g)
{
  const size_t bytes = g->nitems * sizeof *g->items + (size_t)g->blocks * sizeof(int64_t);
  ambit__gpu_moves *moves;
  void *table;
  ambit_status s;

  AMBIT_TRY(ambit__gpu_moves_get(d, g->type, KIT_BOXES, &moves));
  table = ambit__new(d->head.errors, bytes, 1);
  if (!table) return AMBIT_ENOMEM;
  write_table(g, table);
  s = ambit__gpu_upload(d, table, bytes, &g->table);
  free(table);
  return s;
}

/* ---- the entries ---- */

void ambit__gpu_batch_close(ambit__batch *b)
{
  if (!b) return;
  for (size_t i = 0; i < b->ngroups; i++) {
    if (b->groups[i].table) b->device->driver->release(b->groups[i].table);
    free(b->groups[i].items);
  }
  for (size_t i = 0; i < b->ncopies; i++)
    ambit__gpu_kept_free(b->device, &b->copies[i].list);
  free(b->copies);
  free(b->groups);
  free(b);
}

static ambit_status add_copy(ambit__batch *b, const ambit__move *m)
{
  sparse_copy *c = ambit__add(errors_of(b), &b->copies, b->ncopies, &b->copies_cap, sizeof *c);
  ambit__store to, from;

  if (!c) return AMBIT_ENOMEM;
  b->ncopies++;
  *c = (sparse_copy){.move = *m};
  to = ambit__move_to(m);
  if (m->fills) return ambit__gpu_keep_box(b->device, to.layout.active, &m->box, true, &c->list);
  from = ambit__move_from(m);
  return ambit__gpu_keep_across(b->device, to.layout.active, from.layout.active, &m->box, &c->list);
}

static ambit_status make_tables(ambit__batch *b, const ambit__move *moves, int n)
{
  for (int i = 0; i < n; i++) {
    const ambit__move *m = &moves[i];
    const ambit__layout to = ambit__layout_slice(&m->dst->layout, m->first, m->count);
    adding a = {b, m};

    if (m->fills || (m->src && m->dst->layout.active)) {
      AMBIT_TRY(add_copy(b, m));
    } else if (ambit__box_is_empty(&m->box)) {
      continue;
    } else if (!m->src) {
      AMBIT_TRY(
          ambit__patch_ghosts(&to, m->boundaries, m->extents, &m->box, &m->reach, add_patch, &a));
    } else {
      const ambit__layout from = ambit__layout_slice(&m->src->layout, m->first, m->count);
      const ambit__patch p = ambit__patch_across(&to, &from, &m->box, m->shift);

      AMBIT_TRY(add_patch(&a, &p));
    }
  }
  for (size_t i = 0; i < b->ngroups; i++)
    AMBIT_TRY(make_table(b->device, &b->groups[i]));
  return AMBIT_OK;
}

ambit_status ambit__gpu_batch_open(ambit__gpu_device *d, const ambit__move *moves, int n,
                                   ambit__batch **batch)
{
  ambit__batch *b;
  ambit_status s;

  AMBIT_NEW(d->head.errors, b, 1);
  b->device = d;
  s = make_tables(b, moves, n);
  if (s)
    ambit__gpu_batch_close(b);
  else
    *batch = b;
  return s;
}

static ambit_status launch(ambit__gpu_lane *lane, const group *g)
{
  const ambit__shape shape = ambit__gpu_shape(g->blocks, AMBIT__MOVE_THREADS);
  const int64_t nitems = (int64_t)g->nitems;
  ambit__gpu_arg args[2 + MEMORIES];
  ambit__gpu_moves *moves;

  AMBIT_TRY(ambit__gpu_moves_get(lane->device, g->type, KIT_BOXES, &moves));
  args[0] = ambit__gpu_arg_memory(g->table);
  args[1] = ambit__gpu_arg_number(&nitems);
  for (int i = 0; i < MEMORIES; i++)
    args[2 + i] =
        ambit__gpu_arg_memory(ambit__gpu_memory_of(g->stores[i < g->nstores ? i : 0]->buffer));
  return lane->driver->launch(lane->queue, moves->batch, &shape, 2 + MEMORIES, args);
}

static ambit_status copy_active(ambit__gpu_lane *lane, const sparse_copy *c)
{
  const ambit__store to = ambit__move_to(&c->move);
  ambit__store from;

  if (c->move.fills) return ambit__gpu_kept_fill(lane, &c->list, &to, c->move.value);
  from = ambit__move_from(&c->move);
  return ambit__gpu_kept_copy(lane, &c->list, &to, &from);
}

static ambit_status run(ambit__gpu_lane *lane, ambit__batch *b)
{
  for (size_t i = 0; i < b->ngroups; i++)
    AMBIT_TRY(launch(lane, &b->groups[i]));
  for (size_t i = 0; i < b->ncopies; i++)
    AMBIT_TRY(copy_active(lane, &b->copies[i]));
  return AMBIT_OK;
}

ambit_status ambit__gpu_batch(ambit__gpu_lane *lane, const ambit__command *c)
{
  return run(lane, c->batch.batch);
}

ambit_status ambit__gpu_ghosts(ambit__gpu_lane *lane, const ambit__command *c)
{
  const ambit__move move = {.dst = c->ghosts.store,
                            .count = c->ghosts.store->layout.components,
                            .box = *c->ghosts.given,
                            .reach = *c->ghosts.reach,
                            .boundaries = c->ghosts.boundaries,
                            .extents = c->ghosts.extents};
  ambit__batch *batch;
  ambit_status s;

  AMBIT_TRY(ambit__gpu_batch_open(lane->device, &move, 1, &batch));
  s = run(lane, batch);
  ambit__gpu_batch_close(batch);
  return s;
}
