/* SPDX-License-Identifier: BSD-3-Clause */
/* ids.c - the ids of values, and the list of tiles that may be awake.
 *
 * A tile that no step has changed for a whole period of the rotations, and that reads no tile that
 * has, sleeps until something touches it: it need not be looked at. The others are in a list.
 */
#include "runtime/sleep/sleep.h"

static const uint64_t FOREIGN = (uint64_t)1 << 63; /* ids given here to tiles of other processes */

static bool is_mine(const ambit_program *p, int64_t tile)
{
  return p->grid->mine[p->sleep->map.part[tile]];
}

/* ---- the list ---- */

static void enlist(ambit__sleep *z, int64_t tile, int64_t until)
{
  if (z->until[tile] < until) z->until[tile] = until;
  if (z->listed[tile]) return;
  z->listed[tile] = true;
  z->list[z->nlist++] = (int32_t)tile;
}

void ambit__sleep_touch(ambit_program *p, int64_t tile, bool changed)
{
  ambit__sleep *z = p->sleep;
  const int64_t until = p->iteration + z->period;

  if (is_mine(p, tile)) enlist(z, tile, until);
  for (int64_t i = z->map.feeds.first[tile]; changed && i < z->map.feeds.first[tile + 1]; i++)
    enlist(z, z->map.feeds.list[i].tile, until);
}

void ambit__sleep_touch_all(ambit_program *p)
{
  for (int64_t t = 0; t < p->sleep->map.n; t++)
    if (is_mine(p, t)) enlist(p->sleep, t, p->iteration + p->sleep->period);
}

/* Whether all fields that are rotated with each other hold the same values in a tile. */
static bool is_uniform(const ambit_program *p, int64_t tile)
{
  const ambit__sleep *z = p->sleep;

  for (int f = 0; f < p->nfields; f++)
    if (ambit__sleep_ids(z, f, tile)[0] != ambit__sleep_ids(z, z->cycle[f], tile)[0]) return false;
  return true;
}

void ambit__sleep_settle(ambit_program *p)
{
  ambit__sleep *z = p->sleep;
  const int64_t n = z->nlist;
  int64_t kept = 0;

  for (int64_t i = 0; i < n; i++) /* the list may grow meanwhile */
    if (z->until[z->list[i]] < p->iteration && !is_uniform(p, z->list[i]))
      ambit__sleep_touch(p, z->list[i], true);
  for (int64_t i = 0; i < z->nlist; i++) {
    const int32_t tile = z->list[i];

    if (z->until[tile] >= p->iteration)
      z->list[kept++] = tile;
    else
      z->listed[tile] = false;
  }
  z->nlist = kept;
}

/* ---- ids ---- */

/* New ids for all values of a field. */
static void renew(ambit_program *p, int field)
{
  ambit__sleep *z = p->sleep;

  for (int64_t t = 0; t < z->map.n; t++) {
    uint64_t *ids = ambit__sleep_ids(z, field, t);

    for (int k = 0; k < z->map.nzones; k++)
      ids[k] = z->next | (is_mine(p, t) ? 0 : FOREIGN);
    z->next++;
  }
}

/* The slot that has a buffer; -1: none. */
static int find_slot(const ambit_program *p, const ambit__buffer *b)
{
  for (int i = 0; i < p->nfields; i++)
    if (p->sleep->buffers[i] == b) return i;
  return -1;
}

/* The first own buffer of a field; NULL: this process has no part. */
static ambit__buffer *buffer_of(const ambit_program *p, int field)
{
  return p->grid->placement.n ? p->fields[field]->stores[0].buffer : NULL;
}

/* Assigns slots to buffers anew. */
static void find_buffers(ambit_program *p)
{
  for (int f = 0; f < p->nfields; f++) {
    p->sleep->slot[f] = f;
    p->sleep->buffers[f] = buffer_of(p, f);
    p->sleep->changes[f] = p->fields[f]->changes;
    renew(p, f);
  }
}

static bool all_known(const ambit_program *p)
{
  for (int f = 0; f < p->nfields; f++)
    if (!buffer_of(p, f) || find_slot(p, buffer_of(p, f)) < 0) return false;
  return p->sleep->valid;
}

static void forget_results(ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++)
    p->sleep->steps[i].valued = false;
}

void ambit__sleep_refresh(ambit_program *p)
{
  ambit__sleep *z = p->sleep;
  bool news = false;

  if (!all_known(p)) {
    find_buffers(p);
    forget_results(p);
    news = true;
  }
  for (int f = 0; f < p->nfields && !news; f++)
    z->slot[f] = find_slot(p, buffer_of(p, f));
  for (int f = 0; f < p->nfields; f++) {
    if (z->changes[f] == p->fields[f]->changes) continue;
    z->changes[f] = p->fields[f]->changes;
    renew(p, f);
    news = true;
  }
  if (news) ambit__sleep_touch_all(p);
  z->valid = true;
}
