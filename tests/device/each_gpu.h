/* SPDX-License-Identifier: BSD-3-Clause */
/* each_gpu.h - runs the tests of a program on every driver that has a device here. */
#ifndef AMBIT_TEST_EACH_GPU_H
#define AMBIT_TEST_EACH_GPU_H

#include "device/gpu/gpu.h"
#include "support/test.h"

static const ambit__backend *gpu; /* under test */

static int test_each_gpu(int argc, char **argv, const test_case *tests)
{
  int bad = 0, passed = 0, found = 0;

  for (int i = 0; ambit__backend_at(i); i++) {
    int code;

    gpu = ambit__backend_at(i);
    if (gpu->serve != ambit__gpu_serve || gpu->count() == 0) continue;
    found++;
    printf("# on %s\n", gpu->name);
    code = test_main(argc, argv, tests);
    passed += code == 0;
    bad |= code && code != TEST_SKIPPED;
  }
  if (!found) printf("# skipped: there is no GPU, and no OpenCL device\n");
  return bad ? 1 : passed ? 0 : TEST_SKIPPED;
}

#endif
