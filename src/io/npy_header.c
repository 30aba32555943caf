/* SPDX-License-Identifier: BSD-3-Clause */
/* Files are untrusted: the parser accepts exactly the dictionary that NumPy writes, with keys in
 * any order, and checks every value before use. */
#include "io/npy.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
  IS_LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, /* values here */
  ALIGN = 64,
  PREFIX = 10, /* magic, version, length: 6 + 2 + 2 bytes */
  DESCR_CHARS = 16,
  MOST_VALUES = 1 << 16 /* of a record */
};

static const struct {
  const char *name; /* NumPy's type name, without the byte order */
  ambit_type type;
} types[] = {{"f4", AMBIT_F32}, {"f8", AMBIT_F64}, {"i4", AMBIT_I32}, {"u1", AMBIT_U8},
             {"i2", AMBIT_I16}, {"i8", AMBIT_I64}, {"b1", AMBIT_U8},  {"f2", AMBIT_F16},
             {"u2", AMBIT_U16}, {"u4", AMBIT_U32}, {"u8", AMBIT_U64}};
enum { NTYPES = sizeof types / sizeof *types };

bool ambit__npy_measure(ambit__npy_info *info)
{
  info->bytes = ambit_type_size(info->type); /* of an element, a value or a record */
  if (info->axes)
    info->bytes = (size_t)info->axes * sizeof(int64_t) + (size_t)info->values * info->bytes;
  for (int d = 0; d < info->ndims; d++)
    if (info->shape[d] < 0 || (uint64_t)info->shape[d] > SIZE_MAX / 2 ||
        !ambit__mul_size(info->bytes, (size_t)info->shape[d], &info->bytes))
      return false;
  return info->bytes <= SIZE_MAX / 2;
}

/* ---- writing ---- */

static const char *type_name(ambit_type type)
{
  int i = 0;

  while (types[i].type != type)
    i++;
  return types[i].name;
}

static size_t print_descr(const ambit__npy_info *info, char *out)
{
  const char order = IS_LITTLE ? '<' : '>';
  size_t n = 0;

  if (info->axes)
    n = (size_t)sprintf(out, "[('index', '%ci8', (%d,)), ('value', ", order, info->axes);
  n += (size_t)sprintf(out + n, "'%c%s'", ambit_type_size(info->type) == 1 ? '|' : order,
                       type_name(info->type));
  if (info->values > 1) n += (size_t)sprintf(out + n, ", (%d,)", info->values);
  if (info->axes) n += (size_t)sprintf(out + n, ")]");
  return n;
}

size_t ambit__npy_make_header(const ambit__npy_info *info, char out[AMBIT__NPY_HEADER_BYTES])
{
  size_t n = PREFIX, total;

  n += (size_t)sprintf(out + n, "{'descr': ");
  n += print_descr(info, out + n);
  n += (size_t)sprintf(out + n, ", 'fortran_order': False, 'shape': (");
  for (int d = 0; d < info->ndims; d++)
    n += (size_t)sprintf(out + n, "%s%lld%s", d ? " " : "", (long long)info->shape[d],
                         d + 1 < info->ndims || info->ndims == 1 ? "," : "");
  n += (size_t)sprintf(out + n, "), }");
  total = (n + 1 + ALIGN - 1) / ALIGN * ALIGN;
  memset(out + n, ' ', total - n - 1);
  out[total - 1] = '\n';
  memcpy(out, "\x93NUMPY\x01\x00", 8);
  out[8] = (char)((total - PREFIX) & 0xff);
  out[9] = (char)((total - PREFIX) >> 8);
  return total;
}

/* ---- reading ---- */

typedef struct scan {
  ambit__errors *errors;
  const char *path;
  const char *at; /* the next character */
  ambit__npy_info *info;
  bool has_descr, has_order, has_shape; /* seen */
  bool fortran;
} scan;

static ambit_status broken(const scan *s, const char *what)
{
  return ambit__raise(s->errors, AMBIT_EIO, "%s: invalid NumPy header: %s at \"%.20s\"", s->path,
                      what, s->at);
}

static void skip_blanks(scan *s)
{
  s->at += strspn(s->at, " \t\n\r");
}

/* Skips blanks and accepts the character c. */
static bool take(scan *s, char c)
{
  skip_blanks(s);
  if (!c || *s->at != c) return false;
  s->at++;
  return true;
}

static bool take_word(scan *s, const char *word)
{
  size_t n = strlen(word);

  skip_blanks(s);
  if (strncmp(s->at, word, n)) return false;
  s->at += n;
  return true;
}

/* string: ' characters ' or " characters " */
static ambit_status take_string(scan *s, char *out, size_t size)
{
  char quote;
  size_t n;

  skip_blanks(s);
  quote = *s->at;
  if (quote != '\'' && quote != '"') return broken(s, "expected a string");
  n = strcspn(s->at + 1, quote == '"' ? "\"" : "'");
  if (s->at[1 + n] != quote || n >= size) return broken(s, "a string is not closed or too long");
  memcpy(out, s->at + 1, n);
  out[n] = '\0';
  s->at += n + 2;
  return AMBIT_OK;
}

static ambit_status read_size(scan *s, int64_t *out)
{
  const char *start;

  skip_blanks(s);
  start = s->at;
  for (*out = 0; *s->at >= '0' && *s->at <= '9'; s->at++) {
    int digit = *s->at - '0';

    if (*out > (INT64_MAX - digit) / 10) return broken(s, "a size is too large");
    *out = 10 * *out + digit;
  }
  if (s->at == start) return broken(s, "expected a size");
  if (*s->at == 'L') s->at++; /* suffix of Python 2 */
  return AMBIT_OK;
}

/* The name of a type: '<f4'. */
static ambit_status read_type(scan *s)
{
  char descr[DESCR_CHARS], names[4 * NTYPES + 1] = "";

  AMBIT_TRY(take_string(s, descr, sizeof descr));
  for (int i = 0; i < NTYPES; i++) {
    if (!descr[0] || !strchr("<>|=", descr[0]) || strcmp(descr + 1, types[i].name)) continue;
    s->info->type = types[i].type;
    s->info->swapped = ambit_type_size(types[i].type) > 1 && descr[0] == (IS_LITTLE ? '>' : '<');
    return AMBIT_OK;
  }
  for (int i = 0; i < NTYPES; i++)
    strcat(strcat(names, i ? ", " : ""), types[i].name);
  return ambit__raise(s->errors, AMBIT_EIO,
                      "%s has the type '%s'; Ambit reads %s: convert it, for example with "
                      "array.astype('f4')",
                      s->path, descr, names);
}

/* count: nothing, or ", (" size ",)" */
static ambit_status read_count(scan *s, int *count)
{
  int64_t n = 1;

  if (take(s, ',')) {
    if (!take(s, '(')) return broken(s, "expected a shape in parentheses");
    AMBIT_TRY(read_size(s, &n));
    take(s, ',');
    if (!take(s, ')')) return broken(s, "expected one size");
  }
  AMBIT_CHECK(n >= 1 && n <= MOST_VALUES, s->errors, AMBIT_EIO,
              "%s has records of %lld values; there must be 1 to %d", s->path, (long long)n,
              MOST_VALUES);
  *count = (int)n;
  return AMBIT_OK;
}

/* member: "('name', " type count ")" */
static ambit_status read_member(scan *s, const char *name, int *count)
{
  char word[DESCR_CHARS] = "";

  if (take(s, '(') && (*s->at == '\'' || *s->at == '"'))
    AMBIT_TRY(take_string(s, word, sizeof word));
  AMBIT_CHECK(!strcmp(word, name) && take(s, ','), s->errors, AMBIT_EIO,
              "%s holds records; Ambit reads plain numbers, or records of an 'index' of i8 and a "
              "'value': save one member with numpy.save(file, array['name'])",
              s->path);
  AMBIT_TRY(read_type(s));
  AMBIT_CHECK(!s->info->swapped, s->errors, AMBIT_EIO,
              "%s holds records in the other byte order: convert them with "
              "array.astype(array.dtype.newbyteorder('='))",
              s->path);
  AMBIT_TRY(read_count(s, count));
  if (!take(s, ')')) return broken(s, "expected a parenthesis");
  return AMBIT_OK;
}

/* A list of cells. */
static ambit_status read_records(scan *s)
{
  AMBIT_TRY(read_member(s, "index", &s->info->axes));
  AMBIT_CHECK(s->info->type == AMBIT_I64 && s->info->axes <= AMBIT_MAX_DIMS, s->errors, AMBIT_EIO,
              "%s: the index of a cell must be 1 to %d numbers of the type i8", s->path,
              AMBIT_MAX_DIMS);
  if (!take(s, ',')) return broken(s, "expected a comma");
  AMBIT_TRY(read_member(s, "value", &s->info->values));
  take(s, ',');
  if (!take(s, ']')) return broken(s, "expected the end of a record");
  return AMBIT_OK;
}

static ambit_status read_order(scan *s)
{
  s->fortran = take_word(s, "True");
  if (!s->fortran && !take_word(s, "False")) return broken(s, "expected True or False");
  return AMBIT_OK;
}

/* shape: "(" ( size "," )* size? ")" */
static ambit_status read_shape(scan *s)
{
  int n = 0;

  if (!take(s, '(')) return broken(s, "expected a shape in parentheses");
  while (!take(s, ')')) {
    AMBIT_CHECK(n < AMBIT__NPY_DIMS, s->errors, AMBIT_EIO,
                "%s has more than %d dimensions; a grid has at most %d, and components one more",
                s->path, AMBIT__NPY_DIMS, AMBIT_MAX_DIMS);
    AMBIT_TRY(read_size(s, &s->info->shape[n++]));
    skip_blanks(s);
    if (!take(s, ',') && *s->at != ')') return broken(s, "expected a comma");
  }
  s->info->ndims = n;
  return AMBIT_OK;
}

/* pair: string ":" value */
static ambit_status read_pair(scan *s)
{
  char key[DESCR_CHARS];
  bool *seen;

  AMBIT_TRY(take_string(s, key, sizeof key));
  if (!take(s, ':')) return broken(s, "expected a colon");
  seen = !strcmp(key, "descr")           ? &s->has_descr
         : !strcmp(key, "fortran_order") ? &s->has_order
         : !strcmp(key, "shape")         ? &s->has_shape
                                         : NULL;
  if (!seen) return broken(s, "unknown key");
  if (*seen) return broken(s, "duplicate key");
  *seen = true;
  if (seen == &s->has_descr) return take(s, '[') ? read_records(s) : read_type(s);
  return seen == &s->has_order ? read_order(s) : read_shape(s);
}

/* dictionary: "{" ( pair "," )* pair? "}" */
static ambit_status read_dictionary(scan *s)
{
  if (!take(s, '{')) return broken(s, "expected a dictionary");
  while (!take(s, '}')) {
    AMBIT_TRY(read_pair(s));
    skip_blanks(s);
    if (!take(s, ',') && *s->at != '}') return broken(s, "expected a comma");
  }
  if (!s->has_descr || !s->has_order || !s->has_shape)
    return broken(s, "descr, fortran_order or shape is missing");
  return AMBIT_OK;
}

ambit_status ambit__npy_parse_header(ambit__errors *errors, const char *path, const char *text,
                                     ambit__npy_info *info)
{
  scan s = {.errors = errors, .path = path, .at = text, .info = info};

  AMBIT_TRY(read_dictionary(&s));
  AMBIT_CHECK(!s.fortran || info->ndims < 2, errors, AMBIT_EIO,
              "%s is in Fortran order; Ambit reads C (row-major) order: convert it with "
              "numpy.ascontiguousarray(array)",
              path);
  AMBIT_CHECK(!info->axes || info->ndims == 1, errors, AMBIT_EIO,
              "%s: records of cells must be an array of one dimension", path);
  AMBIT_CHECK(ambit__npy_measure(info), errors, AMBIT_EIO,
              "%s: the product of the sizes in the header exceeds memory", path);
  return AMBIT_OK;
}
