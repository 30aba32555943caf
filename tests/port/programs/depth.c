/* Numbers known at run time decide the form of nests: the depth of a halo, the radius of a window, the order of a difference. */
#include <stdlib.h>

#include "show.h"

#define AT(i, j) ((i)-x_min + 3 + ((j)-y_min + 3) * wide)

/* Mirrored edges, as hydrodynamic codes have them. */
#pragma ambit
static void update_halo(int x_min, int x_max, int y_min, int y_max, int depth, double *density)
{
  int j, k;
  int wide = x_max - x_min + 7;

  for (k = x_min - depth; k <= x_max + depth; k++)
    for (j = 1; j <= depth; j++)
      density[AT(k, 1 - j)] = density[AT(k, 0 + j)];
  for (k = x_min - depth; k <= x_max + depth; k++)
    for (j = 1; j <= depth; j++)
      density[AT(k, y_max + j)] = density[AT(k, y_max + 1 - j)];
  for (j = 1; j <= depth; j++)
    for (k = y_min - depth; k <= y_max + depth; k++) {
      density[AT(1 - j, k)] = density[AT(0 + j, k)];
      density[AT(x_max + j, k)] = density[AT(x_max + 1 - j, k)];
    }
}

static float window(const float *u, int wide, int y, int x, int r)
{
  float sum = 0;

  for (int b = y - r; b <= y + r; b++)
    for (int a = x - r; a <= x + r; a++)
      sum += u[b * wide + a];
  return sum / ((2 * r + 1) * (2 * r + 1));
}

#pragma ambit
static void blur(int high, int wide, int r, const float *u, float *v)
{
  for (int y = r; y < high - r; y++)
    for (int x = r; x < wide - r; x++)
      v[y * wide + x] = window(u, wide, y, x, r);
}

/* Second derivatives of order 2 * half. */
#pragma ambit
static double derive(int n, int half, const double *weights, double **u, double **v)
{
  double most = 0;

  for (int i = half; i < n - half; i++)
    for (int j = half; j < n - half; j++) {
      double sum = 2 * weights[0] * u[i][j];

      for (int k = 1; k <= half; k++)
        sum += weights[k] * (u[i - k][j] + u[i + k][j] + u[i][j - k] + u[i][j + k]);
      v[i][j] = sum;
      if (sum > most) most = sum;
    }
  return most;
}

static double **square(int n)
{
  double **u = malloc((size_t)n * sizeof *u);

  for (int i = 0; i < n; i++) {
    u[i] = malloc((size_t)n * sizeof **u);
    for (int j = 0; j < n; j++)
      u[i][j] = (i * 7 + j * j) % 23;
  }
  return u;
}

int main(void)
{
  enum { NX = 21, NY = 14, N = 27 };
  static double density[(NX + 6) * (NY + 6)];
  static float u[N * N], v[N * N];
  const double weights[4] = {-1.25, 0.75, -0.125, 0.03125};
  double **a = square(N), **b = square(N);

  for (int i = 0; i < (NX + 6) * (NY + 6); i++)
    density[i] = i * i % 101;
  for (int i = 0; i < N * N; i++)
    u[i] = v[i] = (float)(i * 31 % 97);
  for (int depth = 1; depth <= 3; depth++) {
    for (int i = 0; i < (NX + 6) * (NY + 6); i++)
      density[i] += i % 7;
    update_halo(1, NX, 1, NY, depth, density);
    show("density", density, sizeof density);
  }
  for (int r = 1; r <= 8; r += 3)
    blur(N, N, r, r % 2 ? u : v, r % 2 ? v : u);
  show("u", u, sizeof u);
  show("v", v, sizeof v);
  for (int half = 1; half <= 3; half++)
    printf("%.17g\n", derive(N, half, weights, half % 2 ? a : b, half % 2 ? b : a));
  for (int i = 0; i < N; i++) {
    show("a", a[i], N * sizeof **a);
    show("b", b[i], N * sizeof **b);
  }
  return 0;
}
