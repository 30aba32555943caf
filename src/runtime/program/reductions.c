/* SPDX-License-Identifier: BSD-3-Clause */
/* reductions.c - reductions of several steps into one scalar.
 *
 * Within an iteration, a reduction into a scalar continues with the result of the previous step
 * that uses the scalar, if that step reduces into it too. Steps that do not use the scalar may lie
 * between. A step that reads or sets the scalar, or calls a program that may, ends the chain: the
 * next reduction starts from the identity, as the first one of every iteration does. The result of
 * the last step of a chain is combined over engines and processes.
 */
#include "runtime/program/faces.h"

static bool is_reduction(const ambit__step *s, int arg)
{
  return s->kernel->rule->params[arg].kind == PARAM_REDUCE;
}

/* Whether the step reads or sets the scalar, apart from reducing into it. A called program reduces
 * on its own, and its callback can do anything. */
static bool uses(const ambit__step *s, const ambit_scalar *scalar)
{
  const ambit_program *called = s->kind == STEP_CALL ? s->call.program : NULL;

  if (called && (s->call.scalar == scalar || ambit__program_sets(called, scalar))) return true;
  for (size_t i = 0; called && i < called->nwritten; i++)
    if (uses(&called->written[i], scalar)) return true;
  if (ambit__step_reads_face(s, scalar)) return true;
  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++)
    if (s->args[i].scalar == scalar && !is_reduction(s, i)) return true;
  return false;
}

/* The parameter with which the step reduces into the scalar; -1: none. */
static int reduction_into(const ambit__step *s, const ambit_scalar *scalar)
{
  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++)
    if (s->args[i].scalar == scalar && is_reduction(s, i)) return i;
  return -1;
}

/* Of the first n steps, the one whose reduction into the scalar a reduction of `s` continues, and
 * its parameter; -1: none, it starts from the identity. */
static int find_earlier(const ambit__step *steps, size_t n, const ambit__step *s,
                        const ambit_scalar *scalar, int *param)
{
  if (uses(s, scalar)) return -1;
  for (size_t i = n; i-- > 0;) {
    *param = reduction_into(&steps[i], scalar);
    if (*param >= 0) return (int)i;
    if (uses(&steps[i], scalar)) return -1;
  }
  return -1;
}

static bool is_same(const ambit__param *a, const ambit__param *b)
{
  return a->reduce == b->reduce &&
         (a->reduce != REDUCE_FOLD || ambit__folder_same(a->folder, b->folder));
}

/* In strict mode a result must not depend on the order of cells, parts and processes. */
static ambit_status check_laws(const ambit_program *p, const ambit__rule *rule,
                               const ambit__param *q)
{
  ambit__text t = {0};
  ambit_status s;

  if (!q->folder || !p->grid->context->settings.strict || ambit__folder_lawful(q->folder, &t))
    return AMBIT_OK;
  s = ambit__step_raise_at(p, rule, q->place,
                           "%s\nin strict mode results must not depend on the order in which cells "
                           "are folded; use a function that is associative and commutative to the "
                           "last bit, or strict=0",
                           t.chars ? t.chars : "");
  ambit__text_free(&t);
  return s;
}

ambit_status ambit__step_check_reductions(const ambit_program *p, const ambit__step *s)
{
  const ambit__rule *rule = s->kernel->rule;

  for (int i = 0; i < s->n; i++) {
    const ambit_scalar *scalar = s->args[i].scalar;
    const ambit__rule *other;
    int earlier, param;

    if (!is_reduction(s, i)) continue;
    AMBIT_TRY(check_laws(p, rule, &rule->params[i]));
    earlier = find_earlier(p->written, p->nwritten, s, scalar, &param);
    if (earlier < 0) continue;
    other = p->written[earlier].kernel->rule;
    AMBIT_CHECK(
        is_same(&other->params[param], &rule->params[i]), ambit__program_errors(p), AMBIT_EPROGRAM,
        "kernel %s reduces into scalar '%s' with %s, but step %d, kernel %s, reduces into it with "
        "%s, and no step between them reads it. Use a second scalar, or the same kind of reduction",
        rule->name, scalar->name, ambit__reduce_name(rule->params[i].reduce), earlier + 1,
        other->name, ambit__reduce_name(other->params[param].reduce));
  }
  return AMBIT_OK;
}

ambit_status ambit__program_check_reductions(const ambit_program *p)
{
  for (size_t k = 0; k < p->nsteps; k++)
    for (int i = 0; p->steps[k].kind == STEP_APPLY && i < p->steps[k].n; i++) {
      const ambit__step *s = &p->steps[k];
      int param, earlier;

      if (!is_reduction(s, i)) continue;
      earlier = find_earlier(p->steps, k, s, s->args[i].scalar, &param);
      AMBIT_CHECK(earlier < 0 || p->steps[earlier].every == s->every, ambit__program_errors(p),
                  AMBIT_EPROGRAM,
                  "steps %d and %zu reduce into scalar '%s' together, so they must run in the same "
                  "iterations; one runs every %lld, the other every %lld",
                  earlier + 1, k + 1, s->args[i].scalar->name, (long long)p->steps[earlier].every,
                  (long long)s->every);
    }
  return AMBIT_OK;
}

void ambit__program_reductions(ambit_program *p)
{
  for (size_t k = 0; k < p->nsteps; k++) {
    const ambit__step *s = &p->steps[k];

    for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++) {
      int earlier, param;

      if (!is_reduction(s, i)) continue;
      p->applies[k].last |= 1u << i;
      earlier = find_earlier(p->steps, k, s, s->args[i].scalar, &param);
      if (earlier < 0) continue;
      p->applies[k].folds |= 1u << i;
      p->applies[earlier].last &= ~(1u << param);
    }
  }
}
