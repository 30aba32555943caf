/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_grid.c - sparse grids: their active cells, from a function of the index or a mask. */
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

/* ---- runs from a function or a mask ---- */

enum {
  PIECES = 16,     /* per thread */
  LOADED = 1 << 22 /* cells of a mask that are loaded at once, if a plane has not more */
};

/* Rows that are searched. They are cut into pieces, which threads take one by one. */
typedef struct search {
  const ambit__mask *mask;
  ambit__box box;        /* of the grid */
  ambit__box planes;     /* of cells, that are searched; along axis 0 */
  unsigned char *active; /* their activity, loaded; NULL: from the function; owned */
  int64_t first, end;    /* rows in them */
  int pieces;
  atomic_int next;         /* piece */
  ambit__active *found;    /* by piece; owned */
  ambit__errors *failures; /* by piece; owned */
} search;

static bool is_on(const search *s, const int64_t *cell)
{
  int64_t at = 0;

  if (!s->active) return s->mask->is_active(cell, s->mask->user) != 0;
  for (int d = 0; d < s->planes.ndims; d++)
    at = at * (s->planes.hi[d] - s->planes.lo[d]) + cell[d] - s->planes.lo[d];
  return s->active[at] != 0;
}

/* Adds the runs of a row. */
static ambit_status search_row(const search *s, int64_t row, ambit__errors *errors,
                               ambit__active *to)
{
  const int last = s->box.ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS];
  ambit__run r = {.row = row};

  ambit__active_place(to, row, cell);
  for (int64_t x = 0; x <= s->box.hi[last]; x++) {
    cell[last] = x;
    if (x < s->box.hi[last] && is_on(s, cell)) {
      r.hi = x + 1;
      continue;
    }
    if (r.lo < r.hi) AMBIT_TRY(ambit__active_add(errors, to, &r));
    r.lo = r.hi = x + 1;
  }
  return AMBIT_OK;
}

static void search_pieces(void *arg, int thread, int threads)
{
  search *s = arg;
  int i;

  (void)thread, (void)threads;
  while ((i = atomic_fetch_add(&s->next, 1)) < s->pieces) {
    const int64_t n = s->end - s->first, end = s->first + n * (i + 1) / s->pieces;

    ambit__active_begin(&s->found[i], &s->box);
    for (int64_t row = s->first + n * i / s->pieces; row < end; row++)
      if (search_row(s, row, &s->failures[i], &s->found[i])) break;
  }
}

/* Puts together what was found in the pieces. */
static ambit_status join_pieces(ambit *a, search *s, ambit__active *to)
{
  ambit_status status = AMBIT_OK;

  for (int i = 0; i < s->pieces; i++) {
    if (s->failures[i].status)
      status = ambit__raise(&a->errors, s->failures[i].status, "%s",
                            "there is no memory for the cells of a sparse grid");
    for (int64_t k = 0; !status && k < s->found[i].n; k++)
      status = ambit__active_add(&a->errors, to, &s->found[i].runs[k]);
    ambit__errors_clear(&s->failures[i]);
    ambit__active_free(&s->found[i]);
  }
  return status;
}

/* Searches some planes along axis 0. */
static ambit_status search_planes(ambit *a, search *s, ambit__pool *pool, ambit__active *to)
{
  const int last = s->box.ndims - 1;
  const int64_t rows = last ? ambit__box_volume(&s->box) / s->box.hi[0] / s->box.hi[last] : 1;

  s->first = last ? s->planes.lo[0] * rows : 0;
  s->end = last ? s->planes.hi[0] * rows : 1;
  if (s->active) AMBIT_TRY(s->mask->load(s->mask->user, &s->planes, s->active));
  atomic_store(&s->next, 0);
  ambit__pool_run(pool, ambit__pool_threads(pool), search_pieces, s);
  return join_pieces(a, s, to);
}

static ambit_status search_all(ambit *a, search *s, ambit__pool *pool, ambit__active *to)
{
  const int64_t cells = ambit__box_volume(&s->box), plane = cells / s->box.hi[0];
  int64_t step = LOADED > plane ? LOADED / plane : 1;

  if (s->mask->is_active || s->box.ndims == 1 || step > s->box.hi[0]) step = s->box.hi[0];
  s->pieces = PIECES * ambit__pool_threads(pool);
  s->found = ambit__new(&a->errors, (size_t)s->pieces, sizeof *s->found);
  s->failures = ambit__new(&a->errors, (size_t)s->pieces, sizeof *s->failures);
  if (!s->mask->is_active) s->active = ambit__new(&a->errors, (size_t)(step * plane), 1);
  if (!s->found || !s->failures || (!s->mask->is_active && !s->active)) return AMBIT_ENOMEM;
  s->planes = s->box;
  for (int64_t i = 0; i < s->box.hi[0]; i += step) {
    s->planes.lo[0] = i;
    s->planes.hi[0] = i + step < s->box.hi[0] ? i + step : s->box.hi[0];
    AMBIT_TRY(search_planes(a, s, pool, to));
  }
  return AMBIT_OK;
}

static ambit_status make_active(ambit *a, const ambit__box *box, const ambit__mask *mask,
                                int64_t pad, ambit__active *to)
{
  search s = {.mask = mask, .box = *box};
  ambit__pool *pool;
  ambit_status status;

  ambit__active_begin(to, box);
  AMBIT_TRY(ambit__pool_for(a, &pool));
  status = search_all(a, &s, pool, to);
  ambit__pool_close(pool);
  free(s.found);
  free(s.failures);
  free(s.active);
  return status ? status : ambit__active_end(&a->errors, to, pad);
}

static ambit__active *new_active(ambit *a, const ambit__box *box, const ambit__mask *mask,
                                 int64_t pad)
{
  ambit__active *new = ambit__new(&a->errors, 1, sizeof *new);

  if (new && !make_active(a, box, mask, pad, new)) return new;
  if (new) ambit__active_free(new);
  free(new);
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
  g->active = new_active(a, &g->box, m,
                         AMBIT__PAD); /* a failure is raised by the next one, on all processes */
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

/* Gives the grid other active cells, or others places for them, and stores its fields anew. */
static ambit_status replace(ambit_grid *g, ambit__active *active)
{
  const ambit_status s = ambit__fields_restore(g, active);
  ambit__active *old = s ? active : g->active;

  if (!s) g->active = active;
  ambit__active_free(old);
  free(old);
  return s;
}

ambit_status ambit_grid_activate(ambit_grid *g, ambit_active_fn is_active, void *user)
{
  const ambit__mask mask = {.is_active = is_active, .user = user};
  ambit__active *active;

  if (!g) return AMBIT_EINVAL;
  if (ambit__failed(g->context)) return g->context->errors.status;
  AMBIT_TRY(check_function(g->context, is_active));
  AMBIT_CHECK(g->active, &g->context->errors, AMBIT_EINVAL,
              "ambit_grid_activate: the grid is not sparse, and all of its cells are active");
  active = new_active(g->context, &g->box, &mask, g->active->pad);
  if (!active) return g->context->errors.status;
  AMBIT_TRY(replace(g, active));
  ambit__grid_changed(g);
  return g->activity ? ambit_field_fill_value(g->activity, 1) : AMBIT_OK;
}

ambit_status ambit__grid_pad(ambit_grid *g, int64_t pad)
{
  ambit__active *active;
  ambit_status s = AMBIT_OK;

  if (g->active->pad >= pad) return AMBIT_OK;
  active = ambit__new(&g->context->errors, 1, sizeof *active);
  if (!active) return AMBIT_ENOMEM;
  ambit__active_begin(active, &g->box);
  for (int64_t i = 0; !s && i < g->active->n; i++)
    s = ambit__active_add(&g->context->errors, active, &g->active->runs[i]);
  if (!s) s = ambit__active_end(&g->context->errors, active, pad);
  if (!s) return replace(g, active);
  ambit__active_free(active);
  free(active);
  return s;
}

int64_t ambit_grid_cells(const ambit_grid *g)
{
  if (!g) return 0;
  return g->active ? g->active->cells : ambit__box_volume(&g->box);
}

ambit_status ambit__grid_activity(ambit_grid *g)
{
  if (g->activity) return AMBIT_OK;
  g->activity = ambit_field_create(g, "active cells", AMBIT_U8);
  return g->activity ? ambit_field_fill_value(g->activity, 1) : g->context->errors.status;
}
