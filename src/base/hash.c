/* SPDX-License-Identifier: BSD-3-Clause */
/* Lane 0 is FNV-1a. Lane 1 multiplies by another odd number and rotates, so that its high bits
 * affect its low bits too. The digits are taken from a mix of both (the finaliser of MurmurHash3),
 * in which every input bit affects every digit. */
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

static uint64_t rotate(uint64_t x, int by)
{
  return x << by | x >> (64 - by);
}

static uint64_t finish(uint64_t x)
{
  x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
  x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return x ^ x >> 33;
}

void ambit__hash_init(ambit__hash *h)
{
  h->w[0] = UINT64_C(0xcbf29ce484222325);
  h->w[1] = UINT64_C(0x9e3779b97f4a7c15);
}

void ambit__hash_bytes(ambit__hash *h, const void *data, size_t bytes)
{
  const unsigned char *p = data;
  uint64_t a = h->w[0], b = h->w[1];

  for (size_t i = 0; i < bytes; i++) {
    a = (a ^ p[i]) * UINT64_C(0x100000001b3);
    b = rotate((b ^ p[i]) * UINT64_C(0x9fb21c651e98df25), 29) + 1;
  }
  h->w[0] = a;
  h->w[1] = b;
}

void ambit__hash_text(ambit__hash *h, const char *text)
{
  ambit__hash_bytes(h, text, strlen(text) + 1);
}

void ambit__hash_hex(const ambit__hash *h, char out[AMBIT__HASH_CHARS])
{
  uint64_t high = finish(h->w[0] + finish(h->w[1])), low = finish(h->w[1] + high);

  snprintf(out, AMBIT__HASH_CHARS, "%016llx%016llx", (unsigned long long)high,
           (unsigned long long)low);
}
