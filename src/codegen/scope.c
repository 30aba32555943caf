/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/scope.h"

#include "base/number.h"
#include "codegen/flat.h"
#include "codegen/hoist.h"
#include "codegen/narrow.h"
#include "codegen/partials.h"
#include "codegen/source.h"
#include "kernel/range.h"

#include <inttypes.h>
#include <math.h>

/* ---- names ---- */

void ambit__name_local(const ambit__scope *s, ambit__text *t, int local)
{
  ambit__print(t, "%s_", s->rule->locals[local].name);
}

/* "v_out", or "v_out3" of a vector. */
static void name_out(const ambit__scope *s, ambit__text *t, int param, int component)
{
  const ambit__param *p = &s->rule->params[param];

  ambit__print(t, "%s_out", p->name);
  if (p->is_vector) ambit__print(t, "%d", component);
}

/* ---- constants ---- */

static void emit_real(const ambit__dialect *d, ambit__text *t, ambit_type type, double x)
{
  const bool is_float = type == AMBIT_F32;
  char digits[AMBIT__NUMBER_CHARS];

  if (isnan(x)) {
    ambit__print(t, "%s", d->nan[!is_float]);
    return;
  }
  if (isinf(x)) {
    ambit__print(t, "%s%s", x < 0 ? "-" : "", d->infinity[!is_float]);
    return;
  }
  if (is_float)
    ambit__number_print_float(digits, (float)x);
  else
    ambit__number_print_double(digits, x);
  ambit__print(t, "%s%s", digits, is_float ? "f" : "");
}

void ambit__emit_constant(const ambit__dialect *d, ambit__text *t, ambit_type type, ambit__value v)
{
  if (ambit__type_is_half(type))
    ambit__print(
        t, "0x%04x",
        (unsigned)(type == AMBIT_F16 ? ambit_half_encode(v.real) : ambit_bfloat_encode(v.real)));
  else if (ambit__type_is_real(type))
    emit_real(d, t, type, v.real);
  else if (type == AMBIT_I64 && v.integer == INT64_MIN)
    ambit__print(t, "(-9223372036854775807L - 1)");
  else if (type == AMBIT_I64)
    ambit__print(t, "%" PRId64 "L", v.integer);
  else if (type == AMBIT_U64)
    ambit__print(t, "%" PRIu64 "uL", (uint64_t)v.integer);
  else if (type == AMBIT_U32)
    ambit__print(t, "%" PRId64 "u", v.integer);
  else if (v.integer == INT32_MIN)
    ambit__print(t, "(-2147483647 - 1)");
  else
    ambit__print(t, "%" PRId64, v.integer);
}

/* ---- expressions ---- */

/* Binary operators: spelling and precedence, as in C. Levels are even; the odd level above is for
 * an operand in which the same operator needs parentheses. */
static const struct operator_row {
  const char *text;
  int level;
} operators[] = {
    [EXPR_ADD] = {"+", 24}, [EXPR_SUB] = {"-", 24},  [EXPR_MUL] = {"*", 26},
    [EXPR_DIV] = {"/", 26}, [EXPR_MOD] = {"%", 26},  [EXPR_AND] = {"&", 16},
    [EXPR_OR] = {"|", 12},  [EXPR_XOR] = {"^", 14},  [EXPR_LT] = {"<", 20},
    [EXPR_LE] = {"<=", 20}, [EXPR_GT] = {">", 20},   [EXPR_GE] = {">=", 20},
    [EXPR_EQ] = {"==", 18}, [EXPR_NE] = {"!=", 18},  [EXPR_LAND] = {"&", 16},
    [EXPR_LOR] = {"|", 12}, [EXPR_SHL] = {"<<", 22}, [EXPR_SHR] = {">>", 22},
    [EXPR_COND] = {"?", 6},
};
enum { ARGUMENT = 4, COMPARISON = 18, SUM = 24, UNARY = 28 };

static void emit(const ambit__scope *s, ambit__text *t, const ambit__expr *e, int around);

const char *ambit__type_suffix(ambit_type type)
{
  static const char *const names[] = {"f32", "f64",  "i32", "u8",  "i16", "i64",
                                      "f16", "bf16", "u16", "u32", "u64"};

  return names[type];
}

/* "a, b)", or "a)". */
static void emit_arguments(const ambit__scope *s, ambit__text *t, const ambit__expr *a,
                           const ambit__expr *b)
{
  emit(s, t, a, ARGUMENT);
  if (b) ambit__print(t, ", ");
  if (b) emit(s, t, b, ARGUMENT);
  ambit__print(t, ")");
}

/* A helper of the prelude: ambit_div_i32(a, b). */
static void emit_helper(const ambit__scope *s, ambit__text *t, const char *name, ambit_type type,
                        const ambit__expr *e)
{
  ambit__print(t, "ambit_%s_%s(", name, ambit__type_suffix(type));
  emit_arguments(s, t, e->a, e->b);
}

static bool is_number(const ambit__expr *e, double x)
{
  return e->op == EXPR_CONST && ambit__number_same(e->value.real, x);
}

/* In strict code of a rule with fma: x of -x, which may also be spelled -1 * x, x / -1 or -0.0 - x;
 * else NULL. gcc 12 turns -fma(a, b, c) into fma(-a, b, -c), which is 0 where the former is -0. */
static const ambit__expr *negated(const ambit__scope *s, const ambit__expr *e)
{
  if (s->relaxed || !s->rule->uses_fma || !ambit__type_is_real(e->type)) return NULL;
  if (e->op == EXPR_NEG) return e->a;
  if (e->op == EXPR_SUB && is_number(e->a, -0.0)) return e->b;
  if ((e->op == EXPR_MUL || e->op == EXPR_DIV) && is_number(e->b, -1)) return e->a;
  return e->op == EXPR_MUL && is_number(e->a, -1) ? e->b : NULL;
}

static bool is_safe_divisor(const ambit__expr *e)
{
  return e->op == EXPR_CONST && e->value.integer != 0 &&
         (e->value.integer != -1 || ambit__type_is_unsigned(e->type));
}

/* An operand of a logical operator as 0 or 1. Expressions have no side effects and cannot fail, so
 * both sides are evaluated: & and | avoid branches, which prevent vectorisation. */
static void emit_truth(const ambit__scope *s, ambit__text *t, const ambit__expr *e, int around)
{
  bool is_truth = (e->op >= EXPR_LT && e->op <= EXPR_LOR) || e->op == EXPR_NOT;

  if (is_truth) {
    emit(s, t, e, around);
    return;
  }
  ambit__print(t, "(");
  emit(s, t, e, COMPARISON + 1);
  ambit__print(t, " != 0)");
}

/* & | ^, including those that stand for && and ||. */
static bool is_bitwise(int around)
{
  return around >= operators[EXPR_OR].level && around < COMPARISON;
}

/* The number 0, written or in a table. */
static bool is_nought(const ambit__scope *s, const ambit__expr *e)
{
  ambit__value v = e->value;

  if (e->op == EXPR_CAST && ambit__type_is_real(e->a->type)) return is_nought(s, e->a);
  return (e->op == EXPR_CONST || ambit__table_element(s->rule, e, &v)) && v.real == 0;
}

/* 0 * x, x * 0 * y, -(0 * x): real numbers. */
static bool is_no_term(const ambit__scope *s, const ambit__expr *e)
{
  if (e->op == EXPR_NEG) return is_no_term(s, e->a);
  if (e->op != EXPR_MUL || !ambit__type_is_real(e->type)) return false;
  return is_nought(s, e->a) || is_nought(s, e->b) || is_no_term(s, e->a) || is_no_term(s, e->b);
}

const ambit__expr *ambit__emit_only_term(const ambit__scope *s, const ambit__expr *e)
{
  if (e->op != EXPR_ADD && e->op != EXPR_SUB) return NULL;
  if (is_no_term(s, e->b)) return e->a;
  return e->op == EXPR_ADD && is_no_term(s, e->a) ? e->b : NULL;
}

static bool is_real_order(const ambit__expr *e)
{
  return e->op >= EXPR_LT && e->op <= EXPR_GE && ambit__type_is_real(e->b->type);
}

/* The second operand of a comparison in strict code: LLVM would make a minimum of x < 0 ? x : 0,
 * which may return the other zero. */
static void emit_hidden(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  ambit__print(t, "ambit_hidden_%s(", ambit__type_suffix(e->type));
  emit(s, t, e, ARGUMENT);
  ambit__print(t, ", %s)", s->step);
}

/* A division that the dialect has a faster function for. Compilers make one by a power of two a
 * product. */
static bool is_ratio(const ambit__scope *s, const ambit__expr *e)
{
  static const double LEAST = 1e-30; /* whose products and remainders are normal numbers */
  const bool inverts = s->dialect->ratio_by_inverse;
  double size;
  int exponent;

  if (e->op != EXPR_DIV || !s->relaxed || !s->dialect->ratio) return false;
  if (e->type != AMBIT_F32 && e->type != AMBIT_F64) return false;
  if (e->b->op != EXPR_CONST) return !inverts || (s->hoists && ambit__hoists_inverts(s->hoists, e));
  size = fabs(e->b->value.real);
  return size > LEAST && size < 1 / LEAST && frexp(size, &exponent) != 0.5;
}

/* What the name of the function for a division ends in. */
static const char *kind_of_ratio(const ambit__scope *s, const ambit__expr *e)
{
  static const double LEAST = 1e-30;

  if (e->b->op == EXPR_CONST) return "_by";
  if (s->dialect->ratio_by_inverse || e->type != AMBIT_F32) return "";
  return ambit__least_of(s->rule, e->b) > LEAST ? "_of" : "";
}

static void emit_binary(const ambit__scope *s, ambit__text *t, const ambit__expr *e, int around)
{
  const int level = operators[e->op].level;
  const bool real = ambit__type_is_real(e->type);
  void (*operand)(const ambit__scope *, ambit__text *, const ambit__expr *, int) =
      e->op == EXPR_LAND || e->op == EXPR_LOR ? emit_truth : emit;
  const bool compares = e->op >= EXPR_LT && e->op <= EXPR_NE;
  /* a - (b - c) keeps its parentheses; comparisons inside any operator, and && in || and & | ^, get
   * them for readability */
  const bool wrap = level < around ||
                    (around > ARGUMENT && around != level && (level < SUM || is_bitwise(around)));

  if (s->relaxed && ambit__emit_only_term(s, e)) {
    emit(s, t, ambit__emit_only_term(s, e), around);
    return;
  }
  if ((e->op == EXPR_DIV || e->op == EXPR_MOD) && !real && !is_safe_divisor(e->b)) {
    emit_helper(s, t, e->op == EXPR_DIV ? "div" : "mod", e->type, e);
    return;
  }
  if (is_ratio(s, e)) {
    ambit__print(t, "%s%s(", s->dialect->ratio, kind_of_ratio(s, e));
    emit_arguments(s, t, e->a, e->b);
    return;
  }
  if (e->op == EXPR_SHL || e->op == EXPR_SHR) {
    emit_helper(s, t, e->op == EXPR_SHL ? "shl" : "shr", e->type, e);
    return;
  }
  if (!real && !s->dialect->wraps && !ambit__type_is_unsigned(e->type) &&
      (e->op == EXPR_ADD || e->op == EXPR_SUB || e->op == EXPR_MUL)) {
    emit_helper(s, t, e->op == EXPR_ADD ? "add" : e->op == EXPR_SUB ? "sub" : "mul", e->type, e);
    return;
  }
  if (wrap) ambit__print(t, "(");
  operand(s, t, e->a, level + compares);
  ambit__print(t, " %s ", operators[e->op].text);
  if (is_real_order(e) && !s->relaxed)
    emit_hidden(s, t, e->b);
  else
    operand(s, t, e->b, level + 1);
  if (wrap) ambit__print(t, ")");
}

static void emit_cast(const ambit__scope *s, ambit__text *t, const ambit__expr *e, int around)
{
  const bool from_real = ambit__type_is_real(e->a->type), to_real = ambit__type_is_real(e->type);
  const bool is_half = ambit__type_is_half(e->type) || ambit__type_is_half(e->a->type);

  if (is_half || (from_real != to_real && (from_real || s->dialect->folds_casts))) {
    ambit__print(t, "ambit_%s_from_%s(", ambit__type_suffix(e->type),
                 ambit__type_suffix(e->a->type));
    emit_arguments(s, t, e->a, NULL);
    return;
  }
  if (around > UNARY) ambit__print(t, "(");
  ambit__print(t, "(%s)", s->dialect->types[e->type]);
  emit(s, t, e->a, UNARY);
  if (around > UNARY) ambit__print(t, ")");
}

/* "ambit_fmin_to_f32(x, once0)" */
static bool emit_limited(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__expr *value = NULL;
  const int i = s->hoists ? ambit__hoists_find_limit(s->hoists, e, &value) : -1;

  if (i < 0) return false;
  ambit__print(t, "ambit_%s_to_%s(", ambit__call_name(e->call), ambit__type_suffix(e->type));
  emit(s, t, value, ARGUMENT);
  ambit__print(t, ", once%d)", i);
  return true;
}

static void emit_call(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__expr *args[] = {e->a, e->b, e->c};
  const bool orders = e->call == CALL_fmin || e->call == CALL_fmax;
  /* GPUs have them as instructions, which may choose the other of two zeros */
  const bool native = s->relaxed && s->dialect->kernel && ambit__type_is_real(e->type);
  const bool own = e->call == CALL_abs || (orders && !native);

  if (emit_limited(s, t, e)) return;
  if (s->relaxed && ambit__calls_power(e)) {
    ambit__print(t, "ambit_power%d_%s(", ambit__calls_power(e), ambit__type_suffix(e->type));
    emit_arguments(s, t, e->a, NULL);
    return;
  }
  if ((s->own_calls && ambit__calls_own(e)) ||
      (s->relaxed && s->dialect->angles && ambit__calls_angle(e)))
    ambit__print(t, "ambit_%s%s(", ambit__call_name(e->call), e->type == AMBIT_F32 ? "f" : "");
  else if (own)
    ambit__print(t, "ambit_%s_%s(", ambit__call_name(e->call), ambit__type_suffix(e->type));
  else
    ambit__print(t, "%s%s(", ambit__call_name(e->call),
                 e->type == AMBIT_F32 && s->dialect->float_names ? "f" : "");
  for (int i = 0; i < 3 && args[i]; i++) {
    if (i) ambit__print(t, ", ");
    emit(s, t, args[i], ARGUMENT);
  }
  ambit__print(t, ")");
}

/* Whether both sides of a choice are computed by a function, of whose arguments compilers make no
 * branches. Of values that are there they make none anyway. */
static bool is_selection(const ambit__scope *s, const ambit__expr *e)
{
  const bool any = e->b->op >= EXPR_NEG || e->c->op >= EXPR_NEG;
  const bool fits =
      (ambit__type_is_real(e->type) && !ambit__type_is_half(e->type)) || e->type == AMBIT_I32;

  return s->selects && any && fits && ambit__side_is_light(e->b, NULL, s->relaxed, s->registers) &&
         ambit__side_is_light(e->c, NULL, s->relaxed, s->registers);
}

static void emit_cond(const ambit__scope *s, ambit__text *t, const ambit__expr *e, int around)
{
  const int level = operators[EXPR_COND].level;

  if (is_selection(s, e)) {
    ambit__print(t, "ambit_either_%s(", ambit__type_suffix(e->type));
    emit(s, t, e->a, ARGUMENT);
    ambit__print(t, ", ");
    emit_arguments(s, t, e->b, e->c);
    return;
  }
  if (level < around) ambit__print(t, "(");
  emit(s, t, e->a, level + 1);
  ambit__print(t, " ? ");
  emit(s, t, e->b, level + 1);
  ambit__print(t, " : ");
  emit(s, t, e->c, level);
  if (level < around) ambit__print(t, ")");
}

static void emit_unary(const ambit__scope *s, ambit__text *t, const ambit__expr *e, int around)
{
  const char *text = e->op == EXPR_NEG ? "-" : e->op == EXPR_NOT ? "!" : "~";
  /* (!a) == b is easily misread without parentheses */
  const bool wrap = around > UNARY || (e->op == EXPR_NOT && around > ARGUMENT && around < SUM);

  if (e->op == EXPR_NEG && !ambit__type_is_real(e->type)) {
    emit_helper(s, t, "neg", e->type, e);
    return;
  }
  if (wrap) ambit__print(t, "(");
  ambit__print(t, "%s", text);
  emit(s, t, e->a, UNARY + 1); /* - -x must not become --x */
  if (wrap) ambit__print(t, ")");
}

static void emit_constant(const ambit__scope *s, ambit__text *t, ambit_type type, ambit__value v,
                          int around)
{
  const bool real = ambit__type_is_real(type);
  const bool negative = ambit__type_is_half(type) ? false
                        : real                    ? signbit(v.real) != 0
                                                  : v.integer < 0 && type != AMBIT_U64;

  if (negative && around > ARGUMENT) ambit__print(t, "(");
  ambit__emit_constant(s->dialect, t, type, v);
  if (negative && around > ARGUMENT) ambit__print(t, ")");
}

static void emit_subscript(const ambit__scope *s, ambit__text *t, const ambit__expr *e,
                           int64_t size)
{
  const bool hidden = s->dialect->hides_subscripts;

  ambit__print(t, "%sambit_clip_%s(", hidden ? "AMBIT_SUBSCRIPT(" : "",
               ambit__type_suffix(e->type));
  emit(s, t, e, ARGUMENT);
  ambit__print(t, ", %" PRId64 ")", size - 1);
  if (hidden) ambit__print(t, ", %s)", s->step);
}

/* A number, or a look-up in the array of ambit__emit_tables. */
static void emit_element(const ambit__scope *s, ambit__text *t, const ambit__expr *e, int around)
{
  const ambit__table *table = &s->rule->tables[e->index];
  ambit__value v;

  if (ambit__table_element(s->rule, e, &v)) {
    emit_constant(s, t, e->type, v, around);
    return;
  }
  ambit__name_table(t, table);
  ambit__print(t, "[");
  emit_subscript(s, t, e->a, table->size[0]);
  if (e->b) {
    ambit__print(t, " * %" PRId64 " + ", table->size[1]);
    emit_subscript(s, t, e->b, table->size[1]);
  }
  ambit__print(t, "]");
}

/* "(!inside & (i0 < 1))", or "(inside | (i0 > 1))": a test whose value is known where the cell is
 * inside. */
static bool emit_test(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  ambit__scope plain = *s;
  bool value;

  if (!s->inside || !ambit__expr_is_test(e, s->compares, s->along - 1, &value)) return false;
  plain.inside = NULL;
  ambit__print(t, value ? "(%s | (" : "(!%s & (", s->inside);
  emit(&plain, t, e, ARGUMENT);
  ambit__print(t, "))");
  return true;
}

static bool emit_negated(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__expr *x = negated(s, e);

  if (!x) return false;
  ambit__print(t, "ambit_neg_%s(", ambit__type_suffix(x->type));
  emit_arguments(s, t, x, NULL);
  return true;
}

static bool emit_hoisted(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const int i = s->hoists ? ambit__hoists_find(s->hoists, e) : -1;
  const int k = s->hoists && i < 0 ? ambit__hoists_find_row(s->hoists, e) : -1;

  if (i >= 0) ambit__print(t, "once%d", i);
  if (k >= 0) ambit__print(t, "row%d_%d", k, s->row);
  return i >= 0 || k >= 0;
}

/* `around` is the level of the enclosing operator. */
static void emit(const ambit__scope *s, ambit__text *t, const ambit__expr *e, int around)
{
  if (emit_test(s, t, e) || emit_hoisted(s, t, e)) return;
  if (s->instead && s->instead(s, t, e)) return;
  if (s->narrow && ambit__narrow_print(s->narrow, s, t, e)) return;
  if (emit_negated(s, t, e)) return;
  switch (e->op) {
  case EXPR_CONST: emit_constant(s, t, e->type, e->value, around); break;
  case EXPR_LOCAL: ambit__name_local(s, t, e->index); break;
  case EXPR_VALUE: ambit__print(t, "%s_v", s->rule->params[e->index].name); break;
  case EXPR_READ: s->read(s, t, e); break;
  case EXPR_OUT: name_out(s, t, e->index, e->component); break;
  case EXPR_INDEX: ambit__print(t, "i%d", e->index); break;
  case EXPR_EXTENT: ambit__print(t, "extent%d", e->index); break;
  case EXPR_STEP: ambit__print(t, "%s", s->step); break;
  case EXPR_NORMAL:
    emit_constant(s, t, e->type, (ambit__value){.integer = s->rule->normal[e->index]}, around);
    break;
  case EXPR_TABLE: emit_element(s, t, e, around); break;
  case EXPR_NEG:
  case EXPR_NOT:
  case EXPR_COMPL: emit_unary(s, t, e, around); break;
  case EXPR_COND: emit_cond(s, t, e, around); break;
  case EXPR_CAST: emit_cast(s, t, e, around); break;
  case EXPR_CALL: emit_call(s, t, e); break;
  default: emit_binary(s, t, e, around); break;
  }
}

void ambit__emit_expr(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  emit(s, t, e, ARGUMENT);
}

/* ---- statements ---- */

static const char *local_type(const ambit__scope *s, int local)
{
  const char *narrow = s->narrow ? ambit__narrow_local(s->narrow, local) : NULL;

  return narrow ? narrow : s->dialect->types[s->rule->locals[local].type];
}

static void emit_set(const ambit__scope *s, ambit__writer *w, const ambit__stmt *st)
{
  ambit__line_begin(w);
  if (st->kind == STMT_LOCAL) ambit__print(&w->text, "%s ", local_type(s, st->index));
  if (st->kind == STMT_SET_OUT)
    name_out(s, &w->text, st->index, st->component);
  else
    ambit__name_local(s, &w->text, st->index);
  if (st->value) {
    ambit__print(&w->text, " = ");
    ambit__emit_expr(s, &w->text, st->value);
  } else if (s->flat || s->selects) {
    ambit__print(&w->text, " = 0"); /* a selection copies it, used or not */
  }
  ambit__line_end(w, ";");
  if (s->set && st->kind == STMT_SET_OUT) s->set(s, w, st);
}

static void emit_list(const ambit__scope *s, ambit__writer *w, const ambit__stmt *list, int *line);

static void emit_if(const ambit__scope *s, ambit__writer *w, const ambit__stmt *st, int *line)
{
  ambit__line_begin(w);
  ambit__print(&w->text, "if (");
  ambit__emit_expr(s, &w->text, st->value);
  ambit__line_end(w, ") {");
  w->depth++;
  emit_list(s, w, st->body, line);
  ambit__close(w);
  if (!st->other) return;
  ambit__open(w, "else");
  emit_list(s, w, st->other, line);
  ambit__close(w);
}

/* One line for each variable: a text in which $ stands for its type and @ for its name. */
static void emit_variables(const ambit__scope *s, ambit__writer *w, const ambit__flat_variable *v,
                           int n, const char *text)
{
  for (int i = 0; i < n; i++, v++) {
    const bool is_out = v->kind == STMT_SET_OUT;

    ambit__line_begin(w);
    for (const char *c = text; *c; c++)
      if (*c == '$')
        ambit__print(&w->text, "%s",
                     is_out ? s->dialect->types[s->rule->params[v->index].type]
                            : local_type(s, v->index));
      else if (*c == '@' && is_out)
        name_out(s, &w->text, v->index, v->component);
      else if (*c == '@')
        ambit__name_local(s, &w->text, v->index);
      else
        ambit__print(&w->text, "%c", *c);
    ambit__line_end(w, "");
  }
}

/* Both sides, one after the other from the same values, then a selection for each variable. */
static void emit_flat_if(const ambit__scope *s, ambit__writer *w, const ambit__stmt *st,
                         const ambit__flat_variable *v, int n, int *line)
{
  ambit__line(w, "{");
  w->depth++;
  ambit__line_begin(w);
  ambit__print(&w->text, "const %s is_then = ", s->dialect->types[AMBIT_I32]);
  ambit__emit_expr(s, &w->text, st->value);
  ambit__line_end(w, ";");
  emit_variables(s, w, v, n, "const $ @_old = @;");
  emit_list(s, w, st->body, line);
  if (st->other) {
    emit_variables(s, w, v, n, "const $ @_then = @; @ = @_old;");
    emit_list(s, w, st->other, line);
  }
  emit_variables(s, w, v, n, st->other ? "@ = is_then ? @_then : @;" : "@ = is_then ? @ : @_old;");
  ambit__close(w);
}

static bool becomes_flat(const ambit__scope *s, const ambit__stmt *st)
{
  return s->flat || (s->selects && ambit__side_is_light(NULL, st->body, s->relaxed, s->registers) &&
                     ambit__side_is_light(NULL, st->other, s->relaxed, s->registers));
}

static void emit_list(const ambit__scope *s, ambit__writer *w, const ambit__stmt *list, int *line)
{
  ambit__partials sums = {.n = 0};

  for (const ambit__stmt *st = list; st; st = st->next) {
    ambit__flat_variable v[AMBIT__FLAT_MOST];
    int n;

    if (s->skip && s->skip(s, st)) {
      if (s->narrow) ambit__narrow_pass(s->narrow, st);
      continue;
    }
    if (st->place.line != *line) {
      *line = st->place.line;
      ambit__source_place(w, s->rule->file, *line);
    }
    ambit__partials_close(s, w, &sums, st);
    if (s->partial && ambit__partials_add(s, w, &sums, st)) continue;
    if (st->kind != STMT_IF)
      emit_set(s, w, st);
    else if (becomes_flat(s, st) &&
             (n = ambit__flat_variables(st, s->own_calls, v)) <= AMBIT__FLAT_MOST)
      emit_flat_if(s, w, st, v, n, line);
    else
      emit_if(s, w, st, line);
    if (s->narrow) ambit__narrow_pass(s->narrow, st);
  }
  ambit__partials_close(s, w, &sums, NULL);
}

void ambit__emit_stmts(const ambit__scope *s, ambit__writer *w, const ambit__stmt *list)
{
  int line = -1;

  emit_list(s, w, list, &line);
}

/* ---- reductions ---- */

void ambit__emit_fold(const ambit__dialect *d, ambit__text *t, const ambit__param *q,
                      ambit_type type, const char *a, const char *b)
{
  if (q->reduce == REDUCE_SUM)
    ambit__print(t, "%s += %s", a, b);
  else if (q->reduce == REDUCE_FOLD)
    ambit__print(t, "%s = (%s)%s_fold((%s)%s, (%s)%s)", a, d->types[type], q->name,
                 d->types[q->type], a, d->types[q->type], b);
  else
    ambit__print(t, "%s = ambit_%s_%s(%s, %s)", a,
                 q->reduce == REDUCE_MIN ? "fold_min" : "fold_max", ambit__type_suffix(type), a, b);
}

void ambit__print_fold_name(ambit__text *t, const ambit__param *q, bool join)
{
  if (q->reduce == REDUCE_SUM && ambit__type_is_real(q->type))
    ambit__print(t, "ambit_sum_%s", join ? "join" : "add");
  else if (q->reduce == REDUCE_SUM)
    ambit__print(t, "ambit_add_i64");
  else if (q->reduce == REDUCE_FOLD)
    ambit__print(t, "%s_fold", q->name);
  else
    ambit__print(t, "ambit_fold_%s_%s", q->reduce == REDUCE_MIN ? "min" : "max",
                 ambit__type_suffix(q->type));
}
