/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c - the rule for one cell, in the kernel language.
 *
 * Elements of arrays become reads at offsets from the cell, loop variables become index(d),
 * everything else that cells share becomes a number the kernel is given. An array that is updated
 * in place and read at neighbours is read from one field and written to another.
 */
#include "nest.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* By value type: in fields, and as variables of the kernel. */
static const char *const type_names[] = {"float", "double", "int",           "unsigned char",
                                         "short", "long",   "unsigned char", "unsigned char",
                                         "short", "int"};
static const char *const local_names[] = {"float", "double", "int", "unsigned char", "short",
                                          "long",  "int",    "int", "int",           "long"};

static bool print(step *s, ambit__text *t, node *e);

static bool is_real(value_type t)
{
  return t == T_F32 || t == T_F64;
}

/* ---- names and integers ---- */

static bool
    to_real; /* the printed value becomes a float or a double at once: any integer will do */

static const char *value_name(step *s, const char *text, value_type type, const access *element,
                              const node *at)
{
  param *p;

  if (type == T_INTEGER && to_real) type = T_I64;
  if (type >= T_BOOL && type <= T_U32) type = type == T_U32 ? T_I64 : T_I32;
  if (type > T_I64) {
    port_refuse(s->nest, at, port_text("'%s' has a type that kernels do not know", text),
                "int, long, float and double are understood");
    return NULL;
  }
  p = port_step_value(s, text, type, element);
  return p ? p->name : NULL;
}

static bool print_loop(step *s, ambit__text *t, int k, const node *at);

static void note_table(step *s, const symbol *by)
{
  for (int i = 0; i < s->nest->nguards; i++)
    if (s->nest->guards[i].by == by && by) port_step_table(s, &s->nest->guards[i]);
}

/* A polynomial as a long. */
static bool print_poly(step *s, ambit__text *t, poly p, const node *at)
{
  ambit__print(t, "(");
  if (!p.n) ambit__print(t, "0");
  for (int i = 0; i < p.n; i++) {
    const term *m = &p.terms[i];
    const int64_t f = m->factor < 0 ? -m->factor : m->factor;

    ambit__print(t, "%s", i ? (m->factor < 0 ? " - " : " + ") : m->factor < 0 ? "-" : "");
    if (f != 1 || !m->degree) ambit__print(t, "%" PRId64 "%s", f, f > INT32_MAX ? "L" : "");
    for (int a = 0; a < m->degree; a++) {
      const symbol *sym = port_atom_symbol(m->atoms[a]);
      const loop *l = port_nest_loop(s->nest, m->atoms[a]);
      bool is_inner = false;
      const char *name;

      if (a || f != 1) ambit__print(t, " * ");
      for (int k = 0; k < s->nest->ninner; k++)
        is_inner |= s->nest->inner[k].atom == m->atoms[a];
      if (l) {
        if (!print_loop(s, t, (int)(l - s->nest->loops), at)) return false;
      } else if (is_inner) {
        note_table(s, sym);
        ambit__print(t, "%s", port_step_name(s, sym, sym->name));
      } else if (port_guard_of(s->nest, m->atoms[a]))
        return port_refuse(s->nest, at, "a guarded index is used as a number", NULL);
      else {
        name = value_name(s, port_atom_text(m->atoms[a]),
                          sym && sym->type <= T_I64 ? sym->type : T_I64, NULL, at);
        if (!name) return false;
        ambit__print(t, "%s", name);
      }
    }
  }
  ambit__print(t, ")");
  return true;
}

static bool print_loop(step *s, ambit__text *t, int k, const node *at)
{
  for (int d = 0; d < s->naxes; d++)
    if (s->loop_of[d] == k) {
      int64_t x;

      if (port_poly_is_number(s->shift[d], &x) && !x) {
        ambit__print(t, "index(%d)", d);
        return true;
      }
      ambit__print(t, "(index(%d) - ", d);
      if (!print_poly(s, t, s->shift[d], at)) return false;
      ambit__print(t, ")");
      return true;
    }
  return port_refuse(s->nest, at, "a loop variable is used where it has no value", NULL);
}

static bool has_negative(poly p)
{
  for (int i = 0; i < p.n; i++)
    if (p.terms[i].factor < 0) return true;
  return false;
}

static bool print_integer(step *s, ambit__text *t, const node *e)
{
  int64_t x;

  if (port_poly_is_number(*e->poly, &x)) {
    ambit__print(t, x < 0 ? "(%" PRId64 "%s)" : "%" PRId64 "%s", x,
                 x > INT32_MAX || x < INT32_MIN || e->type == T_I64 ? "L" : "");
    return true;
  }
  if ((e->type == T_INTEGER || e->type == T_U32) && has_negative(*e->poly))
    return port_refuse(s->nest, e, "an unsigned number is subtracted from", "use int or long");
  if (e->type != T_I64 && e->type != T_U32 && e->type != T_INTEGER) ambit__print(t, "(int)");
  return print_poly(s, t, *e->poly, e);
}

/* ---- elements ---- */

static bool is_own_cell(const step *s, const poly *offsets)
{
  for (int d = 0; d < s->naxes; d++)
    if (offsets[d].n) return false;
  return true;
}

static const char *own_name(step *s, const param *p)
{
  return port_step_name(s, (const symbol *)p->array, port_text("%s_here", p->name));
}

/* What a sweep carries: the value of an array so many cells before, or a variable of the leaf. */
static const param *carried_param(const step *s, const param *of, int number)
{
  const param *p = s->params;

  while (p->kind != P_CARRIED || p->of != of || p->number != number)
    p++;
  return p;
}

static bool print_place(step *s, ambit__text *t, node *e)
{
  poly offsets[AXES];
  const char *name;
  param *p;

  if (e->access->is_lookup) {
    if (!(p = port_step_lookup(s, e->access))) return false;
    ambit__print(t, "%s", p->name);
    for (int l = 0; l < e->access->nsubs; l++) {
      ambit__print(t, "[(int)(");
      if (!print(s, t, e->access->subs_text[l])) return false;
      ambit__print(t, ")]");
    }
    return true;
  }
  if (e->access->is_table) {
    const symbol *root = e->access->array->root;

    ambit__print(t, "%s", port_step_name(s, root, root->name));
    for (int l = 0; l < e->access->nsubs; l++) {
      ambit__print(t, "[");
      if (!print_poly(s, t, e->access->subs[l], e)) return false;
      ambit__print(t, "]");
    }
    return true;
  }
  if (e->access->is_value) {
    name = value_name(s, port_access_text(e->access), e->type, e->access, e);
    if (!name) return false;
    ambit__print(t, "%s", name);
    return true;
  }
  p = port_step_param(s, e->access, offsets);
  if (!p) return false;
  if (e->access->carrier == s) {
    ambit__print(t, "*%s", carried_param(s, p, e->access->carried)->name);
    return true;
  }
  if (is_own_cell(s, offsets)) {
    if (p->kind == P_UPDATE)
      ambit__print(t, "%s", own_name(s, p));
    else
      ambit__print(t, "*%s", p->name);
    return true;
  }
  ambit__print(t, "%s", p->name);
  for (int d = 0; d < s->naxes; d++) {
    int64_t x;

    ambit__print(t, "[");
    if (port_poly_is_number(offsets[d], &x))
      ambit__print(t, "%" PRId64, x);
    else if (!print_poly(s, t, offsets[d], e))
      return false;
    ambit__print(t, "]");
  }
  return true;
}

/* The value of an element, from the type that its field has. */
static bool print_element(step *s, ambit__text *t, node *e)
{
  static const char *const before[] = {"", "((", "(", "((long)"};
  static const char *const after[] = {"", " ^ 128) - 128)", " & 65535)", " & 4294967295L)"};
  const bool is_kept = e->type >= T_BOOL && e->type <= T_U32 && !e->access->is_value;

  if (is_kept && e->access->is_table)
    return port_refuse(s->nest, e, "a table of a type that kernels do not know", NULL);
  ambit__print(t, "%s", is_kept ? before[e->type - T_BOOL] : "");
  if (!print_place(s, t, e)) return false;
  ambit__print(t, "%s", is_kept ? after[e->type - T_BOOL] : "");
  return true;
}

/* ---- expressions ---- */

/* An expression, converted to a type that the kernel language has not. */
static bool print_as(step *s, ambit__text *t, node *e, value_type to)
{
  static const char *const before[] = {"(", "((((int)", "((int)", "((long)"};
  static const char *const after[] = {" != 0)", " + 128) & 255) - 128)", " & 65535)",
                                      " & 4294967295L)"};
  const bool is_other = to >= T_BOOL && to <= T_U32 && e->type != to;

  ambit__print(t, "%s", is_other ? before[to - T_BOOL] : "");
  if (!print(s, t, e)) return false;
  ambit__print(t, "%s", is_other ? after[to - T_BOOL] : "");
  return true;
}

static bool print_args(step *s, ambit__text *t, node *list)
{
  for (node *k = list; k; k = k->next) {
    if (!print(s, t, k)) return false;
    if (k->next) ambit__print(t, ", ");
  }
  return true;
}

static bool print_name(step *s, ambit__text *t, node *e)
{
  const bool is_local = port_nest_is_local(s->nest, e->sym);
  const node *number = is_local ? NULL : port_constant(s->nest->unit, e->sym);
  const char *name = is_local ? port_step_name(s, e->sym, e->sym->name)
                     : number ? port_text(number->text[0] == '-' ? "(%s)" : "%s", number->text)
                              : value_name(s, e->sym->name, e->type, NULL, e);

  if (!name) return false;
  ambit__print(t, "%s", name);
  return true;
}

/* An operand; of an operation on real numbers if `real` is set. */
static bool operand(step *s, ambit__text *t, node *e, bool real)
{
  const bool before = to_real;
  bool ok;

  to_real = real && (e->kind == N_NAME || e->access);
  ok = print(s, t, e);
  to_real = before;
  return ok;
}

/* Whether an operation is one on unsigned int: its own type, or, of a comparison, that of its
 * operands. */
static bool is_unsigned(const node *e)
{
  if (e->type == T_U32) return true;
  return e->kind == N_BINARY && strchr("<>=!", e->op[0]) && strcmp(e->op, "<<") &&
         strcmp(e->op, ">>") && (e->a->type == T_U32 || e->b->type == T_U32) &&
         !is_real(e->a->type) && !is_real(e->b->type) && e->a->type != T_I64 && e->b->type != T_I64;
}

/* unsigned int is computed as long, and cut to 32 bits. */
static bool print_unsigned(step *s, ambit__text *t, node *e)
{
  const bool is_shift = e->kind == N_BINARY && (!strcmp(e->op, "<<") || !strcmp(e->op, ">>"));

  ambit__print(t, "((");
  if (e->kind == N_COND) {
    if (!print(s, t, e->a)) return false;
    ambit__print(t, " ? ");
    if (!print_as(s, t, e->b, T_U32)) return false;
    ambit__print(t, " : ");
    if (!print_as(s, t, e->c, T_U32)) return false;
  } else if (e->kind == N_UNARY) {
    ambit__print(t, "%s", e->op);
    if (!print_as(s, t, e->a, T_U32)) return false;
  } else {
    if (!print_as(s, t, e->a, T_U32)) return false;
    ambit__print(t, " %s ", e->op);
    if (!(is_shift ? print(s, t, e->b) : print_as(s, t, e->b, T_U32))) return false;
  }
  ambit__print(t, e->type == T_U32 ? ") & 4294967295L)" : "))");
  return true;
}

static bool print_operator(step *s, ambit__text *t, node *e)
{
  const bool real = is_real(e->type);

  if (e->type == T_INTEGER)
    return port_refuse(s->nest, e, "an operation on unsigned long numbers",
                       "int, long, unsigned int, float and double are understood");
  if (is_unsigned(e)) return print_unsigned(s, t, e);
  ambit__print(t, "(");
  if (e->kind == N_UNARY) {
    ambit__print(t, "%s", e->op);
    if (!operand(s, t, e->a, real)) return false;
  } else if (e->kind == N_COND) {
    if (!operand(s, t, e->a, false)) return false;
    ambit__print(t, " ? ");
    if (!operand(s, t, e->b, real)) return false;
    ambit__print(t, " : ");
    if (!operand(s, t, e->c, real)) return false;
  } else {
    if (!operand(s, t, e->a, real)) return false;
    ambit__print(t, " %s ", e->op);
    if (!operand(s, t, e->b, real)) return false;
  }
  ambit__print(t, ")");
  return true;
}

static bool print(step *s, ambit__text *t, node *e)
{
  if (e->poly) return print_integer(s, t, e);
  if (e->access) return print_element(s, t, e);
  switch (e->kind) {
  case N_NUMBER: ambit__print(t, "%s", e->text); return true;
  case N_NAME: return print_name(s, t, e);
  case N_BINARY:
  case N_COND:
  case N_UNARY: return print_operator(s, t, e);
  case N_CAST:
    if (e->type > T_U32)
      return port_refuse(s->nest, e, "a cast to a type that kernels do not know", NULL);
    if (e->type >= T_BOOL) return print_as(s, t, e->a, e->type);
    ambit__print(t, "(%s)", type_names[e->type]);
    return operand(s, t, e->a, is_real(e->type));
  case N_CALL:
    ambit__print(t, "%s(", e->text);
    if (!print_args(s, t, e->list)) return false;
    ambit__print(t, ")");
    return true;
  case N_INDEX: /* a table of the kernel */
    if (!print(s, t, e->a)) return false;
    ambit__print(t, "[");
    if (!print(s, t, e->b)) return false;
    ambit__print(t, "]");
    return true;
  case N_LIST:
    ambit__print(t, "{");
    if (!print_args(s, t, e->list)) return false;
    ambit__print(t, "}");
    return true;
  default: return port_refuse(s->nest, e, "this expression is not understood", NULL);
  }
}

/* ---- statements ---- */

static bool writes_here(const step *s, const access *a)
{
  for (int i = 0; i < s->nwrites; i++)
    if (s->writes[i] == a) return true;
  return false;
}

static void indent(ambit__text *t, int depth)
{
  ambit__print(t, "%*s", 2 * depth, "");
}

static bool print_reduction(step *s, ambit__text *t, node *e)
{
  const value_type type = e->c ? T_I32
                          : e->a->sym->type == T_U32 || e->a->sym->type == T_INTEGER
                              ? T_I64
                              : e->a->sym->type;
  param want = {.type = type, .reduction = e}, *p = NULL;

  if (type > T_I64)
    return port_refuse(s->nest, e, "a reduction of a type that kernels do not know", NULL);
  want.kind = !strcmp(e->text, "sum") ? P_SUM : !strcmp(e->text, "min") ? P_MIN : P_MAX;
  if (want.kind == P_SUM && is_real(type) && !s->nest->sum_any) {
    want.kind = P_TERM;
    want.type = type == T_F64 || e->b->type == T_F64 ? T_F64 : T_F32;
  }
  for (int i = 0; i < s->nparams && !p; i++)
    if (s->params[i].reduction && port_same_reduction(s->params[i].reduction, e)) p = &s->params[i];
  if (want.kind == P_TERM && s->nest->is_untiled)
    return port_refuse(s->nest, e, port_text("'%s' is added to tile by tile", e->a->sym->name),
                       "sum(any) frees the order of the sum");
  if (p && p->kind == P_TERM)
    return port_refuse(s->nest, e, port_text("'%s' is added to twice in one cell", e->a->sym->name),
                       "sum(any) frees the order of the sum");
  if (!p) {
    if (s->nparams == AMBIT_MAX_PARAMS)
      return port_refuse(s->nest, e, "there are too many numbers", NULL);
    want.name = port_step_name(s, NULL, e->a->sym->is_place ? "result" : e->a->sym->name);
    p = &s->params[s->nparams++];
    *p = want;
  }
  if (p->kind == P_SUM || p->kind == P_TERM) {
    ambit__print(t, "*%s %s ", p->name, p->kind == P_SUM ? "+=" : "=");
    if (!print(s, t, e->b)) return false;
  } else {
    ambit__print(t, "if (");
    if (!print(s, t, e->b)) return false;
    ambit__print(t, " %s *%s) *%s = ", p->kind == P_MAX ? ">" : "<", p->name, p->name);
    if (!print(s, t, e->b)) return false;
  }
  ambit__print(t, ";\n");
  return true;
}

static bool print_assignment(step *s, ambit__text *t, node *e, int depth)
{
  if (e->a->access && !writes_here(s, e->a->access)) return true;
  if (e->text && !s->has_reductions) return true;
  indent(t, depth);
  if (e->text) return print_reduction(s, t, e);
  if (!(e->a->access ? print_place(s, t, e->a) : print(s, t, e->a))) return false;
  if (e->a->type >= T_BOOL && e->a->type <= T_U32 && strcmp(e->op, "=")) { /* c += x: c = c + x */
    node *whole = port_node(N_BINARY, e);

    whole->op = port_text("%.*s", (int)strlen(e->op) - 1, e->op);
    whole->a = e->a;
    whole->b = e->b;
    whole->type = is_real(e->b->type) || e->b->type == T_I64   ? e->b->type
                  : e->a->type == T_U32 || e->b->type == T_U32 ? T_U32
                                                               : T_I32;
    ambit__print(t, " = ");
    if (!print_as(s, t, whole, e->a->type)) return false;
  } else {
    ambit__print(t, " %s ", e->op);
    if (!print_as(s, t, e->b, e->a->type)) return false;
  }
  ambit__print(t, ";\n");
  return true;
}

static bool print_declaration(step *s, ambit__text *t, node *d, int depth)
{
  CXType type = d->sym->ctype;
  int64_t sizes[2] = {0, 0};
  int n = 0;

  while (port_type_of(type) == T_ARRAY) {
    if (n == 2 || type.kind != CXType_ConstantArray)
      return port_refuse(s->nest, d,
                         port_text("the array '%s' of the nest is not understood", d->sym->name),
                         NULL);
    sizes[n++] = clang_getArraySize(type);
    type = clang_getCanonicalType(clang_getArrayElementType(type));
  }
  if (port_type_of(type) > T_U32)
    return port_refuse(s->nest, d,
                       port_text("'%s' has a type that kernels do not know", d->sym->name), NULL);
  indent(t, depth);
  if (d->a && n && clang_isConstQualifiedType(d->sym->ctype)) ambit__print(t, "const ");
  ambit__print(t, "%s %s", local_names[port_type_of(type)],
               port_step_name(s, d->sym, d->sym->name));
  for (int i = 0; i < n; i++)
    ambit__print(t, "[%" PRId64 "]", sizes[i]);
  if (d->a) {
    ambit__print(t, " = ");
    if (!(n ? print(s, t, d->a) : print_as(s, t, d->a, d->sym->type))) return false;
  }
  ambit__print(t, ";\n");
  return true;
}

/* Whether the cell is not the first of its line, along the axis of the sweep. */
static bool print_not_first(step *s, ambit__text *t)
{
  const int d = s->sweep - 1;
  const loop *l = &s->nest->loops[s->loop_of[d]];
  const poly first = l->is_down ? port_poly_sub(l->hi, port_poly_number(1)) : l->lo;

  ambit__print(t, "index(%d) != ", d);
  return print_poly(s, t, port_poly_add(first, s->shift[d]), l->node);
}

/* Variables that a line carries get the value that the cell before left. */
static bool print_carried(step *s, ambit__text *t, int depth)
{
  for (int i = 0; i < s->leaf->ncarried; i++) {
    const symbol *sym = s->leaf->carried[i];

    indent(t, depth);
    ambit__print(t, "if (");
    if (!print_not_first(s, t)) return false;
    ambit__print(t, ") %s = *%s;\n", port_step_name(s, sym, sym->name),
                 carried_param(s, NULL, i)->name);
  }
  return true;
}

/* ... and leave theirs. */
static void print_left(step *s, ambit__text *t)
{
  for (int i = 0; i < s->nparams; i++) {
    const param *p = &s->params[i];

    for (int k = p->carry; k > 0; k--)
      ambit__print(t, "  *%s = %s%s;\n", carried_param(s, p, k)->name,
                   k == 1 && p->kind == P_UPDATE ? "" : "*",
                   k > 1                 ? carried_param(s, p, k - 1)->name
                   : p->kind == P_UPDATE ? own_name(s, p)
                                         : p->name);
  }
  for (int i = 0; i < s->leaf->ncarried; i++) {
    const symbol *sym = s->leaf->carried[i];

    ambit__print(t, "  *%s = %s;\n", carried_param(s, NULL, i)->name,
                 port_step_name(s, sym, sym->name));
  }
}

static bool print_statements(step *s, ambit__text *t, node *list, int depth)
{
  for (node *k = list; k; k = k->next) {
    if (k == s->leaf->own && !print_carried(s, t, depth)) return false;
    switch (k->kind) {
    case S_DECL:
      if (!print_declaration(s, t, k->list, depth)) return false;
      break;
    case S_EXPR:
      if (!print_assignment(s, t, k->a, depth)) return false;
      break;
    case S_IF:
      indent(t, depth);
      ambit__print(t, "if (");
      if (!print(s, t, k->a)) return false;
      ambit__print(t, ") {\n");
      if (!print_statements(s, t, k->b->list, depth + 1)) return false;
      if (k->c) {
        indent(t, depth);
        ambit__print(t, "} else {\n");
        if (!print_statements(s, t, k->c->list, depth + 1)) return false;
      }
      indent(t, depth);
      ambit__print(t, "}\n");
      break;
    case S_FOR: {
      const char *name = port_step_name(s, k->sym, k->sym->name);

      indent(t, depth);
      ambit__print(t, "for (int %s = %s; %s < %s; %s += %" PRId64 ") {\n", name, k->a->text, name,
                   k->b->text, name, k->value);
      if (!print_statements(s, t, k->d->list, depth + 1)) return false;
      indent(t, depth);
      ambit__print(t, "}\n");
      break;
    }
    default: return port_refuse(s->nest, k, "this statement is not understood", NULL);
    }
  }
  return true;
}

/* ---- variables that are assigned but not declared in the nest ---- */

typedef struct declared {
  step *step;
  ambit__text *text;
  const symbol *done[64];
  int n;
  bool ok;
} declared;

static bool is_declared(node *e, void *user)
{
  return e->kind == N_DECL && e->sym == user;
}

static bool declare_outer(node *e, void *user)
{
  declared *d = user;
  symbol *sym;

  if (e->kind != N_ASSIGN || e->text || e->a->kind != N_NAME || e->a->poly) return true;
  sym = e->a->sym;
  for (int i = 0; i < d->n; i++)
    if (d->done[i] == sym) return true;
  if (d->n == 64 || port_find(d->step->leaf->body, is_declared, sym)) return true;
  d->done[d->n++] = sym;
  if (sym->type > T_U32)
    return d->ok =
               port_refuse(d->step->nest, e,
                           port_text("'%s' has a type that kernels do not know", sym->name), NULL);
  ambit__print(d->text, "  %s %s;\n", local_names[sym->type],
               port_step_name(d->step, sym, sym->name));
  return true;
}

/* Constant tables of the program that the kernel uses. */
static bool declare_tables(node *e, void *user)
{
  declared *d = user;
  symbol *sym;
  node decl = {.kind = N_DECL};

  if (!e->access || !e->access->is_table || e->access->is_lookup || !d->ok) return true;
  sym = e->access->array->root;
  for (int i = 0; i < d->n; i++)
    if (d->done[i] == sym) return true;
  if (d->n == 64) return true;
  d->done[d->n++] = sym;
  decl.sym = sym;
  decl.a = sym->init;
  d->ok = print_declaration(d->step, d->text, &decl, 1);
  return true;
}

/* ---- the text ---- */

static bool gather_params(node *e, void *user)
{
  step *s = user;
  poly offsets[AXES];

  if (e->kind == N_ASSIGN && e->a->access && !writes_here(s, e->a->access)) return false;
  if (e->kind == N_ASSIGN && e->text && !s->has_reductions) return false;
  if (e->access && !e->access->is_value && !e->access->is_table)
    port_step_param(s, e->access, offsets);
  return !port_is_leaf_access(e);
}

static void print_param(ambit__text *t, const param *p, bool is_last)
{
  static const char *const kinds[] = {"const ", "",     "const ", "",       "", "sum ",
                                      "min ",   "max ", "",       "table ", ""};

  ambit__print(t, "%s%s %s%s", kinds[p->kind], type_names[p->type],
               p->kind == P_VALUE || p->kind == P_TABLE ? "" : "*", p->name);
  for (int l = 0; p->kind == P_TABLE && l < p->like->nsubs; l++) {
    const int64_t n = port_table_extent(p->like, l);

    ambit__print(t, n ? "[%" PRId64 "]" : "[PORT_%" PRId64 "]", n ? n : p->low[0]);
  }
  if (p->kind == P_UPDATE) ambit__print(t, ", %s *%s_new", type_names[p->type], p->name);
  if (!is_last) ambit__print(t, ", ");
}

/* A term that a condition may leave out is -0: adding it changes nothing. */
static void print_start(step *s, ambit__text *t)
{
  for (int i = 0; i < s->ntables; i++)
    ambit__print(t, "  const int %s = PORT_%d;\n",
                 port_step_name(s, s->tables[i]->by, s->tables[i]->by->name), i);
  for (int i = 0; i < s->nparams; i++) {
    const param *p = &s->params[i];

    if (p->kind == P_UPDATE)
      ambit__print(t, "  %s %s = *%s;\n", type_names[p->type], own_name(s, p), p->name);
    if (p->kind == P_TERM)
      ambit__print(t, "  *%s = -0.0%s;\n", p->name, p->type == T_F32 ? "f" : "");
  }
}

/* Loops that count by more than one: the cells between are left alone. */
static bool print_steps(step *s, ambit__text *t, const node *at, bool *is_open)
{
  for (int d = 0; d < s->naxes; d++) {
    const loop *l = s->loop_of[d] < 0 ? NULL : &s->nest->loops[s->loop_of[d]];

    if (!l || l->step == 1) continue;
    if (l->is_down)
      return port_refuse(s->nest, l->node, "the loop counts down by more than one", NULL);
    ambit__print(t, "%s(index(%d) - ", *is_open ? " && " : "  if (", d);
    if (!print_poly(s, t, port_poly_add(l->lo, s->shift[d]), at)) return false;
    ambit__print(t, ") %% %" PRId64 " == 0", l->step);
    *is_open = true;
  }
  if (*is_open) ambit__print(t, ") {\n");
  return true;
}

static bool print_kernel(step *s, const char **out)
{
  ambit__text body = {0}, text = {0}, start = {0};
  declared d = {.step = s, .text = &body, .ok = true};
  bool ok, is_open = false;
  char *chars;

  port_walk(s->leaf->body, declare_tables, &d);
  port_walk(s->leaf->body, declare_outer, &d);
  ok = d.ok && print_steps(s, &body, s->nest->node, &is_open) &&
       print_statements(s, &body, s->leaf->body->list, 1 + is_open);
  if (is_open) ambit__print(&body, "  }\n");
  for (int i = 0; i < s->nparams; i++)
    if (s->params[i].kind == P_UPDATE)
      ambit__print(&body, "  *%s_new = %s;\n", s->params[i].name, own_name(s, &s->params[i]));
  print_left(s, &body);
  print_start(s, &start);
  ambit__print(&text, "void %s(", s->name);
  for (int i = 0; i < s->nparams; i++)
    print_param(&text, &s->params[i], i + 1 == s->nparams);
  ambit__print(&text, ")\n{\n%s%s}", start.chars ? start.chars : "", body.chars ? body.chars : "");
  chars = ambit__text_finish(&text);
  *out = port_text("%s", chars ? chars : "");
  free(chars);
  ambit__text_free(&body);
  ambit__text_free(&start);
  return ok && !s->nest->why;
}

/* Parameters for the values that a sweep carries. */
static bool add_carried(step *s)
{
  const int n = s->nparams;

  for (int i = 0; i < n + s->leaf->ncarried; i++) {
    const param *of = i < n ? &s->params[i] : NULL;
    const symbol *sym = of ? NULL : s->leaf->carried[i - n];
    const char *name = port_text("%s_before", of ? of->name : sym->name);

    for (int k = of ? of->carry : 1; k > 0; k--) {
      if (s->nparams == AMBIT_MAX_PARAMS)
        return port_refuse(s->nest, s->nest->node, "there are too many numbers", NULL);
      name = port_step_name(s, NULL, name);
      s->params[s->nparams++] = (param){.kind = P_CARRIED,
                                        .type = of ? of->type : sym->type,
                                        .of = of,
                                        .number = of ? k : i - n,
                                        .name = name};
    }
  }
  return true;
}

static bool is_transposed(const step *s)
{
  for (int i = 0; i < s->nparams; i++)
    for (int d = 1, last = -1; d <= s->naxes && s->params[i].array; d++) {
      const int axis = s->params[i].axis_of[d - 1];

      if (axis >= 0 && axis < last) return true;
      if (axis >= 0) last = axis;
    }
  return false;
}

bool port_kernel(step *s)
{
  bool updates[AMBIT_MAX_PARAMS] = {false}, any = false;

  port_walk(s->leaf->body, gather_params, s);
  if (s->nest->why || !add_carried(s)) return false;
  if (s->sweep && is_transposed(s)) {
    port_sweeps.are_transposed = true;
    return port_refuse(s->nest, s->nest->node, "a sweep uses arrays along other axes", NULL);
  }
  for (int i = 0; i < s->nparams; i++)
    any |= updates[i] = s->params[i].kind == P_WRITE && s->params[i].reads_written;
  if (any && !s->sweep && !s->has_reductions && port_is_one_colour(s->nest, s) &&
      !print_kernel(s, &s->in_place))
    return false;
  for (int i = 0; i < AMBIT_MAX_PARAMS; i++)
    if (updates[i]) s->params[i].kind = P_UPDATE;
  if (s->ntables) s->in_place = NULL; /* its text is not complete */
  if (!s->sweep) port_find_copies(s);
  return print_kernel(s, &s->text);
}
