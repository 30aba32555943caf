/* SPDX-License-Identifier: BSD-3-Clause */
/* check_expr.c - types of expressions, as in C, and uses of names.
 *
 * Everything that can be reported before unrolling is reported here, once. A wrong node is marked,
 * and the expressions around it are not reported.
 */
#include "kernel/ast.h"

#include <string.h>

/* Reports an expression, and marks it. */
#define WRONG(u, n, ...) (AMBIT_WRONG(u, (n)->place, __VA_ARGS__), (void)((n)->is_wrong = true))

static bool is_integer(const ambit__syntax *n)
{
  return !ambit__type_is_real(n->type);
}

ambit_type ambit__common_type(ambit_type a, ambit_type b)
{
  a = ambit__type_promoted(a);
  b = ambit__type_promoted(b);
  if (a == AMBIT_F64 || b == AMBIT_F64) return AMBIT_F64;
  if (a == AMBIT_F32 || b == AMBIT_F32) return AMBIT_F32;
  if (ambit__type_bits(a) != ambit__type_bits(b)) return ambit__type_bits(a) == 64 ? a : b;
  return ambit__type_is_unsigned(a) ? a : b; /* as in C, where long has more bits than unsigned */
}

/* ---- names ---- */

static void unknown_name(ambit__unit *u, ambit__syntax *n)
{
  const char *name = n->name->text, *hint;

  n->is_wrong = true;
  if (n->name->is_reported) return;
  n->name->is_reported = true;
  if (ambit__known_call_find(name))
    AMBIT_WRONG(u, n->place, "the function '%s' is used without arguments", name);
  else if (!strcmp(name, "true") || !strcmp(name, "false"))
    AMBIT_WRONG(u, n->place, "unknown name '%s'\nconditions are int: write 1 for true, 0 for false",
                name);
  else
    AMBIT_WRONG(u, n->place, "unknown name '%s'%s", name,
                *(hint = ambit__name_hint(u, name, false)) ? hint : ambit__macro_hint(name));
}

/* Constants of the program come before those of the language. */
static bool find_constant(const ambit__unit *u, ambit__syntax *n)
{
  for (int i = u->rule->ndefines - 1; i >= 0; i--) {
    const ambit__define *d = &u->rule->defines[i];

    if (strcmp(d->name, n->name->text) != 0) continue;
    n->type = d->type;
    n->value = d->value;
    return true;
  }
  return ambit__constant_find(n->name->text, &n->type, &n->value);
}

/* Sets the symbol of an access; false if there is none or the name is a constant. */
static bool resolve(ambit__unit *u, ambit__syntax *n)
{
  n->symbol = n->name->symbol;
  if (!n->symbol) {
    if (!n->nsubs && !n->is_deref && find_constant(u, n)) {
      n->kind = SYNTAX_NUMBER;
      if (u->is_single && n->type == AMBIT_F64) {
        n->value = ambit__value_cast(n->value, AMBIT_F64, AMBIT_F32);
        n->type = AMBIT_F32;
      }
    } else {
      unknown_name(u, n);
    }
    return false;
  }
  if (!n->symbol->is_ready) WRONG(u, n, "'%s' is used in its own initialiser", n->name->text);
  return !n->is_wrong;
}

/* ---- accesses ---- */

static void check_count(ambit__unit *u, ambit__syntax *n, int given)
{
  if (given > AMBIT_MAX_DIMS)
    AMBIT_WRONG(u, n->place, "'%s' has %d subscripts for the cell; a grid has at most %d axes",
                n->name->text, given, AMBIT_MAX_DIMS);
  else if (!u->rule->ndims)
    u->rule->ndims = given, u->ndims_place = n->place;
  else if (u->rule->ndims != given)
    AMBIT_WRONG(u, n->place,
                "'%s' has %d subscript%s for the cell here, but %d at line %d column %d\nall "
                "fields of a kernel are on one grid; write one subscript per axis everywhere",
                n->name->text, given, given == 1 ? "" : "s", u->rule->ndims, u->ndims_place.line,
                u->ndims_place.column);
}

static void check_field(ambit__unit *u, ambit__syntax *n)
{
  const char *f = n->name->text;
  int given = n->nsubs - n->symbol->is_vector;

  if (n->symbol->is_vector && n->nsubs == 0)
    WRONG(u, n, "'%s' has several components\n*%s[0] is the first one at this cell", f, f);
  else if (n->is_deref && given > 0)
    WRONG(u, n,
          "'%s' has a '*' and subscripts\n*%s is the cell itself; a neighbour is %s with one "
          "subscript per axis and no '*'",
          f, f, f);
  else if (!n->is_deref && given == 0 && n->symbol->is_vector)
    WRONG(u, n,
          "a component of '%s' is not a value\nwrite *%s[c] for this cell, or one more "
          "subscript per axis for a neighbour",
          f, f);
  else if (!n->is_deref && given == 0)
    WRONG(u, n, "'%s' is a field, not a value\nwrite *%s for its value at this cell", f, f);
  if (!n->is_deref && !n->is_wrong) check_count(u, n, given);
}

static void check_reduce(ambit__unit *u, ambit__syntax *n)
{
  const bool is_vector = n->symbol->is_vector;
  const char *r = n->name->text, *sub = is_vector ? "[0]" : "";

  if (n->is_deref && n->nsubs == is_vector) return;
  if (n->nsubs > is_vector)
    WRONG(u, n, "the reduction '%s' has no neighbours\nwrite *%s%s", r, r, sub);
  else if (is_vector && !n->nsubs)
    WRONG(u, n, "the reduction '%s' has several values\n*%s[0] is the first one", r, r);
  else
    WRONG(u, n, "'%s' is a reduction, not a value\nwrite *%s%s for its value in this cell", r, r,
          sub);
}

static void check_plain(ambit__unit *u, ambit__syntax *n)
{
  const char *t = n->name->text;
  int wanted = n->symbol->naxes;

  if (n->is_deref)
    WRONG(u, n, "'%s' is a value, not a field\nwrite %s without the '*'", t, t);
  else if (wanted && n->nsubs != wanted)
    WRONG(u, n, "'%s' is %s with %d subscript%s, but has %d here", t,
          n->symbol->kind == SYMBOL_TABLE ? "a table" : "an array", wanted, wanted == 1 ? "" : "s",
          n->nsubs);
  else if (n->nsubs != wanted)
    WRONG(u, n, "'%s' is a single value and has no subscripts", t);
}

static void check_access(ambit__unit *u, ambit__syntax *n)
{
  for (ambit__syntax *s = n->subs; s; s = s->next) {
    ambit__check_expr(u, s);
    if (!s->is_wrong && !is_integer(s))
      WRONG(u, s, "a subscript of '%s' is a %s; it must be an integer", n->name->text,
            ambit_type_name(s->type));
    n->is_wrong |= s->is_wrong;
  }
  if (!resolve(u, n)) return;
  n->type = n->symbol->type;
  switch (n->symbol->kind) {
  case SYMBOL_FUNCTION:
    WRONG(u, n, "the function '%s' is used without arguments", n->name->text);
    break;
  case SYMBOL_FIELD: check_field(u, n); break;
  case SYMBOL_REDUCE: check_reduce(u, n); break;
  default: check_plain(u, n); break;
  }
}

/* ---- operators ---- */

static void no_reals(ambit__unit *u, ambit__syntax *n, const ambit__syntax *operand, const char *op)
{
  WRONG(u, n, "'%s' cannot be applied to a %s\nit takes integers%s", op,
        ambit_type_name(operand->type),
        !strcmp(op, "%") ? "; for real numbers use fmod(x, y)" : "");
}

static void check_unary(ambit__unit *u, ambit__syntax *n)
{
  ambit__check_expr(u, n->a);
  n->is_wrong = n->a->is_wrong;
  if (n->is_wrong) return;
  n->operands = ambit__type_promoted(n->a->type);
  n->type = n->op == EXPR_NOT ? AMBIT_I32 : n->operands;
  if (n->op == EXPR_COMPL && !is_integer(n->a)) no_reals(u, n, n->a, "~");
}

static void check_binary(ambit__unit *u, ambit__syntax *n)
{
  bool is_shift = n->op == EXPR_SHL || n->op == EXPR_SHR;
  bool is_bits = n->op >= EXPR_MOD && n->op <= EXPR_SHR;

  ambit__check_expr(u, n->a);
  ambit__check_expr(u, n->b);
  n->is_wrong = n->a->is_wrong || n->b->is_wrong;
  if (n->is_wrong) return;
  n->operands =
      is_shift ? ambit__type_promoted(n->a->type) : ambit__common_type(n->a->type, n->b->type);
  n->type = n->op >= EXPR_LT ? AMBIT_I32 : n->operands;
  if (is_bits && !(is_integer(n->a) && is_integer(n->b)))
    no_reals(u, n, is_integer(n->a) ? n->b : n->a, ambit__operator_of(n->op)->text);
}

static void check_cond(ambit__unit *u, ambit__syntax *n)
{
  ambit__check_expr(u, n->a);
  ambit__check_expr(u, n->b);
  ambit__check_expr(u, n->c);
  n->is_wrong = n->a->is_wrong || n->b->is_wrong || n->c->is_wrong;
  n->type = n->operands = ambit__common_type(n->b->type, n->c->type);
}

/* ---- calls ---- */

static void unknown_function(ambit__unit *u, const ambit__syntax *n)
{
  const char *name = n->name->text, *macro = ambit__macro_hint(name);

  if (n->name->symbol)
    AMBIT_WRONG(u, n->place, "'%s' is not a function", name);
  else if (!strcmp(name, "min") || !strcmp(name, "max"))
    AMBIT_WRONG(u, n->place,
                "unknown function '%s'\nuse f%sf(x, y) for float, f%s(x, y) for double, x < y ? x "
                ": y for integers",
                name, name, name);
  else
    AMBIT_WRONG(
        u, n->place,
        "unknown function '%s'%s\na kernel may call the functions of <math.h>, abs, labs, "
        "index(axis), extent(axis), step(), normal(axis), outside(offsets), random(seed, n), "
        "uniform, gauss and static functions that stand before it%s%s",
        name, ambit__name_hint(u, name, true), *macro ? "; " : "", *macro ? macro + 1 : "");
}

/* One offset per axis. */
static void check_outside(ambit__unit *u, ambit__syntax *n)
{
  if (n->nsubs)
    check_count(u, n, n->nsubs);
  else
    WRONG(u, n,
          "outside() has no offsets\nit takes one per axis, as the read does that it tests: "
          "outside(-1, 0) for u[-1][0]");
}

/* An array or a table is passed by its name, a row of it with its first subscript. */
static void check_array(ambit__unit *u, ambit__syntax *a, const ambit__line *param)
{
  const ambit__symbol *s = a->kind == SYNTAX_ACCESS && !a->is_deref ? a->name->symbol : NULL;
  const bool is_array = s && (s->kind == SYMBOL_LOCAL || s->kind == SYMBOL_TABLE) && s->is_ready;

  a->symbol = a->name ? a->name->symbol : NULL;
  for (ambit__syntax *i = a->subs; is_array && i; i = i->next) {
    ambit__check_expr(u, i);
    a->is_wrong |= i->is_wrong;
  }
  if (a->is_wrong) return;
  if (!is_array || s->naxes != param->naxes + a->nsubs || s->type != param->type ||
      (a->subs && !is_integer(a->subs)))
    WRONG(u, a,
          "'%s' takes an array here\npass the name of a local array%s of %s with %d "
          "subscript%s%s",
          param->name->text, param->is_const ? " or table" : "", ambit_type_name(param->type),
          param->naxes, param->naxes == 1 ? "" : "s",
          param->naxes == 1 ? ", or a row of one with 2: a[1]" : "");
  else if (!param->is_const && s->is_const)
    WRONG(u, a,
          "'%s' is const, and '%s' fills it\nwrite const before the parameter if the function "
          "only reads it",
          s->name->text, param->name->text);
}

static void check_arguments(ambit__unit *u, ambit__syntax *n, const char *name, int wanted)
{
  if (n->nsubs != wanted)
    WRONG(u, n, "%s takes %d argument%s, but has %d here", name, wanted, wanted == 1 ? "" : "s",
          n->nsubs);
}

static void check_helper_call(ambit__unit *u, ambit__syntax *n)
{
  const ambit__helper *h = n->name->symbol->helper;
  const ambit__line *p;

  if (u->is_single && h->is_library && h->type == AMBIT_F64) h = ambit__library_single(u, h);
  p = h->params;
  n->symbol = h->name->symbol;
  n->type = h->type;
  if (h->is_void && !n->is_statement)
    WRONG(u, n, "'%s' returns no value\ncall it in a statement of its own", h->name->text);
  for (ambit__syntax *a = n->subs; a; a = a->next, p = p ? p->next : NULL) {
    if (p && p->naxes)
      check_array(u, a, p);
    else
      ambit__check_expr(u, a);
    n->is_wrong |= a->is_wrong;
  }
  check_arguments(u, n, h->name->text, h->nparams);
}

static void check_call(ambit__unit *u, ambit__syntax *n)
{
  const ambit__known_call *f = ambit__known_call_find(n->name->text);
  const ambit__symbol *s = n->name->symbol;

  if (n->is_statement && !(s && s->kind == SYMBOL_FUNCTION && s->helper->is_void)) {
    WRONG(u, n,
          "this statement has no effect\na statement assigns: *v = ...; t += "
          "...; or calls a static function that returns void");
    return;
  }
  if (s && s->kind == SYMBOL_FUNCTION) {
    check_helper_call(u, n);
    return;
  }
  for (ambit__syntax *a = n->subs; a; a = a->next) {
    ambit__check_expr(u, a);
    n->is_wrong |= a->is_wrong;
  }
  if (!f) {
    unknown_function(u, n);
    n->is_wrong = true;
    return;
  }
  n->function = f->function;
  n->type = n->operands = u->is_single && f->type == AMBIT_F64 ? AMBIT_F32 : f->type;
  n->is_place = f->is_place;
  for (ambit__syntax *a = n->subs; n->is_place && a; a = a->next) {
    if (!a->is_wrong && !is_integer(a))
      WRONG(u, a, "an argument of %s() is a %s; it must be an integer", f->name,
            ambit_type_name(a->type));
    n->is_wrong |= a->is_wrong;
  }
  if (f->nargs < 0)
    check_outside(u, n);
  else
    check_arguments(u, n, f->name, f->nargs);
}

void ambit__check_expr(ambit__unit *u, ambit__syntax *n)
{
  switch (n->kind) {
  case SYNTAX_NUMBER: break;
  case SYNTAX_ACCESS: check_access(u, n); break;
  case SYNTAX_UNARY: check_unary(u, n); break;
  case SYNTAX_BINARY: check_binary(u, n); break;
  case SYNTAX_COND: check_cond(u, n); break;
  case SYNTAX_CAST:
    ambit__check_expr(u, n->a);
    n->is_wrong = n->a->is_wrong;
    break;
  case SYNTAX_CALL: check_call(u, n); break;
  }
}

/* ---- targets of assignments ---- */

void ambit__check_target(ambit__unit *u, ambit__syntax *n)
{
  const char *name;

  ambit__check_expr(u, n);
  if (n->is_wrong) return;
  if (n->kind != SYNTAX_ACCESS) {
    AMBIT_WRONG(u, n->place,
                "this cannot be assigned to\na statement assigns to a local, to a field at "
                "this cell (*v) or to a reduction (*r)");
    return;
  }
  name = n->name->text;
  n->symbol->is_set = true;
  switch (n->symbol->kind) {
  case SYMBOL_VALUE:
    AMBIT_WRONG(u, n->place,
                "'%s' is a plain parameter and cannot be changed\ncopy it into a local and change "
                "that; a result is a field (%s *v) or a reduction (sum %s *r)",
                name, ambit_type_name(n->type), ambit_type_name(n->type));
    break;
  case SYMBOL_TABLE:
    AMBIT_WRONG(u, n->place,
                "'%s' is a table and cannot be changed\ncopy elements into locals and change those",
                name);
    break;
  case SYMBOL_LOOP:
    AMBIT_WRONG(u, n->place,
                "'%s' is the variable of a for loop and cannot be assigned to\nuse another local",
                name);
    break;
  default:
    if (n->symbol->is_const)
      AMBIT_WRONG(u, n->place,
                  "'%s' is const and cannot be changed\nit was declared at line %d; remove const "
                  "there if it is to be written",
                  name, n->symbol->place.line);
  }
}
