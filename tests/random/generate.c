/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.c - makes a program from its seed. */
#include "program.h"

#include <inttypes.h>
#include <string.h>

/* ---- numbers ---- */

/* splitmix64 */
uint64_t dice_roll(dice *d)
{
  uint64_t z = d->state += 0x9e3779b97f4a7c15u;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int dice_below(dice *d, int n)
{
  return (int)(dice_roll(d) >> 33) % n;
}

int dice_between(dice *d, int low, int high)
{
  return low + dice_below(d, high - low + 1);
}

bool dice_chance(dice *d, int percent)
{
  return dice_below(d, 100) < percent;
}

/* ---- common to a family ---- */

static ambit_type any_type(dice *d, const program_plan *p)
{
  static const ambit_type news[] = {AMBIT_U16, AMBIT_U32, AMBIT_U64};
  static const ambit_type types[] = {AMBIT_F32, AMBIT_F32, AMBIT_F64, AMBIT_F64,
                                     AMBIT_I32, AMBIT_U8,  AMBIT_I16, AMBIT_I64};

  if (p->is_new && dice_chance(d, 35)) return news[dice_below(d, 3)];
  return types[dice_below(d, 8)];
}

/* Smooth programs have no halves: two floats that differ in the last bit can become halves that
 * differ by a thousandth. */
static ambit_type any_field_type(dice *d, const program_plan *p)
{
  if (p->is_narrow) return dice_chance(d, 60) ? AMBIT_U8 : AMBIT_I16;
  if (!p->is_smooth && dice_chance(d, 15)) return dice_chance(d, 60) ? AMBIT_F16 : AMBIT_BF16;
  return any_type(d, p);
}

static void make_fields(dice *d, program_plan *p)
{
  p->nfields = dice_between(d, p->is_waving ? 3 : 2, MOST_FIELDS);
  for (int i = 0; i < p->nfields; i++) {
    field_plan *f = &p->fields[i];

    if (i && (i == 1 || (p->is_waving && i == 2) || dice_chance(d, 60))) {
      *f = p->fields[i - 1];
      continue;
    }
    f->type = any_field_type(d, p);
    f->components = dice_chance(d, 70) ? 1 : dice_between(d, 2, 3);
    f->alike = i;
  }
}

static int make_scalar(dice *d, program_plan *p, ambit_type type)
{
  int s = p->nscalars++;

  p->scalars[s] = (scalar_plan){.type = type, .magnitude = -1};
  p->scalars[s].first = is_real(type) ? dice_between(d, -8, 8) / 8.0 : dice_between(d, 0, 9);
  return s;
}

/* A scalar that kernels may read: its value is the same on every device. */
static int exact_scalar(dice *d, program_plan *p, ambit_type type)
{
  for (int i = 0; i < p->nscalars; i++) {
    bool is_size = false;

    for (int j = 0; j < p->nscalars; j++)
      is_size |= p->scalars[j].magnitude == i;
    if (p->scalars[i].type == type && p->scalars[i].magnitude < 0 && !is_size && dice_chance(d, 60))
      return i;
  }
  return p->nscalars < MOST_SCALARS - 2 ? make_scalar(d, p, type) : -1;
}

static param_plan *add_param(kernel_plan *k, role r, ambit_type type)
{
  param_plan *q = &k->params[k->nparams++];

  *q = (param_plan){
      .role = r, .type = type, .components = 1, .field = -1, .scalar = -1, .inward_axis = -1};
  return q;
}

static param_plan *add_field_param(kernel_plan *k, const program_plan *p, role r, int field)
{
  param_plan *q = add_param(k, r, p->fields[field].type);

  q->field = field;
  q->components = p->fields[field].components;
  return q;
}

static void add_value(dice *d, program_plan *p, kernel_plan *k)
{
  param_plan *q = add_param(k, ROLE_VALUE, any_type(d, p));

  if (dice_chance(d, 50)) q->scalar = exact_scalar(d, p, q->type);
  q->number = is_real(q->type) ? dice_between(d, -64, 64) / 64.0 : dice_between(d, -3, 9);
}

static void add_reduction(dice *d, program_plan *p, kernel_plan *k)
{
  role r = (role)dice_between(d, ROLE_SUM, ROLE_MAX);
  param_plan *q = add_param(k, r, any_type(d, p));

  if (r == ROLE_MAX && dice_chance(d, 40)) q->role = ROLE_FOLD;
  if (p->nscalars > MOST_SCALARS - 2) {
    k->nparams--;
    return;
  }
  k->reduces = true;
  q->scalar = make_scalar(d, p, q->type);
  if (r != ROLE_SUM || !is_real(q->type)) return;
  p->scalars[q->scalar].magnitude = make_scalar(d, p, AMBIT_F64);
  add_param(k, ROLE_SUM, AMBIT_F64)->scalar = p->scalars[q->scalar].magnitude;
}

static bool writes(const kernel_plan *k, int field)
{
  for (int i = 0; i < k->nparams; i++)
    if (k->params[i].role == ROLE_OUT && k->params[i].field == field) return true;
  return false;
}

/* A field to read for a kernel that writes `out`: usually one that can be swapped with it. */
static int pick_input(dice *d, const program_plan *p, const kernel_plan *k, int out)
{
  int first = dice_below(d, p->nfields);
  bool alike = out >= 0 && dice_chance(d, 70), any = dice_chance(d, 10);

  for (int i = 0; i < p->nfields && !any; i++) {
    int f = (first + i) % p->nfields;

    if (!writes(k, f) && (!alike || p->fields[f].alike == p->fields[out].alike)) return f;
  }
  return first;
}

/* From some fields to others, sometimes in place, sometimes with reductions. */
static void make_map(dice *d, program_plan *p, kernel_plan *k)
{
  static const int radii[] = {1, 1, 1, 1, 2, 2, 3, 0};
  bool only_reduces = dice_chance(d, 12);
  int out = only_reduces ? -1 : dice_below(d, p->nfields);

  k->radius = radii[dice_below(d, p->ndims > 3 ? 5 : 8)];
  if (!only_reduces) add_field_param(k, p, ROLE_OUT, out);
  if (!only_reduces && dice_chance(d, 15)) {
    int second = dice_below(d, p->nfields);

    if (!writes(k, second)) add_field_param(k, p, ROLE_OUT, second);
  }
  for (int n = dice_between(d, 1, 2); n > 0; n--) {
    int f = pick_input(d, p, k, out);

    add_field_param(k, p, ROLE_IN, f)->is_near = writes(k, f);
  }
  if (dice_chance(d, 40)) add_value(d, p, k);
  if (only_reduces || dice_chance(d, 30)) add_reduction(d, p, k);
  if (!k->reduces && only_reduces) add_field_param(k, p, ROLE_OUT, 0);
}

/* From two fields to a third, which take turns; the first is read at the cell itself. */
static void make_wave(dice *d, program_plan *p, kernel_plan *k)
{
  k->radius = dice_between(d, 1, 2);
  add_field_param(k, p, ROLE_OUT, 2);
  add_field_param(k, p, ROLE_IN, 0)->is_near = true;
  add_field_param(k, p, ROLE_IN, 1);
  if (dice_chance(d, 30)) add_reduction(d, p, k);
}

/* One face, in place, from the cells one layer further in. */
static void make_face(dice *d, program_plan *p, kernel_plan *k)
{
  int axis = dice_below(d, p->ndims), side = dice_below(d, 2);
  param_plan *q = add_field_param(k, p, ROLE_OUT, dice_below(d, p->nfields));

  k->face = AMBIT_FACE(axis, side);
  q->inward_axis = axis;
  q->inward = side ? -1 : 1;
}

/* On scalars only. */
static void make_once(dice *d, program_plan *p, kernel_plan *k)
{
  param_plan *q = add_param(k, ROLE_OUT, any_type(d, p));

  k->runs_once = true;
  q->scalar = make_scalar(d, p, q->type);
  add_value(d, p, k);
  q = add_param(k, ROLE_IN, any_type(d, p));
  q->is_near = true;
  q->scalar = exact_scalar(d, p, q->type);
  if (q->scalar < 0) k->nparams--;
}

static void make_table(dice *d, const program_plan *p, kernel_plan *k)
{
  k->has_table = !p->is_smooth && dice_chance(d, 20);
  if (!k->has_table) return;
  k->table_type = any_field_type(d, p);
  for (int i = 0; i < TABLE_ROWS * TABLE_COLUMNS; i++)
    k->table[i] = dice_chance(d, 20) ? 0 : dice_between(d, -300, 300) / 64.0;
}

static void make_kernels(dice *d, program_plan *p)
{
  p->nkernels = dice_between(d, 1, p->is_waving || p->is_coloured ? 2 : 3);
  for (int i = 0; i < p->nkernels; i++) {
    kernel_plan *k = &p->kernels[i];
    int kind = dice_below(d, 100);

    if (p->is_waving && !i)
      make_wave(d, p, k);
    else if (kind < 12 && p->nscalars < MOST_SCALARS - 4)
      make_once(d, p, k);
    else if (kind < 22)
      make_face(d, p, k);
    else
      make_map(d, p, k);
    make_table(d, p, k);
    rule_write(d, p, i);
  }
}

/* Usually the field that the kernel read and the one that it wrote are swapped. */
static void make_rotation(dice *d, program_plan *p, const kernel_plan *k, step_plan *s)
{
  int first = dice_below(d, p->nfields), most = dice_between(d, 2, 3);
  int out = k->params[0].role == ROLE_OUT ? k->params[0].field : -1;

  *s = (step_plan){.kernel = -1};
  for (int i = 1; i < k->nparams && out >= 0 && !s->n; i++)
    if (k->params[i].role == ROLE_IN && k->params[i].field >= 0 && k->params[i].field != out &&
        p->fields[k->params[i].field].alike == p->fields[out].alike && dice_chance(d, 80)) {
      s->fields[s->n++] = k->params[i].field;
      s->fields[s->n++] = out;
    }
  for (int i = 0; i < p->nfields && s->n < most; i++) {
    int f = (first + i) % p->nfields;
    bool fits = p->fields[f].alike == p->fields[s->n ? s->fields[0] : first].alike;

    for (int j = 0; j < s->n; j++)
      fits = fits && s->fields[j] != f;
    if (fits) s->fields[s->n++] = f;
  }
}

static void make_steps(dice *d, program_plan *p)
{
  for (int i = 0; i < p->nkernels; i++) {
    p->steps[p->nsteps++] = (step_plan){.kernel = i};
    if (p->is_waving && !i)
      p->steps[p->nsteps++] = (step_plan){.kernel = -1, .n = 3, .fields = {0, 1, 2}};
    if (p->is_waving || !dice_chance(d, 70)) continue;
    make_rotation(d, p, &p->kernels[i], &p->steps[p->nsteps]);
    if (p->steps[p->nsteps].n > 1) p->nsteps++;
  }
}

/* ---- specific to a variant ---- */

static int64_t any_extent(dice *d)
{
  static const int some[] = {1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 1, 2};

  return some[dice_below(d, 14)];
}

static void make_extents(dice *d, program_plan *p, bool large)
{
  static const int wide[] = {31, 32, 33, 48, 63, 64, 65, 80, 100, 127, 128, 129, 208, 257, 300};
  int last = p->ndims - 1;

  for (int i = 0; i < p->ndims; i++)
    p->extents[i] = any_extent(d);
  if (dice_chance(d, 60)) p->extents[last] = wide[dice_below(d, 15)];
  for (int i = 0; program_cells(p) > 4000 && i < last; i++)
    if (p->extents[i] > 3) p->extents[i] = dice_between(d, 1, 3);
  if (p->seed % 5 == 4 && last) { /* rows of a few cells */
    const int64_t row = p->extents[last];

    p->extents[last] = p->extents[last - 1];
    p->extents[last - 1] = row;
  }
  if (!large) return;
  for (int i = 0; i < last; i++) /* enough for several threads */
    p->extents[i] = p->ndims == 2 ? dice_between(d, 130, 200) : dice_between(d, 10, 14);
  p->extents[last] = p->ndims == 1   ? dice_between(d, 40000, 60000)
                     : p->ndims == 2 ? dice_between(d, 260, 300)
                                     : dice_between(d, 280, 330);
}

static void make_boundaries(dice *d, program_plan *p, field_plan *f)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_REFLECT,  AMBIT_SYMMETRIC,
                                         AMBIT_CLAMP,    AMBIT_CONSTANT, AMBIT_FIXED};
  const bool flips = is_real(f->type) && dice_chance(d, 25);

  for (int i = 0; i < p->ndims; i++) {
    bool wraps =
        dice_chance(d, i == p->ndims - 1 ? 45 : 30); /* kernels may wrap reads along rows */

    for (int side = 0; side < 2; side++) {
      f->kind[i][side] = wraps ? AMBIT_PERIODIC : kinds[dice_below(d, dice_chance(d, 30) ? 6 : 5)];
      if (!wraps && flips && dice_chance(d, 50)) f->kind[i][side] = AMBIT_ANTISYMMETRIC;
      f->value[i][side] = is_real(f->type) ? dice_between(d, -8, 8) / 8.0 : dice_between(d, -3, 9);
    }
  }
}

static void make_variant_of_fields(dice *d, program_plan *p)
{
  for (int i = 0; i < p->nfields; i++) {
    field_plan *f = &p->fields[i];

    f->order = dice_chance(d, 50) ? AMBIT_SOA : AMBIT_AOS;
    for (int j = 0; j < i; j++)
      if (p->fields[j].alike == f->alike) f->order = p->fields[j].order;
    f->is_given = i == 0 || dice_chance(d, 75);
    make_boundaries(d, p, f);
    if (!p->is_waving || !i || i > 2 || !dice_chance(d, 70)) continue;
    memcpy(f->kind, p->fields[0].kind, sizeof f->kind);
    memcpy(f->value, p->fields[0].value, sizeof f->value);
  }
}

/* Behind all boundaries the colours of a chequerboard go on. */
static void keep_colours(program_plan *p)
{
  for (int i = 0; i < p->ndims; i++) {
    p->extents[i] += p->extents[i] % 2;
    for (int f = 0; f < p->nfields; f++)
      for (int side = 0; side < 2; side++) {
        ambit_boundary *kind = &p->fields[f].kind[i][side];

        if (*kind != AMBIT_PERIODIC && *kind != AMBIT_FIXED && *kind != AMBIT_CONSTANT)
          *kind = AMBIT_REFLECT;
      }
  }
}

static void make_region(dice *d, program_plan *p, step_plan *s)
{
  const kernel_plan *k = &p->kernels[s->kernel];

  s->where = k->face ? ON_FACES : k->runs_once || dice_chance(d, 75) ? ON_GRID : ON_BOX;
  s->faces = k->face;
  for (int i = 0; i < p->ndims; i++) {
    s->lo[i] = dice_chance(d, 40) ? 0 : dice_below(d, (int)p->extents[i]);
    s->hi[i] =
        dice_chance(d, 40) ? p->extents[i] : dice_between(d, (int)s->lo[i] + 1, (int)p->extents[i]);
  }
  if (s->where != ON_BOX || k->reduces || !dice_chance(d, 40)) return;
  s->where = ON_FACES;
  s->faces = dice_chance(d, 30) ? AMBIT_ALL_FACES : 0;
  while (!s->faces)
    s->faces = (unsigned)dice_below(d, 1 << 2 * p->ndims);
}

static void make_run(dice *d, program_plan *p, action *a)
{
  int s = p->nscalars ? dice_below(d, p->nscalars) : 0;
  bool exact =
      p->nscalars && p->scalars[s].magnitude < 0 && (!is_real(p->scalars[s].type) || !p->is_smooth);

  for (int i = 0; exact && i < p->nscalars; i++)
    exact = p->scalars[i].magnitude != s;
  *a = (action){.what = DO_RUN, .iterations = dice_between(d, 0, 3), .object = s};
  if (p->is_waving || p->is_coloured) a->iterations *= 3;
  if (!exact || !dice_chance(d, 40)) return;
  a->what = DO_RUN_UNTIL;
  a->iterations = dice_between(d, 1, 5);
  a->check = dice_between(d, 1, 3);
  a->when = (ambit_condition)dice_below(d, 3);
  a->value = dice_between(d, -2, 6);
}

static void make_actions(dice *d, program_plan *p, bool large)
{
  int runs = large ? 1 : dice_between(d, 1, 3);

  for (int i = 0; i < runs; i++) {
    make_run(d, p, &p->actions[p->nactions++]);
    if (p->nscalars && dice_chance(d, 40))
      p->actions[p->nactions++] = (action){.what = DO_SET_SCALAR,
                                           .object = dice_below(d, p->nscalars),
                                           .value = dice_between(d, -16, 16) / 16.0};
    else if (dice_chance(d, 40))
      p->actions[p->nactions++] = (action){.what = dice_chance(d, 50) ? DO_WRITE_BOX : DO_BOUNDARY,
                                           .object = dice_below(d, p->nfields)};
  }
  p->actions[p->nactions++] =
      (action){.what = DO_RUN, .iterations = large ? 2 : dice_between(d, 1, 3)};
}

/* ---- steps of other kinds ---- */

/* A box of one field to a place of one like it; perhaps to the field itself, where the two may
 * overlap, which is refused. */
static void make_copy(dice *d, const program_plan *p, step_plan *s)
{
  int from = dice_below(d, p->nfields), to = dice_below(d, p->nfields);

  *s = (step_plan){.kernel = -1, .fields = {from, to}};
  if (p->fields[from].alike != p->fields[to].alike) s->fields[1] = from;
  for (int i = 0; i < p->ndims; i++) {
    const int most = (int)p->extents[i];
    const int size = dice_chance(d, 30) ? most : dice_between(d, 1, (most + 1) / 2);

    s->lo[i] = dice_below(d, most - size + 1);
    s->hi[i] = s->lo[i] + size;
    s->at[i] = dice_below(d, most - size + 1);
  }
}

static bool overlaps(const program_plan *p, const step_plan *s)
{
  for (int i = 0; i < p->ndims; i++)
    if (s->at[i] >= s->hi[i] || s->lo[i] >= s->at[i] + s->hi[i] - s->lo[i]) return false;
  return s->fields[0] == s->fields[1];
}

/* Adds a copy, makes some steps a program that is called, and lets some run every n iterations. */
static void make_specials(dice *d, program_plan *p)
{
  step_plan copy;

  make_copy(d, p, &copy);
  if (dice_chance(d, 20) && (!overlaps(p, &copy) || dice_chance(d, 5))) {
    const int at = dice_below(d, p->nsteps + 1);

    memmove(&p->steps[at + 1], &p->steps[at], (size_t)(p->nsteps++ - at) * sizeof copy);
    p->steps[at] = copy;
  }
  if (dice_chance(d, 25)) {
    p->called = dice_below(d, p->nsteps);
    p->ncalled = dice_between(d, 1, p->nsteps - p->called);
    p->call_iterations = dice_between(d, 0, 3);
    p->call_until = p->nscalars && !is_real(p->scalars[0].type) && dice_chance(d, 50);
  }
  for (int i = 0; i < p->nsteps; i++)
    if ((p->steps[i].kernel >= 0 || !p->steps[i].n) && dice_chance(d, 15))
      p->steps[i].every = dice_between(d, 2, 6);
}

/* Reads at the cell itself only, and reduces perhaps. */
static void make_near(dice *d, program_plan *p, kernel_plan *k)
{
  add_field_param(k, p, ROLE_OUT, dice_below(d, p->nfields));
  for (int n = dice_between(d, 1, 2); n > 0; n--)
    add_field_param(k, p, ROLE_IN, dice_below(d, p->nfields))->is_near = true;
  if (dice_chance(d, 40)) add_reduction(d, p, k);
  make_table(d, p, k);
  rule_write(d, p, p->nkernels);
}

/* Writes neighbours, on a periodic grid or under tests. */
static void make_spread(dice *d, program_plan *p, kernel_plan *k)
{
  field_plan *f = &p->fields[add_field_param(k, p, ROLE_OUT, dice_below(d, p->nfields))->field];
  const bool tests = dice_chance(d, 40);

  for (int i = 0; i < p->nfields; i++)
    if (p->fields[i].alike == f->alike) p->fields[i].order = AMBIT_SOA;
  for (int i = 0; !tests && i < p->ndims; i++)
    f->kind[i][0] = f->kind[i][1] = AMBIT_PERIODIC;
  rule_write_spread(d, p, p->nkernels, tests);
  k->spreads = true;
}

/* Two steps in place, anywhere among the others. The first one runs on the whole grid. */
static void make_coloured(dice *d, dice *variant, program_plan *p)
{
  for (int i = 0; i < 2; i++) {
    kernel_plan *k = &p->kernels[p->nkernels];
    const int at = dice_below(d, p->nsteps + 1);
    step_plan s = {.kernel = p->nkernels};

    add_field_param(k, p, ROLE_OUT, dice_below(d, p->nfields));
    if (dice_chance(d, 40)) add_field_param(k, p, ROLE_IN, dice_below(d, p->nfields));
    rule_write_coloured(d, p, p->nkernels++);
    if (i) make_region(variant, p, &s);
    memmove(&p->steps[at + 1], &p->steps[at], (size_t)(p->nsteps++ - at) * sizeof s);
    p->steps[at] = s;
  }
}

/* In some families, one more kernel runs right after a kernel on the same cells: one that may be
 * joined with it, or one in place. */
static void make_companion(dice *d, program_plan *p)
{
  kernel_plan *k = &p->kernels[p->nkernels];
  int leader = 0;

  while (leader < p->nsteps &&
         (p->steps[leader].kernel < 0 || p->kernels[p->steps[leader].kernel].runs_once ||
          p->kernels[p->steps[leader].kernel].face))
    leader++;
  if (!dice_chance(d, 35) || leader == p->nsteps) return;
  if (dice_chance(d, 70)) {
    make_near(d, p, k);
  } else if (dice_chance(d, 60)) {
    make_spread(d, p, k);
  } else {
    add_field_param(k, p, ROLE_OUT, dice_below(d, p->nfields));
    rule_write_coloured(d, p, p->nkernels);
  }
  memmove(&p->steps[leader + 1], &p->steps[leader],
          (size_t)(p->nsteps++ - leader) * sizeof *p->steps);
  p->steps[leader + 1].kernel = p->nkernels++;
}

void program_make(program_plan *p, uint64_t seed)
{
  dice family = {.state = (seed / VARIANTS) * 0x2545f4914f6cdd1du};
  dice variant = {.state = ~seed}, special = {.state = ~seed * 0x9e3779b97f4a7c15u};
  dice company = {.state = ~(seed / VARIANTS) * 0xd1342543de82ef95u};
  bool large = seed % VARIANTS == VARIANTS - 1;

  memset(p, 0, sizeof *p);
  p->seed = seed;
  p->ndims = dice_chance(&family, 6) ? dice_between(&family, 5, 6) : dice_between(&family, 1, 4);
  p->is_narrow = seed >> 40 & 1;
  p->is_waving = seed >> 41 & 1;
  p->is_new = seed >> 42 & 1;
  p->is_coloured = seed >> 44 & 1;
  p->is_smooth = !p->is_narrow && dice_chance(&family, 20);
  p->is_wild = !p->is_smooth && dice_chance(&family, 30);
  make_fields(&family, p);
  make_kernels(&family, p);
  make_steps(&family, p);
  dice_roll(&variant);
  large = large && p->ndims <= 3;
  p->threads = dice_between(&variant, large ? 2 : 1, 3);
  p->tiny_caches = dice_chance(&variant, 25);
  make_extents(&variant, p, large);
  make_variant_of_fields(&variant, p);
  if (p->is_coloured) keep_colours(p);
  for (int i = 0; i < p->nsteps; i++)
    if (p->steps[i].kernel >= 0) make_region(&variant, p, &p->steps[i]);
  make_actions(&variant, p, large);
  if (p->is_coloured)
    make_coloured(&company, &special, p);
  else
    make_companion(&company, p);
  if (!p->is_waving && !p->is_coloured) make_specials(&special, p);
}

int64_t program_cells(const program_plan *p)
{
  int64_t n = 1;

  for (int d = 0; d < p->ndims; d++)
    n *= p->extents[d];
  return n;
}

/* ---- printing ---- */

static void print_fields(const program_plan *p, FILE *to)
{
  static const char *const kinds[] = {"none",      "constant", "periodic", "reflect",
                                      "symmetric", "clamp",    "fixed",    "antisymmetric"};

  for (int i = 0; i < p->nfields; i++) {
    const field_plan *f = &p->fields[i];

    fprintf(to, "field f%d: %s x %d %s%s; boundaries", i, ambit_type_name(f->type), f->components,
            f->order == AMBIT_AOS ? "aos" : "soa", f->is_given ? "" : ", not given");
    for (int d = 0; d < p->ndims; d++)
      fprintf(to, " %s %g | %s %g,", kinds[f->kind[d][0]], f->value[d][0], kinds[f->kind[d][1]],
              f->value[d][1]);
    fprintf(to, "\n");
  }
  for (int i = 0; i < p->nscalars; i++)
    fprintf(to, "scalar s%d: %s = %g\n", i, ambit_type_name(p->scalars[i].type),
            p->scalars[i].first);
}

static void print_apply(const program_plan *p, const step_plan *s, FILE *to)
{
  const kernel_plan *k = &p->kernels[s->kernel];

  fprintf(to, "step: k%d(", s->kernel);
  for (int i = 0; i < k->nparams; i++) {
    const param_plan *q = &k->params[i];

    if (q->field >= 0)
      fprintf(to, "%sf%d", i ? ", " : "", q->field);
    else if (q->scalar >= 0)
      fprintf(to, "%ss%d", i ? ", " : "", q->scalar);
    else
      fprintf(to, "%s%g", i ? ", " : "", q->number);
  }
  fprintf(to, ")");
  if (s->where == ON_FACES) fprintf(to, " on faces 0x%x", s->faces);
  for (int d = 0; s->where == ON_BOX && d < p->ndims; d++)
    fprintf(to, " %s%" PRId64 "..%" PRId64, d ? "" : "on ", s->lo[d], s->hi[d]);
}

static void print_copy(const program_plan *p, const step_plan *s, FILE *to)
{
  fprintf(to, "step: copy f%d", s->fields[0]);
  for (int d = 0; d < p->ndims; d++)
    fprintf(to, " %" PRId64 "..%" PRId64, s->lo[d], s->hi[d]);
  fprintf(to, " to f%d at", s->fields[1]);
  for (int d = 0; d < p->ndims; d++)
    fprintf(to, " %" PRId64, s->at[d]);
}

static void print_step(const program_plan *p, const step_plan *s, FILE *to)
{
  if (s->kernel >= 0)
    print_apply(p, s, to);
  else if (!s->n)
    print_copy(p, s, to);
  else
    fprintf(to, "step: rotate");
  for (int j = 0; j < s->n; j++)
    fprintf(to, " f%d", s->fields[j]);
  if (s->every) fprintf(to, " every %" PRId64, s->every);
  fprintf(to, "\n");
}

static void print_actions(const program_plan *p, FILE *to)
{
  static const char *const words[] = {"run",   "run until",        "rest ",
                                      "set s", "write a box of f", "new boundaries of f"};

  for (int i = 0; i < p->nactions; i++) {
    const action *a = &p->actions[i];

    if (a->what == DO_RUN)
      fprintf(to, "run %" PRId64 "\n", a->iterations);
    else if (a->what == DO_RUN_UNTIL)
      fprintf(to, "run until s%d (if set) %s %g, at most %" PRId64 ", checked every %" PRId64 "\n",
              a->object,
              a->when == AMBIT_BELOW   ? "<"
              : a->when == AMBIT_ABOVE ? ">"
                                       : "==",
              a->value, a->iterations, a->check);
    else
      fprintf(to, "%s%d (%g)\n", words[a->what], a->object, a->value);
  }
}

void program_print(const program_plan *p, FILE *to)
{
  fprintf(to, "grid");
  for (int d = 0; d < p->ndims; d++)
    fprintf(to, "%s%" PRId64, d ? "x" : " ", p->extents[d]);
  fprintf(to, ", %d threads%s%s\n", p->threads, p->tiny_caches ? ", tiny caches" : "",
          p->is_smooth ? ", smooth"
          : p->is_wild ? ", wild"
                       : "");
  print_fields(p, to);
  for (int i = 0; i < p->nkernels; i++)
    fprintf(to, "%s", p->kernels[i].text);
  for (int i = 0; i < p->nsteps; i++)
    print_step(p, &p->steps[i], to);
  if (p->ncalled)
    fprintf(to, "steps %d to %d are called %" PRId64 " times%s\n", p->called + 1,
            p->called + p->ncalled, p->call_iterations,
            p->call_until ? " at most, until s0 > 1 if they set it" : "");
  lines_print(p, to);
  points_print(p, to);
  print_actions(p, to);
}
