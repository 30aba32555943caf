/* Edges by conditions: corners, sides and the inside in one nest, and values chosen at the faces of a 3-D array. */
#include "show.h"

#include <stdlib.h>

static float limited(float x, float most)
{
  return x > most ? most : x;
}

/* Heat flows to the neighbours there are; corners and sides are cases of their own. */
static void plate(const float *q, float *r, int h, int w, float k)
{
  int y, x;
  float flow;

#pragma ambit
  for (y = 0; y < h; y++)
    for (x = 0; x < w; x++) {
      const int p = y * w + x;

      if (y == 0 && x == 0)
        flow = q[1] + q[w] - 2 * q[0];
      else if (y == 0 && x == w - 1)
        flow = q[x - 1] + q[w + x] - 2 * q[x];
      else if (y == h - 1 && x == 0)
        flow = q[p + 1] + q[p - w] - 2 * q[p];
      else if (y == h - 1 && x == w - 1)
        flow = q[p - 1] + q[p - w] - 2 * q[p];
      else if (y == 0)
        flow = q[x - 1] + q[x + 1] + q[w + x] - 3 * q[x];
      else if (y == h - 1)
        flow = q[p - 1] + q[p + 1] + q[p - w] - 3 * q[p];
      else if (x == 0)
        flow = q[p + 1] + q[p - w] + q[p + w] - 3 * q[p];
      else if (x == w - 1)
        flow = q[p - 1] + q[p - w] + q[p + w] - 3 * q[p];
      else
        flow = q[p - 1] + q[p + 1] + q[p - w] + q[p + w] - 4 * q[p];
      r[p] = q[p] + limited(k * flow, 2.5f);
    }
}

static void block(const float *q, float *r, int w, int h, int d)
{
#pragma ambit
  for (int z = 0; z < d; z++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        int p = x + y * w + z * w * h;
        int left = (x == 0) ? p : p - 1, right = (x == w - 1) ? p : p + 1;
        int back = (y == 0) ? p : p - w, front = (y == h - 1) ? p : p + w;

        r[p] = q[p] + 0.1f * (q[left] + q[right] + q[back] + q[front] - 4 * q[p]) +
               0.05f * ((z > 0 ? q[p - w * h] : q[p]) - (z + 1 < d ? q[p + w * h] : 0));
      }
}

int main(void)
{
  int h = 19, w = 24, d = 5, n = h * w * d;
  float *q = malloc(sizeof(float) * n), *r = malloc(sizeof(float) * n), *s;

  for (int i = 0; i < n; i++)
    q[i] = r[i] = 300 + i % 29;
  for (int i = 0; i < 6; i++) {
    plate(q, r, h, w, 0.125f);
    s = q, q = r, r = s;
  }
  show("plate", q, sizeof(float) * h * w);
  for (int i = 0; i < 5; i++) {
    block(q, r, w, h, d);
    block(r, q, w, h, d);
  }
  show("block", q, sizeof(float) * n);
  free(q);
  free(r);
  return 0;
}
