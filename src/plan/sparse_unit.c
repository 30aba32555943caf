/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_unit.c - the code of a unit: loads of the cells that it reads, row by row, then its cells
 * one after the other, in lanes of an unrolled loop, then stores.
 *
 * The cells of a row that are read become an array of whole vectors, u_w3 for the row of the third
 * read of u. Values of cells beside a piece are computed too, from whatever is there in memory, and
 * dropped: no expression can fail.
 */
#include "plan/sparse.h"

#include "grid/deal.h"

#include <assert.h>
#include <string.h>

static const char *name_of(const ambit__gpucode_job *j, int param)
{
  return j->rule->params[param].name;
}

/* ---- the place of a unit ---- */

void ambit__sparse_emit_apart(const ambit__gpucode_job *j)
{
  const ambit__chunk_form *form = j->group->form;
  const int last = j->group->ndims - 1;

  for (int i = 0; i < j->rule->nparams; i++)
    for (int k = 0; ambit__gpucode_is_field(j, i) && k < form->ncolumns; k++)
      if (ambit__chunk_form_uses(form, i, j->rule->params[i].components, k) &&
          form->columns[k].reads && !j->bind[i].contiguous)
        ambit__line(j->w, "const %s %s_k%d = k%d * %s_s%d;", j->integer, name_of(j, i), k, k,
                    name_of(j, i), last);
}

static void emit_columns(const ambit__gpucode_job *j)
{
  for (int k = 0; k < j->group->form->ncolumns; k++)
    ambit__line(j->w, "const ambit_i32 k%d = line[%d];", k, AMBIT__LINE_COLUMN + k);
  ambit__sparse_emit_apart(j);
}

/* The index along the last axis is that of the first cell. */
static void emit_indices(const ambit__gpucode_job *j)
{
  const int first = AMBIT__LINE_COLUMN + j->group->form->ncolumns;
  const int n = ambit__gpucode_indices(j->group);

  for (int d = 0; d < n; d++)
    ambit__line(j->w,
                "const %s %s%d = (ambit_i64)((ambit_u64)(ambit_u32)line[%d] | "
                "(ambit_u64)(ambit_u32)line[%d] << 32);",
                j->integer, d == j->group->ndims - 1 ? "from" : "i", d, first + 2 * d,
                first + 2 * d + 1);
}

void ambit__sparse_emit_pointers(const ambit__gpucode_job *j)
{
  const int last = j->group->ndims - 1;

  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit__param *p = &j->rule->params[i];

    if (!ambit__gpucode_is_field(j, i)) continue;
    ambit__line_begin(j->w);
    ambit__print(j->t, "%s%s%s *%s_at = %s_mem + (%s_o + at", j->dialect->global,
                 p->is_written ? "" : "const ", ambit__gpucode_type(j, i), p->name, p->name,
                 p->name);
    if (!j->bind[i].contiguous) ambit__print(j->t, " * %s_s%d", p->name, last);
    ambit__line_end(j->w, ");");
  }
}

static void emit_places(const ambit__gpucode_job *j)
{
  const int wide = j->plan->wide;

  ambit__line(j->w, "const %s at = (%s)%d * t + line[%d];", j->integer, j->integer, wide,
              AMBIT__LINE_AT);
  ambit__line_begin(j->w);
  ambit__print(j->t, "const int bits = ");
  ambit__gpucode_print_call(j, "ambit_bits", NULL, wide);
  ambit__print(j->t, "(int)(line[%d] - at), (int)(line[%d] - at)", AMBIT__LINE_FROM,
               AMBIT__LINE_END);
  ambit__line_end(j->w, ");");
  ambit__sparse_emit_pointers(j);
}

/* ---- rows ---- */

/* The reads of one component of a field in one row: from read `first` up to `end` - 1. */
typedef struct row {
  int param, first, end;
  int base, cells; /* cells that the array has: from `base` on, relative to the unit */
} row;

static bool is_in_row(const ambit__gpucode_job *j, const ambit__read *a, int component,
                      const int *offset)
{
  return a->component == component &&
         !memcmp(a->offset, offset, (size_t)(j->group->ndims - 1) * sizeof *offset);
}

/* The multiple of n at x or below it. */
static int round_down(int x, int n)
{
  return x >= 0 ? x / n * n : -((-x + n - 1) / n * n);
}

/* The row that begins with a read: reads are sorted. */
static row row_from(const ambit__gpucode_job *j, int param, int first)
{
  const ambit__read *reads = j->rule->params[param].reads;
  const int last = j->group->ndims - 1, wide = j->plan->wide;
  row r = {.param = param, .first = first, .end = first + 1};

  while (r.end < j->rule->params[param].nreads &&
         is_in_row(j, &reads[r.end], reads[first].component, reads[first].offset))
    r.end++;
  r.base = round_down(reads[first].offset[last], wide);
  r.cells = round_down(reads[r.end - 1].offset[last] + wide - 1, wide) + wide - r.base;
  return r;
}

static row row_of(const ambit__gpucode_job *j, const ambit__expr *e)
{
  const ambit__param *p = &j->rule->params[e->index];
  int k = 0;

  while (k < p->nreads && !is_in_row(j, &p->reads[k], e->component, e->offset))
    k++;
  assert(k < p->nreads);
  return row_from(j, e->index, k);
}

/* The number of cells from x to x + wide - 1 that some lane reads. */
static int count_read(const ambit__gpucode_job *j, const row *r, int x)
{
  const int last = j->group->ndims - 1, wide = j->plan->wide;
  int n = 0;

  for (int c = x; c < x + wide; c++)
    for (int k = r->first; k < r->end; k++) {
      const int lane = c - j->rule->params[r->param].reads[k].offset[last];

      if (lane < 0 || lane >= wide) continue;
      n++;
      break;
    }
  return n;
}

static bool is_read(const ambit__gpucode_job *j, const row *r, int x)
{
  const int last = j->group->ndims - 1;

  for (int k = r->first; k < r->end; k++) {
    const int lane = x - j->rule->params[r->param].reads[k].offset[last];

    if (lane >= 0 && lane < j->plan->wide) return true;
  }
  return false;
}

/* The distance to cell x of a row. */
static void print_distance(const ambit__gpucode_job *j, const row *r, int x)
{
  const ambit__read *read = &j->rule->params[r->param].reads[r->first];
  int offset[AMBIT_MAX_DIMS];

  memcpy(offset, read->offset, sizeof offset);
  offset[j->group->ndims - 1] = x;
  ambit__gpucode_print_offset(j, r->param, read->component, offset);
}

/* "ambit_load<4>(u_w3 + 4, u_at + (k1));", or "u_w3[3] = u_at[k1 - 1];" if a single cell is read,
 * or cells are apart. */
static void load_vector(const ambit__gpucode_job *j, const row *r, int x)
{
  const char *name = name_of(j, r->param);
  const int wide = j->plan->wide;
  const bool at_once = j->bind[r->param].contiguous && count_read(j, r, x) > 1;

  if (at_once) {
    ambit__line_begin(j->w);
    ambit__gpucode_print_call(j, "ambit_load", ambit__gpucode_type(j, r->param), wide);
    ambit__print(j->t, "%s_w%d + %d, %s_at + (", name, r->first, x - r->base, name);
    print_distance(j, r, x);
    ambit__line_end(j->w, "));");
  }
  for (int c = x; !at_once && c < x + wide; c++) {
    if (!is_read(j, r, c)) continue;
    ambit__line_begin(j->w);
    ambit__print(j->t, "%s_w%d[%d] = %s_at[", name, r->first, c - r->base, name);
    print_distance(j, r, c);
    ambit__line_end(j->w, "];");
  }
}

static void load_rows(const ambit__gpucode_job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__gpucode_is_field(j, i)) continue;
    for (int k = 0; k < j->rule->params[i].nreads;) {
      const row r = row_from(j, i, k);

      ambit__line(j->w, "%s %s_w%d[%d];", ambit__gpucode_type(j, i), name_of(j, i), k, r.cells);
      for (int x = r.base; x < r.base + r.cells; x += j->plan->wide)
        load_vector(j, &r, x);
      k = r.end;
    }
  }
}

/* ---- written components ---- */

/* Calls a function for each. */
static void each_out(const ambit__gpucode_job *j,
                     void (*call)(const ambit__gpucode_job *j, int param, int component))
{
  for (int i = 0; i < j->rule->nparams; i++)
    for (int c = 0; ambit__gpucode_is_field(j, i) && c < j->rule->params[i].components; c++)
      if (j->rule->params[i].writes[c]) call(j, i, c);
}

/* The distance to the cell of a lane. */
static void print_lane(const ambit__gpucode_job *j, int param, int component, int lane)
{
  int offset[AMBIT_MAX_DIMS] = {0};

  offset[j->group->ndims - 1] = lane;
  ambit__gpucode_print_offset(j, param, component, offset);
}

/* "ambit_load<4>(v_new3, v_at + (3 * v_c));", or cell by cell if they are apart. */
static void load_new(const ambit__gpucode_job *j, int i, int c)
{
  const bool at_once = j->bind[i].contiguous;

  for (int lane = 0; lane < (at_once ? 1 : j->plan->wide); lane++) {
    ambit__line_begin(j->w);
    if (at_once) {
      ambit__gpucode_print_call(j, "ambit_load", ambit__gpucode_type(j, i), j->plan->wide);
      ambit__print(j->t, "%s_new%d, %s_at + (", name_of(j, i), c, name_of(j, i));
    } else {
      ambit__print(j->t, "%s_new%d[%d] = %s_at[", name_of(j, i), c, lane, name_of(j, i));
    }
    print_lane(j, i, c, lane);
    ambit__line_end(j->w, at_once ? "));" : "];");
  }
}

/* "float v_new3[4];", with present values if the rule keeps some. */
static void declare_new(const ambit__gpucode_job *j, int i, int c)
{
  ambit__line(j->w, "%s %s_new%d[%d];", ambit__gpucode_type(j, i), name_of(j, i), c, j->plan->wide);
  if (j->rule->params[i].keeps[c]) load_new(j, i, c);
}

static void store_new(const ambit__gpucode_job *j, int i, int c)
{
  const char *name = name_of(j, i);

  if (j->bind[i].contiguous) {
    ambit__line_begin(j->w);
    ambit__gpucode_print_call(j, j->dialect->has_lanes ? "ambit_store" : "ambit_store_bits",
                              ambit__gpucode_type(j, i), j->plan->wide);
    ambit__print(j->t, "%s_at + (", name);
    print_lane(j, i, c, 0);
    ambit__print(j->t, "), %s_new%d", name, c);
    ambit__line_end(j->w, ", bits);");
    return;
  }
  for (int lane = 0; lane < j->plan->wide; lane++) {
    ambit__line_begin(j->w);
    ambit__print(j->t, "if (bits >> %d & 1) %s_at[", lane, name);
    print_lane(j, i, c, lane);
    ambit__print(j->t, "] = %s_new%d[%d]", name, c, lane);
    ambit__line_end(j->w, ";");
  }
}

static void declare_out(const ambit__gpucode_job *j, int i, int c)
{
  const ambit__scope s = ambit__gpucode_scope(j);

  ambit__line_begin(j->w);
  ambit__print(j->t, "%s ", ambit__gpucode_type(j, i));
  ambit__name_out(&s, j->t, i, c);
  if (j->rule->params[i].keeps[c]) ambit__print(j->t, " = %s_new%d[lane]", name_of(j, i), c);
  ambit__line_end(j->w, ";");
}

static void keep_out(const ambit__gpucode_job *j, int i, int c)
{
  const ambit__scope s = ambit__gpucode_scope(j);

  ambit__line_begin(j->w);
  ambit__print(j->t, "%s_new%d[lane] = ", name_of(j, i), c);
  ambit__name_out(&s, j->t, i, c);
  ambit__line_end(j->w, ";");
}

/* ---- a cell ---- */

static void read(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__gpucode_job *j = s->user;

  if (!ambit__gpucode_is_field(j, e->index)) {
    ambit__print(t, "%s_v", name_of(j, e->index));
  } else {
    const row r = row_of(j, e);

    ambit__print(t, "%s_w%d[lane + %d]", name_of(j, e->index), r.first,
                 e->offset[j->group->ndims - 1] - r.base);
  }
}

static void fold_lane(const ambit__gpucode_job *j)
{
  if (!ambit__gpucode_reduces(j->group)) return;
  ambit__open(j->w, "if (bits >> lane & 1)");
  ambit__gpucode_fold_cell(j);
  ambit__close(j->w);
}

static void emit_lane(const ambit__gpucode_job *j, const char *inside)
{
  const int last = j->group->ndims - 1;
  ambit__scope s = ambit__gpucode_scope(j);

  s.read = read;
  s.inside = inside;
  if (ambit__gpucode_indices(j->group) > last)
    ambit__line(j->w, "const %s i%d = from%d + (%s)%d * t + lane;", j->integer, last, last,
                j->integer, j->plan->wide);
  each_out(j, declare_out);
  ambit__gpucode_declare_results(j);
  ambit__emit_stmts(&s, j->w, j->rule->body);
  each_out(j, keep_out);
  fold_lane(j);
}

/* Loads, cells and stores. `inside` is "1" if all tests of activity are 0, "0" if not; NULL: there
 * are none. */
static void emit_cells(const ambit__gpucode_job *j, const char *inside)
{
  load_rows(j);
  each_out(j, declare_new);
  ambit__print(j->t, "#pragma unroll\n");
  ambit__open(j->w, "for (int lane = 0; lane < %d; lane++)", j->plan->wide);
  emit_lane(j, inside);
  ambit__close(j->w);
  each_out(j, store_new);
}

static void emit_unit_place(const ambit__gpucode_job *j)
{
  emit_places(j);
  emit_columns(j);
  emit_indices(j);
}

void ambit__sparse_emit_line_place(const ambit__gpucode_job *j)
{
  emit_unit_place(j);
  if (ambit__gpucode_indices(j->group) == j->group->ndims)
    ambit__line(j->w, "const %s i%d = from%d + t;", j->integer, j->group->ndims - 1,
                j->group->ndims - 1);
}

void ambit__sparse_emit_unit(const ambit__gpucode_job *j)
{
  if (ambit__sparse_has_words(j)) {
    ambit__sparse_emit_line_place(j);
    ambit__sparse_emit_cell(j);
    return;
  }
  emit_unit_place(j);
  if (!j->group->form->ntests) {
    emit_cells(j, NULL);
    return;
  }
  ambit__open(j->w, "if (line[%d])", AMBIT__LINE_INNER);
  emit_cells(j, "1"); /* compilers leave out the loads for the tests */
  ambit__close(j->w);
  ambit__open(j->w, "else");
  emit_cells(j, "0");
  ambit__close(j->w);
}
