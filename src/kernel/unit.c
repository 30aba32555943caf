/* SPDX-License-Identifier: BSD-3-Clause */
/* unit.c - one run of the front end, from text to rule.
 *
 * The stages run in order, each only if those before found no mistake: later messages would mostly
 * be consequences. The rule has its own arena; everything else is in the arena of the unit.
 */
#include "kernel/ast.h"

#include <stdlib.h>
#include <string.h>

enum {
  ARENA_LIMIT = 1 << 29
}; /* bytes; far above the needs of AMBIT_MAX_TEXT and AMBIT_MAX_UNROLLED */

_Noreturn void ambit__unit_stop(ambit__unit *u)
{
  longjmp(u->stop, 1);
}

static void *take(ambit__unit *u, ambit__arena *arena, size_t n, size_t size)
{
  size_t bytes;
  void *p = ambit__mul_size(n, size, &bytes) ? ambit__arena_alloc(arena, bytes ? bytes : 1) : NULL;

  if (p) return p;
  u->no_memory = true;
  ambit__unit_stop(u);
}

void *ambit__unit_new(ambit__unit *u, size_t n, size_t size)
{
  return take(u, &u->arena, n, size);
}

void *ambit__rule_new(ambit__unit *u, size_t n, size_t size)
{
  return take(u, &u->rule->arena, n, size);
}

const char *ambit__rule_text(ambit__unit *u, const ambit__name *n)
{
  return memcpy(ambit__rule_new(u, n->length + 1, 1), n->text, n->length);
}

void *ambit__unit_grow(ambit__unit *u, ambit__arena *arena, void *array, size_t count, size_t *cap,
                       size_t size)
{
  size_t bigger = *cap ? 2 * *cap : 16;
  void *p;

  if (count < *cap) return array;
  p = take(u, arena, bigger, size);
  if (count) memcpy(p, array, count * size);
  *cap = bigger;
  return p;
}

void ambit__unit_told(ambit__unit *u)
{
  if (u->diag.count >= AMBIT_DIAG_MOST) ambit__unit_stop(u);
}

static void note_locals(ambit__unit *u)
{
  ambit__rule_note_locals(u->rule);
}

typedef void stage(ambit__unit *u);

/* Runs stages, up to NULL, until one reports a mistake. ambit__unit_stop jumps here. */
static void run(ambit__unit *u, stage *const *stages)
{
  if (setjmp(u->stop)) return;
  for (size_t i = 0; stages[i] && !u->diag.count; i++)
    stages[i](u);
}

static ambit_status outcome(ambit__unit *u, ambit__errors *errors)
{
  ambit_status s = AMBIT_OK;
  char *story;

  if (u->diag.out.len) u->diag.out.chars[--u->diag.out.len] = '\0'; /* drops the last newline */
  story = ambit__text_finish(&u->diag.out);
  if (u->no_memory || !story)
    s = ambit__raise(errors, AMBIT_ENOMEM, "out of memory while compiling the kernel in %s",
                     u->diag.file);
  else if (u->diag.count)
    s = ambit__raise(errors, AMBIT_EKERNEL, "%s", story);
  free(story);
  return s;
}

/* A unit with an empty rule that has copies of its file name and text. */
static ambit_status unit_create(ambit__errors *errors, const char *file, const char *text,
                                ambit__unit **out)
{
  ambit__unit *u = ambit__new(errors, 1, sizeof *u);
  ambit__rule *rule = u ? ambit__new(errors, 1, sizeof *rule) : NULL;

  *out = u;
  if (!rule) {
    free(u);
    return AMBIT_ENOMEM;
  }
  u->rule = rule;
  u->arena.limit = rule->arena.limit = ARENA_LIMIT;
  rule->file = ambit__arena_strndup(&rule->arena, file, strlen(file));
  rule->text = ambit__arena_strndup(&rule->arena, text, strlen(text));
  rule->max_axis = -1;
  u->no_memory = !rule->file || !rule->text;
  u->text = rule->text;
  u->diag = (ambit__diag){.file = rule->file ? rule->file : "a file", .text = rule->text};
  return AMBIT_OK;
}

/* Makes the rule, and frees the unit. computed: reductions for which the text must be read again,
 * if there are any; then there is no rule. */
static ambit_status finish(ambit__unit *u, stage *const *stages, ambit__errors *errors,
                           unsigned *computed, ambit__rule **out)
{
  ambit_status s;

  if (!u->no_memory) run(u, stages);
  *computed = u->no_memory ? 0 : u->computed;
  if (*computed) ambit__text_free(&u->diag.out); /* mistakes that may be none */
  s = *computed ? AMBIT_EKERNEL : outcome(u, errors);
  *out = s ? NULL : u->rule;
  if (s) ambit__rule_free(u->rule);
  ambit__arena_free(&u->arena);
  free(u);
  return s;
}

/* Keeps what a copy of the rule needs. */
static void keep_reading(ambit__unit *u, const ambit__reading *how)
{
  const size_t n = (size_t)how->ndefines;
  ambit__rule *rule = u->rule;
  ambit__define *defines = ambit__arena_alloc(&rule->arena, (n + 1) * sizeof *defines);

  rule->has_real = how->real != NULL;
  if (how->real) rule->real = *how->real;
  u->no_memory = u->no_memory || !defines;
  for (size_t i = 0; i < n && !u->no_memory; i++) {
    defines[i] = how->defines[i];
    defines[i].name =
        ambit__arena_strndup(&rule->arena, how->defines[i].name, strlen(how->defines[i].name));
    u->no_memory = !defines[i].name;
  }
  rule->defines = defines;
  rule->ndefines = how->ndefines;
}

static ambit_status read_once(ambit__errors *errors, const ambit__reading *how, unsigned binned,
                              unsigned *computed, ambit__rule **out)
{
  static stage *const stages[] = {ambit__lex,    ambit__library,   ambit__parse, ambit__check,
                                  ambit__unroll, ambit__footprint, note_locals,  NULL};
  const char *file = how->file ? how->file : "kernel", *text = how->text;
  ambit__unit *u;

  *out = NULL;
  *computed = 0;
  AMBIT_CHECK(text, errors, AMBIT_EINVAL, "%s: the kernel text is NULL", file);
  AMBIT_CHECK(strlen(text) <= AMBIT_MAX_TEXT, errors, AMBIT_EKERNEL,
              "%s: the kernel text is longer than %d bytes", file, AMBIT_MAX_TEXT);
  AMBIT_TRY(unit_create(errors, file, text, &u));
  keep_reading(u, how);
  u->real = how->real;
  u->wanted = how->name;
  u->axes = how->axes;
  u->onto = how->onto;
  u->binned = binned;
  return finish(u, stages, errors, computed, out);
}

ambit_status ambit__rule_read(ambit__errors *errors, const ambit__reading *how, ambit__rule **out)
{
  unsigned binned = 0, computed = 0;
  ambit_status s;

  do {
    s = read_once(errors, how, binned, &computed, out);
    binned |= computed;
  } while (s && computed);
  return s;
}

/* Places are those of the rules: they mean something if all are of one file. */
ambit_status ambit__rule_join(ambit__errors *errors, int n, const ambit__rule *const *rules,
                              const int (*param)[AMBIT_MAX_PARAMS], ambit__rule **out)
{
  static stage *const stages[] = {ambit__join, ambit__footprint, note_locals, NULL};
  const ambit__joining joining = {n, rules, param};
  const char *file = rules[0]->file, *text = rules[0]->text;
  unsigned computed;
  ambit__unit *u;

  *out = NULL;
  for (int k = 1; k < n; k++)
    if (strcmp(rules[k]->file, file) != 0 || strcmp(rules[k]->text, text) != 0)
      file = "joined", text = "";
  AMBIT_TRY(unit_create(errors, file, text, &u));
  u->joining = &joining;
  return finish(u, stages, errors, &computed, out);
}

ambit_status ambit__rule_parse(ambit__errors *errors, const char *file, const char *text,
                               ambit__rule **out)
{
  return ambit__rule_read(errors, &(ambit__reading){.file = file, .text = text, .axes = -1}, out);
}

void ambit__rule_free(ambit__rule *rule)
{
  if (!rule) return;
  ambit__arena_free(&rule->arena);
  free(rule);
}
