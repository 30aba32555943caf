/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* secure_getenv */
#include "device/cache.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the folder ---- */

static char *users_folder(void)
{
  const char *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");

  if (xdg && xdg[0] == '/') return ambit__path_join(xdg, "ambit", "");
  return home && home[0] == '/' ? ambit__path_join(home, ".cache", "/ambit") : NULL;
}

/* Opens the configured folder; if it cannot be trusted, continues without one. */
static void open_folder(ambit__cache *cache)
{
  const int made = ambit__make_folder(cache->folder) ? 0 : errno;
  const char *reason;
  ambit__text why = {0};

  cache->fd = ambit__trusted_folder(cache->folder, &why);
  if (cache->fd >= 0) return;
  reason = made ? strerror(made) : why.chars; /* a folder that could not be made is not there */
  ambit__log(cache->settings, 0, "compiled kernels are not kept in %s: %s", cache->folder,
             reason ? reason : "no memory");
  ambit__text_free(&why);
  free(cache->folder);
  cache->folder = NULL;
}

ambit_status ambit__cache_open(ambit__errors *errors, const ambit__settings *settings,
                               ambit__cache *cache)
{
  const char *asked = settings->cache ? settings->cache : "";

  *cache = (ambit__cache){.settings = settings, .fd = -1};
  if (!strcmp(asked, "none")) return AMBIT_OK;
  cache->folder = *asked ? ambit__strdup(errors, asked) : users_folder();
  if (cache->folder)
    open_folder(cache);
  else if (*asked)
    return AMBIT_ENOMEM;
  else
    ambit__log(settings, 1, "compiled kernels are not kept: HOME is not set");
  return AMBIT_OK;
}

/* ---- the scratch folder ---- */

ambit_status ambit__cache_scratch(ambit__errors *errors, ambit__cache *cache, const char **folder)
{
  const char *const places[] = {secure_getenv("TMPDIR"), "/tmp", "/var/tmp", cache->folder};

  for (; !cache->scratch.path && cache->place < (int)(sizeof places / sizeof *places);)
    if (!ambit__scratch_open(&cache->scratch, places[cache->place])) cache->place++;
  AMBIT_CHECK(
      cache->scratch.path, errors, AMBIT_EIO,
      "no temporary folder for compiling could be made in $TMPDIR, /tmp or /var/tmp: one of "
      "them must have room, be writable, not mounted noexec, and sticky if others can write to it");
  *folder = cache->scratch.path;
  return AMBIT_OK;
}

bool ambit__cache_leave_full(ambit__cache *cache)
{
  if (!cache->scratch.path || ambit__scratch_has_room(&cache->scratch)) return false;
  ambit__log(cache->settings, 1, "there is no room to compile in %s", cache->scratch.path);
  ambit__scratch_close(&cache->scratch);
  cache->place++;
  return true;
}

void ambit__cache_close(ambit__cache *cache)
{
  ambit__scratch_close(&cache->scratch);
  if (cache->folder) close(cache->fd);
  free(cache->folder);
  *cache = (ambit__cache){0};
}
