/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c - interned names, unique names for generated code, and suggestions for misspelt names. */
#include "base/spell.h"
#include "kernel/ast.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *text;
  ambit__token_kind kind;
} words[] = {
#define X(word) {#word, TOKEN_word_##word},
    AMBIT_WORD_MAP(X)
#undef X
};

static uint64_t hash_of(const char *text, size_t length)
{
  uint64_t h = 14695981039346656037u; /* FNV-1a */

  for (size_t i = 0; i < length; i++)
    h = (h ^ (unsigned char)text[i]) * 1099511628211u;
  return h ^ h >> 29;
}

static void rehash(ambit__unit *u)
{
  size_t cap = u->names_cap ? 4 * u->names_cap : 256;

  u->names = ambit__unit_new(u, cap, sizeof *u->names);
  u->names_cap = cap;
  for (ambit__name *n = u->newest; n; n = n->older) {
    ambit__name **at = &u->names[hash_of(n->text, n->length) & (cap - 1)];

    n->next = *at;
    *at = n;
  }
}

static ambit__token_kind word_of(const char *text)
{
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i].text, text)) return words[i].kind;
  return TOKEN_NAME;
}

ambit__name *ambit__name_of(ambit__unit *u, const char *text, size_t length)
{
  ambit__name **at, *n;
  char *copy;

  if (u->nnames >= u->names_cap) rehash(u);
  at = &u->names[hash_of(text, length) & (u->names_cap - 1)];
  for (n = *at; n; n = n->next)
    if (n->length == length && !memcmp(n->text, text, length)) return n;
  n = ambit__unit_new(u, 1, sizeof *n);
  copy = ambit__unit_new(u, length + 1, 1);
  memcpy(copy, text, length);
  n->text = copy;
  n->length = length;
  n->word = word_of(copy);
  n->next = *at;
  n->older = u->newest;
  *at = u->newest = n;
  u->nnames++;
  return n;
}

/* ---- names of parameters and locals ---- */

/* Words of the language and names of its functions, which locals can hide in the user's text. */
static bool has_meaning(const ambit__name *n)
{
  return n->word != TOKEN_NAME || ambit__known_call_find(n->text) != NULL;
}

/* Prefixes reserved for compilers and generated code. Other names cannot collide with theirs, as
 * generated code appends "_" and a word to every name from the user's text (codegen/scope.h). */
static bool is_reserved(const char *text)
{
  return text[0] == '_' || !strncmp(text, "ambit", 5) || !strncmp(text, "AMBIT", 5);
}

/* A changed name is truncated first, to stay within AMBIT_MAX_NAME. */
const char *ambit__name_unique(ambit__unit *u, const char *wanted)
{
  char text[AMBIT_MAX_NAME + 64];
  const char *prefix = is_reserved(wanted) ? "x" : "";
  size_t most = strlen(wanted) < AMBIT_MAX_NAME ? AMBIT_MAX_NAME : AMBIT_MAX_NAME - 40;
  ambit__name *base, *n;
  int length;

  length = snprintf(text, sizeof text, "%s%.*s", prefix, (int)most, wanted);
  base = n = ambit__name_of(u, text, (size_t)length);
  if (length > AMBIT_MAX_NAME - 40) length = AMBIT_MAX_NAME - 40;
  while (n->is_taken || has_meaning(n)) {
    snprintf(text + length, sizeof text - (size_t)length, "_%d", ++base->suffix);
    n = ambit__name_of(u, text, strlen(text));
  }
  n->is_taken = true;
  return ambit__rule_text(u, n);
}

void ambit__name_release(ambit__unit *u, const char *unique)
{
  ambit__name_of(u, unique, strlen(unique))->is_taken = false;
}

/* ---- suggestions ---- */

const char *ambit__macro_hint(const char *text)
{
  bool capital = false;

  for (const char *c = text; *c; c++) {
    if (*c >= 'a' && *c <= 'z') return "";
    capital |= *c >= 'A' && *c <= 'Z';
  }
  return capital
             ? "\nkernels see a constant of the program after AMBIT_DEFINE(a, NAME); a macro with "
               "arguments becomes a static function"
             : "";
}

const char *ambit__name_hint(ambit__unit *u, const char *text, bool functions)
{
  ambit__guess guess = ambit__guess_start(text);
  size_t length;
  char *hint;

  if (functions)
    for (int i = 0; ambit__known_call_at(i); i++)
      ambit__guess_offer(&guess, ambit__known_call_at(i)->name);
  else
    for (const ambit__symbol *s = u->symbols; s; s = s->older)
      ambit__guess_offer(&guess, s->name->text);
  if (!guess.best) return "";
  length = strlen(guess.best) + 24;
  hint = ambit__unit_new(u, length, 1);
  snprintf(hint, length, "; did you mean '%s'?", guess.best);
  return hint;
}
