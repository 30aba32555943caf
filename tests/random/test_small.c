/* SPDX-License-Identifier: BSD-3-Clause */
/* Small random programs of a few kernels, against ref: calls of programs, callbacks that set fields
 * and scalars and run other programs, runs until nothing changes. All steps are drawn from one list
 * of kernels, so that compiled code is reused and thousands of programs run in a minute.
 *
 *   test_small                            the fixed set
 *   test_small --seed 0x... [--count n]   other programs, to search for mistakes or run one
 *   test_small --seed 0x... --print       prints the program
 *   test_small --device cpu*3             on another device than cpu
 *   test_small --sparse                   on sparse grids; some faces have the constant NaN
 *   mpirun -n 2 test_small --mixed        process 1 sets an option that all must have in common:
 *                                         all get the error, and none waits for another
 */
#define _XOPEN_SOURCE 700
#include "device/device.h"
#include "random/program.h"
#include "runtime/program/program.h"
#include "support/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIELDS = 4,
  SCALARS = 2, /* s0: reductions and the user; s1: a kernel on scalars, and the user */
  STEPS = 7,
  ACTIONS = 4,
  CELLS = 2048,
  COMPONENTS = 2,
  TEXT = 600
};

static const char *device = "cpu"; /* the device under test */
static bool sparse, mixed;

/* ---- small tiles ---- */

void __wrap_ambit__tile_size(int ndims, ambit__tile_worker worker, int64_t *size);

/* The linker replaces ambit__tile_size by this. Threads share no cache line of a row. */
void __wrap_ambit__tile_size(int ndims, ambit__tile_worker worker, int64_t *size)
{
  (void)worker;
  for (int d = 0; d < ndims - 1; d++)
    size[d] = 3 + d;
  size[ndims - 1] = 16;
}

/* ---- kernels ---- */

/* $v is the cell of a field, $u< $u> its neighbours along the last axis, $u^ $u_ along the first.
 * `each` is done for every component, `all` for the first. */
typedef struct rule {
  const char *params; /* T is the type, [] the components */
  const char *each, *all;
  int fields;     /* the first parameters are so many fields, the last of them written */
  bool runs_once; /* on scalars */
  bool real;      /* only with real numbers */
  int scalar;     /* argument behind the fields; -1: none */
} rule;

static const rule rules[] = {
    {"const T *u[], T *v[]", "T m = $u< < $u> ? $u< : $u>; $v = $u < m + 1 ? $u : m + 1;", "", 2, 0,
     0, -1},
    {"const T *u[], T *v[]", "$v = $u > $u^ ? $u : $u^;", "", 2, 0, 0, -1},
    {"const T *u[], T *v[]", "$v = $u;", "", 2, 0, 0, -1},
    {"const T *u[], T *v[]", "$v = $v < $u ? $v : $u;", "", 2, 0, 0, -1},
    {"const T *u[], T *v[]", "$v += $u> > $v ? 1 : 0;", "", 2, 0, 0, -1},
    {"const T *u[], T *v[]", "if ($u_ > 2) $v = $u_ - 1;", "", 2, 0, 0, -1},
    {"T *v[]", "$v = $v > 0 ? $v - 1 : $v;", "", 1, 0, 0, -1},
    {"T *v[]", "$v = 7 - $v;", "", 1, 0, 0, -1},
    {"T *v[]", "$v = step() < 6 ? $v + 1 : $v;", "", 1, 0, 0, -1},
    {"const T *u[], T *v[], min T *s", "$v = $u > $u< ? $u : $u<;", "*s = $v;", 2, 0, 0, 0},
    {"const T *u[], T *v[], max T *s", "$v = $v > 3 ? 3 : $v;", "*s = $u;", 2, 0, 0, 0},
    {"const T *u[], sum T *s", "", "*s = $u> - $u;", 1, 0, 0, 0},
    {"T *v[], T s", "$v = $v < s ? $v : s;", "", 1, 0, 0, 0},
    {"const T *u[], T *v[], T s", "$v = $u + (s > 2 ? 1 : 0);", "", 2, 0, 0, 1},
    {"T *s", "", "*s = *s > 4 ? *s : *s + 1;", 0, 1, 0, 1},
    {"const T *u[], T *v[]", "$v = $v / ($u - 2);", "", 2, 0, 1, -1},
    {"const T *u[], T *v[]", "$v = -$u;", "", 2, 0, 1, -1},
    {"const T *u[], T *v[]", "$v = -fma($u, $v, $u>);", "", 2, 0, 1, -1},
};
enum { RULES = sizeof rules / sizeof *rules };

/* ---- the program ---- */

typedef enum kind { APPLY, ROTATE, COPY, CALL } kind;

typedef struct step {
  kind kind;
  int rule, n, f[3]; /* fields */
  bool boxed;
  int64_t lo[2], hi[2], every;
} step;

enum { RUN, REST, UNTIL, WRITE, SET, FILL, OTHER, NOTHING };

typedef struct deed {
  int what; /* RUN, ... */
  int object;
  int64_t n;
  double value;
} deed;

/* The program `outer` calls `inner`, if it has steps; callbacks may run `other`. */
enum { OUTER, INNER, OTHERS, PROGRAMS };

typedef struct plan {
  uint64_t seed;
  int ndims, components;
  int64_t extents[2];
  ambit_type type;
  ambit_order order;
  ambit_boundary kind[FIELDS][2][2];
  double value[FIELDS][2][2];
  bool given[FIELDS];
  bool wild; /* values may be infinite or NaN */
  int nsteps[PROGRAMS];
  step steps[PROGRAMS][STEPS];
  int64_t calls;           /* iterations of a call */
  int64_t every[PROGRAMS]; /* of callbacks; 0: none */
  int64_t check_every;
  int nactions;
  deed actions[ACTIONS];
} plan;

static double any_value(dice *d, const plan *p)
{
  if (p->wild && dice_chance(d, 4) && p->type != AMBIT_I32)
    return dice_chance(d, 50) ? NAN : -(double)INFINITY;
  if (p->type != AMBIT_I32 && dice_chance(d, 8)) return -0.0;
  return dice_between(d, -3, 9);
}

static step any_step(dice *d, const plan *p, bool calls)
{
  step s = {.every = dice_chance(d, 8) ? 2 : 1};
  const int luck = dice_below(d, 100);

  s.kind = luck < 65 ? APPLY : luck < 90 ? ROTATE : luck < 95 || !calls ? COPY : CALL;
  do
    s.rule = dice_below(d, RULES);
  while (rules[s.rule].real && p->type == AMBIT_I32);
  s.n = s.kind == APPLY ? rules[s.rule].fields : s.kind == ROTATE ? dice_between(d, 2, 3) : 2;
  s.f[0] = dice_below(d, FIELDS);
  for (int i = 1; i < s.n; i++)
    s.f[i] = (s.f[i - 1] + dice_between(d, 1, FIELDS - 2)) % FIELDS;
  if (s.n == 3 && s.f[2] == s.f[0]) s.n = 2;
  s.boxed = dice_chance(d, 25);
  for (int i = 0; i < p->ndims; i++) {
    s.lo[i] = dice_below(d, (int)p->extents[i]);
    s.hi[i] = dice_between(d, (int)s.lo[i] + 1, (int)p->extents[i]);
  }
  if (s.kind == ROTATE) s.every = 1;
  return s;
}

static deed any_deed(dice *d, const plan *p, bool runs)
{
  deed a = {.what = runs ? (int)dice_below(d, UNTIL + 1) : (int)dice_between(d, WRITE, NOTHING)};

  a.object = a.what == SET ? dice_below(d, SCALARS) : dice_below(d, FIELDS);
  a.n = dice_chance(d, 10) ? dice_between(d, 60, 140) : dice_between(d, 1, 12);
  if (a.what == REST) a.n = dice_between(d, 10, 40);
  a.value = any_value(d, p);
  return a;
}

static void make_fields(dice *d, plan *p)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_CLAMP, AMBIT_CONSTANT,
                                         AMBIT_REFLECT};

  for (int f = 0; f < FIELDS; f++) {
    p->given[f] = !f || dice_chance(d, 80);
    for (int i = 0; i < 2; i++) {
      const bool wraps = dice_chance(d, 35);

      for (int side = 0; side < 2; side++) {
        p->kind[f][i][side] = wraps ? AMBIT_PERIODIC : kinds[dice_below(d, 4)];
        p->value[f][i][side] = any_value(d, p);
        if (sparse && p->type != AMBIT_I32 && dice_chance(d, 20)) p->value[f][i][side] = NAN;
      }
    }
  }
}

static void plan_make(plan *p, uint64_t seed)
{
  static const ambit_type types[] = {AMBIT_I32, AMBIT_F32, AMBIT_F64};
  dice d = {.state = ~seed * 0x9e3779b97f4a7c15u};

  memset(p, 0, sizeof *p);
  p->seed = seed;
  p->ndims = dice_between(&d, 1, 2);
  p->components = dice_chance(&d, 25) ? COMPONENTS : 1;
  p->order = dice_chance(&d, 50) ? AMBIT_AOS : AMBIT_SOA;
  p->type = types[dice_below(&d, 3)];
  p->wild = p->type != AMBIT_I32 && dice_chance(&d, 30);
  p->extents[0] = p->ndims == 1 ? dice_between(&d, 1, 150) : dice_between(&d, 1, 12);
  p->extents[1] = p->ndims == 1 ? 1 : dice_between(&d, 1, 70);
  make_fields(&d, p);
  p->nsteps[OUTER] = dice_between(&d, 1, STEPS - 1);
  p->nsteps[OTHERS] = dice_between(&d, 1, 2);
  for (int i = 0; i < p->nsteps[OUTER]; i++) {
    p->steps[OUTER][i] = any_step(&d, p, true);
    if (p->steps[OUTER][i].kind == CALL && !p->nsteps[INNER])
      p->nsteps[INNER] = dice_between(&d, 1, 3);
  }
  for (int i = 0; i < p->nsteps[INNER]; i++)
    p->steps[INNER][i] = any_step(&d, p, false);
  for (int i = 0; i < p->nsteps[OTHERS]; i++)
    p->steps[OTHERS][i] = any_step(&d, p, false);
  p->calls = dice_between(&d, 0, 3);
  p->every[OUTER] = dice_chance(&d, 40) ? dice_between(&d, 1, 5) : 0;
  p->every[INNER] = dice_chance(&d, 60) ? dice_between(&d, 1, 3) : 0;
  p->check_every = dice_chance(&d, 60) ? 1 : dice_between(&d, 2, 7);
  p->nactions = dice_between(&d, 1, ACTIONS);
  for (int i = 0; i < p->nactions; i++)
    p->actions[i] = any_deed(&d, p, dice_chance(&d, 75));
  p->actions[p->nactions - 1] = any_deed(&d, p, true);
}

/* ---- texts ---- */

/* Writes one statement for a component. */
static char *write_statement(char *to, const plan *p, const char *text, int component)
{
  static const char marks[] = "<>^_";
  static const char *const offsets[2][4] = {{"[-1]", "[1]", "[-2]", "[2]"},
                                            {"[0][-1]", "[0][1]", "[-1][0]", "[1][0]"}};
  const char *type = ambit_type_name(p->type);
  char place[8] = "";

  if (p->components > 1) snprintf(place, sizeof place, "[%d]", component);
  for (; *text; text++) {
    const char *mark = *text == '$' && text[2] ? strchr(marks, text[2]) : NULL;

    if (*text == '$' && mark && text[2] != ' ')
      to += sprintf(to, "%c%s%s", text[1], place, offsets[p->ndims - 1][mark - marks]);
    else if (*text == '$')
      to += sprintf(to, "(*%c%s)", text[1], place);
    else if (*text == 'T')
      to += sprintf(to, "%s", type);
    else
      *to++ = *text;
    if (*text == '$') text += mark && text[2] != ' ' ? 2 : 1;
  }
  *to = 0;
  return to;
}

static void write_rule(const plan *p, int number, char *to)
{
  const rule *r = &rules[number];
  char params[TEXT];

  write_statement(params, p, r->params, 0);
  to += sprintf(to, "void k%d(", number);
  for (const char *c = params; *c; c++)
    if (*c == '[' && p->components == 1)
      c++;
    else if (*c == '[')
      to += sprintf(to, "[%d", p->components);
    else
      *to++ = *c;
  to += sprintf(to, ")\n{\n");
  for (int c = 0; c < p->components && *r->each; c++) {
    to += sprintf(to, "  { ");
    to = write_statement(to, p, r->each, c);
    to += sprintf(to, " }\n");
  }
  to = write_statement(to, p, r->all, 0);
  sprintf(to, "}\n");
}

static void print_step(const plan *p, const step *s)
{
  static const char *const words[] = {"k", "rotate", "copy", "call inner"};

  printf("  %s", words[s->kind]);
  if (s->kind == APPLY) printf("%d", s->rule);
  for (int i = 0; i < s->n && s->kind != CALL; i++)
    printf(" f%d", s->f[i]);
  for (int i = 0; i < p->ndims && (s->boxed || s->kind == COPY); i++)
    printf(" %" PRId64 "..%" PRId64, s->lo[i], s->hi[i]);
  printf("%s\n", s->every > 1 ? " every 2" : "");
}

static void plan_print(const plan *p)
{
  static const char *const names[] = {"outer", "inner", "other"};
  static const char *const deeds[] = {"run", "rest", "until", "write", "set", "fill", "other", "-"};
  char text[4 * TEXT];
  bool used[RULES] = {false};

  printf("%dd %" PRId64 "x%" PRId64 " %s x %d %s\n", p->ndims, p->extents[0], p->extents[1],
         ambit_type_name(p->type), p->components, p->order == AMBIT_AOS ? "aos" : "soa");
  for (int f = 0; f < FIELDS; f++) {
    printf("f%d%s:", f, p->given[f] ? "" : " (not given)");
    for (int i = 0; i < p->ndims; i++)
      printf(" %d %g | %d %g,", p->kind[f][i][0], p->value[f][i][0], p->kind[f][i][1],
             p->value[f][i][1]);
    printf("\n");
  }
  for (int k = 0; k < PROGRAMS; k++)
    for (int i = 0; i < p->nsteps[k]; i++)
      if (p->steps[k][i].kind == APPLY) used[p->steps[k][i].rule] = true;
  for (int i = 0; i < RULES; i++)
    if (used[i]) write_rule(p, i, text), printf("%s", text);
  for (int k = 0; k < PROGRAMS; k++) {
    printf("%s, callback every %" PRId64 ":\n", names[k], p->every[k]);
    for (int i = 0; i < p->nsteps[k]; i++)
      print_step(p, &p->steps[k][i]);
  }
  printf("calls of %" PRId64 ", check every %" PRId64 "\n", p->calls, p->check_every);
  for (int i = 0; i < p->nactions; i++)
    printf("%s %d %" PRId64 " %g\n", deeds[p->actions[i].what], p->actions[i].object,
           p->actions[i].n, p->actions[i].value);
}

/* ---- running ---- */

typedef struct mode {
  const char *device, *sleep, *depth, *lean, *overlap;
  int threads, join;
} mode;

typedef struct stage {
  const plan *p;
  ambit *a;
  ambit_grid *g;
  ambit_field *f[FIELDS];
  ambit_scalar *s[SCALARS];
  ambit_program *programs[PROGRAMS];
} stage;

/* The state after an action. */
typedef struct outcome_at {
  bool begun; /* the programs could be made, and actions before it had no errors */
  ambit_status status;
  char story[300];
  int64_t iterations[PROGRAMS];
  int converged;
  double scalars[SCALARS];
  unsigned char values[FIELDS][CELLS * COMPONENTS * 8];
} outcome_at;

static double first_value(const int64_t *i, int component, void *user)
{
  const plan *p = user;
  dice d = {.state =
                p->seed + (uint64_t)(i[0] * 977 + (p->ndims > 1 ? i[1] : 0) * 131 + component)};

  dice_roll(&d);
  return any_value(&d, p);
}

static int is_active(const int64_t *i, void *user)
{
  const plan *p = user;

  return (i[0] * 3 + (p->ndims > 1 ? i[1] : 0)) * 7 % 11 != (int64_t)(p->seed % 11);
}

/* Applies a step to `at`. */
static void append(stage *s, ambit_program *at, const step *x)
{
  const plan *p = s->p;
  ambit_field *fields[3] = {s->f[x->f[0]], s->f[x->f[1]], s->f[x->f[2]]};
  const rule *r = &rules[x->rule];
  ambit_arg args[4];
  char text[4 * TEXT];
  int n = 0;

  if (x->kind == ROTATE) {
    ambit_rotate(at, x->n, fields);
    return;
  }
  if (x->kind == CALL) ambit_call(at, s->programs[INNER], p->calls);
  if (x->kind == COPY) ambit_copy_box(at, fields[0], x->lo, x->hi, fields[1], x->lo);
  if (x->kind == APPLY) {
    write_rule(p, x->rule, text);
    for (; n < r->fields; n++)
      args[n] = ambit_arg_field(fields[n]);
    if (r->scalar >= 0) args[n++] = ambit_arg_scalar(s->s[r->scalar]);
    if (x->boxed && !r->runs_once)
      ambit_apply_box_args(at, x->lo, x->hi, ambit_kernel_create(s->a, text), n, args);
    else
      ambit_apply_args(at, ambit_kernel_create(s->a, text), n, args);
  }
  ambit_step_every(at, x->every);
}

static void do_deed(stage *s, const deed *d)
{
  const plan *p = s->p;
  ambit_program *program = s->programs[OUTER];
  ambit_field *f = s->f[d->object];
  static double values[CELLS * COMPONENTS];
  int64_t hi[2];

  for (int i = 0; i < 2; i++)
    hi[i] = (p->extents[i] + 1) / 2;
  for (int i = 0; i < CELLS * COMPONENTS; i++)
    if (p->type == AMBIT_F64)
      values[i] = i % 5 ? d->value : 2;
    else if (p->type == AMBIT_F32)
      ((float *)values)[i] = (float)(i % 5 ? d->value : 2);
    else
      ((int *)values)[i] = i % 5 ? (int)d->value : 2;
  switch (d->what) {
  case RUN: ambit_run(program, d->n); break;
  case REST: ambit_run_until_still(program, d->n); break;
  case UNTIL:
    if (ambit__program_sets(program, s->s[0]))
      ambit_run_until(program, s->s[0], AMBIT_AT_LEAST, 3, d->n);
    break;
  case WRITE: ambit_field_write(f, NULL, hi, values); break;
  case SET: ambit_scalar_set(s->s[d->object], d->value); break;
  case FILL: ambit_field_set(f, d->value); break;
  case OTHER: ambit_run(s->programs[OTHERS], 1); break;
  case NOTHING: break;
  }
}

static int call_back(ambit_program *program, int64_t iteration, void *user)
{
  stage *s = user;
  dice d = {.state = s->p->seed * 77 + (uint64_t)iteration * 3 + (program == s->programs[INNER])};
  deed a;

  dice_roll(&d);
  a = any_deed(&d, s->p, false);
  do_deed(s, &a);
  return dice_chance(&d, 3);
}

static void make_stage(stage *s)
{
  const plan *p = s->p;

  s->g = sparse ? ambit_grid_create_sparse(s->a, p->ndims, p->extents, is_active, (void *)p)
                : ambit_grid_create(s->a, p->ndims, p->extents);
  for (int f = 0; f < FIELDS; f++) {
    s->f[f] = ambit_field_create_vector(s->g, (const char *[]){"f0", "f1", "f2", "f3"}[f], p->type,
                                        p->components, p->order);
    for (int i = 0; i < p->ndims; i++)
      for (int side = 0; side < 2; side++)
        ambit_field_boundary(s->f[f], AMBIT_FACE(i, side), p->kind[f][i][side],
                             p->value[f][i][side]);
    if (sparse)
      ambit_field_boundary(s->f[f], AMBIT_INACTIVE, f % 2 ? AMBIT_CLAMP : AMBIT_CONSTANT, f);
    if (p->given[f]) ambit_field_fill(s->f[f], first_value, (void *)p);
  }
  for (int i = 0; i < SCALARS; i++) {
    s->s[i] = ambit_scalar_create(s->a, (const char *[]){"s0", "s1"}[i], p->type);
    ambit_scalar_set(s->s[i], i + 1);
  }
  for (int k = 0; k < PROGRAMS; k++)
    s->programs[k] = ambit_program_create(s->g);
  for (int k = 0; k < PROGRAMS; k++)
    for (int i = 0; i < p->nsteps[k]; i++)
      append(s, s->programs[k], &p->steps[k][i]);
  ambit_program_check_every(s->programs[OUTER], p->check_every);
  ambit_run(s->programs[OUTER], 0); /* sealed, so that callbacks can run others */
  ambit_run(s->programs[OTHERS], 0);
  ambit_run(s->programs[OUTER], 0);
  for (int k = 0; k < OTHERS; k++)
    if (p->every[k]) ambit_on_iteration(s->programs[k], p->every[k], call_back, s);
}

static void look(stage *s, outcome_at *o)
{
  snprintf(o->story, sizeof o->story, "%s", ambit_error_text(s->a));
  o->status = ambit_error(s->a);
  ambit_error_clear(s->a);
  for (int k = 0; k < PROGRAMS; k++)
    o->iterations[k] = ambit_program_iterations(s->programs[k]);
  o->converged = ambit_program_converged(s->programs[OUTER]);
  for (int i = 0; i < SCALARS; i++)
    o->scalars[i] = ambit_scalar_get(s->s[i]);
  for (int f = 0; f < FIELDS; f++)
    ambit_field_read(s->f[f], NULL, NULL, o->values[f]);
}

/* On process 1, at some time, in a callback or not: an option that all must have in common. */
static void disagree(const stage *s)
{
  static const char *const options[][2] = {
      {"lean", "on"},  {"lean", "off"},     {"sleep", "on"}, {"sleep", "off"},
      {"depth", "3"},  {"join", "0"},       {"strict", "0"}, {"overlap", "none"},
      {"report", "1"}, {"storage", "list"}, {"trial", "0"}};
  const uint64_t luck = s->p->seed * 0x9e3779b97f4a7c15u >> 33;
  const char *const *o = options[luck % 11];

  if (ambit_process(s->a) != 1) return;
  if (!strcmp(ambit_option_get(s->a, o[0]), o[1])) o = options[(luck + 1) % 11];
  if (!strcmp(ambit_option_get(s->a, o[0]), o[1])) o = options[(luck + 2) % 11];
  ambit_option_set(s->a, o[0], o[1]);
}

static void play(const plan *p, const mode *m, outcome_at *all)
{
  stage s = {.p = p};
  char threads[16];
  int done = 0;

  memset(all, 0, ACTIONS * sizeof *all);
  setenv("AMBIT_MPI", strcmp(m->device, "ref") ? "auto" : "off", 1); /* ref has one part */
  s.a = ambit_open(NULL, NULL);
  snprintf(threads, sizeof threads, "%d", m->threads);
  ambit_on_error(s.a, NULL, NULL);
  ambit_option_set(s.a, "devices", m->device);
  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "verbose", "-1");
  ambit_option_set(s.a, "sleep", m->sleep);
  ambit_option_set(s.a, "depth", m->depth);
  ambit_option_set(s.a, "lean", m->lean);
  ambit_option_set(s.a, "overlap", m->overlap);
  ambit_option_set(s.a, "join", m->join ? "1" : "0");
  ambit_option_set(s.a, "threads", threads);
  make_stage(&s);
  while (done < p->nactions && !ambit_error(s.a)) {
    if (mixed && done == (int)(p->seed % (uint64_t)p->nactions)) disagree(&s);
    all[done].begun = true;
    do_deed(&s, &p->actions[done]);
    if (mixed) ambit_field_read(s.f[0], NULL, NULL, all[done].values[0]);
    look(&s, &all[done]);
    if (all[done++].status) break;
  }
  if (!done) look(&s, &all[0]);
  ambit_close(s.a);
}

/* ---- comparing ---- */

static bool same_value(const plan *p, const void *a, const void *b, int64_t i)
{
  const size_t size = ambit_type_size(p->type);

  if (p->type != AMBIT_I32 && isnan(number_at(a, i, p->type)))
    return isnan(number_at(b, i, p->type));
  return !memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size, size);
}

static bool same_state(const plan *p, int at, const outcome_at *want, const outcome_at *got)
{
  if (want->status != got->status || strcmp(want->story, got->story)) {
    printf("# action %d: ref %s\n# %s %s\n", at + 1, want->story, device, got->story);
    return false;
  }
  if (memcmp(want->iterations, got->iterations, sizeof want->iterations) ||
      want->converged != got->converged) {
    printf("# action %d: ref did %" PRId64 ", %" PRId64 " and %" PRId64 " iterations, %s %" PRId64
           ", %" PRId64 " and %" PRId64 "; converged %d and %d\n",
           at + 1, want->iterations[0], want->iterations[1], want->iterations[2], device,
           got->iterations[0], got->iterations[1], got->iterations[2], want->converged,
           got->converged);
    return false;
  }
  for (int i = 0; i < SCALARS; i++)
    if (!same_value(&(plan){.type = AMBIT_F64}, want->scalars, got->scalars, i)) {
      printf("# action %d: s%d is %g, ref %g\n", at + 1, i, got->scalars[i], want->scalars[i]);
      return false;
    }
  for (int f = 0; f < FIELDS; f++)
    for (int64_t i = 0; i < p->extents[0] * p->extents[1] * p->components; i++)
      if (!same_value(p, want->values[f], got->values[f], i)) {
        printf("# action %d: f%d, value %" PRId64 " is %g, ref %g\n", at + 1, f, i,
               number_at(got->values[f], i, p->type), number_at(want->values[f], i, p->type));
        return false;
      }
  return true;
}

static int failures;

static void check(const plan *p, const mode *m, const outcome_at *want)
{
  static outcome_at got[ACTIONS];

  play(p, m, got);
  for (int i = 0; i < p->nactions; i++)
    if (!same_state(p, i, &want[i], &got[i])) {
      failures++;
      printf("# test_small --device %s --seed 0x%" PRIx64 "%s, with sleep=%s depth=%s lean=%s "
             "overlap=%s join=%d threads=%d\n",
             device, p->seed, sparse ? " --sparse" : "", m->sleep, m->depth, m->lean, m->overlap,
             m->join, m->threads);
      return;
    }
}

/* The error, and the same one on all processes. */
static void check_mixed(const plan *p)
{
  static outcome_at got[ACTIONS];
  const int at = (int)(p->seed % (uint64_t)p->nactions);

  play(p, &(mode){device, "auto", "auto", "auto", "two-way", 1, 1}, got);
  for (int i = 0; i <= at; i++)
    if ((i < at || !got[i].begun) && got[i].status && got[i].status != AMBIT_EOPTION)
      return; /* it failed before */
  if (got[at].status == AMBIT_EOPTION && strstr(got[at].story, "on process 1, but '")) return;
  failures++;
  printf("# test_small --mixed --seed 0x%" PRIx64 ": %s\n", p->seed, got[at].story);
}

static void check_program(uint64_t seed)
{
  static const char *const sleeps[] = {"auto", "on", "off"},
                           *const depths[] = {"1", "2", "4", "auto"},
                           *const overlaps[] = {"none", "standard", "extended", "two-way"};
  static outcome_at want[ACTIONS];
  plan p;

  plan_make(&p, seed);
  if (mixed) {
    check_mixed(&p);
    return;
  }
  play(&p, &(mode){"ref", "off", "1", "off", "none", 1, 0}, want);
  for (int i = 0; i < 3; i++)
    check(&p,
          &(mode){device, sleeps[i], depths[(seed + (uint64_t)i) % 4], seed / 4 % 2 ? "on" : "off",
                  overlaps[seed / 8 % 4], 1 + (int)(seed / 32 % 2), (int)(seed / 3 % 2)},
          want);
}

int main(int argc, char **argv)
{
  uint64_t first = 0x1000, count = 6;
  bool print = false;

  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--print")) print = true;
    if (!strcmp(argv[i], "--sparse")) sparse = true;
    if (!strcmp(argv[i], "--mixed")) mixed = true;
    if (i + 1 < argc && !strcmp(argv[i], "--seed")) first = strtoull(argv[++i], NULL, 0), count = 1;
    if (i + 1 < argc && !strcmp(argv[i], "--count")) count = strtoull(argv[++i], NULL, 0);
    if (i + 1 < argc && !strcmp(argv[i], "--device")) device = argv[++i];
  }
  if (print) {
    plan p;

    plan_make(&p, first);
    plan_print(&p);
    return 0;
  }
  for (uint64_t i = 0; i < count; i++) {
    const int before = failures;

    check_program(first + i);
    if (failures != before) fflush(stdout);
  }
  printf("%sok 1 - programs_0x%" PRIx64 "_to_0x%" PRIx64 "\n1..1\n", failures ? "not " : "", first,
         first + count - 1);
  return failures != 0;
}
