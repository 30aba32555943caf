/* SPDX-License-Identifier: BSD-3-Clause */
/* host_step.c - calls a function of the user on a part of the grid, as a step. All queued work is
 * complete before, so that it sees the values of earlier steps; what it writes is in place, or in
 * the queue, after it. */
#include "runtime/run/run.h"

static ambit_status open_fields(const ambit__step *s, const ambit__piece *piece, ambit_part *part,
                                void **staged)
{
  for (part->nfields = 0; part->nfields < s->n; part->nfields++) {
    const int i = part->nfields;

    AMBIT_TRY(ambit__cells_open(s->args[i].field, piece->part, &piece->box, s->chore->modes[i],
                                &part->fields[i], &staged[i]));
  }
  return AMBIT_OK;
}

ambit_status ambit__host_step(ambit_program *p, size_t step, const ambit__piece *piece,
                              int64_t iteration)
{
  const ambit__step *s = &p->steps[step];
  void *staged[AMBIT_MAX_PARAMS] = {0};
  ambit_part part;
  ambit_status status;
  int answer = 0;

  AMBIT_TRY(ambit__engines_wait(p->grid->context));
  ambit__part_describe(p->grid, piece->part, &piece->box, &part);
  part.step = iteration;
  status = open_fields(s, piece, &part, staged);
  if (!status) answer = s->chore->fn(&part, s->chore->user);
  for (int i = 0; i < s->n; i++) {
    const ambit_status one =
        ambit__cells_close(s->args[i].field, piece->part, &piece->box,
                           status || answer ? 0 : s->chore->modes[i], staged[i]);

    if (!status) status = one;
  }
  AMBIT_TRY(status);
  AMBIT_CHECK(!answer, ambit__program_errors(p), AMBIT_EPROGRAM,
              "the function of step %zu returned %d in iteration %lld", step + 1, answer,
              (long long)iteration);
  return AMBIT_OK;
}
