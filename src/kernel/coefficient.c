/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel/coefficient.h"

#include <string.h>

typedef ambit__expr expr;
typedef ambit__coefficient_product product;
typedef ambit__coefficient poly;

enum { NESTED = 32 };

/* ---- order of nodes ---- */

static int compare_int(int64_t a, int64_t b)
{
  return a < b ? -1 : a > b;
}

static int compare(const expr *a, const expr *b, int depth)
{
  int c = compare_int(a != NULL, b != NULL);

  if (a == b || c) return c;
  if ((c = compare_int(a->op, b->op)) || (c = compare_int(a->type, b->type)) ||
      (c = compare_int(a->index, b->index)) || (c = compare_int(a->component, b->component)))
    return c;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if ((c = compare_int(a->offset[d], b->offset[d])) != 0) return c;
  if (a->op == EXPR_CALL && (c = compare_int(a->call, b->call)) != 0) return c;
  if (a->op == EXPR_CONST && a->value.integer != b->value.integer) /* all bits */
    return a->value.integer < b->value.integer ? -1 : 1;
  if (depth == NESTED)
    return ((const ambit__graph_node *)a)->hash < ((const ambit__graph_node *)b)->hash ? -1 : 1;
  if ((c = compare(a->a, b->a, depth + 1)) || (c = compare(a->b, b->b, depth + 1))) return c;
  return compare(a->c, b->c, depth + 1);
}

int ambit__node_order_of(const ambit__graph_node *a, const ambit__graph_node *b)
{
  return compare(&a->e, &b->e, 0);
}

/* ---- coefficients ---- */

static int compare_products(const product *a, const product *b)
{
  int c;

  for (int i = 0; i < a->n && i < b->n; i++)
    if ((c = compare(&a->f[i].atom->e, &b->f[i].atom->e, 0)) ||
        (c = compare_int(a->f[i].power, b->f[i].power)))
      return c;
  return compare_int(a->n, b->n);
}

static bool add_product(poly *to, const product *p)
{
  int i = 0, c = 1;

  while (i < to->n && (c = compare_products(&to->p[i], p)) < 0)
    i++;
  if (i < to->n && c == 0) {
    to->p[i].number += p->number;
    if (to->p[i].number != 0) return true;
    memmove(&to->p[i], &to->p[i + 1], (size_t)(--to->n - i) * sizeof *to->p);
    return true;
  }
  if (p->number == 0) return true;
  if (to->n == AMBIT__COEFFICIENT_PRODUCTS) return false;
  memmove(&to->p[i + 1], &to->p[i], (size_t)(to->n++ - i) * sizeof *to->p);
  to->p[i] = *p;
  return true;
}

bool ambit__coefficient_add(poly *to, const poly *p, double times)
{
  for (int i = 0; i < p->n; i++) {
    product q = p->p[i];

    q.number *= times;
    if (!add_product(to, &q)) return false;
  }
  return true;
}

static bool add_factor(product *p, ambit__coefficient_factor f)
{
  int i = 0, c = 1;

  while (i < p->n && (c = compare(&p->f[i].atom->e, &f.atom->e, 0)) < 0)
    i++;
  if (i < p->n && c == 0) {
    p->f[i].power += f.power;
    if (!p->f[i].power) memmove(&p->f[i], &p->f[i + 1], (size_t)(--p->n - i) * sizeof f);
    return true;
  }
  if (p->n == AMBIT__COEFFICIENT_FACTORS) return false;
  memmove(&p->f[i + 1], &p->f[i], (size_t)(p->n++ - i) * sizeof f);
  p->f[i] = f;
  return true;
}

bool ambit__coefficient_multiply(const poly *a, const poly *b, poly *to)
{
  to->n = 0;
  for (int i = 0; i < a->n; i++)
    for (int k = 0; k < b->n; k++) {
      product p = a->p[i];

      p.number *= b->p[k].number;
      for (int m = 0; m < b->p[k].n; m++)
        if (!add_factor(&p, b->p[k].f[m])) return false;
      if (!add_product(to, &p)) return false;
    }
  return true;
}

poly ambit__coefficient_number(double x)
{
  return (poly){.n = x != 0, .p = {{.number = x}}};
}

poly ambit__coefficient_atom(ambit__graph_node *n, int power)
{
  return (poly){.n = 1, .p = {{.number = 1, .n = 1, .f = {{n, power}}}}};
}

int ambit__coefficient_compare(const poly *a, const poly *b, double sign)
{
  int c = compare_int(a->n, b->n);

  for (int i = 0; !c && i < a->n; i++) {
    c = compare_products(&a->p[i], &b->p[i]);
    if (!c && a->p[i].number != sign * b->p[i].number)
      c = a->p[i].number < sign * b->p[i].number ? -1 : 1;
  }
  return c;
}

bool ambit__coefficient_is_one(const poly *p)
{
  return p->n == 1 && p->p[0].n == 0 && p->p[0].number == 1;
}

double ambit__coefficient_sign(const poly *p)
{
  return p->p[0].number < 0 ? -1 : 1;
}

poly ambit__coefficient_inverse(const poly *p)
{
  poly by = {.n = 1, .p = {p->p[0]}};

  by.p[0].number = 1 / by.p[0].number;
  for (int i = 0; i < by.p[0].n; i++)
    by.p[0].f[i].power = -by.p[0].f[i].power;
  return by;
}
