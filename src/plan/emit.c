/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/emit.h"

#include "codegen/flat.h"
#include "nest/checked.h"

/* Embedded by the build: the declarations that generated code shares with ambit.h. */
extern const char ambit__prelude_sizes[], ambit__prelude_call[];
extern const char ambit__prelude_angles[], ambit__prelude_math[], ambit__prelude_math_wide[],
    ambit__prelude_full_call[], ambit__prelude_faults[], ambit__prelude_checked[];
#ifdef AMBIT_ACCESS_CHECKS
extern const char ambit__prelude_limits[], ambit__prelude_access[];
#endif
extern const char ambit__prelude_lanes[], ambit__prelude_look_up[];
extern const char ambit__prelude_sums[], ambit__prelude_sums_c[];

const char *ambit__entry_name(const ambit__group *g)
{
  return g->entry ? g->entry : AMBIT_ENTRY;
}

static void emit_head(const ambit__group *g, const ambit__plan *p, bool calls_own, ambit__writer *w)
{
  ambit__print(&w->text, "/* Kernel %s, written by Ambit. Plan ", g->rule->name);
  p->strategy->describe(p, &w->text);
  ambit__print(&w->text, ". */\n");
  if (g->for_people)
    ambit__print(&w->text, "#include <ambit_compiled.h>\n\n");
  else
    ambit__print(&w->text, "#include <stdint.h>\n\n%s\n%s\n\n", ambit__prelude_sizes,
                 ambit__prelude_call);
  if (g->form) ambit__print(&w->text, "#define AMBIT_SHORT_ROWS 1\n");
  ambit__dialect_print(&ambit__dialect_c, &w->text);
  if (!g->strict && calls_own)
    ambit__print(&w->text, "\n%s\n%s\n%s", ambit__prelude_angles, ambit__prelude_math,
                 ambit__prelude_math_wide);
  if (ambit__group_sums_exactly(g))
    ambit__print(&w->text, "\n%s\n%s", ambit__prelude_sums, ambit__prelude_sums_c);
  ambit__emit_tables(&ambit__dialect_c, &w->text, g->rule, NULL, 0);
  ambit__emit_folders(&ambit__dialect_c, w, g->rule, g->strict);
  ambit__print(&w->text, "\n");
}

static void emit_function(ambit__nest *n, const ambit__plan *p, ambit__writer *w)
{
  const ambit__group *g = n->group;

  emit_head(g, p, n->calls_own || ambit__rule_calls_own(g->rule, g->ndims - 1), w);
  if (n->is_narrow) ambit__print(&w->text, "%s\n", ambit__prelude_lanes);
  if (n->nlooks) ambit__print(&w->text, "%s\n", ambit__prelude_look_up);
  if (g->form && !g->checks) ambit__print(&w->text, "%s\n", ambit__prelude_full_call);
  if (n->prelude.chars) ambit__print(&w->text, "%s\n", n->prelude.chars);
  ambit__line(w, "void %s(const ambit_compiled_call *call)", ambit__entry_name(g));
  ambit__line(w, "{");
  w->depth++;
  ambit__nest_print(n, w);
  ambit__close(w);
}

/* Every access and every result is checked, in the plain nests of any strategy. */
static void add_checks(ambit__nest *n)
{
  ambit__text *t = &n->prelude;

  ambit__nest_check(n);
  if (!n->dialect->kernel) ambit__print(t, "%s", ambit__prelude_full_call);
  ambit__print(t, "%s\n%s\n", ambit__prelude_faults, ambit__prelude_checked);
#ifdef AMBIT_ACCESS_CHECKS
  if (n->group->checks & AMBIT__CHECK_ACCESS)
    ambit__print(t, "%s\n%s\n", ambit__prelude_limits, ambit__prelude_access);
#endif
}

void ambit__emit(ambit__nest *n, const ambit__plan *p, ambit__writer *w)
{
  if (n->group->checks) add_checks(n);
  (n->dialect->kernel ? ambit__emit_kernel : emit_function)(n, p, w);
  w->text.failed |= n->prelude.failed;
}

char *ambit__plan_source(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  ambit__writer w = {0};
  ambit__nest n;

  ambit__nest_begin(&n, g, t->kind == TARGET_C ? &ambit__dialect_c : t->dialect);
  p->strategy->emit(&n, t, p, &w);
  ambit__nest_free(&n);
  return ambit__writer_finish(&w);
}
