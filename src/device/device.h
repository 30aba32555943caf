/* device.h - what a backend must provide. This is the whole contract.
 *
 * A backend is one constant table. Its functions are static in the backend's own files; the table
 * is the only symbol the rest of the library sees. Work is handed to a queue and done in order;
 * a backend may do it at once (ref, cpu) or later (GPUs): only wait, get, read_box and events promise that
 * it is done. A NULL entry means what the comment beside it says.
 *
 * A device keeps any number of parts of a grid. What it is told of a part is in the layouts of its stores, whose
 * own boxes lie anywhere in the grid; all stores of one launch have the same one. Boxes are global. Queues of
 * one device are ordered among each other by events only.
 */
#ifndef AMBIT_DEVICE_DEVICE_H
#define AMBIT_DEVICE_DEVICE_H

#include "base/settings.h"
#include "codegen/exact.h"
#include "grid/boundary.h"
#include "grid/layout.h"
#include "grid/partition.h"
#include "plan/plan.h"

/* The common head of every backend's own structs. */
typedef struct ambit__device {
  const struct ambit__backend *backend;
  ambit__errors *errors;           /* of the context */
  const ambit__settings *settings; /* of the context */
} ambit__device;

/* A device that works on the caller's thread calls `poll` now and then while it computes, so that messages move
 * on: it hands no work to the device, and touches no cell that a launch then reads or writes. */
typedef struct ambit__queue {
  ambit__device *device;
  void (*poll)(void *user); /* NULL: none */
  void *poll_user;
} ambit__queue;

typedef struct ambit__buffer {
  size_t bytes;
} ambit__buffer;

/* A checked function does what the group's `checks` ask for: its launches need a fault record, and fill it in. One
 * that came from outside cannot, and is not checked. */
typedef struct ambit__function {
  char *plan;    /* one line that tells how it runs, owned */
  bool heedless; /* it would go on when the device has found that the run has ended (see watch) */
  bool checked;
  /* Cells along an axis, counted from the part's first, that it computes together: boxes of whole tiles are the fastest; 0: as
   * fast as any. */
  int64_t tile[AMBIT_MAX_DIMS];
} ambit__function;

/* The values of one field on one part. Swapping two fields swaps their buffers. */
typedef struct ambit__store {
  ambit__layout layout;
  ambit__buffer *buffer;
} ambit__store;

/* Host memory that one device packs to and unpacks from without waiting; pinned where that matters. What is packed
 * and unpacked while `direct` lies in device memory only: for nets that can send it from there. */
typedef struct ambit__message {
  unsigned char *bytes;
  size_t size;
  void *device_bytes; /* the same in device memory, as an address for others; NULL: it has none */
  bool direct;        /* set by the owner, if there is such an address */
} ambit__message;

typedef struct ambit__event ambit__event; /* a point in a queue; each backend has its own struct */

/* Cells that move within a device: a box that is copied, or ghosts that are filled, as the entries copy_box and ghosts do.
 * What it points at outlives whatever is made of it. */
typedef struct ambit__move {
  ambit__store *dst;
  ambit__store *src; /* of a copy; NULL: it is ghosts of dst */
  int first, count;  /* components first .. first + count - 1; all, unless the order is AMBIT_SOA */
  ambit__box box;    /* copy: own cells of src; ghosts: what is given */
  int64_t shift[AMBIT_MAX_DIMS];       /* copy */
  ambit__box reach;                    /* ghosts */
  const ambit__boundaries *boundaries; /* ghosts */
  const int64_t *extents;              /* ghosts: of the grid */
} ambit__move;

typedef struct ambit__batch ambit__batch;         /* moves; each backend has its own struct */
typedef struct ambit__recording ambit__recording; /* work of a queue, likewise */

/* What one parameter of a launch is bound to: a field, or a value in a small buffer. Access
 * checks take a read beyond `valid` for an error; with ndims 0, it is the own cells and the
 * margins. */
typedef struct ambit__argument {
  ambit__store *store;                 /* field; NULL otherwise */
  const ambit__boundaries *boundaries; /* field: what reads outside the grid give */
  /* Scalar or number: 8 bytes, of the parameter's type; in a scalar that a strict sum writes, the long accumulator it was rounded
   * from lies behind them (ambit__scalar_bytes). */
  ambit__buffer *value;
#ifdef AMBIT_ACCESS_CHECKS
  ambit__box valid; /* field: cells that hold values for this launch */
#endif
} ambit__argument;

/* With `ends`, cells beside the ends of the box's rows, to the next multiples of AMBIT__ALIGNED, hold the same in each written field and in
 * its twin (ambit__binding), and whatever else is under way may read but not change them: a device that likes whole vectors can store
 * those of the twin. Rows are whole then: the part has all of them.
 *
 * Launches of one function, on different boxes and parts, may be under way at once in several queues: each stores to
 * the cells of its box only. (The cpu device, which does one thing at a time, may store again what the cells
 * beside it hold.) Those that share a value for a reduction are ordered by whoever hands them over. */
typedef struct ambit__launch {
  ambit__box box;         /* cells to update, own ones of the part; ndims 0: run once */
  const int64_t *extents; /* of the grid */
  int nargs;              /* by parameter of the rule */
  const ambit__argument *args;
  int64_t step; /* iteration number */
  bool
      more; /* reductions are folded into the values of their scalars, instead of starting anew; strict sums
                   * into the long accumulators behind them */
  uint32_t folds; /* the same for some parameters: a bit for each */
  bool ends;      /* rows of the box may be stored with what lies beside their ends; see above */
  ambit__buffer *faults; /* of a function that is checked: see device/faults.h */
} ambit__launch;

static inline bool ambit__launch_folds(const ambit__launch *l, int param)
{
  return l->more || (l->folds >> param & 1);
}

/* The value of a scalar in device memory. */
typedef struct ambit__scalar_bytes {
  unsigned char value[8]; /* of one value, of any type */
  ambit__long sum;        /* of a strict sum of real numbers */
} ambit__scalar_bytes;

/* A condition on a scalar that a device checks without the host. */
typedef struct ambit__watch {
  ambit__buffer *value; /* of the scalar */
  ambit_type type;
  ambit_condition when;
  double bound;
} ambit__watch;

enum { AMBIT__REPORTS = 2 }; /* that may be under way at once */

/* What one of them says. */
typedef struct ambit__verdict {
  bool known;             /* false: it is not here yet */
  int64_t ended;          /* the iteration whose check ended the run; 0: none so far */
  unsigned char value[8]; /* of the scalar, when it ended */
} ambit__verdict;

typedef struct ambit__device_info {
  char name[128]; /* "Neoverse-V1, 2 cores" */
  int cores;      /* of a GPU: multiprocessors */
  size_t memory;  /* bytes */
  size_t
      free; /* bytes of the host's that are free now, within the limits of this process; 0: not the host's */
} ambit__device_info;

typedef struct ambit__backend {
  const char *name;    /* "cpu": what the user writes in the option devices */
  const char *summary; /* one line for `ambit devices` */
  ambit__toll toll;    /* what it costs to send cells to another device or process */
  bool around;         /* functions can be built for fields that are bound `around` (plan/plan.h) */
  int line; /* rows of fields are to begin on multiples of so many bytes (grid/layout.h); 0: no wish */

  int (*count)(void); /* how many devices are here */
  ambit_status (*open)(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                       ambit__device **dev);
  void (*close)(ambit__device *dev);
  void (*info)(ambit__device *dev, ambit__device_info *info);
  /* Urgent: what is in it goes before what other queues of the device are about to begin, where it can. */
  ambit_status (*queue_open)(ambit__device *dev, bool urgent, ambit__queue **queue);
  void (*queue_close)(ambit__queue *queue);

  /* Zeroed memory. With a layout, each page is placed near the thread that will work on it. */
  ambit_status (*alloc)(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                        ambit__buffer **buf);
  void (*release)(ambit__device *dev, ambit__buffer *buf);
  ambit_status (*put)(ambit__queue *q, ambit__buffer *dst, const void *src, size_t bytes);
  ambit_status (*get)(ambit__queue *q, void *dst, ambit__buffer *src, size_t bytes);

  /* Where a buffer lies in the host's memory; what is done with it there is done at once. NULL: elsewhere. */
  unsigned char *(*address)(ambit__buffer *buf);

  /* Copies a box of own cells from or to a dense array in C order, components last. */
  ambit_status (*write_box)(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                            const void *src);
  ambit_status (*read_box)(ambit__queue *q, void *dst, ambit__store *src, const ambit__box *box);
  /* Gives all components of a box of own cells one value, of the store's type. */
  ambit_status (*fill_box)(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                           const void *value);

  /* Copies a box of own cells of src to the cells of dst that lie `shift` further (NULL: the same cells), in its
   * margins too. The stores have one type and number of components. NULL: by way of the host. */
  ambit_status (*copy_box)(ambit__queue *q, ambit__store *dst, ambit__store *src,
                           const ambit__box *box, const int64_t *shift);

  /* Fills the cells of `reach` that are not in `given`, axis by axis: across axis d, those that lie in reach along
   * the axes before d and in given along those after. They are copies of the cells the boundaries map them
   * to, which lie in given along d, or constants. Both boxes lie around the own cells, within the margins. What
   * reach has beyond given lies outside the grid, behind no face that is AMBIT_NONE or AMBIT_FIXED. With one
   * part, given is the grid. NULL: launches need no ghost cells, and the device can have one part only. */
  ambit_status (*ghosts)(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                         const int64_t *extents, const ambit__box *given, const ambit__box *reach);

  /* Moves that are done together, again and again; none of them writes what another reads or writes. The stores' buffers
   * are those of the time they are run; their layouts must not change. NULL: there is nothing to gain from it. */
  ambit_status (*batch_open)(ambit__device *dev, const ambit__move *moves, int n,
                             ambit__batch **batch);
  void (*batch_close)(ambit__batch *batch);
  ambit_status (*batch_run)(ambit__queue *q, ambit__batch *batch);

  /* Messages. A box, margins too, is packed from byte `at` on, dense, in C order, components last; `at` is a multiple of
   * the size of a value. What was packed can be read when an event recorded after has happened; what is unpacked
   * must stay until one has. Closed when nothing of it is under way. NULL: the device can have one part only. */
  ambit_status (*message_open)(ambit__device *dev, size_t bytes, ambit__message **m);
  void (*message_close)(ambit__device *dev, ambit__message *m);
  ambit_status (*pack)(ambit__queue *q, ambit__message *m, size_t at, ambit__store *src,
                       const ambit__box *box);
  ambit_status (*unpack)(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                         ambit__message *m, size_t at);

  /* Copies a message that another device of this backend has packed into one of q's device; both are direct and of one size.
   * The events of such devices are understood by each other's queues. NULL: by way of the host. */
  ambit_status (*pass)(ambit__queue *q, ambit__message *to, ambit__message *from);

  /* Events, which can be recorded again and again. One never recorded has happened. Those with a time cost more. NULL: the
   * device does its work at once. */
  ambit_status (*event_open)(ambit__device *dev, bool timed, ambit__event **e);
  void (*event_close)(ambit__event *e);
  ambit_status (*event_record)(ambit__event *e, ambit__queue *q);
  ambit_status (*event_await)(ambit__queue *q, ambit__event *e); /* q goes on when e has happened */
  ambit_status (*event_sync)(ambit__event *e);                   /* the host waits */
  bool (*event_done)(ambit__event *e);
  /* Seconds between two with a time that happened; less than 0 when unknown. NULL: always. */
  double (*event_seconds)(ambit__event *from, ambit__event *to);

  ambit_status (*build)(ambit__device *dev, const ambit__group *group, ambit__function **fn);
  void (*discard)(ambit__device *dev, ambit__function *fn);
  ambit_status (*launch)(ambit__queue *q, ambit__function *fn, const ambit__launch *launch);
  ambit_status (*wait)(ambit__queue *q);

  /* Checks that the host need not wait for. watch begins them, unless it says that this device cannot. check puts
   * one into the queue, behind the iteration of that number, which is 1 or more: if the condition holds there,
   * or the value is not finite, the run has ended, and all that is launched behind it in this queue, until
   * unwatch, changes nothing. report sends what the checks before it found to the host; verdict takes the oldest
   * report, if it is here, or with `wait` when it is. NULL, all five: the host looks at the value, which is
   * no loss where work is done at once. */
  ambit_status (*watch)(ambit__queue *q, const ambit__watch *w, bool *can);
  ambit_status (*check)(ambit__queue *q, int64_t iteration);
  ambit_status (*report)(ambit__queue *q);
  ambit_status (*verdict)(ambit__queue *q, bool wait, ambit__verdict *v);
  void (*unwatch)(ambit__queue *q);

  /* Recordings. What is handed to the queue after record is not done, but kept, until recorded: boxes, functions,
   * buffers and numbers as they were. replay hands it all over in one go. Between the two nothing may wait for the queue, nor
   * read or write host memory through it. NULL, all four: it would gain nothing. */
  ambit_status (*record)(ambit__queue *q);
  ambit_status (*recorded)(ambit__queue *q, ambit__recording **r);
  ambit_status (*replay)(ambit__queue *q, ambit__recording *r);
  void (*recording_close)(ambit__recording *r);

  /* Bytes per second that a copy moves, read and written ones together; measured on the first call. */
  double (*copy_bandwidth)(ambit__device *dev);
} ambit__backend;

/* The backend called `name` (length bytes); NULL and an error that names those there are. */
const ambit__backend *ambit__backend_find(ambit__errors *errors, const char *name, size_t length);
const ambit__backend *ambit__backend_at(int i); /* NULL past the end */

/* The tables themselves: ambit__backend_cpu and so on. */
#define AMBIT_BACKEND(name) extern const ambit__backend ambit__backend_##name;
#include "device/list.h"
#undef AMBIT_BACKEND

#endif
