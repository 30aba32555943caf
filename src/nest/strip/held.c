/* SPDX-License-Identifier: BSD-3-Clause */
/* held.c - values of other fields beside a ring of planes.
 *
 * Loaded ahead into registers, they make rules with several fields spill: two rows of doubles of
 * two fields take 32 of them. They are copied to shared memory instead, where each lane has places
 * of its own, so that it need not wait for others. It takes them when it computes their row. The
 * copies of a plane end with those of the plane of the ring that begin at the same time. On an H200
 * the wave of order 8 in double has 128 Gcells/s so, and 112 with one row and registers.
 */
#include "nest/strip/strip.h"

enum { VECTOR = 16 }; /* bytes of a copy */

bool ambit__strip_find_held(const ambit__rule *rule, ambit__strip *w)
{
  bool any = false;

  for (int i = 0; i < w->nvalues; i++) {
    ambit__strip_value *s = &w->values[i];
    const ambit__value_row *r = &s->rows[0];

    if (s->ring) continue;
    if (s->below || s->above || !r->is_read || r->low || r->high || r->has_edges) return false;
    if (w->lane * (int)ambit_type_size(rule->params[s->param].type) % VECTOR) return false;
    s->held = any = true;
  }
  return any;
}

/* Cells of a value that are held for one plane. */
static int cells_of(const ambit__strip *w)
{
  return w->rows * w->warps * AMBIT__WARP * w->lane;
}

static size_t bytes_before(const ambit__strip *w, const ambit__rule *rule,
                           const ambit__strip_value *end)
{
  size_t n = 0;

  for (const ambit__strip_value *s = w->values; s < end; s++)
    if (s->held)
      n += (size_t)(w->slots * cells_of(w)) * ambit_type_size(rule->params[s->param].type);
  return n;
}

size_t ambit__strip_held_bytes(const ambit__strip *w, const ambit__rule *rule)
{
  return bytes_before(w, rule, w->values + w->nvalues);
}

/* "double (*const o_h)[1408] = (double(*)[1408])((double *)(bytes + 155520) + ...);" */
void ambit__strip_let_held(const ambit__strip *w, size_t from)
{
  const char *const *thread = w->n->dialect->thread;

  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++) {
    const char *type = ambit__nest_type(w->n, s->param);

    if (s->held)
      ambit__nest_do(
          w->n, "%s (*const %s)[%d] = (%s(*)[%d])((%s *)(bytes + %zu) + (%s * %d + %s) * %d)", type,
          ambit__strip_name(w, s, 'h'), cells_of(w), type, cells_of(w), type,
          from + bytes_before(w, w->n->rule, s), thread[1], AMBIT__WARP, thread[0], w->lane);
  }
}

const char *ambit__strip_held(const ambit__strip *w, const ambit__strip_value *s,
                              const ambit__strip_moment *m, const char *row)
{
  const char *slot = m->is_first ? "k" : ambit__nest_text(w->n, "(p + %d)", m->plane);

  return ambit__nest_text(w->n, "%s[%s %% %d] + %s * %d", ambit__strip_name(w, s, 'h'), slot,
                          w->slots, row, cells_of(w) / w->rows);
}

void ambit__strip_take_held(const ambit__strip *w)
{
  const ambit__strip_moment now = {.plane = 0};

  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++)
    if (s->held)
      ambit__nest_call(w->n, "ambit_load", ambit__strip_type(w, s->param), w->lane,
                       "&%s%s[t][0], %s", ambit__strip_name(w, s, 'w'), ambit__strip_slot(w, &now),
                       ambit__strip_held(w, s, &now, "t"));
}
