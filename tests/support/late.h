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

  ambit__backend_cpu.get(NULL, bytes, late.watch.value, sizeof bytes);
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
      return ambit__backend_cpu.launch(q, w->function, &w->launch);
    late.void_work++;
    return AMBIT_OK;
  case LATE_GHOSTS:
    return ambit__backend_cpu.ghosts(q, w->stores, &w->boundaries, w->extents, &w->given,
                                     &w->reach);
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

/* ---- the entries ---- */

static ambit_status late_launch(ambit__queue *q, ambit__function *fn, const ambit__launch *l)
{
  late_work *w = late_add(LATE_LAUNCH);

  (void)q;
  w->function = fn;
  w->launch = *l;
  for (int i = 0; i < l->nargs; i++) {
    w->args[i] = l->args[i];
    if (l->args[i].store) w->stores[i] = *l->args[i].store;
  }
  return AMBIT_OK;
}

static ambit_status late_ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                                const int64_t *extents, const ambit__box *given,
                                const ambit__box *reach)
{
  late_work *w = late_add(LATE_GHOSTS);

  (void)q;
  w->stores[0] = *store;
  w->boundaries = *b;
  w->extents = extents;
  w->given = *given;
  w->reach = *reach;
  return AMBIT_OK;
}

static ambit_status late_wait(ambit__queue *q)
{
  CHECK(!late.recording);
  late.waits++;
  return late_catch_up(q, false);
}

static ambit_status late_put(ambit__queue *q, ambit__buffer *dst, const void *src, size_t bytes)
{
  AMBIT_TRY(late_wait(q));
  return ambit__backend_cpu.put(q, dst, src, bytes);
}

static ambit_status late_get(ambit__queue *q, void *dst, ambit__buffer *src, size_t bytes)
{
  AMBIT_TRY(late_wait(q));
  return ambit__backend_cpu.get(q, dst, src, bytes);
}

static ambit_status late_write(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                               const void *src)
{
  AMBIT_TRY(late_wait(q));
  return ambit__backend_cpu.write_box(q, dst, box, src);
}

static ambit_status late_read(ambit__queue *q, void *dst, ambit__store *src, const ambit__box *box)
{
  AMBIT_TRY(late_wait(q));
  return ambit__backend_cpu.read_box(q, dst, src, box);
}

static ambit_status late_read_lattice(ambit__queue *q, void *dst, ambit__store *src,
                                      const ambit__lattice *l)
{
  AMBIT_TRY(late_wait(q));
  return ambit__backend_cpu.read_lattice(q, dst, src, l);
}

static ambit_status late_fill(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                              const void *value)
{
  AMBIT_TRY(late_wait(q));
  return ambit__backend_cpu.fill_box(q, dst, box, value);
}

static ambit_status late_copy(ambit__queue *q, ambit__store *dst, ambit__store *src,
                              const ambit__box *box, const int64_t *shift)
{
  AMBIT_TRY(late_wait(q));
  return ambit__backend_cpu.copy_box(q, dst, src, box, shift);
}

static ambit_status late_begin(ambit__queue *q, const ambit__watch *w, bool *can)
{
  (void)q;
  CHECK(!late.watching);
  *can = late.watching = true;
  late.watch = *w;
  late.record = (ambit__verdict){.known = true};
  late.arrived = 0;
  return AMBIT_OK;
}

static ambit_status late_check(ambit__queue *q, int64_t iteration)
{
  (void)q;
  CHECK(late.watching);
  late_add(LATE_CHECK)->iteration = iteration;
  return AMBIT_OK;
}

static ambit_status late_report(ambit__queue *q)
{
  int under_way = late.arrived;

  (void)q;
  for (int i = 0; i < late.n; i++)
    under_way += late.work[i].kind == LATE_REPORT;
  CHECK(late.watching && under_way < AMBIT__REPORTS);
  late_add(LATE_REPORT);
  return AMBIT_OK;
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

static void late_end(ambit__queue *q)
{
  (void)q;
  late.watching = false;
}

static ambit_status late_record(ambit__queue *q)
{
  (void)q;
  CHECK(!late.recording);
  late.recording = true;
  late.mark = late.n;
  return AMBIT_OK;
}

static ambit_status late_recorded(ambit__queue *q, ambit__recording **r)
{
  const size_t n = (size_t)(late.n - late.mark), bytes = n * sizeof *late.work;

  (void)q;
  CHECK(late.recording);
  late.recording = false;
  late.n = late.mark;
  *r = malloc(sizeof **r + bytes);
  (*r)->n = (int)n;
  memcpy((*r)->work, late.work + late.mark, bytes);
  return AMBIT_OK;
}

static ambit_status late_replay(ambit__queue *q, ambit__recording *r)
{
  (void)q;
  CHECK(!late.recording);
  for (int i = 0; i < r->n; i++)
    *late_add(r->work[i].kind) = r->work[i];
  late.replays++;
  return AMBIT_OK;
}

static void late_forget(ambit__recording *r)
{
  free(r);
}

static ambit_status late_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                              ambit__device **dev);

static const ambit__backend *late_backend(void)
{
  static ambit__backend b;

  b = ambit__backend_cpu;
  b.tiles = NULL; /* waits for nothing */
  b.name = "late";
  b.open = late_open;
  b.launch = late_launch;
  b.ghosts = late_ghosts;
  b.wait = late_wait;
  b.put = late_put;
  b.get = late_get;
  b.write_box = late_write;
  b.read_box = late_read;
  b.read_lattice = late_read_lattice;
  b.fill_box = late_fill;
  b.copy_box = late_copy;
  b.watch = late_begin;
  b.check = late_check;
  b.report = late_report;
  b.verdict = late_verdict;
  b.unwatch = late_end;
  b.record = late_record;
  b.recorded = late_recorded;
  b.replay = late_replay;
  b.recording_close = late_forget;
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
