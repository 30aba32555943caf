/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of the option view; fields, components, planes, zoom and pan. */
#include "support/test.h"
#include "view/sight.h"

static ambit__scene scene_of(int ndims, const int64_t *extents)
{
  ambit__scene s = {.number = 1, .ndims = ndims, .nfields = 2, .result = 1};

  memcpy(s.extents, extents, (size_t)ndims * sizeof *extents);
  s.fields[0] = (ambit__scene_field){.name = "velocity", .components = 3};
  s.fields[1] = (ambit__scene_field){.name = "u", .components = 1};
  return s;
}

static ambit_status parse(const char *text, ambit__viewing *v)
{
  ambit__errors errors = {0};
  const ambit_status s = ambit__viewing_parse(&errors, text, v);

  ambit__errors_clear(&errors);
  return s;
}

static void words_of_the_option_are_understood(void)
{
  ambit__viewing v;

  CHECK(!parse("", &v) && !v.is_on);
  CHECK(!parse("off", &v) && !v.is_on);
  CHECK(!parse("1", &v) && v.is_on && !v.http && v.axis == -1 && v.component == 0);
  CHECK(!parse("http", &v) && v.http && v.port == 0);
  CHECK(!parse("http:8080,u:2,z=40,paused", &v) && v.port == 8080 && v.component == 2 &&
        v.axis == 0 && v.plane == 40 && v.paused && !strcmp(v.field, "u"));
  CHECK(!parse("http:/tmp/a.sock", &v) && !strcmp(v.path, "/tmp/a.sock"));
  CHECK(!parse("speed", &v) && v.speed && v.component == AMBIT__VIEW_NORM);
  CHECK(!parse("velocity:norm,x=max", &v) && v.component == AMBIT__VIEW_NORM && v.most &&
        v.axis == 2);
  CHECK(!parse("ascii,colours=magma,range=-1:2.5,relief", &v) && v.screen == AMBIT__SCREEN_ASCII &&
        v.lo == -1 && v.hi == 2.5 && v.relief && !strcmp(v.colours, "magma"));
}

static void other_words_are_refused(void)
{
  static const char *const wrong[] = {"http:99999",  "http:x", "z=",   "z=-1", "range=2:1",
                                      "range=1",     "u:",     "u:-1", "u:x",  "depth=3",
                                      "range=0:nan", "u:1e9",  "z=4x", NULL};
  ambit__viewing v;

  for (int i = 0; wrong[i]; i++)
    CHECK_MSG(parse(wrong[i], &v) == AMBIT_EOPTION, "%s was accepted", wrong[i]);
}

static void the_option_needs_no_value(void)
{
  char *argv[] = {"program", "--ambit-view", "--ambit-threads=1", NULL}, **at = argv;
  int argc = 3;
  ambit *a = ambit_open(&argc, &at);

  CHECK_EQ(AMBIT_OK, ambit_error(a));
  CHECK_STR("1", ambit_option_get(a, "view"));
  CHECK_EQ(AMBIT_OK, ambit_option_set(a, "view", "http,z=3"));
  ambit_on_error(a, NULL, NULL);
  CHECK_EQ(AMBIT_EOPTION, ambit_option_set(a, "view", "z=x"));
  ambit_close(a);
}

static void a_request_is_checked_against_the_program(void)
{
  const ambit__scene s = scene_of(3, (int64_t[]){10, 20, 30});
  ambit__viewing v;
  ambit__sight x;
  char why[200];

  CHECK(!parse("1", &v) && ambit__sight_ask(&s, &v, &x, why, sizeof why));
  CHECK(x.field == 1 && x.axis == 0 && x.plane[0] == 5 && x.hi[0] == 20 && x.hi[1] == 30);
  CHECK(!parse("velocity:2,y=7", &v) && ambit__sight_ask(&s, &v, &x, why, sizeof why));
  CHECK(x.field == 0 && x.component == 2 && x.axis == 1 && x.plane[1] == 7 && x.hi[0] == 10);
  CHECK(!parse("speed", &v) && ambit__sight_ask(&s, &v, &x, why, sizeof why) && x.field == 0);
  CHECK(!parse("w", &v) && !ambit__sight_ask(&s, &v, &x, why, sizeof why));
  CHECK(strstr(why, "velocity") != NULL);
  CHECK(!parse("velocity:3", &v) && !ambit__sight_ask(&s, &v, &x, why, sizeof why));
  CHECK(!parse("z=10", &v) && !ambit__sight_ask(&s, &v, &x, why, sizeof why));
  CHECK(!parse("3=1", &v) && !ambit__sight_ask(&s, &v, &x, why, sizeof why));
}

static void pictures_of_any_dimension_have_rows_and_columns(void)
{
  static const int64_t extents[] = {4, 5, 6, 7, 8, 9};

  for (int n = 1; n <= AMBIT_MAX_DIMS; n++) {
    const ambit__scene s = scene_of(n, extents);
    ambit__sight x = ambit__sight_first(&s);

    for (int i = 0; i < n; i++, ambit__sight_next_axis(&s, &x)) {
      const int rows = ambit__sight_rows(&s, &x), columns = ambit__sight_columns(&s, &x);

      CHECK(columns >= 0 && columns < n && columns != x.axis && rows < columns);
      CHECK(n == 1 ? rows == -1 : rows >= 0 && rows != x.axis);
      CHECK_EQ(ambit__scene_extent(&s, rows), x.hi[0]);
      CHECK_EQ(ambit__scene_extent(&s, columns), x.hi[1]);
    }
  }
}

static void components_go_round_with_their_norm(void)
{
  const ambit__scene s = scene_of(2, (int64_t[]){10, 20});
  ambit__sight x = ambit__sight_first(&s);
  char text[60];

  ambit__sight_next_component(&s, &x, 1);
  CHECK_EQ(0, x.component); /* u has one */
  ambit__sight_next_field(&s, &x, 1);
  CHECK_EQ(0, x.field);
  ambit__sight_next_component(&s, &x, 1);
  ambit__sight_next_component(&s, &x, 1);
  CHECK_EQ(2, x.component);
  ambit__sight_next_component(&s, &x, 1);
  CHECK_EQ(AMBIT__VIEW_NORM, x.component);
  ambit__sight_print(&s, &x, text, sizeof text);
  CHECK_STR("|velocity|", text);
  ambit__sight_next_component(&s, &x, 1);
  CHECK_EQ(0, x.component);
  ambit__sight_next_component(&s, &x, -1);
  CHECK_EQ(AMBIT__VIEW_NORM, x.component);
  ambit__sight_next_field(&s, &x, -1);
  CHECK_EQ(1, x.field);
}

static void zoom_keeps_the_point_under_it_and_stays_inside(void)
{
  const ambit__scene s = scene_of(2, (int64_t[]){1000, 2000});
  ambit__sight x = ambit__sight_first(&s);

  ambit__sight_zoom(&s, &x, 2, 0.5, 0.5);
  CHECK(x.lo[0] == 250 && x.hi[0] == 750 && x.lo[1] == 500 && x.hi[1] == 1500);
  ambit__sight_zoom(&s, &x, 2, 0, 1);
  CHECK(x.lo[0] == 250 && x.hi[0] == 500 && x.lo[1] == 1000 && x.hi[1] == 1500);
  ambit__sight_pan(&s, &x, -9, 9);
  CHECK(x.lo[0] == 0 && x.hi[0] == 250 && x.lo[1] == 1500 && x.hi[1] == 2000);
  ambit__sight_zoom(&s, &x, 100, 0.3, 0.3);
  ambit__sight_zoom(&s, &x, 100, 0.3, 0.3);
  CHECK(x.hi[0] - x.lo[0] == 8 && x.hi[1] - x.lo[1] == 8);
  for (int i = 0; i < 20; i++)
    ambit__sight_zoom(&s, &x, 0.5, 0.9, 0.1);
  CHECK(x.lo[0] == 0 && x.hi[0] == 1000 && x.lo[1] == 0 && x.hi[1] == 2000);
}

static void planes_end_at_the_faces(void)
{
  const ambit__scene s = scene_of(3, (int64_t[]){10, 20, 30});
  ambit__sight x = ambit__sight_first(&s);

  x.most = true;
  ambit__sight_move_plane(&s, &x, 100);
  CHECK(x.plane[0] == 9 && !x.most);
  ambit__sight_move_plane(&s, &x, -100);
  CHECK_EQ(0, x.plane[0]);
}

static void another_program_shows_the_field_of_the_same_name(void)
{
  const ambit__scene s = scene_of(2, (int64_t[]){100, 200});
  ambit__scene other = scene_of(2, (int64_t[]){100, 200}),
               larger = scene_of(3, (int64_t[]){9, 9, 9});
  ambit__sight x = ambit__sight_first(&s);

  ambit__sight_zoom(&s, &x, 2, 0, 0);
  other.fields[0] = (ambit__scene_field){.name = "u", .components = 1};
  other.fields[1] = (ambit__scene_field){.name = "p", .components = 1};
  ambit__sight_adapt(&s, &other, &x);
  CHECK(x.field == 0 && x.hi[0] == 50);
  ambit__sight_adapt(&other, &larger, &x);
  CHECK(x.field == 1 && x.axis == 0 && x.hi[0] == 9);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
#define T(name) {#name, name}
      T(words_of_the_option_are_understood),
      T(other_words_are_refused),
      T(the_option_needs_no_value),
      T(a_request_is_checked_against_the_program),
      T(pictures_of_any_dimension_have_rows_and_columns),
      T(components_go_round_with_their_norm),
      T(zoom_keeps_the_point_under_it_and_stays_inside),
      T(planes_end_at_the_faces),
      T(another_program_shows_the_field_of_the_same_name),
#undef T
      {0}};

  return test_main(argc, argv, tests);
}
