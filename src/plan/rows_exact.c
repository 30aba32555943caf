/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_exact.c - strict sums in the strategy `rows`. Cells put their numbers into blocks, which
 * windows add up (see codegen/prelude/sums_c.h). The blocks of all strict sums of a rule hold
 * equally many numbers. */
#include "plan/rows.h"

#include <stdio.h>

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

  if (any(j))
    ambit__line(j->w, "enum { ROOM = %d * LANES }; /* numbers a block has room for, at least */\n",
                rows > 1 ? rows : 1);
}

void ambit__rows_open_blocks(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name, *tail = ambit__rows_tail(j, i);

    if (!ambit__rows_is_exact(j, i)) continue;
    ambit__line(j->w, "ambit_block_%s %s_block, *%s_total = &%s_block;", tail, name, name, name);
    if (j->for_people) ambit__line(j->w, "int64_t %s_words[AMBIT_LONG_WORDS] = {0};", name);
    ambit__line_begin(j->w);
    ambit__print(j->t, "ambit_block_open_%s(%s_total, ", tail, name);
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
    ambit__line(j->w,
                "*(double *)call->origin[%d] += AMBIT_LONG_REAL(ambit_long_bits_f64(%s_words));", i,
                name);
  }
}

/* ---- along the rows ---- */

void ambit__rows_declare_windows(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (!ambit__rows_is_exact(j, i)) continue;
    ambit__line(j->w, "ambit_window_%s %s_window = %s_total->window;", ambit__rows_tail(j, i), name,
                name);
    ambit__line(j->w, "%s *%s_part = %s_total->x + %s_total->n;", ambit__rows_type_of(j, i), name,
                name, name);
  }
  if (any(j)) ambit__line(j->w, "int singles;");
}

void ambit__rows_store_windows(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (!ambit__rows_is_exact(j, i)) continue;
    ambit__line(j->w, "%s_total->window = %s_window;", name, name);
    ambit__line(j->w, "%s_total->n = %s_part - %s_total->x;", name, name, name);
  }
}

/* The windows add the last `count` numbers. */
static void settle(const job *j, const char *count)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (ambit__rows_is_exact(j, i))
      ambit__line(j->w, "%s_part = ambit_block_settle_%s(%s_total, &%s_window, %s_part, %s, ROOM);",
                  name, ambit__rows_tail(j, i), name, name, name, count);
  }
}

static void skip(const job *j, const char *count)
{
  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__rows_is_exact(j, i))
      ambit__line(j->w, "%s_part += %s;", ambit__rows_param(j, i)->name, count);
}

void ambit__rows_settle_vector(const job *j, int n)
{
  char count[32];

  snprintf(count, sizeof count, "%d * LANES", n);
  skip(j, count);
  settle(j, count);
}

void ambit__rows_open_singles(const job *j)
{
  if (any(j)) ambit__line(j->w, "singles = 0;");
}

void ambit__rows_skip_single(const job *j, int n)
{
  char count[16];

  snprintf(count, sizeof count, "%d", n);
  skip(j, count);
  if (any(j)) ambit__line(j->w, "singles += %d;", n);
}

void ambit__rows_settle_singles(const job *j)
{
  settle(j, "singles");
}

/* Cells stored directly to memory, one by one. Strict sums are settled every few cells. */
void ambit__rows_open_direct(const job *j, int n)
{
  if (!any(j)) {
    ambit__open(j->w, "for (long x = x0; x < x1; x++)");
    return;
  }
  ambit__open(j->w, "for (long x = x0; x < x1;)");
  ambit__line(j->w, "singles = 0;");
  ambit__open(j->w, "for (; x < x1 && singles + %d <= ROOM; x++)", n);
}

void ambit__rows_close_direct(const job *j, int n)
{
  ambit__rows_skip_single(j, n);
  ambit__close(j->w);
  if (!any(j)) return;
  settle(j, "singles");
  ambit__close(j->w);
}
