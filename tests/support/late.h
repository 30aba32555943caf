/* SPDX-License-Identifier: BSD-3-Clause */
/* late.h - a device that works as late as possible: `cpu`, behind a queue that is processed only
 * when the host waits. It exposes the contents of the queue and counts waits, which slow devices do
 * not.
 *
 * Link with -Wl,--wrap=ambit__backend_find; its name is "late". Only one can be open at a time.
 */
#ifndef AMBIT_TEST_LATE_H
#define AMBIT_TEST_LATE_H

#include "device/device.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

typedef enum late_kind { LATE_LAUNCH, LATE_GHOSTS, LATE_CHECK, LATE_REPORT } late_kind;

/* A queued operation, with copies of everything that may change in the meantime. */
typedef struct late_work {
  late_kind kind;
  bool watched;
  ambit__function *function; /* LATE_LAUNCH */
  ambit__launch launch;
  ambit__argument args[AMBIT_MAX_PARAMS];
  ambit__store stores[AMBIT_MAX_PARAMS]; /* LATE_GHOSTS: only the first */
  ambit__boundaries boundaries;          /* LATE_GHOSTS */
  const int64_t *extents;
  ambit__box given, reach;
  int64_t iteration; /* LATE_CHECK */
} late_work;

enum { LATE_MOST = 4096 };

static struct {
  late_work work[LATE_MOST];
  int n; /* operations in the queue */
  bool watching;
  ambit__watch watch;
  ambit__verdict record;
  ambit__verdict reports[AMBIT__REPORTS]; /* reports that have arrived */
  int arrived;
  int waits;     /* number of waits */
  int most;      /* maximum number of checks in the queue */
  int void_work; /* launches skipped after the end */
  bool recording;
  int mark;    /* operations from here on are recorded */
  int replays; /* so far */
} late;

struct ambit__recording {
  int n;
  late_work work[]; /* n */
};

extern const ambit__backend ambit__backend_cpu;

static double late_number(void)
{
  unsigned char bytes[8];

  ambit__backend_cpu.execute(NULL, AMBIT__COMMAND(get, bytes, late.watch.value, sizeof bytes));
  memcpy(late.record.value, bytes, sizeof bytes);
  return ambit__value_number(ambit__value_load(bytes, late.watch.type), late.watch.type);
}

static void late_look(int64_t iteration)
{
  double x;

  if (late.record.ended) return;
  x = late_number();
  if (!isfinite(x) || (late.watch.when == AMBIT_BELOW   ? x < late.watch.bound
                       : late.watch.when == AMBIT_ABOVE ? x > late.watch.bound
                                                        : x == late.watch.bound))
    late.record.ended = iteration;
}

static ambit_status late_do(ambit__queue *q, late_work *w)
{
  switch (w->kind) {
  case LATE_LAUNCH:
    w->launch.args = w->args;
    for (int i = 0; i < w->launch.nargs; i++)
      if (w->args[i].store) w->args[i].store = &w->stores[i];
    if (!w->watched || !late.record.ended)
      return ambit__backend_cpu.execute(q, AMBIT__COMMAND(launch, w->function, &w->launch));
    late.void_work++;
    return AMBIT_OK;
  case LATE_GHOSTS:
    return ambit__backend_cpu.execute(
        q, AMBIT__COMMAND(ghosts, w->stores, &w->boundaries, w->extents, &w->given, &w->reach));
  case LATE_CHECK: late_look(w->iteration); return AMBIT_OK;
  case LATE_REPORT: late.reports[late.arrived++] = late.record; return AMBIT_OK;
  }
  return AMBIT_OK;
}

/* Processes the queue: all of it, or up to the first report. */
static ambit_status late_catch_up(ambit__queue *q, bool to_report)
{
  int done = 0, checks = 0;

  for (int i = 0; i < late.n; i++)
    checks += late.work[i].kind == LATE_CHECK;
  if (checks > late.most) late.most = checks;
  while (done < late.n && !(to_report && late.arrived))
    AMBIT_TRY(late_do(q, &late.work[done++]));
  memmove(late.work, late.work + done, (size_t)(late.n -= done) * sizeof *late.work);
  return AMBIT_OK;
}

static late_work *late_add(late_kind kind)
{
  late_work *w = &late.work[late.n];

  CHECK(late.n < LATE_MOST - 1);
  if (late.n < LATE_MOST - 1) late.n++;
  *w = (late_work){.kind = kind, .watched = late.watching};
  return w;
}

/* ---- commands ---- */

static void late_launch(ambit__function *fn, const ambit__launch *l)
{
  late_work *w = late_add(LATE_LAUNCH);

  w->function = fn;
  w->launch = *l;
  for (int i = 0; i < l->nargs; i++) {
    w->args[i] = l->args[i];
    if (l->args[i].store) w->stores[i] = *l->args[i].store;
  }
}

static void late_ghosts(const ambit__command *c)
{
  late_work *w = late_add(LATE_GHOSTS);

  w->stores[0] = *c->ghosts.store;
  w->boundaries = *c->ghosts.boundaries;
  w->extents = c->ghosts.extents;
  w->given = *c->ghosts.given;
  w->reach = *c->ghosts.reach;
}

static ambit_status late_wait(ambit__queue *q)
{
  CHECK(!late.recording);
  late.waits++;
  return late_catch_up(q, false);
}

static void late_watch(const ambit__watch *w, bool *can)
{
  CHECK(late.watching == !w);
  late.watching = w != NULL;
  if (!w) return;
  *can = true;
  late.watch = *w;
  late.record = (ambit__verdict){.known = true};
  late.arrived = 0;
}

static void late_report(void)
{
  int under_way = late.arrived;

  for (int i = 0; i < late.n; i++)
    under_way += late.work[i].kind == LATE_REPORT;
  CHECK(late.watching && under_way < AMBIT__REPORTS);
  late_add(LATE_REPORT);
}

static ambit_status late_verdict(ambit__queue *q, bool wait, ambit__verdict *v)
{
  *v = (ambit__verdict){.known = false};
  if (!wait) return AMBIT_OK;
  late.waits++;
  AMBIT_TRY(late_catch_up(q, true));
  CHECK_EQ(1, late.arrived);
  *v = late.reports[--late.arrived];
  return AMBIT_OK;
}

/* With NULL begins a recording, else ends it. */
static void late_record(ambit__recording **r)
{
  size_t n, bytes;

  CHECK(late.recording == (r != NULL));
  late.recording = !r;
  if (!r) {
    late.mark = late.n;
    return;
  }
  n = (size_t)(late.n - late.mark);
  bytes = n * sizeof *late.work;
  late.n = late.mark;
  *r = malloc(sizeof **r + bytes);
  (*r)->n = (int)n;
  memcpy((*r)->work, late.work + late.mark, bytes);
}

static void late_replay(const ambit__recording *r)
{
  CHECK(!late.recording);
  for (int i = 0; i < r->n; i++)
    *late_add(r->work[i].kind) = r->work[i];
  late.replays++;
}

static ambit_status late_execute(ambit__queue *q, const ambit__command *c)
{
  switch (c->kind) {
  case COMMAND_launch: late_launch(c->launch.fn, c->launch.launch); break;
  case COMMAND_ghosts: late_ghosts(c); break;
  case COMMAND_watch: late_watch(c->watch.what, c->watch.can); break;
  case COMMAND_check:
    CHECK(late.watching);
    late_add(LATE_CHECK)->iteration = c->check.iteration;
    break;
  case COMMAND_report:
    if (c->report.verdict) return late_verdict(q, c->report.wait, c->report.verdict);
    late_report();
    break;
  case COMMAND_record: late_record(c->record.end); break;
  case COMMAND_replay: late_replay(c->replay.recording); break;
  default: AMBIT_TRY(late_wait(q)); return ambit__backend_cpu.execute(q, c);
  }
  return AMBIT_OK;
}

static ambit_status late_serve(ambit__device *dev, ambit__command *c)
{
  if (c->kind != COMMAND_recording_close) return ambit__backend_cpu.serve(dev, c);
  free(c->recording_close.recording);
  return AMBIT_OK;
}

static ambit_status late_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                              ambit__device **dev);

static const ambit__backend *late_backend(void)
{
  static ambit__backend b;

  b = ambit__backend_cpu;
  b.can &= ~AMBIT__CAN(tiles); /* waits for nothing */
  b.can |= AMBIT__CAN(watch) | AMBIT__CAN(record);
  b.name = "late";
  b.open = late_open;
  b.execute = late_execute;
  b.serve = late_serve;
  return &b;
}

static ambit_status late_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                              ambit__device **dev)
{
  memset(&late, 0, sizeof late);
  AMBIT_TRY(ambit__backend_cpu.open(errors, settings, ordinal, dev));
  (*dev)->backend = late_backend();
  return AMBIT_OK;
}

const ambit__backend *__real_ambit__backend_find(ambit__errors *errors, const char *name,
                                                 size_t length);
const ambit__backend *__wrap_ambit__backend_find(ambit__errors *errors, const char *name,
                                                 size_t length);

const ambit__backend *__wrap_ambit__backend_find(ambit__errors *errors, const char *name,
                                                 size_t length)
{
  if (length == strlen("late") && !strncmp(name, "late", length)) return late_backend();
  return __real_ambit__backend_find(errors, name, length);
}

#endif
