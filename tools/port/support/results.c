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

/* order: the axis of each loop, from the outermost, and -1 - axis for one that counts down. */
PORT_API double port_ordered_sum(double sum, ambit_type type, port_rule *rule, int slot,
                                 const int *order, int nloops)
{
  const port_order *o = port_order_of(rule);
  const ambit_type term = rule->slots[slot].type;
  int64_t n[PORT_AXES], step[PORT_AXES], at[PORT_AXES] = {0}, cells = 1, p = 0;
  void *terms = rule->terms[slot];
  float s = (float)sum;
  int d;

  if (port_is_empty(o)) return sum;
  for (d = rule->axes - 1; d >= 0; d--) {
    step[d] = cells;
    cells *= n[d] = o->hi[d] - o->lo[d];
  }
  for (d = 0; d < nloops; d++)
    if (order[d] < 0) p += (n[-1 - order[d]] - 1) * step[-1 - order[d]];
  do {
    const double x = term == AMBIT_F32 ? ((float *)terms)[p] : ((double *)terms)[p];

    if (type == AMBIT_F64)
      sum += x;
    else if (term == AMBIT_F32)
      s += (float)x;
    else
      s = (float)(s + x);
    for (d = nloops - 1; d >= 0; d--) {
      const int axis = order[d] < 0 ? -1 - order[d] : order[d];
      const int64_t by = order[d] < 0 ? -step[axis] : step[axis];

      p += by;
      if (++at[d] < n[axis]) break;
      at[d] = 0;
      p -= by * n[axis];
    }
  } while (d >= 0);
  free(terms);
  rule->terms[slot] = NULL;
  return type == AMBIT_F64 ? sum : (double)s;
}
