/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/storage.h"

#include "grid/assignment.h"

enum {
  LINE = 64,      /* bytes that move at once */
  SECTOR = 32,    /* ... that a GPU writes at once ... */
  PARTIAL = 96,   /* ... and that it moves if it writes a part of them: measured on an H200 */
  WARP = 32,      /* threads of a GPU that write at once: a cell each, or four ... */
  FEW_BYTES = 16, /* ... if cells move no more than this: plan/sparse.c */
  PIECE = 128,    /* cells of a row with a line in the table of a GPU, at most */
  CHUNK = 190,    /* bytes that cores could move while they begin a chunk, and twice its values */
  TEST = 40,      /* ... and for each activity that its cells test */
  FIRST = 25,     /* percent of memory that runs may take besides active cells at first */
  MARGIN = 10     /* percent by which a list must be better than runs */
};

const char *ambit__storage_name(ambit__storage storage)
{
  static const char *const names[] = {"runs", "list"};

  return names[storage];
}

/* Groups of n cells of memory, from a multiple of n on, that have an active one. */
static int64_t count_groups(const ambit__active *a, int64_t n)
{
  int64_t groups = 0, last = -1;

  for (int64_t i = 0; i < a->n; i++) {
    const ambit__run *r = &a->runs[i];
    const int64_t from = r->at / n, to = (r->at + r->hi - r->lo - 1) / n;

    if (r->lo == r->hi) continue;
    groups += to - from + (from > last);
    last = to;
  }
  return groups;
}

/* Those of them that have an inactive one too. Runs that share a group count as if they did not. */
static int64_t count_partial(const ambit__active *a, int64_t n)
{
  int64_t partial = count_groups(a, n);

  for (int64_t i = 0; i < a->n; i++) {
    const int64_t from = (a->runs[i].at + n - 1) / n;
    const int64_t to = (a->runs[i].at + a->runs[i].hi - a->runs[i].lo) / n;

    if (to > from) partial -= to - from;
  }
  return partial;
}

/* Cells of runs that do not begin and end with groups. */
static int64_t count_ragged(const ambit__active *a, int64_t n)
{
  int64_t cells = 0;

  for (int64_t i = 0; i < a->n; i++) {
    const ambit__run *r = &a->runs[i];

    if (r->at % n || (r->hi - r->lo) % n) cells += r->hi - r->lo;
  }
  return cells;
}

static int64_t cells_in(int bytes, size_t size)
{
  return (size_t)bytes > size ? bytes / (int64_t)size : 1;
}

/* A list is cut wherever some cell that is read is not behind that of the cell before: at both ends
 * of each row that is read. */
static double estimate_chunks(const ambit__active *a, const ambit__chunk_form *form)
{
  const double n = (double)a->n * (form->list ? 1 + 2 * form->ncolumns : 1);

  return n < (double)a->cells ? n : (double)a->cells;
}

/* Tests that the rule makes; others are bits with which a GPU finds cells of a list. */
static int count_tests(const ambit__chunk_form *form)
{
  int n = 0;

  for (int i = 0; i < form->ntests; i++) {
    const int column = form->tests[i].column;

    n += column < 0 ? form->own.any : form->columns[column].tested.any;
  }
  return n;
}

/* Of runs, on a GPU: bytes of lines and groups per cell, if all rows of units are filled. */
static double table_of_runs(const ambit__active *a, const ambit__chunk_form *form, size_t size,
                            double bytes, double chunks)
{
  const bool few = bytes <= FEW_BYTES && !form->ntests;
  const ambit__assignment_load load = {.beside = ambit__assignment_registers(size)};
  const int *rows =
      few ? ambit__assignment_best(form, a->box.ndims, ambit__active_stacked(a), &load)
          : ambit__assignment_shapes[0];
  const int words = ambit__assignment_words(form, a->box.ndims, rows, 0),
            cells = ambit__assignment_rows(rows);

  return (chunks + 1.0 / PIECE) * 4 * words / cells +
         8.0 / AMBIT__ASSIGNMENT_GROUP / cells / (few ? AMBIT__QUAD : 1);
}

ambit__toll ambit__storage_toll(const ambit__active *a, const ambit__chunk_form *form, size_t size,
                                double bytes, int64_t chunks)
{
  const double cells = a->cells ? (double)a->cells : 1;
  const double n = chunks ? (double)chunks : estimate_chunks(a, form);
  const int chunk = 4 * (AMBIT__CHUNK_COLUMN + form->ncolumns) + 8;
  const int64_t line = cells_in(LINE, size), sector = cells_in(SECTOR, size);
  ambit__toll t = {.cells = (double)a->size / cells,
                   .chunks = n / cells,
                   .tests = count_tests(form),
                   .size = size};

  t.lines[SITE_CORES] = t.lines[SITE_GPU] = (double)(count_groups(a, line) * line) / cells;
  if (a->storage != STORAGE_LIST) {
    t.partial = (double)count_partial(a, sector) / cells;
    t.ragged = (double)count_ragged(a, sector) / cells;
  }
  t.table[SITE_CORES] = n * chunk / cells;
  t.table[SITE_GPU] = 4.0 * ambit__assignment_number(form);
  t.unread = form->list ? 4 : 0; /* positions, which follow each other if there is one part */
  if (!form->list) t.table[SITE_GPU] += table_of_runs(a, form, size, bytes, n / cells);
  return t;
}

/* On a GPU, warps of cells that are ragged begin and end within sectors too. */
double ambit__storage_moves(const ambit__toll *toll, ambit__site site, double bytes, double written)
{
  const double values = written / (double)toll->size;
  const double warp = WARP * (bytes <= FEW_BYTES ? 4 : 1); /* cells */
  double moves = bytes * toll->lines[site] + toll->table[site];

  if (site == SITE_GPU)
    moves += values * (toll->partial + toll->ragged * 2 / warp) * PARTIAL - toll->unread;
  return moves;
}

double ambit__storage_costs(const ambit__toll *toll, ambit__site site, double bytes, double written)
{
  const double begin = site == SITE_CORES ? CHUNK + 2 * bytes + TEST * toll->tests : 0;

  return ambit__storage_moves(toll, site, bytes, written) + begin * toll->chunks;
}

ambit__storage ambit__storage_best(const double *costs)
{
  return costs[STORAGE_LIST] * 100 < costs[STORAGE_RUNS] * (100 - MARGIN) ? STORAGE_LIST
                                                                          : STORAGE_RUNS;
}

ambit__storage ambit__storage_first(double runs, double active)
{
  return runs * 100 > active * (100 + FIRST) ? STORAGE_LIST : STORAGE_RUNS;
}

/* The last field to move has both its stores; before, the larger storage counts. */
double ambit__storage_peak(ambit__storage to, const double *cells, int fields)
{
  const ambit__storage from = ambit__storage_first(cells[STORAGE_RUNS], cells[STORAGE_LIST]);
  const double most = cells[from] > cells[to] ? cells[from] : cells[to];

  return fields * most + (from == to ? 0 : cells[from] + cells[to] - most);
}
