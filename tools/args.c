/* SPDX-License-Identifier: BSD-3-Clause */
/* args.c - parses options in the usual forms: --size 64x64, --size=64x64, -o out.c; -- ends them.
 * For an unknown option, suggests the closest name.
 */
#include "args.h"

#include "base/spell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int tool_wrong(const tool_args *a, const char *fmt, ...)
{
  va_list ap;

  fprintf(tool_notes, "ambit %s: ", a->command);
  va_start(ap, fmt);
  vfprintf(tool_notes, fmt, ap);
  va_end(ap);
  fprintf(tool_notes, "\n`ambit %s --help` shows the usage\n", a->command);
  return TOOL_USAGE;
}

static int unknown(const tool_args *a, const char *word)
{
  ambit__guess guess = ambit__guess_start(word + strspn(word, "-"));

  for (const tool_option *o = a->options; o->name; o++)
    ambit__guess_offer(&guess, o->name);
  if (guess.best)
    tool_wrong(a, "unknown option %s; did you mean --%s?", word, guess.best);
  else
    tool_wrong(a, "unknown option %s", word);
  return TOOL_WRONG;
}

/* The option named by a word; *value is the text after its "=", or NULL. */
static const tool_option *find(const tool_args *a, const char *word, const char **value)
{
  const char *name = word + 2;
  size_t length = strcspn(name, "=");

  *value = NULL;
  for (const tool_option *o = a->options; o->name; o++) {
    if (o->letter && word[1] == o->letter) {
      if (word[2]) *value = word + 2;
      return o;
    }
    if (word[1] == '-' && strlen(o->name) == length && !strncmp(o->name, name, length)) {
      if (name[length]) *value = name + length + 1;
      return o;
    }
  }
  return NULL;
}

static int take_option(tool_args *a, const char *word, const char **value)
{
  const tool_option *o = find(a, word, value);

  if (!o) return unknown(a, word);
  snprintf(a->option, sizeof a->option, "%.*s", (int)strcspn(word, "="), word);
  if (!o->value && *value) {
    tool_wrong(a, "--%s takes no value, but '%s' was given", o->name, *value);
    return TOOL_WRONG;
  }
  if (!o->value || *value || o->value[0] == '[') return o->id;
  if (a->at == a->argc) {
    tool_wrong(a, "%s needs a value: --%s %s", a->option, o->name, o->value);
    return TOOL_WRONG;
  }
  *value = a->argv[a->at++];
  return o->id;
}

int tool_next(tool_args *a, const char **value)
{
  const char *word;

  *value = NULL;
  if (a->at == a->argc) return TOOL_END;
  word = a->argv[a->at++];
  if (!a->plain && !strcmp(word, "--")) {
    a->plain = true;
    return tool_next(a, value);
  }
  if (a->plain || word[0] != '-' || !word[1]) {
    *value = word;
    return TOOL_WORD;
  }
  if (!strcmp(word, "--help") || !strcmp(word, "-h")) return TOOL_HELP;
  return take_option(a, word, value);
}

/* ---- help ---- */

/* "  -o, --output FILE    description", further lines below the first. */
static void print_option(const tool_option *o)
{
  char head[64];
  const char *about = o->about;

  snprintf(head, sizeof head, "%s%c%s--%s%s%s", o->letter ? "-" : "", o->letter ? o->letter : ' ',
           o->letter ? ", " : "   ", o->name, o->value && o->value[0] != '[' ? " " : "",
           o->value ? o->value : "");
  printf("  %-24s ", head);
  for (size_t n; *about; about += n) {
    n = strcspn(about, "\n");
    printf("%.*s\n", (int)n, about);
    n += about[n] == '\n';
    if (about[n]) printf("%27s", "");
  }
}

int tool_help(const tool_command *c)
{
  printf("usage: ambit %s %s\n\n%s\n", c->name, c->words, c->summary);
  if (c->options->name) printf("\noptions:\n");
  for (const tool_option *o = c->options; o->name; o++)
    print_option(o);
  printf("\n%s", c->notes);
  return TOOL_OK;
}
