/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/sample.h"

#include "base/integers.h"
#include "base/memory.h"
#include "io/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  SMALL = 200000,           /* pixels of a picture whose pixels are means of 2 x 2 samples */
  MOST_PLANES = 128,        /* that a maximum is taken of */
  PLANE_BYTES = 64 << 20,   /* of planes that are read at a time */
  TAG = AMBIT__NET_TAGS - 1 /* of messages to process 0 */
};

typedef struct samples {
  ambit_field *field;
  int ndims, axis[2]; /* of rows and columns; -1: there are no rows */
  int component;
  int64_t first[2], step, count[2]; /* of rows and columns */
  /* along the axis of planes: the first, their distance and number */
  int planes_axis;
  int64_t plane_first, plane_step, planes;
  int64_t fixed[AMBIT_MAX_DIMS]; /* index along all other axes */
  double *values;                /* count[0] x count[1] */
} samples;

/* The samples of n cells, for pixels of `step` cells each. */
static int64_t sample_count(int64_t n, int64_t step)
{
  return n > step / 2 ? (n - 1 - step / 2) / step + 1 : 0;
}

/* ---- the values of cells ---- */

#define EACH(type)                                                                                 \
  for (int64_t i = 0; i < cells; i++) {                                                            \
    const type *v = (const type *)(const void *)from + i * components;                             \
                                                                                                   \
    if (component >= 0) {                                                                          \
      to[i] = (double)v[component];                                                                \
    } else {                                                                                       \
      double x = 0;                                                                                \
                                                                                                   \
      for (int c = 0; c < components; c++)                                                         \
        x += (double)v[c] * (double)v[c];                                                          \
      to[i] = sqrt(x);                                                                             \
    }                                                                                              \
  }

static void each_value(const unsigned char *from, int64_t cells, ambit_type type, int components,
                       int component, double *to)
{
  const size_t size = ambit_type_size(type);

  for (int64_t i = 0; i < cells; i++) {
    double x = 0;

    for (int c = 0; c < components; c++) {
      const double v = ambit__value_number(
          ambit__value_load(from + (size_t)(i * components + c) * size, type), type);

      if (c == component) x = v;
      if (component < 0) x += v * v;
    }
    to[i] = component >= 0 ? x : sqrt(x);
  }
}

/* A component of each cell of an array, or the norm of all. */
static void convert(const unsigned char *from, int64_t cells, ambit_type type, int components,
                    int component, double *to)
{
  if (type == AMBIT_F32)
    EACH(float)
  else if (type == AMBIT_F64)
    EACH(double)
  else if (type == AMBIT_U8)
    EACH(unsigned char)
  else
    each_value(from, cells, type, components, component, to);
}

/* ---- the samples of a part ---- */

/* A rectangle of samples: those of a part. */
typedef struct share {
  int64_t lo[2], hi[2];
  int64_t plane_lo, plane_hi;
} share;

/* The samples first + i * step within lo .. hi - 1, of `count`. */
static void cut(int64_t first, int64_t step, int64_t count, int64_t lo, int64_t hi, int64_t *from,
                int64_t *to)
{
  *from = ambit__min64(ambit__pieces(lo - first, step), count);
  *to = ambit__min64(ambit__pieces(hi - first, step), count);
}

static bool share_of(const samples *s, const ambit__box *own, share *x)
{
  for (int d = 0; d < s->ndims; d++)
    if (d != s->axis[0] && d != s->axis[1] && d != s->planes_axis &&
        (s->fixed[d] < own->lo[d] || s->fixed[d] >= own->hi[d]))
      return false;
  *x = (share){.hi = {1, 1}, .plane_hi = 1};
  for (int k = 0; k < 2; k++)
    if (s->axis[k] >= 0)
      cut(s->first[k], s->step, s->count[k], own->lo[s->axis[k]], own->hi[s->axis[k]], &x->lo[k],
          &x->hi[k]);
  if (s->planes_axis >= 0)
    cut(s->plane_first, s->plane_step, s->planes, own->lo[s->planes_axis], own->hi[s->planes_axis],
        &x->plane_lo, &x->plane_hi);
  return x->lo[0] < x->hi[0] && x->lo[1] < x->hi[1] && x->plane_lo < x->plane_hi;
}

static int64_t share_count(const share *x)
{
  return (x->hi[0] - x->lo[0]) * (x->hi[1] - x->lo[1]);
}

static ambit__lattice lattice_of(const samples *s, const share *x)
{
  ambit__lattice l;

  for (int d = 0; d < s->ndims; d++) {
    l.first[d] = s->fixed[d];
    l.step[d] = l.count[d] = 1;
  }
  for (int k = 0; k < 2; k++)
    if (s->axis[k] >= 0) {
      l.first[s->axis[k]] = s->first[k] + x->lo[k] * s->step;
      l.step[s->axis[k]] = s->step;
      l.count[s->axis[k]] = x->hi[k] - x->lo[k];
    }
  if (s->planes_axis >= 0) {
    l.first[s->planes_axis] = s->plane_first + x->plane_lo * s->plane_step;
    l.step[s->planes_axis] = s->plane_step;
    l.count[s->planes_axis] = x->plane_hi - x->plane_lo;
  }
  return l;
}

/* One part has all samples, each is a cell, and they are read in their order. */
static bool is_straight(const samples *s)
{
  const ambit_grid *g = s->field->grid;

  return g->context->net->size == 1 && g->placement.n == 1 && s->planes == 1;
}

/* Cells of the lattice by way of all cells between them, on a sparse grid. */
static ambit_status read_through_box(ambit_field *f, int part, const ambit__lattice *l,
                                     unsigned char *to)
{
  const ambit__engine *e = ambit__engine_of(f->grid, part);
  const size_t cell = ambit__field_cell_bytes(f);
  const int last = f->grid->box.ndims - 1;
  ambit__box box = f->grid->box, counts = f->grid->box;
  unsigned char *row;
  int64_t at[AMBIT_MAX_DIMS];
  ambit_status s = AMBIT_OK;

  for (int d = 0; d <= last; d++) {
    counts.lo[d] = 0;
    counts.hi[d] = l->count[d];
    box.lo[d] = l->first[d];
    box.hi[d] = l->first[d] + (l->count[d] - 1) * l->step[d] + 1;
  }
  row = ambit__new(ambit__field_errors(f), (size_t)(box.hi[last] - box.lo[last]), cell);
  if (!row) return AMBIT_ENOMEM;
  ambit__box_first(&counts, at);
  do {
    for (int d = 0; d < last; d++) {
      box.lo[d] = l->first[d] + at[d] * l->step[d];
      box.hi[d] = box.lo[d] + 1;
    }
    ambit__field_blank(f, box.hi[last] - box.lo[last], row);
    s = ambit__do(e->queue, read, row, &f->stores[part], &box);
    for (int64_t i = 0; i < l->count[last]; i++, to += cell)
      memcpy(to, row + (size_t)(i * l->step[last]) * cell, cell);
  } while (!s && ambit__box_next_row(&counts, at));
  free(row);
  return s;
}

static ambit_status read_lattice(ambit_field *f, int part, const ambit__lattice *l,
                                 unsigned char *to)
{
  if (f->grid->active) return read_through_box(f, part, l, to);
  return ambit__do(ambit__engine_of(f->grid, part)->queue, lattice, to, &f->stores[part], l);
}

/* Where the sample of a row, a column and a plane is in the array of a lattice. */
static int64_t place(const samples *s, const ambit__lattice *l, int64_t row, int64_t column,
                     int64_t plane)
{
  int64_t at = 0;

  for (int d = 0; d < s->ndims; d++)
    at = at * l->count[d] + (d == s->axis[0]       ? row
                             : d == s->axis[1]     ? column
                             : d == s->planes_axis ? plane
                                                   : 0);
  return at;
}

/* Adds the values of a lattice to the samples: the greater one counts. */
static void merge(const samples *s, const share *x, const ambit__lattice *l, const double *values)
{
  const int64_t planes = x->plane_hi - x->plane_lo;
  const int64_t stride = place(s, l, 0, 1, 0);

  for (int64_t i = 0; i < planes; i++)
    for (int64_t row = 0; row < x->hi[0] - x->lo[0]; row++) {
      double *to = s->values + (x->lo[0] + row) * s->count[1] + x->lo[1];
      const double *from = values + place(s, l, row, 0, i);

      for (int64_t column = 0; column < x->hi[1] - x->lo[1]; column++) {
        const double v = from[column * stride];

        if (isnan(to[column]) || v > to[column]) to[column] = v;
      }
    }
}

/* Whether the device finds the greatest values along the axis of planes. */
static bool is_projected(const samples *s, int part)
{
  const ambit_field *f = s->field;

  return s->planes > 1 && !f->grid->active &&
         ambit__can(ambit__engine_of(f->grid, part)->device->backend, most) &&
         (s->component >= 0 || ambit__has_norm(f->type));
}

/* Reads planes of samples, or their maxima, and adds them. `cells` and `values` have room. */
static ambit_status read_planes(const samples *s, int part, share x, unsigned char *cells,
                                double *values)
{
  ambit_field *f = s->field;
  const ambit__engine *e = ambit__engine_of(f->grid, part);
  const bool norm = s->component < 0 && is_projected(s, part);
  ambit__lattice l = lattice_of(s, &x);

  if (is_projected(s, part)) {
    AMBIT_TRY(ambit__do(e->queue, most, cells, &f->stores[part], &l, s->planes_axis, norm));
    l.count[s->planes_axis] = 1;
    x.plane_hi = x.plane_lo + 1;
  } else {
    AMBIT_TRY(read_lattice(f, part, &l, cells));
  }
  convert(cells, share_count(&x) * (x.plane_hi - x.plane_lo), f->type, norm ? 1 : f->components,
          norm ? 0 : s->component, values);
  if (values != s->values) merge(s, &x, &l, values);
  return AMBIT_OK;
}

static ambit_status read_share(const samples *s, int part, share x)
{
  ambit_field *f = s->field;
  const int64_t end = x.plane_hi, plane = share_count(&x);
  const int64_t bytes = plane * (int64_t)(ambit__field_cell_bytes(f) + sizeof(double));
  const int64_t fit = bytes < PLANE_BYTES ? PLANE_BYTES / bytes : 1;
  const int64_t most = is_projected(s, part) ? s->planes : fit;
  const int64_t room = plane * (is_projected(s, part) ? 1 : ambit__min64(most, end - x.plane_lo));
  unsigned char *cells =
      ambit__new(ambit__field_errors(f), (size_t)room, ambit__field_cell_bytes(f));
  double *values =
      is_straight(s) ? s->values : ambit__new(ambit__field_errors(f), (size_t)room, sizeof *values);
  ambit_status status = cells && values ? AMBIT_OK : AMBIT_ENOMEM;

  for (; !status && x.plane_lo < end; x.plane_lo = x.plane_hi) {
    x.plane_hi = ambit__min64(x.plane_lo + most, end);
    status = read_planes(s, part, x, cells, values);
  }
  if (values != s->values) free(values);
  free(cells);
  return status;
}

static ambit_status read_own(const samples *s)
{
  const ambit_grid *g = s->field->grid;
  share x;

  for (int i = 0; i < g->placement.n; i++)
    if (share_of(s, &s->field->stores[i].layout.own, &x)) AMBIT_TRY(read_share(s, i, x));
  return AMBIT_OK;
}

/* ---- processes ---- */

/* The samples of a process, part after part; `packed` may be NULL: only counts them. */
static int64_t pack(const samples *s, int process, double *packed, bool unpacks)
{
  const ambit_grid *g = s->field->grid;
  int64_t n = 0;
  share x;

  for (int i = g->placement.first[process]; i < g->placement.first[process + 1]; i++) {
    if (!share_of(s, &g->parts[i], &x)) continue;
    for (int64_t row = x.lo[0]; row < x.hi[0]; row++)
      for (int64_t column = x.lo[1]; column < x.hi[1]; column++, n++) {
        double *here = &s->values[row * s->count[1] + column];

        if (!packed) continue;
        if (!unpacks) packed[n] = *here;
        if (unpacks && (isnan(*here) || packed[n] > *here)) *here = packed[n];
      }
  }
  return n;
}

static ambit_status trade(const samples *s, ambit__net *net, int process, double *packed)
{
  const size_t bytes = (size_t)pack(s, process, NULL, false) * sizeof *packed;
  ambit__request r = {0};

  if (!bytes) return AMBIT_OK;
  if (net->rank) {
    pack(s, process, packed, false);
    AMBIT_TRY(ambit__net_send(net, 0, TAG, packed, bytes, &r));
    return ambit__net_wait(net, &r, 1);
  }
  AMBIT_TRY(ambit__net_receive(net, process, TAG, packed, bytes, &r));
  AMBIT_TRY(ambit__net_wait(net, &r, 1));
  pack(s, process, packed, true);
  return AMBIT_OK;
}

/* Process 0 gets the samples of all. */
static ambit_status gather(const samples *s)
{
  ambit__net *net = s->field->grid->context->net;
  double *packed = NULL;
  int64_t most = 0;
  ambit_status status;

  if (net->size == 1) return s->field->grid->context->errors.status;
  for (int r = 1; r < net->size; r++)
    if (!net->rank || r == net->rank) {
      const int64_t n = pack(s, r, NULL, false);

      most = n > most ? n : most;
    }
  if (most) packed = ambit__new(net->errors, (size_t)most, sizeof *packed);
  status = ambit__net_agree(net);
  for (int r = 1; !status && r < net->size; r++)
    if (!net->rank || r == net->rank) status = trade(s, net, r, packed);
  free(packed);
  return status;
}

/* ---- pixels ---- */

/* Pixels of n x n samples: means, or the greatest, of those that are not NaN. */
static void shrink(const samples *s, int n, bool most, ambit__pixels *out)
{
  for (int64_t row = 0; row < out->rows; row++)
    for (int64_t column = 0; column < out->columns; column++) {
      double sum = 0, top = NAN;
      int count = 0;

      for (int64_t i = row * n; i < ambit__min64((row + 1) * n, s->count[0]); i++)
        for (int64_t j = column * n; j < ambit__min64((column + 1) * n, s->count[1]); j++) {
          const double v = s->values[i * s->count[1] + j];

          if (isnan(v)) continue;
          sum += v;
          count++;
          top = isnan(top) || v > top ? v : top;
        }
      out->values[row * out->columns + column] = !count ? (double)NAN : most ? top : sum / count;
    }
}

/* Cells of a pixel: pixels are square, and about as many as were asked for. */
static int64_t block_for(const ambit__sight *x, int rows, int columns)
{
  const int64_t height = x->hi[0] - x->lo[0], width = x->hi[1] - x->lo[1];
  const int64_t down = height / (rows > 0 ? rows : 1), along = width / (columns > 0 ? columns : 1);
  int64_t block = down > along ? down : along;

  while (ambit__pieces(height, block > 0 ? block : 1) > AMBIT__VIEW_MOST_SIDE ||
         ambit__pieces(width, block > 0 ? block : 1) > AMBIT__VIEW_MOST_SIDE)
    block += block / 8 + 1;
  return block > 1 ? block : 1;
}

/* Sets the lattice; returns the samples of a pixel along an axis. */
static int set_up(const ambit__scene *s, const ambit__sight *x, int64_t block, samples *to)
{
  const int64_t pixels =
      ambit__pieces(x->hi[0] - x->lo[0], block) * ambit__pieces(x->hi[1] - x->lo[1], block);
  const int n = block > 1 && pixels <= SMALL ? 2 : 1;
  const int axes[2] = {ambit__sight_rows(s, x), ambit__sight_columns(s, x)};

  to->ndims = s->ndims;
  to->step = block / n;
  for (int k = 0; k < 2; k++) {
    to->axis[k] = axes[k];
    to->first[k] = x->lo[k] + to->step / 2;
    to->count[k] = sample_count(x->hi[k] - x->lo[k], to->step);
  }
  if (axes[0] < 0) to->count[0] = 1;
  memcpy(to->fixed, x->plane, sizeof to->fixed);
  to->planes_axis = x->most ? x->axis : -1;
  to->planes = 1;
  if (x->most) {
    to->plane_step = ambit__pieces(s->extents[x->axis], MOST_PLANES);
    to->plane_first = to->plane_step / 2;
    to->planes = sample_count(s->extents[x->axis], to->plane_step);
  }
  return n;
}

ambit_status ambit__sample(const ambit_program *p, const ambit__scene *s, const ambit__sight *x,
                           int rows, int columns, ambit__pixels *out)
{
  ambit *a = p->grid->context;
  const int64_t block = block_for(x, rows, columns);
  samples all = {.field = s->fields[x->field].field, .component = x->component};
  const int n = set_up(s, x, block, &all);
  const int64_t values = all.count[0] * all.count[1];
  ambit_status status;

  *out = (ambit__pixels){.block = all.step * n};
  out->rows = (int)ambit__pieces(all.count[0], n);
  out->columns = (int)ambit__pieces(all.count[1], n);
  all.values = ambit__new(&a->errors, (size_t)values, sizeof *all.values);
  if (!a->net->rank && n > 1)
    out->values =
        ambit__new(&a->errors, (size_t)out->rows * (size_t)out->columns, sizeof *out->values);
  for (int64_t i = 0; all.values && !is_straight(&all) && i < values; i++)
    all.values[i] = NAN;
  ambit__view_refresh(all.field);
  if (all.values) read_own(&all);
  status = gather(&all);
  if (!status && !a->net->rank) {
    if (n > 1) {
      shrink(&all, n, x->most, out);
    } else {
      out->values = all.values;
      all.values = NULL;
    }
    ambit__finite_range(out->values, (int64_t)out->rows * out->columns, &out->lo, &out->hi);
  }
  free(all.values);
  if (status) {
    free(out->values);
    out->values = NULL;
  }
  return status;
}
