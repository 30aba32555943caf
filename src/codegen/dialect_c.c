/* SPDX-License-Identifier: BSD-3-Clause */
/* dialect_c.c - C for gcc and clang. */
#include "codegen/dialect.h"

extern const char ambit__prelude_c[]; /* prelude/c.h, embedded by the build */

const ambit__dialect ambit__dialect_c = {
    .name = "c",
    .extension = ".c",
    .prelude = ambit__prelude_c,
    .types = {"float", "double", "int32_t", "uint8_t", "int16_t", "int64_t", "ambit_f16",
              "ambit_f16", "uint16_t", "uint32_t", "uint64_t"},
    .table = "static const",
    .table_room = 256, /* ambit_look_up loads them all */
    .infinity = {"INFINITY", "(double)INFINITY"},
    .nan = {"NAN", "(double)NAN"},
    .ratio = "ambit_ratio",
    .ratio_by_inverse = true,
    .float_names = true,
    .global = "",
    .hides_subscripts = true,
    .wraps = true, /* compiled with -fwrapv */
    .folds_casts = true,
};
