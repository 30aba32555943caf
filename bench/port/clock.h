/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the wall and CPU time of the time loop of a program, and a number that tells whether
 * two builds of it computed the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Before the time loop. */
#define CLOCK_BEGIN                                                                                \
  struct timespec wall0, wall1;                                                                    \
  clock_t cpu0, cpu1;                                                                              \
  clock_gettime(CLOCK_MONOTONIC, &wall0);                                                          \
  cpu0 = clock();
/* After it. */
#define CLOCK_END                                                                                  \
  cpu1 = clock();                                                                                  \
  clock_gettime(CLOCK_MONOTONIC, &wall1);
#define CLOCK_PRINT(check)                                                                         \
  printf("{\"wall\":%.4f,\"cpu\":%.4f,\"check\":%.9g}\n",                                          \
         (double)(wall1.tv_sec - wall0.tv_sec) + 1e-9 * (double)(wall1.tv_nsec - wall0.tv_nsec),   \
         (double)(cpu1 - cpu0) / CLOCKS_PER_SEC, (double)(check))
