/* SPDX-License-Identifier: BSD-3-Clause */
/* ising.c - spins of a magnet at a temperature (Metropolis et al. 1953), against the exact solution
 * of Onsager (1944) and Yang (1952).
 *
 *   ising                                       the test at three temperatures
 *   ising --temperature T --output FILE.png     a picture of 512 x 512 spins after 2000 sweeps
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20261118
enum { SIZE = 128, SETTLE = 300, SWEEPS = 700 };

/* One text, three kernels. The chance of a flip depends on the spin times the sum of its
 * neighbours, -4 to 4. Both colours draw with numbers of their own. */
static const char text[] = AMBIT_SOURCE(
    static int around(int up, int down, int left, int right) { return up + down + left + right; }

    void flip(short *s, int colour, table float chance[5]) {
      if ((index(0) + index(1)) % 2 == colour) {
        int field = *s * around(s[-1][0], s[1][0], s[0][-1], s[0][1]);

        if (uniformf(SEED, colour) < chance[(field + 4) / 2]) *s = -*s;
      }
    }

    void measure(const short *s, sum long *energy, sum long *moment) {
      *energy = -*s * (s[1][0] + s[0][1]);
      *moment = *s;
    }

    void show(const short *s, unsigned char *grey) { *grey = *s > 0 ? 255 : 0; });

typedef struct magnet {
  ambit_grid *g;
  ambit_kernel *flip;
  ambit_field *s;
  ambit_scalar *energy, *moment;
  ambit_program *sweep;
} magnet;

static magnet create(ambit *a, int64_t size, double temperature)
{
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){size, size});
  magnet m = {.g = g,
              .s = ambit_field_create(g, "s", AMBIT_I16),
              .energy = ambit_scalar_create(a, "energy", AMBIT_I64),
              .moment = ambit_scalar_create(a, "moment", AMBIT_I64),
              .sweep = ambit_program_create(g)};
  double chance[5];

  for (int i = 0; i < 5; i++)
    chance[i] = exp(-2.0 * (2 * i - 4) / temperature);
  AMBIT_DEFINE(a, SEED);
  m.flip = ambit_kernel_create(a, text);
  ambit_field_boundary(m.s, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  for (int colour = 0; colour < 2; colour++)
    ambit_apply(m.sweep, m.flip, m.s, colour, ambit_arg_table(chance, AMBIT_F64, 1, 5));
  ambit_apply(m.sweep, ambit_kernel_find(m.flip, "measure"), m.s, m.energy, m.moment);
  ambit_field_set(m.s, 1);
  return m;
}

/* ---- the exact solution ---- */

/* The complete elliptic integral of the first kind, by the arithmetic-geometric mean. */
static double elliptic(double k)
{
  double a = 1, b = sqrt(1 - k * k);

  for (int i = 0; i < 40; i++) {
    const double mean = (a + b) / 2;

    b = sqrt(a * b);
    a = mean;
  }
  return acos(-1.0) / (2 * a);
}

static double exact_energy(double temperature)
{
  const double b = 2 / temperature, k = 2 * sinh(b) / (cosh(b) * cosh(b)), t = tanh(b);

  return -1 / t * (1 + 2 / acos(-1.0) * (2 * t * t - 1) * elliptic(k));
}

static double exact_moment(double temperature)
{
  const double s = pow(sinh(2 / temperature), -4);

  return s < 1 ? pow(1 - s, 0.125) : 0;
}

/* ---- the test ---- */

typedef struct means {
  double energy, moment;
  int64_t n;
} means;

static int add(ambit_program *p, int64_t iteration, void *user)
{
  const magnet *m = ((void **)user)[0];
  means *mean = ((void **)user)[1];

  (void)p;
  (void)iteration;
  mean->energy += ambit_scalar_get(m->energy);
  mean->moment += fabs(ambit_scalar_get(m->moment));
  mean->n++;
  return 0;
}

static int check(ambit *a, double temperature)
{
  magnet m = create(a, SIZE, temperature);
  means mean = {0, 0, 0};
  void *user[] = {&m, &mean};
  double cells = (double)SIZE * SIZE, energy, moment;
  int wrong;

  ambit_checkpoint_value(a, "means", &mean, sizeof mean);
  ambit_run(m.sweep, SETTLE);
  ambit_on_iteration(m.sweep, 10, add, user);
  ambit_run(m.sweep, SWEEPS);
  energy = mean.energy / (double)mean.n / cells;
  moment = mean.moment / (double)mean.n / cells;
  wrong = !(fabs(energy - exact_energy(temperature)) < 0.004 &&
            fabs(moment - exact_moment(temperature)) < (temperature < 2.269 ? 0.004 : 0.03));
  printf("temperature %.1f: energy %.4f, exact %.4f; magnetisation %.4f, exact %.4f: %s\n",
         temperature, energy, exact_energy(temperature), moment, exact_moment(temperature),
         wrong ? "WRONG" : "ok");
  return wrong;
}

static int draw(ambit *a, double temperature, const char *output)
{
  magnet m = create(a, 512, temperature);
  ambit_field *grey = ambit_field_create(m.g, "grey", AMBIT_U8);
  ambit_program *show = ambit_program_create(m.g);

  ambit_apply(show, ambit_kernel_find(m.flip, "show"), m.s, grey);
  ambit_run(m.sweep, 2000);
  ambit_run(show, 1);
  return ambit_field_save(grey, output) != AMBIT_OK;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  const char *output = NULL;
  double temperature = 2.3;
  int wrong = 0;

  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--temperature")) temperature = atof(argv[i + 1]);
    if (!strcmp(argv[i], "--output")) output = argv[i + 1];
  }
  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  if (output)
    wrong = draw(a, temperature, output);
  else
    wrong = check(a, 1.8) | check(a, 2.1) | check(a, 3.0);
  return ambit_close(a) != AMBIT_OK || wrong;
}
