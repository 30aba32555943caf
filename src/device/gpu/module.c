/* module.c - compiled source, shared by all functions that have the same. */
#include "device/gpu/gpu.h"
#include "plan/gpu.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "device/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Writes the source for people to read. */
static void dump(const ambit__gpu_device *d, const char *name, const char *source)
{
  const char *folder = d->head.settings->dump;
  char hex[AMBIT__HASH_CHARS];
  ambit__text t = {0};
  ambit__hash h;
  char *path;

  if (!folder || !*folder) return;
  ambit__hash_init(&h);
  ambit__hash_text(&h, source);
  ambit__hash_hex(&h, hex);
  ambit__print(&t, "%s/%s-%s%s", folder, name, hex, d->driver->dialect->extension);
  path = ambit__text_finish(&t);
  if (!path || !ambit__make_folder(folder) || !ambit__put_file(path, source, strlen(source)))
    ambit__log(d->head.settings, 0, "the generated source cannot be written to %s: %s",
               path ? path : folder, strerror(errno));
  free(path);
}

static void free_shared(ambit__gpu_device *d, ambit__gpu_shared *s)
{
  if (s->module) d->driver->unload(s->module);
  free(s->source);
  free(s);
}

static ambit_status compile(ambit__gpu_device *d, ambit__gpu_shared *s, bool has_fold)
{
  AMBIT_TRY(d->driver->build(d->gpu, s->source, s->strict, &s->module));
  AMBIT_TRY(d->driver->function(s->module, AMBIT_ENTRY, &s->run));
  if (!has_fold) return AMBIT_OK;
  return d->driver->function(s->module, AMBIT_ENTRY AMBIT__GPU_FOLD_TAIL, &s->fold);
}

ambit_status ambit__gpu_shared_get(ambit__gpu_device *d, const char *name, const char *source,
                                   bool strict, bool has_fold, ambit__gpu_shared **out)
{
  ambit__gpu_shared *s = d->shared;
  ambit_status status = AMBIT_OK;

  dump(d, name, source);
  while (s && (s->strict != strict || strcmp(s->source, source)))
    s = s->next;
  if (!s) {
    s = ambit__new(d->head.errors, 1, sizeof *s);
    if (!s) return AMBIT_ENOMEM;
    s->strict = strict;
    s->source = ambit__strdup(d->head.errors, source);
    status = s->source ? compile(d, s, has_fold) : AMBIT_ENOMEM;
    if (status) {
      free_shared(d, s);
      return status;
    }
    s->next = d->shared;
    d->shared = s;
  }
  s->uses++;
  *out = s;
  return AMBIT_OK;
}

void ambit__gpu_shared_drop(ambit__gpu_device *d, ambit__gpu_shared *s)
{
  ambit__gpu_shared **link = &d->shared;

  if (!s || --s->uses) return;
  while (*link != s)
    link = &(*link)->next;
  *link = s->next;
  free_shared(d, s);
}
