/* SPDX-License-Identifier: BSD-3-Clause */
/* uses.h - which arrays of steps a statement of the host uses, and which results.
 */
#ifndef AMBIT_PORT_USES_H
#define AMBIT_PORT_USES_H

#include "edit.h"

enum { USES = 128, CELLS = 4, NUMBERS = 32 };

typedef struct use {
  const char *text;  /* a pointer or an array */
  const char *bytes; /* of the object, or not known: "1", of a struct with arrays "0" */
  int levels;        /* of pointers in it, that lead to elements */
  bool is_write;
  node *base;
  bool is_whole; /* more than the elements below may be used */
  int ncells;
  node *cells[CELLS];
} use;

typedef struct uses {
  use at[USES];
  int n;
  bool reads_all, writes_all, waits;
  node *scope;                    /* the statement; NULL: an expression */
  const symbol *numbers[NUMBERS]; /* whose results come late */
  bool is_set[NUMBERS];           /* ... and that get a new value only */
  int nnumbers;
} uses;

void port_uses_in(node *n, uses *u); /* anything below n */
void port_uses_of(node *s, uses *u); /* a statement: s = err = 0 gives new values */

bool port_use_counts(CXType t);          /* its elements have a type that steps use */
bool port_use_is_table(CXType t);        /* cells may look numbers up in it */
bool port_use_is_element(const node *e); /* of an array */
node *port_use_base(node *e);            /* the pointer or array that e is an element of */
/* Finds out whether a local variable leads to memory that no step uses, and no other variable. */
void port_use_find_private(const function *f, symbol *s);
bool port_use_is_of_steps(const unit *u, const node *base); /* steps may use what this leads to */

#endif
