/* SPDX-License-Identifier: BSD-3-Clause */
/* cache_trim.c - measures the folder, and removes the least recently used entries.
 *
 * An entry is all files of one key; its time of use is that of its newest file. Other kinds of
 * files are neither counted nor touched. A loaded library stays loaded when its file is removed.
 */
#define _GNU_SOURCE 1 /* fdopendir, fstatat, unlinkat, flock */
#include "device/cache.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  STEM_CHARS = 64,
  BLOCK = 4096, /* bytes of disk that a file takes at least */
  OLD = 3600    /* seconds after which an unfinished file is abandoned, where there are no locks */
};

/* The kinds of files of an entry. The description is removed first; without it, the rest is
 * invalid. */
static const char *const tails[] = {".meta", ".so", ".bin", ".note", ".c"};
enum { TAILS = sizeof tails / sizeof *tails };

typedef struct entry {
  char stem[STEM_CHARS]; /* the names of its files without their tails */
  int64_t bytes;
  struct timespec used;
} entry;

typedef struct listing {
  entry *entries;
  size_t n, cap;
} listing;

/* ---- listing ---- */

static bool ends_in(const char *name, const char *tail)
{
  const size_t n = strlen(name), m = strlen(tail);

  return n > m && !strcmp(name + n - m, tail);
}

/* Whether a name is KEY and a tail, or that of a source that failed to compile; and its stem. */
static bool is_ours(const char *name, char stem[STEM_CHARS])
{
  const char *key = name;

  if (!strncmp(name, AMBIT__EXHIBIT, strlen(AMBIT__EXHIBIT))) key += strlen(AMBIT__EXHIBIT);
  for (int i = 0; i < TAILS; i++) {
    const size_t n = strlen(name) - (ends_in(name, tails[i]) ? strlen(tails[i]) : 0);

    if (!name[n] || n >= STEM_CHARS) continue;
    memcpy(stem, name, n);
    stem[n] = '\0';
    return strspn(key, "0123456789abcdef") == 32 && key + 32 == name + n;
  }
  return false;
}

/* Removes an unfinished file if the process that was writing it is dead. */
static void sweep(int folder, const char *name, const struct stat *st)
{
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const bool is_free = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB);

  if (is_free || (fd >= 0 && errno != EWOULDBLOCK && time(NULL) - st->st_mtime > OLD))
    unlinkat(folder, name, 0);
  if (fd >= 0) close(fd);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
  return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static int by_stem(const void *a, const void *b)
{
  return strcmp(((const entry *)a)->stem, ((const entry *)b)->stem);
}

static int by_use(const void *a, const void *b)
{
  const struct timespec *x = &((const entry *)a)->used, *y = &((const entry *)b)->used;

  return is_later(x, y) - is_later(y, x);
}

/* Merges all files with the same stem into one entry. */
static void merge(listing *l)
{
  size_t kept = 0;

  if (l->n) qsort(l->entries, l->n, sizeof *l->entries, by_stem);
  for (size_t i = 0; i < l->n; i++) {
    entry *last = kept ? &l->entries[kept - 1] : NULL;

    if (!last || strcmp(last->stem, l->entries[i].stem)) {
      l->entries[kept++] = l->entries[i];
      continue;
    }
    last->bytes += l->entries[i].bytes;
    if (is_later(&l->entries[i].used, &last->used)) last->used = l->entries[i].used;
  }
  l->n = kept;
}

static bool add(listing *l, const char *stem, const struct stat *st)
{
  entry *e;

  if (ambit__make_room(NULL, &l->entries, l->n, &l->cap, sizeof *l->entries)) return false;
  e = &l->entries[l->n++];
  *e = (entry){.bytes = ((int64_t)st->st_size + BLOCK - 1) / BLOCK * BLOCK, .used = st->st_mtim};
  strcpy(e->stem, stem);
  return true;
}

/* All entries, least recently used first. Removes unfinished files of dead processes. false: out of
 * memory. */
static bool list(const ambit__cache *cache, listing *l)
{
  int fd = openat(cache->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  struct dirent *d;
  bool ok = true;

  *l = (listing){0};
  if (!dir && fd >= 0) close(fd);
  while (ok && dir && (d = readdir(dir))) {
    char stem[STEM_CHARS];
    struct stat st;

    if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode)) continue;
    if (is_ours(d->d_name, stem))
      ok = add(l, stem, &st);
    else if (ends_in(d->d_name, AMBIT__UNFINISHED))
      sweep(fd, d->d_name, &st);
  }
  if (dir) closedir(dir);
  merge(l);
  if (l->n) qsort(l->entries, l->n, sizeof *l->entries, by_use);
  return ok;
}

static ambit__cache_size total(const listing *l)
{
  ambit__cache_size size = {.entries = (int64_t)l->n};

  for (size_t i = 0; i < l->n; i++)
    size.bytes += l->entries[i].bytes;
  return size;
}

/* ---- removal ---- */

/* Returns 0, or the errno of the first file that is left. */
static int remove_entry(const ambit__cache *cache, const entry *e)
{
  int first = 0;

  for (int i = 0; i < TAILS; i++) {
    char name[STEM_CHARS + 8];

    snprintf(name, sizeof name, "%s%s", e->stem, tails[i]);
    if (unlinkat(cache->fd, name, 0) && errno != ENOENT && !first) first = errno;
  }
  return first;
}

ambit__cache_size ambit__cache_measure(ambit__cache *cache)
{
  ambit__cache_size size = {0};
  listing l;

  if (!cache->folder) return size;
  list(cache, &l);
  size = total(&l);
  free(l.entries);
  return size;
}

int ambit__cache_trim(ambit__cache *cache, int64_t most)
{
  ambit__cache_size size;
  listing l;
  int first = 0;

  if (!cache->folder) return 0;
  list(cache, &l);
  size = total(&l);
  for (size_t i = 0; i < l.n && size.bytes > most; i++) {
    const int why = remove_entry(cache, &l.entries[i]);

    if (!first) first = why;
    size.bytes -= l.entries[i].bytes;
  }
  free(l.entries);
  return first;
}

int64_t ambit__cache_limit(const ambit__cache *cache)
{
  return (int64_t)cache->settings->cachesize << 20;
}

/* Removes a tenth more than needed, so that not every new entry has to remove one. */
void ambit__cache_make_room(ambit__cache *cache)
{
  const int64_t limit = ambit__cache_limit(cache);

  if (limit && ambit__cache_measure(cache).bytes > limit) ambit__cache_trim(cache, limit / 10 * 9);
}

void ambit__cache_used(int fd)
{
  struct stat st;

  if (!fstat(fd, &st) && time(NULL) - st.st_mtime > OLD) (void)futimens(fd, NULL);
}
