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
  const ambit__active *a;
  const ambit__boundaries *boundaries;
  const ambit__box *region;
  const int *offset;
} query;

/* Whether an active cell reads an inactive one. */
static bool reads_inactive(const query *q, const int64_t *cell)
{
  int64_t there[AMBIT_MAX_DIMS];
  double value;

  for (int d = 0; d < q->a->box.ndims; d++)
    there[d] = cell[d] + q->offset[d];
  return ambit__boundaries_map(q->boundaries, q->a->box.ndims, q->a->box.hi, there, &value) &&
         !ambit__active_has(q->a, there);
}

/* Whether the cells that those of a row read are all in one run. */
static bool is_in_a_run(const query *q, const ambit__box *row)
{
  const int last = row->ndims - 1;
  int64_t there[AMBIT_MAX_DIMS], i;

  for (int d = 0; d <= last; d++) {
    there[d] = row->lo[d] + q->offset[d];
    if (there[d] < 0 || row->hi[d] + q->offset[d] > q->a->box.hi[d]) return false;
  }
  i = ambit__active_run(q->a, there);
  return i >= 0 && q->a->runs[i].hi >= row->hi[last] + q->offset[last];
}

/* The first active cell of the region that reads an inactive one. */
static bool find(const query *q, int64_t *cell)
{
  const int last = q->region->ndims - 1;
  ambit__box row;
  int64_t i = 0;

  while (ambit__active_next(q->a, q->region, &i, &row)) {
    if (is_in_a_run(q, &row)) continue;
    memcpy(cell, row.lo, sizeof row.lo);
    for (; cell[last] < row.hi[last]; cell[last]++)
      if (reads_inactive(q, cell)) return true;
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
  const ambit__active *a = p->grid->active;

  for (int i = 0; a && i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];
    const ambit_field *f = s->args[i].field;

    if (!f || !region->ndims || f->boundaries.inactive != AMBIT_NONE) continue;
    for (int k = 0; k < q->nreads; k++) {
      const query look = {a, &f->boundaries, region, q->reads[k].offset};
      int64_t cell[AMBIT_MAX_DIMS];

      if (q->reads[k].is_tested || is_here(&q->reads[k])) continue;
      if (find(&look, cell)) return refuse(p, s, i, k, cell);
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

static bool has_mirrors(const ambit_field *f)
{
  for (int d = 0; f && d < f->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++)
      if (f->boundaries.kind[d][side] == AMBIT_ANTISYMMETRIC) return true;
  return false;
}

static ambit_status adapt(ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  ambit__apply *a = &p->applies[step];
  ambit__surroundings around = {.type = ambit__grid_activity_type(p->grid), .box = &p->grid->box};
  int param[AMBIT__VIEWS];

  if (!p->grid->context->engines[0].device->backend->ghosts) return AMBIT_OK; /* the definition */
  number_views(s, around.view);
  for (int i = 0; i < s->n; i++)
    if (has_mirrors(s->args[i].field)) around.mirrors[i] = &s->args[i].field->boundaries;
  AMBIT_TRY(
      ambit__rule_sparse(ambit__program_errors(p), s->kernel->rule, &around, param, &a->adapted));
  if (!a->adapted || a->adapted->nparams == s->n) return AMBIT_OK;
  a->nargs = a->adapted->nparams;
  a->activity =
      ambit__new(ambit__program_errors(p), (size_t)(a->nargs - s->n), sizeof(ambit_field *));
  if (!a->activity) return AMBIT_ENOMEM;
  for (int v = 0; v < AMBIT__VIEWS; v++) {
    ambit__boundaries b;

    if (param[v] < 0) continue;
    b = v == AMBIT__OUTSIDE ? outside_view() : field_view(s->args[v].field);
    a->activity[param[v] - s->n] = ambit__grid_activity(p->grid, &b);
    if (!a->activity[param[v] - s->n]) return ambit__program_errors(p)->status;
  }
  return AMBIT_OK;
}

/* ---- the form of the reads ---- */

ambit__boundaries ambit__field_view(const ambit_field *f)
{
  ambit__boundaries b = f->boundaries;

  if (b.inactive != AMBIT_CONSTANT) b.fill = 0;
  b.inactive = AMBIT_CONSTANT;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    for (int side = 0; side < 2; side++) {
      if (b.kind[d][side] == AMBIT_CONSTANT) continue;
      b.value[d][side] = 0;
      if (ambit__boundary_copies(b.kind[d][side])) continue;
      b.kind[d][side] = AMBIT_CONSTANT;
      b.value[d][side] = b.fill;
    }
  return b;
}

ambit_status ambit__step_form(const ambit_program *p, size_t step, bool list,
                              ambit__chunk_form *form)
{
  const ambit__step *s = &p->steps[step];
  const ambit__apply *a = &p->applies[step];
  const ambit__rule *rule = a->adapted ? a->adapted : s->kernel->rule;

  *form = (ambit__chunk_form){.list = list};
  for (int i = 0; i < AMBIT_MAX_PARAMS; i++)
    form->view[i] = -1;
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];
    const ambit_field *f = i < s->n ? s->args[i].field : a->activity[i - s->n];
    ambit__boundaries view;

    if (!f || !q->reads_neighbours) continue;
    view = ambit__field_view(f);
    form->view[i] = ambit__chunk_form_view(form, &view);
    for (int k = 0; k < q->nreads; k++)
      AMBIT_TRY(ambit__chunk_form_add(ambit__program_errors(p), form, p->grid->box.ndims,
                                      form->view[i], q->reads[k].offset, i >= s->n));
  }
  return ambit__chunk_form_rank(ambit__program_errors(p), form, p->grid->box.ndims);
}

/* The definition computes rules as they are written; so do checks, which point at their text. */
static ambit_status simplify(ambit_program *p, size_t step)
{
  const ambit *a = p->grid->context;

  if (!a->engines[0].device->backend->ghosts || ambit__options_checks(a)) return AMBIT_OK;
  return ambit__rule_simplify(ambit__program_errors(p), p->steps[step].kernel->rule,
                              &p->applies[step].adapted);
}

ambit_status ambit__step_adapt(ambit_program *p, size_t step)
{
  ambit__apply *a = &p->applies[step];

  a->nargs = p->steps[step].n;
  if (!a->region.ndims) return AMBIT_OK;
  if (!p->grid->active) return simplify(p, step);
  AMBIT_TRY(adapt(p, step));
  return ambit__step_form(p, step, p->grid->active->storage == STORAGE_LIST, &a->form);
}

/* ---- chunks ---- */

ambit_status ambit__apply_chunks(const ambit_program *p, const ambit__apply *a, int part,
                                 const ambit__box *box, const ambit__chunks **chunks)
{
  *chunks = NULL;
  if (!a->chunks) return AMBIT_OK;
  return ambit__chunks_get(ambit__program_errors(p), &p->grid->local[part], &a->form, box,
                           a->functions[p->grid->placement.engine[part]]->block, &a->chunks[part],
                           chunks);
}

static void raise_to(int64_t *most, int64_t n)
{
  if (*most < n) *most = n;
}

/* The layers around its own cells that a rule reads of any field or of activity, which has no
 * halo. */
static void add_form(const ambit__chunk_form *f, int ndims, ambit__layers *layers)
{
  for (int k = 0; k < f->ncolumns; k++)
    for (int d = 0; d < ndims - 1; d++) {
      raise_to(&layers->lo[d], -f->columns[k].offset[d]);
      raise_to(&layers->hi[d], f->columns[k].offset[d]);
    }
  for (int v = 0; v < f->nviews; v++) {
    raise_to(&layers->lo[ndims - 1], f->reach[v]);
    raise_to(&layers->hi[ndims - 1], f->reach[v]);
  }
}

/* The layers that parts read of a field: at the faces of the grid farther than the offsets say. */
static void add_halo(const ambit_grid *g, const ambit__field_halo *h, ambit__layers *layers)
{
  for (int k = 0; k < g->nparts; k++) {
    const ambit__box reach = ambit__field_halo_reach(h, k);
    const ambit__box *own = &g->parts[k];

    for (int d = 0; !ambit__box_is_empty(own) && d < own->ndims; d++) {
      raise_to(&layers->lo[d], own->lo[d] - reach.lo[d]);
      raise_to(&layers->hi[d], reach.hi[d] - own->hi[d]);
    }
  }
}

ambit_status ambit__program_chunks(ambit_program *p)
{
  ambit_grid *g = p->grid;
  ambit__layers layers = {{0}, {0}};
  int64_t pad = 0;

  if (!g->active) return AMBIT_OK;
  AMBIT_TRY(ambit__program_store(p));
  for (size_t i = 0; i < p->nsteps; i++) {
    ambit__apply *a = &p->applies[i];

    if (p->steps[i].kind != STEP_APPLY || !a->region.ndims) continue;
    raise_to(&pad, ambit__chunk_form_pad(&a->form));
    add_form(&a->form, g->box.ndims, &layers);
    a->chunks = ambit__new(ambit__program_errors(p), (size_t)g->placement.n, sizeof *a->chunks);
    if (!a->chunks) return AMBIT_ENOMEM;
  }
  for (int i = 0; i < p->halos.n; i++)
    add_halo(g, &p->halos.list[i], &layers);
  if (!ambit__grid_is_wide(g, pad, &layers)) ambit__program_unseal_others(p);
  return ambit__grid_widen(g, pad, &layers);
}
