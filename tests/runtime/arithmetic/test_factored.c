/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows together and one by one; and weighted sums whose terms are grouped, so that cells of a row
 * share partial sums: close to ref, on pieces of rows and at their ends, with stores through the
 * caches and past them. */
#include "device/cpu/machine.h"
#include "runtime/program/program.h"
#include "runtime/runtime_test.h"

#include <math.h>
#include <string.h>

/* ---- simulated caches of the cpu device ---- */

static bool nontemporal; /* results are stored past the caches */

void __real_ambit__machine_probe(const char *root, ambit__machine *m);
void __wrap_ambit__machine_probe(const char *root, ambit__machine *m);

/* The linker replaces ambit__machine_probe by this. */
void __wrap_ambit__machine_probe(const char *root, ambit__machine *m)
{
  __real_ambit__machine_probe(root, m);
  m->has_nontemporal = nontemporal;
  if (!nontemporal) return;
  m->l2 = 16 << 10;
  m->l3 = 64 << 10;
}

/* ---- scenes ---- */

typedef struct scene {
  const char *rule;
  ambit_type type;
  int ndims;
  int64_t extents[3];
  ambit_boundary boundary;
  const char *plan; /* a part of its line */
} scene;

static double start(const int64_t *i, int component, void *user)
{
  const scene *s = user;
  int64_t n = component;

  for (int d = 0; d < s->ndims; d++)
    n = n * 31 + i[d];
  return (double)(n * n % 1009) / 1009;
}

/* Values of type double, to be freed. */
static double *compute(scene *s, const char *device, const char *strict, const char *plan)
{
  ambit *a = open_on(device);
  ambit_grid *g = ambit_grid_create(a, s->ndims, s->extents);
  ambit_field *u = ambit_field_create(g, "u", s->type), *v = ambit_field_create(g, "v", s->type);
  ambit_program *p = ambit_program_create(g);
  const size_t cells = (size_t)ambit_grid_cells(g);
  double *values = calloc(cells, sizeof *values);
  float *floats = calloc(cells, sizeof *floats);

  ambit_option_set(a, "strict", strict);
  ambit_field_boundary(u, AMBIT_ALL_FACES, s->boundary, 0);
  ambit_field_boundary(v, AMBIT_ALL_FACES, s->boundary, 0);
  ambit_field_fill(u, start, s);
  ambit_apply(p, ambit_kernel_create(a, s->rule), u, v);
  ambit_swap(p, u, v);
  ambit_run(p, 2);
  ambit_field_read(u, NULL, NULL, s->type == AMBIT_F32 ? (void *)floats : values);
  CHECK_OK(a);
  if (!ambit_error(a) && plan)
    CHECK_MSG(strstr(p->applies[0].functions[0]->plan, plan), "want %s, got %s", plan,
              p->applies[0].functions[0]->plan);
  for (size_t i = 0; s->type == AMBIT_F32 && i < cells; i++)
    values[i] = floats[i];
  free(floats);
  ambit_close(a);
  return values;
}

static void check(scene *s)
{
  const double tolerance = s->type == AMBIT_F32 ? 1e-6 : 1e-15;
  double *want = compute(s, "ref", "1", NULL), *got = compute(s, "cpu", "0", s->plan);
  size_t cells = 1;

  for (int d = 0; d < s->ndims; d++)
    cells *= (size_t)s->extents[d];
  for (size_t i = 0; i < cells; i++)
    if (fabs(want[i] - got[i]) > tolerance) {
      CHECK_MSG(false, "cell %zu: want %.17g, got %.17g\n%s", i, want[i], got[i], s->rule);
      break;
    }
  free(want);
  free(got);
}

#define SYMMETRIC                                                                                  \
  "void r(const float *u, float *v)\n"                                                             \
  "{\n"                                                                                            \
  "  const float w[4] = {0.30f, 0.05f, 0.02f, -0.01f};\n"                                          \
  "  float s = 0;\n"                                                                               \
  "  for (int z = -1; z <= 1; z++)\n"                                                              \
  "    for (int y = -1; y <= 1; y++)\n"                                                            \
  "      for (int x = -1; x <= 1; x++)\n"                                                          \
  "        s += w[z * z + y * y + x * x] * u[z][y][x];\n"                                          \
  "  *v = s;\n"                                                                                    \
  "}\n"
#define SEPARABLE(radius, weights)                                                                 \
  "void r(const double *u, double *v)\n"                                                           \
  "{\n"                                                                                            \
  "  const double w[] = {" weights "};\n"                                                          \
  "  double s = 0;\n"                                                                              \
  "  for (int y = -" radius "; y <= " radius "; y++)\n"                                            \
  "    for (int x = -" radius "; x <= " radius "; x++)\n"                                          \
  "      s += w[y + " radius "] * w[x + " radius "] * u[y][x];\n"                                  \
  "  *v = s;\n"                                                                                    \
  "}\n"
#define FIVE   SEPARABLE("2", "0.1, 0.2, 0.5, 0.3, -0.1")
#define ELEVEN SEPARABLE("5", "0.1, -0.2, 0.05, 0.3, 0.1, 0.2, 0.1, 0.3, -0.05, 0.02, 0.08")

static void cells_of_a_row_share_partial_sums(void)
{
  scene scenes[] = {
      {SYMMETRIC, AMBIT_F32, 3, {5, 6, 523}, AMBIT_FIXED, "factored 14 of 27)"},
      {FIVE, AMBIT_F64, 2, {9, 1061}, AMBIT_PERIODIC, "factored 9 of 25)"},
  };

  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    check(&scenes[i]);
}

static void pieces_are_stored_past_the_caches(void)
{
  scene s = {ELEVEN, AMBIT_F64, 2, {21, 549}, AMBIT_FIXED, "factored 21 of 121 nontemporal)"};

  nontemporal = true;
  check(&s);
  s.boundary = AMBIT_PERIODIC;
  check(&s);
  nontemporal = false;
}

/* They keep the order of the user's terms. */
static void strict_sums_are_not_factored(void)
{
  scene s = {SYMMETRIC, AMBIT_F32, 3, {4, 5, 40}, AMBIT_FIXED, ""};
  double *want = compute(&s, "ref", "1", NULL), *got = compute(&s, "cpu", "1", "(rows 2)");

  for (int i = 0; i < 4 * 5 * 40; i++)
    CHECK(want[i] == got[i]);
  free(want);
  free(got);
}

/* Of a wave of order 8, where results are stored through the caches. */
static void far_reads_beside_another_field_take_rows_one_by_one(void)
{
  static const char wave[] = AMBIT_SOURCE(void wave(const float *u, float *v) {
    float sum = -8.1f * *u;
    for (int i = 1; i < 5; i++)
      sum += 0.5f / i *
             (u[-i][0][0] + u[i][0][0] + u[0][-i][0] + u[0][i][0] + u[0][0][-i] + u[0][0][i]);
    *v = 2 * *u - *v + 0.1f * sum;
  });
  scene s = {wave, AMBIT_F32, 3, {12, 10, 40}, AMBIT_FIXED, ""};
  double *want = compute(&s, "ref", "1", NULL);

  for (int i = 0; i < 2; i++) {
    double *got;

    nontemporal = i;
    got = compute(&s, "cpu", "1", i ? "(rows 4" : "(rows 1");
    for (int k = 0; k < 12 * 10 * 40; k++)
      CHECK(want[k] == got[k]);
    free(got);
  }
  nontemporal = false;
  free(want);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"cells_of_a_row_share_partial_sums", cells_of_a_row_share_partial_sums},
      {"pieces_are_stored_past_the_caches", pieces_are_stored_past_the_caches},
      {"strict_sums_are_not_factored", strict_sums_are_not_factored},
      {"far_reads_beside_another_field_take_rows_one_by_one",
       far_reads_beside_another_field_take_rows_one_by_one},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
