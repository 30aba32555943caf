/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c - lists the rows around a block of a sparse grid that a rule reads. gather_run.c copies
 * them. */
#include "base/memory.h"
#include "device/cpu/blocks.h"

#include <stdlib.h>
#include <string.h>

typedef ambit__gather gather;

/* A row and its band. */
typedef struct line {
  ambit__gather_row row;
  int near, x0, x1;
} line;

typedef struct lines {
  line *list; /* owned */
  size_t n, cap;
} lines;

/* The cells of a row, at a place relative to the block, that reads of a component (-1: any)
 * need. */
static bool needs_row(const ambit__blocks *b, const ambit__param *p, int component, line *r)
{
  const int last = b->box.ndims - 1;
  bool any = false;

  for (int k = 0; k < p->nreads; k++) {
    const ambit__read *read = &p->reads[k];
    const int x0 = read->offset[last], x1 = x0 + (1 << b->shift[last]);
    bool here = component < 0 || read->component == component;

    for (int d = 0; d < last; d++) {
      const int64_t from = r->row.outer[d] - read->offset[d];

      here = here && from >= 0 && from < (int64_t)1 << b->shift[d];
    }
    if (!here) continue;
    if (!any || x0 < r->x0) r->x0 = x0;
    if (!any || x1 > r->x1) r->x1 = x1;
    any = true;
  }
  return any;
}

/* Where the row is stored, if it is in the block or beside it. */
static void locate(const ambit__blocks *b, gather *g, const ambit__layout *pool, int component,
                   line *l)
{
  ambit__gather_row *r = &l->row;
  const int last = b->box.ndims - 1;
  const int64_t size = (int64_t)ambit_type_size(pool->type), c = component > 0 ? component : 0;

  r->component = c * pool->component * size;
  r->from = r->component;
  r->to = (c * g->layout.component + g->layout.origin) * size;
  for (int d = 0; d <= last; d++) {
    const int64_t n = (int64_t)1 << b->shift[d], at = d < last ? r->outer[d] : 0;
    const int step = at < 0 ? -1 : at >= n;

    if (at < -n || at >= 2 * n) g->is_near = false;
    l->near = 3 * l->near + step + 1;
    r->from += (at - step * n) * pool->stride[d] * size;
    r->to += at * g->layout.stride[d] * size;
    r->place = (r->place << b->shift[d]) + at - step * n;
  }
  if (l->x0 < -(1 << b->shift[last]) || l->x1 > 2 << b->shift[last]) g->is_near = false;
}

static ambit_status list_rows(ambit__errors *errors, const ambit__blocks *b, const ambit__param *p,
                              const ambit__layout *pool, int component, gather *g, lines *all)
{
  const int last = b->box.ndims - 1;
  ambit__box around = g->layout.own;
  int64_t at[AMBIT_MAX_DIMS];

  for (int d = 0; d < last; d++) {
    around.lo[d] -= p->low[d];
    around.hi[d] += p->high[d];
  }
  ambit__box_first(&around, at);
  do {
    line l = {0}, *list;

    memcpy(l.row.outer, at, (size_t)last * sizeof *at);
    if (!needs_row(b, p, component, &l)) continue;
    list = ambit__grow(errors, all->list, all->n, &all->cap, sizeof *list);
    if (!list) return AMBIT_ENOMEM;
    all->list = list;
    locate(b, g, pool, component, &l);
    list[all->n++] = l;
  } while (ambit__box_next_row(&around, at));
  return AMBIT_OK;
}

/* ---- bands ---- */

static bool is_alike(const line *a, const line *b)
{
  return a->near == b->near && a->x0 == b->x0 && a->x1 == b->x1;
}

static int compare(const void *x, const void *y)
{
  const line *a = x, *b = y;

  if (a->near != b->near) return a->near < b->near ? -1 : 1;
  if (a->x0 != b->x0) return a->x0 < b->x0 ? -1 : 1;
  if (a->x1 != b->x1) return a->x1 < b->x1 ? -1 : 1;
  return (a->row.to > b->row.to) - (a->row.to < b->row.to);
}

static ambit_status make_bands(ambit__errors *errors, gather *g, lines *all)
{
  if (!all->list) return AMBIT_OK;
  g->rows = ambit__new(errors, all->n, sizeof *g->rows);
  g->bands = ambit__new(errors, all->n, sizeof *g->bands);
  g->moves = ambit__new(errors, all->n, sizeof *g->moves);
  if (!g->rows || !g->bands || !g->moves) return AMBIT_ENOMEM;
  qsort(all->list, all->n, sizeof *all->list, compare);
  for (size_t i = 0; i < all->n; i++) {
    const line *l = &all->list[i];

    g->moves[g->nrows] = (ambit__gather_move){(int32_t)l->row.from, (int32_t)l->row.to};
    g->rows[g->nrows++] = l->row;
    if (!i || !is_alike(l, l - 1))
      g->bands[g->nbands++] = (ambit__gather_band){l->near, l->x0, l->x1, (int)i, 0};
    g->bands[g->nbands - 1].n++;
  }
  return AMBIT_OK;
}

/* ---- all ---- */

void ambit__gather_close(gather *g)
{
  free(g->rows);
  free(g->bands);
  free(g->moves);
}

ambit_status ambit__gather_open(ambit__errors *errors, const ambit__blocks *b,
                                const ambit__param *p, ambit_order order, gather *g)
{
  const bool whole = order == AMBIT_AOS && p->components > 1; /* cells are copied whole */
  const int64_t size = (int64_t)ambit_type_size(p->type);
  ambit__layout pool = {
      .type = p->type, .components = p->components, .order = order, .own = b->box, .blocks = b};
  ambit_status s = AMBIT_OK;
  lines all = {0};

  g->layout = (ambit__layout){.type = p->type, .components = p->components, .order = order};
  g->layout.own.ndims = b->box.ndims;
  for (int d = 0; d < b->box.ndims; d++) {
    g->layout.own.hi[d] = (int64_t)1 << b->shift[d];
    g->low[d] = g->layout.margin_lo[d] = p->low[d];
    g->high[d] = g->layout.margin_hi[d] = p->high[d];
  }
  AMBIT_CHECK(ambit__layout_make(&g->layout) && ambit__layout_make(&pool) &&
                  g->layout.bytes < INT32_MAX && pool.block < INT32_MAX / size,
              errors, AMBIT_ENOMEM, "the blocks of parameter '%s' are too large", p->label);
  g->unit = (int)size * (whole ? p->components : 1);
  g->block = pool.block * size;
  g->is_near = true;
  for (int d = 0; d < b->box.ndims; d++)
    g->stride[d] = pool.stride[d] * size;
  for (int c = whole ? -1 : 0; !s && c < (whole ? 0 : p->components); c++)
    s = list_rows(errors, b, p, &pool, c, g, &all);
  if (!s) s = make_bands(errors, g, &all);
  free(all.list);
  return s;
}
