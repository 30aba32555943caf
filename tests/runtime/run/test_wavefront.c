/* SPDX-License-Identifier: BSD-3-Clause */
/* Several iterations in one pass: bit-equal to ref for all boundaries, programs, depths, sizes and
 * numbers of threads. */
#include "device/cpu/cpu.h"
#include "runtime/program/cycle.h"
#include "runtime/runtime_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes that the model would not choose ---- */

static ambit__wave_sizes size; /* 0: as chosen; strips: none */
static int owners;             /* 0: as many as pay off */
static double asked;           /* nanoseconds that threads were last asked for */

ambit_status __real_ambit__wavefront_choose(const ambit_program *p, int depth, ambit__flow *flow,
                                            ambit__wavefront *w);
ambit_status __wrap_ambit__wavefront_choose(const ambit_program *p, int depth, ambit__flow *flow,
                                            ambit__wavefront *w);
int __real_ambit__cpu_threads_for(const ambit__cpu *d, double ns);
int __wrap_ambit__cpu_threads_for(const ambit__cpu *d, double ns);

/* The linker replaces the functions of these names. */
ambit_status __wrap_ambit__wavefront_choose(const ambit_program *p, int depth, ambit__flow *flow,
                                            ambit__wavefront *w)
{
  const ambit_status s = __real_ambit__wavefront_choose(p, depth, flow, w);

  if (size.block) w->wave.size.block = size.block;
  if (size.tile && w->stages && !(w->wraps >> 1 & 1)) w->wave.size.tile = size.tile;
  w->wave.size.strip = w->stages && !(w->wraps >> (p->grid->box.ndims - 1) & 1) ? size.strip : 0;
  return s;
}

int __wrap_ambit__cpu_threads_for(const ambit__cpu *d, double ns)
{
  asked = ns;
  return owners ? owners : __real_ambit__cpu_threads_for(d, ns);
}

/* ---- programs ---- */

enum { MOST_FIELDS = 4 };

typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *f[MOST_FIELDS];
  ambit_program *p;
  int ndims;
} scene;

typedef struct story {
  const char *name;
  int ndims, nfields;
  void (*build)(scene *s);
  bool is_coloured; /* boundaries and extents keep the colours of a chequerboard apart */
} story;

static ambit_kernel *kernel(const scene *s, const char *text)
{
  return ambit_kernel_create(s->a, text);
}

static void heat(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void heat(const double *u, double *v)"
                        "{ *v = *u + 0.2 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }"),
              s->f[0], s->f[1]);
  ambit_swap(s->p, s->f[0], s->f[1]);
}

/* All corners, another reach on each side, and the number of the iteration. */
static void lopsided(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void lopsided(const double *u, double *v)"
                        "{ *v = 0.3 * u[-2][1] + 0.2 * u[1][-3] + 0.1 * u[1][2] + 0.2 * u[-1][-1] "
                        "+ 0.001 * step() + 0.0001 * index(0); }"),
              s->f[0], s->f[1]);
  ambit_swap(s->p, s->f[0], s->f[1]);
}

static void wave(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void wave(const double *past, const double *now, double *next)"
                        "{ *next = 2 * *now - *past + 0.2 * (now[-1][0] + now[1][0] + now[0][-1] "
                        "+ now[0][1] - 4 * *now); }"),
              s->f[0], s->f[1], s->f[2]);
  ambit_rotate(s->p, 3, (ambit_field *[]){s->f[0], s->f[1], s->f[2]});
}

static void gray_scott(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void gs(const double *u, const double *v, double *a, double *b)"
                        "{ double r = 0.01 * *u * *v * *v;"
                        "  *a = *u + 0.1 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u) - r;"
                        "  *b = *v + 0.05 * (v[-1][0] + v[1][0] + v[0][-1] + v[0][1] - 4 * *v) + r;"
                        "}"),
              s->f[0], s->f[1], s->f[2], s->f[3]);
  ambit_swap(s->p, s->f[0], s->f[2]);
  ambit_swap(s->p, s->f[1], s->f[3]);
}

/* In place, staggered. */
static void fdtd(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void h(double *hx, double *hy, const double *e)"
                        "{ *hx = *hx - 0.5 * (e[0][1] - *e); *hy = *hy + 0.5 * (e[1][0] - *e); }"),
              s->f[0], s->f[1], s->f[2]);
  ambit_apply(s->p,
              kernel(s, "void e(const double *hx, const double *hy, double *e)"
                        "{ *e = *e + 0.5 * (*hy - hy[-1][0] - *hx + hx[0][-1]); }"),
              s->f[0], s->f[1], s->f[2]);
}

/* A kernel on faces and one on a box after the bulk, and a field that never changes. */
static void places(scene *s)
{
  const int64_t n = ambit_grid_extent(s->g, 0), m = ambit_grid_extent(s->g, 1);
  const int64_t lo[] = {n / 3, m / 4}, hi[] = {n / 2 + 1, m / 2 + 1};

  ambit_apply(s->p,
              kernel(s, "void bulk(const double *u, const double *c, double *v)"
                        "{ *v = *u + 0.1 * (c[-1][0] * u[-1][0] + u[1][0] + u[0][-1] + c[0][1] * "
                        "u[0][1] - 4 * *u); }"),
              s->f[0], s->f[2], s->f[1]);
  ambit_apply_faces(s->p, AMBIT_FACE(0, 0) | AMBIT_FACE(1, 1),
                    kernel(s, "void face(double *v) { *v = 0.5 * *v + 0.25 * step(); }"), s->f[1]);
  ambit_apply_box(s->p, lo, hi,
                  kernel(s, "void box(const double *u, double *v) { *v = u[2][0] - u[-1][1]; }"),
                  s->f[0], s->f[1]);
  ambit_swap(s->p, s->f[0], s->f[1]);
}

/* Faces that read the rows inside, which the next step overwrites. */
static void edges(scene *s)
{
  ambit_apply_faces(s->p, AMBIT_FACE(0, 1),
                    kernel(s, "void edge(double *u) { *u = 0.5 * u[-3][0] + 1; }"), s->f[0]);
  ambit_apply(s->p,
              kernel(s, "void damp(double *u, const double *v)"
                        "{ *u = 0.75 * *u + 0.0625 * (v[-1][0] + v[0][1]); }"),
              s->f[0], s->f[1]);
}

/* In place: red cells read black ones, then black cells read red ones. */
static void red_black(scene *s)
{
  ambit_kernel *relax =
      kernel(s, "void relax(double *u, const double *f, int k)"
                "{ if ((index(0) + index(1)) % 2 == k)"
                "    *u = 0.25 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - *f); }");

  ambit_apply(s->p, relax, s->f[0], s->f[1], 0.0);
  ambit_apply(s->p, relax, s->f[0], s->f[1], 1.0);
}

/* The colours of an iteration take turns, with another reach on each side, and so do rows; then all
 * cells change. */
static void turns(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void turn(double *u, const double *v)"
                        "{ *u = (index(0) + index(1) + step()) % 2 == 1"
                        "    ? 0.3 * u[-3][0] + 0.2 * u[1][-2] + 0.2 * u[0][1] + 0.1 * *v : *u; }"),
              s->f[0], s->f[1]);
  ambit_apply(s->p, kernel(s, "void rows(double *v) { if (index(0) & 1) *v += 0.25 * v[-1][2]; }"),
              s->f[1]);
  ambit_apply(s->p,
              kernel(s, "void trade(double *u, double *v)"
                        "{ double w = *u; *u = 0.5 * *v; *v = w; }"),
              s->f[0], s->f[1]);
}

static void chequers(scene *s)
{
  for (int k = 0; k < 2; k++)
    ambit_apply(s->p,
                kernel(s, "void flip(double *u, const double *v, int k)"
                          "{ if ((index(0) + index(1) + index(2) + k) % 2)"
                          "    *u = 0.2 * (u[-1][0][0] + u[1][2][0] + u[0][-1][0] + u[0][1][0]"
                          "                + u[0][0][-1]) - *v; }"),
                s->f[0], s->f[1], (double)k);
}

static void heat3(scene *s)
{
  ambit_apply(s->p,
              kernel(s, "void heat(const double *u, double *v)"
                        "{ *v = 0.3 * *u + 0.1 * (u[-1][0][0] + u[1][0][0] + u[0][-1][0]) "
                        "+ 0.11 * (u[0][2][0] + u[0][0][-1]) + 0.12 * u[1][-1][1]; }"),
              s->f[0], s->f[1]);
  ambit_swap(s->p, s->f[0], s->f[1]);
}

static const story stories[] = {
    {"heat", 2, 2, heat, false},          {"lopsided", 2, 2, lopsided, false},
    {"wave", 2, 3, wave, false},          {"gray_scott", 2, 4, gray_scott, false},
    {"fdtd", 2, 3, fdtd, false},          {"places", 2, 3, places, false},
    {"edges", 2, 2, edges, false},        {"heat3", 3, 2, heat3, false},
    {"red_black", 2, 2, red_black, true}, {"turns", 2, 2, turns, true},
    {"chequers", 3, 2, chequers, true},
};

/* ---- running them ---- */

typedef struct setting {
  const char *devices, *partition, *depth, *threads;
  ambit_boundary kind;
  int64_t extents[3];
  int iterations;
} setting;

static double start(const int64_t *i, int component, void *user)
{
  const int64_t third = *(int *)user == 3 ? i[2] : 0;

  (void)component;
  return (double)((i[0] * 31 + i[1] * 7 + third * 5) % 13) / 8;
}

/* The values of all fields in the end; the caller frees them. */
static double *play(const story *st, const setting *how, bool *waves)
{
  char *argv[] = {"test", "--ambit-mpi=off", NULL}, **words = argv;
  int argc = strcmp(how->devices, "ref") ? 1 : 2; /* each process has the reference itself */
  scene s = {.a = ambit_open(&argc, &words), .ndims = st->ndims};
  size_t cells = 1;
  double *values;

  for (int d = 0; d < st->ndims; d++)
    cells *= (size_t)how->extents[d];
  values = calloc(cells * (size_t)st->nfields, sizeof *values);
  ambit_option_set(s.a, "devices", how->devices);
  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "depth", how->depth);
  ambit_option_set(s.a, "threads", how->threads);
  if (how->partition) ambit_option_set(s.a, "partition", how->partition);
  s.g = ambit_grid_create(s.a, st->ndims, how->extents);
  for (int i = 0; i < st->nfields; i++) {
    const char name[] = {'f', (char)('0' + i), 0};

    s.f[i] = ambit_field_create(s.g, name, AMBIT_F64);
    ambit_field_boundary(s.f[i], AMBIT_ALL_FACES, how->kind, 2 + i);
    ambit_field_fill(s.f[i], start, &s.ndims);
  }
  s.p = ambit_program_create(s.g);
  st->build(&s);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, how->iterations));
  *waves = s.p->cycle && s.p->cycle->wavefront;
  for (int i = 0; i < st->nfields; i++)
    ambit_field_read(s.f[i], NULL, NULL, values + (size_t)i * cells);
  ambit_close(s.a);
  return values;
}

/* In a row of a step in place all lanes compute, and those of the other colour drop what they make
 * of cells that other threads write: races to the thread sanitizer, also in single iterations. */
#if defined(__SANITIZE_THREAD__)
enum { IS_RACY = 1 };
#else
enum { IS_RACY = 0 };
#endif

/* Compares one setting with ref. */
static void compare(const story *st, setting how, bool must)
{
  char text[16];
  bool waves;
  size_t bytes = sizeof(double) * (size_t)st->nfields;
  double *got, *want;

  if (st->is_coloured && (IS_RACY || how.kind == AMBIT_CLAMP || how.kind == AMBIT_SYMMETRIC))
    return;
  for (int d = 0; st->is_coloured && d < st->ndims; d++)
    how.extents[d] += how.extents[d] % 2;
  snprintf(text, sizeof text, "%d", owners);
  how.threads = text;
  got = play(st, &how, &waves);
  CHECK_MSG(waves || !must, "%s: no wavefront, boundary %d, depth %s", st->name, (int)how.kind,
            how.depth);
  how.devices = "ref";
  how.partition = NULL;
  want = play(st, &how, &waves);
  for (int d = 0; d < st->ndims; d++)
    bytes *= (size_t)how.extents[d];
  CHECK_MSG(!memcmp(want, got, bytes),
            "%s: boundary %d, depth %s, %d owners, block %d, tile %d, strip %d, %dx%dx%d", st->name,
            (int)how.kind, how.depth, owners, (int)size.block, (int)size.tile, (int)size.strip,
            (int)how.extents[0], (int)how.extents[1], (int)how.extents[2]);
  free(got);
  free(want);
}

static const ambit_boundary kinds[] = {AMBIT_CONSTANT,  AMBIT_PERIODIC, AMBIT_REFLECT,
                                       AMBIT_SYMMETRIC, AMBIT_CLAMP,    AMBIT_FIXED};
enum { NKINDS = sizeof kinds / sizeof *kinds, NSTORIES = sizeof stories / sizeof *stories };

/* One of so many cases runs in make check: waves take long under sanitizers. */
#if defined(__SANITIZE_THREAD__)
enum { ONE_OF = 61, PARTS_ONE_OF = 7 };
#elif defined(__SANITIZE_ADDRESS__)
enum { ONE_OF = 37, PARTS_ONE_OF = 7 };
#else
enum { ONE_OF = 17, PARTS_ONE_OF = 3 };
#endif

static void results_do_not_depend_on_the_wave(void)
{
  static const char *const depths[] = {"2", "3", "5", "8"};

  for (int i = 0; i < NSTORIES; i++)
    for (int k = 0; k < NKINDS; k++)
      for (int d = 0; d < 4; d++) {
        const setting how = {.devices = "cpu",
                             .depth = depths[d],
                             .kind = kinds[k],
                             .extents = {71, stories[i].ndims == 2 ? 93 : 23, 17},
                             .iterations = 11};

        owners = 1 + (d + i + k) % 3;
        size.block = (int64_t[]){1, 3, 8, 200}[(i + d) % 4];
        size.tile = (int64_t[]){0, 16, 48}[(k + d) % 3];
        size.strip = (int64_t[]){0, 16, 32}[(i + k + d / 2) % 3];
        if (size.tile && stories[i].ndims == 3) size.tile /= 8;
        if (test_takes((i * NKINDS + k) * 4 + d, ONE_OF)) compare(&stories[i], how, true);
      }
}

/* Grids with less room than a wave, or than some of its owners, would like. */
static void small_grids_are_right_too(void)
{
  static const char *const depths[] = {"2", "4", "7"};

  for (int i = 0; i < NSTORIES; i++)
    for (int k = 0; k < NKINDS; k++)
      for (int n = 0; n < 6; n++) {
        const setting how = {.devices = "cpu",
                             .depth = depths[n % 3],
                             .kind = kinds[k],
                             .extents = {4 + 3 * n, 19 - 3 * n, 5 + n},
                             .iterations = 9};

        owners = 1 + n % 3;
        size = (ambit__wave_sizes){1 + n, stories[i].ndims == 2 ? 16 : 2, n % 2 * 16};
        if (test_takes((i * NKINDS + k) * 6 + n, ONE_OF)) compare(&stories[i], how, false);
      }
}

/* Each part is a pass, over its own cells and some layers of those of its neighbours. */
static void results_do_not_depend_on_parts(void)
{
  static const struct {
    int parts;
    const char *flat, *deep;
  } cuts[] = {{2, "2", "1x2x1"}, {2, "1x2", "1x1x2"}, {4, "2x2", "2x2x1"}};
  ambit *a = ambit_open(NULL, NULL);
  const int processes = ambit_processes(a);

  ambit_close(a);
  for (int i = 0; i < NSTORIES; i++)
    for (int k = 0; k < NKINDS; k++) {
      const int n = (i + k) % 3, flat = stories[i].ndims == 2;
      static const char *const devices[] = {"cpu", "cpu*2", "cpu*4"};
      const setting how = {.devices = devices[cuts[n].parts / processes / 2],
                           .partition = flat ? cuts[n].flat : cuts[n].deep,
                           .depth = k % 2 ? "3" : "2",
                           .kind = kinds[k],
                           .extents = {43, flat ? 75 : 31, 34},
                           .iterations = 9};

      if (processes > 1 && (i + k / 2) % 2) continue; /* in half of the time */
      if (!test_takes(i * NKINDS + k, PARTS_ONE_OF)) continue;
      owners = 1 + (i + k) % 2;
      size.block = (int64_t[]){3, 8, 64}[(i + 2 * k) % 3];
      size.tile = n == 1 && flat ? 32 : 0;
      size.strip = k % 2 ? 16 : 0;
      /* kernels with index() are not for axes that are periodic and cut */
      compare(&stories[i], how, how.kind != AMBIT_PERIODIC);
    }
}

/* ---- reductions ---- */

typedef struct tally {
  int calls;
  double seen[8];
  ambit_scalar *change;
} tally;

static int look(ambit_program *p, int64_t iteration, void *user)
{
  tally *t = user;

  (void)p;
  (void)iteration;
  t->seen[t->calls++ % 8] = ambit_scalar_get(t->change);
  return 0;
}

/* Results of reductions at the ends of runs, in callbacks, and in checks. */
static tally count_changes(const char *devices, int64_t *iterations, bool *waves)
{
  scene s = {.a = ambit_open(NULL, NULL), .ndims = 2};
  tally t = {0};

  ambit_option_set(s.a, "devices", devices);
  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "depth", "3");
  s.g = ambit_grid_create(s.a, 2, (int64_t[]){40, 50});
  t.change = ambit_scalar_create(s.a, "change", AMBIT_F64);
  for (int i = 0; i < 2; i++) {
    s.f[i] = ambit_field_create(s.g, i ? "v" : "u", AMBIT_F64);
    ambit_field_boundary(s.f[i], AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
    ambit_field_fill(s.f[i], start, &s.ndims);
  }
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p,
              kernel(&s, "void heat(const double *u, double *v, sum double *change)"
                         "{ *v = *u + 0.2 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);"
                         "  *change = fabs(*v - *u); }"),
              s.f[0], s.f[1], t.change);
  ambit_swap(s.p, s.f[0], s.f[1]);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 12));
  *waves = s.p->cycle && s.p->cycle->wavefront;
  t.seen[t.calls++] = ambit_scalar_get(t.change);
  ambit_on_iteration(s.p, 7, look, &t);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 21));
  ambit_on_iteration(s.p, 0, NULL, NULL);
  ambit_program_check_every(s.p, 10);
  CHECK_EQ(AMBIT_OK, ambit_run_until(s.p, t.change, AMBIT_BELOW, t.seen[0] / 8, 2000));
  t.seen[t.calls++] = ambit_scalar_get(t.change);
  *iterations = ambit_program_iterations(s.p);
  ambit_close(s.a);
  return t;
}

static void reductions_that_can_be_seen_are_right(void)
{
  int64_t wanted, done;
  bool waves;
  const tally want = count_changes("ref", &wanted, &waves);
  tally got;

  owners = 0;
  size = (ambit__wave_sizes){0};
  for (int k = 0; k < 2; k++) {
    got = count_changes(k ? "cpu*3" : "cpu", &done, &waves);
    CHECK(waves);
    CHECK_EQ(wanted, done);
    CHECK_EQ(want.calls, got.calls);
    for (int i = 0; i < want.calls; i++)
      CHECK_MSG(want.seen[i] == got.seen[i], "%d: %.17g, %.17g", i, want.seen[i], got.seen[i]);
  }
}

/* A minimum over the cells of a grid with one row, whose faces are fixed: there are none. */
static void a_reduction_over_no_cells_is_its_identity(void)
{
  scene s = {.a = ambit_open(NULL, NULL), .ndims = 2};
  ambit_scalar *least;

  ambit_option_set(s.a, "devices", "cpu");
  ambit_option_set(s.a, "depth", "3");
  s.g = ambit_grid_create(s.a, 2, (int64_t[]){1, 50});
  least = ambit_scalar_create(s.a, "least", AMBIT_I64);
  ambit_scalar_set(least, 9);
  for (int i = 0; i < 2; i++) {
    s.f[i] = ambit_field_create(s.g, i ? "v" : "u", AMBIT_F64);
    ambit_field_boundary(s.f[i], AMBIT_ALL_FACES, i ? AMBIT_CLAMP : AMBIT_FIXED, 0);
  }
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p, kernel(&s, "void move(const double *v, double *u) { *u = v[0][1] + 1; }"),
              s.f[1], s.f[0]);
  ambit_apply(s.p,
              kernel(&s, "void low(const double *u, double *v, min long *least)"
                         "{ *v = u[1][0] + u[-1][0]; *least = index(1); }"),
              s.f[0], s.f[1], least);
  ambit_run(s.p, 6);
  CHECK_OK(s.a);
  CHECK(s.p->cycle && s.p->cycle->wavefront);
  CHECK(ambit_scalar_get(least) == 0x1p63);
  ambit_close(s.a);
}

/* ---- scalars ---- */

/* Two runs, with another value of a scalar in the second. */
static double *run_twice(const char *devices, bool *waves)
{
  scene s = {.a = ambit_open(NULL, NULL), .ndims = 2};
  double *values = calloc(40 * 50, sizeof *values);
  ambit_scalar *k;

  ambit_option_set(s.a, "devices", devices);
  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "depth", "3");
  s.g = ambit_grid_create(s.a, 2, (int64_t[]){40, 50});
  k = ambit_scalar_create(s.a, "k", AMBIT_F64);
  for (int i = 0; i < 2; i++) {
    s.f[i] = ambit_field_create(s.g, i ? "v" : "u", AMBIT_F64);
    ambit_field_boundary(s.f[i], AMBIT_ALL_FACES, AMBIT_SYMMETRIC, 0);
    ambit_field_fill(s.f[i], start, &s.ndims);
  }
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p,
              kernel(&s, "void heat(const double *u, double *v, double k)"
                         "{ *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }"),
              s.f[0], s.f[1], k);
  ambit_swap(s.p, s.f[0], s.f[1]);
  for (int i = 0; i < 2; i++) {
    ambit_scalar_set(k, i ? 0.125 : 0.2);
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 7 + i));
  }
  *waves = s.p->cycle && s.p->cycle->wavefront;
  ambit_field_read(s.f[0], NULL, NULL, values);
  ambit_close(s.a);
  return values;
}

static void scalars_may_change_between_runs(void)
{
  bool waves;
  double *want = run_twice("ref", &waves);

  owners = 0;
  size = (ambit__wave_sizes){0};
  for (int k = 0; k < 2; k++) {
    double *got = run_twice(k ? "cpu*2" : "cpu", &waves);

    CHECK(waves);
    CHECK(!memcmp(want, got, 40 * 50 * sizeof *want));
    free(got);
  }
  free(want);
}

/* ---- rests ---- */

/* Heat, so many steps in an iteration, in runs of some iterations each. */
static ambit *run_heat(const char *devices, const char *depth, int steps, int runs, int iterations,
                       double *values, ambit_program **p)
{
  scene s = {.a = ambit_open(NULL, NULL), .ndims = 2};

  ambit_option_set(s.a, "devices", devices);
  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "depth", depth);
  s.g = ambit_grid_create(s.a, 2, (int64_t[]){40, 50});
  for (int i = 0; i < 2; i++) {
    s.f[i] = ambit_field_create(s.g, i ? "v" : "u", AMBIT_F64);
    ambit_field_boundary(s.f[i], AMBIT_ALL_FACES, AMBIT_REFLECT, 0);
    ambit_field_fill(s.f[i], start, &s.ndims);
  }
  *p = s.p = ambit_program_create(s.g);
  for (int i = 0; i < steps; i++)
    heat(&s);
  for (int i = 0; i < runs; i++)
    CHECK_EQ(AMBIT_OK, ambit_run(s.p, iterations));
  CHECK_EQ(runs * iterations, ambit_program_iterations(s.p));
  ambit_field_read(s.f[0], NULL, NULL, values);
  return s.a;
}

static void iterations_left_over_are_a_shorter_cycle(void)
{
  static double want[40 * 50], got[40 * 50];
  const ambit__cycle *c;
  ambit_program *p;
  ambit *a;

  owners = 0;
  size = (ambit__wave_sizes){0};
  ambit_close(run_heat("ref", "5", 1, 1, 18, want, &p));
  a = run_heat("cpu", "5", 1, 1, 18, got, &p);
  c = p->cycle ? p->cycle->shorter : NULL;
  CHECK(!memcmp(want, got, sizeof want));
  CHECK(c && c->schedule.iterations == 3 && c->schedule.n && !c->shorter);
  CHECK_EQ(AMBIT_OK, ambit_run(p, 3)); /* the same again */
  CHECK_EQ(AMBIT_OK, ambit_run(p, 1));
  CHECK(p->cycle && p->cycle->shorter == c);
  CHECK_EQ(AMBIT_OK, ambit_run(p, 2));
  CHECK(p->cycle && p->cycle->shorter && p->cycle->shorter->schedule.iterations == 2);
  ambit_close(a);
}

/* Two steps, the second of which reads the results of the first at neighbours. */
static void the_steps_of_one_iteration_are_one_pass(void)
{
  static double want[40 * 50], got[40 * 50];
  const ambit__cycle *c;
  ambit_program *p;
  ambit *a;

  owners = 0;
  size = (ambit__wave_sizes){0};
  ambit_close(run_heat("ref", "3", 2, 5, 1, want, &p));
  a = run_heat("cpu", "3", 2, 5, 1, got, &p);
  c = p->cycle ? p->cycle->shorter : NULL;
  CHECK(!memcmp(want, got, sizeof want));
  CHECK(c && c->schedule.iterations == 1 && c->schedule.n && c->wavefront);
  ambit_close(a);
}

/* ---- refusals ---- */

static void expect_refusal(const char *text, const char *words)
{
  scene s = {.a = ambit_open(NULL, NULL), .ndims = 2};
  ambit_scalar *x;

  ambit_option_set(s.a, "depth", "2");
  s.g = ambit_grid_create(s.a, 2, (int64_t[]){12, 12});
  x = ambit_scalar_create(s.a, "x", AMBIT_F64);
  s.f[0] = ambit_field_create(s.g, "u", AMBIT_F64);
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p, kernel(&s, "void k(double *u, double x, max double *y) { *y = *u; *u += x; }"),
              s.f[0], 1.0, x);
  if (text) ambit_apply(s.p, kernel(&s, text), s.f[0], x);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 4));
  CHECK_MSG(!s.p->cycle == (words != NULL), "%s", words ? words : "refused");
  if (words) CHECK_MSG(strstr(ambit__cycle_refusal(s.p), words), "%s", ambit__cycle_refusal(s.p));
  ambit_close(s.a);
}

static void programs_that_cannot_be_one_pass_are_told_why(void)
{
  expect_refusal(NULL, NULL);
  expect_refusal("void k(double *u, double x) { *u -= x; }", "reads a scalar");
  expect_refusal("void k(double *u, double x) { if (!outside(0, 1)) u[0][1] = u[0][1] + x; }",
                 "writes neighbours");
}

/* What one thread would take for a launch on 64x64 cells, as the device estimates it. */
static double estimate(ambit_type type, const char *name)
{
  ambit *a = open_on("cpu");
  ambit_field *u, *v;
  ambit_program *p;
  ambit_grid *g;

  ambit_option_set(a, "depth", "1");
  ambit_option_set(a, "machine", "xeon16"); /* whatever was noted of this one */
  g = grid_2d(a, 64, 64);
  u = ambit_field_create(g, "u", type);
  v = ambit_field_create(g, "v", type);
  p = ambit_program_create(g);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_apply(p, ambit_kernel_create_named(a, name, type), u, v);
  ambit_run(p, 1);
  CHECK_OK(a);
  ambit_close(a);
  return asked;
}

static void launches_with_more_work_are_worth_more_threads(void)
{
  const double star = estimate(AMBIT_F32, "star2d1"), twice = estimate(AMBIT_F64, "star2d1");

  owners = 0;
  CHECK_MSG(twice > 1.9 * star && twice < 2.1 * star, "%g ns in float, %g in double", star, twice);
  CHECK_MSG(estimate(AMBIT_F64, "box2d2") > 1.5 * twice, "25 points take no longer than 5");
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"results_do_not_depend_on_the_wave", results_do_not_depend_on_the_wave},
      {"small_grids_are_right_too", small_grids_are_right_too},
      {"results_do_not_depend_on_parts", results_do_not_depend_on_parts},
      {"reductions_that_can_be_seen_are_right", reductions_that_can_be_seen_are_right},
      {"a_reduction_over_no_cells_is_its_identity", a_reduction_over_no_cells_is_its_identity},
      {"scalars_may_change_between_runs", scalars_may_change_between_runs},
      {"iterations_left_over_are_a_shorter_cycle", iterations_left_over_are_a_shorter_cycle},
      {"the_steps_of_one_iteration_are_one_pass", the_steps_of_one_iteration_are_one_pass},
      {"programs_that_cannot_be_one_pass_are_told_why",
       programs_that_cannot_be_one_pass_are_told_why},
      {"launches_with_more_work_are_worth_more_threads",
       launches_with_more_work_are_worth_more_threads},
      {0}};

  return test_main(argc, argv, tests);
}
