/* SPDX-License-Identifier: BSD-3-Clause */
/* beside.c - the cells of a lane, and those beside them: of adjacent lanes, by shuffles,
 * of adjacent groups, through shared memory, and outside the grid or the brick, by copies. */
#include "nest/window/resident.h"

/* ---- loops ---- */

/* Planes, rows or cells, from `first` to `end` - 1. */
typedef struct range {
  int first, end;
} range;

static range own_planes(const ambit__window *j)
{
  return (range){0, j->planes};
}

static range own_rows(const ambit__window *j)
{
  return (range){0, j->rows};
}

static range own_cells(const ambit__window *j)
{
  return (range){0, j->lane};
}

static void open_rows(const ambit__window *j, range planes, range rows)
{
  ambit__window_open_planes(j, planes.first, planes.end);
  ambit__window_open_rows(j, rows.first, rows.end);
}

static void close_rows(const ambit__window *j)
{
  ambit__window_close_rows(j);
  ambit__window_close_planes(j);
}

/* A value in these cells. */
static void set_cells(const ambit__window *j, int value, range planes, range rows, range cells,
                      const char *to)
{
  open_rows(j, planes, rows);
  ambit__nest_unroll(j->n, "j", cells.first, cells.end);
  ambit__nest_do(j->n, "%s = %s", ambit__window_own(j, value, 0), to);
  ambit__nest_close(j->n);
  close_rows(j);
}

/* ---- cells beside those of a lane ---- */

static const char *number_of(const ambit__window *j, int value, int axis, int side)
{
  return ambit__window_number(j, value, j->flow->values[value].boundaries->value[axis][side]);
}

/* The rows outside a face. */
static range rows_beside(const ambit__window *j, int value, int side)
{
  return side ? (range){j->rows, j->rows + j->values[value].up}
              : (range){-j->values[value].down, 0};
}

/* Rows outside a constant face, in some planes. */
static void fill_rows(const ambit__window *j, int value, int side, range planes, range cells)
{
  const ambit__window_value *f = &j->values[value];
  const int n = side ? f->up : f->down;

  if (!n || ambit__flow_kind(j->flow, value, j->y, side) != AMBIT_CONSTANT) return;
  ambit__nest_if(j->n, "%s%d", side ? "high" : "low", j->y);
  set_cells(j, value, planes, rows_beside(j, value, side), cells, number_of(j, value, j->y, side));
  ambit__nest_close(j->n);
}

/* In some rows, cells outside a face along the row: the lane inside has those that they copy. */
static void fill_cells(const ambit__window *j, int value, int side, range planes, range rows)
{
  const ambit__window_value *f = &j->values[value];
  const ambit_boundary kind = ambit__flow_kind(j->flow, value, j->x, side);
  const int n = side ? f->right : f->left, ends[2] = {f->left - 1, f->left + j->lane};
  const char *row = ambit__window_row(j, value, 0);
  const char *face = ambit__nest_text(j->n, "%s%d", side ? "high" : "low", j->x);

  if (rows.first == rows.end || !n || (kind != AMBIT_CONSTANT && !ambit__flow_mirror(kind, 1)))
    return;
  open_rows(j, planes, rows);
  for (int k = 1; k <= n; k++) {
    const int from = ambit__flow_mirror(kind, k) - 1;
    const int to = side ? ends[1] + k - 1 : ends[0] - k + 1;
    const char *copied =
        ambit__nest_text(j->n, "%s[%d]", row, side ? ends[1] - 1 - from : ends[0] + 1 + from);

    ambit__nest_do_if(j->n, face, "%s[%d] = %s", row, to,
                      kind == AMBIT_CONSTANT ? number_of(j, value, j->x, side)
                                             : ambit__window_copied(j, value, kind, copied));
  }
  close_rows(j);
}

static void each_new(const ambit__window *j, int stage,
                     void (*f)(const ambit__window *j, int value))
{
  for (int v = 0; v < j->flow->nvalues; v++)
    if (ambit__flow_is_new(j->flow, stage, v)) f(j, v);
}

/* The cells of adjacent lanes, in some rows. */
static void take_cells(const ambit__window *j, int value, range rows)
{
  const ambit__window_value *f = &j->values[value];

  if (f->left || f->right) ambit__window_share_rows(j, value, 0, rows.first, rows.end);
  for (int side = 0; side < 2; side++)
    fill_cells(j, value, side, own_planes(j), rows);
}

/* The rows of adjacent groups, and, if they are read, the cells of adjacent lanes in them. */
static void take_rows(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];

  ambit__window_fetch(j, value);
  for (int side = 0; side < 2; side++)
    fill_rows(j, value, side, own_planes(j), own_cells(j));
  for (int side = 0; f->corners && side < 2; side++)
    take_cells(j, value, rows_beside(j, value, side));
}

/* Where only the plane that is computed needs cells of other lanes and groups, it takes them by
 * itself, and they keep no registers before. */
static bool is_late(const ambit__window *j, int value)
{
  return j->planes && !j->values[value].thick;
}

static void take_cells_early(const ambit__window *j, int value)
{
  if (!is_late(j, value)) take_cells(j, value, own_rows(j));
}

static void take_rows_early(const ambit__window *j, int value)
{
  if (!is_late(j, value)) take_rows(j, value);
}

static void take_late(const ambit__window *j, int value)
{
  if (!is_late(j, value)) return;
  take_cells(j, value, own_rows(j));
  take_rows(j, value);
}

void ambit__resident_begin_plane(const ambit__window *j, int stage)
{
  ambit__window plane = *j;

  plane.in_plane = true;
  each_new(&plane, stage, take_late);
}

/* ---- planes outside a brick ---- */

/* The cells of the rows of adjacent groups that are there: with those of adjacent lanes, if they
 * are read. */
static range cells_beside(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];

  return f->corners ? (range){-f->left, j->lane + f->right} : own_cells(j);
}

/* The n-th plane outside, in some rows: a number, or copies of cells inside. Where the grid goes on
 * nobody needs its values; but they are numbers. */
static void set_rows(const ambit__window *j, int value, int side, int n, range rows, range cells)
{
  const ambit__window_value *f = &j->values[value];
  const ambit_boundary kind = ambit__flow_kind(j->flow, value, j->z, side);
  const int copied = j->around[0] ? j->planes - n + 1 : ambit__flow_mirror(kind, n);
  const int from = copied ? copied - 1 : 0;
  const int to = side ? j->planes - 1 + n : -n, last = j->planes - 1;
  const char *cell = ambit__nest_text(j->n, "q%d[%d][r + %d][j + %d]", value,
                                      f->low + (side ? last - from : from), f->down, f->left);

  if (rows.first == rows.end) return;
  set_cells(j, value, (range){to, to + 1}, rows, cells,
            kind == AMBIT_CONSTANT ? number_of(j, value, j->z, side)
                                   : ambit__window_copied(j, value, kind, cell));
}

static void set_plane(const ambit__window *j, int value, int side, int n)
{
  const ambit__window_value *f = &j->values[value];

  set_rows(j, value, side, n, own_rows(j),
           f->thick ? (range){-f->left, j->lane + f->right} : own_cells(j));
  for (int k = 0; f->thick && k < 2; k++)
    set_rows(j, value, side, n, rows_beside(j, value, k), cells_beside(j, value));
}

/* Outside two faces at once, the number of the later axis counts. */
static void fill_corners(const ambit__window *j, int value, range planes)
{
  const ambit__window_value *f = &j->values[value];

  for (int side = 0; side < 2; side++)
    fill_rows(j, value, side, planes, cells_beside(j, value));
  for (int side = 0; side < 2; side++) {
    if (ambit__flow_kind(j->flow, value, j->x, side) != AMBIT_CONSTANT) continue;
    fill_cells(j, value, side, planes, own_rows(j));
    for (int k = 0; f->corners && k < 2; k++)
      fill_cells(j, value, side, planes, rows_beside(j, value, k));
  }
}

static void take_planes(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];

  for (int side = 0; j->planes && side < 2; side++) {
    const int n = side ? f->high : f->low;
    const range planes = side ? (range){j->planes, j->planes + n} : (range){-n, 0};

    for (int i = 1; i <= n; i++)
      set_plane(j, value, side, i);
    if (n && f->thick && ambit__flow_kind(j->flow, value, j->z, side) == AMBIT_CONSTANT)
      fill_corners(j, value, planes);
  }
}

/* Whether a stage is the first to read some value in other rows. */
static bool needs_rows(const ambit__window *j, int stage)
{
  for (int v = 0; v < j->flow->nvalues; v++)
    if (j->values[v].fetched >= 0 && ambit__flow_is_new(j->flow, stage, v)) return true;
  return false;
}

void ambit__resident_share(const ambit__window *j, int stage)
{
  const bool rows = needs_rows(j, stage);

  if (rows) each_new(j, stage, ambit__window_publish);
  each_new(j, stage, take_cells_early);
  if (rows) {
    ambit__nest_barrier(j->n);
    ambit__nest_do(j->n, "p++");
  }
  each_new(j, stage, take_rows_early);
  each_new(j, stage, take_planes);
}
