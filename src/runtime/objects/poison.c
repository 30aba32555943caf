/* SPDX-License-Identifier: BSD-3-Clause */
/* poison.c - with the option nan, unset memory holds a distinct NaN, so that checked launches
 * detect its use (run/checked_launch.c). */
#include "device/faults.h"
#include "runtime/objects/objects.h"

/* All memory of a store as one row of values. */
static ambit__store flat_store(const ambit__store *store)
{
  ambit__layout l = {.type = store->layout.type, .components = 1, .own.ndims = 1, .stride = {1}};

  l.bytes = store->buffer->bytes;
  l.own.hi[0] = (int64_t)(l.bytes / ambit_type_size(l.type));
  return (ambit__store){l, store->buffer};
}

ambit_status ambit__store_poison(const ambit *a, ambit__engine *e, const ambit__store *store)
{
  ambit__store flat = flat_store(store);
  unsigned char poison[8];

  if (!a->settings.nan || ambit__box_is_empty(&flat.layout.own)) return AMBIT_OK;
  ambit__poison_store(poison, flat.layout.type);
  store->buffer->unset = true;
  return ambit__do(e->queue, fill, &flat, &flat.layout.own, poison);
}
