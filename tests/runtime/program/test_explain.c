/* SPDX-License-Identifier: BSD-3-Clause */
/* test_explain.c - the option explain: any program as text and as graphs. */
#include "base/file.h"
#include "runtime/runtime_test.h"
#include "support/capture.h"

static int in_disc(const int64_t *i, void *user)
{
  const int64_t y = i[0] - 16, x = i[1] - 16;

  (void)user;
  return x * x + y * y < 200;
}

/* Two steps, a call of another program, and a rotation, on two parts. */
static void run_program(bool sparse, const char *explain)
{
  ambit *a = open_on("cpu*2");
  ambit_grid *g = sparse ? ambit_grid_create_sparse(a, 2, AMBIT_INDEX(32, 32), in_disc, NULL)
                         : grid_2d(a, 32, 32);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_program *called = ambit_program_create(g), *p = ambit_program_create(g);

  CHECK_EQ(AMBIT_OK, ambit_option_set(a, "explain", explain));
  for (int k = 0; k < 2; k++) {
    ambit_field_boundary(k ? v : u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
    ambit_field_boundary(k ? v : u, AMBIT_INACTIVE, AMBIT_CONSTANT, 0);
  }
  ambit_apply(called, ambit_kernel_create(a, "void halve(float *u) { *u = *u / 2; }"), u);
  ambit_apply(p,
              ambit_kernel_create(a, "void spread(const float *u, float *v) "
                                     "{ *v = 0.5f * (u[-1][0] + u[1][0]); }"),
              u, v);
  ambit_apply(p,
              ambit_kernel_create(a, "void total(const float *v, sum double *s) { *s = v[0][1]; }"),
              v, ambit_scalar_create(a, "s", AMBIT_F64));
  ambit_call(p, called, 2);
  ambit_swap(p, u, v);
  ambit_run(p, 2);
  ambit_run(p, 2); /* it is shown once */
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static int count(const char *text, const char *part)
{
  int n = 0;

  for (; (text = strstr(text, part)); text++)
    n++;
  return n;
}

static void programs_of_several_steps_are_printed(void)
{
  static const char *const lines[] = {"parts: 2, in 1 process",
                                      "messages in each iteration\n  none",
                                      "part 0 -> 1: 128 bytes, copied: u[15,16)x[0,32)",
                                      "launch  spread, all cells: part 0 [0,16)x[0,32)",
                                      "launch  total,",
                                      "call    program 1, 2 iterations",
                                      "rotate  u, v"};
  const char *said;

  capture_begin();
  run_program(false, "text");
  said = capture_end();
  CHECK_EQ(1, count(said, "program 1, 1 step on 1024 cells\n"));
  CHECK_EQ(1, count(said, "program 2, 4 steps on 1024 cells\n"));
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    CHECK_MSG(strstr(said, lines[i]), "%s\n%s", lines[i], said);
}

/* 621 active cells; the row between the parts has 29 of them. */
static void programs_on_sparse_grids_are_printed(void)
{
  const char *said;

  capture_begin();
  run_program(true, "text");
  said = capture_end();
  CHECK_EQ(1, count(said, "program 2, 4 steps on 621 cells, sparse\n"));
  CHECK_EQ(1, count(said, "part 0 -> 1: 116 bytes, copied: u["));
  CHECK_EQ(1, count(said, "launch  spread, all cells: part 0 ["));
}

static char *read_text(const char *path)
{
  ambit__errors errors = {0};
  char *text = NULL;

  CHECK_EQ(AMBIT_OK, ambit__file_read_text(&errors, path, 1 << 20, &text));
  remove(path);
  return text;
}

static void programs_are_drawn(void)
{
  for (int sparse = 0; sparse < 2; sparse++) {
    char *first, *dot, *svg;

    run_program(sparse, "explained.dot");
    run_program(sparse, "explained.svg");
    first = read_text("explained.dot");
    dot = read_text("explained-2.dot");
    svg = read_text("explained-2.svg");
    remove("explained.svg");
    CHECK(first && dot && svg);
    CHECK_EQ(2, count(first, "label=\"halve, all cells"));
    CHECK_EQ(2, count(dot, "label=\"spread, all cells"));
    CHECK_EQ(1, count(dot, "label=\"call program 1\\nat most 2 iterations"));
    CHECK(!strncmp(svg, "<svg ", 5));
    CHECK_EQ(count(dot, "label=\"") - 1, count(svg, "<g class=")); /* one is the title */
    CHECK_EQ(count(dot, " -> "), count(svg, "marker-end="));
    free(first);
    free(dot);
    free(svg);
  }
}

static void the_option_needs_no_value(void)
{
  char *words[] = {"program", "--ambit-explain", NULL}, **argv = words;
  int argc = 2;
  ambit *a = ambit_open(&argc, &argv);
  ambit_grid *g = grid_2d(a, 8, 8);
  ambit_program *p = ambit_program_create(g);

  ambit_apply(p, ambit_kernel_create(a, "void one(float *u) { *u = 1; }"),
              ambit_field_create(g, "u", AMBIT_F32));
  capture_begin();
  ambit_run(p, 1);
  CHECK_EQ(1, count(capture_end(), "program 1, 1 step on 64 cells\n"));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void other_names_are_refused(void)
{
  ambit *a = open_on("cpu");

  CHECK_EQ(AMBIT_EOPTION, ambit_option_set(a, "explain", "graph.png"));
  CHECK(strstr(ambit_error_text(a), "option explain is 'graph.png'; it must be text"));
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"programs_of_several_steps_are_printed", programs_of_several_steps_are_printed},
      {"programs_on_sparse_grids_are_printed", programs_on_sparse_grids_are_printed},
      {"programs_are_drawn", programs_are_drawn},
      {"the_option_needs_no_value", the_option_needs_no_value},
      {"other_names_are_refused", other_names_are_refused},
      {NULL, NULL},
  };

  return test_main(argc, argv, cases);
}
