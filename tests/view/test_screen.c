/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures as text for terminals: decoded again, they are the pixels that went in. */
#include "support/test.h"
#include "view/screen.h"
#include "view/terminal.h"

#include <math.h>

static ambit__picture picture(int width, int height, double *values)
{
  return (ambit__picture){.width = width,
                          .height = height,
                          .values = values,
                          .zoom_x = 1,
                          .zoom_y = 1,
                          .lo = 0,
                          .hi = 1,
                          .map = AMBIT__GREY};
}

static void an_image_keeps_the_shape_of_the_picture(void)
{
  double values[20 * 10] = {0};
  const ambit__picture p = picture(20, 10, values);
  static const int rooms[][4] = {
      {40, 40, 40, 20}, {10, 40, 10, 5}, {40, 5, 10, 5}, {1, 1, 1, 1}, {20, 10, 20, 10}};

  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    ambit__image image;

    CHECK(ambit__image_make(&p, rooms[i][0], rooms[i][1], &image));
    CHECK_EQ(rooms[i][2], image.width);
    CHECK_EQ(rooms[i][3], image.height);
    ambit__image_free(&image);
  }
}

static void a_line_gets_a_height(void)
{
  double values[64] = {0};
  const ambit__picture p = picture(64, 1, values);
  ambit__image image;

  CHECK(ambit__image_make(&p, 64, 40, &image));
  CHECK_EQ(12, image.height);
  ambit__image_free(&image);
}

static void smaller_images_are_means(void)
{
  double values[] = {0, 1, 1, 0};
  const ambit__picture p = picture(2, 2, values);
  ambit__image image;

  CHECK(ambit__image_make(&p, 1, 1, &image));
  CHECK_EQ(128, image.pixels[0].r);
  ambit__image_free(&image);
}

/* Reads half blocks in 24-bit colour; returns the number of characters. */
static int decode_blocks(const char *text, int width, ambit__rgb *pixels)
{
  ambit__rgb colours[2] = {{0}};
  int n = 0, row = 0, column = 0;

  while (*text) {
    int which, r, g, b;

    if (sscanf(text, "\033[%d;2;%d;%d;%dm", &which, &r, &g, &b) == 4) {
      colours[which == 48] = (ambit__rgb){(unsigned char)r, (unsigned char)g, (unsigned char)b};
      text = strchr(text, 'm') + 1;
    } else if (!strncmp(text, "\xe2\x96\x80", 3)) {
      pixels[2 * row * width + column] = colours[0];
      pixels[(2 * row + 1) * width + column++] = colours[1];
      text += 3;
      n++;
    } else {
      if (*text == '\n') row++, column = 0;
      text++;
    }
  }
  return n;
}

static void half_blocks_show_every_pixel(void)
{
  enum { W = 7, H = 6 };
  double values[W * H];
  ambit__rgb back[W * H];
  ambit__picture p = picture(W, H, values);
  ambit__image image;
  ambit__text out = {0};

  for (int i = 0; i < W * H; i++)
    values[i] = i * 37 % 41 / 41.0;
  p.map = AMBIT__VIRIDIS;
  CHECK(ambit__image_make(&p, W, H, &image));
  ambit__screen_blocks(&image, AMBIT__SCREEN_BLOCKS, 0, &out);
  CHECK_EQ(W * H / 2, decode_blocks(out.chars, W, back));
  CHECK(!memcmp(back, image.pixels, sizeof back));
  ambit__text_free(&out);
  ambit__image_free(&image);
}

static void ascii_is_darker_for_greater_values_and_marks_nothing(void)
{
  double values[] = {0, 0.5, 1, NAN, 0, 0.5, 1, NAN};
  const ambit__picture p = picture(4, 2, values);
  ambit__image image;
  ambit__text out = {0};

  CHECK(ambit__image_make(&p, 4, 2, &image));
  ambit__screen_ascii(&image, 2, &out);
  CHECK_STR("   +@?\033[K\r\n", out.chars);
  ambit__text_free(&out);
  ambit__image_free(&image);
}

/* Decodes the sixels of a picture: the number of the colour of each pixel. */
static void decode_sixels(const char *text, int width, int height, int *numbers, int (*palette)[3])
{
  const char *at = strchr(text, 'q');
  int x = 0, y = 0, colour = 0, repeat = 1;

  CHECK(at != NULL);
  for (at = at ? at + 1 : ""; *at && *at != '\033';) {
    char *end;

    if (*at == '"') {
      at = strchr(at, '#');
    } else if (*at == '#') {
      colour = (int)strtol(at + 1, &end, 10);
      at = end;
      if (*at == ';') {
        sscanf(at, ";2;%d;%d;%d", &palette[colour][0], &palette[colour][1], &palette[colour][2]);
        at +=
            strcspn(at + 1, "#!?-$ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~@") +
            1;
      }
    } else if (*at == '!') {
      repeat = (int)strtol(at + 1, &end, 10);
      at = end;
    } else if (*at == '$' || *at == '-') {
      x = 0;
      if (*at++ == '-') y += 6;
    } else {
      for (int i = 0; i < repeat; i++, x++)
        for (int k = 0; k < 6; k++)
          if ((*at - '?') >> k & 1 && x < width && y + k < height)
            numbers[(y + k) * width + x] = colour;
      repeat = 1;
      at++;
    }
  }
}

static void check_sixels(ambit__colour_map map, bool relief, int tolerance)
{
  enum { W = 50, H = 33 };
  static int numbers[W * H], palette[256][3];
  double values[W * H];
  ambit__picture p = picture(W, H, values);
  ambit__image image;
  ambit__text out = {0};
  int worst = 0;

  for (int i = 0; i < W * H; i++) {
    values[i] = 0.5 + 0.5 * sin(i % W * 0.2) * cos(i / W * 0.3);
    numbers[i] = 0;
  }
  p.map = map;
  p.relief = relief;
  CHECK(ambit__image_make(&p, W, H, &image));
  ambit__screen_sixel(&image, &out);
  decode_sixels(out.chars, W, H, numbers, palette);
  for (int i = 0; i < W * H; i++) {
    const int *c = palette[numbers[i]];
    const unsigned char *was = &image.pixels[i].r;

    CHECK_MSG(numbers[i] > 0, "pixel %d has no colour", i);
    for (int k = 0; k < 3; k++)
      worst = abs(c[k] * 255 / 100 - was[k]) > worst ? abs(c[k] * 255 / 100 - was[k]) : worst;
  }
  CHECK_MSG(worst <= tolerance, "a colour is %d off", worst);
  ambit__text_free(&out);
  ambit__image_free(&image);
}

static void sixels_show_every_pixel_in_nearly_its_colour(void)
{
  check_sixels(AMBIT__VIRIDIS, false, 12);
  check_sixels(AMBIT__DUSK, false, 12);
  check_sixels(AMBIT__INFERNO, true, 45);
}

static int digit(char c)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c ? strchr(digits, c) : NULL;

  return at ? (int)(at - digits) : 0;
}

static void kitty_gets_the_bytes_in_chunks_of_its_limit(void)
{
  enum { W = 60, H = 50 };
  double values[W * H];
  ambit__picture p = picture(W, H, values);
  ambit__image image;
  ambit__text out = {0};
  unsigned char back[W * H * 3 + 3];
  size_t n = 0;
  int chunks = 0;

  for (int i = 0; i < W * H; i++)
    values[i] = i % 97 / 97.0;
  CHECK(ambit__image_make(&p, W, H, &image));
  ambit__screen_kitty(&image, 30, 12, &out);
  CHECK(strstr(out.chars, "a=T,f=24,s=60,v=50,c=30,r=12") != NULL);
  for (const char *at = out.chars; (at = strchr(at, ';')); chunks++) {
    const size_t length = strcspn(++at, "\033");

    CHECK(length <= 4096 && length % 4 == 0);
    for (size_t i = 0; i < length; i += 4, n += 3) {
      const int bits =
          digit(at[i]) << 18 | digit(at[i + 1]) << 12 | digit(at[i + 2]) << 6 | digit(at[i + 3]);

      back[n] = (unsigned char)(bits >> 16);
      back[n + 1] = (unsigned char)(bits >> 8);
      back[n + 2] = (unsigned char)bits;
    }
  }
  CHECK_EQ(3, chunks);
  CHECK(n >= sizeof back - 3 && !memcmp(back, image.pixels, sizeof back - 3));
  ambit__text_free(&out);
  ambit__image_free(&image);
}

static void palettes_have_the_nearest_colour(void)
{
  CHECK_EQ(16, ambit__screen_256((ambit__rgb){0, 0, 0}));
  CHECK_EQ(231, ambit__screen_256((ambit__rgb){255, 255, 255}));
  CHECK_EQ(196, ambit__screen_256((ambit__rgb){255, 0, 0}));
  CHECK_EQ(244, ambit__screen_256((ambit__rgb){128, 128, 128}));
  CHECK_EQ(0, ambit__screen_16((ambit__rgb){10, 0, 0}));
  CHECK_EQ(9, ambit__screen_16((ambit__rgb){255, 10, 0}));
  CHECK_EQ(15, ambit__screen_16((ambit__rgb){250, 250, 250}));
}

static void answers_of_terminals_are_understood(void)
{
  static const struct {
    const char *answer;
    bool complete, kitty, sixel;
    int width;
  } cases[] = {
      {"\033_Gi=31;OK\033\\\033[6;20;10t\033[?62;4;22c", true, true, true, 10},
      {"\033[?64;1;2;6;9;15;22c", true, false, false, 0},
      {"\033[?1;4c", true, false, true, 0},
      {"\033[?1;44;14c", true, false, false, 0},
      {"\033_Gi=31;ENOENT\033\\\033[?6c", true, false, false, 0},
      {"\033_Gi=31;OK\033\\", false, true, false, 0},
      {"\033[?62;4", false, false, false, 0},
      {"garbage \033[ \033[?c", true, false, false, 0},
      {"\033", false, false, false, 0},
      {"", false, false, false, 0},
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ambit__terminal_skills s = {0};
    const bool complete = ambit__terminal_parse(cases[i].answer, strlen(cases[i].answer), &s);

    CHECK_MSG(complete == cases[i].complete && s.kitty == cases[i].kitty &&
                  s.sixel == cases[i].sixel && s.cell_width == cases[i].width,
              "case %zu: %d %d %d %d", i, complete, s.kitty, s.sixel, s.cell_width);
  }
}

static ambit__screen choose(const char *term, const char *colorterm, const char *none, bool kitty,
                            bool sixel)
{
  const ambit__terminal_skills s = {.kitty = kitty, .sixel = sixel};

  unsetenv("TMUX");
  unsetenv("LC_ALL");
  unsetenv("LC_CTYPE");
  setenv("LANG", "C.UTF-8", 1);
  setenv("TERM", term, 1);
  setenv("COLORTERM", colorterm, 1);
  setenv("NO_COLOR", none, 1);
  return ambit__terminal_choose(&s);
}

static void the_best_way_to_draw_is_chosen(void)
{
  CHECK_EQ(AMBIT__SCREEN_KITTY, choose("xterm-kitty", "truecolor", "", true, false));
  CHECK_EQ(AMBIT__SCREEN_SIXEL, choose("xterm", "", "", false, true));
  CHECK_EQ(AMBIT__SCREEN_BLOCKS, choose("xterm-256color", "truecolor", "", false, false));
  CHECK_EQ(AMBIT__SCREEN_256, choose("xterm-256color", "", "", false, false));
  CHECK_EQ(AMBIT__SCREEN_16, choose("linux", "", "", false, false));
  CHECK_EQ(AMBIT__SCREEN_ASCII, choose("dumb", "", "", false, false));
  CHECK_EQ(AMBIT__SCREEN_ASCII, choose("xterm", "truecolor", "1", true, true));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
#define T(name) {#name, name}
      T(an_image_keeps_the_shape_of_the_picture),
      T(a_line_gets_a_height),
      T(smaller_images_are_means),
      T(half_blocks_show_every_pixel),
      T(ascii_is_darker_for_greater_values_and_marks_nothing),
      T(sixels_show_every_pixel_in_nearly_its_colour),
      T(kitty_gets_the_bytes_in_chunks_of_its_limit),
      T(palettes_have_the_nearest_colour),
      T(answers_of_terminals_are_understood),
      T(the_best_way_to_draw_is_chosen),
#undef T
      {0}};

  return test_main(argc, argv, tests);
}
