/* SPDX-License-Identifier: BSD-3-Clause */
/* frames.h - frames of videos, pictures and numbered pictures, read and written one by one.
 *
 * A frame in memory is its planes, one after the other, a byte per sample; then room, if other
 * frames are larger; and at the end the form of the frame, and its parameters, which are passed on.
 */
#ifndef AMBIT_IO_FRAMES_H
#define AMBIT_IO_FRAMES_H

#include "io/inlet.h"
#include "io/y4m.h"

/* "shot%04d.png", taken apart; or "shot.png", which is picture 0 and the only one. The second
 * function takes any ending. */
typedef struct ambit__numbered {
  const char *path;
  bool is_one;
  int head, tail; /* bytes before the number; where the rest begins */
  int digits;     /* least number of digits */
} ambit__numbered;

bool ambit__numbered_parse(const char *path, ambit__numbered *n);
bool ambit__numbered_any(const char *path, ambit__numbered *n);
/* The caller frees it; NULL: an error was raised. */
char *ambit__numbered_name(ambit__errors *errors, const ambit__numbered *n, int64_t number);

/* ---- reading ---- */

/* The end of a frame in memory. */
typedef struct ambit__frame_tail {
  ambit__frame_form form;
  char parameters[AMBIT__Y4M_FRAME];
} ambit__frame_tail;

typedef struct ambit__frames_in {
  const char *path;       /* for messages */
  ambit__frame_form form; /* of the first frame; pictures may have other sizes */
  size_t room;            /* bytes of the planes of the largest frame, rounded up to 8 */
  bool varies;            /* sizes differ */
  int64_t expected;       /* frames; 0: unknown */
  bool is_picture;
  ambit__numbered numbered;
  int64_t first;                  /* number of the first picture */
  int64_t end;                    /* number of the first picture that is missing */
  int64_t beyond;                 /* number of a picture after that; -1: there is none */
  char header[AMBIT__Y4M_HEADER]; /* Y4M: the line */
  ambit__inlet inlet;             /* Y4M */
} ambit__frames_in;

/* Reads the form. `packed`: pictures in colour are to be one plane. fd: a pipe with Y4M in place of
 * the file; 0: none. Close it after failures too. */
ambit_status ambit__frames_open(ambit__errors *errors, const char *path, int fd, bool packed,
                                atomic_bool *stop, ambit__frames_in *f);
void ambit__frames_close(ambit__frames_in *f);
size_t ambit__frames_bytes(const ambit__frames_in *f); /* of a frame in memory */
/* The end of a frame in memory of so many bytes. */
static inline ambit__frame_tail *ambit__frame_tail_of(const void *frame, size_t bytes)
{
  return (ambit__frame_tail *)((uintptr_t)frame + bytes - sizeof(ambit__frame_tail));
}
ambit_status ambit__frames_read(ambit__frames_in *f, ambit__errors *errors, int64_t frame,
                                unsigned char *bytes, bool *got);

/* ---- writing ---- */

typedef struct ambit__frames_out {
  const ambit__frames_in *like; /* frames have the form and the header of these */
  const char *path;
  bool is_picture;
  ambit__numbered numbered;
  struct ambit__file *file; /* Y4M */
  bool is_full;             /* samples of a video have the full range */
  unsigned char *other; /* a frame in the colours of the output; NULL: they are the same; owned */
  ambit__errors errors; /* of the file */
} ambit__frames_out;

/* fd: as above. Finish it after failures too. */
ambit_status ambit__frames_create(ambit__errors *errors, const char *path, int fd,
                                  const ambit__frames_in *like, ambit__frames_out *f);
/* The samples of each plane are at planes[i]. */
ambit_status ambit__frames_write(ambit__frames_out *f, ambit__errors *errors, int64_t frame,
                                 const ambit__frame_tail *tail, const unsigned char *const *planes);
/* Completes the file, with the frames written so far; `keep` is false: discards it. */
ambit_status ambit__frames_finish(ambit__frames_out *f, ambit__errors *errors, bool keep);

/* ---- colours: frame_colour.c ---- */

/* A frame with chroma as a picture of three bytes per pixel; and a picture, in planes or packed,
 * as luma and chroma of the same size. `full`: samples have the full range. */
void ambit__frame_to_rgb(const ambit__frame_form *form, bool full,
                         const unsigned char *const *planes, unsigned char *rgb);
void ambit__frame_to_yuv(const ambit__frame_form *form, const unsigned char *const *planes,
                         unsigned char *yuv);

/* ---- pictures: frame_png.c ---- */

struct ambit__drawn;

/* Colours become three planes, or with `packed` one plane of three bytes per pixel. *drawn: whether
 * Ambit has drawn it, and how (png.h); NULL: nobody asks. */
ambit_status ambit__png_form(ambit__errors *errors, const char *path, bool packed,
                             ambit__frame_form *form, struct ambit__drawn *drawn);
/* Raises an error unless the picture has this form. */
ambit_status ambit__png_read(ambit__errors *errors, const char *path, const ambit__frame_form *form,
                             unsigned char *bytes);
/* Reads a picture of another size, but in grey or in colour as this form, into `room` bytes. *own
 * is its form. */
ambit_status ambit__png_read_any(ambit__errors *errors, const char *path,
                                 const ambit__frame_form *form, size_t room, unsigned char *bytes,
                                 ambit__frame_form *own);
/* Writes a picture, which appears under its name when it is complete. `note`: that it is drawn, and
 * how (png.h); NULL: it is not. */
ambit_status ambit__png_write_frame(ambit__errors *errors, const char *path,
                                    const ambit__frame_form *form, const char *note,
                                    const unsigned char *const *planes);

#endif
