/* SPDX-License-Identifier: BSD-3-Clause */
/* results.c - the results of reductions.
 */
PORT_API double port_result(const port_rule *rule, int slot)
{
  return rule->results[slot];
}

PORT_API double port_larger(double x, const port_rule *rule, int slot)
{
  return rule->results[slot] > x ? rule->results[slot] : x;
}

PORT_API double port_smaller(double x, const port_rule *rule, int slot)
{
  return rule->results[slot] < x ? rule->results[slot] : x;
}

static const port_order *port_order_of(const port_rule *rule)
{
  const port_order *o = port_orders;

  while (o->rule != rule)
    o++;
  return o;
}

/* Terms of a box, one after the other. */
typedef struct port_terms {
  void *values;
  ambit_type type; /* of each */
  int axes, nloops;
  int order[PORT_AXES]; /* the axis of each loop, from the outermost; -1 - axis: it counts down */
  int64_t lo[PORT_AXES], hi[PORT_AXES];
} port_terms;

static double port_add_terms(double sum, ambit_type type, const port_terms *o)
{
  int64_t n[PORT_AXES], step[PORT_AXES], at[PORT_AXES] = {0}, cells = 1, p = 0;
  const int *order = o->order;
  float s = (float)sum;
  int d;

  for (d = o->axes - 1; d >= 0; d--) {
    step[d] = cells;
    cells *= n[d] = o->hi[d] - o->lo[d];
  }
  for (d = 0; d < o->nloops; d++)
    if (order[d] < 0) p += (n[-1 - order[d]] - 1) * step[-1 - order[d]];
  do {
    const double x =
        o->type == AMBIT_F32 ? ((const float *)o->values)[p] : ((const double *)o->values)[p];

    if (type == AMBIT_F64)
      sum += x;
    else if (o->type == AMBIT_F32)
      s += (float)x;
    else
      s = (float)(s + x);
    for (d = o->nloops - 1; d >= 0; d--) {
      const int axis = order[d] < 0 ? -1 - order[d] : order[d];
      const int64_t by = order[d] < 0 ? -step[axis] : step[axis];

      p += by;
      if (++at[d] < n[axis]) break;
      at[d] = 0;
      p -= by * n[axis];
    }
  } while (d >= 0);
  return type == AMBIT_F64 ? sum : (double)s;
}

static port_terms port_terms_of(const port_order *o, int slot, const int *order, int nloops)
{
  port_terms t = {o->rule->terms[slot], o->rule->slots[slot].type, o->axes, nloops, {0}, {0}, {0}};

  memcpy(t.order, order, (size_t)nloops * sizeof *order);
  for (; o->rule->axes == 1 && t.nloops < o->axes; t.nloops++) /* one loop over all rows */
    t.order[t.nloops] = order[0] < 0 ? -1 - t.nloops : t.nloops;
  memcpy(t.lo, o->lo, sizeof t.lo);
  memcpy(t.hi, o->hi, sizeof t.hi);
  return t;
}

PORT_API double port_ordered_sum(double sum, ambit_type type, port_rule *rule, int slot,
                                 const int *order, int nloops)
{
  const port_order *o = port_order_of(rule);
  port_terms terms;

  if (port_is_empty(o)) return sum;
  terms = port_terms_of(o, slot, order, nloops);
  sum = port_add_terms(sum, type, &terms);
  free(rule->terms[slot]);
  rule->terms[slot] = NULL;
  return sum;
}

/* ---- results that are taken when the host reads them ---- */

enum { PORT_NUMBERS = 32, PORT_PARTS = 4 };

/* One result, or the terms of one. */
typedef struct port_result_part {
  port_rule *rule;
  int slot;
  ambit_field *field; /* NULL: a result */
  port_terms terms;
} port_result_part;

/* A variable of the program, and the results that its value still lacks, in their order. */
typedef struct port_number {
  void *p;
  ambit_type type;
  int nparts;
  port_result_part parts[PORT_PARTS];
} port_number;

static port_number port_numbers[PORT_NUMBERS];
static int port_nnumbers;

static void port_give_value(const port_number *v, double x)
{
  switch (v->type) {
  case AMBIT_F32: *(float *)v->p = (float)x; break;
  case AMBIT_F64: *(double *)v->p = x; break;
  case AMBIT_I32: *(int *)v->p = (int)x; break;
  default: *(long *)v->p = (long)x;
  }
}

static void port_add_result(const port_number *v, double r, port_kind kind)
{
  const double x = port_value_at(v->p, v->type);

  if (kind == PORT_SUM && v->type == AMBIT_F32)
    *(float *)v->p += (float)r;
  else if (kind == PORT_SUM && v->type == AMBIT_I64)
    *(long *)v->p += (long)r;
  else if (kind == PORT_SUM)
    port_give_value(v, x + r);
  else if (kind == PORT_MAX ? r > x : r < x)
    port_give_value(v, r);
}

static void port_take_part(const port_number *v, port_result_part *part)
{
  port_rule *rule = part->rule;
  size_t cells = 1;

  if (!part->field) {
    if (rule->latest[part->slot])
      rule->results[part->slot] = ambit_scalar_get(rule->latest[part->slot]);
    port_add_result(v, rule->results[part->slot], rule->slots[part->slot].kind);
    return;
  }
  for (int d = 0; d < part->terms.axes; d++)
    cells *= (size_t)(part->terms.hi[d] - part->terms.lo[d]);
  part->terms.values = malloc(cells * ambit_type_size(part->terms.type));
  if (!part->terms.values) exit(1);
  port_must(ambit_field_read(part->field, part->terms.lo, part->terms.hi, part->terms.values) ==
            AMBIT_OK);
  port_give_value(v, port_add_terms(port_value_at(v->p, v->type), v->type, &part->terms));
  free(part->terms.values);
}

static void port_take_parts(port_number *v)
{
  const int n = v->nparts;

  if (!n) return;
  v->nparts = 0;
  port_flush();
  for (int i = 0; i < n; i++)
    port_take_part(v, &v->parts[i]);
}

static port_number *port_late_number(const void *p)
{
  for (int i = 0; i < port_nnumbers; i++)
    if (port_numbers[i].p == p) return &port_numbers[i];
  return NULL;
}

static void port_know_result(const void *number)
{
  port_number *v = port_late_number(number);

  if (v) port_take_parts(v);
}

/* Host code is about to read the variable. */
PORT_API void port_know(const void *number)
{
  port_know_result(number);
  port_expect(number, (const char *)number + 1);
}

/* ... or gives it a new value. */
PORT_API void port_set(const void *number)
{
  port_number *v = port_late_number(number);

  if (v) v->nparts = 0;
  port_cancel(number);
}

PORT_API void port_leave_number(void *guard)
{
  port_number *v = port_late_number(*(void **)guard);

  if (v) *v = port_numbers[--port_nnumbers];
  port_cancel(*(void **)guard);
}

/* The rule, or each one, is about to have new results. */
static void port_know_all(const port_rule *rule)
{
  for (int i = 0; i < port_nnumbers; i++)
    for (int k = 0; k < port_numbers[i].nparts; k++)
      if (!rule || port_numbers[i].parts[k].rule == rule) port_take_parts(&port_numbers[i]);
}

static void port_add_part(void *number, ambit_type type, const port_result_part *part)
{
  port_number *v = port_late_number(number), own = {.p = number, .type = type};
  const int is_kept = v || port_nnumbers < PORT_NUMBERS;

  port_expect(number, (const char *)number + 1);
  if (!v) {
    v = is_kept ? &port_numbers[port_nnumbers++] : &own;
    *v = own;
  }
  if (v->nparts == PORT_PARTS) port_take_parts(v);
  v->parts[v->nparts++] = *part;
  if (!is_kept) port_take_parts(v);
}

PORT_API void port_later(void *number, ambit_type type, port_rule *rule, int slot)
{
  const port_result_part part = {.rule = rule, .slot = slot};

  if (!port_is_empty(port_order_of(rule))) port_add_part(number, type, &part);
}

PORT_API void port_later_ordered(void *number, ambit_type type, port_rule *rule, int slot,
                                 const int *order, int nloops)
{
  const port_order *o = port_order_of(rule);
  port_result_part part = {.rule = rule, .slot = slot, .field = rule->term_fields[slot]};

  if (port_is_empty(o)) return;
  part.terms = port_terms_of(o, slot, order, nloops);
  port_add_part(number, type, &part);
}
