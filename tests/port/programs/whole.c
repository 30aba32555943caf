/* A struct with arrays in it, seen as a whole: by a pointer given to a function of a header and to fwrite, and as a copy. */
#include "show.h"
#define N 60
typedef struct sim {
  double rho[N], u[N];
  int hits[N];
} sim;

static sim state;

int main(void)
{
  sim *s = &state;

  for (int i = 0; i < N; i++) {
    s->rho[i] = 1 + i % 7 * 0.1;
    s->u[i] = i % 5;
  }
#pragma ambit
  for (int t = 0; t < 4; t++) {
    for (int i = 1; i < N - 1; i++)
      s->u[i] -= 0.1 * (s->rho[i + 1] - s->rho[i - 1]);
    for (int i = 1; i < N - 1; i++) {
      s->rho[i] += 0.05 * s->u[i];
      s->hits[i] += s->u[i] > 1;
    }
    show("state", s, sizeof *s);
    if (t == 2) {
      sim copy = *s;

      show("copy", copy.hits, sizeof copy.hits);
      fwrite(s, sizeof *s, 1, stdout);
    }
  }
  return 0;
}
