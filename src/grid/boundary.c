/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/boundary.h"
#include "base/number.h"

#include <stdio.h>
#include <string.h>

static int64_t floor_mod(int64_t a, int64_t n)
{
  int64_t r = a % n;

  return r < 0 ? r + n : r;
}

int64_t ambit__boundary_map(ambit_boundary kind, int64_t extent, int64_t i)
{
  int64_t period;

  if (i >= 0 && i < extent) return i;
  switch (kind) {
  case AMBIT_PERIODIC: return floor_mod(i, extent);
  case AMBIT_REFLECT: /* 0 1 2 3 2 1 | 0 1 2 3 2 1 */
    if (extent == 1) return 0;
    period = 2 * (extent - 1);
    i = floor_mod(i, period);
    return i < extent ? i : period - i;
  case AMBIT_ANTISYMMETRIC:
  case AMBIT_SYMMETRIC: /* 0 1 2 3 3 2 1 0 | 0 1 2 3 3 2 1 0 */
    period = 2 * extent;
    i = floor_mod(i, period);
    return i < extent ? i : period - 1 - i;
  case AMBIT_CLAMP: return i < 0 ? 0 : extent - 1;
  case AMBIT_NONE:
  case AMBIT_CONSTANT:
  case AMBIT_DIRICHLET:
  case AMBIT_NEUMANN:
  case AMBIT_FIXED: break;
  }
  return i;
}

bool ambit__boundary_negates(ambit_boundary kind, int64_t extent, int64_t i)
{
  return kind == AMBIT_ANTISYMMETRIC && floor_mod(i, 2 * extent) >= extent;
}

bool ambit__boundaries_negate(const ambit__boundaries *b, int ndims, const int64_t *extents,
                              const int64_t *cell)
{
  bool negates = false;

  for (int d = 0; d < ndims; d++) {
    const int side = cell[d] >= extents[d];

    if (cell[d] < 0 || cell[d] >= extents[d])
      negates ^= ambit__boundary_negates(b->kind[d][side], extents[d], cell[d]);
  }
  return negates;
}

bool ambit__boundaries_map(const ambit__boundaries *b, int ndims, const int64_t *extents,
                           int64_t *cell, double *value)
{
  bool inside = true;

  for (int d = 0; d < ndims; d++) {
    int side = cell[d] >= extents[d];

    if (cell[d] >= 0 && cell[d] < extents[d]) continue;
    if (b->kind[d][side] == AMBIT_CONSTANT) {
      *value = b->value[d][side];
      inside = false;
    } else {
      cell[d] = ambit__boundary_map(b->kind[d][side], extents[d], cell[d]);
    }
  }
  return inside;
}

static const char *const names[] = {"none",  "constant", "periodic",      "reflect",   "symmetric",
                                    "clamp", "fixed",    "antisymmetric", "dirichlet", "neumann"};

bool ambit__boundaries_equal(const ambit__boundaries *a, const ambit__boundaries *b)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    for (int side = 0; side < 2; side++)
      if (a->kind[d][side] != b->kind[d][side] || a->on[d][side] != b->on[d][side] ||
          !ambit__number_same(a->value[d][side], b->value[d][side]))
        return false;
  return a->inactive == b->inactive && ambit__number_same(a->fill, b->fill);
}

bool ambit__faces_fit(unsigned faces, int ndims)
{
  const unsigned beyond = faces >> 2 * ndims;

  return !beyond || beyond == AMBIT_ALL_FACES >> 2 * ndims;
}

void ambit__faces_print(unsigned faces, char *text, size_t size)
{
  const bool all = (faces & AMBIT_ALL_FACES) == AMBIT_ALL_FACES;
  size_t at = (size_t)snprintf(text, size, "%s", all ? "AMBIT_ALL_FACES" : faces ? "" : "no face");

  for (int d = 0; !all && d < AMBIT_MAX_DIMS; d++) {
    const unsigned here = faces & AMBIT_AXIS(d);
    const char *name = here == AMBIT_AXIS(d) ? "AXIS" : here == AMBIT_LOW(d) ? "LOW" : "HIGH";

    if (here && at < size)
      at += (size_t)snprintf(text + at, size - at, "%sAMBIT_%s(%d)", at ? " | " : "", name, d);
  }
}

const char *ambit__boundary_name(ambit_boundary kind)
{
  return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

bool ambit__boundary_find(const char *name, size_t length, ambit_boundary *kind)
{
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == length && !strncmp(names[i], name, length)) {
      *kind = (ambit_boundary)i;
      return true;
    }
  return false;
}
