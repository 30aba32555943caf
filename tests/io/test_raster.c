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
  CHECK(!ambit__raster_row(r, 0, row) && row[0] == 258 && row[1] == -2 && isinf(row[2]));
  CHECK(!ambit__raster_row(r, 1200, row) && row[1200] == 0);
  ambit__raster_close(r);
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
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EIO, "values of 12 bits");
  d = strips(false);
  d.bytes[10 + 12 * 4 + 4] = 1; /* strips */
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EIO, "the places of 1 of its 2 blocks");
}

static void tiff_files_that_are_not_plain_need_libtiff(void)
{
  draft d = strips(false);

  d.bytes[10 + 12 * 3 + 8] = 8; /* compression */
#ifdef AMBIT_HAVE_TIFF
  refused(make_file("a.tif", d.bytes, 420), AMBIT_EIO, "damaged");
#else
  refused(make_file("a.tif", d.bytes, d.n), AMBIT_EUNSUPPORTED, "built without libtiff");
#endif
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
    {"damaged_ascii_grids_are_refused", damaged_ascii_grids_are_refused},
    {"strips_of_either_byte_order_are_read", strips_of_either_byte_order_are_read},
    {"tiles_are_cut_at_the_edges", tiles_are_cut_at_the_edges},
    {"damaged_tiff_files_are_refused", damaged_tiff_files_are_refused},
    {"tiff_files_that_are_not_plain_need_libtiff", tiff_files_that_are_not_plain_need_libtiff},
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
