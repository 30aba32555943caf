/* SPDX-License-Identifier: BSD-3-Clause */
/* boxes.c - copies boxes of cells between stores and dense arrays.
 *
 * A box is a list of axes, innermost first; the components are the first axis, as in a dense array.
 * A box with the same layout in the store as in the dense array is copied directly. Other boxes are
 * gathered or scattered by a kernel on the device, a stage at a time, or, in messages, copied row
 * by row.
 */
#include "device/gpu/gpu.h"

#include <assert.h>
#include <string.h>

enum {
  AXES = AMBIT_MAX_DIMS + 1,
  MOST_PITCH = INT32_MAX /* bytes, the limit of CUDA */
};

/* The addresses of the values of a box: `base` plus the sum over axes of index times step; in
 * values. */
typedef struct place {
  ambit__gpu_memory *memory;
  int64_t base;
  int64_t step[AXES];
} place;

typedef struct box_job {
  ambit_type type;
  size_t size;         /* bytes of a value */
  int64_t count[AXES]; /* values along each axis, innermost first; 1 if there is no axis */
  int64_t total;       /* product of the counts */
} box_job;

static box_job job_of(const ambit__layout *l, const ambit__box *box)
{
  box_job job = {.type = l->type, .size = ambit_type_size(l->type), .total = l->components};

  job.count[0] = l->components;
  for (int k = 1; k < AXES; k++) {
    int d = box->ndims - k;

    job.count[k] = d >= 0 ? box->hi[d] - box->lo[d] : 1;
    job.total *= job.count[k];
  }
  return job;
}

/* Of the box, or of the box at distance `shift`. */
static place place_in_store(const ambit__store *s, const ambit__box *box, const int64_t *shift)
{
  place p = {.memory = ambit__gpu_memory_of(s->buffer),
             .base = ambit__layout_at(&s->layout, box->lo)};

  p.step[0] = s->layout.component;
  for (int d = 0; d < box->ndims; d++) {
    p.step[box->ndims - d] = s->layout.stride[d];
    if (shift) p.base += shift[d] * s->layout.stride[d];
  }
  return p;
}

/* In a dense array whose value 0 is, or would be, value `base` of the memory. */
static place place_in_array(const box_job *job, ambit__gpu_memory *memory, int64_t base)
{
  place p = {.memory = memory, .base = base};
  int64_t step = 1;

  for (int k = 0; k < AXES; k++) {
    p.step[k] = step;
    step *= job->count[k];
  }
  return p;
}

/* Whether the values are contiguous, in the order of a dense array. */
static bool is_dense(const box_job *job, const place *p)
{
  int64_t step = 1;

  for (int k = 0; k < AXES; k++) {
    if (job->count[k] > 1 && p->step[k] != step) return false;
    step *= job->count[k];
  }
  return true;
}

enum { MOVE_ARGS = 6 + 3 * AXES };

/* The arguments of a move: MOVE_ARGS, which refer to the numbers given. */
static void fill_args(const box_job *job, const place *to, const place *from, const int64_t *first,
                      const int64_t *count, ambit__gpu_arg *args)
{
  int n = 0;

  args[n++] = ambit__gpu_arg_memory(to->memory);
  args[n++] = ambit__gpu_arg_number(&to->base);
  args[n++] = ambit__gpu_arg_memory(from->memory);
  args[n++] = ambit__gpu_arg_number(&from->base);
  args[n++] = ambit__gpu_arg_number(first);
  args[n++] = ambit__gpu_arg_number(count);
  for (int k = 0; k < AXES; k++)
    args[n++] = ambit__gpu_arg_number(&job->count[k]);
  for (int k = 0; k < AXES; k++)
    args[n++] = ambit__gpu_arg_number(&to->step[k]);
  for (int k = 0; k < AXES; k++)
    args[n++] = ambit__gpu_arg_number(&from->step[k]);
}

static ambit_status move(ambit__gpu_lane *lane, const box_job *job, const place *to,
                         const place *from, int64_t first, int64_t count)
{
  ambit__gpu_arg args[MOVE_ARGS];
  ambit__gpu_moves *moves;

  AMBIT_TRY(ambit__gpu_moves_get(ambit__gpu_device_of(lane->head.device), job->type, &moves));
  fill_args(job, to, from, &first, &count, args);
  return ambit__gpu_moves_run(lane, moves->move, count, MOVE_ARGS, args);
}

/* The values that fit in a stage, or those that remain. */
static int64_t piece_of(const box_job *job, int64_t first)
{
  int64_t most = AMBIT__STAGE_BYTES / (int64_t)job->size, left = job->total - first;

  return left < most ? left : most;
}

/* ---- in ---- */

static ambit_status write_dense(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                const void *src)
{
  const ambit__gpu_driver *driver = ambit__gpu_device_of(q->device)->driver;
  ambit__gpu_lane *lane = (ambit__gpu_lane *)q;
  const box_job job = job_of(&dst->layout, box);
  const place to = place_in_store(dst, box, NULL);
  const bool dense = is_dense(&job, &to);
  ambit__gpu_stage *stage;

  for (int64_t first = 0, n; first < job.total; first += n) {
    size_t bytes = (size_t)(n = piece_of(&job, first)) * job.size;

    AMBIT_TRY(ambit__gpu_stage_take(lane, !dense, &stage));
    memcpy(stage->host, (const char *)src + (size_t)first * job.size, bytes);
    if (dense) {
      AMBIT_TRY(driver->copy_in(lane->queue, to.memory, (size_t)(to.base + first) * job.size,
                                stage->host, bytes));
    } else {
      const place from = place_in_array(&job, stage->device, -first);

      AMBIT_TRY(driver->copy_in(lane->queue, stage->device, 0, stage->host, bytes));
      AMBIT_TRY(move(lane, &job, &to, &from, first, n));
    }
    AMBIT_TRY(ambit__gpu_stage_pass(lane, stage));
  }
  return AMBIT_OK;
}

/* The axis along which values are set: the one with the smallest step, if it is long enough. */
static int run_axis(const box_job *job, const place *p)
{
  enum { ENOUGH = 32 };
  int best = 0;

  for (int k = 1; k < AXES; k++) {
    const bool enough = job->count[k] >= ENOUGH, had = job->count[best] >= ENOUGH;

    if (enough && had ? p->step[k] < p->step[best] : job->count[k] > job->count[best]) best = k;
  }
  return best;
}

static ambit_status fill_dense(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                               const void *value)
{
  ambit__gpu_lane *lane = (ambit__gpu_lane *)q;
  const box_job job = job_of(&dst->layout, box);
  const place to = place_in_store(dst, box, NULL);
  const int run = run_axis(&job, &to);
  const int64_t chunks = (job.count[run] + AMBIT__FILL_CHUNK - 1) / AMBIT__FILL_CHUNK;
  int64_t bits = 0, units = chunks;
  ambit__gpu_arg args[6 + 2 * (AXES - 1)];
  ambit__gpu_moves *moves;
  int n = 6;

  if (ambit__box_is_empty(box)) return AMBIT_OK;
  AMBIT_TRY(ambit__gpu_moves_get(ambit__gpu_device_of(q->device), job.type, &moves));
  memcpy(&bits, value, job.size);
  for (int k = 0; k < AXES; k++) {
    if (k == run) continue;
    units *= job.count[k];
    args[n + AXES - 1] = ambit__gpu_arg_number(&to.step[k]);
    args[n++] = ambit__gpu_arg_number(&job.count[k]);
  }
  args[0] = ambit__gpu_arg_memory(to.memory);
  args[1] = ambit__gpu_arg_number(&to.base);
  args[2] = ambit__gpu_arg_number(&bits);
  args[3] = ambit__gpu_arg_number(&job.count[run]);
  args[4] = ambit__gpu_arg_number(&to.step[run]);
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

static ambit_status project(ambit__gpu_lane *lane, const box_job *job, const place *to,
                            const place *from, int64_t first, int64_t count, const projection *x)
{
  const int64_t kind = kind_of(job->type), infinity = ambit__type_infinity(job->type);
  ambit__gpu_arg args[MOVE_ARGS + 4];
  ambit__gpu_moves *moves;

  AMBIT_TRY(ambit__gpu_most_get(ambit__gpu_device_of(lane->head.device), job->type, &moves));
  fill_args(job, to, from, &first, &count, args);
  args[MOVE_ARGS] = ambit__gpu_arg_number(&x->planes);
  args[MOVE_ARGS + 1] = ambit__gpu_arg_number(&x->apart);
  args[MOVE_ARGS + 2] = ambit__gpu_arg_number(x->components ? &x->components : &kind);
  args[MOVE_ARGS + 3] = ambit__gpu_arg_number(x->components ? &x->component : &infinity);
  return ambit__gpu_moves_run(lane, x->components ? moves->most_norm : moves->most, count,
                              MOVE_ARGS + 4, args);
}

/* Starts the copy of a piece. */
static ambit_status send(ambit__gpu_lane *lane, const box_job *job, const place *from, bool dense,
                         const projection *x, int64_t first, ambit__gpu_stage **stage)
{
  const ambit__gpu_driver *driver = ambit__gpu_device_of(lane->head.device)->driver;
  const int64_t n = piece_of(job, first);
  const size_t bytes = (size_t)n * job->size;

  AMBIT_TRY(ambit__gpu_stage_take(lane, !dense, stage));
  if (dense) {
    AMBIT_TRY(driver->copy_out(lane->queue, (*stage)->host, from->memory,
                               (size_t)(from->base + first) * job->size, bytes));
  } else {
    const place to = place_in_array(job, (*stage)->device, -first);

    AMBIT_TRY(x ? project(lane, job, &to, from, first, n, x)
                : move(lane, job, &to, from, first, n));
    AMBIT_TRY(driver->copy_out(lane->queue, (*stage)->host, (*stage)->device, 0, bytes));
  }
  return ambit__gpu_stage_pass(lane, *stage);
}

/* x is NULL, or a projection. */
static ambit_status read_job(ambit__queue *q, void *dst, const box_job *job, const place *from,
                             const projection *x)
{
  const ambit__gpu_driver *driver = ambit__gpu_device_of(q->device)->driver;
  ambit__gpu_lane *lane = (ambit__gpu_lane *)q;
  const bool dense = !x && is_dense(job, from);
  ambit__gpu_stage *stages[AMBIT__STAGES];
  int64_t sent = 0;

  for (int64_t first = 0, piece = 0; first < job->total; piece++) {
    int64_t n = piece_of(job, first);

    for (; sent < piece + AMBIT__STAGES && sent * piece_of(job, 0) < job->total; sent++)
      AMBIT_TRY(
          send(lane, job, from, dense, x, sent * piece_of(job, 0), &stages[sent % AMBIT__STAGES]));
    AMBIT_TRY(driver->event_sync(stages[piece % AMBIT__STAGES]->done));
    memcpy((char *)dst + (size_t)first * job->size, stages[piece % AMBIT__STAGES]->host,
           (size_t)n * job->size);
    first += n;
  }
  return AMBIT_OK;
}

static ambit_status read_dense(ambit__queue *q, void *dst, ambit__store *src, const ambit__box *box)
{
  const box_job job = job_of(&src->layout, box);
  const place from = place_in_store(src, box, NULL);

  return read_job(q, dst, &job, &from, NULL);
}

static void lattice_job(const ambit__store *src, const ambit__lattice *l, box_job *job, place *from)
{
  ambit__box first = src->layout.own, counts = src->layout.own;

  for (int d = 0; d < first.ndims; d++) {
    first.lo[d] = l->first[d];
    counts.lo[d] = 0;
    counts.hi[d] = l->count[d];
  }
  *job = job_of(&src->layout, &counts);
  *from = place_in_store(src, &first, NULL);
  for (int d = 0; d < first.ndims; d++)
    from->step[first.ndims - d] *= l->step[d];
}

ambit_status ambit__gpu_read_lattice(ambit__queue *q, void *dst, ambit__store *src,
                                     const ambit__lattice *l)
{
  box_job job;
  place from;

  lattice_job(src, l, &job, &from);
  return read_job(q, dst, &job, &from, NULL);
}

ambit_status ambit__gpu_read_most(ambit__queue *q, void *dst, ambit__store *src,
                                  const ambit__lattice *l, int axis, bool norm)
{
  const int k = src->layout.own.ndims - axis;
  ambit__lattice rest = *l;
  projection x = {.planes = l->count[axis]};
  box_job job;
  place from;

  rest.count[axis] = 1;
  lattice_job(src, &rest, &job, &from);
  x.apart = from.step[k];
  if (norm) {
    x.components = job.count[0];
    x.component = from.step[0];
    job.total /= job.count[0];
    job.count[0] = 1;
  }
  return read_job(q, dst, &job, &from, &x);
}

/* ---- across ---- */

static ambit_status copy_dense(ambit__queue *q, ambit__store *dst, ambit__store *src,
                               const ambit__box *box, const int64_t *shift)
{
  const box_job job = job_of(&dst->layout, box);
  const place to = place_in_store(dst, box, shift), from = place_in_store(src, box, NULL);

  if (ambit__box_is_empty(box)) return AMBIT_OK;
  return move((ambit__gpu_lane *)q, &job, &to, &from, 0, job.total);
}

/* Copies, and sets lane->changed if that changes a value. */
static ambit_status update_dense(ambit__gpu_lane *lane, ambit__store *dst, ambit__store *src,
                                 const ambit__box *box)
{
  const box_job job = job_of(&dst->layout, box);
  const place to = place_in_store(dst, box, NULL), from = place_in_store(src, box, NULL);
  const int64_t first = 0, infinity = ambit__type_infinity(job.type);
  ambit__gpu_arg args[MOVE_ARGS + 2];
  ambit__gpu_moves *moves;

  AMBIT_TRY(ambit__gpu_moves_get(ambit__gpu_device_of(lane->head.device), job.type, &moves));
  fill_args(&job, &to, &from, &first, &job.total, args);
  args[MOVE_ARGS] = ambit__gpu_arg_number(&infinity);
  args[MOVE_ARGS + 1] = ambit__gpu_arg_memory(lane->changed);
  return ambit__gpu_moves_run(lane, moves->update, job.total, MOVE_ARGS + 2, args);
}

/* ---- dense or sparse ---- */

ambit_status ambit__gpu_write_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                  const void *src)
{
  if (!dst->layout.active) return write_dense(q, dst, box, src);
  return ambit__gpu_runs_move((ambit__gpu_lane *)q, dst, box,
                              (unsigned char *)(uintptr_t)src /* only read from */, true);
}

ambit_status ambit__gpu_read_box(ambit__queue *q, void *dst, ambit__store *src,
                                 const ambit__box *box)
{
  if (!src->layout.active) return read_dense(q, dst, src, box);
  return ambit__gpu_runs_move((ambit__gpu_lane *)q, src, box, dst, false);
}

ambit_status ambit__gpu_fill_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                 const void *value)
{
  if (!dst->layout.active) return fill_dense(q, dst, box, value);
  return ambit__gpu_runs_fill_box((ambit__gpu_lane *)q, dst, box, value);
}

ambit_status ambit__gpu_copy_box(ambit__queue *q, ambit__store *dst, ambit__store *src,
                                 const ambit__box *box, const int64_t *shift)
{
  assert(dst->layout.type == src->layout.type && dst->layout.components == src->layout.components);
  if (!src->layout.active) return copy_dense(q, dst, src, box, shift);
  return ambit__gpu_runs_copy((ambit__gpu_lane *)q, dst, src, box, NULL);
}

ambit_status ambit__gpu_update_box(ambit__queue *q, ambit__store *dst, ambit__store *src,
                                   const ambit__box *box, bool *changed)
{
  ambit__gpu_device *d = ambit__gpu_device_of(q->device);
  ambit__gpu_lane *lane = (ambit__gpu_lane *)q;
  int64_t number;

  if (ambit__box_is_empty(box)) return AMBIT_OK;
  if (!lane->changed) AMBIT_TRY(d->driver->alloc(d->gpu, sizeof number, &lane->changed));
  AMBIT_TRY(d->driver->zero(lane->queue, lane->changed, 0, sizeof number));
  AMBIT_TRY(dst->layout.active ? ambit__gpu_runs_copy(lane, dst, src, box, lane->changed)
                               : update_dense(lane, dst, src, box));
  AMBIT_TRY(ambit__gpu_fetch(lane, &number, lane->changed, sizeof number));
  *changed |= number != 0;
  return AMBIT_OK;
}

/* ---- for messages ---- */

int64_t ambit__gpu_dense_place(const ambit__store *s, const ambit__box *box)
{
  const box_job job = job_of(&s->layout, box);
  const place p = place_in_store(s, box, NULL);

  return is_dense(&job, &p) ? p.base : -1;
}

/* The axes along which runs of values are apart, the one with most runs first. Returns their
 * number. */
static int find_axes(const box_job *job, const place *p, int64_t *run, int axes[AXES])
{
  int k = 0, n = 0;

  for (*run = 1; k < AXES && (job->count[k] == 1 || p->step[k] == *run); k++)
    *run *= job->count[k];
  for (; k < AXES; k++) {
    if (job->count[k] == 1) continue;
    axes[n++] = k;
    if (job->count[k] <= job->count[axes[0]]) continue;
    axes[n - 1] = axes[0];
    axes[0] = k;
  }
  return n;
}

int ambit__gpu_rows_of(const ambit__store *s, const ambit__box *box, ambit__gpu_rows *sets)
{
  const box_job job = job_of(&s->layout, box);
  const place here = place_in_store(s, box, NULL), dense = place_in_array(&job, NULL, 0);
  const int64_t size = (int64_t)job.size;
  int64_t run, n;
  int axes[AXES] = {0};

  if (find_axes(&job, &here, &run, axes) > 2) return 0;
  n = axes[1] ? job.count[axes[1]] : 1;
  if (run * size < AMBIT__GPU_LEAST_ROW || here.step[axes[0]] * size > MOST_PITCH ||
      n > AMBIT__GPU_SETS)
    return 0;
  for (int64_t i = 0; i < n; i++)
    sets[i] = (ambit__gpu_rows){
        .bytes = (size_t)(run * size),
        .count = (size_t)job.count[axes[0]],
        .at = (size_t)((here.base + i * here.step[axes[1]]) * size),
        .pitch = (size_t)(here.step[axes[0]] * size),
        .host = (size_t)(i * dense.step[axes[1]] * size),
        .host_pitch = (size_t)(dense.step[axes[0]] * size),
    };
  return (int)n;
}

ambit_status ambit__gpu_gather(ambit__gpu_lane *lane, ambit__gpu_memory *to, int64_t first,
                               const ambit__store *from, const ambit__box *box)
{
  const box_job job = job_of(&from->layout, box);
  const place there = place_in_array(&job, to, first), here = place_in_store(from, box, NULL);

  return move(lane, &job, &there, &here, 0, job.total);
}

ambit_status ambit__gpu_scatter(ambit__gpu_lane *lane, const ambit__store *to,
                                const ambit__box *box, ambit__gpu_memory *from, int64_t first)
{
  const box_job job = job_of(&to->layout, box);
  const place there = place_in_store(to, box, NULL), here = place_in_array(&job, from, first);

  return move(lane, &job, &there, &here, 0, job.total);
}

/* ---- single values ---- */

ambit_status ambit__gpu_put(ambit__queue *q, ambit__buffer *dst, const void *src, size_t bytes)
{
  const ambit__gpu_driver *driver = ambit__gpu_device_of(q->device)->driver;
  ambit__gpu_lane *lane = (ambit__gpu_lane *)q;
  ambit__gpu_stage *stage;

  assert(bytes <= dst->bytes && bytes <= AMBIT__STAGE_BYTES);
  AMBIT_TRY(ambit__gpu_stage_take(lane, false, &stage));
  memcpy(stage->host, src, bytes);
  AMBIT_TRY(driver->copy_in(lane->queue, ambit__gpu_memory_of(dst), 0, stage->host, bytes));
  return ambit__gpu_stage_pass(lane, stage);
}

ambit_status ambit__gpu_get(ambit__queue *q, void *dst, ambit__buffer *src, size_t bytes)
{
  assert(bytes <= src->bytes && bytes <= AMBIT__STAGE_BYTES);
  return ambit__gpu_fetch((ambit__gpu_lane *)q, dst, ambit__gpu_memory_of(src), bytes);
}
