/* stream_sum.c - the work on one plane of a weighted sum.
 *
 * Instead of the planes that a result depends on, the results that are not complete yet are kept: w - 1 planes of them for sums
 * over w planes. The plane that arrives goes into all of them, completes the oldest, and begins a new one in its
 * place. Terms are added in another order than the user's, so strict mode does without.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "plan/stream.h"

/* The written parameter of a sum; the other is the one that is read. */
static int target_of(const ambit__stream_job *j)
{
  return j->gpu.rule->params[1].is_written;
}

void ambit__stream_declare_sums(const ambit__stream_job *j)
{
  const int to = target_of(j);

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s %s_sum[%d]", ambit__gpu_type(&j->gpu, to),
               j->gpu.rule->params[to].name, j->span - 1);
  if (j->y >= 0) ambit__print(j->gpu.t, "[%d]", j->rows);
  ambit__print(j->gpu.t, "[%d] = {}", j->lane);
  ambit__line_end(j->gpu.w, "; /* results that are not complete */");
}

void ambit__stream_move_sums(const ambit__stream_job *j)
{
  ambit__line(j->gpu.w, "ambit_rotate(%s_sum);", j->gpu.rule->params[target_of(j)].name);
}

/* "v_sum[(p + 1) % 2][t][j]": the result `later` planes after the one that is being completed. */
static void print_sum(const ambit__stream_job *j, int later)
{
  const int kept = j->span - 1;

  ambit__print(j->gpu.t, "%s_sum[", j->gpu.rule->params[target_of(j)].name);
  if (kept == 1)
    ambit__print(j->gpu.t, "0");
  else if (later % kept == 0)
    ambit__print(j->gpu.t, "p %% %d", kept);
  else
    ambit__print(j->gpu.t, "(p + %d) %% %d", later, kept);
  ambit__print(j->gpu.t, "]%s[j]", j->y >= 0 ? "[t]" : "");
}

static void print_term(const ambit__stream_job *j, const ambit__tap *tap)
{
  const ambit_type type = j->gpu.rule->params[target_of(j)].type;
  int offset[AMBIT_MAX_DIMS];

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    offset[d] = tap->offset[d];
  offset[j->z] = j->high; /* it has just arrived */
  ambit__emit_constant(j->gpu.dialect, j->gpu.t, type, ambit__value_of(tap->weight, type));
  ambit__print(j->gpu.t, " * ");
  ambit__stream_print_cell(j, !target_of(j), 0, offset);
}

/* Adds the terms of plane `plane` to a variable, or with `begins` sets it. */
static void add_terms(const ambit__stream_job *j, int plane, bool begins)
{
  const int later = j->high - plane;

  for (int k = 0; k < j->ntaps; k++) {
    if (j->taps[k].offset[j->z] != plane) continue;
    ambit__line_begin(j->gpu.w);
    if (later)
      print_sum(j, later);
    else
      ambit__print(j->gpu.t, "sum");
    ambit__print(j->gpu.t, " %s ", begins ? "=" : "+=");
    print_term(j, &j->taps[k]);
    ambit__line_end(j->gpu.w, ";");
    begins = false;
  }
}

static void emit_cell(const ambit__stream_job *j)
{
  const int to = target_of(j), low = j->high - j->span + 1;

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s sum = ", ambit__gpu_type(&j->gpu, to));
  print_sum(j, 0);
  ambit__line_end(j->gpu.w, ";");
  for (int plane = j->high; plane >= low; plane--)
    add_terms(j, plane, plane == low);
  ambit__line(j->gpu.w, "%s_n[j] = sum;", j->gpu.rule->params[to].name);
}

void ambit__stream_emit_sum(const ambit__stream_job *j)
{
  if (j->y >= 0) ambit__stream_unroll(j, "t", 0, j->rows);
  ambit__stream_declare_results(j);
  ambit__stream_unroll(j, "j", 0, j->lane);
  emit_cell(j);
  ambit__close(j->gpu.w);
  ambit__stream_store(j);
  if (j->y >= 0) ambit__close(j->gpu.w);
}
