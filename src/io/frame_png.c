/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_png.c - pictures as frames: 8 bits per sample, as they are in the file.
 *
 * libpng reports errors by longjmp, to setjmp calls in functions that change no local afterwards;
 * everything to be freed belongs to the coder. */
#include "io/frames.h"

#include "base/memory.h"
#include "io/png.h"

#include <stdlib.h>

#ifndef AMBIT_HAVE_PNG

ambit_status ambit__png_try(ambit__errors *errors, const char *path)
{
  return ambit__raise(errors, AMBIT_EIO,
                      "cannot write %s: Ambit was built without libpng; install libpng-dev "
                      "(Debian, Ubuntu) or libpng-devel (Fedora) and rebuild, or save as .npy",
                      path);
}

#  pragma GCC diagnostic push
#  pragma GCC diagnostic ignored "-Wunused-parameter"

/* A call that fails. */
#  define REFUSE(name, ...)                                                                        \
    ambit_status ambit__png_##name(ambit__errors *errors, const char *path, __VA_ARGS__)           \
    {                                                                                              \
      return ambit__png_try(errors, path);                                                         \
    }
REFUSE(form, bool packed, ambit__frame_form *form, ambit__drawn *drawn)
REFUSE(read_any, const ambit__frame_form *form, size_t room, unsigned char *bytes,
       ambit__frame_form *own)
REFUSE(write_frame, const ambit__frame_form *form, const char *note,
       const unsigned char *const *planes)
#  pragma GCC diagnostic pop

#else

#  include "base/file.h"

#  include <errno.h>
#  include <inttypes.h>
#  include <png.h>
#  include <setjmp.h>
#  include <stdio.h>
#  include <string.h>
#  include <sys/stat.h>

typedef struct coder {
  ambit__errors *errors;
  const char *path;
  const char *doing; /* "read" or "write", for messages */
  FILE *in;          /* reading */
  ambit__file *out;  /* writing */
  png_structp png;
  png_infop info;
  unsigned char *line; /* a row of pixels */
  jmp_buf back;
} coder;

static void on_error(png_structp png, png_const_charp message)
{
  coder *c = png_get_error_ptr(png);

  if (!c->errors->status)
    ambit__raise(c->errors, AMBIT_EIO, "cannot %s %s: libpng: %s", c->doing, c->path, message);
  longjmp(c->back, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
  (void)png, (void)message;
}

/* ---- reading ---- */

/* libpng allocates as much memory as the header of a chunk asks for. So the chunks in front of the
 * pixels are compared with the length of the file before libpng sees them. */
static ambit_status check_chunks(const coder *c)
{
  struct stat st;
  unsigned char head[8] = {0};
  int64_t at = 8;

  AMBIT_CHECK(!fstat(fileno(c->in), &st) && S_ISREG(st.st_mode), c->errors, AMBIT_EIO,
              "%s is not a regular file; pictures are not read from pipes", c->path);
  while (memcmp(head + 4, "IDAT", 4) && !fseeko(c->in, (off_t)at, SEEK_SET) &&
         fread(head, 1, sizeof head, c->in) == sizeof head) {
    const int64_t bytes =
        (int64_t)head[0] << 24 | (int64_t)head[1] << 16 | (int64_t)head[2] << 8 | head[3];

    AMBIT_CHECK(bytes <= (int64_t)st.st_size - at, c->errors, AMBIT_EIO,
                "%s is damaged or cut off: a part of %" PRId64 " bytes begins at byte %" PRId64
                " of %" PRId64,
                c->path, bytes, at, (int64_t)st.st_size);
    at += bytes + 12; /* length, name and checksum */
  }
  rewind(c->in);
  return AMBIT_OK;
}

static ambit_status open_reader(coder *c)
{
  c->in = fopen(c->path, "rb");
  AMBIT_CHECK(c->in, c->errors, AMBIT_EIO, "cannot open %s: %s", c->path, strerror(errno));
  AMBIT_TRY(check_chunks(c));
  c->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, c, on_error, on_warning);
  if (c->png) c->info = png_create_info_struct(c->png);
  AMBIT_CHECK(c->info, c->errors, AMBIT_ENOMEM, "cannot read %s: libpng is out of memory", c->path);
  return AMBIT_OK;
}

static void close_reader(coder *c)
{
  if (c->png) png_destroy_read_struct(&c->png, &c->info, NULL);
  if (c->in) fclose(c->in);
  free(c->line);
}

static void describe(ambit__frame_form *form, int64_t width, int64_t height, bool rgb, bool packed)
{
  *form = (ambit__frame_form){
      .nplanes = rgb && !packed ? 3 : 1, .is_rgb = rgb, .is_packed = rgb && packed};
  for (int i = 0; i < form->nplanes; i++) {
    form->width[i] = width;
    form->height[i] = height;
    form->bytes += ambit__plane_bytes(form, i);
  }
}

/* A channel of its own, or a chunk of transparent colours, which a palette would turn into one. */
static bool is_transparent(const coder *c)
{
  return png_get_color_type(c->png, c->info) & PNG_COLOR_MASK_ALPHA ||
         png_get_valid(c->png, c->info, PNG_INFO_tRNS);
}

/* Reads the header. Palettes become colours, and a few bits per sample eight. */
static ambit_status read_header(coder *c, bool packed, ambit__frame_form *form)
{
  int type;

  if (setjmp(c->back)) return c->errors->status;
  png_init_io(c->png, c->in);
  png_read_info(c->png, c->info);
  type = png_get_color_type(c->png, c->info);
  AMBIT_CHECK(
      png_get_bit_depth(c->png, c->info) <= 8 && !is_transparent(c), c->errors, AMBIT_EUNSUPPORTED,
      "%s has %d bits per sample%s; a picture to read is opaque, grey or red, green and blue, "
      "with 8 bits: convert it, for example with ffmpeg -i %s -pix_fmt rgb24 out.png",
      c->path, png_get_bit_depth(c->png, c->info), is_transparent(c) ? " and is transparent" : "",
      c->path);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(c->png);
  if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(c->png);
  png_set_interlace_handling(c->png);
  png_read_update_info(c->png, c->info);
  describe(form, png_get_image_width(c->png, c->info), png_get_image_height(c->png, c->info),
           type & PNG_COLOR_MASK_COLOR, packed);
  AMBIT_CHECK(png_get_interlace_type(c->png, c->info) == PNG_INTERLACE_NONE, c->errors,
              AMBIT_EUNSUPPORTED, "%s is interlaced, which frames must not be", c->path);
  AMBIT_CHECK(png_get_rowbytes(c->png, c->info) == (size_t)form->width[0] * (form->is_rgb ? 3 : 1),
              c->errors, AMBIT_EUNSUPPORTED, "%s has %zu bytes in rows of %" PRId64 " pixels",
              c->path, (size_t)png_get_rowbytes(c->png, c->info), form->width[0]);
  return AMBIT_OK;
}

static void parse_note(const char *text, ambit__drawn *d)
{
  int colour[3], zoom[2];
  char kind;

  if (sscanf(text, "0 is %d %d %d, %c%*s of %d x %d", &colour[0], &colour[1], &colour[2], &kind,
             &zoom[0], &zoom[1]) != 6 ||
      zoom[0] < 1 || zoom[1] < 1)
    return;
  *d = (ambit__drawn){
      .is_drawn = true,
      .zoom_x = zoom[0],
      .zoom_y = zoom[1],
      .averaged = kind == 'm',
      .zero = {(unsigned char)colour[0], (unsigned char)colour[1], (unsigned char)colour[2]}};
}

ambit_status ambit__png_form(ambit__errors *errors, const char *path, bool packed,
                             ambit__frame_form *form, ambit__drawn *drawn)
{
  coder c = {.errors = errors, .path = path, .doing = "read"};
  png_textp texts = NULL;
  ambit_status s = open_reader(&c);
  int n = 0;

  if (drawn) *drawn = (ambit__drawn){.zoom_x = 1, .zoom_y = 1};
  if (!s) s = read_header(&c, packed, form);
  if (!s && drawn) n = png_get_text(c.png, c.info, &texts, NULL);
  for (int i = 0; i < n; i++)
    if (!strcmp(texts[i].key, AMBIT__PNG_KEY)) parse_note(texts[i].text, drawn);
  close_reader(&c);
  return s;
}

static void unpack_row(const ambit__frame_form *form, const unsigned char *line, int64_t y,
                       unsigned char *bytes)
{
  for (int i = 0; i < 3; i++) {
    unsigned char *to = bytes + (size_t)i * ambit__plane_bytes(form, i) + y * form->width[0];

    for (int64_t x = 0; x < form->width[0]; x++)
      to[x] = line[3 * x + i];
  }
}

static ambit_status read_rows(coder *c, const ambit__frame_form *form, unsigned char *bytes)
{
  const int64_t row = form->width[0] * (form->is_packed ? 3 : 1);

  if (setjmp(c->back)) return c->errors->status;
  for (int64_t y = 0; y < form->height[0]; y++)
    if (form->nplanes == 3) {
      png_read_row(c->png, c->line, NULL);
      unpack_row(form, c->line, y, bytes);
    } else {
      png_read_row(c->png, bytes + y * row, NULL);
    }
  png_read_end(c->png, NULL);
  return AMBIT_OK;
}

static ambit_status read_like(coder *c, const ambit__frame_form *form, size_t room,
                              unsigned char *bytes, ambit__frame_form *own)
{
  AMBIT_TRY(read_header(c, form->is_packed, own));
  AMBIT_CHECK(own->is_rgb == form->is_rgb, c->errors, AMBIT_EIO,
              "%s is a picture in %s, the first one in %s; all pictures of a stream must be alike, "
              "but for their size",
              c->path, own->is_rgb ? "colour" : "grey", form->is_rgb ? "colour" : "grey");
  AMBIT_CHECK(own->bytes <= room, c->errors, AMBIT_EIO,
              "%s has become larger since the stream began", c->path);
  c->line = ambit__new(c->errors, (size_t)own->width[0], 3);
  return c->line ? read_rows(c, own, bytes) : AMBIT_ENOMEM;
}

ambit_status ambit__png_read_any(ambit__errors *errors, const char *path,
                                 const ambit__frame_form *form, size_t room, unsigned char *bytes,
                                 ambit__frame_form *own)
{
  coder c = {.errors = errors, .path = path, .doing = "read"};
  ambit_status s = open_reader(&c);

  if (!s) s = read_like(&c, form, room, bytes, own);
  close_reader(&c);
  return s;
}

/* ---- writing ---- */

ambit_status ambit__png_try(ambit__errors *errors, const char *path)
{
  (void)errors, (void)path;
  return AMBIT_OK;
}

static void on_write(png_structp png, png_bytep data, png_size_t bytes)
{
  coder *c = png_get_io_ptr(png);

  if (ambit__file_write(c->out, data, bytes)) png_error(png, "write failed");
}

static void on_flush(png_structp png)
{
  (void)png;
}

static const unsigned char *row_of(const coder *c, const ambit__frame_form *form,
                                   const unsigned char *const *planes, int64_t y)
{
  const int64_t width = form->width[0];

  if (form->nplanes == 1) return planes[0] + y * width * (form->is_packed ? 3 : 1);
  for (int i = 0; i < 3; i++)
    for (int64_t x = 0; x < width; x++)
      c->line[3 * x + i] = planes[i][y * width + x];
  return c->line;
}

/* What Ambit has drawn has colours of sRGB, and a note. */
static ambit_status write_rows(coder *c, const ambit__frame_form *form, const char *note,
                               const unsigned char *const *planes)
{
  png_text text = {.compression = PNG_TEXT_COMPRESSION_NONE,
                   .key = AMBIT__PNG_KEY,
                   .text = (char *)(uintptr_t)note};

  if (setjmp(c->back)) return c->errors->status;
  png_set_write_fn(c->png, c, on_write, on_flush);
  png_set_IHDR(c->png, c->info, (png_uint_32)form->width[0], (png_uint_32)form->height[0], 8,
               form->is_rgb ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (note) png_set_sRGB(c->png, c->info, PNG_sRGB_INTENT_PERCEPTUAL);
  if (note) png_set_text(c->png, c->info, &text, 1);
  png_set_compression_level(c->png, 4); /* half the time of the default, 1/6 more bytes */
  png_write_info(c->png, c->info);
  for (int64_t y = 0; y < form->height[0]; y++)
    png_write_row(c->png, row_of(c, form, planes, y));
  png_write_end(c->png, NULL);
  return AMBIT_OK;
}

static ambit_status open_writer(coder *c)
{
  if (setjmp(c->back)) return c->errors->status; /* a libpng that differs from that of the build */
  c->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, c, on_error, on_warning);
  if (c->png) c->info = png_create_info_struct(c->png);
  AMBIT_CHECK(c->info, c->errors, AMBIT_ENOMEM, "cannot write %s: libpng is out of memory",
              c->path);
  return ambit__file_create(c->errors, c->path, &c->out);
}

ambit_status ambit__png_write_frame(ambit__errors *errors, const char *path,
                                    const ambit__frame_form *form, const char *note,
                                    const unsigned char *const *planes)
{
  coder c = {.errors = errors, .path = path, .doing = "write"};
  ambit_status s;

  c.line = ambit__new(errors, (size_t)form->width[0], 3);
  s = c.line ? open_writer(&c) : AMBIT_ENOMEM;
  if (!s) s = write_rows(&c, form, note, planes);
  if (!s) {
    s = ambit__file_commit(c.out);
    c.out = NULL;
  }
  if (c.png) png_destroy_write_struct(&c.png, &c.info);
  ambit__file_abort(c.out);
  free(c.line);
  return s;
}

#endif

ambit_status ambit__png_read(ambit__errors *errors, const char *path, const ambit__frame_form *form,
                             unsigned char *bytes)
{
  ambit__frame_form own = {0};

  AMBIT_TRY(ambit__png_read_any(errors, path, form, form->bytes, bytes, &own));
  AMBIT_CHECK(own.width[0] == form->width[0] && own.height[0] == form->height[0], errors, AMBIT_EIO,
              "%s has changed while it was read", path);
  return AMBIT_OK;
}
