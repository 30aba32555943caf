/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* pipe2 */
#include "ffmpeg.h"

#include "base/memory.h"
#include "device/cpu/process.h"
#include "io/frames.h"
#include "runtime/objects/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool tool_is_stream_file(const char *path, const char *other)
{
  const size_t n = strlen(path);
  ambit__numbered numbered, others;
  struct stat st;

  if (!stat(path, &st) && !S_ISREG(st.st_mode)) return true; /* /dev/null, a named pipe */
  if (!strcmp(path, "-") || (n > 4 && !strcmp(path + n - 4, ".y4m"))) return true;
  return ambit__numbered_parse(path, &numbered) &&
         (!numbered.is_one || ambit__numbered_parse(other, &others));
}

/* Starts ffmpeg with one end of a pipe as descriptor `there` of it. */
static int spawn(const char *program, char *const *argv, int there, int end, pid_t *child)
{
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, pipe_signal;
  int code;

  sigemptyset(&none);
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, end, there);
  if (there == STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  else
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
  code = posix_spawn(child, program, &files, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return code;
}

/* Starts ffmpeg and opens the pipe to it, `there` being its standard input or output. */
static ambit_status start(ambit *a, const char *const *argv, int there, tool_ffmpeg *f)
{
  char *program = ambit__process_find("ffmpeg", 0);
  const int here = there == STDIN_FILENO; /* the end of the pipe that stays here */
  int ends[2], code;

  AMBIT_CHECK(
      program, &a->errors, AMBIT_EIO,
      "%s is not a .y4m file or numbered .png files, and ffmpeg, which knows other formats, "
      "is not installed (Debian, Ubuntu: apt-get install ffmpeg)",
      f->file);
  if (pipe2(ends, O_CLOEXEC)) {
    free(program);
    return ambit__raise(&a->errors, AMBIT_EIO, "cannot open a pipe: %s", strerror(errno));
  }
  code = spawn(program, (char *const *)argv, there, ends[!here], &f->child);
  free(program);
  close(ends[!here]);
  f->fd = ends[here];
  if (code) f->child = 0;
  AMBIT_CHECK(!code, &a->errors, AMBIT_EIO, "cannot start ffmpeg: %s", strerror(code));
  snprintf(f->path, sizeof f->path, "/dev/fd/%d", f->fd);
  return AMBIT_OK;
}

/* "file:NAME", which ffmpeg takes for a file whatever the name. */
static char *url_of(ambit *a, const char *name)
{
  char *url = ambit__new(&a->errors, strlen(name) + sizeof "file:", 1);

  if (url) sprintf(url, "file:%s", name);
  return url;
}

ambit_status tool_ffmpeg_read(ambit *a, const char *file, tool_ffmpeg *f)
{
  char *url = url_of(a, file);
  const char *const argv[] = {
      "ffmpeg", "-v",           "error", "-nostdin", "-i",
      url,      "-map",         "0:v:0", "-vf",      "format=pix_fmts=gray|yuv420p|yuv422p|yuv444p",
      "-f",     "yuv4mpegpipe", "-",     NULL};
  ambit_status s;

  *f = (tool_ffmpeg){.file = file, .fd = -1};
  if (access(file, R_OK)) {
    free(url);
    return ambit__raise(&a->errors, AMBIT_EIO, "cannot open %s: %s", file, strerror(errno));
  }
  s = url ? start(a, argv, STDOUT_FILENO, f) : AMBIT_ENOMEM;
  free(url);
  return s;
}

/* A name in the same folder with the same ending, by which ffmpeg knows the format. */
static char *name_beside(ambit *a, const char *file)
{
  const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
  const size_t size = strlen(file) + 32;
  char *name = ambit__new(&a->errors, size, 1);

  if (name) snprintf(name, size, "%.*s.%ld.tmp.%s", (int)(base - file), file, (long)getpid(), base);
  return name;
}

ambit_status tool_ffmpeg_write(ambit *a, const char *file, tool_ffmpeg *f)
{
  char *url;
  ambit_status s;

  *f = (tool_ffmpeg){.file = file, .fd = -1, .beside = name_beside(a, file)};
  url = f->beside ? url_of(a, f->beside) : NULL;
  if (url) {
    const char *const argv[] = {"ffmpeg",       "-v", "error", "-y", "-f",
                                "yuv4mpegpipe", "-i", "-",     url,  NULL};

    s = start(a, argv, STDIN_FILENO, f);
  } else {
    s = AMBIT_ENOMEM;
  }
  free(url);
  return s;
}

ambit_status tool_ffmpeg_end(ambit *a, tool_ffmpeg *f, bool keep)
{
  const bool writes = f->beside != NULL;
  int status = 0;
  bool ok = true;

  if (f->child && !writes && !keep) kill(f->child, SIGKILL); /* it would complain about its pipe */
  if (f->fd >= 0) close(f->fd);
  if (f->child) {
    while (waitpid(f->child, &status, 0) < 0 && errno == EINTR)
      ;
    ok = WIFEXITED(status) && !WEXITSTATUS(status);
  }
  if (writes && f->child && (!ok || !keep || rename(f->beside, f->file))) {
    unlink(f->beside);
    if (keep) ambit__raise(&a->errors, AMBIT_EIO, "ffmpeg could not write %s", f->file);
  }
  if (!writes && keep && WIFEXITED(status) && WEXITSTATUS(status) && !ambit_error(a))
    ambit__raise(&a->errors, AMBIT_EIO, "ffmpeg could not read %s to its end", f->file);
  free(f->beside);
  *f = (tool_ffmpeg){.fd = -1};
  return ambit_error(a);
}
