/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* clone, F_SETSIG, pipe2, secure_getenv */
#include "device/cpu/process.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
  MOST_OUTPUT = 1 << 20, /* bytes kept; the rest is read and dropped */
  STACK = 64 << 10       /* bytes for a child until it executes the program */
};
#define SAFE_PATH   "/usr/local/bin:/usr/bin:/bin"
#define LONG_SECOND 1.0 /* after which the user is informed */

/* ---- start ---- */

/* The data of a child. It shares memory with this process until it executes the program. */
typedef struct birth {
  const char *const *argv;
  char **environment;
  int out;
  int lifeline; /* a pipe whose other end is only in the parent */
  pid_t parent;
  double seconds;
  sigset_t old; /* signals blocked here */
  int err;      /* error number if it could not execute the program; 0: it did */
} birth;

/* Limits the CPU time, so that the processes it starts end even if nobody is left to end them.
 * Several threads use up the time faster. */
static void limit_time(double seconds)
{
  struct rlimit limit;
  const rlim_t most = (rlim_t)(4 * seconds) + 2;

  if (getrlimit(RLIMIT_CPU, &limit) || (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= most))
    return;
  limit.rlim_cur = most;
  (void)setrlimit(RLIMIT_CPU, &limit);
}

/* Resets all signals to their defaults, none blocked or ignored. */
static void plain_signals(void)
{
  const struct sigaction plain = {.sa_handler = SIG_DFL};
  sigset_t none;

  for (int i = 1; i < NSIG; i++)
    (void)sigaction(i, &plain, NULL);
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* PR_SET_PDEATHSIG ends this process alone, not those that it starts, such as cc1. So the system is
 * to kill the whole group when the other end of the lifeline is closed, which the death of the
 * parent does; the end here stays open in all of the group. Where that fails, limit_time() remains.
 */
static void hang_on(int lifeline)
{
  const int fd = fcntl(lifeline, F_DUPFD, 3);

  if (fd < 0 || fcntl(fd, F_SETOWN, -getpid()) || fcntl(fd, F_SETSIG, SIGKILL)) return;
  (void)fcntl(fd, F_SETFL, O_ASYNC);
}

/* Runs in the child. Empty input; output and errors to the pipe; it dies with this process. */
static int become(void *arg)
{
  birth *b = arg;
  int empty;

  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  hang_on(b->lifeline);
  if (getppid() != b->parent) _exit(127); /* the parent is already dead */
  empty = open("/dev/null", O_RDONLY);
  if (empty < 0 || dup2(empty, 0) < 0 || dup2(b->out, 1) < 0 || dup2(b->out, 2) < 0) {
    b->err = errno;
    _exit(127);
  }
  limit_time(b->seconds);
  plain_signals();
  /* The prototype predates const; execve does not write to the arguments. */
  execve(b->argv[0], (char *const *)(uintptr_t)b->argv, b->environment);
  b->err = errno;
  _exit(127);
}

#ifdef __SANITIZE_THREAD__
/* The thread sanitizer of gcc 12 takes such a clone for a fork and loses track of the locks. Here a
 * child that cannot start the program exits with 127. */
static pid_t start_child(birth *b, char *stack)
{
  const pid_t pid = fork();

  (void)stack;
  if (!pid) become(b); /* does not return */
  return pid;
}
#else
/* Like vfork, on its own stack: a large process is not copied. */
static pid_t start_child(birth *b, char *stack)
{
  return clone(become, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, b);
}
#endif

/* Signals are blocked meanwhile, as a handler must not run in the child. */
static int give_birth(birth *b, pid_t *pid)
{
  char *stack = malloc(STACK);
  sigset_t all;

  if (!stack) return ENOMEM;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &b->old);
  *pid = start_child(b, stack);
  if (*pid < 0) b->err = errno;
  pthread_sigmask(SIG_SETMASK, &b->old, NULL);
  free(stack);
  if (*pid > 0 && b->err) (void)waitpid(*pid, NULL, 0);
  return b->err;
}

/* The environment with another TMPDIR, to free(), as is *text. A set-user-ID program passes on
 * nothing from its user. */
static char **make_environment(const char *temporary, char **text)
{
  static char safe[] = "PATH=" SAFE_PATH;
  const bool is_secure = getauxval(AT_SECURE) != 0;
  ambit__text t = {0};
  size_t n = 0, kept = 0;
  char **list;

  while (environ[n])
    n++;
  list = malloc((n + 3) * sizeof *list);
  ambit__print(&t, "TMPDIR=%s", temporary ? temporary : "/tmp");
  *text = ambit__text_finish(&t);
  if (!list || !*text) {
    free(list);
    return NULL;
  }
  for (size_t i = 0; !is_secure && i < n; i++)
    if (!temporary || strncmp(environ[i], "TMPDIR=", strlen("TMPDIR="))) list[kept++] = environ[i];
  if (is_secure) list[kept++] = safe;
  if (temporary) list[kept++] = *text;
  list[kept] = NULL;
  return list;
}

/* Kills the process group if this process is ended. */
static void end_group(void *pid)
{
  kill(-*(const pid_t *)pid, SIGKILL);
}

static int start(const ambit__process *p, int out, int lifeline, pid_t *pid, ambit__undo *undo)
{
  char *text = NULL;
  birth b = {
      .argv = p->argv, .out = out, .lifeline = lifeline, .parent = getpid(), .seconds = p->seconds};
  int err = ENOMEM;

  b.environment = make_environment(p->temporary, &text);
  *undo = (ambit__undo){.run = end_group, .what = pid};
  ambit__undo_lock();
  if (b.environment) err = give_birth(&b, pid);
  if (!err) ambit__undo_add(undo);
  ambit__undo_unlock();
  free(b.environment);
  free(text);
  return err;
}

/* ---- output ---- */

/* Reads the available output; false at its end, or if a non-blocking read finds nothing. */
static bool hear(int fd, ambit__text *output)
{
  char chunk[4096];
  ssize_t n = read(fd, chunk, sizeof chunk);

  if (n > 0 && output && output->len < MOST_OUTPUT) ambit__print_chars(output, chunk, (size_t)n);
  return n > 0 || (n < 0 && errno == EINTR);
}

/* 1: the process has ended, and is kept for waitpid; 0: not yet; -1: the program reaps its children
 * itself. */
static int has_ended(pid_t pid)
{
  siginfo_t about = {0};

  if (waitid(P_PID, (id_t)pid, &about, WEXITED | WNOHANG | WNOWAIT)) return errno == EINTR ? 0 : -1;
  return about.si_pid == pid;
}

/* Informs the user once, after LONG_SECOND. */
static void excuse(const ambit__process *p, double start, bool *told)
{
  if (*told || !p->doing || ambit__clock() - start < LONG_SECOND) return;
  *told = true;
  ambit__log(p->settings, 0,
             "%s: %s has not finished after 1 s; it may take %g s (option patience)", p->doing,
             p->argv[0], p->seconds);
}

/* Reads until the output ends, the process does, or the time is over. A process that left something
 * running in the background, which holds the pipe open, is detected by waitid. false: the time is
 * over, or nobody wants it any more. */
static bool hear_until_end(const ambit__process *p, pid_t pid, int fd, ambit__text *output)
{
  const double start = ambit__clock();
  bool open = true, told = false;

  for (;;) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    int ready = poll(&poll_fd, open, open ? 50 : 1);

    if (open && ready > 0) open = hear(fd, output);
    if ((!open || ready <= 0) && has_ended(pid)) return true;
    if (ambit__clock() - start > p->seconds) return false;
    if (p->unwanted && atomic_load(p->unwanted)) return false;
    excuse(p, start, &told);
  }
}

static ambit__process_end watch(const ambit__process *p, pid_t pid, int fd, ambit__undo *undo,
                                ambit__text *output)
{
  const bool in_time = hear_until_end(p, pid, fd, output);
  int status = 0;

  ambit__undo_remove(undo);
  /* Ends also all that the process left behind. It is not yet reaped, so the number is still its
   * own. */
  kill(-pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) {
      status = 0;
      break;
    }
  if (!in_time) return PROCESS_TIMED_OUT;
  fcntl(fd, F_SETFL, O_NONBLOCK);
  while ((!output || output->len < MOST_OUTPUT) && hear(fd, output)) {}
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PROCESS_OK : PROCESS_FAILED;
}

/* ---- */

static ambit__process_end not_run(const char *program, int err, ambit__text *output)
{
  if (output) ambit__print(output, "%s cannot be started: %s\n", program, strerror(err));
  return PROCESS_NOT_RUN;
}

/* A pipe whose ends are not descriptors that the child replaces. */
static bool make_pipe(int ends[2])
{
  int high;

  if (pipe2(ends, O_CLOEXEC)) return false;
  for (int i = 0; i < 2; i++) {
    if (ends[i] > 2) continue;
    high = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
    close(ends[i]);
    ends[i] = high;
  }
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  for (int i = 0; i < 2; i++)
    if (ends[i] >= 0) close(ends[i]);
  return false;
}

ambit__process_end ambit__process_run(const ambit__process *p, ambit__text *output)
{
  ambit__process_end end;
  ambit__undo undo;
  int ends[2], life[2], err;
  pid_t pid;

  if (p->seconds <= 0) return PROCESS_TIMED_OUT;
  if (!make_pipe(ends)) return not_run(p->argv[0], errno, output);
  if (!make_pipe(life)) {
    err = errno;
    close(ends[0]);
    close(ends[1]);
    return not_run(p->argv[0], err, output);
  }
  err = start(p, ends[1], life[0], &pid, &undo);
  close(ends[1]);
  close(life[0]);
  end = err ? not_run(p->argv[0], err, output) : watch(p, pid, ends[0], &undo, output);
  close(ends[0]);
  close(life[1]);
  return end;
}

static bool can_run(const char *path)
{
  struct stat st;

  return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

char *ambit__process_find(const char *name, int nth)
{
  const char *path = secure_getenv("PATH");

  if (strchr(name, '/')) return !nth && can_run(name) ? strdup(name) : NULL;
  if (!path) path = SAFE_PATH;
  for (;;) {
    size_t n = strcspn(path, ":");
    ambit__text t = {0};
    char *candidate;

    ambit__print(&t, "%.*s/%s", n ? (int)n : 1, n ? path : ".", name);
    candidate = ambit__text_finish(&t);
    if (candidate && can_run(candidate) && !nth--) return candidate;
    free(candidate);
    if (!path[n]) return NULL;
    path += n + 1;
  }
}
