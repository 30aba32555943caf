/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c - the text of a random kernel.
 *
 * There are two kinds of kernels. Free kernels use all language features whose result is defined to
 * the last bit. Smooth kernels stay within [-1, 1] and depend smoothly on their inputs: no
 * condition depends on a real number, and none is converted to an integer, so different rounding
 * changes little.
 */
#include "program.h"

#include <stdarg.h>
#include <string.h>

enum { MOST_LOCALS = 8, MOST_READS = 12 };

typedef struct maker {
  dice *d;
  const program_plan *p;
  kernel_plan *k;
  size_t length; /* of the text so far */
  int nlocals;
  ambit_type locals[MOST_LOCALS];
  double bounds[MOST_LOCALS]; /* smooth: bound of their values */
  int reads;                  /* of neighbours so far */
  bool calls;                 /* the function f of two real numbers stands before the kernel */
} maker;

static void say(maker *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void real_expr(maker *m, int depth);
static void int_expr(maker *m, int depth);

static void say(maker *m, const char *fmt, ...)
{
  va_list ap;
  int n;

  va_start(ap, fmt);
  n = vsnprintf(m->k->text + m->length, TEXT_SIZE - m->length, fmt, ap);
  va_end(ap);
  if (n > 0) m->length += (size_t)n;
  if (m->length >= TEXT_SIZE) m->length = TEXT_SIZE - 1;
}

static const char *type_name(ambit_type t)
{
  return ambit_type_name(t);
}

/* ---- leaves ---- */

/* Whether the kernel gives all values of the third field of a wave, and reads none of them. */
static bool is_wave(const maker *m)
{
  return m->p->is_waving && m->k == m->p->kernels;
}

/* A parameter with one of the roles, real or not; -1: none. */
static int pick_param(maker *m, bool fields, bool real)
{
  int found[MOST_PARAMS], n = 0;

  for (int i = 0; i < m->k->nparams; i++) {
    const param_plan *q = &m->k->params[i];
    bool out = q->role == ROLE_OUT && !is_wave(m);
    bool fits = fields ? q->role == ROLE_IN || out : q->role == ROLE_VALUE;

    if (fits && is_real(q->type) == real) found[n++] = i;
  }
  return n ? found[dice_below(m->d, n)] : -1;
}

static int pick_local(maker *m, bool real)
{
  int found[MOST_LOCALS], n = 0;

  for (int i = 0; i < m->nlocals; i++)
    if (is_real(m->locals[i]) == real) found[n++] = i;
  return n ? found[dice_below(m->d, n)] : -1;
}

static bool can_read_around(const maker *m, const param_plan *q)
{
  return q->role == ROLE_IN && q->field >= 0 && !q->is_near && m->k->radius &&
         m->reads < MOST_READS;
}

static int offset(maker *m)
{
  int r = m->k->radius;

  if (dice_chance(m->d, 2)) return dice_between(m->d, -3 * r, 3 * r);
  return dice_chance(m->d, 50) ? 0 : dice_between(m->d, -r, r);
}

/* "*p0", "p0[1][0]", "*p0[2]", "p0[2][1][0]". */
static void read_field(maker *m, int param)
{
  const param_plan *q = &m->k->params[param];
  bool inward = q->inward_axis >= 0 && dice_chance(m->d, 60);
  bool around = can_read_around(m, q) && dice_chance(m->d, 80);

  if (!around && !inward) say(m, "*");
  say(m, "p%d", param);
  if (q->components > 1) say(m, "[%d]", dice_below(m->d, q->components));
  m->reads += around;
  for (int d = 0; (around || inward) && d < m->p->ndims; d++)
    say(m, "[%d]", around ? offset(m) : d == q->inward_axis ? q->inward : 0);
}

static void real_literal(maker *m)
{
  static const char *const some[] = {"0.5f", "0.25", "1.0f", "2.0",   "-1.5f", "0.1f",
                                     "0.3",  "1e-3", "3.0f", "-0.0f", "0.0",   "7.25"};
  static const char *const wild[] = {"1e30f",   "1e-40",  "INFINITY",  "1e300", "FLT_MAX", "NAN",
                                     "FLT_MIN", "1e-42f", "-INFINITY", "-0.0",  "-1e-310"};

  if (m->p->is_wild && dice_chance(m->d, 8))
    say(m, "%s", wild[dice_below(m->d, 11)]);
  else
    say(m, "%s", some[dice_below(m->d, 12)]);
}

/* w[1][2], or a look-up; constant subscripts must be in range. */
static void element(maker *m)
{
  static const int sizes[] = {TABLE_ROWS, TABLE_COLUMNS};

  say(m, "w");
  for (int i = 0; i < 2; i++) {
    say(m, "[");
    if (dice_chance(m->d, 50))
      say(m, "%d", dice_below(m->d, sizes[i]));
    else {
      say(m, "0 * step() + ");
      int_expr(m, 1);
    }
    say(m, "]");
  }
}

static bool wants_element(maker *m, bool real)
{
  return m->k->has_table && is_real(m->k->table_type) == real && dice_chance(m->d, 20);
}

/* A number of the generator: its own seed, since fields of one program draw independently. */
static void draw(maker *m, const char *function)
{
  say(m, "%s(%d, %d)", function, dice_below(m->d, 9), dice_below(m->d, 6));
}

static void real_draw(maker *m)
{
  static const char *const functions[] = {"uniformf", "uniform", "gaussf", "gauss"};

  draw(m, functions[dice_below(m->d, m->p->is_smooth ? 2 : 4)]);
}

static void real_leaf(maker *m)
{
  int param = pick_param(m, true, true), value = pick_param(m, false, true);
  int local = pick_local(m, true);

  if (m->p->is_new && dice_chance(m->d, 10))
    real_draw(m);
  else if (wants_element(m, true))
    element(m);
  else if (param >= 0 && dice_chance(m->d, 65))
    read_field(m, param);
  else if (local >= 0 && dice_chance(m->d, 50))
    say(m, "t%d", local);
  else if (value >= 0 && dice_chance(m->d, 50))
    say(m, "p%d", value);
  else
    real_literal(m);
}

static void place_leaf(maker *m)
{
  int axis = dice_below(m->d, m->p->ndims);

  if (m->k->runs_once || dice_chance(m->d, 20))
    say(m, "step()");
  else
    say(m, "%s(%d)", dice_chance(m->d, 70) ? "index" : "extent", axis);
}

static void outside(maker *m)
{
  for (int d = 0; d < m->p->ndims; d++)
    say(m, "%s%d", d ? ", " : "outside(", dice_between(m->d, -2, 2));
  say(m, ")");
}

static void int_leaf(maker *m)
{
  static const char *const some[] = {"0", "1", "2", "3", "-1", "7", "10L", "255", "0x10", "100"};
  static const char *const ends[] = {"INT_MAX", "INT_MIN", "(-9223372036854775807L)",
                                     "(-9223372036854775807L - 1)"};
  int param = pick_param(m, true, false), value = pick_param(m, false, false);
  static const char *const news[] = {"7u", "0xffffffffu", "3uL", "0x8000000000000000uL"};
  int local = pick_local(m, false);

  if (m->p->is_new && dice_chance(m->d, 10))
    draw(m, "random");
  else if (m->p->is_new && dice_chance(m->d, 10))
    say(m, "%s", news[dice_below(m->d, 4)]);
  else if (wants_element(m, false))
    element(m);
  else if (param >= 0 && dice_chance(m->d, 55))
    read_field(m, param);
  else if (local >= 0 && dice_chance(m->d, 50))
    say(m, "t%d", local);
  else if (value >= 0 && dice_chance(m->d, 50))
    say(m, "p%d", value);
  else if (dice_chance(m->d, 35))
    place_leaf(m);
  else if (!m->k->runs_once && dice_chance(m->d, 10))
    outside(m);
  else if (m->p->is_wild && dice_chance(m->d, 8))
    say(m, "%s", ends[dice_below(m->d, 4)]);
  else
    say(m, "%s", some[dice_below(m->d, 10)]);
}

/* ---- free expressions ---- */

static void pair(maker *m, void (*expr)(maker *, int), int depth, const char *op)
{
  say(m, "(");
  expr(m, depth - 1);
  say(m, " %s ", op);
  expr(m, depth - 1);
  say(m, ")");
}

static void choice(maker *m, void (*expr)(maker *, int), int depth)
{
  say(m, "(");
  int_expr(m, depth - 1);
  say(m, " ? ");
  expr(m, depth - 1);
  say(m, " : ");
  expr(m, depth - 1);
  say(m, ")");
}

/* A static function of two real numbers; if smooth, bounded by the sum of their magnitudes. */
static void function(maker *m)
{
  const char *t = dice_chance(m->d, 50) ? "float" : "double";

  say(m, "static %s f(%s a, %s b)\n{\n", t, dice_chance(m->d, 50) ? "float" : "double", t);
  if (m->p->is_smooth)
    say(m, "  %s c = a - 0.5f * b;\n  return c / (1.5f + fabsf(b));\n}\n", t);
  else
    say(m,
        "  b = %s * b;\n  const %s w[2] = {2, %s};\n  %s c = a > b ? w[0] : w[1] * a;\n"
        "  return c - b;\n}\n",
        dice_chance(m->d, 50) ? "a" : "0.5f", t, dice_chance(m->d, 50) ? "a" : "3", t);
}

static void real_call(maker *m, int depth)
{
  static const char *const one[] = {"fabs", "sqrt", "floor", "ceil", "trunc", "rint"};
  const char *f = dice_chance(m->d, 50) ? "f" : "";

  if (m->calls && dice_chance(m->d, 50)) {
    say(m, "f(");
    real_expr(m, depth - 1);
    say(m, ", ");
    real_expr(m, depth - 1);
  } else if (dice_chance(m->d, 50)) {
    say(m, "%s%s(", one[dice_below(m->d, 6)], f);
    real_expr(m, depth - 1);
  } else {
    say(m, "%s%s(", dice_chance(m->d, 50) ? "fmin" : "fmax", f);
    real_expr(m, depth - 1);
    say(m, ", ");
    real_expr(m, depth - 1);
  }
  say(m, ")");
}

static void real_expr(maker *m, int depth)
{
  static const char *const ops[] = {"+", "-", "*", "/", "+", "-"};

  if (depth <= 0) {
    real_leaf(m);
    return;
  }
  switch (dice_below(m->d, 12)) {
  case 0: real_call(m, depth); break;
  case 1: choice(m, real_expr, depth); break;
  case 2:
    if (!m->p->is_smooth && dice_chance(m->d, 20)) {
      say(m, dice_chance(m->d, 60) ? "(half)" : "(bfloat)");
      real_leaf(m);
      break;
    }
    say(m, "(%s)", dice_chance(m->d, 50) ? "float" : "double");
    int_expr(m, depth - 1);
    break;
  case 3:
    say(m, "(- ");
    real_expr(m, depth - 1);
    say(m, ")");
    break;
  case 4: real_call(m, depth); break;
  case 5: real_leaf(m); break;
  default: pair(m, real_expr, depth, ops[dice_below(m->d, 6)]); break;
  }
}

static void int_unary(maker *m, int depth)
{
  static const char *const ops[] = {"-", "~", "!", "(short)", "(unsigned char)", "(long)", "(int)"};
  static const char *const news[] = {"(unsigned short)", "(unsigned)", "(unsigned long)"};

  if (dice_chance(m->d, 15)) {
    say(m, "%s(", dice_chance(m->d, 50) ? "abs" : "labs");
    int_expr(m, depth - 1);
    say(m, ")");
    return;
  }
  say(m, "(%s ",
      m->p->is_new && dice_chance(m->d, 40) ? news[dice_below(m->d, 3)] : ops[dice_below(m->d, 7)]);
  int_expr(m, depth - 1);
  say(m, ")");
}

static void int_from_real(maker *m, int depth)
{
  static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
  static const char *const casts[] = {"(int)",          "(short)",          "(unsigned char)",
                                      "(long)",         "(unsigned short)", "(unsigned)",
                                      "(unsigned long)"};

  if (dice_chance(m->d, 60)) {
    pair(m, real_expr, depth, compare[dice_below(m->d, 6)]);
    return;
  }
  say(m, "%s(", casts[dice_below(m->d, m->p->is_new ? 7 : 4)]);
  real_expr(m, depth - 1);
  say(m, ")");
}

static void int_expr(maker *m, int depth)
{
  static const char *const ops[] = {"+",  "-",  "*", "/",  "%",  "&",  "|",  "^",
                                    "<<", ">>", "<", "<=", "==", "!=", "&&", "||"};

  if (depth <= 0) {
    int_leaf(m);
    return;
  }
  switch (dice_below(m->d, 10)) {
  case 0: choice(m, int_expr, depth); break;
  case 1: int_unary(m, depth); break;
  case 2:
  case 3:
    if (m->p->is_smooth)
      int_leaf(m);
    else
      int_from_real(m, depth);
    break;
  case 4: int_leaf(m); break;
  default: pair(m, int_expr, depth, ops[dice_below(m->d, dice_chance(m->d, 60) ? 3 : 16)]); break;
  }
}

/* ---- smooth expressions: each returns a bound of its magnitude ---- */

static double smooth_expr(maker *m, int depth);

static double smooth_leaf(maker *m)
{
  int local = pick_local(m, true);

  if (local >= 0 && dice_chance(m->d, 25)) {
    say(m, "t%d", local);
    return m->bounds[local];
  }
  if (dice_chance(m->d, 10)) {
    say(m, "(float)(");
    int_expr(m, 1);
    say(m, " %% 4)");
    return 3;
  }
  if (pick_param(m, true, true) >= 0) {
    read_field(m, pick_param(m, true, true));
    return 1;
  }
  say(m, "0.75f");
  return 0.75;
}

static double smooth_expr(maker *m, int depth)
{
  double a, b;

  if (depth <= 0) return smooth_leaf(m);
  if (m->calls && dice_chance(m->d, 20)) {
    say(m, "f(");
    a = smooth_expr(m, depth - 1);
    say(m, ", ");
    b = smooth_expr(m, depth - 1);
    say(m, ")");
    return a + b;
  }
  switch (dice_below(m->d, 6)) {
  case 0:
    say(m, "sqrt(1.0 + fabs(");
    a = smooth_expr(m, depth - 1);
    say(m, "))");
    return 1 + a;
  case 1:
    say(m, "(");
    a = smooth_expr(m, depth - 1);
    say(m, " / (1.5f + fabsf(");
    smooth_expr(m, depth - 1);
    say(m, ")))");
    return a;
  case 2:
    say(m, "(");
    a = smooth_expr(m, depth - 1);
    say(m, " * ");
    b = smooth_expr(m, depth - 1);
    say(m, ")");
    return a * b;
  default:
    say(m, "(");
    a = smooth_expr(m, depth - 1);
    say(m, dice_chance(m->d, 50) ? " + " : " - ");
    b = smooth_expr(m, depth - 1);
    say(m, ")");
    return a + b;
  }
}

/* ---- statements ---- */

/* A value for an object of this type, usually not too large. */
static void value_for(maker *m, ambit_type type, int depth)
{
  int kind = dice_below(m->d, 10);

  if (!is_real(type)) {
    if (!m->p->is_smooth && dice_chance(m->d, 30))
      real_expr(m, depth);
    else
      int_expr(m, depth);
  } else if (m->p->is_smooth) {
    double bound;

    say(m, "(");
    bound = smooth_expr(m, depth);
    say(m, ") * %#.9g%s", 1 / (bound > 1 ? bound : 1), type == AMBIT_F64 ? "" : "f");
  } else if (kind < 6) {
    say(m, type == AMBIT_F64 ? "fmin(100.0, fmax(-100.0, " : "fminf(100.0f, fmaxf(-100.0f, ");
    real_expr(m, depth);
    say(m, "))");
  } else if (kind < 9) {
    say(m, "0.125f * ");
    real_expr(m, depth);
  } else {
    real_expr(m, depth);
  }
}

static void local(maker *m)
{
  static const ambit_type types[] = {AMBIT_F32, AMBIT_F64, AMBIT_I32, AMBIT_I64,
                                     AMBIT_I16, AMBIT_U8,  AMBIT_F16, AMBIT_BF16};
  static const ambit_type news[] = {AMBIT_U16, AMBIT_U32, AMBIT_U64};
  const bool is_new = m->p->is_new && dice_chance(m->d, 30);
  ambit_type type =
      is_new ? news[dice_below(m->d, 3)] : types[dice_below(m->d, m->p->is_smooth ? 6 : 8)];

  if (m->nlocals == MOST_LOCALS) return;
  say(m, "  %s t%d = ", type_name(type), m->nlocals);
  value_for(m, type, 2);
  say(m, ";\n");
  m->bounds[m->nlocals] = 1;
  m->locals[m->nlocals++] = type;
}

/* A weighted sum along one axis, by a loop over a constant array. */
static void weighted_sum(maker *m)
{
  int param = pick_param(m, true, true), axis = dice_below(m->d, m->p->ndims), t = m->nlocals;
  const param_plan *q = param >= 0 ? &m->k->params[param] : NULL;
  int r = m->k->radius;

  if (!q || t == MOST_LOCALS || m->k->runs_once || !can_read_around(m, q)) return;
  say(m, "  const float w%d[] = {", t);
  for (int i = -r; i <= r; i++)
    say(m, "%s%.3ff", i > -r ? ", " : "", dice_between(m->d, -100, 100) / 400.0);
  say(m, "};\n  %s t%d = 0;\n  for (int i = -%d; i <= %d; i++)\n    t%d += w%d[i + %d] * p%d",
      type_name(q->type), t, r, r, t, t, r, param);
  if (q->components > 1) say(m, "[%d]", dice_below(m->d, q->components));
  for (int d = 0; d < m->p->ndims; d++)
    say(m, d == axis ? "[i]" : "[0]");
  say(m, ";\n");
  m->reads += 2 * r + 1;
  m->bounds[t] = r > 1 ? 0.25 * (2 * r + 1) : 1;
  m->locals[m->nlocals++] = q->type;
}

static void set_local(maker *m)
{
  int t = dice_below(m->d, m->nlocals);

  say(m, "t%d = ", t);
  value_for(m, m->locals[t], 1);
  say(m, ";");
}

static void condition(maker *m, int depth);

/* An assignment, perhaps after another condition. */
static void branch(maker *m, int depth)
{
  say(m, "{\n");
  if (depth > 0 && dice_chance(m->d, 25)) condition(m, depth - 1);
  say(m, "    ");
  set_local(m);
  say(m, "\n  }");
}

static void condition(maker *m, int depth)
{
  say(m, "  if (");
  int_expr(m, 2);
  say(m, ") ");
  branch(m, depth);
  if (dice_chance(m->d, 60)) {
    say(m, " else ");
    branch(m, depth);
  }
  say(m, "\n");
}

/* A condition that is not constant, since an output that is never written is rejected. */
static void when(maker *m)
{
  say(m, "if (step() %% 3 != (");
  int_expr(m, 1);
  say(m, ") %% 3) ");
}

static void target(maker *m, int param, int component)
{
  say(m, "*p%d", param);
  if (m->k->params[param].components > 1) say(m, "[%d]", component);
}

static void set_output(maker *m, int param, int component)
{
  ambit_type type = m->k->params[param].type;

  say(m, "  ");
  if (!is_wave(m) && dice_chance(m->d, 15)) when(m);
  target(m, param, component);
  if (!is_wave(m) && dice_chance(m->d, 15) && !(m->p->is_smooth && is_real(type))) {
    say(m, " %s ", dice_chance(m->d, 50) ? "+=" : "-=");
    value_for(m, type, 1);
  } else {
    say(m, " = ");
    value_for(m, type, 3);
  }
  say(m, ";\n");
}

/* A reduction and, for a sum of real numbers, the sum of their magnitudes, which is the next
 * parameter. */
static void reduce(maker *m, int param)
{
  const param_plan *q = &m->k->params[param];
  bool has_size = q->role == ROLE_SUM && is_real(q->type);

  say(m, "  ");
  if (dice_chance(m->d, 20)) when(m);
  say(m, "*p%d = ", param);
  value_for(m, q->type, 2);
  say(m, ";\n");
  if (has_size) say(m, "  *p%d = fabs((double)*p%d);\n", param + 1, param);
}

/* The function g of a reduction by a function, and its identity: the same in any order, NaN or not.
 */
static const char *folder(maker *m, int param)
{
  static const char *const ops[] = {"a ^ b", "a | b", "a * b", "a > b ? a : b"};
  const ambit_type type = m->k->params[param].type;
  const char *t = type_name(type), *f = type == AMBIT_F32 ? "f" : "";
  const int op = dice_below(m->d, 4);

  say(m, "static %s g%d(%s a, %s b)\n{\n", t, param, t, t);
  if (is_real(type) && op < 2)
    say(m, "  a = fabs%s(a);\n  return fmax%s(a, fabs%s(b));\n}\n", f, f, f);
  else if (is_real(type))
    say(m, "  %s c = a;\n  if (b < a || b != b) c = b;\n  return a != a ? a : c;\n}\n", t);
  else
    say(m, "  return %s;\n}\n", ops[op]);
  if (is_real(type)) return op < 2 ? "0" : "INFINITY";
  return op == 2 ? "1" : op == 3 && !is_unsigned(type) ? "-32768" : "0";
}

static void head(maker *m, int number)
{
  static const char *const words[] = {"const ", "", "", "sum ", "min ", "max ", ""};
  const char *identity[MOST_PARAMS] = {NULL};

  for (int i = 0; i < m->k->nparams; i++)
    if (m->k->params[i].role == ROLE_FOLD) identity[i] = folder(m, i);
  say(m, "void k%d(", number);
  for (int i = 0; i < m->k->nparams; i++) {
    const param_plan *q = &m->k->params[i];

    say(m, i ? ", " : "");
    if (identity[i]) say(m, "fold(g%d, %s) ", i, identity[i]);
    say(m, "%s%s %sp%d", words[q->role], type_name(q->type), q->role == ROLE_VALUE ? "" : "*", i);
    if (q->components > 1) say(m, "[%d]", q->components);
  }
  if (m->k->has_table)
    say(m, ", table %s w[%d][%d]", type_name(m->k->table_type), TABLE_ROWS, TABLE_COLUMNS);
  say(m, ")\n{\n");
}

static void results(maker *m)
{
  for (int i = 0; i < m->k->nparams; i++) {
    const param_plan *q = &m->k->params[i];
    int must = dice_below(m->d, q->components);

    for (int c = 0; q->role == ROLE_OUT && c < q->components; c++)
      if (c == must || is_wave(m) || dice_chance(m->d, 70)) set_output(m, i, c);
    if (q->role >= ROLE_SUM) {
      reduce(m, i);
      i += q->role == ROLE_SUM && is_real(q->type);
    }
  }
}

/* p0[1][0][-1] of component 1: one cell off along some axis, and perhaps two along another one. */
static void near_cell(maker *m)
{
  const int axis = dice_below(m->d, m->p->ndims), offset = dice_chance(m->d, 50) ? 1 : -1;
  const int far = m->p->is_coloured && dice_chance(m->d, 30) ? dice_below(m->d, m->p->ndims) : -1;

  say(m, "p0");
  if (m->k->params[0].components > 1) say(m, "[%d]", dice_below(m->d, m->k->params[0].components));
  for (int i = 0; i < m->p->ndims; i++)
    say(m, "[%d]", (i == axis) * offset + (i == far) * 2);
}

void rule_write_coloured(dice *d, const program_plan *p, int k)
{
  maker m = {.d = d, .p = p, .k = (kernel_plan *)&p->kernels[k]};
  const param_plan *q = &m.k->params[0];

  head(&m, k);
  say(&m, "  if ((%s", dice_chance(d, 50) ? "step()" : "1L");
  for (int i = 0; i < p->ndims; i++)
    say(&m, " + index(%d)", i);
  say(&m, ") %% 2 == %d", dice_below(d, 2));
  if (m.k->nparams > 1) say(&m, m.k->params[1].components > 1 ? " && *p1[0] > 0" : " && *p1 > 0");
  say(&m, ") {\n    *p0");
  if (q->components > 1) say(&m, "[%d]", dice_below(d, q->components));
  say(&m, " = %s(", is_real(q->type) ? "0.5f * " : "");
  near_cell(&m);
  say(&m, " - ");
  near_cell(&m);
  say(&m, ");\n  }\n}\n");
}

/* "0, -1" or "[0][-1]" */
static void offsets(maker *m, const int *offset, bool brackets)
{
  for (int i = 0; i < m->p->ndims; i++)
    say(m, brackets ? "[%d]" : i ? ", %d" : "%d", offset[i]);
}

/* p0[1][0][-1]: component c where it is stored. */
static void neighbour(maker *m, int c, const int *offset)
{
  say(m, "p0");
  if (m->k->params[0].components > 1) say(m, "[%d]", c);
  offsets(m, offset, true);
}

void rule_write_spread(dice *d, const program_plan *p, int k, bool tests)
{
  maker m = {.d = d, .p = p, .k = (kernel_plan *)&p->kernels[k]};
  const param_plan *q = &m.k->params[0];
  int offset[AMBIT_MAX_DIMS];

  head(&m, k);
  for (int pass = 0; pass < 2; pass++) {
    dice same = {.state = (uint64_t)k + 77 * p->seed / VARIANTS}; /* the same offsets */

    for (int c = 0; c < q->components; c++) {
      for (int i = 0; i < p->ndims; i++)
        offset[i] =
            dice_chance(&same, 10) ? dice_between(&same, -4, 4) : dice_between(&same, -1, 1);
      say(&m, pass ? "  if (1" : "  %s h%d = ", type_name(q->type), c);
      if (tests) say(&m, pass ? " && !outside(" : "outside("), offsets(&m, offset, false);
      if (tests) say(&m, pass ? ")" : ") ? 1 : ");
      if (pass && dice_chance(d, 40)) say(&m, " && h%d > 0", dice_below(d, q->components));
      if (pass) say(&m, ") ");
      neighbour(&m, c, offset);
      if (pass)
        say(&m, " = %s(h%d - h%d / 2)", is_real(q->type) ? "0.5f * " : "",
            dice_below(d, q->components), dice_below(d, q->components));
      say(&m, ";\n");
    }
  }
  say(&m, "}\n");
}

void rule_write(dice *d, const program_plan *p, int k)
{
  maker m = {.d = d, .p = p, .k = (kernel_plan *)&p->kernels[k]};

  m.calls = dice_chance(d, 25);
  if (m.calls) function(&m);
  head(&m, k);
  for (int i = dice_below(d, 3); i > 0; i--)
    local(&m);
  if (dice_chance(d, 40)) weighted_sum(&m);
  for (int i = dice_below(d, 3); m.nlocals && i > 0; i--)
    condition(&m, 2);
  results(&m);
  say(&m, "}\n");
}
