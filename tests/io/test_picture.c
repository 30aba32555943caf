/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures before they are written: size, values, colours. */
#include "io/picture.h"

#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static ambit__errors errors;

/* Rows of a dense array. */
typedef struct array {
  int64_t width;
  const double *values;
  int64_t next; /* the next row expected */
} array;

static ambit_status array_row(void *user, int64_t y, double *row)
{
  array *a = user;

  CHECK_EQ(a->next++, y);
  memcpy(row, a->values + y * a->width, (size_t)a->width * sizeof *row);
  return AMBIT_OK;
}

static ambit__picture draw(int64_t width, int64_t height, const double *values,
                           const ambit__picture_options *options)
{
  array a = {.width = width, .values = values};
  ambit__picture p;

  CHECK_MSG(!ambit__picture_make(&errors, width, height, array_row, &a, options, &p), "%s",
            errors.text);
  CHECK_EQ(height, a.next);
  return p;
}

/* x + y / 1000: any size without memory. */
static ambit_status slope_row(void *user, int64_t y, double *row)
{
  for (int64_t x = 0; x < *(int64_t *)user; x++)
    row[x] = (double)x + (double)y / 1000;
  return AMBIT_OK;
}

static void check_size(int64_t width, int64_t height, int64_t want_width, int64_t want_height)
{
  ambit__picture p;

  CHECK(!ambit__picture_make(&errors, width, height, slope_row, &width, NULL, &p));
  CHECK_MSG(p.width * p.zoom_x == want_width && p.height * p.zoom_y == want_height,
            "%lld x %lld cells make %lld x %lld pixels", (long long)width, (long long)height,
            (long long)(p.width * p.zoom_x), (long long)(p.height * p.zoom_y));
  ambit__picture_free(&p);
}

static void sizes_suit_a_screen(void)
{
  check_size(600, 400, 600, 400);
  check_size(2048, 2048, 2048, 2048);
  check_size(64, 64, 512, 512);
  check_size(200, 100, 400, 200);
  check_size(1, 1, 512, 512);
  check_size(4096, 2048, 2048, 1024);
  check_size(2050, 2049, 1025, 1025);
  check_size(1000, 1, 1000, 32);    /* one dimension is a strip */
  check_size(100000, 10, 2041, 40); /* and so is a thin field, without losing rows */
  check_size(10, 100000, 40, 2041);
  check_size(20000, 1200, 2000, 120);
}

static void blocks_are_averaged(void)
{
  static const double values[] = {1, 3, 10, /**/ 5, 7, 20, /**/ 100, 200, 1000};
  static const ambit__picture_options small = {.max_side = 2, .min_side = 1};
  ambit__picture p = draw(3, 3, values, &small);

  CHECK(p.width == 2 && p.height == 2 && p.zoom_x == 1);
  CHECK(p.values[0] == 4 && p.values[1] == 15 && p.values[2] == 150 && p.values[3] == 1000);
  CHECK(p.lo == 4 && p.hi == 1000);
  ambit__picture_free(&p);
}

static void missing_values_do_not_spoil_a_block(void)
{
  static const double values[] = {NAN, 3, NAN, NAN, /**/ 5, 7, NAN, NAN};
  static const ambit__picture_options small = {.max_side = 2, .min_side = 1};
  ambit__picture p = draw(4, 2, values, &small);

  CHECK_EQ(2, p.width);
  CHECK(p.values[0] == 3);
  CHECK(p.values[p.width] == 6);
  CHECK(isnan(p.values[1]));
  CHECK_EQ(-1, ambit__picture_colour(&p, NAN));
  ambit__picture_free(&p);
}

static void check_range(int64_t n, const double *values, ambit__colour_map map, double lo,
                        double hi)
{
  ambit__picture p = draw(n, 1, values, NULL);

  CHECK_MSG(p.map == map && p.lo == lo && p.hi == hi, "map %d, %g to %g; want %d, %g to %g", p.map,
            p.lo, p.hi, map, lo, hi);
  ambit__picture_free(&p);
}

static void the_range_is_that_of_the_finite_values(void)
{
  check_range(4, (double[]){2, NAN, 8, 3}, AMBIT__DUSK, 2, 8);
  check_range(4, (double[]){INFINITY, -INFINITY, 8, 3}, AMBIT__DUSK, 3, 8);
  check_range(2, (double[]){NAN, NAN}, AMBIT__DUSK, 0, 0);
  check_range(3, (double[]){0, 1, 0}, AMBIT__DUSK, 0, 1);
}

static void waves_are_symmetric_about_zero(void)
{
  check_range(3, (double[]){-1, 0, 3}, AMBIT__TIDE, -3, 3);
  check_range(3, (double[]){-5, 0, 3}, AMBIT__TIDE, -5, 5);
  check_range(3, (double[]){-0.1, 0, 3}, AMBIT__DUSK, -0.1,
              3); /* rounding errors around zero are not a wave */
}

static void a_constant_field_is_shown_against_zero(void)
{
  check_range(2, (double[]){7, 7}, AMBIT__DUSK, 0, 7);
  check_range(2, (double[]){-7, -7}, AMBIT__DUSK, -7, 0);
  check_range(2, (double[]){0, 0}, AMBIT__DUSK, 0, 0);
}

static void values_find_their_place_in_the_map(void)
{
  ambit__picture p = {.lo = -1, .hi = 1};

  CHECK_EQ(0, ambit__picture_colour(&p, -1));
  CHECK_EQ(0, ambit__picture_colour(&p, -INFINITY));
  CHECK_EQ(AMBIT__COLOURS - 1, ambit__picture_colour(&p, 1));
  CHECK_EQ(AMBIT__COLOURS - 1, ambit__picture_colour(&p, 1e300));
  CHECK_EQ(AMBIT__COLOURS / 2, ambit__picture_colour(&p, 0));
  p = (ambit__picture){.lo = -DBL_MAX, .hi = DBL_MAX};
  CHECK_EQ(AMBIT__COLOURS / 2, ambit__picture_colour(&p, 0));
  CHECK_EQ(AMBIT__COLOURS - 1, ambit__picture_colour(&p, DBL_MAX));
  p = (ambit__picture){.lo = 0, .hi = 0};
  CHECK_EQ(0, ambit__picture_colour(&p, 0));
}

static void options_overrule_the_data(void)
{
  static const double values[] = {-1, 0, 3};
  ambit__picture p =
      draw(3, 1, values, &(ambit__picture_options){.map = AMBIT__DUSK + 1, .lo = 0, .hi = 10});

  CHECK(p.map == AMBIT__DUSK && p.lo == 0 && p.hi == 10);
  ambit__picture_free(&p);
  p = draw(3, 1, values, &(ambit__picture_options){.map = AMBIT__DUSK + 1});
  CHECK(p.map == AMBIT__DUSK && p.lo == -1 && p.hi == 3);
  ambit__picture_free(&p);
}

static ambit_status failing_row(void *user, int64_t y, double *row)
{
  (void)user;
  row[0] = 1;
  return y == 3 ? AMBIT_EDEVICE : AMBIT_OK;
}

static void a_failing_row_ends_the_picture(void)
{
  ambit__picture p;

  CHECK_EQ(AMBIT_EDEVICE, ambit__picture_make(&errors, 1, 10, failing_row, NULL, NULL, &p));
  CHECK(!p.values);
  CHECK_EQ(AMBIT_EINVAL, ambit__picture_make(&errors, 0, 10, failing_row, NULL, NULL, &p));
  CHECK(errors.text && strstr(errors.text, "0 x 10 cells"));
  ambit__errors_clear(&errors);
}

/* ---- colours ---- */

/* Lightness L* of a colour, 0 to 100: CIE 1976, independent of our code. */
static double lightness(ambit__rgb c)
{
  const unsigned char bytes[] = {c.r, c.g, c.b};
  const double share[] = {0.2126, 0.7152, 0.0722};
  double y = 0;

  for (int i = 0; i < 3; i++) {
    double x = bytes[i] / 255.0;

    y += share[i] * (x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
  }
  return y > 216.0 / 24389 ? 116 * cbrt(y) - 16 : y * 24389 / 27;
}

static void dusk_runs_evenly_from_dark_to_light(void)
{
  ambit__rgb table[AMBIT__COLOURS];
  enum { STEPS = 16 };

  ambit__colour_table(AMBIT__DUSK, table);
  CHECK(lightness(table[0]) < 5);
  CHECK(lightness(table[AMBIT__COLOURS - 1]) > 95);
  for (int i = 0; i < STEPS; i++) {
    double step = lightness(table[(i + 1) * (AMBIT__COLOURS - 1) / STEPS]) -
                  lightness(table[i * (AMBIT__COLOURS - 1) / STEPS]);

    CHECK_MSG(step > 3 && step < 9, "step %d of %d is %g", i, STEPS, step);
  }
}

static void tide_is_light_in_the_middle_and_even_on_both_sides(void)
{
  ambit__rgb table[AMBIT__COLOURS], cold, warm;

  ambit__colour_table(AMBIT__TIDE, table);
  CHECK(lightness(table[AMBIT__COLOURS / 2]) > 94);
  for (int i = 0; i < AMBIT__COLOURS / 2; i += 32) {
    cold = table[i];
    warm = table[AMBIT__COLOURS - 1 - i];
    CHECK_MSG(cold.b > cold.r && warm.r > warm.b, "colour %d", i);
    CHECK_MSG(fabs(lightness(cold) - lightness(warm)) < 9, "colour %d: %g and %g", i,
              lightness(cold), lightness(warm));
  }
}

static void neighbouring_colours_are_alike(void)
{
  for (int map = AMBIT__DUSK; map <= AMBIT__TIDE; map++) {
    ambit__rgb t[AMBIT__COLOURS];

    ambit__colour_table((ambit__colour_map)map, t);
    for (int i = 1; i < AMBIT__COLOURS; i++)
      CHECK_MSG(abs(t[i].r - t[i - 1].r) <= 2 && abs(t[i].g - t[i - 1].g) <= 2 &&
                    abs(t[i].b - t[i - 1].b) <= 2,
                "map %d jumps at %d", map, i);
  }
}

static void no_colour_of_a_map_is_the_grey_of_nothing(void)
{
  for (int map = AMBIT__DUSK; map <= AMBIT__TIDE; map++) {
    ambit__rgb t[AMBIT__COLOURS], none = AMBIT__NO_COLOUR;

    ambit__colour_table((ambit__colour_map)map, t);
    for (int i = 0; i < AMBIT__COLOURS; i++)
      CHECK(abs(t[i].r - none.r) + abs(t[i].g - none.g) + abs(t[i].b - none.b) > 60);
  }
}

static void every_map_has_its_name_and_smooth_colours(void)
{
  for (int map = 0; map < AMBIT__COLOUR_MAPS; map++) {
    ambit__rgb t[AMBIT__COLOURS];
    ambit__colour_map found;

    CHECK(ambit__colour_find(ambit__colour_name((ambit__colour_map)map), &found) &&
          (int)found == map);
    CHECK(strstr(AMBIT__COLOUR_NAMES, ambit__colour_name((ambit__colour_map)map)) != NULL);
    ambit__colour_table((ambit__colour_map)map, t);
    for (int i = 1; i < AMBIT__COLOURS; i++)
      CHECK_MSG(abs(t[i].r - t[i - 1].r) <= 3 && abs(t[i].g - t[i - 1].g) <= 3 &&
                    abs(t[i].b - t[i - 1].b) <= 3,
                "map %d jumps at %d", map, i);
  }
  CHECK(!ambit__colour_find("jet", &(ambit__colour_map){0}));
}

/* Also without colour vision, and in grey print. */
static void lightness_tells_values_apart(void)
{
  static const ambit__colour_map maps[] = {AMBIT__VIRIDIS, AMBIT__MAGMA,   AMBIT__INFERNO,
                                           AMBIT__PLASMA,  AMBIT__CIVIDIS, AMBIT__GREY};

  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    ambit__rgb t[AMBIT__COLOURS];

    ambit__colour_table(maps[i], t);
    for (int k = 64; k + 64 < AMBIT__COLOURS; k += 16)
      CHECK_MSG(lightness(t[k + 64]) > lightness(t[k]) + 1, "map %d at %d", (int)maps[i], k);
  }
}

static void orbit_ends_where_it_begins(void)
{
  ambit__rgb t[AMBIT__COLOURS];

  ambit__colour_table(AMBIT__ORBIT, t);
  CHECK(abs(t[0].r - t[AMBIT__COLOURS - 1].r) < 14 && abs(t[0].b - t[AMBIT__COLOURS - 1].b) < 14);
  CHECK(lightness(t[AMBIT__COLOURS / 2]) < 15 && lightness(t[0]) > 90);
  CHECK(t[AMBIT__COLOURS / 4].b > t[AMBIT__COLOURS / 4].r + 60);
  CHECK(t[3 * AMBIT__COLOURS / 4].r > t[3 * AMBIT__COLOURS / 4].b + 60);
}

static void relief_is_lighter_towards_the_upper_left(void)
{
  double values[9 * 9];
  ambit__picture p = {.width = 9, .height = 9, .values = values, .map = AMBIT__GREY};
  ambit__rgb table[AMBIT__COLOURS], flat, up, down;

  for (int i = 0; i < 81; i++) /* a roof along the diagonal */
    values[i] = 1 - abs(i % 9 + i / 9 - 8) / 16.0;
  ambit__picture_range(&p, &(ambit__picture_options){.map = AMBIT__GREY + 1, .lo = -1, .hi = 2});
  ambit__colour_table(AMBIT__GREY, table);
  flat = ambit__picture_pixel(&p, table, 2, 2);
  p.relief = true;
  up = ambit__picture_pixel(&p, table, 2, 2);
  down = ambit__picture_pixel(&p, table, 6, 6);
  CHECK_MSG(up.r > flat.r && down.r < flat.r, "%d %d %d", up.r, flat.r, down.r);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
#define T(name) {#name, name}
      T(sizes_suit_a_screen),
      T(blocks_are_averaged),
      T(missing_values_do_not_spoil_a_block),
      T(the_range_is_that_of_the_finite_values),
      T(waves_are_symmetric_about_zero),
      T(a_constant_field_is_shown_against_zero),
      T(values_find_their_place_in_the_map),
      T(options_overrule_the_data),
      T(a_failing_row_ends_the_picture),
      T(dusk_runs_evenly_from_dark_to_light),
      T(tide_is_light_in_the_middle_and_even_on_both_sides),
      T(neighbouring_colours_are_alike),
      T(no_colour_of_a_map_is_the_grey_of_nothing),
      T(every_map_has_its_name_and_smooth_colours),
      T(lightness_tells_values_apart),
      T(orbit_ends_where_it_begins),
      T(relief_is_lighter_towards_the_upper_left),
#undef T
      {0}};

  return test_main(argc, argv, tests);
}
