/* SPDX-License-Identifier: BSD-3-Clause */
/* walk.h - the facts that walk.c and resolve.c know at a place in a nest.
 */
#ifndef AMBIT_PORT_WALK_H
#define AMBIT_PORT_WALK_H

#include "nest.h"

enum { BINDINGS = 512, ASSIGNED = 512 };

typedef struct binding {
  const symbol *sym;
  bool is_tree; /* a pointer: tree; else an integer: value */
  poly value;
  node *tree;
} binding;

typedef struct walk_state {
  binding bindings[BINDINGS];
  int nbindings;
  const symbol *assigned[ASSIGNED]; /* scalars that the nest assigns to, anywhere */
  int nassigned;
  int loops[LOOPS], nloops; /* around the current statement */
  int branches;             /* conditions around it */
  int inner[LOOPS], ninner; /* atoms of short loops around it */
  int order, leaf;
} walk_state;

extern walk_state port_state;

bool port_is_number(value_type t);
bool port_is_assigned(const symbol *s);
void port_make_local(nest *n, symbol *s);

/* The value that an integer or a pointer is bound to; NULL: none. */
binding *port_bound(const symbol *s);
void port_bind(const symbol *s, poly value, node *tree);

/* Finds the elements and integers of an expression; false after a refusal. */
bool port_resolve(nest *n, node *e);
bool port_element(nest *n, node *e, bool is_write, bool is_read);

/* For port_walk: bound pointers become their targets; integers keep the value they have now. */
bool port_expand_pointers(node *e, void *user);
bool port_fix_subscripts(node *e, void *user);

#endif
