/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA driver layer on fake GPUs (fake_cuda.h), with the real NVRTC. */
#define _GNU_SOURCE 1
#include "device/device.h"
#include "device/fake_cuda.h"
#include "device/gpu/driver.h"
#include "device/measure.h"
#include "support/folder.h"
#include "support/test.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const ambit__gpu_driver *const cuda = &ambit__gpu_driver_cuda;
static const char plain[] = "extern \"C\" __global__ void k(float *p, float x) { p[0] = x; }\n";

/* ---- set-up ---- */

static ambit__settings settings;
static ambit__errors errors;

static void begin(void)
{
  CHECK(folder_make());
  settings = (ambit__settings){.cache = folder, .dump = "", .verbose = -1};
  errors = (ambit__errors){.status = AMBIT_OK};
}

/* Checks that everything was released. */
static void end(void)
{
  const fake_cuda_state *f = &fake_cuda;

  CHECK_EQ(0, f->contexts);
  CHECK_EQ(0, f->streams + f->events + f->modules + f->allocations + f->pinned + f->graphs);
  ambit__errors_clear(&errors);
  folder_remove();
}

static ambit__gpu *open_gpu(int ordinal)
{
  ambit__gpu *g = NULL;

  CHECK_EQ(AMBIT_OK, cuda->open(&errors, &settings, ordinal, &g));
  if (!g) {
    printf("# %s\n", errors.text ? errors.text : "no story");
    exit(1);
  }
  return g;
}

static ambit__gpu_queue *open_queue(ambit__gpu *g)
{
  ambit__gpu_queue *q = NULL;

  CHECK_EQ(AMBIT_OK, cuda->queue_open(g, false, &q));
  return q;
}

/* Checks the status and the message of the last failure, and clears it. */
static void check_story(ambit_status want, ambit_status got, const char *words)
{
  CHECK_EQ(want, got);
  CHECK_EQ(want, errors.status);
  CHECK_MSG(errors.text && strstr(errors.text, words), "wanted: %s\ngot: %s", words,
            errors.text ? errors.text : "(nothing)");
  ambit__errors_clear(&errors);
}

/* Runs in a child process, because libraries are loaded once per process. All checks there must
 * pass. */
static void in_child(void (*run)(void))
{
  int status = 0;
  pid_t pid;

  fflush(stdout);
  pid = fork();
  if (pid == 0) {
    run();
    fflush(stdout);
    _exit(test_failures != 0);
  }
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool has_nvrtc(void)
{
  const char *why;

  return ambit__nvrtc_load(&why) != NULL;
}

/* ---- no device, no compiler ---- */

static void no_gpu(void)
{
  test_failures = 0;
  fake_cuda.gpus = 0;
  CHECK_EQ(0, cuda->count());
  CHECK_STR("the NVIDIA driver finds no GPU", cuda->why_none());
}

static void a_broken_driver(void)
{
  ambit__gpu *g;

  test_failures = 0;
  fake_cuda.init_result = 803;
  CHECK_EQ(0, cuda->count());
  CHECK(strstr(cuda->why_none(), "CUDA_ERROR_FAKE, 803"));
  check_story(AMBIT_ENODEVICE, cuda->open(&errors, &settings, 0, &g), "cuda:0 was asked for");
}

/* No file can be opened, so no library is found. */
static void no_compiler(void)
{
  const struct rlimit none = {0, 0};
  ambit__gpu *g = NULL;

  test_failures = 0;
  CHECK_EQ(FAKE_GPUS, cuda->count());
  CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
  check_story(AMBIT_ENODEVICE, cuda->open(&errors, &settings, 0, &g),
              "pip install nvidia-cuda-nvrtc");
  CHECK(!g);
  CHECK_EQ(0, fake_cuda.contexts);
}

static void a_driver_without_a_gpu_says_so(void)
{
  in_child(no_gpu);
}

static void a_driver_that_does_not_start_is_no_device_and_says_why(void)
{
  in_child(a_broken_driver);
}

static void without_nvrtc_the_package_to_install_is_named(void)
{
  in_child(no_compiler);
}

/* ---- devices ---- */

static void a_device_tells_what_it_is(void)
{
  ambit__gpu_info info;
  ambit__gpu *g;

  begin();
  g = open_gpu(1);
  cuda->info(g, &info);
  CHECK_STR("Fake GPU two", info.name);
  CHECK_EQ(132, info.multiprocessors);
  CHECK_EQ(227 << 10, info.shared);
  CHECK_EQ(1024, info.max_threads);
  CHECK_EQ(60 << 20, info.l2);
  CHECK_EQ(FAKE_MEMORY, info.memory);
  CHECK_EQ(FAKE_MEMORY, info.free_memory);
  CHECK(info.has_double && !info.is_cpu && info.parameters >= 4096);
  CHECK(strstr(info.identity, "9.0, driver 13000, NVRTC"));
  cuda->close(g);
  end();
}

static void devices_and_contexts_live_side_by_side(void)
{
  ambit__gpu *g[3];
  ambit__gpu_queue *q[3];
  ambit__gpu_memory *m[3] = {NULL, NULL, NULL};
  char byte[3] = {1, 2, 3}, back = 0;

  begin();
  for (int i = 0; i < 3; i++) { /* two on one GPU */
    g[i] = open_gpu(i / 2);
    q[i] = open_queue(g[i]);
    CHECK_EQ(AMBIT_OK, cuda->alloc(g[i], 100, &m[i]));
  }
  CHECK_EQ(2, fake_cuda.contexts);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(AMBIT_OK, cuda->copy_in(q[i], m[i], 99, &byte[i], 1));
  for (int i = 2; i >= 0; i--) {
    CHECK_EQ(AMBIT_OK, cuda->copy_out(q[i], &back, m[i], 99, 1));
    CHECK_EQ(byte[i], back);
    CHECK_EQ(AMBIT_OK, cuda->queue_sync(q[i]));
  }
  cuda->release(m[0]);
  cuda->queue_close(q[0]);
  cuda->close(g[0]); /* the other one on that GPU stays alive */
  CHECK_EQ(AMBIT_OK, cuda->copy_out(q[1], &back, m[1], 99, 1));
  for (int i = 1; i < 3; i++) {
    cuda->release(m[i]);
    cuda->queue_close(q[i]);
    cuda->close(g[i]);
  }
  end();
}

static void closing_nothing_does_nothing(void)
{
  begin();
  cuda->close(NULL);
  cuda->queue_close(NULL);
  cuda->event_close(NULL);
  cuda->release(NULL);
  cuda->unload(NULL);
  end();
}

/* ---- memory ---- */

static void bytes_come_back_from_where_they_were_put(void)
{
  ambit__gpu_memory *a = NULL, *b = NULL;
  void *host = NULL;
  ambit__gpu_queue *q;
  ambit__gpu *g;

  begin();
  g = open_gpu(0);
  q = open_queue(g);
  CHECK_EQ(AMBIT_OK, cuda->alloc(g, 64, &a));
  CHECK_EQ(AMBIT_OK, cuda->alloc(g, 32, &b));
  CHECK_EQ(AMBIT_OK, cuda->host_alloc(g, 32, &host));
  for (int i = 0; i < 32; i++)
    ((char *)host)[i] = (char)i;
  CHECK_EQ(AMBIT_OK, cuda->copy_in(q, a, 32, host, 32));
  CHECK_EQ(AMBIT_OK, cuda->zero(q, a, 40, 4));
  CHECK_EQ(AMBIT_OK, cuda->copy(q, b, 8, a, 36, 16));
  memset(host, 0x55, 32);
  CHECK_EQ(AMBIT_OK, cuda->copy_out(q, host, b, 8, 16));
  CHECK_EQ(AMBIT_OK, cuda->copy_out(q, host, b, 32, 0));
  for (int i = 0; i < 32; i++)
    CHECK_EQ(i >= 16 ? 0x55 : i >= 4 && i < 8 ? 0 : i + 4, ((char *)host)[i]);
  check_story(AMBIT_EDEVICE, cuda->copy_in(q, b, 8, host, 32), "cuda:0, copying 32 bytes to it");
  cuda->host_release(g, host);
  cuda->release(a);
  cuda->release(b);
  cuda->queue_close(q);
  cuda->close(g);
  end();
}

static void bytes_go_from_one_gpu_to_another(void)
{
  ambit__gpu_memory *memory[2] = {NULL, NULL};
  ambit__gpu_queue *queues[2];
  ambit__gpu *gpus[2];
  void *host = NULL;

  begin();
  for (int i = 0; i < 2; i++) {
    gpus[i] = open_gpu(i);
    queues[i] = open_queue(gpus[i]);
    CHECK_EQ(AMBIT_OK, cuda->alloc(gpus[i], 16, &memory[i]));
  }
  CHECK_EQ(AMBIT_OK, cuda->host_alloc(gpus[0], 16, &host));
  memcpy(host, "from the first  ", 16);
  CHECK_EQ(AMBIT_OK, cuda->copy_in(queues[0], memory[0], 0, host, 16));
  CHECK_EQ(AMBIT_OK, cuda->copy_across(queues[1], memory[1], memory[0], 16));
  memset(host, 0, 16);
  CHECK_EQ(AMBIT_OK, cuda->copy_out(queues[1], host, memory[1], 0, 16));
  CHECK(!memcmp(host, "from the first  ", 16));
  check_story(AMBIT_EDEVICE, cuda->copy_across(queues[1], memory[1], memory[0], 32),
              "cuda:1, copying 32 bytes to it from cuda:0");
  cuda->host_release(gpus[0], host);
  for (int i = 0; i < 2; i++) {
    cuda->release(memory[i]);
    cuda->queue_close(queues[i]);
    cuda->close(gpus[i]);
  }
  end();
}

static void too_much_memory_is_refused_with_what_is_free(void)
{
  ambit__gpu_memory *a = NULL, *b = NULL;
  ambit__gpu *g;

  begin();
  g = open_gpu(0);
  CHECK_EQ(AMBIT_OK, cuda->alloc(g, 1000000, &a));
  check_story(AMBIT_ENOMEM, cuda->alloc(g, 100000, &b), "100000 bytes");
  CHECK(!b);
  (void)cuda->alloc(g, 100000, &b);
  check_story(AMBIT_ENOMEM, AMBIT_ENOMEM, "48576 (0.00 GiB) of 1048576 are free");
  CHECK_EQ(AMBIT_OK, cuda->alloc(g, 0, &b)); /* 0 bytes are a valid allocation */
  cuda->release(a);
  cuda->release(b);
  cuda->close(g);
  end();
}

/* ---- events ---- */

static void events_tell_time_and_order(void)
{
  ambit__gpu_event *a = NULL, *b = NULL;
  ambit__gpu_queue *q, *r;
  ambit__gpu *g;

  begin();
  g = open_gpu(0);
  q = open_queue(g);
  r = open_queue(g);
  CHECK_EQ(AMBIT_OK, cuda->event_open(g, true, &a));
  CHECK_EQ(AMBIT_OK, cuda->event_open(g, true, &b));
  CHECK(cuda->event_seconds(a, b) < 0);
  CHECK_EQ(AMBIT_OK, cuda->event_record(a, q));
  CHECK_EQ(AMBIT_OK, cuda->event_await(r, a));
  CHECK_EQ(AMBIT_OK, cuda->event_record(b, r));
  fake_cuda.sync_result = CU_NOT_READY;
  CHECK(!cuda->event_done(b));
  fake_cuda.sync_result = CU_OK;
  CHECK(cuda->event_done(b));
  CHECK_EQ(AMBIT_OK, cuda->event_sync(b));
  CHECK(cuda->event_seconds(a, b) == 0.25);
  cuda->event_close(a);
  cuda->event_close(b);
  cuda->queue_close(q);
  cuda->queue_close(r);
  cuda->close(g);
  end();
}

static void what_a_kernel_did_wrong_is_told_by_whoever_waits(void)
{
  ambit__gpu_queue *q;
  ambit__gpu *g;

  begin();
  g = open_gpu(0);
  q = open_queue(g);
  fake_cuda.sync_result = 700;
  check_story(AMBIT_EDEVICE, cuda->queue_sync(q),
              "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)");
  fake_cuda.sync_result = CU_OK;
  cuda->queue_close(q);
  cuda->close(g);
  end();
}

/* ---- kernels ---- */

/* Builds on a new device, as another process would. Returns the number of images given to the
 * driver. */
static int loads_for_entry(const char *source, const char *entry, bool strict)
{
  ambit__gpu_module *m = NULL;
  ambit__gpu *g = open_gpu(0);
  int before = fake_cuda.loads;

  CHECK_EQ(AMBIT_OK, cuda->build(g, "a kernel", source, entry, strict, &m));
  cuda->unload(m);
  cuda->close(g);
  return fake_cuda.loads - before;
}

static int loads_for(const char *source, bool strict)
{
  return loads_for_entry(source, "k", strict);
}

static void code_without_its_kernel_is_not_kept_and_not_taken(void)
{
  begin();
  CHECK_EQ(1, loads_for_entry(plain, "missing", false));
  CHECK_EQ(0, folder_files());
  CHECK_EQ(1, loads_for(plain, false));
  CHECK_EQ(2, folder_files());
  CHECK_EQ(2, loads_for_entry(plain, "missing", false)); /* the cached one, then the new one */
  end();
}

static void compiled_kernels_are_kept_by_source_and_options(void)
{
  begin();
  CHECK_EQ(1, loads_for(plain, false));
  CHECK_EQ(2, folder_files()); /* the image and its description */
  CHECK_EQ(1, loads_for(plain, false));
  CHECK_EQ(2, folder_files());
  CHECK_EQ(1, loads_for(plain, true));
  CHECK_EQ(4, folder_files());
  end();
}

static void a_kept_kernel_that_is_not_taken_is_compiled_again(void)
{
  begin();
  CHECK_EQ(1, loads_for(plain, false));
  fake_cuda.refused_loads = 1;
  fake_cuda.refusal = CU_INVALID_IMAGE;
  CHECK_EQ(2, loads_for(plain, false)); /* the cached one, then the new one */
  end();
}

static void a_compiler_newer_than_the_driver_is_named(void)
{
  ambit__gpu_module *m = NULL;
  ambit__gpu *g;

  begin();
  fake_cuda.version = 11020; /* older than any NVRTC that knows this GPU */
  g = open_gpu(0);
  fake_cuda.refused_loads = 1;
  fake_cuda.refusal = CU_UNSUPPORTED_PTX;
  check_story(AMBIT_ENODEVICE, cuda->build(g, "a kernel", plain, "k", false, &m),
              "install NVRTC of CUDA 11");
  CHECK(!m);
  fake_cuda.version = 13000;
  cuda->close(g);
  end();
}

static void a_kernel_with_a_mistake_is_shown_with_the_compilers_words(void)
{
  ambit__gpu_module *m = NULL;
  ambit__gpu *g;
  char *at, *stop;

  begin();
  g = open_gpu(0);
  CHECK_EQ(AMBIT_ECOMPILE,
           cuda->build(g, "a kernel", "__global__ void k() { wrong(); }\n", "k", false, &m));
  CHECK(!m && errors.text && strstr(errors.text, "\"wrong\" is undefined"));
  CHECK(errors.text && strstr(errors.text, " refused a kernel, kept in "));
  at = errors.text ? strstr(errors.text, "kept in ") : NULL;
  stop = at ? strchr(at, '\n') : NULL;
  CHECK(stop != NULL);
  if (stop) {
    stop[-1] = '\0'; /* the colon */
    CHECK_MSG(!access(at + 8, R_OK), "there is no file %s", at + 8);
  }
  ambit__errors_clear(&errors);
  cuda->close(g);
  end();
}

static void a_launch_hands_over_shape_and_arguments(void)
{
  const ambit__shape none = {.blocks = {5, 0, 1}, .threads = {32, 4, 1}};
  const ambit__shape many = {.blocks = {1, 70000, 1}, .threads = {32, 4, 1}};
  ambit__shape shape = {.blocks = {70000, 3, 2}, .threads = {32, 4, 1}, .shared = 40000};
  const double value = 2.5;
  ambit__gpu_memory *memory = NULL;
  ambit__gpu_function *f = NULL;
  ambit__gpu_module *m = NULL;
  ambit__gpu_arg args[2];
  double seen;
  ambit__gpu_queue *q;
  ambit__gpu *g;

  begin();
  g = open_gpu(0);
  q = open_queue(g);
  CHECK_EQ(AMBIT_OK, cuda->alloc(g, 16, &memory));
  CHECK_EQ(AMBIT_OK, cuda->build(g, "a kernel", plain, "k", false, &m));
  check_story(AMBIT_ECOMPILE, cuda->function(m, "missing", &f), "the source has no kernel missing");
  CHECK_EQ(AMBIT_OK, cuda->function(m, "k", &f));
  args[0] = (ambit__gpu_arg){.memory = memory};
  args[1] = (ambit__gpu_arg){.value = &value, .bytes = sizeof value};
  fake_cuda.wanted_args = 2;
  fake_cuda.launches = fake_cuda.attributes = 0;
  CHECK_EQ(AMBIT_OK, cuda->launch(q, f, &shape, 2, args));
  CHECK(fake_cuda.blocks[0] == 70000 && fake_cuda.blocks[1] == 3 && fake_cuda.blocks[2] == 2);
  CHECK(fake_cuda.threads[0] == 32 && fake_cuda.threads[1] == 4 && fake_cuda.threads[2] == 1);
  CHECK_EQ(40000, fake_cuda.shared);
  memcpy(&seen, &fake_cuda.args[1], sizeof seen);
  CHECK(fake_cuda.args[0] != 0 && seen == value);
  CHECK_EQ(0, fake_cuda.attributes);

  shape.shared = 100000;
  for (int i = 0; i < 3; i++) /* a large shared memory is requested once */
    CHECK_EQ(AMBIT_OK, cuda->launch(q, f, &shape, 2, args));
  CHECK_EQ(1, fake_cuda.attributes);
  CHECK_EQ(4, fake_cuda.launches);

  CHECK_EQ(AMBIT_OK, cuda->launch(q, f, &none, 2, args));
  CHECK_EQ(4, fake_cuda.launches);
  check_story(AMBIT_EUNSUPPORTED, cuda->launch(q, f, &many, 2, args), "1 x 70000 x 1");
  shape.shared = 1 << 20;
  check_story(AMBIT_EUNSUPPORTED, cuda->launch(q, f, &shape, 2, args),
              "1048576 bytes of shared memory");
  cuda->unload(m);
  cuda->release(memory);
  cuda->queue_close(q);
  cuda->close(g);
  end();
}

/* ---- the GPU device ---- */

static void launch_box(ambit__queue *q, ambit__function *f, ambit__store *stores, ambit__box box)
{
  const int64_t extents[3] = {512, 512, 512};
  const ambit__argument args[2] = {{.store = &stores[0]}, {.store = &stores[1]}};
  const ambit__launch l = {.box = box, .extents = extents, .nargs = 2, .args = args};

  CHECK_EQ(AMBIT_OK, ambit__do(q, launch, f, &l));
}

/* Strips need the rows of a warp and many planes. Without them, cells are computed one by one. */
static void faces_and_thin_parts_are_computed_cell_by_cell(void)
{
  static const struct {
    ambit__box own, box;
    unsigned int threads; /* along x: of a strip, or of the other strategy */
  } launches[] = {
      {{3, {0, 0, 0}, {512, 512, 512}}, {3, {0, 0, 0}, {512, 512, 512}}, 32},
      {{3, {0, 0, 0}, {512, 512, 512}}, {3, {0, 0, 0}, {1, 512, 512}}, 64},
      {{3, {0, 0, 0}, {512, 512, 512}}, {3, {1, 0, 1}, {511, 1, 511}}, 64},
      {{3, {0, 0, 0}, {512, 512, 512}}, {3, {1, 1, 511}, {511, 511, 512}}, 64},
      {{3, {0, 100, 0}, {512, 106, 512}}, {3, {0, 100, 0}, {512, 106, 512}}, 32},
      {{3, {0, 100, 0}, {512, 101, 512}}, {3, {0, 100, 0}, {512, 101, 512}}, 64},
      {{3, {256, 0, 0}, {512, 512, 512}}, {3, {257, 1, 1}, {511, 511, 511}}, 32},
  };
  const ambit__binding bind[2] = {{.is_field = true, .contiguous = true},
                                  {.is_field = true, .contiguous = true}};
  const ambit__backend *b = ambit__backend_find(&errors, "cuda", 4);
  ambit__group g = {.bind = bind, .depth = 1, .ndims = 3, .cells = {512, 512, 512}};
  ambit__store stores[2];
  ambit__function *f = NULL;
  ambit__device *d = NULL;
  ambit__rule *rule = NULL;
  ambit__queue *q = NULL;

  begin();
  CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "test",
                                       "void k(const float *u, float *v)"
                                       "{ *v = u[0][0][-1] + u[0][1][0] - u[1][0][0]; }",
                                       &rule));
  g.rule = rule;
  CHECK_EQ(AMBIT_OK, b->open(&errors, &settings, 0, &d));
  CHECK_EQ(AMBIT_OK, ambit__ask(d, queue_open, false, &q));
  CHECK_EQ(AMBIT_OK, ambit__ask(d, build, &g, &f));
  CHECK_MSG(!strncmp(f->plan, "(strip", 6), "%s", f->plan);
  for (int i = 0; i < 2; i++)
    CHECK_EQ(AMBIT_OK, ambit__ask(d, alloc, 1000, NULL, &stores[i].buffer));
  for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
    for (int k = 0; k < 2; k++) {
      stores[k].layout = (ambit__layout){.components = 1, .own = launches[i].own};
      CHECK(ambit__layout_make(&stores[k].layout));
    }
    launch_box(q, f, stores, launches[i].box);
    CHECK_MSG(launches[i].threads == fake_cuda.threads[0], "launch %d has %u threads along x",
              (int)i, fake_cuda.threads[0]);
  }
  CHECK_EQ(2, fake_cuda.modules); /* compiled once each */
  for (int i = 0; i < 2; i++)
    ambit__ask(d, release, stores[i].buffer);
  ambit__ask(d, discard, f);
  ambit__ask(q->device, queue_close, q);
  b->close(d);
  ambit__rule_free(rule);
  end();
}

/* The contents of a file, to free(); "" if there is none. */
static char *text_of(const char *path)
{
  FILE *f = fopen(path, "r");
  char *text = calloc(1, 1 << 16);

  if (f && text) text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
  if (f) fclose(f);
  return text;
}

static void a_device_that_fails_while_it_is_measured_has_no_bandwidth(void)
{
  ambit__device *dev = NULL;

  begin();
  CHECK_EQ(AMBIT_OK, ambit__backend_cuda.open(&errors, &settings, 0, &dev));
  fake_cuda.sync_result = 700;
  CHECK(ambit__device_copies(dev) == 0);
  CHECK_EQ(AMBIT_OK, errors.status);
  fake_cuda.sync_result = CU_OK;
  CHECK(ambit__device_copies(dev) > 0);
  ambit__backend_cuda.close(dev);
  end();
}

static void a_trace_has_the_times_of_the_device_beside_those_of_the_host(void)
{
  const int64_t extents[] = {4096};
  ambit *a;
  ambit_grid *g;
  ambit_program *p;
  char *text;

  begin();
  a = ambit_open(NULL, NULL);
  ambit_option_set(a, "devices", "cuda");
  ambit_option_set(a, "cache", folder);
  ambit_option_set(a, "trace", folder_path("trace.json"));
  g = ambit_grid_create(a, 1, extents);
  p = ambit_program_create(g);
  ambit_apply(p, ambit_kernel_create(a, "void one(float *u) { u[0] = 1.0f; }"),
              ambit_field_create(g, "u", AMBIT_F32));
  CHECK_EQ(AMBIT_OK, ambit_run(p, 1));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  text = text_of(folder_path("trace.json"));
  CHECK(strstr(text, "\"name\":\"enqueue one\",\"cat\":\"host\""));
  CHECK(strstr(text, "\"name\":\"one\",\"cat\":\"device\""));
  CHECK(strstr(text, "\"dur\":250000.000,")); /* between two events: see fake_cuda.c */
  CHECK(strstr(text, "cuda:0, device times"));
  free(text);
  end();
}

static void what_is_recorded_is_launched_in_one_go_and_urgent_queues_come_first(void)
{
  ambit__gpu *g;
  ambit__gpu_queue *q, *urgent = NULL;
  ambit__gpu_recording *r = NULL;

  begin();
  g = open_gpu(1);
  q = open_queue(g);
  CHECK_EQ(0, fake_cuda.priority);
  CHECK_EQ(AMBIT_OK, cuda->queue_open(g, true, &urgent));
  CHECK_EQ(-5, fake_cuda.priority);
  CHECK_EQ(AMBIT_OK, cuda->record(q));
  check_story(AMBIT_EDEVICE, cuda->queue_sync(q), "cuda:1");
  CHECK_EQ(AMBIT_OK, cuda->recorded(q, &r));
  fake_cuda.replays = 0;
  for (int i = 0; i < 3; i++)
    CHECK_EQ(AMBIT_OK, cuda->replay(q, r));
  CHECK_EQ(3, fake_cuda.replays);
  cuda->recording_close(r);
  cuda->queue_close(urgent);
  cuda->queue_close(q);
  cuda->close(g);
  end();
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_driver_without_a_gpu_says_so", a_driver_without_a_gpu_says_so},
      {"a_driver_that_does_not_start_is_no_device_and_says_why",
       a_driver_that_does_not_start_is_no_device_and_says_why},
      {"without_nvrtc_the_package_to_install_is_named",
       without_nvrtc_the_package_to_install_is_named},
      {"a_device_tells_what_it_is", a_device_tells_what_it_is},
      {"devices_and_contexts_live_side_by_side", devices_and_contexts_live_side_by_side},
      {"closing_nothing_does_nothing", closing_nothing_does_nothing},
      {"bytes_come_back_from_where_they_were_put", bytes_come_back_from_where_they_were_put},
      {"bytes_go_from_one_gpu_to_another", bytes_go_from_one_gpu_to_another},
      {"too_much_memory_is_refused_with_what_is_free",
       too_much_memory_is_refused_with_what_is_free},
      {"events_tell_time_and_order", events_tell_time_and_order},
      {"what_a_kernel_did_wrong_is_told_by_whoever_waits",
       what_a_kernel_did_wrong_is_told_by_whoever_waits},
      {"code_without_its_kernel_is_not_kept_and_not_taken",
       code_without_its_kernel_is_not_kept_and_not_taken},
      {"compiled_kernels_are_kept_by_source_and_options",
       compiled_kernels_are_kept_by_source_and_options},
      {"a_kept_kernel_that_is_not_taken_is_compiled_again",
       a_kept_kernel_that_is_not_taken_is_compiled_again},
      {"a_compiler_newer_than_the_driver_is_named", a_compiler_newer_than_the_driver_is_named},
      {"a_kernel_with_a_mistake_is_shown_with_the_compilers_words",
       a_kernel_with_a_mistake_is_shown_with_the_compilers_words},
      {"a_launch_hands_over_shape_and_arguments", a_launch_hands_over_shape_and_arguments},
      {"faces_and_thin_parts_are_computed_cell_by_cell",
       faces_and_thin_parts_are_computed_cell_by_cell},
      {"a_device_that_fails_while_it_is_measured_has_no_bandwidth",
       a_device_that_fails_while_it_is_measured_has_no_bandwidth},
      {"a_trace_has_the_times_of_the_device_beside_those_of_the_host",
       a_trace_has_the_times_of_the_device_beside_those_of_the_host},
      {"what_is_recorded_is_launched_in_one_go_and_urgent_queues_come_first",
       what_is_recorded_is_launched_in_one_go_and_urgent_queues_come_first},
      {0}};
  static test_case first[4];

  /* Those that need no compiler; children load their own. */
  memcpy(first, tests, 3 * sizeof *tests);
  if (test_main(argc, argv, argc > 1 ? tests : first)) return 1;
  if (argc > 1) return 0;
  if (!has_nvrtc()) {
    printf("# skipped: NVRTC is not installed\n");
    return 77;
  }
  return test_main(argc, argv, tests + 3);
}
