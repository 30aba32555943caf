/* SPDX-License-Identifier: BSD-3-Clause */
/* checked.h - scenes for tests of checked launches. */
#ifndef AMBIT_TEST_CHECKED_H
#define AMBIT_TEST_CHECKED_H

#include "runtime/run/run.h"
#include "runtime/runtime_test.h"

enum { ROWS = 9, COLUMNS = 11 };

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;
} scene;

static double ramp(const int64_t *index, int component, void *user)
{
  (void)user;
  return (double)(index[0] * 3 + index[1] % 4 + component);
}

static void set_checks(ambit *a, const char *value)
{
#ifdef AMBIT_ACCESS_CHECKS
  ambit_option_set(a, "check", value);
#endif
  ambit_option_set(a, "nan", value);
}

/* Two fields of a type, u with values and all kinds of boundaries that need ghost cells. */
static scene set_up(const char *device, ambit_type type, const char *text)
{
  scene s = {.a = open_on(device)};

  set_checks(s.a, "1");
  s.g = grid_2d(s.a, ROWS, COLUMNS);
  s.u = ambit_field_create(s.g, "u", type);
  s.v = ambit_field_create(s.g, "v", type);
  ambit_field_fill(s.u, ramp, NULL);
  ambit_field_boundary(s.u, AMBIT_AXIS(0), AMBIT_CLAMP, 0);
  ambit_field_boundary(s.u, AMBIT_AXIS(1), AMBIT_CONSTANT, 1);
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p, ambit_kernel_create(s.a, text), s.u, s.v);
  ambit_swap(s.p, s.u, s.v);
  return s;
}

/* Checks the error message and closes the context. */
static void expect(scene *s, const char *words)
{
  CHECK_FAILED(s->a, AMBIT_EPROGRAM, words);
  ambit_close(s->a);
}

#define CROSS "u[-1][0] + u[1][0] + u[0][-1] + u[0][1]"

static const char cross[] = "void cross(const float *u, float *v)\n"
                            "{\n"
                            "  *v = 0.25f * (" CROSS ");\n"
                            "}\n";

#endif
