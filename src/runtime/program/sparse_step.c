/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_step.c - steps on sparse grids: reads of inactive cells, rules that ask for activity. */
#include "base/memory.h"
#include "runtime/program/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reads without a boundary ---- */

/* A read that is looked for. */
typedef struct query {
  const ambit__blocks *b;
  const ambit__boundaries *boundaries;
  const ambit__box *region;
  const int *offset;
} query;

/* Whether an active cell reads an inactive one. */
static bool reads_inactive(const query *q, const int64_t *cell)
{
  int64_t there[AMBIT_MAX_DIMS];
  double value;

  for (int d = 0; d < q->b->box.ndims; d++)
    there[d] = cell[d] + q->offset[d];
  return ambit__boundaries_map(q->boundaries, q->b->box.ndims, q->b->box.hi, there, &value) &&
         !ambit__blocks_active(q->b, there);
}

/* Whether all reads from a block stay in the box, in the block or beside it. */
static bool stays_near(const query *q, int64_t block)
{
  const ambit__blocks *b = q->b;

  for (int d = 0; d < b->box.ndims; d++) {
    const int64_t n = (int64_t)1 << b->shift[d], at = b->at[block * b->box.ndims + d] * n;

    if (q->offset[d] < -n || q->offset[d] > n || at + q->offset[d] < 0 ||
        at + n + q->offset[d] > b->box.hi[d] || at + n > b->box.hi[d])
      return false;
  }
  return true;
}

/* The first such cell of a row of active cells; -1: none. */
static int64_t find_in_row(const query *q, int64_t block, const ambit__box *row, bool near)
{
  const ambit__blocks *b = q->b;
  const int last = row->ndims - 1;
  int64_t at[AMBIT_MAX_DIMS];

  memcpy(at, row->lo, sizeof at);
  if (near) {
    const int64_t first = row->lo[last] & (((int64_t)1 << b->shift[last]) - 1);
    const int64_t n = row->hi[last] - row->lo[last];
    uint64_t off;

    for (int d = 0; d <= last; d++)
      at[d] = row->lo[d] & (((int64_t)1 << b->shift[d]) - 1);
    off = ~ambit__blocks_bits_at(b, block, at, q->offset) >> first;
    if (n < 64) off &= ((uint64_t)1 << n) - 1;
    return off ? row->lo[last] + __builtin_ctzll(off) : -1;
  }
  for (; at[last] < row->hi[last]; at[last]++)
    if (reads_inactive(q, at)) return at[last];
  return -1;
}

static bool find_in_block(const query *q, int64_t block, int64_t *cell)
{
  const bool near = stays_near(q, block);
  const ambit__box cells = ambit__blocks_box(q->b, block);
  const ambit__box clip = ambit__box_intersect(&cells, q->region);
  const int last = clip.ndims - 1;
  ambit__runs r = {0};

  while (ambit__blocks_next_run(q->b, block, &clip, &r)) {
    ambit__box row = r.box;

    ambit__box_first(&r.box, row.lo);
    do {
      const int64_t x = find_in_row(q, block, &row, near);

      if (x < 0) continue;
      memcpy(cell, row.lo, sizeof row.lo);
      cell[last] = x;
      return true;
    } while (ambit__box_next_row(&r.box, row.lo));
  }
  return false;
}

static void print_index(char *text, size_t size, int ndims, const int64_t *cell)
{
  int n = 0;

  for (int d = 0; d < ndims; d++)
    n += snprintf(text + n, size - (size_t)n, "[%" PRId64 "]", cell[d]);
}

static ambit_status refuse(const ambit_program *p, const ambit__step *s, int arg, int read,
                           const int64_t *cell)
{
  const ambit_field *f = s->args[arg].field;
  const ambit__read *r = &s->kernel->rule->params[arg].reads[read];
  char message[512], where[160];

  print_index(where, sizeof where, p->grid->box.ndims, cell);
  snprintf(message, sizeof message,
           "this reads field '%s' in an inactive cell, from the active cell %s, and no boundary is "
           "declared for inactive cells. Declare one: ambit_field_boundary(%s, AMBIT_INACTIVE, "
           "...), or test outside() of this offset first",
           f->name, where, f->name);
  return ambit__step_raise_at(p, s->kernel->rule, r->place, message);
}

static bool is_here(const ambit__read *r)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (r->offset[d]) return false;
  return true;
}

ambit_status ambit__step_check_inactive(const ambit_program *p, const ambit__step *s,
                                        const ambit__box *region)
{
  const ambit__blocks *b = p->grid->blocks;

  for (int i = 0; b && i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];
    const ambit_field *f = s->args[i].field;

    if (!f || !region->ndims || f->boundaries.inactive != AMBIT_NONE) continue;
    for (int k = 0; k < q->nreads; k++) {
      const query look = {b, &f->boundaries, region, q->reads[k].offset};
      int64_t cell[AMBIT_MAX_DIMS];

      if (q->reads[k].is_tested || is_here(&q->reads[k])) continue;
      for (int64_t n = 0; n < b->n; n++)
        if (find_in_block(&look, n, cell)) return refuse(p, s, i, k, cell);
    }
  }
  return AMBIT_OK;
}

/* ---- activity ---- */

/* The boundaries of the activity that outside() sees: 0 beyond every face. */
static ambit__boundaries outside_view(void)
{
  ambit__boundaries b = {.inactive = AMBIT_CONSTANT};

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    b.kind[d][0] = b.kind[d][1] = AMBIT_CONSTANT;
  return b;
}

/* ... and that reads of a field depend on: constants of faces are values. */
static ambit__boundaries field_view(const ambit_field *f)
{
  ambit__boundaries b = f->boundaries;

  b.inactive = AMBIT_CONSTANT;
  b.fill = 0;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    for (int side = 0; side < 2; side++)
      b.value[d][side] = 1;
  return b;
}

/* Fields with the same boundaries share a view. */
static void number_views(const ambit__step *s, int *view)
{
  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;

    view[i] = f && f->boundaries.inactive == AMBIT_CLAMP ? i : -1;
    for (int j = 0; view[i] == i && j < i; j++) {
      const ambit__boundaries a = field_view(f);
      ambit__boundaries b;

      if (view[j] < 0) continue;
      b = field_view(s->args[j].field);
      if (ambit__boundaries_equal(&a, &b)) view[i] = view[j];
    }
  }
}

ambit_status ambit__step_adapt(ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  ambit__apply *a = &p->applies[step];
  int view[AMBIT_MAX_PARAMS], param[AMBIT__VIEWS];

  a->nargs = s->n;
  if (!p->grid->blocks || !a->region.ndims) return AMBIT_OK;
  if (!p->grid->context->engines[0].device->backend->ghosts) return AMBIT_OK; /* the definition */
  number_views(s, view);
  AMBIT_TRY(
      ambit__rule_sparse(ambit__program_errors(p), s->kernel->rule, view, param, &a->adapted));
  if (!a->adapted) return AMBIT_OK;
  a->nargs = a->adapted->nparams;
  a->views = ambit__new(ambit__program_errors(p), (size_t)(a->nargs - s->n), sizeof *a->views);
  if (!a->views) return AMBIT_ENOMEM;
  for (int v = 0; v < AMBIT__VIEWS; v++)
    if (param[v] >= 0)
      a->views[param[v] - s->n] =
          v == AMBIT__OUTSIDE ? outside_view() : field_view(s->args[v].field);
  return ambit__grid_activity(p->grid);
}
