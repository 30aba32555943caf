/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda.c - NVIDIA GPUs: the GPU device over the CUDA driver. */
#include "device/gpu/gpu.h"

static int count(void)
{
  return ambit__gpu_driver_cuda.count();
}

static ambit_status open_device(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                                ambit__device **dev)
{
  return ambit__gpu_open(errors, settings, ordinal, &ambit__backend_cuda, &ambit__gpu_driver_cuda,
                         dev);
}

const ambit__backend ambit__backend_cuda = {
    .name = "cuda",
    .summary = "NVIDIA GPUs, through CUDA; kernels are compiled by NVRTC",
    .count = count,
    .fast = count,
    .open = open_device,
    .twins = true,
    AMBIT__GPU_ENTRIES,
    .can = AMBIT__GPU_CAN | AMBIT__CAN(pass) | AMBIT__CAN(record),
};
