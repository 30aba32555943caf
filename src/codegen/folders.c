/* SPDX-License-Identifier: BSD-3-Clause */
/* folders.c - the functions of reductions in generated code. */
#include "codegen/scope.h"

/* It reads no memory and knows no place, so the scope has no functions for them. */
static ambit__scope scope_of(const ambit__dialect *d, const ambit__rule *rule, bool strict)
{
  return (ambit__scope){
      .rule = rule, .dialect = d, .step = "0", .flat = d == &ambit__dialect_c, .relaxed = !strict};
}

static void emit_folder(const ambit__dialect *d, ambit__writer *w, const ambit__rule *rule,
                        const ambit__param *q, bool strict)
{
  const ambit__folder *f = q->folder;
  const ambit__rule body = {.file = rule->file, .locals = (ambit__local *)f->locals};
  const ambit__scope s = scope_of(d, &body, strict);
  const char *type = d->types[f->type];

  ambit__print(&w->text, "\n");
  ambit__open(w, "AMBIT_INLINE %s %s_fold(%s %s_, %s %s_)", type, q->name, type, f->locals[0].name,
              type, f->locals[1].name);
  ambit__emit_stmts(&s, w, f->body);
  ambit__line_begin(w);
  ambit__print(&w->text, "return ");
  ambit__emit_expr(&s, &w->text, f->value);
  ambit__line_end(w, ";");
  ambit__close(w);
}

void ambit__emit_folders(const ambit__dialect *d, ambit__writer *w, const ambit__rule *rule,
                         bool strict)
{
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].folder) emit_folder(d, w, rule, &rule->params[i], strict);
}
