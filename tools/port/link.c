/* SPDX-License-Identifier: BSD-3-Clause */
/* link.c - a program of several files: calls that lead from one to another.
 *
 * A file gets a function of its own for each one of another file that it calls. That one has a
 * body, to be put into kernels, if the body means the same here: it names no variable outside of
 * it, since that may be static there.
 */
#include "tree.h"

#include <string.h>

function *port_real(function *f)
{
  return f->real ? f->real : f;
}

static function *stand_in(unit *u, function *f)
{
  function *g;

  for (g = u->others; g; g = g->next)
    if (g->real == f) return g;
  g = port_new(sizeof *g);
  *g = *f;
  g->real = f;
  g->body = NULL;
  g->next = NULL;
  if (u->others) { /* at the end: the list is gone through while it grows */
    function *last = u->others;

    while (last->next)
      last = last->next;
    return last->next = g;
  }
  return u->others = g;
}

typedef struct linking {
  unit *all, *u;
} linking;

static bool link_call(node *e, void *user)
{
  const linking *l = user;

  if (e->kind != N_CALL || e->callee || e->is_system || !e->text[0]) return true;
  for (unit *v = l->all; v; v = v->next)
    for (function *f = v->functions; f && v != l->u && !e->callee; f = f->next)
      if (f->is_external && f->is_editable && !strcmp(f->name, e->text))
        e->callee = stand_in(l->u, f);
  return true;
}

static bool is_bound_there(node *e, void *user)
{
  (void)user;
  return (e->kind == N_NAME || e->kind == N_DECL) && e->sym->is_global;
}

/* It has no place in this file. */
static bool move_here(node *e, void *user)
{
  e->begin = e->end = 0;
  e->is_macro = false;
  if (e->kind == N_CALL && e->callee) e->callee = stand_in(user, port_real(e->callee));
  return true;
}

void port_link(unit *units)
{
  for (unit *u = units; u && units->next; u = u->next)
    for (function *f = u->functions; f; f = f->next)
      port_walk(f->body, link_call, &(linking){units, u});
  for (unit *u = units; u; u = u->next)
    for (function *g = u->others; g; g = g->next) {
      if (!g->real->body || port_find(g->real->body, is_bound_there, NULL)) continue;
      g->body = port_copy_tree(g->real->body);
      port_walk(g->body, move_here, u);
    }
}
