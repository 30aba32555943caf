/* SPDX-License-Identifier: BSD-3-Clause */
/* live.c - whether the value that a nest leaves in a variable is used after it.
 *
 * The usual analysis, backwards through the statements of a function: a use makes a variable live,
 * an assignment ends that. A loop is gone through until nothing changes. Where the order of
 * statements is not known (goto, and a nest in a switch), and where the address of the variable is
 * taken, the value counts as used.
 */
#include "nest.h"

#include <string.h>

typedef struct search {
  const symbol *sym;
  const node *nest;
  bool at_break, at_continue; /* live where these lead to */
  bool is_found;              /* live after the nest */
} search;

static bool is_name(const node *e, const symbol *s)
{
  return e && e->kind == N_NAME && e->sym == s;
}

static bool before(search *s, const node *n, bool live);

/* A list is gone through from its end. */
static bool before_list(search *s, const node *first, bool live)
{
  return first ? before(s, first, before_list(s, first->next, live)) : live;
}

static bool before_loop(search *s, const node *n, bool live)
{
  const search outer = *s;
  bool head = false, last;

  s->at_break = live;
  do {
    const bool is_do = n->kind == S_DO;

    last = head;
    if (is_do) {
      s->at_continue = before(s, n->a, live || head);
      head = before(s, n->d, s->at_continue);
    } else {
      s->at_continue = n->kind == S_FOR ? before(s, n->c, head) : head;
      head = before(s, n->d, s->at_continue);
      head = n->kind == S_FOR ? before(s, n->b, head || (n->b && live))
                              : before(s, n->a, head || live);
    }
  } while (head != last);
  s->at_break = outer.at_break;
  s->at_continue = outer.at_continue;
  return n->kind == S_FOR ? before(s, n->a, head) : head;
}

static bool names(node *e, void *user)
{
  return is_name(e, user);
}

static bool before_switch(search *s, const node *n, bool live)
{
  search all = {.sym = s->sym, .nest = s->nest, .at_break = true, .at_continue = true};

  before_list(&all, n->list, true);
  s->is_found |= all.is_found;
  return live || port_find((node *)(uintptr_t)n, names, (void *)(uintptr_t)s->sym);
}

/* Both sides are looked at: the nest may be in either. */
static bool before_choice(search *s, const node *n, bool live)
{
  const bool yes = before(s, n->b, live), no = before(s, n->c, live);

  return before(s, n->a, yes || no);
}

/* Whether the variable is live before n, if it is after it. */
static bool before(search *s, const node *n, bool live)
{
  const node *e = n;

  if (!n) return live;
  if (n == s->nest) s->is_found |= live;
  switch (n->kind) {
  case N_NAME: return live || n->sym == s->sym;
  case N_ASSIGN:
    if (is_name(e->a, s->sym) && !strcmp(e->op, "=")) return before(s, e->b, false);
    break;
  case N_DECL:
    if (e->sym == s->sym) return before(s, e->a, false);
    break;
  case N_COND:
  case S_IF: return before_choice(s, n, live);
  case N_BINARY:
    if (!strcmp(e->op, "&&") || !strcmp(e->op, "||"))
      return before(s, e->a, live || before(s, e->b, live));
    break;
  case S_FOR:
  case S_WHILE:
  case S_DO: return before_loop(s, n, live);
  case S_RETURN: return before(s, n->a, false);
  case S_BREAK: return s->at_break;
  case S_CONTINUE: return s->at_continue;
  case S_OTHER: return before_switch(s, n, live);
  default: break;
  }
  return before(s, n->a,
                before(s, n->b, before(s, n->c, before(s, n->d, before_list(s, n->list, live)))));
}

static bool takes_address(node *e, void *user)
{
  return e->kind == N_UNARY && e->op[0] == '&' && is_name(e->a, user);
}

static bool jumps(node *e, void *user)
{
  (void)user;
  return e->kind == S_OTHER && !e->text;
}

bool port_is_live(const nest *n, const symbol *sym)
{
  search s = {.sym = sym, .nest = n->node};
  node *body = n->function->body;

  if (sym->is_global || port_find(body, jumps, NULL) ||
      port_find(body, takes_address, (void *)(uintptr_t)sym))
    return true;
  before(&s, body, false);
  return s.is_found;
}
