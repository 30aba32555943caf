/* SPDX-License-Identifier: BSD-3-Clause */
/* A slow net on two or more processes: process 1 sends, process 0 measures arrival times. Only
 * lower bounds of times are checked, since the machine may be busy. */
#include "net_test.h"

#include "base/clock.h"
#include "support/slow_net.h"

#include <stdlib.h>

static ambit__request requests[16];

static ambit__net *open_net(const char *speed)
{
  ambit__net *net = NULL;

  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "on", 0, NULL, &net));
  CHECK_EQ(AMBIT_OK, slow_net_wrap(&net, speed));
  return net;
}

static void close_net(ambit__net *net)
{
  CHECK_EQ(AMBIT_OK, errors.status);
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
  ambit__net_close(net);
}

/* Processes of one machine share a clock: a message can contain its send time. */
static void a_message_comes_when_the_latency_has_passed(void)
{
  ambit__net *net = open_net("50ms");
  double sent = ambit__clock();
  bool done = false;

  if (net->rank == 1) {
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, 0, 1, &sent, sizeof sent, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 1));
  } else if (net->rank == 0) {
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, 1, 1, &sent, sizeof sent, &requests[0]));
    while (!done && !errors.status)
      CHECK_EQ(AMBIT_OK, ambit__net_test(net, &requests[0], &done));
    CHECK(ambit__clock() - sent > 0.049);
  }
  close_net(net);
}

/* Three messages of half a megabyte at 10 MB/s: the last arrives 150 ms after the first was sent,
 * and in order. */
static void messages_take_the_link_one_after_the_other(void)
{
  enum { DOUBLES = 500000 / sizeof(double), COUNT = 3 };
  ambit__net *net = open_net("10MB/s");
  double(*values)[DOUBLES] = calloc(COUNT, sizeof *values), first = 0;
  const double start = ambit__clock();

  for (int i = 0; i < COUNT && net->rank < 2; i++) {
    values[i][0] = start;
    values[i][DOUBLES - 1] = net->rank * (i + 1);
    if (net->rank == 1)
      CHECK_EQ(AMBIT_OK, ambit__net_send(net, 0, 7, values[i], sizeof *values, &requests[i]));
    else
      CHECK_EQ(AMBIT_OK, ambit__net_receive(net, 1, 7, values[i], sizeof *values, &requests[i]));
  }
  if (net->rank == 0) {
    CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 1));
    first = ambit__clock();
  }
  if (net->rank < 2) CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, COUNT));
  if (net->rank == 0) {
    CHECK(first - values[0][0] > 0.049 && ambit__clock() - values[0][0] > 0.149);
    for (int i = 0; i < COUNT; i++)
      CHECK(values[i][DOUBLES - 1] == i + 1);
  }
  free(values);
  close_net(net);
}

/* Whether the send of process 1 completed before process 0 received the message. If the sender
 * waits for the latency, it never does; if not, it does, unless the machine delays it for that
 * long. Both processes get the answer. */
static bool sender_is_first(ambit__net *net)
{
  double done = 0, had = 0;
  int32_t first = 0;
  char byte = 1;

  if (net->rank == 1) {
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, 0, 1, &byte, 1, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 1));
    done = ambit__clock();
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, 0, 2, &done, sizeof done, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 1));
  } else if (net->rank == 0) {
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, 1, 1, &byte, 1, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 1));
    had = ambit__clock();
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, 1, 2, &done, sizeof done, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 1));
    first = done < had;
  }
  CHECK_EQ(AMBIT_OK, ambit__net_broadcast(net, 0, &first, sizeof first));
  return first;
}

static void who_sends_does_not_wait(void)
{
  ambit__net *net = open_net("100ms");
  bool first = false;

  for (int i = 0; i < 20 && !first && !errors.status; i++)
    first = sender_is_first(net);
  CHECK(first);
  close_net(net);
}

static void what_all_do_together_takes_as_many_latencies_as_a_tree(void)
{
  ambit__net *net = open_net("20ms");
  const int rounds = net->size == 2 ? 1 : 2;
  double start = ambit__clock();
  int32_t mine = net->rank, all[64] = {0};

  CHECK(net->size <= 4);
  CHECK_EQ(AMBIT_OK, ambit__net_gather(net, &mine, sizeof mine, all));
  CHECK(ambit__clock() - start > 0.019 * rounds);
  for (int i = 0; i < net->size; i++)
    CHECK_EQ(i, all[i]);
  start = ambit__clock();
  CHECK_EQ(AMBIT_OK, ambit__net_broadcast(net, net->size - 1, &mine, sizeof mine));
  CHECK_EQ(net->size - 1, mine);
  if (net->rank == net->size - 1) CHECK(ambit__clock() - start > 0.019 * rounds);
  close_net(net);
}

static void a_receive_can_be_given_up(void)
{
  ambit__net *net = open_net("1ms");
  const int to = (net->rank + 1) % net->size, from = (net->rank + net->size - 1) % net->size;
  int32_t nothing = 17, something = net->rank, got = -1;

  CHECK_EQ(AMBIT_OK, ambit__net_receive(net, from, 3, &nothing, sizeof nothing, &requests[0]));
  ambit__net_cancel(net, requests, 1);
  CHECK(!requests[0].active);
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
  CHECK_EQ(AMBIT_OK, ambit__net_receive(net, from, 3, &got, sizeof got, &requests[0]));
  CHECK_EQ(AMBIT_OK, ambit__net_send(net, to, 3, &something, sizeof something, &requests[1]));
  CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 2));
  CHECK(got == from && nothing == 17);
  close_net(net);
}

static void a_speed_that_cannot_be_read_is_refused(void)
{
  static const char *const wrong[] = {"fast", "1", "-1us", "0GB/s", "1us,", "1GB/s,soon", "nans"};

  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ambit__net *net = NULL, *opened;

    CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "on", 0, NULL, &net));
    opened = net;
    CHECK_EQ(AMBIT_EOPTION, slow_net_wrap(&net, wrong[i]));
    CHECK(net == opened && strstr(errors.text, "200us,1GB/s"));
    ambit__errors_clear(&errors);
    ambit__net_close(net);
  }
}

static void processes_with_different_networks_are_told_apart(void)
{
  ambit__net *net = NULL;

  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "on", 0, NULL, &net));
  CHECK_EQ(AMBIT_EPROGRAM, slow_net_wrap(&net, net->rank ? "1us" : ""));
  CHECK_MSG(strstr(errors.text, "has the network '1us'"), "%s", errors.text);
  ambit__errors_clear(&errors);
  ambit__net_close(net);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_message_comes_when_the_latency_has_passed", a_message_comes_when_the_latency_has_passed},
      {"messages_take_the_link_one_after_the_other", messages_take_the_link_one_after_the_other},
      {"who_sends_does_not_wait", who_sends_does_not_wait},
      {"what_all_do_together_takes_as_many_latencies_as_a_tree",
       what_all_do_together_takes_as_many_latencies_as_a_tree},
      {"a_receive_can_be_given_up", a_receive_can_be_given_up},
      {"a_speed_that_cannot_be_read_is_refused", a_speed_that_cannot_be_read_is_refused},
      {"processes_with_different_networks_are_told_apart",
       processes_with_different_networks_are_told_apart},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
