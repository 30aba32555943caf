/* memory.h - allocation that is checked, and arenas for things that die together. */
#ifndef AMBIT_BASE_MEMORY_H
#define AMBIT_BASE_MEMORY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory for n objects of `size` bytes, or NULL and a raised AMBIT_ENOMEM. n == 0 gives a
 * pointer too. Free with free(). */
void *ambit__new(ambit__errors *errors, size_t n, size_t size);
char *ambit__strdup(ambit__errors *errors, const char *text);

/* Makes room for one more element in a growing array: returns the (moved) array or NULL and a
 * raised AMBIT_ENOMEM, leaving the old one as it was. `cap` counts elements. */
void *ambit__grow(ambit__errors *errors, void *array, size_t count, size_t *cap, size_t size);

/* Memory that is freed all at once. A zero-initialised arena is empty and ready. */
typedef struct ambit__arena {
  struct ambit__arena_block *blocks; /* newest first */
  size_t used;                       /* bytes of the newest block */
  size_t total;                      /* bytes handed out so far */
  size_t limit;                      /* 0, or the most bytes to hand out */
} ambit__arena;

/* Zeroed and aligned for any type; NULL when memory ran out or the limit is reached. */
void *ambit__arena_alloc(ambit__arena *a, size_t bytes);
char *ambit__arena_strndup(ambit__arena *a, const char *text, size_t n);
void ambit__arena_free(ambit__arena *a);

/* a * b, or false when it does not fit. */
bool ambit__mul_size(size_t a, size_t b, size_t *out);

#endif
