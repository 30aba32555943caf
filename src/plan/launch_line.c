/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/launch_line.h"

#include "base/integers.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { MOST_ALONG_X = 1 << 30, MOST_ALONG_YZ = 65535 }; /* limits of CUDA */
static const int64_t many = INT64_C(1) << 48;           /* more blocks than any device accepts */

void ambit__launch_line_add(ambit__launch_line *r, int along, int axis, int64_t more, int64_t per)
{
  r->factors[along][r->nfactors[along]++] = (ambit__factor){axis, more, per};
}

/* ---- printing ---- */

static void print_factor(const ambit__factor *f, ambit__text *t)
{
  if (f->axis < 0) {
    ambit__print(t, "%" PRId64, f->per);
    return;
  }
  if (f->more)
    ambit__print(t, "(n%d + %" PRId64 ")", f->axis, f->more);
  else
    ambit__print(t, "n%d", f->axis);
  if (f->per != 1) ambit__print(t, " / %" PRId64, f->per);
}

void ambit__launch_line_print(const ambit__launch_line *r, ambit__text *t)
{
  ambit__print(t, AMBIT__LAUNCH_LINE_MARK " %s %dd threads %dx%dx%d blocks", r->entry, r->ndims,
               r->threads[0], r->threads[1], r->threads[2]);
  for (int k = 0; k < 3; k++) {
    ambit__print(t, k ? ", " : " ");
    for (int i = 0; i < r->nfactors[k]; i++) {
      ambit__print(t, i ? " * " : "");
      print_factor(&r->factors[k][i], t);
    }
    if (!r->nfactors[k]) ambit__print(t, "1");
  }
  if (r->most) ambit__print(t, " at most %" PRId64, r->most);
  for (int d = 0, n = 0; d < r->ndims; d++)
    if (r->least[d]) ambit__print(t, "%s n%d >= %" PRId64, n++ ? "," : " where", d, r->least[d]);
}

/* ---- parsing ---- */

/* After the first error, nothing more is read. */
typedef struct reader {
  const char *at;
  const char *wanted; /* expected at this place; NULL: no error so far */
} reader;

static void miss(reader *r, const char *wanted)
{
  if (!r->wanted) r->wanted = wanted;
}

static bool accept(reader *r, const char *word)
{
  r->at += strspn(r->at, " \t");
  if (r->wanted || strncmp(r->at, word, strlen(word))) return false;
  r->at += strlen(word);
  return true;
}

static void expect(reader *r, const char *word)
{
  if (!accept(r, word)) miss(r, word);
}

static int64_t read_number(reader *r, int64_t least, int64_t most, const char *wanted)
{
  const char *at;
  int64_t n = 0;

  accept(r, "");
  for (at = r->at; isdigit((unsigned char)*at) && n <= most; at++)
    n = 10 * n + (*at - '0');
  if (r->wanted || at == r->at || n < least || n > most) {
    miss(r, wanted);
    return least;
  }
  r->at = at;
  return n;
}

static void read_name(reader *r, char *name, size_t size)
{
  size_t n = 0;

  accept(r, "");
  while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
    n++;
  if (n == 0 || n >= size || isdigit((unsigned char)*r->at)) {
    miss(r, "the name of the kernel");
    return;
  }
  memcpy(name, r->at, n);
  name[n] = 0;
  r->at += n;
}

static int read_axis(reader *r, int ndims)
{
  return (int)read_number(r, 0, ndims - 1, "an axis of the grid, n0 being the first");
}

static ambit__factor read_factor(reader *r, int ndims)
{
  ambit__factor f = {.axis = -1, .per = 1};
  const bool is_sum = accept(r, "(");

  if (is_sum || *r->at == 'n') {
    expect(r, "n");
    f.axis = read_axis(r, ndims);
    if (is_sum) {
      expect(r, "+");
      f.more = read_number(r, 0, INT32_MAX, "a number");
      expect(r, ")");
    }
    if (accept(r, "/")) f.per = read_number(r, 1, INT32_MAX, "a number, 1 or more");
  } else {
    f.per = read_number(r, 1, INT32_MAX, "a number of blocks, or n0, n1, ...");
  }
  return f;
}

static void read_product(reader *r, ambit__launch_line *to, int along)
{
  do {
    const ambit__factor f = read_factor(r, to->ndims);

    if (to->nfactors[along] < AMBIT_MAX_DIMS)
      ambit__launch_line_add(to, along, f.axis, f.more, f.per);
    else
      miss(r, "one factor for each axis at most");
  } while (accept(r, "*"));
}

static void read_bound(reader *r, ambit__launch_line *to)
{
  int axis;

  expect(r, "n");
  axis = read_axis(r, to->ndims);
  expect(r, ">=");
  to->least[axis] = read_number(r, 1, INT32_MAX, "a number, 1 or more");
}

/* Only blanks may follow, up to the end of the line or of the comment. */
static void read_end(reader *r)
{
  accept(r, "");
  if (*r->at && *r->at != '\n' && *r->at != '\r' && strncmp(r->at, "*/", 2) != 0)
    miss(r, "the end of the line");
}

static void read_line(reader *r, ambit__launch_line *to)
{
  *to = (ambit__launch_line){.threads = {1, 1, 1}};
  read_name(r, to->entry, sizeof to->entry);
  to->ndims = (int)read_number(r, 1, AMBIT_MAX_DIMS, "the number of dimensions, as in 2d");
  expect(r, "d");
  expect(r, "threads");
  for (int k = 0; k < 3 && (k == 0 || accept(r, "x")); k++)
    to->threads[k] = (int)read_number(r, 1, 1 << 16, "a number of threads");
  expect(r, "blocks");
  for (int k = 0; k < 3 && (k == 0 || accept(r, ",")); k++)
    read_product(r, to, k);
  if (accept(r, "at")) {
    expect(r, "most");
    to->most = read_number(r, 1, INT32_MAX, "a number of blocks, 1 or more");
  }
  for (bool more = accept(r, "where"); more; more = accept(r, ","))
    read_bound(r, to);
  read_end(r);
}

ambit_status ambit__launch_line_read(ambit__errors *errors, const char *what, const char *source,
                                     ambit__launch_line *r)
{
  const char *line = strstr(source, AMBIT__LAUNCH_LINE_MARK);
  reader from = {.at = line ? line + strlen(AMBIT__LAUNCH_LINE_MARK) : source};

  AMBIT_CHECK(line, errors, AMBIT_EINVAL,
              "%s does not say how it is launched; it needs a comment like\n"
              "  // " AMBIT__LAUNCH_LINE_MARK " NAME 2d threads 32x8 blocks n1 / 32, n0 / 8",
              what);
  read_line(&from, r);
  AMBIT_CHECK(!from.wanted, errors, AMBIT_EINVAL,
              "%s says how it is launched, but that cannot be read. In\n"
              "  %.*s\n"
              "there should be %s at '%.*s'",
              what, (int)strcspn(line, "\r\n"), line, from.wanted, (int)strcspn(from.at, " \t\r\n"),
              from.at);
  return AMBIT_OK;
}

/* ---- launching ---- */

bool ambit__launch_line_fits(const ambit__launch_line *r, const int64_t *cells)
{
  for (int d = 0; d < r->ndims; d++)
    if (cells[d] < r->least[d]) return false;
  return true;
}

/* Between 1 and `many`. */
static int64_t blocks_along(const ambit__launch_line *r, int k, const ambit__box *box)
{
  int64_t blocks = 1;

  for (int i = 0; i < r->nfactors[k]; i++) {
    const ambit__factor *f = &r->factors[k][i];
    const int64_t cells = f->axis < 0 ? 0 : box->hi[f->axis] - box->lo[f->axis];
    const int64_t n = f->axis < 0 ? f->per : (cells + f->more + f->per - 1) / f->per;

    blocks = n > many / blocks ? many : blocks * n;
  }
  return blocks;
}

/* If there are too many blocks, z is shortened first, because neighbours along x share memory. */
void ambit__launch_line_shape(const ambit__launch_line *r, const ambit__box *box,
                              ambit__shape *shape)
{
  int64_t left = r->most;

  *shape = (ambit__shape){.threads = {r->threads[0], r->threads[1], r->threads[2]}};
  for (int k = 0; k < 3; k++) {
    shape->blocks[k] = blocks_along(r, k, box);
    if (!r->most) continue;
    shape->blocks[k] =
        ambit__min64(shape->blocks[k], ambit__min64(k ? MOST_ALONG_YZ : MOST_ALONG_X, left));
    left /= shape->blocks[k];
    if (left < 1) left = 1;
  }
}
