/* SPDX-License-Identifier: BSD-3-Clause */
/* map.c - which programs can have sleeping tiles; their maps, functions and memory. */
#include "runtime/sleep/sleep.h"

#include <string.h>

enum {
  MOST_PERIOD = 12,  /* of rotations */
  FIRST_TRIAL = 64,  /* iterations before the first trial */
  CYCLE_TRIAL = 256, /* the same if several iterations run at once, */
  SPARSE_TRIAL = 512 /* and on sparse grids, where tables take as long as 25 to 45 iterations */
};

/* On GPUs an iteration with sleeping tiles waits for the host twice, and needs a compiler once: */
static const double GPU_CELLS = 4e6; /* of a grid: fewer are computed sooner than chosen */
static const double GPU_WORK = 1e12; /* updates of cells before the first trial: seconds */

static const double MOST_EMPTY = 64; /* cells of the box per active one */

/* ---- whether tiles can sleep ---- */

/* Whether a step is launched on cells. */
static bool has_cells(const ambit_program *p, size_t step)
{
  return p->steps[step].kind == STEP_APPLY && p->applies[step].functions &&
         p->applies[step].region.ndims;
}

static bool can_run(const ambit_program *p, size_t step)
{
  const ambit__apply *a = &p->applies[step];
  const ambit *context = p->grid->context;

  for (int e = 0; e < context->nengines; e++)
    if (!ambit__can(context->engines[e].device->backend, tiles) || !a->functions[e]->tiles)
      return false;
  return !a->checks;
}

/* Whether devices of this process have their own memory. */
static bool is_remote(const ambit *a)
{
  for (int e = 0; e < a->nengines; e++)
    if (!a->engines[e].device->backend->address) return true;
  return false;
}

/* A sparse grid has tiles where it has chunks, on cores, and if they are not many more than its
 * cells, since a tile takes memory even if it has no active cell. */
static bool can_tile(const ambit_grid *g)
{
  const double cells = (double)ambit__box_volume(&g->box);

  if (!g->active) return true;
  return g->active->storage != STORAGE_LIST && !is_remote(g->context) &&
         cells <= MOST_EMPTY * (double)g->active->cells;
}

/* Sets the cycles of fields whose buffers trade places, and the period after which all are back.
 * `held` is scratch: two numbers per field. */
static void find_cycles(const ambit_program *p, int *held, int *cycle, int *period)
{
  int *origin = held + p->nfields; /* by field: where its values come from */

  for (int f = 0; f < p->nfields; f++) {
    origin[f] = f;
    cycle[f] = -1;
  }
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_ROTATE) ambit__step_rotate(p, &p->steps[i], origin);
  *period = 1;
  for (int f = 0; f < p->nfields; f++) {
    int n = 0, before;

    for (int k = f; cycle[k] < 0; k = origin[k], n++)
      cycle[k] = f;
    for (before = *period; n && *period % n;)
      *period += before; /* the least common multiple */
  }
}

static bool can_sleep(const ambit_program *p, const ambit__sleep *z)
{
  bool some = false;

  for (int f = 0; f < p->nfields; f++)
    if (p->fields[f]->base) return false; /* a view: others write its buffers */
  for (size_t i = 0; i < p->nsteps; i++) {
    if (p->steps[i].kind != STEP_APPLY && p->steps[i].kind != STEP_ROTATE) return false;
    if (p->steps[i].every > 1 || p->steps[i].chore) return false;
    if (ambit__step_has_profiles(&p->steps[i])) return false;
    if (ambit__step_is_in_place(p, &p->steps[i])) return false;
    if (!has_cells(p, i)) continue;
    if (!can_run(p, i)) return false;
    some = true;
  }
  return some && can_tile(p->grid) && z->period <= MOST_PERIOD &&
         strcmp(p->grid->context->settings.sleep, "off");
}

/* The first trial, and the kind of tiles. */
static void plan_trials(const ambit_program *p, ambit__sleep *z, bool remote)
{
  const double work = remote ? GPU_WORK / (double)ambit__box_volume(&p->grid->box) : 0;

  z->worker = !remote ? TILE_CORE : z->relaxes ? TILE_BLOCK_RELAXES : TILE_BLOCK;
  z->pause = p->grid->active ? SPARSE_TRIAL : p->cycle ? CYCLE_TRIAL : FIRST_TRIAL;
  if (work > (double)z->pause) z->pause = (int64_t)work;
  z->trial = p->iteration + z->pause;
}

ambit_status ambit__sleep_plan(ambit_program *p)
{
  ambit__errors *errors = ambit__program_errors(p);
  const bool always = !strcmp(p->grid->context->settings.sleep, "on");
  const double cells = (double)ambit__box_volume(&p->grid->box);
  ambit__sleep *z = ambit__arena_new(errors, &p->memory, 1, sizeof *z);
  int *held = ambit__arena_new(errors, &p->memory, 3 * (size_t)p->nfields, sizeof *held);
  bool can[3] = {false}; /* sleep; relax; without GPUs */

  p->sleep = z;
  if (z && held) {
    z->cycle = held + 2 * p->nfields;
    find_cycles(p, held, z->cycle, &z->period);
    can[0] = can_sleep(p, z) && !p->grid->context->dry;
    can[1] = can[0] && !p->grid->active && ambit__relax_plan(p, z);
    can[2] = !is_remote(p->grid->context);
    z->always = always;
  }
  AMBIT_TRY(ambit__net_all(p->grid->context->net, can, 3));
  if (z) z->relaxes = can[1];
  can[0] &= can[1] || always || can[2] || cells >= GPU_CELLS;
  if (z && can[0])
    plan_trials(p, z, !can[2]);
  else
    ambit__sleep_free(p);
  p->gate = can[0] && p->grid->context->net->size > 1 ? &ambit__sleep_gate : NULL;
  return AMBIT_OK;
}

/* ---- inputs and outputs of a step ---- */

static void add_input(const ambit_program *p, ambit__sleeper *s, const ambit_field *f, bool around)
{
  const int field = ambit__program_field(p, f);

  for (int i = 0; i < s->nin; i++)
    if (s->in[i].field == field) {
      s->in[i].around |= around;
      return;
    }
  s->in[s->nin++] = (ambit__sleep_input){.field = field, .around = around};
}

/* The field that holds, when a step runs again, the values that it stored in a field. */
static int follow(const ambit_program *p, size_t step, int field, int *held)
{
  for (int f = 0; f < p->nfields; f++)
    held[f] = f;
  for (size_t i = 1; i < p->nsteps; i++) {
    const ambit__step *s = &p->steps[(step + i) % p->nsteps];

    if (s->kind == STEP_ROTATE) ambit__step_rotate(p, s, held);
  }
  for (int f = 0; f < p->nfields; f++)
    if (held[f] == field) return f;
  return field;
}

static void add_output(const ambit_program *p, size_t step, int arg, int *held)
{
  ambit__sleeper *s = &p->sleep->steps[step];
  const int field = ambit__program_field(p, p->steps[step].args[arg].field);

  for (int i = 0; i < s->nout; i++)
    if (s->out[i].field == field) return;
  s->params[s->nout] = arg;
  s->out[s->nout++] =
      (ambit__sleep_output){.field = field, .arg = arg, .before = follow(p, step, field, held)};
}

/* Cells that a step does not set, or sets depending on their old value, are inputs too. */
static void list_fields(const ambit_program *p, size_t step, int *held)
{
  const ambit__step *st = &p->steps[step];
  ambit__sleeper *s = &p->sleep->steps[step];

  for (int i = 0; i < st->n; i++) {
    const ambit__param *q = &st->kernel->rule->params[i];

    if (!st->args[i].field) continue;
    if (q->nreads) add_input(p, s, st->args[i].field, q->reads_neighbours);
    if (!q->is_written) continue;
    add_output(p, step, i, held);
    if (!ambit__step_overwrites(p, st, &p->applies[step].region, i))
      add_input(p, s, st->args[i].field, false);
  }
  for (int i = 0; i < s->nout * s->nout; i++)
    s->loses |= s->out[i / s->nout].before == s->out[i % s->nout].field;
  s->restless = st->kernel->rule->uses_step;
}

void ambit__program_results(const ambit_program *p, int *result)
{
  for (int f = 0; f < p->nfields; f++)
    result[f] = 0;
  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit__step *s = &p->steps[i];

    if (s->kind == STEP_ROTATE) ambit__step_rotate(p, s, result);
    for (int f = 0; f < p->nfields; f++)
      result[f] |= ambit__step_writes(s, p->fields[f]);
  }
}

/* Whether another step overwrites the results of a step before it runs again. */
static bool is_overwritten(const ambit_program *p, size_t step, int field, int *held)
{
  for (int f = 0; f < p->nfields; f++)
    held[f] = f;
  for (size_t i = 1; i < p->nsteps; i++) {
    const ambit__step *s = &p->steps[(step + i) % p->nsteps];

    if (s->kind == STEP_ROTATE) ambit__step_rotate(p, s, held);
    for (int f = 0; f < p->nfields; f++)
      if (held[f] == field && ambit__step_writes(s, p->fields[f])) return true;
  }
  return false;
}

/* Whether the results of all steps are there when they run again, and can be compared. */
static bool is_exact(const ambit_program *p, int *held)
{
  for (size_t i = 0; i < p->nsteps; i++)
    for (int f = 0; f < p->nfields; f++)
      if (ambit__step_writes(&p->steps[i], p->fields[f]) && is_overwritten(p, i, f, held))
        return false;
  return true;
}

/* ---- memory ---- */

static ambit_status build_for(ambit_program *p, size_t step, ambit__tile_use use,
                              ambit__function ***functions)
{
  const ambit *a = p->grid->context;
  ambit__box box = {.ndims = p->grid->box.ndims};

  ambit__tile_size(box.ndims, p->sleep->worker, box.hi);
  AMBIT_HOLD(p, *functions, (size_t)a->nengines);
  for (int e = 0; e < a->nengines; e++)
    AMBIT_TRY(ambit__step_build(p, step, e, &box, use, &(*functions)[e]));
  return AMBIT_OK;
}

static ambit_status build_functions(ambit_program *p, size_t step)
{
  ambit__sleeper *s = &p->sleep->steps[step];
  const ambit *a = p->grid->context;

  AMBIT_TRY(build_for(p, step, TILES_COMPARE, &s->functions));
  if (p->sleep->relaxes) AMBIT_TRY(build_for(p, step, TILES_RELAX, &s->relaxers));
  for (int e = 0; e < a->nengines; e++) {
    const int words = s->functions[e]->words;

    if (words > s->words) s->words = words;
  }
  return AMBIT_OK;
}

static ambit_status make_step(ambit_program *p, size_t step, int *held)
{
  ambit__sleeper *s = &p->sleep->steps[step];
  const int64_t n = p->sleep->map.n;
  const size_t zones = (size_t)(n * p->sleep->map.nzones);
  const size_t nargs = (size_t)p->steps[step].n;

  AMBIT_HOLD(p, s->in, nargs);
  AMBIT_HOLD(p, s->out, nargs);
  AMBIT_HOLD(p, s->params, nargs);
  AMBIT_HOLD(p, s->than, nargs * (size_t)(p->grid->placement.n + 1));
  AMBIT_HOLD(p, s->values, nargs * sizeof(double));
  list_fields(p, step, held);
  for (int i = 0; i < s->nin; i++)
    AMBIT_HOLD(p, s->in[i].seen, zones);
  for (int i = 0; i < s->nout; i++)
    AMBIT_HOLD(p, s->out[i].last, zones);
  if (s->nout > p->sleep->most_out) p->sleep->most_out = s->nout;
  AMBIT_TRY(build_functions(p, step));
  if (s->words) AMBIT_HOLD(p, s->partials, (size_t)(n * s->words));
  return AMBIT_OK;
}

/* How far any step reads, in either direction, and along which axes reads wrap. */
static void find_reach(const ambit_program *p, int64_t *reach, bool *wraps)
{
  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; has_cells(p, i) && k < p->steps[i].n; k++) {
      const ambit__param *q = &p->steps[i].kernel->rule->params[k];
      const ambit_field *f = p->steps[i].args[k].field;

      for (int d = 0; f && d < p->grid->box.ndims; d++) {
        const int far = q->low[d] > q->high[d] ? q->low[d] : q->high[d];

        if (far > reach[d]) reach[d] = far;
        if (far && f->boundaries.kind[d][0] == AMBIT_PERIODIC) wraps[d] = true;
      }
    }
}

static ambit_status make_map(ambit_program *p)
{
  int64_t size[AMBIT_MAX_DIMS], reach[AMBIT_MAX_DIMS] = {0};
  bool wraps[AMBIT_MAX_DIMS] = {false};
  const ambit_grid *g = p->grid;
  const ambit__tile_spec spec = {.grid = &g->box,
                                 .parts = g->parts,
                                 .nparts = g->nparts,
                                 .mine = g->mine,
                                 .size = size,
                                 .reach = reach,
                                 .wraps = wraps};

  ambit__tile_size(g->box.ndims, p->sleep->worker, size);
  find_reach(p, reach, wraps);
  return ambit__tile_map_make(ambit__program_errors(p), &spec, &p->sleep->map);
}

static ambit_status make_lists(ambit_program *p)
{
  ambit__sleep *z = p->sleep;
  const size_t n = (size_t)z->map.n + 1, nfields = (size_t)p->nfields + 1;

  z->next = 1;
  AMBIT_HOLD(p, z->slot, nfields);
  AMBIT_HOLD(p, z->buffers, nfields);
  AMBIT_HOLD(p, z->changes, nfields);
  AMBIT_HOLD(p, z->until, n);
  AMBIT_HOLD(p, z->list, n);
  AMBIT_HOLD(p, z->listed, n);
  AMBIT_HOLD(p, z->far, n);
  AMBIT_HOLD(p, z->parts, (size_t)p->grid->placement.n + 1);
  AMBIT_HOLD(p, z->work, n);
  AMBIT_HOLD(p, z->number, n);
  AMBIT_HOLD(p, z->repeats, n);
  AMBIT_HOLD(p, z->ids, (size_t)(z->map.n * p->nfields * z->map.nzones));
  AMBIT_HOLD(p, z->ends, n * nfields);
  AMBIT_HOLD(p, z->result, nfields);
  ambit__program_results(p, z->result);
  z->exact = is_exact(p, z->slot);
  for (int64_t t = 0; t < z->map.n; t++)
    if (!p->grid->mine[z->map.part[t]] && z->map.feeds.first[t] < z->map.feeds.first[t + 1])
      z->far[z->nfar++] = (int32_t)t;
  return AMBIT_OK;
}

/* The cells of a step on a sparse grid, in the order of tiles. */
static ambit_status make_tables(ambit_program *p, size_t step)
{
  ambit__errors *errors = ambit__program_errors(p);
  const ambit_grid *g = p->grid;
  const ambit__apply *a = &p->applies[step];
  ambit__sleeper *s = &p->sleep->steps[step];

  if (!a->chunks) return AMBIT_OK;
  AMBIT_HOLD(p, s->chunks, (size_t)g->placement.n);
  AMBIT_HOLD(p, s->filled, (size_t)g->placement.n);
  for (int i = 0; i < g->placement.n; i++) {
    const ambit__tiling *tiles = &p->sleep->map.parts[g->first + i];
    const ambit__box region = ambit__box_intersect(&tiles->own, &a->region);

    AMBIT_TRY(
        ambit__chunks_make(errors, &g->local[i], &a->form, &region, tiles, NULL, &s->chunks[i]));
    for (int64_t k = 0; k < tiles->n; k++)
      s->filled[i] += s->chunks[i].starts[k] < s->chunks[i].starts[k + 1];
  }
  return AMBIT_OK;
}

/* `held` is scratch. */
static ambit_status make(ambit_program *p, int *held)
{
  ambit__sleep *z = p->sleep;

  AMBIT_TRY(make_map(p));
  AMBIT_TRY(make_lists(p));
  AMBIT_HOLD(p, z->steps, p->nsteps);
  for (size_t i = 0; i < p->nsteps; i++)
    if (has_cells(p, i)) {
      AMBIT_TRY(make_step(p, i, held));
      AMBIT_TRY(make_tables(p, i));
    }
  AMBIT_TRY(ambit__sleep_make_notes(p));
  AMBIT_HOLD(p, z->changed, (size_t)(z->map.n + 1) * (size_t)(z->most_out + 1));
  return AMBIT_OK;
}

ambit_status ambit__sleep_make(ambit_program *p)
{
  int *held;

  if (p->sleep->steps) return AMBIT_OK;
  AMBIT_HOLD(p, held, (size_t)p->nfields);
  return make(p, held);
}

void ambit__sleep_free(ambit_program *p)
{
  ambit__sleep *z = p->sleep;

  if (!z) return;
  for (size_t i = 0; z->steps && i < p->nsteps; i++)
    for (int k = 0; z->steps[i].chunks && k < p->grid->placement.n; k++)
      ambit__chunks_free(&z->steps[i].chunks[k]);
  ambit__tile_map_free(&z->map);
  p->sleep = NULL;
  p->gate = NULL;
}
