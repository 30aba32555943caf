/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - the strategy `stream`. stream.c chooses the plan, stream_shape.c the launch;
 * stream_reads.c finds the values to keep in registers; stream_emit.c writes the kernel,
 * stream_window.c and stream_sum.c the work on one plane.
 *
 * Terms: x is the last axis; along it each lane of a warp owns V cells. z is the axis along which
 * the warp advances, y the one between (2-D has none). A plane is the data of a warp at one z:
 * `rows` rows of 32 V cells, and the adjacent rows that are only read. A stream is one component of
 * one field (in 4-D and up: at one offset along the axes before z). A tile is a few planes that a
 * warp loads all at once. Without tiles, a warp advances through a chunk of planes, with some
 * loaded ahead. Bytes are in registers as words of four, and rules on them are computed for two
 * cells at a time (pairs.h).
 */
#ifndef AMBIT_PLAN_STREAM_H
#define AMBIT_PLAN_STREAM_H

#include "nest/factors.h"
#include "plan/gpu.h"
#include "plan/pairs.h"

enum {
  AMBIT__STREAMS = 32,     /* most streams of a rule: more would not fit in registers */
  AMBIT__STREAM_REACH = 4, /* most rows beside its own that a warp reads, on each side */
  AMBIT__STREAM_FRONTS = 64,
  AMBIT__STREAM_WARP = 32,
  AMBIT__STREAM_REGISTERS = 65536, /* per multiprocessor */
  AMBIT__STREAM_BLOCKS = 65535     /* most along y and z: the limit of CUDA */
};

/* One row of the planes of a stream: the planes of it that are read for plane 0. */
typedef struct ambit__stream_row {
  bool is_read;
  int low, high;  /* the first and the last of these planes */
  int front;      /* the front that loads it */
  bool has_edges; /* cells of adjacent lanes are read in this row, */
  int edge;       /* in planes up to this one, which is when they are needed, */
  int edge_low;   /* and from this one on */
} ambit__stream_row;

typedef struct ambit__stream {
  int param, component;
  int outer[AMBIT_MAX_DIMS]; /* its offset along the axes before z; 0 for all others */
  int number;                /* among the streams of its parameter */
  int left, right;           /* number of units of adjacent lanes that a lane reads */
  int end;                   /* units beside the strip that the end lanes load: a power of two */
  int below, above;          /* rows beside its own that a warp reads */
  int nrows;                 /* below + rows of the plan + above */
  bool ring;                 /* its planes go through shared memory, or one of them is there */
  bool held;                 /* so do its values, each for the lane that uses it */
  ambit__stream_row rows[AMBIT__STREAM_REACH * 3];
} ambit__stream;

/* The rows of a field that are loaded together, through one pointer: all that have the same last
 * plane, or all of a tile. */
typedef struct ambit__stream_front {
  int param;
  int number;    /* among the fronts of its parameter */
  int low, high; /* the first and the last plane of these rows */
  int ahead;     /* planes loaded in advance, or planes of a tile */
  bool ring;     /* rows come from shared memory */
  bool after;    /* a row is loaded when that of the oldest plane is not needed any more */
} ambit__stream_front;

/* The parameters of a plan applied to a rule. */
typedef struct ambit__stream_job {
  ambit__gpucode_job gpu;
  int x, y, z; /* the axes; y is -1 in 2-D */
  int lane;    /* V, the cells of a lane in a row */
  int cells;   /* of a unit, which is in one register: a cell, of bytes four, or of shorts two */
  int units;   /* of a lane in a row: lane / cells */
  int rows;    /* per warp in a plane */
  int planes;  /* per tile; 0: the warp advances through a chunk */
  int period;  /* planes after which the same registers are used again */
  /* registers are shifted after each plane, as unrolling a whole period would be too long */
  bool moves;
  bool late;   /* rows of other warps are loaded when they are used */
  bool ring;   /* planes of some streams go through shared memory, */
  bool centre; /* but only that of the cells that are computed, and the next one */
  int ahead;   /* copied, or with `centre` loaded, so many ahead */
  int slots;   /* of values that are held; 0: none are */
  int warps;   /* of a block */
  bool apart;  /* a lane also loads the cells beside its own; if not, lanes exchange them */
  bool pinned; /* keeps compilers from delaying loads to save registers that are available */
  int high;    /* sum: the plane that arrives when plane 0 is computed; window: 0 */
  int span;    /* sum: planes that one result depends on; window: 1 */
  int nstreams;
  ambit__stream streams[AMBIT__STREAMS];
  int nfronts;
  ambit__stream_front fronts[AMBIT__STREAM_FRONTS];
  bool whole; /* launches may store whole vectors: the cells of all twins are in registers */
  /* with `whole`: most cells beside the box at either end of a lane, as fixed faces leave */
  int head, tail;
  bool near;               /* tables are looked up in shared memory */
  const ambit__dots *dots; /* of bytes: weighted sums of them, */
  ambit__pairs *pairs;     /* and variables for two cells at a time */
  int ntaps;               /* sum: length of `taps`, owned */
  ambit__tap *taps;
  bool by_rows;  /* sum: an arriving row is added to all results, and then dropped */
  bool factored; /* sum: with fewer operations */
  ambit__factors factors;
} ambit__stream_job;

/* When a load happens: in the loop over the first planes, k, or in a phase of the loop over z. */
typedef struct ambit__stream_moment {
  bool is_first;
  int plane; /* is_first: start of k; else: planes after z + p */
  int more;  /* is_first: planes after k */
} ambit__stream_moment;

/* ---- stream_reads.c ---- */

/* Cells in 16 bytes of the largest type, at most 8. */
int ambit__stream_vector(const ambit__group *g);
/* Cells of a lane: 16 bytes of the largest type, or twice as many if reads along x reach that far;
 * 0 if they reach further. */
int ambit__stream_lane(const ambit__group *g, ambit__packed packed);
/* Cells in one register: four if all fields are of bytes, two if they are of shorts, and reads do
 * not reach far; else one. Without instructions for bytes it pays off only if all is computed for
 * two cells at a time; of shorts, if that is so or some are added up. */
int ambit__stream_cells(const ambit__group *g, ambit__packed packed);
/* Fills in all but `gpu`. false: the rule reads too much or too far, or memory ran out. Release
 * with ambit__stream_end. */
bool ambit__stream_begin(const ambit__group *g, const ambit__plan *p, ambit__stream_job *j);
void ambit__stream_end(ambit__stream_job *j);
/* The stream of a component at an offset; NULL if there is none. */
const ambit__stream *ambit__stream_find(const ambit__stream_job *j, int param, int component,
                                        const int *offset);
/* Approximate registers of a thread. */
int ambit__stream_registers(const ambit__group *g, const ambit__plan *p,
                            const ambit__stream_job *j);

/* ---- stream_loads.c: the names of registers, and the loads that fill them ---- */

/* "u_w[(p + 3) % 4][t + 1][j + 2]": a component of a field at an offset from the current cell. Of
 * bytes: "ambit_byte(u_w[(p + 3) % 4][t + 1], c + 2 * h + 5)". */
void ambit__stream_print_cell(const ambit__stream_job *j, int param, int component,
                              const int *offset);
/* "u_w[(p + 3) % 4][t + 1]": its row. */
void ambit__stream_print_read(const ambit__stream_job *j, const ambit__stream *s,
                              const int *offset);
/* Begins the call of a helper for n values of a parameter; param -1: of no type. */
void ambit__stream_print_call(const ambit__stream_job *j, const char *name, int param, int n);
/* "#pragma unroll" and "for (int j = from; j < end; j++) {" */
void ambit__stream_unroll(const ambit__stream_job *j, const char *name, int from, int end);
/* The first z. It is negative for sums, which begin with results that are never complete. */
int ambit__stream_start(const ambit__stream_job *j);
/* Pointers and registers; the planes before the loop over z, or all planes of a tile; the planes of
 * one phase of the loop. */
void ambit__stream_declare_fields(const ambit__stream_job *j);
void ambit__stream_load_first(const ambit__stream_job *j);
void ambit__stream_load_next(const ambit__stream_job *j);
/* In a loop over the warp's rows t, after one: the row of the next plane that takes its place. */
void ambit__stream_load_after(const ambit__stream_job *j);
void ambit__stream_advance_after(const ambit__stream_job *j);
/* Shifts the registers by one plane. */
void ambit__stream_move(const ambit__stream_job *j);
/* Shifts an array of n planes, each of `rows` rows in 3-D, of `cells` values of a parameter: every
 * plane moves one place down, the first to the end. */
void ambit__stream_rotate(const ambit__stream_job *j, const char *name, int param, int n, int rows,
                          int cells);

/* For sums, in a loop over the rows q of the plane that has arrived: a cell of the row, "u_w[(p +
 * 1) % 3][q][j + 1]", and the cells of adjacent lanes. */
void ambit__stream_print_arrived(const ambit__stream_job *j, const ambit__stream *s, int dx);
void ambit__stream_share_arrived(const ambit__stream_job *j, const ambit__stream *s);

/* "u_w", or "u_w3" if the parameter has several streams; other letters for other things. */
void ambit__stream_name(const ambit__stream_job *j, const ambit__stream *s, char kind,
                        ambit__text *t);
void ambit__stream_print_name(const ambit__stream_job *j, const ambit__stream *s, char kind);
/* "[(p + 3) % 4]": the slot of the plane of a moment. */
void ambit__stream_print_moment(const ambit__stream_job *j, const ambit__stream_moment *m);
/* "ambit_between((low1 - 1) & -4, x, (high1) & -4)": the vector of cells at x, or the nearest one
 * that is read; with wrapping rows, its position at the other end of the row. */
void ambit__stream_print_inside(const ambit__stream_job *j, int param, const char *x);

/* ---- stream_ring.c ---- */

/* Marks the streams that go through shared memory. false: the plan is of no use for the rule. */
bool ambit__stream_find_ring(const ambit__rule *rule, ambit__stream_job *j);
/* Planes that can be copied ahead; 0: too few. */
int ambit__stream_ring_ahead(const ambit__stream_job *j);
size_t ambit__stream_ring_bytes(const ambit__stream_job *j, const ambit__rule *rule);
void ambit__stream_declare_ring(const ambit__stream_job *j);
/* The planes before the loop over z, and those of one phase of it: copies, and the rows that a warp
 * takes into registers. */
void ambit__stream_ring_first(const ambit__stream_job *j);
void ambit__stream_ring_next(const ambit__stream_job *j);
/* In a loop over the warp's rows t: what only this row reads. */
void ambit__stream_take_for_row(const ambit__stream_job *j);

/* The rows of a plane in shared memory, and the cells of such a row. */
int ambit__stream_ring_rows(const ambit__stream_job *j, const ambit__stream *s);
int ambit__stream_ring_width(const ambit__stream_job *j, const ambit__stream *s);
/* Vectors beside the strip in one row of the ring. */
int ambit__stream_ring_beside(const ambit__stream_job *j, const ambit__stream *s);
/* "float (*const u_r)[5440] = (float (*)[5440])((float *)(bytes + 0) + ": by slot, a place in the
 * ring. */
void ambit__stream_ring_place(const ambit__stream_job *j, const ambit__stream *s, char kind);
/* u_f: the cells of a lane in the row u_y, in a plane counted from the first one. */
void ambit__stream_ring_declare_cells(const ambit__stream_job *j, const ambit__stream *s,
                                      int plane);
/* u_q: the column of the vector beside the strip that a lane has; u_d: the distance from u_f to it;
 * u_b: its place. Rows in the ring and in the grid are given as text. */
void ambit__stream_ring_declare_beside(const ambit__stream_job *j, const ambit__stream *s,
                                       const char *place, const char *row);
/* "[(p + 3) % 9]": the slot of the plane of a moment. */
void ambit__stream_ring_slot(const ambit__stream_job *j, const ambit__stream_moment *m);

/* ---- stream_centre.c ---- */

/* Whether a stream in the ring needs no other plane there than that of the cells computed. */
bool ambit__stream_is_central(const ambit__stream_job *j, const ambit__stream *s);
/* The array in shared memory, at the start of the kernel. */
void ambit__stream_declare_planes(const ambit__stream_job *j);
/* What the rows and vectors beside those of warps need; their registers. */
void ambit__stream_declare_centre(const ambit__stream_job *j, const ambit__stream *s);
int ambit__stream_centre_registers(const ambit__stream_job *j, const ambit__stream *s);
/* The plane before the loop over z; the plane after the one of a phase. */
void ambit__stream_centre_first(const ambit__stream_job *j);
void ambit__stream_centre_next(const ambit__stream_job *j);

/* ---- stream_held.c ---- */

/* Marks the streams whose values are held in shared memory: all but those of the ring. false: some
 * cannot be. */
bool ambit__stream_find_held(const ambit__rule *rule, ambit__stream_job *j);
size_t ambit__stream_held_bytes(const ambit__stream_job *j, const ambit__rule *rule);
/* Their places, which begin so many bytes after those of the block. */
void ambit__stream_declare_held(const ambit__stream_job *j, size_t from);
/* "o_h[(p + 2) % 3] + q * 704": the place of row q at a moment. */
void ambit__stream_print_held(const ambit__stream_job *j, const ambit__stream *s,
                              const ambit__stream_moment *m, const char *row);
/* In a loop over the warp's rows t: the values of this row. */
void ambit__stream_take_held(const ambit__stream_job *j);

/* ---- stream_bytes.c ---- */

/* "c + 2 * h", or of shorts "c + h": the current cell of the lane. */
const char *ambit__stream_cell(const ambit__stream_job *j);

/* "ambit_pair(u_w[(p + 3) % 4][t + 1], c + 5)": a byte at an offset from both cells of the
 * current pair. */
void ambit__stream_print_pair(const ambit__stream_job *j, int param, int component,
                              const int *offset);
/* "ambit_window(u_w[(p + 3) % 4][t + 1], c + 5)": the same of the cells of a word, or of the two
 * words that they are in the first or the second one, "u_w[(p + 3) % 4][t + 1][j + 1]". */
void ambit__stream_print_word(const ambit__stream_job *j, const ambit__expr *e, const int *word);
/* "ambit_dot(ambit_window(u_w[p], c + 2 * h + 3), 0x010001u, 0)": a weighted sum of bytes, or of
 * shorts. false: some are not of fields, and nothing is printed. */
bool ambit__stream_print_dot(const ambit__stream_job *j, const ambit__dot *sum);

/* ---- stream_window.c, stream_sum.c: the work on plane z + p ---- */

void ambit__stream_emit_window(const ambit__stream_job *j);
/* Before the kernel: the table of weights, if one is needed. */
void ambit__stream_declare_weights(const ambit__stream_job *j);
void ambit__stream_declare_sums(const ambit__stream_job *j);
void ambit__stream_emit_sum(const ambit__stream_job *j);
void ambit__stream_move_sums(const ambit__stream_job *j);
/* "float v_n[4];", the results of a lane in one row; their stores; the step to the next plane. */
void ambit__stream_declare_results(const ambit__stream_job *j);
void ambit__stream_store(const ambit__stream_job *j);
void ambit__stream_advance(const ambit__stream_job *j);

/* ---- stream_shape.c ---- */

/* Strips begin at multiples of so many cells: a vector, or a line of the caches. */
int ambit__stream_align(const ambit__plan *p);

/* The number of planes that two adjacent chunks both read. */
int ambit__stream_overlap(const ambit__group *g);
/* The axis along which warps advance. */
int ambit__stream_axis(const ambit__group *g);
void ambit__stream_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                         ambit__shape *shape);

/* ---- stream_emit.c ---- */

void ambit__stream_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                        ambit__writer *w);

#endif
