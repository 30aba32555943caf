/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes and shorts on cores, where values have lanes as narrow as they are and rows share sums:
 * the same values as on the reference, at the ends of ranges too. */
#include "runtime/runtime_test.h"

#include <string.h>

typedef struct scene {
  const char *rule; /* u and v are of one type, w is a second field to read */
  ambit_type type, other;
  int ndims;
  int64_t extents[3];
  double k;     /* for a parameter k; of a table, its length */
  bool relaxed; /* not only in strict mode */
} scene;

/* Components of v, which are adjacent: n of "*v[n]". */
static int components(const scene *s)
{
  const char *v = strstr(s->rule, "*v[");

  return v ? v[3] - '0' : 1;
}

/* Numbers at the ends of ranges, among others. */
static double value_of(int64_t n, ambit_type type)
{
  static const int bytes[] = {0, 1, 255, 2, 254, 127, 128, 129, 3, 4, 7, 15, 16, 64, 200, 100};
  static const int shorts[] = {0,   -1,  32767, -32768, 1,    255,    256,  -255,
                               181, 182, -182,  12345,  -129, -32767, 4096, -7};

  n = (n % 16 + 16) % 16;
  return type == AMBIT_U8 ? bytes[n] : shorts[n];
}

static double fill_u(const int64_t *i, int component, void *user)
{
  const scene *s = user;
  const int64_t row = s->ndims > 1 ? i[0] : 3, column = i[s->ndims - 1];

  return value_of(column + row * column / 3 + row * 7 + component, s->type);
}

static double fill_w(const int64_t *i, int component, void *user)
{
  const scene *s = user;

  return value_of(i[s->ndims - 1] / 16 + i[0] * 5 + component, s->other);
}

static void compute(const scene *s, const char *device, const char *strict, void *values)
{
  ambit *a = open_on(device);
  ambit_grid *g = ambit_grid_create(a, s->ndims, s->extents);
  ambit_field *u = ambit_field_create(g, "u", s->type);
  ambit_field *v = ambit_field_create_vector(g, "v", s->type, components(s), AMBIT_AOS);
  ambit_field *w = ambit_field_create(g, "w", s->other);
  ambit_program *p = ambit_program_create(g);
  unsigned char k[100];
  short l[100];

  for (int i = 0; i < 100; i++) {
    k[i] = (unsigned char)(i * i + 7);
    l[i] = (short)(i * i * 37 - 300);
  }
  ambit_option_set(a, "strict", strict);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, fill_u, (void *)s);
  ambit_field_fill(w, fill_w, (void *)s);
  if (strstr(s->rule, "table short"))
    ambit_apply(p, ambit_kernel_create(a, s->rule), u, w, v,
                ambit_arg_table(l, AMBIT_I16, 1, (int)s->k));
  else if (strstr(s->rule, "table"))
    ambit_apply(p, ambit_kernel_create(a, s->rule), u, w, v,
                ambit_arg_table(k, AMBIT_U8, 1, (int)s->k));
  else if (strstr(s->rule, "int k"))
    ambit_apply(p, ambit_kernel_create(a, s->rule), u, w, v, s->k);
  else
    ambit_apply(p, ambit_kernel_create(a, s->rule), u, w, v);
  ambit_run(p, 1);
  ambit_field_read(v, NULL, NULL, values);
  CHECK_OK(a);
  ambit_close(a);
}

static size_t bytes_of(const scene *s)
{
  size_t n = ambit_type_size(s->type);

  for (int d = 0; d < s->ndims; d++)
    n *= (size_t)s->extents[d];
  return n * (size_t)components(s);
}

static void check(const scene *s)
{
  static int count;
  const size_t n = bytes_of(s);
  const bool both = s->relaxed && test_takes(count++, 3);
  char *want = malloc(n), *got = malloc(n);

  compute(s, "ref", "1", want);
  for (int strict = !both; strict < 2; strict++) {
    size_t i = 0;

    compute(s, "cpu", strict ? "1" : "0", got);
    while (i < n && want[i] == got[i])
      i++;
    CHECK_MSG(i == n, "byte %zu of %zu, strict=%d: want %d, got %d\n%s", i, n, strict, want[i],
              got[i], s->rule);
  }
  free(want);
  free(got);
}

#define BYTES(text) "void r(const unsigned char *u, const unsigned char *w, unsigned char *v) " text

static void rows_share_sums_of_bytes(void)
{
  static const scene scenes[] = {
      {BYTES("{\n"
             "  int n = 0, m;\n"
             "  for (int y = -1; y <= 1; y++)\n"
             "    for (int x = -1; x <= 1; x++)\n"
             "      n += u[y][x];\n"
             "  m = n;\n" /* read where the sum is complete, and in between */
             "  n -= 3 * (u[-1][2] - u[2][-2]) + 128;\n"
             "  *v = m == 3 || (m == 4 && *u) ? n : n >> 3;\n"
             "}\n"),
       AMBIT_U8,
       AMBIT_U8,
       2,
       {21, 83},
       0,
       false},
      {BYTES("{\n"
             "  int gx = u[-1][1] - u[-1][-1] + 2 * (u[0][1] - u[0][-1]) + u[1][1] - u[1][-1];\n"
             "  int gy = u[1][-1] - u[-1][-1] + 2 * (u[1][0] - u[-1][0]) + u[1][1] - u[-1][1];\n"
             "  *v = fminf(sqrtf((float)(gx * gx + gy * gy)), 255.0f);\n"
             "}\n"),
       AMBIT_U8,
       AMBIT_U8,
       2,
       {17, 131},
       0,
       true},
      {BYTES("{\n"
             "  int s = 0;\n"
             "  for (int z = -1; z <= 1; z++)\n"
             "    for (int y = -1; y <= 1; y++)\n"
             "      for (int x = -1; x <= 1; x++)\n"
             "        s += (3 - 4 * x * x - 2 * y * y) * u[z][y][x];\n"
             "  if (s > 900)\n"
             "    s = 900 - *w;\n"
             "  else if (*w > 128)\n"
             "    s -= u[0][0][1] - u[0][0][-1];\n"
             "  *v = s / 7 % 100;\n"
             "}\n"),
       AMBIT_U8,
       AMBIT_U8,
       3,
       {6, 5, 70},
       0,
       false},
  };

  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    check(&scenes[i]);
}

static void values_at_the_ends_of_ranges_wrap_as_those_of_wide_types_do(void)
{
  static const scene scenes[] = {
      {"void r(const short *u, const unsigned char *w, short *v, int k)\n"
       "{\n"
       "  int a = *u, b = *w, c = *w - 128, d = u[1];\n"
       "  int n = (short)(a * d) ^ (a + d);\n"
       "  n += (unsigned char)(b - 255) < b ? (c >> 9) + (c << 12 >> 12) : c >> 1;\n"
       "  n ^= abs(a) + abs(c) * (b & 31) - (b << 7) + (b >> 8) + (b << 30 >> 29);\n"
       "  n -= (a > d ? a : d) + (b < c ? b : c) + (-b == c) + !(b - 255) * ~c;\n"
       "  n += a / 3 + c / 5 + c % 7 - b / 256 + (a >> 15) + (a << 16 >> 16);\n"
       "  n ^= (unsigned char)(c * 3) + (short)(b * b * 2) + (unsigned char)(a + k) * 258;\n"
       "  n += (a != d && b) + (c < 0 || a >= 32767) + (k > b) * 5 + (b == 300) + (c > -129);\n"
       "  if (a < c)\n"
       "    n += sqrtf((float)(b * b + 5));\n"
       "  *v = n + (int)fminf(sqrtf((float)(b * 1000)), 300.0f);\n"
       "}\n",
       AMBIT_I16,
       AMBIT_U8,
       1,
       {1021},
       70001,
       true},
      {BYTES("{ int n = *u * *w - (u[1] << 9); unsigned char m = n + *w; short s = n * 3;\n"
             "  *v = (n >> 4) * m + (s < m) - (s >> 8) * (m / 3) + (n & 0x1ff) + (s | -m); }"),
       AMBIT_U8,
       AMBIT_U8,
       1,
       {1021},
       0,
       false},
  };

  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    check(&scenes[i]);
}

/* Of all numbers with a root that fits into a byte, cut off or not. */
static void integer_parts_of_roots_are_exact(void)
{
  static const scene s = {
      "void r(const unsigned char *u, const unsigned char *w, unsigned char *v)\n"
      "{\n"
      "  int n = (unsigned char)index(1) * 256 + (unsigned char)index(0);\n"
      "  *v = *u ? (unsigned char)sqrtf((float)n) : (unsigned char)fminf(sqrtf((float)n), "
      "254.0f);\n"
      "}\n",
      AMBIT_U8,
      AMBIT_U8,
      2,
      {256, 256},
      0,
      true};

  check(&s);
}

/* Also of NaN, of -0 and of limits that are no integers. */
static void real_numbers_are_cut_off_before_they_become_integers(void)
{
  static const scene s = {
      "void r(const short *u, const unsigned char *w, short *v)\n"
      "{\n"
      "  float x = sqrtf(*u * 0.75f), y = sqrtf(*u * 1e-30f * 1e-30f);\n"
      "  float z = fabsf(*u * 3.7f);\n"
      "  unsigned char a = z < 200.0f ? z : 200.0f, b = fminf(sqrtf(*u), *w > 99 ? 90 : 254.7f);\n"
      "  *v = (short)(x < 99.5f ? x : 99.5f) + 300 * (short)fminf(y, 7.0f) + a * 3 + b * 17;\n"
      "}\n",
      AMBIT_I16,
      AMBIT_U8,
      2,
      {19, 211},
      0,
      true};

  check(&s);
}

/* Functions of one byte become tables. */
static void bytes_are_looked_up(void)
{
  static const scene scenes[] = {
      {BYTES("{ *v = 255.0f * powf(*u / 255.0f, 1.0f / 2.2f) + 0.5f; }"),
       AMBIT_U8,
       AMBIT_U8,
       2,
       {19, 211},
       0,
       true},
      {BYTES("{\n" /* from neighbours, of what was computed, and of what was looked up */
             "  int a = 255 * powf(u[0][1] / 255.0f, 0.4f), b = 9 * logf(1 + *w);\n"
             "  int c = 255 * powf((*u ^ *w) / 255.0f, 0.7f);\n"
             "  *v = (a + 2 * b + c + (*w > 99 ? a : (int)(20 * cbrtf(b)))) / 4;\n"
             "}\n"),
       AMBIT_U8,
       AMBIT_U8,
       2,
       {9, 150},
       0,
       false},
      {"void r(const unsigned char *u, const unsigned char *w, unsigned char *v,\n"
       "       table unsigned char k[100])\n"
       "{ *v = k[(*u + *w) / 2] ^ k[k[*w / 3]]; }", /* beyond the end, the last one counts */
       AMBIT_U8,
       AMBIT_U8,
       2,
       {9, 150},
       100,
       false},
      {"void r(const unsigned char *u, const unsigned char *w, unsigned char *v,\n"
       "       table unsigned char k[30])\n"
       "{ *v = k[9 * u[0][-1] - 3 * *w] ^ k[u[1][0] - 200]; }", /* and below the first one, that */
       AMBIT_U8,
       AMBIT_U8,
       2,
       {9, 150},
       30,
       false},
      {"void r(const short *u, const unsigned char *w, short *v)\n"
       "{ *v = *u - 300 * (int)(60 * expf(-0.01f * *w)); }",
       AMBIT_I16,
       AMBIT_U8,
       1,
       {1021},
       0,
       false},
  };

  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    check(&scenes[i]);
}

/* Whole vectors of tables of at most 64; subscripts beyond both ends mean the ends. */
static void shorts_are_looked_up(void)
{
  static const int lengths[] = {1, 32, 33, 64};

  for (int i = 0; i < 4; i++) {
    const ambit_type other = i % 2 ? AMBIT_I16 : AMBIT_U8;
    char rule[300];
    const scene s = {.rule = rule,
                     .type = AMBIT_I16,
                     .other = other,
                     .ndims = 2,
                     .extents = {19, 211},
                     .k = lengths[i],
                     .relaxed = true};

    snprintf(rule, sizeof rule,
             "void r(const short *u, const %s *w, short *v, table short k[%d])\n"
             "{ *v = k[*u] + 3 * k[u[0][-1]] - k[*w / 2] + (u[-1][0] > 4 ? k[k[*w]] : 1); }",
             other == AMBIT_U8 ? "unsigned char" : "short", lengths[i]);
    check(&s);
  }
}

/* Results of narrow types that are computed in wider ones, or looked up. */
static void adjacent_components_are_woven(void)
{
  static const scene scenes[] = {
      {"void r(const unsigned char *u, const unsigned char *w, unsigned char *v[3])\n"
       "{ float a = u[0][1] * 0.7f, b = u[-1][0] + *w;\n"
       "  *v[0] = sqrtf(a); *v[1] = fminf(a, b); *v[2] = a > b ? *w : 255 * (a / (b + 1)); }",
       AMBIT_U8,
       AMBIT_U8,
       2,
       {9, 211},
       0,
       false},
      {"void r(const short *u, const short *w, short *v[2])\n"
       "{ *v[0] = 0.3f * *u + u[1][-1]; *v[1] = *w / 3; }",
       AMBIT_I16,
       AMBIT_I16,
       2,
       {9, 100},
       0,
       false},
      {"void r(const unsigned char *u, const unsigned char *w, unsigned char *v[4],\n"
       "       table unsigned char k[90])\n"
       "{ *v[0] = k[*u]; *v[1] = k[*w - 30]; *v[2] = *u; *v[3] = k[u[0][-1]]; }",
       AMBIT_U8,
       AMBIT_U8,
       2,
       {9, 150},
       90,
       true},
  };

  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    check(&scenes[i]);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"rows_share_sums_of_bytes", rows_share_sums_of_bytes},
      {"values_at_the_ends_of_ranges_wrap_as_those_of_wide_types_do",
       values_at_the_ends_of_ranges_wrap_as_those_of_wide_types_do},
      {"integer_parts_of_roots_are_exact", integer_parts_of_roots_are_exact},
      {"real_numbers_are_cut_off_before_they_become_integers",
       real_numbers_are_cut_off_before_they_become_integers},
      {"bytes_are_looked_up", bytes_are_looked_up},
      {"shorts_are_looked_up", shorts_are_looked_up},
      {"adjacent_components_are_woven", adjacent_components_are_woven},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
