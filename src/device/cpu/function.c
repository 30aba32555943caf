/* SPDX-License-Identifier: BSD-3-Clause */
/* function.c - builds the functions of the CPU device: registered, compiled, a built-in weighted
 * sum, or interpreted, the first of these that there is. */
#include "device/cpu/function.h"

#include "base/log.h"
#include "base/memory.h"
#include "device/chore.h"
#include "device/cpu/target.h"
#include "device/cpu/trial.h"
#include "device/registered.h"
#include "plan/fitted.h"

#include <stdlib.h>
#include <string.h>

typedef ambit__cpu device;
typedef ambit__cpu_function function;

void ambit__cpu_discard(ambit__device *dev, ambit__function *fn)
{
  function *f = (function *)fn;

  if (!f) return;
  if (f->ref) ambit__backend_ref.serve(dev, AMBIT__COMMAND(discard, f->ref));
  ambit__cpu_trial_close(f->trial);
  ambit__module_release(f->module);
  ambit__generic_close(&f->generic);
  free(f->partial);
  free(f->head.plan);
  free(f);
}

static ambit_status set_plan(ambit__device *dev, function *f, const char *text)
{
  f->head.plan = ambit__strdup(dev->errors, text);
  return f->head.plan ? AMBIT_OK : AMBIT_ENOMEM;
}

static ambit_status compile(device *d, const ambit__group *g, function *f)
{
  ambit__cpu_way way;
  void *address;
  char *source;
  ambit_status s;

  AMBIT_CHECK(ambit__cpu_way_choose(d, g, &way), d->head.errors, AMBIT_EUNSUPPORTED,
              "no strategy of the cpu device can run kernel %s", g->rule->name);
  AMBIT_TRY(set_plan(&d->head, f, way.line));
  source = ambit__cpu_way_source(d, g, &way);
  AMBIT_CHECK(source, d->head.errors, AMBIT_ENOMEM, "no memory for the source of kernel %s",
              g->rule->name);
  f->head.block = g->form ? way.plan.block : 0;
  s = ambit__cc_try(way.cc, source, way.entry, &f->module, &address);
  if (!s && address) memcpy(&f->run, &address, sizeof address);
  free(source);
  if (f->run) ambit__cpu_trial_open(d, g, &way, f);
  return s;
}

/* Whether every pointer of the rule is bound to a separate, contiguous field. */
static bool all_contiguous(const ambit__group *g)
{
  for (int i = 0; i < g->rule->nparams; i++) {
    const ambit__binding *b = &g->bind[i];
    bool is_pointer = g->rule->params[i].kind == PARAM_FIELD;

    if (is_pointer && (!b->is_field || !b->contiguous || b->shared)) return false;
  }
  return true;
}

/* If there is no compiler, or it took too long: the built-in weighted sum if the rule is one, else
 * the interpreter. */
static ambit_status do_without(device *d, const ambit__group *g, function *f)
{
  const ambit__rule *rule = g->rule;

  free(f->head.plan);
  f->head.plan = NULL;
  if (d->cc->available)
    ambit__log(d->head.settings, 0, "kernel %s runs without being compiled, much slower: %s",
               rule->name, d->cc->late);
  else if (!d->warned && rule->nparams)
    ambit__log(d->head.settings, 0,
               "%s; kernels run without being compiled, much slower. Install gcc or "
               "clang, or compile and register the output of `ambit gen`",
               d->cc->why);
  d->warned |= !d->cc->available;
  if (g->ndims && !g->form && !g->strict && !g->checks && all_contiguous(g) &&
      ambit__generic_open(rule, g->ndims, &f->generic))
    return set_plan(&d->head, f, "(generic weights)");
  AMBIT_TRY(ambit__backend_ref.serve(&d->head, AMBIT__COMMAND(build, g, &f->ref)));
  return set_plan(&d->head, f, "(interpreted)");
}

static double cell_ns(const ambit__rule *rule, const ambit__machine *m)
{
  const ambit__price price = ambit__price_of(rule);
  const double move = price.bytes / m->copy2, work = ambit__price_work(&price, m, AMBIT__FIT_SMALL);

  return m->cores * (move > work ? move : work);
}

/* Whole blocks of rows; along rows, no cache line that two launches store to. */
static void set_tile(const ambit__group *g, function *f)
{
  for (int d = 0; d < g->ndims; d++)
    f->head.tile[d] = d == g->ndims - 1 ? AMBIT__CPU_LINE_CELLS : AMBIT__CPU_SLAB_ALIGN;
}

/* Memory for the results of slabs. Generated functions add strict sums to long accumulators,
 * registered ones to doubles. */
static ambit_status make_partials(ambit__device *dev, const ambit__group *g, function *f)
{
  f->head.words = 1;
  for (int i = 0; i < f->rule->nparams; i++) {
    f->exact[i] = ambit__sums_exactly(g, &f->rule->params[i]);
    f->at[i] = f->head.words;
    f->head.words += f->binned[i]               ? f->rule->params[i].bins
                     : f->exact[i] && f->module ? AMBIT__LONG_WORDS
                                                : 1;
  }
  f->partial = ambit__new(dev->errors, (size_t)ambit__cpu_most_slabs(f) * (size_t)f->head.words,
                          sizeof *f->partial);
  return f->partial ? AMBIT_OK : AMBIT_ENOMEM;
}

/* The registered function for a group; NULL: none. They compute boxes, which sparse grids do not
 * store. */
static ambit_cpu_fn registered(const ambit__group *g)
{
  return g->ndims && !g->form && all_contiguous(g) ? ambit__registered_cpu(g->rule) : NULL;
}

void ambit__cpu_foresee(ambit__device *dev, const ambit__group *g)
{
  device *d = (device *)dev;
  ambit__cpu_way way;
  char *source;

  if (!d->cc->available || g->chore || registered(g) || !ambit__cpu_way_choose(d, g, &way)) return;
  source = ambit__cpu_way_source(d, g, &way);
  if (source) ambit__cc_foresee(way.cc, source, d->head.machine.cores, false);
  free(source);
}

/* Nanoseconds for a tap of a point, roughly. */
static const double TAP_NS = 5;

/* Small chores run on one thread. */
static ambit_status build_chore(ambit__device *dev, const ambit__group *g, ambit__function **fn)
{
  const ambit__chore *t = g->chore;
  function *f = ambit__new(dev->errors, 1, sizeof *f);
  double cells = 1;

  if (!f) return AMBIT_ENOMEM;
  for (int d = 0; d < g->ndims; d++)
    cells *= (double)(g->cells[d] > 1 ? g->cells[d] : 1);
  f->rule = g->rule;
  f->run = ambit__host_chore;
  f->cell_ns = t->points ? TAP_NS * (double)(t->points->n * t->points->taps) / cells : 0;
  f->head.waves = g->ndims > 0 && t->kind != CHORE_HOST;
  f->head.ignores_stop = t->kind == CHORE_HOST;
  *fn = &f->head;
  if (!set_plan(dev, f, t->kind == CHORE_HOST ? "(host)" : "(points)")) return AMBIT_OK;
  ambit__cpu_discard(dev, &f->head);
  return AMBIT_ENOMEM;
}

ambit_status ambit__cpu_build(ambit__device *dev, const ambit__group *g, ambit__function **fn)
{
  device *d = (device *)dev;
  const ambit__rule *rule = g->rule;
  function *f;
  ambit_status s = AMBIT_OK;

  if (g->chore) return build_chore(dev, g, fn);
  AMBIT_NEW(dev->errors, f, 1);
  f->rule = rule;
  f->run = registered(g);
  if (f->run)
    AMBIT_TRY_GOTO(s, set_plan(dev, f, "(registered)"), fail);
  else if (d->cc->available)
    AMBIT_TRY_GOTO(s, compile(d, g, f), fail);
  if (!f->run) AMBIT_TRY_GOTO(s, do_without(d, g, f), fail);
  f->cell_ns = cell_ns(rule, &d->head.machine);
  for (int i = 0; f->module && i < rule->nparams; i++) {
    f->binned[i] = g->bind[i].onto && rule->params[i].bins;
    f->has_bins |= f->binned[i];
  }
  if (ambit__rule_reduces(rule) || f->has_bins) AMBIT_TRY_GOTO(s, make_partials(dev, g, f), fail);
  f->head.checked = g->checks && (f->module || f->ref);
  f->head.sweeps = f->module && g->sweep;
  f->whole = f->head.sweeps ? 1u << ambit__sweep_axis(g->sweep) : 0;
  for (int i = 0; f->module && i < rule->nparams; i++) {
    f->head.totals |= g->bind[i].onto;
    if (g->bind[i].onto && !f->binned[i]) f->whole |= g->bind[i].dropped;
  }
  f->head.waves = f->module && !g->checks && g->ndims && !f->head.totals;
  f->head.tiles = !f->ref && !g->checks && g->ndims && !f->head.totals;
  set_tile(g, f);
  *fn = &f->head;
  return AMBIT_OK;
fail:
  ambit__cpu_discard(dev, &f->head);
  return s;
}
