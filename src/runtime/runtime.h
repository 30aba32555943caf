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
#include "grid/halo.h"
#include "net/net.h"

/* A link of a list; the list itself is a link whose `owner` is NULL. */
typedef struct ambit__link {
  struct ambit__link *prev, *next;
  void *owner; /* the object this link is in */
} ambit__link;

/* A device this process works with, opened once however many parts live on it. */
typedef struct ambit__engine {
  const ambit__backend *backend; /* that was asked for; the device's, unless it is dry */
  int ordinal;                   /* among its backend's */
  ambit__device *device;
  ambit__queue *queue; /* of kernels and of copies within the device */
  ambit__queue *moves; /* of what goes to other devices and comes from them; NULL: nothing does */
  ambit__queue
      *border;      /* of kernels on cells that wait for that; NULL likewise. Both may be `queue` */
  size_t memory;    /* bytes of the device */
  size_t allocated; /* bytes of all fields */
} ambit__engine;

/* How fast a trial goes. */
typedef struct ambit__pace {
  double seconds; /* of a block; 0: there are no trials */
  int64_t first;  /* iterations to warm up, and then as many to see how long one takes */
  int64_t least;  /* iterations of a block */
} ambit__pace;

struct ambit {
  ambit__errors errors;
  ambit__settings settings; /* parsed from `options` */
  char **options;           /* text of every option, by row of the table; owned */
  ambit__engine *engines;   /* opened when the first object needs them; owned */
  int nengines;
  int *slots;       /* the engine of each part of this process; owned */
  int nslots;       /* parts of this process */
  int most_slots;   /* parts of the process that has most */
  int *firsts;      /* by process, and one more: the number of its first part; owned */
  bool in_host;     /* all devices of all processes work in the host's memory */
  ambit__toll toll; /* the highest of all devices of all processes */
  ambit__net *net;
  bool takes_cuda;            /* it was seen to send and receive device memory */
  struct ambit__trace *trace; /* NULL: nobody wants one; owned */
  int sharing;                /* reductions that are under way between processes */
  bool dry;                   /* nothing is done: programs are only sealed */
  ambit__pace pace;           /* of trials */
  uint64_t last_id;           /* ids handed out so far */
  struct ambit__debug *debug; /* of the options check and nan; NULL: not needed so far; owned */
  ambit__link grids, scalars, kernels;
};

struct ambit_grid {
  ambit *context;
  ambit__link link;
  ambit__box box;    /* all cells */
  ambit__box *parts; /* of all processes, in order; owned */
  int nparts;
  int first;  /* the first part of this process; it has context->nslots */
  bool *mine; /* whether a part is of this process; owned */
  ambit__link fields, programs;
};

/* What the cells around the own ones hold. Moves with the buffers. */
typedef struct ambit__ghosts {
  uint64_t fetch; /* id of the fetch that made them; 0 none */
  bool stale;     /* own cells changed since */
} ambit__ghosts;

/* What the rows of a field have in common with those of others: fields of one id, which is not 0, hold the same in all cells but
 * those from lo to hi - 1 along the last axis (ends.c). */
typedef struct ambit__likeness {
  uint64_t id;
  int64_t lo, hi;
} ambit__likeness;

struct ambit_field {
  ambit_grid *grid;
  ambit__link link;
  char *name;
  ambit_type type;
  int components;
  ambit_order order;
  ambit__store *stores; /* one per part of this process; owned */
  ambit__ghosts ghosts;
  ambit__boundaries boundaries;
  uint64_t boundary_id; /* changes with the boundaries */
  ambit__likeness likeness;
  bool given;   /* the user gave it values at some time */
  bool news;    /* ... since a program last ran on it */
  bool started; /* a program ran on it */
};

struct ambit_scalar {
  ambit *context;
  ambit__link link;
  char *name;
  ambit_type type;
  ambit__buffer **values; /* one per engine: 8 bytes, holding one `type`, the same on all; owned */
};

struct ambit_kernel {
  ambit *context;
  ambit__link link;
  ambit__rule *rule;
  ambit_offset *offsets; /* reads of all parameters, one parameter after the other; owned */
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

/* What steps read of a field beyond the parts' own cells, and how it gets there (fetch.c). */
typedef struct ambit__fetch {
  uint64_t id;
  ambit_field *field;
  ambit__need *needs; /* all reads of all steps of the program; owned */
  int nneeds;
  ambit__halo halo;
  bool moves; /* something in it changes when own cells do: it is not all constant */
} ambit__fetch;

/* A step of kind STEP_APPLY, built: all that its launches have in common (build.c). */
typedef struct ambit__apply {
  ambit__box region;           /* cells it updates, of the whole grid */
  ambit__function **functions; /* by engine; owned */
  ambit__buffer **numbers;     /* by engine and parameter: values of plain numbers; owned */
  ambit__argument *args;       /* by part and parameter; owned */
  bool reduces;
  bool ends;                  /* its launches may be (ambit__launch) */
  struct ambit__share *share; /* of what it reduces; NULL: nobody else needs it; owned */
  unsigned checks;            /* AMBIT__CHECK_...: what launches are checked for */
  double cells, bytes, flops; /* of one execution, on all parts of all processes */
} ambit__apply;

/* A launch: a box of cells of one part. */
typedef struct ambit__piece {
  int part; /* of this process */
  ambit__box box;
  bool more; /* folds into what earlier pieces of the same step found */
} ambit__piece;

/* Something to do in every iteration. */
typedef enum ambit__op_kind {
  OP_BEGIN,  /* an exchange: what leaves the parts goes on its way */
  OP_EDGES,  /* an exchange: ghost cells that need no message are filled */
  OP_FINISH, /* an exchange: what comes has come, and ghost cells are filled */
  OP_LAUNCH, /* a step, on some boxes */
  OP_SHARE,  /* scalars that a step reduced go to all engines and processes */
  OP_SHARED, /* they have come */
  OP_ROTATE
} ambit__op_kind;

/* Which cells of a step a launch is for. */
typedef enum ambit__cells { CELLS_ALL, CELLS_INNER, CELLS_BORDER } ambit__cells;

typedef struct ambit__operation {
  ambit__op_kind kind;
  int step; /* the step it comes from */
  struct ambit__exchange
      *exchange; /* OP_BEGIN, OP_EDGES, OP_FINISH; OP_LAUNCH: what border cells wait
                                     * for, if they have a queue of their own */
  bool beside;   /* OP_EDGES, OP_FINISH: such border cells wait for it */
  /* OP_BEGIN: the exchange whose border cells, on such a queue, are all that can still be under way of what this one sends;
   * NULL: none. */
  struct ambit__exchange *feeder;
  ambit__cells cells;   /* OP_LAUNCH */
  ambit__piece *pieces; /* OP_LAUNCH; owned */
  int npieces;
} ambit__operation;

/* What an iteration does, in order. It ends all it begins: the next one may follow another order. */
typedef struct ambit__order {
  ambit__operation *ops; /* owned */
  size_t n, cap;
} ambit__order;

/* What a process knows of whether whole steps, beside cut ones, are worth a trial (trial.h). */
typedef enum ambit__stance {
  STANCE_NONE, /* here, no step is cut */
  STANCE_FOR,  /* some are */
  STANCE_AGAINST /* it must not be: nobody asked for it, or results would depend on what was measured */
} ambit__stance;

struct ambit_program {
  ambit_grid *grid;
  ambit__link link;
  ambit__step *steps;
  size_t nsteps, steps_cap;
  /* sealed: */
  ambit__apply *applies; /* by step */
  ambit_field **fields;  /* all that steps use, once each */
  int nfields;
  bool *around; /* by field: kernels read round the last axis, where it has no ghost cells; owned */
  ambit__fetch *fetches; /* of fields that are read at neighbours */
  int nfetches;
  int *start,
      *end; /* by field: the fetch that made its surroundings when an iteration starts and ends; -1 none */
  struct ambit__exchange **starters;  /* by fetch: it alone, before a run; in `exchanges` too */
  struct ambit__exchange **exchanges; /* all, owned */
  int nexchanges;
  ambit__order cut;          /* as the option overlap says */
  ambit__order whole;        /* with whole steps, to be tried beside it; empty: it is not */
  const ambit__order *order; /* the one of them that is followed */
  ambit__stance stance;
  struct ambit__trial *trial; /* of the two; NULL: there is none; owned */
  struct ambit__replay
      *replay; /* of iterations; NULL: each is done operation by operation; owned */
  bool sealed;
  bool broken;       /* something its steps refer to was destroyed */
  int64_t iteration; /* iterations done since creation */
  int64_t check;     /* iterations between checks of run_until */
  bool watched;      /* the device itself looks whether the run has ended */
  bool converged;    /* the last run_until ended because its condition held */
  int64_t every;     /* iterations between callbacks; 0 none */
  ambit_callback_fn callback;
  void *callback_user;
  ambit_stats stats;
};

/* ---- context.c ---- */

/* True, and nothing is said, when the context is missing or has failed. */
bool ambit__failed(const ambit *a);
/* Where all processes meet, at the start of what they do together: the error of one becomes that of all, and `doing` must
 * be the same on all of them (see ambit__net_agree_on). On a context that has failed, it only passes that on. */
ambit_status ambit__meet(ambit *a, const char *doing);
/* Before anything else: takes this process for number `rank` of `size`, on devices that do nothing, so that programs can be
 * sealed, and looked at, as they would run there. */
ambit_status ambit__pretend(ambit *a, int rank, int size);
void ambit__list_init(ambit__link *list);
void ambit__list_add(ambit__link *list, ambit__link *link, void *owner);
void ambit__list_remove(ambit__link *link);

/* ---- devices.c ---- */

/* Opens the devices if they are not open yet. */
ambit_status ambit__engines_open(ambit *a);
void ambit__engines_close(ambit *a);
/* Whether the text can be the option devices, whichever devices are here. */
ambit_status ambit__devices_check(ambit *a, const char *text);
ambit_status ambit__engines_wait(ambit *a); /* until all of them have done all they were given */
ambit__engine *ambit__engine_of(const ambit *a, int part); /* part: of this process */

/* ---- aware.c ---- */

/* Finds out whether messages can be sent from device memory: a->takes_cuda. All processes together. */
ambit_status ambit__aware_find(ambit *a);

/* ---- grid.c, scalar.c ---- */

int ambit__grid_process(const ambit_grid *g, int part); /* which has it */
bool ambit__grid_cuts_rows(const ambit_grid *g);        /* some part has a piece of them only */
/* Whether the text can be the option weights, however many parts a grid has. */
ambit_status ambit__weights_check(ambit *a, const char *text);
/* Eight bytes: to all engines, from one. */
ambit_status ambit__scalar_put(ambit_scalar *s, const void *bytes);
ambit_status ambit__scalar_take(ambit_scalar *s, int engine, void *bytes);

/* ---- kernel_info.c ---- */

/* Makes k->offsets from the rule. */
ambit_status ambit__kernel_list_offsets(ambit_kernel *k);

/* ---- options.c ---- */

ambit_status ambit__options_open(ambit *a, int *argc,
                                 char ***argv); /* defaults, environment, command line */
void ambit__options_close(ambit *a);

/* ---- field.c, values.c ---- */

/* Gives the field at least these margins on a part, moving its values if need be. */
ambit_status ambit__field_widen(ambit_field *f, int part, const int64_t *low, const int64_t *high,
                                bool *changed);
ambit_status ambit__field_copy(ambit_field *to, ambit_field *from); /* same layout */
size_t ambit__field_cell_bytes(const ambit_field *f);
/* Cells of a piece in which values go through the host's memory, at least 1; and room for one, to free(). */
int64_t ambit__field_piece_cells(const ambit_field *f);
void *ambit__field_piece_new(const ambit_field *f);
/* A field whose values changed from outside. */
void ambit__field_changed(ambit_field *f);
/* The cells of a box that parts of this process have, into a dense array of all of its cells. */
ambit_status ambit__field_read_own(ambit_field *f, const ambit__box *box, void *values);
/* Copies `cells` from one dense array to another, each with the cells of a box. */
void ambit__dense_copy(void *to, const ambit__box *to_box, const void *from,
                       const ambit__box *from_box, const ambit__box *cells, size_t cell);

/* ---- same.c, fetch.c, build.c, share.c: phases of sealing and running ---- */

/* Fails on all processes if one has failed so far, or has another program. */
ambit_status ambit__program_compare(const ambit_program *p);
ambit_status ambit__program_regions(ambit_program *p); /* cells that each step updates */
ambit_status ambit__program_around(ambit_program *p);  /* around.c; collective */
bool ambit__field_goes_around(const ambit_program *p, const ambit_field *f);
ambit_status ambit__program_fetches(ambit_program *p);
void ambit__program_free_fetches(ambit_program *p);
ambit_status ambit__program_widen(ambit_program *p); /* margins for all fetches */
ambit_status ambit__program_build(ambit_program *p);
void ambit__program_discard(ambit_program *p);
ambit__halo_spec ambit__fetch_spec(const ambit_program *p, const ambit__fetch *f);
int ambit__fetch_of(const ambit_program *p, const ambit_field *field); /* -1: it has none */
/* Whether what a brings is also what b would. */
bool ambit__fetch_covers(const ambit__fetch *a, const ambit__fetch *b);

/* ---- ends.c: rows that are stored with what lies beside their ends ---- */

/* The twin of an argument, a field, of a step on a region, as ambit__binding has it. */
int ambit__step_twin(const ambit_program *p, const ambit__step *s, const ambit__box *region,
                     int arg);
/* All values of one were copied to the other. */
void ambit__fields_alike(ambit_field *a, ambit_field *b);
/* Before the iterations of a run: which steps may store rows so, and what the fields then have in common. */
ambit_status ambit__program_ends(ambit_program *p);

/* ---- debug.c: the options check and nan ---- */

unsigned ambit__debug_checks(const ambit *a); /* AMBIT__CHECK_...: what the options ask for */
/* With nan: memory that nobody gave values is NaN. */
ambit_status ambit__debug_poison(const ambit *a, ambit__engine *e, const ambit__store *store);
/* Does a launch of a step on a part of this process, waits for it, and remembers what it did wrong. */
ambit_status ambit__debug_launch(ambit_program *p, int step, int part, ambit__launch *l);
/* The end of an iteration: fails with what was found in it. */
ambit_status ambit__debug_end(ambit_program *p);
void ambit__debug_close(ambit *a); /* before the engines close */

/* ---- replay.c: iterations that a device is handed in one go ---- */

ambit_status ambit__replay_make(ambit_program *p); /* if it pays; when all else is made */
void ambit__replay_free(ambit_program *p);
ambit_status ambit__replay_iterate(ambit_program *p); /* as ambit__program_walk; needs p->replay */

/* ---- trial_run.c: finding the faster order (trial.h); both need p->trial, and are collective ---- */

/* So many iterations follow that nothing comes between; one of them was done. */
ambit_status ambit__program_trial_resume(ambit_program *p, int64_t iterations);
ambit_status ambit__program_trial_step(ambit_program *p);

/* ---- program.c, check.c, seal.c, start.c, execute.c, report.c, until.c ---- */

/* Tells all programs of a context that a field, scalar or kernel is about to go. */
void ambit__programs_forget(ambit *a, const void *object);
ambit_status ambit__program_seal(ambit_program *p);
void ambit__program_unseal(ambit_program *p);
/* A field that was never given values, but hands its own to one that was, starts as a copy of it. */
ambit_status ambit__program_hand_out(ambit_program *p);
/* Whether anything a step writes is read by a step: otherwise all iterations do the same. */
bool ambit__program_goes_anywhere(const ambit_program *p);
/* Fetches what the first iteration presumes; notes, after the last one, what is good. */
ambit_status ambit__program_ready(ambit_program *p);
void ambit__program_rest(ambit_program *p);
/* Takes up an order, for the iterations from here on. */
void ambit__program_follow(ambit_program *p, const ambit__order *order);
ambit_status ambit__program_iterate(ambit_program *p); /* once */
ambit_status ambit__program_walk(ambit_program *p);    /* all its operations */
void ambit__program_rotate(ambit_program *p);          /* only those that rotate fields */
/* In the middle of a run the other processes wait for messages of this one: if it failed, they are called to stop, and have its error
 * (ambit__net_stop). */
ambit_status ambit__run_or_stop(ambit_program *p, ambit_status s);
void ambit__program_give_up(ambit_program *p); /* after that */
/* Takes back iterations whose launches changed nothing: rotations. What ghost cells hold is not known then. */
void ambit__program_go_back(ambit_program *p, int64_t iteration);
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

/* What ends a run. */
typedef struct ambit__until {
  ambit_scalar *scalar;
  ambit_condition when;
  double bound;
  int64_t unchecked; /* iterations since the last check */
} ambit__until;
/* Iterates n times, or until a check finds that the condition holds: p->converged tells. There is a check after
 * every p->check iterations, and with `last` after the n-th. When it returns, all work is done. */
ambit_status ambit__program_iterate_until(ambit_program *p, ambit__until *u, int64_t n, bool last,
                                          ambit__progress *progress);

#endif
