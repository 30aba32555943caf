/* SPDX-License-Identifier: BSD-3-Clause */
/* Long runs, of which some devices record iterations: results equal those of ref, whatever happens
 * to the fields in between. */
#include "runtime/runtime_test.h"
#include "support/late.h"

enum { ROWS = 14, COLUMNS = 20, CELLS = ROWS * COLUMNS, FIELDS = 3 };

static const char blur_rule[] = AMBIT_SOURCE(void blur(const float *u, float *v) {
  *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]) + 0.5f;
});
static const char far_rule[] =
    AMBIT_SOURCE(void far(const float *u, float *v) { *v = 0.5f * (u[-3][0] + u[0][3]); });
static const char wave_rule[] =
    AMBIT_SOURCE(void wave(const float *old, const float *now, float *next) {
      *next = 2 * *now - *old + 0.1f * (now[-1][0] + now[1][0] + now[0][-1] + now[0][1] - 4 * *now);
    });

typedef struct scene {
  ambit *a;
  ambit_field *f[FIELDS];
  ambit_program *blur, *far, *wave;
} scene;

static double start_value(const int64_t *at, int component, void *user)
{
  (void)component;
  return (double)((at[0] * 7 + at[1] * 13 + *(const int *)user) % 31);
}

static void fill(scene *s, int field, int salt)
{
  ambit_field_fill(s->f[field], start_value, &salt);
}

static scene set_up(const char *devices)
{
  static const char *const names[] = {"a", "b", "c"};
  scene s = {.a = open_on(devices)};
  ambit_grid *g;

  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "depth", "1"); /* only single iterations are recorded */
  g = grid_2d(s.a, ROWS, COLUMNS);
  for (int i = 0; i < FIELDS; i++) {
    s.f[i] = ambit_field_create(g, names[i], AMBIT_F32);
    ambit_field_boundary(s.f[i], AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
    ambit_field_boundary(s.f[i], AMBIT_AXIS(1), AMBIT_REFLECT, 0);
    fill(&s, i, i);
  }
  s.blur = ambit_program_create(g);
  ambit_apply(s.blur, ambit_kernel_create(s.a, blur_rule), s.f[0], s.f[1]);
  ambit_swap(s.blur, s.f[0], s.f[1]);
  s.far = ambit_program_create(g);
  ambit_apply(s.far, ambit_kernel_create(s.a, far_rule), s.f[0], s.f[2]);
  ambit_swap(s.far, s.f[0], s.f[2]);
  s.wave = ambit_program_create(g);
  ambit_apply(s.wave, ambit_kernel_create(s.a, wave_rule), s.f[0], s.f[1], s.f[2]);
  ambit_rotate(s.wave, FIELDS, s.f);
  return s;
}

/* Changes between runs that outdate recordings: buffers, margins, values. */
static void play(scene *s)
{
  CHECK_EQ(AMBIT_OK, ambit_run(s->blur, 41));
  CHECK_EQ(AMBIT_OK, ambit_run(s->far, 3));
  CHECK_EQ(AMBIT_OK, ambit_run(s->blur, 20));
  CHECK_EQ(AMBIT_OK, ambit_run(s->far, 30));
  fill(s, 0, 11);
  CHECK_EQ(AMBIT_OK, ambit_run(s->wave, 40));
  CHECK_EQ(AMBIT_OK, ambit_run(s->blur, 5));
  ambit_field_boundary(s->f[0], AMBIT_AXIS(1), AMBIT_CONSTANT, 2.5);
  CHECK_EQ(AMBIT_OK, ambit_run(s->blur, 25));
}

static void read_all(scene *s, float *values)
{
  const int64_t lo[] = {0, 0}, hi[] = {ROWS, COLUMNS};

  for (int i = 0; i < FIELDS; i++)
    ambit_field_read(s->f[i], lo, hi, values + i * CELLS);
  CHECK_OK(s->a);
}

static void compare_on(const char *devices)
{
  static float want[FIELDS * CELLS], got[FIELDS * CELLS];
  scene truth = set_up("ref"), s = set_up(devices);
  int differ = 0;

  play(&truth);
  play(&s);
  read_all(&truth, want);
  read_all(&s, got);
  for (int i = 0; i < FIELDS * CELLS; i++)
    differ += want[i] != got[i];
  CHECK_MSG(!differ, "%s: %d values differ", devices, differ);
  ambit_close(truth.a);
  ambit_close(s.a);
}

static void long_runs_give_what_short_ones_do(void)
{
  char parts[32];

  EACH_DEVICE(d)
  {
    if (!strcmp(*d, "ref")) continue;
    compare_on(*d);
    snprintf(parts, sizeof parts, "%s*3", *d);
    compare_on(parts);
  }
}

static void iterations_are_recorded_once_per_state_of_the_fields(void)
{
  compare_on("late");
  CHECK_MSG(late.replays > 80, "%d", late.replays);
  CHECK(!late.recording);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"long_runs_give_what_short_ones_do", long_runs_give_what_short_ones_do},
      {"iterations_are_recorded_once_per_state_of_the_fields",
       iterations_are_recorded_once_per_state_of_the_fields},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
