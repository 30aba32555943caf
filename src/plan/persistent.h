/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent.h - the strategy `persistent`: persistent.c chooses the plan, persistent_emit.c writes
 * the kernel, persistent_cells.c its cells and those beside them, persistent_mail.c the exchange
 * between tiles.
 *
 * Terms are those of fused.h in three dimensions, for a tile that does not move: x is the last
 * axis, along which a lane owns V cells, y the one before it, along which it owns some rows; the
 * groups of a block are its warps, stacked along y. In three dimensions a tile is a brick: along z
 * a lane owns all planes. A block holds a window of the grid in registers: the own cells of its
 * tile, and on each side a halo of as many cells as `every` iterations read. */
#ifndef AMBIT_PLAN_PERSISTENT_H
#define AMBIT_PLAN_PERSISTENT_H

#include "plan/fused.h"

/* Along one axis. */
typedef struct ambit__window {
  int axis;
  int cells; /* of the window */
  int unit;  /* planes, rows or cells of a lane: faces of the grid are multiples of them away */
  int tiles; /* that the grid is cut into */
  int halo;  /* 0: the tile has all cells, and needs none of others */
  int grain; /* the tiles and their halos are multiples of so many cells */
} ambit__window;

typedef struct ambit__persistent_job {
  ambit__fused_job tile;
  int every;               /* iterations between two exchanges; 0: a tile has all cells */
  ambit__window window[3]; /* along z, y and x; in two dimensions z has one cell */
} ambit__persistent_job;

/* false: the plan does not suit the grid or the stages. */
bool ambit__persistent_begin(const ambit__group *g, const ambit__plan *p, ambit__persistent_job *j);

/* Whether the launch changes a loaded value, so that tiles exchange it. */
static inline bool ambit__persistent_changes(const ambit__pipeline *p, int value)
{
  return p->values[value].stage < 0 && p->next[value] >= 0;
}

static inline bool ambit__persistent_exchanges(const ambit__persistent_job *j)
{
  return j->window[0].halo || j->window[1].halo || j->window[2].halo;
}

/* ---- persistent_mail.c ---- */

/* Bytes of device memory for the exchange. */
size_t ambit__persistent_mail(const ambit__persistent_job *j, const int64_t *cells);
/* Cells of a value that a tile awaits, at most. */
size_t ambit__persistent_awaited(const ambit__persistent_job *j);
size_t ambit__persistent_shared(const ambit__persistent_job *j); /* bytes of shared memory */
/* Letters that a thread of a brick fetches, at most. */
int ambit__persistent_letters(const ambit__persistent_job *j);
/* In a brick, what stays the same in all exchanges: the letters that a thread fetches, and a bit
 * for each row from which a lane sends, or to which it takes cells. */
void ambit__persistent_declare_letters(const ambit__persistent_job *j);
/* The exchange of the border cells of all tiles. */
void ambit__persistent_emit_mail(const ambit__persistent_job *j);

/* ---- persistent_cells.c ---- */

/* "q3[0][r + 1][j + 1]": a cell of the lane. */
void ambit__persistent_print_cell(const ambit__fused_job *j, int value);
/* The start of a statement for each cell of a lane, and its end. */
void ambit__persistent_begin_cells(const ambit__fused_job *j);
void ambit__persistent_end_cells(const ambit__fused_job *j, const char *tail);
/* The cells beside those of a lane of the values that a stage is the first to read; in a brick some
 * of them plane by plane, in the loop of the stage. */
void ambit__persistent_share(const ambit__fused_job *j, int stage);
void ambit__persistent_begin_plane(const ambit__fused_job *j, int stage);

/* ---- persistent_emit.c ---- */

void ambit__persistent_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                            ambit__writer *w);

#endif
