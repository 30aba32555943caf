/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c - finds host code that uses arrays of steps; it asks for them first.
 *
 * Before a statement that reads u[...], port_reads(u, ...) stands; before one that writes it,
 * port_writes. A call covers a whole statement, loops included, if the pointer is the same
 * throughout and no step is in there; so host loops cost one call. Which field a pointer means is
 * found at run time, by its address: aliases need no analysis.
 */
#include "uses.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { NESTS = 1024 };

static struct {
  const node *nests[NESTS];
  bool has_results[NESTS];
  int nnests;
  bool explains;    /* what host code costs */
  bool is_spread;   /* sources and receivers in a loop: where they wander, arrays are on the host */
  const node *loop; /* with steps in it, around the current statement; NULL: none */
  const function *f; /* that it is in */
} h;

void port_host_has_step(const node *nest_node, bool has_results)
{
  if (h.nnests == NESTS) return;
  h.has_results[h.nnests] = has_results;
  h.nests[h.nnests++] = nest_node;
}

static bool is_nest(node *n, void *user)
{
  (void)user;
  if (n->kind != S_FOR) return false;
  for (int i = 0; i < h.nnests; i++)
    if (h.nests[i] == n) return true;
  return false;
}

bool port_host_is_nest(const node *n)
{
  return is_nest((node *)(uintptr_t)n, NULL);
}

bool port_host_is_quiet(const node *n)
{
  for (int i = 0; i < h.nnests; i++)
    if (h.nests[i] == n) return !h.has_results[i];
  return false;
}

static bool is_loop(node *n, void *user)
{
  (void)user;
  return n->kind == S_FOR || n->kind == S_WHILE || n->kind == S_DO;
}

/* A function that is not known may call any other. */
static bool calls_steps(node *n, void *user)
{
  (void)user;
  if (n->kind != N_CALL) return false;
  return n->callee ? port_real(n->callee)->has_steps : !n->is_system && h.nnests;
}

static bool has_steps(node *n)
{
  return port_find(n, is_nest, NULL) || port_find(n, calls_steps, NULL);
}

/* ---- where calls go ---- */

static bool changes(node *e, void *user)
{
  const symbol *s = user;

  if (e->kind == N_DECL) return e->sym == s;
  if (e->kind == N_ASSIGN) return e->a->kind == N_NAME && e->a->sym == s;
  return e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--") || e->op[0] == '&') &&
         e->a->kind == N_NAME && e->a->sym == s;
}

static bool is_moved(node *e, void *user)
{
  return e->kind == N_NAME && port_find(user, changes, e->sym);
}

/* Whether all pointers that a statement uses are the same throughout. */
static bool is_steady(node *s, const uses *u)
{
  for (int i = 0; i < u->n; i++)
    if (port_find(u->at[i].base, is_moved, s)) return false;
  return true;
}

static const char *calls(const uses *u, const char *separator)
{
  ambit__text t = {0};
  const char *copy;
  char *out;

  if (u->waits) ambit__print(&t, "port_wait()%s", separator);
  for (int i = 0; i < u->nnumbers; i++)
    ambit__print(&t, "%s(&%s)%s", u->is_set[i] ? "port_set" : "port_know", u->numbers[i]->name,
                 separator);
  if (u->writes_all)
    ambit__print(&t, "port_writes_all()%s", separator);
  else if (u->reads_all)
    ambit__print(&t, "port_reads_all()%s", separator);
  for (int i = 0; i < u->n && !u->writes_all; i++)
    if (u->at[i].is_write || !u->reads_all)
      ambit__print(&t, "%s%s(%s, %s%s)%s", u->at[i].is_write ? "port_writes" : "port_reads",
                   u->at[i].levels ? "_rows" : "", u->at[i].text, u->at[i].bytes,
                   u->at[i].levels ? port_text(", %d", u->at[i].levels) : "", separator);
  out = ambit__text_finish(&t);
  copy = port_text("%s", out ? out : "");
  free(out);
  return copy;
}

/* "u (4000000 bytes)"; the size of what a pointer leads to is not known before the program runs. */
static const char *sized(const use *a)
{
  const long long bytes = a->bytes[1] ? clang_Type_getSizeOf(a->base->ctype) : 0;

  return bytes > 0 ? port_text("%s (%lld bytes)", a->text, bytes) : a->text;
}

/* Host code in a loop over time that reads a result. */
static void explain_numbers(const unit *u, const node *at, const uses *list)
{
  const char *names = NULL;

  for (int i = 0; i < list->nnumbers; i++)
    if (!list->is_set[i])
      names = names ? port_text("%s, %s", names, list->numbers[i]->name) : list->numbers[i]->name;
  if (h.explains && h.loop && names)
    port_note(u, at, "note",
              port_text("host code in the loop in line %u: it waits for the steps that give %s",
                        h.loop->line, names),
              "a result that is read after the loop, or in some rounds, costs less");
}

/* Host code in a loop over time costs a copy in each round. */
static void explain(const unit *u, const node *at, const uses *list)
{
  ambit__text t = {0};
  bool writes = list->writes_all;
  char *names;

  explain_numbers(u, at, list);
  if (!h.explains || !h.loop || (!list->n && !list->reads_all && !list->writes_all)) return;
  for (int i = 0; i < list->n; i++) {
    writes |= list->at[i].is_write;
    ambit__print(&t, "%s%s", i ? ", " : "", sized(&list->at[i]));
  }
  names = ambit__text_finish(&t);
  port_note(u, at, "note",
            port_text("host code in the loop in line %u: %s copied to the host each time%s",
                      h.loop->line,
                      list->reads_all || list->writes_all || !names
                          ? "all arrays are"
                          : port_text("%s %s", names, list->n == 1 ? "is" : "are"),
                      writes ? ", and back for the next step" : ""),
            "a nest, or a place outside of the loop, costs no copy");
  free(names);
}

/* ---- single elements ---- */

static bool is_conditional(node *e, void *user)
{
  (void)user;
  return e->kind == N_COND ||
         (e->kind == N_BINARY && (!strcmp(e->op, "&&") || !strcmp(e->op, "||")));
}

static bool has_effect(node *e, void *user)
{
  (void)user;
  return e->kind == N_CALL || e->kind == N_ASSIGN || e->kind == N_OPAQUE ||
         (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")));
}

static bool count_assignments(node *e, void *user)
{
  *(int *)user +=
      e->kind == N_ASSIGN || (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")));
  return true;
}

/* Whether a statement uses this array by a few elements alone, whose addresses are known before it:
 * u[src] += wave[t]. */
static bool is_by_cells(node *s, const use *a)
{
  if (a->is_whole || !a->ncells) return false;
  if (a->base->kind != N_NAME && !(a->base->kind == N_MEMBER && a->base->a->kind == N_NAME))
    return false;
  for (int i = 0; i < a->ncells; i++) {
    const value_type t = a->cells[i]->type;

    if (t > T_U32 || port_find(a->cells[i], has_effect, NULL) ||
        port_find(a->cells[i], is_moved, s))
      return false;
  }
  return true;
}

/* Arrays of which a statement or an expression uses a few elements are not copied as a whole. The
 * calls before it, innermost subscripts first, and those after it. */
static void take_cells(const unit *u, node *s, uses *list, const char *separator,
                       const char **before, const char **after)
{
  const char *names = NULL;
  int kept = 0, assignments = 0, count = 0;

  *before = *after = "";
  port_walk(s, count_assignments, &assignments);
  if ((s->kind > S_DECL && s->kind != S_EXPR && s->kind != S_RETURN) || list->reads_all ||
      list->writes_all || assignments > 1 || port_find(s, is_conditional, NULL) ||
      port_find(s, calls_steps, NULL))
    return;
  for (int i = 0; i < list->n; i++) {
    const use a = list->at[i];

    if (!is_by_cells(s, &a) || (a.is_write && s->kind != S_EXPR)) {
      list->at[kept++] = a;
      continue;
    }
    if (port_use_is_of_steps(u, a.base)) {
      names = names ? port_text("%s, %s", names, a.text) : a.text;
      count += a.ncells * (1 + a.is_write);
    }
    for (int k = 0; k < a.ncells; k++) {
      const char *cell = port_print(a.cells[k]);

      *before = port_text("port_get(&%s, sizeof(%s))%s%s", cell, cell, separator, *before);
      if (a.is_write) *after = port_text("%s port_put(&%s, sizeof(%s));", *after, cell, cell);
    }
  }
  list->n = kept;
  if (names && h.explains && h.loop)
    port_note(u, s, "note",
              port_text("host code in the loop in line %u: its steps wait, and single elements of "
                        "%s are copied, %d each time",
                        h.loop->line, names, count),
              NULL);
}

static bool is_not_printed(node *e, void *user)
{
  (void)user;
  return e->kind == N_OPAQUE || e->kind == N_LIST;
}

/* u[src] += wave[t]: where the value of u[src] is on the device, a step of one cell does it, and
 * the number comes from the host; whether the statement is one. */
static bool point(const unit *u, const node *s, const uses *list)
{
  static const char *const types[] = {"AMBIT_F32", "AMBIT_F64", "AMBIT_I32"};
  const node *e = s->a;
  const char *cell, *before = "", *after, *value, *in = port_indent_at(u, s->begin), *at_once;
  uses all = {.n = 0};

  if (s->kind != S_EXPR || !h.loop || list->reads_all || list->writes_all || list->waits ||
      e->kind != N_ASSIGN || (s->is_macro && e->a->end > e->b->begin) ||
      port_find(e->b, calls_steps, NULL) || !port_use_is_element(e->a) || e->a->type > T_I32 ||
      e->b->type > T_I32 || !strchr("=+-", e->op[0]) || e->op[0] == '\0' ||
      port_find(e->b, is_not_printed, NULL))
    return false;
  port_uses_in(e->b, &all);
  cell = port_print(e->a);
  if (port_use_base(e->a)->kind == N_NAME && port_use_base(e->a)->sym->is_private) return false;
  for (int i = 0; i < list->n; i++)
    if (list->at[i].is_write &&
        (list->at[i].ncells != 1 || list->at[i].base != port_use_base(e->a) ||
         !is_by_cells((node *)(uintptr_t)s, &list->at[i])))
      return false;
  for (int i = 0; i < all.n; i++)
    if (!strcmp(all.at[i].text, port_print(port_use_base(e->a)))) return false;
  memcpy(all.numbers, list->numbers, sizeof all.numbers); /* of the subscripts, too */
  all.nnumbers = list->nnumbers;
  take_cells(u, (node *)(uintptr_t)s, &all, "; ", &before, &after);
  explain_numbers(u, s, &all);
  if (all.n || all.nnumbers) before = port_text("%s%s", calls(&all, "; "), before);
  before = port_text("%s%s", port_probe_subscripts(e->a), before);
  value = port_print(e->b);
  at_once = h.is_spread
                ? port_text("if (port_wanders)\n%s    *port_p %s port_x;\n%s  else ", in, e->op, in)
                : "";
  port_edit(s->begin, port_statement_end(u, s) - s->begin,
            port_text("{\n%s  %sconst __typeof__(%s) port_x = %s;\n"
                      "%s  __typeof__(%s) *const port_p = &%s;\n"
                      "%s  %sif (!port_point(port_p, sizeof *port_p, '%c', %s, (double)port_x)) {\n"
                      "%s    port_get(port_p, sizeof *port_p);\n"
                      "%s    *port_p %s port_x;\n"
                      "%s    port_put(port_p, sizeof *port_p);\n%s  }\n%s}",
                      in, before, value, value, in, cell, cell, in, at_once, e->op[0],
                      types[e->b->type], in, in, e->op, in, in, in));
  return true;
}

/* trace[t] = u[c]: done later, if its values are on the device. */
static bool probe(const unit *u, const node *s)
{
  const char *before, *in = port_indent_at(u, s->begin);
  uses numbers = {.n = 0};

  if (!h.loop || !port_probe_is(s)) return false;
  port_uses_in(s->a->b, &numbers);
  if (s->a->a->kind != N_NAME) port_uses_in(s->a->a, &numbers);
  numbers.n = 0;
  before = port_text("%s%s%s", calls(&numbers, "; "), port_probe_subscripts(s->a->a),
                     port_probe_subscripts(s->a->b));
  explain_numbers(u, s, &numbers);
  port_edit(s->begin, port_statement_end(u, s) - s->begin,
            port_text("{\n%s  %s%s\n%s}", in, before, port_probe_text(u, h.f, s), in));
  return true;
}

static void place(const unit *u, const node *s, const char *text, bool is_alone)
{
  if (!text[0] || (!s->begin && !s->end)) return;
  if (!is_alone) {
    port_edit(s->begin, 0, port_text("{ %s", text));
    port_edit(port_statement_end(u, s), 0, " }");
    return;
  }
  port_edit(s->begin, 0, port_text("%s\n%s", text, port_indent_at(u, s->begin)));
}

/* ---- calls that run steps inside an expression ---- */

typedef struct wrapping {
  const char *text;  /* the calls that bring arrays to the host */
  const node *alone; /* nothing of the statement is computed after this call */
} wrapping;

/* u[0] = largest(u): the steps of the call come after the calls before the statement, and the
 * assignment comes after the steps. */
static bool wrap_call(node *e, void *user)
{
  const wrapping *w = user;

  if (e->kind != N_CALL || e == w->alone || !calls_steps(e, NULL) || (!e->begin && !e->end) ||
      e->is_macro)
    return true;
  port_edit(e->begin, 0, e->type == T_VOID ? "({ " : "({ __auto_type port_value = ");
  port_edit(e->end, 0, port_text("; %s%s})", w->text, e->type == T_VOID ? "" : "port_value; "));
  return true;
}

static node *without_casts(node *e)
{
  while (e && e->kind == N_CAST)
    e = e->a;
  return e;
}

/* f(u), x = f(u), double x = f(u), return f(u): the call is the last thing that is done. */
static const node *last_call(const node *s)
{
  node *e = s->kind == S_DECL ? (s->list && !s->list->next ? s->list->a : NULL) : s->a;

  if (s->kind != S_DECL && s->kind != S_EXPR && s->kind != S_RETURN) return NULL;
  e = without_casts(e);
  if (e && e->kind == N_ASSIGN && e->a->kind == N_NAME) e = without_casts(e->b);
  return e && e->kind == N_CALL ? e : NULL;
}

static void wrap_calls(node *s, const uses *list)
{
  wrapping w = {calls(list, "; "), last_call(s)};

  if (w.text[0]) port_walk(s, wrap_call, &w);
}

static void before_expression(const unit *u, node *e)
{
  uses list = {.n = 0};
  const char *text, *before, *after;

  if (!e) return;
  port_uses_in(e, &list);
  take_cells(u, e, &list, ", ", &before, &after);
  text = port_text("%s%s", calls(&list, ", "), before);
  explain(u, e, &list);
  if (text[0] && (e->begin || e->end)) port_edit(e->begin, 0, text);
  wrap_calls(e, &list);
}

static void statement(const unit *u, node *s, bool is_alone);

static void children(const unit *u, node *s)
{
  switch (s->kind) {
  case S_BLOCK:
    for (node *k = s->list; k; k = k->next)
      statement(u, k, true);
    break;
  case S_IF:
    statement(u, s->b, false);
    if (s->c) statement(u, s->c, false);
    before_expression(u, s->a);
    break;
  case S_FOR:
    before_expression(u, s->b);
    before_expression(u, s->c);
    statement(u, s->d, false);
    break;
  case S_WHILE:
  case S_DO:
    before_expression(u, s->a);
    statement(u, s->d, false);
    break;
  default:
    for (node *k = s->list; k; k = k->next)
      if (k->kind >= S_DECL)
        statement(u, k, true);
      else
        before_expression(u, k); /* of a switch */
  }
}

static bool is_compound(const node *s)
{
  return s->kind == S_BLOCK || s->kind == S_IF || s->kind == S_OTHER ||
         is_loop((node *)(uintptr_t)s, NULL);
}

/* A loop over receivers and sources. */
static void probe_loop(const unit *u, node *s, const uses *list, bool is_alone)
{
  const bool was_spread = h.is_spread;

  if (!h.is_spread && is_steady(s, list) && !list->reads_all && !list->writes_all && !list->waits) {
    place(u, s, port_text("if (port_wanders) { %s}", calls(list, "; ")), is_alone);
    h.is_spread = true;
  }
  children(u, s);
  h.is_spread = was_spread;
}

static bool has_loops(node *e, void *user)
{
  return e != user && (is_loop(e, NULL) || (e->kind == N_CALL && e->callee &&
                                            port_find(port_real(e->callee)->body, is_loop, NULL)));
}

/* is_alone: other statements may stand before it. */
static void statement(const unit *u, node *s, bool is_alone)
{
  const char *before, *after;
  const node *around = h.loop;
  uses list = {.n = 0};

  if (is_nest(s, NULL)) return;
  if (is_compound(s) && (has_steps(s) || (s->kind == S_BLOCK && is_alone))) {
    if (s->kind == S_FOR && s->a) {
      port_uses_in(s->a, &list);
      place(u, s, calls(&list, "; "), is_alone);
    }
    if (is_loop(s, NULL)) h.loop = s;
    children(u, s);
    h.loop = around;
    return;
  }
  if (probe(u, s)) return;
  port_uses_of(s, &list);
  if (h.loop && port_probe_is_loop(s)) {
    probe_loop(u, s, &list, is_alone);
    return;
  }
  if (!list.n && !list.reads_all && !list.writes_all && !list.waits && !list.nnumbers) return;
  if (is_compound(s) && (!is_steady(s, &list) || (s->kind == S_IF && h.loop))) {
    if (is_loop(s, NULL) && port_find(s, has_loops, s)) h.loop = NULL; /* it goes over cells */
    children(u, s); /* of a condition in a loop over time, nothing is copied where it is false */
    h.loop = around;
    return;
  }
  if (point(u, s, &list)) return;
  take_cells(u, s, &list, "; ", &before, &after);
  explain(u, s, &list);
  if (s->kind == S_BLOCK) { /* the body of something: inside its braces */
    if (s->list) place(u, s->list, calls(&list, "; "), true);
    return;
  }
  if (after[0]) {
    port_edit(s->begin, 0, is_alone ? "" : "{ ");
    port_edit(port_statement_end(u, s), 0, port_text("%s%s", after, is_alone ? "" : " }"));
  }
  place(u, s, port_text("%s%s", calls(&list, "; "), before), is_alone || after[0]);
  if (!is_compound(s)) wrap_calls(s, &list);
}

/* ---- functions ---- */

/* Functions that a loop with steps in it calls run in each of its rounds; a loop without steps that
 * calls a function with loops goes over cells. */
typedef struct round {
  node *loop;
  bool is_inner; /* in a loop without steps */
} round_of;

static bool note_round(node *e, void *user)
{
  round_of *r = user, inner = {r->loop, true};
  function *f = e->kind == N_CALL && e->callee ? port_real(e->callee) : NULL;

  if (is_nest(e, NULL)) return false; /* it has their bodies in its kernel */
  if (is_loop(e, NULL) && !r->is_inner && !has_steps(e)) {
    port_walk(e, note_round, &inner);
    return false;
  }
  if (f && f->body && !f->round && !(r->is_inner && port_find(f->body, is_loop, NULL))) {
    f->round = r->loop;
    port_walk(f->body, note_round, r);
  }
  return true;
}

static bool find_rounds(node *e, void *user)
{
  (void)user;
  if (is_nest(e, NULL)) return false;
  if (is_loop(e, NULL) && has_steps(e)) port_walk(e, note_round, &(round_of){e, false});
  return true;
}

void port_host_steps(unit *units)
{
  bool more = true;

  for (unit *u = units; u; u = u->next)
    for (function *f = u->functions; f; f = f->next)
      f->has_steps = port_find(f->body, is_nest, NULL) != NULL;
  while (more) {
    more = false;
    for (unit *u = units; u; u = u->next)
      for (function *f = u->functions; f; f = f->next)
        if (!f->has_steps && port_find(f->body, calls_steps, NULL)) f->has_steps = more = true;
  }
  for (unit *u = units; u; u = u->next)
    for (function *f = u->functions; f; f = f->next)
      port_walk(f->body, find_rounds, NULL);
}

typedef struct scope {
  const unit *u;
  const function *f;
  int n;
} scope;

/* Arrays of a block are forgotten when it ends. */
static bool guard_locals(node *s, void *user)
{
  scope *c = user;
  ambit__text t = {0};
  char *out;

  if (s->kind != S_DECL) return true;
  for (node *d = s->list; d; d = d->next) {
    port_use_find_private(c->f, d->sym);
    if (d->sym->type == T_ARRAY && !d->sym->is_global && !d->sym->is_private &&
        (port_use_counts(d->sym->ctype) || port_use_is_table(d->sym->ctype))) {
      ambit__print(&t, " PORT_LOCAL(port_local_%d, %s);", ++c->n, d->sym->name);
      if (port_use_is_table(d->sym->ctype))
        ambit__print(&t, " port_has_length(%s, sizeof(%s));", d->sym->name, d->sym->name);
    }
  }
  out = ambit__text_finish(&t);
  if (out && out[0]) port_edit(port_statement_end(c->u, s), 0, port_text("%s", out));
  free(out);
  return true;
}

static void open_main(const unit *u, const function *f)
{
  unsigned at = f->name_at;
  const char *names = f->nparams >= 2
                          ? port_text("&%s, &%s", f->params[0]->name, f->params[1]->name)
                          : "&port_argc, &port_argv";

  if (f->nparams < 2) {
    unsigned close;

    while (at < u->size && u->text[at] != '(')
      at++;
    for (close = at; close < u->size && u->text[close] != ')';)
      close++;
    port_edit(at + 1, close - at - 1, "int port_argc, char **port_argv");
  }
  port_edit(f->body->begin + 1, 0, port_text("\n  port_open(%s);", names));
}

void port_host(unit *u, bool is_called, bool explains)
{
  scope c = {u, NULL, 0};

  h.explains = explains;
  for (function *f = u->functions; f; f = f->next) {
    if (!f->is_editable || !f->body) continue;
    if (!strcmp(f->name, "main")) open_main(u, f);
    if (is_called && f->has_steps) port_edit(f->body->begin + 1, 0, " PORT_CALLED;");
    c.f = f;
    port_walk(f->body, guard_locals, &c);
    port_numbers_declare(u, f);
    h.loop = f->round;
    h.f = f;
    children(u, f->body);
  }
}
