/* Runge-Kutta with variable-length array parameters and buffers swapped by pointers; a receiver and a source in the loop; a picture of
 * bytes that is thresholded in place; globals behind functions. */
#include <stdlib.h>
#include <string.h>

#include "show.h"

static double k1[17][21], k2[17][21], stage[17][21];

static double rate(int n, int m, double f[n][m], int j, int i)
{
  return f[j - 1][i] + f[j + 1][i] + f[j][i - 1] + f[j][i + 1] - 4 * f[j][i];
}

#pragma ambit
static void slope(int n, int m, double f[n][m], double k[n][m])
{
  for (int j = 1; j < n - 1; j++)
    for (int i = 1; i < m - 1; i++)
      k[j][i] = rate(n, m, f, j, i);
}

#pragma ambit
static void combine(int n, int m, double to[n][m], double f[n][m], double a, double k[n][m],
                    double b, double l[n][m])
{
  for (int j = 1; j < n - 1; j++)
    for (int i = 1; i < m - 1; i++)
      to[j][i] = f[j][i] + a * k[j][i] + b * l[j][i];
}

#pragma ambit
static void heun(int n, int m, double (*f)[m], double (*g)[m], int steps, double *trace)
{
  for (int t = 0; t < steps; t++) {
    double(*swap)[m];

    slope(n, m, f, k1);
    memcpy(stage, f, sizeof stage);
    combine(n, m, stage, f, 0.1, k1, 0, k1);
    slope(n, m, stage, k2);
    combine(n, m, g, f, 0.05, k1, 0.05, k2);
    swap = f;
    f = g;
    g = swap;
    f[8][10] += 0.5 * (t % 3);
    trace[t] = f[4][5];
  }
}

static unsigned char image[31][40], mask[31][40];
static int width = 40, height = 31;

#pragma ambit
static int threshold(unsigned char level)
{
  int changed = 0;

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const int up = y ? y - 1 : 0, down = y < height - 1 ? y + 1 : height - 1;
      const int sum = image[up][x] + image[down][x] + 2 * image[y][x];

      mask[y][x] = sum > 4 * level ? 255 : (unsigned char)(sum / 4);
      if (mask[y][x] != image[y][x]) changed++;
    }
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      image[y][x] = mask[y][x];
  return changed;
}

int main(void)
{
  double(*f)[21] = calloc(17, sizeof *f), (*g)[21] = calloc(17, sizeof *g), trace[13];

  for (int j = 0; j < 17; j++)
    for (int i = 0; i < 21; i++)
      f[j][i] = g[j][i] = (j * i) % 6;
  heun(17, 21, f, g, 13, trace);
  show("f", f, 17 * sizeof *f);
  show("g", g, 17 * sizeof *g);
  show("k1", k1, sizeof k1);
  show("stage", stage, sizeof stage);
  show("trace", trace, sizeof trace);
  for (int y = 0; y < 31; y++)
    for (int x = 0; x < 40; x++)
      image[y][x] = (unsigned char)(y * 37 + x * 11);
  for (int t = 0, n = 1; t < 12 && n; t++)
    printf("%d ", n = threshold((unsigned char)(200 - 5 * t)));
  show("image", image, sizeof image);
  show("mask", mask, sizeof mask);
  free(f);
  free(g);
  return 0;
}
