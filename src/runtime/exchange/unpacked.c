/* SPDX-License-Identifier: BSD-3-Clause */
/* unpacked.c - messages without packing: sent from the memory of a field, and received in it.
 *
 * This requires one box of one field, in host memory at both ends, with the same strides at both.
 * The memory between the rows and planes of the box, slightly more than the margins, is sent along
 * and overwritten at the other end:
 *
 *         ..xxxxxxxxxx..      x   the cells to send
 *         ..xxxxxxxxxx..      .   sent along, between the first x and the last
 *
 * This is harmless if both parts span the grid along the axes of which cells are skipped. The bytes
 * sent along are then own cells of the sender, which nobody reads at the other end, or they would
 * be in the box; ghost cells of a halo, which are filled when the exchange ends; and padding.
 *
 * Each end decides independently, and both must agree. So the decision depends only on data known
 * to both: the parts, the transfer, and the margins, which are the same on all parts
 * (program/margins.c).
 */
#include "runtime/exchange/exchange.h"

/* For so many bytes of cells at most one is sent along: rows of 1 KiB have as much beside them. */
enum { MOST_WASTE = 5 };

static const ambit__transfer *only_item(const ambit__exchange *x, const ambit__channel *m,
                                        const ambit__halo_slice **f)
{
  *f = x->slices[m->items[0]];
  return &(*f)->halo.transfers[m->items[1]];
}

/* The layout of a slice on a part of any process. */
static ambit__layout layout_of(const ambit__halo_slice *s, int part)
{
  ambit__layout l = s->field->stores[0].layout;

  l.own = ambit__field_part(s->field, part);
  ambit__layout_make(&l); /* cannot fail: it succeeded where the part is */
  return ambit__layout_slice(&l, s->first, s->count);
}

static bool spans(const ambit_grid *g, int part, int axis)
{
  return g->parts[part].lo[axis] == 0 && g->parts[part].hi[axis] == g->box.hi[axis];
}

/* Whether a box has the same strides on two parts, and the memory between its rows is unused. */
static bool same_layout(const ambit_grid *g, const ambit__transfer *t, const ambit__layout *from,
                        const ambit__layout *to)
{
  int first = 0;

  while (first < t->box.ndims - 1 && t->box.hi[first] - t->box.lo[first] == 1)
    first++;
  for (int d = first; d < t->box.ndims; d++) {
    if (from->stride[d] != to->stride[d]) return false;
    if (d > first && !(spans(g, t->from, d) && spans(g, t->to, d))) return false;
  }
  return true;
}

bool ambit__channel_is_unpacked(const ambit__exchange *x, const ambit__channel *m)
{
  const ambit__halo_slice *f;
  const ambit__transfer *t = only_item(x, m, &f);
  const ambit__layout from = layout_of(f, t->from), to = layout_of(f, t->to);
  const size_t bytes = ambit__layout_box_bytes(&from, &t->box),
               span = ambit__layout_span(&from, &t->box);

  if (x->program->grid->active || f->field->dropped) return false;
  if (!x->program->grid->context->in_host || m->peer || m->nitems > 1) return false;
  if (f->source) return false; /* the memory between rows holds other own cells */
  if (span == bytes && ambit__layout_span(&to, &t->box) == bytes) return true;
  if (f->count > 1 && f->field->order == AMBIT_SOA) return false;
  return same_layout(x->program->grid, t, &from, &to) && span <= bytes + bytes / MOST_WASTE;
}

size_t ambit__channel_span(const ambit__exchange *x, const ambit__channel *m)
{
  const ambit__halo_slice *f;
  const ambit__transfer *t = only_item(x, m, &f);

  const ambit__store store = ambit__slice_store(f, m->part);

  return ambit__layout_span(&store.layout, &t->box);
}

unsigned char *ambit__channel_address(const ambit__exchange *x, const ambit__channel *m)
{
  const ambit__halo_slice *f;
  const ambit__transfer *t = only_item(x, m, &f);
  const ambit__store store = ambit__slice_store(f, m->part);
  const ambit__box there = m->incoming ? ambit__box_move(&t->box, t->shift) : t->box;
  const ambit__engine *e = ambit__engine_of(x->program->grid, m->part);

  return e->device->backend->address(store.buffer) +
         ambit__layout_at(&store.layout, there.lo) * (int64_t)ambit_type_size(f->field->type);
}
