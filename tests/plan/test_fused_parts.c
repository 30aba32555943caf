/* SPDX-License-Identifier: BSD-3-Clause */
/* Fused iterations on grids of several parts, and several processes: the exchange, the launches of
 * parts and boxes, and single iterations between them give what the reference device gives. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS, mkdtemp */
#include "support/devices.h"

#include "fuser.h"
#include "runtime/program/cycle.h"
#include "samples.h"

#include <math.h>

enum { MOST_FIELDS = 8 };

/* ---- runs ---- */

typedef struct result {
  unsigned char *values[MOST_FIELDS];
  bool fused;
  int depth;
  char refusal[200];
} result;

static const char *weights = ""; /* of the parts */

static void open_on(const char *devices, const char *partition, int depth, bool alone)
{
  char text[16];
  char *argv[] = {"test", alone ? "--ambit-mpi=off" : NULL, NULL}, **words = argv;
  int argc = alone ? 2 : 1;

  context = ambit_open(&argc, &words);
  ambit_on_error(context, NULL, NULL);
  ambit_option_set(context, "devices", devices);
  ambit_option_set(context, "partition", partition);
  if (!alone) ambit_option_set(context, "weights", weights);
  ambit_option_set(context, "strict", "1");
  snprintf(text, sizeof text, "%d", depth);
  ambit_option_set(context, "depth", text);
}

/* Runs the program of a trial in several runs. */
static result run(const trial *t, int iterations)
{
  const ambit__box all = ambit__box_of_extents(t->ndims, t->extents);
  ambit_field *fields[MOST_FIELDS];
  ambit_program *p = make_program(t, fields);
  result r = {.depth = t->depth};

  ambit_run(p, iterations);
  ambit_run(p, t->depth + 1);
  CHECK_MSG(!ambit_error(context), "%s: %s", t->s->name, ambit_error_text(context));
  if (ambit_error(context)) return r;
  r.fused = p->cycle && p->cycle->fused;
  snprintf(r.refusal, sizeof r.refusal, "%s",
           r.fused || !ambit__cycle_refusal(p) ? "" : ambit__cycle_refusal(p));
  for (int i = 0; i < t->s->nfields; i++) {
    const size_t n = (size_t)ambit__box_volume(&all) * (size_t)fields[i]->components;

    r.values[i] = malloc(n * ambit_type_size(t->s->type));
    ambit_field_read(fields[i], NULL, NULL, r.values[i]);
  }
  return r;
}

/* The NaN of a GPU has other bits. */
static bool is_same(ambit_type type, const unsigned char *a, const unsigned char *b)
{
  return !memcmp(a, b, ambit_type_size(type)) ||
         (ambit__type_is_real(type) && isnan(ambit__value_load(a, type).real) &&
          isnan(ambit__value_load(b, type).real));
}

static void compare_results(const trial *t, const result *want, const result *got,
                            const char *parts)
{
  const ambit__box all = ambit__box_of_extents(t->ndims, t->extents);
  const size_t size = ambit_type_size(t->s->type);
  const size_t n =
      (size_t)ambit__box_volume(&all) * (size_t)(t->s->components ? t->s->components : 1) * size;

  for (int i = 0; i < t->s->nfields; i++) {
    size_t at = 0;

    if (!want->values[i] || !got->values[i]) continue;
    while (at < n && is_same(t->s->type, want->values[i] + at, got->values[i] + at))
      at += size;
    CHECK_MSG(at == n,
              "%s depth %d on %s, %dx%dx%d, boundaries %d %d %d %d %d %d: field %c differs at byte "
              "%zu of %zu",
              t->s->name, t->depth, parts, (int)t->extents[0], (int)t->extents[1],
              (int)t->extents[2], t->kind[0][0], t->kind[0][1], t->kind[1][0], t->kind[1][1],
              t->kind[2][0], t->kind[2][1], 'a' + i, at, n);
  }
}

static void release(result *r)
{
  for (int i = 0; i < MOST_FIELDS; i++)
    free(r->values[i]);
}

/* ---- trials ---- */

/* A cut into parts: one per item of the option devices and process. */
static void draw_parts(int ndims, int processes, char *devices, char *partition)
{
  static const char *const flat[] = {"%d", "1x%d", "%dx1"}, *const deep[] = {"%d", "1x%d",
                                                                             "1x1x%d"};
  const int each = 1 + (int)draw(processes > 1 ? 2 : 3) + (processes == 1);
  const char *name = getenv("FUSED_DEVICE"); /* one that fuses; default: simulated */

  snprintf(devices, 16, each > 1 ? "%s*%d" : "%s", name ? name : "fuser", each);
  if (each * processes == 4 && draw(2))
    snprintf(partition, 16, ndims == 2 ? "2x2" : "2x2x1");
  else
    snprintf(partition, 16, (ndims == 2 ? flat : deep)[draw(3)], each * processes);
}

/* Whether the program ran fused. */
static bool check_trial(const trial *t, const char *devices, const char *partition)
{
  const int iterations = 2 * t->depth + 1 + (int)draw(t->depth); /* the rest: a shorter cycle */
  result want, got;
  bool fused;

  open_on("ref", "auto", 1, true);
  want = run(t, iterations);
  ambit_close(context);
  open_on(devices, partition, t->depth, false);
  got = run(t, iterations);
  ambit_close(context);
  compare_results(t, &want, &got, partition);
  if (!got.fused) printf("# %s on %s: %s\n", t->s->name, partition, got.refusal);
  fused = got.fused;
  release(&want);
  release(&got);
  return fused;
}

static int processes_here(void)
{
  ambit *a = ambit_open(NULL, NULL);
  const int n = ambit_processes(a);

  ambit_close(a);
  return n;
}

static void programs(void)
{
  const int nsamples = (int)(sizeof samples / sizeof *samples), processes = processes_here();
  const char *only = getenv("FUSED_SAMPLE"), *times = getenv("FUSED_TIMES");
  const char *seed = getenv("FUSED_SEED");
  int n = 0, fused = 0;

  for (int i = 0; i < (times ? atoi(times) * nsamples : processes > 1 ? 1 : 2); i++) {
    const sample *s = &samples[times ? i % nsamples : 5 * i + 3];
    char devices[16], partition[16];
    trial t;

    if (only && strcmp(only, s->name)) continue;
    state = (uint64_t)(seed ? atoi(seed) : 11) * 1000003 + (uint64_t)i;
    t = draw_trial(s);
    if (t.ndims == 3) t.extents[0] += 20; /* room for two parts */
    draw_parts(t.ndims, processes, devices, partition);
    fused += check_trial(&t, devices, partition);
    n++;
  }
  printf("# %d of %d programs were fused\n", fused, n);
  CHECK(2 * fused > n || only);
}

/* Reads on one side only: rows of a tile of one row are copies of rows before it. */
static void thin_tiles_at_mirrored_faces(void)
{
  const trial t = {.s = sample_named("field"),
                   .ndims = 2,
                   .extents = {28, 123},
                   .kind = {{AMBIT_CONSTANT, AMBIT_REFLECT}, {AMBIT_REFLECT, AMBIT_SYMMETRIC}},
                   .depth = 2,
                   .strict = true};

  if (processes_here() > 1) return;
  CHECK(check_trial(&t, "fuser", "auto"));
  CHECK(check_trial(&t, "fuser*3", "1x3"));
}

static void steps_in_place_keep_fixed_cells(void)
{
  static const char *const partitions[] = {"auto", "2", "1x2", "3", "1x3"};
  const trial t = {.s = sample_named("pull"),
                   .ndims = 2,
                   .extents = {23, 65},
                   .kind = {{AMBIT_FIXED, AMBIT_FIXED}, {AMBIT_FIXED, AMBIT_FIXED}},
                   .depth = 2,
                   .strict = true};

  if (processes_here() > 1) return;
  for (int i = 0; i < 5; i++)
    CHECK(check_trial(&t, i ? i < 3 ? "fuser*2" : "fuser*3" : "fuser", partitions[i]));
  if (device_is_here("cuda")) CHECK(check_trial(&t, "cuda*2", "2"));
}

/* Lanes of one row: the group inside a face has the rows that are copied. */
static void lanes_of_one_row_at_mirrored_faces(void)
{
  const trial t = {.s = sample_named("wave3"),
                   .ndims = 3,
                   .extents = {31, 31, 97},
                   .kind = {{AMBIT_SYMMETRIC, AMBIT_REFLECT},
                            {AMBIT_SYMMETRIC, AMBIT_CLAMP},
                            {AMBIT_PERIODIC, AMBIT_PERIODIC}},
                   .depth = 4,
                   .strict = true};

  if (processes_here() == 1) CHECK(check_trial(&t, "fuser", "auto"));
}

/* Faces keep what they had two iterations before, so both fields of the swap are loaded. */
static void steps_on_faces_and_inside(void)
{
  trial t = {.s = sample_named("frame"),
             .ndims = 2,
             .extents = {61, 150},
             .kind = {{AMBIT_CLAMP, AMBIT_CONSTANT}, {AMBIT_PERIODIC, AMBIT_PERIODIC}},
             .depth = 3,
             .strict = true,
             .faces = AMBIT_LOW(0) | AMBIT_HIGH(0) | AMBIT_LOW(1)};

  CHECK(check_trial(&t, processes_here() > 1 ? "fuser" : "fuser*3", "auto"));
}

/* Values of field b after some iterations of a trial. The caller frees them. */
static float *values_of(const trial *t, const char *devices, const char *strict, int iterations)
{
  const ambit__box all = ambit__box_of_extents(t->ndims, t->extents);
  float *values = malloc((size_t)ambit__box_volume(&all) * sizeof *values);
  ambit_field *fields[MOST_FIELDS];
  ambit_program *p;

  open_on(devices, "auto", t->depth, true);
  ambit_option_set(context, "strict", strict);
  p = make_program(t, fields);
  ambit_run(p, iterations);
  ambit_field_read(fields[0], NULL, NULL, values);
  CHECK_MSG(!ambit_error(context), "%s", ambit_error_text(context));
  CHECK(!strcmp(devices, "ref") || (p->cycle && p->cycle->fused));
  ambit_close(context);
  return values;
}

/* docs/parallel.md states the bound. The weights are positive, and their sum is 1. */
static void sums_differ_from_strict_ones_by_less_than_the_bound(void)
{
  const trial t = {.s = sample_named("star"),
                   .ndims = 2,
                   .extents = {47, 133},
                   .kind = {{AMBIT_CLAMP, AMBIT_CLAMP}, {AMBIT_CLAMP, AMBIT_CLAMP}},
                   .depth = 4};
  const int iterations = 41, terms = 5;
  const double ulp = terms * 0x1p-24, bound = 2 * iterations * ulp / (1 - ulp);
  float *want = values_of(&t, "ref", "1", iterations);
  float *got = values_of(&t, "fuser", "0", iterations);
  double most = 0;

  for (int64_t i = 0; i < t.extents[0] * t.extents[1]; i++)
    if (fabs((double)want[i] - (double)got[i]) > most)
      most = fabs((double)want[i] - (double)got[i]);
  CHECK_MSG(most <= bound, "differ by %g, more than %g", most, bound);
  free(want);
  free(got);
}

/* Steps of one kernel, on all faces, are one stage. The same again, in cells that were computed
 * before, is another one. */
static void all_faces_are_one_stage(void)
{
  const trial t = {.s = sample_named("walls"),
                   .ndims = 2,
                   .extents = {40, 90},
                   .kind = {{AMBIT_CLAMP, AMBIT_CONSTANT}, {AMBIT_REFLECT, AMBIT_CLAMP}},
                   .depth = 2,
                   .strict = true,
                   .faces = AMBIT_ALL_FACES};
  ambit_field *fields[MOST_FIELDS];
  ambit_program *p;

  if (processes_here() > 1) return;
  CHECK(check_trial(&t, "fuser", "auto"));
  open_on("fuser", "auto", 2, false);
  p = make_program(&t, fields);
  ambit_run(p, 5);
  CHECK_EQ(4, p->cycle->fused->plan.flow.nstages);
  CHECK_EQ(4, p->cycle->fused->plan.flow.stages[1].nplaces);
  append(p, &t, 1, fields, NULL);
  ambit_run(p, 5);
  CHECK_EQ(6, p->cycle->fused->plan.flow.nstages);
  ambit_close(context);
}

/* Opens a device, for plans that begin like this one. */
static void open_for(const char *where, const char *plan)
{
  open_on(where, "auto", 0, false);
  ambit_option_set(context, "plan", plan);
}

static bool has_plan(const trial *t, const char *where, const char *plan)
{
  ambit_field *fields[MOST_FIELDS];
  bool has;

  open_for(where, plan);
  has = !ambit__program_seal(make_program(t, fields));
  ambit_close(context);
  return has;
}

/* Launches that hold the grid, as tiles that exchange cells, of some lengths. */
static void check_persistent(const trial *t, const char *where, const char *plan, int iterations)
{
  result want, got;

  open_on("ref", "auto", 1, true);
  want = run(t, iterations);
  ambit_close(context);
  open_for(where, plan);
  got = run(t, iterations);
  ambit_close(context);
  CHECK(got.fused);
  compare_results(t, &want, &got, plan);
  release(&want);
  release(&got);
}

/* A rotation of three fields, and steps on faces and inside. */
static void tiles_stay(void)
{
  static const char *const names[] = {"wave", "frame"};
  static const char *const plans[] = {"(persistent 2x6 every 6 warps 8", "(persistent 1x"};

  if (processes_here() > 1) return;
  for (int i = 0; i < 2; i++) {
    trial t;

    state = 40 + (uint64_t)i;
    t = draw_trial(sample_named(names[i]));
    t.extents[0] = 91; /* cut along both axes */
    t.extents[1] = i ? 73 : 101;
    t.strict = true;
    check_persistent(&t, "fuser", plans[i], 8);
    if (device_is_here("cuda")) check_persistent(&t, "cuda", "(persistent 2x", 30);
  }
}

/* In three dimensions, cut along the first and the last axis. Outside two faces that are constant,
 * the later axis counts. */
static void bricks_stay(void)
{
  const trial t = {.s = sample_named("box3"),
                   .ndims = 3,
                   .extents = {13, 14, 50},
                   .kind = {{AMBIT_CONSTANT, AMBIT_REFLECT},
                            {AMBIT_SYMMETRIC, AMBIT_CONSTANT},
                            {AMBIT_CONSTANT, AMBIT_CLAMP}},
                   .depth = 2,
                   .strict = true};

  if (processes_here() > 1) return;
  check_persistent(&t, "fuser", "(persistent 1x1x9 every 2 warps 16", 8);
  if (device_is_here("cuda")) check_persistent(&t, "cuda", "(persistent 1x", 30);
}

/* To a grid that a few blocks hold. Some are as wide as the window of a block. */
static void shrink(trial *t)
{
  t->strict = true;
  if (t->ndims == 2) {
    t->extents[1] = 30 + draw(100);
  } else {
    t->extents[0] = 5 + draw(20);
    t->extents[1] = draw(2) ? 16 << draw(2) : 10 + draw(30);
    t->extents[2] = draw(2) ? 32 << draw(2) : 20 + draw(70);
    if (t->faces) draw_places(t);
  }
}

static void tiles_stay_in_random_programs(void)
{
  static const char *const plans[] = {"(persistent", "(persistent 1x", "(persistent 2x"};
  const int nsamples = (int)(sizeof samples / sizeof *samples);
  const char *only = getenv("FUSED_SAMPLE"), *times = getenv("FUSED_TIMES");
  const char *seed = getenv("FUSED_SEED"), *real = getenv("FUSED_DEVICE");
  const char *where = real ? real : "fuser";
  int n = 0, held = 0;

  if (processes_here() > 1 || !times) return;
  for (int i = 0; i < atoi(times) * nsamples; i++) {
    const sample *s = &samples[i % nsamples];
    const char *plan;
    trial t;

    if (only && strcmp(only, s->name)) continue;
    state = (uint64_t)(seed ? atoi(seed) : 5) * 1000003 + (uint64_t)i;
    t = draw_trial(s);
    shrink(&t);
    plan = plans[draw(3)];
    n++;
    if (!has_plan(&t, where, plan)) continue;
    check_persistent(&t, where, plan, 3 + (int)draw(20));
    held++;
  }
  printf("# %d of %d programs were held\n", held, n);
  CHECK(2 * held > n || only);
}

/* Its device cannot fuse, and need not. */
static void a_process_without_cells_keeps_no_other_from_fusing(void)
{
  const trial t = {.s = sample_named("star"),
                   .ndims = 2,
                   .extents = {31, 140},
                   .kind = {{AMBIT_PERIODIC, AMBIT_PERIODIC}, {AMBIT_CLAMP, AMBIT_CONSTANT}},
                   .depth = 2,
                   .strict = true};
  int rank;

  if (processes_here() != 2) return;
  context = ambit_open(NULL, NULL);
  rank = ambit_process(context);
  ambit_close(context);
  for (int full = 0; full < 2; full++) {
    weights = full ? "0,1" : "1,0";
    CHECK(check_trial(&t, rank == full ? "fuser" : "cpu", "auto"));
  }
  weights = "";
}

/* Steps on faces and boxes, in one launch, on a device as it is. Most must be fused. Where time is
 * short, FUSED_SAMPLE and FUSED_SEED choose one of the trials. */
static void check_places(const char *place, int trials)
{
  static const char *const names[] = {"walls", "source", "frame", "walls3"};
  const char *only = getenv("FUSED_SAMPLE"), *seed = getenv("FUSED_SEED");
  int fused = 0;

  for (int i = 0; i < 4; i++)
    for (int k = 0; k < trials; k++) {
      trial t;

      if ((only && strcmp(only, names[i])) || (seed && k != atoi(seed))) continue;
      state = 77 * (uint64_t)i + (uint64_t)k;
      t = draw_trial(sample_named(names[i]));
      if (t.ndims == 3) t.extents[0] += 20;
      fused += check_trial(&t, place, "auto");
    }
  printf("# %s: %d fused\n", place, fused);
  CHECK_MSG(fused > 2 * trials || only || seed, "%s: only %d programs were fused", place, fused);
}

static void steps_on_faces_and_boxes_of_gpus(void)
{
  const bool all = getenv("TEST_EVERY_CASE") || getenv("AMBIT_TEST_LONG");

  if (processes_here() > 1) return;
  if (all && device_is_here("opencl")) check_places("opencl", 4);
  if (!device_is_here("cuda")) SKIP("there is no CUDA device");
  check_places("cuda", 4);
  check_places("cuda*2", 3);
}

/* Faces that copy cells along the row, and rows. */
static void opencl_fuses_too(void)
{
  const trial t = {.s = sample_named("star"),
                   .ndims = 2,
                   .extents = {31, 140},
                   .kind = {{AMBIT_CONSTANT, AMBIT_REFLECT}, {AMBIT_CLAMP, AMBIT_CONSTANT}},
                   .depth = 2,
                   .strict = true};

  if (processes_here() == 1 && device_is_here("opencl")) CHECK(check_trial(&t, "opencl", "auto"));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"programs", programs},
      {"thin_tiles_at_mirrored_faces", thin_tiles_at_mirrored_faces},
      {"steps_in_place_keep_fixed_cells", steps_in_place_keep_fixed_cells},
      {"lanes_of_one_row_at_mirrored_faces", lanes_of_one_row_at_mirrored_faces},
      {"steps_on_faces_and_inside", steps_on_faces_and_inside},
      {"sums_differ_from_strict_ones_by_less_than_the_bound",
       sums_differ_from_strict_ones_by_less_than_the_bound},
      {"all_faces_are_one_stage", all_faces_are_one_stage},
      {"tiles_stay", tiles_stay},
      {"bricks_stay", bricks_stay},
      {"tiles_stay_in_random_programs", tiles_stay_in_random_programs},
      {"a_process_without_cells_keeps_no_other_from_fusing",
       a_process_without_cells_keeps_no_other_from_fusing},
      {"steps_on_faces_and_boxes_of_gpus", steps_on_faces_and_boxes_of_gpus},
      {"opencl_fuses_too", opencl_fuses_too},
      {0}};

  return simulated_main(argc, argv, tests);
}
