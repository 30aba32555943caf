/* SPDX-License-Identifier: BSD-3-Clause */
/* ghosts.c - fills ghost cells by copies of boxes, one for each way in which values map to the
 * ghosts.
 *
 * Along an axis, ghost cells are runs that copy given cells, forwards (periodic), backwards
 * (mirrors) or all from one cell (clamp), or a constant. A box of ghost cells is a run along each
 * axis, so its values are a copy with its own steps, or all one constant, that of the last axis
 * that has one. Every source is given, so no box depends on another, not even in corners
 * (device/host_ghosts.c fills axis by axis, with the same result).
 */
#include "device/gpu/gpu.h"

/* Cells lo to hi - 1 of an axis copy cell `from` and the cells after it in steps of `step`. */
typedef struct run {
  int64_t lo, hi, from;
  int step;            /* 1, -1 or 0 */
  bool negates;        /* the copies have the other sign */
  const double *value; /* the constant instead; NULL: a copy */
} run;

/* The ghost cells of a move, during the division into boxes. */
typedef struct ghosts {
  const ambit__move *move;
  ambit__box reach;         /* without faces that are not filled */
  run runs[AMBIT_MAX_DIMS]; /* the box so far, from the last axis on */
  ambit__gpu_item_fn add;
  void *user;
} ghosts;

static bool is_filled(ambit_boundary kind)
{
  return kind != AMBIT_NONE && kind != AMBIT_FIXED;
}

/* The longest run from ghost cell lo on, up to hi at most. */
static run ghost_run(const ambit__move *m, int axis, int side, int64_t lo, int64_t hi)
{
  const ambit_boundary kind = m->boundaries->kind[axis][side];
  const int64_t extent = m->extents[axis];
  run r = {.lo = lo, .hi = hi};

  if (kind == AMBIT_CONSTANT) {
    r.value = &m->boundaries->value[axis][side];
    return r;
  }
  r.from = ambit__boundary_map(kind, extent, lo);
  r.negates = ambit__boundary_negates(kind, extent, lo);
  for (r.hi = lo + 1; r.hi < hi; r.hi++) {
    int64_t step = ambit__boundary_map(kind, extent, r.hi) - r.from;

    if (r.hi == lo + 1 && step >= -1 && step <= 1) r.step = (int)step;
    if (step != r.step * (r.hi - lo)) break;
    if (r.negates != ambit__boundary_negates(kind, extent, r.hi)) break;
  }
  return r;
}

/* The run that starts at cell `lo` of the reach. */
static run run_at(const ghosts *g, int axis, int64_t lo)
{
  const ambit__box *given = &g->move->box;

  if (lo < given->lo[axis]) return ghost_run(g->move, axis, 0, lo, given->lo[axis]);
  if (lo >= given->hi[axis]) return ghost_run(g->move, axis, 1, lo, g->reach.hi[axis]);
  return (run){.lo = lo, .hi = given->hi[axis], .from = lo, .step = 1};
}

static ambit__gpu_item item_of(const ghosts *g, const double *value)
{
  const ambit__move *m = g->move;
  const ambit__layout slice = ambit__layout_slice(&m->dst->layout, m->first, m->count), *l = &slice;
  ambit__gpu_item it = {.count = 1};
  int64_t to[AMBIT_MAX_DIMS], from[AMBIT_MAX_DIMS];
  bool negates = false;

  if (l->order == AMBIT_AOS) ambit__gpu_item_axis(&it, l->components, l->component, l->component);
  for (int d = l->own.ndims - 1; d >= 0; d--) {
    const run *r = &g->runs[d];

    to[d] = r->lo;
    from[d] = value ? r->lo : r->from;
    negates ^= r->negates;
    ambit__gpu_item_axis(&it, r->hi - r->lo, l->stride[d], r->step * l->stride[d]);
  }
  if (l->order != AMBIT_AOS) ambit__gpu_item_axis(&it, l->components, l->component, l->component);
  it.to_base = ambit__layout_at(l, to);
  it.from_base = ambit__layout_at(l, from);
  it.is_value = value != NULL;
  if (value)
    ambit__value_store((unsigned char *)&it.value, l->type, ambit__value_of(*value, l->type));
  else if (negates)
    it.value = (int64_t)((uint64_t)1 << (8 * ambit_type_size(l->type) - 1)); /* the sign */
  return it;
}

/* All boxes that continue the runs of the axes after `axis`. all_given: those runs are all in given
 * cells. `value`: the constant of the last of them that has one, or NULL. */
static ambit_status cut(ghosts *g, int axis, bool all_given, const double *value)
{
  if (axis < 0) {
    const ambit__gpu_item it = item_of(g, value);

    return all_given ? AMBIT_OK : g->add(g->user, &it);
  }
  for (int64_t lo = g->reach.lo[axis]; lo < g->reach.hi[axis]; lo = g->runs[axis].hi) {
    const bool is_given = lo >= g->move->box.lo[axis] && lo < g->move->box.hi[axis];

    if (value)
      g->runs[axis] = (run){.lo = lo, .hi = g->reach.hi[axis]};
    else
      g->runs[axis] = run_at(g, axis, lo);
    AMBIT_TRY(cut(g, axis - 1, all_given && is_given, value ? value : g->runs[axis].value));
  }
  return AMBIT_OK;
}

ambit_status ambit__gpu_ghost_items(const ambit__move *m, ambit__gpu_item_fn add, void *user)
{
  ghosts g = {.move = m, .reach = m->reach, .add = add, .user = user};

  if (ambit__box_is_empty(&m->box)) return AMBIT_OK;
  for (int d = 0; d < m->box.ndims; d++) {
    if (!is_filled(m->boundaries->kind[d][0])) g.reach.lo[d] = m->box.lo[d];
    if (!is_filled(m->boundaries->kind[d][1])) g.reach.hi[d] = m->box.hi[d];
  }
  return cut(&g, m->box.ndims - 1, true, NULL);
}

ambit_status ambit__gpu_ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                               const int64_t *extents, const ambit__box *given,
                               const ambit__box *reach)
{
  const ambit__move move = {.dst = store,
                            .count = store->layout.components,
                            .box = *given,
                            .reach = *reach,
                            .boundaries = b,
                            .extents = extents};
  ambit__batch *batch;
  ambit_status s;

  AMBIT_TRY(ambit__gpu_batch_open(q->device, &move, 1, &batch));
  s = ambit__gpu_batch_run(q, batch);
  ambit__gpu_batch_close(batch);
  return s;
}
