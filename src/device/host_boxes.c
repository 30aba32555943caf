/* SPDX-License-Identifier: BSD-3-Clause */
/* host_boxes.c - commands in host memory: copies of boxes, messages and ghost cells.
 *
 * The axes of a patch (device/patches.h) are sorted by stride, and those that are contiguous on
 * both sides then are merged. This gives the longest runs: whole boxes, planes or rows by memcpy,
 * or the values of a thin face one by one along its longer axis. Only the size of a value matters,
 * not its type.
 */
#include "device/host.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef ambit__host_copy copy;
typedef ambit__host_axis axis;

#ifdef __GNUC__
#  define INLINE              static inline __attribute__((always_inline))
#  define PREFETCH(p, writes) __builtin_prefetch(p, writes)
#else
#  define INLINE              static inline
#  define PREFETCH(p, writes) ((void)(p))
#endif

/* ---- axes ---- */

static bool comes_before(const axis *a, const axis *b)
{
  return a->to + llabs(a->from) < b->to + llabs(b->from);
}

/* Inserts an axis in order. */
static void add_axis(copy *c, axis new)
{
  int i = c->naxes++;

  for (; i > 0 && comes_before(&new, &c->axes[i - 1]); i--)
    c->axes[i] = c->axes[i - 1];
  c->axes[i] = new;
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
  c->naxes = n + 1;
}

/* Between two memories. */
static copy copy_of(const ambit__patch *p, const ambit__layout *l, unsigned char *to,
                    const unsigned char *from)
{
  const int64_t size = (int64_t)ambit_type_size(l->type);
  copy c;

  c.size = (size_t)size;
  c.values = p->count;
  if (!c.values) return c;
  c.to = to + p->to * size;
  c.from = from + p->from * size;
  c.flips = p->is_value ? 0 : (uint64_t)p->bits;
  c.naxes = 0;
  for (int k = 0; k < p->naxes; k++)
    add_axis(&c, (axis){p->n[k], p->to_step[k] * size, p->from_step[k] * size});
  if (!c.naxes) add_axis(&c, (axis){1, 0, 0});
  join_axes(&c);
  return c;
}

copy ambit__host_copy_within(ambit__store *store, const ambit__patch *p)
{
  unsigned char *base = ambit__host_base(store->buffer);

  return copy_of(p, &store->layout, base, p->is_value ? (const unsigned char *)&p->bits : base);
}

/* ---- copying ---- */

enum {
  AHEAD = 16, /* rows to prefetch: row ends are too far apart for hardware prefetchers */
  NEAR = 64   /* bytes from value to value: those of a column are further apart */
};

/* `rows` runs of values, of a size known to the compiler. */
INLINE void copy_values(unsigned char *to, const unsigned char *from, const axis *run,
                        const axis *rows, size_t size, uint64_t flips)
{
  const int64_t n = run->count, to_step = run->to, from_step = run->from;
  const bool column = to_step > NEAR;

  for (int64_t r = 0; r < rows->count; r++, to += rows->to, from += rows->from) {
    if (r + AHEAD < rows->count) PREFETCH(to + AHEAD * rows->to, 1);
    for (int64_t i = 0; i < n; i++) {
      uint64_t value = 0;

      if (column) {
        PREFETCH(to + (i + AHEAD) * to_step, 1);
        PREFETCH(from + (i + AHEAD) * from_step, 0);
      }
      memcpy(&value, from + i * from_step, size);
      value ^= flips;
      memcpy(to + i * to_step, &value, size);
    }
  }
}

INLINE void copy_sized(unsigned char *to, const unsigned char *from, const axis *run,
                       const axis *rows, size_t size, uint64_t flips)
{
  switch (size) {
  case 1: copy_values(to, from, run, rows, 1, flips); break;
  case 2: copy_values(to, from, run, rows, 2, flips); break;
  case 4: copy_values(to, from, run, rows, 4, flips); break;
  default: copy_values(to, from, run, rows, 8, flips); break;
  }
}

/* `rows` runs of adjacent equal values, with stores as wide as the compiler can make them. */
#define FILL_ROWS(type)                                                                            \
  do {                                                                                             \
    const int64_t n = run->count; /* which bytes could change */                                   \
    type value;                                                                                    \
                                                                                                   \
    memcpy(&value, from, sizeof value);                                                            \
    for (int64_t r = 0; r < rows->count; r++) {                                                    \
      type *run_to = (type *)(void *)(to + r * rows->to);                                          \
                                                                                                   \
      for (int64_t i = 0; i < n; i++)                                                              \
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

enum {
  FEW = 4,   /* values of a run: there are more rows, whose values are copied column by column */
  SHORT = 16 /* of a run that are copied one by one, not by memcpy */
};

static void copy_rows(unsigned char *to, const unsigned char *from, const axis *run,
                      const axis *rows, size_t size, uint64_t flips)
{
  const bool contiguous = run->to == (int64_t)size && run->from == (int64_t)size && !flips;

  if (run->count < FEW && rows->count > run->count) { /* columns */
    const axis *short_ = run;

    run = rows;
    rows = short_;
  } else if (contiguous && (run->count > SHORT || rows->count == 1)) {
    for (int64_t r = 0; r < rows->count; r++, to += rows->to, from += rows->from)
      memcpy(to, from, (size_t)run->count * size);
    return;
  }
  if (run->to == (int64_t)size && !run->from && !rows->from && !flips) {
    fill_rows(to, from, run, rows, size);
    return;
  }
  if (flips)
    copy_sized(to, from, run, rows, size, flips);
  else
    copy_sized(to, from, run, rows, size, 0);
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
    copy_rows(to, from, &c->axes[0], rows, c->size, c->flips);
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

/* ---- threads ---- */

static void divide(const ambit__queue *q, int64_t values, ambit__team_work work, void *arg)
{
  if (q && q->device->divide)
    q->device->divide(q->device, values, work, arg);
  else
    work(arg, 0, 1);
}

static void copy_share(void *arg, int thread, int threads)
{
  const copy mine = ambit__host_copy_share(arg, thread, threads);

  ambit__host_copy_run(&mine);
}

static ambit_status run_copy(const ambit__queue *q, copy c)
{
  divide(q, c.values, copy_share, &c);
  return AMBIT_OK;
}

/* A share of the runs of a sparse grid. */
static void copy_runs(void *arg, int thread, int threads)
{
  const ambit__host_runs_job *job = arg;
  const int64_t n = job->store->layout.active->n;

  ambit__host_runs_copy(job, n * thread / threads, n * (thread + 1) / threads);
}

/* The store of a sparse grid; the bytes are only read from, unless cells go out. */
static ambit_status run_runs(const ambit__queue *q, ambit__store *store, const ambit__box *box,
                             ambit__runs_way way, const void *bytes)
{
  ambit__host_runs_job job = {
      .way = way, .store = store, .box = box, .dense = (unsigned char *)(uintptr_t)bytes};
  const int64_t stored = store->layout.active->cells, asked = ambit__box_volume(box);

  divide(q, asked < stored ? asked : stored, copy_runs, &job);
  return AMBIT_OK;
}

/* ---- ghost cells ---- */

typedef struct filling {
  const ambit__queue *queue; /* NULL: by the calling thread */
  ambit__store *store;
} filling;

static ambit_status fill_patch(void *user, const ambit__patch *p)
{
  const filling *f = user;

  return run_copy(f->queue, ambit__host_copy_within(f->store, p));
}

/* Cells count as given along axes on which they are in the grid, or stand for themselves. */
static void fill_ghosts(ambit__store *store, const ambit__boundaries *b, const int64_t *extents,
                        const ambit__box *box)
{
  ambit__box given = *box;

  for (int d = 0; d < box->ndims; d++) {
    if (box->hi[d] <= 0 && b->kind[d][0] != AMBIT_NONE) given.lo[d] = box->hi[d];
    if (box->lo[d] >= extents[d] && b->kind[d][1] != AMBIT_NONE) given.hi[d] = box->lo[d];
  }
  ambit__patch_ghosts(&store->layout, b, extents, &given, box, fill_patch, &(filling){NULL, store});
}

void ambit__host_ghost_box(const ambit__argument *field, const int64_t *extents,
                           const ambit__box *box)
{
  ambit__store one = *field->store;

  if (!field->special) fill_ghosts(field->store, field->boundaries, extents, box);
  for (int c = 0; field->special && c < field->store->layout.components; c++) {
    one.layout = ambit__layout_slice(&field->store->layout, c, 1);
    fill_ghosts(&one, &field->special[c], extents, box);
  }
}

/* ---- commands ---- */

static ambit_status write_box(const ambit__queue *q, ambit__store *dst, const ambit__box *box,
                              const void *src)
{
  ambit__patch p;

  if (dst->layout.active) return run_runs(q, dst, box, AMBIT__RUNS_IN, src);
  p = ambit__patch_in(&dst->layout, box);
  return run_copy(q, copy_of(&p, &dst->layout, ambit__host_base(dst->buffer), src));
}

/* From a store to an array. */
static ambit_status read_patch(const ambit__queue *q, void *dst, const ambit__store *src,
                               ambit__patch p)
{
  return run_copy(q, copy_of(&p, &src->layout, dst, ambit__host_base(src->buffer)));
}

static ambit_status read_box(const ambit__queue *q, void *dst, ambit__store *src,
                             const ambit__box *box)
{
  if (src->layout.active) return run_runs(q, src, box, AMBIT__RUNS_OUT, dst);
  return read_patch(q, dst, src, ambit__patch_out(&src->layout, box));
}

static ambit_status fill_box(const ambit__queue *q, const ambit__command *c)
{
  ambit__store *dst = c->fill.dst;
  ambit__patch p;

  if (dst->layout.active) return run_runs(q, dst, c->fill.box, AMBIT__RUNS_FILL, c->fill.value);
  p = ambit__patch_fill(&dst->layout, c->fill.box, c->fill.value);
  return run_copy(q, copy_of(&p, &dst->layout, ambit__host_base(dst->buffer), c->fill.value));
}

static ambit_status copy_box(const ambit__queue *q, const ambit__command *c)
{
  ambit__store *dst = c->copy.dst, *src = c->copy.src;
  ambit__patch p;

  if (src->layout.active) {
    ambit__host_copy_runs(dst, src, c->copy.box, NULL);
    return AMBIT_OK;
  }
  p = ambit__patch_across(&dst->layout, &src->layout, c->copy.box, c->copy.shift);
  return run_copy(
      q, copy_of(&p, &dst->layout, ambit__host_base(dst->buffer), ambit__host_base(src->buffer)));
}

/* Without own cells there is nothing to copy. */
static ambit_status ghosts(const ambit__queue *q, const ambit__command *c)
{
  filling f = {q, c->ghosts.store};

  if (ambit__box_is_empty(c->ghosts.given)) return AMBIT_OK;
  return ambit__patch_ghosts(&f.store->layout, c->ghosts.boundaries, c->ghosts.extents,
                             c->ghosts.given, c->ghosts.reach, fill_patch, &f);
}

/* Active cells of a box, to or from a message. */
static ambit_status pack_runs(ambit__store *store, const ambit__box *box, ambit__runs_way way,
                              unsigned char *bytes)
{
  const ambit__host_runs_job job = {
      .way = way, .packed = true, .store = store, .box = box, .dense = bytes};

  ambit__host_runs_copy(&job, 0, store->layout.active->n);
  return AMBIT_OK;
}

static ambit_status pack(const ambit__queue *q, const ambit__command *c)
{
  ambit__store *src = c->pack.src;
  unsigned char *to = c->pack.to->bytes + c->pack.at;

  if (src->layout.active) return pack_runs(src, c->pack.box, AMBIT__RUNS_OUT, to);
  assert(c->pack.at + ambit__layout_box_bytes(&src->layout, c->pack.box) <= c->pack.to->size);
  return read_box(q, to, src, c->pack.box);
}

static ambit_status unpack(const ambit__queue *q, const ambit__command *c)
{
  ambit__store *dst = c->unpack.dst;
  unsigned char *from = c->unpack.from->bytes + c->unpack.at;

  if (dst->layout.active) return pack_runs(dst, c->unpack.box, AMBIT__RUNS_IN, from);
  assert(c->unpack.at + ambit__layout_box_bytes(&dst->layout, c->unpack.box) <=
         c->unpack.from->size);
  return write_box(q, dst, c->unpack.box, from);
}

ambit_status ambit__host_execute(ambit__queue *q, const ambit__command *c)
{
  switch (c->kind) {
  case COMMAND_put:
    assert(c->put.bytes <= c->put.dst->bytes);
    memcpy(ambit__host_base(c->put.dst), c->put.src, c->put.bytes);
    return AMBIT_OK;
  case COMMAND_get:
    assert(c->get.bytes <= c->get.src->bytes);
    memcpy(c->get.dst, ambit__host_base(c->get.src), c->get.bytes);
    return AMBIT_OK;
  case COMMAND_write: return write_box(q, c->write.dst, c->write.box, c->write.src);
  case COMMAND_read: return read_box(q, c->read.dst, c->read.src, c->read.box);
  case COMMAND_lattice:
    return read_patch(q, c->lattice.dst, c->lattice.src,
                      ambit__patch_lattice(&c->lattice.src->layout, c->lattice.lattice));
  case COMMAND_fill: return fill_box(q, c);
  case COMMAND_copy: return copy_box(q, c);
  case COMMAND_update:
    ambit__host_update(c->update.dst, c->update.src, c->update.box, c->update.changed);
    return AMBIT_OK;
  case COMMAND_ghosts: return ghosts(q, c);
  case COMMAND_pack: return pack(q, c);
  case COMMAND_unpack: return unpack(q, c);
  default: return AMBIT_OK;
  }
}
