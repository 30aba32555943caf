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

/* ---- blocks from a function or a mask ---- */

/* Rows of blocks along the last axis are handed out to the threads one by one. */
typedef struct search {
  const ambit__blocks *whole; /* empty; has the shape */
  const ambit__mask *mask;
  ambit__box planes;       /* of cells, that are searched; along axis 0 */
  unsigned char *active;   /* their activity, loaded; NULL: from the function; owned */
  ambit__box rows;         /* places of blocks in them; one along the last axis ... */
  int64_t first, end;      /* ... and those along it */
  atomic_llong next;       /* row */
  ambit__blocks *found;    /* by thread; owned */
  ambit__errors *failures; /* by thread; owned */
} search;

static bool is_on(const search *s, const int64_t *cell)
{
  int64_t at = 0;

  if (!s->active) return s->mask->is_active(cell, s->mask->user) != 0;
  for (int d = 0; d < s->planes.ndims; d++)
    at = at * (s->planes.hi[d] - s->planes.lo[d]) + cell[d] - s->planes.lo[d];
  return s->active[at] != 0;
}

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
      bits |= (uint64_t)is_on(s, cell) << (cell[last] - cells.lo[last]);
    mask[place / 64] |= bits << place % 64;
    cell[last] = cells.lo[last];
  } while (ambit__box_next_row(&cells, cell));
}

/* The place of a row, by number; in 1-D, of the only block. */
static void place_of_row(const search *s, int64_t row, int64_t *at)
{
  at[s->rows.ndims - 1] = 0;
  for (int d = s->rows.ndims - 2; d >= 0; d--) {
    at[d] = s->rows.lo[d] + row % (s->rows.hi[d] - s->rows.lo[d]);
    row /= s->rows.hi[d] - s->rows.lo[d];
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
    for (at[last] = s->first; at[last] < s->end; at[last]++) {
      ask(s, at, mask);
      if (ambit__blocks_add(&s->failures[thread], &s->found[thread], at, mask)) break;
    }
  }
  free(mask);
}

/* Searches the planes of blocks first .. end - 1 along axis 0. */
static ambit_status search_planes(search *s, ambit__pool *pool, int64_t first, int64_t end)
{
  const ambit__blocks *b = s->whole;
  const int last = b->box.ndims - 1;

  s->planes = b->box;
  s->planes.lo[0] = first << b->shift[0];
  if (end << b->shift[0] < b->box.hi[0]) s->planes.hi[0] = end << b->shift[0];
  s->rows = ambit__box_of_extents(last + 1, b->count);
  s->rows.lo[0] = first;
  s->rows.hi[0] = end;
  s->first = s->rows.lo[last];
  s->end = s->rows.hi[last];
  s->rows.lo[last] = 0;
  s->rows.hi[last] = 1;
  if (s->active) AMBIT_TRY(s->mask->load(s->mask->user, &s->planes, s->active));
  atomic_store(&s->next, 0);
  ambit__pool_run(pool, ambit__pool_threads(pool), find_share, s);
  return AMBIT_OK;
}

static ambit_status search_all(ambit *a, ambit__pool *pool, search *s)
{
  const ambit__blocks *b = s->whole;
  const int threads = ambit__pool_threads(pool);
  const int64_t planes = (int64_t)1 << b->shift[0];
  const int64_t cells = ambit__box_volume(&b->box) / b->box.hi[0] * planes;

  s->found = ambit__new(&a->errors, (size_t)threads, sizeof *s->found);
  s->failures = ambit__new(&a->errors, (size_t)threads, sizeof *s->failures);
  if (!s->mask->is_active) s->active = ambit__new(&a->errors, (size_t)cells, 1);
  if (!s->found || !s->failures || (!s->mask->is_active && !s->active)) return AMBIT_ENOMEM;
  for (int t = 0; t < threads; t++)
    ambit__blocks_begin(&s->found[t], &b->box);
  if (s->mask->is_active) return search_planes(s, pool, 0, b->count[0]);
  for (int64_t i = 0; i < b->count[0]; i++)
    AMBIT_TRY(search_planes(s, pool, i, i + 1));
  return AMBIT_OK;
}

/* Puts together what the threads found. */
static ambit_status join_all(ambit *a, search *s, int threads, ambit__blocks *b)
{
  ambit_status status = AMBIT_OK;

  for (int t = 0; s->found && s->failures && t < threads; t++) {
    if (s->failures[t].status)
      status = ambit__raise(&a->errors, s->failures[t].status, "%s",
                            "there is no memory for the blocks of a sparse grid");
    ambit__errors_clear(&s->failures[t]);
    if (ambit__blocks_join(&a->errors, b, &s->found[t])) status = a->errors.status;
  }
  return status;
}

static ambit_status make_blocks(ambit *a, const ambit__box *box, const ambit__mask *mask,
                                ambit__blocks *b)
{
  search s = {.whole = b, .mask = mask};
  ambit__pool *pool;
  ambit_status status, joined;

  ambit__blocks_begin(b, box);
  AMBIT_TRY(ambit__pool_for(a, &pool));
  status = search_all(a, pool, &s);
  joined = join_all(a, &s, ambit__pool_threads(pool), b);
  ambit__pool_close(pool);
  free(s.found);
  free(s.failures);
  free(s.active);
  if (status || joined) return status ? status : joined;
  return ambit__blocks_end(&a->errors, b);
}

static ambit__blocks *new_blocks(ambit *a, const ambit__box *box, const ambit__mask *mask)
{
  ambit__blocks *b = ambit__new(&a->errors, 1, sizeof *b);

  if (b && !make_blocks(a, box, mask, b)) return b;
  if (b) ambit__blocks_free(b);
  free(b);
  return NULL;
}

/* ---- grids ---- */

static ambit_status check(ambit *a)
{
  AMBIT_TRY(ambit__devices_choose(a, true));
  AMBIT_TRY(ambit__engines_open(a));
  AMBIT_CHECK(
      a->placement.first[a->net->size] == 1, &a->errors, AMBIT_EUNSUPPORTED,
      "a sparse grid cannot be divided into %d parts yet: choose one device and one process",
      a->placement.first[a->net->size]);
  AMBIT_CHECK(a->engines[0].backend->sparse, &a->errors, AMBIT_EUNSUPPORTED,
              "the device %s cannot store sparse grids yet: choose cpu, or, to have it chosen, "
              "create the sparse grid first",
              a->engines[0].backend->name);
  AMBIT_CHECK(!a->settings.nan, &a->errors, AMBIT_EUNSUPPORTED,
              "the option nan cannot check programs on sparse grids yet");
  return AMBIT_OK;
}

ambit_grid *ambit__grid_sparse(ambit *a, int ndims, const int64_t *extents, const ambit__mask *m)
{
  ambit_grid *g;

  if (ambit__failed(a) || check(a)) return NULL;
  g = ambit__grid_begin(a, ndims, extents);
  if (!g) return NULL;
  g->blocks = new_blocks(a, &g->box, m); /* a failure is raised by the next one, on all processes */
  return ambit__grid_end(g, NULL);
}

static ambit_status check_function(ambit *a, ambit_active_fn fn)
{
  AMBIT_CHECK(fn, &a->errors, AMBIT_EINVAL,
              "the function that says which cells of a sparse grid are active is NULL");
  return AMBIT_OK;
}

ambit_grid *ambit_grid_create_sparse(ambit *a, int ndims, const int64_t *extents,
                                     ambit_active_fn is_active, void *user)
{
  const ambit__mask mask = {.is_active = is_active, .user = user};

  if (ambit__failed(a) || check_function(a, is_active)) return NULL;
  return ambit__grid_sparse(a, ndims, extents, &mask);
}

/* Planes of a field. */
static ambit_status load_field(void *user, const ambit__box *planes, unsigned char *active)
{
  ambit_field *f = user;
  const size_t cell = ambit__field_cell_bytes(f);
  const int64_t n = ambit__box_volume(planes);
  unsigned char *values = ambit__new(ambit__field_errors(f), (size_t)n, cell);
  ambit_status s = values ? ambit_field_read(f, planes->lo, planes->hi, values) : AMBIT_ENOMEM;

  for (int64_t i = 0; !s && i < n; i++)
    active[i] =
        ambit__value_is_true(ambit__value_load(values + (size_t)i * cell, f->type), f->type);
  free(values);
  return s;
}

ambit_grid *ambit_grid_create_masked(ambit_field *mask)
{
  const ambit__mask m = {.load = load_field, .user = mask};

  if (ambit__field_failed(mask)) return NULL;
  return ambit__grid_sparse(mask->grid->context, mask->grid->box.ndims, mask->grid->box.hi, &m);
}

ambit_status ambit_grid_activate(ambit_grid *g, ambit_active_fn is_active, void *user)
{
  const ambit__mask mask = {.is_active = is_active, .user = user};
  ambit__blocks *blocks;
  ambit_status s;

  if (!g) return AMBIT_EINVAL;
  if (ambit__failed(g->context)) return g->context->errors.status;
  AMBIT_TRY(check_function(g->context, is_active));
  AMBIT_CHECK(g->blocks, &g->context->errors, AMBIT_EINVAL,
              "ambit_grid_activate: the grid is not sparse, and all of its cells are active");
  blocks = new_blocks(g->context, &g->box, &mask);
  if (!blocks) return g->context->errors.status;
  s = ambit__fields_restore(g, blocks);
  if (!s) {
    ambit__blocks *old = g->blocks;

    g->blocks = blocks;
    blocks = old;
    if (g->activity) s = ambit_field_fill_value(g->activity, 1);
    ambit__grid_changed(g);
  }
  ambit__blocks_free(blocks);
  free(blocks);
  return s;
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
