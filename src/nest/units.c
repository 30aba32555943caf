/* SPDX-License-Identifier: BSD-3-Clause */
/* units.c - on a GPU, on a sparse grid: a thread computes a unit of active cells at a time.
 *
 * The units are assigned to the threads (grid/assignment.h): a word per 32 units leads each to a
 * line with its place in memory and the distances to the rows that it reads. Reads along its own
 * row, and along those rows, are at constant distances from there. A block has a share of the units
 * that are next to each other in the order in which they are assigned, so that it reads most cells
 * of other rows from its cache; a thread has every 256th of them.
 *
 * The cells of a row that are read become an array of whole vectors, u_w3 for the row of the third
 * read of u; then the cells of the unit follow, in lanes of an unrolled loop, then stores. Values
 * of cells beside a piece are computed too, from whatever is there in memory, and dropped: no
 * expression can fail. In a unit of several rows, `at` is a place in the tile, and k0, k1, ... are
 * where slots are. Reads are numbered row by row: with 7 of them, u_w9 is the row of the third read
 * of row 1, if no earlier one reads it.
 *
 * Units of one cell are in units_cell.c.
 */
#include "nest/units.h"

#include "grid/assignment.h"

#include <assert.h>
#include <string.h>

/* ---- the place of a unit ---- */

static int rows_of(const ambit__nest *n)
{
  return ambit__assignment_rows(n->unit);
}

/* How far a row of a unit is from the first one along an axis. */
static int shift_of(const ambit__nest *n, int row, int axis)
{
  if (axis == ambit__nest_last(n) - 1) return row % n->unit[0];
  return axis == ambit__nest_last(n) - 2 ? row / n->unit[0] : 0;
}

/* Whether lines have an index of the first cell or row of units, not of all. */
static bool is_first_index(const ambit__nest *n, int axis)
{
  return axis == ambit__nest_last(n) || (rows_of(n) > 1 && axis >= ambit__nest_last(n) - 2);
}

static void let_apart(ambit__nest *n, int param, int column)
{
  if (ambit__nest_is_field(n, param) && !n->bind[param].contiguous)
    ambit__nest_do(n, "const %s %s_k%d = k%d * %s_s%d", n->integer, ambit__nest_name(n, param),
                   column, column, ambit__nest_name(n, param), ambit__nest_last(n));
}

void ambit__units_let_apart(ambit__nest *n)
{
  const ambit__chunk_form *form = n->group->form;

  for (int i = 0; i < n->rule->nparams; i++)
    for (int k = 0; ambit__nest_is_field(n, i) && k < form->ncolumns; k++)
      if (ambit__chunk_form_uses(form, i, ambit__nest_param(n, i)->components, k) &&
          form->columns[k].reads)
        let_apart(n, i, k);
}

static void let_columns(ambit__nest *n)
{
  for (int k = 0; k < n->group->form->ncolumns; k++)
    ambit__nest_do(n, "const ambit_i32 k%d = line[%d]", k, AMBIT__LINE_COLUMN + k);
  ambit__units_let_apart(n);
}

static void let_slots(ambit__nest *n)
{
  const int slots = ambit__assignment_slots(n->group->form, n->group->ndims, n->unit);

  for (int k = 0; k < slots; k++) {
    ambit__nest_do(n, "const ambit_i32 k%d = line[%d]", k, AMBIT__STACK_ROW + rows_of(n) + k);
    for (int i = 0; i < n->rule->nparams; i++)
      let_apart(n, i, k);
  }
}

static void let_indices(ambit__nest *n)
{
  const int first = ambit__assignment_index(n->group->form, n->group->ndims, n->unit);

  for (int d = 0; d < ambit__group_indices(n->group); d++)
    ambit__nest_do(n,
                   "const %s %s%d = (ambit_i64)((ambit_u64)(ambit_u32)line[%d] | "
                   "(ambit_u64)(ambit_u32)line[%d] << 32)",
                   n->integer, is_first_index(n, d) ? "from" : "i", d, first + 2 * d,
                   first + 2 * d + 1);
}

void ambit__units_let_pointers(ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (ambit__nest_is_field(n, i))
      ambit__nest_do(
          n, "%s%s%s *%s_at = %s_mem + (%s_o + at%s)", n->dialect->global,
          p->is_written ? "" : "const ", ambit__nest_type(n, i), p->name, p->name, p->name,
          n->bind[i].contiguous ? ""
                                : ambit__nest_text(n, " * %s_s%d", p->name, ambit__nest_last(n)));
  }
}

/* "const int bits = ambit_bits((int)(line[1] - at), (int)(line[2] - at), 4);": the lanes of a row
 * whose cells are updated. */
static void let_bits(ambit__nest *n)
{
  const int word = AMBIT__STACK_ROW + n->row;

  if (rows_of(n) > 1)
    ambit__nest_do(n,
                   "const int bits = ambit_bits((int)((line[%d] & 0xffff) - at), (int)((line[%d] "
                   ">> 16) - at), %d)",
                   word, word, n->wide);
  else
    ambit__nest_do(n, "const int bits = ambit_bits((int)(line[%d] - at), (int)(line[%d] - at), %d)",
                   AMBIT__LINE_FROM, AMBIT__LINE_END, n->wide);
}

static void let_places(ambit__nest *n)
{
  ambit__nest_do(n, "const %s at = (%s)%d * t + line[%d]", n->integer, n->integer, n->wide,
                 rows_of(n) > 1 ? AMBIT__STACK_X : AMBIT__LINE_AT);
  ambit__units_let_pointers(n);
}

/* ---- rows ---- */

/* The reads of one component of a field in one row, of which `first` is the first one. Read k of
 * row r of a unit has the number r * nreads + k. */
typedef struct row {
  int param, first;
  int base, cells; /* cells that the array has: from `base` on, relative to the unit */
} row;

static int count_reads(const ambit__nest *n, int param)
{
  return rows_of(n) * ambit__nest_param(n, param)->nreads;
}

static const ambit__read *read_at(const ambit__nest *n, int param, int k)
{
  const ambit__param *p = ambit__nest_param(n, param);

  return &p->reads[k % p->nreads];
}

/* The row of a unit that makes a read. */
static int reader_of(const ambit__nest *n, int param, int k)
{
  return k / ambit__nest_param(n, param)->nreads;
}

/* Whether a read is in the row that an offset is in, seen from row `from` of the unit. */
static bool is_in_row(const ambit__nest *n, int param, int k, int component, const int *offset,
                      int from)
{
  const ambit__read *a = read_at(n, param, k);

  if (a->component != component) return false;
  for (int d = 0; d < ambit__nest_last(n); d++)
    if (a->offset[d] + shift_of(n, reader_of(n, param, k), d) != offset[d] + shift_of(n, from, d))
      return false;
  return true;
}

/* Whether two reads are in one row. */
static bool is_with(const ambit__nest *n, int param, int k, int other)
{
  const ambit__read *a = read_at(n, param, other);

  return is_in_row(n, param, k, a->component, a->offset, reader_of(n, param, other));
}

/* The multiple of n at x or below it. */
static int round_down(int x, int n)
{
  return x >= 0 ? x / n * n : -((-x + n - 1) / n * n);
}

/* The row that has `first` as its first read. */
static row row_from(const ambit__nest *n, int param, int first)
{
  int lo = read_at(n, param, first)->offset[ambit__nest_last(n)], hi = lo;

  for (int k = first + 1; k < count_reads(n, param); k++) {
    const int x = read_at(n, param, k)->offset[ambit__nest_last(n)];

    if (!is_with(n, param, k, first)) continue;
    if (x < lo) lo = x;
    if (x > hi) hi = x;
  }
  lo = round_down(lo, n->wide);
  return (row){.param = param,
               .first = first,
               .base = lo,
               .cells = round_down(hi + n->wide - 1, n->wide) + n->wide - lo};
}

/* The row with the cell at an offset from row `from`, of those that are read. */
static row row_with(const ambit__nest *n, int param, int component, const int *offset, int from)
{
  int k = 0;

  while (k < count_reads(n, param) && !is_in_row(n, param, k, component, offset, from))
    k++;
  assert(k < count_reads(n, param));
  return row_from(n, param, k);
}

static bool is_read(const ambit__nest *n, const row *r, int x)
{
  for (int k = r->first; k < count_reads(n, r->param); k++) {
    const int lane = x - read_at(n, r->param, k)->offset[ambit__nest_last(n)];

    if (lane >= 0 && lane < n->wide && is_with(n, r->param, k, r->first)) return true;
  }
  return false;
}

/* The number of cells from x to x + wide - 1 that some lane reads. */
static int count_read(const ambit__nest *n, const row *r, int x)
{
  int count = 0;

  for (int c = x; c < x + n->wide; c++)
    count += is_read(n, r, c);
  return count;
}

/* "u_at + (k1 - 1)": cell x of a row. */
static const char *cell_of(ambit__nest *n, const row *r, int x)
{
  const ambit__read *read = read_at(n, r->param, r->first);
  const int own = n->row;
  int offset[AMBIT_MAX_DIMS];
  const char *text;

  memcpy(offset, read->offset, sizeof offset);
  offset[ambit__nest_last(n)] = x;
  n->row = reader_of(n, r->param, r->first);
  text = ambit__nest_pointer(n, &(ambit__nest_access){r->param, read->component, offset, NULL});
  n->row = own;
  return text;
}

/* "ambit_load<4>(u_w3 + 4, u_at + (k1));", or "u_w3[3] = *(u_at + (k1 - 1));" if a single cell is
 * read, or cells are apart. */
static void load_vector(ambit__nest *n, const row *r, int x)
{
  const char *name = ambit__nest_name(n, r->param);

  if (n->bind[r->param].contiguous && count_read(n, r, x) > 1) {
    ambit__nest_call(n, "ambit_load", ambit__nest_type(n, r->param), n->wide, "%s_w%d + %d, %s",
                     name, r->first, x - r->base, cell_of(n, r, x));
    return;
  }
  for (int c = x; c < x + n->wide; c++)
    if (is_read(n, r, c))
      ambit__nest_do(n, "%s_w%d[%d] = *(%s)", name, r->first, c - r->base, cell_of(n, r, c));
}

static bool is_first(const ambit__nest *n, int param, int k)
{
  for (int m = 0; m < k; m++)
    if (is_with(n, param, m, k)) return false;
  return true;
}

static void load_rows(ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++)
    for (int k = 0; ambit__nest_is_field(n, i) && k < count_reads(n, i); k++) {
      row r;

      if (!is_first(n, i, k)) continue;
      r = row_from(n, i, k);
      ambit__nest_do(n, "%s %s_w%d[%d]", ambit__nest_type(n, i), ambit__nest_name(n, i), k,
                     r.cells);
      for (int x = r.base; x < r.base + r.cells; x += n->wide)
        load_vector(n, &r, x);
    }
}

/* A read of the rule. */
static bool print_read(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                       const ambit__expr *e)
{
  const row r = row_with(n, e->index, e->component, e->offset, rule->row);

  ambit__print(t, "%s_w%d[lane + %d]", ambit__nest_name(n, e->index), r.first,
               e->offset[ambit__nest_last(n)] - r.base);
  return true;
}

/* ---- written components ---- */

/* "float v_new3[4];", with present values if the rule keeps some: of a row that is loaded. */
static void let_new(ambit__nest *n, ambit__nest_access a, void *user)
{
  static const int here[AMBIT_MAX_DIMS];
  const char *name = ambit__nest_name(n, a.param);
  row r;

  (void)user;
  ambit__nest_do(n, "%s %s_new%d[%d]", ambit__nest_type(n, a.param), name, a.component, n->wide);
  if (!ambit__nest_param(n, a.param)->keeps[a.component]) return;
  r = row_with(n, a.param, a.component, here, n->row);
  for (int lane = 0; lane < n->wide; lane++)
    ambit__nest_do(n, "%s_new%d[%d] = %s_w%d[%d]", name, a.component, lane, name, r.first,
                   lane - r.base);
}

/* The address of the cell of a lane. */
static const char *lane_of(ambit__nest *n, int param, int component, int lane)
{
  int offset[AMBIT_MAX_DIMS] = {0};

  offset[ambit__nest_last(n)] = lane;
  return ambit__nest_pointer(n, &(ambit__nest_access){param, component, offset, NULL});
}

/* "ambit_store_if<4>(true, v_at + (3 * v_c), v_new3, bits);", or cell by cell if they are apart. In
 * CUDA, compilers make single stores of the vectors of ambit_store. In units of one row with a sum
 * these take fewer registers: 32 instead of 40 in a star, so that more threads run at once. */
static void store_new(ambit__nest *n, ambit__nest_access a, void *user)
{
  const char *name = ambit__nest_name(n, a.param);
  const bool single = rows_of(n) == 1 && ambit__group_reduces(n->group) && n->dialect->has_lanes;

  (void)user;
  if (n->bind[a.param].contiguous) {
    ambit__nest_call(n, single ? "ambit_store" : "ambit_store_if", ambit__nest_type(n, a.param),
                     n->wide, "%s%s, %s_new%d, bits", single ? "" : "true, ",
                     lane_of(n, a.param, a.component, 0), name, a.component);
    return;
  }
  for (int lane = 0; lane < n->wide; lane++)
    ambit__nest_do(n, "if (bits >> %d & 1) *(%s) = %s_new%d[%d]", lane,
                   lane_of(n, a.param, a.component, lane), name, a.component, lane);
}

static void let_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  const bool keeps = ambit__nest_param(n, a.param)->keeps[a.component];

  (void)user;
  ambit__nest_do(
      n, "%s %s%s", ambit__nest_type(n, a.param),
      ambit__nest_name_of(n, "out", ambit__nest_param(n, a.param), a.component),
      keeps ? ambit__nest_text(n, " = %s_new%d[lane]", ambit__nest_name(n, a.param), a.component)
            : "");
}

static void keep_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  (void)user;
  ambit__nest_do(n, "%s_new%d[lane] = %s", ambit__nest_name(n, a.param), a.component,
                 ambit__nest_name_of(n, "out", ambit__nest_param(n, a.param), a.component));
}

/* ---- a unit ---- */

/* `inside` is 1 if all tests of activity are 0, 0 if not; -1: there are none. */
static void add_lane(ambit__nest *n, int inside)
{
  const int last = ambit__nest_last(n), indices = ambit__group_indices(n->group);

  if (inside >= 0) ambit__nest_do(n, "enum { inside = %d }", inside);
  if (indices > last)
    ambit__nest_do(n, "const %s i%d = from%d + (%s)%d * t + lane", n->integer, last, last,
                   n->integer, n->wide);
  for (int d = 0; d < last && d < indices; d++)
    if (is_first_index(n, d))
      ambit__nest_do(n, "const %s i%d = from%d + %d", n->integer, d, d, shift_of(n, n->row, d));
  ambit__nest_each_output(n, let_out, NULL);
  ambit__nest_let_results(n);
  ambit__nest_node(n, NODE_RULE, .inside = inside, .row = n->row);
  ambit__nest_each_output(n, keep_out, NULL);
  if (!ambit__group_reduces(n->group)) return;
  ambit__nest_if(n, "bits >> lane & 1");
  ambit__nest_fold_into(n, "total", "out", false);
  ambit__nest_close(n);
}

/* Cells and stores of a row. */
static void add_row(ambit__nest *n, int inside)
{
  ambit__nest_each_output(n, let_new, NULL);
  ambit__nest_loop(n, .type = "int", .name = "lane", .from = "0",
                   .below = ambit__nest_text(n, "%d", n->wide), .unrolled = true);
  add_lane(n, inside);
  ambit__nest_close(n);
  ambit__nest_each_output(n, store_new, NULL);
}

/* All rows are loaded before the first one is computed. */
static void add_rows(ambit__nest *n)
{
  let_places(n);
  let_slots(n);
  let_indices(n);
  load_rows(n);
  for (n->row = 0; n->row < rows_of(n); n->row++) {
    ambit__nest_block(n);
    let_bits(n);
    add_row(n, -1);
    ambit__nest_close(n);
  }
  n->row = 0;
}

void ambit__units_let_place(ambit__nest *n)
{
  let_places(n);
  let_bits(n);
  let_columns(n);
  let_indices(n);
}

static void add_cells(ambit__nest *n, int inside)
{
  load_rows(n);
  add_row(n, inside);
}

static void add_unit(ambit__nest *n)
{
  n->hooks.read = print_read;
  if (rows_of(n) > 1) {
    add_rows(n);
    return;
  }
  ambit__units_let_place(n);
  if (!n->group->form->ntests) {
    add_cells(n, -1);
    return;
  }
  ambit__nest_if(n, "line[%d]", AMBIT__LINE_INNER);
  add_cells(n, 1); /* compilers leave out the loads for the tests */
  ambit__nest_otherwise(n);
  add_cells(n, 0);
  ambit__nest_close(n);
}

/* ---- the loop over units ---- */

/* The line of unit t. The word of the next one is on its way meanwhile. */
static void let_line(ambit__nest *n, int threads)
{
  const int words = ambit__assignment_words(n->group->form, n->group->ndims, n->unit,
                                            ambit__group_indices(n->group));

  ambit__nest_do(n, "const ambit_u64 group = next");
  ambit__nest_do(n, "if (t + %d < end) next = groups[(t + %d) >> 5]", threads, threads);
  ambit__nest_do(n,
                 "%sconst ambit_i32 *line_at = lines + %d * ((ambit_i64)(ambit_u32)group + "
                 "ambit_count_bits((ambit_u32)(group >> 32) & (0xffffffffu >> (31 - (t & 31)))))",
                 n->dialect->global, words);
  ambit__nest_do(n, "ambit_i32 line[%d]", words);
  for (int k = 0; k < words; k += AMBIT__ASSIGNMENT_VECTOR)
    ambit__nest_call(n, "ambit_load", n->dialect->types[AMBIT_I32], AMBIT__ASSIGNMENT_VECTOR,
                     "line + %d, line_at + %d", k, k);
}

static void open_units(ambit__nest *n, int threads)
{
  const bool list = n->group->form->list;

  ambit__nest_do(n, "const ambit_i32 from = (ambit_i32)(%s * share)", n->dialect->block[0]);
  ambit__nest_do(n,
                 "const ambit_i32 end = (ambit_i32)(from + share < units ? from + share : units)");
  ambit__nest_do(n, "const ambit_i32 start = from + %s", n->dialect->thread[0]);
  if (ambit__units_have_words(n))
    ambit__nest_do(n, "const %s pitch = (units + %d) / %d * %d", n->integer,
                   AMBIT__ASSIGNMENT_GROUP - 1, AMBIT__ASSIGNMENT_GROUP, AMBIT__ASSIGNMENT_GROUP);
  if (!list) ambit__nest_do(n, "ambit_u64 next = start < end ? groups[start >> 5] : 0");
  ambit__nest_loop(n, .type = "ambit_i32", .name = "t", .from = "start", .below = "end",
                   .step = ambit__nest_text(n, "%d", threads), .rolled = true);
  if (!list) let_line(n, threads);
}

void ambit__nest_units(ambit__nest *n, int threads, int wide, const int rows[2])
{
  n->unit = rows;
  n->wide = wide;
  open_units(n, threads);
  if (ambit__units_have_words(n) || n->group->checks)
    ambit__units_add_cell(n);
  else
    add_unit(n);
  ambit__nest_close(n);
}
