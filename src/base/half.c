/* SPDX-License-Identifier: BSD-3-Clause */
/* half.c - numbers of 16 bits. A half has a sign, 5 bits of exponent and 10 bits of fraction, a
 * bfloat as many bits of exponent as a float, 8, and 7 of fraction. */
#include "ambit.h"

#include <string.h>

static uint64_t bits_of(double x)
{
  uint64_t bits;

  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Exponents are 1008 higher in a double, and its fraction is 42 bits longer. Adding 2^28 rounds a
 * number below 2^-14 to a multiple of 2^-24, the distance of two such halves. */
uint16_t ambit_half_encode(double x)
{
  uint64_t all = bits_of(x), size = all & ~((uint64_t)1 << 63);
  const uint16_t sign = (uint16_t)(all >> 48 & 0x8000);
  const double least_normal = 0x1p-14, too_large = 65520;
  double magnitude;

  memcpy(&magnitude, &size, sizeof magnitude);
  if (magnitude != magnitude) return sign | 0x7e00;
  if (magnitude >= too_large) return sign | 0x7c00;
  if (magnitude < least_normal)
    return (uint16_t)(sign | (bits_of(magnitude + 0x1p28) - bits_of(0x1p28)));
  size += ((uint64_t)1 << 41) - 1 + (size >> 42 & 1);
  return (uint16_t)(sign | ((size >> 42) - (1008 << 10)));
}

double ambit_half_decode(uint16_t bits)
{
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  const uint64_t sign = (uint64_t)(bits & 0x8000) << 48;
  const uint64_t wide = (uint64_t)(exponent == 31 ? 2047 : exponent + 1008) << 52;
  const uint64_t size = exponent ? wide | (uint64_t)fraction << 42 : bits_of(fraction * 0x1p-24);
  const uint64_t all = sign | size;
  double x;

  memcpy(&x, &all, sizeof x);
  return x;
}

/* If x is no float, of the two around it the one with an odd last bit rounds as x does. */
static uint32_t near_float(double x)
{
  const float near = (float)x;
  uint32_t bits;

  memcpy(&bits, &near, sizeof bits);
  if ((double)near == x || x != x || bits % 2) return bits;
  return (near < x) == (x > 0) ? bits + 1 : bits - 1; /* away from 0, or towards it */
}

uint16_t ambit_bfloat_encode(double x)
{
  const uint32_t bits = near_float(x);

  if (x != x) return (uint16_t)((bits >> 16 & 0x8000) | 0x7fc0);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double ambit_bfloat_decode(uint16_t bits)
{
  const uint32_t all = (uint32_t)bits << 16;
  float x;

  memcpy(&x, &all, sizeof x);
  return (double)x;
}
