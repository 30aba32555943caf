/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal.c - everything that a handler of a signal needs is in `tty`, set before it is taken, and
 * the functions it calls are async-signal-safe. */
#define _GNU_SOURCE /* memfd_create, sigaction */
#include "view/terminal.h"

#include "base/clock.h"
#include "base/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static const char ENTER[] = "\033[?1049h\033[?25l\033[2J";
/* A picture may be cut: what it has begun ends first. */
static const char LEAVE[] = "\033\\\033[?2026l\033[0m\033[?25h\033[?1049l";

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP,  SIGQUIT, SIGSEGV, SIGBUS,
                              SIGFPE, SIGILL,  SIGABRT, SIGPIPE, SIGXCPU};
enum { SIGNALS = sizeof numbers / sizeof *numbers };
#define STALLED 5.0 /* seconds */

static struct {
  atomic_bool taken;
  atomic_int busy;  /* threads that take it or draw on it now */
  atomic_int ended; /* handlers at work, and ends of the process: nobody takes it any more */
  bool is_open;
  bool plain; /* it is not asked what it can do (TERM is linux or dumb) */
  int fd;
  struct termios before; /* as it was */
  int held;              /* file with the output of the program; -1: none */
  int outputs[2];        /* copies of stdout and stderr; -1: they are not held */
  struct sigaction old[SIGNALS];
  ambit__undo undo;
} tty = {.fd = -1, .held = -1, .outputs = {-1, -1}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards is_open */

/* ---- giving back; async-signal-safe ---- */

/* True: all was written. A terminal that takes nothing for so long is given up. */
static bool write_some(int fd, const char *bytes, size_t n, double seconds, bool draws)
{
  double end = ambit__clock() + seconds;

  while (n && ambit__clock() < end) {
    ssize_t done;

    if (draws && (!atomic_load(&tty.taken) || atomic_load(&tty.ended))) return false;
    done = write(fd, bytes, n);
    if (done > 0) {
      bytes += done;
      n -= (size_t)done;
      end = ambit__clock() + seconds;
    } else if (errno == EAGAIN) {
      poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 50);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return !n;
}

static void release_outputs(void)
{
  char bytes[1024];
  ssize_t n;

  for (int i = 0; i < 2; i++)
    if (tty.outputs[i] >= 0) {
      dup2(tty.outputs[i], i + 1);
      close(tty.outputs[i]);
      tty.outputs[i] = -1;
    }
  if (tty.held < 0) return;
  lseek(tty.held, 0, SEEK_SET);
  while ((n = read(tty.held, bytes, sizeof bytes)) > 0)
    write_some(tty.fd, bytes, (size_t)n, STALLED, false);
  close(tty.held);
  tty.held = -1;
}

/* A handler may have stopped the thread that draws, so this does not wait for ever. */
static void wait_for_others(void)
{
  for (int i = 0; i < 100 && atomic_load(&tty.busy); i++)
    poll(NULL, 0, 5);
}

void ambit__terminal_leave(void)
{
  const int error = errno;

  wait_for_others();
  if (atomic_exchange(&tty.taken, false)) {
    write_some(tty.fd, LEAVE, sizeof LEAVE - 1, STALLED, false);
    tcsetattr(tty.fd, TCSANOW, &tty.before);
    release_outputs();
  }
  errno = error;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
  const struct sigaction *old = NULL;

  for (int i = 0; i < SIGNALS; i++)
    if (numbers[i] == number) old = &tty.old[i];
  atomic_fetch_add(&tty.ended, 1);
  ambit__terminal_leave();
  if (old->sa_flags & SA_SIGINFO) {
    old->sa_sigaction(number, info, context);
  } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
    old->sa_handler(number);
  } else if (old->sa_handler == SIG_DFL) {
    sigaction(number, old, NULL);
    raise(number); /* when the handler returns */
    return;
  }
  atomic_fetch_sub(&tty.ended, 1); /* the process goes on */
}

static void at_exit(void)
{
  atomic_fetch_add(&tty.ended, 1);
  ambit__terminal_leave();
}

static void at_undo(void *unused)
{
  (void)unused;
  at_exit();
}

/* ---- taking ---- */

/* Signals that are ignored stay ignored. */
static void watch_signals(void)
{
  struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

  sigemptyset(&ours.sa_mask);
  for (int i = 0; i < SIGNALS; i++)
    if (!sigaction(numbers[i], NULL, &tty.old[i]) && tty.old[i].sa_handler != SIG_IGN)
      sigaction(numbers[i], &ours, NULL);
}

static void unwatch_signals(void)
{
  struct sigaction now;

  for (int i = 0; i < SIGNALS; i++)
    if (!sigaction(numbers[i], NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == on_signal)
      sigaction(numbers[i], &tty.old[i], NULL);
}

/* Keeps what the program prints on this terminal. */
static void hold_outputs(void)
{
  struct stat own, other;

  if (fstat(tty.fd, &own)) return;
  tty.held = memfd_create("ambit-output", MFD_CLOEXEC);
  if (tty.held < 0) return;
  fflush(stdout);
  for (int i = 0; i < 2; i++)
    if (isatty(i + 1) && !fstat(i + 1, &other)) {
      tty.outputs[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
      if (tty.outputs[i] >= 0) dup2(tty.held, i + 1);
    }
}

static void take(int fd)
{
  struct termios raw;

  if (atomic_load(&tty.ended) || tcgetattr(fd, &tty.before)) return;
  raw = tty.before;
  raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
  raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* ^Z is a key: the screen must be given back first */
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  hold_outputs();
  atomic_store(&tty.taken, true);
  tcsetattr(fd, TCSANOW, &raw);
  write_some(fd, ENTER, sizeof ENTER - 1, STALLED, false);
}

void ambit__terminal_enter(int fd)
{
  atomic_fetch_add(&tty.busy,
                   1); /* before `ended` is read: leaving sets that one, then reads this */
  take(fd);
  atomic_fetch_sub(&tty.busy, 1);
}

bool ambit__terminal_is_taken(void)
{
  return atomic_load(&tty.taken);
}

static int open_tty(char *why, size_t size)
{
  const int fd = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

  if (fd < 0 || !isatty(fd))
    snprintf(why, size, "there is no terminal; use view=http to look at it in a browser");
  else if (tcgetpgrp(fd) != getpgrp())
    snprintf(why, size,
             "the program runs in the background of its terminal; use view=http to look "
             "at it in a browser");
  else
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

int ambit__terminal_open(char *why, size_t size)
{
  static bool registered;
  const char *term = getenv("TERM");
  int fd = -1;

  pthread_mutex_lock(&lock);
  if (tty.is_open) {
    snprintf(why, size, "another context of the process has the terminal");
  } else if ((fd = open_tty(why, size)) >= 0) {
    tty.is_open = true;
    tty.fd = fd;
    tty.plain = !term || !strcmp(term, "linux") || !strcmp(term, "dumb");
    tty.undo = (ambit__undo){.run = at_undo};
    if (!registered) registered = !atexit(at_exit);
    ambit__undo_lock();
    ambit__undo_add(&tty.undo);
    ambit__undo_unlock();
    watch_signals();
  }
  pthread_mutex_unlock(&lock);
  return fd;
}

void ambit__terminal_close(int fd)
{
  ambit__terminal_leave();
  unwatch_signals();
  ambit__undo_remove(&tty.undo);
  pthread_mutex_lock(&lock);
  close(fd);
  tty.fd = -1;
  tty.is_open = false;
  pthread_mutex_unlock(&lock);
}

bool ambit__terminal_draw(int fd, const char *bytes, size_t n, double seconds)
{
  bool done;

  atomic_fetch_add(&tty.busy, 1);
  done = write_some(fd, bytes, n, seconds, true);
  atomic_fetch_sub(&tty.busy, 1);
  return done;
}

void ambit__terminal_print(int fd, const char *bytes, size_t n, double seconds)
{
  write_some(fd, bytes, n, seconds, false);
}

/* ---- skills ---- */

static bool has_attribute(const char *list, size_t n, int wanted)
{
  for (size_t i = 0; i < n;) {
    const int number = atoi(list + i);

    if (number == wanted) return true;
    while (i < n && list[i] != ';')
      i++;
    i++;
  }
  return false;
}

/* "6;HEIGHT;WIDTH" of a character. */
static void read_cell(const char *text, ambit__terminal_skills *skills)
{
  int height, width;

  if (sscanf(text, "6;%d;%d", &height, &width) != 2) return;
  if (width < 2 || width > 200 || height < 2 || height > 200) return;
  skills->cell_height = height;
  skills->cell_width = width;
}

bool ambit__terminal_parse(const char *answer, size_t n, ambit__terminal_skills *skills)
{
  for (size_t i = 0; i + 2 < n; i++) {
    const char *at = answer + i;
    size_t length = 0;

    if (at[0] != '\033') continue;
    if (at[1] == '_' && n - i >= 8 && !strncmp(at + 2, "Gi=31;", 6) && n - i >= 10)
      skills->kitty = !strncmp(at + 8, "OK", 2);
    if (at[1] != '[') continue;
    while (i + 2 + length < n && strchr("0123456789;?", at[2 + length]))
      length++;
    if (i + 2 + length >= n) return false;
    if (at[2 + length] == 't' && at[2] == '6') read_cell(at + 2, skills);
    if (at[2 + length] == 'c' && at[2] == '?') {
      skills->sixel = has_attribute(at + 3, length - 1, 4);
      return true;
    }
  }
  return false;
}

ambit__terminal_skills ambit__terminal_ask(int fd)
{
  static const char question[] = "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[16t\033[c";
  const double wait = getenv("SSH_CONNECTION") ? 1.0 : 0.4, end = ambit__clock() + wait;
  ambit__terminal_skills skills = {0};
  char answer[512];
  size_t n = 0;

  if (tty.plain) return skills;
  write_some(fd, question, sizeof question - 1, STALLED, false);
  while (n < sizeof answer - 1 && ambit__clock() < end) {
    ssize_t got;

    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 20);
    got = read(fd, answer + n, sizeof answer - 1 - n);
    if (got <= 0) continue;
    n += (size_t)got;
    answer[n] = '\0';
    if (ambit__terminal_parse(answer, n, &skills)) break;
  }
  return skills;
}

static bool contains(const char *text, const char *word)
{
  return text && strstr(text, word);
}

ambit__screen ambit__terminal_choose(const ambit__terminal_skills *skills)
{
  const char *term = getenv("TERM"), *colours = getenv("COLORTERM"), *none = getenv("NO_COLOR");
  const char *locale = getenv("LC_ALL");

  if (!locale || !*locale) locale = getenv("LC_CTYPE");
  if (!locale || !*locale) locale = getenv("LANG");
  if ((none && *none) || !term || !*term || !strcmp(term, "dumb")) return AMBIT__SCREEN_ASCII;
  if (skills->kitty) return AMBIT__SCREEN_KITTY;
  if (skills->sixel) return AMBIT__SCREEN_SIXEL;
  if (locale && (!strcmp(locale, "C") || !strcmp(locale, "POSIX"))) return AMBIT__SCREEN_ASCII;
  if (contains(colours, "truecolor") || contains(colours, "24bit") || contains(term, "direct") ||
      getenv("TMUX"))
    return AMBIT__SCREEN_BLOCKS;
  return contains(term, "256") ? AMBIT__SCREEN_256 : AMBIT__SCREEN_16;
}
