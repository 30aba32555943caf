/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/faults.h"

#include "device/access.h"

#include <string.h>

_Static_assert((int)AMBIT_FAULT_AXES == AMBIT_MAX_DIMS, "the record has room for every axis");

/* ---- records ---- */

size_t ambit__faults_bytes(int nargs)
{
  return (size_t)(AMBIT_FAULT_WORDS + nargs * AMBIT__LIMIT_WORDS) * sizeof(int64_t);
}

void ambit__faults_arm(const ambit__launch *launch, int64_t *words)
{
  memset(words, 0, ambit__faults_bytes(launch->nargs));
  ambit__access_arm(launch, words);
}

/* ---- poison ---- */

void ambit__poison_store(void *value, ambit_type type)
{
  const uint16_t f16 = type == AMBIT_F16 ? AMBIT_POISON_F16 : AMBIT_POISON_BF16;
  const uint32_t f32 = AMBIT_POISON_F32;
  const uint64_t f64 = AMBIT_POISON_F64;

  if (type == AMBIT_F16 || type == AMBIT_BF16)
    memcpy(value, &f16, sizeof f16);
  else if (type == AMBIT_F32)
    memcpy(value, &f32, sizeof f32);
  else if (type == AMBIT_F64)
    memcpy(value, &f64, sizeof f64);
  else
    memset(value, 0xe5, ambit_type_size(type));
}

bool ambit__poison_is(const void *value, ambit_type type)
{
  unsigned char poison[sizeof(double)];

  ambit__poison_store(poison, type);
  return !memcmp(value, poison, ambit_type_size(type));
}
