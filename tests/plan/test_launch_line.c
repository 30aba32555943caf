/* SPDX-License-Identifier: BSD-3-Clause */
/* Launch lines: parsing, printing, and agreement with the launches of the strategies. */
#include "plan/gpu.h"
#include "plan/launch_line.h"
#include "support/test.h"

#include <stdlib.h>

static ambit__errors errors;

static ambit__launch_line read_line(const char *source)
{
  ambit__launch_line r;

  CHECK_EQ(AMBIT_OK, ambit__launch_line_read(&errors, "the source", source, &r));
  return r;
}

static void check_printed(const char *want, const ambit__launch_line *r)
{
  ambit__text t = {0};

  ambit__launch_line_print(r, &t);
  CHECK_MSG(t.chars && !strcmp(want, t.chars), "want %s\n#  got %s", want, t.chars);
  ambit__text_free(&t);
}

static void check_blocks(const ambit__launch_line *r, const int64_t *cells, int64_t x, int64_t y,
                         int64_t z)
{
  const ambit__box box = ambit__box_of_extents(r->ndims, cells);
  ambit__shape s;

  ambit__launch_line_shape(r, &box, &s);
  CHECK_EQ(x, s.blocks[0]);
  CHECK_EQ(y, s.blocks[1]);
  CHECK_EQ(z, s.blocks[2]);
}

/* ---- the line ---- */

static void a_line_in_a_comment_is_read(void)
{
  const int64_t cells[] = {17, 100};
  ambit__launch_line r = read_line("int before;\n// ambit-launch: heat 2d threads 32x8 "
                                   "blocks n1 / 32, n0/8\nint after;");

  check_printed("ambit-launch: heat 2d threads 32x8x1 blocks n1 / 32, n0 / 8, 1", &r);
  check_blocks(&r, cells, 4, 3, 1);
  r = read_line("/* ambit-launch: a_1 6d threads 64 blocks(n5+3)/120*n4/8,7 , n0 at most 12*/");
  check_printed("ambit-launch: a_1 6d threads 64x1x1 blocks (n5 + 3) / 120 * n4 / 8, 7, n0 "
                "at most 12",
                &r);
  CHECK(ambit__launch_line_fits(&r, (int64_t[]){1, 1, 1, 1, 1, 1}));
}

static void small_boxes_can_be_left_to_others(void)
{
  ambit__launch_line r =
      read_line("ambit-launch: k 3d threads 1 blocks 1 at most 5 where n2>=64 , n0 >= 2*/");

  check_printed("ambit-launch: k 3d threads 1x1x1 blocks 1, 1, 1 at most 5 where n0 >= 2, n2 >= 64",
                &r);
  CHECK(ambit__launch_line_fits(&r, (int64_t[]){2, 1, 64}));
  CHECK(!ambit__launch_line_fits(&r, (int64_t[]){1, 1, 64}));
  CHECK(!ambit__launch_line_fits(&r, (int64_t[]){2, 100, 63}));
}

static void what_is_printed_is_read_as_the_same(void)
{
  ambit__launch_line r = {.entry = "k", .ndims = 3, .threads = {32, 4, 2}, .most = 99}, again;
  ambit__text t = {0};

  ambit__launch_line_add(&r, 0, 2, 3, 120);
  ambit__launch_line_add(&r, 0, 1, 0, 8);
  ambit__launch_line_add(&r, 2, 0, 0, 1);
  ambit__launch_line_print(&r, &t);
  again = read_line(t.chars);
  check_printed(t.chars, &again);
  ambit__text_free(&t);
}

static void at_most_shortens_z_before_y_and_y_before_x(void)
{
  const int64_t cells[] = {50, 40, 30}, huge[] = {INT64_MAX / 2, INT64_MAX / 2, INT64_MAX / 2};
  ambit__launch_line r = read_line("ambit-launch: k 3d threads 1 blocks n2, n1, n0 at most 1024");

  check_blocks(&r, cells, 30, 34, 1);
  check_blocks(&r, huge, 1024, 1, 1);
  r.most = INT32_MAX;
  check_blocks(&r, huge, 1 << 30, 1, 1);
  r.most = 0; /* not shortened: the device reports that it is too much */
  check_blocks(&r, cells, 30, 40, 50);
}

static void mistakes_are_pointed_at(void)
{
  static const char *const lines[][2] = {
      {"no such line", "needs a comment like"},
      {"ambit-launch: 2d threads 4 blocks 1", "the name of the kernel at '2d'"},
      {"ambit-launch: k threads 4 blocks 1", "the number of dimensions, as in 2d at 'threads'"},
      {"ambit-launch: k 7d threads 4 blocks 1", "the number of dimensions, as in 2d at '7d'"},
      {"ambit-launch: k 2d 4 blocks 1", "threads at '4'"},
      {"ambit-launch: k 2d threads 0 blocks 1", "a number of threads at '0'"},
      {"ambit-launch: k 2d threads 4 n0", "blocks at 'n0'"},
      {"ambit-launch: k 2d threads 4 blocks n2", "an axis of the grid, n0 being the first at '2'"},
      {"ambit-launch: k 2d threads 4 blocks n1/0", "a number, 1 or more at '0'"},
      {"ambit-launch: k 2d threads 4 blocks (n1 - 1)", "+ at '-'"},
      {"ambit-launch: k 2d threads 4 blocks m", "a number of blocks, or n0, n1, ... at 'm'"},
      {"ambit-launch: k 2d threads 4 blocks n0 at 3", "most at '3'"},
      {"ambit-launch: k 2d threads 4 blocks n0 where n1 > 3", ">= at '>'"},
      {"ambit-launch: k 2d threads 4 blocks n0 where n1 >= 3, n7 >= 1", "an axis of the grid"},
      {"ambit-launch: k 2d threads 4 blocks n0, n1 and more\n", "the end of the line at 'and'"},
      {"ambit-launch: k 1d threads 4 blocks 1*1*1*1*1*1*1", "one factor for each axis at most"},
  };

  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    ambit__launch_line r;

    CHECK_EQ(AMBIT_EINVAL, ambit__launch_line_read(&errors, "the source", lines[i][0], &r));
    CHECK_MSG(errors.text && strstr(errors.text, lines[i][1]), "'%s' gives\n%s", lines[i][0],
              errors.text);
    ambit__errors_clear(&errors);
  }
}

/* ---- the strategies ---- */

static const ambit__target target = {.kind = TARGET_GPU,
                                     .dialect = &ambit__dialect_cuda,
                                     .threads = 132,
                                     .max_threads = 1024,
                                     .shared = 227 << 10,
                                     .l2 = 60 << 20};

static int64_t blocks_of(const ambit__group *g, const ambit__plan *p, const ambit__box *box)
{
  ambit__shape s;

  p->strategy->shape(g, p, box, &s);
  return s.blocks[0] * s.blocks[1] * s.blocks[2];
}

/* A box of one tile suits the plan, and splitting it off does not add blocks. */
static void check_tile(const ambit__group *g, const ambit__plan *p)
{
  ambit__box all = ambit__box_of_extents(g->ndims, g->cells), border = all, rest = all;
  int64_t tile[AMBIT_MAX_DIMS] = {0}, cells[AMBIT_MAX_DIMS];

  if (!p->strategy->tile) return;
  p->strategy->tile(g, p, tile);
  if (!tile[0]) return;
  all.lo[0] = border.lo[0] = 1; /* a fixed face */
  border.hi[0] = rest.lo[0] = 1 + tile[0];
  if (!ambit__group_reduces(g)) /* reductions limit the number of blocks */
    CHECK_EQ(blocks_of(g, p, &all), blocks_of(g, p, &border) + blocks_of(g, p, &rest));
  memcpy(cells, g->cells, sizeof cells);
  cells[0] = tile[0];
  CHECK(p->strategy->suits(g, p, cells, g->cells));
  cells[0] = 1;
  CHECK(p->rows[1] == 1 || !p->strategy->suits(g, p, cells, g->cells));
}

/* Blocks along x always agree. Along y and z any number is right, and strip computes it more
 * exactly. */
static void check_strategy(const char *text, const ambit__strategy *s, int64_t typical)
{
  ambit__binding bind[AMBIT_MAX_PARAMS] = {{.is_field = true, .contiguous = true},
                                           {.is_field = true, .contiguous = true}};
  ambit__group g = {.bind = bind, .depth = 1};
  ambit__plan plans[16];
  ambit__rule *rule;
  int n;

  CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "test", text, &rule));
  g.rule = rule;
  g.ndims = rule->ndims;
  for (int d = 0; d < g.ndims; d++)
    g.cells[d] = typical;
  CHECK(!s->applies || s->applies(&g, &target));
  n = s->candidates(&g, &target, plans, 16);
  CHECK(n > 0);
  for (int i = 0; i < n; i++) {
    check_tile(&g, &plans[i]);
    for (int64_t size = 1; size <= typical; size = size < 300 ? size + 1 : size * 3) {
      ambit__box box = {.ndims = g.ndims};
      ambit__shape want, got;
      ambit__launch_line r;

      for (int d = 0; d < g.ndims; d++) {
        /* Launch lines do not know where it begins. */
        box.lo[d] = plans[i].strip ? plans[i].strip - 1 : 0;
        box.hi[d] = box.lo[d] + size;
      }
      s->shape(&g, &plans[i], &box, &want);
      s->launch_line(&g, &plans[i], &r);
      ambit__launch_line_shape(&r, &box, &got);
      CHECK_MSG(want.blocks[0] == got.blocks[0], "%s, %lld cells: %lld blocks, not %lld", s->name,
                (long long)size, (long long)got.blocks[0], (long long)want.blocks[0]);
      for (int k = 0; k < 3; k++) {
        CHECK_EQ(want.threads[k], got.threads[k]);
        if (s == &ambit__strategy_cells) CHECK_EQ(want.blocks[k], got.blocks[k]);
      }
    }
  }
  ambit__rule_free(rule);
}

static void the_strategies_tell_how_they_launch(void)
{
  static const char two[] = "void a(const float *u, float *v) { v[0][0] = u[-1][0] + u[0][3]; }";
  static const char three[] =
      "void b(const double *u, double *v) { v[0][0][0] = u[-1][0][0] + u[0][1][-1]; }";
  static const char total[] = "void c(const float *u, float *v, sum double *s)"
                              "{ v[0][0] = u[0][1]; *s = u[0][0]; }";
  static const char one[] = "void d(const float *u, float *v) { v[0] = u[1]; }";

  check_strategy(two, &ambit__strategy_strip, 8192);
  check_strategy(three, &ambit__strategy_strip, 512);
  check_strategy(total, &ambit__strategy_strip, 8192);
  check_strategy(one, &ambit__strategy_cells, 1 << 24);
  check_strategy(three, &ambit__strategy_cells, 100);
  check_strategy(total, &ambit__strategy_cells, 1000);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_line_in_a_comment_is_read", a_line_in_a_comment_is_read},
      {"small_boxes_can_be_left_to_others", small_boxes_can_be_left_to_others},
      {"what_is_printed_is_read_as_the_same", what_is_printed_is_read_as_the_same},
      {"at_most_shortens_z_before_y_and_y_before_x", at_most_shortens_z_before_y_and_y_before_x},
      {"mistakes_are_pointed_at", mistakes_are_pointed_at},
      {"the_strategies_tell_how_they_launch", the_strategies_tell_how_they_launch},
      {0}};

  return test_main(argc, argv, tests);
}
