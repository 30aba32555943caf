/* SPDX-License-Identifier: BSD-3-Clause */
/* The model that chooses depth and sizes of wavefronts, against measurements on 2 and 16 cores of a
 * Xeon. Nothing runs: the device has its caches, and builds no functions. */
#include "device/dry.h"
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "runtime_test.h"

#include <string.h>

enum { MOST_SPEEDS = 6 };

/* Gcells/s by depth, at most MOST_SPEEDS; depth 1: single iterations. Depths in between were not
 * measured. The constants of the model were fitted to these numbers. */
typedef struct measured {
  const char *kernel;
  int threads;
  struct {
    int depth;
    double speed;
  } by[MOST_SPEEDS];
} measured;

static const measured xeon[] = {
    {"star2d1", 2, {{1, 4.6}, {8, 8.5}, {16, 9.9}, {32, 8.6}}},
    {"box2d1", 2, {{1, 4.9}, {8, 6.7}, {16, 8.0}}},
    {"star3d1", 2, {{1, 4.0}, {4, 4.6}, {8, 5.9}}},
    {"star3d2", 2, {{1, 3.1}, {4, 3.2}, {8, 3.4}}},
    {"star2d1", 16, {{1, 18.9}, {8, 45.3}, {16, 54.0}, {32, 45.2}}},
    {"box2d1", 16, {{1, 19.0}, {8, 38.9}, {16, 39.9}, {32, 39.0}}},
    {"star3d1", 16, {{1, 14.7}, {4, 23.6}, {8, 23.6}}},
    {"star3d2", 16, {{1, 12.4}, {2, 9.8}, {4, 13.8}}},
};

static ambit__backend backend, dry;
static int threads;

static void info(ambit__device *dev, ambit__device_info *out)
{
  (void)dev;
  *out = (ambit__device_info){.name = "a Xeon",
                              .cores = threads,
                              .memory = SIZE_MAX,
                              .short_rows = true,
                              .l1 = (size_t)48 << 10,
                              .l2 = (size_t)2 << 20,
                              .l3 = (size_t)300 << 20};
}

static ambit_status open_dry(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                             ambit__device **dev)
{
  AMBIT_TRY(ambit__backend_dry(&ambit__backend_cpu)->open(errors, settings, ordinal, dev));
  (*dev)->backend = &dry;
  return AMBIT_OK;
}

/* The depth that the model chooses. */
static int depth_of(const measured *m, char *plan, size_t size)
{
  static const int64_t flat[] = {8192, 8192}, deep[] = {512, 512, 512};
  const int ndims = m->kernel[strcspn(m->kernel, "23")] - '0';
  ambit *a = open_on("xeon");
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;
  int depth;

  threads = m->threads;
  ambit_option_set(a, "depth", "auto");
  g = ambit_grid_create(a, ndims, ndims == 2 ? flat : deep);
  u = ambit_field_create(g, "u", AMBIT_F32);
  v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  p = ambit_program_create(g);
  ambit_apply(p, ambit_kernel_from_catalogue(a, m->kernel, AMBIT_F32), u, v);
  ambit_swap(p, u, v);
  CHECK_EQ(AMBIT_OK, ambit__program_seal(p));
  depth = p->cycle ? p->cycle->schedule.iterations : 1;
  snprintf(plan, size, "single");
  if (p->cycle) ambit__wavefront_print(p->cycle->wavefront, plan, size);
  CHECK_OK(a);
  ambit_close(a);
  return depth;
}

/* Between measured depths: on the line between their speeds. */
static double speed_at(const measured *m, int depth)
{
  for (int i = 1; i < MOST_SPEEDS && m->by[i].depth; i++) {
    const double from = m->by[i - 1].depth, to = m->by[i].depth;

    if (depth > m->by[i].depth) continue;
    return m->by[i - 1].speed +
           (depth - from) / (to - from) * (m->by[i].speed - m->by[i - 1].speed);
  }
  return 0;
}

static void the_chosen_depth_is_nearly_the_fastest(void)
{
  for (size_t i = 0; i < sizeof xeon / sizeof *xeon; i++) {
    const measured *m = &xeon[i];
    double best = 0, speed;
    char plan[96];
    const int depth = depth_of(m, plan, sizeof plan);

    for (int k = 0; k < MOST_SPEEDS; k++)
      if (m->by[k].speed > best) best = m->by[k].speed;
    speed = speed_at(m, depth);
    printf("# %s, %d threads: %s, %.2f of the best\n", m->kernel, m->threads, plan, speed / best);
    CHECK_MSG(speed > 0.9 * best, "%s, %d threads: %s", m->kernel, m->threads, plan);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_chosen_depth_is_nearly_the_fastest", the_chosen_depth_is_nearly_the_fastest}, {0}};

  dry = *ambit__backend_dry(&ambit__backend_cpu);
  dry.info = info;
  backend = dry;
  backend.name = "xeon";
  backend.open = open_dry;
  ambit__backend_add(&backend);
  return test_main(argc, argv, tests);
}
