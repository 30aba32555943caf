/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are stopped anywhere, with pending messages: afterwards all have the error of the
 * caller, and messages and collective functions work as before. Every test opens its own net, since
 * a stop may reach a process that is not yet where the caller was. */
#include "net_test.h"

#include <stdlib.h>

enum { LARGE = 3000000 }; /* bytes of a message that is not sent before its receive is posted */

static ambit__net *net;
static ambit__request requests[16];

double __real_ambit__clock(void);
double __wrap_ambit__clock(void);

/* The linker replaces ambit__clock by this in the library, not in its modules. On a busy machine a
 * process may come later than a stop waits: time goes slowly here, and deadlines that modules are
 * given are minutes away. */
double __wrap_ambit__clock(void)
{
  static double first;

  if (first == 0) first = __real_ambit__clock();
  return first + 500 + (__real_ambit__clock() - first) / 50;
}

static void open_net(void)
{
  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "on", 0, NULL, &net));
}

static bool is_last(void)
{
  return net->rank == net->size - 1;
}

/* The last process fails. */
static void fail(void)
{
  ambit__raise(&errors, AMBIT_EDEVICE, "it broke");
  CHECK_EQ(AMBIT_EDEVICE, ambit__net_stop(net));
}

/* All processes have the error; then each sends a message to every other, and no stray message
 * arrives. */
static void all_is_quiet(void)
{
  char want[64];
  int32_t mine = net->rank, got[64] = {0};
  size_t n = 0;

  snprintf(want, sizeof want, is_last() ? "it broke" : "process %d of %d: it broke", net->size - 1,
           net->size);
  CHECK_EQ(AMBIT_EDEVICE, errors.status);
  CHECK_MSG(errors.text && !strcmp(want, errors.text), "%s", errors.text);
  CHECK(!net->pending);
  ambit__errors_clear(&errors);
  for (int p = 0; p < net->size; p++) {
    if (p == net->rank) continue;
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, p, 1, &got[p], sizeof *got, &requests[n++]));
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, p, 1, &mine, sizeof mine, &requests[n++]));
  }
  CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, n));
  for (int p = 0; p < net->size; p++)
    CHECK(p == net->rank || got[p] == p);
  CHECK_EQ(AMBIT_OK, ambit__net_agree(net));
  ambit__net_close(net);
}

static void who_waits_for_a_message_hears_of_it(void)
{
  int32_t nothing = 17;

  open_net();
  if (is_last()) {
    fail();
  } else {
    CHECK_EQ(AMBIT_OK,
             ambit__net_receive(net, net->size - 1, 1, &nothing, sizeof nothing, requests));
    CHECK_EQ(AMBIT_EDEVICE, ambit__net_wait(net, requests, 1));
    CHECK(!requests[0].active && nothing == 17);
  }
  all_is_quiet();
}

static void messages_that_nobody_waits_for_are_taken(void)
{
  unsigned char *bytes = calloc(1, LARGE);
  int32_t nothing, small = 1;

  open_net();
  if (is_last()) {
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, 0, 1, bytes, LARGE, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, 0, 2, &small, sizeof small, &requests[1]));
    fail();
    CHECK(!requests[0].active && !requests[1].active);
  } else {
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, net->size - 1, 1, &small, sizeof small, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, net->size - 1, 1, bytes, LARGE, &requests[1]));
    CHECK_EQ(AMBIT_OK,
             ambit__net_receive(net, net->size - 1, 3, &nothing, sizeof nothing, &requests[2]));
    CHECK_EQ(AMBIT_EDEVICE, ambit__net_wait(net, requests, 3));
  }
  free(bytes);
  all_is_quiet();
}

static void meetings_that_others_have_begun_are_held(void)
{
  double mine = 1, all[2][64];
  char word[300] = "";

  open_net();
  if (is_last()) {
    fail();
  } else if (net->rank == 0) { /* three operations ahead of the process that fails */
    CHECK_EQ(AMBIT_OK, ambit__net_gather_begin(net, &mine, sizeof mine, all[0], &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_broadcast_begin(net, 0, word, sizeof word, &requests[1]));
    CHECK_EQ(AMBIT_OK, ambit__net_gather_begin(net, &mine, sizeof mine, all[1], &requests[2]));
    CHECK_EQ(AMBIT_EDEVICE, ambit__net_wait(net, requests, 3));
  } else { /* one ahead */
    CHECK_EQ(AMBIT_EDEVICE, ambit__net_gather(net, &mine, sizeof mine, all[0]));
  }
  all_is_quiet();
}

static void who_is_in_an_agreement_hears_of_it(void)
{
  open_net();
  if (is_last())
    fail();
  else
    CHECK_EQ(AMBIT_EDEVICE, ambit__net_agree_on(net, "continues"));
  all_is_quiet();
}

static void all_may_fail_at_once(void)
{
  open_net();
  ambit__raise(&errors, AMBIT_EIO, "disk %d is full", net->rank);
  CHECK_EQ(AMBIT_EIO, ambit__net_stop(net));
  CHECK(errors.agreed && strstr(errors.text, "is full"));
  ambit__errors_clear(&errors);
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
  ambit__net_close(net);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"who_waits_for_a_message_hears_of_it", who_waits_for_a_message_hears_of_it},
      {"messages_that_nobody_waits_for_are_taken", messages_that_nobody_waits_for_are_taken},
      {"meetings_that_others_have_begun_are_held", meetings_that_others_have_begun_are_held},
      {"who_is_in_an_agreement_hears_of_it", who_is_in_an_agreement_hears_of_it},
      {"all_may_fail_at_once", all_may_fail_at_once},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
