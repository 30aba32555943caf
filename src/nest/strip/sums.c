/* SPDX-License-Identifier: BSD-3-Clause */
/* sums.c - the work on one plane of a weighted sum.
 *
 * Instead of the planes that a result depends on, the warp keeps partial results: w - 1 planes of
 * them for sums over w planes. Each arriving plane is added to all of them, completes the oldest,
 * and starts a new one in its place. The order of the terms differs from the user's, so strict mode
 * does not use this.
 *
 * Large sums, whose registers are shifted, are added row by row: an arriving row is exchanged with
 * the adjacent lanes, added to every result it belongs to, and then dropped; w planes of results
 * are kept.
 */
#include "nest/strip/strip.h"

#include <string.h>

/* The written parameter of a sum; the other one is read. */
static int target_of(const ambit__strip *w)
{
  return w->n->rule->params[1].is_written;
}

static const char *name_of(const ambit__strip *w)
{
  return ambit__nest_param(w->n, target_of(w))->name;
}

static ambit_type type_of(const ambit__strip *w)
{
  return ambit__nest_param(w->n, target_of(w))->type;
}

/* "0.25f": the weight of term k. */
static const char *factor_of(const ambit__strip *w, int k)
{
  return ambit__nest_tap(w->n, type_of(w), &w->taps[k]);
}

/* ---- sums ---- */

/* Planes of partial results that are kept. */
static int kept(const ambit__strip *w)
{
  return w->by_rows ? w->span : w->span - 1;
}

void ambit__strip_let_sums(const ambit__strip *w)
{
  ambit__nest_note(w->n, "results that are not complete");
  ambit__nest_node(w->n, NODE_ARRAY, .type = ambit__nest_type(w->n, target_of(w)),
                   .name = ambit__nest_text(w->n, "%s_sum", name_of(w)),
                   .size = {kept(w), w->rows, w->lane}, .zeroed = true);
}

void ambit__strip_shift_sums(const ambit__strip *w)
{
  ambit__strip_rotate(w, ambit__nest_text(w->n, "%s_sum", name_of(w)), target_of(w), kept(w),
                      w->rows, w->lane);
}

/* "v_sum[(p + 1) % 2]": the results `later` planes after those being completed. */
static const char *sum_of(const ambit__strip *w, int later)
{
  if (kept(w) == 1) return ambit__nest_text(w->n, "%s_sum[0]", name_of(w));
  if (later % kept(w) == 0) return ambit__nest_text(w->n, "%s_sum[p %% %d]", name_of(w), kept(w));
  return ambit__nest_text(w->n, "%s_sum[(p + %d) %% %d]", name_of(w), later, kept(w));
}

/* "v_sum[(p + 1) % 2][t][j]": one of them. */
static const char *result_at(const ambit__strip *w, int later)
{
  return ambit__nest_text(w->n, "%s[t][j]", sum_of(w, later));
}

/* The cell at which a term is read: along z, in the plane that has just arrived. */
static const char *cell_at(const ambit__strip *w, const int *place)
{
  int offset[AMBIT_MAX_DIMS];

  memcpy(offset, place, sizeof offset);
  offset[w->z] = w->high;
  return ambit__strip_cell(w, !target_of(w), 0, offset);
}

/* ---- result by result ---- */

/* "sum", or "v_sum[(p + 1) % 2][t][j]": the result that plane `plane` is added to. */
static const char *result_of(const ambit__strip *w, int plane)
{
  return plane == w->high ? "sum" : result_at(w, w->high - plane);
}

/* Adds the terms of plane `plane` to a variable; with `begins`, sets it. */
static void add_terms(const ambit__strip *w, int plane, bool begins)
{
  for (int k = 0; k < w->ntaps; k++) {
    if (w->taps[k].offset[w->z] != plane) continue;
    ambit__nest_do(w->n, "%s %s %s * %s", result_of(w, plane), begins ? "=" : "+=", factor_of(w, k),
                   cell_at(w, w->taps[k].offset));
    begins = false;
  }
}

/* ---- with fewer operations: nest/factors.h ---- */

static const char *factored_cell(const void *user, const int *offset)
{
  return cell_at(user, offset);
}

/* Groups and profiles of the plane that has arrived: "const float f0 = 0.3f * g0 + 0.1f * g1;". */
static void let_factors(const ambit__strip *w)
{
  ambit__nest_let_groups(w->n, type_of(w), &w->factors, factored_cell, w);
  for (int p = 0; p < w->factors.nprofiles; p++)
    ambit__nest_do(w->n, "const %s f%d = %s", ambit__nest_type(w->n, target_of(w)), p,
                   ambit__nest_profile(w->n, type_of(w), &w->factors, p));
}

/* Adds the slice of plane `plane` to a variable; with `begins`, sets it. */
static void add_slice(const ambit__strip *w, int plane, bool begins)
{
  for (const ambit__factor_slice *s = w->factors.slices; s < w->factors.slices + w->factors.nslices;
       s++)
    if (s->at == plane)
      ambit__nest_do(w->n, "%s %s %sf%d", result_of(w, plane),
                     begins ? "=" : "+=", ambit__nest_slice(w->n, type_of(w), s), s->profile);
}

static void add_to_result(const ambit__strip *w)
{
  const char *type = ambit__nest_type(w->n, target_of(w));
  const int low = w->high - w->span + 1;

  ambit__nest_do(w->n, "%s sum = %s", type, result_at(w, 0));
  if (w->factored) let_factors(w);
  for (int plane = w->high; plane >= low; plane--)
    (w->factored ? add_slice : add_terms)(w, plane, plane == low);
  ambit__nest_do(w->n, "%s_n[j] = sum", name_of(w));
}

/* ---- row by row ---- */

static void begin_sums(const ambit__strip *w)
{
  ambit__nest_unroll(w->n, "t", 0, w->rows);
  ambit__nest_unroll(w->n, "j", 0, w->lane);
  ambit__nest_do(w->n, "%s = 0", result_at(w, w->span - 1));
  ambit__nest_close(w->n);
  ambit__nest_close(w->n);
}

/* "if (q >= 1 && q < 3) v_sum[(p + 1) % 3][q - 1][j] += 0.25f * u_w[(p + 1) % 3][q][j + 1];" */
static void add_from_row(const ambit__strip *w, const ambit__strip_value *s, int k)
{
  const ambit__tap *tap = &w->taps[k];
  const int first = s->below + tap->offset[w->y];

  ambit__nest_if(w->n, "q >= %d && q < %d", first, first + w->rows);
  ambit__nest_do(w->n, "%s[q - %d][j] += %s * %s", sum_of(w, w->high - tap->offset[w->z]), first,
                 factor_of(w, k), ambit__strip_arrived(w, s, tap->offset[w->x]));
  ambit__nest_close(w->n);
}

/* Adds each row of a value to all results it belongs to. */
static void add_rows(const ambit__strip *w, const ambit__strip_value *s)
{
  ambit__nest_unroll(w->n, "q", 0, s->nrows);
  ambit__strip_share_arrived(w, s);
  ambit__nest_unroll(w->n, "j", 0, w->lane);
  for (int k = 0; k < w->ntaps; k++)
    if (ambit__strip_find(w, !target_of(w), 0, w->taps[k].offset) == s) add_from_row(w, s, k);
  ambit__nest_close(w->n);
  ambit__nest_close(w->n);
}

/* ---- the plane ---- */

void ambit__strip_sum(const ambit__strip *w)
{
  if (w->by_rows) begin_sums(w);
  for (int i = 0; w->by_rows && i < w->nvalues; i++)
    add_rows(w, &w->values[i]);
  ambit__nest_unroll(w->n, "t", 0, w->rows);
  ambit__strip_let_results(w);
  ambit__nest_unroll(w->n, "j", 0, w->lane);
  if (w->by_rows)
    ambit__nest_do(w->n, "%s_n[j] = %s", name_of(w), result_at(w, 0));
  else
    add_to_result(w);
  ambit__nest_close(w->n);
  ambit__strip_store(w);
  ambit__nest_close(w->n);
}
