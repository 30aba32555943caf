/* SPDX-License-Identifier: BSD-3-Clause */
/* head.h - the calls that steps are made of, in every program that `ambit port` writes. They use
 * the public calls of Ambit alone; the definitions stand at the end of the program (arrays.c,
 * queue.c, orders.c, run.c).
 *
 *   port_begin(&rule);                          a step: the rule for one cell, and its parameters
 *   port_cells(axis, lo, hi);                   where: lo <= index < hi along each axis
 *   port_array(u, extents, strides, ...);       an argument per array, in the order of the rule
 *   port_neighbours(0, axis, north, ...);       after an array: a table that its subscripts use
 *   port_value(x);                              an argument per number
 *   if (port_go()) ... else the serial nest     done, or queued; or it cannot be
 *
 * A nest may be several steps; port_go does all of them or none.
 *
 * An array of the program is a field of Ambit from its first step on. It is copied to the device
 * when a step needs it, and back when host code asks for it: port_reads and port_writes stand
 * before such code. Steps are queued; a sequence that repeats becomes one program that runs many
 * times.
 */
#include <ambit.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#  define PORT_UNUSED __attribute__((unused))
#else
#  define PORT_UNUSED
#endif

#if !defined(PORT_API) /* of several files, one has the definitions */
#  define PORT_API static
#endif

enum { PORT_SLOTS = AMBIT_MAX_PARAMS, PORT_AXES = AMBIT_MAX_DIMS };

typedef enum port_kind {
  PORT_READ = 1, /* an array that is read */
  PORT_WRITE,    /* an array that is written, and perhaps read at the cell itself */
  PORT_UPDATE,   /* an array that is read at neighbours, and written through the next parameter */
  PORT_SHADOW,   /* the new values of the PORT_UPDATE before it; takes no argument */
  PORT_VALUE,    /* a number */
  PORT_SUM,      /* reductions; they take no argument */
  PORT_MIN,
  PORT_MAX,
  PORT_TERM,   /* the terms of a sum that is taken in the order of the source; takes no argument */
  PORT_TABLE,  /* numbers that cells look up */
  PORT_CARRIED /* of a sweep: what the cell before left; takes no argument */
} port_kind;

typedef struct port_slot {
  port_kind kind;
  ambit_type type;
  const char *name;                      /* arrays: in the program; NULL: none */
  short low[PORT_AXES], high[PORT_AXES]; /* arrays: the offsets that are read, or 0 */
  unsigned periodic, clamp;              /* sets of axes, a bit each: reads may leave the grid */
  unsigned loose;                        /* such reads are not used: any grid will do */
  int fresh;                             /* PORT_WRITE: each cell is set, whatever it held */
  int first;      /* PORT_READ: of a cell, before it is written: the array may be the written one */
  int copies;     /* ... to the value in slot copies - 1, and the step does no more; 0: else */
  int of, number; /* PORT_CARRIED: the array in slot of - 1, so many cells before; 0: a variable */
} port_slot;

typedef struct port_rule {
  const char *place;    /* "file.c:12" */
  const char *text;     /* kernel language */
  const char *in_place; /* the same without PORT_SHADOW, for cells of one colour; NULL: none */
  int axes, nslots;
  unsigned sweep; /* the face where lines begin whose cells run in order; 0: none */
  port_slot slots[PORT_SLOTS];
  ambit_kernel *kernel;             /* made when the rule is first used */
  ambit_kernel *coloured;           /* ... of the text in place */
  int told;                         /* that it runs serially */
  int late;                         /* its results stay on the device until the host reads them */
  double results[PORT_SLOTS];       /* of reductions, of the last step */
  ambit_scalar *latest[PORT_SLOTS]; /* late ones: where that has them; NULL: in results */
  void *terms[PORT_SLOTS];          /* of sums in the order of the source */
  ambit_field *term_fields[PORT_SLOTS]; /* ... late ones, of the last step */
  int regrets;                          /* copies that were put off, and had to be made */
  int distance[8]; /* of tables of neighbours: PORT_0, PORT_1 ... in the text */
} port_rule;

/* A statement of the host that reads elements of arrays, and may be done later. */
typedef struct port_site {
  void (*give)(void *to, const double *x); /* does it, from these values */
  char op;             /* '=', or '+': what it adds to -0 it adds to any value; 0: neither */
  ambit_type type;     /* ... of what it writes */
  const char *lo, *hi; /* what it writes, as often as it was put off; lo NULL: it was not */
  int early;           /* how often that gained nothing */
  struct port_site *next;
} port_site;

/* Memory of an array with one line in the program, and one for each line of a nest in a step. */
typedef struct port_lines {
  char *p; /* NULL: there is none yet */
  int64_t extent[PORT_AXES];
} port_lines;

enum { PORT_INPUTS = 16 };

/* A value of such a statement. */
typedef struct port_input {
  const volatile void *p; /* an element; NULL: a number */
  ambit_type type;        /* of the element */
  double x;               /* the number */
} port_input;

/* Sources and probes have been in too many places: arrays go to the host for them. */
PORT_API int port_wanders PORT_UNUSED;

PORT_API void port_open(int *argc, char ***argv) PORT_UNUSED;
PORT_API void port_begin(port_rule *rule) PORT_UNUSED;
PORT_API void port_cells(int axis, int64_t lo, int64_t hi) PORT_UNUSED;
PORT_API void port_array(const volatile void *base, const int64_t *extents, const int64_t *strides,
                         const volatile void *object, size_t bytes) PORT_UNUSED;
PORT_API const void *port_line(port_lines *l) PORT_UNUSED;
PORT_API void port_rows(const void *table, int levels, int64_t offset, const int64_t *extents,
                        const int64_t *strides) PORT_UNUSED;
PORT_API void port_neighbours(int which, int axis, const void *table, size_t bytes,
                              int64_t n) PORT_UNUSED;
PORT_API void port_value(double x) PORT_UNUSED;
PORT_API void port_table(const volatile void *base, int which, int64_t rows, int64_t row_size,
                         int64_t columns, int64_t size) PORT_UNUSED;
PORT_API void port_require(int holds, const char *what) PORT_UNUSED;
PORT_API void port_apart(const volatile void *p) PORT_UNUSED;
PORT_API void port_ahead(const port_rule *rule, int slot, double tol, int strict,
                         int64_t most) PORT_UNUSED;
PORT_API int port_go(void) PORT_UNUSED;
PORT_API void port_go_beside(void) PORT_UNUSED;
PORT_API void port_compare(void) PORT_UNUSED;
PORT_API double port_result(const port_rule *rule, int slot) PORT_UNUSED;
PORT_API double port_larger(double x, const port_rule *rule, int slot) PORT_UNUSED;
PORT_API double port_smaller(double x, const port_rule *rule, int slot) PORT_UNUSED;
PORT_API double port_ordered_sum(double sum, ambit_type type, port_rule *rule, int slot,
                                 const int *order, int nloops) PORT_UNUSED;
PORT_API void port_later(void *number, ambit_type type, port_rule *rule, int slot) PORT_UNUSED;
PORT_API void port_later_ordered(void *number, ambit_type type, port_rule *rule, int slot,
                                 const int *order, int nloops) PORT_UNUSED;
PORT_API void port_know(const void *number) PORT_UNUSED;
PORT_API void port_set(const void *number) PORT_UNUSED;
PORT_API void port_leave_number(void *guard) PORT_UNUSED;
PORT_API void port_probe(port_site *s, void *to, size_t bytes, int n,
                         const port_input *in) PORT_UNUSED;
PORT_API void port_reads(const volatile void *p, size_t bytes) PORT_UNUSED;
PORT_API void port_writes(const volatile void *p, size_t bytes) PORT_UNUSED;
PORT_API void port_get(const volatile void *p, size_t bytes) PORT_UNUSED;
PORT_API void port_put(const volatile void *p, size_t bytes) PORT_UNUSED;
PORT_API int port_point(volatile void *p, size_t bytes, int op, ambit_type type,
                        double x) PORT_UNUSED;
PORT_API void port_reads_rows(const volatile void *table, size_t bytes, int levels) PORT_UNUSED;
PORT_API void port_writes_rows(const volatile void *table, size_t bytes, int levels) PORT_UNUSED;
PORT_API void port_reads_all(void) PORT_UNUSED;
PORT_API void port_writes_all(void) PORT_UNUSED;
PORT_API void port_wait(void) PORT_UNUSED;
PORT_API void port_forget(const volatile void *p, size_t bytes) PORT_UNUSED;
PORT_API void port_leave_scope(void *guard) PORT_UNUSED;
/* A local array that cells may look numbers up in, in a function that gets a pointer to it. */
PORT_API void port_has_length(const volatile void *p, size_t bytes) PORT_UNUSED;
PORT_API int port_first(void) PORT_UNUSED;
PORT_API int port_enter(void) PORT_UNUSED;
PORT_API void port_leave(int *frame) PORT_UNUSED;

/* Memory of the program: its extent is known, and it is forgotten when it is freed. */
PORT_API void *port_malloc(size_t bytes) PORT_UNUSED;
PORT_API void *port_calloc(size_t n, size_t bytes) PORT_UNUSED;
PORT_API void *port_realloc(void *p, size_t bytes) PORT_UNUSED;
PORT_API void *port_aligned_alloc(size_t align, size_t bytes) PORT_UNUSED;
PORT_API int port_posix_memalign(void **p, size_t align, size_t bytes) PORT_UNUSED;
PORT_API void port_free(void *p) PORT_UNUSED;
PORT_API FILE *port_fopen(const char *path, const char *mode) PORT_UNUSED;
/* A copy of a whole array is a step, where its values are on the device. */
PORT_API void *port_memcpy(void *to, const void *from, size_t bytes) PORT_UNUSED;

/* A local array is forgotten when its block is left. */
typedef struct port_guard {
  const volatile void *p;
  size_t bytes;
} port_guard;
#if defined(__GNUC__)
#  define PORT_LOCAL(name, array)                                                                  \
    __attribute__((cleanup(port_leave_scope))) port_guard name = {(array), sizeof(array)};         \
    (void)name
/* A number that results go to later is forgotten, too. */
#  define PORT_NUMBER(name, number)                                                                \
    __attribute__((cleanup(port_leave_number))) void *name = &(number);                            \
    port_set(name)
/* A function that code which was not translated may call: it finds all values in their arrays. */
#  define PORT_CALLED                                                                              \
    __attribute__((cleanup(port_leave))) int port_frame = port_enter();                            \
    (void)port_frame
#endif
