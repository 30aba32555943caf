/* Neighbours from tables that the host fills: clamped, periodic, and with a reach of two; two sums in one nest. */
#include "show.h"
#include <stdlib.h>

typedef struct mesh {
  int rows, cols;
  int *north, *south;
  long *west, *east;
  float *image, *c;
} mesh;

static void flux(mesh *m, float *d)
{
#pragma ambit must
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++) {
      const int k = i * m->cols + j;
      const float here = m->image[k];

      d[k] = m->image[m->north[i] * m->cols + j] - 2 * here + m->image[m->south[i] * m->cols + j];
      m->c[k] = 0.5f * (m->image[i * m->cols + m->west[j]] - m->image[i * m->cols + m->east[j]]);
    }
}

int main(int argc, char **argv)
{
  const int rows = argc > 2 ? atoi(argv[1]) : 14, cols = argc > 2 ? atoi(argv[2]) : 19,
            n = rows * cols;
  mesh m = {rows,
            cols,
            malloc(rows * sizeof(int)),
            malloc(rows * sizeof(int)),
            malloc(cols * sizeof(long)),
            malloc(cols * sizeof(long)),
            malloc(n * sizeof(float)),
            calloc(n, sizeof(float))};
  float *d = calloc(n, sizeof *d), sum = 0, sum2 = 0;
  static double line[40], out[40];
  static int two[40];

  for (int i = 0; i < rows; i++) {
    m.north[i] = i ? i - 1 : 0;
    m.south[i] = i + 1 < rows ? i + 1 : rows - 1;
  }
  for (int j = 0; j < cols; j++) {
    m.west[j] = (j + cols - 1) % cols;
    m.east[j] = (j + 1) % cols;
  }
  for (int i = 0; i < 40; i++) {
    two[i] = i + 2 < 40 ? i + 2 : i + 2 - 40;
    line[i] = i * 7 % 11;
  }
  for (int k = 0; k < n; k++)
    m.image[k] = k * 37 % 101;
#pragma ambit must
  for (int t = 0; t < 4; t++) {
    flux(&m, d);
    for (int k = 0; k < n; k++)
      m.image[k] += 0.1f * d[k] + 0.01f * m.c[k];
    for (int k = 0; k < n; k++) {
      sum += m.image[k];
      sum2 += m.image[k] * m.image[k];
    }
    for (int i = 0; i < 40; i++)
      out[i] = line[two[i]] - line[i];
    for (int i = 0; i < 40; i++)
      line[i] = out[i];
  }
  printf("%.9g %.9g\n", sum, sum2);
  show("image", m.image, n * sizeof(float));
  show("d", d, n * sizeof(float));
  show("c", m.c, n * sizeof(float));
  show("line", line, sizeof line);
  return 0;
}
