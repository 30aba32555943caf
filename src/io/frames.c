/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/frames.h"

#include "base/file.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_PICTURES = 5, MOST_DIGITS = 18 }; /* the first picture has a number below this */

static const char frame_word[] = "FRAME";

/* ---- names ---- */

bool ambit__numbered_parse(const char *path, ambit__numbered *n)
{
  const size_t length = strlen(path);
  const char *percent = strchr(path, '%');
  char *end = NULL;
  long digits;

  *n = (ambit__numbered){.path = path, .is_one = !percent};
  if (length < 5 || strcmp(path + length - 4, ".png")) return false;
  if (!percent) return true;
  digits = percent[1] >= '0' && percent[1] <= '9' ? strtol(percent + 1, &end, 10) : 0;
  if (!end) end = (char *)percent + 1;
  if (*end != 'd' || strchr(end, '%') || digits > MOST_DIGITS) return false;
  n->head = (int)(percent - path);
  n->tail = (int)(end + 1 - path);
  n->digits = (int)digits;
  return true;
}

char *ambit__numbered_name(const ambit__numbered *n, int64_t number)
{
  const size_t size = strlen(n->path) + 32;
  char *name = malloc(size);

  if (name && n->is_one)
    strcpy(name, n->path);
  else if (name)
    snprintf(name, size, "%.*s%0*" PRId64 "%s", n->head, n->path, n->digits, number,
             n->path + n->tail);
  return name;
}

static ambit_status name_of(ambit__errors *errors, const ambit__numbered *n, int64_t number,
                            char **name)
{
  *name = ambit__numbered_name(n, number);
  AMBIT_CHECK(*name, errors, AMBIT_ENOMEM, "no memory for the name of a picture");
  return AMBIT_OK;
}

static bool picture_exists(const ambit__numbered *n, int64_t number)
{
  char *name = n->is_one && number ? NULL : ambit__numbered_name(n, number);
  const bool exists = name && !access(name, F_OK);

  free(name);
  return exists;
}

/* ---- reading ---- */

static ambit_status open_pictures(ambit__errors *errors, bool packed, ambit__frames_in *f)
{
  char *name;
  ambit_status s;

  while (f->first < FIRST_PICTURES && !picture_exists(&f->numbered, f->first))
    f->first++;
  AMBIT_CHECK(f->first == 0 || !f->numbered.is_one, errors, AMBIT_EIO, "there is no file %s",
              f->path);
  AMBIT_CHECK(f->first < FIRST_PICTURES, errors, AMBIT_EIO,
              "%s: there is no picture with a number from 0 to %d", f->path, FIRST_PICTURES - 1);
  for (f->end = f->first; picture_exists(&f->numbered, f->end);)
    f->end++;
  f->expected = f->end - f->first;
  AMBIT_TRY(name_of(errors, &f->numbered, f->first, &name));
  s = ambit__png_form(errors, name, packed, &f->form);
  free(name);
  return s;
}

static ambit_status open_y4m(ambit__errors *errors, atomic_bool *stop, ambit__frames_in *f)
{
  int64_t bytes;
  int length;

  AMBIT_TRY(ambit__inlet_open(errors, f->path, stop, &f->inlet));
  f->path = f->inlet.path;
  AMBIT_TRY(ambit__inlet_line(&f->inlet, errors, f->header, sizeof f->header, &length));
  AMBIT_CHECK(length >= 0, errors, AMBIT_EIO, "%s is empty", f->path);
  AMBIT_CHECK(length < (int)sizeof f->header, errors, AMBIT_EIO,
              "%s is not a Y4M file: it does not begin with a line of text", f->path);
  AMBIT_TRY(ambit__y4m_parse(errors, f->path, f->header, &f->form));
  bytes = ambit__inlet_bytes(&f->inlet) - length - 1;
  if (bytes > 0) f->expected = bytes / (int64_t)(f->form.bytes + sizeof frame_word);
  return AMBIT_OK;
}

ambit_status ambit__frames_open(ambit__errors *errors, const char *path, bool packed,
                                atomic_bool *stop, ambit__frames_in *f)
{
  f->path = path;
  f->expected = f->first = 0;
  f->inlet.fd = -1;
  f->header[0] = '\0';
  f->is_picture = ambit__numbered_parse(path, &f->numbered);
  return f->is_picture ? open_pictures(errors, packed, f) : open_y4m(errors, stop, f);
}

void ambit__frames_close(ambit__frames_in *f)
{
  ambit__inlet_close(&f->inlet);
}

size_t ambit__frames_bytes(const ambit__frames_in *f)
{
  return f->form.bytes + AMBIT__Y4M_FRAME;
}

static bool same_form(const ambit__frame_form *a, const ambit__frame_form *b)
{
  bool same = a->nplanes == b->nplanes;

  for (int i = 0; same && i < a->nplanes; i++)
    same = a->width[i] == b->width[i] && a->height[i] == b->height[i];
  return same;
}

/* Files that were concatenated: a header in the place of a frame must describe the same frames. */
static ambit_status take_header(ambit__frames_in *f, ambit__errors *errors, int64_t frame,
                                const char *line)
{
  ambit__frame_form form;

  AMBIT_TRY(ambit__y4m_parse(errors, f->path, line, &form));
  AMBIT_CHECK(same_form(&form, &f->form), errors, AMBIT_EIO,
              "%s: from frame %" PRId64 " on the size or the colour space is another one: %" PRId64
              "x%" PRId64 " instead of %" PRId64 "x%" PRId64
              "; all frames of a stream must be alike",
              f->path, frame, form.width[0], form.height[0], f->form.width[0], f->form.height[0]);
  return AMBIT_OK;
}

/* The line before a frame; *got is false at the end of the file. */
static ambit_status read_frame_line(ambit__frames_in *f, ambit__errors *errors, int64_t frame,
                                    char *parameters, bool *got)
{
  char line[AMBIT__Y4M_HEADER];
  const size_t n = strlen(frame_word);
  int length;

  AMBIT_TRY(ambit__inlet_line(&f->inlet, errors, line, sizeof line, &length));
  if (length >= 0 && length < (int)sizeof line && !strncmp(line, "YUV4MPEG2", 9)) {
    AMBIT_TRY(take_header(f, errors, frame, line));
    AMBIT_TRY(ambit__inlet_line(&f->inlet, errors, line, sizeof line, &length));
  }
  *got = length >= 0 && !atomic_load(f->inlet.stop);
  if (!*got) return AMBIT_OK;
  AMBIT_CHECK(
      length < AMBIT__Y4M_FRAME && !strncmp(line, frame_word, n) && (line[n] == ' ' || !line[n]),
      errors, AMBIT_EIO,
      "%s: frame %" PRId64 " does not begin with a line %s: the file is damaged, or cut off",
      f->path, frame, frame_word);
  memcpy(parameters, line + n, (size_t)length + 1 - n);
  return AMBIT_OK;
}

static ambit_status read_y4m(ambit__frames_in *f, ambit__errors *errors, int64_t frame,
                             unsigned char *bytes, bool *got)
{
  size_t n;

  AMBIT_TRY(read_frame_line(f, errors, frame, (char *)bytes + f->form.bytes, got));
  if (!*got) return AMBIT_OK;
  *got = false;
  AMBIT_TRY(ambit__inlet_read(&f->inlet, errors, bytes, f->form.bytes, &n));
  if (n < f->form.bytes && atomic_load(f->inlet.stop)) return AMBIT_OK;
  AMBIT_CHECK(n == f->form.bytes, errors, AMBIT_EIO,
              "%s: frame %" PRId64 " is cut off: the file ends after %zu of its %zu bytes", f->path,
              frame, n, f->form.bytes);
  *got = true;
  return AMBIT_OK;
}

static ambit_status read_picture(ambit__frames_in *f, ambit__errors *errors, int64_t frame,
                                 unsigned char *bytes, bool *got)
{
  char *name;
  ambit_status s;

  *got = f->first + frame < f->end;
  if (!*got) return AMBIT_OK;
  bytes[f->form.bytes] = '\0';
  AMBIT_TRY(name_of(errors, &f->numbered, f->first + frame, &name));
  s = ambit__png_read(errors, name, &f->form, bytes);
  free(name);
  return s;
}

ambit_status ambit__frames_read(ambit__frames_in *f, ambit__errors *errors, int64_t frame,
                                unsigned char *bytes, bool *got)
{
  ambit_status s = f->is_picture ? read_picture(f, errors, frame, bytes, got)
                                 : read_y4m(f, errors, frame, bytes, got);

  if (s) *got = false;
  return s;
}

/* ---- writing ---- */

/* The errors of the file, which has its own. */
static ambit_status pass_on(ambit__frames_out *f, ambit__errors *errors)
{
  if (!f->errors.status) return AMBIT_OK;
  ambit__raise(errors, f->errors.status, "%s", f->errors.text ? f->errors.text : "out of memory");
  return f->errors.status;
}

static ambit_status write_header(ambit__frames_out *f)
{
  const ambit__frames_in *in = f->like;
  char line[AMBIT__Y4M_HEADER + 1];

  if (in->header[0])
    snprintf(line, sizeof line, "%s\n", in->header);
  else
    snprintf(line, sizeof line, "YUV4MPEG2 W%" PRId64 " H%" PRId64 " F25:1 Ip A1:1 Cmono\n",
             in->form.width[0], in->form.height[0]);
  return ambit__file_write(f->file, line, strlen(line));
}

static ambit_status create_y4m(ambit__frames_out *f)
{
  if (!strcmp(f->path, "-"))
    AMBIT_TRY(ambit__file_adopt(&f->errors, STDOUT_FILENO, "standard output", &f->file));
  else
    AMBIT_TRY(ambit__file_create(&f->errors, f->path, &f->file));
  return write_header(f);
}

ambit_status ambit__frames_create(ambit__errors *errors, const char *path,
                                  const ambit__frames_in *like, ambit__frames_out *f)
{
  *f = (ambit__frames_out){.like = like, .path = path};
  f->is_picture = ambit__numbered_parse(path, &f->numbered);
  AMBIT_CHECK(f->is_picture || !like->form.is_rgb, errors, AMBIT_EUNSUPPORTED,
              "pictures in red, green and blue cannot be written to %s: Y4M has other colours; "
              "write pictures (out%%04d.png)",
              path);
  AMBIT_CHECK(!f->is_picture || like->form.nplanes == 1 || like->form.is_rgb, errors,
              AMBIT_EUNSUPPORTED,
              "frames of %s have luma and chroma, which pictures such as %s cannot have; write a "
              "Y4M file, or read a grey video (ffmpeg: -pix_fmt gray)",
              like->path, path);
  AMBIT_CHECK(!f->is_picture || !f->numbered.is_one || like->expected <= 1, errors, AMBIT_EINVAL,
              "%s has %" PRId64 " frames, and %s is one picture; write a picture for each, such as "
              "out%%04d.png",
              like->path, like->expected, path);
  if (!f->is_picture) create_y4m(f);
  return pass_on(f, errors);
}

static ambit_status write_y4m(ambit__frames_out *f, const unsigned char *const *planes,
                              const char *parameters)
{
  AMBIT_TRY(ambit__file_write(f->file, frame_word, strlen(frame_word)));
  AMBIT_TRY(ambit__file_write(f->file, parameters, strlen(parameters)));
  AMBIT_TRY(ambit__file_write(f->file, "\n", 1));
  for (int i = 0; i < f->like->form.nplanes; i++)
    AMBIT_TRY(ambit__file_write(f->file, planes[i], ambit__plane_bytes(&f->like->form, i)));
  return ambit__file_beside(f->file) ? AMBIT_OK : ambit__file_flush(f->file); /* a pipe: at once */
}

ambit_status ambit__frames_write(ambit__frames_out *f, ambit__errors *errors, int64_t frame,
                                 const unsigned char *const *planes, const char *parameters)
{
  char *name;
  ambit_status s;

  if (!f->is_picture) {
    write_y4m(f, planes, parameters);
    return pass_on(f, errors);
  }
  AMBIT_CHECK(!f->numbered.is_one || frame == 0, errors, AMBIT_EINVAL,
              "%s has several frames, and %s is one picture: it has the first of them",
              f->like->path, f->path);
  AMBIT_TRY(name_of(errors, &f->numbered, f->like->first + frame, &name));
  s = ambit__png_write_frame(errors, name, &f->like->form, planes);
  free(name);
  return s;
}

ambit_status ambit__frames_finish(ambit__frames_out *f, ambit__errors *errors, bool keep)
{
  ambit_status s;

  if (f->file && keep)
    ambit__file_commit(f->file);
  else
    ambit__file_abort(f->file);
  f->file = NULL;
  s = pass_on(f, errors);
  ambit__errors_clear(&f->errors);
  return s;
}
