/* SPDX-License-Identifier: BSD-3-Clause */
/* fold.c - reductions along some axes on a GPU: a fixed kernel (codegen/prelude/fold.h) per type,
 * kind and number of threads for a total. These are adjacent if its cells are; else neighbouring
 * threads have neighbouring totals, and read neighbouring cells.
 *
 * It folds the cells of a scratch field, or the totals that launches left (nest/folds.c).
 */
#include "base/text.h"
#include "device/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

extern const char ambit__prelude_fold[], ambit__prelude_sums[]; /* embedded by the build */

/* Totals that keep a GPU busy with few threads each; that need all threads of a block. */
enum { MANY = 1 << 16, FEW = 1 << 10 };

/* How totals are divided among threads: whether the cells of one are adjacent, whether there
 * are many, and whether each has one cell. */
typedef enum way { COLUMNS, MANY_COLUMNS, ROWS, MANY_ROWS, SINGLE } way;

static const int threads_of[] = {16, 4, AMBIT__MOVE_THREADS, 16, 1};

/* The types in memory: values become totals, totals do, totals become values, values become exact
 * sums. */
typedef enum form { INTO_TOTALS, OF_TOTALS, INTO_VALUES, INTO_SUMS } form;

enum {
  FOLDED = AMBIT_MAX_DIMS,
  LEFT = AMBIT_MAX_DIMS,
  AXES = FOLDED + LEFT,
  ARGS = 6 + 2 * AXES + LEFT
};

bool ambit__gpu_folds(ambit__device *dev, const ambit__fold *how)
{
  const ambit__gpu_device *d = ambit__gpu_device_of(dev);

  if (how->param->bins && d->info.shared < AMBIT__BINS_BYTES) return false;
  return d->info.has_double || !ambit__type_is_real(how->param->type);
}

/* ---- the kernel ---- */

static void write_source(const ambit__dialect *l, const ambit__param *q, form f, way w,
                         ambit__text *t)
{
  static const char *const folds[][3] = {
      {"((a) + (b))", "((b) < (a) || (b) != (b) ? (b) : (a))",
       "((b) > (a) || (b) != (b) ? (b) : (a))"},
      {"((ambit_i64)((ambit_u64)(a) + (ambit_u64)(b)))", "((b) < (a) ? (b) : (a))",
       "((b) > (a) ? (b) : (a))"},
      {"((a) + (b))", "((b) < (a) ? (b) : (a))", "((b) > (a) ? (b) : (a))"}};
  const bool real = ambit__type_is_real(q->type), wide = q->type == AMBIT_U64;
  const bool values = f == INTO_TOTALS || f == INTO_SUMS;
  const char *value = l->types[q->type], *total = l->types[ambit__type_total(q->type)];
  const int per = threads_of[w];

  ambit__dialect_print(l, t);
  ambit__print(t, "%s", l->strict);
  ambit__gpu_fixed_head(l, "Cells folded along some axes.", AMBIT__MOVE_THREADS, t);
  if (f == INTO_SUMS) ambit__print(t, "#define EXACT\n%s", ambit__prelude_sums);
  ambit__print(t, "#define T %s\n#define S %s\n#define R %s\n", values ? value : total, total,
               f == INTO_SUMS     ? l->types[AMBIT_I64]
               : f == INTO_VALUES ? value
                                  : total);
  ambit__print(t, "#define FOLD(a, b) %s\n", folds[real ? 0 : wide ? 2 : 1][q->reduce]);
  ambit__print(t, "#define RESULT(x) ((R)(x)%s)\n", real ? " + 0" : "");
  ambit__print(t, "#define FROM_BITS(x) %s\n",
               real   ? "AMBIT_F64_OF((ambit_u64)(x))"
               : wide ? "((ambit_u64)(x))"
                      : "(x)");
  ambit__print(t, "#define PER %d\n#define NEXT %d\n#define BARRIER %s\n%s", per,
               w == ROWS || w == MANY_ROWS ? 1 : AMBIT__MOVE_THREADS / per, l->barrier,
               ambit__prelude_fold);
}

/* Compiled once per device, type, kind, form and way. */
static ambit_status get(ambit__gpu_device *d, const ambit__param *q, form f, way w,
                        ambit__gpu_shared **code)
{
  ambit__gpu_shared **known = &d->folds[q->type][q->reduce][f][w];
  ambit__text t = {0};

  if (!*known) {
    write_source(d->driver->dialect, q, f, w, &t);
    AMBIT_TRY(ambit__gpu_fixed_shared(d, &t, "fold", "ambit_fold", known));
  }
  *code = *known;
  return AMBIT_OK;
}

void ambit__gpu_folds_free(ambit__gpu_device *d)
{
  ambit__gpu_shared **all = &d->folds[0][0][0][0];

  for (size_t i = 0; i < sizeof d->folds / sizeof *all; i++)
    ambit__gpu_shared_drop(d, all[i]);
}

/* ---- launches ---- */

/* Axes from the inside: those that are folded, then those that are left. */
typedef struct shape {
  int64_t n[AXES], stride[AXES], result[LEFT];
  int64_t base, first, cells, totals;
  bool rows; /* cells of a total are adjacent */
} shape;

ambit__layout ambit__gpu_totals_layout(ambit_type type, int components, unsigned dropped,
                                       const ambit__box *box)
{
  ambit__layout l = {
      .type = ambit__type_total(type), .components = components, .own = *box, .component = 1};

  for (int d = box->ndims - 1; d >= 0; d--) {
    if (dropped >> d & 1) continue;
    l.stride[d] = l.component;
    l.component *= box->hi[d] - box->lo[d];
  }
  return l;
}

static void add_axis(shape *s, int axis, int64_t n, int64_t stride, int64_t result)
{
  s->n[axis] = n;
  s->stride[axis] = stride;
  if (axis < FOLDED) {
    s->cells *= n;
    return;
  }
  s->result[axis - FOLDED] = result;
  s->totals *= n;
}

/* The cells of a box in a layout, and where their results go in another. */
static shape shape_of(const ambit__fold *how, const ambit__layout *l, const ambit__layout *to,
                      const ambit__box *box)
{
  int64_t there[AMBIT_MAX_DIMS];
  shape s = {.base = ambit__layout_at(l, box->lo), .cells = 1, .totals = 1};
  int folded = 0, left = FOLDED;

  for (int i = 0; i < AXES; i++)
    s.n[i] = 1;
  for (int d = box->ndims - 1; d >= 0; d--) {
    const bool folds = how->dropped >> d & 1;

    there[d] = folds ? to->own.lo[d] : box->lo[d];
    s.rows |= folds && l->stride[d] == 1 && box->hi[d] - box->lo[d] > 1;
    add_axis(&s, folds ? folded++ : left++, box->hi[d] - box->lo[d], l->stride[d], to->stride[d]);
  }
  if (ambit__param_width(how->param) > 1)
    add_axis(&s, left, ambit__param_width(how->param), l->component, to->component);
  s.first = ambit__layout_at(to, there);
  return s;
}

static way way_of(const ambit__fold *how, const shape *s)
{
  const bool many = s->totals >= MANY;

  if (s->cells == 1 && !how->exact) return SINGLE;
  return s->rows || s->totals < FEW ? (many ? MANY_ROWS : ROWS) : many ? MANY_COLUMNS : COLUMNS;
}

static ambit_status launch(ambit__gpu_lane *lane, const ambit__fold *how, form f,
                           const ambit__gpu_memory *results, const ambit__gpu_memory *values,
                           const shape *s, bool more)
{
  const way w = way_of(how, s);
  ambit__gpu_shared *code = NULL;
  const ambit__value one = ambit__reduce_identity(how->param);
  const int64_t again = more;
  int64_t identity;
  ambit__gpu_arg args[ARGS];
  int n = 0;

  if (how->exact) f = INTO_SUMS;
  AMBIT_TRY(get(lane->device, how->param, f, w, &code));
  memcpy(&identity, &one, sizeof identity);
  args[n++] = ambit__gpu_arg_memory(values);
  args[n++] = ambit__gpu_arg_number(&s->base);
  args[n++] = ambit__gpu_arg_memory(results);
  args[n++] = ambit__gpu_arg_number(&s->first);
  args[n++] = ambit__gpu_arg_number(&identity);
  args[n++] = ambit__gpu_arg_number(&again);
  for (int i = 0; i < AXES; i++) {
    args[n++] = ambit__gpu_arg_number(&s->n[i]);
    args[n++] = ambit__gpu_arg_number(&s->stride[i]);
  }
  for (int i = 0; i < LEFT; i++)
    args[n++] = ambit__gpu_arg_number(&s->result[i]);
  return ambit__gpu_moves_run(lane, code->run, s->totals * threads_of[w], n, args);
}

/* If the box has cells of some totals only, the others start from the identity too: a launch that
 * folds no cells into them. */
ambit_status ambit__gpu_fold(ambit__gpu_lane *lane, const ambit__command *c)
{
  const ambit__fold *how = c->fold.how;
  const ambit__layout *src = &c->fold.src->layout;
  const ambit__box there = ambit__box_project(c->fold.box, how->dropped);
  const ambit__gpu_memory *results = ambit__gpu_memory_of(c->fold.totals);
  const ambit__gpu_memory *from = ambit__gpu_memory_of(c->fold.src->buffer);
  const ambit__layout to = ambit__gpu_totals_layout(
      how->param->type, ambit__param_width(how->param), how->dropped, &how->cells);
  bool more = c->fold.more;
  shape s;

  if (!more && !ambit__box_equal(&there, &how->cells)) {
    s = shape_of(how, src, &to, &how->cells);
    s.n[0] = 0;
    AMBIT_TRY(launch(lane, how, INTO_TOTALS, results, from, &s, false));
    more = true;
  }
  s = shape_of(how, src, &to, c->fold.box);
  return launch(lane, how, INTO_TOTALS, results, from, &s, more);
}

ambit_status ambit__gpu_fold_pieces(ambit__gpu_lane *lane, const ambit__fold *how,
                                    const ambit__store *to, const ambit__gpu_memory *pieces,
                                    const ambit__layout *l, const ambit__box *box, bool more)
{
  const shape s = shape_of(how, l, &to->layout, box);

  return launch(lane, how, more ? OF_TOTALS : INTO_VALUES, ambit__gpu_memory_of(to->buffer), pieces,
                &s, more);
}
