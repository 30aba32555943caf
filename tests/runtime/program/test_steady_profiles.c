/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields on some axes that no step changes: random programs that read them, in waves, in launches
 * of several iterations and on parts, give the bits of ref. */
#include "runtime/program/cycle.h"
#include "runtime/runtime_test.h"

#include <stdio.h>

enum { STEPS = 13, MOST_CELLS = 12 * 36 * 140, MOST_PROFILES = 3 };

/* ---- random programs ---- */

typedef struct story {
  unsigned seed;
  int ndims;
  int64_t extents[3];
  ambit_type type, other; /* of fields, and of profiles */
  ambit_boundary boundary;
  bool stages; /* two of them, in place; else one, and a swap */
  int depth, nprofiles;
  unsigned axes[MOST_PROFILES]; /* of each, its bit */
  int components[MOST_PROFILES];
  int near[MOST_PROFILES]; /* the axis along which the profile is read at neighbours; -1: none */
} story;

static unsigned draw(unsigned *state, unsigned n)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % n;
}

static story draw_story(unsigned seed)
{
  static const ambit_boundary boundaries[] = {AMBIT_CONSTANT, AMBIT_PERIODIC, AMBIT_FIXED,
                                              AMBIT_CLAMP,    AMBIT_REFLECT,  AMBIT_SYMMETRIC};
  story s = {.seed = seed};
  unsigned state = seed * 2654435761u + 1;

  for (int i = 0; i < 4; i++)
    draw(&state, 2);
  s.ndims = 2 + (int)draw(&state, 2);
  for (int d = 0; d < s.ndims; d++)
    s.extents[d] = s.ndims == 2 ? 24 + draw(&state, d ? 180 : 20) : 12 + draw(&state, 6);
  if (s.ndims == 3) s.extents[2] += 16 + draw(&state, 26);
  if (s.ndims == 3) s.extents[1] += draw(&state, 2) ? 36 : 8;
  s.type = draw(&state, 4) ? AMBIT_F32 : AMBIT_F64;
  s.other = draw(&state, 4) ? s.type : AMBIT_F32;
  s.boundary = boundaries[draw(&state, 6)];
  s.stages = draw(&state, 2);
  s.depth = 1 + (int)draw(&state, 4);
  s.nprofiles = 1 + (int)draw(&state, MOST_PROFILES);
  for (int i = 0; i < s.nprofiles; i++) {
    s.axes[i] = draw(&state, (1u << s.ndims) - 1);
    s.components[i] = draw(&state, 4) ? 1 : 2;
    s.near[i] = (int)draw(&state, (unsigned)s.ndims + 1) - 1;
    if (s.near[i] >= 0 && !(s.axes[i] >> s.near[i] & 1)) s.near[i] = -1;
  }
  return s;
}

static double start(const int64_t *i, int component, void *user)
{
  (void)user;
  return (double)((i[0] * 131 + i[1] * 17 + i[2] * 5 + component * 77) % 251) / 256;
}

/* "u[0][1]" */
static int print_read(char *to, const char *field, int ndims, int axis, int offset)
{
  int n = sprintf(to, "%s", field);

  for (int d = 0; d < ndims; d++)
    n += sprintf(to + n, "[%d]", d == axis ? offset : 0);
  return n;
}

/* A sum of neighbours of u, with the factors of the profiles. */
static void print_rule(char *to, const story *s, const char *name, const char *from,
                       const char *into, int side)
{
  const char *type = ambit_type_name(s->type), *other = ambit_type_name(s->other);

  to += sprintf(to, "void %s(const %s *%s, %s *%s", name, type, from, type, into);
  for (int i = 0; i < s->nprofiles; i++)
    to += sprintf(to, s->components[i] > 1 ? ", const %s *p%d[2]" : ", const %s *p%d", other, i);
  to += sprintf(to, ")\n{ %s k = 1;\n", type);
  for (int i = 0; i < s->nprofiles; i++) {
    const char *more = s->components[i] > 1 ? "[1]" : "";
    char field[16];

    to += sprintf(to, "k += (%s)0.25 * *p%d%s;\n", type, i, s->components[i] > 1 ? "[0]" : "");
    sprintf(field, "p%d%s", i, more);
    if (s->near[i] < 0) continue;
    to += sprintf(to, "k += (%s)0.125 * ", type);
    to += print_read(to, field, s->ndims, s->near[i], side);
    to += sprintf(to, ";\n");
  }
  to += sprintf(to, "*%s = (%s)0.5 * *%s + (%s)0.0625 * k * (0", into, type,
                s->stages ? into : from, type);
  for (int d = 0; d < s->ndims; d++)
    for (int at = s->stages ? side : -1; at <= (s->stages ? side : 1); at += 2) {
      to += sprintf(to, " + ");
      to += print_read(to, from, s->ndims, d, at);
    }
  sprintf(to, "); }\n");
}

typedef struct result {
  double cells[2][MOST_CELLS]; /* floats, if the fields have them */
  const char *refusal;         /* why iterations are not computed together; NULL: they are */
} result;

static ambit_field *add_profile(ambit_grid *g, const story *s, int i)
{
  unsigned axes = 0;
  ambit_field *f;

  for (int d = 0; d < s->ndims; d++)
    if (s->axes[i] >> d & 1) axes |= AMBIT_AXIS(d);
  f = ambit_field_create_vector_on(g, (const char *[]){"p0", "p1", "p2"}[i], s->other,
                                   s->components[i], AMBIT_SOA, axes);
  ambit_field_boundary(f, AMBIT_ALL_FACES, s->boundary == AMBIT_FIXED ? AMBIT_CLAMP : s->boundary,
                       0.25);
  ambit_field_fill(f, start, NULL);
  return f;
}

static void run(const char *device, const story *s, const char *plan, result *r)
{
  ambit *a = open_on(device);
  char text[4096] = "", depth[8];
  ambit_field *f[2], *p[MOST_PROFILES];
  ambit_arg args[2 + MOST_PROFILES];
  ambit_program *program;
  ambit_kernel *k;
  ambit_grid *g;

  snprintf(depth, sizeof depth, "%d", s->depth);
  ambit_option_set(a, "strict", "1");
  if (strcmp(device, "ref")) ambit_option_set(a, "depth", depth);
  if (plan) ambit_option_set(a, "plan", plan);
  g = ambit_grid_create(a, s->ndims, s->extents);
  program = ambit_program_create(g);
  for (int i = 0; i < 2; i++) {
    f[i] = ambit_field_create(g, (const char *[]){"a", "b"}[i], s->type);
    ambit_field_boundary(f[i], AMBIT_ALL_FACES, s->boundary, 0.25);
    ambit_field_fill(f[i], start, NULL);
  }
  for (int i = 0; i < s->nprofiles; i++)
    p[i] = add_profile(g, s, i);
  print_rule(text, s, "first", "u", "v", 1);
  if (s->stages) print_rule(text + strlen(text), s, "second", "v", "u", -1);
  k = ambit_kernel_create(a, text);
  for (int stage = 0; stage <= (int)s->stages; stage++) {
    args[0] = ambit_arg_field(f[stage]), args[1] = ambit_arg_field(f[!stage]);
    for (int i = 0; i < s->nprofiles; i++)
      args[2 + i] = ambit_arg_field(p[i]);
    ambit_apply_args(program, stage ? ambit_kernel_find(k, "second") : k, 2 + s->nprofiles, args);
  }
  if (!s->stages) ambit_swap(program, f[0], f[1]);
  ambit_run(program, STEPS - 6);
  r->refusal = ambit__cycle_refusal(program);
  ambit_run(program, 6);
  for (int i = 0; i < 2; i++)
    ambit_field_read(f[i], NULL, NULL, r->cells[i]);
  CHECK_OK(a);
  ambit_close(a);
}

/* ---- tests ---- */

/* A seed whose launches of several iterations OpenCL compiles in 2 s, not 20. */
enum { SHALLOW = 27 };

static void check_drawn(const story *drawn, const char *device, const char *plan)
{
  static result want, got;
  const story s = *drawn;
  const unsigned seed = s.seed;

  memset(&want, 0, sizeof want);
  memset(&got, 0, sizeof got);
  run("ref", &s, NULL, &want);
  run(device, &s, plan, &got);
  CHECK_MSG(!memcmp(got.cells, want.cells, sizeof got.cells),
            "seed %u: cells differ on %s with depth %d", seed, device, s.depth);
  if (getenv("TEST_PROFILES_SHOW"))
    fprintf(stderr, "seed %u on %s, depth %d: %s\n", seed, device, s.depth,
            got.refusal ? got.refusal : "together");
}

static void check_story(unsigned seed, const char *device)
{
  const story s = draw_story(seed);

  check_drawn(&s, device, NULL);
}

static unsigned from(void)
{
  const char *word = getenv("TEST_PROFILES_FROM");

  return word ? (unsigned)atoi(word) : 1;
}

static unsigned count(unsigned usual)
{
  const char *word = getenv("TEST_PROFILES");

  return word ? (unsigned)atoi(word) : usual;
}

static void cores_compute_iterations_with_profiles_together(void)
{
  for (unsigned i = from(); i < from() + count(6); i++)
    check_story(i, i % 3 ? "cpu" : "cpu*3");
}

static void gpus_do_so_too(void)
{
  bool any = false;

  for (const char *const *d = devices_here(); *d; d++) {
    const bool one = compiles_slowly(*d) && !getenv("TEST_PROFILES") && !test_takes(1, 2);
    const unsigned first = one ? SHALLOW : from(), end = first + (one ? 1 : count(12));

    for (unsigned i = first; i < end && strcmp(*d, "ref") && strcmp(*d, "cpu"); i++) {
      char device[32];

      any = true;
      snprintf(device, sizeof device, "%s%s", *d, i % 3 ? "" : "*2");
      check_story(i, device);
    }
  }
  if (!any) SKIP("there is no GPU");
}

/* Single iterations whose warps hold rows of profiles as they do those of fields. */
static void strips_hold_their_rows(void)
{
  const int64_t flat[3] = {30, 160}, deep[3] = {12, 36, 140};
  bool any = false;

  for (const char *const *d = devices_here(); *d; d++)
    for (unsigned i = from(); i < from() + count(8) && !strcmp(*d, "cuda"); i++) {
      story s = draw_story(i);

      any = true;
      s.depth = 1;
      s.stages = false; /* fields that are read at neighbours and written have no strips */
      memcpy(s.extents, s.ndims == 2 ? flat : deep, sizeof flat);
      check_drawn(&s, *d, "(strip");
    }
  if (!any) SKIP("there is no CUDA device");
}

/* Two fields with coefficients on the rows: iterations are computed together on cores. */
static void a_profile_that_is_only_read_does_not_keep_iterations_apart(void)
{
  static result r;
  story s = {.ndims = 2,
             .extents = {60, 200},
             .type = AMBIT_F32,
             .other = AMBIT_F32,
             .boundary = AMBIT_CONSTANT,
             .stages = true,
             .depth = 3,
             .nprofiles = 1,
             .axes = {1},
             .components = {1},
             .near = {-1}};

  run("cpu", &s, NULL, &r);
  CHECK_MSG(!r.refusal, "refused: %s", r.refusal);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {{"cores_compute_iterations_with_profiles_together",
                                     cores_compute_iterations_with_profiles_together},
                                    {"gpus_do_so_too", gpus_do_so_too},
                                    {"strips_hold_their_rows", strips_hold_their_rows},
                                    {"a_profile_that_is_only_read_does_not_keep_iterations_apart",
                                     a_profile_that_is_only_read_does_not_keep_iterations_apart},
                                    {NULL, NULL}};

  return test_main(argc, argv, tests);
}
