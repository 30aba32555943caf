/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - compiled source, shared by all functions with the same source. */
#include "device/gpu/gpu.h"
#include "plan/gpu.h"

#include "base/hash.h"
#include "base/memory.h"
#include "codegen/source.h"
#include "device/cache.h"

#include <stdlib.h>
#include <string.h>

static void dump(const ambit__gpu_device *d, const ambit__gpu_text *text)
{
  char hex[AMBIT__HASH_CHARS];
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_text(&h, text->source);
  ambit__hash_hex(&h, hex);
  ambit__cache_dump(d->head.settings, text->name, hex, d->driver->dialect->extension, text->source);
}

static void free_shared(ambit__gpu_device *d, ambit__gpu_shared *s)
{
  if (s->module) d->driver->unload(s->module);
  free(s->source);
  free(s->entry);
  free(s);
}

static ambit_status compile(ambit__gpu_device *d, const ambit__gpu_text *text, ambit__gpu_shared *s)
{
  ambit__text name = {0};
  ambit_status status;

  s->strict = text->strict;
  s->source = ambit__strdup(d->head.errors, text->source);
  s->entry = ambit__strdup(d->head.errors, text->entry);
  if (!s->source || !s->entry) return AMBIT_ENOMEM;
  AMBIT_TRY(d->driver->build(d->gpu, text->what, s->source, s->entry, s->strict, &s->module));
  AMBIT_TRY(d->driver->function(s->module, s->entry, &s->run));
  if (!text->has_fold) return AMBIT_OK;
  ambit__print(&name, "%s" AMBIT__GPUCODE_FOLD_TAIL, s->entry);
  status = name.failed ? ambit__raise(d->head.errors, AMBIT_ENOMEM, "no memory for a name")
                       : d->driver->function(s->module, name.chars, &s->fold);
  ambit__text_free(&name);
  return status;
}

static bool is_same(const ambit__gpu_shared *s, const ambit__gpu_text *text)
{
  return s->strict == text->strict && !strcmp(s->entry, text->entry) &&
         ambit__source_equal(s->source, text->source);
}

ambit__gpu_shared *ambit__gpu_shared_find(ambit__gpu_device *d, const ambit__gpu_text *text)
{
  ambit__gpu_shared *s = d->shared;

  while (s && !is_same(s, text))
    s = s->next;
  return s;
}

ambit_status ambit__gpu_shared_get(ambit__gpu_device *d, const ambit__gpu_text *text,
                                   ambit__gpu_shared **out)
{
  ambit__gpu_shared *s = ambit__gpu_shared_find(d, text);
  ambit_status status = AMBIT_OK;

  dump(d, text);
  if (!s) {
    AMBIT_NEW(d->head.errors, s, 1);
    status = compile(d, text, s);
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

/* ---- fixed kernels ---- */

void ambit__gpu_fixed_head(const ambit__dialect *l, const char *title, int threads, ambit__text *t)
{
  ambit__print(t, "/* %s */\n", title);
  ambit__print(t, "#define KERNEL %s\n#define GLOBAL %s\n#define SHARED %s\n", l->kernel, l->global,
               l->shared);
  ambit__print(t, "#define THREADS %d\n#define THREAD %s\n#define BLOCK %s\n#define BLOCKS %s\n",
               threads, l->thread[0], l->block[0], l->blocks[0]);
}

static ambit_status finish(ambit__gpu_device *d, ambit__text *t, char **source)
{
  *source = ambit__text_finish(t);
  AMBIT_CHECK(*source, d->head.errors, AMBIT_ENOMEM, "no memory for the source of a kernel");
  return AMBIT_OK;
}

ambit_status ambit__gpu_fixed(ambit__gpu_device *d, ambit__text *t, bool strict, int n,
                              const ambit__gpu_kernel *kernels, ambit__gpu_module **module)
{
  char *source;
  ambit_status s;

  AMBIT_TRY(finish(d, t, &source));
  s = d->driver->build(d->gpu, "a fixed kernel", source, kernels[0].name, strict, module);
  free(source);
  for (int i = 0; !s && i < n; i++)
    s = d->driver->function(*module, kernels[i].name, kernels[i].function);
  return s;
}

ambit_status ambit__gpu_fixed_shared(ambit__gpu_device *d, ambit__text *t, const char *name,
                                     const char *entry, ambit__gpu_shared **out)
{
  ambit__gpu_text text = {.name = name, .what = "a fixed kernel", .entry = entry, .strict = true};
  char *source;
  ambit_status s;

  AMBIT_TRY(finish(d, t, &source));
  text.source = source;
  s = ambit__gpu_shared_get(d, &text, out);
  free(source);
  return s;
}
