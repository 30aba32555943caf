/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/patches.h"

#include <assert.h>
#include <string.h>

/* The place of the first cell of a box, and the strides between cells and components. */
typedef struct place {
  int64_t first, component;
  int64_t step[AMBIT_MAX_DIMS];
} place;

static place in_store(const ambit__layout *l, const ambit__box *box)
{
  place p = {.first = ambit__layout_at(l, box->lo), .component = l->component};

  assert(ambit__box_is_empty(box) || ambit__layout_has(l, box));
  memcpy(p.step, l->stride, sizeof p.step);
  return p;
}

static place in_array(const ambit__layout *l, const ambit__box *box)
{
  place p = {.component = 1};
  int64_t step = l->components;

  for (int d = box->ndims - 1; d >= 0; d--) {
    p.step[d] = step;
    step *= box->hi[d] - box->lo[d];
  }
  return p;
}

/* Waves ask for small boxes of ghost cells all the time, so patches are not cleared first. */
static void begin(ambit__patch *p, int64_t to, int64_t from)
{
  p->to = to;
  p->from = from;
  p->count = 1;
  p->is_value = false;
  p->bits = 0;
  p->naxes = 0;
}

static void add_axis(ambit__patch *p, int64_t n, int64_t to_step, int64_t from_step)
{
  const int last = p->naxes - 1;

  p->count *= n;
  if (n == 1) return;
  if (last >= 0 && to_step == p->n[last] * p->to_step[last] &&
      from_step == p->n[last] * p->from_step[last]) {
    p->n[last] *= n;
    return;
  }
  p->n[p->naxes] = n;
  p->to_step[p->naxes] = to_step;
  p->from_step[p->naxes++] = from_step;
}

/* Components are the innermost axis where they are adjacent, and else the outermost. */
static ambit__patch patch_of(const ambit__layout *l, const ambit__box *box, const place *to,
                             const place *from)
{
  const bool adjacent = to->component == 1 || from->component == 1;
  ambit__patch p;

  begin(&p, to->first, from->first);
  if (adjacent) add_axis(&p, l->components, to->component, from->component);
  for (int d = box->ndims - 1; d >= 0; d--)
    add_axis(&p, box->hi[d] - box->lo[d], to->step[d], from->step[d]);
  if (!adjacent) add_axis(&p, l->components, to->component, from->component);
  return p;
}

/* ---- boxes ---- */

ambit__patch ambit__patch_in(const ambit__layout *to, const ambit__box *box)
{
  const place there = in_store(to, box), here = in_array(to, box);

  return patch_of(to, box, &there, &here);
}

ambit__patch ambit__patch_out(const ambit__layout *from, const ambit__box *box)
{
  const place there = in_array(from, box), here = in_store(from, box);

  return patch_of(from, box, &there, &here);
}

ambit__patch ambit__patch_fill(const ambit__layout *to, const ambit__box *box, const void *value)
{
  const place there = in_store(to, box), here = {0};
  ambit__patch p = patch_of(to, box, &there, &here);

  p.is_value = true;
  memcpy(&p.bits, value, ambit_type_size(to->type));
  return p;
}

ambit__patch ambit__patch_across(const ambit__layout *to, const ambit__layout *from,
                                 const ambit__box *box, const int64_t *shift)
{
  const ambit__box moved = shift ? ambit__box_move(box, shift) : *box;
  const place there = in_store(to, &moved), here = in_store(from, box);

  return patch_of(from, box, &there, &here);
}

ambit__patch ambit__patch_lattice(const ambit__layout *from, const ambit__lattice *l)
{
  ambit__box first = from->own, counts = from->own;
  place there, here;

  for (int d = 0; d < first.ndims; d++) {
    first.lo[d] = l->first[d];
    counts.lo[d] = 0;
    counts.hi[d] = l->count[d];
  }
  there = in_array(from, &counts);
  here = in_store(from, &first);
  for (int d = 0; d < first.ndims; d++)
    here.step[d] *= l->step[d];
  return patch_of(from, &counts, &there, &here);
}

bool ambit__patch_is_dense(const ambit__patch *p)
{
  return p->naxes == 0 || (p->naxes == 1 && p->to_step[0] == 1 && p->from_step[0] == 1);
}

/* ---- ghost cells ----
 *
 * Along an axis, ghost cells are runs that copy given cells, forwards (periodic), backwards
 * (mirrors) or all from one cell (clamp), or a constant. A box of ghost cells is a run along each
 * axis, so its values are a copy with its own strides, or all one constant, that of the last axis
 * that has one.
 */

/* Cells lo to hi - 1 of an axis copy cell `from` and the cells after it in steps of `step`. */
typedef struct run {
  int64_t lo, hi, from;
  int step;            /* 1, -1 or 0 */
  bool negates;        /* the copies have the other sign */
  const double *value; /* the constant instead; NULL: a copy */
} run;

/* The ghost cells during the division into boxes. */
typedef struct ghosts {
  const ambit__layout *layout;
  const ambit__boundaries *boundaries;
  const int64_t *extents;
  const ambit__box *given;
  ambit__box reach;         /* without faces that are not filled */
  run runs[AMBIT_MAX_DIMS]; /* the box so far, from the last axis on */
  ambit__patch_fn add;
  void *user;
} ghosts;

static bool is_filled(ambit_boundary kind)
{
  return kind != AMBIT_NONE && kind != AMBIT_FIXED;
}

/* The longest run from ghost cell r->lo on, up to hi at most. */
static void ghost_run(const ghosts *g, int axis, int side, int64_t hi, run *r)
{
  const ambit_boundary kind = g->boundaries->kind[axis][side];
  const int64_t extent = g->extents[axis];

  r->value = kind == AMBIT_CONSTANT ? &g->boundaries->value[axis][side] : NULL;
  r->hi = r->value ? hi : r->lo + 1;
  r->step = 0;
  if (r->value) return;
  r->from = ambit__boundary_map(kind, extent, r->lo);
  r->negates = ambit__boundary_negates(kind, extent, r->lo);
  for (; r->hi < hi; r->hi++) {
    const int64_t step = ambit__boundary_map(kind, extent, r->hi) - r->from;

    if (r->hi == r->lo + 1 && step >= -1 && step <= 1) r->step = (int)step;
    if (step != r->step * (r->hi - r->lo)) break;
    if (r->negates != ambit__boundary_negates(kind, extent, r->hi)) break;
  }
}

/* The run that starts at cell r->lo of the reach. */
static void find_run(const ghosts *g, int axis, run *r)
{
  const int64_t lo = g->given->lo[axis], hi = g->given->hi[axis];

  if (r->lo < lo) {
    ghost_run(g, axis, 0, lo, r);
  } else if (r->lo >= hi) {
    ghost_run(g, axis, 1, g->reach.hi[axis], r);
  } else {
    r->hi = hi;
    r->from = r->lo;
    r->step = 1;
    r->negates = false;
    r->value = NULL;
  }
}

static ambit_status add_ghosts(const ghosts *g, const double *value)
{
  const ambit__layout *l = g->layout;
  const bool adjacent = l->component == 1;
  bool negates = false;
  ambit__patch p;

  begin(&p, l->origin, l->origin);
  if (adjacent) add_axis(&p, l->components, l->component, value ? 0 : l->component);
  for (int d = l->own.ndims - 1; d >= 0; d--) {
    const run *r = &g->runs[d];

    negates ^= r->negates;
    p.to += (r->lo - l->own.lo[d]) * l->stride[d];
    p.from += (r->from - l->own.lo[d]) * l->stride[d];
    add_axis(&p, r->hi - r->lo, l->stride[d], value ? 0 : r->step * l->stride[d]);
  }
  if (!adjacent) add_axis(&p, l->components, l->component, value ? 0 : l->component);
  if (value) {
    p.from = 0;
    p.is_value = true;
    ambit__value_store((unsigned char *)&p.bits, l->type, ambit__value_of(*value, l->type));
  } else if (negates) {
    p.bits = (int64_t)((uint64_t)1 << (8 * ambit_type_size(l->type) - 1));
  }
  return g->add(g->user, &p);
}

/* All boxes that continue the runs of the axes after `axis`. all_given: those runs are all in given
 * cells. `value`: the constant of the last of them that has one, or NULL. */
static ambit_status cut(ghosts *g, int axis, bool all_given, const double *value)
{
  run *r = &g->runs[axis];

  for (r->lo = g->reach.lo[axis]; r->lo < g->reach.hi[axis]; r->lo = r->hi) {
    const bool given = all_given && r->lo >= g->given->lo[axis] && r->lo < g->given->hi[axis];
    const double *constant = value;

    *r = (run){.lo = r->lo}; /* constants have no cell that they are from, and no sign */
    if (value)
      r->hi = g->reach.hi[axis];
    else
      find_run(g, axis, r);
    if (!constant) constant = r->value;
    if (axis > 0)
      AMBIT_TRY(cut(g, axis - 1, given, constant));
    else if (!given)
      AMBIT_TRY(add_ghosts(g, constant));
  }
  return AMBIT_OK;
}

ambit_status ambit__patch_ghosts(const ambit__layout *l, const ambit__boundaries *b,
                                 const int64_t *extents, const ambit__box *given,
                                 const ambit__box *reach, ambit__patch_fn add, void *user)
{
  ghosts g; /* the runs are set when they are needed */

  g.layout = l;
  g.boundaries = b;
  g.extents = extents;
  g.given = given;
  g.reach = *reach;
  g.add = add;
  g.user = user;
  for (int d = 0; d < given->ndims; d++) {
    if (!is_filled(b->kind[d][0])) g.reach.lo[d] = given->lo[d];
    if (!is_filled(b->kind[d][1])) g.reach.hi[d] = given->hi[d];
  }
  return cut(&g, given->ndims - 1, true, NULL);
}
