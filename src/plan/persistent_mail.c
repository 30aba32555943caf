/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent_mail.c - tiles exchange the cells at their borders.
 *
 * Every word of a value travels with the number of the exchange, in one access of eight bytes, so
 * that whoever sees the number has the word: there are no fences and no flags. The memory has a
 * place for every cell of the grid, twice, used in turn: a block that has the cells of an exchange
 * from its neighbours knows that they have read all of the one before.
 * What arrives goes through shared memory, as all threads fetch some of it.
 */
#include "plan/persistent.h"

enum { WAITING = 16 }; /* words on their way to a thread, at most */

/* Words of all values that are exchanged. */
static int words_before(const ambit__pipeline *p, int value)
{
  int n = 0;

  for (int v = 0; v < value; v++)
    if (ambit__persistent_changes(p, v)) n += ambit__fused_words(p, v);
  return n;
}

size_t ambit__persistent_mail(const ambit__persistent_job *j, const int64_t *cells)
{
  const size_t words = (size_t)words_before(j->tile.pipe, j->tile.pipe->nvalues);
  const int64_t lane = j->tile.lane, wide = (cells[j->tile.x] + lane - 1) / lane * lane;
  const int64_t planes = j->tile.planes ? cells[j->tile.z] : 1;

  if (!ambit__persistent_exchanges(j)) return 8;
  return 2 * 8 * words * (size_t)(planes * cells[j->tile.y] * wide + 1);
}

/* In a brick, cells at edges and corners count once. */
size_t ambit__persistent_awaited(const ambit__persistent_job *j)
{
  const ambit__window *w = j->window;
  size_t n = 0;

  for (int i = 0; i < 3; i++) {
    size_t layer = 2 * (size_t)w[i].halo;

    for (int k = 0; k < 3; k++)
      if (k != i) layer *= (size_t)(w[k].cells - (j->tile.planes && k < i ? 2 * w[k].halo : 0));
    n += layer;
  }
  return n;
}

/* Cells of shared memory for the awaited ones of a value; in a brick all cells have a slot. */
static size_t slots_of(const ambit__persistent_job *j, int value)
{
  const ambit__window *w = j->window;

  if (!j->tile.planes) return ambit__persistent_awaited(j);
  if (ambit__fused_buffers_all(&j->tile, value)) return 0; /* in a buffer for rows */
  return (size_t)w[0].cells * (size_t)w[1].cells * (size_t)w[2].cells;
}

/* Bytes of shared memory before the awaited cells of a value. */
static size_t bytes_before(const ambit__persistent_job *j, int value)
{
  size_t n = (ambit__fused_shared(&j->tile) + 15) / 16 * 16;

  for (int v = 0; ambit__persistent_exchanges(j) && v < value; v++)
    if (ambit__persistent_changes(j->tile.pipe, v))
      n += (slots_of(j, v) * ambit_type_size(j->tile.pipe->values[v].type) + 15) / 16 * 16;
  return n;
}

size_t ambit__persistent_shared(const ambit__persistent_job *j)
{
  return bytes_before(j, j->tile.pipe->nvalues);
}

/* Cells that travel together, and how many of such units a lane has. */
static int grain(const ambit__persistent_job *j)
{
  return j->window[2].grain;
}

static int units(const ambit__persistent_job *j)
{
  return j->tile.lane / grain(j);
}

static const char *type_of(const ambit__persistent_job *j, int value)
{
  return j->tile.gpu.dialect->types[j->tile.pipe->values[value].type];
}

/* "&q3[0][r + 1][1]": the lane's cells of a row. */
static void print_row(const ambit__persistent_job *j, int value)
{
  ambit__print(j->tile.gpu.t, "&");
  ambit__fused_print_row(&j->tile, value, 0);
  ambit__print(j->tile.gpu.t, "[%d]", j->tile.values[value].left);
}

/* "sends >> (k * 1 + r) & 1": one of the bits of a brick's rows. */
static void print_bit(const ambit__persistent_job *j, const char *bits)
{
  ambit__print(j->tile.gpu.t, "%s >> (k * %d + r) & 1", bits, j->tile.rows);
}

/* Each row computes its addresses anew, so that they keep no registers. In a brick most rows have
 * nothing to exchange, as `bits` say. */
static void open_rows(const ambit__persistent_job *j, const char *bits)
{
  ambit__fused_open_own_planes(&j->tile);
  ambit__fused_open_rows(&j->tile, 0, j->tile.rows);
  if (j->tile.planes)
    ambit__line(j->tile.gpu.w, "const int plane = ambit_again(level) + k;");
  else
    ambit__line(j->tile.gpu.w, "const int plane = 0;");
  ambit__line(j->tile.gpu.w, "const int row = ambit_again(line) + r;");
  ambit__line_begin(j->tile.gpu.w);
  if (!j->tile.planes) return;
  ambit__print(j->tile.gpu.t, "if (");
  print_bit(j, bits);
  ambit__print(j->tile.gpu.t, ") ");
}

static void close_rows(const ambit__persistent_job *j)
{
  ambit__fused_close_rows(&j->tile);
  ambit__fused_close_planes(&j->tile);
}

static void emit_send(const ambit__persistent_job *j, int value)
{
  const ambit__pipeline *p = j->tile.pipe;

  ambit__line(j->tile.gpu.w, "ambit_u64 *const box%d = mail + ((round & 1) * %d + %d) * area;",
              value, words_before(p, p->nvalues), words_before(p, value));
  open_rows(j, "sends");
  ambit__print(j->tile.gpu.t, "ambit_send<%d, %d, %s>(box%d, wide, tile, ", units(j), grain(j),
               j->tile.planes ? "true" : "false", value);
  print_row(j, value);
  ambit__line_end(j->tile.gpu.w, ", plane, row, unit, round);");
  close_rows(j);
}

static int threads(const ambit__persistent_job *j)
{
  return j->tile.groups * j->tile.lanes;
}

int ambit__persistent_letters(const ambit__persistent_job *j)
{
  const int each = threads(j) * grain(j);

  return ((int)ambit__persistent_awaited(j) + each - 1) / each;
}

/* Letters that a thread fetches at a time. In a brick they take as few turns as registers allow,
 * since each is a way through the second-level cache. */
static int at_a_time(const ambit__persistent_job *j, int value)
{
  const int words = grain(j) * ambit__fused_words(j->tile.pipe, value);
  const int most = words > 1 ? (WAITING + words - 1) / words : WAITING / 2;
  const int all = ambit__persistent_letters(j), turns = (all + most - 1) / most;

  if (!j->tile.planes) return words < 4 ? 4 : 2;
  return (all + turns - 1) / turns;
}

/* "float *const stage0 = (float *)(bytes + 57344);": where the awaited cells arrive. In a brick
 * this is the buffer in which the lanes that take them publish them next. */
static void declare_stage(const ambit__persistent_job *j, int value)
{
  ambit__line_begin(j->tile.gpu.w);
  ambit__print(j->tile.gpu.t, "%s *const stage%d = ", type_of(j, value), value);
  if (j->tile.planes && ambit__fused_buffers_all(&j->tile, value))
    ambit__fused_print_buffer(&j->tile, value);
  else
    ambit__print(j->tile.gpu.t, "(%s *)(bytes + %zu)", type_of(j, value), bytes_before(j, value));
  ambit__line_end(j->tile.gpu.w, ";");
}

static void emit_receive(const ambit__persistent_job *j, int value)
{
  const int some = at_a_time(j, value), all = ambit__persistent_letters(j);

  declare_stage(j, value);
  if (!j->tile.planes)
    ambit__line(
        j->tile.gpu.w,
        "ambit_receive<%d, %d, %d, %d>(stage%d, box%d, wide, tile, group * %d + lane, round);",
        units(j), grain(j), threads(j), some, value, value, j->tile.lanes);
  for (int i = 0; j->tile.planes && i < all; i += some)
    ambit__line(j->tile.gpu.w,
                "ambit_await<%d, %d>(stage%d, box%d, letter + %d, slot + %d, round);", grain(j),
                some < all - i ? some : all - i, value, value, i, i);
}

static void emit_take(const ambit__persistent_job *j, int value)
{
  const ambit__fused_job *t = &j->tile;

  open_rows(j, "takes");
  ambit__print(t->gpu.t, "ambit_take%s<%d, %d>(", t->planes ? "_row" : "", units(j), grain(j));
  print_row(j, value);
  ambit__print(t->gpu.t, ", stage%d", value);
  if (t->planes)
    ambit__print(t->gpu.t, " + ((group * %d + k) * %d + r) * %d + lane * %d, tile, plane",
                 t->planes, t->rows, t->lanes * t->lane, t->lane);
  else
    ambit__print(t->gpu.t, ", tile");
  ambit__line_end(t->gpu.w, ", row, unit);");
  close_rows(j);
}

static void each_change(const ambit__persistent_job *j,
                        void (*f)(const ambit__persistent_job *j, int value))
{
  for (int v = 0; v < j->tile.pipe->nvalues; v++)
    if (ambit__persistent_changes(j->tile.pipe, v)) f(j, v);
}

/* "{0, first0, first1 / 4}, ": along z, y and x, the last in units; in two dimensions z has cell 0
 * only. */
static void print_ends(const ambit__persistent_job *j, const char *name, int flat)
{
  const ambit__window *w = j->window;

  if (j->tile.planes)
    ambit__print(j->tile.gpu.t, "{%s%d, ", name, w[0].axis);
  else
    ambit__print(j->tile.gpu.t, "{%d, ", flat);
  ambit__print(j->tile.gpu.t, "%s%d, %s%d / %d}, ", name, w[1].axis, name, w[2].axis, grain(j));
}

static void declare_tile(const ambit__persistent_job *j)
{
  const ambit__window *w = j->window;
  const bool *periodic = j->tile.pipe->periodic;

  ambit__line_begin(j->tile.gpu.w);
  ambit__print(j->tile.gpu.t, "const ambit_tile tile = {");
  print_ends(j, "first", 0);
  print_ends(j, "end", 1);
  print_ends(j, "from", 0);
  print_ends(j, "till", 1);
  ambit__print(j->tile.gpu.t, "{%d, %d, %d}, {", w[0].halo, w[1].halo, w[2].halo / grain(j));
  for (int i = 0; i < 3; i++)
    ambit__print(j->tile.gpu.t, "%s%s", i ? ", " : "", periodic[w[i].axis] ? "true" : "false");
  ambit__print(j->tile.gpu.t, "}, %d", w[1].cells);
  ambit__line_end(j->tile.gpu.w, "};");
}

static void note_rows(const ambit__persistent_job *j, const char *bits)
{
  ambit__line(j->tile.gpu.w,
              "if (ambit_%s_row(tile, level + k, line + r)) %s |= 1ull << (k * %d + r);", bits,
              bits, j->tile.rows);
}

/* Letters of a row of the grid: those of whole lanes. */
static void declare_wide(const ambit__persistent_job *j)
{
  const int lane = units(j);

  ambit__line(j->tile.gpu.w, "const int wide = (tile.end[2] - tile.first[2] + %d) / %d * %d;",
              lane - 1, lane, lane);
}

void ambit__persistent_declare_letters(const ambit__persistent_job *j)
{
  const bool many = j->tile.planes * j->tile.rows > 32;
  const int n = ambit__persistent_letters(j);
  ambit__writer *w = j->tile.gpu.w;

  if (!j->tile.planes || !ambit__persistent_exchanges(j)) return;
  ambit__line(w, "%s sends = 0, takes = 0;", many ? "ambit_u64" : "unsigned");
  ambit__line(w, "int letter[%d], slot[%d];", n, n);
  ambit__open(w, "/* exchanges */");
  declare_tile(j);
  declare_wide(j);
  ambit__line(w, "ambit_find<%d, %d, %d, %d, %d, %d>(letter, slot, tile, wide, group * %d + lane,",
              units(j), grain(j), threads(j), n, j->tile.planes, j->tile.rows, j->tile.lanes);
  ambit__line(w, "    origin%d, origin%d, origin%d);", j->tile.z, j->tile.y, j->tile.x);
  ambit__fused_open_own_planes(&j->tile);
  ambit__fused_open_rows(&j->tile, 0, j->tile.rows);
  note_rows(j, "sends");
  note_rows(j, "takes");
  close_rows(j);
  ambit__close(w);
}

/* Whether all threads meet in each iteration, and so have all letters of the exchange before it. */
static bool has_barrier(const ambit__persistent_job *j)
{
  for (int v = 0; v < j->tile.pipe->nvalues; v++)
    if (j->tile.values[v].fetched >= 0) return true;
  return false;
}

void ambit__persistent_emit_mail(const ambit__persistent_job *j)
{
  const int n = grain(j);
  ambit__writer *w = j->tile.gpu.w;

  ambit__open(w, "if (done)");
  declare_tile(j);
  /* the first unit of a lane may lie before the grid */
  ambit__line(w, "const int unit = (ambit_again(column) + %d) / %d - %d;", n << 20, n, 1 << 20);
  declare_wide(j);
  ambit__line(w, "const ambit_i64 area = (ambit_lines(tile) * wide * %d + 1) / 2 * 2;", n);
  if (!has_barrier(j)) ambit__line(w, "%s;", j->tile.gpu.dialect->barrier);
  ambit__line(w, "round++;");
  each_change(j, emit_send);
  each_change(j, emit_receive);
  ambit__line(w, "%s;", j->tile.gpu.dialect->barrier);
  each_change(j, emit_take);
  ambit__close(w);
}
