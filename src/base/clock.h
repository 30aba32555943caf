/* clock.h - how long things take. */
#ifndef AMBIT_BASE_CLOCK_H
#define AMBIT_BASE_CLOCK_H

/* Seconds since some fixed moment; never goes back. */
double ambit__clock(void);

#endif
