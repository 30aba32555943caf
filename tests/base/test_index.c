/* SPDX-License-Identifier: BSD-3-Clause */
/* Indices: each entry is found by its hash, and only by it. */
#include "base/index.h"

#include "support/test.h"

enum { ENTRIES = 1000 };

/* Of entry i: four entries have one hash, and hashes differ in their high bits only, so that their
 * slots collide. */
static uint64_t hash_of(int i)
{
  return (uint64_t)(i / 4) << 40;
}

static void each_entry_is_found_by_its_hash(void)
{
  ambit__index x = {0};

  for (int i = 0; i < ENTRIES; i++)
    CHECK_EQ(AMBIT_OK, ambit__index_add(NULL, &x, hash_of(i), i));
  CHECK_EQ(ENTRIES, x.n);
  for (int i = 0; i < ENTRIES; i += 4) {
    int found, seen = 0;

    for (size_t at = 0; (found = ambit__index_next(&x, hash_of(i), &at)) >= 0;)
      seen |= found / 4 == i / 4 ? 1 << found % 4 : 16;
    CHECK_EQ(15, seen);
  }
  ambit__index_free(&x);
}

static void an_unknown_hash_finds_nothing(void)
{
  ambit__index x = {0};
  size_t at = 0;

  CHECK_EQ(-1, ambit__index_next(&x, 7, &at));
  CHECK_EQ(AMBIT_OK, ambit__index_add(NULL, &x, 23, 0));
  at = 0;
  CHECK_EQ(-1, ambit__index_next(&x, 7, &at)); /* of the same slot */
  at = 0;
  CHECK_EQ(0, ambit__index_next(&x, 23, &at));
  CHECK_EQ(-1, ambit__index_next(&x, 23, &at));
  ambit__index_free(&x);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"each_entry_is_found_by_its_hash", each_entry_is_found_by_its_hash},
      {"an_unknown_hash_finds_nothing", an_unknown_hash_finds_nothing},
      {0}};

  return test_main(argc, argv, tests);
}
