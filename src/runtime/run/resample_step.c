/* SPDX-License-Identifier: BSD-3-Clause */
/* resample_step.c - runs a step that takes cells of another grid (program/resample.c).
 *
 * Each part of the destination gets the cells that it depends on, from whichever parts of the
 * source have them, in host memory, and computes its own. Sums are of double, in the order of
 * cells, so results are the same bits for any parts and devices.
 */
#include "base/memory.h"
#include "runtime/run/run.h"

#include <math.h>
#include <stdlib.h>

/* Cells that go from a part of the source to one of the destination. */
typedef struct transfer {
  int from, to; /* parts of their grids */
  ambit__box box;
  unsigned char *bytes; /* owned */
  ambit__request request;
} transfer;

typedef struct job {
  ambit_program *p;
  const ambit__chore_use *c;
  ambit_field *to;
  const ambit__box *region;
  transfer *list; /* those with an end in this process; owned */
  int n;
} job;

static ambit__box cells_of(const job *j, int part)
{
  return ambit__box_intersect(j->region, &j->to->grid->parts[part]);
}

/* ---- transfers ---- */

static ambit_status add(job *j, int from, int to, const ambit__box *needs)
{
  ambit__errors *errors = ambit__program_errors(j->p);
  const ambit_grid *g = j->c->source->grid;
  const ambit__box box = ambit__box_intersect(needs, &g->parts[from]);
  transfer *t = &j->list[j->n];

  if (ambit__box_is_empty(&box) || (!g->mine[from] && !j->p->grid->mine[to])) return AMBIT_OK;
  *t = (transfer){.from = from, .to = to, .box = box};
  t->bytes =
      ambit__new(errors, (size_t)ambit__box_volume(&box), ambit__field_cell_bytes(j->c->source));
  if (!t->bytes) return AMBIT_ENOMEM;
  j->n++;
  return AMBIT_OK;
}

static ambit_status find(job *j)
{
  const ambit_grid *g = j->c->source->grid;

  for (int to = 0; to < j->p->grid->nparts; to++) {
    const ambit__box cells = cells_of(j, to);
    ambit__box needs;

    if (ambit__box_is_empty(&cells)) continue;
    needs = ambit__resample_needs(j->c, &cells);
    for (int from = 0; from < g->nparts; from++)
      AMBIT_TRY(add(j, from, to, &needs));
  }
  return AMBIT_OK;
}

/* Begins to receive, then reads and sends. All processes have transfers in the same order. */
static ambit_status begin(job *j)
{
  const ambit_grid *source = j->c->source->grid, *grid = j->p->grid;
  const size_t cell = ambit__field_cell_bytes(j->c->source);

  for (int i = 0; i < j->n; i++) {
    transfer *t = &j->list[i];

    if (!source->mine[t->from])
      AMBIT_TRY(ambit__net_receive(grid->context->net, ambit__grid_process(source, t->from), 0,
                                   t->bytes, (size_t)ambit__box_volume(&t->box) * cell,
                                   &t->request));
  }
  for (int i = 0; i < j->n; i++) {
    transfer *t = &j->list[i];
    const int part = t->from - source->first;
    const ambit__engine *e;

    if (!source->mine[t->from]) continue;
    e = ambit__engine_of(source, part);
    AMBIT_TRY(ambit__do(e->queue, read, t->bytes, &j->c->source->stores[part], &t->box));
    if (!grid->mine[t->to])
      AMBIT_TRY(ambit__net_send(grid->context->net, ambit__grid_process(grid, t->to), 0, t->bytes,
                                (size_t)ambit__box_volume(&t->box) * cell, &t->request));
  }
  return AMBIT_OK;
}

/* ---- values ---- */

/* The cells that a part depends on, dense. */
static ambit_status gather(job *j, int part, const ambit__box *needs, unsigned char *values)
{
  const size_t cell = ambit__field_cell_bytes(j->c->source);

  for (int i = 0; i < j->n; i++) {
    transfer *t = &j->list[i];

    if (t->to != part) continue;
    AMBIT_TRY(ambit__net_wait(j->p->grid->context->net, &t->request, 1));
    ambit__dense_copy(values, needs, t->bytes, &t->box, &t->box, cell);
  }
  return AMBIT_OK;
}

static double number_at(const job *j, const unsigned char *values, int64_t place, int component)
{
  const ambit_field *f = j->c->source;
  const unsigned char *at =
      values + (size_t)(place * f->components + component) * ambit_type_size(f->type);

  return ambit__value_cast(ambit__value_load(at, f->type), f->type, AMBIT_F64).real;
}

/* The weighted sum for a component of a cell: over all axes from d on. */
static double sum(const job *j, const ambit__resampling *r, const ambit__box *needs, int d,
                  int64_t place, const unsigned char *values, int component)
{
  double total = 0;

  if (d == needs->ndims) return number_at(j, values, place, component);
  place = place * (needs->hi[d] - needs->lo[d]) + r[d].first - needs->lo[d];
  for (int i = 0; i < r[d].n; i++) {
    const double weight = r[d].n == 2 && i ? 1 - r[d].share : r[d].share;

    total += weight * sum(j, r, needs, d + 1, place + i, values, component);
  }
  return total;
}

/* A cell of another type, or between others. Integers are rounded to the nearest. */
static void compute(const job *j, const int64_t *at, const ambit__box *needs,
                    const unsigned char *values, unsigned char *to)
{
  const ambit_type type = j->to->type;
  ambit__resampling r[AMBIT_MAX_DIMS];

  for (int d = 0; d < needs->ndims; d++)
    r[d] = ambit__resample_at(j->c, d, at[d]);
  for (int c = 0; c < j->to->components; c++) {
    double x = sum(j, r, needs, 0, 0, values, c);

    if (!ambit__type_is_real(type)) x = rint(x);
    ambit__value_store(to + (size_t)c * ambit_type_size(type), type, ambit__value_of(x, type));
  }
}

/* Values of another type, cell by cell, as C converts them. */
static void convert(const job *j, int64_t n, const unsigned char *values, unsigned char *to)
{
  const ambit_type a = j->c->source->type, b = j->to->type;

  for (int64_t i = 0; i < n * j->to->components; i++)
    ambit__value_store(
        to + (size_t)i * ambit_type_size(b), b,
        ambit__value_cast(ambit__value_load(values + (size_t)i * ambit_type_size(a), a), a, b));
}

static void compute_all(const job *j, const ambit__box *cells, const ambit__box *needs,
                        const unsigned char *values, unsigned char *to)
{
  const int last = cells->ndims - 1;
  int64_t at[AMBIT_MAX_DIMS];

  if (ambit__resample_is_copy(j->c)) {
    convert(j, ambit__box_volume(cells), values, to);
    return;
  }
  ambit__box_first(cells, at);
  do
    for (at[last] = cells->lo[last]; at[last] < cells->hi[last]; at[last]++) {
      compute(j, at, needs, values, to);
      to += ambit__field_cell_bytes(j->to);
    }
  while (at[last] = cells->lo[last], ambit__box_next_row(cells, at));
}

/* The cells of a part of this process. */
static ambit_status finish(job *j, int part)
{
  const ambit__engine *e = ambit__engine_of(j->p->grid, part);
  const ambit__box cells = cells_of(j, j->p->grid->first + part);
  ambit__errors *errors = ambit__program_errors(j->p);
  unsigned char *values, *to;
  ambit__box needs;
  ambit_status s;

  if (ambit__box_is_empty(&cells)) return AMBIT_OK;
  needs = ambit__resample_needs(j->c, &cells);
  values =
      ambit__new(errors, (size_t)ambit__box_volume(&needs), ambit__field_cell_bytes(j->c->source));
  to = ambit__new(errors, (size_t)ambit__box_volume(&cells), ambit__field_cell_bytes(j->to));
  s = values && to ? gather(j, j->p->grid->first + part, &needs, values) : AMBIT_ENOMEM;
  if (!s) {
    compute_all(j, &cells, &needs, values, to);
    s = ambit__do(e->queue, write, &j->to->stores[part], &cells, to);
  }
  if (!s) s = ambit__do(e->queue, wait, NULL);
  free(values);
  free(to);
  return s;
}

ambit_status ambit__resample_step(ambit_program *p, size_t step)
{
  const ambit__step *st = &p->steps[step];
  job j = {.p = p, .c = st->chore, .to = st->args[0].field, .region = &p->applies[step].region};
  const size_t most = (size_t)p->grid->nparts * (size_t)st->chore->source->grid->nparts;
  ambit_status s;

  AMBIT_TRY(ambit__engines_wait(p->grid->context));
  AMBIT_NEW(ambit__program_errors(p), j.list, most);
  s = find(&j);
  if (!s) s = begin(&j);
  for (int i = 0; !s && i < p->grid->placement.n; i++)
    s = finish(&j, i);
  for (int i = 0; i < j.n; i++) {
    if (!s) s = ambit__net_wait(p->grid->context->net, &j.list[i].request, 1);
    if (s) ambit__net_cancel(p->grid->context->net, &j.list[i].request, 1);
    free(j.list[i].bytes);
  }
  free(j.list);
  return s;
}
