/* SPDX-License-Identifier: BSD-3-Clause */
/* components.h - boundaries of single components against fields of one component. */
#ifndef AMBIT_TESTS_RUNTIME_COMPONENTS_H
#define AMBIT_TESTS_RUNTIME_COMPONENTS_H

#include "runtime/places.h"

#include <stdlib.h>

/* Of a component, where it differs from that of the field, which is to clamp. */
typedef struct own_boundary {
  unsigned faces;
  ambit_boundary kind;
  double value;
} own_boundary;

static inline double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + component * 7) % 251) / 16 - 7;
}

/* Runs fields of one component, one after the other, with `nown` boundaries each, for 6 iterations,
 * and closes the context. */
static inline void run_apart(ambit *a, ambit_grid *g, const char *text, int fields,
                             const own_boundary *own, int nown, float *values)
{
  const int cells = (int)(ambit_grid_extent(g, 0) * ambit_grid_extent(g, 1));
  ambit_kernel *k = ambit_kernel_create(a, text);
  ambit_field *given = ambit_field_create_vector(g, "given", AMBIT_F32, fields, AMBIT_SOA);
  float *from = calloc((size_t)(fields * cells), sizeof *from),
        *one = calloc((size_t)cells, sizeof *one);

  ambit_field_fill(given, start, NULL);
  ambit_field_read(given, NULL, NULL, from);
  for (int c = 0; c < fields; c++) {
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    for (int i = 0; i < cells; i++)
      one[i] = from[i * fields + c];
    ambit_field_write(u, NULL, NULL, one);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    for (const own_boundary *b = own + c * nown; b < own + (c + 1) * nown; b++)
      ambit_field_boundary(u, b->faces, b->kind, b->value);
    ambit_apply(p, k, u, v);
    ambit_swap(p, u, v);
    ambit_run(p, 6);
    ambit_field_read(u, NULL, NULL, one);
    for (int i = 0; i < cells; i++)
      values[i * fields + c] = one[i];
  }
  free(from);
  free(one);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

#endif
