/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/fork.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int number;

static void count_fork(void)
{
  number++;
}

static void watch(void)
{
  /* Without memory for it, children are not told apart: they hang where they would be refused. */
  (void)pthread_atfork(NULL, NULL, count_fork);
}

int ambit__fork_number(void)
{
  pthread_once(&once, watch);
  return number;
}
