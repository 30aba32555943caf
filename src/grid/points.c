/* SPDX-License-Identifier: BSD-3-Clause */
/* points.c - base cells, weights, and the order of the cells that points touch. */
#include "grid/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order of cells ---- */

/* A tap while cells are sorted. */
typedef struct tap {
  int64_t index[AMBIT_MAX_DIMS]; /* unused axes are 0 */
  int64_t point;
  double weight;
} tap;

static int compare_cells(const int64_t *a, const int64_t *b, int n)
{
  for (int d = 0; d < n; d++)
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  return 0;
}

static int compare_taps(const void *x, const void *y)
{
  const tap *a = x, *b = y;
  const int order = compare_cells(a->index, b->index, AMBIT_MAX_DIMS);

  return order ? order : a->point < b->point ? -1 : a->point > b->point;
}

static ambit_status group(ambit__errors *errors, ambit__points *p, tap *taps, int64_t n,
                          ambit__point_cells *c)
{
  const size_t most = (size_t)n + 1;
  const int ndims = p->ndims;

  *c = (ambit__point_cells){.ndims = ndims, .hull = {.ndims = ndims}};
  AMBIT_TAKE(errors, &p->memory, c->index, most * (size_t)ndims);
  AMBIT_TAKE(errors, &p->memory, c->start, most);
  AMBIT_TAKE(errors, &p->memory, c->point, most);
  AMBIT_TAKE(errors, &p->memory, c->weights, most);
  if (n) qsort(taps, (size_t)n, sizeof *taps, compare_taps);
  for (int64_t i = 0; i < n; i++) {
    const bool new = !i || compare_cells(taps[i].index, taps[i - 1].index, ndims);

    if (new) {
      memcpy(c->index + c->n * ndims, taps[i].index, (size_t)ndims * sizeof *c->index);
      c->start[c->n++] = i;
    }
    c->point[i] = taps[i].point;
    c->weights[i] = taps[i].weight;
    for (int d = 0; d < ndims; d++) {
      if (!i || taps[i].index[d] < c->hull.lo[d]) c->hull.lo[d] = taps[i].index[d];
      if (!i || taps[i].index[d] >= c->hull.hi[d]) c->hull.hi[d] = taps[i].index[d] + 1;
    }
  }
  c->start[c->n] = n;
  return AMBIT_OK;
}

/* Whether entry i of the list comes before a cell. */
static bool is_before(const ambit__point_cells *c, int64_t i, const int64_t *cell)
{
  return compare_cells(c->index + i * c->ndims, cell, c->ndims) < 0;
}

/* The first cell from number i on that is not before `cell`. */
static int64_t seek(const ambit__point_cells *c, int64_t i, const int64_t *cell)
{
  int64_t end = c->n;

  while (i < end) {
    const int64_t middle = i + (end - i) / 2;

    if (is_before(c, middle, cell))
      i = middle + 1;
    else
      end = middle;
  }
  return i;
}

int64_t ambit__point_cells_next(const ambit__point_cells *c, const ambit__box *box, int64_t i)
{
  while (i < c->n) {
    const int64_t *at = c->index + i * c->ndims;
    int64_t cell[AMBIT_MAX_DIMS];
    int d = 0;

    while (d < c->ndims && at[d] >= box->lo[d] && at[d] < box->hi[d])
      d++;
    if (d == c->ndims) return i;
    memcpy(cell, at, (size_t)c->ndims * sizeof *cell);
    if (at[d] >= box->hi[d]) { /* go on with the next index along the axis before */
      if (d == 0) return c->n;
      cell[--d]++;
      for (d++; d < c->ndims; d++)
        cell[d] = box->lo[d];
    } else {
      for (; d < c->ndims; d++)
        cell[d] = box->lo[d];
    }
    i = seek(c, i, cell);
  }
  return c->n;
}

/* ---- making ---- */

void ambit__points_free(ambit__points *p)
{
  ambit__arena_free(&p->memory);
  *p = (ambit__points){0};
}

static ambit_status allocate(ambit__errors *errors, ambit__points *p)
{
  p->taps = 1;
  for (int d = 0; d < p->ndims; d++)
    p->taps *= p->width[d];
  AMBIT_CHECK(p->n <= INT64_MAX / (int64_t)sizeof(tap) / (p->taps + p->ndims), errors, AMBIT_ENOMEM,
              "out of memory: %lld points of %lld cells each", (long long)p->n, (long long)p->taps);
  AMBIT_TAKE(errors, &p->memory, p->base, (size_t)p->n * (size_t)p->ndims + 1);
  AMBIT_TAKE(errors, &p->memory, p->weights, (size_t)(p->n * p->taps) + 1);
  return AMBIT_OK;
}

void ambit__points_tap(const ambit__points *p, int64_t point, int64_t number, int64_t *cell)
{
  for (int d = p->ndims - 1; d >= 0; d--) {
    cell[d] = p->base[point * p->ndims + d] + number % p->width[d];
    number /= p->width[d];
  }
}

static ambit_status sort(ambit__errors *errors, ambit__points *p)
{
  tap *taps = ambit__new(errors, (size_t)(p->n * p->taps) + 1, sizeof *taps);
  int64_t n = 0;
  ambit_status s;

  if (!taps) return AMBIT_ENOMEM;
  for (int64_t i = 0; i < p->n; i++) {
    taps[i] = (tap){.point = i};
    memcpy(taps[i].index, p->base + i * p->ndims, (size_t)p->ndims * sizeof *p->base);
  }
  s = group(errors, p, taps, p->n, &p->bases);
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t k = 0; k < p->taps; k++) {
      const double weight = p->weights[i * p->taps + k];

      if (weight == 0) continue;
      taps[n] = (tap){.point = i, .weight = weight};
      ambit__points_tap(p, i, k, taps[n++].index);
    }
  if (!s) s = group(errors, p, taps, n, &p->touched);
  free(taps);
  return s;
}

/* The base cell and the weights along one axis. */
static ambit_status place_axis(ambit__errors *errors, const ambit__box *grid, int64_t point, int d,
                               double x, ambit__point_kind kind, int64_t *base, double *weights)
{
  const int64_t last = grid->hi[d] - 1;

  AMBIT_CHECK(x >= 0 && x <= (double)last, errors, AMBIT_EINVAL,
              "point %lld is at %g along axis %d; coordinates are counted in cells and must be "
              "from 0 to %lld, the last cell",
              (long long)point, x, d, (long long)last);
  if (kind == POINT_NEAREST) {
    *base = (int64_t)floor(x + 0.5);
    if (*base > last) *base = last;
    weights[0] = 1;
    return AMBIT_OK;
  }
  *base = (int64_t)floor(x);
  if (*base == last && last) --*base;
  weights[1] = x - (double)*base;
  weights[0] = 1 - weights[1];
  return AMBIT_OK;
}

ambit_status ambit__points_place(ambit__errors *errors, const ambit__box *grid, int64_t n,
                                 const double *coordinates, ambit__point_kind kind,
                                 ambit__points *p)
{
  *p = (ambit__points){.ndims = grid->ndims, .n = n};
  for (int d = 0; d < p->ndims; d++)
    p->width[d] = kind == POINT_LINEAR && grid->hi[d] > 1 ? 2 : 1;
  AMBIT_TRY(allocate(errors, p));
  for (int64_t i = 0; i < n; i++) {
    double along[AMBIT_MAX_DIMS][2] = {{0}};

    for (int d = 0; d < p->ndims; d++)
      AMBIT_TRY(place_axis(errors, grid, i, d, coordinates[i * p->ndims + d], kind,
                           &p->base[i * p->ndims + d], along[d]));
    for (int64_t k = 0; k < p->taps; k++) {
      double weight = 1;

      for (int64_t d = 0, rest = p->taps, left = k; d < p->ndims; d++) {
        rest /= p->width[d];
        weight *= along[d][left / rest];
        left %= rest;
      }
      p->weights[i * p->taps + k] = weight;
    }
  }
  return sort(errors, p);
}

ambit_status ambit__points_give(ambit__errors *errors, const ambit__box *grid, int64_t n,
                                const int64_t *base, const int64_t *width, const double *weights,
                                ambit__points *p)
{
  *p = (ambit__points){.ndims = grid->ndims, .n = n};
  for (int d = 0; d < p->ndims; d++) {
    AMBIT_CHECK(width[d] >= 1 && width[d] <= grid->hi[d], errors, AMBIT_EINVAL,
                "points have %lld weights along axis %d; there must be 1 to %lld",
                (long long)width[d], d, (long long)grid->hi[d]);
    p->width[d] = width[d];
  }
  AMBIT_TRY(allocate(errors, p));
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < p->ndims; d++) {
      const int64_t at = base[i * p->ndims + d];

      AMBIT_CHECK(at >= 0 && at <= grid->hi[d] - width[d], errors, AMBIT_EINVAL,
                  "the cells of point %lld begin at %lld along axis %d; that must be 0 to %lld",
                  (long long)i, (long long)at, d, (long long)(grid->hi[d] - width[d]));
    }
  memcpy(p->base, base, (size_t)(n * p->ndims) * sizeof *base);
  for (int64_t i = 0; i < n * p->taps; i++)
    AMBIT_CHECK(isfinite(weights[i]), errors, AMBIT_EINVAL,
                "weight %lld of point %lld is %g; weights must be finite", (long long)(i % p->taps),
                (long long)(i / p->taps), weights[i]);
  memcpy(p->weights, weights, (size_t)(n * p->taps) * sizeof *weights);
  return sort(errors, p);
}
