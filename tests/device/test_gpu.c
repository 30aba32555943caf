/* SPDX-License-Identifier: BSD-3-Clause */
/* The GPU device, on every driver that has a device here: stores and ghost cells, compared with the
 * host's. Random cases print the number that reproduces them. Kernels: test_gpu_kernels.c. */
#include "device/each_gpu.h"
#include "device/host.h"
#include "device/measure.h"
#include "device/shape.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 300 };

/* ---- the device under test, and host memory ---- */

static ambit__errors errors;
static ambit__settings settings = {.cache = "none", .dump = "", .devices = ""};
static ambit__device *device;
static ambit__queue *queue;
static ambit__device host_device = {.errors = &errors, .settings = &settings};
static ambit__queue host_queue = {.device = &host_device};

static void open_device(void)
{
  if (gpu->open(&errors, &settings, 0, &device)) {
    printf("Bail out! %s\n", errors.text);
    exit(EXIT_FAILURE);
  }
  CHECK_EQ(AMBIT_OK, ambit__ask(device, queue_open, false, &queue));
}

static void close_device(void)
{
  CHECK_MSG(!errors.status, "%s", errors.text);
  ambit__ask(queue->device, queue_close, queue);
  gpu->close(device);
  ambit__errors_clear(&errors);
}

/* ---- random stores ---- */

/* The same store on the device and in host memory. */
typedef struct sample {
  ambit__store there, here;
  shape shape;
} sample;

/* Of random shape, filled with random bytes. */
static sample draw_sample(uint64_t seed)
{
  sample s;
  ambit__layout *l = &s.here.layout;

  memset(&s, 0, sizeof s);
  s.shape = draw_shape(seed, seed % 16 ? 4 : 6, l);
  s.there.layout = *l;
  CHECK_EQ(AMBIT_OK, ambit__host_alloc(&host_device, l->bytes, l, &s.here.buffer));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, l->bytes, l, &s.there.buffer));
  draw_bytes(ambit__host_base(s.here.buffer), l->bytes);
  return s;
}

static void free_sample(sample *s)
{
  ambit__host_release(&host_device, s->here.buffer);
  ambit__ask(device, release, s->there.buffer);
}

/* Whether one put can take all bytes, including margins. */
static bool is_small(const sample *s)
{
  return s->here.layout.bytes <= AMBIT__STAGE_BYTES;
}

static void upload(sample *s)
{
  CHECK_EQ(AMBIT_OK, ambit__do(queue, put, s->there.buffer, ambit__host_base(s->here.buffer),
                               s->here.layout.bytes));
}

static bool is_the_same(const sample *s)
{
  const size_t bytes = s->here.layout.bytes;
  unsigned char *got = malloc(bytes);
  bool same;

  CHECK_EQ(AMBIT_OK, ambit__do(queue, get, got, s->there.buffer, bytes));
  same = !memcmp(got, ambit__host_base(s->here.buffer), bytes);
  free(got);
  return same;
}

static ambit__box draw_box(const ambit__box *within)
{
  ambit__box b = *within;

  for (int d = 0; d < b.ndims; d++) {
    b.lo[d] = draw(within->hi[d]);
    b.hi[d] = b.lo[d] + 1 + draw(within->hi[d] - b.lo[d]);
  }
  return b;
}

static size_t bytes_of(const ambit__layout *l, const ambit__box *box)
{
  return (size_t)ambit__box_volume(box) * (size_t)l->components * ambit_type_size(l->type);
}

/* ---- memory and boxes ---- */

static void memory_is_zero(void)
{
  const size_t sizes[] = {8, 1, 100, 4096, 8000001};

  open_device();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    unsigned char *got = malloc(sizes[i]);
    ambit__buffer *b = NULL;
    size_t bad = 0;

    CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, sizes[i], NULL, &b));
    CHECK_EQ(AMBIT_OK, ambit__do(queue, get, got, b, sizes[i]));
    for (size_t k = 0; k < sizes[i]; k++)
      bad += got[k] != 0;
    CHECK_EQ(0, bad);
    ambit__ask(device, release, b);
    free(got);
  }
  close_device();
}

static void a_box_goes_where_it_belongs_and_comes_back(void)
{
  open_device();
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    sample s = draw_sample(seed);
    ambit__box box = draw_box(&s.here.layout.own);
    size_t bytes = bytes_of(&s.here.layout, &box);
    unsigned char *dense = malloc(bytes), *back = malloc(bytes);

    CHECK(is_small(&s));
    upload(&s);
    draw_bytes(dense, bytes);
    CHECK_EQ(AMBIT_OK, ambit__host_do(&host_queue, write, &s.here, &box, dense));
    CHECK_EQ(AMBIT_OK, ambit__do(queue, write, &s.there, &box, dense));
    CHECK_MSG(is_the_same(&s), "written wrongly: case %d", (int)seed);
    CHECK_EQ(AMBIT_OK, ambit__do(queue, read, back, &s.there, &box));
    CHECK_MSG(!memcmp(dense, back, bytes), "read wrongly: case %d", (int)seed);
    free(dense);
    free(back);
    free_sample(&s);
  }
  close_device();
}

static void an_empty_box_copies_nothing(void)
{
  sample s;
  ambit__box box;

  open_device();
  s = draw_sample(7);
  box = s.here.layout.own;
  box.lo[0] = box.hi[0];
  upload(&s);
  CHECK_EQ(AMBIT_OK, ambit__do(queue, write, &s.there, &box, NULL));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, read, NULL, &s.there, &box));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, copy, &s.there, &s.there, &box, NULL));
  CHECK(is_the_same(&s));
  free_sample(&s);
  close_device();
}

/* A field that takes more pieces than there are stages: in rows (gathered), and as one row (copied
 * directly). */
static void boxes_larger_than_all_stages_are_copied_whole(void)
{
  static const int64_t shapes[][2] = {{2500, 2001}, {1, 5000003}};

  open_device();
  for (int i = 0; i < 2; i++) {
    ambit__store store = {.layout = {.type = AMBIT_F64, .components = 1}};
    size_t bytes = (size_t)(shapes[i][0] * shapes[i][1]) * sizeof(double);
    unsigned char *values = malloc(bytes), *back = malloc(bytes);

    CHECK(bytes > (size_t)AMBIT__GPU_STAGING * AMBIT__STAGE_BYTES);
    store.layout.own = ambit__box_of_extents(2, shapes[i]);
    CHECK(ambit__layout_make(&store.layout));
    CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, store.layout.bytes, &store.layout, &store.buffer));
    for (size_t k = 0; k < bytes; k++)
      values[k] = (unsigned char)(k * 31 + k / 65537);
    CHECK_EQ(AMBIT_OK, ambit__do(queue, write, &store, &store.layout.own, values));
    CHECK_EQ(AMBIT_OK, ambit__do(queue, read, back, &store, &store.layout.own));
    CHECK(!memcmp(values, back, bytes));
    ambit__ask(device, release, store.buffer);
    free(values);
    free(back);
  }
  close_device();
}

static void a_box_is_copied_between_stores_of_different_margins(void)
{
  open_device();
  for (uint64_t seed = 1; seed <= CASES / 4; seed++) {
    sample s = draw_sample(seed);
    ambit__box box = draw_box(&s.here.layout.own);
    size_t bytes = bytes_of(&s.here.layout, &box);
    unsigned char *want = malloc(bytes), *got = malloc(bytes);
    ambit__store wider = {.layout = s.here.layout};

    wider.layout.margin_lo[0] += 3;
    wider.layout.margin_hi[box.ndims - 1] += 70;
    CHECK(ambit__layout_make(&wider.layout));
    CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, wider.layout.bytes, &wider.layout, &wider.buffer));
    upload(&s);
    CHECK_EQ(AMBIT_OK, ambit__do(queue, copy, &wider, &s.there, &box, NULL));
    CHECK_EQ(AMBIT_OK, ambit__do(queue, read, got, &wider, &box));
    CHECK_EQ(AMBIT_OK, ambit__host_do(&host_queue, read, want, &s.here, &box));
    CHECK_MSG(!memcmp(want, got, bytes), "case %d", (int)seed);
    ambit__ask(device, release, wider.buffer);
    free(want);
    free(got);
    free_sample(&s);
  }
  close_device();
}

/* ---- ghosts ---- */

static void ghosts_are_those_of_the_host_and_nothing_else_is_touched(void)
{
  open_device();
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    sample s = draw_sample(seed);
    const ambit__box *own = &s.here.layout.own;
    const ambit__box reach = reach_of(&s.shape, &s.here.layout);

    upload(&s);
    ambit__host_do(&host_queue, ghosts, &s.here, &s.shape.b, s.shape.extents, own, &reach);
    CHECK_EQ(AMBIT_OK,
             ambit__do(queue, ghosts, &s.there, &s.shape.b, s.shape.extents, own, &reach));
    CHECK_MSG(is_the_same(&s), "case %d", (int)seed);
    free_sample(&s);
  }
  close_device();
}

/* ---- errors ---- */

static void a_device_that_is_not_there_is_told_by_its_number(void)
{
  ambit__device *none = NULL;

  CHECK_EQ(AMBIT_ENODEVICE, gpu->open(&errors, &settings, 99, &none));
  CHECK(errors.text && strstr(errors.text, ":99") && strstr(errors.text, gpu->name));
  ambit__errors_clear(&errors);
}

static void too_much_memory_is_refused_with_the_numbers_and_harms_nothing(void)
{
  ambit__buffer *b = NULL;

  open_device();
  CHECK_EQ(AMBIT_ENOMEM, ambit__ask(device, alloc, (size_t)1 << 52, NULL, &b));
  CHECK(!b);
  CHECK_MSG(errors.text && strstr(errors.text, "iB"), "%s", errors.text ? errors.text : "");
  ambit__errors_clear(&errors);
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, 1000, NULL, &b));
  ambit__ask(device, release, b);
  close_device();
}

static void without_double_a_kernel_that_needs_it_is_refused_by_name(void)
{
  static const struct {
    const char *text, *words;
  } kernels[] = {{"void k1(const double *u, float *v) { *v = (float)*u; }", "'u'"},
                 {"void k2(const float *u, float *v) { *v = (float)(0.5 * *u); }", "k2"},
                 {"void k3(const int *u, int *v) { double x = *u; *v = (int)x; }", "k3"}};

  open_device();
  ((ambit__gpu_device *)device)->info.has_double = false;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    const ambit__binding bind[2] = {{.is_field = true, .contiguous = true},
                                    {.is_field = true, .contiguous = true}};
    ambit__group group = {.bind = bind, .depth = 1, .ndims = 1, .cells = {10}};
    ambit__function *fn = NULL;
    ambit__rule *rule = NULL;

    CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "test", kernels[i].text, &rule));
    group.rule = rule;
    CHECK_EQ(AMBIT_EUNSUPPORTED, ambit__ask(device, build, &group, &fn));
    CHECK_MSG(errors.text && strstr(errors.text, kernels[i].words), "%s", errors.text);
    ambit__errors_clear(&errors);
    ambit__rule_free(rule);
  }
  close_device();
}

static void the_copy_bandwidth_is_a_speed(void)
{
  double speed;

  open_device();
  speed = ambit__device_copies(device);
  CHECK_MSG(speed > 1e8 && speed < 1e14, "%g", speed);
  CHECK(speed == ambit__device_copies(device)); /* measured once */
  close_device();
}

/* The other kernels are compiled and run, too. On processors one chain cannot be told from the
 * others, so a speed may be missing. */
static void all_speeds_are_measured(void)
{
  ambit__machine m;

  open_device();
  m = device->machine;
  ambit__ask(device, measure, true, &m);
  CHECK_MSG(m.copy > 0.1 && m.fma32 > 0.01 && m.divide > 0.001 && m.special > 0.001 &&
                m.copy1 > 0.01 && m.copy2 > 0.01 && m.alone > 0 && m.launch > 1,
            "%g %g %g %g %g %g %g %g", m.copy, m.fma32, m.divide, m.special, m.copy1, m.copy2,
            m.alone, m.launch);
  CHECK_EQ(AMBIT_OK, device->errors->status);
  ambit__machine_complete(&m);
  CHECK(m.chain > 0);
  close_device();
}

/* ---- conditions ---- */

/* "void k(short *s) { *s += 1; }", built. */
static ambit__function *build_counter(ambit__rule **rule)
{
  static const ambit__binding bind[1] = {{.is_field = false}};
  ambit__group group = {.bind = bind, .depth = 1};
  ambit__function *fn = NULL;

  CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "test", "void k(short *s) { *s += 1; }", rule));
  group.rule = *rule;
  CHECK_EQ(AMBIT_OK, ambit__ask(device, build, &group, &fn));
  return fn;
}

static int16_t number_in(ambit__buffer *b)
{
  int16_t x = -1;

  CHECK_EQ(AMBIT_OK, ambit__do(queue, get, &x, b, sizeof x));
  return x;
}

static void check_report(int64_t ended, int16_t value)
{
  ambit__verdict v = {0};
  int16_t x;

  CHECK_EQ(AMBIT_OK, ambit__do(queue, report, &v, true));
  memcpy(&x, v.value, sizeof x);
  CHECK(v.known);
  CHECK_EQ(ended, v.ended);
  if (ended) CHECK_EQ(value, x);
}

static void what_is_launched_behind_the_end_of_a_run_changes_nothing(void)
{
  ambit__watch watch = {.type = AMBIT_I16, .when = AMBIT_ABOVE, .bound = 2.5};
  ambit__argument arg = {0};
  const ambit__launch launch = {.nargs = 1, .args = &arg};
  ambit__rule *rule = NULL;
  ambit__function *fn;
  bool can = false;

  open_device();
  fn = build_counter(&rule);
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, 8, NULL, &arg.value));
  watch.value = arg.value;
  for (int round = 0; round < 2; round++) { /* the second ends at its first check */
    CHECK_EQ(AMBIT_OK, ambit__do(queue, watch, &watch, &can));
    CHECK(can);
    for (int64_t i = 1; i <= 6; i++) {
      CHECK_EQ(AMBIT_OK, ambit__do(queue, launch, fn, &launch));
      CHECK_EQ(AMBIT_OK, ambit__do(queue, check, 100 + i));
      if (i == 2 || i == 6) CHECK_EQ(AMBIT_OK, ambit__do(queue, report, NULL, false));
    }
    check_report(round ? 101 : 0, 5);
    check_report(round ? 101 : 103, round ? 5 : 3);
    CHECK_EQ(round ? 5 : 3, number_in(arg.value));
    ambit__do(queue, watch, NULL, NULL);
    CHECK_EQ(AMBIT_OK, ambit__do(queue, launch, fn, &launch));
    CHECK_EQ(round ? 6 : 4, number_in(arg.value));
  }
  ambit__ask(device, discard, fn);
  ambit__ask(device, release, arg.value);
  ambit__rule_free(rule);
  close_device();
}

static void a_device_without_double_leaves_checks_to_the_host(void)
{
  const ambit__watch watch = {.type = AMBIT_F32};
  bool can = true;

  open_device();
  ((ambit__gpu_device *)device)->info.has_double = false;
  CHECK_EQ(AMBIT_OK, ambit__do(queue, watch, &watch, &can));
  CHECK(!can);
  close_device();
}

/* ---- compiled code ---- */

static void different_sources_and_equal_ones_share_compiled_code_as_they_should(void)
{
  const ambit__binding bind[2] = {{.is_field = true, .contiguous = true},
                                  {.is_field = true, .contiguous = true}};
  const char *const texts[3] = {"void k(const float *u, float *v) { *v = *u; }",
                                "void k(const float *u, float *v) { *v = *u + 1; }",
                                "void k(const float *u, float *v) { *v = *u; }"};
  ambit__function *fns[3];
  ambit__rule *rules[3];

  open_device();
  for (int i = 0; i < 3; i++) {
    ambit__group group = {.bind = bind, .depth = 1, .ndims = 1, .cells = {10}};

    CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "test", texts[i], &rules[i]));
    group.rule = rules[i];
    CHECK_EQ(AMBIT_OK, ambit__ask(device, build, &group, &fns[i]));
  }
  CHECK(((ambit__gpu_device *)device)->shared->next);        /* two ... */
  CHECK(!((ambit__gpu_device *)device)->shared->next->next); /* ... and no more */
  for (int i = 0; i < 3; i++) {
    ambit__ask(device, discard, fns[i]);
    ambit__rule_free(rules[i]);
  }
  CHECK(!((ambit__gpu_device *)device)->shared);
  close_device();
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"memory_is_zero", memory_is_zero},
      {"a_box_goes_where_it_belongs_and_comes_back", a_box_goes_where_it_belongs_and_comes_back},
      {"an_empty_box_copies_nothing", an_empty_box_copies_nothing},
      {"boxes_larger_than_all_stages_are_copied_whole",
       boxes_larger_than_all_stages_are_copied_whole},
      {"a_box_is_copied_between_stores_of_different_margins",
       a_box_is_copied_between_stores_of_different_margins},
      {"ghosts_are_those_of_the_host_and_nothing_else_is_touched",
       ghosts_are_those_of_the_host_and_nothing_else_is_touched},
      {"a_device_that_is_not_there_is_told_by_its_number",
       a_device_that_is_not_there_is_told_by_its_number},
      {"too_much_memory_is_refused_with_the_numbers_and_harms_nothing",
       too_much_memory_is_refused_with_the_numbers_and_harms_nothing},
      {"without_double_a_kernel_that_needs_it_is_refused_by_name",
       without_double_a_kernel_that_needs_it_is_refused_by_name},
      {"the_copy_bandwidth_is_a_speed", the_copy_bandwidth_is_a_speed},
      {"all_speeds_are_measured", all_speeds_are_measured},
      {"what_is_launched_behind_the_end_of_a_run_changes_nothing",
       what_is_launched_behind_the_end_of_a_run_changes_nothing},
      {"a_device_without_double_leaves_checks_to_the_host",
       a_device_without_double_leaves_checks_to_the_host},
      {"different_sources_and_equal_ones_share_compiled_code_as_they_should",
       different_sources_and_equal_ones_share_compiled_code_as_they_should},
      {0}};

  return test_each_gpu(argc, argv, tests);
}
