/* SPDX-License-Identifier: BSD-3-Clause */
/* vortex.c - decaying vortices in a periodic box, by the lattice Boltzmann method (D3Q19).
 *
 *   vortex                                            the test: the viscosity of plane vortices,
 *                                                     with populations of 32 bits and of 16;
 *                                                     one field in place against two
 *   vortex --size N --steps N --output FILE.png       vortices in three dimensions: the picture
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEED 0.03 /* of the vortices, in cells per iteration; the speed of sound is 0.58 */

/* Populations arrive and relax. They are kept less their weight, so that floats and halves lose
 * little where the fluid is nearly at rest. Halves are only stored: all is computed in float. */
#define RULE(head, arriving, leaving)                                                              \
  "void " head "\n{\n"                                                                             \
  "  const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};\n"         \
  "  const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};\n"         \
  "  const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};\n"         \
  "  const int back[19] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};\n"   \
  "  float h[19], rho = 0, ux = 0, uy = 0, uz = 0;\n"                                              \
  "  for (int i = 0; i < 19; i++) {\n"                                                             \
  "    h[i] = " arriving ";\n"                                                                     \
  "    rho += h[i];\n"                                                                             \
  "    ux += cx[i] * h[i];\n"                                                                      \
  "    uy += cy[i] * h[i];\n"                                                                      \
  "    uz += cz[i] * h[i];\n"                                                                      \
  "  }\n"                                                                                          \
  "  ux /= 1 + rho;\n"                                                                             \
  "  uy /= 1 + rho;\n"                                                                             \
  "  uz /= 1 + rho;\n"                                                                             \
  "  for (int i = 0; i < 19; i++) {\n"                                                             \
  "    const float w = i == 0 ? 1 / 3.0f : i < 7 ? 1 / 18.0f : 1 / 36.0f;\n"                       \
  "    const float cu = cx[i] * ux + cy[i] * uy + cz[i] * uz;\n"                                   \
  "    const float s = 3 * cu + 4.5f * cu * cu - 1.5f * (ux * ux + uy * uy + uz * uz);\n"          \
  "    " leaving " = h[i] + omega * (w * (rho + (1 + rho) * s) - h[i]);\n"                         \
  "  }\n"                                                                                          \
  "}\n"

/* With two fields, populations arrive from the neighbours. */
static const char stream_rule[] = RULE("stream(const real *f[19], real *g[19], float omega)",
                                       "f[i][-cz[i]][-cy[i]][-cx[i]]", "*g[i]");

/* With one field there are two kinds of steps. The even ones find the populations that have arrived
 * in the cell, and leave each in the place of the opposite one. The odd ones find those in the
 * neighbours, and leave each in the neighbour where it goes: in the very places that they read. */
static const char even_rule[] = RULE("even(real *f[19], float omega)", "*f[i]", "*f[back[i]]");
static const char odd_rule[] =
    RULE("odd(real *f[19], float omega)", "f[back[i]][-cz[i]][-cy[i]][-cx[i]]",
         "f[i][cz[i]][cy[i]][cx[i]]");

/* Moves populations to where they arrive. */
static const char arrive_rule[] = AMBIT_SOURCE(void arrive(const real *f[19], real *g[19]) {
  const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
  const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
  const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};

  for (int i = 0; i < 19; i++)
    *g[i] = f[i][-cz[i]][-cy[i]][-cx[i]];
});

/* The largest difference. */
static const char differ_rule[] =
    AMBIT_SOURCE(void differ(const real *f[19], const real *g[19], max float *most) {
      for (int i = 0; i < 19; i++)
        *most = fmaxf(*most, fabsf(*f[i] - *g[i]));
    });

/* The speed of the fluid, and the sum of its squares. */
static const char speed_rule[] =
    AMBIT_SOURCE(void measure(const real *f[19], float *speed, sum double *energy) {
      const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
      const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
      const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
      float rho = 0, ux = 0, uy = 0, uz = 0;

      for (int i = 0; i < 19; i++) {
        rho += *f[i];
        ux += cx[i] * *f[i];
        uy += cy[i] * *f[i];
        uz += cz[i] * *f[i];
      }
      *speed = sqrtf(ux * ux + uy * uy + uz * uz) / (1 + rho);
      *energy = *speed * *speed;
    });

typedef struct flow {
  int64_t n;       /* cells along an axis */
  int planar;      /* the same in all planes */
  ambit_type type; /* of the populations */
} flow;

/* Equilibrium with the velocities of Taylor and Green, less the weight. */
static double start(const int64_t *index, int i, void *user)
{
  static const int cx[] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
  static const int cy[] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
  const flow *s = user;
  const double k = 2 * 3.14159265358979324 / (double)s->n;
  const double x = k * (double)index[2], y = k * (double)index[1], z = k * (double)index[0];
  const double along = s->planar ? 1 : cos(z);
  const double u = SPEED * sin(x) * cos(y) * along, v = -SPEED * cos(x) * sin(y) * along;
  const double w = i == 0 ? 1 / 3.0 : i < 7 ? 1 / 18.0 : 1 / 36.0, cu = cx[i] * u + cy[i] * v;
  const double share = s->planar ? 1 : (cos(2 * z) + 2) / 4;
  const double rho = 0.75 * SPEED * SPEED * (cos(2 * x) + cos(2 * y)) * share;

  return w * (rho + (1 + rho) * (3 * cu + 4.5 * cu * cu - 1.5 * (u * u + v * v)));
}

static ambit_program *make(ambit *a, flow *s, double omega, ambit_field **speed,
                           ambit_program **measure, ambit_scalar *energy)
{
  ambit_grid *g = ambit_grid_create(a, 3, (int64_t[]){s->planar ? 4 : s->n, s->n, s->n});
  ambit_field *now = ambit_field_create_vector(g, "now", s->type, 19, AMBIT_SOA);
  ambit_field *next = ambit_field_create_vector(g, "next", s->type, 19, AMBIT_SOA);
  ambit_program *p = ambit_program_create(g);

  ambit_define_real(a, s->type);
  *measure = ambit_program_create(g);
  *speed = ambit_field_create(g, "speed", AMBIT_F32);
  ambit_field_fill_parallel(now, start, s);
  ambit_field_boundary(now, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(p, ambit_kernel_create(a, stream_rule), now, next, omega);
  ambit_swap(p, now, next);
  ambit_apply(*measure, ambit_kernel_create(a, speed_rule), now, *speed, energy);
  return p;
}

/* Plane vortices decay as exp(-2 nu k^2 t), their energy twice as fast. */
static int check(ambit *a, ambit_type type)
{
  flow s = {.n = 48, .planar = 1, .type = type};
  const double omega = 1.25, nu = (1 / omega - 0.5) / 3, k = 2 * 3.14159265358979324 / 48;
  ambit_scalar *energy = ambit_scalar_create(a, "energy", AMBIT_F64);
  ambit_program *measure, *p;
  ambit_field *speed;
  double first, measured;
  int right;

  p = make(a, &s, omega, &speed, &measure, energy);
  ambit_run(p, 100);
  ambit_run(measure, 1);
  first = ambit_scalar_get(energy);
  ambit_run(p, 200);
  ambit_run(measure, 1);
  measured = log(first / ambit_scalar_get(energy)) / (4 * k * k * 200);
  right = fabs(measured / nu - 1) < 0.005;
  printf("%s: viscosity %.5f, should be %.5f within 0.5 %%: %s\n", ambit_type_name(type), measured,
         nu, right ? "ok" : "WRONG");
  return !right;
}

/* One field must give what two give. It holds populations where they arrive. */
static int check_in_place(ambit *a)
{
  flow s = {.n = 48, .planar = 1, .type = AMBIT_F32};
  ambit_grid *g = ambit_grid_create(a, 3, AMBIT_INDEX(4, s.n, s.n));
  ambit_field *now = ambit_field_create_vector(g, "now", s.type, 19, AMBIT_SOA);
  ambit_field *next = ambit_field_create_vector(g, "next", s.type, 19, AMBIT_SOA);
  ambit_field *one = ambit_field_create_vector(g, "one", s.type, 19, AMBIT_SOA);
  ambit_scalar *most = ambit_scalar_create(a, "most", AMBIT_F32);
  ambit_kernel *arrive;
  ambit_program *before = ambit_program_create(g), *two = ambit_program_create(g);
  ambit_program *in_place = ambit_program_create(g), *after = ambit_program_create(g);
  int right;

  ambit_field_fill_parallel(now, start, &s);
  ambit_field_boundary(now, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(one, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_define_real(a, s.type);
  arrive = ambit_kernel_create(a, arrive_rule);
  ambit_apply(before, arrive, now, one);
  ambit_apply(two, ambit_kernel_create(a, stream_rule), now, next, 1.25);
  ambit_swap(two, now, next);
  ambit_apply(in_place, ambit_kernel_create(a, even_rule), one, 1.25);
  ambit_apply(in_place, ambit_kernel_create(a, odd_rule), one, 1.25);
  ambit_apply(after, arrive, now, next);
  ambit_apply(after, ambit_kernel_create(a, differ_rule), next, one, most);
  ambit_run(before, 1);
  ambit_run(two, 100);
  ambit_run(in_place, 50);
  ambit_run(after, 1);
  right = ambit_scalar_get(most) < 1e-6;
  printf("in place: as with two fields: %s\n", right ? "ok" : "WRONG");
  return !right;
}

static int draw(ambit *a, int64_t n, int64_t steps, const char *path)
{
  flow s = {.n = n, .type = AMBIT_F32};
  ambit_scalar *energy = ambit_scalar_create(a, "energy", AMBIT_F64);
  ambit_program *measure, *p;
  ambit_field *speed;

  p = make(a, &s, 1.985, &speed, &measure, energy);
  ambit_run(p, steps);
  ambit_run(measure, 1);
  return ambit_field_save(speed, path) != AMBIT_OK;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  int64_t size = 96, steps = 3000;
  const char *output = NULL;
  int wrong;

  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--size")) size = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--steps")) steps = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--output")) output = argv[i + 1];
  }
  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  wrong = output ? draw(a, size, steps, output)
                 : check(a, AMBIT_F32) + check(a, AMBIT_F16) + check_in_place(a);
  return ambit_close(a) != AMBIT_OK || wrong;
}
