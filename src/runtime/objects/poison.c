/* SPDX-License-Identifier: BSD-3-Clause */
/* poison.c - with the option nan, memory without values holds a NaN of its own kind, so that a
 * checked launch notices when it is used (run/checked_launch.c). */
#include "base/memory.h"
#include "device/faults.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>

enum { PIECE_BYTES = 1 << 20 }; /* written to the device at a time */

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
  const size_t size = ambit_type_size(store->layout.type);
  const int64_t most = PIECE_BYTES / (int64_t)size;
  ambit__store flat = flat_store(store);
  ambit_status s = AMBIT_OK;
  unsigned char *values;
  ambit__box piece;

  if (!a->settings.nan || ambit__box_is_empty(&flat.layout.own)) return AMBIT_OK;
  values = ambit__new(e->device->errors, (size_t)most, size);
  if (!values) return AMBIT_ENOMEM;
  for (int64_t i = 0; i < most; i++)
    ambit__poison_store(values + (size_t)i * size, flat.layout.type);
  ambit__box_first_piece(&flat.layout.own, most, &piece);
  do {
    s = e->device->backend->write_box(e->queue, &flat, &piece, values);
  } while (!s && ambit__box_next_piece(&flat.layout.own, most, &piece));
  free(values);
  return s;
}
