/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds without streams and elevation files (AMBIT_STREAMS, AMBIT_ELEVATION): their calls fail
 * with an error that says how to get them. */
#include "ambit_stream.h"
#include "support/test.h"

#include <string.h>

static ambit *open_quietly(ambit_grid **g)
{
  ambit *a = ambit_open(NULL, NULL);

  ambit_on_error(a, NULL, NULL);
  *g = ambit_grid_create(a, 2, (int64_t[]){8, 8});
  return a;
}

static void a_stream_is_refused_with_the_option(void)
{
  ambit_grid *g;
  ambit *a = open_quietly(&g);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);

  CHECK(!ambit_stream_create(ambit_program_create(g), u, u));
  CHECK_EQ(AMBIT_EUNSUPPORTED, ambit_error(a));
  CHECK(strstr(ambit_error_text(a), "AMBIT_STREAMS") != NULL);
  CHECK_EQ(AMBIT_EINVAL, ambit_stream_run(NULL, "in.y4m", "out.y4m"));
  CHECK_EQ(AMBIT_EUNSUPPORTED, ambit_close(a));
}

static void an_elevation_file_is_refused_with_the_option(void)
{
  ambit_grid *g;
  ambit *a = open_quietly(&g);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);

  CHECK_EQ(AMBIT_EUNSUPPORTED, ambit_field_load(u, "heights.tif"));
  CHECK(strstr(ambit_error_text(a), "heights.tif") != NULL);
  CHECK(strstr(ambit_error_text(a), "AMBIT_ELEVATION") != NULL);
  ambit_error_clear(a);
  CHECK(!ambit_file_inspect(a, "heights.asc"));
  CHECK_EQ(AMBIT_EUNSUPPORTED, ambit_close(a));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_stream_is_refused_with_the_option", a_stream_is_refused_with_the_option},
      {"an_elevation_file_is_refused_with_the_option",
       an_elevation_file_is_refused_with_the_option},
      {0}};

  return test_main(argc, argv, tests);
}
