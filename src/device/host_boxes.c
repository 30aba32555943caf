/* SPDX-License-Identifier: BSD-3-Clause */
/* host_boxes.c - copies boxes of cells between stores and dense arrays in host memory.
 *
 * The components of a cell are one more axis. Every copy is a list of axes, each with a number of
 * values and two strides, one per side. Axes of one value are dropped, the others are sorted by
 * stride, and axes that are contiguous on both sides are merged. This gives the longest runs: whole
 * boxes, planes or rows by memcpy, or the values of a thin face one by one along its longer axis.
 * Only the size of a value matters, not its type.
 */
#include "device/host.h"

#include <assert.h>
#include <string.h>

typedef ambit__host_copy copy;
typedef ambit__host_axis axis;

/* ---- axes ---- */

static bool comes_before(const axis *a, const axis *b)
{
  return a->to + a->from < b->to + b->from;
}

/* Inserts an axis in order. */
static void add_axis(copy *c, axis new)
{
  int i = c->naxes;

  if (new.count == 1) return;
  for (; i > 0 && comes_before(&new, &c->axes[i - 1]); i--)
    c->axes[i] = c->axes[i - 1];
  c->axes[i] = new;
  c->naxes++;
}

static bool continues(const axis *inner, const axis *outer)
{
  return outer->to == inner->to * inner->count && outer->from == inner->from * inner->count;
}

static void join_axes(copy *c)
{
  int n = 0;

  for (int i = 1; i < c->naxes; i++)
    if (continues(&c->axes[n], &c->axes[i]))
      c->axes[n].count *= c->axes[i].count;
    else
      c->axes[++n] = c->axes[i];
  if (c->naxes) c->naxes = n + 1;
}

/* The address of the first value, and the strides between cells and components, in bytes. */
typedef struct place {
  unsigned char *first;
  int64_t step[AMBIT_MAX_DIMS];
  int64_t component;
} place;

static copy copy_of(const ambit__layout *l, const ambit__box *box, const place *to,
                    const place *from)
{
  copy c = {.size = ambit_type_size(l->type), .to = to->first, .from = from->first};

  c.values = ambit__box_volume(box) * l->components;
  if (!c.values) return c;
  add_axis(&c, (axis){l->components, to->component, from->component});
  for (int d = box->ndims - 1; d >= 0; d--)
    add_axis(&c, (axis){box->hi[d] - box->lo[d], to->step[d], from->step[d]});
  join_axes(&c);
  if (!c.naxes) c.axes[c.naxes++] = (axis){1, 0, 0};
  return c;
}

/* ---- addresses ---- */

static place in_store(const ambit__store *s, const ambit__box *box)
{
  const ambit__layout *l = &s->layout;
  const int64_t size = (int64_t)ambit_type_size(l->type);
  place p = {.component = l->component * size};

  assert(ambit__layout_has(l, box));
  p.first = ambit__host_base(s->buffer) + ambit__layout_at(l, box->lo) * size;
  for (int d = 0; d < box->ndims; d++)
    p.step[d] = l->stride[d] * size;
  return p;
}

static place in_array(const ambit__layout *l, const ambit__box *box, void *first)
{
  place p = {.first = first, .component = (int64_t)ambit_type_size(l->type)};
  int64_t step = p.component * l->components;

  for (int d = box->ndims - 1; d >= 0; d--) {
    p.step[d] = step;
    step *= box->hi[d] - box->lo[d];
  }
  return p;
}

copy ambit__host_copy_in(ambit__store *dst, const ambit__box *box, const void *src)
{
  union {
    const void *given;
    void *first; /* only read from */
  } array = {src};
  place to, from;

  if (ambit__box_is_empty(box)) return (copy){0};
  to = in_store(dst, box);
  from = in_array(&dst->layout, box, array.first);
  return copy_of(&dst->layout, box, &to, &from);
}

copy ambit__host_copy_out(void *dst, ambit__store *src, const ambit__box *box)
{
  place to, from;

  if (ambit__box_is_empty(box)) return (copy){0};
  to = in_array(&src->layout, box, dst);
  from = in_store(src, box);
  return copy_of(&src->layout, box, &to, &from);
}

copy ambit__host_copy_lattice(void *dst, ambit__store *src, const ambit__lattice *l)
{
  ambit__box first = src->layout.own, counts = src->layout.own;
  place to, from;

  for (int d = 0; d < first.ndims; d++) {
    first.lo[d] = l->first[d];
    first.hi[d] = l->first[d] + 1;
    counts.lo[d] = 0;
    counts.hi[d] = l->count[d];
  }
  if (ambit__box_is_empty(&counts)) return (copy){0};
  to = in_array(&src->layout, &counts, dst);
  from = in_store(src, &first);
  for (int d = 0; d < first.ndims; d++)
    from.step[d] *= l->step[d];
  return copy_of(&src->layout, &counts, &to, &from);
}

copy ambit__host_copy_of_one(ambit__store *dst, const ambit__box *box, const void *value)
{
  union {
    const void *given;
    void *first; /* only read from */
  } one = {value};
  const place from = {.first = one.first}; /* all strides are 0 */
  place to;

  if (ambit__box_is_empty(box)) return (copy){0};
  to = in_store(dst, box);
  return copy_of(&dst->layout, box, &to, &from);
}

copy ambit__host_copy_across(ambit__store *dst, ambit__store *src, const ambit__box *box,
                             const int64_t *shift)
{
  const ambit__box there = shift ? ambit__box_move(box, shift) : *box;
  place to, from;

  if (ambit__box_is_empty(box)) return (copy){0};
  to = in_store(dst, &there);
  from = in_store(src, box);
  return copy_of(&src->layout, box, &to, &from);
}

/* ---- copying ---- */

/* `rows` runs of n values each, of a size known to the compiler. */
static inline void copy_values(unsigned char *to, const unsigned char *from, const axis *run,
                               const axis *rows, size_t size)
{
  for (int64_t r = 0; r < rows->count; r++, to += rows->to, from += rows->from)
    for (int64_t i = 0; i < run->count; i++)
      memcpy(to + i * run->to, from + i * run->from, size);
}

/* `rows` runs of adjacent equal values, with stores as wide as the compiler can make them. */
#define FILL_ROWS(type)                                                                            \
  do {                                                                                             \
    type value;                                                                                    \
                                                                                                   \
    memcpy(&value, from, sizeof value);                                                            \
    for (int64_t r = 0; r < rows->count; r++) {                                                    \
      type *run_to = (type *)(void *)(to + r * rows->to);                                          \
                                                                                                   \
      for (int64_t i = 0; i < run->count; i++)                                                     \
        run_to[i] = value;                                                                         \
    }                                                                                              \
  } while (0)

static void fill_rows(unsigned char *to, const unsigned char *from, const axis *run,
                      const axis *rows, size_t size)
{
  switch (size) {
  case 1: FILL_ROWS(uint8_t); break;
  case 2: FILL_ROWS(uint16_t); break;
  case 4: FILL_ROWS(uint32_t); break;
  default: FILL_ROWS(uint64_t); break;
  }
}

enum { SHORT = 16 }; /* values of a run that are copied one by one, not by memcpy */

static void copy_rows(unsigned char *to, const unsigned char *from, const axis *run,
                      const axis *rows, size_t size)
{
  const bool contiguous = run->to == (int64_t)size && run->from == (int64_t)size;

  if (contiguous && (run->count > SHORT || rows->count == 1)) {
    for (int64_t r = 0; r < rows->count; r++, to += rows->to, from += rows->from)
      memcpy(to, from, (size_t)run->count * size);
    return;
  }
  if (run->to == (int64_t)size && !run->from && !rows->from) {
    fill_rows(to, from, run, rows, size);
    return;
  }
  switch (size) {
  case 1: copy_values(to, from, run, rows, 1); break;
  case 2: copy_values(to, from, run, rows, 2); break;
  case 4: copy_values(to, from, run, rows, 4); break;
  default: copy_values(to, from, run, rows, 8); break;
  }
}

void ambit__host_copy_run(const copy *c)
{
  static const axis none = {1, 0, 0};
  const axis *rows = c->naxes > 1 ? &c->axes[1] : &none;
  int64_t at[AMBIT_MAX_DIMS + 1] = {0};
  unsigned char *to = c->to;
  const unsigned char *from = c->from;
  int k;

  if (!c->values) return;
  do {
    copy_rows(to, from, &c->axes[0], rows, c->size);
    for (k = 2; k < c->naxes; k++) {
      to += c->axes[k].to;
      from += c->axes[k].from;
      if (++at[k] < c->axes[k].count) break;
      to -= c->axes[k].to * c->axes[k].count;
      from -= c->axes[k].from * c->axes[k].count;
      at[k] = 0;
    }
  } while (k < c->naxes);
}

/* Splits the outermost axis that is long enough for all threads, or else the longest one. */
copy ambit__host_copy_share(const copy *whole, int thread, int threads)
{
  copy c = *whole;
  int cut = c.naxes - 1;
  int64_t first, n;

  if (!c.values) return c;
  for (int k = c.naxes - 1; k >= 0 && c.axes[cut].count < threads; k--)
    if (c.axes[k].count > c.axes[cut].count) cut = k;
  n = c.axes[cut].count;
  first = n * thread / threads;
  c.axes[cut].count = n * (thread + 1) / threads - first;
  c.to += first * c.axes[cut].to;
  c.from += first * c.axes[cut].from;
  c.values = c.values / n * c.axes[cut].count;
  return c;
}

/* The store of a sparse grid; the bytes are only read from, unless cells go out. */
static void copy_runs(ambit__store *store, const ambit__box *box, int way, const void *bytes)
{
  const ambit__host_runs_job job = {
      .way = way, .store = store, .box = box, .dense = (unsigned char *)(uintptr_t)bytes};

  ambit__host_runs_copy(&job, 0, store->layout.active->n);
}

ambit_status ambit__host_write_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                   const void *src)
{
  copy c;

  (void)q;
  if (dst->layout.active) {
    copy_runs(dst, box, AMBIT__RUNS_IN, src);
    return AMBIT_OK;
  }
  c = ambit__host_copy_in(dst, box, src);
  ambit__host_copy_run(&c);
  return AMBIT_OK;
}

ambit_status ambit__host_read_box(ambit__queue *q, void *dst, ambit__store *src,
                                  const ambit__box *box)
{
  copy c;

  (void)q;
  if (src->layout.active) {
    copy_runs(src, box, AMBIT__RUNS_OUT, dst);
    return AMBIT_OK;
  }
  c = ambit__host_copy_out(dst, src, box);
  ambit__host_copy_run(&c);
  return AMBIT_OK;
}

ambit_status ambit__host_read_lattice(ambit__queue *q, void *dst, ambit__store *src,
                                      const ambit__lattice *l)
{
  const copy c = ambit__host_copy_lattice(dst, src, l);

  (void)q;
  ambit__host_copy_run(&c);
  return AMBIT_OK;
}

ambit_status ambit__host_fill_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                  const void *value)
{
  copy c;

  (void)q;
  if (dst->layout.active) {
    copy_runs(dst, box, AMBIT__RUNS_FILL, value);
    return AMBIT_OK;
  }
  c = ambit__host_copy_of_one(dst, box, value);
  ambit__host_copy_run(&c);
  return AMBIT_OK;
}
