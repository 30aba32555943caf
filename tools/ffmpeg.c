/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* memfd_create, pipe2 */
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_OPTIONS = 64, WORDS = 1500 /* bytes of ffmpeg's messages that are passed on */ };
#define PROBE_SECONDS 20

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
static int spawn(const char *program, char *const *argv, int there, int end, tool_ffmpeg *f)
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
  if (f->words >= 0) posix_spawn_file_actions_adddup2(&files, f->words, STDERR_FILENO);
  if (there == STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  else
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
  code = posix_spawn(&f->child, program, &files, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return code;
}

static void kill_now(void *ffmpeg)
{
  const tool_ffmpeg *f = ffmpeg;

  kill(f->child, SIGKILL);
  if (f->beside) unlink(f->beside);
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
  f->undo = (ambit__undo){.run = kill_now, .what = f};
  ambit__undo_lock();
  code = spawn(program, (char *const *)argv, there, ends[!here], f);
  if (!code) ambit__undo_add(&f->undo);
  ambit__undo_unlock();
  free(program);
  close(ends[!here]);
  f->fd = ends[here];
  if (code) f->child = 0;
  AMBIT_CHECK(!code, &a->errors, AMBIT_EIO, "cannot start ffmpeg: %s", strerror(code));
  return AMBIT_OK;
}

static tool_ffmpeg open_for(const char *file)
{
  return (tool_ffmpeg){.file = file, .fd = -1, .words = memfd_create("ffmpeg", MFD_CLOEXEC)};
}

/* What ffmpeg has said, without the line break at the end; "" if nothing. */
static const char *words_of(const tool_ffmpeg *f, char text[WORDS])
{
  const ssize_t n = f->words >= 0 ? pread(f->words, text, WORDS - 1, 0) : 0;
  size_t length = n > 0 ? (size_t)n : 0;

  while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
    length--;
  text[length] = '\0';
  return text;
}

/* "file:NAME", which ffmpeg takes for a file whatever the name. */
static char *url_of(ambit *a, const char *name)
{
  char *url = ambit__new(&a->errors, strlen(name) + sizeof "file:", 1);

  if (url) sprintf(url, "file:%s", name);
  return url;
}

static bool begins_with_one(const char *text, const char *const *words)
{
  while (*words && strncmp(text, *words, strlen(*words)))
    words++;
  return *words != NULL;
}

/* Samples of more than 8 bits: formats with a byte order, but for packed colours of 16 bits. */
static bool is_deep(const char *format)
{
  static const char *const small[] = {"rgb565", "rgb555", "rgb444", "bgr565",
                                      "bgr555", "bgr444", NULL};
  const size_t n = strlen(format);

  return n > 2 && (!strcmp(format + n - 2, "le") || !strcmp(format + n - 2, "be")) &&
         !begins_with_one(format, small);
}

/* Streams have 8 bits per sample, and videos luma and chroma: other files are not converted
 * silently. Without ffprobe nothing is known about them. */
static ambit_status check_format(ambit *a, const char *file, const char *url)
{
  static const char *const colours[] = {"rgb",  "bgr",  "gbr",  "argb", "abgr",
                                        "0rgb", "0bgr", "pal8", NULL};
  char *probe = ambit__process_find("ffprobe", 0);
  const char *const argv[] = {
      probe,     "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=pix_fmt", "-of",
      "csv=p=0", url,  NULL};
  const ambit__process p = {.argv = argv, .seconds = PROBE_SECONDS, .settings = &a->settings};
  ambit__text out = {0};
  char *format = NULL;
  ambit_status s = AMBIT_OK;

  if (probe && ambit__process_run(&p, &out) == PROCESS_OK) format = ambit__text_finish(&out);
  if (format) format[strcspn(format, ",\r\n")] = '\0';
  if (format && is_deep(format))
    s = ambit__raise(&a->errors, AMBIT_EUNSUPPORTED,
                     "%s has more than 8 bits per sample (%s), which streams do not; convert it: "
                     "ffmpeg -i %s -pix_fmt yuv420p out.mkv",
                     file, format, file);
  else if (format && begins_with_one(format, colours))
    fprintf(stderr, "%s has red, green and blue (%s): it is converted to luma and chroma (4:4:4)\n",
            file, format);
  ambit__text_free(&out);
  free(format);
  free(probe);
  return s;
}

ambit_status tool_ffmpeg_read(ambit *a, const char *file, tool_ffmpeg *f)
{
  char *url = url_of(a, file);
  const char *const argv[] = {
      "ffmpeg", "-v",           "error", "-nostdin", "-i",
      url,      "-map",         "0:v:0", "-vf",      "format=pix_fmts=gray|yuv420p|yuv422p|yuv444p",
      "-f",     "yuv4mpegpipe", "-",     NULL};
  ambit_status s;

  *f = open_for(file);
  if (access(file, R_OK)) {
    free(url);
    return ambit__raise(&a->errors, AMBIT_EIO, "cannot open %s: %s", file, strerror(errno));
  }
  s = url ? check_format(a, file, url) : AMBIT_ENOMEM;
  if (!s) s = start(a, argv, STDOUT_FILENO, f);
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

/* Splits a copy of the options at blanks and appends them. Returns the number of arguments, or -1:
 * there are too many. */
static int add_options(char *options, const char **argv, int n)
{
  char *rest = NULL;

  for (char *word = options ? strtok_r(options, " \t", &rest) : NULL; word;
       word = strtok_r(NULL, " \t", &rest)) {
    if (n >= MOST_OPTIONS - 2) return -1;
    argv[n++] = word;
  }
  return n;
}

ambit_status tool_ffmpeg_write(ambit *a, const char *file, const char *options, tool_ffmpeg *f)
{
  const char *argv[MOST_OPTIONS] = {"ffmpeg", "-v", "error", "-y", "-f", "yuv4mpegpipe", "-i", "-"};
  char *copy = options ? ambit__strdup(&a->errors, options) : NULL, *url;
  ambit_status s = AMBIT_ENOMEM;
  int n = add_options(copy, argv, 8);

  *f = open_for(file);
  f->beside = name_beside(a, file);
  url = f->beside ? url_of(a, f->beside) : NULL;
  if (n < 0)
    s = ambit__raise(&a->errors, AMBIT_EINVAL, "there are more than %d words in --encode",
                     MOST_OPTIONS - 10);
  else if (url) {
    argv[n] = url;
    s = ambit_error(a) ? ambit_error(a) : start(a, argv, STDIN_FILENO, f);
  }
  free(copy);
  free(url);
  return s;
}

/* Waits for ffmpeg. Returns whether it succeeded. */
static bool await(const tool_ffmpeg *f)
{
  int status = 0;

  while (waitpid(f->child, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool end_output(ambit *a, const tool_ffmpeg *f, bool ok, bool keep)
{
  char text[WORDS];

  if (ok && keep && !rename(f->beside, f->file)) return true;
  unlink(f->beside);
  if (!keep && !*words_of(f, text)) return true;
  if (ambit_error(a))
    fprintf(stderr, "ambit: error: ffmpeg could not write %s: %s\n", f->file, words_of(f, text));
  else
    ambit__raise(&a->errors, AMBIT_EIO, "ffmpeg could not write %s: %s", f->file,
                 words_of(f, text));
  return false;
}

static void end_input(ambit *a, const tool_ffmpeg *f, bool ok)
{
  char text[WORDS];

  if (ok && !*words_of(f, text)) return;
  ambit__raise(&a->errors, AMBIT_EIO, "%s was not read to its end, or is damaged; ffmpeg: %s",
               f->file, words_of(f, text));
}

bool tool_ffmpeg_end(ambit *a, tool_ffmpeg *f, bool keep)
{
  const bool writes = f->beside != NULL;
  char text[WORDS];
  bool ok, written = true;

  if (f->child && !writes && !keep) kill(f->child, SIGKILL); /* it would complain about its pipe */
  if (f->fd >= 0) close(f->fd);
  ok = f->child && await(f);
  if (f->child && writes) written = end_output(a, f, ok, keep);
  if (f->child && !writes && keep) end_input(a, f, ok);
  if (f->child && !writes && !keep && *words_of(f, text))
    fprintf(stderr, "ffmpeg, about %s: %s\n", f->file, text);
  ambit__undo_remove(&f->undo);
  if (f->words >= 0) close(f->words);
  free(f->beside);
  *f = (tool_ffmpeg){.fd = -1, .words = -1};
  return written;
}
