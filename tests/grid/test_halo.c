/* SPDX-License-Identifier: BSD-3-Clause */
/* Halos against their definition: cells of random grids are numbered, transfers and ghost cells are
 * executed cell by cell, and every read must then give the value that grid/boundary.h defines. */
#include "base/clock.h"
#include "grid/halo.h"
#include "grid/partition.h"
#include "support/test.h"

#include <stdlib.h>

enum { MOST_PARTS = 12, MOST_NEEDS = 8, SECTORS = 81, ROUNDS = 4000 };

static uint64_t state = 1;

static int dice(int n) /* 0..n-1 */
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)n);
}

/* ---- a random case ---- */

typedef struct problem {
  int round;
  ambit__box grid, parts[MOST_PARTS];
  ambit__boundaries boundaries; /* constants are -1, -2, ..., which are not numbers of cells */
  ambit__need needs[MOST_NEEDS];
  bool mine[MOST_PARTS];
  ambit__halo_spec spec;
} problem;

static void roll_boundaries(problem *p)
{
  for (int d = 0; d < p->grid.ndims; d++)
    for (int side = 0; side < 2; side++) {
      p->boundaries.kind[d][side] = (ambit_boundary)dice(AMBIT_FIXED + 1);
      p->boundaries.value[d][side] = -1 - 2 * d - side;
    }
  for (int d = 0; d < p->grid.ndims; d++) {
    ambit_boundary *kind = p->boundaries.kind[d];

    if (kind[0] == AMBIT_PERIODIC || kind[1] == AMBIT_PERIODIC) kind[0] = kind[1] = AMBIT_PERIODIC;
  }
}

static bool is_closed(ambit_boundary kind)
{
  return kind == AMBIT_NONE || kind == AMBIT_FIXED;
}

/* A random region and box of offsets, such that no read crosses a closed face. */
static void roll_need(const problem *p, int far, ambit__need *need)
{
  need->region = p->grid;
  for (int d = 0; d < p->grid.ndims; d++) {
    const ambit_boundary *kind = p->boundaries.kind[d];
    int64_t *lo = &need->region.lo[d], *hi = &need->region.hi[d], extent = *hi;
    int o = dice(3) ? dice(2 * far + 1) - far : 0, more = dice(4) ? 0 : dice(3);

    need->lo[d] = o;
    need->hi[d] = o + more;
    if (dice(4) == 0) *lo = dice((int)extent);
    if (dice(4) == 0) *hi -= dice((int)(extent - *lo));
    if (is_closed(kind[0]) && *lo + o < 0) *lo = -o;
    if (is_closed(kind[1]) && *hi + o + more > extent) *hi = extent - o - more;
    if (dice(3) == 0) {
      need->beyond.lo[d] = dice(3);
      need->beyond.hi[d] = dice(3);
    }
  }
}

static void roll(problem *p, int round)
{
  static const int most[] = {0, 12, 9, 5, 3};
  double weights[MOST_PARTS];
  int nparts = 1 + dice(MOST_PARTS), far = dice(5) ? 2 : 9;
  ambit__cuts cuts = {0}; /* auto */

  *p = (problem){.round = round, .grid = {.ndims = 1 + (dice(10) ? dice(3) : 3)}};
  for (int d = 0; d < p->grid.ndims; d++)
    p->grid.hi[d] = 1 + dice(most[p->grid.ndims]);
  for (int i = 0; i < nparts; i++) {
    weights[i] = 1 + dice(3) * dice(5) - dice(2);
    p->mine[i] = dice(2);
  }
  weights[0] = 1;
  roll_boundaries(p);
  p->spec = (ambit__halo_spec){.grid = &p->grid,
                               .parts = p->parts,
                               .nparts = nparts,
                               .boundaries = &p->boundaries,
                               .needs = p->needs,
                               .nneeds = dice(MOST_NEEDS + 1)};
  for (int i = 0; i < p->spec.nneeds; i++)
    roll_need(p, far, &p->needs[i]);
  if (nparts % 2 == 0 && dice(2)) cuts = (ambit__cuts){.n = 2, .count = {nparts / 2, 2}};
  if (p->grid.ndims == 1) cuts.n = 0;
  CHECK_EQ(AMBIT_OK, ambit__partition_make(NULL, &p->grid, nparts, &cuts, dice(2) ? weights : NULL,
                                           p->parts));
}

/* ---- cells ---- */

static bool first_cell(const ambit__box *b, int64_t *at)
{
  ambit__box_first(b, at);
  return !ambit__box_is_empty(b);
}

static bool next_cell(const ambit__box *b, int64_t *at)
{
  int last = b->ndims - 1;

  if (++at[last] < b->hi[last]) return true;
  at[last] = b->lo[last];
  return ambit__box_next_row(b, at);
}

#define FOR_CELLS(b, at) for (bool more = first_cell(b, at); more; more = next_cell(b, at))

static int64_t index_in(const ambit__box *b, const int64_t *at)
{
  int64_t i = 0;

  for (int d = 0; d < b->ndims; d++) {
    if (at[d] < b->lo[d] || at[d] >= b->hi[d]) return -1;
    i = i * (b->hi[d] - b->lo[d]) + at[d] - b->lo[d];
  }
  return i;
}

static int64_t number_of(const ambit__box *grid, const int64_t *at)
{
  return 1 + index_in(grid, at);
}

/* Below, beside or above along each axis, as digits to base 3. */
static int sector_of(const ambit__box *own, const int64_t *at)
{
  int sector = 0;

  for (int d = 0; d < own->ndims; d++)
    sector = 3 * sector + (at[d] >= own->lo[d]) + (at[d] >= own->hi[d]);
  return sector;
}

static bool wraps(const problem *p, int part, int axis)
{
  const ambit__box *own = &p->parts[part];

  return p->boundaries.kind[axis][0] == AMBIT_PERIODIC &&
         own->hi[axis] - own->lo[axis] < p->grid.hi[axis];
}

/* Maps a cell that is read to the cell whose value it has; false: it is constant. */
static bool find_source(const problem *p, int part, int64_t *at)
{
  bool copied = true;

  for (int d = 0; d < p->grid.ndims; d++) {
    ambit_boundary kind = p->boundaries.kind[d][at[d] > 0];

    if ((at[d] >= 0 && at[d] < p->grid.hi[d]) || wraps(p, part, d)) continue;
    if (kind == AMBIT_CONSTANT)
      copied = false;
    else
      at[d] = ambit__boundary_map(kind, p->grid.hi[d], at[d]);
  }
  return copied;
}

/* ---- values of a part ---- */

typedef struct memory {
  ambit__reach box;
  int64_t *value; /* by cell of the reach; 0: none yet */
  int *arrived;   /* how often it was received */
} memory;

static void memory_make(const problem *p, int part, const ambit__halo *h, memory *m)
{
  size_t cells;
  int64_t at[AMBIT_MAX_DIMS];

  m->box = h->reaches[part];
  cells = (size_t)ambit__box_volume(&m->box.reach) + 1;
  m->value = calloc(cells, sizeof *m->value);
  m->arrived = calloc(cells, sizeof *m->arrived);
  CHECK(ambit__box_contains(&m->box.reach, &m->box.given));
  CHECK(ambit__box_contains(&m->box.given, &p->parts[part]));
  FOR_CELLS(&p->parts[part], at)
  m->value[index_in(&m->box.reach, at)] = number_of(&p->grid, at);
}

static void memory_free(memory *m)
{
  free(m->value);
  free(m->arrived);
}

static void carry_out(const problem *p, const ambit__transfer *t, memory *m)
{
  int64_t at[AMBIT_MAX_DIMS], to[AMBIT_MAX_DIMS];

  CHECK(!ambit__box_is_empty(&t->box));
  CHECK(ambit__box_contains(&p->parts[t->from], &t->box));
  FOR_CELLS(&t->box, at)
  {
    for (int d = 0; d < p->grid.ndims; d++)
      to[d] = at[d] + t->shift[d];
    CHECK_MSG(index_in(&m->box.given, to) >= 0, "round %d: outside what is given", p->round);
    if (index_in(&m->box.given, to) < 0) return;
    m->value[index_in(&m->box.reach, to)] = number_of(&p->grid, at);
    m->arrived[index_in(&m->box.reach, to)]++;
  }
}

static void fill_ghost(const problem *p, memory *m, int axis, const int64_t *at)
{
  const int side = at[axis] > 0;
  const ambit_boundary kind = p->boundaries.kind[axis][side];
  int64_t from[AMBIT_MAX_DIMS], *to = &m->value[index_in(&m->box.reach, at)];

  CHECK(at[axis] < 0 || at[axis] >= p->grid.hi[axis]);
  memcpy(from, at, sizeof from);
  if (kind == AMBIT_CONSTANT) {
    *to = (int64_t)p->boundaries.value[axis][side];
    return;
  }
  from[axis] = ambit__boundary_map(kind, p->grid.hi[axis], at[axis]);
  CHECK_MSG(from[axis] >= m->box.given.lo[axis] && from[axis] < m->box.given.hi[axis],
            "round %d: the source of a ghost is not given", p->round);
  if (index_in(&m->box.reach, from) >= 0) *to = m->value[index_in(&m->box.reach, from)];
}

static void fill_ghosts(const problem *p, memory *m)
{
  for (int axis = 0; axis < p->grid.ndims; axis++) {
    ambit__box layers = m->box.given;
    int64_t at[AMBIT_MAX_DIMS] = {0};

    for (int d = 0; d <= axis; d++) {
      layers.lo[d] = m->box.reach.lo[d];
      layers.hi[d] = m->box.reach.hi[d];
    }
    FOR_CELLS(&layers, at)
    {
      if (at[axis] < m->box.given.lo[axis] || at[axis] >= m->box.given.hi[axis])
        fill_ghost(p, m, axis, at);
    }
  }
}

/* ---- conditions ---- */

typedef void read_check(const problem *p, int part, const int64_t *read, void *with);

static void check_reads(const problem *p, int part, const ambit__box *reads, read_check *check,
                        void *with)
{
  int64_t read[AMBIT_MAX_DIMS];

  FOR_CELLS(reads, read) check(p, part, read, with);
}

/* The cells around those in `some` that a part also updates for a need. */
static ambit__box updated(const problem *p, int part, const ambit__box *some,
                          const ambit__need *need)
{
  ambit__box cells = *some;

  if (ambit__box_is_empty(some)) return cells;
  for (int d = 0; d < cells.ndims; d++) {
    const ambit__box *own = &p->parts[part];
    const bool spans = own->lo[d] == 0 && own->hi[d] == p->grid.hi[d];

    cells.lo[d] -= need->beyond.lo[d];
    cells.hi[d] += need->beyond.hi[d];
    if (p->boundaries.kind[d][0] == AMBIT_PERIODIC && !spans && need->region.lo[d] == 0 &&
        need->region.hi[d] == p->grid.hi[d])
      continue;
    if (cells.lo[d] < need->region.lo[d]) cells.lo[d] = need->region.lo[d];
    if (cells.hi[d] > need->region.hi[d]) cells.hi[d] = need->region.hi[d];
  }
  return cells;
}

/* All reads of the cells of a part in `some`. */
static void each_read(const problem *p, int part, const ambit__box *some, read_check *check,
                      void *with)
{
  for (int i = 0; i < p->spec.nneeds; i++) {
    ambit__box cells = updated(p, part, some, &p->needs[i]);
    int64_t at[AMBIT_MAX_DIMS];

    FOR_CELLS(&cells, at)
    {
      ambit__box reads = cells;

      for (int d = 0; d < cells.ndims; d++) {
        reads.lo[d] = at[d] + p->needs[i].lo[d];
        reads.hi[d] = at[d] + p->needs[i].hi[d] + 1;
      }
      check_reads(p, part, &reads, check, with);
    }
  }
}

static void finds_its_value(const problem *p, int part, const int64_t *read, void *with)
{
  const memory *m = with;
  const int64_t i = index_in(&m->box.reach, read);
  int64_t cell[AMBIT_MAX_DIMS], want;
  double constant = 0;

  memcpy(cell, read, sizeof cell);
  if (ambit__boundaries_map(&p->boundaries, p->grid.ndims, p->grid.hi, cell, &constant))
    want = number_of(&p->grid, cell);
  else
    want = (int64_t)constant;
  CHECK_MSG(i >= 0 && m->value[i] == want, "round %d, part %d: want %d, got %d", p->round, part,
            (int)want, i < 0 ? -99 : (int)m->value[i]);
}

/* The hull, by sector, of the cells that are needed. */
static void widens_its_sector(const problem *p, int part, const int64_t *read, void *with)
{
  ambit__box *hulls = with, one = {.ndims = p->grid.ndims}, *h;
  int64_t at[AMBIT_MAX_DIMS];

  memcpy(at, read, sizeof at);
  if (!find_source(p, part, at)) return;
  for (int d = 0; d < one.ndims; d++) {
    one.lo[d] = at[d];
    one.hi[d] = at[d] + 1;
  }
  h = &hulls[sector_of(&p->parts[part], at)];
  *h = ambit__box_hull(h, &one);
}

/* The received cells are those needed in each sector, each once, and no others. */
static void check_exact(const problem *p, int part, const memory *m)
{
  ambit__box hulls[SECTORS];
  int sectors = 1;
  int64_t at[AMBIT_MAX_DIMS];

  for (int i = 0; i < SECTORS; i++)
    hulls[i] = (ambit__box){.ndims = p->grid.ndims};
  for (int d = 0; d < p->grid.ndims; d++)
    sectors *= 3;
  each_read(p, part, &p->parts[part], widens_its_sector, hulls);
  FOR_CELLS(&m->box.reach, at)
  {
    int sector = sector_of(&p->parts[part], at);
    bool want = sector != sectors / 2 && index_in(&hulls[sector], at) >= 0;

    CHECK_MSG(m->arrived[index_in(&m->box.reach, at)] == want,
              "round %d, part %d: %d came, want %d", p->round, part,
              m->arrived[index_in(&m->box.reach, at)], want);
  }
}

static void check_part(const problem *p, int part, const ambit__halo *h)
{
  memory m;

  memory_make(p, part, h, &m);
  for (size_t i = 0; i < h->count; i++)
    if (h->transfers[i].to == part) carry_out(p, &h->transfers[i], &m);
  fill_ghosts(p, &m);
  each_read(p, part, &p->parts[part], finds_its_value, &m);
  check_exact(p, part, &m);
  memory_free(&m);
}

static void every_read_finds_what_the_definition_says(void)
{
  for (int round = 0; round < ROUNDS; round++) {
    problem p;
    ambit__halo h;

    roll(&p, round);
    CHECK_EQ(AMBIT_OK, ambit__halo_make(NULL, &p.spec, &h));
    for (int part = 0; part < p.spec.nparts; part++)
      check_part(&p, part, &h);
    ambit__halo_free(&h);
  }
}

static bool same_transfer(const ambit__transfer *a, const ambit__transfer *b)
{
  bool same = a->from == b->from && a->to == b->to && ambit__box_equal(&a->box, &b->box);

  for (int d = 0; d < a->box.ndims; d++)
    same = same && a->shift[d] == b->shift[d];
  return same;
}

static void those_who_share_a_transfer_agree_on_the_order(void)
{
  for (int round = 0; round < ROUNDS / 8; round++) {
    problem p;
    ambit__halo all, some;
    size_t k = 0;

    roll(&p, round);
    CHECK_EQ(AMBIT_OK, ambit__halo_make(NULL, &p.spec, &all));
    p.spec.mine = p.mine;
    CHECK_EQ(AMBIT_OK, ambit__halo_make(NULL, &p.spec, &some));
    for (size_t i = 0; i < all.count; i++) {
      const ambit__transfer *t = &all.transfers[i];

      if (i > 0) CHECK(t[-1].to < t->to || (t[-1].to == t->to && t[-1].from <= t->from));
      if (!p.mine[t->from] && !p.mine[t->to]) continue;
      CHECK(k < some.count && same_transfer(t, &some.transfers[k]));
      k++;
    }
    CHECK_EQ(some.count, k);
    for (int part = 0; part < p.spec.nparts; part++)
      CHECK(ambit__box_equal(&all.reaches[part].reach, &some.reaches[part].reach));
    ambit__halo_free(&all);
    ambit__halo_free(&some);
  }
}

/* ---- hand-computed cases ---- */

/* Stars or boxes of radius 1 or more as needs; returns their number. */
static int stencil(const ambit__box *grid, bool star, int radius, ambit__need *needs)
{
  ambit__box around = {.ndims = grid->ndims};
  int64_t at[AMBIT_MAX_DIMS];
  int n = 0;

  for (int d = 0; d < grid->ndims; d++) {
    around.lo[d] = -radius;
    around.hi[d] = radius + 1;
  }
  FOR_CELLS(&around, at)
  {
    int moved = 0;

    needs[n] = (ambit__need){.region = *grid};
    for (int d = 0; d < grid->ndims; d++) {
      moved += at[d] != 0;
      needs[n].lo[d] = needs[n].hi[d] = (int)at[d];
    }
    n += !star || moved <= 1;
  }
  return n;
}

static size_t count_transfers(const ambit__box *grid, const char *text, int nparts,
                              ambit_boundary kind, const ambit__need *needs, int nneeds,
                              const bool *mine)
{
  ambit__box *parts = calloc((size_t)nparts, sizeof *parts);
  ambit__boundaries b;
  ambit__halo_spec spec = {grid, parts, nparts, &b, needs, nneeds, mine};
  ambit__cuts cuts = {0};
  ambit__halo h;
  double start;
  size_t count;

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    b.kind[d][0] = b.kind[d][1] = kind;
  CHECK(ambit__cuts_parse(text, &cuts));
  CHECK_EQ(AMBIT_OK, ambit__partition_make(NULL, grid, nparts, &cuts, NULL, parts));
  start = ambit__clock();
  CHECK_EQ(AMBIT_OK, ambit__halo_make(NULL, &spec, &h));
  printf("# %s parts, %d reads: %d transfers in %.1f ms\n", text, nneeds, (int)h.count,
         1e3 * (ambit__clock() - start));
  count = h.count;
  ambit__halo_free(&h);
  free(parts);
  return count;
}

static void stars_send_faces_and_boxes_corners_too(void)
{
  const ambit__box grid = {.ndims = 2, .hi = {30, 30}};
  ambit__need needs[25];
  int star = stencil(&grid, true, 2, needs);

  CHECK_EQ(9, star);
  CHECK_EQ(24, count_transfers(&grid, "3x3", 9, AMBIT_CLAMP, needs, star, NULL));
  CHECK_EQ(36, count_transfers(&grid, "3x3", 9, AMBIT_PERIODIC, needs, star, NULL));
  CHECK_EQ(25, stencil(&grid, false, 2, needs));
  CHECK_EQ(40, count_transfers(&grid, "3x3", 9, AMBIT_CLAMP, needs, 25, NULL));
  CHECK_EQ(72, count_transfers(&grid, "3x3", 9, AMBIT_PERIODIC, needs, 25, NULL));
}

static void a_stencil_that_looks_back_sends_one_way(void)
{
  const ambit__box grid = {.ndims = 1, .hi = {40}}, parts[2] = {{1, {0}, {20}}, {1, {20}, {40}}};
  const ambit__need need = {.region = grid, .lo = {-3}, .hi = {-3}};
  const ambit__boundaries b = {.kind = {{AMBIT_CLAMP, AMBIT_CLAMP}}};
  const ambit__halo_spec spec = {&grid, parts, 2, &b, &need, 1, NULL};
  ambit__halo h;

  CHECK_EQ(AMBIT_OK, ambit__halo_make(NULL, &spec, &h));
  CHECK_EQ(1, h.count);
  CHECK(h.transfers[0].from == 0 && h.transfers[0].to == 1);
  CHECK(h.transfers[0].box.lo[0] == 17 && h.transfers[0].box.hi[0] == 20);
  CHECK(h.reaches[0].reach.lo[0] == -3 && h.reaches[0].given.lo[0] == 0);
  CHECK(h.reaches[1].reach.lo[0] == 17 && h.reaches[1].reach.hi[0] == 40);
  ambit__halo_free(&h);
}

static void a_wrap_may_come_round_more_than_once(void)
{
  const ambit__box grid = {.ndims = 1, .hi = {4}}, parts[2] = {{1, {0}, {2}}, {1, {2}, {4}}};
  const ambit__need need = {.region = grid, .lo = {-8}, .hi = {-8}};
  const ambit__boundaries b = {.kind = {{AMBIT_PERIODIC, AMBIT_PERIODIC}}};
  const ambit__halo_spec spec = {&grid, parts, 2, &b, &need, 1, NULL};
  ambit__halo h;

  CHECK_EQ(AMBIT_OK, ambit__halo_make(NULL, &spec, &h));
  CHECK_EQ(2, h.count);
  CHECK(h.transfers[0].from == 0 && h.transfers[0].to == 0 && h.transfers[0].shift[0] == -8);
  CHECK_EQ(-8, h.reaches[0].given.lo[0]);
  ambit__halo_free(&h);
}

static void a_thousand_parts_are_planned_at_once(void)
{
  const ambit__box grid = {.ndims = 3, .hi = {400, 400, 480}};
  ambit__need needs[27];
  bool mine[1000] = {0};
  int star = stencil(&grid, true, 1, needs);

  mine[555] = true; /* in the middle: each neighbour sends and receives */
  CHECK_EQ(12, count_transfers(&grid, "10x10x10", 1000, AMBIT_CLAMP, needs, star, mine));
  CHECK_EQ(6000, count_transfers(&grid, "10x10x10", 1000, AMBIT_PERIODIC, needs, star, NULL));
  CHECK_EQ(27, stencil(&grid, false, 1, needs));
  CHECK_EQ(52, count_transfers(&grid, "10x10x10", 1000, AMBIT_CLAMP, needs, 27, mine));
  CHECK_EQ(26000, count_transfers(&grid, "10x10x10", 1000, AMBIT_PERIODIC, needs, 27, NULL));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_read_finds_what_the_definition_says", every_read_finds_what_the_definition_says},
      {"those_who_share_a_transfer_agree_on_the_order",
       those_who_share_a_transfer_agree_on_the_order},
      {"stars_send_faces_and_boxes_corners_too", stars_send_faces_and_boxes_corners_too},
      {"a_stencil_that_looks_back_sends_one_way", a_stencil_that_looks_back_sends_one_way},
      {"a_wrap_may_come_round_more_than_once", a_wrap_may_come_round_more_than_once},
      {"a_thousand_parts_are_planned_at_once", a_thousand_parts_are_planned_at_once},
      {0}};

  return test_main(argc, argv, tests);
}
