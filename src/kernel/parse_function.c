/* SPDX-License-Identifier: BSD-3-Clause */
/* parse_function.c - static functions in front of the kernel. Calls are replaced by their bodies
 * (unroll.c), so a function has one return, its last statement, or if it returns void, none. */
#include "kernel/ast.h"

/* parameter := type name { "[" expr "]" } */
static ambit__line *parse_parameter(ambit__unit *u)
{
  ambit__line *l = ambit__unit_new(u, 1, sizeof *l);

  l->kind = LINE_DECL;
  l->place = ambit__peek(u, 0)->place;
  if (ambit__at_wrong_type(u, 0)) {
    ambit__wrong_type(u, l->place);
    return l;
  }
  if (!ambit__starts_type(ambit__peek(u, 0))) {
    AMBIT_SYNTAX(u, l->place,
                 "the type of a parameter is missing here\na parameter of a function is float x or "
                 "const float a[3]");
    return l;
  }
  l->type = ambit__parse_type(u, &l->is_const);
  l->place = ambit__peek(u, 0)->place;
  if (ambit__at(u, TOKEN_MUL)) {
    AMBIT_SYNTAX(u, l->place,
                 "a function takes values and arrays, no pointers\nread the field in "
                 "the kernel and pass the value: f(*u)");
    return l;
  }
  l->name = ambit__expect_name(u, "the name of a parameter");
  while (!u->panic && ambit__accept(u, TOKEN_LBRACKET)) {
    if (l->naxes == 2 || ambit__at(u, TOKEN_RBRACKET))
      AMBIT_SYNTAX(u, l->place, "an array parameter has one or two sizes: const float a[3][3]");
    else
      l->size[l->naxes++] = ambit__parse_expr(u);
    ambit__expect(u, TOKEN_RBRACKET, "after the size");
  }
  return l;
}

/* parameters := [ "void" | parameter { "," parameter } ] */
static void parse_parameters(ambit__unit *u, ambit__helper *h)
{
  ambit__line **tail = &h->params;

  if (ambit__at(u, TOKEN_word_void) && ambit__peek(u, 1)->kind == TOKEN_RPAREN) ambit__next(u);
  if (ambit__at(u, TOKEN_RPAREN)) return;
  do {
    *tail = parse_parameter(u);
    tail = &(*tail)->next;
    if (++h->nparams > AMBIT_MAX_PARAMS)
      AMBIT_SYNTAX(u, h->place, "a function has at most %d parameters", AMBIT_MAX_PARAMS);
  } while (!u->panic && ambit__accept(u, TOKEN_COMMA));
}

/* The first return that is not the last statement of the function. */
static const ambit__line *early_return(const ambit__line *l, bool is_outermost)
{
  const ambit__line *r = NULL;

  for (; l && !r; l = l->next) {
    if (l->kind == LINE_RETURN && !(is_outermost && !l->next)) return l;
    r = early_return(l->body, false);
    if (!r) r = early_return(l->other, false);
  }
  return r;
}

static void check_returns(ambit__unit *u, const ambit__helper *h)
{
  const ambit__line *last = h->body, *early = early_return(h->body, true);

  while (last && last->next)
    last = last->next;
  if (early)
    AMBIT_WRONG(u, early->place,
                "a return that is not the last statement of '%s'\nuse ?:, or a local that is "
                "assigned under an if and returned at the end",
                h->name->text);
  else if (h->is_void && last && last->kind == LINE_RETURN)
    AMBIT_WRONG(u, last->place, "'%s' returns void\nremove the return", h->name->text);
  else if (!h->is_void && (!last || last->kind != LINE_RETURN))
    AMBIT_WRONG(u, h->place, "the function '%s' does not end in a return", h->name->text);
}

/* Whether constants of the text begin here, not a function. */
static bool at_constants(const ambit__unit *u)
{
  size_t i = 0;
  ambit__token_kind kind = ambit__peek(u, i)->kind;

  if (kind != TOKEN_word_const) return false;
  while (kind != TOKEN_SET && kind != TOKEN_LBRACKET && kind != TOKEN_LPAREN && kind != TOKEN_END)
    kind = ambit__peek(u, ++i)->kind;
  return kind != TOKEN_LPAREN;
}

/* function := "static" [ "inline" ] ( "void" | type ) name "(" parameters ")" block */
static void parse_function(ambit__unit *u, ambit__helper *h)
{
  bool is_const;

  ambit__accept(u, TOKEN_word_inline);
  h->is_library = u->in_library;
  h->is_void = ambit__accept(u, TOKEN_word_void);
  if (!h->is_void && !ambit__starts_type(ambit__peek(u, 0))) {
    AMBIT_SYNTAX(
        u, ambit__peek(u, 0)->place,
        "a static function returns a value or void\nwrite static float f(float x) { return ...; }; "
        "the kernel itself is not static");
    return;
  }
  if (!h->is_void) h->type = ambit__parse_type(u, &is_const);
  h->place = ambit__peek(u, 0)->place;
  h->name = ambit__expect_name(u, "the name of the function");
  if (h->name &&
      (ambit__at(u, TOKEN_SET) || ambit__at(u, TOKEN_LBRACKET) || ambit__at(u, TOKEN_SEMI)))
    AMBIT_SYNTAX(u, h->place,
                 "a text has no variables beside its functions\nconstants can stand there: static "
                 "const float w[3] = {1, 2, 3};");
  if (!h->name || !ambit__expect(u, TOKEN_LPAREN, "after the name of the function")) return;
  parse_parameters(u, h);
  if (!ambit__expect(u, TOKEN_RPAREN, "after the parameters")) return;
  if (!ambit__at(u, TOKEN_LBRACE)) {
    ambit__expect(u, TOKEN_LBRACE, "to begin the function");
    return;
  }
  u->in_helper = true;
  h->body = ambit__parse_block(u)->body;
  u->in_helper = false;
  if (!u->diag.count) check_returns(u, h);
}

/* helper := [ "static" ] declaration | function */
bool ambit__parse_helper(ambit__unit *u)
{
  ambit__helper *h, **tail = &u->helpers;
  const bool is_static = ambit__accept(u, TOKEN_word_static), is_constant = at_constants(u);

  if (!is_static && !is_constant) return false;
  h = ambit__unit_new(u, 1, sizeof *h);
  if (is_constant)
    h->constants = ambit__parse_declaration(u);
  else
    parse_function(u, h);
  while (*tail)
    tail = &(*tail)->next;
  *tail = h;
  return true;
}
