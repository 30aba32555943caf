/* SPDX-License-Identifier: BSD-3-Clause */
/* objects.h - the objects behind the public handles, except programs (program/program.h).
 *
 * A context owns grids, scalars and kernels; a grid owns its fields and programs. Everything a
 * context owns hangs in a list, so ambit_close frees it all, in any state.
 */
#ifndef AMBIT_RUNTIME_OBJECTS_OBJECTS_H
#define AMBIT_RUNTIME_OBJECTS_OBJECTS_H

#include "base/settings.h"
#include "device/cpu/pool.h"
#include "device/device.h"
#include "grid/points.h"
#include "net/net.h"
#include "runtime/objects/journal.h"
#include "runtime/observe/trace.h"

#include <stdatomic.h>
#include <stdio.h>

/* A link of a list; the list itself is a link whose `owner` is NULL. */
typedef struct ambit__link {
  struct ambit__link *prev, *next;
  void *owner; /* the object this link is in */
} ambit__link;

/* A device of this process, opened once for all of its parts. */
typedef struct ambit__engine {
  const ambit__backend
      *backend; /* the requested one; it differs from the device's own if that is dry */
  int ordinal;  /* among the devices of its backend */
  ambit__device *device;
  ambit__queue *queue;     /* kernels, and copies within the device */
  ambit__queue *transfers; /* packs and unpacks messages; NULL until an exchange needs it */
  ambit__queue *border;    /* kernels on border cells, which wait for messages; NULL as above */
  size_t memory;           /* bytes of the device */
  size_t allocated;        /* bytes of all fields */
  double share;            /* of the first cut, relative to other engines; see offers.c */
} ambit__engine;

enum { AMBIT__PART_NAME = 24 }; /* characters */

/* A device that was measured before cells were placed. */
typedef struct ambit__offer {
  char name[AMBIT__PART_NAME]; /* "cuda:0"; "": none, its process has fewer */
  double bandwidth;            /* of a copy, bytes per second; 0: unknown */
  int64_t chip;                /* as in ambit__device_info */
  bool left_out;
} ambit__offer;

/* The engine that computes each part. Parts are numbered by process, then within it. */
typedef struct ambit__placement {
  int n;       /* parts of this process */
  int *engine; /* by part of this process: its engine; owned */
  int *first;  /* by process: its first part, and at the end the number of all parts; owned */
  int most;    /* parts of the process that has the most */
} ambit__placement;

struct ambit {
  ambit__errors errors;
  ambit__settings settings; /* parsed from `options` */
  char **options;           /* text of every option, by row of the table; owned */
  ambit__engine *engines;   /* opened when the first object needs them; owned */
  int nengines;
  ambit__placement placement; /* from the option devices; copied to each grid */
  bool chosen;                /* the device is the fastest here: the user named none */
  int nexplained;             /* programs that have a number (explain/) */
  bool unlike;                /* devices of all processes differ in kind or model */
  ambit__offer *offers;       /* by process, noffers each; NULL: nothing was measured; owned */
  int noffers;
  double *shares;             /* by part of all processes: of the first cut; NULL: equal; owned */
  bool in_host;               /* all devices of all processes work in host memory */
  ambit__comm_cost comm_cost; /* maximum over all devices of all processes */
  ambit__net *net;
  bool gpu_aware;             /* a test showed that the net sends and receives device memory */
  struct ambit__meter *meter; /* of the engines; NULL: not needed so far; owned */
  ambit__trace *trace;        /* NULL: the option trace is off; owned */
  int allreduces;             /* pending reductions between processes */
  bool dry;                   /* programs are sealed but never run */
  int fork_number;            /* ambit__fork_number() of the process that opened it */
  ambit__journal journal;     /* of a context with checkpoints */
  struct ambit__checkpoint *checkpoint;      /* NULL: nobody asked for it so far; owned */
  void (*close_checkpoint)(struct ambit *a); /* frees it; NULL: there is none */
  struct ambit__viewer *viewer;          /* shows runs (view/); NULL: nobody asked so far; owned */
  void (*close_viewer)(struct ambit *a); /* frees it; NULL: there is none */
  struct ambit__scribe *scribe; /* output beside the computation; NULL: none so far; owned */
  atomic_bool stops;            /* the run in progress is to end (ambit_stop) */
  int runs;                     /* in progress, one in a callback of the other */
  uint64_t last_id;             /* last id given to an object */
  ambit__define *defines;       /* constants for kernels; owned, and their names too */
  size_t ndefines, defines_cap;
  bool has_real; /* texts have the type `real`: */
  ambit_type real;
  ambit_file_info inspected; /* by the last ambit_file_inspect */
  ambit__link grids, scalars, kernels, records;
  ambit__link waiting; /* link in the list of contexts with deferred errors (context.c) */
};

/* Callbacks from objects to the programs of a grid. */
typedef struct ambit__dependents {
  void (*changed)(ambit_grid *g);                  /* boundaries or margins of a field changed */
  void (*gone)(ambit_grid *g, const void *object); /* a field, scalar or kernel is destroyed */
  /* whether a program is running that is or uses the object; NULL: any program */
  bool (*running)(const ambit_grid *g, const void *object);
  void (*report)(const ambit_grid *g);                      /* reports that are due now */
  void (*moved)(ambit_grid *g, const ambit_points *points); /* they are elsewhere */
} ambit__dependents;

struct ambit_grid {
  ambit *context;
  ambit__link link;
  ambit__box box; /* all cells; of a sparse grid, the box that contains them */
  int turn;       /* of fields on GPUs (ambit__layout_turn) */
  double origin[AMBIT_MAX_DIMS], spacing[AMBIT_MAX_DIMS]; /* its place in space, for files */
  ambit__active *active;                                  /* of a sparse grid; owned; NULL: dense */
  ambit__active *local; /* of a sparse grid, by part of this process: what it stores; owned */
  ambit__layers layers; /* ... around its own cells */
  bool any_storage;     /* of a sparse grid: programs choose it */
  double weighed;       /* ... the last one that did: bytes of values per cell; 0: none */
  int split;            /* of a sparse grid: parts for each that the devices ask for */
  char *partition;      /* the option, when the grid was created; owned */
  double *weights;      /* of parts then; NULL: equal ones; owned */
  ambit__box *parts;    /* of all processes, in order; owned */
  int nparts;
  ambit__placement placement; /* owned */
  int first;                  /* first part of this process, which has placement.n parts */
  bool *mine;                 /* by part: belongs to this process; owned */
  bool nested; /* it is cut at the same places as others, is sparse or has profiles: it stays so */
  const void *balanced; /* the program that moves the cut to where it runs best; NULL: none */
  const ambit__dependents *dependents; /* NULL: no program was made on this grid */
  ambit__link fields, programs, streams, points;
};

/* The state of the halo and ghost cells of a field. Moves with the buffers. */
typedef struct ambit__ghosts {
  uint64_t halo;      /* id of the ambit__field_halo that filled them; 0: none */
  uint64_t constants; /* id of the constant ghost cells (program/constant_ghosts.c); 0: none */
  bool stale;         /* own cells changed since */
} ambit__ghosts;

/* Fields with the same nonzero id hold equal values in all cells but those of `differs`
 * (program/alike.c). */
typedef struct ambit__likeness {
  uint64_t id;
  ambit__box differs;
} ambit__likeness;

/* Objects behind the boundary of a component, by axis and side. */
typedef struct ambit__face {
  ambit_scalar *scalar[AMBIT_MAX_DIMS][2]; /* its value; NULL: it is none */
  ambit_field *field[AMBIT_MAX_DIMS][2];
  int from[AMBIT_MAX_DIMS][2]; /* 1 + the component that a mirror shows; 0: the same */
} ambit__face;

/* A field as the user sees it on one part, between ambit_field_map and ambit_field_unmap. */
typedef struct ambit__map {
  unsigned mode; /* 0: this part is not mapped */
  void *staged;  /* a copy of its cells, if they are not in host memory; owned */
  ambit_part part;
} ambit__map;

struct ambit_field {
  ambit_grid *grid;
  ambit__link link;
  char *name;
  ambit_type type;
  int components;
  ambit_order order;    /* of components in memory, */
  ambit_order asked;    /* and as the user asked for it */
  unsigned dropped;     /* of a profile: bit d: it has no axis d (profile.c); else 0 */
  ambit__store *stores; /* one per part of this process; owned */
  ambit_field *base;    /* of a view: the field it shows, which owns the buffers; NULL: no view */
  int64_t first[AMBIT_MAX_DIMS];  /* of a view: its cell 0 in `base` */
  ambit_field *views, *next_view; /* those of this field; the next one of the same base */
  ambit__ghosts ghosts;
  ambit__boundaries boundaries;
  ambit__boundaries *special; /* by component, if some differ; NULL: they do not; owned */
  ambit__face *faces; /* by component: where boundaries.on has objects; NULL: nowhere; owned */
  bool is_implied[AMBIT_MAX_DIMS][2]; /* not declared: only read under outside() (check_step.c) */
  ambit__likeness likeness;
  uint64_t changes; /* how often the user or a program has set values */
  uint64_t sets;    /* the same for the user, and programs that the user ran; not for calls */
  bool given;       /* the user has set values */
  bool news;        /* ... since a program last ran on it */
  bool started;     /* a program has run on it */
  bool is_held;     /* a function of the user is called with it, or for its values */
  bool is_activity; /* see ambit__grid_activity */
  ambit__map *maps; /* by part; NULL: it is not mapped; owned */
};

struct ambit_scalar {
  ambit *context;
  ambit__link link;
  char *name;
  ambit_type type;
  /* By engine: an ambit__scalar_bytes. The value is the same on all engines; owned. */
  ambit__buffer **values;
};

struct ambit_points {
  ambit_grid *grid;
  ambit__link link;
  bool is_weighted; /* by the user; else */
  ambit__point_kind kind;
  ambit__points set;
};

/* Rows of numbers (program/records.c). Its place is the next row that a step samples or injects. It
 * follows from the iterations of the program that used it last, so that steps need not count. */
/* Rows from `first` on were sampled in the iterations that ended with number
 * (row - shift + 1) * every. */
typedef struct ambit__stretch {
  int64_t first, every, shift;
} ambit__stretch;

struct ambit_record {
  ambit *context;
  ambit__link link;
  char *name;
  ambit_type type; /* AMBIT_F32 or AMBIT_F64, of the rows on devices, if is_typed */
  bool is_typed;
  int64_t columns;      /* 0: no step and no call has said it yet */
  ambit_program *by;    /* the program that uses it: its place is by->iteration / every + shift */
  int64_t every, shift; /* of the step */
  int64_t at;           /* the place, if by is NULL */
  bool writes;          /* the step samples: there are as many rows as its place says; else */
  int64_t rows;
  /* In host memory: the first `kept` rows, as far as this process has them; of all processes, the
   * first `complete` ones. Owned. */
  double *values;
  int64_t kept, complete, cap;
  ambit__stretch *stretches; /* in the order of rows; owned */
  int64_t nstretches;
  /* By engine, rows first .. first + room - 1, of `columns` values of `type`; those that other
   * engines sample are 0. NULL: there are none; owned. */
  ambit__buffer **device_rows;
  int64_t first, room;
};

struct ambit_kernel {
  ambit *context;
  ambit__link link;
  ambit__rule *rule;
  bool borrowed;           /* the rule belongs to a kernel of another context */
  ambit_offset *offsets;   /* reads of all parameters, in order of parameters; owned */
  ambit_param_info *infos; /* of each parameter; owned */
};

/* ---- context.c ---- */

/* True when the context is NULL or has failed. In a child of the process that opened it, it fails
 * now. */
bool ambit__failed(ambit *a);
/* A synchronisation point of all processes, at the start of each collective call: an error on one
 * becomes the error of all, and `doing` must be the same on all (ambit__net_agree_on). On a failed
 * context it only passes the error on. */
ambit_status ambit__meet(ambit *a, const char *doing);
/* Before any grid or scalar exists: this context acts as process `rank` of `size`, on dry devices,
 * so that programs can be sealed and inspected as they would run there. */
ambit_status ambit__pretend(ambit *a, int rank, int size);
/* A context of this process alone, with the options of `a` but these devices and threads, for one
 * lane of a stream. It prints no errors. NULL: out of memory. */
ambit *ambit__open_lane(const ambit *a, const char *devices, int threads);
void ambit__list_init(ambit__link *list);
void ambit__list_add(ambit__link *list, ambit__link *link, void *owner);
void ambit__list_remove(ambit__link *link);

/* ---- devices.c ---- */

ambit_status ambit__engines_open(ambit *a); /* if they are not open yet */
void ambit__engines_close(ambit *a);
ambit_status ambit__engines_wait(ambit *a); /* until all queued work is done */
/* Tells each of several devices whether it has all cells of all grids: the others were left out.
 * When a cut has moved, and when a grid is about to be cut. */
void ambit__engines_tell_alone(ambit *a);
/* Checks the syntax of the option devices. The devices need not be present. */
ambit_status ambit__devices_check(ambit *a, const char *text);
/* If the user named no device and none is open yet, chooses the fastest one here; for sparse grids,
 * the fastest that can store them. */
ambit_status ambit__devices_choose(ambit *a, bool sparse);
/* The GPUs of this process, of the first backend that has any, since another one may have the same
 * GPUs: numbers first, first + stride, ... below end. */
typedef struct ambit__gpus {
  const ambit__backend *backend; /* NULL: there are none */
  int first, stride, end;
} ambit__gpus;
ambit__gpus ambit__devices_gpus(const ambit *a);
/* Closes an engine and forgets its parts. Before parts are numbered; not the last one. */
ambit_status ambit__engine_remove(ambit *a, int engine);
/* Calls a function with the device of an engine; for a dry one with the device that it stands for,
 * if that is here. */
void ambit__engine_visit(const ambit *a, int engine,
                         void (*visit)(const ambit__engine *e, ambit__device *device, void *user),
                         void *user);
ambit_status ambit__placement_copy(ambit *a, ambit__placement *copy); /* of a->placement */
/* Room for the boxes of the parts of all processes, and by part whether it is this process's. The
 * caller frees both, after failures too. */
ambit_status ambit__placement_parts(ambit *a, const ambit__placement *x, ambit__box **parts,
                                    bool **mine);
int ambit__placement_process(const ambit__placement *x, int part); /* that has it */
void ambit__placement_free(ambit__placement *x);

/* ---- offers.c: the devices that take part, and their first shares ---- */

/* Weights are to be found, not given. */
bool ambit__weights_are_auto(const ambit *a);
/* Measures the engines of all processes, if weights are automatic and there are several devices,
 * and removes those that would add next to nothing. Collective; before parts are numbered. */
ambit_status ambit__offers_make(ambit *a);
/* Makes a->shares; afterwards. Collective. */
ambit_status ambit__offers_share(ambit *a);
/* A line for each device that was left out, with the reason. */
void ambit__offers_print(const ambit *a, FILE *out);
void ambit__offers_free(ambit *a);

/* ---- probe_gpu_mpi.c ---- */

/* Tests whether the net sends messages from device memory: a->gpu_aware. Collective. */
ambit_status ambit__probe_gpu_mpi(ambit *a);

/* ---- grid.c ---- */

ambit__engine *ambit__engine_of(const ambit_grid *g, int part); /* `part` is one of this process */
int ambit__grid_process(const ambit_grid *g, int part);         /* the process that owns it */
/* A grid without parts, in the list of the context; and its parts, which makes it complete: those
 * of a coarser grid, or (NULL) its own. Collective; frees the grid if it fails. */
ambit_grid *ambit__grid_begin(ambit *a, int ndims, const int64_t *extents);
ambit_grid *ambit__grid_end(ambit_grid *g, const ambit_grid *coarser);
/* The cells of a box; on a sparse grid, the active ones. */
int64_t ambit__grid_count(const ambit_grid *g, const ambit__box *box);
bool ambit__grid_cuts(const ambit_grid *g, int axis); /* some part does not span the axis */
/* This process is the only one, and its first engine has the whole grid. */
bool ambit__grid_on_first(const ambit_grid *g);
/* Boundaries or margins of a field of the grid changed; an object of the context is destroyed. */
void ambit__grid_changed(ambit_grid *g);
void ambit__object_gone(ambit *a, const void *object);
/* Raises an error if the object, of a kind and a name, is in use while the library calls a function
 * of the user: that cannot destroy it. NULL: the context itself. */
ambit_status ambit__object_check_unused(ambit *a, const void *object, const char *kind,
                                        const char *name);

/* Cuts the grid by weights (NULL: equal ones) into the parts that devices and partition ask for. */
ambit_status ambit__grid_cut(const ambit_grid *g, const double *weights, ambit__box *parts);

/* Checks the syntax of the option weights, for any number of parts. */
ambit_status ambit__weights_check(ambit *a, const char *text);

/* ---- sparse_grid.c ---- */

/* Where the activity of cells comes from. */
typedef struct ambit__mask {
  const struct ambit_grid *like; /* another grid with the same box; or, if NULL: */
  ambit_active_fn is_active;     /* a function, called for every cell; or, if NULL: */
  /* called for whole planes along axis 0, in order: sets a byte per cell, not 0 if it is active */
  ambit_status (*load)(void *user, const ambit__box *planes, unsigned char *active);
  void *user;
} ambit__mask;

ambit_grid *ambit__grid_sparse(ambit *a, int ndims, const int64_t *extents, const ambit__mask *m);
/* Makes other cells of a sparse grid active, those of these runs; `at` does not matter. Collective.
 */
ambit_status ambit__grid_activate_runs(ambit_grid *g, const ambit__run *runs, int64_t n);
/* A field that is 1 in active cells, with these boundaries; NULL: an error was raised. Each has its
 * own memory, as launches write what reads beyond the grid give to it. */
ambit_field *ambit__grid_activity(ambit_grid *g, const ambit__boundaries *b);
ambit_type ambit__grid_activity_type(const ambit_grid *g);
/* Cuts a sparse grid with some active cells into parts; and what parts of this process store. */
ambit_status ambit__grid_cut_active(const ambit_grid *g, const ambit__active *active, int split,
                                    const double *weights, ambit__box *parts);
ambit_status ambit__grid_localise(ambit_grid *g);
/* The runs that each of n parts of this process stores, to be freed; NULL: an error was raised. */
ambit__active *ambit__grid_local(const ambit_grid *g, const ambit__box *parts, int n,
                                 const ambit__active *active, const ambit__layers *layers);
void ambit__active_free_all(ambit__active *active, ambit__active *local, int n);
/* Whether the fields have at least this many cells beside their runs, and layers around the own
 * cells of a part; if not, stores them anew. */
bool ambit__grid_is_wide(const ambit_grid *g, int64_t pad, const ambit__layers *layers);
ambit_status ambit__grid_widen(ambit_grid *g, int64_t pad, const ambit__layers *layers);
/* Stores the fields of a sparse grid anew, in another storage. */
ambit_status ambit__grid_store(ambit_grid *g, ambit__storage storage);
/* split.c: devices have several parts of a sparse grid where one would have more than
 * ambit__active_most cells in memory. The number for each that they ask for if all have `size` of
 * them, which is `now` if that is enough, by the weights of as many parts; a placement with as
 * many; and the weights of these parts, from those of `was` (NULL: equal ones), to be freed. */
int ambit__split_for(const ambit *a, double size, const double *weights, int now);
ambit_status ambit__placement_split(ambit *a, int split, ambit__placement *placement);
ambit_status ambit__weights_split(ambit *a, const double *weights, int was, int split, double **to);

/* ---- stream_lanes.c: the option lanes ---- */

/* The next lane of the list at `at`: its devices, `length` bytes from *devices. Returns the rest of
 * the list; NULL: that was the last one. */
const char *ambit__lane_next(const char *at, const char **devices, size_t *length);
ambit_status ambit__lanes_check(ambit *a, const char *text); /* the syntax */

/* ---- kernel.c ---- */

/* A kernel with this rule, which belongs to it from now on; freed if there is no memory. */
ambit_kernel *ambit__kernel_adopt(ambit *a, ambit__rule *rule);
/* The same kernel for another context, which must be closed before `k` is destroyed. */
ambit_kernel *ambit__kernel_borrow(ambit *a, const ambit_kernel *k);
void ambit__kernel_free(ambit_kernel *k); /* NULL: does nothing */
void ambit__defines_free(ambit *a);
/* The number of tables that have no values yet. */
int ambit__kernel_tables(const ambit_kernel *k);
bool ambit__kernel_needs_normal(const ambit_kernel *k); /* and has none yet */
bool ambit__kernel_is_complete(const ambit_kernel *k);  /* it needs no ambit__kernel_bind */
/* A kernel with the values of the tables among the arguments, for the `others`, and with the normal
 * of a face, if it uses one, on a grid with so many axes; 0: on scalars. onto: as in
 * ambit__reading. The caller frees it. */
ambit_status ambit__kernel_bind(const ambit_kernel *k, const ambit_arg *args, const int *normal,
                                int axes, unsigned onto, ambit_arg *others, ambit_kernel **bound);

/* ---- kernel_info.c ---- */

ambit_status ambit__kernel_describe(ambit_kernel *k); /* k->infos and k->offsets, from the rule */

/* ---- scalar.c: eight bytes, to all engines or from one ---- */

ambit_status ambit__scalar_put(ambit_scalar *s, const void *bytes);
/* A scalar that the context does not list; and its end. */
ambit_scalar *ambit__scalar_make(ambit *a, const char *name, ambit_type type);
void ambit__scalar_free(ambit_scalar *s);
ambit_status ambit__scalar_take(ambit_scalar *s, int engine, void *bytes);
ambit_status ambit__scalar_share(ambit_scalar *s); /* copies it from the first engine to all */

/* ---- options.c ---- */

/* Defaults, environment, command line. */
ambit_status ambit__options_open(ambit *a, int *argc, char ***argv);
void ambit__options_close(ambit *a);
/* The options of `from`, except those that concern its devices, processes, parts and output. */
ambit_status ambit__options_copy(ambit *a, const ambit *from);
/* All options of `from` that can be set in a context without devices, which `a` is. */
ambit_status ambit__options_adopt(ambit *a, const ambit *from);
/* An interval, the option checkpoint-every: iterations, or seconds; the other one is 0. False: it
 * is not one. */
bool ambit__interval_parse(const char *text, int64_t *iterations, double *seconds);
/* A number that stands for the values of all options that processes must have in common; and the
 * error that process `who` has another one than process 0, if it does, which all processes raise.
 * Collective. */
double ambit__options_number(const ambit *a);
ambit_status ambit__options_differ(ambit *a, int who);
/* The name of option i; NULL past the end. */
const char *ambit__options_name(int i);
/* AMBIT__CHECK_... flags from the options check and nan. */
unsigned ambit__options_checks(const ambit *a);

/* ---- field_boundary.c ---- */

/* What reads of a component outside the grid give. Where all components agree, and for the kinds
 * none, fixed and periodic always, f->boundaries says the same. */
const ambit__boundaries *ambit__field_boundaries(const ambit_field *f, int component);
ambit_status ambit__field_copy_boundaries(ambit_field *to, const ambit_field *from);
/* Faces of other fields whose values are this field or scalar get AMBIT_NONE. */
void ambit__faces_forget(ambit *a, const void *object);

/* ---- field.c, field_values.c ---- */

static inline ambit__errors *ambit__field_errors(const ambit_field *f)
{
  return &f->grid->context->errors;
}
/* For public calls, which accept NULL. */
static inline bool ambit__field_failed(const ambit_field *f)
{
  return !f || ambit__failed(f->grid->context);
}
static inline ambit_status ambit__field_status(const ambit_field *f)
{
  return f ? f->grid->context->errors.status : AMBIT_EINVAL;
}
/* Widens the margins of a field on a part to at least these, and moves its values if necessary. */
ambit_status ambit__field_widen(ambit_field *f, int part, const int64_t *low, const int64_t *high,
                                bool *changed);
ambit_status ambit__field_copy(ambit_field *to, ambit_field *from); /* same layout */
size_t ambit__field_cell_bytes(const ambit_field *f);
/* Values pass through host memory in pieces: the number of cells in a piece, at least 1; a new
 * buffer for one piece, which the caller frees. */
int64_t ambit__field_piece_cells(const ambit_field *f);
void *ambit__field_piece_new(const ambit_field *f);
void ambit__field_changed(ambit_field *f); /* the user changed its values */
/* Sets an array of cells of a sparse grid to the value of inactive ones. */
void ambit__field_blank(const ambit_field *f, int64_t cells, void *values);
/* Opens a pool of as many threads as the cpu device has: the option threads, or this process's
 * share of the cores. */
ambit_status ambit__pool_for(ambit *a, ambit__pool **pool);
/* Copies the cells of a box that this process owns into a dense array of the whole box. */
ambit_status ambit__field_read_own(ambit_field *f, const ambit__box *box, void *values);
/* Copies `cells` between dense arrays that hold the cells of to_box and from_box. */
void ambit__dense_copy(void *to, const ambit__box *to_box, const void *from,
                       const ambit__box *from_box, const ambit__box *cells, size_t cell);

/* Memory of a field on a part of this process: the layout has all but what ambit__layout_make fills
 * in. */
ambit_status ambit__store_allocate(const ambit_field *f, int part, ambit__store *store);
void ambit__store_release(ambit__engine *e, ambit__store *store);

/* ---- recut.c ---- */

/* Cuts a grid anew, in proportion to these weights, one per part that the option devices makes, and
 * moves the values of all its fields; no work is queued. If a single process gives all to the first
 * device, the grid has one part. Programs are unsealed. Collective; all processes give the same
 * weights. *moved: the cut is another one; false also if a device lacks the memory, or the grid is
 * nested. */
ambit_status ambit__grid_recut(ambit_grid *g, const double *weights, bool *moved);
/* Gives a sparse grid other active cells, or other places for them, which it owns then, and perhaps
 * another cut, into `split` parts for each that the devices ask for; if that is another number,
 * programs are unsealed before. Fields keep the values of own cells that stay active, and are 0 in
 * others. Frees `active` if it fails. Collective if the cut is another one. */
ambit_status ambit__grid_restore(ambit_grid *g, ambit__active *active, const ambit__box *parts,
                                 int split, const ambit__layers *layers);

/* ---- profile.c: fields on some axes of their grid ---- */

/* All cells of a field: those of its grid, or of a profile their projection. */
static inline ambit__box ambit__field_box(const ambit_field *f)
{
  return ambit__box_project(&f->grid->box, f->dropped);
}
/* The cells of a field that a part of any process stores. Of a profile, parts beside each other
 * along a dropped axis have copies of the same cells. */
static inline ambit__box ambit__field_part(const ambit_field *f, int part)
{
  return ambit__box_project(&f->grid->parts[part], f->dropped);
}
/* The same, but for all copies except one: every cell belongs to one part. */
ambit__box ambit__field_owned(const ambit_field *f, int part);
/* Whether part `from` has the copy of the cells of a profile that part `to` gets. */
bool ambit__field_sends(const ambit_field *f, int from, int to);
/* Checks the arguments of ambit_field_create_on. */
ambit_status ambit__profile_check(ambit_grid *g, const char *name, unsigned axes,
                                  unsigned *dropped);
/* Raises an error if the field is a profile: `why` follows its name. */
ambit_status ambit__field_check_whole(const ambit_field *f, const char *why);

/* ---- view.c ---- */

/* The field whose memory a field uses: itself, or the one that it shows. NULL gives NULL. */
static inline const ambit_field *ambit__field_root(const ambit_field *f)
{
  return f && f->base ? f->base : f;
}
/* Takes the buffers that the base of a view has now. Does nothing with other fields. */
void ambit__view_refresh(ambit_field *f);
void ambit__view_detach(ambit_field *f); /* before the view is freed */

/* ---- host_cells.c: cells of a part for functions of the user ---- */

/* Describes a box of own cells, used as `mode` says. Where the device has no memory of the host,
 * *staged is a copy, with the cells around if it asks for them; else NULL. No work is queued. */
ambit_status ambit__cells_open(ambit_field *f, int part, const ambit__box *box, unsigned mode,
                               ambit_cells *cells, void **staged);
/* Stores what was written to the copy, and frees it. */
ambit_status ambit__cells_close(ambit_field *f, int part, const ambit__box *box, unsigned mode,
                                void *staged);
/* All but the fields. */
void ambit__part_describe(const ambit_grid *g, int part, const ambit__box *box, ambit_part *out);

#endif
