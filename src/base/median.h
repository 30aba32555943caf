/* median.h - what most measurements agree on: a few that something came between do not move it. */
#ifndef AMBIT_BASE_MEDIAN_H
#define AMBIT_BASE_MEDIAN_H

#include <stddef.h>

/* Of n values, 1 or more, which it leaves in ascending order. */
double ambit__median(double *values, size_t n);

#endif
