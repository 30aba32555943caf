/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.c - tables as arrays of generated code, for look-ups. */
#include "base/hash.h"
#include "codegen/scope.h"

#include <inttypes.h>
#include <string.h>

static size_t bytes_of(const ambit__table *t)
{
  return (size_t)(t->size[0] * t->size[1]) * ambit_type_size(t->type);
}

void ambit__name_table(ambit__text *t, const ambit__table *table)
{
  ambit__hash h;
  char digits[AMBIT__HASH_CHARS];

  ambit__hash_init(&h);
  ambit__hash_text(&h, ambit_type_name(table->type));
  ambit__hash_bytes(&h, table->values, bytes_of(table));
  ambit__hash_hex(&h, digits);
  ambit__print(t, "%s_%.16s", table->name, digits);
}

static bool is_same(const ambit__table *a, const ambit__table *b)
{
  return b->is_looked_up && a->type == b->type && bytes_of(a) == bytes_of(b) &&
         !strcmp(a->name, b->name) && !memcmp(a->values, b->values, bytes_of(a));
}

static bool is_known(const ambit__table *t, const ambit__rule *rule)
{
  for (int i = 0; i < rule->ntables; i++)
    if (is_same(t, &rule->tables[i])) return true;
  return false;
}

static void emit_table(const ambit__dialect *d, ambit__text *t, const ambit__table *table)
{
  const int64_t n = table->size[0] * table->size[1];
  const int64_t room = table->type == AMBIT_U8 && n < d->table_room ? d->table_room : n;

  ambit__print(t, "\n%s %s ", d->table, d->types[table->type]);
  ambit__name_table(t, table);
  ambit__print(t, "[%" PRId64 "] = {", room);
  for (int64_t i = 0; i < n; i++) {
    ambit__print(t, i % 8 ? ", " : i ? ",\n    " : "\n    ");
    ambit__emit_constant(d, t, table->type,
                         ambit__table_at(table, i / table->size[1], i % table->size[1]));
  }
  ambit__print(t, "};\n");
}

void ambit__emit_tables(const ambit__dialect *d, ambit__text *t, const ambit__rule *rule,
                        const ambit__rule *const *earlier, int nearlier)
{
  for (int i = 0; i < rule->ntables; i++) {
    bool known = !rule->tables[i].is_looked_up;

    for (int k = 0; k < nearlier && !known; k++)
      known = is_known(&rule->tables[i], earlier[k]);
    if (!known) emit_table(d, t, &rule->tables[i]);
  }
}
