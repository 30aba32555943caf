/* SPDX-License-Identifier: BSD-3-Clause */
/* relax.c - programs that the user has promised to relax (ambit_program_relax).
 *
 * In ambit_run_until_still, an iteration of such a program exchanges halos and then brings each
 * part to rest by itself. It goes at least as far as an ordinary iteration, so it takes no more of
 * them. The first of a run computes all cells; the next ones begin with those that read halos and
 * ghost cells, since the others are at rest.
 */
#include "runtime/sleep/sleep.h"

static bool can_relax(const ambit *a)
{
  for (int e = 0; e < a->nengines; e++)
    if (!ambit__can(a->engines[e].device->backend, relax)) return false;
  return true;
}

static bool is_alone(const ambit_program *p, const ambit__step *s)
{
  const ambit__rule *r = s->kernel->rule;
  int written = 0;

  for (int i = 0; i < r->nparams; i++) {
    if (r->params[i].kind == PARAM_REDUCE) return false;
    written += r->params[i].is_written;
  }
  return written == 1 && !r->uses_step && ambit__box_equal(&p->applies[0].region, &p->grid->box);
}

bool ambit__relax_plan(const ambit_program *p, ambit__sleep *z)
{
  const ambit__step *s = p->steps, *swap = p->steps + 1;
  const ambit__param *params;

  if (!p->relaxes || p->nsteps != 2 || !can_relax(p->grid->context)) return false;
  if (s->kind != STEP_APPLY || swap->kind != STEP_ROTATE || swap->n != 2) return false;
  if (!is_alone(p, s)) return false;
  params = s->kernel->rule->params;
  for (int i = 0; i < 2; i++) {
    z->in = ambit__step_argument(s, swap->args[i].field);
    z->out = ambit__step_argument(s, swap->args[!i].field);
    if (z->in < 0 || z->out < 0 || !params[z->out].is_written) continue;
    return params[z->in].components == 1 && !params[z->out].nreads &&
           ambit__step_overwrites(p, s, &p->applies[0].region, z->out);
  }
  return false;
}

bool ambit__relax_is_on(const ambit_program *p)
{
  return p->sleep && p->sleep->relaxes && p->awaits_rest;
}

void ambit__relax_begin(ambit_program *p)
{
  ambit__sleep *z = p->sleep;

  if (!z->checked) z->rests = false;
  z->checked = z->walking = true;
  z->valid = z->moved = false;
  p->gated = false;
}

static ambit_status relax_part(ambit_program *p, const ambit__piece *piece)
{
  ambit__sleep *z = p->sleep;
  const int engine = p->grid->placement.engine[piece->part];
  ambit__queue *q = p->grid->context->engines[engine].queue;
  ambit__sleep_part *x = &z->parts[piece->part];

  x->launch = ambit__sleep_launch(p, 0, piece);
  x->relaxation = (ambit__relaxation){.in = z->in,
                                      .out = z->out,
                                      .map = &z->map,
                                      .part = p->grid->first + piece->part,
                                      .border = z->rests};
  return ambit__do(q, relax, z->steps[0].relaxers[engine], &x->launch, &x->relaxation);
}

ambit_status ambit__relax_step(ambit_program *p, const ambit__operation *op)
{
  ambit__sleep *z = p->sleep;
  ambit_status s = AMBIT_OK;

  for (int i = 0; i < op->npieces && !s; i++)
    s = relax_part(p, &op->pieces[i]);
  AMBIT_TRY(ambit__sleep_await(p, s));
  z->rests = true;
  for (int i = 0; i < op->npieces; i++) {
    const ambit__relaxation *r = &z->parts[op->pieces[i].part].relaxation;

    z->moved |= r->changed;
    z->updates += r->updates;
    z->rests &= r->rests;
  }
  return AMBIT_OK;
}

ambit_status ambit__relax_updates(ambit_program *p, double *updates, double *iterations)
{
  const ambit__sleep *z = p->sleep;

  *updates = z ? z->updates : 0;
  *iterations = z ? (double)z->relaxed : 0;
  return ambit__net_sum(p->grid->context->net, updates, 1);
}
