/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - on a GPU: a sweep whose cells pass through shared memory.
 *
 * A warp has some lines, one per lane, and computes them a tile of cells at a time. All its lanes
 * copy the cells that a tile reads to a ring in shared memory, some tiles ahead, so that memory
 * answers while cells wait for each other. Neighbouring lanes copy cells that are adjacent in
 * memory, whatever axis lines have:
 *
 *      lines along rows             lines across rows
 *      lane 0  > > > > > > > >      lane 0 1 2 3 4 5 6 7
 *      lane 1  > > > > > > > >           v v v v v v v v
 *      lane 2  > > > > > > > >           v v v v v v v v
 *      lane 3  > > > > > > > >           v v v v v v v v
 *
 * The results of lines along rows go through shared memory, too. Where a thread had a line to
 * itself, each of its accesses there was to a row of its own.
 *
 * In a ring are all fields whose memory is adjacent along rows, each with the cells beside the tile
 * that the rule reads, but those of which it writes some cell and reads another.
 */
#include "nest/lines/lines.h"

/* ---- names ---- */

/* Of an array in shared memory. */
static const char *shared_type(const ambit__lines *j, int param)
{
  return ambit__nest_text(j->n, "%s%s", ambit__lines_vector(j, param) > 1 ? "__align__(16) " : "",
                          ambit__nest_type(j->n, param));
}

static int offset_across(const ambit__lines *j, const int *offset)
{
  return j->across < 0 ? 0 : offset[j->across];
}

/* "[slot][lane + 1][k + 2]" */
static const char *place_in(const ambit__lines *j, const ambit__lines_tile *s, const int *offset)
{
  ambit__nest *n = j->n;
  const int line = (j->rows ? s->low[0] : ambit__lines_left(j, s)) + offset_across(j, offset);
  const char *lane = ambit__nest_at(n, "lane", line);
  const char *cell =
      ambit__nest_at(n, "k", (j->rows ? ambit__lines_left(j, s) : s->low[1]) + offset[j->along]);

  return ambit__nest_text(n, "%s[slot]%s%s", ambit__lines_name(j, s, "t"), j->rows ? lane : cell,
                          j->rows ? cell : lane);
}

/* ---- cells that are computed together ---- */

/* The first read of a parameter with the cells of the same line as read r. */
static int first_read(ambit__lines *j, const ambit__param *p, int param, int r)
{
  const ambit__read *all = p->reads;
  const ambit__lines_tile *s = ambit__lines_find(j, param, all[r].component, all[r].offset);
  int k = 0;

  while (ambit__lines_find(j, param, all[k].component, all[k].offset) != s ||
         offset_across(j, all[k].offset) != offset_across(j, all[r].offset))
    k++;
  return k;
}

/* Cells before those, and after, that are loaded with them. */
static int before_of(const ambit__lines *j, const ambit__lines_tile *s)
{
  return j->rows ? ambit__lines_left(j, s) : s->low[1];
}

static int after_of(const ambit__lines *j, const ambit__lines_tile *s)
{
  const int vector = ambit__lines_vector(j, s->param);

  return (s->high[1] + vector - 1) / vector * vector;
}

/* "u_r2[q + 1]": a read of cell q of those. */
static const char *loaded(ambit__lines *j, const ambit__lines_tile *s, const ambit__expr *e)
{
  const ambit__param *p = ambit__nest_param(j->n, e->index);
  const int r = first_read(j, p, e->index, ambit__nest_read_number(p, e));

  return ambit__nest_text(j->n, "%s_r%d%s", p->name, r,
                          ambit__nest_at(j->n, "q", before_of(j, s) + e->offset[j->along]));
}

static bool read_tile(ambit__nest *n, const ambit__node *rule, ambit__text *t, const ambit__expr *e)
{
  ambit__lines *j = (ambit__lines *)n->builder;
  const ambit__lines_tile *s = ambit__lines_find(j, e->index, e->component, e->offset);

  if (!s) return false;
  ambit__print(t, "%s", rule && rule->user ? loaded(j, s, e) : place_in(j, s, e->offset));
  return true;
}

/* ---- results ---- */

/* "v_out", "v_kept": of a result. */
static const char *name_of(ambit__nest *n, const char *what, ambit__nest_access a)
{
  return ambit__nest_name_of(n, what, ambit__nest_param(n, a.param), a.component);
}

static void let_row_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__lines *j = user;

  if (ambit__lines_waits(j, a.param))
    ambit__nest_node(n, NODE_ARRAY, .type = shared_type(j, a.param), .name = ambit__lines_row(n, a),
                     .size = {j->f->lanes, ambit__lines_row_pitch(j, a.param)}, .shared = true);
}

static void let_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  const char *type = ambit__nest_type(n, a.param);
  const ambit__expr e = {.index = a.param, .component = a.component};
  ambit__text t = {0};

  if (!ambit__nest_param(n, a.param)->keeps[a.component])
    ambit__nest_do(n, "%s %s", type, name_of(n, "out", a));
  else if (read_tile(n, user, &t, &e))
    ambit__nest_do(n, "%s %s = %s", type, name_of(n, "out", a), ambit__nest_keep(n, &t));
  else
    ambit__nest_node(n, NODE_LOAD, .type = type, .name = name_of(n, "out", a), .access = a);
}

static void put_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__lines *j = user;

  if (ambit__lines_waits(j, a.param) && j->together && ambit__lines_vector(j, a.param) > 1)
    ambit__nest_do(n, "%s[q] = %s", name_of(n, "kept", a), name_of(n, "out", a));
  else if (ambit__lines_waits(j, a.param))
    ambit__nest_do(n, "%s[lane][k] = %s", ambit__lines_row(n, a), name_of(n, "out", a));
  else
    ambit__nest_node(n, NODE_STORE, .access = a);
}

/* ---- the nest ---- */

/* The lines of a block: neighbours across the lanes, at one place along all other axes. */
static void open_lines(const ambit__lines *j)
{
  ambit__nest *n = j->n;
  const char *type = n->integer, *all = "groups";
  const int x = j->across;

  if (x >= 0)
    ambit__nest_do(n, "const %s groups = (hi%d - lo%d + %d) / %d", type, x, x, j->f->lanes - 1,
                   j->f->lanes);
  else
    ambit__nest_do(n, "const %s groups = 1", type);
  for (int d = 0; d < n->group->ndims; d++)
    if (ambit__lines_beside(j, d)) all = ambit__nest_text(n, "%s * (hi%d - lo%d)", all, d, d);
  ambit__nest_do(n, "const %s all = %s", type, all);
  ambit__nest_loop(n, .type = type, .name = "group", .below = "all", .how = LOOP_LAUNCH, .along = 0,
                   .threads = 1, .rolled = true);
  ambit__nest_do(n, "%s rest = group / groups", type);
  for (int d = n->group->ndims - 1; d >= 0; d--) {
    if (!ambit__lines_beside(j, d)) continue;
    ambit__nest_do(n, "const %s y%d = lo%d + rest %% (hi%d - lo%d)", type, d, d, d, d);
    ambit__nest_do(n, "rest /= hi%d - lo%d", d, d);
  }
  if (x >= 0) {
    ambit__nest_do(n, "const %s first = lo%d + group %% groups * %d", type, x, j->f->lanes);
    ambit__nest_do(n, "const %s below_line = first + %d < hi%d ? first + %d : hi%d", type,
                   j->f->lanes, x, j->f->lanes, x);
    ambit__nest_do(n, "const int lines = (int)(below_line - first), mine = lane < lines");
    ambit__nest_do(n, "const %s y%d = mine ? first + lane : first", type, x);
  } else {
    ambit__nest_do(n, "const %s first = 0, below_line = 1", type);
    ambit__nest_do(n, "const int lines = 1, mine = lane < lines");
  }
}

/* Tiles along rows begin where vectors do. */
static void let_tiles(const ambit__lines *j)
{
  ambit__nest *n = j->n;
  const int s = j->along;

  if (j->rows)
    ambit__nest_do(n, "const %s start = lo%d - (lo%d & %d)", n->integer, s, s, j->f->cells - 1);
  else
    ambit__nest_do(n, "const %s start = lo%d", n->integer, s);
  ambit__nest_do(n, "const int tiles = (int)((hi%d - start + %d) / %d)", s, j->f->cells - 1,
                 j->f->cells);
  for (const ambit__lines_tile *t = j->tiles; t < j->tiles + j->ntiles; t++)
    ambit__nest_do(n, "%s%s%s *%s = %s", n->dialect->global,
                   ambit__nest_param(n, t->param)->is_written ? "" : "const ",
                   ambit__nest_type(n, t->param), ambit__lines_name(j, t, "from"),
                   ambit__lines_base(j, t->param, t->component, t->offset));
}

/* Cell k of the tile. `rule` says how it reads. */
static void add_cell(ambit__lines *j, const ambit__node *rule)
{
  ambit__nest *n = j->n;

  ambit__nest_do(n, "const %s y%d = at + k", n->integer, j->along);
  ambit__nest_let_neighbours(n);
  ambit__nest_let_places(n);
  ambit__nest_each_output(n, let_out, (void *)rule);
  ambit__nest_let_results(n);
  ambit__nest_add(n, *rule);
  ambit__nest_each_output(n, put_out, j);
  ambit__nest_fold_into(n, "total", "out", false);
}

/* Loads the cells that read r and others of the same line read. */
static void load_line(ambit__lines *j, int param, int r, const ambit__lines_tile *s)
{
  ambit__nest *n = j->n;
  const ambit__param *p = ambit__nest_param(n, param);
  const int vector = ambit__lines_vector(j, param), across = offset_across(j, p->reads[r].offset);
  const int cells = before_of(j, s) + j->f->batch + after_of(j, s);
  const char *name = ambit__nest_text(n, "%s_r%d", p->name, r), *t = ambit__lines_name(j, s, "t");
  const char *lane =
      ambit__nest_at(n, "lane", across + (j->rows ? s->low[0] : ambit__lines_left(j, s)));

  ambit__nest_node(n, NODE_ARRAY, .type = ambit__nest_type(n, param), .name = name,
                   .size = {cells});
  if (vector > 1) {
    ambit__nest_do(n, "ambit_load<%d>(%s, &%s[slot]%s[first_k])", cells, name, t, lane);
    return;
  }
  ambit__nest_unroll(n, "q", 0, cells);
  ambit__nest_do(n, "%s[q] = %s[slot]%s%s", name, t, j->rows ? lane : "[first_k + q]",
                 j->rows ? "[first_k + q]" : lane);
  ambit__nest_close(n);
}

/* Loads what some cells read: else each would wait for its loads, as compilers do not move them
 * before the stores of the cell before. */
static void load_cells(ambit__lines *j)
{
  for (int i = 0; i < j->n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(j->n, i);

    for (int r = 0; ambit__lines_has(j, i) && r < p->nreads; r++) {
      const ambit__lines_tile *s =
          ambit__lines_find(j, i, p->reads[r].component, p->reads[r].offset);

      if (s && first_read(j, p, i, r) == r) load_line(j, i, r, s);
    }
  }
}

static void let_kept(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__lines *j = user;

  if (ambit__lines_waits(j, a.param) && ambit__lines_vector(j, a.param) > 1)
    ambit__nest_node(n, NODE_ARRAY, .type = ambit__nest_type(n, a.param),
                     .name = name_of(n, "kept", a), .size = {j->f->batch});
}

static void put_kept(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__lines *j = user;

  if (ambit__lines_waits(j, a.param) && ambit__lines_vector(j, a.param) > 1)
    ambit__nest_do(n, "ambit_publish<%d>(&%s[lane][first_k], %s)", j->f->batch,
                   ambit__lines_row(n, a), name_of(n, "kept", a));
}

/* A loop over lo .. hi - 1 in the order of the sweep. */
static void open_ordered(const ambit__lines *j, const char *name, const char *lo, const char *hi,
                         int step, bool unrolled)
{
  const bool back = j->g->sweep < 0;
  ambit__nest *n = j->n;

  ambit__nest_loop(n, .type = "int", .name = name,
                   .from = back ? ambit__nest_text(n, "%s - %d", hi, step) : lo,
                   .below = back ? ambit__nest_text(n, "%s - 1", lo) : hi,
                   .step = ambit__nest_text(n, "%d", step), .by = back ? '-' : 0,
                   .unrolled = unrolled, .rolled = !unrolled);
}

static void add_batches(ambit__lines *j)
{
  const ambit__node rule = {.kind = NODE_RULE, .inside = -1, .user = j};
  ambit__nest *n = j->n;

  j->together = true;
  open_ordered(j, "first_k", "0", ambit__nest_text(n, "%d", j->f->cells), j->f->batch, false);
  load_cells(j);
  ambit__nest_each_output(n, let_kept, j);
  open_ordered(j, "q", "0", ambit__nest_text(n, "%d", j->f->batch), 1, true);
  ambit__nest_do(n, "const int k = first_k + q");
  add_cell(j, &rule);
  ambit__nest_close(n);
  ambit__nest_each_output(n, put_kept, j);
  ambit__nest_close(n);
  j->together = false;
}

/* The cells of a lane in tile t. */
static void add_cells(ambit__lines *j)
{
  const ambit__node rule = {.kind = NODE_RULE, .inside = -1};
  ambit__nest *n = j->n;
  const int s = j->along;

  ambit__nest_do(n, "const %s at = %s", n->integer, ambit__lines_start(j, "t"));
  ambit__nest_do(n, "const int slot = t %% %d", j->f->ring);
  ambit__nest_do(n, "const int from = at < lo%d ? (int)(lo%d - at) : 0", s, s);
  ambit__nest_do(n, "const int below = hi%d - at < %d ? (int)(hi%d - at) : %d", s, j->f->cells, s,
                 j->f->cells);
  ambit__nest_if(n, "mine");
  if (j->f->batch > 1) {
    ambit__nest_if(n, "below - from == %d", j->f->cells);
    add_batches(j);
    ambit__nest_otherwise(n);
  }
  open_ordered(j, "k", "from", "below", 1, false);
  add_cell(j, &rule);
  ambit__nest_close(n);
  if (j->f->batch > 1) ambit__nest_close(n);
  ambit__nest_close(n);
}

void ambit__nest_lines_launched(ambit__nest *n, const ambit__nest_lines *f)
{
  ambit__lines *j = ambit__arena_alloc(&n->arena, sizeof *j);

  if (!j) {
    n->failed = true;
    return;
  }
  ambit__lines_begin(j, n->group, f);
  j->n = n;
  n->builder = j;
  n->hooks.read = read_tile;
  for (const ambit__lines_tile *s = j->tiles; s < j->tiles + j->ntiles; s++)
    ambit__nest_node(
        n, NODE_ARRAY, .type = shared_type(j, s->param), .name = ambit__lines_name(j, s, "t"),
        .size = {f->ring, ambit__lines_rows(j, s), ambit__lines_tile_pitch(j, s)}, .shared = true);
  ambit__nest_each_output(n, let_row_out, j);
  ambit__nest_do(n, "const int lane = %s", n->dialect->thread[0]);
  open_lines(j);
  let_tiles(j);
  ambit__nest_let_carried(n);
  ambit__nest_loop(n, .type = "int", .name = "t", .from = ambit__nest_text(n, "%d", 1 - f->ring),
                   .below = "tiles", .rolled = true);
  ambit__lines_advance(j);
  ambit__nest_if(n, "t >= 0");
  add_cells(j);
  if (j->rows) {
    ambit__nest_barrier_of_warp(n);
    ambit__nest_each_output(n, ambit__lines_store, j);
  }
  ambit__nest_close(n);
  ambit__nest_close(n);
  ambit__nest_if(n, "mine");
  ambit__nest_store_carried(n);
  ambit__nest_close(n);
  ambit__nest_barrier_of_warp(n);
  ambit__nest_close(n);
}
