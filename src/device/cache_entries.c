/* SPDX-License-Identifier: BSD-3-Clause */
/* cache_entries.c - the contents of the folder: entries, notes, and sources that failed to compile.
 */
#define _GNU_SOURCE 1 /* openat and its like */
#include "base/hash.h"
#include "base/log.h"
#include "codegen/source.h"
#include "device/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  MOST_BYTES = 256 << 20, /* of a library: far more than any kernel needs */
  NAME_CHARS = 64,        /* of a key, with its tail */
  NOTE_CHARS = 48         /* of the name of a note, a kind and a hash */
};

/* "KEY.so" */
static const char *name_of(char name[NAME_CHARS], const char *key, const char *tail)
{
  snprintf(name, NAME_CHARS, "%s%s", key, tail);
  return name;
}

/* The contents of a file in the folder; NULL: there is none that can be trusted. */
static void *get_file(const ambit__cache *cache, const char *name, size_t *bytes)
{
  int fd = ambit__trusted_file(cache->fd, name);
  void *data = fd >= 0 ? ambit__read_open(fd, MOST_BYTES, bytes) : NULL;

  if (data) ambit__cache_used(fd);
  if (fd >= 0) close(fd);
  return data;
}

/* The exact contents of KEY.meta for this code and this source. */
static char *meta_text(const void *code, size_t bytes, const char *source)
{
  char hex[AMBIT__HASH_CHARS];
  ambit__text t = {0};
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_bytes(&h, code, bytes);
  ambit__hash_hex(&h, hex);
  ambit__print(&t, "ambit kernel\nbytes %zu\nhash %s\nsource\n", bytes, hex);
  ambit__source_print(&t, source);
  return ambit__text_finish(&t);
}

/* Whether KEY.meta matches the code and the source. */
static bool is_whole(const ambit__cache *cache, const char *key, const char *source,
                     const void *code, size_t bytes)
{
  size_t meta_bytes = 0;
  char name[NAME_CHARS], *meta = get_file(cache, name_of(name, key, ".meta"), &meta_bytes);
  char *want = meta ? meta_text(code, bytes, source) : NULL;
  bool ok = want && strlen(want) == meta_bytes && !memcmp(want, meta, meta_bytes);

  free(meta);
  free(want);
  return ok;
}

/* The code of a valid entry. Its file stays open as *fd, unless `fd` is NULL. */
static void *get_code(const ambit__cache *cache, const char *key, const char *tail,
                      const char *source, size_t *bytes, int *fd)
{
  char name[NAME_CHARS];
  int file = cache->folder ? ambit__trusted_file(cache->fd, name_of(name, key, tail)) : -1;
  void *code = file >= 0 ? ambit__read_open(file, MOST_BYTES, bytes) : NULL;

  if (code && !is_whole(cache, key, source, code, *bytes)) {
    free(code);
    code = NULL;
  }
  if (code) ambit__cache_used(file);
  if (code && fd)
    *fd = file;
  else if (file >= 0)
    close(file);
  return code;
}

int ambit__cache_find(ambit__cache *cache, const char *key, const char *source)
{
  size_t bytes;
  int fd = -1;

  free(get_code(cache, key, ".so", source, &bytes, &fd));
  return fd;
}

void *ambit__cache_load(ambit__cache *cache, const char *key, const char *source, size_t *bytes)
{
  return get_code(cache, key, ".bin", source, bytes, NULL);
}

/* Writes both files of an entry. */
static void publish(ambit__cache *cache, const char *key, const char *tail, const char *source,
                    const void *code, size_t bytes)
{
  char name[NAME_CHARS], *meta = meta_text(code, bytes, source);

  if (meta && (!ambit__put_at(cache->fd, name_of(name, key, tail), code, bytes) ||
               !ambit__put_at(cache->fd, name_of(name, key, ".meta"), meta, strlen(meta))))
    ambit__log(cache->settings, 1, "a compiled kernel cannot be kept in %s: %s", cache->folder,
               strerror(errno));
  free(meta);
  ambit__cache_make_room(cache);
}

void ambit__cache_keep(ambit__cache *cache, const char *key, const char *source, int fd)
{
  size_t bytes = 0;
  void *code = cache->folder ? ambit__read_open(fd, MOST_BYTES, &bytes) : NULL;

  if (code) publish(cache, key, ".so", source, code, bytes);
  free(code);
}

void ambit__cache_save(ambit__cache *cache, const char *key, const char *source, const void *data,
                       size_t bytes)
{
  if (cache->folder) publish(cache, key, ".bin", source, data, bytes);
}

/* ---- notes ---- */

char *ambit__cache_recall(ambit__cache *cache, const char *note)
{
  char name[NAME_CHARS];
  size_t bytes = 0;

  return cache->folder ? get_file(cache, name_of(name, note, ".note"), &bytes) : NULL;
}

void ambit__cache_note(ambit__cache *cache, const char *note, const char *text)
{
  char name[NAME_CHARS];

  if (cache->folder && !ambit__put_at(cache->fd, name_of(name, note, ".note"), text, strlen(text)))
    ambit__log(cache->settings, 1, "%s cannot be written in %s: %s", name, cache->folder,
               strerror(errno));
}

/* The cache of the devices warns if the folder cannot be used; one for a single note need not. */
static ambit__settings silent(const ambit__settings *settings)
{
  ambit__settings s = *settings;

  s.verbose = -1;
  return s;
}

static const char *note_name(char name[NOTE_CHARS], const char *kind, const ambit__hash *of)
{
  char hex[AMBIT__HASH_CHARS];

  ambit__hash_hex(of, hex);
  snprintf(name, NOTE_CHARS, "%.8s-%s", kind, hex);
  return name;
}

char *ambit__note_recall(const ambit__settings *settings, const char *kind, const ambit__hash *of)
{
  const ambit__settings s = silent(settings);
  char name[NOTE_CHARS], *text;
  ambit__cache cache;

  if (ambit__cache_open(NULL, &s, &cache)) return NULL;
  text = ambit__cache_recall(&cache, note_name(name, kind, of));
  ambit__cache_close(&cache);
  return text;
}

void ambit__note_keep(const ambit__settings *settings, const char *kind, const ambit__hash *of,
                      const char *text)
{
  const ambit__settings s = silent(settings);
  char name[NOTE_CHARS];
  ambit__cache cache;

  if (!text || ambit__cache_open(NULL, &s, &cache)) return;
  ambit__cache_note(&cache, note_name(name, kind, of), text);
  ambit__cache_close(&cache);
}

void ambit__cache_dump(const ambit__settings *settings, const char *name, const char *key,
                       const char *extension, const char *source)
{
  const char *folder = settings->dump;
  ambit__text t = {0};
  char *path;

  if (!folder || !*folder) return;
  ambit__print(&t, "%s/%.180s-%s%s", folder, name, key, extension);
  path = ambit__text_finish(&t);
  if (!path || !ambit__make_folder(folder) || !ambit__put_file(path, source, strlen(source)))
    ambit__log(settings, 0, "the generated source cannot be written to %s: %s",
               path ? path : folder, strerror(errno));
  free(path);
}

char *ambit__cache_exhibit(ambit__cache *cache, const char *key, const char *text)
{
  const char *const folders[] = {cache->folder, cache->scratch.path};
  char name[NAME_CHARS];

  snprintf(name, sizeof name, AMBIT__EXHIBIT "%s.c", key);
  for (int i = 0; i < 2; i++) {
    char *path = folders[i] ? ambit__path_join(folders[i], name, "") : NULL;

    if (path && ambit__put_file(path, text, strlen(text))) return path;
    free(path);
  }
  return NULL;
}
