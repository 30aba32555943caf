/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_grid.c - sparse grids: their active cells, from a function of the index or a mask. */
#include "base/log.h"
#include "base/memory.h"
#include "device/cpu/machine.h"
#include "grid/partition.h"
#include "grid/storage.h"
#include "runtime/objects/objects.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
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

static const double UNEVEN =
    1.03; /* the cut is moved if it makes the largest part smaller by this */

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
  return s->active ? s->active[ambit__box_number(&s->planes, cell)] != 0
                   : s->mask->is_active(cell, s->mask->user) != 0;
}

/* Adds the runs of a row. */
static ambit_status search_row(const search *s, int64_t row, ambit__errors *errors,
                               ambit__active *to)
{
  const int last = s->box.ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS] = {0};
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

    ambit__active_begin(&s->found[i], &s->box, STORAGE_RUNS);
    for (int64_t row = s->first + n * i / s->pieces; row < end; row++)
      if (search_row(s, row, &s->failures[i], &s->found[i])) break;
  }
}

/* Joins the results of the pieces. */
static ambit_status join_pieces(ambit *a, search *s, ambit__active *to)
{
  ambit_status status = AMBIT_OK;

  for (int i = 0; i < s->pieces; i++) {
    if (s->failures[i].status)
      status = ambit__raise(&a->errors, s->failures[i].status, "%s",
                            "not enough memory for the cells of a sparse grid");
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
                                ambit__storage storage, int64_t pad, ambit__active *to)
{
  search s = {.mask = mask, .box = *box};
  ambit__pool *pool;
  ambit_status status;

  if (mask->like) return ambit__active_store(&a->errors, mask->like->active, storage, pad, to);
  ambit__active_begin(to, box, storage);
  AMBIT_TRY(ambit__pool_for(a, &pool));
  status = search_all(a, &s, pool, to);
  ambit__pool_close(pool);
  free(s.found);
  free(s.failures);
  free(s.active);
  return status ? status : ambit__active_end(&a->errors, to, pad);
}

static ambit__active *new_active(ambit *a, const ambit__box *box, const ambit__mask *mask,
                                 ambit__storage storage, int64_t pad)
{
  ambit__active *new = ambit__new(&a->errors, 1, sizeof *new);

  if (new && !make_active(a, box, mask, storage, pad, new)) return new;
  if (new) ambit__active_free(new);
  free(new);
  return NULL;
}

/* ---- grids ---- */

static ambit_status check(ambit *a)
{
  AMBIT_TRY(ambit__devices_choose(a, true));
  AMBIT_TRY(ambit__engines_open(a));
  for (int i = 0; i < a->nengines; i++)
    AMBIT_CHECK(a->engines[i].backend->sparse, &a->errors, AMBIT_EUNSUPPORTED,
                "the device %s cannot store sparse grids yet: choose cpu, or, to have it chosen, "
                "create the sparse grid first",
                a->engines[i].backend->name);
  return AMBIT_OK;
}

/* The one that the option asks for; with auto, a first one, which programs may change. A grid like
 * another one has its storage. */
static ambit__storage storage_of(const ambit *a, const ambit__mask *m)
{
  if (m->like) return m->like->active->storage;
  return strcmp(a->settings.storage, "list") ? STORAGE_RUNS : STORAGE_LIST;
}

/* Prints what fields would take in each storage, before there are any. */
static void log_memory(ambit *a, const ambit__active *active)
{
  const double box = (double)ambit__box_volume(&active->box);
  double mib[AMBIT__STORAGES] = {0};
  ambit_status s = AMBIT_OK;

  if (a->settings.verbose < 1) return;
  for (int k = 0; !s && k < AMBIT__STORAGES; k++) {
    ambit__active other = {0};

    s = ambit__active_store(&a->errors, active, (ambit__storage)k, active->pad, &other);
    mib[k] = (double)other.size / (1 << 20);
    ambit__active_free(&other);
  }
  if (s) return;
  ambit__log(&a->settings, 1,
             "sparse grid: %" PRId64 " active cells, %.3g %% of the box, in %" PRId64
             " runs; memory for each byte of a cell: runs %.4g MiB, list %.4g",
             active->cells, 100 * (double)active->cells / box, active->n, mib[STORAGE_RUNS],
             mib[STORAGE_LIST]);
}

/* With the option auto: runs, in the storage that fields have before a program chooses. Runs that
 * are several parts of a device stay: a list would have too few parts for them. */
static ambit__active *store_first(ambit *a, ambit__active *runs)
{
  const ambit__storage first = runs->size > ambit__active_most
                                   ? STORAGE_RUNS
                                   : ambit__storage_first((double)runs->size, (double)runs->cells);
  ambit__active *other = first == runs->storage ? NULL : ambit__new(&a->errors, 1, sizeof *other);

  if (!other || ambit__active_store(&a->errors, runs, first, runs->pad, other)) {
    free(other);
    return runs;
  }
  ambit__active_free(runs);
  free(runs);
  return other;
}

ambit_grid *ambit__grid_sparse(ambit *a, int ndims, const int64_t *extents, const ambit__mask *m)
{
  ambit_grid *g;

  if (ambit__failed(a) || check(a)) return NULL;
  g = ambit__grid_begin(a, ndims, extents);
  if (!g) return NULL;
  g->any_storage = m->like ? m->like->any_storage : !strcmp(a->settings.storage, "auto");
  g->active = new_active(a, &g->box, m, storage_of(a, m), AMBIT__PAD);
  if (g->active && !m->like) log_memory(a, g->active);
  if (g->active && !m->like && g->any_storage) g->active = store_first(a, g->active);
  /* a failure is raised by the next one, on all processes */
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

void ambit__active_free_all(ambit__active *active, ambit__active *local, int n)
{
  for (int i = 0; local && i < n; i++)
    ambit__active_free(&local[i]);
  free(local);
  if (active) ambit__active_free(active);
  free(active);
}

ambit__active *ambit__grid_local(const ambit_grid *g, const ambit__box *parts, int n,
                                 const ambit__active *active, const ambit__layers *layers)
{
  ambit__errors *errors = &g->context->errors;
  ambit__active *local = ambit__new(errors, (size_t)n, sizeof *local);
  ambit_status s = local ? AMBIT_OK : AMBIT_ENOMEM;

  for (int i = 0; !s && i < n; i++) {
    s = ambit__active_part(errors, active, &parts[i], layers, &local[i]);
    if (!s && local[i].size > ambit__active_most)
      s = ambit__raise(errors, AMBIT_EUNSUPPORTED,
                       "a part of a sparse grid has %lld cells in memory; it can have %lld: use "
                       "more parts",
                       (long long)local[i].size, (long long)ambit__active_most);
  }
  if (!s) return local;
  ambit__active_free_all(NULL, local, n);
  return NULL;
}

ambit_status ambit__grid_localise(ambit_grid *g)
{
  if (!g->active) return AMBIT_OK;
  g->nested = true;
  for (int d = 0; g->nparts > 1 && d < g->box.ndims; d++)
    g->layers.lo[d] = g->layers.hi[d] = 1;
  g->local = ambit__grid_local(g, g->parts + g->first, g->placement.n, g->active, &g->layers);
  return g->local ? AMBIT_OK : g->context->errors.status;
}

ambit_status ambit__grid_cut_active(const ambit_grid *g, const ambit__active *active, int split,
                                    const double *weights, ambit__box *parts)
{
  const int asked = g->context->placement.first[g->context->net->size];
  ambit__cuts cuts;
  int64_t product = 1;

  ambit__cuts_parse(g->partition, &cuts);
  for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
    if (d >= cuts.n) cuts.count[d] = 1;
    if (d == 0) cuts.count[d] *= split;
    product *= d < g->box.ndims || cuts.count[d] == 1 ? cuts.count[d] : 0;
  }
  AMBIT_CHECK(
      !cuts.n || product == asked * split, &g->context->errors, AMBIT_EOPTION,
      "option partition is '%s'; the product of its numbers, one for each of up to %d axes, "
      "must be %d, the number of parts",
      g->partition, g->box.ndims, asked);
  return ambit__active_cut(&g->context->errors, active, asked * split, cuts.n ? cuts.count : NULL,
                           weights, parts);
}

/* Fills a field of activity. Halo cells have values too: nobody sends them. */
static ambit_status fill_activity(ambit_field *f)
{
  const ambit_grid *g = f->grid;
  alignas(8) unsigned char on[8];

  ambit__value_store(on, f->type, ambit__value_of(1, f->type));
  for (int i = 0; i < g->placement.n; i++) {
    const ambit__engine *e = ambit__engine_of(g, i);

    if (!ambit__box_is_empty(&g->parts[g->first + i]))
      AMBIT_TRY(ambit__do(e->queue, fill, &f->stores[i], &g->box, on));
  }
  return AMBIT_OK;
}

static ambit_status fill_activities(const ambit_grid *g)
{
  for (const ambit__link *l = g->fields.next; l->owner; l = l->next)
    if (((ambit_field *)l->owner)->is_activity) AMBIT_TRY(fill_activity(l->owner));
  return AMBIT_OK;
}

/* The most active cells of a part, relative to its share. */
static double most_cells(const ambit_grid *g, const ambit__active *active, const ambit__box *parts)
{
  double most = 0, weights = 0;

  for (int i = 0; i < g->nparts; i++)
    weights += g->weights ? g->weights[i] : 1;
  for (int i = 0; i < g->nparts; i++) {
    const double share = (g->weights ? g->weights[i] : 1) / weights;
    const double cells = (double)ambit__active_count(active, &parts[i]);

    if (share > 0 && cells / share > most) most = cells / share;
  }
  return most;
}

/* The cut of the grid with other active cells: in more parts if they would be too large, with other
 * boxes if the present ones divide them badly. */
typedef struct new_cut {
  int split;
  double *weights; /* owned, like the following */
  ambit__box *parts;
  bool moves; /* it is not the present one */
} new_cut;

static ambit_status find_cut(const ambit_grid *g, const ambit__active *active, new_cut *c)
{
  ambit *a = g->context;
  int n;

  c->split = ambit__split_for(a, (double)active->size, g->weights, g->split);
  n = g->nparts / g->split * c->split;
  c->moves = c->split != g->split;
  AMBIT_NEW(&a->errors, c->parts, (size_t)n);
  AMBIT_TRY(ambit__weights_split(a, g->weights, g->split, c->split, &c->weights));
  if (n > 1) AMBIT_TRY(ambit__grid_cut_active(g, active, c->split, c->weights, c->parts));
  if (n > 1 && !c->moves)
    c->moves = most_cells(g, active, g->parts) > UNEVEN * most_cells(g, active, c->parts);
  return AMBIT_OK;
}

/* Programs are unsealed before parts become more: they have tables for each. */
static ambit_status move_cut(ambit_grid *g, ambit__active *active, new_cut *c)
{
  ambit__layers layers = g->layers;

  ambit__grid_changed(g);
  for (int d = 0; c->split > g->split && d < g->box.ndims; d++) {
    if (!layers.lo[d]) layers.lo[d] = 1;
    if (!layers.hi[d]) layers.hi[d] = 1;
  }
  AMBIT_TRY(ambit__grid_restore(g, active, c->moves ? c->parts : g->parts, c->split, &layers));
  free(g->weights);
  g->weights = c->weights;
  c->weights = NULL;
  return AMBIT_OK;
}

/* Gives the grid other active cells, which it owns from now on; NULL: an error was raised. */
static ambit_status take_active(ambit_grid *g, ambit__active *active)
{
  new_cut c = {0};
  char doing[80];
  ambit_status s;

  if (active) find_cut(g, active, &c);
  snprintf(doing, sizeof doing, "has a sparse grid of %lld active cells",
           active ? (long long)active->cells : 0);
  s = ambit__meet(g->context, doing); /* raises a failure on all */
  if (s)
    ambit__active_free_all(active, NULL, 0);
  else
    s = move_cut(g, active, &c);
  free(c.parts);
  free(c.weights);
  AMBIT_TRY(s);
  g->weighed = 0;
  return fill_activities(g);
}

ambit_status ambit_grid_activate(ambit_grid *g, ambit_active_fn is_active, void *user)
{
  const ambit__mask mask = {.is_active = is_active, .user = user};

  if (!g) return AMBIT_EINVAL;
  if (ambit__failed(g->context)) return g->context->errors.status;
  AMBIT_TRY(check_function(g->context, is_active));
  AMBIT_CHECK(g->active, &g->context->errors, AMBIT_EINVAL,
              "ambit_grid_activate: the grid is not sparse, and all of its cells are active");
  return take_active(g, new_active(g->context, &g->box, &mask, g->active->storage, g->active->pad));
}

ambit_status ambit__grid_activate_runs(ambit_grid *g, const ambit__run *runs, int64_t n)
{
  ambit__errors *errors = &g->context->errors;
  ambit__active *active = ambit__new(errors, 1, sizeof *active);

  if (active) ambit__active_begin(active, &g->box, g->active->storage);
  for (int64_t i = 0; active && !errors->status && i < n; i++)
    ambit__active_add(errors, active, &runs[i]);
  if (active && !errors->status) ambit__active_end(errors, active, g->active->pad);
  return take_active(g, active);
}

bool ambit__grid_is_wide(const ambit_grid *g, int64_t pad, const ambit__layers *layers)
{
  for (int d = 0; g->nparts > 1 && d < g->box.ndims; d++)
    if (g->layers.lo[d] < layers->lo[d] || g->layers.hi[d] < layers->hi[d]) return false;
  return g->active->pad >= pad;
}

static ambit_status store_anew(ambit_grid *g, ambit__storage storage, int64_t pad,
                               const ambit__layers *layers)
{
  ambit__layers wider = g->layers;
  ambit__active *active;
  ambit_status s;

  AMBIT_NEW(&g->context->errors, active, 1);
  if (pad < g->active->pad) pad = g->active->pad;
  for (int d = 0; d < g->box.ndims; d++) {
    if (wider.lo[d] < layers->lo[d]) wider.lo[d] = layers->lo[d];
    if (wider.hi[d] < layers->hi[d]) wider.hi[d] = layers->hi[d];
  }
  s = ambit__active_store(&g->context->errors, g->active, storage, pad, active);
  if (s) {
    ambit__active_free(active);
    free(active);
    return s;
  }
  AMBIT_TRY(ambit__grid_restore(g, active, g->parts, g->split, &wider));
  return fill_activities(g);
}

ambit_status ambit__grid_widen(ambit_grid *g, int64_t pad, const ambit__layers *layers)
{
  if (ambit__grid_is_wide(g, pad, layers)) return AMBIT_OK;
  return store_anew(g, g->active->storage, pad, layers);
}

ambit_status ambit__grid_store(ambit_grid *g, ambit__storage storage)
{
  return store_anew(g, storage, g->active->pad, &g->layers);
}

int64_t ambit__grid_count(const ambit_grid *g, const ambit__box *box)
{
  return g->active ? ambit__active_count(g->active, box) : ambit__box_volume(box);
}

int64_t ambit_grid_cells(const ambit_grid *g)
{
  int64_t cells;

  if (!g) return 0;
  if (!g->active) return ambit__box_volume(&g->box);
  if (!ambit__journal_replay(&g->context->errors, &g->context->journal, ENTRY_CELLS, &cells,
                             sizeof cells)) {
    cells = g->active->cells;
    ambit__journal_record(&g->context->journal, ENTRY_CELLS, &cells, sizeof cells);
  }
  return cells;
}

ambit_type ambit__grid_activity_type(const ambit_grid *g)
{
  return g->context->engines[0].backend->wide_activity ? AMBIT_I32 : AMBIT_U8;
}

ambit_field *ambit__grid_activity(ambit_grid *g, const ambit__boundaries *b)
{
  ambit_field *f;

  for (const ambit__link *l = g->fields.next; l->owner; l = l->next) {
    f = l->owner;
    if (f->is_activity && ambit__boundaries_equal(&f->boundaries, b)) return f;
  }
  f = ambit_field_create(g, "active cells", ambit__grid_activity_type(g));
  if (!f || fill_activity(f)) return NULL;
  f->is_activity = true;
  f->boundaries = *b;
  return f;
}
