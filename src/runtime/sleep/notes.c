/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.c - ids of tiles of other processes, and messages that need not be sent.
 *
 * In an iteration in which tiles sleep, every message between processes begins with a note: the ids
 * of the tiles that it is about. The cells follow only if the buffer that the other process would
 * store them in does not have them yet. Both processes rotate their fields alike, so the sender
 * knows which buffer that is.
 */
#include "runtime/sleep/sleep.h"

#include <string.h>

/* A walk over the tiles of a channel: for each transfer, those of the sender that it takes cells
 * from. */
typedef struct walk {
  const ambit__sleep *z;
  ambit__channel *m;
  int field;       /* of the present transfer */
  ambit__box box;  /* its cells */
  int64_t entries; /* tiles so far */
  bool news;       /* something is not known to the other end, or to this one */
  ambit_program *p;
} walk;

static const ambit__halo_slice *slice_of(const ambit__exchange *x, const ambit__channel *m, int i)
{
  return x->slices[m->items[2 * i]];
}

static void each_tile(walk *w, const ambit__exchange *x, ambit__tile_fn fn)
{
  const int from = w->m->incoming ? w->m->other : w->m->part + x->program->grid->first;

  for (int i = 0; i < w->m->nitems; i++) {
    const ambit__halo_slice *s = slice_of(x, w->m, i);

    w->field = ambit__program_field(x->program, s->field);
    w->box = s->halo.transfers[w->m->items[2 * i + 1]].box;
    ambit__tiling_each(&w->z->map.parts[from], &w->box, fn, w);
  }
}

/* The note about the present tile: behind the word that says whether cells follow. */
static uint64_t *note_of(const walk *w)
{
  return w->m->notes + 1 + w->entries * w->z->map.nzones;
}

static void count(void *user, int64_t tile)
{
  walk *w = user;

  (void)tile;
  w->entries++;
}

/* ---- sending ---- */

/* The values of the present tile that the other end has in the buffer of the field. */
static uint64_t *sent_of(const walk *w)
{
  return w->m->known + (int64_t)w->z->slot[w->field] * w->m->entries + w->entries;
}

static void write_note(void *user, int64_t tile)
{
  walk *w = user;
  const uint64_t *ids = ambit__sleep_ids(w->z, w->field, tile);
  const ambit__box whole = ambit__tile_box(&w->z->map, tile);
  const ambit__box cells = ambit__box_intersect(&whole, &w->box);
  const uint64_t id = ids[ambit__tile_zone_around(&w->z->map, &whole, &cells)];

  memcpy(note_of(w), ids, (size_t)w->z->map.nzones * sizeof *ids);
  w->news |= *sent_of(w) != id;
  *sent_of(w) = id;
  w->entries++;
}

static bool leave(ambit__exchange *x, ambit__channel *m)
{
  walk w = {.z = x->program->sleep, .m = m};

  each_tile(&w, x, write_note);
  m->notes[0] = w.news;
  return w.news;
}

/* ---- receiving ---- */

static void read_note(void *user, int64_t tile)
{
  walk *w = user;
  const size_t bytes = (size_t)w->z->map.nzones * sizeof(uint64_t);
  uint64_t *before = w->m->known + w->entries * w->z->map.nzones;

  if (memcmp(before, note_of(w), bytes)) ambit__sleep_touch(w->p, tile, true);
  memcpy(before, note_of(w), bytes);
  memcpy(ambit__sleep_ids(w->z, w->field, tile), note_of(w), bytes);
  w->entries++;
}

static bool arrive(ambit__exchange *x, ambit__channel *m)
{
  walk w = {.z = x->program->sleep, .m = m, .p = x->program};

  each_tile(&w, x, read_note);
  return m->notes[0] != 0;
}

const ambit__gate ambit__sleep_gate = {leave, arrive};

/* ---- memory ---- */

static ambit_status make_notes(ambit_program *p, const ambit__exchange *x, ambit__channel *m)
{
  walk w = {.z = p->sleep, .m = m};
  size_t words;

  if (m->peer) return AMBIT_OK;
  each_tile(&w, x, count);
  m->entries = w.entries;
  words = (size_t)w.entries * (size_t)(m->incoming ? w.z->map.nzones : p->nfields);
  m->note_bytes = (1 + (size_t)(w.entries * w.z->map.nzones)) * sizeof *m->notes;
  m->known_bytes = words * sizeof *m->known;
  AMBIT_HOLD(p, m->notes, m->note_bytes / sizeof *m->notes);
  AMBIT_HOLD(p, m->known, words);
  return AMBIT_OK;
}

ambit_status ambit__sleep_make_notes(ambit_program *p)
{
  for (int i = 0; i < p->nexchanges; i++)
    for (int k = 0; k < p->exchanges[i]->nchannels; k++)
      AMBIT_TRY(make_notes(p, p->exchanges[i], &p->exchanges[i]->channels[k]));
  return AMBIT_OK;
}

void ambit__sleep_forget_notes(ambit_program *p)
{
  for (int i = 0; i < p->nexchanges; i++)
    for (int k = 0; k < p->exchanges[i]->nchannels; k++) {
      ambit__channel *m = &p->exchanges[i]->channels[k];

      if (m->known) memset(m->known, 0, m->known_bytes);
    }
}
