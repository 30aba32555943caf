/* SPDX-License-Identifier: BSD-3-Clause */
/* driven.c - a device whose commands are executed by a thread.
 *
 * A command is copied, with all that it points to, unless the caller waits for it: if it gives or
 * takes host memory, except for short values. The device behind has its own error state, since it
 * fails on its thread; the next call here passes the error on, with the name of the device.
 */
#include "device/driven.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/thread.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  SHORT_BYTES = 1 << 10, /* values that are copied with a command */
  /* a command that moves cells, with all that it points to: at most two of each */
  KEPT_BYTES = sizeof(ambit__command) + 2 * (sizeof(ambit__store) + sizeof(ambit__box)) +
               sizeof(ambit__boundaries) + sizeof(int64_t[AMBIT_MAX_DIMS])
};

/* Commands that are passed on, if the device behind can execute them. */
#define CAN                                                                                        \
  (AMBIT__CAN(ghosts) | AMBIT__CAN(pack) | AMBIT__CAN(wave) | AMBIT__CAN(tiles) |                  \
   AMBIT__CAN(relax) | AMBIT__CAN(plans) | AMBIT__CAN(measure))

static const ambit__backend driven;

typedef struct device {
  ambit__device head;
  ambit__backend table; /* `driven`, with the abilities of the device behind */
  ambit__thread *thread;
  ambit__errors errors; /* of the device behind */
  ambit__device *behind;
  ambit__thread_queue *calls; /* that concern no queue */
  int ordinal;
} device;

typedef struct queue {
  ambit__queue head;
  ambit__thread_queue *commands;
  ambit__queue *behind;
} queue;

struct ambit__event {
  bool timed;
  ambit__ticket ticket;
  double time; /* timed: when it completed */
};

static device *device_of(const ambit__queue *q)
{
  return (device *)q->device;
}

/* ---- commands ---- */

/* Passes an error of the device behind on. Its thread rests. */
static ambit_status pass_on(device *d, ambit_status s)
{
  if (s)
    ambit__raise(d->head.errors, s, "device %s:%d: %s", d->behind ? d->behind->backend->name : "",
                 d->ordinal, d->errors.text ? d->errors.text : ambit_status_text(s));
  ambit__errors_clear(&d->errors);
  return s;
}

static ambit_status check(device *d)
{
  const ambit_status s = ambit__thread_failure(d->thread);

  return s ? pass_on(d, s) : AMBIT_OK;
}

static ambit_status finish(queue *q)
{
  ambit__task_wait(ambit__task_last(q->commands));
  return check(device_of(&q->head));
}

/* ---- the device behind: done when they return ---- */

static ambit_status call_behind(device *d, ambit__task run, void *data)
{
  *(void **)ambit__task_new(d->calls, run, sizeof data) = data;
  ambit__task_add(d->calls);
  ambit__task_wait(ambit__task_last(d->calls));
  return check(d);
}

static ambit_status open_behind(void *user, void *data)
{
  const ambit__backend *backend = *(void **)data;
  device *d = user;

  return backend->open(&d->errors, d->head.settings, d->ordinal, &d->behind);
}

static ambit_status close_behind(void *user, void *data)
{
  device *d = user;

  (void)data;
  d->behind->backend->close(d->behind);
  return AMBIT_OK;
}

static ambit_status serve_behind(void *user, void *data)
{
  return ambit__serve(((device *)user)->behind, *(void **)data);
}

static void close_device(ambit__device *dev)
{
  device *d = (device *)dev;

  if (d->behind) call_behind(d, close_behind, NULL);
  if (d->calls) ambit__thread_queue_close(d->calls);
  ambit__thread_close(d->thread);
  ambit__errors_clear(&d->errors);
  free(d);
}

ambit_status ambit__driven_open(const ambit__backend *backend, ambit__errors *errors,
                                const ambit__settings *settings, int ordinal, ambit__device **dev)
{
  device *d = ambit__new(errors, 1, sizeof *d);
  ambit_status s;

  if (!d) return AMBIT_ENOMEM;
  d->head = (ambit__device){.backend = &d->table, .errors = errors, .settings = settings};
  d->table = driven;
  d->table.name = backend->name;
  d->table.summary = backend->summary;
  d->table.comm_cost = backend->comm_cost;
  d->table.closes_rows = backend->closes_rows;
  d->table.line = backend->line;
  d->table.can |= backend->can & CAN;
  d->ordinal = ordinal;
  AMBIT_TRY_GOTO(s, ambit__thread_open(errors, &d->thread), fail);
  AMBIT_TRY_GOTO(s, ambit__thread_queue_open(d->thread, errors, true, d, &d->calls), fail);
  AMBIT_TRY_GOTO(s, call_behind(d, open_behind, (void *)(uintptr_t)backend), fail);
  d->head.machine = d->behind->machine;
  *dev = &d->head;
  return AMBIT_OK;
fail:
  close_device(&d->head);
  return s;
}

static void info(ambit__device *dev, ambit__device_info *out)
{
  ambit__device *behind = ((device *)dev)->behind;

  behind->backend->info(behind, out);
}

static ambit_status measure(device *d, bool all, ambit__machine *m)
{
  AMBIT_TRY(call_behind(d, serve_behind, AMBIT__COMMAND(measure, all, &d->behind->machine)));
  *m = d->behind->machine;
  ambit__machine_complete(&d->behind->machine);
  return AMBIT_OK;
}

/* ---- queues and events ---- */

static void queue_close(ambit__queue *queue_)
{
  queue *q = (queue *)queue_;

  if (q->commands) ambit__thread_queue_close(q->commands);
  if (q->behind) ambit__ask(q->behind->device, queue_close, q->behind);
  free(q);
}

static ambit_status queue_open(ambit__device *dev, bool urgent, ambit__queue **out)
{
  device *d = (device *)dev;
  queue *q = ambit__new(dev->errors, 1, sizeof *q);
  ambit_status s;

  if (!q) return AMBIT_ENOMEM;
  q->head.device = dev;
  s = call_behind(d, serve_behind, AMBIT__COMMAND(queue_open, false, &q->behind));
  if (!s) s = ambit__thread_queue_open(d->thread, dev->errors, urgent, q->behind, &q->commands);
  if (s)
    queue_close(&q->head);
  else
    *out = &q->head;
  return s;
}

static ambit_status event_open(ambit__device *dev, bool timed, ambit__event **e)
{
  AMBIT_NEW(dev->errors, *e, 1);
  (*e)->timed = timed;
  (*e)->time = -1;
  return AMBIT_OK;
}

static void event_close(ambit__event *e)
{
  if (e->timed) ambit__task_wait(e->ticket); /* it will be written to */
  free(e);
}

static bool event_done(ambit__event *e)
{
  return ambit__task_done(e->ticket);
}

static double event_seconds(ambit__event *from, ambit__event *to)
{
  return event_done(from) && event_done(to) && from->time >= 0 && to->time >= 0
             ? to->time - from->time
             : -1;
}

static ambit_status stamp(void *user, void *data)
{
  (void)user;
  (*(ambit__event **)data)->time = ambit__clock();
  return AMBIT_OK;
}

static void mark(queue *q, ambit__event *e)
{
  if (e->timed) {
    *(ambit__event **)ambit__task_new(q->commands, stamp, sizeof e) = e;
    ambit__task_add(q->commands);
  }
  e->ticket = ambit__task_last(q->commands);
}

/* ---- commands ---- */

static ambit_status run(void *user, void *data)
{
  return ambit__execute(user, data);
}

/* A task whose data begin with the command. */
static void *new_task(queue *q, const ambit__command *c, size_t bytes)
{
  ambit__command *k = ambit__task_new(q->commands, run, bytes);

  *k = *c;
  return k;
}

/* What the commands that move cells point to. Stores are copied, since fields trade buffers. */
static const struct {
  ambit__command_kind kind;
  size_t at, bytes; /* the place of the pointer in the command; NULL stays */
} pointers[] = {
#define POINTER(name, field, type)                                                                 \
  {                                                                                                \
    COMMAND_##name, offsetof(ambit__command, name.field), sizeof(type)                             \
  }
    POINTER(copy, dst, ambit__store),
    POINTER(copy, src, ambit__store),
    POINTER(copy, box, ambit__box),
    POINTER(copy, shift, int64_t[AMBIT_MAX_DIMS]),
    POINTER(ghosts, store, ambit__store),
    POINTER(ghosts, boundaries, ambit__boundaries),
    POINTER(ghosts, extents, int64_t[AMBIT_MAX_DIMS]),
    POINTER(ghosts, given, ambit__box),
    POINTER(ghosts, reach, ambit__box),
    POINTER(pack, src, ambit__store),
    POINTER(pack, box, ambit__box),
    POINTER(unpack, dst, ambit__store),
    POINTER(unpack, box, ambit__box),
#undef POINTER
};

static void keep_move(queue *q, const ambit__command *c)
{
  unsigned char *k = new_task(q, c, KEPT_BYTES), *room = k + sizeof *c;
  const void *from;

  for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
    if (pointers[i].kind != c->kind) continue;
    memcpy(&from, k + pointers[i].at, sizeof from);
    if (!from) continue;
    memcpy(room, from, pointers[i].bytes);
    memcpy(k + pointers[i].at, &room, sizeof room);
    room += pointers[i].bytes;
  }
}

/* The command is followed by the launch, its arguments and their stores. */
static void keep_launch(queue *q, const ambit__command *c)
{
  const ambit__launch *given = c->launch.launch;
  const size_t n = (size_t)given->nargs;
  struct launching {
    ambit__command command;
    ambit__launch launch;
    ambit__argument args[];
  } *l = new_task(q, c, sizeof *l + n * (sizeof(ambit__argument) + sizeof(ambit__store)));
  ambit__store *stores = (ambit__store *)(l->args + n);

  l->command.launch.launch = &l->launch;
  l->launch = *given;
  l->launch.args = l->args;
  for (size_t i = 0; i < n; i++) {
    l->args[i] = given->args[i];
    if (!given->args[i].store) continue;
    stores[i] = *given->args[i].store;
    l->args[i].store = &stores[i];
  }
}

static void keep_put(queue *q, const ambit__command *c)
{
  ambit__command *k = new_task(q, c, sizeof *k + c->put.bytes);

  memcpy(k + 1, c->put.src, c->put.bytes);
  k->put.src = k + 1;
}

static ambit_status execute(ambit__queue *queue_, const ambit__command *c)
{
  queue *q = (queue *)queue_;
  bool waits = false;

  switch (c->kind) {
  case COMMAND_mark: mark(q, c->mark.event); return check(device_of(&q->head));
  case COMMAND_await:
    ambit__task_await(q->commands, c->await.event->ticket);
    return check(device_of(&q->head));
  case COMMAND_wait:
    if (!c->wait.event) return finish(q);
    ambit__task_wait(c->wait.event->ticket);
    return AMBIT_OK;
  case COMMAND_copy:
  case COMMAND_ghosts:
  case COMMAND_pack:
  case COMMAND_unpack: keep_move(q, c); break;
  case COMMAND_launch: keep_launch(q, c); break;
  case COMMAND_put:
    waits = c->put.bytes > SHORT_BYTES;
    if (!waits) keep_put(q, c);
    break;
  case COMMAND_tiles: /* the caller keeps all that they need */
  case COMMAND_relax: new_task(q, c, sizeof *c); break;
  default: waits = true;
  }
  if (waits) new_task(q, c, sizeof *c);
  ambit__task_add(q->commands);
  AMBIT_TRY(check(device_of(&q->head)));
  return waits ? finish(q) : AMBIT_OK;
}

static ambit_status serve(ambit__device *dev, ambit__command *c)
{
  device *d = (device *)dev;

  switch (c->kind) {
  case COMMAND_queue_open: return queue_open(dev, c->queue_open.urgent, c->queue_open.queue);
  case COMMAND_queue_close: queue_close(c->queue_close.queue); return AMBIT_OK;
  case COMMAND_event_open: return event_open(dev, c->event_open.timed, c->event_open.event);
  case COMMAND_event_close: event_close(c->event_close.event); return AMBIT_OK;
  case COMMAND_measure: return measure(d, c->measure.all, c->measure.machine);
  case COMMAND_release: /* commands in queues may use it; after a failure it would be dropped */
  case COMMAND_discard:
  case COMMAND_message_close:
    ambit__thread_wait(d->thread);
    check(d);
    break;
  default: break;
  }
  return call_behind(d, serve_behind, c);
}

static const ambit__backend driven = {
    .can = AMBIT__CAN(mark),
    .close = close_device,
    .info = info,
    .execute = execute,
    .serve = serve,
    .event_done = event_done,
    .event_seconds = event_seconds,
};
