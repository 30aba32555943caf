/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* mkdtemp, flock, O_PATH */
#include "device/scratch.h"

#include "device/trusted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  RANDOM_CHARS = 6, /* of a name, after the prefix */
  MOST_DEPTH = 8,   /* of nested folders: compilers make one or two */
  TRIES = 20,       /* to remove it while a killed process may still be writing to it */
  OLD = 3600,       /* age in seconds after which an empty folder is abandoned */
  ROOM = 4 << 20    /* bytes that a compiler may need for a kernel */
};

static const char prefix[] = "ambit-", lock_name[] = "ambit-scratch.lock";

/* ---- removal ---- */

static bool is_exhibit(const char *name)
{
  return !strncmp(name, AMBIT__EXHIBIT, strlen(AMBIT__EXHIBIT));
}

/* Removes the contents of an open folder, except exhibits at its top. Closes the descriptor. */
static void empty_folder(int fd, int depth)
{
  DIR *dir = fdopendir(fd);
  struct dirent *entry;

  if (!dir) {
    close(fd);
    return;
  }
  while ((entry = readdir(dir))) {
    const char *name = entry->d_name;
    int below;

    if (!strcmp(name, ".") || !strcmp(name, "..") || (!depth && is_exhibit(name))) continue;
    if (!unlinkat(dirfd(dir), name, 0) || depth == MOST_DEPTH) continue;
    below = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below >= 0) empty_folder(below, depth + 1);
    unlinkat(dirfd(dir), name, AT_REMOVEDIR);
  }
  closedir(dir);
}

/* Keeps the folder if it holds exhibits. */
static void remove_folder(int in, const char *name)
{
  for (int i = 0; i < TRIES; i++) {
    int fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) return;
    empty_folder(fd, 0);
    if (!unlinkat(in, name, AT_REMOVEDIR) || errno != ENOTEMPTY) return;
    if (i) nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
}

/* ---- folders of dead processes ---- */

/* Whether a folder was made by a process of this user that is now dead. The lock, if there is one,
 * is held on return. */
static bool is_left_over(int folder, int *lock)
{
  struct stat st;

  *lock = -1;
  if (fstat(folder, &st) || st.st_uid != geteuid() || st.st_mode & 077) return false;
  *lock = openat(folder, lock_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  return *lock >= 0 && !flock(*lock, LOCK_EX | LOCK_NB);
}

static void sweep_one(int in, const char *name)
{
  int folder = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), lock = -1;
  struct stat st;

  if (folder < 0) return;
  if (is_left_over(folder, &lock))
    remove_folder(in, name);
  else if (lock < 0 && !fstat(folder, &st) && st.st_uid == geteuid() &&
           time(NULL) - st.st_mtime > OLD)
    /* Its process died before it had a lock; removed only if empty. */
    unlinkat(in, name, AT_REMOVEDIR);
  if (lock >= 0) close(lock);
  close(folder);
}

/* Touches only folders that contain our lock, or empty ones whose name has our form. */
static void sweep(const char *in)
{
  DIR *dir = opendir(in);
  struct dirent *entry;

  while (dir && (entry = readdir(dir)))
    if (!strncmp(entry->d_name, prefix, strlen(prefix)) &&
        strlen(entry->d_name) == strlen(prefix) + RANDOM_CHARS)
      sweep_one(dirfd(dir), entry->d_name);
  if (dir) closedir(dir);
}

/* ---- opening and closing ---- */

static void remove_scratch(void *what)
{
  const ambit__scratch *s = what;

  remove_folder(AT_FDCWD, s->path);
}

/* The lock of a folder just created; -1: the folder is not writable. It is locked before it gets
 * its name, so that a concurrent sweep never finds it free. */
static int take_lock(int folder)
{
  static const char unnamed[] = "lock";
  int fd = openat(folder, unnamed, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

  if (fd < 0) return -1;
  (void)flock(fd, LOCK_EX | LOCK_NB);
  if (!renameat(folder, unnamed, folder, lock_name)) return fd;
  unlinkat(folder, unnamed, 0);
  close(fd);
  return -1;
}

/* Libraries are loaded from the folder, so nobody else may be able to replace it. */
static bool make(ambit__scratch *s)
{
  ambit__text why = {0};
  int folder;

  if (!mkdtemp(s->path)) return false;
  folder = ambit__trusted_folder(s->path, &why);
  s->lock = folder >= 0 ? take_lock(folder) : -1;
  if (folder >= 0) close(folder);
  ambit__text_free(&why);
  if (s->lock >= 0 && ambit__scratch_has_room(s)) return true;
  remove_scratch(s);
  if (s->lock >= 0) close(s->lock);
  return false;
}

/* Allocates the bytes, because quotas matter as well as disks. */
bool ambit__scratch_has_room(const ambit__scratch *s)
{
  struct rlimit limit;
  int err;

  /* Allocating would raise a fatal signal. */
  if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < ROOM) return true;
  err = posix_fallocate(s->lock, 0, ROOM);
  return !ftruncate(s->lock, 0) && err != ENOSPC && err != EDQUOT;
}

bool ambit__scratch_open(ambit__scratch *s, const char *in)
{
  bool made;

  *s = (ambit__scratch){.undo = {.run = remove_scratch, .what = s}};
  if (!in || in[0] != '/') return false;
  sweep(in);
  s->path = ambit__path_join(in, prefix, "XXXXXX");
  if (!s->path) return false;
  ambit__undo_lock();
  made = make(s);
  if (made) ambit__undo_add(&s->undo);
  ambit__undo_unlock();
  if (made) return true;
  free(s->path);
  s->path = NULL;
  return false;
}

void ambit__scratch_close(ambit__scratch *s)
{
  if (!s->path) return;
  remove_scratch(s);
  ambit__undo_remove(&s->undo);
  close(s->lock);
  free(s->path);
  s->path = NULL;
}
