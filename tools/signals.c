/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c - termination by signals: Ctrl-C, a batch system, a closed terminal.
 *
 * A thread waits for the signals, cleans up (base/undo.h), and exits with the exit code that shells
 * use for them: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP. There is no signal handler, so all
 * functions may be called. A second signal ends the process at once. A command that can end its
 * work in an orderly way does so at the first signal; SIGTERM in a run with checkpoints saves one.
 * A file that exceeds the limit of the process is an error (EFBIG), not the signal SIGXFSZ.
 */
#define _XOPEN_SOURCE 700 /* sigwait, pthread_sigmask */
#include "args.h"

#include "base/undo.h"
#include "runtime/checkpoint/checkpoint.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static sigset_t watched;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the following */
static void (*stop)(void *user);
static void *stop_user;
static int stopped_by;

void tool_on_signal(void (*fn)(void *user), void *user)
{
  pthread_mutex_lock(&lock);
  stop = fn;
  stop_user = user;
  pthread_mutex_unlock(&lock);
}

int tool_signal(void)
{
  int number;

  pthread_mutex_lock(&lock);
  number = stopped_by;
  pthread_mutex_unlock(&lock);
  return number;
}

/* Whether the command ends its work itself. */
static bool ask_to_stop(int number)
{
  bool asks;

  pthread_mutex_lock(&lock);
  asks = stop && !stopped_by;
  if (asks) {
    stopped_by = number;
    stop(stop_user);
  }
  pthread_mutex_unlock(&lock);
  return asks;
}

static void *wait_for_end(void *unused)
{
  int number = 0;

  (void)unused;
  do
    if (sigwait(&watched, &number)) return NULL;
  while (ambit__signals_take(number) || ask_to_stop(number));
  pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
  ambit__undo_all();
  _exit(128 + number);
}

/* Signals that the parent ignores (nohup, background jobs) stay ignored. */
static bool is_ignored(int number)
{
  struct sigaction now;

  return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

void tool_watch_signals(void)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  pthread_t thread;

  signal(SIGXFSZ, SIG_IGN);
  sigemptyset(&watched);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (!is_ignored(numbers[i])) sigaddset(&watched, numbers[i]);
  pthread_sigmask(SIG_BLOCK, &watched, NULL);
  if (pthread_create(&thread, NULL, wait_for_end, NULL))
    pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
  else
    pthread_detach(thread);
}
