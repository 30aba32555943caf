/* stream.h - the strategy `stream`: stream.c chooses, stream_shape.c says how it is launched, stream_reads.c finds out what has
 * to be kept, stream_emit.c writes the kernel, stream_window.c and stream_sum.c the work on one plane.
 *
 * Words: x is the last axis, along which a lane of a warp owns V cells; z is the axis along which the warp goes on, y the one between
 * (none in 2-D). A plane is what the warp holds at one z: `rows` rows of 32 V cells, and rows beside them that are
 * only read. A stream is one component of one field (in 4-D and up: at one offset along the axes before z). A tile is a few planes that
 * a warp loads all at once; otherwise it goes along a chunk of them, with some loaded ahead.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_PLAN_STREAM_H
#define AMBIT_PLAN_STREAM_H

#include "plan/gpu.h"

enum {
  AMBIT__STREAMS = 32,     /* of a rule, at most: more would not fit into registers */
  AMBIT__STREAM_REACH = 4, /* rows beside its own that a warp reads, at most, on each side */
  AMBIT__STREAM_FRONTS = 64,
  AMBIT__STREAM_WARP = 32,
  AMBIT__STREAM_REGISTERS = 65536, /* of a multiprocessor */
  AMBIT__STREAM_BLOCKS = 65535     /* along y and z: the limit of CUDA */
};

/* One row of a stream's planes: which planes of it are read for plane 0. */
typedef struct ambit__stream_row {
  bool is_read;
  int low, high;  /* the first and the last of them */
  int front;      /* the front that loads it */
  bool has_edges; /* it is read sideways, */
  int edge;       /* in planes up to this one: that is when it needs its neighbours' cells */
  int edge_low;   /* and from this one on */
} ambit__stream_row;

typedef struct ambit__stream {
  int param, component;
  int outer[AMBIT_MAX_DIMS]; /* where it is read, along the axes before z; 0 for all others */
  int number;                /* among the streams of its parameter */
  int left, right;           /* how many of its neighbours' cells a lane reads */
  int end;                   /* cells beside the strip that its end lanes load: a power of two */
  int below, above;          /* rows beside its own that a warp reads */
  int nrows;                 /* below + rows of the plan + above */
  ambit__stream_row rows[AMBIT__STREAM_REACH * 3];
} ambit__stream;

/* The rows of a field that are loaded at one time, with one pointer: all that have the same last plane, or all of a tile. */
typedef struct ambit__stream_front {
  int param;
  int number;    /* among those of its parameter */
  int low, high; /* the first and the last plane of them */
} ambit__stream_front;

/* What a plan comes to for a rule. */
typedef struct ambit__stream_job {
  ambit__gpucode_job gpu;
  int x, y, z; /* the axes; y is -1 in 2-D */
  int lane;    /* V, the cells of a lane in a row */
  int rows;    /* of a warp in a plane */
  int planes;  /* of a tile; 0: the warp goes along a chunk */
  int period;  /* planes after which the same registers are used again */
  bool
      moves; /* registers are moved on after each plane: code for a whole period would be too long */
  bool pinned; /* loads are not to be put off: compilers do that to save registers that are there */
  int high;    /* plane that arrives when plane 0 is computed (sum); 0 (window) */
  int span;    /* planes that one result depends on (sum); 1 (window) */
  int nstreams;
  ambit__stream streams[AMBIT__STREAMS];
  int nfronts;
  ambit__stream_front fronts[AMBIT__STREAM_FRONTS];
  bool whole;     /* launches may store vectors whole: the cells of all twins are in registers, */
  int head, tail; /* and so many at either end may lie beside the box, as fixed faces leave */
  int ntaps;      /* sum: of `taps`, owned */
  ambit__tap *taps;
} ambit__stream_job;

/* ---- stream_reads.c ---- */

/* Cells of a lane: 16 bytes of the largest type, or twice as many if neighbours are read that far off; 0 if further. */
int ambit__stream_lane(const ambit__group *g);
/* Fills in all but `gpu`; false if the rule reads too much or too far, or memory ran out. Free it. */
bool ambit__stream_begin(const ambit__group *g, const ambit__plan *p, ambit__stream_job *j);
void ambit__stream_end(ambit__stream_job *j);
/* The stream of a component at an offset; NULL if there is none. */
const ambit__stream *ambit__stream_find(const ambit__stream_job *j, int param, int component,
                                        const int *offset);
/* Registers of a thread, about. */
int ambit__stream_registers(const ambit__group *g, const ambit__plan *p,
                            const ambit__stream_job *j);

/* ---- stream_loads.c: registers by name, and how they are filled ---- */

/* "u_w[(p + 3) % 4][t + 1][j + 2]": a component of a field at an offset from the cell being computed. */
void ambit__stream_print_cell(const ambit__stream_job *j, int param, int component,
                              const int *offset);
/* "#pragma unroll" and "for (int j = from; j < end; j++) {" */
void ambit__stream_unroll(const ambit__stream_job *j, const char *name, int from, int end);
/* The first z: sums begin with results that are never complete. */
int ambit__stream_start(const ambit__stream_job *j);
/* Pointers and registers; the planes before the loop over z, or all of a tile; those of one phase of the loop. */
void ambit__stream_declare_fields(const ambit__stream_job *j);
void ambit__stream_load_first(const ambit__stream_job *j);
void ambit__stream_load_next(const ambit__stream_job *j);
/* Moves what is in registers on by one plane. */
void ambit__stream_move(const ambit__stream_job *j);

/* For sums, in a loop over the rows q of the plane that has arrived: a cell of the row, "u_w[(p + 1) % 3][q][j + 1]", and its
 * neighbours' cells. */
void ambit__stream_print_arrived(const ambit__stream_job *j, const ambit__stream *s, int dx);
void ambit__stream_share_arrived(const ambit__stream_job *j, const ambit__stream *s);

/* ---- stream_window.c, stream_sum.c: the work on plane z + p ---- */

void ambit__stream_emit_window(const ambit__stream_job *j);
/* Before the kernel: a table of the weights, if there has to be one. */
void ambit__stream_declare_weights(const ambit__stream_job *j);
void ambit__stream_declare_sums(const ambit__stream_job *j);
void ambit__stream_emit_sum(const ambit__stream_job *j);
void ambit__stream_move_sums(const ambit__stream_job *j);
/* "float v_n[4];", the results of a lane in one row, how they are stored, and on to the next plane. */
void ambit__stream_declare_results(const ambit__stream_job *j);
void ambit__stream_store(const ambit__stream_job *j);
void ambit__stream_advance(const ambit__stream_job *j);

/* ---- stream_shape.c ---- */

/* Planes that a chunk reads and another one also does. */
int ambit__stream_overlap(const ambit__group *g);
/* The axis along which warps go on. */
int ambit__stream_axis(const ambit__group *g);
void ambit__stream_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                         ambit__shape *shape);

/* ---- stream_emit.c ---- */

void ambit__stream_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                        ambit__writer *w);

#endif
