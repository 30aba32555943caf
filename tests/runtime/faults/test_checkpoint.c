/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints: a program that is killed at any moment, again and again, and started again on
 * another device each time, ends with the bits of one that was not.
 *
 * Every program is a story: it runs in a child process, which kill -9 ends by a timer.
 */
#define _XOPEN_SOURCE 700

#include "runtime/runtime_test.h"
#include "support/folder.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void (*story)(ambit *a, FILE *out);

/* How a child runs a story. */
typedef struct telling {
  const char *devices;
  const char *every;  /* the interval of checkpoints; NULL: none */
  const char *resume; /* the option; NULL: auto */
  long patience;      /* microseconds until it is killed; 0: it is not */
  const char *result; /* file */
} telling;

static void tell(story s, const telling *t)
{
  FILE *out = fopen(t->result, "wb");
  ambit *a = open_on(t->devices);

  if (!getenv("TEST_VERBOSE")) freopen("/dev/null", "w", stderr);
  ambit_option_set(a, "verbose", "0");
  ambit_on_error(a, NULL, NULL);
  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "threads", "2");
  if (t->every) ambit_checkpoint(a, folder_path("run.h5"), t->every);
  if (t->resume) ambit_option_set(a, "resume", t->resume);
  s(a, out);
  fclose(out);
  if (ambit_error(a)) printf("# %s\n", ambit_error_text(a));
  fflush(stdout);
  _exit(ambit_close(a) ? 1 : 0);
}

/* The exit status of a child; -1: it was killed. */
static int run_child(story s, const telling *t)
{
  int status = 0;
  pid_t child;

  fflush(stdout);
  child = fork();
  if (!child) {
    if (t->patience) {
      signal(SIGALRM, SIG_DFL);
      setitimer(ITIMER_REAL,
                &(struct itimerval){.it_value = {t->patience / 1000000, t->patience % 1000000}},
                NULL);
    }
    tell(s, t);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool same_files(const char *a, const char *b)
{
  FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
  bool same = f && g;
  int x = 0, y = 0;

  while (same && x != EOF) {
    x = fgetc(f);
    y = fgetc(g);
    same = x == y;
  }
  if (f) fclose(f);
  if (g) fclose(g);
  return same;
}

static void remove_checkpoints(void)
{
  unlink(folder_path("run.h5"));
  unlink(folder_path("run.previous.h5"));
}

static double now(void)
{
  struct timeval t;

  gettimeofday(&t, NULL);
  return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Kills the story at random moments until it comes to its end, on these devices in turn: at least
 * once, and in make check-long eight times. */
static void interrupt(story s, const char *const *devices)
{
  const char *every[] = {"7", "29", "0.01s"};
  char want[512], got[512];
  unsigned random = 12345;
  int devs = 0, killed = 0;
  double took;

  for (; devices[devs]; devs++)
    continue;
  strcpy(want, folder_path("want"));
  strcpy(got, folder_path("got"));
  took = -now();
  CHECK_EQ(0, run_child(s, &(telling){.devices = devices[0], .every = "7", .result = want}));
  took += now();
  CHECK_EQ(0, run_child(s, &(telling){.devices = devices[0], .result = want}));
  for (int turn = 0; turn < 40 && (!killed || (turn < 8 && test_takes(turn, 8))); turn++) {
    int ended = -1;

    remove_checkpoints();
    for (int i = 0; ended < 0 && i < 20; i++) {
      random = random * 1664525u + 1013904223u;
      ended = run_child(
          s, &(telling){.devices = devices[i % devs],
                        .every = every[i % 3],
                        .patience = i < 6 ? 100 + (long)((random >> 8) % 1000 * took * 1e3) : 0,
                        .result = got});
      killed += ended < 0;
    }
    CHECK_EQ(0, ended);
    CHECK(same_files(want, got));
    CHECK(folder_files() <= 4); /* the last child has removed what the others left */
  }
  CHECK(killed > 0);
}

static const char *const cores[] = {"cpu", "cpu*3", "ref", NULL};
static const char *const any_core[] = {"cpu", "cpu*3", NULL};

/* ---- stories ---- */

static void put_field(FILE *out, ambit_field *f)
{
  static unsigned char values[1 << 16];

  memset(values, 0, sizeof values);
  ambit_field_read(f, NULL, NULL, values);
  fwrite(values, 1, sizeof values, out);
}

static void put_number(FILE *out, double x)
{
  fwrite(&x, sizeof x, 1, out);
}

static double hill(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 7 + i[1] * 13) % 19) + component;
}

static const char heat[] = "void heat(const float *u, float *v, float k, max float *change)"
                           "{ *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);"
                           "  *change = fabsf(*v - *u); }";

typedef struct scene {
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_scalar *change;
  ambit_program *p;
} scene;

static scene heat_scene(ambit *a)
{
  scene s = {.g = grid_2d(a, 40, 50)};

  s.u = ambit_field_create(s.g, "u", AMBIT_F32);
  s.v = ambit_field_create(s.g, "v", AMBIT_F32);
  s.change = ambit_scalar_create(a, "change", AMBIT_F32);
  s.p = ambit_program_create(s.g);
  ambit_field_fill(s.u, hill, NULL);
  ambit_field_boundary(s.u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_apply(s.p, ambit_kernel_create(a, heat), s.u, s.v, 0.2, s.change);
  ambit_swap(s.p, s.u, s.v);
  return s;
}

static void one_run(ambit *a, FILE *out)
{
  scene s = heat_scene(a);

  ambit_run_to(s.p, 400);
  put_field(out, s.u);
  put_field(out, s.v);
  put_number(out, ambit_scalar_get(s.change));
  put_number(out, (double)ambit_program_iterations(s.p));
}

/* The host decides how often, from values that it reads. */
static void many_runs(ambit *a, FILE *out)
{
  scene s = heat_scene(a);
  double before = 1e9, now = 1e8;
  float cell;

  for (int i = 0; i < 30 && before - now > 1e-4; i++) {
    ambit_run(s.p, 1 + i % 7);
    before = now;
    now = ambit_scalar_get(s.change);
    ambit_field_read(s.u, AMBIT_INDEX(3, 4), AMBIT_INDEX(4, 5), &cell);
    ambit_field_write(s.u, AMBIT_INDEX(8, 9), AMBIT_INDEX(9, 10), &cell);
    put_number(out, cell);
  }
  put_field(out, s.u);
  put_number(out, (double)ambit_program_iterations(s.p));
}

static void three_fields(ambit *a, FILE *out)
{
  ambit_grid *g = grid_2d(a, 30, 20);
  ambit_field *past = ambit_field_create(g, "past", AMBIT_F64);
  ambit_field *now = ambit_field_create(g, "now", AMBIT_F64);
  ambit_field *next = ambit_field_create(g, "next", AMBIT_F64), *turns[] = {past, now, next};
  ambit_scalar *sum = ambit_scalar_create(a, "sum", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);

  ambit_field_fill(now, hill, NULL);
  ambit_field_fill(past, hill, NULL);
  ambit_field_boundary(now, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(p,
              ambit_kernel_create(a,
                                  "void wave(const double *past, const double *now, double *next)"
                                  "{ *next = 2 * *now - *past + 0.1 * (now[-1][0] + now[1][0] +"
                                  "  now[0][-1] + now[0][1] - 4 * *now) + 0.001 * step(); }"),
              past, now, next);
  ambit_rotate(p, 3, turns);
  ambit_apply(p, ambit_kernel_create(a, "void norm(const double *u, sum double *s) { *s = *u; }"),
              now, sum);
  ambit_step_every(p, 7);
  ambit_run(p, 301);
  for (int i = 0; i < 3; i++)
    put_field(out, turns[i]);
  put_number(out, ambit_scalar_get(sum));
}

/* Records of receivers and of a scalar; the first is injected in a second program. */
static void records(ambit *a, FILE *out)
{
  ambit_grid *g = grid_2d(a, 30, 20);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_scalar *sum = ambit_scalar_create(a, "sum", AMBIT_F64);
  ambit_program *p = ambit_program_create(g), *back = ambit_program_create(g);
  ambit_record *seen = ambit_record_create(a, "seen"), *sums;
  ambit_points *points =
      ambit_points_create(g, 3, (double[]){3.5, 4.25, 17.1, 18.3, 28.9, 2}, AMBIT_LINEAR);
  double rows[250 * 3];
  int64_t when[83];

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(p,
              ambit_kernel_create(a,
                                  "void mean(const float *u, float *v, sum double *s) { *v = "
                                  "0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]); *s = *v; }"),
              u, v, sum);
  ambit_inject(p, points, ambit_record_create_ricker(a, 10, 0.004, 100, 1), v);
  ambit_swap(p, u, v);
  ambit_sample(p, points, u, seen);
  sums = ambit_history(p, sum, 3);
  ambit_run(p, 150);
  put_number(out, (double)ambit_record_rows(seen));
  ambit_record_read(seen, 100, 20, rows);
  put_number(out, rows[7]);
  ambit_run(p, 100);
  ambit_record_rewind(seen);
  ambit_inject(back, points, seen, u);
  ambit_run(back, 130);
  put_field(out, u);
  ambit_record_read(seen, 0, 250, rows);
  fwrite(rows, sizeof rows, 1, out);
  ambit_record_read(sums, 0, 83, rows);
  fwrite(rows, sizeof *rows, 83, out);
  ambit_record_iterations(sums, 0, 83, when);
  fwrite(when, sizeof *when, 83, out);
}

static void until(ambit *a, FILE *out)
{
  scene s = heat_scene(a);

  ambit_program_check_every(s.p, 5);
  ambit_run_until(s.p, s.change, AMBIT_BELOW, 0.01, 10000);
  put_number(out, (double)ambit_program_iterations(s.p));
  put_number(out, ambit_program_converged(s.p));
  put_field(out, s.u);
}

static double far(const int64_t *i, int component, void *user)
{
  (void)component, (void)user;
  return i[0] == 3 && i[1] == 5 ? 0 : 1e9;
}

static void until_still(ambit *a, FILE *out)
{
  ambit_grid *g = grid_2d(a, 40, 41);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_field_fill(u, far, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 1e9);
  ambit_apply(p,
              ambit_kernel_create(a, "void near(const float *u, float *v) { *v = fminf(*u, "
                                     "fminf(fminf(u[0][-1], u[0][1]), fminf(u[-1][0], u[1][0])) + "
                                     "1); }"),
              u, v);
  ambit_swap(p, u, v);
  ambit_run_until_still(p, 10000);
  put_number(out, (double)ambit_program_iterations(p));
  put_number(out, ambit_program_converged(p));
  put_field(out, u);
}

static void calls(ambit *a, FILE *out)
{
  scene s = heat_scene(a);
  ambit_program *outer = ambit_program_create(s.g);

  ambit_apply(outer, ambit_kernel_create(a, "void warm(float *u) { *u += 0.01f * (step() % 3); }"),
              s.u);
  ambit_call_until(outer, s.p, s.change, AMBIT_BELOW, 0.5, 40);
  ambit_run(outer, 60);
  put_number(out, (double)ambit_program_iterations(outer));
  put_number(out, (double)ambit_program_iterations(s.p));
  put_number(out, ambit_program_converged(s.p));
  put_field(out, s.u);
}

/* A callback with values of its own, which changes boundaries. */
typedef struct counts {
  scene s;
  double sum;
  int calls;
} counts;

static int count(ambit_program *p, int64_t iteration, void *user)
{
  counts *c = user;

  (void)p;
  c->sum += ambit_scalar_get(c->s.change) * (double)iteration;
  c->calls++;
  ambit_field_boundary(c->s.u, AMBIT_ALL_FACES, AMBIT_CONSTANT, (double)(iteration % 5));
  return iteration == 240;
}

static void callbacks(ambit *a, FILE *out)
{
  counts c = {.s = heat_scene(a)};

  ambit_field_boundary(c.s.u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 1);
  ambit_checkpoint_value(a, "sum", &c.sum, sizeof c.sum);
  ambit_checkpoint_value(a, "calls", &c.calls, sizeof c.calls);
  ambit_on_iteration(c.s.p, 3, count, &c);
  ambit_run(c.s.p, 100);
  put_number(out, c.sum); /* also if it is interrupted later, and this run is not run again */
  put_number(out, c.calls);
  ambit_run(c.s.p, 1000);
  put_number(out, c.sum);
  put_number(out, c.calls);
  put_field(out, c.s.u);
}

/* A sparse grid that grows. */
static int in_disc(const int64_t *i, void *user)
{
  const int64_t r = *(int64_t *)user, y = i[0] - 20, x = i[1] - 25;

  return y * y + x * x < r * r;
}

static int grow(ambit_program *p, int64_t iteration, void *user)
{
  int64_t r = 5 + iteration / 10;

  (void)p;
  return ambit_grid_activate(user, in_disc, &r) != AMBIT_OK;
}

static void sparse(ambit *a, FILE *out)
{
  int64_t r = 5;
  ambit_grid *g = ambit_grid_create_sparse(a, 2, AMBIT_INDEX(40, 50), in_disc, &r);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, 2, AMBIT_AOS);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, 2, AMBIT_AOS);
  ambit_program *p = ambit_program_create(g);

  ambit_field_fill(u, hill, NULL);
  ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CONSTANT, 1);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(p,
              ambit_kernel_create(a, "void mix(const float *u[2], float *v[2])"
                                     "{ *v[0] = *u[0] + 0.2f * (u[1][-1][0] - *u[0]);"
                                     "  *v[1] = *u[1] + 0.2f * (u[0][0][1] - *u[1]); }"),
              u, v);
  ambit_swap(p, u, v);
  ambit_on_iteration(p, 10, grow, g);
  ambit_run(p, 120);
  put_number(out, (double)ambit_grid_cells(g));
  put_field(out, u);
}

/* Values on faces: such steps are changed while their program is sealed. */
static void faces(ambit *a, FILE *out)
{
  ambit_kernel *k = ambit_kernel_create(a, "void mean(const double *u, double *v)"
                                           "{ *v = 0.5 * (u[-1] + u[1]); }");

  for (int i = 0; i < 4; i++) {
    ambit_grid *g = grid_1d(a, 20 + i);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
                *v = ambit_field_create(g, "v", AMBIT_F64);
    ambit_scalar *x = ambit_scalar_create(a, "x", AMBIT_F64);
    ambit_program *p = ambit_program_create(g);

    ambit_scalar_set(x, 1 + i);
    ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_DIRICHLET, 0);
    ambit_field_boundary(u, AMBIT_HIGH(0), AMBIT_DIRICHLET, x);
    ambit_apply(p, k, u, v);
    ambit_swap(p, u, v);
    ambit_run(p, 60);
    put_field(out, u);
  }
}

/* ---- cases ---- */

static void a_killed_run_continues(void)
{
  interrupt(one_run, cores);
}
IN_FOLDER(a_killed_run_continues)

static void a_killed_series_of_runs_continues(void)
{
  interrupt(many_runs, cores);
}
IN_FOLDER(a_killed_series_of_runs_continues)

static void rotations_and_counters_continue(void)
{
  interrupt(three_fields, cores);
}
IN_FOLDER(rotations_and_counters_continue)

static void stop_conditions_continue(void)
{
  interrupt(until, cores);
}
IN_FOLDER(stop_conditions_continue)

static void records_continue(void)
{
  interrupt(records, cores);
}
IN_FOLDER(records_continue)

static void runs_until_nothing_changes_continue(void)
{
  interrupt(until_still, cores);
}
IN_FOLDER(runs_until_nothing_changes_continue)

static void called_programs_continue(void)
{
  interrupt(calls, cores);
}
IN_FOLDER(called_programs_continue)

static void values_and_boundaries_of_callbacks_continue(void)
{
  interrupt(callbacks, cores);
}
IN_FOLDER(values_and_boundaries_of_callbacks_continue)

static void values_on_faces_continue(void)
{
  interrupt(faces, cores);
}
IN_FOLDER(values_on_faces_continue)

static void sparse_grids_continue(void)
{
  interrupt(sparse, any_core);
}
IN_FOLDER(sparse_grids_continue)

/* ---- files ---- */

static void copy_file(const char *from, const char *to)
{
  FILE *f = fopen(from, "rb"), *g = fopen(to, "wb");
  int c;

  while (f && g && (c = fgetc(f)) != EOF)
    fputc(c, g);
  CHECK(f && g);
  if (f) fclose(f);
  if (g) fclose(g);
}

/* Changes a byte, counted from the end of the file. */
static void damage(const char *path, long back)
{
  FILE *f = fopen(path, "r+b");
  int c;

  CHECK(f != NULL);
  if (!f) return;
  fseek(f, -back, SEEK_END);
  c = fgetc(f);
  fseek(f, -back, SEEK_END);
  fputc(c ^ 4, f);
  fclose(f);
}

/* A context that saves every 10 iterations, with these files. */
static ambit *open_with(const char *path)
{
  ambit *a = open_on("cpu");

  ambit_option_set(a, "strict", "1");
  ambit_checkpoint(a, path, "10");
  return a;
}

/* Runs the first story to iteration n. Returns a value at its end. */
static float heat_to(const char *path, int64_t n)
{
  ambit *a = open_with(path);
  scene s = heat_scene(a);
  float value = -1;

  ambit_run_to(s.p, n);
  ambit_field_read(s.u, AMBIT_INDEX(3, 4), AMBIT_INDEX(4, 5), &value);
  CHECK_OK(a);
  ambit_close(a);
  return value;
}

static void the_newest_whole_file_is_taken(void)
{
  char path[512], previous[512];
  float want;

  strcpy(path, folder_path("run.h5"));
  strcpy(previous, folder_path("run.previous.h5"));
  want = heat_to(path, 100);
  CHECK(!access(path, F_OK) && !access(previous, F_OK));
  for (int i = 0; i < 3; i++) {
    if (i == 1) damage(path, 4000); /* values of v */
    if (i == 2) CHECK(!truncate(path, 5000));
    CHECK_MSG(heat_to(path, 100) == want, "%d", i);
    CHECK(!access(path, F_OK));
  }
}
IN_FOLDER(the_newest_whole_file_is_taken)

/* Then the one before is not used, and the files of the new run are newer than it. */
static void a_run_whose_file_was_removed_begins_anew(void)
{
  char path[512];

  strcpy(path, folder_path("run.h5"));
  heat_to(path, 100);
  CHECK(!access(folder_path("run.previous.h5"), F_OK));
  unlink(path);
  for (int i = 0; i < 2; i++) {
    ambit *a = open_with(path);
    scene s = heat_scene(a);

    CHECK_EQ(i, ambit_resume(a));
    CHECK_EQ(30 * i, ambit_program_iterations(s.p));
    ambit_run_to(s.p, 30);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}
IN_FOLDER(a_run_whose_file_was_removed_begins_anew)

/* The end of a run is saved, whether it is time for a checkpoint or not. */
static void a_run_that_ended_continues_with_more_iterations(void)
{
  static const int64_t ends[] = {25, 30, 63, 63, 70};
  char path[512];
  float want;

  strcpy(path, folder_path("whole.h5"));
  want = heat_to(path, 70);
  strcpy(path, folder_path("run.h5"));
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    const float got = heat_to(path, ends[i]);

    CHECK((got == want) == (ends[i] == 70));
  }
  CHECK(heat_to(path, 40) == want); /* and has a warning */
}
IN_FOLDER(a_run_that_ended_continues_with_more_iterations)

/* A context that ends in another function than its value, and with an object that came later. */
static void the_end_of_a_run_has_the_values_of_then(void)
{
  for (int more = 0; more < 2; more++) {
    int64_t count = 0;

    remove_checkpoints();
    for (int turn = 0; turn < 2; turn++) {
      ambit *a = open_with(folder_path("run.h5"));
      scene s = heat_scene(a);

      ambit_checkpoint_value(a, "count", &count, sizeof count);
      ambit_resume(a);
      CHECK_EQ(turn ? more ? 20 : 25 : 0, ambit_program_iterations(s.p));
      CHECK_EQ(turn ? 7 : 0, count);
      count = 7;
      CHECK(!ambit_run_to(s.p, 25));
      count = 8;
      if (more) ambit_field_create(s.g, "more", AMBIT_F32);
      CHECK_EQ(AMBIT_OK, ambit_close(a));
    }
  }
}
IN_FOLDER(the_end_of_a_run_has_the_values_of_then)

/* Processes of a run that was killed may write a last checkpoint when the next one has begun. */
static void a_file_that_moves_after_it_was_found_is_loaded(void)
{
  char path[512], previous[512];
  float value[2] = {-1, -2};

  strcpy(path, folder_path("run.h5"));
  strcpy(previous, folder_path("run.previous.h5"));
  for (int again = 0; again < 2; again++) {
    ambit *a = open_with(path);
    scene s = heat_scene(a);

    CHECK(!ambit_run(s.p, 25));
    if (again) CHECK(!rename(previous, path)); /* an older one */
    CHECK(!ambit_run(s.p, 29));
    CHECK(!ambit_field_read(s.u, AMBIT_INDEX(3, 4), AMBIT_INDEX(4, 5), &value[again]));
    CHECK_EQ(54, ambit_program_iterations(s.p));
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
  CHECK(value[0] == value[1]);
}
IN_FOLDER(a_file_that_moves_after_it_was_found_is_loaded)

static void two_damaged_files_are_an_error(void)
{
  char path[512], previous[512];
  ambit *a;

  strcpy(path, folder_path("run.h5"));
  strcpy(previous, folder_path("run.previous.h5"));
  heat_to(path, 100);
  damage(path, 4000);
  damage(previous, 4000);
  a = open_with(path);
  CHECK(ambit_run(heat_scene(a).p, 100) == AMBIT_EIO);
  CHECK_FAILED(a, AMBIT_EIO, "there is no whole checkpoint");
  ambit_close(a);
  a = open_with(path);
  ambit_option_set(a, "resume", "no");
  CHECK(!ambit_run(heat_scene(a).p, 30));
  CHECK_OK(a);
  ambit_close(a);
  CHECK(heat_to(path, 100) > 0);
}
IN_FOLDER(two_damaged_files_are_an_error)

static void a_file_that_cannot_be_written_is_an_error_before_the_first_iteration(void)
{
  ambit *a = open_with(folder_path("nowhere/run.h5"));
  scene s = heat_scene(a);

  CHECK(ambit_run(s.p, 10) == AMBIT_EIO);
  CHECK_EQ(0, ambit_program_iterations(s.p));
  CHECK_FAILED(a, AMBIT_EIO, "nowhere/run.h5");
  ambit_close(a);
}
IN_FOLDER(a_file_that_cannot_be_written_is_an_error_before_the_first_iteration)

static void a_file_that_is_no_checkpoint_is_not_replaced(void)
{
  char path[512];
  ambit *a;
  FILE *f;

  strcpy(path, folder_path("notes.txt"));
  f = fopen(path, "w");
  fputs("the notes of a year, which nobody wants to lose: they are longer than a line", f);
  fclose(f);
  a = open_with(path);
  CHECK(ambit_run(heat_scene(a).p, 10) == AMBIT_EIO);
  CHECK_FAILED(a, AMBIT_EIO, "it is not a checkpoint of Ambit; it would be replaced");
  ambit_close(a);
}
IN_FOLDER(a_file_that_is_no_checkpoint_is_not_replaced)

/* A full disk: the last file stays, the run goes on, and closing the context fails. */
static void a_full_disk_does_not_end_the_run(void)
{
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  struct rlimit limit, none;
  char path[512];
  ambit *a;
  scene s;

  strcpy(path, folder_path("run.h5"));
  a = open_with(path);
  s = heat_scene(a);
  CHECK(!ambit_run(s.p, 25));
  getrlimit(RLIMIT_FSIZE, &none);
  limit = (struct rlimit){6000, none.rlim_max};
  sigaction(SIGXFSZ, &ignore, &before);
  setrlimit(RLIMIT_FSIZE, &limit);
  CHECK(!ambit_run(s.p, 25));
  setrlimit(RLIMIT_FSIZE, &none);
  sigaction(SIGXFSZ, &before, NULL);
  CHECK_OK(a);
  CHECK_EQ(50, ambit_program_iterations(s.p));
  CHECK_EQ(AMBIT_EIO, ambit_close(a));
  a = open_with(path);
  s = heat_scene(a);
  CHECK(!ambit_run(s.p, 25));
  CHECK(!ambit_run(s.p, 25));
  CHECK_EQ(50, ambit_program_iterations(s.p));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}
IN_FOLDER(a_full_disk_does_not_end_the_run)

/* A run that was complete is not run again, but values are those that it left. */
static void values_are_restored_after_each_run(void)
{
  double sums[2][2];

  for (int turn = 0; turn < 2; turn++) {
    ambit *a = open_with(folder_path("run.h5"));
    counts c = {.s = heat_scene(a)};

    ambit_checkpoint_value(a, "sum", &c.sum, sizeof c.sum);
    ambit_on_iteration(c.s.p, 3, count, &c);
    for (int run = 0; run < 2; run++) {
      CHECK(!ambit_run(c.s.p, 25));
      sums[turn][run] = c.sum;
    }
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
  CHECK(sums[0][0] > 0 && sums[0][1] > sums[0][0]);
  CHECK(sums[0][0] == sums[1][0] && sums[0][1] == sums[1][1]);
}
IN_FOLDER(values_are_restored_after_each_run)

/* ---- other programs ---- */

static void checkpoints_of_other_programs_are_refused(void)
{
  static const struct {
    const char *kernel;
    double k;
    int rows;
    ambit_type type;
    const char *words;
  } others[] = {
      {heat, 0.2, 41, AMBIT_F32, "there, grid 1 has 40x50 cells; here, grid 1 has 41x50 cells"},
      {"void heat(const double *u, double *v, double k, max double *change)"
       "{ *v = *u + k * (u[0][1] - *u); *change = *v; }",
       0.2, 40, AMBIT_F64, "field 'u' of type float; here, grid 1 has a field 'u' of type double"},
      {heat, 0.21, 40, AMBIT_F32, "(u, v, 0.2, change)"},
      {"void heat(const float *u, float *v, float k, max float *change)"
       "{ *v = *u + k * (u[0][1] - *u); *change = *v; }",
       0.2, 40, AMBIT_F32, "in program 1 step 1 is kernel 'heat'"},
  };
  char path[512];

  strcpy(path, folder_path("run.h5"));
  heat_to(path, 25);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    for (int any = 0; any < 2; any++) {
      ambit *a = open_with(path);
      ambit_grid *g = grid_2d(a, others[i].rows, 50);
      ambit_field *u = ambit_field_create(g, "u", others[i].type);
      ambit_field *v = ambit_field_create(g, "v", others[i].type);
      ambit_scalar *change = ambit_scalar_create(a, "change", others[i].type);
      ambit_program *p = ambit_program_create(g);

      if (any) ambit_option_set(a, "resume", "any");
      ambit_option_set(a, "checkpoint-every", "1h");
      ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
      ambit_apply(p, ambit_kernel_create(a, others[i].kernel), u, v, others[i].k, change);
      ambit_swap(p, u, v);
      ambit_run(p, 25);
      if (any)
        CHECK_OK(a);
      else
        CHECK_FAILED(a, AMBIT_EPROGRAM, others[i].words);
      CHECK_EQ(any ? 25 : 0, ambit_program_iterations(p));
      ambit_close(a);
    }
}
IN_FOLDER(checkpoints_of_other_programs_are_refused)

static void a_program_that_makes_other_calls_is_refused(void)
{
  char path[512];

  strcpy(path, folder_path("run.h5"));
  for (int i = 0; i < 3; i++) {
    ambit *a = open_with(path);
    scene s = heat_scene(a);

    ambit_run(s.p, 15);
    if (i == 0) ambit_scalar_get(s.change);
    if (i == 1) CHECK(isnan(ambit_scalar_get(s.change)) == 0);
    ambit_run(s.p, 15);
    if (i < 2)
      CHECK_OK(a);
    else {
      CHECK(strstr(ambit_error_text(a), path) != NULL);
      CHECK_FAILED(a, AMBIT_EPROGRAM, "run.h5 reads a scalar");
    }
    ambit_close(a);
  }
}
IN_FOLDER(a_program_that_makes_other_calls_is_refused)

/* A process of a run that was killed may rename the file of the run after it. */
static void a_file_that_goes_away_does_not_end_checkpoints(void)
{
  ambit *a = open_on("cpu");
  scene s;

  ambit_checkpoint(a, folder_path("run.h5"), "10");
  s = heat_scene(a);
  ambit_run_to(s.p, 25);
  while (access(folder_path("run.previous.h5"), F_OK) || access(folder_path("run.h5"), F_OK))
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  unlink(folder_path("run.h5"));
  ambit_run_to(s.p, 55);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK(!access(folder_path("run.h5"), F_OK));
}
IN_FOLDER(a_file_that_goes_away_does_not_end_checkpoints)

static void a_file_to_continue_from_can_be_named(void)
{
  char path[512], other[512];
  ambit *a;
  scene s;
  float want, got;

  strcpy(path, folder_path("run.h5"));
  strcpy(other, folder_path("other.h5"));
  want = heat_to(path, 100);
  copy_file(path, other);
  for (int saves = 0; saves < 2; saves++) {
    a = open_on("cpu");
    ambit_option_set(a, "strict", "1");
    if (saves) ambit_checkpoint(a, folder_path("new.h5"), "10");
    ambit_option_set(a, "resume", other);
    s = heat_scene(a);
    ambit_run_to(s.p, 100);
    ambit_field_read(s.u, AMBIT_INDEX(3, 4), AMBIT_INDEX(4, 5), &got);
    CHECK_OK(a);
    CHECK(want == got);
    ambit_close(a);
  }
  a = open_on("cpu");
  ambit_option_set(a, "resume", "nothing.h5");
  CHECK(ambit_run(heat_scene(a).p, 1) == AMBIT_EIO);
  CHECK_FAILED(a, AMBIT_EIO, "cannot resume from nothing.h5: there is no such file");
  ambit_close(a);
}
IN_FOLDER(a_file_to_continue_from_can_be_named)

/* It leaves fewer files than the run before it, whose last ones are of a later iteration. */
static void a_run_that_begins_anew_continues_from_its_own_files(void)
{
  char path[512], other[512];

  strcpy(path, folder_path("run.h5"));
  strcpy(other, folder_path("other.h5"));
  heat_to(other, 15);
  for (int named = 0; named < 2; named++) {
    ambit *a;
    scene s;

    remove_checkpoints();
    heat_to(path, 100);
    a = open_with(path);
    ambit_option_set(a, "resume", named ? other : "no");
    CHECK(!ambit_run_to(heat_scene(a).p, 20));
    CHECK_EQ(AMBIT_OK, ambit_close(a));
    a = open_with(path);
    s = heat_scene(a);
    CHECK_EQ(1, ambit_resume(a));
    CHECK_EQ(20, ambit_program_iterations(s.p));
    ambit_close(a);
  }
}
IN_FOLDER(a_run_that_begins_anew_continues_from_its_own_files)

/* A program that reads more than the journal holds, and keeps its place itself. */
static void keeps_place(ambit *a, FILE *out)
{
  scene s = heat_scene(a);
  double sums[30] = {0};
  int64_t frame = 0;

  ambit_checkpoint_value(a, "frame", &frame, sizeof frame);
  ambit_checkpoint_value(a, "sums", sums, sizeof sums);
  ambit_resume(a);
  for (; frame < 30; frame++) {
    float values[2000];

    ambit_run_to(s.p, 5 * (frame + 1));
    ambit_field_read(s.u, NULL, NULL, values);
    sums[frame] = values[77] + values[1234];
  }
  fwrite(sums, sizeof sums, 1, out);
  put_field(out, s.u);
}

static void a_program_that_keeps_its_place_continues(void)
{
  interrupt(keeps_place, cores);
}
IN_FOLDER(a_program_that_keeps_its_place_continues)

static void a_program_that_reads_too_much_is_told(void)
{
  enum { CELLS = 9 << 20 };
  char *values = malloc(CELLS);
  ambit *a;

  for (int i = 0; i < 2; i++) {
    ambit_grid *g;
    ambit_field *u;
    ambit_program *p;

    a = open_with(folder_path("run.h5"));
    ambit_option_set(a, "strict", "1");
    g = grid_1d(a, CELLS);
    u = ambit_field_create(g, "u", AMBIT_U8);
    p = ambit_program_create(g);
    ambit_apply(p, ambit_kernel_create(a, "void add(unsigned char *u) { *u += 1; }"), u);
    for (int k = 0; k < 10 && !ambit_error(a); k++) {
      ambit_run(p, 1);
      ambit_field_read(u, NULL, NULL, values);
    }
    ambit_run(p, 10);
    if (i)
      CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "call ambit_resume");
    else
      CHECK_OK(a);
    ambit_close(a);
  }
  free(values);
}
IN_FOLDER(a_program_that_reads_too_much_is_told)

/* ---- signals ---- */

static int signals_seen;

static void see(int number)
{
  (void)number;
  signals_seen++;
}

/* A callback that sends its process a signal in iteration 20. */
static int send(ambit_program *p, int64_t iteration, void *user)
{
  (void)p;
  if (iteration == 20) kill(getpid(), *(int *)user);
  return 0;
}

static int signal_number;
static bool has_handler;

static void gets_signal(ambit *a, FILE *out)
{
  scene s = heat_scene(a);

  if (has_handler) signal(signal_number, see);
  ambit_on_iteration(s.p, 1, send, &signal_number);
  ambit_run(s.p, 100);
  ambit_on_iteration(s.p, 0, NULL, NULL);
  put_field(out, s.u);
  fprintf(out, "%d", signals_seen);
}

static void signals_save(void)
{
  static const struct {
    int number;
    bool handler;
    int status; /* -1: the process is killed */
  } cases[] = {{SIGUSR1, false, 0}, {SIGUSR1, true, 0}, {SIGTERM, false, -1}, {SIGTERM, true, 0}};
  char got[512], path[512];

  strcpy(path, folder_path("run.h5"));
  strcpy(got, folder_path("got"));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    telling t = {.devices = "cpu", .every = "1h", .result = got};
    char last = 0;
    FILE *f;

    remove_checkpoints();
    signal_number = cases[i].number;
    has_handler = cases[i].handler;
    CHECK_EQ(cases[i].status, run_child(gets_signal, &t));
    CHECK_MSG(!access(path, F_OK), "signal %d", cases[i].number);
    f = fopen(got, "rb");
    if (f && cases[i].status == 0 && !fseek(f, -1, SEEK_END)) last = (char)fgetc(f);
    if (f) fclose(f);
    if (cases[i].status == 0) CHECK_EQ(cases[i].handler ? '1' : '0', last);
  }
}
IN_FOLDER(signals_save)

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"a_killed_run_continues", a_killed_run_continues_},
      {"a_killed_series_of_runs_continues", a_killed_series_of_runs_continues_},
      {"rotations_and_counters_continue", rotations_and_counters_continue_},
      {"stop_conditions_continue", stop_conditions_continue_},
      {"records_continue", records_continue_},
      {"runs_until_nothing_changes_continue", runs_until_nothing_changes_continue_},
      {"called_programs_continue", called_programs_continue_},
      {"values_and_boundaries_of_callbacks_continue", values_and_boundaries_of_callbacks_continue_},
      {"sparse_grids_continue", sparse_grids_continue_},
      {"values_on_faces_continue", values_on_faces_continue_},
      /* those after this one save files in this process, which then looks for no more leftovers */
      {"a_program_that_keeps_its_place_continues", a_program_that_keeps_its_place_continues_},
      {"the_newest_whole_file_is_taken", the_newest_whole_file_is_taken_},
      {"a_run_whose_file_was_removed_begins_anew", a_run_whose_file_was_removed_begins_anew_},
      {"a_run_that_ended_continues_with_more_iterations",
       a_run_that_ended_continues_with_more_iterations_},
      {"the_end_of_a_run_has_the_values_of_then", the_end_of_a_run_has_the_values_of_then_},
      {"a_file_that_moves_after_it_was_found_is_loaded",
       a_file_that_moves_after_it_was_found_is_loaded_},
      {"two_damaged_files_are_an_error", two_damaged_files_are_an_error_},
      {"a_file_that_cannot_be_written_is_an_error_before_the_first_iteration",
       a_file_that_cannot_be_written_is_an_error_before_the_first_iteration_},
      {"a_file_that_is_no_checkpoint_is_not_replaced",
       a_file_that_is_no_checkpoint_is_not_replaced_},
      {"a_full_disk_does_not_end_the_run", a_full_disk_does_not_end_the_run_},
      {"checkpoints_of_other_programs_are_refused", checkpoints_of_other_programs_are_refused_},
      {"a_program_that_makes_other_calls_is_refused", a_program_that_makes_other_calls_is_refused_},
      {"a_file_that_goes_away_does_not_end_checkpoints",
       a_file_that_goes_away_does_not_end_checkpoints_},
      {"a_file_to_continue_from_can_be_named", a_file_to_continue_from_can_be_named_},
      {"a_run_that_begins_anew_continues_from_its_own_files",
       a_run_that_begins_anew_continues_from_its_own_files_},
      {"a_program_that_reads_too_much_is_told", a_program_that_reads_too_much_is_told_},
      {"signals_save", signals_save_},
      {"values_are_restored_after_each_run", values_are_restored_after_each_run_},
      {NULL, NULL}};

  if (!access("/dev/shm", W_OK)) setenv("TMPDIR", "/dev/shm", 1); /* disks take milliseconds */
  return test_main(argc, argv, cases);
}
