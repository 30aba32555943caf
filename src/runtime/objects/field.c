/* SPDX-License-Identifier: BSD-3-Clause */
/* field.c - fields: their memory on every part of this process. */
#include "base/memory.h"
#include "base/text.h"
#include "device/faults.h"
#include "runtime/objects/objects.h"

#include <math.h>
#include <stdlib.h>

/* FIRST_MARGIN: layers of cells around the own cells of a new field, enough for most kernels.
 * SMALL: a field of at most 1/SMALL of the device's memory can be widened later; on cores, one of
 * MOST_MOVED bytes. LARGE: bytes from which the free memory is checked. */
enum { FIRST_MARGIN = 2, SMALL = 16, MOST_MOVED = 1 << 30, LARGE = 64 << 20 };

/* ---- memory ---- */

/* "100000x100000": the extents of the grid, each scaled, but at least 1. */
static void print_extents(ambit__text *t, const ambit_grid *g, double scale)
{
  for (int d = 0; d < g->box.ndims; d++)
    ambit__print(t, "%s%.0f", d ? "x" : "", fmax(1, floor((double)g->box.hi[d] * scale)));
}

/* The factor of the extents that leaves a share of the cells. Axes that it would make shorter than
 * a cell have one; the others make up for them. */
static double scale_to(const ambit_grid *g, double share)
{
  double scale = 1, before;

  do {
    double rest = share;
    int n = 0;

    before = scale;
    for (int d = 0; d < g->box.ndims; d++) {
      const double extent = (double)g->box.hi[d];

      if (extent * scale < 1)
        rest *= extent;
      else
        n++;
    }
    if (n) scale = pow(rest, 1.0 / n);
  } while (scale < before);
  return scale;
}

/* Free bytes of host memory; SIZE_MAX: unknown, since the field is small or not in host memory. */
static size_t free_for(const ambit__engine *e, size_t bytes)
{
  ambit__device_info info = {0};

  if (bytes < LARGE) return SIZE_MAX;
  e->device->backend->info(e->device, &info);
  return info.free ? info.free : SIZE_MAX;
}

/* Rejects a field that does not fit before its memory is touched, and reports the largest grid of
 * this shape that would. */
static ambit_status check_memory(const ambit_field *f, int part, const ambit__layout *l)
{
  const ambit_grid *g = f->grid;
  const ambit__engine *e = ambit__engine_of(g, part);
  const double gib = 1024.0 * 1024.0 * 1024.0;
  const size_t left = free_for(e, l->bytes);
  const bool is_free = l->bytes <= left;
  double need = (double)l->bytes, here = need, most = (double)e->memory;
  ambit__text t = {0};

  if (e->allocated + l->bytes <= e->memory && is_free) return AMBIT_OK;
  if (!is_free) most = (double)e->allocated + (double)left;
  for (ambit__link *i = g->fields.next; i->owner; i = i->next)
    if (!((ambit_field *)i->owner)->base)
      here += (double)((ambit_field *)i->owner)->stores[part].layout.bytes;
  print_extents(&t, g, 1);
  ambit__print(&t,
               " needs %.2f GiB for field '%s' besides the %.2f GiB of other fields, and %s "
               "%.2f GiB; with these fields, a grid of about ",
               need / gib, f->name, (double)e->allocated / gib,
               is_free ? "the device has" : "the free memory is",
               (is_free ? most : (double)left) / gib);
  print_extents(&t, g, scale_to(g, 0.98 * most / here));
  ambit__raise(ambit__field_errors(f), AMBIT_ENOMEM, "a grid of %s cells would fit",
               t.chars ? t.chars : "");
  ambit__text_free(&t);
  return AMBIT_ENOMEM;
}

void ambit__store_release(ambit__engine *e, ambit__store *store)
{
  if (!store->buffer) return;
  ambit__ask(e->device, release, store->buffer);
  e->allocated -= store->layout.bytes;
  store->buffer = NULL;
}

static void release(const ambit_field *f, int part, ambit__store *store)
{
  ambit__store_release(ambit__engine_of(f->grid, part), store);
}

/* With the option nan, unset memory holds a distinct NaN, so that checked launches detect its use
 * (run/checked_launch.c). */
static ambit_status poison_store(const ambit *a, ambit__engine *e, const ambit__store *store)
{
  ambit__store flat = {.buffer = store->buffer}; /* all memory as one row of values */
  ambit__layout *l = &flat.layout;
  unsigned char poison[8];

  *l = (ambit__layout){.type = store->layout.type, .components = 1, .own.ndims = 1, .stride = {1}};
  l->bytes = store->buffer->bytes;
  l->own.hi[0] = (int64_t)(l->bytes / ambit_type_size(l->type));
  if (!a->settings.nan || ambit__box_is_empty(&l->own)) return AMBIT_OK;
  ambit__poison_store(poison, l->type);
  store->buffer->unset = true;
  return ambit__do(e->queue, fill, &flat, &l->own, poison);
}

/* A part without cells still has margins, since kernels are launched there too. */
ambit_status ambit__store_allocate(const ambit_field *f, int part, ambit__store *store)
{
  ambit__engine *e = ambit__engine_of(f->grid, part);
  ambit_status s;

  AMBIT_CHECK(ambit__layout_make(&store->layout), ambit__field_errors(f), AMBIT_ENOMEM,
              "field '%s' is too large: its size in bytes overflows", f->name);
  AMBIT_TRY(check_memory(f, part, &store->layout));
  AMBIT_TRY(ambit__ask(e->device, alloc, store->layout.bytes, &store->layout, &store->buffer));
  e->allocated += store->layout.bytes;
  s = poison_store(f->grid->context, e, store);
  if (s) release(f, part, store);
  return s;
}

/* Whether margins of all axes take much of a part, so that a field starts without them: six axes of
 * 15 cells make four times as many with them. All parts have the same margins, so the first one
 * decides for all. */
static bool is_mostly_margin(const ambit_field *f, const ambit__layout *l)
{
  ambit__layout with = *l, without = *l;

  with.own = without.own = ambit__field_part(f, 0);
  for (int d = 0; d < l->own.ndims; d++)
    without.margin_lo[d] = without.margin_hi[d] = 0;
  return ambit__layout_make(&without) && without.bytes <= MOST_MOVED &&
         (!ambit__layout_make(&with) || with.bytes - without.bytes > without.bytes / 8);
}

/* If rows start on long lines, as on GPUs, even the narrowest margin takes a whole line per row.
 * Fixed and periodic faces need no margin there, and GPUs are fastest on rows without gaps. A small
 * field therefore starts without one and is widened when a program needs it. */
static void set_margins(const ambit_field *f, int part, ambit__layout *l)
{
  const int last = f->grid->box.ndims - 1, rows = l->turn ? l->turn - 1 : last;
  const ambit__engine *e = ambit__engine_of(f->grid, part);

  for (int d = 0; d <= last; d++)
    l->margin_lo[d] = l->margin_hi[d] = f->dropped >> d & 1 ? 0 : FIRST_MARGIN;
  if (!e->backend->line) {
    for (int d = 0, bare = is_mostly_margin(f, l); d <= last && bare; d++)
      l->margin_lo[d] = l->margin_hi[d] = 0;
    return;
  }
  if (f->dropped >> rows & 1) return;
  l->margin_lo[rows] = l->margin_hi[rows] = 0;
  if (!ambit__layout_make(l) || l->bytes > e->memory / SMALL)
    l->margin_lo[rows] = l->margin_hi[rows] = FIRST_MARGIN;
}

static ambit_status make_stores(ambit_field *f)
{
  const ambit_grid *g = f->grid;

  AMBIT_NEW(ambit__field_errors(f), f->stores, (size_t)g->placement.n);
  for (int i = 0; i < g->placement.n; i++) {
    ambit__layout *l = &f->stores[i].layout;
    ambit__box owned;

    *l = (ambit__layout){.type = f->type, .components = f->components, .order = f->order};
    l->dropped = f->dropped;
    l->own = ambit__field_part(f, g->first + i);
    owned = ambit__field_owned(f, g->first + i);
    l->is_copy = ambit__box_is_empty(&owned);
    if (g->active) l->active = &g->local[i];
    l->line = ambit__engine_of(g, i)->backend->line;
    l->turn = l->line ? g->turn : 0;
    if (!g->active) set_margins(f, i, l);
    AMBIT_TRY(ambit__store_allocate(f, i, &f->stores[i]));
  }
  return AMBIT_OK;
}

ambit_field *ambit_field_create(ambit_grid *g, const char *name, ambit_type type)
{
  return ambit_field_create_vector(g, name, type, 1, AMBIT_SOA);
}

static ambit_status check_field(ambit *a, const char *name, ambit_type type, int components,
                                ambit_order order)
{
  AMBIT_CHECK(name && *name, &a->errors, AMBIT_EINVAL, "a field needs a name");
  AMBIT_CHECK(ambit_type_size(type), &a->errors, AMBIT_EINVAL, "field '%s': %d is not a value type",
              name, (int)type);
  AMBIT_CHECK(components >= 1 && components <= 4096, &a->errors, AMBIT_EINVAL,
              "field '%s' was asked for with %d components; it must have 1 to 4096", name,
              components);
  AMBIT_CHECK(order == AMBIT_SOA || order == AMBIT_AOS, &a->errors, AMBIT_EINVAL,
              "field '%s': %d is not a component order; it must be AMBIT_SOA or AMBIT_AOS", name,
              (int)order);
  return AMBIT_OK;
}

/* The order in memory. On GPUs neighbouring threads have neighbouring cells, and a warp that stores
 * adjacent components touches as many lines for each of them as for all. Messages between processes
 * follow from the order, so that they all need the same. */
static ambit_order order_of(const ambit *a, int components, ambit_order asked)
{
  bool gpus = ambit_processes(a) == 1;

  for (int i = 0; i < a->nengines; i++)
    gpus = gpus && a->engines[i].backend->line;
  return components == 1 || gpus ? AMBIT_SOA : asked;
}

static ambit_field *create(ambit_grid *g, const char *name, ambit_type type, int components,
                           ambit_order order, unsigned dropped)
{
  ambit *a = g->context;
  ambit_field *f;

  if (check_field(a, name, type, components, order)) return NULL;
  f = ambit__new(&a->errors, 1, sizeof *f);
  if (!f) return NULL;
  f->grid = g;
  f->name = ambit__strdup(&a->errors, name);
  f->type = type;
  f->components = components;
  f->order = order_of(a, components, order);
  f->asked = components > 1 ? order : AMBIT_SOA;
  f->dropped = dropped;
  if (!f->name || make_stores(f)) {
    ambit_field_destroy(f);
    return NULL;
  }
  ambit__list_add(&g->fields, &f->link, f);
  return f;
}

ambit_field *ambit_field_create_vector(ambit_grid *g, const char *name, ambit_type type,
                                       int components, ambit_order order)
{
  return g && !ambit__failed(g->context) ? create(g, name, type, components, order, 0) : NULL;
}

ambit_field *ambit_field_create_on(ambit_grid *g, const char *name, ambit_type type, unsigned axes)
{
  return ambit_field_create_vector_on(g, name, type, 1, AMBIT_SOA, axes);
}

ambit_field *ambit_field_create_vector_on(ambit_grid *g, const char *name, ambit_type type,
                                          int components, ambit_order order, unsigned axes)
{
  unsigned dropped = 0;
  ambit_field *f;

  if (!g || ambit__failed(g->context) || ambit__profile_check(g, name, axes, &dropped)) return NULL;
  f = create(g, name, type, components, order, dropped);
  if (f && dropped) g->nested = true; /* copies of its cells stay where they are */
  return f;
}

static void discard(ambit_field *f)
{
  ambit__object_gone(f->grid->context, f);
  for (int i = 0; f->stores && !f->base && i < f->grid->placement.n; i++)
    release(f, i, &f->stores[i]);
  if (f->base) ambit__view_detach(f);
  ambit__list_remove(&f->link);
  free(f->stores);
  for (int i = 0; f->maps && i < f->grid->placement.n; i++)
    free(f->maps[i].staged);
  free(f->maps);
  ambit__faces_forget(f->grid->context, f);
  free(f->special);
  free(f->faces);
  free(f->name);
  free(f);
}

static bool is_in_use(const ambit_field *f)
{
  return ambit__object_check_unused(f->grid->context, f, "field", f->name ? f->name : "") != 0;
}

void ambit_field_destroy(ambit_field *f)
{
  ambit_field *next;

  if (!f || is_in_use(f)) return;
  for (const ambit_field *v = f->views; v; v = v->next_view)
    if (is_in_use(v)) return;
  for (ambit_field *v = f->views; v; v = next) {
    next = v->next_view;
    discard(v);
  }
  discard(f);
}

const char *ambit_field_name(const ambit_field *f)
{
  return f ? f->name : "";
}

ambit_type ambit_field_type(const ambit_field *f)
{
  return f ? f->type : AMBIT_F32;
}

int ambit_field_components(const ambit_field *f)
{
  return f ? f->components : 0;
}

/* ---- margins ---- */

static ambit_status move_values(const ambit_field *f, int part, ambit__store *to,
                                ambit__store *from)
{
  ambit__queue *q = ambit__engine_of(f->grid, part)->queue;
  const ambit__box *own = &from->layout.own;

  return ambit__box_is_empty(own) ? AMBIT_OK : ambit__do(q, copy, to, from, own, NULL);
}

ambit_status ambit__field_widen(ambit_field *f, int part, const int64_t *low, const int64_t *high,
                                bool *changed)
{
  ambit__store *store = &f->stores[part], wider = {.layout = store->layout};
  bool enough = true;
  ambit_status s;

  for (int d = 0; d < f->grid->box.ndims; d++) {
    int64_t *lo = &wider.layout.margin_lo[d], *hi = &wider.layout.margin_hi[d];

    if (*lo < low[d] || *hi < high[d]) enough = false;
    if (*lo < low[d]) *lo = low[d];
    if (*hi < high[d]) *hi = high[d];
  }
  if (enough || !store->buffer) return AMBIT_OK;
  AMBIT_TRY(ambit__store_allocate(f, part, &wider));
  s = move_values(f, part, &wider, store);
  if (s) {
    release(f, part, &wider);
    return s;
  }
  release(f, part, store);
  *store = wider;
  f->ghosts = (ambit__ghosts){0};
  *changed = true;
  return AMBIT_OK;
}

ambit_status ambit__field_copy(ambit_field *to, ambit_field *from)
{
  for (int i = 0; i < from->grid->placement.n; i++)
    AMBIT_TRY(move_values(from, i, &to->stores[i], &from->stores[i]));
  to->ghosts.stale = true;
  return AMBIT_OK;
}
