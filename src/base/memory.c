/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 * 1024 };

typedef struct ambit__arena_block {
  struct ambit__arena_block *next;
  size_t size; /* bytes of data */
  alignas(16) unsigned char data[];
} ambit__arena_block;

void *ambit__new(ambit__errors *errors, size_t n, size_t size)
{
  void *p = calloc(n ? n : 1, size ? size : 1);

  if (!p) ambit__raise(errors, AMBIT_ENOMEM, "out of memory: %zu x %zu bytes", n, size);
  return p;
}

char *ambit__strdup(ambit__errors *errors, const char *text)
{
  size_t n = strlen(text) + 1;
  char *p = ambit__new(errors, n, 1);

  return p ? memcpy(p, text, n) : NULL;
}

void *ambit__add(ambit__errors *errors, void *array, size_t count, size_t *cap, size_t size)
{
  const size_t bigger = *cap ? 2 * *cap : 8;
  char *p;

  memcpy(&p, array, sizeof p); /* whatever it points to */
  if (count < *cap) return p + count * size;
  p = bigger <= SIZE_MAX / size ? realloc(p, bigger * size) : NULL;
  if (!p) {
    ambit__raise(errors, AMBIT_ENOMEM, "out of memory: %zu x %zu bytes", bigger, size);
    return NULL;
  }
  *cap = bigger;
  memcpy(array, &p, sizeof p);
  return p + count * size;
}

ambit_status ambit__make_room(ambit__errors *errors, void *array, size_t count, size_t *cap,
                              size_t size)
{
  return ambit__add(errors, array, count, cap, size) ? AMBIT_OK : AMBIT_ENOMEM;
}

void *ambit__arena_alloc(ambit__arena *a, size_t bytes)
{
  size_t need;
  void *p;

  if (bytes > SIZE_MAX / 2 - BLOCK_BYTES) return NULL;
  need = (bytes + 15) & ~(size_t)15;
  if (a->limit && need > a->limit - a->total) return NULL;
  if (!a->blocks || a->blocks->size - a->used < need) {
    size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;
    ambit__arena_block *b = calloc(1, sizeof *b + size);

    if (!b) return NULL;
    b->size = size;
    b->next = a->blocks;
    a->blocks = b;
    a->used = 0;
  }
  p = a->blocks->data + a->used;
  a->used += need;
  a->total += need;
  return p;
}

void *ambit__arena_new(ambit__errors *errors, ambit__arena *a, size_t n, size_t size)
{
  size_t bytes;
  void *p = ambit__mul_size(n ? n : 1, size, &bytes) ? ambit__arena_alloc(a, bytes) : NULL;

  if (!p) ambit__raise(errors, AMBIT_ENOMEM, "out of memory: %zu x %zu bytes", n, size);
  return p;
}

char *ambit__arena_strndup(ambit__arena *a, const char *text, size_t n)
{
  char *p = ambit__arena_alloc(a, n + 1);

  return p ? memcpy(p, text, n) : NULL;
}

void ambit__arena_free(ambit__arena *a)
{
  while (a->blocks) {
    ambit__arena_block *b = a->blocks;

    a->blocks = b->next;
    free(b);
  }
  *a = (ambit__arena){0};
}

bool ambit__mul_size(size_t a, size_t b, size_t *out)
{
  if (b && a > SIZE_MAX / b) return false;
  *out = a * b;
  return true;
}
