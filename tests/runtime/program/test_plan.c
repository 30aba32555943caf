/* SPDX-License-Identifier: BSD-3-Clause */
/* The option plan: the plans that it names are used, and if there are none, that is an error. */
#include "runtime/program/cycle.h"
#include "runtime/runtime_test.h"

#include <string.h>

enum { ROWS = 50, COLUMNS = 70 };

static const char rule[] = AMBIT_SOURCE(void heat(const float *u, float *v) {
  *v = *u + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
});

typedef struct outcome {
  ambit_status status;
  char text[1000]; /* of the error */
  char line[96];   /* of the wavefront; "": there is none */
  float cells[ROWS * COLUMNS];
} outcome;

static double start(const int64_t *cell, int component, void *user)
{
  (void)component, (void)user;
  return (double)((cell[0] * 7919 + cell[1] * 104729) % 1009) / 1009;
}

static void run(const char *devices, const char *plan, ambit_boundary kind, outcome *o)
{
  ambit *a = ambit_open(NULL, NULL);
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;

  ambit_on_error(a, NULL, NULL);
  ambit_option_set(a, "devices", devices);
  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "plan", plan);
  g = grid_2d(a, ROWS, COLUMNS);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, kind, 0);
  ambit_field_fill(u, start, NULL);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v);
  ambit_swap(p, u, v);
  memset(o, 0, sizeof *o);
  o->status = ambit_run(p, 11);
  if (p->cycle && p->cycle->wavefront)
    ambit__wavefront_print(p->cycle->wavefront, o->line, sizeof o->line);
  if (o->status) strncpy(o->text, ambit_error_text(a), sizeof o->text - 1);
  ambit_field_read(u, NULL, NULL, o->cells);
  ambit_close(a);
}

static void a_plan_that_there_is_not_is_an_error_that_lists_those_there_are(void)
{
  static const char *const plans[] = {"(fsed",
                                      "(rows 5",
                                      "(wavefront depth 3 rows 4 tile 17)",
                                      "(wavefront depth 3 rows 4 strip 8)",
                                      "(wavefront depth 3 rows -4)",
                                      "(wavefront depth 3 rows 9223372036854775807)",
                                      "(wavefront depth 2147483647 rows 4)"};
  static outcome o;

  for (int i = 0; i < 7; i++) {
    run("cpu", plans[i], AMBIT_CLAMP, &o);
    CHECK_EQ(AMBIT_EOPTION, o.status);
    CHECK_MSG(strstr(o.text, plans[i]) && strstr(o.text, "there are (rows ") &&
                  strstr(o.text, "(wavefront depth N rows N tile N strip N) with numbers that"),
              "%s", o.text);
  }
  run("cpu", "(wavefront depth 3 rows 4 tile 16)", AMBIT_PERIODIC, &o); /* has no tiles */
  CHECK_EQ(AMBIT_EOPTION, o.status);
  run("ref", "(rows", AMBIT_CLAMP, &o); /* has no choice */
  CHECK_EQ(AMBIT_OK, o.status);
}

static void the_plan_of_a_wavefront_sets_its_sizes(void)
{
  static const char *const plans[] = {
      "(wavefront depth 3 rows 4 tile 16)", "(wavefront depth 5 rows 7 strip 16)",
      "(wavefront depth 3 rows 4 tile 32 strip 16)", "(wavefront depth 2 rows 64", "(wavefront"};
  static outcome want, got;

  run("ref", "", AMBIT_CLAMP, &want);
  for (int i = 0; i < 5; i++) {
    run("cpu", plans[i], AMBIT_CLAMP, &got);
    CHECK_EQ(AMBIT_OK, got.status);
    CHECK_MSG(ambit__plan_begins(got.line, plans[i]), "%s: %s", plans[i], got.line);
    CHECK(!memcmp(want.cells, got.cells, sizeof want.cells));
  }
}

/* Blocks keep planes for those that read them again. */
static void values_that_are_read_once_are_in_no_block(void)
{
  static const char *const rules[] = {
      "void shift(const float *f[3], float *g[3])\n"
      "{ *g[0] = f[0][-1][0][0]; *g[1] = f[1][1][0][0]; *g[2] = f[2][0][1][0]; }",
      "void mean(const float *f[3], float *g[3])\n"
      "{ *g[0] = f[0][-1][0][0] + f[0][1][0][0]; *g[1] = *f[1]; *g[2] = *f[2]; }"};
  const int64_t extents[] = {6, 200, 4000};

  for (int i = 0; i < 2; i++) {
    ambit *a = ambit_open(NULL, NULL);
    ambit_grid *g;
    ambit_field *u, *v;
    ambit_program *p;

    ambit_option_set(a, "devices", "cpu");
    ambit_option_set(a, "machine", "xeon16"); /* of which the caches are known */
    ambit_option_set(a, "depth", "1");
    g = ambit_grid_create(a, 3, extents);
    u = ambit_field_create_vector(g, "u", AMBIT_F32, 3, AMBIT_SOA);
    v = ambit_field_create_vector(g, "v", AMBIT_F32, 3, AMBIT_SOA);
    p = ambit_program_create(g);
    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
    ambit_apply(p, ambit_kernel_create(a, rules[i]), u, v);
    ambit_run(p, 1);
    CHECK_OK(a);
    CHECK_EQ(i == 1, strstr(p->applies[0].functions[0]->plan, "block") != NULL);
    ambit_close(a);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_plan_that_there_is_not_is_an_error_that_lists_those_there_are",
       a_plan_that_there_is_not_is_an_error_that_lists_those_there_are},
      {"the_plan_of_a_wavefront_sets_its_sizes", the_plan_of_a_wavefront_sets_its_sizes},
      {"values_that_are_read_once_are_in_no_block", values_that_are_read_once_are_in_no_block},
      {0}};

  return test_main(argc, argv, tests);
}
