/* SPDX-License-Identifier: BSD-3-Clause */
/* test_math.c with fused multiplications and additions, as code that is not strict is compiled. */
#include "codegen/test_math.c"
