/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c - whether the 32 work-items of a warp can exchange values without local memory.
 *
 * There are extensions for that, and AMD's compiler has a function without one. None of them
 * promises which work-items form a sub-group, or that sub-groups may take different branches. So
 * each way that a device could have is tried: a kernel exchanges values in a work-group of 32 x 4,
 * and the first way that compiles and gives the right ones is taken. This happens once, when the
 * first plan is made.
 */
#include "device/opencl/cl_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Embedded by the build. */
extern const char ambit__prelude_opencl[], ambit__prelude_lanes_cl[], ambit__prelude_try_lanes[];

enum { WARP = 32, WARPS = 4 };
#define ENTRY "ambit_try_lanes"

/* ---- the ways that there could be ---- */

typedef struct kind {
  const char *extension; /* that the device lists */
  const char *text;      /* in front of prelude/lanes_cl.h */
  const char *language;  /* version of OpenCL C */
  bool sub_groups;       /* by sub-groups, whose size kernels can require */
} kind;

/* Compilers need not know the first one before OpenCL C 2.0; Intel's own function is older. */
static const kind kinds[] = {
    {"cl_khr_subgroup_shuffle", "#define AMBIT_SHUFFLE sub_group_shuffle\n", "CL1.2", true},
    {"cl_intel_subgroups", "#define AMBIT_SHUFFLE intel_sub_group_shuffle\n", "CL1.2", true},
    {"cl_amd_device_attribute_query", "#define AMBIT_WAVEFRONTS\n", "CL1.2", false},
    {"cl_khr_subgroup_shuffle", "#define AMBIT_SHUFFLE sub_group_shuffle\n", "CL3.0", true},
};

bool ambit__cl_lanes_way(const ambit__cl_sub_groups *s, int n, ambit__cl_way *way)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const kind *k = &kinds[i];
    const bool sized = s->of_32 && k->sub_groups;

    if (!sized && (s->wavefront <= 0 || s->wavefront % WARP)) continue;
    if (!ambit__cl_lists(s->extensions, k->extension) || n--) continue;
    way->language = k->language;
    snprintf(way->text, sizeof way->text, "%s%s%s", k->text,
             sized ? "#define AMBIT_SUB_GROUP 32\n" : "",
             s->is_cpu ? "#define AMBIT_TOGETHER\n" : "");
    return true;
  }
  return false;
}

/* ---- a trial ---- */

/* The kernel that tries a way; NULL: there is no memory for it. */
static char *source_of(const ambit__cl_way *way)
{
  static const char form[] = "%s%s%s%s";
  const int bytes = snprintf(NULL, 0, form, way->text, ambit__prelude_opencl,
                             ambit__prelude_lanes_cl, ambit__prelude_try_lanes);
  char *source = bytes > 0 ? malloc((size_t)bytes + 1) : NULL;

  if (source)
    snprintf(source, (size_t)bytes + 1, form, way->text, ambit__prelude_opencl,
             ambit__prelude_lanes_cl, ambit__prelude_try_lanes);
  return source;
}

/* Runs the kernel: it counts the right values of each work-item. */
static bool runs(ambit__gpu *gpu, cl_kernel kernel, cl_mem memory)
{
  const size_t size[] = {WARP, WARPS, 1};
  cl_uint right[WARP * WARPS] = {0};
  cl_int err = ambit__cl.clEnqueueWriteBuffer(gpu->queue, memory, CL_TRUE, 0, sizeof right, right,
                                              0, NULL, NULL);

  if (!err) err = ambit__cl.clSetKernelArg(kernel, 0, sizeof memory, &memory);
  if (!err)
    err = ambit__cl.clEnqueueNDRangeKernel(gpu->queue, kernel, 3, NULL, size, size, 0, NULL, NULL);
  if (!err)
    err = ambit__cl.clEnqueueReadBuffer(gpu->queue, memory, CL_TRUE, 0, sizeof right, right, 0,
                                        NULL, NULL);
  for (int i = 0; !err && i < WARP * WARPS; i++)
    if (right[i] != AMBIT__CL_LANE_TRIALS) return false;
  return !err;
}

static bool works(ambit__gpu *gpu, const ambit__cl_way *way)
{
  char *source = source_of(way);
  cl_program program = source ? ambit__cl_try(gpu, source, ENTRY) : NULL;
  cl_int err = CL_SUCCESS;
  cl_kernel kernel = program ? ambit__cl.clCreateKernel(program, ENTRY, &err) : NULL;
  cl_mem memory = kernel ? ambit__cl.clCreateBuffer(gpu->context, CL_MEM_READ_WRITE,
                                                    WARP * WARPS * sizeof(cl_uint), NULL, &err)
                         : NULL;
  const bool right = memory && runs(gpu, kernel, memory);

  if (memory) ambit__cl.clReleaseMemObject(memory);
  if (kernel) ambit__cl.clReleaseKernel(kernel);
  if (program) ambit__cl.clReleaseProgram(program);
  free(source);
  return right;
}

/* ---- the device ---- */

static bool lists_32(cl_device_id device, const char *extensions)
{
  size_t sizes[64], bytes = 0;

  if (!ambit__cl_lists(extensions, "cl_intel_required_subgroup_size") ||
      ambit__cl.clGetDeviceInfo(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes,
                                &bytes))
    return false;
  for (size_t i = 0; i < bytes / sizeof *sizes; i++)
    if (sizes[i] == WARP) return true;
  return false;
}

/* PoCL 6.0 needs barriers for every word: on 2 Neoverse V1 cores star2d1 at depth 4 has 0.26
 * Gcells/s, with whole rows in local memory 0.69. */
static bool wants(const ambit__gpu *gpu)
{
  const char *asked = gpu->settings->subgroups ? gpu->settings->subgroups : "auto";

  return !strcmp(asked, "on") || (!strcmp(asked, "auto") && !gpu->info.is_cpu);
}

static void find(ambit__gpu *gpu)
{
  char *extensions = ambit__cl_extensions(gpu->device);
  const char *language = gpu->language;
  ambit__cl_sub_groups s = {.extensions = extensions ? extensions : "", .is_cpu = gpu->info.is_cpu};

  s.of_32 = lists_32(gpu->device, s.extensions);
  s.wavefront = gpu->info.warp;
  for (int n = 0; !gpu->lanes && ambit__cl_lanes_way(&s, n, &gpu->way); n++) {
    gpu->language = gpu->way.language;
    if (works(gpu, &gpu->way)) gpu->lanes = gpu->way.text;
  }
  if (!gpu->lanes) gpu->language = language;
  free(extensions);
}

const char *ambit__cl_lanes(ambit__gpu *gpu)
{
  if (gpu->tried_lanes) return gpu->lanes;
  gpu->tried_lanes = true;
  if (!wants(gpu)) return NULL;
  if (gpu->is_nvidia)
    gpu->lanes = gpu->info.warp == WARP ? "" : NULL;
  else
    find(gpu);
  return gpu->lanes;
}
