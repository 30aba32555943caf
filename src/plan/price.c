/* SPDX-License-Identifier: BSD-3-Clause */
/* price.c - the least memory traffic and work of one update of one cell, and the time of the
 * latter. */
#include "plan/fitted.h"
#include "plan/plan.h"

#include "codegen/flat.h"
#include "codegen/hoist.h"

#include <math.h>

static bool is_read(const ambit__param *p, int c)
{
  for (int i = 0; i < p->nreads; i++)
    if (p->reads[i].component == c) return true;
  return false;
}

/* A few instructions. */
static bool is_cheap(ambit__call call)
{
  return call == CALL_fabs || call == CALL_fma || call == CALL_fmin || call == CALL_fmax;
}

/* In operations on 4 bytes, of which an instruction does as many as multiply-adds in float. */
static double other_work(const ambit__expr *e)
{
  const bool real = ambit__type_is_real(e->type), compares = e->op >= EXPR_LT && e->op <= EXPR_NE;
  const double bytes = (double)ambit_type_size(compares ? e->a->type : e->type);
  const bool plain = !real && e->op >= EXPR_NEG && e->op <= EXPR_LOR;

  return plain || compares || e->op == EXPR_COND ? bytes / 4 : 0;
}

/* A rule that is counted. */
typedef struct count {
  ambit__price *price;
  const ambit__rule *rule;
  int last; /* axis of rows; -1: not known */
} count;

/* Whether a value is the same in all cells, or in those of a row: it is computed once. */
static bool is_once(const count *c, const ambit__expr *e)
{
  return ambit__is_invariant(c->rule, e) || ambit__is_of_row(c->rule, e, c->last);
}

/* A division by a number is a product, in strict code only where it is a power of 2. */
static ambit__visit count_expr(void *user, const ambit__expr *e)
{
  const count *c = user;
  ambit__price *price = c->price;
  const bool root = e->op == EXPR_CALL && e->call == CALL_sqrt;

  if (is_once(c, e)) return VISIT_PAST;
  price->others += other_work(e);
  price->choices += e->op == EXPR_COND;
  price->looks += e->op == EXPR_TABLE;
  if (ambit__type_is_real(e->type)) {
    price->divisions += root || (e->op == EXPR_DIV && e->b->op != EXPR_CONST);
    price->specials += e->op == EXPR_CALL && !root && !is_cheap(e->call) && !ambit__calls_power(e);
    price->in_double |= e->type == AMBIT_F64;
  }
  return VISIT_INSIDE;
}

static ambit__visit count_stmt(void *user, const ambit__stmt *s)
{
  const count *c = user;

  c->price->choices += s->kind == STMT_IF && !is_once(c, s->value);
  return VISIT_INSIDE;
}

double ambit__price_work(const ambit__price *price, const ambit__machine *m, double rate)
{
  const double fma = price->in_double ? m->fma64 : m->fma32, slower = m->fma32 / fma;
  const double divisions = price->divisions - price->inverted;
  const double plain = price->flops - divisions - price->specials;

  return fmax(plain, 0) / (rate * fma) + price->others / m->fma32 +
         slower * (divisions / m->divide + price->specials / m->special);
}

/* Where all fields are narrow integers, operations are as narrow (codegen/narrow.h): the share of 4
 * bytes that they take. */
static double narrowness(const ambit__rule *rule)
{
  size_t most = 0;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];

    if (p->kind == PARAM_FIELD && ambit_type_size(p->type) > most) most = ambit_type_size(p->type);
    if (p->kind == PARAM_FIELD && ambit__type_is_real(p->type)) return 1;
  }
  return most && most < 4 ? (double)most / 4 : 1;
}

int ambit__rule_reads(const ambit__rule *rule)
{
  int n = 0;

  for (int i = 0; i < rule->nparams; i++)
    n += rule->params[i].kind == PARAM_FIELD ? rule->params[i].nreads : 0;
  return n;
}

/* Pairs of computed components stay in registers and caches. */
static void count_bytes(const ambit__param *p, ambit__price *price)
{
  for (int c = 0; p->kind == PARAM_FIELD && !p->bins && c < p->components; c++) {
    price->bytes += (double)(is_read(p, c) + p->writes[c]) * (double)ambit_type_size(p->type);
    price->written += (double)p->writes[c] * (double)ambit_type_size(p->type);
  }
}

static ambit__price price_of(const ambit__rule *rule, const ambit__binding *bind, int last)
{
  ambit__price price = {.flops = (double)rule->flops};
  count c = {&price, rule, last};
  ambit__hoists hoists = {0};

  ambit__visit_stmts(&(ambit__visitor){count_stmt, count_expr, &c}, rule->body);
  ambit__hoists_add_divisors(&hoists, rule);
  price.inverted = ambit__hoists_inverted(&hoists);
  price.others *= narrowness(rule);
  for (int i = 0; i < rule->nparams; i++)
    if (!bind || !bind[i].dropped) count_bytes(&rule->params[i], &price);
  return price;
}

ambit__price ambit__price_of(const ambit__rule *rule)
{
  return price_of(rule, NULL, -1);
}

ambit__price ambit__price_bound(const ambit__rule *rule, const ambit__binding *bind, int ndims)
{
  return price_of(rule, bind, ndims - 1);
}

double ambit__price_more(const ambit__rule *rule, int ndims)
{
  const ambit__price price = ambit__price_bound(rule, NULL, ndims);

  return price.others / narrowness(rule) + AMBIT__FIT_CHOICES * price.choices +
         AMBIT__FIT_LOOKS * price.looks +
         (price.in_double ? 2 : 1) * (AMBIT__FIT_DIVIDES * (price.divisions - price.inverted) +
                                      AMBIT__FIT_CALLS * price.specials);
}
