/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_narrow.c - vectors of narrow integers.
 *
 * Fields of narrow integers beside wider ones, such as masks of bytes: a loop over values of
 * several widths is vectorised for the narrowest, with as many vectors of the others as that takes:
 * with masks of bytes, D2Q9 took 4 times the instructions on x86. So the values of a vector are
 * widened first (AMBIT_INTS of prelude/c.h).
 *
 * Rules whose fields are all narrow: lanes are as narrow as the values (codegen/narrow.h). A sum of
 * bytes over several rows (nest/dots.h) is one of sums along a row: compilers see that rows of a
 * block have these in common. Of 3 x 3 bytes 8 rows add 10 sums of 3, and 3 of these each. Life
 * took 1.47 times as long without. Integer sums are exact, so this holds in strict mode too.
 *
 *      . a a a .    of row 0
 *      . b b b .    of rows 0 and 1
 *      . c c c .    of rows 0, 1 and 2
 *
 * Look-ups of bytes in tables of at most 256, and of shorts in tables of at most 64: compilers look
 * up one cell after the other. So a first loop computes the subscripts, and whole vectors of them
 * are looked up (prelude/look_up.h): look0_1 is the first look-up of row 1. An excitable medium of
 * shorts, 9 look-ups per cell, was 0.6 times as fast as a plain nest without.
 */
#include "nest/dots.h"
#include "nest/rows.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- sums along rows ---- */

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

static int common_divisor(int a, int b)
{
  return b ? common_divisor(b, a % b) : abs(a);
}

/* Whether two reads are in one row. */
static bool in_row(int last, const ambit__expr *a, const ambit__expr *b)
{
  return a->index == b->index && a->component == b->component &&
         !memcmp(a->offset, b->offset, (size_t)last * sizeof *a->offset);
}

/* Takes the terms in the row of the first one out of a sum, in the order of their places. Returns
 * their common factor, with which the weight of the largest of them, the last of these, is
 * positive. */
static int take_row(ambit__dot *from, int last, ambit__dot *row)
{
  const ambit__expr *first = from->reads[0];
  int n = from->n, factor = 0, largest = 0;

  row->n = from->n = 0;
  for (int k = 0; k < n; k++) {
    const ambit__expr *e = from->reads[k];
    const int weight = from->weights[k];
    const bool is_here = in_row(last, first, e);
    ambit__dot *to = is_here ? row : from;
    int i = to->n;

    if (!weight) continue;
    for (; is_here && i > 0 && row->reads[i - 1]->offset[last] > e->offset[last]; i--) {
      row->reads[i] = row->reads[i - 1];
      row->weights[i] = row->weights[i - 1];
    }
    to->reads[i] = e;
    to->weights[i] = weight;
    to->n++;
  }
  for (int i = 0; i < row->n; i++) {
    factor = common_divisor(factor, row->weights[i]);
    if (abs(row->weights[i]) >= abs(row->weights[largest])) largest = i;
  }
  if (row->n && row->weights[largest] < 0) factor = -factor;
  for (int i = 0; i < row->n; i++)
    row->weights[i] /= factor;
  return factor;
}

/* "ambit_row_lane_i16((lane_i16)u_r5 + (lane_i16)2 * (lane_i16)u_r4 + ...)", in the narrowest
 * type that holds it, from the last term with a positive weight on. */
static void print_row(const ambit__nest *n, ambit__text *t, const ambit__dot *row)
{
  const ambit__param *p = ambit__nest_param(n, row->reads[0]->index);
  const ambit__range all = ambit__range_of_type(p->type);
  ambit__range sum = {0, 0};
  const char *type;
  int first = row->n - 1;

  for (int i = 0; i < row->n; i++) {
    sum.low += row->weights[i] * (row->weights[i] > 0 ? all.low : all.high);
    sum.high += row->weights[i] * (row->weights[i] > 0 ? all.high : all.low);
  }
  type = ambit__narrow_type(sum);
  while (row->weights[first] < 0)
    first--;
  ambit__print(t, "ambit_row_%s(", type);
  for (int m = 0; m < row->n; m++) {
    const int i = (first - m + row->n) % row->n, weight = row->weights[i];

    if (m) ambit__print(t, weight < 0 ? " - " : " + ");
    if (abs(weight) > 1) ambit__print(t, "(%s)%d * ", type, abs(weight));
    ambit__print(t, "(%s)", type);
    if (ambit__nest_is_field(n, row->reads[i]->index))
      ambit__print(t, "%s_r%d", p->name, ambit__nest_read_number(p, row->reads[i]));
    else
      ambit__print(t, "%s_v", p->name);
  }
  ambit__print(t, ")");
}

/* A sum of bytes, in the narrowest type that holds it. */
static bool print_sum(ambit__nest *n, ambit__text *t, const ambit__expr *e)
{
  const char *type;
  ambit__dot sum, row;
  bool any;

  if (!ambit__dot_of(n->rule, e, &sum)) return false;
  type = ambit__narrow_type(ambit__narrow_range(&n->narrow, e));
  ambit__print(t, "(int32_t)(%s)(", type);
  any = sum.constant != 0;
  if (any) ambit__print(t, "(%s)(%d)", type, (int)sum.constant);
  while (sum.n) {
    const int factor = take_row(&sum, ambit__nest_last(n), &row);

    if (!row.n) continue;
    if (any || factor < 0) ambit__print(t, factor < 0 ? " - " : " + ");
    if (abs(factor) > 1) ambit__print(t, "(%s)%d * ", type, abs(factor));
    ambit__print(t, "(%s)", type);
    print_row(n, t, &row);
    any = true;
  }
  ambit__print(t, any ? ")" : "0)");
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
  return print_sum(n, t, e);
}

/* Before look-ups, all but the locals that subscripts may need. */
static bool skip(ambit__nest *n, const ambit__node *rule, const ambit__stmt *st)
{
  return rule->subscripts &&
         (st->kind != STMT_LOCAL || (st->value && ambit__expr_facts(n->rule, st->value).looks_up));
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
         !ambit__expr_facts(n->rule, e->a).looks_up;
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

  ambit__nest_block(n);
  if (inside >= 0) ambit__nest_do(n, "enum { inside = %d }", inside);
  ambit__rows_let_place(j, r);
  ambit__rows_let_loads(j, r);
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
  n->is_narrow = n->loads_first = true;
  n->hooks.instead = print_ready;
  n->hooks.skip = skip;
  find_looks(j);
}
