/* SPDX-License-Identifier: BSD-3-Clause */
/* loads.c - the values that a warp holds in registers, and their loads.
 *
 * The plane at z + p is in u_w[p], the planes before and after it in the slots before and after
 * that, cyclically. The subscripts are [slot][row][cell]; the cells are those of the lane, between
 * those of the adjacent lanes. All loops but the one over z are unrolled, so that every subscript
 * is a constant and arrays become registers, occupied only while their values are needed.
 *
 * The cells beside a lane's come from the adjacent lanes, at the ends of the strip from memory: u_e
 * holds those before the strip in the first half of the lanes, those after it in the other half.
 * Loading them in all lanes costs no more than in the two lanes that use them.
 *
 * Loads are unconditional: lanes outside, and planes past the last one, load the nearest position
 * inside. With periodic rows, lanes beyond an end load from the other end; lanes further out load
 * the same as the last lane that is read. At the ends of other closed rows (nest/group.h) the cells
 * beside a lane's are made of its own.
 */
#include "nest/strip/strip.h"

#include <stdlib.h>

enum { VECTOR = 16 }; /* bytes of the widest access */

/* ---- names ---- */

const char *ambit__strip_name(const ambit__strip *w, const ambit__strip_value *s, char kind)
{
  int n = 0;

  for (int i = 0; i < w->nvalues; i++)
    n += w->values[i].param == s->param;
  if (n == 1) return ambit__nest_text(w->n, "%s_%c", ambit__nest_name(w->n, s->param), kind);
  return ambit__nest_text(w->n, "%s_%c%d", ambit__nest_name(w->n, s->param), kind, s->number);
}

const char *ambit__strip_row(const ambit__strip *w, const ambit__strip_value *s, const int *offset)
{
  return ambit__nest_text(w->n, "%s%s%s", ambit__strip_name(w, s, 'w'),
                          ambit__nest_slot(w->n, w->z < 0 ? 0 : offset[w->z], w->period),
                          w->y < 0 ? "" : ambit__nest_at(w->n, "t", s->below + offset[w->y]));
}

const char *ambit__strip_cell(const ambit__strip *w, int param, int component, const int *offset)
{
  const ambit__strip_value *s = ambit__strip_find(w, param, component, offset);
  const char *row = ambit__strip_row(w, s, offset);

  if (w->cells > 1)
    return ambit__nest_text(w->n, "%s(%s, %s + %d)", w->cells > 2 ? "ambit_byte" : "ambit_short",
                            row, ambit__strip_place(w), s->left * w->cells + offset[w->x]);
  return ambit__nest_text(w->n, "%s%s", row, ambit__nest_at(w->n, "j", s->left + offset[w->x]));
}

const char *ambit__strip_arrived(const ambit__strip *w, const ambit__strip_value *s, int dx)
{
  return ambit__nest_text(w->n, "%s%s[q]%s", ambit__strip_name(w, s, 'w'),
                          ambit__nest_slot(w->n, w->high, w->period),
                          ambit__nest_at(w->n, "j", s->left + dx));
}

const char *ambit__strip_type(const ambit__strip *w, int param)
{
  return w->cells > 1 ? w->n->dialect->types[AMBIT_U32] : ambit__nest_type(w->n, param);
}

/* "(const ambit_u32 *)(u_at0)": where units are not cells, their addresses are converted. */
static const char *address(const ambit__strip *w, const char *place)
{
  if (w->cells == 1) return place;
  return ambit__nest_text(w->n, "(%sconst ambit_u32 *)(%s)", w->n->dialect->global, place);
}

int ambit__strip_start(const ambit__strip *w)
{
  return 1 - w->span;
}

const char *ambit__strip_slot(const ambit__strip *w, const ambit__strip_moment *m)
{
  int shift = m->more - ambit__strip_start(w);

  while (m->is_first && m->plane + shift < 0)
    shift += w->period;
  if (!m->is_first || w->period == 1) return ambit__nest_slot(w->n, m->plane, w->period);
  if (shift) return ambit__nest_text(w->n, "[(k + %d) %% %d]", shift, w->period);
  return ambit__nest_text(w->n, "[k %% %d]", w->period);
}

/* ---- one row ---- */

/* "u_w[(p + 3) % 4][q]" */
static const char *row_of(const ambit__strip *w, const ambit__strip_value *s,
                          const ambit__strip_moment *m, char kind)
{
  return ambit__nest_text(w->n, "%s%s%s", ambit__strip_name(w, s, kind), ambit__strip_slot(w, m),
                          w->y >= 0 ? "[q]" : "");
}

/* "u_at0 + (q - 1) * u_s1": the lane's cells in row q of the current plane of a load. */
static const char *place_of(const ambit__strip *w, const ambit__strip_value *s, int load)
{
  const ambit__nest_access away = {s->param, s->component, s->outer, NULL};
  const char *name = ambit__nest_name(w->n, s->param);
  const char *place = ambit__nest_text(w->n, "%s_at%d", name, w->loads[load].number);
  bool elsewhere = s->component != 0;

  for (int d = 0; d < w->z; d++)
    elsewhere = elsewhere || s->outer[d];
  if (w->y >= 0 && s->below)
    place = ambit__nest_text(w->n, "%s + (q - %d) * %s_s%d", place, s->below, name, w->y);
  else if (w->y >= 0)
    place = ambit__nest_text(w->n, "%s + q * %s_s%d", place, name, w->y);
  if (!elsewhere) return place;
  return ambit__nest_text(w->n, "%s + (%s)", place, ambit__nest_distance(w->n, &away));
}

/* Opens a condition on the first planes k, unless it holds for all planes of the load that are
 * loaded before the loop. Returns whether it did. */
static bool open_range(const ambit__strip *w, int load, int low, int high)
{
  const ambit__strip_load *f = &w->loads[load];
  const int start = ambit__strip_start(w);

  if (low == f->low && high == f->high) return false;
  ambit__nest_if(w->n, "k >= %d && k < %d", start + low, start + high + f->ahead);
  return true;
}

/* The load function: early loads must be issued before any computation. In OpenCL vectors of 16
 * bytes are loaded so in all tiles: NVIDIA's compiler would delay loads past the barrier (D3Q19
 * with walls had 15.4 Gcells/s on an H200, now 20.5). Not where stores go to the same addresses,
 * which that compiler (of CUDA 13.0) then computes after the loads that need them. */
static const char *load_of(const ambit__strip *w, int param)
{
  const ambit__param *p = ambit__nest_param(w->n, param);
  const bool in_tile = w->planes && !w->n->dialect->has_lanes;
  const bool is_vector = (size_t)w->lane * ambit_type_size(p->type) == VECTOR && w->cells == 1;

  if (in_tile && p->is_written) return "ambit_load";
  return (w->planes && !w->apart) || (is_vector && in_tile) ? "ambit_load_now" : "ambit_load";
}

static bool is_uniform(const ambit__strip *w, int param)
{
  return ambit__binding_is_uniform(&w->n->bind[param], w->x + 1);
}

static void add_load(const ambit__strip *w, const ambit__strip_value *s, const ambit__value_row *r,
                     const ambit__strip_moment *m)
{
  const bool some = m->is_first && w->planes && open_range(w, r->load, r->low, r->high);
  const char *row = row_of(w, s, m, 'w'), *place = place_of(w, s, r->load);

  if (is_uniform(w, s->param)) {
    ambit__nest_unroll(w->n, "i", 0, w->units);
    ambit__nest_do(w->n, "%s[i] = *(%s)", row, place);
    ambit__nest_close(w->n);
  } else {
    ambit__nest_call(w->n, load_of(w, s->param), ambit__strip_type(w, s->param), w->units,
                     "&%s[%d], %s", row, s->left, address(w, place));
  }
  if (some) ambit__nest_close(w->n);
}

/* The name of the distance to a vector beside a lane's, the k-th on its side. */
static const char *distance_of(const ambit__strip *w, int param, bool before, int k)
{
  const char *name = ambit__nest_name(w->n, param), *side = before ? "before" : "after";

  return k > 1 ? ambit__nest_text(w->n, "%s_%s%d", name, side, k)
               : ambit__nest_text(w->n, "%s_%s", name, side);
}

/* The vectors beside a lane's own in row q. */
static void add_vectors(const ambit__strip *w, const ambit__strip_value *s,
                        const ambit__value_row *r, const ambit__strip_moment *m,
                        const ambit__strip_moment *at, const char *place)
{
  const bool some = m->is_first && open_range(w, r->load, r->edge_low, r->edge);

  for (int first = 0; first < s->left + w->units + s->right; first += w->units) {
    const int k = first - s->left;

    if (k)
      ambit__nest_call(w->n, load_of(w, s->param), ambit__strip_type(w, s->param), w->units,
                       "&%s[%d], %s + %s", row_of(w, s, at, 'w'), first, place,
                       distance_of(w, s->param, k < 0, abs(k) / w->units));
  }
  if (some) ambit__nest_close(w->n);
}

/* The cells beside the strip in row q, or in lanes that exchange nothing beside the lane's; in the
 * planes before the loop, only where they are read. */
static void add_end(const ambit__strip *w, const ambit__strip_value *s, const ambit__value_row *r,
                    const ambit__strip_moment *m)
{
  const ambit__strip_load *f = &w->loads[r->load];
  const ambit__strip_moment at = {m->is_first, m->is_first ? m->plane : r->edge + f->ahead, 0};
  const char *name = ambit__nest_name(w->n, s->param), *place = place_of(w, s, r->load);

  if (!m->is_first && r->edge != f->high)
    place = ambit__nest_text(w->n, "%s - %d * %s_s%d", place, f->high - r->edge, name, w->z);
  if (s->vectors) {
    add_vectors(w, s, r, m, &at, place);
    return;
  }
  for (int i = 0; i < (w->apart ? s->left + s->right : 1); i++) {
    const bool some = m->is_first && open_range(w, r->load, r->edge_low, r->edge);
    const bool before = i < s->left;
    const int cell = (before ? w->units - s->left + i : i - s->left) * w->cells;

    if (w->apart)
      ambit__nest_do(
          w->n, w->cells > 1 ? "%s[%d] = *%s" : "%s[%d] = *(%s)", row_of(w, s, &at, 'w'),
          before ? i : i + w->units,
          address(w, ambit__nest_text(w->n, "%s + %s_%s%s", place, name,
                                      before ? "before" : "after", ambit__nest_more(w->n, cell))));
    else
      ambit__nest_call(w->n, load_of(w, s->param), ambit__strip_type(w, s->param), s->end, "%s, %s",
                       row_of(w, s, &at, 'e'),
                       address(w, ambit__nest_text(w->n, "%s + %s_beside", place, name)));
    if (some) ambit__nest_close(w->n);
  }
}

/* Of a row of registers, the unit that the k-th one beyond an end of a closed row stands for. */
static const char *beyond(const ambit__strip *w, const ambit__strip_value *s, const char *row,
                          int side, int k)
{
  const ambit_boundary kind = w->n->bind[s->param].ends[side];
  const char *of = w->cells > 2 ? "bytes" : "shorts";
  const int last = s->left * w->cells + (side ? w->lane - 1 : 0), about = kind == AMBIT_REFLECT;

  if (w->cells > 1 && kind == AMBIT_CLAMP)
    return ambit__nest_text(w->n, "ambit_all_%s(%s, %d)", of, row, last);
  if (w->cells > 1)
    return ambit__nest_text(w->n, "ambit_turned_%s(%s, %d)", of, row,
                            side ? last + 1 - k * w->cells - about
                                 : last + (k - 1) * w->cells + about);
  if (kind == AMBIT_CLAMP) return ambit__nest_text(w->n, "%s[%d]", row, last);
  return ambit__nest_text(w->n, "%s[%d]", row, side ? last + 1 - k - about : last + k - 1 + about);
}

/* Whether values beyond the ends of rows are made of those inside. */
static bool has_beyond(const ambit__strip *w, const ambit__strip_value *s)
{
  const ambit__binding *b = &w->n->bind[s->param];

  return ambit__binding_is_closed(b) && !ambit__binding_is_periodic(b);
}

void ambit__strip_add_beyond(const ambit__strip *w, const ambit__strip_value *s, const char *row)
{
  const ambit__param *p = ambit__nest_param(w->n, s->param);

  if (!has_beyond(w, s)) return;
  for (int side = 0; side < 2; side++) {
    const int units = side ? s->right : s->left, reach = side ? p->high[w->x] : p->low[w->x];

    for (int k = 1; k <= units && (w->cells > 1 || k <= reach); k++) {
      const int i = side ? s->left + w->units + k - 1 : s->left - k;

      if (side)
        ambit__nest_do_if(w->n, ambit__nest_text(w->n, "x + %d == (int)extent%d", w->lane, w->x),
                          "%s[%d] = %s", row, i, beyond(w, s, row, side, k));
      else
        ambit__nest_do_if(w->n, "x == 0", "%s[%d] = %s", row, i, beyond(w, s, row, side, k));
    }
  }
}

/* Cells beside this lane's: from the adjacent lanes, unless they were loaded; or of its own. */
static void add_edges(const ambit__strip *w, const ambit__strip_value *s,
                      const ambit__strip_moment *m)
{
  const char *own = row_of(w, s, m, 'w'), *end = row_of(w, s, m, 'e');

  for (int i = 0; !w->apart && i < s->left + s->right; i++) {
    const bool before = i < s->left;

    ambit__nest_do(w->n, "%s[%d] = ambit_%s(%s[%d], %s[%d])", own, before ? i : i + w->units,
                   before ? "before" : "after", own, before ? i + w->units : i, end,
                   before ? s->end - s->left + i : i - s->left);
  }
  ambit__strip_add_beyond(w, s, own);
}

/* ---- planes ---- */

int ambit__strip_rows_alike(const ambit__strip_value *s, int q, bool loads)
{
  const ambit__value_row *r = &s->rows[q];

  for (q++; q < s->nrows; q++) {
    const ambit__value_row *o = &s->rows[q];

    if (o->has_edges != r->has_edges || o->edge != r->edge || o->edge_low != r->edge_low) break;
    if (loads &&
        (o->is_read != r->is_read || o->load != r->load || o->low != r->low || o->high != r->high))
      break;
  }
  return q;
}

/* A loop over the rows q to end - 1; in 2-D there is one. */
static void open_rows(const ambit__strip *w, int q, int end)
{
  if (w->y >= 0) ambit__nest_unroll(w->n, "q", q, end);
}

static void close_rows(const ambit__strip *w)
{
  if (w->y >= 0) ambit__nest_close(w->n);
}

static void advance_load(const ambit__strip *w, const ambit__strip_load *f, bool is_first,
                         const char *plane)
{
  const char *name = ambit__nest_name(w->n, f->param);

  if (w->z < 0) return;
  if (w->planes)
    ambit__nest_do(w->n, "%s_at%d += %s_s%d", name, f->number, name, w->z);
  else
    ambit__nest_do(w->n, "%s_at%d += %s < %s %s %d ? %s_s%d : 0", name, f->number, plane,
                   is_first || !w->ring ? "n" : "rest", f->high < 1 ? "-" : "+",
                   f->high < 1 ? 1 - f->high : f->high - 1, name, w->z);
}

/* Does a load of all its rows, and advances it to its next plane. */
static void do_load(const ambit__strip *w, int load, const ambit__strip_moment *m,
                    const char *plane)
{
  const ambit__strip_load *f = &w->loads[load];

  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++)
    for (int q = 0, end; s->param == f->param && q < s->nrows; q = end) {
      end = ambit__strip_rows_alike(s, q, true);
      if (!s->rows[q].is_read || s->rows[q].load != load) continue;
      open_rows(w, q, end);
      add_load(w, s, &s->rows[q], m);
      if (s->rows[q].has_edges && !s->ring) add_end(w, s, &s->rows[q], m);
      close_rows(w);
    }
  advance_load(w, f, m->is_first, plane);
}

/* Whether lanes exchange the cells of a value that they read beside their own, or make them. */
static bool is_shared(const ambit__strip *w, const ambit__strip_value *s)
{
  return !s->ring && (!w->apart || has_beyond(w, s));
}

/* The exchanges of all rows in which cells of adjacent lanes are read. In the planes before the
 * loop, only of those read so in several planes at a time; in tiles, of all. */
static void share(const ambit__strip *w, bool first)
{
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++)
    for (int q = 0, end; is_shared(w, s) && q < s->nrows; q = end) {
      const ambit__value_row *r = &s->rows[q];
      const int from = ambit__strip_start(w) + r->edge_low;

      end = ambit__strip_rows_alike(s, q, false);
      if (!r->has_edges || (first && !w->planes && r->edge_low == r->edge)) continue;
      open_rows(w, q, end);
      if (first) ambit__nest_unroll(w->n, "k", from, ambit__strip_start(w) + r->edge + w->planes);
      add_edges(w, s, &(ambit__strip_moment){.is_first = first, .plane = first ? from : r->edge});
      if (first) ambit__nest_close(w->n);
      close_rows(w);
    }
}

void ambit__strip_load_first(const ambit__strip *w)
{
  const int start = ambit__strip_start(w);

  for (int i = 0; i < w->nloads; i++) {
    const ambit__strip_load *f = &w->loads[i];
    const ambit__strip_moment m = {.is_first = true, .plane = start + f->low};

    if (f->ring || f->low == f->high + f->ahead) continue;
    ambit__nest_unroll(w->n, "k", m.plane, start + f->high + f->ahead);
    do_load(w, i, &m, "k");
    ambit__nest_close(w->n);
  }
  if (w->ring) ambit__strip_ring_first(w);
  if (w->planes) { /* compilers move no loads across a barrier, and nothing else across a branch */
    if (!w->apart || !w->n->dialect->has_lanes || w->cells > 1) ambit__nest_barrier(w->n);
    if (w->n->ends_late) ambit__nest_let_ended(w->n);
  }
  share(w, true);
}

/* "z + p + 3": the plane that a load brings in a phase of the loop. */
static const char *next_of(const ambit__strip *w, const ambit__strip_load *f)
{
  const int n = f->high + f->ahead;

  return ambit__nest_text(w->n, "%sp %s %d", w->ring ? "" : "z + ", n < 0 ? "-" : "+",
                          n < 0 ? -n : n);
}

void ambit__strip_load_next(const ambit__strip *w)
{
  if (w->ring) ambit__nest_do_if(w->n, "p >= rest", "break");
  for (int i = 0; i < w->nloads; i++) {
    const ambit__strip_load *f = &w->loads[i];

    if (!f->ring) do_load(w, i, &(ambit__strip_moment){.plane = f->high + f->ahead}, next_of(w, f));
  }
  if (w->ring) ambit__strip_ring_next(w);
  if (!w->by_rows) share(w, false);
}

void ambit__strip_share_arrived(const ambit__strip *w, const ambit__strip_value *s)
{
  for (int q = 0, end; is_shared(w, s) && q < s->nrows; q = end) {
    const bool all = q == 0 && ambit__strip_rows_alike(s, q, false) == s->nrows;

    end = ambit__strip_rows_alike(s, q, false);
    if (!s->rows[q].has_edges) continue;
    if (!all) ambit__nest_if(w->n, "q >= %d && q < %d", q, end);
    add_edges(w, s, &(ambit__strip_moment){.plane = s->rows[q].edge});
    if (!all) ambit__nest_close(w->n);
  }
}

void ambit__strip_rotate(const ambit__strip *w, const char *name, int param, int n, int rows,
                         int cells)
{
  ambit__nest_unroll(w->n, "q", 0, rows);
  ambit__nest_unroll(w->n, "k", 0, cells);
  ambit__nest_do(w->n, "const %s first = %s[0][q][k]", ambit__strip_type(w, param), name);
  ambit__nest_unroll(w->n, "i", 1, n);
  ambit__nest_do(w->n, "%s[i - 1][q][k] = %s[i][q][k]", name, name);
  ambit__nest_close(w->n);
  ambit__nest_do(w->n, "%s[%d][q][k] = first", name, n - 1);
  ambit__nest_close(w->n);
  ambit__nest_close(w->n);
}

void ambit__strip_shift(const ambit__strip *w)
{
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++) {
    ambit__strip_rotate(w, ambit__strip_name(w, s, 'w'), s->param, w->period, s->nrows,
                        s->left + w->units + s->right);
    if (s->end)
      ambit__strip_rotate(w, ambit__strip_name(w, s, 'e'), s->param, w->period, s->nrows, s->end);
  }
}

/* ---- fields ---- */

const char *ambit__strip_inside(const ambit__strip *w, int param, const char *x)
{
  const ambit__param *p = ambit__nest_param(w->n, param);
  const char *inside =
      ambit__nest_text(w->n, "ambit_between((low%d%s) & -%d, %s, (high%d%s) & -%d)", w->x,
                       ambit__nest_more(w->n, -p->low[w->x]), w->lane, x, w->x,
                       ambit__nest_more(w->n, p->high[w->x] - 1), w->lane);

  if (!ambit__binding_is_closed(&w->n->bind[param])) return inside;
  if (ambit__binding_is_periodic(&w->n->bind[param]))
    return ambit__nest_text(w->n, "ambit_wrap(%s, (int)extent%d)", inside, w->x);
  return ambit__nest_text(w->n, "ambit_between(0, %s, (int)extent%d - %d)", inside, w->x, w->lane);
}

/* "const int u_before = ... - u_x;": the distances from the lane's cells to the vectors beside. */
static void let_distances(const ambit__strip *w, int param, bool before, int reach)
{
  const char *name = ambit__nest_name(w->n, param);

  for (int k = 1; (k - 1) * w->lane < reach; k++)
    ambit__nest_do(
        w->n, "const int %s = %s - %s_x", distance_of(w, param, before, k),
        ambit__strip_inside(w, param,
                            ambit__nest_text(w->n, "x %s %d", before ? "-" : "+", k * w->lane)),
        name);
}

/* The position of the lane's cells, and the distance from them to those beside the strip, or in
 * lanes that exchange nothing to the vectors beside the lane's. */
static void let_column(const ambit__strip *w, int param)
{
  const ambit__param *p = ambit__nest_param(w->n, param);
  bool shared = false;
  int end = 0;

  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++)
    if (s->param == param) {
      end = s->end;
      shared = shared || s->ring;
    }
  ambit__nest_do(w->n, "const int %s_x = %s", p->name,
                 is_uniform(w, param) ? "0" : ambit__strip_inside(w, param, "x"));
  if (w->apart && !shared) {
    let_distances(w, param, true, p->low[w->x]);
    let_distances(w, param, false, p->high[w->x]);
  }
  if (end)
    ambit__nest_do(w->n, "const int %s_beside = %s + (%s < 16 ? %d : 0) - %s_x", p->name,
                   ambit__strip_inside(w, param, "beside"), w->n->dialect->thread[0],
                   w->lane - end * w->cells, p->name);
}

/* A pointer to the lane's first cell in the warp's first row, `plane` planes after `begin`. It is
 * in range even if the lane or the warp has no cell. */
static void let_pointer(const ambit__strip *w, int i, const char *tail, int plane)
{
  const ambit__param *p = ambit__nest_param(w->n, i);
  const char *place = ambit__nest_text(w->n, "%s_o", p->name);

  for (int d = 0; d < w->z; d++)
    place = ambit__nest_text(w->n, "%s + y%d * %s_s%d", place, d, p->name, d);
  if (w->z >= 0)
    place = ambit__nest_text(w->n, "%s + (begin%s) * %s_s%d", place, ambit__nest_more(w->n, plane),
                             p->name, w->z);
  if (w->y >= 0) place = ambit__nest_text(w->n, "%s + y * %s_s%d", place, p->name, w->y);
  ambit__nest_do(w->n, "%s%s%s *%s_%s = %s_mem + (%s + %s_x)", w->n->dialect->global,
                 p->is_written ? "" : "const ", ambit__nest_type(w->n, i), p->name, tail, p->name,
                 place, p->name);
}

static void let_slots(const ambit__strip *w, const ambit__strip_value *s, char kind, int cells)
{
  ambit__nest_node(w->n, NODE_ARRAY, .type = ambit__strip_type(w, s->param),
                   .name = ambit__strip_name(w, s, kind),
                   .size = {w->period, w->y < 0 ? cells : s->nrows, w->y < 0 ? 0 : cells});
}

void ambit__strip_let_fields(const ambit__strip *w)
{
  const int start = ambit__strip_start(w);

  for (int i = 0; i < w->n->rule->nparams; i++)
    if (ambit__nest_is_field(w->n, i)) let_column(w, i);
  for (int i = 0; i < w->n->rule->nparams; i++)
    if (ambit__nest_is_field(w->n, i) && ambit__nest_param(w->n, i)->is_written)
      let_pointer(w, i, "to", start);
  for (const ambit__strip_load *f = w->loads; f < w->loads + w->nloads; f++)
    if (!f->ring)
      let_pointer(w, f->param, ambit__nest_text(w->n, "at%d", f->number), start + f->low);
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++) {
    let_slots(w, s, 'w', s->left + w->units + s->right);
    if (s->end) let_slots(w, s, 'e', s->end);
  }
  if (w->ring) ambit__strip_let_ring(w);
}
