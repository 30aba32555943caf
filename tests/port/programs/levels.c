/* Host code that reaches arrays in other ways than steps do: through a table of pointers, as whole structs, by the address of a struct.
 * More arrays than are kept on the device. */
#include <stdlib.h>
#include <string.h>

#include "show.h"

enum { LEVELS = 3, NX = 14, NY = 11, PIECES = 300, WIDTH = 9 };

static double *u[LEVELS], *f[LEVELS];
static int size[LEVELS];

#pragma ambit
static void relax(int level)
{
  const int n = size[level];
  double *to = f[level], *from = u[level];

  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] +
                              from[i * n + j + 1]);
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      from[i * n + j] = to[i * n + j];
}

typedef struct state {
  double time;
  double h[NY][NX], v[NY][NX];
} state;

static state now, before, first;

static double total(const state s)
{
  double sum = s.time;

  for (int j = 0; j < NY; j++)
    sum += s.h[j][j] + s.v[j][1];
  return sum;
}

#pragma ambit
static void move(state *s)
{
  for (int j = 1; j < NY - 1; j++)
    for (int i = 1; i < NX - 1; i++)
      s->v[j][i] += 0.1 * (s->h[j][i - 1] - s->h[j][i + 1] + s->h[j - 1][i] - s->h[j + 1][i]);
  for (int j = 1; j < NY - 1; j++)
    for (int i = 1; i < NX - 1; i++)
      s->h[j][i] += 0.2 * s->v[j][i];
  s->time += 0.1;
}

static float *pieces[PIECES];

#pragma ambit
static void grow(float *piece)
{
  for (int i = 1; i < WIDTH - 1; i++)
    piece[i] += 0.5f * piece[i];
}

static void grow_all(void)
{
  float sum = 0;

  for (int k = 0; k < PIECES; k++) {
    pieces[k] = malloc(WIDTH * sizeof **pieces);
    for (int i = 0; i < WIDTH; i++)
      pieces[k][i] = (float)(i + k % 5);
  }
  for (int t = 0; t < 2; t++)
    for (int k = 0; k < PIECES; k++)
      grow(pieces[k]);
  for (int k = 0; k < PIECES; k++) {
    for (int i = 0; i < WIDTH; i++)
      sum += pieces[k][i];
    free(pieces[k]);
  }
  printf("%.9g\n", sum);
}

int main(void)
{
  state *a = &now, *b = &before;

  for (int l = 0; l < LEVELS; l++) {
    size[l] = 20 - 6 * l;
    u[l] = malloc(sizeof **u * (size_t)(size[l] * size[l]));
    f[l] = malloc(sizeof **f * (size_t)(size[l] * size[l]));
    for (int i = 0; i < size[l] * size[l]; i++)
      u[l][i] = f[l][i] = i * (l + 3) % 17;
  }
  for (int t = 0; t < 5; t++) {
    double sum = 0;

    for (int l = 0; l < LEVELS; l++)
      relax(l);
    for (int i = 0; i < 40; i++)
      sum += u[0][i] + u[2][i];
    u[1][21] += sum;
    printf("%.17g\n", sum);
  }
  for (int l = 0; l < LEVELS; l++)
    show("u", u[l], sizeof **u * (size_t)(size[l] * size[l]));
  for (int j = 0; j < NY; j++)
    for (int i = 0; i < NX; i++)
      now.h[j][i] = (i * j) % 7;
  first = now;
  for (int t = 0; t < 4; t++) {
    move(&now);
    before = now;
    move(&before);
    if (t == 2) *a = *b;
    if (t == 1) memcpy(b, a, sizeof *b);
    printf("%.17g\n", total(before));
  }
  grow_all();
  show("now", &now, sizeof now);
  show("before", b, sizeof *b);
  show("first", &first, sizeof first);
  return 0;
}
