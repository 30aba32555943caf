/* SPDX-License-Identifier: BSD-3-Clause */
/* dialect_opencl.c - OpenCL C 1.2. */
#include "codegen/dialect.h"

/* Embedded by the build. */
extern const char ambit__prelude_opencl[], ambit__prelude_gpu[], ambit__prelude_strips_cl[],
    ambit__prelude_fused_cl[];

const ambit__dialect ambit__dialect_opencl = {
    .name = "opencl",
    .extension = ".cl",
    .prelude = ambit__prelude_opencl,
    .helpers = ambit__prelude_gpu,
    .types = {"float", "double", "int", "uchar", "short", "long", "ambit_f16", "ambit_f16",
              "ambit_u16", "ambit_u32", "ambit_u64"},
    .table = "constant",
    .infinity = {"INFINITY", "(double)INFINITY"},
    .nan = {"NAN", "(double)NAN"},
    .strips = ambit__prelude_strips_cl,
    .fused = ambit__prelude_fused_cl,
    .strict = "#pragma OPENCL FP_CONTRACT OFF\n",
    .kernel = "kernel",
    .global = "global ",
    .shared = "local ",
    .shared_pointer = "local ",
    .unaliased = "restrict ",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE)",
    .narrow_barrier = "barrier(CLK_LOCAL_MEM_FENCE)",
    .fence = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
    .thread = {"(int)get_local_id(0)", "(int)get_local_id(1)", "(int)get_local_id(2)"},
    .block = {"(long)get_group_id(0)", "(long)get_group_id(1)", "(long)get_group_id(2)"},
    .blocks = {"(long)get_num_groups(0)", "(long)get_num_groups(1)", "(long)get_num_groups(2)"},
};
