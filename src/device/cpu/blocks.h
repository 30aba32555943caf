/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h - launches on sparse grids: a function is called for one block after the other.
 *
 * A field that the rule reads at neighbours is gathered first: the block and the cells around it
 * that the rule reads are copied to a buffer, and the call gets the buffer instead. Cells outside
 * the grid and inactive ones have the values that grid/boundary.h defines. All other fields are
 * read and written where they are.
 */
#ifndef AMBIT_DEVICE_CPU_BLOCKS_H
#define AMBIT_DEVICE_CPU_BLOCKS_H

#include "ambit.h"
#include "device/device.h"

/* A row of cells of one component that the rule reads: of the block, or beside it. Lengths are in
 * bytes. */
typedef struct ambit__gather_row {
  int64_t outer[AMBIT_MAX_DIMS]; /* its place, relative to the first cell of the block */
  int64_t component;             /* the component in a block of the pool */
  int64_t from;                  /* cell 0 of the row in the neighbour that has it */
  int64_t place;                 /* the same, in its mask, in cells */
  int64_t to;                    /* cell 0 of the row in the buffer */
} ambit__gather_row;

/* What is copied of a row in the block and the buffer, on its own to be read fast. */
typedef struct ambit__gather_move {
  int32_t from, to;
} ambit__gather_move;

/* Rows that are in the same neighbour, and read alike. */
typedef struct ambit__gather_band {
  int near;     /* the neighbour that has cells 0 and more of the rows, in the table of the block */
  int x0, x1;   /* cells, relative to the block */
  int first, n; /* rows */
} ambit__gather_band;

/* How one field is gathered. A unit is a value; of an AMBIT_AOS field, all values of a cell.
 * Lengths are in bytes. */
typedef struct ambit__gather {
  ambit__layout layout; /* of the buffer; own: a block at the origin */
  int unit;
  int64_t block;                                     /* between blocks of the pool */
  int64_t stride[AMBIT_MAX_DIMS];                    /* between its cells, per axis */
  int64_t low[AMBIT_MAX_DIMS], high[AMBIT_MAX_DIMS]; /* cells: how far the rule reads */
  int64_t at;   /* from the start of the scratch memory to the buffer */
  bool is_near; /* all cells are in the block or the blocks of its table */
  int nrows, nbands;
  ambit__gather_row *rows;   /* by band; owned; NULL: the field is not gathered */
  ambit__gather_move *moves; /* by row; owned */
  ambit__gather_band *bands; /* owned */
} ambit__gather;

typedef struct ambit__cpu_blocks {
  const ambit__rule *rule;
  ambit__gather gathers[AMBIT_MAX_PARAMS]; /* by parameter */
  size_t scratch;                          /* bytes of all buffers */
} ambit__cpu_blocks;

/* How a function of a group on a sparse grid (ambit__group.blocks) is called. */
ambit_status ambit__cpu_blocks_open(ambit__errors *errors, const ambit__group *g,
                                    ambit__cpu_blocks **blocks);
void ambit__cpu_blocks_close(ambit__cpu_blocks *blocks);

/* Calls `run` for blocks first .. end - 1 of a launch. `call` is complete but for the boxes, the
 * offset and the origins of fields. If `only_active`, no inactive cell is computed. */
typedef struct ambit__blocks_launch {
  const ambit__cpu_blocks *blocks;
  const ambit__launch *launch;
  void (*run)(const void *user, const ambit_call *call);
  const void *user;
  bool only_active;
} ambit__blocks_launch;
void ambit__cpu_blocks_run(const ambit__blocks_launch *l, ambit_call *call, int64_t first,
                           int64_t end, unsigned char *scratch);

/* ---- gather.c, gather_run.c ---- */

ambit_status ambit__gather_open(ambit__errors *errors, const ambit__blocks *b,
                                const ambit__param *p, ambit_order order, ambit__gather *g);
void ambit__gather_close(ambit__gather *g);
/* Gathers a block of a field into its buffer. */
void ambit__gather_run(const ambit__gather *g, const ambit__argument *arg, int64_t block,
                       unsigned char *buffer);

#endif
