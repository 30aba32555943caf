/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes of offsets contain exactly the given offsets, each once, and are few. */
#include "grid/halo.h"
#include "support/test.h"

#include <string.h>

enum { SIDE = 9, MOST = SIDE * SIDE * SIDE };

typedef int offset[AMBIT_MAX_DIMS];

static const ambit__need region = {.region = {.ndims = 3, .hi = {20, 20, 20}}};

/* All offsets within a radius that `takes` accepts; returns their number. */
static int offsets_of(int radius, bool (*takes)(const int *), offset *list)
{
  int n = 0;

  for (int z = -radius; z <= radius; z++)
    for (int y = -radius; y <= radius; y++)
      for (int x = -radius; x <= radius; x++) {
        const offset o = {z, y, x};

        if (takes(o)) memcpy(list[n++], o, sizeof o);
      }
  return n;
}

static bool in_star(const int *o)
{
  return (o[0] != 0) + (o[1] != 0) + (o[2] != 0) <= 1;
}

static bool in_box(const int *o)
{
  (void)o;
  return true;
}

static int count(int radius, bool (*takes)(const int *))
{
  static offset list[MOST];
  ambit__needs needs = {0};
  int n = offsets_of(radius, takes, list);

  CHECK_EQ(AMBIT_OK,
           ambit__needs_add(NULL, &needs, &region, (const int(*)[AMBIT_MAX_DIMS])list, n));
  n = needs.n;
  ambit__needs_free(&needs);
  return n;
}

static void a_box_is_one_and_a_star_five(void)
{
  CHECK_EQ(1, count(1, in_box));
  CHECK_EQ(1, count(4, in_box));
  CHECK_EQ(5, count(1, in_star));
  CHECK_EQ(5, count(4, in_star));
}

static void the_cell_itself_is_no_need(void)
{
  CHECK_EQ(0, count(0, in_box));
}

static uint64_t state = 7;

static bool by_chance(const int *o)
{
  (void)o;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 62 != 0;
}

static int times_held(const ambit__needs *needs, const int *o)
{
  int n = 0;

  for (int i = 0; i < needs->n; i++) {
    bool in = true;

    for (int d = 0; d < 3; d++)
      in = in && o[d] >= needs->list[i].lo[d] && o[d] <= needs->list[i].hi[d];
    n += in;
  }
  return n;
}

static void boxes_hold_each_offset_once_and_no_other(void)
{
  static offset list[MOST];

  for (int round = 0; round < 200; round++) {
    ambit__needs needs = {0};
    const int n = offsets_of(2, by_chance, list);
    int held = 0, own = 0;

    for (int i = n - 1; i > 0; i--) { /* in any order */
      const int k = (int)(state >> 33) % (i + 1);
      offset swap;

      by_chance(NULL);
      memcpy(swap, list[i], sizeof swap);
      memcpy(list[i], list[k], sizeof swap);
      memcpy(list[k], swap, sizeof swap);
    }
    CHECK_EQ(AMBIT_OK,
             ambit__needs_add(NULL, &needs, &region, (const int(*)[AMBIT_MAX_DIMS])list, n));
    for (int i = 0; i < n; i++) {
      const bool is_own = !list[i][0] && !list[i][1] && !list[i][2];

      CHECK(times_held(&needs, list[i]) == 1 || is_own);
      own += is_own && !times_held(&needs, list[i]);
    }
    for (int i = 0; i < needs.n; i++) {
      const ambit__need *k = &needs.list[i];

      held += (k->hi[0] - k->lo[0] + 1) * (k->hi[1] - k->lo[1] + 1) * (k->hi[2] - k->lo[2] + 1);
    }
    CHECK_EQ(n - own, held);
    ambit__needs_free(&needs);
  }
}

static void needs_cover_those_within_them(void)
{
  static offset list[MOST];
  ambit__needs box = {0}, star = {0}, elsewhere = {0};
  const ambit__need other = {.region = {.ndims = 3, .hi = {20, 20, 19}}};
  ambit__need more = region;
  int n = offsets_of(2, in_box, list);

  ambit__needs_add(NULL, &box, &region, (const int(*)[AMBIT_MAX_DIMS])list, n);
  n = offsets_of(2, in_star, list);
  ambit__needs_add(NULL, &star, &region, (const int(*)[AMBIT_MAX_DIMS])list, n);
  ambit__needs_add(NULL, &elsewhere, &other, (const int(*)[AMBIT_MAX_DIMS])list, n);
  CHECK(ambit__needs_cover(&box, &star) && !ambit__needs_cover(&star, &box));
  CHECK(!ambit__needs_cover(&box, &elsewhere));
  n = box.n;
  ambit__needs_add(NULL, &box, &region, (const int(*)[AMBIT_MAX_DIMS])list, 3);
  CHECK_EQ(n, box.n);
  more.beyond.lo[1] = 1;
  ambit__needs_free(&elsewhere);
  ambit__needs_add(NULL, &elsewhere, &more, (const int(*)[AMBIT_MAX_DIMS])list, n);
  CHECK(!ambit__needs_cover(&box, &elsewhere));
  ambit__needs_free(&box);
  ambit__needs_free(&star);
  ambit__needs_free(&elsewhere);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_box_is_one_and_a_star_five", a_box_is_one_and_a_star_five},
      {"the_cell_itself_is_no_need", the_cell_itself_is_no_need},
      {"boxes_hold_each_offset_once_and_no_other", boxes_hold_each_offset_once_and_no_other},
      {"needs_cover_those_within_them", needs_cover_those_within_them},
      {0}};

  return test_main(argc, argv, tests);
}
