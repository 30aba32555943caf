/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.c - copies the active cells of boxes on sparse grids: in, out, across, and to messages.
 *
 * The cells of a box are a list of segments of runs. A kernel (codegen/prelude/runs.h) copies them
 * all at once; it finds the list in device memory. Lists that are used again and again, those of
 * messages and batches, stay there; others go through staging memory, in pieces, with the values
 * that come from or go to the host behind them.
 */
#include "device/gpu/gpu.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
  WORDS = 3,            /* of a segment */
  MOST_CELLS = 1024,    /* of a segment */
  LIST_BYTES = 2 << 20, /* of a piece, for segments; the rest has values */
  VALUE_BYTES = AMBIT__STAGE_BYTES - LIST_BYTES,
  MOST_SEGMENTS = LIST_BYTES / (WORDS * (int)sizeof(int32_t)),
  THREADS_PER_SEGMENT = 16
};

/* ---- lists of segments ---- */

void ambit__gpu_list_free(ambit__gpu_list *l)
{
  free(l->segments);
  free(l->dense);
  *l = (ambit__gpu_list){0};
}

ambit_status ambit__gpu_list_add(ambit__errors *errors, ambit__gpu_list *l, int64_t to,
                                 int64_t from, int64_t n)
{
  for (int64_t done = 0; done < n; done += MOST_CELLS) {
    int32_t *segments =
        ambit__add(errors, &l->segments, (size_t)l->n, &l->cap, WORDS * sizeof *segments);

    if (!segments) return AMBIT_ENOMEM;
    l->n++;
    segments[0] = (int32_t)(to + done);
    segments[1] = (int32_t)(from + done);
    segments[2] = (int32_t)(n - done < MOST_CELLS ? n - done : MOST_CELLS);
  }
  return AMBIT_OK;
}

/* Notes the places in a dense array of the segments from `first` on, which are of one row. */
static ambit_status note_dense(ambit__errors *errors, ambit__gpu_list *l, int64_t first, int64_t at)
{
  for (int64_t i = first; i < l->n; at += l->segments[WORDS * i++ + 2]) {
    AMBIT_TRY(ambit__make_room(errors, &l->dense, (size_t)i, &l->dense_cap, sizeof *l->dense));
    l->dense[i] = at;
  }
  return AMBIT_OK;
}

static int64_t position(const ambit__active *a, int64_t run, int64_t x)
{
  return a->runs[run].at + x - a->runs[run].lo;
}

/* The active cells of a box: from a store to a packed array, or back (`in`). */
static ambit_status list_box(ambit__errors *errors, const ambit__active *a, const ambit__box *box,
                             bool in, ambit__gpu_list *l)
{
  const int last = box->ndims - 1;
  int64_t i = 0;
  ambit__box row;

  while (ambit__active_next(a, box, &i, &row)) {
    const int64_t at = position(a, i - 1, row.lo[last]), n = row.hi[last] - row.lo[last];
    const int64_t first = l->n;

    AMBIT_TRY(ambit__gpu_list_add(errors, l, in ? at : l->cells, in ? l->cells : at, n));
    AMBIT_TRY(note_dense(errors, l, first, ambit__box_number(box, row.lo)));
    l->cells += n;
  }
  return AMBIT_OK;
}

/* The active cells of a box that are in two stores. */
static ambit_status list_across(ambit__errors *errors, const ambit__active *to,
                                const ambit__active *from, const ambit__box *box,
                                ambit__gpu_list *l)
{
  ambit__common c = {.to = to, .from = from, .box = box};

  while (ambit__common_next(&c))
    AMBIT_TRY(ambit__gpu_list_add(errors, l, c.to_at, c.from_at, c.n));
  return AMBIT_OK;
}

/* ---- the kernel ---- */

/* Where cells are: in a store, or packed. In values. */
typedef struct place {
  const ambit__gpu_memory *memory;
  int64_t base, step, apart;
} place;

typedef struct copy {
  place to, from;
  ambit_type type;
  int64_t components;
  int64_t is_value, value;          /* its bits */
  const ambit__gpu_memory *changed; /* NULL: values are not compared */
} copy;

static place place_of(const ambit__store *s)
{
  return (place){.memory = ambit__gpu_memory_of(s->buffer),
                 .base = s->layout.origin,
                 .step = s->layout.stride[s->layout.own.ndims - 1],
                 .apart = s->layout.component};
}

static copy copy_between(const ambit__store *to, const ambit__store *from)
{
  return (copy){.to = place_of(to),
                .from = place_of(from),
                .type = to->layout.type,
                .components = to->layout.components};
}

/* Packed cells from a value of the memory on. */
static place packed_at(const ambit__gpu_memory *memory, int64_t base, int64_t components)
{
  return (place){.memory = memory, .base = base, .step = components, .apart = 1};
}

static ambit_status run(ambit__gpu_lane *lane, const copy *c, const ambit__gpu_memory *segments,
                        int64_t n)
{
  const int64_t infinity = ambit__type_infinity(c->type);
  const ambit__gpu_arg args[] = {
      ambit__gpu_arg_memory(c->to.memory),
      ambit__gpu_arg_number(&c->to.base),
      ambit__gpu_arg_number(&c->to.step),
      ambit__gpu_arg_number(&c->to.apart),
      ambit__gpu_arg_memory(c->is_value ? c->to.memory : c->from.memory),
      ambit__gpu_arg_number(&c->from.base),
      ambit__gpu_arg_number(&c->from.step),
      ambit__gpu_arg_number(&c->from.apart),
      ambit__gpu_arg_memory(segments),
      ambit__gpu_arg_number(&n),
      ambit__gpu_arg_number(&c->components),
      ambit__gpu_arg_number(&c->is_value),
      ambit__gpu_arg_number(&c->value),
      ambit__gpu_arg_number(&infinity),
      c->changed ? ambit__gpu_arg_memory(c->changed) : ambit__gpu_arg_none(),
  };
  ambit__gpu_moves *moves;

  if (!n) return AMBIT_OK;
  AMBIT_TRY(ambit__gpu_moves_get(lane->device, c->type, KIT_RUNS, &moves));
  return ambit__gpu_moves_run(lane, moves->runs, n * THREADS_PER_SEGMENT,
                              (int)(sizeof args / sizeof *args), args);
}

/* ---- through staging memory ---- */

/* The number of segments from `first` on whose list and values fit into a staging; and of cells. */
static int64_t count_piece(const ambit__gpu_list *l, int64_t first, int64_t cell_bytes,
                           int64_t *cells)
{
  int64_t i = first;

  for (*cells = 0; i < l->n && i - first < MOST_SEGMENTS; i++) {
    const int64_t n = l->segments[WORDS * i + 2];

    if ((*cells + n) * cell_bytes > VALUE_BYTES) break;
    *cells += n;
  }
  return i - first;
}

/* Values of a piece between a dense array and the packed values of a staging. */
static void copy_dense(const ambit__gpu_list *l, int64_t first, int64_t n, size_t cell,
                       unsigned char *dense, unsigned char *packed, bool in)
{
  for (int64_t i = first; i < first + n; i++) {
    const size_t bytes = (size_t)l->segments[WORDS * i + 2] * cell;
    unsigned char *there = dense + (size_t)l->dense[i] * cell;

    if (in)
      memcpy(packed, there, bytes);
    else
      memcpy(there, packed, bytes);
    packed += bytes;
  }
}

/* Puts some segments into a staging. */
static ambit_status send_list(ambit__gpu_lane *lane, const ambit__gpu_list *l, int64_t first,
                              int64_t n, ambit__gpu_staging **staging)
{
  const ambit__gpu_driver *driver = lane->driver;
  const size_t bytes = (size_t)n * WORDS * sizeof *l->segments;

  AMBIT_TRY(ambit__gpu_staging_take(lane, true, staging));
  memcpy((*staging)->host, l->segments + WORDS * first, bytes);
  return driver->copy_in(lane->queue, (*staging)->device, 0, (*staging)->host, bytes);
}

/* Runs a copy within the device on all segments. */
static ambit_status run_list(ambit__gpu_lane *lane, const copy *c, const ambit__gpu_list *l)
{
  ambit__gpu_staging *staging;

  for (int64_t first = 0, n; first < l->n; first += n) {
    n = l->n - first < MOST_SEGMENTS ? l->n - first : MOST_SEGMENTS;
    AMBIT_TRY(send_list(lane, l, first, n, &staging));
    AMBIT_TRY(run(lane, c, staging->device, n));
    AMBIT_TRY(ambit__gpu_staging_pass(lane, staging));
  }
  return AMBIT_OK;
}

/* One piece of a box, in or out. `cells` of its packed array were in earlier pieces. */
static ambit_status move_piece(ambit__gpu_lane *lane, const ambit__store *store,
                               const ambit__gpu_list *l, int64_t first, int64_t n, int64_t cells,
                               int64_t earlier, unsigned char *dense, bool in)
{
  const ambit__gpu_driver *driver = lane->driver;
  const int64_t components = store->layout.components;
  const size_t size = ambit_type_size(store->layout.type), cell = size * (size_t)components;
  copy c = {.type = store->layout.type, .components = components};
  ambit__gpu_staging *staging;
  place packed;

  AMBIT_TRY(send_list(lane, l, first, n, &staging));
  packed =
      packed_at(staging->device, LIST_BYTES / (int64_t)size - earlier * components, components);
  c.to = in ? place_of(store) : packed;
  c.from = in ? packed : place_of(store);
  if (in) {
    copy_dense(l, first, n, cell, dense, staging->host + LIST_BYTES, true);
    AMBIT_TRY(driver->copy_in(lane->queue, staging->device, LIST_BYTES, staging->host + LIST_BYTES,
                              (size_t)cells * cell));
  }
  AMBIT_TRY(run(lane, &c, staging->device, n));
  if (!in)
    AMBIT_TRY(driver->copy_out(lane->queue, staging->host + LIST_BYTES, staging->device, LIST_BYTES,
                               (size_t)cells * cell));
  AMBIT_TRY(ambit__gpu_staging_pass(lane, staging));
  if (in) return AMBIT_OK;
  AMBIT_TRY(driver->event_sync(staging->done));
  copy_dense(l, first, n, cell, dense, staging->host + LIST_BYTES, false);
  return AMBIT_OK;
}

ambit_status ambit__gpu_runs_move(ambit__gpu_lane *lane, const ambit__store *store,
                                  const ambit__box *box, unsigned char *dense, bool in)
{
  const int64_t cell = store->layout.components * (int64_t)ambit_type_size(store->layout.type);
  ambit__gpu_list list = {0};
  ambit_status s = list_box(lane->head.device->errors, store->layout.active, box, in, &list);

  for (int64_t first = 0, earlier = 0, n, cells; !s && first < list.n;) {
    n = count_piece(&list, first, cell, &cells);
    s = move_piece(lane, store, &list, first, n, cells, earlier, dense, in);
    first += n;
    earlier += cells;
  }
  ambit__gpu_list_free(&list);
  return s;
}

/* One value for all cells. */
static copy fill_with(const ambit__store *store, const void *value)
{
  copy c = {.to = place_of(store),
            .type = store->layout.type,
            .components = store->layout.components,
            .is_value = 1};

  memcpy(&c.value, value, ambit_type_size(c.type));
  return c;
}

ambit_status ambit__gpu_runs_fill(ambit__gpu_lane *lane, const ambit__store *store,
                                  const ambit__gpu_list *l, const void *value)
{
  const copy c = fill_with(store, value);

  return run_list(lane, &c, l);
}

ambit_status ambit__gpu_runs_fill_box(ambit__gpu_lane *lane, const ambit__store *store,
                                      const ambit__box *box, const void *value)
{
  ambit__gpu_list list = {0};
  ambit_status s = list_box(lane->head.device->errors, store->layout.active, box, true, &list);

  if (!s) s = ambit__gpu_runs_fill(lane, store, &list, value);
  ambit__gpu_list_free(&list);
  return s;
}

ambit_status ambit__gpu_runs_copy(ambit__gpu_lane *lane, const ambit__store *to,
                                  const ambit__store *from, const ambit__box *box,
                                  const ambit__gpu_memory *changed)
{
  copy c = copy_between(to, from);
  ambit__gpu_list list = {0};
  ambit_status s =
      list_across(lane->head.device->errors, to->layout.active, from->layout.active, box, &list);

  c.changed = changed;
  if (!s) s = run_list(lane, &c, &list);
  ambit__gpu_list_free(&list);
  return s;
}

/* ---- lists that stay ---- */

void ambit__gpu_kept_free(ambit__gpu_device *d, ambit__gpu_kept *k)
{
  if (k->memory) d->driver->release(k->memory);
  *k = (ambit__gpu_kept){0};
}

static ambit_status keep(ambit__gpu_device *d, ambit__gpu_list *l, ambit_status s,
                         ambit__gpu_kept *k)
{
  k->n = l->n;
  if (!s && l->n)
    s = ambit__gpu_upload(d, l->segments, (size_t)l->n * WORDS * sizeof *l->segments, &k->memory);
  ambit__gpu_list_free(l);
  return s;
}

ambit_status ambit__gpu_keep_box(ambit__gpu_device *d, const ambit__active *a,
                                 const ambit__box *box, bool in, ambit__gpu_kept *k)
{
  ambit__gpu_list list = {0};

  return keep(d, &list, list_box(d->head.errors, a, box, in, &list), k);
}

ambit_status ambit__gpu_keep_across(ambit__gpu_device *d, const ambit__active *to,
                                    const ambit__active *from, const ambit__box *box,
                                    ambit__gpu_kept *k)
{
  ambit__gpu_list list = {0};

  return keep(d, &list, list_across(d->head.errors, to, from, box, &list), k);
}

ambit_status ambit__gpu_kept_pack(ambit__gpu_lane *lane, const ambit__gpu_kept *k,
                                  const ambit__store *store, ambit__gpu_memory *packed,
                                  int64_t first, bool in)
{
  const place there = packed_at(packed, first, store->layout.components);
  const copy c = {.to = in ? place_of(store) : there,
                  .from = in ? there : place_of(store),
                  .type = store->layout.type,
                  .components = store->layout.components};

  return run(lane, &c, k->memory, k->n);
}

ambit_status ambit__gpu_kept_copy(ambit__gpu_lane *lane, const ambit__gpu_kept *k,
                                  const ambit__store *to, const ambit__store *from)
{
  const copy c = copy_between(to, from);

  return run(lane, &c, k->memory, k->n);
}

ambit_status ambit__gpu_kept_fill(ambit__gpu_lane *lane, const ambit__gpu_kept *k,
                                  const ambit__store *to, const void *value)
{
  const copy c = fill_with(to, value);

  return run(lane, &c, k->memory, k->n);
}
