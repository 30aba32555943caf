/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/narrow.h"

#include "kernel/roots.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
  MOST_NODES = 4000, /* of a rule: ranges are found anew on every level of an expression */
  MOST_BYTE = 255    /* a root of ambit_byte_root in prelude/lanes.h */
};

/* Narrowest first. */
static const struct lane {
  const char *name;
  int bits;
  ambit__range range;
} lanes[] = {
    {"lane_u8", 8, {0, UINT8_MAX}},           {"lane_i8", 8, {INT8_MIN, INT8_MAX}},
    {"lane_i16", 16, {INT16_MIN, INT16_MAX}}, {"lane_u16", 16, {0, UINT16_MAX}},
    {"int32_t", 32, {INT32_MIN, INT32_MAX}},
};
typedef const struct lane lane;

/* ---- ranges ---- */

static bool holds(ambit__range all, ambit__range r)
{
  return all.low <= r.low && r.high <= all.high;
}

static lane *lane_of(ambit__range r)
{
  int i = 0;

  while (i < 4 && !holds(lanes[i].range, r))
    i++;
  return &lanes[i];
}

static lane *lane_for(const ambit__narrow *n, const ambit__expr *e)
{
  return lane_of(ambit__range_of(n->now, e));
}

const char *ambit__narrow_type(ambit__range r)
{
  return lane_of(r)->name;
}

ambit__range ambit__narrow_range(const ambit__narrow *n, const ambit__expr *e)
{
  return ambit__range_of(n->now, e);
}

/* Integers of at most 32 bits. */
static bool is_small(ambit_type type)
{
  return type == AMBIT_I32 || type == AMBIT_I16 || type == AMBIT_U8;
}

/* ---- statements ---- */

/* More than MOST_NODES for unsigned numbers that are no bytes: they are left to compilers. */
static int count(const ambit__expr *e)
{
  if (e && ambit__type_is_unsigned(e->type) && e->type != AMBIT_U8) return MOST_NODES + 1;
  return e ? 1 + count(e->a) + count(e->b) + count(e->c) : 0;
}

/* Nodes of the expressions of statements; finds the locals that are set under a condition. */
static int examine(const ambit__narrow *n, const ambit__stmt *list, bool held)
{
  int nodes = 0;

  for (const ambit__stmt *s = list; s; s = s->next) {
    nodes += count(s->value) + examine(n, s->body, true) + examine(n, s->other, true);
    if (s->kind == STMT_SET_LOCAL && held) n->held[s->index] = true;
  }
  return nodes;
}

void ambit__narrow_pass(ambit__narrow *n, const ambit__stmt *s)
{
  ambit__range r = {0, 0};

  if (s->kind != STMT_LOCAL && s->kind != STMT_SET_LOCAL) return;
  if (s->value) r = ambit__range_of(n->now, s->value);
  if (s->kind == STMT_SET_LOCAL && n->held[s->index]) r = ambit__range_hull(n->now[s->index], r);
  n->now[s->index] = r;
  n->ever[s->index] = ambit__range_hull(n->ever[s->index], r);
}

static ambit__visit pass(void *user, const ambit__stmt *s)
{
  ambit__narrow_pass(user, s);
  return VISIT_INSIDE;
}

bool ambit__narrow_begin(ambit__narrow *n, const ambit__rule *rule)
{
  const size_t room = (size_t)rule->nlocals + 1;

  *n = (ambit__narrow){.rule = rule,
                       .now = calloc(room, sizeof *n->now),
                       .ever = calloc(room, sizeof *n->ever),
                       .held = calloc(room, sizeof *n->held)};
  if (!n->now || !n->ever || !n->held) return false;
  if (examine(n, rule->body, false) > MOST_NODES) return false;
  ambit__visit_stmts(&(ambit__visitor){.stmt = pass, .user = n}, rule->body);
  return true;
}

void ambit__narrow_end(ambit__narrow *n)
{
  free(n->now);
  free(n->ever);
  free(n->held);
  *n = (ambit__narrow){0};
}

const char *ambit__narrow_local(const ambit__narrow *n, int local)
{
  const ambit_type type = n->rule->locals[local].type;

  return is_small(type) ? lane_of(n->ever[local])->name : NULL;
}

/* ---- expressions ---- */

typedef struct work {
  ambit__narrow *n;
  const ambit__scope *s;
  ambit__text *t;
} work;

static void print_lane(const work *w, const ambit__expr *e, lane *to);
static void print_truth(const work *w, const ambit__expr *e);

/* As if there were no narrow types, but for its operands. */
static void print_plain(const work *w, const ambit__expr *e)
{
  const bool is_name = e->op < EXPR_NEG;

  w->n->plain = e;
  if (!is_name) ambit__print(w->t, "(");
  ambit__emit_expr(w->s, w->t, e);
  if (!is_name) ambit__print(w->t, ")");
}

static bool compares(const ambit__expr *e)
{
  return e->op >= EXPR_LT && e->op <= EXPR_NE && is_small(e->a->type) && is_small(e->b->type);
}

static bool is_truth(const ambit__expr *e)
{
  return compares(e) || e->op == EXPR_LAND || e->op == EXPR_LOR || e->op == EXPR_NOT;
}

static void print_infix(const work *w, const ambit__expr *e, lane *type, const char *sign)
{
  ambit__print(w->t, "(");
  print_lane(w, e->a, type);
  ambit__print(w->t, " %s ", sign);
  print_lane(w, e->b, type);
  ambit__print(w->t, ")");
}

/* Whether an expression is not 0: an int. */
static void print_truth(const work *w, const ambit__expr *e)
{
  static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
  const ambit__expr nought = {.op = EXPR_CONST, .type = AMBIT_I32};

  if (e->is_outside || (e->op >= EXPR_LT && e->op <= EXPR_NE && !compares(e))) {
    print_plain(w, e);
  } else if (compares(e)) {
    const ambit__range a = ambit__range_of(w->n->now, e->a), b = ambit__range_of(w->n->now, e->b);

    print_infix(w, e, lane_of(ambit__range_hull(a, b)), signs[e->op - EXPR_LT]);
  } else if (e->op == EXPR_LAND || e->op == EXPR_LOR) {
    ambit__print(w->t, "(");
    print_truth(w, e->a);
    ambit__print(w->t, e->op == EXPR_LAND ? " & " : " | ");
    print_truth(w, e->b);
    ambit__print(w->t, ")");
  } else if (e->op == EXPR_NOT) {
    ambit__print(w->t, "!");
    print_truth(w, e->a);
  } else if (is_small(e->type)) {
    const ambit__expr test = {.op = EXPR_NE, .type = AMBIT_I32, .a = e, .b = &nought};

    print_truth(w, &test);
  } else {
    ambit__print(w->t, "(");
    print_plain(w, e);
    ambit__print(w->t, " != 0)");
  }
}

/* Shifts by a constant, and quotients and remainders by a positive one. */
static bool has_constant(const ambit__expr *e)
{
  const int64_t k = e->b && e->b->op == EXPR_CONST ? e->b->value.integer : -1;

  if (e->type != AMBIT_I32) return false;
  if (e->op == EXPR_SHL || e->op == EXPR_SHR) return k >= 0 && k < 32;
  return (e->op == EXPR_DIV || e->op == EXPR_MOD) && k > 0 && k <= INT16_MAX;
}

/* The operations that have lower bits of the result from lower bits of the operands. */
static bool is_modular(const ambit__expr *e)
{
  switch (e->op) {
  case EXPR_NEG:
  case EXPR_COMPL:
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_XOR: return is_small(e->type);
  case EXPR_SHL: return has_constant(e);
  case EXPR_COND: return true;
  default: return false;
  }
}

static void print_modular(const work *w, const ambit__expr *e, lane *to)
{
  static const char *const signs[] = {
      [EXPR_ADD] = "+", [EXPR_SUB] = "-", [EXPR_MUL] = "*",
      [EXPR_AND] = "&", [EXPR_OR] = "|",  [EXPR_XOR] = "^",
  };

  switch (e->op) {
  case EXPR_NEG:
    ambit__print(w->t, "((%s)0 - ", to->name);
    print_lane(w, e->a, to);
    ambit__print(w->t, ")");
    break;
  case EXPR_COMPL:
    ambit__print(w->t, "~");
    print_lane(w, e->a, to);
    break;
  case EXPR_SHL:
    ambit__print(w->t, "(");
    if (e->b->value.integer < to->bits) {
      print_lane(w, e->a, to);
      ambit__print(w->t, " << %" PRId64, e->b->value.integer);
    } else {
      ambit__print(w->t, "0");
    }
    ambit__print(w->t, ")");
    break;
  case EXPR_COND:
    ambit__print(w->t, "(");
    print_truth(w, e->a);
    ambit__print(w->t, " ? ");
    print_lane(w, e->b, to);
    ambit__print(w->t, " : ");
    print_lane(w, e->c, to);
    ambit__print(w->t, ")");
    break;
  default: print_infix(w, e, to, signs[e->op]); break;
  }
}

/* The root whose integer part an expression is. */
static bool root_of(const ambit__narrow *n, const ambit__expr *e, ambit__root *root)
{
  return is_small(e->type) && ambit__root_of(n->now, e, root) && is_small(root->n->type);
}

static bool is_square(const ambit__expr *e)
{
  return e->op == EXPR_MUL && e->a->op == EXPR_LOCAL && e->b->op == EXPR_LOCAL &&
         e->a->index == e->b->index;
}

/* An integer that is not negative, as ambit_squared: cut off at 255^2 if it is larger. */
static void print_squared(const work *w, const ambit__expr *e)
{
  const bool is_sum = e->op == EXPR_ADD && ambit__range_of(w->n->now, e->a).low >= 0 &&
                      ambit__range_of(w->n->now, e->b).low >= 0;

  ambit__print(w->t, is_sum ? "ambit_squares(" : is_square(e) ? "ambit_square(" : "ambit_cut(");
  if (is_sum) {
    print_squared(w, e->a);
    ambit__print(w->t, ", ");
    print_squared(w, e->b);
  } else {
    print_lane(w, is_square(e) ? e->a : e, &lanes[4]);
  }
  ambit__print(w->t, ")");
}

/* The integer part of a square root. */
static void print_root(const work *w, const ambit__root *root)
{
  if (root->most == MOST_BYTE || (root->most < MOST_BYTE && !root->cut)) {
    ambit__print(w->t, "ambit_byte_root(");
    print_squared(w, root->n);
    ambit__print(w->t, ")");
  } else {
    ambit__print(w->t, "ambit_root(");
    print_lane(w, root->n, &lanes[4]);
    ambit__print(w->t, ", %" PRId64 ")", root->most);
  }
}

/* Whether an expression is x < c ? x : c with a local x and a number c. */
static bool is_less(const ambit__expr *e)
{
  return e->op == EXPR_COND && e->a->op == EXPR_LT && e->b->op == EXPR_LOCAL &&
         e->a->a->op == EXPR_LOCAL && e->a->a->index == e->b->index && e->c->op == EXPR_CONST &&
         e->a->b->op == EXPR_CONST && e->a->b->value.real == e->c->value.real;
}

/* Whether a real number is not negative; it may be NaN. */
static bool is_positive(const ambit__narrow *n, const ambit__expr *x)
{
  const ambit__expr *only = x->op == EXPR_LOCAL ? ambit__only_value(n->rule, x->index) : NULL;

  if (only) return is_positive(n, only);
  return x->op == EXPR_CALL && (x->call == CALL_sqrt || x->call == CALL_fabs);
}

/* The number that is not negative, is cut off at *most and then converted to an integer, in an
 * expression that does this; NULL: it does not. */
static const ambit__expr *cut_off(const ambit__narrow *n, const ambit__expr *e,
                                  const ambit__expr **most)
{
  const ambit__expr *x = e->op == EXPR_CAST && e->a->type == AMBIT_F32 ? e->a : NULL;
  const bool less = x && is_less(x);

  if (!less && (!x || x->op != EXPR_CALL || x->call != CALL_fmin || x->b->op != EXPR_CONST))
    return NULL;
  *most = less ? x->c : x->b;
  x = less ? x->b : x->a;
  if (!is_small(e->type) || !is_positive(n, x) || !((*most)->value.real >= 0)) return NULL;
  return (*most)->value.real <= (double)ambit__range_of_type(e->type).high ? x : NULL;
}

/* The integer part of a real number, from 0 to `most`. */
static void print_cut_off(const work *w, const ambit__expr *x, const ambit__expr *most)
{
  ambit__print(w->t, "ambit_natural(");
  ambit__emit_expr(w->s, w->t, x);
  ambit__print(w->t, ", ");
  ambit__emit_expr(w->s, w->t, most);
  ambit__print(w->t, ")");
}

/* Operations with a constant on all bits of a number. */
static void print_divided(const work *w, const ambit__expr *e)
{
  const ambit__range a = ambit__range_of(w->n->now, e->a);
  const int64_t k = e->b->value.integer;
  lane *type = lane_of(e->op == EXPR_SHR ? a : ambit__range_hull(a, (ambit__range){0, k}));

  if (e->op == EXPR_SHR && k >= type->bits && a.low >= 0) {
    ambit__print(w->t, "0");
    return;
  }
  ambit__print(w->t, "(");
  print_lane(w, e->a, type);
  if (e->op == EXPR_SHR)
    ambit__print(w->t, " >> %" PRId64, k < type->bits ? k : type->bits - 1);
  else
    ambit__print(w->t, " %c (%s)%" PRId64, e->op == EXPR_DIV ? '/' : '%', type->name, k);
  ambit__print(w->t, ")");
}

/* As a call: gcc 12 does not vectorise abs(a - b) > 20 ? 255 : 0 with a condition. */
static void print_abs(const work *w, const ambit__expr *e)
{
  ambit__print(w->t, "__builtin_abs(");
  print_lane(w, e->a, &lanes[4]);
  ambit__print(w->t, ")");
}

static bool is_abs(const ambit__narrow *n, const ambit__expr *e)
{
  return e->op == EXPR_CALL && e->call == CALL_abs && e->type == AMBIT_I32 &&
         ambit__range_of(n->now, e->a).low > INT32_MIN;
}

/* Without its conversion to the type of the lane. */
static void print_value(const work *w, const ambit__expr *e, lane *to)
{
  const ambit__expr *limit, *x = cut_off(w->n, e, &limit);
  ambit__root root;

  if (w->s->instead && w->s->instead(w->s, w->t, e)) return;
  if (root_of(w->n, e, &root)) {
    print_root(w, &root);
  } else if (x) {
    print_cut_off(w, x, limit);
  } else if (is_truth(e) && !e->is_outside) {
    print_truth(w, e);
  } else if (is_modular(e)) {
    print_modular(w, e, to);
  } else if (e->op == EXPR_LOCAL && is_small(e->type)) {
    ambit__name_local(w->s, w->t, e->index);
  } else if (has_constant(e)) {
    print_divided(w, e);
  } else if (is_abs(w->n, e)) {
    print_abs(w, e);
  } else {
    print_plain(w, e);
  }
}

/* An expression of the rule modulo 2^bits, in the type of a lane. */
static void print_lane(const work *w, const ambit__expr *e, lane *to)
{
  lane *own = is_small(e->type) ? lane_for(w->n, e) : &lanes[4];

  if (e->op == EXPR_CAST && is_small(e->a->type) && own->bits >= to->bits) {
    print_lane(w, e->a, to);
    return;
  }
  if (e->op != EXPR_LOCAL || lane_of(w->n->ever[e->index]) != to)
    ambit__print(w->t, "(%s)", to->name);
  if (e->op == EXPR_CONST)
    ambit__print(w->t, e->value.integer < 0 ? "(%" PRId64 ")" : "%" PRId64, e->value.integer);
  else if (own->bits < to->bits && own != to)
    print_lane(w, e, own);
  else
    print_value(w, e, to);
}

/* Whether narrow types change the text of an expression, beside that of its operands. */
static bool differs(const ambit__narrow *n, const ambit__expr *e)
{
  const ambit__expr *limit;
  ambit__root root;

  if (e->is_outside || !is_small(e->type)) return false;
  if (e->op == EXPR_LOCAL) return lane_of(n->ever[e->index])->bits < 32;
  if (e->op < EXPR_NEG) return false;
  if (e->op == EXPR_CAST && !is_small(e->a->type))
    return root_of(n, e, &root) || cut_off(n, e, &limit);
  return lane_for(n, e)->bits < 32;
}

bool ambit__narrow_print(ambit__narrow *n, const ambit__scope *s, ambit__text *t,
                         const ambit__expr *e)
{
  const work w = {n, s, t};
  const bool plain = n->plain == e;

  n->plain = NULL;
  if (plain || !differs(n, e)) return false;
  if (is_truth(e)) {
    print_truth(&w, e);
    return true;
  }
  ambit__print(t, "(%s)", s->dialect->types[e->type]);
  print_lane(&w, e, lane_for(n, e));
  return true;
}
