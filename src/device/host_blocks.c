/* SPDX-License-Identifier: BSD-3-Clause */
/* host_blocks.c - copies boxes of cells between the stores of sparse grids and dense arrays. */
#include "device/host.h"

#include <string.h>

/* A run of active cells of a row: in the pool, and in a dense array. */
typedef struct run {
  unsigned char *cells;
  int64_t step;      /* bytes between cells of the pool */
  int64_t component; /* bytes between its components */
  unsigned char *dense;
  int64_t n;
} run;

static void copy_run(const ambit__host_blocks_job *job, const run *r)
{
  const ambit__layout *l = &job->store->layout;
  const size_t size = ambit_type_size(l->type);

  if (job->way != AMBIT__BLOCKS_FILL && l->components == 1) {
    if (job->way == AMBIT__BLOCKS_IN)
      memcpy(r->cells, r->dense, (size_t)r->n * size);
    else
      memcpy(r->dense, r->cells, (size_t)r->n * size);
    return;
  }
  for (int64_t i = 0; i < r->n; i++)
    for (int c = 0; c < l->components; c++) {
      unsigned char *at = r->cells + i * r->step + c * r->component;
      unsigned char *dense = r->dense + (size_t)(i * l->components + c) * size;

      if (job->way == AMBIT__BLOCKS_FILL)
        memcpy(at, job->dense, size);
      else if (job->way == AMBIT__BLOCKS_IN)
        memcpy(at, dense, size);
      else
        memcpy(dense, at, size);
    }
}

/* Bytes from the start of the dense array to a cell. */
static int64_t place_in_array(const ambit__host_blocks_job *job, const int64_t *cell)
{
  const ambit__box *box = job->box;
  int64_t n = 0;

  for (int d = 0; d < box->ndims; d++)
    n = n * (box->hi[d] - box->lo[d]) + cell[d] - box->lo[d];
  return n * job->store->layout.components * (int64_t)ambit_type_size(job->store->layout.type);
}

static unsigned char *place_in_block(const ambit__store *s, int64_t block, const int64_t *cell)
{
  const ambit__layout *l = &s->layout;
  int64_t at = l->origin + block * l->block;

  for (int d = 0; d < l->own.ndims; d++)
    at +=
        (cell[d] - (l->blocks->at[block * l->own.ndims + d] << l->blocks->shift[d])) * l->stride[d];
  return ambit__host_base(s->buffer) + at * (int64_t)ambit_type_size(l->type);
}

static void copy_row(const ambit__host_blocks_job *job, int64_t block, const ambit__box *box,
                     const int64_t *row)
{
  const ambit__layout *l = &job->store->layout;
  const int64_t size = (int64_t)ambit_type_size(l->type);
  const int last = box->ndims - 1;

  run r = {.cells = place_in_block(job->store, block, row),
           .step = l->stride[last] * size,
           .component = l->component * size,
           .dense = job->way == AMBIT__BLOCKS_FILL ? NULL : job->dense + place_in_array(job, row),
           .n = box->hi[last] - row[last]};

  copy_run(job, &r);
}

static void copy_block(const ambit__host_blocks_job *job, int64_t block)
{
  const ambit__blocks *b = job->store->layout.blocks;
  const ambit__box cells = ambit__blocks_box(b, block);
  const ambit__box clip = ambit__box_intersect(&cells, job->box);
  ambit__runs r = {0};

  while (ambit__blocks_next_run(b, block, &clip, &r)) {
    int64_t row[AMBIT_MAX_DIMS];

    ambit__box_first(&r.box, row);
    do
      copy_row(job, block, &r.box, row);
    while (ambit__box_next_row(&r.box, row));
  }
}

/* Looks up the blocks of a small box. */
static void copy_places(const ambit__host_blocks_job *job, const ambit__box *places, int64_t first,
                        int64_t end)
{
  const int last = places->ndims - 1;
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(places, at);
  do
    for (at[last] = places->lo[last]; at[last] < places->hi[last]; at[last]++) {
      const int64_t block = ambit__blocks_find(job->store->layout.blocks, at);

      if (block >= first && block < end) copy_block(job, block);
    }
  while (ambit__box_next_row(places, at));
}

void ambit__host_blocks_copy(const ambit__host_blocks_job *job, int64_t first, int64_t end)
{
  const ambit__blocks *b = job->store->layout.blocks;
  ambit__box places = {.ndims = b->box.ndims};

  if (ambit__box_is_empty(job->box)) return;
  for (int d = 0; d < places.ndims; d++) {
    places.lo[d] = job->box->lo[d] >> b->shift[d];
    places.hi[d] = ((job->box->hi[d] - 1) >> b->shift[d]) + 1;
  }
  if (ambit__box_volume(&places) < end - first)
    copy_places(job, &places, first, end);
  else
    for (int64_t i = first; i < end; i++)
      copy_block(job, i);
}
