/* SPDX-License-Identifier: BSD-3-Clause */
/* fold_step.c - runs a step that reduces onto fields of fewer axes (program/folding.h). */
#include "base/memory.h"
#include "runtime/program/folding.h"
#include "runtime/run/run.h"

#include <stdlib.h>
#include <string.h>

/* ---- slabs ---- */

/* The scratch memory as cells of the part: it has those of a slab. */
static ambit__store place(const ambit_program *p, int step, const ambit__folding_part *x, int part,
                          const ambit__box *slab)
{
  ambit__store s = x->scratch;

  s.layout.own = ambit__step_part(p, &p->steps[step], p->grid->first + part);
  s.layout.origin -= (slab->lo[0] - s.layout.own.lo[0]) * s.layout.stride[0];
  return s;
}

/* By way of host memory. */
static ambit_status fold_here(ambit_program *p, ambit__queue *q, ambit__folding_part *x,
                              ambit__store *from, const ambit__box *slab)
{
  int64_t stride[AMBIT_MAX_DIMS], step = x->how.param->components;
  void *dense = ambit__new(ambit__program_errors(p), (size_t)(ambit__box_volume(slab) * step),
                           ambit_type_size(x->how.param->type));
  ambit_status s;

  if (!dense) return AMBIT_ENOMEM;
  for (int d = slab->ndims - 1; d >= 0; d--) {
    stride[d] = step;
    step *= slab->hi[d] - slab->lo[d];
  }
  s = ambit__do(q, read, dense, from, slab);
  if (!x->begun) ambit__fold_begin(&x->how, x->host);
  if (!s) ambit__fold_add(&x->how, x->host, dense, stride, 1, slab);
  free(dense);
  return s;
}

static ambit_status fold_slab(ambit_program *p, ambit__queue *q, ambit__folding_part *x,
                              ambit__store *from, const ambit__box *slab)
{
  ambit_status s = x->totals ? ambit__do(q, fold, &x->how, x->totals, from, slab, x->begun)
                             : fold_here(p, q, x, from, slab);

  x->begun = true;
  return s;
}

/* Whether a launch gives a part all its cells of the fields, as values: on a GPU, if no other one
 * folds into them. */
static bool is_final(const ambit_program *p, const ambit__operation *op, int part)
{
  const ambit__folding *f = p->applies[op->step].folding;
  int pieces = 0;

  for (int i = 0; i < op->npieces; i++)
    pieces += op->pieces[i].part == part;
  for (int i = 0; i < f->n; i++)
    pieces += f->combines[i];
  return pieces == 1 && ambit__engine_of(p->grid, part)->backend->line;
}

bool ambit__fold_stays(const ambit_program *p, const ambit__operation *op)
{
  for (int i = 0; i < op->npieces; i++)
    if (!ambit__folding_is_direct(p, (size_t)op->step, op->pieces[i].part) ||
        !is_final(p, op, op->pieces[i].part))
      return false;
  return true;
}

/* One launch, which folds. */
static ambit_status launch_all(ambit_program *p, const ambit__operation *op,
                               const ambit__piece *piece, ambit__queue *q,
                               const ambit__launch *like, ambit__launch_fn launch)
{
  ambit__folding *f = p->applies[op->step].folding;
  ambit__argument args[AMBIT_MAX_PARAMS];
  ambit__launch l = *like;
  ambit__box none = piece->box;

  l.adds = !is_final(p, op, piece->part);
  none.hi[0] = none.lo[0];
  memcpy(args, like->args, (size_t)like->nargs * sizeof *args);
  for (int i = 0; i < f->n; i++) {
    ambit__folding_part *x = ambit__folding_part_of(p, f, i, piece->part);

    x->stored = !l.adds;
    if (x->stored) continue;
    args[f->params[i]].store = &x->scratch;
    if (!x->begun) AMBIT_TRY(ambit__do(q, fold, &x->how, x->totals, &x->scratch, &none, false));
    x->begun = true;
  }
  l.args = args;
  return launch(p, op->step, piece->part, q, &l);
}

ambit_status ambit__fold_launch(ambit_program *p, const ambit__operation *op,
                                const ambit__piece *piece, ambit__queue *q,
                                const ambit__launch *like, ambit__launch_fn launch)
{
  const int step = op->step;
  ambit__folding *f = p->applies[step].folding;
  ambit__store scratch[AMBIT_MAX_PARAMS];
  ambit__argument args[AMBIT_MAX_PARAMS];
  ambit__box slab = piece->box;

  if (ambit__box_is_empty(&slab)) return launch(p, step, piece->part, q, like);
  if (ambit__folding_is_direct(p, (size_t)step, piece->part))
    return launch_all(p, op, piece, q, like, launch);
  for (bool more = like->more; slab.lo[0] < piece->box.hi[0]; slab.lo[0] = slab.hi[0]) {
    ambit__launch l = *like;

    slab.hi[0] = slab.lo[0] + f->planes;
    if (slab.hi[0] > piece->box.hi[0]) slab.hi[0] = piece->box.hi[0];
    memcpy(args, like->args, (size_t)like->nargs * sizeof *args);
    for (int i = 0; i < f->n; i++) {
      scratch[i] = place(p, step, ambit__folding_part_of(p, f, i, piece->part), piece->part, &slab);
      args[f->params[i]] = (ambit__argument){.store = &scratch[i],
                                             .boundaries = like->args[f->params[i]].boundaries};
    }
    l.args = args;
    l.box = slab;
    l.more = more;
    more = true;
    AMBIT_TRY(launch(p, step, piece->part, q, &l));
    for (int i = 0; i < f->n; i++)
      AMBIT_TRY(fold_slab(p, q, ambit__folding_part_of(p, f, i, piece->part), &scratch[i], &slab));
  }
  return AMBIT_OK;
}

/* ---- totals ---- */

/* The totals of a part in host memory. */
static ambit_status take(const ambit_program *p, ambit__folding_part *x, int part)
{
  const ambit__engine *e = ambit__engine_of(p->grid, part);

  if (!x->begun) ambit__fold_begin(&x->how, x->host);
  if (!x->begun || !x->totals) return AMBIT_OK;
  return ambit__do(e->queue, get, x->host, x->totals, ambit__fold_bytes(&x->how));
}

/* Stores the totals of a part. */
static ambit_status store(const ambit_program *p, const ambit__folding *f, int i, int part)
{
  const ambit__folding_part *x = ambit__folding_part_of(p, f, i, part);

  if (x->stored || ambit__box_is_empty(&x->how.cells)) return AMBIT_OK;
  ambit__fold_finish(&x->how, x->host, f->values);
  return ambit__do(ambit__engine_of(p->grid, part)->queue, write, &f->to[i]->stores[part],
                   &x->how.cells, f->values);
}

/* The totals of all parts of this process, one behind the other. */
static ambit_status gather(ambit_program *p, ambit__folding *f, int i)
{
  unsigned char *at = f->mine;

  for (int k = 0; k < p->grid->placement.n; k++) {
    ambit__folding_part *x = ambit__folding_part_of(p, f, i, k);
    const size_t bytes = ambit__fold_bytes(&x->how);

    AMBIT_TRY(take(p, x, k));
    memcpy(at, x->host, bytes);
    at += bytes;
  }
  return ambit__net_gather(p->grid->context->net, f->mine, f->bytes[i], f->all);
}

/* Folds the totals of all parts of all processes, in order, into those of one. */
static void combine(const ambit_program *p, int step, const ambit__folding *f, int i, int part)
{
  const ambit__folding_part *x = ambit__folding_part_of(p, f, i, part);
  const ambit__placement *where = &p->grid->placement;
  ambit__fold other = x->how;

  ambit__fold_begin(&x->how, x->host);
  for (int r = 0; r < p->grid->context->net->size; r++) {
    const unsigned char *at = f->all + (size_t)r * f->bytes[i];

    for (int k = where->first[r]; k < where->first[r + 1]; k++) {
      other.cells = ambit__folding_cells(p, (size_t)step, f, i, k);
      if (ambit__step_counts(p, &p->steps[step], k))
        ambit__fold_join(&x->how, x->host, at, &other.cells);
      at += ambit__fold_bytes(&other);
    }
  }
}

/* The totals of reduction i on all parts, in host memory. */
static ambit_status total(ambit_program *p, int step, ambit__folding *f, int i)
{
  if (f->combines[i]) AMBIT_TRY(gather(p, f, i));
  for (int k = 0; k < p->grid->placement.n; k++) {
    ambit__folding_part *x = ambit__folding_part_of(p, f, i, k);

    if (x->stored || ambit__box_is_empty(&x->how.cells)) continue;
    if (f->combines[i])
      combine(p, step, f, i, k);
    else
      AMBIT_TRY(take(p, x, k));
  }
  for (int k = 0; k < p->grid->placement.n; k++)
    ambit__folding_part_of(p, f, i, k)->begun = false;
  return AMBIT_OK;
}

ambit_status ambit__fold_finish_step(ambit_program *p, int step)
{
  ambit__folding *f = p->applies[step].folding;

  for (int i = 0; i < f->n; i++)
    AMBIT_TRY(total(p, step, f, i));
  for (int i = 0; i < f->n; i++)
    for (int k = 0; k < p->grid->placement.n; k++)
      AMBIT_TRY(store(p, f, i, k));
  return AMBIT_OK;
}
