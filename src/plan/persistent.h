/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent.h - the strategy `persistent`: persistent.c chooses the plan, persistent_emit.c writes
 * the kernel, persistent_mail.c the exchange between tiles.
 *
 * Terms are those of fused.h in three dimensions, for a tile that does not move: x is the last
 * axis, along which a lane owns V cells, y the first one, along which it owns some rows; the groups
 * of a block are its warps, stacked along y. A block holds a window of the grid in registers: the
 * own cells of its tile, and on each side a halo of as many cells as `every` iterations read. */
#ifndef AMBIT_PLAN_PERSISTENT_H
#define AMBIT_PLAN_PERSISTENT_H

#include "plan/fused.h"

/* Along one axis. */
typedef struct ambit__window {
  int cells; /* of the window */
  int unit;  /* rows or cells of a lane: a face of the grid is a multiple of them from the start */
  int tiles; /* that the grid is cut into */
  int halo;  /* 0: the tile has all cells, and needs none of others */
  int grain; /* the tiles and their halos are multiples of so many cells */
} ambit__window;

typedef struct ambit__persistent_job {
  ambit__fused_job tile; /* z is an axis that the grid does not have */
  int every;             /* iterations between two exchanges; 0: a tile has all cells */
  ambit__window window[2];
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
  return j->window[0].halo || j->window[1].halo;
}

/* ---- persistent_mail.c ---- */

/* Bytes of device memory for the exchange. */
size_t ambit__persistent_mail(const ambit__persistent_job *j, const int64_t *cells);
/* Cells of a value that a tile awaits, at most. */
size_t ambit__persistent_awaited(const ambit__persistent_job *j);
size_t ambit__persistent_shared(const ambit__persistent_job *j); /* bytes of shared memory */
/* The exchange of the border cells of all tiles. */
void ambit__persistent_emit_mail(const ambit__persistent_job *j);

/* ---- persistent_emit.c ---- */

/* "q3[0][r + 1][j + 1]": a cell of the lane. */
void ambit__persistent_print_cell(const ambit__fused_job *j, int value, const char *row);
void ambit__persistent_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                            ambit__writer *w);

#endif
