/* SPDX-License-Identifier: BSD-3-Clause */
/* median.h - the median, which is robust against disturbed measurements. */
#ifndef AMBIT_BASE_MEDIAN_H
#define AMBIT_BASE_MEDIAN_H

#include <stddef.h>

/* The median of n >= 1 values; sorts them in ascending order. */
double ambit__median(double *values, size_t n);

#endif
