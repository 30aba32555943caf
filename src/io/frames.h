/* SPDX-License-Identifier: BSD-3-Clause */
/* frames.h - frames of videos, pictures and numbered pictures, read and written one by one.
 *
 * A frame in memory is its planes, one after the other, a byte per sample, and behind them the
 * parameters of the frame as text (AMBIT__Y4M_FRAME bytes), which are passed on.
 */
#ifndef AMBIT_IO_FRAMES_H
#define AMBIT_IO_FRAMES_H

#include "io/inlet.h"
#include "io/y4m.h"

/* "shot%04d.png", taken apart; or "shot.png", which is picture 0 and the only one. */
typedef struct ambit__numbered {
  const char *path;
  bool is_one;
  int head, tail; /* bytes before the number; where the rest begins */
  int digits;     /* least number of digits */
} ambit__numbered;

bool ambit__numbered_parse(const char *path, ambit__numbered *n);
char *ambit__numbered_name(const ambit__numbered *n, int64_t number); /* to free(); or NULL */

/* ---- reading ---- */

typedef struct ambit__frames_in {
  const char *path; /* for messages */
  ambit__frame_form form;
  int64_t expected; /* frames; 0: unknown */
  bool is_picture;
  ambit__numbered numbered;
  int64_t first;                  /* number of the first picture */
  int64_t end;                    /* number of the first picture that is missing */
  char header[AMBIT__Y4M_HEADER]; /* Y4M: the line */
  ambit__inlet inlet;             /* Y4M */
} ambit__frames_in;

/* Reads the form. `packed`: pictures in colour are to be one plane. Close it after failures too. */
ambit_status ambit__frames_open(ambit__errors *errors, const char *path, bool packed,
                                atomic_bool *stop, ambit__frames_in *f);
void ambit__frames_close(ambit__frames_in *f);
size_t ambit__frames_bytes(const ambit__frames_in *f); /* of a frame in memory */
ambit_status ambit__frames_read(ambit__frames_in *f, ambit__errors *errors, int64_t frame,
                                unsigned char *bytes, bool *got);

/* ---- writing ---- */

typedef struct ambit__frames_out {
  const ambit__frames_in *like; /* frames have the form and the header of these */
  const char *path;
  bool is_picture;
  ambit__numbered numbered;
  struct ambit__file *file; /* Y4M */
  ambit__errors errors;     /* of the file */
} ambit__frames_out;

ambit_status ambit__frames_create(ambit__errors *errors, const char *path,
                                  const ambit__frames_in *like, ambit__frames_out *f);
/* The samples of each plane are at planes[i]. */
ambit_status ambit__frames_write(ambit__frames_out *f, ambit__errors *errors, int64_t frame,
                                 const unsigned char *const *planes, const char *parameters);
/* Completes the file, with the frames written so far; `keep` is false: discards it. */
ambit_status ambit__frames_finish(ambit__frames_out *f, ambit__errors *errors, bool keep);

/* ---- pictures: frame_png.c ---- */

/* Colours become three planes, or with `packed` one plane of three bytes per pixel. */
ambit_status ambit__png_form(ambit__errors *errors, const char *path, bool packed,
                             ambit__frame_form *form);
/* Raises an error unless the picture has this form. */
ambit_status ambit__png_read(ambit__errors *errors, const char *path, const ambit__frame_form *form,
                             unsigned char *bytes);
ambit_status ambit__png_write_frame(ambit__errors *errors, const char *path,
                                    const ambit__frame_form *form,
                                    const unsigned char *const *planes);

#endif
