#define _GNU_SOURCE 1
#include "device/cache.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MOST_BYTES = 256 << 20 }; /* of a library: far more than any kernel needs */

static const char exhibit[] =
    "failed-"; /* how the names of files start that outlive the scratch folder */

/* ---- paths and files ---- */

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

/* No fsync: what a crash makes of the file is noticed when it is read. mkostemp gives it mode 600. */
bool ambit__put_file(const char *path, const void *data, size_t bytes)
{
  ambit__text t = {0};
  char *beside;
  bool ok;
  int fd;

  ambit__print(&t, "%s.XXXXXX", path);
  beside = ambit__text_finish(&t);
  fd = beside ? mkostemp(beside, O_CLOEXEC) : -1;
  ok = fd >= 0 && write_all(fd, data, bytes);
  if (fd >= 0 && close(fd)) ok = false;
  ok = ok && !rename(beside, path);
  if (fd >= 0 && !ok) {
    int err = errno;

    unlink(beside);
    errno = err;
  }
  free(beside);
  return ok;
}

/* The whole of a regular file of ours that nobody else can write; NULL for anything else. */
static void *get_file(const char *path, size_t *bytes)
{
  struct stat st;
  void *data;

  if (lstat(path, &st) || !S_ISREG(st.st_mode)) return NULL;
  if (st.st_uid != geteuid() || st.st_mode & 022) return NULL;
  return ambit__file_read_all(NULL, path, MOST_BYTES, &data, bytes) ? NULL : data;
}

/* ---- folders ---- */

/* Why what is in this folder must not be run; NULL: it may. */
static const char *objection(const char *folder)
{
  struct statvfs fs;
  struct stat st;

  if (lstat(folder, &st)) return strerror(errno);
  if (S_ISLNK(st.st_mode)) return "it is a symbolic link";
  if (!S_ISDIR(st.st_mode)) return "it is not a folder";
  if (st.st_uid != geteuid()) return "it belongs to another user";
  if (st.st_mode & 022) return "others can write to it; it should have mode 700";
  if (!statvfs(folder, &fs) && fs.f_flag & ST_NOEXEC) return "it is mounted noexec";
  return NULL;
}

static char *users_folder(void)
{
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

  if (xdg && xdg[0] == '/') return ambit__path_join(xdg, "ambit", "");
  return home && home[0] == '/' ? ambit__path_join(home, ".cache", "/ambit") : NULL;
}

ambit_status ambit__cache_open(ambit__errors *errors, const ambit__settings *settings,
                               ambit__cache *cache)
{
  const char *asked = settings->cache ? settings->cache : "", *why;

  *cache = (ambit__cache){.settings = settings};
  if (!strcmp(asked, "none")) return AMBIT_OK;
  cache->folder = *asked ? ambit__strdup(errors, asked) : users_folder();
  if (!cache->folder) {
    if (*asked) return AMBIT_ENOMEM;
    ambit__log(settings, 1, "compiled kernels are not kept: HOME is not set");
    return AMBIT_OK;
  }
  if (!ambit__make_folder(cache->folder))
    ambit__log(settings, 1, "the folder %s cannot be made: %s", cache->folder, strerror(errno));
  why = objection(cache->folder);
  if (why) {
    ambit__log(settings, 0, "compiled kernels are not kept in %s: %s", cache->folder, why);
    free(cache->folder);
    cache->folder = NULL;
  }
  return AMBIT_OK;
}

static char *make_scratch(const char *in)
{
  struct statvfs fs;
  char *path;

  if (!in || in[0] != '/' || statvfs(in, &fs) || fs.f_flag & ST_NOEXEC) return NULL;
  path = ambit__path_join(in, "ambit-", "XXXXXX");
  if (path && !mkdtemp(path)) {
    free(path);
    return NULL;
  }
  return path;
}

ambit_status ambit__cache_scratch(ambit__errors *errors, ambit__cache *cache, const char **folder)
{
  const char *const places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", cache->folder};

  for (size_t i = 0; !cache->scratch && i < sizeof places / sizeof *places; i++)
    cache->scratch = make_scratch(places[i]);
  AMBIT_CHECK(
      cache->scratch, errors, AMBIT_EIO,
      "no temporary folder for compiling could be made in $TMPDIR, /tmp or /var/tmp: one of "
      "them must be writable and not mounted noexec");
  *folder = cache->scratch;
  return AMBIT_OK;
}

static void remove_scratch(const char *folder)
{
  DIR *dir = opendir(folder);
  struct dirent *entry;

  while (dir && (entry = readdir(dir)))
    if (entry->d_name[0] != '.' && strncmp(entry->d_name, exhibit, strlen(exhibit)))
      unlinkat(dirfd(dir), entry->d_name, 0);
  if (dir) closedir(dir);
  rmdir(folder); /* stays if there is something to look at */
}

void ambit__cache_close(ambit__cache *cache)
{
  if (cache->scratch) remove_scratch(cache->scratch);
  free(cache->scratch);
  free(cache->folder);
  *cache = (ambit__cache){0};
}

/* ---- entries ---- */

/* What KEY.meta must hold, to the byte, for this library and this source. */
static char *meta_text(const void *library, size_t bytes, const char *source)
{
  char hex[AMBIT__HASH_CHARS];
  ambit__text t = {0};
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_bytes(&h, library, bytes);
  ambit__hash_hex(&h, hex);
  ambit__print(&t, "ambit kernel\nbytes %zu\nhash %s\nsource\n%s", bytes, hex, source);
  return ambit__text_finish(&t);
}

static bool is_whole(const char *library_path, const char *meta_path, const char *source)
{
  size_t bytes = 0, meta_bytes = 0;
  char *library = get_file(library_path, &bytes), *meta = get_file(meta_path, &meta_bytes);
  char *want = library && meta ? meta_text(library, bytes, source) : NULL;
  bool ok = want && strlen(want) == meta_bytes && !memcmp(want, meta, meta_bytes);

  free(library);
  free(meta);
  free(want);
  return ok;
}

char *ambit__cache_find(ambit__cache *cache, const char *key, const char *source)
{
  char *library, *meta;

  if (!cache->folder) return NULL;
  library = ambit__path_join(cache->folder, key, ".so");
  meta = ambit__path_join(cache->folder, key, ".meta");
  if (!library || !meta || !is_whole(library, meta, source)) {
    free(library);
    library = NULL;
  }
  free(meta);
  return library;
}

/* Copies both files of an entry to the folder; false with errno. The path of the first is to free(). */
static bool publish(ambit__cache *cache, const char *key, const char *tail, const void *data,
                    size_t bytes, const char *meta_data, char **kept)
{
  char *library = ambit__path_join(cache->folder, key, tail);
  char *meta = ambit__path_join(cache->folder, key, ".meta");
  bool ok = library && meta && ambit__put_file(library, data, bytes) &&
            ambit__put_file(meta, meta_data, strlen(meta_data));

  if (ok)
    *kept = library;
  else
    free(library);
  free(meta);
  return ok;
}

/* Leaves the library in the scratch folder, under a name of its own. */
static ambit_status keep_private(ambit__errors *errors, ambit__cache *cache, const char *key,
                                 const char *path, char **kept)
{
  *kept = ambit__path_join(cache->scratch, key, ".so");
  AMBIT_CHECK(*kept, errors, AMBIT_ENOMEM, "no memory for a path");
  if (!rename(path, *kept)) return AMBIT_OK;
  free(*kept);
  *kept = NULL;
  return ambit__raise(errors, AMBIT_EIO, "cannot rename %s: %s", path, strerror(errno));
}

ambit_status ambit__cache_keep(ambit__errors *errors, ambit__cache *cache, const char *key,
                               const char *source, const char *path, char **kept)
{
  char *meta = NULL;
  size_t bytes = 0;
  void *data;

  *kept = NULL;
  if (!cache->folder) return keep_private(errors, cache, key, path, kept);
  AMBIT_TRY(ambit__file_read_all(errors, path, MOST_BYTES, &data, &bytes));
  meta = meta_text(data, bytes, source);
  if (meta && !publish(cache, key, ".so", data, bytes, meta, kept))
    ambit__log(cache->settings, 1, "a compiled kernel cannot be kept in %s: %s", cache->folder,
               strerror(errno));
  free(meta);
  free(data);
  if (!*kept) return keep_private(errors, cache, key, path, kept);
  unlink(path);
  return AMBIT_OK;
}

void *ambit__cache_load(ambit__cache *cache, const char *key, const char *source, size_t *bytes)
{
  char *code, *meta;
  void *data = NULL;

  if (!cache->folder) return NULL;
  code = ambit__path_join(cache->folder, key, ".bin");
  meta = ambit__path_join(cache->folder, key, ".meta");
  if (code && meta && is_whole(code, meta, source)) data = get_file(code, bytes);
  free(code);
  free(meta);
  return data;
}

void ambit__cache_save(ambit__cache *cache, const char *key, const char *source, const void *data,
                       size_t bytes)
{
  char *meta, *path = NULL;

  if (!cache->folder) return;
  meta = meta_text(data, bytes, source);
  if (meta && !publish(cache, key, ".bin", data, bytes, meta, &path))
    ambit__log(cache->settings, 1, "a compiled kernel cannot be kept in %s: %s", cache->folder,
               strerror(errno));
  free(path);
  free(meta);
}

/* ---- notes ---- */

char *ambit__cache_recall(ambit__cache *cache, const char *name)
{
  char *path = cache->folder ? ambit__path_join(cache->folder, name, ".note") : NULL;
  size_t bytes = 0;
  char *text = path ? get_file(path, &bytes) : NULL;

  free(path);
  return text;
}

void ambit__cache_note(ambit__cache *cache, const char *name, const char *text)
{
  char *path = cache->folder ? ambit__path_join(cache->folder, name, ".note") : NULL;

  if (path && !ambit__put_file(path, text, strlen(text)))
    ambit__log(cache->settings, 1, "%s cannot be written: %s", path, strerror(errno));
  free(path);
}

char *ambit__cache_exhibit(ambit__cache *cache, const char *key, const char *text)
{
  const char *const folders[] = {cache->folder, cache->scratch};

  for (int i = 0; i < 2; i++) {
    char *start = folders[i] ? ambit__path_join(folders[i], exhibit, key) : NULL;
    ambit__text t = {0};
    char *path;

    if (!start) continue;
    ambit__print(&t, "%s.c", start);
    free(start);
    path = ambit__text_finish(&t);
    if (path && ambit__put_file(path, text, strlen(text))) return path;
    free(path);
  }
  return NULL;
}
