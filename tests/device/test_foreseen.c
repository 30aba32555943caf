/* SPDX-License-Identifier: BSD-3-Clause */
/* Work done ahead of time by other threads. */
#include "device/foreseen.h"

#include "support/test.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 20 };

typedef struct job {
  ambit__foreseen_task head;
  int number, square;
} job;

static atomic_int alive, ran;
static atomic_bool held;

static void run_job(ambit__foreseen_task *t)
{
  job *j = (job *)t;

  while (atomic_load(&held)) {}
  j->square = j->number * j->number;
  atomic_fetch_add(&ran, 1);
}

static void free_job(ambit__foreseen_task *t)
{
  atomic_fetch_sub(&alive, 1);
  free(t);
}

static void key_of(char *key, int number)
{
  snprintf(key, AMBIT__HASH_CHARS, "%032d", number);
}

static void add_job(ambit__foreseen *f, int number, int most)
{
  job *j = calloc(1, sizeof *j);

  if (!j) abort();
  j->head.run = run_job;
  j->head.free = free_job;
  j->number = number;
  key_of(j->head.key, number);
  atomic_fetch_add(&alive, 1);
  ambit__foreseen_add(f, &j->head, most);
}

/* Takes a job, and does it if no thread has. Returns its result; -1: there is none. */
static int take(ambit__foreseen *f, int number)
{
  char key[AMBIT__HASH_CHARS];
  ambit__foreseen_task *t;
  int square;

  key_of(key, number);
  CHECK_EQ(true, ambit__foreseen_has(f, key) || number >= TASKS);
  t = ambit__foreseen_take(f, key);
  if (!t) return -1;
  if (t->state == TASK_WAITS) t->run(t);
  square = ((job *)t)->square;
  t->free(t);
  return square;
}

/* ---- tests ---- */

static void every_task_is_done_once(void)
{
  static const int most[] = {-1, 0, 1, 3, 100};

  for (int k = 0; k < 5; k++) {
    ambit__foreseen f = {0};

    atomic_store(&ran, 0);
    for (int i = 0; i < TASKS; i++)
      add_job(&f, i, most[k]);
    for (int i = TASKS - 1; i >= 0; i--)
      CHECK_EQ(i * i, take(&f, i));
    CHECK_EQ(-1, take(&f, TASKS));
    CHECK_EQ(TASKS, atomic_load(&ran));
    ambit__foreseen_close(&f);
    CHECK_EQ(0, atomic_load(&alive));
  }
}

static void threads_start_again_for_later_tasks(void)
{
  ambit__foreseen f = {0};

  for (int i = 0; i < TASKS; i++) {
    add_job(&f, i, 2);
    if (i % 3 == 0) CHECK_EQ(i * i, take(&f, i));
  }
  for (int i = 0; i < TASKS; i++)
    if (i % 3) CHECK_EQ(i * i, take(&f, i));
  ambit__foreseen_close(&f);
  CHECK_EQ(0, atomic_load(&alive));
}

static void closing_drops_tasks_that_wait(void)
{
  ambit__foreseen f = {0};

  atomic_store(&ran, 0);
  atomic_store(&held, true);
  for (int i = 0; i < TASKS; i++)
    add_job(&f, i, 1);
  for (int i = 1; i < TASKS; i++) { /* the first may be running */
    char key[AMBIT__HASH_CHARS];

    key_of(key, i);
    CHECK(ambit__foreseen_has(&f, key));
  }
  atomic_store(&held, false);
  ambit__foreseen_close(&f);
  CHECK_EQ(0, atomic_load(&alive));
  CHECK(atomic_load(&ran) <= TASKS);
}

static void a_list_that_was_never_used_is_empty(void)
{
  ambit__foreseen f = {0};

  CHECK(!ambit__foreseen_has(&f, "0"));
  CHECK(!ambit__foreseen_take(&f, "0"));
  ambit__foreseen_close(&f);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_task_is_done_once", every_task_is_done_once},
      {"threads_start_again_for_later_tasks", threads_start_again_for_later_tasks},
      {"closing_drops_tasks_that_wait", closing_drops_tasks_that_wait},
      {"a_list_that_was_never_used_is_empty", a_list_that_was_never_used_is_empty},
      {0}};

  return test_main(argc, argv, tests);
}
