/* each_gpu.h - the tests of a program, on every driver that has a device here. */
#ifndef AMBIT_TEST_EACH_GPU_H
#define AMBIT_TEST_EACH_GPU_H

#include "device/gpu/gpu.h"
#include "support/test.h"

static const ambit__backend *gpu; /* under test */

static int test_each_gpu(int argc, char **argv, const test_case *tests)
{
  int bad = 0, found = 0;

  for (int i = 0; ambit__backend_at(i); i++) {
    gpu = ambit__backend_at(i);
    if (gpu->alloc != ambit__gpu_alloc || gpu->count() == 0) continue;
    found++;
    printf("# on %s\n", gpu->name);
    bad |= test_main(argc, argv, tests);
  }
  if (!found) printf("# skipped: there is no GPU, and no OpenCL device\n");
  return found ? bad : 77;
}

#endif
