/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c - steps that wait, and the programs they become.
 *
 * A step that is not needed at once is queued. When the queue ends with a sequence of steps twice
 * in a row, that sequence is a period: further steps that follow it are counted only. The queue is
 * emptied when somebody needs a value: the period becomes an ambit_program that runs as often as
 * was counted. Programs are kept; the numbers a step was given are not part of them, they are set
 * before a run.
 */
typedef struct port_spots port_spots;
typedef struct port_tape port_tape;

enum { PORT_LONGEST = 96, PORT_PASS = 16, PORT_PROGRAMS = 48 };

typedef struct port_entry {
  port_rule *rule;
  ambit_grid *grid;
  ambit_field *fields[PORT_SLOTS]; /* NULL: not an array */
  int64_t lo[PORT_AXES], hi[PORT_AXES];
  double values[PORT_SLOTS];
  int64_t tables;    /* which ones, as one number */
  port_spots *spots; /* of a sample, or a source (probes.c); NULL: a step */
} port_entry;

/* Which field takes the place of which from one round of a loop to the next (ahead.c). */
enum { PORT_EXCHANGED = 64 };
typedef struct port_exchange {
  int n;
  ambit_field *from[PORT_EXCHANGED], *to[PORT_EXCHANGED];
} port_exchange;

typedef struct port_program {
  int n;
  port_entry *entries;
  ambit_scalar *(*scalars)[PORT_SLOTS]; /* of each entry: numbers and results */
  port_tape **tapes;                    /* of each entry: rows of numbers; NULL: it is a step */
  ambit_program *program;
  port_exchange turns; /* that its rotations make */
  long used;           /* when, by a count of uses */
} port_program;

static port_entry port_queue[PORT_LONGEST + 1];
static int port_queued;    /* entries of the queue */
static int port_period;    /* 0: none found; else all of the queue is one period ... */
static int64_t port_times; /* ... that was seen so often ... */
static int port_at;        /* ... and so many entries of it once more */
static port_program port_programs[PORT_PROGRAMS];
static int port_nprograms;
static long port_uses;
static port_program *port_last; /* the program that ran last: results are there */

static int port_same_step(const port_entry *a, const port_entry *b)
{
  return a->rule == b->rule && a->grid == b->grid && a->spots == b->spots &&
         a->tables == b->tables && !memcmp(a->fields, b->fields, sizeof a->fields) &&
         !memcmp(a->lo, b->lo, sizeof a->lo) && !memcmp(a->hi, b->hi, sizeof a->hi);
}

static int port_same(const port_entry *a, const port_entry *b)
{
  return port_same_step(a, b) && !memcmp(a->values, b->values, sizeof a->values);
}

/* Where late results are: in the scalars of the program that has just run, or, before it goes, in
 * the rule. */
static void port_note_results(const port_program *p, int has_run)
{
  for (int k = 0; k < p->n; k++)
    for (int s = 0; s < p->entries[k].rule->nslots && p->entries[k].rule->late; s++) {
      port_rule *rule = p->entries[k].rule;
      const port_kind kind = rule->slots[s].kind;

      if (kind != PORT_SUM && kind != PORT_MIN && kind != PORT_MAX) continue;
      if (has_run)
        rule->latest[s] = p->scalars[k][s];
      else if (rule->latest[s] == p->scalars[k][s]) {
        rule->results[s] = ambit_scalar_get(rule->latest[s]);
        rule->latest[s] = NULL;
      }
    }
}

static void port_take_rows(port_tape *t);
static void port_drop_tape(port_tape *t);

static void port_destroy(int i)
{
  port_program *p = &port_programs[i];

  port_note_results(p, 0);
  for (int k = 0; k < p->n; k++)
    if (p->tapes[k]) port_take_rows(p->tapes[k]);
  ambit_program_destroy(p->program);
  for (int k = 0; k < p->n; k++)
    port_drop_tape(p->tapes[k]);
  for (int k = 0; k < p->n; k++)
    for (int s = 0; s < PORT_SLOTS; s++)
      ambit_scalar_destroy(p->scalars[k][s]);
  free(p->entries);
  free(p->scalars);
  free(p->tapes);
  if (port_last == p) port_last = NULL;
  *p = port_programs[--port_nprograms];
  if (port_last == &port_programs[port_nprograms]) port_last = p;
}

static void port_drop_programs(const ambit_field *f)
{
  for (int i = port_nprograms - 1; i >= 0; i--) {
    int uses = 0;

    for (int k = 0; k < port_programs[i].n; k++)
      for (int s = 0; s < PORT_SLOTS; s++)
        uses |= port_programs[i].entries[k].fields[s] == f;
    for (int k = 0; k < port_programs[i].turns.n; k++)
      uses |= port_programs[i].turns.from[k] == f;
    if (uses) port_destroy(i);
  }
}

/* The rule of a copy, for arrays that are updated in place. */
static ambit_kernel *port_copy_kernel(ambit_type type)
{
  static ambit_kernel *kernels[8];
  char text[96];

  if (!kernels[type]) {
    snprintf(text, sizeof text, "void port_copy(const %s *from, %s *to) { *to = *from; }",
             ambit_type_name(type), ambit_type_name(type));
    kernels[type] = ambit_kernel_create(port_context, text);
  }
  return kernels[type];
}

static port_rule port_swap_rule;
static void port_know_all(const port_rule *rule);
static void port_note_entry(const port_entry *e);
static void port_close_sample(void);
static ambit_arg port_arg_table(int which);
static void port_append_tape(port_program *p, const port_entry *e, port_tape **to);
static void port_give_sources(const port_program *p, int64_t times);
static void port_note_rows(const port_program *p, int64_t times);
static port_record *port_record_with(const ambit_field *f);

/* Cells of one colour are updated in place, where no boundary shows cells of the same colour. */
static int port_is_in_place(const port_entry *e)
{
  port_rule *rule = e->rule;

  for (int s = 0; s < rule->nslots && rule->in_place; s++) {
    const port_record *r =
        rule->slots[s].kind == PORT_UPDATE ? port_record_with(e->fields[s]) : NULL;

    if (rule->slots[s].kind == PORT_UPDATE && (!r || r->periodic || r->clamp)) return 0;
  }
  if (rule->in_place && !rule->coloured)
    rule->coloured = ambit_kernel_create(port_context, rule->in_place);
  return rule->coloured != NULL;
}

/* Whether a read of a field leads from the cells of a step to other ones along this axis. */
static int port_leaves_cells(const port_entry *e, const port_record *r, int d, int64_t by)
{
  const int64_t n = ambit_grid_extent(e->grid, d), lo = e->lo[d] + by, hi = e->hi[d] + by;

  if ((lo < 0 || hi > n) && !(r->periodic >> d & 1 && by > -n && by < n)) return 0;
  return (lo >= e->hi[d] || hi <= e->lo[d]) && (lo >= 0 || lo + n >= e->hi[d]) &&
         (hi <= n || hi - n <= e->lo[d]);
}

/* Whether a step that updates an array reads none of its new values, as at an edge: u[0][j] =
 * u[1][j]. Then it needs no second field. */
static int port_is_apart(const port_entry *e, int slot)
{
  const ambit_param_info *q = ambit_kernel_param(e->rule->kernel, slot);
  const port_record *r = port_record_with(e->fields[slot]);

  for (int i = 0; i < q->noffsets; i++) {
    const int *by = q->offsets[i].axis;
    int is_other = 0, is_cell = 1;

    for (int d = 0; d < ambit_grid_ndims(e->grid); d++) {
      is_other |= r && port_leaves_cells(e, r, d, by[d]);
      is_cell &= !by[d];
    }
    if (!is_other && !is_cell) return 0;
  }
  return 1;
}

/* Both faces of the axis that a face is at. */
static unsigned port_axis_of(unsigned face)
{
  unsigned axes = 0;

  for (int d = 0; d < PORT_AXES; d++)
    if (face & AMBIT_AXIS(d)) axes |= AMBIT_AXIS(d);
  return axes;
}

/* A sweep begins with the values that its arrays have in the cells before the first ones: a sweep
 * over those, that shifts what is carried. */
static void port_append_begin(port_program *p, const port_entry *e, int slot)
{
  const port_rule *rule = e->rule;
  static ambit_kernel *kernels[8][5];
  ambit_arg args[5];
  int64_t lo[PORT_AXES], hi[PORT_AXES];
  char text[512];
  int n = 0, at;
  ambit_type type = rule->slots[slot].type;

  args[0] = ambit_arg_field(e->fields[slot]);
  for (int s = 0; s < rule->nslots; s++)
    if (rule->slots[s].kind == PORT_CARRIED && rule->slots[s].of == slot + 1) {
      args[rule->slots[s].number] = ambit_arg_field(e->fields[s]);
      n++;
    }
  if (!n) return;
  if (!kernels[type][n]) {
    const char *t = ambit_type_name(type);

    at = snprintf(text, sizeof text, "void port_begin(const %s *v0", t);
    for (int i = 1; i <= n; i++)
      at += snprintf(text + at, sizeof text - (size_t)at, ", %s *v%d", t, i);
    at += snprintf(text + at, sizeof text - (size_t)at, ") {");
    for (int i = n; i > 0; i--)
      at += snprintf(text + at, sizeof text - (size_t)at, " *v%d = *v%d;", i, i - 1);
    snprintf(text + at, sizeof text - (size_t)at, " }");
    kernels[type][n] = ambit_kernel_create(port_context, text);
  }
  memcpy(lo, e->lo, sizeof lo);
  memcpy(hi, e->hi, sizeof hi);
  for (int d = 0; d < rule->axes; d++) {
    if (rule->sweep == AMBIT_LOW(d)) hi[d] = lo[d], lo[d] -= n;
    if (rule->sweep == AMBIT_HIGH(d)) lo[d] = hi[d], hi[d] += n;
  }
  ambit_sweep_args(p->program, rule->sweep, lo, hi, kernels[type][n], n + 1, args);
}

static void port_append(port_program *p, int k)
{
  const port_entry *e = &p->entries[k];
  const int in_place = port_is_in_place(e);
  ambit_arg args[PORT_SLOTS];
  int n = 0, apart[PORT_SLOTS] = {0};

  if (e->rule == &port_swap_rule) {
    ambit_swap(p->program, e->fields[0], e->fields[1]);
    return;
  }
  if (e->spots) {
    port_append_tape(p, e, &p->tapes[k]);
    return;
  }
  for (int s = 0; s < e->rule->nslots; s++) {
    const port_slot *slot = &e->rule->slots[s];

    if (in_place && slot->kind == PORT_SHADOW) continue;
    apart[s] = slot->kind == PORT_UPDATE && port_is_apart(e, s);
    if (s && apart[s - 1])
      args[n++] = ambit_arg_field(e->fields[s - 1]);
    else if (e->fields[s])
      args[n++] = ambit_arg_field(e->fields[s]);
    else if (slot->kind == PORT_TABLE)
      args[n++] = port_arg_table((int)e->values[s]);
    else {
      p->scalars[k][s] = ambit_scalar_create(port_context, e->rule->place, slot->type);
      ambit_scalar_set(p->scalars[k][s], e->values[s]);
      args[n++] = ambit_arg_scalar(p->scalars[k][s]);
    }
  }
  if (e->rule->sweep) {
    for (int s = 0; s < e->rule->nslots; s++)
      if (e->rule->slots[s].kind == PORT_WRITE || e->rule->slots[s].kind == PORT_UPDATE)
        port_append_begin(p, e, s);
    ambit_sweep_args(p->program, e->rule->sweep, e->lo, e->hi, e->rule->kernel, n, args);
  } else
    ambit_apply_box_args(p->program, e->lo, e->hi, in_place ? e->rule->coloured : e->rule->kernel,
                         n, args);
  for (int s = 0; s + 1 < e->rule->nslots && !in_place; s++)
    if (e->rule->slots[s].kind == PORT_UPDATE && !apart[s]) {
      args[0] = ambit_arg_field(e->fields[s + 1]);
      args[1] = ambit_arg_field(e->fields[s]);
      ambit_apply_box_args(p->program, e->lo, e->hi, port_copy_kernel(e->rule->slots[s].type), 2,
                           args);
    }
}

static void port_append_rotations(port_program *p);
static int port_round_length(const port_entry *entries, int n, port_exchange *x);

static port_program *port_make(const port_entry *entries, int n, const port_exchange *turns)
{
  port_program *p;
  int oldest = 0;

  for (int i = 0; i < port_nprograms; i++)
    if (port_programs[i].used < port_programs[oldest].used) oldest = i;
  if (port_nprograms == PORT_PROGRAMS) port_destroy(oldest);
  p = &port_programs[port_nprograms++];
  p->n = n;
  p->turns = *turns;
  p->entries = malloc((size_t)n * sizeof *entries);
  p->scalars = calloc((size_t)n, sizeof *p->scalars);
  p->tapes = calloc((size_t)n, sizeof(port_tape *));
  if (!p->entries || !p->scalars || !p->tapes) exit(1);
  memcpy(p->entries, entries, (size_t)n * sizeof *entries);
  p->program = ambit_program_create(entries[0].grid);
  for (int k = 0; k < n; k++)
    port_append(p, k);
  port_append_rotations(p);
  return p;
}

static int port_same_turns(const port_exchange *a, const port_exchange *b)
{
  return a->n == b->n && !memcmp(a->from, b->from, (size_t)a->n * sizeof *a->from) &&
         !memcmp(a->to, b->to, (size_t)a->n * sizeof *a->to);
}

static port_program *port_find(const port_entry *entries, int n, const port_exchange *turns)
{
  for (int i = 0; i < port_nprograms; i++) {
    int same = port_programs[i].n == n && port_same_turns(&port_programs[i].turns, turns);

    for (int k = 0; same && k < n; k++)
      same = port_same_step(&port_programs[i].entries[k], &entries[k]);
    if (same) return &port_programs[i];
  }
  return port_make(entries, n, turns);
}

static void port_set_values(port_program *p, const port_entry *entries)
{
  for (int k = 0; k < p->n; k++)
    for (int s = 0; s < entries[k].rule->nslots; s++) {
      if (entries[k].rule->slots[s].kind != PORT_VALUE) continue;
      if (!memcmp(&p->entries[k].values[s], &entries[k].values[s], sizeof(double))) continue;
      p->entries[k].values[s] = entries[k].values[s];
      ambit_scalar_set(p->scalars[k][s], entries[k].values[s]);
    }
}

/* Rounds of a loop that differ in their numbers alone are no period. Programs of a few rounds serve
 * all of them, and Ambit computes one in one pass over the cells, if it is not too long. The steps
 * of such a program; n: there is no round. */
static int port_pass_length(const port_entry *entries, int n)
{
  for (int m = 1; m <= PORT_PASS && 2 * m <= n; m++) {
    int same = 1;

    for (int k = m; same && k < n; k++)
      same = port_same_step(&entries[k], &entries[k - m]);
    if (same) return PORT_PASS / m * m;
  }
  return n;
}

/* Arrays are copied to the device as late as can be: their boxes may grow until then. */
static void port_bring(void)
{
  for (int i = 0; i < port_nrecords; i++)
    if (port_records[i]->waits) port_bring_array(port_records[i]);
}

/* Steps of one grid after the other, since a program has one grid. */
static void port_run(const port_entry *entries, int n, int64_t times)
{
  port_exchange turns;
  int cut = 1, round;

  if (!n || !times) return;
  port_bring();
  if (times == 1 && (cut = port_pass_length(entries, n)) < n) {
    for (int a = 0; a < n; a += cut)
      port_run(entries + a, a + cut < n ? cut : n - a, 1);
    return;
  }
  cut = 1;
  while (cut < n && entries[cut].grid == entries[0].grid)
    cut++;
  if (cut < n) {
    for (int64_t t = 0; t < times; t++)
      for (int a = 0, b; a < n; a = b) {
        for (b = a; b < n && entries[b].grid == entries[a].grid;)
          b++;
        port_run(entries + a, b - a, 1);
      }
    return;
  }
  round = port_round_length(entries, n, &turns);
  port_last = port_find(entries, round, &turns);
  port_last->used = ++port_uses;
  port_set_values(port_last, entries);
  port_give_sources(port_last, times * (n / round));
  port_must(ambit_run(port_last->program, times * (n / round)) == AMBIT_OK);
  port_note_results(port_last, 1);
  port_note_rows(port_last, times * (n / round));
}

static int port_reduces(const port_entry *e)
{
  int reduces = 0;

  for (int s = 0; s < e->rule->nslots; s++) {
    const port_kind k = e->rule->slots[s].kind;

    reduces |= k == PORT_SUM || k == PORT_MIN || k == PORT_MAX;
  }
  return reduces;
}

static void port_flush(void)
{
  int n, at, last;
  int64_t times;

  port_close_sample();
  n = port_queued;
  at = port_at;
  times = port_period ? port_times : 1;
  last = port_period ? 0 : n - 1;
  port_queued = port_period = port_at = 0;
  for (int i = 0; i < port_nrecords; i++)
    port_records[i]->pending = 0;
  if (!n) return;
  if (last > 2 && port_reduces(&port_queue[last])) {
    port_run(port_queue, last, 1);
    port_run(port_queue + last, 1, 1);
    return;
  }
  port_run(port_queue, n, times);
  port_run(port_queue, at, 1);
}

/* Writes a period out again, where it was seen so rarely that it may be part of a longer one. */
static int port_unfold(void)
{
  const int64_t n = port_times * port_period + port_at;

  if (port_times > 3 || n >= PORT_LONGEST) return 0;
  for (int64_t i = port_period; i < n; i++)
    port_queue[i] = port_queue[i % port_period];
  port_queued = (int)n;
  port_period = port_at = 0;
  return 1;
}

/* The longest sequence that the queue ends with twice; the steps before it run now. */
static void port_fold(void)
{
  for (int m = port_queued / 2; m >= 1; m--) {
    const int first = port_queued - 2 * m;
    int same = 1;

    for (int k = 0; same && k < m; k++)
      same = port_same(&port_queue[first + k], &port_queue[first + m + k]);
    if (!same) continue;
    port_run(port_queue, first, 1);
    memmove(port_queue, port_queue + first, (size_t)m * sizeof *port_queue);
    port_queued = port_period = m;
    port_times = 2;
    port_at = 0;
    return;
  }
}

static void port_enqueue(const port_entry *e)
{
  port_close_sample();
  if (port_period) {
    if (port_same(e, &port_queue[port_at])) {
      if (++port_at == port_period) {
        port_at = 0;
        port_times++;
      }
      return;
    }
    if (!port_unfold()) port_flush();
  }
  if (port_queued == PORT_LONGEST) port_flush();
  port_queue[port_queued++] = *e;
  port_fold();
}
