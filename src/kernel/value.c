/* SPDX-License-Identifier: BSD-3-Clause */
/* value.c - the arithmetic of the kernel language.
 *
 * Nothing here depends on behaviour that C leaves undefined or to the implementation: integers are
 * computed unsigned and wrapped to their type, shift counts are taken modulo the width, conversions
 * from real saturate. Every real operation is one operation in its own type, so that it rounds
 * once.
 */
#include "kernel/value.h"

#include "base/number.h"
#include "kernel/range.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ambit__type_is_real(ambit_type t)
{
  return t == AMBIT_F32 || t == AMBIT_F64 || ambit__type_is_half(t);
}

bool ambit__type_is_half(ambit_type t)
{
  return t == AMBIT_F16 || t == AMBIT_BF16;
}

bool ambit__type_is_unsigned(ambit_type t)
{
  return t == AMBIT_U8 || t == AMBIT_U16 || t == AMBIT_U32 || t == AMBIT_U64;
}

int ambit__type_bits(ambit_type t)
{
  return 8 * (int)ambit_type_size(t);
}

ambit_type ambit__type_promoted(ambit_type t)
{
  if (ambit__type_is_real(t)) return ambit__type_is_half(t) ? AMBIT_F32 : t;
  return ambit__type_bits(t) < 32 ? AMBIT_I32 : t;
}

ambit_type ambit__type_total(ambit_type t)
{
  return ambit__type_is_real(t) ? AMBIT_F64 : t == AMBIT_U64 ? AMBIT_U64 : AMBIT_I64;
}

const char *ambit__call_name(ambit__call c)
{
  static const char *const names[CALL_COUNT] = {
#define X(name, args) #name,
      AMBIT_CALL_MAP(X)
#undef X
          "abs"};

  return names[c];
}

bool ambit__call_is_cheap(ambit__call c)
{
  static const bool cheap[CALL_COUNT] = {
      [CALL_fabs] = true, [CALL_sqrt] = true,     [CALL_fmin] = true, [CALL_fmax] = true,
      [CALL_fma] = true,  [CALL_floor] = true,    [CALL_ceil] = true, [CALL_trunc] = true,
      [CALL_rint] = true, [CALL_copysign] = true, [CALL_abs] = true};

  return cheap[c];
}

/* ---- conversions ---- */

static ambit__value real(double x)
{
  return (ambit__value){.real = x};
}

static ambit__value integer(int64_t x)
{
  return (ambit__value){.integer = x};
}

/* The low bits of x as a value of the type, without implementation-defined conversions. */
static ambit__value wrap(uint64_t x, ambit_type type)
{
  switch (type) {
  case AMBIT_U8: return integer((int64_t)(x & 0xff));
  case AMBIT_I16: return integer((int64_t)((x & 0xffff) ^ 0x8000) - 0x8000);
  case AMBIT_I32: return integer((int64_t)((x & 0xffffffff) ^ 0x80000000) - 0x80000000LL);
  case AMBIT_U16: return integer((int64_t)(x & 0xffff));
  case AMBIT_U32: return integer((int64_t)(x & 0xffffffff));
  default: return integer(x <= INT64_MAX ? (int64_t)x : -(int64_t)(UINT64_MAX - x) - 1);
  }
}

static ambit__value saturate_u64(double x)
{
  if (!(x > 0)) return integer(0);
  return wrap(x >= 0x1p64 ? UINT64_MAX : (uint64_t)x, AMBIT_U64);
}

/* (double)INT64_MAX rounds up to 2^63, so `>=` is correct; it is harmless for smaller types. */
static ambit__value saturate(double x, ambit_type type)
{
  const ambit__range all = ambit__range_of_type(type);

  if (type == AMBIT_U64) return saturate_u64(x);
  if (x != x) return integer(0);
  if (x <= (double)all.low) return integer(all.low);
  if (x >= (double)all.high) return integer(all.high);
  return integer((int64_t)x);
}

ambit__value ambit__value_cast(ambit__value v, ambit_type from, ambit_type to)
{
  if (ambit__type_is_real(from)) {
    if (to == AMBIT_F32) return real((float)v.real);
    if (to == AMBIT_F16) return real(ambit_half_decode(ambit_half_encode(v.real)));
    if (to == AMBIT_BF16) return real(ambit_bfloat_decode(ambit_bfloat_encode(v.real)));
    return to == AMBIT_F64 ? v : saturate(v.real, to);
  }
  if (from == AMBIT_U64 && v.integer < 0 && ambit__type_is_real(to)) {
    const uint64_t x = (uint64_t)v.integer;

    return to == AMBIT_F64 ? real((double)x) : ambit__value_cast(real((float)x), AMBIT_F32, to);
  }
  /* directly from the integer: converting through double would round twice, unless to a half, which
   * is infinite long before; a bfloat is a float that is rounded */
  if (to == AMBIT_F32) return real((float)v.integer);
  if (to == AMBIT_BF16) return real(ambit_bfloat_decode(ambit_bfloat_encode((float)v.integer)));
  if (to == AMBIT_F16) return real(ambit_half_decode(ambit_half_encode((double)v.integer)));
  return to == AMBIT_F64 ? real((double)v.integer) : wrap((uint64_t)v.integer, to);
}

/* ---- operators ---- */

ambit__value ambit__value_unary(int op, ambit_type type, ambit__value a)
{
  if (op == EXPR_NOT) return integer(!ambit__value_is_true(a, type));
  if (ambit__type_is_real(type)) return real(-a.real);
  return wrap(op == EXPR_NEG ? 0 - (uint64_t)a.integer : ~(uint64_t)a.integer, type);
}

static double real_binary(int op, double a, double b)
{
  switch (op) {
  case EXPR_ADD: return a + b;
  case EXPR_SUB: return a - b;
  case EXPR_MUL: return a * b;
  default: return a / b;
  }
}

#define COMPARE                                                                                    \
  switch (op) {                                                                                    \
  case EXPR_LT: return a < b;                                                                      \
  case EXPR_LE: return a <= b;                                                                     \
  case EXPR_GT: return a > b;                                                                      \
  case EXPR_GE: return a >= b;                                                                     \
  case EXPR_EQ: return a == b;                                                                     \
  case EXPR_NE: return a != b;                                                                     \
  case EXPR_LAND: return a != 0 && b != 0;                                                         \
  default: return a != 0 || b != 0;                                                                \
  }

static bool real_compare(int op, double a, double b)
{
  COMPARE
}

/* Unsigned numbers of 64 bits are ordered as the signed ones with the other first bit. */
static bool integer_compare(int op, ambit_type type, int64_t a, int64_t b)
{
  if (type == AMBIT_U64 && op < EXPR_LAND) a ^= INT64_MIN, b ^= INT64_MIN;
  COMPARE
}

/* Arithmetic shift: the sign bit is extended. */
static uint64_t shift_right(int64_t a, unsigned count)
{
  return a >= 0 ? (uint64_t)a >> count : ~(~(uint64_t)a >> count);
}

/* Division by -1 is negation, which wraps for the minimum, where C's / would trap. */
static uint64_t divide(int64_t a, int64_t b)
{
  if (b == 0) return 0;
  return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t remainder_of(int64_t a, int64_t b)
{
  return b == 0 || b == -1 ? 0 : (uint64_t)(a % b);
}

static uint64_t integer_binary(int op, ambit_type type, int64_t a, int64_t b)
{
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  unsigned count = (unsigned)(y & (ambit__type_bits(type) == 64 ? 63 : 31));

  if (type == AMBIT_U64 && op == EXPR_DIV) return y ? x / y : 0;
  if (type == AMBIT_U64 && op == EXPR_MOD) return y ? x % y : 0;
  if (type == AMBIT_U64 && op == EXPR_SHR) return x >> count;
  switch (op) {
  case EXPR_ADD: return x + y;
  case EXPR_SUB: return x - y;
  case EXPR_MUL: return x * y;
  case EXPR_DIV: return divide(a, b);
  case EXPR_MOD: return remainder_of(a, b);
  case EXPR_AND: return x & y;
  case EXPR_OR: return x | y;
  case EXPR_XOR: return x ^ y;
  case EXPR_SHL: return x << count;
  default: return shift_right(a, count);
  }
}

ambit__value ambit__value_binary(int op, ambit_type type, ambit__value a, ambit__value b)
{
  if (op >= EXPR_LT)
    return integer(ambit__type_is_real(type) ? real_compare(op, a.real, b.real)
                                             : integer_compare(op, type, a.integer, b.integer));
  /* a double has more than twice the digits of a float, so that rounding twice is rounding once */
  if (type == AMBIT_F32) return real((float)real_binary(op, (float)a.real, (float)b.real));
  if (type == AMBIT_F64) return real(real_binary(op, a.real, b.real));
  return wrap(integer_binary(op, type, a.integer, b.integer), type);
}

/* ---- functions ---- */

#define ARGS1(x, y, z) (x)
#define ARGS2(x, y, z) (x, y)
#define ARGS3(x, y, z) (x, y, z)

static float call_float(ambit__call c, float x, float y, float z)
{
  switch (c) {
#define X(name, args)                                                                              \
  case CALL_##name: return name##f ARGS##args(x, y, z);
    AMBIT_CALL_MAP(X)
#undef X
  default: return x;
  }
}

static double call_double(ambit__call c, double x, double y, double z)
{
  switch (c) {
#define X(name, args)                                                                              \
  case CALL_##name: return name ARGS##args(x, y, z);
    AMBIT_CALL_MAP(X)
#undef X
  default: return x;
  }
}

ambit__value ambit__value_call(ambit__call c, ambit_type type, ambit__value a, ambit__value b,
                               ambit__value d)
{
  if (c == CALL_abs)
    return a.integer < 0 ? ambit__value_unary(EXPR_NEG, type, a) : wrap((uint64_t)a.integer, type);
  /* C does not define which zero fmin(0.0, -0.0) returns; the language does */
  if (c == CALL_fmin) return a.real < b.real || b.real != b.real ? a : b;
  if (c == CALL_fmax) return a.real > b.real || b.real != b.real ? a : b;
  if (type == AMBIT_F32) return real(call_float(c, (float)a.real, (float)b.real, (float)d.real));
  return real(call_double(c, a.real, b.real, d.real));
}

bool ambit__value_is_true(ambit__value v, ambit_type type)
{
  return ambit__type_is_real(type) ? v.real != 0 : v.integer != 0;
}

/* ---- memory and numbers ---- */

ambit__value ambit__value_load(const void *p, ambit_type type)
{
  switch (type) {
  case AMBIT_F32: return real(*(const float *)p);
  case AMBIT_F64: return real(*(const double *)p);
  case AMBIT_I32: return integer(*(const int32_t *)p);
  case AMBIT_U8: return integer(*(const uint8_t *)p);
  case AMBIT_I16: return integer(*(const int16_t *)p);
  case AMBIT_I64: return integer(*(const int64_t *)p);
  case AMBIT_F16: return real(ambit_half_decode(*(const uint16_t *)p));
  case AMBIT_BF16: return real(ambit_bfloat_decode(*(const uint16_t *)p));
  case AMBIT_U16: return integer(*(const uint16_t *)p);
  case AMBIT_U32: return integer(*(const uint32_t *)p);
  case AMBIT_U64: return wrap(*(const uint64_t *)p, AMBIT_U64);
  }
  return integer(0);
}

int64_t ambit__type_infinity(ambit_type t)
{
  switch (t) {
  case AMBIT_F64: return INT64_C(0x7ff0000000000000);
  case AMBIT_F32: return 0x7f800000;
  case AMBIT_F16: return 0x7c00;
  case AMBIT_BF16: return 0x7f80;
  default: return INT64_MAX;
  }
}

bool ambit__values_same(const void *a, const void *b, size_t n, ambit_type type)
{
  const unsigned char *p = a, *q = b;
  const size_t size = ambit_type_size(type);

  if (!memcmp(p, q, n * size)) return true;
  for (size_t i = 0; i < n; i++, p += size, q += size)
    if (memcmp(p, q, size) &&
        (!ambit__type_is_real(type) || !isnan(ambit__value_load(p, type).real) ||
         !isnan(ambit__value_load(q, type).real)))
      return false;
  return true;
}

void ambit__value_store(void *p, ambit_type type, ambit__value v)
{
  switch (type) {
  case AMBIT_F32: *(float *)p = (float)v.real; break;
  case AMBIT_F64: *(double *)p = v.real; break;
  case AMBIT_I32: *(int32_t *)p = (int32_t)v.integer; break;
  case AMBIT_U8: *(uint8_t *)p = (uint8_t)v.integer; break;
  case AMBIT_I16: *(int16_t *)p = (int16_t)v.integer; break;
  case AMBIT_I64: *(int64_t *)p = v.integer; break;
  case AMBIT_F16: *(uint16_t *)p = ambit_half_encode(v.real); break;
  case AMBIT_BF16: *(uint16_t *)p = ambit_bfloat_encode(v.real); break;
  case AMBIT_U16: *(uint16_t *)p = (uint16_t)v.integer; break;
  case AMBIT_U32: *(uint32_t *)p = (uint32_t)v.integer; break;
  case AMBIT_U64: *(uint64_t *)p = (uint64_t)v.integer; break;
  }
}

ambit__value ambit__value_of(double number, ambit_type type)
{
  return ambit__value_cast(real(number), AMBIT_F64, type);
}

double ambit__value_number(ambit__value v, ambit_type type)
{
  return ambit__value_cast(v, type, AMBIT_F64).real;
}

ambit_status ambit__value_check(ambit__errors *errors, double number, ambit_type type,
                                const char *advice, const char *what, ...)
{
  const ambit__range all = ambit__range_of_type(type);
  char owner[200], text[AMBIT__NUMBER_CHARS];
  va_list ap;

  if (ambit__type_is_real(type) ||
      ambit__value_number(ambit__value_of(number, type), type) == number)
    return AMBIT_OK;
  va_start(ap, what);
  vsnprintf(owner, sizeof owner, what, ap);
  va_end(ap);
  ambit__number_show(text, number);
  return ambit__raise(errors, AMBIT_EINVAL,
                      "%s is %s and cannot be %s: give a whole number from %" PRId64 " to %" PRIu64
                      "%s",
                      owner, ambit_type_name(type), text, type == AMBIT_U64 ? 0 : all.low,
                      type == AMBIT_U64 ? UINT64_MAX : (uint64_t)all.high, advice);
}
