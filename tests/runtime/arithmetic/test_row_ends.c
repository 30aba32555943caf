/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields that are swapped, and the cells beside the rows of a step: stored as well if both fields
 * hold equal values there, left alone if not. Both fields equal those of ref; the program tells the
 * decision. */
#include "device/cpu/machine.h"
#include "runtime/run/run.h"
#include "runtime/runtime_test.h"

enum { MOST_PLANES = 64, ROWS = 136, MOST_COLUMNS = 150, ITERATIONS = 2 };
enum { CELLS = MOST_PLANES * ROWS * MOST_COLUMNS };

static int planes = 4; /* of the grid; more where CUDA's kernels would not store vectors */

#define STAR                                                                                       \
  "void star(const int *u, int *v) { *v = 3 * *u - u[-1][0][0] + u[1][0][0] - 5 * u[0][-1][0] + "  \
  "u[0][1][0] - u[0][0][-1] + 7 * u[0][0][1]; }"
#define ALL "void all(int *u) { *u += 1; }"

/* ---- simulated caches of the cpu device ---- */

void __real_ambit__machine_probe(const char *root, ambit__machine *m);
void __wrap_ambit__machine_probe(const char *root, ambit__machine *m);

/* The linker replaces ambit__machine_probe by this: with such small caches, results are stored past
 * them, in whole vectors. */
void __wrap_ambit__machine_probe(const char *root, ambit__machine *m)
{
  __real_ambit__machine_probe(root, m);
  m->l1 = 4 << 10;
  m->l2 = 16 << 10;
  m->l3 = 64 << 10;
  m->can_stream = true;
}

/* ---- scenes ---- */

typedef struct scene {
  ambit *a;
  ambit_field *u, *v, *w;
  ambit_program *p;
} scene;

typedef struct act {
  void (*play)(scene *s);
  int columns;           /* of the grid */
  int steps;             /* kernels of an iteration, each followed by a swap */
  const char *devices;   /* appended to the name of a device */
  const char *partition; /* NULL: auto */
  bool ends;             /* in the last run */
} act;

static double start(const int64_t *index, int component, void *user)
{
  const int64_t n = index[0] * 31 + index[1] * 17 + index[2] * 5 + component;

  return (double)((n * n + *(const int *)user) % 1009);
}

static void give(ambit_field *f, int seed)
{
  ambit_field_fill(f, start, &seed);
}

/* Changes two cells of a face. */
static void touch(ambit_field *f, int32_t value)
{
  const int64_t lo[] = {planes / 2, 7, 0}, hi[] = {planes / 2 + 1, 9, 1};
  const int32_t values[] = {value, value + 1};

  ambit_field_write(f, lo, hi, values);
}

/* ---- actions ---- */

static void one_is_given(scene *s)
{
  give(s->u, 1);
  ambit_run(s->p, ITERATIONS);
  ambit_run(s->p, ITERATIONS + 1);
}

static void both_are_given(scene *s)
{
  give(s->u, 1);
  give(s->v, 2);
  ambit_run(s->p, ITERATIONS);
}

static void it_is_given_again(scene *s)
{
  one_is_given(s);
  give(s->u, 3);
  ambit_run(s->p, ITERATIONS);
  touch(s->u, 44);
  ambit_run(s->p, ITERATIONS);
}

/* Long enough for iterations to be recorded. */
static void the_other_is_touched(scene *s)
{
  give(s->u, 1);
  ambit_run(s->p, 15);
  touch(s->v, 55);
  ambit_run(s->p, 4);
}

/* Another program writes all of one of them. */
static void another_program_comes_between(scene *s)
{
  ambit_program *other = ambit_program_create(s->p->grid);

  ambit_apply(other, ambit_kernel_create(s->a, ALL), s->u);
  one_is_given(s);
  ambit_run(other, 1);
  ambit_run(s->p, ITERATIONS);
}

/* Only cells of the box change, so the fields stay equal at the faces. */
static void another_program_leaves_the_faces(scene *s)
{
  const int64_t lo[] = {0, 0, 8}, hi[] = {planes, ROWS, 128};
  ambit_program *other = ambit_program_create(s->p->grid);

  ambit_apply_box(other, lo, hi, ambit_kernel_create(s->a, ALL), s->u);
  one_is_given(s);
  ambit_run(other, 1);
  ambit_run(s->p, ITERATIONS);
}

static void a_third_takes_its_turn(scene *s)
{
  ambit_swap(s->p, s->u, s->w);
  give(s->u, 1);
  give(s->w, 2);
  ambit_run(s->p, ITERATIONS);
}

static int change(ambit_program *p, int64_t iteration, void *user)
{
  scene *s = user;

  (void)p;
  touch(iteration == 3 ? s->u : s->v, (int32_t)iteration);
  return 0;
}

static void a_callback_changes_them(scene *s)
{
  give(s->u, 1);
  ambit_on_iteration(s->p, 3, change, s);
  ambit_run(s->p, 5);
  CHECK(ambit_error(s->a) || s->p->applies[0].row_ends);
  ambit_run(s->p, 3);
}

/* ---- running ---- */

/* Stores both fields in `values`; returns whether the first step stored row ends in its last run.
 */
static bool perform(const act *it, const char *device, int32_t *values)
{
  const int64_t extents[] = {planes, ROWS, it->columns};
  char name[64];
  scene s;
  ambit_grid *g;
  ambit_kernel *star;
  bool ends;

  snprintf(name, sizeof name, "%s%s", device, strcmp(device, "ref") ? it->devices : "");
  s.a = open_on(name);
  if (it->partition && strcmp(device, "ref")) ambit_option_set(s.a, "partition", it->partition);
  g = ambit_grid_create(s.a, 3, extents);
  s.u = ambit_field_create(g, "u", AMBIT_I32);
  s.v = ambit_field_create(g, "v", AMBIT_I32);
  s.w = ambit_field_create(g, "w", AMBIT_I32);
  s.p = ambit_program_create(g);
  star = ambit_kernel_create(s.a, STAR);
  ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_field_boundary(s.v, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_field_boundary(s.w, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  for (int i = 0; i < it->steps; i++) {
    ambit_apply(s.p, star, s.u, s.v);
    ambit_swap(s.p, s.u, s.v);
  }
  it->play(&s);
  ambit_field_read(s.u, NULL, NULL, values);
  ambit_field_read(s.v, NULL, NULL, values + CELLS);
  CHECK_OK(s.a);
  ends = !ambit_error(s.a) && s.p->applies[0].row_ends;
  ambit_close(s.a);
  return ends;
}

static void check(act it)
{
  static int32_t want[2 * CELLS], got[2 * CELLS];

  if (!it.columns) it.columns = 144;
  if (!it.steps) it.steps = 1;
  if (!it.devices) it.devices = "";
  memset(want, 0, sizeof want);
  perform(&it, "ref", want);
  EACH_DEVICE(d)
  {
    if (!strcmp(*d, "ref")) continue;
    memset(got, 0, sizeof got);
    CHECK_EQ(it.ends, perform(&it, *d, got));
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s differs from ref", *d);
  }
}

/* ---- tests ---- */

static void a_copy_is_alike(void)
{
  check((act){.play = one_is_given, .ends = true});
  check((act){.play = it_is_given_again, .ends = true});
  check((act){.play = another_program_leaves_the_faces, .ends = true});
  check((act){.play = one_is_given, .devices = "*3", .partition = "3x1x1", .ends = true});
}

static void values_of_its_own_are_kept(void)
{
  check((act){.play = both_are_given});
  check((act){.play = another_program_comes_between});
  check((act){.play = a_third_takes_its_turn});
  check((act){.play = a_callback_changes_them});
}

static void recordings_are_made_anew(void)
{
  check((act){.play = the_other_is_touched, .steps = 3});
}

static void rows_must_be_whole(void)
{
  check((act){.play = one_is_given, .columns = 150});
  check((act){.play = one_is_given, .devices = "*2", .partition = "1x1x2"});
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_copy_is_alike", a_copy_is_alike},
      {"values_of_its_own_are_kept", values_of_its_own_are_kept},
      {"recordings_are_made_anew", recordings_are_made_anew},
      {"rows_must_be_whole", rows_must_be_whole},
      {NULL, NULL},
  };

  EACH_DEVICE(d)
  {
    if (!strcmp(*d, "cuda")) planes = MOST_PLANES;
  }
  return test_main(argc, argv, tests);
}
