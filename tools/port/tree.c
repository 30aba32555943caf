/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - walking, copying and printing trees.
 */
#include "tree.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

node *port_node(node_kind kind, const node *like)
{
  node *n = port_new(sizeof *n);

  n->kind = kind;
  n->type = T_VOID;
  if (like) {
    n->begin = like->begin;
    n->end = like->end;
    n->line = like->line;
    n->column = like->column;
    n->is_macro = like->is_macro;
  }
  return n;
}

node *port_name(symbol *s, const node *like)
{
  node *e = port_node(N_NAME, like);

  e->sym = s;
  e->text = s->name;
  e->type = s->type;
  e->ctype = s->ctype;
  return e;
}

node *port_number(int64_t value, const node *like)
{
  node *n = port_node(N_NUMBER, like);

  n->type = T_I32;
  n->is_constant = true;
  n->value = value;
  n->text = port_text("%" PRId64, value);
  return n;
}

node *port_copy_tree(const node *n)
{
  node *copy, **tail;

  if (!n) return NULL;
  copy = port_new(sizeof *copy);
  *copy = *n;
  copy->next = NULL;
  copy->a = port_copy_tree(n->a);
  copy->b = port_copy_tree(n->b);
  copy->c = port_copy_tree(n->c);
  copy->d = port_copy_tree(n->d);
  tail = &copy->list;
  copy->list = NULL;
  for (const node *k = n->list; k; k = k->next) {
    *tail = port_copy_tree(k);
    tail = &(*tail)->next;
  }
  return copy;
}

void port_walk(node *n, bool (*fn)(node *n, void *user), void *user)
{
  if (!n || !fn(n, user)) return;
  port_walk(n->a, fn, user);
  port_walk(n->b, fn, user);
  port_walk(n->c, fn, user);
  port_walk(n->d, fn, user);
  for (node *k = n->list; k; k = k->next)
    port_walk(k, fn, user);
}

node *port_find(node *n, bool (*fn)(node *n, void *user), void *user)
{
  node *found;

  if (!n) return NULL;
  if (fn(n, user)) return n;
  if ((found = port_find(n->a, fn, user))) return found;
  if ((found = port_find(n->b, fn, user))) return found;
  if ((found = port_find(n->c, fn, user))) return found;
  if ((found = port_find(n->d, fn, user))) return found;
  for (node *k = n->list; k; k = k->next)
    if ((found = port_find(k, fn, user))) return found;
  return NULL;
}

bool port_is_integer(value_type t)
{
  return t >= T_I32 && t <= T_INTEGER;
}

node *port_bare(node *n)
{
  while (n && n->kind == N_CAST && port_is_integer(n->type) && n->type != T_BOOL &&
         port_is_integer(n->a->type))
    n = n->a;
  return n;
}

/* ---- printing ---- */

static void print(ambit__text *t, const node *n);

static void print_list(ambit__text *t, const node *list)
{
  for (const node *k = list; k; k = k->next) {
    print(t, k);
    if (k->next) ambit__print(t, ", ");
  }
}

static void print_cast(ambit__text *t, const node *n)
{
  CXString s = clang_getTypeSpelling(n->ctype);

  ambit__print(t, "(%s)", clang_getCString(s));
  clang_disposeString(s);
  print(t, n->a);
}

static void print(ambit__text *t, const node *n)
{
  const bool is_step = n->kind == N_UNARY && n->op[0] == 'p';

  switch (n->kind) {
  case N_NUMBER:
  case N_NAME: ambit__print(t, "%s", n->text); break;
  case N_BINARY:
  case N_ASSIGN:
    ambit__print(t, "(");
    print(t, n->a);
    ambit__print(t, " %s ", n->op);
    print(t, n->b);
    ambit__print(t, ")");
    break;
  case N_UNARY:
    ambit__print(t, "(%s", is_step ? "" : n->op);
    print(t, n->a);
    ambit__print(t, "%s)", is_step ? n->op + 1 : "");
    break;
  case N_COND:
    ambit__print(t, "(");
    print(t, n->a);
    ambit__print(t, " ? ");
    print(t, n->b);
    ambit__print(t, " : ");
    print(t, n->c);
    ambit__print(t, ")");
    break;
  case N_CAST:
    ambit__print(t, "(");
    print_cast(t, n);
    ambit__print(t, ")");
    break;
  case N_CALL:
    ambit__print(t, "%s(", n->text);
    print_list(t, n->list);
    ambit__print(t, ")");
    break;
  case N_INDEX:
    print(t, n->a);
    ambit__print(t, "[");
    print(t, n->b);
    ambit__print(t, "]");
    break;
  case N_MEMBER:
    print(t, n->a);
    ambit__print(t, "%s%s", n->op, n->text);
    break;
  default: ambit__print(t, "/* ? */");
  }
}

const char *port_print(const node *n)
{
  ambit__text t = {0};
  const char *copy;
  char *out;

  print(&t, n);
  out = ambit__text_finish(&t);
  copy = port_text("%s", out ? out : "");
  free(out);
  return copy;
}
