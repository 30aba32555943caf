/* SPDX-License-Identifier: BSD-3-Clause */
/* nest.c - a plain OpenMP loop nest per stencil, with constant weights.
 *
 * Each nest is written as a careful user would: one statement per cell, the outer loop parallel,
 * the inner one vectorised, rows aligned and on huge pages. No blocking, no register tiling, no
 * fused iterations. Macros expand the sums, so that every weight is a compile-time constant.
 */
#define _GNU_SOURCE
#include "peer.h"

#define W(T, i, n) ((T)PEER_WEIGHT(i, n))

#define LINE3(T, i, n, p) (W(T, i, n) * (p)[-1] + W(T, i + 1, n) * (p)[0] + W(T, i + 2, n) * (p)[1])
#define LINE5(T, i, n, p) (W(T, i, n) * (p)[-2] + LINE3(T, i + 1, n, p) + W(T, i + 4, n) * (p)[2])
#define PLANE3(T, i, n, p, s)                                                                      \
  (LINE3(T, i, n, (p) - (s)) + LINE3(T, i + 3, n, p) + LINE3(T, i + 6, n, (p) + (s)))
#define PLANE5(T, i, n, p, s)                                                                      \
  (LINE5(T, i, n, (p)-2 * (s)) + LINE5(T, i + 5, n, (p) - (s)) + LINE5(T, i + 10, n, p) +          \
   LINE5(T, i + 15, n, (p) + (s)) + LINE5(T, i + 20, n, (p) + 2 * (s)))

/* p points to the cell, s is the pitch of rows, t the pitch of planes. */
#define STAR2D1(T, p, s, t) (W(T, 0, 5) * (p)[-s] + LINE3(T, 1, 5, p) + W(T, 4, 5) * (p)[s])
#define STAR2D2(T, p, s, t)                                                                        \
  (W(T, 0, 9) * (p)[-2 * s] + W(T, 1, 9) * (p)[-s] + LINE5(T, 2, 9, p) + W(T, 7, 9) * (p)[s] +     \
   W(T, 8, 9) * (p)[2 * s])
#define BOX2D1(T, p, s, t) PLANE3(T, 0, 9, p, s)
#define BOX2D2(T, p, s, t) PLANE5(T, 0, 25, p, s)
#define STAR3D1(T, p, s, t)                                                                        \
  (W(T, 0, 7) * (p)[-t] + W(T, 1, 7) * (p)[-s] + LINE3(T, 2, 7, p) + W(T, 5, 7) * (p)[s] +         \
   W(T, 6, 7) * (p)[t])
#define STAR3D2(T, p, s, t)                                                                        \
  (W(T, 0, 13) * (p)[-2 * t] + W(T, 1, 13) * (p)[-t] + W(T, 2, 13) * (p)[-2 * s] +                 \
   W(T, 3, 13) * (p)[-s] + LINE5(T, 4, 13, p) + W(T, 9, 13) * (p)[s] + W(T, 10, 13) * (p)[2 * s] + \
   W(T, 11, 13) * (p)[t] + W(T, 12, 13) * (p)[2 * t])
#define BOX3D1(T, p, s, t)                                                                         \
  (PLANE3(T, 0, 27, (p) - (t), s) + PLANE3(T, 9, 27, p, s) + PLANE3(T, 18, 27, (p) + (t), s))
#define BOX3D2(T, p, s, t)                                                                         \
  (PLANE5(T, 0, 125, (p)-2 * (t), s) + PLANE5(T, 25, 125, (p) - (t), s) +                          \
   PLANE5(T, 50, 125, p, s) + PLANE5(T, 75, 125, (p) + (t), s) +                                   \
   PLANE5(T, 100, 125, (p) + 2 * (t), s))

typedef void (*sweep_fn)(const peer_grid *g, const void *from, void *to);

/* In 2-D extent[0] is 1 and the loop over rows must be parallel; collapsing serves both. */
#define NEST(T, name, SUM)                                                                         \
  static void name##_##T(const peer_grid *g, const void *from, void *to)                           \
  {                                                                                                \
    const int64_t s = g->pitch, t = g->plane;                                                      \
    const int64_t planes = g->extent[0], rows = g->extent[1], cells = g->extent[2];                \
    _Pragma("omp parallel for collapse(2) schedule(static)") for (int64_t i = 0; i < planes;       \
                                                                  i++) for (int64_t j = 0;         \
                                                                            j < rows; j++)         \
    {                                                                                              \
      const T *restrict u = (const T *)from + g->origin + i * t + j * s;                           \
      T *restrict v = (T *)to + g->origin + i * t + j * s;                                         \
      _Pragma("omp simd") for (int64_t k = 0; k < cells; k++) v[k] = SUM(T, u + k, s, t);          \
    }                                                                                              \
  }

#define STENCILS(X)                                                                                \
  X(star2d1, STAR2D1)                                                                              \
  X(star2d2, STAR2D2)                                                                              \
  X(box2d1, BOX2D1)                                                                                \
  X(box2d2, BOX2D2)                                                                                \
  X(star3d1, STAR3D1)                                                                              \
  X(star3d2, STAR3D2)                                                                              \
  X(box3d1, BOX3D1)                                                                                \
  X(box3d2, BOX3D2)

#define X(name, SUM) NEST(float, name, SUM) NEST(double, name, SUM)
STENCILS(X)
#undef X

static const struct {
  const char *name;
  sweep_fn sweep[2]; /* float, double */
} nests[] = {
#define X(name, SUM) {#name, {name##_float, name##_double}},
    STENCILS(X)
#undef X
};

static sweep_fn find_sweep(const peer_args *p)
{
  for (size_t i = 0; i < sizeof nests / sizeof *nests; i++)
    if (strcmp(nests[i].name, p->stencil.name) == 0) return nests[i].sweep[p->is_double];
  return NULL;
}

static double get(const peer_args *p, const void *a, int64_t at)
{
  return p->is_double ? ((const double *)a)[at] : (double)((const float *)a)[at];
}

static void set(const peer_args *p, void *a, int64_t at, double x)
{
  if (p->is_double)
    ((double *)a)[at] = x;
  else
    ((float *)a)[at] = (float)x;
}

/* Distributes rows as the sweeps do, so that pages are local to the thread that uses them. */
static void fill(const peer_args *p, const peer_grid *g, void *a)
{
  const int64_t r = p->stencil.radius, r0 = p->stencil.ndims == 3 ? r : 0;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t i = -r0; i < g->extent[0] + r0; i++)
    for (int64_t j = -r; j < g->extent[1] + r; j++)
      for (int64_t k = -r; k < g->extent[2] + r; k++)
        set(p, a, g->origin + i * g->plane + j * g->pitch + k, peer_value(i, j, k));
}

static double naive(const peer_args *p, const peer_grid *g, const void *from, int64_t at)
{
  const peer_stencil *s = &p->stencil;
  double sum = 0;
  for (int q = 0; q < s->points; q++) {
    const int *o = s->offset[q];
    sum += PEER_WEIGHT(q, s->points) * get(p, from, at + o[0] * g->plane + o[1] * g->pitch + o[2]);
  }
  return sum;
}

/* Compares one sweep of a small odd grid with the sum over the offsets. */
static int check(const peer_args *p, sweep_fn sweep)
{
  const int64_t extent[3] = {p->stencil.ndims == 3 ? 9 : 1, 13, 83};
  const double tolerance = p->is_double ? 1e-13 : 1e-5;
  double worst = 0;
  peer_grid g;
  peer_grid_init(&g, &p->stencil, extent, p->is_double ? 8 : 4);
  void *from = peer_alloc(g.bytes), *to = peer_alloc(g.bytes);
  fill(p, &g, from);
  sweep(&g, from, to);
  for (int64_t i = 0; i < extent[0]; i++)
    for (int64_t j = 0; j < extent[1]; j++)
      for (int64_t k = 0; k < extent[2]; k++) {
        const int64_t at = g.origin + i * g.plane + j * g.pitch + k;
        worst = fmax(worst, fabs(get(p, to, at) - naive(p, &g, from, at)));
      }
  if (worst > tolerance)
    fprintf(stderr, "%s differs from the serial sum by %g\n", p->stencil.name, worst);
  return worst <= tolerance;
}

int main(int argc, char **argv)
{
  peer_args p;
  peer_grid g;
  double seconds[100];
  if (!peer_args_parse(argc, argv, &p)) return peer_usage(argv[0]);
  const sweep_fn sweep = find_sweep(&p);
  if (p.check && !check(&p, sweep)) return 1;
  peer_grid_init(&g, &p.stencil, p.extent, p.is_double ? 8 : 4);
  void *a = peer_alloc(g.bytes), *b = peer_alloc(g.bytes);
  fill(&p, &g, a);
  fill(&p, &g, b);
  for (int r = 0; r < p.repetitions; r++) {
    const double start = peer_now();
    for (int n = 0; n < p.iterations; n++)
      n % 2 == 0 ? sweep(&g, a, b) : sweep(&g, b, a);
    seconds[r] = peer_now() - start;
  }
  peer_print("nest", &p, "", seconds);
  return 0;
}
