/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_y4m.c - any bytes as a Y4M file: frames have the size that the header says, or the file is
 * refused with a message. For libFuzzer; main.c replays inputs without it.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "io/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_FRAME = 1 << 16, MOST_FRAMES = 16 };

static void require(int holds, const char *what)
{
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

/* Planes are not larger than the first, and their bytes add up. */
static void check_form(const ambit__frame_form *f)
{
  size_t sum = 0;

  require(f->nplanes >= 1 && f->nplanes <= AMBIT__Y4M_PLANES, "number of planes");
  for (int i = 0; i < f->nplanes; i++) {
    require(f->width[i] >= 1 && f->width[i] <= f->width[0], "width of a plane");
    require(f->height[i] >= 1 && f->height[i] <= f->height[0], "height of a plane");
    sum += ambit__plane_bytes(f, i);
  }
  require(sum == f->bytes, "bytes of a frame");
}

static void read_frames(ambit__frames_in *f, ambit__errors *errors)
{
  unsigned char *bytes = malloc(ambit__frames_bytes(f)); /* of the right size: overruns are found */
  bool got = true;

  for (int i = 0; bytes && got && i < MOST_FRAMES; i++) {
    ambit_status s = ambit__frames_read(f, errors, i, bytes, &got);

    require(!s || !got, "a frame was read, and there is an error");
    require(!got || memchr(ambit__frame_tail_of(bytes, ambit__frames_bytes(f))->parameters, 0,
                           AMBIT__Y4M_FRAME),
            "endless parameters");
  }
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static ambit__frames_in f;
  ambit__errors errors = {0};
  atomic_bool stop = false;
  int fd = memfd_create("y4m", 0);
  char path[32];

  require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file in memory");
  lseek(fd, 0, SEEK_SET);
  snprintf(path, sizeof path, "/dev/fd/%d", fd);
  if (!ambit__frames_open(&errors, path, 0, false, &stop, &f)) {
    check_form(&f.form);
    if (f.form.bytes <= MOST_FRAME) read_frames(&f, &errors);
  }
  require(!errors.status || (errors.text && *errors.text), "an error without a message");
  ambit__frames_close(&f);
  ambit__errors_clear(&errors);
  close(fd);
  return 0;
}
