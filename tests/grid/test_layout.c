/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts: every value has a distinct address, and rows are aligned for caches. */
#include "grid/layout.h"
#include "support/test.h"

#include <stdlib.h>

static const ambit_type types[] = {AMBIT_F32, AMBIT_F64, AMBIT_I32, AMBIT_U8,
                                   AMBIT_I16, AMBIT_I64, AMBIT_F16};
enum { TYPES = sizeof types / sizeof *types };

static ambit__layout sample(ambit_type type, int components, ambit_order order)
{
  ambit__layout l = {.type = type,
                     .components = components,
                     .order = order,
                     .own = {.ndims = 3, .lo = {5, 0, -3}, .hi = {8, 4, 10}},
                     .margin_lo = {1, 0, 2},
                     .margin_hi = {0, 3, 1}};

  CHECK(ambit__layout_make(&l));
  return l;
}

/* Counts how often each value of the buffer is a component of a cell, including margins. */
static void mark(const ambit__layout *l, unsigned char *seen)
{
  const int64_t size = (int64_t)ambit_type_size(l->type);
  int64_t at[3];

  for (at[0] = 5 - 1; at[0] < 8; at[0]++)
    for (at[1] = 0; at[1] < 4 + 3; at[1]++)
      for (at[2] = -3 - 2; at[2] < 10 + 1; at[2]++)
        for (int c = 0; c < l->components; c++) {
          int64_t e = ambit__layout_at(l, at) + c * l->component;

          CHECK(e >= 0 && (e + 1) * size <= (int64_t)l->bytes);
          if (e >= 0 && (e + 1) * size <= (int64_t)l->bytes) seen[e]++;
        }
}

static void every_value_has_a_place_of_its_own(void)
{
  for (int t = 0; t < TYPES; t++)
    for (int components = 1; components <= 3; components++)
      for (int order = 0; order < 2; order++) {
        ambit__layout l = sample(types[t], components, (ambit_order)order);
        unsigned char *seen = calloc(l.bytes, 1);

        mark(&l, seen);
        for (size_t e = 0; e < l.bytes; e++)
          CHECK(seen[e] <= 1);
        free(seen);
      }
}

static void rows_start_on_a_cache_line(void)
{
  for (int t = 0; t < TYPES; t++)
    for (int components = 1; components <= 3; components++)
      for (int order = 0; order < 2; order++) {
        ambit__layout l = {.type = types[t],
                           .components = components,
                           .order = (ambit_order)order,
                           .own = {.ndims = 3, .lo = {5, 0, -3}, .hi = {8, 4, 1000}},
                           .margin_lo = {1, 0, 2},
                           .margin_hi = {0, 3, 1}};
        int64_t size = (int64_t)ambit_type_size(types[t]);

        CHECK(ambit__layout_make(&l));
        CHECK_EQ(l.origin, ambit__layout_at(&l, l.own.lo));
        CHECK_EQ(0, l.origin * size % 64);
        CHECK_EQ(0, l.stride[0] * size % 64);
        CHECK_EQ(0, l.stride[1] * size % 64);
        if (l.order == AMBIT_SOA) CHECK_EQ(0, l.component * size % 64);
      }
}

/* Thin grids, and those of many axes, have many short rows. */
static void short_rows_waste_little_memory(void)
{
  for (int t = 0; t < TYPES; t++)
    for (int64_t n = 1; n < 200; n++) {
      ambit__layout l = {.type = types[t],
                         .components = 1,
                         .own = {.ndims = 4, .hi = {6, 6, 6, n}},
                         .margin_lo = {1, 1, 1, 1},
                         .margin_hi = {1, 1, 1, 1}};

      CHECK(ambit__layout_make(&l));
      CHECK_MSG((n + 2) * (int64_t)ambit_type_size(types[t]) >= 320 ||
                    3 * l.stride[2] <= 4 * (n + 2),
                "rows of %d + 2 cells are %d apart", (int)n, (int)l.stride[2]);
    }
}

/* Grids of many axes larger than a cache move nothing but their cells. */
static void short_rows_of_large_fields_have_no_gaps(void)
{
  static const int64_t rows[] = {1, 3, 15, 24, 49, 64};

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ambit__layout l = {.type = AMBIT_F32,
                       .components = 1,
                       .own = {.ndims = 4, .hi = {99, 99, 99, rows[i]}},
                       .margin_lo = {0, 0, 0, 1},
                       .margin_hi = {0, 0, 0, 1}};

    CHECK(ambit__layout_make(&l));
    CHECK_EQ(rows[i] + 2, l.stride[2]);
    CHECK(l.bytes <= (size_t)(99 * 99 * 99 * (rows[i] + 2) * 4 + 4096 + 99 * 4));
    l.own.hi[0] = l.own.hi[1] = l.own.hi[2] = 4; /* in the cache: whole lines, if they are little */
    CHECK(ambit__layout_make(&l));
    if (rows[i] > 48) CHECK_EQ(0, l.stride[2] * 4 % 64);
  }
}

/* No two components of a cell are in the same set of a cache whose sets repeat every 4096 bytes. */
static void components_on_cores_are_in_different_sets(void)
{
  for (int components = 2; components <= 32; components++)
    for (int64_t n = 40; n < 1600; n += 97) {
      ambit__layout l = {.type = AMBIT_F32,
                         .components = components,
                         .own = {.ndims = 2, .hi = {n, n}},
                         .margin_lo = {1, 1},
                         .margin_hi = {1, 1}};
      bool taken[64] = {false};

      CHECK(ambit__layout_make(&l));
      CHECK_EQ(0, l.component * 4 % 64);
      CHECK(l.component >= (n + 2) * l.stride[0] &&
            l.component <= (n + 2) * l.stride[0] + 2 * 1024);
      for (int c = 0; c < components; c++) {
        bool *set = &taken[l.component * c * 4 / 64 % 64];

        CHECK(!*set);
        *set = true;
      }
    }
}

static void components_lie_apart_or_beside_each_other(void)
{
  ambit__layout soa = sample(AMBIT_F32, 3, AMBIT_SOA), aos = sample(AMBIT_F32, 3, AMBIT_AOS);

  CHECK_EQ(1, soa.stride[2]);
  CHECK(soa.component >= 4 * 7 * (13 + 3));
  CHECK_EQ(3, aos.stride[2]);
  CHECK_EQ(1, aos.component);
}

static void the_margins_asked_for_are_there(void)
{
  ambit__layout l = sample(AMBIT_F64, 1, AMBIT_SOA);

  CHECK_EQ(1, l.margin_lo[0]);
  CHECK_EQ(2, l.margin_lo[2]); /* of a short row */
  CHECK_EQ(3, l.margin_hi[1]);
}

static void rows_are_whole_lines_but_no_pages_apart(void)
{
  for (int64_t n = 500; n < 5000; n++) {
    ambit__layout l = {.type = AMBIT_F64, .components = 1, .own = {.ndims = 2, .hi = {10, n}}};

    CHECK(ambit__layout_make(&l));
    CHECK(l.stride[0] >= n);
    CHECK(l.stride[0] <= n + 8 + 7 + 8);
    CHECK_EQ(0, l.stride[0] * 8 % 64);
    CHECK(l.stride[0] * 8 % 4096 != 0);
  }
}

static void cores_have_rows_of_an_odd_number_of_lines(void)
{
  for (int64_t n = 1; n < 5000; n++) {
    ambit__layout l = {.type = AMBIT_F32, .components = 1, .own = {.ndims = 3, .hi = {4, 5, n}}};

    CHECK(ambit__layout_make(&l));
    if (n >= 64) CHECK_EQ(0, l.stride[1] * 4 % 64);
    if (l.stride[1] * 4 >= 512) CHECK_EQ(1, l.stride[1] * 4 / 64 % 2);
    CHECK(l.stride[1] * 4 <= n * 4 + 3 * 64);
  }
}

static int64_t largest_power_of_2(int64_t n)
{
  return n & -n;
}

static void gpus_have_rows_on_longer_lines(void)
{
  for (int64_t n = 30; n < 3000; n++) {
    ambit__layout l = {.type = AMBIT_F32,
                       .components = 2,
                       .line = 256,
                       .own = {.ndims = 3, .lo = {0, 0, 7}, .hi = {5, 4, 7 + n}},
                       .margin_lo = {1, 1, 1},
                       .margin_hi = {2, 0, 1}};
    const int64_t row = (16 + n + 1) * 4, first[] = {-1, -1, 7 - 16}, last[] = {6, 3, 7 + n};
    int64_t line;

    CHECK(ambit__layout_make(&l));
    line = largest_power_of_2(l.stride[1] * 4);
    if (line > 256) line = 256;
    CHECK(line >= 64);
    CHECK_EQ(0, l.origin * 4 % line);
    CHECK_EQ(0, l.stride[0] * 4 % line);
    CHECK_EQ(0, l.component * 4 % line);
    CHECK(l.stride[1] * 4 % 4096 != 0);
    CHECK(l.stride[1] * 4 >= row && l.stride[1] * 4 - row <= row / 8 + 63);
    CHECK(ambit__layout_at(&l, first) >= 0);
    CHECK((ambit__layout_at(&l, last) + l.component + 1) * 4 <= (int64_t)l.bytes);
    CHECK(ambit__layout_at(&l, last) < ambit__layout_at(&l, first) + l.component);
    if (row >= 8 * 256) CHECK_EQ(256, line);
  }
}

/* Of the memory that a thin grid, or one of many axes, moves on a GPU, most is cells. */
static void gpus_pack_short_rows(void)
{
  static const struct {
    int ndims;
    int64_t row;
    bool packed;
  } cases[] = {{2, 15, true}, {2, 16, false}, {3, 1, true},  {3, 3, true},   {3, 16, false},
               {4, 26, true}, {5, 26, true},  {6, 15, true}, {4, 64, false}, {1, 3, false}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int last = cases[i].ndims - 1;
    ambit__layout l = {.type = AMBIT_F32,
                       .components = 1,
                       .line = 256,
                       .own = {.ndims = cases[i].ndims, .hi = {9, 9, 9, 9, 9, 9}}};

    l.own.hi[last] = cases[i].row;
    for (int margin = 0; margin < 2; margin++) {
      const int64_t cells = cases[i].row + 2 * margin;

      l.margin_lo[last] = l.margin_hi[last] = margin;
      CHECK(ambit__layout_make(&l));
      CHECK_EQ(cases[i].packed, ambit__layout_is_packed(&l));
      if (cases[i].packed) { /* whole vectors of 16 bytes */
        CHECK_EQ(0, l.stride[last - 1] % 4);
        CHECK(3 * l.stride[last - 1] <= 4 * cells || l.stride[last - 1] - cells < 4);
      } else if (last) {
        CHECK_EQ(0, l.stride[last - 1] * 4 % 64);
      }
    }
  }
}

static void a_size_beyond_63_bits_is_refused(void)
{
  ambit__layout l = {
      .type = AMBIT_F64, .components = 1, .own = {.ndims = 3, .hi = {1 << 21, 1 << 21, 1 << 21}}};

  CHECK(!ambit__layout_make(&l));
  l.own.hi[0] = 1 << 10;
  CHECK(ambit__layout_make(&l));
  l.components = 1 << 10;
  CHECK(!ambit__layout_make(&l));
  l.own = (ambit__box){.ndims = 1, .hi = {INT64_MAX / 4}};
  CHECK(!ambit__layout_make(&l));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_value_has_a_place_of_its_own", every_value_has_a_place_of_its_own},
      {"rows_start_on_a_cache_line", rows_start_on_a_cache_line},
      {"short_rows_waste_little_memory", short_rows_waste_little_memory},
      {"short_rows_of_large_fields_have_no_gaps", short_rows_of_large_fields_have_no_gaps},
      {"components_on_cores_are_in_different_sets", components_on_cores_are_in_different_sets},
      {"components_lie_apart_or_beside_each_other", components_lie_apart_or_beside_each_other},
      {"the_margins_asked_for_are_there", the_margins_asked_for_are_there},
      {"rows_are_whole_lines_but_no_pages_apart", rows_are_whole_lines_but_no_pages_apart},
      {"cores_have_rows_of_an_odd_number_of_lines", cores_have_rows_of_an_odd_number_of_lines},
      {"gpus_have_rows_on_longer_lines", gpus_have_rows_on_longer_lines},
      {"gpus_pack_short_rows", gpus_pack_short_rows},
      {"a_size_beyond_63_bits_is_refused", a_size_beyond_63_bits_is_refused},
      {0}};

  return test_main(argc, argv, tests);
}
