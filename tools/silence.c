/* SPDX-License-Identifier: BSD-3-Clause */
/* silence.c - takes the halo exchange out of a sealed schedule.
 *
 * Operations get copies of their exchanges that have neither messages nor moves between parts. The exchanges themselves stay with the
 * program, which frees them, and which still uses them before a run.
 */
#include "silence.h"

#include "base/memory.h"
#include "runtime/run/run.h"

#include <stdlib.h>
#include <string.h>

static void silence_one(ambit__exchange *copy, ambit__local_moves *local)
{
  const int n = ambit__exchange_context(copy)->nengines;

  memcpy(local, copy->local, (size_t)(n * LOCAL_PHASES) * sizeof *local);
  for (int e = 0; e < n; e++)
    local[e * LOCAL_PHASES + LOCAL_COPIES] = (ambit__local_moves){0};
  copy->local = local;
  copy->nchannels = 0;
}

static void silence_all(const ambit_program *p, const tool_silence *s)
{
  const int n = p->grid->context->nengines * LOCAL_PHASES;

  for (size_t i = 0; i < p->schedule.n; i++) {
    ambit__operation *op = &p->schedule.ops[i];

    if (!op->exchange) continue;
    s->exchanges[i] = *op->exchange;
    silence_one(&s->exchanges[i], s->local + (size_t)n * i);
    op->exchange = &s->exchanges[i];
  }
}

ambit_status tool_silence_begin(ambit_program *p, tool_silence *s)
{
  ambit *a = p->grid->context;
  size_t n;

  *s = (tool_silence){0};
  AMBIT_TRY(ambit__meet(a, "it takes the exchange out of a program"));
  AMBIT_TRY(ambit__program_seal(p));
  n = p->schedule.n;
  s->exchanges = ambit__new(&a->errors, n, sizeof *s->exchanges);
  s->local = ambit__new(&a->errors, n * (size_t)a->nengines * LOCAL_PHASES, sizeof *s->local);
  AMBIT_TRY(ambit__net_agree(a->net));
  silence_all(p, s);
  ambit__replay_free(p); /* it recorded the exchanges */
  return ambit__replay_make(p);
}

void tool_silence_end(tool_silence *s)
{
  free(s->exchanges);
  free(s->local);
  *s = (tool_silence){0};
}
