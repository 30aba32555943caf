/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions whose subscripts are computed, as in plain C, with the same bits on all devices and
 * parts. */
#include "runtime/places.h"

#include <math.h>

enum { NY = 37, NX = 141, CELLS = NY * NX, BINS = 40, MOST = NY * BINS };

/* Subscripts beyond both ends, several statements for a cell, conditions, neighbours, loops. The
 * sums have the same bits in any order, since values are few and small; with `strict` all do. */
static const char text[] =
    "void bins(const float *u, const unsigned char *v, sum long *n[40], sum double *w[40],\n"
    "          max float *m[40], min int *low[40], sum unsigned *b[40])\n"
    "{\n"
    "  int k = (int)(*u * 4) - 3;\n"
    "  *n[k] += 1;\n"
    "  if (*u > 5) *n[39 - k] -= 2;\n"
    "  for (int i = 0; i < 2; i++) *w[k + i] += u[0][1] - 0.25f;\n"
    "  *w[7] += 0.5;\n"
    "  *m[*v % 40] = *u;\n"
    "  if (*v > 9) *low[(long)*v << 27] = *v;\n"
    "  *low[k] = (int)index(1);\n"
    "  *b[*v] += 1;\n"
    "}";

typedef struct result {
  int64_t n[MOST];
  double w[MOST];
  float m[MOST];
  int low[MOST];
  unsigned b[MOST];
} result;

static double u_of(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 37 + i[1] * 23) % 101) / 8 - 1;
}

static double v_of(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 11 + i[1] * 29) % 61);
}

/* Row y has its own components, or (one) all have the same. */
static void compute(bool one, result *r)
{
  const int rows = one ? 1 : NY;

  memset(r, 0, sizeof *r);
  for (int i = 0; i < rows * BINS; i++) {
    r->m[i] = -INFINITY;
    r->low[i] = INT32_MAX;
  }
  for (int64_t y = 0; y < NY; y++)
    for (int64_t x = 0; x < NX; x++) {
      const int64_t here[] = {y, x}, beside[] = {y, x + 1 < NX ? x + 1 : x};
      const double u = u_of(here, 0, NULL), next = u_of(beside, 0, NULL);
      const int v = (int)v_of(here, 0, NULL), k = (int)(u * 4) - 3;
      const int64_t at = one ? 0 : y * BINS;

#define ADD(a, i, how)                                                                             \
  if ((i) >= 0 && (i) < BINS) (a)[at + (i)] how
      ADD(r->n, k, += 1);
      if (u > 5) ADD(r->n, 39 - k, -= 2);
      ADD(r->w, k, += next - 0.25);
      ADD(r->w, k + 1, += next - 0.25);
      ADD(r->w, 7, += 0.5);
      ADD(r->m, v % 40, = fmaxf(r->m[at + v % 40], (float)u));
      ADD(r->low, k, = x < r->low[at + k] ? (int)x : r->low[at + k]);
      ADD(r->b, v, += 1);
#undef ADD
    }
}

static void run_there(const char *devices, const char *plan, bool strict, bool one, result *r)
{
  ambit *a = open_on(devices);
  ambit_grid *g;
  ambit_field *u, *v, *n, *w, *m, *low, *b;
  ambit_program *p;
  const unsigned axes = one ? 0 : AMBIT_AXIS(0);

  ambit_option_set(a, "strict", strict ? "1" : "0");
  if (plan) ambit_option_set(a, "plan", plan);
  g = ambit_grid_create(a, 2, (int64_t[]){NY, NX});
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_U8);
  n = ambit_field_create_vector_on(g, "n", AMBIT_I64, BINS, AMBIT_SOA, axes);
  w = ambit_field_create_vector_on(g, "w", AMBIT_F64, BINS, AMBIT_AOS, axes);
  m = ambit_field_create_vector_on(g, "m", AMBIT_F32, BINS, AMBIT_SOA, axes);
  low = ambit_field_create_vector_on(g, "low", AMBIT_I32, BINS, AMBIT_SOA, axes);
  b = ambit_field_create_vector_on(g, "b", AMBIT_U32, BINS, AMBIT_SOA, axes);
  p = ambit_program_create(g);
  ambit_field_fill(u, u_of, NULL);
  ambit_field_fill(v, v_of, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(p, ambit_kernel_create(a, text), u, v, n, w, m, low, b);
  ambit_run(p, 2);
  memset(r, 0, sizeof *r);
  ambit_field_read(n, NULL, NULL, r->n);
  ambit_field_read(w, NULL, NULL, r->w);
  ambit_field_read(m, NULL, NULL, r->m);
  ambit_field_read(low, NULL, NULL, r->low);
  ambit_field_read(b, NULL, NULL, r->b);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void components_are_those_of_plain_c(void)
{
  static result want, got;

  EACH_PLACE(where)
  for (int i = 0; i < 4; i++) {
    compute(i % 2, &want);
    run_there(*where, NULL, i / 2, i % 2, &got);
#define SAME(x)                                                                                    \
  CHECK_MSG(!memcmp(want.x, got.x, sizeof want.x), "%s, %s, %s: " #x " differs", *where,           \
            i % 2 ? "no axes" : "rows", i / 2 ? "strict" : "relaxed")
    SAME(n);
    SAME(w);
    SAME(m);
    SAME(low);
    SAME(b);
#undef SAME
  }
}

/* Of strict sums of any numbers. */
static void strict_sums_are_exact(void)
{
  double want[8] = {0};

  EACH_PLACE(where)
  {
    ambit *a = open_strict(*where);
    ambit_grid *g = grid_2d(a, NY, NX);
    ambit_field *w = ambit_field_create_vector_on(g, "w", AMBIT_F64, 8, AMBIT_SOA, 0);
    ambit_program *p = ambit_program_create(g);
    double got[8] = {0};

    ambit_apply(p,
                ambit_kernel_create(a, "void add(sum double *w[8]) { double x = index(0) - 17.3; "
                                       "*w[index(1) % 9] += x * x * x / 7 * (index(1) - 70); }"),
                w);
    ambit_run(p, 1);
    ambit_field_read(w, NULL, NULL, got);
    CHECK_OK(a);
    if (!want[0]) memcpy(want, got, sizeof want);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s: sums differ", *where);
    CHECK(fabs(want[1]) > 1);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* Constant subscripts, more than a kernel has parameters: moments. */
static void many_components_may_be_written_by_number(void)
{
  EACH_PLACE(where)
  {
    ambit *a = open_strict(*where);
    ambit_grid *g = grid_2d(a, NY, NX);
    ambit_field *m = ambit_field_create_vector_on(g, "m", AMBIT_I64, 50, AMBIT_SOA, 0);
    ambit_program *p = ambit_program_create(g);
    int64_t got[50] = {0};

    ambit_apply(p,
                ambit_kernel_create(a, "void moments(sum long *m[50]) { "
                                       "for (int i = 0; i < 50; i++) *m[i] = index(1) * i; }"),
                m);
    ambit_run(p, 1);
    ambit_field_read(m, NULL, NULL, got);
    CHECK_OK(a);
    for (int i = 0; i < 50; i++)
      CHECK_EQ(NY * i * (NX * (NX - 1) / 2), got[i]);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* Boxes leave other cells out; a step that reads its own result reads the old one. */
static void boxes_and_later_steps_work(void)
{
  EACH_PLACE(where)
  {
    ambit *a = open_strict(*where);
    ambit_grid *g = grid_2d(a, NY, NX);
    ambit_field *h = ambit_field_create_vector_on(g, "h", AMBIT_I32, 4, AMBIT_SOA, 0);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_I32);
    ambit_program *p = ambit_program_create(g);
    const ambit_kernel *k = ambit_kernel_create(
        a, "void count(const int *u, sum int *h[4]) { *h[*u & 7] += 1; }\n"
           "void use(const int *h[4], int *u) { *u += *h[1] / 25 + (int)index(1); }");
    int got[4] = {0}, want[4] = {0};
    static int all[NY][NX];

    memset(all, 0, sizeof all);
    ambit_apply_box(p, AMBIT_INDEX(2, 3), AMBIT_INDEX(30, 101), k, u, h);
    ambit_apply(p, ambit_kernel_find(k, "use"), h, u);
    ambit_run(p, 5);
    ambit_field_read(h, NULL, NULL, got);
    for (int step = 0; step < 5; step++) {
      memset(want, 0, sizeof want);
      for (int y = 2; y < 30; y++)
        for (int x = 3; x < 101; x++)
          if ((all[y][x] & 7) < 4) want[all[y][x] & 7]++;
      for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
          all[y][x] += want[1] / 25 + x;
    }
    CHECK_OK(a);
    for (int i = 0; i < 4; i++)
      CHECK_EQ(want[i], got[i]);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static void refuses(const char *kernel, int components, bool scalar, const char *words)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 8, 8);
  ambit_field *h = ambit_field_create_vector_on(g, "h", AMBIT_I32, components, AMBIT_SOA, 0);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_I32);
  ambit_program *p = ambit_program_create(g);
  const ambit_kernel *k = ambit_kernel_create(a, kernel);

  if (scalar)
    ambit_apply(p, k, s);
  else
    ambit_apply(p, k, h);
  CHECK_MSG(strstr(ambit_error_text(a), words), "%s", ambit_error_text(a));
  ambit_close(a);
}

static void what_is_wrong_is_refused(void)
{
  refuses("void f(sum int *h[9]) { *h[index(0)] += 1; }", 8, false,
          "parameter 'h' has 9 components, but field 'h' has 8");
  refuses("void f(sum int *h[9]) { *h[index(0)] += 1; }", 8, true,
          "it takes a field on fewer axes with 9 components");
  refuses("void f(sum int *h[8]) { *h[index(0)] = 1; }", 8, false, "write *h[i] += x");
  refuses("void f(sum int *h[8]) { *h[index(0)] += 1; *h[8] += 1; }", 8, false,
          "'h' has no component 8");
  refuses("void f(sum int *h[8]) { *h[index(0)] += *h[1]; }", 8, false, "'h' is read");
  refuses("void f(max int *h[8]) { *h[index(0)] += 1; }", 8, false, "write *h[i] = x");
  refuses("void f(sum short *h[8]) { *h[index(0)] += 1; }", 8, false, "its type can be int");
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"components_are_those_of_plain_c", components_are_those_of_plain_c},
      {"strict_sums_are_exact", strict_sums_are_exact},
      {"many_components_may_be_written_by_number", many_components_may_be_written_by_number},
      {"boxes_and_later_steps_work", boxes_and_later_steps_work},
      {"what_is_wrong_is_refused", what_is_wrong_is_refused},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
