/* SPDX-License-Identifier: BSD-3-Clause */
/* nest.h - a loop nest, taken apart.
 *
 *   nest     loops over cells, and their statements: leaves
 *   leaf     statements at one depth of the nest, with the loops around them
 *   access   one element of an array that a leaf reads or writes
 *   array    the axes of an array and their strides, from all accesses of one function
 *   group    the writes of a leaf that go to the same cell: one step of the translated program
 *
 * Stages, a file each: walk.c takes the nest apart (inline.c puts called functions in their place),
 * shape.c finds the axes of arrays, depend.c proves that cells may be computed in any order,
 * group.c makes steps, kernel.c writes their rules, emit.c the calls.
 */
#ifndef AMBIT_PORT_NEST_H
#define AMBIT_PORT_NEST_H

#include "ambit.h"
#include "poly.h"
#include "tree.h"

enum { MOST_LINES = 16, LOOPS = 64, AXES = AMBIT_MAX_DIMS, LEVELS = 8, MOST_ACCESSES = 1024 };

typedef struct loop {
  symbol *var;
  int atom;
  poly lo, hi;     /* lo <= var < hi */
  poly from;       /* the variable is from + atom; not 0: the first value depends on the cell */
  node *first;     /* the first value, as written */
  int64_t step;    /* positive */
  bool is_down;    /* counts from hi - 1 to lo */
  bool is_outside; /* the variable outlives the nest */
  node *node;
} loop;

/* An index that a guard keeps inside: (i + 1) % n, i == 0 ? 0 : i - 1, north[i]. It is an atom of
 * polynomials. */
typedef struct guard {
  int atom;
  poly inner; /* i + 1 */
  poly asked; /* the same as long as there is no table */
  bool is_periodic;
  poly n;
  /* of neighbours, as C text, moved so that i is its index; NULL: none. Its contents are found at
   * run time. */
  const char *table;
  const symbol *by; /* ... and stands for the distance: inner is i + by */
} guard;

/* An array of one line, that a nest uses again for each of its lines: lines.c. */
typedef struct line {
  symbol *root;
  int nouter;          /* the loops over lines */
  symbol *outer[AXES]; /* ... their variables */
  int place;           /* the line is this axis, the lines are the others */
  const char *name;    /* of its memory, in the translated program */
} line;

typedef enum level_kind { LEVEL_FLAT, LEVEL_TYPED, LEVEL_ROWS } level_kind;

typedef struct array {
  const char *key; /* the expression, with @ for each subscript: "g->u[@]" */
  value_type type; /* of an element */
  symbol *root;
  node *sample; /* one access, for the base address */
  int nlevels;
  level_kind levels[LEVELS];
  int64_t extents[LEVELS]; /* LEVEL_TYPED: the declared size, -1: known at run time only */
  bool is_open[LEVELS];    /* LEVEL_TYPED: the size is not declared (a parameter) */
  bool is_behind[LEVELS];  /* a pointer is followed before this subscript */
  bool is_axis[LEVELS];    /* else the subscript is part of the base address */
  bool is_chosen[LEVELS];  /* some subscript is not 0 */
  uint32_t seen[LEVELS];   /* subscripts that are numbers below 32: a bit each */
  int nstrides[LEVELS];    /* LEVEL_FLAT: strides in elements, largest first */
  poly strides[LEVELS][AXES];
  bool has_rest[LEVELS]; /* LEVEL_FLAT: some subscript is not a sum of multiples of strides */
  bool is_unclear;       /* strides that do not divide each other */
  const line *line;      /* it has a line for each round of outer loops; NULL: it is as it is */
  poly plane;            /* the first of two levels is part of one subscript: its stride; else 0 */
  /* The axes of all levels, slowest first, once settled: */
  int naxes;
  int level_of[AXES];
  poly stride_of[AXES]; /* LEVEL_FLAT: elements */
  poly extent_of[AXES]; /* bad: open, or known to the compiler only */
  poly reach_of[AXES];  /* the furthest index of any access, and 1 */
  bool has_reach[AXES];
  struct array *next;
} array;

typedef struct access {
  array *array;
  int nsubs;
  poly subs[LEVELS];
  node *subs_text[LEVELS]; /* as written */
  node *node;
  bool is_write, is_read;
  bool is_table;  /* a constant table, indexed by short loops: part of the kernel */
  bool is_lookup; /* ... or any table, with subscripts that each cell computes */
  bool is_value;  /* no loop variable in it: a number that all cells share */
  int order;      /* of execution within a cell */
  bool is_sure;   /* no condition is around it */
  int leaf;       /* how many leaves stand before its own */
  int carried;    /* the value so many cells before, which the sweep of a step carries; 0: none */
  const struct step *carrier;
  int nfrom;       /* the loops that were open */
  poly *from, *to; /* their variables where it takes place: refine.c */
  /* shape.c: */
  int naxes;
  poly index[AXES];
  const guard *guards[AXES]; /* NULL: none */
  /* LEVEL_FLAT: which of the few values of a cell, f[(y * nx + x) * 9 + 3], where no loop goes over
   * them; part of the base address */
  int64_t parts[LEVELS];
} access;

typedef struct leaf {
  int nloops;
  int loops[LOOPS]; /* of the nest, outermost first */
  node *body;       /* S_BLOCK: statements of the kernel, prefix included */
  node *own;        /* the first one that is not part of the prefix */
  int ncarried;     /* variables that cells along the last loop carry to the next ones */
  symbol *carried[4];
  struct leaf *next;
} leaf;

typedef struct nest {
  unit *unit;
  function *function;
  node *node;                /* the outermost loop, as it stands in the program */
  node *copy;                /* the one that is analysed */
  node *whole;               /* a copy of that, to search in: the walk takes lists apart */
  bool sum_any;              /* the order of sums is free */
  bool is_cells;             /* the outermost loop is one over cells */
  bool is_unrolled;          /* short loops are written out; set before the walk */
  const symbol *over_planes; /* ... and the loop with this variable; NULL: none */
  bool has_short;            /* there may be some */
  bool is_untiled;           /* it was written in tiles: cells came in another order */
  symbol *fixed;    /* an integer that is taken to be a number in headers of loops; NULL: none */
  int64_t fixed_to; /* ... that number; with a condition, 1: it holds, 2: it does not */
  const node *condition; /* on `fixed`, that chooses between two cases; NULL: none */
  int nflat;             /* one loop goes over an array of several axes: */
  poly flat[AXES];       /* their strides, largest first, without 1; set before the walk */
  int nloops;
  loop loops[LOOPS];
  int naccesses;
  access *accesses[MOST_ACCESSES];
  leaf *leaves, *last_leaf;
  int nlines;
  line lines[MOST_LINES];
  int nguards;
  guard guards[64];
  int ninner;
  loop inner[32];      /* short loops of the kernel */
  symbol *locals[256]; /* variables of the kernel */
  int nlocals;
  int nrequires; /* conditions at run time, as C text */
  const char *requires[48], *reasons[48];
  const node *fault; /* where it cannot be translated */
  const char *why, *advice;
  int most_writes;        /* of one step; 0: any number */
  bool is_wide;           /* a step has more arrays and numbers than a kernel may have */
  struct step *steps;     /* NULL: it stays serial */
  struct nest *next_case; /* the same loops, `fixed` being the next number */
} nest;

/* The arrays of the function that is being translated. */
extern array *port_arrays;

/* Says why not; returns false. The first reason counts. */
bool port_refuse(nest *n, const node *at, const char *why, const char *advice);

/* A condition that the translated program checks when it runs: C text, and the reason to give. */
void port_require(nest *n, const char *holds, const char *reason);

/* walk.c */
bool port_nest_open(nest *n);
bool port_nest_copy(nest *n);            /* its first part: n->copy, in the form that is analysed */
loop *port_nest_loop(nest *n, int atom); /* NULL: not a loop over cells */
bool port_nest_is_local(const nest *n, const symbol *s);
poly port_poly_of(nest *n, node *e);
bool port_is_steady(nest *n, node *e); /* the nest does not change it */

/* loops.c: reads the header of a `for`, false after a refusal; whether it runs a few times only, a
 * number known here; and whether it goes over cells. */
bool port_loop_header(nest *n, node *f, loop *l);
bool port_loop_is_short(const loop *l);
bool port_loop_is_cells(nest *n, node *f, const loop *l);
void port_loop_continue(node *n); /* turns continue into if and else, below n */

/* parity.c: for (j = 1 + (i + c) % 2; j < n; j += 2) becomes a loop over all j with a condition;
 * whether it was such a loop. first: its first value, then the new one. */
bool port_parity_start(nest *n, node *f, node **first);

/* scalars.c: which variables of the function are reductions, and which belong to one cell. A
 * reduction becomes an assignment with a text, "sum", "min" or "max"; its b is the term. */
bool port_scalars(nest *n);
void port_name_places(nest *n);                 /* before it: *sum, s->max become variables */
bool port_is_private(nest *n, const symbol *s); /* nothing reads its value after a loop */
bool port_live_out(nest *n); /* after the walk: false, refused, if a value is used after the nest
                                that the steps do not leave there */
bool port_same_reduction(const node *a,
                         const node *b); /* one parameter of the kernel does for both */

/* The variables that an inner loop over cells carries from one to the next: how many, or -1, if one
 * is used behind the loop, or is no number. */
int port_carried(nest *n, node *loop, node *rest, symbol **at, int most);

/* live.c: whether code after the nest may use the value that the nest leaves in a variable. */
bool port_is_live(const nest *n, const symbol *s);

/* flags.c: makes an assignment to s a reduction, if s is a flag; whether it did. */
bool port_flag(node *e, symbol *s);

/* inline.c: puts the bodies of called functions in place of calls. */
bool port_inline(nest *n);
/* A variable becomes something else everywhere below; declared variables become new ones. */
void port_rename(node **at, const symbol *from, node *to);
void port_rename_locals(node *n);

/* normal.c: turns some ways to write a nest into others; first of all, a switch into if and else.
 */
void port_switches(node **at);
void port_normalise(nest *n);

/* structs.c: local variables that are structs become a variable for each member. */
void port_split_structs(nest *n);

/* unroll.c: writes short loops out; whether there were any. */
bool port_unroll(nest *n);
void port_fold(nest *n, node **at);       /* computes with numbers; conditions on them vanish */
bool port_is_table(unit *u, symbol *s);   /* an array of numbers that are known here */
node *port_table_value(nest *n, node *e); /* w[1][2] of such a table; NULL: it is something else */
/* The number that a variable is from its declaration on: const double dt = 0.1; NULL: none. */
const node *port_constant(unit *u, symbol *s);

/* cases.c: an integer that decides the form of the nest; the largest number that it may be. NULL:
 * there is none. */
symbol *port_case_find(nest *n, int *most);
/* ... or a condition on it does, which guards planes of arrays. */
symbol *port_case_condition(nest *n, const node **condition);
/* Puts the number into the headers of loops that it is the length of, or the condition to rest. */
void port_case_fix(nest *n);

/* guard.c */
poly port_guard_poly(nest *n, node *e); /* bad: not a guarded index */
const guard *port_guard_of(const nest *n, int atom);

/* refine.c: the intervals of loop variables, by the conditions around a statement. */
void port_refine_reset(void);
bool port_refine_push(void);
void port_refine_pop(void);
void port_refine_condition(nest *n, node *condition, bool is_true);
void port_refine_copy(const nest *n, poly **lo, poly **hi);
/* The comparison with its operands exchanged. */
const char *port_mirrored(const char *op);

/* access.c: the array that an expression is an element of; NULL after a refusal. */
access *port_access_of(nest *n, node *e);
bool port_is_element(const node *e);
/* An element of a table whose subscripts each cell computes: k[material[j][i]]; NULL: none. */
access *port_lookup_of(nest *n, node *e);
bool port_is_leaf_access(const node *e);     /* an element with no others in its subscripts */
const char *port_array_name(const array *a); /* u, g->u */
bool port_is_function(const char *name);     /* of <math.h>, which only computes */
/* Axes of an array that are tables of pointers, from the first on: 1 for double **a. 0: it is one
 * piece of memory. -1: pointers lie between its axes in any other way. */
int port_row_levels(const array *a);

/* The C text of an array: each subscript filled in, or 0 where it is an axis. */
const char *port_access_text(const access *a);
const char *port_access_shown(const access *a); /* for messages */
const char *port_base_text(const access *a);

/* lines.c: finds arrays of one line; whether each element that is read was written before. */
void port_lines_find(nest *n);
const line *port_line_of(const nest *n, const symbol *root); /* NULL: it is none */
bool port_lines_are_written(nest *n);
/* Whether some of them are none after all, as other code uses them; or another axis is better. */
bool port_lines_check(nest *const *nests, int nnests);
bool port_lines_turn(nest *const *nests, int nnests);
void port_lines_reset(bool is_off);

/* planes.c: flat arrays that are taken for arrays of planes; whether there are new ones. */
bool port_planes_find(nest *const *nests, int nnests);
void port_planes_reset(void);
bool port_planes_of(const symbol *root, const char *key, poly *stride, int64_t *n);

/* shape.c: all nests of a function teach the shapes of its arrays, then each access gets its axes.
 */
/* has_mirrors: u[n - i] counts as u[i] does; else it is refused. */
void port_shapes_learn(nest *n, bool has_mirrors);
void port_shapes_settle(void);
/* The variable of a short loop over the planes of an array most of which other nests name, as in
 * f[0][i][j], f[1][i][j], ...; NULL: there is none. */
const symbol *port_shapes_planes(const nest *n);
bool port_shapes_apply(nest *n, bool has_all); /* has_all: the axes of all arrays are known */
/* Whether one loop alone goes over an array that has several axes; flat: their strides. */
int port_shapes_flat(const nest *n, poly *flat);

typedef enum param_kind {
  P_READ,
  P_WRITE,
  P_UPDATE, /* read at neighbours and written: the new values go to the P_SHADOW that follows */
  P_SHADOW,
  P_VALUE,
  P_SUM,
  P_MIN,
  P_MAX,
  P_TERM,
  P_TABLE,
  P_CARRIED /* of a sweep: the value that the cell before left, in an array or a variable */
} param_kind;

typedef struct param {
  param_kind kind;
  value_type type;
  const char *name;
  array *array;
  const access *like;            /* an access, for subscripts that are part of the base */
  int axis_of[AXES];             /* grid axis -> axis of the array; -1: it does not vary */
  poly fold[AXES];               /* axis of the array -> index that is part of the base */
  int64_t low[AXES], high[AXES]; /* offsets that are read, by grid axis */
  bool reads_written;            /* it reads cells that the step may write */
  int last_read;                 /* the order of the last access that reads it */
  int carry;                     /* the values of so many cells before are carried: P_CARRIED */
  const struct param *of;        /* P_CARRIED: the array; NULL: a variable */
  int number;                    /* ... how many cells before, or which variable of the leaf */
  unsigned periodic, clamp;      /* grid axes */
  unsigned loose, exact;         /* of these: reads outside do not matter, or do */
  const guard *near[AXES][4];    /* tables of neighbours, by grid axis */
  poly extent[AXES];             /* by grid axis, where a guard says it; else bad */
  const char *value;             /* P_VALUE: C text; P_TABLE: of its first element */
  const access *element;         /* P_VALUE: an element of an array, or NULL */
  const node *reduction;         /* the assignment */
  bool is_fresh;                 /* P_WRITE: every cell is set, whatever it held */
  const struct param *copies;    /* ... to the value of this one: the step does nothing else */
} param;

typedef struct step {
  nest *nest;
  leaf *leaf;
  const char *name; /* of the kernel */
  int naxes;
  int loop_of[AXES]; /* grid axis -> loop of the nest, or -1: one index only */
  poly shift[AXES];  /* index = loop variable + shift, or shift alone */
  int nwrites;
  access *writes[64];
  int first_write; /* the order of the first one in the cell, and 1; 0: none */
  bool has_reductions;
  int sweep; /* its cells run in order along this axis, counted from 1; 0: in any order */
  int nparams;
  param params[AMBIT_MAX_PARAMS];
  const char *text;     /* of the kernel */
  const char *in_place; /* a kernel without P_SHADOW parameters, that does the same; NULL: none */
  int ntables; /* tables of neighbours; their distances are PORT_0, PORT_1 ... in the text */
  const guard *tables[8];
  int nnames; /* names of the variables of the kernel */
  const symbol *named[128];
  const char *names[128];
  struct step *next;
} step;

/* group.c: the steps of a nest, in the order in which they run; NULL after a refusal. */
step *port_steps(nest *n);
/* The parameter that an access goes to, and how far from the cell it is along each axis. */
param *port_step_param(step *s, const access *a, poly *offsets);
param *port_step_value(step *s, const char *text, value_type type, const access *element);
param *port_step_lookup(step *s, const access *a);
/* Of a level of a table; 0: known at run time only. */
int64_t port_table_extent(const access *a, int level);
const char *port_step_name(step *s, const symbol *sym, const char *wish);
/* The number of a table of neighbours in the kernel. */
int port_step_table(step *s, const guard *g);
/* The values that a polynomial in variables of short loops can have; false: something else is in
 * it. */
bool port_range(const nest *n, poly p, int64_t *lo, int64_t *hi);

/* depend.c: false after a refusal; conditions that it cannot prove are left to the run. */
bool port_depend(nest *n, step *steps);
/* A sweep that uses arrays along other axes than those it writes moves them by way of the host: the
 * function has none then. */
typedef struct sweeps {
  bool are_off, are_transposed;
} sweeps;
extern sweeps port_sweeps;
/* Whether a step writes cells of one colour, and reads cells of the other: it may run in place. */
bool port_is_one_colour(nest *n, const step *s);

/* Whether an array is read at the cell itself alone, before anything is written there: it may be
 * the one that is written. */
bool port_step_reads_first(const step *s, const param *p);

/* copies.c: finds out which parameters are fresh, and which are copies. */
void port_find_copies(step *s);

/* kernel.c: fills in the text and the parameters; false after a refusal. */
bool port_kernel(step *s);

#endif
