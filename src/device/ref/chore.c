/* SPDX-License-Identifier: BSD-3-Clause */
/* chore.c - values at points, point by point and tap by tap: the definition. */
#include "device/chore.h"
#include "device/host.h"

static double load(const void *from, ambit_type type)
{
  return ambit__value_number(ambit__value_load(from, type), type);
}

static void store(void *to, ambit_type type, double number)
{
  ambit__value_store(to, type, ambit__value_of(number, type));
}

static void *row_at(const ambit__chore *t, int64_t step, int64_t column)
{
  const int64_t at = ambit__chore_row(t, step) * t->columns + column;

  return ambit__host_base(t->rows) + (size_t)at * ambit_type_size(t->type);
}

/* x + w * y in the type of the chore, rounded twice. */
static double add(ambit_type type, double x, double w, double y)
{
  float product;

  if (type == AMBIT_F64) return x + w * y;
  product = (float)w * (float)y;
  return (double)((float)x + product);
}

static void sample(const ambit__chore *t, const ambit__launch *l, int64_t point, int component)
{
  const ambit__points *p = t->points;
  const ambit__store *s = l->args[0].store;
  int64_t cell[AMBIT_MAX_DIMS];
  double sum = -0.0; /* which keeps the sign of a single value */

  ambit__points_tap(p, point, 0, cell);
  if (!ambit__box_has(&l->box, cell)) return;
  for (int64_t i = 0; i < p->taps; i++) {
    const double w = p->weights[point * p->taps + i];

    ambit__points_tap(p, point, i, cell);
    if (w != 0)
      sum = add(t->type, sum, w, load(ambit__host_at(s, cell, component), s->layout.type));
  }
  store(row_at(t, l->step, point * s->layout.components + component), t->type, sum);
}

static void inject(const ambit__chore *t, const ambit__launch *l, int64_t point, int component,
                   double value)
{
  const ambit__points *p = t->points;
  const ambit__store *s = l->args[0].store;
  const ambit_type type = ambit__chore_type(s->layout.type);
  int64_t cell[AMBIT_MAX_DIMS];

  for (int64_t i = 0; i < p->taps; i++) {
    const double w = p->weights[point * p->taps + i];
    void *at;

    ambit__points_tap(p, point, i, cell);
    if (w == 0 || !ambit__box_has(&l->box, cell)) continue;
    at = ambit__host_at(s, cell, component);
    store(at, s->layout.type, add(type, load(at, s->layout.type), w, value));
  }
}

/* The value to inject. */
static double value_of(const ambit__chore *t, const ambit__launch *l, int64_t point, int component)
{
  const int components = l->args[0].store->layout.components;

  if (!t->rows) return load(ambit__host_base(l->args[AMBIT__CHORE_VALUE].value), t->value);
  return load(row_at(t, l->step, ambit__chore_column(t, point, component, components)), t->type);
}

void ambit__ref_chore(const ambit__chore *t, const ambit__launch *l)
{
  const int components = l->args[0].store ? l->args[0].store->layout.components : 0;

  if (!ambit__chore_is_due(t, l->step)) return;
  if (t->kind == CHORE_NOTE)
    store(row_at(t, l->step, t->column), t->type,
          load(ambit__host_base(l->args[0].value), t->value));
  for (int64_t i = 0; t->kind != CHORE_NOTE && i < t->points->n; i++)
    for (int c = 0; c < components; c++)
      if (t->kind == CHORE_SAMPLE)
        sample(t, l, i, c);
      else
        inject(t, l, i, c, value_of(t, l, i, c));
}
