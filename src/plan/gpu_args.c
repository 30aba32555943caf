/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_args.c - the parameters of GPU kernels: their order and their text. */
#include "flow/flow.h"
#include "plan/gpu.h"

static void add(ambit__gpucode_slot *slots, int *n, ambit__gpucode_slot_kind kind, int param,
                int axis)
{
  slots[(*n)++] = (ambit__gpucode_slot){kind, param, axis};
}

static void add_axes(ambit__gpucode_slot *slots, int *n, ambit__gpucode_slot_kind kind, int param,
                     int ndims)
{
  for (int d = 0; d < ndims; d++)
    add(slots, n, kind, param, d);
}

static void add_tiles(const ambit__group *g, ambit__gpucode_slot *slots, int *n)
{
  const ambit__rule *rule = g->steps[0].rule;

  add(slots, n, SLOT_TABLE, 0, 0);
  if (g->tiles == TILES_RELAX) {
    for (int kind = SLOT_LINKS; kind <= SLOT_ROUND; kind++)
      add(slots, n, (ambit__gpucode_slot_kind)kind, 0, 0);
    return;
  }
  for (int i = 0; i < rule->nparams; i++)
    if (g->steps[0].bind[i].is_field && rule->params[i].is_written) add(slots, n, SLOT_THAN, i, 0);
  add(slots, n, SLOT_FOUND, 0, 0);
}

/* The cells to update. */
static void add_range(const ambit__group *g, ambit__gpucode_slot *slots, int *n)
{
  if (g->form) {
    const int end = g->form->list ? SLOT_FIRST : SLOT_SHARE;

    for (int kind = SLOT_GROUPS; kind <= end; kind++)
      add(slots, n, (ambit__gpucode_slot_kind)kind, 0, 0);
    return;
  }
  if (g->tiles) {
    add_tiles(g, slots, n);
  } else {
    add_axes(slots, n, SLOT_LO, 0, g->ndims);
    add_axes(slots, n, SLOT_HI, 0, g->ndims);
  }
  add_axes(slots, n, SLOT_OFFSET, 0, g->ndims);
}

static void add_points(const ambit__binding *b, ambit__gpucode_slot *slots, int *n, int param)
{
  for (int kind = SLOT_STARTS; kind <= SLOT_TOUCHED; kind++)
    if (b->samples ? kind > SLOT_WEIGHTS : kind != SLOT_TOUCHED)
      add(slots, n, (ambit__gpucode_slot_kind)kind, param, 0);
}

int ambit__gpucode_slots(const ambit__group *g, ambit__gpucode_slot *slots)
{
  const ambit__rule *rule = g->steps[0].rule;
  bool points = false;
  int n = 0;

  for (int i = 0; i < rule->nparams; i++) {
    if (rule->params[i].kind == PARAM_REDUCE) {
      add(slots, &n, SLOT_PARTIALS, i, 0);
    } else if (g->steps[0].bind[i].points) {
      points |= true;
      add_points(&g->steps[0].bind[i], slots, &n, i);
    } else if (!g->steps[0].bind[i].is_field) {
      add(slots, &n, SLOT_VALUE, i, 0);
    } else {
      add(slots, &n, SLOT_MEMORY, i, 0);
      add(slots, &n, SLOT_ORIGIN, i, 0);
      if (g->form)
        add(slots, &n, SLOT_STRIDE, i, g->ndims - 1);
      else
        add_axes(slots, &n, SLOT_STRIDE, i, g->ndims);
      add(slots, &n, SLOT_COMPONENT, i, 0);
    }
  }
  add_range(g, slots, &n);
  add_axes(slots, &n, SLOT_EXTENT, 0, g->ndims);
  add(slots, &n, SLOT_STEP, 0, 0);
  for (int kind = SLOT_TIMES; g->flow && g->flow->loops && kind <= SLOT_ROUNDS; kind++)
    add(slots, &n, (ambit__gpucode_slot_kind)kind, 0, 0);
  for (int kind = SLOT_AIMS; points && kind <= SLOT_WINDOWS; kind++)
    add(slots, &n, (ambit__gpucode_slot_kind)kind, 0, 0);
  if (g->checks) add(slots, &n, SLOT_FAULTS, 0, 0);
  /* The last, because users' kernels have none. */
  if (!g->for_people) add(slots, &n, SLOT_ENDED, 0, 0);
  return n;
}

int ambit__gpucode_fold_slots(const ambit__group *g, ambit__gpucode_slot *slots)
{
  const ambit__rule *rule = g->steps[0].rule;
  int n = 0;

  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_REDUCE) {
      add(slots, &n, SLOT_PARTIALS, i, 0);
      add(slots, &n, SLOT_RESULT, i, 0);
    }
  add(slots, &n, SLOT_COUNT, 0, 0);
  add(slots, &n, SLOT_MORE, 0, 0);
  /* The last, because users' kernels have none. */
  if (!g->for_people) add(slots, &n, SLOT_ENDED, 0, 0);
  return n;
}

/* ---- text ---- */

/* "const float *__restrict__ " */
static void print_memory_type(const ambit__nest *n, const ambit__gpucode_slot *s, ambit__text *t)
{
  const ambit__param *p = &n->rule->params[s->param];
  const bool alone = s->kind == SLOT_MEMORY && !n->bind[s->param].shared && !n->group->tiles;
  const bool written = p->is_written || p->kind == PARAM_REDUCE;

  ambit__print(t, "%s%s%s *%s", n->dialect->global, written ? "" : "const ",
               s->kind == SLOT_PARTIALS ? ambit__total_type(n->group, n->dialect, s->param)
                                        : ambit__nest_type(n, s->param),
               alone ? n->dialect->unaliased : "");
}

void ambit__gpucode_print_name(const ambit__group *g, const ambit__gpucode_slot *s, ambit__text *t)
{
  const ambit__rule *rule = g->steps[0].rule;
  const char *name = rule->nparams ? rule->params[s->param].name : "";

  switch (s->kind) {
  case SLOT_MEMORY:
  case SLOT_VALUE:
  case SLOT_PARTIALS: ambit__print(t, "%s_mem", name); break;
  case SLOT_RESULT: ambit__print(t, "%s_to", name); break;
  case SLOT_ORIGIN: ambit__print(t, "%s_o", name); break;
  case SLOT_STRIDE: ambit__print(t, "%s_s%d", name, s->axis); break;
  case SLOT_COMPONENT: ambit__print(t, "%s_c", name); break;
  case SLOT_STARTS: ambit__print(t, "%s_starts", name); break;
  case SLOT_WHO: ambit__print(t, "%s_who", name); break;
  case SLOT_WEIGHTS: ambit__print(t, "%s_weights", name); break;
  case SLOT_ROWS: ambit__print(t, "%s_rows", name); break;
  case SLOT_ROW: ambit__print(t, "%s_row", name); break;
  case SLOT_TOUCHED: ambit__print(t, "%s_touched", name); break;
  case SLOT_LO: ambit__print(t, "lo%d", s->axis); break;
  case SLOT_HI: ambit__print(t, "hi%d", s->axis); break;
  case SLOT_OFFSET: ambit__print(t, "offset%d", s->axis); break;
  case SLOT_EXTENT: ambit__print(t, "extent%d", s->axis); break;
  case SLOT_GROUPS: ambit__print(t, "groups"); break;
  case SLOT_LINES: ambit__print(t, "lines"); break;
  case SLOT_CELLS: ambit__print(t, "cells"); break;
  case SLOT_UNITS: ambit__print(t, "units"); break;
  case SLOT_SHARE: ambit__print(t, "share"); break;
  case SLOT_FIRST: ambit__print(t, "first"); break;
  case SLOT_TABLE: ambit__print(t, "table"); break;
  case SLOT_THAN: ambit__print(t, "%s_than", name); break;
  case SLOT_FOUND: ambit__print(t, "found"); break;
  case SLOT_LINKS: ambit__print(t, "links"); break;
  case SLOT_STATE: ambit__print(t, "state"); break;
  case SLOT_TILES: ambit__print(t, "tiles"); break;
  case SLOT_ROUND: ambit__print(t, "round"); break;
  case SLOT_STEP: ambit__print(t, "step"); break;
  case SLOT_TIMES: ambit__print(t, "times"); break;
  case SLOT_MAIL: ambit__print(t, "mail"); break;
  case SLOT_ROUNDS: ambit__print(t, "rounds"); break;
  case SLOT_AIMS: ambit__print(t, "aims"); break;
  case SLOT_WINDOWS: ambit__print(t, "windows"); break;
  case SLOT_FAULTS: ambit__print(t, "faults"); break;
  case SLOT_COUNT: ambit__print(t, "count"); break;
  case SLOT_MORE: ambit__print(t, "more"); break;
  case SLOT_ENDED: ambit__print(t, "ended"); break;
  }
}

static bool is_memory(const ambit__gpucode_slot *s)
{
  return s->kind == SLOT_MEMORY || s->kind == SLOT_VALUE || s->kind == SLOT_PARTIALS ||
         s->kind == SLOT_RESULT;
}

static void print_slot(const ambit__nest *n, const ambit__gpucode_slot *s, ambit__text *t)
{
  if (is_memory(s))
    print_memory_type(n, s, t);
  else if (s->kind == SLOT_TABLE)
    ambit__print(t, "%sconst %s *%s", n->dialect->global, n->integer, n->dialect->unaliased);
  else if (s->kind == SLOT_WEIGHTS || s->kind == SLOT_ROWS)
    ambit__print(t, "%s%s%s *", n->dialect->global,
                 s->kind == SLOT_ROWS && n->bind[s->param].samples ? "" : "const ",
                 ambit__nest_type(n, s->param));
  else if (s->kind == SLOT_STARTS || s->kind == SLOT_WHO)
    ambit__print(t, "%sconst %s *", n->dialect->global, n->integer);
  else if (s->kind == SLOT_AIMS || s->kind == SLOT_WINDOWS)
    ambit__print(t, "%s%sint *", n->dialect->global, s->kind == SLOT_AIMS ? "const " : "");
  else if (s->kind == SLOT_THAN)
    ambit__print(t, "%sconst %s *", n->dialect->global, ambit__nest_type(n, s->param));
  else if (s->kind >= SLOT_FOUND && s->kind <= SLOT_STATE)
    ambit__print(t, "%sambit_i32 *", n->dialect->global);
  else if (s->kind >= SLOT_GROUPS && s->kind <= SLOT_CELLS)
    ambit__print(t, "%sconst %s *%s", n->dialect->global,
                 s->kind == SLOT_GROUPS ? "ambit_u64" : "ambit_i32", n->dialect->unaliased);
  else if (s->kind == SLOT_ENDED)
    ambit__print(t, "%sconst %s *", n->dialect->global, n->integer);
  else if (s->kind == SLOT_MAIL)
    ambit__print(t, "%sambit_u64 *", n->dialect->global);
  else if (s->kind == SLOT_FAULTS)
    ambit__print(t, "%s%s *", n->dialect->global, n->integer);
  else
    ambit__print(t, "%s ", n->integer);
  ambit__gpucode_print_name(n->group, s, t);
}

/* Each memory address and each kind of number starts a line. */
static bool begins_line(const ambit__gpucode_slot *s)
{
  return s->kind == SLOT_MEMORY || s->kind == SLOT_VALUE || s->kind == SLOT_PARTIALS ||
         s->kind == SLOT_ROWS || (s->kind >= SLOT_LO && s->kind != SLOT_ENDED && s->axis == 0);
}

void ambit__gpucode_open_kernel(const ambit__nest *nest, const ambit__plan *p, const char *tail,
                                const int threads[3], int n, const ambit__gpucode_slot *slots,
                                ambit__writer *w)
{
  ambit__text *t = &w->text;

  ambit__print(t, "\n%s ", nest->dialect->kernel);
  if (p->resident && !*tail)
    ambit__print(t, "AMBIT_RESIDENT(%d, %d, %d, %d)", threads[0], threads[1], threads[2],
                 p->resident);
  else
    ambit__print(t, "AMBIT_THREADS(%d, %d, %d)", threads[0], threads[1], threads[2]);
  ambit__print(t, " void %s%s(", ambit__entry_name(nest->group), tail);
  for (int i = 0; i < n; i++) {
    ambit__print(t, "%s%s", i ? "," : "", begins_line(&slots[i]) ? "\n    " : i ? " " : "");
    print_slot(nest, &slots[i], t);
  }
  if (nest->last) ambit__print(t, ",\n    %s", nest->last);
  ambit__print(t, ")\n{\n");
  w->depth++;
}
