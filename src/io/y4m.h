/* SPDX-License-Identifier: BSD-3-Clause */
/* y4m.h - the headers of YUV4MPEG2, the uncompressed video of ffmpeg and mjpegtools.
 *
 * A file is a line "YUV4MPEG2 W640 H480 F25:1 Ip C420jpeg", then frames: a line "FRAME", which may
 * have parameters, and the planes, one after the other.
 */
#ifndef AMBIT_IO_Y4M_H
#define AMBIT_IO_Y4M_H

#include "base/error.h"

enum {
  AMBIT__Y4M_PLANES = 4,
  AMBIT__Y4M_HEADER = 4096, /* longest header line */
  AMBIT__Y4M_FRAME = 256    /* longest line of a frame */
};

/* Planes of a frame, one after the other. */
typedef struct ambit__frame_form {
  int nplanes;
  int64_t width[AMBIT__Y4M_PLANES], height[AMBIT__Y4M_PLANES]; /* by plane; 0 is the largest */
  bool is_rgb;                                                 /* planes are red, green and blue */
  bool is_packed; /* pixels are three bytes, in one plane */
  size_t bytes;   /* of all planes */
} ambit__frame_form;

/* Parses a header line, without its line break. */
ambit_status ambit__y4m_parse(ambit__errors *errors, const char *path, const char *line,
                              ambit__frame_form *form);

/* Bytes of a plane. */
static inline size_t ambit__plane_bytes(const ambit__frame_form *f, int plane)
{
  return (size_t)f->width[plane] * (size_t)f->height[plane] * (f->is_packed ? 3 : 1);
}

#endif
