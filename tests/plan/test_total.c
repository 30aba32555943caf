/* SPDX-License-Identifier: BSD-3-Clause */
/* The planner is total: every rule that the front end accepts gets a plan on every possible grid
 * and every target, and the plan can be described, written and launched. Rules, sizes and targets
 * are random; a seed reproduces each. */
#include "plan/gpu.h"
#include "plan/launch_line.h"
#include "support/draw.h"
#include "support/test.h"
#include "texts.h"

#include <stdarg.h>
#include <stdlib.h>

enum {
  PROBLEMS = 1000,
  MOST_TEXT = 8192,      /* characters of a rule */
  MOST_BLOCKS_YZ = 65535 /* limit of CUDA along y and z */
};
#define MOST_CELLS (INT64_C(1) << 52) /* of a grid */

static const char *const types[] = {"float", "double", "int", "unsigned char", "short", "long"};

/* ---- problems ---- */

typedef struct problem {
  uint64_t seed;
  /* Typical of users: near reads on a large grid, on a GPU with large blocks, as `strip` needs. */
  bool common;
  char text[MOST_TEXT];
  ambit__rule *rule;
  ambit__binding bind[AMBIT_MAX_PARAMS];
  ambit__group group;
  ambit__target target;
} problem;

static void add(problem *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(problem *p, const char *format, ...)
{
  size_t at = strlen(p->text);
  va_list list;

  va_start(list, format);
  vsnprintf(p->text + at, sizeof p->text - at, format, list);
  va_end(list);
}

/* The distance of a read: mostly near, rarely as far as the language allows. */
static int draw_reach(const problem *p)
{
  static const int most[] = {1, 2, 3, 5, 9, 17, 33, 1000};
  const int limit = most[p->common ? draw(3) : draw(draw(4) ? 4 : 8)];

  return (int)draw(2 * limit + 1) - limit;
}

static void add_read(problem *p, int field, int components, int ndims)
{
  add(p, " + u%d", field);
  if (components > 1) add(p, "[%d]", (int)draw(components));
  for (int d = 0; d < ndims; d++)
    add(p, "[%d]", draw(3) || d == ndims - 1 ? draw_reach(p) : 0);
}

/* "if (!outside(0, 1)) ": the place of a neighbour. */
static void add_test(problem *p, int ndims)
{
  add(p, " if (!outside(");
  for (int d = 0; d < ndims; d++)
    add(p, "%s%d", d ? ", " : "", (int)draw(3) - 1);
  add(p, "))");
}

static int draw_components(const problem *p)
{
  static const int most[] = {1, 1, 1, 2, 4, 9, 33, 100};

  return 1 + (int)draw(most[draw(p->common ? 4 : 8)]);
}

/* One to four fields that are read, one that is written, sometimes a reduction, and a sum of reads,
 * sometimes where a neighbour is in the grid. */
static void draw_rule(problem *p, int ndims)
{
  const int nfields = 1 + (int)draw(p->common ? 2 : 4), written = draw_components(p);
  const char *type = types[draw(6)];
  const bool reduces = draw(4) == 0, tests = draw(6) == 0;
  int components[4];

  add(p, "void k(");
  for (int i = 0; i < nfields; i++) {
    components[i] = draw_components(p);
    add(p, "const %s *u%d", draw(4) ? type : types[draw(6)], i);
    if (components[i] > 1) add(p, "[%d]", components[i]);
    add(p, ", ");
  }
  add(p, "%s *v", type);
  if (written > 1) add(p, "[%d]", written);
  add(p, reduces ? ", max %s *r) {" : ") {", types[draw(6)]);
  for (int c = 0; c < written && c < 8; c++) {
    if (tests) add_test(p, ndims);
    add(p, written > 1 ? " *v[%d] = 1" : " *v = 1", c);
    for (int i = 0; i < nfields; i++)
      for (int64_t n = 1 + draw(draw(4) ? 4 : 30); n > 0 && strlen(p->text) < MOST_TEXT / 2; n--)
        add_read(p, i, components[i], ndims);
    add(p, ";");
  }
  add(p, reduces ? " *r = 1; }" : " }");
}

static int64_t draw_extent(const problem *p, int64_t most)
{
  static const int64_t large[] = {8192, 320, 96, 32, 16};
  static const int64_t around[] = {
      1, 2, 4, 8, 32, 64, 128, 1000, 65536, 1 << 20, INT32_MAX / 2, INT32_MAX, INT64_C(1) << 40};
  int64_t n = around[draw(draw(3) ? 9 : 13)] + draw(3) - 1;

  if (p->common) return large[p->group.ndims - 2] * (1 + draw(3)) + draw(3) - 1;
  return n < 1 ? 1 : n < most ? n : most;
}

static ambit__target draw_target(const problem *p)
{
  static const int threads[] = {0, 1, 64, 256, 1000, 1024};
  const int64_t kind = p->common ? 1 : draw(3);

  if (!kind)
    return (ambit__target){.vector_bytes = (size_t)16 << draw(3),
                           .l1 = draw(4) ? 48 << 10 : 0,
                           .l2 = draw(4) ? 1 << 20 : 0,
                           .l3 = draw(4) ? 32 << 20 : 0,
                           .threads = (int)draw(65),
                           .has_nontemporal = draw(2)};
  return (ambit__target){.kind = TARGET_GPU,
                         .dialect = kind == 1 ? &ambit__dialect_cuda : &ambit__dialect_opencl,
                         .threads = draw(8) ? 1 + (int)draw(160) : 0,
                         .exchanges = kind == 2 && draw(2),
                         .max_threads = p->common ? 1024 : threads[draw(6)],
                         .shared = draw(4) ? 48 << 10 : 0,
                         .l2 = draw(4) ? 60 << 20 : 0};
}

/* Contiguous fields or not, some with closed rows, and with a twin if one
 * matches. */
static void bind(problem *p)
{
  static const ambit_boundary kinds[] = {AMBIT_PERIODIC, AMBIT_CLAMP, AMBIT_SYMMETRIC,
                                         AMBIT_REFLECT};
  const bool closed = p->target.kind == TARGET_GPU && draw(6) == 0;
  const ambit_boundary end = closed ? kinds[draw(4)] : AMBIT_NONE;

  for (int i = 0; i < p->rule->nparams; i++) {
    const ambit__param *q = &p->rule->params[i];

    if (q->kind != PARAM_FIELD) continue;
    p->bind[i] =
        (ambit__binding){.is_field = true, .contiguous = p->common || draw(8), .ends = {end, end}};
  }
}

static bool draw_problem(uint64_t seed, problem *p)
{
  const int ndims = 1 + (int)(seed % AMBIT_MAX_DIMS);
  ambit__errors errors = {0};
  int64_t most = MOST_CELLS;

  *p = (problem){.seed = seed};
  state = seed * 0x9e3779b97f4a7c15u;
  p->common = ndims > 1 && draw(2);
  draw_rule(p, ndims);
  CHECK_MSG(!ambit__rule_parse(&errors, "random", p->text, &p->rule), "seed %" PRIu64 ": %s\n%s",
            seed, p->text, errors.text);
  ambit__errors_clear(&errors);
  if (!p->rule) return false;
  p->target = draw_target(p);
  bind(p);
  p->group = (ambit__group){
      .rule = p->rule, .bind = p->bind, .depth = 1, .ndims = ndims, .strict = draw(2) != 0};
  p->group.checks = draw(8) ? 0 : (unsigned)(1 + draw(3));
  for (int d = 0; d < ndims; d++) {
    p->group.cells[d] = draw_extent(p, most);
    most /= p->group.cells[d];
  }
  return true;
}

/* ---- checks ---- */

/* Launches stay within the limits of every device, however large the box. */
static void check_shape(const problem *p, const ambit__plan *plan, const int64_t *cells)
{
  const ambit__box box = ambit__box_of_extents(p->group.ndims, cells);
  double blocks = 1;
  int threads = 1;
  ambit__shape s;

  plan->strategy->shape(&p->group, plan, &box, &s);
  for (int k = 0; k < 3; k++) {
    const int64_t most = k ? MOST_BLOCKS_YZ : INT32_MAX;

    CHECK_MSG(s.blocks[k] >= 1 && s.blocks[k] <= most && s.threads[k] >= 1,
              "seed %" PRIu64 ": %" PRId64 " blocks of %d threads along %c", p->seed, s.blocks[k],
              s.threads[k], "xyz"[k]);
    blocks *= (double)s.blocks[k];
    threads *= s.threads[k];
  }
  CHECK_MSG(!p->target.max_threads || threads <= p->target.max_threads,
            "seed %" PRIu64 ": %d threads, of %d", p->seed, threads, p->target.max_threads);
  CHECK_MSG(!ambit__group_reduces(&p->group) || blocks <= AMBIT__GPUCODE_PARTIALS,
            "seed %" PRIu64 ": %g blocks leave a result", p->seed, blocks);
}

static void check_launches(const problem *p, const ambit__plan *plan)
{
  const ambit__strategy *s = plan->strategy;
  int64_t tile[AMBIT_MAX_DIMS] = {1, 1, 1, 1, 1, 1}, cells[AMBIT_MAX_DIMS];
  ambit__launch_line r;

  check_shape(p, plan, p->group.cells);
  for (int n = 0; n < 4; n++) { /* smaller boxes */
    for (int d = 0; d < p->group.ndims; d++)
      cells[d] = 1 + draw(p->group.cells[d]);
    if (!s->suits || s->suits(&p->group, plan, cells, p->group.cells)) check_shape(p, plan, cells);
  }
  if (s->tile) s->tile(&p->group, plan, tile);
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    CHECK_MSG(tile[d] >= 1, "seed %" PRIu64 ": tile %" PRId64, p->seed, tile[d]);
  if (s->launch_line) {
    const ambit__box box = ambit__box_of_extents(p->group.ndims, p->group.cells);
    ambit__shape shape;

    s->launch_line(&p->group, plan, &r);
    if (ambit__launch_line_fits(&r, p->group.cells)) {
      ambit__launch_line_shape(&r, &box, &shape);
      for (int k = 0; k < 3; k++)
        CHECK_MSG(shape.blocks[k] >= 1, "seed %" PRIu64 ": no blocks", p->seed);
    }
  }
}

static int met[4]; /* plans of the strategies rows, strip, cells, and those that check */

static void count(const problem *p, const ambit__plan *plan)
{
  static const char *const names[] = {"rows", "strip", "cells"};

  for (int i = 0; i < 3; i++)
    met[i] += !strcmp(plan->strategy->name, names[i]);
  met[3] += p->group.checks != 0;
}

/* Plans, describes and writes a group. */
static bool write_group(const problem *p, ambit__plan *plan)
{
  ambit__text line = {0};
  char *source;

  if (!ambit__plan_choose(&p->group, &p->target, plan)) return false;
  plan->strategy->describe(plan, &line);
  CHECK(line.len > 2 && line.chars[0] == '(');
  ambit__text_free(&line);
  source = ambit__plan_source(&p->group, &p->target, plan);
  CHECK_MSG(source && strstr(source, AMBIT_ENTRY), "seed %" PRIu64 ": no code", p->seed);
  print_source(p->seed, p->target.kind == TARGET_GPU ? p->target.dialect : &ambit__dialect_c,
               plan->strategy->name, source);
  free(source);
  return true;
}

/* The other ways to run it: one cell after the other, and on a GPU on tiles. */
static void write_others(const problem *p)
{
  problem other = *p;
  ambit__plan plan;

  if (p->group.checks) return;
  other.group.preferred = "(cells";
  CHECK(write_group(&other, &plan));
  if (p->target.kind != TARGET_GPU) return;
  other.group.tiles = TILES_COMPARE;
  CHECK(write_group(&other, &plan));
  other.group.tiles = TILES_RELAX;
  if (!ambit__group_reduces(&p->group)) CHECK(write_group(&other, &plan));
}

/* ---- sparse grids ---- */

/* The reads of a rule, all with the same boundaries; the parameters from `activity` on are that. */
static bool read_form(const ambit__rule *rule, int ndims, int activity, ambit__chunk_form *form)
{
  const ambit__boundaries edges = {.inactive = AMBIT_CONSTANT};
  ambit__errors errors = {0};
  bool ok = true;

  for (int i = 0; i < rule->nparams && ok; i++) {
    const ambit__param *q = &rule->params[i];

    if (q->kind != PARAM_FIELD || !q->reads_neighbours) continue;
    form->view[i] = calloc((size_t)q->components, sizeof **form->view);
    ok = form->view[i] && ambit__chunk_form_view(&errors, form, &edges) == 0;
    for (int k = 0; k < q->nreads && ok; k++)
      ok = !ambit__chunk_form_add(&errors, form, ndims, 0, q->reads[k].offset, i >= activity);
  }
  ok = ok && !ambit__chunk_form_rank(&errors, form, ndims);
  ambit__errors_clear(&errors);
  return ok;
}

/* The rule with activity as a field of bytes; itself if it does not test that. */
static const ambit__rule *sparse_rule(const problem *p, ambit__rule **adapted)
{
  const ambit__box box = ambit__box_of_extents(p->group.ndims, p->group.cells);
  const ambit__surroundings around = {.type = AMBIT_U8, .box = &box, .nviews = 1};
  ambit__errors errors = {0};
  int activity;

  CHECK_EQ(AMBIT_OK, ambit__rule_sparse(&errors, p->rule, &around, &activity, adapted));
  ambit__errors_clear(&errors);
  return *adapted ? *adapted : p->rule;
}

/* The same rule on a sparse grid, by runs and as a list; GPUs have several kinds of units. */
static void write_sparse(const problem *p)
{
  static const char *const units[] = {NULL, "(sparse 256 wide 1", "(sparse 256 wide 2",
                                      "(sparse 256 wide 4 rows"};
  ambit__rule *adapted = NULL;
  problem other = *p;

  other.rule = (ambit__rule *)sparse_rule(p, &adapted);
  for (int i = 0; i < other.rule->nparams; i++) {
    other.bind[i].is_field = other.rule->params[i].kind == PARAM_FIELD;
    if (i >= p->rule->nparams) other.bind[i].contiguous = true;
    other.bind[i].ends[0] = other.bind[i].ends[1] = AMBIT_NONE;
  }
  other.group.rule = other.rule;
  other.group.bind = other.bind;
  other.group.active = 100000;
  other.group.run = p->seed % 2 ? 500 : 10;
  other.group.stacked = 0.5;
  for (int list = 0; list <= (p->target.kind == TARGET_GPU); list++) {
    ambit__chunk_form form = {.list = list};
    ambit__plan plan;

    CHECK(read_form(other.rule, p->group.ndims, p->rule->nparams, &form));
    other.group.form = &form;
    for (int i = 0; i < (list || p->target.kind != TARGET_GPU || p->group.checks ? 1 : 4); i++) {
      other.group.preferred = units[i];
      CHECK(write_group(&other, &plan));
    }
    ambit__chunk_form_free(&form);
  }
  if (adapted) ambit__rule_free(adapted);
}

static void check_problem(problem *p)
{
  ambit__plan plan;

  if (!write_group(p, &plan)) {
    CHECK_MSG(false, "seed %" PRIu64 ": no plan for\n%s", p->seed, p->text);
    return;
  }
  count(p, &plan);
  write_others(p);
  if (p->seed % 4 == 0 || p->seed % 4 == 1) write_sparse(p);
  if (p->target.kind == TARGET_GPU) check_launches(p, &plan);
}

static int problems;
static uint64_t first; /* seed */

static void every_rule_has_a_plan_on_every_target(void)
{
  static problem p;

  memset(met, 0, sizeof met);
  for (int i = 0; i < problems; i++) {
    if (draw_problem(first + (uint64_t)i, &p)) check_problem(&p);
    ambit__rule_free(p.rule);
  }
  for (int i = 0; i < 4; i++)
    CHECK_MSG(met[i] >= problems / 100, "strategy %d has %d of %d plans", i, met[i], problems);
}

/* Two reads along the last axis, on a large GPU. */
static void check_star(const char *type, int ndims, int reach, const int64_t *cells)
{
  static problem p;

  p = (problem){.seed = (uint64_t)reach};
  add(&p, "void k(const %s *u0, %s *v) { *v = 1", type, type);
  for (int side = -1; side <= 1; side += 2) {
    add(&p, " + u0");
    for (int d = 0; d < ndims; d++)
      add(&p, "[%d]", d == ndims - 1 ? side * reach : 0);
  }
  add(&p, "; }");
  CHECK_EQ(AMBIT_OK, ambit__rule_parse(NULL, "star", p.text, &p.rule));
  p.bind[0] = p.bind[1] = (ambit__binding){.is_field = true, .contiguous = true};
  p.group = (ambit__group){.rule = p.rule, .bind = p.bind, .depth = 1, .ndims = ndims};
  memcpy(p.group.cells, cells, (size_t)ndims * sizeof *cells);
  p.target = (ambit__target){.kind = TARGET_GPU,
                             .dialect = &ambit__dialect_cuda,
                             .threads = 132,
                             .max_threads = 1024,
                             .l2 = 60 << 20};
  check_problem(&p);
  ambit__rule_free(p.rule);
}

/* Grids so large that all strategies are considered. */
static void rows_read_too_far_for_a_warp_are_planned_for(void)
{
  static const int64_t flat[] = {8192, 8192}, deep[] = {256, 256, 256, 256};

  for (int type = 0; type < 6; type++)
    for (int ndims = 2; ndims <= 4; ndims++)
      for (int reach = 0; reach <= 20; reach++)
        check_star(types[type], ndims, reach, ndims == 2 ? flat : deep);
}

static void axes_longer_than_a_launch_are_planned_for(void)
{
  for (int type = 0; type < 6; type++)
    for (int ndims = 2; ndims <= 4; ndims++)
      for (int longest = 0; longest < ndims; longest++) {
        int64_t cells[4] = {200000, 200000, 512, 512};

        cells[ndims - 1] = 512;
        cells[longest] = 2000000;
        check_star(types[type], ndims, 1, cells);
      }
}

/* Kernels on scalars alone, in all languages, checked or not. */
static void kernels_on_scalars_are_planned_for(void)
{
  static const ambit__dialect *const dialects[] = {NULL, &ambit__dialect_cuda,
                                                   &ambit__dialect_opencl};
  static problem p;

  for (int type = 0; type < 6; type++)
    for (int d = 0; d < 3; d++)
      for (unsigned checks = 0; checks < 2; checks++) {
        ambit__plan plan;

        p = (problem){.seed = (uint64_t)type};
        add(&p,
            "void k(const %s *a, double b, %s *v, float *w)"
            "{ if (b > 1) *v = *a + *w; *w = b * step(); }",
            types[type], types[type]);
        CHECK_EQ(AMBIT_OK, ambit__rule_parse(NULL, "scalars", p.text, &p.rule));
        p.group = (ambit__group){.rule = p.rule, .bind = p.bind, .depth = 1, .checks = checks};
        p.target = (ambit__target){.vector_bytes = 32};
        if (d) p.target = (ambit__target){.kind = TARGET_GPU, .dialect = dialects[d]};
        CHECK(write_group(&p, &plan));
        ambit__rule_free(p.rule);
      }
}

/* The bytes of a vector are converted first, on processors with and without long loops. */
static void masks_of_bytes_are_widened_on_cores(void)
{
  static const char text[] = "void k(const float *u, const unsigned char *m, float *v)"
                             "{ *v = *m ? *u : u[1]; }";
  static const ambit__binding bind[3] = {{.is_field = true, .contiguous = true},
                                         {.is_field = true, .contiguous = true},
                                         {.is_field = true, .contiguous = true}};

  for (int i = 0; i < 2; i++) {
    const ambit__target t = {.vector_bytes = 32, .has_nontemporal = i};
    ambit__group g = {.bind = bind, .depth = 1, .ndims = 1, .cells = {1000}};
    ambit__rule *rule;
    ambit__plan plan;
    char *source;

    CHECK_EQ(AMBIT_OK, ambit__rule_parse(NULL, "mask", text, &rule));
    g.rule = rule;
    CHECK(ambit__plan_choose(&g, &t, &plan));
    source = ambit__plan_source(&g, &t, &plan);
    CHECK(source && strstr(source, "AMBIT_INTS(uint8_t, m_w0_0, ") &&
          strstr(source, "m_w0_0[l] ?"));
    free(source);
    ambit__rule_free(rule);
  }
}

/* The number of loops along rows in the text for a rule from f to g. */
static int count_walks(const char *text)
{
  static const ambit__binding bind[2] = {{.is_field = true, .contiguous = true},
                                         {.is_field = true, .contiguous = true}};
  const ambit__target t = {.vector_bytes = 64, .has_nontemporal = true};
  ambit__group g = {.bind = bind, .depth = 1, .ndims = 2, .cells = {100, 100}};
  ambit__rule *rule;
  ambit__plan plan;
  char *source;
  int n = 0;

  CHECK_EQ(AMBIT_OK, ambit__rule_parse(NULL, "k", text, &rule));
  g.rule = rule;
  CHECK(ambit__plan_choose(&g, &t, &plan));
  source = ambit__plan_source(&g, &t, &plan);
  for (const char *s = source; s && (s = strstr(s, "for (long x = ")); s++)
    n++;
  free(source);
  ambit__rule_free(rule);
  return n;
}

static void many_results_that_share_little_are_computed_some_at_a_time(void)
{
  CHECK_EQ(4, count_walks("void k(const float *f[32], float *g[32]) { for (int c = 0; c < 32; c++)"
                          " *g[c] = f[c][0][1] + f[c][1][0] * *f[(c + 1) % 32]; }"));
  CHECK_EQ(1, count_walks("void k(const float *f[9], float *g[9]) { for (int c = 0; c < 9; c++)"
                          " *g[c] = f[c][0][1] + f[c][1][0]; }"));
  CHECK_EQ(1, count_walks("void k(const float *f[19], float *g[19]) { float s = 0;"
                          " for (int c = 0; c < 19; c++) s += f[c][0][1];"
                          " for (int c = 0; c < 19; c++) *g[c] = *f[c] + s; }"));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"many_results_that_share_little_are_computed_some_at_a_time",
       many_results_that_share_little_are_computed_some_at_a_time},
      {"masks_of_bytes_are_widened_on_cores", masks_of_bytes_are_widened_on_cores},
      {"kernels_on_scalars_are_planned_for", kernels_on_scalars_are_planned_for},
      {"rows_read_too_far_for_a_warp_are_planned_for",
       rows_read_too_far_for_a_warp_are_planned_for},
      {"axes_longer_than_a_launch_are_planned_for", axes_longer_than_a_launch_are_planned_for},
      {"every_rule_has_a_plan_on_every_target", every_rule_has_a_plan_on_every_target},
      {0}};

  take_prints(&argc, &argv);
  problems = (int)test_share(PROBLEMS);
  if (argc > 2 && !strcmp(argv[1], "--count")) {
    problems = atoi(argv[2]);
    if (argc > 3) first = strtoull(argv[3], NULL, 10);
    argc = 1;
  }
  return test_main(argc, argv, tests);
}
