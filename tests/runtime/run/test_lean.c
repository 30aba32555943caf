/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that write new values over the oldest ones: bit-equal to ref in all fields, also in the
 * one that they do without. */
#include "runtime/program/lean.h"
#include "runtime/runtime_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 6, ROWS = 23, COLUMNS = 41 };

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *f[MOST_FIELDS];
  ambit_scalar *sum;
  ambit_program *p;
} scene;

typedef struct story {
  const char *name;
  int nfields, components;
  int spared; /* fields that the lean form does without; */
  int fixed;  /* and with fixed faces */
  void (*build)(scene *s);
} story;

static ambit_kernel *kernel(const scene *s, const char *text)
{
  return ambit_kernel_create(s->a, text);
}

static void rotate(scene *s, int a, int b, int c)
{
  ambit_rotate(s->p, 3, (ambit_field *[]){s->f[a], s->f[b], s->f[c]});
}

#define WAVE(past, now, next)                                                                      \
  "void wave(const double *" past ", const double *" now ", double *" next ")"                     \
  "{ *" next " = 2 * *" now " - *" past " + 0.2 * (" now "[-1][0] + " now "[1][0] + " now          \
  "[0][-1] + " now "[0][1] - 4 * *" now ") + 0.001 * step(); }"

static void wave(scene *s)
{
  ambit_apply(s->p, kernel(s, WAVE("past", "now", "next")), s->f[0], s->f[1], s->f[2]);
  rotate(s, 0, 1, 2);
}

/* Other steps take the new values; the first parameter is the one that is written. */
static void damped(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void wave(double *next, const double *now, const double *past, double k)"
                        "{ double old = *past; *next = 2 * *now - old;"
                        "  if (*now > 0.5) *next += k * (now[-1][0] - now[1][1]); }"),
              s->f[2], s->f[1], s->f[0], 0.125);
  ambit_apply(s->p,
              kernel(s, "void damp(double *u, sum double *s) { *u = *u * 0.875; *s = *u * *u; }"),
              s->f[2], s->sum);
  rotate(s, 0, 1, 2);
  ambit_apply(s->p, kernel(s, "void source(double *u) { *u += 0.0625 * index(1); }"), s->f[1]);
}

/* A velocity, and two waves, of which one feeds the other. */
static void two_waves(scene *s)
{
  ambit_apply(s->p, kernel(s, WAVE("past", "now", "next")), s->f[0], s->f[1], s->f[2]);
  ambit_apply(s->p,
              kernel(s, "void other(const double *a, const double *b, const double *u, double *c)"
                        "{ *c = 2 * *b - *a + 0.25 * (u[0][-1] - u[1][0]); }"),
              s->f[3], s->f[4], s->f[1], s->f[5]);
  rotate(s, 0, 1, 2);
  rotate(s, 3, 4, 5);
}

static void vectors(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void wave(const double *past[2], const double *now[2], double *next[2])"
                        "{ for (int i = 0; i < 2; i++)"
                        "  next[i][0][0] = 2 * now[i][0][0] - past[i][0][0]"
                        "  + 0.1 * (now[i][-1][0] - now[1 - i][0][1]); }"),
              s->f[0], s->f[1], s->f[2]);
  rotate(s, 0, 1, 2);
}

/* Two fields that take turns: the lean form has no rotation. */
static void cell(scene *s)
{
  ambit_apply(s->p, kernel(s, "void cell(const double *u, double *v) { *v = 0.75 * *u + 0.5; }"),
              s->f[0], s->f[1]);
  ambit_swap(s->p, s->f[0], s->f[1]);
}

/* Of a rotation one field is spared, even if none is read at neighbours: one iteration at the end
 * gives values to one field. */
static void shift(scene *s)
{
  ambit_apply(s->p, kernel(s, "void shift(const double *u, double *v) { *v = *u + 0.25; }"),
              s->f[1], s->f[2]);
  rotate(s, 0, 1, 2);
}

/* ---- programs without a lean form ---- */

static void neighbours(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void k(const double *past, const double *now, double *next)"
                        "{ *next = *now - 0.5 * past[0][-1]; }"),
              s->f[0], s->f[1], s->f[2]);
  rotate(s, 0, 1, 2);
}

static void late(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void k(const double *past, const double *now, double *next)"
                        "{ *next = now[1][0]; *next = *next - 0.5 * *past; }"),
              s->f[0], s->f[1], s->f[2]);
  rotate(s, 0, 1, 2);
}

static void mixed_vectors(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void k(const double *past[2], const double *now[2], double *next[2])"
                        "{ for (int i = 0; i < 2; i++)"
                        "  next[i][0][0] = now[i][-1][0] - 0.5 * past[1 - i][0][0]; }"),
              s->f[0], s->f[1], s->f[2]);
  rotate(s, 0, 1, 2);
}

static void kept(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void k(const double *past, const double *now, double *next)"
                        "{ if (*now > 0.25) *next = now[1][0] - 0.5 * *past; }"),
              s->f[0], s->f[1], s->f[2]);
  rotate(s, 0, 1, 2);
}

static void used_after(scene *s)
{
  wave(s);
  ambit_apply(s->p, kernel(s, "void k(const double *old, double *u) { *u += 0.125 * *old; }"),
              s->f[2], s->f[1]);
}

static void beside(scene *s)
{
  wave(s);
  ambit_apply_faces(s->p, AMBIT_ALL_FACES, kernel(s, "void k(double *u) { *u += 1; }"), s->f[1]);
}

static const story stories[] = {
    {"wave", 3, 1, 1, 1, wave},
    {"damped", 3, 1, 1, 0, damped},
    {"two waves", 6, 1, 2, 2, two_waves},
    {"vectors", 3, 2, 1, 1, vectors},
    {"cell", 2, 1, 1, 1, cell},
    {"shift", 3, 1, 1, 1, shift},
    {"neighbours", 3, 1, 0, 0, neighbours},
    {"late", 3, 1, 0, 0, late},
    {"kept", 3, 1, 0, 0, kept},
    {"mixed vectors", 3, 2, 0, 0, mixed_vectors},
    {"used after", 3, 1, 0, 0, used_after},
};

/* ---- running ---- */

static double value(const int64_t *index, int component, void *user)
{
  const int64_t n = index[0] * 7 + index[1] * 13 + component * 5 + *(const int *)user;

  return (double)(n * n % 97) / 128;
}

/* The first two of three fields have values, and are alike at the edge unless `unlike`. */
static scene open_scene(const char *device, const char *lean, const story *t, ambit_boundary kind,
                        bool unlike)
{
  scene s = {0};
  char name[] = "f0";

  setenv("AMBIT_MPI", strcmp(device, "ref") ? "auto" : "off", 1); /* ref has one part */
  s.a = open_on(device);

  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "lean", lean);
  ambit_option_set(s.a, "threads", "2");
  if (t != stories) ambit_option_set(s.a, "cc", "none"); /* the first story is compiled */
  s.g = grid_2d(s.a, ROWS, COLUMNS);
  s.sum = ambit_scalar_create(s.a, "sum", AMBIT_F64);
  s.p = ambit_program_create(s.g);
  for (int i = 0; i < t->nfields; i++) {
    int salt = unlike ? i : i / 3;

    name[1] = (char)('0' + i);
    s.f[i] = ambit_field_create_vector(s.g, name, AMBIT_F64, t->components, AMBIT_SOA);
    ambit_field_boundary(s.f[i], AMBIT_ALL_FACES, kind, 0.25);
    if (i % 3 < 2 || unlike) ambit_field_fill(s.f[i], value, &salt);
  }
  t->build(&s);
  return s;
}

static void run_all(scene *s)
{
  ambit_run(s->p, 1);
  ambit_run(s->p, 2);
  ambit_run(s->p, 13);
}

static void compare(const char *name, scene *want, scene *got, int nfields)
{
  for (int i = 0; i < nfields; i++) {
    static double a[2 * ROWS * COLUMNS], b[2 * ROWS * COLUMNS];

    ambit_field_read(want->f[i], NULL, NULL, a);
    ambit_field_read(got->f[i], NULL, NULL, b);
    CHECK_OK(want->a);
    CHECK_OK(got->a);
    CHECK_MSG(!memcmp(a, b, sizeof a), "%s: field %d differs", name, i);
  }
  CHECK_MSG(ambit_scalar_get(want->sum) == ambit_scalar_get(got->sum), "%s: the sum differs", name);
}

static int spared(const scene *s)
{
  int fields = 0, lean = 0;

  if (!s->p->lean) return 0;
  for (int i = 0; i < MOST_FIELDS; i++) {
    fields += s->f[i] != NULL;
    lean += s->f[i] && ambit__program_effects(s->p->lean->program, s->f[i]) != 0;
  }
  return fields - lean;
}

static void check_story(const char *device, const story *t, ambit_boundary kind, bool unlike,
                        const char *depth)
{
  scene want = open_scene("ref", "off", t, kind, unlike);
  scene got = open_scene(device, "on", t, kind, unlike);
  char name[120];

  snprintf(name, sizeof name, "%s, %s on %s, depth %s", t->name, unlike ? "unlike" : "alike",
           device, depth);
  ambit_option_set(got.a, "depth", depth);
  run_all(&want);
  run_all(&got);
  CHECK_OK(got.a);
  CHECK_MSG(spared(&got) == (kind == AMBIT_FIXED ? t->fixed : t->spared),
            "%s: does without %d fields", name, spared(&got));
  CHECK_MSG(!got.p->lean || !unlike || kind != AMBIT_FIXED || !got.p->lean->open,
            "%s: edges differ", name);
  compare(name, &want, &got, t->nfields);
  ambit_close(want.a);
  ambit_close(got.a);
}

static void all_fields_are_as_if_none_were_spared(void)
{
  static const ambit_boundary kinds[] = {AMBIT_FIXED, AMBIT_PERIODIC, AMBIT_CONSTANT};

  for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
    for (int k = 0; k < 3; k++) {
      check_story("ref", &stories[i], kinds[k], false, "auto");
      if (k == 0 || i < 2) check_story("cpu", &stories[i], kinds[k], k == 1, k ? "auto" : "3");
    }
}

static void parts_spare_fields_too(void)
{
  for (size_t i = 0; i < 3; i++) {
    check_story("cpu*3", &stories[i], AMBIT_FIXED, false, "1");
    check_story("cpu*3", &stories[i], AMBIT_PERIODIC, true, "2");
  }
}

static void fixed_cells_that_differ_take_turns_in_all_fields(void)
{
  check_story("cpu", &stories[0], AMBIT_FIXED, true, "auto");
  check_story("cpu*2", &stories[2], AMBIT_FIXED, true, "auto");
}

static void cells_beside_the_region_must_not_change(void)
{
  const story t = {"beside", 3, 1, 1, 0, beside};

  check_story("cpu", &t, AMBIT_FIXED, false, "auto");
}

/* ---- callbacks, conditions and changes ---- */

static int look(ambit_program *p, int64_t iteration, void *user)
{
  scene *s = user;
  double first[ROWS * COLUMNS];

  (void)p;
  ambit_field_read(s->f[2], NULL, NULL, first);
  ambit_scalar_set(s->sum, ambit_scalar_get(s->sum) + first[5 * COLUMNS + 7] * (double)iteration);
  if (iteration == 10) ambit_field_set(s->f[2], 0.5);
  return 0;
}

static void callbacks_see_all_fields(void)
{
  scene s[2] = {open_scene("ref", "off", &stories[0], AMBIT_CLAMP, true),
                open_scene("cpu", "on", &stories[0], AMBIT_CLAMP, true)};

  for (int i = 0; i < 2; i++) {
    ambit_on_iteration(s[i].p, 5, look, &s[i]);
    ambit_run(s[i].p, 23);
  }
  compare("callbacks", &s[0], &s[1], 3);
  for (int i = 0; i < 2; i++)
    ambit_close(s[i].a);
}

static void runs_with_a_condition_end_in_the_same_iteration(void)
{
  scene s[2] = {open_scene("ref", "off", &stories[1], AMBIT_CLAMP, true),
                open_scene("cpu", "on", &stories[1], AMBIT_CLAMP, true)};

  for (int i = 0; i < 2; i++) {
    ambit_option_set(s[i].a, "depth", "4");
    ambit_program_check_every(s[i].p, 9);
    ambit_run_until(s[i].p, s[i].sum, AMBIT_ABOVE, 400, 90);
  }
  CHECK_MSG(ambit_program_iterations(s[0].p) == ambit_program_iterations(s[1].p), "%d, %d",
            (int)ambit_program_iterations(s[0].p), (int)ambit_program_iterations(s[1].p));
  compare("condition", &s[0], &s[1], 3);
  for (int i = 0; i < 2; i++)
    ambit_close(s[i].a);
}

static void a_step_that_is_appended_ends_the_lean_form(void)
{
  scene s[2] = {open_scene("ref", "off", &stories[0], AMBIT_CLAMP, true),
                open_scene("cpu", "on", &stories[0], AMBIT_CLAMP, true)};

  for (int i = 0; i < 2; i++) {
    ambit_run(s[i].p, 4);
    ambit_apply(s[i].p, kernel(&s[i], "void k(const double *w, double *u) { *u += 0.125 * *w; }"),
                s[i].f[2], s[i].f[1]);
    ambit_run(s[i].p, 4);
  }
  CHECK(!s[1].p->lean);
  compare("appended", &s[0], &s[1], 3);
  for (int i = 0; i < 2; i++) {
    ambit_field_destroy(s[i].f[2]);
    ambit_close(s[i].a);
  }
}

/* ---- the trial ---- */

static void the_faster_form_goes_on(void)
{
  scene s = open_scene("cpu", "auto", &stories[0], AMBIT_CLAMP, true);

  ambit_run(s.p, 2);
  CHECK(!s.p->lean); /* not worthwhile */
  ambit_option_set(s.a, "lean", "on");
  ambit_run(s.p, 3);
  CHECK(s.p->lean);
  ambit_option_set(s.a, "lean", "auto");
  ambit_run(s.p, 200);
  CHECK_OK(s.a);
  CHECK(s.p->lean->trial.round == AMBIT__LEAN_ROUNDS && s.p->lean->trial.at == 0);
  CHECK(s.p->lean->trial.best[0] > 0 && s.p->lean->trial.best[1] > 0);
  CHECK(ambit_program_iterations(s.p) == 205);
  ambit_close(s.a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"all_fields_are_as_if_none_were_spared", all_fields_are_as_if_none_were_spared},
      {"parts_spare_fields_too", parts_spare_fields_too},
      {"fixed_cells_that_differ_take_turns_in_all_fields",
       fixed_cells_that_differ_take_turns_in_all_fields},
      {"cells_beside_the_region_must_not_change", cells_beside_the_region_must_not_change},
      {"callbacks_see_all_fields", callbacks_see_all_fields},
      {"runs_with_a_condition_end_in_the_same_iteration",
       runs_with_a_condition_end_in_the_same_iteration},
      {"a_step_that_is_appended_ends_the_lean_form", a_step_that_is_appended_ends_the_lean_form},
      {"the_faster_form_goes_on", the_faster_form_goes_on},
      {0}};

  return test_main(argc, argv, tests);
}
