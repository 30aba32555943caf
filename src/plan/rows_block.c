/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_block.c - the functions of the strategy `rows` that update blocks of rows: singleN, vectorN
 * and rowsN.
 *
 * A block is N rows that are processed together to share loads: adjacent rows, or the same row of
 * several planes.
 */
#include "plan/rows.h"

#include <stdio.h>
#include <string.h>

typedef ambit__rows_job job;
typedef ambit__rows_place place;

place ambit__rows_place_of(const job *j, const int rows[2], int r, bool lanes)
{
  place p = {.r = r, .lanes = lanes};

  if (j->ndims >= 2) p.offset[j->last - 1] = r % rows[0];
  if (j->ndims >= 3) p.offset[j->last - 2] = r / rows[0];
  return p;
}

static bool is_elsewhere(const place *p)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (p->offset[d]) return true;
  return false;
}

/* "u_at + u_s0 + x + l": component c of field i in the row of a place, at `x` ("": at its start).
 */
static void print_pointer(const job *j, int i, int c, const place *p, const char *x)
{
  ambit__print(j->t, "%s_at", ambit__rows_param(j, i)->name);
  if (c || is_elsewhere(p)) {
    ambit__print(j->t, " + ");
    ambit__rows_print_offset(j, j->t, i, c, p->offset);
  }
  if (!*x) return;
  if (j->bind[i].contiguous)
    ambit__print(j->t, " + %s", x);
  else
    ambit__print(j->t, " + (%s) * %s_s%d", x, ambit__rows_param(j, i)->name, j->last);
}

void ambit__rows_print_pointer(const job *j, int i, int c, const place *p)
{
  print_pointer(j, i, c, p, p->lanes ? "x + l" : "x");
}

/* Where the cell of a place stores a component. */
static void print_target(const job *j, int i, int c, const place *p)
{
  const int *target = ambit__param_target(ambit__rows_param(j, i), c);
  place there = *p;

  for (int d = 0; d < j->ndims; d++)
    there.offset[d] += target[d];
  ambit__rows_print_pointer(j, i, c, &there);
}

/* Pointers and indices of the row of a place, at `x`, a comma before each. */
static void print_shifted_places(const job *j, const place *p, const char *x)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__rows_is_field(j, i)) continue;
    ambit__print(j->t, ", ");
    print_pointer(j, i, 0, p, x);
  }
  for (int d = 0; j->rule->max_axis >= 0 && d < j->ndims; d++) {
    ambit__print(j->t, ", i%d", d);
    if (d == j->last && *x)
      ambit__print(j->t, " + %s", x);
    else if (p->offset[d])
      ambit__print(j->t, " + %d", p->offset[d]);
  }
  if (j->tests) ambit__print(j->t, ", inside");
}

void ambit__rows_print_buffer(const job *j, int i, int c, int r)
{
  ambit__print(j->t, "%s_b%d_%d", ambit__rows_param(j, i)->name, c, r);
}

static void pass_to(const job *j, int i, int c, const void *user)
{
  const place *p = user;

  ambit__print(j->t, ", ");
  if (p->lanes) {
    ambit__rows_print_buffer(j, i, c, p->r);
    ambit__print(j->t, " + l");
  } else {
    print_target(j, i, c, p);
  }
}

/* Where the cell of a place puts its contributions to reductions, a comma before each: into a
 * variable of its row, or, in a strict sum, its own element. */
static void pass_parts(const job *j, const place *p)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__rows_is_reduction(j, i)) continue;
    if (!ambit__rows_is_exact(j, i)) {
      ambit__print(j->t, ", &%s_of%d", ambit__rows_param(j, i)->name, p->r);
      continue;
    }
    ambit__print(j->t, ", %s_part", ambit__rows_param(j, i)->name);
    if (p->r) ambit__print(j->t, p->lanes ? " + %d * LANES" : " + %d", p->r);
    if (p->lanes) ambit__print(j->t, " + l");
  }
}

/* "float change_of0, change_of1;" */
static void declare_contributions(const job *j, int n)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__rows_is_reduction(j, i) || ambit__rows_is_exact(j, i)) continue;
    ambit__line_begin(j->w);
    ambit__print(j->t, "%s ", ambit__rows_part_type(j, i));
    for (int r = 0; r < n; r++)
      ambit__print(j->t, "%s%s_of%d", r ? ", " : "", ambit__rows_param(j, i)->name, r);
    ambit__line_end(j->w, ";");
  }
}

/* Folds the contributions of n rows by pairs, then into the part of the lane. One after the other
 * they would wait for each other: a maximum of 8 rows took twice the time of a star. */
static void fold_contributions(const job *j, int n, bool lanes)
{
  const ambit__scope s = ambit__rows_scope_of(j);
  char a[16], b[16];

  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__rows_is_reduction(j, i) || ambit__rows_is_exact(j, i)) continue;
    for (int step = 1; step < n; step *= 2)
      for (int r = 0; r + step < n; r += 2 * step) {
        snprintf(a, sizeof a, "of%d", r);
        snprintf(b, sizeof b, "of%d", r + step);
        ambit__rows_fold(j, &s, i, "", a, b, false);
      }
    ambit__rows_fold(j, &s, i, lanes ? "" : "*", lanes ? "part[l]" : "part", "of0", false);
  }
}

/* Begins a call of a function of one cell. */
static void begin_call(const job *j, const int rows[2], const place *p, const char *name)
{
  ambit__rows_load_shares(j, rows, p);
  ambit__line_begin(j->w);
  ambit__print(j->t, "%s(call", name);
  print_shifted_places(j, p, p->lanes ? "x + l" : "x");
  ambit__rows_print_invariants(j, PASS);
  ambit__rows_pass_shares(j, rows, p);
}

static void call_cell(const job *j, const int rows[2], const place *p)
{
  begin_call(j, rows, p, "cell");
  ambit__rows_pass_looks(j, p, "[l]");
  ambit__rows_each_output(j, pass_to, p);
  pass_parts(j, p);
  ambit__line_end(j->w, ");");
}

void ambit__rows_open_function(const job *j, const char *kind, const char *name, int n,
                               const char *accumulators, const char *tail)
{
  ambit__print(j->t, "\n%s void %s%d(const ambit_call *call", kind, name, n);
  ambit__rows_print_places(j, DECLARE);
  ambit__rows_print_invariants(j, DECLARE);
  ambit__rows_print_accumulators(j, DECLARE, accumulators);
  ambit__print(j->t, "%s)\n{\n", tail);
  j->w->depth++;
}

static void open_lanes(const job *j)
{
  ambit__print(j->t, "#pragma omp simd\n");
  ambit__open(j->w, "for (long l = 0; l < LANES; l++)");
}

/* All rows of a block at x, or at x + l. */
static void emit_cells(const job *j, const int rows[2], bool lanes)
{
  const int n = rows[0] * rows[1];

  if (j->taps) {
    ambit__rows_emit_sum(j, rows, lanes);
    return;
  }
  declare_contributions(j, n);
  for (int r = 0; r < n; r++) {
    place p = ambit__rows_place_of(j, rows, r, lanes);

    call_cell(j, rows, &p);
  }
  fold_contributions(j, n, lanes);
}

/* Looks up bytes for vectors of all rows of a block. */
static void emit_looks(const job *j, const int rows[2])
{
  const int n = rows[0] * rows[1];

  if (!j->nlooks) return;
  ambit__rows_declare_look_buffers(j, n);
  open_lanes(j);
  for (int r = 0; r < n; r++) {
    place p = ambit__rows_place_of(j, rows, r, true);

    begin_call(j, rows, &p, "subscripts");
    ambit__rows_pass_looks(j, &p, " + l");
    ambit__line_end(j->w, ");");
  }
  ambit__close(j->w);
  ambit__rows_look_up(j, n);
}

static void emit_single(const job *j, const int rows[2])
{
  const int n = rows[0] * rows[1];

  ambit__rows_open_function(j, "AMBIT_INLINE", "single", n, "part", ", long x");
  emit_cells(j, rows, false);
  ambit__close(j->w);
}

static void declare_buffer(const job *j, int i, int c, const void *user)
{
  ambit__line_begin(j->w);
  ambit__print(j->t, "%s ", ambit__rows_type_of(j, i));
  ambit__rows_print_buffer(j, i, c, ((const place *)user)->r);
  ambit__line_end(j->w, "[LANES] __attribute__((aligned(AMBIT_VECTOR)));");
}

/* ambit_put(v_at + x, v_b0_0, ...), or ambit_put_past, a non-temporal store. */
static void put_buffer(const job *j, int i, int c, const void *user)
{
  place p = *(const place *)user;

  p.lanes = false;
  ambit__line_begin(j->w);
  ambit__print(j->t, "ambit_%s(",
               j->plan->nontemporal && !ambit__rows_param(j, i)->keeps[c] ? "put_past" : "put");
  print_target(j, i, c, &p);
  ambit__print(j->t, ", ");
  ambit__rows_print_buffer(j, i, c, p.r);
  ambit__print(j->t, ", LANES * (int)sizeof(%s)", ambit__rows_type_of(j, i));
  ambit__line_end(j->w, ");");
}

/* The highest offset along `axis` at which any row of the block reads plane z (2-D: row z) of field
 * i; false: none reads it. */
static bool furthest(const job *j, const int rows[2], int i, int z, int axis, int *most)
{
  const ambit__param *p = ambit__rows_param(j, i);
  const int along = j->ndims >= 3 ? j->last - 2 : j->last - 1;
  bool any = false;

  for (int r = 0; r < rows[0] * rows[1]; r++)
    for (int k = 0; k < p->nreads; k++) {
      const int *offset = p->reads[k].offset;

      if (r + offset[along] != z || (any && offset[axis] <= *most)) continue;
      *most = offset[axis];
      any = true;
    }
  return any;
}

/* Prefetches, a little ahead, the values that no earlier block has read: the furthest row of each
 * new plane (2-D: each new row). Without it, a core alternates between waiting for memory and
 * computing: on 512^3 floats, stars ran 5 to 15 % slower. */
static void emit_prefetch(const job *j, const int rows[2])
{
  const int along = j->ndims >= 3 ? j->last - 2 : j->last - 1, n = rows[0] * rows[1];

  for (int i = 0; j->ndims >= 2 && i < j->rule->nparams; i++) {
    const ambit__param *param = ambit__rows_param(j, i);

    if (!ambit__rows_is_field(j, i) || !j->bind[i].contiguous || !param->nreads || j->wide[i])
      continue;
    for (int z = param->high[along]; z < n + param->high[along]; z++) {
      place p = {.lanes = false};
      bool read = true;

      for (int d = 0; d < j->last && read; d++)
        read = furthest(j, rows, i, z, d, &p.offset[d]);
      if (!read) continue;
      p.offset[along] = z;
      ambit__line_begin(j->w);
      ambit__print(j->t, "__builtin_prefetch(");
      ambit__rows_print_pointer(j, i, param->reads[0].component, &p);
      ambit__line_end(j->w, " + AHEAD);");
    }
  }
}

/* Calls f for every written component in every row of a block, as lanes. */
static void each_buffer(const job *j, const int rows[2],
                        void (*f)(const job *, int i, int c, const void *))
{
  for (int r = 0; r < rows[0] * rows[1]; r++) {
    place p = ambit__rows_place_of(j, rows, r, true);

    ambit__rows_each_output(j, f, &p);
  }
}

/* if (the cell is in the range) *(v_at + x + l) = v_b0_0[l]; */
static void store_asked(const job *j, int i, int c, const void *user)
{
  const place *p = user;

  ambit__line_begin(j->w);
  ambit__print(j->t, "if (x + l >= x0 && x + l < x1) *(");
  print_target(j, i, c, p);
  ambit__print(j->t, ") = ");
  ambit__rows_print_buffer(j, i, c, p->r);
  ambit__line_end(j->w, "[l];");
}

static void prefetch_below(const job *j, int i, int c, const void *user)
{
  place p = *(const place *)user;

  p.lanes = false;
  p.offset[j->last - 1] += j->ndims == 2 ? j->plan->rows[0] : 1;
  ambit__line_begin(j->w);
  ambit__print(j->t, "__builtin_prefetch(");
  print_target(j, i, c, &p);
  ambit__line_end(j->w, ", 1);");
}

/* An end of the rows that does not fill a vector. Its cache line is not stored non-temporally and
 * must first come from memory, so the same end of the next rows is prefetched here, a whole row
 * ahead. At ends that fill a vector, prefetching would put lines in the cache that the non-temporal
 * stores must evict again: that took a sixth of the time of a 3-D star. */
static void emit_ragged(const job *j, const int rows[2])
{
  open_lanes(j);
  each_buffer(j, rows, store_asked);
  ambit__close(j->w);
  if (j->plan->nontemporal && j->ndims > 1 && !j->form) each_buffer(j, rows, prefetch_below);
}

/* if (the cell is not in the range) v_b0_0[l] = *(u_at + x + l); */
static void take_twin(const job *j, int i, int c, const void *user)
{
  const place *p = user;

  ambit__line_begin(j->w);
  ambit__print(j->t, "if (x + l < x0 || x + l >= x1) ");
  ambit__rows_print_buffer(j, i, c, p->r);
  ambit__print(j->t, "[l] = *(");
  ambit__rows_print_pointer(j, j->bind[i].twin - 1, c, p);
  ambit__line_end(j->w, ");");
}

/* The same, if the cells beside the rows may be stored again with the values of the twin: whole
 * non-temporal vectors, as everywhere else. */
static void emit_whole(const job *j, const int rows[2])
{
  open_lanes(j);
  each_buffer(j, rows, take_twin);
  ambit__close(j->w);
  each_buffer(j, rows, put_buffer);
}

/* Computes all lanes, at ragged ends too: the cells beyond the ends of a row exist in memory. */
static void emit_vector(const job *j, const int rows[2])
{
  ambit__rows_open_function(j, "AMBIT_INLINE", "vector", rows[0] * rows[1], "part",
                            j->reduces ? ", long x" : ", long x, long x0, long x1");
  each_buffer(j, rows, declare_buffer);
  if (j->plan->nontemporal) emit_prefetch(j, rows);
  emit_looks(j, rows);
  open_lanes(j);
  emit_cells(j, rows, true);
  ambit__close(j->w);
  if (!j->reduces) ambit__open(j->w, "if (__builtin_expect(x >= x0 && x + LANES <= x1, 1))");
  each_buffer(j, rows, put_buffer);
  if (!j->reduces) {
    ambit__close(j->w);
    if (j->whole) {
      ambit__open(j->w, "else if (((const ambit_full_call *)call)->ends)");
      emit_whole(j, rows);
      ambit__close(j->w);
    }
    ambit__open(j->w, "else");
    emit_ragged(j, rows);
    ambit__close(j->w);
  }
  ambit__close(j->w);
}

/* The same for the ends of rows and chunks in reductions. Lanes that are no cells of them keep what
 * they had. */
static void emit_ragged_reduction(const job *j, const int rows[2])
{
  ambit__rows_open_function(j, "AMBIT_INLINE", "ragged", rows[0] * rows[1], "old",
                            ", long x, long x0, long x1");
  each_buffer(j, rows, declare_buffer);
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (!ambit__rows_is_reduction(j, i)) continue;
    ambit__line(j->w, "%s %s_part[LANES];", ambit__rows_part_type(j, i), name);
    ambit__line(j->w, "for (long l = 0; l < LANES; l++) %s_part[l] = %s_old[l];", name, name);
  }
  open_lanes(j);
  emit_cells(j, rows, true);
  ambit__close(j->w);
  open_lanes(j);
  each_buffer(j, rows, store_asked);
  for (int i = 0; i < j->rule->nparams; i++) {
    const char *name = ambit__rows_param(j, i)->name;

    if (ambit__rows_is_reduction(j, i))
      ambit__line(j->w, "%s_old[l] = x + l >= x0 && x + l < x1 ? %s_part[l] : %s_old[l];", name,
                  name, name);
  }
  ambit__close(j->w);
  ambit__close(j->w);
}

void ambit__rows_call(const job *j, const char *name, int n, const char *accumulators,
                      const char *tail)
{
  ambit__line_begin(j->w);
  ambit__print(j->t, "%s%d(call", name, n);
  ambit__rows_print_places(j, PASS);
  ambit__rows_print_invariants(j, PASS);
  ambit__rows_print_accumulators(j, PASS, accumulators);
  ambit__line_end(j->w, tail);
}

/* Whether reductions compute the ends of rows as vectors. */
static bool has_ragged(const job *j)
{
  if (j->direct || !j->reduces || j->nlooks || strcmp(ambit__rows_walk_name(j), "rows"))
    return false;
  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__rows_is_exact(j, i)) return false;
  return true;
}

bool ambit__rows_keeps_parts(const job *j)
{
  return j->form && has_ragged(j);
}

void ambit__rows_declare_parts(const job *j)
{
  const ambit__scope scope = ambit__rows_scope_of(j), *s = &scope;
  const bool lanes = !j->direct;

  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__rows_is_reduction(j, i) || ambit__rows_is_exact(j, i)) continue;
    ambit__line(j->w, "%s %s_part[%s];", ambit__rows_part_type(j, i), ambit__rows_param(j, i)->name,
                lanes ? "LANES" : "1");
    ambit__line_begin(j->w);
    ambit__print(j->t, "for (int l = 0; l < %s; l++) %s_part[l] = ", lanes ? "LANES" : "1",
                 ambit__rows_param(j, i)->name);
    ambit__emit_identity(s, j->t, ambit__rows_param(j, i));
    ambit__line_end(j->w, ";");
  }
}

void ambit__rows_fold_parts(const job *j)
{
  const ambit__scope scope = ambit__rows_scope_of(j), *s = &scope;
  const bool lanes = !j->direct, kept = ambit__rows_keeps_parts(j);

  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__rows_is_reduction(j, i) || ambit__rows_is_exact(j, i)) continue;
    ambit__open(j->w, "for (int l = 0; l < %s; l++)", lanes ? "LANES" : "1");
    ambit__rows_fold(j, s, i, kept ? "*" : "", kept ? "total" : "total[l]", "part[l]", true);
    ambit__close(j->w);
  }
}

void ambit__rows_open_total(const job *j, int i)
{
  const ambit__scope s = ambit__rows_scope_of(j);
  const char *name = ambit__rows_param(j, i)->name, *type = ambit__rows_total_type(j, i);

  if (ambit__rows_keeps_parts(j)) {
    ambit__line(j->w, "%s *%s_total = call->origin[%d];", type, name, i);
    return;
  }
  ambit__line(j->w, "%s %s_total[LANES];", type, name);
  ambit__line_begin(j->w);
  ambit__print(j->t, "for (int l = 0; l < LANES; l++) %s_total[l] = ", name);
  ambit__emit_identity(&s, j->t, ambit__rows_param(j, i));
  ambit__line_end(j->w, ";");
}

void ambit__rows_close_totals(const job *j)
{
  const ambit__scope s = ambit__rows_scope_of(j);

  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit__param *q = ambit__rows_param(j, i);
    const char *type = ambit__rows_total_type(j, i);

    if (!ambit__rows_is_reduction(j, i) || ambit__rows_is_exact(j, i)) continue;
    if (ambit__rows_keeps_parts(j)) continue;
    ambit__open(j->w, "for (int h = LANES / 2; h > 0; h /= 2)");
    ambit__line(j->w, "for (int l = 0; l < h; l++)");
    j->w->depth++;
    ambit__rows_fold(j, &s, i, "", "total[l]", "total[l + h]", true);
    j->w->depth--;
    ambit__close(j->w);
    ambit__line(j->w, "%s *%s_sum = call->origin[%d];", type, q->name, i);
    ambit__rows_fold(j, &s, i, "*", "sum", "total[0]", true);
  }
}

/* Single cells of n rows, in a loop. */
static void emit_single_walk(const job *j, int n, const char *loop)
{
  char count[16];

  snprintf(count, sizeof count, "%d", n);
  ambit__open(j->w, "%s", loop);
  ambit__rows_call_single(j, n);
  ambit__rows_settle(j, count);
  ambit__close(j->w);
}

/* Vectors along the rows, including ragged ends; in strict sums, the ends go cell by cell. */
static void emit_vector_walk(const job *j, const int rows[2])
{
  const int n = rows[0] * rows[1];
  char count[32];

  if (!j->reduces) {
    ambit__open(j->w, "for (long x = x0 & -LANES; x < x1; x += LANES)");
    ambit__rows_call_vector(j, n, ", x, x0, x1);");
    ambit__close(j->w);
    return;
  }
  if (has_ragged(j)) {
    ambit__print(j->t, "#if !AMBIT_LONG_LOOPS\n");
    ambit__open(j->w, "for (long x = x0 & -LANES, ends; x < x1; x += ends)");
    ambit__open(j->w, "for (; x >= x0 && x + LANES <= x1; x += LANES)");
    ambit__rows_call_vector(j, n, ", x);");
    ambit__close(j->w);
    ambit__line(j->w, "ends = x < x1 ? LANES : 0;");
    ambit__open(j->w, "if (ends)");
    ambit__rows_call_ragged(j, n);
    ambit__close(j->w);
    ambit__close(j->w);
    ambit__print(j->t, "#else\n");
  }
  ambit__line(j->w, "long x = x0;");
  snprintf(count, sizeof count, "%d * LANES", n);
  emit_single_walk(j, n, "for (; x < x1 && x % LANES; x++)");
  ambit__open(j->w, "for (; x + LANES <= x1; x += LANES)");
  ambit__rows_call_vector(j, n, ", x);");
  ambit__rows_settle(j, count);
  ambit__close(j->w);
  emit_single_walk(j, n, "for (; x < x1; x++)");
  if (has_ragged(j)) ambit__print(j->t, "#endif\n");
}

/* Some processors do better with one long loop along the rows; the prelude decides. */
static bool may_be_long(const job *j)
{
  return !j->reduces && !j->plan->nontemporal && !j->nlooks;
}

static void emit_walk(const job *j, const int rows[2])
{
  const int n = rows[0] * rows[1];

  if (j->direct) {
    emit_single_walk(j, n, "for (long x = x0; x < x1; x++)");
    return;
  }
  if (may_be_long(j)) {
    ambit__print(j->t, "#if AMBIT_LONG_LOOPS\n");
    ambit__rows_emit_long_loop(j, n);
    ambit__print(j->t, "#else\n");
  }
  emit_vector_walk(j, rows);
  if (may_be_long(j)) ambit__print(j->t, "#endif\n");
}

/* Single cells: for reductions, for results stored directly to memory, and for long loops. */
static void emit_singles(const job *j, const int rows[2])
{
  const bool always = j->reduces || j->direct;

  if (!always && !may_be_long(j)) return;
  if (!always) ambit__print(j->t, "\n#if AMBIT_LONG_LOOPS");
  emit_single(j, rows);
  if (!always) ambit__print(j->t, "#endif\n");
}

void ambit__rows_emit_block(const job *j, const int rows[2])
{
  const int n = rows[0] * rows[1];
  const bool kept = ambit__rows_keeps_parts(j);

  emit_singles(j, rows);
  if (!j->direct) emit_vector(j, rows);
  if (has_ragged(j)) emit_ragged_reduction(j, rows);
  ambit__rows_open_function(j, j->form ? "AMBIT_INLINE" : "static __attribute__((noinline))",
                            ambit__rows_walk_name(j), n, kept ? "part" : "total",
                            ", int64_t x0, int64_t x1");
  if (!kept) ambit__rows_declare_parts(j);
  ambit__rows_declare_blocks(j);
  if (!j->direct) ambit__rows_emit_bounds(j);
  emit_walk(j, rows);
  ambit__rows_store_blocks(j);
  if (!kept) ambit__rows_fold_parts(j);
  ambit__close(j->w);
  ambit__rows_emit_wide(j, rows);
}
