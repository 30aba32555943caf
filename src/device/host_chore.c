/* SPDX-License-Identifier: BSD-3-Clause */
/* host_chore.c - chores on cores: the cells that points touch are sorted, and those of a box are
 * found by bisection, so that a chore can be a stage of a wave. float and double fields have code
 * of their own. */
#include "device/chore.h"
#include "device/host.h"

/* A chore on a box of a part. */
typedef struct job {
  const ambit__chore *t;
  const ambit_compiled_call *call;
  ambit__box box;
  ambit_type type; /* of the field */
  int components;
  unsigned char *row; /* NULL: none */
} job;

static int64_t place(const job *j, const int64_t *cell)
{
  int64_t at = 0;

  for (int d = 0; d < j->box.ndims; d++)
    at += (cell[d] - j->call->offset[d]) * j->call->stride[0][d];
  return at;
}

/* Goes from tap to tap in row-major order, without divisions. */
typedef struct walk {
  int64_t at; /* of the tap, from the base cell */
  int64_t index[AMBIT_MAX_DIMS];
} walk;

static void step(const job *j, walk *w)
{
  const ambit__points *p = j->t->points;

  for (int d = p->ndims - 1; d >= 0; d--) {
    const int64_t stride = j->call->stride[0][d];

    if (++w->index[d] < p->width[d]) {
      w->at += stride;
      return;
    }
    w->at -= (p->width[d] - 1) * stride;
    w->index[d] = 0;
  }
}

static double load(const void *from, ambit_type type)
{
  return ambit__value_number(ambit__value_load(from, type), type);
}

static double number_at(const unsigned char *row, ambit_type type, int64_t i)
{
  return type == AMBIT_F32 ? (double)((const float *)row)[i] : ((const double *)row)[i];
}

static void set_number(unsigned char *row, ambit_type type, int64_t i, double x)
{
  if (type == AMBIT_F32)
    ((float *)row)[i] = (float)x;
  else
    ((double *)row)[i] = x;
}

/* The value to inject. */
static double value_of(const job *j, int64_t point, int component)
{
  if (!j->row) return load(j->call->origin[AMBIT__CHORE_VALUE], j->t->value);
  return number_at(j->row, j->t->type, ambit__chore_column(j->t, point, component, j->components));
}

/* Sums of a point and of a cell, for values of type T and sums of type S. */
#define SUMS(T, S, name)                                                                           \
  static double sample_##name(const job *j, const T *u, const double *weights)                     \
  {                                                                                                \
    walk w = {0};                                                                                  \
    S sum = -(S)0; /* which keeps the sign of a single value */                                    \
                                                                                                   \
    for (int64_t i = 0; i < j->t->points->taps; i++, step(j, &w))                                  \
      if (weights[i] != 0) sum += (S)weights[i] * (S)u[w.at];                                      \
    return (double)sum;                                                                            \
  }                                                                                                \
  static void add_##name(T *u, double weight, double value)                                        \
  {                                                                                                \
    *u = (T)((S)*u + (S)weight * (S)value);                                                        \
  }

SUMS(float, float, f32)
SUMS(double, double, f64)

static double sample_any(const job *j, const unsigned char *u, const double *weights)
{
  const int64_t size = (int64_t)ambit_type_size(j->type);
  const bool wide = ambit__chore_type(j->type) == AMBIT_F64;
  walk w = {0};
  double sum = -0.0;

  for (int64_t i = 0; i < j->t->points->taps; i++, step(j, &w)) {
    double x;

    if (weights[i] == 0) continue;
    x = load(u + w.at * size, j->type);
    if (wide)
      sum += weights[i] * x;
    else
      sum = (double)((float)sum + (float)weights[i] * (float)x);
  }
  return sum;
}

static void add_any(unsigned char *u, ambit_type type, double weight, double value)
{
  const double x = load(u, type);
  double sum;

  if (ambit__chore_type(type) == AMBIT_F64)
    sum = x + weight * value;
  else
    sum = (double)((float)x + (float)weight * (float)value);
  ambit__value_store(u, type, ambit__value_of(sum, type));
}

static double sample(const job *j, int64_t at, const double *weights)
{
  void *u = j->call->origin[0];

  if (j->type == AMBIT_F32) return sample_f32(j, (const float *)u + at, weights);
  if (j->type == AMBIT_F64) return sample_f64(j, (const double *)u + at, weights);
  return sample_any(j, (unsigned char *)u + at * (int64_t)ambit_type_size(j->type), weights);
}

static void add(const job *j, int64_t at, double weight, double value)
{
  void *u = j->call->origin[0];

  if (j->type == AMBIT_F32)
    add_f32((float *)u + at, weight, value);
  else if (j->type == AMBIT_F64)
    add_f64((double *)u + at, weight, value);
  else
    add_any((unsigned char *)u + at * (int64_t)ambit_type_size(j->type), j->type, weight, value);
}

static void sample_box(const job *j)
{
  const ambit__points *p = j->t->points;
  const ambit__point_cells *b = &p->bases;

  for (int64_t i = -1; (i = ambit__point_cells_next(b, &j->box, i + 1)) < b->n;) {
    const int64_t at = place(j, b->index + i * b->ndims);

    for (int64_t k = b->start[i]; k < b->start[i + 1]; k++)
      for (int c = 0; c < j->components; c++)
        set_number(j->row, j->t->type, b->point[k] * j->components + c,
                   sample(j, at + c * j->call->component[0], p->weights + b->point[k] * p->taps));
  }
}

static void inject_box(const job *j)
{
  const ambit__point_cells *b = &j->t->points->touched;

  for (int64_t i = -1; (i = ambit__point_cells_next(b, &j->box, i + 1)) < b->n;) {
    const int64_t at = place(j, b->index + i * b->ndims);

    for (int64_t k = b->start[i]; k < b->start[i + 1]; k++)
      for (int c = 0; c < j->components; c++)
        add(j, at + c * j->call->component[0], b->weights[k], value_of(j, b->point[k], c));
  }
}

void ambit__host_chore(const ambit_compiled_call *call)
{
  const ambit__chore *t = *(const ambit__chore *const *)call->origin[AMBIT__CHORE_ADDRESS];
  job j = {.t = t, .call = call, .type = t->field, .components = t->components};

  if (!ambit__chore_is_due(t, call->step)) return;
  if (t->rows)
    j.row = ambit__host_base(t->rows) +
            (size_t)(ambit__chore_row(t, call->step) * t->columns) * ambit_type_size(t->type);
  if (t->kind == CHORE_NOTE) {
    set_number(j.row, t->type, t->column, load(call->origin[0], t->value));
    return;
  }
  j.box.ndims = t->points->ndims;
  for (int d = 0; d < j.box.ndims; d++) {
    j.box.lo[d] = call->lo[d] + call->offset[d];
    j.box.hi[d] = call->hi[d] + call->offset[d];
  }
  if (t->kind == CHORE_SAMPLE)
    sample_box(&j);
  else
    inject_box(&j);
}
