/* Short loops with a constant table, size_t loops, a struct of an image, bytes. */
#include "show.h"
#include <stddef.h>
#include <stdlib.h>
static const float kernel[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
typedef struct image {
  size_t w, h;
  float *data;
} image;
#pragma ambit
static void blur(const image *in, image *out)
{
  for (size_t y = 0; y < in->h; ++y)
    for (size_t x = 2; x < in->w - 2; ++x) {
      float s = 0;
      for (int k = -2; k <= 2; k++)
        s += kernel[k + 2] * in->data[y * in->w + x + k];
      out->data[y * in->w + x] = s;
    }
}
static void filter(unsigned char (*img)[40], unsigned char (*res)[40], int n)
{
#pragma ambit
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < 39; j++) {
      int sum = 0;
      for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++)
          sum += img[i + di][j + dj];
      res[i][j] = sum / 9;
    }
}
int main(void)
{
  image a = {37, 22, 0}, b = {37, 22, 0};
  static unsigned char m[30][40], r[30][40];
  a.data = malloc(37 * 22 * sizeof(float));
  b.data = calloc(37 * 22, sizeof(float));
  for (int i = 0; i < 37 * 22; i++)
    a.data[i] = i % 13;
  for (int i = 0; i < 1200; i++)
    ((unsigned char *)m)[i] = i * 7;
  blur(&a, &b);
  blur(&b, &a);
  filter(m, r, 30);
  show("a", a.data, 37 * 22 * sizeof(float));
  show("r", r, sizeof r);
  free(a.data);
  free(b.data);
  return 0;
}
