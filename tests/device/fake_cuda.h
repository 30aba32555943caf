/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_cuda.h - our own libcuda.so.1: two GPUs without arithmetic.
 *
 * The CUDA driver layer is tested without a GPU by linking this library, which has the SONAME of
 * the driver, so that the loader gives it to dlopen("libcuda.so.1"). It enforces the rules that
 * matter: calls need the right current context, copies must stay inside allocations, memory is
 * finite. Kernels are noted, not run.
 */
#ifndef AMBIT_TEST_FAKE_CUDA_H
#define AMBIT_TEST_FAKE_CUDA_H

#include "device/cuda/cuda_api.h"

enum { FAKE_GPUS = 2, FAKE_MEMORY = 1 << 20, FAKE_KEPT = 256 };

typedef struct fake_cuda_state {
  /* set by the test */
  int gpus;                     /* FAKE_GPUS unless set before the first call */
  size_t memory;                /* of each: FAKE_MEMORY */
  ambit__cu_result init_result; /* of cuInit */
  ambit__cu_result sync_result; /* of the next calls that wait */
  int refused_loads;            /* number of images to reject */
  ambit__cu_result refusal;     /* with this result */
  int version;                  /* of CUDA: 13000 */
  /* observed */
  int contexts, streams, events, modules, allocations, pinned, graphs; /* existing now */
  int loads;                                   /* of images, including rejected ones */
  int launches, together, attributes, replays; /* so far */
  int priority;                                /* of the last stream */
  int shared_granted;                          /* by the last attribute */
  unsigned int blocks[3], threads[3], shared;  /* of the last launch */
  unsigned long long args[4];                  /* its first 8-byte arguments */
  int wanted_args;                             /* number of arguments to record */
} fake_cuda_state;

extern fake_cuda_state fake_cuda;

#endif
