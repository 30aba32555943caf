/* SPDX-License-Identifier: BSD-3-Clause */
/* tests.c - the tests of a place in a rule: outside(), and comparisons of index() with a place near
 * a face, as index(0) == 0 or index(1) < extent(1) - 2. All of them have a known value in cells
 * that are far enough inside the grid.
 */
#include "kernel/kernel.h"

typedef struct reach {
  int *low, *high;
} reach;

static void widen(int *most, int64_t n)
{
  if (n > *most) *most = (int)n;
}

/* Whether e is c, or extent(axis) - c: a place near a face. */
static bool find_place(const ambit__expr *e, int axis, bool *from_end, int64_t *c)
{
  const ambit__expr *end = e->op == EXPR_SUB && e->b->op == EXPR_CONST ? e->a : e;

  *from_end = end->op == EXPR_EXTENT && end->index == axis;
  if (!*from_end && e->op != EXPR_CONST) return false;
  *c = e->op == EXPR_CONST ? e->value.integer : end == e ? 0 : e->b->value.integer;
  return *c >= 0 && *c < AMBIT__TEST_REACH;
}

/* index(axis) compared with c, or with extent(axis) - c. */
static bool compare(ambit__op op, int axis, bool from_end, int64_t c, const reach *r)
{
  const bool counts = op == EXPR_LE || op == EXPR_GT; /* the place itself is on the other side */

  if (from_end)
    widen(&r->high[axis], c - counts);
  else
    widen(&r->low[axis], c + (counts || op == EXPR_EQ || op == EXPR_NE));
  if (op == EXPR_EQ || op == EXPR_NE) return op == EXPR_NE;
  return (op == EXPR_LT || op == EXPR_LE) == from_end;
}

static bool find_test(const ambit__expr *e, bool compares, const reach *r, bool *value)
{
  const bool is_order = e->op >= EXPR_LT && e->op <= EXPR_NE;
  const ambit__expr *index = !is_order ? NULL : e->a->op == EXPR_INDEX ? e->a : e->b;
  bool from_end;
  int64_t c;

  *value = false;
  for (int d = 0; e->is_outside && d < AMBIT_MAX_DIMS; d++) {
    widen(&r->low[d], -e->offset[d]);
    widen(&r->high[d], e->offset[d]);
  }
  if (e->is_outside) return true;
  if (!compares || !is_order || index->op != EXPR_INDEX) return false;
  if (!find_place(index == e->a ? e->b : e->a, index->index, &from_end, &c)) return false;
  *value = compare(index == e->a ? e->op : ambit__op_mirrored(e->op), index->index, from_end, c, r);
  return true;
}

bool ambit__expr_is_test(const ambit__expr *e, bool compares, int but, bool *value)
{
  int low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

  return find_test(e, compares, &(reach){low, high}, value) &&
         (but < 0 || (!low[but] && !high[but]));
}

typedef struct search {
  bool compares, found;
  reach reach;
} search;

static ambit__visit look(void *user, const ambit__expr *e)
{
  search *s = user;
  bool value;

  if (!find_test(e, s->compares, &s->reach, &value)) return VISIT_INSIDE;
  s->found = true;
  return VISIT_PAST;
}

bool ambit__rule_tests(const ambit__rule *rule, bool compares, int low[AMBIT_MAX_DIMS],
                       int high[AMBIT_MAX_DIMS])
{
  search s = {.compares = compares, .reach = {low, high}};

  ambit__visit_stmts(&(ambit__visitor){.expr = look, .user = &s}, rule->body);
  return s.found;
}
