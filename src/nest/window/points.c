/* SPDX-License-Identifier: BSD-3-Clause */
/* points.c - stages that add values at points, or sample there (device/chore.h), in tiles that
 * move.
 *
 * Points are few, and a warp meets them in few rows. Each warp has a list of the cells of its tile
 * that points touch, in the order of rows: z, y, x, number, ..., between rows that never come.
 * Before a period its rows are compared with that of the next cell in the list, and `aims_seen` has
 * a bit for each of the last 32 rows: it has such cells. A stage looks at the bit of its row:
 *
 *        list     3 3 7 8 8 8 12 ...       period of rows 6 to 9: bits 1 (8), 2 (7) and 6 (3)
 *                             ^ aims_at
 *
 * If no stage meets a bit, a warp of CUDA runs turns that do not look.
 *
 * A cell to which values are added is in the lists of all warps that compute it, one that is
 * sampled in the list of the warp that stores it. Nobody but this code knows which cells a warp
 * has, so before the first launch on a box a launch with `windows` writes them down, 12 numbers for
 * each warp, from which the device makes the lists (device/gpu/aim.c).
 */
#include "nest/window/window.h"

enum {
  NUMBERS = 12
}; /* of a warp: its cells along z, y and x, first .. end - 1, of these its own */

static const char *name_of(const ambit__window *j, int stage)
{
  return ambit__nest_name(j->n, j->flow->stages[stage].points - 1);
}

/* ---- the cells of a warp ---- */

static void note(const ambit__window *j, int number, const char *first, const char *end)
{
  ambit__nest_do(j->n, "to[%d] = %s", number, first);
  ambit__nest_do(j->n, "to[%d] = %s", number + 1, end);
}

static const char *clipped(const ambit__window *j, int axis, bool end)
{
  const char *what = j->y < 0 ? "" : ambit__nest_text(j->n, "%d", axis);

  return ambit__nest_text(j->n, end ? "ambit_least(till%s, high%d)" : "ambit_most(from%s, low%d)",
                          what, axis);
}

static void write_window(const ambit__window *j)
{
  const int rows = AMBIT__WARP / j->lanes * j->rows;

  note(j, 0, ambit__nest_text(j->n, "start - %d", AMBIT__WINDOW_SEEN), "start + n");
  note(j, 2, "begin", "end");
  note(j, 4, j->y < 0 ? "0" : "base", j->y < 0 ? "1" : ambit__nest_text(j->n, "base + %d", rows));
  note(j, 6, j->y < 0 ? "0" : clipped(j, j->y, false), j->y < 0 ? "1" : clipped(j, j->y, true));
  note(j, 8, "left", ambit__nest_text(j->n, "left + %d", j->lanes * j->lane));
  note(j, 10, clipped(j, j->x, false), clipped(j, j->x, true));
}

void ambit__window_let_points(const ambit__window *j)
{
  const ambit__dialect *d = j->n->dialect;

  if (!ambit__flow_has_points(j->flow)) return;
  ambit__nest_do(j->n, "const int who = (int)(%s + %s * %s) * %d + ambit_of_warp(%s)", d->block[0],
                 d->block[1], d->blocks[0], j->warps, d->thread[1]);
  ambit__nest_if(j->n, "windows");
  ambit__nest_do(j->n, "%sint *to = windows + who * %d", d->global, NUMBERS);
  ambit__nest_if(j->n, "%s == 0", d->thread[0]);
  write_window(j);
  ambit__nest_close(j->n);
  ambit__nest_do(j->n, "return");
  ambit__nest_close(j->n);
  ambit__nest_do(j->n, "unsigned aims_seen = 0");
  ambit__nest_do(j->n, "int aims_at = ambit_aims_see(aims, aims[who], start, &aims_seen)");
  ambit__nest_do(j->n, "int aims_next = aims[4 * aims_at]");
}

/* ---- turns ---- */

void ambit__window_look_ahead(const ambit__window *j)
{
  if (!ambit__flow_has_points(j->flow)) return;
  ambit__nest_do(j->n, "aims_seen <<= %d", j->period);
  ambit__nest_if(j->n, "aims_next < start + z + %d", j->period);
  ambit__nest_do(j->n, "aims_at = ambit_aims_see(aims, aims_at, start + z + %d, &aims_seen)",
                 j->period);
  ambit__nest_do(j->n, "aims_next = aims[4 * aims_at]");
  ambit__nest_close(j->n);
}

const char *ambit__window_meets_points(const ambit__window *j)
{
  int rows = 0;

  if (!ambit__flow_has_points(j->flow) || j->edge || !j->n->dialect->has_lanes) return NULL;
  for (int i = 0; i < j->flow->nstages; i++)
    if (j->flow->stages[i].points && j->stages[i].lag + j->period > rows)
      rows = j->stages[i].lag + j->period;
  return ambit__nest_text(j->n, "aims_seen & %uu", rows < 32 ? (1u << rows) - 1 : ~0u);
}

/* ---- a stage ---- */

/* "((step + 2) / 4 + a3_row)" */
static const char *row_of(const ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];

  return ambit__nest_text(j->n, "((step + %d) / %lld + %s_row)", st->iteration,
                          (long long)st->every, name_of(j, stage));
}

static void open_loop(const ambit__window *j, const char *name, const char *from, const char *below)
{
  ambit__nest_loop(j->n, .type = j->n->integer, .name = name, .from = from, .below = below,
                   .step = "1", .rolled = true);
}

/* The cell of the lane with number c, a register that depends on c. */
static void with_cell(const ambit__window *j, const char *what)
{
  ambit__window_open_cells(j);
  ambit__nest_do_if(j->n, ambit__nest_text(j->n, "c == %s", ambit__window_bit(j)), "%s", what);
  ambit__window_close_cells(j);
}

static void sample(const ambit__window *j, int stage, int component, int components)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];
  const int value = j->flow->in[st->port[0] + component];
  const char *name = name_of(j, stage);

  ambit__nest_do(j->n, "%s at%d = 0", ambit__window_type(j, value), component);
  with_cell(j, ambit__nest_text(j->n, "at%d = %s", component,
                                ambit__window_own(j, value, j->stages[stage].lag)));
  ambit__nest_do(j->n, "%s_rows[(%s * %d + %d) * %s_touched + number] = at%d", name,
                 row_of(j, stage), components, component, name, component);
}

static void add(const ambit__window *j, int stage, int component)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];
  const int value = j->flow->out[st->port[0] + component];
  const char *name = name_of(j, stage);
  const char *own = ambit__window_own(j, value, j->stages[stage].lag);

  ambit__nest_do(
      j->n, "const %s add%d = %s_weights[e] * %s_rows[%s * %lld + %s_who[e] * %lld + %lld]",
      ambit__window_type(j, value), component, name, name, row_of(j, stage), (long long)st->columns,
      name, (long long)st->by_point, (long long)component * (long long)st->by_component);
  with_cell(j, ambit__nest_text(j->n, "%s = %s + add%d", own, own, component));
}

/* What happens to cell c of the lane, which has a number among those that points touch. */
static void add_cell(const ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];
  const int components = st->rule->params[0].components;
  const char *name = name_of(j, stage);

  if (!st->samples)
    open_loop(j, "e", ambit__nest_text(j->n, "%s_starts[number]", name),
              ambit__nest_text(j->n, "%s_starts[number + 1]", name));
  for (int c = 0; c < components; c++)
    if (st->samples)
      sample(j, stage, c, components);
    else
      add(j, stage, c);
  if (!st->samples) ambit__nest_close(j->n);
}

void ambit__window_add_points(const ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];
  const int lag = j->stages[stage].lag;

  ambit__window_pass(j, stage);
  if (j->blind) return;
  ambit__nest_if(j->n, "aims_seen >> (%d - p) & 1", lag + j->period - 1);
  if (st->every > 1)
    ambit__nest_if(j->n, "(step + %d) %% %lld == 0", st->iteration + 1, (long long)st->every);
  ambit__nest_do(j->n, "const int first = ambit_aims_since(aims, aims_at, row - %d)", lag);
  ambit__nest_do(j->n, "const int last = ambit_aims_after(aims, first, row - %d)", lag);
  open_loop(j, "i", "first", "last");
  ambit__nest_do(j->n, "const int number = aims[4 * i + 3] - %d", AMBIT__AIM(st->points - 1, 0));
  ambit__nest_do(j->n, "const int c = ambit_aims_cell(aims + 4 * i, %s, x, %d, %d)",
                 j->y < 0 ? "0" : "y", j->rows, j->lane);
  ambit__nest_if(j->n, "c >= 0 && number >= 0 && number < %d", AMBIT__AIMS);
  add_cell(j, stage);
  ambit__nest_close(j->n);
  ambit__nest_close(j->n);
  if (st->every > 1) ambit__nest_close(j->n);
  ambit__nest_close(j->n);
}
