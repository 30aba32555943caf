/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_sum.c - the work on one plane of a weighted sum.
 *
 * Instead of the planes that a result depends on, the warp keeps partial results: w - 1 planes of
 * them for sums over w planes. Each arriving plane is added to all of them, completes the oldest,
 * and starts a new one in its place. The order of the terms differs from the user's, so strict mode
 * does not use this.
 *
 * Large sums, whose registers are shifted, are added row by row: an arriving row is exchanged with
 * the adjacent lanes, added to every result it belongs to, and then dropped; w planes of results
 * are kept. Their weights in double do not fit in an instruction, so they are in constant memory,
 * from which instructions read them as operands.
 */
#include "plan/stream.h"

#include <math.h>

/* The written parameter of a sum; the other one is read. */
static int target_of(const ambit__stream_job *j)
{
  return j->gpu.rule->params[1].is_written;
}

static const char *name_of(const ambit__stream_job *j)
{
  return j->gpu.rule->params[target_of(j)].name;
}

static ambit_type type_of(const ambit__stream_job *j)
{
  return j->gpu.rule->params[target_of(j)].type;
}

/* ---- weights ---- */

static bool has_table(const ambit__stream_job *j)
{
  return j->by_rows && type_of(j) == AMBIT_F64 && ambit__taps_are_numbers(j->taps, j->ntaps);
}

/* "0.25f", "-once1" */
static void print_weight(const ambit__stream_job *j, const ambit__tap *tap)
{
  const ambit__scope s = ambit__gpucode_scope(&j->gpu);

  if (!tap->factor || fabs(tap->weight) != 1)
    ambit__emit_constant(j->gpu.dialect, j->gpu.t, type_of(j),
                         ambit__value_of(tap->weight, type_of(j)));
  else if (tap->weight < 0)
    ambit__print(j->gpu.t, "-");
  if (!tap->factor) return;
  if (fabs(tap->weight) != 1) ambit__print(j->gpu.t, " * ");
  ambit__emit_expr(&s, j->gpu.t, tap->factor);
}

void ambit__stream_declare_weights(const ambit__stream_job *j)
{
  if (!has_table(j)) return;
  ambit__print(j->gpu.t, "\nAMBIT_TABLE %s ambit_weights[%d] = {\n    ",
               ambit__gpucode_type(&j->gpu, target_of(j)), j->ntaps);
  for (int k = 0; k < j->ntaps; k++) {
    ambit__print(j->gpu.t, "%s", k == 0 ? "" : k % 5 ? ", " : ",\n    ");
    print_weight(j, &j->taps[k]);
  }
  ambit__print(j->gpu.t, "};\n");
}

/* ---- sums ---- */

/* Planes of partial results that are kept. */
static int kept(const ambit__stream_job *j)
{
  return j->by_rows ? j->span : j->span - 1;
}

void ambit__stream_declare_sums(const ambit__stream_job *j)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s %s_sum[%d]", ambit__gpucode_type(&j->gpu, target_of(j)), name_of(j),
               kept(j));
  if (j->y >= 0) ambit__print(j->gpu.t, "[%d]", j->rows);
  ambit__print(j->gpu.t, "[%d] = {0}", j->lane);
  ambit__line_end(j->gpu.w, "; /* results that are not complete */");
}

void ambit__stream_move_sums(const ambit__stream_job *j)
{
  ambit__text name = {0};

  ambit__print(&name, "%s_sum", name_of(j));
  ambit__stream_rotate(j, name.chars ? name.chars : "", target_of(j), kept(j), j->rows, j->lane);
  ambit__text_free(&name);
}

/* "v_sum[(p + 1) % 2]": the results `later` planes after those being completed. */
static void print_sum(const ambit__stream_job *j, int later)
{
  ambit__print(j->gpu.t, "%s_sum[", name_of(j));
  if (kept(j) == 1)
    ambit__print(j->gpu.t, "0]");
  else if (later % kept(j) == 0)
    ambit__print(j->gpu.t, "p %% %d]", kept(j));
  else
    ambit__print(j->gpu.t, "(p + %d) %% %d]", later, kept(j));
}

/* "[t][j]" */
static void print_cell(const ambit__stream_job *j)
{
  ambit__print(j->gpu.t, j->y >= 0 ? "[t][j]" : "[j]");
}

/* "0.25f * ", or an entry of the table. */
static void print_factor(const ambit__stream_job *j, int k)
{
  if (has_table(j))
    ambit__print(j->gpu.t, "ambit_weights[%d]", k);
  else
    print_weight(j, &j->taps[k]);
  ambit__print(j->gpu.t, " * ");
}

/* The offset at which a term is read: along z, in the plane that has just arrived. */
static void place_of(const ambit__stream_job *j, int k, int *offset)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    offset[d] = j->taps[k].offset[d];
  offset[j->z] = j->high;
}

/* ---- result by result ---- */

/* "sum", or "v_sum[(p + 1) % 2][t][j]": the result that plane `plane` is added to. */
static void print_result(const ambit__stream_job *j, int plane)
{
  if (plane == j->high) {
    ambit__print(j->gpu.t, "sum");
    return;
  }
  print_sum(j, j->high - plane);
  print_cell(j);
}

/* Adds the terms of plane `plane` to a variable; with `begins`, sets it. */
static void add_terms(const ambit__stream_job *j, int plane, bool begins)
{
  for (int k = 0; k < j->ntaps; k++) {
    int offset[AMBIT_MAX_DIMS];

    if (j->taps[k].offset[j->z] != plane) continue;
    place_of(j, k, offset);
    ambit__line_begin(j->gpu.w);
    print_result(j, plane);
    ambit__print(j->gpu.t, " %s ", begins ? "=" : "+=");
    print_factor(j, k);
    ambit__stream_print_cell(j, !target_of(j), 0, offset);
    ambit__line_end(j->gpu.w, ";");
    begins = false;
  }
}

/* ---- with fewer operations: nest/factors.h ---- */

static void print_number(const ambit__stream_job *j, double x)
{
  ambit__emit_constant(j->gpu.dialect, j->gpu.t, type_of(j), ambit__value_of(x, type_of(j)));
}

/* "const float g1 = u_w[p][t + 1][j + 2] + ...;" */
static void add_group(const ambit__stream_job *j, int g)
{
  const ambit__factors *f = &j->factors;
  bool any = false;

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const %s g%d = ", ambit__gpucode_type(&j->gpu, target_of(j)), g);
  for (int i = 0; i < f->nplaces; i++) {
    int offset[AMBIT_MAX_DIMS];

    if (f->group[i] != g) continue;
    for (int d = 0; d < AMBIT_MAX_DIMS; d++)
      offset[d] = f->places[i][d];
    offset[j->z] = j->high;
    if (any) ambit__print(j->gpu.t, " + ");
    ambit__stream_print_cell(j, !target_of(j), 0, offset);
    any = true;
  }
  ambit__line_end(j->gpu.w, ";");
}

/* "0.3f * g0 + 0.1f * g1": the groups of a profile. */
static void print_profile(const ambit__stream_job *j, int profile)
{
  const ambit__factors *f = &j->factors;
  bool any = false;

  for (int g = 0; g < f->ngroups; g++) {
    const ambit__tap w = ambit__factors_weight(f, f->weights[profile * f->ngroups + g]);

    if (w.weight == 0) continue;
    if (any) ambit__print(j->gpu.t, " + ");
    print_weight(j, &w);
    ambit__print(j->gpu.t, " * g%d", g);
    any = true;
  }
}

/* Groups and profiles of the plane that has arrived. */
static void declare_factors(const ambit__stream_job *j)
{
  for (int g = 0; g < j->factors.ngroups; g++)
    add_group(j, g);
  for (int p = 0; p < j->factors.nprofiles; p++) {
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "const %s f%d = ", ambit__gpucode_type(&j->gpu, target_of(j)), p);
    print_profile(j, p);
    ambit__line_end(j->gpu.w, ";");
  }
}

/* Adds the slice of plane `plane` to a variable; with `begins`, sets it. */
static void add_slice(const ambit__stream_job *j, int plane, bool begins)
{
  for (int s = 0; s < j->factors.nslices; s++) {
    const ambit__factor_slice *slice = &j->factors.slices[s];

    if (slice->at != plane) continue;
    ambit__line_begin(j->gpu.w);
    print_result(j, plane);
    ambit__print(j->gpu.t, begins ? " = " : " += ");
    if (slice->factor != 1) print_number(j, slice->factor);
    ambit__print(j->gpu.t, slice->factor != 1 ? " * f%d" : "f%d", slice->profile);
    ambit__line_end(j->gpu.w, ";");
  }
}

/* "const float was1 = v_sum[(p + 1) % 4][t][j];" */
static void note_result(const ambit__stream_job *j, int plane)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const %s was%d = ", ambit__gpucode_type(&j->gpu, target_of(j)), plane);
  print_result(j, plane);
  ambit__line_end(j->gpu.w, ";");
}

/* A cell beside the box that is stored with it keeps the value that its own plane brings. */
static void keep_result(const ambit__stream_job *j, int plane)
{
  int here[AMBIT_MAX_DIMS] = {0};

  here[j->z] = j->high;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "if (stays) ");
  print_result(j, plane);
  ambit__print(j->gpu.t, " = ");
  if (plane > 0)
    ambit__print(j->gpu.t, "was%d", plane);
  else
    ambit__stream_print_cell(j, !target_of(j), 0, here);
  ambit__line_end(j->gpu.w, ";");
}

static void add_to_result(const ambit__stream_job *j)
{
  const int low = j->high - j->span + 1;

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s sum = ", ambit__gpucode_type(&j->gpu, target_of(j)));
  print_sum(j, 0);
  print_cell(j);
  ambit__line_end(j->gpu.w, ";");
  if (j->factored) declare_factors(j);
  if (j->whole)
    ambit__line(j->gpu.w, "const bool stays = (j < %d || j >= %d) && !(mine >> j & 1);", j->head,
                j->lane - j->tail);
  for (int plane = j->high; plane >= low; plane--) {
    if (j->whole && plane > 0) note_result(j, plane);
    if (j->factored)
      add_slice(j, plane, plane == low);
    else
      add_terms(j, plane, plane == low);
    if (j->whole && plane >= 0) keep_result(j, plane);
  }
  ambit__line(j->gpu.w, "%s_n[j] = sum;", name_of(j));
}

/* ---- row by row ---- */

static void begin_sums(const ambit__stream_job *j)
{
  if (j->y >= 0) ambit__stream_unroll(j, "t", 0, j->rows);
  ambit__stream_unroll(j, "j", 0, j->lane);
  ambit__line_begin(j->gpu.w);
  print_sum(j, j->span - 1);
  print_cell(j);
  ambit__line_end(j->gpu.w, " = 0;");
  ambit__close(j->gpu.w);
  if (j->y >= 0) ambit__close(j->gpu.w);
}

/* "if (q >= 1 && q < 3) v_sum[(p + 1) % 3][q - 1][j] += 0.25f * u_w[(p + 1) % 3][q][j + 1];" */
static void add_from_row(const ambit__stream_job *j, const ambit__stream *s, int k)
{
  const ambit__tap *tap = &j->taps[k];
  const int first = j->y >= 0 ? s->below + tap->offset[j->y] : 0;

  ambit__line_begin(j->gpu.w);
  if (j->y >= 0) ambit__print(j->gpu.t, "if (q >= %d && q < %d) ", first, first + j->rows);
  print_sum(j, j->high - tap->offset[j->z]);
  if (j->y >= 0) ambit__print(j->gpu.t, "[q - %d]", first);
  ambit__print(j->gpu.t, "[j] += ");
  print_factor(j, k);
  ambit__stream_print_arrived(j, s, tap->offset[j->x]);
  ambit__line_end(j->gpu.w, ";");
}

/* Adds each row of a stream to all results it belongs to. */
static void add_rows(const ambit__stream_job *j, const ambit__stream *s)
{
  if (j->y >= 0) ambit__stream_unroll(j, "q", 0, s->nrows);
  ambit__stream_share_arrived(j, s);
  ambit__stream_unroll(j, "j", 0, j->lane);
  for (int k = 0; k < j->ntaps; k++) {
    int offset[AMBIT_MAX_DIMS];

    place_of(j, k, offset);
    if (ambit__stream_find(j, !target_of(j), 0, offset) == s) add_from_row(j, s, k);
  }
  ambit__close(j->gpu.w);
  if (j->y >= 0) ambit__close(j->gpu.w);
}

static void take_result(const ambit__stream_job *j)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s_n[j] = ", name_of(j));
  print_sum(j, 0);
  print_cell(j);
  ambit__line_end(j->gpu.w, ";");
}

/* ---- the plane ---- */

void ambit__stream_emit_sum(const ambit__stream_job *j)
{
  if (j->by_rows) begin_sums(j);
  for (int i = 0; j->by_rows && i < j->nstreams; i++)
    add_rows(j, &j->streams[i]);
  if (j->y >= 0) ambit__stream_unroll(j, "t", 0, j->rows);
  ambit__stream_declare_results(j);
  ambit__stream_unroll(j, "j", 0, j->lane);
  if (j->by_rows)
    take_result(j);
  else
    add_to_result(j);
  ambit__close(j->gpu.w);
  ambit__stream_store(j);
  if (j->y >= 0) ambit__close(j->gpu.w);
}
