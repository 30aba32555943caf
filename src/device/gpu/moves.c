/* SPDX-License-Identifier: BSD-3-Clause */
/* moves.c - the fixed kernels (codegen/prelude/moves.h, runs.h, most.h), compiled once per device
 * and size of a value. */
#include "device/gpu/gpu.h"

#include "base/text.h"

#include <stdlib.h>

extern const char ambit__prelude_moves[], ambit__prelude_runs[],
    ambit__prelude_most[]; /* embedded by the build */

enum { BLOCKS_PER_MULTIPROCESSOR = 32 };

static int which(ambit_type type)
{
  const size_t size = ambit_type_size(type);

  return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

static char *write_source(const ambit__dialect *l, int size, const char *kernels)
{
  static const char *const types[] = {"unsigned char", "unsigned short", "ambit_u32", "ambit_u64"};
  ambit__text t = {0};

  ambit__print(&t, "/* Moving values of %d bytes. */\n%s\n", 1 << size, l->prelude);
  ambit__print(&t, "#define KERNEL %s\n#define GLOBAL %s\n#define T %s\n", l->kernel, l->global,
               types[size]);
  ambit__print(&t, "#define THREADS %d\n#define THREAD %s\n#define BLOCK %s\n#define BLOCKS %s\n",
               AMBIT__MOVE_THREADS, l->thread[0], l->block[0], l->blocks[0]);
  ambit__print(&t, "#define MOST (((ambit_u64)1 << %d) - 1)\n", (8 << size) - 1);
  ambit__print(&t, "#define AXES %d\n#define CHUNK %d\n\n%s", AMBIT__PATCH_AXES, AMBIT__FILL_CHUNK,
               kernels);
  return ambit__text_finish(&t);
}

static ambit_status compile(ambit__gpu_device *d, int size, const char *kernels, const char *entry,
                            ambit__gpu_module **module)
{
  char *source = write_source(d->driver->dialect, size, kernels);
  ambit_status s;

  AMBIT_CHECK(source, d->head.errors, AMBIT_ENOMEM, "no memory for the source of a kernel");
  s = d->driver->build(d->gpu, "a fixed kernel", source, entry, true, module);
  free(source);
  return s;
}

static ambit_status compile_moves(ambit__gpu_device *d, int size, ambit__gpu_moves *m)
{
  AMBIT_TRY(compile(d, size, ambit__prelude_moves, "ambit_batch", &m->module));
  AMBIT_TRY(d->driver->function(m->module, "ambit_move", &m->move));
  AMBIT_TRY(d->driver->function(m->module, "ambit_update", &m->update));
  AMBIT_TRY(d->driver->function(m->module, "ambit_fill", &m->fill));
  return d->driver->function(m->module, "ambit_batch", &m->batch);
}

static ambit_status compile_runs(ambit__gpu_device *d, int size, ambit__gpu_moves *m)
{
  AMBIT_TRY(compile(d, size, ambit__prelude_runs, "ambit_pairs", &m->sparse));
  AMBIT_TRY(d->driver->function(m->sparse, "ambit_runs", &m->runs));
  return d->driver->function(m->sparse, "ambit_pairs", &m->pairs);
}

static ambit_status compile_most(ambit__gpu_device *d, int size, ambit__gpu_moves *m)
{
  static const char *const reals[] = {"", "", "#define REAL float\n", "#define REAL double\n"};
  ambit__text t = {0};
  ambit_status s;
  char *kernels;

  ambit__print(&t, "%s\n%s%s", ambit__prelude_moves, reals[size], ambit__prelude_most);
  kernels = ambit__text_finish(&t);
  AMBIT_CHECK(kernels, d->head.errors, AMBIT_ENOMEM, "no memory for the source of a kernel");
  s = compile(d, size, kernels, "ambit_most", &m->projects);
  free(kernels);
  if (!s && *reals[size]) s = d->driver->function(m->projects, "ambit_most_norm", &m->most_norm);
  return s ? s : d->driver->function(m->projects, "ambit_most", &m->most);
}

ambit_status ambit__gpu_most_get(ambit__gpu_device *d, ambit_type type, ambit__gpu_moves **moves)
{
  ambit__gpu_moves *m = &d->moves[which(type)];

  if (!m->most) AMBIT_TRY(compile_most(d, which(type), m));
  *moves = m;
  return AMBIT_OK;
}

ambit_status ambit__gpu_moves_get(ambit__gpu_device *d, ambit_type type, ambit__gpu_moves **moves)
{
  ambit__gpu_moves *m = &d->moves[which(type)];

  if (!m->batch) AMBIT_TRY(compile_moves(d, which(type), m));
  *moves = m;
  return AMBIT_OK;
}

ambit_status ambit__gpu_runs_get(ambit__gpu_device *d, ambit_type type, ambit__gpu_moves **moves)
{
  ambit__gpu_moves *m = &d->moves[which(type)];

  if (!m->pairs) AMBIT_TRY(compile_runs(d, which(type), m));
  *moves = m;
  return AMBIT_OK;
}

void ambit__gpu_moves_free(ambit__gpu_device *d)
{
  for (int i = 0; i < 4; i++) {
    if (d->moves[i].module) d->driver->unload(d->moves[i].module);
    if (d->moves[i].sparse) d->driver->unload(d->moves[i].sparse);
    if (d->moves[i].projects) d->driver->unload(d->moves[i].projects);
  }
}

ambit_status ambit__gpu_moves_run(ambit__gpu_lane *lane, ambit__gpu_function *f, int64_t values,
                                  int nargs, const ambit__gpu_arg *args)
{
  const ambit__gpu_device *d = ambit__gpu_device_of(lane->head.device);
  const int64_t most = (int64_t)BLOCKS_PER_MULTIPROCESSOR *
                       (d->info.multiprocessors > 0 ? d->info.multiprocessors : 1);
  const int threads[3] = {AMBIT__MOVE_THREADS, 1, 1};
  int64_t blocks[3] = {(values + AMBIT__MOVE_THREADS - 1) / AMBIT__MOVE_THREADS, 1, 1};

  if (blocks[0] > most) blocks[0] = most;
  return d->driver->launch(lane->queue, f, blocks, threads, 0, nargs, args);
}
