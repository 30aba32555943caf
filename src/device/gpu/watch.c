/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c - conditions that the device checks, so that the host need not wait.
 *
 * A check is a kernel of one thread (codegen/prelude/watch.h) that runs after its iteration. It
 * stores the end of the run in a record on the device, which all later kernels read. A report is a
 * copy of the record to pinned memory, followed by an event; the host takes reports in order.
 */
#include "device/gpu/gpu.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

extern const char ambit__prelude_watch[]; /* embedded by the build */

/* ---- the kernel ---- */

static ambit_status compile(ambit__gpu_device *d)
{
  const ambit__dialect *l = d->driver->dialect;
  ambit__text t = {0};

  ambit__print(&t, "%s\n", l->prelude);
  ambit__gpu_fixed_head(l, "Checking whether a run has ended.", 1, &t);
#define X(name, value, ctype, text) ambit__print(&t, "#define AMBIT_%s %d\n", #name, value);
  AMBIT_TYPE_MAP(X)
#undef X
  ambit__print(&t, "#define AMBIT_BELOW %d\n#define AMBIT_ABOVE %d\n", AMBIT_BELOW, AMBIT_ABOVE);
  ambit__print(&t, "#define AMBIT_AT_MOST %d\n#define AMBIT_AT_LEAST %d\n\n%s", AMBIT_AT_MOST,
               AMBIT_AT_LEAST, ambit__prelude_watch);
  return ambit__gpu_fixed(d, &t, true, 1, &(ambit__gpu_kernel){"ambit_check", &d->check},
                          &d->checks);
}

/* ---- the record ---- */

static ambit_status provide(ambit__gpu_device *d, ambit__gpu_watching *w)
{
  void *host;

  if (!d->check) AMBIT_TRY(compile(d));
  if (!w->record) AMBIT_TRY(d->driver->alloc(d->gpu, sizeof(ambit__gpu_finding), &w->record));
  if (!w->reports) {
    AMBIT_TRY(d->driver->host_alloc(d->gpu, AMBIT__REPORTS * sizeof *w->reports, &host));
    w->reports = host;
  }
  for (int i = 0; i < AMBIT__REPORTS; i++)
    if (!w->arrived[i]) AMBIT_TRY(d->driver->event_open(d->gpu, false, &w->arrived[i]));
  return AMBIT_OK;
}

const ambit__gpu_memory *ambit__gpu_watch_record(const ambit__gpu_lane *lane)
{
  return lane->watch.on ? lane->watch.record : NULL;
}

void ambit__gpu_watch_free(ambit__gpu_lane *lane)
{
  ambit__gpu_device *d = lane->device;
  ambit__gpu_watching *w = &lane->watch;

  for (int i = 0; i < AMBIT__REPORTS; i++)
    if (w->arrived[i]) d->driver->event_close(w->arrived[i]);
  if (w->reports) d->driver->host_release(d->gpu, w->reports);
  if (w->record) d->driver->release(w->record);
}

/* ---- the entries ---- */

/* Without double, the device cannot compare bounds as the host does. */
ambit_status ambit__gpu_watch(ambit__gpu_lane *lane, const ambit__command *c)
{
  ambit__gpu_device *d = lane->device;
  ambit__gpu_watching *w = &lane->watch;

  if (!c->watch.what) {
    w->on = false;
    return AMBIT_OK;
  }
  assert(!w->on);
  *c->watch.can = d->info.has_double;
  if (!d->info.has_double) return AMBIT_OK;
  AMBIT_TRY(provide(d, w));
  AMBIT_TRY(d->driver->zero(lane->queue, w->record, 0, sizeof(ambit__gpu_finding)));
  w->on = true;
  w->what = *c->watch.what;
  w->first = w->count = 0;
  return AMBIT_OK;
}

ambit_status ambit__gpu_check(ambit__gpu_lane *lane, const ambit__command *c)
{
  const ambit__gpu_watching *w = &lane->watch;
  const int64_t type = w->what.type, when = w->what.when;
  const ambit__shape one = ambit__gpu_shape(1, 1);
  const ambit__gpu_arg args[] = {
      ambit__gpu_arg_memory(w->record),
      ambit__gpu_arg_memory(ambit__gpu_memory_of(w->what.value)),
      ambit__gpu_arg_number(&type),
      ambit__gpu_arg_number(&when),
      {.value = &w->what.bound, .bytes = sizeof w->what.bound},
      ambit__gpu_arg_number(&c->check.iteration),
  };

  assert(w->on && c->check.iteration > 0);
  return lane->driver->launch(lane->queue, lane->device->check, &one, 6, args);
}

static ambit_status send_report(ambit__gpu_lane *lane, ambit__gpu_watching *w)
{
  const ambit__gpu_driver *driver = lane->driver;
  const int i = (w->first + w->count) % AMBIT__REPORTS;

  assert(w->on && w->count < AMBIT__REPORTS);
  AMBIT_TRY(driver->copy_out(lane->queue, &w->reports[i], w->record, 0, sizeof *w->reports));
  AMBIT_TRY(driver->event_record(w->arrived[i], lane->queue));
  w->count++;
  return AMBIT_OK;
}

static ambit_status take_report(const ambit__gpu_driver *driver, ambit__gpu_watching *w, bool wait,
                                ambit__verdict *v)
{
  const ambit__gpu_finding *found = &w->reports[w->first];

  assert(w->on && w->count > 0);
  v->known = wait || driver->event_done(w->arrived[w->first]);
  if (!v->known) return AMBIT_OK;
  AMBIT_TRY(driver->event_sync(w->arrived[w->first])); /* also reports failures */
  v->ended = found->ended;
  memcpy(v->value, found->value, sizeof v->value);
  w->first = (w->first + 1) % AMBIT__REPORTS;
  w->count--;
  return AMBIT_OK;
}

ambit_status ambit__gpu_report(ambit__gpu_lane *lane, const ambit__command *c)
{
  return c->report.verdict
             ? take_report(lane->driver, &lane->watch, c->report.wait, c->report.verdict)
             : send_report(lane, &lane->watch);
}
