/* SPDX-License-Identifier: BSD-3-Clause */
/* The model that chooses how many iterations a launch fuses, against measurements on an H200. */
#include "device/dry.h"
#include "plan/fused.h"
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SPEEDS = 9, MOST_FIELDS = 4 };

/* Gcells/s by depth, less the time of single iterations at the end of a run, by calculation; depth
 * 1: of single iterations. The constants of the model were fitted to these numbers. */
typedef struct measured {
  const char *kernel;
  ambit_type type;
  int64_t cells[3]; /* of a grid that is small; 0: 16384x16384 or 512x512x512 */
  struct {
    int depth;
    double speed;
  } by[MOST_SPEEDS];
} measured;

static const measured h200[] = {
    {"star2d1",
     AMBIT_F32,
     {0},
     {{1, 520}, {8, 2878}, {9, 3022}, {10, 3299}, {11, 2785}, {12, 3372}, {14, 2520}}},
    {"star2d1", AMBIT_F64, {0}, {{1, 260}, {6, 1262}, {8, 1373}, {9, 1457}, {10, 1555}}},
    {"box2d1",
     AMBIT_F32,
     {0},
     {{1, 519}, {6, 2076}, {7, 2306}, {8, 2254}, {9, 2133}, {10, 2143}, {12, 2141}}},
    {"box2d1", AMBIT_F64, {0}, {{1, 261}, {6, 1129}, {7, 1070}, {8, 1140}, {10, 1098}}},
    {"star2d2", AMBIT_F32, {0}, {{1, 525}, {4, 1658}, {5, 1714}, {6, 1675}, {7, 1543}, {8, 1682}}},
    {"star2d2", AMBIT_F64, {0}, {{1, 263}, {3, 637}, {4, 783}, {5, 668}, {6, 650}}},
    {"box2d2", AMBIT_F32, {0}, {{1, 509}, {2, 838}, {3, 856}, {4, 859}, {6, 649}}},
    {"box2d2", AMBIT_F64, {0}, {{1, 259}, {2, 433}, {3, 431}, {4, 455}}},
    {"star2d4", AMBIT_F32, {0}, {{1, 472}, {2, 711}, {3, 723}, {4, 665}}},
    {"grayscott", AMBIT_F32, {0}, {{1, 257}, {5, 883}, {6, 984}, {7, 872}, {8, 902}}},
    {"grayscott", AMBIT_F64, {0}, {{1, 128}, {3, 309}, {4, 409}, {5, 383}, {6, 438}}},
    {"wave",
     AMBIT_F32,
     {0},
     {{1, 364}, {6, 1290}, {8, 1543}, {9, 1571}, {10, 1614}, {11, 1622}, {12, 1783}, {14, 1430}}},
    {"wave", AMBIT_F64, {0}, {{1, 182}, {6, 640}, {7, 725}, {8, 654}, {10, 732}, {12, 786}}},
    {"fdtd",
     AMBIT_F32,
     {0},
     {{1, 120}, {5, 721}, {6, 857}, {8, 1020}, {9, 1023}, {10, 1124}, {11, 1020}, {12, 1283}}},
    {"fdtd", AMBIT_F64, {0}, {{1, 60}, {5, 356}, {6, 421}, {8, 449}, {10, 526}, {11, 502}}},
    {"star3d1", AMBIT_F32, {0}, {{1, 501}, {2, 567}, {3, 840}, {4, 746}, {5, 588}}},
    {"star3d1", AMBIT_F64, {0}, {{1, 247}, {2, 360}, {3, 398}, {4, 381}}},
    {"box3d1", AMBIT_F32, {0}, {{1, 469}, {2, 371}, {3, 294}}},
    {"box3d1", AMBIT_F64, {0}, {{1, 226}, {2, 224}}},
    {"star3d2", AMBIT_F32, {0}, {{1, 457}, {2, 378}, {3, 334}}},
    {"star3d2", AMBIT_F64, {0}, {{1, 212}, {2, 197}}},
    {"star2d1",
     AMBIT_F32,
     {1024, 1024},
     {{1, 155}, {2, 335}, {3, 470}, {4, 517}, {6, 582}, {8, 532}, {12, 448}}},
    {"star2d1",
     AMBIT_F32,
     {2048, 2048},
     {{1, 497}, {2, 636}, {3, 941}, {4, 999}, {6, 1423}, {8, 1336}, {12, 1300}}},
    {"star2d1", AMBIT_F32, {3072, 3816}, {{1, 438}, {6, 1494}, {8, 1818}, {9, 1723}, {12, 2044}}},
    {"star2d2", AMBIT_F32, {8192, 8192}, {{4, 1349}, {5, 1352}, {6, 1280}}},
};

/* Programs of several fields, as in bench/fused: a letter per field of each step, and those that
 * trade buffers, in pairs or in turns. */
typedef struct coupled {
  const char *name;
  bool periodic;
  const char *rules[2], *fields[2], *turns[2];
} coupled;

static const coupled programs[] = {
    {"grayscott",
     true,
     {"void grayscott(const real *u, const real *v, real *u2, real *v2) {"
      " const real du = u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - (real)4 * *u;"
      " const real dv = v[-1][0] + v[1][0] + v[0][-1] + v[0][1] - (real)4 * *v;"
      " const real uvv = *u * *v * *v;"
      " *u2 = *u + (real)0.16 * du - uvv + (real)0.035 * ((real)1 - *u);"
      " *v2 = *v + (real)0.08 * dv + uvv - (real)0.095 * *v; }"},
     {"abcd"},
     {"ac", "bd"}},
    {"wave",
     false,
     {"void wave(const real *before, const real *now, real *after) {"
      " const real sum = now[-1][0] + now[1][0] + now[0][-1] + now[0][1] - (real)4 * *now;"
      " *after = (real)2 * *now - *before + (real)0.1 * sum; }"},
     {"abc"},
     {"abc"}},
    {"fdtd",
     false,
     {"void magnetic(const real *ez, real *hx, real *hy) {"
      " *hx -= (real)0.5 * (ez[1][0] - *ez); *hy += (real)0.5 * (ez[0][1] - *ez); }",
      "void electric(const real *hx, const real *hy, real *ez) {"
      " *ez += (real)0.5 * (*hy - hy[0][-1] - *hx + hx[-1][0]); }"},
     {"abc", "bca"},
     {NULL}},
};

static const coupled *coupled_named(const char *name)
{
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    if (!strcmp(programs[i].name, name)) return &programs[i];
  return NULL;
}

typedef struct scene {
  ambit *a;
  ambit_program *p;
} scene;

static void add_coupled(const scene *s, const coupled *c, ambit_type type)
{
  ambit_field *all[MOST_FIELDS], *turn[MOST_FIELDS];
  const int n = (int)strlen(c->fields[0]);

  for (int i = 0; i < n; i++) {
    all[i] = ambit_field_create(s->p->grid, (const char[]){(char)('a' + i), 0}, type);
    ambit_field_boundary(all[i], AMBIT_ALL_FACES, c->periodic ? AMBIT_PERIODIC : AMBIT_FIXED, 0);
  }
  for (int k = 0; k < 2 && c->rules[k]; k++) {
    ambit_arg args[MOST_FIELDS];

    for (int i = 0; i < n; i++)
      args[i] = ambit_arg_field(all[c->fields[k][i] - 'a']);
    ambit_define_real(s->a, type);
    ambit_apply_args(s->p, ambit_kernel_create(s->a, c->rules[k]), n, args);
  }
  for (int k = 0; k < 2 && c->turns[k]; k++) {
    for (int i = 0; c->turns[k][i]; i++)
      turn[i] = all[c->turns[k][i] - 'a'];
    ambit_rotate(s->p, (int)strlen(c->turns[k]), turn);
  }
}

static void add_stencil(const scene *s, const char *kernel, ambit_type type)
{
  ambit_field *u = ambit_field_create(s->p->grid, "u", type);
  ambit_field *v = ambit_field_create(s->p->grid, "v", type);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_apply(s->p, ambit_kernel_create_named(s->a, kernel, type), u, v);
  ambit_swap(s->p, u, v);
}

/* Nothing runs: the device only plans, with plans that begin like this one. */
static scene open_scene(const measured *m, const char *plan)
{
  static const int64_t flat[] = {16384, 16384}, deep[] = {512, 512, 512};
  const coupled *c = coupled_named(m->kernel);
  const int ndims = c ? 2 : m->kernel[strcspn(m->kernel, "23")] - '0';
  scene s = {.a = ambit_open(NULL, NULL)};
  ambit_grid *g;

  ambit_option_set(s.a, "devices", "cuda");
  ambit_option_set(s.a, "plan", plan);
  ambit__pretend(s.a, 0, 1);
  g = ambit_grid_create(s.a, ndims, m->cells[0] ? m->cells : ndims == 2 ? flat : deep);
  s.p = ambit_program_create(g);
  if (c)
    add_coupled(&s, c, m->type);
  else
    add_stencil(&s, m->kernel, m->type);
  return s;
}

/* Between measured depths by interpolation; 0 beyond them. */
static double speed_at(const measured *m, int depth)
{
  for (int i = 0; i < MOST_SPEEDS && m->by[i].depth; i++) {
    const int d = m->by[i].depth, before = i ? m->by[i - 1].depth : d;

    if (d == depth) return m->by[i].speed;
    if (before < depth && depth < d)
      return m->by[i - 1].speed +
             (m->by[i].speed - m->by[i - 1].speed) * (depth - before) / (d - before);
  }
  return 0;
}

static double best_speed(const measured *m)
{
  double best = 0;

  for (int i = 0; i < MOST_SPEEDS; i++)
    if (m->by[i].speed > best) best = m->by[i].speed;
  return best;
}

/* The plan of a depth; returns its ns per cell by estimate, negative if there is none. */
static double plan_at(const scene *s, int depth, char *plan, size_t size)
{
  ambit__device *dev = s->a->engines[0].device;
  ambit__fused *f = calloc(1, sizeof *f);
  ambit__function *fn;
  const char *why = ambit__fuse_group(s->p, depth, f);
  const double ns = why ? -1 : dev->backend->estimate(dev, &f->group);

  if (ns > 0) {
    ambit__ask(dev, build, &f->group, &fn);
    snprintf(plan, size, "%s", fn->plan);
    ambit__ask(dev, discard, fn);
  }
  ambit__fuse_plan_free(&f->plan);
  free(f);
  return ns;
}

static void show(const scene *s)
{
  for (int depth = 2; depth <= 16; depth++) {
    char plan[100];
    const double ns = plan_at(s, depth, plan, sizeof plan);

    if (ns > 0) printf("#   %d: %.0f %s\n", depth, 1 / ns, plan);
  }
}

static void the_chosen_depth_is_nearly_the_fastest(void)
{
  for (size_t i = 0; i < sizeof h200 / sizeof *h200; i++) {
    const measured *m = &h200[i];
    scene s = open_scene(m, m->cells[0] && m->cells[0] < 2100 ? "(fused" : "");
    int depth;

    CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
    depth = s.p->cycle ? s.p->cycle->fused->plan.depth : 1;
    printf("# %s %s: depth %d, %.2f of the best\n", m->kernel, ambit_type_name(m->type), depth,
           speed_at(m, depth) / best_speed(m));
    if (getenv("FUSED_SHOW")) show(&s);
    CHECK_MSG(speed_at(m, depth) > 0.89 * best_speed(m), "%s %s: depth %d", m->kernel,
              ambit_type_name(m->type), depth);
    ambit_close(s.a);
  }
}

/* Microseconds per iteration by plan, of grids that stay in registers. The constants of the model
 * were fitted to these numbers and others. */
typedef struct held {
  measured grid;
  struct {
    const char *plan;
    double us;
  } by[5];
} held;

static const held h200_held[] = {
    {{"star3d1", AMBIT_F32, {64, 64, 64}, {{0}}},
     {{"(persistent 2x1x5 every 1 warps 16)", 1.64},
      {"(persistent 2x1x7 every 2 warps 16)", 1.47},
      {"(persistent 2x1x10 every 3 warps 16)", 1.65},
      {"(persistent 2x2x7 every 2 warps 8)", 1.8}}},
    {{"star3d1", AMBIT_F64, {64, 64, 64}, {{0}}},
     {{"(persistent 2x1x5 every 1 warps 16)", 3.62},
      {"(persistent 2x1x7 every 2 warps 16)", 2.7},
      {"(persistent 1x1x14 every 2 warps 16)", 3.21},
      {"(persistent 2x2x7 every 2 warps 8)", 3.23}}},
    {{"box3d1", AMBIT_F32, {64, 64, 64}, {{0}}},
     {{"(persistent 2x1x5 every 1 warps 16)", 2.04},
      {"(persistent 2x1x7 every 2 warps 16)", 2.04},
      {"(persistent 2x1x8 every 1 warps 8)", 2.29},
      {"(persistent 2x1x10 every 3 warps 16)", 2.49}}},
    {{"star3d2", AMBIT_F32, {64, 64, 64}, {{0}}},
     {{"(persistent 2x2x7 every 1 warps 8)", 3.42},
      {"(persistent 2x2x12 every 2 warps 8)", 3.43},
      {"(persistent 2x2x6 every 1 warps 16)", 3.76},
      {"(persistent 2x2x12 every 2 warps 16)", 5.47}}},
    {{"star3d1", AMBIT_F32, {32, 32, 32}, {{0}}},
     {{"(persistent 1x1x6 every 2 warps 8)", 0.72},
      {"(persistent 1x1x6 every 2 warps 16)", 0.89},
      {"(persistent 1x1x4 every 1 warps 8)", 0.88}}},
    {{"star3d1", AMBIT_F32, {96, 96, 96}, {{0}}},
     {{"(persistent 2x1x16 every 2 warps 16)", 3.29},
      {"(persistent 4x1x10 every 2 warps 16)", 3.32},
      {"(persistent 4x1x8 every 1 warps 16)", 3.96},
      {"(persistent 4x2x10 every 2 warps 8)", 3.92}}},
    {{"star3d1", AMBIT_F32, {128, 128, 128}, {{0}}},
     {{"(persistent 4x1x12 every 1 warps 16)", 5.59},
      {"(persistent 4x2x12 every 1 warps 8)", 5.16},
      {"(persistent 4x2x7 every 1 warps 16)", 9.31},
      {"(persistent 4x3x8 every 1 warps 8)", 6.89}}},
};

static void the_plan_of_a_small_grid_is_nearly_the_fastest(void)
{
  for (size_t i = 0; i < sizeof h200_held / sizeof *h200_held; i++) {
    const held *h = &h200_held[i];
    scene s = open_scene(&h->grid, "(persistent");
    char plan[AMBIT__PLAN_CHARS];
    double us = 0, best = 1e9;

    CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
    ambit__cycle_print(s.p, plan);
    for (int k = 0; k < 5 && h->by[k].plan; k++) {
      if (!strcmp(plan, h->by[k].plan)) us = h->by[k].us;
      if (h->by[k].us < best) best = h->by[k].us;
    }
    printf("# %s %dx%dx%d: %s, %.2f of the best\n", h->grid.kernel, (int)h->grid.cells[0],
           (int)h->grid.cells[1], (int)h->grid.cells[2], plan, us > 0 ? best / us : 0);
    CHECK_MSG(us > 0 && us < 1.12 * best, "%s", plan);
    ambit_close(s.a);
  }
}

/* Compilers hold their code to the registers of so many blocks per multiprocessor. One more was
 * slower on an H200 with FDTD, one less with the others. */
static void blocks_that_are_resident(void)
{
  static const struct {
    measured m;
    int depth;
    const char *plan;
  } known[] = {
      {{"star2d1", AMBIT_F32, {0}, {{0}}}, 12, "(fused sum 4x12 ahead 2 warps 4 resident 3)"},
      {{"grayscott", AMBIT_F32, {0}, {{0}}}, 6, "(fused sum 4x6 ahead 2 warps 4 resident 3)"},
      {{"wave", AMBIT_F32, {0}, {{0}}}, 12, "(fused sum 4x12 ahead 2 warps 4 resident 3)"},
      {{"fdtd", AMBIT_F32, {0}, {{0}}}, 10, "(fused sum 4x10 ahead 2 warps 4 resident 2)"},
  };

  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    scene s = open_scene(&known[i].m, "");
    char plan[100] = "";

    CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
    CHECK(plan_at(&s, known[i].depth, plan, sizeof plan) > 0);
    CHECK_STR(known[i].plan, plan);
    ambit_close(s.a);
  }
}

/* The chunks that rows are cut into, of which these were the fastest of five to seven numbers on an
 * H200. Where no tile is at a face, they fill whole waves: of 4096^2 cells, 390 of 396 blocks. */
static void chunks_as_measured(void)
{
  static const struct {
    measured m;
    int depth, chunks;
  } known[] = {
      {{"grayscott", AMBIT_F32, {4096, 4096}, {{0}}}, 6, 39},
      {{"grayscott", AMBIT_F32, {4096, 4096}, {{0}}}, 8, 26},
      {{"grayscott", AMBIT_F32, {2200, 2200}, {{0}}}, 6, 79},
      {{"grayscott", AMBIT_F32, {2200, 2200}, {{0}}}, 8, 52},
      {{"star2d1", AMBIT_F32, {4096, 4096}, {{0}}}, 12, 20},
      {{"star2d1", AMBIT_F32, {3072, 3816}, {{0}}}, 12, 21},
      {{"star2d1", AMBIT_F32, {2560, 2560}, {{0}}}, 12, 31},
  };

  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const int64_t *cells = known[i].m.cells;
    scene s = open_scene(&known[i].m, "");
    ambit__fused *f = calloc(1, sizeof *f);
    ambit__window j;
    ambit__target gpu;
    ambit__plan plan;

    CHECK(ambit__dry_gpu("cuda", &ambit__machine_h200, &gpu));
    CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
    CHECK(!ambit__fuse_group(s.p, known[i].depth, f));
    CHECK(ambit__plan_choose(&f->group, &gpu, &plan));
    CHECK(ambit__fused_begin(&f->group, &plan, false, &j));
    CHECK_EQ(known[i].chunks,
             ambit__fused_chunks(&j, &plan, cells[0], cells[1] / ambit__window_useful(&j) + 1));
    ambit__fuse_plan_free(&f->plan);
    free(f);
    ambit_close(s.a);
  }
}

/* On an H200 single iterations of 64^3 cells take 4.4 to 5.8 us, and fused ones, with few blocks,
 * as long as these. All grids here are faster in registers. */
static void a_small_grid_stays_in_registers(void)
{
  for (size_t i = 0; i < sizeof h200_held / sizeof *h200_held; i++) {
    const measured *m = &h200_held[i].grid;
    scene s = open_scene(m, "");

    CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
    CHECK_MSG(s.p->cycle && s.p->cycle->fused->plan.flow.loops, "%s %s %d", m->kernel,
              ambit_type_name(m->type), (int)m->cells[0]);
    ambit_close(s.a);
  }
}

/* Long runs try another depth, where a grid stays in registers another plan, where single
 * iterations are preferred the best depth, and none that is estimated to be much slower. */
static void the_rival_of_a_plan(void)
{
  static const struct {
    measured m;
    int depth;
    const char *plan;
  } known[] = {
      {{"box2d1", AMBIT_F32, {0}, {{0}}}, 8, ""},   /* of depth 7 */
      {{"star2d1", AMBIT_F32, {0}, {{0}}}, 10, ""}, /* of 12: 11 would be too much alike */
      {{"star3d1", AMBIT_F32, {64, 64, 64}, {{0}}}, 256, "(persistent 2x1x5 every 1 warps 16)"},
      {{"star3d2", AMBIT_F32, {0}, {{0}}}, 2, ""}, /* of single iterations */
      {{"star3d2", AMBIT_F32, {256, 256, 256}, {{0}}}, 0, ""},
  };

  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    scene s = open_scene(&known[i].m, "");

    CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
    CHECK_EQ(known[i].depth, s.p->rival.depth);
    CHECK_STR(known[i].plan, s.p->rival.plan);
    ambit__program_unseal(s.p);
    CHECK_EQ(0, s.p->rival.depth);
    ambit_close(s.a);
  }
}

/* Steps on few cells go by tiles, of which there are many: chunks of planes would be 64 blocks. */
static void a_step_on_few_cells_has_many_blocks(void)
{
  static const struct {
    measured m;
    const char *plan;
  } known[] = {
      {{"box3d1", AMBIT_F32, {128, 128, 128}, {{0}}}, "(strip tile 4x2x4 "},
      {{"box3d1", AMBIT_F32, {0}, {{0}}}, "(strip sum 4x2 "},
      {{"star3d2", AMBIT_F32, {96, 96, 96}, {{0}}}, "(strip tile 4x2x3 "},
      {{"star3d2", AMBIT_F32, {0}, {{0}}}, "(strip sum 4x2 "},
      {{"box3d2", AMBIT_F32, {128, 128, 128}, {{0}}}, "(strip sum 4x2 "},
  };

  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    scene s = open_scene(&known[i].m, "");

    CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
    CHECK_MSG(ambit__plan_begins(s.p->applies[0].functions[0]->plan, known[i].plan), "%s",
              s.p->applies[0].functions[0]->plan);
    ambit_close(s.a);
  }
}

/* Walls on all faces, each a stage (bench/fused). */
static void the_depth_with_steps_on_faces_is_nearly_the_fastest(void)
{
  static const measured walls = {
      "star2d1",
      AMBIT_F32,
      {0},
      {{1, 503}, {3, 1222}, {4, 1467}, {5, 1672}, {6, 1711}, {7, 1578}, {8, 1468}}};
  scene s = open_scene(&walls, "");
  ambit_field *u = s.p->written[0].args[0].field, *v = s.p->written[0].args[1].field;
  ambit_program *p = ambit_program_create(s.p->grid);
  int depth;

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(p, ambit_kernel_create_named(s.a, "star2d1", AMBIT_F32), u, v);
  ambit_apply_faces(
      p, AMBIT_ALL_FACES,
      ambit_kernel_create(s.a, "void wall(const float *u, float *v) { *v = 0.5f * (*u + *v); }"), u,
      v);
  ambit_swap(p, u, v);
  CHECK_EQ(AMBIT_OK, ambit__program_seal(p));
  depth = p->cycle ? p->cycle->fused->plan.depth : 1;
  printf("# walls: depth %d, %.2f of the best\n", depth,
         speed_at(&walls, depth) / best_speed(&walls));
  s.p = p;
  if (getenv("FUSED_SHOW")) show(&s);
  CHECK(speed_at(&walls, depth) > 0.89 * best_speed(&walls));
  ambit_close(s.a);
}

/* A step on the faces has few cells: alone it costs little more than its launch. */
static void steps_on_faces_do_not_make_fusing_look_better(void)
{
  static const measured bulk[] = {{"star2d1", AMBIT_F32, {0}, {{0}}},
                                  {"box3d1", AMBIT_F32, {0}, {{0}}}};
  static const char *const walls[] = {"void wall(float *v) { *v = 0.5f * *v + 1; }",
                                      "void wall(const float *u, float *v) { *v = *u + 1; }"};

  for (int i = 0; i < 4; i++) {
    scene s = open_scene(&bulk[i / 2], "");
    ambit_field *u = s.p->written[0].args[0].field, *v = s.p->written[0].args[1].field;
    ambit_kernel *wall = ambit_kernel_create(s.a, walls[i % 2]);

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    if (i % 2)
      ambit_apply_faces(s.p, AMBIT_ALL_FACES, wall, u, v);
    else
      ambit_apply_faces(s.p, AMBIT_ALL_FACES, wall, u);
    CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
    CHECK_MSG((s.p->cycle != NULL) == (i < 2), "%s: %s", bulk[i / 2].kernel,
              ambit__cycle_refusal(s.p));
    if (getenv("FUSED_SHOW")) show(&s);
    ambit_close(s.a);
  }
}

/* An excitable medium with nine look-ups for a cell takes 1.3 ps singly, and 2.7 in launches of
 * several iterations; heat with one of them 2.3, and 0.95. */
static void look_ups_take_time(void)
{
  static const char many[] = "void excite(const short *s, short *t, table short a[16]) {"
                             " const int n = a[s[-1][-1]] + a[s[-1][0]] + a[s[-1][1]] +"
                             " a[s[0][-1]] + a[s[0][1]] + a[s[1][-1]] + a[s[1][0]] + a[s[1][1]];"
                             " *t = *s == 0 && n < 3 ? 0 : a[*s]; }";
  static const char one[] = "void react(const float *u, float *v, table float rate[16]) {"
                            " *v = *u + 0.1f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u)"
                            " + rate[(int)(15 * *u)]; }";
  static const short table[16] = {1, 2, 3};

  for (int i = 0; i < 2; i++) {
    scene s = open_scene(&(measured){"star2d1", i ? AMBIT_F32 : AMBIT_I16, {0}, {{0}}}, "");
    ambit_program *p = ambit_program_create(s.p->grid);
    ambit_field *u = s.p->written[0].args[0].field, *v = s.p->written[0].args[1].field;

    ambit_apply(p, ambit_kernel_create(s.a, i ? one : many), u, v,
                ambit_arg_table(table, AMBIT_I16, 1, 16));
    ambit_swap(p, u, v);
    CHECK_EQ(AMBIT_OK, ambit__program_seal(p));
    CHECK_EQ(i, p->cycle != NULL);
    ambit_close(s.a);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_chosen_depth_is_nearly_the_fastest", the_chosen_depth_is_nearly_the_fastest},
      {"the_plan_of_a_small_grid_is_nearly_the_fastest",
       the_plan_of_a_small_grid_is_nearly_the_fastest},
      {"blocks_that_are_resident", blocks_that_are_resident},
      {"chunks_as_measured", chunks_as_measured},
      {"a_small_grid_stays_in_registers", a_small_grid_stays_in_registers},
      {"the_rival_of_a_plan", the_rival_of_a_plan},
      {"a_step_on_few_cells_has_many_blocks", a_step_on_few_cells_has_many_blocks},
      {"the_depth_with_steps_on_faces_is_nearly_the_fastest",
       the_depth_with_steps_on_faces_is_nearly_the_fastest},
      {"steps_on_faces_do_not_make_fusing_look_better",
       steps_on_faces_do_not_make_fusing_look_better},
      {"look_ups_take_time", look_ups_take_time},
      {0}};

  return test_main(argc, argv, tests);
}
