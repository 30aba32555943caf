/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/frames.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
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

  return ambit__numbered_any(path, n) && length >= 5 && !strcmp(path + length - 4, ".png");
}

bool ambit__numbered_any(const char *path, ambit__numbered *n)
{
  const char *percent = strchr(path, '%');
  char *end = NULL;
  long digits;

  *n = (ambit__numbered){.path = path, .is_one = !percent};
  if (!percent) return true;
  digits = percent[1] >= '0' && percent[1] <= '9' ? strtol(percent + 1, &end, 10) : 0;
  if (!end) end = (char *)percent + 1;
  if (*end != 'd' || strchr(end, '%') || digits > MOST_DIGITS) return false;
  n->head = (int)(percent - path);
  n->tail = (int)(end + 1 - path);
  n->digits = (int)digits;
  return true;
}

char *ambit__numbered_name(ambit__errors *errors, const ambit__numbered *n, int64_t number)
{
  const size_t size = strlen(n->path) + 32;
  char *name = ambit__new(errors, size, 1);

  if (name && n->is_one)
    strcpy(name, n->path);
  else if (name)
    snprintf(name, size, "%.*s%0*" PRId64 "%s", n->head, n->path, n->digits, number,
             n->path + n->tail);
  return name;
}

static bool picture_exists(const ambit__numbered *n, int64_t number)
{
  char *name = n->is_one && number ? NULL : ambit__numbered_name(NULL, n, number);
  const bool exists = name && !access(name, F_OK);

  free(name);
  return exists;
}

/* The number of a file of the folder, by its name; -1: it is another file. */
static int64_t number_of(const ambit__numbered *n, const char *base, const char *name)
{
  const char *digits = name + (n->path + n->head - base);
  char *again, *end;
  int64_t number;
  bool same;

  if (strncmp(name, base, (size_t)(digits - name)) || *digits < '0' || *digits > '9') return -1;
  number = strtoll(digits, &end, 10);
  again = strcmp(end, n->path + n->tail) ? NULL : ambit__numbered_name(NULL, n, number);
  same = again && !strcmp(again + (base - n->path), name);
  free(again);
  return same ? number : -1;
}

/* The least number above `end` of a picture; -1: there is none, or it cannot be known. */
static int64_t find_beyond(const ambit__numbered *n, int64_t end)
{
  const char *slash = strrchr(n->path, '/'), *base = slash ? slash + 1 : n->path;
  char *folder = base > n->path + n->head ? NULL : strdup(n->path);
  int64_t least = -1;
  DIR *dir;

  if (n->is_one || !folder) {
    free(folder);
    return -1;
  }
  strcpy(folder + (base - n->path), ".");
  dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    const int64_t number = number_of(n, base, e->d_name);

    if (number > end && (least < 0 || number < least)) least = number;
  }
  if (dir) closedir(dir);
  free(folder);
  return least;
}

/* ---- reading ---- */

static size_t round_up(size_t bytes)
{
  return (bytes + 7) / 8 * 8;
}

/* Pictures may differ in size. Those that cannot be read are reported when it is their turn. */
static void find_sizes(ambit__frames_in *f, bool packed)
{
  f->room = round_up(f->form.bytes);
  for (int64_t i = f->first + 1; i < f->end; i++) {
    char *name = ambit__numbered_name(NULL, &f->numbered, i);
    ambit__errors ignored = {0};
    ambit__frame_form form;

    if (name && !ambit__png_form(&ignored, name, packed, &form, NULL)) {
      f->varies |= form.width[0] != f->form.width[0] || form.height[0] != f->form.height[0];
      if (form.is_rgb == f->form.is_rgb && form.bytes > f->room) f->room = round_up(form.bytes);
    }
    ambit__errors_clear(&ignored);
    free(name);
  }
}

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
  f->beyond = find_beyond(&f->numbered, f->end);
  name = ambit__numbered_name(errors, &f->numbered, f->first);
  if (!name) return AMBIT_ENOMEM;
  s = ambit__png_form(errors, name, packed, &f->form, NULL);
  if (!s) find_sizes(f, packed);
  free(name);
  return s;
}

static ambit_status open_y4m(ambit__errors *errors, int fd, atomic_bool *stop, ambit__frames_in *f)
{
  int64_t bytes;
  int length;

  AMBIT_TRY(ambit__inlet_open(errors, f->path, fd, stop, &f->inlet));
  f->path = f->inlet.path;
  AMBIT_TRY(ambit__inlet_line(&f->inlet, errors, f->header, sizeof f->header, &length));
  AMBIT_CHECK(length >= 0, errors, AMBIT_EIO, "%s is empty", f->path);
  AMBIT_CHECK(length < (int)sizeof f->header, errors, AMBIT_EIO,
              "%s is not a Y4M file: it does not begin with a line of text", f->path);
  AMBIT_TRY(ambit__y4m_parse(errors, f->path, f->header, &f->form));
  f->room = round_up(f->form.bytes);
  bytes = ambit__inlet_bytes(&f->inlet) - length - 1;
  if (bytes > 0) f->expected = bytes / (int64_t)(f->form.bytes + sizeof frame_word);
  return AMBIT_OK;
}

ambit_status ambit__frames_open(ambit__errors *errors, const char *path, int fd, bool packed,
                                atomic_bool *stop, ambit__frames_in *f)
{
  f->path = path;
  f->expected = f->first = 0;
  f->inlet.fd = -1;
  f->header[0] = '\0';
  f->varies = false;
  f->is_picture = !fd && ambit__numbered_parse(path, &f->numbered);
  return f->is_picture ? open_pictures(errors, packed, f) : open_y4m(errors, fd, stop, f);
}

void ambit__frames_close(ambit__frames_in *f)
{
  ambit__inlet_close(&f->inlet);
}

size_t ambit__frames_bytes(const ambit__frames_in *f)
{
  return f->room + sizeof(ambit__frame_tail);
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
              "; all frames of a video must be alike",
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
                             unsigned char *bytes, ambit__frame_tail *tail, bool *got)
{
  size_t n;

  tail->form = f->form;
  AMBIT_TRY(read_frame_line(f, errors, frame, tail->parameters, got));
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
                                 unsigned char *bytes, ambit__frame_tail *tail, bool *got)
{
  char *name;
  ambit_status s;

  *got = f->first + frame < f->end;
  AMBIT_CHECK(*got || f->beyond < 0, errors, AMBIT_EIO,
              "%s: there is no picture %" PRId64 ", but one with the number %" PRId64
              ": the stream ends at the gap",
              f->path, f->end, f->beyond);
  if (!*got) return AMBIT_OK;
  tail->parameters[0] = '\0';
  name = ambit__numbered_name(errors, &f->numbered, f->first + frame);
  if (!name) return AMBIT_ENOMEM;
  s = ambit__png_read_any(errors, name, &f->form, f->room, bytes, &tail->form);
  free(name);
  return s;
}

ambit_status ambit__frames_read(ambit__frames_in *f, ambit__errors *errors, int64_t frame,
                                unsigned char *bytes, bool *got)
{
  ambit__frame_tail *tail = ambit__frame_tail_of(bytes, ambit__frames_bytes(f));
  ambit_status s = f->is_picture ? read_picture(f, errors, frame, bytes, tail, got)
                                 : read_y4m(f, errors, frame, bytes, tail, got);

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
    snprintf(line, sizeof line, "YUV4MPEG2 W%" PRId64 " H%" PRId64 " F25:1 Ip A1:1 %s\n",
             in->form.width[0], in->form.height[0],
             in->form.is_rgb ? "C444 XCOLORRANGE=LIMITED" : "Cmono");
  return ambit__file_write(f->file, line, strlen(line));
}

static ambit_status create_y4m(ambit__frames_out *f, int fd)
{
  if (fd || !strcmp(f->path, "-"))
    AMBIT_TRY(ambit__file_adopt(&f->errors, fd ? fd : STDOUT_FILENO,
                                fd ? f->path : "standard output", &f->file));
  else
    AMBIT_TRY(ambit__file_create(&f->errors, f->path, &f->file));
  return write_header(f);
}

/* Which frames can be written to which files. */
static ambit_status check_output(ambit__errors *errors, const ambit__frames_out *f)
{
  const ambit__frames_in *like = f->like;

  AMBIT_CHECK(f->is_picture || !like->varies, errors, AMBIT_EUNSUPPORTED,
              "the pictures %s have several sizes, and all frames of a video such as %s have one; "
              "write pictures (out%%04d.png)",
              like->path, f->path);
  AMBIT_CHECK(
      !f->is_picture || like->form.nplanes <= 3, errors, AMBIT_EUNSUPPORTED,
      "frames of %s are transparent, which pictures such as %s cannot be; write a Y4M file, "
      "or read an opaque video (ffmpeg: -pix_fmt yuv444p)",
      like->path, f->path);
  AMBIT_CHECK(!f->is_picture || !f->numbered.is_one || like->expected <= 1, errors, AMBIT_EINVAL,
              "%s has %" PRId64 " frames, and %s is one picture; write a picture for each, such as "
              "out%%04d.png",
              like->path, like->expected, f->path);
  return AMBIT_OK;
}

ambit_status ambit__frames_create(ambit__errors *errors, const char *path, int fd,
                                  const ambit__frames_in *like, ambit__frames_out *f)
{
  const ambit__frame_form *form = &like->form;

  *f = (ambit__frames_out){.like = like, .path = path};
  f->is_picture = !fd && ambit__numbered_parse(path, &f->numbered);
  f->is_full = strstr(like->header, " XCOLORRANGE=FULL") != NULL;
  AMBIT_TRY(check_output(errors, f));
  if (f->is_picture ? form->nplanes == 3 && !form->is_rgb : form->is_rgb) {
    f->other = ambit__new(errors, (size_t)(form->width[0] * form->height[0]), 3);
    if (!f->other) return AMBIT_ENOMEM;
  }
  if (!f->is_picture) create_y4m(f, fd);
  return pass_on(f, errors);
}

static ambit_status write_planes(const ambit__frames_out *f, const ambit__frame_form *form,
                                 const unsigned char *const *planes)
{
  if (f->other) {
    ambit__frame_to_yuv(form, planes, f->other);
    return ambit__file_write(f->file, f->other, (size_t)(3 * form->width[0] * form->height[0]));
  }
  for (int i = 0; i < form->nplanes; i++)
    AMBIT_TRY(ambit__file_write(f->file, planes[i], ambit__plane_bytes(form, i)));
  return AMBIT_OK;
}

static ambit_status write_y4m(const ambit__frames_out *f, const ambit__frame_tail *tail,
                              const unsigned char *const *planes)
{
  AMBIT_TRY(ambit__file_write(f->file, frame_word, strlen(frame_word)));
  AMBIT_TRY(ambit__file_write(f->file, tail->parameters, strlen(tail->parameters)));
  AMBIT_TRY(ambit__file_write(f->file, "\n", 1));
  AMBIT_TRY(write_planes(f, &tail->form, planes));
  return ambit__file_beside(f->file) ? AMBIT_OK : ambit__file_flush(f->file); /* a pipe: at once */
}

static ambit_status write_picture(const ambit__frames_out *f, ambit__errors *errors,
                                  const char *name, const ambit__frame_form *form,
                                  const unsigned char *const *planes)
{
  ambit__frame_form packed = {.nplanes = 1, .is_rgb = true, .is_packed = true};
  const unsigned char *const pixels[] = {f->other};

  if (!f->other) return ambit__png_write_frame(errors, name, form, NULL, planes);
  packed.width[0] = form->width[0];
  packed.height[0] = form->height[0];
  ambit__frame_to_rgb(form, f->is_full, planes, f->other);
  return ambit__png_write_frame(errors, name, &packed, NULL, pixels);
}

ambit_status ambit__frames_write(ambit__frames_out *f, ambit__errors *errors, int64_t frame,
                                 const ambit__frame_tail *tail, const unsigned char *const *planes)
{
  char *name;
  ambit_status s;

  if (!f->is_picture) {
    write_y4m(f, tail, planes);
    return pass_on(f, errors);
  }
  AMBIT_CHECK(!f->numbered.is_one || frame == 0, errors, AMBIT_EINVAL,
              "%s has several frames, and %s is one picture: it has the first of them",
              f->like->path, f->path);
  name = ambit__numbered_name(errors, &f->numbered, f->like->first + frame);
  if (!name) return AMBIT_ENOMEM;
  s = write_picture(f, errors, name, &tail->form, planes);
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
  free(f->other);
  f->other = NULL;
  s = pass_on(f, errors);
  ambit__errors_clear(&f->errors);
  return s;
}
