/* SPDX-License-Identifier: BSD-3-Clause */
/* generic.h - weighted sums without a compiler: built-in code for any weights. */
#ifndef AMBIT_DEVICE_CPU_GENERIC_H
#define AMBIT_DEVICE_CPU_GENERIC_H

#include "ambit_compiled.h"
#include "kernel/kernel.h"

typedef struct ambit__generic {
  int from, to;    /* parameters read and written */
  ambit_type type; /* AMBIT_F32 or AMBIT_F64 */
  int ndims;
  int count;        /* number of taps */
  ambit__tap *taps; /* owned */
} ambit__generic;

/* Whether the rule is a weighted sum that this can run; if so, fills *g. */
bool ambit__generic_open(const ambit__rule *rule, int ndims, ambit__generic *g);
void ambit__generic_close(ambit__generic *g);
void ambit__generic_run(const ambit__generic *g, const ambit_compiled_call *call);

#endif
