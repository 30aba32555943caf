/* SPDX-License-Identifier: BSD-3-Clause */
/* move_set.h - moves within engines: copies between parts, and ghost cells.
 *
 * Moves are determined once, when a program is sealed. Devices that launch kernels for them get
 * them in batches.
 */
#ifndef AMBIT_RUNTIME_EXCHANGE_MOVE_SET_H
#define AMBIT_RUNTIME_EXCHANGE_MOVE_SET_H

#include "runtime/program/program.h"

/* The moves of one engine. */
typedef struct ambit__engine_moves {
  ambit__move *moves; /* owned */
  int n;
  size_t cap;
  ambit__batch *batch; /* of all moves; NULL: they run one by one */
} ambit__engine_moves;

typedef struct ambit__move_set {
  ambit__engine_moves *engines; /* by engine; NULL: no move was added; owned */
} ambit__move_set;

/* Adds a move whose destination is a part of this process. */
ambit_status ambit__move_set_add(const ambit_grid *g, ambit__move_set *l, int part,
                                 const ambit__move *m);
ambit_status ambit__move_set_open(ambit *a, ambit__move_set *l); /* after all moves were added */
ambit_status ambit__move_set_run(const ambit *a, const ambit__move_set *l, bool on_border_queue);
void ambit__move_set_free(const ambit *a, ambit__move_set *l);

#endif
