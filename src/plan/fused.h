/* SPDX-License-Identifier: BSD-3-Clause */
/* fused.h - the strategy `fused`. fused.c chooses the plan, fused_job.c finds the rows to keep,
 * fused_shape.c has the launch, fused_emit.c writes the kernel, fused_stage.c the work of a stage,
 * fused_place.c that of a stage on a box, fused_face.c that of tiles at faces.
 * The tile is in fused_strip.c for two dimensions, in fused_block.c for three, where fused_rows.c
 * has the rows that warps share.
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
#ifndef AMBIT_PLAN_FUSED_H
#define AMBIT_PLAN_FUSED_H

#include "plan/gpu.h"
#include "plan/pipeline.h"

enum {
  AMBIT__FUSED_WARP = 32,
  AMBIT__FUSED_REGISTERS = 65536, /* per multiprocessor */
  AMBIT__FUSED_MOST_WORK = 12000, /* operations in unrolled code */
  AMBIT__FUSED_EDGE = 2           /* blocks per chunk of a strip at a face */
};

/* Cells beside those of the results that must be right: along z, y and x. */
typedef struct ambit__fused_cells {
  int low, high, down, up, left, right;
} ambit__fused_cells;

/* The rows of a value that a warp keeps. */
typedef struct ambit__fused_value {
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
  ambit__fused_cells beside;
} ambit__fused_value;

typedef struct ambit__fused_stage {
  int lag;
  /* A weighted sum whose partial results are kept instead of the rows they depend on. */
  ambit__tap *taps; /* NULL: the stage is not such a sum; owned */
  int ntaps, low, high;
  bool late;         /* a plane is added when the rows of adjacent groups are there, a turn late */
  int value, result; /* the value it sums, and the value it computes */
  ambit__fused_cells beside;
} ambit__fused_stage;

/* The parameters of a plan applied to a pipeline; one for each of the two codes. */
typedef struct ambit__fused_job {
  ambit__gpucode_job gpu;
  const ambit__pipeline *pipe;
  bool edge;     /* the code for tiles at faces */
  int x, y, z;   /* the axes; y is -1 in two dimensions */
  int lane;      /* V */
  int lanes;     /* of a group */
  int groups;    /* of a block, along y */
  int rows;      /* of a lane */
  int planes;    /* of a lane, in a brick that does not move; 0: planes pass one by one */
  bool stays;    /* the tile does not move: rows are fetched in the turn they are published in */
  bool in_plane; /* in a brick: a loop over planes is open */
  /* In a brick: called in the loop over planes of a stage. */
  void (*begin_plane)(const struct ambit__fused_job *j, int stage);
  bool around[3];    /* the same: along z, y or x it is a whole periodic axis, a ring */
  bool mirrors;      /* rows outside a face along y are copies of rows of the group inside */
  int slack;         /* rows by which tiles move so that such a face lies between two groups */
  int period;        /* turns after which the same registers are used again */
  int ahead;         /* rows loaded in advance */
  int lead, drain;   /* turns before the first result is complete, counted by its row, and after */
  int below, above;  /* rows that are loaded before and after those of the tile */
  int before, after; /* columns of a strip that are not stored: multiples of V */
  int down, up;      /* the same for rows of a block */
  ambit__fused_value values[AMBIT__PIPE_VALUES];
  ambit__fused_stage stages[AMBIT__PIPE_STAGES];
} ambit__fused_job;

/* ---- fused_job.c ---- */

/* Fills in all but `gpu`. false: it reads too far, or memory ran out. Release with
 * ambit__fused_end, also then. */
bool ambit__fused_begin(const ambit__group *g, const ambit__plan *p, bool edge,
                        ambit__fused_job *j);
void ambit__fused_end(ambit__fused_job *j);
/* The same for a plan of the strategy `persistent`, whose tiles do not move. In two dimensions they
 * are planes along axes 0 and 1, and z is an axis that the grid does not have. */
bool ambit__fused_begin_tile(const ambit__group *g, const ambit__plan *p, ambit__fused_job *j);
int ambit__fused_registers(const ambit__fused_job *j);    /* of a thread, approximately */
int ambit__fused_widest(const ambit__pipeline *p);        /* bytes of the largest value */
double ambit__fused_operations(const ambit__pipeline *p); /* of all stages, per cell */

/* Words of four bytes of a value: registers of a cell. */
static inline int ambit__fused_words(const ambit__pipeline *p, int value)
{
  return ambit_type_size(p->values[value].type) > 4 ? 2 : 1;
}

/* The columns that a warp of the code stores. */
static inline int ambit__fused_useful(const ambit__fused_job *j)
{
  return j->lanes * j->lane - j->before - j->after;
}

/* The rows along y that a block stores. */
static inline int ambit__fused_useful_rows(const ambit__fused_job *j)
{
  return j->groups * j->rows - j->down - j->up - j->slack;
}

/* The row inside that the n-th row outside a face is a copy of, counted from the face; 0: none. */
static inline int ambit__fused_mirror(ambit_boundary kind, int n)
{
  return kind == AMBIT_REFLECT ? n + 1 : kind == AMBIT_SYMMETRIC ? n : kind == AMBIT_CLAMP ? 1 : 0;
}

/* The boundary of a value at a face; none where the grid continues. */
static inline ambit_boundary ambit__fused_kind(const ambit__fused_job *j, int value, int axis,
                                               int side)
{
  const ambit__boundaries *b = j->pipe->values[value].boundaries;

  return b && axis >= 0 && !j->pipe->periodic[axis] ? b->kind[axis][side] : AMBIT_NONE;
}

/* Whether cells beyond a face are those at the other one, and the part has them. */
static inline bool ambit__fused_wraps(const ambit__fused_job *j, int axis)
{
  return j->pipe->periodic[axis] && !j->pipe->cut[axis];
}

/* Layers at a face that some stage does not compute, unless it is placed. */
int ambit__fused_inset(const ambit__pipeline *p, int axis, int side);

/* ---- fused_stage.c ---- */

/* "q3[(p + 1) % 3]": the row of a value with this lag, or its plane. */
void ambit__fused_print_plane(const ambit__fused_job *j, int value, int lag);
/* "q3[(p + 1) % 3]", in three dimensions "q3[(p + 1) % 3][r + 1]". */
void ambit__fused_print_row(const ambit__fused_job *j, int value, int lag);
/* In a brick: the loop over its planes from `first` to `end` - 1, and over all of them. */
void ambit__fused_open_planes(const ambit__fused_job *j, int first, int end);
void ambit__fused_open_own_planes(const ambit__fused_job *j);
void ambit__fused_close_planes(const ambit__fused_job *j);
/* In three dimensions: the loop over the rows of a lane from `first` to `end` - 1. */
void ambit__fused_open_rows(const ambit__fused_job *j, int first, int end);
void ambit__fused_close_rows(const ambit__fused_job *j);
/* The loops over the cells of a lane: r, in three dimensions, and j. */
void ambit__fused_open_cells(const ambit__fused_job *j);
void ambit__fused_close_cells(const ambit__fused_job *j);
/* "j", in three dimensions "(r * 4 + j)": the bit of a cell of the lane. */
void ambit__fused_print_bit(const ambit__fused_job *j);
/* "ambit_load<4>(", or "ambit_load_float_4(": the start of a call for the cells of a lane. */
void ambit__fused_print_call(const ambit__fused_job *j, const char *name, int value);
void ambit__fused_declare_stage(const ambit__fused_job *j, int stage); /* its partial results */
void ambit__fused_emit_stage(const ambit__fused_job *j, int stage);
/* Whether the stage leaves the cells outside its region as they are. */
bool ambit__fused_freezes(const ambit__fused_job *j, int stage);

/* ---- fused_place.c: the cells that a stage computes ---- */

/* "unsigned out2": one bit per cell of a lane that is outside the region of a stage across z. */
void ambit__fused_declare_outside(const ambit__fused_job *j, int stage);
/* The cells of all stages that are placed, box by box. */
void ambit__fused_declare_placed(const ambit__fused_job *j);
/* A placed stage: all cells pass; then a block begins for lanes and rows with some in its boxes. */
void ambit__fused_open_place(const ambit__fused_job *j, int stage);
/* In a loop over cells: goes on to the next one if this one is not in the box. */
void ambit__fused_skip_outside(const ambit__fused_job *j, int stage);

/* ---- fused_rows.c ---- */

size_t ambit__fused_shared(const ambit__fused_job *j); /* bytes of shared memory */
/* The addresses of a value's rows in shared memory. */
void ambit__fused_declare_rows(const ambit__fused_job *j, int value);
/* In a brick: whether a buffer has all rows of the value. */
bool ambit__fused_buffers_all(const ambit__fused_job *j, int value);
/* "(float *)(bytes + 512) + p % 2 * 7168": the buffer that is published next. */
void ambit__fused_print_buffer(const ambit__fused_job *j, int value);
/* Publishes the rows of the plane that adjacent groups fetch in the next turn; fetches those of the
 * plane before it, or copies rows inside the grid. */
void ambit__fused_publish(const ambit__fused_job *j, int value);
void ambit__fused_fetch(const ambit__fused_job *j, int value);

/* ---- fused_strip.c ---- */

/* The tile of a warp: its strip and its rows. */
void ambit__fused_emit_strips(const ambit__fused_job *j, const ambit__fused_job *edge);
/* The columns from .. till - 1 that a warp stores, of the fast code and of that at faces. */
void ambit__fused_emit_inside(const ambit__fused_job *j);
void ambit__fused_emit_beside(const ambit__fused_job *edge);
/* The cells of a lane. */
void ambit__fused_emit_columns(const ambit__fused_job *j);
/* Along y, a launch has this many more blocks than chunks, for the rows at faces. */
static inline int ambit__fused_bands(const ambit__fused_job *j, const ambit__fused_job *edge)
{
  const int narrow = ambit__fused_useful(edge);

  return 2 * ((ambit__fused_useful(j) + narrow - 1) / narrow);
}

/* ---- fused_block.c ---- */

/* The tile and the chunk of a block, and the code that a warp runs. */
void ambit__fused_emit_block(const ambit__fused_job *j, const ambit__fused_job *edge);
/* The cells of a thread: its position, and the cells of its rows that it stores. */
void ambit__fused_emit_place(const ambit__fused_job *j);

/* ---- fused_shape.c ---- */

/* Two dimensions: the tiles of a strip at a face, approximately. */
double ambit__fused_pieces(const ambit__fused_job *j, const ambit__plan *p, double rows,
                           double chunks);
/* The time of a launch with very few warps, in that of a full wave. */
double ambit__fused_least_wave(const ambit__plan *p);
/* Two dimensions: whether some tiles are at faces. */
bool ambit__fused_has_faces(const ambit__fused_job *j);
/* If not, the time of a launch, in rows: all tiles take as long, so that waves begin and end
 * together, and a block that is one too many takes as long as a wave. */
double ambit__fused_even_turns(const ambit__fused_job *j, const ambit__plan *p, double rows,
                               double strips, double chunks);
/* The number of chunks that rows are cut into. */
int64_t ambit__fused_chunks(const ambit__fused_job *j, const ambit__plan *p, int64_t rows,
                            int64_t strips);
void ambit__fused_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                        ambit__shape *shape);

/* ---- fused_face.c ---- */

/* "ambit_clamped(x + j, least1, limit1)": the position of a cell along an axis, or of a cell
 * without a value, that of the cell it continues with or of any one. */
void ambit__fused_print_inside(const ambit__fused_job *j, int axis, const char *at);
/* "int column[4];", with the positions of n cells along an axis, inside the grid. */
void ambit__fused_declare_inside(const ambit__fused_job *j, const char *name, int n, const char *at,
                                 int axis);
/* Loads the rows of the first turns in advance; the row of a turn, and a later one in advance. */
void ambit__fused_load_first(const ambit__fused_job *j, int value);
void ambit__fused_load_edge(const ambit__fused_job *j, int value);
/* The new row of a value at a face: its cells outside the region and outside the grid. */
void ambit__fused_finish_edge(const ambit__fused_job *j, int value);
/* Rows outside the low face if it repeats rows inside. They are copied as soon as all of these are
 * there, in three dimensions with the rows of the adjacent groups. */
void ambit__fused_mirror_low(const ambit__fused_job *j, int value);

/* ---- fused_emit.c ---- */

/* "a0_mem + (a0_o + (start - 2) * a0_s0 + x + 3 * a0_c)"; `line` is the position along y. */
void ambit__fused_print_address(const ambit__fused_job *j, int operand, int component,
                                const char *row, const char *line, const char *column);
/* The row that was loaded becomes the new row. */
void ambit__fused_copy_row(const ambit__fused_job *j, int value);
/* Cells of the adjacent lanes, in rows `first` to `end` - 1; the same in the rows of the adjacent
 * groups. */
void ambit__fused_share_rows(const ambit__fused_job *j, int value, int lag, int first, int end);
void ambit__fused_share_beside(const ambit__fused_job *j, int value, int lag);
/* "const int fast0 = first0 + 4, slow0 = end0 - 4;": tiles whose cells lie between these can run
 * the fast code, which loads `below` cells before and `above` cells after them. */
void ambit__fused_declare_fast(const ambit__fused_job *j, int axis, int below, int above);
void ambit__fused_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                       ambit__writer *w);

#endif
