/* SPDX-License-Identifier: BSD-3-Clause */
/* moves.c - the fixed kernels (codegen/prelude/moves.h, runs.h, most.h), compiled once per device
 * and size of a value. */
#include "device/gpu/gpu.h"

#include "base/text.h"

extern const char ambit__prelude_moves[], ambit__prelude_runs[],
    ambit__prelude_most[]; /* embedded by the build */

enum { BLOCKS_PER_MULTIPROCESSOR = 32 };

static int which(ambit_type type)
{
  const size_t size = ambit_type_size(type);

  return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

static ambit_status compile(ambit__gpu_device *d, int size, ambit__gpu_kit kit, ambit__gpu_moves *m)
{
  static const char *const types[] = {"unsigned char", "unsigned short", "ambit_u32", "ambit_u64"};
  static const char *const reals[] = {"", "", "#define REAL float\n", "#define REAL double\n"};
  static const char *const kernels[] = {ambit__prelude_moves, ambit__prelude_runs,
                                        ambit__prelude_moves};
  const ambit__gpu_kernel boxes[] = {{"ambit_batch", &m->batch},
                                     {"ambit_move", &m->move},
                                     {"ambit_update", &m->update},
                                     {"ambit_fill", &m->fill}};
  const ambit__gpu_kernel runs[] = {{"ambit_pairs", &m->pairs}, {"ambit_runs", &m->runs}};
  const ambit__gpu_kernel most[] = {{"ambit_most", &m->most}, {"ambit_most_norm", &m->most_norm}};
  const ambit__gpu_kernel *const lists[] = {boxes, runs, most};
  const int counts[] = {4, 2, *reals[size] ? 2 : 1};
  const ambit__dialect *l = d->driver->dialect;
  ambit__text t = {0};

  ambit__print(&t, "%s\n", l->prelude);
  ambit__gpu_fixed_head(l, "Moving values.", AMBIT__MOVE_THREADS, &t);
  ambit__print(&t, "#define T %s\n#define MOST (((ambit_u64)1 << %d) - 1)\n", types[size],
               (8 << size) - 1);
  ambit__print(&t, "#define AXES %d\n#define CHUNK %d\n\n%s", AMBIT__PATCH_AXES, AMBIT__FILL_CHUNK,
               kernels[kit]);
  if (kit == KIT_MOST) ambit__print(&t, "\n%s%s", reals[size], ambit__prelude_most);
  return ambit__gpu_fixed(d, &t, true, counts[kit], lists[kit], &m->modules[kit]);
}

ambit_status ambit__gpu_moves_get(ambit__gpu_device *d, ambit_type type, ambit__gpu_kit kit,
                                  ambit__gpu_moves **moves)
{
  ambit__gpu_moves *m = &d->moves[which(type)];
  ambit__gpu_function *const first[] = {m->batch, m->pairs, m->most};

  if (!first[kit]) AMBIT_TRY(compile(d, which(type), kit, m));
  *moves = m;
  return AMBIT_OK;
}

void ambit__gpu_moves_free(ambit__gpu_device *d)
{
  for (int i = 0; i < 4; i++)
    for (int kit = 0; kit < KITS; kit++)
      if (d->moves[i].modules[kit]) d->driver->unload(d->moves[i].modules[kit]);
}

ambit_status ambit__gpu_moves_run(ambit__gpu_lane *lane, ambit__gpu_function *f, int64_t values,
                                  int nargs, const ambit__gpu_arg *args)
{
  const ambit__gpu_device *d = lane->device;
  const int64_t most = (int64_t)BLOCKS_PER_MULTIPROCESSOR *
                       (d->info.multiprocessors > 0 ? d->info.multiprocessors : 1);
  const int64_t blocks = (values + AMBIT__MOVE_THREADS - 1) / AMBIT__MOVE_THREADS;
  const ambit__shape shape = ambit__gpu_shape(blocks < most ? blocks : most, AMBIT__MOVE_THREADS);

  return d->driver->launch(lane->queue, f, &shape, nargs, args);
}
