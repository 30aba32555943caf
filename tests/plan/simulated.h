/* SPDX-License-Identifier: BSD-3-Clause */
/* simulated.h - a GPU on the CPU: CUDA kernels, compiled as C++ with warp.h, which runs threads as
 * fibers. */
#ifndef AMBIT_TEST_SIMULATED_H
#define AMBIT_TEST_SIMULATED_H

#include "base/hash.h"
#include "plan/gpu.h"
#include "problem.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_SIZE = 256 };

static char folder[PATH_SIZE]; /* of compiled kernels; also holds warp.h, precompiled */

static const ambit__target gpu = {
    .kind = TARGET_GPU,
    .dialect = &ambit__dialect_cuda,
    .threads = 2,
    .max_threads = 1024,
    .shared = 227 << 10,
    .minima = true,
};

/* ---- compilation ---- */

typedef bool simulated(const long long *blocks, const int *threads, const long long *args);

/* Compiles `from` to the file `to` in the folder, for kernels as well as for warp.h. Without the
 * headers and the libraries of C++, a kernel takes 0.7 of the time; the process that loads it has
 * the functions. */
static bool compiled(const char *words, const char *from, const char *to)
{
  char command[5 * PATH_SIZE];

  snprintf(command, sizeof command,
           "c++ -std=c++17 -Og -w -fPIC -nostdinc++ -nostdlib -U_FORTIFY_SOURCE -ffp-contract=off "
           "-fno-strict-aliasing "
           "%s '%s' -o '%s/%s'",
           words, from, folder, to);
  return !system(command);
}

/* Most of the compile time of a small kernel is in this header; it is precompiled once for all. */
static bool precompile_warp(void)
{
  return compiled("-x c++-header", AMBIT_TEST_DIR "/plan/warp.h", "warp.h.gch");
}

static bool write_file(const char *file, const char *source, bool reduces)
{
  FILE *f = fopen(file, "w");

  if (!f) return false;
  fprintf(f, "%s\n", source);
  for (int fold = 0; fold <= reduces; fold++)
    fprintf(f,
            "extern \"C\" bool simulate%s(const long long *b, const int *t, const long long *a)\n"
            "{\n"
            "  return warp::launch([](const long long *x) { warp::call(ambit_kernel%s, x); }, b, "
            "t, a, %s);\n"
            "}\n",
            fold ? "_fold" : "", fold ? "_fold" : "", strstr(source, " *edges") ? "true" : "false");
  return !fclose(f);
}

/* Compiles a source, unless that was done before; NULL if it fails. */
static void *compile(const char *source, bool reduces)
{
  char key[AMBIT__HASH_CHARS], name[AMBIT__HASH_CHARS + 4];
  char file[PATH_SIZE + 64], library[PATH_SIZE + 64], words[PATH_SIZE + 64];
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_text(&h, source);
  ambit__hash_hex(&h, key);
  snprintf(name, sizeof name, "%s.so", key);
  snprintf(file, sizeof file, "%s/%s.cpp", folder, key);
  snprintf(library, sizeof library, "%s/%s", folder, name);
  snprintf(words, sizeof words, "-shared -include '%s/warp.h'", folder);
  if (access(library, R_OK) && (!write_file(file, source, reduces) || !compiled(words, file, name)))
    return NULL;
  return dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

/* ---- launches ---- */

static long long argument(problem *p, const ambit__gpucode_slot *s,
                          int64_t (*partials)[AMBIT__GPUCODE_PARTIALS], const ambit__box *box,
                          long long blocks)
{
  const ambit__layout *l = &p->fields[s->param].store.layout;

  switch (s->kind) {
  case SLOT_MEMORY: return (long long)(intptr_t)p->fields[s->param].base;
  case SLOT_ORIGIN: return l->origin;
  case SLOT_STRIDE: return l->stride[s->axis];
  case SLOT_COMPONENT: return l->component;
  case SLOT_VALUE:
  case SLOT_RESULT: return (long long)(intptr_t)&p->own_values[s->param];
  case SLOT_PARTIALS: return (long long)(intptr_t)partials[s->param];
  case SLOT_LO: return box->lo[s->axis];
  case SLOT_HI: return box->hi[s->axis];
  case SLOT_OFFSET: return 0;
  case SLOT_EXTENT: return p->extents[s->axis];
  case SLOT_STEP: return STEP;
  case SLOT_GROUPS: /* of sparse grids */
  case SLOT_LINES:
  case SLOT_CELLS:
  case SLOT_UNITS:
  case SLOT_SHARE:
  case SLOT_FIRST:
  case SLOT_TIMES: /* of flows that loop */
  case SLOT_EDGES:
  case SLOT_ROUNDS:
  case SLOT_STARTS: /* of flows with points */
  case SLOT_WHO:
  case SLOT_WEIGHTS:
  case SLOT_ROWS:
  case SLOT_ROW:
  case SLOT_TOUCHED:
  case SLOT_AIMS:
  case SLOT_WINDOWS:
  case SLOT_TABLE: /* of tiles */
  case SLOT_THAN:
  case SLOT_FOUND:
  case SLOT_LINKS:
  case SLOT_STATE:
  case SLOT_TILES:
  case SLOT_ROUND: return 0;
  case SLOT_FAULTS: return 0; /* nothing is checked here */
  case SLOT_COUNT: return blocks;
  case SLOT_MORE: return 0;
  case SLOT_ENDED: return p->ended ? (long long)(intptr_t)&p->ended : 0;
  }
  return 0;
}

/* Fewer blocks than needed where kernels loop, and several chunks. */
static ambit__shape shape_of(const problem *p, const ambit__group *g, const ambit__plan *plan)
{
  const ambit__box box = box_of(p);
  const int z = p->ndims > 2 ? p->ndims - 3 : 0;
  ambit__shape shape;

  plan->strategy->shape(g, plan, &box, &shape);
  if (plan->ahead)
    shape.blocks[1] = box.hi[z] - box.lo[z] >= 3 ? 3 : 1;
  else if (ambit__group_reduces(g) && shape.blocks[1] > 1)
    shape.blocks[1]--;
  if (ambit__group_reduces(g) && shape.blocks[0] > 1) shape.blocks[0]--;
  if (p->ndims > 3 && shape.blocks[2] > 2) shape.blocks[2] = 2;
  return shape;
}

static inline void run_simulated(problem *p, const ambit__group *g, const ambit__plan *plan)
{
  static int64_t partials[MOST][AMBIT__GPUCODE_PARTIALS];
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];
  const ambit__shape shape = shape_of(p, g, plan);
  const ambit__box box = box_of(p);
  const int fold_threads[] = {AMBIT__GPUCODE_FOLD, 1, 1};
  const long long blocks[] = {shape.blocks[0], shape.blocks[1], shape.blocks[2]};
  const long long one[] = {1, 1, 1};
  long long args[AMBIT__GPUCODE_SLOTS];
  simulated *f;
  char *source;
  void *library;
  int n = ambit__gpucode_slots(g, slots);

  source = ambit__plan_source(g, &gpu, plan);
  library = compile(source, ambit__group_reduces(g));
  CHECK_MSG(library != NULL, "%s: not compiled:\n%s", p->name, source);
  free(source);
  if (!library) return;
  for (int i = 0; i < p->rule->nparams; i++)
    if (ambit__group_is_exact(g, i)) memset(partials[i], 0, sizeof(ambit__long));
  for (int i = 0; i < n; i++)
    args[i] = argument(p, &slots[i], partials, &box, 0);
  *(void **)&f = dlsym(library, "simulate");
  CHECK(f(blocks, shape.threads, args));
  if (ambit__group_reduces(g)) {
    n = ambit__gpucode_fold_slots(g, slots);
    for (int i = 0; i < n; i++)
      args[i] = argument(p, &slots[i], partials, &box, blocks[0] * blocks[1] * blocks[2]);
    *(void **)&f = dlsym(library, "simulate_fold");
    CHECK(f(one, fold_threads, args));
  }
  for (int i = 0; i < p->rule->nparams; i++)
    for (int k = 0; ambit__group_is_exact(g, i) && k < AMBIT__LONG_WORDS; k++)
      CHECK_EQ(0, partials[i][k]); /* zeroed again */
  dlclose(library);
}

/* ---- tests ---- */

/* The main function of tests with simulated kernels: their folder exists meanwhile. */
static inline int simulated_main(int argc, char **argv, const test_case *tests)
{
  char command[PATH_SIZE + 32];
  int bad;

  if (system("c++ --version > /dev/null 2>&1")) {
    printf("# skipped: there is no C++ compiler\n");
    return 77;
  }
  snprintf(folder, sizeof folder, "/tmp/ambit-simulated-XXXXXX");
  if (!mkdtemp(folder) || !precompile_warp()) return 1;
  bad = test_main(argc, argv, tests);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command) || bad;
}

#endif
