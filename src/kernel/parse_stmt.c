/* SPDX-License-Identifier: BSD-3-Clause */
/* parse_stmt.c - declarations and statements.
 *
 * The grammar production is above each function. A statement that cannot be parsed is reported and
 * skipped, so that one text yields several messages; tokens.c prevents consequential ones.
 */
#include "kernel/ast.h"

static ambit__line *parse_statement(ambit__unit *u);

static ambit__line *new_line(ambit__unit *u, ambit__line_kind kind, ambit__place place)
{
  ambit__line *l = ambit__unit_new(u, 1, sizeof *l);

  l->kind = kind;
  l->place = place;
  return l;
}

/* Skips past the next ';' or block, or up to the '}' that ends the current block. */
static void recover(ambit__unit *u)
{
  int braces = 0;

  u->panic = false;
  while (!ambit__at(u, TOKEN_END)) {
    if (!braces && ambit__at(u, TOKEN_RBRACE)) return;
    switch (ambit__next(u)->kind) {
    case TOKEN_LBRACE: braces++; break;
    case TOKEN_RBRACE: /* unless it is that of a struct: } b; */
      if (!--braces && !(ambit__at(u, TOKEN_NAME) && ambit__peek(u, 1)->kind == TOKEN_SEMI)) return;
      break;
    case TOKEN_SEMI:
      if (!braces) return;
      break;
    default: break;
    }
  }
}

/* ---- declarations ---- */

/* init := expr | "{" [ init { "," init } [ "," ] ] "}" */
static ambit__init *parse_init(ambit__unit *u)
{
  ambit__init *i = ambit__unit_new(u, 1, sizeof *i), **tail = &i->list;

  i->place = ambit__peek(u, 0)->place;
  if (!ambit__accept(u, TOKEN_LBRACE)) {
    i->value = ambit__parse_expr(u);
    return i;
  }
  ambit__nest(u);
  while (!u->panic && !ambit__at(u, TOKEN_RBRACE)) {
    *tail = parse_init(u);
    tail = &(*tail)->next;
    if (!ambit__accept(u, TOKEN_COMMA)) break;
  }
  u->depth--;
  ambit__expect(u, TOKEN_RBRACE, "to end the list");
  return i;
}

/* declarator := name { "[" [ expr ] "]" } [ "=" init ] */
static ambit__line *parse_declarator(ambit__unit *u, ambit_type type, bool is_const)
{
  ambit__line *l = new_line(u, LINE_DECL, ambit__peek(u, 0)->place);

  if (ambit__at(u, TOKEN_MUL)) {
    AMBIT_SYNTAX(u, l->place,
                 "kernels have no local pointers\nuse the parameter itself, or keep a value in a "
                 "local: float t = *u;");
    return l;
  }
  l->type = type;
  l->is_const = is_const;
  l->name = ambit__expect_name(u, "the name of a local");
  while (!u->panic && ambit__accept(u, TOKEN_LBRACKET)) {
    if (l->naxes == 2) {
      AMBIT_SYNTAX(u, l->place, "a local array has one or two subscripts");
      break;
    }
    if (!ambit__at(u, TOKEN_RBRACKET)) l->size[l->naxes] = ambit__parse_expr(u);
    l->naxes++;
    ambit__expect(u, TOKEN_RBRACKET, "after the size");
  }
  if (!u->panic && ambit__accept(u, TOKEN_SET)) l->init = parse_init(u);
  return l;
}

/* declaration := type declarator { "," declarator } ";" */
ambit__line *ambit__parse_declaration(ambit__unit *u)
{
  bool is_const;
  ambit_type type = ambit__parse_type(u, &is_const);
  ambit__line *first = NULL, **tail = &first;

  do {
    *tail = parse_declarator(u, type, is_const);
    tail = &(*tail)->next;
  } while (!u->panic && ambit__accept(u, TOKEN_COMMA));
  if (ambit__at(u, TOKEN_LPAREN))
    AMBIT_SYNTAX(u, ambit__peek(u, 0)->place,
                 "a function declared inside the kernel\nwrite it before the kernel: static float "
                 "f(float x) { return ...; }");
  ambit__expect(u, TOKEN_SEMI, "after the declaration");
  return first;
}

/* ---- statements ---- */

/* body := block | statement, which must not be a declaration */
static ambit__line *parse_body(ambit__unit *u)
{
  ambit__line *l;

  if (ambit__at(u, TOKEN_LBRACE)) return ambit__parse_block(u);
  l = new_line(u, LINE_BLOCK, ambit__peek(u, 0)->place);
  if (ambit__starts_type(ambit__peek(u, 0)))
    AMBIT_SYNTAX(u, l->place, "a declaration directly under an if or for\nput braces around it");
  else
    l->body = parse_statement(u);
  return l;
}

/* if := "if" "(" expr ")" body [ "else" body ] */
static ambit__line *parse_if(ambit__unit *u)
{
  ambit__line *l = new_line(u, LINE_IF, ambit__next(u)->place);

  ambit__expect(u, TOKEN_LPAREN, "after if");
  l->value = ambit__parse_expr(u);
  ambit__expect(u, TOKEN_RPAREN, "after the condition");
  if (u->panic) return l;
  l->body = parse_body(u);
  if (!u->panic && ambit__accept(u, TOKEN_word_else)) l->other = parse_body(u);
  return l;
}

#define LOOP_FORM "the form of a loop is for (int i = 0; i < 9; i++), with constant bounds"

static bool is_variable(const ambit__syntax *n, const ambit__name *name)
{
  return n->kind == SYNTAX_ACCESS && n->name == name && !n->nsubs && !n->is_deref;
}

/* condition := name compare expr | expr compare name */
static void parse_loop_condition(ambit__unit *u, ambit__line *l)
{
  ambit__syntax *n;

  if (ambit__at(u, TOKEN_SEMI)) {
    AMBIT_SYNTAX(u, ambit__peek(u, 0)->place, "this for loop has no condition\n" LOOP_FORM);
    return;
  }
  n = ambit__parse_expr(u);
  if (u->panic) return;
  l->op = n->op;
  if (n->kind == SYNTAX_BINARY && n->op >= EXPR_LT && n->op <= EXPR_NE && n->op != EXPR_EQ) {
    if (is_variable(n->a, l->name)) {
      l->value = n->b;
      return;
    }
    if (is_variable(n->b, l->name)) {
      l->value = n->a;
      l->op = ambit__op_mirrored(n->op);
      return;
    }
  }
  AMBIT_SYNTAX(u, n->place,
               "the condition of the for loop does not compare '%s' with a constant\n" LOOP_FORM,
               l->name->text);
}

/* After `name =`: name + expr or name - expr. */
static void take_step(ambit__unit *u, ambit__line *l, ambit__syntax *n)
{
  if (u->panic) return;
  if (n->kind == SYNTAX_BINARY && (n->op == EXPR_ADD || n->op == EXPR_SUB) &&
      is_variable(n->a, l->name)) {
    l->step = n->b;
    l->is_down = n->op == EXPR_SUB;
    return;
  }
  AMBIT_SYNTAX(u, n->place, "the for loop does not step '%s' by a constant\n" LOOP_FORM,
               l->name->text);
}

/* step := ("++" | "--") name
 *       | name ("++" | "--" | ("+=" | "-=") expr | "=" name ("+" | "-") expr) */
static void parse_loop_step(ambit__unit *u, ambit__line *l)
{
  const ambit__token *t = ambit__next(u);
  bool is_prefix = t->kind == TOKEN_INC || t->kind == TOKEN_DEC;
  ambit__token_kind sign = is_prefix ? t->kind : ambit__peek(u, 0)->kind;
  const ambit__token *name = is_prefix ? ambit__peek(u, 0) : t;

  if (u->panic) return;
  if (name->name != l->name) {
    AMBIT_SYNTAX(u, name->place, "the for loop does not step '%s'\n" LOOP_FORM, l->name->text);
    return;
  }
  ambit__next(u);
  l->is_down = sign == TOKEN_DEC || sign == TOKEN_SUB_SET;
  if (sign == TOKEN_INC || sign == TOKEN_DEC) return;
  if (sign == TOKEN_ADD_SET || sign == TOKEN_SUB_SET)
    l->step = ambit__parse_expr(u);
  else if (sign == TOKEN_SET)
    take_step(u, l, ambit__parse_expr(u));
  else
    AMBIT_SYNTAX(u, ambit__last(u)->place,
                 "the for loop does not step '%s' by a constant\n" LOOP_FORM, l->name->text);
}

/* The header of a loop up to its ")". */
static void parse_loop_header(ambit__unit *u, ambit__line *l)
{
  ambit__init *init = ambit__unit_new(u, 1, sizeof *init);
  bool is_const;

  if (ambit__at_wrong_type(u, 0)) {
    ambit__wrong_type(u, ambit__peek(u, 0)->place);
    return;
  }
  if (!ambit__starts_type(ambit__peek(u, 0))) {
    AMBIT_SYNTAX(u, ambit__peek(u, 0)->place,
                 "this for loop does not declare its variable\n" LOOP_FORM);
    return;
  }
  l->type = ambit__parse_type(u, &is_const);
  l->place = ambit__peek(u, 0)->place;
  l->name = ambit__expect_name(u, "the variable of a loop");
  if (!ambit__expect(u, TOKEN_SET, "after the variable of the for loop")) return;
  init->value = ambit__parse_expr(u);
  l->init = init;
  if (!ambit__expect(u, TOKEN_SEMI, "after the first value of the for loop")) return;
  parse_loop_condition(u, l);
  if (!ambit__expect(u, TOKEN_SEMI, "after the condition of the for loop")) return;
  parse_loop_step(u, l);
  ambit__expect(u, TOKEN_RPAREN, "after the step of the for loop");
}

/* After a mistake in a header: goes on behind its ")", so that its semicolons end no statement. */
static void leave_loop_header(ambit__unit *u)
{
  for (int open = 1; open && !ambit__at(u, TOKEN_LBRACE) && !ambit__at(u, TOKEN_RBRACE);) {
    const ambit__token *t = ambit__next(u);

    if (t->kind == TOKEN_END) return;
    open += (t->kind == TOKEN_LPAREN) - (t->kind == TOKEN_RPAREN);
  }
  u->panic = ambit__at(u, TOKEN_RBRACE);
}

/* for := "for" "(" type name "=" expr ";" condition ";" step ")" body */
static ambit__line *parse_for(ambit__unit *u)
{
  ambit__line *l = new_line(u, LINE_FOR, ambit__next(u)->place);

  if (!ambit__expect(u, TOKEN_LPAREN, "after for")) return l;
  parse_loop_header(u, l);
  if (u->panic) leave_loop_header(u);
  if (!u->panic) l->body = parse_body(u);
  return l;
}

/* return := "return" expr ";" */
static ambit__line *parse_return(ambit__unit *u)
{
  ambit__line *l = new_line(u, LINE_RETURN, ambit__next(u)->place);

  l->value = ambit__parse_expr(u);
  ambit__expect(u, TOKEN_SEMI, "after the value returned");
  return l;
}

/* Advice for statements that kernels do not have. */
static const char *advice_for(ambit__token_kind k)
{
  switch (k) {
  case TOKEN_word_while:
  case TOKEN_word_do: return LOOP_FORM "; to iterate until convergence, use ambit_run_until";
  case TOKEN_word_break:
  case TOKEN_word_continue: return "loops are unrolled; put the rest of the body under an if";
  case TOKEN_word_return:
    return "a kernel ends at its last statement; put the following statements under an else, and "
           "write the result to a field: *v = ...";
  case TOKEN_word_switch:
  case TOKEN_word_case:
  case TOKEN_word_default: return "use if and else";
  case TOKEN_word_goto: return "use if and else";
  case TOKEN_word_else: return "an else must follow the statement or block of an if";
  default: return "a kernel declares only parameters and locals; " AMBIT__TYPES_TEXT;
  }
}

static ambit__syntax *one(ambit__unit *u, ambit__place place)
{
  ambit__syntax *n = ambit__syntax_node(u, SYNTAX_NUMBER, place, NULL, NULL, NULL);

  n->type = AMBIT_I32;
  n->value.integer = 1;
  return n;
}

/* The value assigned by `target op= value`: target op value. */
static ambit__syntax *compound(ambit__unit *u, ambit__op op, ambit__syntax *target,
                               ambit__syntax *value)
{
  const ambit__place place = ambit__span(target->place, value->place);
  ambit__syntax *n = ambit__syntax_node(u, SYNTAX_BINARY, place, target, value, NULL);

  n->op = op;
  return n;
}

/* Whether `real *p = u;` or `real *p;` begins here: a product does not stand on the left. */
static bool at_wrong_pointer(const ambit__unit *u)
{
  const ambit__token_kind behind = ambit__peek(u, 3)->kind;

  return ambit__peek(u, 1)->kind == TOKEN_MUL && ambit__at_wrong_type(u, 0) &&
         (behind == TOKEN_SET || behind == TOKEN_SEMI);
}

static void no_assignment(ambit__unit *u, const ambit__line *l, ambit__token_kind sign)
{
  if (sign == TOKEN_SEMI || ambit__operator_sign(sign) || sign == TOKEN_QUESTION)
    AMBIT_SYNTAX(u, l->place,
                 "this statement has no effect\na statement assigns: *v = ...; t += ...;");
  else if (sign == TOKEN_NAME && l->target->kind == SYNTAX_ACCESS && !l->target->nsubs)
    ambit__wrong_type(u, l->place);
  else
    ambit__expect(u, TOKEN_SET, "in this statement");
}

/* set := ("++" | "--") unary ";" | unary ("++" | "--" | assign expr) ";"
 * call := name "(" [ expr { "," expr } ] ")" ";" */
static ambit__line *parse_set(ambit__unit *u)
{
  ambit__line *l = new_line(u, LINE_SET, ambit__peek(u, 0)->place);
  bool is_prefix = ambit__at(u, TOKEN_INC) || ambit__at(u, TOKEN_DEC);
  ambit__token_kind sign = is_prefix ? ambit__next(u)->kind : TOKEN_END;
  const ambit__operator *o;

  l->target = ambit__parse_unary(u);
  l->place = l->target->place;
  if (u->panic) return l;
  if (!is_prefix) sign = ambit__peek(u, 0)->kind;
  if (sign == TOKEN_SEMI && l->target->kind == SYNTAX_CALL) {
    ambit__next(u);
    l->kind = LINE_CALL;
    l->value = l->target;
    l->value->is_statement = true;
    return l;
  }
  o = ambit__operator_set(sign);
  if (sign != TOKEN_INC && sign != TOKEN_DEC && sign != TOKEN_SET && !o) {
    no_assignment(u, l, sign);
    return l;
  }
  if (!is_prefix) ambit__next(u);
  if (sign == TOKEN_INC || sign == TOKEN_DEC)
    l->value = compound(u, sign == TOKEN_INC ? EXPR_ADD : EXPR_SUB, l->target, one(u, l->place));
  else
    l->value = ambit__parse_expr(u);
  if (o) l->value = compound(u, o->op, l->target, l->value);
  ambit__expect(u, TOKEN_SEMI, "after the statement");
  return l;
}

/* block := "{" { statement } "}" */
ambit__line *ambit__parse_block(ambit__unit *u)
{
  ambit__line *block = new_line(u, LINE_BLOCK, ambit__peek(u, 0)->place), **tail = &block->body;

  ambit__expect(u, TOKEN_LBRACE, "to begin the body");
  while (!ambit__at(u, TOKEN_RBRACE) && !ambit__at(u, TOKEN_END)) {
    size_t before = u->at;

    *tail = parse_statement(u);
    while (*tail)
      tail = &(*tail)->next;
    if (u->panic) recover(u);
    if (u->at == before) ambit__next(u);
  }
  ambit__expect(u, TOKEN_RBRACE, "to end the block");
  return block;
}

static ambit__line *parse_statement_inner(ambit__unit *u)
{
  const ambit__token *t = ambit__peek(u, 0);

  if (t->kind == TOKEN_SEMI) {
    ambit__next(u);
    return NULL;
  }
  if (t->kind == TOKEN_LBRACE) return ambit__parse_block(u);
  if (t->kind == TOKEN_word_if) return parse_if(u);
  if (t->kind == TOKEN_word_for) return parse_for(u);
  if (t->kind == TOKEN_word_return && u->in_helper) return parse_return(u);
  if (ambit__starts_type(t)) return ambit__parse_declaration(u);
  if (t->name && t->kind != TOKEN_NAME && t->kind != TOKEN_word_sizeof) {
    AMBIT_SYNTAX(u, t->place, "'%s' is not allowed in a kernel\n%s", t->name->text,
                 advice_for(t->kind));
    ambit__next(u);
    return NULL;
  }
  if (at_wrong_pointer(u)) {
    ambit__wrong_type(u, t->place);
    return NULL;
  }
  return parse_set(u);
}

/* statement := ";" | block | if | for | declaration | set | call */
static ambit__line *parse_statement(ambit__unit *u)
{
  ambit__line *l;

  ambit__nest(u);
  l = parse_statement_inner(u);
  u->depth--;
  return l;
}
