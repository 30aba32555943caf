#define _GNU_SOURCE 1
#include "device/cpu/process.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_OUTPUT = 1 << 20 }; /* bytes kept; the rest is read and dropped */

/* Empty input, output and errors to `out`. */
static int set_files(posix_spawn_file_actions_t *files, int out)
{
  int err = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);

  if (!err) err = posix_spawn_file_actions_adddup2(files, out, 1);
  if (!err) err = posix_spawn_file_actions_adddup2(files, out, 2);
  return err;
}

/* A group of its own, and no signal blocked or ignored, whatever this program does with them. */
static int set_attributes(posix_spawnattr_t *attr)
{
  sigset_t none, all;
  int err;

  sigemptyset(&none);
  sigfillset(&all);
  err = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                           POSIX_SPAWN_SETSIGDEF);
  if (!err) err = posix_spawnattr_setpgroup(attr, 0);
  if (!err) err = posix_spawnattr_setsigmask(attr, &none);
  if (!err) err = posix_spawnattr_setsigdefault(attr, &all);
  return err;
}

static int start(const char *const *argv, int out, pid_t *pid)
{
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attr;
  int err = posix_spawn_file_actions_init(&files);

  if (err) return err;
  err = posix_spawnattr_init(&attr);
  if (!err) {
    err = set_files(&files, out);
    if (!err) err = set_attributes(&attr);
    /* The prototype predates const; posix_spawn does not write to the arguments. */
    if (!err)
      err = posix_spawn(pid, argv[0], &files, &attr, (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attr);
  }
  posix_spawn_file_actions_destroy(&files);
  return err;
}

/* Reads what is there now; false at the end of the output, or when a read without waiting finds nothing. */
static bool hear(int fd, ambit__text *output)
{
  char chunk[4096];
  ssize_t n = read(fd, chunk, sizeof chunk);

  if (n > 0 && output && output->len < MOST_OUTPUT) ambit__print_chars(output, chunk, (size_t)n);
  return n > 0 || (n < 0 && errno == EINTR);
}

/* Until the output ends, the process does, or the time is over. A process that left something running
 * in the background, which holds the pipe open, is seen by waitpid. */
static bool hear_until_end(pid_t pid, int fd, double end, ambit__text *output, int *status)
{
  bool open = true;

  for (;;) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = poll(&p, open, open ? 50 : 1);
    pid_t got;

    if (open && ready > 0 && (open = hear(fd, output))) continue;
    got = waitpid(pid, status, WNOHANG);
    if (got == pid) return true;
    if (got < 0 && errno != EINTR) { /* the program takes its children's ends for itself */
      *status = 0;
      return true;
    }
    if (ambit__clock() > end) return false;
  }
}

static ambit__process_end watch(pid_t pid, int fd, double seconds, ambit__text *output)
{
  int status = 0;

  if (!hear_until_end(pid, fd, ambit__clock() + seconds, output, &status)) {
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return PROCESS_TIMED_OUT;
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  while (hear(fd, output)) {}
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PROCESS_OK : PROCESS_FAILED;
}

static ambit__process_end not_run(const char *program, int err, ambit__text *output)
{
  if (output) ambit__print(output, "%s cannot be started: %s\n", program, strerror(err));
  return PROCESS_NOT_RUN;
}

ambit__process_end ambit__process_run(const char *const *argv, double seconds, ambit__text *output)
{
  ambit__process_end end;
  int ends[2], err;
  pid_t pid;

  if (pipe2(ends, O_CLOEXEC)) return not_run(argv[0], errno, output);
  err = start(argv, ends[1], &pid);
  close(ends[1]);
  end = err ? not_run(argv[0], err, output) : watch(pid, ends[0], seconds, output);
  close(ends[0]);
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
  if (!path) path = "/usr/local/bin:/usr/bin:/bin";
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
