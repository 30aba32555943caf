/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams whose items are shared by several processes: order, values, failures. */
#define _XOPEN_SOURCE 700
#include "ambit_compiled.h"
#include "ambit_stream.h"
#include "runtime/runtime_test.h"
#include "support/folder.h"

#include <stdatomic.h>
#include <time.h>

enum { ROWS = 9, COLUMNS = 31, CELLS = ROWS * COLUMNS, ITEMS = 50, ITERATIONS = 3 };

/* The sum is infinite for item `bad` of sources that make one. */
static const char smooth[] = AMBIT_SOURCE(void smooth(const float *u, float *v, sum float *total) {
  *v = u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 3 * *u + step();
  *total = *u > 1e30f ? *u * *u : 0.0f;
});

/* Takes a millisecond, and counts, so that items are worth sending. */
static const char linger[] = "void linger(float *w) { *w = *w + 1; }";
static atomic_int lingered;

static void linger_function(const ambit_compiled_call *c)
{
  if (c->lo[0] + c->offset[0]) return; /* once per item, in one part */
  atomic_fetch_add(&lingered, 1);
  nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

typedef struct ends {
  int64_t bad_item, bad_sink, received;
  int wrong;
} ends;

static float start(int64_t item, int i)
{
  return (float)((item * 37 + i * 11) % 64);
}

/* All iterations of an item, in plain loops on a torus; numbers are small enough to be exact. */
static void expect(int64_t item, float *u)
{
  float v[CELLS];

  for (int i = 0; i < CELLS; i++)
    u[i] = start(item, i);
  for (int n = 0; n < ITERATIONS; n++) {
    for (int y = 0; y < ROWS; y++)
      for (int x = 0; x < COLUMNS; x++)
        v[y * COLUMNS + x] = u[(y + ROWS - 1) % ROWS * COLUMNS + x] +
                             u[(y + 1) % ROWS * COLUMNS + x] +
                             u[y * COLUMNS + (x + COLUMNS - 1) % COLUMNS] +
                             u[y * COLUMNS + (x + 1) % COLUMNS] - 3 * u[y * COLUMNS + x] + (float)n;
    memcpy(u, v, sizeof v);
  }
}

static int source(int64_t item, void *values, void *user)
{
  const ends *e = user;

  for (int i = 0; i < CELLS; i++)
    ((float *)values)[i] = item == e->bad_item ? 1e38f : start(item, i);
  return item < ITEMS;
}

static int sink(int64_t item, const void *values, void *user)
{
  ends *e = user;
  float want[CELLS];

  if (item == e->bad_sink) return 1;
  expect(item, want);
  e->wrong += item != e->received++ || memcmp(want, values, sizeof want);
  if (item % 7 == 3) nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
  return 0;
}

typedef struct scene {
  ambit *a;
  ambit_stream *s;
} scene;

static scene scene_open(const char *lanes)
{
  scene x = {.a = open_on("cpu")};
  ambit_grid *g = grid_2d(x.a, ROWS, COLUMNS);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_scalar *total = ambit_scalar_create(x.a, "total", AMBIT_F32);
  ambit_field *w = ambit_field_create(g, "w", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_register_cpu(linger, linger_function);
  ambit_option_set(x.a, "lanes", lanes);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(p, ambit_kernel_create(x.a, smooth), u, v, total);
  ambit_apply(p, ambit_kernel_create(x.a, linger), w);
  ambit_swap(p, u, v);
  x.s = ambit_stream_create(p, u, u);
  ambit_stream_repeat_until(x.s, total, AMBIT_ABOVE, 1, ITERATIONS);
  return x;
}

static void items_are_shared_in_order(void)
{
  static const char *const lanes[] = {"", "cpu,cpu", "(cpu*2),cpu"};

  for (int i = 0; i < 3; i++) {
    scene x = scene_open(lanes[i]);
    ends e = {.bad_item = -1, .bad_sink = -1};

    if (i == 1) ambit_stream_in_flight(x.s, 3);
    atomic_store(&lingered, 0);
    CHECK_EQ(AMBIT_OK, ambit_stream_run_with(x.s, source, sink, &e));
    CHECK_OK(x.a);
    CHECK_EQ(ITEMS, ambit_stream_items(x.s));
    CHECK_EQ(0, e.wrong);
    CHECK_EQ(ambit_process(x.a) ? 0 : ITEMS, e.received);
    CHECK_MSG(i == 1 || lingered >= ITERATIONS, "process %d computed nothing", ambit_process(x.a));
    ambit_close(x.a);
  }
}

static void a_failure_on_any_process_is_the_failure_of_all(void)
{
  scene x = scene_open("cpu");

  for (int bad = 0; bad < 12; bad += 3) {
    ends e = {.bad_item = bad, .bad_sink = -1};
    char words[32];

    snprintf(words, sizeof words, "item %d, on lane 0 (cpu)", bad);
    CHECK_EQ(AMBIT_EPROGRAM, ambit_stream_run_with(x.s, source, sink, &e));
    CHECK_FAILED(x.a, AMBIT_EPROGRAM, words);
    CHECK_EQ(0, e.wrong);
    CHECK_EQ(ambit_process(x.a) ? 0 : bad, e.received);
  }
  for (int bad = 0; bad < 30; bad += 10) {
    ends e = {.bad_item = -1, .bad_sink = bad};

    CHECK_EQ(AMBIT_EIO, ambit_stream_run_with(x.s, source, sink, &e));
    CHECK_FAILED(x.a, AMBIT_EIO, "the sink of a stream failed");
    CHECK_EQ(ambit_process(x.a) ? 0 : bad, e.received);
  }
  ambit_close(x.a);
}

static void lanes_that_one_process_lacks_fail_on_all(void)
{
  scene x = scene_open("cpu");
  ends e = {.bad_item = -1, .bad_sink = -1};

  if (ambit_processes(x.a) == 1) {
    ambit_close(x.a);
    SKIP("one process");
  }
  if (ambit_process(x.a) == 1) ambit_option_set(x.a, "lanes", "cpu,opencl:77");
  CHECK(ambit_stream_run_with(x.s, source, sink, &e) != AMBIT_OK);
  CHECK_MSG(strstr(ambit_error_text(x.a), "lane 1 (opencl:77)"), "%s", ambit_error_text(x.a));
  CHECK_EQ(0, e.received);
  ambit_close(x.a);
}

static void files_are_read_and_written_by_process_0(void)
{
  static const char rule[] = "void f(const unsigned char *u, unsigned char *v) { *v = 255 - *u; }";
  ambit *a = open_on("cpu");
  ambit_grid *g = grid_2d(a, 4, 4);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_U8), *v = ambit_field_create(g, "v", AMBIT_U8);
  ambit_program *p = ambit_program_create(g);
  ambit_stream *s = ambit_stream_create(p, u, v);
  const bool mine = !ambit_process(a);
  FILE *f = mine ? fopen(folder_path("in.y4m"), "w") : NULL;
  char text[2000];

  ambit_apply(p, ambit_kernel_create(a, rule), u, v);
  if (f) fprintf(f, "YUV4MPEG2 W6 H2 Cmono\n");
  for (int i = 0; f && i < 20; i++)
    fprintf(f, "FRAME\nabcdefghij%02d", i);
  if (f) fclose(f);
  CHECK_EQ(AMBIT_OK, ambit_stream_run(s, folder_path("in.y4m"), folder_path("out.y4m")));
  CHECK_OK(a);
  CHECK_EQ(20, ambit_stream_items(s));
  f = mine ? fopen(folder_path("out.y4m"), "r") : NULL;
  CHECK_MSG(!mine || (f && fread(text, 1, sizeof text, f) == 22 + 20 * 18 &&
                      (unsigned char)text[22 + 19 * 18 + 17] == 255 - '9'),
            "the output is wrong");
  if (f) fclose(f);
  CHECK_EQ(mine ? 2 : 0, folder_files());
  ambit_stream_run(s, folder_path("no.y4m"), folder_path("out.y4m"));
  CHECK_FAILED(a, AMBIT_EIO, "cannot open");
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"items_are_shared_in_order", items_are_shared_in_order},
      {"a_failure_on_any_process_is_the_failure_of_all",
       a_failure_on_any_process_is_the_failure_of_all},
      {"lanes_that_one_process_lacks_fail_on_all", lanes_that_one_process_lacks_fail_on_all},
      {"files_are_read_and_written_by_process_0", files_are_read_and_written_by_process_0},
      {NULL, NULL},
  };
  int code;

  if (!folder_make()) return 1;
  code = test_main(argc, argv, tests);
  folder_remove();
  return code;
}
