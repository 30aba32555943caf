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

  if (!ambit__persistent_exchanges(j)) return 8;
  return 2 * 8 * words * (size_t)(cells[j->tile.y] * wide + 1);
}

size_t ambit__persistent_awaited(const ambit__persistent_job *j)
{
  const ambit__window *w = j->window;

  return 2 * ((size_t)w[0].halo * (size_t)w[1].cells + (size_t)w[0].cells * (size_t)w[1].halo);
}

/* Bytes of shared memory before the awaited cells of a value. */
static size_t bytes_before(const ambit__persistent_job *j, int value)
{
  size_t n = (ambit__fused_shared(&j->tile) + 15) / 16 * 16;

  for (int v = 0; ambit__persistent_exchanges(j) && v < value; v++)
    if (ambit__persistent_changes(j->tile.pipe, v))
      n += (ambit__persistent_awaited(j) * ambit_type_size(j->tile.pipe->values[v].type) + 15) /
           16 * 16;
  return n;
}

size_t ambit__persistent_shared(const ambit__persistent_job *j)
{
  return bytes_before(j, j->tile.pipe->nvalues);
}

/* Cells that travel together, and how many of such units a lane has. */
static int grain(const ambit__persistent_job *j)
{
  return j->window[1].grain;
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
  const ambit__fused_value *f = &j->tile.values[value];

  ambit__print(j->tile.gpu.t, "&q%d[0][r + %d][%d]", value, f->down, f->left);
}

/* Each row computes its addresses anew, so that they keep no registers. */
static void open_rows(const ambit__persistent_job *j)
{
  ambit__fused_open_rows(&j->tile, 0, j->tile.rows);
  ambit__line(j->tile.gpu.w, "const int row = ambit_again(line) + r;");
  ambit__line_begin(j->tile.gpu.w);
}

static void emit_send(const ambit__persistent_job *j, int value)
{
  const ambit__pipeline *p = j->tile.pipe;

  ambit__line(j->tile.gpu.w, "ambit_u64 *const box%d = mail + ((round & 1) * %d + %d) * area;",
              value, words_before(p, p->nvalues), words_before(p, value));
  open_rows(j);
  ambit__print(j->tile.gpu.t, "ambit_send<%d, %d>(box%d, wide, tile, ", units(j), grain(j), value);
  print_row(j, value);
  ambit__line_end(j->tile.gpu.w, ", row, unit, round);");
  ambit__fused_close_rows(&j->tile);
}

static void emit_receive(const ambit__persistent_job *j, int value)
{
  ambit__line(j->tile.gpu.w, "%s *const stage%d = (%s *)(bytes + %zu);", type_of(j, value), value,
              type_of(j, value), bytes_before(j, value));
  ambit__line(j->tile.gpu.w,
              "ambit_receive<%d, %d, %d>(stage%d, box%d, wide, tile, group * %d + lane, round);",
              units(j), grain(j), j->tile.groups * j->tile.lanes, value, value, j->tile.lanes);
}

static void emit_take(const ambit__persistent_job *j, int value)
{
  open_rows(j);
  ambit__print(j->tile.gpu.t, "ambit_take<%d, %d>(", units(j), grain(j));
  print_row(j, value);
  ambit__print(j->tile.gpu.t, ", stage%d, tile, row, unit", value);
  ambit__line_end(j->tile.gpu.w, ");");
  ambit__fused_close_rows(&j->tile);
}

static void each_change(const ambit__persistent_job *j,
                        void (*f)(const ambit__persistent_job *j, int value))
{
  for (int v = 0; v < j->tile.pipe->nvalues; v++)
    if (ambit__persistent_changes(j->tile.pipe, v)) f(j, v);
}

void ambit__persistent_emit_mail(const ambit__persistent_job *j)
{
  const int n = grain(j), lane = units(j);
  ambit__writer *w = j->tile.gpu.w;

  ambit__open(w, "if (done)");
  ambit__line(
      w, "const ambit_tile tile = {{first0, first1 / %d}, {end0, end1 / %d}, {from0, from1 / %d},",
      n, n, n);
  ambit__line(w, "                         {till0, till1 / %d}, {%d, %d}, {%s, %s}};", n,
              j->window[0].halo, j->window[1].halo / n,
              j->tile.pipe->periodic[0] ? "true" : "false",
              j->tile.pipe->periodic[1] ? "true" : "false");
  /* the first unit of a lane may lie before the grid */
  ambit__line(w, "const int unit = (ambit_again(column) + %d) / %d - %d;", n << 20, n, 1 << 20);
  ambit__line(w, "const int wide = (tile.end[1] - tile.first[1] + %d) / %d * %d;", lane - 1, lane,
              lane);
  ambit__line(w, "const ambit_i64 area = ((hi0 - lo0) * wide * %d + 1) / 2 * 2;", n);
  ambit__line(w, "%s;", j->tile.gpu.dialect->barrier);
  ambit__line(w, "round++;");
  each_change(j, emit_send);
  each_change(j, emit_receive);
  ambit__line(w, "%s;", j->tile.gpu.dialect->barrier);
  each_change(j, emit_take);
  ambit__close(w);
}
