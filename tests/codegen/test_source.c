/* SPDX-License-Identifier: BSD-3-Clause */
/* Source as a name of its code: places do not count, all else does. */
#include "codegen/source.h"

#include "support/test.h"

/* A function with its places, to free(); NULL: without. */
static char *source(const char *file, int line, const char *result)
{
  ambit__writer w = {0};

  ambit__open(&w, "int f(int x)");
  if (file) ambit__source_place(&w, file, line);
  ambit__line(&w, "x = x + 1; /* from here */");
  if (file && line % 2) ambit__source_place(&w, file, line + 1);
  ambit__line(&w, "return %s;", result);
  ambit__close(&w);
  return ambit__writer_finish(&w);
}

static uint64_t hash_of(const char *text)
{
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__source_hash(&h, text);
  return h.w[0];
}

static void check(const char *a, const char *b, bool same)
{
  ambit__text t = {0};
  char *stripped;

  ambit__source_print(&t, a);
  stripped = ambit__text_finish(&t);
  CHECK_EQ(same, ambit__source_equal(a, b));
  CHECK_EQ(same, ambit__source_equal(b, a));
  CHECK_EQ(same, hash_of(a) == hash_of(b));
  CHECK_EQ(same, ambit__source_equal(stripped, b));
  CHECK(!strstr(stripped, "heat"));
  free(stripped);
}

static void sources_that_differ_in_places_are_one(void)
{
  char *bare = source(NULL, 0, "x"), *other = source(NULL, 0, "y");

  CHECK(strstr(bare, "/* from here */")); /* beside code, it is no place */
  for (int i = 1; i < 5; i++) {
    char *a = source("heat.c", i, "x"), *b = source("we?ird*/heat\n.c", 12 * i, "x");

    check(a, b, true);
    check(a, bare, true);
    check(b, other, false);
    free(a);
    free(b);
  }
  CHECK(!ambit__source_equal(bare, "") && ambit__source_equal("", ""));
  CHECK(!ambit__source_equal("int", "int x"));
  free(bare);
  free(other);
}

static void a_place_cannot_end_its_comment(void)
{
  ambit__writer w = {0};
  char *text;

  ambit__source_place(&w, "a*/b\\?\n.c", 7);
  text = ambit__writer_finish(&w);
  CHECK_STR("/* from a_/b___.c:7 */\n", text);
  free(text);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"sources_that_differ_in_places_are_one", sources_that_differ_in_places_are_one},
      {"a_place_cannot_end_its_comment", a_place_cannot_end_its_comment},
      {0}};

  return test_main(argc, argv, tests);
}
