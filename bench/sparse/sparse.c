/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.c - kernels on sparse grids, against dense grids and a list of active cells, interleaved.
 *
 *   bench_sparse [--ambit-...] [cells per axis] [rounds] [kernel] [mask]
 *
 * For every kernel and mask: nanoseconds per active cell and iteration on the sparse grid; the same
 * kernel on a dense grid of as many cells; for star, on a dense grid of the whole box with a field
 * that tells the active cells; and on GPUs, or on cores for star, a function over a list of active
 * cells with the numbers of their neighbours, written by hand. The best of all rounds counts. At
 * the end the time of an activation of the same cells. Kernels are 0, star; 1, d3q19; 2, matvec;
 * masks, 0, all; 1, hollow ball; 2, porous; 3, shell; 4, ball; 5 to 8, cubes of 16^3 that are 60,
 * 70, 80 and 90 % of the box; 9, one cell in 50; -1, any of the first five. The environment
 * variable SPARSE_PLAN is the option plan of programs on sparse grids; SPARSE_LISTS=0 leaves out
 * the lists written by hand.
 */
#include "sparse.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char star[] = AMBIT_SOURCE(void star(const float *u, float *v) {
  *v = 0.4f * *u +
       0.1f * (u[-1][0][0] + u[1][0][0] + u[0][-1][0] + u[0][1][0] + u[0][0][-1] + u[0][0][1]);
});

/* On a dense grid, with a mask. */
static const char masked[] =
    AMBIT_SOURCE(void masked(const float *u, float *v, const unsigned char *active) {
      *v = *active ? 0.4f * *u + 0.1f * (u[-1][0][0] + u[1][0][0] + u[0][-1][0] + u[0][1][0] +
                                         u[0][0][-1] + u[0][0][1])
                   : 0.0f;
    });

static const char d3q19[] = AMBIT_SOURCE(void d3q19(const float *f[19], float *g[19]) {
  const int e[19][3] = {{0, 0, 0},  {0, 0, 1},   {0, 0, -1},  {0, 1, 0},   {0, -1, 0},
                        {1, 0, 0},  {-1, 0, 0},  {0, 1, 1},   {0, -1, -1}, {0, 1, -1},
                        {0, -1, 1}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1},  {-1, 0, 1},
                        {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}};
  const int back[19] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};
  const float w[19] = {1.0f / 3,  1.0f / 18, 1.0f / 18, 1.0f / 18, 1.0f / 18, 1.0f / 18, 1.0f / 18,
                       1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36,
                       1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
  float q[19];
  float rho = 0;
  float x = 0;
  float y = 0;
  float z = 0;
  for (int i = 0; i < 19; i++) {
    q[i] = outside(-e[i][0], -e[i][1], -e[i][2]) ? *f[back[i]] : f[i][-e[i][0]][-e[i][1]][-e[i][2]];
    rho += q[i];
    z += (float)e[i][0] * q[i];
    y += (float)e[i][1] * q[i];
    x += (float)e[i][2] * q[i];
  }
  const float r = 1.0f / rho;
  x = x * r;
  y = y * r;
  z = z * r;
  for (int i = 0; i < 19; i++) {
    float eu = 3.0f * ((float)e[i][0] * z + (float)e[i][1] * y + (float)e[i][2] * x);
    *g[i] =
        q[i] +
        0.6f * (w[i] * rho * (1.0f + eu + 0.5f * eu * eu - 1.5f * (x * x + y * y + z * z)) - q[i]);
  }
});

static const char matvec[] = AMBIT_SOURCE(void matvec(const float *p, float *q, sum double *pq) {
  *q = 6.0f * *p - (p[-1][0][0] + p[1][0][0] + p[0][-1][0] + p[0][1][0] + p[0][0][-1] + p[0][0][1]);
  *pq = (double)*p * *q;
});

enum { MOST_D3Q19 = 192 }; /* cells per axis, all active: 2 GB on both grids */

/* ---- masks ---- */

static uint32_t mix(uint32_t x)
{
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

int is_active(const int64_t *i, void *user)
{
  const mask *m = user;
  const double h = 2.0 / (double)m->n, z = h * ((double)i[0] + 0.5) - 1,
               y = h * ((double)i[1] + 0.5) - 1, x = h * ((double)i[2] + 0.5) - 1;
  const double r = sqrt(x * x + y * y + z * z);
  const uint32_t grain =
      mix((uint32_t)(i[0] / 16 * 73856093 ^ i[1] / 16 * 19349663 ^ i[2] / 16 * 83492791));

  switch (m->kind) {
  case 0: return 1;
  case 1: return r < 1 && r > 0.92;          /* a hollow ball: 12 % */
  case 2: return grain % 10 == 0;            /* porous: cubes of 16^3, 10 % */
  case 3: return r < 0.9 && r > 0.9 - 4 * h; /* a thin shell */
  case 4: return r < 0.98;                   /* a ball: half of the box */
  case 9: return mix((uint32_t)((i[0] * m->n + i[1]) * m->n + i[2])) % 50 == 0;
  default: return (int)(grain % 10) < m->kind + 1;
  }
}

/* ---- runs ---- */

double now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double activity(const int64_t *i, int component, void *user)
{
  (void)component;
  return is_active(i, user);
}

/* `active` is for MASKED. */
static job make(ambit *a, ambit_grid *g, int kind, const mask *active)
{
  const char *const texts[] = {star, d3q19, matvec, masked};
  const int components = kind == D3Q19 ? 19 : 1;
  ambit_kernel *k = ambit_kernel_create(a, texts[kind]);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, components, AMBIT_SOA);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, components, AMBIT_SOA);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F64);
  job j = {g, ambit_program_create(g), kind == MATVEC ? v : u, (double)ambit_grid_cells(g), 1e9};

  if (kind != D3Q19)
    for (int f = 0; f < 2; f++) {
      ambit_field_boundary(f ? v : u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
      ambit_field_boundary(f ? v : u, AMBIT_INACTIVE, AMBIT_CONSTANT, 0);
    }
  ambit_field_set(u, 0.05);
  if (kind == MASKED) {
    ambit_field *m = ambit_field_create(g, "active", AMBIT_U8);

    ambit_field_fill_parallel(m, activity, (void *)active);
    ambit_apply(j.program, k, u, v, m);
  } else if (kind == MATVEC)
    ambit_apply(j.program, k, u, v, s);
  else
    ambit_apply(j.program, k, u, v);
  if (kind != MATVEC) ambit_swap(j.program, u, v);
  ambit_run(j.program, 1);
  return j;
}

static void measure(job *j, double seconds)
{
  double start = now(), spent;
  int64_t n = 0, step = 2;

  do {
    ambit_run(j->program, step);
    n += step;
    spent = now() - start;
    if (spent < seconds / 8) step *= 2; /* short ones would measure how long a run takes to start */
  } while (spent < seconds);
  if (spent / (double)n < j->best) j->best = spent / (double)n;
}

/* ---- all of them ---- */

/* The sum of the first component of a result. */
static double total(ambit *a, const job *j, int kind)
{
  ambit_program *p = ambit_program_create(j->grid);
  ambit_scalar *sum = ambit_scalar_create(a, "total", AMBIT_F64);

  ambit_apply(p,
              ambit_kernel_create(
                  a, kind == D3Q19 ? "void total(const float *f[19], sum double *t)"
                                     "{ *t = *f[0]; }"
                                   : "void total(const float *f, sum double *t) { *t = *f; }"),
              j->result, sum);
  ambit_run(p, 1);
  ambit_program_destroy(p);
  return ambit_scalar_get(sum);
}

/* The list on a GPU, which must agree with the sparse grid. */
static job make_list(ambit *a, const mask *m, int kind, const job *sparse)
{
  job j = list_job(a, m, kind);
  const double there = total(a, &j, kind), here = total(a, sparse, kind);

  if (!(fabs(there - here) < 1e-4 * fabs(here))) printf("the list has %g, not %g\n", there, here);
  return j;
}

/* Seconds of an iteration with a list on cores or a GPU; 0: there is none. */
static double measure_list(list *l, job *j)
{
  if (l) return list_run(l, 0.15);
  if (!j->program) return 0;
  measure(j, 0.15);
  return j->best;
}

/* The time that other active cells take, here the same ones, with the first iteration on them. */
static double activate(job *j, const mask *m)
{
  const double start = now();

  ambit_grid_activate(j->grid, is_active, (void *)m);
  ambit_run(j->program, 1);
  return now() - start;
}

static void compare(ambit *a, const mask *m, int kind, int rounds)
{
  static const char *const kernels[] = {"star", "d3q19", "matvec"};
  const int64_t box[] = {m->n, m->n, m->n};
  const double start = now();
  ambit_grid *sparse = ambit_grid_create_sparse(a, 3, box, is_active, (void *)m);
  const double built = now() - start;
  const int64_t side = 32 * (int64_t)fmax(1, round(cbrt((double)ambit_grid_cells(sparse)) / 32));
  const int64_t cube[] = {side, side, side};
  ambit_grid *dense = ambit_grid_create(a, 3, m->kind ? cube : box);
  ambit_grid *whole = kind == STAR ? ambit_grid_create(a, 3, box) : NULL;
  const char *plan = getenv("SPARSE_PLAN");
  job s = (ambit_option_set(a, "plan", plan ? plan : ""), make(a, sparse, kind, NULL));
  const double ready = now() - start;
  job d = (ambit_option_set(a, "plan", ""), make(a, dense, kind, NULL));
  job w = whole ? make(a, whole, MASKED, m) : (job){.best = 1e9};
  const bool on_cores = !strncmp(ambit_option_get(a, "devices"), "cpu", 3);
  const bool lists = !getenv("SPARSE_LISTS") || atoi(getenv("SPARSE_LISTS"));
  list *l = kind == STAR && on_cores && lists ? list_make(m) : NULL;
  job h = on_cores || !lists ? (job){0} : make_list(a, m, kind, &s);
  double by_hand = 1e9;

  for (int r = 0; r < rounds && !ambit_error(a); r++) {
    measure(&s, 0.15);
    measure(&d, 0.15);
    if (whole) measure(&w, 0.15);
    by_hand = fmin(by_hand, measure_list(l, &h));
  }
  printf(
      "%-7s %-12s %10.0f cells, built in %6.3f s, run once in %6.3f; ns/cell: sparse %7.4f dense "
      "%7.4f (%3.0f %%)",
      kernels[kind], m->name, s.cells, built, ready, 1e9 * s.best / s.cells, 1e9 * d.best / d.cells,
      100 * d.best / d.cells / (s.best / s.cells));
  if (whole) printf(" mask %7.4f", 1e9 * w.best / s.cells);
  if (by_hand > 0) printf(" list %7.4f", 1e9 * by_hand / s.cells);
  printf("; activated again in %6.3f s\n", activate(&s, m));
  fflush(stdout);
  list_free(l);
  ambit_grid_destroy(h.grid);
  ambit_grid_destroy(sparse);
  ambit_grid_destroy(dense);
  ambit_grid_destroy(whole);
}

int main(int argc, char **argv)
{
  static const char *const names[] = {"all",  "hollow ball", "porous", "shell", "ball",
                                      "60 %", "70 %",        "80 %",   "90 %",  "scattered"};
  ambit *a = ambit_open(&argc, &argv);
  const int64_t n = argc > 1 ? atoll(argv[1]) : 256;
  const int rounds = argc > 2 ? atoi(argv[2]) : 3, only = argc > 3 ? atoi(argv[3]) : -1;
  const int only_mask = argc > 4 ? atoi(argv[4]) : -1;

  ambit_option_set(a, "sleep",
                   "off");           /* the matrix-vector product changes nothing after one run, */
  ambit_option_set(a, "depth", "1"); /* and several of them are as good as one */
  for (int kind = 0; kind < 3; kind++)
    for (int m = 0; m < 10 && (only < 0 || only == kind) && !ambit_error(a); m++) {
      const mask here = {names[m], kind == 1 && n > MOST_D3Q19 && !m ? MOST_D3Q19 : n, m};

      if (only_mask < 0 ? m < 5 : only_mask == m) compare(a, &here, kind, rounds);
    }
  return ambit_close(a) != AMBIT_OK;
}
