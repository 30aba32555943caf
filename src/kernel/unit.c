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

/* Runs the stages until one reports a mistake. ambit__unit_stop jumps here. */
static void run(ambit__unit *u)
{
  static void (*const stages[])(ambit__unit *) = {ambit__lex,   ambit__library, ambit__parse,
                                                  ambit__check, ambit__unroll,  ambit__footprint,
                                                  note_locals};

  if (setjmp(u->stop)) return;
  for (size_t i = 0; i < sizeof stages / sizeof *stages && !u->diag.count; i++)
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

/* An empty rule with copies of its file name and text. */
static ambit_status rule_create(ambit__errors *errors, const char *file, const char *text,
                                ambit__rule **out)
{
  ambit__rule *rule = ambit__new(errors, 1, sizeof *rule);

  if (!rule) return AMBIT_ENOMEM;
  rule->arena.limit = ARENA_LIMIT;
  rule->file = ambit__arena_strndup(&rule->arena, file, strlen(file));
  rule->text = ambit__arena_strndup(&rule->arena, text, strlen(text));
  rule->max_axis = -1;
  *out = rule;
  if (rule->file && rule->text) return AMBIT_OK;
  ambit__rule_free(rule);
  return ambit__raise(errors, AMBIT_ENOMEM, "out of memory for the kernel in %s", file);
}

/* Keeps what a copy of the rule needs. */
static ambit_status keep_reading(ambit__errors *errors, const ambit__reading *how,
                                 ambit__rule *rule)
{
  const size_t n = (size_t)how->ndefines;
  ambit__define *defines = ambit__arena_alloc(&rule->arena, (n + 1) * sizeof *defines);
  bool enough = defines != NULL;

  rule->has_real = how->real != NULL;
  if (how->real) rule->real = *how->real;
  for (size_t i = 0; enough && i < n; i++) {
    defines[i] = how->defines[i];
    defines[i].name =
        ambit__arena_strndup(&rule->arena, how->defines[i].name, strlen(how->defines[i].name));
    enough = defines[i].name != NULL;
  }
  AMBIT_CHECK(enough, errors, AMBIT_ENOMEM, "out of memory for the kernel in %s", rule->file);
  rule->defines = defines;
  rule->ndefines = how->ndefines;
  return AMBIT_OK;
}

ambit_status ambit__rule_read(ambit__errors *errors, const ambit__reading *how, ambit__rule **out)
{
  const char *file = how->file ? how->file : "kernel", *text = how->text;
  ambit__unit *u;
  ambit__rule *rule = NULL;
  ambit_status s;

  *out = NULL;
  AMBIT_CHECK(text, errors, AMBIT_EINVAL, "%s: the kernel text is NULL", file);
  AMBIT_CHECK(strlen(text) <= AMBIT_MAX_TEXT, errors, AMBIT_EKERNEL,
              "%s: the kernel text is longer than %d bytes", file, AMBIT_MAX_TEXT);
  AMBIT_TRY(rule_create(errors, file, text, &rule));
  u = keep_reading(errors, how, rule) ? NULL : ambit__new(errors, 1, sizeof *u);
  if (!u) {
    ambit__rule_free(rule);
    return AMBIT_ENOMEM;
  }
  u->rule = rule;
  u->text = rule->text;
  u->real = how->real;
  u->wanted = how->name;
  u->axes = how->axes;
  u->onto = how->onto;
  u->arena.limit = ARENA_LIMIT;
  u->diag = (ambit__diag){.file = rule->file, .text = rule->text};
  run(u);
  s = outcome(u, errors);
  ambit__arena_free(&u->arena);
  free(u);
  if (s)
    ambit__rule_free(rule);
  else
    *out = rule;
  return s;
}

ambit_status ambit__rule_parse(ambit__errors *errors, const char *file, const char *text,
                               ambit__rule **out)
{
  return ambit__rule_read(errors, &(ambit__reading){.file = file, .text = text, .axes = -1}, out);
}

ambit_status ambit__rule_parse_real(ambit__errors *errors, const char *file, const char *text,
                                    ambit_type real, ambit__rule **out)
{
  *out = NULL;
  AMBIT_CHECK(ambit__type_is_real(real), errors, AMBIT_EINVAL,
              "the type `real` cannot be %s; it can be AMBIT_F32, AMBIT_F64, AMBIT_F16 or "
              "AMBIT_BF16",
              ambit_type_name(real));
  return ambit__rule_read(
      errors, &(ambit__reading){.file = file, .text = text, .real = &real, .axes = -1}, out);
}

void ambit__rule_free(ambit__rule *rule)
{
  if (!rule) return;
  ambit__arena_free(&rule->arena);
  free(rule);
}
