/* SPDX-License-Identifier: BSD-3-Clause */
/* The n-th call of a kind fails: an allocation, a call on a file, the start of a compiler, a call
 * of the OpenCL driver. The same work ends with an error or with the right answer: no crash, no
 * leak, no wrong file.
 *
 *   test_injected [STRIDE]    fails one of every STRIDE calls; 1: each of them
 *
 * The linker wraps the functions of the C library in the static library of this test; the functions
 * of the driver are replaced in its table.
 */
#define _GNU_SOURCE 1
#include "device/opencl/cl_gpu.h"
#include "runtime_test.h"
#include "support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { ROWS = 12, COLUMNS = 10, CELLS = ROWS * COLUMNS, MOST_FILE = 4096 };

typedef enum kind { MEMORY, FILES, COMPILER, DRIVER, KINDS } kind;

/* ---- faults ---- */

static kind injected;
static _Thread_local bool is_mine; /* calls of this thread count */
static long until_failure;         /* calls of this kind; 0: none fails */
static bool has_failed;

static bool fails(kind k)
{
  if (!is_mine || k != injected || !until_failure || --until_failure) return false;
  errno = k == MEMORY ? ENOMEM : EIO;
  return has_failed = true;
}

/* result, name, parameters, arguments, result of a failure */
#define WRAP(T, name, params, args, kind, failure)                                                 \
  T __real_##name params;                                                                          \
  T __wrap_##name params;                                                                          \
  T __wrap_##name params                                                                           \
  {                                                                                                \
    return fails(kind) ? (failure) : __real_##name args;                                           \
  }
WRAP(void *, malloc, (size_t n), (n), MEMORY, NULL)
WRAP(void *, calloc, (size_t n, size_t m), (n, m), MEMORY, NULL)
WRAP(void *, realloc, (void *p, size_t n), (p, n), MEMORY, NULL)
WRAP(void *, aligned_alloc, (size_t a, size_t n), (a, n), MEMORY, NULL)
WRAP(ssize_t, read, (int f, void *to, size_t n), (f, to, n), FILES, -1)
WRAP(ssize_t, write, (int f, const void *from, size_t n), (f, from, n), FILES, -1)
WRAP(ssize_t, pread, (int f, void *to, size_t n, off_t at), (f, to, n, at), FILES, -1)
WRAP(ssize_t, pwrite, (int f, const void *from, size_t n, off_t at), (f, from, n, at), FILES, -1)
WRAP(int, fsync, (int f), (f), FILES, -1)
WRAP(int, ftruncate, (int f, off_t n), (f, n), FILES, -1)
WRAP(int, posix_fallocate, (int f, off_t at, off_t n), (f, at, n), FILES, EIO)
WRAP(int, rename, (const char *a, const char *b), (a, b), FILES, -1)
WRAP(int, renameat, (int f, const char *a, int g, const char *b), (f, a, g, b), FILES, -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), FILES, -1)
WRAP(char *, mkdtemp, (char *path), (path), FILES, NULL)
WRAP(int, fstat, (int f, struct stat *st), (f, st), FILES, -1)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), FILES, NULL)
WRAP(int, dup, (int f), (f), FILES, -1)
WRAP(int, pipe2, (int *f, int flags), (f, flags), COMPILER, -1)
WRAP(int, clone, (int (*fn)(void *), void *stack, int flags, void *arg), (fn, stack, flags, arg),
     COMPILER, -1)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_openat(int f, const char *path, int flags, ...);
int __wrap_openat(int f, const char *path, int flags, ...);

static mode_t mode_of(int flags, va_list list)
{
  return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(list, int) : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
  va_list list;
  mode_t mode;

  va_start(list, flags);
  mode = mode_of(flags, list);
  va_end(list);
  return fails(FILES) ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int f, const char *path, int flags, ...)
{
  va_list list;
  mode_t mode;

  va_start(list, flags);
  mode = mode_of(flags, list);
  va_end(list);
  return fails(FILES) ? -1 : __real_openat(f, path, flags, mode);
}

/* ---- the driver ---- */

static ambit__cl_api real; /* the functions of the driver */

#define CODE(name, params, args)                                                                   \
  static cl_int fail_##name params                                                                 \
  {                                                                                                \
    return fails(DRIVER) ? CL_OUT_OF_RESOURCES : real.name args;                                   \
  }
#define MAKE(T, name, params, args, code)                                                          \
  static T fail_##name params                                                                      \
  {                                                                                                \
    if (!fails(DRIVER)) return real.name args;                                                     \
    if (code) *(code) = CL_OUT_OF_RESOURCES;                                                       \
    return NULL;                                                                                   \
  }
#define EVENTS cl_uint n, const cl_event *after, cl_event *e
CODE(clFlush, (cl_command_queue q), (q))
CODE(clFinish, (cl_command_queue q), (q))
CODE(clSetKernelArg, (cl_kernel k, cl_uint i, size_t size, const void *value), (k, i, size, value))
CODE(clBuildProgram,
     (cl_program p, cl_uint i, const cl_device_id *d, const char *options,
      void (*notify)(cl_program, void *), void *user),
     (p, i, d, options, notify, user))
CODE(clGetProgramInfo, (cl_program p, cl_uint what, size_t size, void *value, size_t *got),
     (p, what, size, value, got))
CODE(clEnqueueReadBuffer,
     (cl_command_queue q, cl_mem m, cl_bool wait, size_t at, size_t size, void *to, EVENTS),
     (q, m, wait, at, size, to, n, after, e))
CODE(clEnqueueWriteBuffer,
     (cl_command_queue q, cl_mem m, cl_bool wait, size_t at, size_t size, const void *from, EVENTS),
     (q, m, wait, at, size, from, n, after, e))
CODE(clEnqueueCopyBuffer,
     (cl_command_queue q, cl_mem from, cl_mem to, size_t a, size_t b, size_t size, EVENTS),
     (q, from, to, a, b, size, n, after, e))
CODE(clEnqueueFillBuffer,
     (cl_command_queue q, cl_mem m, const void *value, size_t size, size_t at, size_t bytes,
      EVENTS),
     (q, m, value, size, at, bytes, n, after, e))
CODE(clEnqueueNDRangeKernel,
     (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l,
      EVENTS),
     (q, k, d, o, g, l, n, after, e))
MAKE(cl_command_queue, clCreateCommandQueue,
     (cl_context c, cl_device_id d, cl_bitfield what, cl_int *code), (c, d, what, code), code)
MAKE(cl_mem, clCreateBuffer,
     (cl_context c, cl_bitfield flags, size_t bytes, void *host, cl_int *code),
     (c, flags, bytes, host, code), code)
MAKE(cl_program, clCreateProgramWithSource,
     (cl_context c, cl_uint n, const char **texts, const size_t *sizes, cl_int *code),
     (c, n, texts, sizes, code), code)
MAKE(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *code), (p, name, code),
     code)

static void replace_driver(void)
{
  real = ambit__cl;
  ambit__cl.clFlush = fail_clFlush;
  ambit__cl.clFinish = fail_clFinish;
  ambit__cl.clSetKernelArg = fail_clSetKernelArg;
  ambit__cl.clBuildProgram = fail_clBuildProgram;
  ambit__cl.clGetProgramInfo = fail_clGetProgramInfo;
  ambit__cl.clEnqueueReadBuffer = fail_clEnqueueReadBuffer;
  ambit__cl.clEnqueueWriteBuffer = fail_clEnqueueWriteBuffer;
  ambit__cl.clEnqueueCopyBuffer = fail_clEnqueueCopyBuffer;
  ambit__cl.clEnqueueFillBuffer = fail_clEnqueueFillBuffer;
  ambit__cl.clEnqueueNDRangeKernel = fail_clEnqueueNDRangeKernel;
  ambit__cl.clCreateCommandQueue = fail_clCreateCommandQueue;
  ambit__cl.clCreateBuffer = fail_clCreateBuffer;
  ambit__cl.clCreateProgramWithSource = fail_clCreateProgramWithSource;
  ambit__cl.clCreateKernel = fail_clCreateKernel;
}

/* ---- the work ---- */

typedef struct result {
  ambit_status status;
  float values[CELLS];  /* after a save and a load */
  char file[MOST_FILE]; /* what is under the name of the output at the end */
  size_t bytes;         /* of it */
} result;

static double start(const int64_t *i, int component, void *user)
{
  (void)component, (void)user;
  return (double)(i[0] * 7 % 5 + i[1] * 3 % 4);
}

static size_t slurp(const char *path, char *to)
{
  FILE *f = __real_fopen(path, "rb");
  const size_t n = f ? fread(to, 1, MOST_FILE, f) : 0;

  if (f) fclose(f);
  return n;
}

static void work(const char *device, const char *cache, result *r)
{
  static const char rule[] = "void heat(const float *u, float *v, max float *change)\n"
                             "{ *v = *u + 0.125f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * "
                             "*u); *change = fabsf(*v - *u); }";
  const int64_t extents[] = {ROWS, COLUMNS};
  const char *path = folder_path("out.npy");
  ambit *a = ambit_open(NULL, NULL);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_scalar *change;
  ambit_program *p;

  memset(r, 0, sizeof *r);
  ambit_on_error(a, NULL, NULL);
  ambit_option_set(a, "devices", device);
  ambit_option_set(a, "cache", cache);
  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "threads", "1");
  ambit_option_set(a, "verbose", "-1");
  g = ambit_grid_create(a, 2, extents);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  change = ambit_scalar_create(a, "change", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, start, NULL);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v, change);
  ambit_swap(p, u, v);
  ambit_run(p, 3);
  ambit_field_save(u, path);
  ambit_field_load(v, path);
  ambit_field_read(v, NULL, NULL, r->values);
  r->status = a ? ambit_close(a) : AMBIT_ENOMEM;
  r->bytes = slurp(path, r->file);
}

/* ---- rounds ---- */

static long stride = 7;

/* An older output; it is there unless the new one is complete. */
static void put_old_file(void)
{
  FILE *f = __real_fopen(folder_path("out.npy"), "wb");

  if (f) fputs("old", f);
  if (f) fclose(f);
}

static void check_round(const result *want, const result *got, kind k, long n)
{
  const bool is_old = got->bytes == 3 && !memcmp(got->file, "old", 3);
  const bool is_new = got->bytes == want->bytes && !memcmp(got->file, want->file, want->bytes);

  CHECK_MSG(is_old || is_new, "kind %d, call %ld: the file is neither old nor new", k, n);
  if (got->status) return;
  CHECK_MSG(is_new, "kind %d, call %ld: success, but the file is old", k, n);
  CHECK_MSG(!memcmp(got->values, want->values, sizeof want->values),
            "kind %d, call %ld: success, but wrong values", k, n);
}

static void remove_cache(const char *cache)
{
  char command[600];

  snprintf(command, sizeof command, "rm -rf '%s'", cache);
  CHECK_EQ(0, system(command));
}

/* Fails call after call, with a cache that is kept or removed before each round. */
static void inject(kind k, const char *device, bool cold, long step)
{
  static result want, got;
  char cache[500];
  long n = 1, errors_seen = 0, rounds = 0;

  snprintf(cache, sizeof cache, "%s", folder_path("cache"));
  injected = k;
  until_failure = 0;
  work(device, cache, &want);
  CHECK_EQ(AMBIT_OK, want.status);
  do {
    if (cold) remove_cache(cache);
    put_old_file();
    has_failed = false;
    until_failure = n;
    is_mine = true;
    work(device, cache, &got);
    is_mine = false;
    until_failure = 0;
    check_round(&want, &got, k, n);
    errors_seen += got.status != AMBIT_OK;
    rounds++;
    n += step;
  } while (has_failed);
  printf("# %s, kind %d%s: %ld rounds, %ld with an error\n", device, k, cold ? ", cold" : "",
         rounds, errors_seen);
  unlink(folder_path("out.npy"));
  remove_cache(cache);
  CHECK_MSG(folder_files() == 0, "%d files are left", folder_files());
}

static void every_allocation_can_fail(void)
{
  inject(MEMORY, "ref", false, stride);
  inject(MEMORY, "cpu", false, stride);
}

static void every_call_on_a_file_can_fail(void)
{
  inject(FILES, "cpu", false, 1 + stride / 2);
  inject(FILES, "cpu", true, 3 * stride);
}

static void every_start_of_a_compiler_can_fail(void)
{
  inject(COMPILER, "cpu", true, 1);
}

static void every_call_of_the_driver_can_fail(void)
{
  if (ambit__cl_count() < 1) SKIP("there is no OpenCL device");
  inject(DRIVER, "opencl", false, 2 * stride);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_allocation_can_fail", every_allocation_can_fail},
      {"every_call_on_a_file_can_fail", every_call_on_a_file_can_fail},
      {"every_start_of_a_compiler_can_fail", every_start_of_a_compiler_can_fail},
      {"every_call_of_the_driver_can_fail", every_call_of_the_driver_can_fail},
      {0}};
  int status;

  if (argc > 1 && atol(argv[1]) > 0) {
    stride = atol(argv[1]);
    argc = 1;
  }
  if (!folder_make()) return 1;
  if (ambit__cl_count() > 0) replace_driver();
  status = test_main(argc, argv, tests);
  folder_remove();
  return status;
}
