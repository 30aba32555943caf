/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* O_PATH, AT_FDCWD flags, strdup */
#include "device/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MAX_TRIES = 100 };

/* ---- paths ---- */

char *ambit__path_join(const char *folder, const char *name, const char *tail)
{
  ambit__text t = {0};

  ambit__print(&t, "%s/%s%s", folder, name, tail);
  return ambit__text_finish(&t);
}

bool ambit__make_folder(const char *path)
{
  char *part = strdup(path);
  bool ok = part != NULL;

  for (char *slash = part; ok && (slash = strchr(slash + 1, '/'));) {
    *slash = '\0';
    ok = !mkdir(part, 0700) || errno == EEXIST;
    *slash = '/';
  }
  free(part);
  return ok && (!mkdir(path, 0700) || errno == EEXIST);
}

/* ---- folders ---- */

/* Whether nobody else can replace a folder in this folder. */
static bool can_be_trusted_above(const struct stat *st)
{
  const bool ours = st->st_uid == 0 || st->st_uid == geteuid();

  return ours && (!(st->st_mode & 022) || st->st_mode & S_ISVTX);
}

/* Follows a path without links, from the root to the parent of the last folder. Returns a
 * descriptor of the parent, or -1. */
static int open_above(const char *real, const char *end, ambit__text *why)
{
  int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const char *at = real + 1;
  struct stat st;

  for (;;) {
    const size_t n = strcspn(at, "/");
    char name[256];
    int next;

    if (fd < 0 || fstat(fd, &st)) break;
    if (!can_be_trusted_above(&st)) {
      const int length = at > real + 1 ? (int)(at - real) - 1 : 1;

      ambit__print(why,
                   "others can change %.*s, which it is in (owner %ld, mode %o); that must "
                   "belong to you or root, and only its owner may write to it",
                   length, real, (long)st.st_uid, (unsigned)st.st_mode & 07777);
      close(fd);
      return -1;
    }
    if (at >= end) return fd;
    if (n >= sizeof name) break;
    memcpy(name, at, n);
    name[n] = '\0';
    next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(fd);
    fd = next;
    at += n + 1;
  }
  ambit__print(why, "%s", strerror(errno));
  if (fd >= 0) close(fd);
  return -1;
}

/* The reason not to run the contents of this folder; NULL: none. */
static const char *objection(int fd)
{
  struct statvfs fs;
  struct stat st;

  if (fstat(fd, &st)) return strerror(errno);
  if (st.st_uid != geteuid()) return "it belongs to another user";
  if (st.st_mode & 022) return "others can write to it; it should have mode 700";
  if (!fstatvfs(fd, &fs) && fs.f_flag & ST_NOEXEC) return "it is mounted noexec";
  return NULL;
}

/* Opens the last folder of a path, relative to its parent. */
static int open_last(const char *real, ambit__text *why)
{
  const char *slash = strrchr(real, '/');
  int above = open_above(real, slash, why), fd;
  const char *no;

  if (above < 0) return -1;
  fd = openat(above, slash[1] ? slash + 1 : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  close(above);
  no = fd < 0 ? strerror(errno) : objection(fd);
  if (!no) return fd;
  ambit__print(why, "%s", no);
  if (fd >= 0) close(fd);
  return -1;
}

int ambit__trusted_folder(const char *path, ambit__text *why)
{
  struct stat st;
  char *real;
  int fd = -1;

  if (lstat(path, &st))
    ambit__print(why, "%s", strerror(errno));
  else if (S_ISLNK(st.st_mode))
    ambit__print(why, "it is a symbolic link");
  else if (!S_ISDIR(st.st_mode))
    ambit__print(why, "it is not a folder");
  else if (!(real = realpath(path, NULL)))
    ambit__print(why, "%s", strerror(errno));
  else {
    fd = open_last(real, why);
    free(real);
  }
  return fd;
}

/* ---- files ---- */

int ambit__trusted_file(int folder, const char *name)
{
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat st;

  if (fd < 0) return -1;
  if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022))
    return fd;
  close(fd);
  return -1;
}

void *ambit__read_open(int fd, size_t most, size_t *bytes)
{
  struct stat st;
  size_t have = 0;
  char *data;

  if (fstat(fd, &st) || st.st_size < 0 || (uintmax_t)st.st_size > most) return NULL;
  data = malloc((size_t)st.st_size + 1);
  while (data && have < (size_t)st.st_size) {
    ssize_t n = pread(fd, data + have, (size_t)st.st_size - have, (off_t)have);

    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      free(data);
      return NULL;
    }
    have += (size_t)n;
  }
  if (!data) return NULL;
  data[have] = '\0';
  *bytes = have;
  return data;
}

static bool write_all(int fd, const char *data, size_t bytes)
{
  while (bytes) {
    ssize_t n = write(fd, data, bytes);

    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* A new file with a unique name, to free(). */
static int create_temporary(int folder, const char *name, char **temporary)
{
  static atomic_uint counter;
  int fd = -1;

  *temporary = NULL;
  errno = EEXIST;
  for (int i = 0; i < MAX_TRIES && fd < 0 && errno == EEXIST; i++) {
    ambit__text t = {0};

    free(*temporary);
    ambit__print(&t, "%s.%ld-%u" AMBIT__UNFINISHED, name, (long)getpid(),
                 atomic_fetch_add(&counter, 1));
    *temporary = ambit__text_finish(&t);
    errno = ENOMEM;
    if (*temporary) fd = openat(folder, *temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  }
  return fd;
}

/* No fsync: readers detect a file damaged by a crash. */
bool ambit__put_at(int folder, const char *name, const void *data, size_t bytes)
{
  char *temporary;
  int fd = create_temporary(folder, name, &temporary), err;
  bool ok = fd >= 0;

  if (ok) (void)flock(fd, LOCK_EX | LOCK_NB); /* without locks, its age must do */
  ok = ok && write_all(fd, data, bytes) && !renameat(folder, temporary, folder, name);
  err = errno;
  if (fd >= 0 && !ok) unlinkat(folder, temporary, 0);
  if (fd >= 0 && close(fd)) ok = false;
  free(temporary);
  errno = err;
  return ok;
}

bool ambit__put_file(const char *path, const void *data, size_t bytes)
{
  return ambit__put_at(AT_FDCWD, path, data, bytes);
}
