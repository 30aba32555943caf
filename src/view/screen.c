/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THIN = 12 }; /* pixels that a picture of one row is high */

/* ---- scaling ---- */

static int at_least_1(double x)
{
  return x < 1 ? 1 : (int)x;
}

static void fit(const ambit__picture *p, int width, int height, ambit__image *out)
{
  const double across = (double)width / (double)p->width, down = (double)height / (double)p->height;
  const double scale = across < down ? across : down;

  out->width = at_least_1((double)p->width * scale + 0.5);
  out->height = at_least_1((double)p->height * scale + 0.5);
  if (out->width > width) out->width = width;
  if (out->height < THIN && p->height == 1) out->height = height < THIN ? height : THIN;
  if (out->height > height) out->height = height;
}

/* The mean of the colours of a block of the picture. */
static ambit__rgb mean(const ambit__rgb *from, int64_t width, const int64_t *lo, const int64_t *hi)
{
  unsigned r = 0, g = 0, b = 0, n = 0;

  for (int64_t y = lo[0]; y < hi[0]; y++)
    for (int64_t x = lo[1]; x < hi[1]; x++, n++) {
      const ambit__rgb c = from[y * width + x];

      r += c.r;
      g += c.g;
      b += c.b;
    }
  return (ambit__rgb){(unsigned char)((r + n / 2) / n), (unsigned char)((g + n / 2) / n),
                      (unsigned char)((b + n / 2) / n)};
}

/* The pixels of the picture that pixel i of n shows: at least one. */
static void span(int64_t i, int64_t n, int64_t size, int64_t *lo, int64_t *hi)
{
  *lo = i * size / n;
  *hi = (i + 1) * size / n;
  if (*hi <= *lo) *hi = *lo + 1;
}

static void scale(const ambit__picture *p, const ambit__rgb *from, ambit__image *out)
{
  for (int y = 0; y < out->height; y++)
    for (int x = 0; x < out->width; x++) {
      const int64_t i = (int64_t)y * out->width + x;
      int64_t lo[2], hi[2];
      double v;

      span(y, out->height, p->height, &lo[0], &hi[0]);
      span(x, out->width, p->width, &lo[1], &hi[1]);
      out->pixels[i] = mean(from, p->width, lo, hi);
      v = p->values[(lo[0] + hi[0]) / 2 * p->width + (lo[1] + hi[1]) / 2];
      out->places[i] =
          isnan(v) ? NAN : (float)ambit__picture_colour(p, v) / (float)(AMBIT__COLOURS - 1);
    }
}

bool ambit__image_make(const ambit__picture *p, int width, int height, ambit__image *out)
{
  const size_t n = (size_t)(p->width * p->height);
  ambit__rgb *colours = malloc(n * sizeof *colours), table[AMBIT__COLOURS];
  bool done;

  *out = (ambit__image){0};
  if (width < 1 || height < 1) width = height = 1;
  fit(p, width, height, out);
  out->pixels = malloc((size_t)out->width * (size_t)out->height * sizeof *out->pixels);
  out->places = malloc((size_t)out->width * (size_t)out->height * sizeof *out->places);
  done = colours && out->pixels && out->places;
  ambit__colour_table(p->map, table);
  for (size_t i = 0; done && i < n; i++)
    colours[i] = ambit__picture_pixel(p, table, (int64_t)i % p->width, (int64_t)i / p->width);
  if (done)
    scale(p, colours, out);
  else
    ambit__image_free(out);
  free(colours);
  return done;
}

void ambit__image_free(ambit__image *image)
{
  free(image->pixels);
  free(image->places);
  *image = (ambit__image){0};
}

/* ---- palettes ---- */

static int distance(ambit__rgb a, int r, int g, int b)
{
  const int dr = a.r - r, dg = a.g - g, db = a.b - b;

  return 3 * dr * dr + 4 * dg * dg + 2 * db * db;
}

static int level(int c)
{
  return c < 48 ? 0 : c < 115 ? 1 : (c - 35) / 40;
}

int ambit__screen_256(ambit__rgb c)
{
  static const int levels[] = {0, 95, 135, 175, 215, 255};
  const int r = level(c.r), g = level(c.g), b = level(c.b);
  int grey = (c.r + c.g + c.b) / 3, step = grey < 8 ? 0 : grey > 238 ? 23 : (grey - 3) / 10;

  grey = 8 + 10 * step;
  return distance(c, grey, grey, grey) < distance(c, levels[r], levels[g], levels[b])
             ? 232 + step
             : 16 + 36 * r + 6 * g + b;
}

int ambit__screen_16(ambit__rgb c)
{
  static const unsigned char palette[16][3] = {
      {0, 0, 0},     {205, 0, 0},     {0, 205, 0},     {205, 205, 0},  {0, 0, 238}, {205, 0, 205},
      {0, 205, 205}, {229, 229, 229}, {127, 127, 127}, {255, 0, 0},    {0, 255, 0}, {255, 255, 0},
      {92, 92, 255}, {255, 0, 255},   {0, 255, 255},   {255, 255, 255}};
  int best = 0;

  for (int i = 1; i < 16; i++)
    if (distance(c, palette[i][0], palette[i][1], palette[i][2]) <
        distance(c, palette[best][0], palette[best][1], palette[best][2]))
      best = i;
  return best;
}

/* ---- half blocks ---- */

static bool is_same(ambit__rgb a, ambit__rgb b)
{
  return a.r == b.r && a.g == b.g && a.b == b.b;
}

/* Sets the colour of the upper (fore) or the lower half. */
static void set_colour(ambit__screen how, bool fore, ambit__rgb c, ambit__text *out)
{
  if (how == AMBIT__SCREEN_16) {
    const int i = ambit__screen_16(c);

    ambit__print(out, "\033[%dm", (fore ? 30 : 40) + (i < 8 ? i : i + 52));
  } else if (how == AMBIT__SCREEN_256) {
    ambit__print(out, "\033[%d;5;%dm", fore ? 38 : 48, ambit__screen_256(c));
  } else {
    ambit__print(out, "\033[%d;2;%d;%d;%dm", fore ? 38 : 48, c.r, c.g, c.b);
  }
}

void ambit__screen_blocks(const ambit__image *image, ambit__screen how, int indent,
                          ambit__text *out)
{
  for (int y = 0; y < image->height; y += 2) {
    const ambit__rgb *top = image->pixels + (int64_t)y * image->width, *low = top + image->width;
    const bool has_low = y + 1 < image->height;

    if (indent) ambit__print(out, "%*s", indent, "");
    for (int x = 0; x < image->width; x++) {
      if (!x || !is_same(top[x], top[x - 1])) set_colour(how, true, top[x], out);
      if (has_low && (!x || !is_same(low[x], low[x - 1]))) set_colour(how, false, low[x], out);
      ambit__print_chars(out, "\xe2\x96\x80", 3); /* upper half block */
    }
    ambit__print(out, "\033[0m\033[K\r\n");
  }
}

void ambit__screen_ascii(const ambit__image *image, int indent, ambit__text *out)
{
  static const char ramp[] = " .:-=+*#%@";

  for (int y = 0; y < image->height; y += 2) {
    if (indent) ambit__print(out, "%*s", indent, "");
    for (int x = 0; x < image->width; x++) {
      const float place = image->places[(int64_t)y * image->width + x];
      const char c = isnan(place) ? '?' : ramp[(int)(place * 9 + 0.5F)];

      ambit__print_chars(out, &c, 1);
    }
    ambit__print(out, "\033[K\r\n");
  }
}

/* ---- sixels ---- */

enum { SIXEL = 6, MOST_COLOURS = 255, CUBE = 6 };

/* Numbers of colours: with `bits` of each channel, or (0) of a cube of 6 x 6 x 6. */
static int code_of(ambit__rgb c, int bits)
{
  if (!bits)
    return (c.r * 5 + 127) / 255 * CUBE * CUBE + (c.g * 5 + 127) / 255 * CUBE +
           (c.b * 5 + 127) / 255;
  return (c.r >> (8 - bits)) << 2 * bits | (c.g >> (8 - bits)) << bits | c.b >> (8 - bits);
}

/* The mean colour of a code, in percent. */
static void print_colour(int number, int code, int bits, ambit__text *out)
{
  const int mask = bits ? (1 << bits) - 1 : 0, top = bits ? mask : CUBE - 1;
  const int r = bits ? code >> 2 * bits : code / CUBE / CUBE;
  const int g = bits ? code >> bits & mask : code / CUBE % CUBE,
            b = bits ? code & mask : code % CUBE;

  ambit__print(out, "#%d;2;%d;%d;%d", number, (r * 100 + top / 2) / top, (g * 100 + top / 2) / top,
               (b * 100 + top / 2) / top);
}

/* Numbers the codes that occur in numbers[], from 1 on. Returns how many; 0: too many. */
static int count_colours(const ambit__image *image, int bits, short *numbers, int codes)
{
  int n = 0;

  memset(numbers, 0, (size_t)codes * sizeof *numbers);
  for (int64_t i = 0; i < (int64_t)image->width * image->height; i++) {
    const int code = code_of(image->pixels[i], bits);

    if (numbers[code]) continue;
    if (n == MOST_COLOURS) return 0;
    numbers[code] = (short)++n;
  }
  return n;
}

static void print_run(int sixel, int n, ambit__text *out)
{
  const char c = (char)('?' + sixel);

  if (n > 3)
    ambit__print(out, "!%d%c", n, c);
  else
    for (int i = 0; i < n; i++)
      ambit__print_chars(out, &c, 1);
}

/* Six rows of pixels in one colour. */
static void print_band(const ambit__image *image, const unsigned char *numbers, int y, int number,
                       ambit__text *out)
{
  int last = -1, n = 0;

  for (int x = 0; x < image->width; x++) {
    int sixel = 0;

    for (int i = 0; i < SIXEL && y + i < image->height; i++)
      if (numbers[(int64_t)(y + i) * image->width + x] == number) sixel |= 1 << i;
    if (sixel != last && n) print_run(last, n, out);
    n = sixel == last ? n + 1 : 1;
    last = sixel;
  }
  if (last) print_run(last, n, out);
}

static void print_bands(const ambit__image *image, const unsigned char *numbers, ambit__text *out)
{
  for (int y = 0; y < image->height; y += SIXEL) {
    const int rows = y + SIXEL < image->height ? SIXEL : image->height - y;
    const unsigned char *band = numbers + (int64_t)y * image->width;
    bool used[MOST_COLOURS + 1] = {false};

    for (int64_t i = 0; i < (int64_t)rows * image->width; i++)
      used[band[i]] = true;
    for (int c = 1; c <= MOST_COLOURS; c++)
      if (used[c]) {
        ambit__print(out, "#%d", c);
        print_band(image, numbers, y, c, out);
        ambit__print(out, "$");
      }
    ambit__print(out, "-");
  }
}

void ambit__screen_sixel(const ambit__image *image, ambit__text *out)
{
  enum { CODES = 1 << 15 };
  const int64_t n = (int64_t)image->width * image->height;
  short *codes = malloc(CODES * sizeof *codes);
  unsigned char *numbers = malloc((size_t)n);
  int bits = 5;

  if (codes && numbers) {
    while (bits > 3 && !count_colours(image, bits, codes, CODES))
      bits--;
    if (bits == 3) count_colours(image, bits = 0, codes, CODES); /* at most 216 */
    ambit__print(out, "\033P0;1;0q\"1;1;%d;%d", image->width, image->height);
    for (int code = 0; code < CODES; code++)
      if (codes[code]) print_colour(codes[code], code, bits, out);
    for (int64_t i = 0; i < n; i++)
      numbers[i] = (unsigned char)codes[code_of(image->pixels[i], bits)];
    print_bands(image, numbers, out);
    ambit__print(out, "\033\\");
  }
  free(codes);
  free(numbers);
}

/* ---- kitty graphics ---- */

static void encode_base64(const unsigned char *from, size_t n, char *to)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  for (size_t i = 0; i < n; i += 3, to += 4) {
    const unsigned a = from[i], b = i + 1 < n ? from[i + 1] : 0, c = i + 2 < n ? from[i + 2] : 0;

    to[0] = digits[a >> 2];
    to[1] = digits[(a & 3) << 4 | b >> 4];
    to[2] = i + 1 < n ? digits[(b & 15) << 2 | c >> 6] : '=';
    to[3] = i + 2 < n ? digits[c & 63] : '=';
  }
}

void ambit__screen_kitty(const ambit__image *image, int columns, int rows, ambit__text *out)
{
  enum { CHUNK = 3072, CODED = CHUNK / 3 * 4 }; /* 4096 characters, the limit */
  const unsigned char *bytes = (const unsigned char *)image->pixels;
  const size_t n = (size_t)image->width * (size_t)image->height * sizeof *image->pixels;
  char coded[CODED];

  for (size_t at = 0; at < n; at += CHUNK) {
    const size_t here = n - at < CHUNK ? n - at : CHUNK;

    ambit__print(out, "\033_G");
    if (!at)
      ambit__print(out, "a=T,f=24,s=%d,v=%d,c=%d,r=%d,i=1,p=1,q=2,C=1,", image->width,
                   image->height, columns, rows);
    ambit__print(out, "m=%d;", at + here < n);
    encode_base64(bytes + at, here, coded);
    ambit__print_chars(out, coded, (here + 2) / 3 * 4);
    ambit__print(out, "\033\\");
  }
}
