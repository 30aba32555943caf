/* SPDX-License-Identifier: BSD-3-Clause */
/* terrain.c - shortest ways over a terrain: what does it cost to reach the target from any cell?
 * `terrain --help` lists the options.
 */
#include "terrain.h"

#include <ambit.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/* The costs of the ways to four of the eight neighbours; the others have the same ones. A metre
 * costs the mean of both cells. Of two rows, the upper one gives the distance of columns. */
static const char ways_rule[] = AMBIT_SOURCE(
    void ways(const float *z, const float *rate, const float *dx, float *way[4], float dy) {
      const float east = z[0][1] - *z;
      const float south = z[1][0] - *z;
      const float southeast = z[1][1] - *z;
      const float southwest = z[1][-1] - *z;

      *way[0] = sqrtf(*dx * *dx + east * east) * (0.5f * (*rate + rate[0][1]));
      *way[1] = sqrtf(dy * dy + south * south) * (0.5f * (*rate + rate[1][0]));
      *way[2] = sqrtf(*dx * *dx + dy * dy + southeast * southeast) * (0.5f * (*rate + rate[1][1]));
      *way[3] = sqrtf(*dx * *dx + dy * dy + southwest * southwest) * (0.5f * (*rate + rate[1][-1]));
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

/* A file without a unit is in degrees if its numbers are small enough. */
static int is_in_degrees(const ambit_file_info *info)
{
  return info->unit == AMBIT_DEGREES ||
         (info->unit == AMBIT_UNKNOWN_UNIT && info->spacing[0] < 0.5 && info->spacing[0] > 0);
}

/* The latitude of the first row. */
static double first_latitude(const request *r, const ambit_file_info *info)
{
  const double half = (double)(info->extents[0] - 1) / 2 * info->spacing[0];

  if (!isnan(r->latitude)) return r->latitude + half;
  if (info->has_origin) return info->origin[0];
  fprintf(stderr, "terrain: %s does not say its latitude: taking the equator (--latitude)\n",
          r->file);
  return half;
}

/* The distances of cells, in metres. */
static int set_spacing(const request *r, const ambit_file_info *info, map *m)
{
  const double degree = 111320;
  const int degrees = is_in_degrees(info);
  const double dy = info->spacing[0] > 0 ? info->spacing[0] : 30;
  const double dx = info->spacing[1] > 0 ? info->spacing[1] : 30;
  const double north = degrees ? first_latitude(r, info) : 0;

  m->dy = (float)(dy * (degrees ? degree : 1));
  m->dx = malloc((size_t)m->height * sizeof *m->dx);
  for (int64_t y = 0; m->dx && y < m->height; y++) {
    const double shrink = degrees ? degree * cos((north - (double)y * dy) * PI / 180) : 1;

    m->dx[y] = (float)(dx * shrink);
    if (!(m->dx[y] > 0)) {
      fprintf(stderr, "terrain: row %lld is at latitude %g\n", (long long)y,
              north - (double)y * dy);
      return -1;
    }
  }
  return m->dx ? 0 : -1;
}

static ambit_field *load_terrain(ambit *a, const request *r, map *m, ambit_grid **g)
{
  const ambit_file_info made = {.ndims = 2, .extents = {r->size, r->width ? r->width : r->size}};
  const ambit_file_info *info = r->file ? ambit_file_inspect(a, r->file) : &made;
  int64_t size = r->size;
  ambit_field *z;

  if (!info) return NULL;
  if (info->ndims != 2) {
    fprintf(stderr, "terrain: %s has %d dimensions, not 2\n", r->file, info->ndims);
    return NULL;
  }
  m->height = info->extents[0];
  m->width = info->extents[1];
  if (set_spacing(r, info, m)) return NULL;
  *g = ambit_grid_create(a, 2, info->extents);
  z = ambit_field_create(*g, "z", AMBIT_F32);
  if (r->file)
    ambit_field_load(z, r->file);
  else
    ambit_field_fill_parallel(z, made_height, &size);
  return z;
}

static double one(const int64_t *index, int component, void *user)
{
  (void)index, (void)component, (void)user;
  return 1;
}

static ambit_field *load_rate(ambit_grid *g, const request *r)
{
  ambit_field *rate = ambit_field_create(g, "rate", AMBIT_F32);

  if (r->cost)
    ambit_field_load(rate, r->cost);
  else
    ambit_field_fill_parallel(rate, one, NULL);
  return rate;
}

float map_step(const map *m, int64_t cell, int k, int64_t *to)
{
  static const int dy[] = {0, 0, 1, -1, 1, -1, 1, -1}, dx[] = {1, -1, 0, 0, 1, -1, -1, 1};
  const int64_t y = cell / m->width + dy[k], x = cell % m->width + dx[k];
  float across, flat, rise, cost;

  if (y < 0 || y >= m->height || x < 0 || x >= m->width) return -1;
  across = m->dx[dy[k] < 0 ? y : cell / m->width]; /* of the upper row */
  *to = y * m->width + x;
  flat = (dx[k] ? across * across : 0) + (dy[k] ? m->dy * m->dy : 0);
  rise = m->z[*to] - m->z[cell];
  cost = sqrtf(flat + rise * rise) * (0.5F * (m->rate[cell] + m->rate[*to]));
  return isfinite(cost) ? cost : -1;
}

/* ---- costs ---- */

static double no_cost(const int64_t *index, int component, void *user)
{
  const map *m = user;

  (void)component;
  return index[0] * m->width + index[1] == m->target ? 0 : (double)INFINITY;
}

static double column_distance(const int64_t *index, int component, void *user)
{
  (void)component;
  return ((const map *)user)->dx[index[0]];
}

/* Runs until nothing changes. */
static ambit_field *find_costs(ambit *a, map *m, ambit_grid *g, ambit_field *z, ambit_field *rate)
{
  ambit_field *dx = ambit_field_create(g, "dx", AMBIT_F32);
  ambit_field *way = ambit_field_create_vector(g, "way", AMBIT_F32, 4, AMBIT_SOA);
  ambit_field *cost = ambit_field_create(g, "cost", AMBIT_F32);
  ambit_field *next = ambit_field_create(g, "next", AMBIT_F32);
  ambit_program *lengths = ambit_program_create(g), *p = ambit_program_create(g);

  ambit_field_boundary(z, AMBIT_ALL_FACES, AMBIT_CONSTANT, (double)INFINITY); /* walls around */
  ambit_field_boundary(rate, AMBIT_ALL_FACES, AMBIT_CONSTANT, 1);
  ambit_field_boundary(way, AMBIT_ALL_FACES, AMBIT_CONSTANT, (double)INFINITY);
  ambit_field_boundary(cost, AMBIT_ALL_FACES, AMBIT_CONSTANT, (double)INFINITY);
  ambit_field_fill(cost, no_cost, m);
  ambit_field_fill_parallel(dx, column_distance, m);
  ambit_apply(lengths, ambit_kernel_create(a, ways_rule), z, rate, dx, way, m->dy);
  ambit_run(lengths, 1);

  ambit_apply(p, ambit_kernel_create(a, relax_rule), way, cost, next);
  ambit_swap(p, cost, next);
  ambit_program_relax(p);
  ambit_program_check_every(
      p, 16); /* without the promise, iterations in between run several at once */
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
  const int64_t start = r->from.row < 0 ? farthest(m) : r->from.row * m->width + r->from.column;
  int failed = 0;

  printf("the way from %lld,%lld to %lld,%lld ", (long long)(start / m->width),
         (long long)(start % m->width), (long long)(m->target / m->width),
         (long long)(m->target % m->width));
  if (isinf(m->cost[start]))
    printf("does not exist: walls are between them\n");
  else if (r->cost)
    printf("costs %g\n", m->cost[start]);
  else
    printf("is %.1f km long\n", m->cost[start] / 1000);
  failed = isinf(m->cost[start]);
  if (r->check) failed |= check(m);
  if (r->picture && draw(m, start, r->picture)) {
    fprintf(stderr, "cannot draw %s\n", r->picture);
    failed = 1;
  }
  return failed;
}

/* A cell of the terrain that is not a wall, or not given. */
static int check_place(const map *m, const char *option, const place *p)
{
  const int64_t cell = p->row * m->width + p->column;

  if (p->row >= m->height || p->column >= m->width)
    fprintf(stderr,
            "terrain: %s is %lld,%lld; the terrain has rows 0 to %lld and columns 0 to %lld\n",
            option, (long long)p->row, (long long)p->column, (long long)m->height - 1,
            (long long)m->width - 1);
  else if (p->row >= 0 && !isfinite(m->z[cell] + m->rate[cell]))
    fprintf(stderr, "terrain: %s is %lld,%lld, a cell without data\n", option, (long long)p->row,
            (long long)p->column);
  else
    return 0;
  return 1;
}

/* The target is in the middle unless it is given. */
static int check_input(const request *r, map *m)
{
  const place middle = {m->height / 2, m->width / 2};
  const place target = r->target.row < 0 ? middle : r->target;

  for (int64_t i = 0; i < m->height * m->width; i++)
    if (!(m->rate[i] > 0)) {
      fprintf(stderr, "terrain: %s has %g in cell %lld,%lld; costs must be positive\n", r->cost,
              m->rate[i], (long long)(i / m->width), (long long)(i % m->width));
      return 1;
    }
  m->target = target.row * m->width + target.column;
  return check_place(m, "--target", &target) || check_place(m, "--from", &r->from);
}

static int find_ways(ambit *a, const request *r, map *m)
{
  ambit_grid *g = NULL;
  ambit_field *z = load_terrain(a, r, m, &g), *rate, *cost;
  const size_t bytes = (size_t)(m->height * m->width) * sizeof(float);

  if (!z || ambit_error(a)) return 1;
  rate = load_rate(g, r);
  m->z = malloc(bytes);
  m->rate = malloc(bytes);
  m->cost = malloc(bytes);
  if (!m->z || !m->rate || !m->cost || ambit_field_read(z, NULL, NULL, m->z) ||
      ambit_field_read(rate, NULL, NULL, m->rate) || check_input(r, m))
    return 1;
  cost = find_costs(a, m, g, z, rate);
  if (ambit_field_read(cost, NULL, NULL, m->cost)) return 1;
  return ambit_process(a) ? 0 : show(r, m);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  map m = {0};
  request r;
  int status = read_request(argc, argv, &r);

  if (status < 0) {
    ambit_option_set(a, "strict", "1"); /* the bits of Dijkstra's algorithm */
    status = find_ways(a, &r, &m);
  }
  free(m.dx);
  free(m.z);
  free(m.rate);
  free(m.cost);
  return ambit_close(a) != AMBIT_OK ? 1 : status;
}
