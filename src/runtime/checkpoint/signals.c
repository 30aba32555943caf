/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c - SIGUSR1 saves a checkpoint, SIGTERM saves one and ends the process.
 *
 * Handlers are installed while a context with checkpoints runs programs. A handler of the program
 * is called by ours, at once, and decides what SIGTERM does; ours only notes the signal. Outside of
 * runs SIGTERM has its usual effect: the last checkpoint is as good.
 */
#define _XOPEN_SOURCE 700 /* sigaction */
#include "runtime/checkpoint/checkpoint.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { SAVE, END, NUMBERS, PATIENCE = 10 /* seconds for the process to end */ };

static const int numbers[NUMBERS] = {[SAVE] = SIGUSR1, [END] = SIGTERM};
static struct sigaction before[NUMBERS];
static bool installed[NUMBERS];
static int watchers;                                     /* contexts */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the three */
static atomic_int runs;                                  /* in progress */
static atomic_int asked;
static atomic_bool ending; /* the last checkpoint is saved */

static bool has_function(int k)
{
  return (before[k].sa_flags & SA_SIGINFO) != 0 ||
         (before[k].sa_handler != SIG_DFL && before[k].sa_handler != SIG_IGN);
}

static void pass_on(int k, int number, siginfo_t *info, void *context)
{
  if (before[k].sa_flags & SA_SIGINFO)
    before[k].sa_sigaction(number, info, context);
  else if (has_function(k))
    before[k].sa_handler(number);
}

/* Gives the signal its effect without us. */
static void let_go(int number)
{
  struct sigaction plain = {.sa_handler = SIG_DFL};
  sigset_t one;

  sigemptyset(&plain.sa_mask);
  sigaction(number, &plain, NULL);
  sigemptyset(&one);
  sigaddset(&one, number);
  kill(getpid(), number);
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void handle(int number, siginfo_t *info, void *context)
{
  const int k = number == numbers[END] ? END : SAVE;

  if (k == END && !has_function(END) && (!atomic_load(&runs) || atomic_load(&ending)))
    let_go(number);
  atomic_fetch_or(&asked, k == END ? AMBIT__ASKED_END : AMBIT__ASKED_SAVE);
  pass_on(k, number, info, context);
}

void ambit__signals_watch(void)
{
  struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};

  sigemptyset(&ours.sa_mask);
  pthread_mutex_lock(&lock);
  for (int k = 0; !watchers && k < NUMBERS; k++) {
    installed[k] = !sigaction(numbers[k], NULL, &before[k]) &&
                   (k == SAVE || has_function(k) || before[k].sa_handler == SIG_DFL);
    if (installed[k]) sigaction(numbers[k], &ours, NULL);
  }
  watchers++;
  pthread_mutex_unlock(&lock);
}

void ambit__signals_unwatch(void)
{
  pthread_mutex_lock(&lock);
  watchers--;
  for (int k = 0; !watchers && k < NUMBERS; k++) {
    struct sigaction now;

    /* a handler that the program has installed over ours stays */
    if (installed[k] && !sigaction(numbers[k], NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == handle)
      sigaction(numbers[k], &before[k], NULL);
  }
  pthread_mutex_unlock(&lock);
}

void ambit__signals_enter(void)
{
  atomic_fetch_add(&runs, 1);
}

/* A signal that came after the last look has its effect now. */
void ambit__signals_leave(void)
{
  if (atomic_fetch_sub(&runs, 1) == 1 && atomic_load(&asked) & AMBIT__ASKED_END)
    ambit__signals_end();
}

int ambit__signals_asked(void)
{
  return atomic_fetch_and(&asked, AMBIT__ASKED_END);
}

void ambit__signals_end(void)
{
  if (has_function(END)) {
    atomic_fetch_and(&asked, ~AMBIT__ASKED_END);
    return;
  }
  atomic_store(&ending, true);
  let_go(SIGTERM);
  for (int i = 0; i < PATIENCE; i++) /* a thread of the program may have to take it */
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  atomic_store(&ending, false);
  atomic_fetch_and(&asked, ~AMBIT__ASKED_END);
}

bool ambit__signals_take(int number)
{
  if (number != SIGTERM || !atomic_load(&runs) || atomic_load(&ending)) return false;
  atomic_fetch_or(&asked, AMBIT__ASKED_END);
  return true;
}
