/* SPDX-License-Identifier: BSD-3-Clause */
/* resident.h - tiles that stay: resident.c has the loop over iterations, beside.c the cells
 * beside those of a lane, exchange.c the exchange between tiles.
 *
 * Terms are those of window.h in three dimensions, for a tile that does not move: x is the last
 * axis, along which a lane owns V cells, y the one before it, along which it owns some rows; the
 * groups of a block are its warps, stacked along y. In three dimensions a tile is a brick: along z
 * a lane owns all planes. A block holds a part of the grid in registers: the own cells of its
 * tile, and on each side a halo of as many cells as `every` iterations read. */
#ifndef AMBIT_NEST_RESIDENT_H
#define AMBIT_NEST_RESIDENT_H

#include "nest/window/window.h"

/* Along one axis. */
typedef struct ambit__resident_axis {
  int axis;
  int cells; /* that a block holds */
  int unit;  /* planes, rows or cells of a lane: faces of the grid are multiples of them away */
  int tiles; /* that the grid is cut into */
  int halo;  /* 0: the tile has all cells, and needs none of others */
  int grain; /* the tiles and their halos are multiples of so many cells */
} ambit__resident_axis;

typedef struct ambit__resident {
  ambit__window tile;
  int every;                    /* iterations between two exchanges; 0: a tile has all cells */
  ambit__resident_axis axes[3]; /* z, y and x; in two dimensions z has one cell */
} ambit__resident;

/* Whether the launch changes a loaded value, so that tiles exchange it. */
static inline bool ambit__resident_changes(const ambit__flow *p, int value)
{
  return p->values[value].stage < 0 && p->next[value] >= 0;
}

static inline bool ambit__resident_exchanges(const ambit__resident *j)
{
  return j->axes[0].halo || j->axes[1].halo || j->axes[2].halo;
}

/* ---- resident.c ---- */

/* The nest of a block; `j` must stay until it is printed. */
void ambit__nest_resident(ambit__nest *n, ambit__resident *j);

/* ---- beside.c ---- */

/* The cells beside those of a lane of the values that a stage is the first to read; in a brick some
 * of them plane by plane, in the loop of the stage. */
void ambit__resident_share(const ambit__window *j, int stage);
void ambit__resident_begin_plane(const ambit__window *j, int stage);

/* ---- exchange.c ---- */

/* Bytes of device memory for the exchange. */
size_t ambit__resident_edges(const ambit__resident *j, const int64_t *cells);
/* Cells of a value that a tile awaits, at most. */
size_t ambit__resident_awaited(const ambit__resident *j);
size_t ambit__resident_shared(const ambit__resident *j); /* bytes of shared memory */
/* Letters that a thread of a brick fetches, at most. */
int ambit__resident_letters(const ambit__resident *j);
/* In a brick, what stays the same in all exchanges: the letters that a thread fetches, and a bit
 * for each row from which a lane sends, or to which it takes cells. */
void ambit__resident_let_letters(const ambit__resident *j);
/* The exchange of the border cells of all tiles. */
void ambit__resident_exchange(const ambit__resident *j);

#endif
