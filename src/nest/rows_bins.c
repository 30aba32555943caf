/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_bins.c - reductions whose subscripts are computed: histograms.
 *
 * A cell has a component and a value to fold into it. Those of a vector of cells are results like
 * any others, in arrays; then cell after cell is folded into a table. There are some tables, since
 * cells beside each other often have the same component, and an addition waits for the one before
 * it at the same place. Each has one more element, for cells that have no component. At the end
 * they are folded into a table of the slab (device/cpu/launch.c).
 */
#include "nest/rows.h"

typedef ambit__rows_job job;

enum { TABLES = 4, MANY = 1024 /* components: one table of them fills a quarter of a cache */ };

static int tables_of(const ambit__param *p)
{
  return p->bins > MANY ? 1 : TABLES;
}

/* Cells that are folded into a table each; a vector has so many, or a multiple. */
static int step_of(const job *j)
{
  return j->lane_bytes > sizeof(float) ? 2 : 4;
}

void ambit__rows_let_tables(job *j)
{
  ambit__nest *n = j->n;

  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);
    const int size = tables_of(p) * (p->bins + 1);

    if (!ambit__nest_is_binned(n, i)) continue;
    ambit__nest_do(n, "%s %s_bins[%d]", n->dialect->types[ambit__type_total(p->type)], p->name,
                   size);
    ambit__nest_for(n, "int", "i", "0", ambit__nest_text(n, "%d", size));
    ambit__nest_do(n, "%s_bins[i] = %s", p->name, ambit__nest_identity(n, p));
    ambit__nest_close(n);
  }
}

void ambit__rows_fold_tables(job *j)
{
  ambit__nest *n = j->n;

  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (!ambit__nest_is_binned(n, i)) continue;
    ambit__nest_for(n, "int", "i", "0", ambit__nest_text(n, "%d", p->bins));
    for (int t = 0; t < tables_of(p); t++)
      ambit__nest_node(n, NODE_FOLD, .name = ambit__nest_text(n, "%s_sum[i]", p->name),
                       .value = ambit__nest_text(n, "%s_bins[%d + i]", p->name, t * (p->bins + 1)),
                       .wide = ambit__type_total(p->type), .access = {.param = i});
    ambit__nest_close(n);
  }
}

static bool is_pair(const job *j, ambit__nest_access a)
{
  return ambit__nest_is_binned(j->n, a.param) && a.component % 2 == 0;
}

/* "n_b1_0[l + 2]": a component of the cell. */
static const char *at_lane(job *j, ambit__nest_access a, int component, int r, int more)
{
  return ambit__nest_text(j->n, "%s_b%d_%d%s", ambit__nest_name(j->n, a.param), component, r,
                          j->lanes ? ambit__nest_at(j->n, "l", more) : "");
}

static void fold_cell(job *j, ambit__nest_access a, int r)
{
  if (is_pair(j, a))
    ambit__nest_fold_bin(j->n, a.param, a.component / 2, at_lane(j, a, a.component, r, 0),
                         at_lane(j, a, a.component + 1, r, 0));
}

/* Of the cells from l on, one into each table: "n_bins[514L + (n_w0_0 >> 32 & 0xffff)] += 1". The
 * number of a table stands in the code, and components are loaded together: else it takes 1.5 times
 * as long. */
static void fold_cells(job *j, ambit__nest_access a, int r)
{
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, a.param);
  const char *word = ambit__nest_text(n, "%s_w%d_%d", p->name, a.component, r);

  if (!is_pair(j, a)) return;
  ambit__nest_do(n, "const ambit_u64 %s = ambit_load_%d(&%s)", word, step_of(j),
                 at_lane(j, a, a.component, r, 0));
  for (int k = 0; k < step_of(j); k++)
    ambit__nest_fold_bin(n, a.param, a.component / 2,
                         ambit__nest_text(n, "%dL + (%s >> %d & 0xffff)",
                                          k % tables_of(p) * (p->bins + 1), word, 16 * k),
                         at_lane(j, a, a.component + 1, r, k));
}

void ambit__rows_fold_bins(job *j, bool ragged)
{
  if (!ambit__group_is_binned(j->n->group)) return;
  if (j->lanes && ragged)
    ambit__nest_for(j->n, "long", "l", "x < x0 ? x0 - x : 0", "(x + LANES < x1 ? LANES : x1 - x)");
  else if (j->lanes)
    ambit__nest_loop(j->n, .type = "long", .name = "l", .from = "0", .below = "LANES",
                     .step = ambit__nest_text(j->n, "%d", step_of(j)));
  ambit__rows_each_result(j, j->lanes && !ragged ? fold_cells : fold_cell);
  if (j->lanes) ambit__nest_close(j->n);
}
