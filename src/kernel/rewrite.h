/* SPDX-License-Identifier: BSD-3-Clause */
/* rewrite.h - a copy of a rule whose reads are replaced by other expressions (faces.c, sparse.c).
 * Parts that do not change are shared with the rule, which must stay. */
#ifndef AMBIT_KERNEL_REWRITE_H
#define AMBIT_KERNEL_REWRITE_H

#include "kernel/kernel.h"

typedef struct ambit__rewriting {
  ambit__errors *errors;
  const ambit__rule *from;
  ambit__rule *to; /* owns what is new; room for AMBIT_MAX_PARAMS */
  bool changed;
  bool failed;
} ambit__rewriting;

/* Begins a copy of a rule with its parameters. The error of a failure is raised at the end. */
void ambit__rewriting_begin(ambit__rewriting *w, ambit__errors *errors, const ambit__rule *rule);
/* Adds a parameter that no statement writes yet. There is room for it. Its name is a prefix and its
 * number. false: no memory. */
bool ambit__rule_add_param(ambit__rule *rule, const char *prefix, ambit__param p);
/* Memory of the new rule; NULL, and `failed`, if there is none. */
void *ambit__rewriting_take(ambit__rewriting *w, size_t bytes);
/* A new expression, at the place of `like`; b and c may be NULL. If memory ran out, NULL. */
ambit__expr *ambit__rewriting_make(ambit__rewriting *w, const ambit__expr *like, ambit__op op,
                                   ambit_type type, const ambit__expr *a, const ambit__expr *b,
                                   const ambit__expr *c);
const ambit__expr *ambit__rewriting_number(ambit__rewriting *w, const ambit__expr *like,
                                           ambit_type type, ambit__value v);
/* index(axis) or extent(axis). */
const ambit__expr *ambit__rewriting_place(ambit__rewriting *w, const ambit__expr *like,
                                          ambit__op op, int axis);
ambit__expr *ambit__rewriting_read(ambit__rewriting *w, const ambit__expr *like, int param,
                                   int component, const int *offset);
/* An expression whose operands are those that `f` gives for its own: itself if it gives these. */
typedef const ambit__expr *ambit__rewriter(ambit__rewriting *w, const ambit__expr *e);
const ambit__expr *ambit__rewriting_parts(ambit__rewriting *w, const ambit__expr *e,
                                          ambit__rewriter *f);
/* Completes the rule with the statements of the old one, each with the expression that `f` gives
 * for its own. *out is NULL after failure, which is raised: no memory to adapt the kernel `to`. */
ambit_status ambit__rewriting_end(ambit__rewriting *w, ambit__rewriter *f, const char *to,
                                  ambit__rule **out);

/* footprint.c: the reads of all fields, as the statements of a finished rule have them. false: no
 * memory, raised. */
bool ambit__rule_find_reads(ambit__errors *errors, ambit__rule *rule);

#endif
