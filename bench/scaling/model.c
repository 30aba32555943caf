/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c - a GPU that executes nothing, and models how long each operation would take.
 *
 * It has no memory, as device/dry.c, but queues with a time: an operation starts when the queue is
 * free and the host has submitted it, and its cost is computed from a few numbers. These are
 * properties of the hosts in the platform file, so that one file describes a cluster:
 *
 *     launch             s    of a kernel, however small
 *     bandwidth_2d, _3d  B/s  of kernels on grids of up to 2, and of more, dimensions
 *     flops              1/s  of float
 *     copy, pcie         s, B/s   of a copy between host and device, in one direction
 *     order, event       s    host time to submit a launch or a copy, and an event
 *     memory             B
 *
 * Kernels of several queues run concurrently. The memory traffic of urgent queues, whose kernels
 * are small, delays the next kernel of the others. All messages share one buffer, which is never
 * read.
 *
 * Link with -Wl,--wrap=ambit__backend_find.
 */
#include "device/gpu/gpu.h"

#include "base/memory.h"
#include "host.h"

#include <simgrid/host.h>
#include <smpi/smpi.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  SECTOR = 32,        /* bytes of a memory transaction */
  MAIL_MOST = 1 << 28 /* bytes of the largest message */
};

typedef struct model {
  ambit__device head;
  sim_host *host;
  double launch, bandwidth[2], flops, copy, pcie, order, event, memory;
  double
      lost; /* seconds of memory time that urgent kernels took, charged to the next other kernel */
} model;

typedef struct lane {
  ambit__queue head;
  bool urgent;
  double free; /* when all its work is done */
} lane;

struct ambit__event {
  model *device;
  double when;
};

typedef struct function {
  ambit__function head;
  const ambit__rule *rule;
} function;

static const ambit__backend backend;

static model *model_of(const ambit__queue *q)
{
  return (model *)q->device;
}

/* ---- time ---- */

/* The host submits work that takes the device so many seconds. */
static ambit_status take(ambit__queue *q, double seconds)
{
  const model *m = model_of(q);
  lane *l = (lane *)q;

  sim_host_pay(m->host, m->order);
  l->free = fmax(l->free, sim_host_now(m->host)) + seconds;
  return AMBIT_OK;
}

/* The same for a kernel; `seconds` is without its launch. */
static ambit_status take_kernel(ambit__queue *q, double seconds)
{
  model *m = model_of(q);
  const double lost = m->lost;

  m->lost = ((lane *)q)->urgent ? lost + seconds : 0;
  return take(q, m->launch + seconds + (((lane *)q)->urgent ? 0 : lost));
}

/* Bytes that memory transfers for a box, whose rows are moved in whole sectors. */
static double sectors(const ambit__box *box, size_t size)
{
  const int last = box->ndims - 1;
  const int64_t row = (box->hi[last] - box->lo[last]) * (int64_t)size;
  const int64_t count = (row + SECTOR - 1) / SECTOR;
  double bytes = (double)count * SECTOR;

  for (int d = 0; d < last; d++)
    bytes *= (double)(box->hi[d] - box->lo[d]);
  return bytes;
}

/* Memory traffic of parameter p of a rule to update a box: every value once. */
static double traffic(const ambit__param *p, const ambit__box *box)
{
  const size_t size = ambit_type_size(p->type);
  ambit__box reads = *box;
  double bytes = 0;

  for (int d = 0; d < box->ndims; d++) {
    reads.lo[d] -= p->low[d];
    reads.hi[d] += p->high[d];
  }
  if (p->nreads) bytes += p->components * sectors(&reads, size);
  if (p->is_written) bytes += p->components * sectors(box, size);
  return bytes;
}

static double kernel_seconds(const model *m, const ambit__rule *rule, const ambit__box *box)
{
  const double flops = (double)rule->flops * (double)ambit__box_volume(box);
  double bytes = 0;

  if (!box->ndims) return 0;
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_FIELD) bytes += traffic(&rule->params[i], box);
  return fmax(bytes / m->bandwidth[box->ndims > 2], flops / m->flops);
}

/* A kernel that copies a box between a field and a dense array. */
static double move_seconds(const model *m, const ambit__layout *l, const ambit__box *box)
{
  const double there = l->components * sectors(box, ambit_type_size(l->type));

  return (there + (double)ambit__layout_box_bytes(l, box)) / m->bandwidth[box->ndims > 2];
}

static double copy_seconds(const model *m, size_t bytes)
{
  return m->copy + (double)bytes / m->pcie;
}

/* Whether a box needs no kernel for packing, because its rows are long. device/gpu/boxes.c also
 * checks their number. */
static bool is_copied(const ambit__layout *l, const ambit__box *box)
{
  const int last = box->ndims - 1;

  return l->components == 1 &&
         (box->hi[last] - box->lo[last]) * (int64_t)ambit_type_size(l->type) >=
             AMBIT__GPU_LEAST_ROW;
}

/* ---- the device ---- */

static int model_count(void)
{
  return 1;
}

/* A number of the platform file; all must be positive. */
static ambit_status property(ambit__errors *errors, const char *name, double *value)
{
  const char *text = sg_host_get_property_value(sg_host_self(), name);

  *value = text ? strtod(text, NULL) : 0;
  AMBIT_CHECK(*value > 0, errors, AMBIT_ENODEVICE,
              "the platform file gives its hosts no property '%s'; it must be a positive number",
              name);
  return AMBIT_OK;
}

static ambit_status read_properties(ambit__errors *errors, model *m)
{
  const struct {
    const char *name;
    double *value;
  } list[] = {{"launch", &m->launch},
              {"bandwidth_2d", &m->bandwidth[0]},
              {"bandwidth_3d", &m->bandwidth[1]},
              {"flops", &m->flops},
              {"copy", &m->copy},
              {"pcie", &m->pcie},
              {"order", &m->order},
              {"event", &m->event},
              {"memory", &m->memory}};

  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    AMBIT_TRY(property(errors, list[i].name, list[i].value));
  return AMBIT_OK;
}

static ambit_status model_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                               ambit__device **dev)
{
  model *m = ambit__new(errors, 1, sizeof *m);
  ambit_status s;

  (void)ordinal;
  if (!m) return AMBIT_ENOMEM;
  m->head = (ambit__device){.backend = &backend, .errors = errors, .settings = settings};
  m->host = sim_host_self();
  s = read_properties(errors, m);
  if (s)
    free(m);
  else
    *dev = &m->head;
  return s;
}

static void model_close(ambit__device *dev)
{
  free(dev);
}

static void model_info(ambit__device *dev, ambit__device_info *info)
{
  *info = (ambit__device_info){.name = "simulated GPU", .cores = 1};
  info->memory = (size_t)((model *)dev)->memory;
}

static ambit_status model_queue_open(ambit__device *dev, bool urgent, ambit__queue **queue)
{
  lane *l = ambit__new(dev->errors, 1, sizeof *l);

  if (!l) return AMBIT_ENOMEM;
  l->head.device = dev;
  l->urgent = urgent;
  *queue = &l->head;
  return AMBIT_OK;
}

/* Until an event, or without one until the queue is done. */
static ambit_status model_wait(ambit__queue *q, const ambit__event *e)
{
  sim_host_sleep(model_of(q)->host, e ? e->when : ((lane *)q)->free);
  return AMBIT_OK;
}

/* ---- memory ---- */

static ambit_status model_alloc(ambit__device *dev, size_t bytes, ambit__buffer **buf)
{
  *buf = ambit__new(dev->errors, 1, sizeof **buf);
  if (!*buf) return AMBIT_ENOMEM;
  (*buf)->bytes = bytes;
  return AMBIT_OK;
}

static ambit_status model_get(ambit__queue *q, void *dst, size_t bytes)
{
  memset(dst, 0, bytes);
  AMBIT_TRY(take(q, copy_seconds(model_of(q), bytes)));
  return model_wait(q, NULL);
}

static ambit_status model_ghosts(ambit__queue *q, const ambit__store *store,
                                 const ambit__box *given, const ambit__box *reach)
{
  ambit__box slabs[2 * AMBIT_MAX_DIMS];
  const int n = ambit__box_split(reach, given, slabs);

  for (int i = 0; i < n; i++)
    AMBIT_TRY(take_kernel(q, move_seconds(model_of(q), &store->layout, &slabs[i])));
  return AMBIT_OK;
}

/* ---- messages ---- */

static ambit_status model_message_open(ambit__device *dev, size_t bytes, ambit__message **m)
{
  static unsigned char
      *shared; /* by all messages of all processes; the simulator copies no data in it */

  AMBIT_CHECK(bytes <= MAIL_MOST, dev->errors, AMBIT_EUNSUPPORTED,
              "simulated message of %zu bytes; it must be at most %d", bytes, (int)MAIL_MOST);
  if (!shared) shared = SMPI_SHARED_MALLOC(MAIL_MOST);
  *m = ambit__new(dev->errors, 1, sizeof **m);
  if (!*m) return AMBIT_ENOMEM;
  **m = (ambit__message){.bytes = shared, .size = bytes};
  return AMBIT_OK;
}

static ambit_status model_pack(ambit__queue *q, const ambit__layout *l, const ambit__box *box)
{
  if (!is_copied(l, box)) AMBIT_TRY(take_kernel(q, move_seconds(model_of(q), l, box)));
  return take(q, copy_seconds(model_of(q), ambit__layout_box_bytes(l, box)));
}

static ambit_status model_unpack(ambit__queue *q, const ambit__layout *l, const ambit__box *box)
{
  AMBIT_TRY(take(q, copy_seconds(model_of(q), ambit__layout_box_bytes(l, box))));
  return is_copied(l, box) ? AMBIT_OK : take_kernel(q, move_seconds(model_of(q), l, box));
}

/* ---- events ---- */

static ambit_status model_event_open(ambit__device *dev, ambit__event **e)
{
  *e = ambit__new(dev->errors, 1, sizeof **e);
  if (!*e) return AMBIT_ENOMEM;
  (*e)->device = (model *)dev;
  return AMBIT_OK;
}

static ambit_status model_mark(ambit__queue *q, ambit__event *e)
{
  sim_host_pay(e->device->host, e->device->event);
  e->when = fmax(((lane *)q)->free, sim_host_now(e->device->host));
  return AMBIT_OK;
}

static ambit_status model_await(ambit__queue *q, ambit__event *e)
{
  sim_host_pay(e->device->host, e->device->event);
  ((lane *)q)->free = fmax(((lane *)q)->free, e->when);
  return AMBIT_OK;
}

static bool model_event_done(ambit__event *e)
{
  sim_host *h = e->device->host;
  const bool done = e->when <= sim_host_now(h) + 1e-9;

  if (done)
    sim_host_found(h);
  else
    sim_host_missed(h, e, e->when);
  return done;
}

/* ---- kernels ---- */

static ambit_status model_build(ambit__device *dev, const ambit__group *group, ambit__function **fn)
{
  function *f = ambit__new(dev->errors, 1, sizeof *f);

  if (!f) return AMBIT_ENOMEM;
  f->rule = group->steps[0].rule;
  f->head.plan = ambit__strdup(dev->errors, "(model)");
  *fn = &f->head;
  return f->head.plan ? AMBIT_OK : AMBIT_ENOMEM;
}

static void model_discard(ambit__function *fn)
{
  free(fn->plan);
  free(fn);
}

/* ---- commands ---- */

static ambit_status model_execute(ambit__queue *q, const ambit__command *c)
{
  const model *m = model_of(q);

  switch (c->kind) {
  case COMMAND_put: return take(q, copy_seconds(m, c->put.bytes));
  case COMMAND_get: return model_get(q, c->get.dst, c->get.bytes);
  case COMMAND_write:
    return take(q, copy_seconds(m, ambit__layout_box_bytes(&c->write.dst->layout, c->write.box)));
  case COMMAND_read:
    return model_get(q, c->read.dst, ambit__layout_box_bytes(&c->read.src->layout, c->read.box));
  case COMMAND_fill: return take_kernel(q, move_seconds(m, &c->fill.dst->layout, c->fill.box));
  case COMMAND_copy: return take_kernel(q, move_seconds(m, &c->copy.src->layout, c->copy.box));
  case COMMAND_ghosts: return model_ghosts(q, c->ghosts.store, c->ghosts.given, c->ghosts.reach);
  case COMMAND_pack: return model_pack(q, &c->pack.src->layout, c->pack.box);
  case COMMAND_unpack: return model_unpack(q, &c->unpack.dst->layout, c->unpack.box);
  case COMMAND_mark: return model_mark(q, c->mark.event);
  case COMMAND_await: return model_await(q, c->await.event);
  case COMMAND_wait: return model_wait(q, c->wait.event);
  case COMMAND_launch:
    return take_kernel(q,
                       kernel_seconds(m, ((function *)c->launch.fn)->rule, &c->launch.launch->box));
  default: return AMBIT_OK; /* it can execute no others */
  }
}

static ambit_status model_serve(ambit__device *dev, ambit__command *c)
{
  switch (c->kind) {
  case COMMAND_queue_open: return model_queue_open(dev, c->queue_open.urgent, c->queue_open.queue);
  case COMMAND_queue_close: free(c->queue_close.queue); break;
  case COMMAND_alloc: return model_alloc(dev, c->alloc.bytes, c->alloc.buffer);
  case COMMAND_release: free(c->release.buffer); break;
  case COMMAND_message_open:
    return model_message_open(dev, c->message_open.bytes, c->message_open.message);
  case COMMAND_message_close: free(c->message_close.message); break;
  case COMMAND_event_open: return model_event_open(dev, c->event_open.event);
  case COMMAND_event_close: free(c->event_close.event); break;
  case COMMAND_build: return model_build(dev, c->build.group, c->build.fn);
  case COMMAND_discard: model_discard(c->discard.fn); break;
  case COMMAND_measure: c->measure.machine->copy = 1e-9 * ((model *)dev)->bandwidth[0]; break;
  default: break;
  }
  return AMBIT_OK;
}

static const ambit__backend backend = {
    .name = "model",
    .summary = "models the time of a GPU",
    .comm_cost = AMBIT__GPU_COMM_COST,
    .can = AMBIT__CAN(copy) | AMBIT__CAN(ghosts) | AMBIT__CAN(pack) | AMBIT__CAN(mark) |
           AMBIT__CAN(measure),
    .count = model_count,
    .open = model_open,
    .close = model_close,
    .info = model_info,
    .execute = model_execute,
    .serve = model_serve,
    .event_done = model_event_done,
};

/* Every device name refers to this one. */
const ambit__backend *__wrap_ambit__backend_find(ambit__errors *errors, const char *name,
                                                 size_t length);
const ambit__backend *__wrap_ambit__backend_find(ambit__errors *errors, const char *name,
                                                 size_t length)
{
  (void)errors, (void)name, (void)length;
  return &backend;
}
