/* Numbers that cells look up: materials by a byte, a tabulated function, a table of a struct, with
 * two subscripts, behind a pointer, local to a caller; one that changes between steps. Structs that
 * memcpy copies. */
#include "show.h"

#include <stdlib.h>
#include <string.h>

#define N 14
typedef struct material {
  float eps, sigma;
} material;
typedef struct gas {
  double rho, mx;
} gas;
static const material materials[3] = {{1, 0}, {4, 0.25f}, {2.25f, 0.5f}};
static unsigned char mat[N][N];
static float ez[N][N], hx[N][N], loss[3];
static double pressure[17];
static int rule[3][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};
static int cells[N][N], next[N][N];
static gas a[N][N], b[N][N];

static double pressure_of(double rho)
{
  double x = rho * 4;
  int k = (int)x;

  if (k > 15) k = 15;
  x -= k;
  return (1 - x) * pressure[k] + x * pressure[k + 1];
}

/* A table of the caller, whose length is not known here. */
static void turn(const short *by)
{
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      cells[j][i] = (cells[j][i] + by[mat[j][i]]) % 3;
}

int main(void)
{
  short shifts[3];
  unsigned char *curve = malloc(64), *image = malloc(N * N), *out = malloc(N * N);

  for (int m = 0; m < 3; m++)
    loss[m] = 1 / (1 + materials[m].sigma);
  for (int k = 0; k < 17; k++)
    pressure[k] = k * k / 16.0;
  for (int m = 0; m < 3; m++)
    shifts[m] = 2 - m;
  for (int k = 0; k < 64; k++)
    curve[k] = 255 - k * 3;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      mat[j][i] = (i * j + i) % 3;
      cells[j][i] = (i + 2 * j) % 3;
      hx[j][i] = i - j;
      image[j * N + i] = (j * 5 + i * 3) % 64;
      a[j][i].rho = 1 + (i * 3 + j) % 5 * 0.5;
      a[j][i].mx = 0.125 * i;
    }
#pragma ambit
  for (int t = 0; t < 8; t++) {
    for (int j = 1; j < N; j++)
      for (int i = 0; i < N; i++) {
        int m = mat[j][i];

        ez[j][i] = loss[m] * ez[j][i] + (hx[j][i] - hx[j - 1][i]) / materials[m].eps;
      }
    for (int j = 1; j < N; j++)
      for (int i = 1; i < N; i++)
        next[j][i] = rule[cells[j][i]][cells[j - 1][i - 1]];
    memcpy(cells, next, sizeof cells);
    turn(shifts);
    if (t == 4) loss[1] = 0.75f;
  }
#pragma ambit
  for (int p = 0; p < N * N; p++)
    out[p] = curve[image[p]];
#pragma ambit
  for (int t = 0; t < 5; t++) {
    for (int j = 1; j < N - 1; j++)
      for (int i = 1; i < N - 1; i++) {
        b[j][i].rho =
            0.5 * (a[j][i + 1].rho + a[j][i - 1].rho) - 0.125 * (a[j + 1][i].mx - a[j - 1][i].mx);
        b[j][i].mx =
            a[j][i].mx - 0.125 * (pressure_of(a[j][i + 1].rho) - pressure_of(a[j][i - 1].rho));
      }
    memcpy(a, b, sizeof a);
  }
  show("ez", ez, sizeof ez);
  show("cells", cells, sizeof cells);
  show("out", out, N * N);
  show("a", a, sizeof a);
  return 0;
}
