/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: their order, queues that wait for each other, full queues, failures. */
#include "device/commands.h"
#include "support/test.h"

#include <stdatomic.h>
#include <string.h>

static ambit__errors errors;
static ambit__commands *commands;
static ambit__command_queue *calm, *urgent;
static int log_[1 << 16];
static int logged;
static atomic_bool gate; /* the first command waits for it */

static void open_all(void)
{
  logged = 0;
  gate = false;
  CHECK_EQ(AMBIT_OK, ambit__commands_open(&errors, &commands));
  CHECK_EQ(AMBIT_OK, ambit__command_queue_open(commands, &errors, false, NULL, &calm));
  CHECK_EQ(AMBIT_OK, ambit__command_queue_open(commands, &errors, true, NULL, &urgent));
}

static void close_all(void)
{
  ambit__command_queue_close(calm);
  ambit__command_queue_close(urgent);
  ambit__commands_close(commands);
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
static void add(ambit__command_queue *q, ambit__command run, int n, size_t room)
{
  void *data = ambit__command_new(q, run, room);

  memcpy(data, &n, sizeof n);
  ambit__command_add(q);
}

static void commands_run_in_order_and_urgent_ones_first(void)
{
  open_all();
  add(calm, hold, 0, sizeof(int));
  for (int i = 0; i < 3; i++)
    add(calm, write_down, i, sizeof(int));
  for (int i = 10; i < 13; i++)
    add(urgent, write_down, i, sizeof(int));
  gate = true;
  ambit__command_wait(ambit__command_last(calm));
  ambit__command_wait(ambit__command_last(urgent));
  CHECK_EQ(6, logged);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(10 + i, log_[i]);
    CHECK_EQ(i, log_[3 + i]);
  }
  close_all();
}

static void a_queue_waits_for_a_command_of_another(void)
{
  ambit__ticket second;

  open_all();
  add(calm, hold, 0, sizeof(int));
  add(calm, write_down, 1, sizeof(int));
  second = ambit__command_last(calm);
  ambit__command_await(urgent, second);
  add(urgent, write_down, 2, sizeof(int));
  add(calm, write_down, 3, sizeof(int));
  CHECK(!ambit__command_done(second));
  gate = true;
  ambit__command_wait(ambit__command_last(calm));
  ambit__command_wait(ambit__command_last(urgent));
  CHECK(ambit__command_done(second));
  CHECK_EQ(3, logged);
  CHECK_EQ(1, log_[0]);
  CHECK_EQ(2, log_[1]);
  CHECK_EQ(3, log_[2]);
  close_all();
}

static void more_commands_than_a_queue_holds_wait_for_room(void)
{
  enum { MANY = 3000 };

  open_all();
  gate = true;
  for (int i = 0; i < MANY; i++)
    add(calm, write_down, i, sizeof(int) + (size_t)(i * 37 % 5000));
  ambit__command_wait(ambit__command_last(calm));
  CHECK_EQ(MANY, logged);
  for (int i = 0; i < MANY; i++)
    CHECK_EQ(i, log_[i]);
  CHECK(!ambit__command_new(calm, write_down, 1 << 20));
  close_all();
}

static void a_failure_drops_what_follows_until_it_is_taken(void)
{
  open_all();
  add(calm, hold, 0, sizeof(int));
  add(calm, fail, 0, sizeof(int));
  add(calm, write_down, 1, sizeof(int));
  ambit__command_await(urgent, ambit__command_last(calm));
  add(urgent, write_down, 2, sizeof(int));
  gate = true;
  ambit__command_wait(ambit__command_last(calm));
  CHECK_EQ(AMBIT_EDEVICE, ambit__commands_failure(commands));
  CHECK_EQ(AMBIT_OK, ambit__commands_failure(commands));
  CHECK_EQ(0, logged);
  add(calm, write_down, 3, sizeof(int));
  ambit__command_wait(ambit__command_last(calm));
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
  static const test_case tests[] = {T(commands_run_in_order_and_urgent_ones_first),
                                    T(a_queue_waits_for_a_command_of_another),
                                    T(more_commands_than_a_queue_holds_wait_for_room),
                                    T(a_failure_drops_what_follows_until_it_is_taken),
                                    {0}};
#undef T

  return test_main(argc, argv, tests);
}
