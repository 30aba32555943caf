/* SPDX-License-Identifier: BSD-3-Clause */
/* Joined steps: several steps in one launch give the bits of the steps one by one, on all devices
 * and parts, and only steps that may be are joined. */
#include "runtime/places.h"
#include "runtime/program/join.h"

enum { ROWS = 19, COLUMNS = 70, CELLS = ROWS * COLUMNS, FIELDS = 4 };

/* A program in the making: fields u, v, w of float, h of half, and three scalars. */
typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v, *w, *h;
  ambit_scalar *s, *t, *k;
  ambit_program *p;
} scene;

static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  return (double)((i[0] * 131 + i[1] * 17 + *(const int *)user) % 251) / 16 - 7;
}

static scene open_scene(const char *devices, const char *join)
{
  static const int seeds[] = {3, 55, 89};
  scene c = {.a = open_strict(devices)};

  ambit_option_set(c.a, "join", join);
  c.g = grid_2d(c.a, ROWS, COLUMNS);
  c.u = ambit_field_create(c.g, "u", AMBIT_F32);
  c.v = ambit_field_create(c.g, "v", AMBIT_F32);
  c.w = ambit_field_create(c.g, "w", AMBIT_F32);
  c.h = ambit_field_create(c.g, "h", AMBIT_F16);
  c.s = ambit_scalar_create(c.a, "s", AMBIT_F64);
  c.t = ambit_scalar_create(c.a, "t", AMBIT_F64);
  c.k = ambit_scalar_create(c.a, "k", AMBIT_F64);
  c.p = ambit_program_create(c.g);
  ambit_field_fill(c.u, start, (void *)&seeds[0]);
  ambit_field_fill(c.v, start, (void *)&seeds[1]);
  ambit_field_fill(c.w, start, (void *)&seeds[2]);
  ambit_field_boundary(c.u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary(c.v, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  return c;
}

static ambit_kernel *kernel(const scene *c, const char *text)
{
  return ambit_kernel_create(c->a, text);
}

/* ---- programs, and the number of steps that run ---- */

/* As textbooks write it, with x = w, r = v, p = u, and halves for q. */
static void conjugate_gradients(const scene *c)
{
  ambit_kernel *dot = kernel(c, "void dot(const float *x, const half *y, sum double *s)"
                                "{ *s = (double)*x * *y; }");

  ambit_apply(c->p,
              kernel(c, "void multiply(const float *p, half *q)"
                        "{ *q = 4.1f * *p - p[-1][0] - p[1][0] - p[0][-1] - p[0][1]; }"),
              c->u, c->h);
  ambit_apply(c->p, dot, c->u, c->h, c->s);
  ambit_apply(c->p, kernel(c, "void ratio(double s, double *t) { *t = s / 1e6; }"), c->s, c->t);
  ambit_apply(c->p,
              kernel(c, "void add(float *x, const float *y, double k) { *x += (float)k * *y; }"),
              c->w, c->u, c->t);
  ambit_apply(c->p,
              kernel(c, "void sub(float *x, const half *y, double k) { *x -= (float)k * *y; }"),
              c->v, c->h, c->t);
  ambit_apply(c->p, kernel(c, "void norm(const float *x, sum double *s) { *s = (double)*x * *x; }"),
              c->v, c->s);
  ambit_apply(c->p, kernel(c, "void ratio(double s, double *t) { *t = s / 1e6; }"), c->s, c->k);
  ambit_apply(
      c->p, kernel(c, "void turn(float *p, const float *r, double k) { *p = *r + (float)k * *p; }"),
      c->u, c->v, c->k);
}

/* Names that mean other things in each kernel, a write on some paths only, a value written twice,
 * and one that is read before and after. */
static void shared_names(const scene *c)
{
  ambit_apply(c->p,
              kernel(c, "void a(const float *u, float *v) { float w = *u, k = 2 * w;"
                        " if (w > 0) *v = k - *v; }"),
              c->u, c->v);
  ambit_apply(c->p,
              kernel(c,
                     "void b(float *u, float *w, float k) { float v = *u + k; *w = *w * 0.5f + v;"
                     " *u = v; }"),
              c->v, c->w, 0.25);
  ambit_apply(c->p, kernel(c, "void a(const float *w, const float *k, half *v) { *v = *w * *k; }"),
              c->w, c->v, c->h);
  ambit_apply(c->p,
              kernel(c, "void d(const half *v, float *a, max double *m)"
                        "{ *a = 0.9f * *a + 0.001f * *v; *m = *a; }"),
              c->h, c->w, c->s);
}

/* Tables, and faces with their normals. */
static void tables_and_faces(const scene *c)
{
  static const double weights[3] = {0.25, 0.5, 0.25};
  ambit_kernel *blur = kernel(c, "void blur(const float *u, float *v, table float k[3])"
                                 "{ *v = k[0] * u[0][-1] + k[1] * *u + k[2] * u[0][1]; }");
  ambit_kernel *scale = kernel(c, "void scale(const float *v, float *w, table double k[3])"
                                  "{ *w = (float)(k[1] * *v - k[(int)*v & 1]); }");
  ambit_kernel *push = kernel(c, "void push(float *u) { *u += normal(0) + 2 * normal(1); }");
  ambit_kernel *pull = kernel(c, "void pull(const float *u, float *v) { *v = *u - normal(0); }");

  ambit_apply(c->p, blur, c->u, c->v, ambit_arg_table(weights, AMBIT_F64, 1, 3));
  ambit_apply(c->p, scale, c->v, c->w, ambit_arg_table(weights, AMBIT_F64, 1, 3));
  ambit_apply_faces(c->p, AMBIT_LOW(0), push, c->u);
  ambit_apply_faces(c->p, AMBIT_LOW(0), pull, c->u, c->v);
  ambit_swap(c->p, c->u, c->v);
}

/* A reduction by a function, which has a local with the name of another one. */
static void folds(const scene *c)
{
  ambit_apply(c->p,
              kernel(c, "void mean(const float *u, float *v)"
                        "{ float far = u[0][-1] + u[0][1]; *v = 0.5f * far; }"),
              c->u, c->v);
  ambit_apply(c->p,
              kernel(c, "static double larger(double a, double b)"
                        "{ double far = a > b || a != a ? a : b; return far; }"
                        "void most(const float *v, fold(larger, -1e9) double *m) { *m = *v; }"),
              c->v, c->s);
  ambit_swap(c->p, c->u, c->v);
}

/* The first and third step join the last one: they run after the copy. */
static void moved_steps(const scene *c)
{
  ambit_apply(c->p,
              kernel(c, "void mean(const float *u, float *w)"
                        "{ *w = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]); }"),
              c->u, c->w);
  ambit_copy_box(c->p, c->v, AMBIT_INDEX(2, 0), AMBIT_INDEX(5, 30), c->v, AMBIT_INDEX(9, 4));
  ambit_apply(c->p, kernel(c, "void twice(const float *w, half *h) { *h = 2 * *w; }"), c->w, c->h);
  ambit_apply(c->p, kernel(c, "void mix(float *v, const half *h) { *v = 0.5f * *v + 0.25f * *h; }"),
              c->v, c->h);
  ambit_swap(c->p, c->u, c->w);
}

/* All together would have too many operations. */
static void long_steps(const scene *c)
{
  ambit_kernel *more = kernel(c, "void more(const float *u, float *w)"
                                 "{ float x = *w;"
                                 "  for (int i = 0; i < 200; i++) x = x * 0.75f + *u;"
                                 "  *w = x; }");

  for (int i = 0; i < 3; i++)
    ambit_apply(c->p, more, i % 2 ? c->v : c->u, c->w);
}

static const struct {
  const char *name;
  void (*make)(const scene *c);
  size_t steps; /* that run */
} programs[] = {{"conjugate_gradients", conjugate_gradients, 5},
                {"shared_names", shared_names, 1},
                {"tables_and_faces", tables_and_faces, 3},
                {"folds", folds, 2},
                {"moved_steps", moved_steps, 3},
                {"long_steps", long_steps, 2}}; /* the last: takes long to compile */

/* Runs a program in two runs; returns the number of steps. */
static size_t play(const char *devices, const char *join, int program, int64_t *bits)
{
  scene c = open_scene(devices, join);
  size_t n = 0;

  programs[program].make(&c);
  ambit_run(c.p, 3);
  ambit_field_set(c.h, 3);
  ambit_run(c.p, 4);
  n = c.p ? c.p->nsteps : 0;
  memset(bits, 0, FIELDS * CELLS * sizeof *bits);
  ambit_field_read(c.u, NULL, NULL, bits);
  ambit_field_read(c.v, NULL, NULL, bits + CELLS);
  ambit_field_read(c.w, NULL, NULL, bits + 2 * CELLS);
  ambit_field_read(c.h, NULL, NULL, bits + 3 * CELLS);
  bits[FIELDS * CELLS] = (int64_t)(ambit_scalar_get(c.s) * 1e9);
  CHECK_OK(c.a);
  CHECK_EQ(AMBIT_OK, ambit_close(c.a));
  return n;
}

static void joined_steps_give_the_same_bits(void)
{
  static int64_t want[FIELDS * CELLS + 1], got[FIELDS * CELLS + 1];

  const int n_programs = (int)(sizeof programs / sizeof *programs);

  for (int i = 0; i < n_programs; i++) {
    play("cpu", "0", i, want);
    EACH_PLACE(d)
    {
      size_t n;

      if (i && compiles_slowly(*d)) continue;
      if (i == n_programs - 1 && strchr(*d, '*')) continue;
      n = play(*d, "1", i, got);
      CHECK_MSG(!memcmp(want, got, sizeof want), "%s on %s", programs[i].name, *d);
      if (strcmp(*d, "ref"))
        CHECK_MSG(n == programs[i].steps, "%s on %s: %zu steps", programs[i].name, *d, n);
    }
  }
}

/* ---- steps that stay apart ---- */

/* The reason for which two steps stay apart, which has these words. */
static void check_apart(const scene *c, const char *words)
{
  char reason[256] = "joined";

  CHECK(c->p->nwritten == 2 &&
        !ambit__steps_can_join(c->p, &c->p->written[0], &c->p->written[1], reason, sizeof reason));
  CHECK_MSG(strstr(reason, words), "want: %s\ngot: %s", words, reason);
  ambit_run(c->p, 1);
  CHECK_OK(c->a);
  CHECK_EQ((size_t)2, c->p->nsteps);
  ambit_close(c->a);
}

static const char copy[] = "void copy(const float *u, float *v) { *v = *u; }";
static const char shift[] = "void shift(const float *u, float *v) { *v = u[0][1]; }";

static void steps_that_need_other_cells_stay_apart(void)
{
  scene c = open_scene("cpu", "1");

  ambit_apply(c.p, kernel(&c, copy), c.w, c.u);
  ambit_apply(c.p, kernel(&c, shift), c.u, c.v);
  check_apart(&c, "the later one reads 'u' at neighbours");
  c = open_scene("cpu", "1");
  ambit_apply(c.p, kernel(&c, shift), c.u, c.v);
  ambit_apply(c.p, kernel(&c, copy), c.w, c.u);
  check_apart(&c, "the earlier one reads 'u' at neighbours");
}

static void steps_that_need_a_total_stay_apart(void)
{
  scene c = open_scene("cpu", "1");

  ambit_apply(c.p, kernel(&c, "void total(const float *u, sum double *s) { *s = *u; }"), c.u, c.s);
  ambit_apply(c.p, kernel(&c, "void scale(float *u, double s) { *u = *u * (float)s; }"), c.u, c.s);
  check_apart(&c, "both use the scalar 's'");
}

static void steps_on_other_cells_stay_apart(void)
{
  scene c = open_scene("cpu", "1");

  ambit_apply(c.p, kernel(&c, copy), c.u, c.v);
  ambit_apply_box(c.p, AMBIT_INDEX(0, 0), AMBIT_INDEX(ROWS, 3), kernel(&c, copy), c.v, c.w);
  check_apart(&c, "they update different cells");
  c = open_scene("cpu", "1");
  ambit_apply(c.p, kernel(&c, copy), c.u, c.v);
  ambit_apply(c.p, kernel(&c, copy), c.v, c.w);
  ambit_step_every(c.p, 2);
  check_apart(&c, "they run in different iterations");
  c = open_scene("cpu", "1");
  ambit_apply(c.p, kernel(&c, copy), c.u, c.v);
  ambit_apply(c.p, kernel(&c, "void two(const float *v, float *w) { *w = 2; *w += *v; }"), c.v,
              c.v);
  check_apart(&c, "'v' is two parameters");
  c = open_scene("cpu", "1");
  ambit_apply(c.p, kernel(&c, copy), c.u, c.v);
  ambit_apply(c.p, kernel(&c, "void wave(float *v) { *v = sinf(*v); }"), c.v);
  check_apart(&c, "one of them is not vectorised");
}

/* ---- programs that change ---- */

static void steps_can_be_appended_to_joined_ones(void)
{
  static float want[CELLS], got[CELLS];

  for (int join = 0; join < 2; join++) {
    scene c = open_scene("cpu", join ? "1" : "0");
    ambit_kernel *k = kernel(&c, copy),
                 *half = kernel(&c, "void half_of(float *w) { *w *= 0.5f; }");

    ambit_apply(c.p, k, c.u, c.v);
    ambit_apply(c.p, k, c.v, c.w);
    ambit_run(c.p, 1);
    CHECK_EQ((size_t)(join ? 1 : 2), c.p->nsteps);
    ambit_apply(c.p, half, c.w);
    ambit_step_every(c.p, 1);
    ambit_run(c.p, 2);
    CHECK_EQ((size_t)(join ? 1 : 3), c.p->nsteps);
    ambit_field_read(c.w, NULL, NULL, join ? got : want);
    CHECK_OK(c.a);
    ambit_kernel_destroy(half); /* of a joined step */
    ambit_run(c.p, 1);
    CHECK_FAILED(c.a, AMBIT_EPROGRAM, "was destroyed");
    ambit_close(c.a);
  }
  CHECK(!memcmp(want, got, sizeof want));
}

/* 40 parameters are too many for one kernel: the steps are joined by fewer. */
static void a_joined_kernel_has_at_most_32_parameters(void)
{
  scene c = open_scene("cpu", "1");
  ambit_kernel *add = kernel(&c, "void add(float *u, float a, float b, float c, float d, float e,"
                                 "float f, float g) { *u += a + b + c + d + e + f + g; }");
  float first = 0;

  for (int i = 0; i < 6; i++)
    ambit_apply(c.p, add, c.u, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
  ambit_field_set(c.u, 0);
  ambit_run(c.p, 1);
  CHECK(c.p->nsteps > 1 && c.p->nsteps < 6);
  ambit_field_read(c.u, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 1), &first);
  CHECK_NEAR(168.0, (double)first, 0);
  CHECK_OK(c.a);
  ambit_close(c.a);
}

static void checked_steps_stay_apart(void)
{
  scene c = open_scene("cpu", "1");

  ambit_option_set(c.a, "nan", "1");
  ambit_apply(c.p, kernel(&c, copy), c.u, c.v);
  ambit_apply(c.p, kernel(&c, copy), c.v, c.w);
  ambit_run(c.p, 1);
  CHECK_EQ((size_t)2, c.p->nsteps);
  CHECK_OK(c.a);
  ambit_close(c.a);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"joined_steps_give_the_same_bits", joined_steps_give_the_same_bits},
      {"steps_that_need_other_cells_stay_apart", steps_that_need_other_cells_stay_apart},
      {"steps_that_need_a_total_stay_apart", steps_that_need_a_total_stay_apart},
      {"steps_on_other_cells_stay_apart", steps_on_other_cells_stay_apart},
      {"steps_can_be_appended_to_joined_ones", steps_can_be_appended_to_joined_ones},
      {"a_joined_kernel_has_at_most_32_parameters", a_joined_kernel_has_at_most_32_parameters},
      {"checked_steps_stay_apart", checked_steps_stay_apart},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
