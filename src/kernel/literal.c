/* SPDX-License-Identifier: BSD-3-Clause */
/* literal.c - literals, to and from text.
 *
 * A printed literal reads back as the same bits. strtod expects the decimal point of the program's
 * locale, so it is substituted before reading.
 */
#include "base/number.h"
#include "kernel/token.h"

#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 400 }; /* characters of a literal */

static bool starts_hex(const char *s)
{
  return s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
}

static bool is_real(const char *s)
{
  return strpbrk(s, starts_hex(s) ? ".pP" : ".eE") != NULL;
}

/* ---- integers ---- */

static int digit_of(char c)
{
  return isdigit((unsigned char)c)    ? c - '0'
         : isxdigit((unsigned char)c) ? tolower(c) - 'a' + 10
                                      : 99;
}

#define LONG_LONG "is a long long; a long has 64 bits here, write one L"

/* The letters after the digits, and the type that they mean. */
static bool is_suffix(const char *s, ambit_type *type)
{
  static const struct {
    const char *letters;
    ambit_type type;
  } rows[] = {
      {"", AMBIT_I32}, {"l", AMBIT_I64}, {"u", AMBIT_U32}, {"ul", AMBIT_U64}, {"lu", AMBIT_U64}};
  char low[4] = "";

  for (int i = 0; i < 3 && s[i]; i++)
    low[i] = (char)tolower((unsigned char)s[i]);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(low, rows[i].letters)) {
      *type = rows[i].type;
      return true;
    }
  return false;
}

static const char *parse_integer(const char *s, ambit_type *type, ambit__value *value)
{
  int base = starts_hex(s) ? 16 : s[0] == '0' && s[1] ? 8 : 10;
  const char *digits = base == 16 ? s + 2 : s, *p = digits;
  uint64_t x = 0;

  for (; digit_of(*p) < (base == 8 ? 10 : base); p++) {
    if (digit_of(*p) >= base) return "has a digit that is not octal: a leading 0 means octal";
    if (x > (UINT64_MAX - (uint64_t)digit_of(*p)) / (uint64_t)base)
      return "does not fit in an unsigned long";
    x = x * (uint64_t)base + (uint64_t)digit_of(*p);
  }
  if (base == 16 && p == digits) return "has no digits after 0x";
  if (!is_suffix(p, type))
    return strstr(p, "ll") || strstr(p, "LL") ? LONG_LONG : "has invalid letters";
  if (*type == AMBIT_U32 && x > UINT32_MAX) *type = AMBIT_U64; /* as in C */
  if (*type == AMBIT_I64 && x > INT64_MAX)
    return "does not fit in a long; write UL after it to make it an unsigned long";
  if (*type == AMBIT_I32 && x > INT32_MAX)
    return x > INT64_MAX ? "does not fit in a long; write UL after it to make it an unsigned long"
                         : "does not fit in an int; write an L after it to make it a long";
  *value = ambit__value_cast((ambit__value){.integer = (int64_t)x}, AMBIT_U64, *type);
  return NULL;
}

/* ---- reals ---- */

/* Replaces '.' by the decimal point of the locale. */
static void localise(char *out, size_t size, const char *s)
{
  const char *dot = strchr(s, '.');

  if (dot)
    snprintf(out, size, "%.*s%s%s", (int)(dot - s), s, localeconv()->decimal_point, dot + 1);
  else
    snprintf(out, size, "%s", s);
}

static const char *parse_real(const char *s, ambit_type *type, ambit__value *value)
{
  char local[LONGEST + 16];
  char *end;
  double x;
  float y;

  if (starts_hex(s) && !strpbrk(s, "pP"))
    return "is a hexadecimal fraction without an exponent; append p0";
  localise(local, sizeof local, s);
  x = strtod(local, &end);
  y = strtof(local, NULL);
  *type = !strcmp(end, "f") || !strcmp(end, "F") ? AMBIT_F32 : AMBIT_F64;
  if (*end == 'l' || *end == 'L')
    return "is a long double; kernels have float (1.0f) and double (1.0)";
  if (*type == AMBIT_F64 && *end) return "is not a valid number";
  if (*type == AMBIT_F32 ? isinf(y) : isinf(x))
    return *type == AMBIT_F32 ? "is too large for a float" : "is too large for a double";
  value->real = *type == AMBIT_F32 ? y : x;
  return NULL;
}

const char *ambit__literal_parse(const char *text, size_t length, ambit_type *type,
                                 ambit__value *value)
{
  char s[LONGEST + 1];

  if (length > LONGEST) return "is too long";
  memcpy(s, text, length);
  s[length] = '\0';
  return is_real(s) ? parse_real(s, type, value) : parse_integer(s, type, value);
}

/* ---- printing ---- */

static void print_integer(ambit__text *out, int64_t x, ambit_type type)
{
  const char *suffix = type == AMBIT_I64 ? "L" : type == AMBIT_U32 ? "u" : "";

  if (type == AMBIT_U64) {
    ambit__print(out, "%" PRIu64 "uL", (uint64_t)x);
    return;
  }
  if (ambit__type_bits(type) < 32) ambit__print(out, "(%s)", ambit_type_name(type));
  /* the minimum has no literal: its digits without the sign overflow */
  if (x == (type == AMBIT_I64 ? INT64_MIN : INT32_MIN))
    ambit__print(out, "(-%" PRId64 "%s - 1)", -(x + 1), suffix);
  else
    ambit__print(out, x < 0 ? "(%" PRId64 "%s)" : "%" PRId64 "%s", x, suffix);
}

void ambit__literal_print(ambit__text *out, ambit__value value, ambit_type type)
{
  const char *suffix = type == AMBIT_F64 ? "" : "f";
  char digits[AMBIT__NUMBER_CHARS];

  if (ambit__type_is_half(type)) ambit__print(out, "(%s)", ambit_type_name(type));
  if (!ambit__type_is_real(type)) {
    print_integer(out, value.integer, type);
  } else if (isnan(value.real)) {
    ambit__print(out, "(0.0%s / 0.0%s)", suffix, suffix);
  } else if (isinf(value.real)) {
    ambit__print(out, "(%s1.0%s / 0.0%s)", value.real < 0 ? "-" : "", suffix, suffix);
  } else {
    if (type != AMBIT_F64)
      ambit__number_print_float(digits, (float)fabs(value.real));
    else
      ambit__number_print_double(digits, fabs(value.real));
    ambit__print(out, signbit(value.real) ? "(-%s%s)" : "%s%s", digits, suffix);
  }
}
