/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_exact.c - strict sums in the strategy `rows`. Cells put their numbers into blocks, which are
 * added up when they are full (see codegen/prelude/sums_c.h). */
#include "plan/rows.h"

typedef ambit__rows_job job;

static bool any(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__rows_is_exact(j, i)) return true;
  return false;
}

/* ---- the file and its entry ---- */

void ambit__rows_emit_room(const job *j)
{
  const int rows = j->plan->rows[0] * j->plan->rows[1];

  if (!any(j)) return;
  ambit__line(j->w, "enum { ROOM = %d * LANES }; /* numbers a block has room for, at least */",
              rows > 1 ? rows : 1);
  ambit__line(j->w, "_Static_assert((int)ROOM <= (int)AMBIT_BLOCK, \"a block is too small\");\n");
}

void ambit__rows_open_blocks(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (!ambit__rows_is_exact(j, i)) continue;
    ambit__line(j->w, "ambit_block %s_block, *%s_total = &%s_block;", name, name, name);
    if (j->for_people) ambit__line(j->w, "int64_t %s_words[AMBIT_LONG_WORDS] = {0};", name);
    ambit__line_begin(j->w);
    ambit__print(j->t, "ambit_block_open(%s_total, ", name);
    if (j->for_people)
      ambit__print(j->t, "%s_words", name);
    else
      ambit__print(j->t, "call->origin[%d]", i);
    ambit__line_end(j->w, ");");
  }
}

/* Registered functions add to a double. */
void ambit__rows_close_blocks(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (!ambit__rows_is_exact(j, i)) continue;
    ambit__line(j->w, "ambit_block_close_%s(%s_total);", ambit__rows_tail(j, i), name);
    if (!j->for_people) continue;
    ambit__line(j->w, "ambit_long_carry(%s_words);", name);
    ambit__line(j->w, "*(double *)call->origin[%d] += AMBIT_F64_OF(ambit_long_bits_f64(%s_words));",
                i, name);
  }
}

/* ---- along the rows ---- */

void ambit__rows_declare_blocks(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (ambit__rows_is_exact(j, i))
      ambit__line(j->w, "%s *%s_part = %s_total->x.%s + %s_total->n;", ambit__rows_type_of(j, i),
                  name, name, ambit__rows_tail(j, i), name);
  }
}

void ambit__rows_store_blocks(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (ambit__rows_is_exact(j, i))
      ambit__line(j->w, "%s_total->n = %s_part - %s_total->x.%s;", name, name, name,
                  ambit__rows_tail(j, i));
  }
}

void ambit__rows_settle(const job *j, const char *count)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (ambit__rows_is_exact(j, i))
      ambit__line(j->w, "%s_part = ambit_block_settle_%s(%s_total, %s_part + %s, ROOM);", name,
                  ambit__rows_tail(j, i), name, name, count);
  }
}
