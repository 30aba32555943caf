/* SPDX-License-Identifier: BSD-3-Clause */
/* problem.h - a rule on a grid for tests of GPU kernels: its fields, twice, and the results of the
 * reference device.
 *
 * Fields of the simulated device (simulated.h) lie between inaccessible pages.
 */
#ifndef AMBIT_TEST_PROBLEM_H
#define AMBIT_TEST_PROBLEM_H

#include "device/host.h"
#include "support/test.h"

#include <math.h>
#include <sys/mman.h>

extern const ambit__backend ambit__backend_ref;
static const ambit__backend *const ref = &ambit__backend_ref;

enum { MOST = 8, STEP = 17, PAGE = 65536 };

static ambit__device *device; /* the reference */
static ambit__queue *queue;

/* ---- memory ---- */

/* Fields of a run: the reference's, and a copy for the simulated device that starts or ends at an
 * inaccessible page. */
typedef struct twin {
  ambit__store store;
  unsigned char *mapped, *base;
  size_t bytes; /* mapped */
} twin;

static bool guard(twin *t, bool at_end)
{
  const size_t room = (t->store.layout.bytes + PAGE - 1) / PAGE * PAGE;

  t->bytes = room + 2 * PAGE;
  t->mapped = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (t->mapped == MAP_FAILED) return false;
  t->base = t->mapped + PAGE + (at_end ? room - t->store.layout.bytes : 0);
  memcpy(t->base, ambit__host_base(t->store.buffer), t->store.layout.bytes);
  return !mprotect(t->mapped, PAGE, PROT_NONE) &&
         !mprotect(t->mapped + PAGE + room, PAGE, PROT_NONE);
}

static double noise(uint64_t i)
{
  i = (i + 1) * 0x9e3779b97f4a7c15u;
  i ^= i >> 29;
  i *= 0xbf58476d1ce4e5b9u;
  return (double)(i >> 40) / (1 << 24);
}

/* The n-th value of a type. Shorts are large, small, or next to 0. */
static double value_of(ambit_type type, uint64_t n)
{
  const int most = ambit__type_is_real(type) ? 2 : type == AMBIT_U8 ? 256 : 7;

  if (type == AMBIT_I16) return floor((noise(n) * 65536 - 32768) / (double)(1 << n % 3 * 7));
  return noise(n) * most;
}

/* Every byte outside the cells is 0x77, so that reads there by mistake show. */
static void fill(twin *t, int param)
{
  const ambit__layout *l = &t->store.layout;
  const size_t size = ambit_type_size(l->type);
  unsigned char *base = ambit__host_base(t->store.buffer);
  int64_t at[AMBIT_MAX_DIMS];
  uint64_t n = (uint64_t)param << 32;

  memset(base, 0x77, l->bytes);
  ambit__box_first(&l->own, at);
  do
    for (int64_t x = 0; x < l->own.hi[l->own.ndims - 1]; x++)
      for (int c = 0; c < l->components; c++) {
        const double value = value_of(l->type, n++);
        int64_t cell[AMBIT_MAX_DIMS];

        memcpy(cell, at, sizeof cell);
        cell[l->own.ndims - 1] = x;
        ambit__value_store(base + (size_t)(ambit__layout_at(l, cell) + c * l->component) * size,
                           l->type, ambit__value_of(value, l->type));
      }
  while (ambit__box_next_row(&l->own, at));
}

/* ---- one run ---- */

/* A rule on a grid. */
typedef struct problem {
  const char *name;
  const char *text; /* NULL: `name` is a name in the catalogue */
  ambit_type type;  /* for a rule of the catalogue */
  int ndims;
  int64_t extents[AMBIT_MAX_DIMS], lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS]; /* hi all 0: all cells */
  ambit_boundary boundary;
  bool simplified; /* the rule runs in its canonical form */
  bool closed;     /* no ghost cells along the last axis */
  /* derived */
  ambit__rule *rule, *parsed; /* parsed: what it was simplified from; or NULL */
  ambit__binding bind[MOST];
  twin fields[MOST];
  ambit__buffer *values[MOST];          /* scalars, numbers and reductions of the reference */
  ambit__scalar_bytes own_values[MOST]; /* the same of the simulated device */
  bool strict;
  ambit__boundaries boundaries;
  int64_t ended; /* not 0: the run has ended, and nothing may change */
} problem;

static ambit__box box_of(const problem *p)
{
  ambit__box b = ambit__box_of_extents(p->ndims, p->extents);

  for (int d = 0; p->hi[0] && d < p->ndims; d++) {
    b.lo[d] = p->lo[d];
    b.hi[d] = p->hi[d];
  }
  return b;
}

static bool is_field(const problem *p, int i)
{
  return p->rule->params[i].kind == PARAM_FIELD;
}

/* Ghost cells of a field along an axis, for reads at distance `reads`. */
static int64_t margin(const problem *p, int axis, int reads)
{
  return p->boundary && !(p->closed && axis == p->ndims - 1) ? reads : 0;
}

static void make_field(problem *p, int i, bool at_end)
{
  const ambit__param *param = &p->rule->params[i];
  twin *t = &p->fields[i];
  ambit__box reach = ambit__box_of_extents(p->ndims, p->extents);

  t->store = (ambit__store){.layout = {.type = param->type,
                                       .components = param->components,
                                       .line = 256,
                                       .own = ambit__box_of_extents(p->ndims, p->extents)}};
  for (int d = 0; d < p->ndims; d++) {
    t->store.layout.margin_lo[d] = margin(p, d, param->low[d]);
    t->store.layout.margin_hi[d] = margin(p, d, param->high[d]);
  }
  CHECK(ambit__layout_make(&t->store.layout));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, t->store.layout.bytes, NULL, &t->store.buffer));
  fill(t, i);
  for (int d = 0; d < p->ndims; d++) {
    reach.lo[d] -= margin(p, d, param->low[d]);
    reach.hi[d] += margin(p, d, param->high[d]);
  }
  CHECK_EQ(AMBIT_OK, ambit__host_do(queue, ghosts, &t->store, &p->boundaries, p->extents,
                                        &t->store.layout.own, &reach));
  CHECK(guard(t, at_end));
}

static inline void make_fields(problem *p, bool at_end)
{
  for (int i = 0; i < p->rule->nparams; i++) {
    if (is_field(p, i)) {
      make_field(p, i, at_end);
    } else {
      unsigned char bytes[8] = {0};

      ambit__value_store(bytes, p->rule->params[i].type,
                         ambit__value_of(0.25, p->rule->params[i].type));
      memcpy(p->own_values[i].value, bytes, sizeof bytes);
      CHECK_EQ(AMBIT_OK,
               ambit__ask(device, alloc, sizeof(ambit__scalar_bytes), NULL, &p->values[i]));
      CHECK_EQ(AMBIT_OK, ambit__do(queue, put, p->values[i], bytes, sizeof bytes));
    }
  }
}

static inline void free_fields(problem *p)
{
  for (int i = 0; i < p->rule->nparams; i++) {
    if (is_field(p, i)) {
      ambit__ask(device, release, p->fields[i].store.buffer);
      munmap(p->fields[i].mapped, p->fields[i].bytes);
    } else {
      ambit__ask(device, release, p->values[i]);
    }
  }
}

static inline void run_reference(problem *p, const ambit__group *g)
{
  ambit__argument args[MOST] = {0};
  ambit__launch launch = {.box = box_of(p),
                          .extents = p->extents,
                          .nargs = p->rule->nparams,
                          .args = args,
                          .step = STEP};
  ambit__function *fn = NULL;

  for (int i = 0; i < p->rule->nparams; i++)
    if (is_field(p, i))
      args[i] = (ambit__argument){.store = &p->fields[i].store, .boundaries = &p->boundaries};
    else
      args[i].value = p->values[i];
  CHECK_EQ(AMBIT_OK, ambit__ask(device, build, g, &fn));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, launch, fn, &launch));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, wait, NULL));
  ambit__ask(device, discard, fn);
}

/* ---- comparison ---- */

static bool is_near(ambit_type type, double a, double b)
{
  return a == b || (isnan(a) && isnan(b)) ||
         fabs(a - b) <= (type == AMBIT_F64 ? 1e-13 : 3e-6) * (fabs(a) + fabs(b));
}

/* Compares the values of two memories: all equal, or with `nearly`, equal except for the order of
 * terms. */
static bool same(const twin *t, bool nearly)
{
  const unsigned char *want = ambit__host_base(t->store.buffer);
  const size_t size = ambit_type_size(t->store.layout.type);

  if (!memcmp(want, t->base, t->store.layout.bytes)) return true;
  for (size_t i = 0; nearly && i < t->store.layout.bytes; i += size) {
    ambit__value a = ambit__value_load(want + i, t->store.layout.type);
    ambit__value b = ambit__value_load(t->base + i, t->store.layout.type);

    if (!is_near(t->store.layout.type, a.real, b.real)) return false;
  }
  return nearly;
}

static inline void compare(problem *p, const char *plan, bool nearly)
{
  for (int i = 0; i < p->rule->nparams; i++) {
    const ambit__param *param = &p->rule->params[i];

    if (is_field(p, i)) {
      CHECK_MSG(same(&p->fields[i], nearly), "%s %s: field %s differs", p->name, plan, param->name);
    } else if (param->kind == PARAM_REDUCE) {
      unsigned char bytes[8];
      double want, got;

      CHECK_EQ(AMBIT_OK, ambit__do(queue, get, bytes, p->values[i], sizeof bytes));
      want = ambit__value_number(ambit__value_load(bytes, param->type), param->type);
      got =
          ambit__value_number(ambit__value_load(p->own_values[i].value, param->type), param->type);
      CHECK_MSG(param->reduce == REDUCE_SUM && !p->strict ? is_near(param->type, want, got)
                                                          : want == got,
                "%s %s: %s is %.17g, want %.17g", p->name, plan, param->name, got, want);
    }
  }
}

#endif
