/* SPDX-License-Identifier: BSD-3-Clause */
/* Random programs on a device against ref: equal to the last bit in strict mode, close without it.
 *
 *   test_random                            the fixed set
 *   test_random --seed 0x... [--count n]   other programs, to search for mistakes or run one
 *   test_random --seed 0x1...              beginning at 2^40: fields are bytes and shorts
 *   test_random --seed 0x2...              from 2^41 on: three fields take turns, as in waves
 *   test_random --seed 0x4...              from 2^42 on: with unsigned types and random numbers
 *   test_random --seed 0x8...              from 2^43 on: with sweeps and profiles, after the steps
 *   test_random --seed 0x1...              from 2^44 on: with steps in place, of one colour
 *   test_random --seed 0x2...              from 2^45 on: with points, steady profiles, observers
 *   test_random --seed 0x... --print       prints the program
 *   test_random --device opencl            on another device than cpu; skipped if there is none
 *   test_random --device cpu*3 --recut     the cut moves while programs run
 *   test_random --device cpu,slow          on two devices at once: `slow` is cores, too
 *   test_random --sleep                    tiles that did not change are never computed
 *   test_random --sparse                   on sparse grids, with random masks
 *   test_random --checkpoint               killed at random moments (kill -9), continued, in strict
 *                                          mode; under MPI and on GPUs continued without a kill
 *   test_random --checkpoint --file F [--kill N]   continues from F, beside which the cache is;
 *                                          one process is killed N microseconds after the start
 *   test_random --checked                  with the options nan and, in builds that have it, check:
 *                                          finds only NaN, and the same on both devices
 */
#define _XOPEN_SOURCE 700
#include "device/cpu/machine.h"
#include "device/device.h"
#include "program.h"
#include "support/folder.h"
#include "support/number.h"
#include "support/slow.h"

#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { FIRST = 0x1000, COUNT = 128 };

static const char *device = "cpu"; /* the device under test */
static bool recutting;             /* the cut moves while programs run */
static bool checked;               /* with check and nan */
static bool continued;             /* with checkpoints, killed and started again */
static int killed;                 /* of these */
static const char *file;           /* the checkpoint, of a process before this one; NULL: our own */
static long kill_after;            /* microseconds; 0: never */
static bool one_thread;            /* the program runs on one */
static bool sparse;                /* on sparse grids */

/* ---- simulated caches of the cpu device ---- */

static bool tiny_caches; /* so small that rows are cut and results are stored past them */
static bool nontemporal; /* or a processor whose functions have long loops along rows */

void __real_ambit__machine_probe(const char *root, ambit__machine *m);
void __wrap_ambit__machine_probe(const char *root, ambit__machine *m);

/* The linker replaces ambit__machine_probe by this. */
void __wrap_ambit__machine_probe(const char *root, ambit__machine *m)
{
  __real_ambit__machine_probe(root, m);
  m->has_nontemporal = nontemporal;
  if (!tiny_caches) return;
  m->l1 = 256;
  m->l2 = 512;
  m->l3 = 1024;
  m->has_nontemporal = true;
}

/* ---- small tiles ---- */

static bool sleeps;      /* tiles may sleep in every iteration */
static const char *plan; /* how plans begin that programs run with, if they have such; NULL: any */
static int planned;      /* programs that have */

void __wrap_ambit__tile_size(int ndims, ambit__tile_worker worker, int64_t *size);

/* The linker replaces ambit__tile_size by this. Threads share no cache line of a row. */
void __wrap_ambit__tile_size(int ndims, ambit__tile_worker worker, int64_t *size)
{
  (void)worker;
  for (int d = 0; d < ndims - 1; d++)
    size[d] = 3 + d;
  size[ndims - 1] = one_thread ? 5 : 64;
}

/* ---- comparing ---- */

/* All NaN are equal; other values must have the same bits. */
static bool same_bits(const void *a, const void *b, int64_t i, ambit_type type)
{
  size_t size = ambit_type_size(type);

  if (is_real(type) && isnan(number_at(a, i, type))) return isnan(number_at(b, i, type));
  return !memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size, size);
}

/* Values of smooth programs have magnitude 1. */
static bool is_near(double want, double got, ambit_type type)
{
  if (isnan(want)) return isnan(got);
  if (isinf(want)) return want == got;
  return fabs(got - want) <= (type == AMBIT_F64 ? 1e-9 : 1e-3) * (1 + fabs(want));
}

static bool same_field(const program_plan *p, int field, bool strict, const outcome *want,
                       const outcome *got)
{
  const field_plan *f = &p->fields[field];
  const void *a = want->values[field], *b = got->values[field];

  for (int64_t i = 0; i < program_cells(p) * f->components; i++) {
    /* a double computed from floats is only as accurate as they are */
    bool same = strict || !is_real(f->type)
                    ? same_bits(a, b, i, f->type)
                    : is_near(number_at(a, i, f->type), number_at(b, i, f->type), AMBIT_F32);

    if (same) continue;
    printf("# field f%d, value %" PRId64 " (cell %" PRId64 "): ref %.17g, %s %.17g\n", field, i,
           i / f->components, number_at(a, i, f->type), device, number_at(b, i, f->type));
    return false;
  }
  return true;
}

/* Strict sums are exact. Others are added in a different order, and each addition may round. */
static bool same_scalar(const program_plan *p, int scalar, bool strict, const outcome *want,
                        const outcome *got)
{
  const scalar_plan *s = &p->scalars[scalar];
  double a = want->scalars[scalar], b = got->scalars[scalar];
  double epsilon = s->type == AMBIT_F32 ? 1.2e-7 : 2.3e-16;
  double size = fabs(s->magnitude >= 0 ? want->scalars[s->magnitude] : a);
  bool is_sum = s->magnitude >= 0;

  for (int i = 0; i < p->nscalars; i++)
    is_sum |= p->scalars[i].magnitude == scalar;
  if (is_sum && !strict && !(size < 1e37)) return true; /* overflow depends on the order */
  if (is_sum && !strict)
    return fabs(a - b) <= (double)(program_cells(p) + 8) * epsilon * size + 1e-3 * (1 + size);
  if (!strict && is_real(s->type)) return is_near(a, b, AMBIT_F32);
  return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

/* Values of a field at points. */
static bool same_rows(bool strict, const outcome *want, const outcome *got)
{
  if (want->nrows != got->nrows) {
    printf("# ref kept %" PRId64 " numbers, %s %" PRId64 "\n", want->nrows, device, got->nrows);
    return false;
  }
  for (int64_t i = 0; i < want->nrows; i++) {
    const double a = want->rows[i], b = got->rows[i];

    if (strict ? isnan(a) ? isnan(b) : a == b : is_near(a, b, AMBIT_F32)) continue;
    printf("# number %" PRId64 " of the record: ref %.17g, %s %.17g\n", i, a, device, b);
    return false;
  }
  return true;
}

static bool same_outcome(const program_plan *p, bool strict, const outcome *want,
                         const outcome *got)
{
  if (want->status != got->status || strcmp(want->story, got->story)) {
    printf("# ref: %s %s\n# %s: %s %s\n", ambit_status_name(want->status), want->story, device,
           ambit_status_name(got->status), got->story);
    return false;
  }
  if (want->iterations != got->iterations || want->converged != got->converged) {
    printf("# ref did %" PRId64 " iterations, %s %" PRId64 "\n", want->iterations, device,
           got->iterations);
    return false;
  }
  for (int i = 0; i < p->nfields; i++)
    if (!same_field(p, i, strict, want, got)) return false;
  for (int i = 0; i < p->nscalars; i++)
    if (!same_scalar(p, i, strict, want, got)) {
      printf("# scalar s%d: ref %.17g, %s %.17g\n", i, want->scalars[i], device, got->scalars[i]);
      return false;
    }
  return same_rows(strict, want, got);
}

/* ---- one program ---- */

static int failures;
static int found_nan; /* programs that wrote NaN, with nan */

static void check_mode(const program_plan *p, const play_mode *mode, const outcome *want)
{
  outcome got;
  bool same;

  one_thread = mode->threads == 1;
  program_play(p, mode, &got);
  planned += got.status != AMBIT_EOPTION;
  same = (plan && got.status == AMBIT_EOPTION) || same_outcome(p, mode->strict, want, &got);
  outcome_free(&got);
  if (same) return;
  failures++;
  printf("# to see it again: test_random --device %s%s%s%s --seed 0x%" PRIx64
         "%s%s (%s, %d threads, check %d, nan %d)\n",
         device, plan ? " --plan '" : "", plan ? plan : "", plan ? "'" : "", p->seed,
         checked     ? " --checked"
         : continued ? " --checkpoint"
                     : "",
         sleeps   ? " --sleep"
         : sparse ? " --sparse"
                  : "",
         mode->strict ? "strict" : "not strict", mode->threads, mode->check, mode->nan);
  program_print(p, stdout);
}

static void check_on_device(const program_plan *p, bool strict, int threads, const outcome *want)
{
  const play_mode mode = {.device = device,
                          .strict = strict,
                          .sleep = sleeps,
                          .plan = plan,
                          .sparse = sparse,
                          .threads = threads,
                          .cache = folder,
                          .recut = recutting};

  check_mode(p, &mode, want);
}

/* With check, in builds that have it, there are no faults and no changes. With nan memory starts
 * with other values, but equal ones on all devices, and the messages are identical: kernel, cell,
 * iteration and origin. */
static void check_checked(const program_plan *p, const outcome *want)
{
  play_mode mode = {.device = device, .strict = true, .sparse = sparse, .cache = folder};
  outcome poisoned;

  mode.threads = p->threads;
#ifdef AMBIT_ACCESS_CHECKS
  mode.check = true;
  check_mode(p, &mode, want);
#else
  (void)want;
#endif
  mode.nan = true;
  mode.device = "ref";
  program_play(p, &mode, &poisoned);
  mode.device = device;
  check_mode(p, &mode, &poisoned);
  found_nan += poisoned.status && strstr(poisoned.story, "NaN to ");
  outcome_free(&poisoned);
}

/* ---- continued ---- */

/* Runs the program in a child, which is killed after a while. */
static void play_and_kill(const program_plan *p, const play_mode *mode, long microseconds)
{
  const struct timespec while_ = {.tv_nsec = microseconds * 1000};
  int status = 0;
  pid_t child;
  outcome o;

  fflush(stdout);
  child = fork();
  if (!child) {
    program_play(p, mode, &o);
    _exit(0);
  }
  nanosleep(&while_, NULL);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  killed += WIFSIGNALED(status);
}

/* Processes of MPI cannot fork, nor can those whose OpenCL driver is in use. */
static bool can_fork(void)
{
  return !getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMI_SIZE") && !strncmp(device, "cpu", 3);
}

static void *end_process(void *unused)
{
  const struct timespec while_ = {kill_after / 1000000, kill_after % 1000000 * 1000};

  (void)unused;
  nanosleep(&while_, NULL);
  kill(getpid(), SIGKILL);
  return NULL;
}

/* Continues what other processes have left in the file, until this one is killed or done. */
static void check_file(const program_plan *p, const outcome *want)
{
  const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *size = getenv("OMPI_COMM_WORLD_SIZE");
  play_mode mode = {.device = device, .strict = true, .sparse = sparse, .every = "1"};
  char *copy = strdup(file);
  pthread_t thread;

  mode.cache = dirname(copy);
  mode.threads = p->threads;
  mode.checkpoint = file;
  if (kill_after && (!rank || kill_after % atoi(size) == atoi(rank)))
    pthread_create(&thread, NULL, end_process, NULL);
  if (!want->status) check_mode(p, &mode, want);
  if (kill_after) pause(); /* it was too fast: killed at its end */
  free(copy);
}

/* The last run to its end continues on other parts from the last checkpoint of a complete one. */
static void check_continued(const program_plan *p, const outcome *want)
{
  static const char *const intervals[] = {"1", "2", "5", "0.001s"};
  play_mode mode = {.device = device, .strict = true, .sparse = sparse, .cache = folder};
  char path[64], previous[64];
  dice d = {p->seed + 1};

  if (want->status) return;
  snprintf(path, sizeof path, "/tmp/ambit-random-%ld.h5", (long)getppid());
  snprintf(previous, sizeof previous, "/tmp/ambit-random-%ld.previous.h5", (long)getppid());
  unlink(path);
  unlink(previous);
  mode.threads = p->threads;
  mode.checkpoint = path;
  for (int i = 0; i < 3 && can_fork(); i++) {
    mode.every = intervals[dice_below(&d, 4)];
    mode.device = i % 2 ? "cpu*2" : device;
    play_and_kill(p, &mode, dice_between(&d, 500, 40000));
  }
  for (int i = 0; i < 2; i++) {
    mode.device = i && can_fork() ? "cpu*3" : device;
    mode.every = intervals[i];
    check_mode(p, &mode, want);
  }
  unlink(path);
  unlink(previous);
}

static void check_program(uint64_t seed)
{
  static program_plan p;
  outcome want;

  program_make(&p, seed);
  p.is_quiet = sleeps;
  tiny_caches = p.tiny_caches;
  nontemporal = p.threads % 2;
  program_play(
      &p,
      &(play_mode){
          .device = "ref", .strict = true, .sparse = sparse, .threads = 1, .cache = folder},
      &want);
  if (want.status && want.status != AMBIT_EPROGRAM) {
    failures++;
    printf("# test_random --seed 0x%" PRIx64 " is no program: %s\n", seed, want.story);
  }
  if (checked || continued) {
    if (checked) check_checked(&p, &want);
    if (file)
      check_file(&p, &want);
    else if (continued)
      check_continued(&p, &want);
    outcome_free(&want);
    return;
  }
  check_on_device(&p, true, p.threads, &want);
  if (p.threads > 1 && seed % VARIANTS == VARIANTS - 1) check_on_device(&p, true, 1, &want);
  if (p.is_smooth) check_on_device(&p, false, p.threads, &want);
  outcome_free(&want);
}

/* ---- all programs ---- */

static int check_programs(uint64_t first, uint64_t count)
{
  int n = 0, bad = 0;

  for (uint64_t seed = first, end; seed < first + count; seed = end) {
    int before = failures;

    end = (seed / VARIANTS + 1) * VARIANTS;
    if (end > first + count) end = first + count;
    for (uint64_t s = seed; s < end; s++)
      check_program(s);
    bad += failures != before;
    printf("%sok %d - programs_0x%" PRIx64 "_to_0x%" PRIx64 "\n", failures != before ? "not " : "",
           ++n, seed, end - 1);
    fflush(stdout);
  }
  if (checked) printf("# NaN was found in %d programs\n", found_nan);
  if (continued) printf("# %d runs were killed\n", killed);
  if (continued && can_fork() && !killed && !file) bad++;
  if (recutting) printf("# the cut was moved %d times\n", recuts);
  if (recutting && !recuts) bad++;
  if (plan) printf("# %d runs had a plan like %s\n", planned, plan);
  if (plan && !planned) bad++;
  printf("1..%d\n", n);
  return bad;
}

/* All of the list. */
static bool is_here(void)
{
  for (const char *d = device; d; d = strchr(d, ',') ? strchr(d, ',') + 1 : NULL) {
    const ambit__backend *b = ambit__backend_find(NULL, d, strcspn(d, ":*,"));

    if (!b || b->count() <= 0) return false;
  }
  return true;
}

int main(int argc, char **argv)
{
  uint64_t first = FIRST, count = COUNT;
  bool print = false;
  int bad, compiled;

  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--print")) print = true;
    if (!strcmp(argv[i], "--checked")) checked = true;
    if (!strcmp(argv[i], "--checkpoint")) continued = true;
    if (!strcmp(argv[i], "--sleep")) sleeps = true;
    if (!strcmp(argv[i], "--recut")) recutting = true;
    if (!strcmp(argv[i], "--sparse")) sparse = true;
    if (i + 1 < argc && !strcmp(argv[i], "--seed")) {
      first = strtoull(argv[++i], NULL, 0);
      if (count == COUNT) count = 1;
    }
    if (i + 1 < argc && !strcmp(argv[i], "--device")) device = argv[++i];
    if (i + 1 < argc && !strcmp(argv[i], "--file")) file = argv[++i];
    if (i + 1 < argc && !strcmp(argv[i], "--kill")) kill_after = atol(argv[++i]);
    if (i + 1 < argc && !strcmp(argv[i], "--plan")) plan = argv[++i];
    if (i + 1 < argc && !strcmp(argv[i], "--count")) count = strtoull(argv[++i], NULL, 0);
  }
  if (print) {
    static program_plan p;

    program_make(&p, first);
    program_print(&p, stdout);
    return 0;
  }
  slow_add();
  if (!is_here()) {
    printf("# skipped: there is no %s device\n", device);
    return 77;
  }
  if (!folder_make()) return 1;
  bad = check_programs(first, count);
  compiled = folder_files();
  folder_remove();
  if (!compiled && !bad && !file && !strncmp(device, "cpu", 3)) {
    printf("# skipped: nothing was compiled, so the cpu device ran nothing of its own\n");
    return 77;
  }
  return bad != 0;
}
