/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/cpu/trial.h"

#include "base/log.h"
#include "base/memory.h"
#include "device/cache.h"
#include "device/cpu/target.h"
#include "plan/emit.h"
#include "plan/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ambit__cpu device;
typedef ambit__cpu_function function;
typedef ambit__cpu_trial trial;
typedef ambit__cpu_way way;

enum {
  MOST = 8,      /* ways that are tried, the first one included */
  LAUNCHES = 100 /* before a trial, so that its slower launches are few of all */
};

/* A trial begins when launches have taken SOON seconds; a turn takes at least TURN. */
static const double SOON = 0.3, TURN = 2e-3;

static const ambit__trial_rules rules = {.rounds = 5, .slow = 1.5, .clearly = 0.97};

struct ambit__cpu_trial {
  device *d;
  ambit__group group; /* a copy, with these: */
  ambit__binding bind[AMBIT_MAX_PARAMS];
  enum { TRIAL_WATCHES, TRIAL_COMPILES, TRIAL_TIMES } state;
  int64_t cells;      /* of the launches that count: the largest */
  int64_t launches;   /* TRIAL_WATCHES: of these, so far */
  double seconds;     /* of them; TRIAL_TIMES: of this turn */
  int64_t updated;    /* TRIAL_TIMES: cells of this turn */
  ambit__trial turns; /* of the ways */
  int n;
  struct candidate {
    way way;
    char *source; /* until it is compiled */
    char key[AMBIT__HASH_CHARS];
    ambit__module *module; /* NULL: the function's own, or it could not be compiled */
    ambit_cpu_fn run;      /* NULL: not compiled */
  } ways[MOST];
};

/* ---- ways ---- */

static ambit__target target_of(const device *d)
{
  return ambit__cpu_target(&d->head.machine, ambit__pool_threads(d->pool));
}

/* A compiler beside the first one: clang, if that is gcc, or gcc. NULL: there is none. Unless the
 * user named one. */
static ambit__cc *other_compiler(device *d)
{
  const bool named = d->head.settings->cc && *d->head.settings->cc;
  ambit__errors quiet = {0};

  if (named || !d->cc->available) return NULL;
  d->other_settings = *d->head.settings; /* they may have changed */
  d->other_settings.cc = strstr(d->cc->compiler.version, "lang") ? "gcc" : "clang";
  if (!d->other_cc && ambit__cc_open(&quiet, &d->other_settings, &d->other_cc)) d->other_cc = NULL;
  ambit__errors_clear(&quiet);
  return d->other_cc && d->other_cc->available ? d->other_cc : NULL;
}

static void name_way(const device *d, const ambit__group *g, way *w)
{
  ambit__text line = {0};

  snprintf(w->entry, sizeof w->entry, "ambit_cpu_%s", g->rule->name);
  w->plan.strategy->describe(&w->plan, &line);
  snprintf(w->line, sizeof w->line, "%s%s%s", line.chars ? line.chars : "",
           w->cc == d->cc ? "" : " by ", w->cc == d->cc ? "" : w->cc->compiler.name);
  ambit__text_free(&line);
}

char *ambit__cpu_way_source(const device *d, const ambit__group *given, const way *w)
{
  const ambit__target target = target_of(d);
  ambit__group g = *given;

  g.entry = w->entry;
  return ambit__plan_source(&g, &target, &w->plan);
}

/* ---- memory ---- */

static void hash_group(const ambit__group *g, ambit__hash *h)
{
  char *text = ambit__rule_print(g->rule);

  if (text) ambit__hash_text(h, text);
  free(text);
  ambit__hash_bytes(h, g->cells, (size_t)g->ndims * sizeof *g->cells);
  for (int i = 0; i < g->rule->nparams; i++) {
    const ambit__binding *b = &g->bind[i];
    const int bits[] = {b->is_field, b->contiguous, b->shared, (int)b->dropped, b->carried};

    ambit__hash_bytes(h, bits, sizeof bits);
  }
}

/* The group, the threads, and the compiler with the processor. */
static ambit__hash hash_of(const device *d, const ambit__group *g)
{
  const int numbers[] = {g->ndims, g->strict, ambit__pool_threads(d->pool), g->sweep};
  ambit__hash h = d->cc->compiler.fingerprint;

  ambit__hash_bytes(&h, numbers, sizeof numbers);
  hash_group(g, &h);
  return h;
}

static bool is_tried(const device *d, const ambit__group *g)
{
  return d->head.settings->trial && d->cc->available && g->ndims > 0 && !g->form && !g->checks &&
         !g->for_people && !g->tiles && !(g->preferred && *g->preferred);
}

/* The way that a line describes, or the start of one: "(rows 4", "(cells) by clang". NULL: the one
 * of the estimate. false: no strategy applies, or there is no other compiler. */
static bool find_way(device *d, const ambit__group *given, const char *line, way *w)
{
  const ambit__target target = target_of(d);
  const char *by = line ? strstr(line, ") by ") : NULL;
  char plan[AMBIT__CPU_LINE_CHARS];
  ambit__group g = *given;

  if (line) {
    snprintf(plan, sizeof plan, "%.*s", by ? (int)(by + 1 - line) : (int)strcspn(line, "\n"), line);
    g.preferred = plan;
  }
  *w = (way){.cc = by ? other_compiler(d) : d->cc};
  if (!w->cc || !ambit__plan_choose(&g, &target, &w->plan)) return false;
  name_way(d, given, w);
  return true;
}

/* The way of an earlier trial, if there was one. */
static bool recall(device *d, const ambit__group *g, way *w)
{
  ambit__hash h;
  char *note;
  bool found;

  if (!is_tried(d, g)) return false;
  h = hash_of(d, g);
  note = ambit__note_recall(d->head.settings, "plan", &h);
  /* there may be no such plan any more */
  found = note && find_way(d, g, note, w) && !strcmp(w->line, note);
  free(note);
  return w->settled = found;
}

bool ambit__cpu_way_choose(device *d, const ambit__group *g, way *w)
{
  return recall(d, g, w) || (g->preferred && *g->preferred && find_way(d, g, g->preferred, w)) ||
         find_way(d, g, NULL, w);
}

/* ---- candidates ---- */

static void add_way(trial *t, const ambit__plan *plan, ambit__cc *cc)
{
  way w = {.plan = *plan, .cc = cc};

  if (!cc || t->n == MOST) return;
  name_way(t->d, &t->group, &w);
  for (int i = 0; i < t->n; i++)
    if (!strcmp(t->ways[i].way.line, w.line)) return;
  t->ways[t->n++] = (struct candidate){.way = w};
}

/* The plans of the first compiler; of the other one, the first and the last, which is the plain
 * nest. */
static void list_ways(trial *t)
{
  const ambit__target target = target_of(t->d);
  ambit__plan plans[MOST];
  const int n = ambit__plan_candidates(&t->group, &target, plans, MOST - 2);

  for (int i = 0; i < n; i++)
    add_way(t, &plans[i], t->d->cc);
  if (t->n) add_way(t, &t->ways[0].way.plan, other_compiler(t->d));
  if (n) add_way(t, &plans[n - 1], other_compiler(t->d));
}

void ambit__cpu_plans(ambit__device *dev, const ambit__group *g, ambit__text *lines)
{
  trial t = {.d = (device *)dev, .group = *g};

  list_ways(&t);
  for (int i = 0; i < t.n; i++)
    ambit__print(lines, "%s\n", t.ways[i].way.line);
}

static void compile_ahead(trial *t)
{
  list_ways(t);
  for (int i = 1; i < t->n; i++) {
    struct candidate *c = &t->ways[i];

    c->source = ambit__cpu_way_source(t->d, &t->group, &c->way);
    if (!c->source) continue;
    ambit__cc_key(c->way.cc, c->source, c->key);
    ambit__cc_foresee(c->way.cc, c->source, 1, true);
  }
  t->state = TRIAL_COMPILES;
}

static bool are_compiled(const trial *t)
{
  for (int i = 1; i < t->n; i++)
    if (t->ways[i].source && !ambit__cc_is_ready(t->ways[i].way.cc, t->ways[i].key)) return false;
  return true;
}

/* Loads a candidate; one that does not compile is left out without a word. */
static void load(struct candidate *c)
{
  ambit__cc *cc = c->way.cc;
  ambit__errors *errors = cc->errors, quiet = {0};
  void *address = NULL;

  if (!c->source) return;
  cc->errors = &quiet;
  if (!ambit__cc_try(cc, c->source, c->way.entry, &c->module, &address) && address)
    memcpy(&c->run, &address, sizeof address);
  cc->errors = errors;
  ambit__errors_clear(&quiet);
  free(c->source);
  c->source = NULL;
}

/* ---- timing ---- */

static void take_turn(trial *t, function *f)
{
  t->seconds = 0;
  t->updated = 0;
  f->run = t->ways[t->turns.at].run;
}

static void begin_times(trial *t, function *f)
{
  t->ways[0].run = f->run;
  ambit__trial_begin(&t->turns, t->n);
  for (int i = 1; i < t->n; i++) {
    load(&t->ways[i]);
    t->turns.out[i] = !t->ways[i].run;
  }
  t->state = TRIAL_TIMES;
  take_turn(t, f);
}

/* Goes on with the fastest way, for good. The trial is gone. */
static void end(trial *t, function *f)
{
  struct candidate *c = &t->ways[ambit__trial_fastest(&t->turns, &rules)];
  const ambit__settings *settings = t->d->head.settings;
  const ambit__hash h = hash_of(t->d, &t->group);
  char *plan = strdup(c->way.line);

  for (int i = 0; i < t->n; i++)
    if (t->turns.best[i] > 0)
      ambit__log(settings, 1, "kernel %s: %.4g ns per cell by %s%s", f->rule->name,
                 1e9 * t->turns.best[i], t->ways[i].way.line,
                 &t->ways[i] == c ? ", which goes on" : "");
  if (plan) {
    free(f->head.plan);
    f->head.plan = plan;
  }
  f->run = c->run;
  if (c->module) {
    ambit__module *own = f->module;

    f->module = c->module;
    c->module = own;
  }
  ambit__note_keep(settings, "plan", &h, c->way.line);
  ambit__cpu_trial_close(t);
  f->trial = NULL;
}

static void count_turn(trial *t, function *f, int64_t cells, double seconds)
{
  t->seconds += seconds;
  t->updated += cells;
  if (t->seconds < TURN) return;
  ambit__trial_note(&t->turns, &rules, t->seconds / (double)t->updated, t->seconds);
  if (ambit__trial_ended(&t->turns, &rules))
    end(t, f);
  else
    take_turn(t, f);
}

void ambit__cpu_trial_note(function *f, int64_t cells, double seconds)
{
  trial *t = f->trial;

  if (!t || cells < t->cells) return;
  if (cells > t->cells && t->state == TRIAL_WATCHES) {
    t->cells = cells;
    t->launches = 0;
    t->seconds = 0;
  }
  switch (t->state) {
  case TRIAL_WATCHES:
    t->seconds += seconds;
    if (t->seconds >= SOON && ++t->launches >= LAUNCHES) compile_ahead(t);
    break;
  case TRIAL_COMPILES:
    if (are_compiled(t)) begin_times(t, f);
    break;
  case TRIAL_TIMES: count_turn(t, f, cells, seconds); break;
  }
}

/* ---- open and close ---- */

/* Processes that share the cores of a node would disturb each other's times, and all compile the
 * same. They use the result of an earlier trial. */
void ambit__cpu_trial_open(device *d, const ambit__group *g, const way *w, function *f)
{
  const bool alone = d->head.settings->sharers <= 1;
  trial *t;

  if (w->settled || !alone || !is_tried(d, g) || !(t = calloc(1, sizeof *t))) return;
  t->d = d;
  t->group = *g;
  memcpy(t->bind, g->bind, (size_t)g->rule->nparams * sizeof *t->bind);
  t->group.bind = t->bind;
  t->group.entry = NULL;
  t->ways[t->n++] = (struct candidate){.way = *w};
  f->trial = t;
}

void ambit__cpu_trial_close(trial *t)
{
  if (!t) return;
  for (int i = 0; i < t->n; i++) {
    ambit__module_release(t->ways[i].module);
    free(t->ways[i].source);
  }
  free(t);
}
