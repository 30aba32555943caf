/* SPDX-License-Identifier: BSD-3-Clause */
/* One process runs out of memory, or one of its messages fails; the others are well. All end with
 * an error, and none hangs.
 *
 *   starved memory|messages VICTIM [STRIDE [FIRST]]
 *   starved opening VICTIM N      opens and closes a context once; the N-th call of MPI fails
 *
 * The same work is repeated in rounds; in round n the n-th allocation of process VICTIM fails, or
 * the n-th call of MPI for a message (one of every STRIDE rounds is run). The linker wraps malloc,
 * calloc and realloc in the library and in an MPI module made for this test, and the calls of MPI
 * in that module (lost_messages.c). If a failed call raises no error, the results must not change.
 *
 * Not tested: the first allocation of a context, without which ambit_open returns NULL and the
 * process can only exit, which ends the run. A call that fails while a context is opened or closed
 * may leave no way to tell the others, and ends the run: test_opening.py starts a run for each.
 */
#include "runtime/run/run.h"
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  ROWS = 24,
  COLUMNS = 32,
  ITERATIONS = 6,
  PATIENCE = 200 /* seconds for a round that hangs */
};

/* ---- faults ---- */

static bool messages;              /* these fail, not allocations */
static _Thread_local bool starves; /* calls of this thread may fail */
static bool closes;                /* the context: completed messages do not fail */
static bool opening;               /* and closing is what is tested: all calls may fail */
static long until_failure;         /* calls; 0: none fails */
static bool failed;                /* in this round */

static bool counts_down(void)
{
  if (!starves || !until_failure || --until_failure) return false;
  return failed = true;
}

static bool fails(void)
{
  return !messages && counts_down();
}

#define EXPORT __attribute__((visibility("default"))) /* found by the MPI module */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
EXPORT void *__wrap_malloc(size_t bytes);
EXPORT void *__wrap_calloc(size_t n, size_t bytes);
EXPORT void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
  return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
  return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
  return fails() ? NULL : __real_realloc(old, bytes);
}

/* Called by the MPI module: whether this call of MPI fails; 0: it begins a message, 1: completes
 * one, 2: is made only to open a context. */
EXPORT bool starved_loses(int call);

bool starved_loses(int call)
{
  if (opening) return counts_down();
  return messages && call != 2 && !(closes && call == 1) && counts_down();
}

/* ---- the work ---- */

static const char smooth[] =
    AMBIT_SOURCE(void smooth(const float *u, float *v, sum double *total, max float *top) {
      *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
      *total = *v;
      *top = *v;
    });
static const char wide[] = AMBIT_SOURCE(void wide(const float *u, float *w) { *w = u[-2][2]; });

static char cause[256]; /* the error of the round */

static double hill(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)(index[0] * index[1] % 7);
}

static int never(ambit_program *p, int64_t iteration, void *user)
{
  (void)p;
  (void)iteration;
  ++*(int *)user;
  return 0;
}

static void build_and_run(ambit *a, ambit_field *u, ambit_field *v, ambit_field *w, double *total)
{
  ambit_grid *g = u->grid;
  ambit_scalar *sum = ambit_scalar_create(a, "sum", AMBIT_F64);
  ambit_scalar *top = ambit_scalar_create(a, "top", AMBIT_F32);
  ambit_program *p = ambit_program_create(g), *q = ambit_program_create(g);
  int calls = 0;

  ambit_apply(p, ambit_kernel_create(a, smooth), u, v, sum, top);
  ambit_swap(p, u, v);
  ambit_on_iteration(p, 2, never, &calls);
  ambit_run(p, ITERATIONS);
  ambit_run_until(p, top, AMBIT_ABOVE, 1e9, 2);
  ambit_apply(q, ambit_kernel_create(a, wide), u, w); /* needs wider margins: p is unsealed */
  ambit_run(q, 1);
  ambit_run(p, ITERATIONS);
  *total = ambit_scalar_get(sum);
}

/* One round. NULL: there is no context. */
static ambit_status work(double *total, double *loaded)
{
  const int64_t extents[] = {ROWS, COLUMNS}, from[] = {0, 0}, to[] = {1, 2};
  float values[2] = {NAN, NAN};
  ambit *a = ambit_open(NULL, NULL);
  ambit_grid *g;
  ambit_field *u, *v, *w;
  ambit_status s;

  ambit_on_error(a, NULL, NULL);
  g = ambit_grid_create(a, 2, extents);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  w = ambit_field_create(g, "w", AMBIT_F32);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, hill, NULL);
  if (u && v && w) build_and_run(a, u, v, w, total);
  ambit_field_save(u, "starved.npy");
  ambit_field_save(u, "starved.png");
  ambit_field_load(v, "starved.npy");
  ambit_field_read(v, from, to, values);
  *loaded = values[0] + values[1];
  snprintf(cause, sizeof cause, "%s", ambit_error(a) ? ambit_error_text(a) : "closed");
  closes = true;
  s = ambit_close(a);
  closes = false;
  return s;
}

/* ---- rounds ---- */

static ambit *judge; /* all processes, of which none starves */
static long round_number;

static void too_late(int sig)
{
  static char text[] = "not ok - a round takes for ever: 0000000\n";
  long n = round_number;

  for (char *at = text + sizeof text - 3; n; n /= 10)
    *at-- = (char)('0' + n % 10);
  (void)sig;
  if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(3);
  _exit(2);
}

/* The bytes of the saved file, and the number of files beside it. */
typedef struct folder {
  char bytes[2 * ROWS * COLUMNS * sizeof(float)];
  size_t length;
  int files;
} folder;

static folder look(void)
{
  folder f = {0};
  FILE *file = fopen("starved.npy", "rb");
  DIR *here = opendir(".");

  if (file) {
    f.length = fread(f.bytes, 1, sizeof f.bytes, file);
    fclose(file);
  }
  while (here && readdir(here))
    f.files++;
  if (here) closedir(here);
  return f;
}

/* Every round saves the same values: the old file and the new one are equal. */
static void check_folder(long n, const folder *want)
{
  const folder got = look();

  CHECK_MSG(got.length == want->length && !memcmp(got.bytes, want->bytes, got.length),
            "round %ld: starved.npy has changed", n);
  CHECK_MSG(got.files == want->files, "round %ld: %d files, not %d", n, got.files, want->files);
}

/* Whether the n-th call of the victim was reached. All processes fail, or none does; and
 * then the results are right. */
static bool round_of(long n, int starving, double *total, double *loaded)
{
  const double want[] = {*total, *loaded};
  bool seen[3]; /* by any: that it ended well; that it did not; a call that failed */
  ambit_status s;

  round_number = n;
  alarm(PATIENCE);
  failed = false;
  until_failure = ambit_process(judge) == starving ? n + !messages : 0;
  starves = true;
  s = work(total, loaded);
  starves = false;
  seen[0] = s == AMBIT_OK;
  seen[1] = s != AMBIT_OK;
  seen[2] = failed;
  CHECK_EQ(AMBIT_OK, ambit__net_any(judge->net, seen, 3));
  CHECK_MSG(!seen[0] || !seen[1], "round %ld: only some processes fail; this one: %s", n,
            ambit_status_name(s));
  CHECK_MSG(!s || seen[2], "round %ld: %s, though no call failed", n, ambit_status_name(s));
  CHECK_MSG(!s || !messages || strstr(cause, "MPI could not") || !strcmp(cause, "closed"),
            "round %ld: \"%s\" does not name the cause", n, cause);
  CHECK_MSG(s || isnan(want[0]) || (*total == want[0] && *loaded == want[1]),
            "round %ld: %g and %g, not %g and %g", n, *total, *loaded, want[0], want[1]);
  return seen[2];
}

static int victim;
static long stride = 1, first = 1;

static void if_any_one_call_of_a_process_fails_all_end_with_an_error(void)
{
  double total, loaded, want_total = NAN, want_loaded = NAN;
  folder saved;
  long n = first;

  round_of(0, -1, &want_total, &want_loaded); /* compiles the kernels */
  CHECK(isfinite(want_total) && isfinite(want_loaded));
  saved = look();
  CHECK(saved.length > ROWS * COLUMNS * sizeof(float));
  for (bool reached = true; reached && !test_failures; n += stride) {
    total = want_total;
    loaded = want_loaded;
    reached = round_of(n, victim, &total, &loaded);
    if (ambit_process(judge) == 0) check_folder(n, &saved);
  }
  if (ambit_process(judge) == 0) printf("# %ld calls of process %d\n", n - stride - 1, victim);
  CHECK_MSG(test_failures || n > 100, "there were only %ld calls", n);
}

/* Opens and closes a context; prints the status, if the run still exists. */
static int open_once(long n)
{
  ambit_status opened, closed;
  ambit *a;

  messages = opening = true;
  until_failure = ambit_process(judge) == victim ? n : 0;
  starves = true;
  a = ambit_open(NULL, NULL);
  opened = ambit_error(a);
  closed = a ? ambit_close(a) : AMBIT_ENOMEM;
  starves = false;
  printf("opened: %s, closed: %s%s\n", ambit_status_name(opened), ambit_status_name(closed),
         failed ? ", a call failed" : "");
  return closed != AMBIT_OK;
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {{"if_any_one_call_of_a_process_fails_all_end_with_an_error",
                                     if_any_one_call_of_a_process_fails_all_end_with_an_error},
                                    {NULL, NULL}};
  int bad;

  signal(SIGALRM, too_late);
  judge = ambit_open(&argc, &argv);
  if (!judge || ambit_processes(judge) < 2) return 77;
  if (argc > 3 && !strcmp(argv[1], "opening")) {
    victim = atoi(argv[2]);
    bad = open_once(atol(argv[3]));
    return ambit_close(judge) || bad;
  }
  messages = argc > 1 && !strcmp(argv[1], "messages");
  if (messages) setenv("AMBIT_TRACE", "starved.json", 1); /* of the rounds, not of the judge */
  if (argc > 2) victim = atoi(argv[2]);
  if (argc > 3) stride = atol(argv[3]);
  if (argc > 4) first = atol(argv[4]);
  bad = test_main(1, argv, tests);
  return ambit_close(judge) || bad;
}
