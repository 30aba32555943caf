/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.c - the cells that a tile of lines reads, in shared memory and in memory. */
#include "nest/lines/lines.h"

enum { VECTOR = 16 }; /* bytes */

bool ambit__lines_has(const ambit__lines *j, int i)
{
  const ambit__param *p = &j->g->rule->params[i];
  const ambit__binding *b = &j->g->bind[i];

  if (p->kind != PARAM_FIELD || !b->is_field || !b->contiguous || b->shared || b->dropped ||
      p->targets)
    return false;
  return !p->is_written || !p->reads_neighbours;
}

bool ambit__lines_beside(const ambit__lines *j, int axis)
{
  return axis != j->across && axis != j->along;
}

ambit__lines_tile *ambit__lines_find(ambit__lines *j, int param, int component, const int *offset)
{
  for (ambit__lines_tile *s = j->tiles; s < j->tiles + j->ntiles; s++) {
    bool same = s->param == param && s->component == component;

    for (int d = 0; same && d < j->g->ndims; d++)
      same = !ambit__lines_beside(j, d) || s->offset[d] == offset[d];
    if (same) return s;
  }
  return NULL;
}

static void widen(ambit__lines_tile *s, int k, int distance)
{
  if (-distance > s->low[k]) s->low[k] = -distance;
  if (distance > s->high[k]) s->high[k] = distance;
}

static void add_read(ambit__lines *j, int param, int component, const int *offset)
{
  ambit__lines_tile *s = ambit__lines_find(j, param, component, offset);

  if (!s && j->ntiles == AMBIT__LINES_TILES) return;
  if (!s) {
    s = &j->tiles[j->ntiles++];
    *s = (ambit__lines_tile){.param = param, .component = component, .offset = offset};
  }
  if (j->across >= 0) widen(s, 0, offset[j->across]);
  widen(s, 1, offset[j->along]);
}

void ambit__lines_begin(ambit__lines *j, const ambit__group *g, const ambit__nest_lines *f)
{
  int axes[AMBIT_MAX_DIMS];
  const int count = ambit__nest_launched_axes(g, axes);

  *j = (ambit__lines){.g = g, .f = f, .across = count ? axes[count - 1] : -1};
  j->along = ambit__sweep_axis(g->sweep);
  j->rows = j->along == g->ndims - 1;
  for (int i = 0; i < g->rule->nparams; i++) {
    const ambit__param *p = &g->rule->params[i];

    for (int k = 0; ambit__lines_has(j, i) && k < p->nreads; k++)
      add_read(j, i, p->reads[k].component, p->reads[k].offset);
  }
}

int ambit__lines_rows(const ambit__lines *j, const ambit__lines_tile *s)
{
  const int k = j->rows ? 0 : 1;

  return (j->rows ? j->f->lanes : j->f->cells) + s->low[k] + s->high[k];
}

int ambit__lines_columns(const ambit__lines *j)
{
  return j->rows ? j->f->cells : j->f->lanes;
}

int ambit__lines_columns_beside(const ambit__lines *j, const ambit__lines_tile *s)
{
  const int k = j->rows ? 1 : 0;

  return s->low[k] + s->high[k];
}

int ambit__lines_vector(const ambit__lines *j, int param)
{
  const int cells = VECTOR / (int)ambit_type_size(j->g->rule->params[param].type);

  if (!j->f->vectors || !j->rows) return 1;
  return j->f->batch % cells ? 1 : cells;
}

int ambit__lines_left(const ambit__lines *j, const ambit__lines_tile *s)
{
  const int vector = ambit__lines_vector(j, s->param);

  return (s->low[j->rows] + vector - 1) / vector * vector;
}

/* An odd number of vectors or cells where lanes access a column, so that they meet in no bank. */
static int pitch_of(const ambit__lines *j, int param, int columns)
{
  const int vector = ambit__lines_vector(j, param), vectors = (columns + vector - 1) / vector;

  return j->rows ? (vectors | 1) * vector : columns;
}

int ambit__lines_tile_pitch(const ambit__lines *j, const ambit__lines_tile *s)
{
  return pitch_of(j, s->param,
                  ambit__lines_left(j, s) + ambit__lines_columns(j) + s->high[j->rows]);
}

int ambit__lines_row_pitch(const ambit__lines *j, int param)
{
  return pitch_of(j, param, j->f->cells);
}

size_t ambit__nest_lines_bytes(const ambit__group *g, const ambit__nest_lines *f, int ring)
{
  size_t bytes = 0;
  ambit__lines j;

  ambit__lines_begin(&j, g, f);
  for (const ambit__lines_tile *s = j.tiles; s < j.tiles + j.ntiles; s++)
    bytes += ambit_type_size(g->rule->params[s->param].type) * (size_t)ring *
             (size_t)(ambit__lines_rows(&j, s) * ambit__lines_tile_pitch(&j, s));
  for (int i = 0; j.rows && i < g->rule->nparams; i++)
    for (int c = 0; ambit__lines_has(&j, i) && c < g->rule->params[i].components; c++)
      if (g->rule->params[i].writes[c])
        bytes += ambit_type_size(g->rule->params[i].type) *
                 (size_t)(f->lanes * ambit__lines_row_pitch(&j, i));
  return bytes;
}

const char *ambit__lines_name(const ambit__lines *j, const ambit__lines_tile *s, const char *what)
{
  return ambit__nest_text(j->n, "%s_%s%d", ambit__nest_name(j->n, s->param), what,
                          (int)(s - j->tiles));
}

const char *ambit__lines_row(ambit__nest *n, ambit__nest_access a)
{
  return ambit__nest_name_of(n, "row", ambit__nest_param(n, a.param), a.component);
}

const char *ambit__lines_base(const ambit__lines *j, int param, int component, const int *offset)
{
  ambit__nest *n = j->n;
  const char *name = ambit__nest_name(n, param);
  const char *sum = ambit__nest_text(n, "%s_mem + (%s_o", name, name);

  if (component) sum = ambit__nest_text(n, "%s + %d * %s_c", sum, component, name);
  for (int d = 0; d < n->group->ndims; d++)
    if (ambit__lines_beside(j, d))
      sum = ambit__nest_text(n, "%s + (y%d%s) * %s_s%d", sum, d, ambit__nest_more(n, offset[d]),
                             name, d);
  return ambit__nest_text(n, "%s)", sum);
}

const char *ambit__lines_stride(const ambit__lines *j, int param)
{
  const int axis = j->rows ? j->across : j->along;

  return axis < 0 ? "0" : ambit__nest_text(j->n, "%s_s%d", ambit__nest_name(j->n, param), axis);
}

const char *ambit__lines_start(const ambit__lines *j, const char *t)
{
  if (j->g->sweep < 0)
    return ambit__nest_text(j->n, "start + (%s)(tiles - 1 - %s) * %d", j->n->integer, t,
                            j->f->cells);
  return ambit__nest_text(j->n, "start + (%s)%s * %d", j->n->integer, t, j->f->cells);
}

bool ambit__lines_waits(const ambit__lines *j, int param)
{
  return j->rows && ambit__lines_has(j, param);
}
