/* SPDX-License-Identifier: BSD-3-Clause */
/* checked.c - NaN and access checks, as a pass over a nest.
 *
 *   for each cell
 *     read the whole footprint, checking the position of each value          u_r0, u_r1, ...
 *     run the rule; values it reads pass through ambit_use, which notes NaN
 *     check the results, and store those whose position is allowed           v_out, v_set
 *     keep the fault of the lowest cell
 *
 * A cell reads its whole footprint whichever branch it takes, as margins and halos provide for it.
 */
#include "nest/checked.h"

#include "nest/checked_access.h"

#include <string.h>

/* ---- the numbers of reads and writes ---- */

static int count_reads(const ambit__param *p)
{
  return p->kind == PARAM_FIELD ? p->nreads : p->kind == PARAM_VALUE;
}

static int count_writes(const ambit__param *p)
{
  return p->kind == PARAM_FIELD ? p->components : p->kind == PARAM_REDUCE;
}

static int number_of(const ambit__rule *rule, int (*count)(const ambit__param *), int param, int k)
{
  for (int i = 0; i < param; i++)
    k += count(&rule->params[i]);
  return k;
}

static void find(const ambit__rule *rule, int (*count)(const ambit__param *), int number,
                 int *param, int *k)
{
  for (*param = 0; *param + 1 < rule->nparams; ++*param) {
    int n = count(&rule->params[*param]);

    if (number < n) break;
    number -= n;
  }
  *k = number;
}

int ambit__checked_read(const ambit__rule *rule, int param, int k)
{
  return number_of(rule, count_reads, param, k);
}

int ambit__checked_write(const ambit__rule *rule, int param, int component)
{
  return number_of(rule, count_writes, param, component);
}

void ambit__checked_find_read(const ambit__rule *rule, int number, int *param, int *k)
{
  find(rule, count_reads, number, param, k);
}

void ambit__checked_find_write(const ambit__rule *rule, int number, int *param, int *component)
{
  find(rule, count_writes, number, param, component);
}

int ambit__checked_named(const ambit__param *p, const ambit__expr *e)
{
  return ambit__nest_read_number(p, e->clamped ? e->clamped : e);
}

int ambit__checked_old(const ambit__param *p, int component)
{
  ambit__expr e = {.component = component};

  memcpy(e.offset, ambit__param_target(p, component), sizeof e.offset);
  return ambit__nest_read_number(p, &e);
}

/* ---- watched values ---- */

static bool watches(const ambit__nest *n, int i)
{
  return (n->group->checks & AMBIT__CHECK_NAN) &&
         ambit__type_is_real(ambit__nest_param(n, i)->type);
}

static const char *suffix(const ambit__nest *n, int i)
{
  return ambit__type_suffix(ambit__nest_param(n, i)->type);
}

/* "v_set" or "v_set3": 1 + the source position that last set a written component; 0: not set. */
static const char *name_set(ambit__nest *n, int i, int c)
{
  return ambit__nest_name_of(n, "set", ambit__nest_param(n, i), c);
}

/* A value of a field, or of a scalar that is read like one. */
static void use_read(const ambit__nest *n, ambit__text *t, const ambit__expr *e)
{
  const ambit__param *p = ambit__nest_param(n, e->index);

  if (watches(n, e->index)) ambit__print(t, "ambit_use_%s(&fault, ", suffix(n, e->index));
  if (ambit__nest_is_field(n, e->index))
    ambit__print(t, "%s_r%d", p->name, ambit__nest_read_number(p, e));
  else
    ambit__print(t, "%s_v", p->name);
  if (watches(n, e->index))
    ambit__print(t, ", %d)", ambit__checked_read(n->rule, e->index, ambit__checked_named(p, e)));
}

/* The variable of a written component holds the old value until it is set. */
static void use_out(ambit__nest *n, ambit__text *t, const ambit__expr *e)
{
  const ambit__param *p = ambit__nest_param(n, e->index);
  const char *out = ambit__nest_name_of(n, "out", ambit__nest_param(n, e->index), e->component);

  if (p->kind == PARAM_FIELD && p->keeps[e->component] && watches(n, e->index))
    ambit__print(t, "(%s ? %s : ambit_use_%s(&fault, %s, %d))", name_set(n, e->index, e->component),
                 out, suffix(n, e->index), out,
                 ambit__checked_read(n->rule, e->index, ambit__checked_old(p, e->component)));
  else
    ambit__print(t, "%s", out);
}

static bool use(ambit__nest *n, const ambit__node *rule, ambit__text *t, const ambit__expr *e)
{
  if (n->unchecked.instead && n->unchecked.instead(n, rule, t, e)) return true;
  if (e->op == EXPR_OUT)
    use_out(n, t, e);
  else if (e->op == EXPR_READ)
    use_read(n, t, e);
  else if (e->op == EXPR_VALUE && watches(n, e->index))
    ambit__print(t, "ambit_use_%s(&fault, %s_v, %d)", suffix(n, e->index),
                 ambit__nest_name(n, e->index), ambit__checked_read(n->rule, e->index, 0));
  else
    return false;
  return true;
}

static void note_set(ambit__nest *n, ambit__writer *w, const ambit__stmt *st)
{
  if (watches(n, st->index))
    ambit__line(w, "%s = %d;", name_set(n, st->index, st->component), st->place.offset + 1);
}

/* ---- a cell ---- */

/* Puts the nodes that `add` appends before *at. */
static void insert(ambit__nest *n, ambit__node **at, void (*add)(ambit__nest *n))
{
  ambit__node *rest = *at;

  *at = NULL;
  n->level = 0;
  n->end[0] = at;
  add(n);
  *n->end[0] = rest;
}

/* A statement for each written component and reduction that is watched. */
static void each_watched(ambit__nest *n, bool tests)
{
  for (int i = 0; i < n->rule->nparams; i++)
    for (int c = 0; watches(n, i) && c < ambit__nest_param(n, i)->components; c++) {
      const ambit__param *p = ambit__nest_param(n, i);

      if (p->kind != PARAM_REDUCE && !(p->kind == PARAM_FIELD && p->writes[c])) continue;
      if (tests)
        ambit__nest_do(n, "ambit_test_%s(&fault, %s, %s, %d)", suffix(n, i),
                       ambit__nest_name_of(n, "out", ambit__nest_param(n, i), c), name_set(n, i, c),
                       ambit__checked_write(n->rule, i, c));
      else
        ambit__nest_do(n, "int %s = 0", name_set(n, i, c));
    }
}

static void begin_cell(ambit__nest *n)
{
  ambit__nest_do(n, "ambit_fault_begin(&fault)");
  for (int d = 0; d < n->group->ndims; d++)
    ambit__nest_do(n, "fault.cell[%d] = i%d", d, d);
  ambit__access_let_cell(n);
  each_watched(n, false);
}

static void end_cell(ambit__nest *n)
{
  ambit__nest_do(n, "ambit_fault_keep(&lowest, &fault)");
}

/* After the rule. */
static void test_results(ambit__nest *n)
{
  each_watched(n, true);
}

static bool has_rule(const ambit__node *list)
{
  while (list && list->kind != NODE_RULE)
    list = list->next;
  return list != NULL;
}

static void check_list(ambit__nest *n, ambit__node **list)
{
  const bool is_cell = has_rule(*list);
  bool begun = false;

  for (ambit__node **at = list; *at; at = &(*at)->next) {
    const ambit__node_kind kind = (*at)->kind;

    if (is_cell && !begun && (kind == NODE_LOAD || kind == NODE_RULE)) {
      insert(n, at, begin_cell);
      begun = true;
      while ((*at)->kind == NODE_DO)
        at = &(*at)->next;
    }
    if ((*at)->kind == NODE_LOAD) ambit__access_check_load(n, *at);
    if ((*at)->kind == NODE_STORE) ambit__access_check_store(n, at);
    if ((*at)->kind == NODE_RULE) insert(n, &(*at)->next, test_results);
    if ((*at)->kind == NODE_LOOP || (*at)->kind == NODE_IF) {
      if ((*at)->body && (*at)->body->kind != NODE_STORE) check_list(n, &(*at)->body);
      if ((*at)->other) check_list(n, &(*at)->other);
    }
    if (is_cell && !(*at)->next) {
      insert(n, &(*at)->next, end_cell);
      break;
    }
  }
}

/* ---- around the cells ---- */

static void begin_all(ambit__nest *n)
{
  if (!n->dialect->kernel)
    ambit__nest_do(n, "int64_t *faults = ((const ambit_full_call *)call)->faults");
  ambit__access_let_limits(n);
  ambit__nest_do(n, "ambit_fault fault, lowest");
  ambit__nest_do(n, "ambit_fault_begin(&lowest)");
}

static void end_all(ambit__nest *n)
{
  ambit__nest_do(n, "ambit_fault_leave(&lowest, faults)");
}

void ambit__nest_check(ambit__nest *n)
{
  ambit__node **at = &n->first;

  n->unchecked = n->hooks;
  n->hooks = (ambit__nest_hooks){.instead = use, .set = note_set};
  check_list(n, &n->first);
  while (*at && (*at)->kind == NODE_DO && strcmp((*at)->value, "ambit_fault_begin(&fault)") != 0)
    at = &(*at)->next;
  while (*at && (*at)->kind == NODE_SHARED)
    at = &(*at)->next;
  insert(n, at, begin_all);
  while (*at)
    at = &(*at)->next;
  insert(n, at, end_all);
}
