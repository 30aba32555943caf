/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu.c - the CPU device: generated functions on all cores.
 *
 * A launch cuts its box into slabs, always the same way. Each thread has its own share of them, so
 * that its pages are where it first touched them. A thread that finishes early takes slabs of
 * others, which may have lost their core for a while. Between its slabs the calling thread polls,
 * so that messages make progress. Launches that reduce are cut the same way for any number of
 * threads, and the results of the slabs are folded in order, so that a sum is the same in every run
 * and for every number of threads. Strict sums are exact and need no order. Work is complete when a
 * call returns.
 */
#include "device/cpu/cpu.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "device/cpu/generic.h"
#include "device/cpu/limits.h"
#include "device/cpu/target.h"
#include "device/registered.h"
#include "plan/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  CELLS_PER_SLAB = 1 << 19,    /* of a launch large enough to be divided dynamically */
  SLABS_PER_THREAD = 8,        /* at most */
  CELLS_PER_POLL = 1 << 21,    /* between two polls: about a millisecond */
  UNITS_PER_POLL = 4,          /* the least between two polls: cells beside a slab are read twice */
  CELLS_PER_PARTIAL = 1 << 15, /* per slab of a launch that reduces */
  MOST_PARTIALS = 1024,        /* most slabs of a launch that reduces */
  SLAB_ALIGN = 8,              /* slabs start at multiples of this along their axis */
  LINE_CELLS = 64,             /* and of this along rows: a cache line of the smallest type */
#ifdef __aarch64__
  SHORT_ROWS = 0 /* the loops of generated code have long beginnings: AMBIT_LONG_LOOPS */
#else
  SHORT_ROWS = 1
#endif
};

static const double POLL_SECONDS = 50e-6; /* least time between two polls */

typedef ambit__cpu_share share;
typedef ambit__cpu device;

typedef struct queue {
  ambit__queue head;
  double polled; /* time of the last poll, by ambit__clock */
} queue;

typedef struct function {
  ambit__function head;
  const ambit__rule *rule;
  ambit_cpu_fn run;             /* compiled here or registered; NULL: one of the next two */
  ambit__module *module;        /* of `run`, if it was compiled here */
  ambit__generic generic;       /* weighted sum; taps NULL: none */
  ambit__function *ref;         /* of the reference device; NULL: none */
  bool exact[AMBIT_MAX_PARAMS]; /* per parameter: a strict sum */
  int at[AMBIT_MAX_PARAMS];     /* per parameter: its first word in those of a slab */
  int words;                    /* 64-bit words per slab */
  double cell_ns;               /* see ambit__cpu_cell_ns */
  int64_t *partial; /* MOST_PARTIALS x words: a double, an int64_t or a long accumulator each */
} function;

/* ---- device and queue ---- */

static int count(void)
{
  return 1;
}

static void close_device(ambit__device *dev)
{
  device *d = (device *)dev;

  ambit__cc_close(d->cc);
  ambit__pool_close(d->pool);
  free(d->shares);
  free(d->calls);
  free(d->waste);
  free(d->kept);
  free(d);
}

/* Threads to start: as many as configured, or this process's share of the cores, unless the
 * launcher has already divided them. A core is left to the thread that drives other devices. */
static int own_threads(const ambit__settings *s)
{
  int cores = ambit__machine_cores();

  if (s->threads) return s->threads;
  if (s->sharers > 1 && cores >= sysconf(_SC_NPROCESSORS_ONLN)) cores /= s->sharers;
  cores -= s->companions;
  return cores > 1 ? cores : 1;
}

static ambit_status open_device(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                                ambit__device **dev)
{
  device *d;
  ambit_status s;

  AMBIT_CHECK(ordinal == 0, errors, AMBIT_ENODEVICE, "there is one device cpu:0, and no cpu:%d",
              ordinal);
  d = ambit__new(errors, 1, sizeof *d);
  if (!d) return AMBIT_ENOMEM;
  d->head = (ambit__device){.backend = &ambit__backend_cpu, .errors = errors, .settings = settings};
  ambit__machine_probe("", &d->machine);
  AMBIT_TRY_GOTO(s, ambit__pool_open(errors, own_threads(settings), &d->pool), fail);
  d->shares =
      aligned_alloc(alignof(share), (size_t)ambit__pool_threads(d->pool) * sizeof *d->shares);
  if (!d->shares)
    AMBIT_TRY_GOTO(s, ambit__raise(errors, AMBIT_ENOMEM, "no memory for the threads"), fail);
  AMBIT_TRY_GOTO(s, ambit__cc_open(errors, settings, &d->cc), fail);
  *dev = &d->head;
  return AMBIT_OK;
fail:
  close_device(&d->head);
  return s;
}

static void info(ambit__device *dev, ambit__device_info *out)
{
  const device *d = (const device *)dev;
  int n = ambit__pool_threads(d->pool);

  snprintf(out->name, sizeof out->name, "%s, %d thread%s", d->machine.name, n, n == 1 ? "" : "s");
  snprintf(out->identity, sizeof out->identity, "%s, compiler %s", out->name,
           d->cc->available ? d->cc->compiler.version : "none");
  out->cores = n;
  out->short_rows = SHORT_ROWS;
  out->l1 = d->machine.l1;
  out->l2 = d->machine.l2;
  out->l3 = d->machine.l3;
  ambit__host_memory(&out->memory, &out->free);
}

static ambit_status queue_open(ambit__device *dev, bool urgent, ambit__queue **out)
{
  queue *q = ambit__new(dev->errors, 1, sizeof *q);

  (void)urgent;
  if (!q) return AMBIT_ENOMEM;
  q->head.device = dev;
  *out = &q->head;
  return AMBIT_OK;
}

static void queue_close(ambit__queue *q)
{
  free(q);
}

static ambit_status wait(ambit__queue *q)
{
  (void)q;
  return AMBIT_OK;
}

static double copy_bandwidth(ambit__device *dev)
{
  device *d = (device *)dev;

  if (d->copy_bandwidth <= 0) d->copy_bandwidth = ambit__limits_copy(d->pool, &d->machine);
  return d->copy_bandwidth;
}

/* ---- slabs ---- */

/* Cells along an axis that should stay together: a block of rows, or a page. */
static int64_t slab_unit(const ambit__box *b, int axis)
{
  return axis == b->ndims - 1 ? AMBIT__CPU_PAGE / (int64_t)sizeof(float) : SLAB_ALIGN;
}

/* Slabs are cut along the first axis that has enough cells for all, or along the longest one. */
static int slab_axis(const ambit__box *b, int slabs)
{
  int best = 0;

  for (int d = 0; d < b->ndims; d++) {
    int64_t units = (b->hi[d] - b->lo[d]) / slab_unit(b, d);

    if (units >= slabs) return d;
    if (units > (b->hi[best] - b->lo[best]) / slab_unit(b, best)) best = d;
  }
  return best;
}

/* Slab i of n along an axis. If there are enough cells, its ends are at whole units, counted from
 * `start`. Along rows this is required: two slabs must not share a cache line (plan/rows_emit.c),
 * and rows start at one. */
static ambit__box slab(const ambit__box *b, int64_t start, int axis, int64_t i, int64_t n)
{
  const int64_t least = axis == b->ndims - 1 ? LINE_CELLS : 1;
  const bool enough = b->hi[axis] - b->lo[axis] >= n * slab_unit(b, axis);
  const int64_t unit = enough ? slab_unit(b, axis) : least;
  const int64_t before = (b->lo[axis] - start) % unit;
  const int64_t units = (before + b->hi[axis] - b->lo[axis] + unit - 1) / unit;
  ambit__box s = *b;

  if (i > 0) s.lo[axis] = b->lo[axis] - before + units * i / n * unit;
  if (i + 1 < n) s.hi[axis] = b->lo[axis] - before + units * (i + 1) / n * unit;
  if (s.lo[axis] < b->lo[axis]) s.lo[axis] = b->lo[axis];
  if (s.hi[axis] < b->lo[axis]) s.hi[axis] = b->lo[axis];
  return s;
}

/* ---- build ---- */

static void discard(ambit__device *dev, ambit__function *fn)
{
  function *f = (function *)fn;

  if (!f) return;
  if (f->ref) ambit__backend_ref.discard(dev, f->ref);
  ambit__module_release(f->module);
  ambit__generic_close(&f->generic);
  free(f->partial);
  free(f->head.plan);
  free(f);
}

static ambit_status set_plan(ambit__device *dev, function *f, const char *text)
{
  f->head.plan = ambit__strdup(dev->errors, text);
  return f->head.plan ? AMBIT_OK : AMBIT_ENOMEM;
}

enum { ENTRY_CHARS = 128 };

/* Plans and generates the source of a group, to free(); NULL: no memory. The function is named
 * after the kernel, for debuggers, profilers and dumps. false: no strategy applies. */
static bool generate(const device *d, const ambit__group *given, char entry[ENTRY_CHARS],
                     ambit__plan *plan, char **source)
{
  const ambit__target target = ambit__cpu_target(&d->machine, ambit__pool_threads(d->pool));
  ambit__group g = *given;
  ambit__writer w = {0};

  snprintf(entry, ENTRY_CHARS, "ambit_cpu_%s", g.steps[0].rule->name);
  g.entry = entry;
  if (!ambit__plan_choose(&g, &target, plan)) return false;
  plan->strategy->emit(&g, &target, plan, &w);
  *source = ambit__writer_finish(&w);
  return true;
}

static ambit_status compile(device *d, const ambit__group *g, function *f)
{
  char entry[ENTRY_CHARS], *source;
  ambit__text line = {0};
  ambit__plan plan;
  void *address;
  ambit_status s;

  AMBIT_CHECK(generate(d, g, entry, &plan, &source), d->head.errors, AMBIT_EUNSUPPORTED,
              "no strategy of the cpu device can run kernel %s", g->steps[0].rule->name);
  plan.strategy->describe(&plan, &line);
  f->head.plan = ambit__text_finish(&line);
  f->head.block = g->form ? plan.block : 0;
  if (!source || !f->head.plan) {
    free(source);
    return ambit__raise(d->head.errors, AMBIT_ENOMEM, "no memory for the source of kernel %s",
                        g->steps[0].rule->name);
  }
  s = ambit__cc_try(d->cc, source, entry, &f->module, &address);
  if (!s && address) memcpy(&f->run, &address, sizeof address);
  free(source);
  return s;
}

/* Whether every pointer of the rule is bound to a separate, contiguous field. */
static bool all_contiguous(const ambit__group *g)
{
  for (int i = 0; i < g->steps[0].rule->nparams; i++) {
    const ambit__binding *b = &g->steps[0].bind[i];
    bool is_pointer = g->steps[0].rule->params[i].kind == PARAM_FIELD;

    if (is_pointer && (!b->is_field || !b->contiguous || b->shared)) return false;
  }
  return true;
}

/* If there is no compiler, or it took too long: the built-in weighted sum if the rule is one, else
 * the interpreter. */
static ambit_status do_without(device *d, const ambit__group *g, function *f)
{
  const ambit__rule *rule = g->steps[0].rule;

  free(f->head.plan);
  f->head.plan = NULL;
  if (d->cc->available)
    ambit__log(d->head.settings, 0, "kernel %s runs without being compiled, much slower: %s",
               rule->name, d->cc->late);
  else if (!d->warned && rule->nparams)
    ambit__log(d->head.settings, 0,
               "%s; kernels run without being compiled, much slower. Install gcc or "
               "clang, or compile and register the output of `ambit gen`",
               d->cc->why);
  d->warned |= !d->cc->available;
  if (g->ndims && !g->form && !g->strict && !g->checks && all_contiguous(g) &&
      ambit__generic_open(rule, g->ndims, &f->generic))
    return set_plan(&d->head, f, "(generic weights)");
  AMBIT_TRY(ambit__backend_ref.build(&d->head, g, &f->ref));
  return set_plan(&d->head, f, "(interpreted)");
}

/* Bytes per nanosecond from the second-level cache, and bytes of operands in vector registers that
 * are computed with per nanosecond, for every byte of a register: rather more than cores do, which
 * leaves small launches to few threads. */
static const double CACHE_SPEED = 66, WORK_SPEED = 7.4;

static double cell_ns(const ambit__rule *rule, const ambit__machine *m)
{
  const ambit__price price = ambit__price_of(rule);
  const double move = price.bytes / CACHE_SPEED;
  size_t widest = 1;
  double work;

  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_FIELD && ambit_type_size(rule->params[i].type) > widest)
      widest = ambit_type_size(rule->params[i].type);
  work = price.flops * (double)widest / (WORK_SPEED * (double)m->vector_bytes);
  return move > work ? move : work;
}

double ambit__cpu_cell_ns(const ambit__function *fn)
{
  return ((const function *)fn)->cell_ns;
}

/* Whole blocks of rows; along rows, no cache line that two launches store to. */
static void set_tile(const ambit__group *g, function *f)
{
  for (int d = 0; d < g->ndims; d++)
    f->head.tile[d] = d == g->ndims - 1 ? LINE_CELLS : SLAB_ALIGN;
}

static bool reduces(const ambit__rule *rule)
{
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_REDUCE) return true;
  return false;
}

/* Memory for the results of slabs. Generated functions add strict sums to long accumulators,
 * registered ones to doubles. */
static ambit_status make_partials(ambit__device *dev, const ambit__group *g, function *f)
{
  f->words = 1;
  for (int i = 0; i < f->rule->nparams; i++) {
    f->exact[i] = ambit__sums_exactly(g, &f->rule->params[i]);
    f->at[i] = f->words;
    f->words += f->exact[i] && f->module ? AMBIT__LONG_WORDS : 1;
  }
  f->partial =
      ambit__new(dev->errors, (size_t)MOST_PARTIALS * (size_t)f->words, sizeof *f->partial);
  return f->partial ? AMBIT_OK : AMBIT_ENOMEM;
}

/* The registered function for a group; NULL: none. They compute boxes, which sparse grids do not
 * store. */
static ambit_cpu_fn registered(const ambit__group *g)
{
  return g->ndims && !g->form && all_contiguous(g) ? ambit__registered_cpu(g->steps[0].rule) : NULL;
}

static void list_plans(ambit__device *dev, const ambit__group *g, ambit__text *lines)
{
  const device *d = (const device *)dev;
  const ambit__target target = ambit__cpu_target(&d->machine, ambit__pool_threads(d->pool));

  ambit__plan_list(g, &target, lines);
}

static void foresee(ambit__device *dev, const ambit__group *g)
{
  device *d = (device *)dev;
  char entry[ENTRY_CHARS], *source;
  ambit__plan plan;

  if (!d->cc->available || registered(g) || !generate(d, g, entry, &plan, &source)) return;
  if (source) ambit__cc_foresee(d->cc, source, d->machine.cores);
  free(source);
}

static ambit_status build(ambit__device *dev, const ambit__group *g, ambit__function **fn)
{
  device *d = (device *)dev;
  const ambit__rule *rule = g->steps[0].rule;
  function *f = ambit__new(dev->errors, 1, sizeof *f);
  ambit_status s = AMBIT_OK;

  if (!f) return AMBIT_ENOMEM;
  f->rule = rule;
  f->run = registered(g);
  if (f->run)
    AMBIT_TRY_GOTO(s, set_plan(dev, f, "(registered)"), fail);
  else if (d->cc->available)
    AMBIT_TRY_GOTO(s, compile(d, g, f), fail);
  if (!f->run) AMBIT_TRY_GOTO(s, do_without(d, g, f), fail);
  f->cell_ns = cell_ns(rule, &d->machine);
  if (reduces(rule)) AMBIT_TRY_GOTO(s, make_partials(dev, g, f), fail);
  f->head.checked = g->checks && (f->module || f->ref);
  f->head.waves = f->module && !g->checks && g->ndims;
  f->head.tiles = !f->ref && !g->checks && g->ndims;
  set_tile(g, f);
  *fn = &f->head;
  return AMBIT_OK;
fail:
  discard(dev, &f->head);
  return s;
}

/* ---- launch ---- */

typedef struct sweep {
  const function *f;
  const ambit__box *box;
  const ambit__chunks *chunks; /* of a sparse grid; NULL: a box */
  const ambit_full_call *call; /* complete except for lo, hi and the addresses of reductions */
  int axis;                    /* the axis along which the box is cut */
  int slabs;
  share *shares; /* one per thread */
  bool reduces;
  queue *q; /* to poll */
} sweep;

/* Sets the results of a box without cells. */
static void begin_partial(const function *f, int64_t *partial, ambit_call *call)
{
  for (int p = 0; p < f->rule->nparams; p++)
    if (f->rule->params[p].kind == PARAM_REDUCE) {
      call->origin[p] = &partial[f->at[p]];
      if (f->exact[p] && f->module)
        *(ambit__long *)call->origin[p] = (ambit__long){{0}};
      else
        *(ambit__value *)call->origin[p] = ambit__reduce_identity(&f->rule->params[p]);
    }
}

void ambit__cpu_call(const ambit__function *fn, const ambit_call *call)
{
  const function *f = (const function *)fn;

  if (f->run)
    f->run(call);
  else
    ambit__generic_run(&f->generic, call);
}

void ambit__cpu_run_box(const ambit__function *fn, const ambit_full_call *call,
                        const ambit__box *box, int64_t *partial)
{
  const function *f = (const function *)fn;
  ambit_full_call full = *call;

  for (int d = 0; d < box->ndims; d++) {
    full.call.lo[d] = box->lo[d] - call->call.offset[d];
    full.call.hi[d] = box->hi[d] - call->call.offset[d];
  }
  if (f->words) begin_partial(f, partial, &full.call);
  if (ambit__box_is_empty(box)) return;
  ambit__cpu_call(fn, &full.call);
}

static void run_slab(const sweep *s, int i)
{
  const int x = s->box->ndims - 1;
  ambit__box box = slab(s->box, s->call->call.offset[s->axis], s->axis, i, s->slabs);
  ambit_full_call full = *s->call;

  if (box.lo[x] != s->box->lo[x] || box.hi[x] != s->box->hi[x]) full.ends = 0; /* rows are cut */
  ambit__cpu_run_box(&s->f->head, &full, &box, s->f->partial + (int64_t)i * s->f->words);
}

void ambit__cpu_run_chunks(const ambit__function *fn, const ambit_full_call *call,
                           const ambit__chunks *chunks, int64_t first, int64_t end,
                           int64_t *partial)
{
  const function *f = (const function *)fn;
  ambit_full_call full = *call;

  if (f->words) begin_partial(f, partial, &full.call);
  full.chunks = chunks->table;
  full.cells = chunks->first;
  full.first = first;
  full.end = end;
  f->run(&full.call);
}

/* A slab of a sparse grid is a range of chunks. */
static void run_chunks(const sweep *s, int i)
{
  const int64_t n = s->chunks->n;

  ambit__cpu_run_chunks(&s->f->head, s->call, s->chunks, n * i / s->slabs, n * (i + 1) / s->slabs,
                        s->f->partial + (int64_t)i * s->f->words);
}

static int first_slab(const sweep *s, int thread, int threads)
{
  return (int)((int64_t)s->slabs * thread / threads);
}

void ambit__cpu_poll(ambit__queue *head)
{
  queue *q = (queue *)head;
  double now;

  if (!head->poll || (now = ambit__clock()) < q->polled + POLL_SECONDS) return;
  head->poll(head->poll_user);
  q->polled = now;
}

/* A thread's own share first, then the rest of the others'. */
static void run_share(void *arg, int thread, int threads)
{
  const sweep *s = arg;

  for (int k = 0; k < threads; k++) {
    int t = (thread + k) % threads, end = first_slab(s, t + 1, threads), i;

    while ((i = atomic_fetch_add_explicit(&s->shares[t].next, 1, memory_order_relaxed)) < end) {
      if (s->chunks)
        run_chunks(s, i);
      else
        run_slab(s, i);
      if (thread == 0) ambit__cpu_poll(&s->q->head);
    }
  }
}

/* Slabs of a launch that polls after each of them, limited by the units along their axis. */
static int64_t slabs_to_poll(int64_t cells, int64_t units, int threads)
{
  const int64_t wanted = cells / threads / CELLS_PER_POLL * threads, most = units / UNITS_PER_POLL;

  return wanted < most ? wanted : most;
}

/* Chooses the number of slabs and their axis. For a reduction they depend only on the box. No block
 * of rows is cut in two, unless there are more threads than blocks. */
static void cut_box(sweep *s, int threads)
{
  const int64_t cells = ambit__box_volume(s->box), least = s->reduces ? 1 : threads;
  const int64_t limit = s->reduces ? MOST_PARTIALS : threads * SLABS_PER_THREAD;
  int64_t slabs =
      s->reduces ? cells / CELLS_PER_PARTIAL : cells / threads / CELLS_PER_SLAB * threads;
  int64_t units, polls;

  if (slabs > limit) slabs = limit;
  if (slabs < least) slabs = least;
  s->axis = slab_axis(s->box, (int)slabs);
  units = (s->box->hi[s->axis] - s->box->lo[s->axis]) / slab_unit(s->box, s->axis);
  if (slabs > units) slabs = units > least ? units : least;
  polls = s->q->head.poll && !s->reduces ? slabs_to_poll(cells, units, threads) : 0;
  s->slabs = (int)(slabs > polls ? slabs : polls);
}

/* The same for chunks: slabs have as many of them, though not as many cells. */
static void cut_chunks(sweep *s, int threads)
{
  const int64_t wanted =
      s->reduces ? s->chunks->cells / CELLS_PER_PARTIAL : threads * SLABS_PER_THREAD;
  int64_t slabs = wanted < MOST_PARTIALS || !s->reduces ? wanted : MOST_PARTIALS;

  if (slabs > s->chunks->n) slabs = s->chunks->n;
  s->slabs = slabs < 1 ? 1 : (int)slabs;
}

void ambit__cpu_set_bounds(const ambit__launch *l)
{
  for (int i = 0; i < l->nargs; i++)
    if (l->chunks->form->view[i]) ambit__host_bounds(l->args[i].store, l->chunks, i);
}

void ambit__cpu_fill_call(const ambit__argument *args, int nargs, const int64_t *extents, int ndims,
                          ambit_call *call)
{
  for (int d = 0; d < ndims; d++) {
    call->offset[d] = 0;
    call->extent[d] = extents[d];
  }
  for (int i = 0; i < nargs; i++) {
    const ambit__store *store = args[i].store;

    if (!store) {
      call->origin[i] = ambit__host_base(args[i].value);
      continue;
    }
    call->origin[i] = ambit__host_base(store->buffer) +
                      store->layout.origin * (int64_t)ambit_type_size(store->layout.type);
    call->component[i] = store->layout.component;
    for (int d = 0; d < ndims; d++) {
      call->offset[d] = store->layout.own.lo[d];
      call->stride[i][d] = store->layout.stride[d];
    }
  }
}

ambit_cpu_fn ambit__cpu_entry(const ambit__function *fn, const ambit__rule **rule)
{
  const function *f = (const function *)fn;

  *rule = f->rule;
  return f->run;
}

/* Adds the results of the slabs of a strict sum, and stores the total in the scalar. */
static void finish_sum(const function *f, const int64_t *partials, int p, int64_t n, bool more,
                       ambit__buffer *value)
{
  const ambit_type type = f->rule->params[p].type;
  ambit__scalar_bytes *to = (ambit__scalar_bytes *)ambit__host_base(value);

  if (!more) to->sum = (ambit__long){{0}};
  for (int64_t i = 0; i < n; i++, partials += f->words)
    if (f->module)
      ambit__long_join(&to->sum, (const ambit__long *)&partials[f->at[p]]);
    else
      ambit__long_add(&to->sum, *(const double *)&partials[f->at[p]]);
  ambit__value_store(to->value, type, (ambit__value){.real = ambit__long_value(&to->sum, type)});
}

/* Folds the results of the slabs in order, and stores the total in the scalar. */
static void finish_reduction(const function *f, const int64_t *partials, int p, int64_t n,
                             bool more, ambit__buffer *value)
{
  const ambit__param *q = &f->rule->params[p];
  const bool real = ambit__type_is_real(q->type);
  ambit__value total =
      more ? ambit__value_load(ambit__host_base(value), q->type) : ambit__reduce_identity(q);

  for (int64_t i = 0; i < n; i++, partials += f->words)
    total = ambit__reduce_fold(q, total, *(const ambit__value *)&partials[f->at[p]]);
  if (real) total.real += 0.0; /* -0 and 0 become the same result */
  total = ambit__value_cast(total, real ? AMBIT_F64 : AMBIT_I64, q->type);
  ambit__value_store(ambit__host_base(value), q->type, total);
}

int ambit__cpu_words(const ambit__function *fn)
{
  return ((const function *)fn)->words;
}

void ambit__cpu_fold(const ambit__function *fn, const ambit__launch *l, const int64_t *partials,
                     int64_t n)
{
  const function *f = (const function *)fn;

  for (int i = 0; i < f->rule->nparams; i++)
    if (f->exact[i])
      finish_sum(f, partials, i, n, ambit__launch_folds(l, i), l->args[i].value);
    else if (f->rule->params[i].kind == PARAM_REDUCE)
      finish_reduction(f, partials, i, n, ambit__launch_folds(l, i), l->args[i].value);
}

static ambit_status fold(ambit__queue *q, ambit__function *fn, const ambit__launch *l,
                         const int64_t *partials, int64_t n)
{
  (void)q;
  ambit__cpu_fold(fn, l, partials, n);
  return AMBIT_OK;
}

static ambit_status launch(ambit__queue *q, ambit__function *fn, const ambit__launch *l)
{
  device *d = (device *)q->device;
  const function *f = (const function *)fn;
  ambit_full_call call = {.ends = l->ends,
                          .faults = l->faults ? (int64_t *)ambit__host_base(l->faults) : NULL};
  sweep s = {.f = f, .box = &l->box, .call = &call, .shares = d->shares, .q = (queue *)q};
  int threads;

  if (f->ref) return ambit__backend_ref.launch(q, f->ref, l);
  ambit__cpu_fill_call(l->args, l->nargs, l->extents, l->box.ndims, &call.call);
  call.call.step = l->step;
  if (!l->box.ndims) {
    f->run(&call.call);
    return AMBIT_OK;
  }
  s.reduces = reduces(f->rule);
  s.chunks = l->chunks;
  threads = ambit__cpu_threads_for(
      d, f->cell_ns * (double)(l->chunks ? l->chunks->cells : ambit__box_volume(&l->box)));
  if (s.chunks) {
    ambit__cpu_set_bounds(l);
    cut_chunks(&s, threads);
  } else {
    cut_box(&s, threads);
  }
  for (int t = 0; t < threads; t++)
    atomic_store_explicit(&d->shares[t].next, first_slab(&s, t, threads), memory_order_relaxed);
  ambit__pool_run(d->pool, threads, run_share, &s);
  if (s.reduces) ambit__cpu_fold(fn, l, f->partial, s.slabs);
  return AMBIT_OK;
}

const ambit__backend ambit__backend_cpu = {
    .name = "cpu",
    .summary = "all cores, with kernels compiled for this processor",
    .comm_cost = AMBIT__CORES_COMM_COST,
    .sparse = true,
    .wide_activity = true, /* with bytes, gcc 12 makes vectors of 16 cells, and ends cell by cell */
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .alloc = ambit__cpu_alloc,
    .release = ambit__host_release,
    .put = ambit__host_put,
    .get = ambit__host_get,
    .address = ambit__host_base,
    .write_box = ambit__cpu_write_box,
    .read_box = ambit__cpu_read_box,
    .fill_box = ambit__cpu_fill_box,
    .copy_box = ambit__cpu_copy_box,
    .ghosts = ambit__cpu_ghosts,
    .message_open = ambit__host_message_open,
    .message_close = ambit__host_message_close,
    .pack = ambit__cpu_pack,
    .unpack = ambit__cpu_unpack,
    .plans = list_plans,
    .foresee = foresee,
    .build = build,
    .discard = discard,
    .launch = launch,
    .wait = wait,
    .tiles = ambit__cpu_tiles,
    .relax = ambit__cpu_relax,
    .tile_words = ambit__cpu_words,
    .tile_fold = fold,
    .wave = ambit__cpu_wave,
    .copy_bandwidth = copy_bandwidth,
};
