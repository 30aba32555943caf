/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_args.c - the parameters of GPU kernels: their order, their text, and their meaning for users
 * who call or write kernels. */
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
  const ambit__rule *rule = g->rule;

  add(slots, n, SLOT_TABLE, 0, 0);
  if (g->tiles == TILES_RELAX) {
    for (int kind = SLOT_LINKS; kind <= SLOT_ROUND; kind++)
      add(slots, n, (ambit__gpucode_slot_kind)kind, 0, 0);
    return;
  }
  for (int i = 0; i < rule->nparams; i++)
    if (g->bind[i].is_field && rule->params[i].is_written) add(slots, n, SLOT_THAN, i, 0);
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
  if (ambit__group_folded(g)) add(slots, n, SLOT_SHARE, 0, 0);
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
  const ambit__rule *rule = g->rule;
  bool points = false;
  int n = 0;

  for (int i = 0; i < rule->nparams; i++) {
    if (rule->params[i].kind == PARAM_REDUCE) {
      add(slots, &n, SLOT_PARTIALS, i, 0);
    } else if (g->bind[i].points) {
      points |= true;
      add_points(&g->bind[i], slots, &n, i);
    } else if (!g->bind[i].is_field) {
      add(slots, &n, SLOT_VALUE, i, 0);
    } else {
      add(slots, &n, SLOT_MEMORY, i, 0);
      add(slots, &n, SLOT_ORIGIN, i, 0);
      if (g->form)
        add(slots, &n, SLOT_STRIDE, i, g->ndims - 1);
      else
        add_axes(slots, &n, SLOT_STRIDE, i, g->ndims);
      add(slots, &n, SLOT_COMPONENT, i, 0);
      if (g->bind[i].onto) add(slots, &n, SLOT_RESULT, i, 0);
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
  const ambit__rule *rule = g->rule;
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

enum { KEPT = 1, ALONE = 2, NAMES_WIDE = 24 };

static const struct {
  const char *name, *type;
  unsigned how;
  const char *meaning;
} kinds[] = {
#define ROW(kind, name, type, how, meaning) {name, type, how, meaning},
    AMBIT__SLOT_MAP(ROW)};

/* A text of the table, for one parameter. */
static void print_text(const ambit__group *g, const ambit__gpucode_slot *s, const char *text,
                       ambit__text *t)
{
  const ambit__rule *rule = g->rule;
  const ambit__param *p = &rule->params[s->param]; /* if the slot belongs to one */

  for (; *text; text++)
    if (*text == '$')
      ambit__print(t, "%s", p->name);
    else if (*text == '#')
      ambit__print(t, "%d", s->axis);
    else if (*text == '@')
      ambit__print(t, "%s%s", ambit_type_name(p->type),
                   s->kind == SLOT_MEMORY && p->is_written ? ", written" : "");
    else
      ambit__print(t, "%c", *text);
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
      print_text(g, &slots[end], kinds[slots[end].kind].name, t);
    }
    ambit__print(t, "%*s", t->len - from < NAMES_WIDE ? (int)(NAMES_WIDE - (t->len - from)) : 1,
                 "");
    print_text(g, &slots[i], kinds[slots[i].kind].meaning, t);
    ambit__print(t, "\n");
  }
}

/* KEPT and ALONE: the table, less what the rule or the group changes. */
static unsigned how_of(const ambit__nest *n, const ambit__gpucode_slot *s)
{
  const ambit__binding *b = &n->bind[s->param];
  unsigned how = kinds[s->kind].how;

  if (s->kind == SLOT_MEMORY && (b->shared || n->group->tiles)) how &= KEPT;
  if (s->kind <= SLOT_RESULT && ambit__nest_param(n, s->param)->is_written) how &= ALONE;
  return s->kind == SLOT_ROWS && b->samples ? how & ALONE : how;
}

/* "const float *__restrict__ u_mem", "long step" */
static void print_slot(const ambit__nest *n, const ambit__gpucode_slot *s, ambit__text *t)
{
  const char *type = kinds[s->kind].type;
  const unsigned how = type ? how_of(n, s) : 0;

  if (!type || !*type)
    type = n->integer;
  else if (*type == '$')
    type = s->kind == SLOT_PARTIALS ? ambit__total_type(n->group, n->dialect, s->param)
           : s->kind == SLOT_RESULT ? ambit__nest_type(n, s->param)
                                    : n->dialect->types[ambit__nest_stored(n, s->param)];
  if (kinds[s->kind].type)
    ambit__print(t, "%s%s%s *%s", n->dialect->global, how & KEPT ? "const " : "", type,
                 how & ALONE ? n->dialect->unaliased : "");
  else
    ambit__print(t, "%s ", type);
  print_text(n->group, s, kinds[s->kind].name, t);
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
