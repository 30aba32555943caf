/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams with callbacks: results of all kinds of lanes against a fresh program per item on ref;
 * order, bounds, failures. */
#define _XOPEN_SOURCE 700 /* nanosleep */
#include "ambit_compiled.h"
#include "ambit_stream.h"
#include "runtime/runtime_test.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

enum { ROWS = 13, COLUMNS = 37, CELLS = ROWS * COLUMNS, MOST_ITEMS = 64 };

/* ---- a program with everything that could pass from one item to the next ---- */

/* Before: a field that keeps values where the item is even. */
static const char mark[] = AMBIT_SOURCE(void mark(const int *u, int *seen, sum long *odd) {
  if (*u % 2 != 0) *seen = *u;
  *odd = *u % 2 != 0;
});

/* Diffusion with a source that depends on the step, the marks, a constant field and the state. */
static const char spread[] =
    AMBIT_SOURCE(void spread(const int *u, int *v, const int *seen, int *memory, const int *fixed,
                             long odd, long last, sum long *total) {
      *v = (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] + (int)step() * 3 + *seen + *fixed + (int)odd +
            (int)last) %
           1000;
      *memory = *memory + *v;
      *total = *memory % 100;
    });

static const char settle[] = AMBIT_SOURCE(void settle(long total, long *last, long *delta) {
  *delta = total % 7 - *last % 7;
  *last = total;
});

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v, *seen, *memory, *fixed;
  ambit_scalar *odd, *total, *last, *delta;
  ambit_program *before, *p;
} scene;

static double any(const int64_t *index, int component, void *user)
{
  (void)component, (void)user;
  return (double)((index[0] * 7 + index[1] * 3) % 11);
}

static const char *storage; /* of sparse grids; NULL: they are dense */

static int is_active(const int64_t *i, void *user)
{
  (void)user;
  return (i[0] - 6) * (i[0] - 6) * 4 + (i[1] - 15) * (i[1] - 15) < 220 && i[1] % 9 != 4;
}

static scene scene_open(const char *device)
{
  scene s = {.a = open_on(device)};
  const int64_t extents[] = {ROWS, COLUMNS};

  ambit_option_set(s.a, "strict", "1");
  if (storage) ambit_option_set(s.a, "storage", storage);
  s.g = storage ? ambit_grid_create_sparse(s.a, 2, extents, is_active, NULL)
                : ambit_grid_create(s.a, 2, extents);
  s.u = ambit_field_create(s.g, "u", AMBIT_I32);
  s.v = ambit_field_create(s.g, "v", AMBIT_I32);
  s.seen = ambit_field_create(s.g, "seen", AMBIT_I32);
  s.memory = ambit_field_create(s.g, "memory", AMBIT_I32);
  s.fixed = ambit_field_create(s.g, "fixed", AMBIT_I32);
  s.odd = ambit_scalar_create(s.a, "odd", AMBIT_I64);
  s.total = ambit_scalar_create(s.a, "total", AMBIT_I64);
  s.last = ambit_scalar_create(s.a, "last", AMBIT_I64);
  s.delta = ambit_scalar_create(s.a, "delta", AMBIT_I64);
  ambit_scalar_set(s.last, 5);
  ambit_field_fill(s.fixed, any, NULL);
  ambit_field_fill(s.memory, any, NULL);
  ambit_field_boundary(s.u, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
  ambit_field_boundary(s.u, AMBIT_LOW(1), AMBIT_FIXED, 0);
  ambit_field_boundary(s.u, AMBIT_HIGH(1), AMBIT_REFLECT, 0);
  ambit_field_boundary(s.u, AMBIT_INACTIVE, AMBIT_CLAMP, 77); /* 77 is what is read there */
  s.before = ambit_program_create(s.g);
  ambit_apply(s.before, ambit_kernel_create(s.a, mark), s.u, s.seen, s.odd);
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p, ambit_kernel_create(s.a, spread), s.u, s.v, s.seen, s.memory, s.fixed, s.odd,
              s.last, s.total);
  ambit_apply(s.p, ambit_kernel_create(s.a, settle), s.total, s.last, s.delta);
  ambit_swap(s.p, s.u, s.v);
  return s;
}

static void make_item(int64_t item, int *values)
{
  for (int i = 0; i < CELLS; i++)
    values[i] = (int)((item * 131 + i * 17 + i * i % 23) % 256);
}

/* The truth: a fresh context for every item. */
static void expect(int64_t item, int *values)
{
  scene s = scene_open("ref");

  make_item(item, values);
  ambit_field_write(s.u, NULL, NULL, values);
  ambit_run(s.before, 1);
  ambit_run_until(s.p, s.delta, AMBIT_EQUAL, 0, 20);
  ambit_field_read(s.u, NULL, NULL, values);
  CHECK_OK(s.a);
  ambit_close(s.a);
}

/* ---- sources and sinks ---- */

typedef struct ends {
  int64_t items;                /* to produce */
  int64_t bad_source, bad_sink; /* fail at this item; -1: never */
  atomic_llong sent;            /* by the source, so far */
  int64_t received, most;       /* by the sink; most items that were in flight */
  bool sleeps;                  /* the sink does, now and then */
  int (*results)[CELLS];        /* owned by the caller */
} ends;

static int source(int64_t item, void *values, void *user)
{
  ends *e = user;

  if (item == e->bad_source) return -3;
  if (item >= e->items) return 0;
  make_item(item, values);
  atomic_store(&e->sent, item + 1);
  return 1;
}

static void pause_for(int microseconds)
{
  nanosleep(&(struct timespec){.tv_nsec = 1000L * microseconds}, NULL);
}

static int sink(int64_t item, const void *values, void *user)
{
  ends *e = user;
  int64_t flying;

  CHECK_EQ(e->received, item);
  if (e->sleeps && item % 5 == 0) pause_for(2000);
  flying = atomic_load(&e->sent) - e->received;
  if (flying > e->most) e->most = flying;
  if (item == e->bad_sink) return 4;
  e->received++;
  if (e->results && item < MOST_ITEMS) memcpy(e->results[item], values, sizeof *e->results);
  return 0;
}

static ends ends_of(int64_t items, int (*results)[CELLS])
{
  return (ends){.items = items, .bad_source = -1, .bad_sink = -1, .results = results};
}

static ambit_stream *stream_of(const scene *s)
{
  ambit_stream *x = ambit_stream_create(s->p, s->u, s->u);

  ambit_stream_before(x, s->before);
  ambit_stream_repeat_until(x, s->delta, AMBIT_EQUAL, 0, 20);
  return x;
}

/* ---- results ---- */

static int want[MOST_ITEMS][CELLS], got[MOST_ITEMS][CELLS];

static void check_lanes(const char *lanes, int items)
{
  scene s = scene_open("cpu");
  ambit_stream *x = stream_of(&s);
  ends e = ends_of(items, got);

  memset(got, 0, sizeof got);
  ambit_option_set(s.a, "lanes", lanes);
  CHECK_EQ(AMBIT_OK, ambit_stream_run_with(x, source, sink, &e));
  CHECK_OK(s.a);
  CHECK_EQ(items, e.received);
  CHECK_EQ(items, ambit_stream_items(x));
  CHECK_MSG(!memcmp(want, got, sizeof *want * (size_t)items), "lanes=%s: results differ", lanes);
  CHECK_EQ(5, (int)ambit_scalar_get(s.last)); /* the user's own objects do not change */
  ambit_close(s.a);
}

static void every_item_is_computed_as_if_it_were_the_first_on_all_kinds_of_lanes(void)
{
  static const char *const lanes[] = {"",        "cpu",       "cpu,cpu",         "cpu,ref,cpu",
                                      "(cpu*2)", "cpu*3,ref", "(cpu*2),cpu,ref", NULL};
  char line[64];

  for (int i = 0; i < 12; i++)
    expect(i, want[i]);
  for (int i = 0; lanes[i]; i++)
    check_lanes(lanes[i], 12);
  EACH_DEVICE(device)
  {
    if (!strcmp(*device, "ref") || !strcmp(*device, "cpu")) continue;
    check_lanes(*device, 12);
    snprintf(line, sizeof line, "%s,cpu,(%s,cpu)", *device, *device);
    check_lanes(line, 12);
  }
}

/* Items are arrays of the box. */
static void items_have_the_active_cells_of_a_sparse_grid(void)
{
  static const char *const lanes[] = {"(cpu*3),cpu", "", "cpu,ref"};
  static const char *const storages[] = {"auto", "runs", "list"};

  for (int i = 0; i < 3; i++) {
    if (!test_takes(i, 2)) continue;
    storage = storages[i];
    for (int k = 0; k < 6; k++)
      expect(k, want[k]);
    CHECK_EQ(77, want[0][0]);
    check_lanes(lanes[i], 6);
    EACH_DEVICE(device)
    {
      if (strcmp(*device, "ref") != 0 && strcmp(*device, "cpu") != 0) check_lanes(*device, 6);
    }
  }
  storage = NULL;
}

/* ---- order ---- */

static const char slow[] = "void slow(const int *u, int *v) { *v = *u * 3 + 1; }";

/* Takes a time that depends on the item, and is called in several threads. */
static void slow_function(const ambit_compiled_call *c)
{
  const int *u = c->origin[0];
  int *v = c->origin[1];

  for (int64_t i = c->lo[0]; i < c->hi[0]; i++)
    for (int64_t k = c->lo[1]; k < c->hi[1]; k++)
      v[i * c->stride[1][0] + k] = u[i * c->stride[0][0] + k] * 3 + 1;
  if (c->lo[0] == 0) pause_for(u[0] * 1237 % 3000);
}

static scene slow_scene(void)
{
  scene s = {.a = open_on("cpu")};

  s.g = grid_2d(s.a, ROWS, COLUMNS);
  s.u = ambit_field_create(s.g, "u", AMBIT_I32);
  s.v = ambit_field_create(s.g, "v", AMBIT_I32);
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p, ambit_kernel_create(s.a, slow), s.u, s.v);
  return s;
}

static void random_delays_change_neither_order_nor_values(void)
{
  static const char *const lanes[] = {"cpu", "cpu,cpu,cpu,cpu", "cpu,ref,cpu,cpu"};

  CHECK_EQ(AMBIT_OK, ambit_register_cpu(slow, slow_function));
  for (int i = 0; i < MOST_ITEMS; i++) {
    make_item(i, want[i]);
    for (int k = 0; k < CELLS; k++)
      want[i][k] = want[i][k] * 3 + 1;
  }
  for (int i = 0; i < 3; i++) {
    scene s = slow_scene();
    ends e = ends_of(MOST_ITEMS, got);

    e.sleeps = i == 2;
    ambit_option_set(s.a, "lanes", lanes[i]);
    ambit_stream_run_with(ambit_stream_create(s.p, s.u, s.v), source, sink, &e);
    CHECK_OK(s.a);
    CHECK_EQ(MOST_ITEMS, e.received);
    CHECK_MSG(!memcmp(want, got, sizeof want), "lanes=%s", lanes[i]);
    ambit_close(s.a);
  }
}

static void no_more_items_are_in_flight_than_allowed(void)
{
  for (int most = 1; most <= 5; most += 2) {
    scene s = slow_scene();
    ambit_stream *x = ambit_stream_create(s.p, s.u, s.v);
    ends e = ends_of(40, NULL);

    e.sleeps = true;
    ambit_option_set(s.a, "lanes", "cpu,cpu");
    ambit_stream_in_flight(x, most);
    CHECK_EQ(AMBIT_OK, ambit_stream_run_with(x, source, sink, &e));
    CHECK_EQ(40, e.received);
    CHECK_MSG(e.most <= most && e.most > most / 2, "%d allowed, %d were in flight", most,
              (int)e.most);
    ambit_close(s.a);
  }
}

/* ---- long streams ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LONG_STREAM = 500 };
#else
enum { LONG_STREAM = 10000 };
#endif

static long peak_kib(void)
{
  struct rusage u;

  return getrusage(RUSAGE_SELF, &u) ? 0 : u.ru_maxrss;
}

static void ten_thousand_items_need_no_more_memory_than_a_hundred(void)
{
  scene s = scene_open("cpu");
  ambit_stream *x = stream_of(&s);
  ends few = ends_of(100, NULL), many = ends_of(LONG_STREAM, NULL);
  long before;

  ambit_option_set(s.a, "lanes", "cpu,cpu");
  ambit_stream_repeat(x, 2);
  ambit_stream_run_with(x, source, sink, &few);
  before = peak_kib();
  ambit_stream_run_with(x, source, sink, &many);
  CHECK_OK(s.a);
  CHECK_EQ(LONG_STREAM, many.received);
  ambit_close(s.a);
  if (LONG_STREAM < 10000) SKIP("sanitizers keep freed memory");
  CHECK_MSG(peak_kib() - before < 4096, "%ld KiB more", peak_kib() - before);
}

/* ---- ends and failures ---- */

static void a_stream_may_be_empty_and_run_again(void)
{
  scene s = scene_open("cpu");
  ambit_stream *x = stream_of(&s);
  ends none = ends_of(0, NULL), some = ends_of(3, NULL);

  CHECK_EQ(AMBIT_OK, ambit_stream_run_with(x, source, sink, &none));
  CHECK_EQ(0, ambit_stream_items(x));
  CHECK_EQ(AMBIT_OK, ambit_stream_run_with(x, source, sink, &some));
  CHECK_EQ(3, ambit_stream_items(x));
  ambit_stream_destroy(x);
  ambit_close(s.a);
}

static void what_comes_before_a_failure_is_passed_on(void)
{
  scene s = slow_scene();
  ambit_stream *x = ambit_stream_create(s.p, s.u, s.v);
  ends a = ends_of(30, NULL), b = ends_of(30, NULL);

  ambit_option_set(s.a, "lanes", "cpu,cpu,cpu");
  a.bad_source = 17;
  CHECK_EQ(AMBIT_EIO, ambit_stream_run_with(x, source, sink, &a));
  CHECK_EQ(17, a.received);
  CHECK_FAILED(s.a, AMBIT_EIO, "the source of a stream failed: it returned -3 for item 17");
  b.bad_sink = 11;
  CHECK_EQ(AMBIT_EIO, ambit_stream_run_with(x, source, sink, &b));
  CHECK_EQ(11, b.received);
  CHECK_EQ(11, ambit_stream_items(x));
  CHECK_FAILED(s.a, AMBIT_EIO, "the sink of a stream failed: it returned 4 for item 11");
  ambit_close(s.a);
}

/* Item 3 destroys the stream, its program and its grid, and runs it. */
typedef struct vandal {
  scene *s;
  ambit_stream *x;
  int what;
} vandal;

static int destroy_own_stream(int64_t item, void *values, void *user)
{
  const vandal *v = user;

  memset(values, 0, CELLS * sizeof(int));
  if (item == 3 && v->what == 0) ambit_stream_destroy(v->x);
  if (item == 3 && v->what == 1) ambit_grid_destroy(v->s->g);
  if (item == 3 && v->what == 2) ambit_run(v->s->p, 1);
  return item < 40;
}

static int ignore(int64_t item, const void *values, void *user)
{
  (void)item, (void)values, (void)user;
  return 0;
}

static void a_source_cannot_destroy_its_stream(void)
{
  static const char *const words[] = {"the source or the sink of a stream destroyed it",
                                      "the grid cannot be destroyed",
                                      "a callback runs the program"};
  scene s = scene_open("cpu");
  vandal v = {.s = &s, .x = stream_of(&s)};

  for (v.what = 0; v.what < 3; v.what++) {
    CHECK_EQ(AMBIT_EPROGRAM, ambit_stream_run_with(v.x, destroy_own_stream, ignore, &v));
    CHECK_FAILED(s.a, AMBIT_EPROGRAM, words[v.what]);
  }
  v.what = -1;
  CHECK_EQ(AMBIT_OK, ambit_stream_run_with(v.x, destroy_own_stream, ignore, &v));
  CHECK_EQ(40, ambit_stream_items(v.x));
  ambit_stream_destroy(v.x);
  ambit_close(s.a);
}

/* A quotient that is not a number in items whose first value is 9 * 131 % 256. */
static const char risky[] = AMBIT_SOURCE(void risky(const int *u, int *v, max float *x) {
  *v = *u;
  *x = index(0) + index(1) == 0 && *u == 9 * 131 % 256 ? 1e30f * 1e30f : 0.0f;
});

static void a_failing_lane_names_its_item_and_those_before_it_are_passed_on(void)
{
  scene s = {.a = open_on("cpu")};
  ambit_scalar *x;
  ambit_stream *stream;
  ends e = ends_of(30, got);

  s.g = grid_2d(s.a, ROWS, COLUMNS);
  s.u = ambit_field_create(s.g, "u", AMBIT_I32);
  s.v = ambit_field_create(s.g, "v", AMBIT_I32);
  x = ambit_scalar_create(s.a, "x", AMBIT_F32);
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p, ambit_kernel_create(s.a, risky), s.u, s.v, x);
  ambit_option_set(s.a, "lanes", "cpu,ref,cpu");
  stream = ambit_stream_create(s.p, s.u, s.v);
  ambit_stream_repeat_until(stream, x, AMBIT_BELOW, 1, 5);
  CHECK_EQ(AMBIT_EPROGRAM, ambit_stream_run_with(stream, source, sink, &e));
  CHECK_EQ(9, e.received);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "item 9, on lane ");
  ambit_close(s.a);
}

typedef struct brake {
  ends ends; /* must be first */
  ambit_stream *stream;
} brake;

static int stop_at_seven(int64_t item, const void *values, void *user)
{
  if (item == 7) ambit_stream_stop(((brake *)user)->stream);
  return sink(item, values, user);
}

static void a_stream_can_be_stopped_and_run_again(void)
{
  scene s = slow_scene();
  brake b = {.ends = ends_of(INT64_MAX, NULL)};
  ends e = ends_of(5, NULL);

  b.stream = ambit_stream_create(s.p, s.u, s.v);
  CHECK_EQ(AMBIT_OK, ambit_stream_run_with(b.stream, source, stop_at_seven, &b));
  CHECK_MSG(b.ends.received >= 8 && b.ends.received < 40, "%d", (int)b.ends.received);
  CHECK_EQ(b.ends.sent, b.ends.received);
  CHECK_EQ(AMBIT_OK, ambit_stream_run_with(b.stream, source, sink, &e));
  CHECK_EQ(5, e.received);
  ambit_close(s.a);
}

/* ---- mistakes ---- */

static int never(ambit_program *p, int64_t iteration, void *user)
{
  (void)p, (void)iteration, (void)user;
  return 0;
}

static void mistakes_are_named(void)
{
  scene s = slow_scene();
  ambit_stream *x = ambit_stream_create(s.p, s.u, s.v);
  ambit_field *lone = ambit_field_create(s.g, "lone", AMBIT_I32);
  ambit_scalar *unused = ambit_scalar_create(s.a, "unused", AMBIT_F32);
  ends e = ends_of(3, NULL);

  ambit_stream_create(s.p, s.u, NULL);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "a field is NULL or on another grid");
  ambit_stream_run_with(x, source, NULL, &e);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "the source or the sink is NULL");
  ambit_stream_repeat(x, 0);
  CHECK_FAILED(s.a, AMBIT_EINVAL, "0 iterations per item");
  ambit_stream_run_with(ambit_stream_create(s.p, lone, s.v), source, sink, &e);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "field 'lone' is the input of a stream");
  ambit_stream_repeat_until(x, unused, AMBIT_BELOW, 1, 5);
  ambit_stream_run_with(x, source, sink, &e);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "no step of the stream's program sets the scalar 'unused'");
  ambit_stream_repeat(x, 1);
  ambit_on_iteration(s.p, 1, never, NULL);
  ambit_stream_run_with(x, source, sink, &e);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "has a callback (ambit_on_iteration)");
  ambit_on_iteration(s.p, 1, NULL, NULL);
  ambit_option_set(s.a, "lanes", "cpu,(ref,cpu)");
  ambit_stream_run_with(x, source, sink, &e);
  CHECK_FAILED(s.a, AMBIT_EOPTION, "lane 1 (ref,cpu): ");
  ambit_field_destroy(s.v);
  ambit_stream_run_with(x, source, sink, &e);
  CHECK_FAILED(s.a, AMBIT_EPROGRAM, "was destroyed");
  CHECK_EQ(0, e.received);
  CHECK_EQ(AMBIT_EINVAL, ambit_stream_run_with(NULL, source, sink, &e));
  ambit_stream_destroy(NULL);
  ambit_stream_stop(NULL);
  ambit_close(s.a);
}

static void lists_of_lanes_are_checked(void)
{
  static const char *const bad[][2] = {
      {"cpu,", "has no device"},    {"(cpu,ref", "a ')' is missing"}, {"(cpu)ref", "after ')'"},
      {"()", "has no device"},      {"(cpu,(ref)", "another one"},    {"cpuu", "cpuu"},
      {"cpu,(cpu*0)", "1 to 4096"},
  };
  ambit *a = open_on("cpu");

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ambit_option_set(a, "lanes", bad[i][0]);
    CHECK_MSG(ambit_error(a) && strstr(ambit_error_text(a), bad[i][1]), "%s: %s", bad[i][0],
              ambit_error_text(a));
    ambit_error_clear(a);
  }
  ambit_option_set(a, "lanes", "(cuda:0,cuda:1),(cuda:2,cpu*2),cpu,opencl:1");
  CHECK_OK(a);
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_item_is_computed_as_if_it_were_the_first_on_all_kinds_of_lanes",
       every_item_is_computed_as_if_it_were_the_first_on_all_kinds_of_lanes},
      {"items_have_the_active_cells_of_a_sparse_grid",
       items_have_the_active_cells_of_a_sparse_grid},
      {"random_delays_change_neither_order_nor_values",
       random_delays_change_neither_order_nor_values},
      {"no_more_items_are_in_flight_than_allowed", no_more_items_are_in_flight_than_allowed},
      {"ten_thousand_items_need_no_more_memory_than_a_hundred",
       ten_thousand_items_need_no_more_memory_than_a_hundred},
      {"a_stream_may_be_empty_and_run_again", a_stream_may_be_empty_and_run_again},
      {"a_source_cannot_destroy_its_stream", a_source_cannot_destroy_its_stream},
      {"what_comes_before_a_failure_is_passed_on", what_comes_before_a_failure_is_passed_on},
      {"a_failing_lane_names_its_item_and_those_before_it_are_passed_on",
       a_failing_lane_names_its_item_and_those_before_it_are_passed_on},
      {"a_stream_can_be_stopped_and_run_again", a_stream_can_be_stopped_and_run_again},
      {"mistakes_are_named", mistakes_are_named},
      {"lists_of_lanes_are_checked", lists_of_lanes_are_checked},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
