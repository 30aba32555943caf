/* SPDX-License-Identifier: BSD-3-Clause */
/* driven.c - a device whose calls are commands of a thread.
 *
 * Calls that give or take host memory wait until they are done, except for short values, which are
 * copied. The others return at once. The device behind has its own error state, since it fails on
 * its thread; the next call here passes the error on, with the name of the device.
 */
#include "device/driven.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_BYTES = 1 << 10 }; /* values that are copied into a command */

static const ambit__backend driven;

typedef struct device {
  ambit__device head;
  ambit__backend table; /* `driven`, with the abilities of the device behind */
  ambit__commands *commands;
  ambit__errors errors; /* of the device behind */
  ambit__device *behind;
  ambit__command_queue *calls; /* that concern no queue */
  int ordinal;
} device;

typedef struct queue {
  ambit__queue head;
  ambit__command_queue *commands;
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
  const ambit_status s = ambit__commands_failure(d->commands);

  return s ? pass_on(d, s) : AMBIT_OK;
}

static ambit_status finish(queue *q)
{
  ambit__command_wait(ambit__command_last(q->commands));
  return check(device_of(&q->head));
}

/* A new command of a queue, whose data the caller fills in. */
static void *new_command(ambit__queue *q, ambit__command run, size_t bytes)
{
  return ambit__command_new(((queue *)q)->commands, run, bytes);
}

static ambit_status add(ambit__queue *q)
{
  ambit__command_add(((queue *)q)->commands);
  return check(device_of(q));
}

/* ---- calls that concern no queue: done when they return ---- */

typedef struct call {
  ambit_status (*run)(device *d, void *arg);
  device *device;
  void *arg;
} call;

static ambit_status run_call(void *user, void *data)
{
  const call *c = data;

  (void)user;
  return c->run(c->device, c->arg);
}

static ambit_status call_behind(device *d, ambit_status (*run)(device *d, void *arg), void *arg)
{
  call *c = ambit__command_new(d->calls, run_call, sizeof *c);

  *c = (call){run, d, arg};
  ambit__command_add(d->calls);
  ambit__command_wait(ambit__command_last(d->calls));
  return check(d);
}

typedef struct opening {
  const ambit__backend *backend;
  const ambit__settings *settings;
} opening;

static ambit_status open_behind(device *d, void *arg)
{
  const opening *o = arg;

  return o->backend->open(&d->errors, o->settings, d->ordinal, &d->behind);
}

static ambit_status close_behind(device *d, void *arg)
{
  (void)arg;
  d->behind->backend->close(d->behind);
  return AMBIT_OK;
}

static void close_device(ambit__device *dev)
{
  device *d = (device *)dev;

  if (d->behind) call_behind(d, close_behind, NULL);
  if (d->calls) ambit__command_queue_close(d->calls);
  ambit__commands_close(d->commands);
  ambit__errors_clear(&d->errors);
  free(d);
}

ambit_status ambit__driven_open(const ambit__backend *backend, ambit__errors *errors,
                                const ambit__settings *settings, int ordinal, ambit__device **dev)
{
  opening o = {backend, settings};
  device *d = ambit__new(errors, 1, sizeof *d);
  ambit_status s;

  if (!d) return AMBIT_ENOMEM;
  d->head = (ambit__device){.backend = &d->table, .errors = errors, .settings = settings};
  d->table = driven;
  d->table.name = backend->name;
  d->table.summary = backend->summary;
  d->table.comm_cost = backend->comm_cost;
  d->table.wraps_rows = backend->wraps_rows;
  d->table.line = backend->line;
  d->table.tile_words = backend->tile_words;
  if (!backend->tiles) d->table.tiles = NULL;
  if (!backend->relax) d->table.relax = NULL;
  if (!backend->wave) d->table.wave = NULL;
  if (!backend->foresee) d->table.foresee = NULL;
  if (!backend->plans) d->table.plans = NULL;
  if (!backend->measure) d->table.measure = NULL;
  if (!backend->alone) d->table.alone = NULL;
  d->ordinal = ordinal;
  AMBIT_TRY_GOTO(s, ambit__commands_open(errors, &d->commands), fail);
  AMBIT_TRY_GOTO(s, ambit__command_queue_open(d->commands, errors, true, NULL, &d->calls), fail);
  AMBIT_TRY_GOTO(s, call_behind(d, open_behind, &o), fail);
  d->head.machine = d->behind->machine;
  *dev = &d->head;
  return AMBIT_OK;
fail:
  close_device(&d->head);
  return s;
}

double ambit__driven_busy(ambit__device *dev)
{
  return ambit__commands_busy(((device *)dev)->commands);
}

static void info(ambit__device *dev, ambit__device_info *out)
{
  ambit__device *behind = ((device *)dev)->behind;

  behind->backend->info(behind, out);
}

typedef struct allocation {
  size_t bytes;
  const ambit__layout *layout;
  ambit__buffer **buffer;
} allocation;

static ambit_status alloc_behind(device *d, void *arg)
{
  const allocation *a = arg;

  return d->behind->backend->alloc(d->behind, a->bytes, a->layout, a->buffer);
}

static ambit_status alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                          ambit__buffer **buf)
{
  allocation a = {bytes, layout, buf};

  return call_behind((device *)dev, alloc_behind, &a);
}

static ambit_status release_behind(device *d, void *arg)
{
  d->behind->backend->release(d->behind, arg);
  return AMBIT_OK;
}

static void release(ambit__device *dev, ambit__buffer *buf)
{
  ambit__commands_wait(((device *)dev)->commands); /* they may use it */
  call_behind((device *)dev, release_behind, buf);
}

typedef struct building {
  const ambit__group *group;
  ambit__function **fn;
} building;

static ambit_status build_behind(device *d, void *arg)
{
  const building *b = arg;

  return d->behind->backend->build(d->behind, b->group, b->fn);
}

static ambit_status build(ambit__device *dev, const ambit__group *group, ambit__function **fn)
{
  building b = {group, fn};

  return call_behind((device *)dev, build_behind, &b);
}

typedef struct listing {
  const ambit__group *group;
  ambit__text *lines;
} listing;

static ambit_status plans_behind(device *d, void *arg)
{
  const listing *l = arg;

  d->behind->backend->plans(d->behind, l->group, l->lines);
  return AMBIT_OK;
}

static void plans(ambit__device *dev, const ambit__group *group, ambit__text *lines)
{
  listing l = {group, lines};

  (void)call_behind((device *)dev, plans_behind, &l);
}

static ambit_status foresee_behind(device *d, void *arg)
{
  d->behind->backend->foresee(d->behind, arg);
  return AMBIT_OK;
}

static void foresee(ambit__device *dev, const ambit__group *group)
{
  device *d = (device *)dev;

  /* The group is only read. */
  if (d->behind->backend->foresee) (void)call_behind(d, foresee_behind, (void *)(uintptr_t)group);
}

static ambit_status discard_behind(device *d, void *arg)
{
  d->behind->backend->discard(d->behind, arg);
  return AMBIT_OK;
}

static void discard(ambit__device *dev, ambit__function *fn)
{
  ambit__commands_wait(((device *)dev)->commands); /* they may call it */
  call_behind((device *)dev, discard_behind, fn);
}

typedef struct opened_message {
  size_t bytes;
  ambit__message **message;
} opened_message;

static ambit_status message_behind(device *d, void *arg)
{
  const opened_message *m = arg;

  return d->behind->backend->message_open(d->behind, m->bytes, m->message);
}

static ambit_status message_open(ambit__device *dev, size_t bytes, ambit__message **m)
{
  opened_message o = {bytes, m};

  return call_behind((device *)dev, message_behind, &o);
}

static void message_close(ambit__device *dev, ambit__message *m)
{
  device *d = (device *)dev;

  ambit__commands_wait(d->commands); /* for those that unpack it */
  d->behind->backend->message_close(d->behind, m);
}

static ambit_status measure_behind(device *d, void *all)
{
  d->behind->backend->measure(d->behind, *(const bool *)all, &d->behind->machine);
  return AMBIT_OK;
}

static void measure(ambit__device *dev, bool all, ambit__machine *m)
{
  device *d = (device *)dev;

  call_behind(d, measure_behind, &all);
  *m = d->behind->machine;
  ambit__machine_complete(&d->behind->machine);
}

static ambit_status alone_behind(device *d, void *arg)
{
  d->behind->backend->alone(d->behind, *(const bool *)arg);
  return AMBIT_OK;
}

static void alone(ambit__device *dev, bool alone_)
{
  call_behind((device *)dev, alone_behind, &alone_);
}

/* ---- queues and events ---- */

static ambit_status queue_behind(device *d, void *arg)
{
  return d->behind->backend->queue_open(d->behind, false, arg);
}

static void queue_close(ambit__queue *queue_)
{
  queue *q = (queue *)queue_;

  if (q->commands) ambit__command_queue_close(q->commands);
  if (q->behind) q->behind->device->backend->queue_close(q->behind);
  free(q);
}

static ambit_status queue_open(ambit__device *dev, bool urgent, ambit__queue **out)
{
  device *d = (device *)dev;
  queue *q = ambit__new(dev->errors, 1, sizeof *q);
  ambit_status s;

  if (!q) return AMBIT_ENOMEM;
  q->head.device = dev;
  AMBIT_TRY_GOTO(s, call_behind(d, queue_behind, &q->behind), fail);
  s = ambit__command_queue_open(d->commands, dev->errors, urgent, q->behind, &q->commands);
  if (s) goto fail;
  *out = &q->head;
  return AMBIT_OK;
fail:
  queue_close(&q->head);
  return s;
}

static ambit_status wait(ambit__queue *q)
{
  return finish((queue *)q);
}

static ambit_status event_open(ambit__device *dev, bool timed, ambit__event **e)
{
  *e = ambit__new(dev->errors, 1, sizeof **e);
  if (!*e) return AMBIT_ENOMEM;
  (*e)->timed = timed;
  (*e)->time = -1;
  return AMBIT_OK;
}

static void event_close(ambit__event *e)
{
  if (e->timed) ambit__command_wait(e->ticket); /* it will be written to */
  free(e);
}

static ambit_status stamp(void *user, void *data)
{
  (void)user;
  (*(ambit__event **)data)->time = ambit__clock();
  return AMBIT_OK;
}

static ambit_status event_record(ambit__event *e, ambit__queue *q)
{
  ambit__command_queue *commands = ((queue *)q)->commands;

  if (e->timed) {
    *(ambit__event **)ambit__command_new(commands, stamp, sizeof e) = e;
    ambit__command_add(commands);
  }
  e->ticket = ambit__command_last(commands);
  return check(device_of(q));
}

static ambit_status event_await(ambit__queue *q, ambit__event *e)
{
  ambit__command_await(((queue *)q)->commands, e->ticket);
  return check(device_of(q));
}

static ambit_status event_sync(ambit__event *e)
{
  ambit__command_wait(e->ticket);
  return AMBIT_OK;
}

static bool event_done(ambit__event *e)
{
  return ambit__command_done(e->ticket);
}

static double event_seconds(ambit__event *from, ambit__event *to)
{
  return event_done(from) && event_done(to) && from->time >= 0 && to->time >= 0
             ? to->time - from->time
             : -1;
}

/* ---- values ---- */

typedef struct values {
  ambit__buffer *buffer;
  void *host;
  const void *from; /* put: the bytes; NULL: they follow */
  size_t bytes;
} values;

static ambit_status run_put(void *user, void *data)
{
  const values *v = data;
  ambit__queue *q = user;

  return q->device->backend->put(q, v->buffer, v->from ? v->from : v + 1, v->bytes);
}

static ambit_status put(ambit__queue *q, ambit__buffer *dst, const void *src, size_t bytes)
{
  const bool copied = bytes <= SHORT_BYTES;
  values *v = new_command(q, run_put, sizeof *v + (copied ? bytes : 0));

  *v = (values){.buffer = dst, .from = copied ? NULL : src, .bytes = bytes};
  if (copied) memcpy(v + 1, src, bytes);
  AMBIT_TRY(add(q));
  return copied ? AMBIT_OK : finish((queue *)q);
}

static ambit_status run_get(void *user, void *data)
{
  const values *v = data;
  ambit__queue *q = user;

  return q->device->backend->get(q, v->host, v->buffer, v->bytes);
}

static ambit_status get(ambit__queue *q, void *dst, ambit__buffer *src, size_t bytes)
{
  values *v = new_command(q, run_get, sizeof *v);

  *v = (values){.buffer = src, .host = dst, .bytes = bytes};
  AMBIT_TRY(add(q));
  return finish((queue *)q);
}

/* ---- boxes ---- */

/* The data of all copies of boxes and of ghost cells. Stores are copied, since fields trade
 * buffers. */
typedef struct boxes {
  ambit__store store, from; /* from: of copy_box */
  ambit__box box, reach;    /* ghosts: box is `given` */
  int64_t shift[AMBIT_MAX_DIMS];
  bool shifts;
  const void *src;
  void *dst;
  ambit__lattice lattice;
  ambit__message *message;
  size_t at;
  ambit__boundaries boundaries;
  int64_t extents[AMBIT_MAX_DIMS];
} boxes;

static boxes *new_boxes(ambit__queue *q, ambit__command run, const ambit__store *store,
                        const ambit__box *box)
{
  boxes *b = new_command(q, run, sizeof *b);

  b->store = *store;
  b->box = *box;
  b->lattice.count[0] = 0;
  return b;
}

static ambit_status run_write(void *user, void *data)
{
  ambit__queue *q = user;
  boxes *b = data;

  return q->device->backend->write_box(q, &b->store, &b->box, b->src);
}

static ambit_status write_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                              const void *src)
{
  new_boxes(q, run_write, dst, box)->src = src;
  AMBIT_TRY(add(q));
  return finish((queue *)q);
}

static ambit_status run_read(void *user, void *data)
{
  ambit__queue *q = user;
  boxes *b = data;

  if (b->lattice.count[0])
    return q->device->backend->read_lattice(q, b->dst, &b->store, &b->lattice);
  return q->device->backend->read_box(q, b->dst, &b->store, &b->box);
}

static ambit_status read_box(ambit__queue *q, void *dst, ambit__store *src, const ambit__box *box)
{
  new_boxes(q, run_read, src, box)->dst = dst;
  AMBIT_TRY(add(q));
  return finish((queue *)q);
}

static ambit_status read_lattice(ambit__queue *q, void *dst, ambit__store *src,
                                 const ambit__lattice *l)
{
  boxes *b = new_boxes(q, run_read, src, &src->layout.own);

  b->dst = dst, b->lattice = *l;
  AMBIT_TRY(add(q));
  return finish((queue *)q);
}

static ambit_status run_fill(void *user, void *data)
{
  ambit__queue *q = user;
  boxes *b = data;

  return q->device->backend->fill_box(q, &b->store, &b->box, b->src);
}

static ambit_status fill_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                             const void *value)
{
  new_boxes(q, run_fill, dst, box)->src = value;
  AMBIT_TRY(add(q));
  return finish((queue *)q);
}

static ambit_status run_copy(void *user, void *data)
{
  ambit__queue *q = user;
  boxes *b = data;

  return q->device->backend->copy_box(q, &b->store, &b->from, &b->box, b->shifts ? b->shift : NULL);
}

static ambit_status copy_box(ambit__queue *q, ambit__store *dst, ambit__store *src,
                             const ambit__box *box, const int64_t *shift)
{
  boxes *b = new_boxes(q, run_copy, dst, box);

  b->from = *src;
  b->shifts = shift != NULL;
  if (shift) memcpy(b->shift, shift, (size_t)box->ndims * sizeof *shift);
  return add(q);
}

static ambit_status run_pack(void *user, void *data)
{
  ambit__queue *q = user;
  boxes *b = data;

  return q->device->backend->pack(q, b->message, b->at, &b->store, &b->box);
}

static ambit_status pack(ambit__queue *q, ambit__message *m, size_t at, ambit__store *src,
                         const ambit__box *box)
{
  boxes *b = new_boxes(q, run_pack, src, box);

  b->message = m;
  b->at = at;
  return add(q);
}

static ambit_status run_unpack(void *user, void *data)
{
  ambit__queue *q = user;
  boxes *b = data;

  return q->device->backend->unpack(q, &b->store, &b->box, b->message, b->at);
}

static ambit_status unpack(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                           ambit__message *m, size_t at)
{
  boxes *b = new_boxes(q, run_unpack, dst, box);

  b->message = m;
  b->at = at;
  return add(q);
}

static ambit_status run_ghosts(void *user, void *data)
{
  ambit__queue *q = user;
  boxes *b = data;

  return q->device->backend->ghosts(q, &b->store, &b->boundaries, b->extents, &b->box, &b->reach);
}

static ambit_status ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *bounds,
                           const int64_t *extents, const ambit__box *given, const ambit__box *reach)
{
  boxes *b = new_boxes(q, run_ghosts, store, given);

  b->reach = *reach;
  b->boundaries = *bounds;
  memcpy(b->extents, extents, (size_t)given->ndims * sizeof *extents);
  return add(q);
}

/* ---- launches ---- */

/* Followed by the arguments, and these by their stores. */
typedef struct launching {
  ambit__function *fn;
  ambit__launch launch;
} launching;

static ambit_status run_launch(void *user, void *data)
{
  ambit__queue *q = user;
  const launching *l = data;

  return q->device->backend->launch(q, l->fn, &l->launch);
}

static ambit_status launch(ambit__queue *q, ambit__function *fn, const ambit__launch *given)
{
  const size_t n = (size_t)given->nargs;
  launching *l =
      new_command(q, run_launch, sizeof *l + n * (sizeof(ambit__argument) + sizeof(ambit__store)));
  ambit__argument *args = (ambit__argument *)(l + 1);
  ambit__store *stores = (ambit__store *)(args + n);

  l->fn = fn;
  l->launch = *given;
  l->launch.args = args;
  for (size_t i = 0; i < n; i++) {
    args[i] = given->args[i];
    if (!args[i].store) continue;
    stores[i] = *args[i].store;
    args[i].store = &stores[i];
  }
  return add(q);
}

typedef struct waving {
  const ambit__wave *wave;
  int64_t step;
} waving;

static ambit_status run_wave(void *user, void *data)
{
  ambit__queue *q = user;
  const waving *w = data;

  return q->device->backend->wave(q, w->wave, w->step);
}

/* Done when it returns: a device that has the whole grid leaves others nothing to do. */
static ambit_status wave(ambit__queue *q, const ambit__wave *given, int64_t step)
{
  *(waving *)new_command(q, run_wave, sizeof(waving)) = (waving){given, step};
  AMBIT_TRY(add(q));
  return finish((queue *)q);
}

/* ---- tiles: lists and relaxations are done when the queue is ---- */

typedef struct tiling {
  ambit__function *fn;
  const ambit__launch *launch;
  const ambit__tile_list *list; /* of tiles */
  const int64_t *partials;      /* of tile_fold */
  int64_t n;
  ambit__relaxation *relaxation; /* of relax */
} tiling;

static ambit_status run_tiles(void *user, void *data)
{
  ambit__queue *q = user;
  const tiling *t = data;

  return q->device->backend->tiles(q, t->fn, t->launch, t->list);
}

static ambit_status run_tile_fold(void *user, void *data)
{
  ambit__queue *q = user;
  const tiling *t = data;

  return q->device->backend->tile_fold(q, t->fn, t->launch, t->partials, t->n);
}

static ambit_status run_relax(void *user, void *data)
{
  ambit__queue *q = user;
  const tiling *t = data;

  return q->device->backend->relax(q, t->fn, t->launch, t->relaxation);
}

static ambit_status add_tiling(ambit__queue *q, ambit__command run, const tiling *given)
{
  *(tiling *)new_command(q, run, sizeof *given) = *given;
  return add(q);
}

static ambit_status tiles(ambit__queue *q, ambit__function *fn, const ambit__launch *l,
                          const ambit__tile_list *list)
{
  return add_tiling(q, run_tiles, &(tiling){.fn = fn, .launch = l, .list = list});
}

static ambit_status tile_fold(ambit__queue *q, ambit__function *fn, const ambit__launch *l,
                              const int64_t *partials, int64_t n)
{
  AMBIT_TRY(
      add_tiling(q, run_tile_fold, &(tiling){.fn = fn, .launch = l, .partials = partials, .n = n}));
  return finish((queue *)q);
}

static ambit_status relax(ambit__queue *q, ambit__function *fn, const ambit__launch *l,
                          ambit__relaxation *r)
{
  return add_tiling(q, run_relax, &(tiling){.fn = fn, .launch = l, .relaxation = r});
}

static const ambit__backend driven = {
    .close = close_device,
    .info = info,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .alloc = alloc,
    .release = release,
    .put = put,
    .get = get,
    .write_box = write_box,
    .read_box = read_box,
    .read_lattice = read_lattice,
    .fill_box = fill_box,
    .copy_box = copy_box,
    .ghosts = ghosts,
    .message_open = message_open,
    .message_close = message_close,
    .pack = pack,
    .unpack = unpack,
    .event_open = event_open,
    .event_close = event_close,
    .event_record = event_record,
    .event_await = event_await,
    .event_sync = event_sync,
    .event_done = event_done,
    .event_seconds = event_seconds,
    .plans = plans,
    .foresee = foresee,
    .build = build,
    .discard = discard,
    .launch = launch,
    .wait = wait,
    .wave = wave,
    .tiles = tiles,
    .tile_fold = tile_fold,
    .relax = relax,
    .measure = measure,
    .alone = alone,
};
