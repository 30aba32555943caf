/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h - the builder `window`: on a GPU, a row or plane advances through the stages of several
 * iterations. keep.c finds the rows to keep, window.c has the loop over turns, names.c the names of
 * values and loops over the cells of a lane, stage.c the work of a stage, place.c that of a stage
 * on a box, points.c that at points, face.c that of tiles at faces. The tile is in strips.c for two
 * dimensions, in block.c for three, where shared.c has the rows that warps share. Tiles that stay
 * are in resident.h.
 *
 * Terms: x is the last axis; along it each lane of a warp owns V cells. z is the axis along which a
 * warp advances, one row per turn. At a turn all stages compute one row each, a stage as many rows
 * behind the newest row as the stages before it read ahead: its lag. A tile is a strip of columns
 * and a chunk of rows. Strips and chunks overlap, since the cells beside a tile are computed again.
 * Tiles at the faces of the grid run code of their own, which knows the boundaries.
 *
 * In three dimensions y is the axis between z and x. The tile of a block is a rectangle of the x-y
 * plane, and its rows are planes: a lane owns V cells of each of several adjacent rows along y. The
 * lanes with the same rows are a group: a warp or half a warp. The groups of a block are stacked
 * along y, and share rows of a plane through shared memory: a group publishes its first and last
 * rows in one turn, and the adjacent groups fetch them in the next. */
#ifndef AMBIT_NEST_WINDOW_H
#define AMBIT_NEST_WINDOW_H

#include "flow/flow.h"
#include "nest/nest.h"

enum {
  AMBIT__WINDOW_EDGE = 2, /* blocks per chunk of a strip at a face */
  AMBIT__WINDOW_SEEN = 32 /* rows in which a stage may look for points: its lag is smaller */
};

/* The numbers of a plan. */
typedef struct ambit__window_form {
  int cells;        /* of a lane, in a row */
  int rows, planes; /* of a lane; planes: of a brick that stays */
  int lanes;        /* of a group */
  int warps;        /* of a block */
  int ahead;        /* rows loaded in advance; of tiles that stay, iterations between exchanges */
  bool sums;        /* weighted sums keep partial results */
  bool rolled;      /* turns are a loop */
} ambit__window_form;

/* The rows of a value that a warp keeps. */
typedef struct ambit__window_value {
  int lag;         /* of the row that is new in a turn */
  int last;        /* lag of the oldest row that is read */
  int left, right; /* cells of adjacent lanes that are read, */
  int shared;      /* in rows from this lag on; -1: none are */
  int down, up;    /* rows of adjacent groups that are read, */
  int fetched;     /* in planes from this lag on; -1: none are */
  int forgotten;   /* the last such lag */
  bool corners;    /* cells of adjacent lanes are read in these rows, too */
  bool thick;      /* cells of adjacent lanes or groups are read in other planes than the own */
  int low, high;   /* reach of reads along z */
} ambit__window_value;

typedef struct ambit__window_stage {
  int lag;
  /* A weighted sum whose partial results are kept instead of the rows they depend on. */
  const ambit__tap *taps; /* NULL: the stage is not such a sum */
  int ntaps, low, high;
  bool late;         /* a plane is added when the rows of adjacent groups are there, a turn late */
  int value, result; /* the value it sums, and the value it computes */
} ambit__window_stage;

/* The numbers of a plan applied to a flow; one for each of the two codes. */
typedef struct ambit__window {
  ambit__nest *n; /* that is being built */
  const ambit__flow *flow;
  bool edge;     /* the code for tiles at faces */
  bool blind;    /* turns that meet no points are being built */
  int x, y, z;   /* the axes; y is -1 in two dimensions */
  int lane;      /* V */
  int lanes;     /* of a group */
  int warps;     /* of a block */
  int groups;    /* of a block, along y */
  int rows;      /* of a lane */
  int planes;    /* of a lane, in a brick that does not move; 0: planes pass one by one */
  bool rolled;   /* turns are a loop */
  bool stays;    /* the tile does not move: rows are fetched in the turn they are published in */
  bool in_plane; /* in a brick: a loop over planes is open */
  /* In a brick: called in the loop over planes of a stage. */
  void (*begin_plane)(const struct ambit__window *j, int stage);
  bool around[3];    /* the same: along z, y or x it is a whole periodic axis, a ring */
  bool mirrors;      /* rows outside a face along y are copies of rows of the group inside */
  int slack;         /* rows by which tiles move so that such a face lies between two groups */
  int period;        /* turns after which the same registers are used again */
  int ahead;         /* rows loaded in advance */
  int lead, drain;   /* turns before the first result is complete, counted by its row, and after */
  int below, above;  /* rows that are loaded before and after those of the tile */
  int before, after; /* columns of a strip that are not stored: multiples of V */
  int down, up;      /* the same for rows of a block */
  ambit__window_value values[AMBIT__FLOW_VALUES];
  ambit__window_stage stages[AMBIT__FLOW_STAGES];
  /* by value: cells beside those of the results that must be right */
  ambit__flow_cells beside[AMBIT__FLOW_VALUES];
} ambit__window;

/* ---- keep.c ---- */

/* Fills in all but `n`. false: it reads too far. */
bool ambit__window_begin(const ambit__group *g, const ambit__window_form *f, bool edge,
                         ambit__window *j);
/* The same for tiles that do not move. In two dimensions they are planes along axes 0 and 1, and z
 * is an axis that the grid does not have. */
bool ambit__window_begin_tile(const ambit__group *g, const ambit__window_form *f, ambit__window *j);

/* The columns that a warp of the code stores. */
static inline int ambit__window_useful(const ambit__window *j)
{
  return j->lanes * j->lane - j->before - j->after;
}

/* The rows along y that a block stores. */
static inline int ambit__window_useful_rows(const ambit__window *j)
{
  return j->groups * j->rows - j->down - j->up - j->slack;
}

static inline bool ambit__window_is_loaded(const ambit__window *j, int value)
{
  return j->flow->values[value].stage < 0;
}

static inline const char *ambit__window_type(const ambit__window *j, int value)
{
  return j->n->dialect->types[j->flow->values[value].type];
}

/* ---- window.c ---- */

/* The nest of a block; the two codes, which must stay until it is printed. */
void ambit__nest_window(ambit__nest *n, ambit__window *fast, ambit__window *edge);
/* "a0_mem + (a0_o + (start - 2) * a0_s0 + x + 3 * a0_c)", from the position of a cell along z, y
 * and x; NULL: the tile has no such axis. */
const char *ambit__window_address(const ambit__window *j, int operand, int component,
                                  const char *row, const char *line, const char *column);
/* The row that was loaded becomes the new row. */
void ambit__window_copy_row(const ambit__window *j, int value);
/* Loads a row or plane into n0[slot], from the lane's first cell in each row. */
void ambit__window_load(const ambit__window *j, int value, const char *slot, const char *place);
/* Cells of the adjacent lanes, in rows `first` to `end` - 1; the same in the rows of the adjacent
 * groups. */
void ambit__window_share_rows(const ambit__window *j, int value, int lag, int first, int end);
void ambit__window_share_beside(const ambit__window *j, int value, int lag);
/* "const int fast0 = first0 + 4, slow0 = end0 - 4": tiles whose cells lie between these can run
 * the fast code, which loads `below` cells before and `above` cells after them. */
void ambit__window_let_fast(const ambit__window *j, int axis, int below, int above);

/* ---- names.c ---- */

/* "q3[(p + 1) % 3]": the row of a value with this lag, or its plane. */
const char *ambit__window_plane(const ambit__window *j, int value, int lag);
/* "q3[(p + 1) % 3]", in three dimensions "q3[(p + 1) % 3][r + 1]". */
const char *ambit__window_row(const ambit__window *j, int value, int lag);
/* "q3[(p + 1) % 3][j + 2]": a cell of it at an offset. */
const char *ambit__window_cell(const ambit__window *j, int value, int lag, const int *offset);
/* The same, of the lane's own cell. */
const char *ambit__window_own(const ambit__window *j, int value, int lag);
/* "s2[(p + 1) % 2][j]": a partial result. */
const char *ambit__window_partial(const ambit__window *j, int stage, int lag);
/* "j", in three dimensions "(r * 4 + j)": the bit of a cell of the lane. */
const char *ambit__window_bit(const ambit__window *j);
/* "n0[k][r][j]": a cell of the row of a loaded value in a slot; without cells, its row. */
const char *ambit__window_loaded(const ambit__window *j, int value, const char *slot, bool cells);
/* "float q3[3][6][6]": an array of rows, or of planes with so many rows. */
void ambit__window_let_array(const ambit__window *j, const char *name, int value, bool zeroed,
                             int slots, int rows, int cells);
/* A number of a value's type. */
const char *ambit__window_number(const ambit__window *j, int value, double number);
/* What a cell outside a face of this kind has, which is a copy of that one. */
const char *ambit__window_copied(const ambit__window *j, int value, ambit_boundary kind,
                                 const char *cell);
/* In a brick: the loop over its planes from `first` to `end` - 1, and over all of them. */
void ambit__window_open_planes(const ambit__window *j, int first, int end);
void ambit__window_open_own_planes(const ambit__window *j);
void ambit__window_close_planes(const ambit__window *j);
/* In three dimensions: the loop over the rows of a lane from `first` to `end` - 1. */
void ambit__window_open_rows(const ambit__window *j, int first, int end);
void ambit__window_close_rows(const ambit__window *j);
/* The loops over the cells of a lane: r, in three dimensions, and j. */
void ambit__window_open_cells(const ambit__window *j);
void ambit__window_close_cells(const ambit__window *j);
/* "to = from" in all cells of a lane, of a plane, or those for which a condition holds. */
void ambit__window_set(const ambit__window *j, const char *condition, const char *to,
                       const char *from);

/* ---- stage.c ---- */

void ambit__window_let_partials(const ambit__window *j, int stage);
void ambit__window_add_stage(const ambit__window *j, int stage);
/* Whether the stage leaves the cells outside its region as they are. */
bool ambit__window_freezes(const ambit__window *j, int stage);
/* Reads of rules and of weights, for nests. */
bool ambit__window_read(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                        const ambit__expr *e);
bool ambit__window_instead(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                           const ambit__expr *e);

/* ---- place.c: the cells that a stage computes ---- */

/* "unsigned out2": one bit per cell of a lane that is outside the region of a stage across z. */
void ambit__window_let_outside(const ambit__window *j, int stage);
/* The cells of all stages that are placed, box by box. */
void ambit__window_let_placed(const ambit__window *j);
/* All cells pass a stage as they are. */
void ambit__window_pass(const ambit__window *j, int stage);
/* A placed stage: all cells pass; then a block begins for lanes and rows with some in its boxes. */
void ambit__window_open_place(const ambit__window *j, int stage);
/* In a loop over cells: goes on to the next one if this one is not in the box. */
void ambit__window_skip_outside(const ambit__window *j, int stage);

/* ---- points.c ---- */

/* The last number of a cell in a list: the operand with the points, and the number of the cell
 * among those that they touch, less than AMBIT__AIMS. */
#define AMBIT__AIMS                 (1 << 26)
#define AMBIT__AIM(operand, number) ((operand) << 26 | (number))

/* The list of a warp; a launch that asks for its cells ends here. */
void ambit__window_let_points(const ambit__window *j);
/* At the start of a period: the cells in the list of its rows. */
void ambit__window_look_ahead(const ambit__window *j);
/* "aims_seen & 255": some stage meets one of them, or may, in this period; NULL: all turns look. */
const char *ambit__window_meets_points(const ambit__window *j);
void ambit__window_add_points(const ambit__window *j, int stage);

/* ---- shared.c ---- */

size_t ambit__window_shared(const ambit__window *j); /* bytes of shared memory */
/* The addresses of a value's rows in shared memory. */
void ambit__window_let_rows(const ambit__window *j, int value);
/* In a brick: whether a buffer has all rows of the value. */
bool ambit__window_buffers_all(const ambit__window *j, int value);
/* "(float *)(bytes + 512) + p % 2 * 7168": the buffer that is published next. */
const char *ambit__window_buffer(const ambit__window *j, int value);
/* Publishes the rows of the plane that adjacent groups fetch in the next turn; fetches those of the
 * plane before it, or copies rows inside the grid. */
void ambit__window_publish(const ambit__window *j, int value);
void ambit__window_fetch(const ambit__window *j, int value);

/* ---- strips.c ---- */

/* The tile of a warp: its strip and its rows. */
void ambit__window_add_strips(const ambit__window *j, const ambit__window *edge);
/* The columns from .. till - 1 that a warp stores, of the fast code and of that at faces. */
void ambit__window_let_inside(const ambit__window *j);
void ambit__window_let_beside(const ambit__window *edge);
/* The cells of a lane. */
void ambit__window_let_columns(const ambit__window *j);
/* Along y, a launch has this many more blocks than chunks, for the rows at faces. */
static inline int ambit__window_bands(const ambit__window *j, const ambit__window *edge)
{
  const int narrow = ambit__window_useful(edge);

  return 2 * ((ambit__window_useful(j) + narrow - 1) / narrow);
}

/* ---- block.c ---- */

/* The tile and the chunk of a block, and the code that a warp runs. */
void ambit__window_add_block(const ambit__window *j, const ambit__window *edge);
/* The cells of a thread: its position, and the cells of its rows that it stores. */
void ambit__window_let_place(const ambit__window *j);

/* ---- face.c ---- */

/* "ambit_clamped(x + j, least1, limit1)": the position of a cell along an axis; of one without a
 * value, that of the cell it continues with or of any one. The part has the cells beyond a face if
 * the axis is periodic and not cut. */
const char *ambit__window_inside(const ambit__window *j, int axis, const char *at);
/* The positions of a lane's cells; `within`: all columns of the tile have values; `whole`: so have
 * all cells that it loads, if what it says holds. */
void ambit__window_let_edge(const ambit__window *j, const char *whole);
/* Loads the rows of the first turns in advance; the row of a turn, and a later one in advance. */
void ambit__window_load_first(const ambit__window *j, int value);
void ambit__window_load_edge(const ambit__window *j, int value);
/* The new row of a value at a face: its cells outside the region and outside the grid. */
void ambit__window_finish_edge(const ambit__window *j, int value);
/* Rows outside the low face if it repeats rows inside. They are copied as soon as all of these are
 * there, in three dimensions with the rows of the adjacent groups. */
void ambit__window_mirror_low(const ambit__window *j, int value);

#endif
