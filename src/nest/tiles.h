/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.h - what kernels on tiles and their callers share. */
#ifndef AMBIT_NEST_TILES_H
#define AMBIT_NEST_TILES_H

#include "nest/nest.h"

/* The nest of a block, with threads[0] x threads[1] threads. */
void ambit__nest_tiles(ambit__nest *n, const int threads[2]);

/* Words of a tile in a table; of what is found about it. */
int ambit__tiles_words(const ambit__group *g);
int ambit__tiles_found(const ambit__group *g);
enum {
  AMBIT__TILES_MODE_RUN,     /* computes cells, and compares them */
  AMBIT__TILES_MODE_COMPARE, /* compares them only */
  AMBIT__TILES_MODE_COPY,    /* copies those of SLOT_THAN */
  /* words at the start of SLOT_STATE: the lengths of three lists, used in turn; passes over tiles;
   * whether a cell changed. Behind them are, each with a word per tile, two lists of marks and two
   * of tiles. */
  AMBIT__TILES_PASSES = 3,
  AMBIT__TILES_CHANGED,
  AMBIT__TILES_HEAD = 8
};

#endif
