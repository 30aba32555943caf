/* SPDX-License-Identifier: BSD-3-Clause */
/* A message of more than 2 GiB, beyond the counts of MPI. Its memory is one small piece that is
 * mapped repeatedly, with a distinct end, so that the test fits into any machine. */
#define _GNU_SOURCE /* memfd_create */
#include "net_test.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 64 << 20 };
static const size_t pieces = 33, tail = 4099; /* slightly more than 2112 MiB */

/* Maps the first PIECE bytes of a file `pieces` times, then the rest of the file. */
static unsigned char *map(void)
{
  const size_t page = 1 << 16, bytes = pieces * PIECE + page;
  const int file = memfd_create("large", 0);
  unsigned char *all = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int bad = file < 0 || all == MAP_FAILED || ftruncate(file, PIECE + (off_t)page);

  for (size_t i = 0; i <= pieces && !bad; i++)
    bad = mmap(all + i * PIECE, i < pieces ? PIECE : page, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_FIXED, file, i < pieces ? 0 : PIECE) == MAP_FAILED;
  close(file);
  return bad ? NULL : all;
}

static void more_than_2_gib_arrive_whole(void)
{
  const size_t n = pieces * PIECE + tail;
  unsigned char *bytes = map();
  ambit__net *net = NULL;
  ambit__request r;
  size_t wrong = 0;

  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "on", 0, NULL, &net));
  CHECK_MSG(bytes, "no memory can be mapped");
  if (!net || !bytes) return;
  for (size_t i = 0; i < PIECE && net->rank == 0; i++)
    bytes[i] = (unsigned char)(i % 251);
  for (size_t i = 0; i < tail && net->rank == 0; i++)
    bytes[pieces * PIECE + i] = (unsigned char)(i % 13 + 1);
  if (net->rank == 0)
    CHECK_EQ(AMBIT_OK, ambit__net_send(net, 1, 0, bytes, n, &r));
  else
    CHECK_EQ(AMBIT_OK, ambit__net_receive(net, 0, 0, bytes, n, &r));
  CHECK_EQ(AMBIT_OK, ambit__net_wait(net, &r, 1));
  for (size_t i = 0; i < PIECE; i++)
    wrong += bytes[i] != i % 251;
  for (size_t i = 0; i < tail; i++)
    wrong += bytes[pieces * PIECE + i] != i % 13 + 1;
  CHECK_EQ(0, wrong);
  ambit__net_close(net);
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  const test_case tests[] = {T(more_than_2_gib_arrive_whole), {NULL, NULL}};

  return test_main(argc, argv, tests);
}
