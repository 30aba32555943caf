/* SPDX-License-Identifier: BSD-3-Clause */
/* nvrtc.h - from CUDA C++ text to machine code, with NVRTC. Needs no GPU. */
#ifndef AMBIT_DEVICE_CUDA_NVRTC_H
#define AMBIT_DEVICE_CUDA_NVRTC_H

#include "base/error.h"
#include "base/text.h"
#include "device/cuda/cuda_api.h"

#include <stdbool.h>

enum { AMBIT__NVRTC_OPTIONS = 12 };

/* How to compile. Code depends only on the options and on the version of NVRTC. */
typedef struct ambit__nvrtc_how {
  int capability; /* compute capability of the device: 90 for 9.0 */
  bool strict;    /* does not fuse products and sums into multiply-adds */
  bool lines;     /* keeps source line numbers, for tools */
  bool report;    /* the log lists registers and spills */
  bool is_ptx;    /* chosen: NVRTC does not know the device, so the driver compiles PTX */
  char arch[40];  /* chosen: "--gpu-architecture=sm_90" */
} ambit__nvrtc_how;

/* Chooses the architecture. AMBIT_ENODEVICE if this NVRTC cannot compile for the device. */
ambit_status ambit__nvrtc_choose(ambit__errors *errors, const ambit__nvrtc *nvrtc,
                                 ambit__nvrtc_how *how);

/* The options, in order. Returns their number. They point to text that lives as long as `how`. */
int ambit__nvrtc_options(const ambit__nvrtc_how *how, const char *options[AMBIT__NVRTC_OPTIONS]);

/* Compiles. The image is to free(); PTX ends with a NUL that `bytes` counts. The compiler's output
 * is appended to `log` in any case. Raises no error, as only the caller knows the origin of the
 * source. Returns AMBIT_ECOMPILE or AMBIT_ENOMEM on failure. */
ambit_status ambit__nvrtc_compile(const ambit__nvrtc *nvrtc, const ambit__nvrtc_how *how,
                                  const char *source, void **image, size_t *bytes,
                                  ambit__text *log);

#endif
