/* SPDX-License-Identifier: BSD-3-Clause */
/* test.h - the test harness: one file of tests is one program, one test case is one name.
 *
 *   ./test_box                    runs all
 *   ./test_box border_of_corner   runs one
 */
#ifndef AMBIT_TEST_H
#define AMBIT_TEST_H

#include <stdio.h>
#include <string.h>

typedef struct test_case {
  const char *name;
  void (*run)(void);
} test_case;

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
#define CHECK_EQ(want, got)                                                                        \
  CHECK_MSG((want) == (got), "%s: want %lld, got %lld", #got, (long long)(want), (long long)(got))
#define CHECK_STR(want, got) CHECK_MSG(!strcmp(want, got), "want:\n%s\ngot:\n%s", want, got)

/* TAP output, for ctest and prove. */
static int test_main(int argc, char **argv, const test_case *t)
{
  int bad = 0, n = 0;

  for (; t->name; t++) {
    int before = test_failures;

    if (argc > 1 && strcmp(argv[1], t->name)) continue;
    t->run();
    bad += test_failures != before;
    printf("%sok %d - %s\n", test_failures != before ? "not " : "", ++n, t->name);
  }
  printf("1..%d\n", n);
  return bad != 0 || n == 0;
}

#endif
