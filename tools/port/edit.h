/* SPDX-License-Identifier: BSD-3-Clause */
/* edit.h - changes to the text of the main file, and notes about them.
 */
#ifndef AMBIT_PORT_EDIT_H
#define AMBIT_PORT_EDIT_H

#include "nest.h"

/* Inserts text before an offset, in the order of the calls; `remove` characters after it vanish. */
void port_edit(unsigned offset, unsigned remove, const char *text);
/* The text with all changes; NULL when memory ran out. free() it. */
char *port_edit_apply(const unit *u);

/* emit.c: the tables of a nest's steps, as C text, and its calls. */
const char *port_emit_rules(const unit *u, step *steps);
void port_emit_calls(const unit *u, nest *n, bool check); /* of all cases */
const char *port_indent_at(const unit *u, unsigned offset);
/* The end of a statement: behind its semicolon. */
unsigned port_statement_end(const unit *u, const node *s);

int port_emit_slot(const step *s, const param *p); /* its number in the table of the rule */

/* until.c: a loop around a nest that ends when its result is small is marked. */
void port_until(const function *f, const nest *n, const step *steps);

/* host.c: calls before host code that uses arrays of steps. */
void port_host_use(const step *steps); /* an array of these steps: its type counts */
void port_host(unit *u);
void port_host_has_step(const node *at, bool has_results); /* the nest was replaced */
bool port_host_is_nest(const node *n);
bool port_host_is_quiet(const node *n); /* and has no result */

/* note.c: file, line, caret, cause and advice on standard error. */
void port_note(const unit *u, const node *at, const char *kind, const char *what,
               const char *advice);

#endif
