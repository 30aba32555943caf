/* SPDX-License-Identifier: BSD-3-Clause */
/* One process runs out of memory, the others do not: all end with an error, and none hangs.
 *
 *   starved VICTIM [STRIDE [FIRST]]
 *
 * The same work is done again and again; the n-th allocation of process VICTIM fails in round n (of
 * every STRIDE rounds one is done). The linker puts functions of ours before malloc, calloc and
 * realloc, in the library and in a module for MPI made for this test. An allocation whose failure
 * does no harm must leave the results as they are. The first one of a context is left out: without
 * it ambit_open returns NULL, and the process can do nothing but exit, which ends the run.
 */
#include "runtime/run/run.h"
#include "support/test.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 24, COLUMNS = 32, ITERATIONS = 6, PATIENCE = 25 /* seconds for a round */ };

/* ---- memory ---- */

static _Thread_local bool starves; /* allocations of this thread may fail */
static long until_failure;         /* allocations; 0: none fails */
static bool failed;                /* in this round */

static bool fails(void)
{
  if (!starves || !until_failure || --until_failure) return false;
  return failed = true;
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

/* ---- the work ---- */

static const char smooth[] =
    AMBIT_SOURCE(void smooth(const float *u, float *v, sum double *total, max float *top) {
      *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
      *total = *v;
      *top = *v;
    });
static const char wide[] = AMBIT_SOURCE(void wide(const float *u, float *w) { *w = u[-2][2]; });

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
  ambit_every(p, 2, never, &calls);
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
  return ambit_close(a);
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

/* Whether the n-th allocation of the victim was reached. All processes fail, or none does; and
 * then the results are right. */
static bool round_of(long n, int starving, double *total, double *loaded)
{
  const double want[] = {*total, *loaded};
  bool seen[3]; /* by any: that it ended well; that it did not; the failure of an allocation */
  ambit_status s;

  round_number = n;
  alarm(PATIENCE);
  failed = false;
  until_failure = ambit_process(judge) == starving ? n + 1 : 0;
  starves = true;
  s = work(total, loaded);
  starves = false;
  seen[0] = s == AMBIT_OK;
  seen[1] = s != AMBIT_OK;
  seen[2] = failed;
  CHECK_EQ(AMBIT_OK, ambit__net_any(judge->net, seen, 3));
  CHECK_MSG(!seen[0] || !seen[1], "round %ld: only some processes fail; this one: %s", n,
            ambit_status_name(s));
  CHECK_MSG(!s || seen[2], "round %ld: %s, though there was memory", n, ambit_status_name(s));
  CHECK_MSG(s || isnan(want[0]) || (*total == want[0] && *loaded == want[1]),
            "round %ld: %g and %g, not %g and %g", n, *total, *loaded, want[0], want[1]);
  return seen[2];
}

static int victim;
static long stride = 1, first = 1;

static void without_any_one_allocation_of_a_process_all_end_with_an_error(void)
{
  double total, loaded, want_total = NAN, want_loaded = NAN;
  long n = first;

  round_of(0, -1, &want_total, &want_loaded); /* compiles the kernels */
  CHECK(isfinite(want_total) && isfinite(want_loaded));
  for (bool reached = true; reached && !test_failures; n += stride) {
    total = want_total;
    loaded = want_loaded;
    reached = round_of(n, victim, &total, &loaded);
  }
  CHECK_MSG(test_failures || n > 100, "there were only %ld allocations", n);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"without_any_one_allocation_of_a_process_all_end_with_an_error",
       without_any_one_allocation_of_a_process_all_end_with_an_error},
      {NULL, NULL}};
  int bad;

  signal(SIGALRM, too_late);
  judge = ambit_open(&argc, &argv);
  if (!judge || ambit_processes(judge) < 2) return 77;
  if (argc > 1) victim = atoi(argv[1]);
  if (argc > 2) stride = atol(argv[2]);
  if (argc > 3) first = atol(argv[3]);
  bad = test_main(1, argv, tests);
  return ambit_close(judge) || bad;
}
