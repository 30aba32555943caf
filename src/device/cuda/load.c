/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - finds NVIDIA's libraries and their functions, once per process.
 *
 * The driver is where the system's loader finds it. NVRTC comes with the toolkit, with a system
 * package, with conda or with pip, so all of their folders are searched. Its major version should
 * not be newer than the driver's, which might reject its output; so versions that are not newer are
 * tried first.
 */
#include "device/cuda/cuda_api.h"

#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One function to find: the offset of its pointer, and its name. */
typedef struct entry {
  size_t offset;
  const char *name;
} entry;

#define X(name, params) {offsetof(ambit__cuda, name), #name},
static const entry cuda_entries[] = {AMBIT__CUDA_MAP(X){0, NULL}};
#undef X
#define X(name, params) {offsetof(ambit__nvrtc, name), #name},
static const entry nvrtc_entries[] = {
    AMBIT__NVRTC_MAP(X){offsetof(ambit__nvrtc, nvrtcGetErrorString), "nvrtcGetErrorString"},
    {0, NULL}};
#undef X

/* Fills in the pointers. Returns the name of the first missing function, or NULL. */
static const char *find_all(void *library, const entry *e, void *calls)
{
  for (; e->name; e++) {
    void *address = dlsym(library, e->name);

    if (!address) return e->name;
    memcpy((char *)calls + e->offset, &address, sizeof address);
  }
  return NULL;
}

/* ---- the driver ---- */

static pthread_once_t cuda_once = PTHREAD_ONCE_INIT;
static ambit__cuda cuda;
static char cuda_why[256]; /* "": loaded */

static void cuda_refuse(const ambit__cuda *c, ambit__cu_result r)
{
  const char *name = NULL, *text = NULL;

  if (r == CU_NO_DEVICE) {
    snprintf(cuda_why, sizeof cuda_why, "the NVIDIA driver finds no GPU");
    return;
  }
  c->cuGetErrorName(r, &name);
  c->cuGetErrorString(r, &text);
  snprintf(cuda_why, sizeof cuda_why, "the NVIDIA driver cannot be used: %s (%s, %u)",
           text ? text : "unknown error", name ? name : "?", r);
}

static void load_cuda(void)
{
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const char *missing;
  ambit__cu_result r;

  if (!library) {
    snprintf(cuda_why, sizeof cuda_why, "libcuda.so.1, of the driver of NVIDIA, is not installed");
    return;
  }
  missing = find_all(library, cuda_entries, &cuda);
  if (missing) {
    snprintf(cuda_why, sizeof cuda_why,
             "the NVIDIA driver is too old: libcuda.so.1 has no %s; install one for CUDA 11.4 or "
             "newer",
             missing);
    return;
  }
  r = cuda.cuInit(0);
  if (r) cuda_refuse(&cuda, r);
}

const ambit__cuda *ambit__cuda_load(const char **why)
{
  pthread_once(&cuda_once, load_cuda);
  *why = cuda_why;
  return cuda_why[0] ? NULL : &cuda;
}

/* ---- NVRTC ---- */

static pthread_once_t nvrtc_once = PTHREAD_ONCE_INIT;
static ambit__nvrtc nvrtc;
static char nvrtc_why[512]; /* "": loaded */

/* Names of the library, newest first; from 11.2 on, CUDA 11 has one name. */
static const struct {
  int major;
  const char *name;
} versions[] = {
    {13, "libnvrtc.so.13"}, {12, "libnvrtc.so.12"}, {11, "libnvrtc.so.11.2"}, {0, "libnvrtc.so"}};

enum { VERSIONS = sizeof versions / sizeof *versions };

/* Folders, as base/library.h has them. */
static const char *const places[] = {
    "CUDA_HOME|/lib64",
    "CUDA_HOME|/lib",
    "CUDA_PATH|/lib64",
    "CUDA_PATH|/lib",
    "VIRTUAL_ENV|/lib/python3*/site-packages/nvidia/c*/lib", /* cuda_nvrtc, cu13 */
    "CONDA_PREFIX|/lib",
    "CONDA_PREFIX|/lib/python3*/site-packages/nvidia/c*/lib",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/lib",
    "/usr/local/cuda-*/lib64",
    "/usr/local/cuda-*/targets/*/lib",
    "/opt/cuda/lib64",
    "/usr/lib/cuda/lib64",
    "HOME|/.local/lib/python3*/site-packages/nvidia/c*/lib",
    "/usr/local/lib/python3*/*-packages/nvidia/c*/lib",
    "/usr/lib/python3*/*-packages/nvidia/c*/lib",
};

/* Loads the library from this path or name. If functions are missing, unloads it again. */
static bool try_library(const char *path)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

  if (!library) return false;
  if (!find_all(library, nvrtc_entries, &nvrtc)) return true;
  dlclose(library);
  return false;
}

static bool try_version(const char *name)
{
  if (try_library(name)) return true;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (ambit__library_seek(places[i], name, try_library)) return true;
  return false;
}

/* The major version of CUDA that the driver supports; 0 without a driver. */
static int driver_major(void)
{
  const char *why;
  const ambit__cuda *c = ambit__cuda_load(&why);
  int version = 0;

  return c && !c->cuDriverGetVersion(&version) ? version / 1000 : 0;
}

static void load_nvrtc(void)
{
  int major = driver_major();

  for (int newer = 0; newer < 2; newer++)
    for (int i = 0; i < VERSIONS; i++)
      if ((major && versions[i].major > major) == newer && try_version(versions[i].name)) return;
  major = major ? major : 13;
  snprintf(
      nvrtc_why, sizeof nvrtc_why,
      "NVIDIA's run-time compiler, libnvrtc.so.%d, was found neither by the system's loader nor "
      "in CUDA_HOME, /usr/local/cuda or Python's packages; install it with the package "
      "cuda-nvrtc of CUDA %d, libnvrtc%d of the system, or pip install nvidia-cuda-nvrtc%s",
      major, major, major,
      major == 13   ? ""
      : major == 12 ? "-cu12"
                    : "-cu11");
}

const ambit__nvrtc *ambit__nvrtc_load(const char **why)
{
  pthread_once(&nvrtc_once, load_nvrtc);
  *why = nvrtc_why;
  return nvrtc_why[0] ? NULL : &nvrtc;
}
