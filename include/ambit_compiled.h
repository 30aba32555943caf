/* SPDX-License-Identifier: BSD-3-Clause */
/* ambit_compiled.h - compiled kernels in place of generated ones: written by hand, or by
 * `ambit gen` for machines without a compiler. */
#ifndef AMBIT_COMPILED_H
#define AMBIT_COMPILED_H

#include "ambit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The argument of a compiled CPU kernel, which updates the cells lo <= i < hi once. Indices are
 * local to the current part of the grid. Cell i of field p, component c, is the element
 *
 *     origin[p] + i[0] * stride[p][0] + ... + i[ndims-1] * stride[p][ndims-1] + c * component[p]
 *
 * The last stride of a field is 1, except for AMBIT_AOS fields. Ghost cells around the part are in
 * memory and hold neighbouring or boundary values. Parameters do not alias, except that two
 * read-only ones may be the same field. */
typedef struct ambit_compiled_call {
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS]; /* cells to update */
  int64_t offset[AMBIT_MAX_DIMS];                 /* global index of local index 0 */
  int64_t extent[AMBIT_MAX_DIMS];                 /* extents of the whole grid */
  int64_t step;                                   /* iteration number, for step() */
  void *origin[AMBIT_MAX_PARAMS]; /* field: cell 0. scalar: its value. reduction: see below */
  int64_t stride[AMBIT_MAX_PARAMS][AMBIT_MAX_DIMS]; /* elements */
  int64_t component[AMBIT_MAX_PARAMS];              /* elements */
} ambit_compiled_call;

/* For a plain parameter origin[p] points to the value, of the parameter's type. For a reduction it
 * points to the partial result: a double for float and double parameters, an int64_t for the
 * others. The kernel folds its cells into it. In strict mode the results of the calls are added
 * exactly; each of them is rounded. */
typedef void (*ambit_cpu_fn)(const ambit_compiled_call *call);

/* Registers a compiled function to use in place of the generated one for this kernel: written by
 * hand, or by `ambit gen` for a machine without a compiler. The kernel text is parsed, so layout
 * and comments do not matter. The registration holds in all contexts until the process exits, and
 * the function must stay valid. It is used in strict mode too; functions written by `ambit gen
 * --strict` give strict results. AMBIT_EUNSUPPORTED: it has a table or uses normal(). */
AMBIT_API ambit_status ambit_register_cpu(const char *kernel_text, ambit_cpu_fn fn);

/* The same for GPUs, as source text: written by `ambit gen --cuda` or `--opencl`, edited or not, or
 * by hand. Ambit compiles code that it generates from kernel text, never the kernel text itself;
 * this text is compiled as given, so register only code that you trust. It is compiled when the
 * kernel is first used on a device of that language (AMBIT_ECOMPILE with the compiler's messages),
 * and is used in strict mode too.
 *
 * A comment in the source gives the launch over a box of n0 x n1 x ... cells: kernel name,
 * dimensions, threads per block, and blocks along x, y and z. Quotients are rounded up.
 *
 *     // ambit-launch: my_heat 2d threads 32x8 blocks n1 / 32, n0 / 8
 *
 * Arguments, in order. For each field: its memory and, as 64-bit integers in units of elements, the
 * position of cell 0, 0, ..., the stride of each axis and the stride of components. For each plain
 * parameter: a pointer to its value. Then, as 64-bit integers, lo, hi (the cells to update), offset
 * and extent for each axis, and the step, with the same meaning as in ambit_compiled_call.
 *
 * For a reduction the argument is, in place of a field's memory, a buffer of 8 bytes per block for
 * the partial results. Such a kernel is launched with at most 65536 blocks (fewer with "at most
 * 1024" at the end of the launch line), and its blocks loop over the remaining cells. It is
 * followed by a second kernel, NAME_fold, launched as one block of 128 threads. Its arguments are,
 * for each reduction, that buffer and a pointer to the scalar to set; then, as 64-bit integers, the
 * number of blocks, and 1 if the present value of the scalar is to be folded in, else 0.
 * docs/gpu-kernels.md has a complete example. */
typedef enum ambit_language { AMBIT_CUDA = 1, AMBIT_OPENCL = 2 } ambit_language;
AMBIT_API ambit_status ambit_register_source(const char *kernel_text, ambit_language language,
                                             const char *source);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
