/* Edges by conditions: corners, sides and the inside in one nest (Rodinia's hotspot), and ternaries of values in 3-D. */
#include "show.h"

#include <stdlib.h>

static float max_of(float a, float b)
{
  return a > b ? a : b;
}

static void single(float *result, float *temp, float *power, int row, int col, float cap, float rx,
                   float ry, float rz)
{
  int r, c;
  float delta;

#pragma ambit
  for (r = 0; r < row; r++)
    for (c = 0; c < col; c++) {
      if ((r == 0) && (c == 0))
        delta = cap * (power[0] + (temp[1] - temp[0]) * rx + (temp[col] - temp[0]) * ry +
                       (80.0 - temp[0]) * rz);
      else if ((r == 0) && (c == col - 1))
        delta = cap * (power[c] + (temp[c - 1] - temp[c]) * rx + (temp[c + col] - temp[c]) * ry +
                       (80.0 - temp[c]) * rz);
      else if ((r == row - 1) && (c == col - 1))
        delta = cap * (power[r * col + c] + (temp[r * col + c - 1] - temp[r * col + c]) * rx +
                       (temp[(r - 1) * col + c] - temp[r * col + c]) * ry +
                       (80.0 - temp[r * col + c]) * rz);
      else if ((r == row - 1) && (c == 0))
        delta = cap * (power[r * col] + (temp[r * col + 1] - temp[r * col]) * rx +
                       (temp[(r - 1) * col] - temp[r * col]) * ry + (80.0 - temp[r * col]) * rz);
      else if (r == 0)
        delta = cap * (power[c] + (temp[c + 1] + temp[c - 1] - 2.0 * temp[c]) * rx +
                       (temp[col + c] - temp[c]) * ry + (80.0 - temp[c]) * rz);
      else if (c == col - 1)
        delta =
            cap *
            (power[r * col + c] +
             (temp[(r + 1) * col + c] + temp[(r - 1) * col + c] - 2.0 * temp[r * col + c]) * ry +
             (temp[r * col + c - 1] - temp[r * col + c]) * rx + (80.0 - temp[r * col + c]) * rz);
      else if (r == row - 1)
        delta =
            cap *
            (power[r * col + c] +
             (temp[r * col + c + 1] + temp[r * col + c - 1] - 2.0 * temp[r * col + c]) * rx +
             (temp[(r - 1) * col + c] - temp[r * col + c]) * ry + (80.0 - temp[r * col + c]) * rz);
      else if (c == 0)
        delta = cap * (power[r * col] +
                       (temp[(r + 1) * col] + temp[(r - 1) * col] - 2.0 * temp[r * col]) * ry +
                       (temp[r * col + 1] - temp[r * col]) * rx + (80.0 - temp[r * col]) * rz);
      else
        delta =
            cap *
            (power[r * col + c] +
             (temp[(r + 1) * col + c] + temp[(r - 1) * col + c] - 2.f * temp[r * col + c]) * ry +
             (temp[r * col + c + 1] + temp[r * col + c - 1] - 2.f * temp[r * col + c]) * rx +
             (80.0 - temp[r * col + c]) * rz);
      result[r * col + c] = temp[r * col + c] + max_of(delta, -1.5f);
    }
}

static void three(const float *in, float *out, int nx, int ny, int nz)
{
#pragma ambit
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++) {
        int c = x + y * nx + z * nx * ny;
        int w = (x == 0) ? c : c - 1, e = (x == nx - 1) ? c : c + 1;
        int n = (y == 0) ? c : c - nx, s = (y == ny - 1) ? c : c + nx;

        out[c] = in[c] + 0.1f * (in[w] + in[e] + in[n] + in[s] - 4 * in[c]) +
                 0.05f * ((z > 0 ? in[c - nx * ny] : in[c]) - (z + 1 < nz ? in[c + nx * ny] : 0));
      }
}

int main(void)
{
  int row = 19, col = 24, nz = 5;
  float *t = malloc(sizeof(float) * row * col * nz), *p = malloc(sizeof(float) * row * col * nz),
        *r = malloc(sizeof(float) * row * col * nz);

  for (int k = 0; k < row * col * nz; k++) {
    t[k] = 300 + k % 29;
    p[k] = k % 7 * 0.01f;
    r[k] = 0;
  }
  for (int i = 0; i < 6; i++) {
    float *s;

    single(r, t, p, row, col, 0.01f, 0.3f, 0.2f, 0.1f);
    s = t, t = r, r = s;
  }
  show("t", t, sizeof(float) * row * col);
  for (int i = 0; i < 5; i++) {
    three(t, r, col, row, nz);
    three(r, t, col, row, nz);
  }
  show("t", t, sizeof(float) * row * col * nz);
  free(t);
  free(p);
  free(r);
  return 0;
}
