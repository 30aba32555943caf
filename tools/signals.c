/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c - the end from outside: Ctrl-C, a batch system, a closed terminal.
 *
 * The signals wait for a thread of their own, which undoes what is half done (base/undo.h) and ends
 * the process with the exit code by which shells show them: 130 for SIGINT, 143 for SIGTERM, 129
 * for SIGHUP. No handler runs, so there is nothing that it may not do. A second signal ends the
 * process at once.
 */
#define _XOPEN_SOURCE 700 /* sigwait, pthread_sigmask */
#include "args.h"

#include "base/undo.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static sigset_t watched;

static void *wait_for_end(void *unused)
{
  int number = 0;

  (void)unused;
  if (sigwait(&watched, &number)) return NULL;
  pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
  ambit__undo_all();
  _exit(128 + number);
}

/* Signals that the parent wants ignored (nohup, a shell's background) stay so. */
static bool is_ignored(int number)
{
  struct sigaction now;

  return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

void tool_watch_signals(void)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  pthread_t thread;

  sigemptyset(&watched);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (!is_ignored(numbers[i])) sigaddset(&watched, numbers[i]);
  pthread_sigmask(SIG_BLOCK, &watched, NULL);
  if (pthread_create(&thread, NULL, wait_for_end, NULL))
    pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
  else
    pthread_detach(thread);
}
