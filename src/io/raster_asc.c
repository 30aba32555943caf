/* SPDX-License-Identifier: BSD-3-Clause */
/* raster_asc.c - ESRI ASCII grids: pairs of a key and a number, then the values, row by row.
 *
 *     ncols 4
 *     nrows 6
 *     xllcorner 0.0          (or xllcenter, yllcenter)
 *     yllcorner 0.0
 *     cellsize 50.0          (or dx and dy)
 *     NODATA_value -9999
 *     -9999 -9999 5 2 ...
 *
 * Keys may have any case and order. Blanks and line breaks separate values; those of a row need not
 * be on one line. The file is read forwards; going back begins again.
 */
#include "base/memory.h"
#include "base/number.h"
#include "io/raster.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BUFFER = 1 << 16, WORD = 64, MOST_CELLS = 1 << 30 /* along an axis */ };

typedef struct asc {
  int64_t at;        /* position of the buffer in the file */
  size_t i, n;       /* the next byte of the buffer, and their number */
  int64_t first;     /* position of the first value */
  int64_t row;       /* the next row to read */
  double low[2];     /* place of the lower left corner or cell: northing, easting; NaN: unknown */
  bool is_corner[2]; /* of the cell, not its centre */
  char buffer[BUFFER];
} asc;

static int64_t position(const asc *a)
{
  return a->at + (int64_t)a->i;
}

static void go_to(asc *a, int64_t at)
{
  a->at = at;
  a->i = a->n = 0;
}

/* Takes the next byte; -1 at the end of the file. */
static ambit_status take(ambit__raster *r, int *byte)
{
  asc *a = r->own;

  if (a->i == a->n) {
    go_to(a, position(a));
    a->n = (size_t)(r->bytes - a->at < BUFFER ? r->bytes - a->at : BUFFER);
    AMBIT_TRY(ambit__raster_get(r, a->at, a->buffer, a->n));
  }
  *byte = a->n ? (unsigned char)a->buffer[a->i++] : -1;
  return AMBIT_OK;
}

/* Takes the next word and the byte behind it; *start is its position. At the end of the file it is
 * empty. */
static ambit_status take_word(ambit__raster *r, char word[WORD], int64_t *start)
{
  size_t n = 0;
  int c;

  do
    AMBIT_TRY(take(r, &c));
  while (c >= 0 && isspace(c));
  *start = position(r->own) - 1;
  while (c >= 0 && !isspace(c)) {
    AMBIT_CHECK(c && n < WORD - 1, r->errors, AMBIT_EIO,
                "%s: the word at byte %" PRId64 " is not a number", r->path, *start);
    word[n++] = (char)c;
    AMBIT_TRY(take(r, &c));
  }
  word[n] = '\0';
  return AMBIT_OK;
}

/* A number, or nan, which is how some programs write cells without data. */
static ambit_status take_number(ambit__raster *r, const char *what, double *x)
{
  char word[WORD];
  int64_t start;

  AMBIT_TRY(take_word(r, word, &start));
  AMBIT_CHECK(*word, r->errors, AMBIT_EIO, "%s is truncated: it ends before %s", r->path, what);
  *x = NAN;
  AMBIT_CHECK(!strcasecmp(word, "nan") || ambit__number_read(word, x), r->errors, AMBIT_EIO,
              "%s: \"%s\" at byte %" PRId64 " is not a number; expected %s", r->path, word, start,
              what);
  return AMBIT_OK;
}

static ambit_status take_row(ambit__raster *r, double *values)
{
  for (int64_t x = 0; x < r->width; x++)
    AMBIT_TRY(take_number(r, "its last value", &values[x]));
  ((asc *)r->own)->row++;
  return AMBIT_OK;
}

static ambit_status read_asc(ambit__raster *r, int64_t row, double *values)
{
  asc *a = r->own;

  if (row < a->row) {
    go_to(a, a->first);
    a->row = 0;
  }
  while (a->row <= row)
    AMBIT_TRY(take_row(r, values));
  return AMBIT_OK;
}

/* ---- the header ---- */

static ambit_status set_size(const ambit__raster *r, const char *key, double x, int64_t *size)
{
  AMBIT_CHECK(x >= 1 && x <= MOST_CELLS && x == floor(x), r->errors, AMBIT_EIO,
              "%s: %s is %g; it must be a whole number from 1 to %d", r->path, key, x, MOST_CELLS);
  *size = (int64_t)x;
  return AMBIT_OK;
}

static ambit_status set_key(ambit__raster *r, const char *key, double x)
{
  asc *a = r->own;

  if (!strcasecmp(key, "ncols")) return set_size(r, key, x, &r->width);
  if (!strcasecmp(key, "nrows")) return set_size(r, key, x, &r->height);
  if (!strcasecmp(key, "cellsize")) r->spacing[0] = r->spacing[1] = x;
  if (!strcasecmp(key, "dx")) r->spacing[1] = x;
  if (!strcasecmp(key, "dy")) r->spacing[0] = x;
  if (!strcasecmp(key, "nodata_value")) r->nodata = x;
  for (int d = 0; d < 2; d++)
    if (!strncasecmp(key, d ? "xll" : "yll", 3)) {
      a->low[d] = x;
      a->is_corner[d] = !strcasecmp(key + 3, "corner");
    }
  return AMBIT_OK;
}

/* The header gives the lower left cell, and cells are counted from the upper left one. */
static void place(ambit__raster *r)
{
  const asc *a = r->own;

  for (int d = 0; d < 2; d++)
    r->origin[d] = a->low[d] + (a->is_corner[d] ? 0.5 * r->spacing[d] : 0);
  r->origin[0] += (double)(r->height - 1) * r->spacing[0];
  r->has_origin = true;
}

static bool is_key(const char *word)
{
  static const char *const keys[] = {"ncols",     "nrows",       "xllcorner", "yllcorner",
                                     "xllcenter", "yllcenter",   "cellsize",  "dx",
                                     "dy",        "nodata_value"};

  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!strcasecmp(word, keys[i])) return true;
  return false;
}

static ambit_status read_header(ambit__raster *r)
{
  asc *a = r->own;
  char key[WORD];
  double x;

  while (true) {
    AMBIT_TRY(take_word(r, key, &a->first));
    if (!is_key(key)) break;
    AMBIT_TRY(take_number(r, key, &x));
    AMBIT_TRY(set_key(r, key, x));
  }
  AMBIT_CHECK(r->width && r->height, r->errors, AMBIT_EIO,
              "%s is not an ESRI ASCII grid: its header must give ncols and nrows, and then "
              "\"%.20s\" must be a value",
              r->path, key);
  AMBIT_CHECK(r->width <= r->bytes / 2 / r->height + 1, r->errors, AMBIT_EIO,
              "%s is truncated: it has %" PRId64 " bytes, too few for %" PRId64 " rows and %" PRId64
              " columns",
              r->path, r->bytes, r->height, r->width);
  place(r);
  go_to(a, a->first);
  return AMBIT_OK;
}

static void close_asc(ambit__raster *r)
{
  free(r->own);
}

ambit_status ambit__raster_open_asc(ambit__raster *r)
{
  asc *a = ambit__new(r->errors, 1, sizeof *a);

  if (!a) return AMBIT_ENOMEM;
  a->low[0] = a->low[1] = (double)NAN;
  r->own = a;
  r->close = close_asc;
  r->read = read_asc;
  r->type = AMBIT_F64;
  r->has_nodata = true;
  r->nodata = -9999; /* unless the header gives another */
  return read_header(r);
}
