/* Loops that macros make: all of a nest, several of them, the header alone, its two ends, one below an if; a loop over time. */
#include "show.h"

#define NX 40
#define NY 30

static double a[NY][NX], b[NY][NX], c[NY][NX];

#define FOR_INNER(i, j)                                                                            \
  for (int i = 1; i < NY - 1; i++)                                                                 \
    for (int j = 1; j < NX - 1; j++)
#define FOR_ALL(j, i)                                                                              \
  for (int j = 0; j < NY; j++)                                                                     \
    for (int i = 0; i < NX; i++)
#define SMOOTH(to, from)                                                                           \
  FOR_INNER(i, j)                                                                                  \
  to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
#define TWICE(x, y)                                                                                \
  do {                                                                                             \
    SMOOTH(y, x)                                                                                   \
    SMOOTH(x, y)                                                                                   \
  } while (0)
#define ADVANCE(x, y, n, what)                                                                     \
  for (int t_ = 0; t_ < (n); t_++) {                                                               \
    SMOOTH(y, x);                                                                                  \
    FOR_INNER(i, j) x[i][j] = y[i][j];                                                             \
    if (t_ == 2) printf("%s; {%c}\n", what, '"');                                                  \
  }
#define MOST(m, x)                                                                                 \
  {                                                                                                \
    m = 0;                                                                                         \
    FOR_ALL(i, j) if (x[i][j] > m) m = x[i][j];                                                    \
  }
#define BEGIN                                                                                      \
  for (int r = 1; r < NY - 1; r++) {                                                               \
    for (int s = 1; s < NX - 1; s++) {
#define END                                                                                        \
  }                                                                                                \
  }

#pragma ambit
int main(void)
{
  double m;

  FOR_ALL(i, j) a[i][j] = (i * 7 + j * 3) % 11;
  FOR_INNER(i, j)
  {
    b[i][j] = a[i][j] + 0.1 * (a[i - 1][j] - a[i + 1][j]);
  }
  SMOOTH(c, b)
  for (int t = 0; t < 5; t++)
    TWICE(a, b);
  ADVANCE(a, c, 7, "a; string")
  MOST(m, a)
  BEGIN
  c[r][s] = a[r][s] * 2;
  END;
  if (m > 3) {
    SMOOTH(a, c)
  } else
    SMOOTH(b, c);
  printf("%.17g\n", m);
  show("a", a, sizeof a);
  show("b", b, sizeof b);
  show("c", c, sizeof c);
  return 0;
}
