/* SPDX-License-Identifier: BSD-3-Clause */
/* Suggestions for misspelt words. */
#include "base/spell.h"
#include "support/test.h"

static void a_slip_of_any_kind_counts_one(void)
{
  CHECK_EQ(0, ambit__spell_distance("threads", "THREADS"));
  CHECK_EQ(1, ambit__spell_distance("thread", "threads"));
  CHECK_EQ(1, ambit__spell_distance("threadss", "threads"));
  CHECK_EQ(1, ambit__spell_distance("thraeds", "threads"));
  CHECK_EQ(1, ambit__spell_distance("shreads", "threads"));
  CHECK_EQ(7, ambit__spell_distance("", "threads"));
}

static const char *guess(const char *typed)
{
  static const char *const names[] = {"cc", "cache", "threads", "strict"};
  ambit__guess g = ambit__guess_start(typed);

  for (int i = 0; i < 4; i++)
    ambit__guess_offer(&g, names[i]);
  return g.best ? g.best : "nothing";
}

static void the_nearest_name_is_offered_and_only_if_it_is_near(void)
{
  CHECK_STR("strict", guess("stirct"));
  CHECK_STR("cache", guess("cahe"));
  CHECK_STR("nothing", guess("foo"));
  CHECK_STR("nothing", guess("x"));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_slip_of_any_kind_counts_one", a_slip_of_any_kind_counts_one},
      {"the_nearest_name_is_offered_and_only_if_it_is_near",
       the_nearest_name_is_offered_and_only_if_it_is_near},
      {0}};

  return test_main(argc, argv, tests);
}
