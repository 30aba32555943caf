/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes: stable, independent of how input is split, different for different input. */
#include "base/hash.h"

#include "base/clock.h"
#include "support/test.h"

#include <stdlib.h>

static void hex_of(const char *text, char out[AMBIT__HASH_CHARS])
{
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_bytes(&h, text, strlen(text));
  ambit__hash_hex(&h, out);
}

/* Names of cached files: they must not change between machines or releases unnoticed. */
static void known_texts_have_known_hashes(void)
{
  char out[AMBIT__HASH_CHARS];

  hex_of("", out);
  CHECK_STR("4c048ae031ad5b06cace5fb4c17b98a9", out);
  hex_of("void heat(const float *u, float *v)", out);
  CHECK_STR("773687101da38326201acdfb05b50294", out);
}

static void lane_0_is_fnv_1a(void)
{
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_bytes(&h, "foobar", 6);
  CHECK(h.w[0] == UINT64_C(0x85944171f73967e8));
}

static void the_cut_into_calls_does_not_matter(void)
{
  static const char text[] = "the quick brown fox";
  char whole[AMBIT__HASH_CHARS], pieces[AMBIT__HASH_CHARS];

  hex_of(text, whole);
  for (size_t cut = 0; cut < sizeof text; cut++) {
    ambit__hash h;

    ambit__hash_init(&h);
    ambit__hash_bytes(&h, text, cut);
    ambit__hash_bytes(&h, text + cut, sizeof text - 1 - cut);
    ambit__hash_hex(&h, pieces);
    CHECK_STR(whole, pieces);
  }
}

static void texts_do_not_run_into_each_other(void)
{
  ambit__hash a, b;

  ambit__hash_init(&a);
  ambit__hash_init(&b);
  ambit__hash_text(&a, "ab");
  ambit__hash_text(&a, "c");
  ambit__hash_text(&b, "a");
  ambit__hash_text(&b, "bc");
  CHECK(a.w[0] != b.w[0] && a.w[1] != b.w[1]);
}

static int by_text(const void *a, const void *b)
{
  return memcmp(a, b, 8);
}

/* Any 8 of the digits distinguish 4000 similar numbers, with few collisions. */
static void every_part_of_the_hash_tells_similar_inputs_apart(void)
{
  enum { N = 4000 };
  static char all[N][AMBIT__HASH_CHARS], part[N][8];

  for (int i = 0; i < N; i++) {
    char text[32];

    snprintf(text, sizeof text, "%d", i);
    hex_of(text, all[i]);
  }
  for (int start = 0; start < 32; start += 8) {
    int same = 0;

    for (int i = 0; i < N; i++)
      memcpy(part[i], all[i] + start, 8);
    qsort(part, N, 8, by_text);
    for (int i = 1; i < N; i++)
      same += !memcmp(part[i], part[i - 1], 8);
    CHECK_MSG(same <= 2, "%d of %d are the same in digits %d to %d", same, N, start, start + 7);
  }
}

static void one_bit_changes_half_of_the_digits(void)
{
  char a[AMBIT__HASH_CHARS], b[AMBIT__HASH_CHARS];

  for (int bit = 0; bit < 8; bit++) {
    char text[] = "stencil kernel";
    int changed = 0;

    hex_of(text, a);
    text[3] = (char)(text[3] ^ 1 << bit);
    hex_of(text, b);
    for (int i = 0; i < 32; i++)
      changed += a[i] != b[i];
    CHECK_MSG(changed >= 20, "bit %d changes %d of 32 digits", bit, changed);
  }
}

static void the_clock_goes_forward(void)
{
  double start = ambit__clock(), now = start;

  for (int i = 0; i < 100000000 && now == start; i++)
    now = ambit__clock();
  CHECK(now > start);
  CHECK(now - start < 10);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"known_texts_have_known_hashes", known_texts_have_known_hashes},
      {"lane_0_is_fnv_1a", lane_0_is_fnv_1a},
      {"the_cut_into_calls_does_not_matter", the_cut_into_calls_does_not_matter},
      {"texts_do_not_run_into_each_other", texts_do_not_run_into_each_other},
      {"every_part_of_the_hash_tells_similar_inputs_apart",
       every_part_of_the_hash_tells_similar_inputs_apart},
      {"one_bit_changes_half_of_the_digits", one_bit_changes_half_of_the_digits},
      {"the_clock_goes_forward", the_clock_goes_forward},
      {0}};

  return test_main(argc, argv, tests);
}
