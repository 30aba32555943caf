/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c - the lanes of a warp copy the cells of a tile from memory to shared memory, and results
 * back, so that neighbouring lanes have cells that are adjacent in memory. */
#include "nest/lines/lines.h"

enum { UNROLLED = 8 }; /* rows whose addresses are computed together */

/* The lanes take the columns of a row, or of several rows. Vectors of 16 bytes, of four rows at a
 * time, took less time for 4000 rows of 4000 floats on an H200 (130 us in place of 157), and more
 * for 32000 (775 and 726). */
static void open_columns(const ambit__lines *j)
{
  ambit__nest *n = j->n;
  const int columns = ambit__lines_columns(j);
  int bits = 0;

  while (1 << bits < columns)
    bits++;
  ambit__nest_do(n, "const int row = %s",
                 columns < AMBIT__WARP ? ambit__nest_text(n, "lane >> %d", bits) : "0");
  if (columns > AMBIT__WARP) {
    ambit__nest_loop(n, .type = "int", .name = "column", .from = "lane",
                     .below = ambit__nest_text(n, "%d", columns),
                     .step = ambit__nest_text(n, "%d", AMBIT__WARP), .rolled = true);
  } else {
    ambit__nest_named(n, "columns");
    ambit__nest_do(n, "const int column = lane & %d", columns - 1);
  }
}

/* f for one row after the other, `i` rows after the lane's first; without tests if there are all. A
 * test of each row keeps compilers from loading several together. */
static void each_row(const ambit__lines *j, int rows, const char *below,
                     void (*f)(const ambit__lines *j, const void *user), const void *user)
{
  const int columns = ambit__lines_columns(j);
  const int step = columns < AMBIT__WARP ? AMBIT__WARP / columns : 1;
  ambit__nest *n = j->n;

  ambit__nest_if(n, "%s >= %d", below, (rows + step - 1) / step * step);
  for (int partial = 0; partial < 2; partial++) {
    ambit__nest_loop(n, .type = "int", .name = "i", .from = "0",
                     .below = ambit__nest_text(n, "%d", rows),
                     .step = ambit__nest_text(n, "%d", step), .batched = UNROLLED);
    if (partial) ambit__nest_if(n, "row + i < %s", below);
    f(j, user);
    if (partial) ambit__nest_close(n);
    ambit__nest_close(n);
    if (!partial) ambit__nest_otherwise(n);
  }
  ambit__nest_close(n);
}

static void copy_cell(ambit__nest *n, const char *to, const char *from)
{
  if (n->dialect->has_lanes)
    ambit__nest_do(n, "ambit_copy<1>(&%s, &%s)", to, from);
  else
    ambit__nest_do(n, "%s = %s", to, from);
}

/* "const long x = next_at + column", or what stands for it in a closed row. */
static void let_column(const ambit__lines *j, const ambit__lines_tile *s, const char *column)
{
  ambit__nest *n = j->n;

  const ambit_boundary *ends = n->bind[s->param].ends;
  const char *x = "there";

  if (ambit__binding_is_closed(&n->bind[s->param]))
    x = ambit__nest_text(n, "there + (there < 0 ? %s : there < extent%d ? 0 : %s)",
                         ambit__nest_beyond(n, ends[0], 0, x, 0), ambit__nest_last(n),
                         ambit__nest_beyond(n, ends[1], 1, x, 0));
  ambit__nest_do(n, "const %s there = %s + (%s)", n->integer, j->rows ? "next_at" : "first",
                 column);
  ambit__nest_do(n, "const %s x = %s", n->integer, x);
}

/* Whether the column is read by cells of the box. */
static const char *is_read(const ambit__lines *j, const ambit__lines_tile *s)
{
  ambit__nest *n = j->n;

  if (!j->rows) return ambit__nest_text(n, "there < below_line%s", ambit__nest_more(n, s->high[0]));
  return ambit__nest_text(n, "(there >= lo%d%s) & (there < hi%d%s)", j->along,
                          ambit__nest_more(n, -s->low[1]), j->along,
                          ambit__nest_more(n, s->high[1]));
}

/* The columns beside those of a tile: a row per lane. */
static void copy_beside(const ambit__lines *j, const ambit__lines_tile *s)
{
  ambit__nest *n = j->n;
  const int low = s->low[j->rows];

  ambit__nest_loop(n, .type = "int", .name = "row", .from = "lane", .below = "rows",
                   .step = ambit__nest_text(n, "%d", AMBIT__WARP), .rolled = true);
  ambit__nest_unroll(n, "i", 0, ambit__lines_columns_beside(j, s));
  ambit__nest_do(n, "const int column = i < %d ? i - %d : i + %d", low, low,
                 ambit__lines_columns(j) - low);
  let_column(j, s, "column");
  ambit__nest_if(n, "%s", is_read(j, s));
  copy_cell(n,
            ambit__nest_text(n, "%s[next %% %d][row][%d + column]", ambit__lines_name(j, s, "t"),
                             j->f->ring, ambit__lines_left(j, s)),
            ambit__nest_text(n, "%s[row * %s + x]", ambit__lines_name(j, s, "rows"),
                             ambit__lines_stride(j, s->param)));
  ambit__nest_close(n);
  ambit__nest_close(n);
  ambit__nest_close(n);
}

static void copy_row(const ambit__lines *j, const void *user)
{
  ambit__nest *n = j->n;
  const ambit__lines_tile *s = user;

  copy_cell(n,
            ambit__nest_text(n, "%s[next %% %d][row + i][%d + column]",
                             ambit__lines_name(j, s, "t"), j->f->ring, ambit__lines_left(j, s)),
            ambit__nest_text(n, "%s[(row + i) * %s + x]", ambit__lines_name(j, s, "rows"),
                             ambit__lines_stride(j, s->param)));
}

static void copy_tile(const ambit__lines *j, const ambit__lines_tile *s)
{
  ambit__nest *n = j->n;
  const int k = !j->rows;
  const char *type = n->integer, *from = ambit__lines_name(j, s, "from"),
             *stride = ambit__lines_stride(j, s->param);
  const char *end = j->rows ? "below_line" : ambit__nest_text(n, "hi%d", j->along);

  ambit__nest_named(n, "%s", ambit__nest_name(n, s->param));
  ambit__nest_do(n, "const %s top = %s%s", type, j->rows ? "first" : "next_at",
                 ambit__nest_more(n, -s->low[k]));
  ambit__nest_do(n, "const int rows = %s%s - top < %d ? (int)(%s%s - top) : %d", end,
                 ambit__nest_more(n, s->high[k]), ambit__lines_rows(j, s), end,
                 ambit__nest_more(n, s->high[k]), ambit__lines_rows(j, s));
  ambit__nest_do(n, "%sconst %s *%s = %s + top * %s", n->dialect->global,
                 ambit__nest_type(n, s->param), ambit__lines_name(j, s, "rows"), from, stride);
  open_columns(j);
  let_column(j, s, "column");
  ambit__nest_if(n, "%s", is_read(j, s));
  each_row(j, ambit__lines_rows(j, s), "rows", copy_row, s);
  ambit__nest_close(n);
  ambit__nest_close(n);
  if (ambit__lines_columns_beside(j, s)) copy_beside(j, s);
  ambit__nest_close(n);
}

void ambit__lines_advance(const ambit__lines *j)
{
  ambit__nest *n = j->n;

  if (n->dialect->has_lanes) ambit__nest_do(n, "ambit_arrived<%d>()", j->f->ring - 2);
  ambit__nest_barrier_of_warp(n);
  ambit__nest_do(n, "const int next = t + %d", j->f->ring - 1);
  ambit__nest_if(n, "next < tiles");
  ambit__nest_do(n, "const %s next_at = %s", n->integer, ambit__lines_start(j, "next"));
  for (const ambit__lines_tile *s = j->tiles; s < j->tiles + j->ntiles; s++)
    copy_tile(j, s);
  ambit__nest_close(n);
  if (n->dialect->has_lanes) ambit__nest_do(n, "ambit_copied()");
}

/* ---- results ---- */

static void store_row(const ambit__lines *j, const void *user)
{
  ambit__nest *n = j->n;
  const ambit__nest_access *a = user;

  ambit__nest_do(n, "%s_rows[(row + i) * %s + column] = %s[row + i][column]",
                 ambit__nest_name(n, a->param), ambit__lines_stride(j, a->param),
                 ambit__lines_row(n, *a));
}

void ambit__lines_store(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__lines *j = user;

  if (!ambit__lines_waits(j, a.param)) return;
  ambit__nest_named(n, "%s", ambit__nest_name(n, a.param));
  ambit__nest_do(n, "%s%s *%s_rows = %s + first * %s + at", n->dialect->global,
                 ambit__nest_type(n, a.param), ambit__nest_name(n, a.param),
                 ambit__lines_base(j, a.param, a.component, a.offset),
                 ambit__lines_stride(j, a.param));
  open_columns(j);
  ambit__nest_if(n, "(column >= from) & (column < below)");
  each_row(j, j->f->lanes, "lines", store_row, &a);
  ambit__nest_close(n);
  ambit__nest_close(n);
  ambit__nest_close(n);
}
