/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - programs: the steps a user wrote, and their sealed form.
 *
 * Before a program runs it is sealed (run/seal.c): steps are checked, the halo of every field that
 * is read at neighbours is derived, kernels are built, and a schedule of operations is made.
 * Running (run/execute.c) walks the schedule and allocates nothing.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_PROGRAM_H
#define AMBIT_RUNTIME_PROGRAM_PROGRAM_H

#include "grid/halo.h"
#include "runtime/objects/objects.h"

struct ambit__dataflow; /* dataflow.h */

typedef enum ambit__step_kind { STEP_APPLY, STEP_ROTATE } ambit__step_kind;

/* One step as the user wrote it. */
typedef struct ambit__step {
  ambit__step_kind kind;
  const ambit_kernel *kernel; /* STEP_APPLY */
  ambit__box box;             /* STEP_APPLY: cells asked for; ndims 0: runs once */
  int n;                      /* arguments, or fields that rotate */
  ambit_arg *args;            /* owned; fields that rotate are arguments too */
} ambit__step;

/* Components of a field that all steps read alike, and their halo. */
typedef struct ambit__halo_slice {
  ambit_field *field;
  int first, count;                    /* components first .. first + count - 1 */
  const ambit__boundaries *boundaries; /* that reads outside the grid follow */
  bool has_ghosts;                     /* an exchange fills them; else the stages of a cycle do */
  ambit__needs needs;                  /* all reads of all steps of the program; owned */
  ambit__halo halo;
} ambit__halo_slice;

/* The halo of one field: all reads of it beyond the parts' own cells (halo_needs.c). */
typedef struct ambit__field_halo {
  uint64_t id;
  ambit_field *field;
  const ambit__boundaries *boundaries; /* of its slices */
  ambit__halo_slice *slices;           /* at least one; owned */
  int nslices;
  bool varies; /* some of it depends on own cells: it is not all constant ghosts */
} ambit__field_halo;

typedef struct ambit__halos {
  ambit__field_halo *list; /* at most one per field; owned */
  int n;
} ambit__halos;

/* A step of kind STEP_APPLY, built: what its launches have in common (build.c). */
typedef struct ambit__apply {
  ambit__box region;           /* cells it updates, of the whole grid */
  ambit__function **functions; /* by engine; owned */
  ambit__buffer **numbers;     /* by engine and parameter: values of plain numbers; owned */
  ambit__argument *args;       /* by part and parameter; owned */
  bool reduces;
  bool row_ends;                      /* its launches may store whole vectors at row ends */
  struct ambit__allreduce *allreduce; /* NULL: one engine of one process has the result; owned */
  unsigned checks;                    /* AMBIT__CHECK_...: what launches are checked for */
  double cells, bytes, flops;         /* of one execution, on all parts of all processes */
} ambit__apply;

/* A launch: a box of cells of one part. */
typedef struct ambit__piece {
  int part; /* of this process */
  ambit__box box;
  bool more; /* folds into the result of earlier pieces of the same step */
} ambit__piece;

/* An operation of an iteration. */
typedef enum ambit__op_kind {
  OP_BEGIN,           /* exchange: post receives, start to pack and send */
  OP_EDGES,           /* exchange: fill the ghost cells that need no message */
  OP_FINISH,          /* exchange: wait for messages, unpack, fill the other ghost cells */
  OP_GHOSTS,          /* ghost cells around all cells that a stage of a cycle computes */
  OP_LAUNCH,          /* a step, on some boxes */
  OP_ALLREDUCE_BEGIN, /* scalars that a step reduced, over engines and processes */
  OP_ALLREDUCE_END,
  OP_ROTATE
} ambit__op_kind;

/* Which cells of a step a launch is for. */
typedef enum ambit__cells { CELLS_ALL, CELLS_INNER, CELLS_BORDER } ambit__cells;

typedef struct ambit__operation {
  ambit__op_kind kind;
  int step;      /* the step it comes from */
  int iteration; /* of those of the schedule, from 0 on */
  /* OP_BEGIN, OP_EDGES, OP_FINISH; OP_LAUNCH on the border queue: the exchange its cells wait for */
  struct ambit__exchange *exchange;
  bool beside; /* OP_EDGES, OP_FINISH: border cells on their own queue wait for it */
  /* OP_BEGIN: the only unfinished producer of the cells sent is the border launch of this exchange;
   * NULL: it waits for all that was launched before. */
  struct ambit__exchange *feeder;
  struct ambit__move_set *ghosts; /* OP_GHOSTS */
  ambit__cells cells;             /* OP_LAUNCH */
  ambit__piece *pieces;           /* OP_LAUNCH; owned */
  int npieces;
} ambit__operation;

/* Operations, in order. All that a schedule begins it also ends. */
typedef struct ambit__schedule {
  int iterations;        /* that it does */
  ambit__operation *ops; /* owned */
  size_t n, cap;
} ambit__schedule;

struct ambit_program {
  ambit_grid *grid;
  ambit__link link;
  ambit__step *steps;
  size_t nsteps, steps_cap;
  /* sealed: */
  void (*unseal)(ambit_program *p); /* frees all of the following; NULL: not sealed */
  ambit__apply *applies;            /* by step */
  ambit_field **fields;             /* all that steps use, once each */
  int nfields;
  bool *wraps_rows;   /* by field: kernels wrap reads along the last axis themselves; owned */
  ambit__halos halos; /* of fields that are read at neighbours, for one iteration */
  /* By field: the halo that is valid when an iteration starts, and when it ends; -1 none. */
  int *start, *end;
  struct ambit__exchange **starters;  /* by halo: it alone, before a run; in `exchanges` too */
  struct ambit__exchange **exchanges; /* all, owned */
  int nexchanges;
  ambit__schedule schedule;       /* of one iteration */
  struct ambit__cycle *cycle;     /* of several, with one exchange; NULL: there is none; owned */
  struct ambit__replay *replay;   /* recorded iterations; NULL: none are recorded; owned */
  struct ambit__checker *checker; /* of checked launches; NULL: there was none; owned */
  /* always: */
  bool broken;         /* an object its steps refer to was destroyed */
  int64_t iteration;   /* iterations done since creation */
  int64_t check_every; /* iterations between checks of run_until */
  bool watched;        /* the device itself evaluates the stop condition */
  bool converged;      /* the last run_until ended because its condition held */
  int64_t every;       /* iterations between callbacks; 0 none */
  ambit_callback_fn callback;
  void *callback_user;
  ambit_stats stats;
};

static inline ambit__errors *ambit__program_errors(const ambit_program *p)
{
  return &p->grid->context->errors;
}

/* ---- program.c ---- */

void ambit__program_unseal(ambit_program *p);
bool ambit__step_writes(const ambit__step *s, const ambit_field *f);
bool ambit__step_uses(const ambit__step *s, const ambit_field *f);

/* ---- check_step.c ---- */

/* The cells a step updates: those asked for, less those that fixed faces keep. */
ambit__box ambit__step_region(const ambit_program *p, const ambit__step *s);
/* Raise what is wrong with a step: its arguments; reads of fields it writes; reads outside the grid
 * where no boundary is declared. The last two need the region. */
ambit_status ambit__step_check(const ambit_program *p, const ambit__step *s);
ambit_status ambit__step_check_reads(const ambit_program *p, const ambit__step *s,
                                     const ambit__box *region);
ambit_status ambit__step_check_faces(const ambit_program *p, const ambit__step *s,
                                     const ambit__box *region);

/* ---- compare_processes.c, periodic_rows.c, halo_needs.c, margins.c, build.c: phases of sealing ---- */

/* Fails on all processes if one has failed so far, or has another program. Collective. */
ambit_status ambit__program_compare(const ambit_program *p);
ambit_status ambit__program_regions(ambit_program *p);       /* cells that each step updates */
ambit_status ambit__program_periodic_rows(ambit_program *p); /* p->wraps_rows; collective */
bool ambit__field_wraps_rows(const ambit_program *p, const ambit_field *f);
/* The halos of all fields for one iteration, or, with a dataflow, for several of them with one
 * exchange at their start: then without ghost cells, which are filled stage by stage. */
ambit_status ambit__halos_make(ambit_program *p, const struct ambit__dataflow *flow,
                               ambit__halos *halos);
void ambit__halos_free(ambit__halos *halos);
ambit_status ambit__program_widen(ambit_program *p); /* margins for all halos; collective */
ambit_status ambit__program_build(ambit_program *p);
void ambit__program_discard(ambit_program *p);
ambit__halo_spec ambit__halo_slice_spec(const ambit_program *p, const ambit__halo_slice *slice);
int ambit__field_halo_of(const ambit_program *p, const ambit_field *field); /* -1: it has none */
/* Whether a valid halo a contains all cells of b, with the same values. */
bool ambit__field_halo_covers(const ambit__field_halo *a, const ambit__field_halo *b);
/* All cells of the field that a part, of any process, keeps for the program. */
ambit__box ambit__field_halo_reach(const ambit__field_halo *h, int part);

/* ---- row_ends.c: whole vectors at row ends ---- */

/* The twin of an argument, a field, of a step on a region, as ambit__binding has it. */
int ambit__step_twin(const ambit_program *p, const ambit__step *s, const ambit__box *region,
                     int arg);
/* All values of one were copied to the other. */
void ambit__fields_alike(ambit_field *a, ambit_field *b);
/* Before the iterations of a run: updates applies[].row_ends; true if one of them changed. */
bool ambit__program_row_ends(ambit_program *p);

#endif
