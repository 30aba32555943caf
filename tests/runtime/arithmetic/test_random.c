/* SPDX-License-Identifier: BSD-3-Clause */
/* random(), uniform() and gauss(): the generator of the literature, the same bits everywhere, and
 * the right distributions. */
#include "runtime/runtime_test.h"

#include <inttypes.h>
#include <math.h>

enum { ROWS = 13, COLUMNS = 70, CELLS = ROWS * COLUMNS };

/* ---- Philox 4x32-10, again ---- */

static void philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
  for (int i = 0; i < 10; i++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
    const uint64_t a = (uint64_t)0xd2511f53u * c[0], b = (uint64_t)0xcd9e8d57u * c[2];
    const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                              (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};

    for (int j = 0; j < 4; j++)
      c[j] = next[j];
  }
}

/* The known answers of Random123, the authors' library (kat_vectors). */
static void the_generator_here_gives_the_known_answers(void)
{
  uint32_t zeros[4] = {0}, ones[4] = {~0u, ~0u, ~0u, ~0u},
           pi[4] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
  static const uint32_t want[3][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                      {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                      {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};

  philox(zeros, 0, 0);
  philox(ones, ~0u, ~0u);
  philox(pi, 0xa4093822, 0x299f31d0);
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(want[0][i], zeros[i]);
    CHECK_EQ(want[1][i], ones[i]);
    CHECK_EQ(want[2][i], pi[i]);
  }
}

/* ---- on devices ---- */

static const char *const modes[] = {"0", "1"};

/* Numbers n of a seed with more than 32 bits, after some steps. Subscripts say that there are two
 * axes, or nothing does. */
static const char *const words[] = {"void k(unsigned *w[4], int n) { for (int i = 0; i < 4; i++) "
                                    "*w[i] = random(81985529216486895L, "
                                    "i) + 0 * n; }",
                                    "void k(unsigned *w[4], int n) { for (int i = 0; i < 4; i++) "
                                    "*w[i] = random(81985529216486895L, "
                                    "n + i); }"};

static void integers_are_those_of_the_literature(void)
{
  EACH_DEVICE(d)
  for (int m = 0; m < 4; m++) {
    ambit *a = open_on(*d);
    ambit_field *w;
    ambit_program *p;
    ambit_grid *g;
    static uint32_t got[CELLS][4];

    ambit_option_set(a, "strict", modes[m % 2]);
    g = grid_2d(a, ROWS, COLUMNS);
    w = ambit_field_create_vector(g, "w", AMBIT_U32, 4, AMBIT_AOS);
    p = ambit_program_create(g);
    ambit_apply(p, ambit_kernel_create(a, words[m / 2]), w, m / 2 ? 8 : 0);
    ambit_run(p, 3);
    CHECK_OK(a);
    ambit_field_read(w, NULL, NULL, got);
    for (uint32_t i = 0; i < CELLS; i++) {
      uint32_t c[4] = {i, 0, 2, m / 2 ? 2 : 0};

      philox(c, 0x89abcdef, 0x01234567);
      CHECK_MSG(!memcmp(c, got[i], sizeof c), "%s, strict=%s, cell %u: want %08x, got %08x", *d,
                modes[m % 2], i, c[0], got[i][0]);
    }
    ambit_close(a);
  }
}

static const char reals[] =
    "void k(float *f[5], double *r[5], const float *u) {\n"
    "  for (int i = 0; i < 3; i++) { *f[i] = uniformf(5, i); *r[i] = uniform(5, i); }\n"
    "  for (int i = 0; i < 2; i++) { *f[3 + i] = gaussf(5, i); *r[3 + i] = gauss(5, i); }\n"
    "  if (u[0][1] > 1) *f[0] = 2;\n"
    "}\n";

typedef struct numbers {
  float f[CELLS][5];
  double r[CELLS][5];
} numbers;

static void draw(const char *device, numbers *n)
{
  ambit *a = open_on(device);
  ambit_field *f, *r, *u;
  ambit_program *p;
  ambit_grid *g;

  ambit_option_set(a, "strict", "1");
  g = grid_2d(a, ROWS, COLUMNS);
  f = ambit_field_create_vector(g, "f", AMBIT_F32, 5, AMBIT_SOA);
  r = ambit_field_create_vector(g, "r", AMBIT_F64, 5, AMBIT_SOA);
  u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  p = ambit_program_create(g);
  ambit_apply(p, ambit_kernel_create(a, reals), f, r, u);
  ambit_run(p, 2);
  CHECK_OK(a);
  ambit_field_read(f, NULL, NULL, n->f);
  ambit_field_read(r, NULL, NULL, n->r);
  ambit_close(a);
}

static void real_numbers_have_the_same_bits_everywhere(void)
{
  static const char *const parts[] = {"cpu*2", "cpu*3", "cpu*6"};
  static numbers want, got;

  draw("ref", &want);
  EACH_DEVICE(d)
  {
    draw(*d, &got);
    CHECK_MSG(!memcmp(&want, &got, sizeof want), "%s", *d);
  }
  for (int i = 0; i < 3; i++) {
    draw(parts[i], &got);
    CHECK_MSG(!memcmp(&want, &got, sizeof want), "%s", parts[i]);
  }
}

/* ---- distributions ---- */

enum { SIDE = 512, MANY = SIDE * SIDE, BINS = 64 };

/* The probability below x of the normal distribution. */
static double below(double x)
{
  return 0.5 * erfc(-x / sqrt(2.0));
}

/* chi squared of 63 degrees of freedom exceeds 120 with a probability of 2e-5. */
static void is_uniform(const double *share, const char *name)
{
  double chi = 0;
  int count[BINS] = {0};

  for (int i = 0; i < MANY; i++) {
    CHECK(share[i] >= 0 && share[i] <= 1);
    count[share[i] < 1 ? (int)(share[i] * BINS) : BINS - 1]++;
  }
  for (int i = 0; i < BINS; i++)
    chi += (count[i] - MANY / BINS) * (double)(count[i] - MANY / BINS) / (MANY / BINS);
  CHECK_MSG(chi > 20 && chi < 120, "chi squared of %s is %g", name, chi);
}

/* The mean of products, 0 within 5 standard deviations. */
static void are_independent(const double *a, const double *b, const char *names)
{
  double sum = 0;

  for (int i = 0; i < MANY; i++)
    sum += (a[i] - 0.5) * (b[i] - 0.5) * 12;
  CHECK_MSG(fabs(sum / MANY) < 5 / sqrt((double)MANY), "correlation of %s: %g", names, sum / MANY);
}

static void distributions_are_right_and_independent(void)
{
  static const char *const names[] = {"uniformf 0", "uniformf 1", "uniform 0", "gaussf 0",
                                      "gaussf 1",   "gauss 0",    "gauss 1",   "random"};
  static const char rule[] =
      "void k(double *r[8], unsigned long seed) {\n"
      "  *r[0] = uniformf(seed, 0); *r[1] = uniformf(seed, 1); *r[2] = uniform(seed, 0);\n"
      "  *r[3] = gaussf(seed, 0); *r[4] = gaussf(seed, 1); *r[5] = gauss(seed, 0);\n"
      "  *r[6] = gauss(seed, 1); *r[7] = random(seed + 1, 0) / 4294967296.0;\n}\n";
  static double all[MANY][8], r[8][MANY], next[MANY];
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, SIDE, SIDE);
  ambit_field *f = ambit_field_create_vector(g, "r", AMBIT_F64, 8, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);

  ambit_apply(p, ambit_kernel_create(a, rule), f, 42);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_field_read(f, NULL, NULL, all);
  for (int c = 0; c < 8; c++) {
    for (int i = 0; i < MANY; i++)
      r[c][i] = c > 2 && c < 7 ? below(all[i][c]) : all[i][c];
    is_uniform(r[c], names[c]);
    for (int b = 0; b < c; b++)
      are_independent(r[c], r[b], names[c]);
    for (int i = 0; i < MANY; i++)
      next[i] = r[c][(i + 1) % MANY];
    are_independent(next, r[c], names[c]);
  }
  ambit_run(p, 1);
  ambit_field_read(f, NULL, NULL, all);
  for (int i = 0; i < MANY; i++)
    next[i] = all[i][2];
  are_independent(next, r[2], "the next step");
  ambit_close(a);
}

/* The accuracy of the transform, by the library's functions. */
static void normal_numbers_are_accurate(void)
{
  ambit *a = open_on("ref");
  ambit_grid *g = grid_1d(a, 2000);
  ambit_field *f = ambit_field_create_vector(g, "r", AMBIT_F64, 2, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);
  double r[2000][2];

  ambit_apply(p,
              ambit_kernel_create(a, "void k(double *r[2]) { for (int i = 0; i < 2; i++) *r[i] = "
                                     "gauss(9, i); }"),
              f);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_field_read(f, NULL, NULL, r);
  for (uint32_t i = 0; i < 2000; i++) {
    uint32_t w[4] = {i, 0, 0, 3u << 30};
    double u, turn, radius;

    philox(w, 9, 0);
    u = ((w[0] >> 5) * 67108864.0 + (w[1] >> 6)) * 0x1p-53 + 0x1p-54;
    turn = w[2] * 0x1p-32 + (w[3] >> 6) * 0x1p-58;
    radius = sqrt(-2 * log(u));
    CHECK_NEAR(radius * cos(2 * acos(-1.0) * turn), r[i][0], 4e-15);
    CHECK_NEAR(radius * sin(2 * acos(-1.0) * turn), r[i][1], 4e-15);
  }
  ambit_close(a);
}

/* ---- the language around it ---- */

static void kernels_on_scalars_and_texts_with_real_can_draw(void)
{
  EACH_DEVICE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g = grid_1d(a, 3);
    ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_U32);
    ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    uint32_t w[4] = {0, 0, 1, 0}, other[4] = {2, 0, 1, 0};
    float got[3];

    ambit_apply(p, ambit_kernel_create(a, "void k(unsigned *s) { *s = random(1, 1); }"), s);
    ambit_define_real(a, AMBIT_F32);
    ambit_apply(p, ambit_kernel_create(a, "void k(real *f) { *f = uniform(1, 0); }"), f);
    ambit_run(p, 2);
    CHECK_OK(a);
    philox(w, 1, 0);
    philox(other, 1, 0);
    CHECK_EQ(w[1], ambit_scalar_get(s));
    ambit_field_read(f, NULL, NULL, got);
    CHECK_EQ((other[0] >> 8) * 0x1p-24, (double)got[2]);
    ambit_close(a);
  }
}

static void a_text_can_have_a_function_of_the_same_name(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_1d(a, 3);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  float got[3];

  ambit_apply(p,
              ambit_kernel_create(a, "static float uniform(float x) { return 2 * x; }\n"
                                     "void k(float *f) { float gauss = 1; *f = uniform(3) + gauss "
                                     "+ 0 * uniformf(1, 0); }"),
              f);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_field_read(f, NULL, NULL, got);
  CHECK_EQ(7, (double)got[1]);
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_generator_here_gives_the_known_answers", the_generator_here_gives_the_known_answers},
      {"integers_are_those_of_the_literature", integers_are_those_of_the_literature},
      {"real_numbers_have_the_same_bits_everywhere", real_numbers_have_the_same_bits_everywhere},
      {"distributions_are_right_and_independent", distributions_are_right_and_independent},
      {"normal_numbers_are_accurate", normal_numbers_are_accurate},
      {"kernels_on_scalars_and_texts_with_real_can_draw",
       kernels_on_scalars_and_texts_with_real_can_draw},
      {"a_text_can_have_a_function_of_the_same_name", a_text_can_have_a_function_of_the_same_name},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
