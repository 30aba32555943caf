/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_narrow.c - vectors of narrow integers.
 *
 * Fields of narrow integers beside wider ones, such as masks of bytes: a loop over values of
 * several widths is vectorised for the narrowest, with as many vectors of the others as that takes:
 * with masks of bytes, D2Q9 took 4 times the instructions on x86. So the values of a vector are
 * widened first (AMBIT_INTS of prelude/c.h).
 *
 * Rules whose fields are all narrow: lanes are as narrow as the values (codegen/narrow.h). The
 * cells of row 1 have the values of fields, and sums of them along a row (nest/shares.h), in
 * variables h0_1, h1_1, ...: in this form compilers see that two rows of a block add the same.
 *
 * Look-ups of bytes in tables of at most 256, and of shorts in tables of at most 64: compilers look
 * up one cell after the other. So a first loop computes the subscripts, and whole vectors of them
 * are looked up (prelude/look_up.h): look0_1 is the first look-up of row 1. An excitable medium of
 * shorts, 9 look-ups per cell, was 0.6 times as fast as a plain nest without.
 */
#include "nest/rows.h"

#include <stdlib.h>

typedef ambit__rows_job job;

enum { MOST_BYTES = 256, MOST_SHORTS = 64 }; /* elements of a table */

/* ---- beside wider fields ---- */

static bool print_wide(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                       const ambit__expr *e)
{
  const ambit__param *p = ambit__nest_param(n, e->index);

  if (!n->widened[e->index]) return false;
  ambit__print(t, "%s_w%d_%d[l]", p->name, ambit__nest_read_number(p, e), rule->row);
  return true;
}

bool ambit__rows_widens(job *j, size_t lane_bytes)
{
  ambit__nest *n = j->n;
  bool any = false;

  for (int i = 0; i < n->rule->nparams && j->lanes; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    n->widened[i] = ambit__nest_is_field(n, i) && p->nreads && !p->is_written &&
                    n->bind[i].contiguous && !ambit__type_is_real(p->type) &&
                    ambit_type_size(p->type) < sizeof(int32_t) && lane_bytes >= sizeof(int32_t);
    any |= n->widened[i];
  }
  if (any) n->hooks.read = print_wide;
  return any;
}

void ambit__rows_load_wide(job *j)
{
  ambit__nest *n = j->n;

  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    for (int k = 0; n->widened[i] && k < p->nreads * j->count; k++) {
      const ambit__read *read = &p->reads[k % p->nreads];
      const int r = k / p->nreads;
      const ambit__nest_access a = ambit__rows_access(j, i, read->component, r, read->offset, "x");

      ambit__nest_do(n, "int32_t %s_w%d_%d[LANES] __attribute__((aligned(AMBIT_VECTOR)))", p->name,
                     k % p->nreads, r);
      ambit__nest_do(n, "AMBIT_INTS(%s, %s_w%d_%d, %s, LANES)", ambit__nest_type(n, i), p->name,
                     k % p->nreads, r, ambit__nest_pointer(n, &a));
    }
  }
}

/* ---- what rows share ---- */

/* Whether all fields are integers of 8 or 16 bits, and the code will be vectorised. */
static bool is_narrow(const job *j)
{
  bool any = false;

  for (int i = 0; i < j->n->rule->nparams; i++) {
    const ambit_type type = ambit__nest_param(j->n, i)->type;

    if (!ambit__nest_is_field(j->n, i)) continue;
    if (type != AMBIT_U8 && type != AMBIT_I16) return false;
    any = true;
  }
  return any && !j->direct && !j->r->scalar;
}

static bool is_single(const ambit__share *x)
{
  return x->n == 1 && x->weights[0] == 1;
}

static const char *type_of(ambit__nest *n, int share)
{
  const ambit__share *x = &n->shares.list[share];

  return is_single(x) ? ambit__nest_type(n, x->param)
                      : ambit__narrow_type(ambit__share_range(&n->shares, share));
}

/* The terms are added from the last one with a positive weight on, backwards. */
static void let_share(job *j, int k, int r)
{
  ambit__nest *n = j->n;
  const ambit__share *x = &n->shares.list[k];
  const char *type = type_of(n, k), *sum = "";
  int first = x->n - 1, offset[AMBIT_MAX_DIMS];

  while (x->weights[first] < 0)
    first--;
  for (int m = 0; m < x->n; m++) {
    const int i = (first - m + x->n) % x->n, weight = abs(x->weights[i]);
    ambit__nest_access a;

    for (int d = 0; d < AMBIT_MAX_DIMS; d++)
      offset[d] = d == j->last ? x->at[i] : x->offset[d];
    a = ambit__rows_access(j, x->param, x->component, r, offset, ambit__rows_x(j));
    if (m) sum = ambit__nest_text(n, "%s%s", sum, x->weights[i] < 0 ? " - " : " + ");
    if (weight > 1) sum = ambit__nest_text(n, "%s(%s)%d * ", sum, type, weight);
    sum = ambit__nest_text(n, "%s(%s)%s", sum, type, ambit__nest_value(n, &a));
  }
  ambit__nest_do(n, "const %s h%d_%d = (%s)(%s)", type, k, r, type, sum);
}

void ambit__rows_let_shares(job *j, int r)
{
  for (int k = 0; j->n->is_narrow && k < j->n->shares.n; k++)
    let_share(j, k, r);
}

static bool print_read(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                       const ambit__expr *e)
{
  ambit__print(t, "h%d_%d", ambit__shares_read(&n->shares, e), rule->row);
  return true;
}

/* A sum of bytes, in the narrowest type that holds it. */
static bool print_sum(ambit__nest *n, const ambit__node *rule, ambit__text *t, const ambit__expr *e)
{
  const ambit__dot *sum = ambit__dots_find(&n->shares.dots, e);
  const char *type = sum ? ambit__narrow_type(ambit__narrow_range(&n->narrow, e)) : NULL;
  ambit__share_term terms[AMBIT__DOT_TERMS];
  bool starts; /* with the constant */
  int count;

  if (!sum) return false;
  count = ambit__shares_sum(&n->shares, sum, terms);
  starts = sum->constant || !count || terms[0].factor < 0;
  ambit__print(t, "(int32_t)(%s)(", type);
  if (starts) ambit__print(t, "(%s)(%d)", type, (int)sum->constant);
  for (int k = 0; k < count; k++) {
    const int factor = abs(terms[k].factor);

    if (starts || k) ambit__print(t, terms[k].factor < 0 ? " - " : " + ");
    if (factor > 1) ambit__print(t, "(%s)%d * ", type, factor);
    ambit__print(t, "(%s)h%d_%d", type, terms[k].share, rule->row);
  }
  ambit__print(t, ")");
  return true;
}

/* Whether the elements of a table are shorts, and not bytes. */
static bool is_short(const ambit__expr *look)
{
  return look->type == AMBIT_I16;
}

/* A sum of bytes, or a value that was looked up. */
static bool print_ready(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                        const ambit__expr *e)
{
  for (int k = 0; k < n->nlooks; k++)
    if (n->looks[k] == e) {
      ambit__print(t, "(lane_%s)look%d_%d[l]", is_short(e) ? "i16" : "u8", k, rule->row);
      return true;
    }
  return print_sum(n, rule, t, e);
}

/* Locals that only sums read; before look-ups, all but the locals that subscripts may need. */
static bool skip(ambit__nest *n, const ambit__node *rule, const ambit__stmt *st)
{
  if (ambit__shares_idle(&n->shares, st)) return true;
  return rule->subscripts && (st->kind != STMT_LOCAL || ambit__expr_looks_up(n->rule, st->value));
}

/* ---- look-ups ---- */

static bool is_look(ambit__nest *n, const ambit__expr *e)
{
  const ambit__table *table = e->op == EXPR_TABLE ? &n->rule->tables[e->index] : NULL;
  ambit__range r;

  if (!table || (table->type != AMBIT_U8 && table->type != AMBIT_I16) || table->naxes > 1 ||
      table->size[0] > (table->type == AMBIT_U8 ? MOST_BYTES : MOST_SHORTS))
    return false;
  r = ambit__narrow_range(&n->narrow, e->a);
  return e->a->op != EXPR_CONST && r.low >= INT16_MIN && r.high <= INT16_MAX &&
         !ambit__expr_looks_up(n->rule, e->a);
}

static ambit__visit collect_look(void *user, const ambit__expr *e)
{
  ambit__nest *n = user;

  if (is_look(n, e) && n->nlooks < AMBIT__LOOKS) n->looks[n->nlooks++] = e;
  return VISIT_INSIDE;
}

static void find_looks(job *j)
{
  const ambit__rule *rule = j->n->rule;

  if (j->reduces || !j->lanes) return;
  for (const ambit__stmt *s = rule->body; s; s = s->next)
    if (s->kind != STMT_SET_OUT && (s->kind != STMT_LOCAL || !ambit__only_value(rule, s->index)))
      return;
  ambit__visit_stmts(&(ambit__visitor){.expr = collect_look, .user = j->n}, rule->body);
}

static void let_subscripts(job *j, int r, int inside)
{
  ambit__nest *n = j->n;
  const ambit__node rule = {.kind = NODE_RULE, .inside = inside, .row = r, .subscripts = true};

  ambit__rows_let_shares(j, r);
  ambit__nest_block(n);
  if (inside >= 0) ambit__nest_do(n, "enum { inside = %d }", inside);
  ambit__rows_let_place(j, r);
  ambit__nest_add(n, rule);
  for (int k = 0; k < n->nlooks; k++) {
    const ambit__expr *e = n->looks[k]->a;
    const int last = (int)n->rule->tables[n->looks[k]->index].size[0] - 1;
    const ambit__range range = ambit__narrow_range(&n->narrow, e);
    const char *at = ambit__nest_expr(n, &rule, e);

    if (is_short(n->looks[k]))
      ambit__nest_do(n, "look%d_%d[l] = (int16_t)(%s)", k, r, at);
    else if (range.low < 0 || range.high > last)
      ambit__nest_do(n, "look%d_%d[l] = ambit_subscript((int16_t)(%s), %d)", k, r, at, last);
    else
      ambit__nest_do(n, "look%d_%d[l] = (uint8_t)(%s)", k, r, at);
  }
  ambit__nest_close(n);
}

void ambit__rows_look_up(job *j, int inside)
{
  ambit__nest *n = j->n;

  if (!n->nlooks) return;
  for (int k = 0; k < n->nlooks * j->count; k++)
    ambit__nest_do(n, "%s look%d_%d[LANES] __attribute__((aligned(AMBIT_VECTOR)))",
                   is_short(n->looks[k % n->nlooks]) ? "int16_t" : "uint8_t", k % n->nlooks,
                   k / n->nlooks);
  ambit__rows_open_lanes(j);
  for (int r = 0; r < j->count; r++)
    let_subscripts(j, r, inside);
  ambit__nest_close(n);
  for (int k = 0; k < n->nlooks * j->count; k++) {
    const ambit__expr *look = n->looks[k % n->nlooks];
    const ambit__table *table = &n->rule->tables[look->index];
    ambit__text name = {0};

    ambit__name_table(&name, table);
    ambit__nest_do(n, "ambit_look_up%s(look%d_%d, %s, %d, LANES)", is_short(look) ? "_shorts" : "",
                   k % n->nlooks, k / n->nlooks, ambit__nest_keep(n, &name),
                   (int)table->size[0] - 1);
  }
}

void ambit__rows_begin_narrow(job *j)
{
  ambit__nest *n = j->n;

  if (!is_narrow(j) || !ambit__narrow_begin(&n->narrow, n->rule)) return;
  n->failed |= !ambit__shares_begin(&n->shares, n->rule, n->group->ndims);
  n->is_narrow = true;
  n->hooks.read = print_read;
  n->hooks.instead = print_ready;
  n->hooks.skip = skip;
  find_looks(j);
}
