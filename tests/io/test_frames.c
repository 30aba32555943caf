/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams from file to file: Y4M and numbered pictures, whole and damaged. Filters are so simple
 * that the test knows every byte of their results. */
#define _XOPEN_SOURCE 700
#include "io/frames.h"
#include "runtime/runtime_test.h"
#include "skeleton/stream.h"
#include "support/folder.h"

#include <stdatomic.h>

enum { MOST_BYTES = 1 << 16 };

typedef struct bytes {
  size_t n;
  unsigned char all[MOST_BYTES];
} bytes;

static void put(bytes *b, const void *data, size_t n)
{
  memcpy(b->all + b->n, data, n);
  b->n += n;
}

static void put_text(bytes *b, const char *text)
{
  put(b, text, strlen(text));
}

static void save(const char *name, const bytes *b)
{
  FILE *f = fopen(folder_path(name), "wb");

  CHECK(f && fwrite(b->all, 1, b->n, f) == b->n);
  if (f) fclose(f);
}

static bool load(const char *name, bytes *b)
{
  FILE *f = fopen(folder_path(name), "rb");

  b->n = f ? fread(b->all, 1, sizeof b->all, f) : 0;
  if (f) fclose(f);
  return f != NULL;
}

static unsigned char sample(int frame, int plane, int i)
{
  return (unsigned char)(frame * 31 + plane * 57 + i * 7 + i / 11);
}

/* ---- a stream that turns x into 255 - x ---- */

static const char *const rules[] = {
    [AMBIT_F32] = "void f(const float *u, float *v) { *v = 255.2f - *u; }",
    [AMBIT_F64] = "void f(const double *u, double *v) { *v = 254.8 - *u; }",
    [AMBIT_I32] = "void f(const int *u, int *v) { *v = 255 - *u; }",
    [AMBIT_U8] = "void f(const unsigned char *u, unsigned char *v) { *v = 255 - *u; }",
    [AMBIT_I16] = "void f(const short *u, short *v) { *v = 255 - *u; }",
    [AMBIT_I64] = "void f(const long *u, long *v) { *v = 255 - *u; }",
    [AMBIT_F16] = "void f(const half *u, half *v) { *v = 255 - *u; }",
};

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_program *p;
  ambit_field *u, *v;
  ambit_stream *s;
} scene;

static scene scene_of(ambit_type type)
{
  scene x = {.a = open_on("cpu")};

  x.g = grid_2d(x.a, 4, 4); /* another size than any frame */
  x.u = ambit_field_create(x.g, "u", type);
  x.v = ambit_field_create(x.g, "v", type);
  x.p = ambit_program_create(x.g);
  ambit_apply(x.p, ambit_kernel_create(x.a, rules[type]), x.u, x.v);
  x.s = ambit_stream_create(x.p, x.u, x.v);
  return x;
}

/* Frames of `planes` planes of these sizes; those up to `inverted` are. */
static void make_y4m(bytes *b, const char *header, int frames, int planes, const int *sizes,
                     int inverted)
{
  b->n = 0;
  put_text(b, header);
  for (int f = 0; f < frames; f++) {
    put_text(b, f % 2 ? "FRAME Ip Xsecond\n" : "FRAME\n");
    for (int p = 0; p < planes; p++)
      for (int i = 0; i < sizes[p]; i++) {
        unsigned char x = sample(f, p, i);

        if (p < inverted) x = (unsigned char)(255 - x);
        put(b, &x, 1);
      }
  }
}

static bytes in, want, got;

static void check_y4m(const char *header, int planes, const int *sizes, ambit_planes which,
                      ambit_type type)
{
  const int inverted = which == AMBIT_LUMA ? 1 : planes < 3 ? planes : 3;
  scene x = scene_of(type);

  make_y4m(&in, header, 5, planes, sizes, 0);
  make_y4m(&want, header, 5, planes, sizes, inverted);
  save("in.y4m", &in);
  ambit_option_set(x.a, "lanes", "cpu,ref");
  ambit_stream_planes(x.s, which);
  CHECK_EQ(AMBIT_OK, ambit_stream_run(x.s, folder_path("in.y4m"), folder_path("out.y4m")));
  CHECK_OK(x.a);
  CHECK_EQ(5, ambit_stream_items(x.s));
  load("out.y4m", &got);
  CHECK_MSG(got.n == want.n && !memcmp(got.all, want.all, want.n), "%s in %s: the result differs",
            header, ambit_type_name(type));
  ambit_close(x.a);
}

static void frames_of_all_forms_types_and_odd_sizes_are_computed(void)
{
  static const int mono[] = {7 * 5}, c420[] = {35, 12, 12}, c422[] = {35, 20, 20},
                   c444[] = {35, 35, 35, 35}, c411[] = {35, 10, 10};

  for (int which = 0; which < 2; which++) {
    check_y4m("YUV4MPEG2 W7 H5 F25:1 Ip A1:1 Cmono Xtext=1\n", 1, mono, (ambit_planes)which,
              AMBIT_U8);
    check_y4m("YUV4MPEG2 W7 H5\n", 3, c420, (ambit_planes)which, AMBIT_U8);
    check_y4m("YUV4MPEG2 H5 W7 C420mpeg2 F30000:1001\n", 3, c420, (ambit_planes)which, AMBIT_I16);
    check_y4m("YUV4MPEG2 W7 H5 C422\n", 3, c422, (ambit_planes)which, AMBIT_F32);
    check_y4m("YUV4MPEG2 C444 W7 H5\n", 3, c444, (ambit_planes)which, AMBIT_F64);
    check_y4m("YUV4MPEG2 C444alpha W7 H5\n", 4, c444, (ambit_planes)which, AMBIT_I32);
    check_y4m("YUV4MPEG2 C411 W7 H5\n", 3, c411, (ambit_planes)which, AMBIT_I64);
  }
  check_y4m("YUV4MPEG2 W1 H1 Cmono\n", 1, (int[]){1}, AMBIT_LUMA, AMBIT_U8);
}

static void results_are_rounded_and_clamped(void)
{
  static const char rule[] = "void f(const float *u, float *v) { *v = (*u - 2) * 200.25f; }";
  static const unsigned char values[] = {0, 1, 2, 3, 4, 250}, to[] = {0, 0, 0, 200, 255, 255};
  scene x = scene_of(AMBIT_F32);
  ambit_program *p = ambit_program_create(x.g);

  ambit_apply(p, ambit_kernel_create(x.a, rule), x.u, x.v);
  in.n = 0;
  put_text(&in, "YUV4MPEG2 W3 H2 Cmono\nFRAME\n");
  put(&in, values, sizeof values);
  save("in.y4m", &in);
  ambit_stream_run(ambit_stream_create(p, x.u, x.v), folder_path("in.y4m"), folder_path("out.y4m"));
  CHECK_OK(x.a);
  load("out.y4m", &got);
  CHECK(got.n == in.n && !memcmp(got.all + got.n - sizeof to, to, sizeof to));
  ambit_close(x.a);
}

static void concatenated_files_are_one_stream(void)
{
  static const int mono[] = {12};
  scene x = scene_of(AMBIT_U8);
  static bytes twice;

  make_y4m(&in, "YUV4MPEG2 W4 H3 Cmono F5:1\n", 3, 1, mono, 0);
  twice = in;
  put(&twice, in.all, in.n);
  save("in.y4m", &twice);
  CHECK_EQ(AMBIT_OK, ambit_stream_run(x.s, folder_path("in.y4m"), folder_path("out.y4m")));
  CHECK_EQ(6, ambit_stream_items(x.s));
  ambit_close(x.a);
}

/* ---- damage ---- */

/* The frames before the fault are there, and whole. */
static void check_damage(const char *words, int frames, size_t frame_bytes)
{
  scene x = scene_of(AMBIT_U8);

  remove(folder_path("out.y4m"));
  save("in.y4m", &in);
  ambit_option_set(x.a, "lanes", "cpu,cpu");
  CHECK(ambit_stream_run(x.s, folder_path("in.y4m"), folder_path("out.y4m")) != AMBIT_OK);
  CHECK_FAILED(x.a, AMBIT_EIO, words);
  CHECK_EQ(frames, ambit_stream_items(x.s));
  CHECK_EQ(frames > 0, load("out.y4m", &got));
  if (frames) CHECK_EQ(strlen("YUV4MPEG2 W4 H3 Cmono\n") + (size_t)frames * frame_bytes, got.n);
  CHECK_EQ(frames ? 2 : 1, folder_files());
  ambit_close(x.a);
}

static void damaged_files_are_named_and_their_whole_frames_written(void)
{
  static const char header[] = "YUV4MPEG2 W4 H3 Cmono\n";
  static const unsigned char frame[18] = "FRAME\nabcdefghijkl";

  for (size_t cut = 1; cut < sizeof frame; cut += 5) {
    in.n = 0;
    put_text(&in, header);
    put(&in, frame, sizeof frame);
    put(&in, frame, sizeof frame);
    put(&in, frame, cut);
    check_damage(cut < 6 ? "frame 2 does not begin with a line FRAME" : "frame 2 is cut off", 2,
                 sizeof frame);
  }
  in.n = 0;
  put_text(&in, header);
  put(&in, frame, sizeof frame);
  put_text(&in, "YUV4MPEG2 W5 H3 Cmono\nFRAME\n123456789012345");
  check_damage("from frame 1 on the size or the colour space is another one: 5x3 instead of 4x3", 1,
               sizeof frame);
  in.n = 0;
  put_text(&in, header);
  put(&in, frame, sizeof frame);
  put_text(&in, "FRAMEabcdefghijkl\n");
  check_damage("frame 1 does not begin with a line FRAME", 1, sizeof frame);
}

static void damaged_headers_are_named(void)
{
  static const char *const bad[][2] = {
      {"", "is empty"},
      {"RIFF1234", "does not begin with"},
      {"YUV4MPEG3 W4 H3\n", "does not begin with YUV4MPEG2"},
      {"YUV4MPEG2\n", "has no width or no height"},
      {"YUV4MPEG2 W4\n", "has no width or no height"},
      {"YUV4MPEG2 W0 H3\n", "the width in its header is 'W0'"},
      {"YUV4MPEG2 W4 H-3\n", "the height in its header is 'H-3'"},
      {"YUV4MPEG2 W4 H3x\n", "the height in its header is 'H3x'"},
      {"YUV4MPEG2 W99999999999999999999 H3\n", "the width in its header"},
      {"YUV4MPEG2 W4 H3 C420p10\n", "the colour space '420p10'"},
      {"YUV4MPEG2 W4 H3 C\n",
       "the colour space ''; it must be one of 8 bits: mono, 420, 411, 422, 440"},
  };

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    in.n = 0;
    put_text(&in, bad[i][0]);
    check_damage(bad[i][1], 0, 0);
  }
  in.n = 0;
  put_text(&in, "YUV4MPEG2 ");
  while (in.n < AMBIT__Y4M_HEADER + 10)
    put_text(&in, "Xyz ");
  check_damage("does not begin with a line of text", 0, 0);
}

/* ---- pictures ---- */

static void make_picture(int number, int width, int height, bool rgb, int scale)
{
  ambit__errors errors = {0};
  const ambit__frame_form form = {
      .nplanes = 1, .width = {width}, .height = {height}, .is_rgb = rgb, .is_packed = rgb};
  unsigned char pixels[3 * 64];
  const unsigned char *planes[] = {pixels};
  char name[32];

  for (int i = 0; i < width * height * (rgb ? 3 : 1); i++)
    pixels[i] = (unsigned char)(scale < 0 ? 255 - sample(number, 0, i) : sample(number, 0, i));
  snprintf(name, sizeof name, scale < 0 ? "want%02d.png" : "in%02d.png", number);
  CHECK_EQ(AMBIT_OK, ambit__png_write_frame(&errors, folder_path(name), &form, NULL, planes));
  ambit__errors_clear(&errors);
}

static void compare_pictures(int number)
{
  char name[32];

  snprintf(name, sizeof name, "want%02d.png", number);
  CHECK(load(name, &want));
  snprintf(name, sizeof name, "out%02d.png", number);
  CHECK(load(name, &got));
  CHECK_MSG(got.n == want.n && !memcmp(got.all, want.all, want.n), "picture %d differs", number);
}

static void remove_files(void)
{
  folder_remove();
  CHECK(folder_make());
}

static void numbered_pictures_are_computed_in_grey_and_in_colour(void)
{
  static const char vector[] = AMBIT_SOURCE(void f(const unsigned char *u[3], unsigned char *v[3]) {
    for (int i = 0; i < 3; i++)
      *v[i] = 255 - *u[i];
  });

#ifndef AMBIT_HAVE_PNG
  SKIP("built without libpng");
#endif
  for (int kind = 0; kind < 3; kind++) { /* grey; colour by planes; colour in one field */
    scene x = scene_of(AMBIT_U8);

    remove_files();
    if (kind == 2) {
      x.u = ambit_field_create_vector(x.g, "u", AMBIT_U8, 3, AMBIT_SOA);
      x.v = ambit_field_create_vector(x.g, "v", AMBIT_U8, 3, AMBIT_AOS);
      x.p = ambit_program_create(x.g);
      ambit_apply(x.p, ambit_kernel_create(x.a, vector), x.u, x.v);
      x.s = ambit_stream_create(x.p, x.u, x.v);
    }
    for (int i = 1; i <= 12; i++) {
      make_picture(i, 7, 5, kind > 0, 1);
      make_picture(i, 7, 5, kind > 0, -1);
    }
    ambit_option_set(x.a, "lanes", "cpu,cpu");
    CHECK_EQ(AMBIT_OK,
             ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out%02d.png")));
    CHECK_OK(x.a);
    CHECK_EQ(12, ambit_stream_items(x.s));
    for (int i = 1; i <= 12; i++)
      compare_pictures(i);
    ambit_close(x.a);
  }
}

/* More sizes than a lane keeps programs for, each twice. */
static void pictures_of_several_sizes_are_one_stream(void)
{
  enum { SIZES = AMBIT__REPLICAS + 3 };

#ifndef AMBIT_HAVE_PNG
  SKIP("built without libpng");
#endif
  for (int rgb = 0; rgb < 2; rgb++) {
    scene x = scene_of(AMBIT_F32);

    remove_files();
    for (int i = 0; i < 2 * SIZES; i++)
      for (int sign = 1; sign >= -1; sign -= 2)
        make_picture(i, 3 + i % SIZES % 5, 2 + i % SIZES / 2, rgb, sign);
    ambit_option_set(x.a, "lanes", "cpu,ref");
    ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out%02d.png"));
    CHECK_OK(x.a);
    CHECK_EQ(2 * SIZES, ambit_stream_items(x.s));
    for (int i = 0; i < 2 * SIZES; i++)
      compare_pictures(i);
    ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out.y4m"));
    CHECK_FAILED(x.a, AMBIT_EUNSUPPORTED, "have several sizes");
    ambit_close(x.a);
  }
}

static void programs_tied_to_their_size_refuse_pictures_of_another(void)
{
  static const int64_t lo[] = {1, 1}, hi[] = {3, 3};
  scene x = scene_of(AMBIT_U8);

#ifndef AMBIT_HAVE_PNG
  SKIP("built without libpng");
#endif
  remove_files();
  for (int i = 0; i < 4; i++)
    make_picture(i, i < 3 ? 4 : 5, 4, false, 1);
  ambit_apply_box(x.p, lo, hi, ambit_kernel_create(x.a, rules[AMBIT_U8]), x.v, x.u);
  ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out%02d.png"));
  CHECK_FAILED(x.a, AMBIT_EPROGRAM, "frame 3, on lane 0");
  CHECK_EQ(3, ambit_stream_items(x.s));
  ambit_close(x.a);
}

static void pictures_that_differ_in_colour_and_gaps_end_a_stream(void)
{
  scene x = scene_of(AMBIT_U8);

#ifndef AMBIT_HAVE_PNG
  SKIP("built without libpng");
#endif
  remove_files();
  for (int i = 0; i < 6; i++)
    make_picture(i, 7, 5, i == 4, 1);
  ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out%02d.png"));
  CHECK_FAILED(x.a, AMBIT_EIO, "in04.png is a picture in colour, the first one in grey");
  CHECK_EQ(4, ambit_stream_items(x.s));
  CHECK_EQ(10, folder_files());
  unlink(folder_path("in03.png"));
  ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out%02d.png"));
  CHECK_FAILED(x.a, AMBIT_EIO, "there is no picture 3, but one with the number 4");
  CHECK_EQ(3, ambit_stream_items(x.s));
  unlink(folder_path("in04.png"));
  unlink(folder_path("in05.png"));
  save("in7.png", &(bytes){0}); /* has another name than picture 7 */
  save("in0008.png", &(bytes){0});
  save("in09.png.old", &(bytes){0});
  ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out%02d.png"));
  CHECK_OK(x.a);
  ambit_stream_run(x.s, folder_path("no%d.png"), folder_path("out%02d.png"));
  CHECK_FAILED(x.a, AMBIT_EIO, "there is no picture with a number from 0 to 4");
  ambit_close(x.a);
}

static void grey_pictures_and_video_are_exchangeable(void)
{
  scene x = scene_of(AMBIT_U8);

#ifndef AMBIT_HAVE_PNG
  SKIP("built without libpng");
#endif
  remove_files();
  for (int i = 0; i < 3; i++) {
    make_picture(i, 7, 5, false, 1);
    make_picture(i, 7, 5, false, -1);
  }
  ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("mid.y4m"));
  ambit_stream_run(x.s, folder_path("mid.y4m"), folder_path("in%02d.png")); /* twice inverted */
  ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out%02d.png"));
  CHECK_OK(x.a);
  for (int i = 0; i < 3; i++)
    compare_pictures(i);
  ambit_close(x.a);
}

/* A picture of 5 x 3 pixels: red, and columns from `from` on white. */
static void make_colours(const char *name, int from, bool inverted)
{
  ambit__errors errors = {0};
  const ambit__frame_form form = {
      .nplanes = 1, .width = {5}, .height = {3}, .is_rgb = true, .is_packed = true};
  unsigned char pixels[45];
  const unsigned char *planes[] = {pixels};

  for (int i = 0; i < 45; i++)
    pixels[i] = (unsigned char)((i % 3 == 0 || i / 3 % 5 >= from) == !inverted ? 255 : 0);
  CHECK_EQ(AMBIT_OK, ambit__png_write_frame(&errors, folder_path(name), &form, NULL, planes));
  ambit__errors_clear(&errors);
}

/* Red in 8 bits of luma and chroma is 254, 0, 0. */
static void check_colours(const char *name, int from)
{
  ambit__errors errors = {0};
  ambit__frame_form form;
  unsigned char pixels[45] = {0};

  CHECK(!ambit__png_form(&errors, folder_path(name), true, &form, NULL) && form.bytes == 45 &&
        !ambit__png_read(&errors, folder_path(name), &form, pixels));
  for (int i = 0; i < 45; i++)
    CHECK_EQ(i / 3 % 5 >= from ? 255 : i % 3 ? 0 : 254, pixels[i]);
  ambit__errors_clear(&errors);
}

/* Frames of 5 x 3 pixels, with chroma for blocks: red, and from column `from` on white. */
static void make_video(bytes *b, const char *header, int across, int down, int from, bool inverted)
{
  static const unsigned char red[] = {81, 90, 240}, white[] = {235, 128, 128};

  b->n = 0;
  put_text(b, header);
  put_text(b, "FRAME\n");
  for (int p = 0; p < 3; p++)
    for (int i = 0; i < 3; i += p ? down : 1)
      for (int k = 0; k < 5; k += p ? across : 1) {
        unsigned char x = k >= from ? white[p] : red[p];

        if (inverted && p == 0) x = (unsigned char)(255 - x);
        put(b, &x, 1);
      }
}

static void pictures_and_video_mix_in_colour(void)
{
  static const struct {
    const char *header;
    int across, down;
  } forms[] = {{"YUV4MPEG2 W5 H3\n", 2, 2},
               {"YUV4MPEG2 W5 H3 C422\n", 2, 1},
               {"YUV4MPEG2 W5 H3 C411\n", 4, 1},
               {"YUV4MPEG2 W5 H3 C444\n", 1, 1}};
  scene x = scene_of(AMBIT_U8);

#ifndef AMBIT_HAVE_PNG
  SKIP("built without libpng");
#endif
  remove_files();
  for (int i = 0; i < 4; i++) { /* luma is inverted by the stream */
    make_video(&in, forms[i].header, forms[i].across, forms[i].down, 4, true);
    save("in.y4m", &in);
    ambit_stream_run(x.s, folder_path("in.y4m"), folder_path("out%02d.png"));
    CHECK_OK(x.a);
    check_colours("out00.png", 4);
  }
  make_colours("in00.png", 3, true);
  make_video(&want, "YUV4MPEG2 W5 H3 F25:1 Ip A1:1 C444 XCOLORRANGE=LIMITED\n", 1, 1, 3, false);
  ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out.y4m"));
  CHECK_OK(x.a);
  load("out.y4m", &got);
  CHECK(got.n == want.n && !memcmp(got.all, want.all, want.n));
  make_y4m(&in, "YUV4MPEG2 W2 H2 C444alpha\n", 1, 4, (int[]){4, 4, 4, 4}, 0);
  save("in.y4m", &in);
  ambit_stream_run(x.s, folder_path("in.y4m"), folder_path("out%02d.png"));
  CHECK_FAILED(x.a, AMBIT_EUNSUPPORTED, "are transparent");
  ambit_close(x.a);
}

static void items_that_miss_their_condition_are_counted(void)
{
  scene x = scene_of(AMBIT_U8);
  ambit_scalar *most = ambit_scalar_create(x.a, "most", AMBIT_I32);
  ambit_program *p = ambit_program_create(x.g);
  ambit_stream *s;

  ambit_apply(p,
              ambit_kernel_create(x.a, "void f(unsigned char *u, max int *most)"
                                       "{ *u = *u > 0 ? *u - 1 : 0; *most = *u; }"),
              x.u, most);
  s = ambit_stream_create(p, x.u, x.u);
  ambit_stream_repeat_until(s, most, AMBIT_BELOW, 1, 100);
  in.n = 0;
  put_text(&in, "YUV4MPEG2 W2 H1 Cmono\nFRAME\n");
  put_text(&in, "\x05\x63"
                "FRAME\n"
                "\x05\x7f"
                "FRAME\n"
                "\x64\x09");
  save("in.y4m", &in);
  ambit_stream_run(s, folder_path("in.y4m"), folder_path("out.y4m"));
  CHECK_OK(x.a);
  CHECK_EQ(3, ambit_stream_items(s));
  CHECK_EQ(1, ambit_stream_unmet(s)); /* 127 */
  ambit_close(x.a);
}

static void one_picture_is_a_stream_of_one_frame(void)
{
  scene x = scene_of(AMBIT_U8);

#ifndef AMBIT_HAVE_PNG
  SKIP("built without libpng");
#endif
  remove_files();
  make_picture(7, 7, 5, true, 1);
  make_picture(7, 7, 5, true, -1);
  ambit_stream_run(x.s, folder_path("in07.png"), folder_path("out07.png"));
  CHECK_OK(x.a);
  CHECK_EQ(1, ambit_stream_items(x.s));
  compare_pictures(7);
  ambit_stream_run(x.s, folder_path("in09.png"), folder_path("out07.png"));
  CHECK_FAILED(x.a, AMBIT_EIO, "there is no file");
  make_picture(0, 7, 5, false, 1);
  make_picture(1, 7, 5, false, 1);
  ambit_stream_run(x.s, folder_path("in%02d.png"), folder_path("out07.png"));
  CHECK_FAILED(x.a, AMBIT_EINVAL, "has 2 frames, and ");
  compare_pictures(7); /* it is still there */
  ambit_close(x.a);
}

static void check_loaded(ambit_type type, bool rgb)
{
  const int n = 7 * 5 * (rgb ? 3 : 1);
  ambit *a = open_on("cpu*2");
  ambit_grid *g = grid_2d(a, 5, 7);
  ambit_field *f = ambit_field_create_vector(g, "f", type, rgb ? 3 : 1, AMBIT_SOA);
  unsigned char values[8 * 105];
  ambit_file_info info;

  make_picture(0, 7, 5, rgb, 1);
  info = *ambit_file_inspect(a, folder_path("in00.png"));
  ambit_field_load(f, folder_path("in00.png"));
  ambit_field_read(f, NULL, NULL, values);
  CHECK_OK(a);
  CHECK(info.type == AMBIT_U8 && info.ndims == 2 + rgb && info.extents[0] == 5);
  for (int i = 0; i < n; i++) {
    const unsigned char want_bytes = sample(0, 0, i);

    CHECK_EQ(want_bytes, type == AMBIT_U8    ? values[i]
                         : type == AMBIT_F32 ? ((float *)(void *)values)[i]
                                             : ((int16_t *)(void *)values)[i]);
  }
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void fields_are_loaded_from_pictures(void)
{
  ambit *a = open_on("cpu");
  ambit_field *f = ambit_field_create(grid_2d(a, 5, 7), "f", AMBIT_U8);

#ifndef AMBIT_HAVE_PNG
  SKIP("built without libpng");
#endif
  remove_files();
  check_loaded(AMBIT_U8, false);
  check_loaded(AMBIT_I16, false);
  check_loaded(AMBIT_F32, true);
  ambit_field_load(f, folder_path("in00.png"));
  CHECK_FAILED(a, AMBIT_EIO,
               "is a picture in red, green and blue, for a field of 2 dimensions and 3");
  make_picture(0, 8, 5, false, 1);
  ambit_field_load(f, folder_path("in00.png"));
  CHECK_FAILED(a, AMBIT_EIO, "has 5 rows of 8 pixels, but the grid of field 'f' has 5 x 7 cells");
  ambit_field_save(f, folder_path("drawn.png"));
  ambit_field_load(f, folder_path("drawn.png"));
  CHECK_FAILED(a, AMBIT_EIO, "was drawn by ambit_field_save");
  ambit_close(a);
}

/* ---- sizes ---- */

static double one(const int64_t *index, int component, void *user)
{
  (void)index, (void)component, (void)user;
  return 1;
}

static void programs_tied_to_their_size_refuse_others(void)
{
  static const char add[] = "void f(const unsigned char *w, unsigned char *v) { *v = *w; }";
  scene x = scene_of(AMBIT_U8);
  ambit_program *p = ambit_program_create(x.g);
  ambit_field *w = ambit_field_create(x.g, "w", AMBIT_U8);
  ambit_grid *cube = ambit_grid_create(x.a, 3, (int64_t[]){2, 2, 2});
  ambit_field *u3 = ambit_field_create(cube, "u3", AMBIT_U8);
  ambit_field *v3 = ambit_field_create(cube, "v3", AMBIT_U8);
  ambit_kernel *k = ambit_kernel_create(x.a, rules[AMBIT_U8]);
  ambit_program *solid = ambit_program_create(cube);

  remove_files();
  make_y4m(&in, "YUV4MPEG2 W2 H2 Cmono\n", 2, 1, (int[]){4}, 0);
  save("in.y4m", &in);
  ambit_apply_box(p, AMBIT_INDEX(0, 0), AMBIT_INDEX(2, 2), k, x.u, x.v);
  ambit_stream_run(ambit_stream_create(p, x.u, x.v), folder_path("in.y4m"), folder_path("o.y4m"));
  CHECK_FAILED(x.a, AMBIT_EPROGRAM, "step 1 of a program works on a box");
  ambit_apply(x.p, ambit_kernel_create(x.a, add), w, x.v);
  ambit_field_fill(w, one, NULL);
  ambit_stream_run(x.s, folder_path("in.y4m"), folder_path("o.y4m"));
  CHECK_FAILED(x.a, AMBIT_EPROGRAM, "field 'w' has values");
  ambit_apply(solid, k, u3, v3);
  ambit_stream_run(ambit_stream_create(solid, u3, v3), folder_path("in.y4m"), folder_path("o.y4m"));
  CHECK_FAILED(x.a, AMBIT_EINVAL, "have 2 dimensions");
  CHECK_EQ(1, folder_files());
  ambit_close(x.a);
}

static int is_even(const int64_t *i, void *user)
{
  (void)user;
  return (i[0] + i[1]) % 2 == 0;
}

/* Pixels that are not active have the value of AMBIT_INACTIVE. */
static void frames_are_computed_where_a_sparse_grid_has_cells(void)
{
  scene x = {.a = open_on("cpu")};

  remove_files();
  make_y4m(&in, "YUV4MPEG2 W3 H2 Cmono\n", 2, 1, (int[]){6}, 0);
  save("in.y4m", &in);
  x.g = ambit_grid_create_sparse(x.a, 2, (int64_t[]){2, 3}, is_even, NULL);
  x.u = ambit_field_create(x.g, "u", AMBIT_F32);
  x.v = ambit_field_create(x.g, "v", AMBIT_F32);
  ambit_field_boundary(x.v, AMBIT_INACTIVE, AMBIT_CONSTANT, 9);
  x.p = ambit_program_create(x.g);
  ambit_apply(x.p, ambit_kernel_create(x.a, rules[AMBIT_F32]), x.u, x.v);
  x.s = ambit_stream_create(x.p, x.u, x.v);
  ambit_stream_run(x.s, folder_path("in.y4m"), folder_path("o.y4m"));
  CHECK_OK(x.a);
  CHECK(load("o.y4m", &got));
  for (int f = 0; f < 2; f++)
    for (int i = 0; i < 6 && got.n > 12; i++) {
      const size_t ends = f ? got.n : got.n - 6 - strlen("FRAME Ip Xsecond\n");

      CHECK_EQ((i / 3 + i % 3) % 2 ? 9 : 255 - sample(f, 0, i), got.all[ends - 6 + (size_t)i]);
    }
  make_y4m(&in, "YUV4MPEG2 W2 H3 Cmono\n", 2, 1, (int[]){6}, 0);
  save("in.y4m", &in);
  ambit_stream_run(x.s, folder_path("in.y4m"), folder_path("o.y4m"));
  CHECK_FAILED(x.a, AMBIT_EPROGRAM, "only with items of the size of its box");
  ambit_close(x.a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"frames_of_all_forms_types_and_odd_sizes_are_computed",
       frames_of_all_forms_types_and_odd_sizes_are_computed},
      {"results_are_rounded_and_clamped", results_are_rounded_and_clamped},
      {"concatenated_files_are_one_stream", concatenated_files_are_one_stream},
      {"damaged_files_are_named_and_their_whole_frames_written",
       damaged_files_are_named_and_their_whole_frames_written},
      {"damaged_headers_are_named", damaged_headers_are_named},
      {"numbered_pictures_are_computed_in_grey_and_in_colour",
       numbered_pictures_are_computed_in_grey_and_in_colour},
      {"pictures_of_several_sizes_are_one_stream", pictures_of_several_sizes_are_one_stream},
      {"programs_tied_to_their_size_refuse_pictures_of_another",
       programs_tied_to_their_size_refuse_pictures_of_another},
      {"pictures_that_differ_in_colour_and_gaps_end_a_stream",
       pictures_that_differ_in_colour_and_gaps_end_a_stream},
      {"one_picture_is_a_stream_of_one_frame", one_picture_is_a_stream_of_one_frame},
      {"fields_are_loaded_from_pictures", fields_are_loaded_from_pictures},
      {"grey_pictures_and_video_are_exchangeable", grey_pictures_and_video_are_exchangeable},
      {"pictures_and_video_mix_in_colour", pictures_and_video_mix_in_colour},
      {"items_that_miss_their_condition_are_counted", items_that_miss_their_condition_are_counted},
      {"programs_tied_to_their_size_refuse_others", programs_tied_to_their_size_refuse_others},
      {"frames_are_computed_where_a_sparse_grid_has_cells",
       frames_are_computed_where_a_sparse_grid_has_cells},
      {NULL, NULL},
  };
  int code;

  if (!folder_make()) return 1;
  code = test_main(argc, argv, tests);
  folder_remove();
  return code;
}
