/* SPDX-License-Identifier: BSD-3-Clause */
/* How lanes of OpenCL devices exchange values: the ways that are tried for a list of extensions,
 * and the one that a device here has. */
#include "base/error.h"
#include "device/opencl/cl_gpu.h"
#include "support/test.h"

#include <stdlib.h>

enum { MOST_WAYS = 4 };

#define KHRONOS "#define AMBIT_SHUFFLE sub_group_shuffle\n"
#define INTEL   "#define AMBIT_SHUFFLE intel_sub_group_shuffle\n"
#define AMD     "#define AMBIT_WAVEFRONTS\n"
#define SIZED   "#define AMBIT_SUB_GROUP 32\n"

typedef struct sample {
  ambit__cl_sub_groups device;
  ambit__cl_way ways[MOST_WAYS + 1]; /* in order, then one without a language */
} sample;

static void each_vendor_has_its_ways(void)
{
  static const sample samples[] = {
      {{"cl_khr_subgroups cl_khr_subgroup_shuffle cl_intel_subgroups", .of_32 = true},
       {{"CL1.2", KHRONOS SIZED}, {"CL1.2", INTEL SIZED}, {"CL3.0", KHRONOS SIZED}}},
      {{"cl_intel_subgroups_short cl_intel_subgroups", .of_32 = true}, {{"CL1.2", INTEL SIZED}}},
      {{"cl_khr_fp64 cl_amd_device_attribute_query", .wavefront = 64}, {{"CL1.2", AMD}}},
      {{"cl_amd_device_attribute_query cl_khr_subgroup_shuffle", .wavefront = 32},
       {{"CL1.2", KHRONOS}, {"CL1.2", AMD}, {"CL3.0", KHRONOS}}},
      {{"cl_khr_subgroup_shuffle", .of_32 = true, .is_cpu = true},
       {{"CL1.2", KHRONOS SIZED "#define AMBIT_TOGETHER\n"},
        {"CL3.0", KHRONOS SIZED "#define AMBIT_TOGETHER\n"}}},
      /* other sizes; other functions whose names begin alike; nothing */
      {{"cl_khr_subgroup_shuffle cl_intel_subgroups", .of_32 = false}, {{0}}},
      {{"cl_amd_device_attribute_query cl_khr_subgroup_shuffle", .wavefront = 16}, {{0}}},
      {{"cl_khr_subgroup_shuffle_relative cl_intel_subgroups_short", .of_32 = true}, {{0}}},
      {{"", .of_32 = true, .wavefront = 64}, {{0}}},
  };

  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    const ambit__cl_way *wanted = samples[i].ways;
    ambit__cl_way way;
    int n = 0;

    for (; wanted[n].language; n++) {
      CHECK_MSG(ambit__cl_lanes_way(&samples[i].device, n, &way), "sample %d, way %d", (int)i, n);
      CHECK_STR(wanted[n].language, way.language);
      CHECK_STR(wanted[n].text, way.text);
    }
    CHECK_MSG(!ambit__cl_lanes_way(&samples[i].device, n, &way), "sample %d has a way %d: %s",
              (int)i, n, way.text);
  }
}

/* The way that the first device takes with this setting, to free(). */
static char *lanes_of(const char *subgroups, bool *lists, bool *is_cpu)
{
  const ambit__settings settings = {.cache = "none", .dump = "", .subgroups = subgroups};
  ambit__errors errors = {0};
  ambit__gpu *gpu = NULL;
  const char *text;
  char *copy = NULL, *extensions;

  CHECK_EQ(AMBIT_OK, ambit__gpu_driver_opencl.open(&errors, &settings, 0, &gpu));
  if (!gpu) return NULL;
  extensions = ambit__cl_extensions(gpu->device);
  *lists = extensions && ambit__cl_lists(extensions, "cl_khr_subgroup_shuffle") &&
           ambit__cl_lists(extensions, "cl_intel_required_subgroup_size");
  *is_cpu = gpu->info.is_cpu;
  text = ambit__gpu_driver_opencl.lanes(gpu);
  if (text) {
    copy = malloc(strlen(text) + 1);
    if (copy) strcpy(copy, text);
  }
  CHECK_EQ(AMBIT_OK, errors.status); /* a way that fails is no error */
  free(extensions);
  ambit__gpu_driver_opencl.close(gpu);
  ambit__errors_clear(&errors);
  return copy;
}

static void processors_use_sub_groups_only_if_asked(void)
{
  static const char *const settings[] = {"off", "auto", "on"};

  if (!ambit__gpu_driver_opencl.count()) SKIP("there is no OpenCL device");
  for (int i = 0; i < 3; i++) {
    bool lists = false, is_cpu = false;
    char *text = lanes_of(settings[i], &lists, &is_cpu);

    if (is_cpu) CHECK_MSG(!text == !(i == 2 && lists), "%s: %s", settings[i], text);
    if (i == 0) CHECK(!text);
    free(text);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"each_vendor_has_its_ways", each_vendor_has_its_ways},
      {"processors_use_sub_groups_only_if_asked", processors_use_sub_groups_only_if_asked},
      {0}};

  return test_main(argc, argv, tests);
}
