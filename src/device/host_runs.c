/* SPDX-License-Identifier: BSD-3-Clause */
/* host_runs.c - copies boxes of cells between the stores of sparse grids and dense arrays. */
#include "device/host.h"
#include "kernel/value.h"

#include <string.h>

/* Active cells of a row: in memory, and in a dense array. */
typedef struct piece {
  unsigned char *cells;
  int64_t step;      /* bytes between cells in memory */
  int64_t component; /* bytes between components there */
  unsigned char *dense;
  int64_t n;
} piece;

static void copy_piece(const ambit__host_runs_job *job, const piece *r)
{
  const ambit__layout *l = &job->store->layout;
  const size_t size = ambit_type_size(l->type);

  if (job->way != AMBIT__RUNS_FILL && l->components == 1) {
    if (job->way == AMBIT__RUNS_IN)
      memcpy(r->cells, r->dense, (size_t)r->n * size);
    else
      memcpy(r->dense, r->cells, (size_t)r->n * size);
    return;
  }
  for (int64_t i = 0; i < r->n; i++)
    for (int c = 0; c < l->components; c++) {
      unsigned char *at = r->cells + i * r->step + c * r->component;
      unsigned char *dense = r->dense + (size_t)(i * l->components + c) * size;

      if (job->way == AMBIT__RUNS_FILL)
        memcpy(at, job->dense, size);
      else if (job->way == AMBIT__RUNS_IN)
        memcpy(at, dense, size);
      else
        memcpy(dense, at, size);
    }
}

/* The first component of the cell at a position. */
static unsigned char *cell_at(const ambit__store *s, int64_t position)
{
  const ambit__layout *l = &s->layout;
  const int64_t at = l->origin + position * l->stride[l->own.ndims - 1];

  return ambit__host_base(s->buffer) + (size_t)at * ambit_type_size(l->type);
}

/* The cells of a row that run i has. */
static piece piece_of(const ambit__store *s, int64_t i, const ambit__box *row)
{
  const ambit__layout *l = &s->layout;
  const int64_t size = (int64_t)ambit_type_size(l->type);
  const ambit__run *r = &l->active->runs[i];
  const int last = row->ndims - 1;

  return (piece){.cells = cell_at(s, r->at + row->lo[last] - r->lo),
                 .step = l->stride[last] * size,
                 .component = l->component * size,
                 .n = row->hi[last] - row->lo[last]};
}

void ambit__host_runs_copy(const ambit__host_runs_job *job, int64_t first, int64_t end)
{
  const ambit__layout *l = &job->store->layout;
  const int64_t cell = l->components * (int64_t)ambit_type_size(l->type);
  int64_t i = first, n = 0;
  ambit__box row;

  while (ambit__active_next(l->active, job->box, &i, &row) && i <= end) {
    piece p = piece_of(job->store, i - 1, &row);

    if (job->way != AMBIT__RUNS_FILL)
      p.dense = job->dense + cell * (job->packed ? n : ambit__box_number(job->box, row.lo));
    copy_piece(job, &p);
    n += p.n;
  }
}

/* Copies values. Sets *changed, unless it is NULL, if they were others before. */
static void copy_noting(unsigned char *to, const unsigned char *from, size_t n, ambit_type type,
                        bool *changed)
{
  if (to == from || (changed && ambit__values_same(to, from, n, type))) return;
  if (changed) *changed = true;
  memcpy(to, from, n * ambit_type_size(type));
}

/* Copies n cells side by side. */
static void copy_cells(const ambit__layout *l, unsigned char *to, int64_t component,
                       const unsigned char *from, int64_t n, bool *changed)
{
  const size_t size = ambit_type_size(l->type);
  const bool together = l->order == AMBIT_AOS || l->components == 1;

  for (int i = 0; i < (together ? 1 : l->components); i++)
    copy_noting(to + (size_t)(i * component) * size, from + (size_t)(i * l->component) * size,
                (size_t)n * (together ? (size_t)l->components : 1), l->type, changed);
}

void ambit__host_copy_runs(const ambit__store *dst, const ambit__store *src, const ambit__box *box,
                           bool *changed)
{
  ambit__common c = {.to = dst->layout.active, .from = src->layout.active, .box = box};

  while (ambit__common_next(&c))
    copy_cells(&src->layout, cell_at(dst, c.to_at), dst->layout.component, cell_at(src, c.from_at),
               c.n, changed);
}

void ambit__host_update(ambit__store *dst, const ambit__store *src, const ambit__box *box,
                        bool *changed)
{
  const ambit__layout *l = &src->layout;
  const int x = box->ndims - 1;
  const bool dense = l->stride[x] == (l->order == AMBIT_AOS ? l->components : 1);
  int64_t cell[AMBIT_MAX_DIMS];

  if (l->active) {
    ambit__host_copy_runs(dst, src, box, changed);
    return;
  }
  ambit__box_first(box, cell);
  do
    for (cell[x] = box->lo[x]; cell[x] < box->hi[x]; cell[x] += dense ? box->hi[x] - box->lo[x] : 1)
      copy_cells(l, ambit__host_at(dst, cell, 0), dst->layout.component,
                 ambit__host_at(src, cell, 0), dense ? box->hi[x] - box->lo[x] : 1, changed);
  while (ambit__box_next_row(box, cell));
}
