/* SPDX-License-Identifier: BSD-3-Clause */
/* spelling.c - the same rule in several spellings: the time of each over that of the first one.
 *
 *   bench_spelling [--ambit-...] [cells per axis] [iterations] [rounds] [word of a family]
 *
 * Processor time of one thread, the best of all rounds, in which the spellings take turns.
 */
#include "ambit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STAR "u[-1][0] + u[1][0] + u[0][-1] + u[0][1]"
#define HEAT "void heat(const float *u, float *v, float k"

#define FLOW(walls)                                                                                \
  "void flow(const float *f[9], float *g[9], float omega)\n{\n"                                    \
  "  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};\n"                                          \
  "  const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};\n"                                          \
  "  const int back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};\n"                                           \
  "  const float w[9] = {4 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f,\n"                      \
  "                      1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};\n"                           \
  "  float h[9], rho = 0, ux = 0, uy = 0;\n"                                                       \
  "  for (int i = 0; i < 9; i++) {\n"                                                              \
  "    " walls "\n"                                                                                \
  "    rho += h[i];\n    ux += cx[i] * h[i];\n    uy += cy[i] * h[i];\n"                           \
  "  }\n  ux /= rho;\n  uy /= rho;\n"                                                              \
  "  for (int i = 0; i < 9; i++) {\n"                                                              \
  "    float cu = cx[i] * ux + cy[i] * uy;\n"                                                      \
  "    float e = w[i] * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * (ux * ux + uy * uy));\n"       \
  "    *g[i] = h[i] + omega * (e - h[i]);\n  }\n}\n"

typedef struct spelling {
  const char *family, *name, *text;
} spelling;

static const spelling spellings[] = {
    {"heat", "0.2f * (sum)",
     "void heat(const float *u, float *v) { *v = *u + 0.2f * (" STAR " - 4 * *u); }"},
    {"heat", "weights",
     "void heat(const float *u, float *v) { *v = 0.2f * *u + 0.2f * u[-1][0] + "
     "0.2f * u[1][0] + 0.2f * u[0][-1] + 0.2f * u[0][1]; }"},
    {"heat", "k * (sum)", HEAT ") { *v = *u + k * (" STAR " - 4 * *u); }"},
    {"heat", "1 - 4 * k", HEAT ") { *v = (1 - 4 * k) * *u + k * (" STAR "); }"},
    {"heat", "k * u each",
     HEAT ") { *v = *u * (1 - 4 * k) + k * u[-1][0] + k * u[1][0] + "
          "k * u[0][-1] + k * u[0][1]; }"},
    {"heat", "locals",
     HEAT ") { float c = *u; float l = u[-1][0] - 2 * c + u[1][0]; "
          "l += u[0][-1] - 2 * c + u[0][1]; *v = c + k * l; }"},
    {"max", "no reduction", HEAT ") { *v = *u + k * (" STAR " - 4 * *u); }"},
    {"max", "max",
     HEAT ", max float *c) { *v = *u + k * (" STAR " - 4 * *u); "
          "*c = fabsf(*v - *u); }"},
    {"max", "max literal",
     "void heat(const float *u, float *v, max float *c) { *v = *u + 0.2f * (" STAR " - 4 * *u); "
     "*c = fabsf(*v - *u); }"},
    {"max", "sum",
     HEAT ", sum float *c) { *v = *u + k * (" STAR " - 4 * *u); "
          "*c = fabsf(*v - *u); }"},
    {"max", "sum double",
     HEAT ", sum double *c) { *v = *u + k * (" STAR " - 4 * *u); "
          "*c = (*v - *u) * (*v - *u); }"},
    {"index", "(int)index()",
     "void ramp(const float *u, float *v) { *v = *u + 0.5f * "
     "(float)(int)index(1) + (int)index(0); }"},
    {"index", "index()",
     "void ramp(const float *u, float *v) { *v = *u + 0.5f * index(1) + "
     "index(0); }"},
    {"walls", "if",
     FLOW("h[i] = f[i][-cy[i]][-cx[i]];\n"
          "    if (cy[i] == 1 && index(0) == 0) h[i] = *f[back[i]];\n"
          "    if (cy[i] == -1 && index(0) == extent(0) - 1) h[i] = *f[back[i]];\n"
          "    if (cx[i] == 1 && index(1) == 0) h[i] = *f[back[i]];\n"
          "    if (cx[i] == -1 && index(1) == extent(1) - 1) h[i] = *f[back[i]];")},
    {"walls", "outside",
     FLOW("h[i] = outside(-cy[i], -cx[i]) ? *f[back[i]] : f[i][-cy[i]][-cx[i]];")},
    {"walls", "?:",
     FLOW("h[i] = index(0) - cy[i] < 0 || index(0) - cy[i] >= extent(0) || index(1) - cx[i] < 0 || "
          "index(1) - cx[i] >= extent(1) ? *f[back[i]] : f[i][-cy[i]][-cx[i]];")},
    {"walls", "!(&&)",
     FLOW("h[i] = !(0 <= index(0) - cy[i] && extent(0) > index(0) - cy[i] && index(1) >= cx[i] && "
          "index(1) < extent(1) + cx[i]) ? *f[back[i]] : f[i][-cy[i]][-cx[i]];")},
    {"walls", "int locals",
     FLOW("int y = (int)index(0) - cy[i]; int x = (int)index(1) - cx[i];\n"
          "    int ny = (int)extent(0); int nx = (int)extent(1);\n"
          "    h[i] = y < 0 || y >= ny || x < 0 || x >= nx ? *f[back[i]] : f[i][-cy[i]][-cx[i]];")},
};
enum { COUNT = (int)(sizeof spellings / sizeof *spellings) };

static double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return 0.1 + 0.01 * (double)((i[0] * 7 + i[1] * 3) % 11) + 0.01 * component;
}

static ambit_program *make(ambit *a, const spelling *s, int64_t n)
{
  const int64_t extent[] = {n, n};
  ambit_grid *g = ambit_grid_create(a, 2, extent);
  const int parts = strcmp(s->family, "walls") ? 1 : 9;
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, parts, AMBIT_SOA);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, parts, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *k = ambit_kernel_create(a, s->text);
  const int wants = ambit_kernel_params(k);
  ambit_scalar *c =
      ambit_scalar_create(a, "c", strstr(s->text, "double *c") ? AMBIT_F64 : AMBIT_F32);

  ambit_field_fill(u, start, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0.1);
  if (wants == 2) ambit_apply(p, k, u, v);
  if (wants == 3 && strstr(s->text, "float k")) ambit_apply(p, k, u, v, 0.2);
  if (wants == 3 && strstr(s->text, "omega")) ambit_apply(p, k, u, v, 1.1);
  if (wants == 3 && strstr(s->text, "*c")) ambit_apply(p, k, u, v, c);
  if (wants == 4) ambit_apply(p, k, u, v, 0.2, c);
  ambit_swap(p, u, v);
  ambit_run(p, 40);
  return p;
}

static double seconds(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  const int64_t n = argc > 1 ? atoll(argv[1]) : 512;
  const int64_t iterations = argc > 2 ? atoll(argv[2]) : 400;
  const int rounds = argc > 3 ? atoi(argv[3]) : 7;
  const char *only = argc > 4 ? argv[4] : "";
  ambit_program *p[COUNT] = {0};
  double best[COUNT], first = 0;

  if (getenv("AMBIT_THREADS") == NULL) ambit_option_set(a, "threads", "1");
  ambit_option_set(a, "sleep", "off");
  for (int i = 0; i < COUNT; i++)
    if (strstr(spellings[i].family, only)) p[i] = make(a, &spellings[i], n);
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < COUNT; i++) {
      const double t = seconds();

      if (!p[i]) continue;
      ambit_run(p[i], iterations);
      if (r == 0 || seconds() - t < best[i]) best[i] = seconds() - t;
    }
  for (int i = 0; i < COUNT && !ambit_error(a); i++) {
    if (!p[i]) continue;
    if (i == 0 || strcmp(spellings[i].family, spellings[i - 1].family)) first = best[i];
    printf("%-8s%-16s%8.3f ns/cell%8.2f\n", spellings[i].family, spellings[i].name,
           1e9 * best[i] / (double)(iterations * n * n), best[i] / first);
  }
  return ambit_close(a) != AMBIT_OK;
}
