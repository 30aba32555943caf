/* SPDX-License-Identifier: BSD-3-Clause */
/* PNG files, read back with libpng or, in a build without it, the advice in the error. */
#define _XOPEN_SOURCE 700

#include "io/png.h"

#include "base/file.h"
#include "support/folder.h"
#include "support/told.h"

#include <math.h>

static ambit_status ramp_row(void *user, int64_t y, double *row)
{
  for (int64_t x = 0; x < *(int64_t *)user; x++)
    row[x] = (double)x;
  if (!y) row[0] = NAN;
  return AMBIT_OK;
}

#ifndef AMBIT_HAVE_PNG

static void without_libpng_the_way_out_is_told(void)
{
  int64_t width = 4;

  CHECK(ambit__png_write(&errors, folder_path("a.png"), width, 4, ramp_row, &width, NULL));
  told(AMBIT_EIO, "libpng-dev");
  CHECK_EQ(0, folder_files());
}

#else

#  include <png.h>
#  include <signal.h>
#  include <sys/resource.h>

/* The decoded picture, three bytes per pixel. The caller frees it. */
static unsigned char *decode(const char *path, unsigned *width, unsigned *height)
{
  png_image image = {.version = PNG_IMAGE_VERSION};
  unsigned char *pixels = NULL;

  CHECK_MSG(png_image_begin_read_from_file(&image, path), "%s", image.message);
  CHECK(image.format == PNG_FORMAT_RGB);
  image.format = PNG_FORMAT_RGB;
  *width = image.width;
  *height = image.height;
  pixels = malloc(PNG_IMAGE_SIZE(image));
  CHECK_MSG(png_image_finish_read(&image, NULL, pixels, 0, NULL), "%s", image.message);
  return pixels;
}

static void check_pixel(const unsigned char *pixels, unsigned width, unsigned x, unsigned y,
                        ambit__rgb want)
{
  const unsigned char *p = pixels + 3 * ((size_t)y * width + x);

  CHECK_MSG(p[0] == want.r && p[1] == want.g && p[2] == want.b,
            "pixel %u,%u is %d %d %d; want %d %d %d", x, y, p[0], p[1], p[2], want.r, want.g,
            want.b);
}

static void pixels_have_the_colours_of_their_values(void)
{
  const char *path = folder_path("a.png");
  ambit__rgb table[AMBIT__COLOURS];
  int64_t n = 600;
  unsigned char *pixels;
  unsigned width, height;

  CHECK_MSG(!ambit__png_write(&errors, path, n, 40, ramp_row, &n, NULL), "%s", errors.text);
  CHECK_EQ(1, folder_files());
  pixels = decode(path, &width, &height);
  CHECK(width == 600 && height == 40);
  ambit__colour_table(AMBIT__DUSK, table);
  check_pixel(pixels, width, 0, 0, AMBIT__NO_COLOUR);
  check_pixel(pixels, width, 0, 1, table[0]);
  check_pixel(pixels, width, 599, 0, table[AMBIT__COLOURS - 1]);
  check_pixel(pixels, width, 599, 39, table[AMBIT__COLOURS - 1]);
  for (unsigned x = 1; x < 600; x += 7)
    check_pixel(pixels, width, x, 20, table[(int)(x / 599.0 * (AMBIT__COLOURS - 1) + 0.5)]);
  free(pixels);
}

static ambit_status glider_row(void *user, int64_t y, double *row)
{
  static const char *const glider[] = {".#.", "..#", "###"};

  (void)user;
  for (int x = 0; x < 3; x++)
    row[x] = glider[y][x] == '#';
  return AMBIT_OK;
}

static void cells_of_a_tiny_field_are_sharp_squares(void)
{
  const char *path = folder_path("glider.png");
  ambit__rgb table[AMBIT__COLOURS];
  unsigned char *pixels;
  unsigned width, height;

  CHECK(!ambit__png_write(&errors, path, 3, 3, glider_row, NULL, NULL));
  pixels = decode(path, &width, &height);
  CHECK(width == 510 && height == 510);
  ambit__colour_table(AMBIT__DUSK, table);
  for (unsigned y = 0; y < 510; y += 13)
    for (unsigned x = 0; x < 510; x += 13) {
      double row[3];

      glider_row(NULL, y / 170, row);
      check_pixel(pixels, width, x, y, table[row[x / 170] > 0 ? AMBIT__COLOURS - 1 : 0]);
    }
  free(pixels);
}

/* Noise, which does not compress. */
static ambit_status noise_row(void *user, int64_t y, double *row)
{
  unsigned *state = user;

  (void)y;
  for (int x = 0; x < 400; x++)
    row[x] = *state = *state * 1664525u + 1013904223u;
  return AMBIT_OK;
}

static void a_full_disk_leaves_the_old_picture(void)
{
  const char *path = folder_path("a.png");
  struct rlimit old, small;
  unsigned state = 1, width, height;

  CHECK(!ambit__png_write(&errors, path, 3, 3, glider_row, NULL, NULL));
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 70000;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_EQ(AMBIT_EIO, ambit__png_write(&errors, path, 400, 400, noise_row, &state, NULL));
  setrlimit(RLIMIT_FSIZE, &old);
  told(AMBIT_EIO, "File too large");
  free(decode(path, &width, &height));
  CHECK_EQ(510, width);
  CHECK_EQ(1, folder_files());
}

static void an_impossible_place_is_told(void)
{
  CHECK(ambit__png_write(&errors, folder_path("no/a.png"), 3, 3, glider_row, NULL, NULL));
  told(AMBIT_EIO, "no/a.png: No such file");
}

static ambit_status failing_row(void *user, int64_t y, double *row)
{
  (void)user, (void)y;
  row[0] = 0;
  return AMBIT_EDEVICE;
}

static void a_failing_row_writes_nothing(void)
{
  CHECK_EQ(AMBIT_EDEVICE,
           ambit__png_write(&errors, folder_path("a.png"), 1, 9, failing_row, NULL, NULL));
  CHECK_EQ(0, folder_files());
}

#endif

#define T(name)                                                                                    \
  {                                                                                                \
#    name, name##_                                                                                 \
  }
#ifndef AMBIT_HAVE_PNG
IN_FOLDER(without_libpng_the_way_out_is_told)
static void skip_(void)
{
  SKIP("built without libpng");
}
static const test_case tests[] = {T(without_libpng_the_way_out_is_told),
                                  {"pixels_have_the_colours_of_their_values", skip_},
                                  {"cells_of_a_tiny_field_are_sharp_squares", skip_},
                                  {"a_full_disk_leaves_the_old_picture", skip_},
                                  {"an_impossible_place_is_told", skip_},
                                  {"a_failing_row_writes_nothing", skip_},
                                  {0}};
#else
IN_FOLDER(pixels_have_the_colours_of_their_values)
IN_FOLDER(cells_of_a_tiny_field_are_sharp_squares)
IN_FOLDER(a_full_disk_leaves_the_old_picture)
IN_FOLDER(an_impossible_place_is_told)
IN_FOLDER(a_failing_row_writes_nothing)
static const test_case tests[] = {T(pixels_have_the_colours_of_their_values),
                                  T(cells_of_a_tiny_field_are_sharp_squares),
                                  T(a_full_disk_leaves_the_old_picture),
                                  T(an_impossible_place_is_told),
                                  T(a_failing_row_writes_nothing),
                                  {0}};
#endif

int main(int argc, char **argv)
{
  return test_main(argc, argv, tests);
}
