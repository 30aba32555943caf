/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/fold.h"

#include <math.h>
#include <string.h>

enum { LANES = 8 }; /* partial sums of a row, so that compilers make vectors */

static size_t size_of(const ambit__fold *f) /* of one total */
{
  return f->exact ? sizeof(ambit__long) : sizeof(ambit__value);
}

/* Of one component, of so many cells. */
static size_t part_of(const ambit__fold *f, const ambit__box *cells)
{
  return (size_t)ambit__box_volume(cells) * size_of(f);
}

size_t ambit__fold_bytes(const ambit__fold *f)
{
  return part_of(f, &f->cells) * (size_t)ambit__param_width(f->param);
}

void ambit__fold_begin(const ambit__fold *f, void *totals)
{
  const int64_t n = ambit__box_volume(&f->cells) * ambit__param_width(f->param);
  const ambit__value one = ambit__reduce_identity(f->param);

  if (f->exact)
    memset(totals, 0, ambit__fold_bytes(f));
  else
    for (int64_t i = 0; i < n; i++)
      ((ambit__value *)totals)[i] = one;
}

/* ---- rows ---- */

/* n values, `step` apart, folded into one total, or (`along`) into as many. */
typedef void (*row_fn)(const ambit__fold *f, void *totals, const unsigned char *values,
                       int64_t step, int64_t n, bool along);

#define ADD(t, v)     ((t) + (v))
#define LEAST(t, v)   ((v) < (t) || isnan(v) ? (v) : (t))
#define LARGEST(t, v) ((v) > (t) || isnan(v) ? (v) : (t))

/* A row of real numbers. Lanes are combined in order. */
#define ROW(name, type, identity, op)                                                              \
  static void name(const ambit__fold *f, void *to, const unsigned char *values, int64_t step,      \
                   int64_t n, bool along)                                                          \
  {                                                                                                \
    const type *v = (const type *)(const void *)values;                                            \
    double *t = to, lane[LANES];                                                                   \
    int64_t i = 0;                                                                                 \
                                                                                                   \
    (void)f;                                                                                       \
    if (along && step == 1) {                                                                      \
      for (; i < n; i++)                                                                           \
        t[i] = op(t[i], (double)v[i]);                                                             \
      return;                                                                                      \
    }                                                                                              \
    for (; along && i < n; i++)                                                                    \
      t[i] = op(t[i], (double)v[i * step]);                                                        \
    for (int k = 0; k < LANES; k++)                                                                \
      lane[k] = identity;                                                                          \
    for (; step == 1 && i + LANES <= n; i += LANES)                                                \
      for (int k = 0; k < LANES; k++)                                                              \
        lane[k] = op(lane[k], (double)v[i + k]);                                                   \
    for (; i < n; i++)                                                                             \
      lane[0] = op(lane[0], (double)v[i * step]);                                                  \
    for (int k = 0; !along && k < LANES; k++)                                                      \
      t[0] = op(t[0], lane[k]);                                                                    \
  }

ROW(sum_f32, float, 0, ADD)
ROW(sum_f64, double, 0, ADD)
ROW(min_f32, float, (double)INFINITY, LEAST)
ROW(min_f64, double, (double)INFINITY, LEAST)
ROW(max_f32, float, -(double)INFINITY, LARGEST)
ROW(max_f64, double, -(double)INFINITY, LARGEST)

/* Any type. */
static void fold_row(const ambit__fold *f, void *totals, const unsigned char *values, int64_t step,
                     int64_t n, bool along)
{
  const size_t size = ambit_type_size(f->param->type);
  ambit__value *t = totals;

  for (int64_t i = 0; i < n; i++, t += along)
    *t = ambit__reduce_fold(f->param, *t,
                            ambit__value_load(values + (size_t)(i * step) * size, f->param->type));
}

static void add_row(const ambit__fold *f, void *totals, const unsigned char *values, int64_t step,
                    int64_t n, bool along)
{
  const size_t size = ambit_type_size(f->param->type);
  ambit__long *t = totals;

  for (int64_t i = 0; i < n; i++, t += along)
    ambit__long_add(t, ambit__value_load(values + (size_t)(i * step) * size, f->param->type).real);
}

static row_fn row_of(const ambit__fold *f)
{
  static const row_fn real[][3] = {
      {sum_f32, min_f32, max_f32}, /* by REDUCE_SUM, REDUCE_MIN, REDUCE_MAX */
      {sum_f64, min_f64, max_f64}};

  if (f->exact) return add_row;
  if (f->param->type == AMBIT_F32) return real[0][f->param->reduce];
  if (f->param->type == AMBIT_F64) return real[1][f->param->reduce];
  return fold_row;
}

/* ---- boxes ---- */

/* Rows along the last axis: those of a total one after the other, or totals beside each other. */
static void add(const ambit__fold *f, void *totals, const void *values, const int64_t *stride,
                const ambit__box *box)
{
  const int last = box->ndims - 1;
  const bool along = !(f->dropped >> last & 1);
  const int64_t n = box->hi[last] - box->lo[last];
  const size_t size = ambit_type_size(f->param->type);
  const row_fn fold = row_of(f);
  int64_t at[AMBIT_MAX_DIMS], cell[AMBIT_MAX_DIMS] = {0};

  ambit__box_first(box, at);
  do {
    int64_t place = 0;

    for (int d = 0; d <= last; d++) {
      place += (at[d] - box->lo[d]) * stride[d];
      cell[d] = f->dropped >> d & 1 ? 0 : at[d];
    }
    fold(f, (unsigned char *)totals + (size_t)ambit__box_number(&f->cells, cell) * size_of(f),
         (const unsigned char *)values + place * (int64_t)size, stride[last], n, along);
  } while (ambit__box_next_row(box, at));
}

/* The pairs of a cell, into the totals of one cell. */
static void add_pairs(const ambit__fold *f, unsigned char *totals, const unsigned char *values,
                      int64_t component)
{
  const ambit__param *q = f->param;
  const size_t size = ambit_type_size(q->type), next = (size_t)component * size;

  for (int k = 0; k < q->components / 2; k++, values += 2 * next) {
    const double bin = ambit__value_number(ambit__value_load(values, q->type), q->type);
    const ambit__value v =
        q->amounts[k] ? q->amounts[k]->value : ambit__value_load(values + next, q->type);
    unsigned char *to = totals + (size_t)bin * part_of(f, &f->cells);

    if (bin == q->bins) continue;
    if (f->exact)
      ambit__long_add((ambit__long *)(void *)to, v.real);
    else
      *(ambit__value *)(void *)to = ambit__reduce_fold(q, *(ambit__value *)(void *)to, v);
  }
}

static void add_binned(const ambit__fold *f, void *totals, const void *values,
                       const int64_t *stride, int64_t component, const ambit__box *box)
{
  const int last = box->ndims - 1;
  int64_t at[AMBIT_MAX_DIMS], cell[AMBIT_MAX_DIMS] = {0};

  ambit__box_first(box, at);
  do
    for (int64_t x = box->lo[last]; x < box->hi[last]; x++) {
      int64_t place = 0;

      at[last] = x;
      for (int d = 0; d <= last; d++) {
        place += (at[d] - box->lo[d]) * stride[d];
        cell[d] = f->dropped >> d & 1 ? 0 : at[d];
      }
      at[last] = box->lo[last];
      add_pairs(f,
                (unsigned char *)totals + (size_t)ambit__box_number(&f->cells, cell) * size_of(f),
                (const unsigned char *)values + place * (int64_t)ambit_type_size(f->param->type),
                component);
    }
  while (ambit__box_next_row(box, at));
}

void ambit__fold_add(const ambit__fold *f, void *totals, const void *values, const int64_t *stride,
                     int64_t component, const ambit__box *box)
{
  const size_t size = ambit_type_size(f->param->type);

  if (f->param->bins) {
    if (!ambit__box_is_empty(box)) add_binned(f, totals, values, stride, component, box);
    return;
  }
  for (int c = 0; !ambit__box_is_empty(box) && c < f->param->components; c++)
    add(f, (unsigned char *)totals + (size_t)c * part_of(f, &f->cells),
        (const unsigned char *)values + c * component * (int64_t)size, stride, box);
}

/* One component. */
static void join(const ambit__fold *f, void *totals, const void *others,
                 const ambit__box *of_others, const ambit__box *both)
{
  const int last = both->ndims - 1;
  const size_t size = size_of(f);
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(both, at);
  do {
    unsigned char *to = (unsigned char *)totals + (size_t)ambit__box_number(&f->cells, at) * size;
    const unsigned char *from =
        (const unsigned char *)others + (size_t)ambit__box_number(of_others, at) * size;

    for (int64_t x = both->lo[last]; x < both->hi[last]; x++, to += size, from += size)
      if (f->exact) {
        ambit__long_join((ambit__long *)(void *)to, (const ambit__long *)(const void *)from);
      } else {
        ambit__value *t = (ambit__value *)(void *)to;

        *t = ambit__reduce_fold(f->param, *t, *(const ambit__value *)(const void *)from);
      }
  } while (ambit__box_next_row(both, at));
}

void ambit__fold_join(const ambit__fold *f, void *totals, const void *others,
                      const ambit__box *of_others)
{
  const ambit__box both = ambit__box_intersect(&f->cells, of_others);

  for (int c = 0; !ambit__box_is_empty(&both) && c < ambit__param_width(f->param); c++)
    join(f, (unsigned char *)totals + (size_t)c * part_of(f, &f->cells),
         (const unsigned char *)others + (size_t)c * part_of(f, of_others), of_others, &both);
}

/* Totals that are not exact sums, as every step-th value. -0 becomes 0: the order of the two does
 * not matter. */
static void store_totals(ambit_type type, const ambit__value *totals, void *values, int64_t n,
                         int step)
{
  const bool real = ambit__type_is_real(type);

  switch (type) {
#define X(name, value, ctype, text)                                                                \
  case AMBIT_##name:                                                                               \
    for (int64_t i = 0; i < n; i++)                                                                \
      ((ctype *)values)[i * step] =                                                                \
          real ? (ctype)(totals[i].real + 0.0) : (ctype)totals[i].integer;                         \
    break;
    AMBIT_TYPE_MAP(X)
#undef X
  }
}

void ambit__fold_finish(const ambit__fold *f, const void *totals, void *values)
{
  const int64_t n = ambit__box_volume(&f->cells);
  const int components = ambit__param_width(f->param);
  const ambit_type type = f->param->type;
  const size_t size = ambit_type_size(type);

  for (int c = 0; c < components; c++) {
    const void *from = (const unsigned char *)totals + (size_t)c * part_of(f, &f->cells);
    unsigned char *to = (unsigned char *)values + (size_t)c * size;

    if (!f->exact) store_totals(type, from, to, n, components);
    for (int64_t i = 0; f->exact && i < n; i++, to += (size_t)components * size)
      ambit__value_store(
          to, type, (ambit__value){.real = ambit__long_value((const ambit__long *)from + i, type)});
  }
}
