/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.c - fields that take each other's places from one round of a loop to the next: pointers
 * that are swapped, three levels in time.
 *
 * A period of the queue, u to v and then v to u, is one round and a rotation. A program of one
 * round is shorter, and Ambit runs several iterations of it in one pass.
 */
static ambit_field *port_exchanged(const port_exchange *x, const ambit_field *f)
{
  for (int i = 0; i < x->n; i++)
    if (x->from[i] == f) return x->to[i];
  return NULL;
}

static int port_add_exchange(port_exchange *x, ambit_field *from, ambit_field *to)
{
  for (int i = 0; i < x->n; i++)
    if (x->from[i] == from || x->to[i] == to) return x->from[i] == from && x->to[i] == to;
  if (x->n == PORT_EXCHANGED) return 0;
  x->from[x->n] = from;
  x->to[x->n++] = to;
  return 1;
}

static port_record *port_record_with(const ambit_field *f)
{
  for (int i = 0; i < port_nrecords; i++)
    if (port_records[i]->field == f) return port_records[i];
  return NULL;
}

/* Fields that change places must be read alike at the edges. */
static int port_same_edges(const port_exchange *x)
{
  for (int i = 0; i < x->n; i++) {
    const port_record *a = port_record_with(x->from[i]), *b = port_record_with(x->to[i]);

    if (a != b && (!a || !b || a->periodic != b->periodic || a->clamp != b->clamp)) return 0;
  }
  return 1;
}

static void port_append_rotations(port_program *p)
{
  const port_exchange *x = &p->turns;
  ambit_field *cycle[PORT_EXCHANGED];

  for (int i = 0; i < x->n; i++) {
    int n = 0, is_first = 1;

    for (ambit_field *f = x->from[i]; !n || f != x->from[i]; f = port_exchanged(x, f)) {
      cycle[n++] = f;
      for (int k = 0; k < i; k++)
        is_first &= x->from[k] != f;
    }
    if (is_first && n > 1) ambit_rotate(p->program, n, cycle);
  }
}

/* Whether entry b is entry a with its fields exchanged; adds to the known pairs of the exchange. */
static int port_is_turned(const port_entry *a, const port_entry *b, port_exchange *x)
{
  if (a->rule != b->rule || a->grid != b->grid || a->spots != b->spots || a->tables != b->tables ||
      memcmp(a->lo, b->lo, sizeof a->lo) || memcmp(a->hi, b->hi, sizeof a->hi) ||
      memcmp(a->values, b->values, sizeof a->values))
    return 0;
  for (int s = 0; s < a->rule->nslots; s++)
    if (a->fields[s] && !port_add_exchange(x, a->fields[s], b->fields[s])) return 0;
  return 1;
}

/* All fields change places among themselves, and are read alike at the edges. */
static int port_is_closed(const port_exchange *x)
{
  for (int i = 0; i < x->n; i++)
    if (!port_exchanged(x, x->to[i])) return 0;
  return port_same_edges(x);
}

/* The length of one round of a period, which has n entries, and the exchange after each; n: there
 * are no shorter ones. */
static int port_round_length(const port_entry *entries, int n, port_exchange *x)
{
  for (int m = 1; m <= n / 2; m++) {
    int same = n % m == 0;

    x->n = 0;
    for (int k = 0; same && k < n; k++) /* behind the last round comes the first */
      same = port_is_turned(&entries[k], &entries[(k + m) % n], x);
    if (same && port_is_closed(x)) return m;
  }
  x->n = 0;
  return n;
}
