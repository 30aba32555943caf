/* generate.c - planning without a device.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "generate.h"

#include "device/cpu/pool.h"
#include "device/cpu/target.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

/* Fields whose cells lie side by side, each parameter its own. */
static void bind(const ambit__rule *rule, ambit__binding *bindings)
{
  for (int i = 0; i < rule->nparams; i++) {
    bool is_field = rule->params[i].kind == PARAM_FIELD;

    bindings[i] = (ambit__binding){.is_field = is_field, .unit = is_field};
  }
}

static ambit_status emit(ambit *a, const ambit__group *g, const ambit__target *target,
                         tool_code *code)
{
  ambit__writer w = {0};
  ambit__text line = {0};
  ambit__plan plan;

  AMBIT_CHECK(ambit__plan_choose(g, target, &plan), &a->errors, AMBIT_EUNSUPPORTED,
              "no strategy of the cpu device can run kernel %s", g->steps[0].rule->name);
  plan.strategy->describe(&plan, &line);
  plan.strategy->emit(g, target, &plan, &w);
  code->plan = ambit__text_finish(&line);
  code->source = ambit__writer_finish(&w);
  AMBIT_CHECK(code->plan && code->source, &a->errors, AMBIT_ENOMEM,
              "no memory for the source of kernel %s", g->steps[0].rule->name);
  return AMBIT_OK;
}

ambit_status tool_generate(ambit *a, const tool_problem *p, const char *entry, tool_code *code)
{
  ambit__binding bindings[AMBIT_MAX_PARAMS];
  ambit__group_step step = {.rule = p->rule, .bind = bindings};
  ambit__group group = {.nsteps = 1, .steps = &step, .depth = 1, .ndims = p->size.ndims};
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];
  ambit__machine machine;
  ambit__target target;
  ambit_status s;

  bind(p->rule, bindings);
  tool_problem_region(p, lo, hi);
  for (int d = 0; d < p->size.ndims; d++)
    group.cells[d] = hi[d] - lo[d];
  group.strict = a->settings.strict;
  group.for_people = entry != NULL;
  group.entry = entry;
  ambit__machine_probe("", &machine);
  *code = (tool_code){.threads = a->settings.threads ? a->settings.threads : machine.cores};
  memcpy(code->machine, machine.name, sizeof code->machine);
  target = ambit__cpu_target(&machine, code->threads);
  s = emit(a, &group, &target, code);
  if (s) tool_code_free(code);
  return s;
}

void tool_code_free(tool_code *code)
{
  free(code->source);
  free(code->plan);
  code->source = code->plan = NULL;
}
