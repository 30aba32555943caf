/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - one step: from an order of the program to an entry of the queue.
 *
 * The translator proved that the nest may run in parallel if arrays do not overlap, lie inside
 * their extents, and so on. Such conditions are checked here, each time; where one does not hold
 * the serial nest runs instead, and standard error says so, once.
 */
static int port_is_empty(const port_order *o);
static int port_is_done(void);
static void port_note_step(void);
static void port_this_round_ends(void);
static void port_expect_array(const port_record *r);

/* ---- grids and fields ---- */

static int port_covers(const ambit_grid *g, const int64_t *extents, int axes, unsigned exact)
{
  for (int d = 0; d < axes; d++)
    if (ambit_grid_extent(g, d) < extents[d] ||
        (exact >> d & 1 && ambit_grid_extent(g, d) != extents[d]))
      return 0;
  return 1;
}

/* The grid of the step: the largest one that an array of it has, if that is large enough, so that
 * arrays which meet larger ones in another step stay there; exact: not larger along these axes,
 * where reads go round the edge. */
static ambit_grid *port_choose_grid(port_record **records, unsigned exact)
{
  const int axes = port_now->axes;
  int64_t need[PORT_AXES] = {0};
  ambit_grid *best = NULL;

  for (int i = 0; i < port_now->nargs; i++)
    for (int d = 0; d < axes; d++) {
      const int64_t n = port_needs(&port_now->args[i], d, exact >> d & 1);

      if (n > need[d]) need[d] = n;
    }
  for (int i = 0; i < port_now->nargs; i++)
    if (records[i]->grid && port_covers(records[i]->grid, need, axes, exact) &&
        (!best || ambit_grid_cells(records[i]->grid) > ambit_grid_cells(best)))
      best = records[i]->grid;
  return best ? best : port_grid(axes, need);
}

/* ---- records of the arguments ---- */

/* Rows that moved, or a larger table: another array. */
static int port_same_rows(const port_record *old, const port_record *now)
{
  if (old->nrows != now->nrows) return 0;
  for (int64_t i = 0; i < now->nrows; i++)
    if (now->rows[i] && old->rows[i] && old->rows[i] != now->rows[i]) return 0;
  return 1;
}

static int port_has_rows(const port_record *old, const port_record *now)
{
  for (int64_t i = 0; i < now->nrows; i++)
    if (now->rows[i] && !old->rows[i]) return 0;
  return 1;
}

static int port_compare_rows(const void *a, const void *b)
{
  const char *x = *(char *const *)a, *y = *(char *const *)b;

  return x < y ? -1 : x > y;
}

static void port_sort_rows(port_record *r)
{
  int sorted = 1;

  r->sorted = malloc((size_t)r->nrows * sizeof *r->sorted);
  if (!r->sorted) exit(1);
  r->nsorted = 0;
  for (int64_t i = 0; i < r->nrows; i++)
    if (r->rows[i]) r->sorted[r->nsorted++] = r->rows[i];
  for (int64_t i = 1; i < r->nsorted; i++)
    sorted &= r->sorted[i - 1] <= r->sorted[i];
  if (!sorted) qsort(r->sorted, (size_t)r->nsorted, sizeof *r->sorted, port_compare_rows);
}

/* How many pointers a table of rows has, if that is known. */
static int64_t port_table_extent(const port_record *r, int axis)
{
  const char *table = r->table;
  const port_object *o;
  int64_t n;

  for (int d = 0; d < axis && table; d++)
    table = ((const char *const *)table)[r->lo[d]];
  if (!(o = port_object_at(table))) return r->hi[axis];
  n = (o->p + o->bytes - table) / (int64_t)sizeof(void *);
  return n > r->hi[axis] && n < 2 * r->hi[axis] + 64 ? n : r->hi[axis];
}

static void port_list_rows(port_argument *a)
{
  port_record *r = &a->r, *old = NULL;
  int64_t n = 1;

  if (!r->nrows) return;
  for (int i = 0; i < port_nrecords; i++)
    if (port_same_array(port_records[i], r)) old = port_records[i];
  for (int d = 0; d < r->levels; d++) {
    r->extent[d] = old && old->extent[d] > r->hi[d] ? old->extent[d] : port_table_extent(r, d);
    n *= r->extent[d];
  }
  r->nrows = n;
  r->rows = calloc((size_t)n, sizeof *r->rows);
  if (!r->rows) exit(1);
  port_row_list(r, r->table, 0, 0);
  if (old && port_same_rows(old, r) && port_has_rows(old, r)) { /* its lists do */
    free(r->rows);
    r->rows = old->rows;
    r->sorted = old->sorted;
    r->nsorted = old->nsorted;
    return;
  }
  a->owns_rows = 1;
  port_sort_rows(r);
}

static void port_free_rows(port_order *o)
{
  for (int i = 0; i < o->nargs; i++) {
    port_argument *a = &o->args[i];

    if (!a->owns_rows) continue;
    free(a->r.rows);
    free(a->r.sorted);
    a->owns_rows = 0;
  }
}

/* Whether rows of one array share memory. */
static int port_rows_overlap(const port_record *r)
{
  const int64_t bytes = port_row_bytes(r);

  for (int64_t i = 1; i < r->nsorted; i++)
    if (r->sorted[i - 1] + bytes > r->sorted[i]) return 1;
  return 0;
}

/* Room for one more: the host gets the array that has been there longest and is not part of this
 * step. Programs that keep all levels in time have one for each. */
static void port_remove_old(void)
{
  for (int i = 0; i < port_nrecords; i++) {
    int is_used = 0;

    for (int k = 0; k < port_now->nargs; k++)
      is_used |= port_same_array(port_records[i], &port_now->args[k].r);
    if (is_used) continue;
    port_flush();
    port_to_host(port_records[i]);
    port_remove(i);
    return;
  }
}

/* More rows of the same table. */
static void port_add_rows(port_record *r, const port_record *more)
{
  char **sorted = r->sorted;

  for (int64_t i = 0; i < r->nrows; i++)
    if (!r->rows[i]) r->rows[i] = more->rows[i];
  port_sort_rows(r);
  for (int i = 0; i < port_now->nargs; i++)
    if (port_now->args[i].r.sorted == sorted) {
      port_now->args[i].r.sorted = r->sorted;
      port_now->args[i].r.nsorted = r->nsorted;
    }
  free(sorted);
}

static port_record *port_record_of(port_argument *a)
{
  port_record *r = NULL;

  for (int i = 0; i < port_nrecords; i++)
    if (port_same_array(port_records[i], &a->r)) r = port_records[i];
  if (r && a->owns_rows && !port_same_rows(r, &a->r)) {
    port_to_host(r);
    for (int i = 0; i < port_nrecords; i++)
      if (port_records[i] == r) port_remove(i);
    r = NULL;
  }
  if (r && a->owns_rows && r->rows != a->r.rows) port_add_rows(r, &a->r);
  if (r) return r;
  if (port_nrecords == PORT_RECORDS) port_remove_old();
  r = malloc(sizeof *r);
  if (!r) exit(1);
  *r = a->r;
  a->owns_rows = 0;
  r->host_ok = 1;
  return port_records[port_nrecords++] = r;
}

/* Whether all arrays of the step have this extent, as far as they say. */
static int port_has_extent(int64_t extent, int axis)
{
  int same = 1;

  for (int i = 0; i < port_now->nargs; i++) {
    const port_record *r = &port_now->args[i].r;

    same &= !r->stride[axis] || !r->extent[axis] || r->extent[axis] == extent;
  }
  return same;
}

/* A new array gets, where its memory has them, the cells that other arrays of the step have: v[1 ..
 * n - 1] is written now, and v[0 .. n] will be read in the next step; and all of its cells, if the
 * step touches most of them: others will fill its edges. */
static void port_widen(port_record *r)
{
  const port_object *o = r->nrows || r->field ? NULL : port_object_at(r->base);
  port_record wide = *r, all;
  char *lo, *hi;

  if (!o || o->p != r->base) return;
  for (int i = 0; i < port_now->nargs; i++)
    for (int d = 0; d < r->axes; d++) {
      const port_record *other = &port_now->args[i].r;

      if (!r->stride[d] || !other->stride[d]) continue;
      if (other->lo[d] < wide.lo[d]) wide.lo[d] = other->lo[d];
      if (other->hi[d] > wide.hi[d] && (!r->extent[d] || other->hi[d] <= r->extent[d]))
        wide.hi[d] = other->hi[d];
    }
  all = wide;
  for (int d = 0; d < r->axes; d++)
    if (r->stride[d] && r->extent[d] >= r->hi[d] && port_has_extent(r->extent[d], d)) {
      all.lo[d] = 0;
      all.hi[d] = r->extent[d];
    }
  if (port_volume(all.lo, all.hi, r->axes) <= 2 * port_volume(r->lo, r->hi, r->axes)) wide = all;
  port_span(&wide, &lo, &hi);
  if (hi > o->p + o->bytes) return;
  for (int i = 0; i < port_nrecords; i++)
    if (port_records[i] != r && port_share(&wide, port_records[i])) return;
  memcpy(r->lo, wide.lo, sizeof r->lo);
  memcpy(r->hi, wide.hi, sizeof r->hi);
}

/* The box grows: cells that were not touched before are on the host only. Where the others are
 * there, too, nothing is lost. */
static void port_grow(port_record *r, const port_record *to)
{
  int grows = 0;

  if (r->is_old) {
    memcpy(r->lo, to->lo, sizeof r->lo);
    memcpy(r->hi, to->hi, sizeof r->hi);
    r->is_old = 0;
  }
  for (int d = 0; d < r->axes; d++)
    grows |= to->lo[d] < r->lo[d] || to->hi[d] > r->hi[d];
  if (!grows) return;
  if (!r->waits || !port_covers(r->grid, to->hi, r->axes, 0)) {
    port_part(r);
    port_to_host(r);
    r->dev_ok = 0;
  }
  for (int d = 0; d < r->axes; d++) {
    if (to->lo[d] < r->lo[d]) r->lo[d] = to->lo[d];
    if (to->hi[d] > r->hi[d]) r->hi[d] = to->hi[d];
  }
}

static void port_settle(port_record *r, ambit_grid *g)
{
  static int count;
  char name[24];

  if (r->field && r->grid == g) return;
  if (r->field) {
    port_part(r);
    port_to_host(r);
    port_drop_programs(r->field);
    ambit_field_destroy(r->field);
  }
  snprintf(name, sizeof name, "array%d", ++count);
  r->grid = g;
  r->dev_ok = 0;
  r->periodic = r->clamp = 0;
  r->field = ambit_field_create(g, name, r->type);
  port_must(r->field != NULL);
}

/* Other records with the same memory: their values are the host's, and ours come from there. */
static void port_make_room(port_record *r, int written)
{
  for (int i = 0; i < port_nrecords; i++) {
    port_record *other = port_records[i];

    if (other == r || !port_share(r, other)) continue;
    if (!other->host_ok || other->pending == 2) {
      port_part(r);
      port_to_host(r); /* it may have grown over the other one just now */
      port_to_host(other);
      r->dev_ok = 0;
    }
    if (!written) continue;
    port_part(other);
    if (other->pending) port_flush();
    other->dev_ok = 0;
  }
}

static void port_declare(port_record *r, const port_slot *slot)
{
  const unsigned any = slot->loose & (r->periodic | r->clamp); /* declared, and that is enough */
  const unsigned used = (slot->periodic | slot->clamp) & ~any;

  if (!((slot->periodic & ~r->periodic) | (slot->clamp & ~r->clamp & ~any))) return;
  if (used & (r->periodic | r->clamp)) port_flush(); /* the queue reads it in the other way */
  port_drop_programs(r->field);                      /* they may have steps in place */
  for (int d = 0; d < r->axes; d++)
    if (used >> d & 1)
      ambit_field_boundary(r->field, AMBIT_AXIS(d),
                           slot->periodic >> d & 1 ? AMBIT_PERIODIC : AMBIT_CLAMP, 0);
  r->periodic = (r->periodic & ~used) | (slot->periodic & used);
  r->clamp = (r->clamp & ~used) | (slot->clamp & used);
}

/* ---- the step ---- */

static int port_writes_slot(port_kind k)
{
  return k == PORT_WRITE || k == PORT_UPDATE;
}

/* The serial nest runs instead: the host gets the arrays of all its steps. */
static int port_serial(const char *why)
{
  port_rule *rule = port_orders[0].rule;

  if (!rule->told++ && port_first())
    fprintf(stderr, "%s: this nest runs serially: %s\n", rule->place, why);
  port_know_all(NULL);
  port_do_statements();
  for (int o = 0; o < port_norders; o++)
    for (int i = 0; i < port_orders[o].nargs; i++) {
      const port_record *r = &port_orders[o].args[i].r;
      char *lo, *hi;

      if (r->nrows || !r->base) {
        port_writes_all();
        continue;
      }
      port_span(r, &lo, &hi);
      for (int k = 0; k < port_nrecords; k++)
        if (port_meets(port_records[k], lo, hi)) {
          port_fetch(port_records[k], 1);
        }
    }
  return 0;
}

static int port_is_empty(const port_order *o)
{
  for (int d = 0; d < o->axes; d++)
    if (o->hi[d] <= o->lo[d]) return 1;
  return 0;
}

/* Results are taken at once: spare fields are used again. */
static void port_take_results(void)
{
  port_rule *rule = port_now->rule;
  const port_program *p = port_last;
  size_t cells = 1;

  for (int d = 0; d < port_now->axes; d++)
    cells *= (size_t)(port_now->hi[d] - port_now->lo[d]);
  for (int s = 0; s < rule->nslots; s++) {
    const port_slot *slot = &rule->slots[s];

    if (slot->kind == PORT_SUM || slot->kind == PORT_MIN || slot->kind == PORT_MAX)
      rule->results[s] = ambit_scalar_get(p->scalars[p->n - 1][s]);
    if (slot->kind != PORT_TERM) continue;
    rule->terms[s] = realloc(rule->terms[s], cells * ambit_type_size(slot->type));
    if (!rule->terms[s]) exit(1);
    port_must(ambit_field_read(p->entries[p->n - 1].fields[s], port_now->lo, port_now->hi,
                               rule->terms[s]) == AMBIT_OK);
  }
}

static void port_submit(port_record **records, ambit_grid *g)
{
  port_rule *rule = port_now->rule;
  port_entry e;
  const unsigned axes = ((1u << 2 * port_now->axes) - 1);
  int spare[16] = {0}, carried[16] = {0}, terms = 0, reduces = 0;

  memset(&e, 0, sizeof e);
  e.rule = rule;
  e.grid = g;
  memcpy(e.lo, port_now->lo, sizeof e.lo);
  memcpy(e.hi, port_now->hi, sizeof e.hi);
  for (int i = 0; i < port_now->nargs; i++) {
    port_record *r = records[i];
    const int slot = port_now->args[i].slot;

    e.fields[slot] = r->field;
    if (r->dev_ok) continue;
    if (r->pending) port_flush();
    r->waits = r->dev_ok = 1;
    memset(r->skip_hi, 0, sizeof r->skip_hi);
    memset(r->skip_lo, 0, sizeof r->skip_lo);
    if (!rule->slots[slot].fresh || port_times_used(records, r) != 1) continue;
    memcpy(r->skip_lo, port_now->lo, sizeof r->skip_lo);
    memcpy(r->skip_hi, port_now->hi, sizeof r->skip_hi);
  }
  port_close_before_drivers();
  for (int s = 0; s < rule->nslots; s++) {
    const port_kind k = rule->slots[s].kind;
    const ambit_type type = rule->slots[s].type;

    if (k == PORT_SHADOW || (k == PORT_TERM && !rule->late))
      e.fields[s] = port_spare_field(g, type, axes, spare[type]++, NULL);
    if (k == PORT_CARRIED)
      e.fields[s] =
          port_spare_field(g, type, axes & ~port_axis_of(rule->sweep), carried[type]++, NULL);
    if (k == PORT_TERM && rule->late)
      e.fields[s] = rule->term_fields[s] = port_spare_field(g, type, axes, terms++, rule);
    if (k == PORT_VALUE || k == PORT_TABLE) e.values[s] = port_now->values[s];
    if (k == PORT_TABLE) e.tables = e.tables * (PORT_TABLES + 1) + (int64_t)e.values[s] + 1;
    if (k == PORT_SUM || k == PORT_MIN || k == PORT_MAX || k == PORT_TERM) reduces = 1;
  }
  if (reduces && rule->late) port_know_all(rule);
  port_enqueue(&e);
  port_note_entry(&e);
  for (int i = 0; i < port_now->nargs; i++) {
    const int writes = port_writes_slot(rule->slots[port_now->args[i].slot].kind);

    if (writes) records[i]->host_ok = records[i]->moves = 0;
    records[i]->puts = 0;
    if (records[i]->pending < 1 + writes) records[i]->pending = 1 + writes;
  }
  if (!reduces || rule->late) return;
  port_flush();
  port_take_results();
}

/* Two names for the same table of rows: both get the rows of both. */
static void port_join_rows(port_record *a, port_record *b)
{
  if (!a->nrows || !port_same_array(a, b)) return;
  for (int d = 0; d < a->axes; d++) {
    a->lo[d] = b->lo[d] = a->lo[d] < b->lo[d] ? a->lo[d] : b->lo[d];
    a->hi[d] = b->hi[d] = a->hi[d] > b->hi[d] ? a->hi[d] : b->hi[d];
  }
}

/* An array that is written, and read by another name, as in u[i] = w[i] + dt * k[i] with w being u:
 * the step updates it in place. */
static int port_is_in_cell(const port_argument *a, const port_argument *b)
{
  const port_slot *slots = port_now->rule->slots;

  if (slots[a->slot].kind == PORT_WRITE)
    return (port_norders == 1 || port_now->is_plane) && slots[b->slot].first && !a->r.nrows &&
           port_same_array(&a->r, &b->r);
  return slots[b->slot].kind == PORT_WRITE && port_is_in_cell(b, a);
}

/* Everything that could keep a step from running, before anything is done. */
static const char *port_check(void)
{
  port_rule *rule = port_now->rule;

  port_shape_cells();
  port_move_cells();
  for (int i = 0; i < port_now->nargs; i++) {
    port_argument *a = &port_now->args[i];
    const char *why = port_bounds(a);

    if (why) return why;
    if (!port_inside(a)) return "it reads or writes outside the memory of an array";
    for (int k = 0; k < i; k++)
      port_join_rows(&a->r, &port_now->args[k].r);
  }
  for (int i = 0; i < port_now->nargs; i++) {
    port_argument *a = &port_now->args[i];

    port_list_rows(a);
    port_expect_array(&a->r);
    for (int k = 0; k < port_nplaces; k++)
      if (port_meets(&a->r, (const char *)(uintptr_t)port_places[k],
                     (const char *)(uintptr_t)port_places[k] + 1))
        return "arrays overlap";
  }
  for (int i = 0; i < port_now->nargs; i++) {
    const port_slot *slot = &rule->slots[port_now->args[i].slot];

    for (int k = 0; k < port_now->nargs; k++)
      for (int d = 0; d < port_now->axes; d++)
        if (((slot->periodic | (slot->clamp & ~slot->loose)) >> d & 1) &&
            port_needs(&port_now->args[k], d, 1) > port_now->args[i].r.hi[d]) /* all of it */
          return "arrays of different extents are read round their edges";
    if (port_now->args[i].r.nrows && port_writes_slot(slot->kind) &&
        port_rows_overlap(&port_now->args[i].r))
      return "rows of an array overlap";
    for (int k = 0; k < i; k++) {
      const port_kind kind = rule->slots[port_now->args[k].slot].kind;

      if ((port_writes_slot(kind) || port_writes_slot(slot->kind)) &&
          port_share(&port_now->args[i].r, &port_now->args[k].r) &&
          !port_is_in_cell(&port_now->args[i], &port_now->args[k]))
        return "arrays overlap";
    }
  }
  return NULL;
}

/* Arrays that the step writes may be parts of one that earlier steps have touched as a whole: such
 * records are made anew, so that each part has one record with values that the host has not. */
static void port_separate(port_record **records)
{
  const port_rule *rule = port_now->rule;

  for (int i = 0; i < port_now->nargs; i++)
    for (int k = 0; k < i; k++) {
      if (records[i] == records[k] || !port_writes_slot(rule->slots[port_now->args[i].slot].kind) ||
          !port_writes_slot(rule->slots[port_now->args[k].slot].kind) ||
          (!port_share(records[i], records[k]) && !port_share(records[i], &port_now->args[k].r) &&
           !port_share(&port_now->args[i].r, records[k])))
        continue;
      port_fetch(records[i], 1);
      port_fetch(records[k], 1);
      records[i]->is_old = records[k]->is_old = 1;
    }
}

static void port_do(void)
{
  port_record *records[PORT_SLOTS];
  port_rule *rule = port_now->rule;
  ambit_grid *g;
  unsigned exact = 0;

  if (port_now != port_orders) { /* an earlier step of the nest may have made records */
    port_free_rows(port_now);
    for (int i = 0; i < port_now->nargs; i++)
      port_list_rows(&port_now->args[i]);
  }
  for (int i = 0; i < port_now->nargs; i++) {
    const port_slot *slot = &rule->slots[port_now->args[i].slot];

    records[i] = port_record_of(&port_now->args[i]);
    exact |= slot->periodic | (slot->clamp & ~slot->loose);
  }
  port_separate(records);
  for (int i = 0; i < port_now->nargs; i++) {
    port_grow(records[i], &port_now->args[i].r);
    port_widen(records[i]);
  }
  g = port_choose_grid(records, exact);
  if (!rule->kernel) rule->kernel = port_kernel(rule);
  port_must(rule->kernel != NULL);
  for (int i = 0; i < port_now->nargs; i++) {
    const port_slot *slot = &rule->slots[port_now->args[i].slot];

    port_settle(records[i], g);
    port_make_room(records[i], port_writes_slot(slot->kind));
    port_declare(records[i], slot);
  }
  if (port_is_copy(records)) {
    port_put_off(records);
    return;
  }
  for (int i = 0; i < port_now->nargs; i++)
    port_before_use(records, i);
  port_submit(records, g);
}

PORT_API int port_go(void)
{
  const char *why = port_why_not;
  int done = 1;

  port_place_lines();
  port_split_planes();
  if (port_is_done()) {
    port_norders = port_nplaces = 0;
    port_why_not = NULL;
    return 1;
  }
  for (int o = 0; o < port_norders && !why; o++) {
    port_now = &port_orders[o];
    if (!port_is_empty(port_now)) why = port_check();
  }
  if (why) {
    done = port_serial(why);
    port_this_round_ends();
  }
  for (int o = 0; o < port_norders && done; o++) {
    port_now = &port_orders[o];
    for (int s = 0; s < port_now->rule->nslots; s++) {
      const port_kind k = port_now->rule->slots[s].kind;

      port_now->rule->results[s] = k == PORT_MAX ? -HUGE_VAL : k == PORT_MIN ? HUGE_VAL : 0;
    }
    if (port_is_empty(port_now)) continue;
    port_do();
    port_note_step();
  }
  for (int o = 0; o < port_norders; o++)
    port_free_rows(&port_orders[o]);
  port_norders = port_nplaces = 0;
  port_why_not = NULL;
  return done;
}

/* ---- copies of whole arrays ---- */

/* Whether these bytes are whole rows of an array, or of the array of structs that it is a member
 * of, without gaps. */
static int port_is_whole(const port_record *r, const char *base, size_t bytes)
{
  int64_t step = r->stride[r->axes - 1];

  if (r->nrows || !r->dev_ok || step <= 0 || r->base < base || r->base >= base + step) return 0;
  for (int d = r->axes - 1; d >= 0; d--) {
    if (r->stride[d] != step || (d && r->extent[d] <= 0)) return 0;
    step *= d ? r->extent[d] : 1;
  }
  return bytes % (size_t)step == 0;
}

/* Queues steps that copy all of it, one for each member; 0: some of it is on the host alone. */
static int port_copy_whole(char *to, const char *from, size_t bytes)
{
  port_record found[PORT_ORDERS];
  int64_t covered = 0;
  int n = 0, is_needed = 0;

  for (int i = 0; i < port_nrecords && n < PORT_ORDERS; i++) {
    const port_record *r = port_records[i];

    if (!port_is_whole(r, from, bytes)) continue;
    for (int k = 0; k < n; k++)
      if (found[k].stride[found[k].axes - 1] != r->stride[r->axes - 1] || found[k].base == r->base)
        return 0;
    covered += (int64_t)ambit_type_size(r->type);
    is_needed |= !r->host_ok;
    found[n++] = *r;
  }
  if (!is_needed || covered != found[0].stride[found[0].axes - 1]) return 0;
  for (int i = 0; i < n; i++) {
    const port_record *r = &found[i];

    port_begin(port_copy_rule(r->type, r->axes));
    port_cells(0, 0, (int64_t)bytes / r->stride[0]);
    for (int d = 1; d < r->axes; d++)
      port_cells(d, 0, r->extent[d]);
    port_array(r->base, r->extent, r->stride, NULL, 0);
    port_array(to + (r->base - from), r->extent, r->stride, NULL, 0);
  }
  return port_go();
}

PORT_API void *port_memcpy(void *to, const void *from, size_t bytes)
{
  if (port_copy_whole(to, from, bytes)) return to;
  port_reads(from, bytes);
  port_writes(to, bytes);
  return memcpy(to, from, bytes);
}
