/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/registered.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
  const char *language; /* "c": `fn`; others: `source` */
  char *key;            /* ambit__rule_print of the kernel */
  ambit_cpu_fn fn;
  char *source; /* owned */
  struct entry *next;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *entries; /* newest first; never freed */

static entry *find(const char *language, const char *key)
{
  for (entry *e = entries; e; e = e->next)
    if (!strcmp(e->language, language) && !strcmp(e->key, key)) return e;
  return NULL;
}

/* ---- registration ---- */

/* Takes ownership of key and source. A new entry replaces an older one for the same kernel. */
static ambit_status add(entry new)
{
  entry *e;

  pthread_mutex_lock(&lock);
  e = find(new.language, new.key);
  if (e) {
    free(new.key);
    free(e->source);
    e->fn = new.fn;
    e->source = new.source;
  } else if ((e = malloc(sizeof *e))) {
    *e = new;
    e->next = entries;
    entries = e;
  } else {
    free(new.key);
    free(new.source);
  }
  pthread_mutex_unlock(&lock);
  return e ? AMBIT_OK : AMBIT_ENOMEM;
}

static ambit_status make_key(const char *kernel_text, char **key)
{
  ambit__rule *rule;

  bool depends; /* on facts known only when the kernel is applied */

  *key = NULL;
  AMBIT_TRY(ambit__rule_parse(NULL, "registered kernel", kernel_text, &rule));
  depends = rule->ntables || rule->uses_normal;
  if (!depends) *key = ambit__rule_print(rule);
  ambit__rule_free(rule);
  if (depends) return AMBIT_EUNSUPPORTED;
  return *key ? AMBIT_OK : AMBIT_ENOMEM;
}

ambit_status ambit_register_cpu(const char *kernel_text, ambit_cpu_fn fn)
{
  entry e = {.language = "c", .fn = fn};

  if (!kernel_text || !fn) return AMBIT_EINVAL;
  AMBIT_TRY(make_key(kernel_text, &e.key));
  return add(e);
}

ambit_status ambit_register_source(const char *kernel_text, ambit_language language,
                                   const char *source)
{
  entry e = {.language = language == AMBIT_CUDA ? "cuda" : "opencl"};

  if (!kernel_text || !source || (language != AMBIT_CUDA && language != AMBIT_OPENCL))
    return AMBIT_EINVAL;
  AMBIT_TRY(make_key(kernel_text, &e.key));
  e.source = ambit__strdup(NULL, source);
  if (e.source) return add(e);
  free(e.key);
  return AMBIT_ENOMEM;
}

/* ---- lookup ---- */

/* The lock must be held. */
static const entry *find_rule(const char *language, const ambit__rule *rule)
{
  char *key = entries ? ambit__rule_print(rule->written ? rule->written : rule) : NULL;
  const entry *e = key ? find(language, key) : NULL;

  free(key);
  return e;
}

ambit_cpu_fn ambit__registered_cpu(const ambit__rule *rule)
{
  ambit_cpu_fn fn;
  const entry *e;

  pthread_mutex_lock(&lock);
  e = find_rule("c", rule);
  fn = e ? e->fn : NULL;
  pthread_mutex_unlock(&lock);
  return fn;
}

char *ambit__registered_source(const ambit__rule *rule, const char *language)
{
  const entry *e;
  char *source;

  pthread_mutex_lock(&lock);
  e = find_rule(language, rule);
  source = e ? ambit__strdup(NULL, e->source) : NULL;
  pthread_mutex_unlock(&lock);
  return source;
}
