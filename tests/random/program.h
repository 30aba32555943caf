/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - a random program, determined by one 64-bit seed.
 *
 * Eight consecutive seeds are a family: they share the kernels, the kinds of fields and the steps,
 * so that compiled code is reused. Variants of a family differ in sizes, boundaries, orders,
 * regions, values, and in how the program is run.
 *
 *   rules.c     writes the text of a kernel
 *   generate.c  makes a program from its seed, and prints it
 *   lines.c     adds sweeps and reductions along some axes
 *   points.c    adds points, records, profiles that do not change, and observers
 *   play.c      runs a program in a context and keeps the results
 */
#ifndef AMBIT_RANDOM_PROGRAM_H
#define AMBIT_RANDOM_PROGRAM_H

#include "ambit.h"

#include <stdbool.h>
#include <stdio.h>

enum {
  VARIANTS = 8, /* seeds of a family */
  MOST_FIELDS = 4,
  MOST_SCALARS = 10,
  MOST_KERNELS = 4,
  MOST_PARAMS = 7,
  TABLE_ROWS = 3,
  TABLE_COLUMNS = 4,
  MOST_STEPS = 16,
  MOST_ACTIONS = 8,
  TEXT_SIZE = 16384 /* bytes of a kernel's text */
};

/* ---- numbers ---- */

typedef struct dice {
  uint64_t state;
} dice;

uint64_t dice_roll(dice *d);
int dice_below(dice *d, int n);               /* 0 to n - 1 */
int dice_between(dice *d, int low, int high); /* both included */
bool dice_chance(dice *d, int percent);

/* ---- the program ---- */

typedef struct field_plan {
  ambit_type type;
  int components;
  int alike; /* fields of one group can be swapped */
  ambit_order order;
  ambit_boundary kind[AMBIT_MAX_DIMS][2];
  double value[AMBIT_MAX_DIMS][2];
  bool is_given; /* gets values before the first run */
} field_plan;

typedef struct scalar_plan {
  ambit_type type;
  double first;
  int magnitude; /* sum of reals: the scalar with the sum of magnitudes; -1: exact */
} scalar_plan;

typedef enum role {
  ROLE_IN,
  ROLE_OUT,
  ROLE_VALUE,
  ROLE_SUM,
  ROLE_MIN,
  ROLE_MAX,
  ROLE_FOLD /* by a function of the text */
} role;

typedef struct param_plan {
  role role;
  ambit_type type;
  int components;
  bool is_near;    /* ROLE_IN: read at the cell itself only */
  int field;       /* the argument: a field, */
  int scalar;      /* or (field < 0) a scalar, */
  double number;   /* or (both < 0) a number */
  int inward_axis; /* ROLE_OUT of a kernel on a face: reads one cell along this axis; else -1 */
  int inward;      /* by this offset */
} param_plan;

typedef struct kernel_plan {
  int nparams;
  param_plan params[MOST_PARAMS];
  bool runs_once;
  bool spreads;  /* it writes neighbours, which sparse grids refuse */
  unsigned face; /* the only face it may run on; 0: anywhere */
  bool reduces;
  int radius;
  bool has_table; /* one more parameter, the last: table T w[TABLE_ROWS][TABLE_COLUMNS] */
  ambit_type table_type;
  double table[TABLE_ROWS * TABLE_COLUMNS];
  char text[TEXT_SIZE];
} kernel_plan;

typedef struct step_plan {
  int kernel;    /* -1: a rotation, or a copy */
  int64_t every; /* it runs every n iterations; 0: in all */
  enum { ON_GRID, ON_BOX, ON_FACES } where;
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];
  unsigned faces;
  int n; /* of a rotation; 0: a copy */
  int fields[MOST_FIELDS];
  int64_t at[AMBIT_MAX_DIMS]; /* of a copy */
} step_plan;

typedef struct action {
  enum { DO_RUN, DO_RUN_UNTIL, DO_REST, DO_SET_SCALAR, DO_WRITE_BOX, DO_BOUNDARY } what;
  int64_t iterations, check;
  int object; /* field or scalar */
  ambit_condition when;
  double value;
} action;

typedef struct program_plan {
  uint64_t seed;
  bool is_smooth;   /* small changes stay small: compared with a tolerance */
  bool is_wild;     /* values may be huge, infinite or NaN */
  bool is_narrow;   /* fields are bytes and shorts: seeds with bit 40 */
  bool is_waving;   /* three fields take turns: seeds with bit 41 */
  bool is_new;      /* unsigned types and random numbers, too: seeds with bit 42 */
  bool is_coloured; /* two steps work in place, in cells of one colour: seeds with bit 44 */
  bool is_quiet;    /* fields start with one value but for a few cells; set by the caller */
  int threads;      /* of the cpu device */
  bool tiny_caches; /* simulated for the cpu device, which then cuts rows and stores past them */
  int ndims;
  int64_t extents[AMBIT_MAX_DIMS];
  int nfields, nscalars, nkernels, nsteps, nactions;
  field_plan fields[MOST_FIELDS];
  scalar_plan scalars[MOST_SCALARS];
  kernel_plan kernels[MOST_KERNELS];
  step_plan steps[MOST_STEPS];
  int called, ncalled;     /* steps called .. called + ncalled - 1 are a program that is called */
  int64_t call_iterations; /* per call */
  bool call_until;         /* ... at most, until scalar 0, if they set it, is above 1 */
  action actions[MOST_ACTIONS];
} program_plan;

void program_make(program_plan *p, uint64_t seed);
void program_print(const program_plan *p, FILE *to);
int64_t program_cells(const program_plan *p);

/* Writes the text of kernel number `k`, whose parameters are known. */
void rule_write(dice *d, const program_plan *p, int k);

/* The same for a kernel that updates its first field in place, in cells of one colour, where a
 * second one allows it. */
void rule_write_coloured(dice *d, const program_plan *p, int k);

/* The same for one that it writes at neighbours, with `tests` only those in the grid. */
void rule_write_spread(dice *d, const program_plan *p, int k, bool tests);

/* Appends sweeps and reductions onto profiles, of programs that have them (lines.c). */
void lines_append(const program_plan *p, ambit_program *to, ambit_grid *g, ambit *a,
                  ambit_field *const *fields);
void lines_print(const program_plan *p, FILE *to);

/* Appends sources, receivers and a steady profile, of programs that have them (points.c). Returns
 * what receivers keep; NULL: there are none. */
ambit_record *points_append(const program_plan *p, ambit_program *to, ambit_grid *g, ambit *a,
                            ambit_field *const *fields);
void points_print(const program_plan *p, FILE *to);

/* ---- running it ---- */

typedef struct outcome {
  ambit_status status;
  char story[2000];
  void *values[MOST_FIELDS]; /* owned */
  double scalars[MOST_SCALARS];
  double *rows;  /* of the record, n numbers; owned */
  int64_t nrows; /* n */
  int64_t iterations;
  int converged;
} outcome;

/* How a program is run. */
typedef struct play_mode {
  const char *device;
  bool strict;
  bool sleep;      /* tiles that did not change are never computed */
  bool check, nan; /* the options of these names; with nan fewer fields get values */
  bool recut;      /* move the cut while the program runs */
  bool sparse;     /* on a sparse grid, with a random mask */
  int threads;
  const char *cache;
  const char *plan;               /* the option plan; NULL: the device chooses */
  const char *checkpoint, *every; /* file and interval; NULL: none */
} play_mode;

extern int recuts; /* cuts that were moved so far */

/* Runs the program in a separate context. */
void program_play(const program_plan *p, const play_mode *mode, outcome *o);
void outcome_free(outcome *o);

static inline bool is_unsigned(ambit_type t)
{
  return t == AMBIT_U8 || t == AMBIT_U16 || t == AMBIT_U32 || t == AMBIT_U64;
}

static inline bool is_real(ambit_type t)
{
  return t == AMBIT_F32 || t == AMBIT_F64 || t == AMBIT_F16 || t == AMBIT_BF16;
}

#endif
