/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions by functions of the kernel's text: the same on all devices and parts, refused in
 * strict mode if the result would depend on the order. */
#include "runtime/runtime_test.h"

#include <math.h>

enum { ROWS = 60, COLUMNS = 47 };

/* ref runs in one process only; there a device that compiles slowly is tried too. */
static bool runs_here(const char *device)
{
  ambit *a = open_on("cpu");
  const bool runs = ambit_processes(a) == 1 || (strcmp(device, "ref") && !compiles_slowly(device));

  ambit_close(a);
  return runs;
}

#define EACH_DEVICE_HERE(d) EACH_DEVICE(d) if (runs_here(*d))

/* Numbers of both signs; the largest magnitude is that of a negative one. */
static const char text[] =
    "static float magnitude(float a, float b) { return fmaxf(fabsf(a), fabsf(b)); }\n"
    "static long differ(long a, long b) { return a ^ b; }\n"
    "static unsigned char pile(unsigned char a, unsigned char b)\n"
    "{\n"
    "  int c = a + b;\n"
    "  if (c > 255) c = 255;\n"
    "  return c;\n"
    "}\n"
    "static int times(int a, int b) { return a * b; }\n"
    "void k(float *u, fold(magnitude, 0) float *top, fold(differ, 0) long *bits[2],\n"
    "       fold(pile, 0) unsigned char *full, fold(times, 1) int *odd, sum long *count)\n"
    "{\n"
    "  long n = index(0) * 47 + index(1);\n"
    "  *u = n * 37 % 1009 - 700;\n"
    "  *top = *u;\n"
    "  *bits[0] = n * 2654435761L;\n"
    "  *bits[1] = n == 1000 ? 5 : 0;\n"
    "  *full = n % 700 == 0;\n"
    "  *odd = 2 * (int)n + 1;\n"
    "  *count = 1;\n"
    "}";
enum { TOP, BITS, OTHER_BITS, FULL, ODD, COUNT, NRESULTS };
static const ambit_type types[] = {AMBIT_F32, AMBIT_I64, AMBIT_I64, AMBIT_U8, AMBIT_I32, AMBIT_I64};

static void results_of_loops(double want[NRESULTS])
{
  int64_t bits = 0;
  uint32_t odd = 1;
  int full = 0;

  for (int64_t n = 0; n < ROWS * COLUMNS; n++) {
    bits ^= (int64_t)((uint64_t)n * 2654435761u);
    odd *= 2 * (uint32_t)n + 1;
    full += n % 700 == 0;
  }
  want[TOP] = 700;
  want[BITS] = (double)bits;
  want[OTHER_BITS] = 5;
  want[FULL] = full;
  want[ODD] = (int32_t)odd;
  want[COUNT] = ROWS * COLUMNS;
}

/* A context on a device in some parts. */
static ambit *open_parts(const char *device, int parts, const char *strict)
{
  char devices[40];
  ambit *a;

  snprintf(devices, sizeof devices, parts > 1 ? "%s*%d" : "%s", device, parts);
  a = open_on(devices);
  ambit_option_set(a, "strict", strict);
  return a;
}

static void check_everything(const char *device, int parts, const char *strict)
{
  ambit *a = open_parts(device, parts, strict);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  ambit_scalar *s[NRESULTS];
  double want[NRESULTS];

  results_of_loops(want);
  for (int i = 0; i < NRESULTS; i++)
    s[i] = ambit_scalar_create(a, "s", types[i]);
  ambit_apply(p, ambit_kernel_create(a, text), u, s[0], s[1], s[2], s[3], s[4], s[5]);
  ambit_run(p, 2);
  CHECK_OK(a);
  for (int i = 0; i < NRESULTS; i++)
    CHECK_MSG(ambit_scalar_get(s[i]) == want[i], "%s*%d: result %d: want %.17g, got %.17g", device,
              parts, i, want[i], ambit_scalar_get(s[i]));
  ambit_close(a);
}

static void results_are_those_of_plain_loops(void)
{
  EACH_DEVICE_HERE(d)
  for (int parts = compiles_slowly(*d) ? 3 : 1; parts <= (strcmp(*d, "ref") ? 3 : 1); parts += 2)
    for (int strict = compiles_slowly(*d); strict < 2; strict++)
      check_everything(*d, parts, strict ? "1" : "0");
}

/* ---- a line of numbers ---- */

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u;
  ambit_program *p;
  ambit_scalar *s;
} scene;

static scene line(const char *device, const char *strict)
{
  const double values[] = {3, -8, 0.5, 2, -0.25, 7, 1, -1};
  scene s = {.a = open_parts(device, 1, strict)};

  s.g = grid_1d(s.a, 8);
  s.u = ambit_field_create(s.g, "u", AMBIT_F64);
  s.p = ambit_program_create(s.g);
  s.s = ambit_scalar_create(s.a, "s", AMBIT_F64);
  ambit_field_write(s.u, NULL, NULL, values);
  return s;
}

static const char product[] =
    "static double product(double a, double b) { return a * b; }\n"
    "void k(const double *u, fold(product, 1) double *r) { if (*u > 0) *r = *u; }";

static void cells_that_do_not_write_give_the_identity(void)
{
  EACH_DEVICE_HERE(d)
  {
    if (compiles_slowly(*d)) continue;
    scene s = line(*d, "0");

    ambit_apply(s.p, ambit_kernel_create(s.a, product), s.u, s.s);
    ambit_run(s.p, 1);
    CHECK_OK(s.a);
    CHECK_EQ(21, ambit_scalar_get(s.s));
    ambit_close(s.a);
  }
}

static void steps_fold_into_one_scalar_with_the_same_function(void)
{
  scene s = line("cpu", "0");
  ambit_kernel *k = ambit_kernel_create(s.a, product);
  ambit_kernel *same = ambit_kernel_create(
      s.a, "static double f(double a, double b) { return a * b; }\n"
           "void half(const double *u, fold(f, 1) double *r) { *r = 0.5 * fabs(*u); }");
  ambit_kernel *other =
      ambit_kernel_create(s.a, "static double f(double a, double b) { return a * b + 0 * a; }\n"
                               "void odd(const double *u, fold(f, 1) double *r) { *r = *u; }");

  ambit_apply_box(s.p, (int64_t[]){0}, (int64_t[]){4}, k, s.u, s.s);
  ambit_apply_box(s.p, (int64_t[]){4}, (int64_t[]){6}, same, s.u, s.s);
  ambit_run(s.p, 1);
  CHECK_OK(s.a);
  CHECK_EQ(3 * 0.5 * 2 * 0.125 * 3.5, ambit_scalar_get(s.s));
  ambit_apply(s.p, other, s.u, s.s);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "reduces into scalar 's' with fold, but step 2, kernel half");
  ambit_close(s.a);
}

/* Joined steps are printed and parsed again. */
static void joined_steps_keep_their_functions(void)
{
  EACH_DEVICE_HERE(d)
  for (int join = compiles_slowly(*d); join < 2; join++) {
    scene s = line(*d, "1");
    ambit_field *v = ambit_field_create(s.g, "v", AMBIT_F64);
    ambit_scalar *least = ambit_scalar_create(s.a, "least", AMBIT_F64);

    ambit_option_set(s.a, "join", join ? "1" : "0");
    ambit_apply(s.p,
                ambit_kernel_create(
                    s.a, "static double f(double a, double b) { return fmax(fabs(a), fabs(b)); }\n"
                         "void one(const double *u, double *v, fold(f, 0) double *r)\n"
                         "{ *v = *u - 1; *r = *u; }"),
                s.u, v, s.s);
    ambit_apply(s.p,
                ambit_kernel_create(
                    s.a, "static double f(double a, double b) { return fmin(a, b); }\n"
                         "void two(const double *v, fold(f, INFINITY) double *r) { *r = *v; }"),
                v, least);
    ambit_run(s.p, 1);
    CHECK_OK(s.a);
    CHECK_EQ(8, ambit_scalar_get(s.s));
    CHECK_EQ(-9, ambit_scalar_get(least));
    ambit_close(s.a);
  }
}

/* ---- strict mode ---- */

static void strict_mode_refuses_what_depends_on_the_order(void)
{
  static const struct {
    const char *body, *identity, *words;
  } wrong[] = {
      {"return a * b;", "1", "f(f("},
      {"return a - b;", "0", "f(f(0, 0), 1) is -1, f(0, f(0, 1)) is 1"},
      {"return a != a || fabs(a) > fabs(b) ? a : b;", "0", "f(1, -1) is -1, f(-1, 1) is 1"},
      {"return a > b ? a : b;", "-1e300", "is nan"},
      {"return fmin(a, b) + 1;", "0", "f(0, 0) is 1, not the identity"},
  };

  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    scene s = line("cpu", "1");
    char kernel[400];

    snprintf(kernel, sizeof kernel,
             "static double f(double a, double b) { %s }\n"
             "void k(const double *u, fold(f, %s) double *r) { *r = *u; }",
             wrong[i].body, wrong[i].identity);
    ambit_apply(s.p, ambit_kernel_create(s.a, kernel), s.u, s.s);
    CHECK_FAILED(s.a, AMBIT_EPROGRAM, wrong[i].words);
    ambit_close(s.a);
  }
}

/* The result is never -0, whatever the function returns last. */
static void minus_zero_is_zero(void)
{
  EACH_DEVICE_HERE(d)
  {
    scene s = line(*d, "1");

    ambit_apply(s.p,
                ambit_kernel_create(
                    s.a, "static double f(double a, double b) { return fmax(a, b); }\n"
                         "void k(const double *u, fold(f, -INFINITY) double *r) { *r = 0 * *u; "
                         "*r = -*r; }"),
                s.u, s.s);
    ambit_run(s.p, 1);
    CHECK_OK(s.a);
    CHECK(!signbit(ambit_scalar_get(s.s)));
    ambit_close(s.a);
  }
}

static void information_on_the_parameter(void)
{
  scene s = line("cpu", "0");
  ambit_param_info info;

  info = *ambit_kernel_param(ambit_kernel_create(s.a, product), 1);
  CHECK_EQ(AMBIT_PARAM_REDUCTION, info.kind);
  CHECK_EQ(AMBIT_FOLD, info.reduction);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"results_are_those_of_plain_loops", results_are_those_of_plain_loops},
      {"cells_that_do_not_write_give_the_identity", cells_that_do_not_write_give_the_identity},
      {"steps_fold_into_one_scalar_with_the_same_function",
       steps_fold_into_one_scalar_with_the_same_function},
      {"joined_steps_keep_their_functions", joined_steps_keep_their_functions},
      {"strict_mode_refuses_what_depends_on_the_order",
       strict_mode_refuses_what_depends_on_the_order},
      {"minus_zero_is_zero", minus_zero_is_zero},
      {"information_on_the_parameter", information_on_the_parameter},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
