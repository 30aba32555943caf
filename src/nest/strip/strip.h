/* SPDX-License-Identifier: BSD-3-Clause */
/* strip.h - the builder `strip`: on a GPU, rows and planes advance through registers of warps.
 *
 * Terms: x is the last axis; along it each lane of a warp owns V cells. z is the axis along which
 * the warp advances, y the one between (2-D has none). A plane is the data of a warp at one z:
 * `rows` rows of 32 V cells, or of short rows a multiple of that, and the adjacent rows that are
 * only read. A value is one component of
 * one field (in 4-D and up: at one offset along the axes before z). A tile is a few planes that a
 * warp loads all at once. Without tiles, a warp advances through a chunk of planes, with some
 * loaded ahead. Bytes are in registers as words of four, and rules on them are computed for two
 * cells at a time (pairs.h).
 *
 * plan/strip.c chooses these numbers; plan/strip_reads.c finds the values. strip.c builds the
 * nest, loads.c and ring.c the ways of values into registers, plane.c and sums.c the work on one
 * plane, words.c that on bytes and shorts. Functions return formulas, texts that
 * the nest keeps, or append nodes to it.
 */
#ifndef AMBIT_NEST_STRIP_STRIP_H
#define AMBIT_NEST_STRIP_STRIP_H

#include "nest/nest.h"
#include "nest/strip/pairs.h"

enum {
  AMBIT__STRIP_VALUES = 32, /* most values of a rule: more would not fit in registers */
  AMBIT__STRIP_REACH = 4,   /* most rows beside its own that a warp reads, on each side */
  AMBIT__STRIP_LOADS = 64
};

/* One row of the planes of a value: the planes of it that are read for plane 0. */
typedef struct ambit__value_row {
  bool is_read;
  int low, high;  /* the first and the last of these planes */
  int load;       /* that brings it */
  bool has_edges; /* cells of adjacent lanes are read in this row, */
  int edge;       /* in planes up to this one, which is when they are needed, */
  int edge_low;   /* and from this one on */
} ambit__value_row;

typedef struct ambit__strip_value {
  int param, component;
  int outer[AMBIT_MAX_DIMS]; /* its offset along the axes before z; 0 for all others */
  int number;                /* among the values of its parameter */
  int left, right;           /* number of units of adjacent lanes that a lane reads */
  bool vectors;              /* a lane loads these in whole vectors */
  int end;                   /* units beside the strip that the end lanes load: a power of two */
  int below, above;          /* rows beside its own that a warp reads */
  int nrows;                 /* below + rows of the plan + above */
  bool ring;                 /* its planes go through shared memory */
  ambit__value_row rows[AMBIT__STRIP_REACH * 3];
} ambit__strip_value;

/* The rows of a field that are loaded together, through one pointer: all that have the same last
 * plane, or all of a tile. */
typedef struct ambit__strip_load {
  int param;
  int number;    /* among the loads of its parameter */
  int low, high; /* the first and the last plane of these rows */
  int ahead;     /* planes loaded in advance, or planes of a tile */
  bool ring;     /* rows come from shared memory */
} ambit__strip_load;

/* The parameters of a plan applied to a rule. */
typedef struct ambit__strip {
  ambit__nest *n; /* which is built; NULL while a plan is chosen */
  int x, y, z;    /* the axes; y is -1 in 2-D */
  int lane;       /* V, the cells of a lane in a row */
  int lanes;      /* of a warp in one row; where rows are short, the others are in the next rows */
  int cells;      /* of a unit, which is in one register: a cell, of bytes four, or of shorts two */
  int units;      /* of a lane in a row: lane / cells */
  int rows;       /* per warp in a plane */
  int planes;     /* per tile; 0: the warp advances through a chunk */
  int align;      /* strips begin at multiples of so many cells */
  int period;     /* planes after which the same registers are used again */
  /* registers are shifted after each plane, as unrolling a whole period would be too long */
  bool moves;
  bool ring;  /* planes of some values go through shared memory, */
  int ahead;  /* copied so many ahead */
  int warps;  /* of a block */
  bool apart; /* a lane also loads the cells beside its own; if not, lanes exchange them */
  int high;   /* sum: the plane that arrives when plane 0 is computed; else 0 */
  int span;   /* sum: planes that one result depends on; else 1 */
  int nvalues;
  ambit__strip_value values[AMBIT__STRIP_VALUES];
  int nloads;
  ambit__strip_load loads[AMBIT__STRIP_LOADS];
  int inside;          /* RULE nodes: see nest.h */
  ambit__pairs *pairs; /* of bytes: variables for two cells at a time */
  int ntaps;           /* sum: length of `taps`, owned */
  ambit__tap *taps;
  bool by_rows;  /* sum: an arriving row is added to all results, and then dropped */
  bool factored; /* sum: with fewer operations */
  ambit__factors factors;
} ambit__strip;

/* When a load happens: in the loop over the first planes, k, or in a phase of the loop over z. */
typedef struct ambit__strip_moment {
  bool is_first;
  int plane; /* is_first: start of k; else: planes after z + p */
  int more;  /* is_first: planes after k */
} ambit__strip_moment;

/* The value of a component at an offset; NULL if there is none. */
const ambit__strip_value *ambit__strip_find(const ambit__strip *w, int param, int component,
                                            const int *offset);

/* ---- strip.c ---- */

/* Fills an empty nest. */
void ambit__nest_strip(ambit__strip *w);

/* ---- loads.c: the names of registers, and the loads that fill them ---- */

/* "u_w", or "u_w3" if the parameter has several values; other letters for other things. */
const char *ambit__strip_name(const ambit__strip *w, const ambit__strip_value *s, char kind);
/* "u_w[(p + 3) % 4][t + 1][j + 2]": a component of a field at an offset from the current cell. Of
 * bytes: "ambit_byte(u_w[(p + 3) % 4][t + 1], c + 2 * h + 5)". */
const char *ambit__strip_cell(const ambit__strip *w, int param, int component, const int *offset);
/* "u_w[(p + 3) % 4][t + 1]": its row. */
const char *ambit__strip_row(const ambit__strip *w, const ambit__strip_value *s, const int *offset);
/* "[(p + 3) % 4]": the slot of the plane of a moment. */
const char *ambit__strip_slot(const ambit__strip *w, const ambit__strip_moment *m);
/* The type of a unit. */
const char *ambit__strip_type(const ambit__strip *w, int param);
/* "ambit_between((low1 - 1) & -4, x, (high1) & -4)": the vector of cells at x, or the nearest one
 * that is read; with periodic rows, its position at the other end of the row. */
const char *ambit__strip_inside(const ambit__strip *w, int param, const char *x);
/* The first z. It is negative for sums, which begin with results that are never complete. */
int ambit__strip_start(const ambit__strip *w);
/* Pointers and registers; the planes before the loop over z, or all planes of a tile; the planes of
 * one phase of the loop. */
void ambit__strip_let_fields(const ambit__strip *w);
void ambit__strip_load_first(const ambit__strip *w);
void ambit__strip_load_next(const ambit__strip *w);
/* The end of the rows of a value that begin with row q and have the same edges; with `loads`, that
 * are loaded alike, too. */
int ambit__strip_rows_alike(const ambit__strip_value *s, int q, bool loads);
/* Shifts the registers by one plane. */
void ambit__strip_shift(const ambit__strip *w);
/* Shifts an array of n planes, each of `rows` rows of `cells` values of a parameter: every
 * plane moves one place down, the first to the end. */
void ambit__strip_rotate(const ambit__strip *w, const char *name, int param, int n, int rows,
                         int cells);
/* For sums, in a loop over the rows q of the plane that has arrived: a cell of the row, "u_w[(p +
 * 1) % 3][q][j + 1]", and the cells of adjacent lanes. */
const char *ambit__strip_arrived(const ambit__strip *w, const ambit__strip_value *s, int dx);
void ambit__strip_share_arrived(const ambit__strip *w, const ambit__strip_value *s);
/* At the ends of closed rows that are not periodic, the cells beside a lane's in a row of
 * registers, "u_w[(p + 1) % 3][q]". */
void ambit__strip_add_beyond(const ambit__strip *w, const ambit__strip_value *s, const char *row);

/* ---- ring.c ---- */

/* Marks the values that go through shared memory. false: the plan is of no use for the rule. */
bool ambit__strip_find_ring(const ambit__rule *rule, ambit__strip *w);
/* Planes that can be copied ahead; 0: too few. */
int ambit__strip_ring_ahead(const ambit__strip *w);
size_t ambit__strip_ring_bytes(const ambit__strip *w, const ambit__rule *rule);
void ambit__strip_let_ring(const ambit__strip *w);
/* The planes before the loop over z, and those of one phase of it: copies, and the rows that a warp
 * takes into registers. */
void ambit__strip_ring_first(const ambit__strip *w);
void ambit__strip_ring_next(const ambit__strip *w);
/* In a loop over the warp's rows t: what only this row reads. */
void ambit__strip_take_for_row(const ambit__strip *w);

/* ---- words.c ---- */

/* "c + 2 * h", or of shorts "c + h": the current cell of the lane. */
const char *ambit__strip_place(const ambit__strip *w);
/* Hooks: other text for an expression of a rule on bytes or shorts; a value for all cells of a
 * word. */
bool ambit__strip_instead(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                          const ambit__expr *e);
void ambit__strip_word(ambit__nest *n, ambit__text *t, const ambit__expr *e, const int *word);

/* ---- plane.c, sums.c: the work on plane z + p ---- */

void ambit__strip_plane(const ambit__strip *w);
void ambit__strip_let_sums(const ambit__strip *w);
void ambit__strip_sum(const ambit__strip *w);
void ambit__strip_shift_sums(const ambit__strip *w);
/* "float v_n[4];", the results of a lane in one row; their stores; the step to the next plane. */
void ambit__strip_let_results(const ambit__strip *w);
void ambit__strip_store(const ambit__strip *w);
void ambit__strip_advance(const ambit__strip *w);

#endif
