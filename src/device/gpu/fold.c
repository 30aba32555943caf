/* SPDX-License-Identifier: BSD-3-Clause */
/* fold.c - reductions along some axes on a GPU: a fixed kernel (codegen/prelude/fold.h) per type,
 * kind and number of threads for a total. These are adjacent if its cells are; else neighbouring
 * threads have neighbouring totals, and read neighbouring cells. Strict sums are left to the host.
 */
#include "base/text.h"
#include "device/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

extern const char ambit__prelude_fold[]; /* embedded by the build */

enum { MANY = 1 << 16 /* totals, which keep a GPU busy with few threads each */ };

/* How totals are divided among threads: whether the cells of one are adjacent, and whether there
 * are many. */
typedef struct way {
  bool rows, many;
} way;

static way way_of(const ambit__fold *how, int64_t totals)
{
  return (way){.rows = how->dropped >> (how->cells.ndims - 1) & 1, .many = totals >= MANY};
}

static int threads_of(way w)
{
  if (w.many) return w.rows ? 16 : 4;
  return w.rows ? AMBIT__MOVE_THREADS : 16;
}

enum { FOLDED = 5, LEFT = 5, AXES = FOLDED + LEFT, ARGS = 6 + 2 * AXES + LEFT };

bool ambit__gpu_folds(ambit__device *dev, const ambit__fold *how)
{
  const ambit__gpu_device *d = ambit__gpu_device_of(dev);

  return !how->exact && (d->info.has_double || !ambit__type_is_real(how->param->type));
}

/* ---- the kernel ---- */

static char *write_source(const ambit__dialect *l, const ambit__param *q, way w)
{
  static const char *const folds[][3] = {
      {"((a) + (b))", "((b) < (a) || (b) != (b) ? (b) : (a))",
       "((b) > (a) || (b) != (b) ? (b) : (a))"},
      {"((ambit_i64)((ambit_u64)(a) + (ambit_u64)(b)))", "((b) < (a) ? (b) : (a))",
       "((b) > (a) ? (b) : (a))"},
      {"((a) + (b))", "((b) < (a) ? (b) : (a))", "((b) > (a) ? (b) : (a))"}};
  const bool real = ambit__type_is_real(q->type), wide = q->type == AMBIT_U64;
  ambit__text t = {0};

  ambit__print(&t, "/* Cells folded along some axes. */\n");
  ambit__dialect_print(l, &t);
  ambit__print(&t, "%s#define KERNEL %s\n#define GLOBAL %s\n#define SHARED %s\n", l->strict,
               l->kernel, l->global, l->shared);
  ambit__print(&t, "#define T %s\n#define S %s\n", l->types[q->type],
               real   ? "double"
               : wide ? "ambit_u64"
                      : "ambit_i64");
  ambit__print(&t, "#define FOLD(a, b) %s\n", folds[real ? 0 : wide ? 2 : 1][q->reduce]);
  ambit__print(&t, "#define FROM_BITS(x) %s\n",
               real   ? "AMBIT_F64_OF((ambit_u64)(x))"
               : wide ? "((ambit_u64)(x))"
                      : "(x)");
  ambit__print(&t, "#define THREADS %d\n#define PER %d\n#define NEXT %d\n", AMBIT__MOVE_THREADS,
               threads_of(w), w.rows ? 1 : AMBIT__MOVE_THREADS / threads_of(w));
  ambit__print(&t, "#define THREAD %s\n#define BLOCK %s\n#define BLOCKS %s\n#define BARRIER %s\n%s",
               l->thread[0], l->block[0], l->blocks[0], l->barrier, ambit__prelude_fold);
  return ambit__text_finish(&t);
}

/* Compiled once per device, type, kind and way. */
static ambit_status get(ambit__gpu_device *d, const ambit__param *q, way w,
                        ambit__gpu_shared **code)
{
  ambit__gpu_shared **known = &d->folds[q->type][q->reduce][2 * w.rows + w.many];
  ambit__gpu_text text = {
      .name = "fold", .what = "a fixed kernel", .entry = "ambit_fold", .strict = true};
  char *source;
  ambit_status s = AMBIT_OK;

  if (!*known) {
    source = write_source(d->driver->dialect, q, w);
    AMBIT_CHECK(source, d->head.errors, AMBIT_ENOMEM, "no memory for the source of a kernel");
    text.source = source;
    s = ambit__gpu_shared_get(d, &text, known);
    free(source);
  }
  *code = *known;
  return s;
}

void ambit__gpu_folds_free(ambit__gpu_device *d)
{
  ambit__gpu_shared **all = &d->folds[0][0][0];

  for (size_t i = 0; i < sizeof d->folds / sizeof *all; i++)
    ambit__gpu_shared_drop(d, all[i]);
}

/* ---- launches ---- */

/* Axes from the inside: those that are folded, then those that are left. */
typedef struct shape {
  int64_t n[AXES], stride[AXES], total[LEFT];
  int64_t base, first, totals;
} shape;

static void describe(const ambit__fold *how, const ambit__layout *l, const ambit__box *box,
                     shape *s)
{
  int folded = 0, left = 0;
  int64_t step = 1;

  s->base = ambit__layout_at(l, box->lo);
  s->first = 0;
  s->totals = 1;
  for (int i = 0; i < AXES; i++) {
    s->n[i] = 1;
    s->stride[i] = 0;
    if (i < LEFT) s->total[i] = 0;
  }
  for (int d = box->ndims - 1; d >= 0; d--) {
    const bool folds = how->dropped >> d & 1;
    const int i = folds ? folded++ : FOLDED + left++;

    s->n[i] = box->hi[d] - box->lo[d];
    s->stride[i] = l->stride[d];
    if (folds) continue;
    s->total[i - FOLDED] = step;
    s->first += (box->lo[d] - how->cells.lo[d]) * step;
    s->totals *= s->n[i];
    step *= how->cells.hi[d] - how->cells.lo[d];
  }
}

static ambit_status launch(ambit__gpu_lane *lane, const ambit__fold *how,
                           const ambit__gpu_memory *totals, const ambit__gpu_memory *values,
                           const shape *s, bool more)
{
  const way w = way_of(how, s->totals);
  ambit__gpu_shared *code = NULL;
  const ambit__value one = ambit__reduce_identity(how->param);
  const int64_t again = more;
  int64_t identity;
  ambit__gpu_arg args[ARGS];
  int n = 0;

  AMBIT_TRY(get(ambit__gpu_device_of(lane->head.device), how->param, w, &code));
  memcpy(&identity, &one, sizeof identity);
  args[n++] = ambit__gpu_arg_memory(values);
  args[n++] = ambit__gpu_arg_number(&s->base);
  args[n++] = ambit__gpu_arg_memory(totals);
  args[n++] = ambit__gpu_arg_number(&s->first);
  args[n++] = ambit__gpu_arg_number(&identity);
  args[n++] = ambit__gpu_arg_number(&again);
  for (int i = 0; i < AXES; i++) {
    args[n++] = ambit__gpu_arg_number(&s->n[i]);
    args[n++] = ambit__gpu_arg_number(&s->stride[i]);
  }
  for (int i = 0; i < LEFT; i++)
    args[n++] = ambit__gpu_arg_number(&s->total[i]);
  return ambit__gpu_moves_run(lane, code->run, s->totals * threads_of(w), n, args);
}

/* If the box has cells of some totals only, the others start from the identity too: a launch that
 * folds no cells into them. */
ambit_status ambit__gpu_fold(ambit__queue *q, const ambit__fold *how, ambit__buffer *totals,
                             ambit__store *src, const ambit__box *box, bool more)
{
  ambit__gpu_lane *lane = (ambit__gpu_lane *)q;
  const ambit__box there = ambit__box_project(box, how->dropped);
  const ambit__gpu_memory *to = ambit__gpu_memory_of(totals);
  const ambit__gpu_memory *from = ambit__gpu_memory_of(src->buffer);
  shape s;

  if (!more && !ambit__box_equal(&there, &how->cells)) {
    describe(how, &src->layout, &how->cells, &s);
    s.n[0] = 0;
    AMBIT_TRY(launch(lane, how, to, from, &s, false));
    more = true;
  }
  describe(how, &src->layout, box, &s);
  return launch(lane, how, to, from, &s, more);
}
