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

/* Whether some step reads the field. */
static bool is_read(const ambit_program *p, const ambit_field *f)
{
  for (size_t i = 0; i < p->nwritten; i++)
    if (ambit__step_reads(&p->written[i], f)) return true;
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

      if (!to->news || from->given || (from->started && is_read(p, from))) continue;
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
      bool reads = q->nreads > 0 || q->kind == PARAM_VALUE;

      for (size_t j = 0; reads && j < p->nwritten; j++)
        for (int m = 0; p->written[j].kind == STEP_APPLY && m < p->written[j].n; m++) {
          const ambit__param *w = &p->written[j].kernel->rule->params[m];
          const ambit_arg *x = &p->written[j].args[m], *y = &s->args[k];

          if ((w->is_written || w->kind == PARAM_REDUCE) &&
              ((x->field && x->field == y->field) || (x->scalar && x->scalar == y->scalar)))
            return true;
        }
    }
  }
  return false;
}
