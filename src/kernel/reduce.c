/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c - the identity of a reduction, and folding two results. */
#include "kernel/range.h"

#include <math.h>

const char *ambit__reduce_name(ambit__reduce op)
{
  static const char *const names[] = {"sum", "min", "max", "fold"};

  return names[op];
}

static ambit__value identity(ambit__reduce op, ambit_type type)
{
  const ambit__range all =
      type == AMBIT_U64 ? (ambit__range){0, -1} : ambit__range_of_type(type); /* all bits */
  ambit__value v = {0};

  if (op == REDUCE_SUM) return v;
  if (ambit__type_is_real(type))
    v.real = op == REDUCE_MIN ? (double)INFINITY : -(double)INFINITY;
  else
    v.integer = op == REDUCE_MIN ? all.high : all.low;
  return v;
}

/* A NaN stays: a result without it would hide that cells are not finite. */
static double fold_real(ambit__reduce op, double a, double b)
{
  if (op == REDUCE_SUM || isnan(a) || isnan(b)) return a + b;
  if (op == REDUCE_MIN) return a < b ? a : b;
  return a > b ? a : b;
}

static int64_t fold_integer(ambit__reduce op, ambit_type type, int64_t a, int64_t b)
{
  const bool less = type == AMBIT_U64 ? (uint64_t)a < (uint64_t)b : a < b;

  if (op == REDUCE_SUM) return (int64_t)((uint64_t)a + (uint64_t)b);
  return less == (op == REDUCE_MIN) ? a : b;
}

ambit__value ambit__reduce_identity(const ambit__param *q)
{
  return q->reduce == REDUCE_FOLD ? q->folder->identity : identity(q->reduce, q->type);
}

bool ambit__rule_reduces(const ambit__rule *rule)
{
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_REDUCE) return true;
  return false;
}

ambit__value ambit__reduce_fold(const ambit__param *q, ambit__value a, ambit__value b)
{
  ambit__value v;

  if (q->reduce == REDUCE_FOLD) return ambit__folder_call(q->folder, a, b);
  if (ambit__type_is_real(q->type))
    v.real = fold_real(q->reduce, a.real, b.real);
  else
    v.integer = fold_integer(q->reduce, q->type, a.integer, b.integer);
  return v;
}

/* The value of a component at the start of a cell. */
static ambit__value first_value(const ambit__param *q, int c)
{
  ambit__value v = ambit__reduce_identity(q);

  if (!q->bins || c % 2) return v;
  return ambit__value_cast((ambit__value){.integer = q->bins}, AMBIT_I32, q->type);
}

ambit_status ambit__rule_onto(ambit__errors *errors, ambit__rule *rule, int param)
{
  ambit__param *q = &rule->params[param];
  const size_t n = (size_t)q->components;
  ambit__stmt *sets = ambit__arena_alloc(&rule->arena, n * sizeof *sets);
  ambit__expr *values = ambit__arena_alloc(&rule->arena, n * sizeof *values);
  bool *flags = ambit__arena_alloc(&rule->arena, 2 * n * sizeof *flags);

  AMBIT_CHECK(q->reduce != REDUCE_FOLD, errors, AMBIT_EUNSUPPORTED,
              "kernel %s: parameter '%s' is a fold, which takes a scalar; sum, min and max take "
              "fields too",
              rule->name, q->label);
  AMBIT_CHECK(sets && values && flags, errors, AMBIT_ENOMEM, "kernel %s: out of memory",
              rule->name);
  for (int c = q->components - 1; c >= 0; c--) {
    if (q->bins && c % 2 && q->amounts[c / 2]) continue;
    values[c] = (ambit__expr){
        .op = EXPR_CONST, .type = q->type, .place = q->place, .value = first_value(q, c)};
    sets[c] = (ambit__stmt){.kind = STMT_SET_OUT,
                            .place = q->place,
                            .index = param,
                            .component = c,
                            .value = &values[c],
                            .next = rule->body};
    rule->body = &sets[c];
    flags[c] = true;
  }
  q->kind = PARAM_FIELD;
  q->is_vector = q->components > 1;
  q->is_folded = q->is_written = true;
  q->writes = flags;
  q->keeps = flags + n;
  return AMBIT_OK;
}
