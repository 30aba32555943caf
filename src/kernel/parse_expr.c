/* SPDX-License-Identifier: BSD-3-Clause */
/* parse_expr.c - expressions.
 *
 * Binary operators are parsed by precedence climbing, so a sum of a thousand terms does not
 * recurse. All recursion passes through parse_unary or '?', which count the nesting.
 */
#include "kernel/ast.h"

static int height(const ambit__syntax *n)
{
  return n ? n->height : 0;
}

static int higher(int a, int b)
{
  return a > b ? a : b;
}

ambit__syntax *ambit__syntax_node(ambit__unit *u, ambit__syntax_kind kind, ambit__place place,
                                  ambit__syntax *a, ambit__syntax *b, ambit__syntax *c)
{
  ambit__syntax *n = ambit__unit_new(u, 1, sizeof *n);

  n->kind = kind;
  n->place = place;
  n->a = a;
  n->b = b;
  n->c = c;
  n->height = 1 + higher(height(a), higher(height(b), height(c)));
  if (n->height <= AMBIT_MAX_EXPR_DEPTH) return n;
  AMBIT_FATAL(u, place,
              "this expression is too long: more than %d operations deep\ncompute parts of it into "
              "locals first",
              AMBIT_MAX_EXPR_DEPTH);
}

/* A placeholder for an expression that could not be parsed, instead of NULL. */
static ambit__syntax *nothing(ambit__unit *u)
{
  return ambit__syntax_node(u, SYNTAX_NUMBER, ambit__peek(u, 0)->place, NULL, NULL, NULL);
}

/* list := expr { "," expr } */
static void parse_arguments(ambit__unit *u, ambit__syntax *n)
{
  ambit__syntax **tail = &n->subs;

  if (!ambit__at(u, TOKEN_RPAREN)) do {
      *tail = ambit__parse_expr(u);
      n->height = higher(n->height, 1 + (*tail)->height);
      tail = &(*tail)->next;
      n->nsubs++;
    } while (!u->panic && ambit__accept(u, TOKEN_COMMA));
  ambit__expect(u, TOKEN_RPAREN, "after the arguments");
}

/* subscripts := { "[" expr "]" } */
static void parse_subscripts(ambit__unit *u, ambit__syntax *n)
{
  ambit__syntax **tail = &n->subs;

  while (!u->panic && ambit__accept(u, TOKEN_LBRACKET)) {
    *tail = ambit__parse_expr(u);
    n->height = higher(n->height, 1 + (*tail)->height);
    tail = &(*tail)->next;
    n->nsubs++;
    ambit__expect(u, TOKEN_RBRACKET, "after the subscript");
  }
}

/* named := name [ "(" list ")" | subscripts ] */
static ambit__syntax *parse_named(ambit__unit *u)
{
  const ambit__token *t = ambit__next(u);
  bool is_call = ambit__at(u, TOKEN_LPAREN);
  ambit__syntax *n =
      ambit__syntax_node(u, is_call ? SYNTAX_CALL : SYNTAX_ACCESS, t->place, NULL, NULL, NULL);

  n->name = t->name;
  if (ambit__accept(u, TOKEN_LPAREN))
    parse_arguments(u, n);
  else
    parse_subscripts(u, n);
  n->place = ambit__span(t->place, ambit__last(u)->place);
  return n;
}

static ambit__syntax *parse_number(ambit__unit *u)
{
  const ambit__token *t = ambit__next(u);
  ambit__syntax *n = ambit__syntax_node(u, SYNTAX_NUMBER, t->place, NULL, NULL, NULL);

  n->type = t->type;
  n->value = t->value;
  return n;
}

/* primary := number | named | "(" expr ")" */
static ambit__syntax *parse_primary(ambit__unit *u)
{
  const ambit__token *t = ambit__peek(u, 0);
  ambit__syntax *n;

  if (t->kind == TOKEN_NUMBER) return parse_number(u);
  if (t->kind == TOKEN_NAME) return parse_named(u);
  if (ambit__accept(u, TOKEN_LPAREN)) {
    n = ambit__parse_expr(u);
    ambit__expect(u, TOKEN_RPAREN, "to close the '('");
    n->place = ambit__span(t->place, ambit__last(u)->place);
    if (n->kind == SYNTAX_ACCESS && !n->is_deref && !n->nsubs) parse_subscripts(u, n); /* (u)[1] */
    return n;
  }
  if (t->kind == TOKEN_END)
    AMBIT_SYNTAX(u, t->place, "the text ends in the middle of an expression");
  else if (t->kind == TOKEN_word_sizeof)
    AMBIT_SYNTAX(u, t->place, "kernels have no sizeof");
  else
    AMBIT_SYNTAX(u, t->place, "a value is missing before %s", ambit__token_text(t->kind));
  return nothing(u);
}

/* "*" in front of u or f[3] denotes the cell itself. */
static ambit__syntax *parse_star(ambit__unit *u)
{
  ambit__place star = ambit__next(u)->place;
  ambit__syntax *n = ambit__parse_unary(u);

  if (n->kind != SYNTAX_ACCESS || n->is_deref)
    AMBIT_SYNTAX(u, star,
                 "'*' before something that is not a field\n*u is the cell itself; a neighbour is "
                 "written with subscripts, u[0][1], not as *(u + 1)");
  n->is_deref = true;
  n->place = ambit__span(star, ambit__last(u)->place);
  return n;
}

/* cast := "(" type ")" unary */
static ambit__syntax *parse_cast(ambit__unit *u)
{
  ambit__place first = ambit__next(u)->place;
  bool is_const;
  ambit_type type = ambit__parse_type(u, &is_const);
  ambit__syntax *a, *n;

  if (ambit__at(u, TOKEN_MUL))
    AMBIT_SYNTAX(u, ambit__peek(u, 0)->place,
                 "a cast to a pointer\nvalues can be cast, fields cannot");
  ambit__expect(u, TOKEN_RPAREN, "after the type of the cast");
  a = ambit__parse_unary(u);
  n = ambit__syntax_node(u, SYNTAX_CAST, ambit__span(first, a->place), a, NULL, NULL);
  n->type = type;
  return n;
}

static ambit__syntax *parse_sign(ambit__unit *u, ambit__op op)
{
  ambit__place first = ambit__next(u)->place;
  ambit__syntax *a = ambit__parse_unary(u);
  ambit__syntax *n =
      ambit__syntax_node(u, SYNTAX_UNARY, ambit__span(first, a->place), a, NULL, NULL);

  n->op = op;
  return n;
}

static ambit__syntax *parse_unary_inner(ambit__unit *u)
{
  const ambit__token *t = ambit__peek(u, 0);

  switch (t->kind) {
  case TOKEN_ADD: return parse_sign(u, EXPR_CAST);
  case TOKEN_SUB: return parse_sign(u, EXPR_NEG);
  case TOKEN_NOT: return parse_sign(u, EXPR_NOT);
  case TOKEN_COMPL: return parse_sign(u, EXPR_COMPL);
  case TOKEN_MUL: return parse_star(u);
  case TOKEN_AND:
    AMBIT_SYNTAX(
        u, t->place,
        "kernels have no addresses\nread a value with *u or u[0][1]; a field cannot be passed on");
    return nothing(u);
  case TOKEN_INC:
  case TOKEN_DEC:
    AMBIT_SYNTAX(u, t->place, "++ or -- inside an expression\nthey are statements of their own");
    return nothing(u);
  case TOKEN_LPAREN:
    if (ambit__starts_type(ambit__peek(u, 1))) return parse_cast(u);
    if (ambit__at_wrong_cast(u)) {
      ambit__wrong_type(u, ambit__peek(u, 1)->place);
      return nothing(u);
    }
    return parse_primary(u);
  default: return parse_primary(u);
  }
}

/* unary := ("+" | "-" | "!" | "~" | "*" | "(" type ")") unary | primary */
ambit__syntax *ambit__parse_unary(ambit__unit *u)
{
  ambit__syntax *n;

  ambit__nest(u);
  n = parse_unary_inner(u);
  u->depth--;
  return n;
}

/* binary := unary { operator unary }, with operators of at least this rank */
static ambit__syntax *parse_binary(ambit__unit *u, int rank)
{
  ambit__syntax *a = ambit__parse_unary(u), *b;
  const ambit__operator *o;

  while (!u->panic && (o = ambit__operator_sign(ambit__peek(u, 0)->kind)) && o->rank >= rank) {
    ambit__next(u);
    b = parse_binary(u, o->rank + 1);
    a = ambit__syntax_node(u, SYNTAX_BINARY, ambit__span(a->place, b->place), a, b, NULL);
    a->op = o->op;
  }
  return a;
}

/* expr := binary [ "?" expr ":" expr ] */
ambit__syntax *ambit__parse_expr(ambit__unit *u)
{
  ambit__syntax *a, *b, *c;

  a = parse_binary(u, 0);
  if (u->panic || !ambit__accept(u, TOKEN_QUESTION)) return a;
  ambit__nest(u);
  b = ambit__parse_expr(u);
  ambit__expect(u, TOKEN_COLON, "after the '?' and its value");
  c = ambit__parse_expr(u);
  u->depth--;
  return ambit__syntax_node(u, SYNTAX_COND, ambit__span(a->place, c->place), a, b, c);
}
