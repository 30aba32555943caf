/* SPDX-License-Identifier: BSD-3-Clause */
/* points.c - chores on a GPU: a fixed kernel (codegen/prelude/points.h) for the types of the field
 * and the value, and lists of the points of a box in device memory, made for its first launch.
 *
 * Fused launches (nest/window/points.c) add values themselves, by the list of all cells. The values
 * of cells that they sample are kept, for some hundred iterations: one launch makes rows of the
 * record of them, so that 1,000 receivers need no launch per iteration. */
#include "base/memory.h"
#include "base/text.h"
#include "device/chore.h"
#include "device/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

extern const char ambit__prelude_points[]; /* embedded by the build */

/* The points of a box, or the cells that they touch. */
typedef struct list {
  struct list *next;
  ambit__box box;
  ambit__box own;        /* of the part: its fields have places of their own for the same cells */
  int64_t n;             /* of points, or cells */
  ambit__gpu_memory *at; /* places of taps, or of cells */
  ambit__gpu_memory *who, *weights;
  ambit__gpu_memory *more; /* the first entries of cells; NULL: of points */
} list;

enum { KEPT_BYTES = 64 << 20, KEPT_ROWS = 256 }; /* of samples that are no rows yet, at most */

struct ambit__gpu_chore {
  const ambit__chore *chore;
  ambit__gpu_shared *code;
  list *lists;
  /* Samples of fused launches: rows of the values of all cells that points touch. */
  ambit__gpu_memory *kept; /* NULL: not used yet */
  int64_t room, nkept;     /* rows */
  int64_t first;           /* row of the record that the first one belongs to */
};

/* ---- the kernel ---- */

static const char *const suffixes[] = {"f32", "f64",  "i32", "u8",  "i16", "i64",
                                       "f16", "bf16", "u16", "u32", "u64"};

/* #define NAME(x), the conversion between two types of which one is float or double */
static void define_cast(ambit__text *t, const ambit__dialect *l, const char *name, ambit_type to,
                        ambit_type from)
{
  const bool helper = ambit__type_is_half(to) || ambit__type_is_half(from) ||
                      (!ambit__type_is_real(to) && ambit__type_is_real(from));

  if (helper)
    ambit__print(t, "#define %s(x) ambit_%s_from_%s(x)\n", name, suffixes[to], suffixes[from]);
  else
    ambit__print(t, "#define %s(x) ((%s)(x))\n", name, l->types[to]);
}

/* The type of sums and rows. */
static ambit_type sum_of(const ambit__chore *c)
{
  return c->kind == CHORE_NOTE ? c->type : ambit__chore_type(c->field);
}

static ambit_status compile(ambit__gpu_device *d, ambit__gpu_chore *g)
{
  const ambit__dialect *l = d->driver->dialect;
  const ambit__chore *c = g->chore;
  static const char *const kinds[] = {"SAMPLES", "INJECTS", "NOTES"};
  const bool rows = c->kind == CHORE_INJECT && c->columns;
  const ambit_type field = c->kind == CHORE_NOTE ? c->value : c->field;
  const ambit_type sum = sum_of(c), value = rows ? sum : c->value;
  ambit__text t = {0};

  ambit__dialect_print(l, &t);
  ambit__print(&t, "%s", l->strict);
  ambit__gpu_fixed_head(l, "Values at points.", AMBIT__MOVE_THREADS, &t);
  ambit__print(&t, "#define T %s\n#define S %s\n#define V %s\n", l->types[field], l->types[sum],
               l->types[value]);
  define_cast(&t, l, "LOAD", sum, field);
  define_cast(&t, l, "STORE", field, sum);
  define_cast(&t, l, "GET", sum, value);
  ambit__print(&t, "#define %s\n\n%s", kinds[c->kind], ambit__prelude_points);
  return ambit__gpu_fixed_shared(d, &t, "points", "ambit_points", &g->code);
}

ambit_status ambit__gpu_chore_open(ambit__gpu_device *d, const ambit__chore *c,
                                   ambit__gpu_chore **out)
{
  const ambit_type type = c->kind == CHORE_NOTE ? c->value : c->field;
  ambit__gpu_chore *g;

  AMBIT_CHECK(d->info.has_double || sum_of(c) == AMBIT_F32, d->head.errors, AMBIT_EUNSUPPORTED,
              "values of type %s at points or in records are computed in double, which %s does not "
              "have; use float, or another device",
              ambit_type_name(type), d->info.name);
  AMBIT_NEW(d->head.errors, g, 1);
  g->chore = c;
  *out = g;
  return compile(d, g);
}

void ambit__gpu_chore_close(ambit__gpu_device *d, ambit__gpu_chore *g)
{
  if (!g) return;
  for (list *l = g->lists, *next; l; l = next) {
    ambit__gpu_memory *all[] = {l->at, l->who, l->weights, l->more};

    next = l->next;
    for (int i = 0; i < 4; i++)
      if (all[i]) d->driver->release(all[i]);
    free(l);
  }
  if (g->kept) d->driver->release(g->kept);
  ambit__gpu_shared_drop(d, g->code);
  free(g);
}

/* ---- lists ---- */

/* A list in host memory. */
typedef struct draft {
  ambit__arena memory;
  int64_t *at, *who, *more;
  double *weights; /* floats, once they are narrowed */
  int64_t n, nat, nwho, nweights, nmore;
} draft;

static ambit_status make_draft(ambit__errors *errors, const ambit__chore *c, draft *d)
{
  const ambit__points *p = c->points;
  const bool samples = c->kind == CHORE_SAMPLE;
  const int64_t cells = samples ? p->n : p->touched.n;
  const int64_t entries = samples ? p->n : p->touched.start[p->touched.n];
  const int64_t taps = samples ? p->taps : 1;

  AMBIT_TAKE(errors, &d->memory, d->at, (size_t)(cells * taps) + 1);
  AMBIT_TAKE(errors, &d->memory, d->who, (size_t)entries + 1);
  AMBIT_TAKE(errors, &d->memory, d->more, (size_t)cells + 1);
  AMBIT_TAKE(errors, &d->memory, d->weights, (size_t)(entries * taps) + 1);
  return AMBIT_OK;
}

/* The place of a tap of the point with this base cell: in a field, or without a layout the number
 * of its cell among those that points touch. */
static int64_t place_of(const ambit__points *p, const ambit__layout *l, const int64_t *base,
                        int64_t tap)
{
  ambit__box cell = {.ndims = p->ndims};
  int64_t found;

  for (int d = p->ndims - 1; d >= 0; tap /= p->width[d--]) {
    cell.lo[d] = base[d] + tap % p->width[d];
    cell.hi[d] = cell.lo[d] + 1;
  }
  if (l) return ambit__layout_at(l, cell.lo);
  found = ambit__point_cells_next(&p->touched, &cell, 0);
  return found < p->touched.n ? found : 0; /* its weight is 0 */
}

static void fill_samples(const ambit__points *p, const ambit__layout *l, const ambit__box *box,
                         draft *d)
{
  const ambit__point_cells *b = &p->bases;

  for (int64_t i = -1; (i = ambit__point_cells_next(b, box, i + 1)) < b->n;)
    for (int64_t k = b->start[i]; k < b->start[i + 1]; k++, d->n++) {
      for (int64_t t = 0; t < p->taps; t++)
        d->at[d->n * p->taps + t] = place_of(p, l, b->index + i * b->ndims, t);
      d->who[d->n] = b->point[k];
      memcpy(d->weights + d->n * p->taps, p->weights + b->point[k] * p->taps,
             (size_t)p->taps * sizeof *d->weights);
    }
  d->nwho = d->n;
  d->nat = d->nweights = d->n * p->taps;
}

static void fill_cells(const ambit__points *p, const ambit__layout *l, const ambit__box *box,
                       draft *d)
{
  const ambit__point_cells *b = &p->touched;

  for (int64_t i = -1; (i = ambit__point_cells_next(b, box, i + 1)) < b->n;) {
    d->at[d->n] = l ? ambit__layout_at(l, b->index + i * b->ndims) : 0;
    d->more[d->n++] = d->nwho;
    for (int64_t k = b->start[i]; k < b->start[i + 1]; k++, d->nwho++) {
      d->who[d->nwho] = b->point[k];
      d->weights[d->nwho] = b->weights[k];
    }
  }
  d->more[d->n] = d->nwho;
  d->nat = d->n;
  d->nweights = d->nwho;
  d->nmore = d->n + 1;
}

static ambit_status upload(ambit__gpu_device *dev, const ambit__chore *c, draft *d, list *l)
{
  const bool wide = ambit__chore_type(c->field) == AMBIT_F64;
  const size_t size = wide ? sizeof(double) : sizeof(float);

  for (int64_t i = 0; !wide && i < d->nweights; i++) {
    const float w = (float)d->weights[i];

    memcpy((char *)d->weights + (size_t)i * sizeof w, &w, sizeof w);
  }
  l->n = d->n;
  if (!d->n) return AMBIT_OK;
  AMBIT_TRY(ambit__gpu_upload(dev, d->at, (size_t)d->nat * sizeof *d->at, &l->at));
  AMBIT_TRY(ambit__gpu_upload(dev, d->who, (size_t)d->nwho * sizeof *d->who, &l->who));
  AMBIT_TRY(ambit__gpu_upload(dev, d->weights, (size_t)d->nweights * size, &l->weights));
  if (!d->nmore) return AMBIT_OK;
  return ambit__gpu_upload(dev, d->more, (size_t)d->nmore * sizeof *d->more, &l->more);
}

/* The list for a launch on a box, made on the first call; without a layout, of all points. */
static ambit_status find(ambit__gpu_device *dev, ambit__gpu_chore *g, const ambit__layout *l,
                         const ambit__box *box, const list **found)
{
  draft d = {0};
  list *new;
  ambit_status s;

  for (list *i = g->lists; i; i = i->next)
    if (l ? i->box.ndims && ambit__box_equal(&i->box, box) && ambit__box_equal(&i->own, &l->own)
          : !i->box.ndims) {
      *found = i;
      return AMBIT_OK;
    }
  AMBIT_NEW(dev->head.errors, new, 1);
  new->next = g->lists;
  if (l) {
    new->box = *box;
    new->own = l->own;
  }
  g->lists = new;
  *found = new;
  s = make_draft(dev->head.errors, g->chore, &d);
  if (!s && g->chore->kind == CHORE_SAMPLE)
    fill_samples(g->chore->points, l, box, &d);
  else if (!s)
    fill_cells(g->chore->points, l, box, &d);
  if (!s) s = upload(dev, g->chore, &d, new);
  ambit__arena_free(&d.memory);
  return s;
}

/* ---- launches ---- */

static ambit__gpu_arg end_of(const ambit__gpu_lane *lane)
{
  const ambit__gpu_memory *ended = ambit__gpu_watch_record(lane);

  return ended ? ambit__gpu_arg_memory(ended) : ambit__gpu_arg_none();
}

static ambit_status note(ambit__gpu_lane *lane, const ambit__gpu_chore *g, const ambit__launch *l,
                         int64_t first)
{
  const ambit__gpu_arg args[] = {
      ambit__gpu_arg_memory(ambit__gpu_memory_of(l->args[0].value)),
      ambit__gpu_arg_memory(ambit__gpu_memory_of(g->chore->rows)),
      ambit__gpu_arg_number(&first),
      end_of(lane),
  };

  return ambit__gpu_moves_run(lane, g->code->run, 1, 4, args);
}

/* Rows from number `first` on, of values that are in memory with these distances. */
typedef struct source {
  const ambit__gpu_memory *memory;
  int64_t component, row; /* from a component or row to the next */
  int64_t first, rows;
} source;

static ambit_status sample(ambit__gpu_lane *lane, const ambit__gpu_chore *g, const list *at,
                           const source *from, ambit__gpu_arg end)
{
  const ambit__chore *c = g->chore;
  const int64_t components = c->components, first = from->first * c->columns;
  const ambit__gpu_arg args[] = {
      ambit__gpu_arg_memory(from->memory),
      ambit__gpu_arg_number(&components),
      ambit__gpu_arg_number(&from->component),
      ambit__gpu_arg_number(&at->n),
      ambit__gpu_arg_memory(at->at),
      ambit__gpu_arg_memory(at->who),
      ambit__gpu_arg_memory(at->weights),
      ambit__gpu_arg_number(&c->points->taps),
      ambit__gpu_arg_memory(ambit__gpu_memory_of(c->rows)),
      ambit__gpu_arg_number(&first),
      ambit__gpu_arg_number(&from->rows),
      ambit__gpu_arg_number(&from->row),
      ambit__gpu_arg_number(&c->columns),
      end,
  };

  return ambit__gpu_moves_run(lane, g->code->run, from->rows * at->n * components, 14, args);
}

static ambit_status inject(ambit__gpu_lane *lane, const ambit__gpu_chore *g, const list *at,
                           const ambit__launch *l, int64_t first)
{
  const ambit__store *store = l->args[0].store;
  const ambit__chore *c = g->chore;
  const int64_t components = store->layout.components;
  const bool many = c->rows && c->columns > 1, all = many && c->columns != c->points->n;
  const int64_t by_point = all ? components : many, by_component = all;
  const ambit__buffer *values = c->rows ? c->rows : l->args[AMBIT__CHORE_VALUE].value;
  const ambit__gpu_arg args[] = {
      ambit__gpu_arg_memory(ambit__gpu_memory_of(store->buffer)),
      ambit__gpu_arg_number(&components),
      ambit__gpu_arg_number(&store->layout.component),
      ambit__gpu_arg_number(&at->n),
      ambit__gpu_arg_memory(at->at),
      ambit__gpu_arg_memory(at->who),
      ambit__gpu_arg_memory(at->weights),
      ambit__gpu_arg_memory(at->more),
      ambit__gpu_arg_memory(ambit__gpu_memory_of(values)),
      ambit__gpu_arg_number(&first),
      ambit__gpu_arg_number(&by_point),
      ambit__gpu_arg_number(&by_component),
      end_of(lane),
  };

  return ambit__gpu_moves_run(lane, g->code->run, at->n * components, 13, args);
}

/* ---- in fused launches ---- */

/* Rows of the record for the samples that are kept. They belong to iterations that were there. */
static ambit_status make_rows(ambit__gpu_lane *lane, ambit__gpu_chore *g)
{
  const int64_t cells = g->nkept ? g->chore->points->touched.n : 0; /* notes have no points */
  const source from = {g->kept, cells, g->chore->components * cells, g->first, g->nkept};
  const list *at;

  if (!g->nkept) return AMBIT_OK;
  g->nkept = 0;
  AMBIT_TRY(find(lane->device, g, NULL, &g->chore->points->bases.hull, &at));
  return at->n ? sample(lane, g, at, &from, ambit__gpu_arg_none()) : AMBIT_OK;
}

static ambit_status keep_more(ambit__gpu_device *d, ambit__gpu_chore *g, int64_t rows)
{
  const size_t row = (size_t)(g->chore->points->touched.n * g->chore->components) *
                     ambit_type_size(g->chore->field);
  const int64_t most = row ? (int64_t)(KEPT_BYTES / row) : KEPT_ROWS;

  if (g->kept && g->room >= rows) return AMBIT_OK;
  if (g->kept) d->driver->release(g->kept);
  g->kept = NULL;
  g->room = most > KEPT_ROWS ? KEPT_ROWS : most < rows ? rows : most;
  if (g->room < rows) g->room = rows;
  return d->driver->alloc(d->gpu, row ? row * (size_t)g->room : 1, &g->kept);
}

static ambit_status aim_sample(ambit__gpu_lane *lane, ambit__gpu_chore *g, int64_t step,
                               int64_t times, ambit__gpu_aimed *a)
{
  const ambit__chore *c = g->chore;
  const int64_t first = ambit__chore_row(c, step);
  const int64_t rows = (step + times) / c->every - step / c->every;

  if (g->nkept && (first != g->first + g->nkept || g->nkept + rows > g->room))
    AMBIT_TRY(make_rows(lane, g));
  AMBIT_TRY(keep_more(lane->device, g, rows));
  if (!g->nkept) g->first = first;
  a->rows = g->kept;
  a->row = g->nkept - step / c->every;
  g->nkept += rows;
  return AMBIT_OK;
}

ambit_status ambit__gpu_chore_aim(ambit__gpu_lane *lane, ambit__gpu_chore *g,
                                  const ambit__argument *value, int64_t step, int64_t times,
                                  ambit__gpu_aimed *a)
{
  const ambit__chore *c = g->chore;
  const list *at;

  *a = (ambit__gpu_aimed){.touched = c->points->touched.n};
  if (c->kind == CHORE_SAMPLE) return aim_sample(lane, g, step, times, a);
  AMBIT_TRY(find(lane->device, g, NULL, &c->points->touched.hull, &at));
  a->starts = at->more;
  a->who = at->who;
  a->weights = at->weights;
  a->rows = ambit__gpu_memory_of(c->rows ? c->rows : value->value);
  a->row = c->rows ? c->shift : 0;
  return AMBIT_OK;
}

const ambit__chore *ambit__gpu_chore_of(const ambit__function *fn)
{
  return ambit__gpu_chore_in(fn)->chore;
}

ambit_status ambit__gpu_chore_launch(ambit__gpu_lane *lane, ambit__gpu_chore *g,
                                     const ambit__launch *l)
{
  const ambit__chore *c = g->chore;
  const int64_t row = c->rows ? ambit__chore_row(c, l->step) : 0;
  const ambit__store *store;
  const list *at;

  AMBIT_TRY(make_rows(lane, g));
  if (!l->nargs || !ambit__chore_is_due(c, l->step)) return AMBIT_OK;
  if (c->kind == CHORE_NOTE) return note(lane, g, l, row * c->columns + c->column);
  store = l->args[0].store;
  AMBIT_TRY(find(lane->device, g, &store->layout, &l->box, &at));
  if (!at->n) return AMBIT_OK;
  if (c->kind == CHORE_INJECT) return inject(lane, g, at, l, row * c->columns);
  return sample(lane, g, at,
                &(source){ambit__gpu_memory_of(store->buffer), store->layout.component, 0, row, 1},
                end_of(lane));
}
