/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c - rules that reach far along y: planes go through a ring in shared memory.
 *
 * The warps of a block copy the rows of whole planes, with those beside the block's, into the slots
 * of a ring, some planes ahead and without registers. A warp keeps its own rows of all planes in
 * registers, as windows do; it takes a row from the ring when it arrives. The rows of other warps,
 * and the cells beside its own, it takes when they are used: a warp that loaded them from memory
 * would wait for its loads ahead, as the first-level cache answers in order.
 *
 * The plane at z + p is in the slot that has its number in the registers, too (loads.c). One
 * barrier per plane: after it, all of a plane has arrived, and the slot to be filled next is free.
 */
#include "nest/strip/strip.h"

#include "base/integers.h"

#include <stdlib.h>

enum {
  LEAST_REACH = 3, /* along y; nearer, plans without a ring are as fast */
  VECTOR = 16,     /* bytes of a copy */
  PLAIN = 48 << 10 /* bytes of shared memory that every launch has */
};

/* ---- what is in the ring ---- */

/* The rows of a plane in shared memory. */
static int rows_of(const ambit__strip *w, const ambit__strip_value *s)
{
  return s->below + w->warps * w->rows + s->above;
}

static int width_of(const ambit__strip *w, const ambit__strip_value *s)
{
  return s->left + AMBIT__WARP * w->lane + s->right;
}

/* Cells of a slot. */
static int slot_of(const ambit__strip *w, const ambit__strip_value *s)
{
  return rows_of(w, s) * width_of(w, s);
}

static bool is_own(const ambit__strip *w, const ambit__strip_value *s, int row)
{
  return row >= s->below && row < s->below + w->rows;
}

/* Whether the rows of a value are of use in a ring: those of other warps are read in one plane
 * only, and without the cells beside them, as stars do. */
static bool is_star(const ambit__strip *w, const ambit__strip_value *s)
{
  for (int q = 0; q < s->nrows; q++) {
    const ambit__value_row *r = &s->rows[q];
    const bool own = is_own(w, s, q);

    if (r->is_read && !own && (r->low != r->high || r->has_edges)) return false;
    if (r->has_edges && r->edge_low != r->edge) return false;
    if (own && !r->is_read) return false;
  }
  return true;
}

static bool reaches_far(const ambit__strip_value *s)
{
  return s->below >= LEAST_REACH || s->above >= LEAST_REACH;
}

/* Cells beside a lane's are taken in whole vectors. */
static int whole_vectors(const ambit__strip *w, int cells)
{
  return (cells + w->lane - 1) / w->lane * w->lane;
}

bool ambit__strip_find_ring(const ambit__rule *rule, ambit__strip *w)
{
  bool any = false;

  if (w->y < 0 || w->planes || w->taps || w->cells > 1) return false;
  for (int i = 0; i < w->nvalues; i++) {
    ambit__strip_value *s = &w->values[i];

    for (int k = 0; k < w->nvalues; k++)
      s->ring = s->ring || (w->values[k].param == s->param && reaches_far(&w->values[k]));
    if (!s->ring) continue;
    if (!is_star(w, s) || w->warps < s->below + s->above) return false;
    if (w->lane * (int)ambit_type_size(rule->params[s->param].type) % VECTOR) return false;
    s->left = whole_vectors(w, s->left);
    s->right = whole_vectors(w, s->right);
    if ((s->left + s->right) / w->lane * w->rows > AMBIT__WARP) return false;
    any = true;
  }
  return any;
}

/* The first plane that is copied, the last one that arrives, and the first one that is still taken
 * from the ring then. */
typedef struct span {
  int first, newest, oldest;
} span;

static span span_of(const ambit__strip *w)
{
  span a = {INT32_MAX, INT32_MIN, INT32_MAX};

  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++)
    for (const ambit__value_row *r = s->rows; s->ring && r < s->rows + s->nrows; r++) {
      if (r->is_read && r->low < a.first) a.first = r->low;
      if (r->is_read && r->high > a.newest) a.newest = r->high;
      if (r->is_read && r->high < a.oldest) a.oldest = r->high;
      if (r->has_edges && r->edge < a.oldest) a.oldest = r->edge;
    }
  return a;
}

int ambit__strip_ring_ahead(const ambit__strip *w)
{
  const span a = span_of(w);
  const int ahead = w->period - (a.newest - a.oldest + 1);

  return ahead < 0 ? 0 : ahead;
}

/* Bytes of the rings before that of a value. */
static size_t bytes_before(const ambit__strip *w, const ambit__rule *rule,
                           const ambit__strip_value *end)
{
  size_t n = 0;

  for (const ambit__strip_value *s = w->values; s < end; s++)
    if (s->ring)
      n += (size_t)(w->period * slot_of(w, s)) * ambit_type_size(rule->params[s->param].type);
  return n;
}

size_t ambit__strip_ring_bytes(const ambit__strip *w, const ambit__rule *rule)
{
  const size_t n = bytes_before(w, rule, w->values + w->nvalues);

  return n && n <= PLAIN ? PLAIN + 1 : n; /* more than launches have that know of no ring */
}

/* ---- declarations ---- */

static int beside_of(const ambit__strip *w, const ambit__strip_value *s)
{
  return (s->left + s->right) / w->lane;
}

static void let_place(const ambit__strip *w, const ambit__strip_value *s, char kind,
                      const char *place)
{
  const char *space = w->n->dialect->shared_pointer;
  const char *type = ambit__nest_text(w->n, "%s%s", space, ambit__nest_type(w->n, s->param));
  const int n = slot_of(w, s);

  ambit__nest_do(w->n, "%s (*const %s)[%d] = (%s(*)[%d])((%s *)(bytes + %zu) + %s)", type,
                 ambit__strip_name(w, s, kind), n, type, n, type, bytes_before(w, w->n->rule, s),
                 place);
}

/* "ambit_least(top + (int)threadIdx.y + 12, high1 + 3)": a row of the block that exists. */
static const char *source_row(const ambit__strip *w, const ambit__strip_value *s, const char *row,
                              int more)
{
  return ambit__nest_text(w->n, "ambit_least(top + %s %s %d, high%d + %d)", row,
                          more < 0 ? "-" : "+", abs(more), w->y, s->above - 1);
}

static void let_cells(const ambit__strip *w, const ambit__strip_value *s, int plane)
{
  const int here[AMBIT_MAX_DIMS] = {0};
  const ambit__nest_access away = {s->param, s->component, here, NULL};
  const char *name = ambit__nest_name(w->n, s->param), *component = "";

  if (s->component) component = ambit__nest_text(w->n, " + %s", ambit__nest_distance(w->n, &away));
  ambit__nest_do(w->n,
                 "%sconst %s *%s = %s_mem + (%s_o + (begin %s %d) * %s_s%d + %s * %s_s%d + %s_x%s)",
                 w->n->dialect->global, ambit__nest_type(w->n, s->param),
                 ambit__strip_name(w, s, 'f'), name, name, plane < 0 ? "-" : "+", abs(plane), name,
                 w->z, ambit__strip_name(w, s, 'y'), name, w->y, name, component);
}

/* u_f: the lane's cells in the first row that the warp copies. u_f1, u_f2: the distances from there
 * to its other rows, which are `warps` rows apart. */
static void let_rows(const ambit__strip *w, const ambit__strip_value *s)
{
  const char *warp = w->n->dialect->thread[1], *y = ambit__strip_name(w, s, 'y');

  ambit__nest_do(w->n, "const int %s = %s", y, source_row(w, s, warp, -s->below));
  let_cells(w, s, span_of(w).first);
  for (int i = 1; i * w->warps < rows_of(w, s); i++)
    ambit__nest_do(w->n, "const int %s_%d = (%s - %s) * (int)%s_s%d", ambit__strip_name(w, s, 'f'),
                   i, source_row(w, s, warp, i * w->warps - s->below), y,
                   ambit__nest_name(w->n, s->param), w->y);
  let_place(w, s, 'p',
            ambit__nest_text(w->n, "%s * %d + x - left + %d", warp, width_of(w, s), s->left));
}

/* Of the lanes that copy the vectors beside the strip, one each: u_q, its column; u_d, the distance
 * from u_f to it; u_b, its place in the ring. */
static void let_beside(const ambit__strip *w, const ambit__strip_value *s)
{
  const char *lane = w->n->dialect->thread[0], *q = ambit__strip_name(w, s, 'q');
  const int n = beside_of(w, s);
  const char *column, *row;

  if (!n) return;
  row = ambit__nest_text(w->n, "%s * %d + ambit_least(%s / %d, %d)", w->n->dialect->thread[1],
                         w->rows, lane, n, w->rows - 1);
  column = ambit__nest_text(w->n, "%s %% %d * %d + (%s %% %d < %d ? 0 : %d)", lane, n, w->lane,
                            lane, n, s->left / w->lane, AMBIT__WARP * w->lane);
  let_place(w, s, 'b',
            ambit__nest_text(w->n, "(%d + %s) * %d + %s", s->below, row, width_of(w, s), column));
  ambit__nest_do(w->n, "const int %s = left - %d + %s", q, s->left, column);
  ambit__nest_do(w->n, "const int %s = (%s - %s) * (int)%s_s%d + %s - %s_x",
                 ambit__strip_name(w, s, 'd'), source_row(w, s, row, 0),
                 ambit__strip_name(w, s, 'y'), ambit__nest_name(w->n, s->param), w->y,
                 ambit__strip_inside(w, s->param, q), ambit__nest_name(w->n, s->param));
}

void ambit__strip_let_ring(const ambit__strip *w)
{
  ambit__nest_do(w->n, "AMBIT_SHARED_BYTES(bytes)");
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++) {
    if (!s->ring) continue;
    let_rows(w, s);
    let_beside(w, s);
    let_place(w, s, 'r',
              ambit__nest_text(w->n, "(y - top + %d) * %d + x - left + %d", s->below,
                               width_of(w, s), s->left));
  }
}

/* ---- copies ---- */

/* "ambit_copy<4>(u_p[(p + 8) % 9] + 2176, u_f + u_f_1);", if a thread is one of the first. */
static void copy(const ambit__strip *w, const ambit__strip_value *s, const char *thread, int first,
                 int all, const char *to, const char *from)
{
  if (first < all) ambit__nest_if(w->n, "%s < %d", thread, first);
  ambit__nest_call(w->n, "ambit_copy", ambit__strip_type(w, s->param), w->lane, "%s, %s", to, from);
  if (first < all) ambit__nest_close(w->n);
}

static void copy_rows(const ambit__strip *w, const ambit__strip_value *s,
                      const ambit__strip_moment *m)
{
  const char *slot = ambit__strip_slot(w, m), *f = ambit__strip_name(w, s, 'f');
  const char *const *thread = w->n->dialect->thread;
  const int beside = beside_of(w, s) * w->rows;

  for (int i = 0; i * w->warps < rows_of(w, s); i++) {
    const int away = i * w->warps * width_of(w, s);

    copy(w, s, thread[1], rows_of(w, s) - i * w->warps, w->warps,
         ambit__nest_text(w->n, "%s%s%s", ambit__strip_name(w, s, 'p'), slot,
                          ambit__nest_more(w->n, away)),
         i ? ambit__nest_text(w->n, "%s + %s_%d", f, f, i) : f);
  }
  if (beside)
    copy(w, s, thread[0], beside, AMBIT__WARP,
         ambit__nest_text(w->n, "%s%s", ambit__strip_name(w, s, 'b'), slot),
         ambit__nest_text(w->n, "%s + %s", f, ambit__strip_name(w, s, 'd')));
}

/* Begins to copy the plane at a moment, whose number is `plane`. Planes past the last one repeat
 * it. */
static void copy_plane(const ambit__strip *w, const ambit__strip_moment *m, const char *plane)
{
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++) {
    if (!s->ring) continue;
    copy_rows(w, s, m);
    ambit__nest_do(w->n, "%s += %s < %s + %d ? %s_s%d : 0", ambit__strip_name(w, s, 'f'), plane,
                   m->is_first ? "n" : "rest", span_of(w).newest - 1,
                   ambit__nest_name(w->n, s->param), w->z);
  }
  ambit__nest_do(w->n, "ambit_copied()");
}

/* The next plane has arrived, in all warps, and a further one is copied. */
static void advance(const ambit__strip *w, const ambit__strip_moment *m, const char *plane)
{
  ambit__nest_do(w->n, "ambit_arrived<%d>()", w->ahead - 1);
  ambit__nest_barrier(w->n);
  copy_plane(w, m, plane);
}

/* ---- from the ring into registers ---- */

/* "ambit_fetch<4>(&u_w[p][q][0], u_r[p] + (q - 4) * 136 - 4);": a vector of a row, `from` cells
 * after the lane's. The row is `more` rows after that with the number `row`. */
static void take(const ambit__strip *w, const ambit__strip_value *s, const ambit__strip_moment *m,
                 const char *row, int more, int from)
{
  const int wide = width_of(w, s), away = (more - s->below) * wide + from;

  ambit__nest_call(w->n, "ambit_fetch", ambit__strip_type(w, s->param), w->lane,
                   "&%s%s[%s + %d][%d], %s%s + %s * %d %s %d", ambit__strip_name(w, s, 'w'),
                   ambit__strip_slot(w, m), row, more, s->left + from, ambit__strip_name(w, s, 'r'),
                   ambit__strip_slot(w, m), row, wide, away < 0 ? "-" : "+", abs(away));
}

/* The last row beside its own that row t reads, which no row before it reads; 0: there is none that
 * is not one of the warp's own. */
static int last_row(const ambit__strip *w, const ambit__strip_value *s)
{
  return s->above >= w->rows ? s->below + s->above : 0;
}

void ambit__strip_take_for_row(const ambit__strip *w)
{
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++) {
    const ambit__value_row *r = &s->rows[s->below], *last = &s->rows[last_row(w, s)];

    if (!s->ring) continue;
    for (int from = -s->left; r->has_edges && from < w->lane + s->right; from += w->lane)
      if (from) take(w, s, &(ambit__strip_moment){.plane = r->edge}, "t", s->below, from);
    if (r->has_edges)
      ambit__strip_add_beyond(
          w, s,
          ambit__nest_text(w->n, "%s%s[t + %d]", ambit__strip_name(w, s, 'w'),
                           ambit__strip_slot(w, &(ambit__strip_moment){.plane = r->edge}),
                           s->below));
    if (last_row(w, s) && last->is_read)
      take(w, s, &(ambit__strip_moment){.plane = last->high}, "t", last_row(w, s), 0);
  }
}

/* The rows that arrive: before the loop over z, in plane k, those that are kept for later. Others
 * are taken for each row that is computed, to save registers. */
static void take_rows(const ambit__strip *w, const ambit__strip_moment *first)
{
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++) {
    const int nrows = last_row(w, s) ? last_row(w, s) : s->nrows;

    for (int q = 0, end; s->ring && q < nrows; q = end) {
      const ambit__value_row *r = &s->rows[q];

      end = ambit__min(ambit__strip_rows_alike(s, q, true), nrows);
      if (!r->is_read || (first && r->low == r->high)) continue;
      ambit__nest_unroll(w->n, "q", q, end);
      if (first) ambit__nest_if(w->n, "k >= %d && k < %d", r->low, r->high);
      take(w, s, first ? first : &(ambit__strip_moment){.plane = r->high}, "q", 0, 0);
      if (first) ambit__nest_close(w->n);
      ambit__nest_close(w->n);
    }
  }
}

/* All planes before the loop over z: the first ones are copied, then the others as these arrive. */
void ambit__strip_ring_first(const ambit__strip *w)
{
  const span a = span_of(w);
  const ambit__strip_moment now = {.is_first = true, .plane = a.first};

  if (ambit__group_reduces(w->n->group))
    ambit__nest_barrier(w->n); /* the tile before used it, too */
  ambit__nest_unroll(w->n, "k", a.first, a.first + w->ahead);
  copy_plane(w, &now, "k");
  ambit__nest_close(w->n);
  ambit__nest_unroll(w->n, "k", a.first, a.newest);
  advance(w, &(ambit__strip_moment){.is_first = true, .plane = a.first, .more = w->ahead},
          ambit__nest_text(w->n, "k + %d", w->ahead));
  take_rows(w, &now);
  ambit__nest_close(w->n);
}

void ambit__strip_ring_next(const ambit__strip *w)
{
  const int next = span_of(w).newest + w->ahead;

  advance(w, &(ambit__strip_moment){.plane = next}, ambit__nest_text(w->n, "p + %d", next));
  take_rows(w, NULL);
}
