/* SPDX-License-Identifier: BSD-3-Clause */
/* number.h - values of any type as numbers. */
#ifndef AMBIT_TEST_NUMBER_H
#define AMBIT_TEST_NUMBER_H

#include "ambit.h"

#include <math.h>
#include <stdint.h>

static inline double number_at(const void *values, int64_t i, ambit_type type)
{
  switch (type) {
  case AMBIT_F32: return (double)((const float *)values)[i];
  case AMBIT_F64: return ((const double *)values)[i];
  case AMBIT_I32: return ((const int32_t *)values)[i];
  case AMBIT_U8: return ((const uint8_t *)values)[i];
  case AMBIT_I16: return ((const int16_t *)values)[i];
  case AMBIT_I64: return (double)((const int64_t *)values)[i];
  case AMBIT_F16: return ambit_half_decode(((const uint16_t *)values)[i]);
  case AMBIT_BF16: return ambit_bfloat_decode(((const uint16_t *)values)[i]);
  case AMBIT_U16: return ((const uint16_t *)values)[i];
  case AMBIT_U32: return ((const uint32_t *)values)[i];
  case AMBIT_U64: return (double)((const uint64_t *)values)[i];
  }
  return NAN;
}

#endif
