/* SPDX-License-Identifier: BSD-3-Clause */
/* terrain.c - shortest ways over a terrain: what does it cost to reach the target from any cell?
 *
 *   terrain [file] [--size N|NxM] [--target ROW,COLUMN] [--picture out.png] [--check]
 *
 * The file is SRTM (.hgt), an ESRI ASCII grid (.asc) or GeoTIFF (.tif); without one, N x N (or
 * N x M) cells are made. --check compares the result with Dijkstra's algorithm.
 */
#include "terrain.h"

#include <ambit.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* The lengths of the ways to four of the eight neighbours; the others have the same ones. */
static const char ways_rule[] =
    AMBIT_SOURCE(void ways(const float *z, float *way[4], float dy, float dx) {
      const float east = z[0][1] - *z;
      const float south = z[1][0] - *z;
      const float southeast = z[1][1] - *z;
      const float southwest = z[1][-1] - *z;

      *way[0] = sqrtf(dx * dx + east * east);
      *way[1] = sqrtf(dy * dy + south * south);
      *way[2] = sqrtf(dx * dx + dy * dy + southeast * southeast);
      *way[3] = sqrtf(dx * dx + dy * dy + southwest * southwest);
    });

/* The cost of a cell is the least of its neighbours' costs and the ways to them. Comparisons with
 * NaN, the difference of two walls, are false. */
static const char relax_rule[] = AMBIT_SOURCE(
    static float less(float a, float b) { return a < b ? a : b; }

    void relax(const float *way[4], const float *cost, float *next) {
      float best = *cost;

      best = less(cost[0][1] + *way[0], best);
      best = less(cost[0][-1] + way[0][0][-1], best);
      best = less(cost[1][0] + *way[1], best);
      best = less(cost[-1][0] + way[1][-1][0], best);
      best = less(cost[1][1] + *way[2], best);
      best = less(cost[-1][-1] + way[2][-1][-1], best);
      best = less(cost[1][-1] + *way[3], best);
      best = less(cost[-1][1] + way[3][-1][1], best);
      *next = best;
    });

/* ---- the terrain ---- */

typedef struct request {
  const char *file, *picture;
  int64_t size, width; /* of a made terrain; width 0: a square */
  int64_t row, column; /* row < 0: the target is in the middle */
  int check;
} request;

/* Hills of several sizes, and a lake that no way crosses. */
static double made_height(const int64_t *index, int component, void *user)
{
  const double n = (double)*(const int64_t *)user;
  const double y = (double)index[0] / n, x = (double)index[1] / n;
  const double lake = (x - 0.68) * (x - 0.68) / 0.02 + (y - 0.62) * (y - 0.62) / 0.006;
  double z = 900 * sin(3.1 * x + 1) * cos(2.7 * y) + 350 * sin(9 * x + 4 * y) * cos(8 * y - 3 * x);

  (void)component;
  z += 140 * sin(23 * x - 9 * y) * sin(21 * y + 5 * x) + 50 * sin(61 * x) * cos(57 * y + 9 * x);
  return lake < 1 ? (double)INFINITY : 1.5 * z;
}

/* The distance of cells, in metres: files in degrees give less than one per cell. */
static void set_spacing(map *m, const ambit_file_info *info)
{
  const double degree = 111320;

  m->dy = info->spacing[0] > 0 ? (float)info->spacing[0] : 30;
  m->dx = info->spacing[1] > 0 ? (float)info->spacing[1] : 30;
  if (m->dy >= 1) return;
  m->dy *= (float)degree;
  m->dx *= (float)(degree * cos(46 * PI / 180)); /* in the Alps */
}

static ambit_field *load_terrain(ambit *a, const request *r, map *m, ambit_grid **g)
{
  ambit_file_info info = {.ndims = 2, .extents = {r->size, r->width ? r->width : r->size}};
  int64_t size = r->size;
  ambit_field *z;

  if (r->file && ambit_file_inspect(a, r->file, &info)) return NULL;
  m->height = info.extents[0];
  m->width = info.extents[1];
  set_spacing(m, &info);
  *g = ambit_grid_create(a, 2, info.extents);
  z = ambit_field_create(*g, "z", AMBIT_F32);
  if (r->file)
    ambit_field_load(z, r->file);
  else
    ambit_field_fill_parallel(z, made_height, &size);
  return z;
}

float map_step(const map *m, int64_t cell, int k, int64_t *to)
{
  static const int dy[] = {0, 0, 1, -1, 1, -1, 1, -1}, dx[] = {1, -1, 0, 0, 1, -1, -1, 1};
  const int64_t y = cell / m->width + dy[k], x = cell % m->width + dx[k];
  float flat, rise;

  if (y < 0 || y >= m->height || x < 0 || x >= m->width) return -1;
  *to = y * m->width + x;
  flat = (dx[k] ? m->dx * m->dx : 0) + (dy[k] ? m->dy * m->dy : 0);
  rise = m->z[*to] - m->z[cell];
  return isfinite(rise) ? sqrtf(flat + rise * rise) : -1;
}

/* ---- costs ---- */

static double no_cost(const int64_t *index, int component, void *user)
{
  const map *m = user;

  (void)component;
  return index[0] * m->width + index[1] == m->target ? 0 : (double)INFINITY;
}

/* Runs until nothing changes. */
static ambit_field *find_costs(ambit *a, map *m, ambit_grid *g, ambit_field *z)
{
  ambit_field *way = ambit_field_create_vector(g, "way", AMBIT_F32, 4, AMBIT_SOA);
  ambit_field *cost = ambit_field_create(g, "cost", AMBIT_F32);
  ambit_field *next = ambit_field_create(g, "next", AMBIT_F32);
  ambit_program *lengths = ambit_program_create(g), *p = ambit_program_create(g);

  ambit_field_boundary(z, AMBIT_ALL_FACES, AMBIT_CONSTANT, (double)INFINITY); /* walls around */
  ambit_field_boundary(way, AMBIT_ALL_FACES, AMBIT_CONSTANT, (double)INFINITY);
  ambit_field_boundary(cost, AMBIT_ALL_FACES, AMBIT_CONSTANT, (double)INFINITY);
  ambit_field_fill(cost, no_cost, m);
  ambit_apply(lengths, ambit_kernel_create(a, ways_rule), z, way, m->dy, m->dx);
  ambit_run(lengths, 1);

  ambit_apply(p, ambit_kernel_create(a, relax_rule), way, cost, next);
  ambit_swap(p, cost, next);
  ambit_program_relaxes(p);
  ambit_check_every(p, 16); /* without the promise, iterations in between run several at once */
  ambit_run_until_still(p, 10 * (m->height + m->width));
  if (!ambit_process(a) && !ambit_error(a))
    printf("%lld x %lld cells: %s after %lld iterations\n", (long long)m->height,
           (long long)m->width, ambit_program_converged(p) ? "at rest" : "not at rest",
           (long long)ambit_program_iterations(p));
  return cost;
}

/* ---- results ---- */

/* Costs are equal to the last bit: the least of the same sums. */
static int check(const map *m)
{
  float *want = dijkstra(m);
  int64_t wrong = 0;

  for (int64_t i = 0; want && i < m->height * m->width; i++)
    wrong += m->cost[i] != want[i];
  printf("compared with Dijkstra's algorithm: %lld of %lld cells differ\n", (long long)wrong,
         (long long)(m->height * m->width));
  free(want);
  return !want || wrong;
}

/* The cell that it costs most to come from. */
static int64_t farthest(const map *m)
{
  int64_t best = m->target;

  for (int64_t i = 0; i < m->height * m->width; i++)
    if (isfinite(m->cost[i]) && m->cost[i] > m->cost[best]) best = i;
  return best;
}

static int show(const request *r, map *m)
{
  const int64_t start = farthest(m);
  int failed = 0;

  printf("the way from %lld,%lld to %lld,%lld is %.1f km long\n", (long long)(start / m->width),
         (long long)(start % m->width), (long long)(m->target / m->width),
         (long long)(m->target % m->width), m->cost[start] / 1000);
  if (r->check) failed |= check(m);
  if (r->picture && draw(m, start, r->picture)) {
    fprintf(stderr, "cannot draw %s\n", r->picture);
    failed = 1;
  }
  return failed;
}

static int find_ways(ambit *a, const request *r)
{
  map m = {0};
  ambit_grid *g = NULL;
  ambit_field *z = load_terrain(a, r, &m, &g), *cost;
  const size_t bytes = (size_t)(m.height * m.width) * sizeof(float);
  int failed = 1;

  if (!z || ambit_error(a)) return 1;
  m.target = r->row < 0 ? m.height / 2 * m.width + m.width / 2 : r->row * m.width + r->column;
  cost = find_costs(a, &m, g, z);
  m.z = malloc(bytes);
  m.cost = malloc(bytes);
  if (m.z && m.cost && !ambit_field_read(z, NULL, NULL, m.z) &&
      !ambit_field_read(cost, NULL, NULL, m.cost))
    failed = ambit_process(a) ? 0 : show(r, &m);
  free(m.z);
  free(m.cost);
  return failed;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  request r = {.size = 400, .row = -1};
  int failed;

  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";

    if (!strcmp(argv[i], "--check"))
      r.check = 1;
    else if (!strcmp(argv[i], "--size"))
      sscanf(value, "%" SCNd64 "x%" SCNd64, &r.size, &r.width), i++;
    else if (!strcmp(argv[i], "--picture"))
      r.picture = value, i++;
    else if (!strcmp(argv[i], "--target"))
      sscanf(value, "%" SCNd64 ",%" SCNd64, &r.row, &r.column), i++;
    else
      r.file = argv[i];
  }
  ambit_option_set(a, "strict", "1"); /* the bits of Dijkstra's algorithm */
  failed = find_ways(a, &r);
  return ambit_close(a) != AMBIT_OK || failed;
}
