/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_inside.c - kernels that test where a cell is, by outside() or index(): most cells are so far
 * inside the grid that the values of all tests are known.
 *
 * The functions of a cell, of vectors and of rows have a parameter `inside`. The loop over rows
 * finds whether their cells are inside along all axes but the last; the loop along the rows, where
 * they are inside along it too. There the function of a cell is inlined with a constant 1, which
 * removes the tests and the reads of their other side. On a sparse grid, the table of chunks says
 * which cells have only active ones around them (grid/chunks.h), and the functions of rows get that
 * word.
 */
#include "plan/rows.h"

typedef ambit__rows_job job;

/* Inner cells of a chunk that are not worth a loop of their own, since three short loops have three
 * ragged ends: D3Q19 on shells took 1.4 times as long, and on cubes of 16^3 1.15 times. */
enum { FEW = 16 };

void ambit__rows_find_tests(job *j)
{
  j->tests = ambit__rule_tests(j->rule, !j->form, j->low, j->high);
}

/* ---- the loops ---- */

/* Of the rows y0, y1, ..., of which there are n0, n1, ... */
void ambit__rows_emit_inside(const job *j)
{
  if (!j->tests) return;
  ambit__line_begin(j->w);
  ambit__print(j->t, "const int inside = 1");
  for (int d = 0; d < j->last; d++)
    ambit__print(j->t, " & (i%d >= %d) & (i%d + n%d <= call->extent[%d] - %d)", d, j->low[d], d, d,
                 d, j->high[d]);
  ambit__line_end(j->w, ";");
}

/* Cells b0 .. b1 - 1 of the rows x0 .. x1 - 1 are inside, and m0 .. m1 - 1 of them in the loop. */
void ambit__rows_emit_bounds(const job *j)
{
  const int x = j->last;

  if (!j->tests) return;
  if (j->form) {
    ambit__line(j->w, "const long b0 = inside & 0xffff, b1 = inside >> 16;");
    return;
  }
  ambit__line(j->w, "const long b0 = inside ? %d - i%d : x1;", j->low[x], x);
  ambit__line(j->w, "const long b1 = inside ? call->extent[%d] - %d - i%d : x1;", x, j->high[x], x);
}

static void call_as(const job *j, int inside, const char *name, int n, const char *tail)
{
  ambit__line(j->w, "enum { inside = %d };", inside);
  ambit__rows_call(j, name, n, "part", tail);
}

void ambit__rows_call_single(const job *j, int n)
{
  if (j->tests)
    call_as(j, 0, "single", n, ", x);");
  else
    ambit__rows_call(j, "single", n, "part", ", x);");
}

void ambit__rows_call_ragged(const job *j, int n)
{
  if (j->tests) ambit__line(j->w, "enum { inside = 0 };");
  ambit__rows_call(j, "ragged", n, "part", ", x, x0, x1);");
}

void ambit__rows_call_vector(const job *j, int n, const char *tail)
{
  if (!j->tests) {
    ambit__rows_call(j, "vector", n, "part", tail);
    return;
  }
  ambit__open(j->w, "if (x >= b0 && x + LANES <= b1)");
  call_as(j, 1, "vector", n, tail);
  ambit__close(j->w);
  ambit__open(j->w, "else");
  call_as(j, 0, "vector", n, tail);
  ambit__close(j->w);
}

static void emit_loop(const job *j, int n, const char *lo, const char *hi, int inside)
{
  ambit__print(j->t, "#pragma omp simd\n");
  ambit__open(j->w, "for (long x = %s; x < %s; x++)", lo, hi);
  if (j->tests)
    call_as(j, inside, "single", n, ", x);");
  else
    ambit__rows_call_single(j, n);
  ambit__close(j->w);
}

void ambit__rows_emit_long_loop(const job *j, int n)
{
  if (!j->tests) {
    emit_loop(j, n, "x0", "x1", 0);
    return;
  }
  if (j->form) ambit__line(j->w, "const int few = b1 - b0 < %d;", FEW);
  ambit__line(j->w, "const long m0 = %sb0 < x0 ? x0 : b0 < x1 ? b0 : x1;",
              j->form ? "few ? x1 : " : "");
  ambit__line(j->w, "const long m1 = b1 < m0 ? m0 : b1 < x1 ? b1 : x1;");
  emit_loop(j, n, "x0", "m0", 0);
  emit_loop(j, n, "m0", "m1", 1);
  emit_loop(j, n, "m1", "x1", 0);
}
