/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/storage.h"

#include "grid/deal.h"

enum {
  LINE = 64,   /* bytes that a core loads at once */
  SECTOR = 32, /* ... and a GPU */
  PIECE = 128, /* cells of a row with a line in the table of a GPU, at most */
  CHUNK = 190, /* bytes that cores could move while they begin a chunk, and twice its values */
  MARGIN = 10  /* percent by which another storage must be better than runs */
};

const char *ambit__storage_name(ambit__storage storage)
{
  static const char *const names[] = {"runs", "list", "dense"};

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

ambit__toll ambit__storage_toll(const ambit__active *a, const ambit__chunk_form *form, size_t size,
                                int64_t chunks)
{
  const double cells = a->cells ? (double)a->cells : 1;
  const double n = chunks ? (double)chunks : estimate_chunks(a, form);
  const int chunk = 4 * (AMBIT__CHUNK_COLUMN + form->ncolumns) + 8;
  const int64_t line = cells_in(LINE, size), sector = cells_in(SECTOR, size);
  ambit__toll t = {.cells = (double)a->size / cells, .chunks = n / cells};

  t.lines[SITE_CORES] = (double)(count_groups(a, line) * line) / cells;
  t.lines[SITE_GPU] = (double)(count_groups(a, sector) * sector) / cells;
  t.table[SITE_CORES] = n * chunk / cells;
  t.table[SITE_GPU] = 4.0 * ambit__deal_number(form);
  t.unread = form->list ? 4 : 0; /* positions, which follow each other if there is one part */
  if (!form->list)
    t.table[SITE_GPU] += (n / cells + 1.0 / PIECE) * 4 * ambit__deal_words(form->ncolumns, 0) +
                         8.0 / AMBIT__DEAL_GROUP;
  return t;
}

double ambit__storage_moves(const ambit__toll *toll, ambit__site site, double bytes)
{
  return bytes * toll->lines[site] + toll->table[site] - (site == SITE_GPU ? toll->unread : 0);
}

double ambit__storage_costs(const ambit__toll *toll, ambit__site site, double bytes)
{
  const double begin = site == SITE_CORES ? CHUNK + 2 * bytes : 0;

  return ambit__storage_moves(toll, site, bytes) + begin * toll->chunks;
}

ambit__storage ambit__storage_best(const double *costs)
{
  ambit__storage best = STORAGE_RUNS;
  double least = costs[best] * (100 - MARGIN) / 100;

  for (int s = STORAGE_LIST; s < AMBIT__STORAGES; s++) {
    if (costs[s] >= least) continue;
    least = costs[s];
    best = (ambit__storage)s;
  }
  return best;
}
