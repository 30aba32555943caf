/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.h - programs on Ambit beside the plain OpenMP loop nests that a person would write.
 *
 * A program has two functions. `open` declares fields and scalars with the calls below, which
 * create each of them twice, and appends the steps to b->program with the calls of ambit.h. `nest`
 * is one iteration in plain C, on b->array[0], b->array[1], ... in the order of declaration, and
 * leaves its reductions in b->result[0], ... Both start with the same values. After every run the
 * driver compares all fields and scalars.
 *
 * An array has its components first, then the extents of the grid plus `ghost` cells at each end of
 * each axis: float (*u)[m + 2] = b->array[0], or float (*f)[n + 2][m + 2].
 *
 * The files of programs are compiled with -O3 -march=native -ffast-math -fopenmp. Inner loops are
 * marked `omp simd`, since gcc 12 leaves many loops over several arrays scalar without it. */
#ifndef AMBIT_BENCH_DRIVER_H
#define AMBIT_BENCH_DRIVER_H

#include "ambit.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_FIELDS = 32, BENCH_SCALARS = 16 };

typedef struct bench {
  const struct bench_program *about;
  ambit *context;
  ambit_grid *grid;
  ambit_program *program, *called; /* called: by a step of it; NULL if none */
  int64_t extent[AMBIT_MAX_DIMS];  /* of the grid */
  int64_t iteration;               /* of the nest, from 0 */
  bool is_alone;                   /* no nest: its arrays have no values */
  bool is_blank;                   /* nor have the fields */
  int nfields, nscalars;

  ambit_field *field[BENCH_FIELDS];
  void *array[BENCH_FIELDS]; /* the same field of the nest, ghost cells first */
  int ghost[BENCH_FIELDS];   /* ghost cells of the array at each end of each axis */

  ambit_scalar *scalar[BENCH_SCALARS];
  double result[BENCH_SCALARS]; /* the same scalar of the nest */
} bench;

typedef struct bench_program {
  const char *name;
  int ndims;
  int64_t extent[AMBIT_MAX_DIMS]; /* larger than the caches */
  int64_t small[AMBIT_MAX_DIMS];  /* for tests */
  int iterations;                 /* of a repetition; in tests at most 9 */
  double bound; /* greatest difference, relative to the greatest value of a field; 0: equal */
  void (*open)(bench *b);
  void (*nest)(bench *b);
} bench_program;

/* The programs of each file; the last one has no name. */
extern const bench_program bench_axes[], bench_diffusion[], bench_driven[], bench_flows[],
    bench_integers[], bench_lattice[], bench_media[], bench_plasma[], bench_reactions[],
    bench_sums[], bench_transport[], bench_waves[];

/* A field of Ambit's and an array of the nest, with the values of `start`; NULL: 0. */
ambit_field *bench_field(bench *b, const char *name, ambit_type type, int ghost,
                         ambit_fill_fn start);
ambit_field *bench_vector(bench *b, const char *name, ambit_type type, int components, int ghost,
                          ambit_fill_fn start);
ambit_scalar *bench_scalar(bench *b, const char *name, ambit_type type, double value);
/* A kernel of the context. */
ambit_kernel *bench_kernel(bench *b, const char *text);

/* For nests: two arrays trade places; the ghost cells of an array are filled with those of the
 * other side, or with the nearest cell. */
void bench_swap(bench *b, int i, int j);
void bench_wrap(bench *b, int i);
void bench_clamp(bench *b, int i);

/* Array i with r ghost cells, of a grid with 2, 3 or 4 axes. */
#define ARRAY2(T, name, i, r) T(*name)[b->extent[1] + 2 * (r)] = b->array[i]
#define ARRAY3(T, name, i, r) T(*name)[b->extent[1] + 2 * (r)][b->extent[2] + 2 * (r)] = b->array[i]
#define ARRAY4(T, name, i, r)                                                                      \
  T(*name)[b->extent[1] + 2 * (r)][b->extent[2] + 2 * (r)][b->extent[3] + 2 * (r)] = b->array[i]
/* The same with several components, of a grid with 2 or 3 axes. */
#define VECTOR2(T, name, i, r)                                                                     \
  T(*name)[b->extent[0] + 2 * (r)][b->extent[1] + 2 * (r)] = b->array[i]
#define VECTOR3(T, name, i, r)                                                                     \
  T(*name)[b->extent[0] + 2 * (r)][b->extent[1] + 2 * (r)][b->extent[2] + 2 * (r)] = b->array[i]

/* Values from 0 to 1: irregular, and of long waves. Functions for bench_field and others; `user` is
 * the bench. */
double bench_noise(const int64_t *index, int component, void *user);
double bench_smooth(const int64_t *index, int component, void *user);

#endif
