/* SPDX-License-Identifier: BSD-3-Clause */
/* masks.h - small sparse grids for tests, with the functions that they were made from. */
#ifndef AMBIT_TESTS_GRID_MASKS_H
#define AMBIT_TESTS_GRID_MASKS_H

#include "grid/active.h"
#include "support/test.h"

static ambit__errors errors;

static inline int is_active(const int64_t *cell, int kind)
{
  const uint64_t mix = (uint64_t)(cell[0] * 7919 + cell[1] * 104729 + cell[2] * 1299709);

  if (kind == 0) return 1;
  if (kind == 1) return mix * 0x9e3779b97f4a7c15u >> 62 == 0;
  if (kind == 2) return cell[0] < 20 && cell[2] % 30 > cell[1];
  return cell[1] % 2 && cell[2] > 40;
}

enum { KINDS = 4 };

static inline ambit__active make_in(ambit__storage storage, const int64_t *extents, int kind,
                                    int64_t pad)
{
  const ambit__box box = ambit__box_of_extents(3, extents);
  ambit__active a;
  int64_t cell[3];

  ambit__active_begin(&a, &box, storage);
  for (int64_t row = 0; row < extents[0] * extents[1]; row++) {
    ambit__run r = {.row = row};

    ambit__active_place(&a, row, cell);
    for (cell[2] = 0; cell[2] <= extents[2]; cell[2]++)
      if (cell[2] < extents[2] && is_active(cell, kind)) {
        r.hi = cell[2] + 1;
      } else {
        if (r.lo < r.hi) CHECK(!ambit__active_add(&errors, &a, &r));
        r.lo = r.hi = cell[2] + 1;
      }
  }
  CHECK(!ambit__active_end(&errors, &a, pad));
  return a;
}

static inline ambit__active make(const int64_t *extents, int kind, int64_t pad)
{
  return make_in(STORAGE_RUNS, extents, kind, pad);
}

static const int64_t sizes[][3] = {{20, 9, 70}, {1, 1, 5}, {8, 3, 32}, {2, 3, 2500}};

enum { SIZES = sizeof sizes / sizeof *sizes };

#endif
