/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ring.c - rules that reach far along y: planes go through a ring in shared memory.
 *
 * The warps of a block copy the rows of whole planes, with those beside the block's, into the slots
 * of a ring, some planes ahead and without registers. A warp keeps its own rows of all planes in
 * registers, as windows do; it takes a row from the ring when it arrives. The rows of other warps,
 * and the cells beside its own, it takes when they are used: a warp that loaded them from memory
 * would wait for its loads ahead, as the first-level cache answers in order.
 *
 * The plane at z + p is in the slot that has its number in the registers, too (stream_loads.c). One
 * barrier per plane: after it, all of a plane has arrived, and the slot to be filled next is free.
 */
#include "plan/stream.h"

#include <stdio.h>
#include <stdlib.h>

enum {
  LEAST_REACH = 4, /* along y; up to 3, plans without a ring are as fast */
  VECTOR = 16,     /* bytes of a copy */
  PLAIN = 48 << 10 /* bytes of shared memory that every launch has */
};

/* ---- what is in the ring ---- */

int ambit__stream_ring_rows(const ambit__stream_job *j, const ambit__stream *s)
{
  return s->below + j->warps * j->rows + s->above;
}

int ambit__stream_ring_width(const ambit__stream_job *j, const ambit__stream *s)
{
  return s->left + AMBIT__STREAM_WARP * j->lane + s->right;
}

/* Cells of a slot. */
static int slot_of(const ambit__stream_job *j, const ambit__stream *s)
{
  return ambit__stream_ring_rows(j, s) * ambit__stream_ring_width(j, s);
}

static int slots_of(const ambit__stream_job *j)
{
  return j->centre ? 2 : j->period;
}

static bool is_own(const ambit__stream_job *j, const ambit__stream *s, int row)
{
  return row >= s->below && row < s->below + j->rows;
}

/* Whether the rows of a stream are of use in a ring: those of other warps are read in one plane
 * only, and without the cells beside them, as stars do. */
static bool is_star(const ambit__stream_job *j, const ambit__stream *s)
{
  for (int q = 0; q < s->nrows; q++) {
    const ambit__stream_row *r = &s->rows[q];
    const bool own = is_own(j, s, q);

    if (r->is_read && !own && (r->low != r->high || r->has_edges)) return false;
    if (r->has_edges && r->edge_low != r->edge) return false;
    if (own && !r->is_read) return false;
  }
  return true;
}

static bool reaches_far(const ambit__stream *s)
{
  return s->below >= LEAST_REACH || s->above >= LEAST_REACH;
}

/* Cells beside a lane's are taken in whole vectors. */
static int whole_vectors(const ambit__stream_job *j, int cells)
{
  return (cells + j->lane - 1) / j->lane * j->lane;
}

bool ambit__stream_find_ring(const ambit__rule *rule, ambit__stream_job *j)
{
  bool any = false;

  if (j->y < 0 || j->planes || j->taps || j->cells > 1) return false;
  for (int i = 0; i < j->nstreams; i++) {
    ambit__stream *s = &j->streams[i];

    for (int k = 0; k < j->nstreams; k++)
      s->ring = s->ring || (j->streams[k].param == s->param && reaches_far(&j->streams[k]));
    if (!s->ring) continue;
    if (!is_star(j, s) || j->warps < s->below + s->above) return false;
    if (j->centre && !ambit__stream_is_central(j, s)) return false;
    if (j->lane * (int)ambit_type_size(rule->params[s->param].type) % VECTOR) return false;
    s->left = whole_vectors(j, s->left);
    s->right = whole_vectors(j, s->right);
    if ((s->left + s->right) / j->lane * j->rows > AMBIT__STREAM_WARP) return false;
    any = true;
  }
  return any;
}

/* The last plane that arrives; `oldest`: the first one that is still taken from the ring then. */
static int newest(const ambit__stream_job *j, int *oldest)
{
  int high = INT32_MIN, low = INT32_MAX;

  for (int i = 0; i < j->nstreams; i++)
    for (int q = 0; j->streams[i].ring && q < j->streams[i].nrows; q++) {
      const ambit__stream_row *r = &j->streams[i].rows[q];

      if (r->is_read && r->high > high) high = r->high;
      if (r->is_read && r->high < low) low = r->high;
      if (r->has_edges && r->edge < low) low = r->edge;
    }
  if (oldest) *oldest = low;
  return high;
}

int ambit__stream_ring_ahead(const ambit__stream_job *j)
{
  int oldest;
  const int high = newest(j, &oldest), ahead = j->period - (high - oldest + 1);

  return ahead < 0 ? 0 : ahead;
}

/* Bytes of the rings before that of a stream. */
static size_t bytes_before(const ambit__stream_job *j, const ambit__rule *rule,
                           const ambit__stream *end)
{
  size_t n = 0;

  for (const ambit__stream *s = j->streams; s < end; s++)
    if (s->ring)
      n += (size_t)(slots_of(j) * slot_of(j, s)) * ambit_type_size(rule->params[s->param].type);
  return n;
}

size_t ambit__stream_ring_bytes(const ambit__stream_job *j, const ambit__rule *rule)
{
  const size_t n =
      bytes_before(j, rule, j->streams + j->nstreams) + ambit__stream_held_bytes(j, rule);

  if (j->centre) return n;
  return n && n <= PLAIN ? PLAIN + 1 : n; /* more than launches have that know of no ring */
}

/* ---- names ---- */

static const char *name_of(const ambit__stream_job *j, const ambit__stream *s)
{
  return j->gpu.rule->params[s->param].name;
}

int ambit__stream_ring_beside(const ambit__stream_job *j, const ambit__stream *s)
{
  return (s->left + s->right) / j->lane;
}

void ambit__stream_ring_place(const ambit__stream_job *j, const ambit__stream *s, char kind)
{
  const char *type = ambit__gpucode_type(&j->gpu, s->param);
  const char *space = j->gpu.dialect->shared_pointer;
  const int n = slot_of(j, s);

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s%s (*const ", space, type);
  ambit__stream_print_name(j, s, kind);
  ambit__print(j->gpu.t, ")[%d] = (%s%s(*)[%d])((%s%s *)(bytes + %zu) + ", n, space, type, n, space,
               type, bytes_before(j, j->gpu.rule, s));
}

void ambit__stream_ring_slot(const ambit__stream_job *j, const ambit__stream_moment *m)
{
  if (!j->centre)
    ambit__stream_print_moment(j, m);
  else
    ambit__print(j->gpu.t, m->is_first ? "[%d]" : "[(p + %d) %% 2]", m->plane);
}

/* ---- declarations ---- */

/* "ambit_least(top + (int)threadIdx.y + 12, high1 + 3)": a row of the block that exists. */
static const char *source_row(const ambit__stream_job *j, const ambit__stream *s, const char *row,
                              int more, char *to, size_t size)
{
  snprintf(to, size, "ambit_least(top + %s %s %d, high%d + %d)", row, more < 0 ? "-" : "+",
           more < 0 ? -more : more, j->y, s->above - 1);
  return to;
}

void ambit__stream_ring_declare_cells(const ambit__stream_job *j, const ambit__stream *s, int plane)
{
  const char *name = name_of(j, s);
  const int here[AMBIT_MAX_DIMS] = {0};

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%sconst %s *", j->gpu.dialect->global,
               ambit__gpucode_type(&j->gpu, s->param));
  ambit__stream_print_name(j, s, 'f');
  ambit__print(j->gpu.t, " = %s_mem + (%s_o + (begin %s %d) * %s_s%d + ", name, name,
               plane < 0 ? "-" : "+", plane < 0 ? -plane : plane, name, j->z);
  ambit__stream_print_name(j, s, 'y');
  ambit__print(j->gpu.t, " * %s_s%d + %s_x", name, j->y, name);
  if (s->component) {
    ambit__print(j->gpu.t, " + ");
    ambit__gpucode_print_offset(&j->gpu, s->param, s->component, here);
  }
  ambit__line_end(j->gpu.w, ");");
}

/* u_f: the lane's cells in the first row that the warp copies. u_f1, u_f2: the distances from there
 * to its other rows, which are `warps` rows apart. */
static void declare_rows(const ambit__stream_job *j, const ambit__stream *s, int plane)
{
  const char *name = name_of(j, s), *warp = j->gpu.dialect->thread[1];
  char row[160];

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int ");
  ambit__stream_print_name(j, s, 'y');
  ambit__print(j->gpu.t, " = %s", source_row(j, s, warp, -s->below, row, sizeof row));
  ambit__line_end(j->gpu.w, ";");
  ambit__stream_ring_declare_cells(j, s, plane);
  for (int i = 1; i * j->warps < ambit__stream_ring_rows(j, s); i++) {
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "const int ");
    ambit__stream_print_name(j, s, 'f');
    ambit__print(j->gpu.t, "_%d = (%s - ", i,
                 source_row(j, s, warp, i * j->warps - s->below, row, sizeof row));
    ambit__stream_print_name(j, s, 'y');
    ambit__print(j->gpu.t, ") * (int)%s_s%d", name, j->y);
    ambit__line_end(j->gpu.w, ";");
  }
  ambit__stream_ring_place(j, s, 'p');
  ambit__print(j->gpu.t, "%s * %d + x - left + %d", warp, ambit__stream_ring_width(j, s), s->left);
  ambit__line_end(j->gpu.w, ");");
}

void ambit__stream_ring_declare_beside(const ambit__stream_job *j, const ambit__stream *s,
                                       const char *place, const char *row)
{
  const char *name = name_of(j, s), *lane = j->gpu.dialect->thread[0];
  const int n = ambit__stream_ring_beside(j, s);
  ambit__text x = {0};
  char column[160];

  snprintf(column, sizeof column, "%s %% %d * %d + (%s %% %d < %d ? 0 : %d)", lane, n, j->lane,
           lane, n, s->left / j->lane, AMBIT__STREAM_WARP * j->lane);
  ambit__stream_ring_place(j, s, 'b');
  ambit__print(j->gpu.t, "(%s) * %d + %s", place, ambit__stream_ring_width(j, s), column);
  ambit__line_end(j->gpu.w, ");");
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int ");
  ambit__stream_print_name(j, s, 'q');
  ambit__print(j->gpu.t, " = left - %d + %s", s->left, column);
  ambit__line_end(j->gpu.w, ";");
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int ");
  ambit__stream_print_name(j, s, 'd');
  ambit__print(j->gpu.t, " = (%s - ", row);
  ambit__stream_print_name(j, s, 'y');
  ambit__print(j->gpu.t, ") * (int)%s_s%d + ", name, j->y);
  ambit__stream_name(j, s, 'q', &x);
  ambit__stream_print_inside(j, s->param, x.chars ? x.chars : "");
  ambit__text_free(&x);
  ambit__print(j->gpu.t, " - %s_x", name);
  ambit__line_end(j->gpu.w, ";");
}

/* A lane copies one of the vectors beside the strip, if it does. */
static void declare_beside(const ambit__stream_job *j, const ambit__stream *s)
{
  const int n = ambit__stream_ring_beside(j, s);
  char row[120], place[160], source[240];

  if (!n) return;
  snprintf(row, sizeof row, "%s * %d + ambit_least(%s / %d, %d)", j->gpu.dialect->thread[1],
           j->rows, j->gpu.dialect->thread[0], n, j->rows - 1);
  snprintf(place, sizeof place, "%d + %s", s->below, row);
  ambit__stream_ring_declare_beside(j, s, place, source_row(j, s, row, 0, source, sizeof source));
}

/* The first plane that is copied. */
static int first_plane(const ambit__stream_job *j)
{
  int low = INT32_MAX;

  for (int i = 0; i < j->nstreams; i++)
    for (int q = 0; j->streams[i].ring && q < j->streams[i].nrows; q++)
      if (j->streams[i].rows[q].is_read && j->streams[i].rows[q].low < low)
        low = j->streams[i].rows[q].low;
  return low;
}

void ambit__stream_declare_ring(const ambit__stream_job *j)
{
  const int plane = first_plane(j);

  if (!j->centre) ambit__line(j->gpu.w, "AMBIT_SHARED_BYTES(bytes);");
  ambit__stream_declare_held(j, bytes_before(j, j->gpu.rule, j->streams + j->nstreams));
  for (int i = 0; i < j->nstreams; i++) {
    const ambit__stream *s = &j->streams[i];

    if (!s->ring) continue;
    if (j->centre) {
      ambit__stream_declare_centre(j, s);
    } else {
      declare_rows(j, s, plane);
      declare_beside(j, s);
    }
    ambit__stream_ring_place(j, s, 'r');
    ambit__print(j->gpu.t, "(y - top + %d) * %d + x - left + %d", s->below,
                 ambit__stream_ring_width(j, s), s->left);
    ambit__line_end(j->gpu.w, ");");
  }
}

/* ---- copies ---- */

/* "ambit_copy<4>(u_p[(p + 8) % 9] + 2176, u_f + u_f_1);" */
static void copy_row(const ambit__stream_job *j, const ambit__stream *s,
                     const ambit__stream_moment *m, int i)
{
  const int rest = ambit__stream_ring_rows(j, s) - i * j->warps;

  ambit__line_begin(j->gpu.w);
  if (rest < j->warps) ambit__print(j->gpu.t, "if (%s < %d) ", j->gpu.dialect->thread[1], rest);
  ambit__stream_print_call(j, "ambit_copy", s->param, j->lane);
  ambit__stream_print_name(j, s, 'p');
  ambit__stream_print_moment(j, m);
  if (i) ambit__print(j->gpu.t, " + %d", i * j->warps * ambit__stream_ring_width(j, s));
  ambit__print(j->gpu.t, ", ");
  ambit__stream_print_name(j, s, 'f');
  if (i) {
    ambit__print(j->gpu.t, " + ");
    ambit__stream_print_name(j, s, 'f');
    ambit__print(j->gpu.t, "_%d", i);
  }
  ambit__line_end(j->gpu.w, ");");
}

static void copy_beside(const ambit__stream_job *j, const ambit__stream *s,
                        const ambit__stream_moment *m)
{
  const int n = ambit__stream_ring_beside(j, s) * j->rows;

  if (!n) return;
  ambit__line_begin(j->gpu.w);
  if (n < AMBIT__STREAM_WARP) ambit__print(j->gpu.t, "if (%s < %d) ", j->gpu.dialect->thread[0], n);
  ambit__stream_print_call(j, "ambit_copy", s->param, j->lane);
  ambit__stream_print_name(j, s, 'b');
  ambit__stream_print_moment(j, m);
  ambit__print(j->gpu.t, ", ");
  ambit__stream_print_name(j, s, 'f');
  ambit__print(j->gpu.t, " + ");
  ambit__stream_print_name(j, s, 'd');
  ambit__line_end(j->gpu.w, ");");
}

/* Begins to copy the plane at a moment, whose number is `plane`. Planes past the last one repeat
 * it. */
static void copy_plane(const ambit__stream_job *j, const ambit__stream_moment *m, const char *plane)
{
  const int high = newest(j, NULL);

  for (int k = 0; k < j->nstreams; k++) {
    const ambit__stream *s = &j->streams[k];

    if (!s->ring) continue;
    for (int i = 0; i * j->warps < ambit__stream_ring_rows(j, s); i++)
      copy_row(j, s, m, i);
    copy_beside(j, s, m);
    ambit__line_begin(j->gpu.w);
    ambit__stream_print_name(j, s, 'f');
    ambit__print(j->gpu.t, " += %s < %s + %d ? %s_s%d : 0", plane, m->is_first ? "n" : "rest",
                 high - 1, name_of(j, s), j->z);
    ambit__line_end(j->gpu.w, ";");
  }
  ambit__line(j->gpu.w, "ambit_copied();");
}

/* The next plane has arrived, in all warps, and a further one is copied. */
static void advance(const ambit__stream_job *j, const ambit__stream_moment *m, const char *plane)
{
  ambit__line(j->gpu.w, "ambit_arrived<%d>();", j->ahead - 1);
  ambit__line(j->gpu.w, "%s;", j->gpu.dialect->barrier);
  copy_plane(j, m, plane);
}

/* ---- from the ring into registers ---- */

/* "ambit_fetch<4>(&u_w[p][q][0], u_r[p] + (q - 4) * 136 - 4);": a vector of a row, `from` cells
 * after the lane's. The row is `more` rows after that with the number `row`. */
static void take(const ambit__stream_job *j, const ambit__stream *s, const ambit__stream_moment *m,
                 const char *row, int more, int from)
{
  const int away = more - s->below, wide = ambit__stream_ring_width(j, s);

  ambit__line_begin(j->gpu.w);
  ambit__stream_print_call(j, "ambit_fetch", s->param, j->lane);
  ambit__print(j->gpu.t, "&");
  ambit__stream_print_name(j, s, j->centre ? 'c' : 'w');
  if (!j->centre) ambit__stream_print_moment(j, m);
  ambit__print(j->gpu.t, "[%s + %d][%d], ", row, more, s->left + from);
  ambit__stream_print_name(j, s, 'r');
  ambit__stream_ring_slot(j, m);
  ambit__print(j->gpu.t, " + %s * %d %s %d", row, wide, away * wide + from < 0 ? "-" : "+",
               abs(away * wide + from));
  ambit__line_end(j->gpu.w, ");");
}

/* The last row beside its own that row t reads, which no row before it reads; 0: there is none that
 * is not one of the warp's own. */
static int last_row(const ambit__stream_job *j, const ambit__stream *s)
{
  return s->above >= j->rows ? s->below + s->above : 0;
}

void ambit__stream_take_for_row(const ambit__stream_job *j)
{
  ambit__stream_take_held(j);
  for (int i = 0; i < j->nstreams; i++) {
    const ambit__stream *s = &j->streams[i];
    const ambit__stream_row *r = &s->rows[s->below], *last = &s->rows[last_row(j, s)];

    if (!s->ring) continue;
    for (int from = -s->left; r->has_edges && from < j->lane + s->right; from += j->lane)
      if (from) take(j, s, &(ambit__stream_moment){.plane = r->edge}, "t", s->below, from);
    if (last_row(j, s) && last->is_read)
      take(j, s, &(ambit__stream_moment){.plane = last->high}, "t", last_row(j, s), 0);
  }
}

/* The end of the rows that begin with row q and are read in the same planes. */
static int rows_alike(const ambit__stream *s, int q)
{
  const ambit__stream_row *r = &s->rows[q];

  do
    q++;
  while (q < s->nrows && s->rows[q].is_read == r->is_read && s->rows[q].low == r->low &&
         s->rows[q].high == r->high);
  return q;
}

/* The rows that arrive: before the loop over z, in plane k, those that are kept for later. Others
 * are taken for each row that is computed, to save registers. */
static void take_rows(const ambit__stream_job *j, const ambit__stream_moment *first)
{
  for (int i = 0; i < j->nstreams; i++) {
    const ambit__stream *s = &j->streams[i];
    const int nrows = last_row(j, s) ? last_row(j, s) : s->nrows;
    int end;

    for (int q = 0; s->ring && q < nrows; q = end) {
      const ambit__stream_row *r = &s->rows[q];
      const ambit__stream_moment m = {.plane = r->high};

      end = rows_alike(s, q);
      if (end > nrows) end = nrows;
      if (!r->is_read || (first && r->low == r->high)) continue;
      if (j->centre && is_own(j, s, q)) continue; /* it is in registers */
      ambit__stream_unroll(j, "q", q, end);
      if (first) ambit__open(j->gpu.w, "if (k >= %d && k < %d)", r->low, r->high);
      take(j, s, first ? first : &m, "q", 0, 0);
      if (first) ambit__close(j->gpu.w);
      ambit__close(j->gpu.w);
    }
  }
}

/* All planes before the loop over z: the first ones are copied, then the others as these arrive. */
void ambit__stream_ring_first(const ambit__stream_job *j)
{
  const int low = first_plane(j), high = newest(j, NULL);
  char plane[32];

  if (ambit__gpucode_reduces(j->gpu.group))
    ambit__line(j->gpu.w, "%s;", j->gpu.dialect->barrier); /* the tile before used the ring, too */
  if (j->centre) {
    ambit__stream_centre_first(j);
    return;
  }
  ambit__stream_unroll(j, "k", low, low + j->ahead);
  copy_plane(j, &(ambit__stream_moment){.is_first = true, .plane = low}, "k");
  ambit__close(j->gpu.w);
  snprintf(plane, sizeof plane, "k + %d", j->ahead);
  ambit__stream_unroll(j, "k", low, high);
  advance(j, &(ambit__stream_moment){.is_first = true, .plane = low, .more = j->ahead}, plane);
  take_rows(j, &(ambit__stream_moment){.is_first = true, .plane = low});
  ambit__close(j->gpu.w);
}

void ambit__stream_ring_next(const ambit__stream_job *j)
{
  const int high = newest(j, NULL);
  char plane[32];

  snprintf(plane, sizeof plane, "p + %d", high + j->ahead);
  if (j->centre)
    ambit__stream_centre_next(j);
  else
    advance(j, &(ambit__stream_moment){.plane = high + j->ahead}, plane);
  take_rows(j, NULL);
}
