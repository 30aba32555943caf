/* SPDX-License-Identifier: BSD-3-Clause */
/* explain_sparse.c - what a sparse grid would take: found from its runs and chunks, before any
 * field is allocated.
 *
 * Fields are stored in runs. For comparison: a list of cells with the numbers of the neighbours
 * that each of them reads, and a dense grid of the box with a field that tells the active cells,
 * whose launches move the values of all cells and the mask.
 */
#include "explain.h"
#include "grid/deal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of memory. */
typedef struct bill {
  double values; /* of active cells */
  double fields; /* with what is between the runs */
  double activity, cores, gpu;
} bill;

/* The rows that the kernel reads: of each field with the boundaries of the problem. */
static ambit_status make_form(ambit__errors *errors, const tool_problem *p, const ambit__rule *rule,
                              ambit__chunk_form *form)
{
  ambit__boundaries b = {.inactive = AMBIT_CONSTANT};

  for (int d = 0; d < p->size.ndims; d++)
    for (int side = 0; side < 2; side++)
      b.kind[d][side] = p->boundaries.kind[d][side];
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];

    if (q->kind != PARAM_FIELD || !q->reads_neighbours) continue;
    for (int k = 0; k < q->nreads; k++)
      AMBIT_TRY(ambit__chunk_form_add(errors, form, p->size.ndims, ambit__chunk_form_view(form, &b),
                                      q->reads[k].offset, i >= p->nparams));
  }
  return AMBIT_OK;
}

/* The tables of a step, on cores and on a GPU. */
static ambit_status count_tables(ambit__errors *errors, const ambit__active *a,
                                 const ambit__chunk_form *form, bill *b)
{
  ambit__chunks c;
  ambit__deal d = {0};
  ambit_status s = ambit__chunks_make(errors, a, form, &a->box, &c);

  if (!s) s = ambit__deal_make(errors, &c, AMBIT__QUAD, 0, &d);
  b->cores = (double)c.n * (double)((size_t)c.words * sizeof *c.table + sizeof *c.first);
  b->gpu = (double)d.nlines * (double)((size_t)d.words * sizeof *d.lines) +
           (double)d.ngroups * sizeof *d.groups;
  ambit__deal_free(&d);
  ambit__chunks_free(&c);
  return s;
}

/* The runs with the cells beside them that a form needs. */
static ambit_status widen(ambit__errors *errors, const ambit__active *from,
                          const ambit__chunk_form *form, ambit__active *to)
{
  ambit__active_begin(to, &from->box);
  for (int64_t i = 0; i < from->n; i++)
    AMBIT_TRY(ambit__active_add(errors, to, &from->runs[i]));
  return ambit__active_end(errors, to, ambit__chunk_form_pad(form));
}

static void count_fields(const tool_problem *p, const ambit__active *a, bill *b)
{
  for (int i = 0; i < p->nparams; i++) {
    const ambit_param_info *q = &p->params[i];
    const double cell = (double)ambit_type_size(q->type) * q->components;

    if (q->kind != AMBIT_PARAM_FIELD) continue;
    b->values += cell * (double)a->cells;
    b->fields += cell * (double)a->size;
  }
}

/* Neighbours of a cell that the kernel reads, of some field. */
static int count_neighbours(const tool_problem *p)
{
  static const int here[AMBIT_MAX_DIMS];
  int n = 0;

  for (int i = 0; i < p->nparams; i++) {
    const ambit__param *q = &p->rule->params[i];

    for (int k = 0; q->kind == PARAM_FIELD && k < q->nreads; k++) {
      bool seen = !memcmp(q->reads[k].offset, here, sizeof here);

      for (int j = 0; !seen && j < i; j++)
        for (int m = 0; p->rule->params[j].kind == PARAM_FIELD && m < p->rule->params[j].nreads;
             m++)
          seen |= !memcmp(p->rule->params[j].reads[m].offset, q->reads[k].offset, sizeof here);
      for (int m = 0; m < k; m++)
        seen |= !memcmp(q->reads[m].offset, q->reads[k].offset, sizeof here);
      n += !seen;
    }
  }
  return n;
}

static void print_parts(const ambit_grid *g)
{
  int64_t least = INT64_MAX, most = 0;

  for (int i = 0; i < g->nparts; i++) {
    const int64_t n = ambit__active_count(g->active, &g->parts[i]);

    if (n < least) least = n;
    if (n > most) most = n;
  }
  if (g->nparts > 1 && most)
    printf("  %d parts of %" PRId64 " to %" PRId64 " active cells, %.2g %% more than the mean\n",
           g->nparts, least, most, 100 * ((double)most * g->nparts / (double)g->active->cells - 1));
}

/* Of the storages: bytes of memory, and bytes moved per active cell. */
static void print_bill(const tool_problem *p, const ambit__active *a, const bill *b)
{
  const double mib = 1 << 20, bytes = ambit_kernel_bytes(p->kernel);
  const double box = (double)ambit__box_volume(&a->box), cells = a->cells ? (double)a->cells : 1;
  const double filled = (double)a->size / cells, indices = 4.0 * count_neighbours(p);
  const double cores = bytes * filled + (b->activity + b->cores) / cells;
  const double gpu = bytes * filled + (b->activity + b->gpu) / cells;
  const double dense = (bytes + 1) * box / cells, list = bytes + indices;

  printf("storage\n  runs   %.4g MiB: %.4g for values, %.4g with the cells between runs, ",
         (b->fields + b->activity + b->cores) / mib, b->values / mib, b->fields / mib);
  if (b->activity > 0) printf("%.4g for activity, ", b->activity / mib);
  printf("tables of %.4g on cores, %.4g on a GPU\n", b->cores / mib, b->gpu / mib);
  printf("         %.4g bytes moved per active cell on cores, %.4g on a GPU\n", cores, gpu);
  printf("  list   %.4g MiB: for values, and the numbers of %d neighbours of each cell\n",
         (b->values + indices * cells) / mib, count_neighbours(p));
  printf("         %.4g bytes moved per active cell\n", list);
  printf("  dense  %.4g MiB: for the values of all cells, and a mask\n",
         (b->values / cells + 1) * box / mib);
  printf("         %.4g bytes moved per active cell\n", dense);
  if (cores <= list && cores <= dense)
    printf("  runs are chosen: they move the fewest bytes\n");
  else
    printf("  runs are chosen: sparse grids have no other storage. %s\n",
           dense < list ? "A dense grid with a mask as a field would move fewer bytes"
                        : "The active cells are almost alone");
}

ambit_status tool_print_sparse(const tool_problem *p, const ambit_grid *g)
{
  ambit__errors *errors = &g->context->errors;
  int view[AMBIT_MAX_PARAMS], param[AMBIT__VIEWS];
  ambit__chunk_form form = {0};
  ambit__rule *adapted = NULL;
  ambit__active active = {0};
  ambit_status s;
  bill b = {0};

  for (int i = 0; i < AMBIT_MAX_PARAMS; i++)
    view[i] = -1;
  s = ambit__rule_sparse(errors, p->rule, view, param, &adapted);
  if (!s) s = make_form(errors, p, adapted ? adapted : p->rule, &form);
  if (!s) s = widen(errors, g->active, &form, &active);
  if (!s) s = count_tables(errors, &active, &form, &b);
  count_fields(p, &active, &b);
  if (adapted) b.activity = (double)active.size;
  if (!s) {
    printf("sparse grid\n  %" PRId64 " active cells, %.3g %% of the box, in %" PRId64 " runs\n",
           active.cells, 100 * (double)active.cells / (double)ambit__box_volume(&active.box),
           active.n);
    print_parts(g);
    print_bill(p, &active, &b);
  }
  ambit__active_free(&active);
  ambit__chunk_form_free(&form);
  ambit__rule_free(adapted);
  return s;
}
