/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_wide.c - fields of narrow integers, such as masks of bytes, beside wider ones.
 *
 * A loop over values of several widths is vectorised for the narrowest, with as many vectors of the
 * others as that takes: with masks of bytes, D2Q9 took 4 times the instructions on x86. So the rows
 * of narrow fields are first converted to int32_t, a piece at a time, into an array that stays in
 * the level 1 cache. The functions of N rows read the array in place of the field: it has its own
 * strides, and rows for the whole box of offsets.
 */
#include "plan/rows.h"

#include <string.h>

typedef ambit__rows_job job;

enum {
  MOST_BYTES = 16384, /* of the arrays for a piece, less the ends of their rows */
  UNIT = 64,        /* pieces are multiples of this many cells, as vectors start at some of them */
  LEAST_PIECE = 128 /* cells; with less, the ends of pieces cost too much */
};

/* The rows of a field along an axis that a block of rows reads. */
static int64_t rows_along(const job *j, int i, int d, const int rows[2])
{
  const ambit__param *p = ambit__rows_param(j, i);
  const int more = d == j->last - 1 ? rows[0] - 1 : d == j->last - 2 ? rows[1] - 1 : 0;

  return p->low[d] + p->high[d] + 1 + more;
}

static int64_t rows_of(const job *j, int i, const int rows[2])
{
  int64_t n = ambit__rows_param(j, i)->components;

  for (int d = 0; d < j->last; d++)
    n *= rows_along(j, i, d, rows);
  return n;
}

static bool any_wide(const job *j)
{
  for (int i = 0; i < j->rule->nparams; i++)
    if (j->wide[i]) return true;
  return false;
}

/* Cells widened at a time. */
static int64_t piece(const job *j, const int rows[2])
{
  int64_t n = 0;

  for (int i = 0; i < j->rule->nparams; i++)
    if (j->wide[i]) n += rows_of(j, i, rows);
  return n ? MOST_BYTES / (int64_t)sizeof(int32_t) / n / UNIT * UNIT : 0;
}

void ambit__rows_find_wide(job *j, size_t lane_bytes)
{
  for (int i = 0; i < j->rule->nparams && !j->direct && !j->form; i++)
    j->wide[i] = ambit__rows_is_field(j, i) && ambit__rows_param(j, i)->nreads &&
                 !ambit__rows_param(j, i)->is_written && j->bind[i].contiguous &&
                 !ambit__type_is_real(ambit__rows_param(j, i)->type) &&
                 ambit_type_size(ambit__rows_param(j, i)->type) < sizeof(int32_t) &&
                 lane_bytes >= sizeof(int32_t);
  if (any_wide(j) && piece(j, j->plan->rows) < LEAST_PIECE) memset(j->wide, 0, sizeof j->wide);
}

const char *ambit__rows_walk_name(const job *j)
{
  return any_wide(j) ? "walk" : "rows";
}

/* Loops over the components and rows of field i; inside, `to` is the row of its array. */
static void emit_fill(const job *j, int i, const int rows[2])
{
  const ambit__param *p = ambit__rows_param(j, i);
  int open = 1;

  ambit__line(j->w, "int32_t *to = %s_w;", p->name);
  ambit__open(j->w, "for (int c = 0; c < %d; c++)", p->components);
  for (int d = 0; d < j->last; d++, open++)
    ambit__open(j->w, "for (int y%d = %d; y%d < %d; y%d++)", d, -p->low[d], d,
                (int)rows_along(j, i, d, rows) - p->low[d], d);
  ambit__line_begin(j->w);
  ambit__print(j->t, "const %s *restrict at = %s_at", ambit__rows_memory_type(j, i), p->name);
  for (int d = 0; d < j->last; d++)
    ambit__print(j->t, " + y%d * %s_s%d", d, p->name, d);
  if (p->components > 1) ambit__print(j->t, " + c * %s_c", p->name);
  ambit__line_end(j->w, ";");
  ambit__print(j->t, "#pragma omp simd\n");
  ambit__line(j->w, "for (int64_t x = from - %d; x < end + %d; x++) to[x - from + %d] = at[x];",
              p->low[j->last], p->high[j->last], p->low[j->last]);
  ambit__line(j->w, "to += WIDTH;");
  while (open-- > 0)
    ambit__close(j->w);
}

/* The array in place of the field: its pointer and strides, under the names of the field's. */
static void emit_stand_in(const job *j, int i, const int rows[2])
{
  const ambit__param *p = ambit__rows_param(j, i);
  int64_t stride = 1, first = 0;

  for (int d = j->last - 1; d >= 0; d--) {
    ambit__line(j->w, "const int64_t %s_s%d = %lld * WIDTH;", p->name, d, (long long)stride);
    first += p->low[d] * stride;
    stride *= rows_along(j, i, d, rows);
  }
  if (p->components > 1)
    ambit__line(j->w, "const int64_t %s_c = %lld * WIDTH;", p->name, (long long)stride);
  ambit__line(j->w, "const int32_t *%s_at = %s_w + %lld * WIDTH + %d - from;", p->name, p->name,
              (long long)first, p->low[j->last]);
}

/* The most cells beside a piece that a cell of it reads. */
static int ends(const job *j)
{
  int most = 0;

  for (int i = 0; i < j->rule->nparams; i++) {
    const int n = ambit__rows_param(j, i)->low[j->last] + ambit__rows_param(j, i)->high[j->last];

    if (j->wide[i] && n > most) most = n;
  }
  return most;
}

static void emit_pieces(const job *j, const int rows[2])
{
  ambit__open(j->w, "for (int64_t p0 = x0, p1; p0 < x1; p0 = p1)");
  /* rounded down, since a box may begin to the left of the own cells, at x < 0 */
  ambit__line(j->w, "p1 = p0 + PIECE - (p0 %% PIECE + PIECE) %% PIECE;");
  ambit__line(j->w, "if (p1 > x1) p1 = x1;");
  ambit__line(j->w, "const int64_t from = p0 & -LANES, end = (p1 + LANES - 1) & -LANES;");
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!j->wide[i]) continue;
    ambit__line(j->w, "{");
    j->w->depth++;
    emit_fill(j, i, rows);
    ambit__close(j->w);
  }
  ambit__line(j->w, "{");
  j->w->depth++;
  for (int i = 0; i < j->rule->nparams; i++)
    if (j->wide[i]) emit_stand_in(j, i, rows);
  ambit__rows_call(j, "walk", rows[0] * rows[1], "total", ", p0, p1);");
  ambit__close(j->w);
  ambit__close(j->w);
}

void ambit__rows_emit_wide(const job *j, const int rows[2])
{
  job narrow = *j;

  if (!any_wide(j)) return;
  memset(narrow.wide, 0, sizeof narrow.wide);
  ambit__rows_open_function(&narrow, "static __attribute__((noinline))", "rows", rows[0] * rows[1],
                            "total", ", int64_t x0, int64_t x1");
  ambit__line(j->w, "enum { PIECE = %lld, WIDTH = PIECE + 2 * LANES + %d };",
              (long long)piece(j, rows), ends(j));
  for (int i = 0; i < j->rule->nparams; i++)
    if (j->wide[i])
      ambit__line(j->w, "int32_t %s_w[%lld * WIDTH];", ambit__rows_param(j, i)->name,
                  (long long)rows_of(j, i, rows));
  emit_pieces(j, rows);
  ambit__close(j->w);
}
