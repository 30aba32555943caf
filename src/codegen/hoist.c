/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/hoist.h"
#include "kernel/range.h"

/* Divisions in the time of one and of the products with its inverse, of floats and of doubles,
 * which processors divide half as fast. */
enum { FEW_DIVISIONS = 3, FEW_OF_DOUBLES = 2 };

/* ---- what can be hoisted ---- */

bool ambit__is_invariant(const ambit__rule *rule, const ambit__expr *e)
{
  const ambit__facts f = ambit__expr_facts(rule, e);

  return f.once && !f.axes;
}

bool ambit__is_of_row(const ambit__rule *rule, const ambit__expr *e, int last)
{
  const ambit__facts f = ambit__expr_facts(rule, e);

  return last > 0 && f.once && !(f.axes >> last & 1);
}

/* A rule that is examined. */
typedef struct search {
  ambit__hoists *h;
  const ambit__rule *rule;
  int last; /* axis of rows */
} search;

static void add(ambit__hoists *h, const ambit__expr *e, int local)
{
  h->locals[h->n] = local;
  h->values[h->n++] = e;
}

/* The largest parts of an expression. */
static ambit__visit find(void *user, const ambit__expr *e)
{
  const search *s = user;

  if (e->op == EXPR_LOCAL || s->h->n == AMBIT__HOISTS) return VISIT_PAST;
  if (!ambit__is_invariant(s->rule, e) || !ambit__expr_facts(s->rule, e).calls) return VISIT_INSIDE;
  add(s->h, e, -1);
  return VISIT_PAST;
}

static ambit__visit find_shared(void *user, const ambit__stmt *st)
{
  const search *s = user;

  if (st->kind != STMT_LOCAL || !s->rule->locals[st->index].is_shared || s->h->n == AMBIT__HOISTS)
    return VISIT_INSIDE;
  add(s->h, st->value, st->index);
  return VISIT_PAST;
}

/* ---- rows ---- */

static bool varies(const ambit__expr *subscript)
{
  return subscript && subscript->op != EXPR_CONST;
}

/* Whether compilers leave it where it is. Locals have values of their own. gcc 12 leaves a loop
 * scalar where it selects by a condition that several such conditions make. */
static bool is_slow(const ambit__expr *e)
{
  if (!e || e->op == EXPR_LOCAL) return false;
  if (e->op == EXPR_COND) return true;
  if (e->op == EXPR_CALL && !ambit__call_is_cheap(e->call)) return true;
  if (e->op == EXPR_TABLE && (varies(e->a) || varies(e->b))) return true;
  if ((e->op == EXPR_DIV || e->op == EXPR_MOD) && !ambit__type_is_real(e->type) && varies(e->b))
    return true;
  return is_slow(e->a) || is_slow(e->b) || is_slow(e->c);
}

static ambit__visit find_of_rows(void *user, const ambit__expr *e)
{
  const search *s = user;

  if (s->h->nrows == AMBIT__HOISTS || ambit__hoists_find(s->h, e) >= 0) return VISIT_PAST;
  if (!ambit__is_of_row(s->rule, e, s->last)) return VISIT_INSIDE;
  if (is_slow(e)) s->h->rows[s->h->nrows++] = e;
  return VISIT_PAST;
}

void ambit__hoists_add_rows(ambit__hoists *h, const ambit__rule *rule, int last)
{
  search s = {h, rule, last};

  ambit__visit_stmts(&(ambit__visitor){.expr = find_of_rows, .user = &s}, rule->body);
}

/* ---- limits ---- */

static bool is_number(const ambit__expr *e)
{
  return e->op == EXPR_CONST && e->value.real == e->value.real;
}

/* The number in fmin(x, number), or in fmin(number, x) unless it is 0: of two zeros the second is
 * returned. NULL: there is none. */
static const ambit__expr *limit_of(const ambit__expr *e)
{
  if (e->op != EXPR_CALL || (e->call != CALL_fmin && e->call != CALL_fmax)) return NULL;
  if (e->type != AMBIT_F32 && e->type != AMBIT_F64) return NULL;
  if (is_number(e->b)) return e->b;
  return is_number(e->a) && e->a->value.real != 0 ? e->a : NULL;
}

/* fmin(0, x) and fmin(x, -0.0) have different limits. */
static bool are_same(const ambit__expr *a, const ambit__expr *b)
{
  return a->op == EXPR_CONST && a->type == b->type && a->value.integer == b->value.integer;
}

static int find_number(const ambit__hoists *h, const ambit__expr *number)
{
  for (int i = h->n - h->nlimits; number && i < h->n; i++)
    if (are_same(h->values[i], number)) return i;
  return -1;
}

static ambit__visit find_limits(void *user, const ambit__expr *e)
{
  ambit__hoists *h = user;
  const ambit__expr *number = limit_of(e);

  if (number && find_number(h, number) < 0 && h->n < AMBIT__HOISTS) {
    add(h, number, -1);
    h->nlimits++;
  }
  return VISIT_INSIDE;
}

int ambit__hoists_find_limit(const ambit__hoists *h, const ambit__expr *call,
                             const ambit__expr **other)
{
  const ambit__expr *number = limit_of(call);

  if (number) *other = number == call->b ? call->a : call->b;
  return find_number(h, number);
}

void ambit__hoists_begin(ambit__hoists *h, const ambit__rule *rule)
{
  search s = {.h = h, .rule = rule};

  *h = (ambit__hoists){0};
  ambit__visit_stmts(&(ambit__visitor){.stmt = find_shared, .expr = find, .user = &s}, rule->body);
}

void ambit__hoists_add_limits(ambit__hoists *h, const ambit__rule *rule)
{
  ambit__visit_stmts(&(ambit__visitor){.expr = find_limits, .user = h}, rule->body);
}

/* ---- divisors ---- */

static int find_divisor(const ambit__hoists *h, const ambit__expr *e)
{
  for (int i = 0; i < h->ndivisors; i++) {
    const ambit__expr *d = h->divisors[i].value;

    if (ambit__expr_is_same(d, e) ||
        (d->op == e->op && e->op == EXPR_VALUE && d->index == e->index))
      return i;
  }
  return -1;
}

/* A local, a plain parameter or a value of a field. */
static bool can_share(const ambit__expr *e)
{
  return e->op == EXPR_LOCAL || e->op == EXPR_VALUE || e->op == EXPR_READ;
}

static ambit__visit count_divisors(void *user, const ambit__expr *e)
{
  ambit__hoists *h = user;

  if (e->op == EXPR_DIV && ambit__type_is_real(e->type) && e->b->type == e->type &&
      can_share(e->b)) {
    const int i = find_divisor(h, e->b);

    if (i >= 0)
      h->divisors[i].count++;
    else if (h->ndivisors < AMBIT__HOISTS)
      h->divisors[h->ndivisors].value = e->b, h->divisors[h->ndivisors++].count = 1;
  }
  return VISIT_INSIDE;
}

void ambit__hoists_add_divisors(ambit__hoists *h, const ambit__rule *rule)
{
  ambit__visit_stmts(&(ambit__visitor){.expr = count_divisors, .user = h}, rule->body);
}

static bool is_inverted(const ambit__hoists *h, int i)
{
  const bool is_double = h->divisors[i].value->type == AMBIT_F64;

  return h->divisors[i].count >= (is_double ? FEW_OF_DOUBLES : FEW_DIVISIONS);
}

bool ambit__hoists_inverts(const ambit__hoists *h, const ambit__expr *division)
{
  const int i = can_share(division->b) ? find_divisor(h, division->b) : -1;

  return i >= 0 && is_inverted(h, i);
}

int ambit__hoists_inverted(const ambit__hoists *h)
{
  int n = 0;

  for (int i = 0; i < h->ndivisors; i++)
    if (is_inverted(h, i)) n += h->divisors[i].count - 1;
  return n;
}

/* ---- found ---- */

int ambit__hoists_find(const ambit__hoists *h, const ambit__expr *e)
{
  for (int i = 0; i < h->n - h->nlimits; i++)
    if (h->values[i] == e || (e->op == EXPR_LOCAL && h->locals[i] == e->index)) return i;
  return -1;
}

int ambit__hoists_find_row(const ambit__hoists *h, const ambit__expr *e)
{
  for (int i = 0; i < h->nrows; i++)
    if (h->rows[i] == e) return i;
  return -1;
}

/* ---- text ---- */

/* A local, which is not declared yet: its value; an index: that of a row. */
static bool print_value(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const char *const *index = s->user;

  if (e->op == EXPR_INDEX) ambit__print(t, "(%s)", index[e->index]);
  if (e->op != EXPR_LOCAL) return e->op == EXPR_INDEX;
  ambit__print(t, "(");
  ambit__emit_expr(s, t, ambit__only_value(s->rule, e->index));
  ambit__print(t, ")");
  return true;
}

/* Before a rule, none of whose variables there are. */
static ambit__scope before(const ambit__scope *s, const char *const *index)
{
  ambit__scope scope = *s;

  scope.hoists = NULL;
  scope.narrow = NULL;
  scope.instead = print_value;
  scope.user = index;
  return scope;
}

void ambit__hoists_emit(const ambit__hoists *h, const ambit__scope *s, ambit__writer *w)
{
  const ambit__scope scope = before(s, NULL);

  for (int i = 0; i < h->n; i++) {
    const ambit__expr *e = h->values[i];
    const bool is_limit = i >= h->n - h->nlimits;

    ambit__line_begin(w);
    ambit__print(&w->text, "const %s once%d = ", s->dialect->types[e->type], i);
    if (is_limit) ambit__print(&w->text, "ambit_limit_%s(", ambit__type_suffix(e->type));
    ambit__emit_expr(&scope, &w->text, e);
    ambit__line_end(w, is_limit ? ");" : ";");
  }
}

void ambit__hoists_print_row(const ambit__hoists *h, const ambit__scope *s, ambit__text *t, int i,
                             int row, const char *const *index)
{
  ambit__hoists earlier = *h;
  ambit__scope scope = before(s, index);

  earlier.nrows = i;
  scope.hoists = &earlier;
  scope.row = row;
  ambit__emit_expr(&scope, t, h->rows[i]);
}
