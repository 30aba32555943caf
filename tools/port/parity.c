/* SPDX-License-Identifier: BSD-3-Clause */
/* parity.c - red-black loops whose first cell depends on the row.
 *
 *   for (j = 1 + (i + colour) % 2; j < n; j += 2) ...
 *
 * becomes a loop over all cells of the row, with a condition:
 *
 *   for (j = 1; j < n; j++) if ((j - (1 + (i + colour) % 2)) % 2 == 0) ...
 *
 * The part x % 2 or x & 1 is 0 or 1; the smaller of the two first values is the new one. x must not
 * be negative, since -1 % 2 is -1: where that is not known, it is checked when the program runs.
 */
#include "walk.h"

#include <string.h>

static bool is_parity(node *e, void *user)
{
  (void)user;
  return e->kind == N_BINARY && e->b->is_constant &&
         ((!strcmp(e->op, "%") && e->b->value == 2) || (!strcmp(e->op, "&") && e->b->value == 1));
}

static int count_parities(node *e)
{
  int n;

  if (!e) return 0;
  if (is_parity(e, NULL)) return 1;
  n = count_parities(e->a) + count_parities(e->b) + count_parities(e->c);
  for (node *k = e->list; k; k = k->next)
    n += count_parities(k);
  return n;
}

/* The first value, if the part is 0 or 1. */
static node *with_parity(const node *first, int64_t value)
{
  node *copy = port_copy_tree(first), *part = port_find(copy, is_parity, NULL);

  *part = *port_number(value, part);
  return copy;
}

/* The least value of x, each loop variable being at its start; bad: not known. */
static poly least(const nest *n, poly x)
{
  for (int k = 0; k < n->nloops; k++) {
    poly c, r;
    int64_t factor;

    if (!port_poly_has(x, n->loops[k].atom)) continue;
    if (!port_poly_split(x, n->loops[k].atom, &c, &r) || !port_poly_is_number(c, &factor) ||
        factor < 0)
      return port_poly_bad();
    x = port_poly_add(port_poly_mul(c, n->loops[k].lo), r);
  }
  return x;
}

static bool is_never_negative(nest *n, const node *part)
{
  poly x;
  int64_t value;

  if (part->op[0] == '&') return true;
  x = least(n, port_poly_of(n, part->a));
  if (x.is_bad || n->ninner) return false;
  if (port_poly_is_number(x, &value)) return value >= 0;
  port_require(n, port_text("(%s) >= 0", port_poly_code(x)),
               "the parity of its first cell is not known");
  return true;
}

static node *binary(const char *op, node *a, node *b)
{
  node *e = port_node(N_BINARY, a);

  e->op = op;
  e->a = a;
  e->b = b;
  e->type = T_I32;
  return e;
}

bool port_parity_start(nest *n, node *f, node **first)
{
  node *part = port_find(*first, is_parity, NULL), *low, *high, *body, *init = f->a;
  symbol *var;
  int64_t by;

  if (!part || count_parities(*first) != 1 || !port_poly_of(n, *first).is_bad) return false;
  low = with_parity(*first, 0);
  high = with_parity(*first, 1);
  if (!port_poly_is_number(port_poly_sub(port_poly_of(n, high), port_poly_of(n, low)), &by) ||
      (by != 1 && by != -1) || !is_never_negative(n, part))
    return false;
  if (init->kind == S_EXPR) init = init->a;
  var = init->kind == S_DECL ? init->list->sym : init->a->sym;
  if (init->kind != S_DECL && !port_is_private(n, var)) return false;
  body = port_node(S_IF, f);
  body->a = binary("==", binary("%", binary("-", port_name(var, f), *first), port_number(2, f)),
                   port_number(0, f));
  body->b = f->d;
  f->d = port_node(S_BLOCK, f);
  f->d->list = body;
  *(init->kind == S_DECL ? &init->list->a : &init->b) = *first = by > 0 ? low : high;
  f->c = port_node(N_UNARY, f);
  f->c->op = "p++";
  f->c->a = port_name(var, f);
  f->c->type = var->type;
  return true;
}
