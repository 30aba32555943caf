/* SPDX-License-Identifier: BSD-3-Clause */
/* parse.c - kernels and their parameters. The grammar production is above each function. */
#include "kernel/ast.h"

#include <string.h>

/* fold := "fold" "(" name "," expr ")"
 * A name and a bracket begin no other parameter. */
static void parse_fold(ambit__unit *u, ambit__head *h)
{
  const ambit__token *t = ambit__next(u);

  if (strcmp(t->name->text, "fold") != 0) {
    AMBIT_SYNTAX(u, t->place,
                 "'%s' is not a reduction\na reduction by a function f with the identity 0 is "
                 "fold(f, 0) float *r",
                 t->name->text);
    return;
  }
  ambit__next(u);
  h->reduce = REDUCE_FOLD;
  h->function_place = ambit__peek(u, 0)->place;
  h->function = ambit__expect_name(u, "the name of the function that folds two values");
  if (!h->function || !ambit__expect(u, TOKEN_COMMA, "before the identity: fold(f, 0) float *r"))
    return;
  h->identity = ambit__parse_expr(u);
  ambit__expect(u, TOKEN_RPAREN, "after the identity");
}

/* reduce := "sum" | "min" | "max" | fold
 * The words are special only before a type. */
static bool parse_reduce(ambit__unit *u, ambit__head *h)
{
  const ambit__token *t = ambit__peek(u, 0);

  if (t->kind != TOKEN_NAME) return false;
  if (ambit__peek(u, 1)->kind == TOKEN_LPAREN) {
    parse_fold(u, h);
    return true;
  }
  for (int i = REDUCE_SUM; i <= REDUCE_MAX; i++)
    if (!strcmp(t->name->text, ambit__reduce_name((ambit__reduce)i)) &&
        (ambit__starts_type(ambit__peek(u, 1)) || ambit__at_wrong_type(u, 1))) {
      ambit__next(u);
      h->reduce = (ambit__reduce)i;
      return true;
    }
  if (!ambit__starts_type(ambit__peek(u, 1)) || ambit__at_wrong_type(u, 0)) return false;
  ambit__next(u);
  AMBIT_SYNTAX(u, t->place,
               "'%s' is not a reduction\na reduction is sum, min or max: sum float *r; one by a "
               "function f with the identity 0 is fold(f, 0) float *r",
               t->name->text);
  return true;
}

static int parse_stars(ambit__unit *u)
{
  int stars = 0;

  while (ambit__accept(u, TOKEN_MUL))
    for (stars++; ambit__accept(u, TOKEN_word_const) || ambit__accept(u, TOKEN_word_restrict);)
      ;
  return stars;
}

static void check_head(ambit__unit *u, const ambit__head *h, bool is_reduce, int stars)
{
  const char *t = ambit_type_name(h->type), *n = h->name->text;

  if (stars > 1)
    AMBIT_SYNTAX(u, h->place,
                 "'%s' is a pointer to a pointer\na field is %s *%s; a field of several "
                 "components is %s *%s[3]",
                 n, t, n, t, n);
  else if (ambit__type_is_half(h->type) && (is_reduce || !stars))
    AMBIT_SYNTAX(u, h->place,
                 "'%s' is a %s\n%s is how fields are stored, and a type of locals; a %s is float: "
                 "%sfloat %s%s",
                 n, t, t, is_reduce ? "reduction" : "plain value", is_reduce ? "sum " : "",
                 is_reduce ? "*" : "", n);
  else if (is_reduce && !stars)
    AMBIT_SYNTAX(u, h->place, "the reduction '%s' is not a pointer\nwrite sum %s *%s", n, t, n);
  else if (is_reduce && h->is_const)
    AMBIT_SYNTAX(u, h->place, "the reduction '%s' is const\na reduction must be written", n);
  else if (!stars && h->is_vector)
    AMBIT_SYNTAX(u, h->place,
                 "'%s' is an array of plain values\na field of several components is %s *%s[3]; "
                 "numbers that are the same for all cells are a table: table %s %s[3]",
                 n, t, n, t, n);
}

/* "table" is special only before a type. */
static bool at_table(const ambit__unit *u)
{
  const ambit__token *t = ambit__peek(u, 0);

  return t->kind == TOKEN_NAME && !strcmp(t->name->text, "table") &&
         (ambit__starts_type(ambit__peek(u, 1)) || ambit__at_wrong_type(u, 1));
}

/* table := "table" type name "[" expr "]" [ "[" expr "]" ] */
static void parse_table(ambit__unit *u, ambit__head *h)
{
  static const char form[] = "a table is table float k[9], or table float k[3][3]";

  ambit__next(u);
  h->kind = PARAM_TABLE;
  if (ambit__at_wrong_type(u, 0)) {
    ambit__wrong_type(u, ambit__peek(u, 0)->place);
    return;
  }
  h->type = ambit__parse_type(u, &h->is_const);
  h->is_const = true;
  h->place = ambit__peek(u, 0)->place;
  if (ambit__at(u, TOKEN_MUL)) {
    AMBIT_SYNTAX(u, h->place, "a table is not a pointer\n%s", form);
    return;
  }
  h->name = ambit__expect_name(u, "the name of a table");
  while (!u->panic && ambit__accept(u, TOKEN_LBRACKET)) {
    if (h->naxes == 2 || ambit__at(u, TOKEN_RBRACKET))
      AMBIT_SYNTAX(u, h->place, "the table '%s' has %s\n%s", h->name->text,
                   h->naxes == 2 ? "more than two sizes" : "no size", form);
    else
      h->size[h->naxes++] = ambit__parse_expr(u);
    ambit__expect(u, TOKEN_RBRACKET, "after the size");
  }
  if (!u->panic && !h->naxes)
    AMBIT_SYNTAX(u, h->place, "the table '%s' has no size\n%s", h->name->text, form);
}

/* param := table | [ reduce ] type [ "*" ] name [ "[" expr "]" ] */
static void parse_param(ambit__unit *u, ambit__head *h)
{
  bool is_reduce;
  int stars;

  if (at_table(u)) {
    parse_table(u, h);
    return;
  }
  is_reduce = parse_reduce(u, h);
  if (u->panic) return;

  if (ambit__at_wrong_type(u, 0)) {
    ambit__wrong_type(u, ambit__peek(u, 0)->place);
    return;
  }
  if (!ambit__starts_type(ambit__peek(u, 0))) {
    AMBIT_SYNTAX(
        u, ambit__peek(u, 0)->place,
        "the type of a parameter is missing here\na parameter is const float *u (read), "
        "float *v (written), float k (a value) or sum float *r (a reduction); " AMBIT__TYPES_TEXT);
    return;
  }
  h->type = ambit__parse_type(u, &h->is_const);
  stars = parse_stars(u);
  h->kind = is_reduce ? PARAM_REDUCE : stars ? PARAM_FIELD : PARAM_VALUE;
  h->place = ambit__peek(u, 0)->place;
  h->name = ambit__expect_name(u, "the name of a parameter");
  if (!h->name) return;
  if (ambit__accept(u, TOKEN_LBRACKET)) {
    h->is_vector = true;
    if (ambit__at(u, TOKEN_RBRACKET))
      AMBIT_SYNTAX(u, h->place,
                   "the number of components of '%s' is missing\nwrite it as %s *%s[3]; a field of "
                   "one value per cell is %s *%s",
                   h->name->text, ambit_type_name(h->type), h->name->text, ambit_type_name(h->type),
                   h->name->text);
    else
      h->components = ambit__parse_expr(u);
    ambit__expect(u, TOKEN_RBRACKET, "after the number of components");
    if (ambit__at(u, TOKEN_LBRACKET))
      AMBIT_SYNTAX(u, h->place,
                   "'%s' has more than one number of components\ncomponents have a single index; "
                   "for a matrix, write %s *%s[rows * columns]",
                   h->name->text, ambit_type_name(h->type), h->name->text);
  }
  check_head(u, h, is_reduce, stars);
}

/* params := "void" | param { "," param } */
static void parse_params(ambit__unit *u)
{
  if (ambit__at(u, TOKEN_word_void) && ambit__peek(u, 1)->kind == TOKEN_RPAREN) ambit__next(u);
  if (ambit__at(u, TOKEN_RPAREN)) return;
  do {
    if (u->kernel->nheads == AMBIT_MAX_PARAMS) {
      AMBIT_SYNTAX(u, ambit__peek(u, 0)->place,
                   "a kernel has at most %d parameters\nrelated values can be the components of "
                   "one field: float *f[9]",
                   AMBIT_MAX_PARAMS);
      return;
    }
    parse_param(u, &u->kernel->heads[u->kernel->nheads++]);
  } while (!u->panic && ambit__accept(u, TOKEN_COMMA));
}

/* kernel := "void" name "(" params ")" block */
static void parse_kernel(ambit__unit *u)
{
  const ambit__place first = ambit__peek(u, 0)->place;
  ambit__kernel_node *k = ambit__unit_new(u, 1, sizeof *k), **tail = &u->kernels;

  for (; *tail; tail = &(*tail)->next)
    ;
  *tail = u->kernel = k;
  for (k->last = u->helpers; k->last && k->last->next;)
    k->last = k->last->next;
  if (!ambit__accept(u, TOKEN_word_void)) {
    const ambit__name *n = ambit__peek(u, 0)->name;

    AMBIT_SYNTAX(u, first,
                 "a kernel starts with void%s%s%s\nit is a function of one cell: void "
                 "heat(const float *u, float *v) { *v = ...; }; functions that it calls are "
                 "static, before it",
                 n ? ", not '" : "", n ? n->text : "", n ? "'" : "");
    return;
  }
  k->name_place = ambit__peek(u, 0)->place;
  k->name = ambit__expect_name(u, "the name of the kernel");
  if (!k->name || !ambit__expect(u, TOKEN_LPAREN, "after the name of the kernel")) return;
  parse_params(u);
  if (!ambit__expect(u, TOKEN_RPAREN, "after the parameters")) return;
  if (!ambit__at(u, TOKEN_LBRACE)) {
    ambit__expect(u, TOKEN_LBRACE, "to begin the kernel");
    return;
  }
  k->body = ambit__parse_block(u)->body;
}

/* The kernel that is wanted, with the functions before it; reports two of the same name. */
static void choose(ambit__unit *u)
{
  const char **names;

  u->kernel = NULL;
  for (ambit__kernel_node *k = u->kernels; k; k = k->next, u->rule->nkernels++) {
    if (!u->kernel && (!u->wanted || !strcmp(u->wanted, k->name->text))) u->kernel = k;
    for (const ambit__kernel_node *other = k->next; other; other = other->next)
      if (other->name == k->name)
        AMBIT_WRONG(u, other->name_place, "there are two kernels '%s', the first at line %d",
                    k->name->text, k->name_place.line);
  }
  if (!u->kernel) {
    u->kernel = u->kernels;
    AMBIT_WRONG(u, u->kernel->name_place, "there is no kernel '%s' in this text", u->wanted);
  }
  if (u->kernel->last)
    u->kernel->last->next = NULL;
  else
    u->helpers = NULL;
  u->rule->kernels = names = ambit__rule_new(u, (size_t)u->rule->nkernels, sizeof *names);
  for (const ambit__kernel_node *k = u->kernels; k; k = k->next)
    *names++ = ambit__rule_text(u, k->name);
}

/* text := { constants | function } kernel { constants | function | kernel } */
void ambit__parse(ambit__unit *u)
{
  do
    if (!ambit__parse_helper(u)) parse_kernel(u);
  while (!u->panic && (!u->kernels || !ambit__at(u, TOKEN_END)));
  if (!u->diag.count) choose(u);
}
