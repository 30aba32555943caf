/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime_test.h - contexts for tests of the public interface: silent, on one device, with checks
 * of error messages. */
#ifndef AMBIT_RUNTIME_TEST_H
#define AMBIT_RUNTIME_TEST_H

#include "ambit.h"
#include "support/devices.h"
#include "support/test.h"

#include <stdbool.h>
#include <stdlib.h>

/* A context that prints no errors and warnings. */
static inline ambit *open_on(const char *device)
{
  ambit *a = ambit_open(NULL, NULL);

  ambit_on_error(a, NULL, NULL);
  ambit_option_set(a, "devices", device);
  ambit_option_set(a, "verbose", "-1");
  return a;
}

static inline ambit_grid *grid_1d(ambit *a, int64_t n)
{
  return ambit_grid_create(a, 1, &n);
}

static inline ambit_grid *grid_2d(ambit *a, int64_t rows, int64_t columns)
{
  const int64_t extents[] = {rows, columns};

  return ambit_grid_create(a, 2, extents);
}

/* No error so far. */
#define CHECK_OK(a) CHECK_MSG(!ambit_error(a), "%s", ambit_error_text(a))

/* The context failed with this status and a message that contains the words. Clears the error. */
#define CHECK_FAILED(a, status, words)                                                             \
  do {                                                                                             \
    CHECK_MSG(ambit_error(a) == (status), "want %s, got %s", ambit_status_name(status),            \
              ambit_status_name(ambit_error(a)));                                                  \
    CHECK_MSG(strstr(ambit_error_text(a), words), "want: %s\ngot: %s", words,                      \
              ambit_error_text(a));                                                                \
    ambit_error_clear(a);                                                                          \
  } while (0)

#define CHECK_NEAR(want, got, tolerance)                                                           \
  CHECK_MSG((got) - (want) <= (tolerance) && (want) - (got) <= (tolerance),                        \
            "%s: want %.17g, got %.17g", #got, (double)(want), (double)(got))

#endif
