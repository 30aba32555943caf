/* fake_cuda.h - a libcuda.so.1 of our own: two GPUs without arithmetic.
 *
 * The CUDA driver layer is tested on machines without a GPU by linking this library, whose SONAME is the
 * driver's: the loader then hands it to dlopen("libcuda.so.1"). It obeys the rules that matter: calls need the right
 * current context, copies must stay inside allocations, memory is finite. Kernels are noted, not run.
 */
#ifndef AMBIT_TEST_FAKE_CUDA_H
#define AMBIT_TEST_FAKE_CUDA_H

#include "device/cuda/cuda_api.h"

enum { FAKE_GPUS = 2, FAKE_MEMORY = 1 << 20, FAKE_KEPT = 64 };

typedef struct fake_cuda_state {
  /* what the test asks for */
  int gpus;                     /* FAKE_GPUS unless set before the first call */
  ambit__cu_result init_result; /* of cuInit */
  ambit__cu_result sync_result; /* of the next calls that wait */
  int refused_loads;            /* so many images are not taken */
  ambit__cu_result refusal;     /* with this result */
  int version;                  /* of CUDA: 13000 */
  /* what it sees */
  int contexts, streams, events, modules, allocations, pinned, graphs; /* that exist now */
  int loads;                                  /* of images, also refused ones */
  int launches, attributes, replays;          /* so far */
  int priority;                               /* of the last stream */
  int shared_granted;                         /* by the last attribute */
  unsigned int blocks[3], threads[3], shared; /* of the last launch */
  unsigned long long args[4];                 /* its first 8-byte arguments */
  int wanted_args;                            /* how many of those to look at */
} fake_cuda_state;

extern fake_cuda_state fake_cuda;

#endif
