/* SPDX-License-Identifier: BSD-3-Clause */
/* fold.c - reductions along some axes by all threads: each has totals of its own, a range of the
 * longest axis that is left, so that none waits for another. */
#include "device/cpu/cpu.h"
#include "device/host.h"

static const double VALUE_NS = 0.3, EXACT_NS = 5; /* of a value in the cache, roughly */

typedef struct job {
  const ambit__fold *how;
  unsigned char *totals;
  const unsigned char *values; /* of the first cell of the box */
  const ambit__layout *layout;
  const ambit__box *box;
  int axis;
} job;

static int longest_axis(const ambit__fold *how, const ambit__box *box)
{
  int best = -1;

  for (int d = 0; d < box->ndims; d++)
    if (!(how->dropped >> d & 1) &&
        (best < 0 || box->hi[d] - box->lo[d] > box->hi[best] - box->lo[best]))
      best = d;
  return best;
}

static void fold_share(void *arg, int thread, int threads)
{
  const job *j = arg;
  ambit__box mine = *j->box;
  int64_t lo, n, place;

  if (j->axis < 0) { /* there is one total */
    ambit__fold_add(j->how, j->totals, j->values, j->layout->stride, j->layout->component, j->box);
    return;
  }
  lo = j->box->lo[j->axis];
  n = j->box->hi[j->axis] - lo;
  mine.lo[j->axis] = lo + n * thread / threads;
  mine.hi[j->axis] = lo + n * (thread + 1) / threads;
  place = (mine.lo[j->axis] - lo) * j->layout->stride[j->axis];
  ambit__fold_add(j->how, j->totals, j->values + place * (int64_t)ambit_type_size(j->layout->type),
                  j->layout->stride, j->layout->component, &mine);
}

ambit_status ambit__cpu_fold_box(ambit__queue *q, const ambit__command *c)
{
  ambit__cpu *d = (ambit__cpu *)q->device;
  const ambit__fold *how = c->fold.how;
  const ambit__store *src = c->fold.src;
  const ambit__box *box = c->fold.box;
  const int64_t first = ambit__layout_at(&src->layout, box->lo);
  job j = {.how = how,
           .totals = ambit__host_base(c->fold.totals),
           .values =
               ambit__host_base(src->buffer) + first * (int64_t)ambit_type_size(src->layout.type),
           .layout = &src->layout,
           .box = box,
           .axis = longest_axis(how, box)};
  const double ns = (how->exact ? EXACT_NS : VALUE_NS) * (double)ambit__box_volume(box);

  if (!c->fold.more) ambit__fold_begin(how, j.totals);
  ambit__pool_run(d->pool, j.axis < 0 ? 1 : ambit__cpu_threads_for(d, ns), fold_share, &j);
  return AMBIT_OK;
}
