/* SPDX-License-Identifier: BSD-3-Clause */
/* ref.c - the reference device: one thread, one cell at a time, directly from the definitions.
 *
 * It is slow and meant to be obviously right: every other device is tested against it. It needs no
 * ghost cells. Reductions are folded cell by cell in row-major order. Strict sums of real numbers
 * are exact; other sums are compensated (Neumaier), which makes them the most accurate of all
 * devices.
 */
#include "device/chore.h"
#include "device/host.h"
#include "device/ref/interpret.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  COPY_BYTES = 64 * 1024 * 1024, /* per buffer of the copy that is measured */
  COPY_TRIES = 3
};

typedef struct function {
  ambit__function head;
  ambit__interpreter interpreter;
  bool exact[AMBIT_MAX_PARAMS]; /* per parameter: a strict sum, whose total is behind its value */
  const ambit__chore *chore;    /* in place of the rule; NULL: none */
} function;

/* The state of a reduction. */
typedef struct total {
  ambit__value value; /* sums: double or int64_t; min and max: of the parameter's type */
  double lost;        /* real sums: the rounding errors of `value` */
} total;

/* ---- device ---- */

static int count(void)
{
  return 1;
}

static ambit_status open_device(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                                ambit__device **dev)
{
  ambit__device *d;

  AMBIT_CHECK(ordinal == 0, errors, AMBIT_ENODEVICE, "there is one device ref:0, and no ref:%d",
              ordinal);
  AMBIT_NEW(errors, d, 1);
  *d = (ambit__device){.backend = &ambit__backend_ref, .errors = errors, .settings = settings};
  ambit__machine_complete(&d->machine); /* nothing depends on it */
  *dev = d;
  return AMBIT_OK;
}

static void close_device(ambit__device *dev)
{
  free(dev);
}

static void info(ambit__device *dev, ambit__device_info *out)
{
  (void)dev;
  snprintf(out->name, sizeof out->name, "reference interpreter");
  snprintf(out->identity, sizeof out->identity, "%s", out->name);
  out->cores = 1;
  ambit__host_memory(&out->memory, &out->free);
}

/* ---- functions ---- */

static void discard(ambit__function *fn)
{
  function *f = (function *)fn;

  if (!f) return;
  ambit__interpreter_free(&f->interpreter);
  free(f->head.plan);
  free(f);
}

static ambit_status build(ambit__device *dev, const ambit__group *group, ambit__function **fn)
{
  function *f;

  AMBIT_CHECK(group->depth == 1, dev->errors, AMBIT_EUNSUPPORTED,
              "the device ref runs one iteration at a time; it was given %d", group->depth);
  AMBIT_NEW(dev->errors, f, 1);
  for (int i = 0; i < group->rule->nparams; i++)
    f->exact[i] = ambit__sums_exactly(group, &group->rule->params[i]);
  f->interpreter.ghosts =
      ambit__can(dev->backend, ghosts); /* the device may be of another backend */
  f->head.plan = ambit__strdup(dev->errors, "(ref)");
  f->head.checked = group->checks != 0;
  f->chore = group->chore;
  if (!f->head.plan ||
      ambit__interpreter_init(&f->interpreter, dev->errors, group->rule, group->checks)) {
    discard(&f->head);
    return AMBIT_ENOMEM;
  }
  *fn = &f->head;
  return AMBIT_OK;
}

/* ---- reductions ---- */

/* Adds x to the sum, and the rounding error to `lost`: the smaller of the two operands loses
 * digits. */
static void add_real(total *t, double x)
{
  double old = t->value.real, sum = old + x;

  t->lost += fabs(old) >= fabs(x) ? (old - sum) + x : (x - sum) + old;
  t->value.real = sum;
}

static ambit__long *sum_of(const ambit__launch *l, int p)
{
  return &((ambit__scalar_bytes *)ambit__host_base(l->args[p].value))->sum;
}

static void fold(total *t, const ambit__param *p, ambit__value cell)
{
  const bool real = ambit__type_is_real(p->type);

  if (p->reduce == REDUCE_SUM && real)
    add_real(t, cell.real);
  else
    t->value = ambit__reduce_fold(p, t->value, cell);
}

/* From the identity, or from the present values. */
static void start_totals(const function *f, const ambit__launch *l, total *totals)
{
  const ambit__rule *rule = f->interpreter.rule;

  for (int p = 0; p < rule->nparams; p++) {
    const ambit__param *q = &rule->params[p];

    if (f->exact[p] && !ambit__launch_folds(l, p)) *sum_of(l, p) = (ambit__long){{0}};
    if (q->kind != PARAM_REDUCE || f->exact[p]) continue;
    totals[p].lost = 0.0;
    totals[p].value = ambit__launch_folds(l, p)
                          ? ambit__value_load(ambit__host_base(l->args[p].value), q->type)
                          : ambit__reduce_identity(q);
  }
}

static void fold_cell(const function *f, total *totals)
{
  const ambit__interpreter *in = &f->interpreter;

  for (int p = 0; p < in->rule->nparams; p++)
    if (f->exact[p])
      ambit__long_add(sum_of(in->launch, p), ambit__interpreter_reduced(in, p).real);
    else if (in->rule->params[p].kind == PARAM_REDUCE)
      fold(&totals[p], &in->rule->params[p], ambit__interpreter_reduced(in, p));
}

/* The total in the parameter's type. */
static ambit__value finish(const total *t, const ambit__param *p)
{
  ambit__value v = t->value;

  if (!ambit__type_is_real(p->type))
    return p->reduce == REDUCE_SUM ? ambit__value_cast(v, AMBIT_I64, p->type) : v;
  if (p->reduce == REDUCE_SUM) {
    if (isfinite(t->lost)) v.real += t->lost; /* it is not if the sum is infinite or NaN */
    return ambit__value_cast(v, AMBIT_F64, p->type);
  }
  v.real += 0.0; /* -0.0 becomes +0.0, so that the order of the two does not matter */
  return v;
}

static void store_totals(const function *f, const total *totals)
{
  const ambit__interpreter *in = &f->interpreter;

  for (int p = 0; p < in->rule->nparams; p++) {
    const ambit__param *param = &in->rule->params[p];

    if (param->kind != PARAM_REDUCE) continue;
    ambit__value_store(
        ambit__host_base(in->launch->args[p].value), param->type,
        f->exact[p] ? (ambit__value){.real = ambit__long_value(sum_of(in->launch, p), param->type)}
                    : finish(&totals[p], param));
  }
}

/* ---- launches ---- */

/* Steps to the next cell in row-major order; returns false after the last one. */
static bool next_cell(const ambit__box *box, int64_t *cell)
{
  for (int d = box->ndims - 1; d >= 0; d--) {
    if (++cell[d] < box->hi[d]) return true;
    cell[d] = box->lo[d];
  }
  return false;
}

static ambit_status launch(ambit__function *fn, const ambit__launch *l)
{
  const function *f = (const function *)fn;
  ambit__interpreter *in = &((function *)fn)->interpreter;
  total totals[AMBIT_MAX_PARAMS];

  if (f->chore) {
    ambit__ref_chore(f->chore, l);
    return AMBIT_OK;
  }
  ambit__interpreter_begin(in, l);
  start_totals(f, l, totals);
  if (!ambit__box_is_empty(&l->box)) { /* without axes there is one cell */
    ambit__box_first(&l->box, in->cell);
    do {
      if (in->active && !ambit__active_has(in->active, in->cell)) continue;
      ambit__interpret_cell(in);
      fold_cell(f, totals);
    } while (next_cell(&l->box, in->cell));
  }
  store_totals(f, totals);
  return AMBIT_OK;
}

/* ---- bandwidth ---- */

/* The best of a few copies between two buffers larger than any cache; 0 if there is no memory. */
static double measure_copy(void)
{
  char *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
  double best = 0;

  if (from && to) {
    memset(from, 1, COPY_BYTES);
    memset(to, 2, COPY_BYTES);
    for (int i = 0; i < COPY_TRIES; i++) {
      double start = ambit__clock(), speed;

      memcpy(to, from, COPY_BYTES);
      from[i] = to[COPY_BYTES - 1 - i]; /* keeps the compiler from removing the copy */
      speed = 2.0 * COPY_BYTES / (ambit__clock() - start);
      if (speed > best) best = speed;
    }
  }
  free(from);
  free(to);
  return best;
}

static void measure(bool all, ambit__machine *m)
{
  if (all) ambit__machine_forget_speeds(m);
  m->copy = 1e-9 * measure_copy();
}

/* ---- copies ---- */

static ambit_status copy_box(const ambit__command *c)
{
  const ambit__store *dst = c->copy.dst, *src = c->copy.src;
  const ambit__box *box = c->copy.box;
  const int64_t *shift = c->copy.shift;
  const size_t size = ambit_type_size(src->layout.type);
  const int x = box->ndims - 1;
  int64_t row[AMBIT_MAX_DIMS], from[AMBIT_MAX_DIMS], to[AMBIT_MAX_DIMS];

  ambit__box_first(box, row);
  do {
    memcpy(from, row, sizeof from);
    for (from[x] = box->lo[x]; from[x] < box->hi[x]; from[x]++) {
      for (int d = 0; d < box->ndims; d++)
        to[d] = from[d] + (shift ? shift[d] : 0);
      for (int k = 0; k < src->layout.components; k++)
        memcpy(ambit__host_at(dst, to, k), ambit__host_at(src, from, k), size);
    }
  } while (ambit__box_next_row(box, row));
  return AMBIT_OK;
}

static ambit_status execute(ambit__queue *q, const ambit__command *c)
{
  if (c->kind == COMMAND_copy && !c->copy.src->layout.active) return copy_box(c);
  if (c->kind == COMMAND_launch) return launch(c->launch.fn, c->launch.launch);
  return ambit__host_execute(q, c);
}

static ambit_status serve(ambit__device *dev, ambit__command *c)
{
  switch (c->kind) {
  case COMMAND_build: return build(dev, c->build.group, c->build.fn);
  case COMMAND_discard: discard(c->discard.fn); break;
  case COMMAND_measure: measure(c->measure.all, c->measure.machine); break;
  default: return ambit__host_serve(dev, c);
  }
  return AMBIT_OK;
}

const ambit__backend ambit__backend_ref = {
    .name = "ref",
    .summary = "one thread, cell by cell: slow, and the measure of all others",
    .comm_cost = AMBIT__CORES_COMM_COST,
    .sparse = true,
    .can = AMBIT__CAN(measure),
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .execute = execute,
    .serve = serve,
};
