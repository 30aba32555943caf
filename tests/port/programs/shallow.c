/* Shallow water: continue in a nest, memcpy between steps, a time step from a maximum, do-while. */
#include "show.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define NX 40
#define NY 30
typedef double field[NY + 2][NX + 2];
static field h, hu, hv, hn, hun, hvn;
static double dt = 0.01, dx = 0.5, g = 9.81;
static void bc(field q, double sign)
{
  int i, j;
  for (j = 0; j <= NY + 1; j++) {
    q[j][0] = sign * q[j][1];
    q[j][NX + 1] = sign * q[j][NX];
  }
  for (i = 0; i <= NX + 1; i++) {
    q[0][i] = q[1][i];
    q[NY + 1][i] = q[NY][i];
  }
}
static double maxspeed(void)
{
  double m = 0.0;
  for (int j = 1; j <= NY; j++)
    for (int i = 1; i <= NX; i++) {
      double c = sqrt(g * h[j][i]) + fabs(hu[j][i] / h[j][i]);
      m = c > m ? c : m;
    }
  return m;
}
static void update(void)
{
  for (int j = 1; j <= NY; j++)
    for (int i = 1; i <= NX; i++) {
      double hl = h[j][i - 1], hr = h[j][i + 1];
      if (hl < 0.1 || hr < 0.1) {
        hn[j][i] = h[j][i];
        hun[j][i] = 0.0;
        continue;
      }
      hn[j][i] = 0.25 * (hl + hr + h[j - 1][i] + h[j + 1][i]) -
                 dt / (2 * dx) * (hu[j][i + 1] - hu[j][i - 1]);
      hun[j][i] = hu[j][i] - dt / (2 * dx) * (hr * hr - hl * hl) * g / 2;
      hvn[j][i] = hv[j][i] * (1 - dt);
    }
}
int main(void)
{
  double t = 0;
  int it = 0;
  for (int j = 0; j < NY + 2; j++)
    for (int i = 0; i < NX + 2; i++) {
      h[j][i] = 1 + (i > 10 && i < 15) * 0.5;
      hv[j][i] = j * 0.1;
      hvn[j][i] = 0;
    }
#pragma ambit
  do {
    dt = 0.3 * dx / maxspeed();
    bc(h, 1);
    bc(hu, -1);
    update();
    memcpy(h, hn, sizeof h);
    memcpy(hu, hun, sizeof hu);
    t += dt;
    it++;
  } while (t < 0.5);
  printf("%d %.17g\n", it, t);
  show("h", h, sizeof h);
  show("hu", hu, sizeof hu);
  show("hvn", hvn, sizeof hvn);
  return 0;
}
