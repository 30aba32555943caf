/* SPDX-License-Identifier: BSD-3-Clause */
/* access.c - the limits of a launch for each field. */
#include "device/access.h"

#include "nest/checked.h"

#include <string.h>

/* ---- limits ---- */

/* Own cells and margins. */
static ambit__box stored(const ambit__layout *l)
{
  ambit__box box = l->own;

  for (int d = 0; d < box.ndims; d++) {
    box.lo[d] -= l->margin_lo[d];
    box.hi[d] += l->margin_hi[d];
  }
  return box;
}

static const int64_t ANYWHERE = INT64_C(1) << 60;

ambit__limits ambit__limits_of(const ambit__argument *arg)
{
  const ambit__layout *l = &arg->store->layout;
  const int64_t elements = (int64_t)(arg->store->buffer->bytes / ambit_type_size(l->type));
  ambit__limits limits = {
      .reads = arg->valid, .writes = l->own, .first = -l->origin, .end = elements - l->origin};

  if (!arg->valid.ndims) limits.reads = stored(l);
  if (arg->spreads) limits.writes = limits.reads;
  for (int d = 0; d < l->own.ndims; d++)
    if (l->dropped >> d & 1) { /* all cells have the same value */
      limits.reads.lo[d] = limits.writes.lo[d] = -ANYWHERE;
      limits.reads.hi[d] = limits.writes.hi[d] = ANYWHERE;
    }
  return limits;
}

bool ambit__limits_allow(const ambit__limits *limits, const ambit__layout *l,
                         const ambit__box *cells, const int64_t *cell, const int64_t *from,
                         int component)
{
  int64_t place;

  if (!ambit__box_has(cells, cell)) return false;
  place = ambit__layout_at(l, from) - l->origin + component * l->component;
  return place >= limits->first && place < limits->end;
}

static void put_box(int64_t *lo, int64_t *hi, const ambit__box *b)
{
  memcpy(lo, b->lo, (size_t)b->ndims * sizeof *lo);
  memcpy(hi, b->hi, (size_t)b->ndims * sizeof *hi);
}

void ambit__access_arm(const ambit__launch *launch, int64_t *words)
{
  for (int i = 0; i < launch->nargs; i++) {
    int64_t *w = words + AMBIT_FAULT_WORDS + i * AMBIT_LIMIT_WORDS;
    ambit__limits limits;

    if (!launch->args[i].store) continue;
    limits = ambit__limits_of(&launch->args[i]);
    w[AMBIT_LIMIT_FIRST] = limits.first;
    w[AMBIT_LIMIT_END] = limits.end;
    put_box(w + AMBIT_LIMIT_READ_LO, w + AMBIT_LIMIT_READ_HI, &limits.reads);
    put_box(w + AMBIT_LIMIT_WRITE_LO, w + AMBIT_LIMIT_WRITE_HI, &limits.writes);
  }
}

/* ---- prediction ---- */

/* One access at the first and the last cell of the box: if both are valid, so are all between. */
static void foresee(const ambit__launch *launch, int param, const int *offset, int component,
                    int kind, int number, int64_t *words)
{
  const ambit__argument *arg = &launch->args[param];
  const ambit__limits limits = ambit__limits_of(arg);
  const ambit__box *cells = kind == AMBIT_FAULT_READ ? &limits.reads : &limits.writes;

  for (int corner = 0; corner < 2 && !words[AMBIT_FAULT_KIND]; corner++) {
    int64_t cell[AMBIT_MAX_DIMS] = {0};

    for (int d = 0; d < launch->box.ndims; d++)
      cell[d] = (corner ? launch->box.hi[d] - 1 : launch->box.lo[d]) + offset[d];
    if (ambit__limits_allow(&limits, &arg->store->layout, cells, cell, cell, component)) continue;
    words[AMBIT_FAULT_KIND] = kind;
    words[AMBIT_FAULT_ACCESS] = number;
    for (int d = 0; d < launch->box.ndims; d++)
      words[AMBIT_FAULT_CELL + d] = cell[d] - offset[d];
  }
}

void ambit__access_foresee(const ambit__rule *rule, const ambit__launch *launch, int64_t *words)
{
  if (ambit__box_is_empty(&launch->box)) return;
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];

    if (!launch->args[i].store) continue;
    for (int k = 0; k < p->nreads; k++)
      foresee(launch, i, p->reads[k].offset, p->reads[k].component, AMBIT_FAULT_READ,
              ambit__checked_read(rule, i, k), words);
    for (int c = 0; c < p->components; c++)
      if (p->writes[c])
        foresee(launch, i, ambit__param_target(p, c), c, AMBIT_FAULT_WRITE,
                ambit__checked_write(rule, i, c), words);
  }
}
