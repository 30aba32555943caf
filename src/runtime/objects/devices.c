/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.c - parses the option devices, opens engines and assigns parts to them.
 *
 *   cpu            one part on all cores
 *   cpu*4          four parts, one after the other on all cores
 *   cuda:0,cuda:1  one part on each of two GPUs
 *   all            all GPUs, and the cores
 *   auto           one device, the fastest here
 *
 * Processes on one node share its GPUs: an item without a number is the GPU assigned to this
 * process, and `all` means every GPU assigned to it.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "device/driven.h"
#include "device/dry.h"
#include "runtime/objects/objects.h"
#include "runtime/observe/meter.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 4096 }; /* of one process */

/* An item of the list. */
typedef struct item {
  const ambit__backend *backend;
  int ordinal; /* -1: not given */
  int parts;
} item;

static ambit_status bad(ambit *a, const char *list, const char *text, size_t length,
                        const char *why)
{
  return ambit__raise(&a->errors, AMBIT_EOPTION,
                      "devices=%s: '%.*s' %s; a list of devices looks like cpu, cpu*4, "
                      "cuda:0,cuda:1, all or auto",
                      list, (int)length, text, why);
}

/* Parses a decimal number that ends at `end`. Returns -1 if there is none. */
static long number(const char *text, const char *end)
{
  char *stop;
  long n = *text >= '0' && *text <= '9' ? strtol(text, &stop, 10) : -1;

  return n >= 0 && n <= INT32_MAX && stop == end ? n : -1;
}

/* Parses "name", "name:1", "name*2" or "name:1*2" from `length` bytes of a list. */
static ambit_status parse_item(ambit *a, const char *list, const char *text, size_t length,
                               item *out)
{
  const char *end = text + length, *star = memchr(text, '*', length);
  const char *colon = memchr(text, ':', star ? (size_t)(star - text) : length);
  const char *name_end = colon ? colon : star ? star : end;
  long ordinal = colon ? number(colon + 1, star ? star : end) : -1;
  long parts = star ? number(star + 1, end) : 1;

  if (!length) return bad(a, list, text, length, "names no device");
  *out = (item){.backend = ambit__backend_find(&a->errors, text, (size_t)(name_end - text))};
  if (!out->backend) return a->errors.status;
  AMBIT_CHECK(!colon || (ordinal >= 0 && ordinal <= INT_MAX), &a->errors, AMBIT_ENODEVICE,
              "devices=%s: '%.*s' must end in the number of a device, from 0 on, as in %s:0", list,
              (int)length, text, out->backend->name);
  if (parts < 1 || parts > MOST_PARTS)
    return bad(a, list, text, length, "must ask for 1 to 4096 parts");
  out->ordinal = (int)ordinal;
  out->parts = (int)parts;
  return AMBIT_OK;
}

/* Parses the item at `at`. Returns the start of the next item; NULL: it was the last, or an error
 * was raised. */
static const char *next_item(ambit *a, const char *list, const char *at, item *out)
{
  const size_t length = strcspn(at, ",");

  return parse_item(a, list, at, length, out) || !at[length] ? NULL : at + length + 1;
}

ambit_status ambit__devices_check(ambit *a, const char *text)
{
  item it = {0};

  if (!strcmp(text, "all") || !strcmp(text, "auto")) return AMBIT_OK;
  for (const char *at = text; at;)
    at = next_item(a, text, at, &it);
  return a->errors.status;
}

/* Sets the ordinal if the item has none: processes share the GPUs, if there are any, and leave
 * slower devices of the backend alone. */
static ambit_status choose_device(ambit *a, item *it)
{
  const int here = it->backend->count(); /* 0: opening the device reports why */

  AMBIT_CHECK(it->ordinal < here || !here || a->dry, &a->errors, AMBIT_ENODEVICE,
              "devices=%s: there %s %d %s device%s here, numbered from 0", a->settings.devices,
              here == 1 ? "is" : "are", here, it->backend->name, here == 1 ? "" : "s");
  if (it->ordinal < 0) {
    const int fast = it->backend->fast ? it->backend->fast() : 0, among = fast ? fast : here;

    it->ordinal = among > 0 ? a->net->local_rank % among : 0;
  }
  return AMBIT_OK;
}

/* ---- engines ---- */

static int same_engine(const ambit *a, const item *it)
{
  for (int i = 0; i < a->nengines; i++)
    if (a->engines[i].backend == it->backend && a->engines[i].ordinal == it->ordinal) return i;
  return -1;
}

/* Among several devices, one that would compute on this thread gets a thread of its own: this one
 * has to drive the others. */
static ambit_status open_device(ambit *a, const item *it, ambit__device **device)
{
  const ambit__backend *backend = a->dry ? ambit__backend_dry(it->backend) : it->backend;

  if (a->settings.companions && !a->dry && !ambit__can(backend, mark))
    return ambit__driven_open(backend, &a->errors, &a->settings, it->ordinal, device);
  return backend->open(&a->errors, &a->settings, it->ordinal, device);
}

static ambit_status open_engine(ambit *a, const item *it, int *index)
{
  ambit__engine *engines = realloc(a->engines, (size_t)(a->nengines + 1) * sizeof *engines), *e;
  const ambit__backend *backend;
  ambit__device_info info;

  AMBIT_CHECK(engines, &a->errors, AMBIT_ENOMEM, "no memory for %d devices", a->nengines + 1);
  a->engines = engines;
  e = &engines[a->nengines];
  *e = (ambit__engine){.backend = it->backend, .ordinal = it->ordinal};
  AMBIT_TRY(open_device(a, it, &e->device));
  backend = e->device->backend;
  *index = a->nengines++;
  AMBIT_TRY(ambit__ask(e->device, queue_open, false, &e->queue));
  backend->info(e->device, &info);
  e->memory = info.memory;
  return AMBIT_OK;
}

/* Whether parts were placed on a device that computes the whole grid: nothing can be beside it. */
static bool has_whole(const ambit *a)
{
  return a->placement.n && !ambit__can(a->engines[a->placement.engine[0]].backend, ghosts);
}

static void close_engine(const ambit__engine *e)
{
  if (e->border && e->border != e->queue) ambit__ask(e->device, queue_close, e->border);
  if (e->transfers && e->transfers != e->queue) ambit__ask(e->device, queue_close, e->transfers);
  if (e->queue) ambit__ask(e->device, queue_close, e->queue);
  e->device->backend->close(e->device);
}

/* Opens the only engine again, if it has a thread that it does not need alone. */
static ambit_status reopen_alone(ambit *a)
{
  const ambit__engine e = a->engines[0];
  int index;

  a->settings.companions = false;
  if (a->dry || e.device->backend == e.backend) return AMBIT_OK;
  close_engine(&e);
  a->nengines = 0;
  AMBIT_TRY(open_engine(a, &(item){.backend = e.backend, .ordinal = e.ordinal}, &index));
  a->engines[0].share = e.share;
  return AMBIT_OK;
}

ambit_status ambit__engine_remove(ambit *a, int engine)
{
  ambit__placement *x = &a->placement;
  int n = 0;

  close_engine(&a->engines[engine]);
  a->nengines--;
  memmove(&a->engines[engine], &a->engines[engine + 1],
          (size_t)(a->nengines - engine) * sizeof *a->engines);
  for (int i = 0; i < x->n; i++)
    if (x->engine[i] != engine) x->engine[n++] = x->engine[i] - (x->engine[i] > engine);
  x->n = n;
  return a->nengines == 1 ? reopen_alone(a) : AMBIT_OK;
}

void ambit__engine_visit(const ambit *a, int engine,
                         void (*visit)(const ambit__engine *e, ambit__device *device, void *user),
                         void *user)
{
  const ambit__engine *e = &a->engines[engine];
  ambit__errors errors = {.status = AMBIT_OK}; /* not for users */
  ambit__device *device;

  if (!a->dry) {
    visit(e, e->device, user);
  } else if (e->ordinal < e->backend->count() &&
             !e->backend->open(&errors, &a->settings, e->ordinal, &device)) {
    visit(e, device, user);
    e->backend->close(device);
  }
  ambit__errors_clear(&errors);
}

static ambit_status add_parts(ambit *a, const item *it)
{
  const bool is_whole = !ambit__can(it->backend, ghosts);
  int engine = same_engine(a, it);
  int *engines;

  AMBIT_CHECK(a->placement.n + it->parts <= MOST_PARTS, &a->errors, AMBIT_EOPTION,
              "devices=%s: a process has at most %d parts", a->settings.devices, (int)MOST_PARTS);
  AMBIT_CHECK(!is_whole || (it->parts == 1 && !a->placement.n && a->net->size == 1), &a->errors,
              AMBIT_EOPTION,
              "devices=%s: the reference device %s computes the whole grid in one part of one "
              "process; it cannot be combined with other devices or parts",
              a->settings.devices, it->backend->name);
  AMBIT_CHECK(!has_whole(a), &a->errors, AMBIT_EOPTION,
              "devices=%s: the device %s computes the whole grid in one part; %s cannot have "
              "another; name one of the two",
              a->settings.devices, a->engines[a->placement.engine[0]].backend->name,
              it->backend->name);
  if (engine < 0) AMBIT_TRY(open_engine(a, it, &engine));
  engines = realloc(a->placement.engine, (size_t)(a->placement.n + it->parts) * sizeof *engines);
  AMBIT_CHECK(engines, &a->errors, AMBIT_ENOMEM, "no memory for %d parts",
              a->placement.n + it->parts);
  a->placement.engine = engines;
  for (int i = 0; i < it->parts; i++)
    a->placement.engine[a->placement.n++] = engine;
  return AMBIT_OK;
}

/* ---- lists ---- */

typedef struct items {
  item *list; /* owned */
  size_t n, cap;
} items;

static ambit_status add_item(ambit *a, items *all, item it)
{
  AMBIT_TRY(ambit__make_room(&a->errors, &all->list, all->n, &all->cap, sizeof *all->list));
  all->list[all->n++] = it;
  return AMBIT_OK;
}

static const ambit__backend *first_fast(bool sparse)
{
  for (int i = 0; ambit__backend_at(i); i++) {
    const ambit__backend *b = ambit__backend_at(i);

    if ((b->sparse || !sparse) && b->fast && b->fast() > 0) return b;
  }
  return NULL;
}

ambit__gpus ambit__devices_gpus(const ambit *a)
{
  const ambit__backend *b = first_fast(false);
  const int n = b ? b->fast() : 0, sharers = a->net->local_size;

  return (ambit__gpus){b, n ? a->net->local_rank % n : 0, sharers < n ? sharers : n, n};
}

/* The GPUs of this process, and the cores. */
static ambit_status list_all(ambit *a, items *all)
{
  const ambit__gpus g = ambit__devices_gpus(a);

  for (int i = g.first; i < g.end; i += g.stride)
    AMBIT_TRY(add_item(a, all, (item){g.backend, i, 1}));
  return add_item(a, all, (item){&ambit__backend_cpu, 0, 1});
}

/* Puts the name of the fastest device in the place of auto, where users see it. */
ambit_status ambit__devices_choose(ambit *a, bool sparse)
{
  const ambit__backend *b;

  if (strcmp(a->settings.devices, "auto") != 0) return AMBIT_OK;
  b = first_fast(sparse);
  a->chosen = true;
  return ambit_option_set(a, "devices", b ? b->name : ambit__backend_cpu.name);
}

static ambit_status list_items(ambit *a, items *all)
{
  const char *list = a->settings.devices;
  item it = {0};

  if (!strcmp(list, "all")) return list_all(a, all);
  for (const char *at = list; at;) {
    at = next_item(a, list, at, &it);
    AMBIT_TRY(a->errors.status);
    AMBIT_TRY(choose_device(a, &it));
    AMBIT_TRY(add_item(a, all, it));
  }
  return AMBIT_OK;
}

static bool has_several_devices(const items *all)
{
  for (size_t i = 1; i < all->n; i++)
    if (all->list[i].backend != all->list[0].backend ||
        all->list[i].ordinal != all->list[0].ordinal)
      return true;
  return false;
}

/* Opens the fast ones of several devices first: some things are done by the first engine, and a
 * grid that one device computes alone is on it. */
static ambit_status open_fast(ambit *a, const items *all)
{
  int engine;

  for (size_t i = 0; i < all->n; i++)
    if (!ambit__can(all->list[i].backend, ghosts))
      return AMBIT_OK; /* it cannot have company: add_parts says so */
  for (size_t i = 0; i < all->n; i++) {
    const item *it = &all->list[i];

    if (it->backend->fast && it->backend->fast() > it->ordinal && same_engine(a, it) < 0)
      AMBIT_TRY(open_engine(a, it, &engine));
  }
  return AMBIT_OK;
}

static ambit_status add_list(ambit *a)
{
  items all = {0};
  ambit_status s = ambit__devices_choose(a, false);

  if (!s) s = list_items(a, &all);
  a->settings.companions = has_several_devices(&all);
  if (!s && a->settings.companions) s = open_fast(a, &all);
  for (size_t i = 0; !s && i < all.n; i++)
    s = add_parts(a, &all.list[i]);
  free(all.list);
  return s;
}

/* Sets a->in_host, and a->comm_cost to the maximum of each cost over all devices of all processes.
 * `overlaps` holds only if it holds for all of them. */
static ambit_status compare_devices(ambit *a)
{
  double highest[3] = {0};
  bool same[] = {true, true};

  for (int i = 0; i < a->nengines; i++) {
    const ambit__comm_cost *comm_cost =
        &a->engines[i].backend->comm_cost; /* not that of the device, which may be dry */

    highest[0] = fmax(highest[0], comm_cost->cell);
    highest[1] = fmax(highest[1], comm_cost->line);
    highest[2] = fmax(highest[2], comm_cost->message);
    same[0] &= a->engines[i].device->backend->address != NULL;
    same[1] &= comm_cost->overlaps;
  }
  AMBIT_TRY(ambit__net_max(a->net, highest, sizeof highest / sizeof *highest));
  AMBIT_TRY(ambit__net_all(a->net, same, sizeof same / sizeof *same));
  a->comm_cost = (ambit__comm_cost){highest[0], highest[1], highest[2], same[1]};
  a->in_host = same[0];
  return AMBIT_OK;
}

/* Sets a->unlike. */
static ambit_status compare_models(ambit *a)
{
  double ends[2] = {-1, -1}; /* of all numbers for models: the greatest, and less the least */

  for (int i = 0; i < a->nengines; i++) {
    ambit__device_info info = {0};
    ambit__hash h;
    double number;

    a->engines[i].device->backend->info(a->engines[i].device, &info);
    ambit__hash_init(&h);
    ambit__hash_text(&h, a->engines[i].backend->name);
    ambit__hash_text(&h, info.name);
    number = (double)(h.w[0] >> 12);
    ends[0] = i ? fmax(ends[0], number) : number;
    ends[1] = i ? fmax(ends[1], -number) : -number;
  }
  AMBIT_TRY(ambit__net_max(a->net, ends, 2));
  a->unlike = ends[0] != -ends[1];
  return AMBIT_OK;
}

/* Parts are numbered by process, then within it. */
static ambit_status number_parts(ambit *a)
{
  const int size = a->net->size;
  int *firsts = ambit__new(&a->errors, (size_t)size + 1, sizeof *firsts);
  ambit_status s = compare_devices(a); /* also raises lack of memory on any process */

  if (!s) s = compare_models(a);
  if (!s) s = ambit__net_gather(a->net, &a->placement.n, sizeof *firsts, firsts + 1);
  if (s) {
    free(firsts);
    return s;
  }
  for (int i = 0; i < size; i++) {
    if (firsts[i + 1] > a->placement.most) a->placement.most = firsts[i + 1];
    firsts[i + 1] += firsts[i];
  }
  a->placement.first = firsts;
  return AMBIT_OK;
}

ambit_status ambit__engines_open(ambit *a)
{
  if (a->placement.first) return AMBIT_OK;
  AMBIT_CHECK(
      a->net, &a->errors, AMBIT_EPROCESS,
      "the context was not opened, and clearing its error does not open it: open another one");
  a->settings.sharers = a->net->local_size;
  add_list(a);
  AMBIT_TRY(ambit__meet(a, "opens its devices"));
  AMBIT_TRY(compare_models(a));
  AMBIT_TRY(ambit__offers_make(a));
  AMBIT_TRY(ambit__probe_gpu_mpi(a));
  AMBIT_TRY(number_parts(a));
  return ambit__offers_share(a);
}

void ambit__engines_close(ambit *a)
{
  ambit__meter_close(a->meter);
  for (int i = 0; i < a->nengines; i++)
    close_engine(&a->engines[i]);
  free(a->engines);
  ambit__offers_free(a);
  ambit__placement_free(&a->placement);
}

/* ---- placements ---- */

ambit_status ambit__placement_copy(ambit *a, ambit__placement *copy)
{
  const ambit__placement *x = &a->placement;
  const size_t nfirst = (size_t)a->net->size + 1;

  *copy = (ambit__placement){.n = x->n, .most = x->most};
  AMBIT_NEW(&a->errors, copy->engine, (size_t)x->n);
  AMBIT_NEW(&a->errors, copy->first, nfirst);
  memcpy(copy->engine, x->engine, (size_t)x->n * sizeof *copy->engine);
  memcpy(copy->first, x->first, nfirst * sizeof *copy->first);
  return AMBIT_OK;
}

ambit_status ambit__placement_parts(ambit *a, const ambit__placement *x, ambit__box **parts,
                                    bool **mine)
{
  const size_t n = (size_t)x->first[a->net->size];

  AMBIT_NEW(&a->errors, *parts, n);
  AMBIT_NEW(&a->errors, *mine, n);
  for (int i = 0; i < x->n; i++)
    (*mine)[x->first[a->net->rank] + i] = true;
  return AMBIT_OK;
}

int ambit__placement_process(const ambit__placement *x, int part)
{
  int process = part / x->most; /* at least */

  while (x->first[process + 1] <= part)
    process++;
  return process;
}

void ambit__placement_free(ambit__placement *x)
{
  free(x->engine);
  free(x->first);
  *x = (ambit__placement){0};
}

ambit_status ambit__engines_wait(ambit *a)
{
  const double start = ambit__trace_clock(a->trace);

  for (int i = 0; i < a->nengines; i++)
    AMBIT_TRY(ambit__do(a->engines[i].queue, wait, NULL));
  ambit__trace_add(a->trace, NOTE_DEVICES, start);
  if (a->trace) ambit__stopwatches_read(a->trace);
  return AMBIT_OK;
}

void ambit__engines_tell_alone(ambit *a)
{
  bool all = true;

  if (a->nengines < 2 || a->dry) return;
  for (const ambit__link *l = a->grids.next; l->owner; l = l->next) {
    const ambit_grid *g = l->owner;

    all &= g->placement.n && ambit__grid_on_first(g); /* a new one has no parts yet */
  }
  for (int i = 0; i < a->nengines; i++)
    ambit__ask(a->engines[i].device, alone, all && i == 0);
}
