/* SPDX-License-Identifier: BSD-3-Clause */
/* Closed rows: on GPUs, kernels take what they read beyond the ends of rows from inside where
 * possible, and ghost cells serve the other cases. Results equal those of ref; the program tells
 * which it is. */
#include "ambit_compiled.h"
#include "runtime/run/run.h"
#include "runtime/runtime_test.h"

#include <stdlib.h>

enum { MOST_BYTES = 100000, ITERATIONS = 3 };

typedef struct scene {
  const char *rule; /* void k(const T *u, T *v) */
  ambit_type type;  /* T */
  int components;   /* of the fields; fields with several are AMBIT_AOS */
  int ndims;
  int64_t extents[3];
  int64_t lo[3], hi[3]; /* of the updated cells; hi all 0: all cells */
} scene;

#define LINE "void k(const int *u, int *v) { *v = 3 * *u - u[-2] + 5 * u[1]; }"
#define FLAT_OF(T)                                                                                 \
  "void k(const " T " *u, " T " *v) { *v = (" T                                                    \
  ")(3 * u[-1][1] - u[0][-2] + 5 * u[1][0] + u[2][-1]); }"
#define FLAT FLAT_OF("int")
#define DEEP_OF(T)                                                                                 \
  "void k(const " T " *u, " T " *v) { *v = (" T                                                    \
  ")(u[-1][0][1] + 3 * u[0][-1][-1] - 5 * u[1][0][0]); }"
#define DEEP DEEP_OF("int")
#define PAIR                                                                                       \
  "void k(const int *u[2], int *v[2]) { *v[0] = u[1][0][-1] - 2 * u[0][0][1]; *v[1] = "            \
  "u[0][1][2]; }"

/* ---- running ---- */

static double start(const int64_t *index, int component, void *user)
{
  int64_t n = component;

  for (int d = 0; d < *(const int *)user; d++)
    n = (n * 31 + index[d] * 17 + 5) % 1009;
  return (double)n;
}

/* Stores the result of a device in `values`; returns whether rows were closed. */
static bool play(const char *device, const scene *s, ambit_boundary low, ambit_boundary high,
                 void *values)
{
  ambit *a = open_on(device);
  ambit_grid *g = (ambit_option_set(a, "strict", "1"), ambit_grid_create(a, s->ndims, s->extents));
  ambit_field *u = ambit_field_create_vector(g, "u", s->type, s->components, AMBIT_AOS);
  ambit_field *v = ambit_field_create_vector(g, "v", s->type, s->components, AMBIT_AOS);
  ambit_program *p = ambit_program_create(g);
  int ndims = s->ndims;
  bool closed;

  for (int i = 0; i < 2; i++) {
    ambit_field_boundary(i ? v : u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    if (ndims == 3) ambit_field_boundary(i ? v : u, AMBIT_AXIS(1), AMBIT_CONSTANT, 11);
    ambit_field_boundary(i ? v : u, AMBIT_LOW(ndims - 1), low, 0);
    ambit_field_boundary(i ? v : u, AMBIT_HIGH(ndims - 1), high, 0);
  }
  ambit_field_fill(u, start, &ndims);
  ambit_field_set(v, 7);
  if (s->hi[0])
    ambit_apply_box(p, s->lo, s->hi, ambit_kernel_create(a, s->rule), u, v);
  else
    ambit_apply(p, ambit_kernel_create(a, s->rule), u, v);
  ambit_swap(p, u, v);
  ambit_run(p, ITERATIONS);
  ambit_field_read(u, NULL, NULL, values);
  CHECK_OK(a);
  closed = !ambit_error(a) && ambit__field_closes_rows(p, u);
  ambit_close(a);
  return closed;
}

/* With this number of parts, on every GPU, with these ends of rows. */
static void check_ends(const scene *s, int parts, ambit_boundary low, ambit_boundary high,
                       bool closed)
{
  static double want[MOST_BYTES / 8], got[MOST_BYTES / 8];

  memset(want, 0, sizeof want);
  CHECK(!play("ref", s, low, high, want));
  EACH_DEVICE(d)
  {
    char device[32];

    if (!strcmp(*d, "ref") || !strcmp(*d, "cpu")) continue;
    snprintf(device, sizeof device, "%s*%d", *d, parts);
    memset(got, 0, sizeof got);
    CHECK_EQ(closed, play(device, s, low, high, got));
    CHECK_MSG(!memcmp(want, got, sizeof want),
              "%s differs from ref: %s, last axis %lld, ends %s, %s", device, s->rule,
              (long long)s->extents[s->ndims - 1], ambit__boundary_name(low),
              ambit__boundary_name(high));
  }
}

/* With periodic rows, and in turns with others that can be closed. */
static void check(const scene *s, int parts, bool closed)
{
  static const ambit_boundary copies[][2] = {{AMBIT_CLAMP, AMBIT_CLAMP},
                                             {AMBIT_SYMMETRIC, AMBIT_CLAMP},
                                             {AMBIT_REFLECT, AMBIT_REFLECT},
                                             {AMBIT_CLAMP, AMBIT_SYMMETRIC},
                                             {AMBIT_SYMMETRIC, AMBIT_REFLECT}};
  static int turn;

  check_ends(s, parts, AMBIT_PERIODIC, AMBIT_PERIODIC, closed);
  for (int i = 0; i < 5; i++)
    if (i == turn % 5 || getenv("TEST_EVERY_CASE"))
      check_ends(s, parts, copies[i][0], copies[i][1], closed);
  turn++;
}

/* ---- tests ---- */

static void rows_of_the_right_length_are_closed(void)
{
  check(&(scene){.type = AMBIT_I32, .rule = LINE, .components = 1, .ndims = 1, .extents = {48}}, 1,
        true);
  check(&(scene){.type = AMBIT_I32, .rule = FLAT, .components = 1, .ndims = 2, .extents = {6, 32}},
        1, true);
  check(&(scene){.type = AMBIT_I32, .rule = FLAT, .components = 1, .ndims = 2, .extents = {6, 50}},
        1, false);
  check(&(scene){.type = AMBIT_I32, .rule = FLAT, .components = 1, .ndims = 2, .extents = {6, 24}},
        1, true);
  check(&(scene){.type = AMBIT_I32, .rule = FLAT, .components = 1, .ndims = 2, .extents = {6, 28}},
        1, true);
  check(&(scene){.type = AMBIT_F64,
                 .rule = DEEP_OF("double"),
                 .components = 1,
                 .ndims = 3,
                 .extents = {4, 5, 52}},
        1, true);
  check(&(scene){.type = AMBIT_I32, .rule = PAIR, .components = 2, .ndims = 2, .extents = {5, 16}},
        1, true);
  check(
      &(scene){.type = AMBIT_I32, .rule = DEEP, .components = 1, .ndims = 3, .extents = {4, 5, 48}},
      1, true);
}

/* Rows of some strips of a GPU, whose last vectors end with the row. */
static void vectors_do_not_cross_the_ends(void)
{
  static const struct {
    ambit_type type;
    const char *flat, *deep;
    int64_t whole; /* cells of which rows are multiples */
  } types[] = {{AMBIT_U8, FLAT_OF("unsigned char"), DEEP_OF("unsigned char"), 16},
               {AMBIT_I16, FLAT_OF("short"), DEEP_OF("short"), 8},
               {AMBIT_F32, FLAT_OF("float"), DEEP_OF("float"), 4},
               {AMBIT_F64, FLAT_OF("double"), DEEP_OF("double"), 4}};

  for (int t = 0; t < 4; t++)
    for (int64_t n = 1; n < 4; n++) {
      const int64_t row = 256 * (n - 1) + types[t].whole * (n + 2);
      scene s = {.type = types[t].type, .components = 1, .ndims = 2, .extents = {11, row}};

      s.rule = types[t].flat;
      check(&s, 1, true);
      s.extents[1] = row + 1;
      check(&s, 1, false);
      s = (scene){.type = s.type, .components = 1, .ndims = 3, .extents = {4, 5, row}};
      s.rule = types[t].deep;
      check(&s, 1, true);
    }
}

static void rows_that_are_cut_have_ghost_cells(void)
{
  check(&(scene){.type = AMBIT_I32, .rule = LINE, .components = 1, .ndims = 1, .extents = {48}}, 2,
        false);
  check(&(scene){.type = AMBIT_I32, .rule = FLAT, .components = 1, .ndims = 2, .extents = {24, 32}},
        3, true);
}

static void boxes_may_have_one_end_of_the_rows(void)
{
  const scene s = {.type = AMBIT_I32,
                   .rule = FLAT,
                   .components = 1,
                   .ndims = 2,
                   .extents = {12, 32},
                   .lo = {1, 0},
                   .hi = {12, 3}};

  check(&s, 2, true);
}

static void other_ends_have_ghost_cells(void)
{
  const scene s = {
      .type = AMBIT_F32, .rule = FLAT_OF("float"), .components = 1, .ndims = 2, .extents = {6, 32}};

  check_ends(&s, 1, AMBIT_CLAMP, AMBIT_CONSTANT, false);
  check_ends(&s, 1, AMBIT_ANTISYMMETRIC, AMBIT_ANTISYMMETRIC, false);
  check_ends(&s, 1, AMBIT_CONSTANT, AMBIT_CONSTANT, false);
}

/* ---- registered source, which reads ghost cells ---- */

#define OWN "void own(const int *u, int *v) { *v = u[0][-1] - 3 * u[0][1] + u[-1][0]; }"
#define OWN_TEXT                                                                                   \
  "// ambit-launch: own 2d threads 16 blocks n1 / 16, n0\n"                                        \
  "KERNEL void own(GLOBAL const int *u, integer u_o, integer u_s0, integer u_s1, integer u_c,\n"   \
  "                GLOBAL int *v, integer v_o, integer v_s0, integer v_s1, integer v_c,\n"         \
  "                integer lo0, integer lo1, integer hi0, integer hi1, integer offset0,\n"         \
  "                integer offset1, integer extent0, integer extent1, integer step)\n"             \
  "{\n"                                                                                            \
  "  const integer i = lo0 + BLOCK(1), j = lo1 + BLOCK(0) * 16 + THREAD;\n"                        \
  "  GLOBAL const int *at = u + u_o + i * u_s0 + j;\n"                                             \
  "  if (j < hi1) v[v_o + i * v_s0 + j] = at[-1] - 3 * at[1] + at[-u_s0];\n"                       \
  "}\n"

static void register_own(void)
{
  CHECK_EQ(AMBIT_OK, ambit_register_source(OWN, AMBIT_CUDA,
                                           "#define KERNEL extern \"C\" __global__\n"
                                           "#define GLOBAL\n"
                                           "#define BLOCK(k) ((k) ? blockIdx.y : blockIdx.x)\n"
                                           "#define THREAD threadIdx.x\n"
                                           "typedef long long integer;\n" OWN_TEXT));
  CHECK_EQ(AMBIT_OK, ambit_register_source(OWN, AMBIT_OPENCL,
                                           "#define KERNEL kernel\n"
                                           "#define GLOBAL global\n"
                                           "#define BLOCK(k) get_group_id(k)\n"
                                           "#define THREAD get_local_id(0)\n"
                                           "typedef long integer;\n" OWN_TEXT));
}

/* u, which needs ghost rows only, is swapped with v, which needs all ghost cells; then another
 * program reads it with registered source. */
static void play_own(const char *device, int32_t *values)
{
  enum { ROWS = 6, COLUMNS = 32 };
  ambit *a = open_on(device);
  ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
  ambit_kernel *flat = ambit_kernel_create(a, FLAT), *own = ambit_kernel_create(a, OWN);
  ambit_field *fields[4];
  ambit_program *p = ambit_program_create(g), *other = ambit_program_create(g);
  const bool is_gpu = strcmp(device, "ref") != 0;
  int ndims = 2;

  for (int i = 0; i < 4; i++) {
    fields[i] = ambit_field_create(g, "f", AMBIT_I32);
    ambit_field_boundary(fields[i], AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  }
  ambit_field_fill(fields[0], start, &ndims);
  ambit_apply(p, flat, fields[0], fields[2]);
  ambit_swap(p, fields[0], fields[1]);
  ambit_apply(p, own, fields[1], fields[3]);
  ambit_run(p, 1);
  CHECK_OK(a);
  CHECK_EQ(is_gpu, ambit__field_closes_rows(p, fields[0]));
  CHECK(!ambit__field_closes_rows(p, fields[1]));
  ambit_apply(other, own, fields[2], fields[0]);
  ambit_run(other, 1);
  CHECK_OK(a);
  CHECK(!ambit__field_closes_rows(other, fields[2]));
  ambit_field_read(fields[0], NULL, NULL, values);
  ambit_field_read(fields[3], NULL, NULL, values + ROWS * COLUMNS);
  ambit_close(a);
}

static void source_of_the_users_has_its_ghost_cells(void)
{
  static int32_t want[MOST_BYTES / 4], got[MOST_BYTES / 4];

  register_own();
  play_own("ref", want);
  EACH_DEVICE(d)
  {
    if (!strcmp(*d, "ref") || !strcmp(*d, "cpu")) continue;
    memset(got, 0, sizeof got);
    play_own(*d, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s differs from ref", *d);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"rows_of_the_right_length_are_closed", rows_of_the_right_length_are_closed},
      {"vectors_do_not_cross_the_ends", vectors_do_not_cross_the_ends},
      {"rows_that_are_cut_have_ghost_cells", rows_that_are_cut_have_ghost_cells},
      {"boxes_may_have_one_end_of_the_rows", boxes_may_have_one_end_of_the_rows},
      {"other_ends_have_ghost_cells", other_ends_have_ghost_cells},
      {"source_of_the_users_has_its_ghost_cells", source_of_the_users_has_its_ghost_cells},
      {NULL, NULL},
  };
  int gpus = 0;

  EACH_DEVICE(d) gpus += strcmp(*d, "ref") && strcmp(*d, "cpu");
  if (!gpus) {
    printf("# skipped: there is no GPU here, and no OpenCL\n");
    return 77;
  }
  return test_main(argc, argv, tests);
}
