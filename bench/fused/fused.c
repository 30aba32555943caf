/* SPDX-License-Identifier: BSD-3-Clause */
/* fused.c - speed against depth, the number of iterations in one pass over memory: programs with
 * each depth, interleaved.
 *
 *   bench_fused [--ambit-...] DEPTHS 'PROGRAM SIZE TYPE ITERATIONS [periodic|clamp]' ...
 *
 *   bench_fused auto,1 'star2d1 16384x16384 float 97' 'grayscott 16384x16384 float 97 periodic'
 *
 *   bench_fused auto@cuda,auto@opencl,1@cuda,1@opencl 'd2q9 4096x4096 float 97 periodic'
 *
 * A depth may be a plan instead: '1,(wavefront depth 16 rows 8 strip 512)'. Either may have the
 * devices that it is for behind an @. PROGRAM is a stencil of the catalogue, grayscott (two
 * fields), wave (three), acoustic (in 3-D, of order 8, with a field of velocities), fdtd (three
 * fields in place, two steps), d2q9 (nine populations), or star2d1 with more steps: walls (on all
 * faces), source (on a box in the middle). wave2 and acoustic2 write the new values over the
 * oldest ones, in two fields. Prints CSV: program,size,type,boundary,depth,gcells,us, the best of
 * ROUNDS runs of so many iterations, after one that compiles and chooses; us is the time of an
 * iteration in microseconds.
 */
#include "ambit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, DEPTHS = 16 };

typedef struct problem {
  char program[32], size[40], type[16], boundary[16];
  long long iterations;
  int ndims;
  int64_t extents[AMBIT_MAX_DIMS];
} problem;

static const char start2[] = AMBIT_SOURCE(
    void start(real *u) { *u = (real)(index(0) * 31 % 64 + index(1) * 17 % 64) / (real)128; });
static const char start3[] = AMBIT_SOURCE(void start(real *u) {
  *u = (real)(index(0) * 31 % 64 + index(1) * 17 % 64 + index(2) * 7 % 64) / (real)192;
});
static const char start_fluid[] = AMBIT_SOURCE(void start(real *f[9]) {
  for (int i = 0; i < 9; i++)
    *f[i] = (real)(64 + index(0) * 31 % 64 + index(1) * 17 % 64) / (real)192;
});
static const char grayscott[] =
    AMBIT_SOURCE(void grayscott(const real *u, const real *v, real *u2, real *v2) {
      const real du = u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - (real)4 * *u;
      const real dv = v[-1][0] + v[1][0] + v[0][-1] + v[0][1] - (real)4 * *v;
      const real uvv = *u * *v * *v;

      *u2 = *u + (real)0.16 * du - uvv + (real)0.035 * ((real)1 - *u);
      *v2 = *v + (real)0.08 * dv + uvv - (real)0.095 * *v;
    });
static const char wave[] =
    AMBIT_SOURCE(void wave(const real *before, const real *now, real *after) {
      const real sum = now[-1][0] + now[1][0] + now[0][-1] + now[0][1] - (real)4 * *now;

      *after = (real)2 * *now - *before + (real)0.1 * sum;
    });
static const char wave2[] = AMBIT_SOURCE(void wave(real *before, const real *now) {
  const real sum = now[-1][0] + now[1][0] + now[0][-1] + now[0][1] - (real)4 * *now;

  *before = (real)2 * *now - *before + (real)0.1 * sum;
});

static const char acoustic[] = AMBIT_SOURCE(void acoustic(const real *before, const real *now,
                                                          const real *c, real *after) {
  const real w[5] = {(real)-2.847222, (real)1.6, (real)-0.2, (real)0.02539683, (real)-0.001785714};
  real sum = (real)3 * w[0] * *now;

  for (int i = 1; i <= 4; i++)
    sum += w[i] * (now[-i][0][0] + now[i][0][0] + now[0][-i][0] + now[0][i][0] + now[0][0][-i] +
                   now[0][0][i]);
  *after = (real)2 * *now - *before + *c * sum;
});
static const char acoustic2[] = AMBIT_SOURCE(void acoustic(real *before, const real *now,
                                                           const real *c) {
  const real w[5] = {(real)-2.847222, (real)1.6, (real)-0.2, (real)0.02539683, (real)-0.001785714};
  real sum = (real)3 * w[0] * *now;

  for (int i = 1; i <= 4; i++)
    sum += w[i] * (now[-i][0][0] + now[i][0][0] + now[0][-i][0] + now[0][i][0] + now[0][0][-i] +
                   now[0][0][i]);
  *before = (real)2 * *now - *before + *c * sum;
});

static const char magnetic[] = AMBIT_SOURCE(void magnetic(const real *ez, real *hx, real *hy) {
  *hx -= (real)0.5 * (ez[1][0] - *ez);
  *hy += (real)0.5 * (ez[0][1] - *ez);
});
static const char electric[] =
    AMBIT_SOURCE(void electric(const real *hx, const real *hy, real *ez) {
      *ez += (real)0.5 * (*hy - hy[0][-1] - *hx + hx[-1][0]);
    });
static const char d2q9[] = AMBIT_SOURCE(void d2q9(const real *f[9], real *g[9]) {
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const real w[9] = {(real)16, (real)4, (real)4, (real)4, (real)4,
                     (real)1,  (real)1, (real)1, (real)1};
  real h[9];
  real rho = 0;
  real ux = 0;
  real uy = 0;

  for (int i = 0; i < 9; i++) {
    h[i] = f[i][-cy[i]][-cx[i]];
    rho += h[i];
    ux += cx[i] * h[i];
    uy += cy[i] * h[i];
  }
  ux /= rho;
  uy /= rho;
  for (int i = 0; i < 9; i++) {
    const real cu = (real)3 * (cx[i] * ux + cy[i] * uy);
    const real bend = (real)1 + cu + (real)0.5 * cu * cu - (real)1.5 * (ux * ux + uy * uy);

    *g[i] = h[i] + (real)0.6 * (w[i] / (real)36 * rho * bend - h[i]);
  }
});

static const char wall[] =
    AMBIT_SOURCE(void wall(const real *u, real *v) { *v = (real)0.5 * (*u + *v); });
static const char source[] = AMBIT_SOURCE(void source(real *v) { *v += (real)0.001; });

/* ---- programs ---- */

static ambit_field *make_field(ambit *a, ambit_grid *g, const problem *q, const char *name)
{
  const bool fluid = !strcmp(q->program, "d2q9");
  const ambit_type type = strcmp(q->type, "double") ? AMBIT_F32 : AMBIT_F64;
  ambit_field *f = ambit_field_create_vector(g, name, type, fluid ? 9 : 1, AMBIT_SOA);
  const char *start = fluid ? start_fluid : q->ndims == 2 ? start2 : start3;
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(f, AMBIT_ALL_FACES,
                       !strcmp(q->boundary, "periodic") ? AMBIT_PERIODIC
                       : !strcmp(q->boundary, "clamp")  ? AMBIT_CLAMP
                                                        : AMBIT_FIXED,
                       0);
  ambit_define_real(a, type);
  ambit_apply(p, ambit_kernel_create(a, start), f);
  ambit_run(p, 1);
  ambit_program_destroy(p);
  return f;
}

static void add_wave(ambit *a, ambit_grid *g, const problem *q, ambit_program *p, ambit_field *u,
                     ambit_field *v)
{
  const bool in_place = strchr(q->program, '2') != NULL, plane = q->program[0] == 'w';
  const char *text = plane ? in_place ? wave2 : wave : in_place ? acoustic2 : acoustic;
  ambit_kernel *k = ambit_kernel_create(a, text);
  ambit_field *const turns[] = {u, v, in_place ? NULL : make_field(a, g, q, "w")};
  ambit_field *c = plane ? NULL : make_field(a, g, q, "c");
  ambit_arg args[4] = {ambit_arg_field(u), ambit_arg_field(v)};
  int n = 2;

  if (c) args[n++] = ambit_arg_field(c);
  if (!in_place) args[n++] = ambit_arg_field(turns[2]);
  ambit_apply_args(p, k, n, args);
  ambit_rotate(p, in_place ? 2 : 3, turns);
}

static void add_steps(ambit *a, ambit_grid *g, const problem *q, ambit_program *p)
{
  ambit_field *u = make_field(a, g, q, "u"), *v = make_field(a, g, q, "v");
  const ambit_type type = ambit_field_type(u);

  if (!strcmp(q->program, "grayscott")) {
    ambit_field *s = make_field(a, g, q, "s"), *t = make_field(a, g, q, "t");

    ambit_apply(p, ambit_kernel_create(a, grayscott), u, v, s, t);
    ambit_swap(p, u, s);
    ambit_swap(p, v, t);
  } else if (!strcmp(q->program, "fdtd")) {
    ambit_field *w = make_field(a, g, q, "w");

    ambit_apply(p, ambit_kernel_create(a, magnetic), u, v, w);
    ambit_apply(p, ambit_kernel_create(a, electric), v, w, u);
  } else if (!strcmp(q->program, "d2q9")) {
    ambit_apply(p, ambit_kernel_create(a, d2q9), u, v);
    ambit_swap(p, u, v);
  } else if (!strncmp(q->program, "wave", 4) || !strncmp(q->program, "acoustic", 8)) {
    add_wave(a, g, q, p, u, v);
  } else {
    const bool walls = !strcmp(q->program, "walls"), box = !strcmp(q->program, "source");
    const char *name = walls || box ? "star2d1" : q->program;
    const int64_t lo[] = {q->extents[0] / 2 - 8, q->extents[1] / 2 - 8},
                  hi[] = {lo[0] + 16, lo[1] + 16};

    ambit_apply(p, ambit_kernel_create_named(a, name, type), u, v);
    if (walls) ambit_apply_faces(p, AMBIT_ALL_FACES, ambit_kernel_create(a, wall), u, v);
    if (box) ambit_apply_box(p, lo, hi, ambit_kernel_create(a, source), v);
    ambit_swap(p, u, v);
  }
}

/* ---- one problem ---- */

static bool read_problem(const char *text, problem *q)
{
  const char *x;

  *q = (problem){.boundary = "fixed"};
  if (sscanf(text, "%31s %39s %15s %lld %15s", q->program, q->size, q->type, &q->iterations,
             q->boundary) < 4)
    return false;
  for (x = q->size; x && q->ndims < AMBIT_MAX_DIMS; x = strchr(x, 'x')) {
    x += *x == 'x';
    q->extents[q->ndims++] = atoll(x);
  }
  return true;
}

/* Of a DEPTH or plan with devices behind an @, or those that were given for all. */
static bool set_options(ambit *a, const char *devices, const char *text)
{
  const char *at = strchr(text, '@');
  char depth[16] = "auto";

  if (*text != '(')
    snprintf(depth, sizeof depth, "%.*s", (int)(at ? at - text : (ptrdiff_t)strlen(text)), text);
  return !ambit_option_set(a, "devices", at ? at + 1 : devices) &&
         !ambit_option_set(a, "sleep", "off") && /* averages on small grids come to rest */
         !ambit_option_set(a, "depth", depth);
}

/* The plan in parentheses, without devices. */
static void force(ambit *a, const char *text)
{
  char plan[256] = "";

  if (*text == '(') snprintf(plan, sizeof plan, "%.*s", (int)strcspn(text, "@"), text);
  ambit_option_set(a, "plan", plan);
}

/* Of all runs so far; 0 on failure. */
static double seconds_of(ambit_program *p)
{
  const ambit_stats *s = ambit_program_stats(p, 0);

  return s ? s->seconds : 0;
}

/* Seconds per iteration. */
static double time_of(ambit_program *p, int64_t iterations)
{
  const double before = seconds_of(p);

  ambit_run(p, iterations);
  return (seconds_of(p) - before) / (double)iterations;
}

static bool measure(ambit *const *all, char *const *depths, int n, const problem *q)
{
  ambit_program *p[DEPTHS];
  ambit_grid *g[DEPTHS];
  double best[DEPTHS], cells = 1;
  bool fine = true;

  for (int d = 0; d < q->ndims; d++)
    cells *= (double)q->extents[d];
  for (int i = 0; i < n; i++) {
    g[i] = ambit_grid_create(all[i], q->ndims, q->extents);
    p[i] = ambit_program_create(g[i]);
    add_steps(all[i], g[i], q, p[i]);
    force(all[i], depths[i]);
    ambit_run(p[i], q->iterations);
  }
  for (int k = 0; k < ROUNDS; k++)
    for (int i = 0; i < n; i++) {
      const double seconds = time_of(p[i], q->iterations);

      if (!k || seconds < best[i]) best[i] = seconds;
    }
  for (int i = 0; i < n; i++) {
    fine &= !ambit_error(all[i]);
    printf("%s,%s,%s,%s,%s,%.1f,%.2f\n", q->program, q->size, q->type, q->boundary, depths[i],
           cells / best[i] / 1e9, best[i] * 1e6);
    ambit_grid_destroy(g[i]);
    ambit_option_set(all[i], "plan", "");
  }
  fflush(stdout);
  return fine;
}

int main(int argc, char **argv)
{
  ambit *all[DEPTHS] = {ambit_open(&argc, &argv)};
  char *depths[DEPTHS];
  int n = 0;
  bool fine = argc > 2;

  for (char *d = argc > 1 ? strtok(argv[1], ",") : NULL; d && n < DEPTHS; d = strtok(NULL, ",")) {
    if (n) all[n] = ambit_open(NULL, NULL);
    fine &= set_options(all[n], ambit_option_get(all[0], "devices"), d);
    depths[n++] = d;
  }
  printf("program,size,type,boundary,depth,gcells,us\n");
  for (int i = 2; i < argc; i++) {
    problem q;

    fine &= read_problem(argv[i], &q) && measure(all, depths, n, &q);
  }
  for (int i = 0; i < n; i++)
    ambit_close(all[i]);
  return !fine;
}
