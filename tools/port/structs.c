/* SPDX-License-Identifier: BSD-3-Clause */
/* structs.c - local variables that are structs become a variable for each member.
 *
 *   cell c = old[i];  c.v *= 2;  new[i] = c;
 *
 * becomes c_u = old[i].u; c_v = old[i].v; c_v *= 2; new[i].u = c_u; new[i].v = c_v. Members that
 * are never read vanish.
 */
#include "nest.h"

#include <string.h>

enum { MEMBERS = 128, DEEPEST = 4 };

/* A number, or an array of numbers, in a struct: how to get there. */
typedef struct member {
  int depth;
  const char *path[DEEPEST];
  CXType ctype;
  value_type type;
} member;

typedef struct members {
  int n;
  member at[MEMBERS];
  member now;
  bool is_plain; /* all of them are understood */
} members;

typedef struct split {
  const symbol *sym;
  members of;
  symbol *to[MEMBERS]; /* made when first used */
  struct split *next;
} split;

static split *splits;

/* ---- the members of a type ---- */

static enum CXVisitorResult add_member(CXCursor c, CXClientData data)
{
  members *m = data;
  CXString name = clang_getCursorSpelling(c);
  const CXType t = clang_getCanonicalType(clang_getCursorType(c));
  const value_type v = port_type_of(t);

  m->now.path[m->now.depth++] = port_text("%s", clang_getCString(name));
  clang_disposeString(name);
  m->now.ctype = t;
  m->now.type = v;
  if (v == T_STRUCT && m->now.depth < DEEPEST)
    clang_Type_visitFields(t, add_member, data);
  else if (m->n < MEMBERS && v != T_STRUCT) {
    m->is_plain &=
        v <= T_INTEGER || (v == T_ARRAY && port_type_of(clang_getArrayElementType(t)) <= T_INTEGER);
    m->at[m->n++] = m->now;
  } else
    m->is_plain = false;
  m->now.depth--;
  return CXVisit_Continue;
}

static void members_of(CXType t, members *m)
{
  memset(m, 0, sizeof *m);
  m->is_plain = true;
  clang_Type_visitFields(clang_getCanonicalType(t), add_member, m);
}

static split *split_of(const node *e)
{
  for (split *s = splits; s && e->kind == N_NAME; s = s->next)
    if (s->sym == e->sym) return s;
  return NULL;
}

static bool note_struct(node *e, void *user)
{
  split *s;

  (void)user;
  if (e->kind != N_DECL || e->sym->type != T_STRUCT || e->sym->is_global) return true;
  s = port_new(sizeof *s);
  s->sym = e->sym;
  members_of(e->sym->ctype, &s->of);
  if (!s->of.is_plain) return true;
  s->next = splits;
  splits = s;
  return true;
}

static node *name_of(split *s, int i, const node *like)
{
  const member *m = &s->of.at[i];
  node *e = port_node(N_NAME, like);
  const char *name = s->sym->name;

  if (!s->to[i]) {
    for (int k = 0; k < m->depth; k++)
      name = port_text("%s_%s", name, m->path[k]);
    s->to[i] = port_new(sizeof **s->to);
    *s->to[i] = (symbol){.name = name, .ctype = m->ctype, .type = m->type};
  }
  e->sym = s->to[i];
  e->text = e->sym->name;
  e->type = e->sym->type;
  e->ctype = e->sym->ctype;
  return e;
}

/* ---- a member of an expression ---- */

/* (vec){a, b}: its list. */
static node *literal_list(node *e)
{
  if (e->kind == N_LIST) return e->list;
  for (node *k = e->kind == N_OPAQUE ? e->list : NULL; k; k = k->next)
    if (k->kind == N_LIST) return k->list;
  return NULL;
}

static node *member_of(node *e, const members *all, int i)
{
  const member *m = &all->at[i];
  split *s = split_of(e);
  node *list = literal_list(e);

  if (s) return name_of(s, i, e);
  if (list) {
    while (list && i-- > 0)
      list = list->next;
    return list ? port_copy_tree(list) : port_number(0, e);
  }
  if (e->kind == N_COND) {
    node *c = port_node(N_COND, e);

    c->a = port_copy_tree(e->a);
    c->b = member_of(e->b, all, i);
    c->c = member_of(e->c, all, i);
    c->type = m->type;
    c->ctype = m->ctype;
    return c;
  }
  e = port_copy_tree(e);
  for (int k = 0; k < m->depth; k++) {
    node *p = port_node(N_MEMBER, e);

    p->op = ".";
    p->text = m->path[k];
    p->a = e;
    p->type = k + 1 < m->depth ? T_STRUCT : m->type;
    p->ctype = m->ctype;
    e = p;
  }
  return e;
}

/* c.pos.x becomes c_pos_x, and (vec){a, b}.x becomes a. */
static void replace_members(node **at)
{
  node *e = *at, *root = e, *to = NULL;
  const char *path[DEEPEST];
  int depth = 0;

  if (!e) return;
  while (root->kind == N_MEMBER && root->op && root->op[0] == '.' && depth < DEEPEST) {
    path[depth++] = root->text;
    root = root->a;
  }
  if (depth && e->type != T_STRUCT && (split_of(root) || literal_list(root))) {
    split *s = split_of(root);
    members of;

    members_of(s ? s->sym->ctype : root->ctype, &of);
    for (int i = 0; i < of.n && !to; i++) {
      bool same = of.at[i].depth == depth;

      for (int k = 0; same && k < depth; k++)
        same = !strcmp(of.at[i].path[k], path[depth - 1 - k]);
      if (same) to = member_of(root, &of, i);
    }
    if (to) {
      to->next = e->next;
      *at = to;
      return;
    }
  }
  replace_members(&e->a);
  replace_members(&e->b);
  replace_members(&e->c);
  replace_members(&e->d);
  for (node **k = &e->list; *k; k = &(*k)->next)
    replace_members(k);
}

/* ---- whole structs ---- */

static node *assignment(node *to, node *from)
{
  node *s = port_node(S_EXPR, to);

  s->a = port_node(N_ASSIGN, to);
  s->a->op = "=";
  s->a->a = to;
  s->a->b = from;
  s->a->type = to->type;
  s->a->ctype = to->ctype;
  return s;
}

static node *indexed(node *of, int64_t i)
{
  node *e = port_node(N_INDEX, of);

  e->a = of;
  e->b = port_number(i, of);
  e->ctype = clang_getArrayElementType(clang_getCanonicalType(of->ctype));
  e->type = port_type_of(e->ctype);
  return e;
}

/* Appends to = from, number by number. */
static void assign_member(node *to, node *from, node ***tail)
{
  const int64_t n = to->type == T_ARRAY ? clang_getArraySize(clang_getCanonicalType(to->ctype)) : 0;

  for (int64_t i = 0; i < n; i++) {
    **tail = assignment(indexed(port_copy_tree(to), i), indexed(port_copy_tree(from), i));
    *tail = &(**tail)->next;
  }
  if (n) return;
  **tail = assignment(to, from);
  *tail = &(**tail)->next;
}

static void assign_struct(node *to, node *from, CXType type, node ***tail)
{
  members all;

  members_of(type, &all);
  for (int i = 0; i < all.n; i++)
    assign_member(member_of(to, &all, i), member_of(from, &all, i), tail);
}

static void declare_struct(split *s, node *d, node ***tail)
{
  for (int i = 0; i < s->of.n; i++) {
    node *decl = port_node(S_DECL, d), *e = name_of(s, i, d);

    decl->list = port_node(N_DECL, d);
    decl->list->sym = e->sym;
    decl->list->type = e->type;
    decl->list->ctype = e->ctype;
    decl->list->text = e->text;
    **tail = decl;
    *tail = &decl->next;
    if (!d->a) continue;
    if (e->type == T_ARRAY)
      assign_member(e, member_of(d->a, &s->of, i), tail);
    else
      decl->list->a = member_of(d->a, &s->of, i);
  }
}

static bool is_struct_assignment(const node *s)
{
  return s->kind == S_EXPR && s->a->kind == N_ASSIGN && !strcmp(s->a->op, "=") &&
         s->a->a->type == T_STRUCT;
}

static bool can_assign(const node *e)
{
  members all;

  members_of(e->a->ctype, &all);
  return all.n && all.is_plain;
}

static void expand_list(node **list)
{
  for (node **at = list; *at;) {
    node *s = *at, *first = NULL, **tail = &first, *next = s->next;
    bool gone = false;

    expand_list(&s->list);
    if (s->kind == S_IF || s->kind == S_FOR || s->kind == S_WHILE || s->kind == S_DO) {
      if (s->b && s->b->kind >= S_DECL) expand_list(&s->b);
      if (s->c && s->c->kind >= S_DECL) expand_list(&s->c);
      expand_list(&s->d);
    }
    if (is_struct_assignment(s) && can_assign(s->a)) {
      assign_struct(s->a->a, s->a->b, s->a->a->ctype, &tail);
      gone = true;
    }
    for (node **d = &s->list; s->kind == S_DECL && *d;) {
      split *found = NULL;

      for (split *k = splits; k; k = k->next)
        if (k->sym == (*d)->sym) found = k;
      if (!found) {
        d = &(*d)->next;
        continue;
      }
      declare_struct(found, *d, &tail);
      *d = (*d)->next;
      gone = !s->list;
    }
    if (first) {
      if (!gone) {
        *tail = s;
        tail = &s->next;
      }
      *at = first;
      *tail = next;
      at = tail;
    } else
      at = &s->next;
  }
}

/* ---- members that are never read ---- */

static bool is_target(const node *e, const symbol *s)
{
  if (e->kind == N_INDEX) e = e->a;
  return e->kind == N_NAME && e->sym == s;
}

static bool reads(node *e, const symbol *s)
{
  if (!e) return false;
  if (e->kind == N_NAME) return e->sym == s;
  if (e->kind == N_ASSIGN && !strcmp(e->op, "=") && is_target(e->a, s))
    return reads(e->b, s) || (e->a->kind == N_INDEX && reads(e->a->b, s));
  if (reads(e->a, s) || reads(e->b, s) || reads(e->c, s) || reads(e->d, s)) return true;
  for (node *k = e->list; k; k = k->next)
    if (reads(k, s)) return true;
  return false;
}

static void remove_variable(node **list, const symbol *s)
{
  for (node **at = list; *at;) {
    node *e = *at;

    if ((e->kind == S_DECL && e->list && e->list->sym == s) ||
        (e->kind == S_EXPR && e->a->kind == N_ASSIGN && is_target(e->a->a, s))) {
      *at = e->next;
      continue;
    }
    if (e->kind >= S_DECL) {
      remove_variable(&e->list, s);
      if (e->b && e->b->kind >= S_DECL) remove_variable(&e->b, s);
      if (e->c && e->c->kind >= S_DECL) remove_variable(&e->c, s);
      if (e->d) remove_variable(&e->d, s);
    }
    at = &e->next;
  }
}

static void remove_unread(nest *n)
{
  bool more = true;

  while (more) {
    more = false;
    for (split *s = splits; s; s = s->next)
      for (int i = 0; i < s->of.n; i++)
        if (s->to[i] && !reads(n->copy, s->to[i])) {
          remove_variable(&n->copy, s->to[i]);
          s->to[i] = NULL;
          more = true;
        }
  }
}

void port_split_structs(nest *n)
{
  splits = NULL;
  port_walk(n->copy, note_struct, NULL);
  expand_list(&n->copy);
  replace_members(&n->copy);
  if (splits) remove_unread(n);
}
