/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c - u = v, for all cells of a box: the two fields change places.
 *
 * The cells outside of the box are exchanged first, so that both arrays keep theirs. After that u
 * has its new values, and v has old ones of u: its copy is put off until something reads v, changes
 * u in the box, or takes v to the host. A time loop overwrites v before that; then nothing was
 * moved. A copy that had to be made later is no dearer, but a step more: the third time the step is
 * done at once.
 */
enum { PORT_REGRETS = 2 };

static port_rule port_swap_rule = {
    .place = "swap", .nslots = 2, .slots = {{.kind = PORT_WRITE}, {.kind = PORT_WRITE}}};

static port_rule *port_copy_rule(ambit_type type, int axes)
{
  static port_rule rules[8][PORT_AXES + 1];
  port_rule *rule = &rules[type][axes];

  rule->place = "memcpy";
  rule->told = 1;
  rule->axes = axes;
  rule->nslots = 2;
  rule->slots[0] = (port_slot){.kind = PORT_READ, .type = type};
  rule->slots[1] = (port_slot){.kind = PORT_WRITE, .type = type, .fresh = 1, .copies = 1};
  rule->kernel = port_copy_kernel(type);
  return rule;
}

/* Exchanges n pairs of arrays of one type. */
static port_rule *port_exchange_rule(ambit_type type, int axes, int n)
{
  static port_rule rules[8][PORT_AXES + 1][PORT_SLOTS / 2 + 1];
  port_rule *rule = &rules[type][axes][n];
  const char *name = ambit_type_name(type);
  char text[128 * PORT_SLOTS], *to = text;

  if (rule->kernel) return rule;
  rule->place = "exchange";
  rule->axes = axes;
  rule->nslots = 2 * n;
  for (int i = 0; i < 2 * n; i++) {
    rule->slots[i] = (port_slot){.kind = PORT_WRITE, .type = type};
    to += sprintf(to, "%s%s *a%d", i ? ", " : "void port_exchange(", name, i);
  }
  to += sprintf(to, ") {");
  for (int i = 0; i < 2 * n; i += 2)
    to += sprintf(to, " const %s old%d = *a%d; *a%d = *a%d; *a%d = old%d;", name, i, i, i, i + 1,
                  i + 1, i);
  sprintf(to, " }");
  rule->kernel = ambit_kernel_create(port_context, text);
  return rule;
}

static void port_enqueue_own(port_rule *rule, port_record **records, const int64_t *lo,
                             const int64_t *hi)
{
  port_entry e;

  memset(&e, 0, sizeof e);
  e.rule = rule;
  e.grid = records[0]->grid;
  memcpy(e.lo, lo, sizeof e.lo);
  memcpy(e.hi, hi, sizeof e.hi);
  for (int i = 0; i < rule->nslots; i++)
    e.fields[i] = records[i]->field;
  port_enqueue(&e);
  port_note_entry(&e);
  for (int i = 0; i < rule->nslots; i++)
    records[i]->pending = 2;
}

/* ---- copies that were put off ---- */

static void port_make_copy(port_record *r)
{
  port_record *pair[] = {r->copy_of, r};

  if (!r->copy_of) return;
  r->copy_of = NULL;
  if (r->host_ok)
    r->dev_ok = 0;
  else
    port_enqueue_own(port_copy_rule(r->type, r->axes), pair, r->copy_lo, r->copy_hi);
}

static void port_make_copies_of(const port_record *r)
{
  for (int i = 0; i < port_nrecords; i++)
    if (port_records[i]->copy_of == r) port_make_copy(port_records[i]);
}

/* The values of an array on the device are about to change, or to go: others that lack theirs get
 * them first. */
static void port_part(port_record *r)
{
  port_make_copy(r);
  port_make_copies_of(r);
}

static int port_has_box(const int64_t *lo, const int64_t *hi, const port_record *r)
{
  int has = 1;

  for (int d = 0; d < r->axes; d++)
    has &= lo[d] <= r->copy_lo[d] && hi[d] >= r->copy_hi[d];
  return has;
}

static int port_meets_box(const int64_t *lo, const int64_t *hi, const port_record *r)
{
  int meets = 1;

  for (int d = 0; d < r->axes; d++)
    meets &= lo[d] < r->copy_hi[d] && hi[d] > r->copy_lo[d];
  return meets;
}

static void port_regret(port_record *r)
{
  r->copy_rule->regrets++;
  port_make_copy(r);
}

static int port_times_used(port_record **records, const port_record *r)
{
  int n = 0;

  for (int i = 0; i < port_now->nargs; i++)
    n += records[i] == r;
  return n;
}

/* A step is about to use an array. */
static void port_before_use(port_record **records, int arg)
{
  const port_slot *slot = &port_now->rule->slots[port_now->args[arg].slot];
  port_record *r = records[arg];

  if (r->copy_of && slot->fresh && port_times_used(records, r) == 1 &&
      port_has_box(port_now->lo, port_now->hi, r))
    r->copy_of = NULL;
  else if (r->copy_of)
    port_regret(r);
  if (slot->kind == PORT_READ) return;
  for (int i = 0; i < port_nrecords; i++)
    if (port_records[i]->copy_of == r &&
        port_meets_box(port_now->lo, port_now->hi, port_records[i]))
      port_regret(port_records[i]);
}

/* ---- putting a copy off ---- */

static port_record *port_in_slot(port_record **records, int slot)
{
  for (int i = 0; i < port_now->nargs; i++)
    if (port_now->args[i].slot == slot) return records[i];
  return NULL;
}

/* All cells of arrays that steps have touched. */
static void port_hull(port_record **records, int n, int64_t *lo, int64_t *hi)
{
  memcpy(lo, records[0]->lo, sizeof records[0]->lo);
  memcpy(hi, records[0]->hi, sizeof records[0]->hi);
  for (int i = 1; i < n; i++)
    for (int d = 0; d < records[0]->axes; d++) {
      if (records[i]->lo[d] < lo[d]) lo[d] = records[i]->lo[d];
      if (records[i]->hi[d] > hi[d]) hi[d] = records[i]->hi[d];
    }
}

/* Whether a step copies arrays of one type, no more, and most of their cells. */
static int port_is_copy(port_record **records)
{
  const port_rule *rule = port_now->rule;
  int64_t lo[PORT_AXES], hi[PORT_AXES];
  int copies = 0;

  if (rule->regrets > PORT_REGRETS || !port_now->nargs) return 0;
  for (int i = 0; i < port_now->nargs; i++) {
    const port_slot *slot = &rule->slots[port_now->args[i].slot];

    if (!records[i]->dev_ok || records[i]->type != records[0]->type ||
        port_times_used(records, records[i]) != 1 || (slot->kind != PORT_READ && !slot->copies))
      return 0;
    copies += slot->kind != PORT_READ;
  }
  port_hull(records, port_now->nargs, lo, hi);
  return copies > 0 && 2 * port_volume(port_now->lo, port_now->hi, port_now->axes) >=
                           port_volume(lo, hi, port_now->axes);
}

/* The cells of the arrays outside of the box of the step. */
static void port_exchange_rest(port_record **pairs, int n)
{
  port_rule *rule = port_exchange_rule(pairs[0]->type, pairs[0]->axes, n / 2);
  int64_t lo[PORT_AXES] = {0}, hi[PORT_AXES] = {0};

  port_hull(pairs, n, lo, hi);
  for (int d = 0; d < pairs[0]->axes; d++)
    for (int side = 0; side < 2; side++) {
      const int64_t was[2] = {lo[d], hi[d]};

      lo[d] = side ? port_now->hi[d] : was[0];
      hi[d] = side ? was[1] : port_now->lo[d];
      if (lo[d] < hi[d]) port_enqueue_own(rule, pairs, lo, hi);
      lo[d] = side ? port_now->lo[d] : was[0];
      hi[d] = side ? port_now->hi[d] : was[1];
    }
}

static void port_put_off(port_record **records)
{
  static const int64_t nowhere[PORT_AXES];
  port_record *pairs[PORT_SLOTS];
  int n = 0;

  for (int i = 0; i < port_now->nargs; i++) {
    const port_slot *slot = &port_now->rule->slots[port_now->args[i].slot];

    if (slot->kind == PORT_READ) continue;
    pairs[n++] = records[i];
    pairs[n++] = port_in_slot(records, slot->copies - 1);
  }
  for (int i = 0; i < n; i++) {
    if (i % 2 == 0 && pairs[i]->copy_of && port_has_box(port_now->lo, port_now->hi, pairs[i]))
      pairs[i]->copy_of = NULL;
    port_part(pairs[i]);
  }
  port_exchange_rest(pairs, n);
  for (int i = 0; i < n; i += 2) {
    port_record *to = pairs[i], *from = pairs[i + 1];

    port_enqueue_own(&port_swap_rule, pairs + i, nowhere, nowhere);
    to->host_ok = to->moves = 0;
    from->copy_of = to;
    from->copy_rule = port_now->rule;
    memcpy(from->copy_lo, port_now->lo, sizeof from->copy_lo);
    memcpy(from->copy_hi, port_now->hi, sizeof from->copy_hi);
  }
}

/* ---- one element ---- */

/* A step that changes one cell by a number: '=', '+' or '-'. */
static port_rule *port_point_rule(ambit_type type, int axes, int op, ambit_type number)
{
  static port_rule rules[8][PORT_AXES + 1][3][8];
  port_rule *rule = &rules[type][axes][op == '+' ? 1 : op == '-' ? 2 : 0][number];
  char text[96];

  if (rule->kernel) return rule;
  rule->place = "point";
  rule->axes = axes;
  rule->nslots = 2;
  rule->slots[0] = (port_slot){.kind = PORT_WRITE, .type = type};
  rule->slots[1] = (port_slot){.kind = PORT_VALUE, .type = number};
  snprintf(text, sizeof text, "void port_point(%s *a, %s x) { *a %s x; }", ambit_type_name(type),
           ambit_type_name(number),
           op == '+'   ? "+="
           : op == '-' ? "-="
                       : "=");
  rule->kernel = ambit_kernel_create(port_context, text);
  return rule;
}

static void port_add_source(ambit_field *f, ambit_grid *g, const int64_t *at, double x);

/* Host code is about to change one element, u[src] += x. Where its value is on the device the step
 * is queued; 0: the host does it. */
PORT_API int port_point(volatile void *p, size_t bytes, int op, ambit_type type, double x)
{
  const char *element = (const char *)(uintptr_t)p;
  int64_t at[PORT_AXES];
  port_record *r = NULL;
  port_entry e;

  for (int i = 0; i < port_nrecords; i++)
    if (port_meets(port_records[i], element, element + bytes)) {
      if (r) return 0;
      r = port_records[i];
    }
  if (!r || r->is_old || !r->dev_ok || (r->host_ok && r->moves < PORT_MOVES / 2) ||
      port_cell_at(r, element, bytes, at) <= 0)
    return 0;
  if (r->copy_of) port_regret(r);
  memset(&e, 0, sizeof e);
  e.grid = r->grid;
  e.fields[0] = r->field;
  for (int d = 0; d < r->axes; d++) {
    e.lo[d] = at[d];
    e.hi[d] = at[d] + 1;
  }
  for (int i = 0; i < port_nrecords; i++)
    if (port_records[i]->copy_of == r && port_meets_box(e.lo, e.hi, port_records[i]))
      port_regret(port_records[i]);
  if (op != '=' && type == r->type)
    port_add_source(r->field, r->grid, at, op == '-' ? -x : x);
  else {
    e.rule = port_point_rule(r->type, r->axes, op, type);
    e.values[1] = x;
    port_enqueue(&e);
    port_note_entry(&e);
  }
  r->host_ok = r->moves = 0;
  r->pending = 2;
  return 1;
}
