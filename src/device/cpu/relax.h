/* SPDX-License-Identifier: BSD-3-Clause */
/* relax.h - a part of the grid that is computed in place until it is at rest.
 *
 *   relax.c        the tiles of the part, in the order of their values
 *   relax_tile.c   one tile, until it is at rest
 *
 * A tile is cut into blocks. A block that reads a changed value is awake: it is computed again. The
 * values stay in the store that is read; a thread keeps the results of one block beside it. The
 * other store has the values that a tile had when the tiles around it last looked at it.
 */
#ifndef AMBIT_DEVICE_CPU_RELAX_H
#define AMBIT_DEVICE_CPU_RELAX_H

#include "device/cpu/cpu.h"

enum { AMBIT__MOST_BLOCKS = 64 }; /* of a tile: bits of a mask */

/* The tasks of all threads. */
typedef struct ambit__relax_job {
  const ambit__function *fn;
  const ambit__tile_map *map;
  int out;                       /* parameter of the result */
  ambit__store *values, *before; /* that are read; that the tiles around have seen */
  ambit_full_call call;          /* complete except for the box and the result */
  int64_t block[AMBIT_MAX_DIMS]; /* cells of a block */
} ambit__relax_job;

/* The memory of a thread. */
typedef struct ambit__relax_room {
  ambit_full_call call;
  unsigned char *results; /* of a block; owned */
} ambit__relax_room;

/* A tile to bring to rest. */
typedef struct ambit__relax_task {
  int64_t tile;                   /* its number in the map */
  uint64_t awake;                 /* blocks, one bit each; afterwards 0, unless it was given up */
  uint32_t changed;               /* set: zones with other values than before, one bit each */
  double lead[AMBIT__MOST_ZONES]; /* set, by changed zone: see ambit__relax_lead */
  int64_t updates;                /* set: of cells */
} ambit__relax_task;

/* Sets the size of blocks; their results take so many bytes. */
size_t ambit__relax_blocks(ambit__relax_job *j);
/* The blocks of a tile that have cells of a box. */
uint64_t ambit__relax_mask(const ambit__relax_job *j, const ambit__box *tile,
                           const ambit__box *cells);
void ambit__relax_run(const ambit__relax_job *j, ambit__relax_room *room, ambit__relax_task *t);

#endif
