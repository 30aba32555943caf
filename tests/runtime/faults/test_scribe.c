/* SPDX-License-Identifier: BSD-3-Clause */
/* Output beside the computation: jobs on the thread of a context, and copies of fields for them. */
#define _XOPEN_SOURCE 700
#include "runtime/objects/scribe.h"

#include "base/file.h"
#include "runtime/sparse/ring.h"
#include "support/capture.h"
#include "support/folder.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>

/* ---- jobs ---- */

static pthread_t jobs_thread;
static int order[8], norder;

static void note(void *job)
{
  jobs_thread = pthread_self();
  order[norder++] = *(int *)job;
}

static sem_t gate;

static void wait_at_gate(void *job)
{
  (void)job;
  sem_wait(&gate);
}

static void jobs_run_in_order_on_one_other_thread(void)
{
  ambit *a = open_on("cpu");
  int numbers[5] = {3, 1, 4, 1, 5};

  sem_init(&gate, 0, 0);
  norder = 0;
  ambit__scribe_add(a, wait_at_gate, NULL);
  for (int i = 0; i < 5; i++)
    CHECK(!ambit__task_done(ambit__scribe_add(a, note, &numbers[i])));
  CHECK_EQ(0, norder);
  sem_post(&gate);
  ambit__scribe_wait(a);
  CHECK_EQ(5, norder);
  for (int i = 0; i < 5; i++)
    CHECK_EQ(numbers[i], order[i]);
  CHECK(!pthread_equal(jobs_thread, pthread_self()));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void closing_a_context_waits_for_jobs(void)
{
  ambit *a = open_on("cpu");
  int number = 7;

  norder = 0;
  ambit__scribe_add(a, note, &number);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK_EQ(1, norder);
}

/* The thread is not there: nobody waits for it. */
static void a_child_of_the_process_does_not_wait(void)
{
  ambit *a = open_on("cpu");
  int number = 7, status = -1;
  pid_t child;

  ambit__scribe_add(a, note, &number);
  ambit__scribe_wait(a);
  child = fork();
  if (!child) {
    alarm(20);
    ambit_close(a);
    _exit(0);
  }
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* Signals are for the threads of the program. */
static void take_signals(void *job)
{
  sigset_t now;

  pthread_sigmask(SIG_SETMASK, NULL, &now);
  *(bool *)job =
      sigismember(&now, SIGTERM) && sigismember(&now, SIGUSR1) && sigismember(&now, SIGINT);
}

static void jobs_take_no_signals(void)
{
  ambit *a = open_on("cpu");
  bool blocked = false;

  ambit__scribe_add(a, take_signals, &blocked);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK(blocked);
}

/* ---- snapshots ---- */

/* Reads a copy in pieces, as writers of files do. */
typedef struct reading {
  ambit__snapshot *copy;
  float (*values)[M][2];
  ambit_status status;
} reading;

static void read_copy(void *job)
{
  reading *r = job;
  ambit_field *f = r->copy->fields[0];
  ambit__box row = f->grid->box;

  sem_wait(&gate);
  for (int64_t i = 0; i < N && !r->status; i++) {
    row.lo[0] = i;
    row.hi[0] = i + 1;
    r->status = ambit__field_read_own(f, &row, r->values[i]);
  }
  ambit__snapshot_free(r->copy);
}

static void a_snapshot_keeps_the_values_that_fields_had(void)
{
  static float want[N][M][2], got[N][M][2], zero[N][M][2];
  int cases = 0;

  for (int d = 0; d < 5; d++)
    for (int sparse = 0; sparse < 2; sparse++)
      for (int order_of = 0; order_of < 2; order_of++) {
        const char *device = d == 4   ? "opencl"
                             : d == 3 ? "cpu,cpu"
                             : d == 2 ? "cpu*3"
                             : d      ? "cpu"
                                      : "ref";
        ambit *a;
        ambit_grid *g;
        ambit_field *f;
        reading r = {.values = got};

        if (d == 4 && (!device_is_here("opencl") || !test_takes(cases++, 2))) continue;
        a = open_on(device);
        g = sparse ? ring(a) : grid_2d(a, N, M);
        ambit_field_create(grid_1d(a, 3), "else", AMBIT_F32);
        ambit_field_create(g, "other", AMBIT_F64);
        f = ambit_field_create_vector(g, "f", AMBIT_F32, 2, order_of ? AMBIT_AOS : AMBIT_SOA);
        ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_CONSTANT, 5);
        if (sparse) ambit_field_boundary(f, AMBIT_INACTIVE, AMBIT_NONE, -7);
        ambit_field_fill(f, ramp, NULL);
        ambit_field_read(f, NULL, NULL, want);
        memset(got, 0, sizeof got);
        sem_init(&gate, 0, 0);
        CHECK(!ambit__snapshot_take(a, 1, &f, &r.copy));
        CHECK_OK(a);
        CHECK(r.copy);
        if (r.copy) {
          ambit__scribe_add(a, read_copy, &r);
          ambit_field_write(f, NULL, NULL, zero);
          sem_post(&gate);
          ambit__scribe_wait(a);
          CHECK_EQ(AMBIT_OK, r.status);
          CHECK_MSG(!memcmp(want, got, sizeof want), "%s%s", device, sparse ? ", sparse" : "");
        }
        CHECK_EQ(AMBIT_OK, ambit_close(a));
      }
}

static int not_in_ring(const int64_t *i, void *user)
{
  return !in_ring(i, user);
}

/* A sparse grid whose cells change, and one that is destroyed, wait for jobs that know them. */
static void a_snapshot_of_a_sparse_grid_outlives_its_cells(void)
{
  static float want[N][M][2], got[N][M][2];

  for (int destroyed = 0; destroyed < 2; destroyed++) {
    ambit *a = open_on("cpu*2");
    ambit_grid *g = ring(a);
    ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F32, 2, AMBIT_SOA);
    reading r = {.values = got};

    ambit_field_fill(f, ramp, NULL);
    ambit_field_read(f, NULL, NULL, want);
    sem_init(&gate, 0, 1);
    CHECK(!ambit__snapshot_take(a, 1, &f, &r.copy));
    ambit__scribe_add(a, read_copy, &r);
    if (destroyed)
      ambit_grid_destroy(g);
    else
      ambit_grid_activate(g, not_in_ring, NULL);
    ambit__scribe_wait(a);
    CHECK(!memcmp(want, got, sizeof want));
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* ---- memory ---- */

static bool has_little;
void __real_ambit__host_memory(size_t *memory, size_t *free);
void __wrap_ambit__host_memory(size_t *memory, size_t *free);

void __wrap_ambit__host_memory(size_t *memory, size_t *free)
{
  __real_ambit__host_memory(memory, free);
  if (has_little) *free = 1000;
}

static const char step[] = "void step(const float *u, float *v) { *v = *u + 1; }";

/* Without memory for a copy, checkpoints and outputs are saved while devices wait; a warning says
 * so, once. */
static void lack_of_memory_makes_devices_wait(void)
{
  for (int little = 0; little < 2; little++) {
    ambit *a = open_on("cpu");
    ambit_grid *g = grid_2d(a, N, M);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);
    ambit__snapshot *copy = NULL;
    const char *told, *warning;

    ambit_apply(p, ambit_kernel_create(a, step), u, v);
    ambit_swap(p, u, v);
    ambit_run(p, 1);
    has_little = little;
    ambit_option_set(a, "verbose", "0");
    capture_begin();
    CHECK(!ambit__snapshot_take(a, 1, &u, &copy));
    CHECK_EQ(!little, copy != NULL);
    ambit__snapshot_free(copy);
    ambit_checkpoint(a, folder_path("run.h5"), "5");
    CHECK(!ambit_output(p, 10, folder_path("u.npy"), 1, &u, NULL));
    CHECK(!ambit_run(p, 20));
    CHECK_EQ(AMBIT_OK, ambit_close(a));
    has_little = false;
    told = capture_end();
    warning = strstr(told, "not enough memory for a copy of the fields");
    CHECK_EQ(little, warning != NULL);
    CHECK(!warning || !strstr(warning + 1, "not enough memory for a copy"));
    CHECK(!access(folder_path("u.npy"), F_OK));
    CHECK(!access(folder_path("run.h5"), F_OK));
    CHECK(!access(folder_path("run.previous.h5"), F_OK));
    unlink(folder_path("run.h5"));
    unlink(folder_path("run.previous.h5"));
  }
}
IN_FOLDER(lack_of_memory_makes_devices_wait)

/* ---- beside the computation ---- */

static bool is_gated;
ambit_status __real_ambit__file_write_at(ambit__file *f, uint64_t offset, const void *data,
                                         size_t bytes);
ambit_status __wrap_ambit__file_write_at(ambit__file *f, uint64_t offset, const void *data,
                                         size_t bytes);

ambit_status __wrap_ambit__file_write_at(ambit__file *f, uint64_t offset, const void *data,
                                         size_t bytes)
{
  if (is_gated) sem_wait(&gate);
  is_gated = false;
  return __real_ambit__file_write_at(f, offset, data, bytes);
}

/* The thread cannot write before the run has ended, which does not wait for it; the file has the
 * state of the iteration in which it was saved. The end of the run, which closing saves, is in
 * another one. */
static void a_run_goes_on_while_its_checkpoint_is_written(void)
{
  static float values[N * M];
  int64_t at = 0;

  for (int turn = 0; turn < 2; turn++) {
    ambit *a = open_on("cpu*2");
    ambit_grid *g = grid_2d(a, N, M);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
                *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    ambit_apply(p, ambit_kernel_create(a, step), u, v);
    ambit_swap(p, u, v);
    ambit_checkpoint_value(a, "at", &at, sizeof at);
    ambit_checkpoint(a, folder_path("run.h5"), turn ? "1h" : "0.000001s");
    if (!turn) {
      sem_init(&gate, 0, 0);
      is_gated = true;
      ambit_run(p, 3001);
      CHECK_EQ(3001, ambit_program_iterations(p));
      sem_post(&gate);
    } else {
      ambit_option_set(a, "resume", folder_path("run.previous.h5"));
      CHECK_EQ(1, ambit_resume(a));
      at = ambit_program_iterations(p);
      CHECK_MSG(at >= 1 && at < 3001, "%lld", (long long)at);
      ambit_field_read(u, NULL, NULL, values);
      for (int i = 0; i < N * M; i++)
        CHECK(values[i] == (float)at);
    }
    CHECK_OK(a);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
    CHECK(folder_files() <= 2);
  }
}
IN_FOLDER(a_run_goes_on_while_its_checkpoint_is_written)

#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      T(jobs_run_in_order_on_one_other_thread),
      T(closing_a_context_waits_for_jobs),
      T(a_child_of_the_process_does_not_wait),
      T(jobs_take_no_signals),
      T(a_snapshot_keeps_the_values_that_fields_had),
      T(a_snapshot_of_a_sparse_grid_outlives_its_cells),
      {"lack_of_memory_makes_devices_wait", lack_of_memory_makes_devices_wait_},
      {"a_run_goes_on_while_its_checkpoint_is_written",
       a_run_goes_on_while_its_checkpoint_is_written_},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
