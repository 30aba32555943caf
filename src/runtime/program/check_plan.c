/* SPDX-License-Identifier: BSD-3-Clause */
/* check_plan.c - the option plan: a program in which no plan begins like it is refused.
 *
 * Where some steps have such a plan and others do not, the others run as they would without the
 * option. Devices that have no choice, as ref, do not count.
 */
#include "base/text.h"
#include "runtime/program/cycle.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 24 };

static bool has_choice(const ambit_program *p)
{
  for (int e = 0; e < p->grid->context->nengines; e++)
    if (ambit__can(p->grid->context->engines[e].device->backend, plans)) return true;
  return false;
}

/* ---- the plans that run ---- */

static bool cycle_is_wanted(const ambit_program *p)
{
  const ambit__cycle *c = p->cycle;
  char line[AMBIT__PLAN_CHARS];

  for (int e = 0; c && c->fused && e < p->grid->context->nengines; e++)
    if (c->fused->functions[e] &&
        ambit__plan_begins(c->fused->functions[e]->plan, ambit__program_plan(p)))
      return true;
  if (!c || !c->wavefront) return false;
  ambit__cycle_print(p, line);
  return ambit__plan_begins(line, ambit__program_plan(p));
}

static bool some_is_wanted(const ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++)
    for (int e = 0; p->applies[i].functions && e < p->grid->context->nengines; e++)
      if (ambit__plan_begins(p->applies[i].functions[e]->plan, ambit__program_plan(p))) return true;
  return cycle_is_wanted(p);
}

/* ---- the plans that there are ---- */

/* Appends the lines that are not among `seen` yet. */
static void add_lines(const char *lines, ambit__text *seen)
{
  for (const char *end; lines && (end = strchr(lines, '\n')); lines = end + 1) {
    char line[160];
    const size_t n = (size_t)(end - lines) + 1;

    if (n >= sizeof line) continue;
    memcpy(line, lines, n);
    line[n] = '\0';
    if (!seen->chars || !strstr(seen->chars, line)) ambit__print(seen, "%s", line);
  }
}

static void add_steps(const ambit_program *p, ambit__text *seen)
{
  for (size_t i = 0; i < p->nsteps; i++)
    for (int e = 0; p->applies[i].functions && e < p->grid->context->nengines; e++) {
      ambit__text lines = {0};

      ambit__print(&lines, "%s\n", p->applies[i].functions[e]->plan);
      ambit__step_plans(p, i, e, &lines);
      add_lines(lines.chars, seen);
      ambit__text_free(&lines);
    }
}

static void add_fused(const ambit_program *p, int depth, ambit__text *seen)
{
  ambit__device *dev = ambit__engine_of(p->grid, 0)->device;
  ambit__fused f = {0};
  ambit__text lines = {0};

  if (!ambit__fuse_group(p, depth, &f) && ambit__can(dev->backend, plans)) {
    ambit__ask(dev, plans, &f.group, &lines);
    add_lines(lines.chars, seen);
  }
  ambit__text_free(&lines);
  ambit__fuse_plan_free(&f.plan);
}

/* Separated by commas instead of line ends. */
static char *list(const ambit_program *p)
{
  ambit__text seen = {0}, t = {0};
  const char *line, *end;
  int n = 0;

  add_steps(p, &seen);
  if (ambit__fuse_can(p)) {
    const int depth = p->grid->context->settings.depth;

    add_fused(p, depth ? depth : 4, &seen);
    if (!depth) add_fused(p, AMBIT__FUSE_TURNS, &seen);
  }
  if (!ambit__cycle_refuse_steps(p) && !ambit__wavefront_refusal(p))
    ambit__print(&seen, "(wavefront depth N rows N tile N strip N) with numbers that the grid "
                        "allows ('(wavefront' chooses them)\n"); /* also by a compiler */
  for (line = seen.chars; line && (end = strchr(line, '\n')); line = end + 1, n++)
    if (n < MOST_LISTED) ambit__print(&t, "%s%.*s", n ? ", " : "", (int)(end - line), line);
  if (n > MOST_LISTED) ambit__print(&t, " and %d more", n - MOST_LISTED);
  ambit__text_free(&seen);
  return ambit__text_finish(&t);
}

ambit_status ambit__program_check_plan(ambit_program *p)
{
  bool lacks;
  char *plans;

  if (!*ambit__program_plan(p)) return AMBIT_OK;
  lacks = has_choice(p) && !some_is_wanted(p);
  AMBIT_TRY(ambit__net_all(p->grid->context->net, &lacks, 1));
  if (!lacks) return AMBIT_OK;
  plans = list(p);
  ambit__raise(ambit__program_errors(p), AMBIT_EOPTION,
               "option plan is '%s', but no plan of the program begins like that: there are %s",
               ambit__program_plan(p), plans ? plans : "others");
  free(plans);
  return AMBIT_EOPTION;
}
