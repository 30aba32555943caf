/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels as their users can look at them: parameters, footprint, cost.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "runtime/runtime_test.h"

static const char lattice[] = "void lattice(const double *f[3], const short *mark, double *g[3], "
                              "double rate, min long *least)\n"
                              "{\n"
                              "  *g[0] = *f[0] + rate;\n"
                              "  *g[1] = f[1][0][-2] * f[1][1][0];\n"
                              "  if (*mark) *g[2] = f[2][-1][3];\n"
                              "  *least = *mark;\n"
                              "}\n";

/* Ends the program if the kernel is rejected. */
static ambit_kernel *kernel(ambit *a, const char *text)
{
  ambit_kernel *k = ambit_kernel_create(a, text);

  if (k) return k;
  printf("# refused:\n%s\n%s\n", text, ambit_error_text(a));
  exit(1);
}

static ambit_param_info param(const ambit_kernel *k, int i)
{
  const ambit_param_info *info = ambit_kernel_param(k, i);

  CHECK_MSG(info, "parameter %d", i);
  return *info;
}

static void check_offset(const ambit_offset *o, int component, int first, int second)
{
  CHECK_EQ(component, o->component);
  CHECK_EQ(first, o->axis[0]);
  CHECK_EQ(second, o->axis[1]);
  for (int d = 2; d < AMBIT_MAX_DIMS; d++)
    CHECK_EQ(0, o->axis[d]);
}

static void a_field_is_described_with_its_footprint(void)
{
  ambit *a = open_on("ref");
  ambit_kernel *k = kernel(a, lattice);
  ambit_param_info f = param(k, 0), mark = param(k, 1), g = param(k, 2);

  CHECK_EQ(2, ambit_kernel_ndims(k));
  CHECK_EQ(5, ambit_kernel_params(k));
  CHECK_STR("f", f.name);
  CHECK(f.kind == AMBIT_PARAM_FIELD && f.type == AMBIT_F64 && f.components == 3);
  CHECK(f.is_vector && f.is_const && !f.is_written && f.reads_neighbours);
  CHECK(f.low[0] == 1 && f.high[0] == 1 && f.low[1] == 2 && f.high[1] == 3);
  CHECK(f.low[2] == 0 && f.high[2] == 0);
  CHECK_EQ(4, f.noffsets);
  check_offset(&f.offsets[0], 0, 0, 0);
  check_offset(&f.offsets[1], 1, 0, -2);
  check_offset(&f.offsets[2], 1, 1, 0);
  check_offset(&f.offsets[3], 2, -1, 3);
  CHECK(mark.type == AMBIT_I16 && mark.components == 1 && !mark.is_vector && mark.is_const);
  CHECK(!mark.is_written && !mark.reads_neighbours && mark.noffsets == 1);
  check_offset(&mark.offsets[0], 0, 0, 0);
  CHECK(g.is_written && !g.is_const && !g.reads_neighbours);
  CHECK_EQ(1, g.noffsets); /* g[2] keeps its old value where mark is 0 */
  check_offset(&g.offsets[0], 2, 0, 0);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void plain_parameters_and_reductions_are_told_apart(void)
{
  static const char *const words[] = {"sum", "min", "max"};
  static const ambit_reduction reductions[] = {AMBIT_SUM, AMBIT_MIN, AMBIT_MAX};
  ambit *a = open_on("ref");
  ambit_kernel *k = kernel(a, lattice);
  ambit_param_info rate = param(k, 3), least = param(k, 4);

  CHECK_STR("rate", rate.name);
  CHECK(rate.kind == AMBIT_PARAM_VALUE && rate.type == AMBIT_F64 && !rate.noffsets);
  CHECK(!rate.is_vector && !rate.is_written && !rate.reads_neighbours);
  CHECK(least.kind == AMBIT_PARAM_REDUCTION && least.type == AMBIT_I64);
  CHECK_EQ(AMBIT_MIN, least.reduction);
  for (int i = 0; i < 3; i++) {
    char text[100];

    snprintf(text, sizeof text, "void r(const float *u, %s float *r) { *r = *u; }", words[i]);
    CHECK_EQ(reductions[i], param(kernel(a, text), 1).reduction);
  }
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void what_a_cell_costs_is_known(void)
{
  ambit *a = open_on("ref");
  ambit_kernel *heat = ambit_kernel_create_named(a, "2d4", AMBIT_F32);
  ambit_kernel *vector =
      kernel(a, "void v(const double *f[3], double *g[2]) { *g[1] = *f[2] * 2; }");

  CHECK_EQ(8, ambit_kernel_bytes(heat)); /* u once, v once */
  CHECK(ambit_kernel_flops(heat) >= 4);
  CHECK_EQ(16, ambit_kernel_bytes(vector)); /* two components of five */
  CHECK_EQ(1, ambit_kernel_flops(vector));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_kernel_that_can_run_on_scalars_says_so(void)
{
  static const struct {
    const char *text;
    int once;
  } kernels[] = {
      {"void k(const double *a, double *b) { *b = sqrt(*a); }", 1},
      {"void k(double *b, int n) { *b = n + step(); }", 1},
      {"void k(const double *a, double *b) { *b = a[1]; }", 0},
      {"void k(const double *a, sum double *b) { *b = *a; }", 0},
      {"void k(const double *a[2], double *b) { *b = *a[0]; }", 0},
      {"void k(long *b) { *b = index(0); }", 0},
  };
  ambit *a = open_on("ref");

  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    ambit_kernel *k = kernel(a, kernels[i].text);

    CHECK_OK(a);
    CHECK_MSG(ambit_kernel_is_once(k) == kernels[i].once, "%s", kernels[i].text);
  }
  CHECK_EQ(0, ambit_kernel_ndims(kernel(a, kernels[0].text)));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void what_is_not_there_is_refused(void)
{
  ambit *a = open_on("ref");
  ambit_kernel *k = kernel(a, lattice);

  CHECK(!ambit_kernel_param(k, 5));
  CHECK_FAILED(a, AMBIT_EINVAL,
               "parameter 5 of kernel lattice was requested; it has 5, numbered from 0");
  CHECK(!ambit_kernel_param(k, -1));
  CHECK_FAILED(a, AMBIT_EINVAL, "parameter -1 of kernel lattice");
  CHECK(!ambit_kernel_param(NULL, 0));
  CHECK(!ambit_kernel_params(NULL) && !ambit_kernel_ndims(NULL) && !ambit_kernel_is_once(NULL));
  CHECK(ambit_kernel_flops(NULL) == 0 && ambit_kernel_bytes(NULL) == 0);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_field_is_described_with_its_footprint", a_field_is_described_with_its_footprint},
      {"plain_parameters_and_reductions_are_told_apart",
       plain_parameters_and_reductions_are_told_apart},
      {"what_a_cell_costs_is_known", what_a_cell_costs_is_known},
      {"a_kernel_that_can_run_on_scalars_says_so", a_kernel_that_can_run_on_scalars_says_so},
      {"what_is_not_there_is_refused", what_is_not_there_is_refused},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
