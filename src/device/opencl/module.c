/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - compiles and launches kernels with OpenCL. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "codegen/source.h"
#include "device/opencl/cl_gpu.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES_SHOWN = 12, FLUSH_EVERY = 32 };

struct ambit__gpu_module {
  ambit__gpu *gpu;
  cl_program program;
  ambit__gpu_function *functions; /* list */
};

struct ambit__gpu_function {
  ambit__gpu_module *module;
  cl_kernel kernel;
  char *name;
  struct ambit__gpu_function *next;
};

/* ---- compilation ---- */

typedef struct options {
  char text[64];
} options;

static options options_of(const ambit__gpu *gpu, bool strict)
{
  const char *rounding = !strict                ? " -cl-mad-enable"
                         : gpu->divides_exactly ? " -cl-fp32-correctly-rounded-divide-sqrt"
                                                : "";
  options o;

  snprintf(o.text, sizeof o.text, "-cl-std=CL1.2%s", rounding);
  return o;
}

static void make_key(const ambit__gpu *gpu, const char *source, bool strict,
                     char key[AMBIT__HASH_CHARS])
{
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_text(&h, "opencl");
  ambit__hash_text(&h, gpu->info.identity);
  ambit__hash_text(&h, options_of(gpu, strict).text);
  ambit__source_hash(&h, source);
  ambit__hash_hex(&h, key);
}

/* The compiler's output, to free(); NULL if there is none. */
static char *build_log(const ambit__gpu *gpu, cl_program program)
{
  size_t bytes = 0;
  char *text;

  ambit__cl.clGetProgramBuildInfo(program, gpu->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
  text = bytes ? calloc(bytes + 1, 1) : NULL;
  if (text)
    ambit__cl.clGetProgramBuildInfo(program, gpu->device, CL_PROGRAM_BUILD_LOG, bytes, text, NULL);
  return text;
}

static ambit_status build_failed(ambit__gpu *gpu, const char *what, const char *key,
                                 const char *source, cl_int code, cl_program program)
{
  char *log = build_log(gpu, program), *place = ambit__cache_exhibit(&gpu->cache, key, source);
  const char *words = log ? log : "";

  ambit__raise(gpu->errors, AMBIT_ECOMPILE,
               "the OpenCL compiler of %s refused %s (%s), kept in %s:\n%.*s", gpu->info.name, what,
               ambit__cl_code_name(code), place ? place : "no file",
               ambit__head_length(words, LINES_SHOWN), words);
  free(place);
  free(log);
  return AMBIT_ECOMPILE;
}

static bool has_kernel(cl_program program, const char *entry)
{
  cl_int err = CL_SUCCESS;
  cl_kernel kernel = ambit__cl.clCreateKernel(program, entry, &err);

  if (!kernel || err) return false;
  ambit__cl.clReleaseKernel(kernel);
  return true;
}

/* From the cache; NULL if it has no code that this driver accepts and that has this kernel. */
static cl_program load_binary(ambit__gpu *gpu, const char *key, const char *source,
                              const char *entry, bool strict)
{
  size_t bytes = 0;
  unsigned char *code = ambit__cache_load(&gpu->cache, key, source, &bytes);
  const unsigned char *from = code;
  cl_int err = CL_SUCCESS;
  cl_program program;

  if (!code) return NULL;
  program =
      ambit__cl.clCreateProgramWithBinary(gpu->context, 1, &gpu->device, &bytes, &from, NULL, &err);
  free(code);
  if (!program || err) return NULL;
  if (ambit__cl.clBuildProgram(program, 1, &gpu->device, options_of(gpu, strict).text, NULL,
                               NULL) ||
      !has_kernel(program, entry)) {
    ambit__cl.clReleaseProgram(program);
    return NULL;
  }
  return program;
}

static void save_binary(ambit__gpu *gpu, const char *key, const char *source, cl_program program)
{
  size_t bytes = 0;
  unsigned char *code;

  if (!gpu->keeps_code || !gpu->cache.folder) return;
  if (ambit__cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL))
    return;
  code = bytes ? malloc(bytes) : NULL;
  if (code &&
      !ambit__cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(void *), &code, NULL))
    ambit__cache_save(&gpu->cache, key, source, code, bytes);
  free(code);
}

/* Compiles, and saves the code if it has this kernel. */
static ambit_status compile(ambit__gpu *gpu, const char *what, const char *key, const char *source,
                            const char *entry, bool strict, cl_program *out)
{
  double start = ambit__clock();
  cl_int err = CL_SUCCESS;
  cl_program program = ambit__cl.clCreateProgramWithSource(gpu->context, 1, &source, NULL, &err);

  if (!program) return ambit__cl_check(gpu, err, "clCreateProgramWithSource");
  err =
      ambit__cl.clBuildProgram(program, 1, &gpu->device, options_of(gpu, strict).text, NULL, NULL);
  if (err) {
    build_failed(gpu, what, key, source, err, program);
    ambit__cl.clReleaseProgram(program);
    return AMBIT_ECOMPILE;
  }
  ambit__log(gpu->settings, 2, "compiled %s for %s in %.2f s", key, gpu->info.name,
             ambit__clock() - start);
  if (has_kernel(program, entry)) save_binary(gpu, key, source, program);
  *out = program;
  return AMBIT_OK;
}

/* From the cache or compiled; kept for later use. */
static ambit_status make_program(ambit__gpu *gpu, const char *what, const char *key,
                                 const char *source, const char *entry, bool strict,
                                 cl_program *out)
{
  *out = load_binary(gpu, key, source, entry, strict);
  if (!*out) AMBIT_TRY(compile(gpu, what, key, source, entry, strict, out));
  ambit__cl_program_keep(gpu->ordinal, key, *out);
  return AMBIT_OK;
}

ambit_status ambit__cl_build(ambit__gpu *gpu, const char *what, const char *source,
                             const char *entry, bool strict, ambit__gpu_module **out)
{
  ambit__gpu_module *m = ambit__new(gpu->errors, 1, sizeof *m);
  const bool asked = strict && gpu->settings->strict; /* fixed kernels are strict in any case */
  char key[AMBIT__HASH_CHARS];
  ambit_status s = AMBIT_OK;

  if (!m) return AMBIT_ENOMEM;
  if (asked && !gpu->divides_exactly && !gpu->warned)
    ambit__log(gpu->settings, 0,
               "%s cannot round float divisions and square roots correctly: strict results may "
               "differ from other devices in the last bit",
               gpu->info.name);
  gpu->warned |= asked;
  make_key(gpu, source, strict, key);
  m->gpu = gpu;
  m->program = ambit__cl_program_find(gpu->ordinal, key);
  if (!m->program) s = make_program(gpu, what, key, source, entry, strict, &m->program);
  if (s) {
    free(m);
    return s;
  }
  *out = m;
  return AMBIT_OK;
}

void ambit__cl_unload(ambit__gpu_module *m)
{
  if (!m) return;
  while (m->functions) {
    ambit__gpu_function *f = m->functions;

    m->functions = f->next;
    ambit__cl.clReleaseKernel(f->kernel);
    free(f->name);
    free(f);
  }
  ambit__cl.clReleaseProgram(m->program);
  free(m);
}

/* ---- functions ---- */

ambit_status ambit__cl_function(ambit__gpu_module *m, const char *name, ambit__gpu_function **out)
{
  ambit__gpu_function *f = ambit__new(m->gpu->errors, 1, sizeof *f);
  cl_int err = CL_SUCCESS;

  if (!f) return AMBIT_ENOMEM;
  f->module = m;
  f->name = ambit__strdup(m->gpu->errors, name);
  if (f->name) f->kernel = ambit__cl.clCreateKernel(m->program, name, &err);
  if (!f->name || err) {
    free(f->name);
    free(f);
    AMBIT_CHECK(err != CL_INVALID_KERNEL_NAME, m->gpu->errors, AMBIT_ECOMPILE,
                "OpenCL on %s: the source has no kernel %s", m->gpu->info.name, name);
    return err ? ambit__cl_check(m->gpu, err, "clCreateKernel") : AMBIT_ENOMEM;
  }
  f->next = m->functions;
  *out = m->functions = f;
  return AMBIT_OK;
}

static cl_int set_args(cl_kernel kernel, size_t shared, int nargs, const ambit__gpu_arg *args)
{
  cl_int err = CL_SUCCESS;

  for (int i = 0; !err && i < nargs; i++)
    if (args[i].memory)
      err = ambit__cl.clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem), &args[i].memory->mem);
    else
      err = ambit__cl.clSetKernelArg(kernel, (cl_uint)i, args[i].bytes, args[i].value);
  if (!err && shared) err = ambit__cl.clSetKernelArg(kernel, (cl_uint)nargs, shared, NULL);
  return err;
}

ambit_status ambit__cl_launch(ambit__gpu_queue *q, ambit__gpu_function *f,
                              const ambit__shape *shape, int nargs, const ambit__gpu_arg *args)
{
  size_t global[3], local[3];
  cl_int err = set_args(f->kernel, shape->shared, nargs, args);

  assert(!shape->edges);
  AMBIT_TRY(ambit__cl_check(q->gpu, err, f->name));
  for (int k = 0; k < 3; k++) {
    local[k] = (size_t)shape->threads[k];
    global[k] = (size_t)shape->blocks[k] * local[k];
  }
  err =
      ambit__cl.clEnqueueNDRangeKernel(q->queue, f->kernel, 3, NULL, global, local, 0, NULL, NULL);
  AMBIT_TRY(ambit__cl_check(q->gpu, err, f->name));
  if (++q->waiting < FLUSH_EVERY) return AMBIT_OK;
  q->waiting = 0; /* some drivers start only after a flush */
  return ambit__cl_check(q->gpu, ambit__cl.clFlush(q->queue), "clFlush");
}
