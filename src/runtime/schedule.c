/* schedule.c - the order of an iteration: what runs on which cells, and where messages begin and end.
 *
 * Without overlap an exchange is finished before the step that wants it. Otherwise steps are cut. `standard`: the cells
 * that need no halo run while messages are under way, the others after them:
 *
 *        begin   [ inner of the step ]   finish   [ border of the step ]
 *
 * `extended`: if the step just before writes what is sent, and has nothing to wait for itself, the cells that are
 * sent are computed first, and the rest of that step hides messages too:
 *
 *        [ cells sent ]   begin   [ rest of the step before ]   [ inner ]   finish   [ border ]
 *
 * `two-way`: steps that follow, and only depend on cells that are done, run on their inner cells as well:
 *
 *        begin   [ inner ]   [ inner of the next ]   finish   [ border ]   [ border of the next ]
 *
 * Nothing else differs: with any setting every cell of every step is computed once, from the same values.
 */
#include "runtime/schedule.h"

#include "base/memory.h"
#include "runtime/flow.h"

#include <stdlib.h>
#include <string.h>

#define ERRORS(p) (&(p)->grid->context->errors)

typedef ambit__schedule plan;

/* ---- operations ---- */

static ambit__operation *add(ambit_program *p, ambit__op_kind kind, size_t step)
{
  ambit__operation *ops = ambit__grow(ERRORS(p), p->ops, p->nops, &p->ops_cap, sizeof *ops);

  if (!ops) return NULL;
  p->ops = ops;
  ops += p->nops++;
  *ops = (ambit__operation){.kind = kind, .step = (int)step};
  return ops;
}

static ambit_status add_exchange(plan *s, ambit__op_kind kind, size_t step)
{
  ambit__operation *op = add(s->p, kind, step);

  if (!op) return AMBIT_ENOMEM;
  op->exchange = s->before[step];
  return AMBIT_OK;
}

/* Whether a launch of the step on this engine stands in the list already: reductions then go on from it. */
static bool launched(const ambit_program *p, size_t step, int engine)
{
  for (size_t i = 0; i < p->nops; i++)
    for (int k = 0; p->ops[i].kind == OP_LAUNCH && k < p->ops[i].npieces; k++)
      if (p->ops[i].step == (int)step &&
          p->grid->context->slots[p->ops[i].pieces[k].part] == engine)
        return true;
  return false;
}

static void add_piece(ambit_program *p, ambit__operation *op, int part, const ambit__box *box)
{
  bool more = launched(p, (size_t)op->step, p->grid->context->slots[part]);

  op->pieces[op->npieces++] = (ambit__piece){part, *box, more};
}

/* All cells of the step, on every part; what runs once, once on every engine. A step that reduces runs on every engine, if
 * only on no cells. */
static void add_whole(ambit_program *p, ambit__operation *op)
{
  const ambit__apply *a = &p->applies[op->step];

  for (int i = 0; i < p->grid->context->nslots; i++) {
    ambit__box box = a->region.ndims ? ambit__cells_own(p, (size_t)op->step, i) : a->region;
    bool first = !launched(p, (size_t)op->step, p->grid->context->slots[i]);

    if (a->region.ndims ? !ambit__box_is_empty(&box) || (a->reduces && first) : first)
      add_piece(p, op, i, &box);
  }
}

static ambit_status add_launch(plan *s, size_t step, ambit__cells cells)
{
  ambit_program *p = s->p;
  const int nslots = p->grid->context->nslots;
  ambit__operation *op = add(p, OP_LAUNCH, step);

  if (!op) return AMBIT_ENOMEM;
  op->cells = cells;
  op->pieces = ambit__new(ERRORS(p), (size_t)nslots * 2 * AMBIT_MAX_DIMS, sizeof *op->pieces);
  if (!op->pieces) return AMBIT_ENOMEM;
  if (cells == CELLS_ALL) add_whole(p, op);
  for (int i = 0; cells != CELLS_ALL && i < nslots; i++) {
    const ambit__box own = ambit__cells_own(p, step, i), *inner = ambit__cells_of(s, step, i);
    ambit__box rest[2 * AMBIT_MAX_DIMS];
    int n = 0;

    if (cells == CELLS_INNER && !ambit__box_is_empty(inner)) add_piece(p, op, i, inner);
    if (cells == CELLS_BORDER && !ambit__box_is_empty(&own))
      n = ambit__box_split(&own, inner, rest);
    for (int k = 0; k < n; k++)
      add_piece(p, op, i, &rest[k]);
    if (cells == CELLS_BORDER && !n && p->applies[step].reduces &&
        !launched(p, step, p->grid->context->slots[i]))
      add_piece(p, op, i, &own);
  }
  return AMBIT_OK;
}

/* ---- scalars ---- */

/* Reduced values go to everyone. */
static ambit_status add_share(plan *s, size_t step)
{
  if (!s->p->applies[step].share) return AMBIT_OK;
  s->sharing[step] = true;
  return add(s->p, OP_SHARE, step) ? AMBIT_OK : AMBIT_ENOMEM;
}

static bool shares_scalar(const ambit__step *a, const ambit__step *b)
{
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < b->n; j++)
      if (a->args[i].scalar && a->args[i].scalar == b->args[j].scalar) return true;
  return false;
}

/* What is under way must have come before a step that has to do with it; NULL: before the iteration ends. */
static ambit_status add_shared(plan *s, const ambit__step *user)
{
  for (size_t i = 0; i < s->p->nsteps; i++) {
    if (!s->sharing[i] || (user && !shares_scalar(&s->p->steps[i], user))) continue;
    s->sharing[i] = false;
    if (!add(s->p, OP_SHARED, i)) return AMBIT_ENOMEM;
  }
  return AMBIT_OK;
}

/* ---- two-way ---- */

/* Whether `next` may run on some cells while `step`, before it, has yet to run on others. */
static bool may_follow(const plan *s, size_t step, size_t next)
{
  const ambit__step *a = &s->p->steps[step], *b = &s->p->steps[next];

  if (b->kind != STEP_APPLY || !s->p->applies[next].region.ndims || s->before[next]) return false;
  if (!s->p->applies[next].functions || shares_scalar(a, b)) return false;
  for (int i = 0; i < b->n; i++)
    if (ambit__step_writes(b, b->args[i].field) && b->args[i].field &&
        ambit__step_uses(a, b->args[i].field))
      return false;
  return true;
}

/* How many steps after `step` can be carried along with it. */
static size_t followers(plan *s, size_t step)
{
  size_t n = 0;

  if (s->overlap < OVERLAP_TWO_WAY) return 0;
  for (size_t next = step + 1; next < s->p->nsteps; next++) {
    for (size_t i = step; i < next; i++)
      if (!may_follow(s, i, next)) return n;
    ambit__cells_inner(s, next, s->before[step]);
    for (size_t i = step; i < next; i++)
      ambit__cells_follow(s, i, next);
    n++;
  }
  return n;
}

/* ---- extended ---- */

/* Whether all that is sent before `next` is written by the step before it, which has nothing to wait for. */
static bool feeds(const plan *s, size_t step, size_t next)
{
  const ambit__exchange *x = next < s->p->nsteps ? s->before[next] : NULL;
  const ambit__step *st = &s->p->steps[step];

  if (s->overlap < OVERLAP_EXTENDED || !x || !ambit__exchange_is_far(x)) return false;
  if (st->kind != STEP_APPLY || s->before[step] || !s->p->applies[step].region.ndims) return false;
  for (int i = 0; i < x->nfetches; i++)
    if (!ambit__step_writes(st, s->p->fetches[x->fetches[i]].field)) return false;
  return true;
}

/* ---- borders on a queue of their own ---- */

/* Whether the border cells of a step are best handed to a queue of their own: some device does its work later, and nothing of
 * the step, its sums neither, has to be in order. */
static bool runs_beside(const plan *s, size_t step)
{
  const ambit *a = s->p->grid->context;
  bool later = false;

  for (int i = 0; i < a->nengines; i++)
    later |= a->engines[i].device->backend->event_open != NULL;
  return later && !s->p->applies[step].reduces && !s->p->applies[step].checks;
}

/* Before an exchange begins, fields rotate at most since border cells were computed beside inner ones; and it sends none of the
 * latter: then it need not wait for them. The last operation of an iteration comes before the first of the next. */
static void find_feeders(const plan *s)
{
  const ambit_program *p = s->p;

  for (size_t i = 0; i < p->nops; i++) {
    size_t k = i;

    if (p->ops[i].kind != OP_BEGIN) continue;
    do
      k = (k + p->nops - 1) % p->nops;
    while (p->ops[k].kind == OP_ROTATE);
    if (p->ops[k].kind == OP_LAUNCH && p->ops[k].exchange &&
        !ambit__cells_sends_inner(s, p->ops[i].exchange, (size_t)p->ops[k].step))
      p->ops[i].exchange->feeder = p->ops[k].exchange;
  }
}

/* ---- the list ---- */

static ambit_status add_rotation(plan *s, size_t step)
{
  return add(s->p, OP_ROTATE, step) ? AMBIT_OK : AMBIT_ENOMEM;
}

/* A step whose exchange hides behind it, and behind `n` steps that follow. */
static ambit_status add_overlapped(plan *s, size_t step, size_t n)
{
  for (size_t i = step; i <= step + n; i++)
    AMBIT_TRY(add_shared(s, &s->p->steps[i]));
  if (!s->begun[step]) AMBIT_TRY(add_exchange(s, OP_BEGIN, step));
  AMBIT_TRY(add_exchange(s, OP_EDGES, step));
  for (size_t i = step; i <= step + n; i++)
    AMBIT_TRY(add_launch(s, i, CELLS_INNER));
  AMBIT_TRY(add_exchange(s, OP_FINISH, step));
  for (size_t i = step; i <= step + n; i++) {
    AMBIT_TRY(add_launch(s, i, CELLS_BORDER));
    if (s->before[step]->beside) s->p->ops[s->p->nops - 1].exchange = s->before[step];
    AMBIT_TRY(add_share(s, i));
  }
  return AMBIT_OK;
}

/* A step that computes first what the next one's exchange sends. */
static ambit_status add_feeding(plan *s, size_t step)
{
  AMBIT_TRY(add_shared(s, &s->p->steps[step]));
  ambit__cells_unsent(s, step, s->before[step + 1]);
  AMBIT_TRY(add_launch(s, step, CELLS_BORDER));
  AMBIT_TRY(add_exchange(s, OP_BEGIN, step + 1));
  s->begun[step + 1] = true;
  AMBIT_TRY(add_launch(s, step, CELLS_INNER));
  return add_share(s, step);
}

static ambit_status add_plain(plan *s, size_t step)
{
  AMBIT_TRY(add_shared(s, &s->p->steps[step]));
  if (s->before[step]) {
    AMBIT_TRY(add_exchange(s, OP_BEGIN, step));
    AMBIT_TRY(add_exchange(s, OP_EDGES, step));
    AMBIT_TRY(add_exchange(s, OP_FINISH, step));
  }
  AMBIT_TRY(add_launch(s, step, CELLS_ALL));
  return add_share(s, step);
}

static ambit_status add_steps(plan *s)
{
  for (size_t i = 0; i < s->p->nsteps; i++) {
    if (s->p->steps[i].kind == STEP_ROTATE) {
      AMBIT_TRY(add_rotation(s, i));
    } else if (!s->p->applies[i].functions) {
      continue; /* it has no cells */
    } else if (s->before[i] && s->overlap > OVERLAP_NONE && ambit__exchange_is_far(s->before[i])) {
      size_t n;

      ambit__cells_inner(s, i, s->before[i]);
      n = followers(s, i);
      s->before[i]->beside = n == 0 && runs_beside(s, i);
      AMBIT_TRY(add_overlapped(s, i, n));
      i += n;
    } else if (feeds(s, i, i + 1)) {
      AMBIT_TRY(add_feeding(s, i));
    } else {
      AMBIT_TRY(add_plain(s, i));
    }
  }
  return add_shared(s, NULL);
}

/* ---- exchanges ---- */

static ambit_status make_exchange(ambit_program *p, const int *fetches, int n, ambit__exchange **x)
{
  const int most = p->grid->context->most_slots;
  int64_t tag = (int64_t)p->nexchanges * most * most;

  AMBIT_CHECK(p->grid->context->net->size == 1 || tag + (int64_t)most * most < AMBIT__NET_TAGS,
              ERRORS(p), AMBIT_EUNSUPPORTED,
              "the program exchanges cells at %d places, with up to %d parts in a process: that is "
              "more kinds of messages than MPI can tell apart. Use fewer parts in each process",
              p->nexchanges + 1, most);
  AMBIT_TRY(ambit__exchange_make(p, fetches, n, (int)(tag % AMBIT__NET_TAGS), x));
  p->exchanges[p->nexchanges++] = *x;
  return AMBIT_OK;
}

static ambit_status make_exchanges(plan *s)
{
  ambit_program *p = s->p;
  int *made = ambit__new(ERRORS(p), 2 * ((size_t)p->nfields + 1), sizeof *made);
  int *list = made ? made + p->nfields + 1 : NULL;
  ambit_status status = made ? AMBIT_OK : AMBIT_ENOMEM;

  for (int i = 0; !status && i < p->nfetches; i++)
    status = make_exchange(p, &i, 1, &p->starters[i]);
  if (made) memcpy(made, p->start, (size_t)p->nfields * sizeof *made);
  for (size_t i = 0; !status && i < p->nsteps; i++) {
    int n = ambit__flow_step(p, made, i, list);

    if (n) status = make_exchange(p, list, n, &s->before[i]);
  }
  free(made);
  return status;
}

static ambit_status parse_overlap(ambit_program *p, ambit__overlap *overlap)
{
  static const char *const names[] = {"none", "standard", "extended", "two-way"};
  const char *text = p->grid->context->settings.overlap;

  for (int i = 0; i < 4; i++)
    if (!strcmp(text, names[i])) return *overlap = (ambit__overlap)i, AMBIT_OK;
  return ambit__raise(ERRORS(p), AMBIT_EOPTION,
                      "option overlap is '%s'; it must be none, standard, extended or two-way",
                      text);
}

ambit_status ambit__program_schedule(ambit_program *p)
{
  const size_t nslots = (size_t)p->grid->context->nslots;
  plan s = {.p = p};
  ambit_status status = parse_overlap(p, &s.overlap);

  if (status) return status;
  s.before = ambit__new(ERRORS(p), p->nsteps, sizeof(ambit__exchange *));
  s.begun = ambit__new(ERRORS(p), p->nsteps, sizeof *s.begun);
  s.sharing = ambit__new(ERRORS(p), p->nsteps, sizeof *s.sharing);
  s.inner = ambit__new(ERRORS(p), p->nsteps * nslots, sizeof *s.inner);
  p->starters = ambit__new(ERRORS(p), (size_t)p->nfetches + 1, sizeof(ambit__exchange *));
  p->exchanges = ambit__new(ERRORS(p), p->nsteps + (size_t)p->nfetches, sizeof(ambit__exchange *));
  if (!s.before || !s.begun || !s.sharing || !s.inner || !p->starters || !p->exchanges)
    status = AMBIT_ENOMEM;
  if (!status) status = make_exchanges(&s);
  if (!status) status = add_steps(&s);
  if (!status) find_feeders(&s);
  free(s.before);
  free(s.begun);
  free(s.sharing);
  free(s.inner);
  return status;
}

void ambit__program_unschedule(ambit_program *p)
{
  for (size_t i = 0; i < p->nops; i++)
    free(p->ops[i].pieces);
  for (int i = 0; i < p->nexchanges; i++)
    ambit__exchange_free(p->exchanges[i]);
  free(p->exchanges);
  free(p->starters);
  p->exchanges = p->starters = NULL;
  p->nexchanges = 0;
  p->nops = 0;
}
