/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - shared by the files of the GPU device.
 *
 * The device is written once, against a driver (driver.h); cuda/ and opencl/ add the driver and a
 * table of the functions below.
 *
 *   gpu.c       devices, queues, memory
 *   staging.c   pinned host memory for copies in and out
 *   moves.c     the fixed kernels: boxes and ghost cells
 *   boxes.c     boxes in, out and across
 *   messages.c  messages
 *   batch.c     many boxes and ghost cells in one launch
 *   runs.c      boxes on sparse grids: segments of runs
 *   sparse.c    launches on sparse grids: tables of cells, values beside runs
 *   function.c  building and launching kernels
 *   turned.c    launches on grids of which memory has axes in another order
 *   tiles.c     launches on tiles, and the cells that changed
 *   relax.c     parts that are brought to rest
 *   own.c       registered source
 *   points.c    values at points, and rows of numbers
 *   aim.c       points in fused launches
 *   adopt.c     reductions of registered kernels
 *   probe.c     how fast it is
 *   module.c    compiled source, shared by all functions with the same source
 *   watch.c     conditions that the device checks
 */
#ifndef AMBIT_DEVICE_GPU_GPU_H
#define AMBIT_DEVICE_GPU_GPU_H

#include "device/gpu/driver.h"
#include "device/patches.h"
#include "plan/launch_line.h"

enum {
  AMBIT__GPU_STAGING = 4,                      /* pieces of a copy in flight at once */
  AMBIT__STAGE_BYTES = 8 << 20,                /* per piece */
  AMBIT__MOVE_THREADS = 128,                   /* per block of the fixed kernels */
  AMBIT__FILL_CHUNK = 16 * AMBIT__MOVE_THREADS /* values that a block sets at a time */
};

/* The fixed kernels for values of one size: of boxes, of sparse grids, of maxima. */
typedef enum ambit__gpu_kit { KIT_BOXES, KIT_RUNS, KIT_MOST, KITS } ambit__gpu_kit;

typedef struct ambit__gpu_moves {
  ambit__gpu_module *modules[KITS]; /* NULL: not needed yet */
  ambit__gpu_function *move, *update, *fill, *batch;
  ambit__gpu_function *runs, *pairs;
  ambit__gpu_function *most, *most_norm;
} ambit__gpu_moves;

typedef struct ambit__gpu_device {
  ambit__device head;
  const ambit__gpu_driver *driver;
  ambit__gpu *gpu;
  ambit__gpu_info info;      /* at the time the device was opened */
  ambit__gpu_queue *setup;   /* for work that belongs to no queue: zeroing, measuring */
  ambit__gpu_moves moves[4]; /* by size of a value: 1, 2, 4, 8 bytes */
  ambit__gpu_module *checks; /* the kernel that checks a condition; NULL: not needed yet */
  ambit__gpu_function *check;
  ambit__gpu_module *adopts; /* the kernels of adopt.c; NULL: not needed yet */
  ambit__gpu_function *set, *adopt;
  struct ambit__gpu_shared *shared; /* list of modules in use */
  /* by type, kind of reduction, types in memory and threads of a total: of fold.c; NULL: not needed
   * yet */
  struct ambit__gpu_shared *folds[11][3][4][5];
} ambit__gpu_device;

/* A piece of pinned memory, and its counterpart on the device. */
typedef struct ambit__gpu_staging {
  unsigned char *host;       /* AMBIT__STAGE_BYTES; NULL: not needed yet */
  ambit__gpu_memory *device; /* the same size; NULL: not needed yet */
  ambit__gpu_event *done;    /* completion of the copy that uses it */
} ambit__gpu_staging;

/* The result of the checks: in device memory, and in reports to the host. */
typedef struct ambit__gpu_finding {
  int64_t ended;          /* the iteration whose check ended the run; 0: none */
  unsigned char value[8]; /* of the scalar then */
} ambit__gpu_finding;

typedef struct ambit__gpu_watching {
  bool on;
  ambit__watch what;
  ambit__gpu_memory *record; /* a finding; NULL: not needed yet */
  /* AMBIT__REPORTS in pinned memory, used in turn; NULL: not needed yet */
  ambit__gpu_finding *reports;
  ambit__gpu_event *arrived[AMBIT__REPORTS];
  int first, count; /* of the reports in flight */
} ambit__gpu_watching;

typedef struct ambit__gpu_lane {
  ambit__queue head;
  ambit__gpu_device *device;
  const ambit__gpu_driver *driver; /* of the device */
  ambit__gpu_queue *queue;
  ambit__gpu_staging staging[AMBIT__GPU_STAGING]; /* used in turn */
  int next;                                       /* index of the next one */
  /* partial results of blocks; NULL: not needed yet */
  ambit__gpu_memory *partials[AMBIT_MAX_PARAMS];
  ambit__gpu_memory *sums[AMBIT_MAX_PARAMS]; /* the same for strict sums: zero between launches */
  ambit__gpu_watching watch;
  ambit__gpu_memory *changed; /* 8 bytes, of update_box; NULL: not needed yet */
  ambit__gpu_memory *found;   /* AMBIT__STAGE_BYTES, about tiles; NULL: not needed yet */
  /* Goes on with tiles that are not done; NULL: there are none. */
  ambit_status (*go)(struct ambit__gpu_lane *lane, bool *done);
  void *unfinished; /* their state; owned */
} ambit__gpu_lane;

typedef struct ambit__gpu_buffer {
  ambit__buffer head;
  ambit__gpu_memory *memory;
} ambit__gpu_buffer;

static inline ambit__gpu_device *ambit__gpu_device_of(ambit__device *dev)
{
  return (ambit__gpu_device *)dev;
}

static inline ambit__gpu_memory *ambit__gpu_memory_of(const ambit__buffer *buf)
{
  return ((const ambit__gpu_buffer *)buf)->memory;
}

/* ---- entries of a backend ---- */

ambit_status ambit__gpu_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                             const ambit__backend *backend, const ambit__gpu_driver *driver,
                             ambit__device **dev);
void ambit__gpu_close(ambit__device *dev);
void ambit__gpu_info_of(ambit__device *dev, ambit__device_info *info);
void *ambit__gpu_place(ambit__device *dev, ambit__buffer *buf);
double ambit__gpu_estimate(ambit__device *dev, const ambit__group *group);
bool ambit__gpu_folds(ambit__device *dev, const ambit__fold *how); /* fold.c */
ambit_status ambit__gpu_execute(ambit__queue *q, const ambit__command *c);
ambit_status ambit__gpu_serve(ambit__device *dev, ambit__command *c);

/* Execute the commands of their names; the others are a line each in gpu.c. */
typedef ambit_status ambit__gpu_work(ambit__gpu_lane *lane, const ambit__command *c);
ambit__gpu_work ambit__gpu_put, ambit__gpu_get, ambit__gpu_write, ambit__gpu_read,
    ambit__gpu_lattice, ambit__gpu_most, ambit__gpu_fill, ambit__gpu_copy, ambit__gpu_update,
    ambit__gpu_ghosts, ambit__gpu_batch, ambit__gpu_pack, ambit__gpu_unpack, ambit__gpu_pass,
    ambit__gpu_fold, ambit__gpu_launch, ambit__gpu_tiles, ambit__gpu_tile_fold, ambit__gpu_tile_go,
    ambit__gpu_relax, ambit__gpu_watch, ambit__gpu_check, ambit__gpu_report;

/* Those of the device itself. */
ambit_status ambit__gpu_batch_open(ambit__gpu_device *d, const ambit__move *moves, int n,
                                   ambit__batch **batch);
void ambit__gpu_batch_close(ambit__batch *batch);
ambit_status ambit__gpu_message_open(ambit__gpu_device *d, size_t bytes, ambit__message **m);
void ambit__gpu_message_close(ambit__gpu_device *d, ambit__message *m);
void ambit__gpu_plans(ambit__gpu_device *d, const ambit__group *group, ambit__text *lines);
void ambit__gpu_foresee(ambit__gpu_device *d, const ambit__group *group);
ambit_status ambit__gpu_build(ambit__gpu_device *d, const ambit__group *group,
                              ambit__function **fn);
void ambit__gpu_discard(ambit__gpu_device *d, ambit__function *fn);
void ambit__gpu_measure(ambit__gpu_device *d, bool all, ambit__machine *m); /* probe.c */

/* ---- turned.c ---- */

/* A launch with axes in the order of memory, for a group that is turned; and the cells of a tile,
 * along the axes of the grid again. */
typedef struct ambit__gpu_turned {
  ambit__launch launch;
  int64_t extents[AMBIT_MAX_DIMS];
  ambit__argument args[AMBIT_MAX_PARAMS];
  ambit__store stores[AMBIT_MAX_PARAMS];
} ambit__gpu_turned;
const ambit__launch *ambit__gpu_turn_launch(const ambit__launch *l, int turn,
                                            ambit__gpu_turned *to);
void ambit__gpu_turn_tile(const ambit__group *g, int64_t *tile);

/* ---- the table ---- */

/* An H200 updates 500 cells per nanosecond, in float. Through pinned memory and MPI, cells travel
 * at about 10 GB/s, 2.5 per nanosecond. If each is alone in its cache line, the kernels that
 * gather, compute and scatter them move 32 bytes for every 4, about ten times. A message takes at
 * least two copies, the work of MPI, and waiting for each of them: about 16 microseconds. Other
 * GPUs are slower, and so are the links between them. */
#define AMBIT__GPU_COMM_COST                                                                       \
  {                                                                                                \
    .cell = 200, .line = 100, .message = 8e6, .overlaps = true                                     \
  }

/* On an H200, copies of 512 bytes by a warp, in 3-D tiles of 128 planes, reach 76 % of the speed of
 * a plain copy if rows start at odd multiples of 64 bytes, 84 % at multiples of 128, 89 % at those
 * of 256 and 90 % at those of 512. */
enum { AMBIT__GPU_LINE = 256 };

/* All but name, summary, count, open, events, and `can`: not every driver has recordings and pass.
 */
#define AMBIT__GPU_CAN                                                                             \
  AMBIT__CAN(most) | AMBIT__CAN(ghosts) | AMBIT__CAN(batch) | AMBIT__CAN(pack) |                   \
      AMBIT__CAN(fold) | AMBIT__CAN(tiles) | AMBIT__CAN(tile_go) | AMBIT__CAN(relax) |             \
      AMBIT__CAN(mark) | AMBIT__CAN(watch) | AMBIT__CAN(plans) | AMBIT__CAN(measure)
#define AMBIT__GPU_ENTRIES                                                                         \
  .comm_cost = AMBIT__GPU_COMM_COST, .closes_rows = true, .sparse = true, .line = AMBIT__GPU_LINE, \
  .close = ambit__gpu_close, .info = ambit__gpu_info_of, .execute = ambit__gpu_execute,            \
  .serve = ambit__gpu_serve, .place = ambit__gpu_place, .estimate = ambit__gpu_estimate,           \
  .folds = ambit__gpu_folds

/* ---- fold.c ---- */

/* Folds totals of pieces, a box of cells of a layout, into those of a store, or (unless `more`)
 * sets its values. */
ambit_status ambit__gpu_fold_pieces(ambit__gpu_lane *lane, const ambit__fold *how,
                                    const ambit__store *to, const ambit__gpu_memory *pieces,
                                    const ambit__layout *l, const ambit__box *box, bool more);
/* Totals of the cells of a box, row-major, components one after the other; stride 0 along axes that
 * `dropped` has. */
ambit__layout ambit__gpu_totals_layout(ambit_type type, int components, unsigned dropped,
                                       const ambit__box *box);
void ambit__gpu_folds_free(ambit__gpu_device *d);

/* ---- gpu.c ---- */

/* Device memory with a copy of some bytes, of which there is at least one; waits. */
ambit_status ambit__gpu_upload(ambit__gpu_device *d, const void *from, size_t bytes,
                               ambit__gpu_memory **memory);

/* ---- staging.c ---- */

/* The next piece of staging memory, free for use: the previous copy with it is complete. With
 * `device`, its device memory too. */
ambit_status ambit__gpu_staging_take(ambit__gpu_lane *lane, bool device,
                                     ambit__gpu_staging **staging);
/* To be called when the copies that use it are in the queue. */
ambit_status ambit__gpu_staging_pass(ambit__gpu_lane *lane, ambit__gpu_staging *staging);
/* Copies from device memory, and waits. At most AMBIT__STAGE_BYTES. */
ambit_status ambit__gpu_fetch(ambit__gpu_lane *lane, void *to, const ambit__gpu_memory *from,
                              size_t bytes);
void ambit__gpu_staging_free(ambit__gpu_lane *lane);

/* ---- boxes.c ---- */

/* gather and scatter move a box between a store and a dense array in device memory, from value
 * `first` of the array on. A box that is dense in the store needs no move: ambit__gpu_dense_place
 * is its offset in values from the start of the store's memory; -1: it is not dense. */
int64_t ambit__gpu_dense_place(const ambit__store *s, const ambit__box *box);
ambit_status ambit__gpu_gather(ambit__gpu_lane *lane, ambit__gpu_memory *to, int64_t first,
                               const ambit__store *from, const ambit__box *box);
ambit_status ambit__gpu_scatter(ambit__gpu_lane *lane, const ambit__store *to,
                                const ambit__box *box, ambit__gpu_memory *from, int64_t first);

/* ---- batch.c ---- */

/* A patch of a batch, with the layout that codegen/prelude/moves.h reads. */
typedef struct ambit__gpu_item {
  int64_t to, from;           /* indices of the memories */
  int64_t to_base, from_base; /* offsets of the first value */
  int64_t is_value, value;    /* whether all are set to one value; its bits */
  int64_t first, blocks;      /* the range of blocks of the launch that move it */
  int64_t count, axes;        /* total values; axes in use, innermost first */
  int64_t n[AMBIT__PATCH_AXES], to_step[AMBIT__PATCH_AXES], from_step[AMBIT__PATCH_AXES];
} ambit__gpu_item;

/* ---- moves.c ---- */

/* The kernels of a kit for values of a type, compiled on the first call. */
ambit_status ambit__gpu_moves_get(ambit__gpu_device *d, ambit_type type, ambit__gpu_kit kit,
                                  ambit__gpu_moves **moves);
void ambit__gpu_moves_free(ambit__gpu_device *d);
/* Runs one of them with enough threads for `values` values. */
ambit_status ambit__gpu_moves_run(ambit__gpu_lane *lane, ambit__gpu_function *f, int64_t values,
                                  int nargs, const ambit__gpu_arg *args);

/* ---- runs.c ---- */

/* Segments of cells to copy or to set, by their positions in a store or in a packed array, which
 * has the active cells of a box one behind the other. */
typedef struct ambit__gpu_list {
  int32_t *segments; /* three words each: to, from, cells; owned */
  int64_t *dense;    /* of a box: the first cell of each in a dense array; owned */
  int64_t n;
  size_t cap, dense_cap;
  int64_t cells; /* of a box */
} ambit__gpu_list;

ambit_status ambit__gpu_list_add(ambit__errors *errors, ambit__gpu_list *l, int64_t to,
                                 int64_t from, int64_t n);
void ambit__gpu_list_free(ambit__gpu_list *l);

/* The active cells of a box: from a dense array (`in`) or to it, which waits; set to a value of the
 * store's type; copied to another store that has them. `changed`, if not NULL, is set to 1 if that
 * changes a value. */
ambit_status ambit__gpu_runs_move(ambit__gpu_lane *lane, const ambit__store *store,
                                  const ambit__box *box, unsigned char *dense, bool in);
ambit_status ambit__gpu_runs_fill_box(ambit__gpu_lane *lane, const ambit__store *store,
                                      const ambit__box *box, const void *value);
ambit_status ambit__gpu_runs_copy(ambit__gpu_lane *lane, const ambit__store *to,
                                  const ambit__store *from, const ambit__box *box,
                                  const ambit__gpu_memory *changed);
/* Sets all cells of a list, active or not. */
ambit_status ambit__gpu_runs_fill(ambit__gpu_lane *lane, const ambit__store *store,
                                  const ambit__gpu_list *l, const void *value);

/* A list in device memory. */
typedef struct ambit__gpu_kept {
  ambit__gpu_memory *memory; /* NULL: it is empty */
  int64_t n;
} ambit__gpu_kept;

ambit_status ambit__gpu_keep_box(ambit__gpu_device *d, const ambit__active *a,
                                 const ambit__box *box, bool in, ambit__gpu_kept *k);
ambit_status ambit__gpu_keep_across(ambit__gpu_device *d, const ambit__active *to,
                                    const ambit__active *from, const ambit__box *box,
                                    ambit__gpu_kept *k);
void ambit__gpu_kept_free(ambit__gpu_device *d, ambit__gpu_kept *k);
/* Between a store and a packed array, from value `first` of the memory on; between stores; and one
 * value for all cells of a list that was kept to unpack them. */
ambit_status ambit__gpu_kept_pack(ambit__gpu_lane *lane, const ambit__gpu_kept *k,
                                  const ambit__store *store, ambit__gpu_memory *packed,
                                  int64_t first, bool in);
ambit_status ambit__gpu_kept_copy(ambit__gpu_lane *lane, const ambit__gpu_kept *k,
                                  const ambit__store *to, const ambit__store *from);
ambit_status ambit__gpu_kept_fill(ambit__gpu_lane *lane, const ambit__gpu_kept *k,
                                  const ambit__store *to, const void *value);

/* ---- sparse.c ---- */

/* The cells of a box that a function updates, and the copies among them that it reads, in device
 * memory. */
typedef struct ambit__gpu_assigned {
  struct ambit__gpu_assigned *next;
  const ambit__chunks *chunks;
  int64_t units, first;                      /* of cells, grid/assignment.h */
  ambit__gpu_memory *groups, *lines, *cells; /* NULL: there are none */
  ambit__gpu_memory **edges;                 /* by view: pairs of positions; NULL: none; owned */
  int64_t *nedges;                           /* owned */
  int views;
} ambit__gpu_assigned;

/* The entry of a list for a launch, made on the first call; units are as the plan wants them, and
 * lines have the indices of the first `axes` axes. */
ambit_status ambit__gpu_assigned_get(ambit__gpu_device *d, const ambit__launch *l,
                                     const ambit__plan *p, int axes, ambit__gpu_assigned **list,
                                     ambit__gpu_assigned **assigned);
void ambit__gpu_assigned_free(ambit__gpu_device *d, ambit__gpu_assigned *list);
/* Gives the cells beside runs that a launch reads their values. */
ambit_status ambit__gpu_bounds(ambit__gpu_lane *lane, const ambit__launch *l,
                               const ambit__gpu_assigned *assigned);

/* ---- adopt.c: reductions of registered kernels, before and after the fold; `more` is for it ----
 */

ambit_status ambit__gpu_adopt_before(ambit__gpu_lane *lane, const ambit__group *g,
                                     const ambit__launch *l, bool *more);
ambit_status ambit__gpu_adopt_after(ambit__gpu_lane *lane, const ambit__group *g,
                                    const ambit__launch *l);

/* watch.c: the record that launches of the queue check for the end of the run; NULL: none. */
const ambit__gpu_memory *ambit__gpu_watch_record(const ambit__gpu_lane *lane);
void ambit__gpu_watch_free(ambit__gpu_lane *lane);

/* ---- module.c ---- */

/* Source to compile. */
typedef struct ambit__gpu_text {
  const char *name;   /* of the rule */
  const char *what;   /* for messages: "a generated kernel" */
  const char *source; /* text */
  const char *entry;  /* name of the first kernel in it */
  bool strict;
  bool has_fold; /* it also has the second kernel (plan/gpu.h) */
} ambit__gpu_text;

/* Compiled source and its two kernels. */
typedef struct ambit__gpu_shared {
  struct ambit__gpu_shared *next;
  int uses;
  char *source, *entry;
  bool strict;
  ambit__gpu_module *module;
  ambit__gpu_function *run, *fold; /* fold: NULL if there is none */
} ambit__gpu_shared;

/* NULL: not loaded. */
ambit__gpu_shared *ambit__gpu_shared_find(ambit__gpu_device *d, const ambit__gpu_text *text);
ambit_status ambit__gpu_shared_get(ambit__gpu_device *d, const ambit__gpu_text *text,
                                   ambit__gpu_shared **out);
void ambit__gpu_shared_drop(ambit__gpu_device *d, ambit__gpu_shared *s); /* NULL does nothing */

/* Fixed kernels: their head, with what all of them may use; then, when the caller has appended the
 * kernels, they are compiled, and the text is freed. `kernels` are n of them by name, the first of
 * which is in the source; or one as shared code. */
typedef struct ambit__gpu_kernel {
  const char *name;
  ambit__gpu_function **function;
} ambit__gpu_kernel;

void ambit__gpu_fixed_head(const ambit__dialect *l, const char *title, int threads, ambit__text *t);
ambit_status ambit__gpu_fixed(ambit__gpu_device *d, ambit__text *t, bool strict, int n,
                              const ambit__gpu_kernel *kernels, ambit__gpu_module **module);
ambit_status ambit__gpu_fixed_shared(ambit__gpu_device *d, ambit__text *t, const char *name,
                                     const char *entry, ambit__gpu_shared **out);

/* ---- function.c: launches on tiles (nest/tiles.c) ---- */

/* The tiles of a launch, in device memory. */
typedef struct ambit__gpu_tiled {
  const ambit__gpu_memory *table, *found, *links, *state; /* those that the function has */
  /* by parameter: the store to compare with; or, if it relaxes, in place of its own; NULL: its own
   */
  const ambit__store *than[AMBIT_MAX_PARAMS];
  int64_t n; /* of a relaxation: tiles of the part */
  int64_t round;
} ambit__gpu_tiled;

/* Runs `n` tiles, or the tiles of a round with up to n blocks. Each block leaves its reductions in
 * the lane's partials; `fold` folds n of them into the scalars. */
ambit_status ambit__gpu_run_tiled(ambit__gpu_lane *lane, ambit__function *fn,
                                  const ambit__launch *l, const ambit__gpu_tiled *tiled, int64_t n);
ambit_status ambit__gpu_fold_tiled(ambit__gpu_lane *lane, ambit__function *fn,
                                   const ambit__launch *l, int64_t n);
const ambit__group *ambit__gpu_group_of(const ambit__function *fn);

/* ---- tiles.c ---- */

/* Leaves work on tiles unfinished: `go` goes on with it, from a copy of the state. */
ambit_status ambit__gpu_tiles_leave(ambit__gpu_lane *lane,
                                    ambit_status (*go)(ambit__gpu_lane *lane, bool *done),
                                    const void *state, size_t bytes);
ambit_status ambit__gpu_tiles_finish(ambit__gpu_lane *lane); /* before other work on tiles */

/* ---- relax.c ---- */

/* The tiles of a part in device memory (nest/tiles.c). */
typedef struct ambit__gpu_rest {
  struct ambit__gpu_rest *next;
  int part;
  ambit__gpu_memory *table, *links, *state;
  ambit__gpu_memory *first[2]; /* states at the beginning: all tiles, or those at the border, awake;
                                  NULL: not needed yet */
} ambit__gpu_rest;

ambit__gpu_rest **ambit__gpu_rests_of(ambit__function *fn); /* function.c */
void ambit__gpu_rests_free(ambit__gpu_device *d, ambit__gpu_rest *list);

/* ---- points.c ---- */

typedef struct ambit__gpu_chore ambit__gpu_chore; /* a step that is no kernel (device/chore.h) */

/* *out is to be closed, after failures too; it may be NULL then. */
ambit_status ambit__gpu_chore_open(ambit__gpu_device *d, const struct ambit__chore *c,
                                   ambit__gpu_chore **out);
void ambit__gpu_chore_close(ambit__gpu_device *d, ambit__gpu_chore *g); /* NULL does nothing */
/* One without arguments only makes rows of samples that fused launches took. */
ambit_status ambit__gpu_chore_launch(ambit__gpu_lane *lane, ambit__gpu_chore *g,
                                     const ambit__launch *l);
/* The chore of a function, and its description. */
ambit__gpu_chore *ambit__gpu_chore_in(const ambit__function *fn);
const struct ambit__chore *ambit__gpu_chore_of(const ambit__function *fn);

/* Points in a fused launch (nest/window/points.c): arguments of its kernel. */
typedef struct ambit__gpu_aimed {
  const ambit__gpu_memory *starts, *who, *weights; /* to add; NULL where there are none */
  const ambit__gpu_memory *rows;                   /* values to add, or samples */
  int64_t row;                                     /* added to step / every, the row */
  int64_t touched;                                 /* cells */
} ambit__gpu_aimed;

/* For a launch of `times` iterations from `step` on. `value`: to add, if it is not
 * from a record. Samples become rows of the record later. */
ambit_status ambit__gpu_chore_aim(ambit__gpu_lane *lane, ambit__gpu_chore *g,
                                  const ambit__argument *value, int64_t step, int64_t times,
                                  ambit__gpu_aimed *a);

/* ---- aim.c ---- */

/* The cells of the warps of a launch on a box that points touch. */
typedef struct ambit__gpu_aims ambit__gpu_aims;

/* Those for the box of a launch; NULL: not made yet. */
const ambit__gpu_memory *ambit__gpu_aims_find(const ambit__gpu_aims *all, const ambit__box *box);
/* Makes them from the numbers of `warps` warps. */
ambit_status ambit__gpu_aims_make(ambit__gpu_device *d, const ambit__group *g,
                                  const ambit__launch *l, const ambit__box *part, int64_t warps,
                                  const int *windows, ambit__gpu_aims **all);
void ambit__gpu_aims_free(ambit__gpu_device *d, ambit__gpu_aims *all);

/* ---- own.c ---- */

/* The source that the user registered for a group, and its launch. */
typedef struct ambit__gpu_own {
  char *source; /* owned; NULL: none */
  ambit__launch_line launch_line;
} ambit__gpu_own;

/* ambit__gpu_own_find finds and checks it. It finds nothing for groups that the source cannot
 * handle: fields that are not contiguous, a field bound twice, another number of dimensions, a box
 * that is too small. */
/* "the CUDA source registered for kernel heat" */
void ambit__gpu_own_name(const ambit__gpu_device *d, const ambit__rule *rule, ambit__text *t);
/* Whether a source is registered for the kernel, whatever the group. */
bool ambit__gpu_has_own(const ambit__gpu_device *d, const ambit__group *g);
ambit_status ambit__gpu_own_find(const ambit__gpu_device *d, const ambit__group *g,
                                 ambit__gpu_own *own);

/* ---- launches and arguments ---- */

/* Blocks one beside the other. */
static inline ambit__shape ambit__gpu_shape(int64_t blocks, int threads)
{
  return (ambit__shape){.blocks = {blocks, 1, 1}, .threads = {threads, 1, 1}};
}

static inline ambit__gpu_arg ambit__gpu_arg_memory(const ambit__gpu_memory *memory)
{
  return (ambit__gpu_arg){.memory = memory};
}

static inline ambit__gpu_arg ambit__gpu_arg_none(void)
{
  static const void *const none = NULL;

  return (ambit__gpu_arg){.value = &none, .bytes = sizeof none};
}

static inline ambit__gpu_arg ambit__gpu_arg_number(const int64_t *value)
{
  return (ambit__gpu_arg){.value = value, .bytes = sizeof *value};
}

#endif
