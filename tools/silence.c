/* SPDX-License-Identifier: BSD-3-Clause */
/* silence.c - takes the halo exchange out of a sealed schedule.
 *
 * Operations get copies of their exchanges without messages and without copies between parts. The
 * exchanges themselves stay with the program, which uses them before a run, and frees them.
 */
#include "silence.h"

#include "base/memory.h"
#include "runtime/run/run.h"

#include <stdlib.h>

static void silence_all(const ambit_program *p, ambit__exchange *copies)
{
  for (size_t i = 0; i < p->schedule.n; i++) {
    ambit__operation *op = &p->schedule.ops[i];

    if (!op->exchange) continue;
    copies[i] = *op->exchange;
    copies[i].nchannels = 0;
    copies[i].local[LOCAL_COPIES] = (ambit__move_set){0};
    op->exchange = &copies[i];
  }
}

ambit_status tool_silence_begin(ambit_program *p, tool_silence *s)
{
  ambit *a = p->grid->context;

  *s = (tool_silence){0};
  AMBIT_TRY(ambit__meet(a, "removes the halo exchange from a program"));
  AMBIT_TRY(ambit__program_seal(p));
  s->exchanges = ambit__new(&a->errors, p->schedule.n, sizeof *s->exchanges);
  AMBIT_TRY(ambit__net_agree(a->net));
  silence_all(p, s->exchanges);
  ambit__replay_free(p); /* it recorded the exchanges */
  return ambit__replay_make(p);
}

void tool_silence_end(tool_silence *s)
{
  free(s->exchanges);
  *s = (tool_silence){0};
}
