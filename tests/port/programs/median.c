/* Windows of neighbours: sorted, with a running index, with bounds that move with the cell; switch; arrays given to functions. */
#include "show.h"
#include <math.h>
#define W 25
#define H 19
#define SORT(a, b)                                                                                 \
  if ((a) > (b)) {                                                                                 \
    unsigned char t = a;                                                                           \
    a = b;                                                                                         \
    b = t;                                                                                         \
  }

enum { AIR, WATER, ROCK };
static unsigned char in[H][W], middle[H][W], lowest[H][W], kind[H][W];
static double t[H][W], n[H][W], u[H][W][2];

static void flux(const double *v, double f[2])
{
  f[0] = v[1] * v[1];
  f[1] = v[0] - v[1];
}

int main(void)
{
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++) {
      in[i][j] = (i * 57 + j * 91) % 251;
      kind[i][j] = (i * 3 + j) % 3;
      t[i][j] = i + j;
      u[i][j][0] = i % 3;
      u[i][j][1] = j % 5;
    }
#pragma ambit must
  {
    for (int i = 1; i < H - 1; i++)
      for (int j = 1; j < W - 1; j++) {
        unsigned char v[9];
        int k = 0;

        for (int y = -1; y <= 1; y++)
          for (int x = -1; x <= 1; x++)
            v[k++] = in[i + y][j + x];
        for (int a = 0; a < 5; a++)
          for (int b = a + 1; b < 9; b++)
            SORT(v[a], v[b])
        middle[i][j] = v[4];
      }
    for (int i = 1; i < H - 1; i++)
      for (int j = 1; j < W - 1; j++) {
        int least = 255;

        for (int y = i - 1; y <= i + 1; y++)
          for (int x = j - 1; x <= j + 1; x++)
            least = in[y][x] < least ? in[y][x] : least;
        lowest[i][j] = least;
      }
    for (int i = 1; i < H - 1; i++)
      for (int j = 1; j < W - 1; j++) {
        double c, e[2], w[2];

        switch (kind[i][j]) {
        case AIR: c = 0.1; break;
        case ROCK:
        case WATER:
          c = 0.2;
          if (t[i][j] > 20) c = 0.15;
          break;
        default: c = 0.05;
        }
        flux(u[i][j + 1], e);
        flux(u[i][j - 1], w);
        n[i][j] = t[i][j] + c * (t[i - 1][j] + t[i + 1][j] - 2 * t[i][j]) + e[0] - w[1];
      }
  }
  show("middle", middle, sizeof middle);
  show("lowest", lowest, sizeof lowest);
  show("n", n, sizeof n);
  return 0;
}
