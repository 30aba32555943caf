/* SPDX-License-Identifier: BSD-3-Clause */
/* elasticity.c - elastic solids in three dimensions, by finite elements and conjugate gradients.
 *
 *   elasticity [--output FILE.png]    a patch test and a beam; the picture is the bent beam
 *
 * The cells of the grid are nodes with three displacements. Between them are cubes of side 1. The
 * forces on a node come from up to eight cubes, each a product with the same 24 x 24 matrix, which
 * is a table of the kernel. In all a node reads its 27 neighbours.
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISSON 0.3 /* ratio; Young's modulus is 1 */

/* f = K u on free nodes, 0 on those that are held, and u . f. Cube e lies below or above the node
 * along each axis, which is corner 7 - e of it. A cube exists if its far corner does. */
static const char force_rule[] =
    AMBIT_SOURCE(void force(const double *u[3], const unsigned char *held, double *f[3],
                            table double k[24][24], sum double *uf) {
      double g[3] = {0, 0, 0};

      for (int e = 0; e < 8; e++)
        if (!outside(e / 4 * 2 - 1, e / 2 % 2 * 2 - 1, e % 2 * 2 - 1)) {
          for (int j = 0; j < 8; j++)
            for (int a = 0; a < 3; a++)
              for (int b = 0; b < 3; b++)
                g[a] += k[3 * (7 - e) + a][3 * j + b] *
                        u[b][e / 4 - 1 + j / 4][e / 2 % 2 - 1 + j / 2 % 2][e % 2 - 1 + j % 2];
        }
      for (int a = 0; a < 3; a++)
        *f[a] = *held ? 0 : g[a];
      *uf = *u[0] * *f[0] + *u[1] * *f[1] + *u[2] * *f[2];
    });

/* r = p = load - f, and r . r */
static const char start_rule[] =
    AMBIT_SOURCE(void start(const double *load[3], const double *f[3], const unsigned char *held,
                            double *r[3], double *p[3], sum double *rr) {
      double s = 0;

      for (int a = 0; a < 3; a++) {
        *r[a] = *held ? 0 : *load[a] - *f[a];
        *p[a] = *r[a];
        s += *r[a] * *r[a];
      }
      *rr = s;
    });

static const char advance_rule[] =
    AMBIT_SOURCE(void advance(const double *p[3], const double *q[3], double *u[3], double *r[3],
                              double alpha, sum double *rr) {
      double s = 0;

      for (int a = 0; a < 3; a++) {
        *u[a] += alpha * *p[a];
        *r[a] -= alpha * *q[a];
        s += *r[a] * *r[a];
      }
      *rr = s;
    });

static const char direction_rule[] =
    AMBIT_SOURCE(void direction(const double *r[3], double *p[3], double beta) {
      for (int a = 0; a < 3; a++)
        *p[a] = *r[a] + beta * *p[a];
    });

static const char alpha_rule[] =
    AMBIT_SOURCE(void set_alpha(double rr, double pq, double *alpha) { *alpha = rr / pq; });
static const char beta_rule[] =
    AMBIT_SOURCE(void set_beta(double now, double *before, double *beta) {
      *beta = now / *before;
      *before = now;
    });

/* ---- the matrix of a cube ---- */

/* Adds the product of the derivatives of two corners' functions, with weight 1/8, to a block.
 * Component 0 is along axis 0. */
static void add_block(double block[3][3], const double *d, const double *e)
{
  const double mu = 1 / (2 * (1 + POISSON)), lambda = POISSON / ((1 + POISSON) * (1 - 2 * POISSON));
  double dot = 0;

  for (int i = 0; i < 3; i++)
    dot += d[i] * e[i];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      block[i][j] += (lambda * d[i] * e[j] + mu * d[j] * e[i] + (i == j) * mu * dot) / 8;
}

/* The derivatives of the function that is 1 at a corner, linear along each axis, at a point. */
static void gradient(int corner, const double *at, double *d)
{
  for (int i = 0; i < 3; i++) {
    d[i] = 1;
    for (int k = 0; k < 3; k++) {
      const int high = corner >> (2 - k) & 1;

      d[i] *= i == k ? (high ? 1 : -1) : high ? at[k] : 1 - at[k];
    }
  }
}

/* By the rule of Gauss with two points along each axis, which is exact. */
static void make_matrix(double k[24][24])
{
  memset(k, 0, 24 * sizeof *k);
  for (int point = 0; point < 8; point++)
    for (int n = 0; n < 8; n++)
      for (int m = 0; m < 8; m++) {
        double at[3], d[3], e[3], block[3][3] = {{0}};

        for (int i = 0; i < 3; i++)
          at[i] = 0.5 + ((point >> i & 1) - 0.5) / sqrt(3);
        gradient(n, at, d);
        gradient(m, at, e);
        add_block(block, d, e);
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++)
            k[3 * n + i][3 * m + j] += block[i][j];
      }
}

/* ---- the solver ---- */

typedef struct solid {
  int64_t nodes[3];
  ambit_fill_fn held, displaced, loaded; /* on all nodes; displacements of free ones are a guess */
} solid;

/* Solves K u = load with the displacements of held nodes given. Returns u; NULL: it failed. */
static ambit_field *solve(ambit *a, const solid *s)
{
  ambit_grid *g = ambit_grid_create(a, 3, s->nodes);
  ambit_field *held = ambit_field_create(g, "held", AMBIT_U8), *v[5];
  static const char *const names[] = {"u", "load", "r", "p", "q"};
  ambit_program *start = ambit_program_create(g), *loop = ambit_program_create(g);
  ambit_scalar *rr = ambit_scalar_create(a, "rr", AMBIT_F64),
               *before = ambit_scalar_create(a, "before", AMBIT_F64),
               *pq = ambit_scalar_create(a, "pq", AMBIT_F64),
               *alpha = ambit_scalar_create(a, "alpha", AMBIT_F64),
               *beta = ambit_scalar_create(a, "beta", AMBIT_F64);
  ambit_kernel *force = ambit_kernel_create(a, force_rule);
  double k[24][24];

  make_matrix(k);
  for (int i = 0; i < 5; i++)
    v[i] = ambit_field_create_vector(g, names[i], AMBIT_F64, 3, AMBIT_SOA);
  ambit_field_fill(held, s->held, (void *)s);
  ambit_field_fill(v[0], s->displaced, (void *)s);
  ambit_field_fill(v[1], s->loaded, (void *)s);
  ambit_apply(start, force, v[0], held, v[4], ambit_arg_table(k, AMBIT_F64, 24, 24), pq);
  ambit_apply(start, ambit_kernel_create(a, start_rule), v[1], v[4], held, v[2], v[3], before);
  ambit_run(start, 1);

  ambit_apply(loop, force, v[3], held, v[4], ambit_arg_table(k, AMBIT_F64, 24, 24), pq);
  ambit_apply(loop, ambit_kernel_create(a, alpha_rule), before, pq, alpha);
  ambit_apply(loop, ambit_kernel_create(a, advance_rule), v[3], v[4], v[0], v[2], alpha, rr);
  ambit_apply(loop, ambit_kernel_create(a, beta_rule), rr, before, beta);
  ambit_apply(loop, ambit_kernel_create(a, direction_rule), v[2], v[3], beta);
  ambit_run_until(loop, rr, AMBIT_BELOW, 1e-24 * ambit_scalar_get(before), 5000);
  return ambit_program_converged(loop) ? v[0] : NULL;
}

static double no_load(const int64_t *index, int component, void *user)
{
  (void)index;
  (void)component;
  (void)user;
  return 0;
}

/* ---- patch test: a linear field given on the surface continues inside ---- */

static double linear(const int64_t *index, int component, void *user)
{
  static const double slope[3][3] = {{0.3, -0.2, 0.1}, {0.05, 0.4, -0.3}, {-0.25, 0.15, 0.2}};
  double x = 0;

  (void)user;
  for (int d = 0; d < 3; d++)
    x += slope[component][d] * (double)index[d];
  return x;
}

static double on_surface(const int64_t *index, int component, void *user)
{
  const solid *s = user;
  int is = 0;

  (void)component;
  for (int d = 0; d < 3; d++)
    is |= index[d] == 0 || index[d] == s->nodes[d] - 1;
  return is;
}

static double linear_on_surface(const int64_t *index, int component, void *user)
{
  return on_surface(index, component, user) > 0 ? linear(index, component, user) : 0;
}

static int check_patch(ambit *a)
{
  const solid s = {{9, 8, 10}, on_surface, linear_on_surface, no_load};
  ambit_field *u = solve(a, &s);
  double values[9 * 8 * 10 * 3], worst = 0;

  if (!u || ambit_field_read(u, NULL, NULL, values)) return 1;
  for (int64_t i = 0; i < 9 * 8 * 10; i++)
    for (int c = 0; c < 3; c++)
      worst = fmax(worst, fabs(values[3 * i + c] -
                               linear((int64_t[]){i / 80, i / 10 % 8, i % 10}, c, NULL)));
  printf("patch test: largest error %.1e, should be below 1e-10: %s\n", worst,
         worst < 1e-10 ? "ok" : "WRONG");
  return !(worst < 1e-10);
}

/* ---- a beam along axis 2, clamped at its first end and loaded at the last ---- */

enum { THICK = 8, LONG = 40 }; /* cubes */

static double at_first_end(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return index[2] == 0;
}

/* 1 in all, along axis 0; a node has the share of the faces around it. */
static double at_last_end(const int64_t *index, int component, void *user)
{
  double share = component == 0 && index[2] == LONG;

  (void)user;
  for (int d = 0; d < 2; d++)
    share *= (index[d] == 0 || index[d] == THICK ? 0.5 : 1) / THICK;
  return share;
}

/* Draws the plane through the middle of the bent beam, with its strain along the axis. */
static ambit_status draw(ambit *a, const double (*u)[3], const char *path)
{
  enum { SCALE = 16, HIGH = 28 * SCALE, WIDE = (LONG + 4) * SCALE, FINE = 40 };
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){HIGH, WIDE});
  ambit_field *f = ambit_field_create(g, "strain", AMBIT_F32);
  float *picture = calloc(HIGH * WIDE, sizeof *picture);
  const double bend = 15 / u[(THICK / 2) * (LONG + 1) + LONG][0];
  ambit_status s = AMBIT_ENOMEM;

  for (int i = 0; picture && i < THICK * LONG * FINE * FINE; i++) {
    const int cube = i / (FINE * FINE), z = cube / LONG, x = cube % LONG;
    const double dz = (i / FINE % FINE + 0.5) / FINE, dx = (i % FINE + 0.5) / FINE;
    const double *c[4] = {u[z * (LONG + 1) + x], u[z * (LONG + 1) + x + 1],
                          u[(z + 1) * (LONG + 1) + x], u[(z + 1) * (LONG + 1) + x + 1]};
    double at[3];

    for (int d = 0; d < 3; d++)
      at[d] = bend * ((1 - dz) * ((1 - dx) * c[0][d] + dx * c[1][d]) +
                      dz * ((1 - dx) * c[2][d] + dx * c[3][d]));
    at[0] = (at[0] + z + dz + 2) * SCALE;
    at[2] = (at[2] + x + dx + 1) * SCALE;
    if (at[0] >= 0 && at[0] < HIGH && at[2] >= 0 && at[2] < WIDE)
      picture[(int)at[0] * WIDE + (int)at[2]] =
          (float)(0.08 + bend * ((1 - dz) * (c[1][2] - c[0][2]) + dz * (c[3][2] - c[2][2])));
  }
  if (picture && !ambit_field_write(f, NULL, NULL, picture)) s = ambit_field_save(f, path);
  free(picture);
  return s;
}

/* Timoshenko: bending, and shear with the coefficient of rectangles. */
static int check_beam(ambit *a, const char *output)
{
  const solid s = {{THICK + 1, THICK + 1, LONG + 1}, at_first_end, no_load, at_last_end};
  const double side = THICK, length = LONG, moment = pow(side, 4) / 12;
  const double shear = 10 * (1 + POISSON) / (12 + 11 * POISSON) / (2 * (1 + POISSON));
  const double theory = pow(length, 3) / (3 * moment) + length / (shear * side * side);
  static double plane[(THICK + 1) * (LONG + 1)][3];
  ambit_field *u = solve(a, &s);
  double tip;
  int right;

  for (int64_t z = 0; u && z <= THICK; z++)
    if (ambit_field_read(u, AMBIT_INDEX(z, THICK / 2, 0),
                         AMBIT_INDEX(z + 1, THICK / 2 + 1, LONG + 1), plane[z * (LONG + 1)]))
      return 1;
  tip = plane[(THICK / 2) * (LONG + 1) + LONG][0];
  right = u && fabs(tip / theory - 1) < 0.03;
  printf("beam: bends by %.2f, %.2f by Timoshenko's theory, should differ by less than 3 %%: %s\n",
         tip, theory, right ? "ok" : "WRONG");
  if (output && draw(a, (const double(*)[3])plane, output)) return 1;
  return !right;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  const char *output = argc > 2 && !strcmp(argv[1], "--output") ? argv[2] : NULL;
  int wrong;

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  wrong = check_patch(a);
  wrong |= check_beam(a, output);
  return ambit_close(a) != AMBIT_OK || wrong;
}
