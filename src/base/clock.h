/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - wall-clock time for measurements. */
#ifndef AMBIT_BASE_CLOCK_H
#define AMBIT_BASE_CLOCK_H

/* Seconds since an arbitrary fixed time; monotonic. */
double ambit__clock(void);
/* Seconds of processor time of this thread. */
double ambit__clock_thread(void);

#endif
