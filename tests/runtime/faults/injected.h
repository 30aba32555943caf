/* SPDX-License-Identifier: BSD-3-Clause */
/* injected.h - calls that fail on purpose: what the wrapped functions ask. */
#ifndef AMBIT_TEST_INJECTED_H
#define AMBIT_TEST_INJECTED_H

#include <stdbool.h>

typedef enum fault_kind { MEMORY, FILES, COMPILER, OPENCL, CUDA, NVRTC } fault_kind;

/* Whether this call fails; its name is kept for messages. */
bool injected_fails(fault_kind k, const char *call);

/* Whether a call that fails is made nevertheless: drivers give back what they are told to, and may
 * report errors of work that was handed to them before. */
bool injected_gives_back(const char *call);

/* failing_cuda.c: holds on to the CUDA devices, so that rounds need not start them anew; their
 * number. */
int failing_cuda_hold(void);

#endif
