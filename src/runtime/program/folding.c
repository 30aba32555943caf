/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/program/folding.h"

/* SLAB: bytes of scratch memory per core of a device, which its caches hold; on GPUs in all. MOST:
 * bytes of a slab, where planes are large. */
enum { SLAB = 1 << 20, GPU_SLAB = 32 << 20, MOST = 256 << 20 };

ambit__box ambit__folding_cells(const ambit_program *p, size_t step, const ambit__folding *f, int i,
                                int part)
{
  const ambit__box region = ambit__box_project(&p->applies[step].region, f->to[i]->dropped);
  const ambit__box own = ambit__field_part(f->to[i], part);

  return ambit__box_intersect(&region, &own);
}

static bool is_exact(const ambit_program *p, const ambit__param *q)
{
  return p->grid->context->settings.strict && q->reduce == REDUCE_SUM &&
         ambit__type_is_real(q->type);
}

/* Planes of a slab on a part: enough for every core to have one, if they fit, and to fill caches.
 */
static int64_t planes_of(const ambit_program *p, size_t step, int part)
{
  const ambit__engine *e = ambit__engine_of(p->grid, part);
  const ambit__box own = ambit__step_part(p, &p->steps[step], p->grid->first + part);
  ambit__device_info info = {0};
  int64_t plane = 8, planes;

  if (ambit__box_is_empty(&own)) return p->grid->box.hi[0];
  e->device->backend->info(e->device, &info);
  for (int d = 1; d < own.ndims; d++)
    plane *= own.hi[d] - own.lo[d];
  planes = (e->backend->line ? GPU_SLAB : (int64_t)SLAB * info.cores) / plane;
  if (planes < info.cores) planes = info.cores;
  if (planes > MOST / plane) planes = MOST / plane;
  return planes < 1 ? 1 : planes;
}

int64_t ambit__folding_planes(const ambit_program *p, size_t step)
{
  int64_t least = p->grid->box.hi[0];

  if (ambit__options_checks(p->grid->context))
    return least; /* all cells of a part are checked to have memory */
  for (int k = 0; k < p->grid->placement.n; k++)
    if (planes_of(p, step, k) < least) least = planes_of(p, step, k);
  return least;
}

/* Cells of each thread along the axis of its slabs, at least; along the last axis, of rows. */
enum { FEW_CELLS = 4, FEW_OF_ROWS = 512 };

/* Threads fold into totals of their own if slabs are cut along an axis that totals have. */
static bool can_cut(const ambit__box *box, unsigned onto, int cores)
{
  for (int d = 0; d < box->ndims; d++)
    if (!(onto >> d & 1) &&
        box->hi[d] - box->lo[d] >= cores * (d == box->ndims - 1 ? FEW_OF_ROWS : FEW_CELLS))
      return true;
  return cores == 1;
}

/* Whether a GPU can: a thread folds along the same axes for all fields. */
static bool gpu_can(const ambit__step *s, ambit__device *dev, int i, unsigned others)
{
  const ambit__fold how = {.param = &s->kernel->rule->params[i],
                           .dropped = s->args[i].field->dropped};

  return (!others || others == how.dropped) &&
         (!dev->backend->folds || dev->backend->folds(dev, &how));
}

/* Whether a field has one total for all cells. */
static bool is_one_total(const ambit__step *s, int i, int ndims)
{
  const unsigned all = (1u << ndims) - 1;

  return (all & (s->dropped | s->args[i].field->dropped)) == all;
}

/* Components whose numbers are computed: each slab of cells has tables of its own for them. */
static bool can_bin(const ambit__step *s, ambit__device *dev, int ndims)
{
  int bins = 0;

  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];

    if (!q->is_folded) continue;
    if (!q->bins || !is_one_total(s, i, ndims)) return false;
    if (dev->backend->line && !gpu_can(s, dev, i, 0)) return false;
    bins += q->bins + 1;
  }
  return bins <= AMBIT__MOST_BINS;
}

bool ambit__folds_at_once(const ambit_program *p, size_t step, int engine, const ambit__box *box)
{
  const ambit__step *s = &p->steps[step];
  ambit__device *dev = p->grid->context->engines[engine].device;
  const bool gpu = dev->backend->line != 0;
  ambit__device_info info = {0};
  bool binned = false;
  unsigned onto = 0;

  if (ambit__options_checks(p->grid->context) || !ambit__can(dev->backend, fold)) return false;
  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];

    if (!q->is_folded) continue;
    if (is_exact(p, q)) return false;
    binned |= q->bins > 0;
    if (gpu ? !gpu_can(s, dev, i, onto) : !q->bins && q->components > 1) return false;
    onto |= s->args[i].field->dropped;
  }
  if (binned) return can_bin(s, dev, box->ndims);
  onto &= ~s->dropped;
  if (gpu) return onto != 0;
  dev->backend->info(dev, &info);
  return onto && can_cut(box, onto, info.cores);
}

void ambit__folding_bind(const ambit_program *p, size_t step, int engine, const ambit__box *box,
                         ambit__binding *bind)
{
  const bool at_once =
      ambit__step_folds(&p->steps[step]) && ambit__folds_at_once(p, step, engine, box);

  for (int i = 0; i < p->steps[step].n; i++)
    if (!at_once) {
      bind[i].onto = false;
    } else if (bind[i].onto) {
      bind[i].dropped = p->steps[step].args[i].field->dropped;
      bind[i].contiguous = !ambit__binding_is_uniform(&bind[i], box->ndims);
    }
}

/* The totals as the cells of the part. */
static ambit__store totals_of(const ambit_program *p, size_t step, const ambit__folding_part *x,
                              int part)
{
  ambit__layout l = {.type = ambit__type_total(x->how.param->type),
                     .components = ambit__param_width(x->how.param),
                     .own = ambit__step_part(p, &p->steps[step], part)};
  int64_t stride = 1;

  for (int d = l.own.ndims - 1; d >= 0; d--) {
    if (x->how.dropped >> d & 1) continue;
    l.stride[d] = stride;
    l.origin += (l.own.lo[d] - x->how.cells.lo[d]) * stride;
    stride *= x->how.cells.hi[d] - x->how.cells.lo[d];
  }
  l.component = stride;
  return (ambit__store){.layout = l, .buffer = x->totals};
}

static ambit_status make_part(ambit_program *p, size_t step, ambit__folding *f, int i, int part)
{
  ambit__folding_part *x = ambit__folding_part_of(p, f, i, part);
  const ambit__engine *e = ambit__engine_of(p->grid, part);
  const ambit__param *q = &p->steps[step].kernel->rule->params[f->params[i]];
  const bool folds = ambit__folding_is_direct(p, step, part);
  ambit__box own = ambit__step_part(p, &p->steps[step], p->grid->first + part);
  size_t bytes;

  x->how = (ambit__fold){.param = q,
                         .exact = is_exact(p, q),
                         .dropped = f->to[i]->dropped,
                         .cells = ambit__folding_cells(p, step, f, i, p->grid->first + part)};
  if (own.hi[0] - own.lo[0] > f->planes) own.hi[0] = own.lo[0] + f->planes;
  if (!folds) {
    x->scratch.layout = (ambit__layout){.type = q->type,
                                        .components = q->components,
                                        .line = e->backend->line,
                                        .turn = e->backend->line ? p->grid->turn : 0,
                                        .own = own};
    AMBIT_TRY(ambit__hold_store(p, f->to[i], part, &x->scratch));
  }
  bytes = ambit__fold_bytes(&x->how);
  AMBIT_HOLD(p, x->host, bytes);
  if (!ambit__can(e->device->backend, fold) || !bytes) return AMBIT_OK;
  if (e->device->backend->folds &&
      (!e->device->backend->folds(e->device, &x->how) || (q->bins && !folds)))
    return AMBIT_OK;
  AMBIT_TRY(ambit__hold_buffer(p, p->grid->placement.engine[part], bytes, &x->totals));
  if (folds) x->scratch = totals_of(p, step, x, p->grid->first + part);
  return AMBIT_OK;
}

/* Whether the totals of a reduction have cells of several parts. */
static bool combines(const ambit_program *p, const ambit__step *s, const ambit_field *to)
{
  for (int d = 0; d < p->grid->box.ndims; d++)
    if ((to->dropped & ~s->dropped) >> d & 1 && ambit__grid_cuts(p->grid, d)) return true;
  return false;
}

/* Bytes of the totals of the process that has most. */
static size_t most_bytes(const ambit_program *p, size_t step, const ambit__folding *f, int i)
{
  const ambit__placement *where = &p->grid->placement;
  ambit__fold how = f->parts[i * where->n].how;
  size_t most = 0;

  for (int r = 0; r < p->grid->context->net->size; r++) {
    size_t bytes = 0;

    for (int k = where->first[r]; k < where->first[r + 1]; k++) {
      how.cells = ambit__folding_cells(p, step, f, i, k);
      bytes += ambit__fold_bytes(&how);
    }
    if (bytes > most) most = bytes;
  }
  return most;
}

static ambit_status make_messages(ambit_program *p, size_t step, ambit__folding *f)
{
  const size_t n = (size_t)p->grid->context->net->size;
  size_t most = 0, values = 0, cells;

  for (int i = 0; i < f->n; i++) {
    const ambit__box all = ambit__field_box(f->to[i]);

    f->bytes[i] = most_bytes(p, step, f, i);
    f->combines[i] = combines(p, &p->steps[step], f->to[i]);
    if (f->combines[i] && f->bytes[i] > most) most = f->bytes[i];
    cells = (size_t)ambit__box_volume(&all) * (size_t)f->to[i]->components;
    if (cells > values) values = cells;
  }
  AMBIT_HOLD(p, f->values, values);
  AMBIT_HOLD(p, f->mine, most);
  AMBIT_HOLD(p, f->all, n * most);
  return AMBIT_OK;
}

bool ambit__step_folds(const ambit__step *s)
{
  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++)
    if (s->kernel->rule->params[i].is_folded) return true;
  return false;
}

ambit_status ambit__folding_make(ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  ambit__folding *f;

  if (!ambit__step_folds(s)) return AMBIT_OK;
  AMBIT_CHECK(!ambit__step_is_registered(p, s), ambit__program_errors(p), AMBIT_EUNSUPPORTED,
              "kernel %s is code of the user, which cannot reduce onto a field; use a scalar, or "
              "unregister it",
              s->kernel->rule->name);
  AMBIT_HOLD(p, f, 1);
  p->applies[step].folding = f;
  for (int i = 0; i < s->n; i++) {
    if (!s->kernel->rule->params[i].is_folded) continue;
    f->params[f->n] = i;
    f->to[f->n++] = s->args[i].field;
  }
  f->planes = ambit__folding_planes(p, step);
  AMBIT_HOLD(p, f->parts, (size_t)(f->n * p->grid->placement.n));
  for (int i = 0; i < f->n; i++)
    for (int k = 0; k < p->grid->placement.n; k++)
      AMBIT_TRY(make_part(p, step, f, i, k));
  return make_messages(p, step, f);
}
