/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent_cells.c - the cells of a lane, and those beside them: of adjacent lanes, by shuffles,
 * of adjacent groups, through shared memory, and outside the grid or the brick, by copies. */
#include "plan/persistent.h"

static const char *type_of(const ambit__fused_job *j, int value)
{
  return j->gpu.dialect->types[j->pipe->values[value].type];
}

/* "q3[0]", in a brick "q3[k + 1]" */
static void print_plane(const ambit__fused_job *j, int value)
{
  if (j->planes)
    ambit__print(j->gpu.t, "q%d[k + %d]", value, j->values[value].low);
  else
    ambit__print(j->gpu.t, "q%d[0]", value);
}

void ambit__persistent_print_cell(const ambit__fused_job *j, int value)
{
  print_plane(j, value);
  ambit__print(j->gpu.t, "[r + %d][j + %d]", j->values[value].down, j->values[value].left);
}

/* ---- loops ---- */

/* Planes, rows or cells, from `first` to `end` - 1. */
typedef struct range {
  int first, end;
} range;

static range own_planes(const ambit__fused_job *j)
{
  return (range){0, j->planes};
}

static range own_rows(const ambit__fused_job *j)
{
  return (range){0, j->rows};
}

static range own_cells(const ambit__fused_job *j)
{
  return (range){0, j->lane};
}

static void open_rows(const ambit__fused_job *j, range planes, range rows)
{
  ambit__fused_open_planes(j, planes.first, planes.end);
  ambit__fused_open_rows(j, rows.first, rows.end);
}

static void close_rows(const ambit__fused_job *j)
{
  ambit__fused_close_rows(j);
  ambit__fused_close_planes(j);
}

static void begin_cells(const ambit__fused_job *j, range planes, range rows, range cells)
{
  open_rows(j, planes, rows);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = %d; j < %d; j++)", cells.first, cells.end);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
}

void ambit__persistent_end_cells(const ambit__fused_job *j, const char *tail)
{
  ambit__line_end(j->gpu.w, tail);
  close_rows(j);
}

void ambit__persistent_begin_cells(const ambit__fused_job *j)
{
  begin_cells(j, own_planes(j), own_rows(j), own_cells(j));
}

/* ---- cells beside those of a lane ---- */

static void print_number(const ambit__fused_job *j, int value, double number)
{
  const ambit_type type = j->pipe->values[value].type;

  ambit__print(j->gpu.t, "(%s)", type_of(j, value));
  ambit__emit_constant(j->gpu.dialect, j->gpu.t, type, ambit__value_of(number, type));
}

static double number_of(const ambit__fused_job *j, int value, int axis, int side)
{
  return j->pipe->values[value].boundaries->value[axis][side];
}

/* The rows outside a face. */
static range rows_beside(const ambit__fused_job *j, int value, int side)
{
  return side ? (range){j->rows, j->rows + j->values[value].up}
              : (range){-j->values[value].down, 0};
}

/* Rows outside a constant face, in some planes. */
static void fill_rows(const ambit__fused_job *j, int value, int side, range planes, range cells)
{
  const ambit__fused_value *f = &j->values[value];
  const int n = side ? f->up : f->down;

  if (!n || ambit__fused_kind(j, value, j->y, side) != AMBIT_CONSTANT) return;
  ambit__open(j->gpu.w, "if (%s%d)", side ? "high" : "low", j->y);
  begin_cells(j, planes, rows_beside(j, value, side), cells);
  ambit__persistent_print_cell(j, value);
  ambit__print(j->gpu.t, " = ");
  print_number(j, value, number_of(j, value, j->y, side));
  ambit__persistent_end_cells(j, ";");
  ambit__close(j->gpu.w);
}

/* In some rows, cells outside a face along the row: the lane inside has those that they copy. */
static void fill_cells(const ambit__fused_job *j, int value, int side, range planes, range rows)
{
  const ambit__fused_value *f = &j->values[value];
  const ambit_boundary kind = ambit__fused_kind(j, value, j->x, side);
  const int n = side ? f->right : f->left, ends[2] = {f->left - 1, f->left + j->lane};

  if (rows.first == rows.end || !n || (kind != AMBIT_CONSTANT && !ambit__fused_mirror(kind, 1)))
    return;
  open_rows(j, planes, rows);
  for (int k = 1; k <= n; k++) {
    const int from = ambit__fused_mirror(kind, k) - 1;

    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "if (%s%d) ", side ? "high" : "low", j->x);
    print_plane(j, value);
    ambit__print(j->gpu.t, "[r + %d][%d] = ", f->down, side ? ends[1] + k - 1 : ends[0] - k + 1);
    if (kind == AMBIT_CONSTANT) {
      print_number(j, value, number_of(j, value, j->x, side));
    } else {
      print_plane(j, value);
      ambit__print(j->gpu.t, "[r + %d][%d]", f->down,
                   side ? ends[1] - 1 - from : ends[0] + 1 + from);
    }
    ambit__line_end(j->gpu.w, ";");
  }
  close_rows(j);
}

static bool is_read(const ambit__fused_job *j, int stage, int value)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++)
      if (j->pipe->in[st->port[i] + c] == value) return true;
  return false;
}

/* Whether a stage reads a value, and no earlier one of the iteration does. */
static bool is_new(const ambit__fused_job *j, int stage, int value)
{
  for (int i = 0; i < stage; i++)
    if (is_read(j, i, value)) return false;
  return is_read(j, stage, value);
}

static void each_new(const ambit__fused_job *j, int stage,
                     void (*f)(const ambit__fused_job *j, int value))
{
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (is_new(j, stage, v)) f(j, v);
}

/* The cells of adjacent lanes, in some rows. */
static void take_cells(const ambit__fused_job *j, int value, range rows)
{
  const ambit__fused_value *f = &j->values[value];

  if (f->left || f->right) ambit__fused_share_rows(j, value, 0, rows.first, rows.end);
  for (int side = 0; side < 2; side++)
    fill_cells(j, value, side, own_planes(j), rows);
}

/* The rows of adjacent groups, and, if they are read, the cells of adjacent lanes in them. */
static void take_rows(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__fused_fetch(j, value);
  for (int side = 0; side < 2; side++)
    fill_rows(j, value, side, own_planes(j), own_cells(j));
  for (int side = 0; f->corners && side < 2; side++)
    take_cells(j, value, rows_beside(j, value, side));
}

/* Where only the plane that is computed needs cells of other lanes and groups, it takes them by
 * itself, and they keep no registers before. */
static bool is_late(const ambit__fused_job *j, int value)
{
  return j->planes && !j->values[value].thick;
}

static void take_cells_early(const ambit__fused_job *j, int value)
{
  if (!is_late(j, value)) take_cells(j, value, own_rows(j));
}

static void take_rows_early(const ambit__fused_job *j, int value)
{
  if (!is_late(j, value)) take_rows(j, value);
}

static void take_late(const ambit__fused_job *j, int value)
{
  if (!is_late(j, value)) return;
  take_cells(j, value, own_rows(j));
  take_rows(j, value);
}

void ambit__persistent_begin_plane(const ambit__fused_job *j, int stage)
{
  ambit__fused_job plane = *j;

  plane.in_plane = true;
  each_new(&plane, stage, take_late);
}

/* ---- planes outside a brick ---- */

/* The cells of the rows of adjacent groups that are there: with those of adjacent lanes, if they
 * are read. */
static range cells_beside(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  return f->corners ? (range){-f->left, j->lane + f->right} : own_cells(j);
}

/* The n-th plane outside, in some rows: a number, or copies of cells inside. Where the grid goes on
 * nobody needs its values; but they are numbers. */
static void set_rows(const ambit__fused_job *j, int value, int side, int n, range rows, range cells)
{
  const ambit__fused_value *f = &j->values[value];
  const ambit_boundary kind = ambit__fused_kind(j, value, j->z, side);
  const int copied = j->around[0] ? j->planes - n + 1 : ambit__fused_mirror(kind, n);
  const int from = copied ? copied - 1 : 0;
  const int to = side ? j->planes - 1 + n : -n, last = j->planes - 1;

  if (rows.first == rows.end) return;
  begin_cells(j, (range){to, to + 1}, rows, cells);
  ambit__persistent_print_cell(j, value);
  ambit__print(j->gpu.t, " = ");
  if (kind == AMBIT_CONSTANT)
    print_number(j, value, number_of(j, value, j->z, side));
  else
    ambit__print(j->gpu.t, "q%d[%d][r + %d][j + %d]", value, f->low + (side ? last - from : from),
                 f->down, f->left);
  ambit__persistent_end_cells(j, ";");
}

static void set_plane(const ambit__fused_job *j, int value, int side, int n)
{
  const ambit__fused_value *f = &j->values[value];

  set_rows(j, value, side, n, own_rows(j),
           f->thick ? (range){-f->left, j->lane + f->right} : own_cells(j));
  for (int k = 0; f->thick && k < 2; k++)
    set_rows(j, value, side, n, rows_beside(j, value, k), cells_beside(j, value));
}

/* Outside two faces at once, the number of the later axis counts. */
static void fill_corners(const ambit__fused_job *j, int value, range planes)
{
  const ambit__fused_value *f = &j->values[value];

  for (int side = 0; side < 2; side++)
    fill_rows(j, value, side, planes, cells_beside(j, value));
  for (int side = 0; side < 2; side++) {
    if (ambit__fused_kind(j, value, j->x, side) != AMBIT_CONSTANT) continue;
    fill_cells(j, value, side, planes, own_rows(j));
    for (int k = 0; f->corners && k < 2; k++)
      fill_cells(j, value, side, planes, rows_beside(j, value, k));
  }
}

static void take_planes(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  for (int side = 0; j->planes && side < 2; side++) {
    const int n = side ? f->high : f->low;
    const range planes = side ? (range){j->planes, j->planes + n} : (range){-n, 0};

    for (int i = 1; i <= n; i++)
      set_plane(j, value, side, i);
    if (n && f->thick && ambit__fused_kind(j, value, j->z, side) == AMBIT_CONSTANT)
      fill_corners(j, value, planes);
  }
}

/* Whether a stage is the first to read some value in other rows. */
static bool needs_rows(const ambit__fused_job *j, int stage)
{
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (j->values[v].fetched >= 0 && is_new(j, stage, v)) return true;
  return false;
}

void ambit__persistent_share(const ambit__fused_job *j, int stage)
{
  const bool rows = needs_rows(j, stage);

  if (rows) each_new(j, stage, ambit__fused_publish);
  each_new(j, stage, take_cells_early);
  if (rows) {
    ambit__line(j->gpu.w, "%s;", j->gpu.dialect->barrier);
    ambit__line(j->gpu.w, "p++;");
  }
  each_new(j, stage, take_rows_early);
  each_new(j, stage, take_planes);
}
