/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_test.h - parses kernels in tests: the result is a rule or an error message. */
#ifndef AMBIT_KERNEL_TEST_H
#define AMBIT_KERNEL_TEST_H

#include "../support/test.h"
#include "kernel/kernel.h"

#include <stdlib.h>

/* The rule of a valid text. Ends the program if the text is rejected. */
static inline ambit__rule *parse_ok(const char *text)
{
  ambit__errors errors = {0};
  ambit__rule *rule;

  if (!ambit__rule_parse(&errors, "test.c", text, &rule)) return rule;
  printf("# refused:\n%s\n%s\n", text, errors.text);
  exit(1);
}

/* Whether the text is rejected with a message that contains the words. */
static inline void check_refused(const char *text, const char *words)
{
  ambit__errors errors = {0};
  ambit__rule *rule;
  ambit_status s = ambit__rule_parse(&errors, "test.c", text, &rule);

  CHECK_MSG(s == AMBIT_EKERNEL, "not refused: %s", text);
  CHECK_MSG(!rule, "a rule came out of: %s", text);
  CHECK_MSG(errors.text && strstr(errors.text, words), "wanted: %s\ngot: %s", words,
            errors.text ? errors.text : "(nothing)");
  ambit__errors_clear(&errors);
  ambit__rule_free(rule);
}

/* Whether the text prints as `want`, which must be a complete rule that prints as itself. */
static inline void check_prints(const char *text, const char *want)
{
  ambit__rule *rule = parse_ok(text), *again;
  char *first = ambit__rule_print(rule), *second;

  CHECK_STR(want, first);
  again = parse_ok(first);
  second = ambit__rule_print(again);
  CHECK_STR(first, second);
  free(first);
  free(second);
  ambit__rule_free(rule);
  ambit__rule_free(again);
}

/* The same for the body `statements` of void f(const float *u, float *v). */
static inline void check_body(const char *statements, const char *want)
{
  char text[2000], whole[2000];

  snprintf(text, sizeof text, "void f(const float *u, float *v) { %s }", statements);
  snprintf(whole, sizeof whole, "void f(const float *u, float *v)\n{\n%s}\n", want);
  check_prints(text, whole);
}

#endif
