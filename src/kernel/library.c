/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - functions of the language that are written in it (library/random.h).
 *
 * They stand before the functions of a text that calls one of them. What they compute has the place
 * of the call. A function of the same name in the text itself takes its place.
 */
#include "kernel/ast.h"

#include <string.h>

extern const char ambit__prelude_random[]; /* embedded by the build */

static const char *const names[] = {"random", "uniform", "uniformf", "gauss", "gaussf"};

static bool is_ours(const ambit__name *n)
{
  for (size_t i = 0; n && i < sizeof names / sizeof *names; i++)
    if (!strcmp(n->text, names[i])) return true;
  return false;
}

/* Whether the text calls one of the functions; notes which it declares itself. */
static bool is_needed(ambit__unit *u)
{
  bool needed = false;

  for (size_t i = 0; i + 1 < u->ntokens; i++) {
    const ambit__token *t = &u->tokens[i];

    if (t->kind != TOKEN_NAME || !is_ours(t->name)) continue;
    t->name->is_own |= ambit__is_declared(u, i);
    needed |= u->tokens[i + 1].kind == TOKEN_LPAREN;
  }
  return needed;
}

/* Removes the functions that the text has under the same name. */
static void remove_own(ambit__unit *u)
{
  for (ambit__helper **at = &u->helpers; *at;)
    if ((*at)->name->is_own)
      *at = (*at)->next;
    else
      at = &(*at)->next;
}

void ambit__library(ambit__unit *u)
{
  const ambit__unit user = *u;

  if (!is_needed(u)) return;
  u->tokens = NULL;
  u->ntokens = u->tokens_cap = u->at = 0;
  u->text = ambit__prelude_random;
  u->in_library = true;
  ambit__lex_text(u);
  while (ambit__parse_helper(u))
    ;
  u->in_library = false;
  u->text = user.text;
  u->tokens = user.tokens;
  u->ntokens = user.ntokens;
  u->tokens_cap = user.tokens_cap;
  u->at = user.at;
  u->line = user.line;
  u->line_start = user.line_start;
  remove_own(u);
}

const ambit__helper *ambit__library_single(const ambit__unit *u, const ambit__helper *h)
{
  const size_t length = h->name->length;

  for (const ambit__helper *f = u->helpers; f; f = f->next)
    if (f->is_library && f->name->length == length + 1 && f->name->text[length] == 'f' &&
        !memcmp(f->name->text, h->name->text, length))
      return f;
  return h;
}
