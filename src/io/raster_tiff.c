/* SPDX-License-Identifier: BSD-3-Clause */
/* raster_tiff.c - GeoTIFF without compression: the first image of the file, one sample per pixel,
 * in strips or tiles, either byte order. Other files go to libtiff.
 *
 * Of the tags, those are read that say where the values are, and two of GeoTIFF: the distance of
 * pixels, and the text of the value for missing data.
 */
#include "base/memory.h"
#include "base/number.h"
#include "io/raster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  TAG_WIDTH = 256,
  TAG_HEIGHT = 257,
  TAG_BITS = 258,
  TAG_COMPRESSION = 259,
  TAG_STRIP_OFFSETS = 273,
  TAG_SAMPLES = 277,
  TAG_ROWS_PER_STRIP = 278,
  TAG_TILE_WIDTH = 322,
  TAG_TILE_HEIGHT = 323,
  TAG_TILE_OFFSETS = 324,
  TAG_FORMAT = 339,
  TAG_PIXEL_SCALE = 33550,
  TAG_NODATA = 42113
};

enum { BYTES_BYTE = 1, ASCII = 2, BYTES_SHORT = 3, BYTES_LONG = 4, REAL = 12 }; /* types of tags */
enum { MOST_TAGS = 4096, MOST_CELLS = 1 << 30, TEXT = 64 };

/* An entry of the directory. */
typedef struct tag {
  int type;
  int64_t count; /* values; 0: the tag is absent */
  int64_t at;    /* position of the values in the file */
} tag;

typedef struct tiff {
  ambit__raster *r;
  bool big_endian;
  tag width, height, bits, compression, samples, format, scale, nodata;
  tag offsets, block_height, block_width; /* of strips or tiles */
  bool is_tiled;
} tiff;

static ambit_status get(const tiff *t, int64_t at, int bytes, int64_t *x)
{
  unsigned char raw[4];

  AMBIT_TRY(ambit__raster_get(t->r, at, raw, (size_t)bytes));
  *x = 0;
  for (int i = 0; i < bytes; i++)
    *x = *x << 8 | raw[t->big_endian ? i : bytes - 1 - i];
  return AMBIT_OK;
}

/* Value i of a tag of whole numbers; `otherwise` if the tag is absent. */
static ambit_status whole(const tiff *t, const tag *g, int64_t i, int64_t otherwise, int64_t *x)
{
  const int bytes = g->type == BYTES_BYTE ? 1 : g->type == BYTES_SHORT ? 2 : 4;

  *x = otherwise;
  if (!g->count) return AMBIT_OK;
  AMBIT_CHECK(i < g->count &&
                  (g->type == BYTES_BYTE || g->type == BYTES_SHORT || g->type == BYTES_LONG),
              t->r->errors, AMBIT_EIO, "%s is damaged: a tag has type %d and %" PRId64 " values",
              t->r->path, g->type, g->count);
  return get(t, g->at + i * bytes, bytes, x);
}

/* ---- the directory ---- */

static tag *place_of(tiff *t, int64_t number)
{
  switch (number) {
  case TAG_WIDTH: return &t->width;
  case TAG_HEIGHT: return &t->height;
  case TAG_BITS: return &t->bits;
  case TAG_COMPRESSION: return &t->compression;
  case TAG_SAMPLES: return &t->samples;
  case TAG_FORMAT: return &t->format;
  case TAG_PIXEL_SCALE: return &t->scale;
  case TAG_NODATA: return &t->nodata;
  case TAG_TILE_OFFSETS: t->is_tiled = true; return &t->offsets;
  case TAG_STRIP_OFFSETS: return &t->offsets;
  case TAG_TILE_HEIGHT:
  case TAG_ROWS_PER_STRIP: return &t->block_height;
  case TAG_TILE_WIDTH: return &t->block_width;
  }
  return NULL;
}

/* An entry: number, type, count, and the values or, if they have more than 4 bytes, their place. */
static ambit_status read_entry(tiff *t, int64_t at)
{
  static const int sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
  int64_t number, type, count, where = at + 8;
  tag *g;

  AMBIT_TRY(get(t, at, 2, &number));
  AMBIT_TRY(get(t, at + 2, 2, &type));
  AMBIT_TRY(get(t, at + 4, 4, &count));
  g = place_of(t, number);
  if (!g || type < 1 || type > 12 || !count) return AMBIT_OK;
  if (count * sizes[type] > 4) AMBIT_TRY(get(t, at + 8, 4, &where));
  *g = (tag){(int)type, count, where};
  return AMBIT_OK;
}

static ambit_status read_directory(tiff *t)
{
  int64_t at = 0, n = 0;

  AMBIT_TRY(get(t, 4, 4, &at));
  AMBIT_TRY(get(t, at, 2, &n));
  AMBIT_CHECK(n >= 1 && n <= MOST_TAGS, t->r->errors, AMBIT_EIO,
              "%s is damaged: its directory has %" PRId64 " entries", t->r->path, n);
  for (int64_t i = 0; i < n; i++)
    AMBIT_TRY(read_entry(t, at + 2 + 12 * i));
  return AMBIT_OK;
}

/* ---- GeoTIFF ---- */

static ambit_status read_scale(tiff *t)
{
  unsigned char raw[16];
  double xy[2];

  if (t->scale.count < 2 || t->scale.type != REAL) return AMBIT_OK;
  AMBIT_TRY(ambit__raster_get(t->r, t->scale.at, raw, sizeof raw));
  ambit__raster_decode(raw, 2, 'f', 64, t->big_endian, xy);
  t->r->spacing[0] = xy[1];
  t->r->spacing[1] = xy[0];
  return AMBIT_OK;
}

static ambit_status read_nodata(tiff *t)
{
  const size_t n = t->nodata.count < TEXT ? (size_t)t->nodata.count : TEXT - 1;
  char text[TEXT] = "";

  if (!n || t->nodata.type != ASCII) return AMBIT_OK;
  AMBIT_TRY(ambit__raster_get(t->r, t->nodata.at, text, n));
  text[strcspn(text, " \t\r\n")] = '\0';
  t->r->has_nodata = ambit__number_read(text, &t->r->nodata);
  return AMBIT_OK;
}

/* ---- values ---- */

/* The feature that is not plain; NULL: none. */
static ambit_status find_obstacle(const tiff *t, const char **why)
{
  int64_t compression, samples;

  AMBIT_TRY(whole(t, &t->compression, 0, 1, &compression));
  AMBIT_TRY(whole(t, &t->samples, 0, 1, &samples));
  *why = compression != 1 ? "is compressed" : samples != 1 ? "has several samples per pixel" : NULL;
  return AMBIT_OK;
}

static ambit_status read_sizes(tiff *t, ambit__raster_blocks *b)
{
  int64_t bits, format;

  AMBIT_TRY(whole(t, &t->width, 0, 0, &t->r->width));
  AMBIT_TRY(whole(t, &t->height, 0, 0, &t->r->height));
  AMBIT_TRY(whole(t, &t->bits, 0, 1, &bits));
  AMBIT_TRY(whole(t, &t->format, 0, 1, &format));
  AMBIT_TRY(whole(t, &t->block_height, 0, t->r->height, &b->height));
  AMBIT_TRY(whole(t, &t->block_width, 0, t->r->width, &b->width));
  AMBIT_CHECK(t->r->width >= 1 && t->r->width <= MOST_CELLS && t->r->height >= 1 &&
                  t->r->height <= MOST_CELLS && b->width >= 1 && b->height >= 1,
              t->r->errors, AMBIT_EIO,
              "%s is damaged: it has %" PRId64 " x %" PRId64 " pixels in blocks of %" PRId64
              " x %" PRId64,
              t->r->path, t->r->height, t->r->width, b->height, b->width);
  if (b->height > t->r->height) b->height = t->r->height; /* one strip, of any height */
  if (!t->is_tiled) b->width = t->r->width;
  b->across = (t->r->width + b->width - 1) / b->width;
  b->bits = (int)bits;
  b->kind = format == 1 ? 'u' : format == 2 ? 'i' : format == 3 ? 'f' : '?';
  b->big_endian = t->big_endian;
  return AMBIT_OK;
}

static ambit_status read_offsets(tiff *t, ambit__raster_blocks *b)
{
  const int64_t n = (t->r->height + b->height - 1) / b->height * b->across;

  AMBIT_CHECK(t->offsets.count >= n && n <= t->r->bytes, t->r->errors, AMBIT_EIO,
              "%s is damaged: it has the places of %" PRId64 " of its %" PRId64 " blocks",
              t->r->path, t->offsets.count, n);
  b->at = ambit__new(t->r->errors, (size_t)n, sizeof *b->at);
  if (!b->at) return AMBIT_ENOMEM;
  for (int64_t i = 0; i < n; i++)
    AMBIT_TRY(whole(t, &t->offsets, i, 0, &b->at[i]));
  return AMBIT_OK;
}

/* A tile at the lower edge has all its rows in the file, but those outside are not read. */
static ambit_status use_blocks(tiff *t)
{
  ambit__raster_blocks b = {0};
  ambit_status s = read_sizes(t, &b);

  if (!s) s = read_offsets(t, &b);
  if (!s) return ambit__raster_use_blocks(t->r, &b);
  free(b.at);
  return s;
}

ambit_status ambit__raster_open_tiff(ambit__raster *r)
{
  tiff t = {.r = r};
  const char *why = NULL;
  unsigned char head[4];

  AMBIT_TRY(ambit__raster_get(r, 0, head, sizeof head));
  t.big_endian = !memcmp(head, "MM\0*", 4);
  if (!memcmp(head, "II+\0", 4) || !memcmp(head, "MM\0+", 4))
    return ambit__raster_open_libtiff(r, "is a BigTIFF");
  AMBIT_CHECK(t.big_endian || !memcmp(head, "II*\0", 4), r->errors, AMBIT_EIO,
              "%s is not a TIFF file: it begins with neither II*\\0 nor MM\\0*", r->path);
  AMBIT_TRY(read_directory(&t));
  AMBIT_TRY(find_obstacle(&t, &why));
  if (why) return ambit__raster_open_libtiff(r, why);
  AMBIT_TRY(read_scale(&t));
  AMBIT_TRY(read_nodata(&t));
  return use_blocks(&t);
}
