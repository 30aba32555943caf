/* SPDX-License-Identifier: BSD-3-Clause */
/* ambit.h - iterative stencil computations: write the rule for one cell in C, run it on any device.
 *
 * The user writes the update rule of one cell. The library applies it to every cell of a grid,
 * iteration after iteration, and handles boundaries, reductions, convergence tests, threads,
 * vectorisation and halo exchange.
 *
 *   context  ambit          devices, options, the first error
 *   grid     ambit_grid     an index space of 1 to AMBIT_MAX_DIMS dimensions
 *   field    ambit_field    values on a grid, one or more components per cell
 *   scalar   ambit_scalar   one value, read by kernels and written by reductions
 *   kernel   ambit_kernel   the update rule of one cell
 *   program  ambit_program  a list of steps, run once per iteration
 *   points   ambit_points   places in a grid, between its cells: sources and receivers
 *   record   ambit_record   rows of numbers, one per iteration: a series, or a measurement
 *
 * Errors. On failure constructors return NULL and other calls return a status. The context keeps
 * the first error with its full message (ambit_error_text), and every later call on that context
 * returns at once. A program may therefore check once, at the end: ambit_close returns the first
 * error. Every call accepts NULL handles and fails. The default error handler prints the message to
 * stderr; ambit_on_error replaces it. The library never exits.
 *
 * Ownership. All objects belong to their context, and ambit_close frees them. A destroy function
 * frees one earlier; destroying NULL does nothing. Texts and structures that the library returns
 * belong to the object that was asked. Arrays and texts given to a call are copied, unless its
 * comment says that they must stay.
 *
 * Callbacks. The library calls functions of the user: for the values of a field, after iterations,
 * for errors. Such a function cannot destroy the objects that the call on which it is called uses:
 * the field that is filled; the program that runs, and its fields, scalars and kernels; their grid
 * and the context. That is refused with AMBIT_EPROGRAM, and the objects stay. An error handler
 * cannot destroy anything.
 *
 * Names. ambit_OBJECT_VERB(object, ...): ambit_grid_create, ambit_field_read. The context is the
 * object of the others: ambit_open, ambit_define. Verbs that append steps to a program or run it
 * stand alone, and take the program first: ambit_apply, ambit_swap, ambit_run.
 *
 * Structures. Those that the library returns belong to it, and may become longer in later versions;
 * those that it is given count members that are 0 as the default, and have room for more.
 *
 * Streams are in ambit_stream.h, compiled kernels in ambit_compiled.h.
 *
 * Threads. Contexts are independent. One thread at a time uses each, and no child after a fork().
 * Calls without an object (ambit_version, ambit_register_cpu, ...), ambit_stop and
 * ambit_stream_stop are for any thread at any time.
 *
 * The kernel language is described in docs/language.md, boundaries in docs/boundaries.md.
 */
#ifndef AMBIT_H
#define AMBIT_H

#include <stddef.h>
#include <stdint.h>

#define AMBIT_VERSION_MAJOR 0
#define AMBIT_VERSION_MINOR 2
#define AMBIT_VERSION_PATCH 0

#define AMBIT_MAX_DIMS   6  /* number of axes of a grid */
#define AMBIT_MAX_PARAMS 32 /* number of parameters of a kernel */

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
typedef struct ambit_points ambit_points;
typedef struct ambit_record ambit_record;

/* ---- status ------------------------------------------------------------------------------- */

/* One line per code. The enum, the names and the texts are generated from this list. */
#define AMBIT_STATUS_MAP(X)                                                                        \
  X(OK, 0, "success")                                                                              \
  X(ENOMEM, 1, "out of memory")                                                                    \
  X(EINVAL, 2, "invalid argument")                                                                 \
  X(EKERNEL, 3, "invalid kernel")                                                                  \
  X(EPROGRAM, 4, "invalid program")                                                                \
  X(EUNSUPPORTED, 5, "not supported")                                                              \
  X(ENODEVICE, 6, "device not available")                                                          \
  X(ECOMPILE, 7, "compilation failed")                                                             \
  X(EDEVICE, 8, "device error")                                                                    \
  X(EIO, 9, "file error")                                                                          \
  X(EOPTION, 10, "invalid option")                                                                 \
  X(EPROCESS, 11, "process error")

typedef enum ambit_status {
#define X(name, value, text) AMBIT_##name = value,
  AMBIT_STATUS_MAP(X)
#undef X
} ambit_status;

/* "EINVAL" and "invalid argument". Never NULL, even for unknown codes. */
AMBIT_API const char *ambit_status_name(ambit_status s);
AMBIT_API const char *ambit_status_text(ambit_status s);

/* The version of the library, "0.2.0". */
AMBIT_API const char *ambit_version(void);

/* ---- types -------------------------------------------------------------------------------- */

/* The value types of fields, scalars and kernel variables, one line per type. */
#define AMBIT_TYPE_MAP(X)                                                                          \
  X(F32, 0, float, "float")                                                                        \
  X(F64, 1, double, "double")                                                                      \
  X(I32, 2, int32_t, "int")                                                                        \
  X(U8, 3, uint8_t, "unsigned char")                                                               \
  X(I16, 4, int16_t, "short")                                                                      \
  X(I64, 5, int64_t, "long")                                                                       \
  X(F16, 6, uint16_t, "half")                                                                      \
  X(BF16, 7, uint16_t, "bfloat")                                                                   \
  X(U16, 8, uint16_t, "unsigned short")                                                            \
  X(U32, 9, uint32_t, "unsigned")                                                                  \
  X(U64, 10, uint64_t, "unsigned long")

typedef enum ambit_type {
#define X(name, value, ctype, text) AMBIT_##name = value,
  AMBIT_TYPE_MAP(X)
#undef X
} ambit_type;

/* AMBIT_F16 (IEEE 754 binary16) and AMBIT_BF16 (the first 16 bits of a float) are types of fields:
 * float in kernels. Arrays hold the bits. Numbers round to nearest, ties to even. */
AMBIT_API uint16_t ambit_half_encode(double x);
AMBIT_API double ambit_half_decode(uint16_t bits);
AMBIT_API uint16_t ambit_bfloat_encode(double x);
AMBIT_API double ambit_bfloat_decode(uint16_t bits);

AMBIT_API size_t ambit_type_size(ambit_type t);      /* bytes per value; 0 for an invalid type */
AMBIT_API const char *ambit_type_name(ambit_type t); /* as written in the kernel language */

/* ---- context ------------------------------------------------------------------------------ */

/* Opens a context. Reads AMBIT_* variables from the environment and removes --ambit-* options from
 * the command line; both pointers may be NULL. Returns NULL only when out of memory. If anything
 * else fails, the returned context is in the failed state and holds the error message. Devices are
 * opened when the first grid or scalar is created.
 *
 * Processes. A program needs no change to run under mpirun, srun or another MPI launcher. Its
 * processes form one context. Each grid is partitioned among them, and each process stores its own
 * part of every field. All processes make the same calls in the same order with the same arguments:
 * divergence is detected, and an error on one process is raised on all. Reading a field or a scalar
 * returns the same values on every process. */
AMBIT_API ambit *ambit_open(int *argc, char ***argv);

/* The same for the processes of a communicator; the argument points to an MPI_Comm (mpi.h is not
 * included here). The program initialises MPI before, and finalises it after ambit_close. */
AMBIT_API ambit *ambit_open_mpi(int *argc, char ***argv, const void *communicator);

/* The rank of this process, from 0, and the number of processes; 0 and 1 without a launcher. */
AMBIT_API int ambit_process(const ambit *a);
AMBIT_API int ambit_processes(const ambit *a);

/* Frees the context and all its objects. Returns the first error, or AMBIT_OK. Collective. */
AMBIT_API ambit_status ambit_close(ambit *a);

/* The first error of the context and its message; AMBIT_OK and "" if there was none. The text
 * belongs to the context. After ambit_error_clear the context and its objects can be used again. */
AMBIT_API ambit_status ambit_error(const ambit *a);
AMBIT_API const char *ambit_error_text(const ambit *a);
AMBIT_API void ambit_error_clear(ambit *a);

/* Replaces the error handler; NULL disables it. The handler is called once per error, at the time
 * and on the process where the error occurs. The default handler prints to stderr; an error shared
 * by several processes is printed once. */
typedef void (*ambit_error_fn)(ambit_status status, const char *message, void *user);
AMBIT_API void ambit_on_error(ambit *a, ambit_error_fn handler, void *user);

/* Options by name. The same names are used in the environment (AMBIT_NAME) and on the command line
 * (--ambit-name=value); docs/options.md lists them. A value is checked when it is set.
 * AMBIT_EOPTION means an unknown option, a wrong value, or too late: mpi is read by ambit_open;
 * cache, cc, devices, gpuaware and threads with the first grid or scalar; trace with the first run.
 * The returned text belongs to the context; NULL means that there is no option of that name. */
AMBIT_API ambit_status ambit_option_set(ambit *a, const char *name, const char *value);
AMBIT_API const char *ambit_option_get(const ambit *a, const char *name);

/* ---- arguments ---------------------------------------------------------------------------- */

/* An argument of a kernel, or a value elsewhere. A number for an integer type, of a parameter, a
 * scalar or a boundary, must be one that the type has: whole, and within its range. The macros at
 * the end of this file make it of what is written there. */
typedef enum ambit_arg_kind {
  AMBIT_ARG_FIELD = 0,
  AMBIT_ARG_SCALAR = 1,
  AMBIT_ARG_NUMBER = 2,
  AMBIT_ARG_TABLE = 3,
  AMBIT_ARG_RECORD = 4
} ambit_arg_kind;
typedef struct ambit_arg {
  ambit_arg_kind kind;
  ambit_field *field;
  ambit_scalar *scalar;
  double number;
  const void *table; /* rows * columns values of the type; or an ambit_record */
  ambit_type type;
  int rows, columns;
  int64_t reserved[2];
} ambit_arg;

AMBIT_API ambit_arg ambit_arg_field(const ambit_field *f);
AMBIT_API ambit_arg ambit_arg_scalar(const ambit_scalar *s);
AMBIT_API ambit_arg ambit_arg_number(double x);
AMBIT_API ambit_arg ambit_arg_record(const ambit_record *r);
AMBIT_API ambit_arg ambit_arg_same(ambit_arg a);
/* Numbers for a parameter `table T k[rows][columns]`, or, with one row, `table T k[columns]`: a
 * row-major array, converted to T. They are copied when the kernel is applied: later changes have
 * no effect, and code is generated for these values. */
AMBIT_API ambit_arg ambit_arg_table(const void *values, ambit_type type, int rows, int columns);

/* ---- grids -------------------------------------------------------------------------------- */

/* An index space of extents[0] x ... x extents[ndims-1] cells; the last axis is contiguous. */
AMBIT_API ambit_grid *ambit_grid_create(ambit *a, int ndims, const int64_t *extents);
/* A sparse grid (docs/sparse.md): only active cells are stored, updated and reduced. `is_active` is
 * called once per cell of the box by all threads at once: it must be thread-safe and must not call
 * Ambit. Active cells may also be those where the first component of a field on a dense grid, an
 * .npy array or a .png picture is not 0. */
typedef int (*ambit_active_fn)(const int64_t *index, void *user);
AMBIT_API ambit_grid *ambit_grid_create_sparse(ambit *a, int ndims, const int64_t *extents,
                                               ambit_active_fn is_active, void *user);
AMBIT_API ambit_grid *ambit_grid_create_masked(ambit_field *mask);
AMBIT_API ambit_grid *ambit_grid_load_sparse(ambit *a, const char *path);
/* Changes the active cells, between runs or in a callback. Fields keep values; new cells are 0. */
AMBIT_API ambit_status ambit_grid_activate(ambit_grid *g, ambit_active_fn is_active, void *user);
AMBIT_API int64_t ambit_grid_cells(const ambit_grid *g); /* of a sparse grid: active ones */
AMBIT_API void ambit_grid_destroy(ambit_grid *g);        /* frees its fields and programs too */
AMBIT_API int ambit_grid_ndims(const ambit_grid *g);
AMBIT_API int64_t ambit_grid_extent(const ambit_grid *g, int axis);
/* The place of the grid in space, for .vtkhdf and .h5 files: the low corner of its first cell, and
 * the lengths of a cell, one number per axis. NULL: 0 and 1, as at first. */
AMBIT_API ambit_status ambit_grid_geometry(ambit_grid *g, const double *origin,
                                           const double *spacing);

/* Grids for multigrid methods: grids[0] has these extents, and each of the others half those of
 * the one before it. The extents must be multiples of 2^(levels - 1). All are cut into parts at the
 * same places, so that fields can be shown on the next grid (ambit_field_create_view); with many
 * parts and levels some parts remain empty. If it fails, all grids are NULL. */
AMBIT_API ambit_status ambit_grid_create_nested(ambit *a, int ndims, const int64_t *extents,
                                                int levels, ambit_grid **grids);

/* ---- fields ------------------------------------------------------------------------------- */

/* Memory layout of the components of a cell. Kernels are written the same way for both. Where all
 * devices are GPUs, of one process, fields of both are stored as AMBIT_SOA. */
typedef enum ambit_order {
  AMBIT_SOA = 0, /* structure of arrays, one array per component; the default */
  AMBIT_AOS = 1  /* array of structures, the components of a cell adjacent */
} ambit_order;

/* A field of one value per cell, initially 0 (NaN with the option nan), named in messages. */
AMBIT_API ambit_field *ambit_field_create(ambit_grid *g, const char *name, ambit_type type);
/* The same with several components per cell, written `float *f[9]` in a kernel. */
AMBIT_API ambit_field *ambit_field_create_vector(ambit_grid *g, const char *name, ambit_type type,
                                                 int components, ambit_order order);
/* A field on some axes of the grid (docs/profiles.md), AMBIT_AXIS(0) | AMBIT_AXIS(1), or on none,
 * 0: one cell, 0, along the others. Kernels read it as if it had all axes; reductions over the
 * others write it: `sum float *n`. The grid is dense. */
AMBIT_API ambit_field *ambit_field_create_on(ambit_grid *g, const char *name, ambit_type type,
                                             unsigned axes);
/* The same with several components: `sum float *m[3]` takes such a field as one argument. */
AMBIT_API ambit_field *ambit_field_create_vector_on(ambit_grid *g, const char *name,
                                                    ambit_type type, int components,
                                                    ambit_order order, unsigned axes);
AMBIT_API void ambit_field_destroy(ambit_field *f);
AMBIT_API const char *ambit_field_name(const ambit_field *f);
AMBIT_API ambit_type ambit_field_type(const ambit_field *f);
AMBIT_API int ambit_field_components(const ambit_field *f);

/* Shows every second cell of a field as a field of a grid of half the extents: cell i of the view
 * is cell 2 i + first of the field, where first[d] is 0 or 1. The view has no memory of its own:
 * kernels on the coarse grid read and write cells of the field through it, each 2^ndims of them
 * through as many views. So a restriction reads views and writes a coarse field, and a prolongation
 * reads a coarse field and writes views. Kernels use views at the cell itself, not at neighbours;
 * views cannot be swapped. The grids are nested, or have one part each. A field has one view with
 * each `first`; views are destroyed with their field. */
AMBIT_API ambit_field *ambit_field_create_view(ambit_grid *coarse, ambit_field *field,
                                               const int64_t *first);

/* The value of a read outside the grid (docs/boundaries.md has pictures). */
typedef enum ambit_boundary {
  AMBIT_NONE = 0,          /* such reads are rejected; the default */
  AMBIT_CONSTANT = 1,      /* a given value */
  AMBIT_PERIODIC = 2,      /* the grid repeats:                  c d | a b c d | a b */
  AMBIT_REFLECT = 3,       /* mirrored about the edge cell:      c b | a b c d | c b */
  AMBIT_SYMMETRIC = 4,     /* mirrored about the edge face:      b a | a b c d | d c */
  AMBIT_CLAMP = 5,         /* the nearest cell:                  a a | a b c d | d d */
  AMBIT_FIXED = 6,         /* never read: cells that would read there are not updated */
  AMBIT_ANTISYMMETRIC = 7, /* symmetric, with the sign changed: -b -a | a b c d | -d -c */
  AMBIT_DIRICHLET = 8,     /* a value on the face: 2x-b 2x-a | a b c d | 2x-d 2x-c */
  AMBIT_NEUMANN = 9        /* a gradient, outwards, per cell:  b+3x a+x | a b c d | d+x c+3x */
} ambit_boundary;

/* Sets of faces, combined with |. Axis 0 varies slowest; side 0 is low, side 1 is high. */
#define AMBIT_FACE(axis, side) (1u << (2 * (axis) + (side)))
#define AMBIT_LOW(axis)        AMBIT_FACE(axis, 0)
#define AMBIT_HIGH(axis)       AMBIT_FACE(axis, 1)
#define AMBIT_AXIS(axis)       (AMBIT_LOW(axis) | AMBIT_HIGH(axis))
#define AMBIT_ALL_FACES        0xfffu     /* also: AMBIT_ALL_FACES & ~AMBIT_LOW(0) */
#define AMBIT_INACTIVE         (1u << 31) /* in place of faces: inactive cells, docs/sparse.md */

/* Sets the boundary of some faces. The value is used by AMBIT_CONSTANT, AMBIT_DIRICHLET and
 * AMBIT_NEUMANN only: a number, or, if it changes while programs run, a scalar, or a field on the
 * same grid, or on some of its axes, with one component or as many as `f`. Of such a field the cell
 * at the face counts: the cell of the face through which a read leaves the grid. A periodic axis
 * must be periodic on both faces. May be called again between runs. Programs use the short form at
 * the end of this file:
 *
 *     ambit_field_boundary(f, AMBIT_LOW(0), AMBIT_DIRICHLET, inflow);
 *
 * AMBIT_INACTIVE takes AMBIT_NONE (the default), AMBIT_CONSTANT and AMBIT_CLAMP, to the cell that
 * reads; the value, a number, is also that of inactive cells in ambit_field_read and in files. */
AMBIT_API ambit_status ambit_field_boundary_arg(ambit_field *f, unsigned faces, ambit_boundary kind,
                                                ambit_arg value);
/* The same for one component, in fields of order AMBIT_SOA. None, fixed and periodic are kinds of
 * whole fields only. ambit_field_boundary sets all components again. */
AMBIT_API ambit_status ambit_field_boundary_component(ambit_field *f, int component, unsigned faces,
                                                      ambit_boundary kind, double value);
/* A mirror, AMBIT_SYMMETRIC or AMBIT_REFLECT, in which components change places: outside, component
 * c is component from[c] of the mirrored cell. `from` has a number for each component. */
AMBIT_API ambit_status ambit_field_boundary_permuted(ambit_field *f, unsigned faces,
                                                     ambit_boundary kind, const int *from);

/* Sets every cell to the value of a function of its index, converted to the field's type. The
 * function is called once per (active) cell and component, in the calling thread. An index has
 * AMBIT_MAX_DIMS numbers, 0 along axes that the grid does not have. */
typedef double (*ambit_fill_fn)(const int64_t *index, int component, void *user);
AMBIT_API ambit_status ambit_field_fill(ambit_field *f, ambit_fill_fn fn, void *user);
/* By all threads at once, in any order: the function is thread-safe, and does not call Ambit. */
AMBIT_API ambit_status ambit_field_fill_parallel(ambit_field *f, ambit_fill_fn fn, void *user);
/* Gives every component of every cell one value, converted in the same way, on the device. */
AMBIT_API ambit_status ambit_field_set(ambit_field *f, double value);

/* Copies the cells lo <= index < hi from or to a dense row-major array of the field's type. With
 * several components, the component is the last index. lo and hi may be NULL, for the ends of the
 * grid. The array has the inactive cells of a sparse grid too; writing ignores them. */
AMBIT_API ambit_status ambit_field_write(ambit_field *f, const int64_t *lo, const int64_t *hi,
                                         const void *values);
AMBIT_API ambit_status ambit_field_read(ambit_field *f, const int64_t *lo, const int64_t *hi,
                                        void *values);

/* Where the cells of a field are in memory, to use them without a copy. The grid is dense and has
 * one part. The values may be changed there; between runs, since a run may move them, and swaps and
 * rotations exchange the memory of fields. AMBIT_EUNSUPPORTED: not on this device or grid. */
typedef enum ambit_memory_kind { AMBIT_HOST_MEMORY = 0, AMBIT_CUDA_MEMORY = 1 } ambit_memory_kind;
typedef struct ambit_memory {
  void *data;                     /* component 0 of cell 0 */
  int64_t stride[AMBIT_MAX_DIMS]; /* bytes from a cell to the next one, per axis */
  int64_t component;              /* bytes from a component to the next one */
  ambit_memory_kind device;
  int ordinal; /* of the CUDA device */
  int64_t reserved[4];
} ambit_memory;
AMBIT_API ambit_status ambit_field_memory(ambit_field *f, ambit_memory *memory);

/* Saves the field in the format given by the file name:
 *   .npy   lossless, for NumPy, any number of dimensions; .cells.npy: a list of active cells
 *   .vtkhdf  lossless, for ParaView and VTK, 1 to 3 dimensions; .h5: plain HDF5, for h5py, any
 *          number. To load them, the HDF5 library is needed (docs/output.md)
 *   .png   a picture of component 0 of a 1-D or 2-D field, or of the middle plane along axis 0 of a
 *          3-D field
 * The file appears under its name only when it is complete. */
AMBIT_API ambit_status ambit_field_save(ambit_field *f, const char *path);
/* Saves n fields of a grid in one .vtkhdf or .h5 file, each under its name. */
AMBIT_API ambit_status ambit_grid_save(ambit_grid *g, const char *path, int n,
                                       ambit_field *const *fields);

/* How a field is drawn. Zeros are the defaults. */
typedef struct ambit_picture {
  double lo, hi;       /* values of the first and the last colour; 0, 0: from the values */
  const char *colours; /* "dusk", "viridis", "tide", ... (docs/output.md). NULL: dusk, or tide with
                        * white for 0, where values have both signs */
  const char *slice;   /* the plane of a 3-D field, "z=40": z, y, x are axes 0, 1, 2. NULL: the
                        * middle one of axis 0 */
  int component, relief; /* the one to draw; not 0: shaded as a landscape of the values */
  double rate;           /* frames per second of films; 0: 25 */
  int64_t reserved[4];
} ambit_picture;
/* Draws a field as a .png picture; NULL: as ambit_field_save does. */
AMBIT_API ambit_status ambit_field_draw(ambit_field *f, const char *path,
                                        const ambit_picture *picture);

/* Loads a field from a file of its size, in the format given by the file name:
 *   .npy   of the field's type, or a list of cells; .png: samples from 0 to 255, grey or colours
 *   .vtkhdf, .h5  the dataset with the field's name, or the only one, of the field's type
 *   .hgt   elevations of SRTM; .asc: of an ESRI ASCII grid; .tif: of GeoTIFF (docs/terrain.md)
 * Elevations are loaded into 2-D fields of any type, north first. Cells without data become
 * infinitely high: walls for water and for paths. Only float and double fields can hold them. */
AMBIT_API ambit_status ambit_field_load(ambit_field *f, const char *path);

/* The header of a file that ambit_field_load can read. Valid until the next call; NULL: an
 * error. */
typedef enum ambit_unit { AMBIT_UNKNOWN_UNIT = 0, AMBIT_DEGREES = 1, AMBIT_METRES = 2 } ambit_unit;
typedef struct ambit_file_info {
  ambit_type type; /* of its values, or the smallest that holds them */
  int ndims;
  int64_t extents[AMBIT_MAX_DIMS + 1]; /* of a field of several components, they are the last */
  double spacing[AMBIT_MAX_DIMS + 1];  /* between cells, per axis, in `unit`; 0: unknown */
  ambit_unit unit; /* of elevation files; other lengths, such as feet, and angles are converted */
  int has_origin;  /* 1: the file says where its cells are; else 0 */
  double origin[AMBIT_MAX_DIMS + 1]; /* centre of cell [0][0]: north (rows run south), east */
} ambit_file_info;
AMBIT_API const ambit_file_info *ambit_file_inspect(ambit *a, const char *path);

/* ---- scalars ------------------------------------------------------------------------------ */

/* One value, stored on the device like the fields. Kernels read it through a plain parameter;
 * reductions and kernels on scalars write it. Initially 0. The name appears in messages. */
AMBIT_API ambit_scalar *ambit_scalar_create(ambit *a, const char *name, ambit_type type);
AMBIT_API void ambit_scalar_destroy(ambit_scalar *s);
AMBIT_API ambit_status ambit_scalar_set(ambit_scalar *s, double value);
AMBIT_API double ambit_scalar_get(ambit_scalar *s); /* NaN on failure */

/* ---- kernels ------------------------------------------------------------------------------ */

/* Turns C text into a string that carries its file and line, for messages:
 *
 *     static const char rule[] = AMBIT_SOURCE(
 *       void twice(const float *u, float *v) { *v = 2 * *u; }
 *     );
 *
 * The preprocessor joins the lines; messages show the true line if the file can be read where the
 * program runs, else the line of the macro. AMBIT_HERE stands before string literals that keep
 * their line breaks, the first on the next line, and gives true lines everywhere:
 *
 *     static const char rule[] = AMBIT_HERE
 *       "void twice(const float *u, float *v)\n"
 *       "{ *v = 2 * *u; }\n";
 *
 * One raw string does as well, R"(...)" in C++ and GNU C. So does a file: ambit_kernel_load. */
#define AMBIT__STR2(x)    #x
#define AMBIT__STR(x)     AMBIT__STR2(x)
#define AMBIT_SOURCE(...) "#line " AMBIT__STR(__LINE__) " \"" __FILE__ "\"\n" #__VA_ARGS__
#define AMBIT_HERE        "#line " AMBIT__STR(__LINE__) " \"" __FILE__ "\"\n\n"

/* A constant for the texts of kernels that are created later. With AMBIT_DEFINE(a, RADIUS) they see
 * a macro or an enum constant of the program, with its type. Integers are exact up to 2^53. A later
 * definition of the same name replaces it. */
AMBIT_API ambit_status ambit_define(ambit *a, const char *name, ambit_type type, double value);
#define AMBIT_DEFINE(a, x) ambit_define(a, #x, AMBIT__TYPE_OF(x), (double)(x))
#define AMBIT__IS_WHOLE(x) (((x)*0 + 1) / 2 < 0.4)
#define AMBIT__TYPE_OF(x)                                                                          \
  (!AMBIT__IS_WHOLE(x)           ? (sizeof((x)*0) == sizeof(float) ? AMBIT_F32 : AMBIT_F64)        \
   : sizeof((x)*0) > sizeof(int) ? ((x)*0 - 1 > 0 ? AMBIT_U64 : AMBIT_I64)                         \
   : (x)*0 - 1 > 0               ? AMBIT_U32                                                       \
                                 : AMBIT_I32)

/* The type `real` in texts of kernels that are created later, so that one text serves several:
 * AMBIT_F32 or AMBIT_F64. In a text that uses it, numbers such as 0.5 and functions such as sqrt
 * are of this type too. With AMBIT_F16 and AMBIT_BF16, fields are, and everything else is float. */
AMBIT_API ambit_status ambit_define_real(ambit *a, ambit_type type);

/* Parses and checks a text in the kernel language, or a file: one kernel or several, and functions.
 * Returns the first kernel. Mistakes raise AMBIT_EKERNEL with file, line, caret and advice in the
 * message. */
AMBIT_API ambit_kernel *ambit_kernel_create(ambit *a, const char *text);
AMBIT_API ambit_kernel *ambit_kernel_load(ambit *a, const char *path);
/* Another kernel of the text that `k` is from, by its name. Each call makes a kernel. */
AMBIT_API ambit_kernel *ambit_kernel_find(const ambit_kernel *k, const char *name);
AMBIT_API void ambit_kernel_destroy(ambit_kernel *k);
AMBIT_API const char *ambit_kernel_name(const ambit_kernel *k);

/* A weighted sum of neighbours: new = (sum over offsets o of weight[o] * old[o]) / divisor.
 * `weights` is dense and row-major over the offsets -low[d] .. high[d]; zeros are not read. */
typedef struct ambit_weights {
  int ndims;                /* number of axes, 1 to AMBIT_MAX_DIMS */
  int low[AMBIT_MAX_DIMS];  /* reach towards lower indices, per axis; not negative */
  int high[AMBIT_MAX_DIMS]; /* reach towards higher indices */
  const double *weights;    /* product over d of (low[d] + high[d] + 1) values */
  double divisor;           /* 0 means 1 */
  int64_t reserved[4];
} ambit_weights;

/* A kernel `name(const T *u, T *v)` from weights, or from a catalogue name ("2d4", "star3d2",
 * "box2d1s": docs/catalogue.md). */
AMBIT_API ambit_kernel *ambit_kernel_create_weighted(ambit *a, const char *name, ambit_type type,
                                                     const ambit_weights *weights);
AMBIT_API ambit_kernel *ambit_kernel_create_named(ambit *a, const char *name, ambit_type type);

/* ---- looking at a kernel ------------------------------------------------------------------- */

/* Axes of the grids it runs on; 0: any number, as long as index() and extent() find theirs. */
AMBIT_API int ambit_kernel_ndims(const ambit_kernel *k);
AMBIT_API int ambit_kernel_params(const ambit_kernel *k); /* number of parameters */
/* 1: it can run once per iteration, on scalars alone (see ambit_apply_args). 0: it needs cells,
 * since it reduces, reads neighbours or components, or asks for its index. */
AMBIT_API int ambit_kernel_is_once(const ambit_kernel *k);
/* Of the update of one cell: floating-point operations, both sides of every branch; and bytes moved
 * with a perfect cache, each component that is read or written once. */
AMBIT_API double ambit_kernel_flops(const ambit_kernel *k);
AMBIT_API double ambit_kernel_bytes(const ambit_kernel *k);

typedef enum ambit_param_kind {
  AMBIT_PARAM_FIELD = 0,     /* T *u, T *f[n]: takes a field */
  AMBIT_PARAM_VALUE = 1,     /* T k: takes a number or a scalar */
  AMBIT_PARAM_REDUCTION = 2, /* sum T *r: takes a scalar */
  AMBIT_PARAM_TABLE = 3      /* table T k[n]: takes an ambit_arg_table */
} ambit_param_kind;

typedef enum ambit_reduction {
  AMBIT_SUM = 0,
  AMBIT_MIN = 1,
  AMBIT_MAX = 2,
  AMBIT_FOLD = 3 /* with a function of the kernel's text */
} ambit_reduction;

/* A cell that a kernel reads, relative to the one it updates. */
typedef struct ambit_offset {
  int component;
  int axis[AMBIT_MAX_DIMS]; /* u[-1][0] is {-1, 0}; unused axes are 0 */
} ambit_offset;

typedef struct ambit_param_info {
  const char *name;            /* belongs to the kernel */
  ambit_param_kind kind;       /* of its argument */
  ambit_reduction reduction;   /* AMBIT_PARAM_REDUCTION */
  ambit_type type;             /* T */
  int components;              /* n of T *f[n]; of a table, the values; 1 for the others */
  int is_vector;               /* declared as T *f[n] */
  int is_const;                /* declared const */
  int is_written;              /* some component is */
  int reads_neighbours;        /* some offset is not 0 */
  int low[AMBIT_MAX_DIMS];     /* how far the reads reach back along each axis, >= 0 */
  int high[AMBIT_MAX_DIMS];    /* and forward, >= 0 */
  int noffsets;                /* length of offsets; 0: no value it had before is read */
  const ambit_offset *offsets; /* distinct, by component and then offset; belongs to the kernel */
} ambit_param_info;

/* Parameter i, from 0; belongs to the kernel. NULL: there is none, an error. */
AMBIT_API const ambit_param_info *ambit_kernel_param(const ambit_kernel *k, int i);

/* ---- programs ----------------------------------------------------------------------------- */

/* A program is a list of steps, appended by the calls below and executed in this order in every
 * iteration. Steps may be appended between runs. */
AMBIT_API ambit_program *ambit_program_create(ambit_grid *g);
AMBIT_API void ambit_program_destroy(ambit_program *p);

/* Appends a kernel step: on every cell, on the box lo <= index < hi, or on the outermost layer of
 * cells at some faces. Arguments are in the order of the kernel's parameters: a field for a
 * pointer, a scalar for a reduction (n scalars for one of n values), a number or a scalar for a
 * plain parameter, ambit_arg_table(...) for a table. A kernel with no field argument and no
 * reduction runs once per iteration, on scalars; its pointers take scalars.
 *
 * Reductions of several steps into one scalar are folded together within an iteration, so that a
 * kernel can reduce over several boxes or faces. They must be of one kind (sum, min, max, or fold
 * with one function). After a step that reads or sets the scalar, the next reduction starts anew. A
 * call of a program that uses the scalar or has a callback is such a step.
 *
 * Programs normally use the short forms at the end of this file:
 *
 *     ambit_apply(p, kernel, u, v, 0.2, change);
 *     ambit_apply_box(p, lo, hi, kernel, u, v);
 *     ambit_apply_box(p, AMBIT_INDEX(1, 1), AMBIT_INDEX(9, 9), kernel, u, v);
 *     ambit_apply_faces(p, AMBIT_LOW(0) | AMBIT_HIGH(0), kernel, u); */
AMBIT_API ambit_status ambit_apply_args(ambit_program *p, const ambit_kernel *k, int nargs,
                                        const ambit_arg *args);
AMBIT_API ambit_status ambit_apply_box_args(ambit_program *p, const int64_t *lo, const int64_t *hi,
                                            const ambit_kernel *k, int nargs,
                                            const ambit_arg *args);
AMBIT_API ambit_status ambit_apply_faces_args(ambit_program *p, unsigned faces,
                                              const ambit_kernel *k, int nargs,
                                              const ambit_arg *args);

/* Appends a sweep: a kernel step whose cells run in order along an axis, from one face,
 * AMBIT_LOW(axis) or AMBIT_HIGH(axis), to the other; on a box, from its end there. Fields that have
 * all axes but this one (ambit_field_create_on), and that the kernel writes, are carried: a cell
 * reads what the cell before it left, the first one the value that the field has, which is in the
 * end that of the last one. So prefix sums, recurrences and tridiagonal solvers are kernels
 * (docs/sweeps.md). Lines along the axis are independent. lo and hi may be NULL. Short forms:
 *
 *     ambit_sweep(p, AMBIT_LOW(0), kernel, u, carried, v);
 *     ambit_sweep_box(p, AMBIT_HIGH(0), lo, hi, kernel, u, carried, v); */
AMBIT_API ambit_status ambit_sweep_args(ambit_program *p, unsigned from, const int64_t *lo,
                                        const int64_t *hi, const ambit_kernel *k, int nargs,
                                        const ambit_arg *args);

/* Appends a swap of the values of two fields, by exchanging pointers. Names and boundaries stay
 * with their fields. If one field was never given values and the other was, it starts as a copy of
 * the other. Cells at fixed faces thus keep their values without filling both fields. */
AMBIT_API ambit_status ambit_swap(ambit_program *p, ambit_field *a, ambit_field *b);
/* Appends a rotation: each field takes the values of the next one, the last those of the first.
 * For schemes of second order in time: {past, now, next} makes now the past and next the now. */
AMBIT_API ambit_status ambit_rotate(ambit_program *p, int n, ambit_field *const *fields);

/* Appends a copy of the cells lo <= index < hi of one field to those of another, or of the same
 * one, that begin at the cell `at`: for instance, cells of one side of the grid to a layer at the
 * other. Boundaries play no part in it. NULL stands for the ends of the grid, and at = NULL for the
 * same place. Within one field the two boxes must not overlap. `from` may be on any dense grid of
 * the context, `to` is on that of the program; they have as many components. Between types, values
 * are converted as C does it. Copies between grids or types go through host memory. */
AMBIT_API ambit_status ambit_copy_box(ambit_program *p, const ambit_field *from, const int64_t *lo,
                                      const int64_t *hi, ambit_field *to, const int64_t *at);
/* The same where the box of `to` has other numbers of cells: along each axis as many, more, or a
 * number that divides those of `from`. Fewer cells are averages, more are interpolated linearly
 * between the centres of cells, also those beside the box, with the cell at the end of the grid
 * beyond the last centre. In double, to the nearest integer where `to` has integers; the same bits
 * for any devices, parts and processes. So grids of different spacing are coupled. */
AMBIT_API ambit_status ambit_resample(ambit_program *p, const ambit_field *from, const int64_t *lo,
                                      const int64_t *hi, ambit_field *to, const int64_t *to_lo,
                                      const int64_t *to_hi);

/* Lets the step that was appended last (the steps, after ambit_apply_faces) run every n iterations
 * only: in the n-th iteration since the creation of the program, the 2n-th and so on. Scalars that
 * it sets keep their values in between. Swaps and rotations run in every iteration. */
AMBIT_API ambit_status ambit_step_every(ambit_program *p, int64_t n);

/* Runs the steps of the program `iterations` times. */
AMBIT_API ambit_status ambit_run(ambit_program *p, int64_t iterations);
/* Runs the steps until they have run `iterations` times since the program was created. */
AMBIT_API ambit_status ambit_run_to(ambit_program *p, int64_t iterations);

/* Runs until the scalar, which a step or the callback sets, meets the condition, or until `most`
 * iterations are done. Returns AMBIT_OK in both cases; ambit_program_converged tells them apart.
 * The scalar is checked every ambit_program_check_every iterations, 1 if not set. If it is not
 * finite, that is an error; sums, minima and maxima are NaN if a value is: NaN never counts as
 * convergence. */
typedef enum ambit_condition {
  AMBIT_BELOW = 0,   /* scalar <  value */
  AMBIT_ABOVE = 1,   /* scalar >  value */
  AMBIT_EQUAL = 2,   /* scalar == value */
  AMBIT_AT_MOST = 3, /* scalar <= value */
  AMBIT_AT_LEAST = 4 /* scalar >= value */
} ambit_condition;
AMBIT_API ambit_status ambit_run_until(ambit_program *p, ambit_scalar *s, ambit_condition when,
                                       double value, int64_t most);
/* Runs until nothing changes: until an iteration ends with the values that the iteration before
 * ended with, bit for bit, in all fields that its own steps have written (a NaN stays one whatever
 * its bits); or until `most` iterations are done. If n fields are rotated, that must hold n - 1
 * times in a row. Parts of the grid that do not change are not computed (option sleep).
 * ambit_program_check_every and ambit_program_converged apply as above; values set in a callback
 * count as a change. */
AMBIT_API ambit_status ambit_run_until_still(ambit_program *p, int64_t most);
/* Promises that the order of updates does not matter for the values at rest, as in a search for
 * shortest paths. ambit_run_until_still then updates cells in place, the least (or greatest) news
 * first, until each part of the grid is at rest, and counts that as one iteration. The result is
 * the same (strict: bit for bit). docs/programs.md says which programs; others run as before. On
 * a sparse grid it has no effect, and a warning says so. */
AMBIT_API ambit_status ambit_program_relax(ambit_program *p);
AMBIT_API ambit_status ambit_program_check_every(ambit_program *p, int64_t iterations);
AMBIT_API int ambit_program_converged(const ambit_program *p);
AMBIT_API int64_t ambit_program_iterations(const ambit_program *p); /* since creation */

/* Ends the run in progress after the present iterations, as a callback does that returns 1. From
 * any thread, or a signal handler. With several processes, the run ends at its next callback. */
AMBIT_API void ambit_stop(ambit *a);

/* Appends a call: the step runs another program of the context, on any of its grids, `iterations`
 * times, or until a scalar meets a condition or `most` iterations are done, as ambit_run_until
 * does. So a time loop can hold a solver, and a multigrid cycle the cycle of the next grid.
 * Afterwards ambit_program_converged and ambit_program_iterations tell about the called program;
 * its iterations, and step() in its kernels, count on from call to call. No program calls itself,
 * not even through others. A callback of a called program can set values and end its run, but not
 * change the steps or boundaries of programs that are running. */
AMBIT_API ambit_status ambit_call(ambit_program *p, ambit_program *called, int64_t iterations);
AMBIT_API ambit_status ambit_call_until(ambit_program *p, ambit_program *called, ambit_scalar *s,
                                        ambit_condition when, double value, int64_t most);

/* Calls a function after every n iterations, in the thread that called ambit_run. It may read and
 * change fields, scalars and boundaries, append steps and run other programs; running its own
 * program again is refused with AMBIT_EPROGRAM. A non-zero return value ends the run, which still
 * returns AMBIT_OK. A program has one callback; NULL removes it. */
typedef int (*ambit_callback_fn)(ambit_program *p, int64_t iteration, void *user);
AMBIT_API ambit_status ambit_on_iteration(ambit_program *p, int64_t n, ambit_callback_fn fn,
                                          void *user);

/* Saves fields while the program runs: before its first iteration, and after every n. A path is
 *   name%06d.vtkhdf, .h5, .npy, .png   a file each, with the iteration as its number; of .vtkhdf
 *                  files also the list name.vtkhdf.series, which ParaView opens as a whole
 *   name.vtkhdf, .h5, .npy, .png       one file, which the next one replaces
 *   name.y4m       a film; ffmpeg makes other formats of it
 * Several fields go to .vtkhdf and .h5 files. `picture` is about .png and .y4m, and may be NULL;
 * without a range given there, it grows with the values. A program has any number of outputs. If
 * one cannot be written (the disk is full), the run goes on, and the error is raised when the
 * outputs end: by ambit_output_end, or when the program is destroyed. */
AMBIT_API ambit_status ambit_output(ambit_program *p, int64_t n, const char *path, int nfields,
                                    ambit_field *const *fields, const ambit_picture *picture);
AMBIT_API ambit_status ambit_output_end(ambit_program *p);
/* Shows runs, that field first (NULL: the result), in the terminal or browser: docs/view.md. */
AMBIT_API ambit_status ambit_view(ambit_program *p, ambit_field *field);

/* Statistics of all runs of a program so far. They belong to the program, and are valid until the
 * next call; NULL: an error. */
typedef struct ambit_stats {
  int64_t iterations;    /* iterations done */
  double seconds;        /* run time, without callbacks */
  double cells;          /* cell updates done */
  double bytes;          /* memory traffic with a perfect cache: every value once per step */
  double flops;          /* arithmetic operations done */
  double copy_bandwidth; /* of this machine, in bytes/s: measured if requested, else 0 */
} ambit_stats;
AMBIT_API const ambit_stats *ambit_program_stats(ambit_program *p, int measure_copy);
/* Prints them to stderr: cells/s, GB/s, their share of the copy bandwidth, and the steps' plans. */
AMBIT_API ambit_status ambit_program_report(ambit_program *p);

/* ---- points and records ------------------------------------------------------------------- */

/* Places in a dense grid for sources and receivers (docs/points.md). Coordinates are counted in
 * cells, n x ndims numbers: cell i is at i, and i + 0.5 is halfway to the next one. They lie
 * between the first and the last cell of each axis. The order of all sums is defined, so that
 * results are the same bits for any devices, parts and processes. */
typedef enum ambit_interpolation {
  AMBIT_NEAREST = 0, /* the nearest cell; halfway, the one with the higher index */
  AMBIT_LINEAR = 1   /* the 2^ndims cells around, with linear weights along each axis */
} ambit_interpolation;
AMBIT_API ambit_points *ambit_points_create(ambit_grid *g, int64_t n, const double *coordinates,
                                            ambit_interpolation how);
/* The same with weights of one's own: point i has those of a box of width[0] x ... cells that
 * begins at the cell first[i * ndims ...], row-major. Cells with weight 0 are not read. */
AMBIT_API ambit_points *ambit_points_create_weighted(ambit_grid *g, int64_t n, const int64_t *first,
                                                     const int64_t *width, const double *weights);
/* Other coordinates for as many points, between runs. */
AMBIT_API ambit_status ambit_points_move(ambit_points *points, const double *coordinates);
AMBIT_API void ambit_points_destroy(ambit_points *points);
AMBIT_API int64_t ambit_points_count(const ambit_points *points);

/* Rows of numbers, of float or double, that stay on the device while programs run: one row for each
 * time that a step samples or injects it. A record is like a tape. A step goes on at its place from
 * run to run; ambit_record_rewind goes back to the first row. */
AMBIT_API ambit_record *ambit_record_create(ambit *a, const char *name);
AMBIT_API void ambit_record_destroy(ambit_record *r);
AMBIT_API const char *ambit_record_name(const ambit_record *r);
AMBIT_API int64_t ambit_record_rows(const ambit_record *r); /* that were sampled, or written */
AMBIT_API int64_t ambit_record_columns(const ambit_record *r);
/* Replaces all rows by an array of rows x columns, and rewinds. */
AMBIT_API ambit_status ambit_record_write(ambit_record *r, int64_t rows, int64_t columns,
                                          const double *values);
/* Copies rows first .. first + rows - 1. Collective. */
AMBIT_API ambit_status ambit_record_read(ambit_record *r, int64_t first, int64_t rows,
                                         double *values);
/* The numbers of the iterations after which these rows were sampled; 0 for rows that were not. */
AMBIT_API ambit_status ambit_record_iterations(ambit_record *r, int64_t first, int64_t rows,
                                               int64_t *iterations);
AMBIT_API ambit_status ambit_record_rewind(ambit_record *r);
/* Saves all rows: .npy, .csv, with the number of the iteration before each row that was sampled,
 * or .png: a plot of up to 8 columns over the rows, or a picture of more. Collective. */
AMBIT_API ambit_status ambit_record_save(ambit_record *r, const char *path);

/* Appends a step that adds values to a field at points: to each cell around a point, weight times
 * value. The values are those of the next row of a record, with one column for all points, one per
 * point, or one per point and component; or a scalar, or a number. After the last row of a record
 * they are 0; a run with a record that has no rows fails. */
AMBIT_API ambit_status ambit_inject_arg(ambit_program *p, ambit_points *points, ambit_arg value,
                                        ambit_field *f);
/* Appends a step that appends a row to a record: the values of a field at points, with the
 * components of a point adjacent. ambit_step_every applies to both. */
AMBIT_API ambit_status ambit_sample(ambit_program *p, ambit_points *points, ambit_field *f,
                                    ambit_record *to);
/* Appends a step that keeps the value of a scalar, after every n iterations, in a new record that
 * has the scalar's name. */
AMBIT_API ambit_record *ambit_history(ambit_program *p, ambit_scalar *s, int64_t every);
/* The same for n scalars, the columns of one record: a histogram over the iterations. */
AMBIT_API ambit_record *ambit_history_all(ambit_program *p, const char *name, int n,
                                          ambit_scalar *const *scalars, int64_t every);

/* Append steps that measure a field, all its cells and components, in every iteration, or as
 * ambit_step_every says. `value` is a scalar of type AMBIT_F64. NaN is the value if one is NaN. */
typedef enum ambit_quantity {
  AMBIT_MEAN = 0,
  AMBIT_NORM_1 = 1,   /* the sum of absolute values */
  AMBIT_NORM_2 = 2,   /* the square root of the sum of squares */
  AMBIT_NORM_MAX = 3, /* the greatest absolute value */
  AMBIT_LEAST = 4,
  AMBIT_GREATEST = 5
} ambit_quantity;
AMBIT_API ambit_status ambit_measure(ambit_program *p, const ambit_field *f, ambit_quantity what,
                                     ambit_scalar *value);
/* AMBIT_NORM_MAX, AMBIT_LEAST or AMBIT_GREATEST, and where it is: the row-major number of the first
 * cell that has it, as ambit_field_read counts them, in a scalar of type AMBIT_I64; INT64_MAX if
 * the value is NaN. */
AMBIT_API ambit_status ambit_locate(ambit_program *p, const ambit_field *f, ambit_quantity what,
                                    ambit_scalar *value, ambit_scalar *place);
/* The numbers of values in n intervals of equal length from lo to hi, each without its end, but the
 * last one with it; other values are not counted. n scalars of type AMBIT_I64. */
AMBIT_API ambit_status ambit_histogram(ambit_program *p, const ambit_field *f, double lo, double hi,
                                       int n, ambit_scalar *const *counts);
/* The same in a field of type AMBIT_I64 on fewer axes than the grid, with a component for each
 * interval (ambit_field_create_vector_on): on no axes, one histogram of all cells, in one pass; on
 * some, one for each of their cells. */
AMBIT_API ambit_status ambit_histogram_on(ambit_program *p, const ambit_field *f, double lo,
                                          double hi, ambit_field *counts);

/* A new record with a series of one column that sources often have: Ricker's wavelet, the second
 * derivative of a Gaussian, which has its peak, `amplitude`, at time 1.2 / frequency. Row i is at
 * time i * dt. Time has any unit, frequency the inverse of it. */
AMBIT_API ambit_record *ambit_record_create_ricker(ambit *a, double frequency, double dt,
                                                   int64_t rows, double amplitude);
/* Sets a field to an absorbing layer: `strength` * (depth / layers)^2 in the `layers` cells at some
 * faces, where depth is counted from the inner end of the layer to the face; 0 elsewhere. */
AMBIT_API ambit_status ambit_field_fill_sponge(ambit_field *f, unsigned faces, int layers,
                                               double strength);
/* Finite differences: the weights of a central difference for a derivative (1 or more) with an
 * error of an even order, for cells of size 1. Stores weights[0] to weights[2 r], those of offsets
 * -r to r, and returns the reach r; -1: there are none. The array has room for 2 * AMBIT_MAX_REACH
 * + 1 numbers. In kernels they are coefficient(derivative, order, offset). */
#define AMBIT_MAX_REACH 16
AMBIT_API int ambit_coefficients(int derivative, int order, double *weights);

/* ---- steps of one's own -------------------------------------------------------------------- */

/* The cells of a field on one part of the grid. Cell i, component c, is the element
 *   values[(i[0] - lo[0]) * stride[0] + ... + c * component]
 * with lo of the part. */
typedef struct ambit_cells {
  void *values;
  ambit_type type;
  int components;
  int64_t stride[AMBIT_MAX_DIMS]; /* elements */
  int64_t component;              /* elements */
  int64_t reserved[2];
} ambit_cells;

typedef struct ambit_part {
  int ndims;
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS]; /* cells of the part: lo <= i < hi */
  int64_t extent[AMBIT_MAX_DIMS];                 /* of the whole grid */
  int64_t step;                                   /* iteration number */
  int number, count;                              /* of this part, from 0; of all parts */
  int nfields;
  ambit_cells fields[AMBIT_MAX_PARAMS];
} ambit_part;

/* How a field is used; combined with |. */
#define AMBIT_READ      1u
#define AMBIT_WRITE     2u /* cells that the function leaves alone keep their values */
#define AMBIT_ON_DEVICE 4u /* `values` is a device pointer on GPUs that have them (CUDA) */
/* Cells up to r away along each axis are read too, beyond the part and the grid as well. */
#define AMBIT_AROUND(r) (AMBIT_READ | (unsigned)(r) << 8)

/* Appends a step that calls a function of the user for each part of this process, in the thread
 * that runs the program (docs/own.md): an FFT, particles, a solver, output. Each of the n fields is
 * used as its mode says, and halos and the order of steps follow from that. On `cpu` the function
 * works in the memory of the field; GPUs copy the cells to the host and those written back, unless
 * it takes device pointers; then its work on the device is complete when it returns. A field that
 * is written is not read around. The function does not call Ambit, and returns 0; another number
 * ends the run with an error. */
typedef int (*ambit_host_fn)(const ambit_part *part, void *user);
AMBIT_API ambit_status ambit_apply_host(ambit_program *p, ambit_host_fn fn, void *user, int n,
                                        ambit_field *const *fields, const unsigned *modes);

/* Between runs: the cells of a field on a part of this process, one of ambit_grid_parts, in the
 * same form; NULL: an error. ambit_field_unmap ends all maps of the field, and stores what was
 * written; the field is not used in between. */
AMBIT_API int ambit_grid_parts(const ambit_grid *g);
AMBIT_API const ambit_part *ambit_field_map(ambit_field *f, int part, unsigned mode);
AMBIT_API ambit_status ambit_field_unmap(ambit_field *f);

/* ---- checkpoints -------------------------------------------------------------------------- */

/* Saves the state of the context in a file, again and again while programs run, so that the same
 * program, started again, continues where it was (docs/checkpoints.md): all fields, scalars, counts
 * of iterations, active cells and boundaries, on any other devices and number of processes. The
 * same as the options checkpoint and checkpoint-every: "1000" iterations, "30s", "10min", "2h";
 * NULL leaves the interval as it is. Before the first run.
 *
 * If the file is there, the program continues from it: runs that were complete return at once,
 * calls between them return the values that they returned then, fields that were saved in files are
 * not saved again, and the run that was interrupted does what is left of it. Such a program must
 * make the same calls again. An iteration that calls other programs is not interrupted. ambit_close
 * saves the end of the last run too: with more iterations, it continues. */
AMBIT_API ambit_status ambit_checkpoint(ambit *a, const char *path, const char *every);
/* Saves and restores a variable of the program with the state, for instance one that a callback
 * changes. It must exist as long as programs run. With several processes, all get that of process
 * 0. */
AMBIT_API ambit_status ambit_checkpoint_value(ambit *a, const char *name, void *value,
                                              size_t bytes);
/* For programs that continue by themselves, with values of their own: loads the state now, not in
 * the run that was interrupted, and makes all later calls as usual. All objects and values exist
 * by then. Returns 1 if there was a checkpoint. */
AMBIT_API int ambit_resume(ambit *a);

/* ---- one call ----------------------------------------------------------------------------- */

/* A stencil computation, from initial values to a result, in one call. */
typedef ambit_status (*ambit_output_fn)(ambit_field *result, void *user);
typedef struct ambit_problem {
  int ndims;
  int64_t extents[AMBIT_MAX_DIMS];
  const ambit_weights *weights; /* the rule, in float; or */
  const ambit_kernel *kernel;   /* a kernel of the form (const T *u, T *v) */
  int64_t iterations;
  ambit_fill_fn init;     /* initial values; NULL: 0 */
  ambit_output_fn output; /* called with the result, valid only during the call; may be NULL */
  void *user;             /* for both */
  int64_t reserved[4];
} ambit_problem;
/* Cells whose neighbourhood leaves the grid keep their initial values (fixed faces). */
AMBIT_API ambit_status ambit_stencil(ambit *a, const ambit_problem *problem);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- AMBIT_INDEX(i, j, ...) ---------------------------------------------------------------- */

/* The index of a cell as a value, for any parameter that takes one (const int64_t *): lo and hi of
 * a box, of ambit_field_read and ambit_field_write. Axes that are left out count as 0. (A plain
 * compound literal will not do in ambit_apply_box, which is a macro: its commas would separate
 * arguments.) It is valid until the end of the expression in C++, of the block in C. */
#if defined(__cplusplus)
struct ambit_index {
  int64_t axis[AMBIT_MAX_DIMS];
  operator const int64_t *() const
  {
    return axis;
  }
};
template <typename... Numbers> ambit_index ambit_index_of(Numbers... numbers)
{
  static_assert(sizeof...(numbers) <= AMBIT_MAX_DIMS, "a grid has at most AMBIT_MAX_DIMS axes");
  return ambit_index{{static_cast<int64_t>(numbers)...}};
}
#  define AMBIT_INDEX(...) ambit_index_of(__VA_ARGS__)
#else
#  define AMBIT_INDEX(...) ((const int64_t[AMBIT_MAX_DIMS]){__VA_ARGS__})
#endif

/* ---- ambit_apply(program, kernel, arguments...) ------------------------------------------- */

/* Each argument may be an ambit_field *, an ambit_scalar *, a number or an ambit_arg_table.
 * Compilers without _Generic (C99) call ambit_apply_args with an array of ambit_arg. */
#if defined(__cplusplus)
inline ambit_arg ambit_arg_of(const ambit_field *f)
{
  return ambit_arg_field(f);
}
inline ambit_arg ambit_arg_of(const ambit_scalar *s)
{
  return ambit_arg_scalar(s);
}
inline ambit_arg ambit_arg_of(const ambit_record *r)
{
  return ambit_arg_record(r);
}
inline ambit_arg ambit_arg_of(double x)
{
  return ambit_arg_number(x);
}
inline ambit_arg ambit_arg_of(const ambit_arg &a)
{
  return a;
}
template <typename Value>
ambit_status ambit_field_boundary(ambit_field *f, unsigned faces, ambit_boundary kind, Value value)
{
  return ambit_field_boundary_arg(f, faces, kind, ambit_arg_of(value));
}
template <typename Value>
ambit_status ambit_inject(ambit_program *p, ambit_points *points, Value value, ambit_field *f)
{
  return ambit_inject_arg(p, points, ambit_arg_of(value), f);
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
template <typename... Args>
ambit_status ambit_sweep(ambit_program *p, unsigned from, const ambit_kernel *k, Args... args)
{
  const ambit_arg list[] = {ambit_arg_of(args)...};
  return ambit_sweep_args(p, from, nullptr, nullptr, k, static_cast<int>(sizeof...(args)), list);
}
template <typename... Args>
ambit_status ambit_sweep_box(ambit_program *p, unsigned from, const int64_t *lo, const int64_t *hi,
                             const ambit_kernel *k, Args... args)
{
  const ambit_arg list[] = {ambit_arg_of(args)...};
  return ambit_sweep_args(p, from, lo, hi, k, static_cast<int>(sizeof...(args)), list);
}
#elif defined(__GNUC__) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L)
#  define AMBIT__ARG(x)                                                                            \
    __extension__ _Generic((x),                                                                    \
        ambit_field *: ambit_arg_field,                                                            \
        const ambit_field *: ambit_arg_field,                                                      \
        ambit_scalar *: ambit_arg_scalar,                                                          \
        const ambit_scalar *: ambit_arg_scalar,                                                    \
        ambit_record *: ambit_arg_record,                                                          \
        const ambit_record *: ambit_arg_record,                                                    \
        ambit_arg: ambit_arg_same,                                                                 \
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
#  define ambit_field_boundary(f, faces, kind, value)                                              \
    ambit_field_boundary_arg(f, faces, kind, AMBIT__ARG(value))
#  define ambit_inject(p, points, value, f) ambit_inject_arg(p, points, AMBIT__ARG(value), f)
#  define ambit_apply(p, k, ...)            ambit_apply_args(p, k, AMBIT__LIST(__VA_ARGS__))
#  define ambit_apply_box(p, lo, hi, k, ...)                                                       \
    ambit_apply_box_args(p, lo, hi, k, AMBIT__LIST(__VA_ARGS__))
#  define ambit_apply_faces(p, faces, k, ...)                                                      \
    ambit_apply_faces_args(p, faces, k, AMBIT__LIST(__VA_ARGS__))
#  define ambit_sweep(p, from, k, ...)                                                             \
    ambit_sweep_args(p, from, NULL, NULL, k, AMBIT__LIST(__VA_ARGS__))
#  define ambit_sweep_box(p, from, lo, hi, k, ...)                                                 \
    ambit_sweep_args(p, from, lo, hi, k, AMBIT__LIST(__VA_ARGS__))
#endif

#endif
