/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.h - shared by the peer programs: stencils, weights, grids, timing, JSON output.
 *
 * A stencil is named as in Ambit's catalogue: star or box, "2d" or "3d", its radius. Its points are
 * numbered in row-major order of their offsets; point i of n has the weight PEER_WEIGHT(i, n), so
 * all weights differ and sum to 1. Arrays have a ring of `radius` cells that never change. Rows are
 * padded to whole cache lines, but not to whole pages: with a pitch of 4096 bytes neighbouring rows
 * conflict in the caches. Valid C11 and C++17.
 */
#ifndef AMBIT_BENCH_PEER_H
#define AMBIT_BENCH_PEER_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PEER_MAX_POINTS   125
#define PEER_WEIGHT(i, n) ((1.0 + 0.01 * (i)) / ((n) + 0.005 * (n) * ((n)-1)))

typedef struct peer_stencil {
  char name[16];
  int ndims, radius, points;
  int offset[PEER_MAX_POINTS][3]; /* slowest axis first; offset[.][0] is 0 in 2-D */
} peer_stencil;

/* One array: cell (i, j, k) is data[origin + i * plane + j * pitch + k]; indices from -radius. */
typedef struct peer_grid {
  int64_t extent[3]; /* extent[0] is 1 in 2-D */
  int64_t pitch, plane, origin;
  size_t bytes;
} peer_grid;

/* The command line: stencil type size iterations repetitions [--check]. */
typedef struct peer_args {
  peer_stencil stencil;
  int is_double, check;
  int64_t extent[3];
  int iterations, repetitions;
} peer_args;

static inline double peer_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int peer_stencil_parse(const char *name, peer_stencil *s)
{
  char kind[8], rest;
  memset(s, 0, sizeof *s);
  if (strlen(name) >= sizeof s->name ||
      sscanf(name, "%4[a-z]%1dd%1d%c", kind, &s->ndims, &s->radius, &rest) != 3)
    return 0;
  const int star = strcmp(kind, "star") == 0;
  if ((!star && strcmp(kind, "box") != 0) || s->ndims < 2 || s->ndims > 3 || s->radius < 1 ||
      s->radius > 2)
    return 0;
  strcpy(s->name, name);
  const int r = s->radius, r0 = s->ndims == 3 ? r : 0;
  for (int a = -r0; a <= r0; a++)
    for (int b = -r; b <= r; b++)
      for (int c = -r; c <= r; c++) {
        if (star && (a != 0) + (b != 0) + (c != 0) > 1) continue;
        int *o = s->offset[s->points++];
        o[0] = a, o[1] = b, o[2] = c;
      }
  return 1;
}

static inline int peer_args_parse(int argc, char **argv, peer_args *p)
{
  long long e[3] = {1, 1, 1};
  memset(p, 0, sizeof *p);
  if (argc > 1 && strcmp(argv[argc - 1], "--check") == 0) p->check = 1, argc--;
  if (argc != 6 || !peer_stencil_parse(argv[1], &p->stencil)) return 0;
  p->is_double = strcmp(argv[2], "double") == 0;
  if (!p->is_double && strcmp(argv[2], "float") != 0) return 0;
  const int first = 3 - p->stencil.ndims;
  char rest;
  const int got = p->stencil.ndims == 2
                      ? sscanf(argv[3], "%lldx%lld%c", &e[1], &e[2], &rest)
                      : sscanf(argv[3], "%lldx%lldx%lld%c", e, e + 1, e + 2, &rest);
  if (got != p->stencil.ndims) return 0;
  for (int d = 0; d < 3; d++) {
    if (d >= first && e[d] < 1) return 0;
    p->extent[d] = e[d];
  }
  p->iterations = atoi(argv[4]);
  p->repetitions = atoi(argv[5]);
  return p->iterations > 0 && p->repetitions > 0 && p->repetitions <= 100;
}

static inline int peer_usage(const char *program)
{
  fprintf(stderr,
          "usage: %s STENCIL float|double SIZE ITERATIONS REPETITIONS [--check]\n"
          "  STENCIL  star2d1 star2d2 box2d1 box2d2 star3d1 star3d2 box3d1 box3d2\n"
          "  SIZE     8192x8192 or 512x512x512\n"
          "  --check  compare with a serial loop over the offsets first\n",
          program);
  return 2;
}

static inline void peer_grid_init(peer_grid *g, const peer_stencil *s, const int64_t *extent,
                                  size_t element)
{
  const int64_t line = 64 / (int64_t)element, r = s->radius, r0 = s->ndims == 3 ? r : 0;
  for (int d = 0; d < 3; d++)
    g->extent[d] = extent[d];
  g->pitch = line + (extent[2] + r + line - 1) / line * line;
  if (g->pitch * (int64_t)element % 4096 == 0) g->pitch += line;
  g->plane = g->pitch * (extent[1] + 2 * r);
  g->origin = r0 * g->plane + r * g->pitch + line;
  g->bytes = (size_t)(g->plane * (extent[0] + 2 * r0) + 2 * line) * element;
}

/* Zeroed memory, on huge pages if available; never freed. */
static inline void *peer_alloc(size_t bytes)
{
  const size_t huge = (size_t)2 << 20;
  char *m =
      (char *)mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m == (char *)MAP_FAILED) {
    fprintf(stderr, "cannot allocate %zu bytes\n", bytes);
    exit(1);
  }
  m += (huge - (uintptr_t)m % huge) % huge;
#ifdef MADV_HUGEPAGE
  madvise(m, bytes, MADV_HUGEPAGE);
#endif
  return m;
}

/* The initial value of a cell: irregular, so that a wrong neighbour is detected. */
static inline double peer_value(int64_t i, int64_t j, int64_t k)
{
  return (double)((i * 7919 + j * 104729 + k * 1299709 + i * j * 31 + j * k * 17) & 1023) / 1024.0;
}

static inline void peer_print(const char *peer, const peer_args *p, const char *note,
                              const double *seconds)
{
  double cells = (double)p->iterations, best = 1e300;
  for (int d = 0; d < 3; d++)
    cells *= (double)p->extent[d];
  for (int i = 0; i < p->repetitions; i++)
    best = seconds[i] < best ? seconds[i] : best;
  printf("{\"peer\":\"%s\",\"stencil\":\"%s\",\"type\":\"%s\",\"size\":[", peer, p->stencil.name,
         p->is_double ? "double" : "float");
  for (int d = 3 - p->stencil.ndims; d < 3; d++)
    printf("%lld%s", (long long)p->extent[d], d < 2 ? "," : "]");
  printf(",\"iterations\":%d,%s\"gcells\":%.4f,\"reps\":[", p->iterations, note,
         cells / best / 1e9);
  for (int i = 0; i < p->repetitions; i++)
    printf("%s%.4f", i ? "," : "", cells / seconds[i] / 1e9);
  printf("]}\n");
}

#endif
