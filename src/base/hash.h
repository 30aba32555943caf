/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h - a 128-bit fingerprint of bytes: names for cached files, equality of long texts.
 *
 * Not cryptographic: accidental collisions are negligible, but collisions can be constructed. Code
 * that loads a file by its hash must trust the directory. The value depends only on the bytes, not
 * on their division into calls, and is the same on every machine.
 */
#ifndef AMBIT_BASE_HASH_H
#define AMBIT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct ambit__hash {
  uint64_t w[2]; /* two independent lanes */
} ambit__hash;

enum { AMBIT__HASH_CHARS = 33 }; /* 32 hexadecimal digits and a NUL */

void ambit__hash_init(ambit__hash *h);
void ambit__hash_bytes(ambit__hash *h, const void *data, size_t bytes);
/* Includes the NUL: "ab" then "c" differs from "a" then "bc". */
void ambit__hash_text(ambit__hash *h, const char *text);
/* The hash of all bytes so far; more may follow. */
void ambit__hash_hex(const ambit__hash *h, char out[AMBIT__HASH_CHARS]);

#endif
