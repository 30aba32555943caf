/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.h - shows a sealed program: its parts, messages and schedule as text, and the
 * dependencies within an iteration as a graph. `ambit explain` shows programs of one step that
 * need not run; the option `explain` any program, when it is sealed.
 */
#ifndef AMBIT_RUNTIME_EXPLAIN_EXPLAIN_H
#define AMBIT_RUNTIME_EXPLAIN_EXPLAIN_H

#include "base/text.h"
#include "runtime/program/program.h"

/* Maximum entries of the lists that are printed. */
enum { AMBIT__SHOWN_PARTS = 16, AMBIT__SHOWN_MESSAGES = 16, AMBIT__SHOWN_BOXES = 4 };

/* "cpu" and 0: the device of a part, on any process. All processes have the same devices. */
const char *ambit__part_device(const ambit_grid *g, int part, int *ordinal);
/* Whether two parts are on the same device of one process. */
bool ambit__parts_near(const ambit_grid *g, int a, int b);
const char *ambit__cells_name(ambit__cells cells);
/* Programs of a context are numbered, from 1, in the order in which they are first shown. */
int ambit__explain_number(ambit *a, ambit_program *p);

/* parts.c: the parts and their owners, and the messages of an iteration, for all processes. */
void ambit__explain_parts(const ambit_program *p, ambit__text *t);
ambit_status ambit__explain_messages(ambit_program *p, ambit__text *t);

/* listing.c: the schedules of a program, for this process. */
void ambit__explain_schedule(const ambit_program *p, ambit__text *t);

/* dependencies.c: the dependencies within an iteration of this process, as a file: a drawing, if
 * its name ends in .svg, and else a graph for Graphviz; "-": that, on standard output. */
ambit_status ambit__explain_graph(ambit_program *p, const char *path);

/* svg.c: a drawing of a graph. */

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

/* explain.c: does what the option explain asks for, once for each program, on process 0. */
ambit_status ambit__explain_program(ambit_program *p);

#endif
