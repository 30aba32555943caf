/* SPDX-License-Identifier: BSD-3-Clause */
/* access.c - the cells that launches may access, and messages for accesses to others. */
#include "runtime/run/access.h"

#include "grid/constants.h"
#include "nest/checked.h"

#include <string.h>

/* ---- positions of sparse grids ---- */

/* The active cells that a part stores; NULL: nothing is checked against them. */
static const ambit__active *stored_cells(const ambit_program *p, int part)
{
  const bool checked = ambit__options_checks(p->grid->context) & AMBIT__CHECK_ACCESS;

  return checked && p->grid->active ? &p->grid->local[part] : NULL;
}

size_t ambit__access_bytes(const ambit_program *p, int part)
{
  const ambit__active *a = stored_cells(p, part);

  return a ? (size_t)(1 + a->size) * sizeof(int64_t) : 0;
}

/* Later sets are among the cells of earlier ones (grid/constants.h). */
static void set_constants(const ambit__active *a, int64_t *places)
{
  for (int k = 0; k < ambit__constants_sets(a); k++)
    for (int64_t i = 0, from, to; ambit__constants_next(a, k, &i, &from, &to);)
      for (int64_t at = from; at < to; at++)
        places[at] = ambit__constants_inactive(k) ? AMBIT_PLACE_INACTIVE : AMBIT_PLACE_FACE;
}

void ambit__access_places(const ambit_program *p, int part, unsigned char *table)
{
  const ambit__active *a = stored_cells(p, part);
  int64_t *places = (int64_t *)(void *)table;

  if (!a) return;
  *places++ = a->size;
  for (int64_t at = 0; at < a->size; at++)
    places[at] = AMBIT_PLACE_NONE;
  set_constants(a, places);
  for (int64_t i = 0; i < a->n; i++) {
    const ambit__run *r = &a->runs[i];

    for (int64_t x = r->lo; x < r->hi; x++)
      places[r->at + x - r->lo] = r->row * a->box.hi[a->box.ndims - 1] + x;
  }
}

/* ---- before a launch ---- */

/* The cells of a field that a part stores for the program: own cells, halo and ghost cells. */
static ambit__box valid_box(const ambit_program *p, const ambit_field *f, int part)
{
  const ambit__field_halo *h = ambit__halos_find(&p->halos, f);

  if (!h || ambit__box_is_empty(&f->stores[part].layout.own)) return f->stores[part].layout.own;
  return ambit__field_halo_reach(h, p->grid->first + part);
}

/* Activity has no halo: a part has that of all layers that it stores. */
static ambit__box active_box(const ambit_grid *g, int part)
{
  ambit__box box = g->parts[g->first + part];

  for (int d = 0; d < box.ndims && !ambit__box_is_empty(&box); d++) {
    box.lo[d] -= g->layers.lo[d];
    box.hi[d] += g->layers.hi[d];
  }
  return box;
}

/* On a sparse grid, tables resolve reads beyond faces, as far as the rule has them. */
static void open_faces(const ambit_grid *g, const ambit__param *q, ambit__box *box)
{
  for (int d = 0; g->active && d < box->ndims && !ambit__box_is_empty(box); d++) {
    if (box->lo[d] <= 0 && box->lo[d] > -q->low[d]) box->lo[d] = -q->low[d];
    if (box->hi[d] >= g->box.hi[d] && box->hi[d] < g->box.hi[d] + q->high[d])
      box->hi[d] = g->box.hi[d] + q->high[d];
  }
}

void ambit__access_bound(const ambit_program *p, int step, int part, ambit__argument *args)
{
  const ambit__step *s = &p->steps[step];
  const ambit__apply *a = &p->applies[step];
  const ambit__rule *rule = a->adapted ? a->adapted : s->kernel->rule;
  const bool has_ghosts = ambit__can(ambit__engine_of(p->grid, part)->device->backend, ghosts);

  for (int i = 0; i < a->nargs; i++) {
    if (!args[i].store) continue;
    if (!has_ghosts) { /* reads beyond faces end in own cells */
      args[i].valid = args[i].store->layout.own;
      continue;
    }
    args[i].valid = i < s->n ? valid_box(p, s->args[i].field, part) : active_box(p->grid, part);
    open_faces(p->grid, &rule->params[i], &args[i].valid);
  }
}

void ambit__access_foresee_step(const ambit_program *p, int step, const ambit__launch *l,
                                int64_t *words)
{
  if (p->applies[step].checks & AMBIT__CHECK_ACCESS)
    ambit__access_foresee(p->steps[step].kernel->rule, l, words);
}

/* ---- messages ---- */

/* A box from the limits of a parameter. */
static ambit__box limit_box(const ambit__fault_report *s, int param, int lo, int hi)
{
  const int64_t *limits = s->words + AMBIT_FAULT_WORDS + param * AMBIT_LIMIT_WORDS;
  ambit__box box = {.ndims = s->ndims};

  memcpy(box.lo, limits + lo, sizeof box.lo);
  memcpy(box.hi, limits + hi, sizeof box.hi);
  return box;
}

/* Prints which check failed: that of the cell, or that of its address. */
static void print_outside(ambit__fault_report *s, int param, const ambit__box *cells,
                          const int *offset, const char *which)
{
  const ambit__store *store = &ambit__fault_field(s, param)->stores[s->part];
  bool inside = true;
  char box[160];

  for (int d = 0; d < cells->ndims; d++) {
    int64_t at = s->words[AMBIT_FAULT_CELL + d] + offset[d];

    inside &= at >= cells->lo[d] && at < cells->hi[d];
  }
  ambit__box_print(cells, box, sizeof box);
  if (inside && s->program->grid->active)
    ambit__print(&s->text, ", and not at the position that the part's tables have for it");
  else if (inside)
    ambit__print(&s->text, ", outside the field's memory of %zu bytes", store->buffer->bytes);
  else
    ambit__print(&s->text, ", outside the part's %s cells, %s", which, box);
}

static ambit__place tell_read(ambit__fault_report *s)
{
  int param, k;
  const ambit__read *r;
  ambit__box stored;

  ambit__checked_find_read(s->rule, (int)s->words[AMBIT_FAULT_ACCESS], &param, &k);
  r = &s->rule->params[param].reads[k];
  stored = limit_box(s, param, AMBIT_LIMIT_READ_LO, AMBIT_LIMIT_READ_HI);
  ambit__print(&s->text, "kernel %s reads ", s->rule->name);
  ambit__fault_print_argument(s, param, r->component);
  ambit__print(&s->text, " at offset ");
  ambit__fault_print_offset(s, r->offset);
  ambit__fault_print_where(s, "from");
  ambit__print(&s->text, ": that is cell ");
  ambit__fault_print_cell(s, r->offset);
  print_outside(s, param, &stored, r->offset, "stored");
  return r->place;
}

static ambit__place tell_write(ambit__fault_report *s)
{
  const int here[AMBIT_MAX_DIMS] = {0};
  ambit__box own;
  int param, component;

  ambit__checked_find_write(s->rule, (int)s->words[AMBIT_FAULT_ACCESS], &param, &component);
  own = limit_box(s, param, AMBIT_LIMIT_WRITE_LO, AMBIT_LIMIT_WRITE_HI);
  ambit__print(&s->text, "kernel %s writes ", s->rule->name);
  ambit__fault_print_argument(s, param, component);
  ambit__fault_print_where(s, "at");
  print_outside(s, param, &own, here, "own");
  return ambit__fault_place_of_set(s, param, component, -1);
}

bool ambit__access_message(ambit__fault_report *s, ambit__place *place)
{
  const int64_t kind = s->words[AMBIT_FAULT_KIND];

  if (kind != AMBIT_FAULT_READ && kind != AMBIT_FAULT_WRITE) return false;
  *place = kind == AMBIT_FAULT_READ ? tell_read(s) : tell_write(s);
  return true;
}
