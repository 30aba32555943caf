/* SPDX-License-Identifier: BSD-3-Clause */
/* resident.c - a block that holds a tile over many iterations. */
#include "nest/window/resident.h"

/* ---- memory ---- */

/* "*(a0_mem + ...)": a cell of the lane in memory, or the one in its place. */
static const char *placed(const ambit__window *j, int operand, int component)
{
  return ambit__nest_text(
      j->n, "*(%s)",
      ambit__window_address(
          j, operand, component, j->planes ? ambit__window_inside(j, j->z, "z + k") : NULL,
          ambit__window_inside(j, j->y, "y + r"), ambit__window_inside(j, j->x, "x + j")));
}

static void let_value(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];

  ambit__window_let_array(j, ambit__nest_text(j->n, "q%d", value), value, false,
                          j->planes ? f->low + j->planes + f->high : 1, f->down + j->rows + f->up,
                          f->left + j->lane + f->right);
}

/* "q3[0][r + 1][j + 1]": a cell of the lane. */
static const char *own(const ambit__window *j, int value)
{
  return ambit__window_own(j, value, 0);
}

/* "to = from" in all cells of a lane, or those for which a condition holds. */
static void set(const ambit__window *j, const char *condition, const char *to, const char *from)
{
  ambit__window_open_own_planes(j);
  ambit__window_set(j, condition, to, from);
  ambit__window_close_planes(j);
}

static void load_value(const ambit__window *j, int value)
{
  const ambit__flow_value *v = &j->flow->values[value];

  set(j, NULL, own(j, value), placed(j, v->operand, v->component));
}

/* "y + r >= from0 && y + r < till0": a cell belongs to the tile. */
static const char *within(const ambit__window *j, int axis, const char *at)
{
  return ambit__nest_text(j->n, "%s >= from%d && %s < till%d", at, axis, at, axis);
}

static void store_value(const ambit__window *j, int value)
{
  const ambit__flow_value *last = &j->flow->values[j->flow->next[value]];
  const char *mine =
      ambit__nest_text(j->n, "%s && %s", within(j, j->y, "y + r"), within(j, j->x, "x + j"));

  if (j->planes) mine = ambit__nest_text(j->n, "%s && %s", within(j, j->z, "z + k"), mine);
  set(j, mine,
      ambit__nest_text(j->n, "*(%s)",
                       ambit__window_address(j, last->target, last->component,
                                             j->planes ? "z + k" : NULL, "y + r", "x + j")),
      own(j, value));
}

/* ---- one iteration ---- */

/* "(low0 && r < 1) || ": a cell is in one of the layers at the faces of an axis, of which the lane
 * has n. */
static const char *layers(const ambit__window *j, int axis, const int *inset, const char *name,
                          int n)
{
  const char *low = "", *high = "";

  if (inset[0]) low = ambit__nest_text(j->n, "(low%d && %s < %d) || ", axis, name, inset[0]);
  if (inset[1]) high = ambit__nest_text(j->n, "(high%d && %s >= %d) || ", axis, name, n - inset[1]);
  return ambit__nest_text(j->n, "%s%s", low, high);
}

/* Cells outside the region of a stage keep their values: some layers at the faces, which are those
 * of the first and last lanes, groups and planes. */
static void keep_outside(const ambit__window *j, int value)
{
  const ambit__flow_value *v = &j->flow->values[value];
  const ambit__flow_stage *st = &j->flow->stages[v->stage];
  const char *outside =
      ambit__nest_text(j->n, "%s%s%s", layers(j, j->z, st->inset[j->z], "k", j->planes),
                       layers(j, j->y, st->inset[j->y], "r", j->rows),
                       layers(j, j->x, st->inset[j->x], "j", j->lane));

  if (st->nplaces || !*outside) return;
  set(j, ambit__nest_text(j->n, "%sfalse", outside), own(j, value),
      v->frozen >= 0 ? own(j, v->frozen) : placed(j, v->outside, v->component));
}

/* "c3[0][r][j]" */
static const char *aside(const ambit__window *j, int value)
{
  return ambit__nest_text(j->n, "c%d[%s][r][j]", value, j->planes ? "k" : "0");
}

/* "c3": a value that the next iteration begins with, while the loaded values change. */
static void set_aside(const ambit__window *j, int value)
{
  const int next = j->flow->next[value];

  if (!ambit__window_is_loaded(j, next)) return;
  ambit__window_let_array(j, ambit__nest_text(j->n, "c%d", value), value, false,
                          j->planes ? j->planes : 1, j->rows, j->lane);
  set(j, NULL, aside(j, value), own(j, next));
}

static void carry(const ambit__window *j, int value)
{
  const int next = j->flow->next[value];

  set(j, NULL, own(j, value), ambit__window_is_loaded(j, next) ? aside(j, value) : own(j, next));
}

static bool changes(const ambit__window *j, int value)
{
  return ambit__resident_changes(j->flow, value);
}

/* Calls f for some values. */
static void each(const ambit__window *j, bool (*which)(const ambit__window *j, int value),
                 void (*f)(const ambit__window *j, int value))
{
  for (int v = 0; v < j->flow->nvalues; v++)
    if (which(j, v)) f(j, v);
}

static void add_iteration(const ambit__window *j)
{
  ambit__nest_do(j->n, "const %s step = begun + done", j->n->integer);
  for (int v = 0; v < j->flow->nvalues; v++)
    if (!ambit__window_is_loaded(j, v)) let_value(j, v);
  for (int i = 0; i < j->flow->nstages; i++) {
    ambit__resident_share(j, i);
    ambit__window_add_stage(j, i);
    for (int v = 0; v < j->flow->nvalues; v++)
      if (j->flow->values[v].stage == i) keep_outside(j, v);
  }
  each(j, changes, set_aside);
  each(j, changes, carry);
}

/* ---- the kernel ---- */

/* The cells of the grid, first .. end - 1; of the tile, from .. till - 1; the first one held. */
static void let_axis(const ambit__resident *j, const ambit__resident_axis *a)
{
  ambit__nest *n = j->tile.n;
  const int axis = a->axis, halo = a->halo, grain = a->grain;
  const int along = j->tile.x - axis; /* the block, whose x comes first */

  ambit__nest_do(n, "const int first%d = (int)lo%d, end%d = (int)hi%d", axis, axis, axis, axis);
  for (int end = 0; end < 2; end++)
    ambit__nest_do(n, "const int %s%d = first%d + (int)((hi%d - lo%d) / %d * (%s + %d) / %s) * %d",
                   end ? "till" : "from", axis, axis, axis, axis, grain, n->dialect->block[along],
                   end, n->dialect->blocks[along], grain);
  if (j->tile.flow->periodic[axis])
    ambit__nest_do(n, "const int origin%d = from%d - %d", axis, axis, halo);
  else
    ambit__nest_do(n,
                   "const int origin%d = ambit_most(first%d, ambit_least(from%d - %d, end%d - %d))",
                   axis, axis, axis, halo, axis, a->cells);
}

/* Whether the cells of a thread are at a face. */
static void let_faces(const ambit__window *j, int axis, const char *at, int cells)
{
  ambit__nest_do(j->n, "const bool low%d = %s == first%d, high%d = %s + %d == end%d", axis, at,
                 axis, axis, at, cells, axis);
}

static void let_place(const ambit__window *j)
{
  const ambit__dialect *d = j->n->dialect;

  ambit__nest_do(j->n, "const int lane = %s, group = %s", d->thread[0], d->thread[1]);
  ambit__nest_do(j->n, "const int column = origin%d + lane * %d, line = origin%d + group * %d",
                 j->x, j->lane, j->y, j->rows);
  ambit__nest_do(j->n, "const int x = column, y = line");
  if (j->planes) {
    ambit__nest_do(j->n, "const int level = origin%d, z = level", j->z);
    let_faces(j, j->z, "z", j->planes);
  }
  let_faces(j, j->y, "y", j->rows);
  let_faces(j, j->x, "x", j->lane);
  ambit__window_let_placed(j);
}

/* In a block of its own: addresses keep no registers meanwhile. */
static void each_in_memory(const ambit__window *j, bool (*which)(const ambit__window *j, int value),
                           void (*f)(const ambit__window *j, int value))
{
  ambit__nest_named(j->n, "memory");
  ambit__nest_do(j->n, "const int x = ambit_again(column), y = ambit_again(line)");
  if (j->planes) ambit__nest_do(j->n, "const int z = ambit_again(level)");
  each(j, which, f);
  ambit__nest_close(j->n);
}

static void add_iterations(const ambit__resident *j)
{
  ambit__nest *n = j->tile.n;

  ambit__nest_loop(n, .type = "int", .name = "done", .from = "0", .below = "times", .step = "",
                   .rolled = true);
  if (ambit__resident_exchanges(j)) {
    ambit__resident_exchange(j);
    ambit__nest_do(n, "const int pause = ambit_least(done + %d, (int)times)", j->every);
  } else {
    ambit__nest_do(n, "const int pause = (int)times");
  }
  ambit__nest_loop(n, .name = "done", .below = "pause", .rolled = true);
  add_iteration(&j->tile);
  ambit__nest_close(n);
  ambit__nest_close(n);
}

void ambit__nest_resident(ambit__nest *n, ambit__resident *j)
{
  ambit__window *f = &j->tile;

  f->n = n;
  if (f->planes) f->begin_plane = ambit__resident_begin_plane;
  n->hooks = (ambit__nest_hooks){.read = ambit__window_read, .instead = ambit__window_instead};
  n->flat = true;
  ambit__nest_do(n, "AMBIT_SHARED_BYTES(bytes)");
  for (int i = f->planes ? 0 : 1; i < 3; i++)
    let_axis(j, &j->axes[i]);
  let_place(f);
  ambit__nest_do(n, "const %s begun = step", n->integer);
  ambit__nest_do(n, "unsigned round = (unsigned)rounds, p = 0");
  for (int v = 0; v < f->flow->nvalues; v++) {
    if (ambit__window_is_loaded(f, v)) let_value(f, v);
    ambit__window_let_rows(f, v);
  }
  ambit__resident_let_letters(j);
  each_in_memory(f, ambit__window_is_loaded, load_value);
  add_iterations(j);
  each_in_memory(f, changes, store_value);
}
