/* SPDX-License-Identifier: BSD-3-Clause */
/* explain_parts.c - the partition of a grid, and the messages between parts.
 *
 * Messages are those of all processes: the halos are computed again, for all parts, from the reads
 * of the sealed program.
 */
#include "explain.h"

#include "base/memory.h"
#include "base/text.h"
#include "grid/partition.h"
#include "runtime/exchange/exchange.h"
#include "runtime/run/balance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BOX_CHARS = 256 };

/* ---- parts ---- */

static int slot_of(const ambit_grid *g, int part)
{
  return g->placement.engine[part - g->placement.first[ambit__grid_process(g, part)]];
}

const char *tool_part_device(const ambit_grid *g, int part, int *ordinal)
{
  const ambit__engine *e = &g->context->engines[slot_of(g, part)];

  *ordinal = e->ordinal;
  return e->backend->name;
}

bool tool_parts_near(const ambit_grid *g, int a, int b)
{
  return ambit__grid_process(g, a) == ambit__grid_process(g, b) && slot_of(g, a) == slot_of(g, b);
}

static void print_part(const ambit_grid *g, int part)
{
  const double all = (double)ambit__grid_count(g, &g->box);
  const int64_t cells = ambit__grid_count(g, &g->parts[part]);
  char box[BOX_CHARS], device[32];
  const char *name;
  int ordinal;

  ambit__box_print(&g->parts[part], box, sizeof box);
  name = tool_part_device(g, part, &ordinal);
  snprintf(device, sizeof device, "%s:%d", name, ordinal);
  printf("  %4d  %7d  %-9s %10" PRId64 "  %5.1f %%  %s\n", part, ambit__grid_process(g, part),
         device, cells, 100 * (double)cells / all, box);
}

/* One line for the parts that are not listed. */
static void print_rest(const ambit_grid *g, int from)
{
  int64_t least = INT64_MAX, most = 0;

  if (from >= g->nparts) return;
  for (int i = from; i < g->nparts; i++) {
    const int64_t cells = ambit__grid_count(g, &g->parts[i]);

    if (cells < least) least = cells;
    if (cells > most) most = cells;
  }
  printf("  and %d more of %" PRId64 " to %" PRId64 " cells\n", g->nparts - from, least, most);
}

/* The shares that earlier runs here found, and what they say about the gain. */
static bool print_remembered(const ambit_program *p)
{
  double weights[AMBIT__SHOWN_WEIGHTS], all = 0, most = 0;
  const ambit_grid *g = p->grid;
  int first = 0, ordinal;
  const char *name;

  if (!ambit__balance_remembers(p, weights)) return false;
  for (int i = 0; i < g->nparts; i++) {
    all += weights[i];
    if (weights[i] <= most) continue;
    most = weights[i];
    first = i;
  }
  printf("  earlier runs here found these shares:");
  for (int i = 0; i < g->nparts; i++)
    printf("%s %.1f %%", i ? "," : "", 100 * weights[i] / all);
  name = tool_part_device(g, first, &ordinal);
  if (most < all)
    printf("\n  predicted gain: %.1f %% over %s:%d alone\n", 100 * (all / most - 1), name, ordinal);
  else
    printf("\n  %s:%d alone was the fastest\n", name, ordinal);
  return true;
}

/* The gain of unlike devices together, or the way in which the cut between them is found. */
static void print_gain(const ambit_program *p)
{
  const ambit_grid *g = p->grid;
  int64_t most = 0;
  int first = 0, ordinal;
  const char *name;

  if (!g->context->unlike) return;
  if (!*g->context->settings.weights) {
    if (print_remembered(p)) return;
    printf("  the devices differ: the cut begins with shares by copy bandwidth, and moves to where "
           "all "
           "of them\n  need the same time; `ambit devices --measure` prints their speeds\n");
    return;
  }
  for (int i = 0; i < g->nparts; i++)
    if (ambit__grid_count(g, &g->parts[i]) > most) {
      most = ambit__grid_count(g, &g->parts[i]);
      first = i;
    }
  name = tool_part_device(g, first, &ordinal);
  printf("  predicted gain, if the weights are the speeds: %.1f %% over %s:%d alone\n",
         100 * ((double)ambit__grid_count(g, &g->box) / (double)most - 1), name, ordinal);
}

ambit_status tool_print_parts(const ambit_program *p)
{
  const ambit_grid *g = p->grid;
  const int shown = g->nparts < TOOL_MOST_PARTS ? g->nparts : TOOL_MOST_PARTS;
  const int processes = g->context->net->size;
  ambit__text drawing = {0};
  char *text;

  printf("parts: %d, in %d process%s\n", g->nparts, processes, processes == 1 ? "" : "es");
  printf("  part  process  device         cells    share  box\n");
  for (int i = 0; i < shown; i++)
    print_part(g, i);
  print_rest(g, shown);
  print_gain(p);
  ambit__offers_print(g->context, stdout);
  ambit__partition_print(&drawing, &g->box, g->parts, g->nparts);
  text = ambit__text_finish(&drawing);
  if (!text)
    return ambit__raise(&g->context->errors, AMBIT_ENOMEM, "out of memory to draw %d parts",
                        g->nparts);
  printf("\n%s\n", text);
  free(text);
  return AMBIT_OK;
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
  if (tool_parts_near(g, from, to)) return COPIED;
  return ambit__grid_process(g, from) == ambit__grid_process(g, to) ? HANDED_OVER : SENT;
}

static ambit_status add_parcel(ambit_program *p, parcels *list, int exchange,
                               const ambit__halo_slice *f, const ambit__transfer *t)
{
  parcel *all =
      ambit__grow(&p->grid->context->errors, list->all, list->count, &list->cap, sizeof *all);
  parcel one = {exchange, t->from, t->to, f->field, t->box, way_of(p->grid, t->from, t->to), 0};

  if (!all) return AMBIT_ENOMEM;
  one.bytes = one.way == COPIED ? (size_t)ambit__grid_count(p->grid, &t->box) * (size_t)f->count *
                                      ambit_type_size(f->field->type)
                                : ambit__channel_item_bytes(f, t);
  list->all = all;
  list->all[list->count++] = one;
  return AMBIT_OK;
}

/* The transfers of a slice, between all parts of all processes. */
static ambit_status add_slice(ambit_program *p, parcels *list, int exchange,
                              const ambit__halo_slice *f)
{
  ambit__halo_spec spec = ambit__halo_slice_spec(p, f);
  ambit__halo halo;
  ambit_status s;

  spec.mine = NULL;
  s = ambit__halo_make(&p->grid->context->errors, &spec, &halo);
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

static void print_message(const parcels *list, size_t from, size_t to)
{
  static const char *const ways[] = {"sent", "handed over", "copied"};
  const parcel *first = &list->all[from];
  char box[BOX_CHARS];

  printf("  part %d -> %d: %zu bytes, %s:", first->from, first->to, message_bytes(list, from, to),
         ways[first->way]);
  for (size_t i = from; i < to && i < from + TOOL_MOST_BOXES; i++) {
    ambit__box_print(&list->all[i].box, box, sizeof box);
    printf("%s %s%s", i > from ? "," : "", list->all[i].field->name, box);
  }
  if (to - from > TOOL_MOST_BOXES) printf(" and %zu more", to - from - TOOL_MOST_BOXES);
  printf("\n");
}

/* The process that sends most bytes. */
static ambit_status print_busiest(const ambit_grid *g, const parcels *list)
{
  size_t *bytes = ambit__new(&g->context->errors, (size_t)g->context->net->size, sizeof *bytes);
  int most = 0;

  if (!bytes) return AMBIT_ENOMEM;
  for (size_t i = 0; i < list->count; i++)
    if (list->all[i].way == SENT)
      bytes[ambit__grid_process(g, list->all[i].from)] += list->all[i].bytes;
  for (int r = 0; r < g->context->net->size; r++)
    if (bytes[r] > bytes[most]) most = r;
  printf("  process %d sends most: %zu bytes\n", most, bytes[most]);
  free(bytes);
  return AMBIT_OK;
}

static ambit_status print_totals(const ambit_grid *g, const parcels *list)
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
      printf("  %s: %zu %s%s, %zu bytes\n", titles[w], count[w], w == COPIED ? "box" : "message",
             count[w] == 1 ? ""
             : w == COPIED ? "es"
                           : "s",
             bytes[w]);
  return count[SENT] ? print_busiest(g, list) : AMBIT_OK;
}

static ambit_status print_list(const ambit_grid *g, const parcels *list)
{
  size_t shown = 0, more = 0;

  printf("messages in each iteration\n");
  if (!list->count) printf("  none: no part reads cells of another\n");
  for (size_t i = 0, end; i < list->count; i = end) {
    end = message_end(list, i);
    if (shown < TOOL_MOST_MESSAGES)
      print_message(list, i, end), shown++;
    else
      more++;
  }
  if (more) printf("  and %zu more\n", more);
  return print_totals(g, list);
}

ambit_status tool_print_messages(ambit_program *p)
{
  parcels list = {0};
  ambit_status s = find_parcels(p, &list);

  if (!s && list.count) qsort(list.all, list.count, sizeof *list.all, compare);
  if (!s) s = print_list(p->grid, &list);
  free(list.all);
  return s;
}
