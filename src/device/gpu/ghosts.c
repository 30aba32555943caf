/* ghosts.c - filling ghost cells on the device: one launch per axis, in order.
 *
 * An axis is filled from given cells along that axis; across the axes before it, from cells that were
 * filled already, so that corners come out right (device/host_ghosts.c does the same on the host).
 */
#include "device/gpu/gpu.h"

enum {
  OTHERS = AMBIT_MAX_DIMS
}; /* axes beside the one being filled: the others, and the components */

/* The values of one layer of ghosts, innermost axis first. */
typedef struct section {
  int n; /* axes in use */
  int64_t count[OTHERS], step[OTHERS];
  int64_t total;
  int64_t
      base; /* from the start of the memory to the one with the least indices, at index 0 of the axis */
} section;

/* The given cells, and those to fill around them. */
typedef struct ghosts {
  const ambit__boundaries *b;
  const int64_t *extents; /* of the grid */
  ambit__box given;
  int64_t low[AMBIT_MAX_DIMS], high[AMBIT_MAX_DIMS]; /* 0 at faces that are not filled */
} ghosts;

static bool is_filled(ambit_boundary kind)
{
  return kind != AMBIT_NONE && kind != AMBIT_FIXED;
}

static void add_axis(section *s, int64_t count, int64_t step)
{
  if (count == 1) return;
  s->count[s->n] = count;
  s->step[s->n++] = step;
  s->total *= count;
}

static section section_of(const ambit__layout *l, const ghosts *g, int axis)
{
  section s = {.total = 1, .base = ambit__layout_at(l, g->given.lo)};

  if (l->order == AMBIT_AOS) add_axis(&s, l->components, l->component);
  for (int d = l->own.ndims - 1; d >= 0; d--) {
    int64_t low = d < axis ? g->low[d] : 0, high = d < axis ? g->high[d] : 0;

    s.base -= (d == axis ? g->given.lo[d] : low) * l->stride[d];
    if (d == axis) continue;
    add_axis(&s, low + g->given.hi[d] - g->given.lo[d] + high, l->stride[d]);
  }
  if (l->order != AMBIT_AOS) add_axis(&s, l->components, l->component);
  for (int k = s.n; k < OTHERS; k++) {
    s.count[k] = 1;
    s.step[k] = 0;
  }
  return s;
}

static ambit__gpu_arg value_arg(const ambit__boundaries *b, int axis, int side, ambit_type type,
                                unsigned char value[8])
{
  ambit__value_store(value, type, ambit__value_of(b->value[axis][side], type));
  return (ambit__gpu_arg){.value = value, .bytes = ambit_type_size(type)};
}

static ambit_status fill_axis(ambit__gpu_lane *lane, ambit__gpu_function *fill,
                              const ambit__store *store, const ghosts *g, int axis)
{
  const ambit__layout *l = &store->layout;
  const ambit__boundaries *b = g->b;
  const section s = section_of(l, g, axis);
  const int64_t layers = g->low[axis] + g->high[axis], inner = axis == l->own.ndims - 1;
  const int64_t kinds[2] = {b->kind[axis][0], b->kind[axis][1]};
  unsigned char values[2][8];
  ambit__gpu_arg args[14 + 2 * OTHERS];
  int n = 0;

  if (!layers || !s.total) return AMBIT_OK;
  args[n++] = ambit__gpu_arg_memory(ambit__gpu_memory_of(store->buffer));
  args[n++] = ambit__gpu_arg_number(&s.base);
  args[n++] = ambit__gpu_arg_number(&s.total);
  args[n++] = ambit__gpu_arg_number(&layers);
  args[n++] = ambit__gpu_arg_number(&inner);
  args[n++] = ambit__gpu_arg_number(&l->stride[axis]);
  args[n++] = ambit__gpu_arg_number(&g->low[axis]);
  args[n++] = ambit__gpu_arg_number(&g->given.lo[axis]);
  args[n++] = ambit__gpu_arg_number(&g->given.hi[axis]);
  args[n++] = ambit__gpu_arg_number(&g->extents[axis]);
  args[n++] = ambit__gpu_arg_number(&kinds[0]);
  args[n++] = ambit__gpu_arg_number(&kinds[1]);
  args[n++] = value_arg(b, axis, 0, l->type, values[0]);
  args[n++] = value_arg(b, axis, 1, l->type, values[1]);
  for (int k = 0; k < OTHERS; k++)
    args[n++] = ambit__gpu_arg_number(&s.count[k]);
  for (int k = 0; k < OTHERS; k++)
    args[n++] = ambit__gpu_arg_number(&s.step[k]);
  return ambit__gpu_moves_run(lane, fill, s.total * layers, n, args);
}

ambit_status ambit__gpu_ghosts(ambit__queue *q, ambit__store *store, const ambit__boundaries *b,
                               const int64_t *extents, const ambit__box *given,
                               const ambit__box *reach)
{
  ghosts g = {.b = b, .extents = extents, .given = *given};
  ambit__gpu_moves *moves;

  if (ambit__box_is_empty(given)) return AMBIT_OK;
  AMBIT_TRY(ambit__gpu_moves_get(ambit__gpu_device_of(q->device), store->layout.type, &moves));
  for (int d = 0; d < given->ndims; d++) {
    g.low[d] = is_filled(b->kind[d][0]) ? given->lo[d] - reach->lo[d] : 0;
    g.high[d] = is_filled(b->kind[d][1]) ? reach->hi[d] - given->hi[d] : 0;
  }
  for (int d = 0; d < given->ndims; d++)
    AMBIT_TRY(fill_axis((ambit__gpu_lane *)q, moves->ghosts, store, &g, d));
  return AMBIT_OK;
}
