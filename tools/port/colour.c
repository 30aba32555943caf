/* SPDX-License-Identifier: BSD-3-Clause */
/* colour.c - asks the library whether a kernel writes cells of one colour. In a file of its own,
 * since nest.h and the library's headers use some words differently.
 */
#include "runtime/objects/objects.h"

bool port_has_colour(const ambit_kernel *k, int parameter);

bool port_has_colour(const ambit_kernel *k, int parameter)
{
  unsigned axes;

  return ambit__rule_colour(k->rule, parameter, &axes);
}
