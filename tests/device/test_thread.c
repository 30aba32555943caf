/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of a thread: their order, queues that wait for each other, full queues, failures. */
#include "device/thread.h"
#include "support/test.h"

#include <stdatomic.h>
#include <string.h>

static ambit__errors errors;
static ambit__thread *thread;
static ambit__thread_queue *calm, *urgent;
static int log_[1 << 16];
static int logged;
static atomic_bool gate; /* the first task waits for it */

static void open_all(void)
{
  logged = 0;
  gate = false;
  CHECK_EQ(AMBIT_OK, ambit__thread_open(&errors, &thread));
  CHECK_EQ(AMBIT_OK, ambit__thread_queue_open(thread, &errors, false, NULL, &calm));
  CHECK_EQ(AMBIT_OK, ambit__thread_queue_open(thread, &errors, true, NULL, &urgent));
}

static void close_all(void)
{
  ambit__thread_queue_close(calm);
  ambit__thread_queue_close(urgent);
  ambit__thread_close(thread);
}

static ambit_status write_down(void *user, void *data)
{
  int n;

  (void)user;
  memcpy(&n, data, sizeof n);
  log_[logged++] = n;
  return AMBIT_OK;
}

static ambit_status hold(void *user, void *data)
{
  (void)user, (void)data;
  while (!gate) {}
  return AMBIT_OK;
}

static ambit_status fail(void *user, void *data)
{
  (void)user, (void)data;
  return AMBIT_EDEVICE;
}

/* `room`: bytes of data, at least those of n. */
static void add(ambit__thread_queue *q, ambit__task run, int n, size_t room)
{
  void *data = ambit__task_new(q, run, room);

  memcpy(data, &n, sizeof n);
  ambit__task_add(q);
}

static void tasks_run_in_order_and_urgent_ones_first(void)
{
  open_all();
  add(calm, hold, 0, sizeof(int));
  for (int i = 0; i < 3; i++)
    add(calm, write_down, i, sizeof(int));
  for (int i = 10; i < 13; i++)
    add(urgent, write_down, i, sizeof(int));
  gate = true;
  ambit__task_wait(ambit__task_last(calm));
  ambit__task_wait(ambit__task_last(urgent));
  CHECK_EQ(6, logged);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(10 + i, log_[i]);
    CHECK_EQ(i, log_[3 + i]);
  }
  close_all();
}

static void a_queue_waits_for_a_task_of_another(void)
{
  ambit__ticket second;

  open_all();
  add(calm, hold, 0, sizeof(int));
  add(calm, write_down, 1, sizeof(int));
  second = ambit__task_last(calm);
  ambit__task_await(urgent, second);
  add(urgent, write_down, 2, sizeof(int));
  add(calm, write_down, 3, sizeof(int));
  CHECK(!ambit__task_done(second));
  gate = true;
  ambit__task_wait(ambit__task_last(calm));
  ambit__task_wait(ambit__task_last(urgent));
  CHECK(ambit__task_done(second));
  CHECK_EQ(3, logged);
  CHECK_EQ(1, log_[0]);
  CHECK_EQ(2, log_[1]);
  CHECK_EQ(3, log_[2]);
  close_all();
}

static void more_tasks_than_a_queue_holds_wait_for_room(void)
{
  enum { MANY = 3000 };

  open_all();
  gate = true;
  for (int i = 0; i < MANY; i++)
    add(calm, write_down, i, sizeof(int) + (size_t)(i * 37 % 5000));
  ambit__task_wait(ambit__task_last(calm));
  CHECK_EQ(MANY, logged);
  for (int i = 0; i < MANY; i++)
    CHECK_EQ(i, log_[i]);
  CHECK(!ambit__task_new(calm, write_down, 1 << 20));
  close_all();
}

static void a_failure_drops_what_follows_until_it_is_taken(void)
{
  open_all();
  add(calm, hold, 0, sizeof(int));
  add(calm, fail, 0, sizeof(int));
  add(calm, write_down, 1, sizeof(int));
  ambit__task_await(urgent, ambit__task_last(calm));
  add(urgent, write_down, 2, sizeof(int));
  gate = true;
  ambit__task_wait(ambit__task_last(calm));
  CHECK_EQ(AMBIT_EDEVICE, ambit__thread_failure(thread));
  CHECK_EQ(AMBIT_OK, ambit__thread_failure(thread));
  CHECK_EQ(0, logged);
  add(calm, write_down, 3, sizeof(int));
  ambit__task_wait(ambit__task_last(calm));
  CHECK_EQ(1, logged);
  CHECK_EQ(3, log_[0]);
  close_all();
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {T(tasks_run_in_order_and_urgent_ones_first),
                                    T(a_queue_waits_for_a_task_of_another),
                                    T(more_tasks_than_a_queue_holds_wait_for_room),
                                    T(a_failure_drops_what_follows_until_it_is_taken),
                                    {0}};
#undef T

  return test_main(argc, argv, tests);
}
