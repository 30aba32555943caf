/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - in C: a box, or chunks of a sparse grid, a few rows at a time.
 *
 * With one row at a time and no vectors this is the nest that a person would write: a loop per
 * axis, on any number of axes, of which compilers make vectors along the rows. Several rows share
 * loads, and memory is read at several places at once:
 *
 *      rows along the axis before the last (2-D), or along the one before that (3-D and more)
 *        |
 *        v   x x x x x x x x      <- lanes of row 0      a vector of cells at a time: results are
 *            x x x x x x x x      <- lanes of row 1      kept in arrays that live in registers and
 *            x x x x x x x x      <- lanes of row 2      are stored together
 *
 * On a sparse grid the rows are chunks (grid/chunks.h), one at a time, and the distances to the
 * rows that are read come from a table.
 *
 * In the walk along the rows, x counts cells as the box does, and u_row points at x = 0.
 */
#include "nest/rows.h"

#include "codegen/flat.h"

#include <stdlib.h>

typedef ambit__rows_job job;

enum {
  MOST_TAPS = 512,  /* terms of a sum that is computed term by term */
  MOST_ADJACENT = 4 /* components beside each other that gcc exchanges between vectors: D2Q9 takes
                     * 1.3 times as long with gathers and scatters as cell by cell */
};

/* ---- the call: variables named like the parameters of a kernel ---- */

static void let_field(job *j, int i)
{
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, i);

  ambit__nest_do(n, "%s%s *%s%s_mem = call->origin[%d]", p->is_written ? "" : "const ",
                 n->dialect->types[ambit__nest_stored(n, i)], n->bind[i].shared ? "" : "restrict ",
                 p->name, i);
  for (int d = j->form ? j->last : 0; d < j->last + !n->bind[i].contiguous; d++)
    if (d == j->last &&
        (ambit__binding_is_uniform(&n->bind[i], j->last + 1) || n->bind[i].adjacent))
      ambit__nest_do(n, "const int64_t %s_s%d = %d", p->name, d,
                     ambit__binding_is_uniform(&n->bind[i], j->last + 1) ? 0 : p->components);
    else
      ambit__nest_do(n, "const int64_t %s_s%d = call->stride[%d][%d]", p->name, d, i, d);
  if (p->components > 1 && n->bind[i].adjacent)
    ambit__nest_do(n, "const int64_t %s_c = 1", p->name);
  else if (p->components > 1)
    ambit__nest_do(n, "const int64_t %s_c = call->component[%d]", p->name, i);
}

/* A strict sum: cells put their numbers into a block, which is added up when it is full
 * (codegen/prelude/sums_c.h). Registered functions add to a double. */
static void let_block(job *j, int i)
{
  ambit__nest *n = j->n;
  const char *name = ambit__nest_name(n, i);

  ambit__nest_do(n, "ambit_block %s_block", name);
  if (n->group->for_people) ambit__nest_do(n, "int64_t %s_words[AMBIT_LONG_WORDS] = {0}", name);
  ambit__nest_do(n, "ambit_block_open(&%s_block, %s)", name,
                 n->group->for_people ? ambit__nest_text(n, "%s_words", name)
                                      : ambit__nest_text(n, "call->origin[%d]", i));
}

static void close_block(job *j, int i)
{
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, i);

  ambit__nest_do(n, "ambit_block_close_%s(&%s_block)", ambit__type_suffix(p->type), p->name);
  if (!n->group->for_people) return;
  ambit__nest_do(n, "ambit_long_carry(%s_words)", p->name);
  ambit__nest_do(n, "*(double *)call->origin[%d] += AMBIT_F64_OF(ambit_long_bits_f64(%s_words))", i,
                 p->name);
}

static void let_param(job *j, int i)
{
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, i);
  const char *type = ambit__nest_type(n, i);

  if (ambit__nest_is_field(n, i) && !ambit__nest_is_binned(n, i))
    let_field(j, i);
  else if (!ambit__nest_is_field(n, i) && !ambit__nest_is_reduction(n, i))
    ambit__nest_do(n, "const %s %s_v = *(const %s *)call->origin[%d]", type, p->name, type, i);
  else if (ambit__rows_is_exact(j, i))
    let_block(j, i);
  else
    ambit__nest_do(n, "%s *%s_sum = call->origin[%d]",
                   n->dialect->types[ambit__type_total(p->type)], p->name, i);
}

static void let_axes(job *j, const char *name)
{
  for (int d = 0; d <= j->last; d++)
    ambit__nest_do(j->n, "const int64_t %s%d = call->%s[%d]", name, d, name, d);
}

static void let_call(job *j)
{
  const size_t lane_bytes = j->lane_bytes;
  ambit__nest *n = j->n;

  if (j->lanes || j->r->factored)
    ambit__nest_do(n, "enum { LANES = AMBIT_VECTOR / %zu, AHEAD = 512 / %zu }", lane_bytes,
                   lane_bytes);
  if (j->exact) { /* numbers that a block must have room for */
    ambit__nest_do(n, "enum { ROOM = %d%s }", j->r->rows[0] * j->r->rows[1],
                   j->lanes ? " * LANES" : "");
    ambit__nest_do(n, "_Static_assert((int)ROOM <= (int)AMBIT_BLOCK, \"a block is too small\")");
  }
  for (int i = 0; i < n->rule->nparams; i++)
    let_param(j, i);
  if (!j->form) {
    let_axes(j, "lo");
    let_axes(j, "hi");
    let_axes(j, "offset");
  }
  let_axes(j, "extent");
  ambit__nest_do(n, "const int64_t step = call->step");
  ambit__nest_add(n, (ambit__node){.kind = NODE_SHARED});
}

/* ---- totals ---- */

/* In a box, rows are folded into totals, in a wider type; an element per lane. */
static bool has_totals(const job *j)
{
  return j->lanes && !j->form;
}

static void add_results(job *j)
{
  ambit__nest *n = j->n;

  if (j->reduces && has_totals(j)) {
    ambit__nest_for(n, "int", "l", "0", "LANES");
    ambit__nest_fold_into(n, "*sum", "total[l]", true);
    ambit__nest_close(n);
  }
  ambit__rows_fold_tables(j);
  for (int i = 0; i < n->rule->nparams; i++)
    if (ambit__rows_is_exact(j, i)) close_block(j, i);
  if (j->r->nontemporal) ambit__nest_do(n, "AMBIT_FENCE()");
}

/* ---- a box ---- */

/* Pointers to the row at y0, y1, ...; whether its cells, and those of the others of a block, are so
 * far from faces along all axes but the last that tests of their place have known values. */
static void let_row(job *j)
{
  ambit__nest *n = j->n;
  const char *inside = "1";

  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);
    const char *row = ambit__nest_text(n, "%s_mem", p->name);

    if (!ambit__nest_is_field(n, i) || ambit__nest_is_binned(n, i)) continue;
    for (int d = 0; d < j->last; d++)
      row = ambit__nest_text(n, "%s + y%d * %s_s%d", row, d, p->name, d);
    ambit__nest_do(n, "%s%s *%s_row = %s", p->is_written ? "" : "const ",
                   n->dialect->types[ambit__nest_stored(n, i)], p->name, row);
  }
  for (int d = 0; d < j->last; d++)
    inside =
        ambit__nest_text(n, "%s & (offset%d + y%d >= %d) & (offset%d + y%d + n%d <= extent%d - %d)",
                         inside, d, d, j->low[d], d, d, d, d, j->high[d]);
  if (j->tests) ambit__nest_do(n, "const int inside = %s", inside);
}

static void add_block(job *j, int along, int across)
{
  j->rows[0] = along;
  j->rows[1] = across;
  j->count = along * across;
  ambit__rows_add_walk(j);
}

/* Whole blocks of rows as long as they fit, then single rows. */
static void add_rows(job *j)
{
  const int *rows = j->r->rows, axis = rows[1] > 1 ? j->last - 2 : j->last - 1;

  let_row(j);
  if (rows[0] * rows[1] > 1) {
    ambit__nest_if(j->n, "n%d == %d", axis, rows[0] * rows[1]);
    add_block(j, rows[0], rows[1]);
    ambit__nest_otherwise(j->n);
    add_block(j, 1, 1);
    ambit__nest_close(j->n);
  } else {
    add_block(j, 1, 1);
  }
}

/* "for (y0 = lo0, n0; y0 < hi0; y0 += n0)", with n0 rows at a time; or back, one at a time. */
static void open_axis(job *j, int d, const char *lo, const char *hi)
{
  const int rows = d == j->last - 1 ? j->r->rows[0] : d == j->last - 2 ? j->r->rows[1] : 1;
  ambit__nest *n = j->n;

  if (n->group->sweep == -(d + 1))
    ambit__nest_loop(n, .type = "int64_t", .name = ambit__nest_text(n, "y%d", d),
                     .from = ambit__nest_text(n, "%s - 1, n%d", hi, d),
                     .below = ambit__nest_text(n, "%s - 1", lo),
                     .step = ambit__nest_text(n, "n%d", d), .by = '-');
  else
    ambit__nest_loop(n, .type = "int64_t", .name = ambit__nest_text(n, "y%d", d),
                     .from = ambit__nest_text(n, "%s, n%d", lo, d), .below = hi,
                     .step = ambit__nest_text(n, "n%d", d));
  if (rows > 1)
    ambit__nest_do(n, "n%d = %s - y%d >= %d ? %d : 1", d, hi, d, rows, rows);
  else
    ambit__nest_do(n, "n%d = 1", d);
}

/* Strips of so many cells along an axis: from .. to - 1, cut at multiples of the number. */
static void open_cut(job *j, int axis, int64_t cells, const char *from, const char *to)
{
  const char *step =
      ambit__nest_text(j->n, "%lld - %s %% %lld", (long long)cells, from, (long long)cells);

  ambit__nest_loop(j->n, .type = "int64_t", .name = from,
                   .from = ambit__nest_text(j->n, "lo%d", axis),
                   .below = ambit__nest_text(j->n, "hi%d", axis), .step = step);
  ambit__nest_do(j->n, "const int64_t %s = %s + %s < hi%d ? %s + %s : hi%d", to, from, step, axis,
                 from, step, axis);
}

/* With a block, the axis before the last is cut, and all planes of one cut are finished before the
 * next. */
static void add_box(job *j)
{
  const int64_t block = j->last ? j->r->block : 0;

  if (j->r->strip)
    open_cut(j, j->last, j->r->strip, "x0", "x1");
  else
    ambit__nest_do(j->n, "const int64_t x0 = lo%d, x1 = hi%d", j->last, j->last);
  if (block) open_cut(j, j->last - 1, block, "b0", "b1");
  for (int d = 0; d < j->last; d++) {
    const bool is_cut = block && d == j->last - 1;

    open_axis(j, d, is_cut ? "b0" : ambit__nest_text(j->n, "lo%d", d),
              is_cut ? "b1" : ambit__nest_text(j->n, "hi%d", d));
  }
  add_rows(j);
  while (j->n->level)
    ambit__nest_close(j->n);
}

/* ---- chunks of a sparse grid ---- */

/* The distances to the rows that field i reads. */
static void let_columns(job *j, int i)
{
  const ambit__param *p = ambit__nest_param(j->n, i);

  for (int k = 0; k < j->form->ncolumns; k++)
    if (ambit__chunk_form_uses(j->form, i, p->components, k))
      ambit__nest_do(
          j->n, "const int64_t %s_k%d = chunk[%d]%s", p->name, k, AMBIT__CHUNK_COLUMN + k,
          j->n->bind[i].contiguous ? "" : ambit__nest_text(j->n, " * %s_s%d", p->name, j->last));
}

/* Pointers, indices and distances of a chunk, whose cells are x0 to x1 from there. Stores past the
 * caches are of whole vectors: they begin at one. */
static void let_chunk(job *j)
{
  ambit__nest *n = j->n;

  ambit__nest_do(n, "const int64_t x0 = %s, x1 = x0 + chunk[%d], at = chunk[%d] - x0",
                 j->r->nontemporal && j->lanes ? "chunk[0] & (LANES - 1)" : "0", AMBIT__CHUNK_CELLS,
                 AMBIT__CHUNK_AT);
  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (!ambit__nest_is_field(n, i)) continue;
    ambit__nest_do(n, "%s%s *%s_row = %s_mem + at%s", p->is_written ? "" : "const ",
                   ambit__nest_type(n, i), p->name, p->name,
                   n->bind[i].contiguous ? "" : ambit__nest_text(n, " * %s_s%d", p->name, j->last));
    let_columns(j, i);
  }
  for (int k = 0; n->group->checks && k < j->form->ncolumns; k++)
    ambit__nest_do(n, "const int64_t k%d = chunk[%d]", k, AMBIT__CHUNK_COLUMN + k);
  if (!ambit__group_indices(n->group)) return;
  ambit__nest_do(n, "int64_t number = full->cells[k]");
  for (int d = j->last; d >= 0; d--) {
    ambit__nest_do(n, "const int64_t from%d = number %% extent%d%s", d, d,
                   d == j->last ? " - x0" : "");
    if (d) ambit__nest_do(n, "number /= extent%d", d);
  }
}

/* Parts are those of all chunks: folding them for each would take longer than a short chunk. */
static void add_chunks(job *j)
{
  ambit__nest *n = j->n;

  ambit__nest_do(n, "const ambit_full_call *full = (const ambit_full_call *)call");
  ambit__rows_let_parts(j, false);
  ambit__nest_for(n, "int64_t", "k", "full->first", "full->end");
  ambit__nest_do(n, "const int32_t *chunk = full->chunks + k * %d",
                 AMBIT__CHUNK_COLUMN + j->form->ncolumns);
  let_chunk(j);
  if (j->tests) /* both of its halves */
    ambit__nest_do(n, "const int inside = chunk[%d] + (int)x0 * 0x10001", AMBIT__CHUNK_INNER);
  add_block(j, 1, 1);
  ambit__nest_close(n);
  ambit__rows_fold_parts(j);
}

/* ---- what the rule is like ---- */

/* Whether vectors of results of field i are woven into cells by a loop of their own: where adjacent
 * components are narrow and other values are wider, gcc 12 stores them byte by byte. Hues of RGB
 * bytes took 1.7 times as long. */
static bool is_woven(const job *j, int i)
{
  const ambit__param *p = ambit__nest_param(j->n, i);

  return j->n->bind[i].adjacent && p->components <= MOST_ADJACENT &&
         ambit_type_size(p->type) < sizeof(int32_t) && j->r->vectors && !j->form;
}

static void examine(job *j)
{
  const ambit__nest *n = j->n;

  j->folds = j->reduces = ambit__group_reduces(n->group);
  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);
    bool apart;

    j->exact |= ambit__rows_is_exact(j, i);
    if (!ambit__nest_is_field(n, i)) continue;
    j->row_totals |= n->bind[i].onto && ambit__binding_is_uniform(&n->bind[i], j->last + 1);
    j->folds |= n->bind[i].onto;
    apart = p->is_written && !n->bind[i].contiguous && !n->bind[i].onto;
    j->direct |= apart && !is_woven(j, i);
    j->serial |=
        n->bind[i].shared || (apart && (!n->bind[i].adjacent || p->components > MOST_ADJACENT));
  }
  j->serial |= ambit__sweep_axis(n->group->sweep) == j->last; /* one cell after the other */
  j->serial |= n->group->checks != 0;
  j->direct |= j->serial;
  j->lanes = !j->r->plain && !j->direct;
  j->tests = !n->group->checks && ambit__rule_tests(n->rule, !j->form, j->low, j->high);
}

static ambit__visit find_cut(void *user, const ambit__expr *e)
{
  *(bool *)user |= e->op == EXPR_CAST && e->type == AMBIT_I32 && e->a->type == AMBIT_F64;
  return VISIT_INSIDE;
}

/* Whether the rule makes ints of doubles. In as many lanes as a vector has doubles, gcc takes half
 * of a vector of ints and halves those of doubles: look-ups took twice as long. */
static bool cuts_doubles(const ambit__rule *rule)
{
  bool cuts = false;

  ambit__visit_stmts(&(ambit__visitor){.expr = find_cut, .user = &cuts}, rule->body);
  return cuts;
}

/* The size of the narrowest value in the lanes: of those written, or if there are none, of the real
 * numbers read, or if there are none, of all that are read. */
static size_t lane_bytes(const job *j)
{
  size_t least = 0;

  for (int pass = 0; pass < 3 && !least; pass++)
    for (int i = 0; i < j->n->rule->nparams; i++) {
      const ambit__param *p = ambit__nest_param(j->n, i);
      const size_t size = ambit_type_size(p->type);

      if (!ambit__nest_is_field(j->n, i) || ambit__nest_is_binned(j->n, i) ||
          (pass == 0 && !p->is_written) || (pass == 1 && !ambit__type_is_real(p->type)))
        continue;
      if (!least || size < least) least = size;
    }
  return !least || (least > sizeof(float) && cuts_doubles(j->n->rule)) ? sizeof(float) : least;
}

/* Whether all factors of weights can be hoisted. */
static bool has_room(const ambit__rule *rule)
{
  int n = 0;

  for (int i = 0; i < rule->nlocals; i++)
    n += rule->locals[i].is_shared;
  return n <= AMBIT__HOISTS;
}

ambit__tap *ambit__nest_sum(const ambit__group *g, ambit__sum *sum)
{
  ambit__tap *taps = g->strict ? NULL : calloc(MOST_TAPS, sizeof *taps);
  const ambit__param *p = g->rule->params;

  *sum = (ambit__sum){.starved = !g->strict && !taps};
  if (taps && ambit__rule_sum(g->rule, false, taps, MOST_TAPS, sum) &&
      g->bind[sum->from].is_field && g->bind[sum->to].is_field && !g->bind[sum->to].onto &&
      p[sum->from].type == p[sum->to].type && has_room(g->rule))
    return taps;
  free(taps);
  return NULL;
}

static void find_taps(job *j)
{
  ambit__sum sum;

  if (j->direct) return;
  j->taps = ambit__nest_sum(j->n->group, &sum);
  j->from = sum.from;
  j->to = sum.to;
  j->ntaps = sum.n;
  j->n->failed |= sum.starved;
}

void ambit__nest_rows(ambit__nest *n, const ambit__rows *r)
{
  job j = {.n = n, .r = r, .form = n->group->form, .last = n->group->ndims - 1};
  bool widens;

  examine(&j);
  n->flat = !n->group->checks && ambit__rule_branches(n->rule);
  n->loads_first |= n->flat;
  find_taps(&j);
  if (!r->plain) ambit__rows_begin_narrow(&j);
  j.lane_bytes = lane_bytes(&j);
  widens = ambit__rows_widens(&j, j.lane_bytes);
  j.lanes &= r->vectors || j.reduces || j.row_totals || n->nlooks || widens;
  n->loads_first |= !j.form && !n->is_narrow && r->rows[0] * r->rows[1] > 1;
  if (!n->is_narrow && !n->group->checks) {
    ambit__hoists_begin(&n->hoists, n->rule);
    ambit__hoists_add_limits(&n->hoists, n->rule);
    if (!n->group->strict) ambit__hoists_add_divisors(&n->hoists, n->rule);
  }
  if (!j.taps && !n->group->checks) ambit__hoists_add_rows(&n->hoists, n->rule, j.last);
  let_call(&j);
  ambit__rows_let_tables(&j);
  if (has_totals(&j)) ambit__rows_let_parts(&j, true);
  if (j.form)
    add_chunks(&j);
  else
    add_box(&j);
  add_results(&j);
  free(j.taps);
}
