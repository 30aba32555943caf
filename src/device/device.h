/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - the interface of a backend. This is the whole contract.
 *
 * A backend is one constant table. Its functions are static in the backend's own files; the table
 * is the only symbol that the rest of the library sees. Work on cells is a command in a queue,
 * which executes them in order. A backend may do so at once (ref, cpu) or later (GPUs, and devices
 * that driven.h gives a thread): only wait, get, read and events guarantee completion. A NULL entry
 * has the meaning given in its comment.
 *
 * A device holds any number of parts of a grid. It knows a part only from the layouts of its
 * stores, whose own boxes lie anywhere in the grid; all stores of one launch have the same own box.
 * Boxes are global. Only events order the queues of one device among each other.
 */
#ifndef AMBIT_DEVICE_DEVICE_H
#define AMBIT_DEVICE_DEVICE_H

#include "base/settings.h"
#include "base/team.h"
#include "codegen/exact.h"
#include "device/fold.h"
#include "grid/boundary.h"
#include "grid/chunks.h"
#include "grid/layout.h"
#include "grid/partition.h"
#include "grid/tiles.h"
#include "plan/plan.h"

#include <stdalign.h>

/* The common head of the structs of every backend. */
typedef struct ambit__device {
  const struct ambit__backend *backend;
  ambit__errors *errors;           /* of the context */
  const ambit__settings *settings; /* of the context */
  unsigned nbuffers;               /* of host memory, that it ever had: see host.c */
  ambit__machine machine;          /* the device as estimates see it; see measure.h */
  double copies; /* bytes per second of copies, measured by this process; 0: not yet */
  bool is_tried; /* this process has measured it, or could not */
  /* In host memory: divides work that moves so many values among the threads of the device that are
   * worth it; NULL: the calling thread does all. */
  void (*divide)(struct ambit__device *dev, int64_t values, ambit__team_work work, void *arg);
} ambit__device;

/* A device that works on the caller's thread calls `poll` now and then while it computes, so that
 * messages make progress. `poll` gives no work to the device, and touches no cell that the running
 * launch reads or writes. */
typedef struct ambit__queue {
  ambit__device *device;
  void (*poll)(void *user); /* NULL: none */
  void *poll_user;
  double polled; /* the last time that it did, by ambit__clock; only the device uses it */
} ambit__queue;

/* On a sparse grid the runs of a field are among cells that have no values of their own: inactive
 * ones, and those beyond the grid. The device gives them values before a launch reads them, and
 * notes in the buffer which boundaries it did that for. */
typedef struct ambit__bounds {
  bool known; /* these cells have the constants of `of`; if not, they are as the buffer was made */
  ambit__boundaries of;
} ambit__bounds;

typedef struct ambit__buffer {
  size_t bytes;
  bool unset;            /* not 0 where no value was stored, but the mark for that (faults.h) */
  ambit__bounds *bounds; /* of a field of a sparse grid, by component; else NULL; owned */
} ambit__buffer;

/* A checked function makes the checks in the group's `checks`: its launches need a fault record,
 * and fill it in. A registered function cannot, and is not checked. */
typedef struct ambit__function {
  char *plan;        /* one line that describes how it runs, owned */
  bool ignores_stop; /* would go on after the device has found that the run has ended (see watch) */
  bool checked;
  bool waves; /* can be a stage of a wave */
  bool tiles; /* can run on tiles */
  int words;  /* of the results of its reductions over a tile or slab; 0: it does not reduce */
  /* of a group that sweeps: a launch runs its cells in order; false: launches have one plane each
   */
  bool sweeps;
  bool totals; /* folds values into totals (ambit__binding.onto); false: it stores them */
  /* Tile size along each axis, counted from the first cell of the part. Boxes of whole tiles are
   * the fastest; 0: no difference. */
  int64_t tile[AMBIT_MAX_DIMS];
  int64_t block; /* on a sparse grid, rows of each plane that it computes at a time; 0: all */
} ambit__function;

/* The values of one field on one part. Swapping two fields swaps their buffers. On a sparse grid,
 * boxes given to a device mean their active cells. */
typedef struct ambit__store {
  ambit__layout layout;
  ambit__buffer *buffer;
} ambit__store;

/* Some cells of a box: along axis d, cells first[d] + i * step[d] for i from 0 to count[d] - 1. */
typedef struct ambit__lattice {
  int64_t first[AMBIT_MAX_DIMS], step[AMBIT_MAX_DIMS], count[AMBIT_MAX_DIMS];
} ambit__lattice;

/* Whether greatest norms of cells can be read: of float and double. */
static inline bool ambit__has_norm(ambit_type type)
{
  return type == AMBIT_F32 || type == AMBIT_F64;
}

/* Host memory that one device packs to and unpacks from asynchronously; pinned if that matters.
 * With `direct`, packed data is in device memory only, for nets that can send it from there. */
typedef struct ambit__message {
  unsigned char *bytes;
  size_t size;
  void *device_bytes; /* the copy in device memory, as an address for others; NULL: none */
  bool direct;        /* set by the owner, if device_bytes is not NULL */
} ambit__message;

typedef struct ambit__event ambit__event; /* a point in a queue; each backend has its own struct */

/* Cells that move within a device: a box to copy, or ghost cells to fill, as the commands copy
 * and ghosts do; on a sparse grid also one value for all, as fill does. Everything it points to
 * must outlive anything made from it. */
typedef struct ambit__move {
  ambit__store *dst;
  ambit__store *src; /* of a copy; NULL: fill ghost cells of dst, or with `fills` its box */
  int first, count;  /* components first .. first + count - 1; all, unless the order is AMBIT_SOA */
  ambit__box box;    /* copy: own cells of src; ghosts: `given` */
  int64_t shift[AMBIT_MAX_DIMS];       /* copy */
  ambit__box reach;                    /* ghosts */
  const ambit__boundaries *boundaries; /* ghosts */
  const int64_t *extents;              /* ghosts: of the grid */
  /* On a sparse grid, cells of dst and src in place of the active ones of the stores; NULL: those
   */
  const ambit__active *to, *from;
  bool fills;
  alignas(8) unsigned char value[8]; /* for it; of the type of dst */
} ambit__move;

/* The components and the cells of dst and src. */
static inline ambit__store ambit__move_to(const ambit__move *m)
{
  ambit__store s = {ambit__layout_slice(&m->dst->layout, m->first, m->count), m->dst->buffer};

  if (m->to) s.layout.active = m->to;
  return s;
}
static inline ambit__store ambit__move_from(const ambit__move *m)
{
  ambit__store s = {ambit__layout_slice(&m->src->layout, m->first, m->count), m->src->buffer};

  if (m->from) s.layout.active = m->from;
  return s;
}

typedef struct ambit__batch ambit__batch; /* a list of moves; each backend has its own struct */
/* recorded work of a queue; each backend has its own struct */
typedef struct ambit__recording ambit__recording;

/* The binding of one parameter of a launch: a field, or a value in a small buffer. Access checks
 * report a read beyond `valid` as an error; if its ndims is 0, own cells and margins are valid. */
typedef struct ambit__argument {
  ambit__store *store;                 /* field; else NULL */
  const ambit__boundaries *boundaries; /* field: the values of reads outside the grid */
  const ambit__boundaries *special;    /* by component, if some have their own; else NULL */
  /* Scalar or number: 8 bytes, of the parameter's type. In a scalar written by a strict sum, the
   * long accumulator that was rounded to the value follows (ambit__scalar_bytes). */
  ambit__buffer *value;
  bool spreads; /* field: written at neighbours, also beyond the own cells */
#ifdef AMBIT_ACCESS_CHECKS
  ambit__box valid; /* field: cells that hold values for this launch */
#endif
} ambit__argument;

/* Launches of one function, on different boxes and parts, may run at the same time in several
 * queues: each stores only to the cells of its box, or, if the rule says so, to others of which no
 * two are the same (ambit__param.targets). The caller orders launches that share a value for a
 * reduction.
 */
typedef struct ambit__launch {
  ambit__box box;              /* cells to update, own cells of the part; ndims 0: run once */
  const int64_t *extents;      /* of the grid */
  const ambit__chunks *chunks; /* of a sparse grid: those of the box; NULL: dense */
  int nargs;                   /* number of parameters of the rule */
  const ambit__argument *args;
  int64_t step;  /* iteration number */
  int64_t times; /* iterations of a flow; 0: one with points gets ready for launches on the box */
  /* reductions are folded into the present values of their scalars, and strict sums into the long
   * accumulators behind them, instead of starting anew */
  bool more;
  uint32_t folds; /* the same for some parameters: one bit each */
  bool adds; /* results of cells folded onto fields are totals, which are added to; else values */
  ambit__buffer *faults; /* for a checked function: see device/faults.h */
} ambit__launch;

static inline bool ambit__launch_folds(const ambit__launch *l, int param)
{
  return l->more || (l->folds >> param & 1);
}

/* A stage of a wave: a launch, or ghost cells to fill (fn is NULL). Ghost cells are those of
 * args[0]. The ones before cell 0 of an axis are filled when the pass has reached cell `turn` of
 * it, the ones behind its last cell with that cell. */
typedef struct ambit__wave_stage {
  ambit__function *fn;
  const ambit__argument *args; /* as in ambit__launch */
  int nargs;
  ambit__box cells; /* that are computed; or those in the grid beside which ghost cells are filled,
                       and between */
  int iteration;    /* of the wave, from 0 */
  bool keeps;       /* its reductions count, in any order; if not, they are discarded */
  uint32_t folds;   /* as in ambit__launch */
  /* How far it stays behind the first stage, and how far it leads at a cut (flow/flow.h). */
  int64_t lag[AMBIT_MAX_DIMS], lead[AMBIT_MAX_DIMS];
  int64_t low[AMBIT_MAX_DIMS], high[AMBIT_MAX_DIMS]; /* layers of ghost cells */
  int64_t turn[AMBIT_MAX_DIMS];
} ambit__wave_stage;

typedef struct ambit__wave_sizes {
  int64_t block; /* cells along the axis of the pass */
  int64_t tile;  /* cells along the next axis; 0: all */
  int64_t strip; /* cells along the last axis; 0: all */
} ambit__wave_sizes;

/* Several iterations in one pass over the cells of a part. The pass advances along `axis` in
 * blocks. The next axis is cut into tiles, each a pass of its own. Within a block the last axis is
 * cut into strips: all stages go through one before the next. Boundaries that are periodic along
 * `axis` make its ends a cut between owners (flow/flow.h); axes with tiles or strips are not
 * periodic. */
typedef struct ambit__wave {
  const ambit__wave_stage *stages;
  int n;
  const int64_t *extents; /* of the grid */
  ambit__box all;         /* contains the cells of all stages; the grid along axes not cut */
  int iterations;
  int axis; /* not the last one */
  ambit__wave_sizes size;
  bool wraps;    /* some boundary is periodic along `axis` */
  int64_t least; /* cells along `axis` that each of several owners needs */
  double cells;  /* computed in all */
} ambit__wave;

/* One of the tiles of a launch. */
typedef struct ambit__tile {
  ambit__box box;      /* cells to update; empty: none, and no comparison in place */
  ambit__box whole;    /* the tile, whose cells are compared */
  int64_t number;      /* of the tile in its part; on a sparse grid, in launch->chunks->starts */
  bool computed;       /* the cells are up to date: they are only compared */
  bool copies;         /* instead of computing, copies the cells of `than` */
  uint32_t compares;   /* by output, one bit each: whether `than` has values to compare with */
  int64_t *partial;    /* the results of reductions over the tile; see words of the function */
  ambit__box *changed; /* by output, set by the device: contains all cells that differ */
} ambit__tile;

/* A launch on disjoint tiles, in any order. An output is a written field. */
typedef struct ambit__tile_list {
  ambit__tile *tiles;
  int n;
  int nout;
  const int *out;            /* by output: its parameter */
  ambit__store *const *than; /* by output: the store with the values to compare with. If that is the
                                store to write, they are those that it has before the launch */
} ambit__tile_list;

/* A part that is brought to rest. The rule is monotone: the order of updates does not matter for
 * the values at rest. The parameters `in` and `out` have one component and the same layout. */
typedef struct ambit__relaxation {
  int in, out;                /* parameters: the field that neighbours are read of, the result */
  const ambit__tile_map *map; /* tiles of the grid, with links between those of this process */
  int part;                   /* number of the part in the map */
  bool border;  /* cells that read no halo and no ghost cells are at rest; both stores are equal */
  bool changed; /* set by the device: some cell was not at rest */
  bool rests;   /* set by the device; false: it gave up, as values go on changing */
  double updates; /* set by the device: of cells */
} ambit__relaxation;

/* The value of a scalar in device memory. */
typedef struct ambit__scalar_bytes {
  unsigned char value[8]; /* one value, of any type */
  ambit__long sum;        /* of a strict sum of real numbers */
} ambit__scalar_bytes;

/* A condition on a scalar that a device checks without the host. */
typedef struct ambit__watch {
  ambit__buffer *value; /* of the scalar */
  ambit_type type;
  ambit_condition when;
  double bound;
} ambit__watch;

enum { AMBIT__REPORTS = 2 }; /* most reports in progress at once */

/* The result of one report. */
typedef struct ambit__verdict {
  bool known;             /* false: not yet arrived */
  int64_t ended;          /* the iteration whose check ended the run; 0: none so far */
  unsigned char value[8]; /* of the scalar, when the run ended */
} ambit__verdict;

typedef struct ambit__device_info {
  char name[128];     /* "Neoverse-V1, 2 threads" */
  char identity[256]; /* all that the speed of kernels depends on: also driver and compiler */
  int64_t chip;       /* the same for all backends that have it; 0: unknown */
  int cores;          /* in use now; GPU: multiprocessors */
  size_t memory;      /* bytes */
  /* bytes of host memory now free within the limits of this process; 0: not host memory */
  size_t free;
  bool short_rows; /* a function takes little more time for its cells if they are in short rows */
} ambit__device_info;

/* The commands of devices: one kind of work each, with the arguments in this order. Those of a
 * queue are executed in its order, at once or later. All that such a command points to is read
 * before ambit__do returns, except where a comment says otherwise. Those of the device itself are
 * done when ambit__ask returns; the ones that close something do not fail. */
typedef enum ambit__command_kind {
  COMMAND_put,
  COMMAND_get,
  COMMAND_write,
  COMMAND_read,
  COMMAND_lattice,
  COMMAND_most,
  COMMAND_fill,
  COMMAND_copy,
  COMMAND_update,
  COMMAND_ghosts,
  COMMAND_batch,
  COMMAND_pack,
  COMMAND_unpack,
  COMMAND_pass,
  COMMAND_fold,
  COMMAND_launch,
  COMMAND_wave,
  COMMAND_tiles,
  COMMAND_tile_fold,
  COMMAND_tile_go,
  COMMAND_relax,
  COMMAND_mark,
  COMMAND_await,
  COMMAND_wait,
  COMMAND_watch,
  COMMAND_check,
  COMMAND_report,
  COMMAND_record,
  COMMAND_replay,
  /* of the device itself */
  COMMAND_queue_open,
  COMMAND_queue_close,
  COMMAND_alloc,
  COMMAND_release,
  COMMAND_message_open,
  COMMAND_message_close,
  COMMAND_event_open,
  COMMAND_event_close,
  COMMAND_batch_open,
  COMMAND_batch_close,
  COMMAND_recording_close,
  COMMAND_build,
  COMMAND_discard,
  COMMAND_plans,
  COMMAND_foresee,
  COMMAND_measure,
  COMMAND_alone
} ambit__command_kind;

typedef struct ambit__command {
  ambit__command_kind kind;
  union {
    /* Bytes of a buffer, from and to host memory. get waits. */
    struct {
      ambit__buffer *dst;
      const void *src;
      size_t bytes;
    } put;
    struct {
      void *dst;
      ambit__buffer *src;
      size_t bytes;
    } get;

    /* Copy a box of own cells from or to a dense row-major array, components last. read waits. */
    struct {
      ambit__store *dst;
      const ambit__box *box;
      const void *src;
    } write;
    struct {
      void *dst;
      ambit__store *src;
      const ambit__box *box;
    } read;
    /* Copies own cells of a lattice to such an array, of a dense grid, and waits. */
    struct {
      void *dst;
      ambit__store *src;
      const ambit__lattice *lattice;
    } lattice;
    /* The same of the greatest values along an axis, which counts as one cell in the array: of each
     * component; with `norm`, of the norm of all, one value per cell (ambit__has_norm). NaN does
     * not count, and is the greatest of nothing else. For a device that cannot, the host finds
     * them in a lattice. */
    struct {
      void *dst;
      ambit__store *src;
      const ambit__lattice *lattice;
      int axis;
      bool norm;
    } most;
    /* Sets all components of a box of own cells to one value, of the store's type. */
    struct {
      ambit__store *dst;
      const ambit__box *box;
      const void *value;
    } fill;
    /* Copies a box of own cells of src to the cells of dst at distance `shift` (AMBIT_MAX_DIMS
     * numbers; NULL: the same cells), which may be in its margins. The stores have the same type
     * and number of components. */
    struct {
      ambit__store *dst, *src;
      const ambit__box *box;
      const int64_t *shift;
    } copy;
    /* Copies a box of own cells of src to the same cells of dst, and waits. Sets *changed if a bit
     * of dst was different before. */
    struct {
      ambit__store *dst, *src;
      const ambit__box *box;
      bool *changed;
    } update;

    /* Fills the cells of `reach` that are not in `given`, axis by axis: across axis d, those that
     * lie in reach along the axes before d and in given along those after. Each is a copy of the
     * cell that the boundaries map it to, which lies in given along d, or a constant. Both boxes
     * contain the own cells and lie within the margins. The cells of reach outside given are
     * outside the grid, and not behind AMBIT_NONE or AMBIT_FIXED faces. With one part, given is the
     * grid. On a device that cannot, launches need no ghost cells, and it can hold only one part.
     */
    struct {
      ambit__store *store;
      const ambit__boundaries *boundaries;
      const int64_t *extents; /* of the grid: AMBIT_MAX_DIMS numbers */
      const ambit__box *given, *reach;
    } ghosts;
    /* Runs the moves of a batch (batch_open), with the buffers that their stores have now. */
    struct {
      ambit__batch *batch;
    } batch;

    /* Messages. A box, which may include margins, is packed from byte `at` on, dense, row-major,
     * components last; `at` is a multiple of the size of a value. Packed data can be read once an
     * event recorded afterwards has completed; data being unpacked must stay until one has. A
     * device that cannot holds only one part. */
    struct {
      ambit__message *to;
      size_t at;
      ambit__store *src;
      const ambit__box *box;
    } pack;
    struct {
      ambit__store *dst;
      const ambit__box *box;
      ambit__message *from;
      size_t at;
    } unpack;
    /* Copies a message packed by another device of this backend into a message of the queue's
     * device; both are direct and have the same size. Queues of such devices accept each other's
     * events. Else messages go through the host. */
    struct {
      ambit__message *to, *from;
    } pass;

    /* Reductions along some axes (device/fold.h): folds a box of own cells of src into totals in
     * device memory, which unless `more` start from the identity. Else the host does; see `folds`.
     */
    struct {
      const ambit__fold *how;
      ambit__buffer *totals;
      ambit__store *src;
      const ambit__box *box;
      bool more;
    } fold;

    struct {
      ambit__function *fn;
      const ambit__launch *launch;
    } launch;
    /* Runs all iterations of a wave; `step` is the number of the first. */
    struct {
      const ambit__wave *wave;
      int64_t step;
    } wave;
    /* Runs a function on tiles: `launch` has all but the box. Reductions go to the tiles' own
     * memory, of as many words as the function has; tile_fold combines those of `n` tiles, one
     * behind the other, and sets the scalars as a launch would. A function that cannot has `tiles`
     * false. The results are there after tile_go, until when the caller keeps all that the launch
     * and the list point to. */
    struct {
      ambit__function *fn;
      const ambit__launch *launch;
      const ambit__tile_list *list;
    } tiles;
    struct {
      ambit__function *fn;
      const ambit__launch *launch;
      const int64_t *partials;
      int64_t n;
    } tile_fold;
    /* Goes on with the tiles that the queue was given: until they are done, or (*done is false)
     * with some of the work, so that several devices can take turns. On a device that cannot,
     * `wait` waits for them. */
    struct {
      bool *done;
    } tile_go;
    /* Computes the own cells of a part until they are at rest, in any order: each is as the
     * function gives it from the values around. Halos and ghost cells stay. Both stores then hold
     * the result. `launch` has all but the box; the function has `tiles` set, and does not reduce.
     * The results are there as for tiles. */
    struct {
      ambit__function *fn;
      const ambit__launch *launch;
      ambit__relaxation *relaxation;
    } relax;

    /* Events can be recorded repeatedly: mark puts one behind all commands so far. An event never
     * recorded counts as completed. await: the queue goes on once it has completed. wait: the host
     * waits for it, or for the queue if it is NULL. A device that cannot mark works at once. */
    struct {
      ambit__event *event;
    } mark, await, wait;

    /* Checks that the host need not wait for. watch begins them, unless this device cannot (*can is
     * false), and with NULL ends them. check puts one into the queue, behind the iteration of that
     * number, which is 1 or more: if the condition holds there, or the value is not finite, the run
     * has ended, and all later launches in this queue, until the end of the checks, change nothing.
     * report sends the results of the checks before it to the host; with a verdict, it takes the
     * oldest report if it has arrived, or with `wait` waits for it. For a device that cannot, the
     * host checks the value, at no loss where work runs at once. */
    struct {
      const ambit__watch *what;
      bool *can;
    } watch;
    struct {
      int64_t iteration;
    } check;
    struct {
      ambit__verdict *verdict;
      bool wait;
    } report;

    /* Recordings. record with NULL begins one, with an address ends it. Commands of the queue
     * between the two are not run but kept, with their boxes, functions, buffers and numbers.
     * replay submits them all at once. Between the two, nothing may wait for the queue, nor read or
     * write host memory through it. Else there is no gain. */
    struct {
      ambit__recording **end;
    } record;
    struct {
      ambit__recording *recording;
    } replay, recording_close;

    /* urgent: where possible, work in this queue runs before work that other queues of the device
     * have not yet started. */
    struct {
      bool urgent;
      ambit__queue **queue;
    } queue_open;
    struct {
      ambit__queue *queue;
    } queue_close;
    /* Zeroed memory. With a layout, each page is placed near the thread that will work on it. */
    struct {
      size_t bytes;
      const ambit__layout *layout;
      ambit__buffer **buffer;
    } alloc;
    struct {
      ambit__buffer *buffer; /* NULL: nothing */
    } release;
    /* A message is closed only when no command on it is in progress. */
    struct {
      size_t bytes;
      ambit__message **message;
    } message_open;
    struct {
      ambit__message *message; /* NULL: nothing */
    } message_close;
    struct {
      bool timed; /* costs more */
      ambit__event **event;
    } event_open;
    struct {
      ambit__event *event;
    } event_close;
    /* Moves that are run together, repeatedly. No move writes cells that another reads or writes.
     * The layouts of their stores must not change. */
    struct {
      const ambit__move *moves;
      int n;
      ambit__batch **batch;
    } batch_open;
    struct {
      ambit__batch *batch; /* NULL: nothing */
    } batch_close;

    struct {
      const ambit__group *group;
      ambit__function **fn;
    } build;
    struct {
      ambit__function *fn; /* NULL: nothing */
    } discard;
    /* Appends the plans that a group can be built with, a line each. On a device that cannot, there
     * is no choice. */
    struct {
      const ambit__group *group;
      ambit__text *lines;
    } plans;
    /* Announces that a group will be built, so that compilers can run for several at once. A
     * failure is left to `build`. */
    struct {
      const ambit__group *group;
    } foresee;
    /* Measures the copy in memory, or all speeds, and sets them in *machine; those that could not
     * be measured become 0. Takes half a second. Raises no error. See measure.h. */
    struct {
      bool all;
      ambit__machine *machine;
    } measure;
    /* Whether no other device of the process has cells; at first some have. A device of cores
     * leaves one to the thread that drives the others. No work is queued. */
    struct {
      bool alone;
    } alone;
  };
} ambit__command;

typedef struct ambit__backend {
  const char *name;           /* "cpu", as users write it in the option devices */
  const char *summary;        /* one line for `ambit devices` */
  ambit__comm_cost comm_cost; /* the cost of sending cells to another device or process */
  bool closes_rows;           /* builds functions for fields with closed rows (nest/group.h) */
  bool sparse;                /* stores may be of sparse grids (grid/layout.h) */
  bool wide_activity;         /* there, active cells are told by ints instead of bytes */
  bool twins;                 /* a device that is opened twice has one memory, for two threads */
  /* rows of fields should start at multiples of this many bytes (grid/layout.h); 0: anywhere */
  int line;
  /* Commands that it can execute, AMBIT__CAN(copy) and so on, of those that not all can: most,
   * ghosts, batch, pack (and unpack), pass, fold, wave, tiles (and tile_fold),
   * tile_go, relax, mark (and await), watch (check, report), record (replay), plans, measure. Who
   * cannot foresee or be alone does nothing. */
  uint64_t can;

  int (*count)(void); /* number of devices present */
  /* Number of them, the first ones, that are faster than cores: the default is one of these, of the
   * first backend that has any. Quick where there are none. NULL: none. */
  int (*fast)(void);
  ambit_status (*open)(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                       ambit__device **dev);
  void (*close)(ambit__device *dev);
  void (*info)(ambit__device *dev, ambit__device_info *info);
  /* Execute commands: of a queue, and of the device itself. */
  ambit_status (*execute)(ambit__queue *q, const ambit__command *c);
  ambit_status (*serve)(ambit__device *dev, ambit__command *c);

  /* Address of a buffer in host memory; accesses through it are immediate. NULL: not in host
   * memory. */
  unsigned char *(*address)(ambit__buffer *buf);

  /* Address of a buffer in device memory, for other libraries. NULL: there is none. */
  void *(*place)(ambit__device *dev, ambit__buffer *buf);

  bool (*event_done)(ambit__event *e);
  /* Seconds between two completed timed events; less than 0 if unknown. NULL: always unknown. */
  double (*event_seconds)(ambit__event *from, ambit__event *to);

  /* Whether it can fold so; NULL: always, if it can fold. */
  bool (*folds)(ambit__device *dev, const ambit__fold *how);
  /* Estimated ns per cell and iteration of the best function for a group, which may have a
   * flow; less than 0: there is none. NULL: the device builds no functions for flows. */
  double (*estimate)(ambit__device *dev, const ambit__group *group);
} ambit__backend;

#define AMBIT__CAN(name) (UINT64_C(1) << COMMAND_##name)

/* Whether the devices of a backend can execute a command: ambit__can(backend, copy). */
#define ambit__can(backend, name) (((backend)->can & AMBIT__CAN(name)) != 0)

static inline ambit_status ambit__execute(ambit__queue *q, const ambit__command *c)
{
  return q->device->backend->execute(q, c);
}

static inline ambit_status ambit__serve(ambit__device *dev, ambit__command *c)
{
  return dev->backend->serve(dev, c);
}

/* Gives a queue a command: ambit__do(q, copy, &dst, &src, &box, shift), or the device itself:
 * ambit__ask(dev, alloc, bytes, NULL, &buffer). */
#define ambit__do(q, name, ...)    ambit__execute(q, AMBIT__COMMAND(name, __VA_ARGS__))
#define ambit__ask(dev, name, ...) ambit__serve(dev, AMBIT__COMMAND(name, __VA_ARGS__))
#define AMBIT__COMMAND(name, ...)  (&(ambit__command){.kind = COMMAND_##name, .name = {__VA_ARGS__}})

/* The backend called `name` (length bytes). If there is none, raises an error that lists the names
 * and returns NULL. */
const ambit__backend *ambit__backend_find(ambit__errors *errors, const char *name, size_t length);
const ambit__backend *ambit__backend_at(int i); /* NULL past the end */
/* Adds a backend of a test, in place of the one added before; NULL: none. */
void ambit__backend_add(const ambit__backend *b);

/* The tables: ambit__backend_cpu and so on. */
#define AMBIT_BACKEND(name) extern const ambit__backend ambit__backend_##name;
#include "device/list.h"
#undef AMBIT_BACKEND

#endif
