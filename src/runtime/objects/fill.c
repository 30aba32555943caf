/* SPDX-License-Identifier: BSD-3-Clause */
/* fill.c - initial values of fields: one value, set by the device, or a function of the index.
 *
 * A function is called piece by piece, by one thread or by several that divide a piece; then the
 * device stores the piece. Each process fills its own parts.
 */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>

enum { THREAD_PIECES = 4 }; /* pieces per thread in a parallel fill, to reduce synchronisation */

/* A piece of a part that is being filled. */
typedef struct filling {
  const ambit_field *field;
  ambit_fill_fn fn;
  void *user;
  ambit__box piece;
  int64_t most;                /* cells of a piece */
  const ambit__active *active; /* of the part, on a sparse grid; else NULL */
  unsigned char *dense;        /* values of the piece, row-major; owned by the caller */
  ambit__pool *pool;           /* NULL: the calling thread alone */
} filling;

/* Computes the values of a box into `dense`, in row-major order. */
static void fill_cells(const filling *job, const ambit__box *box, unsigned char *dense)
{
  const ambit_type type = job->field->type;
  const size_t size = ambit_type_size(type);
  const int last = box->ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS] = {0};

  ambit__box_first(box, cell);
  do {
    for (cell[last] = box->lo[last]; cell[last] < box->hi[last]; cell[last]++)
      for (int c = 0; c < job->field->components; c++, dense += size)
        ambit__value_store(dense, type, ambit__value_of(job->fn(cell, c, job->user), type));
    cell[last] = box->lo[last];
  } while (ambit__box_next_row(box, cell));
}

/* The same, on a sparse grid for active cells. */
static void fill_box(const filling *job, const ambit__box *box, unsigned char *dense)
{
  ambit__box row;
  int64_t i = 0;

  if (!job->active) {
    fill_cells(job, box, dense);
    return;
  }
  while (ambit__active_next(job->active, box, &i, &row))
    fill_cells(job, &row,
               dense +
                   (size_t)ambit__box_number(box, row.lo) * ambit__field_cell_bytes(job->field));
}

/* Fills a thread's share of the piece. The piece is cut along its outermost axis of more than one
 * cell, so each share is contiguous in the dense array. */
static void fill_share(void *arg, int thread, int threads)
{
  const filling *job = arg;
  ambit__box mine = job->piece;
  size_t slice = ambit__field_cell_bytes(job->field); /* bytes per index of the axis that is cut */
  int64_t n, first;
  int axis = 0;

  while (axis < mine.ndims - 1 && mine.hi[axis] - mine.lo[axis] == 1)
    axis++;
  for (int d = axis + 1; d < mine.ndims; d++)
    slice *= (size_t)(mine.hi[d] - mine.lo[d]);
  n = mine.hi[axis] - mine.lo[axis];
  first = n * thread / threads;
  mine.hi[axis] = mine.lo[axis] + n * (thread + 1) / threads;
  mine.lo[axis] += first;
  if (!ambit__box_is_empty(&mine)) fill_box(job, &mine, job->dense + (size_t)first * slice);
}

/* Fills one part, piece by piece. */
static ambit_status fill_part(ambit_field *f, int part, filling *job)
{
  const ambit__engine *e = ambit__engine_of(f->grid, part);
  const ambit__box *own = &f->stores[part].layout.own;

  if (ambit__box_is_empty(own)) return AMBIT_OK;
  job->active = f->stores[part].layout.active;
  ambit__box_first_piece(own, job->most, &job->piece);
  do {
    if (job->active && !ambit__active_count(job->active, &job->piece)) continue;
    if (job->pool)
      ambit__pool_run(job->pool, ambit__pool_threads(job->pool), fill_share, job);
    else
      fill_box(job, &job->piece, job->dense);
    AMBIT_TRY(ambit__do(e->queue, write, &f->stores[part], &job->piece, job->dense));
  } while (ambit__box_next_piece(own, job->most, &job->piece));
  return AMBIT_OK;
}

static ambit_status fill(ambit_field *f, ambit_fill_fn fn, void *user, bool parallel)
{
  filling job = {.field = f, .fn = fn, .user = user};
  ambit_status s = AMBIT_OK;
  ambit__box all;
  bool held;

  if (ambit__field_failed(f)) return ambit__field_status(f);
  AMBIT_CHECK(fn, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': the function to fill it is NULL", f->name);
  if (parallel) AMBIT_TRY(ambit__pool_for(f->grid->context, &job.pool));
  job.most = ambit__field_piece_cells(f);
  if (parallel) job.most *= (int64_t)THREAD_PIECES * ambit__pool_threads(job.pool);
  all = ambit__field_box(f);
  if (job.most > ambit__box_volume(&all)) job.most = ambit__box_volume(&all);
  job.dense = ambit__new(ambit__field_errors(f), (size_t)job.most, ambit__field_cell_bytes(f));
  if (!job.dense) s = AMBIT_ENOMEM;
  if (!s) ambit__field_changed(f);
  held = f->is_held;
  f->is_held = true;
  for (int i = 0; !s && i < f->grid->placement.n; i++)
    s = fill_part(f, i, &job);
  f->is_held = held;
  free(job.dense);
  ambit__pool_close(job.pool);
  return s;
}

ambit_status ambit_field_fill(ambit_field *f, ambit_fill_fn fn, void *user)
{
  return fill(f, fn, user, false);
}

ambit_status ambit_field_fill_parallel(ambit_field *f, ambit_fill_fn fn, void *user)
{
  return fill(f, fn, user, true);
}

ambit_status ambit_field_set(ambit_field *f, double value)
{
  unsigned char bytes[8];

  if (ambit__field_failed(f)) return ambit__field_status(f);
  ambit__value_store(bytes, f->type, ambit__value_of(value, f->type));
  ambit__field_changed(f);
  for (int i = 0; i < f->grid->placement.n; i++) {
    ambit__queue *q = ambit__engine_of(f->grid, i)->queue;
    ambit__store *store = &f->stores[i];

    if (!ambit__box_is_empty(&store->layout.own))
      AMBIT_TRY(ambit__do(q, fill, store, &store->layout.own, bytes));
  }
  return AMBIT_OK;
}
