/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c - the values of tables: given to a copy of a rule when a kernel is applied, so that code
 * is written for them. */
#include "kernel/kernel.h"

ambit__reading ambit__rule_reading(const ambit__rule *rule)
{
  return (ambit__reading){.file = rule->file,
                          .text = rule->text,
                          .name = rule->name,
                          .real = rule->has_real ? &rule->real : NULL,
                          .axes = -1,
                          .ndefines = rule->ndefines,
                          .defines = rule->defines};
}

ambit_status ambit__rule_copy(ambit__errors *errors, const ambit__rule *rule, int axes,
                              unsigned onto, ambit__rule **out)
{
  ambit__reading how = ambit__rule_reading(rule);

  how.axes = axes;
  how.onto = onto;
  return ambit__rule_read(errors, &how, out);
}

ambit_status ambit__table_set(ambit__errors *errors, ambit__rule *rule, int table,
                              const void *values, ambit_type type)
{
  ambit__table *t = &rule->tables[table];
  const size_t n = (size_t)(t->size[0] * t->size[1]), size = ambit_type_size(t->type);
  unsigned char *copy = ambit__arena_alloc(&rule->arena, n * size);

  AMBIT_CHECK(copy, errors, AMBIT_ENOMEM, "kernel %s: out of memory for the table '%s'", rule->name,
              t->label);
  for (size_t i = 0; i < n; i++) {
    const ambit__value v =
        ambit__value_load((const unsigned char *)values + i * ambit_type_size(type), type);

    ambit__value_store(copy + i * size, t->type, ambit__value_cast(v, type, t->type));
  }
  t->values = copy;
  return AMBIT_OK;
}

static int64_t within(int64_t i, int64_t size)
{
  return i < 0 ? 0 : i < size ? i : size - 1;
}

ambit__value ambit__table_at(const ambit__table *t, int64_t i, int64_t j)
{
  const int64_t at = within(i, t->size[0]) * t->size[1] + within(j, t->size[1]);

  return ambit__value_load((const unsigned char *)t->values + (size_t)at * ambit_type_size(t->type),
                           t->type);
}

bool ambit__table_element(const ambit__rule *rule, const ambit__expr *e, ambit__value *value)
{
  if (e->op != EXPR_TABLE || !rule->tables[e->index].values || e->a->op != EXPR_CONST ||
      (e->b && e->b->op != EXPR_CONST))
    return false;
  *value =
      ambit__table_at(&rule->tables[e->index], e->a->value.integer, e->b ? e->b->value.integer : 0);
  return true;
}
