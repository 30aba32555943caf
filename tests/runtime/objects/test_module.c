/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts with several kernels, constants of the program, and functions that fill arrays or read rows
 * of tables. */
#include "runtime/runtime_test.h"

enum { CELLS = 40 };

#define RADIUS 2
#define SCALE  0.25
enum { PLACES = 2 * RADIUS + 1 };

static const char text[] = AMBIT_SOURCE(
    static void weights(float w[PLACES], float scale) {
      for (int i = 0; i < PLACES; i++)
        w[i] = scale * (i + 1);
    }

    void spread(const float *u, float *v) {
      float w[PLACES];
      float s = 0;

      weights(w, SCALE);
      for (int i = 0; i < PLACES; i++)
        s += w[i] * u[i - RADIUS];
      *v = s;
    }

    static float dot(const float a[3], const float b[3]) {
      return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }

    void turn(float *f[3], table float m[3][3]) {
      float in[3] = {*f[0], *f[1], *f[2]};

      for (int i = 0; i < 3; i++)
        *f[i] = dot(m[i], in);
    }

    static double at(const double t[4], int i) { return t[i]; }

    void look(const float *u, double *v, table double t[3][4]) {
      const double own[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};

      *v = at(t[(int)*u], step()) + 10 * at(t[1], 2) + at(own[1], 3);
    });

static ambit_kernel *read_text(ambit *a)
{
  AMBIT_DEFINE(a, RADIUS);
  AMBIT_DEFINE(a, PLACES);
  AMBIT_DEFINE(a, SCALE);
  return ambit_kernel_create(a, text);
}

static double number(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)(i[0] % 7) + component;
}

static void one_text_has_several_kernels(void)
{
  static const double m[3][3] = {{0, 1, 0}, {2, 0, 0}, {1, 1, 1}};
  static const double t[3][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}, {100, 200, 300, 400}};

  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, CELLS);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32),
                *x = ambit_field_create(g, "x", AMBIT_F64),
                *f = ambit_field_create_vector(g, "f", AMBIT_F32, 3, AMBIT_SOA);
    ambit_kernel *spread = read_text(a);
    ambit_program *p = ambit_program_create(g);
    float got[CELLS], turned[CELLS][3];
    double looked[CELLS];

    ambit_field_fill(u, number, NULL);
    ambit_field_fill(f, number, NULL);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
    CHECK(!strcmp(ambit_kernel_name(spread), "spread"));
    ambit_apply(p, spread, u, v);
    ambit_apply(p, ambit_kernel_find(spread, "turn"), f, ambit_arg_table(m, AMBIT_F64, 3, 3));
    ambit_apply(p, ambit_kernel_find(spread, "look"), u, x, ambit_arg_table(t, AMBIT_F64, 3, 4));
    ambit_run(p, 2);
    CHECK_OK(a);
    ambit_field_read(v, NULL, NULL, got);
    ambit_field_read(x, NULL, NULL, looked);
    ambit_field_read(f, NULL, NULL, turned);
    for (int i = 0; i < CELLS; i++) {
      const double b = i % 7, once[3] = {b + 1, 2 * b, b + b + 1 + b + 2};
      double sum = 0;

      for (int k = -RADIUS; k <= RADIUS; k++)
        if (i + k >= 0 && i + k < CELLS) sum += SCALE * (k + RADIUS + 1) * ((i + k) % 7);
      CHECK_EQ(sum, (double)got[i]);
      CHECK_EQ(once[1], (double)turned[i][0]);
      CHECK_EQ(2 * once[0], (double)turned[i][1]);
      CHECK_EQ(once[0] + once[1] + once[2], (double)turned[i][2]);
      CHECK_EQ(t[i % 7 < 3 ? i % 7 : 2][1] + 300 + 8, looked[i]);
    }
    ambit_close(a);
  }
}

static void constants_keep_their_types(void)
{
  static const char k[] =
      "void k(double *v[6]) { *v[0] = ONE / 2; *v[1] = HALF; *v[2] = LONG * 4L; "
      "*v[3] = POSITIVE - 2; *v[4] = SINGLE; *v[5] = ANEW; }";
  enum { ONE = 1 };
  const double HALF = 0.5;
  const long long LONG = 1LL << 40;
  const unsigned POSITIVE = 1;
  const float SINGLE = 0.1f;
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_1d(a, 2);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F64, 6, AMBIT_AOS);
  ambit_program *p = ambit_program_create(g);
  double got[2][6];

  AMBIT_DEFINE(a, ONE);
  AMBIT_DEFINE(a, HALF);
  AMBIT_DEFINE(a, LONG);
  AMBIT_DEFINE(a, POSITIVE);
  AMBIT_DEFINE(a, SINGLE);
  ambit_define(a, "ANEW", AMBIT_I32, 3);
  ambit_define(a, "ANEW", AMBIT_F64, 4.5);
  ambit_apply(p, ambit_kernel_create(a, k), v);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_field_read(v, NULL, NULL, got);
  CHECK_EQ(0, got[0][0]);
  CHECK_EQ(0.5, got[0][1]);
  CHECK_EQ(0x1p42, got[0][2]);
  CHECK_EQ(4294967295.0, got[0][3]);
  CHECK_EQ((double)0.1f, got[0][4]);
  CHECK_EQ(4.5, got[0][5]);
  ambit_close(a);
}

static void mistakes_are_told(void)
{
  ambit *a = open_on("cpu");
  ambit_kernel *k = read_text(a);

  CHECK(!ambit_kernel_find(k, "sprad"));
  CHECK_FAILED(a, AMBIT_EINVAL, "its kernels are spread, turn, look");
  CHECK(!ambit_kernel_create(a, "void a(float *u) { *u = 1; } void b(float *u) { *u = x; }"));
  CHECK_FAILED(a, AMBIT_EKERNEL, "unknown name 'x'");
  CHECK(!ambit_kernel_create(a, "void a(float *u) { *u = 1; } void a(float *u) { *u = 2; }"));
  CHECK_FAILED(a, AMBIT_EKERNEL, "two kernels 'a'");
  CHECK(!ambit_kernel_create(a, "void a(float *u) { *u = f(1); } static float f(float x) { return "
                                "x; } void b(float *u) { *u = f(2); }"));
  CHECK_FAILED(a, AMBIT_EKERNEL, "unknown function 'f'");
  CHECK(!ambit_kernel_create(a, "static void f(float w[2]) { w[0] = 1; } void a(float *u) { const "
                                "float w[2] = {1, 2}; f(w); *u = w[0]; }"));
  CHECK_FAILED(a, AMBIT_EKERNEL, "'w' is const, and 'w' fills it");
  CHECK(!ambit_kernel_create(a, "static void f(float w[2]) { w[0] = 1; } void a(float *u) { float "
                                "w[2]; *u = f(w); }"));
  CHECK_FAILED(a, AMBIT_EKERNEL, "'f' returns no value");
  CHECK(!ambit_kernel_create(a,
                             "static float f(const float w[3]) { return w[0]; } void a(float *u, "
                             "table float t[2][2]) { *u = f(t[1]); }"));
  CHECK_FAILED(a, AMBIT_EKERNEL, "a row of 't' has 2 elements, 'w' has 3");
  ambit_define(a, "a b", AMBIT_I32, 3);
  CHECK_FAILED(a, AMBIT_EINVAL, "'a b' cannot be the name");
  ambit_define(a, "N", AMBIT_I32, 3.5);
  CHECK_FAILED(a, AMBIT_EINVAL, "the constant N is 3.5");
  ambit_define(a, "N", AMBIT_F16, 3.5);
  CHECK_FAILED(a, AMBIT_EINVAL, "has the type half");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"one_text_has_several_kernels", one_text_has_several_kernels},
      {"constants_keep_their_types", constants_keep_their_types},
      {"mistakes_are_told", mistakes_are_told},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
