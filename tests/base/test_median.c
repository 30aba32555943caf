/* SPDX-License-Identifier: BSD-3-Clause */
/* The median of odd and even numbers of values, and the array afterwards. */
#include "base/median.h"
#include "support/test.h"

static void the_middle_one_or_between_the_middle_two(void)
{
  double one[] = {7}, odd[] = {3, -1, 100}, even[] = {4, 1, 9, 2}, same[] = {5, 5, 5, 5};

  CHECK(ambit__median(one, 1) == 7);
  CHECK(ambit__median(odd, 3) == 3);
  CHECK(ambit__median(even, 4) == 3);
  CHECK(ambit__median(same, 4) == 5);
}

static void values_are_left_in_order(void)
{
  double values[] = {2, -3, 8, 0, 1};

  ambit__median(values, 5);
  for (int i = 1; i < 5; i++)
    CHECK(values[i - 1] <= values[i]);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_middle_one_or_between_the_middle_two", the_middle_one_or_between_the_middle_two},
      {"values_are_left_in_order", values_are_left_in_order},
      {0},
  };

  return test_main(argc, argv, tests);
}
