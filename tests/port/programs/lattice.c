/* A lattice gas: planes f[q], offsets and weights from constant tables, pull and push, loops over q at any depth. */
#include "show.h"
#define NX 21
#define NY 15
#define Q  9

static double f[Q][NY][NX], g[Q][NY][NX], rho[NY][NX];
static const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static double w[Q] = {4.0 / 9,  1.0 / 9,  1.0 / 9,  1.0 / 9, 1.0 / 9,
                      1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};

static double equilibrium(int q, double r, double u, double v)
{
  const double cu = 3.0 * (cx[q] * u + cy[q] * v);

  return w[q] * r * (1.0 + cu + 0.5 * cu * cu - 1.5 * (u * u + v * v));
}

static void collide(void)
{
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++) {
      double r = 0, u = 0, v = 0;

      for (int q = 0; q < Q; q++) {
        r += f[q][y][x];
        u += cx[q] * f[q][y][x];
        v += cy[q] * f[q][y][x];
      }
      rho[y][x] = r;
      for (int q = 0; q < Q; q++)
        f[q][y][x] -= (f[q][y][x] - equilibrium(q, r, u / r, v / r)) / 0.7;
    }
}

static void pull(void)
{
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++)
      for (int q = 0; q < Q; q++) {
        const int xs = (x - cx[q] + NX) % NX, ys = (y - cy[q] + NY) % NY;

        g[q][y][x] = f[q][ys][xs];
      }
}

static void push(void)
{
  for (int q = 0; q < Q; q++)
    for (int y = 1; y < NY - 1; y++)
      for (int x = 1; x < NX - 1; x++)
        f[q][y + cy[q]][x + cx[q]] = g[q][y][x];
}

int main(void)
{
  for (int q = 0; q < Q; q++)
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++)
        f[q][y][x] = w[q] * (1 + 0.01 * ((x * 3 + y * 5) % 7));
#pragma ambit must
  for (int t = 0; t < 3; t++) {
    collide();
    pull();
    push();
  }
  show("f", f, sizeof f);
  show("g", g, sizeof g);
  show("rho", rho, sizeof rho);
  return 0;
}
