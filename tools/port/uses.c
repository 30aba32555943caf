/* SPDX-License-Identifier: BSD-3-Clause */
/* uses.c - which arrays of steps a statement of the host uses, and which results.
 *
 * Only elements of the types that steps use count, since C's own rules keep different types apart.
 */
#include "uses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOTS = 512 };

static struct {
  bool types[T_OTHER];
  bool has_tables[T_OTHER];   /* steps look up numbers in arrays whose length the run must know */
  bool has_structs;           /* arrays of structs are used by steps */
  const symbol *roots[ROOTS]; /* variables that steps name arrays by */
  int nroots;
} h;

void port_host_use(const step *steps)
{
  for (const step *s = steps; s; s = s->next)
    for (int i = 0; i < s->nparams; i++) {
      if (s->params[i].kind == P_TABLE) h.has_tables[s->params[i].type] = true;
      if (s->params[i].array) {
        h.types[s->params[i].type] = true;
        if (h.nroots < ROOTS) h.roots[h.nroots++] = s->params[i].array->root;
        if (strstr(s->params[i].array->key, "].") || strstr(s->params[i].array->key, "]->"))
          h.has_structs = true;
      }
    }
}

void port_host_use_type(value_type t)
{
  h.types[t] = true;
}

static CXType element_of(CXType t)
{
  t = clang_getCanonicalType(t);
  for (;;) {
    const value_type v = port_type_of(t);

    if (v == T_ARRAY)
      t = clang_getCanonicalType(clang_getArrayElementType(t));
    else if (v == T_POINTER)
      t = clang_getCanonicalType(clang_getPointeeType(t));
    else
      return t;
  }
}

/* Bytes may be those of anything. */
static bool is_byte(CXType t)
{
  const enum CXTypeKind k = element_of(t).kind;

  return k == CXType_UChar || k == CXType_Char_U || k == CXType_Char_S || k == CXType_SChar ||
         k == CXType_Void;
}

bool port_use_counts(CXType t)
{
  const value_type v = port_type_of(element_of(t));

  return (v < T_OTHER && (h.types[v] || (v == T_STRUCT && h.has_structs))) || is_byte(t);
}

bool port_use_is_table(CXType t)
{
  const value_type v = port_type_of(element_of(t));

  return v < T_OTHER && h.has_tables[v];
}

node *port_use_base(node *e)
{
  while (e->kind == N_INDEX || (e->kind == N_UNARY && e->op[0] == '*') ||
         (e->kind == N_MEMBER && e->a)) {
    if (e->kind == N_MEMBER && (e->type == T_POINTER || e->type == T_ARRAY)) return e;
    e = e->a;
  }
  while (e->kind == N_BINARY)
    e = e->a->type == T_POINTER || e->a->type == T_ARRAY ? e->a : e->b;
  while (e->kind == N_CAST)
    e = e->a;
  return e;
}

/* Pointers between the object and its elements: 0 for double *u and double u[3][4], 1 for double
 * **u and double *u[3]. */
static int levels_of(CXType t)
{
  int levels = -1;

  t = clang_getCanonicalType(t);
  if (port_type_of(t) == T_ARRAY) levels = 0;
  for (;;) {
    const value_type v = port_type_of(t);

    if (v != T_ARRAY && v != T_POINTER) return levels > 0 ? levels : 0;
    levels += v == T_POINTER;
    t = clang_getCanonicalType(v == T_ARRAY ? clang_getArrayElementType(t)
                                            : clang_getPointeeType(t));
  }
}

/* cell: the element that is used; NULL: more. */
static void add_cell(use *a, node *cell)
{
  if (!cell) a->is_whole = true;
  for (int i = 0; i < a->ncells && cell; i++)
    if (!strcmp(port_print(a->cells[i]), port_print(cell))) return;
  if (!cell || a->ncells == CELLS)
    a->is_whole = true;
  else
    a->cells[a->ncells++] = cell;
}

static void add_object(uses *u, node *base, const char *text, const char *bytes, int levels,
                       bool is_write, node *cell)
{
  for (int i = 0; i < u->n; i++)
    if (!strcmp(u->at[i].text, text)) {
      u->at[i].is_write |= is_write;
      add_cell(&u->at[i], cell);
      return;
    }
  if (u->n == USES) {
    u->writes_all = true;
    return;
  }
  u->at[u->n] = (use){.text = text, .bytes = bytes, .levels = levels, .is_write = is_write};
  u->at[u->n].base = base;
  add_cell(&u->at[u->n++], cell);
}

typedef struct members {
  bool has_arrays, has_pointers; /* to elements that count */
} members;

static members members_of(CXType t);

static void add_element(uses *u, node *base, bool is_write, node *cell)
{
  const bool is_whole = base->type == T_ARRAY && !(base->kind == N_NAME && base->sym->is_param);
  const char *text;

  if (base->kind == N_NAME && base->sym->is_private) return;
  if (base->kind != N_NAME && base->kind != N_MEMBER) {
    if (is_write) u->writes_all = true;
    u->reads_all = true;
    return;
  }
  text = port_print(base);
  add_object(u, base, text,
             is_whole                             ? port_text("sizeof(%s)", text)
             : members_of(base->ctype).has_arrays ? "0"
                                                  : "1",
             levels_of(base->ctype), is_write, cell);
}

static void add_use(uses *u, node *base, bool is_write)
{
  add_element(u, base, is_write, NULL);
}

bool port_use_is_element(const node *e)
{
  if (e->type == T_ARRAY) return false;
  if (e->kind == N_INDEX || (e->kind == N_UNARY && e->op[0] == '*')) return true;
  return e->kind == N_MEMBER && h.has_structs && e->a &&
         (e->op[0] == '-' || port_use_is_element(e->a));
}

/* ---- structs with arrays in them ---- */

static void look_into(CXType t, members *m);

static enum CXVisitorResult visit_member(CXCursor member, CXClientData user)
{
  look_into(clang_getCursorType(member), user);
  return CXVisit_Continue;
}

static void look_into(CXType t, members *m)
{
  const value_type v = port_type_of(clang_getCanonicalType(t));

  if (v == T_POINTER)
    m->has_pointers |= port_type_of(element_of(t)) == T_STRUCT || port_use_counts(t);
  else if (v == T_ARRAY && port_type_of(element_of(t)) != T_STRUCT)
    m->has_arrays |=
        is_byte(t) ? h.types[T_U8] || h.types[T_I8] || h.types[T_BOOL] : port_use_counts(t);
  else if (port_type_of(element_of(t)) == T_STRUCT)
    clang_Type_visitFields(element_of(t), visit_member, m);
}

/* Of a struct, also where t is a pointer to it. */
static members members_of(CXType t)
{
  members m = {false, false};

  look_into(element_of(t), &m);
  return m;
}

/* A struct that is copied, or whose address is given away: its arrays are used with it. */
static void use_struct(uses *u, node *e, bool is_write)
{
  const char *text;

  while (e && e->kind == N_CAST)
    e = e->a;
  if (!e || e->type != T_STRUCT || !members_of(e->ctype).has_arrays) return;
  if (port_use_is_element(e)) add_use(u, port_use_base(e), is_write);
  if (port_use_is_element(e) || (e->kind != N_NAME && e->kind != N_MEMBER)) return;
  text = port_print(e);
  add_object(u, e, port_text("&%s", text), port_text("sizeof(%s)", text), 0, is_write, NULL);
}

/* A function gets a struct, or a pointer to one; whether it may follow pointers in it: not one of
 * the system's. */
static void use_argument(uses *u, node *a, bool follows)
{
  const members m = members_of(a->ctype);

  if (a->type == T_STRUCT) use_struct(u, a, false);
  if (a->type == T_POINTER && a->kind == N_UNARY && a->op[0] == '&')
    use_struct(u, a->a, true);
  else if (a->type == T_POINTER && m.has_arrays)
    add_use(u, port_use_base(a), true);
  if (m.has_pointers && follows) u->writes_all = true;
}

static bool is_one_of(const char *name, const char *const *list)
{
  for (; *list; list++)
    if (!strcmp(name, *list)) return true;
  return false;
}

/* A function without a body here: it may use its arguments, and, if it is not one of the system's,
 * more. */
static void use_call(uses *u, node *e)
{
  static const char *const clocks[] = {"clock",         "time",  "gettimeofday", "clock_gettime",
                                       "omp_get_wtime", "times", "getrusage",    NULL};
  static const char *const memory[] = {
      "free", "malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "fopen",
      "exit", "abort",  "memcpy", NULL}; /* they ask themselves */
  static const char *const bytes[] = {"memmove", "memset", "memcmp", "fwrite",
                                      "fread",   "write",  "read",   NULL};
  static const char *const reads[] = {"fwrite", "printf", "fprintf", "write", "memcmp", NULL};

  if (is_one_of(e->text, clocks)) u->waits = true;
  for (node *k = e->list; k; k = k->next) /* by value: the call copies it */
    if (k->type == T_STRUCT && e->callee && e->callee->is_editable) use_struct(u, k, false);
  if ((e->callee && e->callee->is_editable) || is_one_of(e->text, memory)) return;
  if (!e->text[0] || (!e->is_system && !e->callee)) u->writes_all = true;
  for (node *k = e->list; k; k = k->next) {
    node *a = k;

    while (a->kind == N_CAST)
      a = a->a;
    if (port_type_of(element_of(a->ctype)) == T_STRUCT) use_argument(u, a, !e->is_system);
    if ((a->type != T_POINTER && a->type != T_ARRAY) || !port_use_counts(a->ctype)) continue;
    if (a->kind == N_OPAQUE || (e->is_system && is_byte(a->ctype) && !is_one_of(e->text, bytes)))
      continue; /* text */
    if (a->kind == N_UNARY && a->op[0] == '&') {
      if (a->a->kind == N_NAME && a->a->type != T_ARRAY) continue; /* one variable */
      a = a->a;
    }
    if (a->kind == N_NUMBER) continue;
    add_use(u, port_use_base(a),
            !is_one_of(e->text, reads) && !(k != e->list && !strcmp(e->text, "memmove")));
  }
}

/* Variables that the statement declares have no results before it. */
static bool declares(node *e, void *user)
{
  return e->kind == N_DECL && e->sym == user;
}

static void use_number(uses *u, const symbol *s, bool is_set)
{
  if (port_find(u->scope, declares, (void *)(uintptr_t)s)) return;
  for (int i = 0; i < u->nnumbers; i++)
    if (u->numbers[i] == s) {
      u->is_set[i] &= is_set;
      return;
    }
  if (u->nnumbers == NUMBERS) {
    fprintf(stderr, "ambit port: a statement uses more than %d results\n", NUMBERS);
    exit(1);
  }
  u->is_set[u->nnumbers] = is_set;
  u->numbers[u->nnumbers++] = s;
}

static bool find_uses(node *e, void *user)
{
  uses *u = user;

  if (port_host_is_nest(e)) return false;
  if (e->kind == N_UNARY && e->op[0] == '&' && port_use_is_element(e->a)) {
    node *k = e->a; /* its address alone */

    for (; k->kind == N_INDEX || (k->kind == N_MEMBER && k->a); k = k->a)
      if (k->kind == N_INDEX) port_uses_in(k->b, u);
    port_uses_in(k, u);
    return false;
  }
  if (e->kind == N_NAME && e->sym && e->sym->is_late) use_number(u, e->sym, false);
  if (e->kind == N_CALL) use_call(u, e);
  if (e->kind == N_ASSIGN && port_use_is_element(e->a) && port_use_counts(e->a->ctype))
    add_element(u, port_use_base(e->a), true, e->a);
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")) &&
      port_use_is_element(e->a) && port_use_counts(e->a->ctype))
    add_element(u, port_use_base(e->a), true, e->a);
  if (port_use_is_element(e) && port_use_counts(e->ctype) && e->type < T_POINTER)
    add_element(u, port_use_base(e), false, e);
  if (port_use_is_element(e) && e->type == T_STRUCT && h.has_structs)
    add_use(u, port_use_base(e), false);
  if (e->kind == N_ASSIGN && e->a->type == T_STRUCT && h.has_structs && port_use_is_element(e->a))
    add_use(u, port_use_base(e->a), true);
  if (e->kind == N_ASSIGN) {
    use_struct(u, e->a, true);
    use_struct(u, e->b, false);
  }
  if (e->kind == N_DECL || e->kind == S_RETURN) use_struct(u, e->a, false);
  return true;
}

void port_uses_in(node *n, uses *u)
{
  port_walk(n, find_uses, u);
}

void port_uses_of(node *s, uses *u)
{
  node *e = s->kind == S_EXPR ? s->a : NULL, *first = e;

  u->scope = s;
  while (e && e->kind == N_ASSIGN && !strcmp(e->op, "=") && e->a->kind == N_NAME &&
         e->a->sym->is_late) {
    use_number(u, e->a->sym, true);
    e = e->b;
  }
  port_uses_in(first != e ? e : s, u);
}

/* ---- memory of the host alone ---- */

static bool is_name_of(const node *e, const symbol *s)
{
  return e && e->kind == N_NAME && e->sym == s;
}

/* Whether anything but subscripts uses a pointer, and allocation: it may lead to the memory of
 * others, or others to its own. */
static bool leaks(const node *e, const symbol *s)
{
  const node *root = e;
  static const char *const memory[] = {"free", "malloc", "calloc", NULL};
  const bool gives =
      (e->kind == N_ASSIGN && is_name_of(e->a, s)) || (e->kind == N_DECL && e->sym == s);
  const node *given = !gives ? NULL : e->kind == N_DECL ? e->a : e->b;

  for (; root->kind == N_INDEX && e->type < T_POINTER; root = root->a)
    if (leaks(root->b, s)) return true;
  if (root != e) return !is_name_of(root, s) && leaks(root, s);
  while (given && given->kind == N_CAST)
    given = given->a;
  if (e->kind == N_UNARY && e->op[0] == '&' && is_name_of(port_use_base(e->a), s)) return true;
  if (gives && s->type == T_POINTER && given)
    return given->kind != N_CALL || !is_one_of(given->text, memory);
  if (is_name_of(e, s)) return true;
  if (e->kind == N_CALL && is_one_of(e->text, memory)) return false;
  if (e->a && leaks(e->a, s)) return true;
  for (const node *k = e->list; k; k = k->next)
    if (leaks(k, s)) return true;
  return (e->b && leaks(e->b, s)) || (e->c && leaks(e->c, s)) || (e->d && leaks(e->d, s));
}

void port_use_find_private(const function *f, symbol *s)
{
  s->is_private = !s->is_global && (s->type == T_ARRAY || s->type == T_POINTER) && h.nroots < ROOTS;
  for (int i = 0; i < h.nroots; i++)
    s->is_private &= h.roots[i] != s;
  s->is_private = s->is_private && !port_probe_writes(s) && !leaks(f->body, s);
}

bool port_use_is_of_steps(const unit *u, const node *base)
{
  const symbol *s = base->kind == N_NAME ? base->sym : NULL;

  for (int i = 0; i < h.nroots; i++)
    if (h.roots[i] == s) return true;
  for (const function *f = u->functions; f && s; f = f->next)
    if (f->body && leaks(f->body, s)) return true;
  return !s || s->is_param || h.nroots == ROOTS;
}
