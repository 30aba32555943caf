/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/program/sweeping.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
  BLOCKS = 4,            /* per part along the axis: one that waits for n others waits n / 4n */
  LEAST_CELLS = 1 << 14, /* of a block: a message takes as long as some 10,000 cells */
  LEAST_ROW = 256        /* cells of a block along rows */
};

/* ---- checks ---- */

bool ambit__step_carries(const ambit__step *s, int arg)
{
  const ambit_field *f = s->args[arg].field;

  return s->sweep && f && s->kernel->rule->params[arg].is_written &&
         !s->kernel->rule->params[arg].is_folded &&
         f->dropped == (s->dropped | 1u << ambit__sweep_axis(s->sweep));
}

static ambit_status check_carried(const ambit_program *p, const ambit__step *s, int i)
{
  const ambit__param *q = &s->kernel->rule->params[i];

  for (int j = 0; j < s->n; j++) {
    const ambit__param *r = &s->kernel->rule->params[j];

    if (s->args[j].field != s->args[i].field) continue;
    for (int k = 0; k < r->nreads; k++)
      for (int d = 0; d < p->grid->box.ndims; d++) {
        if (!r->reads[k].offset[d]) continue;
        return ambit__step_raise_at(p, s->kernel->rule, r->reads[k].place,
                                    "this reads a neighbour of field '%s', which a sweep carries: "
                                    "lines are independent, and only the cell itself can be read",
                                    s->args[i].field->name);
      }
  }
  AMBIT_CHECK(!q->targets, ambit__program_errors(p), AMBIT_EUNSUPPORTED,
              "kernel %s writes neighbours of field '%s', which a sweep carries",
              s->kernel->rule->name, s->args[i].field->name);
  return AMBIT_OK;
}

ambit_status ambit__step_check_sweep(const ambit_program *p, const ambit__step *s)
{
  const int axis = ambit__sweep_axis(s->sweep);
  const ambit__rule *rule = s->kernel->rule;
  int carried = 0;

  AMBIT_CHECK(!p->grid->active, ambit__program_errors(p), AMBIT_EUNSUPPORTED,
              "kernel %s sweeps a sparse grid; sweeps need a dense one", rule->name);
  AMBIT_CHECK(s->box.ndims && !(s->dropped >> axis & 1), ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s sweeps along axis %d, and none of its fields has that axis", rule->name,
              axis);
  for (int i = 0; i < s->n; i++) {
    AMBIT_CHECK(!rule->params[i].is_folded, ambit__program_errors(p), AMBIT_EUNSUPPORTED,
                "kernel %s sweeps and reduces onto field '%s'; use a step for each", rule->name,
                s->args[i].field ? s->args[i].field->name : "");
    if (!ambit__step_carries(s, i)) continue;
    AMBIT_TRY(check_carried(p, s, i));
    carried++;
  }
  AMBIT_CHECK(carried, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s sweeps along axis %d and carries nothing: it must write a field that has "
              "all axes but that one (ambit_field_create_on); without one, use ambit_apply",
              rule->name, axis);
  return AMBIT_OK;
}

/* ---- blocks ---- */

/* The cells of a step on a part of any process. */
static ambit__box cells_of(const ambit_program *p, size_t step, int part)
{
  const ambit__box own = ambit__step_part(p, &p->steps[step], part);

  return ambit__box_intersect(&p->applies[step].region, &own);
}

ambit__box ambit__sweeping_block(const ambit_program *p, size_t step, const ambit__box *box, int b)
{
  const ambit__sweeping *s = p->applies[step].sweeping;
  const int64_t first = p->applies[step].region.lo[s->split];
  ambit__box block = *box;

  if (b) block.lo[s->split] = first + b * s->block;
  if (b + 1 < s->blocks) block.hi[s->split] = first + (b + 1) * s->block;
  return ambit__box_intersect(&block, box);
}

/* The axis with most cells but the swept one and the last, or if there is none the last one. */
static int split_axis(const ambit__box *region, int axis)
{
  int best = region->ndims - 1;

  for (int d = region->ndims - 2; d >= 0; d--)
    if (d != axis && region->hi[d] - region->lo[d] > 1 &&
        (best == region->ndims - 1 ||
         region->hi[d] - region->lo[d] >= region->hi[best] - region->lo[best]))
      best = d;
  return best;
}

/* Parts that follow one another along the axis, and the cells of the largest part. */
static int count_turns(const ambit_program *p, size_t step, int axis, ambit__box *most)
{
  int turns = 0;

  *most = (ambit__box){.ndims = p->grid->box.ndims};
  for (int i = 0; i < p->grid->nparts; i++) {
    const ambit__box cells = cells_of(p, step, i);
    bool known = ambit__box_is_empty(&cells);

    for (int k = 0; k < i && !known; k++) {
      const ambit__box other = cells_of(p, step, k);

      known = !ambit__box_is_empty(&other) && other.lo[axis] == cells.lo[axis];
    }
    turns += !known;
    if (ambit__box_volume(&cells) > ambit__box_volume(most)) *most = cells;
  }
  return turns;
}

/* The same on all processes. */
static void choose_blocks(const ambit_program *p, size_t step, ambit__sweeping *s)
{
  const ambit__box *region = &p->applies[step].region;
  ambit__box most;
  const int turns = count_turns(p, step, s->axis, &most);
  int64_t extent, least;

  s->split = split_axis(region, s->axis);
  extent = region->hi[s->split] - region->lo[s->split];
  s->block = extent;
  s->blocks = 1;
  if (turns < 2 || s->split == s->axis) return;
  extent = most.hi[s->split] - most.lo[s->split];
  least = 1 + (LEAST_CELLS - 1) / (ambit__box_volume(&most) / extent);
  if (s->split == region->ndims - 1 && least < LEAST_ROW) least = LEAST_ROW;
  s->block = (extent + BLOCKS * turns - 1) / (BLOCKS * turns);
  if (s->block < least) s->block = least;
  s->blocks = (int)((region->hi[s->split] - region->lo[s->split] + s->block - 1) / s->block);
}

/* ---- carried cells between parts ---- */

/* Whether `to` takes copies of cells along the axes that the step does not have from `from`. */
static bool is_copied(const ambit_program *p, size_t step, int from, int to)
{
  const ambit__box *a = &p->grid->parts[from], *b = &p->grid->parts[to];

  for (int d = 0; d < a->ndims; d++)
    if (p->steps[step].dropped >> d & 1 && (b->lo[d] < a->lo[d] || b->lo[d] >= a->hi[d]))
      return false;
  return true;
}

static bool follows(const ambit__sweeping *s, const ambit__box *from, const ambit__box *to)
{
  return s->up ? from->hi[s->axis] == to->lo[s->axis] : from->lo[s->axis] == to->hi[s->axis];
}

static bool is_end(const ambit_program *p, size_t step, const ambit__sweeping *s,
                   const ambit__box *cells)
{
  const ambit__box *region = &p->applies[step].region;

  return s->up ? cells->hi[s->axis] == region->hi[s->axis]
               : cells->lo[s->axis] == region->lo[s->axis];
}

/* Carried cells of a box after a block, if there are any. */
static ambit_status add_carry(ambit_program *p, ambit__sweeping *s, const ambit__carry *like,
                              const ambit__box *cells, int block)
{
  const size_t size = ambit__field_cell_bytes(like->field);
  ambit__carry *c;

  if (ambit__box_is_empty(cells)) return AMBIT_OK;
  c = ambit__add(ambit__program_errors(p), &s->carries, s->n, &s->cap, sizeof *c);
  if (!c) return AMBIT_ENOMEM;
  s->n++;
  *c = *like;
  c->cells = *cells;
  c->block = block;
  AMBIT_HOLD(p, c->bytes, (size_t)ambit__box_volume(cells) * size);
  return AMBIT_OK;
}

/* Those of a field between two parts. */
static ambit_status add_pair(ambit_program *p, size_t step, ambit__sweeping *s, ambit_field *f,
                             int from, int to)
{
  const ambit__box a = cells_of(p, step, from), b = cells_of(p, step, to);
  const ambit__box there = ambit__field_part(f, to), left = ambit__box_project(&a, f->dropped);
  const ambit__box taken = ambit__box_project(&b, f->dropped);
  const ambit__box next = ambit__box_intersect(&left, &taken);
  const ambit__box last = ambit__box_intersect(&left, &there);
  const ambit__carry like = {.field = f, .from = from, .to = to};

  if (from == to || (!p->grid->mine[from] && !p->grid->mine[to])) return AMBIT_OK;
  if (ambit__box_is_empty(&a) || !is_copied(p, step, from, to)) return AMBIT_OK;
  for (int k = 0; k < s->blocks && !ambit__box_is_empty(&b) && follows(s, &a, &b); k++) {
    const ambit__box cells = ambit__sweeping_block(p, step, &next, k);

    AMBIT_TRY(add_carry(p, s, &like, &cells, k));
  }
  if (is_end(p, step, s, &a) && (ambit__box_is_empty(&b) || !is_end(p, step, s, &b)))
    AMBIT_TRY(add_carry(p, s, &like, &last, s->blocks));
  return AMBIT_OK;
}

ambit_status ambit__sweeping_make(ambit_program *p, size_t step)
{
  const ambit__step *st = &p->steps[step];
  const int n = p->grid->nparts;
  ambit__sweeping *s;

  if (!st->sweep) return AMBIT_OK;
  AMBIT_HOLD(p, s, 1);
  p->applies[step].sweeping = s;
  s->axis = ambit__sweep_axis(st->sweep);
  s->up = st->sweep > 0;
  choose_blocks(p, step, s);
  AMBIT_HOLD(p, s->order, (size_t)p->grid->placement.n * 2);
  for (int i = 0; i < st->n; i++)
    for (int from = 0; ambit__step_carries(st, i) && from < n; from++)
      for (int to = 0; to < n; to++)
        AMBIT_TRY(add_pair(p, step, s, st->args[i].field, from, to));
  return AMBIT_OK;
}

void ambit__sweeping_cancel(ambit_program *p, size_t step)
{
  ambit__sweeping *s = p->applies[step].sweeping;

  for (size_t i = 0; s && i < s->n; i++)
    ambit__net_cancel(p->grid->context->net, &s->carries[i].request, 1);
  if (s) free(s->carries);
}
