/* SPDX-License-Identifier: BSD-3-Clause */
/* raster_tiff.c - TIFF and BigTIFF without compression: the first image of the file, one sample per
 * pixel, in strips or tiles, either byte order. libtiff decodes other files.
 */
#include "base/memory.h"
#include "io/tiff.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of tags, and their places. */
enum { TAG_TILE_OFFSETS = 324 };
static const struct {
  int64_t number;
  size_t at;
} places[] = {
    {256, offsetof(ambit__tiff, width)},
    {257, offsetof(ambit__tiff, height)},
    {258, offsetof(ambit__tiff, bits)},
    {259, offsetof(ambit__tiff, compression)},
    {273, offsetof(ambit__tiff, offsets)}, /* of strips */
    {277, offsetof(ambit__tiff, samples)},
    {278, offsetof(ambit__tiff, block_height)},
    {322, offsetof(ambit__tiff, block_width)},
    {323, offsetof(ambit__tiff, block_height)},
    {TAG_TILE_OFFSETS, offsetof(ambit__tiff, offsets)},
    {339, offsetof(ambit__tiff, format)},
    {33550, offsetof(ambit__tiff, scale)},
    {33922, offsetof(ambit__tiff, tie)},
    {34264, offsetof(ambit__tiff, transform)},
    {34735, offsetof(ambit__tiff, keys)},
    {42113, offsetof(ambit__tiff, nodata)},
};

/* Types of tags, and the bytes of their values: 0 for those that Ambit does not read. */
enum { BYTES_BYTE = 1, ASCII = 2, BYTES_SHORT = 3, BYTES_LONG = 4, FLOAT = 11, DOUBLE = 12 };
enum { BYTES_LONG8 = 16, TYPES = 19 };
static const int sizes[TYPES] = {
    [BYTES_BYTE] = 1, [ASCII] = 1,  [BYTES_SHORT] = 2, [BYTES_LONG] = 4,
    [FLOAT] = 4,      [DOUBLE] = 8, [BYTES_LONG8] = 8};

enum { MOST_TAGS = 4096, MOST_CELLS = 1 << 30, MOST_REALS = 16 };

static ambit_status get(const ambit__tiff *t, int64_t at, int bytes, int64_t *x)
{
  unsigned char raw[8];
  uint64_t u = 0;

  AMBIT_TRY(ambit__raster_get(t->r, at, raw, (size_t)bytes));
  for (int i = 0; i < bytes; i++)
    u = u << 8 | raw[t->big_endian ? i : bytes - 1 - i];
  *x = u > INT64_MAX ? INT64_MAX : (int64_t)u; /* behind the end of any file */
  return AMBIT_OK;
}

ambit_status ambit__tiff_whole(const ambit__tiff *t, const ambit__tag *g, int64_t i,
                               int64_t otherwise, int64_t *x)
{
  *x = otherwise;
  if (!g->count) return AMBIT_OK;
  AMBIT_CHECK(i < g->count && (g->type == BYTES_BYTE || g->type == BYTES_SHORT ||
                               g->type == BYTES_LONG || g->type == BYTES_LONG8),
              t->r->errors, AMBIT_EIO, "%s is damaged: a tag has type %d and %" PRId64 " values",
              t->r->path, g->type, g->count);
  return get(t, g->at + i * sizes[g->type], sizes[g->type], x);
}

ambit_status ambit__tiff_reals(const ambit__tiff *t, const ambit__tag *g, int n, double *x,
                               bool *has)
{
  unsigned char raw[MOST_REALS * 8];

  *has = g->count >= n && (g->type == FLOAT || g->type == DOUBLE);
  if (!*has) return AMBIT_OK;
  AMBIT_TRY(ambit__raster_get(t->r, g->at, raw, (size_t)(n * sizes[g->type])));
  ambit__raster_decode(raw, n, 'f', 8 * sizes[g->type], t->big_endian, x);
  return AMBIT_OK;
}

ambit_status ambit__tiff_text(const ambit__tiff *t, const ambit__tag *g, char *text, size_t size)
{
  const size_t n = (size_t)g->count < size ? (size_t)g->count : size - 1;

  memset(text, 0, size);
  return g->type == ASCII ? ambit__raster_get(t->r, g->at, text, n) : AMBIT_OK;
}

/* ---- the directory ---- */

static ambit__tag *place_of(ambit__tiff *t, int64_t number)
{
  t->is_tiled |= number == TAG_TILE_OFFSETS;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (places[i].number == number) return (ambit__tag *)(void *)((char *)t + places[i].at);
  return NULL;
}

/* An entry: number, type, count, and the values or, if they have more bytes than a position, their
 * place. */
static ambit_status read_entry(ambit__tiff *t, int64_t at)
{
  const int word = t->is_big ? 8 : 4;
  int64_t number, type, count, where = at + 4 + word;
  ambit__tag *g;

  AMBIT_TRY(get(t, at, 2, &number));
  AMBIT_TRY(get(t, at + 2, 2, &type));
  AMBIT_TRY(get(t, at + 4, word, &count));
  g = place_of(t, number);
  if (!g || !count || type >= TYPES || !sizes[type]) return AMBIT_OK;
  AMBIT_CHECK(count <= t->r->bytes / sizes[type], t->r->errors, AMBIT_EIO,
              "%s is damaged: its tag %" PRId64 " has %" PRId64 " values", t->r->path, number,
              count);
  if (count * sizes[type] > word) AMBIT_TRY(get(t, where, word, &where));
  *g = (ambit__tag){(int)type, count, where};
  return AMBIT_OK;
}

/* BigTIFF: 8 bytes for positions and numbers of values and tags, which is noted in the file. */
static ambit_status read_directory(ambit__tiff *t)
{
  const int word = t->is_big ? 8 : 4, numbers = t->is_big ? 8 : 2;
  int64_t at = 0, n = 0, size = 8;

  if (t->is_big) AMBIT_TRY(get(t, 4, 2, &size));
  AMBIT_CHECK(size == 8, t->r->errors, AMBIT_EIO,
              "%s is damaged: a BigTIFF with positions of %" PRId64 " bytes", t->r->path, size);
  AMBIT_TRY(get(t, word, word, &at));
  AMBIT_TRY(get(t, at, numbers, &n));
  AMBIT_CHECK(n >= 1 && n <= MOST_TAGS, t->r->errors, AMBIT_EIO,
              "%s is damaged: its directory has %" PRId64 " entries", t->r->path, n);
  for (int64_t i = 0; i < n; i++)
    AMBIT_TRY(read_entry(t, at + numbers + (4 + 2 * word) * i));
  return AMBIT_OK;
}

/* ---- values ---- */

/* The feature that is not plain; NULL: none. */
static ambit_status find_obstacle(const ambit__tiff *t, const char **why)
{
  int64_t compression, samples;

  AMBIT_TRY(ambit__tiff_whole(t, &t->compression, 0, 1, &compression));
  AMBIT_TRY(ambit__tiff_whole(t, &t->samples, 0, 1, &samples));
  *why = compression != 1 ? "is compressed" : samples != 1 ? "has several samples per pixel" : NULL;
  return AMBIT_OK;
}

static ambit_status read_sizes(ambit__tiff *t, ambit__raster_blocks *b)
{
  int64_t bits, format;

  AMBIT_TRY(ambit__tiff_whole(t, &t->width, 0, 0, &t->r->width));
  AMBIT_TRY(ambit__tiff_whole(t, &t->height, 0, 0, &t->r->height));
  AMBIT_TRY(ambit__tiff_whole(t, &t->bits, 0, 1, &bits));
  AMBIT_TRY(ambit__tiff_whole(t, &t->format, 0, 1, &format));
  AMBIT_TRY(ambit__tiff_whole(t, &t->block_height, 0, t->r->height, &b->height));
  AMBIT_TRY(ambit__tiff_whole(t, &t->block_width, 0, t->r->width, &b->width));
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

static ambit_status read_offsets(ambit__tiff *t, ambit__raster_blocks *b)
{
  const int64_t n = (t->r->height + b->height - 1) / b->height * b->across;

  AMBIT_CHECK(t->offsets.count >= n && n <= t->r->bytes, t->r->errors, AMBIT_EIO,
              "%s is damaged: it has the places of %" PRId64 " of its %" PRId64 " blocks",
              t->r->path, t->offsets.count, n);
  AMBIT_NEW(t->r->errors, b->at, (size_t)n);
  for (int64_t i = 0; i < n; i++)
    AMBIT_TRY(ambit__tiff_whole(t, &t->offsets, i, 0, &b->at[i]));
  return AMBIT_OK;
}

/* A tile at the lower edge has all its rows in the file, but those outside are not read. */
static ambit_status use_blocks(ambit__tiff *t)
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
  ambit__tiff t = {.r = r};
  const char *why = NULL;
  unsigned char head[4];

  AMBIT_TRY(ambit__raster_get(r, 0, head, sizeof head));
  t.is_big = !memcmp(head, "II+\0", 4) || !memcmp(head, "MM\0+", 4);
  t.big_endian = head[0] == 'M';
  AMBIT_CHECK(t.is_big || !memcmp(head, "MM\0*", 4) || !memcmp(head, "II*\0", 4), r->errors,
              AMBIT_EIO, "%s is not a TIFF file: it begins with neither II*\\0 nor MM\\0*",
              r->path);
  AMBIT_TRY(read_directory(&t));
  AMBIT_TRY(find_obstacle(&t, &why));
  AMBIT_TRY(ambit__tiff_geography(&t));
  return why ? ambit__raster_open_libtiff(r, why) : use_blocks(&t);
}
