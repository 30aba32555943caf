/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_explain.c - describes the parameters of GPU kernels to users who call or write kernels. */
#include "plan/gpu.h"

enum { NAMES_WIDE = 24 };

static void print_meaning(const ambit__group *g, const ambit__gpucode_slot *s, ambit__text *t)
{
  const ambit__rule *rule = g->steps[0].rule;
  /* Used only if the slot belongs to a parameter. */
  const ambit__param *p = &rule->params[s->param];

  switch (s->kind) {
  case SLOT_MEMORY:
    ambit__print(t, "field %s (%s%s): where its memory begins", p->name, ambit_type_name(p->type),
                 p->is_written ? ", written" : "");
    break;
  case SLOT_ORIGIN: ambit__print(t, "elements from there to cell 0 along every axis"); break;
  case SLOT_STRIDE:
    ambit__print(t, "elements from a cell to the next along each axis; the last is 1");
    break;
  case SLOT_COMPONENT: ambit__print(t, "elements from a component to the next"); break;
  case SLOT_VALUE:
    ambit__print(t, "value %s (%s): where it is", p->name, ambit_type_name(p->type));
    break;
  case SLOT_PARTIALS:
    ambit__print(t, "reduction %s: 8 bytes per block, for its partial result", p->name);
    break;
  case SLOT_RESULT:
    ambit__print(t, "scalar %s (%s): where the result goes", p->name, ambit_type_name(p->type));
    break;
  case SLOT_STARTS: ambit__print(t, "by such a cell: its first entry"); break;
  case SLOT_WHO: ambit__print(t, "by entry: the point"); break;
  case SLOT_WEIGHTS: ambit__print(t, "by entry: the weight"); break;
  case SLOT_ROWS: ambit__print(t, "rows of values to add, or of cells that were sampled"); break;
  case SLOT_ROW: ambit__print(t, "row of iteration 0"); break;
  case SLOT_TOUCHED: ambit__print(t, "number of cells that points touch"); break;
  case SLOT_LO: ambit__print(t, "the first cell to update along each axis"); break;
  case SLOT_HI: ambit__print(t, "behind the last cell to update"); break;
  case SLOT_OFFSET: ambit__print(t, "index in the grid of cell 0"); break;
  case SLOT_EXTENT: ambit__print(t, "cells of the grid along each axis"); break;
  case SLOT_GROUPS: ambit__print(t, "by 32 units: the line of the first, and bits"); break;
  case SLOT_LINES: ambit__print(t, "places of units, and distances to rows"); break;
  case SLOT_CELLS: ambit__print(t, "places of cells, and what they test"); break;
  case SLOT_UNITS: ambit__print(t, "number of units to update: a few cells each"); break;
  case SLOT_SHARE: ambit__print(t, "number of them that a block updates"); break;
  case SLOT_FIRST: ambit__print(t, "place of the first, or -1 if others do not follow it"); break;
  case SLOT_TABLE: ambit__print(t, "boxes of tiles"); break;
  case SLOT_THAN: ambit__print(t, "values to compare those of %s with", p->name); break;
  case SLOT_FOUND: ambit__print(t, "boxes of cells that differ"); break;
  case SLOT_LINKS: ambit__print(t, "tiles that read each tile"); break;
  case SLOT_STATE: ambit__print(t, "lists of tiles"); break;
  case SLOT_TILES: ambit__print(t, "number of tiles"); break;
  case SLOT_ROUND: ambit__print(t, "number of the round, the first being 0"); break;
  case SLOT_STEP: ambit__print(t, "number of the iteration, the first being 0"); break;
  case SLOT_TIMES: ambit__print(t, "number of iterations"); break;
  case SLOT_MAIL: ambit__print(t, "memory through which blocks exchange values"); break;
  case SLOT_ROUNDS: ambit__print(t, "number of such exchanges so far"); break;
  case SLOT_AIMS: ambit__print(t, "cells of each warp that points touch"); break;
  case SLOT_WINDOWS: ambit__print(t, "NULL, or where each warp writes down its cells"); break;
  case SLOT_FAULTS: ambit__print(t, "where the first fault is noted"); break;
  case SLOT_COUNT: ambit__print(t, "blocks of the first kernel"); break;
  case SLOT_MORE: ambit__print(t, "1: fold into the value of the scalar; 0: start anew"); break;
  case SLOT_ENDED: ambit__print(t, "NULL, or a number that is not 0 once the run is over"); break;
  }
}

void ambit__gpucode_explain(const ambit__group *g, int n, const ambit__gpucode_slot *slots,
                            const char *margin, ambit__text *t)
{
  for (int i = 0, end; i < n; i = end) {
    size_t from;

    ambit__print(t, "%s", margin);
    from = t->len;
    for (end = i; end < n && slots[end].kind == slots[i].kind && slots[end].param == slots[i].param;
         end++) {
      ambit__print(t, end > i ? ", " : "");
      ambit__gpucode_print_name(g, &slots[end], t);
    }
    ambit__print(t, "%*s", t->len - from < NAMES_WIDE ? (int)(NAMES_WIDE - (t->len - from)) : 1,
                 "");
    print_meaning(g, &slots[i], t);
    ambit__print(t, "\n");
  }
}
