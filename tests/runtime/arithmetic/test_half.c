/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of halves and bfloats: on every device the same bits as on ref, in strict mode, with
 * reductions over them, boundaries, several components and several parts. */
#include "runtime/runtime_test.h"

enum { ROWS = 23, COLUMNS = 131, CELLS = ROWS * COLUMNS };

/* Normal, subnormal and infinite halves, and both zeros. */
static double start(const int64_t *i, int component, void *user)
{
  static const double some[] = {1, 0.333, -2.5, 6e-8, -3e-5, 70000, 0.0, -0.0, 1234.5, 1e-3, 65504};

  (void)user;
  return some[(i[0] * 5 + i[1] * 3 + component) % 11] * (i[1] % 7 ? 1 : 0.7);
}

/* Subnormal results, ties, overflow, and the old value of a component not always written. */
#define RULE(half)                                                                                 \
  "static " half " mean(" half " a, float b) { return 0.5f * (a + b); }\n"                         \
  "void k(const " half " *u[2], " half " *v[2], const float *w, double d, sum double *s,\n"        \
  "       max float *m)\n"                                                                         \
  "{\n"                                                                                            \
  "  " half " t = u[0][0][-1] * 0.25f - u[1][-1][1];\n"                                            \
  "  *v[0] = mean(u[0][1][0], t) + *w * d;\n"                                                      \
  "  if (t > 0.1f) *v[1] = *u[1] * 1.0009765625;\n"                                                \
  "  *s = *v[0] - *v[0] == 0 ? *v[0] : 1;\n"                                                       \
  "  *m = fabsf(t) < 1e5f ? t : 0;\n"                                                              \
  "}\n"
#define COPY(half) "void c(" half " *u[2], const " half " *v[2]) { *u[0] = *v[1]; *u[1] = *v[0]; }"

typedef struct outcome {
  uint16_t v[2 * CELLS];
  double sum, most;
} outcome;

static void play(const char *devices, ambit_type type, outcome *out)
{
  const bool half = type == AMBIT_F16;
  ambit *a = open_on(devices);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create_vector(g, "u", type, 2, AMBIT_SOA);
  ambit_field *v = ambit_field_create_vector(g, "v", type, 2, AMBIT_AOS);
  ambit_field *w = ambit_field_create(g, "w", AMBIT_F32);
  ambit_scalar *sum = ambit_scalar_create(a, "sum", AMBIT_F64);
  ambit_scalar *most = ambit_scalar_create(a, "most", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_option_set(a, "strict", "1");
  ambit_field_fill(u, start, NULL);
  ambit_field_set(v, 0.1);
  ambit_field_fill(w, start, NULL);
  ambit_field_boundary(u, AMBIT_AXIS(0), AMBIT_CONSTANT, 0.3);
  ambit_field_boundary(u, AMBIT_AXIS(1), AMBIT_REFLECT, 0);
  ambit_apply(p, ambit_kernel_create(a, half ? RULE("half") : RULE("bfloat")), u, v, w, 1.0 / 3,
              sum, most);
  ambit_apply(p, ambit_kernel_create(a, half ? COPY("half") : COPY("bfloat")), u, v);
  ambit_run(p, 3);
  *out = (outcome){.sum = ambit_scalar_get(sum), .most = ambit_scalar_get(most)};
  ambit_field_read(v, NULL, NULL, out->v);
  CHECK_OK(a);
  ambit_close(a);
}

static void check_same(ambit_type type, const outcome *want, const outcome *got, const char *device)
{
  const int infinity = type == AMBIT_F16 ? 0x7c00 : 0x7f80;
  int differ = 0;

  for (int i = 0; i < 2 * CELLS; i++)
    differ += want->v[i] != got->v[i] &&
              ((want->v[i] & 0x7fff) <= infinity || (got->v[i] & 0x7fff) <= infinity);
  CHECK_MSG(!differ, "%d values on %s differ from ref", differ, device);
  CHECK_MSG(want->sum == got->sum && want->most == got->most, "%s: %a, %a, not %a, %a", device,
            got->sum, got->most, want->sum, want->most);
}

static void check_devices(ambit_type type)
{
  static outcome want, got;

  play("ref", type, &want);
  EACH_DEVICE(d)
  {
    char parts[40];

    play(*d, type, &got);
    check_same(type, &want, &got, *d);
    if (!strcmp(*d, "ref") || compiles_slowly(*d)) continue;
    snprintf(parts, sizeof parts, "%s*3", *d);
    play(parts, type, &got);
    check_same(type, &want, &got, parts);
  }
}

static void halves_are_the_same_bits_on_every_device(void)
{
  check_devices(AMBIT_F16);
}

static void bfloats_are_the_same_bits_on_every_device(void)
{
  check_devices(AMBIT_BF16);
}

static void real_can_be_half(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 100);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F16);
    ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    const char *text = "void k(real *u, real k, sum real *s) { real t = k + *u; *u = t; *s = t; }";
    uint16_t bits[100];

    ambit_define_real(a, AMBIT_F16);
    ambit_apply(p, ambit_kernel_create(a, text), u, 2049, s);
    ambit_run(p, 1);
    ambit_field_read(u, NULL, NULL, bits);
    CHECK_OK(a);
    CHECK_EQ(ambit_half_encode(2048), bits[99]); /* a tie, rounded when it is stored */
    CHECK(ambit_scalar_get(s) == 204900);
    ambit_close(a);
  }
}

/* Integers become floats, which are rounded once more. */
static void real_can_be_bfloat(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 100);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_BF16);
    ambit_program *p = ambit_program_create(g);
    uint16_t bits[100];

    if (!strcmp(*d, "ref"))
      CHECK(!strcmp("bfloat", ambit_type_name(AMBIT_BF16)) && ambit_type_size(AMBIT_BF16) == 2);
    ambit_define_real(a, AMBIT_BF16);
    ambit_apply(p,
                ambit_kernel_create(
                    a, "void k(real *u, real k) { *u = index(0) % 2 ? k : 16777217 * index(0); }"),
                u, 257);
    ambit_run(p, 1);
    ambit_field_read(u, NULL, NULL, bits);
    CHECK_OK(a);
    CHECK_EQ(ambit_bfloat_encode(256), bits[99]); /* a tie */
    CHECK_EQ(ambit_bfloat_encode((double)(float)(16777217 * 98L)), bits[98]);
    ambit_close(a);
  }
}

static void scalars_are_not_half(void)
{
  ambit *a = open_on("ref");

  CHECK(!ambit_scalar_create(a, "s", AMBIT_F16));
  CHECK_FAILED(a, AMBIT_EINVAL, "which is a type of fields; use AMBIT_F32");
  ambit_close(a);
}

static void bfloats_are_not_saved_for_numpy(void)
{
  ambit *a = open_on("ref");
  ambit_field *u = ambit_field_create(grid_1d(a, 4), "u", AMBIT_BF16);

  CHECK_EQ(AMBIT_EIO, ambit_field_save(u, "u.npy"));
  CHECK_FAILED(a, AMBIT_EIO, "NumPy has no type for the bfloat field 'u'");
  ambit_close(a);
}

/* Memory that was never given values, and NaN that a kernel makes, are found. */
static void check_nan(ambit_type type, const char *text)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g;
    ambit_field *u, *v;
    ambit_program *p;

    ambit_option_set(a, "nan", "1");
    g = grid_1d(a, 50);
    u = ambit_field_create(g, "u", type);
    v = ambit_field_create(g, "v", type);
    p = ambit_program_create(g);
    ambit_apply(p, ambit_kernel_create(a, text), u, v);
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "never set");
    ambit_field_set(u, 7e4);
    ambit_run(p, 1);
    CHECK_OK(a);
    ambit_close(a);
  }
}

static void nan_is_found_in_halves(void)
{
  check_nan(AMBIT_F16, "void k(const half *u, half *v) { *v = 2 * *u; }");
  check_nan(AMBIT_BF16, "void k(const bfloat *u, bfloat *v) { *v = 2 * *u; }");
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"halves_are_the_same_bits_on_every_device", halves_are_the_same_bits_on_every_device},
      {"bfloats_are_the_same_bits_on_every_device", bfloats_are_the_same_bits_on_every_device},
      {"real_can_be_half", real_can_be_half},
      {"real_can_be_bfloat", real_can_be_bfloat},
      {"scalars_are_not_half", scalars_are_not_half},
      {"bfloats_are_not_saved_for_numpy", bfloats_are_not_saved_for_numpy},
      {"nan_is_found_in_halves", nan_is_found_in_halves},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
