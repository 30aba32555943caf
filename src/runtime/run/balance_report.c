/* SPDX-License-Identifier: BSD-3-Clause */
/* balance_report.c - the contribution of each device, in words. */
#include "base/memory.h"
#include "runtime/run/balance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ambit__part_name(const ambit *a, int part, char name[AMBIT__PART_NAME])
{
  const ambit__engine *e = &a->engines[a->placement.engine[part]];

  snprintf(name, AMBIT__PART_NAME, "%s:%d", e->backend->name, e->ordinal);
}

ambit_status ambit__balance_gather(ambit_program *p)
{
  ambit *a = p->grid->context;
  const size_t most = (size_t)a->placement.most, size = AMBIT__PART_NAME;
  const ambit__balance *b = p->balance;
  char(*all)[AMBIT__PART_NAME], (*mine)[AMBIT__PART_NAME];
  ambit_status s = AMBIT_ENOMEM;

  if (!b || b->names) return AMBIT_OK;
  p->balance->names = ambit__new(&a->errors, (size_t)b->n, size);
  all = ambit__new(&a->errors, most * ((size_t)a->net->size + 1), size);
  mine = all ? all + most * (size_t)a->net->size : NULL;
  for (int i = 0; mine && i < a->placement.n; i++)
    ambit__part_name(a, i, mine[i]);
  if (b->names && all) s = ambit__net_gather(a->net, mine, most * size, all);
  for (int r = 0; !s && r < a->net->size; r++)
    memcpy(b->names[a->placement.first[r]], all[most * (size_t)r],
           (size_t)(a->placement.first[r + 1] - a->placement.first[r]) * size);
  free(all);
  return s;
}

/* The share of the cells of part i, as devices makes them. */
static double share(const ambit_program *p, int i)
{
  const ambit_grid *g = p->grid;
  const double all = (double)ambit__grid_count(g, &g->box);

  if (g->nparts == p->balance->n) return (double)ambit__grid_count(g, &g->parts[i]) / all;
  return g->context->placement.engine[i] == 0 && (!i || g->context->placement.engine[i - 1]) ? 1
                                                                                             : 0;
}

/* No cut has given it cells yet. */
static bool is_left_out_at_first(const ambit_program *p, int i)
{
  const double *shares = p->grid->context->shares;

  return shares && shares[i] <= 0 && !p->balance->recalled;
}

static void print_part(const ambit_program *p, int i)
{
  const ambit__balance *b = p->balance;
  const double cells = share(p, i), all = b->seconds > 0 ? 100 / b->seconds : 0;

  fprintf(stderr, "  part %d  %-10s", i, b->names[i]);
  if (cells <= 0 && is_left_out_at_first(p, i))
    fprintf(stderr, " no cells\n"); /* the reason follows */
  else if (cells <= 0 && b->recalled)
    fprintf(stderr, " left out, as in an earlier run\n");
  else if (p->grid->nparts < b->n && cells > 0)
    fprintf(stderr, " all cells\n");
  else if (cells > 0)
    fprintf(stderr,
            " %5.1f %% of the cells, computed %.0f %% of the time, moved data %.0f %%, waited %.0f "
            "%%\n",
            100 * cells, b->busy[i] * all, b->moving[i] * all,
            b->busy[i] + b->moving[i] < b->seconds ? (b->seconds - b->busy[i] - b->moving[i]) * all
                                                   : 0.0);
  else if (b->alone > 0)
    fprintf(stderr, " left out: an iteration takes %.3g ms with it, %.3g ms without\n",
            1e3 * b->together, 1e3 * b->alone);
  else
    fprintf(stderr, " left out: it would add %.1f %%, less than sharing costs\n", b->gain * 100);
}

void ambit__balance_print(const ambit_program *p)
{
  const ambit__balance *b = p->balance;

  if (!b || !b->names || (b->seconds <= 0 && !b->recuts)) return;
  for (int i = 0; i < b->n; i++)
    print_part(p, i);
  if (b->recuts)
    fprintf(stderr, "  the cut was moved %d time%s, in %.3g s\n", b->recuts,
            b->recuts == 1 ? "" : "s", b->recutting);
}
