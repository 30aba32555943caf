/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - checked allocation, and arenas for objects that are freed together. */
#ifndef AMBIT_BASE_MEMORY_H
#define AMBIT_BASE_MEMORY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory for n objects of `size` bytes; on failure raises AMBIT_ENOMEM and returns NULL. n
 * == 0 returns a valid pointer too. Free with free(). */
void *ambit__new(ambit__errors *errors, size_t n, size_t size);
char *ambit__strdup(ambit__errors *errors, const char *text);

/* Sets p to zeroed memory for n objects of its type, or returns AMBIT_ENOMEM from the calling
 * function, which has nothing to release. */
#define AMBIT_NEW(errors, p, n)                                                                    \
  do {                                                                                             \
    (p) = ambit__new(errors, n, sizeof *(p));                                                      \
    if (!(p)) return AMBIT_ENOMEM;                                                                 \
  } while (0)

/* Makes room for one more element in a growing array, and returns the place of element `count`.
 * `array` is the address of the pointer to it, `cap` is in elements. On failure raises AMBIT_ENOMEM
 * and returns NULL; the array is unchanged. */
void *ambit__add(ambit__errors *errors, void *array, size_t count, size_t *cap, size_t size);
ambit_status ambit__make_room(ambit__errors *errors, void *array, size_t count, size_t *cap,
                              size_t size);

/* Memory that is freed all at once. A zero-initialised arena is empty and ready to use. */
typedef struct ambit__arena {
  struct ambit__arena_block *blocks; /* newest first */
  size_t used;                       /* bytes used in the newest block */
  size_t total;                      /* bytes allocated so far */
  size_t limit;                      /* maximum bytes to allocate; 0: no limit */
} ambit__arena;

/* Zeroed and aligned for any type; NULL if out of memory or over the limit. */
void *ambit__arena_alloc(ambit__arena *a, size_t bytes);
/* The same for n objects of `size` bytes; raises AMBIT_ENOMEM. */
void *ambit__arena_new(ambit__errors *errors, ambit__arena *a, size_t n, size_t size);
char *ambit__arena_strndup(ambit__arena *a, const char *text, size_t n);
void ambit__arena_free(ambit__arena *a);

/* As AMBIT_NEW, from an arena. */
#define AMBIT_TAKE(errors, arena, p, n)                                                            \
  do {                                                                                             \
    (p) = ambit__arena_new(errors, arena, n, sizeof *(p));                                         \
    if (!(p)) return AMBIT_ENOMEM;                                                                 \
  } while (0)

/* a * b; false on overflow. */
bool ambit__mul_size(size_t a, size_t b, size_t *out);

#endif
