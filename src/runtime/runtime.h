/* runtime.h - the objects behind the public handles.
 *
 * A context owns grids, scalars and kernels; a grid owns its fields and programs. Everything a
 * context owns hangs in a list, so that ambit_close frees it all, in any state.
 *
 * A program is a list of steps as the user wrote them. Before it runs it is sealed (seal.c): the
 * steps become operations (ops), with their functions built and their boxes, ghosts and buffers
 * known. Running (execute.c) walks the ops and allocates nothing.
 */
#ifndef AMBIT_RUNTIME_RUNTIME_H
#define AMBIT_RUNTIME_RUNTIME_H

#include "base/settings.h"
#include "device/device.h"

/* A link of a list; the list itself is a link whose `owner` is NULL. */
typedef struct ambit__link {
  struct ambit__link *prev, *next;
  void *owner; /* the object this link is in */
} ambit__link;

struct ambit {
  ambit__errors errors;
  ambit__settings settings; /* parsed from `options` */
  char **options;           /* text of every option, by row of the table; owned */
  ambit__device *device;    /* opened when the first object needs it */
  ambit__queue *queue;
  size_t memory;    /* bytes of the device */
  size_t allocated; /* bytes of all fields */
  uint64_t last_id; /* ids handed out so far */
  ambit__link grids, scalars, kernels;
};

struct ambit_grid {
  ambit *context;
  ambit__link link;
  ambit__box box; /* all cells */
  ambit__link fields, programs;
};

/* What the ghost cells of a buffer hold. Moves with the buffer. */
typedef struct ambit__ghosts {
  uint64_t boundary;        /* id of the boundaries they were made for; 0 none */
  bool stale;               /* own cells changed since */
  int low[AMBIT_MAX_DIMS];  /* how many cells before the grid are filled, per axis */
  int high[AMBIT_MAX_DIMS]; /* and after */
} ambit__ghosts;

struct ambit_field {
  ambit_grid *grid;
  ambit__link link;
  char *name;
  ambit__store store;
  ambit__ghosts ghosts;
  ambit__boundaries boundaries;
  uint64_t boundary_id; /* changes with the boundaries */
  bool given;           /* the user gave it values at some time */
  bool news;            /* ... since a program last ran on it */
  bool started;         /* a program ran on it */
};

struct ambit_scalar {
  ambit *context;
  ambit__link link;
  char *name;
  ambit_type type;
  ambit__buffer *value; /* 8 bytes, holding one `type` */
};

struct ambit_kernel {
  ambit *context;
  ambit__link link;
  ambit__rule *rule;
};

typedef enum ambit__step_kind { STEP_APPLY, STEP_ROTATE } ambit__step_kind;

/* One step as the user wrote it. */
typedef struct ambit__step {
  ambit__step_kind kind;
  const ambit_kernel *kernel; /* STEP_APPLY */
  ambit__box box;             /* STEP_APPLY: cells asked for; ndims 0: runs once */
  int n;                      /* arguments, or fields that rotate */
  ambit_arg *args;            /* owned; fields that rotate are arguments too */
} ambit__step;

/* Something to do in every iteration. */
typedef enum ambit__op_kind { OP_GHOSTS, OP_LAUNCH, OP_ROTATE } ambit__op_kind;

typedef struct ambit__operation {
  ambit__op_kind kind;
  int step;             /* the step it comes from */
  ambit_field **fields; /* OP_GHOSTS: one; OP_ROTATE: n; OP_LAUNCH: those written, n; owned */
  int n;
  int low[AMBIT_MAX_DIMS]; /* OP_GHOSTS: widths */
  int high[AMBIT_MAX_DIMS];
  ambit__function *function;  /* OP_LAUNCH, owned */
  ambit__launch launch;       /* OP_LAUNCH */
  ambit__argument *args;      /* OP_LAUNCH: launch.args, owned */
  ambit__buffer **numbers;    /* OP_LAUNCH: values of plain numbers, by parameter; owned */
  double cells, bytes, flops; /* OP_LAUNCH: of one execution */
} ambit__operation;

struct ambit_program {
  ambit_grid *grid;
  ambit__link link;
  ambit__step *steps;
  size_t nsteps, steps_cap;
  ambit__operation *ops;
  size_t nops, ops_cap;
  bool sealed;
  bool broken;       /* something its steps refer to was destroyed */
  int64_t iteration; /* iterations done since creation */
  int64_t check;     /* iterations between checks of run_until */
  bool converged;    /* the last run_until ended because its condition held */
  int64_t every;     /* iterations between callbacks; 0 none */
  ambit_callback_fn callback;
  void *callback_user;
  ambit_stats stats;
};

/* ---- context.c ---- */

/* True, and nothing is said, when the context is missing or has failed. */
bool ambit__failed(const ambit *a);
/* Opens the device if it is not open yet. */
ambit_status ambit__context_device(ambit *a);
void ambit__list_init(ambit__link *list);
void ambit__list_add(ambit__link *list, ambit__link *link, void *owner);
void ambit__list_remove(ambit__link *link);

/* ---- options.c ---- */

ambit_status ambit__options_open(ambit *a, int *argc,
                                 char ***argv); /* defaults, environment, command line */
void ambit__options_close(ambit *a);

/* ---- field.c ---- */

/* Gives the field at least these margins, moving its values if need be. */
ambit_status ambit__field_widen(ambit_field *f, const int64_t *low, const int64_t *high);
/* Cells of a piece in which values go through the host's memory, at least 1; and room for one, to free(). */
int64_t ambit__field_piece_cells(const ambit_field *f);
void *ambit__field_piece_new(const ambit_field *f);
/* A field whose values changed from outside. */
void ambit__field_changed(ambit_field *f);
ambit_status ambit__field_copy(ambit_field *to, ambit_field *from); /* same layout */

/* ---- program.c, check.c, seal.c, start.c, execute.c, report.c ---- */

/* Tells all programs of a context that a field, scalar or kernel is about to go. */
void ambit__programs_forget(ambit *a, const void *object);
ambit_status ambit__program_seal(ambit_program *p);
void ambit__program_unseal(ambit_program *p);
/* A field that was never given values, but hands its own to one that was, starts as a copy of it. */
ambit_status ambit__program_hand_out(ambit_program *p);
/* Whether anything a step writes is read by a step: otherwise all iterations do the same. */
bool ambit__program_goes_anywhere(const ambit_program *p);
ambit_status ambit__program_iterate(ambit_program *p); /* once */
/* The cells a step updates: those asked for, less those that fixed faces keep. */
ambit__box ambit__step_region(const ambit_program *p, const ambit__step *s);
/* Find what is wrong with a step, and say so: its arguments; reads of what it writes; reads
 * outside the grid where nothing is declared. The last two need the region. */
ambit_status ambit__step_check(const ambit_program *p, const ambit__step *s);
ambit_status ambit__step_check_reads(const ambit_program *p, const ambit__step *s,
                                     const ambit__box *region);
ambit_status ambit__step_check_faces(const ambit_program *p, const ambit__step *s,
                                     const ambit__box *region);

typedef struct ambit__progress {
  bool on, live;         /* say something at all; at a terminal */
  double started, shown; /* clock when the run started, and when a line was last shown */
  int64_t first, most;   /* iteration at the start, iterations to do at most */
  double cells;          /* of one iteration */
} ambit__progress;
ambit__progress ambit__progress_start(const ambit_program *p, int64_t most);
void ambit__progress_show(ambit__progress *s, const ambit_program *p, bool last);

#endif
