#include "device/cpu/registered.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
  char *key; /* ambit__rule_print of the kernel */
  ambit_cpu_fn fn;
  struct entry *next;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *entries; /* newest first; lives as long as the process */

static entry *find(const char *key)
{
  for (entry *e = entries; e; e = e->next)
    if (!strcmp(e->key, key)) return e;
  return NULL;
}

/* Takes over `key`. */
static ambit_status add(char *key, ambit_cpu_fn fn)
{
  entry *e;

  pthread_mutex_lock(&lock);
  e = find(key);
  if (e) {
    free(key);
    e->fn = fn;
  } else if ((e = malloc(sizeof *e))) {
    *e = (entry){key, fn, entries};
    entries = e;
  } else {
    free(key);
  }
  pthread_mutex_unlock(&lock);
  return e ? AMBIT_OK : AMBIT_ENOMEM;
}

ambit_status ambit_register_cpu(const char *kernel_text, ambit_cpu_fn fn)
{
  ambit__rule *rule;
  char *key;

  if (!kernel_text || !fn) return AMBIT_EINVAL;
  AMBIT_TRY(ambit__rule_parse(NULL, "registered kernel", kernel_text, &rule));
  key = ambit__rule_print(rule);
  ambit__rule_free(rule);
  return key ? add(key, fn) : AMBIT_ENOMEM;
}

ambit_cpu_fn ambit__registered_find(const ambit__rule *rule)
{
  ambit_cpu_fn fn = NULL;
  char *key;
  entry *e;

  pthread_mutex_lock(&lock);
  key = entries ? ambit__rule_print(rule) : NULL;
  e = key ? find(key) : NULL;
  if (e) fn = e->fn;
  pthread_mutex_unlock(&lock);
  free(key);
  return fn;
}
