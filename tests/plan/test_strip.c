/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of the strategy `strip`, run on a simulated GPU. Every byte of memory must match the
 * reference device. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS, mkdtemp */
#include "nest/strip/pairs.h"
#include "simulated.h"
#include "texts.h"

enum { MOST_PLANS = 64 };

static ambit__errors errors;
static ambit__settings settings;

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

static void simplify(problem *p)
{
  ambit__rule *to = NULL;

  CHECK_EQ(AMBIT_OK, ambit__rule_simplify(&errors, p->rule, &to));
  CHECK_MSG(to, "%s: not simplified", p->text);
  if (!to) return;
  p->parsed = p->rule;
  p->rule = to;
}

/* Small numbers. */
static void set_tables(problem *p)
{
  short values[64];

  for (int i = 0; i < 64; i++)
    values[i] = (short)(i * 29 % 64 ? i * 29 % 53 : 127);
  for (int i = 0; p->rule && i < p->rule->ntables; i++)
    if (!p->rule->tables[i].values)
      CHECK_EQ(AMBIT_OK, ambit__table_set(&errors, p->rule, i, values, AMBIT_I16));
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
  set_tables(p);
  if (p->simplified && p->rule) simplify(p);
}

/* The same plan where lanes exchange nothing. */
static void run_apart(problem *p, const ambit__group *g, ambit__plan plan)
{
  plan.apart = true;
  run_plan(p, g, &plan, true);
}

/* The plans of interest: of both forms the first, the last, and one in the middle. make check runs
 * every 54th one of them; make check-long runs all. */
static bool is_chosen(const ambit__plan *plans, int n, int i)
{
  static int count;
  const bool wanted = i == 0 || i == n - 1 || i == n / 3 || plans[i].sums != plans[i - 1].sums;

  return wanted && (test_takes(count++, 54) || n < 3);
}

static bool is_ring(const ambit__plan *plans, int n, int i)
{
  (void)n;
  return plans[i].ring > 0 && !plans[i - 1].ring;
}

/* ---- texts ---- */

/* Writes the plans for all kinds of devices: every 27th one of them; with --hashes or --texts, all,
 * to compare two builds. */
static void write_plans(ambit__group g)
{
  static const ambit__target targets[] = {
      {.dialect = &ambit__dialect_cuda, .shared = 227 << 10, .dots = true, .minima = true},
      {.dialect = &ambit__dialect_cuda, .shared = 227 << 10},
      {.dialect = &ambit__dialect_opencl, .shared = 48 << 10},
      {.dialect = &ambit__dialect_opencl, .shared = 48 << 10, .minima = true},
      {.dialect = &ambit__dialect_opencl, .shared = 48 << 10, .is_cpu = true},
  };
  static int count;

  for (size_t i = 0; i < 2 * sizeof targets / sizeof *targets; i++) {
    ambit__target t = targets[i / 2];
    ambit__plan plans[MOST_PLANS];
    int n;

    t.kind = TARGET_GPU;
    t.threads = 132;
    t.max_threads = 1024;
    g.strict = i % 2 != 0;
    n = ambit__strategy_strip.candidates(&g, &t, plans, MOST_PLANS);
    for (int k = 0; k < n; k++) {
      char *source;

      if (!prints && count++ % 27) continue;
      source = ambit__plan_source(&g, &t, &plans[k]);
      CHECK(source && strstr(source, AMBIT_ENTRY));
      print_source(i, t.dialect, plans[k].strategy->name, source);
      free(source);
    }
  }
}

/* Runs a problem with some plans, the one in the middle also without exchanges; make check has
 * every second problem. Returns the number of runs. */
static int check_with(problem p, bool (*wanted)(const ambit__plan *plans, int n, int i))
{
  ambit__group g = {.bind = p.bind, .depth = 1, .ndims = p.ndims, .strict = p.strict};
  ambit__plan plans[MOST_PLANS];
  static int count;
  int n, runs = 0;

  if (!prints && !test_takes(count++, 2)) return 0;
  parse(&p);
  if (!p.rule) return 0;
  g.rule = p.rule;
  for (int d = 0; d < p.ndims; d++) {
    g.cells[d] = p.extents[d];
    p.boundaries.kind[d][0] = p.boundaries.kind[d][1] = p.boundary;
    p.boundaries.value[d][0] = 0.5;
    p.boundaries.value[d][1] = -1.25;
  }
  for (int i = 0; i < p.rule->nparams; i++) {
    const ambit_boundary end = p.closed && is_field(&p, i) ? p.boundary : AMBIT_NONE;

    p.bind[i] = (ambit__binding){
        .is_field = is_field(&p, i), .contiguous = is_field(&p, i), .ends = {end, end}};
  }
  write_plans(g);
  n = ambit__strategy_strip.candidates(&g, &gpu, plans, MOST_PLANS);
  for (int i = 0; i < n && !prints; i++)
    if (wanted(plans, n, i) || (wanted == is_chosen && i == n - 1 && !runs)) {
      run_plan(&p, &g, &plans[i], i % 2);
      if (i == n / 3 && !plans[i].ring) run_apart(&p, &g, plans[i]);
      runs++;
    }
  CHECK_MSG(runs > 0 || prints, "%s: no plan", p.name);
  ambit__rule_free(p.rule);
  ambit__rule_free(p.parsed);
  return runs;
}

static int check(problem p)
{
  return check_with(p, is_chosen);
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
                    .boundary = (ambit_boundary)(1 + i % 5)});
}

static void weighted_sums_in_3d(void)
{
  static const char *const names[] = {"star3d1", "box3d1", "star3d2", "3df7", "3dnc12", "star3d4"};

  for (int i = 0; i < 6; i++)
    check((problem){.name = names[i],
                    .type = i % 2 ? AMBIT_F64 : AMBIT_F32,
                    .ndims = 3,
                    .extents = {9, 23 + i, 150 - i},
                    .boundary = (ambit_boundary)(1 + i % 5)});
}

/* Plans with fewer operations: the one with the most rows, whose registers are shifted; make
 * check-long takes all. */
static bool is_factored(const ambit__plan *plans, int n, int i)
{
  (void)n;
  return plans[i].factored && test_takes(plans[i].rows[0] != 4, 2);
}

static void sums_with_fewer_operations(void)
{
  check_with((problem){.name = "symmetric",
                       .text = "void symmetric(const float *u, float *v)\n"
                               "{\n"
                               "  float sum = 0;\n"
                               "  for (int z = -2; z <= 2; z++)\n"
                               "    for (int y = -2; y <= 2; y++)\n"
                               "      for (int x = -1; x <= 1; x++)\n"
                               "        sum += 0.25f / (1 + z * z + y * y + x * x) * u[z][y][x];\n"
                               "  *v = sum;\n"
                               "}\n",
                       .ndims = 3,
                       .extents = {11, 41, 150},
                       .boundary = AMBIT_SYMMETRIC},
             is_factored);
}

/* Planes in shared memory: the last block has few rows, and the last strip few columns. The second
 * rule has fields beside that in the ring, a reduction, and uses the place of its cell. */
static void planes_in_a_ring(void)
{
  problem wave = {.name = "wave",
                  .text = "void wave(const double *u, const double *o, double *v, max double *m)"
                          "{"
                          "  double s = u[3][0][0] - u[-3][0][0] + u[0][4][0] - u[0][-2][0];"
                          "  s = s + u[0][0][3] * index(0) - u[0][0][-1] * index(1);"
                          "  *v = 2 * *u - *o + 0.25 * s;"
                          "  *m = *v;"
                          "}",
                  .type = AMBIT_F64,
                  .ndims = 3,
                  .extents = {24, 26, 66},
                  .closed = true,
                  .strict = true,
                  .boundary = AMBIT_PERIODIC};

  check_with((problem){.name = "star3d4",
                       .type = AMBIT_F32,
                       .ndims = 3,
                       .extents = {4, 35, 140},
                       .boundary = AMBIT_REFLECT},
             is_ring);
  check_with((problem){.name = "near",
                       .text = "void near(const float *u, const float *c, float *v)"
                               "{ *v = *c * (u[3][0][0] - u[-1][0][0] + u[0][3][0] - u[0][-2][0] + "
                               "u[0][0][-3]) - *u; }",
                       .ndims = 3,
                       .extents = {9, 40, 140},
                       .boundary = AMBIT_CLAMP},
             is_ring);
  check_with(wave, is_ring);
  wave.boundary = AMBIT_REFLECT;
  check_with(wave, is_ring);
}

/* So many terms that registers are shifted, rows are added one by one and weights are in a table.
 */
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

/* Without ghost cells, nothing outside the grid may be read, not even if a warp has fewer rows than
 * it computes. */
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

static const ambit_boundary copies[] = {AMBIT_CLAMP, AMBIT_SYMMETRIC, AMBIT_REFLECT};

/* Closed rows: of whole strips and others, a box with only one end of its rows, one of few cells,
 * vectors of bytes, and four dimensions. */
static void rows_that_are_closed(void)
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

    p.closed = true;
    p.boundary = AMBIT_PERIODIC;
    check(p);
    for (size_t k = 0; k < 3; k++) {
      p.boundary = copies[k];
      if (k == i % 3 || getenv("TEST_EVERY_CASE")) check(p);
    }
  }
}

/* Fixed faces, boxes that begin anywhere, one-sided sums, several fields and components, old
 * values, bytes, four dimensions. */
static void rows_that_keep_their_ends(void)
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

  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    problem p = problems[i];

    if (!p.ndims) p.ndims = 3;
    if (!p.extents[0]) memcpy(p.extents, (int64_t[]){9, 24, 144}, 3 * sizeof *p.extents);
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

static void strict_sums_are_exact(void)
{
  for (int i = 0; i < 2; i++)
    check((problem){.name = "sums",
                    .text =
                        "void sums(const double *u, sum double *s, sum float *f, max double *m)\n"
                        "{\n"
                        "  double x = u[0][1] * exp(40 * u[-1][0]);\n"
                        "  *s = x;\n"
                        "  *f = (float)x;\n"
                        "  *m = x;\n"
                        "}\n",
                    .ndims = 2,
                    .extents = {33, 1001},
                    .lo = {1, 3},
                    .hi = {32, 999},
                    .boundary = AMBIT_CLAMP,
                    .ended = i,
                    .strict = true});
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

static void components_and_fields_that_lie_apart(void)
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

/* Lines, whose blocks are strips side by side; rules that read further along a row than two
 * vectors; choices whose sides are both computed. */
static void lines(void)
{
  static const problem problems[] = {
      {.text = "void r(const float *u, float *v)\n"
               "{\n"
               "  float s = 0;\n"
               "  for (int x = -16; x <= 13; x++) s += 0.01f * (20 + x) * u[x];\n"
               "  *v = s;\n"
               "}\n",
       .extents = {3007},
       .boundary = AMBIT_PERIODIC},
      {.text = "void r(const double *u, double *v, const float *w, max double *m)\n"
               "{\n"
               "  double a = u[-1] < *w ? u[1] * (double)index(0) : w[-1] / (*u + 3);\n"
               "  if (u[2] > *u && *w < u[-2]) a = a > 0 ? fmin(a, u[-1] - *u) : -a;\n"
               "  else *v = 3 * u[1];\n"
               "  *v += a;\n"
               "  *m = *v;\n"
               "}\n",
       .extents = {1311},
       .lo = {3},
       .hi = {1302},
       .boundary = AMBIT_REFLECT},
      {.text = "void r(const float *u, float *v) { *v = *u + 0.1f * (u[-1] - u[1]); }\n",
       .extents = {1296},
       .closed = true,
       .boundary = AMBIT_CLAMP},
      {.text = "void r(const unsigned char *u, unsigned char *v) { *v = u[-1] + u[1] > 200; }\n",
       .extents = {5003},
       .boundary = AMBIT_PERIODIC},
      {.text = "void r(const short *u, short *v, double k)\n"
               "{\n"
               "  bfloat t = fminf(100.0f, fmaxf(-100.0f, fmax(1.0f - k, k)));\n"
               "  if (*u > 3) t = 0.125f * k;\n"
               "  if (u[-1] > 7) t = sqrtf(t);\n"
               "  *v = -(float)(t != 0.25);\n"
               "}\n",
       .simplified = true,
       .extents = {2100},
       .boundary = AMBIT_CLAMP},
      {.text = "void r(const float *u, float *v) { *v = u[-1][-11] - 2 * u[0][3] + u[0][14]; }\n",
       .ndims = 2,
       .extents = {19, 403},
       .boundary = AMBIT_CLAMP},
  };

  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    problem p = problems[i];

    p.name = "lines";
    p.strict = true;
    if (!p.ndims) p.ndims = 1;
    check(p);
  }
}

/* Rules that test where their cell is: tiles far from all faces, and others. */
static void tests_of_place(void)
{
  static const problem problems[] = {
      {.text = "void r(const float *u, float *v)\n"
               "{\n"
               "  float a = index(0) < 2 ? 3 - u[-1] : u[-1];\n"
               "  *v = index(0) >= extent(0) - 1 ? a : a + u[1];\n"
               "}\n",
       .ndims = 1,
       .extents = {1603}},
      {.text = "void r(const double *u, double *v, sum double *s)\n"
               "{\n"
               "  double a = outside(1, 0) ? 3 - u[1][0] : u[1][0];\n"
               "  if (index(1) == extent(1) - 1) a = 2 * u[-1][-1];\n"
               "  *v = a + (outside(0, -1) ? 5.5 : u[0][-1]);\n"
               "  *s = *v;\n"
               "}\n",
       .ndims = 2,
       .extents = {61, 500}},
      {.text = "void r(const float *u, float *v)\n"
               "{\n"
               "  float a = index(0) < 1 ? 3 - u[-1][0][0] : u[-1][0][0];\n"
               "  float b = index(1) > extent(1) - 3 ? 2 - u[0][1][0] : u[0][1][0];\n"
               "  float c = index(2) < 1 ? 5 - u[0][0][-1] : u[0][0][-1];\n"
               "  *v = a + b - c;\n"
               "}\n",
       .ndims = 3,
       .extents = {17, 43, 150}},
  };

  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    problem p = problems[i];

    p.name = "places";
    p.strict = true;
    p.boundary = AMBIT_SYMMETRIC;
    check(p);
  }
}

/* So many fields of 16-bit values that only lanes of two cells fit. */
static void short_lanes(void)
{
  check((problem){.name = "lattice",
                  .text = "void lattice(const bfloat *f[19], bfloat *g[19])\n"
                          "{\n"
                          "  for (int i = 0; i < 19; i++) {\n"
                          "    const int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;\n"
                          "    *g[i] = 0.5f * f[i][z][y][x] + i;\n"
                          "  }\n"
                          "}\n",
                  .ndims = 3,
                  .extents = {5, 13, 75},
                  .boundary = AMBIT_CONSTANT});
}

static void check_words(const problem *problems, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    problem p = problems[i];

    p.name = "words";
    if (!p.ndims) p.ndims = 2;
    p.strict = true;
    p.boundary = p.closed ? AMBIT_PERIODIC : AMBIT_CLAMP;
    check(p);
    for (size_t k = 0; p.closed && k < 3; k++) {
      p.boundary = copies[k];
      check(p);
    }
  }
}

/* Bytes are computed two at a time as far as 16 bits suffice: negative sums, comparisons, choices,
 * minima, magnitudes, quotients, bits and shifts, conversions that wrap, scalars, locals set twice
 * or under a condition, old values, reductions, tables, and parts that need more bits. */
static void bytes(void)
{
  static const problem problems[] = {
      {.text = "void r(const unsigned char *u, unsigned char *v, sum long *n)\n"
               "{\n"
               "  int k = 0;\n"
               "  for (int y = -1; y <= 1; y++)\n"
               "    for (int x = -1; x <= 1; x++) k += u[y][x] % 2;\n"
               "  k -= *u & 1;\n"
               "  int all = 0;\n"
               "  for (int x = -3; x <= 3; x++) all += u[0][x];\n"
               "  *v = k == 3 || (all != 700 && !(*u > 100));\n"
               "  *n = *v;\n"
               "}\n",
       .extents = {14, 1300}},
      {.text = "void r(const unsigned char *u, unsigned char *v)\n"
               "{\n"
               "  int a = u[-1][1] - u[-1][-1] + 2 * (u[0][1] - u[0][-1]) + u[1][1] - u[1][-1];\n"
               "  int b = u[1][-1] - u[-1][-1] + 2 * (u[1][0] - u[-1][0]) + u[1][1] - u[-1][1];\n"
               "  *v = fminf(sqrtf((float)(a * a + b * b)), 255.0f);\n"
               "}\n",
       .extents = {15, 703},
       .lo = {1, 1},
       .hi = {14, 701}},
      {.text = "void r(const unsigned char *u, unsigned char *v, unsigned char k, int m)\n"
               "{\n"
               "  int d = u[0][5] - u[0][-8], t = 7;\n"
               "  unsigned char low = (unsigned char)(d - 3 * u[1][0]);\n"
               "  if (d < m) t = d + u[1][1] - k;\n"
               "  int e = d >= 0 ? *u >> 2 : (low ^ k) & 60;\n"
               "  e += (unsigned char)fminf(sqrtf((float)(d * d + 2 * low)), 99.0f);\n"
               "  d = -d << 2;\n"
               "  *v = (unsigned char)(e + (t > 5 ? low : d * 4097) + (d <= k) + (d != -4));\n"
               "}\n",
       .extents = {13, 770}},
      {.text = "void r(const unsigned char *u, const unsigned char *w, unsigned char *v)\n"
               "{\n"
               "  if (u[0][0][1] == w[0][0][0] || u[1][0][0] < u[0][-1][0])\n"
               "    *v = (unsigned char)((u[0][0][-1] | 3) + *v);\n"
               "}\n",
       .ndims = 3,
       .extents = {6, 25, 530}},
      {.text = "void r(const unsigned char *u[2], unsigned char *v[2], max int *most)\n"
               "{\n"
               "  unsigned char a = u[1][-2][0], b = u[0][1][-1];\n"
               "  int d = a - 2 * b, e = b - a;\n"
               "  d = (d < e ? e : d) + (d < 9 ? d : 9) + abs(d) + (d >> 2) + (d == 3 ? e : d);\n"
               "  *v[0] = (unsigned char)(d + (a < b ? a : b));\n"
               "  *v[1] = (a + b + 1) / 2 + (9 * a + b) / 21;\n"
               "  *most = abs(a - b) + (int)index(1) % 7;\n"
               "}\n",
       .extents = {13, 768},
       .closed = true},
      {.text = "void r(const unsigned char *u, unsigned char *v, sum long *n)\n"
               "{\n"
               "  *v = (unsigned char)(15.0f * sqrtf(*u) + 9 * cosf(u[0][1]));\n"
               "  *n = *v;\n"
               "}\n",
       .extents = {13, 770},
       .simplified = true},
  };

  check_words(problems, sizeof problems / sizeof *problems);
}

static bool is_so(bool (*is)(const ambit__rule *), problem p)
{
  bool so;

  p.name = "words";
  parse(&p);
  so = p.rule && is(p.rule);
  ambit__rule_free(p.rule);
  ambit__rule_free(p.parsed);
  return so;
}

/* Four bytes at a time, where small numbers suffice: comparisons of bytes and of small numbers,
 * some of them negative, choices, bits, shifts, and scalars; cells in one word and in two. */
static void four_bytes(void)
{
  static const problem problems[] = {
      {.text = "void r(const unsigned char *u, const unsigned char *w, unsigned char *v,\n"
               "       unsigned char k)\n"
               "{\n"
               "  int n = 0;\n"
               "  for (int y = -1; y <= 1; y++)\n"
               "    for (int x = -1; x <= 1; x++) n += u[y][x] > 100;\n"
               "  int d = (u[0][-2] == k) - 3 * (w[0][3] < u[1][0]) + (u[0][1] >= 200);\n"
               "  int e = d < 0 ? -d : d - (n == 4) << 1;\n"
               "  unsigned char near = d <= -1 || u[-1][0] <= w[0][-1] ? n + 2 * (d + 4) : k;\n"
               "  *v = n > 3 && d != 1 ? u[0][5] ^ w[1][0] : !u[0][-7] && e ? u[0][-5] >> 3 | 129\n"
               "       : e > -1 ? near : (d >> 1) + 9;\n"
               "}\n",
       .extents = {14, 1300}},
      {.text = "void r(const unsigned char *u[2], unsigned char *v[2])\n"
               "{\n"
               "  int n = (u[0][0][0][1] != u[1][1][0][0]) + (u[1][0][-1][-4] < 128) * 5;\n"
               "  *v[0] = (unsigned char)n;\n"
               "  *v[1] = n < 3 ? u[1][0][0][-1] & 254 : n * 3;\n"
               "}\n",
       .ndims = 3,
       .extents = {6, 25, 544},
       .closed = true},
      {.text = "void r(const unsigned char *u, unsigned char *v)\n"
               "{\n"
               "  int odd = index(0) & 1, turn = (index(0) + 3 * index(1) + step()) % 4;\n"
               "  int s = (odd ? u[1][0] : u[1][-1]) & 3 | u[0][1] & 28 | (index(1) & 31);\n"
               "  int n = 255 - *u / 2;\n"
               "  if (s == 9) s = turn == 2 ? 18 : 36;\n"
               "  if (u[0][-1] >> 1 == 64) n--;\n"
               "  if (n < u[-1][0] / 4 + u[0][1] % 64 + (u[1][-2] >= *u) * 128) n = 0;\n"
               "  *v = *u & 64 ? 64 | (s << 3 | s >> 3) & 63 : s ^ n;\n"
               "}\n",
       .extents = {14, 1300},
       .simplified = true},
      {.text = "void r(const unsigned char *u, unsigned char *v, table int f[3][9],\n"
               "       table unsigned char g[16])\n"
               "{\n"
               "  int n = 0;\n"
               "  for (int x = -1; x <= 1; x++) n += (u[1][x] & 3) + (u[-1][x] == 1);\n"
               "  *v = f[*u][n] + g[u[0][1]] + (g[u[0][-1] & 31] == 29);\n"
               "}\n",
       .extents = {14, 1300},
       .simplified = true},
  };
  const size_t n = sizeof problems / sizeof *problems;

  for (size_t i = 0; i < n; i++)
    CHECK_MSG(is_so(ambit__rule_is_quads, problems[i]), "%s", problems[i].text);
  check_words(problems, test_takes(1, 2) ? n : 1);
}

/* Two shorts at a time, of any value: minima, comparisons, choices, bits, and scalars; sums of
 * numbers that are not negative; cells in one word and in two. */
static void two_shorts(void)
{
  static const problem problems[] = {
      {.text =
           "void r(const short *u, const short *w, short *v, short k)\n"
           "{\n"
           "  int a = u[-1][0], b = u[0][-1], c = w[0][3], d = u[0][-4];\n"
           "  int low = a < b ? a : b, high = c < d ? d : c;\n"
           "  int n = 0;\n"
           "  for (int x = -1; x <= 1; x++) n += u[1][x] > -300;\n"
           "  n = 2 * n + (u[0][1] & 1023) / 7 + (a <= b) + 3 * (b >= k) + 5 * (c == d) + (a != "
           "u[1][0]);\n"
           "  *v = low < high ? (u[0][1] ^ low | 5) : a >= b && !(c != d) && low <= k ? -32768\n"
           "       : n < 30 ? n << 2 : high > k || u[0][4] ? high & -77 : (u[1][1] < 0) + 32766;\n"
           "}\n",
       .extents = {14, 700},
       .lo = {1, 1},
       .hi = {13, 697}},
      {.text = "void r(const short *u[2], short *v[2])\n"
               "{\n"
               "  short a = u[0][0][0][1], b = u[1][1][0][-2];\n"
               "  *v[0] = a < b ? a : b < -5 ? -5 : b;\n"
               "  *v[1] = (a & 255) + (b & 127) == 200 ? u[1][0][-1][0] : a | b;\n"
               "}\n",
       .ndims = 3,
       .extents = {6, 25, 272},
       .closed = true},
      {.text = "void r(const short *s, short *t, table short f[16], table int g[32])\n"
               "{\n"
               "  int n = f[s[-1][0]] + f[s[0][-1]] + f[s[0][1]] + f[s[1][0]] + g[s[0][2] & 31];\n"
               "  *t = *s == 0 && n < 30 ? 0 : g[*s] - (n > 99);\n"
               "}\n",
       .extents = {14, 700},
       .simplified = true},
  };

  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
    CHECK_MSG(is_so(ambit__rule_is_shorts, problems[i]), "%s", problems[i].text);
  CHECK(!is_so(ambit__rule_is_shorts,
               (problem){.text = "void r(const short *u, short *v) { *v = *u + u[1]; }"}));
  CHECK(!is_so(ambit__rule_is_shorts,
               (problem){.text = "void r(const short *u, short *v) { *v = *u < u[1] + 1; }"}));
  CHECK(!is_so(ambit__rule_is_shorts,
               (problem){.text = "void r(const short *u, short *v) { *v = *u >> 1; }"}));
  check_words(problems, test_takes(1, 2) ? 3 : 1);
}

/* Sums of shorts: terms in one word and in two, weights of both signs, roots of whole numbers, and
 * what else there is: scalars, places, old values, reductions. */
static void sums_of_shorts(void)
{
  static const problem problems[] = {
      {.text = "void r(const short *u, const short *w, short *v, short k, sum long *n)\n"
               "{\n"
               "  int a = u[-1][1] + 2 * u[0][1] + u[1][1] - u[-1][-1] - 2 * u[0][-1] - u[1][-1];\n"
               "  int b = 127 * u[1][-4] - 128 * u[1][3] + 5 * (u[0][0] - w[0][2]) - 2000000000;\n"
               "  float m = sqrtf((float)a * (float)a + (float)k * k);\n"
               "  *v = (short)(b / 9 + (int)index(1)) ^ (short)(m < 32767.0f ? m : *v);\n"
               "  *n = *v + w[0][1];\n"
               "}\n",
       .extents = {14, 700},
       .lo = {1, 1},
       .hi = {13, 697}},
  };

  check_words(problems, 1);
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

/* Lanes of a warp are in several rows. */
static void short_rows(void)
{
  static const struct {
    int ndims;
    int64_t extents[AMBIT_MAX_DIMS];
    const char *name;
    ambit_boundary boundary;
  } cases[] = {
      {3, {11, 37, 1}, "3d6", AMBIT_PERIODIC},   {3, {9, 45, 3}, "3d6", AMBIT_CLAMP},
      {3, {12, 33, 30}, "3d27", AMBIT_PERIODIC}, {3, {9, 70, 62}, "3d6", AMBIT_REFLECT},
      {4, {3, 5, 19, 26}, "4d8", AMBIT_CLAMP},
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int doubles = 0; doubles < 2; doubles++) {
      problem p = {.name = cases[i].name,
                   .type = doubles ? AMBIT_F64 : AMBIT_F32,
                   .ndims = cases[i].ndims,
                   .boundary = cases[i].boundary};

      memcpy(p.extents, cases[i].extents, sizeof p.extents);
      check(p);
    }
  check((problem){.name = "narrow",
                  .text = "void narrow(const float *u, float *v, max float *m, sum float *s)\n"
                          "{\n"
                          "  *v = u[1][0][1] - u[-1][-1][0] + (float)(index(1) * index(2));\n"
                          "  *m = *v;\n"
                          "  *s = *v;\n"
                          "}\n",
                  .ndims = 3,
                  .extents = {9, 40, 21},
                  .lo = {0, 1, 2},
                  .hi = {9, 39, 20},
                  .boundary = AMBIT_SYMMETRIC});
  check((problem){.name = "five",
                  .text = "void five(const double *u, double *v) { *v = u[1][0][0][0][0] - "
                          "u[0][-1][0][0][1] * u[0][0][1][0][0] + u[0][0][0][-1][0] / *u; }",
                  .ndims = 5,
                  .extents = {3, 2, 4, 13, 15},
                  .boundary = AMBIT_PERIODIC});
  check((problem){.name = "six",
                  .text = "void six(const float *u, float *v) { *v = u[1][0][0][0][0][0] + "
                          "u[0][-1][0][1][0][0] + u[0][0][1][0][-1][0] - u[0][0][0][0][0][-1]; }",
                  .ndims = 6,
                  .extents = {2, 3, 2, 3, 14, 9},
                  .boundary = AMBIT_CLAMP});
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
      {"sums_with_fewer_operations", sums_with_fewer_operations},
      {"planes_in_a_ring", planes_in_a_ring},
      {"weighted_sums_of_integers", weighted_sums_of_integers},
      {"boxes_that_begin_anywhere", boxes_that_begin_anywhere},
      {"boxes_of_few_cells", boxes_of_few_cells},
      {"boxes_of_fields_without_ghost_cells", boxes_of_fields_without_ghost_cells},
      {"rows_that_are_closed", rows_that_are_closed},
      {"rows_that_keep_their_ends", rows_that_keep_their_ends},
      {"reductions", reductions},
      {"strict_sums_are_exact", strict_sums_are_exact},
      {"branches_places_and_old_values", branches_places_and_old_values},
      {"components_and_fields_that_lie_apart", components_and_fields_that_lie_apart},
      {"lines", lines},
      {"tests_of_place", tests_of_place},
      {"short_lanes", short_lanes},
      {"bytes", bytes},
      {"four_bytes", four_bytes},
      {"two_shorts", two_shorts},
      {"sums_of_shorts", sums_of_shorts},
      {"four_dimensions", four_dimensions},
      {"short_rows", short_rows},
      {"a_run_that_has_ended_is_left_alone", a_run_that_has_ended_is_left_alone},
      {0}};
  int bad;

  take_prints(&argc, &argv);
  if (ref->open(&errors, &settings, 0, &device) || ambit__ask(device, queue_open, false, &queue))
    return 1;
  bad = simulated_main(argc, argv, tests);
  ambit__ask(queue->device, queue_close, queue);
  ref->close(device);
  return bad;
}
