/* Indices that are kept inside an array from any distance: by a function, by two conditions, by macros. */
#include "show.h"
#define W         26
#define H         17
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static float u[H][W], v[H][W];
static double line[H * W], out[H * W];
static const float g[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

static int clamp(int x, int lo, int hi)
{
  return x < lo ? lo : x > hi ? hi : x;
}

int main(void)
{
  for (int i = 0; i < H * W; i++) {
    u[i / W][i % W] = i * 7 % 31;
    line[i] = i * 5 % 23;
  }
#pragma ambit must
  for (int t = 0; t < 3; t++) {
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        float s = 0;

        for (int k = -2; k <= 2; k++)
          s += g[k + 2] * u[y][clamp(x + k, 0, W - 1)];
        v[y][x] = s;
      }
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        float s = 0;

        for (int k = -2; k <= 2; k++)
          s += g[k + 2] * v[MAX(0, MIN(y + k, H - 1))][x];
        u[y][x] = s + v[MIN(H - 1, MAX(y - 3, 0))][x];
      }
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        double s = 0;

        for (int j = -1; j <= 1; j++)
          for (int k = -3; k <= 3; k += 3) {
            int yy = y + j, xx = x + k;

            if (yy < 0) yy = 0;
            if (yy >= H) yy = H - 1;
            xx = xx > 0 ? xx : 0;
            xx = xx <= W - 1 ? xx : W - 1;
            s += line[yy * W + xx] * (k + 2 * j);
          }
        out[y * W + x] = 0.125 * s;
      }
  }
  show("u", u, sizeof u);
  show("v", v, sizeof v);
  show("out", out, sizeof out);
  return 0;
}
