/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* realpath, fchmod, fsync, pwrite, flock */

#include "base/file.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/undo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  BUFFER_BYTES = 1 << 16,
  STEM_CHARS = 48,
  MAX_LINKS = 40, /* length of a chain of links: the limit of Linux */
  MAX_TRIES = 100,
  MAX_SWEEPS =
      64 /* per process, so that a long series of files in a large folder is not slowed down */
};

struct ambit__file {
  ambit__errors *errors;
  char *path;          /* as given by the user, for messages */
  char *target;        /* final name: the path with links resolved */
  char *beside;        /* temporary file; NULL: the path is written directly */
  ambit__undo undo;    /* removes the temporary file if the process is stopped */
  bool joined;         /* created by another process, which renames or removes it */
  int fd;              /* -1: not open */
  ambit_status failed; /* status of the first failure */
  bool is_placed;      /* the buffer belongs at a place of the file, not behind all so far */
  uint64_t at;         /* ... this one */
  size_t used;         /* bytes in the buffer */
  unsigned char buffer[BUFFER_BYTES];
};

static ambit_status fail(ambit__file *f, const char *what, int code)
{
  if (!f->failed)
    f->failed =
        ambit__raise(f->errors, AMBIT_EIO, "cannot %s %s: %s", what, f->path, strerror(code));
  return f->failed;
}

/* ---- temporary names ---- */

static void unlink_beside(void *what)
{
  const ambit__file *f = what;

  unlink(f->beside);
}

/* The name without its folder. */
static const char *base_of(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

/* An open descriptor of the folder that a file is in. */
static int open_folder(const char *path)
{
  const char *base = base_of(path);
  char *folder = base == path ? strdup(".") : strndup(path, (size_t)(base - path));
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

  free(folder);
  return fd;
}

/* The stem of the temporary name for a file whose name is too long to append to. */
static void short_stem(const char *base, char stem[STEM_CHARS])
{
  char hex[AMBIT__HASH_CHARS];
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_text(&h, base);
  ambit__hash_hex(&h, hex);
  snprintf(stem, STEM_CHARS, ".ambit-%s", hex);
}

/* Whether a name is a temporary name with this stem: "stem.12-0.tmp". */
static bool is_beside(const char *name, const char *stem)
{
  const size_t n = strlen(stem);
  int used = 0;

  if (strncmp(name, stem, n)) return false;
  return sscanf(name + n, ".%*d-%*u.tmp%n", &used) >= 0 && used > 0 && !name[n + (size_t)used];
}

/* Removes temporary files of this target that dead processes left: their lock is free. */
static void sweep(const char *target)
{
  static atomic_int sweeps;
  int folder = atomic_fetch_add(&sweeps, 1) < MAX_SWEEPS ? open_folder(target) : -1;
  DIR *dir = folder >= 0 ? fdopendir(folder) : NULL;
  char stem[STEM_CHARS];
  struct dirent *entry;

  short_stem(base_of(target), stem);
  if (!dir && folder >= 0) close(folder);
  while (dir && (entry = readdir(dir))) {
    int fd;

    if (!is_beside(entry->d_name, base_of(target)) && !is_beside(entry->d_name, stem)) continue;
    fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB)) unlinkat(dirfd(dir), entry->d_name, 0);
    if (fd >= 0) close(fd);
  }
  if (dir) closedir(dir);
}

/* Locks a new temporary file. Returns false if another process took it for a leftover and removes
 * it. */
static bool keep(int fd)
{
  struct stat st;

  if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) return false;
  return fstat(fd, &st) || st.st_nlink > 0;
}

/* Creates a temporary file with this stem and a unique name. On failure errno has the reason. */
static bool open_as(ambit__file *f, const char *stem)
{
  static atomic_uint counter;
  const int folder = (int)(base_of(f->target) - f->target);
  const size_t size = strlen(f->target) + STEM_CHARS + 48;

  f->beside = calloc(size, 1);
  if (!f->beside) return false;
  errno = EEXIST;
  for (int i = 0; i < MAX_TRIES && f->fd < 0 && errno == EEXIST; i++) {
    snprintf(f->beside, size, "%.*s%s.%ld-%u.tmp", folder, f->target, stem, (long)getpid(),
             atomic_fetch_add(&counter, 1));
    f->fd = open(f->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f->fd < 0 || keep(f->fd)) continue;
    close(f->fd);
    f->fd = -1;
    errno = EEXIST;
  }
  if (f->fd >= 0) return true;
  free(f->beside); /* does not change errno */
  f->beside = NULL;
  return false;
}

static ambit_status open_beside(ambit__file *f)
{
  char stem[STEM_CHARS];
  bool ok;
  int code;

  sweep(f->target);
  short_stem(base_of(f->target), stem);
  f->undo = (ambit__undo){.run = unlink_beside, .what = f};
  ambit__undo_lock();
  ok = open_as(f, base_of(f->target)) || (errno == ENAMETOOLONG && open_as(f, stem));
  code = errno;
  if (ok) ambit__undo_add(&f->undo);
  ambit__undo_unlock();
  return ok ? AMBIT_OK : fail(f, "create", code);
}

/* A rename is on disk when its folder is. Some file systems cannot sync a folder. */
static ambit_status sync_folder(ambit__file *f)
{
  int fd = open_folder(f->target), code = 0;

  if (fd < 0) return AMBIT_OK; /* writable but not readable */
  if (fsync(fd) && errno != EINVAL && errno != ENOTSUP) code = errno;
  close(fd);
  return code ? fail(f, "write the folder of", code) : AMBIT_OK;
}

/* ---- opening ---- */

/* The target of a link, which need not exist. The caller frees it; NULL: see errno. */
static char *follow(const char *link)
{
  char to[4096];
  ssize_t n = readlink(link, to, sizeof to - 1);
  const int folder = (int)(base_of(link) - link);
  char *path;
  size_t size;

  if (n < 0) return NULL;
  to[n] = '\0';
  if (to[0] == '/') return strdup(to);
  size = (size_t)folder + (size_t)n + 1;
  path = malloc(size);
  if (path) snprintf(path, size, "%.*s%s", folder, link, to);
  return path;
}

/* The name of a file that does not exist yet: the path, or the end of a chain of dangling links.
 * The caller frees it; NULL: see errno. */
static char *name_of_new(const char *path)
{
  char *name = strdup(path);
  struct stat st;

  for (int i = 0; name && !lstat(name, &st) && S_ISLNK(st.st_mode); i++) {
    char *next = i < MAX_LINKS ? follow(name) : NULL;

    if (i == MAX_LINKS) errno = ELOOP;
    free(name);
    name = next;
  }
  return name;
}

/* A replaced file keeps its permissions; a new one gets those of the umask. */
static ambit_status open_target(ambit__file *f)
{
  struct stat old;
  bool exists = !stat(f->path, &old);

  if (exists && S_ISDIR(old.st_mode)) return fail(f, "write", EISDIR);
  if (exists && !S_ISREG(old.st_mode)) {
    f->fd = open(f->path, O_WRONLY | O_CLOEXEC);
    return f->fd >= 0 ? AMBIT_OK : fail(f, "open", errno);
  }
  f->target = exists ? realpath(f->path, NULL) : name_of_new(f->path);
  if (!f->target) return fail(f, "find", errno);
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
  AMBIT_NEW(errors, f, 1);
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

ambit_status ambit__file_adopt(ambit__errors *errors, int fd, const char *name, ambit__file **out)
{
  ambit__file *f = *out = ambit__new(errors, 1, sizeof *f);

  if (!f) return AMBIT_ENOMEM;
  f->errors = errors;
  f->path = ambit__strdup(errors, name);
  f->fd = f->path ? dup(fd) : -1;
  if (f->path && f->fd < 0) fail(f, "open", errno);
  if (f->fd >= 0) return AMBIT_OK;
  ambit__file_abort(f);
  *out = NULL;
  return errors->status;
}

ambit_status ambit__file_try(ambit__errors *errors, const char *path)
{
  struct stat st;
  ambit__file *f;

  if (path && !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
    AMBIT_CHECK(!access(path, W_OK), errors, AMBIT_EIO, "cannot open %s: %s", path,
                strerror(errno));
    return AMBIT_OK;
  }
  AMBIT_TRY(ambit__file_create(errors, path, &f));
  ambit__file_abort(f);
  return AMBIT_OK;
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
                 "cannot open %s, which another process created for %s: %s; the directory must be "
                 "shared by all processes",
                 beside, path, strerror(errno));
  ambit__file_abort(f);
  return errors->status;
}

const char *ambit__file_beside(const ambit__file *f)
{
  return f->beside;
}

/* Writes at a place, or behind all so far. A call may write less than requested; the next one then
 * gives the reason. */
static ambit_status write_out(ambit__file *f, bool is_placed, uint64_t at,
                              const unsigned char *data, size_t bytes)
{
  while (bytes && !f->failed) {
    ssize_t n = is_placed ? pwrite(f->fd, data, bytes, (off_t)at) : write(f->fd, data, bytes);

    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(f, "write", n < 0 ? errno : ENOSPC);
    data += n;
    at += (uint64_t)n;
    bytes -= (size_t)n;
  }
  return f->failed;
}

ambit_status ambit__file_flush(ambit__file *f)
{
  size_t bytes = f->used;

  f->used = 0;
  return write_out(f, f->is_placed, f->at, f->buffer, bytes);
}

/* Into the buffer, if the bytes are few and belong behind those that are there. */
static ambit_status buffer(ambit__file *f, bool is_placed, uint64_t at, const void *data,
                           size_t bytes)
{
  if (f->is_placed != is_placed || (is_placed && at != f->at + f->used) ||
      bytes > BUFFER_BYTES - f->used)
    AMBIT_TRY(ambit__file_flush(f));
  if (bytes > BUFFER_BYTES) return write_out(f, is_placed, at, data, bytes);
  if (!f->used) f->at = at;
  f->is_placed = is_placed;
  if (bytes) memcpy(f->buffer + f->used, data, bytes);
  f->used += bytes;
  return f->failed;
}

ambit_status ambit__file_write(ambit__file *f, const void *data, size_t bytes)
{
  return buffer(f, false, 0, data, bytes);
}

ambit_status ambit__file_write_at(ambit__file *f, uint64_t offset, const void *data, size_t bytes)
{
  return buffer(f, true, offset, data, bytes);
}

ambit_status ambit__file_extend(ambit__file *f, uint64_t bytes)
{
  AMBIT_TRY(ambit__file_flush(f));
  return ftruncate(f->fd, (off_t)bytes) ? fail(f, "set the length of", errno) : AMBIT_OK;
}

void ambit__file_tell(ambit__file *f, ambit__errors *errors)
{
  f->errors = errors;
}

static ambit_status close_file(ambit__file *f)
{
  int fd = f->fd;

  f->fd = -1;
  return close(fd) ? fail(f, "finish", errno) : AMBIT_OK;
}

ambit_status ambit__file_sync(ambit__file *f)
{
  AMBIT_TRY(ambit__file_flush(f));
  return fsync(f->fd) ? fail(f, "write", errno) : AMBIT_OK;
}

static ambit_status put_in_place(ambit__file *f)
{
  AMBIT_TRY(ambit__file_flush(f));
  if (!f->beside && !f->joined) return close_file(f);
  AMBIT_TRY(ambit__file_sync(f));
  if (f->joined) return close_file(f);
  if (rename(f->beside, f->target)) return fail(f, "replace", errno);
  ambit__undo_remove(&f->undo);
  free(f->beside);
  f->beside = NULL;
  AMBIT_TRY(close_file(f)); /* only now: until the rename, the lock marks it as in use */
  return sync_folder(f);
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
  if (f->beside) unlink(f->beside);
  ambit__undo_remove(&f->undo);
  if (f->fd >= 0) close(f->fd);
  free(f->beside);
  free(f->target);
  free(f->path);
  free(f);
}

/* ---- reading ---- */

/* Reads to the end of the file, or until max_bytes are exceeded. */
static ambit_status read_rest(ambit__errors *errors, FILE *in, const char *path, size_t max_bytes,
                              unsigned char **data, size_t *size)
{
  size_t cap = 0;

  do {
    size_t room = cap ? cap : 1 << 14;
    unsigned char *bigger;

    cap += max_bytes - cap < room ? max_bytes - cap : room;
    bigger = realloc(*data, cap + 1);
    AMBIT_CHECK(bigger, errors, AMBIT_ENOMEM, "out of memory for the %zu bytes of %s", cap + 1,
                path);
    *data = bigger;
    *size += fread(*data + *size, 1, cap - *size, in);
  } while (*size == cap && cap < max_bytes);
  AMBIT_CHECK(!ferror(in), errors, AMBIT_EIO, "cannot read %s: %s", path, strerror(errno));
  AMBIT_CHECK(*size < max_bytes || getc(in) == EOF, errors, AMBIT_EIO,
              "%s has more than %zu bytes, the limit for this file", path, max_bytes);
  (*data)[*size] = '\0';
  return AMBIT_OK;
}

ambit_status ambit__file_read_at(ambit__errors *errors, int fd, const char *path, uint64_t at,
                                 void *bytes, size_t n)
{
  unsigned char *to = bytes;

  while (n) {
    ssize_t k = pread(fd, to, n, (off_t)at);

    if (k < 0 && errno == EINTR) continue;
    AMBIT_CHECK(k > 0, errors, AMBIT_EIO, "cannot read %s: %s", path,
                k ? strerror(errno) : "it is too short");
    to += k;
    at += (uint64_t)k;
    n -= (size_t)k;
  }
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
