/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels inside C programs: messages name the line of the program that has the mistake. */
#define _XOPEN_SOURCE 700
#include "kernel_test.h"
#include "support/folder.h"

/* clang-format off */
enum { FIRST = __LINE__ + 1 };
static const char joined[] = AMBIT_SOURCE(
  void heat(const float *u, float *v, /* its input, and its output */
            float k)
  {
    // the neighbours, without commas
    *v = *u + k * (u[-1][0] +
                   u[1][0] - 4 * uu);
  });
enum { SECOND = __LINE__ + 1 };
static const char again[] = AMBIT_SOURCE(
  void heat(const float *u, float *v,
            float k)
  {
    *v = *u + k * (u[-1][0] + u[1][0] - 4 * uu);
  });
enum { THIRD = __LINE__ + 1 };
static const char kept[] = AMBIT_HERE
  "void heat(const float *u, float *v)\n"
  "{\n"
  "  *v = *u + uu;\n"
  "}\n";
enum { ENDS_EARLY = __LINE__ + 1 };
static const char early[] = AMBIT_SOURCE(
  void heat(float *v)
  {
    *v = 1;
);
/* clang-format on */

static void check_story(const char *text, const char *want)
{
  ambit__errors errors = {0};
  ambit__rule *rule;

  CHECK_EQ(AMBIT_EKERNEL, ambit__rule_parse(&errors, "kernel", text, &rule));
  CHECK_MSG(errors.text && strstr(errors.text, want), "want: %s\ngot: %s", want, errors.text);
  ambit__errors_clear(&errors);
}

static void a_mistake_in_AMBIT_SOURCE_is_on_its_own_line(void)
{
  char want[1000];

  snprintf(want, sizeof want,
           "%s:%d:34: error: unknown name 'uu'; did you mean 'u'?\n    u[1][0] - 4 * uu);\n"
           "                  ^~",
           __FILE__, FIRST + 6);
  check_story(joined, want);
}

static void of_two_places_with_the_same_text_the_nearest_is_shown(void)
{
  char want[1000];

  snprintf(want, sizeof want, "%s:%d:45: error: unknown name 'uu'", __FILE__, SECOND + 4);
  check_story(again, want);
}

static void text_with_line_breaks_has_the_lines_of_its_file(void)
{
  char want[1000];

  snprintf(want, sizeof want,
           "%s:%d:13: error: unknown name 'uu'; did you mean 'u'?\n    *v = *u + uu;\n", __FILE__,
           THIRD + 3);
  check_story(kept, want);
}

static void a_text_that_ends_early_is_shown_where_it_ends(void)
{
  char want[1000];

  snprintf(want, sizeof want, "%s:%d:1: error: the text ends where '}' is missing", __FILE__,
           ENDS_EARLY + 4);
  check_story(early, want);
}

static void later_stages_find_the_line_too(void)
{
  char want[1000], *story;
  const char *place = strstr(joined, "uu");
  ambit__rule *rule = parse_ok("void f(const float *u, float *v) { *v = *u; }");

  rule->file = __FILE__;
  rule->text = joined;
  story = ambit__rule_message(rule, (ambit__place){FIRST, 1, (int)(place - joined), 2}, "here");
  snprintf(want, sizeof want, "%s:%d:34: error: here", __FILE__, FIRST + 6);
  CHECK_MSG(!strncmp(story, want, strlen(want)), "want: %s\ngot: %s", want, story);
  free(story);
  ambit__rule_free(rule);
}

/* ---- without the file ---- */

static void without_the_file_the_line_of_the_macro_is_named(void)
{
  check_story("#line 7 \"/no/such/folder/heat.c\"\nvoid f(float *v) { *v = abc; }",
              "/no/such/folder/heat.c:7:25: error: unknown name 'abc'\n"
              "    void f(float *v) { *v = abc; }\n"
              "                            ^~~");
}

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");

  CHECK(file && fputs(text, file) >= 0);
  if (file) fclose(file);
}

static void a_file_that_was_changed_is_not_shown(void)
{
  static const char *const others[] = {"AMBIT_SOURCE(void f(float *v) { *v = abcd; })",
                                       "AMBIT_SOURCE(void f(float *v)",
                                       "MY_AMBIT_SOURCE(void f(float *v) { *v = abc; })",
                                       "AMBIT_SOURCE",
                                       "",
                                       "AMBIT_SOURCE(/*"};
  char text[1000], want[1000];

  folder_make();
  snprintf(text, sizeof text, "#line 7 \"%s\"\nvoid f(float *v) { *v = abc; }", folder_path("a.c"));
  snprintf(want, sizeof want, "a.c:7:25: error");
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    write_file(folder_path("a.c"), others[i]);
    check_story(text, want);
  }
  write_file(folder_path("a.c"), "\n\nx = AMBIT_SOURCE (\n void f(float\\\n*v) {\n\t*v = abc; } )");
  check_story(text, "a.c:6:7: error");
  CHECK_EQ(1, folder_files());
  folder_remove();
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_mistake_in_AMBIT_SOURCE_is_on_its_own_line",
       a_mistake_in_AMBIT_SOURCE_is_on_its_own_line},
      {"of_two_places_with_the_same_text_the_nearest_is_shown",
       of_two_places_with_the_same_text_the_nearest_is_shown},
      {"text_with_line_breaks_has_the_lines_of_its_file",
       text_with_line_breaks_has_the_lines_of_its_file},
      {"a_text_that_ends_early_is_shown_where_it_ends",
       a_text_that_ends_early_is_shown_where_it_ends},
      {"later_stages_find_the_line_too", later_stages_find_the_line_too},
      {"without_the_file_the_line_of_the_macro_is_named",
       without_the_file_the_line_of_the_macro_is_named},
      {"a_file_that_was_changed_is_not_shown", a_file_that_was_changed_is_not_shown},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
