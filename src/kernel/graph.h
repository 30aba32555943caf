/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.h - a rule as a graph of values, in which equal values are one node.
 *
 * Locals and conditions disappear: a node is a value as a function of what the rule reads, and a
 * condition chooses between two values. Nodes are simplified when they are made, by all that is
 * known of integers (integers.c) and of integers in floating-point variables (wholes.c), so
 * rules that compute the same in other words mostly become the same graph. Every node has the value
 * that the rule gives it, bit for bit; reals may have the other zero, where only integers are made
 * of them.
 *
 *   - integers are computed in int: a value of another type is a conversion of one;
 *   - a sum, difference or multiple is one node, a list of terms with weights and a constant;
 *   - x < y ? x : y is the smaller one of two, x < y ? y : x the larger one, in no other form;
 *   - integers are compared with a constant by < and >, with each other by <, <=, == and !=.
 */
#ifndef AMBIT_KERNEL_GRAPH_H
#define AMBIT_KERNEL_GRAPH_H

#include "kernel/range.h"

typedef struct ambit__node ambit__node;

typedef struct ambit__node_term {
  ambit__node *value; /* no sum */
  int32_t weight;
} ambit__node_term;

struct ambit__node {
  ambit__expr e;                 /* its operands are nodes; must be the first member */
  int nterms;                    /* of a sum of ints: */
  const ambit__node_term *terms; /* in a canonical order, with weights other than 0 */
  int32_t constant;              /* and another term */
  ambit__range range;            /* of integers */
  uint64_t hash;                 /* of all the above */
  ambit__node *base; /* the one node that it is a function of, or itself; NULL: a constant */
  bool is_known;     /* of reals: ambit__node_scaled was asked, with the result */
  ambit__node *scaled;
  int shift;
  int uses, local; /* while statements are made */
  bool is_done;
  ambit__node *next; /* with a similar hash */
};

enum { AMBIT__GRAPH_LISTS = 256, AMBIT__GRAPH_TABLES = 8 };

typedef struct ambit__graph {
  const ambit__rule *rule;
  ambit__arena *arena; /* of the nodes */
  ambit__node *lists[AMBIT__GRAPH_LISTS];
  ambit__node nothing; /* the result if something failed */
  int ntables;         /* new ones, numbered after those of the rule */
  ambit__table tables[AMBIT__GRAPH_TABLES];
  int count;
  long work;   /* evaluations that are left */
  bool failed; /* no memory, or too large */
} ambit__graph;

/* ---- nodes (graph.c) ---- */

/* The node that equals `n`, whose operands or terms, but nothing else, are nodes. */
ambit__node *ambit__node_get(ambit__graph *g, const ambit__node *n);
/* The same, with a range that is known to be smaller. */
ambit__node *ambit__node_within(ambit__graph *g, const ambit__node *n, ambit__range range);
/* A node for an operation, not simplified; a, b and c may be NULL. */
ambit__node *ambit__node_plain(ambit__graph *g, ambit__op op, ambit_type type, ambit__node *a,
                               ambit__node *b, ambit__node *c);
ambit__node *ambit__node_call(ambit__graph *g, ambit__call call, ambit_type type, ambit__node *a,
                              ambit__node *b, ambit__node *c);
ambit__node *ambit__node_int(ambit__graph *g, int64_t n); /* an int */
ambit__node *ambit__node_number(ambit__graph *g, ambit_type type, ambit__value v);
ambit__node *ambit__node_a(const ambit__node *n);
ambit__node *ambit__node_b(const ambit__node *n);
ambit__node *ambit__node_c(const ambit__node *n);
bool ambit__node_is_number(const ambit__node *n);
/* A canonical order of nodes: negative, 0 or positive. */
int ambit__node_compare(const ambit__node *a, const ambit__node *b);
/* The value of a node if its base has the value v. */
ambit__value ambit__node_evaluate(ambit__graph *g, const ambit__node *n, const ambit__node *base,
                                  ambit__value v);

/* A table of the rule, or a new one. */
const ambit__table *ambit__graph_table(const ambit__graph *g, int table);

/* ---- integers (integers.c) ---- */

/* The node for an expression of the rule whose operands are nodes. */
ambit__node *ambit__node_make(ambit__graph *g, const ambit__expr *like, ambit__node *a,
                              ambit__node *b, ambit__node *c);
ambit__node *ambit__node_cast(ambit__graph *g, ambit__node *x, ambit_type type);
/* a * x + b * y + c */
ambit__node *ambit__node_sum(ambit__graph *g, ambit__node *x, int64_t a, ambit__node *y, int64_t b,
                             int64_t c);
ambit__node *ambit__node_product(ambit__graph *g, ambit__node *x, ambit__node *y);
/* Quotients by a positive number, rounded towards 0 or down. */
ambit__node *ambit__node_divided(ambit__graph *g, ambit__node *x, int64_t n);
ambit__node *ambit__node_shifted(ambit__graph *g, ambit__node *x, int n);
/* The quotient of a sum by a number that divides its weights, rounded down. */
ambit__node *ambit__node_reduced(ambit__graph *g, const ambit__node *x, int64_t n);
ambit__node *ambit__node_least(ambit__graph *g, ambit__node *x, ambit__node *y);
ambit__node *ambit__node_most(ambit__graph *g, ambit__node *x, ambit__node *y);
ambit__node *ambit__node_abs(ambit__graph *g, ambit__node *x);
/* A comparison of ints, or of other numbers. */
ambit__node *ambit__node_order(ambit__graph *g, ambit__op op, ambit__node *x, ambit__node *y);
ambit__node *ambit__node_choice(ambit__graph *g, ambit__node *c, ambit__node *x, ambit__node *y);

/* ---- integers in reals (wholes.c) ---- */

/* A real as the conversion of an int, if it is one and never -0; else itself. */
ambit__node *ambit__node_exact(ambit__graph *g, ambit__node *x);
/* The integer part of a real, as an int: values beyond its ends are cut off, NaN is 0. NULL: not
 * known. */
ambit__node *ambit__node_whole(ambit__graph *g, ambit__node *x);
/* A comparison of reals as one of ints; NULL: not known. */
ambit__node *ambit__node_real_order(ambit__graph *g, ambit__op op, ambit__node *x, ambit__node *y);
/* Whether a node is the integer part of the root of an int, perhaps cut off, and that int. */
ambit__node *ambit__node_rooted(const ambit__node *n);
/* Such a root, cut off at a number. NULL: not possible. */
ambit__node *ambit__node_cut_root(ambit__graph *g, ambit__node *root, int64_t most);

#endif
