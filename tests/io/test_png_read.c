/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of other programs, chunk by chunk: palettes, transparency, and headers that lie. */
#define _XOPEN_SOURCE 700
#include "io/frames.h"
#include "support/folder.h"
#include "support/told.h"

#include <sys/resource.h>

enum { WIDTH = 5, HEIGHT = 3, MOST_BYTES = 1 << 12 };

typedef struct picture {
  size_t n;
  unsigned char bytes[MOST_BYTES];
} picture;

static void put(picture *p, const void *data, size_t n)
{
  memcpy(p->bytes + p->n, data, n);
  p->n += n;
}

static void put_number(picture *p, uint32_t x)
{
  put(p,
      (unsigned char[]){(unsigned char)(x >> 24), (unsigned char)(x >> 16), (unsigned char)(x >> 8),
                        (unsigned char)x},
      4);
}

static uint32_t checksum(const unsigned char *bytes, size_t n)
{
  uint32_t crc = UINT32_MAX;

  for (size_t i = 0; i < n; i++) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; k++)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

static void put_chunk(picture *p, const char *name, const void *data, size_t n)
{
  put_number(p, (uint32_t)n);
  put(p, name, 4);
  put(p, data, n);
  put_number(p, checksum(p->bytes + p->n - n - 4, n + 4));
}

static picture begin(int bits, int type)
{
  picture p = {0};
  unsigned char head[13] = {
      0, 0, 0, WIDTH, 0, 0, 0, HEIGHT, (unsigned char)bits, (unsigned char)type};

  put(&p, "\x89PNG\r\n\x1a\n", 8);
  put_chunk(&p, "IHDR", head, sizeof head);
  return p;
}

/* Rows of zeros, and the end. */
static const char *finish(picture *p, const char *name, size_t row)
{
  static const unsigned char zeros[HEIGHT * 64];
  const size_t n = HEIGHT * (row + 1);
  picture data = {0};
  FILE *out = fopen(folder_path(name), "wb");

  put(&data, (unsigned char[]){0x78, 1, 1, (unsigned char)n, 0, (unsigned char)~n, 0xff}, 7);
  put(&data, zeros, n);
  put(&data, (unsigned char[]){(unsigned char)(n >> 8), (unsigned char)n, 0, 1}, 4); /* Adler */
  put_chunk(p, "IDAT", data.bytes, data.n);
  put_chunk(p, "IEND", "", 0);
  CHECK(out && fwrite(p->bytes, 1, p->n, out) == p->n);
  if (out) fclose(out);
  return folder_path(name);
}

static ambit_status read_all(const char *path, bool packed, unsigned char *bytes)
{
  ambit__frame_form form;

  AMBIT_TRY(ambit__png_form(&errors, path, packed, &form, NULL));
  CHECK(form.width[0] == WIDTH && form.height[0] == HEIGHT && form.bytes <= 3 * WIDTH * HEIGHT);
  return ambit__png_read(&errors, path, &form, bytes);
}

static void palettes_become_colours(void)
{
  for (int bits = 1; bits <= 8; bits *= 2) {
    picture p = begin(bits, 3);
    unsigned char *bytes =
        malloc((size_t)(3 * WIDTH * HEIGHT)); /* so long that overruns are found */

    put_chunk(&p, "PLTE", "\x0a\x14\x1e\x28\x32\x3c", 6);
    CHECK_EQ(AMBIT_OK, read_all(finish(&p, "a.png", (size_t)(WIDTH * bits + 7) / 8), true, bytes));
    CHECK(bytes[0] == 10 && bytes[1] == 20 && bytes[3 * WIDTH * HEIGHT - 1] == 30);
    free(bytes);
  }
}

static void transparent_pictures_are_refused_however_they_say_it(void)
{
  static const struct {
    int type; /* grey, colour, palette; grey and alpha, colour and alpha */
    size_t pixel;
    size_t transparent; /* bytes of the chunk tRNS */
  } kinds[] = {{0, 1, 2}, {2, 3, 6}, {3, 1, 1}, {4, 2, 0}, {6, 4, 0}};

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (int packed = 0; packed < 2; packed++) {
      picture p = begin(8, kinds[i].type);
      unsigned char *bytes = malloc((size_t)(3 * WIDTH * HEIGHT));

      if (kinds[i].type == 3) put_chunk(&p, "PLTE", "\x0a\x14\x1e\x28\x32\x3c", 6);
      if (kinds[i].transparent) put_chunk(&p, "tRNS", "\0\0\0\0\0", kinds[i].transparent);
      CHECK(read_all(finish(&p, "a.png", WIDTH * kinds[i].pixel), packed, bytes));
      told(AMBIT_EUNSUPPORTED, "is transparent");
      free(bytes);
    }
}

static long peak_kib(void)
{
  struct rusage use;

  getrusage(RUSAGE_SELF, &use);
  return use.ru_maxrss;
}

static void parts_longer_than_the_file_are_refused_without_memory_for_them(void)
{
  static const char *const names[] = {"tEXt", "iCCP", "zTXt", "PLTE", "abCd", "IDAT"};
  const long before = peak_kib();

  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    picture p = begin(8, 0);
    unsigned char bytes[3 * WIDTH * HEIGHT];

    put_number(&p, 0x7fff0022);
    put(&p, names[i], 4);
    CHECK(read_all(finish(&p, "a.png", WIDTH), false, bytes));
    told(AMBIT_EIO, "a part of 2147418146 bytes begins at byte 33 of");
  }
  CHECK_MSG(peak_kib() - before < 100000, "%ld KiB", peak_kib() - before);
}

static const test_case tests[] = {{"palettes_become_colours", palettes_become_colours},
                                  {"transparent_pictures_are_refused_however_they_say_it",
                                   transparent_pictures_are_refused_however_they_say_it},
                                  {"parts_longer_than_the_file_are_refused_without_memory_for_them",
                                   parts_longer_than_the_file_are_refused_without_memory_for_them},
                                  {NULL, NULL}};

int main(int argc, char **argv)
{
  int bad;

#ifndef AMBIT_HAVE_PNG
  return TEST_SKIPPED;
#endif
  if (!folder_make()) return 1;
  bad = test_main(argc, argv, tests);
  (void)folder_files;
  folder_remove();
  return bad;
}
