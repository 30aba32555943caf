/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c - interned names, unique names for locals, and suggestions for misspelt names. */
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

/* Names that generated code cannot use for variables in one of its languages: keywords, types, and
 * macros predefined by compilers. */
static const char *const spoken_for[] = {
    "bool",      "true",       "false",      "NULL",         "asm",         "typeof",
    "class",     "new",        "delete",     "this",         "template",    "operator",
    "private",   "public",     "protected",  "friend",       "virtual",     "namespace",
    "using",     "throw",      "try",        "catch",        "explicit",    "export",
    "mutable",   "typename",   "typeid",     "const_cast",   "and",         "or",
    "not",       "xor",        "bitand",     "bitor",        "compl",       "and_eq",
    "or_eq",     "xor_eq",     "not_eq",     "alignas",      "alignof",     "constexpr",
    "decltype",  "noexcept",   "nullptr",    "thread_local", "wchar_t",     "static_assert",
    "kernel",    "global",     "local",      "constant",     "half",        "uchar",
    "ushort",    "uint",       "ulong",      "size_t",       "ptrdiff_t",   "intptr_t",
    "uintptr_t", "int8_t",     "int16_t",    "int32_t",      "int64_t",     "uint8_t",
    "uint16_t",  "uint32_t",   "uint64_t",   "linux",        "unix",        "I",
    "errno",     "assert",     "main",       "event_t",      "image2d_t",   "sampler_t",
    "read_only", "write_only", "read_write", "pipe",         "uniform",     "threadIdx",
    "blockIdx",  "blockDim",   "gridDim",    "warpSize",     "static_cast", "generic",
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

/* ---- names of locals ---- */

static bool is_spoken_for(const ambit__name *n)
{
  for (size_t i = 0; i < sizeof spoken_for / sizeof *spoken_for; i++)
    if (!strcmp(spoken_for[i], n->text)) return true;
  return n->word != TOKEN_NAME || ambit__known_call_find(n->text) != NULL;
}

/* Prefixes reserved for compilers and generated code. */
static bool starts_badly(const char *text)
{
  return text[0] == '_' || !strncmp(text, "ambit_", 6) || !strncmp(text, "AMBIT_", 6);
}

/* A changed name is truncated first, to stay within AMBIT_MAX_NAME. */
const char *ambit__name_unique(ambit__unit *u, const char *wanted)
{
  char text[AMBIT_MAX_NAME + 64], *copy;
  const char *prefix = starts_badly(wanted) ? "x" : "";
  size_t most = strlen(wanted) < AMBIT_MAX_NAME ? AMBIT_MAX_NAME : AMBIT_MAX_NAME - 40;
  ambit__name *base, *n;
  int length;

  length = snprintf(text, sizeof text, "%s%.*s", prefix, (int)most, wanted);
  base = n = ambit__name_of(u, text, (size_t)length);
  if (length > AMBIT_MAX_NAME - 40) length = AMBIT_MAX_NAME - 40;
  while (n->is_taken || is_spoken_for(n)) {
    snprintf(text + length, sizeof text - (size_t)length, "_%d", ++base->suffix);
    n = ambit__name_of(u, text, strlen(text));
  }
  n->is_taken = true;
  copy = ambit__rule_new(u, n->length + 1, 1);
  return memcpy(copy, n->text, n->length);
}

/* ---- suggestions ---- */

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
