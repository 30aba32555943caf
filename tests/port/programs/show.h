/* show.h - prints an array as a hash of its bits, and a few values, for programs that are compared.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

__attribute__((unused)) static void show(const char *name, const void *values, unsigned long bytes)
{
  const unsigned char *p = values;
  unsigned long h = 1469598103934665603ul;

  for (unsigned long i = 0; i < bytes; i++)
    h = (h ^ p[i]) * 1099511628211ul;
  printf("%s %016lx\n", name, h);
}
