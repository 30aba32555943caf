/* SPDX-License-Identifier: BSD-3-Clause */
/* rewrite.h - a copy of a rule whose expressions are replaced by others. Parts that do not change
 * are shared with the rule, which must stay. */
#ifndef AMBIT_KERNEL_REWRITE_H
#define AMBIT_KERNEL_REWRITE_H

#include "kernel/kernel.h"

typedef struct ambit__rewriting {
  ambit__errors *errors;
  const ambit__rule *from;
  ambit__rule *to; /* owns what is new */
  bool changed;
  bool failed;  /* it stays as it was: */
  bool starved; /* no memory */
} ambit__rewriting;

/* Memory of the new rule; NULL, and `failed`, if there is none. */
void *ambit__rewriting_take(ambit__rewriting *w, size_t bytes);
/* A new expression, at the place of `like`. If memory ran out, `like`. */
const ambit__expr *ambit__rewriting_make(ambit__rewriting *w, const ambit__expr *like, ambit__op op,
                                         ambit_type type, const ambit__expr *a,
                                         const ambit__expr *b);
const ambit__expr *ambit__rewriting_number(ambit__rewriting *w, const ambit__expr *like,
                                           ambit_type type, ambit__value v);
/* An expression with other operands: itself if they are its own. */
const ambit__expr *ambit__rewriting_with(ambit__rewriting *w, const ambit__expr *e,
                                         const ambit__expr *a, const ambit__expr *b,
                                         const ambit__expr *c);
/* A copy of statements, each with the expression that `f` gives for its own. */
const ambit__stmt *ambit__rewriting_list(ambit__rewriting *w, const ambit__stmt *list,
                                         const ambit__expr *(*f)(ambit__rewriting *,
                                                                 const ambit__expr *));

#endif
