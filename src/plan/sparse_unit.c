/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_unit.c - the code of a unit: loads of the cells that it reads, row by row, then its cells
 * one after the other, in lanes of an unrolled loop, then stores.
 *
 * The cells of a row that are read become an array of whole vectors, u_w3 for the row of the third
 * read of u. Values of cells beside a piece are computed too, from whatever is there in memory, and
 * dropped: no expression can fail.
 *
 * In a unit of several rows, `at` is a place in the tile, and k0, k1, ... are where slots are
 * (grid/deal.h). Reads are numbered row by row: with 7 of them, u_w9 is the row of the third read
 * of row 1, if no earlier one reads it.
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

static int rows_of(const ambit__gpucode_job *j)
{
  return ambit__deal_rows(j->plan->rows);
}

/* How far a row of a unit is from the first one along an axis. */
static int shift_of(const ambit__gpucode_job *j, int row, int axis)
{
  if (axis == j->group->ndims - 2) return row % j->plan->rows[0];
  return axis == j->group->ndims - 3 ? row / j->plan->rows[0] : 0;
}

/* Whether lines have an index of the first cell or row of units, not of all. */
static bool is_first_index(const ambit__gpucode_job *j, int axis)
{
  return axis == j->group->ndims - 1 || (rows_of(j) > 1 && axis >= j->group->ndims - 3);
}

static void emit_apart(const ambit__gpucode_job *j, int param, int column)
{
  if (ambit__gpucode_is_field(j, param) && !j->bind[param].contiguous)
    ambit__line(j->w, "const %s %s_k%d = k%d * %s_s%d;", j->integer, name_of(j, param), column,
                column, name_of(j, param), j->group->ndims - 1);
}

void ambit__sparse_emit_apart(const ambit__gpucode_job *j)
{
  const ambit__chunk_form *form = j->group->form;

  for (int i = 0; i < j->rule->nparams; i++)
    for (int k = 0; ambit__gpucode_is_field(j, i) && k < form->ncolumns; k++)
      if (ambit__chunk_form_uses(form, i, j->rule->params[i].components, k) &&
          form->columns[k].reads)
        emit_apart(j, i, k);
}

static void emit_columns(const ambit__gpucode_job *j)
{
  for (int k = 0; k < j->group->form->ncolumns; k++)
    ambit__line(j->w, "const ambit_i32 k%d = line[%d];", k, AMBIT__LINE_COLUMN + k);
  ambit__sparse_emit_apart(j);
}

static void emit_slots(const ambit__gpucode_job *j)
{
  const int rows = rows_of(j);
  const int n = ambit__deal_slots(j->group->form, j->group->ndims, j->plan->rows);

  for (int k = 0; k < n; k++) {
    ambit__line(j->w, "const ambit_i32 k%d = line[%d];", k, AMBIT__STACK_ROW + rows + k);
    for (int i = 0; i < j->rule->nparams; i++)
      emit_apart(j, i, k);
  }
}

static void emit_indices(const ambit__gpucode_job *j)
{
  const int ndims = j->group->ndims,
            first = ambit__deal_index(j->group->form, ndims, j->plan->rows);
  const int n = ambit__gpucode_indices(j->group);

  for (int d = 0; d < n; d++)
    ambit__line(j->w,
                "const %s %s%d = (ambit_i64)((ambit_u64)(ambit_u32)line[%d] | "
                "(ambit_u64)(ambit_u32)line[%d] << 32);",
                j->integer, is_first_index(j, d) ? "from" : "i", d, first + 2 * d,
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

/* "const int bits = ambit_bits<4>((int)(line[1] - at), (int)(line[2] - at));": the lanes of a row
 * whose cells are updated. */
static void emit_bits(const ambit__gpucode_job *j)
{
  const int word = AMBIT__STACK_ROW + j->row;

  ambit__line_begin(j->w);
  ambit__print(j->t, "const int bits = ");
  ambit__gpucode_print_call(j, "ambit_bits", NULL, j->plan->wide);
  if (rows_of(j) > 1)
    ambit__print(j->t, "(int)((line[%d] & 0xffff) - at), (int)((line[%d] >> 16) - at)", word, word);
  else
    ambit__print(j->t, "(int)(line[%d] - at), (int)(line[%d] - at)", AMBIT__LINE_FROM,
                 AMBIT__LINE_END);
  ambit__line_end(j->w, ");");
}

static void emit_places(const ambit__gpucode_job *j)
{
  ambit__line(j->w, "const %s at = (%s)%d * t + line[%d];", j->integer, j->integer, j->plan->wide,
              rows_of(j) > 1 ? AMBIT__STACK_X : AMBIT__LINE_AT);
  ambit__sparse_emit_pointers(j);
}

/* ---- rows ---- */

/* The reads of one component of a field in one row, of which `first` is the first one. Read k of
 * row r of a unit has the number r * nreads + k. */
typedef struct row {
  int param, first;
  int base, cells; /* cells that the array has: from `base` on, relative to the unit */
} row;

static int count_reads(const ambit__gpucode_job *j, int param)
{
  return rows_of(j) * j->rule->params[param].nreads;
}

static const ambit__read *read_at(const ambit__gpucode_job *j, int param, int n)
{
  return &j->rule->params[param].reads[n % j->rule->params[param].nreads];
}

/* The row of a unit that makes a read. */
static int reader_of(const ambit__gpucode_job *j, int param, int n)
{
  return n / j->rule->params[param].nreads;
}

/* Whether a read is in the row that an offset is in, seen from row `from` of the unit. */
static bool is_in_row(const ambit__gpucode_job *j, int param, int n, int component,
                      const int *offset, int from)
{
  const ambit__read *a = read_at(j, param, n);
  const int last = j->group->ndims - 1;

  if (a->component != component) return false;
  for (int d = 0; d < last; d++)
    if (a->offset[d] + shift_of(j, reader_of(j, param, n), d) != offset[d] + shift_of(j, from, d))
      return false;
  return true;
}

/* Whether two reads are in one row. */
static bool is_with(const ambit__gpucode_job *j, int param, int n, int other)
{
  const ambit__read *a = read_at(j, param, other);

  return is_in_row(j, param, n, a->component, a->offset, reader_of(j, param, other));
}

/* The multiple of n at x or below it. */
static int round_down(int x, int n)
{
  return x >= 0 ? x / n * n : -((-x + n - 1) / n * n);
}

/* The row that has `first` as its first read. */
static row row_from(const ambit__gpucode_job *j, int param, int first)
{
  const int last = j->group->ndims - 1, wide = j->plan->wide;
  int lo = read_at(j, param, first)->offset[last], hi = lo;

  for (int n = first + 1; n < count_reads(j, param); n++) {
    const int x = read_at(j, param, n)->offset[last];

    if (!is_with(j, param, n, first)) continue;
    if (x < lo) lo = x;
    if (x > hi) hi = x;
  }
  lo = round_down(lo, wide);
  return (row){.param = param,
               .first = first,
               .base = lo,
               .cells = round_down(hi + wide - 1, wide) + wide - lo};
}

/* The row with the cell at an offset, of those that are read. */
static row row_with(const ambit__gpucode_job *j, int param, int component, const int *offset)
{
  int n = 0;

  while (n < count_reads(j, param) && !is_in_row(j, param, n, component, offset, j->row))
    n++;
  assert(n < count_reads(j, param));
  return row_from(j, param, n);
}

static bool is_read(const ambit__gpucode_job *j, const row *r, int x)
{
  const int last = j->group->ndims - 1;

  for (int n = r->first; n < count_reads(j, r->param); n++) {
    const int lane = x - read_at(j, r->param, n)->offset[last];

    if (lane >= 0 && lane < j->plan->wide && is_with(j, r->param, n, r->first)) return true;
  }
  return false;
}

/* The number of cells from x to x + wide - 1 that some lane reads. */
static int count_read(const ambit__gpucode_job *j, const row *r, int x)
{
  int n = 0;

  for (int c = x; c < x + j->plan->wide; c++)
    n += is_read(j, r, c);
  return n;
}

/* The distance to cell x of a row. */
static void print_distance(const ambit__gpucode_job *j, const row *r, int x)
{
  const ambit__read *read = read_at(j, r->param, r->first);
  ambit__gpucode_job of_row = *j;
  int offset[AMBIT_MAX_DIMS];

  memcpy(offset, read->offset, sizeof offset);
  offset[j->group->ndims - 1] = x;
  of_row.row = reader_of(j, r->param, r->first);
  ambit__gpucode_print_offset(&of_row, r->param, read->component, offset);
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

static bool is_first(const ambit__gpucode_job *j, int param, int n)
{
  for (int k = 0; k < n; k++)
    if (is_with(j, param, k, n)) return false;
  return true;
}

static void load_rows(const ambit__gpucode_job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__gpucode_is_field(j, i)) continue;
    for (int n = 0; n < count_reads(j, i); n++) {
      row r;

      if (!is_first(j, i, n)) continue;
      r = row_from(j, i, n);
      ambit__line(j->w, "%s %s_w%d[%d];", ambit__gpucode_type(j, i), name_of(j, i), n, r.cells);
      for (int x = r.base; x < r.base + r.cells; x += j->plan->wide)
        load_vector(j, &r, x);
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

/* "v_new3[0] = v_w5[0];", and so on: present values, of a row that is loaded. */
static void load_new(const ambit__gpucode_job *j, int i, int c)
{
  static const int here[AMBIT_MAX_DIMS];
  const row r = row_with(j, i, c, here);

  for (int lane = 0; lane < j->plan->wide; lane++)
    ambit__line(j->w, "%s_new%d[%d] = %s_w%d[%d];", name_of(j, i), c, lane, name_of(j, i), r.first,
                lane - r.base);
}

/* "float v_new3[4];", with present values if the rule keeps some. */
static void declare_new(const ambit__gpucode_job *j, int i, int c)
{
  ambit__line(j->w, "%s %s_new%d[%d];", ambit__gpucode_type(j, i), name_of(j, i), c, j->plan->wide);
  if (j->rule->params[i].keeps[c]) load_new(j, i, c);
}

/* "ambit_store_if<4>(true, v_at + (3 * v_c), v_new3, bits);", or cell by cell if they are apart. In
 * CUDA, compilers make single stores of the vectors of ambit_store. In units of one row with a sum
 * these take fewer registers: 32 instead of 40 in a star, so that more threads run at once. */
static void store_new(const ambit__gpucode_job *j, int i, int c)
{
  const char *name = name_of(j, i);
  const bool single = rows_of(j) == 1 && ambit__gpucode_reduces(j->group) && j->dialect->has_lanes;

  if (j->bind[i].contiguous) {
    ambit__line_begin(j->w);
    ambit__gpucode_print_call(j, single ? "ambit_store" : "ambit_store_if",
                              ambit__gpucode_type(j, i), j->plan->wide);
    ambit__print(j->t, "%s%s_at + (", single ? "" : "true, ", name);
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
    const row r = row_with(j, e->index, e->component, e->offset);

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
  for (int d = 0; d < last && d < ambit__gpucode_indices(j->group); d++)
    if (is_first_index(j, d))
      ambit__line(j->w, "const %s i%d = from%d + %d;", j->integer, d, d, shift_of(j, j->row, d));
  each_out(j, declare_out);
  ambit__gpucode_declare_results(j);
  ambit__emit_stmts(&s, j->w, j->rule->body);
  each_out(j, keep_out);
  fold_lane(j);
}

/* Cells and stores of a row. `inside` is "1" if all tests of activity are 0, "0" if not; NULL:
 * there are none. */
static void emit_row(const ambit__gpucode_job *j, const char *inside)
{
  each_out(j, declare_new);
  ambit__print(j->t, "#pragma unroll\n");
  ambit__open(j->w, "for (int lane = 0; lane < %d; lane++)", j->plan->wide);
  emit_lane(j, inside);
  ambit__close(j->w);
  each_out(j, store_new);
}

static void emit_cells(const ambit__gpucode_job *j, const char *inside)
{
  load_rows(j);
  emit_row(j, inside);
}

/* All rows are loaded before the first one is computed. */
static void emit_rows(const ambit__gpucode_job *j)
{
  ambit__gpucode_job of_row = *j;

  emit_places(j);
  emit_slots(j);
  emit_indices(j);
  load_rows(j);
  for (of_row.row = 0; of_row.row < rows_of(j); of_row.row++) {
    ambit__open(j->w, "/* row %d */", of_row.row);
    emit_bits(&of_row);
    emit_row(&of_row, NULL);
    ambit__close(j->w);
  }
}

static void emit_unit_place(const ambit__gpucode_job *j)
{
  emit_places(j);
  emit_bits(j);
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
  if (rows_of(j) > 1) {
    emit_rows(j);
    return;
  }
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
