/* SPDX-License-Identifier: BSD-3-Clause */
/* lbm.c - the lattice Boltzmann method with 19 populations (D3Q19): two fields or one in place,
 * periodic or with walls, interleaved.
 *
 *   bench_lbm [--ambit-...] [cells per axis] [float, double, half or bfloat] [time steps] [rounds]
 *
 * Gcells/s, the best of all rounds, and the share of what copying the same bytes would take.
 */
#include "ambit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULE(head, arriving, leaving)                                                              \
  "void " head "\n{\n"                                                                             \
  "  const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};\n"         \
  "  const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};\n"         \
  "  const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};\n"         \
  "  const int back[19] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};\n"   \
  "  const real w[3] = {1.0 / 3, 1.0 / 18, 1.0 / 36};\n"                                           \
  "  real h[19], rho = 0, ux = 0, uy = 0, uz = 0;\n"                                               \
  "  for (int i = 0; i < 19; i++) {\n"                                                             \
  "    h[i] = " arriving ";\n"                                                                     \
  "    rho += h[i];\n"                                                                             \
  "    ux += cx[i] * h[i];\n"                                                                      \
  "    uy += cy[i] * h[i];\n"                                                                      \
  "    uz += cz[i] * h[i];\n"                                                                      \
  "  }\n"                                                                                          \
  "  real r = 1 / rho;\n"                                                                          \
  "  ux *= r;\n"                                                                                   \
  "  uy *= r;\n"                                                                                   \
  "  uz *= r;\n"                                                                                   \
  "  real uu = 1 - 1.5 * (ux * ux + uy * uy + uz * uz);\n"                                         \
  "  for (int i = 0; i < 19; i++) {\n"                                                             \
  "    real cu = 3 * (cx[i] * ux + cy[i] * uy + cz[i] * uz);\n"                                    \
  "    real eq = w[i == 0 ? 0 : i < 7 ? 1 : 2] * rho * (uu + cu + 0.5 * cu * cu);\n"               \
  "    " leaving " = h[i] + omega * (eq - h[i]);\n"                                                \
  "  }\n"                                                                                          \
  "}\n"

#define FROM "f[i][-cz[i]][-cy[i]][-cx[i]]"

static const char two[] = RULE("two(const real *f[19], real *g[19], real omega)", FROM, "*g[i]");
/* Populations come back from the faces of the grid. */
static const char walls[] = RULE("walls(const real *f[19], real *g[19], real omega)",
                                 "outside(-cz[i], -cy[i], -cx[i]) ? *f[back[i]] : " FROM, "*g[i]");
static const char even[] = RULE("even(real *f[19], real omega)", "*f[i]", "*f[back[i]]");
static const char odd[] = RULE("odd(real *f[19], real omega)", "f[back[i]][-cz[i]][-cy[i]][-cx[i]]",
                               "f[i][cz[i]][cy[i]][cx[i]]");
/* Solid cells do nothing. */
static const char even_solid[] =
    RULE("even_solid(real *f[19], real omega, const unsigned char *solid)", "*f[i]",
         "if (!*solid) *f[back[i]]");
static const char odd_solid[] =
    RULE("odd_solid(real *f[19], real omega, const unsigned char *solid)",
         "f[back[i]][-cz[i]][-cy[i]][-cx[i]]", "if (!*solid) f[i][cz[i]][cy[i]][cx[i]]");

enum { FORMS = 4 };
static const char *const names[FORMS] = {"two fields, periodic", "two fields, walls",
                                         "in place, periodic", "in place, solid cells"};

static double weight(const int64_t *i, int component, void *user)
{
  (void)user;
  return (component == 0  ? 1 / 3.0
          : component < 7 ? 1 / 18.0
                          : 1 / 36.0) *
         (1 + (double)((i[0] + i[1] + i[2]) % 5) / 100);
}

static double is_solid(const int64_t *i, int component, void *user)
{
  const int64_t last = *(const int64_t *)user - 1;

  (void)component;
  return i[0] == 0 || i[1] == 0 || i[2] == 0 || i[0] == last || i[1] == last || i[2] == last;
}

/* A program whose iteration is two time steps. */
static ambit_program *make(ambit *a, int form, int64_t n, ambit_type type)
{
  ambit_grid *g = ambit_grid_create(a, 3, (const int64_t[]){n, n, n});
  ambit_field *f = ambit_field_create_vector(g, "f", type, 19, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);

  ambit_define_real(a, type);
  ambit_field_fill_parallel(f, weight, NULL);
  if (form != 1) ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  if (form < 2) {
    ambit_kernel *k = ambit_kernel_create(a, form ? walls : two);
    ambit_field *next = ambit_field_create_vector(g, "g", type, 19, AMBIT_SOA);

    for (int i = 0; i < 2; i++) {
      ambit_apply(p, k, f, next, 1.2);
      ambit_swap(p, f, next);
    }
  } else if (form == 2) {
    ambit_apply(p, ambit_kernel_create(a, even), f, 1.2);
    ambit_apply(p, ambit_kernel_create(a, odd), f, 1.2);
  } else {
    ambit_field *solid = ambit_field_create(g, "solid", AMBIT_U8);

    ambit_field_fill_parallel(solid, is_solid, &n);
    ambit_apply(p, ambit_kernel_create(a, even_solid), f, 1.2, solid);
    ambit_apply(p, ambit_kernel_create(a, odd_solid), f, 1.2, solid);
  }
  ambit_run(p, 2);
  return p;
}

/* Of all runs so far; 0 on failure. */
static double seconds_of(ambit_program *p)
{
  const ambit_stats *s = ambit_program_stats(p, 0);

  return s ? s->seconds : 0;
}

/* Seconds per time step. */
static double time_of(ambit_program *p, int64_t steps)
{
  const double before = seconds_of(p);

  ambit_run(p, steps / 2);
  return (seconds_of(p) - before) / (double)(steps / 2 * 2);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  const int64_t n = argc > 1 ? atoll(argv[1]) : 128, steps = argc > 3 ? atoll(argv[3]) : 10;
  const char *name = argc > 2 ? argv[2] : "float";
  const ambit_type type = !strcmp(name, "half")     ? AMBIT_F16
                          : !strcmp(name, "bfloat") ? AMBIT_BF16
                          : !strcmp(name, "double") ? AMBIT_F64
                                                    : AMBIT_F32;
  const int rounds = argc > 4 ? atoi(argv[4]) : 3;
  const double cells = (double)n * (double)n * (double)n;
  ambit_program *p[FORMS];
  double best[FORMS];
  const ambit_stats *stats;

  for (int i = 0; i < FORMS; i++) {
    p[i] = make(a, i, n, type);
    best[i] = 1e9;
  }
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < FORMS; i++) {
      const double seconds = time_of(p[i], steps);

      if (seconds < best[i]) best[i] = seconds;
    }
  stats = ambit_program_stats(p[0], 1);
  for (int i = 0; i < FORMS && stats; i++)
    printf("%-22s %s %lld^3: %.3f Gcells/s, %.0f %% of copy\n", names[i], ambit_type_name(type),
           (long long)n, 1e-9 * cells / best[i],
           100 * cells * (38 * (double)ambit_type_size(type) + (i == 3)) / best[i] /
               stats->copy_bandwidth);
  return ambit_close(a) != AMBIT_OK;
}
