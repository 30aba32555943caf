/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.h - the devices that numeric tests run on: all that are available, ref first.
 *
 * TEST_DEVICES restricts them: "ref cpu" excludes GPUs. Devices that compile slowly have every
 * twelfth case of a test, the first included, and all in make check-long, or if TEST_EVERY_CASE is
 * set.
 */
#ifndef AMBIT_TEST_DEVICES_H
#define AMBIT_TEST_DEVICES_H

#include "device/device.h"
#include "support/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEST_DEVICES = 8 };

/* Their names, terminated by NULL. */
static inline const char *const *devices_here(void)
{
  static const char *names[MOST_TEST_DEVICES + 1];
  const char *wanted = getenv("TEST_DEVICES");
  int n = 0;

  if (names[0]) return names;
  names[n++] = "ref";
  for (int i = 0; ambit__backend_at(i) && n < MOST_TEST_DEVICES; i++) {
    const ambit__backend *b = ambit__backend_at(i);

    if (!strcmp(b->name, "ref") || b->count() == 0) continue;
    if (!wanted || strstr(wanted, b->name)) names[n++] = b->name;
  }
  return names;
}

/* Whether compiling each new kernel and each new shape of a box takes long (OpenCL on the CPU: half
 * a second). */
static inline bool compiles_slowly(const char *device)
{
  return !strcmp(device, "opencl");
}

/* Those that the case which runs is for. */
static inline const char *const *devices_of_case(void)
{
  static const char *names[MOST_TEST_DEVICES + 1];
  const bool all = test_takes(test_number, 12) || getenv("TEST_EVERY_CASE");
  int n = 0;

  for (const char *const *d = devices_here(); *d; d++)
    if (all || !compiles_slowly(*d)) names[n++] = *d;
  names[n] = NULL;
  return names;
}

/* for (const char *const *d = ...): *d is the name. */
#define EACH_DEVICE(d) for (const char *const *d = devices_of_case(); *d; d++)

static inline bool device_is_here(const char *name)
{
  for (const char *const *d = devices_here(); *d; d++)
    if (!strcmp(*d, name)) return true;
  return false;
}

#endif
