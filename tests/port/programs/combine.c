/* Members of structs that one nest names and another one goes over; a combination whose result is
 * one of its operands. */
#include "show.h"

#include <math.h>

#define NS 3
#define N  12
typedef double plane[N][N];
typedef struct state {
  plane c[NS];
} state;
static state now, mid, rate;

static void rates(const state *s, state *r)
{
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      const int jp = (j + 1) % N, im = i > 0 ? i - 1 : N - 1;
      const double x = s->c[0][j][i], y = s->c[1][j][i], z = s->c[2][j][i];

      r->c[0][j][i] = x * (1 - y) + s->c[0][jp][i];
      r->c[1][j][i] = y * (x - z) + s->c[1][j][im];
      r->c[2][j][i] = z * (y - 0.5) - s->c[2][jp][i];
    }
}

static void advance(state *to, const state *from, const state *r, const double *weight, double dt)
{
  for (int q = 0; q < NS; q++)
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++)
        to->c[q][j][i] = from->c[q][j][i] + dt * weight[i] * r->c[q][j][i];
}

/* The new value is read, after it is set: w needs none of its old ones, and u = w moves nothing. */
static double relax(double (*u)[N], double (*w)[N])
{
  double most = 0;

  for (int j = 1; j < N - 1; j++)
    for (int i = 1; i < N - 1; i++) {
      w[j][i] = 0.25 * (u[j][i + 1] + u[j][i - 1] + u[j + 1][i] + u[j - 1][i]);
      most = fmax(most, fabs(w[j][i] - u[j][i]));
    }
  for (int j = 1; j < N - 1; j++)
    for (int i = 1; i < N - 1; i++)
      u[j][i] = w[j][i];
  for (int i = 1; i < N - 1; i++) {
    u[0][i] = u[1][i];
    u[i][0] = u[i][1];
  }
  return most;
}

int main(void)
{
  int rounds = 0;
  double weight[N];

  for (int i = 0; i < N; i++)
    weight[i] = 1 + i * 0.01;
  for (int q = 0; q < NS; q++)
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++)
        now.c[q][j][i] = ((q + 1) * i + j) % 10 * 0.1;
#pragma ambit
  for (int t = 0; t < 6; t++) {
    rates(&now, &rate);
    advance(&mid, &now, &rate, weight, 0.05);
    rates(&mid, &rate);
    advance(&now, &now, &rate, weight, 0.1);
  }
#pragma ambit
  while (rounds < 40) {
    rounds++;
    if (relax(mid.c[1], mid.c[2]) < 0.01) break;
  }
  printf("%d rounds\n", rounds);
  show("now", &now, sizeof now);
  show("mid", &mid, sizeof mid);
  return 0;
}
