/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collective functions on any number of processes. The data that a process sends
 * depends on its rank, so every receiver knows what to expect. */
#include "net_test.h"
#include "support/capture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static ambit__net *net;

static ambit__request requests[256];

/* The net of all processes of this test. It uses MPI also for one process. */
static ambit__net *open_net(void)
{
  ambit__net *opened = NULL;

  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "on", 0, NULL, &opened));
  if (errors.text) printf("# %s\n", errors.text);
  return opened;
}

/* Byte i of message number k from process `from` to process `to`. */
static unsigned char byte(int from, int to, size_t k, size_t i)
{
  return (unsigned char)(7 * from + 31 * to + 13 * (int)k + (int)(i % 251));
}

static unsigned char *make(int from, int to, size_t k, size_t n)
{
  unsigned char *bytes = malloc(n + 1);

  for (size_t i = 0; i < n; i++)
    bytes[i] = byte(from, to, k, i);
  return bytes;
}

static size_t wrong(const unsigned char *bytes, int from, size_t k, size_t n)
{
  size_t bad = 0;

  for (size_t i = 0; i < n; i++)
    bad += bytes[i] != byte(from, net->rank, k, i);
  return bad;
}

/* ---- point to point ---- */

static void a_process_knows_its_place(void)
{
  CHECK(net->rank >= 0 && net->rank < net->size);
  CHECK_EQ(net->size, net->local_size); /* tests run on one node */
  CHECK_EQ(net->rank, net->local_rank);
  CHECK_MSG(strstr(net->name, "Open MPI v") || strstr(net->name, "MPICH"), "%s", net->name);
}

/* Every process sends every other a message of n bytes with each of three tags; receives are posted
 * in a different order than sends. */
static void exchange(size_t n)
{
  enum { TAGS = 3 };
  unsigned char *bytes[256];
  size_t count = 0, receives;

  for (int from = 0; from < net->size; from++)
    for (size_t k = TAGS; k-- > 0 && from != net->rank; count++) {
      bytes[count] = calloc(1, n + 1);
      CHECK_EQ(AMBIT_OK, ambit__net_receive(net, from, (int)k, bytes[count], n, &requests[count]));
    }
  receives = count;
  for (int to = 0; to < net->size; to++)
    for (size_t k = 0; k < TAGS && to != net->rank; k++, count++) {
      bytes[count] = make(net->rank, to, k, n);
      CHECK_EQ(AMBIT_OK, ambit__net_send(net, to, (int)k, bytes[count], n, &requests[count]));
    }
  CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, count));
  for (size_t i = 0; i < receives; i++)
    CHECK_EQ(0, wrong(bytes[i], requests[i].peer, TAGS - 1 - i % TAGS, n));
  while (count-- > 0)
    free(bytes[count]);
}

#define ALONE "one process has nobody to send to"

static void messages_of_all_sizes_arrive_by_sender_and_tag(void)
{
  static const size_t sizes[] = {0, 1, 7, 4096, 65537, 3000001};

  if (net->size == 1) SKIP(ALONE);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    exchange(sizes[i]);
}

static void messages_with_one_tag_keep_their_order(void)
{
  const int to = (net->rank + 1) % net->size, from = (net->rank + net->size - 1) % net->size;
  int32_t out[50], in[50];

  if (net->size == 1) SKIP(ALONE);
  for (int i = 0; i < 50; i++) {
    out[i] = 1000 * net->rank + i;
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, to, 5, &out[i], sizeof *out, &requests[i]));
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, from, 5, &in[i], sizeof *in, &requests[50 + i]));
  }
  CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 100));
  for (int i = 0; i < 50; i++)
    CHECK_EQ(1000 * from + i, in[i]);
}

/* A message that the receiver polls for; test never waits. */
static void a_message_is_not_there_before_it_was_sent(void)
{
  int32_t value = -1, answer = 42;
  bool done = true;

  if (net->size == 1) SKIP(ALONE);
  if (net->rank > 1) return;
  if (net->rank == 0) {
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, 1, 1, &value, sizeof value, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_test(net, &requests[0], &done));
    CHECK(!done);
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, 1, 2, &answer, sizeof answer, &requests[1]));
  } else {
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, 0, 2, &value, sizeof value, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 1));
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, 0, 1, &answer, sizeof answer, &requests[1]));
  }
  CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 2));
  CHECK_EQ(42, value);
}

static void a_receive_can_be_given_up(void)
{
  const int to = (net->rank + 1) % net->size, from = (net->rank + net->size - 1) % net->size;
  int32_t nothing = 17, something = net->rank, got = -1;

  if (net->size == 1) SKIP(ALONE);
  CHECK_EQ(AMBIT_OK, ambit__net_receive(net, from, 3, &nothing, sizeof nothing, &requests[0]));
  ambit__net_cancel(net, requests, 1);
  CHECK(!requests[0].active);
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net)); /* nobody sends before all have cancelled */
  CHECK_EQ(AMBIT_OK, ambit__net_receive(net, from, 3, &got, sizeof got, &requests[0]));
  CHECK_EQ(AMBIT_OK, ambit__net_send(net, to, 3, &something, sizeof something, &requests[1]));
  CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 2));
  CHECK_EQ(from, got);
  CHECK_EQ(17, nothing);
}

/* ---- collective functions ---- */

static void what_is_gathered_is_in_the_order_of_ranks(void)
{
  double mine[2] = {net->rank + 0.5, -net->rank}, all[2 * 64];

  CHECK_EQ(AMBIT_OK, ambit__net_gather(net, mine, sizeof mine, all));
  for (int p = 0; p < net->size; p++)
    CHECK(all[2 * p] == p + 0.5 && all[2 * p + 1] == -p);
}

static void folds_give_all_processes_the_same(void)
{
  bool all[20], any[20];
  double most[20], sums[3] = {0.1, net->rank, 1e17};
  double sum = 0;

  for (int i = 0; i < 20; i++) {
    all[i] = i != net->rank;
    any[i] = i == net->rank + 3;
    most[i] = i % net->size == net->rank ? i + 0.5 : -i;
  }
  CHECK_EQ(AMBIT_OK, ambit__net_all(net, all, 20));
  CHECK_EQ(AMBIT_OK, ambit__net_any(net, any, 20));
  CHECK_EQ(AMBIT_OK, ambit__net_max(net, most, 20));
  CHECK_EQ(AMBIT_OK, ambit__net_sum(net, sums, 3));
  for (int i = 0; i < 20; i++) {
    CHECK_EQ(i >= net->size, all[i]);
    CHECK_EQ(i >= 3 && i < 3 + net->size, any[i]);
    CHECK(most[i] == i + 0.5);
  }
  for (int r = 0; r < net->size; r++)
    sum += 0.1;
  CHECK(sums[0] == sum && sums[1] == net->size * (net->size - 1) / 2 &&
        sums[2] == 1e17 * net->size);
}

static void two_gathers_can_be_under_way(void)
{
  int64_t mine = 10 + net->rank, all[64];
  char letter = (char)('a' + net->rank), letters[64];
  bool done[2] = {false, false};

  CHECK_EQ(AMBIT_OK, ambit__net_gather_begin(net, &mine, sizeof mine, all, &requests[0]));
  CHECK_EQ(AMBIT_OK, ambit__net_gather_begin(net, &letter, 1, letters, &requests[1]));
  while (!errors.status && !(done[0] && done[1]))
    for (int i = 0; i < 2; i++)
      CHECK_EQ(AMBIT_OK, ambit__net_test(net, &requests[i], &done[i]));
  for (int p = 0; p < net->size; p++)
    CHECK(all[p] == 10 + p && letters[p] == 'a' + p);
}

static void everyone_gets_what_is_broadcast(void)
{
  for (int from = 0; from < net->size; from++) {
    int32_t values[3] = {net->rank, net->rank, net->rank};

    CHECK_EQ(AMBIT_OK, ambit__net_broadcast(net, from, values, sizeof values));
    CHECK(values[0] == from && values[2] == from);
  }
}

static void nobody_passes_a_barrier_alone(void)
{
  int32_t sent = 1, came = 0;
  bool done;

  for (int p = 0; p < net->size; p++)
    if (p != 0 && net->rank == 0)
      CHECK_EQ(AMBIT_OK, ambit__net_send(net, p, 4, &sent, sizeof sent, &requests[p]));
  if (net->rank != 0) {
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, 0, 4, &came, sizeof came, &requests[0]));
    CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 1));
  }
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
  if (net->rank == 0) /* all have received, so all sends complete */
    for (int p = 1; p < net->size; p++) {
      CHECK_EQ(AMBIT_OK, ambit__net_test(net, &requests[p], &done));
      CHECK(done);
    }
}

/* ---- failures ---- */

static int told; /* calls of the handler */

static void count_error(ambit_status status, const char *story, void *user)
{
  (void)status, (void)story, (void)user;
  told++;
}

static void without_an_error_all_agree_on_that(void)
{
  CHECK_EQ(AMBIT_OK, ambit__net_agree(net));
  CHECK_EQ(AMBIT_OK, errors.status);
}

static void what_fails_on_one_fails_on_all(void)
{
  const int last = net->size - 1;
  char want[64];

  told = 0;
  errors.handler = count_error;
  if (net->rank == last) ambit__raise(&errors, AMBIT_EIO, "the disk of %d is full", last);
  CHECK_EQ(AMBIT_EIO, ambit__net_agree(net));
  CHECK_EQ(AMBIT_EIO, errors.status);
  CHECK_EQ(net->rank == last, told);
  snprintf(want, sizeof want, "the disk of %d is full", last);
  CHECK_MSG(strstr(errors.text, want), "%s", errors.text);
  if (net->rank != last) CHECK_MSG(strstr(errors.text, "process"), "%s", errors.text);
  errors.handler = NULL;
  ambit__errors_clear(&errors);
}

static void the_first_of_several_errors_is_the_one_agreed_on(void)
{
  char want[64];

  ambit__raise(&errors, net->rank ? AMBIT_EIO : AMBIT_EKERNEL, "error of %d", net->rank);
  CHECK_EQ(AMBIT_EKERNEL, ambit__net_agree(net));
  snprintf(want, sizeof want, "error of %d", net->rank);
  CHECK_STR(want, errors.text); /* the local error stays */
  ambit__errors_clear(&errors);
}

/* Process 1 goes on when all others have left what was before: a stop would reach them there. */
static void let_all_arrive(void)
{
  char here[256] = {0};
  size_t n = 0;

  if (net->rank != 1) CHECK_EQ(AMBIT_OK, ambit__net_send(net, 1, 5, here, 1, &requests[n++]));
  for (int p = 0; p < net->size && net->rank == 1; p++)
    if (p != 1) CHECK_EQ(AMBIT_OK, ambit__net_receive(net, p, 5, &here[p], 1, &requests[n++]));
  if (ambit__net_wait(net, requests, n))
    CHECK(net->rank != 1); /* others may hear of the stop here */
}

/* Process 0 sends `bytes` bytes to process 1, which expects 80. */
static void send_wrong_size(size_t bytes, const char *cause)
{
  char room[100] = {0};

  let_all_arrive();
  if (net->rank == 0) {
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, 1, 6, room, bytes, &requests[0]));
    ambit__net_wait(net, requests, 1); /* it may hear of the error here */
  }
  if (net->rank == 1) {
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, 0, 6, room, 80, &requests[0]));
    CHECK_EQ(AMBIT_EPROCESS, ambit__net_wait(net, requests, 1));
    CHECK(!requests[0].active);
  }
  CHECK_EQ(AMBIT_EPROCESS, ambit__net_agree(net));
  CHECK(errors.text && strstr(errors.text, cause));
  CHECK(net->rank == 1 || (errors.text && strstr(errors.text, "process 1 of")));
  ambit__errors_clear(&errors);
}

static void a_message_of_the_wrong_size_is_an_error_on_all_processes(void)
{
  if (net->size == 1) SKIP(ALONE);
  send_wrong_size(40, "sent 40 bytes");
  send_wrong_size(100, "MPI could not");
}

static void a_wrong_peer_or_tag_is_refused(void)
{
  char byte_ = 0;

  CHECK_EQ(AMBIT_EINVAL, ambit__net_send(net, net->rank, 0, &byte_, 1, &requests[0]));
  CHECK(strstr(errors.text, "another one"));
  CHECK(!requests[0].active);
  ambit__errors_clear(&errors);
  CHECK_EQ(AMBIT_EINVAL, ambit__net_receive(net, net->size, 0, &byte_, 1, &requests[0]));
  ambit__errors_clear(&errors);
  CHECK_EQ(AMBIT_EINVAL,
           ambit__net_receive(net, net->size - 1 - net->rank, -1, &byte_, 1, requests));
  ambit__errors_clear(&errors);
  CHECK_EQ(AMBIT_EINVAL, ambit__net_broadcast(net, net->size, &byte_, 1));
  ambit__errors_clear(&errors);
}

/* ---- opening several nets ---- */

static void a_second_net_does_not_meet_the_first(void)
{
  const int other = net->rank ? 0 : 1;
  ambit__net *second = open_net();
  int32_t here = 1, there = 2, in[2] = {0, 0};

  if (!second) return;
  if (net->size > 1 && net->rank < 2) {
    ambit__net_send(second, other, 8, &there, sizeof there, &requests[0]);
    ambit__net_send(net, other, 8, &here, sizeof here, &requests[1]);
    ambit__net_receive(net, other, 8, &in[0], sizeof *in, &requests[2]);
    ambit__net_receive(second, other, 8, &in[1], sizeof *in, &requests[3]);
    CHECK_EQ(AMBIT_OK, ambit__net_wait(net, requests, 4));
    CHECK(in[0] == here && in[1] == there);
  }
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(second));
  ambit__net_close(second);
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
}

/* ---- waiting for long ---- */

static int late = -1;           /* a process that others wait for, for longer than it takes */
static double called;           /* the first time they looked at the clock */
enum { SAID = 11, KNOWN = 13 }; /* seconds after which they say that they wait, and name others */

double __real_ambit__clock(void);
double __wrap_ambit__clock(void);

static const ambit__net_kind *real; /* of the net */
static bool heard[4];               /* by rank: it has said that it waits */

/* As the net's own, which tells only once. */
static bool is_waiting(ambit__net *n, int rank)
{
  return heard[rank] = heard[rank] || real->is_waiting(n, rank);
}

/* Whether all processes but the late one are known to wait. */
static bool all_wait(void)
{
  for (int p = 0; p < net->size; p++)
    if (p != net->rank && p != late && !is_waiting(net, p)) return false;
  return true;
}

/* The linker replaces ambit__clock by this in the library, not in its modules. On processes that
 * wait, time goes by as fast as they hear of each other, however slow the machine is. Before, it
 * goes slowly, and deadlines that modules are given are minutes away, as in test_stop.c. */
double __wrap_ambit__clock(void)
{
  static double first;

  if (first == 0) first = __real_ambit__clock();
  if (late < 0) return first + 500 + (__real_ambit__clock() - first) / 50;
  if (late == net->rank) return __real_ambit__clock();
  if (called == 0) return called = __real_ambit__clock();
  return called + (all_wait() ? KNOWN : SAID);
}

/* Until this process of the same machine has written to stderr, a file; 40 s at most. */
static void await_words(pid_t pid)
{
  const struct timespec moment = {.tv_nsec = 20000000};
  struct stat st = {0};
  char path[64];

  snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)pid);
  for (int i = 0; i < 2000 && !(stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size); i++)
    nanosleep(&moment, NULL);
}

/* The last process comes late; the first reports, as all others wait too. */
static void a_process_that_is_silent_for_long_is_named(void)
{
  ambit__net_kind hearing = *net->kind;
  pid_t pid = getpid();
  const char *said;
  char want[80];

  if (net->size == 1) SKIP("there is one process");
  real = net->kind;
  hearing.is_waiting = is_waiting;
  net->kind = &hearing;
  capture_begin();
  CHECK_EQ(AMBIT_OK, ambit__net_broadcast(net, 0, &pid, sizeof pid));
  late = net->size - 1;
  if (net->rank == late) await_words(pid);
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
  said = capture_end();
  snprintf(want, sizeof want, "process 0 of %d has waited 13 s for process %d, ", net->size, late);
  late = -1;
  net->kind = real;
  CHECK_MSG(!strstr(said, want) == (net->rank > 0), "%s", said);
  CHECK_MSG(net->rank == 0 || !*said, "%s", said);
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
}

int main(int argc, char **argv)
{
  int status;

#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  const test_case tests[] = {T(a_process_knows_its_place),
                             T(messages_of_all_sizes_arrive_by_sender_and_tag),
                             T(messages_with_one_tag_keep_their_order),
                             T(a_message_is_not_there_before_it_was_sent),
                             T(a_receive_can_be_given_up),
                             T(what_is_gathered_is_in_the_order_of_ranks),
                             T(folds_give_all_processes_the_same),
                             T(two_gathers_can_be_under_way),
                             T(everyone_gets_what_is_broadcast),
                             T(nobody_passes_a_barrier_alone),
                             T(without_an_error_all_agree_on_that),
                             T(what_fails_on_one_fails_on_all),
                             T(the_first_of_several_errors_is_the_one_agreed_on),
                             T(a_message_of_the_wrong_size_is_an_error_on_all_processes),
                             T(a_wrong_peer_or_tag_is_refused),
                             T(a_second_net_does_not_meet_the_first),
                             T(a_process_that_is_silent_for_long_is_named),
                             {NULL, NULL}};

  net = open_net();
  if (!net) return 1;
  status = test_main(argc, argv, tests);
  ambit__net_close(net);
  return status;
}
