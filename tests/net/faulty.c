/* SPDX-License-Identifier: BSD-3-Clause */
/* A program on several processes of which one misbehaves; test_faults.py checks how the others end.
 *
 *   faulty kill|abort|exit|leave|sleep      AMBIT_TEST_MPI is the option mpi
 *
 * The clock of this program is 9 seconds behind that of the module that waits for the others, so it
 * waits 1 second, not 10.
 */
#include "base/clock.h"
#include "net/net.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double __real_ambit__clock(void);
double __wrap_ambit__clock(void);

double __wrap_ambit__clock(void)
{
  return __real_ambit__clock() - 9;
}

static void print(ambit_status status, const char *story, void *user)
{
  (void)user;
  fprintf(stderr, "error %s: %s\n", ambit_status_name(status), story);
}

/* The action of the last process while the others wait for it. */
static void misbehave(ambit__net *net, const char *way)
{
  if (!strcmp(way, "kill")) raise(SIGKILL);
  if (!strcmp(way, "abort")) ambit__net_abort(net, "the disk is full");
  if (!strcmp(way, "exit")) exit(3);
  if (!strcmp(way, "sleep")) sleep(600);
}

/* The action of the first process then. */
static void despair(ambit__net *net, const char *way)
{
  if (strcmp(way, "sleep")) return;
  (void)ambit__raise(net->errors, AMBIT_EDEVICE, "the disk is full");
  ambit__net_stop(net);
}

int main(int argc, char **argv)
{
  ambit__errors errors = {.handler = print};
  const char *way = argc > 1 ? argv[1] : "", *how = getenv("AMBIT_TEST_MPI");
  ambit__net *net;
  ambit_status s;

  if (ambit__net_open(&errors, how ? how : "auto", 0, NULL, &net)) {
    ambit__errors_clear(&errors);
    return 2;
  }
  if (!strcmp(way, "leave")) exit(0); /* all exit, with the net open */
  if (net->rank == net->size - 1) misbehave(net, way);
  if (net->rank == 0) despair(net, way);
  s = ambit__net_barrier(net);
  printf("process %d of %d with %s\n", net->rank, net->size, net->name);
  ambit__net_close(net);
  return s != AMBIT_OK;
}
