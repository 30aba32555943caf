/* field.c - values on a grid: their memory, boundaries, and the ways in and out. */
#include "base/memory.h"
#include "base/text.h"
#include "runtime/runtime.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIRST_MARGIN = 2,     /* ghost cells a field is made with: enough for most kernels */
  PIECE_BYTES = 1 << 20 /* of what goes to the device and back at a time */
};

#define ERRORS(f) (&(f)->grid->context->errors)

static const ambit__backend *backend(const ambit_field *f)
{
  return f->grid->context->device->backend;
}

static ambit__queue *queue(const ambit_field *f)
{
  return f->grid->context->queue;
}

static bool failed(const ambit_field *f)
{
  return !f || ambit__failed(f->grid->context);
}

static ambit_status status_of(const ambit_field *f)
{
  return f ? f->grid->context->errors.status : AMBIT_EINVAL;
}

/* ---- memory ---- */

/* "100000x100000": the extents of the grid, each scaled. */
static void print_extents(ambit__text *t, const ambit_grid *g, double scale)
{
  for (int d = 0; d < g->box.ndims; d++)
    ambit__print(t, "%s%.0f", d ? "x" : "", floor((double)g->box.hi[d] * scale));
}

/* Refuses a field that cannot fit, with the largest grid of this shape that would. */
static ambit_status check_memory(ambit_grid *g, const char *name, const ambit__layout *l)
{
  ambit *a = g->context;
  const double gib = 1024.0 * 1024.0 * 1024.0;
  double need = (double)l->bytes, here = need;
  ambit__text t = {0};

  if (a->allocated + l->bytes <= a->memory) return AMBIT_OK;
  for (ambit__link *i = g->fields.next; i->owner; i = i->next)
    here += (double)((ambit_field *)i->owner)->store.layout.bytes;
  print_extents(&t, g, 1);
  ambit__print(
      &t,
      " needs %.2f GiB for field '%s' besides the %.2f GiB of other fields, and the device has "
      "%.2f GiB; with these fields, a grid of about ",
      need / gib, name, (double)a->allocated / gib, (double)a->memory / gib);
  print_extents(&t, g, pow(0.98 * (double)a->memory / here, 1.0 / g->box.ndims));
  ambit__raise(&a->errors, AMBIT_ENOMEM, "a grid of %s cells would fit", t.chars ? t.chars : "");
  ambit__text_free(&t);
  return AMBIT_ENOMEM;
}

static ambit_status allocate(ambit_grid *g, const char *name, ambit__store *store)
{
  ambit *a = g->context;

  AMBIT_CHECK(ambit__layout_make(&store->layout), &a->errors, AMBIT_ENOMEM,
              "field '%s' has more bytes than can be counted", name);
  AMBIT_TRY(check_memory(g, name, &store->layout));
  AMBIT_TRY(
      a->device->backend->alloc(a->device, store->layout.bytes, &store->layout, &store->buffer));
  a->allocated += store->layout.bytes;
  return AMBIT_OK;
}

static void release(ambit *a, ambit__store *store)
{
  if (!store->buffer) return;
  a->device->backend->release(a->device, store->buffer);
  a->allocated -= store->layout.bytes;
  store->buffer = NULL;
}

ambit_field *ambit_field_create(ambit_grid *g, const char *name, ambit_type type)
{
  return ambit_field_create_vector(g, name, type, 1, AMBIT_SOA);
}

static ambit_status check_field(ambit *a, const char *name, ambit_type type, int components,
                                ambit_order order)
{
  AMBIT_CHECK(name && *name, &a->errors, AMBIT_EINVAL, "a field needs a name");
  AMBIT_CHECK(ambit_type_size(type), &a->errors, AMBIT_EINVAL, "field '%s': %d is no value type",
              name, (int)type);
  AMBIT_CHECK(components >= 1 && components <= 4096, &a->errors, AMBIT_EINVAL,
              "field '%s' was asked for with %d components; it must have 1 to 4096", name,
              components);
  AMBIT_CHECK(order == AMBIT_SOA || order == AMBIT_AOS, &a->errors, AMBIT_EINVAL,
              "field '%s': %d is no order; it must be AMBIT_SOA or AMBIT_AOS", name, (int)order);
  return AMBIT_OK;
}

ambit_field *ambit_field_create_vector(ambit_grid *g, const char *name, ambit_type type,
                                       int components, ambit_order order)
{
  ambit *a = g ? g->context : NULL;
  ambit_field *f;
  ambit__layout *l;

  if (!g || ambit__failed(a) || check_field(a, name, type, components, order)) return NULL;
  f = ambit__new(&a->errors, 1, sizeof *f);
  if (!f) return NULL;
  f->grid = g;
  f->name = ambit__strdup(&a->errors, name);
  l = &f->store.layout;
  *l = (ambit__layout){.type = type, .components = components, .own = g->box};
  l->order = components > 1 ? order : AMBIT_SOA;
  for (int d = 0; d < g->box.ndims; d++)
    l->margin_lo[d] = l->margin_hi[d] = FIRST_MARGIN;
  f->boundary_id = ++a->last_id;
  if (!f->name || allocate(g, name, &f->store)) {
    ambit_field_destroy(f);
    return NULL;
  }
  ambit__list_add(&g->fields, &f->link, f);
  return f;
}

void ambit_field_destroy(ambit_field *f)
{
  if (!f) return;
  ambit__programs_forget(f->grid->context, f);
  release(f->grid->context, &f->store);
  ambit__list_remove(&f->link);
  free(f->name);
  free(f);
}

const char *ambit_field_name(const ambit_field *f)
{
  return f ? f->name : "";
}

ambit_type ambit_field_type(const ambit_field *f)
{
  return f ? f->store.layout.type : AMBIT_F32;
}

int ambit_field_components(const ambit_field *f)
{
  return f ? f->store.layout.components : 0;
}

int64_t ambit__field_piece_cells(const ambit_field *f)
{
  const ambit__layout *l = &f->store.layout;
  int64_t n = PIECE_BYTES / ((int64_t)ambit_type_size(l->type) * l->components);
  int64_t all = ambit__box_volume(&f->grid->box);

  return n < 1 ? 1 : n < all ? n : all;
}

void *ambit__field_piece_new(const ambit_field *f)
{
  return ambit__new(ERRORS(f),
                    (size_t)ambit__field_piece_cells(f) * (size_t)f->store.layout.components,
                    ambit_type_size(f->store.layout.type));
}

/* Copies all cells from one store to another of the same field by way of the host. */
static ambit_status move_pieces(ambit_field *f, ambit__store *to, ambit__store *from)
{
  const ambit__box *own = &from->layout.own;
  void *dense = ambit__field_piece_new(f);
  ambit_status s = dense ? AMBIT_OK : AMBIT_ENOMEM;
  ambit__box piece;

  ambit__box_first_piece(own, ambit__field_piece_cells(f), &piece);
  if (!s) do {
      AMBIT_TRY_GOTO(s, backend(f)->read_box(queue(f), dense, from, &piece), done);
      AMBIT_TRY_GOTO(s, backend(f)->write_box(queue(f), to, &piece, dense), done);
    } while (ambit__box_next_piece(own, ambit__field_piece_cells(f), &piece));
done:
  free(dense);
  return s;
}

static ambit_status move_values(ambit_field *f, ambit__store *to, ambit__store *from)
{
  if (!backend(f)->copy_box) return move_pieces(f, to, from);
  return backend(f)->copy_box(queue(f), to, from, &from->layout.own, NULL);
}

ambit_status ambit__field_widen(ambit_field *f, const int64_t *low, const int64_t *high)
{
  ambit__store wider = {.layout = f->store.layout};
  bool enough = true;
  ambit_status s;

  for (int d = 0; d < f->grid->box.ndims; d++) {
    int64_t *lo = &wider.layout.margin_lo[d], *hi = &wider.layout.margin_hi[d];

    if (*lo < low[d] || *hi < high[d]) enough = false;
    if (*lo < low[d]) *lo = low[d];
    if (*hi < high[d]) *hi = high[d];
  }
  if (enough) return AMBIT_OK;
  AMBIT_TRY(allocate(f->grid, f->name, &wider));
  s = move_values(f, &wider, &f->store);
  if (s) {
    release(f->grid->context, &wider);
    return s;
  }
  release(f->grid->context, &f->store);
  f->store = wider;
  f->ghosts = (ambit__ghosts){0};
  return AMBIT_OK;
}

ambit_status ambit__field_copy(ambit_field *to, ambit_field *from)
{
  AMBIT_TRY(move_values(from, &to->store, &from->store));
  to->ghosts.stale = true;
  return AMBIT_OK;
}

/* ---- boundaries ---- */

ambit_status ambit_field_boundary(ambit_field *f, unsigned faces, ambit_boundary kind, double value)
{
  if (failed(f)) return status_of(f);
  AMBIT_CHECK(kind >= AMBIT_NONE && kind <= AMBIT_FIXED, ERRORS(f), AMBIT_EINVAL,
              "field '%s': %d is no boundary", f->name, (int)kind);
  AMBIT_CHECK(faces == AMBIT_ALL_FACES || !(faces >> 2 * f->grid->box.ndims), ERRORS(f),
              AMBIT_EINVAL, "field '%s': the faces 0x%x name an axis beyond the grid's %d", f->name,
              faces, f->grid->box.ndims);
  for (int d = 0; d < f->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++)
      if (faces & AMBIT_FACE(d, side)) {
        f->boundaries.kind[d][side] = kind;
        f->boundaries.value[d][side] = kind == AMBIT_CONSTANT ? value : 0;
      }
  f->boundary_id = ++f->grid->context->last_id;
  for (ambit__link *i = f->grid->programs.next; i->owner; i = i->next)
    ambit__program_unseal(i->owner);
  return AMBIT_OK;
}

/* ---- values ---- */

void ambit__field_changed(ambit_field *f)
{
  f->given = f->news = true;
  f->ghosts.stale = true;
}

/* The box lo..hi of the caller, or of the whole grid where NULL. */
static ambit_status user_box(const ambit_field *f, const int64_t *lo, const int64_t *hi,
                             ambit__box *box)
{
  char asked[160], have[160];

  *box = f->grid->box;
  for (int d = 0; d < box->ndims; d++) {
    if (lo) box->lo[d] = lo[d];
    if (hi) box->hi[d] = hi[d];
  }
  ambit__box_print(box, asked, sizeof asked);
  ambit__box_print(&f->grid->box, have, sizeof have);
  for (int d = 0; d < box->ndims; d++)
    AMBIT_CHECK(box->lo[d] >= 0 && box->lo[d] <= box->hi[d] && box->hi[d] <= f->grid->box.hi[d],
                ERRORS(f), AMBIT_EINVAL, "field '%s': the box %s is not within the grid %s",
                f->name, asked, have);
  return AMBIT_OK;
}

ambit_status ambit_field_write(ambit_field *f, const int64_t *lo, const int64_t *hi,
                               const void *values)
{
  ambit__box box;

  if (failed(f)) return status_of(f);
  AMBIT_CHECK(values, ERRORS(f), AMBIT_EINVAL, "field '%s': the values are NULL", f->name);
  AMBIT_TRY(user_box(f, lo, hi, &box));
  if (ambit__box_is_empty(&box)) return AMBIT_OK;
  ambit__field_changed(f);
  return backend(f)->write_box(queue(f), &f->store, &box, values);
}

ambit_status ambit_field_read(ambit_field *f, const int64_t *lo, const int64_t *hi, void *values)
{
  ambit__box box;

  if (failed(f)) return status_of(f);
  AMBIT_CHECK(values, ERRORS(f), AMBIT_EINVAL, "field '%s': there is nowhere to put the values",
              f->name);
  AMBIT_TRY(user_box(f, lo, hi, &box));
  if (ambit__box_is_empty(&box)) return AMBIT_OK;
  return backend(f)->read_box(queue(f), values, &f->store, &box);
}

/* Values of the cells of a piece, in C order. */
static void fill_piece(const ambit_field *f, const ambit__box *box, ambit_fill_fn fn, void *user,
                       unsigned char *dense)
{
  const ambit_type type = f->store.layout.type;
  const size_t size = ambit_type_size(type);
  const int last = box->ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS];

  ambit__box_first(box, cell);
  do {
    for (cell[last] = box->lo[last]; cell[last] < box->hi[last]; cell[last]++)
      for (int c = 0; c < f->store.layout.components; c++, dense += size)
        ambit__value_store(dense, type, ambit__value_of(fn(cell, c, user), type));
    cell[last] = box->lo[last];
  } while (ambit__box_next_row(box, cell));
}

ambit_status ambit_field_fill(ambit_field *f, ambit_fill_fn fn, void *user)
{
  ambit__box piece;
  unsigned char *dense;
  ambit_status s = AMBIT_OK;

  if (failed(f)) return status_of(f);
  AMBIT_CHECK(fn, ERRORS(f), AMBIT_EINVAL, "field '%s': the function to fill it is NULL", f->name);
  dense = ambit__field_piece_new(f);
  if (!dense) return AMBIT_ENOMEM;
  ambit__field_changed(f);
  ambit__box_first_piece(&f->grid->box, ambit__field_piece_cells(f), &piece);
  do {
    fill_piece(f, &piece, fn, user, dense);
    AMBIT_TRY_GOTO(s, backend(f)->write_box(queue(f), &f->store, &piece, dense), done);
  } while (ambit__box_next_piece(&f->grid->box, ambit__field_piece_cells(f), &piece));
done:
  free(dense);
  return s;
}

static double same_value(const int64_t *index, int component, void *user)
{
  (void)index;
  (void)component;
  return *(const double *)user;
}

ambit_status ambit_field_fill_value(ambit_field *f, double value)
{
  return ambit_field_fill(f, same_value, &value);
}
