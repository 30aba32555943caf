/* SPDX-License-Identifier: BSD-3-Clause */
/* opencl.c - GPUs of any vendor, and other devices, through OpenCL. */
#include "device/gpu/gpu.h"
#include "device/opencl/cl_gpu.h"

static int count(void)
{
  return ambit__gpu_driver_opencl.count();
}

static ambit_status open_device(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                                ambit__device **dev)
{
  return ambit__gpu_open(errors, settings, ordinal, &ambit__backend_opencl,
                         &ambit__gpu_driver_opencl, dev);
}

const ambit__backend ambit__backend_opencl = {
    .name = "opencl",
    .summary = "any vendor's GPU, through its OpenCL driver",
    .count = count,
    .fast = ambit__cl_fast,
    .open = open_device,
    AMBIT__GPU_ENTRIES,
    .can = AMBIT__GPU_CAN,
};
