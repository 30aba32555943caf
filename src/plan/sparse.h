/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.h - writes what a thread computes on a sparse grid: a unit of cells (grid/deal.h). */
#ifndef AMBIT_PLAN_SPARSE_H
#define AMBIT_PLAN_SPARSE_H

#include "plan/gpu.h"

/* The code of unit t, whose line is `line`. */
void ambit__sparse_emit_unit(const ambit__gpucode_job *j);

#endif
