/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c - tiles exchange the cells at their borders.
 *
 * Every word of a value travels with the number of the exchange, in one access of eight bytes, so
 * that whoever sees the number has the word: there are no fences and no flags. The memory has a
 * place for every cell of the grid, twice, used in turn: a block that has the cells of an exchange
 * from its neighbours knows that they have read all of the one before.
 * What arrives goes through shared memory, as all threads fetch some of it.
 */
#include "nest/window/resident.h"

enum { WAITING = 16 }; /* words on their way to a thread, at most */

/* Words of all values that are exchanged. */
static int words_before(const ambit__flow *p, int value)
{
  int n = 0;

  for (int v = 0; v < value; v++)
    if (ambit__resident_changes(p, v)) n += ambit__flow_words(p, v);
  return n;
}

size_t ambit__resident_edges(const ambit__resident *j, const int64_t *cells)
{
  const size_t words = (size_t)words_before(j->tile.flow, j->tile.flow->nvalues);
  const int64_t lane = j->tile.lane, wide = (cells[j->tile.x] + lane - 1) / lane * lane;
  const int64_t planes = j->tile.planes ? cells[j->tile.z] : 1;

  if (!ambit__resident_exchanges(j)) return 8;
  return 2 * 8 * words * (size_t)(planes * cells[j->tile.y] * wide + 1);
}

/* In a brick, cells at edges and corners count once. */
size_t ambit__resident_awaited(const ambit__resident *j)
{
  const ambit__resident_axis *w = j->axes;
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
static size_t slots_of(const ambit__resident *j, int value)
{
  const ambit__resident_axis *w = j->axes;

  if (!j->tile.planes) return ambit__resident_awaited(j);
  if (ambit__window_buffers_all(&j->tile, value)) return 0; /* in a buffer for rows */
  return (size_t)w[0].cells * (size_t)w[1].cells * (size_t)w[2].cells;
}

/* Bytes of shared memory before the awaited cells of a value. */
static size_t bytes_before(const ambit__resident *j, int value)
{
  size_t n = (ambit__window_shared(&j->tile) + 15) / 16 * 16;

  for (int v = 0; ambit__resident_exchanges(j) && v < value; v++)
    if (ambit__resident_changes(j->tile.flow, v))
      n += (slots_of(j, v) * ambit_type_size(j->tile.flow->values[v].type) + 15) / 16 * 16;
  return n;
}

size_t ambit__resident_shared(const ambit__resident *j)
{
  return bytes_before(j, j->tile.flow->nvalues);
}

/* Cells that travel together, and how many of such units a lane has. */
static int grain(const ambit__resident *j)
{
  return j->axes[2].grain;
}

static int units(const ambit__resident *j)
{
  return j->tile.lane / grain(j);
}

/* "&q3[0][r + 1][1]": the lane's cells of a row. */
static const char *row_of(const ambit__resident *j, int value)
{
  return ambit__nest_text(j->tile.n, "&%s[%d]", ambit__window_row(&j->tile, value, 0),
                          j->tile.values[value].left);
}

/* Each row computes its addresses anew, so that they keep no registers. In a brick most rows have
 * nothing to exchange, as `bits` say. */
static void open_rows(const ambit__resident *j, const char *bits)
{
  const ambit__window *t = &j->tile;

  ambit__window_open_own_planes(t);
  ambit__window_open_rows(t, 0, t->rows);
  ambit__nest_do(t->n, "const int plane = %s", t->planes ? "ambit_again(level) + k" : "0");
  ambit__nest_do(t->n, "const int row = ambit_again(line) + r");
  if (t->planes) ambit__nest_if(t->n, "%s >> (k * %d + r) & 1", bits, t->rows);
}

static void close_rows(const ambit__resident *j)
{
  if (j->tile.planes) ambit__nest_close(j->tile.n);
  ambit__window_close_rows(&j->tile);
  ambit__window_close_planes(&j->tile);
}

static void send(const ambit__resident *j, int value)
{
  const ambit__flow *p = j->tile.flow;

  ambit__nest_do(j->tile.n, "ambit_u64 *const box%d = edges + ((round & 1) * %d + %d) * area",
                 value, words_before(p, p->nvalues), words_before(p, value));
  open_rows(j, "sends");
  ambit__nest_do(j->tile.n,
                 "ambit_send<%d, %d, %s>(box%d, wide, tile, %s, plane, row, unit, round)", units(j),
                 grain(j), j->tile.planes ? "true" : "false", value, row_of(j, value));
  close_rows(j);
}

static int threads(const ambit__resident *j)
{
  return j->tile.groups * j->tile.lanes;
}

int ambit__resident_letters(const ambit__resident *j)
{
  const int each = threads(j) * grain(j);

  return ((int)ambit__resident_awaited(j) + each - 1) / each;
}

/* Letters that a thread fetches at a time. In a brick they take as few turns as registers allow,
 * since each is a way through the second-level cache. */
static int at_a_time(const ambit__resident *j, int value)
{
  const int words = grain(j) * ambit__flow_words(j->tile.flow, value);
  const int most = words > 1 ? (WAITING + words - 1) / words : WAITING / 2;
  const int all = ambit__resident_letters(j), turns = (all + most - 1) / most;

  if (!j->tile.planes) return words < 4 ? 4 : 2;
  return (all + turns - 1) / turns;
}

/* "float *const stage0 = (float *)(bytes + 57344)": where the awaited cells arrive. In a brick
 * this is the buffer in which the lanes that take them publish them next. */
static void let_arrivals(const ambit__resident *j, int value)
{
  const char *type = ambit__window_type(&j->tile, value);
  const bool shares = j->tile.planes && ambit__window_buffers_all(&j->tile, value);

  ambit__nest_do(
      j->tile.n, "%s *const stage%d = %s", type, value,
      shares ? ambit__window_buffer(&j->tile, value)
             : ambit__nest_text(j->tile.n, "(%s *)(bytes + %zu)", type, bytes_before(j, value)));
}

static void receive(const ambit__resident *j, int value)
{
  const int some = at_a_time(j, value), all = ambit__resident_letters(j);

  let_arrivals(j, value);
  if (!j->tile.planes)
    ambit__nest_do(
        j->tile.n,
        "ambit_receive<%d, %d, %d, %d>(stage%d, box%d, wide, tile, group * %d + lane, round)",
        units(j), grain(j), threads(j), some, value, value, j->tile.lanes);
  for (int i = 0; j->tile.planes && i < all; i += some)
    ambit__nest_do(j->tile.n, "ambit_await<%d, %d>(stage%d, box%d, letter + %d, slot + %d, round)",
                   grain(j), some < all - i ? some : all - i, value, value, i, i);
}

static void take(const ambit__resident *j, int value)
{
  const ambit__window *t = &j->tile;
  const char *from = ", tile";

  open_rows(j, "takes");
  if (t->planes)
    from = ambit__nest_text(t->n, " + ((group * %d + k) * %d + r) * %d + lane * %d, tile, plane",
                            t->planes, t->rows, t->lanes * t->lane, t->lane);
  ambit__nest_do(t->n, "ambit_take%s<%d, %d>(%s, stage%d%s, row, unit)", t->planes ? "_row" : "",
                 units(j), grain(j), row_of(j, value), value, from);
  close_rows(j);
}

static void each_change(const ambit__resident *j, void (*f)(const ambit__resident *j, int value))
{
  for (int v = 0; v < j->tile.flow->nvalues; v++)
    if (ambit__resident_changes(j->tile.flow, v)) f(j, v);
}

/* "{0, first0, first1 / 4}": along z, y and x, the last in units; in two dimensions z has cell 0
 * only. */
static const char *ends(const ambit__resident *j, const char *name, int flat)
{
  const ambit__resident_axis *w = j->axes;
  ambit__nest *n = j->tile.n;

  return ambit__nest_text(n, "{%s, %s%d, %s%d / %d}",
                          j->tile.planes ? ambit__nest_text(n, "%s%d", name, w[0].axis)
                                         : ambit__nest_text(n, "%d", flat),
                          name, w[1].axis, name, w[2].axis, grain(j));
}

/* The tile, and the letters of a row of the grid: those of whole lanes. */
static void let_tile(const ambit__resident *j)
{
  const ambit__resident_axis *w = j->axes;
  const bool *periodic = j->tile.flow->periodic;

  ambit__nest_do(
      j->tile.n, "const ambit_tile tile = {%s, %s, %s, %s, {%d, %d, %d}, {%s, %s, %s}, %d}",
      ends(j, "first", 0), ends(j, "end", 1), ends(j, "from", 0), ends(j, "till", 1), w[0].halo,
      w[1].halo, w[2].halo / grain(j), periodic[w[0].axis] ? "true" : "false",
      periodic[w[1].axis] ? "true" : "false", periodic[w[2].axis] ? "true" : "false", w[1].cells);
}

static void let_wide(const ambit__resident *j)
{
  const int lane = units(j);

  ambit__nest_do(j->tile.n, "const int wide = (tile.end[2] - tile.first[2] + %d) / %d * %d",
                 lane - 1, lane, lane);
}

static void note_rows(const ambit__resident *j, const char *bits)
{
  ambit__nest *n = j->tile.n;

  ambit__nest_do_if(n, ambit__nest_text(n, "ambit_%s_row(tile, level + k, line + r)", bits),
                    "%s |= 1ull << (k * %d + r)", bits, j->tile.rows);
}

void ambit__resident_let_letters(const ambit__resident *j)
{
  const ambit__window *t = &j->tile;
  const bool many = t->planes * t->rows > 32;
  const int letters = ambit__resident_letters(j);
  ambit__nest *n = t->n;

  if (!t->planes || !ambit__resident_exchanges(j)) return;
  ambit__nest_do(n, "%s sends = 0, takes = 0", many ? "ambit_u64" : "unsigned");
  ambit__nest_do(n, "int letter[%d], slot[%d]", letters, letters);
  ambit__nest_named(n, "exchanges");
  let_tile(j);
  let_wide(j);
  ambit__nest_do(n,
                 "ambit_find<%d, %d, %d, %d, %d, %d>(letter, slot, tile, wide, group * %d + lane, "
                 "origin%d, origin%d, origin%d)",
                 units(j), grain(j), threads(j), letters, t->planes, t->rows, t->lanes, t->z, t->y,
                 t->x);
  ambit__window_open_own_planes(t);
  ambit__window_open_rows(t, 0, t->rows);
  note_rows(j, "sends");
  note_rows(j, "takes");
  ambit__window_close_rows(t);
  ambit__window_close_planes(t);
  ambit__nest_close(n);
}

/* Whether all threads meet in each iteration, and so have all letters of the exchange before it. */
static bool has_barrier(const ambit__resident *j)
{
  for (int v = 0; v < j->tile.flow->nvalues; v++)
    if (j->tile.values[v].fetched >= 0) return true;
  return false;
}

void ambit__resident_exchange(const ambit__resident *j)
{
  ambit__nest *n = j->tile.n;

  ambit__nest_if(n, "done");
  let_tile(j);
  /* the first unit of a lane may lie before the grid */
  ambit__nest_do(n, "const int unit = (ambit_again(column) + %d) / %d - %d", grain(j) << 20,
                 grain(j), 1 << 20);
  let_wide(j);
  ambit__nest_do(n, "const ambit_i64 area = (ambit_lines(tile) * wide * %d + 1) / 2 * 2", grain(j));
  if (!has_barrier(j)) ambit__nest_barrier(n);
  ambit__nest_do(n, "round++");
  each_change(j, send);
  each_change(j, receive);
  ambit__nest_barrier(n);
  each_change(j, take);
  ambit__nest_close(n);
}
