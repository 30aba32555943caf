/* SPDX-License-Identifier: BSD-3-Clause */
/* Red and black in place, and with a second field where the library sees no colour, or a boundary. */
#include "show.h"

static double u[20][24], v[20][24], w[20][24];

int main(void)
{
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      u[i][j] = (i * j) % 7, v[i][j] = i + j, w[i][j] = 1;
#pragma ambit must
  for (int t = 0; t < 4; t++) {
    for (int c = 0; c < 2; c++) {
      for (int i = 1; i < 19; i++)
        for (int j = 1; j < 23; j++)
          if ((3 * i + j + c) % 2 == 0)
            u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
      for (int i = 1; i < 19; i++)
        for (int j = 1; j < 23; j++)
          if ((i + j) % 2 == c)
            v[i][j] += 0.25 * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + u[i][j + 1]) - v[i][j];
      for (int i = 1; i < 19; i++)
        for (int j = 0; j < 24; j++)
          if ((i + j) % 2 == c) w[i][j] += 0.25 * (w[i - 1][j] + w[i + 1][j]);
    }
    for (int i = 0; i < 20; i++)
      for (int j = 0; j < 24; j++)
        u[i][j] = w[i][(j + 1) % 24] + w[i][(j + 23) % 24];
    for (int i = 1; i < 19; i += 2)
      for (int j = 1; j < 23; j++)
        v[i][j] = v[i - 1][j] + v[i + 1][j];
  }
  show("u", u, sizeof u);
  show("v", v, sizeof v);
  show("w", w, sizeof w);
  return 0;
}
