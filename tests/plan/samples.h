/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.h - programs of several kinds, with random sizes and boundaries, for tests of fused
 * iterations. */
#ifndef AMBIT_TEST_SAMPLES_H
#define AMBIT_TEST_SAMPLES_H

#include "problem.h"
#include "runtime/run/run.h"
#include "support/draw.h"

static ambit *context;

/* ---- programs ---- */

typedef struct sample {
  const char *name;
  const char *kernels[2];
  int ndims; /* 0: 2 */
  int nfields;
  const char *args[2];  /* by kernel: a letter per argument, a field, or k for a number */
  char where[2];        /* by kernel: 'f' on some faces, 'b' on a box, 'i' inside; 0: everywhere */
  const char *turns[2]; /* fields that rotate after the steps */
  ambit_type type;
  int components;
  bool sums;        /* the result may be rounded in another way */
  bool is_coloured; /* boundaries keep the colours of a chequerboard apart */
} sample;

static const sample samples[] = {
    {.name = "star",
     .kernels = {"void star(const float *u, float *v)\n"
                 "{ *v = 0.3f * *u + 0.1f * u[-1][0] + 0.2f * u[1][0] + 0.15f * u[0][-1] + 0.25f * "
                 "u[0][1]; }"},
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "box",
     .kernels =
         {"void box(const double *u, double *v)\n"
          "{ *v = 0.25 * u[-1][-1] + 0.5 * u[1][1] - 0.125 * u[-2][2] + 0.375 * u[0][-1]; }"},
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F64,
     .sums = true},
    {.name = "rule",
     .kernels = {"void rule(const float *u, float *v, float k, max float *m)\n"
                 "{ float a = u[-1][1] * u[0][-1]; if (u[1][0] > k) a = a - *u; else a += 0.5f;\n"
                 "  *v = a + 0.001f * (float)(index(0) + 2 * index(1) + 3 * step()); *m = a; }"},
     .nfields = 2,
     .args = {"abkr"},
     .turns = {"ab"},
     .type = AMBIT_F32},
    {.name = "wave",
     .kernels = {"void wave(const double *u, const double *w, const double *c, double *n)\n"
                 "{ *n = 2 * *u - *w + *c * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }"},
     .nfields = 4,
     .args = {"badc"},
     .turns = {"abc"},
     .type = AMBIT_F64},
    {.name = "grow",
     .kernels = {"void grow(const float *u, const float *v, float *p, float *q)\n"
                 "{ float r = *u * *v * *v; *p = *u + 0.16f * (u[-1][0] + u[1][0] + u[0][-1] + "
                 "u[0][1] - 4 * *u) - r;\n"
                 "  *q = *v + 0.08f * (v[-1][0] + v[1][0] + v[0][-1] + v[0][1] - 4 * *v) + r; }"},
     .nfields = 4,
     .args = {"abcd"},
     .turns = {"ac", "bd"},
     .type = AMBIT_F32},
    {.name = "field",
     .kernels = {"void electric(const float *h, float *x, float *y)\n"
                 "{ *x += 0.5f * (*h - h[-1][0]); *y -= 0.5f * (*h - h[0][-1]); }",
                 "void magnetic(const float *x, const float *y, float *h)\n"
                 "{ *h += 0.7f * (x[1][0] - *x + *y - y[0][1]); }"},
     .nfields = 3,
     .args = {"abc", "bca"},
     .type = AMBIT_F32},
    {.name = "vector",
     .kernels =
         {"void vector(const int *f[3], int *g[3])\n"
          "{ *g[0] = f[0][-1][0] + f[1][0][2]; *g[2] = f[2][0][-1] ^ f[0][1][1]; if (*f[1] > "
          "9) *g[1] = f[1][2][0]; }"},
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_I32,
     .components = 3},
    {.name = "life",
     .kernels = {"void life(const unsigned char *u, unsigned char *v)\n"
                 "{ int n = u[-1][-1] + u[-1][0] + u[-1][1] + u[0][-1] + u[0][1] + u[1][-1] + "
                 "u[1][0] + u[1][1];\n"
                 "  *v = n % 8 == 3 || (n % 8 == 2 && *u % 2); }"},
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_U8},
    {.name = "star3",
     .kernels = {"void star3(const float *u, float *v)\n"
                 "{ *v = 0.3f * *u + 0.1f * u[-1][0][0] + 0.15f * u[1][0][0] + 0.05f * u[0][-1][0] "
                 "+ 0.12f * u[0][1][0] + 0.2f * u[0][0][-1] + 0.08f * u[0][0][1]; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "box3",
     .kernels = {"void box3(const float *u, float *v)\n"
                 "{ *v = 0.3f * u[-1][-1][-1] + 0.1f * u[1][1][1] + 0.15f * u[1][-1][0] + 0.05f * "
                 "u[-1][1][0] + 0.12f * u[0][1][-1] + 0.2f * u[0][-1][1] + 0.08f * *u; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "wide3",
     .kernels = {"void wide3(const double *u, double *v)\n"
                 "{ *v = 0.3 * *u + 0.1 * u[-2][0][0] + 0.15 * u[2][0][0] + 0.05 * u[0][-2][0] + "
                 "0.12 * u[0][1][0] + 0.2 * u[0][0][-2] + 0.08 * u[0][2][0]; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F64,
     .sums = true},
    {.name = "skew3", /* rows of other groups in the lowest plane, and in no other */
     .kernels = {"void skew3(const float *u, float *v)\n"
                 "{ *v = 0.5f * u[-1][1][0] + 0.25f * u[-1][-2][1] + 0.125f * u[1][0][-1]; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "rule3",
     .kernels =
         {"void rule3(const float *u, float *v, float k, max float *m)\n"
          "{ float a = u[-1][1][1] * u[0][-1][0]; if (u[1][0][-1] > k) a = a - *u; else a += "
          "0.5f;\n"
          "  *v = a + 0.001f * (float)(index(0) + 2 * index(1) + 5 * index(2) + 3 * step()); "
          "*m = a; }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"abkr"},
     .turns = {"ab"},
     .type = AMBIT_F32},
    {.name = "wave3",
     .kernels = {"void wave3(const double *u, const double *w, const double *c, double *n)\n"
                 "{ *n = 2 * *u - *w + *c * (u[-1][0][0] + u[1][0][0] + u[0][-1][0] + u[0][1][0] + "
                 "u[0][0][-1] + u[0][0][1] - 6 * *u); }"},
     .ndims = 3,
     .nfields = 4,
     .args = {"badc"},
     .turns = {"abc"},
     .type = AMBIT_F64},
    {.name = "field3",
     .kernels = {"void electric3(const float *h, float *x, float *y)\n"
                 "{ *x += 0.5f * (*h - h[0][-1][0]); *y -= 0.5f * (*h - h[-1][0][-1]); }",
                 "void magnetic3(const float *x, const float *y, float *h)\n"
                 "{ *h += 0.7f * (x[0][1][0] - *x + *y - y[1][1][0]); }"},
     .ndims = 3,
     .nfields = 3,
     .args = {"abc", "bca"},
     .type = AMBIT_F32},
    {.name = "life3",
     .kernels = {"void life3(const unsigned char *u, unsigned char *v)\n"
                 "{ int n = u[-1][-1][0] + u[-1][0][1] + u[0][1][1] + u[0][-1][-1] + u[1][1][1] + "
                 "u[1][0][-1];\n"
                 "  *v = n % 8 == 3 || (n % 8 == 2 && *u % 2); }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab"},
     .turns = {"ab"},
     .type = AMBIT_U8},
    {.name = "walls",
     .kernels = {"void bulk(const float *u, float *v)\n"
                 "{ *v = 0.3f * *u + 0.1f * u[-1][0] + 0.2f * u[1][0] + 0.15f * u[0][-1] + 0.25f * "
                 "u[0][1]; }",
                 "void wall(const float *u, float *v)\n"
                 "{ *v = 0.5f * *v + 0.25f * u[1][0] - 0.125f * u[0][-1]; }"},
     .nfields = 2,
     .args = {"ab", "ab"},
     .where = {0, 'f'},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "source",
     .kernels = {"void wave(const double *u, const double *w, double *n)\n"
                 "{ *n = 2 * *u - *w + 0.1 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }",
                 "void source(double *n, double k)\n"
                 "{ *n += k * (double)(index(0) + 2 * index(1) + step()); }"},
     .nfields = 3,
     .args = {"bac", "ck"},
     .where = {0, 'b'},
     .turns = {"abc"},
     .type = AMBIT_F64},
    {.name = "frame", /* some faces keep what they had two iterations before */
     .kernels = {"void bulk(const float *u, float *v)\n"
                 "{ *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]) + 0.01f; }",
                 "void face(const float *u, float *v)\n"
                 "{ if (*u > 0.4f) *v = *u - 0.01f * u[0][1]; }"},
     .nfields = 2,
     .args = {"ab", "ab"},
     .where = {'i', 'f'},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "pull", /* each step keeps cells at other fixed faces */
     .kernels = {"void first(const float *u, float *v)\n"
                 "{ *v = 0.5f * *v + 0.125f * (u[1][0] + u[0][1] - *u); }",
                 "void second(const float *v, float *u)\n"
                 "{ *u = 0.5f * *u + 0.125f * (v[-1][0] + v[0][-1]); }"},
     .nfields = 2,
     .args = {"ab", "ba"},
     .type = AMBIT_F32},
    {.name = "walls3",
     .kernels = {"void bulk3(const float *u, float *v)\n"
                 "{ *v = 0.3f * *u + 0.1f * u[-1][0][0] + 0.15f * u[1][0][0] + 0.05f * u[0][-1][0] "
                 "+ 0.12f * u[0][1][0] + 0.2f * u[0][0][-1] + 0.08f * u[0][0][1]; }",
                 "void wall3(float *v, float k)\n"
                 "{ *v = *v * 0.5f + k * (float)(index(0) + index(1) + index(2)); }"},
     .ndims = 3,
     .nfields = 2,
     .args = {"ab", "bk"},
     .where = {0, 'f'},
     .turns = {"ab"},
     .type = AMBIT_F32,
     .sums = true},
    {.name = "colours", /* in place: red cells read black ones, and the other way round */
     .kernels = {"void red(float *u, const float *f)\n"
                 "{ if ((index(0) + index(1)) % 2) *u = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] "
                 "+ u[0][3]) - *f; }",
                 "void black(float *u, const float *f)\n"
                 "{ if ((index(0) + index(1) + 1) % 2) *u = 0.25f * (u[-1][0] + u[2][1] + u[0][-1] "
                 "+ u[0][1]) - f[1][0]; }"},
     .nfields = 2,
     .args = {"ab", "ab"},
     .type = AMBIT_F32,
     .is_coloured = true},
};

static inline const sample *sample_named(const char *name)
{
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
    if (!strcmp(samples[i].name, name)) return &samples[i];
  return NULL;
}

typedef struct trial {
  const sample *s;
  int ndims;
  int64_t extents[3];
  ambit_boundary kind[3][2];
  int depth;
  int plan; /* one that runs in any case */
  unsigned faces;
  int64_t lo[3], hi[3]; /* of a box */
  bool strict;
} trial;

/* The values of a field. */
typedef struct filling {
  uint64_t seed;
  int ndims;
  const int64_t *extents;
} filling;

/* Beside faces all fields have the same values: steps do not compute all of these cells. */
static double fill_noise(const int64_t *cell, int component, void *user)
{
  const filling *f = user;
  uint64_t seed = f->seed, at = 0;

  for (int d = 0; d < f->ndims; d++) {
    if (cell[d] < 3 || cell[d] >= f->extents[d] - 3) seed = 0;
    at = at * 4099 + (uint64_t)cell[d];
  }
  return noise(at * 5 + (uint64_t)component + seed) * 30;
}

static double fill_fraction(const int64_t *cell, int component, void *user)
{
  return fill_noise(cell, component, user) / 30;
}

static void append(ambit_program *p, const trial *t, int k, ambit_field **fields,
                   ambit_scalar *scalar)
{
  const int64_t inside[] = {1, 1, 1};
  const int64_t end[] = {t->extents[0] - 1, t->extents[1] - 1, t->extents[2] - 1};
  const sample *s = t->s;
  ambit_kernel *kernel = ambit_kernel_create(context, s->kernels[k]);
  ambit_arg args[8];
  int n = 0;

  for (const char *a = s->args[k]; *a; a++)
    args[n++] = *a == 'k'   ? ambit_arg_number(0.4)
                : *a == 'r' ? ambit_arg_scalar(scalar)
                            : ambit_arg_field(fields[*a - 'a']);
  switch (s->where[k]) {
  case 'f': ambit_apply_faces_args(p, t->faces, kernel, n, args); break;
  case 'b': ambit_apply_box_args(p, t->lo, t->hi, kernel, n, args); break;
  case 'i': ambit_apply_box_args(p, inside, end, kernel, n, args); break;
  default: ambit_apply_args(p, kernel, n, args);
  }
}

static ambit_program *make_program(const trial *t, ambit_field **fields)
{
  const sample *s = t->s;
  ambit_grid *g = ambit_grid_create(context, t->ndims, t->extents);
  ambit_program *p = ambit_program_create(g);
  ambit_scalar *scalar = ambit_scalar_create(context, "m", AMBIT_F32);

  for (int i = 0; i < s->nfields; i++) {
    filling values = {(uint64_t)i << 40, t->ndims, t->extents};
    char name[2] = {(char)('a' + i), 0};

    fields[i] = s->components
                    ? ambit_field_create_vector(g, name, s->type, s->components, AMBIT_SOA)
                    : ambit_field_create(g, name, s->type);
    for (int d = 0; d < t->ndims; d++)
      for (int side = 0; side < 2; side++)
        ambit_field_boundary(fields[i], AMBIT_FACE(d, side), t->kind[d][side], 3 + d + 2 * side);
    ambit_field_fill(fields[i], ambit__type_is_real(s->type) ? fill_fraction : fill_noise, &values);
  }
  for (int k = 0; k < 2 && s->kernels[k]; k++)
    append(p, t, k, fields, scalar);
  for (int k = 0; k < 2 && s->turns[k]; k++) {
    ambit_field *list[4];
    int n = 0;

    for (const char *a = s->turns[k]; *a; a++)
      list[n++] = fields[*a - 'a'];
    ambit_rotate(p, n, list);
  }
  return p;
}

/* ---- random trials ---- */

static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_REFLECT, AMBIT_FIXED, AMBIT_SYMMETRIC,
                                       AMBIT_CLAMP};

static void draw_boundaries(trial *t)
{
  for (int d = 0; d < t->ndims; d++) {
    const bool periodic = draw(3) == 0 && !t->s->is_coloured;

    for (int side = 0; side < 2; side++)
      t->kind[d][side] = periodic ? AMBIT_PERIODIC : kinds[draw(t->s->is_coloured ? 3 : 5)];
  }
}

static void draw_places(trial *t)
{
  for (int d = 0; d < t->ndims; d++) {
    for (int side = 0; side < 2; side++)
      if (draw(2)) t->faces |= AMBIT_FACE(d, side);
    t->lo[d] = draw((int)t->extents[d] - 1);
    t->hi[d] = t->lo[d] + 1 + draw((int)(t->extents[d] - t->lo[d]));
  }
  if (!t->faces) t->faces = AMBIT_ALL_FACES;
}

static trial draw_trial(const sample *s)
{
  trial t = {.s = s, .ndims = s->ndims ? s->ndims : 2, .strict = draw(2)};

  if (t.ndims == 2) {
    t.extents[0] = 20 + draw(60);
    t.extents[1] = 30 + draw(500);
  } else {
    t.extents[0] = 5 + draw(40);
    t.extents[1] = 10 + draw(70);
    t.extents[2] = 10 + draw(90);
  }
  t.depth = 2 + (int)draw(t.ndims == 2 ? 4 : 3);
  t.plan = (int)draw(1000);
  draw_boundaries(&t);
  if (s->where[1]) draw_places(&t);
  return t;
}

#endif
