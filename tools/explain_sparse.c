/* SPDX-License-Identifier: BSD-3-Clause */
/* explain_sparse.c - what a sparse grid would take in each storage: found from its runs and chunks,
 * before any field is allocated.
 */
#include "explain.h"
#include "grid/storage.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The cells that the kernel reads: of each field with the boundaries of the problem. */
static ambit_status make_form(ambit__errors *errors, const tool_problem *p, const ambit__rule *rule,
                              ambit__chunk_form *form)
{
  ambit__boundaries b = {.inactive = AMBIT_CONSTANT};
  int view;

  for (int d = 0; d < p->size.ndims; d++)
    for (int side = 0; side < 2; side++)
      b.kind[d][side] = p->boundaries.kind[d][side];
  view = ambit__chunk_form_view(errors, form, &b);
  if (view < 0) return AMBIT_ENOMEM;
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];

    if (q->kind != PARAM_FIELD || !q->reads_neighbours) continue;
    for (int k = 0; k < q->nreads; k++)
      AMBIT_TRY(ambit__chunk_form_add(errors, form, p->size.ndims, view, q->reads[k].offset,
                                      i >= p->nparams));
  }
  return ambit__chunk_form_rank(errors, form, p->size.ndims);
}

/* The first field, whose values the lines of memory are counted for. */
static size_t value_size(const tool_problem *p)
{
  for (int i = 0; i < p->nparams; i++)
    if (p->params[i].kind == AMBIT_PARAM_FIELD) return ambit_type_size(p->params[i].type);
  return sizeof(float);
}

static ambit_status find_toll(ambit__errors *errors, const tool_problem *p, const ambit__rule *rule,
                              const ambit__active *cells, ambit__storage storage, ambit__toll *toll)
{
  ambit__chunk_form form = {.list = storage == STORAGE_LIST};
  ambit__active a = {0};
  ambit__chunks c = {.form = &form};
  ambit_status s = make_form(errors, p, rule, &form);

  if (!s) s = ambit__active_store(errors, cells, storage, ambit__chunk_form_pad(&form), &a);
  if (!s) s = ambit__chunks_make(errors, &a, &form, &a.box, NULL, NULL, &c);
  if (!s) *toll = ambit__storage_toll(&a, &form, value_size(p), ambit__price_of(rule).bytes, c.n);
  ambit__chunks_free(&c);
  ambit__active_free(&a);
  ambit__chunk_form_free(&form);
  return s;
}

/* Bytes of the fields of a cell. */
static double cell_bytes(const tool_problem *p)
{
  double bytes = 0;

  for (int i = 0; i < p->nparams; i++)
    if (p->params[i].kind == AMBIT_PARAM_FIELD)
      bytes += (double)ambit_type_size(p->params[i].type) * p->params[i].components;
  return bytes;
}

static int count_fields(const tool_problem *p)
{
  int n = 0;

  for (int i = 0; i < p->nparams; i++)
    n += p->params[i].kind == AMBIT_PARAM_FIELD;
  return n ? n : 1;
}

static void print_parts(const ambit_grid *g)
{
  int64_t least = INT64_MAX, most = 0;
  double weights = 0, over = 0; /* the most cells of a part, relative to its share */

  for (int i = 0; i < g->nparts; i++)
    weights += g->weights ? g->weights[i] : 1;
  for (int i = 0; i < g->nparts; i++) {
    const int64_t n = ambit__active_count(g->active, &g->parts[i]);
    const double share = (g->weights ? g->weights[i] : 1) / weights * (double)g->active->cells;

    if (n < least) least = n;
    if (n > most) most = n;
    if (share > 0 && (double)n > over * share) over = (double)n / share;
  }
  if (g->nparts > 1 && most)
    printf("  %d parts of %" PRId64 " to %" PRId64 " active cells, %s%.2g %% more than %s\n",
           g->nparts, least, most, g->weights ? "at most " : "", 100 * (over - 1),
           g->weights ? "their shares" : "the mean");
}

/* "auto is list on a GPU: it takes 0.71 of the time of runs, and at most 30 MiB" */
static void print_choice(const char *site, const double *costs, const double *cells, double mib,
                         int fields)
{
  const ambit__storage best = ambit__storage_best(costs);

  printf("  auto is %s %s", ambit__storage_name(best), site);
  if (best == STORAGE_RUNS)
    printf(": no other is clearly faster");
  else
    printf(": estimated at %.2g of the time of runs", costs[best] / costs[STORAGE_RUNS]);
  printf("; at most %.4g MiB while it stores fields\n",
         ambit__storage_peak(best, cells, fields) * mib / fields);
}

/* A dense grid with a mask field moves all cells of the box, and the mask. It is not compared by
 * time: with stars of cells at random it was faster where it moves a third of what auto counts. */
static void print_mask(double box, double cell, double bytes, const double *best)
{
  const double moves = box * (bytes + 1);

  printf(
      "  a dense grid with a mask field would take %.4g MiB, and move %.4g bytes per active cell\n",
      cell, moves);
  if (moves < best[SITE_CORES] / 3)
    printf("  it is probably faster on cores: the cells are scattered\n");
}

/* Of the storages: bytes of memory, and bytes moved per active cell. `active` is a field of bytes
 * that kernels with tests have; `box` has cells for each active one. */
static void print_tolls(const tool_problem *p, int64_t cells, double box, bool active,
                        const ambit__toll *tolls)
{
  static const char *const sites[] = {"on cores", "on a GPU"};
  const double mib = (double)cells / (1 << 20);
  const ambit__price price = ambit__price_of(p->rule);
  const double cell = cell_bytes(p) + active;
  double costs[AMBIT__SITES][AMBIT__STORAGES], cells_of[AMBIT__STORAGES];
  double best[AMBIT__SITES];

  printf("storage of %.4g MiB of values\n", cell_bytes(p) * mib);
  for (int k = 0; k < AMBIT__STORAGES; k++) {
    const ambit__toll *t = &tolls[k];

    cells_of[k] = t->cells;
    printf("  %-5s  %.4g MiB, and a table of %.4g on cores, %.4g on a GPU\n",
           ambit__storage_name((ambit__storage)k), cell * t->cells * mib,
           t->table[SITE_CORES] * mib, t->table[SITE_GPU] * mib);
    printf("         %.4g bytes moved per active cell on cores, %.4g on a GPU\n",
           ambit__storage_moves(t, SITE_CORES, price.bytes, price.written),
           ambit__storage_moves(t, SITE_GPU, price.bytes, price.written));
    for (int site = 0; site < AMBIT__SITES; site++)
      costs[site][k] = ambit__storage_costs(t, (ambit__site)site, price.bytes, price.written);
  }
  for (int site = 0; site < AMBIT__SITES; site++) {
    print_choice(sites[site], costs[site], cells_of, cell * mib, count_fields(p));
    best[site] = costs[site][ambit__storage_best(costs[site])];
  }
  print_mask(box, (cell_bytes(p) + 1) * box * mib, price.bytes, best);
}

ambit_status tool_print_sparse(const tool_problem *p, const ambit_grid *g)
{
  ambit__errors *errors = &g->context->errors;
  const ambit__active *a = g->active;
  const ambit__surroundings around = {.type = AMBIT_U8, .box = &a->box, .nviews = 1};
  int param[1];
  ambit__toll tolls[AMBIT__STORAGES] = {{0}};
  ambit__rule *adapted = NULL;
  ambit_status s;

  s = ambit__rule_sparse(errors, p->rule, &around, param, &adapted);
  for (int k = 0; !s && k < AMBIT__STORAGES; k++)
    s = find_toll(errors, p, adapted ? adapted : p->rule, a, (ambit__storage)k, &tolls[k]);
  if (!s) {
    printf("sparse grid\n  %" PRId64 " active cells, %.3g %% of the box, in %" PRId64 " runs\n",
           a->cells, 100 * (double)a->cells / (double)ambit__box_volume(&a->box), a->n);
    print_parts(g);
    print_tolls(p, a->cells, (double)ambit__box_volume(&a->box) / (double)(a->cells ? a->cells : 1),
                adapted != NULL, tolls);
  }
  ambit__rule_free(adapted);
  return s;
}
