/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c - sizes, types, boundaries and numbers in the user's notation.
 */
#include "values.h"

#include "base/spell.h"

#include "base/number.h"
#include "grid/boundary.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CELLS (INT64_C(1) << 48)

/* ---- sizes ---- */

/* Reads digits; returns the rest, or NULL if there are none or too many. */
static const char *read_digits(const char *text, int64_t *n)
{
  char *end;

  if (!isdigit((unsigned char)*text)) return NULL;
  errno = 0;
  *n = strtoll(text, &end, 10);
  return errno ? NULL : end;
}

/* "64" or "64^3": one or more axes. Returns the rest. */
static const char *read_term(const char *text, tool_size *size)
{
  int64_t n, times = 1;

  text = read_digits(text, &n);
  if (text && *text == '^') text = read_digits(text + 1, &times);
  if (!text || times < 1 || size->ndims + times > AMBIT_MAX_DIMS) return NULL;
  while (times--)
    size->extents[size->ndims++] = n;
  return text;
}

int tool_read_size(const tool_args *a, const char *text, tool_size *size)
{
  const char *at = text;
  int64_t cells = 1;

  size->ndims = 0;
  do
    at = read_term(at + (at != text), size);
  while (at && *at == 'x');
  if (!at || *at)
    return tool_wrong(
        a,
        "invalid size '%s'; write one number for each of 1 to %d axes, as 64x64, or 64^2 for short",
        text, AMBIT_MAX_DIMS);
  for (int d = 0; d < size->ndims; d++) {
    if (size->extents[d] < 1)
      return tool_wrong(a, "the size '%s' has no cells along axis %d; it must be at least 1", text,
                        d);
    if (size->extents[d] > MOST_CELLS / cells)
      return tool_wrong(a, "the size '%s' has too many cells", text);
    cells *= size->extents[d];
  }
  return TOOL_OK;
}

void tool_print_size(const tool_size *size, char text[TOOL_SIZE_CHARS])
{
  size_t at = 0;

  text[0] = '\0';
  for (int d = 0; d < size->ndims; d++)
    at += (size_t)snprintf(text + at, TOOL_SIZE_CHARS - at, "%s%" PRId64, d ? "x" : "",
                           size->extents[d]);
}

/* ---- types ---- */

/* The names of the kernel language, then common abbreviations. */
static const struct {
  const char *name;
  ambit_type type;
} types[] = {
    {"float", AMBIT_F32},
    {"double", AMBIT_F64},
    {"int", AMBIT_I32},
    {"unsigned char", AMBIT_U8},
    {"short", AMBIT_I16},
    {"long", AMBIT_I64},
    {"f32", AMBIT_F32},
    {"f64", AMBIT_F64},
    {"i32", AMBIT_I32},
    {"u8", AMBIT_U8},
    {"i16", AMBIT_I16},
    {"i64", AMBIT_I64},
    {"uchar", AMBIT_U8},
    {"half", AMBIT_F16},
    {"f16", AMBIT_F16},
    {"bfloat", AMBIT_BF16},
    {"bf16", AMBIT_BF16},
    {"u16", AMBIT_U16},
    {"u32", AMBIT_U32},
    {"u64", AMBIT_U64},
    {"unsigned short", AMBIT_U16},
    {"unsigned", AMBIT_U32},
    {"unsigned long", AMBIT_U64},
};

static int find_type(const char *word)
{
  for (int i = 0; i < (int)(sizeof types / sizeof *types); i++)
    if (!strcmp(types[i].name, word)) return i;
  return -1;
}

bool tool_is_type(const char *word)
{
  return find_type(word) >= 0;
}

int tool_read_type(const tool_args *a, const char *text, ambit_type *type)
{
  int i = find_type(text);

  if (i < 0)
    return tool_wrong(
        a,
        "unknown type '%s'; the types are float, double, int, 'unsigned char', short, "
        "long, half and bfloat (or f32, f64, i32, u8, i16, i64, f16, bf16)",
        text);
  *type = types[i].type;
  return TOOL_OK;
}

/* ---- boundaries ---- */

bool tool_is_boundary(const char *word)
{
  ambit_boundary kind;

  return ambit__boundary_find(word, strcspn(word, "=,/"), &kind) && kind != AMBIT_NONE;
}

static int wrong_boundary(const tool_args *a, const char *word)
{
  ambit__guess guess = ambit__guess_start(word);

  for (ambit_boundary k = AMBIT_CONSTANT; k <= AMBIT_NEUMANN; k++)
    ambit__guess_offer(&guess, ambit__boundary_name(k));
  return tool_wrong(a,
                    "unknown boundary '%s'%s%s%s The boundaries are fixed, periodic, reflect, "
                    "symmetric, antisymmetric, clamp, constant=VALUE, dirichlet=VALUE and "
                    "neumann=VALUE",
                    word, guess.best ? "; did you mean '" : "", guess.best ? guess.best : "",
                    guess.best ? "'?" : ".");
}

/* One entry of the list, "periodic" or "constant=1.5". */
static int read_one_boundary(const tool_args *a, const char *word, ambit_boundary *kind,
                             double *value)
{
  size_t length = strcspn(word, "=");
  bool takes;

  *value = 0;
  if (!tool_is_boundary(word) || !ambit__boundary_find(word, length, kind))
    return wrong_boundary(a, word);
  takes = *kind == AMBIT_CONSTANT || *kind == AMBIT_DIRICHLET || *kind == AMBIT_NEUMANN;
  if (!takes && word[length])
    return tool_wrong(a, "the boundary '%.*s' takes no value, but '%s' was given", (int)length,
                      word, word);
  if (takes && (!word[length] || !ambit__number_read(word + length + 1, value)))
    return tool_wrong(a, "the boundary '%.*s' needs a number: %.*s=0.5, not '%s'", (int)length,
                      word, (int)length, word, word);
  return TOOL_OK;
}

/* Those of an axis: "reflect" for both faces, or "reflect/symmetric". */
static int read_axis(const tool_args *a, const char *text, size_t length, ambit_boundary kind[2],
                     double value[2])
{
  char *low = strndup(text, length), *slash = low ? strchr(low, '/') : NULL;
  int code = low ? TOOL_OK : TOOL_FAILED;

  if (slash) *slash = '\0';
  if (!code) code = read_one_boundary(a, low, &kind[0], &value[0]);
  if (!code) code = read_one_boundary(a, slash ? slash + 1 : low, &kind[1], &value[1]);
  free(low);
  if (!code && (kind[0] == AMBIT_PERIODIC) != (kind[1] == AMBIT_PERIODIC))
    return tool_wrong(a,
                      "the boundary '%.*s' is periodic on one face only; an axis is periodic on "
                      "both",
                      (int)length, text);
  return code;
}

int tool_read_boundaries(const tool_args *a, const char *text, tool_boundaries *b)
{
  int code;

  b->n = 0;
  do {
    size_t length = strcspn(text, ",");

    if (b->n == AMBIT_MAX_DIMS)
      return tool_wrong(a, "more than %d boundaries; give one per axis", AMBIT_MAX_DIMS);
    if ((code = read_axis(a, text, length, b->kind[b->n], b->value[b->n]))) return code;
    b->n++;
    text += length;
  } while (*text++ == ',');
  return TOOL_OK;
}

/* ---- numbers ---- */

int tool_read_count(const tool_args *a, const char *text, int64_t least, int64_t most,
                    int64_t *count)
{
  const char *end = read_digits(text, count);

  if (!end || *end || *count < least || *count > most)
    return tool_wrong(a, "%s is '%s'; it must be an integer from %" PRId64 " to %" PRId64,
                      a->option, text, least, most);
  return TOOL_OK;
}

/* Copies a name of `length` characters; false if it is not a name. */
static bool copy_name(char name[TOOL_NAME_CHARS], const char *text, size_t length)
{
  if (!length || length >= TOOL_NAME_CHARS) return false;
  for (size_t i = 0; i < length; i++)
    if (!isalnum((unsigned char)text[i]) && text[i] != '_') return false;
  memcpy(name, text, length);
  name[length] = '\0';
  return true;
}

int tool_read_setting(const tool_args *a, const char *text, tool_setting *setting)
{
  size_t length = strcspn(text, "=");

  if (!copy_name(setting->name, text, length) || !text[length] ||
      !ambit__number_read(text + length + 1, &setting->value))
    return tool_wrong(a, "invalid setting '%s'; write a parameter and a number, as k=0.2", text);
  return TOOL_OK;
}

/* The condition that a text begins with, and its length. */
static ambit_condition condition_of(const char *text, size_t *length)
{
  static const struct {
    const char *sign;
    ambit_condition when;
  } signs[] = {{"<=", AMBIT_AT_MOST}, {">=", AMBIT_AT_LEAST}, {"==", AMBIT_EQUAL},
               {"<", AMBIT_BELOW},    {">", AMBIT_ABOVE},     {"=", AMBIT_EQUAL}};

  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    *length = strlen(signs[i].sign);
    if (!strncmp(text, signs[i].sign, *length)) return signs[i].when;
  }
  *length = 0;
  return AMBIT_EQUAL;
}

int tool_read_until(const tool_args *a, const char *text, tool_until *until)
{
  size_t length = strcspn(text, "<>=");
  const char *value = text + length;
  size_t sign;

  until->text = text;
  until->when = condition_of(value, &sign);
  value += sign;
  if (!copy_name(until->name, text, length) || !ambit__number_read(value, &until->value))
    return tool_wrong(
        a,
        "invalid condition '%s'; write a reduction of the kernel, <, <=, >, >= or =, and a number",
        text);
  return TOOL_OK;
}
