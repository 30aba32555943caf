/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation, arenas, growing arrays and growing text. */
#include "base/memory.h"

#include "base/text.h"
#include "support/test.h"

#include <stdint.h>
#include <stdlib.h>

/* Without this a sanitizer aborts where calloc would return NULL. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "allocator_may_return_null=1";
}

static void new_memory_is_zero(void)
{
  unsigned char *p = ambit__new(NULL, 1000, 3);
  int sum = 0;

  for (int i = 0; p && i < 3000; i++)
    sum += p[i];
  CHECK(p && sum == 0);
  free(p);
  p = ambit__new(NULL, 0, 8);
  CHECK(p);
  free(p);
}

static void impossible_sizes_are_told(void)
{
  ambit__errors errors = {0};

  CHECK(!ambit__new(&errors, SIZE_MAX / 4, 16));
  CHECK_EQ(AMBIT_ENOMEM, errors.status);
  CHECK(errors.text && strstr(errors.text, "x 16 bytes"));
  ambit__errors_clear(&errors);
}

static void only_the_first_error_stays(void)
{
  ambit__errors errors = {0};

  CHECK_EQ(AMBIT_EIO, ambit__raise(&errors, AMBIT_EIO, "first %d", 1));
  CHECK_EQ(AMBIT_EINVAL, ambit__raise(&errors, AMBIT_EINVAL, "second"));
  CHECK_EQ(AMBIT_EIO, errors.status);
  CHECK_STR("first 1", errors.text);
  ambit__errors_clear(&errors);
  CHECK_EQ(AMBIT_OK, errors.status);
  CHECK_EQ(AMBIT_EIO, ambit__raise(NULL, AMBIT_EIO, "to nobody"));
}

static void a_growing_array_keeps_its_elements(void)
{
  int *list = NULL;
  size_t cap = 0;

  for (int i = 0; i < 1000; i++) {
    int *added = ambit__add(NULL, &list, (size_t)i, &cap, sizeof *list);

    CHECK(added && added == list + i);
    if (!added) break;
    *added = i;
  }
  CHECK(cap >= 1000 && cap < 4000);
  for (int i = 0; i < 1000; i++)
    CHECK_EQ(i, list[i]);
  free(list);
}

static void an_array_too_large_to_grow_is_left_alone(void)
{
  ambit__errors errors = {0};
  size_t cap = SIZE_MAX / 8;
  char old, *array = &old;

  CHECK(!ambit__add(&errors, &array, cap, &cap, 16));
  CHECK(array == &old);
  CHECK_EQ(AMBIT_ENOMEM, errors.status);
  CHECK(cap == SIZE_MAX / 8);
  ambit__errors_clear(&errors);
}

/* Sizes around that of a block, and a much larger one. */
static void arena_memory_is_zero_aligned_and_apart(void)
{
  static const size_t sizes[] = {1, 15, 16, 17, 1000, 16384, 16385, 100000, 3};
  enum { N = sizeof sizes / sizeof *sizes };
  ambit__arena a = {0};
  unsigned char *p[N];

  for (int i = 0; i < N; i++) {
    p[i] = ambit__arena_alloc(&a, sizes[i]);
    CHECK(p[i] && (uintptr_t)p[i] % 16 == 0);
    if (!p[i]) return;
    for (size_t j = 0; j < sizes[i]; j++)
      CHECK_EQ(0, p[i][j]);
    memset(p[i], i + 1, sizes[i]);
  }
  for (int i = 0; i < N; i++)
    CHECK(p[i][0] == i + 1 && p[i][sizes[i] - 1] == i + 1);
  CHECK(a.total >= 133000);
  ambit__arena_free(&a);
  CHECK(!a.blocks && !a.total);
}

static void an_arena_stops_at_its_limit(void)
{
  ambit__arena a = {.limit = 100};

  CHECK(ambit__arena_alloc(&a, 48));
  CHECK(ambit__arena_alloc(&a, 48));
  CHECK(!ambit__arena_alloc(&a, 5));
  CHECK(!ambit__arena_alloc(&a, SIZE_MAX));
  ambit__arena_free(&a);
}

static void an_arena_copies_text(void)
{
  ambit__arena a = {0};
  char *copy = ambit__arena_strndup(&a, "stencil", 4);

  CHECK(copy && !strcmp(copy, "sten"));
  ambit__arena_free(&a);
}

static void products_that_do_not_fit_are_refused(void)
{
  size_t n = 7;

  CHECK(ambit__mul_size(6, 7, &n) && n == 42);
  CHECK(ambit__mul_size(SIZE_MAX, 0, &n) && n == 0);
  CHECK(ambit__mul_size(SIZE_MAX, 1, &n) && n == SIZE_MAX);
  CHECK(!ambit__mul_size(SIZE_MAX / 2 + 1, 2, &n));
}

static void text_grows_and_is_handed_over(void)
{
  ambit__text t = {0};
  char *text;

  for (int i = 0; i < 1000; i++)
    ambit__print(&t, "%03d,", i);
  ambit__print_chars(&t, "end, and more", 3);
  CHECK_EQ(4003, t.len);
  text = ambit__text_finish(&t);
  CHECK(text && strlen(text) == 4003 && !strncmp(text + 3992, "998,999,end", 12));
  CHECK(!t.chars && !t.len);
  free(text);
}

static void an_empty_text_is_a_text(void)
{
  ambit__text t = {0};
  char *text = ambit__text_finish(&t);

  CHECK(text && !*text);
  free(text);
}

static void a_failed_text_swallows_the_rest(void)
{
  ambit__text t = {0};

  ambit__print(&t, "so far");
  t.failed = true;
  ambit__print(&t, "lost");
  ambit__print_chars(&t, "lost", 4);
  CHECK_EQ(6, t.len);
  CHECK(!ambit__text_finish(&t));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"new_memory_is_zero", new_memory_is_zero},
      {"impossible_sizes_are_told", impossible_sizes_are_told},
      {"only_the_first_error_stays", only_the_first_error_stays},
      {"a_growing_array_keeps_its_elements", a_growing_array_keeps_its_elements},
      {"an_array_too_large_to_grow_is_left_alone", an_array_too_large_to_grow_is_left_alone},
      {"arena_memory_is_zero_aligned_and_apart", arena_memory_is_zero_aligned_and_apart},
      {"an_arena_stops_at_its_limit", an_arena_stops_at_its_limit},
      {"an_arena_copies_text", an_arena_copies_text},
      {"products_that_do_not_fit_are_refused", products_that_do_not_fit_are_refused},
      {"text_grows_and_is_handed_over", text_grows_and_is_handed_over},
      {"an_empty_text_is_a_text", an_empty_text_is_a_text},
      {"a_failed_text_swallows_the_rest", a_failed_text_swallows_the_rest},
      {0}};

  return test_main(argc, argv, tests);
}
