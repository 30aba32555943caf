/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of the strategy `fused`, run on a simulated GPU: several iterations in one launch must
 * give what the reference device gives one by one. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS, mkdtemp */
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "simulated.h"
#include "support/draw.h"

enum { MOST_PLANS = 64, MOST_SLOTS = AMBIT__FUSE_SLOTS };

static ambit *context;

/* ---- programs ---- */

typedef struct sample {
  const char *name;
  const char *kernels[2];
  int ndims; /* 0: 2 */
  int nfields;
  const char *args[2];  /* by kernel: a letter per argument, a field, or k for a number */
  const char *turns[2]; /* fields that rotate after the steps */
  ambit_type type;
  int components;
  bool sums; /* the result may be rounded in another way */
} sample;

static const sample samples[] = {
    {.name = "star",
     .kernels = {"void star(const float *u, float *v)\n"
                 "{ *v = 0.3f * *u + 0.1f * u[-1][0] + 0.2f * u[1][0] + 0.15f * u[0][-1] + 0.25f * "
                 "u[0][1]; }"},
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "box",
     .kernels =
         {"void box(const double *u, double *v)\n"
          "{ *v = 0.25 * u[-1][-1] + 0.5 * u[1][1] - 0.125 * u[-2][2] + 0.375 * u[0][-1]; }"},
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F64,
     .sums = true},
    {.name = "rule",
     .kernels = {"void rule(const float *u, float *v, float k, max float *m)\n"
                 "{ float a = u[-1][1] * u[0][-1]; if (u[1][0] > k) a = a - *u; else a += 0.5f;\n"
                 "  *v = a + 0.001f * (float)(index(0) + 2 * index(1) + 3 * step()); *m = a; }"},
     .nfields = 2,
     .args = {"abkr"},
     .turns = {"ab"},
     .type = AMBIT_F32},
    {.name = "wave",
     .kernels = {"void wave(const double *u, const double *w, const double *c, double *n)\n"
                 "{ *n = 2 * *u - *w + *c * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }"},
     .nfields = 4,
     .args = {"badc"},
     .turns = {"abc"},
     .type = AMBIT_F64},
    {.name = "grow",
     .kernels = {"void grow(const float *u, const float *v, float *p, float *q)\n"
                 "{ float r = *u * *v * *v; *p = *u + 0.16f * (u[-1][0] + u[1][0] + u[0][-1] + "
                 "u[0][1] - 4 * *u) - r;\n"
                 "  *q = *v + 0.08f * (v[-1][0] + v[1][0] + v[0][-1] + v[0][1] - 4 * *v) + r; }"},
     .nfields = 4,
     .args = {"abcd"},
     .turns = {"ac", "bd"},
     .type = AMBIT_F32},
    {.name = "field",
     .kernels = {"void electric(const float *h, float *x, float *y)\n"
                 "{ *x += 0.5f * (*h - h[-1][0]); *y -= 0.5f * (*h - h[0][-1]); }",
                 "void magnetic(const float *x, const float *y, float *h)\n"
                 "{ *h += 0.7f * (x[1][0] - *x + *y - y[0][1]); }"},
     .nfields = 3,
     .args = {"abc", "bca"},
     .type = AMBIT_F32},
    {.name = "vector",
     .kernels =
         {"void vector(const int *f[3], int *g[3])\n"
          "{ *g[0] = f[0][-1][0] + f[1][0][2]; *g[2] = f[2][0][-1] ^ f[0][1][1]; if (*f[1] > "
          "9) *g[1] = f[1][2][0]; }"},
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_I32,
     .components = 3},
    {.name = "life",
     .kernels = {"void life(const unsigned char *u, unsigned char *v)\n"
                 "{ int n = u[-1][-1] + u[-1][0] + u[-1][1] + u[0][-1] + u[0][1] + u[1][-1] + "
                 "u[1][0] + u[1][1];\n"
                 "  *v = n % 8 == 3 || (n % 8 == 2 && *u % 2); }"},
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_U8},
    {.name = "star3",
     .kernels = {"void star3(const float *u, float *v)\n"
                 "{ *v = 0.3f * *u + 0.1f * u[-1][0][0] + 0.15f * u[1][0][0] + 0.05f * u[0][-1][0] "
                 "+ 0.12f * u[0][1][0] + 0.2f * u[0][0][-1] + 0.08f * u[0][0][1]; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "box3",
     .kernels = {"void box3(const float *u, float *v)\n"
                 "{ *v = 0.3f * u[-1][-1][-1] + 0.1f * u[1][1][1] + 0.15f * u[1][-1][0] + 0.05f * "
                 "u[-1][1][0] + 0.12f * u[0][1][-1] + 0.2f * u[0][-1][1] + 0.08f * *u; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "wide3",
     .kernels = {"void wide3(const double *u, double *v)\n"
                 "{ *v = 0.3 * *u + 0.1 * u[-2][0][0] + 0.15 * u[2][0][0] + 0.05 * u[0][-2][0] + "
                 "0.12 * u[0][1][0] + 0.2 * u[0][0][-2] + 0.08 * u[0][2][0]; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F64,
     .sums = true},
    {.name = "skew3", /* rows of other groups in the lowest plane, and in no other */
     .kernels = {"void skew3(const float *u, float *v)\n"
                 "{ *v = 0.5f * u[-1][1][0] + 0.25f * u[-1][-2][1] + 0.125f * u[1][0][-1]; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "rule3",
     .kernels =
         {"void rule3(const float *u, float *v, float k, max float *m)\n"
          "{ float a = u[-1][1][1] * u[0][-1][0]; if (u[1][0][-1] > k) a = a - *u; else a += "
          "0.5f;\n"
          "  *v = a + 0.001f * (float)(index(0) + 2 * index(1) + 5 * index(2) + 3 * step()); "
          "*m = a; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"abkr"},
     .turns = {"ab"},
     .type = AMBIT_F32},
    {.name = "wave3",
     .kernels = {"void wave3(const double *u, const double *w, const double *c, double *n)\n"
                 "{ *n = 2 * *u - *w + *c * (u[-1][0][0] + u[1][0][0] + u[0][-1][0] + u[0][1][0] + "
                 "u[0][0][-1] + u[0][0][1] - 6 * *u); }"},
     .ndims = 3,
     .nfields = 4,
     .args = {"badc"},
     .turns = {"abc"},
     .type = AMBIT_F64},
    {.name = "field3",
     .kernels = {"void electric3(const float *h, float *x, float *y)\n"
                 "{ *x += 0.5f * (*h - h[0][-1][0]); *y -= 0.5f * (*h - h[-1][0][-1]); }",
                 "void magnetic3(const float *x, const float *y, float *h)\n"
                 "{ *h += 0.7f * (x[0][1][0] - *x + *y - y[1][1][0]); }"},
     .ndims = 3,
     .nfields = 3,
     .args = {"abc", "bca"},
     .type = AMBIT_F32},
    {.name = "life3",
     .kernels = {"void life3(const unsigned char *u, unsigned char *v)\n"
                 "{ int n = u[-1][-1][0] + u[-1][0][1] + u[0][1][1] + u[0][-1][-1] + u[1][1][1] + "
                 "u[1][0][-1];\n"
                 "  *v = n % 8 == 3 || (n % 8 == 2 && *u % 2); }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_U8},
};

typedef struct trial {
  const sample *s;
  int ndims;
  int64_t extents[3];
  ambit_boundary kind[3][2];
  int depth;
  int plan; /* one that runs in any case */
  bool strict;
} trial;

/* The values of a field. */
typedef struct filling {
  uint64_t seed;
  int ndims;
  const int64_t *extents;
} filling;

/* Beside faces all fields have the same values: steps do not compute all of these cells. */
static double fill_noise(const int64_t *cell, int component, void *user)
{
  const filling *f = user;
  uint64_t seed = f->seed, at = 0;

  for (int d = 0; d < f->ndims; d++) {
    if (cell[d] < 3 || cell[d] >= f->extents[d] - 3) seed = 0;
    at = at * 4099 + (uint64_t)cell[d];
  }
  return noise(at * 5 + (uint64_t)component + seed) * 30;
}

static double fill_fraction(const int64_t *cell, int component, void *user)
{
  return fill_noise(cell, component, user) / 30;
}

static void append(ambit_program *p, const sample *s, int k, ambit_field **fields,
                   ambit_scalar *scalar)
{
  ambit_kernel *kernel = ambit_kernel_create(context, s->kernels[k]);
  ambit_arg args[8];
  int n = 0;

  for (const char *a = s->args[k]; *a; a++)
    args[n++] = *a == 'k'   ? ambit_arg_number(0.4)
                : *a == 'r' ? ambit_arg_scalar(scalar)
                            : ambit_arg_field(fields[*a - 'a']);
  ambit_apply_args(p, kernel, n, args);
}

static ambit_program *make_program(const trial *t, ambit_field **fields)
{
  const sample *s = t->s;
  ambit_grid *g = ambit_grid_create(context, t->ndims, t->extents);
  ambit_program *p = ambit_program_create(g);
  ambit_scalar *scalar = ambit_scalar_create(context, "m", AMBIT_F32);

  for (int i = 0; i < s->nfields; i++) {
    filling values = {(uint64_t)i << 40, t->ndims, t->extents};
    char name[2] = {(char)('a' + i), 0};

    fields[i] = s->components
                    ? ambit_field_create_vector(g, name, s->type, s->components, AMBIT_SOA)
                    : ambit_field_create(g, name, s->type);
    for (int d = 0; d < t->ndims; d++)
      for (int side = 0; side < 2; side++)
        ambit_field_boundary(fields[i], AMBIT_FACE(d, side), t->kind[d][side], 3 + d + 2 * side);
    ambit_field_fill(fields[i], ambit__type_is_real(s->type) ? fill_fraction : fill_noise, &values);
  }
  for (int k = 0; k < 2 && s->kernels[k]; k++)
    append(p, s, k, fields, scalar);
  for (int k = 0; k < 2 && s->turns[k]; k++) {
    ambit_field *list[4];
    int n = 0;

    for (const char *a = s->turns[k]; *a; a++)
      list[n++] = fields[*a - 'a'];
    ambit_rotate(p, n, list);
  }
  CHECK_MSG(!ambit__program_seal(p), "%s", ambit_error_text(context));
  return p;
}

/* ---- launches ---- */

/* The fields of a run: their first values, those of the reference at the end, and the memory of the
 * simulated device. */
typedef struct memory {
  unsigned char *first, *expected;
  twin twin;
} memory;

static memory memories[MOST_SLOTS];

static ambit__store *store_of(const ambit_program *p, const ambit__fused *f, int slot)
{
  return &p->fields[slot < p->nfields ? slot : f->plan.spare_of[slot - p->nfields]]->stores[0];
}

static unsigned char *copy_of(const ambit__store *s)
{
  unsigned char *bytes = malloc(s->layout.bytes);

  memcpy(bytes, ambit__host_base(s->buffer), s->layout.bytes);
  return bytes;
}

static void restore(ambit_program *p)
{
  for (int i = 0; i < p->nfields; i++)
    memcpy(ambit__host_base(p->fields[i]->stores[0].buffer), memories[i].first,
           p->fields[i]->stores[0].layout.bytes);
  p->iteration = STEP;
}

static long long operand(const ambit_program *p, const ambit__fused *f,
                         const ambit__gpucode_slot *s)
{
  const ambit__fuse_operand *o = &f->plan.operands[s->param];
  const ambit__layout *l = o->slot < 0 ? NULL : &store_of(p, f, o->slot)->layout;

  switch (s->kind) {
  case SLOT_MEMORY: return (long long)(intptr_t)memories[o->slot].twin.base;
  case SLOT_ORIGIN: return l->origin;
  case SLOT_STRIDE: return l->stride[s->axis];
  case SLOT_COMPONENT: return l->component;
  case SLOT_VALUE:
    return (long long)(intptr_t)ambit__host_base(p->applies[o->step].args[o->arg].value);
  case SLOT_HI:
  case SLOT_EXTENT: return p->grid->box.hi[s->axis];
  case SLOT_STEP: return STEP;
  default: return 0;
  }
}

static void run_fused(const ambit_program *p, const ambit__fused *f, const ambit__plan *plan)
{
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];
  const int n = ambit__gpucode_slots(&f->group, slots);
  long long args[AMBIT__GPUCODE_SLOTS], blocks[3];
  ambit__writer w = {0};
  ambit__shape shape;
  simulated *run;
  char *source;
  void *library;

  plan->strategy->emit(&f->group, &gpu, plan, &w);
  source = ambit__writer_finish(&w);
  library = compile(source, false);
  CHECK_MSG(library != NULL, "not compiled:\n%s", source);
  if (getenv("FUSED_SHOW")) puts(source);
  free(source);
  if (!library) return;
  plan->strategy->shape(&f->group, plan, &p->grid->box, &shape);
  shape.blocks[1] = 2 + 1 + p->grid->box.hi[0] % 3; /* several chunks */
  for (int i = 0; i < 3; i++)
    blocks[i] = shape.blocks[i];
  for (int i = 0; i < n; i++)
    args[i] = operand(p, f, &slots[i]);
  *(void **)&run = dlsym(library, "simulate");
  CHECK(run(blocks, shape.threads, args));
  dlclose(library);
}

/* ---- comparison ---- */

static bool is_close(double a, double b, double size)
{
  return a == b || fabs(a - b) <= size * (fabs(a) + fabs(b) + 1) || (isnan(a) && isnan(b));
}

static bool compare_cell(const trial *t, const ambit_program *p, int field, const int64_t *cell,
                         const char *plan, bool sums)
{
  const ambit__layout *l = &p->fields[field]->stores[0].layout;
  const unsigned char *now = ambit__host_base(p->fields[field]->stores[0].buffer);
  const size_t size = ambit_type_size(l->type);
  bool good = true;

  for (int c = 0; c < l->components && good; c++) {
    const size_t at = (size_t)(ambit__layout_at(l, cell) + c * l->component) * size;
    const ambit__value a = ambit__value_load(now + at, l->type);
    const ambit__value b = ambit__value_load(memories[field].expected + at, l->type);

    good = sums && t->s->sums ? is_close(a.real, b.real, l->type == AMBIT_F32 ? 1e-5 : 1e-13)
                              : !memcmp(now + at, memories[field].expected + at, size);
    CHECK_MSG(
        good,
        "%s %s, %dx%dx%d, boundaries %d %d %d %d %d %d, field %c, cell %d %d %d component %d: "
        "%g, not %g",
        t->s->name, plan, (int)t->extents[0], (int)t->extents[1], (int)t->extents[2], t->kind[0][0],
        t->kind[0][1], t->kind[1][0], t->kind[1][1], t->kind[2][0], t->kind[2][1], 'a' + field,
        (int)cell[0], (int)cell[1], (int)cell[2], c,
        ambit__type_is_real(l->type) ? a.real : (double)a.integer,
        ambit__type_is_real(l->type) ? b.real : (double)b.integer);
  }
  return good;
}

static void compare_field(const trial *t, const ambit_program *p, int field, const char *plan,
                          bool sums)
{
  const int x = t->ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS];

  ambit__box_first(&p->grid->box, cell);
  do
    for (cell[x] = 0; cell[x] < t->extents[x]; cell[x]++)
      if (!compare_cell(t, p, field, cell, plan, sums)) return;
  while (cell[x] = 0, ambit__box_next_row(&p->grid->box, cell));
}

static void run_plan(const trial *t, ambit_program *p, const ambit__fused *f,
                     const ambit__plan *plan, bool at_end)
{
  ambit__text line = {0};

  plan->strategy->describe(plan, &line);
  restore(p);
  for (int i = 0; i < f->plan.nslots; i++) {
    memories[i].twin.store = *store_of(p, f, i);
    CHECK(guard(&memories[i].twin, at_end));
  }
  run_fused(p, f, plan);
  for (int i = 0; i < p->nfields; i++)
    memcpy(ambit__host_base(p->fields[i]->stores[0].buffer), memories[f->plan.after[i]].twin.base,
           p->fields[i]->stores[0].layout.bytes);
  for (int i = 0; i < f->plan.nslots; i++)
    munmap(memories[i].twin.mapped, memories[i].twin.bytes);
  p->iteration = STEP + t->depth;
  CHECK_MSG(!ambit_run(p, 1), "%s", ambit_error_text(context));
  for (int i = 0; i < p->nfields; i++)
    compare_field(t, p, i, line.chars, plan->sums);
  ambit__text_free(&line);
}

/* Runs a program with some of the plans. Returns the number of runs. */
static int check_trial(const trial *t)
{
  ambit__fused *f = calloc(1, sizeof *f);
  ambit_field *fields[8];
  ambit__plan plans[MOST_PLANS];
  ambit_program *p;
  const char *why;
  int n = 0, runs = 0;

  ambit_option_set(context, "strict", t->strict ? "1" : "0");
  p = make_program(t, fields);
  why = ambit__fuse_group(p, t->depth, f);
  CHECK_MSG(!why, "%s: %s", t->s->name, why);
  if (!why) n = ambit__strategy_fused.candidates(&f->group, &gpu, plans, MOST_PLANS);
  for (int i = 0; n && i < p->nfields; i++)
    memories[i].first = copy_of(&p->fields[i]->stores[0]);
  if (n) {
    p->iteration = STEP;
    CHECK_MSG(!ambit_run(p, t->depth + 1), "%s", ambit_error_text(context));
  }
  for (int i = 0; n && i < p->nfields; i++)
    memories[i].expected = copy_of(&p->fields[i]->stores[0]);
  for (int i = 0; i < n; i++)
    if (i == 0 || i == n - 1 || plans[i].sums != plans[i - 1].sums || i == t->plan % n) {
      run_plan(t, p, f, &plans[i], i % 2);
      runs++;
    }
  for (int i = 0; n && i < p->nfields; i++) {
    free(memories[i].first);
    free(memories[i].expected);
  }
  free(f->plan.after);
  free(f);
  return runs;
}

/* ---- tests ---- */

static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_REFLECT, AMBIT_SYMMETRIC, AMBIT_CLAMP,
                                       AMBIT_FIXED};

static void draw_boundaries(trial *t)
{
  for (int d = 0; d < t->ndims; d++) {
    const bool periodic = draw(3) == 0;

    for (int side = 0; side < 2; side++)
      t->kind[d][side] = periodic ? AMBIT_PERIODIC : kinds[draw(5)];
  }
}

static void open_context(void)
{
  context = ambit_open(NULL, NULL);
  ambit_option_set(context, "devices", "ref");
  CHECK_MSG(!ambit_error(context), "%s", ambit_error_text(context));
}

static trial draw_trial(const sample *s)
{
  trial t = {.s = s, .ndims = s->ndims ? s->ndims : 2, .strict = draw(2)};

  if (t.ndims == 2) {
    t.extents[0] = 20 + draw(60);
    t.extents[1] = 30 + draw(500);
  } else {
    t.extents[0] = 5 + draw(40);
    t.extents[1] = 10 + draw(70);
    t.extents[2] = 10 + draw(90);
  }
  t.depth = 2 + (int)draw(t.ndims == 2 ? 4 : 3);
  t.plan = (int)draw(1000);
  draw_boundaries(&t);
  return t;
}

static void programs(void)
{
  const int nsamples = (int)(sizeof samples / sizeof *samples);
  const char *only = getenv("FUSED_SAMPLE"), *times = getenv("FUSED_TIMES");
  const char *seed = getenv("FUSED_SEED");
  int runs = 0;

  state = seed ? (uint64_t)atoi(seed) : 7;
  for (int i = 0; i < (times ? atoi(times) : 2) * nsamples; i++) {
    const trial t = draw_trial(&samples[i % nsamples]);

    if (only && strcmp(only, t.s->name)) continue;
    open_context();
    runs += check_trial(&t);
    ambit_close(context);
  }
  printf("# %d runs\n", runs);
  CHECK(runs > nsamples || only);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {{"programs", programs}, {0}};
  char command[PATH_SIZE + 32];
  int bad;

  if (system("c++ --version > /dev/null 2>&1")) {
    printf("# skipped: there is no C++ compiler\n");
    return 77;
  }
  snprintf(folder, sizeof folder, "/tmp/ambit-fused-XXXXXX");
  if (!mkdtemp(folder) || !precompile_warp()) return 1;
  bad = test_main(argc, argv, tests);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command) || bad;
}
