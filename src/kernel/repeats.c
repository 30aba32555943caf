/* SPDX-License-Identifier: BSD-3-Clause */
/* repeats.c - values that neighbouring cells have in common.
 *
 * A flux through the right face of a cell is the flux through the left face of the next one:
 *
 *   *v = *u - r * (flux(u[0], u[1]) - flux(u[-1], u[0]))
 *
 * computes it twice. Two nodes of the graph of a rule are of one *class* if one is the other with
 * all reads moved along the last two axes. Classes of costly nodes that differ by a move become
 * components of a field of one rule, which computes them once in each cell, and are read by the
 * rest of the rule:
 *
 *   values: c[x] = flux(u[x - 1], u[x])        rest: v[x] = u[x] - r * (c[x + 1] - c[x])
 *
 * Both rules have the parameters of the old one, and behind them the field of these values. A value
 * has the operations that the rule gives it, so the bits are the same.
 */
#include "base/hash.h"
#include "base/index.h"
#include "kernel/graph.h"
#include "kernel/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_NODES = 4000,
  LEAST_WORK = 4, /* of a value, in operations: less than to store and load it */
  STORE = 8,      /* in operations: storing a value, */
  LOAD = 4,       /* loading one, */
  DIVISION = 16,  /* a division or root, */
  FUNCTION = 30,  /* a function */
  AXES = 2        /* along which values move, at most: the last ones */
};

/* Of the work of a rule, that which must be left at most; and what values take beyond a tile. */
static const double LEFT = 0.9, BEYOND = 1.1;

typedef ambit__graph_node node;
typedef ambit__graph graph;
typedef ambit__graph_step step;

/* What is known of a node. */
typedef struct slot {
  bool moves;                /* it is the same rule for its value in all cells; */
  bool reads;                /* it has a read: */
  int low[AXES], high[AXES]; /* the offsets of all of them, the last axis first; */
  int down[AXES], up[AXES];  /* how far they may move until one reads further than the rule does */
  int class;                 /* of nodes that differ by a move: the number of its first node */
  long work;                 /* with its operands */
  bool is_kept;              /* the rest reads it */
  bool is_seen;
  node *to; /* in the rest */
} slot;

/* What is known of a class, by its number. */
typedef struct class
{
  int members;               /* nodes, */
  int n;                     /* of which the rest needs so many */
  int low[AXES], high[AXES]; /* their lowest offsets, of all */
  node *first;               /* the one that is nearest to the cell */
  int component;             /* -1: it stays as it is */
  bool is_bad, is_given_up, is_best_without;
} class;

typedef struct work {
  graph g;
  int ndims, axes; /* of the grid; the last ones, along which values move */
  ambit_type type;
  int nslots;
  slot *slots;       /* by node; owned */
  class *classes;    /* owned */
  ambit__index keys; /* classes by their keys; owned */
} work;

static slot *of(const work *w, const node *n)
{
  return &w->slots[n->id];
}

/* Each of the axes along which values move. */
static int axis_of(const work *w, int k)
{
  return w->ndims - 1 - k;
}

/* ---- classes ---- */

/* Whether the value of a node is made alike in all cells. */
static bool is_alike(const work *w, const ambit__expr *e)
{
  switch (e->op) {
  case EXPR_OUT:
  case EXPR_LOCAL:
  case EXPR_NORMAL: return false;
  case EXPR_INDEX: return e->index < w->ndims - w->axes;
  default: return !e->is_outside && !e->clamped;
  }
}

static long work_of(const ambit__expr *e)
{
  if (e->op == EXPR_DIV || e->op == EXPR_MOD) return e->b->op == EXPR_CONST ? 1 : DIVISION;
  if (e->op == EXPR_CALL && e->call == CALL_sqrt) return DIVISION;
  if (e->op == EXPR_CALL) return ambit__call_is_cheap(e->call) ? 1 : FUNCTION;
  return e->op == EXPR_READ || e->op >= EXPR_NEG;
}

/* What an operand is for a class: its own class, and how far it is moved. */
typedef struct part {
  int class, move[AXES];
} part;

static part part_of(const work *w, const node *n, const node *operand)
{
  const slot *o = operand ? of(w, operand) : NULL;
  part p = {.class = o ? o->class : -1};

  for (int k = 0; o && o->reads && k < AXES; k++)
    p.move[k] = o->low[k] - of(w, n)->low[k];
  return p;
}

static bool comes_after(const part *a, const part *b)
{
  if (a->class != b->class) return a->class > b->class;
  return memcmp(a->move, b->move, sizeof a->move) > 0;
}

/* Sums and products do not depend on the order of two operands. */
static void find_parts(const work *w, const node *n, part parts[3])
{
  parts[0] = part_of(w, n, ambit__node_a(n));
  parts[1] = part_of(w, n, ambit__node_b(n));
  parts[2] = part_of(w, n, ambit__node_c(n));
  if ((n->e.op == EXPR_ADD || n->e.op == EXPR_MUL) && comes_after(&parts[0], &parts[1])) {
    const part first = parts[0];

    parts[0] = parts[1];
    parts[1] = first;
  }
}

/* A node without its operands, moved so that its lowest offsets are 0. */
static ambit__expr bare(const work *w, const node *n)
{
  ambit__expr e = n->e;

  e.a = e.b = e.c = NULL;
  e.place = (ambit__place){0};
  for (int k = 0; e.op == EXPR_READ && k < w->axes; k++)
    e.offset[axis_of(w, k)] = 0;
  return e;
}

static bool are_alike(const work *w, const node *x, const node *y)
{
  const ambit__expr a = bare(w, x), b = bare(w, y);
  part of_x[3], of_y[3];

  find_parts(w, x, of_x);
  find_parts(w, y, of_y);
  for (int i = 0; i < 3; i++)
    if (memcmp(&of_x[i], &of_y[i], sizeof of_x[i]) != 0) return false;
  return a.op == b.op && a.type == b.type && a.index == b.index && a.component == b.component &&
         a.call == b.call && a.value.integer == b.value.integer &&
         !memcmp(a.offset, b.offset, sizeof a.offset);
}

static uint64_t key_of(const work *w, const node *n)
{
  const ambit__expr e = bare(w, n);
  const int numbers[] = {(int)e.op, (int)e.type, e.index, e.component, (int)e.call};
  part parts[3];
  ambit__hash h;

  find_parts(w, n, parts);
  ambit__hash_init(&h);
  ambit__hash_bytes(&h, numbers, sizeof numbers);
  ambit__hash_bytes(&h, &e.value.integer, sizeof e.value.integer);
  ambit__hash_bytes(&h, e.offset, sizeof e.offset);
  ambit__hash_bytes(&h, parts, sizeof parts);
  return h.w[0];
}

static void find_class(work *w, node *n)
{
  const uint64_t key = key_of(w, n);
  slot *s = of(w, n);

  for (size_t at = 0; (s->class = ambit__index_next(&w->keys, key, &at)) >= 0;)
    if (are_alike(w, w->g.nodes[s->class], n)) return;
  s->class = n->id;
  if (ambit__index_add(w->g.errors, &w->keys, key, n->id) != AMBIT_OK) w->g.failed = true;
}

static void join_reads(slot *s, const slot *o)
{
  for (int k = 0; o->reads && k < AXES; k++) {
    if (!s->reads || o->low[k] < s->low[k]) s->low[k] = o->low[k];
    if (!s->reads || o->high[k] > s->high[k]) s->high[k] = o->high[k];
    if (!s->reads || o->down[k] < s->down[k]) s->down[k] = o->down[k];
    if (!s->reads || o->up[k] < s->up[k]) s->up[k] = o->up[k];
  }
  s->reads |= o->reads;
}

static void look_at_read(const work *w, slot *s, const ambit__expr *e)
{
  const ambit__param *p = &w->g.rule->params[e->index];

  s->reads = true;
  for (int k = 0; k < w->axes; k++) {
    const int d = axis_of(w, k);

    s->low[k] = s->high[k] = e->offset[d];
    s->down[k] = e->offset[d] + p->low[d];
    s->up[k] = p->high[d] - e->offset[d];
  }
}

static void look_at(work *w, node *n)
{
  const node *const operands[] = {ambit__node_a(n), ambit__node_b(n), ambit__node_c(n)};
  slot *s = of(w, n);

  s->moves = is_alike(w, &n->e);
  s->work = work_of(&n->e);
  if (n->e.op == EXPR_READ) look_at_read(w, s, &n->e);
  for (int i = 0; i < 3 && operands[i]; i++) {
    const slot *o = of(w, operands[i]);

    s->moves &= o->moves;
    join_reads(s, o);
    s->work += o->work < MOST_NODES ? o->work : MOST_NODES;
  }
  find_class(w, n);
  w->classes[s->class].members++;
}

/* ---- which of them the rest reads ---- */

static bool is_candidate(const work *w, const node *n)
{
  const slot *s = of(w, n);

  return s->moves && s->reads && s->work > LEAST_WORK && n->e.type == w->type &&
         w->classes[s->class].members > 1 && !w->classes[s->class].is_given_up;
}

/* Of the middle of its reads from the cell, twice. */
static int distance(const slot *s)
{
  int sum = 0;

  for (int k = 0; k < AXES; k++)
    sum += abs(s->low[k] + s->high[k]);
  return sum;
}

/* The largest candidates that a value is made of. */
static void find_kept(work *w, node *n)
{
  slot *s = n ? of(w, n) : NULL;
  class *c;

  if (!n || s->is_seen) return;
  s->is_seen = true;
  s->is_kept = is_candidate(w, n);
  if (!s->is_kept) {
    find_kept(w, ambit__node_a(n));
    find_kept(w, ambit__node_b(n));
    find_kept(w, ambit__node_c(n));
    return;
  }
  c = &w->classes[s->class];
  if (!c->n || distance(s) < distance(of(w, c->first))) c->first = n;
  for (int k = 0; k < AXES; k++) {
    if (!c->n || s->low[k] < c->low[k]) c->low[k] = s->low[k];
    if (!c->n || s->low[k] > c->high[k]) c->high[k] = s->low[k];
  }
  c->n++;
}

static void forget(work *w)
{
  for (int i = 0; i < w->nslots; i++)
    w->slots[i].is_seen = false;
}

/* The cells beside a tile in which values are needed; of one class. */
typedef struct margin {
  int low[AXES], high[AXES];
} margin;

static margin margin_of(const work *w, const class *c)
{
  margin m = {{0}, {0}};

  for (int k = 0; k < AXES; k++) {
    m.low[k] = of(w, c->first)->low[k] - c->low[k];
    m.high[k] = c->high[k] - of(w, c->first)->low[k];
  }
  return m;
}

static margin margin_of_all(const work *w)
{
  margin all = {{0}, {0}};

  for (int i = 0; i < w->nslots; i++) {
    const margin m = w->classes[i].n ? margin_of(w, &w->classes[i]) : all;

    for (int k = 0; k < AXES; k++) {
      if (m.low[k] > all.low[k]) all.low[k] = m.low[k];
      if (m.high[k] > all.high[k]) all.high[k] = m.high[k];
    }
  }
  return all;
}

/* Whether tiles have room for the margin of a class, and its values read no cell, from all margins
 * too, that is further away than those that the rule reads. */
static bool stays_near(const work *w, const class *c, const margin *all)
{
  const margin own = margin_of(w, c);
  const slot *s = of(w, c->first);

  for (int k = 0; k < w->axes; k++)
    if (own.low[k] > AMBIT__REPEATS_MARGIN || own.high[k] > AMBIT__REPEATS_MARGIN ||
        all->low[k] > s->down[k] || all->high[k] > s->up[k])
      return false;
  return true;
}

/* Gives up the largest classes of which the rest needs one node, or which would read too far:
 * others may be larger then. false: all are good. */
static bool give_up(work *w)
{
  const margin all = margin_of_all(w);
  long most = 0;

  for (int i = 0; i < w->nslots; i++) {
    class *c = &w->classes[i];

    c->is_bad = c->n && (c->n == 1 || !stays_near(w, c, &all));
    if (c->is_bad && of(w, c->first)->work > most) most = of(w, c->first)->work;
  }
  for (int i = 0; i < w->nslots; i++)
    if (w->classes[i].is_bad && of(w, w->classes[i].first)->work == most)
      w->classes[i].is_given_up = true;
  return most > 0;
}

/* What is given up leaves its parts as candidates. */
static void take_largest(work *w)
{
  do {
    for (int i = 0; i < w->nslots; i++) {
      w->slots[i].is_kept = w->slots[i].is_seen = false;
      w->classes[i].n = 0;
    }
    for (int i = 0; i < w->nslots; i++)
      if (w->g.nodes[i]->is_result) find_kept(w, w->g.nodes[i]);
  } while (give_up(w));
}

/* ---- what it is worth ---- */

/* The work of all nodes that values need; `stop`: of the rest, which loads what is kept. */
static long total(work *w, node *n, bool stop)
{
  slot *s = n ? of(w, n) : NULL;

  if (!n || s->is_seen) return 0;
  s->is_seen = true;
  if (stop && s->is_kept) return LOAD;
  return work_of(&n->e) + total(w, ambit__node_a(n), stop) + total(w, ambit__node_b(n), stop) +
         total(w, ambit__node_c(n), stop);
}

static long total_of_results(work *w, bool stop)
{
  long sum = 0;

  forget(w);
  for (int i = 0; i < w->nslots; i++)
    if (w->g.nodes[i]->is_result) sum += total(w, w->g.nodes[i], stop);
  return sum;
}

/* That of values which the rest reads, and of the rest. */
static double work_after(work *w)
{
  const long rest = total_of_results(w, true);
  long values = 0;

  forget(w);
  for (int i = 0; i < w->nslots; i++)
    if (w->classes[i].n) values += STORE + total(w, w->classes[i].first, false);
  return (double)values * BEYOND + (double)rest;
}

/* Gives up all classes that the rest reads; false: there are none. */
static bool descend(work *w)
{
  bool any = false;

  for (int i = 0; i < w->nslots; i++)
    if (w->classes[i].n) any = w->classes[i].is_given_up = true;
  return any;
}

/* Values may be few and large, such as fluxes through faces, or what these are made of, such as
 * pressures: which takes the least work. */
static void choose(work *w)
{
  double least = -1, now;

  do {
    take_largest(w);
    now = work_after(w);
    for (int i = 0; i < w->nslots && (least < 0 || now < least); i++)
      w->classes[i].is_best_without = w->classes[i].is_given_up;
    if (least < 0 || now < least) least = now;
  } while (descend(w));
  for (int i = 0; i < w->nslots; i++)
    w->classes[i].is_given_up = w->classes[i].is_best_without;
  take_largest(w);
}

static void number_classes(work *w, ambit__repeats *out)
{
  const margin all = margin_of_all(w);

  for (int k = 0; k < w->axes; k++) {
    out->low[axis_of(w, k)] = all.low[k];
    out->high[axis_of(w, k)] = all.high[k];
  }
  for (int i = 0; i < w->nslots; i++) {
    class *c = &w->classes[i];

    c->component = -1;
    if (!c->n) continue;
    c->component = out->n++;
    out->of += c->n;
  }
}

/* ---- the graph of a rule ---- */

static void free_work(work *w)
{
  ambit__graph_free(&w->g);
  ambit__index_free(&w->keys);
  free(w->slots);
  free(w->classes);
}

/* The type of most of the work that could be kept. */
static ambit_type type_of(const work *w)
{
  double work[2] = {0};

  for (int i = 0; i < w->nslots; i++)
    if (w->g.nodes[i]->e.type == AMBIT_F32 || w->g.nodes[i]->e.type == AMBIT_F64)
      work[w->g.nodes[i]->e.type == AMBIT_F64] += (double)work_of(&w->g.nodes[i]->e);
  return work[1] > work[0] ? AMBIT_F64 : AMBIT_F32;
}

/* Takes the same classes as were taken for the rule whose copy this is: its nodes have the same
 * numbers. */
static void choose_like(work *w, const work *like)
{
  w->g.failed = w->nslots != like->nslots;
  for (int i = 0; i < w->nslots && !w->g.failed; i++)
    w->classes[i].is_given_up = like->classes[i].is_given_up;
  if (!w->g.failed) take_largest(w);
}

/* Reads a rule, and finds what cells have in common; `like` has done so, or NULL. */
static void begin(work *w, ambit__errors *errors, const ambit__rule *rule,
                  const ambit__repeats_wish *how, const work *like)
{
  *w = (work){.ndims = how->ndims, .axes = how->axes < how->ndims ? how->axes : how->ndims};
  w->g = (graph){.errors = errors,
                 .rule = rule,
                 .make = how->strict ? ambit__node_placed : ambit__node_normal,
                 .most = MOST_NODES};
  ambit__graph_read(&w->g);
  if (!w->g.failed) ambit__graph_use(&w->g);
  if (w->g.failed) return;
  w->nslots = w->g.count;
  w->slots = ambit__new(errors, (size_t)w->nslots, sizeof *w->slots);
  w->classes = ambit__new(errors, (size_t)w->nslots, sizeof *w->classes);
  w->g.failed = !w->slots || !w->classes;
  for (int i = 0; i < w->nslots && !w->g.failed; i++)
    look_at(w, w->g.nodes[i]);
  if (w->g.failed) return;
  w->type = type_of(w);
  if (like)
    choose_like(w, like);
  else
    choose(w);
}

/* ---- the two rules ---- */

/* A copy of a rule with the field of its repeated values behind its parameters. */
static ambit__rule *extend(ambit__errors *errors, const ambit__rule *rule, ambit_type type,
                           int components)
{
  ambit__rewriting w = {0};

  ambit__rewriting_begin(&w, errors, rule);
  if (!w.failed && ambit__rule_add_param(w.to, "ambit_values",
                                         (ambit__param){.kind = PARAM_FIELD,
                                                        .type = type,
                                                        .is_vector = true,
                                                        .components = components})) {
    w.to->written = NULL;
    return w.to;
  }
  ambit__raise(errors, AMBIT_ENOMEM, "no memory to analyse kernel %s", rule->name);
  ambit__rule_free(w.to);
  return NULL;
}

/* Completes a rule of a graph whose steps are its own. */
static ambit__rule *write_rule(work *w, ambit__rule *to)
{
  bool good = !w->g.failed;

  if (good) ambit__graph_use(&w->g);
  good = good && ambit__graph_write(&w->g, to) && ambit__rule_find_reads(w->g.errors, to);
  if (good) return to;
  ambit__rule_free(to);
  return NULL;
}

static void drop_results(step **list)
{
  while (*list) {
    drop_results(&(*list)->body);
    drop_results(&(*list)->other);
    if ((*list)->from->kind == STMT_SET_OUT)
      *list = (*list)->next;
    else
      list = &(*list)->next;
  }
}

static step **end_of(step **list)
{
  while (*list)
    list = &(*list)->next;
  return list;
}

/* The rule of the values: no result of the old one is left. */
static ambit__rule *write_values(work *w, ambit__rule *to)
{
  const int param = to->nparams - 1;
  const int components = to->params[param].components;
  bool *flags = ambit__arena_alloc(&to->arena, (size_t)components);
  step **end;

  w->g.failed |= !flags;
  for (int i = 0; i < param; i++) {
    ambit__param *p = &to->params[i];
    bool *none = ambit__arena_alloc(&to->arena, (size_t)p->components);

    w->g.failed |= !none;
    if (!none) break;
    memset(none, 0, (size_t)p->components);
    if (p->kind == PARAM_REDUCE) p->kind = PARAM_VALUE;
    p->writes = p->keeps = none;
    p->targets = NULL;
    p->is_written = p->is_folded = false;
  }
  drop_results(&w->g.first);
  end = end_of(&w->g.first);
  for (int i = 0; i < w->nslots && !w->g.failed; i++) {
    const class *c = &w->classes[i];
    const ambit__stmt from = {.kind = STMT_SET_OUT,
                              .place = c->first ? c->first->e.place : (ambit__place){0},
                              .index = param,
                              .component = c->component};

    if (c->component < 0) continue;
    *end = ambit__graph_add_step(&w->g, from, c->first);
    if (*end) end = &(*end)->next;
  }
  if (flags) memset(flags, 1, (size_t)components);
  to->params[param].writes = flags;
  to->params[param].is_written = true;
  return write_rule(w, to);
}

static node *rest_of(const void *user, const node *n)
{
  return n ? of(user, n)->to : NULL;
}

static void make_rest(work *w, node *n, int param)
{
  slot *s = of(w, n);
  const class *c = &w->classes[s->class];
  ambit__expr read = {.op = EXPR_READ, .type = w->type, .place = n->e.place, .index = param};

  if (!s->is_kept) {
    s->to = ambit__node_like(&w->g, &n->e, rest_of(w, ambit__node_a(n)),
                             rest_of(w, ambit__node_b(n)), rest_of(w, ambit__node_c(n)));
    return;
  }
  read.component = c->component;
  for (int k = 0; k < w->axes; k++)
    read.offset[axis_of(w, k)] = s->low[k] - of(w, c->first)->low[k];
  s->to = ambit__node_like(&w->g, &read, NULL, NULL, NULL);
  s->to->is_bare = true;
}

static ambit__rule *write_rest(work *w, ambit__rule *to)
{
  for (int i = 0; i < w->nslots && !w->g.failed; i++)
    make_rest(w, w->g.nodes[i], to->nparams - 1);
  if (!w->g.failed) ambit__graph_replace(w->g.first, rest_of, w);
  return write_rule(w, to);
}

/* Reads the rule again, with the field of its values, and makes one of the two rules of it. */
static ambit__rule *write_part(const work *like, const ambit__repeats *out,
                               const ambit__repeats_wish *how,
                               ambit__rule *(*write)(work *, ambit__rule *))
{
  ambit__errors *errors = like->g.errors;
  ambit__rule *to = extend(errors, like->g.rule, out->type, out->n), *made = NULL;
  ambit__repeats same = {0};
  work w;

  if (!to) return NULL;
  begin(&w, errors, to, how, like);
  if (!w.g.failed) number_classes(&w, &same);
  if (w.g.failed)
    ambit__rule_free(to);
  else
    made = write(&w, to);
  free_work(&w);
  return made;
}

/* Both rules, in normal form. */
static bool write_both(const work *w, const ambit__repeats_wish *how, ambit__repeats *out)
{
  ambit__errors *errors = w->g.errors;

  out->made[0][0] = write_part(w, out, how, write_values);
  out->made[1][0] = write_part(w, out, how, write_rest);
  for (int i = 0; i < 2; i++)
    if (!out->made[i][0] || errors->status ||
        ambit__rule_normal(errors, out->made[i][0], 0, how->strict, &out->made[i][1]))
      return false;
  out->values = out->made[0][1] ? out->made[0][1] : out->made[0][0];
  out->rest = out->made[1][1] ? out->made[1][1] : out->made[1][0];
  return true;
}

ambit_status ambit__rule_repeats(ambit__errors *errors, const ambit__rule *rule,
                                 const ambit__repeats_wish *how, ambit__repeats *out)
{
  bool good;
  work w;

  *out = (ambit__repeats){.param = rule->nparams, .left = 1};
  begin(&w, errors, rule, how, NULL);
  good = !w.g.failed;
  if (good) {
    out->type = w.type;
    number_classes(&w, out);
    out->left = work_after(&w) / (double)total_of_results(&w, false);
  }
  good = good && out->n && out->left <= LEFT && (how->counts || write_both(&w, how, out));
  free_work(&w);
  if (!good) ambit__repeats_free(out);
  return errors->status;
}

void ambit__repeats_free(ambit__repeats *r)
{
  for (int i = 0; i < 2; i++) {
    ambit__rule_free(r->made[i][1]);
    ambit__rule_free(r->made[i][0]);
  }
  *r = (ambit__repeats){0};
}
