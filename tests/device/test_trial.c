/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials of the CPU device: launches are pretended, with times that the test decides. */
#define _XOPEN_SOURCE 700
#include "device/cpu/trial.h"
#include "support/folder.h"
#include "support/test.h"

#include <time.h>

enum { CELLS = 1 << 20, MOST_RUNS = 16 };

static ambit__errors errors;
static ambit__settings settings;
static ambit__rule *rule;
static ambit__binding bind[2];

static ambit__group group_of(void)
{
  return (ambit__group){
      .rule = rule, .bind = bind, .depth = 1, .ndims = 3, .cells = {64, 128, 128}};
}

static ambit__device *begin(void)
{
  static const char text[] =
      "void k(const float *u, float *v) { *v = sqrtf(*u) + u[0][0][1] * u[1][0][0]; }";
  ambit__device *d = NULL;

  CHECK(folder_make());
  settings = (ambit__settings){
      .cc = "", .cache = folder, .dump = "", .verbose = -1, .threads = 1, .trial = true};
  CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "trial", text, &rule));
  bind[0] = bind[1] = (ambit__binding){.is_field = true, .contiguous = true};
  CHECK_EQ(AMBIT_OK, ambit__backend_cpu.open(&errors, &settings, 0, &d));
  return d;
}

static void end(ambit__device *d)
{
  if (d) ambit__backend_cpu.close(d);
  ambit__rule_free(rule);
  ambit__errors_clear(&errors);
  folder_remove();
}

static ambit__cpu_function *build(ambit__device *d)
{
  const ambit__group g = group_of();
  ambit__function *f = NULL;

  CHECK_EQ(AMBIT_OK, ambit__ask(d, build, &g, &f));
  return (ambit__cpu_function *)f;
}

/* Pretends launches until the function has the number `fast` of its ways for good; that one takes
 * half as long as the others. Returns the number of ways that ran. */
static int pretend(ambit__cpu_function *f, int fast)
{
  const struct timespec moment = {.tv_nsec = 1000000};
  ambit_cpu_fn runs[MOST_RUNS] = {f->run};
  int n = 1, k, last = 0;

  for (int i = 0; i < 20000 && last < 300; i++) {
    for (k = 0; k < n && runs[k] != f->run; k++)
      ;
    if (k == n && n < MOST_RUNS) runs[n++] = f->run;
    last = n > 1 && k == fast ? last + 1 : 0;
    if (n == 1 && i > 200) nanosleep(&moment, NULL); /* compilers are at work */
    ambit__cpu_trial_note(f, CELLS, k == fast ? 0.005 : 0.01);
  }
  CHECK(last == 300 || fast >= n);
  return n;
}

static void the_fastest_way_goes_on_and_is_remembered(void)
{
  ambit__device *d = begin();
  ambit__cpu_function *f = build(d);
  char first[AMBIT__CPU_LINE_CHARS], *plan;

  if (!f->module) SKIP("there is no C compiler");
  snprintf(first, sizeof first, "%s", f->head.plan);
  CHECK(f->trial != NULL);
  CHECK(pretend(f, 2) >= 3);
  CHECK_MSG(strcmp(first, f->head.plan), "it stays with %s", first);
  CHECK(folder_files() > 0);
  plan = strdup(f->head.plan);
  ambit__ask(d, discard, &f->head);
  f = build(d);
  CHECK_MSG(!strcmp(plan, f->head.plan), "remembers %s, and builds %s", plan, f->head.plan);
  CHECK(!f->trial);
  free(plan);
  ambit__ask(d, discard, &f->head);
  end(d);
}

static void the_first_way_stays_if_no_other_is_faster(void)
{
  ambit__device *d = begin();
  ambit__cpu_function *f = build(d);
  char first[AMBIT__CPU_LINE_CHARS];

  if (!f->module) SKIP("there is no C compiler");
  snprintf(first, sizeof first, "%s", f->head.plan);
  pretend(f, 0);
  CHECK(!strcmp(first, f->head.plan));
  ambit__ask(d, discard, &f->head);
  end(d);
}

static void the_plain_nest_is_always_tried(void)
{
  ambit__device *d = begin();
  const ambit__group g = group_of();
  ambit__text lines = {0};

  ambit__ask(d, plans, &g, &lines);
  CHECK_MSG(lines.chars && strstr(lines.chars, "(cells)\n"), "%s", lines.chars);
  ambit__text_free(&lines);
  end(d);
}

/* A launch that is shorter than the longest says nothing about it. */
/* As the list of plans names them, by either compiler. */
static void every_way_can_be_asked_for(void)
{
  ambit__device *d = begin();
  ambit__text lines = {0};
  ambit__group g = group_of();
  int n = 0;

  ambit__ask(d, plans, &g, &lines);
  CHECK(strstr(lines.chars, "(cells)"));
  for (char *line = lines.chars, *end; (end = strchr(line, '\n')); line = end + 1, n++) {
    ambit__function *f = NULL;

    *end = '\0';
    g.preferred = line;
    CHECK_EQ(AMBIT_OK, ambit__ask(d, build, &g, &f));
    CHECK_STR(line, f->plan);
    ambit__ask(d, discard, f);
  }
  CHECK(n > 1);
  ambit__text_free(&lines);
  end(d);
}

static void small_launches_do_not_count(void)
{
  ambit__device *d = begin();
  ambit__cpu_function *f = build(d);
  ambit_cpu_fn run;

  if (!f->module) SKIP("there is no C compiler");
  run = f->run;
  ambit__cpu_trial_note(f, CELLS, 0.001);
  for (int i = 0; i < 1000; i++) {
    ambit__cpu_trial_note(f, CELLS / 2, 0.01);
    CHECK(f->run == run);
  }
  ambit__ask(d, discard, &f->head);
  end(d);
}

static void nothing_is_tried_if_the_user_does_not_want_it(void)
{
  ambit__device *d = begin();
  ambit__cpu_function *f;

  settings.trial = false;
  f = build(d);
  CHECK(!f->trial);
  ambit__ask(d, discard, &f->head);
  end(d);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_fastest_way_goes_on_and_is_remembered", the_fastest_way_goes_on_and_is_remembered},
      {"the_first_way_stays_if_no_other_is_faster", the_first_way_stays_if_no_other_is_faster},
      {"the_plain_nest_is_always_tried", the_plain_nest_is_always_tried},
      {"every_way_can_be_asked_for", every_way_can_be_asked_for},
      {"small_launches_do_not_count", small_launches_do_not_count},
      {"nothing_is_tried_if_the_user_does_not_want_it",
       nothing_is_tried_if_the_user_does_not_want_it},
      {0}};

  return test_main(argc, argv, tests);
}
