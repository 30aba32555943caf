/* SPDX-License-Identifier: BSD-3-Clause */
/* host_ghost_box.c - fills one box of ghost cells, each straight from the cell it stands for.
 *
 * Waves call it for every stage of every block. Beside short rows this took five times as long as
 * the cells, until it went column by column: 1500x3 planes of a star of 7 points. */
#include "device/host.h"

#include <stdalign.h>
#include <string.h>

typedef struct job {
  const ambit__layout *layout;
  const ambit__boundaries *boundaries;
  const int64_t *extents;
  const ambit__box *box;
  unsigned char *base; /* of the buffer */
  size_t size;         /* bytes of a value */
  bool constant;
  alignas(8) unsigned char value[8]; /* then */
} job;

static bool is_outside(const job *j, int axis)
{
  const ambit_boundary *kind = j->boundaries->kind[axis];

  return (j->box->hi[axis] <= 0 && kind[0] != AMBIT_NONE) ||
         (j->box->lo[axis] >= j->extents[axis] && kind[1] != AMBIT_NONE);
}

/* The cell along an axis that cell i stands for. */
static int64_t source(const job *j, int axis, int64_t i)
{
  const int side = i >= j->extents[axis];

  if (j->constant || !is_outside(j, axis)) return i;
  return ambit__boundary_map(j->boundaries->kind[axis][side], j->extents[axis], i);
}

static bool negates(const job *j, int axis, int64_t i)
{
  const int side = i >= j->extents[axis];

  return !j->constant && is_outside(j, axis) &&
         ambit__boundary_negates(j->boundaries->kind[axis][side], j->extents[axis], i);
}

static int64_t offset(const job *j, int axis, int64_t i)
{
  return (i - j->layout->own.lo[axis]) * j->layout->stride[axis];
}

static void fill_values(const job *j, unsigned char *to, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    memcpy(to + (size_t)i * j->size, j->value, j->size);
}

static void copy_values(const job *j, int64_t to, int64_t from, int64_t n, bool negated)
{
  unsigned char *p = j->base + (size_t)to * j->size;
  const unsigned char *q = j->base + (size_t)from * j->size;

  switch ((size_t)n * j->size) { /* one value, mostly */
  case 4: memcpy(p, q, 4); break;
  case 8: memcpy(p, q, 8); break;
  default: memcpy(p, q, (size_t)n * j->size);
  }
  if (negated) ambit__host_negate(p, n, j->size);
}

/* Fills a row. The positions are those of index 0 of the last axis, in values. */
static void fill_row(const job *j, int64_t to, int64_t from, bool negated)
{
  const int x = j->box->ndims - 1;
  const int64_t stride = j->layout->stride[x], lo = j->box->lo[x], n = j->box->hi[x] - lo;

  if (j->constant)
    fill_values(j, j->base + (size_t)(to + offset(j, x, lo)) * j->size, n * stride);
  else if (!is_outside(j, x))
    copy_values(j, to + offset(j, x, lo), from + offset(j, x, lo), n * stride, negated);
  else
    for (int64_t i = lo; i < lo + n; i++)
      copy_values(j, to + offset(j, x, i), from + offset(j, x, source(j, x, i)), stride,
                  negated ^ negates(j, x, i));
}

/* Copies a cell of n values in each of some rows, `step` bytes apart. */
static void copy_column(const job *j, unsigned char *to, const unsigned char *from, int64_t n,
                        int64_t rows, int64_t step)
{
  const size_t bytes = (size_t)n * j->size;

  if (bytes == 4)
    for (int64_t i = 0; i < rows; i++)
      memcpy(to + i * step, from + i * step, 4);
  else if (bytes == 8)
    for (int64_t i = 0; i < rows; i++)
      memcpy(to + i * step, from + i * step, 8);
  else
    for (int64_t i = 0; i < rows; i++)
      memcpy(to + i * step, from + i * step, bytes);
}

/* Whether the box is beside the ends of rows of the grid: its rows are alike. */
static bool has_columns(const job *j)
{
  const int x = j->box->ndims - 1;

  return x > 0 && is_outside(j, x) && (j->constant || !is_outside(j, x - 1));
}

/* Fills the ends of all rows of a plane, column by column: short rows have nothing else. The
 * positions are those of index 0 of the last two axes. */
static void fill_columns(const job *j, int64_t to, int64_t from, bool negated)
{
  const int x = j->box->ndims - 1, y = x - 1;
  const int64_t rows = j->box->hi[y] - j->box->lo[y], first = offset(j, y, j->box->lo[y]);
  const int64_t step = j->layout->stride[y] * (int64_t)j->size, n = j->layout->stride[x];

  for (int64_t i = j->box->lo[x]; i < j->box->hi[x]; i++) {
    unsigned char *p = j->base + (size_t)(to + first + offset(j, x, i)) * j->size;

    if (j->constant)
      for (int64_t k = 0; k < rows; k++)
        fill_values(j, p + k * step, n);
    else
      copy_column(j, p, j->base + (size_t)(from + first + offset(j, x, source(j, x, i))) * j->size,
                  n, rows, step);
    for (int64_t k = 0; negated ^ negates(j, x, i) && k < rows; k++)
      ambit__host_negate(p + k * step, n, j->size);
  }
}

static void fill_axes(const job *j, int axis, int64_t to, int64_t from, bool negated)
{
  if (axis == j->box->ndims - 2 && has_columns(j)) {
    fill_columns(j, to, from, negated);
    return;
  }
  if (axis == j->box->ndims - 1) {
    fill_row(j, to, from, negated);
    return;
  }
  for (int64_t i = j->box->lo[axis]; i < j->box->hi[axis]; i++)
    fill_axes(j, axis + 1, to + offset(j, axis, i), from + offset(j, axis, source(j, axis, i)),
              negated ^ negates(j, axis, i));
}

void ambit__host_ghost_box(ambit__store *store, const ambit__boundaries *b, const int64_t *extents,
                           const ambit__box *box)
{
  const ambit__layout *l = &store->layout;
  const int n = l->order == AMBIT_AOS ? 1 : l->components;
  job j = {l,     b,  extents, box, ambit__host_base(store->buffer), ambit_type_size(l->type),
           false, {0}};

  if (ambit__box_is_empty(box)) return;
  for (int d = 0; d < box->ndims; d++) {
    const int side = box->lo[d] >= extents[d];

    if (!is_outside(&j, d) || b->kind[d][side] != AMBIT_CONSTANT) continue;
    ambit__value_store(j.value, l->type, ambit__value_of(b->value[d][side], l->type));
    j.constant = true; /* the last axis wins */
  }
  for (int c = 0; c < n; c++)
    fill_axes(&j, 0, l->origin + c * l->component, l->origin + c * l->component, false);
}
