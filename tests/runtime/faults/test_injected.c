/* SPDX-License-Identifier: BSD-3-Clause */
/* The n-th call of a kind fails: an allocation, a call on a file, the start of a compiler, a call
 * of the OpenCL driver, of the CUDA driver or of NVRTC. The same work ends with an error or with
 * the right answer: no crash, no leak, no wrong file.
 *
 *   test_injected [STRIDE [CASE]]    fails one of every STRIDE calls; 1: each of them
 *
 * The linker wraps the functions of the C library in the static library of this test; the functions
 * of the drivers are replaced in their tables. Where the loader finds the stand-ins for NVIDIA's
 * libraries (device/fake_cuda.h), only the cases of CUDA run: launches have no effect, and what is
 * not given back is counted.
 */
#define _GNU_SOURCE 1
#include "device/fake_cuda.h"
#include "device/opencl/cl_gpu.h"
#include "runtime/faults/injected.h"
#include "runtime/runtime_test.h"
#include "support/folder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { ROWS = 12, COLUMNS = 10, CELLS = ROWS * COLUMNS, MOST_FILE = 4096 };

/* ---- faults ---- */

static fault_kind injected;
static bool for_good; /* all calls after the first that fails do, too: the device is lost */
static _Thread_local bool is_mine; /* calls of this thread count; those of NVIDIA's always do */
static atomic_long until_failure;  /* calls of this kind; 0: none fails */
static const char *_Atomic failed; /* the name of the first call that failed; NULL: none did */

bool injected_gives_back(const char *call)
{
  return strstr(call, "Destroy") || strstr(call, "Free") || strstr(call, "Unload") ||
         strstr(call, "Release");
}

bool injected_fails(fault_kind k, const char *call)
{
  if (k != injected || !(is_mine || k == CUDA || k == NVRTC)) return false;
  if (for_good && failed) return !strstr(call, "cuCtx");
  if (until_failure == 0 || atomic_fetch_sub(&until_failure, 1) != 1) return false;
  errno = k == MEMORY ? ENOMEM : EIO;
  failed = call;
  return true;
}

/* result, name, parameters, arguments, result of a failure */
#define WRAP(T, name, params, args, kind, failure)                                                 \
  T __real_##name params;                                                                          \
  T __wrap_##name params;                                                                          \
  T __wrap_##name params                                                                           \
  {                                                                                                \
    return injected_fails(kind, #name) ? (failure) : __real_##name args;                           \
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
  return injected_fails(FILES, "open") ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int f, const char *path, int flags, ...)
{
  va_list list;
  mode_t mode;

  va_start(list, flags);
  mode = mode_of(flags, list);
  va_end(list);
  return injected_fails(FILES, "openat") ? -1 : __real_openat(f, path, flags, mode);
}

/* ---- the driver ---- */

static ambit__cl_api real; /* the functions of the driver */

#define CODE(name, params, args)                                                                   \
  static cl_int fail_##name params                                                                 \
  {                                                                                                \
    return injected_fails(OPENCL, #name) ? CL_OUT_OF_RESOURCES : real.name args;                   \
  }
#define MAKE(T, name, params, args, code)                                                          \
  static T fail_##name params                                                                      \
  {                                                                                                \
    if (!injected_fails(OPENCL, #name)) return real.name args;                                     \
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

typedef struct scene {
  const char *device;
  int64_t iterations, more; /* more: at most, until the scalar meets a condition */
  const char *trace;        /* the name of a file; NULL: none */
} scene;

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

static void work(const scene *w, const char *cache, result *r)
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
  ambit_option_set(a, "devices", w->device);
  ambit_option_set(a, "cache", cache);
  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "threads", "1");
  ambit_option_set(a, "verbose", "-1");
  if (w->trace) ambit_option_set(a, "trace", folder_path(w->trace));
  g = ambit_grid_create(a, 2, extents);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  change = ambit_scalar_create(a, "change", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, start, NULL);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v, change);
  ambit_swap(p, u, v);
  ambit_run(p, w->iterations);
  if (w->more) ambit_run_until(p, change, AMBIT_BELOW, 0.01, w->more);
  ambit_field_save(u, path);
  ambit_field_load(v, path);
  ambit_field_read(v, NULL, NULL, r->values);
  r->status = a ? ambit_close(a) : AMBIT_ENOMEM;
  r->bytes = slurp(path, r->file);
}

/* ---- rounds ---- */

static long stride = 19;

/* An older output; it is there unless the new one is complete. */
static void put_old_file(void)
{
  FILE *f = __real_fopen(folder_path("out.npy"), "wb");

  if (f) fputs("old", f);
  if (f) fclose(f);
}

static void check_round(const result *want, const result *got)
{
  const bool is_old = got->bytes == 3 && !memcmp(got->file, "old", 3);
  const bool is_new = got->bytes == want->bytes && !memcmp(got->file, want->file, want->bytes);
  const char *call = failed ? failed : "no call";

  CHECK_MSG(is_old || is_new, "%s failed: the file is neither old nor new", call);
  if (got->status) return;
  CHECK_MSG(is_new, "%s failed: success, but the file is old", call);
  CHECK_MSG(!memcmp(got->values, want->values, sizeof want->values),
            "%s failed: success, but wrong values", call);
}

static void remove_cache(const char *cache)
{
  char command[600];

  snprintf(command, sizeof command, "rm -rf '%s'", cache);
  CHECK_EQ(0, system(command));
}

static fake_cuda_state *fake; /* the stand-in for the driver, if there is one */

static void find_fake(void)
{
  void *library = dlopen("libcuda.so.1", RTLD_NOW);

  fake = library ? dlsym(library, "fake_cuda") : NULL;
  if (fake) fake->memory = 256 << 20;
}

/* Objects of the driver that exist; contexts that are held count, too. */
static int objects(void)
{
  const fake_cuda_state *f = fake;

  if (!f) return 0;
  return f->contexts + f->streams + f->events + f->modules + f->allocations + f->pinned + f->graphs;
}

static void check_books(int before)
{
  const int kept = objects() - before;
  const char *call = failed ? failed : "no call";

  /* on a device whose context cannot be made current, one object cannot be given back */
  CHECK_MSG(kept <= !strcmp(call, "cuCtxSetCurrent"),
            "%s failed: %d objects of the driver are left", call, kept);
}

/* One round, in which the n-th call fails. */
static void run_round(const scene *w, const char *cache, long n, const result *want, result *got)
{
  const int before = objects();

  put_old_file();
  failed = NULL;
  until_failure = n;
  is_mine = true;
  work(w, cache, got);
  is_mine = false;
  until_failure = 0;
  check_round(want, got);
  check_books(before);
}

/* Fails call after call, with a cache that is kept or removed before each round. */
static void inject(fault_kind k, const scene *w, bool cold, long step)
{
  static result want, got;
  char cache[500];
  long n = 1, errors_seen = 0, rounds = 0;

  snprintf(cache, sizeof cache, "%s", folder_path("cache"));
  injected = k;
  failed = NULL;
  work(w, cache, &want);
  CHECK_EQ(AMBIT_OK, want.status);
  do {
    if (cold) remove_cache(cache);
    run_round(w, cache, n, &want, &got);
    errors_seen += got.status != AMBIT_OK;
    rounds++;
    n += step;
  } while (failed);
  printf("# %s, kind %d%s%s%s: %ld rounds, %ld with an error\n", w->device, k, cold ? ", cold" : "",
         w->trace ? ", traced" : "", for_good ? ", for good" : "", rounds, errors_seen);
  unlink(folder_path("out.npy"));
  if (w->trace) unlink(folder_path(w->trace));
  remove_cache(cache);
  CHECK_MSG(folder_files() == 0, "%d files are left", folder_files());
}

static const scene on_ref = {"ref", 3, 0, NULL}, on_cpu = {"cpu", 3, 0, NULL};
static const scene on_opencl = {"opencl", 3, 0, NULL};
static const scene on_cuda = {"cuda", 3, 20, NULL}, on_parts = {"cuda*2", 16, 0, NULL};
static const scene on_traced = {"cuda", 2, 0, "trace.json"};
static const scene on_two = {"cuda:0,cuda:1", 2, 0, NULL};

static void every_allocation_can_fail(void)
{
  inject(MEMORY, &on_ref, false, stride);
  inject(MEMORY, &on_cpu, false, stride);
}

static void every_call_on_a_file_can_fail(void)
{
  inject(FILES, &on_cpu, false, 1 + stride / 2);
  inject(FILES, &on_cpu, true, 3 * stride);
}

static void every_start_of_a_compiler_can_fail(void)
{
  inject(COMPILER, &on_cpu, true, 1);
}

static void every_call_of_opencl_can_fail(void)
{
  if (ambit__cl_count() < 1) SKIP("there is no OpenCL device");
  inject(OPENCL, &on_opencl, false, 2 * stride);
}

/* ---- CUDA ---- */

static int cuda_devices; /* of NVIDIA, or the stand-in's */

static void inject_cuda(void)
{
  const long step = stride > 1 ? 3 * stride : 1;

  inject(CUDA, &on_cuda, false, step);
  inject(CUDA, &on_parts, false, step);
  inject(CUDA, &on_traced, false, 11 * step); /* thousands of calls, most about events */
  if (cuda_devices > 1) inject(CUDA, &on_two, false, 11 * step);
}

static void every_call_of_cuda_can_fail(void)
{
  if (!cuda_devices) SKIP("there is no CUDA device");
  inject_cuda();
}

static void cuda_can_be_lost_at_every_call(void)
{
  if (!cuda_devices) SKIP("there is no CUDA device");
  for_good = true;
  inject_cuda();
  for_good = false;
}

static void every_call_of_nvrtc_can_fail(void)
{
  if (!cuda_devices) SKIP("there is no CUDA device");
  inject(NVRTC, &on_cuda, true, stride);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_allocation_can_fail", every_allocation_can_fail},
      {"every_call_on_a_file_can_fail", every_call_on_a_file_can_fail},
      {"every_start_of_a_compiler_can_fail", every_start_of_a_compiler_can_fail},
      {"every_call_of_opencl_can_fail", every_call_of_opencl_can_fail},
      {"every_call_of_cuda_can_fail", every_call_of_cuda_can_fail},
      {"cuda_can_be_lost_at_every_call", cuda_can_be_lost_at_every_call},
      {"every_call_of_nvrtc_can_fail", every_call_of_nvrtc_can_fail},
      {0}};
  int status;

  if (argc > 1 && atol(argv[1]) > 0) {
    stride = atol(argv[1]);
    argc--, argv++;
  }
  if (!folder_make()) return 1;
  if (ambit__cl_count() > 0) replace_driver();
  find_fake();
  cuda_devices = failing_cuda_hold();
  status = test_main(argc, argv, tests + (fake ? 4 : 0));
  folder_remove();
  return status;
}
