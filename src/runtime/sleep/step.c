/* SPDX-License-Identifier: BSD-3-Clause */
/* step.c - one step of an iteration in which tiles sleep: decides, launches, and compares. */
#include "runtime/sleep/sleep.h"

#include <string.h>

/* ---- decisions ---- */

typedef enum choice {
  SLEEPS,
  COPIES,  /* another buffer has the results */
  REPEATS, /* computes the results of the last iteration, which are overwritten */
  COMPUTES
} choice;

/* Whether an input of a tile has other ids than in the last iteration. */
static bool differs(const ambit__sleep *z, const ambit__sleep_input *in, int64_t tile)
{
  const ambit__tile_links *reads = &z->map.reads;
  const int64_t first = reads->first[tile], end = in->around ? reads->first[tile + 1] : first + 1;
  const uint64_t *ids = ambit__sleep_ids(z, in->field, 0);

  for (int64_t i = first; i < end; i++) {
    const int64_t at = (int64_t)reads->list[i].tile * z->map.nzones + reads->list[i].zone;

    if (ids[at] != in->seen[at]) return true;
  }
  return false;
}

/* Whether a field has the results of the last iteration. */
static bool holds_last(const ambit__sleep *z, const ambit__sleep_output *out, int field,
                       int64_t tile)
{
  return ambit__sleep_ids(z, field, tile)[0] == out->last[tile * z->map.nzones];
}

static choice choose(const ambit__sleep *z, const ambit__sleeper *s, int64_t tile)
{
  bool sleeps = true, copies = !s->loses;

  for (int i = 0; i < s->nin; i++)
    if (differs(z, &s->in[i], tile)) return COMPUTES;
  for (int i = 0; i < s->nout; i++) {
    sleeps &= holds_last(z, &s->out[i], s->out[i].field, tile);
    copies &= holds_last(z, &s->out[i], s->out[i].before, tile);
  }
  return sleeps ? SLEEPS : copies ? COPIES : REPEATS;
}

/* Whether all scalars that the step reads are those of the last iteration. */
static ambit_status compare_values(const ambit_program *p, int step, bool *same)
{
  const ambit__step *st = &p->steps[step];
  ambit__sleeper *s = &p->sleep->steps[step];

  *same = s->valued;
  for (int i = 0; i < st->n && p->grid->placement.n; i++) {
    const int engine = p->grid->placement.engine[0];
    ambit__queue *q = p->grid->context->engines[engine].queue;
    unsigned char *to = s->values + sizeof(double) * (size_t)i, value[sizeof(double)];

    if (!st->args[i].scalar || st->kernel->rule->params[i].kind != PARAM_VALUE) continue;
    AMBIT_TRY(ambit__do(q, get, value, st->args[i].scalar->values[engine], sizeof value));
    *same &= !memcmp(to, value, sizeof value);
    memcpy(to, value, sizeof value);
  }
  s->valued = true;
  return AMBIT_OK;
}

/* ---- work ---- */

/* The function that runs a step on the tiles of a part of this process. */
static ambit__function *function_of(const ambit_program *p, const ambit__sleeper *s, int part)
{
  return s->functions[p->grid->placement.engine[part]];
}

/* The reductions of a tile. Those of a part are next to each other: every device has its own
 * number of words. */
static int64_t *partial_of(const ambit_program *p, const ambit__sleeper *s, int64_t tile)
{
  const int part = p->sleep->map.part[tile];
  const int64_t first = p->sleep->map.parts[part].first;

  if (!s->words) return NULL;
  return s->partials + first * s->words +
         (tile - first) * function_of(p, s, part - p->grid->first)->words;
}

static void add_work(ambit_program *p, int step, int64_t tile, choice c, int64_t n)
{
  ambit__sleep *z = p->sleep;
  const ambit__sleeper *s = &z->steps[step];
  const ambit__box whole = ambit__tile_box(&z->map, tile);
  ambit__tile *t = &z->work[n];

  *t = (ambit__tile){.box = ambit__box_intersect(&whole, &p->applies[step].region),
                     .whole = whole,
                     .number = tile - z->map.parts[z->map.part[tile]].first,
                     .copies = c == COPIES,
                     .partial = partial_of(p, s, tile),
                     .changed = z->changed + n * z->most_out};
  for (int k = 0; c == COMPUTES && k < s->nout; k++)
    if (ambit__box_is_empty(&t->box) ? s->out[k].before != s->out[k].field
                                     : holds_last(z, &s->out[k], s->out[k].before, tile))
      t->compares |= (uint32_t)1 << k;
  z->number[n] = (int32_t)tile;
  z->repeats[n] = c != COMPUTES;
}

/* Lists the tiles of a part that do not sleep behind `n` others. Returns the number of all. */
static int64_t list_work(ambit_program *p, int step, int part, bool all, int64_t n)
{
  ambit__sleep *z = p->sleep;

  for (int64_t i = 0; i < z->nlist; i++) {
    const int64_t tile = z->list[i];
    choice c;

    if (z->map.part[tile] != p->grid->first + part) continue;
    c = all ? COMPUTES : choose(z, &z->steps[step], tile);
    if (c != SLEEPS) add_work(p, step, tile, c, n++);
  }
  return n;
}

static void see(const ambit__sleep *z, const ambit__sleep_input *in, int64_t tile)
{
  memcpy(in->seen + tile * z->map.nzones, ambit__sleep_ids(z, in->field, tile),
         (size_t)z->map.nzones * sizeof *in->seen);
}

/* Notes the ids that the step reads now. */
static void see_all(const ambit__sleep *z, const ambit__sleeper *s)
{
  for (int k = 0; k < s->nin; k++) {
    for (int64_t i = 0; i < z->nlist; i++)
      see(z, &s->in[k], z->list[i]);
    for (int64_t i = 0; s->in[k].around && i < z->nfar; i++)
      see(z, &s->in[k], z->far[i]);
  }
}

/* ---- results ---- */

/* Gives new ids to the zones of a result that changed. Returns whether there are any. */
static bool note_result(ambit__sleep *z, ambit__sleep_output *out, const ambit__tile *t,
                        int64_t tile, bool compared, const ambit__box *changed)
{
  const int n = z->map.nzones;
  uint64_t *ids = ambit__sleep_ids(z, out->field, tile), *last = out->last + tile * n;
  const uint32_t zones = compared ? ambit__tile_zones(&z->map, &t->whole, changed) : ~(uint32_t)0;

  for (int k = 0; zones && k < n; k++)
    if (zones >> k & 1) last[k] = z->next;
  z->next += zones != 0;
  memcpy(ids, last, (size_t)n * sizeof *ids);
  return zones != 0;
}

/* A tile without cells of the step: its fields keep their values. Fields that are rotated may hold
 * the same there, which no other step would find out. */
static void note_nothing(ambit__sleep *z, ambit__sleeper *s, const ambit__tile *t, int64_t tile)
{
  const size_t bytes = (size_t)z->map.nzones * sizeof(uint64_t);

  for (int k = 0; k < s->nout; k++) {
    uint64_t *ids = ambit__sleep_ids(z, s->out[k].field, tile);

    if ((t->compares >> k & 1) && ambit__box_is_empty(&t->changed[k]))
      memcpy(ids, ambit__sleep_ids(z, s->out[k].before, tile), bytes);
    memcpy(s->out[k].last + tile * z->map.nzones, ids, bytes);
  }
}

static void note_results(ambit_program *p, ambit__sleeper *s, int64_t first, int64_t end)
{
  ambit__sleep *z = p->sleep;

  for (int64_t i = first; i < end; i++) {
    const ambit__tile *t = &z->work[i];
    bool moved = false;

    if (ambit__box_is_empty(&t->box) && !z->repeats[i]) {
      note_nothing(z, s, t, z->number[i]);
      continue;
    }
    for (int k = 0; k < s->nout; k++) {
      static const ambit__box none = {.ndims = 1};
      const bool compared = z->repeats[i] || (t->compares >> k & 1);

      moved |= note_result(z, &s->out[k], t, z->number[i], compared,
                           z->repeats[i] ? &none : &t->changed[k]);
    }
    ambit__sleep_touch(p, z->number[i], moved);
  }
}

/* ---- launches ---- */

ambit__launch ambit__sleep_launch(const ambit_program *p, int step, const ambit__piece *piece)
{
  const ambit__apply *apply = &p->applies[step];
  const ambit__chunks *tables = p->sleep->steps[step].chunks;
  const int nargs = apply->nargs;

  return (ambit__launch){.box = piece->box,
                         .extents = p->grid->box.hi,
                         .chunks = tables ? &tables[piece->part] : NULL,
                         .nargs = nargs,
                         .args = apply->args + piece->part * nargs,
                         .step = p->iteration,
                         .more = piece->more,
                         .folds = apply->folds};
}

/* Whether all cells of a part are computed, so that the ordinary launch is best. */
static bool is_whole(const ambit_program *p, const ambit__sleeper *s, int part, int64_t first,
                     int64_t end)
{
  const ambit__sleep *z = p->sleep;

  if (s->words || s->loses || end == first || end - first < z->map.parts[p->grid->first + part].n)
    return false;
  for (int64_t i = first; i < end; i++)
    if (z->work[i].copies) return false;
  return true;
}

/* Submits the tiles of a part. */
static ambit_status launch(ambit_program *p, int step, int part)
{
  ambit__sleep *z = p->sleep;
  const ambit__sleeper *s = &z->steps[step];
  ambit__sleep_part *x = &z->parts[part];
  const int engine = p->grid->placement.engine[part];
  ambit__queue *q = p->grid->context->engines[engine].queue;
  ambit__function *fn = function_of(p, s, part);
  ambit__store **than = s->than + part * s->nout;

  for (int k = 0; k < s->nout; k++)
    than[k] = &p->fields[s->out[k].before]->stores[part];
  x->list = (ambit__tile_list){.tiles = z->work + x->first,
                               .n = (int)(x->end - x->first),
                               .nout = s->nout,
                               .out = s->params,
                               .than = than};
  if (is_whole(p, s, part, x->first, x->end)) {
    AMBIT_TRY(ambit__do(q, launch, p->applies[step].functions[engine], &x->launch));
    for (int64_t i = x->first; i < x->end; i++)
      z->work[i].computed = true;
  }
  return x->list.n ? ambit__do(q, tiles, fn, &x->launch, &x->list) : AMBIT_OK;
}

ambit_status ambit__sleep_await(const ambit_program *p, ambit_status s)
{
  const ambit *a = p->grid->context;
  bool more, done;

  do {
    more = false;
    for (int e = 0; e < a->nengines; e++) {
      const ambit__backend *backend = a->engines[e].device->backend;
      const ambit_status t =
          ambit__can(backend, tile_go) ? ambit__do(a->engines[e].queue, tile_go, &done) : 0;

      if (ambit__can(backend, tile_go)) more |= !done;
      if (!s) s = t;
    }
  } while (more);
  for (int e = 0; e < a->nengines; e++) {
    const ambit__backend *backend = a->engines[e].device->backend;
    const ambit_status t =
        ambit__can(backend, tile_go) ? AMBIT_OK : ambit__do(a->engines[e].queue, wait, NULL);

    if (!s) s = t;
  }
  return s;
}

/* Counts tiles of a part, and those that slept. On a sparse grid one without cells is none. */
static void count(ambit__sleep *z, const ambit__sleeper *s, int part, int64_t tiles)
{
  const ambit__sleep_part *x = &z->parts[part];
  const int64_t *starts = s->chunks ? s->chunks[part].starts : NULL;

  if (s->chunks) tiles = s->filled[part];
  z->tiles += tiles;
  z->slept += tiles;
  for (int i = 0; i < x->list.n; i++) {
    const int64_t k = x->list.tiles[i].number;

    z->slept -= !starts || starts[k] < starts[k + 1];
  }
}

/* Takes the results of a part, whose tiles are done. */
static ambit_status take_results(ambit_program *p, int step, int part)
{
  ambit__sleep *z = p->sleep;
  ambit__sleeper *s = &z->steps[step];
  const ambit__sleep_part *x = &z->parts[part];
  const ambit__tiling *tiling = &z->map.parts[p->grid->first + part];
  ambit__queue *q = ambit__engine_of(p->grid, part)->queue;
  ambit__function *fn = function_of(p, s, part);

  note_results(p, s, x->first, x->end);
  count(z, s, part, tiling->n);
  if (!s->words || !x->folds) return AMBIT_OK;
  return ambit__do(q, tile_fold, fn, &x->launch, s->partials + tiling->first * s->words, tiling->n);
}

/* The piece of a launch on a part; NULL: it has none there. */
static const ambit__piece *piece_of(const ambit__operation *op, int part)
{
  for (int i = 0; i < op->npieces; i++)
    if (op->pieces[i].part == part) return &op->pieces[i];
  return NULL;
}

/* The launches of a step on all parts, with the n entries of `work`. */
static void share_work(ambit_program *p, const ambit__operation *op, int64_t n)
{
  ambit__sleep *z = p->sleep;
  int64_t end = 0;

  for (int part = 0; part < p->grid->placement.n; part++) {
    const ambit__piece none = {.part = part, .box = {.ndims = p->grid->box.ndims}};
    const ambit__piece *piece = piece_of(op, part);
    ambit__sleep_part *x = &z->parts[part];

    *x = (ambit__sleep_part){.launch = ambit__sleep_launch(p, op->step, piece ? piece : &none),
                             .first = end,
                             .folds = piece != NULL};
    while (end < n && z->map.part[z->number[end]] == p->grid->first + part)
      end++;
    x->end = end;
  }
}

ambit_status ambit__sleep_step(ambit_program *p, const ambit__operation *op)
{
  const int nparts = p->grid->placement.n;
  ambit__sleep *z = p->sleep;
  ambit__sleeper *s = &z->steps[op->step];
  ambit_status status = AMBIT_OK;
  int64_t n = 0;
  bool same, all;

  AMBIT_TRY(compare_values(p, op->step, &same));
  all = s->restless || !same;
  if (all) ambit__sleep_touch_all(p);
  for (int part = 0; part < nparts; part++)
    n = list_work(p, op->step, part, all, n);
  see_all(z, s);
  share_work(p, op, n);
  for (int part = 0; part < nparts && !status; part++)
    status = launch(p, op->step, part);
  AMBIT_TRY(ambit__sleep_await(p, status));
  for (int part = 0; part < nparts; part++)
    AMBIT_TRY(take_results(p, op->step, part));
  return AMBIT_OK;
}
