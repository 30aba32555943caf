/* SPDX-License-Identifier: BSD-3-Clause */
/* raster_libtiff.c - compressed TIFF, by libtiff, if the library was built with it.
 *
 * A band of decoded rows is kept: a strip, or the tiles side by side.
 */
#include "io/raster.h"

#ifdef AMBIT_HAVE_TIFF
#  include "base/memory.h"

#  include <inttypes.h>
#  include <stdlib.h>
#  include <tiffio.h>
#  include <unistd.h>

enum { MOST_CELLS = 1 << 30 };

typedef struct decoder {
  TIFF *tiff;
  bool is_tiled;
  uint32_t height, width; /* of a strip or tile */
  uint16_t bits;
  char kind;
  int64_t first; /* row of the band; -1: none */
  size_t block;  /* bytes of a strip or tile, and of a row of it */
  size_t stride;
  int64_t across;       /* blocks in a band */
  unsigned char *bytes; /* the band; NULL: none was read yet */
} decoder;

static void close_decoder(ambit__raster *r)
{
  decoder *d = r->own;

  if (!d) return;
  if (d->tiff) TIFFClose(d->tiff);
  free(d->bytes);
  free(d);
}

static ambit_status decode_band(ambit__raster *r, decoder *d, int64_t row)
{
  d->first = -1;
  if (!d->bytes) d->bytes = ambit__new(r->errors, d->block, (size_t)d->across);
  if (!d->bytes) return AMBIT_ENOMEM;
  for (int64_t i = 0; i < d->across; i++) {
    const uint32_t x = (uint32_t)i * d->width;
    const uint32_t block = d->is_tiled ? TIFFComputeTile(d->tiff, x, (uint32_t)row, 0, 0)
                                       : TIFFComputeStrip(d->tiff, (uint32_t)row, 0);
    unsigned char *to = d->bytes + (size_t)i * d->block;
    const tmsize_t got = d->is_tiled ? TIFFReadEncodedTile(d->tiff, block, to, (tmsize_t)d->block)
                                     : TIFFReadEncodedStrip(d->tiff, block, to, (tmsize_t)d->block);

    AMBIT_CHECK(got >= 0, r->errors, AMBIT_EIO, "%s is damaged: libtiff cannot decode block %u",
                r->path, block);
  }
  d->first = row / d->height * d->height;
  return AMBIT_OK;
}

static ambit_status read_decoded(ambit__raster *r, int64_t row, double *values)
{
  decoder *d = r->own;

  if (d->first < 0 || row < d->first || row >= d->first + d->height)
    AMBIT_TRY(decode_band(r, d, row));
  for (int64_t i = 0; i < d->across; i++) {
    const int64_t x = i * d->width, left = r->width - x;

    ambit__raster_decode(d->bytes + (size_t)i * d->block + (size_t)(row - d->first) * d->stride,
                         left < d->width ? left : d->width, d->kind, d->bits,
                         __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, values + x);
  }
  return AMBIT_OK;
}

/* ---- opening ---- */

static void read_blocks(decoder *d)
{
  d->is_tiled = TIFFIsTiled(d->tiff);
  if (d->is_tiled) {
    TIFFGetField(d->tiff, TIFFTAG_TILEWIDTH, &d->width);
    TIFFGetField(d->tiff, TIFFTAG_TILELENGTH, &d->height);
    d->block = (size_t)TIFFTileSize(d->tiff);
    d->stride = (size_t)TIFFTileRowSize(d->tiff);
  } else {
    TIFFGetField(d->tiff, TIFFTAG_IMAGEWIDTH, &d->width);
    TIFFGetFieldDefaulted(d->tiff, TIFFTAG_ROWSPERSTRIP, &d->height);
    d->block = (size_t)TIFFStripSize(d->tiff);
    d->stride = (size_t)TIFFScanlineSize(d->tiff);
  }
}

static ambit_status check_method(const ambit__raster *r, TIFF *tiff)
{
  uint16_t method = COMPRESSION_NONE;
  const TIFFCodec *codec;

  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &method);
  codec = TIFFFindCODEC(method);
  AMBIT_CHECK(
      TIFFIsCODECConfigured(method), r->errors, AMBIT_EUNSUPPORTED,
      "%s is compressed by method %d (%s), which this libtiff does not support; convert it: "
      "gdal_translate -co COMPRESS=DEFLATE in.tif out.tif",
      r->path, method,
      codec                          ? codec->name
      : method == COMPRESSION_JP2000 ? "JPEG 2000"
                                     : "unknown");
  return AMBIT_OK;
}

static ambit_status inspect(ambit__raster *r, decoder *d)
{
  uint32_t width = 0, height = 0;
  uint16_t samples = 1, format = SAMPLEFORMAT_UINT;

  TIFFGetField(d->tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(d->tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(d->tiff, TIFFTAG_BITSPERSAMPLE, &d->bits);
  TIFFGetFieldDefaulted(d->tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted(d->tiff, TIFFTAG_SAMPLEFORMAT, &format);
  d->kind = format == SAMPLEFORMAT_UINT     ? 'u'
            : format == SAMPLEFORMAT_INT    ? 'i'
            : format == SAMPLEFORMAT_IEEEFP ? 'f'
                                            : '?';
  r->width = width;
  r->height = height;
  AMBIT_CHECK(samples == 1, r->errors, AMBIT_EIO, "%s has %d samples per pixel; Ambit reads one",
              r->path, samples);
  AMBIT_TRY(ambit__raster_set_type(r, d->kind, d->bits));
  read_blocks(d);
  AMBIT_CHECK(width >= 1 && width <= MOST_CELLS && height >= 1 && height <= MOST_CELLS &&
                  d->width >= 1 && d->width <= MOST_CELLS && d->height >= 1 && d->stride &&
                  d->stride >= (size_t)d->width * d->bits / 8,
              r->errors, AMBIT_EIO, "%s is damaged: it has %u x %u pixels in blocks of %u x %u",
              r->path, height, width, d->height, d->width);
  if (d->height > height) d->height = height;
  AMBIT_CHECK(d->block / d->stride >= d->height, r->errors, AMBIT_EIO,
              "%s is damaged: its blocks have %zu bytes, too few for %u rows", r->path, d->block,
              d->height);
  d->across = ((int64_t)width + d->width - 1) / d->width;
  return AMBIT_OK;
}

/* libtiff closes the descriptor that it gets. Its messages would go to stderr: they are dropped,
 * since the caller raises an error. */
#  if TIFFLIB_VERSION >= 20221213
static int ignore(TIFF *tiff, void *user, const char *where, const char *format, va_list list)
{
  (void)tiff, (void)user, (void)where, (void)format, (void)list;
  return 1;
}

static TIFF *open_tiff(int fd, const char *path)
{
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  TIFF *tiff;

  if (!options) return NULL;
  TIFFOpenOptionsSetErrorHandlerExtR(options, ignore, NULL);
  TIFFOpenOptionsSetWarningHandlerExtR(options, ignore, NULL);
  tiff = TIFFFdOpenExt(fd, path, "rm", options);
  TIFFOpenOptionsFree(options);
  return tiff;
}
#  else
static TIFF *open_tiff(int fd, const char *path)
{
  return TIFFFdOpen(fd, path, "rm");
}
#  endif

ambit_status ambit__raster_open_libtiff(ambit__raster *r, const char *why)
{
  decoder *d = ambit__new(r->errors, 1, sizeof *d);
  int fd;

  if (!d) return AMBIT_ENOMEM;
  r->own = d;
  r->close = close_decoder;
  r->read = read_decoded;
  d->first = -1;
  fd = dup(r->fd);
  lseek(fd, 0, SEEK_SET);
  d->tiff = fd >= 0 ? open_tiff(fd, r->path) : NULL;
  if (!d->tiff && fd >= 0) close(fd);
  AMBIT_CHECK(d->tiff, r->errors, AMBIT_EIO, "%s %s, and libtiff cannot open it: it is damaged",
              r->path, why);
  AMBIT_TRY(check_method(r, d->tiff));
  return inspect(r, d);
}

#else

ambit_status ambit__raster_open_libtiff(ambit__raster *r, const char *why)
{
  return ambit__raise(r->errors, AMBIT_EUNSUPPORTED,
                      "%s %s, and this library was built without libtiff, which reads such files. "
                      "Build it with libtiff (scripts/setup has the package), or convert the file: "
                      "gdal_translate -co COMPRESS=NONE in.tif out.tif",
                      r->path, why);
}

#endif
