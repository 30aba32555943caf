/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_loads.c - the values that a warp holds in registers, and their loads.
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
 * inside. With wrapping rows, lanes beyond an end load from the other end; lanes further out load
 * the same as the last lane that is read.
 */
#include "plan/stream.h"

#include <stdio.h>

enum { VECTOR = 16 }; /* bytes of the widest access */

/* ---- addresses ---- */

static const char *name_of(const ambit__stream_job *j, int param)
{
  return j->gpu.rule->params[param].name;
}

void ambit__stream_name(const ambit__stream_job *j, const ambit__stream *s, char kind,
                        ambit__text *t)
{
  int n = 0;

  for (int i = 0; i < j->nstreams; i++)
    n += j->streams[i].param == s->param;
  ambit__print(t, "%s_%c", name_of(j, s->param), kind);
  if (n > 1) ambit__print(t, "%d", s->number);
}

void ambit__stream_print_name(const ambit__stream_job *j, const ambit__stream *s, char kind)
{
  ambit__stream_name(j, s, kind, j->gpu.t);
}

/* "[(p + 3) % 4]": the slot of the plane at z + p + `plane`. */
static void print_slot(const ambit__stream_job *j, int plane)
{
  const int n = j->period, slot = (plane % n + n) % n;

  if (n == 1)
    ambit__print(j->gpu.t, "[0]");
  else if (!slot)
    ambit__print(j->gpu.t, "[p]");
  else
    ambit__print(j->gpu.t, "[(p + %d) %% %d]", slot, n);
}

/* "[t + 1]" */
static void print_subscript(const ambit__stream_job *j, const char *name, int more)
{
  if (more)
    ambit__print(j->gpu.t, "[%s + %d]", name, more);
  else
    ambit__print(j->gpu.t, "[%s]", name);
}

/* Whether the plane of the cells that are computed is in an array of its own, u_c, and u_w has the
 * warp's own cells only. */
static bool has_centre(const ambit__stream_job *j, const ambit__stream *s)
{
  return j->centre && s->ring;
}

void ambit__stream_print_read(const ambit__stream_job *j, const ambit__stream *s, const int *offset)
{
  if (has_centre(j, s) && !offset[j->z]) {
    ambit__stream_print_name(j, s, 'c');
    print_subscript(j, "t", s->below + offset[j->y]);
    return;
  }
  ambit__stream_print_name(j, s, 'w');
  print_slot(j, offset[j->z]);
  if (j->y >= 0) print_subscript(j, "t", has_centre(j, s) ? 0 : s->below + offset[j->y]);
}

void ambit__stream_print_cell(const ambit__stream_job *j, int param, int component,
                              const int *offset)
{
  const ambit__stream *s = ambit__stream_find(j, param, component, offset);

  if (j->cells > 1) ambit__print(j->gpu.t, j->cells > 2 ? "ambit_byte(" : "ambit_short(");
  ambit__stream_print_read(j, s, offset);
  if (j->cells > 1)
    ambit__print(j->gpu.t, ", %s + %d)", ambit__stream_cell(j), s->left * j->cells + offset[j->x]);
  else
    print_subscript(j, "j", has_centre(j, s) && offset[j->z] ? 0 : s->left + offset[j->x]);
}

void ambit__stream_print_arrived(const ambit__stream_job *j, const ambit__stream *s, int dx)
{
  ambit__stream_print_name(j, s, 'w');
  print_slot(j, j->high);
  if (j->y >= 0) ambit__print(j->gpu.t, "[q]");
  print_subscript(j, "j", s->left + dx);
}

/* The type of a unit. */
static const char *unit_type(const ambit__stream_job *j, int param)
{
  return j->cells > 1 ? "ambit_u32" : ambit__gpucode_type(&j->gpu, param);
}

/* "(const ambit_u32 *)(": where units are not cells, their addresses are converted. */
static void open_address(const ambit__stream_job *j)
{
  if (j->cells > 1) ambit__print(j->gpu.t, "(%sconst ambit_u32 *)(", j->gpu.dialect->global);
}

static void close_address(const ambit__stream_job *j)
{
  if (j->cells > 1) ambit__print(j->gpu.t, ")");
}

void ambit__stream_print_call(const ambit__stream_job *j, const char *name, int param, int n)
{
  ambit__gpucode_print_call(&j->gpu, name, param < 0 ? NULL : unit_type(j, param), n);
}

void ambit__stream_unroll(const ambit__stream_job *j, const char *name, int from, int end)
{
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(j->gpu.w, "for (int %s = %d; %s < %d; %s++)", name, from, name, end, name);
}

/* ---- one row ---- */

/* " + 2", " - 1", or nothing */
static void print_more(const ambit__stream_job *j, int more)
{
  if (more) ambit__print(j->gpu.t, " %s %d", more < 0 ? "-" : "+", more < 0 ? -more : more);
}

int ambit__stream_start(const ambit__stream_job *j)
{
  return 1 - j->span;
}

void ambit__stream_print_moment(const ambit__stream_job *j, const ambit__stream_moment *m)
{
  int shift = m->more - ambit__stream_start(j);

  while (m->is_first && m->plane + shift < 0)
    shift += j->period;
  if (!m->is_first || j->period == 1)
    print_slot(j, m->plane);
  else if (shift)
    ambit__print(j->gpu.t, "[(k + %d) %% %d]", shift, j->period);
  else
    ambit__print(j->gpu.t, "[k %% %d]", j->period);
}

/* "u_w[(p + 3) % 4][q]" */
static void print_row(const ambit__stream_job *j, const ambit__stream *s,
                      const ambit__stream_moment *m, char kind)
{
  ambit__stream_print_name(j, s, kind);
  ambit__stream_print_moment(j, m);
  if (has_centre(j, s))
    ambit__print(j->gpu.t, "[q - %d]", s->below);
  else if (j->y >= 0)
    ambit__print(j->gpu.t, "[q]");
}

/* "u_at0 + (q - 1) * u_s1": the lane's cells in row q of the current plane of a front. */
static void print_place(const ambit__stream_job *j, const ambit__stream *s, int front)
{
  const char *name = name_of(j, s->param);
  bool is_elsewhere = s->component != 0;

  for (int d = 0; d < j->z; d++)
    is_elsewhere = is_elsewhere || s->outer[d];
  ambit__print(j->gpu.t, "%s_at%d", name, j->fronts[front].number);
  if (j->y >= 0 && s->below)
    ambit__print(j->gpu.t, " + (q - %d) * %s_s%d", s->below, name, j->y);
  else if (j->y >= 0)
    ambit__print(j->gpu.t, " + q * %s_s%d", name, j->y);
  if (is_elsewhere) {
    ambit__print(j->gpu.t, " + (");
    ambit__gpucode_print_offset(&j->gpu, s->param, s->component, s->outer);
    ambit__print(j->gpu.t, ")");
  }
}

/* "if (k >= 0 && k < 4) ", unless the condition holds for all planes of the front that are loaded
 * before the loop. */
static void print_range(const ambit__stream_job *j, int front, int low, int high)
{
  const int start = ambit__stream_start(j);

  if (low == j->fronts[front].low && high == j->fronts[front].high) return;
  ambit__print(j->gpu.t, "if (k >= %d && k < %d) ", start + low,
               start + high + j->fronts[front].ahead);
}

/* The load function: early loads must be issued before any computation. In OpenCL vectors of 16
 * bytes are loaded so in all tiles: NVIDIA's compiler would delay loads past the barrier (D3Q19
 * with walls had 15.4 Gcells/s on an H200, now 20.5). Not where stores go to the same addresses,
 * which that compiler (of CUDA 13.0) then computes after the loads that need them. */
static const char *load_of(const ambit__stream_job *j, int param)
{
  const ambit__param *p = &j->gpu.rule->params[param];
  const bool in_tile = j->planes && !j->gpu.dialect->has_lanes;
  const bool is_vector = (size_t)j->lane * ambit_type_size(p->type) == VECTOR && j->cells == 1;

  if (in_tile && p->is_written) return "ambit_load";
  return j->pinned || (is_vector && (j->centre || in_tile)) ? "ambit_load_now" : "ambit_load";
}

static void emit_load(const ambit__stream_job *j, const ambit__stream *s,
                      const ambit__stream_row *r, const ambit__stream_moment *m)
{
  ambit__line_begin(j->gpu.w);
  if (m->is_first && j->planes) print_range(j, r->front, r->low, r->high);
  ambit__stream_print_call(j, s->held ? "ambit_copy" : load_of(j, s->param), s->param, j->units);
  if (s->held) {
    ambit__stream_print_held(j, s, m, "q");
    ambit__print(j->gpu.t, ", ");
  } else {
    ambit__print(j->gpu.t, "&");
    print_row(j, s, m, 'w');
    ambit__print(j->gpu.t, "[%d], ", has_centre(j, s) ? 0 : s->left);
  }
  open_address(j);
  print_place(j, s, r->front);
  close_address(j);
  ambit__line_end(j->gpu.w, ");");
}

/* The place of the row whose cells beside the strip or the lane are loaded at a moment. */
static void print_end_place(const ambit__stream_job *j, const ambit__stream *s,
                            const ambit__stream_row *r, const ambit__stream_moment *m)
{
  const int high = j->fronts[r->front].high;

  print_place(j, s, r->front);
  if (!m->is_first && r->edge != high)
    ambit__print(j->gpu.t, " - %d * %s_s%d", high - r->edge, name_of(j, s->param), j->z);
}

/* The moment at which they are needed. */
static ambit__stream_moment end_moment(const ambit__stream_job *j, const ambit__stream_row *r,
                                       const ambit__stream_moment *m)
{
  return (ambit__stream_moment){.is_first = m->is_first,
                                .plane =
                                    m->is_first ? m->plane : r->edge + j->fronts[r->front].ahead};
}

/* The cells beside the lane's in row q. */
static void emit_beside(const ambit__stream_job *j, const ambit__stream *s,
                        const ambit__stream_row *r, const ambit__stream_moment *m)
{
  const ambit__stream_moment at = end_moment(j, r, m);

  for (int i = 0; i < s->left + s->right; i++) {
    const bool before = i < s->left;
    const int cell = (before ? j->units - s->left + i : i - s->left) * j->cells;

    ambit__line_begin(j->gpu.w);
    if (m->is_first) print_range(j, r->front, r->edge_low, r->edge);
    print_row(j, s, &at, 'w');
    ambit__print(j->gpu.t, "[%d] = *", before ? i : i + j->units);
    if (j->cells > 1)
      open_address(j);
    else
      ambit__print(j->gpu.t, "(");
    print_end_place(j, s, r, m);
    ambit__print(j->gpu.t, " + %s_%s", name_of(j, s->param), before ? "before" : "after");
    print_more(j, cell);
    ambit__line_end(j->gpu.w, ");");
  }
}

/* The cells beside the strip in row q; in the planes before the loop, only where they are read. */
static void emit_end(const ambit__stream_job *j, const ambit__stream *s, const ambit__stream_row *r,
                     const ambit__stream_moment *m)
{
  const ambit__stream_moment at = end_moment(j, r, m);

  if (j->apart) {
    emit_beside(j, s, r, m);
    return;
  }
  ambit__line_begin(j->gpu.w);
  if (m->is_first) print_range(j, r->front, r->edge_low, r->edge);
  ambit__stream_print_call(j, load_of(j, s->param), s->param, s->end);
  print_row(j, s, &at, 'e');
  ambit__print(j->gpu.t, ", ");
  open_address(j);
  print_end_place(j, s, r, m);
  ambit__print(j->gpu.t, " + %s_beside", name_of(j, s->param));
  close_address(j);
  ambit__line_end(j->gpu.w, ");");
}

/* Cells beside this lane's, from the adjacent lanes. */
static void emit_edges(const ambit__stream_job *j, const ambit__stream *s,
                       const ambit__stream_moment *m)
{
  for (int i = 0; i < s->left + s->right; i++) {
    const bool before = i < s->left;

    ambit__line_begin(j->gpu.w);
    print_row(j, s, m, 'w');
    ambit__print(j->gpu.t, "[%d] = %s", before ? i : i + j->units,
                 before ? "ambit_before" : "ambit_after");
    if (!j->gpu.dialect->has_lanes) ambit__print(j->gpu.t, "_%s", unit_type(j, s->param));
    ambit__print(j->gpu.t, "(");
    print_row(j, s, m, 'w');
    ambit__print(j->gpu.t, "[%d], ", before ? i + j->units : i);
    print_row(j, s, m, 'e');
    ambit__print(j->gpu.t, "[%d])", before ? s->end - s->left + i : i - s->left);
    ambit__line_end(j->gpu.w, ";");
  }
}

/* ---- planes ---- */

/* The end of the rows of a stream that begin with row q and have the same properties. */
static int loaded_together(const ambit__stream *s, int q)
{
  const ambit__stream_row *r = &s->rows[q];

  do
    q++;
  while (q < s->nrows && s->rows[q].is_read == r->is_read && s->rows[q].front == r->front &&
         s->rows[q].low == r->low && s->rows[q].high == r->high &&
         s->rows[q].has_edges == r->has_edges && s->rows[q].edge == r->edge &&
         s->rows[q].edge_low == r->edge_low);
  return q;
}

static int shared_together(const ambit__stream *s, int q)
{
  const ambit__stream_row *r = &s->rows[q];

  do
    q++;
  while (q < s->nrows && s->rows[q].has_edges == r->has_edges && s->rows[q].edge == r->edge &&
         s->rows[q].edge_low == r->edge_low);
  return q;
}

static void advance_front(const ambit__stream_job *j, const ambit__stream_front *f,
                          const ambit__stream_moment *m, const char *plane)
{
  const char *name = name_of(j, f->param);

  if (j->planes)
    ambit__line(j->gpu.w, "%s_at%d += %s_s%d;", name, f->number, name, j->z);
  else
    ambit__line(j->gpu.w, "%s_at%d += %s < %s %s %d ? %s_s%d : 0;", name, f->number, plane,
                m->is_first || !j->ring ? "n" : "rest", f->high < 1 ? "-" : "+",
                f->high < 1 ? 1 - f->high : f->high - 1, name, j->z);
}

/* Loads all rows of a front, and advances it to its next plane. */
static void load_front(const ambit__stream_job *j, int front, const ambit__stream_moment *m,
                       const char *plane)
{
  const ambit__stream_front *f = &j->fronts[front];

  for (int i = 0; i < j->nstreams; i++) {
    const ambit__stream *s = &j->streams[i];
    int end;

    for (int q = 0; s->param == f->param && q < s->nrows; q = end) {
      end = loaded_together(s, q);
      if (!s->rows[q].is_read || s->rows[q].front != front) continue;
      if (j->y >= 0) ambit__stream_unroll(j, "q", q, end);
      emit_load(j, s, &s->rows[q], m);
      if (s->rows[q].has_edges && !s->ring) emit_end(j, s, &s->rows[q], m);
      if (j->y >= 0) ambit__close(j->gpu.w);
    }
  }
  advance_front(j, f, m, plane);
}

static void share_first(const ambit__stream_job *j, const ambit__stream *s,
                        const ambit__stream_row *r)
{
  const int from = ambit__stream_start(j) + r->edge_low;
  const ambit__stream_moment m = {.is_first = true, .plane = from};

  ambit__stream_unroll(j, "k", from, ambit__stream_start(j) + r->edge + j->planes);
  emit_edges(j, s, &m);
  ambit__close(j->gpu.w);
}

static void share_next(const ambit__stream_job *j, const ambit__stream *s,
                       const ambit__stream_row *r)
{
  const ambit__stream_moment m = {.plane = r->edge};

  emit_edges(j, s, &m);
}

/* Calls f for all rows in which cells of adjacent lanes are read; with `kept`, only for those read
 * so in several planes at a time (tiles: all). */
static void share(const ambit__stream_job *j, bool kept,
                  void (*f)(const ambit__stream_job *, const ambit__stream *,
                            const ambit__stream_row *))
{
  for (int i = 0; !j->apart && i < j->nstreams; i++) {
    const ambit__stream *s = &j->streams[i];
    int end;

    for (int q = 0; !s->ring && q < s->nrows; q = end) {
      end = shared_together(s, q);
      if (!s->rows[q].has_edges) continue;
      if (kept && !j->planes && s->rows[q].edge_low == s->rows[q].edge) continue;
      if (j->y >= 0) ambit__stream_unroll(j, "q", q, end);
      f(j, s, &s->rows[q]);
      if (j->y >= 0) ambit__close(j->gpu.w);
    }
  }
}

void ambit__stream_load_first(const ambit__stream_job *j)
{
  const int start = ambit__stream_start(j);

  for (int i = 0; i < j->nfronts; i++) {
    const ambit__stream_moment m = {.is_first = true, .plane = start + j->fronts[i].low};

    if (j->fronts[i].ring) continue;
    if (j->fronts[i].low == j->fronts[i].high + j->fronts[i].ahead) continue;
    ambit__stream_unroll(j, "k", m.plane, start + j->fronts[i].high + j->fronts[i].ahead);
    load_front(j, i, &m, "k");
    ambit__close(j->gpu.w);
  }
  if (j->ring) ambit__stream_ring_first(j);
  if (j->planes) { /* compilers move no loads across a barrier, and nothing else across a branch */
    if (!j->apart || !j->gpu.dialect->has_lanes || j->cells > 1 || j->near)
      ambit__line(j->gpu.w, "%s;", j->gpu.dialect->barrier);
    ambit__gpucode_emit_ended(&j->gpu);
  }
  share(j, true, share_first);
}

/* "z + p + 3": the plane that a front loads in a phase of the loop. */
static ambit__stream_moment next_of(const ambit__stream_job *j, const ambit__stream_front *f,
                                    char plane[40])
{
  const int n = f->high + f->ahead;

  snprintf(plane, 40, "%sp %s %d", j->ring ? "" : "z + ", n < 0 ? "-" : "+", n < 0 ? -n : n);
  return (ambit__stream_moment){.plane = n};
}

void ambit__stream_load_next(const ambit__stream_job *j)
{
  if (j->ring) ambit__line(j->gpu.w, "if (p >= rest) break;");
  for (int i = 0; i < j->nfronts; i++) {
    char plane[40];
    const ambit__stream_moment m = next_of(j, &j->fronts[i], plane);

    if (!j->fronts[i].ring && !j->fronts[i].after) load_front(j, i, &m, plane);
  }
  if (j->ring) ambit__stream_ring_next(j);
  if (j->pinned) {
    ambit__line(j->gpu.w, "ambit_pin();");
    ambit__line(j->gpu.w, "if (z + p >= n) break;");
  }
  if (!j->by_rows) share(j, false, share_next);
}

void ambit__stream_load_after(const ambit__stream_job *j)
{
  for (int i = 0; i < j->nstreams; i++) {
    const ambit__stream *s = &j->streams[i];
    const ambit__stream_row *r = &s->rows[s->below];
    char plane[40];
    ambit__stream_moment m;

    if (!r->is_read || !j->fronts[r->front].after) continue;
    m = next_of(j, &j->fronts[r->front], plane);
    ambit__line(j->gpu.w, "{");
    j->gpu.w->depth++;
    ambit__line(j->gpu.w, "const int q = t + %d;", s->below);
    emit_load(j, s, r, &m);
    ambit__close(j->gpu.w);
  }
}

void ambit__stream_advance_after(const ambit__stream_job *j)
{
  for (int i = 0; i < j->nfronts; i++) {
    char plane[40];
    const ambit__stream_moment m = next_of(j, &j->fronts[i], plane);

    if (j->fronts[i].after) advance_front(j, &j->fronts[i], &m, plane);
  }
}

void ambit__stream_share_arrived(const ambit__stream_job *j, const ambit__stream *s)
{
  int end;

  for (int q = 0; !j->apart && q < s->nrows; q = end) {
    const bool all = j->y < 0 || (q == 0 && shared_together(s, q) == s->nrows);

    end = shared_together(s, q);
    if (!s->rows[q].has_edges) continue;
    if (!all) ambit__open(j->gpu.w, "if (q >= %d && q < %d)", q, end);
    share_next(j, s, &s->rows[q]);
    if (!all) ambit__close(j->gpu.w);
  }
}

void ambit__stream_rotate(const ambit__stream_job *j, const char *name, int param, int n, int rows,
                          int cells)
{
  const char *at = j->y >= 0 ? "[q][k]" : "[k]";

  if (j->gpu.dialect->has_lanes) {
    ambit__line(j->gpu.w, "ambit_rotate(%s);", name);
    return;
  }
  if (j->y >= 0) ambit__stream_unroll(j, "q", 0, rows);
  ambit__stream_unroll(j, "k", 0, cells);
  ambit__line(j->gpu.w, "const %s first = %s[0]%s;", unit_type(j, param), name, at);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int i = 1; i < %d; i++) %s[i - 1]%s = %s[i]%s;", n, name, at, name,
              at);
  ambit__line(j->gpu.w, "%s[%d]%s = first;", name, n - 1, at);
  ambit__close(j->gpu.w);
  if (j->y >= 0) ambit__close(j->gpu.w);
}

void ambit__stream_move(const ambit__stream_job *j)
{
  for (int i = 0; i < j->nstreams; i++)
    for (int ends = 0; ends <= (j->streams[i].end > 0); ends++) {
      const ambit__stream *s = &j->streams[i];
      ambit__text name = {0};

      ambit__stream_name(j, s, ends ? 'e' : 'w', &name);
      ambit__stream_rotate(j, name.chars ? name.chars : "", s->param, j->period, s->nrows,
                           ends ? s->end : s->left + j->units + s->right);
      ambit__text_free(&name);
    }
}

/* ---- fields ---- */

void ambit__stream_print_inside(const ambit__stream_job *j, int param, const char *x)
{
  const ambit__param *p = &j->gpu.rule->params[param];
  const bool wraps = j->gpu.bind[param].wraps_rows;

  ambit__print(j->gpu.t, "%sambit_between((low%d", wraps ? "ambit_wrap(" : "", j->x);
  print_more(j, -p->low[j->x]);
  ambit__print(j->gpu.t, ") & -%d, %s, (high%d", j->lane, x, j->x);
  print_more(j, p->high[j->x] - 1);
  ambit__print(j->gpu.t, ") & -%d)", j->lane);
  if (wraps) ambit__print(j->gpu.t, ", (int)extent%d)", j->x);
}

/* "const int u_before = ... - u_x;": the distance from the lane's cells to the vector at x. */
static void declare_distance(const ambit__stream_job *j, int param, const char *tail, const char *x)
{
  const char *name = name_of(j, param);

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int %s_%s = ", name, tail);
  ambit__stream_print_inside(j, param, x);
  ambit__print(j->gpu.t, " - %s_x", name);
  ambit__line_end(j->gpu.w, ";");
}

/* The same for the vectors before and after the lane's cells. */
static void declare_beside(const ambit__stream_job *j, int param)
{
  char x[32];

  snprintf(x, sizeof x, "x - %d", j->lane);
  if (j->gpu.rule->params[param].low[j->x]) declare_distance(j, param, "before", x);
  snprintf(x, sizeof x, "x + %d", j->lane);
  if (j->gpu.rule->params[param].high[j->x]) declare_distance(j, param, "after", x);
}

/* Whether the cells beside a lane's come from shared memory. */
static bool is_shared(const ambit__stream_job *j, int param)
{
  for (int i = 0; i < j->nstreams; i++)
    if (j->streams[i].param == param && j->streams[i].ring) return true;
  return false;
}

/* The position of the lane's cells, and the distance from them to those beside the strip. */
static void declare_column(const ambit__stream_job *j, int param)
{
  const ambit__param *p = &j->gpu.rule->params[param];
  int end = 0;

  for (int i = 0; i < j->nstreams; i++)
    if (j->streams[i].param == param) end = j->streams[i].end;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int %s_x = ", p->name);
  ambit__stream_print_inside(j, param, "x");
  ambit__line_end(j->gpu.w, ";");
  if (j->apart && !is_shared(j, param)) declare_beside(j, param);
  if (!end) return;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int %s_beside = ", p->name);
  ambit__stream_print_inside(j, param, "beside");
  ambit__print(j->gpu.t, " + (%s < 16 ? %d : 0) - %s_x", j->gpu.dialect->thread[0],
               j->lane - end * j->cells, p->name);
  ambit__line_end(j->gpu.w, ";");
}

/* A pointer to the lane's first cell in the warp's first row, `plane` planes after `begin`. It is
 * in range even if the lane or the warp has no cell. */
static void declare_pointer(const ambit__stream_job *j, int i, const char *tail, int plane)
{
  const ambit__param *p = &j->gpu.rule->params[i];

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s%s%s *%s_%s = %s_mem + (%s_o", j->gpu.dialect->global,
               p->is_written ? "" : "const ", ambit__gpucode_type(&j->gpu, i), p->name, tail,
               p->name, p->name);
  for (int d = 0; d < j->z; d++)
    ambit__print(j->gpu.t, " + y%d * %s_s%d", d, p->name, d);
  ambit__print(j->gpu.t, " + (begin");
  print_more(j, plane);
  ambit__print(j->gpu.t, ") * %s_s%d", p->name, j->z);
  if (j->y >= 0) ambit__print(j->gpu.t, " + y * %s_s%d", p->name, j->y);
  ambit__print(j->gpu.t, " + %s_x", p->name);
  ambit__line_end(j->gpu.w, ");");
}

static void declare_stream(const ambit__stream_job *j, const ambit__stream *s)
{
  const bool own = has_centre(j, s);

  for (int ends = 0; ends <= (s->end > 0); ends++) {
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "%s ", unit_type(j, s->param));
    ambit__stream_print_name(j, s, ends ? 'e' : 'w');
    ambit__print(j->gpu.t, "[%d]", j->period);
    if (j->y >= 0) ambit__print(j->gpu.t, "[%d]", own ? j->rows : s->nrows);
    ambit__print(j->gpu.t, "[%d]", ends ? s->end : own ? j->units : s->left + j->units + s->right);
    ambit__line_end(j->gpu.w, ";");
  }
}

void ambit__stream_declare_fields(const ambit__stream_job *j)
{
  for (int i = 0; i < j->gpu.rule->nparams; i++)
    if (ambit__gpucode_is_field(&j->gpu, i)) declare_column(j, i);
  for (int i = 0; i < j->gpu.rule->nparams; i++)
    if (ambit__gpucode_is_field(&j->gpu, i) && j->gpu.rule->params[i].is_written)
      declare_pointer(j, i, "to", ambit__stream_start(j));
  for (int i = 0; i < j->nfronts; i++) {
    char tail[16];

    if (j->fronts[i].ring) continue;
    snprintf(tail, sizeof tail, "at%d", j->fronts[i].number);
    declare_pointer(j, j->fronts[i].param, tail, ambit__stream_start(j) + j->fronts[i].low);
  }
  for (int i = 0; i < j->nstreams; i++)
    declare_stream(j, &j->streams[i]);
  if (j->ring) ambit__stream_declare_ring(j);
}
