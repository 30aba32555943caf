/* nvrtc.h - from CUDA C++ text to machine code, with NVRTC. Needs no GPU.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_CUDA_NVRTC_H
#define AMBIT_DEVICE_CUDA_NVRTC_H

#include "base/error.h"
#include "base/text.h"
#include "device/cuda/cuda_api.h"

#include <stdbool.h>

enum { AMBIT__NVRTC_OPTIONS = 12 };

/* How something is compiled. Code depends on the words and on the version of NVRTC, and on nothing else. */
typedef struct ambit__nvrtc_how {
  int capability; /* compute capability of the device: 90 for 9.0 */
  bool strict;    /* no multiply-add where the source has a product and a sum */
  bool lines;     /* keeps the numbers of source lines, for tools */
  bool report;    /* the log tells registers and spills */
  bool is_ptx;   /* chosen: NVRTC does not know the device, so the driver has to compile the rest */
  char arch[40]; /* chosen: "--gpu-architecture=sm_90" */
} ambit__nvrtc_how;

/* Chooses the architecture. AMBIT_ENODEVICE when this NVRTC cannot compile for the device. */
ambit_status ambit__nvrtc_choose(ambit__errors *errors, const ambit__nvrtc *nvrtc,
                                 ambit__nvrtc_how *how);

/* The options, in order; how many. They point to text that lives as long as `how`. */
int ambit__nvrtc_options(const ambit__nvrtc_how *how, const char *options[AMBIT__NVRTC_OPTIONS]);

/* Compiles. The image is to free() and ends with a NUL that `bytes` counts if it is PTX. What the compiler said is
 * appended to `log` in any case. Raises nothing: the caller knows what was compiled. AMBIT_ECOMPILE, or AMBIT_ENOMEM. */
ambit_status ambit__nvrtc_compile(const ambit__nvrtc *nvrtc, const ambit__nvrtc_how *how,
                                  const char *source, void **image, size_t *bytes,
                                  ambit__text *log);

#endif
