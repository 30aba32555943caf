/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.c - measures the speeds of a GPU, with the kernels of codegen/prelude/probe.h.
 *
 * CUDA and OpenCL differ in the language of these kernels alone. The kernels were run in OpenCL on
 * processors (PoCL); in CUDA they were compiled, and never run.
 */
#include "device/gpu/gpu.h"

#include "base/clock.h"
#include "base/text.h"
#include "plan/fitted.h"

extern const char ambit__prelude_probe[]; /* embedded by the build */

enum {
  COPY_BYTES = 1 << 30,
  COPY_BYTES_CPU = 64 << 20,
  TRIES = 5,
  THREADS = 256, /* of a block */
  BLOCKS = 16,   /* of a multiprocessor: more than it runs at once */
  CHAINS = 8,    /* of a thread */
  LAUNCHES = 100
};

/* Seconds of a launch: the rounds of a kernel are doubled until it takes as long, at most. */
static const double ENOUGH = 1e-3;

typedef struct probe {
  ambit__gpu_device *d;
  ambit__gpu_module *module;
  ambit__gpu_event *events[2];
  ambit__gpu_memory *to, *from;
  size_t bytes; /* of each */
} probe;

/* ---- timing ---- */

typedef struct run {
  ambit__gpu_function *f; /* NULL: a copy by the driver, of all bytes */
  int64_t blocks;
  int nargs;
  const ambit__gpu_arg *args;
  int times; /* launches */
} run;

static ambit_status submit(const probe *p, const run *r)
{
  const ambit__gpu_driver *driver = p->d->driver;
  ambit__shape shape;

  if (!r->f) return driver->copy(p->d->setup, p->to, 0, p->from, 0, p->bytes);
  shape = ambit__gpu_shape(r->blocks, THREADS);
  return driver->launch(p->d->setup, r->f, &shape, r->nargs, r->args);
}

/* Seconds of one launch of several in a row, by the driver's events or by our clock; less than 0 on
 * failure. */
static double time_run(const probe *p, const run *r)
{
  const ambit__gpu_driver *driver = p->d->driver;
  double start = ambit__clock(), seconds;

  if (driver->event_record(p->events[0], p->d->setup)) return -1;
  for (int i = 0; i < r->times; i++)
    if (submit(p, r)) return -1;
  if (driver->event_record(p->events[1], p->d->setup) || driver->queue_sync(p->d->setup)) return -1;
  seconds = driver->event_seconds(p->events[0], p->events[1]);
  if (seconds <= 0) seconds = ambit__clock() - start;
  return seconds / r->times;
}

/* The least of some tries. */
static double best_time(const probe *p, const run *r)
{
  double best = -1;

  for (int i = 0; i < TRIES; i++) {
    const double seconds = time_run(p, r);

    if (seconds <= 0) return -1;
    if (best < 0 || seconds < best) best = seconds;
  }
  return best;
}

/* ---- arithmetic ---- */

/* Rounds of a kernel per ns, of one thread, on so many blocks; 0: it could not be run. */
static double round_rate(const probe *p, const char *name, bool in_double, int64_t blocks)
{
  const float x32 = 0.5f, y32 = 1;
  const double x64 = x32, y64 = y32;
  int64_t rounds = 64;
  const ambit__gpu_arg args[] = {{.memory = p->to},
                                 {.value = &rounds, .bytes = sizeof rounds},
                                 {.value = in_double ? (const void *)&x64 : &x32,
                                  .bytes = in_double ? sizeof x64 : sizeof x32},
                                 {.value = in_double ? (const void *)&y64 : &y32,
                                  .bytes = in_double ? sizeof y64 : sizeof y32}};
  run r = {.blocks = blocks, .nargs = 4, .args = args, .times = 1};
  double seconds = 0;

  if (p->d->driver->function(p->module, name, &r.f)) return 0;
  while (rounds < INT64_C(1) << 40 && (seconds = time_run(p, &r)) > 0 && seconds < ENOUGH)
    rounds *= 2;
  seconds = best_time(p, &r);
  return seconds > 0 ? 1e-9 * (double)rounds / seconds : 0;
}

/* Operations per ns of all multiprocessors. */
static double operation_rate(const probe *p, const char *name, bool in_double)
{
  const int64_t blocks = (int64_t)BLOCKS * p->d->info.multiprocessors;

  return (double)blocks * THREADS * CHAINS * round_rate(p, name, in_double, blocks);
}

/* ---- copies ---- */

/* Bytes per ns of copies within so many bytes of each array. */
static double cached_rate(const probe *p, size_t bytes, int64_t blocks)
{
  const int64_t n = (int64_t)(bytes / 16), times = 1 + (int64_t)((p->bytes / 4) / (bytes + 1));
  const ambit__gpu_arg args[] = {{.memory = p->to},
                                 {.memory = p->from},
                                 {.value = &n, .bytes = sizeof n},
                                 {.value = &times, .bytes = sizeof times}};
  run r = {.blocks = blocks, .nargs = 4, .args = args, .times = 1};
  double seconds;

  if (!n || bytes > p->bytes || p->d->driver->function(p->module, "ambit_probe_copy", &r.f))
    return 0;
  seconds = best_time(p, &r);
  return seconds > 0 ? 32e-9 * (double)n * (double)times / seconds : 0;
}

/* ns of one of many launches in a row that do next to nothing. */
static double launch_ns(const probe *p)
{
  const int64_t n = 0, times = 1;
  const ambit__gpu_arg args[] = {{.memory = p->to},
                                 {.memory = p->from},
                                 {.value = &n, .bytes = sizeof n},
                                 {.value = &times, .bytes = sizeof times}};
  run r = {.blocks = p->d->info.multiprocessors, .nargs = 4, .args = args, .times = LAUNCHES};

  if (p->d->driver->function(p->module, "ambit_probe_copy", &r.f)) return 0;
  return 1e9 * best_time(p, &r);
}

/* ---- all ---- */

static ambit_status compile(probe *p)
{
  const ambit__dialect *l = p->d->driver->dialect;
  ambit__gpu_function *copy;
  ambit__text t = {0};

  ambit__print(&t, "%s\n", l->prelude);
  ambit__gpu_fixed_head(l, "Measuring the device.", THREADS, &t);
  ambit__print(&t, "#define EXP %s\n%s", l->has_lanes ? "expf" : "exp", ambit__prelude_probe);
  return ambit__gpu_fixed(p->d, &t, false, 1, &(ambit__gpu_kernel){"ambit_probe_copy", &copy},
                          &p->module);
}

static void measure_kernels(probe *p, ambit__machine *m)
{
  const int64_t blocks = (int64_t)BLOCKS * p->d->info.multiprocessors;
  const size_t l2 = p->d->info.l2 / 4; /* of each array */
  const double chains = p->d->info.max_threads < THREADS || compile(p)
                            ? 0
                            : round_rate(p, "ambit_probe_chain", false, 1);

  if (chains <= 0) return;
  m->chain = 1 / chains;
  m->fma32 = operation_rate(p, "ambit_probe_float", false);
  m->divide = operation_rate(p, "ambit_probe_divide", false);
  m->special = operation_rate(p, "ambit_probe_special", false);
  m->fma64 = p->d->info.has_double ? operation_rate(p, "ambit_probe_double", true) : m->fma32 / 64;
  m->alone = m->plain1 = cached_rate(p, p->bytes / 8, 1);
  m->copy2 = m->copy3 = cached_rate(p, l2 < p->bytes / 4 ? l2 : p->bytes / 4, blocks);
  m->kept = AMBIT__FIT_STAYS * (double)l2;
  m->copy1 = cached_rate(p, (size_t)p->d->info.multiprocessors << 13, blocks);
  m->launch = launch_ns(p);
}

static void measure(probe *p, bool all, ambit__machine *m)
{
  const ambit__gpu_driver *driver = p->d->driver;
  double seconds = -1;

  if (!driver->alloc(p->d->gpu, p->bytes, &p->to) &&
      !driver->alloc(p->d->gpu, p->bytes, &p->from) &&
      !driver->event_open(p->d->gpu, true, &p->events[0]) &&
      !driver->event_open(p->d->gpu, true, &p->events[1]))
    seconds = best_time(p, &(run){.times = 4});
  if (seconds > 0) m->copy = m->plain = 2e-9 * (double)p->bytes / seconds;
  if (seconds > 0 && all) measure_kernels(p, m);
  if (p->module) driver->unload(p->module);
  for (int i = 0; i < 2; i++)
    if (p->events[i]) driver->event_close(p->events[i]);
  if (p->to) driver->release(p->to);
  if (p->from) driver->release(p->from);
}

/* If the device has no free memory, or fails, nothing is measured; this is not an error of the
 * program. */
void ambit__gpu_measure(ambit__gpu_device *d, bool all, ambit__machine *m)
{
  ambit__errors *errors = d->head.errors;
  ambit_error_fn handler = errors->handler;
  probe p = {.d = d, .bytes = d->info.is_cpu ? COPY_BYTES_CPU : COPY_BYTES};
  ambit__gpu_info now;

  m->copy = 0;
  if (all) ambit__machine_forget_speeds(m);
  if (errors->status) return;
  d->driver->info(d->gpu, &now);
  if (p.bytes > now.free_memory / 4) p.bytes = now.free_memory / 4;
  if (p.bytes > now.largest) p.bytes = now.largest;
  p.bytes = p.bytes / 16 * 16;
  errors->handler = NULL;
  measure(&p, all, m);
  ambit__errors_clear(errors);
  errors->handler = handler;
}
