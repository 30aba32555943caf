/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_tables.c - narrow rules that look up bytes in tables of at most 256.
 *
 * Compilers look up one cell after the other. So the function `subscripts` computes the subscripts
 * of a cell; whole vectors of them are looked up (prelude/look_up.h); and the function of the cell
 * gets the bytes as arguments look0, look1, ...
 */
#include "plan/rows.h"

typedef ambit__rows_job job;
typedef ambit__rows_place place;

enum { MOST_ELEMENTS = 256 };

/* ---- the look-ups of a rule ---- */

static bool is_look(const job *j, const ambit__expr *e)
{
  const ambit__table *table = e->op == EXPR_TABLE ? &j->rule->tables[e->index] : NULL;
  ambit__range r;

  if (!table || table->type != AMBIT_U8 || table->naxes > 1 || table->size[0] > MOST_ELEMENTS)
    return false;
  r = ambit__narrow_range(j->narrow, e->a);
  return e->a->op != EXPR_CONST && r.low >= 0 && r.high <= UINT8_MAX &&
         !ambit__expr_looks_up(j->rule, e->a);
}

static void collect(job *j, const ambit__expr *e)
{
  if (!e) return;
  if (is_look(j, e) && j->nlooks < AMBIT__ROWS_LOOKS) j->looks[j->nlooks++] = e;
  collect(j, e->a);
  collect(j, e->b);
  collect(j, e->c);
}

void ambit__rows_find_looks(job *j)
{
  if (!j->narrow || j->reduces || j->direct) return;
  for (const ambit__stmt *s = j->rule->body; s; s = s->next)
    if (s->kind != STMT_SET_OUT && (s->kind != STMT_LOCAL || !ambit__only_value(j->rule, s->index)))
      return;
  for (const ambit__stmt *s = j->rule->body; s; s = s->next)
    collect(j, s->value);
}

bool ambit__rows_print_look(const job *j, ambit__text *t, const ambit__expr *e)
{
  int k = 0;

  while (k < j->nlooks && j->looks[k] != e)
    k++;
  if (k < j->nlooks) ambit__print(t, "look%d", k);
  return k < j->nlooks;
}

/* ---- the function of the subscripts ---- */

void ambit__rows_declare_looks(const job *j)
{
  for (int k = 0; k < j->nlooks; k++)
    ambit__print(j->t, ", lane_u8 look%d", k);
}

/* Leaves out all but the locals that subscripts may need. */
static bool skip(const ambit__scope *s, const ambit__stmt *st)
{
  return st->kind != STMT_LOCAL || ambit__expr_looks_up(s->rule, st->value) ||
         ambit__rows_skip(s, st);
}

static void emit_subscript(const job *j, const ambit__scope *s, int k)
{
  const ambit__expr *e = j->looks[k]->a;
  const int64_t last = j->rule->tables[j->looks[k]->index].size[0] - 1;
  const bool clips = ambit__narrow_range(j->narrow, e).high > last;

  ambit__line_begin(j->w);
  ambit__print(j->t, "*look%d_to = (uint8_t)%s(", k, clips ? "ambit_clip_i32" : "");
  ambit__emit_expr(s, j->t, e);
  if (clips) ambit__print(j->t, ", %d", (int)last);
  ambit__line_end(j->w, ");");
}

void ambit__rows_emit_subscripts(const job *j)
{
  ambit__scope s = ambit__rows_scope_of(j);

  if (!j->nlooks) return;
  s.skip = skip;
  ambit__print(j->t, "/* The subscripts of tables, for one cell. */\n"
                     "AMBIT_INLINE void subscripts(const ambit_call *call");
  ambit__rows_print_places(j, DECLARE);
  ambit__rows_print_invariants(j, DECLARE);
  ambit__rows_declare_shares(j);
  for (int k = 0; k < j->nlooks; k++)
    ambit__print(j->t, ", uint8_t *look%d_to", k);
  ambit__print(j->t, ")\n{\n");
  j->w->depth++;
  ambit__emit_stmts(&s, j->w, j->rule->body);
  for (int k = 0; k < j->nlooks; k++)
    emit_subscript(j, &s, k);
  ambit__close(j->w);
  ambit__print(j->t, "\n");
}

/* ---- the rows of a block ---- */

void ambit__rows_pass_looks(const job *j, const place *p, const char *form)
{
  for (int k = 0; k < j->nlooks; k++)
    ambit__print(j->t, ", look%d_%d%s", k, p->r, form);
}

void ambit__rows_declare_look_buffers(const job *j, int n)
{
  for (int k = 0; k < j->nlooks; k++)
    for (int r = 0; r < n; r++)
      ambit__line(j->w, "uint8_t look%d_%d[LANES] __attribute__((aligned(AMBIT_VECTOR)));", k, r);
}

void ambit__rows_look_up(const job *j, int n)
{
  for (int k = 0; k < j->nlooks; k++)
    for (int r = 0; r < n; r++) {
      ambit__line_begin(j->w);
      ambit__print(j->t, "ambit_look_up(look%d_%d, ", k, r);
      ambit__name_table(j->t, &j->rule->tables[j->looks[k]->index]);
      ambit__line_end(j->w, ", LANES);");
    }
}
