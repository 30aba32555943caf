/* SPDX-License-Identifier: BSD-3-Clause */
/* fuse_flow.c - makes the flow of several iterations from its flow in memory. */
#include "base/integers.h"
#include "base/number.h"
#include "runtime/program/fuse.h"
#include "runtime/program/memory_flow.h"
#include "runtime/program/roles.h"

#include <string.h>

enum {
  MOST_INSET = 64,      /* of steps that are not placed */
  MOST_CELLS = 1 << 30, /* along an axis */
  MOST_FIELDS = AMBIT__FUSE_FIELDS,
  MOST_COMPONENTS = 32,
  MOST_TAPS = 256
};

static const char *const NO_MEMORY = "memory ran out";
static const char *const TOO_LARGE = "the program has too many steps, fields or components";

/* While the flow is made. */
typedef struct maker {
  const ambit_program *p;
  ambit__fuse_plan *plan;
  const char *why;                          /* there is none; NULL: so far there is */
  ambit__flow flow;                         /* in memory */
  int now[MOST_FIELDS][MOST_COMPONENTS];    /* by buffer: its present values; -1: as in memory */
  int loaded[MOST_FIELDS][MOST_COMPONENTS]; /* by buffer: its loaded values; -1: none */
  int writer[MOST_FIELDS];                  /* by buffer: a stage that writes it; -1: none */
  bool taken[AMBIT__FUSE_SLOTS];            /* by slot: it is loaded, kept or stored to */
  int class[MOST_FIELDS];                   /* by field: the same for fields that rotate together */
} maker;

static void fail(maker *m, const char *why)
{
  if (!m->why) m->why = why;
}

/* ---- boxes ---- */

/* Whether two steps write a field, or two fields that trade buffers. */
static bool write_alike(const ambit_program *p, const int *class, size_t a, size_t b)
{
  for (int f = 0; f < p->nfields; f++)
    for (int g = 0; g < p->nfields; g++)
      if (class[f] == class[g] && ambit__step_writes(&p->steps[a], p->fields[f]) &&
          ambit__step_writes(&p->steps[b], p->fields[g]))
        return true;
  return false;
}

/* Whether a step computes all cells but some layers at faces beyond which the grid ends. */
static bool is_inset(const ambit_program *p, const ambit__box *region)
{
  for (int d = 0; d < region->ndims; d++) {
    const int64_t low = region->lo[d], high = p->grid->box.hi[d] - region->hi[d];

    if (low > MOST_INSET || high > MOST_INSET) return false;
    if ((low || high) && ambit__program_periodic(p, d) > 0) return false;
  }
  return true;
}

bool ambit__fuse_is_placed(const ambit_program *p, size_t step)
{
  const ambit__box *region = &p->applies[step].region;
  int class[MOST_FIELDS];

  if (p->steps[step].chore) return true;
  if (!is_inset(p, region)) return true;
  ambit__program_turns(p, class);
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && !ambit__box_is_empty(&p->applies[i].region) &&
        !ambit__box_contains(region, &p->applies[i].region) && write_alike(p, class, step, i))
      return true;
  return false;
}

/* ---- steps that can be fused ---- */

static bool is_left_out(const ambit_program *p, size_t step)
{
  return p->applies[step].role == ROLE_RARE || p->applies[step].role == ROLE_LATE;
}

static const char *refuse_points(const ambit_program *p, const ambit__step *s)
{
  const ambit_type type = s->args[0].field->type;

  if (type != AMBIT_F32 && type != AMBIT_F64) return "points are in a field of integers or halves";
  if (p->grid->nparts > 1 && ambit__step_samples(s))
    return "a step samples at points, and the grid has several parts";
  if (s->chore->kind == CHORE_INJECT && s->chore->on->value != type)
    return "a step injects a scalar of another type than that of the field";
  return NULL;
}

static const char *refuse_step(const ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];
  const ambit__box *region = &p->applies[step].region, *grid = &p->grid->box;

  if (s->kind != STEP_APPLY) return NULL;
  if (!region->ndims) return "a step runs once per iteration, on scalars";
  if (s->chore && refuse_points(p, s)) return refuse_points(p, s);
  for (int d = 0; d < grid->ndims; d++)
    if (grid->hi[d] > MOST_CELLS) return "the grid is too long";
  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->args[i].field;

    for (int k = 0; f && k < s->n; k++)
      if (k != i && s->args[k].field == f && s->kernel->rule->params[i].is_written)
        return "a step has two arguments with the same field, and writes it";
    if (f && f->components > MOST_COMPONENTS) return TOO_LARGE;
  }
  return NULL;
}

static void check(maker *m)
{
  const ambit_program *p = m->p;

  for (size_t i = 0; i < p->nsteps; i++) {
    if (is_left_out(p, i)) continue;
    fail(m, refuse_step(p, i));
    if (p->steps[i].chore && m->plan->flow.loops)
      fail(m, "a launch that stays on the chip has no points");
  }
  for (int d = 0; d < p->grid->box.ndims; d++) {
    const int is = ambit__program_periodic(p, d);

    if (is < 0) fail(m, "an axis is periodic for some fields only");
    m->plan->flow.periodic[d] = is > 0;
    for (size_t i = 0; is > 0 && i < p->nsteps; i++)
      fail(m, ambit__step_refuse_periodic(p, i, d));
  }
  fail(m, ambit__roles_refusal(p));
  if (m->plan->flow.loops && p->grid->nparts > 1) fail(m, "the grid has several parts");
}

/* ---- operands ---- */

static int buffer_of(const maker *m, int stage, int arg)
{
  return ambit__memory_flow_buffer(&m->flow, stage, arg);
}

/* The operand of a buffer, or of the scalar or number that is an argument of a step. */
static int operand_of(maker *m, int slot, int step, int arg)
{
  ambit__fuse_plan *plan = m->plan;

  for (int i = 0; i < plan->noperands; i++)
    if (plan->operands[i].slot == slot && plan->operands[i].step == step &&
        plan->operands[i].arg == arg)
      return i;
  if (plan->noperands == AMBIT__FUSE_OPERANDS) return fail(m, TOO_LARGE), 0;
  plan->operands[plan->noperands] = (ambit__fuse_operand){.slot = slot, .step = step, .arg = arg};
  return plan->noperands++;
}

static int buffer_operand(maker *m, int slot)
{
  return operand_of(m, slot, -1, -1);
}

/* ---- values ---- */

static int add_value(maker *m, int buffer, int component, int stage)
{
  ambit__flow *flow = &m->plan->flow;
  const int operand = buffer_operand(m, buffer);

  if (flow->nvalues == AMBIT__FLOW_VALUES) return fail(m, TOO_LARGE), 0;
  flow->values[flow->nvalues] = (ambit__flow_value){.type = m->p->fields[buffer]->type,
                                                    .component = component,
                                                    .stage = stage,
                                                    .operand = operand,
                                                    .target = -1,
                                                    .frozen = -1,
                                                    .outside = operand};
  flow->next[flow->nvalues] = -1;
  m->now[buffer][component] = flow->nvalues;
  if (stage < 0) m->loaded[buffer][component] = flow->nvalues;
  return flow->nvalues++;
}

/* The present value of a component, which is loaded if no stage has written it. */
static int value_of(maker *m, int buffer, int component)
{
  if (m->now[buffer][component] >= 0) return m->now[buffer][component];
  m->taken[buffer] = true;
  return add_value(m, buffer, component, -1);
}

static bool reads_component(const ambit__param *p, int component, bool *neighbours)
{
  bool any = p->writes[component] && p->keeps[component];

  *neighbours = false;
  for (int k = 0; k < p->nreads; k++) {
    if (p->reads[k].component != component) continue;
    any = true;
    for (int d = 0; d < AMBIT_MAX_DIMS; d++)
      *neighbours |= p->reads[k].offset[d] != 0;
  }
  return any;
}

/* ---- stages ---- */

static void add_reads(maker *m, int number, int stage, int arg)
{
  ambit__flow *flow = &m->plan->flow;
  const ambit__step *s = &m->p->steps[m->flow.stages[stage].step];
  const ambit_field *f = s->args[arg].field;
  const int buffer = buffer_of(m, stage, arg);

  for (int c = 0; c < f->components; c++) {
    const int port = flow->stages[number].port[arg] + c;
    const ambit__boundaries **bounds;
    bool neighbours;

    if (!reads_component(&s->kernel->rule->params[arg], c, &neighbours)) continue;
    flow->in[port] = value_of(m, buffer, c);
    if (!neighbours || s->chore) continue;
    bounds = &flow->values[flow->in[port]].boundaries;
    if (*bounds && !ambit__boundaries_equal(*bounds, ambit__field_boundaries(f, c)))
      fail(m, "two fields with different boundaries trade their values");
    *bounds = ambit__field_boundaries(f, c);
  }
}

static bool leaves_cells(const maker *m, int buffer)
{
  return m->writer[buffer] >= 0 &&
         !ambit__box_equal(&m->p->applies[m->flow.stages[m->writer[buffer]].step].region,
                           &m->p->grid->box);
}

/* A value of component c that the stage reads and that has the same cells outside the region as the
 * one it computes: of the buffer that it writes, or of one that this trades places with. With
 * several parts there is none: the exchange brings such cells only of buffers that are not
 * computed everywhere, for those who read them. */
static int find_frozen(maker *m, int number, int stage, int buffer, int c)
{
  const ambit__flow_stage *st = &m->plan->flow.stages[number];
  const ambit__step *s = &m->p->steps[m->flow.stages[stage].step];
  int found = -1;

  for (int i = 0; m->p->grid->nparts == 1 && i < s->n; i++) {
    const ambit_field *f = s->args[i].field;
    const int other = f ? buffer_of(m, stage, i) : -1;
    const int v = f && c < f->components ? m->plan->flow.in[st->port[i] + c] : -1;

    if (v < 0) continue;
    if (other == buffer) return v;
    if (m->class[other] == m->class[buffer]) found = v;
  }
  if (found >= 0) m->plan->needs_alike = true;
  return found;
}

/* Whether a field trades buffers with another one. */
static bool rotates(const maker *m, int field)
{
  for (int f = 0; f < m->p->nfields; f++)
    if (f != field && m->class[f] == m->class[field]) return true;
  return false;
}

static void add_writes(maker *m, int number, int stage, int arg)
{
  ambit__flow *flow = &m->plan->flow;
  const size_t step = m->flow.stages[stage].step;
  const ambit__step *s = &m->p->steps[step];
  const ambit__param *q = &s->kernel->rule->params[arg];
  const int buffer = buffer_of(m, stage, arg);
  const bool placed = flow->stages[number].nplaces > 0 || s->chore;

  if (!q->is_written) return;
  if (!placed) m->writer[buffer] = stage;
  for (int c = 0; c < q->components; c++) {
    int frozen = -1, v;

    if (!q->writes[c]) continue;
    if (placed) frozen = value_of(m, buffer, c);
    if (!placed && leaves_cells(m, buffer)) frozen = find_frozen(m, number, stage, buffer, c);
    v = flow->out[flow->stages[number].port[arg] + c] = add_value(m, buffer, c, number);
    if (flow->loops && frozen < 0 && leaves_cells(m, buffer) && rotates(m, buffer))
      fail(m, "fields trade cells that no step computes");
    flow->values[v].frozen = frozen;
  }
}

/* The layers at the faces of the grid that are outside a box. */
static void set_inset(const ambit_program *p, const ambit__box *box, int (*inset)[2])
{
  for (int d = 0; d < box->ndims; d++) {
    inset[d][0] = (int)box->lo[d];
    inset[d][1] = (int)(p->grid->box.hi[d] - box->hi[d]);
  }
}

static bool same_arguments(const ambit__step *a, const ambit__step *b)
{
  if (a->kind != STEP_APPLY || a->kernel != b->kernel || a->n != b->n) return false;
  for (int i = 0; i < a->n; i++)
    if (a->args[i].kind != b->args[i].kind || a->args[i].field != b->args[i].field ||
        a->args[i].scalar != b->args[i].scalar ||
        !ambit__number_same(a->args[i].number, b->args[i].number))
      return false;
  return true;
}

/* Whether a step computes the same as the n before it that have cells, in other cells. */
static bool repeats(const ambit_program *p, size_t step, int n)
{
  const ambit__box *region = &p->applies[step].region;

  for (size_t i = step; n && i-- > 0;) {
    const ambit__box both = ambit__box_intersect(&p->applies[i].region, region);

    if (!same_arguments(&p->steps[i], &p->steps[step]) || !ambit__box_is_empty(&both)) return false;
    n -= !ambit__box_is_empty(&p->applies[i].region);
  }
  return !n;
}

/* Whether a stage is one with the stage before it, such as on all faces: both compute the same, in
 * boxes without common cells. What they write they read at the cell itself only, so the order does
 * not matter. Adds its box. */
static bool add_place(maker *m, int stage)
{
  ambit__flow *flow = &m->plan->flow;
  const size_t step = m->flow.stages[stage].step;
  ambit__flow_stage *st = flow->nstages ? &flow->stages[flow->nstages - 1] : NULL;
  const int n = st ? st->nplaces : 0;

  if (!n || n == AMBIT__FLOW_PLACES || !ambit__fuse_is_placed(m->p, step) ||
      !repeats(m->p, step, n))
    return false;
  set_inset(m->p, &m->p->applies[step].region, st->place[st->nplaces++]);
  for (int d = 0; d < m->p->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++)
      if (st->place[n][d][side] < st->inset[d][side]) st->inset[d][side] = st->place[n][d][side];
  return true;
}

/* The points of a stage, and the places of the values that it adds. */
static void set_points(maker *m, size_t step, ambit__flow_stage *st)
{
  const ambit__step *s = &m->p->steps[step];
  const ambit__chore *c = s->chore->on;
  const int operand = operand_of(m, -1, (int)step, AMBIT__CHORE_ADDRESS);
  const bool rows = s->chore->record, many = rows && c->columns > 1;
  const bool all = many && c->columns != c->points->n;

  m->plan->operands[operand].points = true;
  st->points = operand + 1;
  st->samples = ambit__step_samples(s);
  st->every = s->every > 1 ? s->every : 1;
  st->columns = rows ? c->columns : 0;
  st->by_point = all ? c->components : many;
  st->by_component = all;
  set_inset(m->p, &m->p->applies[step].region, st->place[0]);
}

/* Whether the rule of a stage is a weighted sum. */
static void find_sum(maker *m, ambit__flow_stage *st)
{
  ambit__flow *flow = &m->plan->flow;
  ambit__tap *taps;

  for (const ambit__flow_stage *other = flow->stages; other < st; other++)
    if (other->step == st->step) {
      st->taps = other->taps;
      st->sum = other->sum;
      return;
    }
  taps = ambit__arena_alloc(&flow->room, MOST_TAPS * sizeof *taps);
  if (!taps) fail(m, NO_MEMORY);
  if (taps && ambit__rule_sum(st->rule, true, taps, MOST_TAPS, &st->sum)) st->taps = taps;
}

static void add_stage(maker *m, int stage)
{
  ambit__flow *flow = &m->plan->flow;
  const size_t step = m->flow.stages[stage].step;
  const ambit__step *s = &m->p->steps[step];
  const ambit__box *region = &m->p->applies[step].region;
  const int number = flow->nstages;
  ambit__flow_stage *st = &flow->stages[number];

  if (s->kind != STEP_APPLY || ambit__box_is_empty(region)) return;
  if (!s->chore && add_place(m, stage)) return;
  if (number == AMBIT__FLOW_STAGES) {
    fail(m, TOO_LARGE);
    return;
  }
  flow->nstages++;
  *st = (ambit__flow_stage){.rule = ambit__step_rule(m->p, step),
                            .iteration = m->flow.stages[stage].iteration,
                            .step = step,
                            .ports = flow->nports,
                            .nplaces = !s->chore && ambit__fuse_is_placed(m->p, step)};
  if (!s->chore) set_inset(m->p, region, st->inset);
  if (s->chore) set_points(m, step, st);
  if (st->nplaces) set_inset(m->p, region, st->place[0]);
  find_sum(m, st);
  for (int i = 0; i < s->n; i++) {
    const int n = s->args[i].field ? s->args[i].field->components : 0;

    st->operand[i] = st->port[i] = -1;
    if (flow->nports + n > AMBIT__FLOW_PORTS) {
      fail(m, TOO_LARGE);
      return;
    }
    if (n) st->port[i] = flow->nports;
    for (int c = 0; c < n; c++, flow->nports++)
      flow->in[flow->nports] = flow->out[flow->nports] = -1;
    if (!n && !s->chore && s->kernel->rule->params[i].kind != PARAM_REDUCE)
      st->operand[i] = operand_of(m, -1, (int)step, i);
  }
  st->nports = flow->nports - st->ports;
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field) add_reads(m, number, stage, i);
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field) add_writes(m, number, stage, i);
}

/* ---- buffers after the launch ---- */

/* Whether a step that single iterations have uses a field, perhaps under another name. */
static bool is_used_rarely(const maker *m, int field)
{
  for (size_t i = 0; i < m->p->nsteps; i++)
    for (int f = 0; m->p->applies[i].role == ROLE_RARE && f < m->p->nfields; f++)
      if (m->class[f] == m->class[field] && ambit__step_uses(&m->p->steps[i], m->p->fields[f]))
        return true;
  return false;
}

/* Whether an iteration overwrites a field, where it changes it, before it reads it. */
static bool is_dead(const maker *m, int field)
{
  const int n = m->plan->flow.loops ? m->flow.nstages : m->flow.nstages / m->plan->depth;

  if (is_used_rarely(m, field)) return false;
  for (int i = 0; i < n; i++) {
    const size_t step = m->flow.stages[i].step;
    const ambit__step *s = &m->p->steps[step];

    for (int k = 0; s->kind == STEP_APPLY && k < s->n; k++) {
      const ambit__param *q = &s->kernel->rule->params[k];

      if (!s->args[k].field || buffer_of(m, i, k) != field) continue;
      if (ambit__fuse_is_placed(m->p, step)) return false;
      for (int c = 0; c < q->components; c++)
        if (!q->writes[c] || q->keeps[c]) return false;
      return q->nreads == 0;
    }
  }
  return false;
}

static bool is_computed(const maker *m, int buffer)
{
  const ambit__flow *flow = &m->plan->flow;

  for (int c = 0; c < m->p->fields[buffer]->components; c++)
    if (m->now[buffer][c] >= 0 && flow->values[m->now[buffer][c]].stage >= 0) return true;
  return false;
}

/* Whether fields can trade buffers. With several parts all have the same margins. */
static bool same_layout(const ambit_field *a, const ambit_field *b)
{
  const ambit__layout *x = &a->stores[0].layout, *y = &b->stores[0].layout;

  if (a->grid->nparts > 1)
    return a->type == b->type && a->components == b->components && a->order == b->order;
  return x->type == y->type && x->components == y->components && x->order == y->order &&
         x->bytes == y->bytes && x->origin == y->origin && x->component == y->component &&
         !memcmp(x->stride, y->stride, sizeof x->stride);
}

/* A slot for a field whose logical buffer is `buffer`: that one, or another one that is free. */
static int free_slot(const maker *m, const bool *taken, int field, int buffer)
{
  const ambit__fuse_plan *plan = m->plan;

  if (!taken[buffer]) return buffer;
  for (int i = 0; i < plan->nslots; i++) {
    const int like = i < m->p->nfields ? i : plan->spare_of[i - m->p->nfields];

    if (!taken[i] && same_layout(m->p->fields[like], m->p->fields[field])) return i;
  }
  return -1;
}

/* Whether a launch stores a field. One that repeats an iteration also stores those that get the
 * values of others. */
static bool is_stored(const maker *m, int field)
{
  const int buffer = m->flow.after[field];

  return !is_dead(m, field) && (is_computed(m, buffer) || (m->plan->flow.loops && buffer != field));
}

/* The loaded values that a launch changes when it repeats an iteration. */
static void load_changing(maker *m)
{
  for (int f = 0; m->plan->flow.loops && f < m->p->nfields; f++)
    for (int c = 0; is_stored(m, f) && c < m->p->fields[f]->components; c++) {
      const int now = m->now[f][c];

      m->taken[f] = true;
      if (m->loaded[f][c] < 0) add_value(m, f, c, -1);
      if (now >= 0) m->now[f][c] = now;
    }
}

/* Gives a field that is needed afterwards the slot where the launch stores it. */
static void place_live(maker *m, int field, bool *used)
{
  ambit__fuse_plan *plan = m->plan;
  const int buffer = m->flow.after[field];
  int slot = free_slot(m, m->taken, field, buffer), operand;

  if (slot < 0) {
    if (plan->nslots - m->p->nfields == AMBIT__FUSE_SPARES) {
      fail(m, TOO_LARGE);
      return;
    }
    plan->spare_of[plan->nslots - m->p->nfields] = field;
    slot = plan->nslots++;
  }
  operand = buffer_operand(m, slot);
  for (int c = 0; c < m->p->fields[field]->components; c++) {
    const int v = value_of(m, buffer, c);

    plan->flow.values[v].target = operand;
    if (plan->flow.loops) plan->flow.next[m->loaded[field][c]] = v;
  }
  m->taken[slot] = used[slot] = true;
  plan->after[field] = slot;
  plan->needs_alike |= slot != buffer && leaves_cells(m, buffer);
}

/* The buffers that fields have after a launch. */
static void place(maker *m)
{
  ambit__fuse_plan *plan = m->plan;
  const ambit_program *p = m->p;
  bool used[AMBIT__FUSE_SLOTS] = {false};

  load_changing(m);
  plan->nslots = p->nfields;
  plan->after = ambit__arena_alloc(&plan->flow.room, AMBIT__FUSE_SLOTS * sizeof *plan->after);
  if (!plan->after) fail(m, NO_MEMORY);
  if (m->why) return;
  for (int i = 0; i < AMBIT__FUSE_SLOTS; i++)
    plan->after[i] = -1;
  for (int f = 0; f < p->nfields; f++) { /* fields that keep their values */
    const int buffer = m->flow.after[f];

    if (is_stored(m, f) || is_dead(m, f)) continue;
    plan->after[f] = buffer;
    m->taken[buffer] = used[buffer] = true;
  }
  for (int f = 0; f < p->nfields; f++)
    if (!m->why && plan->after[f] < 0 && !is_dead(m, f)) place_live(m, f, used);
  for (int f = 0; !m->why && f < plan->nslots; f++) {
    const int like = f < p->nfields ? f : plan->spare_of[f - p->nfields];
    const int buffer = f < p->nfields ? m->flow.after[f] : f;

    if (plan->after[f] >= 0) continue;
    plan->after[f] = free_slot(m, used, like, buffer);
    if (plan->after[f] < 0) {
      fail(m, "fields with different layouts trade their values");
      return;
    }
    used[plan->after[f]] = true;
    plan->needs_alike |= f < p->nfields && plan->after[f] != buffer && leaves_cells(m, buffer);
  }
}

/* ---- parts ---- */

/* Kernels load whole vectors along the last axis, and along the first one sometimes more planes
 * than they need. */
static int margin_of(int axis, int ndims, int halo)
{
  return axis == ndims - 1 ? (int)ambit__round_up(halo, AMBIT__ALIGNED)
         : axis == 0       ? 2 * halo
                           : halo;
}

static void set_halo(maker *m, int axis)
{
  ambit__flow *flow = &m->plan->flow;

  flow->cut[axis] = ambit__grid_cuts(m->p->grid, axis);
  for (int b = 0; flow->cut[axis] && b < m->p->nfields; b++) {
    const int *layers = m->flow.beside[b].n[axis];

    for (int side = 0; side < 2; side++)
      if (flow->halo[axis][side] < layers[side]) flow->halo[axis][side] = layers[side];
  }
  for (int side = 0; side < 2; side++)
    flow->margin[axis][side] = margin_of(axis, m->p->grid->box.ndims, flow->halo[axis][side]);
}

/* The halo of a part must lie in adjacent parts, and cells outside the grid must be copies of cells
 * of the part. */
static void check_parts(maker *m)
{
  const ambit_grid *g = m->p->grid;

  for (int i = 0; i < g->nparts; i++)
    for (int d = 0; d < g->box.ndims; d++) {
      const int *halo = m->plan->flow.halo[d];
      const int64_t cells = g->parts[i].hi[d] - g->parts[i].lo[d];

      if (!ambit__box_is_empty(&g->parts[i]) && (cells <= halo[0] || cells <= halo[1]))
        fail(m, "a part is thinner than the halo of so many iterations");
    }
}

static void make(maker *m, int depth)
{
  if (m->p->nfields > MOST_FIELDS) fail(m, TOO_LARGE);
  if (!m->why) check(m);
  if (!m->why && ambit__memory_flow_make(m->p, depth, &m->flow)) fail(m, NO_MEMORY);
  if (m->why) return;
  ambit__program_turns(m->p, m->class);
  for (int d = 0; d < m->p->grid->box.ndims; d++)
    set_halo(m, d);
  check_parts(m);
  for (int i = 0; !m->why && i < m->flow.nstages; i++)
    add_stage(m, i);
  if (!m->why) place(m);
}

void ambit__fuse_plan_free(ambit__fuse_plan *plan)
{
  ambit__flow_free(&plan->flow);
  plan->after = NULL;
}

const char *ambit__fuse_flow(const ambit_program *p, int depth, ambit__fuse_plan *plan)
{
  maker m = {.p = p, .plan = plan};

  memset(plan, 0, sizeof *plan);
  if (ambit__flow_open(ambit__program_errors(p), AMBIT__FLOW_STAGES, AMBIT__FLOW_VALUES,
                       AMBIT__FLOW_PORTS, &plan->flow))
    return NO_MEMORY;
  plan->flow.loops = depth > AMBIT__FLOW_STAGES;
  plan->depth = depth;
  for (int b = 0; b < MOST_FIELDS; b++) {
    m.writer[b] = -1;
    for (int c = 0; c < MOST_COMPONENTS; c++)
      m.now[b][c] = m.loaded[b][c] = -1;
  }
  make(&m, plan->flow.loops ? 1 : depth);
  ambit__flow_free(&m.flow);
  return m.why;
}
