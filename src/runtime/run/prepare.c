/* SPDX-License-Identifier: BSD-3-Clause */
/* prepare.c - checks and copies before the first iteration of a run. */
#include "runtime/run/run.h"

/* Whether some step sets every cell of the field regardless of its old value. */
static bool overwritten(const ambit_program *p, const ambit_field *f)
{
  for (size_t i = 0; i < p->nwritten; i++) {
    const ambit__step *s = &p->written[i];
    ambit__box region;

    if (s->kind != STEP_APPLY) continue;
    region = ambit__step_region(p, s);
    for (int k = 0; k < s->n; k++)
      if (s->args[k].field == f && ambit__step_overwrites(p, s, &region, k)) return true;
  }
  return false;
}

/* A field without values from the user that is rotated into a field with such values starts as a
 * copy of it (see ambit_swap in ambit.h). If the user sets that field again, it is copied again,
 * unless the program stores its own values in the copy by now. */
ambit_status ambit__program_copy_initial(ambit_program *p)
{
  for (size_t i = 0; i < p->nwritten; i++)
    for (int k = 0; p->written[i].kind == STEP_ROTATE && k < p->written[i].n; k++) {
      ambit_field *to = p->written[i].args[k].field;
      ambit_field *from = p->written[i].args[(k + 1) % p->written[i].n].field;

      if (!to->news || from->given) continue;
      if (from->started && ambit__program_effects(p, from) & EFFECT_READS) continue;
      if (overwritten(p, from)) continue;
      AMBIT_TRY(ambit__field_copy(from, to));
      from->changes++;
      ambit__fields_alike(from, to);
    }
  for (size_t i = 0; i < p->nwritten; i++)
    for (int k = 0; k < p->written[i].n; k++) {
      ambit_field *f = p->written[i].args[k].field;

      if (!f) continue;
      f->news = false;
      f->started = true;
    }
  return AMBIT_OK;
}

bool ambit__program_feeds_back(const ambit_program *p)
{
  for (size_t i = 0; i < p->nwritten; i++) {
    const ambit__step *s = &p->written[i];

    if (s->kind != STEP_APPLY || s->kernel->rule->uses_step) return true;
    for (int k = 0; k < s->n; k++) {
      const ambit__param *q = &s->kernel->rule->params[k];
      const ambit_arg *x = &s->args[k];

      if (q->nreads == 0 && q->kind != PARAM_VALUE) continue;
      if (ambit__program_effects(p, x->field) & EFFECT_WRITES) return true;
      if (x->scalar && ambit__program_sets(p, x->scalar)) return true;
    }
  }
  return false;
}
