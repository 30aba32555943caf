/* SPDX-License-Identifier: BSD-3-Clause */
/* print.c - a rule as canonical kernel text.
 *
 * The text parses to the same rule again: every conversion is written as a cast, every literal
 * reads back as the same bits, locals have their unique names. Equal texts therefore compute the
 * same, and the text identifies a rule. Parentheses are printed only where precedence requires
 * them.
 */
#include "kernel/ast.h"

#include <inttypes.h>
#include <stdio.h>

enum { RANK_COND = 0, RANK_UNARY = 11 };

typedef struct printer {
  const ambit__rule *rule;
  ambit__text *out;
} printer;

static void print_expr(printer *p, const ambit__expr *e, int rank);

/* u[0][1]; *u if no field of the rule has subscripts. */
static void print_cell(printer *p, const ambit__expr *e)
{
  const ambit__param *q = &p->rule->params[e->index];
  int ndims = q->kind == PARAM_FIELD ? p->rule->ndims : 0;

  ambit__print(p->out, "%s%s", ndims ? "" : "*", q->name);
  if (q->is_vector) ambit__print(p->out, "[%d]", e->component);
  for (int d = 0; d < ndims; d++)
    ambit__print(p->out, "[%d]",
                 e->op == EXPR_READ ? e->offset[d] : ambit__param_target(q, e->component)[d]);
}

static void print_call(printer *p, const ambit__expr *e)
{
  const char *name = ambit__call_name(e->call);

  ambit__print(p->out, "%s%s%s(", e->type == AMBIT_I64 ? "l" : "", name,
               e->type == AMBIT_F32 ? "f" : "");
  print_expr(p, e->a, RANK_COND);
  if (e->b) ambit__print(p->out, ", "), print_expr(p, e->b, RANK_COND);
  if (e->c) ambit__print(p->out, ", "), print_expr(p, e->c, RANK_COND);
  ambit__print(p->out, ")");
}

/* A right operand of the same precedence needs parentheses: a - (b - c). */
static void print_binary(printer *p, const ambit__expr *e, const ambit__operator *o)
{
  print_expr(p, e->a, o->rank);
  ambit__print(p->out, " %s ", o->text);
  print_expr(p, e->b, o->rank + 1);
}

static void print_cond(printer *p, const ambit__expr *e)
{
  print_expr(p, e->a, RANK_COND + 1);
  ambit__print(p->out, " ? ");
  print_expr(p, e->b, RANK_COND);
  ambit__print(p->out, " : ");
  print_expr(p, e->c, RANK_COND);
}

/* Two adjacent signs would be read as one: -(-x). */
static void print_unary(printer *p, const ambit__expr *e)
{
  bool brackets = e->op == EXPR_NEG && e->a->op == EXPR_NEG;

  if (e->op == EXPR_CAST)
    ambit__print(p->out, "(%s)", ambit_type_name(e->type));
  else
    ambit__print(p->out, "%c", e->op == EXPR_NEG ? '-' : e->op == EXPR_NOT ? '!' : '~');
  print_expr(p, e->a, brackets ? RANK_UNARY + 1 : RANK_UNARY);
}

static int rank_of(const ambit__expr *e)
{
  const ambit__operator *o = ambit__operator_of(e->op);

  if (e->is_outside) return RANK_UNARY + 1;
  if (o) return o->rank;
  if (e->op == EXPR_COND) return RANK_COND;
  return e->op == EXPR_NEG || e->op == EXPR_NOT || e->op == EXPR_COMPL || e->op == EXPR_CAST
             ? RANK_UNARY
             : RANK_UNARY + 1;
}

static void print_outside(printer *p, const ambit__expr *e)
{
  int n = p->rule->ndims;

  for (int d = n; d < AMBIT_MAX_DIMS; d++)
    if (e->offset[d]) n = d + 1;
  for (int d = 0; d < n; d++)
    ambit__print(p->out, "%s%d", d ? ", " : "outside(", e->offset[d]);
  ambit__print(p->out, ")");
}

static void print_element(printer *p, const ambit__expr *e)
{
  ambit__print(p->out, "%s[", p->rule->tables[e->index].name);
  print_expr(p, e->a, RANK_COND);
  if (e->b) {
    ambit__print(p->out, "][");
    print_expr(p, e->b, RANK_COND);
  }
  ambit__print(p->out, "]");
}

static void print_plain(printer *p, const ambit__expr *e)
{
  const ambit__operator *o = ambit__operator_of(e->op);

  switch (e->op) {
  case EXPR_CONST: ambit__literal_print(p->out, e->value, e->type); break;
  case EXPR_LOCAL: ambit__print(p->out, "%s", p->rule->locals[e->index].name); break;
  case EXPR_VALUE: ambit__print(p->out, "%s", p->rule->params[e->index].name); break;
  case EXPR_READ:
  case EXPR_OUT: print_cell(p, e); break;
  case EXPR_INDEX: ambit__print(p->out, "index(%d)", e->index); break;
  case EXPR_EXTENT: ambit__print(p->out, "extent(%d)", e->index); break;
  case EXPR_STEP: ambit__print(p->out, "step()"); break;
  case EXPR_NORMAL: ambit__print(p->out, "normal(%d)", e->index); break;
  case EXPR_TABLE: print_element(p, e); break;
  case EXPR_CALL: print_call(p, e); break;
  case EXPR_COND: print_cond(p, e); break;
  default:
    if (o)
      print_binary(p, e, o);
    else
      print_unary(p, e);
  }
}

/* With parentheses if e binds less tightly than `rank`. */
static void print_expr(printer *p, const ambit__expr *e, int rank)
{
  bool brackets = rank_of(e) < rank;

  if (brackets) ambit__print(p->out, "(");
  if (e->is_outside)
    print_outside(p, e);
  else
    print_plain(p, e);
  if (brackets) ambit__print(p->out, ")");
}

static void print_stmts(printer *p, const ambit__stmt *s, int indent)
{
  for (; s; s = s->next) {
    ambit__print(p->out, "%*s", indent, "");
    if (s->kind == STMT_IF) {
      ambit__print(p->out, "if (");
      print_expr(p, s->value, RANK_COND);
      ambit__print(p->out, ") {\n");
      print_stmts(p, s->body, indent + 2);
      if (s->other) ambit__print(p->out, "%*s} else {\n", indent, "");
      print_stmts(p, s->other, indent + 2);
      ambit__print(p->out, "%*s}\n", indent, "");
      continue;
    }
    if (s->kind == STMT_SET_OUT) {
      print_cell(p, &(ambit__expr){.op = EXPR_OUT, .index = s->index, .component = s->component});
    } else {
      const ambit__local *l = &p->rule->locals[s->index];
      bool declares = s->kind == STMT_LOCAL;

      ambit__print(p->out, "%s%s%s", declares ? ambit_type_name(l->type) : "", declares ? " " : "",
                   l->name);
    }
    if (s->value) {
      ambit__print(p->out, " = ");
      print_expr(p, s->value, RANK_COND);
    }
    ambit__print(p->out, ";\n");
  }
}

static void print_param(printer *p, const ambit__param *q)
{
  if (q->kind == PARAM_REDUCE) ambit__print(p->out, "%s", ambit__reduce_name(q->reduce));
  if (q->folder) {
    ambit__print(p->out, "(fold_%d, ", (int)(q - p->rule->params));
    ambit__literal_print(p->out, q->folder->identity, q->type);
    ambit__print(p->out, ")");
  }
  ambit__print(p->out, "%s%s%s %s%s", q->kind == PARAM_REDUCE ? " " : "",
               q->is_const && q->kind == PARAM_FIELD ? "const " : "", ambit_type_name(q->type),
               q->kind == PARAM_VALUE ? "" : "*", q->name);
  if (q->is_vector) ambit__print(p->out, "[%d]", q->components);
  if (!q->bins) return;
  ambit__print(p->out, " /* %s of %d:", ambit__reduce_name(q->reduce), q->bins);
  for (int i = 0; i < q->components / 2; i++) {
    ambit__print(p->out, " ");
    if (q->amounts[i]) ambit__literal_print(p->out, q->amounts[i]->value, q->type);
  }
  ambit__print(p->out, " */");
}

static void print_table(printer *p, const ambit__table *t)
{
  ambit__print(p->out, "table %s %s[%" PRId64 "]", ambit_type_name(t->type), t->name, t->size[0]);
  if (t->naxes == 2) ambit__print(p->out, "[%" PRId64 "]", t->size[1]);
}

/* In the order of the text. */
static void print_params(printer *p)
{
  const ambit__rule *rule = p->rule;

  for (int i = 0, tables = 0; i < rule->nparams + rule->ntables; i++) {
    if (i) ambit__print(p->out, ", ");
    if (tables < rule->ntables && rule->tables[tables].position == i)
      print_table(p, &rule->tables[tables++]);
    else
      print_param(p, &rule->params[i - tables]);
  }
}

/* The values of tables, in a comment. */
static void print_values(printer *p, const ambit__table *t)
{
  if (!t->values) return;
  ambit__print(p->out, "/* %s =", t->name);
  for (int64_t i = 0; i < t->size[0] * t->size[1]; i++) {
    ambit__print(p->out, " ");
    ambit__literal_print(p->out, ambit__table_at(t, i / t->size[1], i % t->size[1]), t->type);
  }
  ambit__print(p->out, " */\n");
}

void ambit__folder_print(const ambit__folder *f, const char *name, ambit__text *t)
{
  ambit__param none = {0}; /* it uses locals only */
  ambit__table no_table = {0};
  ambit__rule rule = {.params = &none, .tables = &no_table, .locals = (ambit__local *)f->locals};
  printer p = {.rule = &rule, .out = t};
  const char *type = ambit_type_name(f->type);

  ambit__print(t, "static %s %s(%s %s, %s %s)\n{\n", type, name, type, f->locals[0].name, type,
               f->locals[1].name);
  print_stmts(&p, f->body, 2);
  ambit__print(t, "  return ");
  print_expr(&p, f->value, RANK_COND);
  ambit__print(t, ";\n}\n");
}

/* The functions of reductions are named by the numbers of their parameters. */
static void print_folders(const ambit__rule *rule, ambit__text *t)
{
  char name[32];

  for (int i = 0; i < rule->nparams; i++) {
    if (!rule->params[i].folder) continue;
    snprintf(name, sizeof name, "fold_%d", i);
    ambit__folder_print(rule->params[i].folder, name, t);
  }
}

char *ambit__rule_print(const ambit__rule *rule)
{
  ambit__text t = {0};
  printer p = {.rule = rule, .out = &t};

  print_folders(rule, &t);
  ambit__print(&t, "void %s(", rule->name);
  print_params(&p);
  ambit__print(&t, ")\n{\n");
  print_stmts(&p, rule->body, 2);
  ambit__print(&t, "}\n");
  for (int i = 0; i < rule->ntables; i++)
    print_values(&p, &rule->tables[i]);
  for (int d = 0; rule->has_normal && d < AMBIT_MAX_DIMS; d++)
    ambit__print(&t, "/* normal(%d) = %d */\n", d, rule->normal[d]);
  return ambit__text_finish(&t);
}
