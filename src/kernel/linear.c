/* SPDX-License-Identifier: BSD-3-Clause */
/* linear.c - sums of neighbours as linear forms.
 *
 * Out of strict mode a sum of values of fields becomes terms with coefficients: numbers, or values
 * that all cells share, which are polynomials in parameters and the like. So
 *
 *   u + k * (u[-1] + u[1] - 2 * u)   and   (1 - 2 * k) * u + k * u[-1] + k * u[1]
 *
 * are one rule: a local that is computed once, s = 1 - 2 * k, and k * (u[-1] + u[1]) + s * u. Terms
 * whose coefficients differ in the sign alone are added first: differences of equal values are 0.
 *
 * Three walks over the nodes of the graph:
 *   1. upwards:   which nodes are coefficients, and which may be parts of the sums that use them:
 *                 those without a name, and locals that are used once;
 *   2. downwards: the largest sums become forms, if they read a field at two cells or more and take
 *                 no more operations than before; what is not linear is a term as a whole;
 *   3. upwards:   the new nodes.
 *
 * Reals are not associative: results differ in the last bits, and a sum whose terms cancel may not
 * be exactly 0.
 */
#include "kernel/coefficient.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef ambit__graph_node node;
typedef ambit__graph graph;
typedef ambit__coefficient_product product;
typedef ambit__coefficient poly;

/* Of a sum, other than multiples of one value; and with them. */
enum { TERMS = 512, PARTS = 4 * TERMS, NESTED = 64 };

typedef struct term {
  node *value; /* NULL: 1 */
  const poly *by;
  int rank;  /* decides the order of terms */
  int group; /* the first of the terms whose coefficients have the size of its own */
} term;

typedef struct sum {
  int n;
  term *terms;
} sum;

/* What is known of a node. */
typedef struct slot {
  bool is_shared; /* all cells have the same value */
  bool is_part;   /* of sums that use it */
  bool moves;     /* its value is the same wherever it is computed */
  bool is_needed; /* as a value of its own */
  bool is_left;   /* a sum of which nothing becomes simpler, nor of its parts */
  int height;     /* of shared values */
  int parts;      /* of the sum that it is, or more */
  const poly *by; /* as a coefficient; NULL: it is none */
  const sum *sum; /* that takes its place; NULL: none */
  int term;       /* in the present sum, if `seen` is its number */
  int seen;
  node *to; /* the new node */
} slot;

/* A sum that is collected. */
typedef struct collected {
  int n;
  node *values[TERMS]; /* NULL: 1 */
  poly by[TERMS];
  int operations;
  int nparts;
  node *parts[PARTS]; /* nodes that became parts of it */
} collected;

typedef struct linear {
  graph *g;
  slot *slots; /* by node */
  int nslots;
  collected *now;
  int one;    /* the term of now that is 1; -1: none */
  int number; /* of now */
} linear;

static slot *of(const linear *l, const node *n)
{
  return &l->slots[n->id];
}

/* ---- upwards: coefficients and parts ---- */

static const poly *keep(linear *l, const poly *p)
{
  const size_t bytes = offsetof(poly, p) + (size_t)p->n * sizeof *p->p;
  poly *copy = ambit__graph_take(l->g, bytes);

  if (copy) memcpy(copy, p, bytes);
  return copy;
}

/* The quotient of two coefficients; one divisor of several products is an atom. */
static bool divide(const poly *a, const poly *b, node *divisor, poly *to)
{
  const poly by = b->n == 1 ? ambit__coefficient_inverse(b) : ambit__coefficient_atom(divisor, -1);

  return b->n && ambit__coefficient_multiply(a, &by, to);
}

/* The coefficient that a node is; false: it is none. */
static bool find_poly(const linear *l, node *n, poly *to)
{
  const poly *a = n->e.a ? of(l, ambit__node_a(n))->by : NULL;
  const poly *b = n->e.b ? of(l, ambit__node_b(n))->by : NULL;
  ambit__value v = n->e.value;

  *to = (poly){0};
  if (!ambit__type_is_real(n->e.type)) return false;
  if (n->e.op == EXPR_CONST || ambit__table_element(l->g->rule, &n->e, &v)) {
    *to = ambit__coefficient_number(v.real);
    return isfinite(v.real);
  }
  if (!of(l, n)->is_shared) return false;
  switch (n->e.op) {
  case EXPR_NEG: return a && ambit__coefficient_add(to, a, -1);
  case EXPR_ADD:
  case EXPR_SUB:
    return a && b && ambit__coefficient_add(to, a, 1) &&
           ambit__coefficient_add(to, b, n->e.op == EXPR_ADD ? 1 : -1);
  case EXPR_MUL: return a && b && ambit__coefficient_multiply(a, b, to);
  case EXPR_DIV: return a && b && divide(a, b, ambit__node_b(n), to);
  default: *to = ambit__coefficient_atom(n, 1); return true;
  }
}

static bool is_sum(const node *n)
{
  return (n->e.type == AMBIT_F32 || n->e.type == AMBIT_F64) &&
         ((n->e.op >= EXPR_ADD && n->e.op <= EXPR_DIV) || n->e.op == EXPR_NEG);
}

/* Parts of an operand; 1 if it is a term. */
static int parts_of(const linear *l, const node *n)
{
  return n && is_sum(n) && of(l, n)->is_part ? of(l, n)->parts : 1;
}

static void look_at(linear *l, node *n)
{
  node *const operands[] = {ambit__node_a(n), ambit__node_b(n), ambit__node_c(n)};
  const bool is_leaf = n->e.op <= EXPR_TABLE;
  slot *s = of(l, n);
  poly p;

  s->is_needed = n->is_result;
  s->is_shared = (!is_leaf || n->e.op == EXPR_CONST || n->e.op == EXPR_VALUE) && !n->e.is_outside;
  s->moves = n->e.op != EXPR_OUT && (!n->is_fixed || is_leaf);
  for (int i = 0; i < 3 && operands[i]; i++) {
    const slot *o = of(l, operands[i]);

    if (o->height >= s->height) s->height = o->height + 1;
    s->is_shared = s->is_shared && o->is_shared;
    s->moves = s->moves && o->moves;
  }
  s->is_shared = s->is_shared && s->height <= NESTED;
  s->is_part = n->name < 0 || (n->uses == 1 && s->moves);
  s->parts = parts_of(l, operands[0]) + (operands[1] ? parts_of(l, operands[1]) : 0);
  if (s->parts > PARTS) s->parts = PARTS + 1;
  if (find_poly(l, n, &p)) s->by = keep(l, &p);
}

/* ---- downwards: forms ---- */

/* The number of the term of a value, which may be new; -1: there are too many. */
static int term_of(linear *l, node *value)
{
  collected *s = l->now;
  int *at = value ? &of(l, value)->term : &l->one;

  if (value ? of(l, value)->seen == l->number : l->one >= 0) return *at;
  if (s->n == TERMS) return -1;
  if (value) of(l, value)->seen = l->number;
  s->values[s->n] = value;
  s->by[s->n] = (poly){0};
  return *at = s->n++;
}

static bool add_term(linear *l, node *value, const poly *by, double times)
{
  const int i = term_of(l, value);

  return i >= 0 && ambit__coefficient_add(&l->now->by[i], by, times);
}

static bool add_node(linear *l, node *n, bool is_root, const poly *by, double times, int depth);

/* Adds a product with a coefficient. */
static bool add_product(linear *l, node *n, const poly *factor, const poly *by, double times,
                        int depth)
{
  poly q;

  l->now->operations++;
  return ambit__coefficient_multiply(by, factor, &q) && add_node(l, n, false, &q, times, depth + 1);
}

static bool add_quotient(linear *l, node *n, const poly *by, double times, int depth)
{
  const poly *divisor = of(l, ambit__node_b(n))->by;
  poly p;

  if (!divisor || divisor->n != 1) return add_term(l, n, by, times);
  p = ambit__coefficient_inverse(divisor);
  return add_product(l, ambit__node_a(n), &p, by, times, depth);
}

static void note_part(linear *l, node *n)
{
  if (l->now->nparts < PARTS) l->now->parts[l->now->nparts++] = n;
}

/* Adds a node, times a coefficient. */
static bool add_node(linear *l, node *n, bool is_root, const poly *by, double times, int depth)
{
  const poly *a, *b;
  poly q;

  if (depth > NESTED) return false;
  while ((n->e.op == EXPR_ADD || n->e.op == EXPR_SUB) && !of(l, n)->by &&
         (is_root || of(l, n)->is_part)) { /* sums nest to the left */
    const double sign = n->e.op == EXPR_ADD ? times : -times;

    note_part(l, n);
    l->now->operations++;
    if (!add_node(l, ambit__node_b(n), false, by, sign, depth + 1)) return false;
    n = ambit__node_a(n);
    is_root = false;
  }
  if (of(l, n)->by)
    return ambit__coefficient_multiply(by, of(l, n)->by, &q) && add_term(l, NULL, &q, times);
  if (!is_sum(n) || (!is_root && !of(l, n)->is_part)) return add_term(l, n, by, times);
  note_part(l, n);
  a = of(l, ambit__node_a(n))->by;
  b = n->e.b ? of(l, ambit__node_b(n))->by : NULL;
  switch (n->e.op) {
  case EXPR_NEG: return add_node(l, ambit__node_a(n), false, by, -times, depth + 1);
  case EXPR_MUL:
    if (a) return add_product(l, ambit__node_b(n), a, by, times, depth);
    if (b) return add_product(l, ambit__node_a(n), b, by, times, depth);
    return add_term(l, n, by, times);
  case EXPR_DIV: return add_quotient(l, n, by, times, depth);
  default: return add_term(l, n, by, times);
  }
}

static const node *read_of(const node *n)
{
  if (n && n->e.op == EXPR_CAST && ambit__type_is_real(n->e.a->type)) n = ambit__node_a(n);
  return n && n->e.op == EXPR_READ ? n : NULL;
}

/* Whether a field is read in two cells. */
static bool is_stencil(const collected *s)
{
  const node *reads[TERMS];
  int n = 0;

  for (int i = 0; i < s->n; i++) {
    const node *r = s->by[i].n ? read_of(s->values[i]) : NULL;

    for (int k = 0; r && k < n; k++)
      if (reads[k]->e.index == r->e.index && reads[k]->e.component == r->e.component) return true;
    if (r) reads[n++] = r;
  }
  return false;
}

/* Locals come first, in the order of the text, then reads in that of memory, then components that
 * the rule has set. */
static int rank_of(const linear *l, const node *n)
{
  if (!n || n->e.op <= EXPR_READ) return 1;
  if (n->e.op == EXPR_OUT) return 2;
  return n->name < 0 || n->uses < 2 ? 3 : n->name < l->g->nouts ? 2 : 0;
}

static int compare_terms(const void *x, const void *y)
{
  const term *a = x, *b = y;

  if (!a->value || !b->value) return (a->value != NULL) - (b->value != NULL);
  if (a->rank != b->rank) return a->rank - b->rank;
  if (a->rank % 2 == 0 && a->value->name != b->value->name) return a->value->name - b->value->name;
  return ambit__node_order_of(a->value, b->value);
}

static bool have_one_size(const term *a, const term *b)
{
  return !a->value == !b->value &&
         !ambit__coefficient_compare(
             a->by, b->by, ambit__coefficient_sign(a->by) * ambit__coefficient_sign(b->by));
}

static void find_groups(const sum *s)
{
  for (int i = 0; i < s->n; i++) {
    int k = 0;

    s->terms[i].group = i;
    while (s->terms[k].group != k || !have_one_size(&s->terms[k], &s->terms[i]))
      k++;
    s->terms[i].group = k;
  }
}

/* The coefficient of a group, without the sign. */
static poly size_of(const sum *s, int group)
{
  poly size = {0};

  ambit__coefficient_add(&size, s->terms[group].by, ambit__coefficient_sign(s->terms[group].by));
  return size;
}

/* Additions and multiplications per cell. */
static int count_operations(const sum *s)
{
  int n = s->n - 1;

  for (int i = 0; i < s->n; i++) {
    const poly size = size_of(s, i);

    n += s->terms[i].group == i && s->terms[i].value && !ambit__coefficient_is_one(&size);
  }
  return n;
}

/* Whether a type has all numbers of a coefficient. */
static bool has_numbers(ambit_type type, const poly *p)
{
  for (int i = 0; i < p->n; i++) {
    const double x = fabs(p->p[i].number);
    const double rounded = type == AMBIT_F32 ? (double)(float)x : x;

    if (!isfinite(rounded) || rounded < (type == AMBIT_F32 ? (double)FLT_MIN : DBL_MIN))
      return false;
  }
  return true;
}

/* The collected terms in order; NULL: not possible. */
static const sum *make_sum(linear *l, const node *n)
{
  const collected *now = l->now;
  sum *s = ambit__graph_take(l->g, sizeof *s);

  if (s) s->terms = ambit__graph_take(l->g, (size_t)now->n * sizeof *s->terms);
  for (int i = 0; i < now->n && !l->g->failed; i++) {
    if (!has_numbers(n->e.type, &now->by[i])) return NULL;
    if (now->by[i].n)
      s->terms[s->n++] = (term){
          .value = now->values[i], .by = keep(l, &now->by[i]), .rank = rank_of(l, now->values[i])};
  }
  if (l->g->failed) return NULL;
  qsort(s->terms, (size_t)s->n, sizeof *s->terms, compare_terms);
  find_groups(s);
  return count_operations(s) <= now->operations ? s : NULL;
}

/* The form of a sum; NULL: it stays as it is. */
static const sum *find_sum(linear *l, node *n)
{
  const poly one = ambit__coefficient_number(1);

  l->now->n = l->now->operations = l->now->nparts = 0;
  l->one = -1;
  l->number++;
  if (!add_node(l, n, true, &one, 1, 0)) return NULL;
  if (is_stencil(l->now)) return make_sum(l, n);
  for (int i = 0; i < l->now->nparts; i++)
    of(l, l->now->parts[i])->is_left = true;
  return NULL;
}

static void need(linear *l, const node *n)
{
  if (n) of(l, n)->is_needed = true;
}

/* Decides about a node that is needed, and which nodes it needs. */
static void decide(linear *l, node *n)
{
  slot *s = of(l, n);

  if (is_sum(n) && !s->is_left && !s->by && s->parts <= PARTS) s->sum = find_sum(l, n);
  for (int i = 0; s->sum && i < s->sum->n; i++) {
    node *value = s->sum->terms[i].value;

    need(l, value);
    if (value && value->e.op == EXPR_READ) value->is_bare = true;
  }
  if (s->sum) return;
  need(l, ambit__node_a(n));
  need(l, ambit__node_b(n));
  need(l, ambit__node_c(n));
}

/* ---- upwards: new nodes ---- */

static node *both(linear *l, const node *like, ambit__op op, node *a, node *b)
{
  if (!a) return b;
  return ambit__node_plain(l->g, op, like->e.type, a, b, NULL);
}

static node *real_number(linear *l, const node *like, double x)
{
  const double rounded = like->e.type == AMBIT_F32 ? (double)(float)x : x;

  return ambit__node_number(l->g, like->e.type, (ambit__value){.real = rounded});
}

static node *write_product(linear *l, const node *like, const product *p, double number)
{
  node *up = NULL, *down = NULL;

  for (int i = 0; i < p->n; i++)
    for (int k = 0; k < abs(p->f[i].power); k++) {
      node **to = p->f[i].power > 0 ? &up : &down;

      *to = both(l, like, EXPR_MUL, *to, p->f[i].atom);
    }
  if (number != 1 || !up)
    up = up ? both(l, like, EXPR_MUL, real_number(l, like, number), up)
            : real_number(l, like, number);
  return down ? both(l, like, EXPR_DIV, up, down) : up;
}

/* A coefficient as a number, a parameter or a value with a local. */
static node *write_coefficient(linear *l, const node *like, const poly *p)
{
  node *n = NULL;

  for (int i = 0; i < p->n; i++) {
    const double number = p->p[i].number;

    if (n && number < 0)
      n = both(l, like, EXPR_SUB, n, write_product(l, like, &p->p[i], -number));
    else
      n = both(l, like, EXPR_ADD, n, write_product(l, like, &p->p[i], number));
  }
  if (n->e.op != EXPR_CONST && n->e.op != EXPR_VALUE && !n->is_shared && !l->g->failed) {
    n->is_shared = true;
    ambit__graph_share(l->g, n, like->e.place);
  }
  return n;
}

/* Adds the terms of a group to a value: to + coefficient * (a + b - c). */
static node *write_group(linear *l, const node *like, const sum *s, int group, node *to)
{
  const poly size = size_of(s, group);
  const bool one = ambit__coefficient_is_one(&size);
  node *inner = NULL, *value;
  double first = 0;

  for (int pass = 0; pass < 2; pass++) /* terms that are added before those that are subtracted */
    for (int i = 0; i < s->n; i++) {
      const double sign = ambit__coefficient_sign(s->terms[i].by);

      if (!s->terms[i].value || s->terms[i].group != group || (sign > 0) == pass) continue;
      value = of(l, s->terms[i].value)->to;
      if (first == 0) first = sign;
      if (one && to && !inner)
        inner = both(l, like, sign > 0 ? EXPR_ADD : EXPR_SUB, to, value);
      else if (one && !inner && sign < 0)
        inner = ambit__node_minus(l->g, value);
      else
        inner = both(l, like, sign == (one ? 1 : first) ? EXPR_ADD : EXPR_SUB, inner, value);
    }
  if (one) return inner;
  inner = both(l, like, EXPR_MUL, write_coefficient(l, like, &size), inner);
  if (to) return both(l, like, first > 0 ? EXPR_ADD : EXPR_SUB, to, inner);
  return first > 0 ? inner : ambit__node_minus(l->g, inner);
}

/* Groups with a positive term first: no negation is needed then. */
static node *write_sum(linear *l, const node *like, const sum *s)
{
  bool positive[TERMS] = {0}; /* by the first term of a group */
  node *n = NULL;

  for (int i = 0; i < s->n; i++)
    if (ambit__coefficient_sign(s->terms[i].by) > 0) positive[s->terms[i].group] = true;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < s->n && !l->g->failed; i++)
      if (s->terms[i].value && s->terms[i].group == i && positive[i] == !pass)
        n = write_group(l, like, s, i, n);
  for (int i = 0; i < s->n && !l->g->failed; i++)
    if (!s->terms[i].value)
      n = both(l, like, EXPR_ADD, n, write_coefficient(l, like, s->terms[i].by));
  return n;
}

/* NULL: the value of a local that is a part of sums is gone. */
static node *new_of(const void *user, const node *n)
{
  return n ? of(user, n)->to : NULL;
}

static void make(linear *l, node *n)
{
  slot *s = of(l, n);

  s->to = s->sum ? write_sum(l, n, s->sum)
                 : ambit__node_like(l->g, &n->e, new_of(l, ambit__node_a(n)),
                                    new_of(l, ambit__node_b(n)), new_of(l, ambit__node_c(n)));
  l->g->changed = l->g->changed || s->sum;
}

/* ---- all ---- */

static void rewrite(linear *l)
{
  graph *g = l->g;

  for (int i = 0; i < l->nslots; i++)
    look_at(l, g->nodes[i]);
  for (int i = l->nslots - 1; i >= 0 && !g->failed; i--)
    if (l->slots[i].is_needed) decide(l, g->nodes[i]);
  for (int i = 0; i < l->nslots && !g->failed; i++)
    if (l->slots[i].is_needed) make(l, g->nodes[i]);
  if (!g->failed) ambit__graph_replace(g->shared ? *g->shared : g->first, new_of, l);
}

/* A weighted sum of one field, with numbers, is as it should be. */
static bool is_plain_sum(const ambit__rule *rule, ambit__tap *taps, ambit__sum *plain)
{
  return rule->nparams == 2 && ambit__rule_sum(rule, false, taps, TERMS, plain) &&
         ambit__taps_are_numbers(taps, plain->n);
}

void ambit__graph_sums(graph *g)
{
  linear l = {.g = g, .nslots = g->count};
  ambit__tap *taps = ambit__graph_take(g, TERMS * sizeof *taps);
  ambit__sum plain = {0};

  l.slots = ambit__graph_take(g, (size_t)g->count * sizeof *l.slots);
  l.now = ambit__graph_take(g, sizeof *l.now);
  if (!g->failed && !is_plain_sum(g->rule, taps, &plain) && !plain.starved) {
    ambit__graph_use(g);
    if (!g->failed) rewrite(&l);
  }
  if (plain.starved) ambit__raise(g->errors, AMBIT_ENOMEM, "out of memory: sums of a kernel");
  g->failed |= plain.starved;
}
