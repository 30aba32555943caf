/* SPDX-License-Identifier: BSD-3-Clause */
/* play.c - runs a random program in a separate context and keeps the results. */
#include "program.h"
#include "runtime/run/run.h"
#include "support/slow_net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stage {
  const program_plan *p;
  ambit *a;
  ambit_grid *grid;
  ambit_field *fields[MOST_FIELDS];
  ambit_scalar *scalars[MOST_SCALARS];
  ambit_kernel *kernels[MOST_KERNELS];
  ambit_program *program, *called;
  ambit_program *at;  /* the one that gets steps now */
  ambit_record *seen; /* by receivers; NULL: there are none */
  bool sparse;
} stage;

/* ---- values ---- */

/* x as a value of the type: integers have no fraction, and some no sign. */
static double fitting(ambit_type type, double x)
{
  return is_real(type) ? x : ambit__type_is_unsigned(type) && x < 0 ? 0 : trunc(x);
}

static double real_value(const program_plan *p, dice *d)
{
  int kind = dice_below(d, 100);

  if (p->is_wild && kind == 0) return NAN;
  if (p->is_wild && kind == 1) return dice_chance(d, 50) ? INFINITY : -1e38;
  if (p->is_wild && kind == 2) return dice_chance(d, 50) ? -(double)INFINITY : 1e-310;
  if (p->is_wild && kind == 3) return dice_chance(d, 50) ? 1e-42 : -1e-40; /* denormal in float */
  if (kind < 10) return dice_below(d, 2) ? 0.0 : -0.0;
  if (kind < 20) return dice_between(d, -1, 1);
  return (double)dice_between(d, -1000000, 1000000) * 1e-6;
}

/* Wild integers are the ends of the type, which wrap when negated or divided. */
static double integer_value(const program_plan *p, ambit_type type, dice *d)
{
  const int64_t low =
      ambit__reduce_identity(&(ambit__param){.reduce = REDUCE_MAX, .type = type}).integer;

  if (p->is_wild && dice_chance(d, 5)) return (double)(dice_chance(d, 50) ? low : low + 1024);
  return dice_chance(d, 5) ? dice_between(d, -40000, 40000) : dice_between(d, -9, 9);
}

static void store(void *values, int64_t i, ambit_type type, double x)
{
  switch (type) {
  case AMBIT_F32: ((float *)values)[i] = (float)x; break;
  case AMBIT_F64: ((double *)values)[i] = x; break;
  case AMBIT_I32: ((int32_t *)values)[i] = (int32_t)x; break;
  case AMBIT_U8: ((uint8_t *)values)[i] = (uint8_t)(int32_t)x; break;
  case AMBIT_I16: ((int16_t *)values)[i] = (int16_t)(int32_t)x; break;
  case AMBIT_I64: ((int64_t *)values)[i] = (int64_t)x; break;
  case AMBIT_U16: ((uint16_t *)values)[i] = (uint16_t)(int32_t)x; break;
  case AMBIT_U32: ((uint32_t *)values)[i] = (uint32_t)(int64_t)x; break;
  case AMBIT_U64: ((uint64_t *)values)[i] = (uint64_t)(int64_t)x; break;
  case AMBIT_F16: ((uint16_t *)values)[i] = ambit_half_encode(x); break;
  case AMBIT_BF16: ((uint16_t *)values)[i] = ambit_bfloat_encode(x); break;
  }
}

static double any_value(const program_plan *p, ambit_type type, dice *d)
{
  return is_real(type) ? real_value(p, d) : integer_value(p, type, d);
}

/* Dense values for `cells` cells of a field, the same for the same seed. */
static void *make_values(const program_plan *p, int field, int64_t cells, uint64_t seed)
{
  const field_plan *f = &p->fields[field];
  int64_t n = cells * f->components;
  void *values = malloc((size_t)n * ambit_type_size(f->type));
  dice d = {.state = p->seed * 31 + seed * 7 + (uint64_t)field};

  const double rest = any_value(p, f->type, &d);

  for (int64_t i = 0; values && i < n; i++) {
    const bool quiet = p->is_quiet && i * 7 / n % 3 && i % 19; /* some rows, and some cells */

    store(values, i, f->type, quiet ? rest : any_value(p, f->type, &d));
  }
  return values;
}

/* ---- building ---- */

/* On some sparse grids, one value stands for all that is not active, and no row continues beyond
 * its ends: lists have ranks then. */
static bool is_even(const stage *s)
{
  return s->sparse && s->p->seed / 4 % 3 == 0;
}

static ambit_boundary inactive_kind(const stage *s, int field)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_CLAMP, AMBIT_CLAMP, AMBIT_CONSTANT,
                                         AMBIT_CONSTANT, AMBIT_CLAMP, AMBIT_NONE};

  return kinds[(s->p->seed / 2 + (uint64_t)field * 5) % 7];
}

/* In some programs the second component has boundaries of its own. */
static void set_component(const stage *s, int field)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_SYMMETRIC, AMBIT_CLAMP,
                                         AMBIT_REFLECT, AMBIT_ANTISYMMETRIC};
  const field_plan *f = &s->p->fields[field];
  const uint64_t luck = (s->p->seed + (uint64_t)field * 7) * 0x9e3779b97f4a7c15u >> 40;

  if (f->components < 2 || f->order != AMBIT_SOA || luck % 3) return;
  for (int d = 0; !is_even(s) && d < s->p->ndims; d++)
    for (int side = 0; side < 2; side++)
      if (f->kind[d][side] != AMBIT_FIXED && f->kind[d][side] != AMBIT_PERIODIC)
        ambit_field_boundary_component(
            s->fields[field], 1, AMBIT_FACE(d, side),
            kinds[(luck / 3 + (uint64_t)(3 * d + side)) % (is_real(f->type) ? 5 : 4)], d + 1);
  if (s->sparse && inactive_kind(s, field) != AMBIT_NONE && luck / 3 % 2)
    ambit_field_boundary_component(s->fields[field], 1, AMBIT_INACTIVE,
                                   luck / 6 % 2 ? AMBIT_CONSTANT : AMBIT_CLAMP,
                                   fitting(f->type, -2));
}

static void set_even(const stage *s, int field)
{
  for (int d = 0; d < s->p->ndims; d++)
    for (int side = 0; side < 2; side++) {
      const bool last = d == s->p->ndims - 1, periodic = !last && s->p->seed % 5 < 2;

      ambit_field_boundary(s->fields[field], AMBIT_FACE(d, side),
                           periodic ? AMBIT_PERIODIC : AMBIT_CONSTANT,
                           inactive_kind(s, field) == AMBIT_CONSTANT ? field + 1 : 0);
    }
}

static void set_boundaries(const stage *s, int field)
{
  const field_plan *f = &s->p->fields[field];

  if (is_even(s)) {
    set_even(s, field);
    return;
  }
  for (int d = 0; d < s->p->ndims; d++)
    for (int side = 0; side < 2; side++)
      ambit_field_boundary(s->fields[field], AMBIT_FACE(d, side), f->kind[d][side],
                           fitting(f->type, f->value[d][side]));
}

/* A face of a field: a value on it, a gradient, a scalar or a field as its value, or components
 * that change places. */
static void set_new_face(const stage *s, int field, unsigned face, dice *d)
{
  const field_plan *f = &s->p->fields[field];
  const ambit_boundary kind = !is_real(f->type)    ? AMBIT_CONSTANT
                              : dice_chance(d, 50) ? AMBIT_DIRICHLET
                                                   : AMBIT_NEUMANN;
  const int other = dice_below(d, s->p->nfields), value = dice_between(d, -8, 8);
  int from[MOST_FIELDS] = {1, 2, 0, 0};

  from[f->components - 1] = 0;
  switch (dice_below(d, 6)) {
  case 0: ambit_field_boundary(s->fields[field], face, kind, fitting(f->type, value / 8.0)); break;
  case 1:
    if (s->p->nscalars)
      ambit_field_boundary(s->fields[field], face, dice_chance(d, 30) ? AMBIT_CONSTANT : kind,
                           s->scalars[dice_below(d, s->p->nscalars)]);
    break;
  case 2:
    if (other != field &&
        (s->p->fields[other].components == 1 || s->p->fields[other].components == f->components))
      ambit_field_boundary(s->fields[field], face, dice_chance(d, 30) ? AMBIT_CONSTANT : kind,
                           s->fields[other]);
    break;
  case 3:
    ambit_field_boundary_permuted(s->fields[field], face,
                                  dice_chance(d, 60) ? AMBIT_SYMMETRIC : AMBIT_REFLECT, from);
    break;
  default: break;
  }
}

/* Kernels reach 9 cells at most, and a mirror is one reflection. */
static void set_new(const stage *s)
{
  dice d = {.state = s->p->seed ^ 0x5eed};

  for (int i = 0; i < s->p->nkernels; i++)
    if (s->p->kernels[i].spreads) return; /* refused */
  for (int i = 0; s->p->is_new && !s->p->is_smooth && !is_even(s) && i < s->p->nfields; i++)
    for (int axis = 0; axis < s->p->ndims; axis++)
      for (int side = 0; side < 2; side++)
        if (s->p->extents[axis] > 8 && s->p->fields[i].kind[axis][side] != AMBIT_PERIODIC &&
            s->p->fields[i].kind[axis][side] != AMBIT_FIXED)
          set_new_face(s, i, AMBIT_FACE(axis, side), &d);
}

/* ---- masks of sparse grids ---- */

/* Whether a cell is active: by chance, in a ball, in layers; everywhere, or nowhere. */
static int is_active(const int64_t *index, void *user)
{
  const program_plan *p = user;
  dice d = {.state = p->seed};
  int64_t distance = 0, radius = 0;

  for (int i = 0; i < p->ndims; i++) {
    const int64_t x = 2 * index[i] + 1 - p->extents[i];

    d.state = d.state * 6364136223846793005u + (uint64_t)index[i];
    distance += x * x;
    radius += p->extents[i] * p->extents[i];
  }
  switch (p->seed / 3 % 8) {
  case 0: return 1;
  case 1: return dice_chance(&d, 95);
  case 2: return dice_chance(&d, 60);
  case 3: return dice_chance(&d, 15);
  case 4: return distance < radius / 4;
  case 5: return distance > radius / 8;
  case 6: return index[p->seed / 5 % (uint64_t)p->ndims] % 5 != 2;
  default: return p->seed % 2 && index[0] == 1;
  }
}

/* Cells of another mask. */
static void activate_others(const stage *s)
{
  program_plan *other = malloc(sizeof *other);

  if (!other) return;
  *other = *s->p;
  other->seed = other->seed * 5 + 7;
  ambit_grid_activate(s->grid, is_active, other);
  free(other);
}

static void set_inactive(const stage *s, int field)
{
  ambit_field_boundary(s->fields[field], AMBIT_INACTIVE, inactive_kind(s, field), field + 1);
}

static void set_scalar(stage *s, int i, double x)
{
  ambit_scalar_set(s->scalars[i], fitting(s->p->scalars[i].type, x));
}

/* Without `all`, every other field gets no values. */
static void make_objects(stage *s, bool all, bool sparse)
{
  const program_plan *p = s->p;

  s->grid = sparse ? ambit_grid_create_sparse(s->a, p->ndims, p->extents, is_active, (void *)p)
                   : ambit_grid_create(s->a, p->ndims, p->extents);
  for (int i = 0; i < p->nfields; i++) {
    const field_plan *f = &p->fields[i];
    const char name[] = {'f', (char)('0' + i), 0};

    s->fields[i] = ambit_field_create_vector(s->grid, name, f->type, f->components, f->order);
    set_boundaries(s, i);
    set_inactive(s, i);
    set_component(s, i);
    if (f->is_given && (all || i % 2 == 0)) {
      void *values = make_values(p, i, program_cells(p), 0);

      ambit_field_write(s->fields[i], NULL, NULL, values);
      free(values);
    }
  }
  for (int i = 0; i < p->nscalars; i++) {
    s->scalars[i] = ambit_scalar_create(s->a, "s", p->scalars[i].type);
    set_scalar(s, i, p->scalars[i].first);
  }
  for (int i = 0; i < p->nkernels; i++)
    s->kernels[i] = ambit_kernel_create(s->a, p->kernels[i].text);
  s->program = ambit_program_create(s->grid);
  s->called = ambit_program_create(s->grid);
  set_new(s);
}

static void apply(stage *s, const step_plan *step)
{
  const kernel_plan *k = &s->p->kernels[step->kernel];
  const ambit_kernel *kernel = s->kernels[step->kernel];
  ambit_arg args[MOST_PARAMS + 1];
  const int n = k->nparams + k->has_table;

  if (k->has_table)
    args[k->nparams] = ambit_arg_table(k->table, AMBIT_F64, TABLE_ROWS, TABLE_COLUMNS);
  for (int i = 0; i < k->nparams; i++) {
    const param_plan *q = &k->params[i];

    args[i] = q->field >= 0    ? ambit_arg_field(s->fields[q->field])
              : q->scalar >= 0 ? ambit_arg_scalar(s->scalars[q->scalar])
                               : ambit_arg_number(fitting(q->type, q->number));
  }
  if (step->where == ON_GRID)
    ambit_apply_args(s->at, kernel, n, args);
  else if (step->where == ON_BOX)
    ambit_apply_box_args(s->at, step->lo, step->hi, kernel, n, args);
  else
    ambit_apply_faces_args(s->at, step->faces, kernel, n, args);
}

/* The called program has all its steps. */
static void call(stage *s)
{
  if (s->p->call_until && ambit__program_sets(s->called, s->scalars[0]))
    ambit_call_until(s->program, s->called, s->scalars[0], AMBIT_ABOVE, 1, s->p->call_iterations);
  else
    ambit_call(s->program, s->called, s->p->call_iterations);
}

static void append(stage *s, const step_plan *step)
{
  ambit_field *fields[MOST_FIELDS];

  if (s->sparse && step->kernel >= 0 && s->p->kernels[step->kernel].spreads) return;
  for (int j = 0; j < step->n; j++)
    fields[j] = s->fields[step->fields[j]];
  if (step->kernel >= 0)
    apply(s, step);
  else if (step->n)
    ambit_rotate(s->at, step->n, fields);
  else
    ambit_copy_box(s->at, s->fields[step->fields[0]], step->lo, step->hi,
                   s->fields[step->fields[1]], step->at);
  if (step->every) ambit_step_every(s->at, step->every);
}

static void make_program(stage *s)
{
  const int end = s->p->called + s->p->ncalled; /* of the steps of the called program */

  for (int i = 0; i < s->p->nsteps; i++) {
    s->at = i >= s->p->called && i < end ? s->called : s->program;
    append(s, &s->p->steps[i]);
    if (s->p->ncalled && i + 1 == end) call(s);
  }
  if (s->sparse) return;
  lines_append(s->p, s->program, s->grid, s->a, s->fields);
  s->seen = points_append(s->p, s->program, s->grid, s->a, s->fields);
}

/* ---- actions ---- */

/* Writes the lower half of every axis. */
static void write_box(stage *s, int field, int round)
{
  int64_t hi[AMBIT_MAX_DIMS], cells = 1;
  void *values;

  for (int d = 0; d < s->p->ndims; d++) {
    hi[d] = (s->p->extents[d] + 1) / 2;
    cells *= hi[d];
  }
  values = make_values(s->p, field, cells, (uint64_t)round + 1);
  ambit_field_write(s->fields[field], NULL, hi, values);
  free(values);
}

static void act(stage *s, const action *a, int round)
{
  switch (a->what) {
  case DO_RUN: ambit_run(s->program, a->iterations * (s->p->seed % 3 ? 1 : 4)); break;
  case DO_REST:
    ambit_program_check_every(s->program, a->check);
    ambit_run_until_still(s->program, a->iterations);
    break;
  case DO_RUN_UNTIL:
    ambit_program_check_every(s->program, a->check);
    if (ambit__program_sets(s->program, s->scalars[a->object]))
      ambit_run_until(s->program, s->scalars[a->object], a->when, a->value, a->iterations);
    else
      ambit_run(s->program, a->iterations);
    break;
  case DO_SET_SCALAR: set_scalar(s, a->object, a->value); break;
  case DO_WRITE_BOX: write_box(s, a->object, round); break;
  case DO_BOUNDARY:
    ambit_field_boundary(s->fields[a->object], AMBIT_ALL_FACES,
                         round % 2 ? AMBIT_CLAMP : AMBIT_CONSTANT,
                         fitting(s->p->fields[a->object].type, 0.5));
    break;
  }
}

static void collect(const stage *s, outcome *o)
{
  const program_plan *p = s->p;

  o->status = ambit_error(s->a);
  snprintf(o->story, sizeof o->story, "%s", ambit_error_text(s->a));
  o->iterations = ambit_program_iterations(s->program) + 1000 * ambit_program_iterations(s->called);
  o->converged = ambit_program_converged(s->program);
  ambit_error_clear(s->a);
  for (int i = 0; i < p->nfields; i++) {
    const field_plan *f = &p->fields[i];

    o->values[i] = calloc((size_t)(program_cells(p) * f->components), ambit_type_size(f->type));
    ambit_field_read(s->fields[i], NULL, NULL, o->values[i]);
  }
  for (int i = 0; i < p->nscalars; i++)
    o->scalars[i] = ambit_scalar_get(s->scalars[i]);
  if (!s->seen) return;
  o->nrows = ambit_record_rows(s->seen) * ambit_record_columns(s->seen);
  o->rows = calloc((size_t)o->nrows + 1, sizeof *o->rows);
  ambit_record_read(s->seen, 0, ambit_record_rows(s->seen), o->rows);
}

/* ---- parts ---- */

enum { MOST_PIECES = 64 };

int recuts;

/* The number of parts that a list of devices gives one process: cpu*3 has three. */
static int count_parts(const char *devices)
{
  const char *star = strchr(devices, '*');
  int n = star ? atoi(star + 1) : 1;

  for (const char *comma = strchr(devices, ','); comma; comma = strchr(comma + 1, ','))
    n++;
  return n;
}

/* The factors of n, each assigned to an axis: "2x3". */
static void choose_partition(const program_plan *p, int n, char *text, size_t size)
{
  int counts[AMBIT_MAX_DIMS];
  uint64_t luck = p->seed * 0x9e3779b97f4a7c15u >> 20;
  size_t length = 0;

  for (int d = 0; d < p->ndims; d++)
    counts[d] = 1;
  for (int f = 2; n > 1; n % f ? f++ : (n /= f)) {
    if (n % f) continue;
    counts[luck % (uint64_t)p->ndims] *= f;
    luck = luck / 7 + 3;
  }
  for (int d = 0; d < p->ndims; d++)
    length += (size_t)snprintf(text + length, size - length, "%s%d", d ? "x" : "", counts[d]);
}

static void choose_weights(const program_plan *p, int n, bool equal, char *text, size_t size)
{
  size_t length = 0;

  for (int i = 0; i < n; i++)
    length += (size_t)snprintf(text + length, size - length, "%s%d", i ? "," : "",
                               equal ? 1 : (int)((p->seed >> i) * 5 % 7) + (i == 0));
}

/* Options for several iterations at once, and for the partition and the overlap, if there are
 * several parts. */
static void choose_parts(ambit *a, const program_plan *p, const char *devices, bool sparse)
{
  static const char *const overlaps[] = {"none", "standard", "extended", "two-way"};
  static const char *const depths[] = {"1", "2", "3", "5", "auto"};
  const int n = count_parts(devices) * a->net->size;
  char text[256];

  ambit_option_set(a, "depth", depths[p->seed / 7 % 5]);
  if (n == 1) return;
  ambit_option_set(a, "overlap", overlaps[p->seed / 3 % 4]);
  choose_partition(p, n, text, sizeof text);
  if (p->seed % 4 && !sparse) ambit_option_set(a, "partition", text); /* bands, if it is */
  /* Often given where devices may be unlike: otherwise slow ones get no cells. */
  choose_weights(p, n, p->seed % 5 != 1, text, sizeof text);
  if (p->seed % 5 == 1 || strchr(devices, ',') || (a->net->size > 1 && p->seed % 2))
    ambit_option_set(a, "weights", text);
}

/* The storage of a sparse grid, unless the environment has one. */
static void choose_storage(ambit *a, const program_plan *p)
{
  static const char *const storages[] = {"auto", "runs", "list"};

  if (!getenv("AMBIT_STORAGE")) ambit_option_set(a, "storage", storages[p->seed % 3]);
}

/* A callback: moves the cut to a place that depends on the iteration. */
static int recut(ambit_program *program, int64_t iteration, void *user)
{
  const program_plan *p = user;
  ambit_grid *g = program->grid;
  double weights[MOST_PIECES] = {0};
  uint64_t luck = (p->seed + (uint64_t)iteration * 31) * 0x9e3779b97f4a7c15u >> 17;
  bool moved;

  for (int i = 0; i < g->nparts && i < MOST_PIECES; i++, luck /= 5)
    weights[i] = (double)(luck % 5) + (i == (int)(luck % (uint64_t)g->nparts));
  weights[0] += 0.1; /* not all of them are 0 */
  if (g->nparts > MOST_PIECES || ambit__grid_recut(g, weights, &moved)) return 1;
  recuts += moved;
  return 0;
}

void program_play(const program_plan *p, const play_mode *mode, outcome *o)
{
  stage s = {.p = p, .sparse = mode->sparse};
  char count[16];

  memset(o, 0, sizeof *o);
  setenv("AMBIT_MPI", strcmp(mode->device, "ref") ? "auto" : "off", 1); /* ref has one part */
  s.a = ambit_open(NULL, NULL);
  if (s.a && s.a->net) slow_net_wrap(&s.a->net, getenv("SLOW_NETWORK"));
  snprintf(count, sizeof count, "%d", mode->threads);
  ambit_on_error(s.a, NULL, NULL);
  ambit_option_set(s.a, "devices", mode->device);
  ambit_option_set(s.a, "strict", mode->strict ? "1" : "0");
  if (mode->check) ambit_option_set(s.a, "check", "1");
  ambit_option_set(s.a, "sleep", mode->sleep ? "on" : "auto");
  ambit_option_set(s.a, "nan", mode->nan ? "1" : "0");
  ambit_option_set(s.a, "threads", count);
  if (mode->plan) ambit_option_set(s.a, "plan", mode->plan);
  ambit_option_set(s.a, "cache", mode->cache);
  ambit_option_set(s.a, "verbose", "-1");
  ambit_option_set(s.a, "lean", p->seed / 11 % 3 && strcmp(mode->device, "ref") ? "on" : "off");
  if (mode->checkpoint) ambit_checkpoint(s.a, mode->checkpoint, mode->every);
  choose_parts(s.a, p, mode->device, mode->sparse);
  if (mode->sparse) choose_storage(s.a, p);
  make_objects(&s, !mode->nan, mode->sparse);
  make_program(&s);
  if (mode->recut && s.program)
    ambit_on_iteration(s.program, 1 + (int64_t)(p->seed / 5 % 3), recut, (void *)p);
  for (int i = 0; i < p->nactions && !ambit_error(s.a); i++) {
    act(&s, &p->actions[i], i);
    if (mode->sparse && i == p->nactions / 2 && p->seed % 2) activate_others(&s);
  }
  if (p->is_quiet && !ambit_error(s.a))
    act(&s, &(action){DO_REST, 30, 1 + (int64_t)(p->seed % 3), 0, 0, 0}, 0);
  collect(&s, o);
  ambit_close(s.a);
}

void outcome_free(outcome *o)
{
  for (int i = 0; i < MOST_FIELDS; i++)
    free(o->values[i]);
  free(o->rows);
}
