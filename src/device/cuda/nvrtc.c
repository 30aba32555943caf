/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/cuda/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- options ---- */

/* The newest architecture that is not newer than the device; -1 if there is none. */
static int best_arch(const int *archs, int n, int capability)
{
  int best = -1;

  for (int i = 0; i < n; i++)
    if (archs[i] <= capability && archs[i] > best) best = archs[i];
  return best;
}

ambit_status ambit__nvrtc_choose(ambit__errors *errors, const ambit__nvrtc *nvrtc,
                                 ambit__nvrtc_how *how)
{
  int n = 0, major = 0, minor = 0, best, *archs;

  if (nvrtc->nvrtcGetNumSupportedArchs(&n) || n < 0) n = 0;
  archs = calloc((size_t)n + 1, sizeof *archs);
  AMBIT_CHECK(archs, errors, AMBIT_ENOMEM, "no memory for a list of %d architectures", n);
  if (nvrtc->nvrtcGetSupportedArchs(archs)) n = 0;
  best = best_arch(archs, n, how->capability);
  free(archs);
  nvrtc->nvrtcVersion(&major, &minor);
  AMBIT_CHECK(
      best >= 0, errors, AMBIT_ENODEVICE,
      "NVRTC %d.%d does not compile for a GPU of compute capability %d.%d any more; install "
      "an older one (libnvrtc.so.%d)",
      major, minor, how->capability / 10, how->capability % 10, major - 1);
  how->is_ptx = best != how->capability;
  snprintf(how->arch, sizeof how->arch, "--gpu-architecture=%s_%d", how->is_ptx ? "compute" : "sm",
           best);
  return AMBIT_OK;
}

int ambit__nvrtc_options(const ambit__nvrtc_how *how, const char *options[AMBIT__NVRTC_OPTIONS])
{
  int n = 0;

  options[n++] = how->arch;
  options[n++] = "--std=c++17";
  options[n++] = "-default-device";
  options[n++] = how->strict ? "--fmad=false" : "--fmad=true";
  options[n++] = "--ftz=false";
  options[n++] = "--prec-div=true";
  options[n++] = "--prec-sqrt=true";
  if (how->lines) options[n++] = "--generate-line-info";
  if (how->report && !how->is_ptx) options[n++] = "--ptxas-options=-v";
  return n;
}

/* ---- compilation ---- */

static void take_log(const ambit__nvrtc *nvrtc, ambit__nvrtc_program p, ambit__text *log)
{
  size_t bytes = 0;
  char *text;

  if (nvrtc->nvrtcGetProgramLogSize(p, &bytes) || bytes < 2) return;
  text = malloc(bytes);
  if (text && !nvrtc->nvrtcGetProgramLog(p, text)) ambit__print(log, "%s", text);
  free(text);
}

static ambit_status take_image(const ambit__nvrtc *nvrtc, bool is_ptx, ambit__nvrtc_program p,
                               void **image, size_t *bytes)
{
  ambit__nvrtc_result r =
      is_ptx ? nvrtc->nvrtcGetPTXSize(p, bytes) : nvrtc->nvrtcGetCUBINSize(p, bytes);

  if (r || !*bytes) return AMBIT_ECOMPILE;
  *image = malloc(*bytes);
  if (!*image) return AMBIT_ENOMEM;
  r = is_ptx ? nvrtc->nvrtcGetPTX(p, *image) : nvrtc->nvrtcGetCUBIN(p, *image);
  if (!r) return AMBIT_OK;
  free(*image);
  *image = NULL;
  return AMBIT_ECOMPILE;
}

ambit_status ambit__nvrtc_compile(const ambit__nvrtc *nvrtc, const ambit__nvrtc_how *how,
                                  const char *source, void **image, size_t *bytes, ambit__text *log)
{
  const char *options[AMBIT__NVRTC_OPTIONS];
  int n = ambit__nvrtc_options(how, options);
  ambit_status s = AMBIT_ECOMPILE;
  ambit__nvrtc_program p;
  ambit__nvrtc_result r;

  *image = NULL;
  *bytes = 0;
  r = nvrtc->nvrtcCreateProgram(&p, source, "kernel.cu", 0, NULL, NULL);
  if (!r) {
    r = nvrtc->nvrtcCompileProgram(p, n, options);
    take_log(nvrtc, p, log);
    if (!r) s = take_image(nvrtc, how->is_ptx, p, image, bytes);
    nvrtc->nvrtcDestroyProgram(&p);
  }
  if (r) ambit__print(log, "NVRTC: %s\n", nvrtc->nvrtcGetErrorString(r));
  return s;
}
