/* SPDX-License-Identifier: BSD-3-Clause */
/* taps.c - recognises rules that are a weighted sum of one field.
 *
 * The statements are executed symbolically: values are linear forms, a constant and a list of taps.
 * Locals hold forms, so sums accumulated in a loop are recognised too. Anything non-linear, or
 * non-constant where a constant is needed, ends the attempt. Weights are combined in double.
 *
 * Rules in normal form (linear.c) have weights that all cells share, a parameter or a local each.
 * Such a weight is one factor, with a number before it.
 */
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

typedef struct form {
  double constant;
  const ambit__expr *factor; /* of the constant; NULL: 1 */
  int count;
  ambit__tap *taps; /* owned; `count` of them */
} form;

typedef struct finder {
  const ambit__rule *rule;
  int most;     /* capacity of the caller's array */
  form *locals; /* per local of the rule */
  form out;     /* the value written */
  bool is_written;
  bool *starved; /* set if memory ran out */
} finder;

static bool evaluate(finder *f, const ambit__expr *e, form *out);

static void form_free(form *x)
{
  free(x->taps);
  *x = (form){0};
}

/* x += scale * y; false if there are too many taps, or weights with different factors. */
static bool add(const finder *f, form *x, const form *y, double scale)
{
  ambit__tap *taps = realloc(x->taps, (size_t)(x->count + y->count + 1) * sizeof *taps);

  *f->starved |= !taps;
  if (!taps) return false;
  x->taps = taps;
  if ((x->factor || y->factor) && x->constant != 0 && y->constant != 0) return false;
  if (y->constant != 0) x->factor = y->factor;
  x->constant += scale * y->constant;
  for (int j = 0; j < y->count; j++) {
    int i = 0;

    while (i < x->count && memcmp(taps[i].offset, y->taps[j].offset, sizeof taps[i].offset))
      i++;
    if (i == x->count) {
      taps[x->count] = y->taps[j];
      taps[x->count++].weight = 0;
    } else if (taps[i].factor || y->taps[j].factor) {
      return false;
    }
    taps[i].weight += scale * y->taps[j].weight;
  }
  return x->count <= f->most;
}

static void scale_by(form *x, double factor)
{
  x->constant *= factor;
  for (int i = 0; i < x->count; i++)
    x->taps[i].weight *= factor;
}

static void divide_by(form *x, double divisor)
{
  x->constant /= divisor;
  for (int i = 0; i < x->count; i++)
    x->taps[i].weight /= divisor;
}

static bool one_tap(const finder *f, const ambit__expr *e, form *out)
{
  out->taps = calloc(1, sizeof *out->taps);
  *f->starved |= !out->taps;
  if (!out->taps) return false;
  out->count = 1;
  memcpy(out->taps[0].offset, e->offset, sizeof e->offset);
  out->taps[0].weight = 1;
  return true;
}

/* x times the constant of y. */
static bool times(form *x, const form *y)
{
  if (y->factor && x->factor) return false;
  scale_by(x, y->constant);
  if (!y->factor) return true;
  x->factor = y->factor;
  for (int i = 0; i < x->count; i++) {
    if (x->taps[i].factor) return false;
    x->taps[i].factor = y->factor;
  }
  return true;
}

static bool multiply(form *a, form *b, form *out)
{
  form *x = a->count ? a : b, *y = a->count ? b : a;

  if (y->count || !times(x, y)) return false;
  *out = *x;
  *x = (form){0};
  return true;
}

static bool binary(finder *f, const ambit__expr *e, form *out)
{
  form b = {0};
  bool ok = false;

  if (!evaluate(f, e->b, &b)) goto done;
  if (e->op == EXPR_MUL) {
    form a = {0};

    ok = evaluate(f, e->a, &a) && multiply(&a, &b, out);
    form_free(&a);
  } else if (evaluate(f, e->a, out)) {
    if (e->op == EXPR_ADD || e->op == EXPR_SUB) ok = add(f, out, &b, e->op == EXPR_ADD ? 1 : -1);
    if (e->op == EXPR_DIV) ok = !b.count && !b.factor && b.constant != 0;
    if (e->op == EXPR_DIV && ok) divide_by(out, b.constant);
  }
done:
  form_free(&b);
  return ok;
}

/* Halves are rounded on the way, which a sum of taps is not. */
static bool is_summed(ambit_type type)
{
  return type == AMBIT_F32 || type == AMBIT_F64;
}

/* `out` is empty on entry; the caller frees it, also after failure. */
static bool evaluate(finder *f, const ambit__expr *e, form *out)
{
  ambit__value element;

  if (e->op == EXPR_CONST || ambit__table_element(f->rule, e, &element)) {
    out->constant = ambit__value_number(e->op == EXPR_CONST ? e->value : element, e->type);
    return true;
  }
  if (!is_summed(e->type)) return false;
  if (e->op == EXPR_VALUE || (e->op == EXPR_LOCAL && f->rule->locals[e->index].is_shared)) {
    *out = (form){.constant = 1, .factor = e};
    return true;
  }
  switch (e->op) {
  case EXPR_READ: return one_tap(f, e, out);
  case EXPR_LOCAL: return add(f, out, &f->locals[e->index], 1);
  case EXPR_OUT: return f->is_written && add(f, out, &f->out, 1);
  case EXPR_CAST: return evaluate(f, e->a, out);
  case EXPR_NEG:
    if (!evaluate(f, e->a, out)) return false;
    scale_by(out, -1);
    return true;
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_DIV: return binary(f, e, out);
  default: return false;
  }
}

static bool execute(finder *f, const ambit__stmt *s)
{
  for (; s; s = s->next) {
    form value = {0};
    form *target = s->kind == STMT_SET_OUT ? &f->out : &f->locals[s->index];

    if (s->kind == STMT_IF) return false;
    if (s->kind == STMT_SET_OUT && f->rule->params[s->index].kind == PARAM_REDUCE) continue;
    if (s->kind == STMT_LOCAL && f->rule->locals[s->index].is_shared) continue;
    if (s->value && !evaluate(f, s->value, &value)) {
      form_free(&value);
      return false;
    }
    form_free(target);
    *target = value;
    if (s->kind == STMT_SET_OUT) f->is_written = true;
  }
  return true;
}

/* const T *u and T *v in any order, T real, the old value of v unused, and plain parameters. */
static bool has_the_shape(const ambit__rule *r, bool reduces, int *from, int *to)
{
  const ambit__param *p = r->params;

  *from = *to = -1;
  for (int i = 0; i < r->nparams; i++) {
    int *which = p[i].is_written ? to : from;

    if (p[i].kind == PARAM_VALUE || (reduces && p[i].kind == PARAM_REDUCE)) continue;
    if (p[i].kind != PARAM_FIELD || *which >= 0) return false;
    *which = i;
  }
  return *from >= 0 && *to >= 0 && p[*from].components == 1 && p[*to].components == 1 &&
         p[*to].nreads == 0 && p[*from].nreads > 0 && is_summed(p[*from].type) &&
         is_summed(p[*to].type);
}

bool ambit__rule_sum(const ambit__rule *rule, bool reduces, ambit__tap *taps, int most,
                     ambit__sum *sum)
{
  finder f = {.rule = rule, .most = most, .starved = &sum->starved};
  bool ok;

  *sum = (ambit__sum){0};
  if (!has_the_shape(rule, reduces, &sum->from, &sum->to)) return false;
  f.locals = calloc((size_t)rule->nlocals + 1, sizeof *f.locals);
  sum->starved = !f.locals;
  ok = f.locals && execute(&f, rule->body) && f.out.constant == 0 && f.out.count > 0;
  if (ok) {
    memcpy(taps, f.out.taps, (size_t)f.out.count * sizeof *taps);
    sum->n = f.out.count;
  }
  for (int i = 0; f.locals && i < rule->nlocals; i++)
    form_free(&f.locals[i]);
  free(f.locals);
  form_free(&f.out);
  return ok;
}

bool ambit__taps_are_numbers(const ambit__tap *taps, int n)
{
  for (int i = 0; i < n; i++)
    if (taps[i].factor) return false;
  return true;
}

bool ambit__rule_taps(const ambit__rule *rule, ambit__tap *taps, int most, int *count)
{
  ambit__sum sum = {0};
  const bool is = rule->nparams == 2 && ambit__rule_sum(rule, false, taps, most, &sum) &&
                  ambit__taps_are_numbers(taps, sum.n);

  *count = is ? sum.n : 0;
  return is;
}
