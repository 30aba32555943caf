/* SPDX-License-Identifier: BSD-3-Clause */
/* join.c - joins steps: from the user's steps to those that run.
 *
 * Groups of steps start as single steps. Again and again the two groups are united that save most
 * memory traffic, if all their steps can be one launch and the groups can still be put in an order
 * that keeps the order of dependent steps. So a step may move: an update of x whose operands are
 * read again by a later step runs with that one.
 */
#include "runtime/program/join.h"
#include "base/memory.h"
#include "device/registered.h"

#include <stdlib.h>
#include <string.h>

enum {
  MOST = AMBIT__JOINABLE_STEPS,
  MOST_FLOPS = 1000,  /* of a joined kernel: beyond, memory traffic hardly matters */
  MOST_TABLES = 49152 /* bytes of its tables */
};

typedef struct joining {
  ambit_program *p;
  int n;
  const ambit__step *steps;  /* those of the user */
  bool apart[MOST];          /* by step: it is never joined */
  bool ordered[MOST][MOST];  /* by earlier and later step: the order matters */
  bool joinable[MOST][MOST]; /* ... they can be one */
  double saving[MOST][MOST]; /* ... bytes per cell, if they are */
  int group[MOST];           /* by step: the first step of its group */
  bool tried[MOST][MOST];    /* by group: in vain */
  int order[MOST];           /* the groups, by their first steps, as they run */
  int ngroups;
} joining;

/* ---- whether steps may be joined at all ---- */

bool ambit__step_is_registered(const ambit_program *p, const ambit__step *s)
{
  return s->kind == STEP_APPLY &&
         (ambit__registered_cpu(s->kernel->rule) || ambit__step_has_source(p->grid->context, s));
}

/* Decided by all processes together: steps with code of the user are not joined, and none is if
 * all devices are ref. */
static ambit_status decide(const ambit_program *p, bool *apart, bool *wanted)
{
  const ambit *a = p->grid->context;
  double facts[MOST + 1] = {0};

  for (int i = 0; i < a->nengines; i++)
    if (strcmp(a->engines[i].backend->name, "ref")) facts[MOST] = 1;
  for (size_t i = 0; i < p->nwritten; i++)
    facts[i] = ambit__step_is_registered(p, &p->written[i]) || p->written[i].chore ||
               ambit__step_changes_profiles(p, &p->written[i]);
  AMBIT_TRY(ambit__net_max(a->net, facts, MOST + 1));
  for (size_t i = 0; i < p->nwritten; i++)
    apart[i] = facts[i] != 0;
  *wanted = facts[MOST] != 0;
  return AMBIT_OK;
}

static void compare(joining *j)
{
  char reason[256];

  for (int b = 0; b < j->n; b++) {
    j->group[b] = b;
    for (int a = 0; a < b; a++) {
      const ambit__step *x = &j->steps[a], *y = &j->steps[b];

      j->ordered[a][b] = ambit__steps_ordered(x, y);
      j->joinable[a][b] =
          !j->apart[a] && !j->apart[b] && ambit__steps_can_join(j->p, x, y, reason, sizeof reason);
      if (j->joinable[a][b]) j->saving[a][b] = ambit__steps_saving(x, y);
    }
  }
}

/* ---- arguments ---- */

/* A joined kernel in the making. */
typedef struct union_of {
  int n;
  const ambit__rule *rules[MOST];
  int param[MOST][AMBIT_MAX_PARAMS]; /* by rule and its parameter: parameter of the joined one */
  int nargs;
  ambit_arg args[MOST * AMBIT_MAX_PARAMS];
  ambit__param_kind kinds[MOST * AMBIT_MAX_PARAMS];
  int64_t flops;
  int ntables;
  int64_t table_bytes;
} union_of;

static int find_arg(const union_of *u, const ambit_arg *x, ambit__param_kind kind)
{
  for (int i = 0; i < u->nargs; i++)
    if (u->kinds[i] == kind && ((x->field && u->args[i].field == x->field) ||
                                (x->scalar && u->args[i].scalar == x->scalar)))
      return i;
  return -1;
}

/* Returns false if there are too many. */
static bool add_step(union_of *u, const ambit__step *s)
{
  const ambit__rule *rule = s->kernel->rule;

  for (int i = 0; i < s->n; i++) {
    const ambit__param_kind kind = rule->params[i].kind;
    int at = find_arg(u, &s->args[i], kind);

    if (at < 0) {
      at = u->nargs++;
      u->args[at] = s->args[i];
      u->kinds[at] = kind;
    }
    u->param[u->n][i] = at;
  }
  for (int i = 0; i < rule->ntables; i++)
    u->table_bytes += rule->tables[i].size[0] * rule->tables[i].size[1] *
                      (int64_t)ambit_type_size(rule->tables[i].type);
  u->ntables += rule->ntables;
  u->flops += rule->flops;
  u->rules[u->n++] = rule;
  return u->nargs + u->ntables <= AMBIT_MAX_PARAMS && u->table_bytes <= MOST_TABLES &&
         u->flops <= MOST_FLOPS;
}

/* Makes the union of a group. Returns false if it has too much of something. */
static bool make_union(const joining *j, int first, union_of *u)
{
  bool fits = true;

  u->n = u->nargs = u->ntables = 0;
  u->flops = u->table_bytes = 0;
  for (int i = first; i < j->n && fits; i++)
    if (j->group[i] == first) fits = add_step(u, &j->steps[i]);
  return fits;
}

/* ---- groups ---- */

static bool group_waits(const joining *j, int first, const bool *done)
{
  for (int b = 0; b < j->n; b++)
    for (int a = 0; j->group[b] == first && a < b; a++)
      if (j->ordered[a][b] && j->group[a] != first && !done[j->group[a]]) return true;
  return false;
}

/* Puts the groups in an order that keeps that of dependent steps: of those that can run next, the
 * one with the first step. Returns false if there is none. */
static bool set_order(joining *j)
{
  bool done[MOST] = {false};
  int groups = 0;

  for (int i = 0; i < j->n; i++)
    groups += j->group[i] == i;
  for (j->ngroups = 0; j->ngroups < groups;) {
    int next = 0;

    while (next < j->n && (j->group[next] != next || done[next] || group_waits(j, next, done)))
      next++;
    if (next == j->n) return false;
    done[next] = true;
    j->order[j->ngroups++] = next;
  }
  return true;
}

static void rename_group(joining *j, int from, int to)
{
  for (int i = 0; i < j->n; i++)
    if (j->group[i] == from) j->group[i] = to;
}

/* Bytes per cell that two groups save as one; 0: they cannot be one. */
static double gain(const joining *j, int a, int b)
{
  double saved = 0;

  for (int x = 0; x < j->n; x++)
    for (int y = 0; j->group[x] == a && y < j->n; y++) {
      const int low = x < y ? x : y, high = x < y ? y : x;

      if (j->group[y] != b) continue;
      if (!j->joinable[low][high]) return 0;
      saved += j->saving[low][high];
    }
  return saved;
}

/* Unites groups b and a, if that is possible. */
static bool unite(joining *j, int a, int b, union_of *u)
{
  int before[MOST];

  memcpy(before, j->group, sizeof before);
  rename_group(j, b, a);
  if (set_order(j) && make_union(j, a, u)) return true;
  memcpy(j->group, before, sizeof before);
  return false;
}

/* Unites the two groups that gain most, but for those tried before. Returns false if there are
 * none. */
static bool unite_best(joining *j, union_of *u)
{
  double best = 0;
  int a = -1, b = -1;

  for (int y = 0; y < j->n; y++)
    for (int x = 0; x < y; x++) {
      const bool both = j->group[x] == x && j->group[y] == y && !j->tried[x][y];
      const double saved = both ? gain(j, x, y) : 0;

      if (saved <= best) continue;
      best = saved;
      a = x;
      b = y;
    }
  if (a < 0) return false;
  j->tried[a][b] = true;
  if (unite(j, a, b, u)) memset(j->tried, 0, sizeof j->tried);
  return true;
}

/* ---- the steps that run ---- */

static uint64_t members(const joining *j, int first)
{
  uint64_t bits = 0;

  for (int i = 0; i < j->n; i++)
    bits |= (uint64_t)(j->group[i] == first) << i;
  return bits;
}

/* The step of a group: its own, or the joined one. */
static ambit_status append_group(joining *j, int first, union_of *u)
{
  ambit *a = j->p->grid->context;
  ambit__step s = j->steps[first];
  ambit__rule *rule;

  s.joined = members(j, first);
  if (ambit__step_updates(&s) > 1) {
    make_union(j, first, u); /* it fits: unite has tried it */
    s.n = u->nargs;
    AMBIT_HOLD(j->p, s.args, (size_t)s.n);
    memcpy(s.args, u->args, (size_t)s.n * sizeof *s.args);
    for (int i = 0; i < j->n; i++)
      if (s.joined >> i & 1) s.box = ambit__box_intersect(&s.box, &j->steps[i].box);
    AMBIT_TRY(ambit__rule_join(&a->errors, u->n, u->rules, u->param, &rule));
    s.kernel = s.bound = ambit__kernel_adopt(a, rule);
    if (!s.kernel) return a->errors.status;
  }
  j->p->steps[j->p->nsteps++] = s;
  return AMBIT_OK;
}

static ambit_status append_all(joining *j, union_of *u)
{
  ambit_program *p = j->p;

  if (j->ngroups == j->n) return AMBIT_OK;
  p->nsteps = 0;
  AMBIT_HOLD(p, p->steps, (size_t)j->n);
  for (int i = 0; i < j->ngroups; i++)
    AMBIT_TRY(append_group(j, j->order[i], u));
  return AMBIT_OK;
}

static ambit_status join(joining *j, union_of *u)
{
  compare(j);
  while (unite_best(j, u)) {}
  set_order(j);
  return append_all(j, u);
}

ambit_status ambit__program_join(ambit_program *p)
{
  const ambit *a = p->grid->context;
  bool apart[MOST] = {false}, wanted;
  joining *j;
  union_of *u;
  ambit_status s;

  if (!a->settings.join || ambit__options_checks(a) || p->nwritten < 2 || p->nwritten > MOST)
    return AMBIT_OK;
  AMBIT_TRY(decide(p, apart, &wanted));
  if (!wanted) return AMBIT_OK;
  j = ambit__new(ambit__program_errors(p), 1, sizeof *j);
  u = ambit__new(ambit__program_errors(p), 1, sizeof *u);
  s = j && u ? AMBIT_OK : AMBIT_ENOMEM;
  if (!s) {
    j->p = p;
    j->n = (int)p->nwritten;
    j->steps = p->written;
    memcpy(j->apart, apart, sizeof j->apart);
    s = join(j, u);
  }
  free(j);
  free(u);
  return s;
}

void ambit__program_part(ambit_program *p)
{
  for (size_t i = 0; p->steps != p->written && i < p->nsteps; i++)
    if (ambit__step_updates(&p->steps[i]) > 1) ambit__kernel_free(p->steps[i].bound);
  p->steps = p->written;
  p->nsteps = p->nwritten;
}
