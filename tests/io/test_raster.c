/* SPDX-License-Identifier: BSD-3-Clause */
/* Elevation files: every format gives the same values, and damaged files are refused. */
#define _XOPEN_SOURCE 700

#include "base/memory.h"
#include "io/raster.h"
#include "support/folder.h"
#include "support/told.h"

#ifdef AMBIT_HAVE_TIFF
#  include <tiffio.h>
#endif

static const char *make_file(const char *name, const void *bytes, size_t n)
{
  const char *path = folder_path(name);
  FILE *out = fopen(path, "wb");

  CHECK(out && fwrite(bytes, 1, n, out) == n);
  if (out) fclose(out);
  return path;
}

static ambit__raster *open_raster(const char *path)
{
  ambit__raster *r;

  ambit__raster_open(&errors, path, ambit__raster_format_of(path), &r);
  return r;
}

static void refused(const char *path, ambit_status want, const char *words)
{
  CHECK(!open_raster(path));
  told(want, words);
}

/* A raster of these values, row after row, also when read backwards. */
static void check_values(const char *path, int64_t height, int64_t width, const double *want)
{
  ambit__raster *r = open_raster(path);
  double row[64];

  CHECK_MSG(r, "%s: %s", path, errors.text);
  if (!r) return ambit__errors_clear(&errors);
  CHECK_EQ(height, r->height);
  CHECK_EQ(width, r->width);
  for (int64_t pass = 0; pass < 2; pass++)
    for (int64_t i = 0; i < height; i++) {
      const int64_t y = pass ? height - 1 - i : i;

      CHECK_EQ(AMBIT_OK, ambit__raster_row(r, y, row));
      for (int64_t x = 0; x < width; x++)
        CHECK_MSG(row[x] == want[y * width + x], "%s[%d][%d] is %g, not %g", path, (int)y, (int)x,
                  row[x], want[y * width + x]);
    }
  ambit__raster_close(r);
}

/* ---- SRTM ---- */

static void check_srtm_name(const char *name, const void *bytes, bool known, double north,
                            double west)
{
  ambit__raster *r = open_raster(make_file(name, bytes, (size_t)2 * 1201 * 1201));

  CHECK_MSG(r && r->unit == AMBIT_DEGREES && r->has_origin == known && r->origin[0] == north &&
                r->origin[1] == west,
            "%s", name);
  ambit__raster_close(r);
}

static void srtm_tiles_have_one_of_two_sizes(void)
{
  static unsigned char bytes[2 * 1201 * 1201 + 1];
  const char *path;
  double row[1201];
  ambit__raster *r;

  bytes[0] = 0x01; /* 258 */
  bytes[1] = 0x02;
  bytes[2] = 0xff; /* -2 */
  bytes[3] = 0xfe;
  bytes[4] = 0x80; /* no data */
  path = make_file("N00E000.hgt", bytes, sizeof bytes - 1);
  r = open_raster(path);
  CHECK_MSG(r, "%s", errors.text);
  if (!r) return;
  CHECK(r->type == AMBIT_I16 && r->spacing[0] == 1.0 / 1200);
  CHECK(r->unit == AMBIT_DEGREES && r->has_origin && r->origin[0] == 1 && r->origin[1] == 0);
  CHECK(!ambit__raster_row(r, 0, row) && row[0] == 258 && row[1] == -2 && isinf(row[2]));
  CHECK(!ambit__raster_row(r, 1200, row) && row[1200] == 0);
  ambit__raster_close(r);
  check_srtm_name("S07W123.hgt", bytes, true, -6, -123);
  check_srtm_name("n46e007.SRTMGL3.hgt", bytes, true, 47, 7);
  check_srtm_name("N46E07.hgt", bytes, false, 0, 0);
  check_srtm_name("alps.hgt", bytes, false, 0, 0);
  refused(make_file("a.hgt", bytes, sizeof bytes), AMBIT_EIO, "2884802 (1201 x 1201 values)");
  refused(make_file("a.hgt", bytes, 0), AMBIT_EIO, "0 bytes");
  refused(folder_path("absent.hgt"), AMBIT_EIO, "cannot open");
  refused("/dev/null.hgt", AMBIT_EIO, "cannot open");
}

/* ---- ASCII grids ---- */

static const char *make_asc(const char *text)
{
  return make_file("a.asc", text, strlen(text));
}

static void ascii_grids_have_keys_in_any_order(void)
{
  const double values[] = {1, -2.5, INFINITY, 4e3, 5, INFINITY};
  ambit__raster *r;

  check_values(make_asc("ncols 3\nnrows 2\nxllcorner 0\nyllcorner 1\ncellsize 30\n"
                        "NODATA_value -1\n1 -2.5 -1\n4e3 5 -1\n"),
               2, 3, values);
  check_values(make_asc("NROWS 2\r\nNCOLS 3\r\ncellsize 30\r\n1 -2.5 -9999 4e3\r\n5 nan"), 2, 3,
               values);
  r = open_raster(make_asc("ncols 1\nnrows 1\ndx 2\ndy 3\n7"));
  CHECK(r && r->spacing[0] == 3 && r->spacing[1] == 2);
  ambit__raster_close(r);
}

static void check_asc_place(const char *text, bool known, double north, double west)
{
  ambit__raster *r = open_raster(make_asc(text));

  CHECK_MSG(r && r->unit == AMBIT_UNKNOWN_UNIT && r->has_origin == known && r->origin[0] == north &&
                r->origin[1] == west,
            "%s", text);
  ambit__raster_close(r);
}

static void ascii_grids_say_where_their_lower_left_cell_is(void)
{
  check_asc_place("ncols 1\nnrows 3\nxllcorner 7\nyllcorner 46\ncellsize 2\n1 2 3", true, 51, 8);
  check_asc_place("ncols 1\nnrows 3\nXLLCENTER 7\nyllcenter 46\ncellsize 2\n1 2 3", true, 50, 7);
  check_asc_place("ncols 1\nnrows 3\nxllcorner 7\ncellsize 2\n1 2 3", false, 0, 0);
  check_asc_place("ncols 1\nnrows 3\nxllcorner 7\nyllcorner 46\n1 2 3", false, 0, 0);
}

static void damaged_ascii_grids_are_refused(void)
{
  char row[3 * sizeof(double)];
  ambit__raster *r;

  refused(make_asc(""), AMBIT_EIO, "not an ESRI ASCII grid");
  refused(make_asc("ncols 3\n1 2 3\n"), AMBIT_EIO, "must give ncols and nrows");
  refused(make_asc("ncols three\n"), AMBIT_EIO, "\"three\" at byte 6 is not a number");
  refused(make_asc("ncols 0\nnrows 1\n"), AMBIT_EIO, "ncols is 0");
  refused(make_asc("ncols 1.5\nnrows 1\n"), AMBIT_EIO, "ncols is 1.5");
  refused(make_asc("ncols 1000000\nnrows 1000000\n1"), AMBIT_EIO, "truncated");
  r = open_raster(make_asc("ncols 3\nnrows 1\n1 2 "));
  CHECK(r && ambit__raster_row(r, 0, (double *)(void *)row));
  told(AMBIT_EIO, "ends before its last value");
  ambit__raster_close(r);
  r = open_raster(make_asc("ncols 3\nnrows 1\n1 2,5 3"));
  CHECK(r && ambit__raster_row(r, 0, (double *)(void *)row));
  told(AMBIT_EIO, "\"2,5\"");
  ambit__raster_close(r);
}

/* ---- TIFF ---- */

/* A TIFF file in memory, in either byte order. */
typedef struct draft {
  unsigned char bytes[1 << 12];
  size_t n;
  bool big;
  size_t tags; /* position of the number of tags */
} draft;

static void add(draft *d, uint64_t x, int bytes)
{
  for (int i = 0; i < bytes; i++)
    d->bytes[d->n++] = (unsigned char)(x >> 8 * (d->big ? bytes - 1 - i : i));
}

static draft begin_tiff(bool big)
{
  draft d = {.big = big, .tags = 8};

  memcpy(d.bytes, big ? "MM\0*" : "II*\0", 4);
  d.n = 4;
  add(&d, 8, 4);
  add(&d, 0, 2);
  return d;
}

/* A tag of one number, in the entry itself, or of values at `x`. */
static void add_tag(draft *d, int number, int type, int count, uint64_t x)
{
  const int bytes = type == 3 ? 2 : 4;

  add(d, (uint64_t)number, 2);
  add(d, (uint64_t)type, 2);
  add(d, (uint64_t)count, 4);
  if (count > 1) {
    add(d, x, 4);
  } else {
    add(d, x, bytes);
    add(d, 0, 4 - bytes);
  }
  d->bytes[d->tags + d->big]++;
}

/* 3 x 5 shorts, in strips of two rows: with places of strips from 512 on. */
static draft strips(bool big)
{
  draft d = begin_tiff(big);

  add_tag(&d, 256, 3, 1, 5);
  add_tag(&d, 257, 3, 1, 3);
  add_tag(&d, 258, 3, 1, 16);
  add_tag(&d, 259, 3, 1, 1);
  add_tag(&d, 273, 4, 2, 400);
  add_tag(&d, 277, 3, 1, 1);
  add_tag(&d, 278, 3, 1, 2);
  add_tag(&d, 339, 3, 1, 2);
  add_tag(&d, 33550, 12, 3, 420);
  add_tag(&d, 42113, 2, 6, 450);
  add_tag(&d, 279, 4, 2, 460);
  d.n = 460;
  add(&d, 20, 4);
  add(&d, 10, 4);
  d.n = 400;
  add(&d, 512, 4);
  add(&d, 600, 4);
  d.n = 420;
  add(&d, 0x4024000000000000, 8); /* 10 along x */
  add(&d, 0x4034000000000000, 8); /* 20 along y */
  memcpy(d.bytes + 450, "-999 ", 6);
  for (int i = 0; i < 15; i++) {
    d.n = (i < 10 ? 512 : 600 - 20) + 2 * (size_t)i;
    add(&d, (uint64_t)(int64_t)(i == 7 ? -999 : i - 4), 2);
  }
  d.n = 610;
  return d;
}

static void strips_of_either_byte_order_are_read(void)
{
  double want[15];

  for (int i = 0; i < 15; i++)
    want[i] = i == 7 ? (double)INFINITY : i - 4;
  for (int big = 0; big < 2; big++) {
    draft d = strips(big);
    const char *path = make_file("a.tif", d.bytes, d.n);
    ambit__raster *r = open_raster(path);

    CHECK_MSG(r, "%s", errors.text);
    CHECK(r && r->spacing[0] == 20 && r->spacing[1] == 10 && r->type == AMBIT_I16);
    ambit__raster_close(r);
    check_values(path, 3, 5, want);
  }
}

/* Real numbers at a place. */
static void add_reals(draft *d, size_t at, int n, const double *x)
{
  d->n = at;
  for (int i = 0; i < n; i++) {
    uint64_t u;

    memcpy(&u, &x[i], sizeof u);
    add(d, u, 8);
  }
}

/* 2 x 3 bytes with a place; `keys` are `n` quadruples of shorts. */
static draft placed(bool matrix, int n, const int *keys)
{
  draft d = begin_tiff(false);

  add_tag(&d, 256, 3, 1, 3);
  add_tag(&d, 257, 3, 1, 2);
  add_tag(&d, 258, 3, 1, 8);
  add_tag(&d, 273, 4, 1, 512);
  if (matrix) {
    add_tag(&d, 34264, 12, 16, 200);
  } else {
    add_tag(&d, 33550, 12, 3, 200);
    add_tag(&d, 33922, 12, 6, 240);
  }
  add_tag(&d, 34735, 3, 4 * n, 400);
  if (matrix)
    add_reals(&d, 200, 8, (double[]){10, 0, 0, 500, 0, -20, 0, 900});
  else
    add_reals(&d, 200, 9, (double[]){10, 20, 0, 0, 0, 1, 2, 0, 510});
  if (!matrix) add_reals(&d, 240, 6, (double[]){1, 2, 0, 510, 860, 0}); /* pixel 1, 2 */
  d.n = 400;
  for (int i = 0; i < 4 * n; i++)
    add(&d, (uint64_t)keys[i], 2);
  d.n = 518;
  return d;
}

static void check_placed(const char *what, const draft *d, ambit_unit unit, double size,
                         double north, double west)
{
  ambit__raster *r = open_raster(make_file("a.tif", d->bytes, d->n));

  CHECK_MSG(r, "%s: %s", what, errors.text);
  if (!r) return;
  CHECK_MSG(r->unit == unit && fabs(r->spacing[0] - 20 * size) < 1e-12 &&
                fabs(r->spacing[1] - 10 * size) < 1e-12 && r->has_origin &&
                fabs(r->origin[0] - north * size) < 1e-9 && fabs(r->origin[1] - west * size) < 1e-9,
            "%s: unit %d, spacing %g %g, origin %g %g", what, (int)r->unit, r->spacing[0],
            r->spacing[1], r->origin[0], r->origin[1]);
  ambit__raster_close(r);
}

static void geotiff_files_say_where_they_are_and_in_which_unit(void)
{
  const int none[] = {1, 1, 0, 0};
  const int degrees[] = {1, 1, 0, 2, 1024, 0, 1, 2, 1025, 0, 1, 1};
  const int seconds[] = {1, 1, 0, 2, 1024, 0, 1, 2, 2054, 0, 1, 9104};
  const int points[] = {1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 2, 3076, 0, 1, 9001};
  const int feet[] = {1, 1, 0, 2, 1024, 0, 1, 1, 3076, 0, 1, 9002};
  const int strange[] = {1, 1, 0, 9, 1024, 0, 1, 1, 3076, 0, 1, 1234}; /* keys are missing */

  for (int matrix = 0; matrix < 2; matrix++) {
    draft d = placed(matrix, 1, none);

    check_placed("no keys", &d, AMBIT_UNKNOWN_UNIT, 1, 890, 505);
    d = placed(matrix, 3, degrees);
    check_placed("degrees", &d, AMBIT_DEGREES, 1, 890, 505);
    d = placed(matrix, 3, seconds);
    check_placed("arc seconds", &d, AMBIT_DEGREES, 1.0 / 3600, 890, 505);
    d = placed(matrix, 4, points);
    check_placed("points", &d, AMBIT_METRES, 1, 900, 500);
    d = placed(matrix, 3, feet);
    check_placed("feet", &d, AMBIT_METRES, 0.3048, 890, 505);
    d = placed(matrix, 3, strange);
    check_placed("a strange unit", &d, AMBIT_UNKNOWN_UNIT, 1, 890, 505);
  }
}

/* The scale of pixels has to be real numbers: in plain files, and in those for libtiff. */
static void tags_of_another_type_or_count_are_not_taken_for_numbers(void)
{
  static const struct {
    unsigned char type, count;
  } wrong[] = {{3, 3}, {2, 8}, {4, 2}, {12, 1}, {1, 3}, {13, 3}, {255, 3}};

  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    for (int compressed = 0; compressed < 2; compressed++) {
      draft d = strips(false);
      ambit__raster *r;

      d.bytes[10 + 12 * 8 + 2] = wrong[i].type;
      d.bytes[10 + 12 * 8 + 4] = wrong[i].count;
      if (compressed) d.bytes[10 + 12 * 3 + 8] = 8;
#ifndef AMBIT_HAVE_TIFF
      if (compressed) continue;
#endif
      r = open_raster(make_file("a.tif", d.bytes, d.n));
      CHECK_MSG(r && r->spacing[0] == 0 && r->spacing[1] == 0 && r->has_nodata, "type %d: %g %s",
                wrong[i].type, r ? r->spacing[0] : 0, errors.text ? errors.text : "");
      ambit__raster_close(r);
      ambit__errors_clear(&errors);
    }
}

/* 3 x 5 floats in tiles of 2 x 4: the tiles at the edges are whole. */
static void tiles_are_cut_at_the_edges(void)
{
  draft d = begin_tiff(false);
  double want[15];

  add_tag(&d, 256, 4, 1, 5);
  add_tag(&d, 257, 4, 1, 3);
  add_tag(&d, 258, 3, 1, 32);
  add_tag(&d, 322, 3, 1, 4);
  add_tag(&d, 323, 3, 1, 2);
  add_tag(&d, 324, 4, 4, 300);
  add_tag(&d, 339, 3, 1, 3);
  d.n = 300;
  for (uint64_t i = 0; i < 4; i++)
    add(&d, 512 + 32 * i, 4);
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 8; x++) {
      const float f = (float)(10 * y + x) / 4.0F;
      uint32_t u;

      memcpy(&u, &f, sizeof u);
      d.n = (size_t)(512 + 32 * (y / 2 * 2 + x / 4) + 16 * (y % 2) + 4 * (x % 4));
      add(&d, u, 4);
      if (y < 3 && x < 5) want[5 * y + x] = f;
    }
  d.n = 512 + 4 * 32;
  check_values(make_file("a.tiff", d.bytes, d.n), 3, 5, want);
}

static void damaged_tiff_files_are_refused(void)
{
  draft d = strips(false);

  refused(make_file("a.tif", d.bytes, 3), AMBIT_EIO, "truncated");
  refused(make_file("a.tif", d.bytes, 9), AMBIT_EIO, "truncated");
  refused(make_file("a.tif", d.bytes, 609), AMBIT_EIO, "its block 1, of 1 x 5 values");
  refused(make_file("a.tif", "GIF89a and so on", 16), AMBIT_EIO, "not a TIFF file");
  d.bytes[8] = 0;
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EIO, "its directory has 0 entries");
  d = strips(false);
  d.bytes[10 + 12 * 0 + 8] = 0; /* width */
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EIO, "3 x 0 pixels");
  d = strips(false);
  d.bytes[10 + 12 * 2 + 8] = 12; /* bits */
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EUNSUPPORTED, "whole numbers of 12 bits");
  d = strips(false);
  d.bytes[10 + 12 * 7 + 8] = 3; /* format */
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EUNSUPPORTED, "has real numbers of 16 bits");
  d.bytes[10 + 12 * 7 + 8] = 6;
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EUNSUPPORTED, "complex numbers");
  d = strips(false);
  d.bytes[10 + 12 * 4 + 7] = 1; /* strips: 2^24 + 2 of them */
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EIO, "its tag 273 has 16777218 values");
  d = strips(false);
  d.bytes[10 + 12 * 4 + 2] = 12; /* their places are real */
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EIO, "a tag has type 12");
  d = strips(false);
  d.bytes[10 + 12 * 4 + 4] = 1; /* strips */
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EIO, "the places of 1 of its 2 blocks");
}

static void tiff_files_that_are_not_plain_need_libtiff(void)
{
  draft d = strips(false);

  d.bytes[10 + 12 * 3 + 8] = 8; /* compression */
#ifdef AMBIT_HAVE_TIFF
  refused(make_file("a.tif", d.bytes, 420), AMBIT_EIO, "truncated");
  d.bytes[10 + 12 * 3 + 8] = 34712 & 255;
  d.bytes[10 + 12 * 3 + 9] = 34712 >> 8;
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EUNSUPPORTED, "method 34712 (JPEG 2000)");
#else
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EUNSUPPORTED, "built without libtiff");
#endif
}

/* 1 x 2 shorts. */
static void bigtiff_without_compression_is_plain(void)
{
  static const int tags[][2] = {{256, 2}, {257, 1}, {258, 16}, {273, 200}, {339, 2}};

  for (int big = 0; big < 2; big++) {
    draft d = {.big = big, .n = 4};
    char short_offsets[256];

    memcpy(d.bytes, big ? "MM\0+" : "II+\0", 4);
    add(&d, 8, 2);
    add(&d, 0, 2);
    add(&d, 16, 8);
    add(&d, 5, 8);
    for (int i = 0; i < 5; i++) {
      add(&d, (uint64_t)tags[i][0], 2);
      add(&d, tags[i][0] == 273 ? 16 : 4, 2);
      add(&d, 1, 8);
      add(&d, (uint64_t)tags[i][1], tags[i][0] == 273 ? 8 : 4);
      if (tags[i][0] != 273) add(&d, 0, 4);
    }
    d.n = 200;
    add(&d, 0xfffe, 2);
    add(&d, 300, 2);
    check_values(make_file("a.tif", d.bytes, d.n), 1, 2, (double[]){-2, 300});
    memcpy(short_offsets, d.bytes, d.n);
    short_offsets[big ? 5 : 4] = 4;
    refused(make_file("a.tif", short_offsets, d.n), AMBIT_EIO, "positions of 4 bytes");
  }
}

#ifdef AMBIT_HAVE_TIFF
static void write_compressed(const char *path, const char *mode, bool tiled)
{
  TIFF *t = TIFFOpen(path, mode);
  float values[16 * 16];

  CHECK(t != NULL);
  if (!t) return;
  for (int i = 0; i < 256; i++)
    values[i] = (float)(tiled ? i / 16 * 20 + i % 16 : i) / 2;
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 20);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, 12);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32);
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  if (tiled) {
    TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
    CHECK(TIFFWriteEncodedTile(t, 0, values, sizeof values) > 0);
    for (int i = 0; i < 256; i++)
      values[i] += 8;
    CHECK(TIFFWriteEncodedTile(t, 1, values, sizeof values) > 0);
  } else {
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 12);
    CHECK(TIFFWriteEncodedStrip(t, 0, values, 12 * 20 * sizeof(float)) > 0);
  }
  TIFFClose(t);
}
#endif

static void compressed_files_and_bigtiff_are_read_by_libtiff(void)
{
#ifdef AMBIT_HAVE_TIFF
  double want[240];

  for (int i = 0; i < 240; i++)
    want[i] = i / 2.0;
  for (int i = 0; i < 4; i++) {
    const char *path = folder_path("c.tif");

    write_compressed(path, i % 2 ? "w8" : "w", i / 2);
    check_values(path, 12, 20, want);
  }
#else
  SKIP("built without libtiff");
#endif
}

static const test_case tests[] = {
    {"srtm_tiles_have_one_of_two_sizes", srtm_tiles_have_one_of_two_sizes},
    {"ascii_grids_have_keys_in_any_order", ascii_grids_have_keys_in_any_order},
    {"ascii_grids_say_where_their_lower_left_cell_is",
     ascii_grids_say_where_their_lower_left_cell_is},
    {"damaged_ascii_grids_are_refused", damaged_ascii_grids_are_refused},
    {"strips_of_either_byte_order_are_read", strips_of_either_byte_order_are_read},
    {"geotiff_files_say_where_they_are_and_in_which_unit",
     geotiff_files_say_where_they_are_and_in_which_unit},
    {"tags_of_another_type_or_count_are_not_taken_for_numbers",
     tags_of_another_type_or_count_are_not_taken_for_numbers},
    {"tiles_are_cut_at_the_edges", tiles_are_cut_at_the_edges},
    {"damaged_tiff_files_are_refused", damaged_tiff_files_are_refused},
    {"tiff_files_that_are_not_plain_need_libtiff", tiff_files_that_are_not_plain_need_libtiff},
    {"bigtiff_without_compression_is_plain", bigtiff_without_compression_is_plain},
    {"compressed_files_and_bigtiff_are_read_by_libtiff",
     compressed_files_and_bigtiff_are_read_by_libtiff},
    {NULL, NULL}};

int main(int argc, char **argv)
{
  int bad;

  if (!folder_make()) return 1;
  bad = test_main(argc, argv, tests);
  (void)folder_files;
  folder_remove();
  return bad;
}
