/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - programs: the user's steps and their sealed form.
 *
 * A program is sealed before it runs (run/seal.c): its steps are checked, the halo of every field
 * that is read at neighbours is derived, kernels are built, and the schedule is made. Running
 * (run/execute.c) walks the schedule and allocates nothing.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_PROGRAM_H
#define AMBIT_RUNTIME_PROGRAM_PROGRAM_H

#include "base/hash.h"
#include "base/memory.h"
#include "device/chore.h"
#include "grid/halo.h"
#include "runtime/objects/objects.h"

#include <string.h>

struct ambit__cycle;                    /* cycle.h */
struct ambit__gate;                     /* exchange/exchange.h */
typedef struct ambit__held ambit__held; /* held.c */

typedef enum ambit__step_kind { STEP_APPLY, STEP_ROTATE, STEP_COPY, STEP_CALL } ambit__step_kind;

/* A run of another program. */
typedef struct ambit__subrun {
  ambit_program *program; /* NULL: it was destroyed, and its caller is broken */
  int64_t most;           /* iterations */
  ambit_scalar *scalar;   /* until it meets the condition; NULL: all iterations */
  ambit_condition when;
  double bound;
} ambit__subrun;

/* A step of kind STEP_APPLY that is no kernel; its rule has no body (device/chore.h). */
typedef struct ambit__chore_use {
  ambit__chore_kind kind;
  ambit_points *points; /* NULL: it has none */
  ambit_record *record; /* NULL: none */
  /* CHORE_HOST: */
  ambit_host_fn fn;
  void *user;
  unsigned modes[AMBIT_MAX_PARAMS]; /* by field */
  /* CHORE_HOST without a function: cells of another grid (resample.c) */
  ambit_field *source;     /* NULL: none */
  ambit__box taken, given; /* its cells; those of the field that is written */
  ambit__chore on[];       /* by engine */
} ambit__chore_use;

static inline bool ambit__chore_is_host(const ambit__chore_use *c)
{
  return c && c->kind == CHORE_HOST;
}

/* One step as the user wrote it. */
typedef struct ambit__step {
  ambit__step_kind kind;
  int64_t every;               /* it runs in iterations every, 2 every, ...; 1: in all */
  const ambit_kernel *kernel;  /* STEP_APPLY */
  ambit_kernel *bound;         /* the same, if made for the values of its tables; owned */
  ambit__chore_use *chore;     /* what it does in place of the kernel; NULL: nothing */
  ambit__chore_use *own_chore; /* the same, owned */
  ambit_scalar *own_scalar;    /* that it writes, for the next step; owned */
  ambit__box box;   /* STEP_APPLY: requested cells; ndims 0: runs once. STEP_COPY: the source */
  unsigned dropped; /* STEP_APPLY: axes that none of its fields has; along them there is cell 0 */
  /* STEP_APPLY: 1 + the axis along which cells run in order, from the low face; less than 0: from
   * the high one; 0: in any order (sweeping.h) */
  int sweep;
  ambit__subrun call;            /* STEP_CALL */
  int64_t shift[AMBIT_MAX_DIMS]; /* STEP_COPY: from the source to the destination */
  int n;                         /* number of arguments, or of fields to rotate */
  ambit_arg *args; /* owned; fields to rotate are arguments too; STEP_COPY: from, to */
  /* Sealed, with corrected boundaries (faces.c): the step as it was; NULL: as it is. */
  struct ambit__step *user;
  uint64_t joined; /* sealed: bit i: it does what step i of the user does (join.h) */
} ambit__step;

/* Whether all components of a parameter get values that do not depend on those before. */
static inline bool ambit__param_replaces(const ambit__param *q)
{
  bool all = q->is_written;

  for (int c = 0; c < q->components; c++)
    all = all && q->writes[c] && !q->keeps[c];
  return all;
}

/* The only argument of a step that is the field; -1: none; -2: several. */
static inline int ambit__step_argument(const ambit__step *s, const ambit_field *f)
{
  int found = -1;

  for (int i = 0; i < s->n; i++)
    if (s->args[i].field == f) found = found == -1 ? i : -2;
  return found;
}

/* Of a step whose kind has a kernel. */
static inline const ambit__param *ambit__step_param(const ambit__step *s, int arg)
{
  return &s->kernel->rule->params[arg];
}

/* Components of a field that all steps read alike, and their halo. */
typedef struct ambit__halo_slice {
  ambit_field *field;
  ambit_field *source;                 /* where cells come from; NULL: own cells of the field */
  int first, count;                    /* components first .. first + count - 1 */
  const ambit__boundaries *boundaries; /* for reads outside the grid */
  const ambit__boundaries *changing;   /* the same, without ghost cells that are filled once */
  bool has_ghosts;                     /* filled by the exchange; false: by the stages of a cycle */
  ambit__needs needs;                  /* all reads of all steps of the program; owned */
  ambit__halo halo;
  /* A copy on a sparse grid to another place: by part of this process; else NULL; owned (copies.c).
   * Boxes of transfers are those of the destination then. */
  ambit__shifted *shifted;
  int nshifted;
} ambit__halo_slice;

/* The halo of one field: all reads of it beyond the own cells of the parts (halo_needs.c). */
typedef struct ambit__field_halo {
  uint64_t id;
  ambit_field *field;
  const ambit__boundaries *boundaries; /* of its slices, unless components differ */
  ambit__halo_slice *slices;           /* at least one; owned */
  int nslices;
  bool varies; /* some of it depends on own cells, i.e. it is more than constant ghost cells */
  bool lent;   /* no step reads it; its constant ghost cells are for a field it rotates with */
  /* Constant ghost cells are filled at the start of a run if this is not the id of those that the
   * field has, and left alone by the exchanges of steps. 0: exchanges fill them too. */
  uint64_t constants;
  bool is_mixed; /* it rotates with fields that have others, and their buffers have all of them */
  ambit__boundaries changing; /* of its slices */
} ambit__field_halo;

typedef struct ambit__halos {
  ambit__field_halo *list; /* at most one per field; owned */
  int n;
  /* By pair of halos, if the first contains the second: 'y' or 'n', 0 if it is not known yet
   * (halo_state.c). NULL: none is known; owned. */
  char *covers;
} ambit__halos;

/* The part that a step has in several iterations at once (roles.h). */
typedef enum ambit__role {
  ROLE_STAGE, /* a stage of each of them */
  ROLE_AHEAD, /* runs once, on scalars that are known before the first of them */
  ROLE_LATE,  /* runs once, on scalars that need a reduction: left out, as reductions are */
  ROLE_RARE,  /* runs every n iterations; those run one by one */
  ROLE_FIRST  /* in cycles of one iteration: runs before the wave, with its reductions */
} ambit__role;

/* A built step of kind STEP_APPLY: the data common to its launches (build.c). */
typedef struct ambit__apply {
  ambit__box region;           /* cells it updates, of the whole grid */
  ambit__role role;            /* of steps of any kind */
  ambit__function **functions; /* by engine; perhaps those of its model */
  size_t model;                /* the first step that is built alike, perhaps itself */
  ambit__buffer **numbers;     /* by engine and parameter: values of number arguments */
  ambit__argument *args;       /* by part and parameter */
  int nargs;                   /* number of parameters */
  /* On a sparse grid: the rule with activity as additional parameters (kernel/sparse.c), NULL if it
   * needs none; and the fields of these parameters. The rules are owned. */
  ambit__rule *adapted;
  bool is_normal;      /* `adapted` is the normal form of the rule of a step on a dense grid */
  ambit__rule *turned; /* the same rule on GPUs, where axes have another order; NULL: none; owned */
  ambit_field **activity;
  /* On a sparse grid: its reads, and by part a list of the cells of launches so far; owned. chunks
   * is NULL on a dense grid. */
  ambit__chunk_form form;
  ambit__chunks **chunks;
  bool reduces;
  uint32_t folds; /* bit i: the reduction of parameter i continues that of an earlier step */
  uint32_t last;  /* bit i: no later step continues the reduction of parameter i */
  struct ambit__allreduce *allreduce; /* NULL: a single engine has the result */
  struct ambit__folding *folding;     /* reductions onto fields (folding.h); NULL: none */
  struct ambit__sweeping *sweeping;   /* cells in order (sweeping.h); NULL: in any */
  ambit__buffer **waste;              /* by engine: reductions of copies; NULL: none */
  int copy;                           /* STEP_COPY: index in p->copies */
  int returns, nreturns;              /* first index in p->returns, and their number */
  unsigned checks;                    /* AMBIT__CHECK_... flags of its launches */
  /* of one execution, over all parts of all processes; cells of joined steps count for each */
  double cells, bytes, flops;
} ambit__apply;

/* A launch: a box of cells of one part. */
typedef struct ambit__piece {
  int part; /* of this process */
  ambit__box box;
  bool more;    /* continues the reduction of earlier pieces of the same step */
  bool is_copy; /* another part updates copies of the same cells: its reductions do not count */
} ambit__piece;

/* An operation of an iteration. */
typedef enum ambit__op_kind {
  OP_BEGIN,           /* exchange: post receives, start to pack and send */
  OP_EDGES,           /* exchange: fill the ghost cells that need no message */
  OP_FINISH,          /* exchange: wait for messages, unpack, fill the other ghost cells */
  OP_GHOSTS,          /* fill the ghost cells for all cells that a stage of a cycle computes */
  OP_LAUNCH,          /* launch a step on some boxes */
  OP_KEEP,            /* keep the scalars that a stage computed, for a wave */
  OP_RECALL,          /* set scalars to the values that were kept so */
  OP_WAVE,            /* all launches and ghost cells of a cycle in one pass over the cells */
  OP_FUSED,           /* all steps of a cycle in one launch, on some boxes */
  OP_TRADE,           /* fields trade buffers after such launches */
  OP_ALLREDUCE_BEGIN, /* start to combine the scalars of a step over engines and processes */
  OP_ALLREDUCE_END,
  OP_ROTATE,
  OP_CALL /* run another program */
} ambit__op_kind;

/* The cells that a launch updates. */
typedef enum ambit__cells { CELLS_ALL, CELLS_INNER, CELLS_BORDER } ambit__cells;

typedef struct ambit__operation {
  ambit__op_kind kind;
  int step;      /* the step it comes from */
  int64_t every; /* that of the step */
  int iteration; /* within the schedule, from 0 */
  int order;     /* OP_KEEP, OP_RECALL: of a stage (roles.h); -1: before the first */
  /* OP_BEGIN, OP_EDGES, OP_FINISH; OP_LAUNCH on the border queue: the exchange that its cells wait
   * for */
  struct ambit__exchange *exchange;
  bool on_border; /* OP_EDGES, OP_FINISH: the border queue waits for it */
  /* OP_BEGIN: the border launch of this exchange is the only unfinished producer of the cells to
   * send. NULL: the exchange waits for all earlier launches. */
  struct ambit__exchange *feeder;
  struct ambit__move_set *ghosts; /* OP_GHOSTS */
  ambit__cells cells;             /* OP_LAUNCH, OP_FUSED */
  ambit__piece *pieces;           /* OP_LAUNCH, OP_FUSED */
  int npieces;
} ambit__operation;

/* A list of operations. It ends everything that it begins. */
typedef struct ambit__schedule {
  int iterations;        /* number of iterations it executes */
  ambit__operation *ops; /* owned */
  size_t n, cap;
} ambit__schedule;

enum { AMBIT__PLAN_CHARS = 128 }; /* of the line of a plan for several iterations */

/* Another way to run iterations, whose estimated time is close to that of the one that was chosen:
 * a long run tries it (run/tune.c). */
typedef struct ambit__rival {
  int depth;                    /* 0: there is none */
  char plan[AMBIT__PLAN_CHARS]; /* "": the one of the model for this depth */
  double seconds;               /* of an iteration as chosen, by estimate */
  bool waits;                   /* a long run looks for it: ambit__cycle_find_rival */
} ambit__rival;

/* Whether it is, given both times. */
static inline bool ambit__rival_is_close(double rival, double chosen)
{
  return rival >= 0 && rival <= 1.25 * chosen;
}

/* Something that looks at fields while a program runs, and sets none. All processes have the same.
 */
typedef struct ambit__observer {
  int64_t every; /* it looks before the first iteration and after every, 2 every, ... of them */
  ambit_status (*look)(struct ambit__observer *o, ambit_program *p); /* collective */
  /* At the end of a run: completes what looks have begun. Collective. NULL: nothing is. */
  ambit_status (*settle)(struct ambit__observer *o);
  /* Instead of `every`: how many iterations it can wait for its next look. It looks before the
   * first iteration, whenever iterations stop, and not in called programs. The same on all
   * processes. NULL: `every` counts. */
  int64_t (*left)(struct ambit__observer *o, const ambit_program *p);
  bool (*uses)(const struct ambit__observer *o, const void *object);
  void (*end)(struct ambit__observer *o); /* frees it; may raise an error */
  bool has_looked;
  int64_t seen; /* then: in this iteration */
  struct ambit__observer *next;
} ambit__observer;

struct ambit_program {
  ambit_grid *grid;
  ambit__link link;
  ambit__step *written; /* steps as the user wrote them; owned */
  size_t nwritten, written_cap;
  size_t last; /* the first step that the last call appended */
  /* steps as they run: those of the user, unless the program is sealed and some are joined */
  ambit__step *steps;
  size_t nsteps;
  /* sealed: */
  void (*unseal)(ambit_program *p); /* frees all of the following; NULL: not sealed */
  ambit__arena memory;              /* of all that is not owned elsewhere */
  ambit__held *held;                /* buffers and functions, newest first */
  ambit__apply *applies;            /* by step */
  ambit_field **fields;             /* all fields that steps use, each once */
  int nfields;
  bool *closes_rows;    /* by field: kernels read beyond the ends of rows themselves */
  unsigned periodic;    /* axes along which a field that is read at neighbours is periodic */
  ambit__halos halos;   /* of fields that are read at neighbours, for one iteration */
  ambit__halos copies;  /* a halo in form only for each step that copies (copies.c) */
  ambit__halos returns; /* and for each field that a step writes at neighbours (returns.c) */
  /* By field: the halo that is valid at the start of an iteration, and at its end; -1: none. */
  int *start, *end;
  struct ambit__exchange *
      *starters; /* by halo: its own exchange, for the start of a run; also in `exchanges` */
  struct ambit__exchange **exchanges; /* all */
  int nexchanges;
  ambit__schedule schedule;       /* of one iteration */
  ambit__schedule plain;          /* the same without overlap, if tiles can sleep */
  struct ambit__sleep *sleep;     /* tiles that did not change; NULL: none can sleep */
  const struct ambit__gate *gate; /* of messages between processes; NULL: none */
  bool gated;                     /* in this iteration messages go through the gate */
  struct ambit__cycle *cycle;     /* several iterations at once; NULL: none; owned */
  ambit__rival rival;             /* of the cycle, or of single iterations */
  struct ambit__lean *lean;       /* a form with fewer fields (lean.h); NULL: none; owned */
  bool lean_known;                /* it was decided whether there is one */
  struct ambit__replay *replay;   /* NULL: iterations are not recorded; owned */
  struct ambit__checker *checker; /* of checked launches; NULL: none so far */
  /* always valid: */
  ambit_program *lean_of; /* the program that this is the lean form of; NULL: it is none */
  uint64_t seals;         /* how often it was sealed */
  bool broken;            /* an object that a step refers to was destroyed */
  int64_t iteration;      /* iterations done since creation */
  /* Iterations at once where the option depth is auto: as measured, or, with `tuning`, to be
   * measured; 0: unknown. */
  int tuned;
  char tuned_plan[AMBIT__PLAN_CHARS]; /* the same for the plan; "": by the model */
  bool tuning;
  int64_t check_every; /* iterations between checks of run_until */
  int64_t look_every;  /* ... between looks at signals and the clock, for checkpoints */
  int number;          /* among the programs that are shown, from 1 (explain/); 0: none yet */
  bool is_explained;   /* it was shown */
  bool is_running;
  bool may_stop;               /* running: iterations that ambit_stop can end */
  bool is_called;              /* running: by a step of another program */
  bool is_calling;             /* running: in a step that runs another program */
  bool is_outdated;            /* to be unsealed, once it runs no other program */
  bool relaxes;                /* the order of updates does not matter (ambit_program_relax) */
  bool awaits_rest;            /* running until nothing changes */
  const ambit_scalar *awaited; /* running: the scalar of the stop condition; NULL: none */
  bool after_cycle;            /* halos are not those at the start of a single iteration */
  bool watched;                /* the device evaluates the stop condition */
  bool converged;              /* the last run_until ended because its condition held */
  struct ambit__observer *observers; /* in order; NULL: none; owned */
  double observed;                   /* seconds that they took, but for those with `left` */
  int64_t goal;                      /* running: the iteration at which it ends; 0: not known */
  int64_t every;                     /* iterations between callbacks; 0: none */
  ambit_callback_fn callback;
  void *callback_user;
  ambit_stats stats, told;             /* so far; as the user was told last */
  bool weighed;                        /* it was decided whether there is a balance */
  struct ambit__balance *balance;      /* of the devices; NULL: none; owned */
  void (*unbalance)(ambit_program *p); /* frees it; NULL: nothing to free */
};

static inline ambit__errors *ambit__program_errors(const ambit_program *p)
{
  return &p->grid->context->errors;
}

/* Whether a public call on a program returns at once, and with what. */
static inline bool ambit__program_failed(const ambit_program *p)
{
  return !p || ambit__failed(p->grid->context);
}

static inline ambit_status ambit__program_status(const ambit_program *p)
{
  return p ? p->grid->context->errors.status : AMBIT_EINVAL;
}

/* The start of the plans to use; "": any. */
static inline const char *ambit__program_plan(const ambit_program *p)
{
  return p->grid->context->settings.plan;
}

/* The end of a plan that names the compiler of its functions, " by clang"; NULL: the first one. */
static inline const char *ambit__plan_compiler(const char *plan)
{
  const char *by = strstr(plan, ") by ");

  return by ? by + 1 : NULL;
}

/* The same, or the plan that was measured: of several iterations, of the steps of single ones. The
 * steps of several iterations have plans of their own, but the compiler that was measured. */
static inline const char *ambit__program_cycle_plan(const ambit_program *p)
{
  return p->tuned > 1 && *p->tuned_plan ? p->tuned_plan : ambit__program_plan(p);
}
static inline const char *ambit__program_step_plan(const ambit_program *p)
{
  const bool is_of_steps = p->tuned == 1 || ambit__plan_compiler(p->tuned_plan);

  return p->tuned && *p->tuned_plan && is_of_steps ? p->tuned_plan : ambit__program_plan(p);
}

/* The cells that a step can update on a part of any process. */
static inline ambit__box ambit__step_part(const ambit_program *p, const ambit__step *s, int part)
{
  return ambit__box_project(&p->grid->parts[part], s->dropped);
}

/* ---- program.c ---- */

void ambit__program_unseal(ambit_program *p);
/* Frees a program that does not run. */
void ambit__program_free(ambit_program *p);
/* The box lo .. hi - 1 of a grid that a step works on; NULL: up to the ends of the grid. `what` is
 * for the message: "a copy takes". */
ambit_status ambit__program_box(const ambit_program *p, const ambit_grid *g, const char *what,
                                const int64_t *lo, const int64_t *hi, ambit__box *box);
/* Appends a step, which was checked, with a copy of its arguments. */
ambit_status ambit__program_append(ambit_program *p, ambit__step step, const ambit_arg *args);
int ambit__program_field(const ambit_program *p, const ambit_field *f); /* -1: not used */
/* Whether a step on a region gives every cell of an argument, a field, a new value, independent of
 * the old one. */
bool ambit__step_overwrites(const ambit_program *p, const ambit__step *s, const ambit__box *region,
                            int arg);
/* What a step, or any step of a program, does with a field, or with one that shares its memory. */
enum {
  EFFECT_USES = 1, /* it is an argument */
  EFFECT_READS = 2,
  EFFECT_WRITES = 4,
  EFFECT_ROTATES = 8
};
unsigned ambit__step_effects(const ambit__step *s, const ambit_field *f);
unsigned ambit__program_effects(const ambit_program *p, const ambit_field *f); /* NULL: none */
static inline bool ambit__step_writes(const ambit__step *s, const ambit_field *f)
{
  return ambit__step_effects(s, f) & EFFECT_WRITES;
}
static inline bool ambit__step_uses(const ambit__step *s, const ambit_field *f)
{
  return ambit__step_effects(s, f) & EFFECT_USES;
}
static inline bool ambit__step_changes(const ambit__step *s, const ambit_field *f)
{
  return ambit__step_effects(s, f) & (EFFECT_WRITES | EFFECT_ROTATES);
}
/* Rotates numbers, one per field of the program, as the step rotates its fields. */
void ambit__step_rotate(const ambit_program *p, const ambit__step *s, int *of_field);
/* Whether a step sets a scalar: by a reduction, in a kernel on scalars, or in a program that it
 * calls; and whether a program does, or has a callback, which may. */
bool ambit__step_sets(const ambit__step *s, const ambit_scalar *scalar);
bool ambit__program_sets(const ambit_program *p, const ambit_scalar *scalar);
bool ambit__program_calls(const ambit_program *p); /* whether it has such a step */
/* Adds an observer; ends all those that use an object (NULL: all). */
void ambit__program_observe(ambit_program *p, ambit__observer *o);
void ambit__program_unobserve(ambit_program *p, const void *object);
void ambit__program_end_outputs(ambit_program *p); /* all but those with `left` */
/* Whether a program, or one that it calls, has a callback; and whether a step calls such a one: any
 * field may then change, as callbacks set values and run other programs. */
bool ambit__program_calls_back(const ambit_program *p);
bool ambit__step_calls_back(const ambit__step *s);
/* Whether running p runs `called`, perhaps by way of other programs. */
bool ambit__program_reaches(const ambit_program *p, const ambit_program *called);

/* Raises an error if a stop condition of a public call is wrong. */
ambit_status ambit__until_check(ambit *a, const ambit_scalar *s, ambit_condition when, double value,
                                const char *call);

/* The number of the user's steps that a step of a sealed program stands for. */
int ambit__step_updates(const ambit__step *s);

/* ---- held.c: what a sealed program has until it is unsealed ---- */

/* Sets ptr to zeroed memory for n objects of its type, or returns AMBIT_ENOMEM. */
#define AMBIT_HOLD(p, ptr, n) AMBIT_TAKE(ambit__program_errors(p), &(p)->memory, ptr, n)
ambit_status ambit__hold_buffer(ambit_program *p, int engine, size_t bytes, ambit__buffer **b);
/* Memory of a layout, as that of a field on a part. */
ambit_status ambit__hold_store(ambit_program *p, const ambit_field *f, int part,
                               ambit__store *store);
ambit_status ambit__hold_function(ambit_program *p, int engine, const ambit__group *group,
                                  ambit__function **fn);
void ambit__program_let_go(ambit_program *p); /* of all of these */

/* ---- check_step.c ---- */

/* The cells that a step updates: the requested ones except those that fixed faces keep. */
ambit__box ambit__step_region(const ambit_program *p, const ambit__step *s);
/* Raises an error with the line of the kernel and a caret under `place`. */
ambit_status ambit__step_raise_at(const ambit_program *p, const ambit__rule *rule,
                                  ambit__place place, const char *message, ...)
    __attribute__((format(printf, 4, 5)));
/* Raise an error if a step is wrong: in its arguments; in its reads of fields that it writes; in
 * its reads outside the grid without a declared boundary. The last two need the region. */
ambit_status ambit__step_check(const ambit_program *p, const ambit__step *s);
ambit_status ambit__step_check_reads(const ambit_program *p, const ambit__step *s,
                                     const ambit__box *region);
ambit_status ambit__step_check_faces(const ambit_program *p, const ambit__step *s,
                                     const ambit__box *region);
/* check_targets.c: the same for what it writes at neighbours. */
ambit_status ambit__step_check_targets(const ambit_program *p, const ambit__step *s,
                                       const ambit__box *region);
/* Whether a step, which was checked, reads neighbours in place: it writes the field in cells of
 * another colour only, or at the very neighbours that it reads. */
bool ambit__step_is_in_place(const ambit_program *p, const ambit__step *s);

/* ---- copies.c: steps that copy a box of cells ---- */

ambit__box ambit__copy_destination(const ambit__step *s);
/* Raises an error if a program cannot copy from one field to the other. */
ambit_status ambit__copy_check_fields(const ambit_program *p, const ambit_field *from,
                                      const ambit_field *to);
ambit_status ambit__copies_make(ambit_program *p); /* p->copies */
/* On a sparse grid, finds the cells of copies when they have their places. */
ambit_status ambit__copies_place(ambit_program *p);
void ambit__copies_forget(ambit__halo_slice *s); /* frees s->shifted */

/* Makes a halo in form only: parts reach their own cells, and a function adds the transfers from a
 * part to a part, of which this process has at least one. */
typedef ambit_status (*ambit__pair_fn)(const ambit_program *p, ambit__halo *h, const void *user,
                                       int from, int to);
ambit_status ambit__transfers_make(const ambit_program *p, ambit__halo *h, ambit__pair_fn add,
                                   const void *user);
ambit_status ambit__transfers_add(const ambit_program *p, ambit__halo *h, int from, int to,
                                  const ambit__box *box, const int64_t *shift);

/* ---- returns.c: cells that steps write at neighbours go to the parts that own them ---- */

ambit_status ambit__returns_make(ambit_program *p); /* p->returns */

/* ---- sparse_step.c: steps on sparse grids ---- */

/* Raises an error if a step reads inactive cells of a field without a declared boundary. */
ambit_status ambit__step_check_inactive(const ambit_program *p, const ambit__step *s,
                                        const ambit__box *region);
/* The boundaries of reads of a component of a field of a sparse grid: where there are none, and
 * nothing is read without a test before it, as for inactive cells that have no constant. So fields
 * share distances with tests of outside() where they can. Faces are symmetric where they are
 * antisymmetric: adapted rules change signs. */
ambit__boundaries ambit__field_view(const ambit_field *f, int component);
/* A phase of sealing: on a dense grid, makes rules that compute the same as those of the steps, in
 * a form that depends less on spelling. */
ambit_status ambit__program_normal(ambit_program *p);
/* The rule of a step as it runs, for models and several iterations at once. */
const ambit__rule *ambit__step_rule(const ambit_program *p, size_t step);
/* On a sparse grid, makes the adapted rule of a step if it needs one, and the form of its reads. */
ambit_status ambit__step_adapt(ambit_program *p, size_t step);
/* The form of its reads, in a list or not. The caller frees it, also after a failure. */
ambit_status ambit__step_form(const ambit_program *p, size_t step, bool list,
                              ambit__chunk_form *form);
/* sparse_storage.c: chooses the storage of the grid, if it may and the program moves more bytes
 * than those that chose it before. Fields may be stored anew, and forms made again. */
ambit_status ambit__program_store(ambit_program *p);
/* Prepares the chunks of all steps. Fields may be stored anew for it. */
ambit_status ambit__program_chunks(ambit_program *p);
/* The chunks of a launch on a box of a part, made for the first one; NULL on a dense grid. */
ambit_status ambit__apply_chunks(const ambit_program *p, const ambit__apply *a, int part,
                                 const ambit__box *box, const ambit__chunks **chunks);

/* ---- chores.c: steps that sample, inject and note ---- */

/* Points have moved: the boxes of steps, and sealed programs, follow. */
void ambit__program_points_moved(ambit_program *p, const ambit_points *points);
void ambit__chore_hash(const ambit__chore_use *t, ambit__hash *h);

/* Appends a step of kind CHORE_HOST on a box, with so many fields. */
ambit_status ambit__program_append_host(ambit_program *p, const ambit__chore_use *use,
                                        const ambit__box *box, int n, ambit_field *const *fields);

/* ---- resample.c: cells of other grids ---- */

/* The cells of the source, along an axis, that cell i of the destination depends on: first .. first
 * + n - 1, with weights of sum 1. */
typedef struct ambit__resampling {
  int64_t first;
  int n;
  double share; /* of the first one, where n is 2; else each has 1 / n */
} ambit__resampling;
ambit__resampling ambit__resample_at(const ambit__chore_use *c, int axis, int64_t i);
/* Those that a box of the destination depends on. */
ambit__box ambit__resample_needs(const ambit__chore_use *c, const ambit__box *box);
bool ambit__resample_is_copy(const ambit__chore_use *c); /* cell by cell */
/* Appends such a step. */
ambit_status ambit__resample_append(ambit_program *p, ambit_field *from, const ambit__box *taken,
                                    ambit_field *to, const ambit__box *given);

/* ---- records.c: rows on devices ---- */

/* Before iterations: gives all records of a program room for up to n of them; *n is as many as
 * there is room for, at least 1. Collective. */
ambit_status ambit__records_ready(ambit_program *p, int64_t *n);
/* The program is destroyed: its records stay where they are. */
void ambit__records_leave(const ambit_program *p);
/* Brings all rows to the host memory of all processes. Collective. */
ambit_status ambit__record_collect(ambit_record *r);
int64_t ambit__record_place(const ambit_record *r); /* the next row */
int64_t ambit__record_count(const ambit_record *r); /* rows that there are */
/* The number of the iteration that ended with this row; 0: no step has sampled it. */
int64_t ambit__record_iteration(const ambit_record *r, int64_t row);
ambit_status ambit__record_stretch(ambit_record *r, ambit__stretch s);
/* Replaces all rows and the place. */
ambit_status ambit__record_set(ambit_record *r, int64_t rows, int64_t columns, const double *values,
                               int64_t place);

/* ---- reductions.c: reductions of several steps into one scalar ---- */

ambit_status ambit__step_check_reductions(const ambit_program *p, const ambit__step *s);
/* Raises an error if steps that run in different iterations share a reduction. */
ambit_status ambit__program_check_reductions(const ambit_program *p);
void ambit__program_reductions(ambit_program *p); /* applies[].folds and .last */

/* ---- compare_processes.c, closed_rows.c, halo_needs.c, margins.c, build.c: phases of sealing
 * ---- */

/* One line about a step as the user wrote it: "step 1 is kernel 'heat' on ... (u, v)". */
void ambit__step_describe(const ambit__step *s, int step, ambit__text *t);
/* Fails on all processes if one has failed or has a different program. Collective. */
ambit_status ambit__program_compare(const ambit_program *p);
ambit_status ambit__program_regions(ambit_program *p);    /* regions of the steps */
ambit_status ambit__program_close_rows(ambit_program *p); /* p->closes_rows; collective */
bool ambit__field_closes_rows(const ambit_program *p, const ambit_field *f);
/* Whether registered source replaces the kernel of a step on some device. */
bool ambit__step_has_source(const ambit *a, const ambit__step *s);
/* Whether that, or a registered function, does (join.c). */
bool ambit__step_is_registered(const ambit_program *p, const ambit__step *s);
/* Makes the halos of all fields for one iteration. With a cycle, makes them for its iterations,
 * with one exchange at the start; these have no ghost cells, since stages fill them. */
ambit_status ambit__halos_make(ambit_program *p, const struct ambit__cycle *c, ambit__halos *halos);
void ambit__halos_free(ambit__halos *halos);
/* Makes the halo of one field; its slices may be none. */
ambit_status ambit__field_halo_make(ambit_program *p, const struct ambit__cycle *c,
                                    ambit_field *field, ambit__field_halo *h);
/* Lends halos to rotated fields, and finds those that keep their constant ghost cells
 * (constant_ghosts.c). */
ambit_status ambit__halos_keep_constants(ambit_program *p, ambit__halos *halos);
ambit__field_halo *ambit__halos_find(const ambit__halos *halos,
                                     const ambit_field *f); /* NULL: none */
ambit_status ambit__program_widen(ambit_program *p);        /* margins for all halos; collective */
void ambit__program_unseal_others(const ambit_program *p);  /* fields are stored anew */
ambit_status ambit__program_build(ambit_program *p);
/* Builds a function of a step for boxes such as this one, or tiles. */
ambit_status ambit__step_build(ambit_program *p, size_t step, int engine, const ambit__box *box,
                               ambit__tile_use tiles, ambit__function **fn);
/* Whether a step has the functions of its model. Those that reduce have a state. */
bool ambit__step_shares(const ambit_program *p, size_t step);
/* Appends the plans that a step can be built with, a line each. */
void ambit__step_plans(const ambit_program *p, size_t step, int engine, ambit__text *lines);
/* Whether a part of the field on a GPU has rows that are not aligned. */
bool ambit__field_is_packed(const ambit_field *f);
/* How the parameters of a step on a region are bound, for strategies. */
void ambit__step_bind(const ambit_program *p, const ambit__step *s, ambit__binding *bind);
void ambit__program_discard(ambit_program *p);
/* Makes the halo of a slice, with the transfers of this process or of all. */
ambit_status ambit__halo_slice_make(const ambit_program *p, const ambit__halo_slice *slice,
                                    bool all, ambit__halo *halo);
/* Whether halo a, when valid, contains all cells of b with the same values. */
bool ambit__field_halo_covers(const ambit__field_halo *a, const ambit__field_halo *b);
/* All cells of the field that a part, of any process, stores for the program. */
ambit__box ambit__field_halo_reach(const ambit__field_halo *h, int part);

/* ---- profiles.c: steps with fields on fewer axes ---- */

/* Whether a reduction of a kernel is given a field; and makes it one that is written then, in the
 * rule of a kernel that is bound to its arguments. */
bool ambit__arguments_fold(const ambit__rule *rule, int nargs, const ambit_arg *args);
/* The arguments that a kernel takes, with its tables. onto: bit h is set if the one for declaration
 * h, a reduction of several values, is a field with components, one argument for all. */
int ambit__arguments_wanted(const ambit__rule *rule, int nargs, const ambit_arg *args,
                            unsigned *onto);
ambit_status ambit__kernel_fold(ambit_kernel *k, const ambit_arg *args);
/* Sets s->dropped and s->box, and checks the use of profiles. */
ambit_status ambit__step_profile(const ambit_program *p, ambit__step *s);
bool ambit__step_has_profiles(const ambit__step *s); /* some argument is one */
/* Some argument is one that steps change, or the step runs on fewer axes than the grid. */
bool ambit__step_changes_profiles(const ambit_program *p, const ambit__step *s);
bool ambit__program_has_profiles(const ambit_program *p);
/* Whether a step on copies of cells runs on a part whose reductions count. */
bool ambit__step_counts(const ambit_program *p, const ambit__step *s, int part);

/* ---- alike.c: fields that hold equal values ---- */

/* Records that all values of one were copied to the other. */
void ambit__fields_alike(ambit_field *a, ambit_field *b);
/* Clears *same if two fields differ in a cell of this process outside a box. If nothing is known,
 * compares values. */
ambit_status ambit__fields_check_alike(ambit_program *p, ambit_field *a, ambit_field *b,
                                       const ambit__box *except, bool *same);
/* Before the iterations of a run, which change cells: what is known is narrowed down. */
void ambit__fields_narrow(ambit_program *p);

#endif
