/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that are watched by a reader of the test: pictures, pauses, steps, commands. */
#include "runtime/program/cycle.h"
#include "support/test.h"
#include "view/viewer.h"

#include <stdatomic.h>
#include <time.h>

static ambit *a;
static ambit_field *u;
static ambit_program *p;

/* A reader that notes the iterations of pictures, and is always ready. */
static struct {
  int frames, closed;
  int64_t iterations[100000];
  bool refuses, is_idle;
} seen;

static void *open_reader(ambit__viewer *v, char *why, size_t size)
{
  if (seen.refuses) {
    snprintf(why, size, "this test has no terminal");
    return NULL;
  }
  v->rows = v->columns = 50;
  v->wants = !seen.is_idle;
  return v;
}

static void notify(void *reader)
{
  ambit__viewer *v = reader;

  if (seen.frames < 100000) seen.iterations[seen.frames++] = v->frame.iteration;
  v->wants = true;
}

static void close_reader(void *reader)
{
  (void)reader;
  seen.closed++;
}

static const ambit__reader_kind fake = {open_reader, notify, close_reader};

static double spot(const int64_t *index, int component, void *user)
{
  (void)component, (void)user;
  return index[0] > 150 && index[1] > 100;
}

static void open_world(const char *depth)
{
  static const char rule[] = "void f(const float *u, float *v, max float *top)\n"
                             "{ *v = *u + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]"
                             " - 4 * *u); *top = *v; }";
  ambit_field *v;
  ambit_grid *g;

  a = ambit_open(NULL, NULL);
  ambit_option_set(a, "strict", "1"); /* trials may choose other plans each time */
  memset(&seen, 0, sizeof seen);
  if (depth) ambit_option_set(a, "depth", depth);
  g = ambit_grid_create(a, 2, (int64_t[]){300, 200});
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_field_fill(u, spot, NULL);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 1);
  if (depth) /* reductions end cycles */
    ambit_apply(p,
                ambit_kernel_create(a, "void f(const float *u, float *v) { *v = *u + 0.2f * "
                                       "(u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }"),
                u, v);
  else
    ambit_apply(p, ambit_kernel_create(a, rule), u, v, ambit_scalar_create(a, "top", AMBIT_F32));
  ambit_swap(p, u, v);
}

static ambit__viewer *watch(void)
{
  CHECK_EQ(AMBIT_OK, ambit_view(p, u));
  a->viewer->kind = &fake;
  return a->viewer;
}

static void a_watched_run_has_the_same_results(void)
{
  float *values[2];

  for (int i = 0; i < 2; i++) {
    open_world(NULL);
    if (i) watch();
    CHECK_EQ(AMBIT_OK, ambit_run(p, 3000));
    values[i] = malloc(300 * 200 * sizeof(float));
    ambit_field_read(u, NULL, NULL, values[i]);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
    if (i) {
      CHECK(seen.frames >= 2);
      CHECK_EQ(0, seen.iterations[0]);
      CHECK_EQ(3000, seen.iterations[seen.frames - 1]);
    }
    CHECK_EQ(i, seen.closed);
  }
  CHECK(!memcmp(values[0], values[1], 300 * 200 * sizeof(float)));
  free(values[0]);
  free(values[1]);
}

static void pictures_do_not_cut_fused_iterations(void)
{
  open_world("4");
  watch();
  CHECK_EQ(AMBIT_OK, ambit_run(p, 4000));
  CHECK_MSG(p->cycle && p->cycle->schedule.iterations == 4, "there are no cycles of 4");
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK(seen.frames >= 2);
  for (int i = 0; i < seen.frames; i++)
    CHECK_MSG(seen.iterations[i] % 4 == 0, "picture %d is of iteration %lld", i,
              (long long)seen.iterations[i]);
}

static void pictures_are_at_most_thirty_a_second(void)
{
  struct timespec start, end;
  double seconds;

  open_world(NULL);
  watch();
  clock_gettime(CLOCK_MONOTONIC, &start);
  CHECK_EQ(AMBIT_OK, ambit_run(p, 2000));
  clock_gettime(CLOCK_MONOTONIC, &end);
  seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
  CHECK_MSG(seen.frames <= 3 + 34 * seconds, "%d pictures in %g s", seen.frames, seconds);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void nothing_is_read_if_nobody_is_ready(void)
{
  open_world(NULL);
  watch();
  seen.is_idle = true;
  CHECK_EQ(AMBIT_OK, ambit_run(p, 3000));
  CHECK_EQ(0, seen.frames);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void without_a_reader_the_run_goes_on(void)
{
  open_world(NULL);
  ambit_option_set(a, "verbose", "-1");
  watch();
  seen.refuses = true;
  CHECK_EQ(AMBIT_OK, ambit_run(p, 100));
  CHECK_EQ(100, ambit_program_iterations(p));
  CHECK_EQ(AMBIT_OK, ambit_run(p, 100));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK_EQ(0, seen.closed);
}

/* Commands at certain pictures, from another thread. */
typedef struct actor {
  ambit__viewer *viewer;
  pthread_t thread;
  int64_t paused_at, stepped_to; /* iterations */
  int frames_while_paused;
  atomic_bool done; /* then the run ends */
} actor;

static int ends(ambit_program *program, int64_t iteration, void *user)
{
  (void)program, (void)iteration;
  return atomic_load(&((actor *)user)->done);
}

static void pass(double seconds)
{
  nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
}

static bool command(ambit__viewer *v, const char *text)
{
  bool done;

  pthread_mutex_lock(&v->lock);
  done = ambit__viewer_do(v, text);
  pthread_mutex_unlock(&v->lock);
  return done;
}

static ambit__frame frame_of(ambit__viewer *v)
{
  ambit__frame f;

  pthread_mutex_lock(&v->lock);
  f = v->frame;
  pthread_mutex_unlock(&v->lock);
  return f;
}

static int frames_seen(ambit__viewer *v)
{
  int n;

  pthread_mutex_lock(&v->lock);
  n = seen.frames;
  pthread_mutex_unlock(&v->lock);
  return n;
}

/* Waits until the picture is of the last command, and the run is held; at most 200 s. */
static bool settles(ambit__viewer *v)
{
  for (int i = 0; i < 20000; i++) {
    bool done;

    pthread_mutex_lock(&v->lock);
    done = v->frame.number && v->frame.changes == v->changes && !v->steps &&
           ambit__frame_is_held(v, &v->frame);
    pthread_mutex_unlock(&v->lock);
    if (done) return true;
    pass(0.01);
  }
  return false;
}

/* Waits for a picture of an iteration, or of a later one; at most 200 s. While a step is computed,
 * the picture before it may already be of the last command. */
static bool reaches(ambit__viewer *v, int64_t iteration)
{
  for (int i = 0; i < 20000 && frame_of(v).iteration < iteration; i++)
    pass(0.01);
  return frame_of(v).iteration >= iteration;
}

static void *act(void *user)
{
  actor *x = user;
  ambit__viewer *v = x->viewer;

  while (!frame_of(v).number)
    pass(0.01);
  CHECK(command(v, "pause=1"));
  CHECK(settles(v));
  x->paused_at = frame_of(v).iteration;
  x->frames_while_paused = frames_seen(v);
  CHECK(command(v, "zoom=2") && settles(v));
  CHECK_EQ(100, frame_of(v).pixels.columns * frame_of(v).pixels.block);
  CHECK(command(v, "field=v") && settles(v));
  CHECK_EQ(1, frame_of(v).sight.field);
  CHECK(command(v, "colours=magma") && v->style.map == AMBIT__MAGMA + 1);
  CHECK(command(v, "range=0:2") && v->style.lo == 0 && v->style.hi == 2);
  CHECK(command(v, "range=auto") && !(v->style.lo < v->style.hi));
  CHECK_EQ(x->paused_at, frame_of(v).iteration);
  x->frames_while_paused = frames_seen(v) - x->frames_while_paused;
  for (int i = 1; i <= 3; i++)
    CHECK(command(v, "step") && reaches(v, x->paused_at + i) && settles(v));
  x->stepped_to = frame_of(v).iteration;
  CHECK(command(v, "pause=toggle"));
  for (int i = 0; i < 20000 && frame_of(v).iteration <= x->stepped_to; i++)
    pass(0.01);
  atomic_store(&x->done, true);
  return NULL;
}

static void a_paused_run_can_be_looked_at_and_goes_on_step_by_step(void)
{
  actor x = {0};

  open_world(NULL);
  x.viewer = watch();
  ambit_on_iteration(p, 10, ends, &x);
  pthread_create(&x.thread, NULL, act, &x);
  CHECK_EQ(AMBIT_OK, ambit_run(p, 1000000000));
  pthread_join(x.thread, NULL);
  CHECK_MSG(x.frames_while_paused >= 2, "%d pictures while paused", x.frames_while_paused);
  CHECK_EQ(x.paused_at + 3, x.stepped_to);
  CHECK(ambit_program_iterations(p) > x.stepped_to);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void wrong_commands_change_nothing(void)
{
  static const char *const wrong[] = {"",
                                      "pause",
                                      "pause=2",
                                      "step=1",
                                      "field=w",
                                      "field=",
                                      "plane=1",
                                      "axis=+1",
                                      "most=1",
                                      "component=7",
                                      "colours=red",
                                      "range=1:0",
                                      "range=x",
                                      "zoom=0",
                                      "zoom=1e9",
                                      "zoom=2@3:0",
                                      "pan=1",
                                      "pan=99:0",
                                      "relief=yes",
                                      "component=-",
                                      "save",
                                      "whole=1",
                                      "range=nan:1",
                                      "quit=1",
                                      "zoom=nan",
                                      "field=+99999999999999999999",
                                      NULL};
  ambit__viewer *v;

  open_world(NULL);
  v = watch();
  CHECK(!command(v, "step")); /* nothing runs yet */
  CHECK_EQ(AMBIT_OK, ambit_run(p, 2));
  for (int i = 0; wrong[i]; i++) {
    const int64_t before = v->changes;

    CHECK_MSG(!command(v, wrong[i]) && v->changes == before, "'%s' was accepted", wrong[i]);
  }
  CHECK(command(v, "whole"));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void every_key_has_a_command_of_its_own(void)
{
  ambit__viewer *v;

  open_world(NULL);
  v = watch();
  CHECK_EQ(AMBIT_OK, ambit_run(p, 2));
  for (const ambit__key *k = ambit__keys; k->command; k++) {
    const bool shown = !strcmp(k->command, "save") || !strcmp(k->command, "help");
    const bool solid = !strncmp(k->command, "plane", 5) || !strncmp(k->command, "axis", 4) ||
                       !strncmp(k->command, "most", 4); /* of 3-D fields */

    CHECK(ambit__key_command((unsigned char)k->key) == k->command);
    if (strcmp(k->command, "quit"))
      CHECK_MSG(command(v, k->command) == !(shown || solid), "%s", k->command);
  }
  CHECK(!ambit__key_command('x'));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void the_view_ends_on_demand_and_the_run_goes_on(void)
{
  ambit__viewer *v;

  open_world(NULL);
  v = watch();
  CHECK_EQ(AMBIT_OK, ambit_run(p, 2));
  CHECK(command(v, "quit"));
  CHECK_EQ(AMBIT_OK, ambit_run(p, 1000));
  CHECK_EQ(1002, ambit_program_iterations(p));
  CHECK_EQ(1, seen.closed);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK_EQ(1, seen.closed);
}

static void fields_and_programs_may_be_destroyed(void)
{
  open_world(NULL);
  watch();
  CHECK_EQ(AMBIT_OK, ambit_run(p, 2));
  ambit_program_destroy(p);
  ambit_field_destroy(u);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void outputs_may_end_before_the_view_and_its_last_picture_is_of_the_end(void)
{
  open_world(NULL);
  watch();
  CHECK_EQ(AMBIT_OK, ambit_run(p, 7));
  CHECK_EQ(AMBIT_OK, ambit_output_end(p));
  CHECK(p->observers != NULL);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK(seen.frames > 0);
  CHECK_EQ(7, seen.iterations[seen.frames - 1]);
}

static void the_status_line_has_what_fits(void)
{
  ambit__viewer *v;
  char text[120];

  open_world(NULL);
  v = watch();
  CHECK_EQ(AMBIT_OK, ambit_run(p, 20));
  v->frame.iteration = 10;
  v->frame.goal = 20;
  v->frame.ended = false;
  v->frame.per_second = 2;
  v->frame.cells = 2.5e9;
  v->frame.share = 0.5;
  v->frame.pixels.lo = -1;
  v->frame.pixels.hi = 3;
  ambit__frame_status(v, &v->frame, text, sizeof text);
  CHECK_STR("u  10 of 20  -1 to 3  2.5 Gcells/s  50 % of copy  0:05 left", text);
  ambit__frame_status(v, &v->frame, text, 22);
  CHECK_STR("u  10 of 20  -1 to 3", text);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
#define T(name) {#name, name}
      T(a_watched_run_has_the_same_results),
      T(pictures_do_not_cut_fused_iterations),
      T(pictures_are_at_most_thirty_a_second),
      T(nothing_is_read_if_nobody_is_ready),
      T(without_a_reader_the_run_goes_on),
      T(a_paused_run_can_be_looked_at_and_goes_on_step_by_step),
      T(wrong_commands_change_nothing),
      T(every_key_has_a_command_of_its_own),
      T(the_view_ends_on_demand_and_the_run_goes_on),
      T(fields_and_programs_may_be_destroyed),
      T(outputs_may_end_before_the_view_and_its_last_picture_is_of_the_end),
      T(the_status_line_has_what_fits),
#undef T
      {0}};

  return test_main(argc, argv, tests);
}
