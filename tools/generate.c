/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.c - planning without a device.
 */
#include "generate.h"

#include "device/cpu/pool.h"
#include "device/cpu/target.h"
#include "runtime/run/run.h"

#include <stdlib.h>
#include <string.h>

void tool_group_make(ambit *a, const tool_problem *p, const char *entry, tool_group *g)
{
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];

  *g =
      (tool_group){.group = {.rule = p->rule, .bind = g->bind, .depth = 1, .ndims = p->size.ndims}};
  for (int i = 0; i < p->rule->nparams; i++)
    g->bind[i].is_field = g->bind[i].contiguous = p->rule->params[i].kind == PARAM_FIELD;
  if (!ambit__rule_simplify(&a->errors, p->rule, &g->simplified) && g->simplified)
    g->group.rule = g->simplified;
  tool_problem_region(p, lo, hi);
  for (int d = 0; d < p->size.ndims; d++)
    g->group.cells[d] =
        hi[d] > lo[d] ? hi[d] - lo[d] : 1; /* boundaries other than fixed leave cells to update */
  g->group.strict = a->settings.strict;
  g->group.preferred = a->settings.plan;
  g->group.for_people = entry != NULL;
  g->group.entry = entry;
}

void tool_group_free(tool_group *g)
{
  ambit__rule_free(g->simplified);
}

ambit_status tool_emit(ambit *a, const ambit__group *g, const ambit__target *target,
                       tool_code *code)
{
  ambit__text line = {0};

  AMBIT_CHECK(ambit__plan_choose(g, target, &code->choice), &a->errors, AMBIT_EUNSUPPORTED,
              "no strategy for %s supports kernel %s", target->kind == TARGET_C ? "C" : "GPUs",
              g->rule->name);
  code->choice.strategy->describe(&code->choice, &line);
  code->plan = ambit__text_finish(&line);
  code->source = ambit__plan_source(g, target, &code->choice);
  if (code->plan && code->source) return AMBIT_OK;
  tool_code_free(code);
  return ambit__raise(&a->errors, AMBIT_ENOMEM, "out of memory for the source of kernel %s",
                      g->rule->name);
}

ambit_status tool_generate(ambit *a, const tool_problem *p, const char *entry, tool_code *code)
{
  ambit__machine machine;
  ambit__target target;
  tool_group g;
  ambit_status s;

  tool_group_make(a, p, entry, &g);
  ambit__machine_probe("", &machine);
  if (a->settings.threads) machine.cores = a->settings.threads;
  ambit__machine_complete(&machine);
  *code = (tool_code){.threads = machine.cores};
  memcpy(code->machine, machine.name, sizeof code->machine);
  target = ambit__cpu_target(&machine, code->threads);
  s = tool_emit(a, &g.group, &target, code);
  tool_group_free(&g);
  return s;
}

void tool_code_free(tool_code *code)
{
  free(code->source);
  free(code->plan);
  code->source = code->plan = NULL;
}
