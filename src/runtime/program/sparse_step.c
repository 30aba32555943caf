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
  char where[160];

  print_index(where, sizeof where, p->grid->box.ndims, cell);
  return ambit__step_raise_at(
      p, s->kernel->rule, r->place,
      "this reads field '%s' in an inactive cell, from the active cell %s, and no boundary is "
      "declared for inactive cells. Declare one: ambit_field_boundary(%s, AMBIT_INACTIVE, "
      "...), or test outside() of this offset first",
      f->name, where, f->name);
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
      const ambit__boundaries *b = ambit__field_boundaries(f, q->reads[k].component);
      const query look = {a, b, region, q->reads[k].offset};
      int64_t cell[AMBIT_MAX_DIMS];

      if (q->reads[k].is_tested || ambit__offset_is_zero(q->reads[k].offset)) continue;
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

/* Places beyond antisymmetric faces are those of symmetric ones. */
static void drop_signs(ambit__boundaries *b)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    for (int side = 0; side < 2; side++)
      if (b->kind[d][side] == AMBIT_ANTISYMMETRIC) b->kind[d][side] = AMBIT_SYMMETRIC;
}

/* ... and that reads with some boundaries depend on: constants of faces are values. */
static ambit__boundaries field_view(const ambit__boundaries *of)
{
  ambit__boundaries b = *of;

  drop_signs(&b);
  b.inactive = AMBIT_CONSTANT;
  b.fill = 0;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    for (int side = 0; side < 2; side++)
      b.value[d][side] = 1;
  return b;
}

static bool has_mirrors(const ambit__boundaries *b)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    for (int side = 0; side < 2; side++)
      if (b->kind[d][side] == AMBIT_ANTISYMMETRIC) return true;
  return false;
}

/* The activity that a rule needs, and what else it must know. */
typedef struct outlook {
  ambit__surroundings around;
  ambit__boundaries *views;    /* by number */
  int *view[AMBIT_MAX_PARAMS]; /* by parameter and component, see around.view */
  int *param;                  /* by view: the parameter of the adapted rule, or -1 */
} outlook;

/* Components with the same boundaries share a view. */
static int number_view(outlook *o, const ambit__boundaries *of)
{
  const ambit__boundaries b = field_view(of);

  for (int v = 0; v < o->around.nviews; v++)
    if (v != AMBIT__OUTSIDE && ambit__boundaries_equal(&o->views[v], &b)) return v;
  o->views[o->around.nviews] = b;
  return o->around.nviews++;
}

static ambit_status note_field(ambit_program *p, outlook *o, int param, const ambit_field *f)
{
  AMBIT_HOLD(p, o->view[param], (size_t)f->components);
  for (int c = 0; c < f->components; c++) {
    const ambit__boundaries *b = ambit__field_boundaries(f, c);

    o->view[param][c] = b->inactive == AMBIT_CLAMP ? number_view(o, b) : AMBIT__OUTSIDE;
    if (b->inactive == AMBIT_CLAMP) o->around.view[param] = o->view[param];
    if (has_mirrors(b)) o->around.mirrors[param] = f->special ? f->special : &f->boundaries;
  }
  o->around.special[param] = f->special != NULL;
  return AMBIT_OK;
}

/* What surrounds the cells of the fields of a step. */
static ambit_status look_around(ambit_program *p, const ambit__step *s, outlook *o)
{
  size_t most = 1;

  for (int i = 0; i < s->n; i++)
    if (s->args[i].field) most += (size_t)s->args[i].field->components;
  AMBIT_HOLD(p, o->views, most);
  AMBIT_HOLD(p, o->param, most);
  o->views[AMBIT__OUTSIDE] = outside_view();
  o->around.nviews = AMBIT__OUTSIDE + 1;
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field) AMBIT_TRY(note_field(p, o, i, s->args[i].field));
  return AMBIT_OK;
}

/* The fields of activity that the adapted rule reads. */
static ambit_status take_activity(ambit_program *p, int first, const outlook *o, ambit__apply *a)
{
  a->nargs = a->adapted->nparams;
  AMBIT_HOLD(p, a->activity, (size_t)(a->nargs - first));
  for (int v = 0; v < o->around.nviews; v++) {
    if (o->param[v] < 0) continue;
    a->activity[o->param[v] - first] = ambit__grid_activity(p->grid, &o->views[v]);
    if (!a->activity[o->param[v] - first]) return ambit__program_errors(p)->status;
  }
  return AMBIT_OK;
}

static ambit_status adapt(ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  ambit__apply *a = &p->applies[step];
  outlook o = {.around = {.type = ambit__grid_activity_type(p->grid), .box = &p->grid->box}};

  if (!ambit__can(p->grid->context->engines[0].device->backend, ghosts))
    return AMBIT_OK; /* the definition */
  AMBIT_TRY(look_around(p, s, &o));
  AMBIT_TRY(ambit__rule_sparse(ambit__program_errors(p), s->kernel->rule, &o.around, o.param,
                               &a->adapted));
  return a->adapted && a->adapted->nparams > s->n ? take_activity(p, s->n, &o, a) : AMBIT_OK;
}

/* ---- the form of the reads ---- */

ambit__boundaries ambit__field_view(const ambit_field *f, int component)
{
  ambit__boundaries b = *ambit__field_boundaries(f, component);

  drop_signs(&b);
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

/* Gives the components of a parameter their views. */
static ambit_status see_field(const ambit_program *p, const ambit_field *f, int param,
                              ambit__chunk_form *form)
{
  ambit__errors *errors = ambit__program_errors(p);

  AMBIT_NEW(errors, form->view[param], (size_t)f->components);
  for (int c = 0; c < f->components; c++) {
    const ambit__boundaries view = ambit__field_view(f, c);

    form->view[param][c] = ambit__chunk_form_view(errors, form, &view);
    if (form->view[param][c] < 0) return AMBIT_ENOMEM;
  }
  return AMBIT_OK;
}

ambit_status ambit__step_form(const ambit_program *p, size_t step, bool list,
                              ambit__chunk_form *form)
{
  const ambit__step *s = &p->steps[step];
  const ambit__apply *a = &p->applies[step];
  const ambit__rule *rule = a->adapted ? a->adapted : s->kernel->rule;

  *form = (ambit__chunk_form){.list = list};
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];
    const ambit_field *f = i < s->n ? s->args[i].field : a->activity[i - s->n];

    if (!f || !q->reads_neighbours) continue;
    AMBIT_TRY(see_field(p, f, i, form));
    for (int k = 0; k < q->nreads; k++)
      AMBIT_TRY(ambit__chunk_form_add(ambit__program_errors(p), form, p->grid->box.ndims,
                                      form->view[i][q->reads[k].component], q->reads[k].offset,
                                      i >= s->n));
  }
  return ambit__chunk_form_rank(ambit__program_errors(p), form, p->grid->box.ndims);
}

static void raise_to(int64_t *most, int64_t n)
{
  if (*most < n) *most = n;
}

/* The definition computes rules as they are written; so do checks, which point at their text. */
static ambit_status simplify(ambit_program *p, size_t step)
{
  const ambit *a = p->grid->context;

  const ambit__rule *rule = p->steps[step].kernel->rule;
  ambit__rule **adapted = &p->applies[step].adapted;
  int64_t extent = 0;

  if (!ambit__can(a->engines[0].device->backend, ghosts) || ambit__options_checks(a))
    return AMBIT_OK;
  AMBIT_TRY(ambit__rule_simplify(ambit__program_errors(p), rule, adapted));
  if (*adapted) return AMBIT_OK;
  for (int d = 0; d < p->grid->box.ndims; d++)
    raise_to(&extent, p->grid->box.hi[d]);
  p->applies[step].is_normal = true;
  return ambit__rule_normal(ambit__program_errors(p), rule, extent, a->settings.strict, adapted);
}

ambit_status ambit__program_normal(ambit_program *p)
{
  for (size_t i = 0; !p->grid->active && i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && p->applies[i].region.ndims && !p->steps[i].chore)
      AMBIT_TRY(simplify(p, i));
  return AMBIT_OK;
}

const ambit__rule *ambit__step_rule(const ambit_program *p, size_t step)
{
  const ambit__apply *a = &p->applies[step];

  return a->adapted && a->is_normal ? a->adapted : p->steps[step].kernel->rule;
}

ambit_status ambit__step_adapt(ambit_program *p, size_t step)
{
  ambit__apply *a = &p->applies[step];

  a->nargs = p->steps[step].n;
  if (!a->region.ndims || !p->grid->active) return AMBIT_OK;
  AMBIT_TRY(adapt(p, step));
  return ambit__step_form(p, step, p->grid->active->storage == STORAGE_LIST, &a->form);
}

/* ---- chunks ---- */

enum { MANY = 1 << 20 }; /* cells of a part whose tables take longer than starting threads */

/* Makes the chunks of a box: of many cells with all threads. */
static ambit_status add_chunks(const ambit_program *p, const ambit__apply *a, int part,
                               const ambit__box *box)
{
  const ambit__active *active = &p->grid->local[part];
  ambit__pool *pool = NULL;
  ambit__team team;
  ambit_status s;

  if (active->cells >= MANY) AMBIT_TRY(ambit__pool_for(p->grid->context, &pool));
  if (pool) team = ambit__pool_team(pool);
  s = ambit__chunks_add(ambit__program_errors(p), active, &a->form, box,
                        a->functions[p->grid->placement.engine[part]]->block, pool ? &team : NULL,
                        &a->chunks[part]);
  ambit__pool_close(pool);
  return s;
}

ambit_status ambit__apply_chunks(const ambit_program *p, const ambit__apply *a, int part,
                                 const ambit__box *box, const ambit__chunks **chunks)
{
  *chunks = NULL;
  if (!a->chunks) return AMBIT_OK;
  *chunks = ambit__chunks_find(a->chunks[part], box);
  if (*chunks) return AMBIT_OK;
  AMBIT_TRY(add_chunks(p, a, part, box));
  *chunks = a->chunks[part];
  return AMBIT_OK;
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
    AMBIT_HOLD(p, a->chunks, (size_t)g->placement.n);
  }
  for (int i = 0; i < p->halos.n; i++)
    add_halo(g, &p->halos.list[i], &layers);
  if (!ambit__grid_is_wide(g, pad, &layers)) ambit__program_unseal_others(p);
  return ambit__grid_widen(g, pad, &layers);
}
