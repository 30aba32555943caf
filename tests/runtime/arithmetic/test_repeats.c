/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that neighbouring cells have in common, and that are stored in tiles: strict bits on
 * grids of one to four axes, with boundaries, reductions, tests of place and several iterations. */
#include "runtime/places.h"
#include "runtime/program/program.h"

#include <stdio.h>

enum { MOST_CELLS = 20 * 700, MOST_VALUES = 2 * MOST_CELLS };

/* A flux through faces, with a division and a root, and limited slopes: along one to three axes. */
#define FLUX                                                                                       \
  "static $ limit($ a, $ b) { return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b; }\n"              \
  "static $ speed($ a) { return sqrt(fabs(a) + 2) / (a * a + 1); }\n"                              \
  "static $ flux($ a, $ b, $ c, $ d)\n"                                                            \
  "{ $ l = b + 0.5f * limit(b - a, c - b); $ r = c - 0.5f * limit(c - b, d - c);\n"                \
  "  return 0.5f * (l * speed(l) + r * speed(r)) - 0.25f * fmax(speed(l), speed(r)) * (r - l); "   \
  "}\n"
#define ALONG(front, back)                                                                         \
  "flux(u" front "[-1]" back ", u" front "[0]" back ", u" front "[1]" back ", u" front "[2]" back  \
  ") - flux(u" front "[-2]" back ", u" front "[-1]" back ", u" front "[0]" back ", u" front        \
  "[1]" back ")"

static const struct program {
  const char *name, *type, *text;
  int ndims;
  int64_t extent[4];
  bool has_tiles; /* cores have a plan with tiles */
} programs[] = {
    {"line",
     "float",
     FLUX "void k(const $ *u, $ *v, sum $ *s, $ h) { *v = *u - h * (" ALONG("", "") "); *s = *v; }",
     1,
     {1500},
     true},
    {"plane",
     "float",
     FLUX "void k(const $ *u, $ *v, sum $ *s, $ h)\n"
          "{ *v = *u - h * (" ALONG("", "[0]") " + " ALONG("[0]", "") "); *s = *v * *v; }",
     2,
     {13, 613},
     true},
    {"plane",
     "double",
     FLUX "void k(const $ *u, $ *v, max $ *s, $ h)\n"
          "{ *v = *u - h * (" ALONG("", "[0]") " + " ALONG("[0]", "") "); *s = fabs(*v - *u); }",
     2,
     {50, 70},
     true},
    {"space",
     "float",
     FLUX "void k(const $ *u, $ *v, sum $ *s, $ h)\n"
          "{ *v = *u - h * (" ALONG("", "[0][0]") " + " ALONG("[0]", "[0]") " + " ALONG(
              "[0][0]", "") "); *s = *v; }",
     3,
     {7, 13, 45},
     true},
    {"four axes",
     "float",
     FLUX "void k(const $ *u, $ *v, sum $ *s, $ h)\n"
          "{ *v = *u - h * (" ALONG("[0][0]", "[0]") " + " ALONG("[0][0][0]", "") "); *s = *v; }",
     4,
     {3, 5, 12, 33},
     true},
    /* fluxes from what each cell has: a pressure and a speed of sound */
    {"gas",
     "float",
     "static $ p($ r, $ m) { return 0.4f * (3 - 0.5f * m * m / r); }\n"
     "static $ c($ r, $ m) { return sqrt(1.4f * fabs(p(r, m)) / r); }\n"
     "static $ f($ a, $ b) { $ r = 2 + fabs(a); $ q = 2 + fabs(b);\n"
     "  return 0.5f * (p(r, a) + p(q, b)) - 0.1f * fmax(c(r, a), c(q, b)) * (b - a); }\n"
     "void k(const $ *u, $ *v, sum $ *s, $ h)\n"
     "{ *v = *u - h * (f(*u, u[0][0][1]) - f(u[0][0][-1], *u) + f(*u, u[0][1][0]) -\n"
     "    f(u[0][-1][0], *u));\n"
     "  *s = *v; }",
     3,
     {3, 20, 90},
     true},
    /* tests of place, values of the row, conditions and a local that is set twice */
    {"walls",
     "float",
     FLUX "void k(const $ *u, $ *v, sum $ *s, $ h)\n"
          "{ $ f = " ALONG(
              "[0]", "") "; if (index(1) < 2 || index(1) >= extent(1) - 3) f = 0;\n"
                         "  if (outside(0, 2)) f = 0.5f * *u;\n"
                         "  f *= 1 + ($)(index(0) % 3); *v = *u - h * f; *s = *v > 0 ? 1 : 0; }",
     2,
     {20, 130},
     true},
    /* the place along the row is in the value: cells have nothing in common */
    {"place",
     "float",
     "static $ f($ a, $ b, $ x) { return sqrt(fabs(a * b) + x) / (a * a + x); }\n"
     "void k(const $ *u, $ *v, sum $ *s, $ h)\n"
     "{ const $ x = 1 + ($)index(1);\n"
     "  *v = *u - h * (f(*u, u[0][1], x) - f(u[0][-1], *u, x) + f(*u, u[1][0], x)); *s = *v; }",
     2,
     {20, 130},
     false},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static double start(const int64_t *i, int component, void *user)
{
  const struct program *of = user;
  int64_t sum = 0;

  (void)component;
  for (int d = 0; d < of->ndims; d++)
    sum = sum * 131 + i[d] * 17;
  return (double)(sum % 251) / 64 - 2;
}

typedef struct result {
  double values[MOST_VALUES], sum;
  bool has_tiles;
} result;

/* The kernel, with the type for every $. */
static ambit_kernel *create(ambit *a, const struct program *of)
{
  char text[4000] = "", *to = text;

  for (const char *c = of->text; *c && to < text + sizeof text - 8; c++)
    to += *c == '$' ? sprintf(to, "%s", of->type) : sprintf(to, "%c", *c);
  return ambit_kernel_create(a, text);
}

static ambit *open_place(const char *devices, int ndims, const char *depth)
{
  ambit *a = open_strict(devices);

  if (ndims != 2) ambit_option_set(a, "partition", "auto");
  ambit_option_set(a, "depth", depth);
  return a;
}

static void play(const char *devices, const struct program *of, ambit_boundary kind, int iterations,
                 const char *depth, result *r)
{
  const ambit_type type = strcmp(of->type, "double") ? AMBIT_F32 : AMBIT_F64;
  ambit *a = open_place(devices, of->ndims, depth);
  ambit_grid *g = ambit_grid_create(a, of->ndims, of->extent);
  ambit_field *u = ambit_field_create(g, "u", type), *v = ambit_field_create(g, "v", type);
  ambit_scalar *s = ambit_scalar_create(a, "s", type);
  ambit_program *p = ambit_program_create(g);
  int64_t n = 1;

  for (int d = 0; d < of->ndims; d++)
    n *= of->extent[d];
  ambit_field_fill(u, start, (void *)of);
  ambit_field_boundary(u, AMBIT_ALL_FACES, kind, 0.75);
  ambit_field_boundary(v, AMBIT_ALL_FACES, kind, 0.75);
  ambit_apply(p, create(a, of), u, v, s, 0.05);
  ambit_swap(p, u, v);
  ambit_run(p, iterations);
  r->has_tiles = !strcmp(devices, "cpu") && !ambit_error(a) &&
                 strstr(p->applies[0].functions[0]->plan, " repeats ");
  for (int64_t i = 0; i < n; i++)
    r->values[i] = 0;
  if (type == AMBIT_F64) {
    ambit_field_read(u, NULL, NULL, r->values);
  } else {
    static float values[MOST_VALUES];

    ambit_field_read(u, NULL, NULL, values);
    for (int64_t i = 0; i < n; i++)
      r->values[i] = values[i];
  }
  r->sum = ambit_scalar_get(s);
  CHECK_OK(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void compare(const struct program *of, const char *devices, const result *want,
                    const result *got)
{
  CHECK_MSG(!memcmp(want->values, got->values, sizeof want->values) && want->sum == got->sum,
            "%s in %s on %s", of->name, of->type, devices);
}

static void tiles_have_the_bits_of_whole_rules(void)
{
  static const ambit_boundary kinds[] = {AMBIT_PERIODIC, AMBIT_CONSTANT, AMBIT_CLAMP,
                                         AMBIT_REFLECT};
  static result want, got;

  for (int i = 0; i < PROGRAMS; i++)
    for (int k = 0; k < 4; k++) {
      if (k > 1 && i % 3) continue;
      play("ref", &programs[i], kinds[k], 3, "1", &want);
      EACH_PLACE(d)
      {
        if (!strcmp(*d, "ref") || (k && compiles_slowly(*d))) continue;
        play(*d, &programs[i], kinds[k], 3, "1", &got);
        compare(&programs[i], *d, &want, &got);
        if (!strcmp(*d, "cpu"))
          CHECK_MSG(got.has_tiles == programs[i].has_tiles, "%s in %s", programs[i].name,
                    programs[i].type);
      }
    }
}

static void several_iterations_in_a_pass_have_the_same_bits(void)
{
  static result want, got;

  for (int i = 0; i < PROGRAMS; i++) {
    if (programs[i].ndims > 3) continue;
    play("ref", &programs[i], AMBIT_PERIODIC, 6, "1", &want);
    play("cpu", &programs[i], AMBIT_PERIODIC, 6, "3", &got);
    compare(&programs[i], "cpu, depth 3", &want, &got);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"tiles_have_the_bits_of_whole_rules", tiles_have_the_bits_of_whole_rules},
      {"several_iterations_in_a_pass_have_the_same_bits",
       several_iterations_in_a_pass_have_the_same_bits},
      {NULL, NULL}};

  return test_main(argc, argv, tests);
}
