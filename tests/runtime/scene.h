/* SPDX-License-Identifier: BSD-3-Clause */
/* scene.h - a row of N cells with three fields, a scalar and a program, for tests of programs. */
#ifndef AMBIT_TESTS_RUNTIME_SCENE_H
#define AMBIT_TESTS_RUNTIME_SCENE_H

#include "runtime/runtime_test.h"

enum { N = 20 };

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v, *w; /* of int */
  ambit_scalar *s;        /* of long */
  ambit_program *p;
} scene;

static inline scene set_up(const char *device)
{
  scene s = {.a = open_on(device)};

  s.g = grid_1d(s.a, N);
  s.u = ambit_field_create(s.g, "u", AMBIT_I32);
  s.v = ambit_field_create(s.g, "v", AMBIT_I32);
  s.w = ambit_field_create(s.g, "w", AMBIT_I32);
  s.s = ambit_scalar_create(s.a, "s", AMBIT_I64);
  s.p = ambit_program_create(s.g);
  return s;
}

static inline ambit_kernel *kernel(const scene *s, const char *text)
{
  return ambit_kernel_create(s->a, text);
}

/* One cell of a field. */
static inline int32_t at(ambit_field *f, int64_t i)
{
  const int64_t lo[] = {i}, hi[] = {i + 1};
  int32_t x = -12345;

  ambit_field_read(f, lo, hi, &x);
  return x;
}

#endif
