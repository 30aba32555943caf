/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.h - a rule as a graph of values, in which equal values are one node.
 *
 * Locals and conditions disappear in it: a node is a value as a function of what the rule reads,
 * and a condition chooses between two values. The statements of the rule stay beside it, as *steps*
 * that say which variable gets which node where. So a pass looks at values, and the rule that is
 * made of the graph again has the order and the names that the user gave it:
 *
 *   rule -> graph   (graph_read.c)    every value is made by `make`, the function of a pass
 *   graph -> graph  (linear.c)        passes over all nodes; operands have smaller numbers
 *   graph -> rule   (graph_write.c)   steps whose values are still used
 *
 * Rules on narrow integers take integers.c and wholes.c as `make`: nodes are simplified by all that
 * is known of integers and of integers in floating-point variables, so rules that compute the same
 * in other words mostly become the same graph, and their steps are forgotten (simplify.c). All
 * other rules take places.c. Every node has the value that the rule gives it, bit for bit; in
 * simplify.c reals may have the other zero, where only integers are made of them.
 *
 * In the graphs of simplify.c
 *   - integers are computed in int: a value of another type is a conversion of one;
 *   - a sum, difference or multiple is one node, a list of terms with weights and a constant;
 *   - x < y ? x : y is the smaller one of two, x < y ? y : x the larger one, in no other form;
 *   - integers are compared with a constant by < and >, with each other by <, <=, == and !=.
 */
#ifndef AMBIT_KERNEL_GRAPH_H
#define AMBIT_KERNEL_GRAPH_H

#include "base/index.h"
#include "kernel/range.h"

typedef struct ambit__graph_node ambit__graph_node;
typedef struct ambit__graph ambit__graph;

typedef struct ambit__node_term {
  ambit__graph_node *value; /* no sum */
  int32_t weight;
} ambit__node_term;

/* An integer as index * index(axis) + extent * extent(axis) + number (places.c). */
typedef struct ambit__node_place {
  int axis; /* -1: a number */
  int64_t index, extent, number;
} ambit__node_place;

/* A real as an integer over 2^shift (wholes.c). */
typedef struct ambit__node_scaled {
  ambit__graph_node *n; /* NULL: something else */
  int shift;
} ambit__node_scaled;

struct ambit__graph_node {
  ambit__expr e;                 /* its operands are nodes; must be the first member */
  int id;                        /* in ambit__graph.nodes */
  int nterms;                    /* of a sum of ints: */
  const ambit__node_term *terms; /* in a canonical order, with weights other than 0 */
  int32_t constant;              /* and another term */
  ambit__range range;            /* of integers */
  uint64_t hash;                 /* of all the above but the id */
  ambit__graph_node *base; /* the one node that it is a function of, or itself; NULL: a constant */
  bool is_known;           /* a pass has found what follows: */
  union {
    ambit__node_scaled scaled; /* of reals */
    struct {                   /* of integers (places.c) */
      ambit__node_place place;
      bool is_place, has_place;  /* it has that form; index() or extent() is in it */
      bool is_int;               /* a long that is computed alike in int: */
      ambit__graph_node *narrow; /* so; NULL: not yet */
      int height;
    } whole;
  } of;
  /* what ambit__graph_use finds: */
  int uses;       /* in the text of a rule that has locals for nodes with names */
  int name;       /* the first variable that has it; -1: none */
  bool is_used;   /* by a result */
  bool is_result; /* of a step that stays */
  bool is_fixed;  /* a variable that conditions set has it */
  bool is_bare;   /* a read that is written as such, not as a local */
  /* while statements are made: */
  int holder;     /* the variable that has it here; -1: none */
  bool is_done;   /* simplify.c: it has its local */
  bool is_shared; /* linear.c: a coefficient that has a step */
};

/* A variable that the sides of a condition set. */
typedef struct ambit__merge {
  int variable;
  ambit__graph_node *value; /* after the condition */
  struct ambit__merge *next;
  /* while the rule is read: its values before the condition and after the first side; the one of
   * the condition around it */
  ambit__graph_node *before, *then;
  struct ambit__merge *outer;
  const struct ambit__graph_step *of; /* the condition */
} ambit__merge;

/* A statement. */
typedef struct ambit__graph_step {
  const ambit__stmt *from;  /* its kind, place and variable */
  ambit__graph_node *value; /* NULL: none */
  bool is_live;             /* ambit__graph_use: it stays, with those around it */
  struct ambit__graph_step *body, *other, *next, *outer; /* `outer`: the if around it */
  struct ambit__graph_step *same;                        /* another one that sets this variable */
  ambit__merge *merges;                                  /* of an if */
} ambit__graph_step;

/* A component that is written, a reduction, or a local: numbered in this order. */
typedef struct ambit__variable {
  int param, component;     /* or: */
  int local;                /* -1: none */
  ambit__graph_node *value; /* while the rule is read, and at its end; NULL: the one at first */
  ambit__graph_step *steps; /* that set it */
  /* ambit__graph_use: conditions set it, and a choice that they make is used */
  bool is_merged, is_mutable;
  ambit__merge *merge; /* while the rule is read: of the innermost condition that sets it */
} ambit__variable;

enum { AMBIT__GRAPH_TABLES = 8 };

struct ambit__graph {
  ambit__errors *errors;
  const ambit__rule *rule;
  /* The node for an expression of the rule whose operands are nodes. */
  ambit__graph_node *(*make)(ambit__graph *g, const ambit__expr *like, ambit__graph_node *a,
                             ambit__graph_node *b, ambit__graph_node *c);
  int64_t extent;     /* no axis of the grid is longer; 0: not known */
  int most;           /* nodes */
  ambit__arena arena; /* of nodes, steps and names */
  int count;
  ambit__graph_node *
      *nodes; /* `count` of them, operands before their users; owned, as all lists here */
  size_t nodes_cap;
  ambit__index index;        /* of nodes by hash; owned */
  ambit__graph_node nothing; /* the result if something failed */
  int ntables;               /* new ones, numbered after those of the rule */
  ambit__table tables[AMBIT__GRAPH_TABLES];
  ambit__graph_step *first; /* the statements */
  ambit__graph_step *
      *shared; /* the place after those of ambit__graph_share; NULL: there are none */
  int nsteps, nshared;
  int nouts; /* variables that are no locals: the first ones */
  int nvariables;
  ambit__variable *variables;
  size_t variables_cap;
  int out_of[AMBIT_MAX_PARAMS]; /* the variable of component 0 of a parameter */
  int nlocals;                  /* of the rule, and new ones */
  ambit__local *locals;
  size_t locals_cap;
  long work;    /* evaluations that are left */
  bool changed; /* by a pass */
  bool failed;  /* no memory, or too large */
};

/* ---- the rule (graph_read.c) ---- */

/* Empty but for what the caller gives; and a graph of the rule. Failure leaves `failed`, and an
 * error if memory ran out. */
void ambit__graph_read(ambit__graph *g);
void ambit__graph_free(ambit__graph *g);
/* Memory of the graph, zeroed; NULL, and `failed`, if there is none. */
void *ambit__graph_take(ambit__graph *g, size_t bytes);
/* A new local. */
int ambit__graph_local(ambit__graph *g, ambit__local local);
/* A step that gives a value to a local, a component or a reduction; the caller puts it among
 * others. NULL: `failed`. */
ambit__graph_step *ambit__graph_add_step(ambit__graph *g, ambit__stmt from,
                                         ambit__graph_node *value);
/* Such a step for a new local, named by a prefix and a number. */
ambit__graph_step *ambit__graph_name(ambit__graph *g, const char *prefix, int number,
                                     bool is_shared, ambit__place place, ambit__graph_node *value);
/* A step before all others that gives a value to a new local, which all cells share. */
void ambit__graph_share(ambit__graph *g, ambit__graph_node *value, ambit__place place);
/* Gives steps of a list, and those inside them, the values that `to` has for their own. */
void ambit__graph_replace(ambit__graph_step *list,
                          ambit__graph_node *(*to)(const void *user, const ambit__graph_node *n),
                          const void *user);
/* The value of a written component or a reduction at first. */
ambit__graph_node *ambit__graph_initial(ambit__graph *g, int variable);

/* ---- statements (graph_write.c) ---- */

/* Which steps stay, and how often nodes are used. */
void ambit__graph_use(ambit__graph *g);
/* Makes the locals, tables, statements and flops of a rule of the graph, in the arena of the rule.
 * false: `failed`. */
bool ambit__graph_write(ambit__graph *g, ambit__rule *to);
/* A copy of a rule that gets other statements. NULL: no memory, raised. */
ambit__rule *ambit__rule_like(ambit__errors *errors, const ambit__rule *rule);

/* ---- passes ---- */

/* places.c: tests of place have one form; for `make`. */
ambit__graph_node *ambit__node_placed(ambit__graph *g, const ambit__expr *like,
                                      ambit__graph_node *a, ambit__graph_node *b,
                                      ambit__graph_node *c);
/* normal.c: the same, and products of two cells have one form; not in strict mode. */
ambit__graph_node *ambit__node_normal(ambit__graph *g, const ambit__expr *like,
                                      ambit__graph_node *a, ambit__graph_node *b,
                                      ambit__graph_node *c);
/* linear.c: sums of neighbours have one form; not in strict mode. */
void ambit__graph_sums(ambit__graph *g);

/* ---- nodes (graph.c) ---- */

/* The node that equals `n`, whose operands or terms, but nothing else, are nodes. */
ambit__graph_node *ambit__node_get(ambit__graph *g, const ambit__graph_node *n);
/* The same, with a range that is known to be smaller. */
ambit__graph_node *ambit__node_within(ambit__graph *g, const ambit__graph_node *n,
                                      ambit__range range);
/* A node like an expression, not simplified; a, b and c may be NULL. */
ambit__graph_node *ambit__node_like(ambit__graph *g, const ambit__expr *like, ambit__graph_node *a,
                                    ambit__graph_node *b, ambit__graph_node *c);
/* A node for an operation, not simplified. */
ambit__graph_node *ambit__node_plain(ambit__graph *g, ambit__op op, ambit_type type,
                                     ambit__graph_node *a, ambit__graph_node *b,
                                     ambit__graph_node *c);
ambit__graph_node *ambit__node_call(ambit__graph *g, ambit__call call, ambit_type type,
                                    ambit__graph_node *a, ambit__graph_node *b,
                                    ambit__graph_node *c);
ambit__graph_node *ambit__node_minus(ambit__graph *g, ambit__graph_node *n); /* of a real */
ambit__graph_node *ambit__node_int(ambit__graph *g, int64_t n);              /* an int */
ambit__graph_node *ambit__node_number(ambit__graph *g, ambit_type type, ambit__value v);
ambit__graph_node *ambit__node_a(const ambit__graph_node *n);
ambit__graph_node *ambit__node_b(const ambit__graph_node *n);
ambit__graph_node *ambit__node_c(const ambit__graph_node *n);
bool ambit__node_is_number(const ambit__graph_node *n);
/* A canonical order of nodes: negative, 0 or positive. */
int ambit__node_compare(const ambit__graph_node *a, const ambit__graph_node *b);
/* The value of a node if its base has the value v. */
ambit__value ambit__node_evaluate(ambit__graph *g, const ambit__graph_node *n,
                                  const ambit__graph_node *base, ambit__value v);

/* A table of the rule, or a new one. */
const ambit__table *ambit__graph_table(const ambit__graph *g, int table);

/* ---- integers (integers.c) ---- */

/* For `make`: no outside(), and no unsigned numbers but bytes, which are left to compilers. */
ambit__graph_node *ambit__node_make(ambit__graph *g, const ambit__expr *like, ambit__graph_node *a,
                                    ambit__graph_node *b, ambit__graph_node *c);
ambit__graph_node *ambit__node_cast(ambit__graph *g, ambit__graph_node *x, ambit_type type);
/* a * x + b * y + c */
ambit__graph_node *ambit__node_sum(ambit__graph *g, ambit__graph_node *x, int64_t a,
                                   ambit__graph_node *y, int64_t b, int64_t c);
ambit__graph_node *ambit__node_product(ambit__graph *g, ambit__graph_node *x, ambit__graph_node *y);
/* Quotients by a positive number, rounded towards 0 or down. */
ambit__graph_node *ambit__node_divided(ambit__graph *g, ambit__graph_node *x, int64_t n);
ambit__graph_node *ambit__node_shifted(ambit__graph *g, ambit__graph_node *x, int n);
/* The quotient of a sum by a number that divides its weights, rounded down. */
ambit__graph_node *ambit__node_reduced(ambit__graph *g, const ambit__graph_node *x, int64_t n);
ambit__graph_node *ambit__node_least(ambit__graph *g, ambit__graph_node *x, ambit__graph_node *y);
ambit__graph_node *ambit__node_most(ambit__graph *g, ambit__graph_node *x, ambit__graph_node *y);
ambit__graph_node *ambit__node_abs(ambit__graph *g, ambit__graph_node *x);
/* A comparison of ints, or of other numbers. */
ambit__graph_node *ambit__node_order(ambit__graph *g, ambit__op op, ambit__graph_node *x,
                                     ambit__graph_node *y);
ambit__graph_node *ambit__node_choice(ambit__graph *g, ambit__graph_node *c, ambit__graph_node *x,
                                      ambit__graph_node *y);

/* ---- integers in reals (wholes.c) ---- */

/* A real as the conversion of an int, if it is one and never -0; else itself. */
ambit__graph_node *ambit__node_exact(ambit__graph *g, ambit__graph_node *x);
/* The integer part of a real, as an int: values beyond its ends are cut off, NaN is 0. NULL: not
 * known. */
ambit__graph_node *ambit__node_whole(ambit__graph *g, ambit__graph_node *x);
/* A comparison of reals as one of ints; NULL: not known. */
ambit__graph_node *ambit__node_real_order(ambit__graph *g, ambit__op op, ambit__graph_node *x,
                                          ambit__graph_node *y);
/* Whether a node is the integer part of the root of an int, perhaps cut off, and that int. */
ambit__graph_node *ambit__node_rooted(const ambit__graph_node *n);
/* Such a root, cut off at a number. NULL: not possible. */
ambit__graph_node *ambit__node_cut_root(ambit__graph *g, ambit__graph_node *root, int64_t most);

#endif
