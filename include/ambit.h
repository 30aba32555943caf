/* ambit.h - iterative stencils, written once in C, on every core you have.
 *
 * A user of Ambit writes the rule for one cell; the library runs it on every cell of a grid, again
 * and again, and derives the rest: boundaries, reductions, convergence, threads, vectors.
 *
 *   context  ambit          devices, options, the first error
 *   grid     ambit_grid     an index space of 1 to AMBIT_MAX_DIMS dimensions
 *   field    ambit_field    values on a grid, one or more components per cell
 *   scalar   ambit_scalar   one value that kernels read, and reductions write
 *   kernel   ambit_kernel   the rule for one cell
 *   program  ambit_program  steps, run many times
 *
 * Errors. Constructors return NULL and calls return a status when they fail. The first error stays
 * in the context with its whole story (ambit_error_text), and every later call on that context
 * returns at once; so a program may check once, at the end: ambit_close returns the first error.
 * Every call accepts NULL handles (and fails). Unless ambit_on_error replaces it, the error handler
 * prints the story to standard error. The library never exits.
 *
 * Ownership. Grids, fields, scalars, kernels and programs belong to their context, which frees them
 * in ambit_close. A destroy function frees one earlier; destroying NULL does nothing.
 *
 * Threads. One context belongs to one thread at a time; different contexts are independent.
 *
 * The kernel language is described in docs/language.md, boundaries in docs/boundaries.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_H
#define AMBIT_H

#include <stddef.h>
#include <stdint.h>

#define AMBIT_VERSION_MAJOR 0
#define AMBIT_VERSION_MINOR 1
#define AMBIT_VERSION_PATCH 0

#define AMBIT_MAX_DIMS   6  /* axes of a grid */
#define AMBIT_MAX_PARAMS 32 /* parameters of a kernel */

#if defined(_WIN32)
#  define AMBIT_API
#elif defined(__GNUC__)
#  define AMBIT_API __attribute__((visibility("default")))
#else
#  define AMBIT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ambit ambit;
typedef struct ambit_grid ambit_grid;
typedef struct ambit_field ambit_field;
typedef struct ambit_scalar ambit_scalar;
typedef struct ambit_kernel ambit_kernel;
typedef struct ambit_program ambit_program;

/* ---- status ------------------------------------------------------------------------------- */

/* One line per code: the enum, the names and the texts are all made from this list. */
#define AMBIT_STATUS_MAP(X)                                                                        \
  X(OK, 0, "success")                                                                              \
  X(ENOMEM, 1, "not enough memory")                                                                \
  X(EINVAL, 2, "an argument is not what it must be")                                               \
  X(EKERNEL, 3, "the kernel text has an error")                                                    \
  X(EPROGRAM, 4, "the program cannot be run as it stands")                                         \
  X(EUNSUPPORTED, 5, "this device cannot do that")                                                 \
  X(ENODEVICE, 6, "no such device here")                                                           \
  X(ECOMPILE, 7, "the generated kernel did not compile")                                           \
  X(EDEVICE, 8, "the device reported an error")                                                    \
  X(EIO, 9, "a file could not be read or written")                                                 \
  X(EOPTION, 10, "an option is unknown or has a wrong value")                                      \
  X(EPROCESS, 11, "the processes cannot work together")

typedef enum ambit_status {
#define X(name, value, text) AMBIT_##name = value,
  AMBIT_STATUS_MAP(X)
#undef X
} ambit_status;

/* "EINVAL" and "an argument is not what it must be"; never NULL, also for unknown codes. */
AMBIT_API const char *ambit_status_name(ambit_status s);
AMBIT_API const char *ambit_status_text(ambit_status s);

/* ---- types -------------------------------------------------------------------------------- */

/* The value types of fields, scalars and kernel variables: one line per type. */
#define AMBIT_TYPE_MAP(X)                                                                          \
  X(F32, 0, float, "float")                                                                        \
  X(F64, 1, double, "double")                                                                      \
  X(I32, 2, int32_t, "int")                                                                        \
  X(U8, 3, uint8_t, "unsigned char")                                                               \
  X(I16, 4, int16_t, "short")                                                                      \
  X(I64, 5, int64_t, "long")

typedef enum ambit_type {
#define X(name, value, ctype, text) AMBIT_##name = value,
  AMBIT_TYPE_MAP(X)
#undef X
} ambit_type;

AMBIT_API size_t ambit_type_size(ambit_type t);      /* bytes of one value; 0 if t is no type */
AMBIT_API const char *ambit_type_name(ambit_type t); /* as the kernel language writes it */

/* ---- context ------------------------------------------------------------------------------ */

/* Opens a context: reads AMBIT_* from the environment and takes --ambit-* out of the command line.
 * Both pointers may be NULL. Returns NULL only when out of memory: a context that could not be
 * opened is returned failed, so that its story can be read. The devices are opened with the first
 * grid or scalar.
 *
 * Processes. A program started by mpirun, srun and the like needs no change: its processes form one context, each grid
 * is cut into parts for all of them, and each field has one part of its values in each process. All processes make the same
 * calls in the same order, with the same arguments; what differs is found, and what fails on one fails on all. Values that
 * are read are the same on all of them. */
AMBIT_API ambit *ambit_open(int *argc, char ***argv);

/* The same for the processes of a communicator: `communicator` points to an MPI_Comm (this header needs no mpi.h). The program
 * has initialised MPI, and finalises it after ambit_close. */
AMBIT_API ambit *ambit_open_mpi(int *argc, char ***argv, const void *communicator);

/* Which process this is, from 0, and how many there are: 0 and 1 for a program started by hand. */
AMBIT_API int ambit_process(const ambit *a);
AMBIT_API int ambit_processes(const ambit *a);

/* Frees the context and all that belongs to it; returns the first error it had, or AMBIT_OK. All processes call it. */
AMBIT_API ambit_status ambit_close(ambit *a);

/* The first error of the context and its story; AMBIT_OK and "" if all went well. The text belongs
 * to the context. After ambit_error_clear the context and its objects can be used again. */
AMBIT_API ambit_status ambit_error(const ambit *a);
AMBIT_API const char *ambit_error_text(const ambit *a);
AMBIT_API void ambit_error_clear(ambit *a);

/* Replaces the error handler; NULL silences it. Called once per error, at the moment it happens, on the process
 * where it happens. The one there is at first prints on standard error, and what several processes have, once. */
typedef void (*ambit_error_fn)(ambit_status status, const char *story, void *user);
AMBIT_API void ambit_on_error(ambit *a, ambit_error_fn handler, void *user);

/* Options by name; the same names in the environment (AMBIT_NAME) and on the command line
 * (--ambit-name=value); docs/options.md lists them. cache, cc, devices and threads must be set
 * before the first grid or scalar is created. The returned text belongs to the context; NULL: no
 * such option. */
AMBIT_API ambit_status ambit_option_set(ambit *a, const char *name, const char *value);
AMBIT_API const char *ambit_option_get(const ambit *a, const char *name);

/* ---- grids -------------------------------------------------------------------------------- */

/* An index space of extents[0] x ... x extents[ndims-1] cells; the last axis is contiguous. */
AMBIT_API ambit_grid *ambit_grid_create(ambit *a, int ndims, const int64_t *extents);
AMBIT_API void ambit_grid_destroy(ambit_grid *g); /* its fields and programs too */
AMBIT_API int ambit_grid_ndims(const ambit_grid *g);
AMBIT_API int64_t ambit_grid_extent(const ambit_grid *g, int axis);

/* ---- fields ------------------------------------------------------------------------------- */

/* How the components of a cell lie in memory. Kernels cannot tell. */
typedef enum ambit_order {
  AMBIT_SOA = 0, /* one array per component: right for most, and the default */
  AMBIT_AOS = 1  /* the components of a cell beside each other */
} ambit_order;

/* A field of one value per cell, all zero (NaN with the option nan); the name appears in messages and files. */
AMBIT_API ambit_field *ambit_field_create(ambit_grid *g, const char *name, ambit_type type);
/* The same with several components per cell: `float *f[9]` in a kernel. */
AMBIT_API ambit_field *ambit_field_create_vector(ambit_grid *g, const char *name, ambit_type type,
                                                 int components, ambit_order order);
AMBIT_API void ambit_field_destroy(ambit_field *f);
AMBIT_API const char *ambit_field_name(const ambit_field *f);
AMBIT_API ambit_type ambit_field_type(const ambit_field *f);
AMBIT_API int ambit_field_components(const ambit_field *f);

/* What a read outside the grid gives (docs/boundaries.md has pictures). */
typedef enum ambit_boundary {
  AMBIT_NONE = 0,      /* such a read is refused: the default */
  AMBIT_CONSTANT = 1,  /* a value */
  AMBIT_PERIODIC = 2,  /* the grid repeats:                  c d | a b c d | a b */
  AMBIT_REFLECT = 3,   /* mirrored about the edge cell:      c b | a b c d | c b */
  AMBIT_SYMMETRIC = 4, /* mirrored about the edge face:      b a | a b c d | d c */
  AMBIT_CLAMP = 5,     /* the nearest cell:                  a a | a b c d | d d */
  AMBIT_FIXED = 6      /* no such read: a cell that would read there is never updated */
} ambit_boundary;

/* Sets of faces, to be or'ed. Axis 0 is the slowest; side 0 is low, side 1 is high. */
#define AMBIT_FACE(axis, side) (1u << (2 * (axis) + (side)))
#define AMBIT_LOW(axis)        AMBIT_FACE(axis, 0)
#define AMBIT_HIGH(axis)       AMBIT_FACE(axis, 1)
#define AMBIT_AXIS(axis)       (AMBIT_LOW(axis) | AMBIT_HIGH(axis))
#define AMBIT_ALL_FACES        (~0u)

/* Declares the boundary of some faces; `value` counts for AMBIT_CONSTANT only. An axis is periodic
 * on both its faces. May be called again between runs. */
AMBIT_API ambit_status ambit_field_boundary(ambit_field *f, unsigned faces, ambit_boundary kind,
                                            double value);

/* Gives every cell the value of a function of its index, converted to the field's type. The
 * function is called once per cell and component, in the calling thread. */
typedef double (*ambit_fill_fn)(const int64_t *index, int component, void *user);
AMBIT_API ambit_status ambit_field_fill(ambit_field *f, ambit_fill_fn fn, void *user);
AMBIT_API ambit_status ambit_field_fill_value(ambit_field *f, double value);

/* Copies the cells lo <= index < hi from or to a dense array of the field's type, in C order; with
 * several components, these are its last index. lo and hi may be NULL: the ends of the grid. */
AMBIT_API ambit_status ambit_field_write(ambit_field *f, const int64_t *lo, const int64_t *hi,
                                         const void *values);
AMBIT_API ambit_status ambit_field_read(ambit_field *f, const int64_t *lo, const int64_t *hi,
                                        void *values);

/* Saves the field as the ending of the name says:
 *   .npy   exactly, for NumPy, with any number of dimensions
 *   .png   as a picture of a 1-D or 2-D field, or of the middle plane along axis 0 of a 3-D one;
 *          component 0
 * The file appears under its name only when it is whole. ambit_field_load reads .npy. */
AMBIT_API ambit_status ambit_field_save(ambit_field *f, const char *path);
AMBIT_API ambit_status ambit_field_load(ambit_field *f, const char *path);

/* ---- scalars ------------------------------------------------------------------------------ */

/* One value that lives where the fields live. Kernels read it through a plain parameter; a
 * reduction, or a kernel on scalars, writes it. 0 at first. The name appears in messages. */
AMBIT_API ambit_scalar *ambit_scalar_create(ambit *a, const char *name, ambit_type type);
AMBIT_API void ambit_scalar_destroy(ambit_scalar *s);
AMBIT_API ambit_status ambit_scalar_set(ambit_scalar *s, double value);
AMBIT_API double ambit_scalar_get(ambit_scalar *s); /* NaN on failure */

/* ---- kernels ------------------------------------------------------------------------------ */

/* Turns C text into a string that knows its file and line, for messages. */
#define AMBIT__STR2(x)    #x
#define AMBIT__STR(x)     AMBIT__STR2(x)
#define AMBIT_SOURCE(...) "#line " AMBIT__STR(__LINE__) " \"" __FILE__ "\"\n" #__VA_ARGS__

/* Parses and checks one function in the kernel language, from text or from a file. A mistake is an
 * AMBIT_EKERNEL whose story has file, line, caret and advice. */
AMBIT_API ambit_kernel *ambit_kernel_create(ambit *a, const char *text);
AMBIT_API ambit_kernel *ambit_kernel_load(ambit *a, const char *path);
AMBIT_API void ambit_kernel_destroy(ambit_kernel *k);
AMBIT_API const char *ambit_kernel_name(const ambit_kernel *k);

/* A weighted sum of neighbours: new = (sum over offsets o of weight[o] * old[o]) / divisor.
 * `weights` is dense, in C order, over the offsets -low[d] .. high[d]; zeros are not read. */
typedef struct ambit_weights {
  int ndims;                /* axes, 1 to AMBIT_MAX_DIMS */
  int low[AMBIT_MAX_DIMS];  /* how far back along each axis; not negative */
  int high[AMBIT_MAX_DIMS]; /* how far forward */
  const double *weights;    /* product over d of (low[d] + high[d] + 1) values */
  double divisor;           /* 0 counts as 1 */
} ambit_weights;

/* A kernel `name(const T *u, T *v)` from weights, or from the name of a catalogue entry ("2d4",
 * "star3d2", "box2d1s": docs/catalogue.md). */
AMBIT_API ambit_kernel *ambit_kernel_from_weights(ambit *a, const char *name, ambit_type type,
                                                  const ambit_weights *weights);
AMBIT_API ambit_kernel *ambit_kernel_from_catalogue(ambit *a, const char *name, ambit_type type);

/* ---- compiled kernels --------------------------------------------------------------------- */

/* What a compiled CPU kernel is called with: update the cells lo <= i < hi, once. Indices are local
 * to the part of the grid that is being worked on. Cell i of field p, component c, is the element
 *
 *     origin[p] + i[0] * stride[p][0] + ... + i[ndims-1] * stride[p][ndims-1] + c * component[p]
 *
 * A field's last stride is 1, unless it is an AMBIT_AOS field. What lies around the part is in
 * memory too: ghost cells hold what the boundary says. Parameters never overlap, except that two
 * read-only ones may be the same field. */
typedef struct ambit_call {
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS]; /* cells to update */
  int64_t offset[AMBIT_MAX_DIMS];                 /* global index of local index 0 */
  int64_t extent[AMBIT_MAX_DIMS];                 /* cells of the whole grid */
  int64_t step;                                   /* iteration number, for step() */
  void *origin[AMBIT_MAX_PARAMS]; /* field: cell 0. scalar: its value. reduction: see below */
  int64_t stride[AMBIT_MAX_PARAMS][AMBIT_MAX_DIMS]; /* elements */
  int64_t component[AMBIT_MAX_PARAMS];              /* elements */
} ambit_call;

/* For a plain parameter origin[p] points at the value, of the parameter's type. For a reduction it
 * points at a double (float and double parameters) or an int64_t (the others) that holds what was
 * reduced so far; the kernel folds its cells into it. */
typedef void (*ambit_cpu_fn)(const ambit_call *call);

/* Puts a compiled function in the place of the one Ambit would generate for this kernel: written by
 * hand, or by `ambit gen` for a machine without a compiler. The text is parsed, so layout and
 * comments do not matter. Holds in all contexts until the process ends; the function must stay
 * valid. It is used in strict mode too: what `ambit gen --strict` writes keeps its promise. */
AMBIT_API ambit_status ambit_register_cpu(const char *kernel_text, ambit_cpu_fn fn);

/* The same for GPUs, as source text: what `ambit gen --cuda` or `--opencl` wrote, as it is or
 * edited, or a kernel written by hand. Kernel text is never handed to a compiler, only code that
 * Ambit writes from it; this text is, because it was registered as code: register none that you
 * would not run. It is compiled where the kernel is first used on a device of the language
 * (AMBIT_ECOMPILE with the compiler's words), and used in strict mode too.
 *
 * A comment in the source tells how it is launched over a box of n0 x n1 x ... cells: name of the
 * kernel, dimensions, threads of a block, blocks along x, y, z; quotients are rounded up.
 *
 *     // ambit-launch: my_heat 2d threads 32x8 blocks n1 / 32, n0 / 8
 *
 * Its arguments are: for each field its memory and, as 64-bit integers, the element in there that
 * is cell 0, 0, ..., the stride of each axis, the distance of components, all in elements; for each
 * plain parameter a pointer to its value; then, all as 64-bit integers and for each axis, lo and hi
 * (the cells to update), offset and extent, which are those of ambit_call; and the step. Element
 * and cells are those of ambit_call, too. A kernel that reduces has 8 bytes per block to leave
 * something in, where a field would have its memory; at most 65536 blocks ("at most 1024" at the end
 * of the line), which take up by themselves what would be left; and a second kernel, NAME_fold, that
 * is launched next, as one block of 128 threads: for each reduction those bytes and a pointer to the
 * scalar, which it sets; then, as 64-bit integers, how many blocks there were, and 1 if what the
 * scalar holds already is to be folded in too, else 0. docs/gpu-kernels.md has a complete example. */
typedef enum ambit_language { AMBIT_CUDA = 1, AMBIT_OPENCL = 2 } ambit_language;
AMBIT_API ambit_status ambit_register_source(const char *kernel_text, ambit_language language,
                                             const char *source);

/* ---- programs ----------------------------------------------------------------------------- */

/* A program is a list of steps, appended by the calls below, and done in this order in every
 * iteration. Steps may be appended between runs. */
AMBIT_API ambit_program *ambit_program_create(ambit_grid *g);
AMBIT_API void ambit_program_destroy(ambit_program *p);

/* One argument of a kernel. */
typedef struct ambit_arg {
  enum { AMBIT_ARG_FIELD, AMBIT_ARG_SCALAR, AMBIT_ARG_NUMBER } kind;
  ambit_field *field;
  ambit_scalar *scalar;
  double number;
} ambit_arg;

AMBIT_API ambit_arg ambit_arg_field(const ambit_field *f);
AMBIT_API ambit_arg ambit_arg_scalar(const ambit_scalar *s);
AMBIT_API ambit_arg ambit_arg_number(double x);

/* Appends "run the kernel": on every cell, on the box lo <= index < hi, or on the outermost layer
 * of cells at some faces. Arguments stand in the order of the kernel's parameters: a field for a
 * pointer, a scalar for a reduction, a number or a scalar for a plain parameter. A kernel that is
 * given no field and does not reduce runs once per iteration, on scalars; pointers take scalars
 * there.
 *
 * Programs are written with the short forms at the end of this file:
 *
 *     ambit_apply(p, kernel, u, v, 0.2, change);
 *     ambit_apply_box(p, lo, hi, kernel, u, v);
 *     ambit_apply_faces(p, AMBIT_LOW(0) | AMBIT_HIGH(0), kernel, u); */
AMBIT_API ambit_status ambit_apply_args(ambit_program *p, const ambit_kernel *k, int nargs,
                                        const ambit_arg *args);
AMBIT_API ambit_status ambit_apply_box_args(ambit_program *p, const int64_t *lo, const int64_t *hi,
                                            const ambit_kernel *k, int nargs,
                                            const ambit_arg *args);
AMBIT_API ambit_status ambit_apply_faces_args(ambit_program *p, unsigned faces,
                                              const ambit_kernel *k, int nargs,
                                              const ambit_arg *args);

/* Appends an exchange of values. Nothing is copied; names and boundaries stay with their fields. A
 * field that was never given values, and whose values go to one that was, starts as a copy of that
 * one: so cells at fixed faces keep what they were given, without filling both. */
AMBIT_API ambit_status ambit_swap(ambit_program *p, ambit_field *a, ambit_field *b);
/* Appends a rotation: each field takes the values of the next one, the last those of the first. For
 * rules of second order in time: rotating {past, now, next} makes now the past and next the now. */
AMBIT_API ambit_status ambit_rotate(ambit_program *p, int n, ambit_field *const *fields);

/* Runs the steps of the program `iterations` times. */
AMBIT_API ambit_status ambit_run(ambit_program *p, int64_t iterations);

/* Runs until the scalar meets the condition, or until `most` iterations are done; returns AMBIT_OK
 * in both cases, and ambit_program_converged tells which it was. The scalar is looked at every
 * ambit_check_every iterations, 1 unless told. A scalar that is not finite is an error. */
typedef enum ambit_condition {
  AMBIT_BELOW = 0, /* scalar <  value */
  AMBIT_ABOVE = 1, /* scalar >  value */
  AMBIT_EQUAL = 2  /* scalar == value */
} ambit_condition;
AMBIT_API ambit_status ambit_run_until(ambit_program *p, ambit_scalar *s, ambit_condition when,
                                       double value, int64_t most);
AMBIT_API ambit_status ambit_check_every(ambit_program *p, int64_t iterations);
AMBIT_API int ambit_program_converged(const ambit_program *p);
AMBIT_API int64_t ambit_program_iterations(const ambit_program *p); /* since it was created */

/* Calls back after every n iterations, in the thread that runs: fields, scalars and boundaries may
 * be read and changed there. Returning non-zero ends the run, which still returns AMBIT_OK. One
 * callback per program; NULL takes it away. */
typedef int (*ambit_callback_fn)(ambit_program *p, int64_t iteration, void *user);
AMBIT_API ambit_status ambit_every(ambit_program *p, int64_t n, ambit_callback_fn fn, void *user);

/* What the runs of a program took so far. */
typedef struct ambit_stats {
  int64_t iterations;    /* iterations done */
  double seconds;        /* time spent running them, callbacks left out */
  double cells;          /* cell updates done */
  double bytes;          /* moved, had the cache been perfect: every value once per step */
  double flops;          /* arithmetic operations done */
  double copy_bandwidth; /* bytes/s this machine copies: measured now if asked for, else 0 */
} ambit_stats;
AMBIT_API ambit_status ambit_program_stats(ambit_program *p, int measure_copy, ambit_stats *stats);
/* Prints them on standard error: cells/s, GB/s, their share of the copy bandwidth; and the plan of
 * each step. */
AMBIT_API ambit_status ambit_program_report(ambit_program *p);

/* ---- one call ----------------------------------------------------------------------------- */

/* The skeleton: `iterations` of a stencil on a grid of these sizes. The rule is `kernel`, a kernel
 * (const T *u, T *v), or, if that is NULL, `weights`, in float. `init` gives the first values, 0 if
 * NULL; cells whose neighbourhood leaves the grid keep them (fixed faces). `output`, if not NULL,
 * is called with the result, which is gone when it returns; so is all else. */
typedef ambit_status (*ambit_output_fn)(ambit_field *result, void *user);
AMBIT_API ambit_status ambit_stencil(ambit *a, int ndims, const int64_t *sizes,
                                     const ambit_weights *weights, int64_t iterations,
                                     const ambit_kernel *kernel, ambit_fill_fn init,
                                     ambit_output_fn output, void *user);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- ambit_apply(program, kernel, arguments...) ------------------------------------------- */

/* Each argument may be an ambit_field *, an ambit_scalar * or a number; the compiler picks. C99
 * compilers without _Generic call ambit_apply_args with an array of ambit_arg instead. */
#if defined(__cplusplus)
inline ambit_arg ambit_arg_of(const ambit_field *f)
{
  return ambit_arg_field(f);
}
inline ambit_arg ambit_arg_of(const ambit_scalar *s)
{
  return ambit_arg_scalar(s);
}
inline ambit_arg ambit_arg_of(double x)
{
  return ambit_arg_number(x);
}
template <typename... Args>
ambit_status ambit_apply(ambit_program *p, const ambit_kernel *k, Args... args)
{
  const ambit_arg list[] = {ambit_arg_of(args)...};
  return ambit_apply_args(p, k, static_cast<int>(sizeof...(args)), list);
}
template <typename... Args>
ambit_status ambit_apply_box(ambit_program *p, const int64_t *lo, const int64_t *hi,
                             const ambit_kernel *k, Args... args)
{
  const ambit_arg list[] = {ambit_arg_of(args)...};
  return ambit_apply_box_args(p, lo, hi, k, static_cast<int>(sizeof...(args)), list);
}
template <typename... Args>
ambit_status ambit_apply_faces(ambit_program *p, unsigned faces, const ambit_kernel *k,
                               Args... args)
{
  const ambit_arg list[] = {ambit_arg_of(args)...};
  return ambit_apply_faces_args(p, faces, k, static_cast<int>(sizeof...(args)), list);
}
#elif defined(__GNUC__) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L)
#  define AMBIT__ARG(x)                                                                            \
    __extension__ _Generic((x),                                                                    \
        ambit_field *: ambit_arg_field,                                                            \
        const ambit_field *: ambit_arg_field,                                                      \
        ambit_scalar *: ambit_arg_scalar,                                                          \
        const ambit_scalar *: ambit_arg_scalar,                                                    \
        default: ambit_arg_number)(x)
#  define AMBIT__ARGS1(x)       AMBIT__ARG(x)
#  define AMBIT__ARGS2(x, ...)  AMBIT__ARG(x), AMBIT__ARGS1(__VA_ARGS__)
#  define AMBIT__ARGS3(x, ...)  AMBIT__ARG(x), AMBIT__ARGS2(__VA_ARGS__)
#  define AMBIT__ARGS4(x, ...)  AMBIT__ARG(x), AMBIT__ARGS3(__VA_ARGS__)
#  define AMBIT__ARGS5(x, ...)  AMBIT__ARG(x), AMBIT__ARGS4(__VA_ARGS__)
#  define AMBIT__ARGS6(x, ...)  AMBIT__ARG(x), AMBIT__ARGS5(__VA_ARGS__)
#  define AMBIT__ARGS7(x, ...)  AMBIT__ARG(x), AMBIT__ARGS6(__VA_ARGS__)
#  define AMBIT__ARGS8(x, ...)  AMBIT__ARG(x), AMBIT__ARGS7(__VA_ARGS__)
#  define AMBIT__ARGS9(x, ...)  AMBIT__ARG(x), AMBIT__ARGS8(__VA_ARGS__)
#  define AMBIT__ARGS10(x, ...) AMBIT__ARG(x), AMBIT__ARGS9(__VA_ARGS__)
#  define AMBIT__ARGS11(x, ...) AMBIT__ARG(x), AMBIT__ARGS10(__VA_ARGS__)
#  define AMBIT__ARGS12(x, ...) AMBIT__ARG(x), AMBIT__ARGS11(__VA_ARGS__)
#  define AMBIT__ARGS13(x, ...) AMBIT__ARG(x), AMBIT__ARGS12(__VA_ARGS__)
#  define AMBIT__ARGS14(x, ...) AMBIT__ARG(x), AMBIT__ARGS13(__VA_ARGS__)
#  define AMBIT__ARGS15(x, ...) AMBIT__ARG(x), AMBIT__ARGS14(__VA_ARGS__)
#  define AMBIT__ARGS16(x, ...) AMBIT__ARG(x), AMBIT__ARGS15(__VA_ARGS__)
#  define AMBIT__ARGS17(x, ...) AMBIT__ARG(x), AMBIT__ARGS16(__VA_ARGS__)
#  define AMBIT__ARGS18(x, ...) AMBIT__ARG(x), AMBIT__ARGS17(__VA_ARGS__)
#  define AMBIT__ARGS19(x, ...) AMBIT__ARG(x), AMBIT__ARGS18(__VA_ARGS__)
#  define AMBIT__ARGS20(x, ...) AMBIT__ARG(x), AMBIT__ARGS19(__VA_ARGS__)
#  define AMBIT__ARGS21(x, ...) AMBIT__ARG(x), AMBIT__ARGS20(__VA_ARGS__)
#  define AMBIT__ARGS22(x, ...) AMBIT__ARG(x), AMBIT__ARGS21(__VA_ARGS__)
#  define AMBIT__ARGS23(x, ...) AMBIT__ARG(x), AMBIT__ARGS22(__VA_ARGS__)
#  define AMBIT__ARGS24(x, ...) AMBIT__ARG(x), AMBIT__ARGS23(__VA_ARGS__)
#  define AMBIT__ARGS25(x, ...) AMBIT__ARG(x), AMBIT__ARGS24(__VA_ARGS__)
#  define AMBIT__ARGS26(x, ...) AMBIT__ARG(x), AMBIT__ARGS25(__VA_ARGS__)
#  define AMBIT__ARGS27(x, ...) AMBIT__ARG(x), AMBIT__ARGS26(__VA_ARGS__)
#  define AMBIT__ARGS28(x, ...) AMBIT__ARG(x), AMBIT__ARGS27(__VA_ARGS__)
#  define AMBIT__ARGS29(x, ...) AMBIT__ARG(x), AMBIT__ARGS28(__VA_ARGS__)
#  define AMBIT__ARGS30(x, ...) AMBIT__ARG(x), AMBIT__ARGS29(__VA_ARGS__)
#  define AMBIT__ARGS31(x, ...) AMBIT__ARG(x), AMBIT__ARGS30(__VA_ARGS__)
#  define AMBIT__ARGS32(x, ...) AMBIT__ARG(x), AMBIT__ARGS31(__VA_ARGS__)
#  define AMBIT__PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,  \
                      a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32,   \
                      n, ...)                                                                      \
    n
#  define AMBIT__COUNT(...)                                                                        \
    AMBIT__PICK(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,   \
                15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#  define AMBIT__PASTE2(a, b) a##b
#  define AMBIT__PASTE(a, b)  AMBIT__PASTE2(a, b)
#  define AMBIT__LIST(...)                                                                         \
    AMBIT__COUNT(__VA_ARGS__), (const ambit_arg[])                                                 \
    {                                                                                              \
      AMBIT__PASTE(AMBIT__ARGS, AMBIT__COUNT(__VA_ARGS__))(__VA_ARGS__)                            \
    }
#  define ambit_apply(p, k, ...) ambit_apply_args(p, k, AMBIT__LIST(__VA_ARGS__))
#  define ambit_apply_box(p, lo, hi, k, ...)                                                       \
    ambit_apply_box_args(p, lo, hi, k, AMBIT__LIST(__VA_ARGS__))
#  define ambit_apply_faces(p, faces, k, ...)                                                      \
    ambit_apply_faces_args(p, faces, k, AMBIT__LIST(__VA_ARGS__))
#endif

#endif
