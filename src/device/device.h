/* device.h - what a backend must provide. This is the whole contract.
 *
 * A backend is one constant table. Its functions are static in the backend's own files; the table
 * is the only symbol the rest of the library sees. Work is handed to a queue and done in order;
 * a backend may do it at once (ref, cpu) or later (GPUs): only wait, get and read_box promise that
 * it is done. A NULL entry means what the comment beside it says.
 */
#ifndef AMBIT_DEVICE_DEVICE_H
#define AMBIT_DEVICE_DEVICE_H

#include "base/settings.h"
#include "grid/boundary.h"
#include "grid/layout.h"
#include "plan/plan.h"

/* The common head of every backend's own structs. */
typedef struct ambit__device {
  const struct ambit__backend *backend;
  ambit__errors *errors;           /* of the context */
  const ambit__settings *settings; /* of the context */
} ambit__device;

typedef struct ambit__queue {
  ambit__device *device;
} ambit__queue;

typedef struct ambit__buffer {
  size_t bytes;
} ambit__buffer;

typedef struct ambit__function {
  char *plan; /* one line that tells how it runs, owned */
} ambit__function;

/* The values of one field on one part. Swapping two fields swaps their buffers. */
typedef struct ambit__store {
  ambit__layout layout;
  ambit__buffer *buffer;
} ambit__store;

/* What one parameter of a launch is bound to: a field, or a value in a small buffer. */
typedef struct ambit__argument {
  ambit__store *store;                 /* field; NULL otherwise */
  const ambit__boundaries *boundaries; /* field: what reads outside the grid give */
  ambit__buffer *value;                /* scalar or number: 8 bytes, of the parameter's type */
} ambit__argument;

typedef struct ambit__launch {
  ambit__box box;         /* cells to update, global; ndims 0: run once */
  const int64_t *extents; /* of the grid */
  int nargs;              /* by parameter of the rule */
  const ambit__argument *args;
  int64_t step; /* iteration number */
} ambit__launch;

typedef struct ambit__device_info {
  char name[128]; /* "Neoverse-V1, 2 cores" */
  int units;      /* cores or multiprocessors */
  size_t memory;  /* bytes */
} ambit__device_info;

typedef struct ambit__backend {
  const char *name;    /* "cpu": what the user writes in the option devices */
  const char *summary; /* one line for `ambit devices` */

  int (*count)(void); /* how many devices are here */
  ambit_status (*open)(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                       ambit__device **dev);
  void (*close)(ambit__device *dev);
  void (*info)(ambit__device *dev, ambit__device_info *info);
  ambit_status (*queue_open)(ambit__device *dev, ambit__queue **queue);
  void (*queue_close)(ambit__queue *queue);

  /* Zeroed memory. With a layout, each page is placed near the thread that will work on it. */
  ambit_status (*alloc)(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                        ambit__buffer **buf);
  void (*release)(ambit__device *dev, ambit__buffer *buf);
  ambit_status (*put)(ambit__queue *q, ambit__buffer *dst, const void *src, size_t bytes);
  ambit_status (*get)(ambit__queue *q, void *dst, ambit__buffer *src, size_t bytes);

  /* Copies a box (global indices, within the own cells) from or to a dense array in C order, components last. */
  ambit_status (*write_box)(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                            const void *src);
  ambit_status (*read_box)(ambit__queue *q, void *dst, ambit__store *src, const ambit__box *box);

  /* Copies a box between two stores of one type and number of components. NULL: by way of the host. */
  ambit_status (*copy_box)(ambit__queue *q, ambit__store *dst, ambit__store *src,
                           const ambit__box *box);

  /* Fills the ghost cells up to low[d] before and high[d] after the grid. NULL: launches need none. */
  ambit_status (*ghosts)(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                         const int64_t *extents, const int *low, const int *high);

  ambit_status (*build)(ambit__device *dev, const ambit__group *group, ambit__function **fn);
  void (*discard)(ambit__device *dev, ambit__function *fn);
  ambit_status (*launch)(ambit__queue *q, ambit__function *fn, const ambit__launch *launch);
  ambit_status (*wait)(ambit__queue *q);

  /* Bytes per second that a copy moves, read and written ones together; measured on the first call. */
  double (*copy_bandwidth)(ambit__device *dev);
} ambit__backend;

/* The backend called `name` (length bytes); NULL and an error that names those there are. */
const ambit__backend *ambit__backend_find(ambit__errors *errors, const char *name, size_t length);
const ambit__backend *ambit__backend_at(int i); /* NULL past the end */

#endif
