/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_nvrtc.c - our own libnvrtc.so.13, for the GPUs of fake_cuda.h: it compiles nothing, at once.
 *
 * A program is its source, and its image begins as the fake driver wants it.
 */
#include "device/cuda/cuda_api.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

enum { CAPABILITY = 90, NO_MEMORY = 1 };

struct _nvrtcProgram {
  char image[16];
};

#define X(name, params) ambit__nvrtc_result name params;
AMBIT__NVRTC_MAP(X)
#undef X
const char *nvrtcGetErrorString(ambit__nvrtc_result r);

ambit__nvrtc_result nvrtcVersion(int *major, int *minor)
{
  *major = 13;
  *minor = 0;
  return 0;
}

ambit__nvrtc_result nvrtcGetNumSupportedArchs(int *count)
{
  *count = 1;
  return 0;
}

ambit__nvrtc_result nvrtcGetSupportedArchs(int *archs)
{
  archs[0] = CAPABILITY;
  return 0;
}

ambit__nvrtc_result nvrtcCreateProgram(ambit__nvrtc_program *p, const char *source,
                                       const char *name, int headers, const char *const *texts,
                                       const char *const *names)
{
  (void)source, (void)name, (void)headers, (void)texts, (void)names;
  *p = calloc(1, sizeof **p);
  if (!*p) return NO_MEMORY;
  memcpy((*p)->image, "\177ELF", 4);
  return 0;
}

ambit__nvrtc_result nvrtcDestroyProgram(ambit__nvrtc_program *p)
{
  free(*p);
  *p = NULL;
  return 0;
}

ambit__nvrtc_result nvrtcCompileProgram(ambit__nvrtc_program p, int n, const char *const *options)
{
  (void)p, (void)n, (void)options;
  return 0;
}

ambit__nvrtc_result nvrtcGetProgramLogSize(ambit__nvrtc_program p, size_t *bytes)
{
  (void)p;
  *bytes = 2;
  return 0;
}

ambit__nvrtc_result nvrtcGetProgramLog(ambit__nvrtc_program p, char *log)
{
  (void)p;
  memcpy(log, "\n", 2);
  return 0;
}

ambit__nvrtc_result nvrtcGetCUBINSize(ambit__nvrtc_program p, size_t *bytes)
{
  *bytes = sizeof p->image;
  return 0;
}

ambit__nvrtc_result nvrtcGetCUBIN(ambit__nvrtc_program p, char *cubin)
{
  memcpy(cubin, p->image, sizeof p->image);
  return 0;
}

ambit__nvrtc_result nvrtcGetPTXSize(ambit__nvrtc_program p, size_t *bytes)
{
  return nvrtcGetCUBINSize(p, bytes);
}

ambit__nvrtc_result nvrtcGetPTX(ambit__nvrtc_program p, char *ptx)
{
  return nvrtcGetCUBIN(p, ptx);
}

const char *nvrtcGetErrorString(ambit__nvrtc_result r)
{
  return r ? "a fake error" : "no error";
}
