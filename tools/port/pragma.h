/* SPDX-License-Identifier: BSD-3-Clause */
/* pragma.h - directives: their places and their clauses.
 */
#ifndef AMBIT_PORT_PRAGMA_H
#define AMBIT_PORT_PRAGMA_H

#include "nest.h"

typedef struct pragma {
  unsigned begin, end, line; /* of its text in the main file */
  bool is_must, is_serial, sum_any, is_wait;
  bool has_shape;    /* it tells the shape of an array */
  unsigned from, to; /* the text it is about; 0: none */
  struct pragma *next;
} pragma;

/* All of the file, in order; false: one of them has a mistake, which was told. */
bool port_pragmas(unit *u);
void port_tell_idle(const unit *u); /* about directives that are about nothing */
/* Functions that are called inside the statement of a directive belong to it, too. */
void port_pragmas_spread(unit *u);
/* The innermost directive around a loop; NULL: none. */
const pragma *port_pragma_of(const pragma *list, const node *at);

/* Directives of OpenMP and OpenACC, in functions that were changed, become comments: their loops
 * are steps now, or have calls before them. */
void port_drop_directives(unit *u);

/* Shapes and distinct arrays that were told. */
typedef struct told_shape {
  const char *name;
  int naxes;
  const char *extents[AXES];
  struct told_shape *next;
} told_shape;
extern const told_shape *port_told_shapes; /* of the file that is being translated */
/* An extent that was told, with the variables of the function; bad: not understood. */
poly port_told_poly(const char *text);

#endif
