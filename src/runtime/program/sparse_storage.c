/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_storage.c - the storage of a sparse grid that suits a program best (grid/storage.h). */
#include "base/log.h"
#include "grid/storage.h"
#include "plan/plan.h"
#include "runtime/program/program.h"

#include <stdlib.h>

static bool is_launched(const ambit_program *p, size_t step)
{
  return p->steps[step].kind == STEP_APPLY && p->applies[step].region.ndims;
}

/* Bytes of values that the steps of an iteration move per cell. */
static double bytes_of(const ambit_program *p)
{
  double bytes = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    if (is_launched(p, i)) bytes += ambit__price_of(p->steps[i].kernel->rule).bytes;
  return bytes;
}

/* The size of a value of the first field. */
static size_t value_size(const ambit__step *s)
{
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field) return ambit_type_size(s->args[i].field->type);
  return sizeof(float);
}

/* Adds what all steps cost with the cells in another storage. */
static ambit_status add_costs(const ambit_program *p, const ambit__active *a, double *costs)
{
  const ambit__site site = p->grid->context->in_host ? SITE_CORES : SITE_GPU;
  ambit_status s = AMBIT_OK;

  for (size_t i = 0; !s && i < p->nsteps; i++) {
    ambit__chunk_form form = {0};
    ambit__price price;
    ambit__toll toll;

    if (!is_launched(p, i)) continue;
    s = ambit__step_form(p, i, a->storage == STORAGE_LIST, &form);
    price = ambit__price_of(p->steps[i].kernel->rule);
    toll = ambit__storage_toll(a, &form, value_size(&p->steps[i]), price.bytes, 0);
    *costs += ambit__storage_costs(&toll, site, price.bytes, price.written);
    ambit__chunk_form_free(&form);
  }
  return s;
}

static ambit_status find_costs(const ambit_program *p, double *costs, double *cells)
{
  const ambit__active *now = p->grid->active;
  ambit_status s = AMBIT_OK;

  for (int k = 0; !s && k < AMBIT__STORAGES; k++) {
    ambit__active a = {0};

    s = ambit__active_store(ambit__program_errors(p), now, (ambit__storage)k, now->pad, &a);
    cells[k] = (double)a.size;
    if (!s) s = add_costs(p, &a, &costs[k]);
    ambit__active_free(&a);
  }
  return s;
}

static ambit_status move(ambit_program *p, ambit__storage to)
{
  ambit__program_unseal_others(p);
  AMBIT_TRY(ambit__grid_store(p->grid, to));
  for (size_t i = 0; i < p->nsteps; i++) {
    ambit__chunk_form *form = &p->applies[i].form;

    if (!is_launched(p, i)) continue;
    ambit__chunk_form_free(form);
    AMBIT_TRY(ambit__step_form(p, i, to == STORAGE_LIST, form));
  }
  return AMBIT_OK;
}

ambit_status ambit__program_store(ambit_program *p)
{
  ambit_grid *g = p->grid;
  const double bytes = bytes_of(p);
  double costs[AMBIT__STORAGES] = {0}, cells[AMBIT__STORAGES] = {0};
  ambit__storage best;

  if (!g->any_storage || bytes <= g->weighed || !g->active->cells) return AMBIT_OK;
  if (!ambit__can(g->context->engines[0].device->backend, ghosts))
    return AMBIT_OK; /* all are alike */
  g->weighed = bytes;
  AMBIT_TRY(find_costs(p, costs, cells));
  best = ambit__storage_best(costs);
  if (ambit__split_for(g->context, cells[best], g->weights, g->split) != g->split)
    best = g->active->storage; /* its parts would be too large */
  ambit__log(&g->context->settings, 1,
             "sparse grid: storage %s; bytes moved per cell, or time in which they could be: runs "
             "%.4g, list %.4g",
             ambit__storage_name(best), costs[STORAGE_RUNS], costs[STORAGE_LIST]);
  return best == g->active->storage ? AMBIT_OK : move(p, best);
}
