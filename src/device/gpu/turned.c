/* SPDX-License-Identifier: BSD-3-Clause */
/* turned.c - launches on a grid whose rows lie along another axis than the last one in memory
 * (grid/layout.h): kernels have axes in the order of memory, and so have their launches. */
#include "device/gpu/gpu.h"

#include <string.h>

void ambit__gpu_turn_tile(const ambit__group *g, int64_t *tile)
{
  int64_t old[AMBIT_MAX_DIMS];

  if (!g->turned) return;
  memcpy(old, tile, sizeof old);
  for (int d = 0; d < g->ndims; d++)
    tile[d] = old[ambit__turned_axis(d, g->turn, g->ndims)];
}

const ambit__launch *ambit__gpu_turn_launch(const ambit__launch *l, int turn, ambit__gpu_turned *to)
{
  to->launch = *l;
  to->launch.box = ambit__box_turn(&l->box, turn);
  for (int d = 0; d < l->box.ndims; d++)
    to->extents[ambit__turned_axis(d, turn, l->box.ndims)] = l->extents[d];
  to->launch.extents = to->extents;
  for (int i = 0; i < l->nargs; i++) {
    to->args[i] = l->args[i];
    if (!l->args[i].store) continue;
    to->stores[i] = *l->args[i].store;
    to->stores[i].layout = ambit__layout_turned(&l->args[i].store->layout, turn);
    to->args[i].store = &to->stores[i];
  }
  to->launch.args = to->args;
  return &to->launch;
}
