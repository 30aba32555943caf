/* SPDX-License-Identifier: BSD-3-Clause */
/* dialect_cuda.c - CUDA C++ for NVRTC and nvcc. */
#include "codegen/dialect.h"

/* Embedded by the build. */
extern const char ambit__prelude_angles[], ambit__prelude_cuda[], ambit__prelude_gpu[],
    ambit__prelude_strips[];

const ambit__dialect ambit__dialect_cuda = {
    .name = "cuda",
    .extension = ".cu",
    .prelude = ambit__prelude_cuda,
    .helpers = ambit__prelude_gpu,
    .types = {"float", "double", "int", "unsigned char", "short", "long long", "ambit_f16",
              "ambit_f16", "unsigned short", "unsigned int", "unsigned long long"},
    .table = "static __device__ const",
    .infinity = {"__int_as_float(0x7f800000)", "__longlong_as_double(0x7ff0000000000000LL)"},
    .nan = {"__int_as_float(0x7fc00000)", "__longlong_as_double(0x7ff8000000000000LL)"},
    .ratio = "ambit_ratio",
    .float_names = true,
    .angles = ambit__prelude_angles,
    .strips = ambit__prelude_strips,
    .has_lanes = true,
    .strict = "",
    .kernel = "extern \"C\" __global__",
    .global = "",
    .shared = "__shared__ ",
    .shared_pointer = "",
    .unaliased = "__restrict__ ",
    .barrier = "__syncthreads()",
    .narrow_barrier = "__syncwarp()",
    .fence = "__syncthreads()",
    .thread = {"(int)threadIdx.x", "(int)threadIdx.y", "(int)threadIdx.z"},
    .block = {"(long long)blockIdx.x", "(long long)blockIdx.y", "(long long)blockIdx.z"},
    .blocks = {"(long long)gridDim.x", "(long long)gridDim.y", "(long long)gridDim.z"},
};
