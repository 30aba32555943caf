/* SPDX-License-Identifier: BSD-3-Clause */
/* raster.h - elevation files, read row by row: SRTM .hgt, ESRI ASCII grids, TIFF.
 *
 * Files are untrusted: sizes are checked against the length of the file before memory is allocated
 * for them, and every read against the file. Rows run from north to south, as stored. Cells
 * without data are infinitely high (AMBIT__RASTER_WALL): a path through them costs infinitely much,
 * and no water flows over them.
 */
#ifndef AMBIT_IO_RASTER_H
#define AMBIT_IO_RASTER_H

#include "base/error.h"

#include <math.h>
#include <stdbool.h>

#define AMBIT__RASTER_WALL ((double)INFINITY)

typedef enum ambit__raster_format {
  RASTER_NONE, /* another kind of file */
  RASTER_HGT,  /* 1201 x 1201 or 3601 x 3601 big-endian shorts */
  RASTER_ASC,  /* ESRI ASCII grid */
  RASTER_TIFF
} ambit__raster_format;

typedef struct ambit__raster ambit__raster;

/* A file that is being read: the head of the structs of all formats. */
struct ambit__raster {
  ambit__errors *errors;
  char *path; /* owned */
  int fd;
  int64_t bytes;         /* length of the file */
  int64_t height, width; /* cells: 1 or more */
  double spacing[2];     /* between rows and between columns, in `unit`; 0: unknown */
  ambit_unit unit;       /* of spacing and origin */
  bool has_origin;       /* set by formats as their files say; checked by ambit__raster_open */
  double origin[2];      /* of the centre of cell [0][0]: northing, easting; 0 if it is unknown */
  ambit_type type;       /* of the values in the file, or the next larger one */
  bool has_nodata;
  double nodata; /* the value of cells without data */
  /* Reads one row, as `width` numbers. Reading rows in ascending order is fastest. */
  ambit_status (*read)(ambit__raster *r, int64_t row, double *values);
  void (*close)(ambit__raster *r); /* frees the format's own; NULL: nothing */
  void *own;                       /* data of the format */
};

/* The format by the end of the file name. */
ambit__raster_format ambit__raster_format_of(const char *path);
/* Opens a file and reads its header. `errors` must outlive it. */
ambit_status ambit__raster_open(ambit__errors *errors, const char *path,
                                ambit__raster_format format, ambit__raster **out);
/* Reads one row; cells without data, and cells that are NaN, are AMBIT__RASTER_WALL. */
ambit_status ambit__raster_row(ambit__raster *r, int64_t row, double *values);
void ambit__raster_close(ambit__raster *r); /* NULL is ignored */

/* ---- for the formats ---- */

/* Reads bytes of the file that the header has promised. */
ambit_status ambit__raster_get(ambit__raster *r, int64_t at, void *bytes, size_t n);
ambit_status ambit__raster_open_asc(ambit__raster *r);
ambit_status ambit__raster_open_hgt(ambit__raster *r);
ambit_status ambit__raster_open_tiff(ambit__raster *r);
/* TIFF that is not plain, by libtiff, which reads the values alone; `why` names the feature that is
 * not plain. */
ambit_status ambit__raster_open_libtiff(ambit__raster *r, const char *why);

/* Uncompressed values in blocks, such as the strips or tiles of a TIFF file. */
typedef struct ambit__raster_blocks {
  int64_t height, width; /* of a block, in cells */
  int64_t across;        /* blocks side by side */
  int64_t *at;           /* by block, row-major: its position in the file; owned */
  int bits;              /* per value: 8, 16, 32 or 64 */
  char kind;             /* 'u', 'i' or 'f'; '?': another one */
  bool big_endian;
} ambit__raster_blocks;

/* Makes a raster of blocks: checks that each lies within the file. `b` is copied, and the raster
 * owns b->at in any case. */
ambit_status ambit__raster_use_blocks(ambit__raster *r, const ambit__raster_blocks *b);
/* Sets the smallest type for such values. Raises an error if there is none, as for the kind '?'. */
ambit_status ambit__raster_set_type(ambit__raster *r, char kind, int bits);
/* Converts n values in memory, in the byte order of the file, to numbers. */
void ambit__raster_decode(const unsigned char *bytes, int64_t n, char kind, int bits,
                          bool big_endian, double *values);

#endif
