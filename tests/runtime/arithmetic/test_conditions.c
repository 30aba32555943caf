/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels with conditions: on every device the same bits as on ref, in strict mode, on rows longer
 * than the pieces in which narrow fields are converted. */
#include "runtime/runtime_test.h"

enum { ROWS = 19, COLUMNS = 1203, CELLS = ROWS * COLUMNS, COMPONENTS = 2 };

static double wall(const int64_t *i, int component, void *user)
{
  (void)user;
  return (i[0] * 7 + i[1] * 3 + component) % 11 == 0 || i[1] == 513 ? (double)(i[1] % 200 + 1) : 0;
}

static double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 13 + i[1] * 5 + component) % 17) / 8;
}

typedef struct outcome {
  float v[CELLS];
  double total;
} outcome;

/* Runs void k(const float *u, const unsigned char *m, const short *n[2], float *v, sum double *s),
 * or one without the last two results. */
static void play(const char *device, const char *text, bool reduces, bool writes, outcome *out)
{
  ambit *a = open_on(device);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_field *m = ambit_field_create(g, "m", AMBIT_U8);
  ambit_field *n = ambit_field_create_vector(g, "n", AMBIT_I16, COMPONENTS, AMBIT_SOA);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *k;

  ambit_option_set(a, "strict", "1");
  k = ambit_kernel_create(a, text);
  ambit_field_fill(u, start, NULL);
  ambit_field_fill(m, wall, NULL);
  ambit_field_fill(n, wall, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary(m, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(n, AMBIT_ALL_FACES, AMBIT_CONSTANT, 3);
  if (reduces && writes)
    ambit_apply(p, k, u, m, n, v, s);
  else if (writes)
    ambit_apply(p, k, u, m, n, v);
  else
    ambit_apply(p, k, u, m, n, s);
  ambit_run(p, 2);
  *out = (outcome){.total = ambit_scalar_get(s)};
  ambit_field_read(v, NULL, NULL, out->v);
  CHECK_OK(a);
  ambit_close(a);
}

static void compare(const char *text, bool reduces, bool writes)
{
  static outcome want, got;

  play("ref", text, reduces, writes, &want);
  EACH_DEVICE(d)
  {
    play(*d, text, reduces, writes, &got);
    CHECK_MSG(!memcmp(&want, &got, sizeof want), "%s differs from ref: %s", *d, text);
  }
}

#define HEAD "void k(const float *u, const unsigned char *m, const short *n[2], "

static void a_mask_of_bytes_at_neighbours_selects(void)
{
  compare(HEAD "float *v) { *v = (m[0][-2] ? u[0][1] : *u) + (m[-1][1] > 9 ? u[1][0] : 2.0f) * "
               "(*n[1] ? 0.5f : n[0][2][-1] * 1.0f); }",
          false, true);
}

static void both_sides_of_an_if_are_computed_and_one_is_taken(void)
{
  compare(HEAD
          "float *v) { float t = 1, s; if (*m) { t = u[0][1]; float q = t * t; if (q > 1) { s = "
          "q; *v = 3; } else s = -q; } else { s = sqrtf(*u); if (index(1) == 512 || "
          "index(0) == extent(0) - 1) t = 7; *v = s; } if (s < t) *v += t / s; }",
          false, true);
}

static void a_costly_side_keeps_its_branch(void)
{
  compare(HEAD "float *v) { int i = *m; *v = 0; if (*m) { *v = (float)(1000 / *m % 7); } else if "
               "(*n[0]) *v = 5; *v += i > 3 ? (float)(*n[1] / (i - 4)) : 1.0f; }",
          false, true);
}

static void a_masked_sum_beside_a_result(void)
{
  compare(HEAD "float *v, sum double *s) { *v = *u; if (m[1][0]) { *s = u[0][-1]; *v = -1; } }",
          true, true);
}

static void a_masked_sum_alone(void)
{
  compare(HEAD "sum double *s) { if (*m && !*n[1]) *s = *u; }", true, false);
}

/* Averages of the neighbours that exist, without any boundary. */
#define MEAN                                                                                       \
  "void mean(const float *u, float *v) { float s = 0, n = 0; "                                     \
  "if (!outside(-1, 0)) { s += u[-1][0]; n += 1; } if (!outside(1, 0)) { s += u[1][0]; n += 1; } " \
  "s += outside(0, -2) ? 0 : u[0][-2]; n += !outside(0, -2); "                                     \
  "s += outside(0, 1) ? 0 : u[0][1]; n += !outside(0, 1); *v = s / n; }"

/* The same with functions of the text, whose arguments are such reads. */
#define SAME "static float same(float x) { return x + 0; } "
#define MEAN_BY_FUNCTIONS                                                                          \
  SAME "void mean(const float *u, float *v) { float s = 0, n = 0; "                                \
       "s += outside(-1, 0) ? 0 : same(same(u[-1][0])); n += outside(-1, 0) ? 0 : same(1); "       \
       "if (!outside(1, 0) && same(u[1][0]) >= 0) { s += u[1][0]; n += 1; } "                      \
       "if (!(outside(0, -2) || same(u[0][-2]) < 0)) { s += same(u[0][-2]); n += 1; } "            \
       "s += !outside(0, 1) ? *u > 5 ? 99 : same(u[0][1]) : same(*u - *u); n += !outside(0, 1); "  \
       "*v = s / n; }"

static double row_number(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)index[0];
}

static void check_mean(const char *text)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_2d(a, 3, 40);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g), *q = ambit_program_create(g);
    float values[3 * 40];

    ambit_field_fill(u, row_number, NULL);
    ambit_apply(p, ambit_kernel_create(a, text), u, v);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, values);
    CHECK_OK(a);
    for (int i = 0; i < 120; i++) {
      const int row = i / 40, beside = (i % 40 >= 2) + (i % 40 < 39);
      const float sum = (float)(row == 1 ? 2 : 1) + (float)(row * beside);

      CHECK_NEAR(sum / (float)(beside + 1 + (row == 1)), values[i], 1e-6);
    }
    ambit_apply(q, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = u[-1][0]; }"), u,
                v);
    ambit_run(q, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "or test outside() first");
    ambit_close(a);
  }
}

static void a_read_under_outside_needs_no_boundary(void)
{
  check_mean(MEAN);
}

static void an_argument_under_outside_needs_no_boundary(void)
{
  check_mean(MEAN_BY_FUNCTIONS);
}

/* As C: only the side that is taken is computed, and the condition before it. */
#define FILL                                                                                       \
  "static float put(float a[2], int i, float x) { a[i] = x; return x; } "                          \
  "void k(const float *u, float *v) { float a[2] = {1, 1}, b; "                                    \
  "b = *u < 10 ? put(a, 0, 100) : 2; "                                                             \
  "if (a[0] > 5 && put(a, 0, 3) > 2) b += 1000; "                                                  \
  "if (a[0] == 3 || put(a, 1, 7) < 0) b += 5000; "                                                 \
  "b += a[1] == 7 ? put(a, 1, 8) : 0; *v = b + 10 * a[0] + 10000 * a[1]; }"

static void a_function_fills_an_array_only_where_it_is_called(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_2d(a, 20, 40);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    float values[20 * 40];

    ambit_field_fill(u, row_number, NULL);
    ambit_apply(p, ambit_kernel_create(a, FILL), u, v);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, values);
    CHECK_OK(a);
    for (int i = 0; i < 800; i++)
      CHECK_NEAR(i / 40 < 10 ? 100 + 1000 + 5000 + 30 + 10000 : 2 + 8 + 10 + 80000, values[i], 0);
    ambit_close(a);
  }
}

/* One bit per comparison; all of them change their value at another cell near a face. */
#define PLACES                                                                                     \
  "void k(int *v)\n"                                                                               \
  "{\n"                                                                                            \
  "  *v = (index(1) == 2) | (index(1) != 0) << 1 | (index(1) < 3) << 2 | (index(1) <= 1) << 3;\n"  \
  "  *v |= (4 < index(1)) << 4 | (5 <= index(1)) << 5 | (index(1) == extent(1) - 1) << 6;\n"       \
  "  *v |= (extent(1) - 3 != index(1)) << 7 | (index(1) < extent(1) - 2) << 8;\n"                  \
  "  *v |= (index(1) <= extent(1) - 5) << 9 | (index(1) > extent(1) - 4) << 10;\n"                 \
  "  *v |= (index(0) >= extent(0) - 6) << 11 | (extent(0) > index(0)) << 12;\n"                    \
  "  if (index(0) == 1 && index(1) >= 1) *v |= 8192;\n"                                            \
  "}\n"

static int place_bits(int i, int j, int rows, int columns)
{
  const int bits[] = {j == 2, j != 0,
                      j<3, j <= 1, 4 < j, 5 <= j, j == columns - 1, columns - 3 != j,
                        j<columns - 2, j <= columns - 5, j> columns - 4, i >= rows - 6, rows>
                          i,
                      i == 1 && j >= 1};
  int all = 0;

  for (int b = 0; b < 14; b++)
    all |= bits[b] << b;
  return all;
}

static void comparisons_of_index_near_faces(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_I32);
    ambit_program *p = ambit_program_create(g);
    static int32_t values[ROWS * COLUMNS];
    int wrong = 0;

    ambit_apply(p, ambit_kernel_create(a, PLACES), v);
    ambit_run(p, 1);
    ambit_field_read(v, NULL, NULL, values);
    CHECK_OK(a);
    for (int i = 0; i < ROWS * COLUMNS; i++)
      wrong += values[i] != place_bits(i / COLUMNS, i % COLUMNS, ROWS, COLUMNS);
    CHECK_MSG(!wrong, "%s: %d cells are wrong", *d, wrong);
    ambit_close(a);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_mask_of_bytes_at_neighbours_selects", a_mask_of_bytes_at_neighbours_selects},
      {"both_sides_of_an_if_are_computed_and_one_is_taken",
       both_sides_of_an_if_are_computed_and_one_is_taken},
      {"a_costly_side_keeps_its_branch", a_costly_side_keeps_its_branch},
      {"a_masked_sum_beside_a_result", a_masked_sum_beside_a_result},
      {"a_masked_sum_alone", a_masked_sum_alone},
      {"a_read_under_outside_needs_no_boundary", a_read_under_outside_needs_no_boundary},
      {"an_argument_under_outside_needs_no_boundary", an_argument_under_outside_needs_no_boundary},
      {"a_function_fills_an_array_only_where_it_is_called",
       a_function_fills_an_array_only_where_it_is_called},
      {"comparisons_of_index_near_faces", comparisons_of_index_near_faces},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
