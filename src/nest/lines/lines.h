/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.h - shared by the files of nest/lines: a sweep whose cells pass through shared memory.
 *
 *   tiles.c    the cells that a tile reads, and where they are
 *   copies.c   cells from memory to a ring of tiles, and results back
 *   lines.c    the loops
 */
#ifndef AMBIT_NEST_LINES_LINES_H
#define AMBIT_NEST_LINES_LINES_H

#include "nest/nest.h"

enum { AMBIT__LINES_TILES = 24 };

/* The cells of a component that are read at the same place along all axes but two: those of lines,
 * and across the lanes. */
typedef struct ambit__lines_tile {
  int param, component;
  const int *offset;
  int low[2], high[2]; /* cells beside the tile: across the lanes, along lines */
} ambit__lines_tile;

typedef struct ambit__lines {
  const ambit__group *g;
  ambit__nest *n;
  const ambit__nest_lines *f;
  int across, along; /* axes; across -1: the grid has one */
  bool rows;         /* lines are rows */
  bool together;     /* several cells are being built */
  int ntiles;
  ambit__lines_tile tiles[AMBIT__LINES_TILES];
} ambit__lines;

/* ---- tiles.c ---- */

void ambit__lines_begin(ambit__lines *j, const ambit__group *g, const ambit__nest_lines *f);
/* Whether a field is in tiles; the tile that a read is in, NULL: none; whether results of a field
 * wait in shared memory for their stores. */
bool ambit__lines_has(const ambit__lines *j, int param);
ambit__lines_tile *ambit__lines_find(ambit__lines *j, int param, int component, const int *offset);
bool ambit__lines_waits(const ambit__lines *j, int param);
/* Whether an axis is neither that of lines nor across the lanes. */
bool ambit__lines_beside(const ambit__lines *j, int axis);
/* Rows of a tile in shared memory; its columns without those beside it; and those. */
int ambit__lines_rows(const ambit__lines *j, const ambit__lines_tile *s);
int ambit__lines_columns(const ambit__lines *j);
int ambit__lines_columns_beside(const ambit__lines *j, const ambit__lines_tile *s);
/* Cells of a vector of 16 bytes, in which a lane loads and stores cells of lines along rows in
 * shared memory; 1: cell by cell. */
int ambit__lines_vector(const ambit__lines *j, int param);
/* The place of the first column that is not beside the tile, at a vector. */
int ambit__lines_left(const ambit__lines *j, const ambit__lines_tile *s);
/* The distance of rows in shared memory, of a tile and of results. */
int ambit__lines_tile_pitch(const ambit__lines *j, const ambit__lines_tile *s);
int ambit__lines_row_pitch(const ambit__lines *j, int param);

/* "u_t0", of a tile; "v_row", of results; "u_mem + (u_o + u_c + (y0 - 1) * u_s0)", the memory of a
 * component but for the axes of a tile; "u_s0", the distance of its rows; "start + t * 32", the
 * first cell of tile t along lines. */
const char *ambit__lines_name(const ambit__lines *j, const ambit__lines_tile *s, const char *what);
const char *ambit__lines_row(ambit__nest *n, ambit__nest_access a);
const char *ambit__lines_base(const ambit__lines *j, int param, int component, const int *offset);
const char *ambit__lines_stride(const ambit__lines *j, int param);
const char *ambit__lines_start(const ambit__lines *j, const char *t);

/* ---- copies.c ---- */

/* Waits for tile t, and begins to copy the one that takes the place of that before it. */
void ambit__lines_advance(const ambit__lines *j);
/* Stores the results of a component in a tile; user: the ambit__lines. */
void ambit__lines_store(ambit__nest *n, ambit__nest_access a, void *user);

#endif
