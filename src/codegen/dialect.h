/* SPDX-License-Identifier: BSD-3-Clause */
/* dialect.h - the differences between the target languages, one table each. */
#ifndef AMBIT_CODEGEN_DIALECT_H
#define AMBIT_CODEGEN_DIALECT_H

#include "base/text.h"
#include "kernel/kernel.h"

typedef struct ambit__dialect {
  const char *name;      /* "c" */
  const char *extension; /* of files: ".c" */
  const char *prelude;   /* fixed text at the start of every file: types and macros for the rest */
  const char *helpers;   /* more fixed text, after the common arithmetic; NULL: none */
  const char *types[11]; /* by ambit_type; a half or bfloat is its bits */
  const char *table;     /* qualifiers of a constant array outside functions */
  int64_t table_room;    /* the least number of bytes that a table of bytes has room for */
  const char *infinity[2]; /* float, double */
  const char *nan[2];
  const char *ratio;     /* a function for a / b, where bits may differ; NULL: none */
  bool ratio_by_inverse; /* it is faster for several divisions by b, and takes doubles, too */
  bool float_names;      /* math functions of float are named sqrtf(x), as in C; else sqrt(x) */
  bool wraps;            /* + - * of signed integers may overflow and wrap; else helpers are used */
  bool folds_casts;      /* conversions to real numbers are helpers; see prelude/c.h */
  bool hides_subscripts; /* subscripts of tables go through AMBIT_SUBSCRIPT, see there too */
  /* for GPUs */
  const char *angles; /* functions of prelude/angles.h, which are called in place of its own */
  const char *strips; /* helpers of the strategies strip and fused; NULL: there are none */
  const char *fused;  /* more helpers of fused; NULL: there are none */
  bool has_lanes;     /* they exchange values between the lanes of a warp, and are templates */
  const char *strict; /* text for strict files; "": none */
  const char *kernel; /* qualifier of a kernel */
  const char *global; /* address space of device memory */
  const char *shared; /* qualifier of an array shared by the threads of a block */
  const char *shared_pointer; /* address space of a pointer into it */
  const char *unaliased;      /* after the * of a pointer without aliases */
  const char *barrier;        /* waits for all threads of the block */
  const char *narrow_barrier; /* the same for the threads of a warp, if they can alone */
  const char *fence;          /* as `barrier`, and they see each other's stores to device memory */
  const char *thread[3];      /* index of this thread in its block, x first, signed */
  const char *block[3];       /* index of this block, 64 bits */
  const char *blocks[3];      /* number of blocks, 64 bits */
} ambit__dialect;

extern const ambit__dialect ambit__dialect_c, ambit__dialect_cuda, ambit__dialect_opencl;

/* Prints the fixed text at the start of every file: the prelude, then the helpers. */
void ambit__dialect_print(const ambit__dialect *d, ambit__text *t);

#endif
