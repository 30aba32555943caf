/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - finds the OpenCL loader, its platforms and their devices, once per process.
 *
 * A platform that fails is skipped: machines with several platforms often have a broken one.
 */
#include "device/opencl/cl_gpu.h"

#include "base/fork.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PLATFORMS = 32 };

typedef struct found {
  cl_platform_id platform;
  cl_device_id device;
} found;

ambit__cl_api ambit__cl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static found devices[AMBIT__CL_DEVICES];
static int ndevices, nfast;
static int fork_number; /* of the process that loaded the drivers */
static char why_none[300];

/* ---- codes ---- */

const char *ambit__cl_code_name(cl_int code)
{
  switch (code) {
#define X(name, value)                                                                             \
  case CL_##name: return "CL_" #name;
    AMBIT__CL_CODE_MAP(X)
#undef X
  default: return "an unknown code";
  }
}

ambit_status ambit__cl_check(const ambit__gpu *gpu, cl_int code, const char *what)
{
  const double mib = 1024.0 * 1024.0;

  if (code == CL_SUCCESS) return AMBIT_OK;
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY)
    return ambit__raise(gpu->errors, AMBIT_ENOMEM,
                        "OpenCL on %s: %s failed with %s (%d); of its %.1f MiB, %.1f MiB are in "
                        "use here",
                        gpu->info.name, what, ambit__cl_code_name(code), (int)code,
                        (double)gpu->info.memory / mib, (double)gpu->used / mib);
  return ambit__raise(gpu->errors, AMBIT_EDEVICE, "OpenCL on %s: %s failed with %s (%d)",
                      gpu->info.name, what, ambit__cl_code_name(code), (int)code);
}

/* ---- the library ---- */

static bool load_functions(void *library)
{
#define X(result, name, parameters)                                                                \
  {                                                                                                \
    void *address = dlsym(library, #name);                                                         \
                                                                                                   \
    if (!address) {                                                                                \
      snprintf(why_none, sizeof why_none,                                                          \
               "libOpenCL.so.1 has no function %s: it is older than OpenCL 1.2", #name);           \
      return false;                                                                                \
    }                                                                                              \
    memcpy(&ambit__cl.name, &address, sizeof address);                                             \
  }
  AMBIT__CL_MAP(X)
#undef X
  return true;
}

/* ---- devices ---- */

void ambit__cl_text(cl_device_id device, cl_uint what, char text[AMBIT__CL_TEXT])
{
  memset(text, 0, AMBIT__CL_TEXT);
  ambit__cl.clGetDeviceInfo(device, what, AMBIT__CL_TEXT - 1, text, NULL);
}

bool ambit__cl_has_extension(cl_device_id device, const char *name)
{
  const size_t length = strlen(name);
  size_t bytes = 0;
  bool has = false;
  char *all;

  ambit__cl.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes);
  all = calloc(bytes + 1, 1);
  if (!all) return false;
  ambit__cl.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, all, NULL);
  for (const char *word = all; *word && !has; word += strspn(word, " ")) {
    const size_t n = strcspn(word, " ");

    has = n == length && !memcmp(word, name, length);
    word += n;
  }
  free(all);
  return has;
}

static bool is_usable(cl_device_id device)
{
  cl_bool available = CL_FALSE, compiles = CL_FALSE;
  char version[AMBIT__CL_TEXT];
  int major = 0, minor = 0;

  ambit__cl.clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
  ambit__cl.clGetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiles, &compiles, NULL);
  ambit__cl_text(device, CL_DEVICE_VERSION, version);
  if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2) return false;
  return available && compiles && (major > 1 || minor >= 2);
}

static bool shares_memory(cl_device_id device)
{
  cl_bool shares = CL_FALSE;

  ambit__cl.clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof shares, &shares, NULL);
  return shares;
}

/* A kind of devices; GPUs that share the memory of the cores have no more bandwidth than these. */
typedef struct kind {
  cl_bitfield type;
  bool shares;
} kind;

static void add_devices(cl_platform_id platform, const kind *k)
{
  cl_device_id ids[AMBIT__CL_DEVICES];
  cl_uint n = 0;

  if (ambit__cl.clGetDeviceIDs(platform, k->type, AMBIT__CL_DEVICES, ids, &n)) return;
  for (cl_uint i = 0; i < n && i < AMBIT__CL_DEVICES && ndevices < AMBIT__CL_DEVICES; i++)
    if (is_usable(ids[i]) && shares_memory(ids[i]) == k->shares) {
      devices[ndevices++] = (found){platform, ids[i]};
      nfast += k->type == CL_DEVICE_TYPE_GPU && !k->shares;
    }
}

static void find_devices(void)
{
  static const kind kinds[] = {
      {CL_DEVICE_TYPE_GPU, false},         {CL_DEVICE_TYPE_GPU, true},
      {CL_DEVICE_TYPE_ACCELERATOR, false}, {CL_DEVICE_TYPE_ACCELERATOR, true},
      {CL_DEVICE_TYPE_CPU, false},         {CL_DEVICE_TYPE_CPU, true}};
  cl_platform_id platforms[MOST_PLATFORMS];
  cl_uint n = 0;
  cl_int code = ambit__cl.clGetPlatformIDs(MOST_PLATFORMS, platforms, &n);

  if (code || !n) {
    snprintf(why_none, sizeof why_none,
             "OpenCL is installed, but no platform for it (%s): install the driver of your GPU "
             "with its OpenCL part, or pocl-opencl-icd for the processor",
             ambit__cl_code_name(code));
    return;
  }
  if (n > MOST_PLATFORMS) n = MOST_PLATFORMS;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (cl_uint i = 0; i < n; i++)
      add_devices(platforms[i], &kinds[k]);
  if (!ndevices)
    snprintf(why_none, sizeof why_none,
             "OpenCL is installed, but none of its %u platform%s has a device of OpenCL 1.2 or "
             "newer that can be used",
             n, n == 1 ? "" : "s");
}

static void load(void)
{
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

  if (!library)
    snprintf(why_none, sizeof why_none,
             "the OpenCL loader libOpenCL.so.1 is not installed (on Debian and Ubuntu: "
             "ocl-icd-libopencl1)");
  else if (load_functions(library))
    find_devices();
  fork_number = ambit__fork_number();
}

/* Whether the drivers can be used: PoCL 3.1 waits for threads that only the parent has. */
static bool is_ready(void)
{
  pthread_once(&once, load);
  return fork_number == ambit__fork_number();
}

int ambit__cl_count(void)
{
  return is_ready() ? ndevices : 0;
}

int ambit__cl_fast(void)
{
  static const char *const nodes[] = {"/dev/dri", "/dev/kfd", "/dev/nvidiactl", "/dev/dxg"};

  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
    if (!access(nodes[i], F_OK)) return is_ready() ? nfast : 0;
  return 0;
}

const char *ambit__cl_why_none(void)
{
  if (!is_ready())
    return "the OpenCL drivers were loaded before this process was forked; they serve the parent "
           "only. Use OpenCL in one of the two, or start a new program (exec)";
  return why_none;
}

cl_device_id ambit__cl_device(int i, cl_platform_id *platform)
{
  *platform = devices[i].platform;
  return devices[i].device;
}
