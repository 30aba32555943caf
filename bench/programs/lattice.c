/* SPDX-License-Identifier: BSD-3-Clause */
/* lattice.c - the lattice Boltzmann method. */
#include "driver.h"

/* ---- D2Q9 in a box of walls that send populations back ------------------------------------- */

static const char walls_if_rule[] =
    AMBIT_SOURCE(void lbm(const float *f[9], float *g[9], float omega) {
      const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
      const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
      const int back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
      const float w[9] = {4 / 9.0f,  1 / 9.0f,  1 / 9.0f,  1 / 9.0f, 1 / 9.0f,
                          1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};
      float h[9];
      float rho = 0;
      float ux = 0;
      float uy = 0;

      for (int i = 0; i < 9; i++) {
        if (index(0) < cy[i] || index(0) - cy[i] >= extent(0) || index(1) < cx[i] ||
            index(1) - cx[i] >= extent(1))
          h[i] = *f[back[i]];
        else
          h[i] = f[i][-cy[i]][-cx[i]];
        rho += h[i];
        ux += cx[i] * h[i];
        uy += cy[i] * h[i];
      }
      for (int i = 0; i < 9; i++) {
        float cu = (cx[i] * ux + cy[i] * uy) / rho;
        float uu = (ux * ux + uy * uy) / (rho * rho);

        *g[i] = h[i] + omega * (w[i] * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * uu) - h[i]);
      }
    });
static const char walls_choice_rule[] =
    AMBIT_SOURCE(void lbm(const float *f[9], float *g[9], float omega) {
      const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
      const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
      const int back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
      const float w[9] = {4 / 9.0f,  1 / 9.0f,  1 / 9.0f,  1 / 9.0f, 1 / 9.0f,
                          1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};
      float h[9];
      float rho = 0;
      float ux = 0;
      float uy = 0;

      for (int i = 0; i < 9; i++) {
        const int is_wall = index(0) - cy[i] < 0 || index(0) - cy[i] >= extent(0) ||
                            index(1) - cx[i] < 0 || index(1) - cx[i] >= extent(1);

        h[i] = is_wall ? *f[back[i]] : f[i][-cy[i]][-cx[i]];
        rho += h[i];
        ux += cx[i] * h[i];
        uy += cy[i] * h[i];
      }
      for (int i = 0; i < 9; i++) {
        float cu = (cx[i] * ux + cy[i] * uy) / rho;
        float uu = (ux * ux + uy * uy) / (rho * rho);

        *g[i] = h[i] + omega * (w[i] * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * uu) - h[i]);
      }
    });

static double populations(const int64_t *index, int component, void *user)
{
  return (component == 0  ? 0.44
          : component < 5 ? 0.11
                          : 0.028) *
         (1 + 0.1 * bench_noise(index, component, user));
}

static void lattice_open(bench *b, const char *rule, ambit_boundary kind, int components)
{
  ambit_field *f = bench_vector(b, "f", AMBIT_F32, components, 1, populations);
  ambit_field *g = bench_vector(b, "g", AMBIT_F32, components, 1, NULL);

  ambit_field_boundary(f, AMBIT_ALL_FACES, kind, 0);
  ambit_apply(b->program, bench_kernel(b, rule), f, g, 1.2);
  ambit_swap(b->program, f, g);
}

static void walls_if_open(bench *b)
{
  lattice_open(b, walls_if_rule, AMBIT_CONSTANT, 9);
}

static void walls_choice_open(bench *b)
{
  lattice_open(b, walls_choice_rule, AMBIT_CONSTANT, 9);
}

/* Populations that enter the box are those that left it, so a person fills the ghost cells with
 * them first: the loop over all cells has no conditions. */
static void d2q9_ghosts(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  VECTOR2(float, f, 0, 1);

#pragma omp parallel for
  for (int64_t j = 1; j <= m; j++) {
    f[2][0][j] = f[4][1][j];
    f[5][0][j - 1] = f[7][1][j];
    f[6][0][j + 1] = f[8][1][j];
    f[4][n + 1][j] = f[2][n][j];
    f[7][n + 1][j + 1] = f[5][n][j];
    f[8][n + 1][j - 1] = f[6][n][j];
  }
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++) {
    f[1][i][0] = f[3][i][1];
    f[5][i - 1][0] = f[7][i][1];
    f[8][i + 1][0] = f[6][i][1];
    f[3][i][m + 1] = f[1][i][m];
    f[6][i - 1][m + 1] = f[8][i][m];
    f[7][i + 1][m + 1] = f[5][i][m];
  }
}

static void d2q9_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  VECTOR2(float, f, 0, 1);
  VECTOR2(float, g, 1, 1);
  const float omega = 1.2f, w0 = 4 / 9.0f, w1 = 1 / 9.0f, w2 = 1 / 36.0f;

  d2q9_ghosts(b);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float h0 = f[0][i][j], h1 = f[1][i][j - 1], h2 = f[2][i - 1][j], h3 = f[3][i][j + 1],
                  h4 = f[4][i + 1][j], h5 = f[5][i - 1][j - 1], h6 = f[6][i - 1][j + 1],
                  h7 = f[7][i + 1][j + 1], h8 = f[8][i + 1][j - 1];
      const float rho = h0 + h1 + h2 + h3 + h4 + h5 + h6 + h7 + h8;
      const float ux = (h1 - h3 + h5 - h6 - h7 + h8) / rho,
                  uy = (h2 - h4 + h5 + h6 - h7 - h8) / rho;
      const float base = 1 - 1.5f * (ux * ux + uy * uy), p = ux + uy, q = uy - ux;

      g[0][i][j] = h0 + omega * (w0 * rho * base - h0);
      g[1][i][j] = h1 + omega * (w1 * rho * (base + 3 * ux + 4.5f * ux * ux) - h1);
      g[2][i][j] = h2 + omega * (w1 * rho * (base + 3 * uy + 4.5f * uy * uy) - h2);
      g[3][i][j] = h3 + omega * (w1 * rho * (base - 3 * ux + 4.5f * ux * ux) - h3);
      g[4][i][j] = h4 + omega * (w1 * rho * (base - 3 * uy + 4.5f * uy * uy) - h4);
      g[5][i][j] = h5 + omega * (w2 * rho * (base + 3 * p + 4.5f * p * p) - h5);
      g[6][i][j] = h6 + omega * (w2 * rho * (base + 3 * q + 4.5f * q * q) - h6);
      g[7][i][j] = h7 + omega * (w2 * rho * (base - 3 * p + 4.5f * p * p) - h7);
      g[8][i][j] = h8 + omega * (w2 * rho * (base - 3 * q + 4.5f * q * q) - h8);
    }
  bench_swap(b, 0, 1);
}

/* ---- D3Q19, periodic ----------------------------------------------------------------------- */

static const char d3q19_rule[] =
    AMBIT_SOURCE(void lbm(const float *f[19], float *g[19], float omega) {
      const int c[19][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},   {0, -1, 0},
                            {0, 0, 1},  {0, 0, -1},  {1, 1, 0},   {-1, -1, 0}, {1, -1, 0},
                            {-1, 1, 0}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1},  {-1, 0, 1},
                            {0, 1, 1},  {0, -1, -1}, {0, 1, -1},  {0, -1, 1}};
      float h[19];
      float rho = 0;
      float u[3] = {0, 0, 0};

      for (int i = 0; i < 19; i++) {
        h[i] = f[i][-c[i][0]][-c[i][1]][-c[i][2]];
        rho += h[i];
        for (int d = 0; d < 3; d++)
          u[d] += c[i][d] * h[i];
      }
      for (int d = 0; d < 3; d++)
        u[d] /= rho;
      for (int i = 0; i < 19; i++) {
        const float w = i == 0 ? 1 / 3.0f : i < 7 ? 1 / 18.0f : 1 / 36.0f;
        const float cu = c[i][0] * u[0] + c[i][1] * u[1] + c[i][2] * u[2];
        const float uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];

        *g[i] = h[i] + omega * (w * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * uu) - h[i]);
      }
    });

static double populations3(const int64_t *index, int component, void *user)
{
  return (component == 0  ? 0.33
          : component < 7 ? 0.055
                          : 0.028) *
         (1 + 0.1 * bench_noise(index, component, user));
}

static void d3q19_open(bench *b)
{
  ambit_field *f = bench_vector(b, "f", AMBIT_F32, 19, 1, populations3);
  ambit_field *g = bench_vector(b, "g", AMBIT_F32, 19, 1, NULL);

  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, d3q19_rule), f, g, 1.2);
  ambit_swap(b->program, f, g);
}

/* The new value of population h with weight w and velocity cu. */
static inline float relaxed(float h, float w, float rho, float base, float cu)
{
  return h + 1.2f * (w * rho * (base + 3 * cu + 4.5f * cu * cu) - h);
}

static void d3q19_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  VECTOR3(float, f, 0, 1);
  VECTOR3(float, g, 1, 1);
  const float w1 = 1 / 18.0f, w2 = 1 / 36.0f;

  bench_wrap(b, 0);
#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 1; j <= m; j++)
#pragma omp simd
      for (int64_t k = 1; k <= l; k++) {
        const float h0 = f[0][i][j][k], h1 = f[1][i - 1][j][k], h2 = f[2][i + 1][j][k],
                    h3 = f[3][i][j - 1][k], h4 = f[4][i][j + 1][k], h5 = f[5][i][j][k - 1],
                    h6 = f[6][i][j][k + 1], h7 = f[7][i - 1][j - 1][k], h8 = f[8][i + 1][j + 1][k],
                    h9 = f[9][i - 1][j + 1][k], h10 = f[10][i + 1][j - 1][k],
                    h11 = f[11][i - 1][j][k - 1], h12 = f[12][i + 1][j][k + 1],
                    h13 = f[13][i - 1][j][k + 1], h14 = f[14][i + 1][j][k - 1],
                    h15 = f[15][i][j - 1][k - 1], h16 = f[16][i][j + 1][k + 1],
                    h17 = f[17][i][j - 1][k + 1], h18 = f[18][i][j + 1][k - 1];
        const float rho = h0 + h1 + h2 + h3 + h4 + h5 + h6 + h7 + h8 + h9 + h10 + h11 + h12 + h13 +
                          h14 + h15 + h16 + h17 + h18;
        const float u = (h1 - h2 + h7 - h8 + h9 - h10 + h11 - h12 + h13 - h14) / rho;
        const float v = (h3 - h4 + h7 - h8 - h9 + h10 + h15 - h16 + h17 - h18) / rho;
        const float w = (h5 - h6 + h11 - h12 - h13 + h14 + h15 - h16 - h17 + h18) / rho;
        const float base = 1 - 1.5f * (u * u + v * v + w * w);

        g[0][i][j][k] = relaxed(h0, 1 / 3.0f, rho, base, 0);
        g[1][i][j][k] = relaxed(h1, w1, rho, base, u);
        g[2][i][j][k] = relaxed(h2, w1, rho, base, -u);
        g[3][i][j][k] = relaxed(h3, w1, rho, base, v);
        g[4][i][j][k] = relaxed(h4, w1, rho, base, -v);
        g[5][i][j][k] = relaxed(h5, w1, rho, base, w);
        g[6][i][j][k] = relaxed(h6, w1, rho, base, -w);
        g[7][i][j][k] = relaxed(h7, w2, rho, base, u + v);
        g[8][i][j][k] = relaxed(h8, w2, rho, base, -u - v);
        g[9][i][j][k] = relaxed(h9, w2, rho, base, u - v);
        g[10][i][j][k] = relaxed(h10, w2, rho, base, v - u);
        g[11][i][j][k] = relaxed(h11, w2, rho, base, u + w);
        g[12][i][j][k] = relaxed(h12, w2, rho, base, -u - w);
        g[13][i][j][k] = relaxed(h13, w2, rho, base, u - w);
        g[14][i][j][k] = relaxed(h14, w2, rho, base, w - u);
        g[15][i][j][k] = relaxed(h15, w2, rho, base, v + w);
        g[16][i][j][k] = relaxed(h16, w2, rho, base, -v - w);
        g[17][i][j][k] = relaxed(h17, w2, rho, base, v - w);
        g[18][i][j][k] = relaxed(h18, w2, rho, base, w - v);
      }
  bench_swap(b, 0, 1);
}

const bench_program bench_lattice[] = {
    {"d2q9_if", 2, {1500, 1500}, {33, 70}, 12, 1e-5, walls_if_open, d2q9_nest},
    {"d2q9_choice", 2, {1500, 1500}, {33, 70}, 12, 1e-5, walls_choice_open, d2q9_nest},
    {"d3q19", 3, {120, 120, 120}, {9, 10, 35}, 8, 1e-5, d3q19_open, d3q19_nest},
    {.name = NULL}};
