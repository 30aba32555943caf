/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_factors.c - a row of a weighted sum with fewer operations (plan/factors.h), a piece at a
 * time: the profiles of its cells go to arrays p0, p1, ... that stay in the level 1 cache, from
 * which the slices are added. */
#include "plan/rows.h"

typedef ambit__rows_job job;

enum { PIECE = 512 }; /* cells, a multiple of those of a vector */

static void print_weight(const job *j, double weight)
{
  const ambit__tap w = ambit__factors_weight(j->factors, weight);

  ambit__rows_print_weight(j, &w);
}

/* const float g1 = *(u_at + u_s0 + x) + ...; */
static void emit_group(const job *j, int g)
{
  const ambit__factors *f = j->factors;
  bool any = false;

  ambit__line_begin(j->w);
  ambit__print(j->t, "const %s g%d =", ambit__rows_type_of(j, j->to), g);
  for (int i = 0; i < f->nplaces; i++) {
    ambit__rows_place p = {.lanes = false};

    if (f->group[i] != g) continue;
    for (int d = 0; d < j->ndims; d++)
      p.offset[d] = f->places[i][d];
    ambit__print(j->t, any ? " + *(" : " *(");
    ambit__rows_print_pointer(j, j->from, 0, &p);
    ambit__print(j->t, ")");
    any = true;
  }
  ambit__line_end(j->w, ";");
}

/* p1[x - base] = 0.3f * g0 + ...; */
static void emit_profile(const job *j, int p)
{
  const ambit__factors *f = j->factors;

  ambit__line_begin(j->w);
  ambit__print(j->t, "p%d[x - base] = ", p);
  for (int g = 0; g < f->ngroups; g++) {
    if (g) ambit__print(j->t, " + ");
    print_weight(j, f->weights[p * f->ngroups + g]);
    ambit__print(j->t, " * g%d", g);
  }
  ambit__line_end(j->w, ";");
}

static void emit_slices(const job *j)
{
  const ambit__factors *f = j->factors;

  ambit__line_begin(j->w);
  ambit__print(j->t, j->plan->nontemporal ? "out[x - start] = " : "at[x] = ");
  for (int s = 0; s < f->nslices; s++) {
    if (s) ambit__print(j->t, " + ");
    if (f->slices[s].factor != 1) {
      ambit__rows_print_weight(j, &(ambit__tap){.weight = f->slices[s].factor});
      ambit__print(j->t, " * ");
    }
    ambit__print(j->t, "p%d[x - base + (%d)]", f->slices[s].profile, f->slices[s].at);
  }
  ambit__line_end(j->w, ";");
}

/* A loop over cells: up to the first whole vector, then from there. Unaligned loads take twice the
 * time of others on ARM processors. */
static void open_cells(const job *j, const char *first, const char *end)
{
  ambit__line(j->w, "const long %s_up = (%s + LANES - 1) & -LANES;", first, first);
  ambit__open(j->w, "for (long y = %s, to = %s_up < %s ? %s_up : %s; y < %s; y = to, to = %s)",
              first, first, end, first, end, end, end);
  ambit__print(j->t, "#pragma omp simd\n");
  ambit__open(j->w, "for (long x = y; x < to; x++)");
}

static void close_cells(const job *j)
{
  ambit__close(j->w);
  ambit__close(j->w);
}

/* Whole vectors bypass the caches. */
static void emit_stores(const job *j)
{
  ambit__line(j->w, "const long rest = b1 & -LANES;");
  ambit__line(j->w, "for (long x = b0; x < b1 && x < b0_up; x++) at[x] = out[x - start];");
  ambit__line(j->w, "if (b0_up < rest) ambit_put_past(at + b0_up, out + (b0_up - start), "
                    "(int)((rest - b0_up) * (long)sizeof *at));");
  ambit__line(j->w,
              "for (long x = rest > b0_up ? rest : b0_up; x < b1; x++) at[x] = out[x - start];");
}

/* Cells b0 .. b1 - 1 of the row. */
static void emit_piece(const job *j)
{
  const ambit__factors *f = j->factors;
  const char *type = ambit__rows_type_of(j, j->to);

  for (int p = 0; p < f->nprofiles; p++)
    ambit__line(j->w, "%s p%d[PIECE + LAST - FIRST + LANES] %s;", type, p,
                "__attribute__((aligned(AMBIT_VECTOR)))");
  ambit__line(j->w, "const long from = b0 + FIRST, end = b1 + LAST, base = from & -LANES;");
  open_cells(j, "from", "end");
  for (int g = 0; g < f->ngroups; g++)
    emit_group(j, g);
  for (int p = 0; p < f->nprofiles; p++)
    emit_profile(j, p);
  close_cells(j);
  if (j->plan->nontemporal) {
    ambit__line(j->w, "const long start = b0 & -LANES;");
    ambit__line(j->w, "%s out[PIECE + LANES] __attribute__((aligned(AMBIT_VECTOR)));", type);
  }
  open_cells(j, "b0", "b1");
  emit_slices(j);
  close_cells(j);
  if (j->plan->nontemporal) emit_stores(j);
}

void ambit__rows_emit_factored(const job *j)
{
  const ambit__factors *f = j->factors;

  ambit__rows_open_function(j, "static __attribute__((noinline))", "rows", 1, "total",
                            ", int64_t x0, int64_t x1");
  ambit__line(j->w, "enum { PIECE = %d, FIRST = %d, LAST = %d };", PIECE, f->slices[0].at,
              f->slices[f->nslices - 1].at);
  ambit__line(j->w, "%s *restrict at = %s_at;", ambit__rows_type_of(j, j->to),
              ambit__rows_param(j, j->to)->name);
  ambit__open(j->w, "for (long b0 = x0, b1; b0 < x1; b0 = b1)");
  ambit__line(j->w, "b1 = (b0 + PIECE) & -PIECE;");
  ambit__line(j->w, "if (b1 > x1) b1 = x1;");
  emit_piece(j);
  ambit__close(j->w);
  ambit__close(j->w);
}
