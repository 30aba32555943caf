/* SPDX-License-Identifier: BSD-3-Clause */
/* A context that acts as one process of many. */
#include "net/net.h"
#include "support/test.h"

static ambit__errors errors;

static ambit__net *pretend(int rank, int size)
{
  ambit__net *net = NULL;

  CHECK_EQ(AMBIT_OK, ambit__net_pretend(&errors, rank, size, &net));
  return net;
}

static void all_others_are_like_it(void)
{
  ambit__net *net = pretend(2, 5);
  const int mine = 17;
  int all[5] = {0}, told = 3;

  CHECK_EQ(2, net->rank);
  CHECK_EQ(5, net->size);
  CHECK_EQ(AMBIT_OK, ambit__net_gather(net, &mine, sizeof mine, all));
  for (int i = 0; i < 5; i++)
    CHECK_EQ(17, all[i]);
  CHECK_EQ(AMBIT_OK, ambit__net_broadcast(net, 4, &told, sizeof told));
  CHECK_EQ(3, told);
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
  CHECK_EQ(AMBIT_OK, ambit__net_agree(net));
  ambit__net_close(net);
}

static void nothing_is_sent_or_received(void)
{
  ambit__net *net = pretend(0, 2);
  ambit__request r;
  char byte = 0;

  CHECK_EQ(AMBIT_EPROCESS, ambit__net_send(net, 1, 0, &byte, 1, &r));
  CHECK(!r.active && strstr(errors.text, "there is no process 1 to send to"));
  ambit__errors_clear(&errors);
  CHECK_EQ(AMBIT_EPROCESS, ambit__net_receive(net, 1, 0, &byte, 1, &r));
  CHECK(!r.active && strstr(errors.text, "there is no process 1 to receive from"));
  ambit__errors_clear(&errors);
  ambit__net_close(net);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {{"all_others_are_like_it", all_others_are_like_it},
                                    {"nothing_is_sent_or_received", nothing_is_sent_or_received},
                                    {NULL, NULL}};

  return test_main(argc, argv, tests);
}
