/* Structs as values: local copies, results of functions, whole assignments, members that are arrays, parameters by value. */
#include "show.h"
#include <stdlib.h>

typedef struct vec {
  double x, y;
} vec;
typedef struct cell {
  vec v;
  double p;
  float s[3];
} cell;
typedef struct settings {
  int nx, ny;
  double dt;
} settings;

static vec add(vec a, vec b)
{
  return (vec){a.x + b.x, a.y + b.y};
}

static vec scaled(vec a, double by)
{
  vec r;

  r.x = a.x * by;
  r.y = a.y * by;
  return r;
}

static void relax(const settings set, const cell *old, cell *new)
{
  for (int j = 1; j < set.ny - 1; j++)
    for (int i = 1; i < set.nx - 1; i++) {
      const cell c = old[j * set.nx + i];
      cell r = c;

      r.v = scaled(add(old[j * set.nx + i - 1].v, old[(j + 1) * set.nx + i].v), set.dt);
      r.p += c.v.x - c.v.y;
      for (int k = 0; k < 3; k++)
        r.s[k] = 0.5f * (c.s[k] + old[j * set.nx + i + 1].s[2 - k]);
      new[j * set.nx + i] = r;
    }
}

int main(void)
{
  const settings set = {17, 12, 0.4};
  cell *a = malloc(sizeof(cell) * 17 * 12), *b = malloc(sizeof(cell) * 17 * 12);

  for (int k = 0; k < 17 * 12; k++)
    a[k] = b[k] = (cell){{k % 5, k % 7}, k % 3, {k % 2, k % 4, k % 6}};
#pragma ambit must
  for (int t = 0; t < 4; t++) {
    cell *swap = a;

    relax(set, a, b);
    a = b;
    b = swap;
  }
  for (int k = 0; k < 17 * 12; k++)
    printf("%.17g %.17g %.17g %.9g %.9g %.9g\n", a[k].v.x, a[k].v.y, a[k].p, a[k].s[0], a[k].s[1],
           a[k].s[2]);
  return 0;
}
