/* SPDX-License-Identifier: BSD-3-Clause */
/* index.h - finds the entries of a list by a hash of what is sought in them.
 *
 * Several entries may have one hash: the caller looks at each. A zero-initialised index is empty.
 *
 *     for (size_t at = 0; (i = ambit__index_next(index, hash, &at)) >= 0;)
 *       if (is_wanted(&list[i])) ...
 */
#ifndef AMBIT_BASE_INDEX_H
#define AMBIT_BASE_INDEX_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ambit__index {
  struct ambit__index_slot {
    uint64_t hash;
    int entry;   /* its number in the list, and 1; 0: the slot is empty */
  } * slots;     /* owned */
  size_t nslots; /* a power of two, or 0 */
  size_t n;      /* entries */
} ambit__index;

ambit_status ambit__index_add(ambit__errors *errors, ambit__index *x, uint64_t hash, int entry);
/* The next entry with this hash, from *at, which is 0 at first; -1: there are no more. */
int ambit__index_next(const ambit__index *x, uint64_t hash, size_t *at);
void ambit__index_free(ambit__index *x);

#endif
