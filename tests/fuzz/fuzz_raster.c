/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_raster.c - any bytes as an elevation file: rows are read, or the file is refused with a
 * message. The first byte chooses the format. For libFuzzer; main.c replays inputs without it.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "io/raster.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_WIDTH = 1 << 16, MOST_ROWS = 64 };

static void require(int holds, const char *what)
{
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

static void read_rows(ambit__raster *r)
{
  double *values = malloc((size_t)r->width * sizeof *values); /* so long that overruns are found */

  require(r->width >= 1 && r->height >= 1, "a size");
  for (int64_t y = 0; values && y < r->height && y < MOST_ROWS; y++) {
    if (ambit__raster_row(r, y, values)) break;
    for (int64_t x = 0; x < r->width; x++)
      require(values[x] == values[x], "a value is NaN");
  }
  free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  ambit__errors errors = {0};
  const int fd = memfd_create("raster", 0);
  ambit__raster *r;
  char path[32];

  if (!size) {
    close(fd);
    return 0;
  }
  require(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)size - 1, "a file in memory");
  snprintf(path, sizeof path, "/dev/fd/%d", fd);
  if (!ambit__raster_open(&errors, path, data[0] == 'a' ? RASTER_ASC : RASTER_TIFF, &r)) {
    if (r->width <= MOST_WIDTH) read_rows(r);
    ambit__raster_close(r);
  }
  require(!errors.status || (errors.text && *errors.text), "an error without a message");
  ambit__errors_clear(&errors);
  close(fd);
  return 0;
}
