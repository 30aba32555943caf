/* SPDX-License-Identifier: BSD-3-Clause */
/* places.h - devices with one and several parts, for tests that must give the same bits on all. */
#ifndef AMBIT_RUNTIME_PLACES_H
#define AMBIT_RUNTIME_PLACES_H

#include "runtime/runtime_test.h"

/* Lists of devices. ref, which has one part, and GPUs take part if there is one process; of those
 * that compile slowly, with `all` in each case. */
static inline const char *const *places_with(bool all)
{
  static const char *here[MOST_TEST_DEVICES + 4] = {"cpu", "cpu*3", "cpu*4"};
  ambit *a = ambit_open(NULL, NULL);
  const bool alone = ambit_processes(a) == 1;
  int n = 3;

  ambit_close(a);
  for (const char *const *d = all ? devices_here() : devices_of_case(); alone && *d; d++)
    if (strcmp(*d, "cpu")) here[n++] = *d;
  here[n] = NULL;
  return here;
}

static inline const char *const *places(void)
{
  return places_with(false);
}

#define EACH_PLACE(d)      for (const char *const *d = places(); *d; d++)
#define EACH_PLACE_HERE(d) for (const char *const *d = places_with(true); *d; d++)

/* A context on such a place: strict, and with four parts cut along both axes of 2-D grids. */
static inline ambit *open_strict(const char *devices)
{
  ambit *a = open_on(devices);

  ambit_option_set(a, "strict", "1");
  if (!strcmp(devices, "cpu*4") && ambit_processes(a) == 1) ambit_option_set(a, "partition", "2x2");
  return a;
}

#endif
