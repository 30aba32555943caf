/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables: numbers of the host as parameters of kernels, read and looked up, on every device. */
#include "ambit_compiled.h"
#include "runtime/runtime_test.h"

enum { ROWS = 9, COLUMNS = 70, CELLS = ROWS * COLUMNS };

static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 13 + i[1] * 5) % 23) / 4 - 2;
}

/* w has zeros; look-ups leave t on both sides. */
static const char rule[] =
    "void k(const float *u, table double w[3][3], float *v, table short t[5], sum double *s)\n"
    "{\n"
    "  double a = 0;\n"
    "  for (int y = 0; y < 3; y++)\n"
    "    for (int x = 0; x < 3; x++)\n"
    "      a += w[y][x] * u[y - 1][x - 1];\n"
    "  *v = a + t[(int)(2 * *u)] + w[index(0) % 3][(long)t[step()] + 1];\n"
    "  *s = *v;\n"
    "}\n";
static const float weights[3][3] = {{0, 0.25f, 0}, {0.25f, -1, 0.25f}, {0, 0.25f, 0}};
static const int numbers[5] = {7, -3, 70000, 0, 1};

typedef struct scene {
  ambit *a;
  ambit_field *u, *v;
  ambit_scalar *s;
  ambit_program *p;
} scene;

static scene scene_on(const char *device)
{
  scene x = {.a = open_on(device)};
  ambit_grid *g = grid_2d(x.a, ROWS, COLUMNS);

  ambit_option_set(x.a, "strict", "1");
  x.u = ambit_field_create(g, "u", AMBIT_F32);
  x.v = ambit_field_create(g, "v", AMBIT_F32);
  x.s = ambit_scalar_create(x.a, "s", AMBIT_F64);
  x.p = ambit_program_create(g);
  ambit_field_fill(x.u, start, NULL);
  ambit_field_boundary(x.u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  return x;
}

static float at(const float *u, int y, int x)
{
  y = y < 0 ? 0 : y < ROWS ? y : ROWS - 1;
  x = x < 0 ? 0 : x < COLUMNS ? x : COLUMNS - 1;
  return u[y * COLUMNS + x];
}

/* As the kernel is written. 70000 as a short is 4464. */
static float expected(const float *u, int y, int x)
{
  static const int t[] = {7, -3, 4464, 0, 1};
  const int look = (int)(2 * at(u, y, x));
  double a = 0;

  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      a += (double)weights[i][j] * (double)at(u, y + i - 1, x + j - 1);
  a = a + t[look < 0 ? 0 : look < 5 ? look : 4] + (double)weights[y % 3][2]; /* t[0] + 1 is 8 */
  return (float)a;
}

static void tables_are_read_and_looked_up(void)
{
  EACH_DEVICE(d)
  {
    scene x = scene_on(*d);
    float u[CELLS], v[CELLS];
    double sum = 0;

    ambit_apply(x.p, ambit_kernel_create(x.a, rule), x.u, ambit_arg_table(weights, AMBIT_F32, 3, 3),
                x.v, ambit_arg_table(numbers, AMBIT_I32, 1, 5), x.s);
    ambit_run(x.p, 1);
    ambit_field_read(x.u, NULL, NULL, u);
    ambit_field_read(x.v, NULL, NULL, v);
    CHECK_OK(x.a);
    for (int i = 0; i < CELLS; i++) {
      CHECK_MSG(expected(u, i / COLUMNS, i % COLUMNS) == v[i], "%s, cell %d: %g, not %g", *d, i,
                (double)v[i], (double)expected(u, i / COLUMNS, i % COLUMNS));
      sum += (double)v[i];
    }
    CHECK_NEAR(sum, ambit_scalar_get(x.s), 1e-9);
    ambit_close(x.a);
  }
}

/* Steps keep their own values, also those of an array that has changed. */
/* Whose results are 0 and 1. */
static void comparisons_can_be_subscripts(void)
{
  static const int c[2][4] = {{5, -6, 0, 0}, {7, 0, 0, 0}};
  static float u[CELLS], v[CELLS];

  EACH_DEVICE(d)
  {
    scene x = scene_on(*d);
    ambit_kernel *k = ambit_kernel_create(
        x.a, "void k(const float *u, table int c[2][4], float *v)\n"
             "{ *v = c[(long)(*u < -1)][(long)(0.1f < *u)] ? 3.0f + c[0][(long)(1 < *u)] : *u; }");

    ambit_apply(x.p, k, x.u, ambit_arg_table(c, AMBIT_I32, 2, 4), x.v);
    ambit_run(x.p, 1);
    ambit_field_read(x.u, NULL, NULL, u);
    ambit_field_read(x.v, NULL, NULL, v);
    CHECK_OK(x.a);
    for (int i = 0; i < CELLS; i++) {
      const float want = c[u[i] < -1][0.1f < u[i]] ? 3.0f + (float)c[0][1 < u[i]] : u[i];

      CHECK_MSG(want == v[i], "%s: cell %d of %g: want %g, got %g", *d, i, (double)u[i],
                (double)want, (double)v[i]);
    }
    ambit_close(x.a);
  }
}

static void each_step_has_its_own_values(void)
{
  EACH_DEVICE(d)
  {
    scene x = scene_on(*d);
    ambit_kernel *k =
        ambit_kernel_create(x.a, "void k(float *v, table float c[2]) { *v = *v * c[0] + c[1]; }");
    double c[2] = {0, 3};
    float v[CELLS];

    ambit_apply(x.p, k, x.v, ambit_arg_table(c, AMBIT_F64, 1, 2));
    c[0] = 2;
    c[1] = 0.5;
    ambit_apply(x.p, k, x.v, ambit_arg_table(c, AMBIT_F64, 1, 2));
    c[1] = 100;
    ambit_kernel_destroy(k);
    ambit_run(x.p, 1);
    ambit_field_read(x.v, NULL, NULL, v);
    CHECK_OK(x.a);
    CHECK(v[0] == 6.5f && v[CELLS - 1] == 6.5f);
    ambit_close(x.a);
  }
}

static void wrong_tables_are_refused(void)
{
  scene x = scene_on("ref");
  ambit_kernel *k = ambit_kernel_create(x.a, rule);
  const ambit_arg w = ambit_arg_table(weights, AMBIT_F32, 3, 3);
  const ambit_arg t = ambit_arg_table(numbers, AMBIT_I32, 1, 5);

  ambit_apply(x.p, k, x.u, w, x.v, 1.0, x.s);
  CHECK_FAILED(x.a, AMBIT_EINVAL,
               "parameter 't' is a table; give ambit_arg_table(values, type, 1, 5)");
  ambit_apply(x.p, k, x.u, t, x.v, t, x.s);
  CHECK_FAILED(x.a, AMBIT_EINVAL, "the table 'w' has 3 x 3 values, but 1 x 5 were given");
  ambit_apply(x.p, k, w, w, x.v, t, x.s);
  CHECK_FAILED(x.a, AMBIT_EINVAL, "parameter 'u' is not a table, but a table was given");
  ambit_apply(x.p, k, x.u, ambit_arg_table(NULL, AMBIT_F32, 3, 3), x.v, t, x.s);
  CHECK_FAILED(x.a, AMBIT_EINVAL, "has no values or no valid type");
  ambit_apply(x.p, k, x.u, x.v, x.s);
  CHECK_FAILED(x.a, AMBIT_EINVAL, "has 5 parameters, and 3 arguments were given");
  CHECK_EQ(AMBIT_EUNSUPPORTED, ambit_register_source(rule, AMBIT_CUDA, "source"));
  ambit_close(x.a);
}

static void kernels_describe_their_tables(void)
{
  ambit *a = open_on("ref");
  ambit_kernel *k = ambit_kernel_create(a, rule);
  ambit_param_info info;

  CHECK_EQ(5, ambit_kernel_params(k));
  info = *ambit_kernel_param(k, 1);
  CHECK(info.kind == AMBIT_PARAM_TABLE && info.components == 9 && info.type == AMBIT_F64);
  CHECK_STR("w", info.name);
  info = *ambit_kernel_param(k, 2);
  CHECK_STR("v", info.name);
  CHECK_EQ(AMBIT_PARAM_FIELD, info.kind);
  info = *ambit_kernel_param(k, 4);
  CHECK_STR("s", info.name);
  CHECK_OK(a);
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"tables_are_read_and_looked_up", tables_are_read_and_looked_up},
      {"comparisons_can_be_subscripts", comparisons_can_be_subscripts},
      {"each_step_has_its_own_values", each_step_has_its_own_values},
      {"wrong_tables_are_refused", wrong_tables_are_refused},
      {"kernels_describe_their_tables", kernels_describe_their_tables},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
