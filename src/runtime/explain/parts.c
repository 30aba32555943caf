/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.c - the partition of a grid, and the messages between parts.
 *
 * Messages are those of all processes: the halos are computed again, for all parts, from the reads
 * of the sealed program.
 */
#include "base/memory.h"
#include "grid/partition.h"
#include "runtime/exchange/exchange.h"
#include "runtime/explain/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BOX_CHARS = 256 };

/* ---- parts ---- */

static int slot_of(const ambit_grid *g, int part)
{
  return g->placement.engine[part - g->placement.first[ambit__grid_process(g, part)]];
}

const char *ambit__part_device(const ambit_grid *g, int part, int *ordinal)
{
  const ambit__engine *e = &g->context->engines[slot_of(g, part)];

  *ordinal = e->ordinal;
  return e->backend->name;
}

bool ambit__parts_near(const ambit_grid *g, int a, int b)
{
  return ambit__grid_process(g, a) == ambit__grid_process(g, b) && slot_of(g, a) == slot_of(g, b);
}

static void print_part(ambit__text *t, const ambit_grid *g, int part)
{
  const double all = (double)ambit__grid_count(g, &g->box);
  const int64_t cells = ambit__grid_count(g, &g->parts[part]);
  char box[BOX_CHARS], device[32];
  const char *name;
  int ordinal;

  ambit__box_print(&g->parts[part], box, sizeof box);
  name = ambit__part_device(g, part, &ordinal);
  snprintf(device, sizeof device, "%s:%d", name, ordinal);
  ambit__print(t, "  %4d  %7d  %-9s %10" PRId64 "  %5.1f %%  %s\n", part,
               ambit__grid_process(g, part), device, cells, 100 * (double)cells / all, box);
}

/* One line for the parts that are not listed. */
static void print_rest(ambit__text *t, const ambit_grid *g, int from)
{
  int64_t least = INT64_MAX, most = 0;

  if (from >= g->nparts) return;
  for (int i = from; i < g->nparts; i++) {
    const int64_t cells = ambit__grid_count(g, &g->parts[i]);

    if (cells < least) least = cells;
    if (cells > most) most = cells;
  }
  ambit__print(t, "  and %d more of %" PRId64 " to %" PRId64 " cells\n", g->nparts - from, least,
               most);
}

void ambit__explain_parts(const ambit_program *p, ambit__text *t)
{
  const ambit_grid *g = p->grid;
  const int shown = g->nparts < AMBIT__SHOWN_PARTS ? g->nparts : AMBIT__SHOWN_PARTS;
  const int processes = g->context->net->size;

  ambit__print(t, "parts: %d, in %d process%s\n", g->nparts, processes, processes == 1 ? "" : "es");
  ambit__print(t, "  part  process  device         cells    share  box\n");
  for (int i = 0; i < shown; i++)
    print_part(t, g, i);
  print_rest(t, g, shown);
}

/* ---- messages ---- */

typedef enum way { SENT, HANDED_OVER, COPIED, WAYS } way;

/* A box to transfer; all boxes of one exchange from one part to another form a message. */
typedef struct parcel {
  int exchange, from, to;
  const ambit_field *field;
  ambit__box box;
  way way;
  size_t bytes;
} parcel;

typedef struct parcels {
  parcel *all;
  size_t count, cap;
} parcels;

static way way_of(const ambit_grid *g, int from, int to)
{
  if (ambit__parts_near(g, from, to)) return COPIED;
  return ambit__grid_process(g, from) == ambit__grid_process(g, to) ? HANDED_OVER : SENT;
}

static ambit_status add_parcel(ambit_program *p, parcels *list, int exchange,
                               const ambit__halo_slice *f, const ambit__transfer *x)
{
  parcel one = {exchange, x->from, x->to, f->field, x->box, way_of(p->grid, x->from, x->to), 0};

  one.bytes = one.way == COPIED || p->grid->active
                  ? (size_t)ambit__grid_count(p->grid, &x->box) * (size_t)f->count *
                        ambit_type_size(f->field->type)
                  : ambit__channel_item_bytes(f, x);
  AMBIT_TRY(ambit__make_room(&p->grid->context->errors, &list->all, list->count, &list->cap,
                             sizeof *list->all));
  list->all[list->count++] = one;
  return AMBIT_OK;
}

/* The transfers of a slice, between all parts of all processes. */
static ambit_status add_slice(ambit_program *p, parcels *list, int exchange,
                              const ambit__halo_slice *f)
{
  ambit__halo halo;
  ambit_status s = ambit__halo_slice_make(p, f, true, &halo);

  for (size_t i = 0; !s && i < halo.count; i++)
    s = add_parcel(p, list, exchange, f, &halo.transfers[i]);
  ambit__halo_free(&halo);
  return s;
}

static ambit_status find_parcels(ambit_program *p, parcels *list)
{
  int exchanges = 0;

  for (size_t i = 0; i < p->schedule.n; i++) {
    const ambit__exchange *x = p->schedule.ops[i].exchange;

    if (p->schedule.ops[i].kind != OP_BEGIN) continue;
    for (int k = 0; k < x->nslices; k++)
      AMBIT_TRY(add_slice(p, list, exchanges, x->slices[k]));
    exchanges++;
  }
  return AMBIT_OK;
}

static int compare(const void *a, const void *b)
{
  const parcel *x = a, *y = b;

  if (x->exchange != y->exchange) return x->exchange - y->exchange;
  if (x->from != y->from) return x->from - y->from;
  return x->to - y->to;
}

/* The end of the message that starts with box i. */
static size_t message_end(const parcels *list, size_t i)
{
  size_t end = i + 1;

  while (end < list->count && !compare(&list->all[i], &list->all[end]))
    end++;
  return end;
}

static size_t message_bytes(const parcels *list, size_t from, size_t to)
{
  size_t bytes = 0;

  for (size_t i = from; i < to; i++)
    bytes += list->all[i].bytes;
  return bytes;
}

static void print_message(ambit__text *t, const parcels *list, size_t from, size_t to)
{
  static const char *const ways[] = {"sent", "handed over", "copied"};
  const parcel *first = &list->all[from];
  char box[BOX_CHARS];

  ambit__print(t, "  part %d -> %d: %zu bytes, %s:", first->from, first->to,
               message_bytes(list, from, to), ways[first->way]);
  for (size_t i = from; i < to && i < from + AMBIT__SHOWN_BOXES; i++) {
    ambit__box_print(&list->all[i].box, box, sizeof box);
    ambit__print(t, "%s %s%s", i > from ? "," : "", list->all[i].field->name, box);
  }
  if (to - from > AMBIT__SHOWN_BOXES)
    ambit__print(t, " and %zu more", to - from - AMBIT__SHOWN_BOXES);
  ambit__print(t, "\n");
}

/* The process that sends most bytes. */
static ambit_status print_busiest(ambit__text *t, const ambit_grid *g, const parcels *list)
{
  size_t *bytes = ambit__new(&g->context->errors, (size_t)g->context->net->size, sizeof *bytes);
  int most = 0;

  if (!bytes) return AMBIT_ENOMEM;
  for (size_t i = 0; i < list->count; i++)
    if (list->all[i].way == SENT)
      bytes[ambit__grid_process(g, list->all[i].from)] += list->all[i].bytes;
  for (int r = 0; r < g->context->net->size; r++)
    if (bytes[r] > bytes[most]) most = r;
  ambit__print(t, "  process %d sends most: %zu bytes\n", most, bytes[most]);
  free(bytes);
  return AMBIT_OK;
}

static ambit_status print_totals(ambit__text *t, const ambit_grid *g, const parcels *list)
{
  static const char *const titles[] = {"sent between processes", "handed over within a process",
                                       "copied within a device"};
  size_t count[WAYS] = {0}, bytes[WAYS] = {0};

  for (size_t i = 0, end; i < list->count; i = end) {
    end = message_end(list, i);
    count[list->all[i].way] += list->all[i].way == COPIED ? end - i : 1;
    bytes[list->all[i].way] += message_bytes(list, i, end);
  }
  for (int w = 0; w < WAYS; w++)
    if (count[w])
      ambit__print(t, "  %s: %zu %s%s, %zu bytes\n", titles[w], count[w],
                   w == COPIED ? "box" : "message",
                   count[w] == 1 ? ""
                   : w == COPIED ? "es"
                                 : "s",
                   bytes[w]);
  return count[SENT] ? print_busiest(t, g, list) : AMBIT_OK;
}

static ambit_status print_list(ambit__text *t, const ambit_grid *g, const parcels *list)
{
  size_t shown = 0, more = 0;

  ambit__print(t, "messages in each iteration\n");
  if (!list->count) ambit__print(t, "  none: no part reads cells of another\n");
  for (size_t i = 0, end; i < list->count; i = end) {
    end = message_end(list, i);
    if (shown < AMBIT__SHOWN_MESSAGES)
      print_message(t, list, i, end), shown++;
    else
      more++;
  }
  if (more) ambit__print(t, "  and %zu more\n", more);
  return print_totals(t, g, list);
}

ambit_status ambit__explain_messages(ambit_program *p, ambit__text *t)
{
  parcels list = {0};
  ambit_status s = find_parcels(p, &list);

  if (!s && list.count) qsort(list.all, list.count, sizeof *list.all, compare);
  if (!s) s = print_list(t, p->grid, &list);
  free(list.all);
  return s;
}
