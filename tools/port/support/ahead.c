/* SPDX-License-Identifier: BSD-3-Clause */
/* ahead.c - loops that end when a result is small: while (err > tol), with nothing but steps in
 * them.
 *
 * Three rounds run as any steps do. If each is the one before with its arrays exchanged, so will
 * the next ones be: they become one program with a rotation, which runs until the result is small
 * or the last round is done, without a word to the host. The loop of the program then goes through
 * its rounds again, for its counters and pointers; its steps are done already.
 */
enum { PORT_ROUND = 24 };

typedef struct port_round {
  int n;     /* -1: too many steps */
  int steps; /* of nests; a copy may be several entries */
  port_entry entries[PORT_ROUND];
} port_round;

static port_round port_rounds[3], port_this_round; /* the newest first */
static int port_nrounds;
static const port_rule *port_watched; /* its result ends the loop; NULL: no such loop */
static int64_t port_left; /* rounds that were run ahead, and are still to be gone through */
static int port_passed, port_of_round; /* steps of the current one; of each */
static double port_last_result, port_kept_result;

static void port_note_entry(const port_entry *e)
{
  port_round *r = &port_this_round;

  if (!port_watched || r->n < 0) return;
  if (r->n == PORT_ROUND)
    r->n = -1;
  else
    r->entries[r->n++] = *e;
}

static void port_note_step(void)
{
  port_this_round.steps++;
}

/* A nest runs serially: nothing is run ahead. */
static void port_this_round_ends(void)
{
  port_this_round.n = -1;
}

/* Whether b is a with its fields exchanged, all of them among themselves. */
static int port_find_exchange(const port_round *a, const port_round *b, port_exchange *x)
{
  x->n = 0;
  if (a->n != b->n || a->n <= 0 || a->steps != b->steps) return 0;
  for (int k = 0; k < a->n; k++)
    if (a->entries[k].grid != a->entries[0].grid || a->entries[k].spots ||
        !port_is_turned(&a->entries[k], &b->entries[k], x))
      return 0;
  return port_is_closed(x);
}

/* After m rounds the values of a field are in the one that is m places further back. */
static void port_follow_exchange(const port_exchange *x, int64_t m, const port_round *round)
{
  for (int r = 0; r < port_nrecords; r++) {
    ambit_field *f = port_records[r]->field, *at = f;
    int64_t length = 1;

    if (!f || !port_exchanged(x, f)) continue;
    for (ambit_field *g = port_exchanged(x, f); g != f; g = port_exchanged(x, g))
      length++;
    for (int64_t k = 0; k < (length - m % length) % length; k++)
      at = port_exchanged(x, at);
    port_records[r]->field = at;
    if (length > 1) port_records[r]->host_ok = 0;
    for (int k = 0; k < round->n; k++)
      for (int s = 0; s < round->entries[k].rule->nslots; s++) {
        const port_kind kind = round->entries[k].rule->slots[s].kind;

        if (round->entries[k].fields[s] == f && (kind == PORT_WRITE || kind == PORT_UPDATE))
          port_records[r]->host_ok = 0;
      }
  }
}

static void port_run_ahead(const port_exchange *x, int slot, double below, int64_t most)
{
  port_round *next = &port_this_round; /* the round that begins now */
  ambit_scalar *result = NULL;
  port_program *p;
  int64_t before;

  *next = port_rounds[0];
  for (int k = 0; k < next->n; k++)
    for (int s = 0; s < next->entries[k].rule->nslots; s++)
      if (next->entries[k].fields[s])
        next->entries[k].fields[s] = port_exchanged(x, next->entries[k].fields[s]);
  p = port_find(next->entries, next->n, x);
  p->used = ++port_uses;
  port_set_values(p, next->entries);
  for (int k = 0; k < next->n; k++)
    if (next->entries[k].rule == port_watched) result = p->scalars[k][slot];
  port_kept_result = port_watched->latest[slot] ? ambit_scalar_get(port_watched->latest[slot])
                                                : port_watched->results[slot];
  before = ambit_program_iterations(p->program);
  port_must(ambit_run_until(p->program, result, AMBIT_BELOW, below, most) == AMBIT_OK);
  port_left = ambit_program_iterations(p->program) - before;
  port_last_result = ambit_scalar_get(result);
  port_of_round = next->steps;
  port_passed = 0;
  port_follow_exchange(x, port_left, next);
  port_nrounds = 0;
  next->n = next->steps = 0;
}

/* At the start of a round: rule NULL, before the first one. The loop ends when the result is not
 * larger than tol (strict: less than it), or after `most` rounds, this one included. */
PORT_API void port_ahead(const port_rule *rule, int slot, double tol, int strict, int64_t most)
{
  port_exchange x, earlier;

  port_close_sample();
  if (rule && port_left) return;
  if (rule != port_watched || !rule) {
    port_watched = rule;
    port_nrounds = port_this_round.n = port_this_round.steps = 0;
    port_left = 0;
    return;
  }
  memmove(port_rounds + 1, port_rounds, 2 * sizeof *port_rounds);
  port_rounds[0] = port_this_round;
  port_this_round.n = port_this_round.steps = 0;
  if (++port_nrounds < 3 || most < 2 ||
      !port_find_exchange(&port_rounds[2], &port_rounds[1], &earlier) ||
      !port_find_exchange(&port_rounds[1], &port_rounds[0], &x))
    return;
  for (int i = 0; i < x.n; i++)
    if (port_exchanged(&earlier, x.from[i]) != x.to[i]) return;
  port_flush();
  port_run_ahead(&x, slot, strict ? tol : nextafter(tol, HUGE_VAL), most);
}

/* Whether the steps of a nest were done ahead. */
static int port_is_done(void)
{
  if (!port_left) return 0;
  for (int o = 0; o < port_norders; o++) {
    port_rule *rule = port_orders[o].rule;

    if (rule == port_watched)
      for (int s = 0; s < rule->nslots; s++) {
        rule->results[s] = port_left == 1 ? port_last_result : port_kept_result;
        rule->latest[s] = NULL;
      }
    if (!port_is_empty(&port_orders[o])) port_passed++;
  }
  if (port_passed == port_of_round) {
    port_passed = 0;
    port_left--;
  }
  return 1;
}
