/* SPDX-License-Identifier: BSD-3-Clause */
/* resume.c - a run that is killed and continues: the same command, started again.
 *
 *   resume --ambit-checkpoint=run.h5 --ambit-checkpoint-every=1s [picture.png]
 *
 * A wall, hot on one side and cold on the other, until nothing moves. The temperature is then a
 * straight line, which the program checks. The picture has the temperature from the hot side to
 * the cold one after 100, 200, 400, ... iterations.
 */
#include <ambit.h>

#include <math.h>
#include <stdio.h>

enum { N = 40, ITERATIONS = 20000, EVERY = 100, CURVES = 7 };

static const char rule[] = AMBIT_SOURCE(void heat(const double *u, double *v, max double *change) {
  *v = 0.25 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
  *change = fabs(*v - *u);
});

/* The heat that has moved so far: a variable of the program, changed in a callback. */
typedef struct moved {
  ambit_scalar *change;
  double sum;
} moved;

static int add(ambit_program *p, int64_t iteration, void *user)
{
  moved *m = user;

  (void)p;
  m->sum += ambit_scalar_get(m->change);
  if (iteration % 5000 == 0) printf("iteration %d\n", (int)iteration);
  return 0;
}

/* Appends a step that keeps a line through the wall. Records are a part of checkpoints too. */
static ambit_record *watch(ambit *a, ambit_program *p, ambit_grid *g, ambit_field *u)
{
  ambit_record *lines = ambit_record_create(a, "lines");
  double at[N][2];

  for (int i = 0; i < N; i++) {
    at[i][0] = i;
    at[i][1] = 0;
  }
  ambit_sample(p, ambit_points_create(g, N, at[0], AMBIT_NEAREST), u, lines);
  ambit_step_every(p, EVERY);
  return lines;
}

/* Draws lines 0, 1, 3, 7, ..., each as a curve. */
static void draw(ambit *a, ambit_record *lines, const char *picture)
{
  ambit_record *curves = ambit_record_create(a, "curves");
  double line[N] = {0}, curve[N][CURVES];

  for (int c = 0; c < CURVES; c++) {
    ambit_record_read(lines, (1 << c) - 1, 1, line);
    for (int i = 0; i < N; i++)
      curve[i][c] = line[i];
  }
  ambit_record_write(curves, N, CURVES, curve[0]);
  ambit_record_save(curves, picture);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){N, 3 * N});
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64),
              *v = ambit_field_create(g, "v", AMBIT_F64);
  ambit_program *p = ambit_program_create(g);
  moved m = {ambit_scalar_create(a, "change", AMBIT_F64), 0};
  ambit_record *lines = NULL;
  static double line[N];
  double wrong = 0;

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1;                                                /* only process 0 prints */
  ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_CONSTANT, 1);  /* hot before row 0, */
  ambit_field_boundary(u, AMBIT_HIGH(0), AMBIT_CONSTANT, 0); /* cold behind the last one */
  ambit_field_boundary(u, AMBIT_LOW(1) | AMBIT_HIGH(1), AMBIT_PERIODIC, 0);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v, m.change);
  ambit_swap(p, u, v);
  if (argc > 1) lines = watch(a, p, g, u);
  ambit_checkpoint_value(a, "moved", &m.sum, sizeof m.sum); /* part of the state */
  ambit_on_iteration(p, EVERY, add, &m);
  ambit_run_to(p, ITERATIONS); /* in all, however often it was started */
  if (lines) draw(a, lines, argv[1]);

  ambit_field_read(u, AMBIT_INDEX(0, 0), AMBIT_INDEX(N, 1), line);
  for (int i = 0; i < N; i++)
    wrong = fmax(wrong, fabs(line[i] - (1 - (i + 1.0) / (N + 1))));
  printf("after %d iterations, %.12g moved; unlike a straight line by %.2g: %s\n",
         (int)ambit_program_iterations(p), m.sum, wrong, wrong < 1e-6 ? "ok" : "WRONG");
  return ambit_close(a) || wrong >= 1e-6;
}
