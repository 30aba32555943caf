/* SPDX-License-Identifier: BSD-3-Clause */
/* make.c - nodes of a nest, one behind the other and inside each other. After the first allocation
 * that fails nothing is added, and the printer says so. */
#include "nest/nest.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void ambit__nest_begin(ambit__nest *n, const ambit__group *g, const ambit__dialect *d)
{
  *n = (ambit__nest){.group = g,
                     .dialect = d,
                     .rule = g->rule,
                     .bind = g->bind,
                     .integer = d->types[AMBIT_I64],
                     .loads_first = g->checks != 0};
  n->end[0] = &n->first;
}

void ambit__nest_free(ambit__nest *n)
{
  ambit__narrow_end(&n->narrow);
  ambit__text_free(&n->prelude);
  ambit__arena_free(&n->arena);
}

/* ---- texts ---- */

const char *ambit__nest_keep(ambit__nest *n, ambit__text *t)
{
  char *chars = ambit__text_finish(t);
  char *kept = chars ? ambit__arena_strndup(&n->arena, chars, strlen(chars)) : NULL;

  free(chars);
  n->failed |= !kept;
  return kept ? kept : "";
}

const char *ambit__nest_text(ambit__nest *n, const char *format, ...)
{
  ambit__text t = {0};
  va_list list;

  va_start(list, format);
  ambit__vprint(&t, format, list);
  va_end(list);
  return ambit__nest_keep(n, &t);
}

const char *ambit__nest_more(ambit__nest *n, int more)
{
  if (!more) return "";
  return ambit__nest_text(n, " %c %d", more < 0 ? '-' : '+', more < 0 ? -more : more);
}

const char *ambit__nest_at(ambit__nest *n, const char *name, int more)
{
  return ambit__nest_text(n, "[%s%s]", name, ambit__nest_more(n, more));
}

const char *ambit__nest_slot(ambit__nest *n, int later, int period)
{
  const int slot = (later % period + period) % period;

  if (period == 1) return "[0]";
  return slot ? ambit__nest_text(n, "[(p + %d) %% %d]", slot, period) : "[p]";
}

const char *ambit__nest_weight(ambit__nest *n, ambit_type type, double weight, const char *factor)
{
  const char *number = ambit__nest_number(n, type, weight);

  if (!factor) return number;
  if (weight == 1 || weight == -1)
    return ambit__nest_text(n, "%s%s", weight < 0 ? "-" : "", factor);
  return ambit__nest_text(n, "%s * %s", number, factor);
}

const char *ambit__nest_tap(ambit__nest *n, ambit_type type, const ambit__tap *tap)
{
  return ambit__nest_weight(n, type, tap->weight,
                            tap->factor ? ambit__nest_expr(n, NULL, tap->factor) : NULL);
}

/* "a + b" */
static const char *plus(ambit__nest *n, const char *a, const char *b)
{
  return *a ? ambit__nest_text(n, "%s + %s", a, b) : b;
}

void ambit__nest_let_groups(ambit__nest *n, ambit_type type, const ambit__factors *f,
                            const char *(*name)(const void *user, const int *offset),
                            const void *user)
{
  for (int g = 0; g < f->ngroups; g++) {
    const char *sum = "";

    for (int i = 0; i < f->nplaces; i++)
      if (f->group[i] == g) sum = plus(n, sum, name(user, f->places[i]));
    ambit__nest_do(n, "const %s g%d = %s", n->dialect->types[type], g, sum);
  }
}

const char *ambit__nest_profile(ambit__nest *n, ambit_type type, const ambit__factors *f,
                                int profile)
{
  const char *sum = "";

  for (int g = 0; g < f->ngroups; g++) {
    const ambit__tap tap = ambit__factors_weight(f, f->weights[profile * f->ngroups + g]);

    if (tap.weight != 0)
      sum = plus(n, sum, ambit__nest_text(n, "%s * g%d", ambit__nest_tap(n, type, &tap), g));
  }
  return sum;
}

const char *ambit__nest_slice(ambit__nest *n, ambit_type type, const ambit__factor_slice *slice)
{
  if (slice->factor == 1) return "";
  return ambit__nest_text(n, "%s * ", ambit__nest_number(n, type, slice->factor));
}

/* ---- nodes ---- */

static ambit__node *append(ambit__nest *n, const ambit__node *node)
{
  ambit__node *kept = ambit__arena_alloc(&n->arena, sizeof *kept);

  if (!kept) {
    n->failed = true;
    return NULL;
  }
  *kept = *node;
  *n->end[n->level] = kept;
  n->end[n->level] = &kept->next;
  return kept;
}

void ambit__nest_add(ambit__nest *n, ambit__node node)
{
  append(n, &node);
}

void ambit__nest_barrier(ambit__nest *n)
{
  ambit__nest_do(n, "%s", n->dialect->barrier);
}

void ambit__nest_barrier_of_warp(ambit__nest *n)
{
  ambit__nest_do(n, "%s", n->dialect->narrow_barrier);
}

void ambit__nest_note(ambit__nest *n, const char *comment)
{
  append(n, &(ambit__node){.kind = NODE_NOTE, .value = comment});
}

void ambit__nest_open(ambit__nest *n, ambit__node node)
{
  ambit__node *kept = append(n, &node);

  if (!kept || n->level + 1 == AMBIT__NEST_DEPTH) {
    n->failed = true;
    return;
  }
  n->opened[++n->level] = kept;
  n->end[n->level] = &kept->body;
}

void ambit__nest_unroll(ambit__nest *n, const char *name, int first, int end)
{
  ambit__nest_loop(n, .type = "int", .name = name, .from = ambit__nest_text(n, "%d", first),
                   .below = ambit__nest_text(n, "%d", end), .unrolled = true);
}

void ambit__nest_along(ambit__nest *n, const char *type, const char *name, const char *lo,
                       const char *hi, bool back)
{
  if (back)
    ambit__nest_loop(n, .type = type, .name = name, .from = ambit__nest_text(n, "%s - 1", hi),
                     .below = ambit__nest_text(n, "%s - 1", lo), .step = "1", .by = '-');
  else
    ambit__nest_for(n, type, name, lo, hi);
}

void ambit__nest_block(ambit__nest *n)
{
  ambit__nest_open(n, (ambit__node){.kind = NODE_IF});
}

void ambit__nest_otherwise(ambit__nest *n)
{
  if (n->level > 0) n->end[n->level] = &n->opened[n->level]->other;
}

void ambit__nest_close(ambit__nest *n)
{
  if (n->level > 0) n->level--;
}
