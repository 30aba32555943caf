/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse grids with the options that check launches. Random programs with them are in random/
 * (--sparse --checked). */
#include "runtime_test.h"

#include <math.h>

enum { N = 24, M = 70 };

/* An annulus. */
static int in_ring(const int64_t *i, void *user)
{
  const double y = (double)i[0] - N / 2, x = ((double)i[1] - M / 2) / 3;
  const double r = sqrt(x * x + y * y);

  (void)user;
  return r > 4 && r < 11;
}

static double ramp(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)(i[0] * 3 + i[1] % 4 + component);
}

/* Reads of inactive cells, clamped and tested, and reads beyond faces; in iteration 3 a NaN. */
#define STAR "0.25f * (u[0][-1][0] + u[1][1][0] + u[0][0][-2] + (outside(0, 1) ? 3 : u[1][0][1]))"

static const char star[] = "void star(const float *u[2], float *v[2])\n"
                           "{\n"
                           "  *v[0] = " STAR ";\n"
                           "  *v[1] = 1;\n"
                           "  if (step() == 3 && index(0) > 14 && index(1) > 40)\n"
                           "    *v[1] = (*u[1] - *u[1]) / (*u[1] - *u[1]);\n"
                           "}\n";

/* Two fields on the annulus; u has values. */
typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;
} scene;

static scene set_up(const char *device, const char *storage, const char *nan)
{
  const int64_t extents[] = {N, M};
  scene s = {.a = open_on(device)};

  ambit_option_set(s.a, "nan", nan);
  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "storage", storage);
  s.g = ambit_grid_create_sparse(s.a, 2, extents, in_ring, NULL);
  s.u = ambit_field_create_vector(s.g, "u", AMBIT_F32, 2, AMBIT_AOS);
  s.v = ambit_field_create_vector(s.g, "v", AMBIT_F32, 2, AMBIT_AOS);
  ambit_field_boundary(s.u, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
  ambit_field_boundary(s.u, AMBIT_AXIS(1), AMBIT_CONSTANT, 1);
  ambit_field_boundary(s.u, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
  ambit_field_fill(s.u, ramp, NULL);
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p, ambit_kernel_create(s.a, star), s.u, s.v);
  ambit_swap(s.p, s.u, s.v);
  return s;
}

/* Checks the error message and closes the context. */
static void expect(scene *s, const char *words)
{
  CHECK_FAILED(s->a, AMBIT_EPROGRAM, words);
  ambit_close(s->a);
}

/* Devices, parts and storages: those that compile slowly have one storage in make check. */
typedef struct variant {
  const char *device, *storage;
} variant;

static bool next_variant(int *i, variant *v)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*3", "opencl", "opencl*2", "cuda"};
  static const char *const storages[] = {"runs", "list", "dense"};
  enum { DEVICES = sizeof devices / sizeof *devices, STORAGES = 3 };

  for (; *i < DEVICES * STORAGES; ++*i) {
    char name[16];

    *v = (variant){devices[*i / STORAGES], storages[*i % STORAGES]};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(v->device, "*"), v->device);
    if (!device_is_here(name)) continue;
    if (compiles_slowly(name) && !test_takes(*i + test_number, 6)) continue;
    ++*i;
    return true;
  }
  return false;
}

#define EACH_VARIANT(v)                                                                            \
  variant v;                                                                                       \
  for (int i = 0; next_variant(&i, &v);)

/* ---- NaN ---- */

/* Neither inactive cells nor those beyond faces count as never set. */
static void a_nan_is_told_by_the_cell_of_the_box(void)
{
  static float want[N][M][2], got[N][M][2];
  scene plain = set_up("ref", "runs", "0");

  CHECK_EQ(AMBIT_OK, ambit_run(plain.p, 3));
  ambit_field_read(plain.u, NULL, NULL, want);
  ambit_close(plain.a);
  EACH_VARIANT(v)
  {
    scene s = set_up(v.device, v.storage, "1");

    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 3));
    CHECK_OK(s.a);
    ambit_field_read(s.u, NULL, NULL, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s %s", v.device, v.storage);
    ambit_run(s.p, 3);
    expect(&s,
           "kernel:6:5: error: kernel star writes NaN to component 1 of field 'v' at cell [15][43] "
           "in iteration 3\n"
           "    *v[1] = (*u[1] - *u[1]) / (*u[1] - *u[1]);\n"
           "    ^~~~~\n"
           "  no value read for it is NaN: this arithmetic produced it");
  }
}

/* A read that clamps stands for one of the cell itself, which the text of the kernel does not have.
 */
static void the_read_that_gave_a_nan_is_told(void)
{
  EACH_VARIANT(v)
  {
    scene s = set_up(v.device, v.storage, "1");
    const float none[2] = {NAN, 1};

    ambit_field_write(s.u, AMBIT_INDEX(12, 5), AMBIT_INDEX(13, 6), none);
    ambit_run(s.p, 1);
    CHECK_FAILED(s.a, AMBIT_EPROGRAM,
                 "kernel:3:3: error: kernel star writes NaN to component 0 of field 'v' at cell "
                 "[12][7] in iteration 0\n    *v[0] = " STAR ";\n    ^~~~~\n"
                 "  an input is NaN: component 0 of field 'u' at offset [0][-2], cell [12][5]");
    ambit_field_fill(s.u, ramp, NULL);
    ambit_field_write(s.u, AMBIT_INDEX(12, 3), AMBIT_INDEX(13, 4), none);
    ambit_run(s.p, 1);
    expect(&s, "field 'v' at cell [12][3] in iteration");
  }
}

/* ---- cells that were never set ---- */

static int in_half(const int64_t *i, void *user)
{
  (void)user;
  return i[1] < M / 2;
}

static void new_cells_are_not_set(void)
{
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, "auto", "1");

    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 1));
    ambit_grid_activate(s.g, in_half, NULL);
    ambit_run(s.p, 1);
    expect(&s,
           "an input is NaN: component 0 of field 'u' at offset [-1][0], cell [-1][0], which was "
           "never set");
  }
}

/* ---- order ---- */

enum { LARGE = 400 };

static int behind_first_row(const int64_t *i, void *user)
{
  (void)user;
  return i[0] > 0;
}

static double one(const int64_t *i, int component, void *user)
{
  (void)i, (void)component, (void)user;
  return 1;
}

/* Threads of a GPU have cells of several tiles (grid/deal.h), so later ones may be lower. */
static void of_several_cells_the_first_is_told(void)
{
  static const char text[] = "void k(float *u)\n"
                             "{\n"
                             "  if (index(1) < 128 ? index(0) % 16 == 15 : index(0) == 1)\n"
                             "    *u = 0 / (*u - 1);\n"
                             "}\n";

  for (const char *const *d = devices_here(); *d; d++) {
    const int64_t extents[] = {LARGE, LARGE};
    ambit_grid *g;
    ambit_field *u;
    ambit_program *p;
    ambit *a;

    if (!strcmp(*d, "ref") || !strcmp(*d, "cpu")) continue; /* in the order of rows */
    a = open_on(*d);
    ambit_option_set(a, "nan", "1");
    ambit_option_set(a, "storage", "runs");
    g = ambit_grid_create_sparse(a, 2, extents, behind_first_row, NULL);
    u = ambit_field_create(g, "u", AMBIT_F32);
    p = ambit_program_create(g);
    ambit_field_fill(u, one, NULL);
    ambit_apply(p, ambit_kernel_create(a, text), u);
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "writes NaN to field 'u' at cell [1][128] in iteration 0");
    ambit_close(a);
  }
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"a_nan_is_told_by_the_cell_of_the_box", a_nan_is_told_by_the_cell_of_the_box},
      {"the_read_that_gave_a_nan_is_told", the_read_that_gave_a_nan_is_told},
      {"new_cells_are_not_set", new_cells_are_not_set},
      {"of_several_cells_the_first_is_told", of_several_cells_the_first_is_told},
      {NULL, NULL},
  };

  return test_main(argc, argv, cases);
}
