/* SPDX-License-Identifier: BSD-3-Clause */
/* translate.c - the stages, in order, for each function of a program.
 *
 *   find loops that directives name; take each apart (walk.c); learn the shapes of arrays from all
 *   of them (shape.c); make steps (group.c), prove them (depend.c), write their kernels (kernel.c)
 *   and calls (emit.c); then see to the host code of all functions (host.c).
 */
#include "translate.h"

#include "edit.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NESTS = 512 };

/* A nest that directives name, or one case of it. */
typedef struct candidate {
  nest *nest;
  const pragma *about;
  bool is_open; /* it could be taken apart */
} candidate;

/* A nest that is tried with an integer fixed: a candidate for each number from 1 to `most`. */
typedef struct fixing {
  const node *node;
  symbol *sym; /* NULL: it was tried in vain */
  int most;
  const node *condition; /* on it: two cases; NULL: numbers */
  nest *whole;           /* the nest with nothing fixed: its subscripts tell the shapes of arrays */
} fixing;

typedef struct run {
  unit *all, *u; /* the files; this one */
  function *f;
  const settings *set;
  outcome *result; /* of this file */
  candidate at[MOST_NESTS];
  int n;
  /* nests that are tried with their short loops written out, as they were without */
  const nest *first[MOST_NESTS];
  const symbol *over_planes[MOST_NESTS]; /* ... with this one, for the sake of others; or NULL */
  bool is_tried[MOST_NESTS];             /* in vain: they stay as they were */
  int nfirst;
  candidate refused[MOST_NESTS]; /* of all functions */
  int nrefused;
  const nest *rows[MOST_NESTS]; /* nests of one loop over several axes: they get a loop for each */
  int nrows;
  fixing cases[MOST_NESTS];
  int ncases;
  /* loops around nests, though they looked like loops over cells: u[t + 1][i][j] = u[t][i][j] */
  const node *around[MOST_NESTS];
  bool is_kept[MOST_NESTS]; /* ... in vain: the loop stays the nest that it was */
  int naround;
  const node *lines[MOST_NESTS]; /* of receivers: host code */
  int nlines;
} run;

/* ---- finding nests ---- */

/* Nests, or calls of functions that may have some. */
static bool is_for(node *e, void *user)
{
  return (e != user && e->kind == S_FOR) || (e->kind == N_CALL && e->callee);
}

static void tell_refused(const run *r, const nest *n, const pragma *p)
{
  const node *at = n->fault && (n->fault->begin || n->fault->end) ? n->fault : n->node;
  const bool must = p && p->is_must;

  n->unit->result->serial++;
  n->unit->result->failed |= must;
  if (r->set->quiet && !must) return;
  port_note(n->unit, at, must ? "error" : "note", n->why,
            must
                ? port_text("this nest must run in parallel. %s", n->advice ? n->advice : "")
                : port_text("Left serial%s%s", n->advice ? "; " : ".", n->advice ? n->advice : ""));
}

static void look(run *r, node *s);

static void look_below(run *r, node *s)
{
  if (!s) return;
  if (s->b && s->b->kind >= S_DECL) look(r, s->b);
  if (s->c && s->c->kind >= S_DECL) look(r, s->c);
  look(r, s->d);
  for (node *k = s->list; k; k = k->next)
    look(r, k);
}

static int first_try(const run *r, const nest *n)
{
  for (int i = 0; i < r->nfirst; i++)
    if (r->first[i]->node == n->node && r->first[i]->fixed_to == n->fixed_to) return i;
  return -1;
}

static fixing *cases_of(run *r, const node *s)
{
  for (int i = 0; i < r->ncases; i++)
    if (r->cases[i].node == s) return &r->cases[i];
  return NULL;
}

/* A nest, taken apart as far as it can be. */
static nest *open_nest(const run *r, node *s, const pragma *p, const fixing *c, int64_t to)
{
  nest *n = port_new(sizeof *n);
  int before;

  n->unit = r->u;
  n->function = r->f;
  n->node = s;
  if (c) {
    n->fixed = c->sym;
    n->fixed_to = to;
    n->condition = c->condition;
  }
  n->sum_any = p && p->sum_any;
  before = first_try(r, n);
  for (int i = 0; i < r->nrows; i++)
    if (r->rows[i]->node == s) n->nflat = port_shapes_flat(r->rows[i], n->flat);
  n->is_unrolled = before >= 0 && !r->is_tried[before];
  if (n->is_unrolled) n->over_planes = r->over_planes[before];
  if (port_nest_open(n) && s->is_macro && port_statement_end(r->u, s) <= s->begin)
    port_refuse(n, s, "the nest is part of a macro", "write it out");
  return n;
}

static void look_at_cases(run *r, node *s, const pragma *p, fixing *c)
{
  nest *last = NULL;

  c->whole = open_nest(r, s, p, NULL, 0);

  for (int i = 1; i <= c->most && r->n < MOST_NESTS; i++) {
    nest *n = open_nest(r, s, p, c, i);

    if (last) last->next_case = n;
    last = n;
    r->at[r->n++] = (candidate){.nest = n, .about = p};
  }
}

static bool is_around(const run *r, const node *s)
{
  for (int i = 0; i < r->naround; i++)
    if (r->around[i] == s) return !r->is_kept[i];
  return false;
}

static bool is_line(const run *r, const node *s)
{
  for (int i = 0; i < r->nlines; i++)
    if (r->lines[i] == s) return true;
  return false;
}

static void look(run *r, node *s)
{
  const pragma *p;
  fixing *c;
  nest *n;

  if (!s) return;
  if (s->kind != S_FOR) {
    look_below(r, s);
    return;
  }
  p = port_pragma_of(r->u->pragmas, s);
  if (!p) p = r->f->about;
  if ((!p && !r->set->propose) || (p && p->is_serial)) {
    look_below(r, s);
    return;
  }
  if (is_line(r, s)) return;
  if (is_around(r, s)) {
    look_below(r, s);
    return;
  }
  if ((c = cases_of(r, s)) && c->sym) {
    look_at_cases(r, s, p, c);
    return;
  }
  n = open_nest(r, s, p, NULL, 0);
  if (n->why && !n->is_cells && first_try(r, n) < 0 && port_find(s, is_for, s)) {
    look_below(r, s); /* a loop around nests, such as that over time */
    return;
  }
  if (r->n < MOST_NESTS) r->at[r->n++] = (candidate){.nest = n, .about = p};
}

/* ---- one nest ---- */

/* The distances of tables of neighbours are known at run time. */
static const char *with_distances(const char *text)
{
  const char *at = strstr(text, "PORT_");

  return at ? port_text("%.*s1%s", (int)(at - text), text, with_distances(at + 6)) : text;
}

/* The library reads every kernel before it is written. */
static bool is_accepted(const run *r, const step *s)
{
  ambit_kernel *k = ambit_kernel_create(r->set->context, with_distances(s->text));
  const bool ok = k != NULL;

  if (!ok) {
    port_refuse(s->nest, s->nest->node,
                port_text("the kernel language does not have all that this nest uses: %s",
                          ambit_error_text(r->set->context)),
                NULL);
    ambit_error_clear(r->set->context);
  }
  ambit_kernel_destroy(k);
  return ok;
}

/* Whether the library, too, sees that all cells that are written have one colour. */
static bool is_in_place(const run *r, const step *s)
{
  ambit_kernel *k = ambit_kernel_create(r->set->context, s->in_place);
  bool ok = k != NULL;

  for (int i = 0; ok && i < s->nparams; i++)
    if (s->params[i].kind == P_UPDATE) ok = port_has_colour(k, i);
  ambit_error_clear(r->set->context);
  ambit_kernel_destroy(k);
  return ok;
}

/* The function and the line; the second nest of a line gets a number, too. */
static const char *kernel_name(const run *r, const nest *n)
{
  int before = 0;

  for (int i = 0; i < r->n && r->at[i].nest != n; i++)
    before += r->at[i].nest->node->line == n->node->line && r->at[i].nest->fixed_to == n->fixed_to;
  return port_text("%s_%u%s%s", n->function->name, n->node->line,
                   before ? port_text("x%d", before + 1) : "",
                   n->fixed ? port_text("_%s%d", n->fixed->name, (int)n->fixed_to) : "");
}

static step *make_steps(const run *r, nest *n, int *writes)
{
  step *steps, *s;
  int count = 0;

  if (!port_shapes_apply(n, true) || !port_lines_are_written(n) || !(steps = port_steps(n)) ||
      !port_depend(n, steps))
    return NULL;
  for (s = steps; s; s = s->next)
    if (s->nwrites > *writes) *writes = s->nwrites;
  for (s = steps; s; s = s->next) {
    s->name = port_text("%s%s", kernel_name(r, n), steps->next ? port_text("_%d", ++count) : "");
    if (!port_kernel(s) || !is_accepted(r, s)) return NULL;
    if (s->in_place && !is_in_place(r, s)) s->in_place = NULL;
  }
  return steps;
}

/* A nest with too many arrays for one kernel writes some of them in a step of its own, and computes
 * what both steps need twice: D3Q19 with 19 planes that are read and 19 that are written. */
static step *finish_nest(const run *r, nest *n)
{
  int writes = 0, at_once = 0;
  step *steps = make_steps(r, n, &writes);

  for (int parts = 2; parts <= 4 && !steps && n->is_wide && writes >= parts; parts++) {
    const nest before = *n;

    if (!at_once) at_once = writes;
    n->why = NULL;
    n->is_wide = false;
    n->most_writes = (at_once + parts - 1) / parts;
    steps = make_steps(r, n, &writes);
    if (!steps && !n->is_wide) { /* the reason is another one: tell the first */
      n->why = before.why;
      n->fault = before.fault;
      n->advice = before.advice;
    }
  }
  return steps;
}

/* A pragma before the nest, and a note; nothing else changes. */
static void propose(const run *r, const nest *n, const step *steps)
{
  int count = 0;

  for (const step *s = steps; s; s = s->next)
    count++;
  if (!port_pragma_of(r->u->pragmas, n->node))
    port_edit_lines(r->u, n->node->begin, "#pragma ambit\n");
  if (!r->set->quiet)
    port_note(r->u, n->node, "note",
              count == 1 ? "this nest would run in parallel"
                         : port_text("this nest would run in parallel, as %d steps", count),
              NULL);
}

/* Takes all nests of the function apart and makes their steps. */
static void analyse(run *r)
{
  port_arrays = NULL;
  port_sweeps.are_transposed = false;
  r->n = 0;
  look(r, r->f->body);
  for (int i = 0; i < r->n; i++)
    if (!r->at[i].nest->why) port_shapes_learn(r->at[i].nest, false);
  for (int i = 0; i < r->ncases; i++)
    if (r->cases[i].sym && !r->cases[i].whole->why) port_shapes_learn(r->cases[i].whole, true);
  port_shapes_settle();
  for (int i = 0; i < r->n; i++) /* all axes are known after this */
    if (!r->at[i].nest->why) {
      port_shapes_apply(r->at[i].nest, false);
      r->at[i].nest->why = NULL;
      r->at[i].is_open = true;
    }
  for (int i = 0; i < r->n; i++)
    if (r->at[i].is_open) r->at[i].nest->steps = finish_nest(r, r->at[i].nest);
}

/* Nests that cannot be translated are tried again with their short loops written out; whether there
 * are any. Those that were, in vain, are left as they were: their facts about the shapes of arrays
 * must not count. */
static bool try_again(run *r)
{
  bool more = false;

  for (int i = 0; i < r->n; i++) {
    const nest *n = r->at[i].nest;
    const int before = first_try(r, n);

    if (n->steps || (before >= 0 && r->is_tried[before])) continue;
    if (before >= 0)
      r->is_tried[before] = true;
    else if (n->has_short && r->nfirst < MOST_NESTS) {
      r->is_tried[r->nfirst] = false;
      r->over_planes[r->nfirst] = NULL;
      r->first[r->nfirst++] = n;
    } else
      continue;
    more = true;
  }
  return more;
}

/* Planes that some nests name one by one are arrays of their own, and such a nest is one step,
 * unless there is a loop over the planes elsewhere. So short loops over them are written out;
 * whether there are new ones. If planes are an axis nevertheless, that was in vain. */
static bool find_planes(run *r)
{
  bool more = false, in_vain = false;

  for (int i = 0; i < r->n; i++) {
    const nest *n = r->at[i].nest;
    const symbol *planes = n->steps ? port_shapes_planes(n) : NULL;

    if (!planes) continue;
    if (first_try(r, n) >= 0 || r->nfirst == MOST_NESTS) {
      in_vain = true;
      continue;
    }
    r->is_tried[r->nfirst] = false;
    r->over_planes[r->nfirst] = planes;
    r->first[r->nfirst++] = n;
    more = true;
  }
  for (int i = 0; more && i < r->nfirst; i++)
    if (!r->over_planes[i]) r->is_tried[i] = false; /* planes of other nests were an axis then */
  for (int i = 0; in_vain && !more && i < r->nfirst; i++)
    if (r->over_planes[i] && !r->is_tried[i]) r->is_tried[i] = more = true;
  return more;
}

/* One loop over all rows of an array that other nests gave several axes; whether there are new
 * ones. */
static bool find_rows(run *r)
{
  poly flat[AXES];
  bool more = false;

  for (int i = 0; i < r->n; i++) {
    const nest *n = r->at[i].nest;

    if (!n->steps || n->nflat || r->nrows == MOST_NESTS || !port_shapes_flat(n, flat)) continue;
    r->rows[r->nrows++] = n;
    more = true;
  }
  return more;
}

/* A nest that cannot be translated may be for each value of an integer, and one with planes that
 * are not always there for both values of a condition; if that fails as well, it stays as it was.
 * Whether anything has changed. */
static bool find_cases(run *r)
{
  bool more = false;

  for (int i = 0; i < r->n; i++) {
    const nest *n = r->at[i].nest;
    nest copy = {.unit = n->unit, .function = n->function, .node = n->node};
    fixing *c = cases_of(r, n->node), found = {.node = n->node, .most = 2};

    if (c && (n->steps || !c->sym)) continue;
    if (c)
      c->sym = NULL;
    else if (r->ncases < MOST_NESTS &&
             ((found.sym = port_case_condition(r->at[i].nest, &found.condition)) ||
              (!n->steps && (found.sym = port_case_find(&copy, &found.most)))))
      r->cases[r->ncases++] = found;
    else
      continue;
    more = true;
  }
  return more;
}

static bool is_loop(node *e, void *user)
{
  return e != user && e->kind == S_FOR;
}

static bool has_two_loops(node *e, void *user)
{
  return e != user && e->kind == S_FOR && port_find(e, is_loop, e);
}

static bool is_same(node *e, void *user)
{
  return e == user;
}

/* Whether a nest inside the loop was translated. */
static bool has_steps_inside(const run *r, const node *s)
{
  for (int i = 0; i < r->n; i++)
    if (r->at[i].nest->steps && port_find((node *)(uintptr_t)s, is_same, r->at[i].nest->node))
      return true;
  return false;
}

/* Flat arrays of planes; all is learnt anew then. */
static bool find_flat_planes(run *r)
{
  nest *nests[MOST_NESTS];

  for (int i = 0; i < r->n; i++)
    nests[i] = r->at[i].nest;
  if (!port_planes_find(nests, r->n)) return false;
  r->nfirst = r->nrows = r->ncases = r->naround = 0;
  return true;
}

/* Arrays of one line: other code uses them, or another order of axes is better. */
static bool find_array_lines(run *r, bool turn)
{
  nest *nests[MOST_NESTS];

  for (int i = 0; i < r->n; i++)
    nests[i] = r->at[i].nest;
  return turn ? port_lines_turn(nests, r->n) : port_lines_check(nests, r->n);
}

static bool find_transposed(run *r)
{
  if (!port_sweeps.are_transposed || port_sweeps.are_off) return false;
  port_sweeps.are_off = true;
  r->nfirst = r->nrows = r->ncases = r->naround = 0;
  return true;
}

/* A line of receivers is no nest, and its gaps say nothing about the shape of an array; whether
 * there are new ones. */
static bool find_lines(run *r)
{
  nest *nests[MOST_NESTS];
  bool more = false;

  for (int i = 0; i < r->n; i++)
    nests[i] = r->at[i].nest;
  for (int i = 0; i < r->n && !r->set->check && !r->set->propose; i++)
    if (r->nlines < MOST_NESTS && port_probe_is_line(r->f, nests[i], nests, r->n)) {
      r->lines[r->nlines++] = nests[i]->node;
      more = true;
    }
  return more;
}

/* A nest that cannot be translated may have nests inside that can: loops of two and more over
 * cells. Whether anything has changed. */
static bool find_around(run *r)
{
  bool more = false;

  for (int i = 0; i < r->naround; i++)
    if (!r->is_kept[i] && !has_steps_inside(r, r->around[i])) r->is_kept[i] = more = true;
  for (int i = 0; i < r->n; i++) {
    const nest *n = r->at[i].nest;
    int k = 0;

    while (k < r->naround && r->around[k] != n->node)
      k++;
    if (n->steps || n->is_untiled || k < r->naround || k == MOST_NESTS ||
        !port_find(n->node, has_two_loops, n->node))
      continue;
    r->around[r->naround] = n->node;
    r->is_kept[r->naround++] = false;
    more = true;
  }
  return more;
}

/* Sums of real numbers depend on their order. */
static void tell_sums(const run *r, const nest *n)
{
  for (const step *s = n->steps; s; s = s->next)
    for (int i = 0; i < s->nparams && !r->set->quiet; i++) {
      const param *p = &s->params[i];
      const char *name = p->reduction ? p->reduction->a->sym->name : NULL;

      if (p->kind == P_TERM)
        port_note(r->u, n->node, "note",
                  port_text("'%s' is summed in the order of the source: the step computes the "
                            "terms, the host adds them",
                            name),
                  "#pragma ambit sum(any) lets the device add: faster, and rounded differently");
      if (p->kind == P_SUM && (p->type == T_F32 || p->type == T_F64))
        port_note(r->u, n->node, "note",
                  port_text("'%s' is summed in any order: its last digits may differ from those of "
                            "the serial program",
                            name),
                  "#pragma ambit sum(order) adds in the order of the source");
    }
}

/* The nest, and its other cases. */
static void write_nest(const run *r, nest *n, ambit__text *rules)
{
  bool has_results = false;

  r->result->nests++;
  for (const step *s = n->steps; s; s = s->next)
    r->result->steps++;
  if (r->set->propose) {
    propose(r, n, n->steps);
    return;
  }
  tell_sums(r, n);
  for (nest *c = n; c; c = c->next_case) {
    port_host_use(c->steps);
    ambit__print(rules, "%s", port_emit_rules(r->u, c->steps));
  }
  for (const step *s = n->steps; s; s = s->next)
    has_results |= s->has_reductions;
  port_host_has_step(n->node, has_results);
  port_emit_calls(r->u, n, r->set->check);
}

/* Loops that end when a result of one of their nests is small. */
static void write_until(const run *r)
{
  for (int i = 0; i < r->n && !r->set->propose && !r->set->check; i++)
    if (r->at[i].nest->steps && !r->at[i].nest->fixed)
      port_until(r->f, r->at[i].nest, r->at[i].nest->steps, true);
}

/* Results and host statements that may come late; the nests have been translated already. */
static void find_numbers(const run *r)
{
  nest *nests[MOST_NESTS];
  int n = 0;

  for (int i = 0; i < r->n; i++)
    if (r->at[i].nest->steps) nests[n++] = r->at[i].nest;
  port_numbers_find(r->f, nests, n);
  for (int i = 0; i < n; i++)
    port_host_use(nests[i]->steps);
  port_probes_find(r->f, nests, n);
}

/* Tries nests in one form after the other, until none changes; how many are translated then, and
 * whether flat arrays were taken for arrays of planes, where that is allowed. */
static bool settle(run *r, bool may_have_planes, int *translated)
{
  bool has_planes = false, is_new;

  r->nfirst = r->nrows = r->ncases = r->naround = r->nlines = *translated = 0;
  port_planes_reset();
  port_lines_reset(r->set->check);
  port_sweeps = (sweeps){false, false};
  do {
    analyse(r);
    is_new = may_have_planes && find_flat_planes(r);
    has_planes |= is_new;
  } while (is_new || find_array_lines(r, true) || find_transposed(r) || find_lines(r) ||
           try_again(r) || find_planes(r) || find_rows(r) || find_cases(r) || find_around(r) ||
           find_array_lines(r, false));
  for (int i = 0; i < r->n; i++)
    *translated += r->at[i].nest->steps != NULL;
  return has_planes;
}

static void translate_function(run *r)
{
  ambit__text rules = {0};
  int count, others;
  bool has_planes;
  char *text;

  has_planes = settle(r, true, &count);
  if (has_planes && (settle(r, false, &others), others <= count)) settle(r, true, &count);
  if (!r->set->check && !r->set->propose) find_numbers(r);
  for (int i = 0; i < r->n; i++) {
    nest *n = r->at[i].nest;
    const int before = first_try(r, n);

    if (n->steps && n->fixed_to < 2)
      write_nest(r, n, &rules);
    else if (!n->steps && r->nrefused < MOST_NESTS)
      r->refused[r->nrefused++] = (candidate){
          .nest = before < 0 ? n : (nest *)(uintptr_t)r->first[before], .about = r->at[i].about};
  }
  write_until(r);
  text = ambit__text_finish(&rules);
  if (text && text[0]) {
    unsigned outside;

    port_edit_lines(r->u, port_declaration_at(r->u, r->f->begin, &outside), text);
  }
  free(text);
}

/* ---- functions that are part of kernels ---- */

static bool is_called(const run *r, const node *n, const function *f, bool *somewhere);

/* Whether all calls of a function stand in nests that were translated, which have its body in them.
 */
static bool is_inlined(const run *r, const function *f, int depth)
{
  bool somewhere = false;

  if (depth == 16) return false; /* it calls itself */
  for (const unit *u = r->all; u; u = u->next)
    for (const function *g = u->functions; g; g = g->next)
      if (g != f && is_called(r, g->body, f, &somewhere) && !is_inlined(r, g, depth + 1))
        return false;
  return somewhere;
}

static bool is_called(const run *r, const node *n, const function *f, bool *somewhere)
{
  const bool is_nest = n && n->kind == S_FOR && port_host_is_nest(n);
  bool found = false;

  if (!n) return false;
  if (n->kind == N_CALL && n->callee && port_real(n->callee) == f) found = *somewhere = true;
  found |= is_called(r, n->a, f, somewhere);
  found |= is_called(r, n->b, f, somewhere);
  found |= is_called(r, n->c, f, somewhere);
  found |= is_called(r, n->d, f, somewhere);
  for (const node *k = n->list; k; k = k->next)
    found |= is_called(r, k, f, somewhere);
  return found && !is_nest;
}

static bool is_step(node *e, void *user)
{
  (void)user;
  return port_host_is_nest(e);
}

static bool calls_steps(node *e, void *user)
{
  (void)user;
  return e->kind == N_CALL && e->callee && port_find(port_real(e->callee)->body, is_step, NULL);
}

/* A loop around calls of functions with steps, or over sources, is no nest that stays serial. */
static void tell_all_refused(run *r)
{
  for (int i = 0; i < r->nrefused; i++)
    if (!port_find(r->refused[i].nest->node->d, calls_steps, NULL) &&
        !port_probe_is_repeated(r->refused[i].nest->function, r->refused[i].nest->node) &&
        !is_inlined(r, r->refused[i].nest->function, 0))
      tell_refused(r, r->refused[i].nest, r->refused[i].about);
}

/* Nests in files that are included, once for each file. */
static void tell_included(unit *u)
{
  for (function *f = u->functions; f; f = f->next) {
    const size_t n = strlen(f->path);
    const bool is_source = n > 2 && !strcmp(f->path + n - 2, ".c");
    bool is_told = false;

    for (const function *g = u->functions; g != f; g = g->next)
      is_told |= g->is_told && !strcmp(g->path, f->path);
    if (f->is_editable || is_told || !f->body || (!is_source && !f->about) ||
        !port_find(f->body, is_loop, NULL))
      continue;
    f->is_told = true;
    fprintf(stderr, "%s: note: it is included by %s: its nests stay serial\n", f->path, u->path);
    if (is_source)
      fprintf(stderr, "  ambit port %s %s ... translates both, without the #include\n", u->path,
              f->path);
  }
}

/* ---- the program ---- */

static bool has_main(const unit *u)
{
  for (const function *f = u->functions; f; f = f->next)
    if (f->is_editable && !strcmp(f->name, "main")) return true;
  return false;
}

static void translate_file(run *r, unit *u, bool is_support)
{
  r->u = u;
  r->result = u->result;
  port_edit_file(u);
  if (!r->set->propose) port_write_head(u, r->set, !r->all->next, is_support);
  port_told_shapes = u->shapes;
  for (function *f = u->functions; f; f = f->next)
    if (f->is_editable && f->body) {
      r->f = f;
      translate_function(r);
    }
}

/* Everything but the nests. */
static void finish_file(run *r, unit *u, bool is_support, bool is_called)
{
  r->u = u;
  port_edit_file(u);
  for (const pragma *p = u->pragmas; p; p = p->next)
    port_edit(p->begin, p->end - p->begin,
              p->is_wait ? "port_wait();" : port_commented(u->text + p->begin, u->text + p->end));
  port_host(u, is_called,
            r->set->explain); /* without nests too: of several processes, one prints */
  port_drop_directives(u);
  if (is_support) port_write_support(u, r->set);
}

void port_translate(unit *units, const settings *set)
{
  run *r = port_new(sizeof *r);
  const unit *support = units;
  bool is_called = true;

  *r = (run){.all = units, .set = set};
  port_link(units);
  for (unit *u = units; u; u = u->next) {
    u->result = port_new(sizeof *u->result);
    port_pragmas_spread(u);
    if (!has_main(u)) continue;
    support = u;
    is_called = false;
  }
  for (unit *u = units; u; u = u->next)
    if (u != support) translate_file(r, u, false);
  for (unit *u = units; u; u = u->next) /* last, since it calls the others */
    if (u == support) translate_file(r, u, true);
  port_host_steps(units);
  tell_all_refused(r);
  for (unit *u = units; u && !set->quiet; u = u->next) {
    port_tell_idle(u);
    tell_included(u);
  }
  if (set->propose) return;
  for (unit *u = units; u; u = u->next)
    finish_file(r, u, u == support, is_called);
  if (is_called && !set->quiet)
    fprintf(stderr,
            "ambit port: no main here: around each call from another file, arrays are copied to "
            "the device and back\n");
}
