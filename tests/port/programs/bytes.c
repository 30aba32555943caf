/* Integers that kernels do not have: signed bytes, _Bool, unsigned short, unsigned int, enum. */
#include "show.h"
#include <stdbool.h>
#include <stdint.h>
#define N 40

enum kind { FLUID, WALL, INFLOW };
static signed char a[N], b[N];
static uint16_t h[N], g[N];
static uint32_t r[N], q[N];
static bool f[N], e[N];
static enum kind k[N];
static unsigned char pixels[N][N], out[N][N];

int main(void)
{
  unsigned count = 0;
  size_t total = 0;

  for (int i = 0; i < N; i++) {
    a[i] = i * 7;
    h[i] = i * 3001;
    r[i] = i * 2654435761u;
    f[i] = i % 3 == 0;
    k[i] = i % 3;
    for (int j = 0; j < N; j++)
      pixels[i][j] = i * j;
  }
#pragma ambit must
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < N - 1; i++)
      b[i] = (a[i - 1] + a[i + 1]) / 2 - a[i] * 3;
    for (int i = 1; i < N - 1; i++) {
      g[i] = h[i - 1] + h[i + 1];
      g[i] >>= 1;
      g[i] -= 20000;
    }
    for (int i = 1; i < N - 1; i++) {
      uint32_t x = r[i] ^ (r[i - 1] << 13);

      x ^= x >> 17;
      x = x * 1664525u + 1013904223u;
      if (x > 3000000000u) count++;
      total += x % 7u;
      q[i] = x - r[i + 1];
    }
    for (int i = 1; i < N - 1; i++) {
      bool any = f[i - 1] || f[i + 1];

      any ^= f[i];
      e[i] = any + 2;
    }
    for (int i = 1; i < N - 1; i++)
      if (k[i] == FLUID && k[i + 1] != WALL) a[i] = (signed char)b[i] + (k[i - 1] == INFLOW);
    for (int i = 0; i < N; i++) {
      h[i] = g[i];
      r[i] = q[i];
      f[i] = e[i];
    }
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        unsigned s = 0;

        for (int y = -1; y <= 1; y++)
          for (int x = -1; x <= 1; x++)
            s += pixels[i + y][j + x];
        out[i][j] = s / 9;
      }
  }
  printf("%u %zu\n", count, total);
  show("a", a, sizeof a);
  show("b", b, sizeof b);
  show("h", h, sizeof h);
  show("r", r, sizeof r);
  show("f", f, sizeof f);
  show("out", out, sizeof out);
  return 0;
}
