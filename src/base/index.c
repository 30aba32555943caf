/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing: an entry is in the first slot that was free, from that of its hash on. At most
 * half of the slots are taken. */
#include "base/index.h"

#include "base/memory.h"

#include <stdlib.h>

static void put(ambit__index *x, uint64_t hash, int entry)
{
  size_t i = (size_t)hash & (x->nslots - 1);

  while (x->slots[i].entry)
    i = (i + 1) & (x->nslots - 1);
  x->slots[i].hash = hash;
  x->slots[i].entry = entry + 1;
}

static ambit_status widen(ambit__errors *errors, ambit__index *x)
{
  ambit__index wide = {.nslots = x->nslots ? 2 * x->nslots : 16, .n = x->n};

  AMBIT_NEW(errors, wide.slots, wide.nslots);
  for (size_t i = 0; i < x->nslots; i++)
    if (x->slots[i].entry) put(&wide, x->slots[i].hash, x->slots[i].entry - 1);
  free(x->slots);
  *x = wide;
  return AMBIT_OK;
}

ambit_status ambit__index_add(ambit__errors *errors, ambit__index *x, uint64_t hash, int entry)
{
  if (2 * (x->n + 1) > x->nslots) AMBIT_TRY(widen(errors, x));
  put(x, hash, entry);
  x->n++;
  return AMBIT_OK;
}

int ambit__index_next(const ambit__index *x, uint64_t hash, size_t *at)
{
  while (*at < x->nslots) {
    const struct ambit__index_slot *s = &x->slots[((size_t)hash + (*at)++) & (x->nslots - 1)];

    if (!s->entry) return -1;
    if (s->hash == hash) return s->entry - 1;
  }
  return -1;
}

void ambit__index_free(ambit__index *x)
{
  free(x->slots);
  *x = (ambit__index){0};
}
