/* SPDX-License-Identifier: BSD-3-Clause */
/* svg.h - a drawing of a graph. */
#ifndef AMBIT_RUNTIME_EXPLAIN_SVG_H
#define AMBIT_RUNTIME_EXPLAIN_SVG_H

#include "base/error.h"
#include "base/text.h"

enum { AMBIT__LABEL_CHARS = 320 };

/* From a node to a later one. */
typedef struct ambit__edge {
  size_t from, to;
} ambit__edge;

typedef struct ambit__box_of_text {
  const char *label; /* lines, divided by \n, as in Graphviz */
  const char *kind;
  const char *colour;
} ambit__box_of_text;

/* Appends an SVG file. Nodes stand below those that they depend on. */
ambit_status ambit__graph_draw(ambit__errors *errors, const char *title,
                               const ambit__box_of_text *nodes, size_t count,
                               const ambit__edge *edges, size_t nedges, ambit__text *t);

#endif
