/* SPDX-License-Identifier: BSD-3-Clause */
/* aim.c - the cells of each warp of a fused launch that points touch (nest/window/points.c).
 *
 * A list per box, made when the warps have written down their cells. In memory: by warp, where its
 * list begins; then the lists, four numbers per cell. */
#include "base/memory.h"
#include "device/chore.h"
#include "device/gpu/gpu.h"
#include "nest/window/window.h"

#include <limits.h>
#include <stdlib.h>

enum { NUMBERS = 12, ENTRY = 4 }; /* of a warp; of a cell */

struct ambit__gpu_aims {
  struct ambit__gpu_aims *next;
  ambit__box box;
  ambit__gpu_memory *memory;
};

const ambit__gpu_memory *ambit__gpu_aims_find(const ambit__gpu_aims *all, const ambit__box *box)
{
  while (all && !ambit__box_equal(&all->box, box))
    all = all->next;
  return all ? all->memory : NULL;
}

void ambit__gpu_aims_free(ambit__gpu_device *d, ambit__gpu_aims *all)
{
  for (ambit__gpu_aims *a = all, *next; a; a = next) {
    next = a->next;
    if (a->memory) d->driver->release(a->memory);
    free(a);
  }
}

/* ---- lists ---- */

/* The points of a parameter. */
typedef struct target {
  int param;
  const ambit__point_cells *cells;
  ambit__box region; /* of the step */
  bool samples;
} target;

/* While the lists are made. */
typedef struct maker {
  ambit__errors *errors;
  const ambit__flow *flow;
  const ambit__launch *l;
  int ndims;
  int64_t offset[AMBIT_MAX_DIMS]; /* index of the cell at position 0 */
  int ntargets;
  target targets[AMBIT_MAX_PARAMS];
  int *numbers; /* the memory */
  size_t n, room;
} maker;

static ambit_status append(maker *m, int z, int y, int x, int number)
{
  if (m->n + ENTRY > m->room) {
    const size_t room = 2 * m->room + 1024;
    int *more = realloc(m->numbers, room * sizeof *more);

    AMBIT_CHECK(more, m->errors, AMBIT_ENOMEM, "no memory for lists of points");
    m->numbers = more;
    m->room = room;
  }
  m->numbers[m->n++] = z;
  m->numbers[m->n++] = y;
  m->numbers[m->n++] = x;
  m->numbers[m->n++] = number;
  return AMBIT_OK;
}

/* The cells of a box of positions, which the grid repeats `shift` cells further. */
static ambit_status add_image(maker *m, const target *t, const ambit__box *at, const int64_t *shift)
{
  ambit__box box = *at;

  for (int d = 0; d < m->ndims; d++) {
    box.lo[d] += m->offset[d] - shift[d];
    box.hi[d] += m->offset[d] - shift[d];
  }
  box = ambit__box_intersect(&box, &t->region);
  if (ambit__box_is_empty(&box)) return AMBIT_OK;
  for (int64_t i = -1; (i = ambit__point_cells_next(t->cells, &box, i + 1)) < t->cells->n;) {
    const int64_t *cell = t->cells->index + i * m->ndims;
    int64_t to[3] = {0};

    for (int d = 0; d < m->ndims; d++)
      to[d && d == m->ndims - 1 ? 2 : d] = cell[d] + shift[d] - m->offset[d];
    AMBIT_TRY(append(m, (int)to[0], (int)to[1], (int)to[2], AMBIT__AIM(t->param, (int)i)));
  }
  return AMBIT_OK;
}

static int compare(const void *a, const void *b)
{
  const int x = *(const int *)a, y = *(const int *)b;

  return (x > y) - (x < y);
}

/* Cells that are added to are those of a warp wherever the grid repeats them; samples its own. */
static ambit_status add_target(maker *m, const target *t, const int *window)
{
  ambit__box at = {.ndims = m->ndims};

  for (int d = 0; d < m->ndims; d++) {
    const int axis = d && d == m->ndims - 1 ? 2 : d;

    at.lo[d] = window[4 * axis + 2 * t->samples];
    at.hi[d] = window[4 * axis + 2 * t->samples + 1];
  }
  for (int image = 0; !ambit__box_is_empty(&at) && image < 27; image++) {
    const int turns[] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
    int64_t shift[3];
    bool is_one = true;

    for (int d = 0; d < 3; d++) {
      is_one &= !turns[d] || (d < m->ndims && m->flow->periodic[d] && !t->samples);
      shift[d] = d < m->ndims ? turns[d] * m->l->extents[d] : 0;
    }
    if (is_one) AMBIT_TRY(add_image(m, t, &at, shift));
  }
  return AMBIT_OK;
}

static ambit_status add_warp(maker *m, const int *window)
{
  const size_t first = m->n;

  for (int i = 0; i < m->ntargets; i++)
    AMBIT_TRY(add_target(m, &m->targets[i], window));
  qsort(m->numbers + first, (m->n - first) / ENTRY, ENTRY * sizeof(int), compare);
  return append(m, INT_MAX, 0, 0, 0);
}

/* The warps come first, as many numbers as a multiple of those of a cell. */
static ambit_status add_warps(maker *m, int64_t warps, const int *windows)
{
  for (int64_t i = 0; i < warps; i += ENTRY)
    AMBIT_TRY(append(m, 0, 0, 0, 0));
  for (int64_t i = 0; i < warps; i++) {
    AMBIT_CHECK(m->n / ENTRY < INT_MAX, m->errors, AMBIT_EUNSUPPORTED, "there are too many points");
    AMBIT_TRY(append(m, INT_MIN, 0, 0, 0));
    m->numbers[i] = (int)(m->n / ENTRY);
    AMBIT_TRY(add_warp(m, windows + i * NUMBERS));
  }
  return AMBIT_OK;
}

/* ---- targets ---- */

static ambit_status find_target(maker *m, const ambit__group *g, const ambit__flow_stage *st)
{
  target *t = &m->targets[m->ntargets];

  for (int i = 0; i < m->ntargets; i++)
    if (m->targets[i].param == st->points - 1) return AMBIT_OK;
  m->ntargets++;
  t->param = st->points - 1;
  t->samples = st->samples;
  t->cells = &ambit__gpu_chore_of(g->points[t->param])->points->touched;
  t->region.ndims = g->ndims;
  for (int d = 0; d < g->ndims; d++) {
    t->region.lo[d] = st->samples ? 0 : st->place[0][d][0];
    t->region.hi[d] = m->l->extents[d] - (st->samples ? 0 : st->place[0][d][1]);
  }
  AMBIT_CHECK(t->cells->n < AMBIT__AIMS, m->errors, AMBIT_EUNSUPPORTED,
              "points touch %lld cells, more than a fused launch can number",
              (long long)t->cells->n);
  return AMBIT_OK;
}

ambit_status ambit__gpu_aims_make(ambit__gpu_device *d, const ambit__group *g,
                                  const ambit__launch *l, const ambit__box *part, int64_t warps,
                                  const int *windows, ambit__gpu_aims **all)
{
  ambit__gpu_aims *a = ambit__new(d->head.errors, 1, sizeof *a);
  maker m = {.errors = d->head.errors, .flow = g->flow, .l = l, .ndims = g->ndims};
  ambit_status s = AMBIT_OK;

  if (!a) return AMBIT_ENOMEM;
  a->box = l->box;
  a->next = *all;
  *all = a;
  for (int i = 0; i < g->ndims; i++)
    m.offset[i] = part->lo[i];
  for (int i = 0; !s && i < g->flow->nstages; i++)
    if (g->flow->stages[i].points) s = find_target(&m, g, &g->flow->stages[i]);
  if (!s) s = add_warps(&m, warps, windows);
  if (!s) s = ambit__gpu_upload(d, m.numbers, m.n * sizeof *m.numbers, &a->memory);
  free(m.numbers);
  return s;
}
