/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of the strategy `fused`, run on a simulated GPU: several iterations in one launch must
 * give what the reference device gives one by one. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS, mkdtemp */
#include "runtime/program/cycle.h"
#include "samples.h"
#include "simulated.h"

enum { MOST_PLANS = 64, MOST_SLOTS = AMBIT__FUSE_SLOTS };

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
  ambit__box row = p->grid->box;
  ambit__shape shape;
  int64_t chunks;
  simulated *run;
  char *source;
  void *library;

  source = ambit__plan_source(&f->group, &gpu, plan);
  library = compile(source, false);
  CHECK_MSG(library != NULL, "not compiled:\n%s", source);
  if (getenv("FUSED_SHOW")) puts(source);
  free(source);
  if (!library) return;
  row.hi[0] = 1; /* a single chunk, and blocks at faces */
  plan->strategy->shape(&f->group, plan, &row, &shape);
  chunks = shape.blocks[1] + p->grid->box.hi[0] % 3;
  plan->strategy->shape(&f->group, plan, &p->grid->box, &shape);
  shape.blocks[1] = chunks;
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

/* The plans of interest: of both forms the first, the last, and one anywhere. make check runs every
 * eighth one of them. */
static bool is_chosen(const trial *t, const ambit__plan *plans, int n, int i)
{
  static int count;
  const bool wanted =
      i == 0 || i == n - 1 || plans[i].sums != plans[i - 1].sums || i == t->plan % n;

  return wanted && (test_takes(count++, 8) || n < 3);
}

/* Runs a program with some of the plans. Returns the number of runs. */
static int check_trial(const trial *t)
{
  ambit__fused *f = calloc(1, sizeof *f);
  ambit_field *fields[8];
  ambit__plan plans[MOST_PLANS];
  ambit_program *p;
  const char *why;
  bool chosen[MOST_PLANS] = {false};
  int n = 0, runs = 0;

  ambit_option_set(context, "strict", t->strict ? "1" : "0");
  p = make_program(t, fields);
  CHECK_MSG(!ambit__program_seal(p), "%s", ambit_error_text(context));
  why = ambit__fuse_group(p, t->depth, f);
  CHECK_MSG(!why, "%s: %s", t->s->name, why);
  if (!why) n = ambit__strategy_fused.candidates(&f->group, &gpu, plans, MOST_PLANS);
  for (int i = 0; i < n; i++)
    runs += chosen[i] = is_chosen(t, plans, n, i);
  if (!runs) n = 0;
  for (int i = 0; n && i < p->nfields; i++)
    memories[i].first = copy_of(&p->fields[i]->stores[0]);
  if (n) {
    p->iteration = STEP;
    CHECK_MSG(!ambit_run(p, t->depth + 1), "%s", ambit_error_text(context));
  }
  for (int i = 0; n && i < p->nfields; i++)
    memories[i].expected = copy_of(&p->fields[i]->stores[0]);
  for (int i = 0; i < n; i++)
    if (chosen[i]) run_plan(t, p, f, &plans[i], i % 2);
  for (int i = 0; n && i < p->nfields; i++) {
    free(memories[i].first);
    free(memories[i].expected);
  }
  ambit__fuse_plan_free(&f->plan);
  free(f);
  return runs;
}

/* ---- tests ---- */

static void open_context(void)
{
  context = ambit_open(NULL, NULL);
  ambit_option_set(context, "devices", "ref");
  CHECK_MSG(!ambit_error(context), "%s", ambit_error_text(context));
}

static void programs(void)
{
  const int nsamples = (int)(sizeof samples / sizeof *samples);
  const char *only = getenv("FUSED_SAMPLE"), *times = getenv("FUSED_TIMES");
  const char *seed = getenv("FUSED_SEED");
  int runs = 0;

  state = seed ? (uint64_t)atoi(seed) : 7;
  for (int i = 0; i < (times ? atoi(times) : 1 + test_takes(1, 2)) * nsamples; i++) {
    const trial t = draw_trial(&samples[i % nsamples]);

    if (only && strcmp(only, t.s->name)) continue;
    open_context();
    runs += check_trial(&t);
    ambit_close(context);
  }
  printf("# %d runs\n", runs);
  CHECK(3 * runs > nsamples || only);
}

/* Compilers that do not know it generate every exchange of values twice. */
static void all_lanes_of_a_warp_have_one_number(void)
{
  static const char index[] = "(int)threadIdx.y", one[] = "ambit_of_warp(";
  const trial t = {.s = sample_named("star"),
                   .ndims = 2,
                   .extents = {40, 300},
                   .kind = {{AMBIT_CLAMP, AMBIT_CLAMP}, {AMBIT_PERIODIC, AMBIT_PERIODIC}},
                   .depth = 2};
  ambit__fused *f = calloc(1, sizeof *f);
  ambit_field *fields[8];
  ambit__plan plan;
  ambit_program *p;
  char *source;
  int n = 0;

  open_context();
  p = make_program(&t, fields);
  CHECK_EQ(AMBIT_OK, ambit__program_seal(p));
  CHECK(!ambit__fuse_group(p, t.depth, f));
  CHECK(ambit__plan_choose(&f->group, &gpu, &plan));
  source = ambit__plan_source(&f->group, &gpu, &plan);
  for (const char *at = strstr(source, "void ambit_kernel("); (at = strstr(at, index)); at++, n++)
    CHECK_MSG(!strncmp(at - strlen(one), one, strlen(one)), "%.60s", at - 30);
  CHECK(n > 0);
  free(source);
  ambit__fuse_plan_free(&f->plan);
  free(f);
  ambit_close(context);
}

/* With exchanges between lanes a block has several warps, which take branches of their own. */
static void opencl_has_warps_where_lanes_exchange_values(void)
{
  const trial t = {.s = sample_named("star"),
                   .ndims = 2,
                   .extents = {40, 300},
                   .kind = {{AMBIT_CLAMP, AMBIT_CLAMP}, {AMBIT_CLAMP, AMBIT_CLAMP}},
                   .depth = 2};
  ambit__fused *f = calloc(1, sizeof *f);
  ambit_field *fields[8];
  ambit_program *p;

  open_context();
  p = make_program(&t, fields);
  CHECK_EQ(AMBIT_OK, ambit__program_seal(p));
  CHECK(!ambit__fuse_group(p, t.depth, f));
  for (int has = 0; has < 2; has++) {
    const ambit__target target = {.kind = TARGET_GPU,
                                  .dialect = &ambit__dialect_opencl,
                                  .threads = 132,
                                  .exchanges = has,
                                  .max_threads = 1024,
                                  .shared = 48 << 10};
    ambit__plan plan;

    CHECK(ambit__plan_choose(&f->group, &target, &plan));
    CHECK_EQ(has ? 4 : 1, plan.threads[1]);
    CHECK(plan.rolled != has);
  }
  ambit__fuse_plan_free(&f->plan);
  free(f);
  ambit_close(context);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"programs", programs},
      {"all_lanes_of_a_warp_have_one_number", all_lanes_of_a_warp_have_one_number},
      {"opencl_has_warps_where_lanes_exchange_values",
       opencl_has_warps_where_lanes_exchange_values},
      {0}};

  return simulated_main(argc, argv, tests);
}
