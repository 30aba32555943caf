/* SPDX-License-Identifier: BSD-3-Clause */
/* probes.c - statements of the host that read single elements of arrays: trace[t] = u[c], energy +=
 * u[c] * u[c], a loop over receivers.
 *
 * Where the elements are on the device, such a statement is put off. A step of the queue samples
 * them (ambit_sample), so that a time loop runs on. When something reads what these statements
 * write, all of them are done, in their order, with the values that the samples have by then.
 *
 * Sources are the reverse: u[src] += x with another number in each round is one step, and a series
 * of numbers (ambit_inject). So rounds of a time loop that differ in these numbers alone are alike.
 * Several in a row, for one array, are one step.
 */
enum {
  PORT_PUT_OFF = 1 << 15, /* values of statements, before all of them are done */
  PORT_PROBES = 4096,     /* elements of one sample */
  PORT_SOURCES = 256,     /* of one step of sources */
  PORT_LISTS = 64,        /* of places: a program whose probes wander reads them at once */
  PORT_FEW = 4,   /* statements that were done after fewer than these have gained nothing; */
  PORT_EARLY = 16 /* so often, and they are not put off any more */
};

/* The elements of one array that are sampled at one time, one after the other; those of sources. */
struct port_spots {
  ambit_grid *grid;
  int n;
  int64_t at[][PORT_AXES];
};

/* The numbers of one entry of a program, a row for each time that it runs. */
struct port_tape {
  int is_source;
  ambit_points *points;
  ambit_record *record;
  int64_t rows; /* of samples that were not taken yet */
  int columns;
};

/* A value that a statement reads. */
typedef struct port_probe_value {
  double x;
  int waits;             /* for its step to run, or, with a tape, for ... */
  const port_tape *tape; /* ... its row to be taken */
  int64_t row;
  int column;
} port_probe_value;

typedef struct port_statement {
  port_site *site; /* NULL: the variable that it sets is gone */
  void *to;
  int end; /* behind its last value */
} port_statement;

static port_probe_value *port_values;
static port_statement *port_statements;                  /* that were put off, the oldest first */
static int port_nvalues, port_nstatements, port_sampled; /* values that have their step's row */
static port_site *port_sites;                            /* of these statements */
static double *port_numbers_to_add; /* of sources in the queue, in their order */
static int port_nsources, port_room_for_sources;
static port_spots *port_lists[PORT_LISTS];
static int port_nlists;
static struct {
  ambit_field *field; /* NULL: no sample, and no step of sources, is being put together */
  port_spots *spots;
  int is_source;
} port_open_sample;

static void *port_room(size_t bytes)
{
  void *p = malloc(bytes);

  if (!p) exit(1);
  return p;
}

/* ---- samples ---- */

/* The list that is equal to this one, from now on the only one; NULL: there are too many. */
static port_spots *port_listed(const port_spots *p)
{
  const size_t bytes = sizeof *p + (size_t)p->n * sizeof *p->at;

  for (int i = 0; i < port_nlists; i++)
    if (port_lists[i]->grid == p->grid && port_lists[i]->n == p->n &&
        !memcmp(port_lists[i]->at, p->at, (size_t)p->n * sizeof *p->at))
      return port_lists[i];
  if (port_nlists == PORT_LISTS) return NULL;
  port_lists[port_nlists] = port_room(bytes);
  return memcpy(port_lists[port_nlists++], p, bytes);
}

static port_rule port_sample_rule = {
    .place = "sample", .nslots = 1, .slots = {{.kind = PORT_READ}}};

static port_rule port_source_rule = {
    .place = "source", .nslots = 1, .slots = {{.kind = PORT_WRITE}}};

static void port_close_sources(port_entry *e);

/* The queue gets the sample, or the sources, that were put together. */
static void port_close_sample(void)
{
  port_entry e;

  if (!port_open_sample.field) return;
  memset(&e, 0, sizeof e);
  e.rule = &port_sample_rule;
  e.fields[0] = port_open_sample.field;
  e.grid = port_open_sample.spots->grid;
  e.spots = port_listed(port_open_sample.spots);
  port_open_sample.field = NULL;
  if (port_open_sample.is_source) {
    port_close_sources(&e);
    return;
  }
  if (e.spots) {
    port_enqueue(&e);
    return;
  }
  port_wanders = 1;
  port_flush();
  for (int i = 0, n = 0; n < port_open_sample.spots->n; i++) {
    int64_t hi[PORT_AXES];
    const int64_t *at = port_open_sample.spots->at[n];
    port_probe_value *v = &port_values[port_sampled + i];
    unsigned char element[8];

    if (!v->waits) continue;
    n++;
    for (int d = 0; d < ambit_grid_ndims(e.grid); d++)
      hi[d] = at[d] + 1;
    port_must(ambit_field_read(e.fields[0], at, hi, element) == AMBIT_OK);
    v->x = port_value_at(element, ambit_field_type(e.fields[0]));
    v->waits = 0;
  }
  port_sampled = port_nvalues;
}

/* Whether this cell is among the sources: what is added to it twice is added in two steps. */
static int port_is_spot(const port_spots *p, const int64_t *at)
{
  for (int i = 0; i < p->n; i++)
    if (!memcmp(p->at[i], at, sizeof *p->at)) return 1;
  return 0;
}

static void port_add_spot(ambit_field *f, ambit_grid *g, const int64_t *at, int is_source)
{
  port_spots *p = port_open_sample.spots;
  int64_t spot[PORT_AXES] = {0};

  memcpy(spot, at, (size_t)ambit_grid_ndims(g) * sizeof *at);
  if (!p) {
    p = port_room(sizeof *p + PORT_PROBES * sizeof *p->at);
    port_open_sample.spots = p;
  }
  if (port_open_sample.field &&
      (port_open_sample.field != f || port_open_sample.is_source != is_source ||
       p->n == (is_source ? PORT_SOURCES : PORT_PROBES) || (is_source && port_is_spot(p, spot))))
    port_close_sample();
  if (!port_open_sample.field) p->n = 0;
  port_open_sample.field = f;
  port_open_sample.is_source = is_source;
  p->grid = g;
  memcpy(p->at[p->n++], spot, sizeof *p->at);
}

static void port_append_tape(port_program *p, const port_entry *e, port_tape **to)
{
  const int n = e->spots->n, axes = ambit_grid_ndims(e->grid);
  double *coordinates = port_room((size_t)(n * axes) * sizeof *coordinates);
  port_tape *t = *to = port_room(sizeof *t);

  for (int i = 0; i < n; i++)
    for (int d = 0; d < axes; d++)
      coordinates[i * axes + d] = (double)e->spots->at[i][d];
  t->points = ambit_points_create(e->grid, n, coordinates, AMBIT_NEAREST);
  t->record = ambit_record_create(port_context, e->rule->place);
  t->is_source = e->rule == &port_source_rule;
  t->rows = 0;
  t->columns = n;
  if (t->is_source)
    ambit_inject(p->program, t->points, t->record, e->fields[0]);
  else
    ambit_sample(p->program, t->points, e->fields[0], t->record);
  free(coordinates);
}

/* The values of the next statements are in this row. */
static void port_note_row(port_tape *t)
{
  for (int column = 0; column < t->columns; port_sampled++) {
    port_probe_value *v = &port_values[port_sampled];

    if (!v->waits) continue;
    v->tape = t;
    v->row = t->rows;
    v->column = column++;
  }
  t->rows++;
}

/* A program has run so often. */
static void port_note_rows(const port_program *p, int64_t times)
{
  int samples = 0;

  for (int k = 0; k < p->n; k++)
    samples += p->tapes[k] && !p->tapes[k]->is_source;
  for (int64_t t = 0; t < times && samples; t++)
    for (int k = 0; k < p->n; k++)
      if (p->tapes[k] && !p->tapes[k]->is_source) port_note_row(p->tapes[k]);
}

static void port_take_rows(port_tape *t)
{
  double *rows = t->rows ? port_room((size_t)(t->rows * t->columns) * sizeof *rows) : NULL;

  if (!t->rows) return;
  port_must(ambit_record_read(t->record, 0, t->rows, rows) == AMBIT_OK);
  for (int i = 0; i < port_sampled; i++) {
    port_probe_value *v = &port_values[i];

    if (!v->waits || v->tape != t) continue;
    v->x = rows[v->row * t->columns + v->column];
    v->waits = 0;
  }
  t->rows = 0;
  port_must(ambit_record_rewind(t->record) == AMBIT_OK);
  free(rows);
}

static void port_drop_tape(port_tape *t)
{
  if (!t) return;
  ambit_record_destroy(t->record);
  ambit_points_destroy(t->points);
  free(t);
}

static void port_drop_lists(const ambit_grid *g)
{
  for (int i = port_nlists - 1; i >= 0; i--)
    if (port_lists[i]->grid == g) {
      free(port_lists[i]);
      port_lists[i] = port_lists[--port_nlists];
    }
}

/* ---- sources ---- */

/* Sources in so many places that there is no list for them: a step for each, or done at once. */
static void port_scatter(port_entry *e)
{
  const ambit_type type = ambit_field_type(e->fields[0]);
  const port_spots *p = port_open_sample.spots;
  const int axes = ambit_grid_ndims(e->grid), n = p->n;
  double *x;

  if (n == 1) {
    e->rule = port_point_rule(type, axes, '+', type);
    e->values[1] = port_numbers_to_add[--port_nsources];
    for (int d = 0; d < axes; d++) {
      e->lo[d] = p->at[0][d];
      e->hi[d] = p->at[0][d] + 1;
    }
    port_enqueue(e);
    port_note_entry(e);
    return;
  }
  port_wanders = 1;
  x = port_room((size_t)n * sizeof *x);
  port_nsources -= n;
  memcpy(x, port_numbers_to_add + port_nsources, (size_t)n * sizeof *x);
  port_flush();
  for (int i = 0; i < n; i++) {
    int64_t hi[PORT_AXES];
    union {
      float f32;
      double f64;
      int i32;
    } element;

    for (int d = 0; d < axes; d++)
      hi[d] = p->at[i][d] + 1;
    port_must(ambit_field_read(e->fields[0], p->at[i], hi, &element) == AMBIT_OK);
    switch (type) {
    case AMBIT_F32: element.f32 += (float)x[i]; break;
    case AMBIT_F64: element.f64 += x[i]; break;
    default: element.i32 += (int)x[i];
    }
    port_must(ambit_field_write(e->fields[0], p->at[i], hi, &element) == AMBIT_OK);
  }
  free(x);
}

static void port_close_sources(port_entry *e)
{
  if (!e->spots) {
    port_scatter(e);
    return;
  }
  e->rule = &port_source_rule;
  port_enqueue(e);
  port_note_entry(e);
}

/* A source, that goes with those before it: x is added to a cell. */
static void port_add_source(ambit_field *f, ambit_grid *g, const int64_t *at, double x)
{
  port_add_spot(f, g, at, 1);
  if (port_nsources == port_room_for_sources) {
    port_room_for_sources = 2 * port_room_for_sources + 64;
    port_numbers_to_add =
        realloc(port_numbers_to_add, (size_t)port_room_for_sources * sizeof(double));
    if (!port_numbers_to_add) exit(1);
  }
  port_numbers_to_add[port_nsources++] = x;
}

/* A program is about to run so often: each of its sources gets a series. */
static void port_give_sources(const port_program *p, int64_t times)
{
  double *series;
  int n = 0, which = 0;

  for (int k = 0; k < p->n; k++)
    if (p->tapes[k] && p->tapes[k]->is_source) n += p->tapes[k]->columns;
  if (!n) return;
  series = port_room((size_t)(times * n) * sizeof *series);
  for (int k = 0; k < p->n; k++) {
    const int columns = p->tapes[k] && p->tapes[k]->is_source ? p->tapes[k]->columns : 0;

    if (!columns) continue;
    for (int64_t t = 0; t < times; t++)
      memcpy(series + t * columns, port_numbers_to_add + t * n + which,
             (size_t)columns * sizeof *series);
    which += columns;
    port_must(ambit_record_write(p->tapes[k]->record, times, columns, series) == AMBIT_OK);
  }
  free(series);
  port_nsources -= (int)times * n;
  for (int i = 0; i < port_nsources; i++) /* not memmove: gcc sees that some programs have none */
    port_numbers_to_add[i] = port_numbers_to_add[i + times * n];
}

/* ---- statements ---- */

static void port_do_statements(void)
{
  double *x;
  int first = 0;

  if (!port_nstatements) return;
  port_flush();
  for (int i = 0; i < port_nprograms; i++)
    for (int k = 0; k < port_programs[i].n; k++)
      if (port_programs[i].tapes[k]) port_take_rows(port_programs[i].tapes[k]);
  x = port_room((size_t)(port_nvalues + 1) * sizeof *x);
  for (int i = 0; i < port_nstatements; i++) {
    const port_statement *s = &port_statements[i];

    for (int k = first; k < s->end; k++)
      x[k - first] = port_values[k].x;
    if (s->site) s->site->give(s->to, x);
    first = s->end;
  }
  free(x);
  port_nvalues = port_nstatements = port_sampled = 0;
  for (; port_sites; port_sites = port_sites->next)
    port_sites->lo = NULL;
}

/* Something is about to use these bytes. */
static void port_expect(const char *lo, const char *hi)
{
  for (port_site *s = port_sites; s; s = s->next)
    if (s->lo < hi && s->hi > lo) {
      s->early += port_nstatements < PORT_FEW;
      port_do_statements();
      return;
    }
}

static void port_expect_array(const port_record *r)
{
  for (port_site *s = port_sites; s; s = s->next)
    if (port_meets(r, s->lo, s->hi)) {
      port_do_statements();
      return;
    }
}

/* The variable has a new value, or none any more. */
static void port_cancel(const void *variable)
{
  const char *p = variable;

  for (port_site *s = port_sites; s; s = s->next) {
    if (s->lo > p || s->hi <= p) continue;
    for (int i = 0; i < port_nstatements; i++)
      if (port_statements[i].to == variable) port_statements[i].site = NULL;
    return;
  }
}

/* The array that has the element, if its value is on the device alone; the cell. *is_hard: the host
 * must ask for it. */
static port_record *port_device_element(const port_input *in, int64_t *at, int *is_hard)
{
  const char *p = (const char *)(uintptr_t)in->p;
  const size_t bytes = ambit_type_size(in->type);
  port_record *found = NULL;

  for (int i = 0; i < port_nrecords; i++) {
    port_record *r = port_records[i];
    const int is_cell =
        r->host_ok || !port_meets(r, p, p + bytes) ? 0 : port_cell_at(r, p, bytes, at);

    if (!is_cell) continue;
    *is_hard |= is_cell < 0 || found || r->is_old || r->type != in->type;
    found = r;
  }
  if (found && found->copy_of) {
    int is_copied = 1;

    for (int d = 0; d < found->axes; d++)
      is_copied &= at[d] >= found->copy_lo[d] && at[d] < found->copy_hi[d];
    if (is_copied) found = found->copy_of;
    *is_hard |= is_copied && found->copy_of;
  }
  return found;
}

/* Whether the statement can be put off: it writes no array of steps, and reads something that is on
 * the device. */
static int port_may_put_off(const port_site *s, const void *to, size_t bytes, int n,
                            const port_input *in)
{
  const char *lo = to;
  int64_t at[PORT_AXES];
  int is_hard = 0, is_there = 0;

  if (s->early >= PORT_EARLY || port_wanders || port_watched) return 0;
  for (int i = 0; i < port_nrecords; i++)
    if (port_meets(port_records[i], lo, lo + bytes)) return 0;
  for (int i = 0; i < n; i++)
    if (in[i].p && port_device_element(&in[i], at, &is_hard)) is_there = 1;
  return is_there && !is_hard;
}

static void port_do_at_once(const port_site *s, void *to, size_t bytes, int n, const port_input *in)
{
  double x[PORT_INPUTS], sum = s->type == AMBIT_I32 ? 0 : -0.0;
  float single = -0.0f;
  void *const added = s->type == AMBIT_F32 ? (void *)&single : &sum;

  for (int i = 0; i < n; i++) {
    x[i] = in[i].x;
    if (!in[i].p) continue;
    port_get(in[i].p, ambit_type_size(in[i].type));
    x[i] = port_value_at((const void *)(uintptr_t)in[i].p, in[i].type);
  }
  if (s->op) { /* an array of steps: it may be a source */
    s->give(added, x);
    if (port_point(to, bytes, s->op, s->type, port_value_at(added, s->type))) return;
  }
  port_get(to, bytes);
  s->give(to, x);
  port_put(to, bytes);
}

static void port_put_statement_off(port_site *s, void *to, size_t bytes)
{
  char *lo = to;

  port_know_result(to);
  port_statements[port_nstatements++] = (port_statement){s, to, port_nvalues};
  if (!s->lo) {
    s->lo = lo;
    s->hi = lo + bytes;
    s->next = port_sites;
    port_sites = s;
  }
  if (lo < s->lo) s->lo = lo;
  if (lo + bytes > s->hi) s->hi = lo + bytes;
}

/* A statement that writes one element or variable, from n values at most. */
PORT_API void port_probe(port_site *s, void *to, size_t bytes, int n, const port_input *in)
{
  if (!port_values) {
    port_values = port_room((PORT_PUT_OFF + PORT_INPUTS) * sizeof *port_values);
    port_statements = port_room(PORT_PUT_OFF * sizeof *port_statements);
  }
  for (int i = 0; i < n && port_sites; i++) {
    const char *p = (const char *)(uintptr_t)in[i].p;

    if (p) port_expect(p, p + ambit_type_size(in[i].type));
  }
  if (!port_may_put_off(s, to, bytes, n, in)) {
    port_do_at_once(s, to, bytes, n, in);
    return;
  }
  if (port_nvalues + n > PORT_PUT_OFF || port_nstatements == PORT_PUT_OFF) port_do_statements();
  for (int i = 0; i < n; i++) {
    int64_t at[PORT_AXES];
    int is_hard;
    port_record *r = in[i].p ? port_device_element(&in[i], at, &is_hard) : NULL;
    port_probe_value v = {.x = in[i].x, .waits = r != NULL};

    if (in[i].p && !r) v.x = port_value_at((const void *)(uintptr_t)in[i].p, in[i].type);
    if (r) port_add_spot(r->field, r->grid, at, 0);
    if (r && !r->pending) r->pending = 1;
    port_values[port_nvalues++] = v;
  }
  port_put_statement_off(s, to, bytes);
}
