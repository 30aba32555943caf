/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/cpu/blocks.h"

#include "base/memory.h"
#include "device/host.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 }; /* bytes: alignment of buffers */

/* ---- a function ---- */

void ambit__cpu_blocks_close(ambit__cpu_blocks *blocks)
{
  for (int i = 0; blocks && i < AMBIT_MAX_PARAMS; i++)
    ambit__gather_close(&blocks->gathers[i]);
  free(blocks);
}

ambit_status ambit__cpu_blocks_open(ambit__errors *errors, const ambit__group *g,
                                    ambit__cpu_blocks **blocks)
{
  const ambit__rule *rule = g->steps[0].rule;

  *blocks = ambit__new(errors, 1, sizeof **blocks);
  if (!*blocks) return AMBIT_ENOMEM;
  (*blocks)->rule = rule;
  for (int i = 0; i < rule->nparams; i++) {
    ambit__gather *to = &(*blocks)->gathers[i];
    const ambit__binding *bind = &g->steps[0].bind[i];

    if (!bind->is_field || !rule->params[i].reads_neighbours) continue;
    AMBIT_TRY(ambit__gather_open(errors, g->blocks, &rule->params[i],
                                 bind->contiguous ? AMBIT_SOA : AMBIT_AOS, to));
    to->at = (int64_t)(*blocks)->scratch;
    (*blocks)->scratch += (to->layout.bytes + LINE - 1) / LINE * LINE;
  }
  return AMBIT_OK;
}

/* ---- a block ---- */

/* Copies what the function wrote to the buffer of a gathered field back to the block. */
static void put_back(const ambit__gather *g, const ambit__param *p, const ambit__argument *arg,
                     int64_t block, const ambit_call *call, const unsigned char *buffer)
{
  const ambit__layout *l = &arg->store->layout;
  const int last = l->own.ndims - 1;
  const size_t size = ambit_type_size(l->type);
  ambit__box box = {.ndims = l->own.ndims};
  int64_t at[AMBIT_MAX_DIMS];

  memcpy(box.lo, call->lo, sizeof box.lo);
  memcpy(box.hi, call->hi, sizeof box.hi);
  ambit__box_first(&box, at);
  do {
    int64_t to = l->origin + block * l->block, from = g->layout.origin;

    for (int d = 0; d <= last; d++) {
      to += at[d] * l->stride[d];
      from += at[d] * g->layout.stride[d];
    }
    for (int64_t x = 0; x < box.hi[last] - box.lo[last]; x++)
      for (int c = 0; c < p->components; c++)
        if (p->writes[c])
          memcpy(ambit__host_base(arg->store->buffer) +
                     (size_t)(to + x * l->stride[last] + c * l->component) * size,
                 buffer +
                     (size_t)(from + x * g->layout.stride[last] + c * g->layout.component) * size,
                 size);
  } while (ambit__box_next_row(&box, at));
}

/* Gathers fields and sets the addresses and strides of all. */
static void bind_block(const ambit__blocks_launch *l, ambit_call *call, int64_t block,
                       unsigned char *scratch)
{
  for (int i = 0; i < l->launch->nargs; i++) {
    const ambit__argument *arg = &l->launch->args[i];
    const ambit__gather *g = &l->blocks->gathers[i];
    const ambit__layout *to = g->rows ? &g->layout : arg->store ? &arg->store->layout : NULL;
    const size_t size = to ? ambit_type_size(to->type) : 0;

    if (!to) continue;
    if (g->rows) {
      ambit__gather_run(g, arg, block, scratch + g->at);
      call->origin[i] = scratch + g->at + (size_t)to->origin * size;
    } else {
      call->origin[i] =
          ambit__host_base(arg->store->buffer) + (size_t)(to->origin + block * to->block) * size;
    }
  }
}

static void set_strides(const ambit__blocks_launch *l, ambit_call *call)
{
  for (int i = 0; i < l->launch->nargs; i++) {
    const ambit__argument *arg = &l->launch->args[i];
    const ambit__gather *g = &l->blocks->gathers[i];
    const ambit__layout *to = g->rows ? &g->layout : arg->store ? &arg->store->layout : NULL;

    if (!to) continue;
    call->component[i] = to->component;
    memcpy(call->stride[i], to->stride, sizeof call->stride[i]);
  }
}

/* Calls the function for a box of cells of a block. */
static void run_box(const ambit__blocks_launch *l, ambit_call *call, int64_t block,
                    const ambit__box *box, const unsigned char *scratch)
{
  for (int d = 0; d < box->ndims; d++) {
    call->lo[d] = box->lo[d] - call->offset[d];
    call->hi[d] = box->hi[d] - call->offset[d];
  }
  l->run(l->user, call);
  for (int i = 0; i < l->launch->nargs; i++)
    if (l->blocks->gathers[i].rows && l->blocks->rule->params[i].is_written)
      put_back(&l->blocks->gathers[i], &l->blocks->rule->params[i], &l->launch->args[i], block,
               call, scratch + l->blocks->gathers[i].at);
}

void ambit__cpu_blocks_run(const ambit__blocks_launch *l, ambit_call *call, int64_t first,
                           int64_t end, unsigned char *scratch)
{
  const ambit__blocks *b = l->launch->blocks;

  set_strides(l, call);
  for (int64_t i = first; i < end; i++) {
    const ambit__box cells = ambit__blocks_box(b, i);
    const ambit__box clip = ambit__box_intersect(&cells, &l->launch->box);
    ambit__runs r = {0};

    if (ambit__box_is_empty(&clip)) continue;
    for (int d = 0; d < clip.ndims; d++)
      call->offset[d] = b->at[i * clip.ndims + d] << b->shift[d];
    bind_block(l, call, i, scratch);
    if (!l->only_active || b->full[i])
      run_box(l, call, i, &clip, scratch);
    else
      while (ambit__blocks_next_run(b, i, &clip, &r))
        run_box(l, call, i, &r.box, scratch);
  }
}
