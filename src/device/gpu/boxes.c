/* SPDX-License-Identifier: BSD-3-Clause */
/* boxes.c - copies boxes of cells between stores and dense arrays.
 *
 * A box with the same layout in the store as in the dense array is copied directly. Other boxes are
 * gathered or scattered by a kernel on the device, a piece of staging memory at a time.
 */
#include "device/gpu/gpu.h"

#include <assert.h>
#include <string.h>

enum { AXES = AMBIT__PATCH_AXES, MOVE_ARGS = 6 + 3 * AXES };

/* A patch between two memories. */
typedef struct job {
  ambit__patch patch;
  ambit_type type;
  size_t size; /* bytes of a value */
  ambit__gpu_memory *to, *from;
} job;

static job job_of(const ambit__layout *l, ambit__patch p, ambit__gpu_memory *to,
                  ambit__gpu_memory *from)
{
  return (job){p, l->type, ambit_type_size(l->type), to, from};
}

/* A number of each axis; of axes that there are not, 0. */
static int add_numbers(const ambit__patch *p, const int64_t *numbers, ambit__gpu_arg *args, int n)
{
  static const int64_t none = 0;

  for (int k = 0; k < AXES; k++)
    args[n++] = ambit__gpu_arg_number(k < p->naxes ? &numbers[k] : &none);
  return n;
}

/* The arguments of a move: MOVE_ARGS, which refer to the numbers given. */
static void fill_args(const job *j, const int64_t *first, const int64_t *count,
                      ambit__gpu_arg *args)
{
  const ambit__patch *p = &j->patch;
  int n = 0;

  args[n++] = ambit__gpu_arg_memory(j->to);
  args[n++] = ambit__gpu_arg_number(&p->to);
  args[n++] = ambit__gpu_arg_memory(j->from);
  args[n++] = ambit__gpu_arg_number(&p->from);
  args[n++] = ambit__gpu_arg_number(first);
  args[n++] = ambit__gpu_arg_number(count);
  n = add_numbers(p, p->n, args, n);
  n = add_numbers(p, p->to_step, args, n);
  add_numbers(p, p->from_step, args, n);
}

static ambit_status move(ambit__gpu_lane *lane, const job *j, int64_t first, int64_t count)
{
  ambit__gpu_arg args[MOVE_ARGS];
  ambit__gpu_moves *moves;

  if (!count) return AMBIT_OK;
  AMBIT_TRY(ambit__gpu_moves_get(lane->device, j->type, KIT_BOXES, &moves));
  fill_args(j, &first, &count, args);
  return ambit__gpu_moves_run(lane, moves->move, count, MOVE_ARGS, args);
}

/* The values that fit in a piece of staging memory, or those that remain. */
static int64_t part_of(const job *j, int64_t first)
{
  int64_t most = AMBIT__STAGE_BYTES / (int64_t)j->size, left = j->patch.count - first;

  return left < most ? left : most;
}

/* ---- in ---- */

static ambit_status write_dense(ambit__gpu_lane *lane, ambit__store *dst, const ambit__box *box,
                                const void *src)
{
  const ambit__gpu_driver *driver = lane->driver;
  job j = job_of(&dst->layout, ambit__patch_in(&dst->layout, box),
                 ambit__gpu_memory_of(dst->buffer), NULL);
  const bool dense = ambit__patch_is_dense(&j.patch);
  ambit__gpu_staging *staging;

  for (int64_t first = 0, n; first < j.patch.count; first += n) {
    size_t bytes = (size_t)(n = part_of(&j, first)) * j.size;

    AMBIT_TRY(ambit__gpu_staging_take(lane, !dense, &staging));
    memcpy(staging->host, (const char *)src + (size_t)first * j.size, bytes);
    if (dense) {
      AMBIT_TRY(driver->copy_in(lane->queue, j.to, (size_t)(j.patch.to + first) * j.size,
                                staging->host, bytes));
    } else {
      j.from = staging->device;
      j.patch.from = -first;
      AMBIT_TRY(driver->copy_in(lane->queue, staging->device, 0, staging->host, bytes));
      AMBIT_TRY(move(lane, &j, first, n));
    }
    AMBIT_TRY(ambit__gpu_staging_pass(lane, staging));
  }
  return AMBIT_OK;
}

/* The axis along which values are set: the one with the smallest step, if it is long enough. */
static int run_axis(const ambit__patch *p)
{
  enum { ENOUGH = 32 };
  int best = 0;

  for (int k = 1; k < p->naxes; k++) {
    const bool enough = p->n[k] >= ENOUGH, had = p->n[best] >= ENOUGH;

    if (enough && had ? p->to_step[k] < p->to_step[best] : p->n[k] > p->n[best]) best = k;
  }
  return best;
}

static ambit_status fill_dense(ambit__gpu_lane *lane, ambit__store *dst, const ambit__box *box,
                               const void *value)
{
  const ambit__patch p = ambit__patch_fill(&dst->layout, box, value);
  const int run = run_axis(&p);
  const int64_t length = p.naxes ? p.n[run] : 1, step = p.naxes ? p.to_step[run] : 0, none = 0;
  const int64_t chunks = (length + AMBIT__FILL_CHUNK - 1) / AMBIT__FILL_CHUNK;
  const int64_t units = p.count / (length ? length : 1) * chunks;
  ambit__gpu_arg args[6 + 2 * (AXES - 1)];
  ambit__gpu_moves *moves;
  int n = 6;

  if (!p.count) return AMBIT_OK;
  AMBIT_TRY(ambit__gpu_moves_get(lane->device, dst->layout.type, KIT_BOXES, &moves));
  for (int k = 0; k < AXES; k++) {
    if (k == run) continue;
    args[n + AXES - 1] = ambit__gpu_arg_number(k < p.naxes ? &p.to_step[k] : &none);
    args[n++] = ambit__gpu_arg_number(k < p.naxes ? &p.n[k] : &none);
  }
  args[0] = ambit__gpu_arg_memory(ambit__gpu_memory_of(dst->buffer));
  args[1] = ambit__gpu_arg_number(&p.to);
  args[2] = ambit__gpu_arg_number(&p.bits);
  args[3] = ambit__gpu_arg_number(&length);
  args[4] = ambit__gpu_arg_number(&step);
  args[5] = ambit__gpu_arg_number(&units);
  return ambit__gpu_moves_run(lane, moves->fill, units * AMBIT__MOVE_THREADS, n + AXES - 1, args);
}

/* ---- out ---- */

/* Maxima along an axis. */
typedef struct projection {
  int64_t planes, apart; /* of it: cells, and their distance in values */
  int64_t components;    /* 1 or more: of norms; 0: of each component */
  int64_t component;     /* distance in values */
} projection;

/* As the kernels of prelude/most.h count them. */
static int64_t kind_of(ambit_type type)
{
  return ambit__type_is_real(type) ? 2 : ambit__type_is_unsigned(type) ? 0 : 1;
}

static ambit_status project(ambit__gpu_lane *lane, const job *j, int64_t first, int64_t count,
                            const projection *x)
{
  const int64_t kind = kind_of(j->type), infinity = ambit__type_infinity(j->type);
  ambit__gpu_arg args[MOVE_ARGS + 4];
  ambit__gpu_moves *moves;

  AMBIT_TRY(ambit__gpu_moves_get(lane->device, j->type, KIT_MOST, &moves));
  fill_args(j, &first, &count, args);
  args[MOVE_ARGS] = ambit__gpu_arg_number(&x->planes);
  args[MOVE_ARGS + 1] = ambit__gpu_arg_number(&x->apart);
  args[MOVE_ARGS + 2] = ambit__gpu_arg_number(x->components ? &x->components : &kind);
  args[MOVE_ARGS + 3] = ambit__gpu_arg_number(x->components ? &x->component : &infinity);
  return ambit__gpu_moves_run(lane, x->components ? moves->most_norm : moves->most, count,
                              MOVE_ARGS + 4, args);
}

/* Starts the copy of a part. */
static ambit_status send(ambit__gpu_lane *lane, job *j, bool dense, const projection *x,
                         int64_t first, ambit__gpu_staging **staging)
{
  const ambit__gpu_driver *driver = lane->driver;
  const int64_t n = part_of(j, first);
  const size_t bytes = (size_t)n * j->size;

  AMBIT_TRY(ambit__gpu_staging_take(lane, !dense, staging));
  if (dense) {
    AMBIT_TRY(driver->copy_out(lane->queue, (*staging)->host, j->from,
                               (size_t)(j->patch.from + first) * j->size, bytes));
  } else {
    j->to = (*staging)->device;
    j->patch.to = -first;
    AMBIT_TRY(x ? project(lane, j, first, n, x) : move(lane, j, first, n));
    AMBIT_TRY(driver->copy_out(lane->queue, (*staging)->host, (*staging)->device, 0, bytes));
  }
  return ambit__gpu_staging_pass(lane, *staging);
}

/* From a store to an array. x is NULL, or a projection. */
static ambit_status read_patch(ambit__gpu_lane *lane, void *dst, const ambit__store *src,
                               ambit__patch p, const projection *x)
{
  job j = job_of(&src->layout, p, NULL, ambit__gpu_memory_of(src->buffer));
  const bool dense = !x && ambit__patch_is_dense(&p);
  ambit__gpu_staging *pieces[AMBIT__GPU_STAGING];
  int64_t sent = 0;

  for (int64_t first = 0, part = 0; first < p.count; part++) {
    int64_t n = part_of(&j, first);

    for (; sent < part + AMBIT__GPU_STAGING && sent * part_of(&j, 0) < p.count; sent++)
      AMBIT_TRY(
          send(lane, &j, dense, x, sent * part_of(&j, 0), &pieces[sent % AMBIT__GPU_STAGING]));
    AMBIT_TRY(lane->driver->event_sync(pieces[part % AMBIT__GPU_STAGING]->done));
    memcpy((char *)dst + (size_t)first * j.size, pieces[part % AMBIT__GPU_STAGING]->host,
           (size_t)n * j.size);
    first += n;
  }
  return AMBIT_OK;
}

ambit_status ambit__gpu_lattice(ambit__gpu_lane *lane, const ambit__command *c)
{
  const ambit__store *src = c->lattice.src;

  return read_patch(lane, c->lattice.dst, src,
                    ambit__patch_lattice(&src->layout, c->lattice.lattice), NULL);
}

ambit_status ambit__gpu_most(ambit__gpu_lane *lane, const ambit__command *c)
{
  const int axis = c->most.axis;
  ambit__layout layout = c->most.src->layout;
  ambit__lattice rest = *c->most.lattice;
  projection x = {.planes = rest.count[axis], .apart = layout.stride[axis] * rest.step[axis]};

  rest.count[axis] = 1;
  if (c->most.norm) {
    x.components = layout.components;
    x.component = layout.component;
    layout.components = 1;
  }
  return read_patch(lane, c->most.dst, c->most.src, ambit__patch_lattice(&layout, &rest), &x);
}

/* ---- across ---- */

static job job_across(ambit__store *dst, ambit__store *src, const ambit__box *box,
                      const int64_t *shift)
{
  return job_of(&dst->layout, ambit__patch_across(&dst->layout, &src->layout, box, shift),
                ambit__gpu_memory_of(dst->buffer), ambit__gpu_memory_of(src->buffer));
}

/* Copies, and sets lane->changed if that changes a value. */
static ambit_status update_dense(ambit__gpu_lane *lane, ambit__store *dst, ambit__store *src,
                                 const ambit__box *box)
{
  const job j = job_across(dst, src, box, NULL);
  const int64_t first = 0, infinity = ambit__type_infinity(j.type);
  ambit__gpu_arg args[MOVE_ARGS + 2];
  ambit__gpu_moves *moves;

  AMBIT_TRY(ambit__gpu_moves_get(lane->device, j.type, KIT_BOXES, &moves));
  fill_args(&j, &first, &j.patch.count, args);
  args[MOVE_ARGS] = ambit__gpu_arg_number(&infinity);
  args[MOVE_ARGS + 1] = ambit__gpu_arg_memory(lane->changed);
  return ambit__gpu_moves_run(lane, moves->update, j.patch.count, MOVE_ARGS + 2, args);
}

/* ---- dense or sparse ---- */

ambit_status ambit__gpu_write(ambit__gpu_lane *lane, const ambit__command *c)
{
  if (!c->write.dst->layout.active)
    return write_dense(lane, c->write.dst, c->write.box, c->write.src);
  return ambit__gpu_runs_move(lane, c->write.dst, c->write.box,
                              (unsigned char *)(uintptr_t)c->write.src /* only read from */, true);
}

ambit_status ambit__gpu_read(ambit__gpu_lane *lane, const ambit__command *c)
{
  const ambit__store *src = c->read.src;

  if (!src->layout.active)
    return read_patch(lane, c->read.dst, src, ambit__patch_out(&src->layout, c->read.box), NULL);
  return ambit__gpu_runs_move(lane, src, c->read.box, c->read.dst, false);
}

ambit_status ambit__gpu_fill(ambit__gpu_lane *lane, const ambit__command *c)
{
  if (!c->fill.dst->layout.active) return fill_dense(lane, c->fill.dst, c->fill.box, c->fill.value);
  return ambit__gpu_runs_fill_box(lane, c->fill.dst, c->fill.box, c->fill.value);
}

ambit_status ambit__gpu_copy(ambit__gpu_lane *lane, const ambit__command *c)
{
  ambit__store *dst = c->copy.dst, *src = c->copy.src;
  job j;

  assert(dst->layout.type == src->layout.type && dst->layout.components == src->layout.components);
  if (src->layout.active) return ambit__gpu_runs_copy(lane, dst, src, c->copy.box, NULL);
  j = job_across(dst, src, c->copy.box, c->copy.shift);
  return move(lane, &j, 0, j.patch.count);
}

ambit_status ambit__gpu_update(ambit__gpu_lane *lane, const ambit__command *c)
{
  ambit__store *dst = c->update.dst, *src = c->update.src;
  const ambit__box *box = c->update.box;
  int64_t number;

  if (ambit__box_is_empty(box)) return AMBIT_OK;
  if (!lane->changed)
    AMBIT_TRY(lane->driver->alloc(lane->device->gpu, sizeof number, &lane->changed));
  AMBIT_TRY(lane->driver->zero(lane->queue, lane->changed, 0, sizeof number));
  AMBIT_TRY(dst->layout.active ? ambit__gpu_runs_copy(lane, dst, src, box, lane->changed)
                               : update_dense(lane, dst, src, box));
  AMBIT_TRY(ambit__gpu_fetch(lane, &number, lane->changed, sizeof number));
  *c->update.changed |= number != 0;
  return AMBIT_OK;
}

/* ---- for messages ---- */

int64_t ambit__gpu_dense_place(const ambit__store *s, const ambit__box *box)
{
  const ambit__patch p = ambit__patch_out(&s->layout, box);

  return ambit__patch_is_dense(&p) ? p.from : -1;
}

ambit_status ambit__gpu_gather(ambit__gpu_lane *lane, ambit__gpu_memory *to, int64_t first,
                               const ambit__store *from, const ambit__box *box)
{
  job j = job_of(&from->layout, ambit__patch_out(&from->layout, box), to,
                 ambit__gpu_memory_of(from->buffer));

  j.patch.to = first;
  return move(lane, &j, 0, j.patch.count);
}

ambit_status ambit__gpu_scatter(ambit__gpu_lane *lane, const ambit__store *to,
                                const ambit__box *box, ambit__gpu_memory *from, int64_t first)
{
  job j = job_of(&to->layout, ambit__patch_in(&to->layout, box), ambit__gpu_memory_of(to->buffer),
                 from);

  j.patch.from = first;
  return move(lane, &j, 0, j.patch.count);
}

/* ---- single values ---- */

ambit_status ambit__gpu_put(ambit__gpu_lane *lane, const ambit__command *c)
{
  ambit__gpu_memory *to = ambit__gpu_memory_of(c->put.dst);
  ambit__gpu_staging *staging;

  assert(c->put.bytes <= c->put.dst->bytes && c->put.bytes <= AMBIT__STAGE_BYTES);
  AMBIT_TRY(ambit__gpu_staging_take(lane, false, &staging));
  memcpy(staging->host, c->put.src, c->put.bytes);
  AMBIT_TRY(lane->driver->copy_in(lane->queue, to, 0, staging->host, c->put.bytes));
  return ambit__gpu_staging_pass(lane, staging);
}

ambit_status ambit__gpu_get(ambit__gpu_lane *lane, const ambit__command *c)
{
  assert(c->get.bytes <= c->get.src->bytes);
  return ambit__gpu_fetch(lane, c->get.dst, ambit__gpu_memory_of(c->get.src), c->get.bytes);
}
