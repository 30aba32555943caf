/* The trial of cut steps beside whole ones: what it decides from which times, what it does not measure; and that results are
 * those of whole steps while it goes on and afterwards, whatever it finds. */
#include "runtime/trial.h"
#include "runtime_test.h"

enum { FIRST = 3, LEAST = 2, LONG = 1000 };

static const ambit__pace quick = {.seconds = 1e-9, .first = FIRST, .least = LEAST};

/* ---- decisions ---- */

static ambit__trial start(double seconds)
{
  const ambit__pace pace = {.seconds = seconds, .first = FIRST, .least = LEAST};
  ambit__trial t = {0};

  ambit__trial_start(&t, &pace);
  return t;
}

/* Iterates as far as it can be in one stretch: those with cut steps take `cut` seconds, the others `whole`. Returns how many had
 * whole steps. */
static int go(ambit__trial *t, int64_t iterations, double cut, double whole)
{
  double seconds = 0;
  int wholes = 0;

  ambit__trial_resume(t, iterations);
  for (int64_t i = 0; i < iterations && !t->over; i++) {
    wholes += t->whole;
    seconds += t->whole ? whole : cut;
    if (!ambit__trial_step(t)) continue;
    ambit__trial_enter(t, seconds);
    seconds = 0;
  }
  return wholes;
}

static void the_faster_order_is_kept(void)
{
  static const struct {
    double cut, whole;
    bool kept; /* whole */
    int rounds;
  } cases[] = {
      {1, 1, true, AMBIT__TRIAL_ROUNDS},
      {1, 1.0002, true, AMBIT__TRIAL_ROUNDS},
      {1, 0.997, true, AMBIT__TRIAL_ROUNDS},
      {1, 0.7, true, AMBIT__TRIAL_ROUNDS},
      {1, 1.003, false, AMBIT__TRIAL_ROUNDS},
      {1, 1.4, false, 1},
      {1e-6, 3e-6, false, 1},
      {40, 39, true, AMBIT__TRIAL_ROUNDS},
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ambit__trial t = start(8 * cases[i].cut);
    const int wholes = go(&t, LONG, cases[i].cut, cases[i].whole);

    CHECK(t.over);
    CHECK_EQ(cases[i].kept, t.whole);
    CHECK_EQ(cases[i].rounds, t.rounds);
    CHECK_EQ(8 * cases[i].rounds, wholes);
    CHECK_NEAR(cases[i].cut, ambit__trial_seconds(&t, false), 1e-9);
    CHECK_NEAR(cases[i].whole, ambit__trial_seconds(&t, true), 1e-9);
    ambit__trial_resume(&t, LONG); /* it stays so */
    CHECK(!ambit__trial_step(&t) && t.over && t.whole == cases[i].kept);
  }
}

/* One block of each kind, with these times. */
static void go_round(ambit__trial *t, double cut, double whole)
{
  const int rounds = t->rounds;

  while (t->rounds == rounds && !t->over)
    go(t, LEAST, cut, whole);
}

static void a_disturbed_block_or_two_do_not_matter(void)
{
  ambit__trial t = start(1e-9);

  go(&t, 2 * FIRST, 1, 1);
  go_round(&t, 1, 1.05);
  go_round(&t, 3, 1);
  go_round(&t, 2, 1);
  go_round(&t, 1, 1.05);
  go_round(&t, 1, 1.05);
  CHECK(t.over && !t.whole);
}

/* The same saving in the median, of rounds that agree and of some that do not. */
static void a_saving_that_comes_and_goes_is_none(void)
{
  static const double wholes[2][AMBIT__TRIAL_ROUNDS] = {{1.02, 1.03, 1.02, 1.01, 1.02},
                                                        {1.02, 1.06, 0.96, 1.07, 0.94}};

  for (int i = 0; i < 2; i++) {
    ambit__trial t = start(1e-9);

    go(&t, 2 * FIRST, 1, 1);
    for (int k = 0; k < AMBIT__TRIAL_ROUNDS; k++)
      go_round(&t, 1, wholes[i][k]);
    CHECK(t.over);
    CHECK_EQ(i, t.whole);
  }
}

static void blocks_take_as_long_as_was_said(void)
{
  ambit__trial t = start(20);

  CHECK_EQ(2 * FIRST, ambit__trial_left(&t));
  go(&t, ambit__trial_left(&t), 0.5, 0.5);
  CHECK_EQ(2 * AMBIT__TRIAL_ROUNDS * 40, ambit__trial_left(&t));
  go(&t, ambit__trial_left(&t), 0.5, 0.5);
  CHECK_EQ(0, ambit__trial_left(&t));
  t = start(20); /* slow iterations: a few */
  go(&t, 2 * FIRST, 500, 500);
  CHECK_EQ(2 * AMBIT__TRIAL_ROUNDS * LEAST, ambit__trial_left(&t));
  t = start(20); /* a clock that stands still */
  go(&t, 2 * FIRST, 0, 0);
  CHECK(ambit__trial_left(&t) > LONG);
}

static void blocks_alternate_so_that_drift_is_in_both(void)
{
  static const bool wholes[] = {false, true, true, false, false, true, true, false, false, true};
  ambit__trial t = start(1e-9);

  go(&t, 2 * FIRST, 1, 1);
  for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
    const int n = go(&t, LEAST, 1, 1);

    CHECK_EQ(LEAST * wholes[i], n);
  }
  CHECK(t.over);
}

/* Blocks of 40 iterations: a stretch must have a quarter of one. */
static void what_is_interrupted_is_measured_anew(void)
{
  ambit__trial t = start(20);
  int done, wholes;

  go(&t, 2 * FIRST, 0.5, 0.5);
  done = t.done;
  go(&t, 9, 0.5, 0.5);
  CHECK_EQ(done, t.done);
  ambit__trial_resume(&t, 40);
  for (int i = 0; i < 39; i++)
    CHECK(!ambit__trial_step(&t));
  go(&t, 10, 0.5, 0.5); /* the user had a say: all of it counts for nothing */
  CHECK_EQ(done + 1, t.done);
  CHECK_NEAR(0.5, t.seconds[false][0], 1e-9);
  wholes = go(&t, 40 + 9, 0.5, 0.5); /* a block, and too little for another */
  CHECK_EQ(40, wholes);
  CHECK_EQ(done + 2, t.done);
  CHECK(!t.whole);
  wholes = go(&t, 10, 0.5, 0.5);
  CHECK_EQ(10, wholes);
  CHECK_EQ(done + 3, t.done);
}

/* ---- programs ---- */

enum { ROWS = 60, COLUMNS = 40, CELLS = ROWS * COLUMNS, STEPS = 90 };

static const char wave_rule[] =
    AMBIT_SOURCE(void wave(const float *old, const float *now, float *next, max float *most) {
      *next = 2 * *now - *old + 0.1f * (now[-1][0] + now[1][0] + now[0][-1] + now[0][1] - 4 * *now);
      *most = fmaxf(*most, *next);
    });
static const char *const blur_rule[] = {
    AMBIT_SOURCE(void blur(const float *u, float *v, sum float *all) {
      *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
      *all += *v;
    }),
    AMBIT_SOURCE(void blur(const float *u, float *v) {
      *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
    }),
};

/* What a program does: waves and their highest; sums; blurs the upper half, which the last of three processes has nothing of. */
typedef enum deed { WAVE, SUM, UPPER } deed;

typedef struct scene {
  ambit *a;
  ambit_field *f[3];
  ambit_scalar *s;
  ambit_program *p;
} scene;

static double some(const int64_t *index, int component, void *user)
{
  (void)component, (void)user;
  return (double)((index[0] * 31 + index[1] * 17) % 101) / 64 - 0.5;
}

static void add_steps(const scene *s, deed what)
{
  const int64_t lo[] = {0, 0}, hi[] = {ROWS / 2, COLUMNS};
  ambit_kernel *k = ambit_kernel_create(s->a, what == WAVE ? wave_rule : blur_rule[what == UPPER]);

  if (what == WAVE) ambit_apply(s->p, k, s->f[0], s->f[1], s->f[2], s->s);
  if (what == SUM) ambit_apply(s->p, k, s->f[0], s->f[1], s->s);
  if (what == UPPER) ambit_apply_box(s->p, lo, hi, k, s->f[0], s->f[1]);
  ambit_rotate(s->p, what == WAVE ? 3 : 2, s->f);
}

static scene set_up(ambit *a, const char *overlap, deed what)
{
  static const char *const names[] = {"a", "b", "c"};
  scene s = {.a = a};
  ambit_grid *g;

  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "overlap", overlap);
  s.a->pace = quick;
  g = grid_2d(a, ROWS, COLUMNS);
  s.s = ambit_scalar_create(a, "s", AMBIT_F32);
  for (int i = 0; i < 3; i++) {
    s.f[i] = ambit_field_create(g, names[i], AMBIT_F32);
    ambit_field_boundary(s.f[i], AMBIT_AXIS(0), what == UPPER ? AMBIT_CLAMP : AMBIT_PERIODIC, 0);
    ambit_field_boundary(s.f[i], AMBIT_AXIS(1), AMBIT_REFLECT, 0);
    ambit_field_fill(s.f[i], some, NULL);
  }
  s.p = ambit_program_create(g);
  add_steps(&s, what);
  CHECK_OK(a);
  return s;
}

static int go_on(ambit_program *p, int64_t iteration, void *user)
{
  (void)p, (void)iteration, (void)user;
  return 0;
}

/* Runs of all lengths, some of which the user breaks up. */
static void play(scene *s, float *values)
{
  ambit_run(s->p, 1);
  ambit_run(s->p, 7);
  ambit_every(s->p, 5, go_on, NULL);
  ambit_run(s->p, 12);
  ambit_every(s->p, 0, NULL, NULL);
  ambit_run_until(s->p, s->s, AMBIT_ABOVE, 1e6, 10);
  ambit_run(s->p, STEPS - 30);
  CHECK_OK(s->a);
  for (int i = 0; i < 3; i++)
    ambit_field_read(s->f[i], NULL, NULL, values + (size_t)i * CELLS);
  values[3 * CELLS] = (float)ambit_scalar_get(s->s);
  CHECK_OK(s->a);
}

/* On one process that nobody else takes part in. */
static ambit *open_alone(void)
{
  char name[] = "test", off[] = "--ambit-mpi=off", *words[] = {name, off, NULL}, **argv = words;
  int argc = 2;

  return ambit_open(&argc, &argv);
}

/* It has come to its end, all follow what it found, and it says so. */
static void check_end(const ambit_program *p)
{
  char text[160] = "";

  CHECK(p->trial && p->trial->over);
  if (!p->trial) return;
  CHECK(p->order == (p->trial->whole && p->whole.n ? &p->whole : &p->cut));
  CHECK(ambit__program_trial_tell(p, text, sizeof text));
  CHECK_MSG(strstr(text, p->trial->whole ? "steps are left whole" : "steps are cut"), "%s", text);
}

static void check_results(const char *devices, deed what)
{
  const size_t bytes = (3 * CELLS + 1) * sizeof(float);
  void *want = malloc(bytes), *got = malloc(bytes);
  scene alone = set_up(open_alone(), "two-way", what);
  scene s = set_up(open_on(devices), "two-way", what);

  play(&alone, want);
  play(&s, got);
  CHECK(!alone.p->trial);
  check_end(s.p);
  if (what == UPPER && ambit_process(s.a) == 2) CHECK_EQ(STANCE_NONE, s.p->stance);
  CHECK(!memcmp(want, got, bytes));
  CHECK_EQ(AMBIT_OK, ambit_close(alone.a));
  CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  free(want);
  free(got);
}

/* Whether it may be tested. */
static bool is_here(const char *device)
{
  EACH_DEVICE(d)
  if (!strcmp(*d, device)) return true;
  return false;
}

static void results_do_not_depend_on_the_trial(void)
{
  ambit *a = open_on("cpu");
  const bool alone = ambit_processes(a) == 1;

  ambit_close(a);
  if (!alone) check_results("cpu", WAVE);
  if (!alone) check_results("cpu*2", UPPER);
  if (alone && is_here("opencl")) check_results("opencl,cpu", WAVE); /* queues of their own */
}

/* Whether there is a trial, after a run. */
static bool has_trial(const char *devices, const char *overlap, deed what, const char *nan)
{
  ambit *a = open_on(devices);
  scene s;
  bool found;

  ambit_option_set(a, "nan", nan);
  s = set_up(a, overlap, what);
  ambit_run(s.p, 4);
  CHECK_OK(s.a);
  found = s.p->trial != NULL;
  CHECK_EQ(found, s.p->whole.n > 0);
  CHECK_EQ(AMBIT_OK, ambit_close(s.a));
  return found;
}

static void there_is_one_only_where_it_may_help_and_changes_nothing(void)
{
  ambit *a = open_on("cpu");
  const bool alone = ambit_processes(a) == 1;

  ambit_close(a);
  CHECK_EQ(!alone, has_trial("cpu", "two-way", WAVE, "0"));
  CHECK_EQ(!alone, has_trial("cpu*2", "two-way", WAVE, "0"));
  CHECK(!has_trial("cpu", "extended", WAVE, "0"));
  CHECK(!has_trial("cpu", "none", WAVE, "0"));
  CHECK(!has_trial("cpu", "two-way", WAVE, "1"));
  CHECK(!has_trial("cpu", "two-way", SUM, "0")); /* sums depend on the cut */
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_faster_order_is_kept", the_faster_order_is_kept},
      {"a_disturbed_block_or_two_do_not_matter", a_disturbed_block_or_two_do_not_matter},
      {"a_saving_that_comes_and_goes_is_none", a_saving_that_comes_and_goes_is_none},
      {"blocks_take_as_long_as_was_said", blocks_take_as_long_as_was_said},
      {"blocks_alternate_so_that_drift_is_in_both", blocks_alternate_so_that_drift_is_in_both},
      {"what_is_interrupted_is_measured_anew", what_is_interrupted_is_measured_anew},
      {"results_do_not_depend_on_the_trial", results_do_not_depend_on_the_trial},
      {"there_is_one_only_where_it_may_help_and_changes_nothing",
       there_is_one_only_where_it_may_help_and_changes_nothing},
      {0}};

  return test_main(argc, argv, tests);
}
