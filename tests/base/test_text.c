/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing strings: what is printed is what printf prints. */
#include "base/text.h"
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void texts_integers_and_characters_are_those_of_printf(void)
{
  char want[256], *got;
  ambit__text t = {0};

  ambit__print(&t, "%s|%d|%c|%%|%d|%d|%s", "a", 0, 'x', INT_MIN, INT_MAX, "");
  ambit__print(&t, "%s", "");
  ambit__print(&t, "%5d|%-4s|%.3g|%d", -7, "b", 0.5, -10);
  snprintf(want, sizeof want, "%s|%d|%c|%%|%d|%d|%s%5d|%-4s|%.3g|%d", "a", 0, 'x', INT_MIN, INT_MAX,
           "", -7, "b", 0.5, -10);
  got = ambit__text_finish(&t);
  CHECK_STR(want, got);
  free(got);
}

/* A number is printed into the room that is left, if it fits: all lengths around that. */
static void texts_of_all_lengths_end_where_they_should(void)
{
  for (int before = 230; before < 280; before++) {
    ambit__text t = {0};
    char *got;

    for (int i = 0; i < before; i++)
      ambit__print_chars(&t, "-", 1);
    ambit__print(&t, "%08x", 0xabcdefu);
    ambit__print(&t, "%d", 42);
    CHECK_EQ(before + 10, (int)t.len);
    got = ambit__text_finish(&t);
    CHECK_STR("00abcdef42", got + before);
    free(got);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"texts_integers_and_characters_are_those_of_printf",
       texts_integers_and_characters_are_those_of_printf},
      {"texts_of_all_lengths_end_where_they_should", texts_of_all_lengths_end_where_they_should},
      {0}};

  return test_main(argc, argv, tests);
}
