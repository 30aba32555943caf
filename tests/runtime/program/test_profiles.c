/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields on some axes of their grid: reductions onto them, reads of them from all cells, and steps
 * on them, as in plain C, with the same bits on all devices, parts and processes. */
#define _XOPEN_SOURCE 700
#include "runtime/places.h"
#include "support/folder.h"

#include <math.h>
#include <sys/wait.h>

enum { NX = 7, NY = 9, NZ = 13, CELLS = NX * NY * NZ, STEPS = 3 };

static const int64_t extents[] = {NX, NY, NZ};

static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + i[2] * 71) % 251) / 16 - 5;
}

/* Sums, a maximum and a count over the other axes; a smoothed sum; a field that reads it. */
static const char text[] =
    "void reduce(const float *f, sum float *n, max double *m, sum int *c)\n"
    "{ *n = *f * 0.3f; if (*f > 0) *m = sqrt((double)*f); *c = *f > 1 ? 1 : index(0); }\n"
    "void smooth(const float *n, const double *m, float *s, sum double *total, max float *most)\n"
    "{ *s = *n + 0.1f * (float)*m + 0.25f * (%s - 2 * *n);\n"
    "  *total = *s; *most = *s; }\n"
    "void push(const float *f, const float *s, const int *c, float *g)\n"
    "{ *g = 0.5f * (f[0][0][-1] + f[1][0][0]) + 0.01f * (%s) + 0.001f * (float)*c; }\n"
    "void least(const float *f, min float *low) { *low = *f; }";

/* A neighbour on both sides along axis d. */
static const char *around(int d)
{
  static const char *const pairs[] = {"s[-1][0][0] + s[1][0][0]", "s[0][-1][0] + s[0][1][0]",
                                      "s[0][0][-1] + s[0][0][1]"};
  return pairs[d];
}

typedef struct result {
  float f[CELLS], n[CELLS], s[CELLS], low[CELLS];
  double m[CELLS];
  int c[CELLS];
  double total, most;
} result;

/* The same axes in plain C: the sums are exact there too, since values are few and small. */
static void print_kernels(char *to, size_t size, int axis)
{
  char own[64];

  snprintf(own, sizeof own, "%s", around(axis));
  for (char *c = own; *c; c++)
    if (*c == 's') *c = 'n';
  snprintf(to, size, text, own, around(axis));
}

static int first_axis(unsigned axes)
{
  int d = 0;

  while (!(axes & AMBIT_AXIS(d)))
    d++;
  return d;
}

static ambit *open_cut(const char *devices, const char *partition, bool strict)
{
  ambit *a = open_on(devices);

  ambit_option_set(a, "strict", strict ? "1" : "0");
  if (partition) ambit_option_set(a, "partition", partition);
  return a;
}

static void run_there(const char *devices, const char *partition, bool strict, unsigned axes,
                      ambit_boundary kind, result *r)
{
  ambit *a = open_cut(devices, partition, strict);
  ambit_grid *g = ambit_grid_create(a, 3, extents);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32),
              *h = ambit_field_create(g, "h", AMBIT_F32);
  ambit_field *n = ambit_field_create_on(g, "n", AMBIT_F32, axes);
  ambit_field *s = ambit_field_create_on(g, "s", AMBIT_F32, axes);
  ambit_field *m = ambit_field_create_on(g, "m", AMBIT_F64, axes);
  ambit_field *c = ambit_field_create_on(g, "c", AMBIT_I32, axes);
  ambit_field *low = ambit_field_create_on(g, "low", AMBIT_F32, axes);
  ambit_scalar *total = ambit_scalar_create(a, "total", AMBIT_F64);
  ambit_scalar *most = ambit_scalar_create(a, "most", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *k;
  char kernels[2000];

  memset(r, 0, sizeof *r);
  print_kernels(kernels, sizeof kernels, first_axis(axes));
  k = ambit_kernel_create(a, kernels);
  ambit_field_fill(f, start, NULL);
  ambit_field_set(low, 99);
  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary(n, AMBIT_ALL_FACES, kind, 1.5);
  ambit_field_boundary(s, AMBIT_ALL_FACES, kind, 2.5);
  ambit_apply(p, k, f, n, m, c);
  ambit_apply(p, ambit_kernel_find(k, "smooth"), n, m, s, total, most);
  ambit_apply(p, ambit_kernel_find(k, "push"), f, s, c, h);
  ambit_apply_box(p, AMBIT_INDEX(1, 2, 3), AMBIT_INDEX(6, 8, 12), ambit_kernel_find(k, "least"), f,
                  low);
  ambit_swap(p, f, h);
  ambit_run(p, STEPS);
  ambit_field_read(f, NULL, NULL, r->f);
  ambit_field_read(n, NULL, NULL, r->n);
  ambit_field_read(s, NULL, NULL, r->s);
  ambit_field_read(m, NULL, NULL, r->m);
  ambit_field_read(c, NULL, NULL, r->c);
  ambit_field_read(low, NULL, NULL, r->low);
  r->total = ambit_scalar_get(total);
  r->most = ambit_scalar_get(most);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* ---- the definition, in plain C ---- */

typedef struct shape {
  int64_t n[3]; /* extents of a profile */
} shape;

static shape shape_of(unsigned axes)
{
  shape s;

  for (int d = 0; d < 3; d++)
    s.n[d] = axes & AMBIT_AXIS(d) ? extents[d] : 1;
  return s;
}

static int64_t number(const shape *s, int64_t x, int64_t y, int64_t z)
{
  return ((s->n[0] > 1 ? x : 0) * s->n[1] + (s->n[1] > 1 ? y : 0)) * s->n[2] +
         (s->n[2] > 1 ? z : 0);
}

/* The value of a profile at a cell whose index along an axis may be one outside. */
static float profile_at(const float *v, const shape *s, int64_t x, int64_t y, int64_t z,
                        ambit_boundary kind, float constant)
{
  int64_t i[] = {x, y, z};

  for (int d = 0; d < 3; d++) {
    if (i[d] >= 0 && i[d] < extents[d]) continue;
    if (kind == AMBIT_CONSTANT) return constant;
    i[d] =
        kind == AMBIT_PERIODIC ? (i[d] + extents[d]) % extents[d] : (i[d] < 0 ? 0 : extents[d] - 1);
  }
  return v[number(s, i[0], i[1], i[2])];
}

#define EACH_CELL(x, y, z)                                                                         \
  for (int64_t x = 0; x < NX; x++)                                                                 \
    for (int64_t y = 0; y < NY; y++)                                                               \
      for (int64_t z = 0; z < NZ; z++)

static void run_here(unsigned axes, ambit_boundary kind, result *r)
{
  const shape whole = {{NX, NY, NZ}}, s = shape_of(axes);
  const int d = first_axis(axes);
  static double sums[CELLS];
  static float g[CELLS];

  memset(r, 0, sizeof *r);
  EACH_CELL(x, y, z) r->f[number(&whole, x, y, z)] = (float)start((int64_t[]){x, y, z}, 0, NULL);
  for (int64_t i = 0; i < s.n[0] * s.n[1] * s.n[2]; i++)
    r->low[i] = 99;
  for (int t = 0; t < STEPS; t++) {
    memset(sums, 0, sizeof sums);
    memset(r->c, 0, sizeof r->c);
    for (int64_t i = 0; i < s.n[0] * s.n[1] * s.n[2]; i++)
      r->m[i] = -(double)INFINITY;
    EACH_CELL(x, y, z)
    {
      const float f = r->f[number(&whole, x, y, z)];
      const int64_t i = number(&s, x, y, z);

      sums[i] += (double)(f * 0.3f);
      if (f > 0 && sqrt((double)f) > r->m[i]) r->m[i] = sqrt((double)f);
      r->c[i] += f > 1 ? 1 : (int)x;
    }
    r->total = 0;
    r->most = -(double)INFINITY;
    for (int64_t i = 0; i < s.n[0] * s.n[1] * s.n[2]; i++)
      r->n[i] = (float)sums[i];
    for (int64_t x = 0; x < s.n[0]; x++)
      for (int64_t y = 0; y < s.n[1]; y++)
        for (int64_t z = 0; z < s.n[2]; z++) {
          const int64_t i = number(&s, x, y, z);
          const float pair =
              profile_at(r->n, &s, x - (d == 0), y - (d == 1), z - (d == 2), kind, 1.5f) +
              profile_at(r->n, &s, x + (d == 0), y + (d == 1), z + (d == 2), kind, 1.5f);

          r->s[i] = r->n[i] + 0.1f * (float)r->m[i] + 0.25f * (pair - 2 * r->n[i]);
          r->total += (double)r->s[i];
          if ((double)r->s[i] > r->most) r->most = (double)r->s[i];
        }
    EACH_CELL(x, y, z)
    {
      const float pair =
          profile_at(r->s, &s, x - (d == 0), y - (d == 1), z - (d == 2), kind, 2.5f) +
          profile_at(r->s, &s, x + (d == 0), y + (d == 1), z + (d == 2), kind, 2.5f);

      g[number(&whole, x, y, z)] = 0.5f * (r->f[number(&whole, x, y, z ? z - 1 : 0)] +
                                           r->f[number(&whole, x < NX - 1 ? x + 1 : x, y, z)]) +
                                   0.01f * pair + 0.001f * (float)r->c[number(&s, x, y, z)];
    }
    EACH_CELL(x, y, z)
    if (x >= 1 && x < 6 && y >= 2 && y < 8 && z >= 3 && z < 12) r->low[number(&s, x, y, z)] = 1e30f;
    EACH_CELL(x, y, z)
    if (x >= 1 && x < 6 && y >= 2 && y < 8 && z >= 3 && z < 12)
      r->low[number(&s, x, y, z)] =
          fminf(r->low[number(&s, x, y, z)], r->f[number(&whole, x, y, z)]);
    memcpy(r->f, g, sizeof g);
  }
}

/* ---- comparison ---- */

static bool near(double a, double b, double scale)
{
  return fabs(a - b) <= scale * (1 + fabs(b));
}

static void check_near(const result *got, const result *want, double scale, const char *what)
{
  int bad = 0;

  for (int i = 0; i < CELLS; i++)
    bad += !near((double)got->f[i], (double)want->f[i], scale) ||
           !near((double)got->n[i], (double)want->n[i], scale) ||
           !near((double)got->s[i], (double)want->s[i], scale) ||
           !near((double)got->low[i], (double)want->low[i], scale) ||
           !near(got->m[i], want->m[i], scale) || got->c[i] != want->c[i];
  CHECK_MSG(!bad, "%s: %d cells differ", what, bad);
  CHECK_MSG(near(got->total, want->total, 10 * scale), "%s: total %.17g, not %.17g", what,
            got->total, want->total);
  CHECK_MSG(near(got->most, want->most, scale), "%s: most %.9g, not %.9g", what, got->most,
            want->most);
}

static void check_same(const result *got, const result *want, const char *what)
{
  CHECK_MSG(!memcmp(got->n, want->n, sizeof got->n), "%s: sums differ", what);
  CHECK_MSG(!memcmp(got->m, want->m, sizeof got->m), "%s: maxima differ", what);
  CHECK_MSG(!memcmp(got->s, want->s, sizeof got->s), "%s: the smoothed sum differs", what);
  CHECK_MSG(!memcmp(got, want, sizeof *got), "%s: bits differ", what);
}

static const unsigned all_axes[] = {AMBIT_AXIS(0),
                                    AMBIT_AXIS(1),
                                    AMBIT_AXIS(2),
                                    AMBIT_AXIS(0) | AMBIT_AXIS(1),
                                    AMBIT_AXIS(0) | AMBIT_AXIS(2),
                                    AMBIT_AXIS(1) | AMBIT_AXIS(2)};
static const ambit_boundary kinds[] = {AMBIT_PERIODIC, AMBIT_CONSTANT, AMBIT_CLAMP};

static bool is_alone(void)
{
  ambit *a = ambit_open(NULL, NULL);
  const bool alone = ambit_processes(a) == 1;

  ambit_close(a);
  return alone;
}

static void reductions_and_reads_along_all_sets_of_axes(void)
{
  static result want, got;

  for (int i = 0; i < 6; i++) {
    if (!test_takes(i, 3)) continue;
    run_here(all_axes[i], kinds[i % 3], &want);
    EACH_PLACE(d)
    for (int strict = 0; strict < 2; strict++) {
      char what[80];

      snprintf(what, sizeof what, "%s, axes 0x%x, strict %d", *d, all_axes[i], strict);
      run_there(*d, NULL, strict, all_axes[i], kinds[i % 3], &got);
      check_near(&got, &want, 2e-5, what);
    }
  }
}

static void strict_bits_are_the_same_on_all_cuts(void)
{
  static const char *const alone[] = {"4x1x1", "1x4x1", "1x1x4", "2x2x1", "2x1x2", "1x2x2", NULL};
  static const char *const three[] = {"3x1x1", "1x3x1", "1x1x3", NULL};
  const bool one = is_alone();
  static result want, got;

  for (int i = 0; i < 6; i++) {
    if (!test_takes(i, 2)) continue;
    run_there("cpu", NULL, true, all_axes[i], kinds[(i + 1) % 3], &want);
    for (const char *const *cut = one ? alone : three; *cut; cut++) {
      char what[80];

      snprintf(what, sizeof what, "%s, axes 0x%x", *cut, all_axes[i]);
      run_there(one ? "cpu*4" : "cpu", *cut, true, all_axes[i], kinds[(i + 1) % 3], &got);
      check_same(&got, &want, what);
    }
  }
}

static void strict_bits_are_those_of_ref(void)
{
  static result want, got;

  if (!is_alone()) return;
  for (int i = 0; i < 6; i++) {
    if (!test_takes(i + 1, 3)) continue;
    run_there("ref", NULL, true, all_axes[i], kinds[(i + 2) % 3], &want);
    EACH_PLACE(d)
    {
      run_there(*d, NULL, true, all_axes[i], kinds[(i + 2) % 3], &got);
      check_same(&got, &want, *d);
    }
  }
}

/* Rows of several slabs of scratch memory, and threads with shares of them. */
static void large_sums_go_through_slabs(void)
{
  enum { ROWS = 3000, COLUMNS = 1500 };
  static float rows[ROWS], columns[COLUMNS];

  EACH_PLACE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){ROWS, COLUMNS});
    ambit_field *n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(0));
    ambit_field *m = ambit_field_create_on(g, "m", AMBIT_F32, AMBIT_AXIS(1));
    ambit_program *p = ambit_program_create(g);
    ambit_kernel *k = ambit_kernel_create(
        a, "void both(sum float *n, sum float *m)\n"
           "{ *n = (float)(index(0) % 7 + index(1) % 3); *m = (float)(index(0) % 2 * index(1)); }");
    int bad = 0;

    if (!strcmp(*d, "ref")) { /* slow */
      ambit_close(a);
      continue;
    }
    ambit_apply(p, k, n, m);
    ambit_run(p, 2);
    ambit_field_read(n, NULL, NULL, rows);
    ambit_field_read(m, NULL, NULL, columns);
    for (int i = 0; i < ROWS; i++)
      bad += rows[i] != (float)(i % 7 * COLUMNS + COLUMNS);
    for (int i = 0; i < COLUMNS; i++)
      bad += columns[i] != (float)(ROWS / 2 * i);
    CHECK_MSG(!bad, "%s: %d sums differ", *d, bad);
    CHECK_OK(a);
    ambit_close(a);
  }
}

static const int64_t folded[] = {10, 11, 70};

enum { FOLDED = 10 * 11 * 70 };

/* Sums, least and largest values of a type by one thread, which folds at once, and by several. */
static void fold_type(const char *devices, const char *threads, const char *plan, unsigned axes,
                      bool stores, const char *type, ambit_type of, double *r)
{
  static int64_t values[FOLDED];
  ambit *a = open_on(devices);
  ambit_grid *g;
  ambit_field *f, *n[3];
  ambit_program *p;
  char kernel[400];

  ambit_option_set(a, "threads", threads);
  if (plan) ambit_option_set(a, "plan", plan);
  g = ambit_grid_create(a, 3, folded);
  f = ambit_field_create(g, "f", AMBIT_F64);
  p = ambit_program_create(g);
  for (int i = 0; i < 3; i++)
    n[i] = ambit_field_create_on(g, "n", of, axes);
  snprintf(kernel, sizeof kernel,
           "void all(const double *f, sum %s *s, min %s *l, max %s *m%s)\n"
           "{ *s = (%s)*f; *l = (%s)(9 - *f); *m = (%s)(f[0][0][1] + 3);%s }",
           type, type, type, stores ? ", float *h[2]" : "", type, type, type,
           stores ? " *h[0] = (float)*f; *h[1] = 1;" : "");
  ambit_field_fill(f, start, NULL);
  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  if (stores)
    ambit_apply(p, ambit_kernel_create(a, kernel), f, n[0], n[1], n[2],
                ambit_field_create_vector(g, "h", AMBIT_F32, 2, AMBIT_AOS));
  else
    ambit_apply(p, ambit_kernel_create(a, kernel), f, n[0], n[1], n[2]);
  ambit_run(p, 2);
  for (int i = 0; i < 3; i++) {
    ambit_field_read(n[i], NULL, NULL, values);
    switch (of) {
#define X(name, value, ctype, text)                                                                \
  case AMBIT_##name:                                                                               \
    for (int k = 0; k < FOLDED; k++)                                                               \
      *r++ = (double)((const ctype *)(const void *)values)[k];                                     \
    break;
      AMBIT_TYPE_MAP(X)
#undef X
    }
    memset(values, 0, sizeof values);
  }
  CHECK_OK(a);
  ambit_close(a);
}

static void totals_of_all_types_are_those_of_ref(void)
{
  static const char *const names[] = {"float",          "double",   "int",
                                      "unsigned char",  "short",    "long",
                                      "unsigned short", "unsigned", "unsigned long"};
  static const ambit_type types[] = {AMBIT_F32, AMBIT_F64, AMBIT_I32, AMBIT_U8, AMBIT_I16,
                                     AMBIT_I64, AMBIT_U16, AMBIT_U32, AMBIT_U64};
  static const char *const plans[] = {NULL, "(cells", "(rows 1", "(rows 2"};
  static double want[3 * FOLDED], got[3 * FOLDED];

  if (!is_alone()) return;
  for (int i = 0; i < 54; i++) {
    const unsigned axes = all_axes[i % 6];
    const bool stores = i % 5 == 4; /* cell by cell */
    const char *name = names[i / 6];
    int bad = 0;

    if (!test_takes(i, 5)) continue;
    memset(want, 0, sizeof want);
    memset(got, 0, sizeof got);
    fold_type("ref", "1", NULL, axes, stores, name, types[i / 6], want);
    fold_type("cpu", i % 3 ? "1" : "2", stores ? NULL : plans[i % 4], axes, stores, name,
              types[i / 6], got);
    for (int k = 0; k < 3 * FOLDED; k++)
      bad += !near(got[k], want[k], 1e-5);
    CHECK_MSG(!bad, "%s, axes 0x%x, plan %s: %d totals differ", name, axes,
              plans[i % 4] ? plans[i % 4] : "of the estimate", bad);
  }
}

/* A kernel with 16 sums that also folds values onto a profile: on cores,
 * since OpenCL's compiler takes minutes for it. */
static void a_histogram_goes_beside_totals(void)
{
  enum { BINS = 16 };

  for (int i = 0; i < 6; i++) {
    ambit *a = open_on(i % 2 ? "cpu" : "cpu*3");
    ambit_grid *g;
    ambit_field *n;
    ambit_scalar *count[BINS];
    ambit_program *p;
    ambit_arg args[BINS + 1];
    static int values[FOLDED];
    double sum = 0, want = 0, cells = 0;

    if (test_takes(i, 2)) {
      ambit_option_set(a, "threads", "1");
      g = ambit_grid_create(a, 3, folded);
      n = ambit_field_create_on(g, "n", AMBIT_I32, all_axes[i]);
      p = ambit_program_create(g);
      args[0] = ambit_arg_field(n);
      for (int c = 0; c < BINS; c++)
        args[c + 1] = ambit_arg_scalar(count[c] = ambit_scalar_create(a, "c", AMBIT_I64));
      ambit_apply_args(p,
                       ambit_kernel_create(
                           a, "void all(sum int *n, sum long *c[16])\n"
                              "{ long b = (index(0) + 3 * index(1) + index(2)) % 16; *n = (int)b;\n"
                              "  for (int k = 0; k < 16; k++) if (b == k) *c[k] += 1; }"),
                       BINS + 1, args);
      ambit_run(p, 2);
      memset(values, 0, sizeof values);
      ambit_field_read(n, NULL, NULL, values);
      for (int c = 0; c < FOLDED; c++)
        sum += values[c];
      for (int c = 0; c < BINS; c++) {
        want += c * ambit_scalar_get(count[c]);
        cells += ambit_scalar_get(count[c]);
      }
      CHECK_EQ(FOLDED, (long)cells);
      CHECK_MSG(sum == want, "axes 0x%x: the totals are %g, not %g", all_axes[i], sum, want);
      CHECK_OK(a);
    }
    ambit_close(a);
  }
}

/* A profile has the cells of a face that lies along an axis of its own, and all cells at others. */
static void each_cell_at_several_faces_is_updated_once(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = ambit_grid_create(a, 3, (int64_t[]){4, 3, 5});
    ambit_field *n = ambit_field_create_on(g, "n", AMBIT_I32, AMBIT_AXIS(0) | AMBIT_AXIS(2)),
                *m = ambit_field_create_on(g, "m", AMBIT_I32, AMBIT_AXIS(0) | AMBIT_AXIS(2));
    ambit_kernel *k = ambit_kernel_create(a, "void more(int *n) { *n += 1; }");
    ambit_program *p = ambit_program_create(g);
    int all[20], some[20];

    ambit_apply_faces(p, AMBIT_ALL_FACES, k, n);
    ambit_apply_faces(p, AMBIT_AXIS(0) | AMBIT_LOW(2), k, m);
    ambit_run(p, 1);
    ambit_field_read(n, NULL, NULL, all);
    ambit_field_read(m, NULL, NULL, some);
    CHECK_OK(a);
    for (int i = 0; i < 20; i++) {
      CHECK_EQ(1, all[i]);
      CHECK_EQ(i / 5 == 0 || i / 5 == 3 || i % 5 == 0, some[i]);
    }
    ambit_close(a);
  }
}

static void a_step_may_read_the_profile_that_it_reduces_onto(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, 12, 10);
    ambit_field *f = ambit_field_create(g, "f", AMBIT_F64);
    ambit_field *n = ambit_field_create_on(g, "n", AMBIT_F64, AMBIT_AXIS(0));
    ambit_program *p = ambit_program_create(g);
    double values[12];

    ambit_field_set(n, 3);
    ambit_field_set(f, 0.5);
    ambit_apply(p,
                ambit_kernel_create(a, "void grow(const double *f, const double *e, sum double "
                                       "*n) { *n = *f * (double)index(0) + *e; }"),
                f, n, n);
    ambit_run(p, 2);
    ambit_field_read(n, NULL, NULL, values);
    for (int i = 0; i < 12; i++)
      CHECK_MSG(values[i] == 10 * (0.5 * i + 10 * (0.5 * i + 3)), "%s: row %d is %g", *d, i,
                values[i]);
    CHECK_OK(a);
    ambit_close(a);
  }
}

/* A step of the user's own, on a profile and on cells that read it. */
static int fill_own(const ambit_part *part, void *user)
{
  const ambit_cells *n = &part->fields[0];

  (void)user;
  for (int64_t i = part->lo[0]; i < part->hi[0]; i++)
    ((float *)n->values)[(i - part->lo[0]) * n->stride[0]] = (float)(i * i);
  return part->hi[1] - part->lo[1] != 1;
}

static int spread_own(const ambit_part *part, void *user)
{
  const ambit_cells *n = &part->fields[0], *f = &part->fields[1];

  (void)user;
  for (int64_t i = 0; i < part->hi[0] - part->lo[0]; i++)
    for (int64_t j = 0; j < part->hi[1] - part->lo[1]; j++)
      ((float *)f->values)[i * f->stride[0] + j * f->stride[1]] =
          ((const float *)n->values)[i * n->stride[0] + j * n->stride[1]] +
          (float)(part->lo[1] + j);
  return 0;
}

static void functions_of_the_user_work_on_profiles(void)
{
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, 12, 10);
    ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
    ambit_field *n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(0));
    ambit_field *const both[] = {n, f};
    ambit_program *p = ambit_program_create(g);
    float values[120];
    int bad = 0;

    ambit_apply_host(p, fill_own, NULL, 1, &n, (const unsigned[]){AMBIT_WRITE});
    ambit_apply_host(p, spread_own, NULL, 2, both, (const unsigned[]){AMBIT_READ, AMBIT_WRITE});
    ambit_run(p, 1);
    ambit_field_read(f, NULL, NULL, values);
    for (int i = 0; i < 120; i++)
      bad += values[i] != (float)(i / 10 * (i / 10) + i % 10);
    CHECK_MSG(!bad, "%s: %d cells differ", *d, bad);
    CHECK_OK(a);
    ambit_close(a);
  }
}

/* With checks of every access, in builds that have them, and of every NaN. */
static void check_checked(const char *device)
{
  ambit *a = open_on(device);
  ambit_grid *g;
  ambit_field *f, *n, *h;
  ambit_program *p;
  ambit_kernel *k;

  ambit_option_set(a, "nan", "1");
#ifdef AMBIT_ACCESS_CHECKS
  ambit_option_set(a, "check", "1");
#endif
  g = grid_2d(a, 12, 10);
  f = ambit_field_create(g, "f", AMBIT_F32);
  h = ambit_field_create(g, "h", AMBIT_F32);
  n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(1));
  p = ambit_program_create(g);
  k = ambit_kernel_create(a, "void add(const float *f, sum float *n) { *n = sqrtf(*f); }\n"
                             "void next(const float *f, const float *n, float *h)\n"
                             "{ *h = *f + 0.1f * n[0][1] - 2; }");
  ambit_field_set(f, 1);
  ambit_field_boundary(n, AMBIT_AXIS(1), AMBIT_PERIODIC, 0);
  ambit_apply(p, k, f, n);
  ambit_apply(p, ambit_kernel_find(k, "next"), f, n, h);
  ambit_swap(p, f, h);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_field_set(f, -1);
  ambit_run(p, 1);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "NaN");
  ambit_close(a);
}

static void checked_launches_know_profiles(void)
{
  if (is_alone()) check_checked("ref");
  check_checked("cpu*4");
}

/* ---- values ---- */

static void values_are_read_written_and_saved(void)
{
  const bool one = is_alone();

  CHECK(folder_make());
  EACH_PLACE(d)
  {
    ambit *a = open_strict(*d);
    ambit_grid *g = grid_2d(a, 12, 10);
    ambit_field *n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(0));
    ambit_field *m = ambit_field_create_on(g, "m", AMBIT_F32, AMBIT_AXIS(1));
    ambit_field *o = ambit_field_create_on(g, "o", AMBIT_F32, AMBIT_AXIS(0));
    float in[12], out[12] = {0};

    for (int i = 0; i < 12; i++)
      in[i] = (float)(i * i);
    ambit_field_write(n, NULL, NULL, in);
    ambit_field_write(m, AMBIT_INDEX(0, 2), AMBIT_INDEX(1, 7), in);
    ambit_field_read(n, NULL, NULL, out);
    CHECK(!memcmp(in, out, sizeof in));
    ambit_field_read(m, AMBIT_INDEX(0, 1), AMBIT_INDEX(1, 8), out);
    CHECK(out[0] == 0 && out[1] == 0 && out[2] == 1 && out[5] == 16 && out[6] == 0);
    if (one) { /* processes have folders of their own */
      memset(out, 0, sizeof out);
      ambit_field_save(n, folder_path("n.npy"));
      ambit_field_load(o, folder_path("n.npy"));
      ambit_field_read(o, NULL, NULL, out);
      CHECK(!memcmp(in, out, sizeof in));
#ifdef AMBIT_HAVE_PNG
      ambit_field_save(m, folder_path("m.png"));
      CHECK_EQ(2, folder_files());
#else
      CHECK_EQ(1, folder_files());
#endif
    }
    ambit_field_read(n, NULL, AMBIT_INDEX(12, 10), out);
    CHECK_FAILED(a, AMBIT_EINVAL, "not within the cells of the field [0,12)x[0,1)");
    ambit_close(a);
  }
  folder_remove();
}

/* ---- checkpoints ---- */

static int die(ambit_program *p, int64_t iteration, void *user)
{
  (void)p;
  if (iteration == *(const int *)user) _exit(0);
  return 0;
}

/* Runs, with checkpoints, until an iteration in which the process dies (0: none). */
static void run_saved(const char *devices, int last, float *values)
{
  ambit *a = open_strict(devices);
  ambit_grid *g;
  ambit_field *f, *h, *n, *m;
  ambit_program *p;
  ambit_kernel *k;

  ambit_checkpoint(a, folder_path("state.ambit"), "3");
  g = grid_2d(a, 12, 10);
  f = ambit_field_create(g, "f", AMBIT_F32);
  h = ambit_field_create(g, "h", AMBIT_F32);
  n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(1));
  m = ambit_field_create_on(g, "m", AMBIT_F32, AMBIT_AXIS(1));
  p = ambit_program_create(g);
  k = ambit_kernel_create(a, "void add(const float *f, const float *n, sum float *m)\n"
                             "{ *m = *f + 0.01f * *n; }\n"
                             "void next(const float *f, const float *m, float *h)\n"
                             "{ *h = 0.5f * *f + 0.01f * *m + 0.001f * index(1); }");
  ambit_field_set(f, 0.5);
  ambit_field_set(n, 2);
  ambit_apply(p, k, f, n, m);
  ambit_apply(p, ambit_kernel_find(k, "next"), f, m, h);
  ambit_swap(p, f, h);
  ambit_swap(p, n, m);
  ambit_on_iteration(p, 1, die, &last);
  ambit_run(p, 10);
  ambit_field_read(n, NULL, NULL, values);
  CHECK_OK(a);
  ambit_close(a);
}

static void a_killed_run_continues_on_another_cut(void)
{
  static const char *const devices[] = {"cpu*4", "cpu", "cpu*4", "cpu*3"};
  float want[10], got[10];

  if (!is_alone()) return;
  for (int i = 0; i < 3; i++) {
    pid_t child;
    int state;

    CHECK(folder_make());
    run_saved(devices[i], 0, want);
    folder_remove();
    CHECK(folder_make());
    child = fork();
    if (!child) {
      run_saved(devices[i], 8, got);
      _exit(1);
    }
    CHECK(waitpid(child, &state, 0) == child && WIFEXITED(state) && !WEXITSTATUS(state));
    memset(got, 0, sizeof got);
    run_saved(devices[i + 1], 0, got);
    CHECK(!memcmp(want, got, sizeof want));
    folder_remove();
  }
}

/* ---- mistakes ---- */

/* ---- several components ---- */

static const char vectors[] =
    "void moments(const float *f, table float w[3], sum float *m[3], sum double *all,\n"
    "             max int *c[2])\n"
    "{ for (int i = 0; i < 3; i++) *m[i] = w[i] * *f + index(i);\n"
    "  *all = *f; *c[0] = (int)index(0); *c[1] = -(int)index(1); }\n"
    "void smooth(const float *m[3], float *s[3])\n"
    "{ for (int i = 0; i < 3; i++) *s[i] = *m[i] - 0.25f * (m[2 - i][-1][0][0] + m[i][1][0][0]); "
    "}\n"
    "void walk(const float *f, float *s[3], float *g)\n"
    "{ *s[0] += *f; *s[1] = *s[0] - 0.5f * *s[1]; *s[2] = *f; *g = *s[1]; }";

typedef struct moments {
  float m[NX * NZ * 3], s[NX * NZ * 3], g[CELLS];
  int c[NX * NZ * 2];
  double all;
} moments;

/* Sums over axis 1. `apart`: a field for each value. */
static void run_vectors(const char *devices, const char *partition, ambit_order order, bool apart,
                        moments *r)
{
  ambit *a = open_cut(devices, partition, true);
  ambit_grid *g = ambit_grid_create(a, 3, extents);
  const unsigned axes = AMBIT_AXIS(0) | AMBIT_AXIS(2);
  const float w[] = {0.25f, -1, 0.3f};
  const ambit_arg table = ambit_arg_table(w, AMBIT_F32, 1, 3);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32),
              *h = ambit_field_create(g, "h", AMBIT_F32);
  ambit_field *m = ambit_field_create_vector_on(g, "m", AMBIT_F32, 3, order, axes);
  ambit_field *s = ambit_field_create_vector_on(g, "s", AMBIT_F32, 3, order, axes);
  ambit_field *c = ambit_field_create_vector_on(g, "c", AMBIT_I32, 2, order, axes), *own[5];
  ambit_scalar *all = ambit_scalar_create(a, "all", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *k = ambit_kernel_create(a, vectors);

  memset(r, 0, sizeof *r);
  for (int i = 0; i < 5; i++)
    own[i] = ambit_field_create_on(g, "own", i < 3 ? AMBIT_F32 : AMBIT_I32, axes);
  ambit_field_fill(f, start, NULL);
  ambit_field_boundary(m, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
  if (apart) {
    ambit_apply(p, k, f, table, own[0], own[1], own[2], all, own[3], own[4]);
  } else {
    ambit_apply(p, k, f, table, m, all, c);
    ambit_apply(p, ambit_kernel_find(k, "smooth"), m, s);
    ambit_sweep(p, AMBIT_HIGH(1), ambit_kernel_find(k, "walk"), f, s, h);
  }
  ambit_run(p, 2);
  for (int i = 0; apart && i < 5; i++) {
    int values[NX * NZ];

    ambit_field_read(own[i], NULL, NULL, values);
    for (int n = 0; n < NX * NZ; n++)
      memcpy(i < 3 ? (void *)&r->m[3 * n + i] : &r->c[2 * n + i - 3], &values[n], sizeof *values);
  }
  if (!apart) {
    ambit_field_read(m, NULL, NULL, r->m);
    ambit_field_read(c, NULL, NULL, r->c);
    ambit_field_read(s, NULL, NULL, r->s);
    ambit_field_read(h, NULL, NULL, r->g);
  }
  r->all = ambit_scalar_get(all);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* What smooth and walk make of the sums. */
static void check_vectors(const moments *r)
{
  int bad = 0;

  for (int x = 0; x < NX; x++)
    for (int z = 0; z < NZ; z++) {
      const float *m = &r->m[(x * NZ + z) * 3], *low = &r->m[((x + NX - 1) % NX * NZ + z) * 3],
                  *high = &r->m[((x + 1) % NX * NZ + z) * 3];
      double s[3];

      for (int i = 0; i < 3; i++)
        s[i] = (double)m[i] - 0.25 * (double)(low[2 - i] + high[i]);
      for (int y = NY - 1; y >= 0; y--) {
        const double f = start((int64_t[]){x, y, z}, 0, NULL);

        s[0] += f;
        s[1] = s[0] - 0.5 * s[1];
        s[2] = f;
        bad += !near((double)r->g[(x * NY + y) * NZ + z], s[1], 1e-5);
      }
      for (int i = 0; i < 3; i++)
        bad += !near((double)r->s[(x * NZ + z) * 3 + i], s[i], 1e-5);
      bad += r->c[(x * NZ + z) * 2] != x || r->c[(x * NZ + z) * 2 + 1] != 0;
    }
  CHECK_MSG(!bad, "%d values differ", bad);
}

static void profiles_have_several_components(void)
{
  static const char *const cuts[] = {"4x1x1", "1x4x1", "1x1x4", "1x2x2", NULL};
  const bool alone = is_alone();
  static moments want, apart, got;

  run_vectors(alone ? "ref" : "cpu", NULL, AMBIT_SOA, false, &want);
  run_vectors("cpu", NULL, AMBIT_SOA, true, &apart);
  CHECK(!memcmp(want.m, apart.m, sizeof want.m) && !memcmp(want.c, apart.c, sizeof want.c));
  CHECK_EQ((int64_t)want.all, (int64_t)apart.all);
  check_vectors(&want);
  EACH_PLACE(d)
  for (int order = 0; order < 2; order++) {
    run_vectors(*d, NULL, order ? AMBIT_AOS : AMBIT_SOA, false, &got);
    CHECK_MSG(!memcmp(&got, &want, sizeof got), "%s, order %d: bits differ", *d, order);
  }
  for (const char *const *cut = cuts; alone && *cut; cut++) {
    run_vectors("cpu*4", *cut, AMBIT_SOA, false, &got);
    CHECK_MSG(!memcmp(&got, &want, sizeof got), "%s: bits differ", *cut);
  }
}

static void wrong_uses_are_refused(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 8, 6);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
  ambit_field *n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(0));
  ambit_program *p = ambit_program_create(g);
  ambit_points *points = ambit_points_create(g, 1, (double[]){1, 1}, AMBIT_NEAREST);
  ambit_memory memory;

  CHECK(!ambit_field_create_on(g, "x", AMBIT_F32, AMBIT_AXIS(2)));
  CHECK_FAILED(a, AMBIT_EINVAL, "give axes of the grid, which has 2");
  CHECK(!ambit_field_create_on(g, "x", AMBIT_F32, AMBIT_LOW(0)));
  CHECK_FAILED(a, AMBIT_EINVAL, "AMBIT_AXIS(0)");
  ambit_apply(p, ambit_kernel_create(a, "void k(const float *n, float *f) { *f = n[0][1]; }"), n,
              f);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "a neighbour along axis 1 of field 'n', which has axis 0 only");
  ambit_apply(p, ambit_kernel_create(a, "void k(const float *f, float *n) { *n = *f; }"), f, n);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "runs on the cells of axes 0 and 1 and writes 'n'");
  ambit_apply(p, ambit_kernel_create(a, "void k(const float *f, sum float *n) { *n = *f; }"), f, f);
  CHECK_FAILED(a, AMBIT_EINVAL, "takes a scalar or a field of fewer axes");
  ambit_apply(p,
              ambit_kernel_create(a, "static float l(float a, float b) { return a + b; }\n"
                                     "void k(const float *f, fold(l, 0) float *n) { *n = *f; }"),
              f, n);
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "sum, min and max take fields too");
  ambit_apply(p, ambit_kernel_create(a, "void k(const float *f, sum double *n) { *n = *f; }"), f,
              n);
  CHECK_FAILED(a, AMBIT_EINVAL, "parameter 'n' is double, but field 'n' is float");
  ambit_apply(p,
              ambit_kernel_create(a, "void k(const float *f, sum float *n[3])\n"
                                     "{ *n[0] = *f; *n[1] = *f; *n[2] = 0; }"),
              f, ambit_field_create_vector_on(g, "n2", AMBIT_F32, 2, AMBIT_SOA, AMBIT_AXIS(0)));
  CHECK_FAILED(a, AMBIT_EINVAL, "parameter 'n' has 3 components, but field 'n2' has 2");
  ambit_swap(p, f, n);
  CHECK_FAILED(a, AMBIT_EPROGRAM, "type, components, order or axes");
  ambit_copy_box(p, f, NULL, NULL, n, NULL);
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "cannot be copied to");
  ambit_sample(p, points, n, ambit_record_create(a, "r"));
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "points need all of them");
  CHECK(!ambit_field_map(n, 0, AMBIT_READ));
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "cannot be mapped");
  ambit_field_memory(n, &memory);
  CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "ambit_field_read");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"reductions_and_reads_along_all_sets_of_axes", reductions_and_reads_along_all_sets_of_axes},
      {"strict_bits_are_the_same_on_all_cuts", strict_bits_are_the_same_on_all_cuts},
      {"strict_bits_are_those_of_ref", strict_bits_are_those_of_ref},
      {"large_sums_go_through_slabs", large_sums_go_through_slabs},
      {"totals_of_all_types_are_those_of_ref", totals_of_all_types_are_those_of_ref},
      {"a_histogram_goes_beside_totals", a_histogram_goes_beside_totals},
      {"each_cell_at_several_faces_is_updated_once", each_cell_at_several_faces_is_updated_once},
      {"a_step_may_read_the_profile_that_it_reduces_onto",
       a_step_may_read_the_profile_that_it_reduces_onto},
      {"functions_of_the_user_work_on_profiles", functions_of_the_user_work_on_profiles},
      {"checked_launches_know_profiles", checked_launches_know_profiles},
      {"values_are_read_written_and_saved", values_are_read_written_and_saved},
      {"a_killed_run_continues_on_another_cut", a_killed_run_continues_on_another_cut},
      {"profiles_have_several_components", profiles_have_several_components},
      {"wrong_uses_are_refused", wrong_uses_are_refused},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
