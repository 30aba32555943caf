/* SPDX-License-Identifier: BSD-3-Clause */
/* tape.h - a sequence of bytes that grows at its end and is read in order. All machines that Ambit
 * runs on are little-endian, and tapes are stored as they are.
 */
#ifndef AMBIT_BASE_TAPE_H
#define AMBIT_BASE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ambit__tape {
  unsigned char *bytes; /* owned */
  size_t n, cap;        /* used, allocated */
  size_t at;            /* the next to read */
  bool failed;          /* out of memory, or read beyond the end */
} ambit__tape;

void ambit__tape_put(ambit__tape *t, const void *bytes, size_t n);
/* After the end, zeros. */
void ambit__tape_get(ambit__tape *t, void *bytes, size_t n);
void ambit__tape_put_number(ambit__tape *t, int64_t x);
int64_t ambit__tape_get_number(ambit__tape *t);
void ambit__tape_free(ambit__tape *t); /* and empties it */

#endif
