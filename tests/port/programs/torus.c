/* Red and black on a torus: neighbours round both edges, of even extents; colours by == and by continue. */
#include <stdint.h>
#include <stdlib.h>

#include "show.h"

#define L 24

static int8_t s[L][L];
static uint32_t state[L][L];

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 20, m = argc > 2 ? atoi(argv[2]) : 26;
  const float w[5] = {1, 1, 0.9f, 0.25f, 0.0625f};
  double *u = malloc(n * m * sizeof *u);
  int moved = 0;

  for (int k = 0; k < n * m; k++)
    u[k] = k * 37 % 101 * 0.01;
  for (int k = 0; k < L * L; k++) {
    s[k / L][k % L] = k * 3 % 4 < 2 ? 1 : -1;
    state[k / L][k % L] = 2463534242u + 977u * k;
  }
#pragma ambit must
  for (int t = 0; t < 6; t++)
    for (int c = 0; c < 2; c++) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
          if ((i + j) % 2 == c)
            u[i * m + j] = 0.3 * u[i * m + j] +
                           0.175 * (u[(i + 1) % n * m + j] + u[(i - 1 + n) % n * m + j] +
                                    u[i * m + (j + 1) % m] + u[i * m + (j == 0 ? m - 1 : j - 1)]);
      for (int i = 0; i < L; i++)
        for (int j = 0; j < L; j++) {
          if ((i + j) % 2 != c) continue;
          int up = i == 0 ? L - 1 : i - 1, down = i == L - 1 ? 0 : i + 1;
          int h = s[i][j] * (s[up][j] + s[down][j] + s[i][(j + L - 1) % L] + s[i][(j + 1) % L]);
          uint32_t x = state[i][j];

          x ^= x << 13;
          x ^= x >> 17;
          x ^= x << 5;
          state[i][j] = x;
          if ((float)(x >> 8) * (1.f / 16777216.f) < w[(h + 4) / 2]) {
            s[i][j] = -s[i][j];
            moved++;
          }
        }
    }
  printf("%d\n", moved);
  show("u", u, n * m * sizeof *u);
  show("s", s, sizeof s);
  show("state", state, sizeof state);
  return 0;
}
