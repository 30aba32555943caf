/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference device, on trees built by hand: each test names a property of the definition. */
#include "device/host.h"
#include "device/measure.h"
#include "support/test.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

extern const ambit__backend ambit__backend_ref;

enum { ROWS = 3, COLUMNS = 4, CELLS = ROWS * COLUMNS, NODES = 512 };

static const ambit__backend *const ref = &ambit__backend_ref;
static const int64_t extents[] = {ROWS, COLUMNS};
static const ambit__box grid = {.ndims = 2, .hi = {ROWS, COLUMNS}};
static const bool yes[] = {true, true}, no[] = {false, false};

static ambit__errors errors;
static ambit__settings settings;
static ambit__device *device;
static ambit__queue *queue;

/* ---- trees ---- */

static ambit__expr nodes[NODES];
static int used; /* number of nodes used */

static ambit__expr *expr(ambit__op op, ambit_type type, const ambit__expr *a, const ambit__expr *b)
{
  ambit__expr *e = &nodes[used++];

  assert(used <= NODES);
  *e = (ambit__expr){.op = op, .type = type, .a = a, .b = b};
  return e;
}

static ambit__expr *leaf(ambit__op op, ambit_type type, int index)
{
  ambit__expr *e = expr(op, type, NULL, NULL);

  e->index = index;
  return e;
}

static ambit__expr *number(ambit_type type, double x)
{
  ambit__expr *e = expr(EXPR_CONST, type, NULL, NULL);

  e->value = ambit__value_of(x, type);
  return e;
}

static ambit__expr *read_at(ambit_type type, int param, int component, int row, int column)
{
  ambit__expr *e = leaf(EXPR_READ, type, param);

  e->component = component;
  e->offset[0] = row;
  e->offset[1] = column;
  return e;
}

static ambit__expr *call(ambit__call c, ambit_type type, const ambit__expr *a, const ambit__expr *b)
{
  ambit__expr *e = expr(EXPR_CALL, type, a, b);

  e->call = c;
  return e;
}

static ambit__stmt set_out(int param, int component, const ambit__expr *value)
{
  return (ambit__stmt){
      .kind = STMT_SET_OUT, .index = param, .component = component, .value = value};
}

static ambit__param in(ambit_type type)
{
  return (ambit__param){.kind = PARAM_FIELD, .type = type, .is_const = true, .components = 1};
}

static ambit__param out(ambit_type type)
{
  return (ambit__param){.kind = PARAM_FIELD,
                        .type = type,
                        .components = 1,
                        .writes = yes,
                        .keeps = no,
                        .is_written = true};
}

static ambit__param reduction(ambit__reduce reduce, ambit_type type)
{
  return (ambit__param){.kind = PARAM_REDUCE, .type = type, .components = 1, .reduce = reduce};
}

/* ---- arguments ---- */

static ambit__store store(ambit_type type, int components, ambit_order order)
{
  ambit__store s = {
      .layout = {.type = type, .components = components, .order = order, .own = grid}};

  CHECK(ambit__layout_make(&s.layout));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, s.layout.bytes, &s.layout, &s.buffer));
  return s;
}

static void set(ambit__store *s, const void *values)
{
  CHECK_EQ(AMBIT_OK, ambit__do(queue, write, s, &grid, values));
}

static void get(ambit__store *s, void *values)
{
  CHECK_EQ(AMBIT_OK, ambit__do(queue, read, values, s, &grid));
}

static ambit__buffer *value(ambit_type type, double x)
{
  unsigned char bytes[8] = {0};
  ambit__buffer *b = NULL;

  ambit__value_store(bytes, type, ambit__value_of(x, type));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, sizeof bytes, NULL, &b));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, put, b, bytes, sizeof bytes));
  return b;
}

/* The value in a buffer; releases the buffer. */
static double take(ambit__buffer *b, ambit_type type)
{
  unsigned char bytes[8];

  CHECK_EQ(AMBIT_OK, ambit__do(queue, get, bytes, b, sizeof bytes));
  ambit__ask(device, release, b);
  return ambit__value_number(ambit__value_load(bytes, type), type);
}

/* Runs a rule once over a box. */
static void run(ambit__rule *rule, const ambit__box *box, const ambit__argument *args)
{
  const ambit__group group = {.rule = rule, .depth = 1, .ndims = box->ndims};
  const ambit__launch launch = {
      .box = *box, .extents = extents, .nargs = rule->nparams, .args = args, .step = 17};
  ambit__function *fn = NULL;

  CHECK_EQ(AMBIT_OK, ambit__ask(device, build, &group, &fn));
  CHECK_STR("(ref)", fn->plan);
  CHECK_EQ(AMBIT_OK, ambit__do(queue, launch, fn, &launch));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, wait, NULL));
  ambit__ask(device, discard, fn);
}

static const ambit__boundaries closed; /* all faces AMBIT_NONE */

/* ---- reads and writes ---- */

static void a_read_outside_is_resolved_by_the_boundary(void)
{
  ambit__param params[] = {in(AMBIT_I32), out(AMBIT_I32)};
  ambit__stmt body = set_out(1, 0, read_at(AMBIT_I32, 0, 0, -2, 3));
  ambit__rule rule = {.nparams = 2, .params = params, .body = &body};
  ambit__store u = store(AMBIT_I32, 1, AMBIT_SOA), v = store(AMBIT_I32, 1, AMBIT_SOA);
  const ambit__boundaries b = {
      .kind = {{AMBIT_PERIODIC, AMBIT_PERIODIC}, {AMBIT_NONE, AMBIT_REFLECT}}};
  const ambit__argument args[] = {{.store = &u, .boundaries = &b},
                                  {.store = &v, .boundaries = &closed}};
  const int32_t before[CELLS] = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
  /* rows from -2 are 1 2 0; columns from 3 are 3 2 1 0 */
  const int32_t want[CELLS] = {13, 12, 11, 10, 23, 22, 21, 20, 3, 2, 1, 0};
  int32_t after[CELLS];

  set(&u, before);
  run(&rule, &grid, args);
  get(&v, after);
  CHECK(!memcmp(want, after, sizeof want));
  ambit__ask(device, release, u.buffer);
  ambit__ask(device, release, v.buffer);
}

static void a_constant_boundary_gives_its_value_in_the_type_of_the_field(void)
{
  ambit__param params[] = {in(AMBIT_U8), out(AMBIT_U8)};
  ambit__stmt body = set_out(1, 0, read_at(AMBIT_U8, 0, 0, 1, -1));
  ambit__rule rule = {.nparams = 2, .params = params, .body = &body};
  ambit__store u = store(AMBIT_U8, 1, AMBIT_SOA), v = store(AMBIT_U8, 1, AMBIT_SOA);
  const ambit__boundaries b = {.kind = {{AMBIT_NONE, AMBIT_CONSTANT}, {AMBIT_CONSTANT, AMBIT_NONE}},
                               .value = {{0, 300.5}, {9.75, 0}}};
  const ambit__argument args[] = {{.store = &u, .boundaries = &b},
                                  {.store = &v, .boundaries = &closed}};
  const uint8_t before[CELLS] = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
  const uint8_t want[CELLS] = {9, 10, 11, 12, 9, 20, 21, 22, 9, 255, 255, 255};
  uint8_t after[CELLS];

  set(&u, before);
  run(&rule, &grid, args);
  get(&v, after);
  CHECK(!memcmp(want, after, sizeof want));
  ambit__ask(device, release, u.buffer);
  ambit__ask(device, release, v.buffer);
}

static void only_the_cells_of_the_box_change(void)
{
  /* *u = *u + 100 * index(0) + 10 * extent(1) + step() */
  ambit__param params[] = {out(AMBIT_I64)};
  ambit__expr *sum =
      expr(EXPR_ADD, AMBIT_I64,
           expr(EXPR_ADD, AMBIT_I64, read_at(AMBIT_I64, 0, 0, 0, 0),
                expr(EXPR_MUL, AMBIT_I64, number(AMBIT_I64, 100), leaf(EXPR_INDEX, AMBIT_I64, 0))),
           expr(EXPR_ADD, AMBIT_I64,
                expr(EXPR_MUL, AMBIT_I64, number(AMBIT_I64, 10), leaf(EXPR_EXTENT, AMBIT_I64, 1)),
                leaf(EXPR_STEP, AMBIT_I64, 0)));
  ambit__stmt body = set_out(0, 0, sum);
  ambit__rule rule = {.nparams = 1, .params = params, .body = &body};
  ambit__store u = store(AMBIT_I64, 1, AMBIT_SOA);
  const ambit__argument args[] = {{.store = &u, .boundaries = &closed}};
  const ambit__box box = {.ndims = 2, .lo = {1, 1}, .hi = {3, 3}};
  const int64_t before[CELLS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const int64_t want[CELLS] = {0, 1, 2, 3, 4, 162, 163, 7, 8, 266, 267, 11};
  int64_t after[CELLS];

  set(&u, before);
  run(&rule, &box, args);
  get(&u, after);
  CHECK(!memcmp(want, after, sizeof want));
  ambit__ask(device, release, u.buffer);
}

static void a_kept_component_starts_at_its_old_value_and_reads_see_the_old_one(void)
{
  /* if (f[1] > 5) f[0] = f[0] + 1; then f[1] = old f[0]; f[0] is kept, f[1] is not */
  static const bool keeps[] = {true, false};
  ambit__param params[] = {out(AMBIT_F32)};
  ambit__expr *variable = leaf(EXPR_OUT, AMBIT_F32, 0);
  ambit__stmt then = set_out(0, 0, expr(EXPR_ADD, AMBIT_F32, variable, number(AMBIT_F32, 1)));
  ambit__stmt last = set_out(0, 1, read_at(AMBIT_F32, 0, 0, 0, 0));
  ambit__stmt body = {
      .kind = STMT_IF,
      .value = expr(EXPR_GT, AMBIT_I32, read_at(AMBIT_F32, 0, 1, 0, 0), number(AMBIT_F32, 5)),
      .body = &then,
      .next = &last};
  ambit__rule rule = {.nparams = 1, .params = params, .body = &body};

  params[0].components = 2;
  params[0].keeps = keeps;
  for (int order = 0; order < 2; order++) {
    ambit__store f = store(AMBIT_F32, 2, (ambit_order)order);
    const ambit__argument args[] = {{.store = &f, .boundaries = &closed}};
    float values[CELLS][2];

    for (int i = 0; i < CELLS; i++) {
      values[i][0] = (float)(100 + i);
      values[i][1] = (float)i;
    }
    set(&f, values);
    run(&rule, &grid, args);
    get(&f, values);
    for (int i = 0; i < CELLS; i++) {
      CHECK_EQ(100 + i + (i > 5), (double)values[i][0]);
      CHECK_EQ(100 + i, (double)values[i][1]);
    }
    ambit__ask(device, release, f.buffer);
  }
}

static void locals_calls_casts_and_choices_are_evaluated(void)
{
  /* float r = sqrtf((float)index(1)); v = index(0) == 0 || index(1) == 1 ? -r : r * k; */
  ambit__param params[] = {out(AMBIT_F32),
                           {.kind = PARAM_VALUE, .type = AMBIT_F32, .components = 1}};
  ambit__local locals[] = {{.name = "r", .type = AMBIT_F32}};
  ambit__expr *zero = number(AMBIT_I64, 0), *one = number(AMBIT_I64, 1);
  ambit__expr *local = leaf(EXPR_LOCAL, AMBIT_F32, 0);
  ambit__expr *choice =
      expr(EXPR_COND, AMBIT_F32,
           expr(EXPR_LOR, AMBIT_I32, expr(EXPR_EQ, AMBIT_I32, leaf(EXPR_INDEX, AMBIT_I64, 0), zero),
                expr(EXPR_EQ, AMBIT_I32, leaf(EXPR_INDEX, AMBIT_I64, 1), one)),
           expr(EXPR_NEG, AMBIT_F32, local, NULL));
  ambit__stmt last = set_out(0, 0, choice);
  ambit__stmt body = {
      .kind = STMT_LOCAL,
      .value = call(CALL_sqrt, AMBIT_F32,
                    expr(EXPR_CAST, AMBIT_F32, leaf(EXPR_INDEX, AMBIT_I64, 1), NULL), NULL),
      .next = &last};
  ambit__rule rule = {
      .nparams = 2, .params = params, .nlocals = 1, .locals = locals, .body = &body};
  ambit__store v = store(AMBIT_F32, 1, AMBIT_SOA);
  const ambit__argument args[] = {{.store = &v, .boundaries = &closed},
                                  {.value = value(AMBIT_F32, 2.5)}};
  float after[CELLS];

  choice->c = expr(EXPR_MUL, AMBIT_F32, local, leaf(EXPR_VALUE, AMBIT_F32, 1));
  run(&rule, &grid, args);
  get(&v, after);
  for (int i = 0; i < CELLS; i++) {
    float r = sqrtf((float)(i % COLUMNS));

    CHECK(after[i] == (i / COLUMNS == 0 || i % COLUMNS == 1 ? -r : r * 2.5f));
  }
  ambit__ask(device, release, v.buffer);
  ambit__ask(device, release, args[1].value);
}

/* ---- values instead of fields ---- */

static void a_launch_without_axes_runs_once_on_values(void)
{
  /* alpha = rr / ps; count = count + 1 */
  static const bool keeps[] = {true};
  ambit__param params[] = {in(AMBIT_F64), in(AMBIT_F64), out(AMBIT_F64), out(AMBIT_I32)};
  ambit__stmt last =
      set_out(3, 0, expr(EXPR_ADD, AMBIT_I32, leaf(EXPR_OUT, AMBIT_I32, 3), number(AMBIT_I32, 1)));
  ambit__stmt body = set_out(
      2, 0,
      expr(EXPR_DIV, AMBIT_F64, read_at(AMBIT_F64, 0, 0, 0, 0), read_at(AMBIT_F64, 1, 0, 0, 0)));
  ambit__rule rule = {.nparams = 4, .params = params, .body = &body};
  const ambit__box once = {.ndims = 0};
  const ambit__argument args[] = {{.value = value(AMBIT_F64, 3)},
                                  {.value = value(AMBIT_F64, 8)},
                                  {.value = value(AMBIT_F64, -1)},
                                  {.value = value(AMBIT_I32, 41)}};
  double got[4];

  body.next = &last;
  params[3].keeps = keeps;
  run(&rule, &once, args);
  for (int p = 0; p < 4; p++)
    got[p] = take(args[p].value, params[p].type);
  CHECK_EQ(3, got[0]);
  CHECK_EQ(8, got[1]);
  CHECK(got[2] == 0.375);
  CHECK_EQ(42, got[3]);
}

static void a_const_pointer_may_be_a_value_in_every_cell(void)
{
  ambit__param params[] = {in(AMBIT_I16), out(AMBIT_I16)};
  ambit__stmt body = set_out(1, 0, read_at(AMBIT_I16, 0, 0, 0, 0));
  ambit__rule rule = {.nparams = 2, .params = params, .body = &body};
  ambit__store v = store(AMBIT_I16, 1, AMBIT_SOA);
  const ambit__argument args[] = {{.value = value(AMBIT_I16, -7)},
                                  {.store = &v, .boundaries = &closed}};
  int16_t after[CELLS];

  run(&rule, &grid, args);
  get(&v, after);
  for (int i = 0; i < CELLS; i++)
    CHECK_EQ(-7, after[i]);
  ambit__ask(device, release, v.buffer);
  ambit__ask(device, release, args[0].value);
}

/* ---- reductions ---- */

/* Reduces the field by `*r = *u` over a box, or by `*r = *r` if it has no values. */
static double reduce(ambit__reduce how, ambit_type type, const ambit__box *box, const void *values)
{
  ambit__param params[] = {in(type), reduction(how, type)};
  ambit__stmt body = set_out(1, 0, values ? read_at(type, 0, 0, 0, 0) : leaf(EXPR_OUT, type, 1));
  ambit__rule rule = {.nparams = 2, .params = params, .body = &body};
  ambit__store u = store(type, 1, AMBIT_SOA);
  const ambit__argument args[] = {{.store = &u, .boundaries = &closed}, {.value = value(type, 99)}};

  if (values) set(&u, values);
  run(&rule, box, args);
  ambit__ask(device, release, u.buffer);
  return take(args[1].value, type);
}

static void a_sum_of_reals_loses_nothing_to_rounding(void)
{
  const double d[CELLS] = {1, 1e100, 1, -1e100, 1e-3};
  const float f[CELLS] = {16777216.0f, 1, 1, 1, 1, -16777216.0f};

  CHECK(reduce(REDUCE_SUM, AMBIT_F64, &grid, d) == 2.001);
  CHECK(reduce(REDUCE_SUM, AMBIT_F32, &grid, f) == 4);
}

static void an_infinite_sum_is_infinite_and_not_nan(void)
{
  const double d[CELLS] = {1, INFINITY, 2, 3};
  const double opposite[CELLS] = {1, INFINITY, -INFINITY, 3};

  CHECK(reduce(REDUCE_SUM, AMBIT_F64, &grid, d) == (double)INFINITY);
  CHECK(isnan(reduce(REDUCE_SUM, AMBIT_F64, &grid, opposite)));
}

static void a_sum_of_integers_wraps_in_its_type(void)
{
  const uint8_t u8[CELLS] = {200, 100, 3};
  const int32_t i32[CELLS] = {INT32_MAX, INT32_MAX, 5};
  const int64_t i64[CELLS] = {INT64_MAX, INT64_MAX, 5};

  CHECK_EQ(303 - 256, reduce(REDUCE_SUM, AMBIT_U8, &grid, u8));
  CHECK_EQ(3, reduce(REDUCE_SUM, AMBIT_I32, &grid, i32));
  CHECK_EQ(3, reduce(REDUCE_SUM, AMBIT_I64, &grid, i64));
}

static void min_and_max_find_the_ends(void)
{
  const double d[CELLS] = {3, -8, 2, 5, 1}, broken[CELLS] = {3, -8, NAN, 5, 1};
  const int16_t s[CELLS] = {3, -8, 12, 5, 1};
  const uint8_t u8[CELLS] = {3, 8, 200, 5, 1, 1, 1, 1, 1, 1, 1, 1};

  CHECK_EQ(-8, reduce(REDUCE_MIN, AMBIT_F64, &grid, d));
  CHECK_EQ(5, reduce(REDUCE_MAX, AMBIT_F64, &grid, d));
  CHECK(isnan(reduce(REDUCE_MIN, AMBIT_F64, &grid, broken)));
  CHECK(isnan(reduce(REDUCE_MAX, AMBIT_F64, &grid, broken)));
  CHECK_EQ(-8, reduce(REDUCE_MIN, AMBIT_I16, &grid, s));
  CHECK_EQ(12, reduce(REDUCE_MAX, AMBIT_I16, &grid, s));
  CHECK_EQ(1, reduce(REDUCE_MIN, AMBIT_U8, &grid, u8));
  CHECK_EQ(200, reduce(REDUCE_MAX, AMBIT_U8, &grid, u8));
}

static void a_minimum_of_zero_has_no_sign(void)
{
  const float f[CELLS] = {-0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f,
                          -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f};

  CHECK(!signbit(reduce(REDUCE_MIN, AMBIT_F32, &grid, f)));
  CHECK(!signbit(reduce(REDUCE_MAX, AMBIT_F32, &grid, f)));
}

static void a_reduction_starts_at_the_identity_in_every_cell(void)
{
  const ambit__box none = {.ndims = 2, .lo = {1, 1}, .hi = {1, 3}};
  const ambit__box *boxes[] = {&grid, &none};

  for (int i = 0; i < 2; i++) {
    CHECK_EQ(0, reduce(REDUCE_SUM, AMBIT_F32, boxes[i], NULL));
    CHECK(reduce(REDUCE_MIN, AMBIT_F32, boxes[i], NULL) == (double)INFINITY);
    CHECK(reduce(REDUCE_MAX, AMBIT_F64, boxes[i], NULL) == -(double)INFINITY);
    CHECK_EQ(INT32_MAX, reduce(REDUCE_MIN, AMBIT_I32, boxes[i], NULL));
    CHECK_EQ(INT16_MIN, reduce(REDUCE_MAX, AMBIT_I16, boxes[i], NULL));
    CHECK_EQ(255, reduce(REDUCE_MIN, AMBIT_U8, boxes[i], NULL));
    CHECK_EQ(0, reduce(REDUCE_MAX, AMBIT_U8, boxes[i], NULL));
  }
}

/* ---- the device ---- */

static void fused_iterations_are_refused(void)
{
  ambit__rule rule = {.nparams = 0};
  const ambit__group deep = {.rule = &rule, .depth = 3, .ndims = 2};
  ambit__function *fn = NULL;

  CHECK_EQ(AMBIT_EUNSUPPORTED, ambit__ask(device, build, &deep, &fn));
  CHECK(errors.text && strstr(errors.text, "it was given 3"));
  ambit__errors_clear(&errors);
  CHECK(!fn);
}

static void the_device_tells_what_it_is(void)
{
  ambit__device_info info = {.cores = 0};
  ambit__device *second = NULL;
  double speed = ambit__device_copies(device);

  ref->info(device, &info);
  CHECK_STR("reference interpreter", info.name);
  CHECK_EQ(1, info.cores);
  CHECK(info.memory > 0);
  CHECK_EQ(1, ref->count());
  CHECK(speed > 1e6);
  CHECK(speed == ambit__device_copies(device)); /* measured once */
  CHECK_EQ(AMBIT_ENODEVICE, ref->open(&errors, &settings, 1, &second));
  CHECK(errors.text && strstr(errors.text, "ref:1"));
  ambit__errors_clear(&errors);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_read_outside_is_resolved_by_the_boundary", a_read_outside_is_resolved_by_the_boundary},
      {"a_constant_boundary_gives_its_value_in_the_type_of_the_field",
       a_constant_boundary_gives_its_value_in_the_type_of_the_field},
      {"only_the_cells_of_the_box_change", only_the_cells_of_the_box_change},
      {"a_kept_component_starts_at_its_old_value_and_reads_see_the_old_one",
       a_kept_component_starts_at_its_old_value_and_reads_see_the_old_one},
      {"locals_calls_casts_and_choices_are_evaluated",
       locals_calls_casts_and_choices_are_evaluated},
      {"a_launch_without_axes_runs_once_on_values", a_launch_without_axes_runs_once_on_values},
      {"a_const_pointer_may_be_a_value_in_every_cell",
       a_const_pointer_may_be_a_value_in_every_cell},
      {"a_sum_of_reals_loses_nothing_to_rounding", a_sum_of_reals_loses_nothing_to_rounding},
      {"an_infinite_sum_is_infinite_and_not_nan", an_infinite_sum_is_infinite_and_not_nan},
      {"a_sum_of_integers_wraps_in_its_type", a_sum_of_integers_wraps_in_its_type},
      {"min_and_max_find_the_ends", min_and_max_find_the_ends},
      {"a_minimum_of_zero_has_no_sign", a_minimum_of_zero_has_no_sign},
      {"a_reduction_starts_at_the_identity_in_every_cell",
       a_reduction_starts_at_the_identity_in_every_cell},
      {"fused_iterations_are_refused", fused_iterations_are_refused},
      {"the_device_tells_what_it_is", the_device_tells_what_it_is},
      {0}};
  int bad;

  if (ref->open(&errors, &settings, 0, &device) || ambit__ask(device, queue_open, false, &queue))
    return 1;
  bad = test_main(argc, argv, tests);
  ambit__ask(queue->device, queue_close, queue);
  ref->close(device);
  return bad;
}
