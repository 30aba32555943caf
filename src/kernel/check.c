/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - scopes and statements: every name gets its symbol, every expression its type. */
#include "kernel/ast.h"

static void check_lines(ambit__unit *u, ambit__line *l);

/* ---- scopes ---- */

static ambit__symbol *declare(ambit__unit *u, ambit__symbol_kind kind, ambit__name *name,
                              ambit_type type, ambit__place place)
{
  ambit__symbol *s = ambit__unit_new(u, 1, sizeof *s), *outer = name->symbol;

  if (outer && outer->depth == u->depth)
    AMBIT_WRONG(u, place, "'%s' is already declared here, at line %d column %d", name->text,
                outer->place.line, outer->place.column);
  *s = (ambit__symbol){.kind = kind,
                       .name = name,
                       .type = type,
                       .place = place,
                       .depth = u->depth,
                       .is_ready = true,
                       .shadow = outer,
                       .older = u->symbols};
  name->symbol = u->symbols = s;
  return s;
}

static void leave_scope(ambit__unit *u)
{
  u->depth--;
  for (; u->symbols && u->symbols->depth > u->depth; u->symbols = u->symbols->older)
    u->symbols->name->symbol = u->symbols->shadow;
}

static void check_integer(ambit__unit *u, ambit__syntax *n, const char *what)
{
  ambit__check_expr(u, n);
  if (!n->is_wrong && ambit__type_is_real(n->type))
    AMBIT_WRONG(u, n->place, "%s is a %s; it must be an integer", what, ambit_type_name(n->type));
}

/* ---- declarations ---- */

static void check_init(ambit__unit *u, ambit__init *i)
{
  if (i->value) {
    ambit__check_expr(u, i->value);
    return;
  }
  for (ambit__init *e = i->list; e; e = e->next)
    check_init(u, e);
}

static void check_declaration(ambit__unit *u, ambit__line *l)
{
  ambit__symbol *s;

  for (int a = 0; a < l->naxes; a++)
    if (l->size[a]) check_integer(u, l->size[a], "the size of an array");
  s = declare(u, SYMBOL_LOCAL, l->name, l->type, l->place);
  s->is_const = l->is_const;
  s->naxes = l->naxes;
  l->symbol = s;
  if ((l->naxes > 0 && !l->size[0] && !l->init) || (l->naxes > 1 && !l->size[1]))
    AMBIT_WRONG(u, l->place,
                "the size of '%s' is missing\nwrite the number of elements in the brackets",
                l->name->text);
  if (!l->init && l->is_const)
    AMBIT_WRONG(u, l->place, "'%s' is const but has no value\nwrite = and a value after it",
                l->name->text);
  if (!l->init) return;
  if (l->naxes && l->init->value)
    AMBIT_WRONG(u, l->init->place, "'%s' is an array; write its values in braces: {1, 2, 3}",
                l->name->text);
  if (!l->naxes && !l->init->value)
    AMBIT_WRONG(u, l->init->place, "'%s' is a single value; write it without braces",
                l->name->text);
  s->is_ready = false;
  check_init(u, l->init);
  s->is_ready = true;
}

/* ---- statements ---- */

static void check_for(ambit__unit *u, ambit__line *l)
{
  check_integer(u, l->init->value, "the first value of a for loop");
  u->depth++;
  l->symbol = declare(u, SYMBOL_LOOP, l->name, l->type, l->place);
  if (l->type != AMBIT_I32 && l->type != AMBIT_I64)
    AMBIT_WRONG(u, l->place, "the variable of a for loop is a %s; it must be an int or a long",
                ambit_type_name(l->type));
  check_integer(u, l->value, "the bound of a for loop");
  if (l->step) check_integer(u, l->step, "the step of a for loop");
  check_lines(u, l->body);
  leave_scope(u);
}

static void check_line(ambit__unit *u, ambit__line *l)
{
  switch (l->kind) {
  case LINE_DECL: check_declaration(u, l); break;
  case LINE_SET:
    ambit__check_target(u, l->target);
    ambit__check_expr(u, l->value);
    break;
  case LINE_IF:
    ambit__check_expr(u, l->value);
    check_lines(u, l->body);
    check_lines(u, l->other);
    break;
  case LINE_FOR: check_for(u, l); break;
  case LINE_CALL:
  case LINE_RETURN: ambit__check_expr(u, l->value); break;
  case LINE_BLOCK:
    u->depth++;
    check_lines(u, l->body);
    leave_scope(u);
    break;
  }
}

static void check_lines(ambit__unit *u, ambit__line *l)
{
  for (; l; l = l->next)
    check_line(u, l);
}

/* ---- the function ---- */

/* The function of a reduction takes two values of its type and returns one. Parameters of the
 * kernel cannot hide it. */
static void check_fold(ambit__unit *u, ambit__head *h)
{
  const char *type = ambit_type_name(h->type), *name = h->function->text;
  const ambit__helper *f = u->helpers;
  bool fits;

  ambit__check_expr(u, h->identity);
  while (f && f->name != h->function)
    f = f->next;
  if (!f) {
    AMBIT_WRONG(u, h->function_place,
                "there is no function '%s'\nwrite it before the kernel: static %s %s(%s a, %s b) { "
                "return ...; }",
                name, type, name, type, type);
    return;
  }
  h->helper = f;
  fits = f->nparams == 2 && f->type == h->type;
  for (const ambit__line *p = f->params; p; p = p->next)
    fits &= p->type == h->type && !p->naxes;
  if (!fits)
    AMBIT_WRONG(
        u, h->function_place,
        "'%s' cannot fold values of '%s'\nthe function of a reduction is static %s %s(%s a, "
        "%s b)",
        name, h->name->text, type, name, type, type);
}

static void check_head(ambit__unit *u, ambit__head *h)
{
  static const ambit__symbol_kind kinds[] = {[PARAM_FIELD] = SYMBOL_FIELD,
                                             [PARAM_VALUE] = SYMBOL_VALUE,
                                             [PARAM_REDUCE] = SYMBOL_REDUCE,
                                             [PARAM_TABLE] = SYMBOL_TABLE};

  for (int a = 0; a < h->naxes; a++)
    check_integer(u, h->size[a], "the size of a table");
  if (h->components) check_integer(u, h->components, "the number of components");
  if (h->function) check_fold(u, h);
  h->symbol = declare(u, kinds[h->kind], h->name, h->type, h->place);
  h->symbol->is_const = h->is_const;
  h->symbol->is_vector = h->is_vector;
  h->symbol->naxes = h->naxes;
}

/* A function is declared after its body: it cannot call itself. */
static void check_helper(ambit__unit *u, ambit__helper *h)
{
  const ambit__known_call *known = ambit__known_call_find(h->name->text);
  const bool is_single = u->is_single;

  u->depth = 1;
  u->is_single &= !h->is_library;
  for (ambit__line *p = h->params; p; p = p->next) {
    for (int a = 0; a < p->naxes; a++)
      check_integer(u, p->size[a], "the size of an array");
    p->symbol = declare(u, SYMBOL_LOCAL, p->name, p->type, p->place);
    p->symbol->is_parameter = true;
    p->symbol->is_const = p->is_const;
    p->symbol->naxes = p->naxes;
  }
  check_lines(u, h->body);
  leave_scope(u);
  u->is_single = is_single;
  if (known && !(known->is_place && known->function == EXPR_TABLE)) /* newer than kernels are */
    AMBIT_WRONG(u, h->place, "'%s' is a function of the language\nchoose another name",
                h->name->text);
  declare(u, SYMBOL_FUNCTION, h->name, h->type, h->place)->helper = h;
}

void ambit__check(ambit__unit *u)
{
  for (ambit__helper *h = u->helpers; h; h = h->next)
    if (h->name)
      check_helper(u, h);
    else
      check_lines(u, h->constants);
  u->depth = 1; /* parameters and the body share a scope, as in C */
  for (int i = 0; i < u->kernel->nheads; i++)
    check_head(u, &u->kernel->heads[i]);
  check_lines(u, u->kernel->body);
}
