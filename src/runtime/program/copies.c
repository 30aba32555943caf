/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c - steps that copy a box of cells to another place.
 *
 * Source and destination may lie on any parts. The cells that one part has of the source and
 * another one of the destination are a transfer, as in a halo exchange, so the copy becomes an
 * exchange (exchange/) whose destination is not the halo but own cells, of another field perhaps.
 *
 * On a sparse grid the cells of a copy depend on activity at both ends (grid/active.h,
 * ambit__shifted). They are found when the fields have their storage.
 */
#include "base/memory.h"
#include "runtime/program/program.h"

#include <stdlib.h>
#include <string.h>

ambit__box ambit__copy_destination(const ambit__step *s)
{
  return ambit__box_move(&s->box, s->shift);
}

/* The cells of part `from` that go to part `to`. */
static ambit__box common(const ambit_grid *g, const ambit__step *s, int from, int to)
{
  int64_t back[AMBIT_MAX_DIMS];
  ambit__box source = ambit__box_intersect(&s->box, &g->parts[from]), target;

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    back[d] = -s->shift[d];
  target = ambit__box_move(&g->parts[to], back);
  return ambit__box_intersect(&source, &target);
}

ambit_status ambit__transfers_add(const ambit_program *p, ambit__halo *h, int from, int to,
                                  const ambit__box *box, const int64_t *shift)
{
  ambit__transfer *t =
      ambit__add(ambit__program_errors(p), &h->transfers, h->count, &h->cap, sizeof *t);

  if (!t) return AMBIT_ENOMEM;
  h->count++;
  *t = (ambit__transfer){.from = from, .to = to, .box = *box, .cells = ambit__box_volume(box)};
  memcpy(t->shift, shift, (size_t)box->ndims * sizeof *shift);
  return AMBIT_OK;
}

ambit_status ambit__transfers_make(const ambit_program *p, ambit__halo *h, ambit__pair_fn add,
                                   const void *user)
{
  const ambit_grid *g = p->grid;

  AMBIT_NEW(ambit__program_errors(p), h->reaches, (size_t)g->nparts);
  for (int to = 0; to < g->nparts; to++) {
    h->reaches[to] = (ambit__reach){g->parts[to], g->parts[to]};
    for (int from = 0; from < g->nparts; from++)
      if (!ambit__box_is_empty(&g->parts[from]) && !ambit__box_is_empty(&g->parts[to]) &&
          (g->mine[from] || g->mine[to]))
        AMBIT_TRY(add(p, h, user, from, to));
  }
  return AMBIT_OK;
}

/* The cells of a step that one part has of the source and another one of the destination. */
static ambit_status add_pair(const ambit_program *p, ambit__halo *h, const void *step, int from,
                             int to)
{
  const ambit__step *s = step;
  const ambit__box box = common(p->grid, s, from, to);

  return ambit__box_is_empty(&box) ? AMBIT_OK
                                   : ambit__transfers_add(p, h, from, to, &box, s->shift);
}

static int64_t count_source(const ambit_grid *g, const ambit__step *s)
{
  return g->active ? ambit__active_count(g->active, &s->box) : ambit__box_volume(&s->box);
}

static ambit_status make_copy(ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  ambit_field *from = s->args[0].field, *to = s->args[1].field;
  ambit__field_halo *h = &p->copies.list[p->copies.n];
  ambit__halo_slice *slice = ambit__new(ambit__program_errors(p), 1, sizeof *slice);

  if (!slice) return AMBIT_ENOMEM;
  *slice = (ambit__halo_slice){
      .field = to, .source = from, .count = to->components, .boundaries = &to->boundaries};
  *h = (ambit__field_halo){
      .field = to, .boundaries = &to->boundaries, .slices = slice, .nslices = 1};
  p->applies[step].copy = p->copies.n++;
  p->applies[step].bytes =
      2 * (double)count_source(p->grid, s) * (double)ambit__field_cell_bytes(to);
  return ambit__transfers_make(p, &slice->halo, add_pair, s);
}

/* ---- sparse grids ---- */

void ambit__copies_forget(ambit__halo_slice *s)
{
  for (int i = 0; s->shifted && i < s->nshifted; i++)
    ambit__shifted_free(&s->shifted[i]);
  free(s->shifted);
  s->shifted = NULL;
}

static bool is_shifted(const ambit__step *s)
{
  for (int d = 0; d < s->box.ndims; d++)
    if (s->shift[d]) return true;
  return false;
}

static ambit_status find_cells(const ambit_program *p, const ambit__step *s,
                               ambit__halo_slice *slice)
{
  const ambit_grid *g = p->grid;

  AMBIT_NEW(ambit__program_errors(p), slice->shifted, (size_t)g->placement.n);
  slice->nshifted = g->placement.n;
  for (int i = 0; i < g->placement.n; i++)
    AMBIT_TRY(ambit__active_shift(ambit__program_errors(p), g->active, &g->local[i],
                                  &g->parts[g->first + i], &s->box, s->shift, &slice->shifted[i]));
  return AMBIT_OK;
}

/* Cells of a transfer, on a process that has one of its ends. */
static int64_t count_cells(const ambit_grid *g, const ambit__halo_slice *slice,
                           const ambit__transfer *t)
{
  if (!slice->shifted) return ambit__active_count(g->active, &t->box);
  return ambit__active_count(g->mine[t->to] ? &slice->shifted[t->to - g->first].to
                                            : &slice->shifted[t->from - g->first].from,
                             &t->box);
}

/* Finds the cells of the transfers of a copy, and drops those without any. */
static ambit_status place(const ambit_program *p, const ambit__step *s, ambit__halo_slice *slice)
{
  ambit__halo *h = &slice->halo;
  size_t kept = 0;

  if (is_shifted(s)) AMBIT_TRY(find_cells(p, s, slice));
  for (size_t i = 0; i < h->count; i++) {
    ambit__transfer t = h->transfers[i];

    t.box = ambit__box_move(&t.box, s->shift);
    memset(t.shift, 0, sizeof t.shift);
    t.cells = count_cells(p->grid, slice, &t);
    if (t.cells) h->transfers[kept++] = t;
  }
  h->count = kept;
  return AMBIT_OK;
}

ambit_status ambit__copies_place(ambit_program *p)
{
  for (size_t i = 0; p->grid->active && i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_COPY)
      AMBIT_TRY(place(p, &p->steps[i], &p->copies.list[p->applies[i].copy].slices[0]));
  return AMBIT_OK;
}

/* ---- all ---- */

ambit_status ambit__copies_make(ambit_program *p)
{
  AMBIT_NEW(ambit__program_errors(p), p->copies.list, p->nsteps);
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_COPY) AMBIT_TRY(make_copy(p, i));
  return AMBIT_OK;
}

/* ---- appending ---- */

ambit_status ambit__copy_check_fields(const ambit_program *p, const ambit_field *from,
                                      const ambit_field *to)
{
  AMBIT_CHECK(from && to, ambit__program_errors(p), AMBIT_EINVAL, "field %d of a copy is NULL",
              from ? 2 : 1);
  AMBIT_CHECK(from->grid->context == p->grid->context, ambit__program_errors(p), AMBIT_EINVAL,
              "field '%s' of a copy belongs to another context than the program", from->name);
  AMBIT_CHECK(to->grid == p->grid, ambit__program_errors(p), AMBIT_EINVAL,
              "field '%s', to which cells are copied, belongs to another grid than the program; "
              "copy in a program on its grid, which ambit_call can run",
              to->name);
  AMBIT_CHECK(from->grid->box.ndims == to->grid->box.ndims, ambit__program_errors(p),
              AMBIT_EPROGRAM,
              "field '%s' cannot be copied to '%s': their grids have %d and %d axes", from->name,
              to->name, from->grid->box.ndims, to->grid->box.ndims);
  return AMBIT_OK;
}

static ambit_status check_copy(ambit_program *p, const ambit__step *s)
{
  const ambit_field *from = s->args[0].field, *to = s->args[1].field;
  const ambit__box there = ambit__copy_destination(s);
  const ambit__box both = ambit__box_intersect(&s->box, &there);

  AMBIT_CHECK(!from->base && !to->base, ambit__program_errors(p), AMBIT_EPROGRAM,
              "field '%s' is a view and cannot be copied; a kernel can do it",
              from->base ? from->name : to->name);
  AMBIT_TRY(ambit__field_check_whole(from, "cannot be copied; a kernel can do it"));
  AMBIT_TRY(ambit__field_check_whole(to, "cannot be copied to; a kernel can do it"));
  AMBIT_CHECK(from != to || ambit__box_is_empty(&both), ambit__program_errors(p), AMBIT_EPROGRAM,
              "field '%s' is copied to itself, and the two boxes overlap: copy to another field "
              "first",
              from->name);
  return AMBIT_OK;
}

ambit_status ambit_copy_box(ambit_program *p, const ambit_field *from, const int64_t *lo,
                            const int64_t *hi, ambit_field *to, const int64_t *at)
{
  ambit_arg args[] = {ambit_arg_field(from), ambit_arg_field(to)};
  ambit__step s = {.kind = STEP_COPY, .n = 2, .args = args};
  char box[160], grid[160];
  ambit__box there;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_TRY(ambit__copy_check_fields(p, from, to));
  AMBIT_TRY(ambit__program_box(p, from->grid, "a copy takes", lo, hi, &s.box));
  for (int d = 0; at && d < s.box.ndims && d < p->grid->box.ndims; d++) {
    AMBIT_CHECK(at[d] >= 0 && at[d] < p->grid->box.hi[d], ambit__program_errors(p), AMBIT_EINVAL,
                "a copy to index %lld along axis %d leaves the grid, which has %lld cells there",
                (long long)at[d], d, (long long)p->grid->box.hi[d]);
    s.shift[d] = at[d] - s.box.lo[d];
  }
  there = ambit__copy_destination(&s);
  ambit__box_print(&p->grid->box, grid, sizeof grid);
  ambit__box_print(&there, box, sizeof box);
  AMBIT_CHECK(ambit__box_contains(&p->grid->box, &there), ambit__program_errors(p), AMBIT_EINVAL,
              "a copy to the box %s leaves the grid %s", box, grid);
  if (from->grid != p->grid || from->type != to->type || from->components != to->components ||
      from->order != to->order)
    return ambit__resample_append(p, (ambit_field *)from, &s.box, to, &there);
  AMBIT_TRY(check_copy(p, &s));
  return ambit__program_append(p, s, args);
}
