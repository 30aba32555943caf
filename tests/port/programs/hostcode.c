/* Host code inside the time loop: a source term, a monitor, a file, memcpy, a pointer into the array, local arrays. */
#include "show.h"

#include <stdlib.h>
#include <string.h>

static double total(const double *u, int n)
{
  double s = 0;

  for (int i = 0; i < n; i++)
    s += u[i];
  return s;
}

static void relax(double *u, int n, int times)
{
  double v[n];

  memcpy(v, u, sizeof v);
#pragma ambit
  for (int t = 0; t < times; t++) {
    for (int i = 1; i < n - 1; i++)
      v[i] = (u[i - 1] + 2 * u[i] + u[i + 1]) * 0.25;
    for (int i = 1; i < n - 1; i++)
      u[i] = (v[i - 1] + 2 * v[i] + v[i + 1]) * 0.25;
  }
}

int main(void)
{
  int n = 103;
  double *u = calloc(n, sizeof *u), history[20], *middle = u + n / 2;

  for (int t = 0; t < 20; t++) {
    u[10] += 1;
    *middle = t;
    relax(u, n, 3);
    history[t] = total(u, n);
    if (t % 6 == 0) {
      for (double *p = u; p < u + 4; p++)
        printf("%.17g ", *p);
      printf("\n");
    }
    if (u[11] > 3) u[11] = 0;
  }
  for (int t = 0; t < 20; t++)
    printf("%.17g\n", history[t]);
  show("u", u, n * sizeof *u);
  free(u);
  return 0;
}
