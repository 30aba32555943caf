/* SPDX-License-Identifier: BSD-3-Clause */
/* fuser.h - a device that fuses iterations: `cpu`, with simulated GPU kernels (simulated.h) for
 * flows. While a kernel runs, fields lie between inaccessible pages.
 *
 * Link with -Wl,--wrap=ambit__backend_find; its name is "fuser". */
#ifndef AMBIT_TEST_FUSER_H
#define AMBIT_TEST_FUSER_H

#include "device/device.h"
#include "flow/flow.h"
#include "simulated.h"

extern const ambit__backend ambit__backend_cpu;

typedef struct fuser_function {
  ambit__function head;
  ambit__group group;
  ambit__plan plan;
  void *library;
  simulated *run;
  void *edges; /* of a flow that loops; NULL: not launched yet */
  int64_t rounds;
} fuser_function;

static int fuser_launches; /* of flows, so far */

/* Pipelines that loop have a tile for each multiprocessor. */
static const ambit__target *fuser_target(const ambit__group *g)
{
  static ambit__target wide;

  wide = gpu;
  wide.threads = 6;
  return g->flow->loops ? &wide : &gpu;
}

/* Pipelines are always the best choice. */
static double fuser_estimate(ambit__device *dev, const ambit__group *g)
{
  ambit__plan plan;

  (void)dev;
  if (!g->flow) return 1e9;
  return ambit__plan_choose(g, fuser_target(g), &plan)
             ? plan.strategy->cost(g, fuser_target(g), &plan)
             : -1;
}

static void fuser_build(const ambit__group *g, ambit__function **fn)
{
  fuser_function *f;
  ambit__text line = {0};
  char *source;

  f = calloc(1, sizeof *f);
  f->group = *g;
  CHECK(ambit__plan_choose(g, fuser_target(g), &f->plan));
  f->plan.strategy->describe(&f->plan, &line);
  f->head.plan = ambit__text_finish(&line);
  source = ambit__plan_source(g, fuser_target(g), &f->plan);
  if (getenv("FUSED_SHOW")) puts(source);
  f->library = compile(source, false);
  CHECK_MSG(f->library != NULL, "not compiled:\n%s", source);
  free(source);
  if (f->library) *(void **)&f->run = dlsym(f->library, "simulate");
  *fn = &f->head;
}

static bool is_fused(const ambit__function *fn)
{
  return !strncmp(fn->plan, "(fused", 6) || !strncmp(fn->plan, "(persistent", 11);
}

static void fuser_discard(ambit__function *fn)
{
  if (((fuser_function *)fn)->library) dlclose(((fuser_function *)fn)->library);
  free(((fuser_function *)fn)->edges);
  free(fn->plan);
  free(fn);
}

static ambit_status fuser_serve(ambit__device *dev, ambit__command *c)
{
  if (c->kind == COMMAND_plans && c->plans.group->flow)
    ambit__plan_list(c->plans.group, fuser_target(c->plans.group), c->plans.lines);
  else if (c->kind == COMMAND_build && c->build.group->flow)
    fuser_build(c->build.group, c->build.fn);
  else if (c->kind == COMMAND_discard && is_fused(c->discard.fn))
    fuser_discard(c->discard.fn);
  else
    return ambit__backend_cpu.serve(dev, c);
  return AMBIT_OK;
}

static long long fuser_argument(const fuser_function *f, const ambit__launch *l,
                                const ambit__gpucode_slot *s, const twin *t)
{
  const ambit__layout *layout = l->args[s->param].store ? &l->args[s->param].store->layout : NULL;
  const ambit__box *own = NULL;

  for (int i = 0; i < l->nargs; i++)
    if (l->args[i].store) own = &l->args[i].store->layout.own;
  switch (s->kind) {
  case SLOT_MEMORY: return (long long)(intptr_t)t[s->param].base;
  case SLOT_ORIGIN: return layout->origin;
  case SLOT_STRIDE: return layout->stride[s->axis];
  case SLOT_COMPONENT: return layout->component;
  case SLOT_VALUE: return (long long)(intptr_t)ambit__host_base(l->args[s->param].value);
  case SLOT_LO: return l->box.lo[s->axis] - own->lo[s->axis];
  case SLOT_HI: return l->box.hi[s->axis] - own->lo[s->axis];
  case SLOT_OFFSET: return own->lo[s->axis];
  case SLOT_EXTENT: return l->extents[s->axis];
  case SLOT_STEP: return l->step;
  case SLOT_TIMES: return l->times;
  case SLOT_EDGES: return (long long)(intptr_t)f->edges;
  case SLOT_ROUNDS: return f->rounds;
  default: return 0;
  }
}

/* Copies the fields of a launch to guarded memory, and back. */
static void fuser_guard(const ambit__launch *l, twin *t, bool at_end)
{
  for (int i = 0; i < l->nargs; i++)
    if (l->args[i].store) {
      t[i].store = *l->args[i].store;
      CHECK(guard(&t[i], at_end));
    }
}

static void fuser_unguard(const ambit__launch *l, twin *t)
{
  for (int i = 0; i < l->nargs; i++)
    if (l->args[i].store) {
      memcpy(ambit__host_base(t[i].store.buffer), t[i].base, t[i].store.layout.bytes);
      munmap(t[i].mapped, t[i].bytes);
    }
}

static ambit_status fuser_execute(ambit__queue *q, const ambit__command *c)
{
  fuser_function *f = (fuser_function *)c->launch.fn;
  const ambit__launch *l = c->launch.launch;
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];
  long long args[AMBIT__GPUCODE_SLOTS], blocks[3];
  twin twins[AMBIT_MAX_PARAMS];
  ambit__shape shape;
  int n;

  if (c->kind != COMMAND_launch || !is_fused(&f->head)) return ambit__backend_cpu.execute(q, c);
  n = ambit__gpucode_slots(&f->group, slots);
  f->plan.strategy->shape(&f->group, &f->plan, &l->box, &shape);
  for (int i = 0; i < 3; i++)
    blocks[i] = shape.blocks[i];
  if (shape.edges && !f->edges) f->edges = calloc(1, shape.edges);
  fuser_guard(l, twins, fuser_launches++ % 2);
  for (int i = 0; i < n; i++)
    args[i] = fuser_argument(f, l, &slots[i], twins);
  if (f->run) CHECK(f->run(blocks, shape.threads, args));
  f->rounds += l->times;
  fuser_unguard(l, twins);
  return AMBIT_OK;
}

static ambit_status fuser_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                               ambit__device **dev);

static const ambit__backend *fuser_backend(void)
{
  static ambit__backend b;

  b = ambit__backend_cpu;
  b.name = "fuser";
  b.open = fuser_open;
  b.can &= ~AMBIT__CAN(wave);
  b.estimate = fuser_estimate;
  b.serve = fuser_serve;
  b.execute = fuser_execute;
  return &b;
}

static ambit_status fuser_open(ambit__errors *errors, const ambit__settings *settings, int ordinal,
                               ambit__device **dev)
{
  AMBIT_TRY(ambit__backend_cpu.open(errors, settings, ordinal, dev));
  (*dev)->backend = fuser_backend();
  return AMBIT_OK;
}

const ambit__backend *__real_ambit__backend_find(ambit__errors *errors, const char *name,
                                                 size_t length);
const ambit__backend *__wrap_ambit__backend_find(ambit__errors *errors, const char *name,
                                                 size_t length);

const ambit__backend *__wrap_ambit__backend_find(ambit__errors *errors, const char *name,
                                                 size_t length)
{
  if (length == strlen("fuser") && !strncmp(name, "fuser", length)) return fuser_backend();
  return __real_ambit__backend_find(errors, name, length);
}

#endif
