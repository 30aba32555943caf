/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of a run. tests/tool/test_trace.py parses whole files. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "runtime/runtime_test.h"
#include "support/comma.h"

enum { N = 64, STEPS = 6 };

/* How often the words occur in a file; -1: no such file. */
static int count(const char *path, const char *words)
{
  char line[1024];
  FILE *f = fopen(path, "r");
  int n = 0;

  if (!f) return -1;
  while (fgets(line, sizeof line, f))
    n += strstr(line, words) != NULL;
  fclose(f);
  return n;
}

static int go_on(ambit_program *p, int64_t iteration, void *user)
{
  (void)p, (void)iteration, (void)user;
  return 0;
}

/* Six iterations of a kernel that reads a neighbour and reduces, on two parts, with a callback
 * every two. */
static ambit_status run(ambit *a)
{
  ambit_grid *g = grid_1d(a, N);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(u, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
  ambit_apply(
      p,
      ambit_kernel_create(
          a, "void step(const float *u, float *v, max float *s) { v[0] = u[1]; *s = v[0]; }"),
      u, v, s);
  ambit_swap(p, u, v);
  ambit_on_iteration(p, 2, go_on, NULL);
  return ambit_run_until(p, s, AMBIT_ABOVE, 1, STEPS);
}

static void operations_checks_and_callbacks_are_in_the_file(void)
{
  const char *path = folder_path("trace.json");
  ambit *a = open_on("cpu*2");

  ambit_option_set(a, "trace", path);
  CHECK_EQ(AMBIT_OK, run(a));
  CHECK_EQ(-1, count(path, "begin")); /* not before it is complete */
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK_EQ(2 * STEPS, count(path, "\"name\":\"step\",\"cat\":\"host\""));
  CHECK_EQ(STEPS, count(path, "\"name\":\"finish\""));
  CHECK_EQ(STEPS, count(path, "\"name\":\"rotate\""));
  CHECK_EQ(STEPS, count(path, "\"name\":\"check\""));
  CHECK_EQ(STEPS / 2, count(path, "\"name\":\"callback\""));
  CHECK_EQ(1, count(path, "\"dropped\":0"));
  CHECK_EQ(1, folder_files());
}

static void without_the_option_nothing_is_written(void)
{
  const int before = folder_files();
  ambit *a = open_on("cpu*2");

  CHECK_EQ(AMBIT_OK, run(a));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK_EQ(before, folder_files());
}

static void a_file_that_cannot_be_is_refused_before_anything_runs(void)
{
  ambit *a = open_on("cpu");

  ambit_option_set(a, "trace", folder_path("no/such/folder.json"));
  CHECK_EQ(AMBIT_EIO, run(a));
  CHECK_FAILED(a, AMBIT_EIO, "no/such/folder.json");
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_context_that_never_ran_leaves_no_file(void)
{
  const int before = folder_files();
  ambit *a = open_on("cpu");

  ambit_option_set(a, "trace", folder_path("never.json"));
  CHECK(grid_1d(a, N));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK_EQ(before, folder_files());
}

static void a_decimal_comma_is_not_in_the_file(void)
{
  const char *path = folder_path("comma.json");
  ambit *a;

  if (!comma_begin()) {
    comma_end();
    SKIP("there is no locale with a decimal comma, nor localedef and charmaps to make one");
  }
  a = open_on("cpu*2");
  ambit_option_set(a, "weights", "1.5,0.5");
  ambit_option_set(a, "trace", path);
  CHECK_EQ(AMBIT_OK, run(a));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  comma_end();
  CHECK_EQ(STEPS, count(path, "\"cells\":48"));
  CHECK_EQ(1, count(path, "\"ts\":0.000,"));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"operations_checks_and_callbacks_are_in_the_file",
       operations_checks_and_callbacks_are_in_the_file},
      {"without_the_option_nothing_is_written", without_the_option_nothing_is_written},
      {"a_file_that_cannot_be_is_refused_before_anything_runs",
       a_file_that_cannot_be_is_refused_before_anything_runs},
      {"a_context_that_never_ran_leaves_no_file", a_context_that_never_ran_leaves_no_file},
      {"a_decimal_comma_is_not_in_the_file", a_decimal_comma_is_not_in_the_file},
      {NULL, NULL},
  };
  int bad = !folder_make();

  bad |= test_main(argc, argv, tests);
  folder_remove();
  return bad;
}
