/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_grid.c - sparse grids: their blocks, from a function of the index, and their activity. */
#include "base/memory.h"
#include "device/cpu/machine.h"
#include "runtime/objects/objects.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- threads ---- */

ambit_status ambit__pool_for(ambit *a, ambit__pool **pool)
{
  const int sharers = a->net->local_size;
  int threads = a->settings.threads;

  if (!threads && sharers > 1) threads = ambit__machine_cores() / sharers;
  if (!threads && sharers > 1) threads = 1;
  return ambit__pool_open(&a->errors, threads, pool);
}

/* ---- blocks from a function ---- */

/* Rows of blocks along the last axis are handed out to the threads one by one. */
typedef struct search {
  const ambit__blocks *whole; /* empty; has the shape */
  ambit_active_fn is_active;
  void *user;
  ambit__box rows;         /* places of blocks; one along the last axis */
  atomic_llong next;       /* row */
  ambit__blocks *found;    /* by thread; owned by the caller */
  ambit__errors *failures; /* by thread */
} search;

/* Asks for all cells of a block. */
static void ask(const search *s, const int64_t *at, uint64_t *mask)
{
  const ambit__blocks *b = s->whole;
  const int last = b->box.ndims - 1;
  ambit__box cells = {.ndims = b->box.ndims};
  int64_t cell[AMBIT_MAX_DIMS];

  memset(mask, 0, (size_t)b->words * sizeof *mask);
  for (int d = 0; d <= last; d++) {
    cells.lo[d] = at[d] << b->shift[d];
    cells.hi[d] = cells.lo[d] + ((int64_t)1 << b->shift[d]);
    if (cells.hi[d] > b->box.hi[d]) cells.hi[d] = b->box.hi[d];
  }
  ambit__box_first(&cells, cell);
  do {
    const int64_t place = ambit__blocks_place(b, cell);
    uint64_t bits = 0;

    for (; cell[last] < cells.hi[last]; cell[last]++)
      bits |= (uint64_t)(s->is_active(cell, s->user) != 0) << (cell[last] - cells.lo[last]);
    mask[place / 64] |= bits << place % 64;
    cell[last] = cells.lo[last];
  } while (ambit__box_next_row(&cells, cell));
}

/* The place of a row, by number. */
static void place_of_row(const search *s, int64_t row, int64_t *at)
{
  at[s->rows.ndims - 1] = 0;
  for (int d = s->rows.ndims - 2; d >= 0; d--) {
    at[d] = row % s->rows.hi[d];
    row /= s->rows.hi[d];
  }
}

static void find_share(void *arg, int thread, int threads)
{
  search *s = arg;
  const int last = s->rows.ndims - 1;
  const int64_t rows = ambit__box_volume(&s->rows);
  uint64_t *mask = ambit__new(&s->failures[thread], (size_t)s->whole->words, sizeof *mask);
  int64_t row, at[AMBIT_MAX_DIMS];

  (void)threads;
  while (mask && !s->failures[thread].status && (row = atomic_fetch_add(&s->next, 1)) < rows) {
    place_of_row(s, row, at);
    for (at[last] = 0; at[last] < s->whole->count[last]; at[last]++) {
      ask(s, at, mask);
      if (ambit__blocks_add(&s->failures[thread], &s->found[thread], at, mask)) break;
    }
  }
  free(mask);
}

static ambit_status find_blocks(ambit_grid *g, ambit__pool *pool, search *s)
{
  ambit__errors *errors = &g->context->errors;
  const int threads = ambit__pool_threads(pool);
  ambit_status status = AMBIT_OK;

  s->found = ambit__new(errors, (size_t)threads, sizeof *s->found);
  s->failures = ambit__new(errors, (size_t)threads, sizeof *s->failures);
  if (s->found && s->failures) {
    for (int t = 0; t < threads; t++)
      ambit__blocks_begin(&s->found[t], &g->box);
    ambit__pool_run(pool, threads, find_share, s);
    for (int t = 0; t < threads; t++) {
      if (s->failures[t].status)
        status = ambit__raise(errors, s->failures[t].status, "no memory for the blocks of a grid");
      if (ambit__blocks_join(errors, g->blocks, &s->found[t])) status = AMBIT_ENOMEM;
    }
  } else {
    status = AMBIT_ENOMEM;
  }
  free(s->found);
  free(s->failures);
  return status;
}

static ambit_status make_blocks(ambit_grid *g, ambit_active_fn is_active, void *user)
{
  search s = {.is_active = is_active, .user = user};
  ambit__pool *pool;
  ambit_status status;

  g->blocks = ambit__new(&g->context->errors, 1, sizeof *g->blocks);
  if (!g->blocks) return AMBIT_ENOMEM;
  ambit__blocks_begin(g->blocks, &g->box);
  s.whole = g->blocks;
  s.rows = ambit__box_of_extents(g->box.ndims, g->blocks->count);
  s.rows.hi[g->box.ndims - 1] = 1;
  AMBIT_TRY(ambit__pool_for(g->context, &pool));
  status = find_blocks(g, pool, &s);
  ambit__pool_close(pool);
  return status ? status : ambit__blocks_end(&g->context->errors, g->blocks);
}

/* ---- grids ---- */

static ambit_status check(ambit *a, ambit_active_fn is_active)
{
  AMBIT_CHECK(is_active, &a->errors, AMBIT_EINVAL,
              "the function that says which cells of a sparse grid are active is NULL");
  AMBIT_TRY(ambit__engines_open(a));
  AMBIT_CHECK(
      a->placement.first[a->net->size] == 1, &a->errors, AMBIT_EUNSUPPORTED,
      "a sparse grid cannot be divided into %d parts yet: choose one device and one process",
      a->placement.first[a->net->size]);
  AMBIT_CHECK(a->engines[0].backend->sparse, &a->errors, AMBIT_EUNSUPPORTED,
              "the device %s cannot store sparse grids yet: choose cpu",
              a->engines[0].backend->name);
  AMBIT_CHECK(!a->settings.nan, &a->errors, AMBIT_EUNSUPPORTED,
              "the option nan cannot check programs on sparse grids yet");
  return AMBIT_OK;
}

ambit_grid *ambit_grid_create_sparse(ambit *a, int ndims, const int64_t *extents,
                                     ambit_active_fn is_active, void *user)
{
  ambit_grid *g;

  if (ambit__failed(a) || check(a, is_active)) return NULL;
  g = ambit__grid_begin(a, ndims, extents);
  if (!g) return NULL;
  make_blocks(g, is_active, user); /* a failure is raised by the next one, on all processes */
  return ambit__grid_end(g, NULL);
}

int64_t ambit_grid_cells(const ambit_grid *g)
{
  if (!g) return 0;
  return g->blocks ? g->blocks->active : ambit__box_volume(&g->box);
}

ambit_status ambit__grid_activity(ambit_grid *g)
{
  if (g->activity) return AMBIT_OK;
  g->activity = ambit_field_create(g, "active cells", AMBIT_U8);
  return g->activity ? ambit_field_fill_value(g->activity, 1) : g->context->errors.status;
}
