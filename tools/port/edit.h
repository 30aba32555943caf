/* SPDX-License-Identifier: BSD-3-Clause */
/* edit.h - changes to the texts of files, and notes about them.
 */
#ifndef AMBIT_PORT_EDIT_H
#define AMBIT_PORT_EDIT_H

#include "nest.h"

void port_edit_file(unit *u); /* the calls below are about this file */
/* Inserts text before an offset, in the order of the calls; `remove` characters after it vanish. */
void port_edit(unsigned offset, unsigned remove, const char *text);
const char *port_commented(const char *first, const char *last); /* a directive as a comment */
bool port_is_edited(unsigned begin, unsigned end); /* anything in this part of the text */
/* Inserts whole lines before an offset: at the start of its line, if nothing stands before it. */
void port_edit_lines(const unit *u, unsigned offset, const char *text);
/* Where the declaration that has this offset in it begins, with all that belongs to it; outside:
 * that, or the start of the outermost #if around it. */
unsigned port_declaration_at(const unit *u, unsigned offset, unsigned *outside);
/* The next text that is neither space, comment nor directive. */
unsigned port_next_token(const unit *u, unsigned at);
/* The text with all changes; NULL when memory ran out. free() it. */
char *port_edit_apply(const unit *u);

/* emit.c: the tables of a nest's steps, as C text, and its calls. */
const char *port_emit_rules(const unit *u, step *steps);
void port_emit_calls(const unit *u, nest *n, bool check); /* of all cases */
const char *port_indent_at(const unit *u, unsigned offset);
/* The end of a statement: behind its semicolon. */
unsigned port_statement_end(const unit *u, const node *s);

int port_emit_slot(const step *s, const param *p); /* its number in the table of the rule */
const char *port_emit_type(value_type t);          /* of elements: AMBIT_F32 */

/* until.c: whether the loop around a nest ends when its result is small; marks: it is marked. */
bool port_until(const function *f, const nest *n, const step *steps, bool marks);

/* numbers.c: finds the variables of a function whose results may come late; whether those of a step
 * do; calls for those that a nest reads, as C text; and what stands behind their declarations. */
void port_numbers_find(const function *f, nest **nests, int n);
bool port_number_may_be_late(const function *f, symbol *s);
bool port_number_is_late(const step *s);
const char *port_numbers_read(const nest *n);
void port_numbers_declare(const unit *u, const function *f);

/* host.c: calls before host code that uses arrays of steps. */
void port_host_use(const step *steps); /* an array of these steps: its type counts */
void port_host_use_type(value_type t);
void port_host_steps(unit *units); /* which functions have steps, before: */
/* is_called: code that is not translated may call functions of the file. explains: notes about host
 * code that costs copies in each round of a loop. */
void port_host(unit *u, bool is_called, bool explains);
void port_host_has_step(const node *at, bool has_results); /* the nest was replaced */
bool port_host_is_nest(const node *n);
bool port_host_is_quiet(const node *n); /* and has no result */

/* probes.c: finds the host statements of a function that may be done later, once its steps are
 * known; whether it is one, or a loop over such; its call. */
void port_probes_find(function *f, nest **nests, int n);
bool port_probe_is(const node *s);
bool port_probe_is_source(const node *s);
bool port_probe_writes(const symbol *s); /* a probe does, to what the variable leads to */
bool port_probe_is_loop(const node *s);
bool port_probe_is_repeated(const function *f, const node *s); /* such a loop, within another one */
const char *port_probe_subscripts(
    node *e); /* calls that bring elements in subscripts to the host */
const char *port_probe_text(const unit *u, const function *f, const node *s);
/* Whether a nest is such a loop over single elements of arrays of others: a line of receivers. */
bool port_probe_is_line(const function *f, const nest *n, nest *const *nests, int nnests);

/* note.c: file, line, caret, cause and advice on standard error. */
void port_note(const unit *u, const node *at, const char *kind, const char *what,
               const char *advice);

#endif
