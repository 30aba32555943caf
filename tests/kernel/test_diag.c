/* SPDX-License-Identifier: BSD-3-Clause */
/* test_diag.c - the format of messages. */
#include "kernel_test.h"

static void check_story(const char *text, const char *want)
{
  ambit__errors errors = {0};
  ambit__rule *rule;

  CHECK_EQ(AMBIT_EKERNEL, ambit__rule_parse(&errors, "heat.c", text, &rule));
  CHECK_STR(want, errors.text);
  ambit__errors_clear(&errors);
}

static void a_message_shows_the_line_a_caret_and_advice(void)
{
  check_story(
      "void heat(const float *u, float *v)\n{\n  int n = 1;\n    *v = u[n][0];\n}\n",
      "heat.c:4:12: error: the offset of 'u' is not a constant\n"
      "    *v = u[n][0];\n"
      "           ^\n"
      "  an offset must be known when the kernel is compiled; use constants, const locals or "
      "the variable of a constant for loop");
}

static void tabs_and_other_alphabets_do_not_move_the_caret(void)
{
  check_story("void f(float *v)\n{\n\t*v\t= /* \xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa2 */ abc;\n}\n",
              "heat.c:3:23: error: unknown name 'abc'\n"
              "    *v = /* \xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa2 */ abc;\n"
              "                   ^~~");
}

static void bytes_that_are_no_text_are_escaped(void)
{
  check_story("void f(float *v) { /* \x01\xff\x1b[0m\xc3 */ *v = abc; }",
              "heat.c:1:39: error: unknown name 'abc'\n"
              "    void f(float *v) { /* \\x01\\xff\\x1b[0m\\xc3 */ *v = abc; }\n"
              "                                                      ^~~");
}

static void a_long_line_is_cut_around_the_caret(void)
{
  char text[1000] = "void f(float *v) { ";
  ambit__errors errors = {0};
  ambit__rule *rule;
  const char *line, *caret;

  for (int i = 0; i < 20; i++)
    strcat(text, "*v = 1 + 2; ");
  strcat(text, "*v = abc; ");
  for (int i = 0; i < 20; i++)
    strcat(text, "*v = 3 + 4; ");
  strcat(text, "}");
  ambit__rule_parse(&errors, "t.c", text, &rule);
  line = strstr(errors.text, "\n    ...") + 1;
  caret = strchr(line, '\n') + 1;
  CHECK_EQ(4 + 3 + 100 + 3, caret - line - 1);
  CHECK(!strncmp(caret - 4, "...", 3));
  CHECK(!strncmp(line + strcspn(caret, "^"), "abc", 3));
  ambit__errors_clear(&errors);
}

static void an_end_that_comes_too_early_is_shown_where_it_is(void)
{
  check_story("void f(float *v)\n{\n  *v = 1;\n\n\n",
              "heat.c:3:10: error: the text ends where '}' is missing to end the block\n"
              "    *v = 1;\n"
              "           ^");
}

static void later_stages_can_point_too(void)
{
  ambit__rule *r = parse_ok("void f(const float *u,\n       float *v)\n{ *v = *u; }");
  char *story = ambit__rule_message(r, r->params[1].place, "'v' is no field\ngive it one");

  CHECK_STR("test.c:2:15: error: 'v' is no field\n    float *v)\n           ^\n  give it one",
            story);
  free(story);
  ambit__rule_free(r);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_message_shows_the_line_a_caret_and_advice", a_message_shows_the_line_a_caret_and_advice},
      {"tabs_and_other_alphabets_do_not_move_the_caret",
       tabs_and_other_alphabets_do_not_move_the_caret},
      {"bytes_that_are_no_text_are_escaped", bytes_that_are_no_text_are_escaped},
      {"a_long_line_is_cut_around_the_caret", a_long_line_is_cut_around_the_caret},
      {"an_end_that_comes_too_early_is_shown_where_it_is",
       an_end_that_comes_too_early_is_shown_where_it_is},
      {"later_stages_can_point_too", later_stages_can_point_too},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
