/* SPDX-License-Identifier: BSD-3-Clause */
/* probes.c - host statements that read single elements of arrays in a loop over time.
 *
 *   trace[t] = u[c];   energy += u[c] * u[c];   for (r = 0; r < n; r++) seen[t][r] = u[9 * r];
 *
 * Each becomes a function of the values that it reads, which the translated program calls when
 * something reads what the statement writes (support/probes.c). Loops over such statements stay
 * loops of the host.
 */
#include "uses.h"

#include <string.h>

enum { PROBES = 512, INPUTS = 16, FEW = 8 };

static struct {
  const node *at[PROBES];
  int n;
} h;

/* What a statement reads, from left to right. */
typedef struct inputs {
  node *at[INPUTS];
  int n;
  bool has_arrays; /* of a type that steps use */
} inputs;

static bool is_number(value_type t)
{
  return t <= T_U32 && t != T_I64;
}

static bool is_value_of_array(node *e, void *user)
{
  return e != user && port_use_is_element(e) && e->type <= T_INTEGER;
}

static bool is_called(node *e, void *user)
{
  const function *f = e->kind == N_CALL && e->callee ? port_real(e->callee) : NULL;

  (void)user;
  return e->kind == N_CALL && (f ? f->has_steps : !e->is_system);
}

static bool has_effect(node *e, void *user)
{
  (void)user;
  return e->kind == N_CALL || e->kind == N_ASSIGN || e->kind == N_OPAQUE || e->kind == N_LIST ||
         (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")));
}

/* A pointer or array by name, or a member: of structs, too, as in rec[r].trace, since no step
 * changes pointers. */
static bool has_base(node *e)
{
  const node *base = port_use_base(e);

  while (base->kind == N_MEMBER && base->a && (base->type == T_POINTER || base->type == T_ARRAY))
    base = port_use_base(base->a);
  return base->kind == N_NAME;
}

/* A part of an address that may be on the device. */
static bool is_hard(node *e, void *user)
{
  return is_value_of_array(e, user) && (!has_base(e) || e->kind == N_UNARY);
}

/* An element whose address is known before the statement, when the elements in its subscripts are.
 */
static bool is_place(node *e)
{
  return is_number(e->type) && !port_find(e, has_effect, NULL) && !port_find(e, is_hard, e) &&
         has_base(e);
}

static bool add_input(inputs *in, node *e)
{
  if (in->n == INPUTS || !is_number(e->type) || port_find(e, has_effect, NULL)) return false;
  in->at[in->n++] = e;
  return true;
}

/* The elements and numbers of an expression; false: it does more than compute with them. */
static bool look(node *e, inputs *in)
{
  if (port_use_is_element(e)) {
    in->has_arrays |= port_use_counts(e->ctype);
    return is_place(e) && add_input(in, e);
  }
  switch (e->kind) {
  case N_NUMBER: return true;
  case N_NAME: return add_input(in, e);
  case N_MEMBER: return !port_find(e, is_value_of_array, e) && add_input(in, e);
  case N_CAST: return is_number(e->type) && look(e->a, in);
  case N_UNARY: return strchr("-+!~", e->op[0]) && !e->op[1] && look(e->a, in);
  case N_BINARY: return !strpbrk(e->op, "&|,") && look(e->a, in) && look(e->b, in);
  case N_CALL:
    if (!e->is_system || !port_is_function(e->text)) return false;
    for (node *k = e->list; k; k = k->next)
      if (!look(k, in)) return false;
    return true;
  default: return false;
  }
}

/* Whether the form of a statement is right; which arrays it reads, and what it sets, is not. */
static bool fits(const node *s, inputs *in)
{
  node *e = s->kind == S_EXPR ? s->a : NULL;

  *in = (inputs){.n = 0};
  if (!e || e->kind != N_ASSIGN || !strchr("=+-*/", e->op[0]) || !is_number(e->a->type) ||
      (s->is_macro && e->a->end > e->b->begin) || !look(e->b, in))
    return false;
  return e->a->kind == N_NAME || (port_use_is_element(e->a) && is_place(e->a));
}

/* A loop that may have many rounds: up to its bound, or down from its start. */
static bool is_long(node *e, void *user)
{
  const node *init = e->a && e->a->kind == S_EXPR ? e->a->a : e->a;
  const node *start = !init                    ? NULL
                      : init->kind == S_DECL   ? init->list->a
                      : init->kind == N_ASSIGN ? init->b
                                               : NULL;
  const node *most = !e->b || e->b->kind != N_BINARY ? NULL : e->b->op[0] == '>' ? start : e->b->b;

  (void)user;
  return e->kind == S_FOR && !(most && most->is_constant && most->value <= FEW);
}

static bool all_fit(const node *s, bool (*accepts)(const node *s))
{
  if (s->kind == S_BLOCK) {
    for (const node *k = s->list; k; k = k->next)
      if (!all_fit(k, accepts)) return false;
    return s->list != NULL;
  }
  if (s->kind == S_FOR) /* two long loops go over cells */
    return s->a && s->b && s->c && !port_find(s->a, is_value_of_array, NULL) &&
           !port_find(s->b, is_value_of_array, NULL) &&
           !(is_long((node *)(uintptr_t)s, NULL) && port_find(s->d, is_long, NULL)) &&
           all_fit(s->d, accepts);
  if (s->kind == S_DECL) {
    for (node *d = s->list; d; d = d->next)
      if (!is_number(d->sym->type) || (d->a && port_find(d->a, is_value_of_array, NULL)))
        return false;
    return true;
  }
  return accepts(s);
}

static bool has_form(const node *s)
{
  inputs in;

  return fits(s, &in) && s->a->a->kind != N_NAME;
}

bool port_probe_is(const node *s)
{
  for (int i = 0; i < h.n; i++)
    if (h.at[i] == s) return true;
  return false;
}

bool port_probe_writes(const symbol *s)
{
  for (int i = 0; i < h.n; i++)
    if (port_use_base(h.at[i]->a->a)->sym == s) return true;
  return false;
}

static bool is_base(node *e, void *user)
{
  return e->kind == N_NAME && e->sym == user;
}

bool port_probe_is_source(const node *s)
{
  node *e = s->kind == S_EXPR ? s->a : NULL;

  if (e && e->kind == N_ASSIGN && port_find(e->b, is_base, port_use_base(e->a)->sym)) return false;
  return e && e->kind == N_ASSIGN && (e->op[0] == '+' || e->op[0] == '-') && e->a->type <= T_I32 &&
         e->a->type == e->b->type && port_use_is_element(e->a) && port_use_counts(e->a->ctype) &&
         is_place(e->a) && !port_find(e->b, is_called, NULL);
}

static bool is_either(const node *s)
{
  return port_probe_is(s) || port_probe_is_source(s);
}

bool port_probe_is_loop(const node *s)
{
  return s->kind == S_FOR && all_fit(s, is_either);
}

/* An element in a subscript, of a type that steps use. */
static bool print_subscript(node *e, void *user)
{
  const char **text = user;

  if (is_value_of_array(e, NULL) && port_use_counts(e->ctype))
    *text = port_text("port_get(&%s, sizeof(%s)); %s", port_print(e), port_print(e), *text);
  return true;
}

static bool find_subscript(node *e, void *user)
{
  if (e->kind == N_INDEX) port_walk(e->b, print_subscript, user);
  return e->kind != N_INDEX || (find_subscript(e->a, user), false);
}

const char *port_probe_subscripts(node *e)
{
  const char *text = "";

  port_walk(e, find_subscript, &text);
  return text;
}

/* ---- which statements ---- */

typedef struct finding {
  function *f;
  nest **nests;
  int n;
} finding;

/* Whether a step gives the variable its result: then that decides. */
static bool is_result(const finding *c, const symbol *s)
{
  for (int i = 0; i < c->n; i++)
    for (const step *t = c->nests[i]->steps; t; t = t->next)
      for (int k = 0; k < t->nparams; k++)
        if (t->params[k].reduction && t->params[k].reduction->a->sym == s) return true;
  return false;
}

static bool note(node *s, void *user)
{
  const finding *c = user;
  inputs in;
  node *to;

  for (int i = 0; i < c->n; i++)
    if (c->nests[i]->node == s) return false;
  if (h.n == PROBES || !fits(s, &in) || !in.has_arrays) return true;
  to = s->a->a;
  if (to->kind == N_NAME && !to->sym->is_late) {
    if (is_result(c, to->sym) || !port_number_may_be_late(c->f, to->sym)) return true;
    to->sym->is_late = true;
  }
  h.at[h.n++] = s;
  return true;
}

static bool note_in_loops(node *s, void *user)
{
  const finding *c = user;

  for (int i = 0; i < c->n; i++)
    if (c->nests[i]->node == s) return false;
  if (s->kind != S_FOR && s->kind != S_WHILE && s->kind != S_DO) return true;
  port_walk(s, note, user);
  return false;
}

void port_probes_find(function *f, nest **nests, int n)
{
  finding c = {f, nests, n};
  const int first = h.n;

  port_walk(f->body, strcmp(f->name, "main") ? note : note_in_loops, &c);
  for (int i = first; i < h.n; i++)
    port_host_use_type(h.at[i]->a->a->type);
}

/* ---- loops that would be nests ---- */

typedef struct touching {
  const nest *nest;
  nest *const *nests;
  int n;
  node *around; /* a loop around it; NULL: none */
} touching;

static bool is_around(node *e, void *user)
{
  return e == user;
}

/* Whether other nests use an array, those over planes and more, or all. */
static bool is_used(const touching *t, const symbol *root, bool by_planes)
{
  for (int i = 0; i < t->n; i++)
    for (int k = 0; k < t->nests[i]->naccesses && t->nests[i] != t->nest; k++)
      if (t->nests[i]->accesses[k]->array->root == root && t->nests[i]->nloops > by_planes)
        return true;
  return false;
}

static bool reads_plane(node *e, void *user)
{
  const node *base = port_use_is_element(e) ? port_use_base(e) : NULL;

  return base && base->kind == N_NAME && is_used(user, base->sym, true);
}

static bool gives_value(node *e, void *user)
{
  const bool counts = e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--"));

  return (e->kind == N_DECL && e->sym == user) ||
         ((e->kind == N_ASSIGN || counts) && e->a->kind == N_NAME && e->a->sym == user);
}

static bool is_of_round(node *e, void *user)
{
  const touching *t = user;

  return e->kind == N_NAME && e->sym->type <= T_INTEGER &&
         port_find(t->around, gives_value, e->sym) &&
         !port_find(t->nest->node, gives_value, e->sym);
}

/* To an array that other nests use, or to the same elements in each round. */
static bool writes_other(node *e, void *user)
{
  return e->kind == N_ASSIGN &&
         (is_used(user, port_use_base(e->a)->sym, false) || !port_find(e->a, is_of_round, user));
}

static bool is_loop_around(node *e, void *user)
{
  return (e->kind == S_FOR || e->kind == S_WHILE || e->kind == S_DO) && e != user &&
         port_find(e->d, is_around, user);
}

bool port_probe_is_repeated(const function *f, const node *s)
{
  return port_probe_is_loop(s) &&
         (f->round || port_find(f->body, is_loop_around, (void *)(uintptr_t)s));
}

bool port_probe_is_line(const function *f, const nest *n, nest *const *nests, int nnests)
{
  touching t = {n, nests, nnests, port_find(f->body, is_loop_around, n->node)};

  return n->nloops == 1 && t.around && all_fit(n->node, has_form) &&
         port_find(n->node->d, reads_plane, &t) && !port_find(n->node->d, writes_other, &t);
}

/* ---- as text ---- */

static const char *const names[] = {"float", "double", "int",         "unsigned char",  "short",
                                    "long",  "_Bool",  "signed char", "unsigned short", "unsigned"};

static const char *value_text(const node *e, int k)
{
  return port_text("(%s)%sport_x[%d]", names[e->type], e->type > T_F64 ? "(long)" : "", k);
}

/* The expression, with values in the place of what it reads: at[*k] is the next of these. */
static void use_values(node *e, const inputs *in, const node *original, int *k)
{
  if (*k < in->n && in->at[*k] == original) {
    symbol *s = port_new(sizeof *s);

    s->name = value_text(original, (*k)++);
    e->kind = N_NAME;
    e->sym = s;
    e->text = s->name;
    return;
  }
  if (e->a) use_values(e->a, in, original->a, k);
  if (e->b) use_values(e->b, in, original->b, k);
  for (node *x = e->list, *y = original->list; x; x = x->next, y = y->next)
    use_values(x, in, y, k);
}

/* Where it may change an array of steps by a number: how. */
static const char *as_source(const node *e)
{
  const bool sets = !strcmp(e->op, "=");

  if (e->a->type > T_I32 || !strchr("=+-", e->op[0]) || (!sets && e->a->type != e->b->type))
    return "";
  return port_text(", .op = '%c', .type = %s", sets ? '=' : '+', port_emit_type(e->a->type));
}

const char *port_probe_text(const unit *u, const function *f, const node *s)
{
  const char *to = port_print(s->a->a), *list = "",
             *name = port_text("%s_%u_%u", f->name, s->line, s->column);
  node *value = port_copy_tree(s->a->b);
  unsigned outside;
  inputs in;
  int k = 0;

  fits(s, &in);
  use_values(value, &in, s->a->b, &k);
  for (int i = 0; i < in.n; i++)
    list = port_use_is_element(in.at[i])
               ? port_text("%s%s{.p = &%s, .type = %s}", list, i ? ", " : "", port_print(in.at[i]),
                           port_emit_type(in.at[i]->type))
               : port_text("%s%s{.x = (double)%s}", list, i ? ", " : "", port_print(in.at[i]));
  port_edit_lines(u, port_declaration_at(u, f->begin, &outside),
                  port_text("static void port_give_%s(void *port_to, const double *port_x)\n{\n"
                            "  *(%s *)port_to %s %s;\n}\nstatic port_site port_site_%s = "
                            "{.give = port_give_%s%s};\n\n",
                            name, names[s->a->a->type], s->a->op, port_print(value), name, name,
                            as_source(s->a)));
  return port_text("port_probe(&port_site_%s, &%s, sizeof(%s), %d, (port_input[]){%s});", name, to,
                   to, in.n, list);
}
