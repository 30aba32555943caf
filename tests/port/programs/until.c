/* Loops that end when a change is small and do nothing else: they run in one go. Swaps, copies, three levels, a limit that is met first. */
#include "show.h"
#include <math.h>
#include <stdlib.h>
#define N 22

static double a[N][N], b[N][N];

static void copy_back(void)
{
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      a[i][j] = b[i][j];
}

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 25, most = argc > 2 ? atoi(argv[2]) : 400;
  const double tol = argc > 3 ? atof(argv[3]) : 1e-2;
  double *u = malloc(n * n * sizeof *u), *v = malloc(n * n * sizeof *v), *swap, error = 1;
  float *p = malloc(n * sizeof *p), *q = malloc(n * sizeof *q), *r = malloc(n * sizeof *r), change;
  int iter = 0, rounds = 0;

  for (int k = 0; k < n * n; k++)
    u[k] = v[k] = k < n ? 100 : k % 3;
  for (int k = 0; k < n; k++)
    p[k] = q[k] = r[k] = k % 5;
  for (int k = 0; k < N * N; k++)
    (&a[0][0])[k] = (&b[0][0])[k] = k % 11;
#pragma ambit must
  while (error > tol && iter < most) {
    error = 0.0;
    for (int j = 1; j < n - 1; j++)
      for (int i = 1; i < n - 1; i++) {
        v[j * n + i] =
            0.25 * (u[j * n + i - 1] + u[j * n + i + 1] + u[(j - 1) * n + i] + u[(j + 1) * n + i]);
        error = fmax(error, fabs(v[j * n + i] - u[j * n + i]));
      }
    swap = u;
    u = v;
    v = swap;
    iter++;
  }
  printf("%d %.17g\n", iter, error);
  show("u", u, n * n * sizeof *u);
  show("v", v, n * n * sizeof *v);
#pragma ambit must
  for (rounds = 0; rounds < most; rounds++) {
    double worst = 0;

    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        b[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        if (fabs(b[i][j] - a[i][j]) > worst) worst = fabs(b[i][j] - a[i][j]);
      }
    copy_back();
    if (worst < tol) break;
  }
  printf("%d\n", rounds);
  show("a", a, sizeof a);
  rounds = 0;
#pragma ambit must
  do {
    float *first = p;

    change = 0;
    for (int i = 1; i < n - 1; i++) {
      r[i] = 0.4f * q[i] + 0.1f * (q[i - 1] + q[i + 1]) + 0.4f * p[i];
      change = fmaxf(change, fabsf(r[i] - q[i]));
    }
    p = q;
    q = r;
    r = first;
  } while (change > (float)tol && ++rounds < most);
  printf("%d %.9g\n", rounds, change);
  show("p", p, n * sizeof *p);
  show("q", q, n * sizeof *q);
  show("r", r, n * sizeof *r);
  double rest = 1;
  rounds = 0;
#pragma ambit must
  while (rest > 1e-12 &&
         rounds < most) { /* most is met first; edges are filled behind the result */
    rest = 0;
    for (int j = 1; j < n - 1; j++)
      for (int i = 1; i < n - 1; i++) {
        v[j * n + i] = 0.9 * u[j * n + i] + 0.02 * (u[j * n + i - 1] + u[(j - 1) * n + i]);
        double d = fabs(v[j * n + i] - u[j * n + i]);
        if (d > rest) rest = d;
      }
    for (int i = 0; i < n; i++)
      v[i] = v[n + i];
    swap = u;
    u = v;
    v = swap;
    rounds++;
  }
  printf("%d %.17g\n", rounds, rest);
  show("u", u, n * n * sizeof *u);
  return 0;
}
