/* SPDX-License-Identifier: BSD-3-Clause */
/* coefficient.h - coefficients of linear forms (linear.c): polynomials in values that all cells
 * share, with numbers in double. Equal coefficients have one form: products in a canonical order,
 * none of them 0, and the factors of each in that order too. */
#ifndef AMBIT_KERNEL_COEFFICIENT_H
#define AMBIT_KERNEL_COEFFICIENT_H

#include "kernel/graph.h"

enum { AMBIT__COEFFICIENT_FACTORS = 6, AMBIT__COEFFICIENT_PRODUCTS = 12 };

typedef struct ambit__coefficient_factor {
  ambit__graph_node *atom;
  int power; /* not 0 */
} ambit__coefficient_factor;

/* A number times atom ^ power times ... */
typedef struct ambit__coefficient_product {
  double number;
  int n;
  ambit__coefficient_factor f[AMBIT__COEFFICIENT_FACTORS]; /* in order, with different atoms */
} ambit__coefficient_product;

typedef struct ambit__coefficient {
  int n; /* products; 0: the coefficient is 0 */
  ambit__coefficient_product p[AMBIT__COEFFICIENT_PRODUCTS];
} ambit__coefficient;

/* A canonical order of nodes, by their operations; 0: they are one. */
int ambit__node_order_of(const ambit__graph_node *a, const ambit__graph_node *b);

ambit__coefficient ambit__coefficient_number(double x);
ambit__coefficient ambit__coefficient_atom(ambit__graph_node *n, int power);
/* to += times * p, and to = a * b. false: there are too many products or factors. */
bool ambit__coefficient_add(ambit__coefficient *to, const ambit__coefficient *p, double times);
bool ambit__coefficient_multiply(const ambit__coefficient *a, const ambit__coefficient *b,
                                 ambit__coefficient *to);
ambit__coefficient ambit__coefficient_inverse(const ambit__coefficient *p); /* of one product */
/* A canonical order of a and sign * b; 0: they are equal. */
int ambit__coefficient_compare(const ambit__coefficient *a, const ambit__coefficient *b,
                               double sign);
bool ambit__coefficient_is_one(const ambit__coefficient *p);
/* 1 or -1: the sign of the first product. */
double ambit__coefficient_sign(const ambit__coefficient *p);

#endif
