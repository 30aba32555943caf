/* SPDX-License-Identifier: BSD-3-Clause */
/* restore.c - removes salt-and-pepper noise from a video, in two phases.
 *
 *   restore IN OUT                  videos (.y4m, or - for a pipe) or pictures (in%04d.png)
 *   restore --check                 a made-up picture with noise, against a plain loop
 *   restore --frames N [--noise P] [--size HxW]     speed, on made-up frames
 *
 * Phase one finds the noise: pixels that are black or white where the pixels around them, up to 18
 * away, are not all the same. Phase two replaces the value p of each noisy pixel by the u that
 * minimises
 *
 *   |u - p| + 5/2 * sum over 4 neighbours of (2 - noisy) |u - v|^1.3
 *
 * again and again, all pixels at once, until the mean change settles. The sum favours smooth
 * surfaces, and the power close to 1 keeps edges. A neighbour that is not noisy counts twice.
 */
#include <ambit_stream.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- phase one: once per frame ---- */

/* The lowest and highest values of pixels at -D, 0 and D along an axis; or with even more around
 * each, if lo and hi are such values themselves. */
static const char widen_text[] =
    "void widen(const unsigned char *lo, const unsigned char *hi, unsigned char *l, unsigned char "
    "*h)\n"
    "{\n"
    "  int a = lo[-%1$d][-%2$d], b = lo[0][0], c = lo[%1$d][%2$d];\n"
    "  int d = hi[-%1$d][-%2$d], e = hi[0][0], f = hi[%1$d][%2$d];\n"
    "  a = a < b ? a : b;\n"
    "  d = d > e ? d : e;\n"
    "  *l = a < c ? a : c;\n"
    "  *h = d > f ? d : f;\n"
    "}\n";

static const char detect_text[] =
    AMBIT_SOURCE(void detect(const unsigned char *u, const unsigned char *lo,
                             const unsigned char *hi, unsigned char *noisy, sum long *count) {
      *noisy = (*u == 0 || *u == 255) && *lo != *hi;
      *count = *noisy;
    });

/* ---- phase two: the iterations ---- */

/* The function is convex, so its minimum is the first u from which on it does not fall: where
 * f(u + 1) - f(u) is not negative. Bisection finds it bit by bit, in eight steps of this kernel.
 * For a neighbour at distance d the difference of powers, (d + 1)^1.3 - d^1.3, is a polynomial in
 * (d + 1/2)^(1/8) with an error of 2e-6, many times as fast as powf; only for d = 0 it needs a
 * correction. It is odd about d = -1/2. */
static const char search_text[] = AMBIT_SOURCE(void search(
    const unsigned char *u, const unsigned char *noisy, unsigned char *best, int bit) {
  float n[4] = {u[-1][0], u[1][0], u[0][-1], u[0][1]};
  float w[4] = {2.0f - noisy[-1][0], 2.0f - noisy[1][0], 2.0f - noisy[0][-1], 2.0f - noisy[0][1]};
  float at = (float)(*best + bit - 1);
  float slope = 0;

  for (int i = 0; i < 4; i++) {
    float s = at - n[i] + 0.5f;
    float a = fabsf(s);
    float t = sqrtf(sqrtf(sqrtf(a))) - 1.5f;
    float g = -1.1650106f;

    g = g * t + 0.74883597f;
    g = g * t + 0.097812679f;
    g = g * t - 0.059748591f;
    g = g * t - 0.060421725f;
    g = g * t + 0.24223765f;
    g = g * t + 2.5672005f;
    g = g * t + 5.5043576f;
    g = g * t + 3.4399809f;
    g = g - 0.047420025f * fmaxf(1.0f - a, 0.0f);
    slope = slope + w[i] * copysignf(g, s);
  }
  slope = 2.5f * slope + (at < (float)*u ? -1.0f : 1.0f);
  *best = *best + (slope < 0.0f ? bit : 0);
});

static const char take_text[] =
    AMBIT_SOURCE(void take(const unsigned char *u, const unsigned char *noisy, unsigned char *best,
                           unsigned char *v, sum long *change) {
      int value = *noisy != 0 ? *best : *u;

      *v = value;
      *best = 0;
      *change = value > *u ? value - *u : *u - value;
    });

/* The mean change over noisy pixels, and how far it is from that of the last iteration. A frame
 * without noise has none. */
static const char settle_text[] =
    AMBIT_SOURCE(void settle(long change, long count, double *last, double *delta) {
      double mean = count > 0 ? (double)change / (double)count : 0.0;

      *delta = fabs(mean - *last);
      *last = mean;
    });

/* ---- the stream ---- */

typedef struct restorer {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v, *noisy, *best, *lo[2], *hi[2];
  ambit_scalar *count, *change, *last, *delta;
  ambit_stream *stream;
} restorer;

static ambit_field *plane(ambit_grid *g, const char *name)
{
  ambit_field *f = ambit_field_create(g, name, AMBIT_U8);

  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  return f;
}

/* Windows of 3, 9, 27 and 37 pixels along one axis, then along the other. */
static ambit_program *make_detect(restorer *r)
{
  static const int distances[] = {1, 3, 9, 5};
  ambit_program *p = ambit_program_create(r->g);
  const ambit_field *lo = r->u, *hi = r->u;

  for (int i = 0; i < 8; i++) {
    const int along = distances[i % 4];
    char text[sizeof widen_text + 64];

    snprintf(text, sizeof text, widen_text, i < 4 ? 0 : along, i < 4 ? along : 0);
    ambit_apply(p, ambit_kernel_create(r->a, text), lo, hi, r->lo[i % 2], r->hi[i % 2]);
    lo = r->lo[i % 2];
    hi = r->hi[i % 2];
  }
  ambit_apply(p, ambit_kernel_create(r->a, detect_text), r->u, lo, hi, r->noisy, r->count);
  return p;
}

static ambit_program *make_restore(restorer *r)
{
  const ambit_kernel *search = ambit_kernel_create(r->a, search_text);
  ambit_program *p = ambit_program_create(r->g);

  for (int bit = 128; bit; bit /= 2)
    ambit_apply(p, search, r->u, r->noisy, r->best, bit);
  ambit_apply(p, ambit_kernel_create(r->a, take_text), r->u, r->noisy, r->best, r->v, r->change);
  ambit_apply(p, ambit_kernel_create(r->a, settle_text), r->change, r->count, r->last, r->delta);
  ambit_swap(p, r->u, r->v);
  return p;
}

static restorer open_restorer(int *argc, char ***argv, int64_t height, int64_t width)
{
  restorer r = {.a = ambit_open(argc, argv)};
  const int64_t extents[] = {height, width};

  r.g = ambit_grid_create(r.a, 2, extents);
  r.u = plane(r.g, "u");
  r.v = plane(r.g, "v");
  r.noisy = plane(r.g, "noisy");
  r.best = plane(r.g, "best");
  for (int i = 0; i < 2; i++) {
    r.lo[i] = plane(r.g, i ? "lo1" : "lo0");
    r.hi[i] = plane(r.g, i ? "hi1" : "hi0");
  }
  r.count = ambit_scalar_create(r.a, "count", AMBIT_I64);
  r.change = ambit_scalar_create(r.a, "change", AMBIT_I64);
  r.last = ambit_scalar_create(r.a, "last", AMBIT_F64);
  r.delta = ambit_scalar_create(r.a, "delta", AMBIT_F64);
  r.stream = ambit_stream_create(make_restore(&r), r.u, r.u);
  ambit_stream_before(r.stream, make_detect(&r));
  ambit_stream_repeat_until(r.stream, r.delta, AMBIT_BELOW, 1e-4, 200);
  return r;
}

/* ---- made-up frames ---- */

typedef struct film {
  int64_t height, width, frames;
  double noise;            /* share of the pixels, from 0 to 1 */
  unsigned char *clean;    /* the picture without noise */
  unsigned char *restored; /* the last result */
  double first, last;      /* times of the first and the last result */
} film;

/* From 0 to 1, the same for the same number. */
static double chance(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return (double)((x ^ x >> 31) >> 11) / 9007199254740992.0;
}

/* Hills, edges, texture and grain; nothing is quite black or white. */
static void draw(const film *f)
{
  for (int64_t i = 0; i < f->height * f->width; i++) {
    const double y = (double)(i / f->width) / (double)f->height;
    const double x = (double)(i % f->width) / (double)f->width;
    double v = 120 + 60 * sin(3 * x + 1) * cos(4 * y);

    if ((x - 0.3) * (x - 0.3) + (y - 0.35) * (y - 0.35) < 0.04) v += 50;
    if (fabs(x - 0.7) + fabs(y - 0.65) < 0.18) v -= 70;
    if (x > 0.5) v += 14 * sin(150 * x + 20 * y) * sin(110 * y);
    if (x < 0.5 && y > 0.6) v += sin(90 * x) > 0 ? 12 : -12;
    v += 26 * chance(~(uint64_t)i) - 13;
    f->clean[i] = (unsigned char)(v < 1 ? 1 : v > 254 ? 254 : v);
  }
}

static int make_frame(int64_t item, void *values, void *user)
{
  const film *f = user;
  const int64_t pixels = f->height * f->width;
  unsigned char *u = values;

  if (item == f->frames) return 0;
  for (int64_t i = 0; i < pixels; i++) {
    const double x = chance((uint64_t)(item * pixels + i + 1));

    u[i] = x < f->noise / 2 ? 0 : x < f->noise ? 255 : f->clean[i];
  }
  return 1;
}

static int keep_frame(int64_t item, const void *values, void *user)
{
  film *f = user;
  struct timespec now;

  timespec_get(&now, TIME_UTC);
  f->last = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  if (!item) f->first = f->last;
  memcpy(f->restored, values, (size_t)(f->height * f->width));
  return 0;
}

/* Peak signal-to-noise ratio in dB. */
static double psnr(const film *f, const unsigned char *u)
{
  double sum = 0;

  for (int64_t i = 0; i < f->height * f->width; i++)
    sum += ((double)u[i] - f->clean[i]) * ((double)u[i] - f->clean[i]);
  return 10 * log10(255.0 * 255.0 * (double)(f->height * f->width) / sum);
}

static film new_film(int64_t height, int64_t width, int64_t frames, double noise)
{
  film f = {.height = height, .width = width, .frames = frames, .noise = noise};

  f.clean = malloc((size_t)(height * width));
  f.restored = malloc((size_t)(height * width));
  if (!f.clean || !f.restored) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  draw(&f);
  return f;
}

static void free_film(film *f)
{
  free(f->clean);
  free(f->restored);
}

/* ---- the same as a plain loop: every candidate for every pixel ---- */

static int64_t limit(int64_t i, int64_t end)
{
  return i < 0 ? 0 : i < end ? i : end - 1;
}

static unsigned char at(const film *f, const unsigned char *u, int64_t y, int64_t x)
{
  return u[limit(y, f->height) * f->width + limit(x, f->width)];
}

static int is_noisy(const film *f, const unsigned char *u, int64_t y, int64_t x)
{
  const unsigned char own = at(f, u, y, x);

  if (own != 0 && own != 255) return 0;
  for (int64_t i = -18; i <= 18; i++)
    for (int64_t k = -18; k <= 18; k++)
      if (at(f, u, y + i, x + k) != own) return 1;
  return 0;
}

static int best_value(const film *f, const unsigned char *u, const unsigned char *noisy, int64_t y,
                      int64_t x, const double *power)
{
  static const int steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  double least = INFINITY;
  int best = 0;

  for (int c = 0; c < 256; c++) {
    double sum = abs(c - at(f, u, y, x));

    for (int i = 0; i < 4; i++) {
      const int64_t yy = y + steps[i][0], xx = x + steps[i][1];

      sum += 2.5 * (2 - at(f, noisy, yy, xx)) * power[abs(c - at(f, u, yy, xx))];
    }
    if (sum < least) best = c;
    if (sum < least) least = sum;
  }
  return best;
}

/* Restores u in place; returns the number of iterations. */
static int restore_plainly(const film *f, unsigned char *u)
{
  const int64_t pixels = f->height * f->width;
  unsigned char *noisy = malloc((size_t)pixels), *v = malloc((size_t)pixels);
  double power[256], last = 0, delta = 1;
  int64_t count = 0;
  int n = 0;

  if (!noisy || !v) exit(1);
  for (int i = 0; i < 256; i++)
    power[i] = pow(i, 1.3);
  for (int64_t i = 0; i < pixels; i++)
    count += noisy[i] = (unsigned char)is_noisy(f, u, i / f->width, i % f->width);
  for (; n < 200 && delta >= 1e-4; n++) {
    int64_t change = 0;
    double mean;

    for (int64_t i = 0; i < pixels; i++) {
      v[i] = noisy[i] ? (unsigned char)best_value(f, u, noisy, i / f->width, i % f->width, power)
                      : u[i];
      change += abs(v[i] - u[i]);
    }
    memcpy(u, v, (size_t)pixels);
    mean = count ? (double)change / (double)count : 0;
    delta = fabs(mean - last);
    last = mean;
  }
  free(noisy);
  free(v);
  return n;
}

/* ---- checks ---- */

static int worse(const char *what, double got, double least)
{
  if (got >= least) return 0;
  fprintf(stderr, "%s is %g; it should be at least %g\n", what, got, least);
  return 1;
}

/* The last frame of a film against the plain loop: the same but for pixels in a million whose
 * candidates are as good as equal, and those that follow from them. */
static int check_small(restorer *r)
{
  int bad = 0;

  for (int i = 0; i < 3; i++) {
    film f = new_film(96, 128, 3, 0.35 * i);
    unsigned char *plain = malloc((size_t)(f.height * f.width));
    int64_t differ = 0;

    if (!plain) return 1;
    make_frame(f.frames - 1, plain, &f);
    restore_plainly(&f, plain);
    ambit_stream_run_with(r->stream, make_frame, keep_frame, &f);
    for (int64_t k = 0; k < f.height * f.width; k++)
      differ += plain[k] != f.restored[k];
    printf("%2.0f %% noise, 96 x 128: %lld of %lld pixels differ from a plain loop\n",
           100 * f.noise, (long long)differ, (long long)(f.height * f.width));
    bad |= worse("the number of equal pixels", (double)(f.height * f.width - differ),
                 (double)(f.height * f.width - 12 * i));
    free(plain);
    free_film(&f);
  }
  return bad;
}

static int check_large(int *argc, char ***argv)
{
  static const double least[] = {33, 27};
  int bad = 0;

  for (int i = 0; i < 2; i++) {
    film f = new_film(512, 512, 1, i ? 0.7 : 0.3);
    restorer r = open_restorer(argc, argv, f.height, f.width);
    unsigned char *noisy = malloc((size_t)(f.height * f.width));

    if (!noisy) return 1;
    make_frame(0, noisy, &f);
    ambit_stream_run_with(r.stream, make_frame, keep_frame, &f);
    printf("%2.0f %% noise, 512 x 512: %.1f dB, restored %.1f dB\n", 100 * f.noise, psnr(&f, noisy),
           psnr(&f, f.restored));
    bad |= worse("the result in dB", psnr(&f, f.restored), least[i]);
    bad |= ambit_close(r.a) != AMBIT_OK;
    free(noisy);
    free_film(&f);
  }
  return bad;
}

static int check(int argc, char **argv)
{
  restorer r = open_restorer(&argc, &argv, 96, 128);
  int bad = check_small(&r);

  bad |= ambit_close(r.a) != AMBIT_OK;
  return bad | check_large(&argc, &argv);
}

/* ---- the program ---- */

static int measure(int argc, char **argv)
{
  film f = {.height = 1080, .width = 1920, .frames = 10, .noise = 0.7};
  long long height = 1080, width = 1920;
  restorer r;

  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--frames")) f.frames = atoll(argv[i + 1]);
    if (!strcmp(argv[i], "--noise")) f.noise = atof(argv[i + 1]);
    if (!strcmp(argv[i], "--size")) sscanf(argv[i + 1], "%lldx%lld", &height, &width);
  }
  f = new_film(height, width, f.frames, f.noise);
  r = open_restorer(&argc, &argv, height, width);
  ambit_stream_run_with(r.stream, make_frame, keep_frame, &f);
  printf("%lld frames, %.2f per second after the first, %.1f dB\n",
         (long long)ambit_stream_items(r.stream), (double)(f.frames - 1) / (f.last - f.first),
         psnr(&f, f.restored));
  free_film(&f);
  return ambit_close(r.a) != AMBIT_OK;
}

int main(int argc, char **argv)
{
  restorer r;

  if (argc > 1 && !strcmp(argv[1], "--check")) return check(argc, argv);
  if (argc > 1 && !strcmp(argv[1], "--frames")) return measure(argc, argv);
  r = open_restorer(&argc, &argv, 16, 16); /* frames give the size */
  if (argc != 3) {
    fprintf(stderr, "usage: restore IN OUT | restore --check | restore --frames N\n");
    ambit_close(r.a);
    return 2;
  }
  ambit_stream_run(r.stream, argv[1], argv[2]);
  return ambit_close(r.a) != AMBIT_OK;
}
