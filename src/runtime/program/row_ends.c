/* SPDX-License-Identifier: BSD-3-Clause */
/* row_ends.c - stores of whole vectors at row ends.
 *
 * Fixed faces keep the first and last cells of every row, and so does a step on a box. A partial
 * store of a vector makes the memory read the rest first: for a 3-D star in float on rows of 512
 * cells this took 7 % of the time of a core. But fields that are swapped mostly hold equal values
 * there, because one started as a copy of the other (run/prepare.c) and no step has written these
 * cells. A kernel may then store whole vectors, with values of the field it reads in the other
 * cells (docs/design/0007-ends.md).
 *
 * A field knows which other fields equal it, and outside which cells (ambit__likeness). Programs
 * that run on it and values set by the user narrow this down.
 */
#include "runtime/program/program.h"

/* ---- when a program is sealed ---- */

/* Whether the fields are rotated: only then is the field that is read likely to be a twin. */
static bool take_turns(const ambit_program *p, const ambit_field *a, const ambit_field *b)
{
  for (size_t i = 0; i < p->nsteps; i++) {
    int found = 0;

    for (int k = 0; p->steps[i].kind == STEP_ROTATE && k < p->steps[i].n; k++)
      found += p->steps[i].args[k].field == a || p->steps[i].args[k].field == b;
    if (found == 2) return true;
  }
  return false;
}

/* Whether there are grid cells beside the rows of a region, and rows are a multiple of a vector. */
static bool leaves_ends(const ambit_program *p, const ambit__box *region)
{
  const int x = region->ndims - 1;
  const int64_t extent = p->grid->box.hi[x];

  return (region->lo[x] > 0 || region->hi[x] < extent) && extent % AMBIT__ALIGNED == 0;
}

int ambit__step_twin(const ambit_program *p, const ambit__step *s, const ambit__box *region,
                     int arg)
{
  const ambit__rule *rule = s->kernel->rule;
  const ambit_field *f = s->args[arg].field;

  if (ambit__step_has_profiles(s)) return 0;
  if (!rule->params[arg].is_written || rule->params[arg].targets || !region->ndims ||
      p->grid->active || !leaves_ends(p, region))
    return 0;
  for (int i = 0; i < s->n; i++) {
    const ambit_field *other = s->args[i].field;

    if (other && other != f && rule->params[i].nreads && !rule->params[i].is_written &&
        other->components == f->components && take_turns(p, f, other))
      return 1 + i;
  }
  return 0;
}

/* ---- likenesses ---- */

void ambit__fields_alike(ambit_field *a, ambit_field *b)
{
  const ambit__likeness everywhere = {.id = ++a->grid->context->last_id,
                                      .differs = {.ndims = a->grid->box.ndims}};

  a->likeness = b->likeness = everywhere;
}

bool ambit__fields_are_alike(const ambit_field *a, const ambit_field *b, const ambit__box *except)
{
  return a->likeness.id && a->likeness.id == b->likeness.id &&
         ambit__box_contains(except, &a->likeness.differs) &&
         ambit__box_contains(except, &b->likeness.differs);
}

/* Rotated fields stay alike only if all of them are. */
static void check_turns(const ambit__step *s)
{
  bool same = true;

  for (int k = 1; k < s->n; k++)
    same = same && s->args[k].field->likeness.id == s->args[0].field->likeness.id;
  for (int k = 0; !same && k < s->n; k++)
    s->args[k].field->likeness.id = 0;
}

/* The cells that the program writes, in any field. */
static ambit__box writes_of(const ambit_program *p)
{
  ambit__box all = {.ndims = p->grid->box.ndims};

  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit__box *r = &p->applies[i].region;

    if (p->steps[i].kind == STEP_APPLY && r->ndims && !ambit__box_is_empty(r))
      all =
          ambit__box_hull(&all, ambit__rule_spreads(p->steps[i].kernel->rule) ? &p->grid->box : r);
    if (p->steps[i].kind == STEP_COPY) {
      const ambit__box there = ambit__copy_destination(&p->steps[i]);

      all = ambit__box_hull(&all, &there);
    }
  }
  return all;
}

/* ---- steps ---- */

/* Whether every field that a step writes has a twin that equals it beside the region. */
static bool has_twins(const ambit_program *p, const ambit__step *s, const ambit__box *region)
{
  const int x = region->ndims - 1;
  ambit__box rows = p->grid->box; /* with all rows: only cells beside their ends matter */

  rows.lo[x] = region->lo[x];
  rows.hi[x] = region->hi[x];
  for (int i = 0; i < s->n; i++) {
    int twin;

    if (!s->args[i].field || !s->kernel->rule->params[i].is_written) continue;
    twin = ambit__step_twin(p, s, region, i);
    if (!twin) return false;
    if (!ambit__fields_are_alike(s->args[i].field, s->args[twin - 1].field, &rows)) return false;
  }
  return true;
}

static bool ends(const ambit_program *p, size_t step)
{
  const ambit__apply *a = &p->applies[step];

  return p->steps[step].kind == STEP_APPLY && a->region.ndims && !ambit__box_is_empty(&a->region) &&
         !ambit__grid_cuts_rows(p->grid) && has_twins(p, &p->steps[step], &a->region);
}

bool ambit__program_row_ends(ambit_program *p)
{
  const ambit__box written = writes_of(p);
  const bool calls = ambit__program_calls(p); /* programs that may write there */
  bool changed = false;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_ROTATE) check_turns(&p->steps[i]);
  for (int i = 0; i < p->nfields; i++)
    p->fields[i]->likeness.differs = ambit__box_hull(&p->fields[i]->likeness.differs, &written);
  for (size_t i = 0; i < p->nsteps; i++) {
    const bool now = !calls && ends(p, i);

    changed |= now != p->applies[i].row_ends;
    p->applies[i].row_ends = now;
  }
  return changed;
}
