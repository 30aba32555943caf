#define _XOPEN_SOURCE 700 /* realpath, fchmod, fsync, pwrite */

#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16, MAX_TRIES = 100 };

struct ambit__file {
  ambit__errors *errors;
  char *path;          /* as the user said it, for messages */
  char *target;        /* what to rename to: the path, links followed */
  char *beside;        /* where it is written; NULL: directly to the path */
  bool joined;         /* another process created it, and will rename or remove it */
  int fd;              /* -1: not open */
  ambit_status failed; /* of the first failure */
  size_t used;         /* bytes of the buffer */
  unsigned char buffer[BUFFER_BYTES];
};

static ambit_status fail(ambit__file *f, const char *what, int code)
{
  if (!f->failed)
    f->failed =
        ambit__raise(f->errors, AMBIT_EIO, "cannot %s %s: %s", what, f->path, strerror(code));
  return f->failed;
}

/* Opens a file that did not exist, under a name that nobody else makes. */
static ambit_status open_beside(ambit__file *f)
{
  static atomic_uint counter;
  size_t size = strlen(f->target) + 48;
  char *name = ambit__new(f->errors, size, 1);
  int code = 0;

  if (!name) return AMBIT_ENOMEM;
  for (int i = 0; i < MAX_TRIES && f->fd < 0 && (code == 0 || code == EEXIST); i++) {
    snprintf(name, size, "%s.%ld-%u.tmp", f->target, (long)getpid(), atomic_fetch_add(&counter, 1));
    f->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    code = errno;
  }
  if (f->fd >= 0) {
    f->beside = name;
    return AMBIT_OK;
  }
  free(name);
  return fail(f, "create", code);
}

static ambit_status open_directly(ambit__file *f)
{
  f->fd = open(f->path, O_WRONLY | O_CLOEXEC);
  return f->fd >= 0 ? AMBIT_OK : fail(f, "open", errno);
}

/* A file that is replaced hands on its permissions; a new one has those the umask leaves. */
static ambit_status open_target(ambit__file *f)
{
  struct stat old;
  bool exists = !stat(f->path, &old);

  if (exists && S_ISDIR(old.st_mode)) return fail(f, "write", EISDIR);
  if (exists && !S_ISREG(old.st_mode)) return open_directly(f);
  f->target = exists ? realpath(f->path, NULL) : ambit__strdup(f->errors, f->path);
  if (!f->target) return exists ? fail(f, "find", errno) : AMBIT_ENOMEM;
  AMBIT_TRY(open_beside(f));
  if (exists && fchmod(f->fd, old.st_mode & 0777)) return fail(f, "set the permissions of", errno);
  return AMBIT_OK;
}

ambit_status ambit__file_create(ambit__errors *errors, const char *path, ambit__file **out)
{
  ambit__file *f;
  ambit_status s;

  *out = NULL;
  AMBIT_CHECK(path && *path, errors, AMBIT_EIO, "the name of the file to write is empty");
  f = ambit__new(errors, 1, sizeof *f);
  if (!f) return AMBIT_ENOMEM;
  f->errors = errors;
  f->fd = -1;
  f->path = ambit__strdup(errors, path);
  s = f->path ? open_target(f) : AMBIT_ENOMEM;
  if (s)
    ambit__file_abort(f);
  else
    *out = f;
  return s;
}

ambit_status ambit__file_join(ambit__errors *errors, const char *path, const char *beside,
                              ambit__file **out)
{
  ambit__file *f = ambit__new(errors, 1, sizeof *f);

  *out = NULL;
  if (!f) return AMBIT_ENOMEM;
  *f = (ambit__file){.errors = errors, .joined = true};
  f->path = ambit__strdup(errors, path);
  f->fd = f->path ? open(beside, O_WRONLY | O_CLOEXEC) : -1;
  if (f->fd >= 0) {
    *out = f;
    return AMBIT_OK;
  }
  if (f->path)
    ambit__raise(errors, AMBIT_EIO,
                 "cannot open %s, which another process has made for %s: %s; the folder must be "
                 "one that all processes share",
                 beside, path, strerror(errno));
  ambit__file_abort(f);
  return errors->status;
}

const char *ambit__file_beside(const ambit__file *f)
{
  return f->beside;
}

/* write() may write less than asked, and the reason only comes with the next call. */
static ambit_status write_out(ambit__file *f, const unsigned char *data, size_t bytes)
{
  while (bytes && !f->failed) {
    ssize_t n = write(f->fd, data, bytes);

    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(f, "write", n < 0 ? errno : ENOSPC);
    data += n;
    bytes -= (size_t)n;
  }
  return f->failed;
}

static ambit_status flush(ambit__file *f)
{
  size_t bytes = f->used;

  f->used = 0;
  return write_out(f, f->buffer, bytes);
}

ambit_status ambit__file_write(ambit__file *f, const void *data, size_t bytes)
{
  if (bytes > BUFFER_BYTES - f->used) AMBIT_TRY(flush(f));
  if (bytes > BUFFER_BYTES) return write_out(f, data, bytes);
  if (bytes) memcpy(f->buffer + f->used, data, bytes);
  f->used += bytes;
  return f->failed;
}

ambit_status ambit__file_extend(ambit__file *f, uint64_t bytes)
{
  AMBIT_TRY(flush(f));
  return ftruncate(f->fd, (off_t)bytes) ? fail(f, "give its length to", errno) : AMBIT_OK;
}

ambit_status ambit__file_write_at(ambit__file *f, uint64_t offset, const void *data, size_t bytes)
{
  const unsigned char *at = data;

  while (bytes && !f->failed) {
    ssize_t n = pwrite(f->fd, at, bytes, (off_t)offset);

    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(f, "write", n < 0 ? errno : ENOSPC);
    at += n;
    offset += (uint64_t)n;
    bytes -= (size_t)n;
  }
  return f->failed;
}

static ambit_status close_file(ambit__file *f)
{
  int fd = f->fd;

  f->fd = -1;
  return close(fd) ? fail(f, "finish", errno) : AMBIT_OK;
}

static ambit_status put_in_place(ambit__file *f)
{
  AMBIT_TRY(flush(f));
  if (!f->beside && !f->joined) return close_file(f);
  if (fsync(f->fd)) return fail(f, "write", errno);
  AMBIT_TRY(close_file(f));
  if (f->joined) return AMBIT_OK;
  if (rename(f->beside, f->target)) return fail(f, "replace", errno);
  free(f->beside);
  f->beside = NULL;
  return AMBIT_OK;
}

ambit_status ambit__file_commit(ambit__file *f)
{
  ambit_status s = put_in_place(f);

  ambit__file_abort(f);
  return s;
}

void ambit__file_abort(ambit__file *f)
{
  if (!f) return;
  if (f->fd >= 0) close(f->fd);
  if (f->beside) unlink(f->beside);
  free(f->beside);
  free(f->target);
  free(f->path);
  free(f);
}

/* ---- reading ---- */

/* Reads until the end, or until there is one byte more than allowed. */
static ambit_status read_rest(ambit__errors *errors, FILE *in, const char *path, size_t max_bytes,
                              unsigned char **data, size_t *size)
{
  size_t cap = 0;

  do {
    size_t room = cap ? cap : 1 << 14;
    unsigned char *bigger;

    cap += max_bytes - cap < room ? max_bytes - cap : room;
    bigger = realloc(*data, cap + 1);
    AMBIT_CHECK(bigger, errors, AMBIT_ENOMEM, "no memory for the %zu bytes of %s", cap + 1, path);
    *data = bigger;
    *size += fread(*data + *size, 1, cap - *size, in);
  } while (*size == cap && cap < max_bytes);
  AMBIT_CHECK(!ferror(in), errors, AMBIT_EIO, "cannot read %s: %s", path, strerror(errno));
  AMBIT_CHECK(*size < max_bytes || getc(in) == EOF, errors, AMBIT_EIO,
              "%s has more than %zu bytes, the most that is read here", path, max_bytes);
  (*data)[*size] = '\0';
  return AMBIT_OK;
}

ambit_status ambit__file_read_all(ambit__errors *errors, const char *path, size_t max_bytes,
                                  void **data, size_t *size)
{
  unsigned char *bytes = NULL;
  ambit_status s;
  FILE *in;

  *data = NULL;
  *size = 0;
  in = path ? fopen(path, "rb") : NULL;
  AMBIT_CHECK(in, errors, AMBIT_EIO, "cannot open %s: %s", path ? path : "a file without a name",
              strerror(path ? errno : ENOENT));
  s = read_rest(errors, in, path, max_bytes, &bytes, size);
  fclose(in);
  if (s) {
    free(bytes);
    *size = 0;
    return s;
  }
  *data = bytes;
  return AMBIT_OK;
}

ambit_status ambit__file_read_text(ambit__errors *errors, const char *path, size_t max_bytes,
                                   char **text)
{
  void *data;
  size_t size;
  int line = 1;

  *text = NULL;
  AMBIT_TRY(ambit__file_read_all(errors, path, max_bytes, &data, &size));
  *text = data;
  if (strlen(*text) == size) return AMBIT_OK;
  for (const char *at = *text; (at = strchr(at, '\n')); at++)
    line++;
  free(data);
  *text = NULL;
  return ambit__raise(
      errors, AMBIT_EIO,
      "%s:%d: there is a NUL byte in this line; the file must be text in ASCII or UTF-8", path,
      line);
}
