/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_sum.c - rows of weighted sums. The order of the terms differs from the user's, so strict
 * mode does not use this.
 *
 * Computed row by row, a large sum needs more registers than there are. Computed term by term, all
 * rows advance together, and terms in one column are adjacent, so that a value loaded for one row
 * is still in a register for the next row. A 3-D box of radius 2 runs twice as fast and compiles in
 * a fifth of the time.
 *
 * A sum that is factored (nest/factors.h) is computed a row at a time, in pieces: the profiles of
 * the cells go to arrays p0, p1, ... that stay in the level 1 cache, from which the slices are
 * added.
 */
#include "nest/rows.h"

typedef ambit__rows_job job;

enum { PIECE = 512 }; /* cells of a piece, a multiple of those of a vector */

/* ---- term by term ---- */

/* Whether tap a comes before tap b: ordered by column, then along the row axis. */
static bool comes_before(const job *j, const ambit__tap *a, const ambit__tap *b)
{
  const int axis = ambit__rows_axis(j);

  for (int d = 0; d <= j->last; d++)
    if (d != axis && a->offset[d] != b->offset[d]) return a->offset[d] < b->offset[d];
  return axis >= 0 && a->offset[axis] < b->offset[axis];
}

static void sort_taps(const job *j)
{
  for (int i = 1; i < j->ntaps; i++)
    for (int k = i; k > 0 && comes_before(j, &j->taps[k], &j->taps[k - 1]); k--) {
      const ambit__tap t = j->taps[k];

      j->taps[k] = j->taps[k - 1];
      j->taps[k - 1] = t;
    }
}

void ambit__rows_add_sum(job *j)
{
  ambit__nest *n = j->n;
  const ambit_type type = ambit__nest_param(n, j->to)->type;

  sort_taps(j);
  for (int k = 0; k < j->ntaps; k++)
    for (int r = 0; r < j->count; r++) {
      const ambit__nest_access a =
          ambit__rows_access(j, j->from, 0, r, j->taps[k].offset, ambit__rows_x(j));

      ambit__nest_do(n, "%s%ss%d %s %s * %s", k ? "" : n->dialect->types[type], k ? "" : " ", r,
                     k ? "+=" : "=", ambit__nest_tap(n, type, &j->taps[k]),
                     ambit__nest_value(n, &a));
    }
  for (int r = 0; r < j->count; r++)
    ambit__nest_do(n, "%s = s%d", ambit__rows_result(j, j->to, 0, r), r);
}

/* ---- factored ---- */

static const char *cell_at(const void *user, const int *offset)
{
  job *j = (job *)user;
  const ambit__nest_access a = ambit__rows_access(j, j->from, 0, 0, offset, "x");

  return ambit__nest_value(j->n, &a);
}

/* The groups of a cell, and the profiles: p1[x - base] = 0.3f * g0 + ...; */
static void add_profiles(job *j, const ambit__factors *f)
{
  const ambit_type type = ambit__nest_param(j->n, j->to)->type;

  ambit__nest_let_groups(j->n, type, f, cell_at, j);
  for (int p = 0; p < f->nprofiles; p++)
    ambit__nest_do(j->n, "p%d[x - base] = %s", p, ambit__nest_profile(j->n, type, f, p));
}

static const char *slices_of(job *j, const ambit__factors *f)
{
  const ambit_type type = ambit__nest_param(j->n, j->to)->type;
  const char *sum = "";

  for (const ambit__factor_slice *s = f->slices; s < f->slices + f->nslices; s++)
    sum = ambit__nest_text(j->n, "%s%s%sp%d[x - base + (%d)]", sum, s == f->slices ? "" : " + ",
                           ambit__nest_slice(j->n, type, s), s->profile, s->at);
  return sum;
}

/* A loop over cells: up to the first whole vector, then from there. Unaligned loads take twice the
 * time of others on ARM processors. */
static void open_cells(job *j, const char *first, const char *end)
{
  ambit__nest *n = j->n;

  ambit__nest_do(n, "const long %s_up = (%s + LANES - 1) & -LANES", first, first);
  ambit__nest_loop(n, .type = "long", .name = "y",
                   .from = ambit__nest_text(n, "%s, to = %s_up < %s ? %s_up : %s", first, first,
                                            end, first, end),
                   .below = end, .step = ambit__nest_text(n, "to - y, to = %s", end));
  ambit__nest_loop(n, .type = "long", .name = "x", .from = "y", .below = "to", .how = LOOP_VECTOR);
}

static void close_cells(job *j)
{
  ambit__nest_close(j->n);
  ambit__nest_close(j->n);
}

/* Whole vectors bypass the caches. */
static void store_piece(job *j)
{
  ambit__nest *n = j->n;

  ambit__nest_do(n, "const long rest = b1 & -LANES");
  ambit__nest_for(n, "long", "x", "b0", "(b0_up < b1 ? b0_up : b1)");
  ambit__nest_do(n, "row[x] = out[x - start]");
  ambit__nest_close(n);
  ambit__nest_if(n, "b0_up < rest");
  ambit__nest_do(n, "ambit_put_nontemporal(row + b0_up, out + (b0_up - start), "
                    "(int)((rest - b0_up) * (long)sizeof *row))");
  ambit__nest_close(n);
  ambit__nest_for(n, "long", "x", "(rest > b0_up ? rest : b0_up)", "b1");
  ambit__nest_do(n, "row[x] = out[x - start]");
  ambit__nest_close(n);
}

/* Cells b0 .. b1 - 1 of the row. */
static void add_piece(job *j, const ambit__factors *f)
{
  ambit__nest *n = j->n;
  const char *type = ambit__nest_type(n, j->to);

  for (int p = 0; p < f->nprofiles; p++)
    ambit__nest_do(n, "%s p%d[PIECE + LAST - FIRST + LANES] __attribute__((aligned(AMBIT_VECTOR)))",
                   type, p);
  ambit__nest_do(n, "const long from = b0 + FIRST, end = b1 + LAST, base = from & -LANES");
  open_cells(j, "from", "end");
  add_profiles(j, f);
  close_cells(j);
  if (j->r->nontemporal) {
    ambit__nest_do(n, "const long start = b0 & -LANES");
    ambit__nest_do(n, "%s out[PIECE + LANES] __attribute__((aligned(AMBIT_VECTOR)))", type);
  }
  open_cells(j, "b0", "b1");
  ambit__nest_do(n, j->r->nontemporal ? "out[x - start] = %s" : "row[x] = %s", slices_of(j, f));
  close_cells(j);
  if (j->r->nontemporal) store_piece(j);
}

void ambit__rows_add_factored(job *j)
{
  ambit__nest *n = j->n;
  ambit__factors f = {0};

  if (!ambit__factors_begin(&f, j->taps, j->ntaps, j->last)) n->failed = true;
  if (!n->failed) {
    ambit__nest_do(n, "enum { PIECE = %d, FIRST = %d, LAST = %d }", PIECE, f.slices[0].at,
                   f.slices[f.nslices - 1].at);
    ambit__nest_do(n, "%s *restrict row = %s_row", ambit__nest_type(n, j->to),
                   ambit__nest_name(n, j->to));
    ambit__nest_loop(n, .type = "long", .name = "b0", .from = "x0", .below = "x1",
                     .step = "PIECE - (b0 & (PIECE - 1))");
    ambit__nest_do(n,
                   "const long next = b0 + PIECE - (b0 & (PIECE - 1)), b1 = next < x1 ? next : x1");
    add_piece(j, &f);
    ambit__nest_close(n);
  }
  ambit__factors_end(&f);
}
