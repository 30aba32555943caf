/* cpu.c - the CPU device: generated functions on all cores.
 *
 * A launch cuts its box into slabs, always the same way. Each thread has its own share of them, so that it
 * finds its pages where it first touched them; one that is done early takes over from the others, who
 * may have lost their core to someone else for a while. Launches that reduce are cut the same way for any
 * number of threads, and the slabs' results are folded in order, so that a sum is the same on every
 * run and for every number of threads. Work is done when a call returns.
 */
#include "base/log.h"
#include "base/memory.h"
#include "device/cpu/compile.h"
#include "device/cpu/generic.h"
#include "device/cpu/limits.h"
#include "device/cpu/registered.h"
#include "device/cpu/target.h"
#include "device/host.h"
#include "plan/emit.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  CELLS_PER_THREAD = 16384,    /* fewer are not worth waking a thread for */
  CELLS_PER_SLAB = 1 << 19,    /* of a launch large enough to be shared out in pieces */
  SLABS_PER_THREAD = 8,        /* at most */
  CELLS_PER_PARTIAL = 1 << 15, /* of a slab of a launch that reduces */
  MOST_PARTIALS = 1024,        /* slabs of a launch that reduces, at most */
  SLAB_ALIGN = 8,              /* slabs begin at multiples of this along their axis */
  PAGE = 4096
};

/* The next slab of a thread's share; on a cache line of its own. */
typedef struct share {
  alignas(64) atomic_int next;
} share;

typedef struct device {
  ambit__device head;
  ambit__machine machine;
  ambit__pool *pool;
  share *shares; /* one per thread */
  ambit__cc *cc;
  bool warned;           /* that there is no compiler */
  double copy_bandwidth; /* 0: not measured yet */
} device;

typedef struct function {
  ambit__function head;
  const ambit__rule *rule;
  ambit_cpu_fn run;       /* compiled here or registered; NULL: one of the next two */
  ambit__module *module;  /* of `run`, if it was compiled here */
  ambit__generic generic; /* weighted sum; taps NULL: none */
  ambit__function *ref;   /* of the reference device; NULL: none */
  ambit__value *partial;  /* MOST_PARTIALS x parameters: a double or an int64_t each */
} function;

extern const ambit__backend ambit__backend_cpu, ambit__backend_ref;

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
  free(d);
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
  d->head = (ambit__device){&ambit__backend_cpu, errors, settings};
  ambit__machine_probe("", &d->machine);
  AMBIT_TRY_GOTO(s, ambit__pool_open(errors, settings->threads, &d->pool), fail);
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
  out->units = n;
  out->memory = d->machine.memory;
}

static ambit_status queue_open(ambit__device *dev, ambit__queue **queue)
{
  *queue = ambit__new(dev->errors, 1, sizeof **queue);
  if (!*queue) return AMBIT_ENOMEM;
  (*queue)->device = dev;
  return AMBIT_OK;
}

static void queue_close(ambit__queue *queue)
{
  free(queue);
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

/* Threads worth waking for this many cells. */
static int threads_for(const device *d, int64_t cells)
{
  int64_t n = cells / CELLS_PER_THREAD;
  int most = ambit__pool_threads(d->pool);

  return n < 1 ? 1 : n < most ? (int)n : most;
}

/* Cells along an axis that should not be separated: a block of rows, or a page. */
static int64_t slab_unit(const ambit__box *b, int axis)
{
  return axis == b->ndims - 1 ? PAGE / (int64_t)sizeof(float) : SLAB_ALIGN;
}

/* Slabs are cut along the first axis that has enough cells for all, or the one that has most. */
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

/* Slab i of n along an axis, its ends at whole units where there are enough. */
static ambit__box slab(const ambit__box *b, int axis, int64_t i, int64_t n)
{
  const int64_t cells = b->hi[axis] - b->lo[axis];
  const int64_t unit = cells >= n * slab_unit(b, axis) ? slab_unit(b, axis) : 1;
  ambit__box s = *b;

  s.lo[axis] = b->lo[axis] + cells / unit * i / n * unit;
  s.hi[axis] = i + 1 == n ? b->hi[axis] : b->lo[axis] + cells / unit * (i + 1) / n * unit;
  return s;
}

/* ---- memory ---- */

typedef struct touch_job {
  const ambit__layout *layout;
  unsigned char *base;
} touch_job;

/* Zeroes the pages of this thread's slab of axis 0. */
static void touch(void *arg, int thread, int threads)
{
  const touch_job *job = arg;
  const ambit__layout *l = job->layout;
  const bool one = l->order == AMBIT_AOS || l->components == 1;
  const size_t plane = one ? l->bytes : (size_t)l->component * ambit_type_size(l->type);
  const size_t planes = l->bytes / plane;

  for (size_t c = 0; c < planes; c++) {
    size_t first = plane / PAGE * (size_t)thread / (size_t)threads * PAGE;
    size_t end = plane / PAGE * (size_t)(thread + 1) / (size_t)threads * PAGE;

    if (thread + 1 == threads) end = c + 1 == planes ? l->bytes - c * plane : plane;
    memset(job->base + c * plane + first, 0, end - first);
  }
}

static ambit_status alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                          ambit__buffer **buf)
{
  device *d = (device *)dev;

  AMBIT_TRY(ambit__host_alloc(dev, bytes, layout, buf));
  if (layout && ((ambit__host_buffer *)*buf)->mapped) {
    touch_job job = {layout, ambit__host_base(*buf)};

    ambit__pool_run(d->pool, ambit__pool_threads(d->pool), touch, &job);
  }
  return AMBIT_OK;
}

/* ---- ghosts ---- */

typedef struct ghost_job {
  ambit__host_ghosts_job ghosts;
  int axis;
  int64_t rows;
} ghost_job;

static void fill_share(void *arg, int thread, int threads)
{
  const ghost_job *job = arg;

  ambit__host_ghost_rows(&job->ghosts, job->axis, job->rows * thread / threads,
                         job->rows * (thread + 1) / threads);
}

static ambit_status ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                           const int64_t *extents, const int *low, const int *high)
{
  device *d = (device *)q->device;
  ghost_job job;

  ambit__host_ghosts_begin(&job.ghosts, store, b, extents, low, high);
  for (int axis = 0; axis < store->layout.own.ndims; axis++) {
    int64_t row = axis == store->layout.own.ndims - 1 ? 8 : extents[store->layout.own.ndims - 1];

    job.axis = axis;
    job.rows = ambit__host_ghost_count(&job.ghosts, axis);
    if (job.rows > 0) ambit__pool_run(d->pool, threads_for(d, job.rows * row), fill_share, &job);
  }
  return AMBIT_OK;
}

/* ---- building ---- */

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

/* The function is named after the kernel: that is what debuggers, profilers and dumps show. */
static ambit_status compile(device *d, const ambit__group *given, function *f)
{
  char entry[128];
  ambit__group named = *given, *g = &named;
  ambit__target target = ambit__cpu_target(&d->machine, ambit__pool_threads(d->pool));
  ambit__writer w = {0};
  ambit__text line = {0};
  ambit__plan plan;
  char *source;
  void *address;
  ambit_status s;

  snprintf(entry, sizeof entry, "ambit_%s", g->steps[0].rule->name);
  named.entry = entry;
  AMBIT_CHECK(ambit__plan_choose(g, &target, &plan), d->head.errors, AMBIT_EUNSUPPORTED,
              "no strategy of the cpu device can run kernel %s", g->steps[0].rule->name);
  plan.strategy->describe(&plan, &line);
  plan.strategy->emit(g, &target, &plan, &w);
  f->head.plan = ambit__text_finish(&line);
  source = ambit__writer_finish(&w);
  if (!source || !f->head.plan) {
    free(source);
    return ambit__raise(d->head.errors, AMBIT_ENOMEM, "no memory for the source of kernel %s",
                        g->steps[0].rule->name);
  }
  s = ambit__cc_load(d->cc, source, entry, &f->module, &address);
  if (!s) memcpy(&f->run, &address, sizeof address);
  free(source);
  return s;
}

/* Whether every pointer of the rule is a field of its own with its cells beside each other. */
static bool all_unit(const ambit__group *g)
{
  for (int i = 0; i < g->steps[0].rule->nparams; i++) {
    const ambit__binding *b = &g->steps[0].bind[i];
    bool is_pointer = g->steps[0].rule->params[i].kind == PARAM_FIELD;

    if (is_pointer && (!b->is_field || !b->unit || b->shared)) return false;
  }
  return true;
}

/* Without a compiler: the built-in weighted sum where the rule is one, the interpreter elsewhere. */
static ambit_status do_without(device *d, const ambit__group *g, function *f)
{
  const ambit__rule *rule = g->steps[0].rule;

  if (!d->warned && rule->nparams)
    ambit__log(d->head.settings, 0,
               "%s; kernels run without being compiled, much slower. Install gcc or "
               "clang, or compile and register what `ambit gen` writes",
               d->cc->why);
  d->warned = true;
  if (g->ndims && !g->strict && all_unit(g) && ambit__generic_open(rule, g->ndims, &f->generic))
    return set_plan(&d->head, f, "(generic weights)");
  AMBIT_TRY(ambit__backend_ref.build(&d->head, g, &f->ref));
  return set_plan(&d->head, f, "(interpreted)");
}

static ambit_status build(ambit__device *dev, const ambit__group *g, ambit__function **fn)
{
  device *d = (device *)dev;
  const ambit__rule *rule = g->steps[0].rule;
  function *f = ambit__new(dev->errors, 1, sizeof *f);
  ambit_status s = AMBIT_OK;

  if (!f) return AMBIT_ENOMEM;
  f->rule = rule;
  f->partial = ambit__new(dev->errors, (size_t)MOST_PARTIALS * (size_t)(rule->nparams + 1),
                          sizeof *f->partial);
  if (!f->partial) AMBIT_TRY_GOTO(s, AMBIT_ENOMEM, fail);
  if (g->ndims && all_unit(g)) f->run = ambit__registered_find(rule);
  if (f->run)
    AMBIT_TRY_GOTO(s, set_plan(dev, f, "(registered)"), fail);
  else if (d->cc->available)
    AMBIT_TRY_GOTO(s, compile(d, g, f), fail);
  else
    AMBIT_TRY_GOTO(s, do_without(d, g, f), fail);
  *fn = &f->head;
  return AMBIT_OK;
fail:
  discard(dev, &f->head);
  return s;
}

/* ---- running ---- */

typedef struct sweep {
  const function *f;
  const ambit__box *box;
  const ambit_call *call; /* filled in but for lo, hi and the reductions' places */
  int axis;               /* along which the box is cut */
  int slabs;
  share *shares; /* one per thread */
  bool reduces;
} sweep;

static void run_slab(const sweep *s, int i)
{
  const ambit__rule *rule = s->f->rule;
  ambit__box box = slab(s->box, s->axis, i, s->slabs);
  ambit_call call = *s->call;

  for (int d = 0; d < box.ndims; d++) {
    call.lo[d] = box.lo[d] - call.offset[d];
    call.hi[d] = box.hi[d] - call.offset[d];
  }
  for (int p = 0; s->reduces && p < rule->nparams; p++)
    if (rule->params[p].kind == PARAM_REDUCE) {
      call.origin[p] = &s->f->partial[i * rule->nparams + p];
      *(ambit__value *)call.origin[p] =
          ambit__reduce_identity(rule->params[p].reduce, rule->params[p].type);
    }
  if (ambit__box_is_empty(&box)) return;
  if (s->f->run)
    s->f->run(&call);
  else
    ambit__generic_run(&s->f->generic, &call);
}

static int first_slab(const sweep *s, int thread, int threads)
{
  return (int)((int64_t)s->slabs * thread / threads);
}

/* A thread's own share first, then what is left of the others'. */
static void run_share(void *arg, int thread, int threads)
{
  const sweep *s = arg;

  for (int k = 0; k < threads; k++) {
    int t = (thread + k) % threads, end = first_slab(s, t + 1, threads), i;

    while ((i = atomic_fetch_add_explicit(&s->shares[t].next, 1, memory_order_relaxed)) < end)
      run_slab(s, i);
  }
}

/* How many slabs the box is cut into, along which axis. For a reduction that is a matter of the box
 * alone, and no row block is cut for it. */
static void cut_box(sweep *s, int threads)
{
  int64_t cells = ambit__box_volume(s->box), most;
  int64_t slabs =
      s->reduces ? cells / CELLS_PER_PARTIAL : cells / threads / CELLS_PER_SLAB * threads;
  int64_t limit = s->reduces ? MOST_PARTIALS : (int64_t)threads * SLABS_PER_THREAD;

  if (slabs > limit) slabs = limit;
  if (slabs < threads && !s->reduces) slabs = threads;
  if (slabs < 1) slabs = 1;
  s->axis = slab_axis(s->box, (int)slabs);
  most = (s->box->hi[s->axis] - s->box->lo[s->axis]) / slab_unit(s->box, s->axis);
  if (s->reduces && slabs > most) slabs = most > 1 ? most : 1;
  s->slabs = (int)slabs;
}

static void fill_call(const function *f, const ambit__launch *launch, ambit_call *call)
{
  call->step = launch->step;
  for (int d = 0; d < launch->box.ndims; d++) {
    call->offset[d] = 0;
    call->extent[d] = launch->extents[d];
  }
  for (int i = 0; i < launch->nargs; i++) {
    const ambit__store *store = launch->args[i].store;

    if (!store) {
      call->origin[i] = ambit__host_base(launch->args[i].value);
      continue;
    }
    call->origin[i] = ambit__host_base(store->buffer) +
                      store->layout.origin * (int64_t)ambit_type_size(store->layout.type);
    call->component[i] = store->layout.component;
    for (int d = 0; d < launch->box.ndims; d++) {
      call->offset[d] = store->layout.own.lo[d];
      call->stride[i][d] = store->layout.stride[d];
    }
  }
  (void)f;
}

/* Folds what the slabs found, in order, and puts it where the scalar lives. */
static void finish_reduction(const function *f, int p, int slabs, ambit__buffer *value)
{
  const ambit__param *q = &f->rule->params[p];
  const bool real = ambit__type_is_real(q->type);
  ambit__value total = f->partial[p];

  for (int i = 1; i < slabs; i++)
    total = ambit__reduce_fold(q->reduce, real, total, f->partial[i * f->rule->nparams + p]);
  if (real) total.real += 0.0; /* -0 and 0 are one result */
  total = ambit__value_cast(total, real ? AMBIT_F64 : AMBIT_I64, q->type);
  ambit__value_store(ambit__host_base(value), q->type, total);
}

static ambit_status launch(ambit__queue *q, ambit__function *fn, const ambit__launch *l)
{
  device *d = (device *)q->device;
  const function *f = (const function *)fn;
  ambit_call call;
  sweep s = {.f = f, .box = &l->box, .call = &call, .shares = d->shares};
  int threads;

  if (f->ref) return ambit__backend_ref.launch(q, f->ref, l);
  fill_call(f, l, &call);
  if (!l->box.ndims) {
    f->run(&call);
    return AMBIT_OK;
  }
  for (int i = 0; i < f->rule->nparams; i++)
    s.reduces |= f->rule->params[i].kind == PARAM_REDUCE;
  threads = threads_for(d, ambit__box_volume(&l->box));
  cut_box(&s, threads);
  for (int t = 0; t < threads; t++)
    atomic_store_explicit(&d->shares[t].next, first_slab(&s, t, threads), memory_order_relaxed);
  ambit__pool_run(d->pool, threads, run_share, &s);
  for (int i = 0; s.reduces && i < f->rule->nparams; i++)
    if (f->rule->params[i].kind == PARAM_REDUCE) finish_reduction(f, i, s.slabs, l->args[i].value);
  return AMBIT_OK;
}

const ambit__backend ambit__backend_cpu = {
    .name = "cpu",
    .summary = "all cores, with kernels compiled for this processor",
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .alloc = alloc,
    .release = ambit__host_release,
    .put = ambit__host_put,
    .get = ambit__host_get,
    .write_box = ambit__host_write_box,
    .read_box = ambit__host_read_box,
    .ghosts = ghosts,
    .build = build,
    .discard = discard,
    .launch = launch,
    .wait = wait,
    .copy_bandwidth = copy_bandwidth,
};
