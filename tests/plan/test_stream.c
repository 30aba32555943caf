/* Kernels of the strategy `stream`, run on the CPU: what is written for CUDA is compiled as C++ with warp.h, whose fibers take the
 * places of threads, and must leave in every byte of memory what the reference device leaves there. Fields lie between
 * pages that nobody may touch. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS, mkdtemp */
#include "base/hash.h"
#include "device/host.h"
#include "plan/gpu.h"
#include "support/test.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern const ambit__backend ambit__backend_ref;
static const ambit__backend *const ref = &ambit__backend_ref;

enum { MOST_PLANS = 16, MOST = 8, STEP = 17, PAGE = 65536, PATH_SIZE = 256 };

static ambit__errors errors;
static ambit__settings settings;
static ambit__device *device;
static ambit__queue *queue;
static char folder[PATH_SIZE]; /* of compiled kernels; warp.h is there too, precompiled */

static const ambit__target gpu = {
    .kind = TARGET_GPU,
    .dialect = &ambit__dialect_cuda,
    .threads = 2,
    .warp = 32,
    .max_threads = 1024,
};

/* ---- memory ---- */

/* Fields of a run: the reference's, and a copy for the simulated device that ends, or begins, at a forbidden page. */
typedef struct twin {
  ambit__store store;
  unsigned char *mapped, *base;
  size_t bytes; /* mapped */
} twin;

static bool guard(twin *t, bool at_end)
{
  const size_t room = (t->store.layout.bytes + PAGE - 1) / PAGE * PAGE;

  t->bytes = room + 2 * PAGE;
  t->mapped = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (t->mapped == MAP_FAILED) return false;
  t->base = t->mapped + PAGE + (at_end ? room - t->store.layout.bytes : 0);
  memcpy(t->base, ambit__host_base(t->store.buffer), t->store.layout.bytes);
  return !mprotect(t->mapped, PAGE, PROT_NONE) &&
         !mprotect(t->mapped + PAGE + room, PAGE, PROT_NONE);
}

static double noise(uint64_t i)
{
  i = (i + 1) * 0x9e3779b97f4a7c15u;
  i ^= i >> 29;
  i *= 0xbf58476d1ce4e5b9u;
  return (double)(i >> 40) / (1 << 24);
}

/* Every byte that is no cell is 0x77: what is read there by mistake shows. */
static void fill(twin *t, int param)
{
  const ambit__layout *l = &t->store.layout;
  const size_t size = ambit_type_size(l->type);
  unsigned char *base = ambit__host_base(t->store.buffer);
  int64_t at[AMBIT_MAX_DIMS];
  uint64_t n = (uint64_t)param << 32;

  memset(base, 0x77, l->bytes);
  ambit__box_first(&l->own, at);
  do
    for (int64_t x = 0; x < l->own.hi[l->own.ndims - 1]; x++)
      for (int c = 0; c < l->components; c++) {
        const double value = noise(n++) * (ambit__type_is_real(l->type) ? 2 : 7);
        int64_t cell[AMBIT_MAX_DIMS];

        memcpy(cell, at, sizeof cell);
        cell[l->own.ndims - 1] = x;
        ambit__value_store(base + (size_t)(ambit__layout_at(l, cell) + c * l->component) * size,
                           l->type, ambit__value_of(value, l->type));
      }
  while (ambit__box_next_row(&l->own, at));
}

/* ---- one run ---- */

/* A rule on a grid. */
typedef struct problem {
  const char *name;
  const char *text; /* NULL: the name is that of the catalogue */
  ambit_type type;  /* of the catalogue's */
  int ndims;
  int64_t extents[4], lo[4], hi[4]; /* hi all 0: everywhere */
  ambit_boundary boundary;
  bool around; /* periodic, and no ghost cells along the last axis */
  bool twins;  /* what is written has a twin, */
  bool ends;   /* which holds the same beside the box */
  /* made from it */
  ambit__rule *rule;
  ambit__binding bind[MOST];
  twin fields[MOST];
  ambit__buffer *values[MOST]; /* the reference's scalars, numbers and reductions */
  int64_t own_values[MOST];    /* and the simulated device's */
  ambit__boundaries boundaries;
  int64_t ended; /* not 0: so is the run, and nothing may change */
} problem;

static ambit__box box_of(const problem *p)
{
  ambit__box b = ambit__box_of_extents(p->ndims, p->extents);

  for (int d = 0; p->hi[0] && d < p->ndims; d++) {
    b.lo[d] = p->lo[d];
    b.hi[d] = p->hi[d];
  }
  return b;
}

static bool is_field(const problem *p, int i)
{
  return p->rule->params[i].kind == PARAM_FIELD;
}

/* Ghost cells that a field has along an axis, for reads so far. */
static int64_t margin(const problem *p, int axis, int reads)
{
  return p->boundary && !(p->around && axis == p->ndims - 1) ? reads : 0;
}

/* Gives a field what its twin holds beside the rows of the box. */
static void copy_ends(const problem *p, int i)
{
  const ambit__box box = box_of(p);
  const ambit__layout *to = &p->fields[i].store.layout;
  const twin *from = &p->fields[p->bind[i].twin - 1];
  const int x = p->ndims - 1;
  const size_t size = ambit_type_size(to->type);
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(&to->own, at);
  do
    for (at[x] = 0; at[x] < p->extents[x]; at[x]++)
      for (int c = 0; c < to->components && (at[x] < box.lo[x] || at[x] >= box.hi[x]); c++)
        memcpy(ambit__host_base(p->fields[i].store.buffer) +
                   (size_t)(ambit__layout_at(to, at) + c * to->component) * size,
               ambit__host_base(from->store.buffer) +
                   (size_t)(ambit__layout_at(&from->store.layout, at) +
                            c * from->store.layout.component) *
                       size,
               size);
  while (at[x] = 0, ambit__box_next_row(&to->own, at));
}

static void make_field(problem *p, int i, bool at_end)
{
  const ambit__param *param = &p->rule->params[i];
  twin *t = &p->fields[i];
  ambit__box reach = ambit__box_of_extents(p->ndims, p->extents);

  t->store = (ambit__store){.layout = {.type = param->type,
                                       .components = param->components,
                                       .own = ambit__box_of_extents(p->ndims, p->extents)}};
  for (int d = 0; d < p->ndims; d++) {
    t->store.layout.margin_lo[d] = margin(p, d, param->low[d]);
    t->store.layout.margin_hi[d] = margin(p, d, param->high[d]);
  }
  CHECK(ambit__layout_make(&t->store.layout));
  CHECK_EQ(AMBIT_OK, ref->alloc(device, t->store.layout.bytes, NULL, &t->store.buffer));
  fill(t, i);
  if (p->ends && p->bind[i].twin) copy_ends(p, i);
  for (int d = 0; d < p->ndims; d++) {
    reach.lo[d] -= margin(p, d, param->low[d]);
    reach.hi[d] += margin(p, d, param->high[d]);
  }
  CHECK_EQ(AMBIT_OK, ambit__host_ghosts(queue, &t->store, &p->boundaries, p->extents,
                                        &t->store.layout.own, &reach));
  CHECK(guard(t, at_end));
}

static void make_fields(problem *p, bool at_end)
{
  for (int i = 0; i < p->rule->nparams; i++) {
    if (is_field(p, i)) {
      make_field(p, i, at_end);
    } else {
      unsigned char bytes[8] = {0};

      ambit__value_store(bytes, p->rule->params[i].type,
                         ambit__value_of(0.25, p->rule->params[i].type));
      memcpy(&p->own_values[i], bytes, sizeof bytes);
      CHECK_EQ(AMBIT_OK, ref->alloc(device, sizeof bytes, NULL, &p->values[i]));
      CHECK_EQ(AMBIT_OK, ref->put(queue, p->values[i], bytes, sizeof bytes));
    }
  }
}

static void free_fields(problem *p)
{
  for (int i = 0; i < p->rule->nparams; i++) {
    if (is_field(p, i)) {
      ref->release(device, p->fields[i].store.buffer);
      munmap(p->fields[i].mapped, p->fields[i].bytes);
    } else {
      ref->release(device, p->values[i]);
    }
  }
}

static void run_reference(problem *p, const ambit__group *g)
{
  ambit__argument args[MOST] = {0};
  ambit__launch launch = {.box = box_of(p),
                          .extents = p->extents,
                          .nargs = p->rule->nparams,
                          .args = args,
                          .step = STEP};
  ambit__function *fn = NULL;

  for (int i = 0; i < p->rule->nparams; i++)
    if (is_field(p, i))
      args[i] = (ambit__argument){.store = &p->fields[i].store, .boundaries = &p->boundaries};
    else
      args[i].value = p->values[i];
  CHECK_EQ(AMBIT_OK, ref->build(device, g, &fn));
  CHECK_EQ(AMBIT_OK, ref->launch(queue, fn, &launch));
  CHECK_EQ(AMBIT_OK, ref->wait(queue));
  ref->discard(device, fn);
}

/* ---- the simulated device ---- */

typedef bool simulated(const long long *blocks, const int *threads, const long long *args);

/* Has the C++ compiler make a file of the folder, as far as it goes with both kernels and warp.h. */
static bool compiled(const char *words, const char *from, const char *to)
{
  char command[5 * PATH_SIZE];

  snprintf(command, sizeof command,
           "c++ -std=c++17 -Og -w -fPIC -ffp-contract=off -fno-strict-aliasing %s '%s' -o '%s/%s'",
           words, from, folder, to);
  return !system(command);
}

/* What most of the time of a small kernel's compilation goes to, once for all of them. */
static bool precompile_warp(void)
{
  return compiled("-x c++-header", AMBIT_TEST_DIR "/plan/warp.h", "warp.h.gch");
}

static bool write_file(const char *file, const char *source, bool reduces)
{
  FILE *f = fopen(file, "w");

  if (!f) return false;
  fprintf(f, "%s\n", source);
  for (int fold = 0; fold <= reduces; fold++)
    fprintf(f,
            "extern \"C\" bool simulate%s(const long long *b, const int *t, const long long *a)\n"
            "{\n"
            "  return warp::launch([](const long long *x) { warp::call(ambit_kernel%s, x); }, b, "
            "t, a);\n"
            "}\n",
            fold ? "_fold" : "", fold ? "_fold" : "");
  return !fclose(f);
}

/* Compiles a source unless that was done before; NULL if it fails. */
static void *compile(const char *source, bool reduces)
{
  char key[AMBIT__HASH_CHARS], name[AMBIT__HASH_CHARS + 4];
  char file[PATH_SIZE + 64], library[PATH_SIZE + 64], words[PATH_SIZE + 64];
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_text(&h, source);
  ambit__hash_hex(&h, key);
  snprintf(name, sizeof name, "%s.so", key);
  snprintf(file, sizeof file, "%s/%s.cpp", folder, key);
  snprintf(library, sizeof library, "%s/%s", folder, name);
  snprintf(words, sizeof words, "-shared -include '%s/warp.h'", folder);
  if (access(library, R_OK) && (!write_file(file, source, reduces) || !compiled(words, file, name)))
    return NULL;
  return dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

static long long argument(problem *p, const ambit__gpu_slot *s,
                          int64_t (*partials)[AMBIT__GPU_PARTIALS], const ambit__box *box,
                          long long blocks)
{
  const ambit__layout *l = &p->fields[s->param].store.layout;

  switch (s->kind) {
  case SLOT_MEMORY: return (long long)(intptr_t)p->fields[s->param].base;
  case SLOT_ORIGIN: return l->origin;
  case SLOT_STRIDE: return l->stride[s->axis];
  case SLOT_COMPONENT: return l->component;
  case SLOT_VALUE:
  case SLOT_RESULT: return (long long)(intptr_t)&p->own_values[s->param];
  case SLOT_PARTIALS: return (long long)(intptr_t)partials[s->param];
  case SLOT_LO: return box->lo[s->axis];
  case SLOT_HI: return box->hi[s->axis];
  case SLOT_OFFSET: return 0;
  case SLOT_EXTENT: return p->extents[s->axis];
  case SLOT_STEP: return STEP;
  case SLOT_ENDS: return p->ends;
  case SLOT_FAULTS: return 0; /* nothing is checked here */
  case SLOT_COUNT: return blocks;
  case SLOT_MORE: return 0;
  case SLOT_ENDED: return p->ended ? (long long)(intptr_t)&p->ended : 0;
  }
  return 0;
}

/* Some blocks less than there should be where loops go on, and several chunks. */
static ambit__shape shape_of(const problem *p, const ambit__group *g, const ambit__plan *plan)
{
  const ambit__box box = box_of(p);
  const int z = p->ndims > 2 ? p->ndims - 3 : 0;
  ambit__shape shape;

  plan->strategy->shape(g, plan, &box, &shape);
  if (plan->ahead)
    shape.blocks[1] = box.hi[z] - box.lo[z] >= 3 ? 3 : 1;
  else if (ambit__gpu_reduces(g) && shape.blocks[1] > 1)
    shape.blocks[1]--;
  if (ambit__gpu_reduces(g) && shape.blocks[0] > 1) shape.blocks[0]--;
  if (p->ndims > 3 && shape.blocks[2] > 2) shape.blocks[2] = 2;
  return shape;
}

static void run_simulated(problem *p, const ambit__group *g, const ambit__plan *plan)
{
  static int64_t partials[MOST][AMBIT__GPU_PARTIALS];
  ambit__gpu_slot slots[AMBIT__GPU_SLOTS];
  const ambit__shape shape = shape_of(p, g, plan);
  const ambit__box box = box_of(p);
  const int fold_threads[] = {AMBIT__GPU_FOLD, 1, 1};
  const long long blocks[] = {shape.blocks[0], shape.blocks[1], shape.blocks[2]};
  const long long one[] = {1, 1, 1};
  long long args[AMBIT__GPU_SLOTS];
  ambit__writer w = {0};
  simulated *f;
  char *source;
  void *library;
  int n = ambit__gpu_slots(g, slots);

  plan->strategy->emit(g, &gpu, plan, &w);
  source = ambit__writer_finish(&w);
  library = compile(source, ambit__gpu_reduces(g));
  CHECK_MSG(library != NULL, "%s: not compiled:\n%s", p->name, source);
  free(source);
  if (!library) return;
  for (int i = 0; i < n; i++)
    args[i] = argument(p, &slots[i], partials, &box, 0);
  *(void **)&f = dlsym(library, "simulate");
  CHECK(f(blocks, shape.threads, args));
  if (ambit__gpu_reduces(g)) {
    n = ambit__gpu_fold_slots(g, slots);
    for (int i = 0; i < n; i++)
      args[i] = argument(p, &slots[i], partials, &box, blocks[0] * blocks[1] * blocks[2]);
    *(void **)&f = dlsym(library, "simulate_fold");
    CHECK(f(one, fold_threads, args));
  }
  dlclose(library);
}

/* ---- comparing ---- */

static bool is_near(ambit_type type, double a, double b)
{
  return a == b || (isnan(a) && isnan(b)) ||
         fabs(a - b) <= (type == AMBIT_F64 ? 1e-13 : 3e-6) * (fabs(a) + fabs(b));
}

/* The values of two memories: all equal, or with `nearly` as near as another order of terms brings them. */
static bool same(const twin *t, bool nearly)
{
  const unsigned char *want = ambit__host_base(t->store.buffer);
  const size_t size = ambit_type_size(t->store.layout.type);

  if (!memcmp(want, t->base, t->store.layout.bytes)) return true;
  for (size_t i = 0; nearly && i < t->store.layout.bytes; i += size) {
    ambit__value a = ambit__value_load(want + i, t->store.layout.type);
    ambit__value b = ambit__value_load(t->base + i, t->store.layout.type);

    if (!is_near(t->store.layout.type, a.real, b.real)) return false;
  }
  return nearly;
}

static void compare(problem *p, const char *plan, bool nearly)
{
  for (int i = 0; i < p->rule->nparams; i++) {
    const ambit__param *param = &p->rule->params[i];

    if (is_field(p, i)) {
      CHECK_MSG(same(&p->fields[i], nearly), "%s %s: field %s differs", p->name, plan, param->name);
    } else if (param->kind == PARAM_REDUCE) {
      unsigned char bytes[8];
      double want, got;

      CHECK_EQ(AMBIT_OK, ref->get(queue, bytes, p->values[i], sizeof bytes));
      want = ambit__value_number(ambit__value_load(bytes, param->type), param->type);
      got = ambit__value_number(ambit__value_load(&p->own_values[i], param->type), param->type);
      CHECK_MSG(param->reduce == REDUCE_SUM ? is_near(param->type, want, got) : want == got,
                "%s %s: %s is %.17g, want %.17g", p->name, plan, param->name, got, want);
    }
  }
}

/* ---- problems ---- */

static void run_plan(problem *p, const ambit__group *g, const ambit__plan *plan, bool at_end)
{
  ambit__text line = {0};
  int before = test_failures;

  plan->strategy->describe(plan, &line);
  make_fields(p, at_end);
  if (!p->ended) run_reference(p, g);
  run_simulated(p, g, plan);
  if (test_failures == before) compare(p, line.chars, plan->sums);
  free_fields(p);
  ambit__text_free(&line);
}

static void parse(problem *p)
{
  ambit_weights weights = {0};
  char *text = NULL;

  if (!p->text) {
    CHECK_EQ(AMBIT_OK, ambit__catalogue_find(&errors, p->name, &weights));
    CHECK_EQ(AMBIT_OK, ambit__weights_text(&errors, p->name, p->type, &weights, &text));
    free((void *)(uintptr_t)weights.weights);
  }
  CHECK_MSG(!ambit__rule_parse(&errors, p->name, text ? text : p->text, &p->rule), "%s",
            errors.text);
  free(text);
}

/* The first parameter that is only read, for what is written. */
static int twin_of(const problem *p, int i)
{
  const ambit__param *q = p->rule->params;

  for (int k = 0; p->twins && is_field(p, i) && q[i].is_written && k < p->rule->nparams; k++)
    if (is_field(p, k) && !q[k].is_written && q[k].type == q[i].type &&
        q[k].components == q[i].components)
      return 1 + k;
  return 0;
}

/* Runs a problem with plans of both forms: the first, the last, and one in the middle. Returns how many. */
static int check(problem p)
{
  ambit__group_step step = {.bind = p.bind};
  ambit__group g = {.nsteps = 1, .steps = &step, .depth = 1, .ndims = p.ndims};
  ambit__plan plans[MOST_PLANS];
  int n, runs = 0;

  parse(&p);
  if (!p.rule) return 0;
  step.rule = p.rule;
  for (int d = 0; d < p.ndims; d++) {
    g.cells[d] = p.extents[d];
    p.boundaries.kind[d][0] = p.boundaries.kind[d][1] = p.boundary;
    p.boundaries.value[d][0] = 0.5;
    p.boundaries.value[d][1] = -1.25;
  }
  for (int i = 0; i < p.rule->nparams; i++)
    p.bind[i] = (ambit__binding){.is_field = is_field(&p, i),
                                 .unit = is_field(&p, i),
                                 .around = p.around && is_field(&p, i),
                                 .twin = twin_of(&p, i)};
  n = ambit__strategy_stream.candidates(&g, &gpu, plans, MOST_PLANS);
  for (int i = 0; i < n; i++)
    if (i == 0 || i == n - 1 || i == n / 3 || plans[i].sums != plans[i - 1].sums) {
      run_plan(&p, &g, &plans[i], i % 2);
      runs++;
    }
  CHECK_MSG(runs > 0, "%s: no plan", p.name);
  ambit__rule_free(p.rule);
  return runs;
}

/* ---- tests ---- */

static void weighted_sums_in_2d(void)
{
  static const char *const names[] = {"star2d1", "box2d1", "star2d2", "box2d2", "2df5"};

  for (int i = 0; i < 5; i++)
    check((problem){.name = names[i],
                    .type = i % 3 ? AMBIT_F64 : AMBIT_F32,
                    .ndims = 2,
                    .extents = {31 + i, 303 - i},
                    .boundary = (ambit_boundary)(1 + i)});
}

static void weighted_sums_in_3d(void)
{
  static const char *const names[] = {"star3d1", "box3d1", "star3d2", "3df7", "3dnc12"};

  for (int i = 0; i < 5; i++)
    check((problem){.name = names[i],
                    .type = i % 2 ? AMBIT_F64 : AMBIT_F32,
                    .ndims = 3,
                    .extents = {9, 23 + i, 150 - i},
                    .boundary = (ambit_boundary)(1 + i)});
}

/* So many terms that registers are moved, rows are added one by one and weights stand in a table. */
static void a_large_sum(void)
{
  check((problem){.name = "box3d2",
                  .type = AMBIT_F64,
                  .ndims = 3,
                  .extents = {9, 25, 75},
                  .boundary = AMBIT_CLAMP});
}

static void weighted_sums_of_integers(void)
{
  check((problem){.name = "star2d1",
                  .type = AMBIT_U8,
                  .ndims = 2,
                  .extents = {9, 1300},
                  .boundary = AMBIT_PERIODIC});
  check((problem){.name = "box2d2",
                  .type = AMBIT_I16,
                  .ndims = 2,
                  .extents = {9, 700},
                  .boundary = AMBIT_CLAMP});
  check((problem){.name = "star3d1",
                  .type = AMBIT_I64,
                  .ndims = 3,
                  .extents = {5, 25, 75},
                  .boundary = AMBIT_CONSTANT});
}

static void boxes_that_begin_anywhere(void)
{
  for (int i = 1; i < 9; i += 4)
    check((problem){.name = "box2d1",
                    .type = AMBIT_F32,
                    .ndims = 2,
                    .extents = {14, 301},
                    .lo = {i % 3, i},
                    .hi = {14 - i % 4, 292 + i},
                    .boundary = AMBIT_CLAMP});
  for (int i = 1; i < 5; i += 3)
    check((problem){.name = "star3d1",
                    .type = AMBIT_F64,
                    .ndims = 3,
                    .extents = {6, 25, 141},
                    .lo = {i % 2, i, 2 * i + 1},
                    .hi = {6, 25 - 2 * (i % 2), 130 + i},
                    .boundary = AMBIT_SYMMETRIC});
}

/* Borders are thinner than the box that a plan was made for. */
static void boxes_of_few_cells(void)
{
  check((problem){.name = "star2d2",
                  .type = AMBIT_F32,
                  .ndims = 2,
                  .extents = {20, 200},
                  .lo = {19, 197},
                  .hi = {20, 200},
                  .boundary = AMBIT_PERIODIC});
  check((problem){.name = "star3d1",
                  .type = AMBIT_F32,
                  .ndims = 3,
                  .extents = {4, 25, 40},
                  .lo = {0, 24, 0},
                  .hi = {4, 25, 1},
                  .boundary = AMBIT_PERIODIC});
}

/* Without ghost cells nothing lies around the grid, also not where a warp has fewer rows than it computes. */
static void boxes_of_fields_without_ghost_cells(void)
{
  for (int i = 1; i < 18; i += 8)
    check((problem){.name = "star3d1",
                    .type = AMBIT_F32,
                    .ndims = 3,
                    .extents = {4, 25, 40},
                    .lo = {1, i, 1},
                    .hi = {3, i + 1 + i % 3, 39}});
  check((problem){.name = "box2d2",
                  .type = AMBIT_F32,
                  .ndims = 2,
                  .extents = {20, 200},
                  .lo = {2, 2},
                  .hi = {18, 198}});
}

/* Rows of whole strips and others, a box that has only one of their ends, one of few cells, vectors of bytes, and four dimensions. */
static void rows_that_begin_anew(void)
{
  static const problem problems[] = {
      {.name = "star2d2", .type = AMBIT_F32, .ndims = 2, .extents = {14, 256}},
      {.name = "box2d1",
       .type = AMBIT_F64,
       .ndims = 2,
       .extents = {14, 272},
       .lo = {1, 7},
       .hi = {12, 272}},
      {.name = "star2d1", .type = AMBIT_U8, .ndims = 2, .extents = {9, 1312}},
      {.name = "box3d1", .type = AMBIT_F64, .ndims = 3, .extents = {9, 24, 144}},
      {.name = "star3d1",
       .type = AMBIT_F32,
       .ndims = 3,
       .extents = {4, 25, 48},
       .lo = {0, 24, 0},
       .hi = {4, 25, 1}},
      {.name = "4d8", .type = AMBIT_F32, .ndims = 4, .extents = {4, 3, 25, 144}},
  };

  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    problem p = problems[i];

    p.boundary = AMBIT_PERIODIC;
    p.around = true;
    check(p);
  }
}

/* Fixed faces, boxes that begin anywhere, sums that look one way, several fields and components, old values, bytes, four
 * dimensions; and all of them where the twin holds other values beside the box. */
static void vectors_that_are_stored_whole(void)
{
  static const problem problems[] = {
      {.name = "star3d1", .type = AMBIT_F32, .lo = {1, 1, 1}, .hi = {8, 23, 143}},
      {.name = "star3d1", .type = AMBIT_F64, .lo = {1, 2, 7}, .hi = {8, 23, 130}},
      {.name = "box3d1", .type = AMBIT_F32, .lo = {1, 1, 1}, .hi = {8, 23, 143}},
      {.name = "box3d1", .type = AMBIT_F64, .lo = {1, 1, 5}, .hi = {8, 23, 138}},
      {.name = "star3d2", .type = AMBIT_F32, .lo = {2, 2, 2}, .hi = {7, 22, 142}},
      {.name = "star3d2", .type = AMBIT_F64, .lo = {2, 2, 2}, .hi = {7, 22, 142}},
      {.name = "3df7", .type = AMBIT_F32, .lo = {2, 2, 2}, .hi = {9, 24, 144}},
      {.name = "up",
       .text =
           "void up(const float *u, float *v) { *v = 2 * u[0][0][0] + u[1][0][1] - u[2][1][0]; }",
       .lo = {0, 1, 3},
       .hi = {7, 23, 141}},
      {.name = "late",
       .text = "void late(const float *u, float *v) { *v = u[-1][0][0] + u[-2][0][1]; }",
       .lo = {2, 0, 1},
       .hi = {9, 24, 143}},
      {.name = "three",
       .text = "void three(const float *f[3], float *g[3], max float *m)\n"
               "{\n"
               "  *g[0] = f[0][0][0][0] + f[1][1][0][0];\n"
               "  *g[1] = f[1][0][1][0] - f[1][0][0][0];\n"
               "  *g[2] = f[2][0][0][-1] * f[0][0][0][1];\n"
               "  *m = *g[2];\n"
               "}\n",
       .lo = {1, 1, 1},
       .hi = {8, 23, 143}},
      {.name = "keeps",
       .text = "void keeps(const double *k, const double *u, double *v)\n"
               "{\n"
               "  if (*k > 1) *v += u[0][0][1] + u[0][1][0] - u[-1][0][0];\n"
               "}\n",
       .lo = {1, 1, 1},
       .hi = {8, 23, 143}},
      {.name = "star3d1",
       .type = AMBIT_U8,
       .extents = {5, 24, 320},
       .lo = {1, 1, 1},
       .hi = {4, 23, 319}},
      {.name = "4d8",
       .type = AMBIT_F32,
       .ndims = 4,
       .extents = {4, 4, 24, 144},
       .lo = {1, 1, 1, 1},
       .hi = {3, 3, 23, 143}},
  };

  for (size_t i = 0; i < 2 * sizeof problems / sizeof *problems; i++) {
    problem p = problems[i / 2];

    if (!p.ndims) p.ndims = 3;
    if (!p.extents[0]) memcpy(p.extents, (int64_t[]){9, 24, 144}, 3 * sizeof *p.extents);
    p.twins = true;
    p.ends = i % 2 == 0;
    check(p);
  }
}

static void reductions(void)
{
  check((problem){
      .name = "heat",
      .text = "void heat(const float *u, float *v, float k, max float *change, sum double *s)\n"
              "{\n"
              "  *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);\n"
              "  *change = fabsf(*v - *u);\n"
              "  *s = *v;\n"
              "}\n",
      .ndims = 2,
      .extents = {33, 1001},
      .lo = {1, 3},
      .hi = {32, 999},
      .boundary = AMBIT_REFLECT});
  check((problem){.name = "count",
                  .text = "void count(const double *u, sum int *n, min double *m)\n"
                          "{\n"
                          "  *n = u[0][0][0] > u[0][1][0];\n"
                          "  *m = u[1][0][0] - u[0][0][-1];\n"
                          "}\n",
                  .ndims = 3,
                  .extents = {7, 35, 150},
                  .boundary = AMBIT_CLAMP});
}

static void branches_places_and_old_values(void)
{
  check((problem){.name = "mix",
                  .text = "void mix(const float *u, float *v, const unsigned char *wall, float k)\n"
                          "{\n"
                          "  float a = k * u[0][1];\n"
                          "  if (*wall % 2) {\n"
                          "    a += (float)index(1) - u[-2][0] * (float)index(0);\n"
                          "    if (u[0][-3] > 1.0f) *v = a + (float)step();\n"
                          "  } else {\n"
                          "    *v += u[1][-1] / (float)extent(0);\n"
                          "  }\n"
                          "}\n",
                  .ndims = 2,
                  .extents = {37, 301},
                  .boundary = AMBIT_SYMMETRIC});
  check((problem){.name = "mix3",
                  .text = "void mix3(const double *u, double *v, const unsigned char *wall)\n"
                          "{\n"
                          "  double a = u[0][1][0] + (double)index(2) * u[-1][0][1];\n"
                          "  if (*wall > 2) *v += a * (double)index(1);\n"
                          "  else if (*v > 0.5) *v = (double)index(0) - u[1][-1][-1];\n"
                          "}\n",
                  .ndims = 3,
                  .extents = {7, 26, 131},
                  .boundary = AMBIT_PERIODIC});
}

static void components_and_streams_that_lie_apart(void)
{
  check((problem){.name = "pull",
                  .text =
                      "void pull(const float *f[5], float *g[5])\n"
                      "{\n"
                      "  float m = *f[0] + f[1][-1][0] + f[2][1][0] + f[3][0][-1] + f[4][0][1];\n"
                      "  *g[0] = 0.2f * m;\n"
                      "  *g[1] = f[1][-1][0] - m;\n"
                      "  *g[2] = f[2][1][0] - m;\n"
                      "  *g[3] = f[3][0][-1] - m;\n"
                      "  *g[4] = f[4][0][1] - m;\n"
                      "}\n",
                  .ndims = 2,
                  .extents = {23, 265},
                  .boundary = AMBIT_PERIODIC});
  check((problem){.name = "ahead",
                  .text = "void ahead(const float *u, float *v, short *w)\n"
                          "{\n"
                          "  *v = u[2][0] + u[3][6];\n"
                          "  *w = (short)(9 * u[2][-5]);\n"
                          "}\n",
                  .ndims = 2,
                  .extents = {23, 465},
                  .boundary = AMBIT_CONSTANT});
}

static void four_dimensions(void)
{
  check((problem){.name = "4d8",
                  .type = AMBIT_F32,
                  .ndims = 4,
                  .extents = {4, 3, 25, 131},
                  .boundary = AMBIT_PERIODIC});
  check((problem){.name = "four",
                  .text = "void four(const float *u, float *v, max float *m)\n"
                          "{\n"
                          "  *v = u[-1][0][1][0] - u[1][1][0][-1] + (float)(index(0) * index(3) - "
                          "index(1) + index(2));\n"
                          "  *m = *v;\n"
                          "}\n",
                  .ndims = 4,
                  .extents = {3, 4, 24, 141},
                  .lo = {0, 1, 0, 2},
                  .hi = {3, 4, 23, 140},
                  .boundary = AMBIT_SYMMETRIC});
}

static void a_run_that_has_ended_is_left_alone(void)
{
  check((problem){.name = "ended",
                  .text = "void ended(const float *u, float *v, sum float *s, max float *m) {"
                          " *v = u[-1][0] + u[0][1]; *s = *v; *m = *v; }",
                  .ndims = 2,
                  .extents = {17, 200},
                  .boundary = AMBIT_PERIODIC,
                  .ended = 5});
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"weighted_sums_in_2d", weighted_sums_in_2d},
      {"weighted_sums_in_3d", weighted_sums_in_3d},
      {"a_large_sum", a_large_sum},
      {"weighted_sums_of_integers", weighted_sums_of_integers},
      {"boxes_that_begin_anywhere", boxes_that_begin_anywhere},
      {"boxes_of_few_cells", boxes_of_few_cells},
      {"boxes_of_fields_without_ghost_cells", boxes_of_fields_without_ghost_cells},
      {"rows_that_begin_anew", rows_that_begin_anew},
      {"vectors_that_are_stored_whole", vectors_that_are_stored_whole},
      {"reductions", reductions},
      {"branches_places_and_old_values", branches_places_and_old_values},
      {"components_and_streams_that_lie_apart", components_and_streams_that_lie_apart},
      {"four_dimensions", four_dimensions},
      {"a_run_that_has_ended_is_left_alone", a_run_that_has_ended_is_left_alone},
      {0}};
  char command[PATH_SIZE + 32];
  int bad;

  if (system("c++ --version > /dev/null 2>&1")) {
    printf("# skipped: there is no C++ compiler\n");
    return 77;
  }
  snprintf(folder, sizeof folder, "/tmp/ambit-stream-XXXXXX");
  if (!mkdtemp(folder) || !precompile_warp() || ref->open(&errors, &settings, 0, &device) ||
      ref->queue_open(device, false, &queue))
    return 1;
  bad = test_main(argc, argv, tests);
  ref->queue_close(queue);
  ref->close(device);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command) || bad;
}
