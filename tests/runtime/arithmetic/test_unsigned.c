/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsigned types: conversions and operators are those of the C compiler, on every device. */
#include "runtime/runtime_test.h"
#include "support/capture.h"

#include <inttypes.h>

enum { CELLS = 64 };

/* Expressions of the unsigned values h (16 bits), u (32), l (64) and the signed i (32) and s (64).
 * None is undefined in C. */
/* clang-format off */
#define EXPRESSIONS(X) \
  X(u + i) X(u *u - 7) X(l + i) X(l *l) X(h - 70000) X(h * 3 - 1) X(u - l) X(i - u) X(u / 3) \
  X(u % 1000u) X(l / 7) X(l % 1000) X(u / (h | 1)) X(l / (u | 1)) X(u >> 5) X(l >> 37) \
  X(u << 9) X(l << 40) X(~u) X(~l) X(~h) X(-u) X(-l) X(u &i) X(l | i) X(u ^ s) X(u < i) \
  X(u > i) X(l < s) X(l > 5) X(h < i) X(i < h) X(u == i) X(l >= u) X(u ? 1 : 2) \
  X(i < 0 ? u : i) X(l &&u) X(!l) X((unsigned short)u) X((unsigned short)i) \
  X((unsigned char)l) X((int)u) X((long)u) X((int)l) X((unsigned)s) X((unsigned)i) \
  X((unsigned long)i) X((short)h) X(4000000000u + h) X(0xffffffffffffffffu - l) \
  X((unsigned)((double)h * 3.7)) X((int)(u >> 4) - (int)(h >> 2))
/* clang-format on */

static const char *const texts[] = {
#define X(e) #e,
    EXPRESSIONS(X)
#undef X
};
enum { COUNT = sizeof texts / sizeof *texts };

typedef struct values {
  uint16_t h[CELLS];
  uint32_t u[CELLS];
  uint64_t l[CELLS];
  int32_t i[CELLS];
  int64_t s[CELLS];
} values;

static uint64_t mixed(uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Small and large ones, and the ends of their ranges. */
static void fill(values *v)
{
  for (int k = 0; k < CELLS; k++) {
    const uint64_t x = mixed((uint64_t)k + 1) >> (k % 4 * 16), end = k % 8 ? x : k % 16 ? 0 : ~0uL;

    v->h[k] = (uint16_t)end;
    v->u[k] = (uint32_t)mixed(end);
    v->l[k] = k % 3 ? mixed(end + 1) : end;
    v->i[k] = (int32_t)(uint32_t)mixed(end + 2);
    v->s[k] = (int64_t)(k % 5 ? mixed(end + 3) : end);
    if (k % 16 == 0) v->u[k] = v->h[k], v->i[k] = -(k % 32 == 0), v->s[k] = -1;
  }
}

/* The C compiler's result: its conversions are the subject. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
static uint64_t expected(const values *v, int expression, int k)
{
  const uint16_t h = v->h[k];
  const uint32_t u = v->u[k];
  const uint64_t l = v->l[k];
  const int32_t i = v->i[k];
  const int64_t s = v->s[k];
  int number = 0;

#define X(e)                                                                                       \
  if (expression == number++) return (uint64_t)(e);
  EXPRESSIONS(X)
#undef X
  return 0;
}

#pragma GCC diagnostic pop

static const char rule[] =
    "void k(unsigned long *to, const unsigned short *ph, const unsigned *pu, const unsigned long "
    "*pl, const int *pi, const long *ps)\n"
    "{ unsigned short h = *ph; unsigned u = *pu; unsigned long l = *pl; int i = *pi; long s = *ps; "
    "*to = %s; }\n";

static ambit_field *field_of(ambit_grid *g, const char *name, ambit_type type, const void *from)
{
  ambit_field *f = ambit_field_create(g, name, type);

  if (from) ambit_field_write(f, NULL, NULL, from);
  return f;
}

static void conversions_and_operators_are_those_of_c(void)
{
  values v;

  fill(&v);
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, CELLS);
    ambit_field *h = field_of(g, "h", AMBIT_U16, v.h), *u = field_of(g, "u", AMBIT_U32, v.u),
                *l = field_of(g, "l", AMBIT_U64, v.l), *i = field_of(g, "i", AMBIT_I32, v.i),
                *s = field_of(g, "s", AMBIT_I64, v.s), *to[COUNT];
    ambit_program *p = NULL;
    uint64_t got[CELLS];
    char text[600];

    for (int e = 0; e < COUNT; e++) {
      if (e % 8 == 0) p = ambit_program_create(g);
      to[e] = field_of(g, "to", AMBIT_U64, NULL);
      snprintf(text, sizeof text, rule, texts[e]);
      ambit_apply(p, ambit_kernel_create(a, text), to[e], h, u, l, i, s);
      if (e % 8 == 7 || e == COUNT - 1) ambit_run(p, 1);
    }
    CHECK_OK(a);
    for (int e = 0; e < COUNT; e++) {
      ambit_field_read(to[e], NULL, NULL, got);
      for (int k = 0; k < CELLS; k++)
        CHECK_MSG(expected(&v, e, k) == got[k],
                  "%s: %s of h %d u %" PRIu32 " l %" PRIu64 " i %d s %" PRId64 ": want %" PRIu64
                  ", got %" PRIu64,
                  *d, texts[e], v.h[k], v.u[k], v.l[k], v.i[k], v.s[k], expected(&v, e, k), got[k]);
    }
    ambit_close(a);
  }
}

/* Beyond C: division by 0, shift counts, and numbers out of range have a result. */
static void what_c_leaves_open_is_defined(void)
{
  static const struct {
    const char *text;
    uint64_t want;
  } cases[] = {
      {"u / (u - u)", 0},
      {"l % (l - l)", 0},
      {"u << 33", 14},
      {"l >> 65", 3},
      {"(unsigned)(1e20 * u)", UINT32_MAX},
      {"(unsigned long)(1e20 * u)", UINT64_MAX},
      {"(unsigned short)(-1.5f * u)", 0},
      {"(unsigned long)(1.5e19 + 0 * u)", 15000000000000000000u},
      {"(unsigned)(INFINITY - INFINITY + 0 * u)", 0},
      {"(unsigned long)(double)(0xfffffffffffffbffuL + 0 * l)", 0xfffffffffffff800u},
      {"(unsigned long)(float)(0xffffff7fffffffffuL + 0 * l)", 0xffffff0000000000u},
  };

  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 1);
    const uint32_t seven[] = {7};
    const uint64_t large[] = {7};
    ambit_field *u = field_of(g, "u", AMBIT_U32, seven), *l = field_of(g, "l", AMBIT_U64, large);
    ambit_field *to = field_of(g, "to", AMBIT_U64, NULL);
    uint64_t got;

    ambit_option_set(a, "strict", "1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      ambit_program *p = ambit_program_create(g);
      char text[300];

      snprintf(
          text, sizeof text,
          "void k(unsigned long *to, const unsigned *pu, const unsigned long *pl) { unsigned u "
          "= *pu; unsigned long l = *pl; *to = (unsigned long)(%s) + 0 * (u + l); }",
          cases[i].text);
      ambit_apply(p, ambit_kernel_create(a, text), to, u, l);
      ambit_run(p, 1);
      CHECK_OK(a);
      ambit_field_read(to, NULL, NULL, &got);
      CHECK_MSG(got == cases[i].want, "%s: %s: want %" PRIu64 ", got %" PRIu64, *d, cases[i].text,
                cases[i].want, got);
    }
    ambit_close(a);
  }
}

static void reductions_know_that_there_is_no_sign(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 5);
    const uint64_t l[] = {3, 0x8000000000000000u, 5, 1u << 20, 9};
    const uint32_t u[] = {3, 0x80000000u, 5, 1u << 20, 9};
    ambit_field *fl = field_of(g, "l", AMBIT_U64, l), *fu = field_of(g, "u", AMBIT_U32, u);
    ambit_scalar *s[6];
    ambit_program *p = ambit_program_create(g);

    for (int i = 0; i < 6; i++)
      s[i] = ambit_scalar_create(a, "s", i < 3 ? AMBIT_U64 : AMBIT_U32);
    ambit_apply(p,
                ambit_kernel_create(a, "void k(const unsigned long *l, const unsigned *u, min "
                                       "unsigned long *a, max unsigned long *b, sum unsigned long "
                                       "*c, min unsigned *d, max unsigned *e, sum unsigned *f) { "
                                       "*a = *l; *b = *l; *c = *l; *d = *u; *e = *u; *f = *u; }"),
                fl, fu, s[0], s[1], s[2], s[3], s[4], s[5]);
    ambit_run(p, 1);
    CHECK_OK(a);
    CHECK_NEAR(3, ambit_scalar_get(s[0]), 0);
    CHECK_NEAR(0x1p63, ambit_scalar_get(s[1]), 0);
    CHECK_NEAR(0x1p63 + 1048576, ambit_scalar_get(s[2]), 0); /* 17 more, rounded */
    CHECK_NEAR(3, ambit_scalar_get(s[3]), 0);
    CHECK_NEAR(0x1p31, ambit_scalar_get(s[4]), 0);
    CHECK_NEAR(0x1p31 + 1048593, ambit_scalar_get(s[5]), 0);
    ambit_close(a);
  }
}

/* Four iterations at once on each device: their code is compiled (else there is a warning), and
 * gives the bits of ref. */
static void neighbours_of_unsigned_fields_in_several_iterations_at_once(void)
{
  enum { ROWS = 40, COLUMNS = 150 };
  static const ambit_type types[] = {AMBIT_U16, AMBIT_U32, AMBIT_U64};
  static unsigned char want[ROWS * COLUMNS * 8], got[ROWS * COLUMNS * 8];

  for (int t = 0; t < 3; t++)
    for (const char *const *d = devices_here(); *d; d++) {
      if (compiles_slowly(*d) && !test_takes(t, 3)) continue;

      ambit *a = open_on(*d);
      ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
      ambit_field *u = ambit_field_create(g, "u", types[t]);
      ambit_field *v = ambit_field_create(g, "v", types[t]);
      ambit_program *p = ambit_program_create(g);
      const char *type = ambit_type_name(types[t]), *said;
      char text[300];

      ambit_option_set(a, "strict", "1");
      ambit_option_set(a, "verbose", "0");
      ambit_option_set(a, "depth", "4");
      snprintf(text, sizeof text,
               "void k(const %s *u, %s *v) { *v = 3 * u[-1][0] + u[1][0] + 5 * u[0][-1] + "
               "u[0][1] + (%s)index(1) + 7; }",
               type, type, type);
      ambit_field_boundary(u, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
      ambit_field_boundary(u, AMBIT_AXIS(1), AMBIT_CONSTANT, 77);
      ambit_apply(p, ambit_kernel_create(a, text), u, v);
      ambit_swap(p, u, v);
      capture_begin();
      ambit_run(p, 8);
      said = capture_end();
      CHECK_MSG(!strstr(said, "refused a generated kernel"), "%s on %s: %s", type, *d, said);
      ambit_field_read(u, NULL, NULL, d == devices_here() ? want : got);
      CHECK_OK(a);
      if (d != devices_here())
        CHECK_MSG(!memcmp(want, got, ROWS * COLUMNS * ambit_type_size(types[t])),
                  "%s on %s differs", type, *d);
      CHECK_EQ(AMBIT_OK, ambit_close(a));
    }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"conversions_and_operators_are_those_of_c", conversions_and_operators_are_those_of_c},
      {"what_c_leaves_open_is_defined", what_c_leaves_open_is_defined},
      {"reductions_know_that_there_is_no_sign", reductions_know_that_there_is_no_sign},
      {"neighbours_of_unsigned_fields_in_several_iterations_at_once",
       neighbours_of_unsigned_fields_in_several_iterations_at_once},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
