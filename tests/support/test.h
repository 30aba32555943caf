/* SPDX-License-Identifier: BSD-3-Clause */
/* test.h - the test harness: one file of tests is one program, one test case is one name.
 *
 *   ./test_box                    runs all
 *   ./test_box border_of_corner   runs one
 */
#ifndef AMBIT_TEST_H
#define AMBIT_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct test_case {
  const char *name;
  void (*run)(void);
} test_case;

static int test_number;   /* of the case that runs, from 0 */
static int test_failures; /* of all cases */
enum { TEST_SHOWN = 20 }; /* maximum number of failures printed */

#define CHECK_MSG(cond, ...)                                                                       \
  do {                                                                                             \
    if (!(cond)) {                                                                                 \
      if (++test_failures <= TEST_SHOWN) {                                                         \
        printf("# %s:%d: ", __FILE__, __LINE__);                                                   \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
      }                                                                                            \
    }                                                                                              \
  } while (0)
#define CHECK(cond) CHECK_MSG(cond, "%s", #cond)
/* Both evaluate their arguments once: a call that ends a context may be one. A long double holds
 * every integer of 64 bits and every double. */
#define CHECK_EQ(want, got)                                                                        \
  do {                                                                                             \
    const long double check_want = (long double)(want), check_got = (long double)(got);            \
    CHECK_MSG(check_want == check_got, "%s: want %.20Lg, got %.20Lg", #got, check_want,            \
              check_got);                                                                          \
  } while (0)
#define CHECK_STR(want, got)                                                                       \
  do {                                                                                             \
    const char *const check_want = (want), *const check_got = (got);                               \
    CHECK_MSG(!strcmp(check_want, check_got), "want:\n%s\ngot:\n%s", check_want, check_got);       \
  } while (0)

/* Ends a case that cannot run here, with the reason. Skipped is not passed: tests/meta/run_tests.py
 * counts and lists it. Earlier failures of the case still count. */
static char test_skip_reason[160]; /* of the case that runs; "" if it is not skipped */
#define SKIP(...)                                                                                  \
  do {                                                                                             \
    snprintf(test_skip_reason, sizeof test_skip_reason, __VA_ARGS__);                              \
    return;                                                                                        \
  } while (0)

/* Whether case i of many alike is to run: make check has time for one of `of`, make check-long for
 * all. */
static inline bool test_takes(int i, int of)
{
  return i % of == 0 || getenv("AMBIT_TEST_LONG");
}

/* How many of n random cases to run: all, or a fifth in the sanitized build, which takes ten times
 * as long for each and looks for mistakes that most of them make. */
static inline unsigned test_share(unsigned n)
{
#if defined(__SANITIZE_ADDRESS__)
  return n / 5;
#else
  return n;
#endif
}

enum { TEST_SKIPPED = 77 }; /* exit status of a program that tested nothing, as ctest knows it */

/* TAP output, for ctest and prove. */
static int test_main(int argc, char **argv, const test_case *t)
{
  int bad = 0, n = 0, skipped = 0;

  setenv("AMBIT_DEVICES", "cpu", 0); /* what a test tests does not depend on GPUs, as in ctest */
  for (; t->name; t++) {
    const int before = test_failures;

    if (argc > 1 && strcmp(argv[1], t->name)) continue;
    test_skip_reason[0] = '\0';
    t->run();
    test_number++;
    n++;
    if (test_failures != before) {
      bad++;
      printf("not ok %d - %s\n", n, t->name);
    } else if (test_skip_reason[0]) {
      skipped++;
      printf("ok %d - %s # SKIP %s\n", n, t->name, test_skip_reason);
    } else {
      printf("ok %d - %s\n", n, t->name);
    }
  }
  printf("1..%d\n", n);
  if (bad || !n) return 1;
  return skipped == n ? TEST_SKIPPED : 0;
}

#endif
