/* SPDX-License-Identifier: BSD-3-Clause */
/* group.h - what a function computes: a rule, what its parameters are bound to, and the grid. */
#ifndef AMBIT_NEST_GROUP_H
#define AMBIT_NEST_GROUP_H

#include "grid/chunks.h"
#include "kernel/kernel.h"

/* The properties of a parameter's binding that the code depends on. A field whose rows are closed
 * has no ghost cells at their ends, and they are never cut into parts: the code takes what is read
 * beyond an end from the row itself. */
typedef struct ambit__binding {
  bool is_field;   /* false: a scalar or a number */
  bool contiguous; /* a field whose cells are adjacent in memory along the last axis */
  bool adjacent; /* a field whose components are adjacent in memory, and cells behind each other */
  bool packed;   /* the rows of the field are not aligned to cache lines; TARGET_GPU only */
  bool shared;   /* another parameter is bound to the same field, and one of them is written */
  ambit_boundary
      ends[2];      /* of closed rows, as ambit__boundary_map; else AMBIT_NONE; TARGET_GPU only */
  unsigned dropped; /* bit d: a field that has no axis d: its stride along it is 0 */
  bool carried;     /* a field that a sweep carries: its stride along the axis of the sweep is 0 */
  /* Cells fold their values of the field into totals (device/fold.h), which are in its place;
   * false: they store them. */
  bool onto;
  bool cached;  /* a field that stays in a cache while it is read: it needs no prefetching */
  bool points;  /* not a field: points of a flow, */
  bool samples; /* which are sampled */
} ambit__binding;

enum {
  AMBIT__CHECK_NAN = 1, /* NaN written */
#ifdef AMBIT_ACCESS_CHECKS
  AMBIT__CHECK_ACCESS = 2 /* accesses outside the cells and the memory of a field */
#endif
};

/* Whether the field has one value per row of a grid with so many axes. */
static inline bool ambit__binding_is_uniform(const ambit__binding *b, int ndims)
{
  return ndims > 0 && b->dropped >> (ndims - 1) & 1;
}

/* Whether the rows of the field are closed; periodic. */
static inline bool ambit__binding_is_closed(const ambit__binding *b)
{
  return b->ends[0] != AMBIT_NONE;
}

static inline bool ambit__binding_is_periodic(const ambit__binding *b)
{
  return b->ends[0] == AMBIT_PERIODIC;
}

/* Functions for GPUs that run on tiles (nest/tiles.c). On cores, any function does. */
typedef enum ambit__tile_use {
  TILES_NONE,    /* runs on boxes */
  TILES_COMPARE, /* entry `tiles` of a device */
  TILES_RELAX    /* entry `relax` */
} ambit__tile_use;

/* What runs as one function. A flow has `depth` iterations; the parameters of its rule, which has
 * no body, are the operands, and the caller keeps it while the function is built and launched. */
typedef struct ambit__group {
  const ambit__rule *rule;
  const ambit__binding *bind;       /* per parameter */
  const struct ambit__chore *chore; /* device/chore.h: the rule has no body; NULL: it has one */
  int depth;
  const struct ambit__flow *flow; /* flow/flow.h; NULL: one step, one iteration */
  /* of a flow with points: by operand, the function of the step that adds or samples there, for
   * launches */
  struct ambit__function *const *points;
  int ndims;                     /* axes of the grid; 0: the steps run once, on scalars */
  int64_t cells[AMBIT_MAX_DIMS]; /* a typical box */
  /* On a sparse grid: the form of the chunks of a launch, with the active cells of a typical box,
   * the mean length of runs, and ambit__active_stacked. NULL: it is dense. */
  const ambit__chunk_form *form;
  int64_t active;
  double run, stacked;
  ambit__tile_use tiles;
  /* Rows of fields lie along axis turn - 1 (grid/layout.h), 0: along the last one. If `turned`, all
   * here has that axis last: the rule, bindings and cells. */
  int turn;
  bool turned;
  bool strict;       /* see ambit__settings */
  int sweep;         /* the axis along which cells run in order (ambit__sweep_axis); 0: none */
  unsigned checks;   /* AMBIT__CHECK_... flags: the checks made in launches; 0: none */
  bool for_people;   /* for users to compile themselves, with ambit.h */
  const char *entry; /* name of the function; NULL: AMBIT_ENTRY */
  /* plans whose line starts like this are preferred to all others; NULL or empty: none */
  const char *preferred;
} ambit__group;

/* The axes, the first ones, whose indices cells need; of checked functions, all, as faults have
 * the cell. */
static inline int ambit__group_indices(const ambit__group *g)
{
  const int n = g->rule->max_axis + 1;

  return n < g->ndims && !g->checks ? n : g->ndims;
}

/* How far the rule reads along an axis. */
static inline int ambit__group_reach(const ambit__group *g, int axis)
{
  int most = 0;

  for (int i = 0; i < g->rule->nparams; i++) {
    if (g->rule->params[i].low[axis] > most) most = g->rule->params[i].low[axis];
    if (g->rule->params[i].high[axis] > most) most = g->rule->params[i].high[axis];
  }
  return most;
}

/* The cells of a typical box of a dense grid. */
static inline double ambit__group_cells(const ambit__group *g)
{
  double n = 1;

  for (int d = 0; d < g->ndims; d++)
    n *= (double)g->cells[d];
  return n;
}

/* Whether parameter p of the group's rule is a sum whose result must not depend on the order of
 * cells, which needs a long accumulator. */
static inline bool ambit__sums_exactly(const ambit__group *g, const ambit__param *p)
{
  return g->strict && p->kind == PARAM_REDUCE && p->reduce == REDUCE_SUM &&
         ambit__type_is_real(p->type);
}

/* Whether any parameter is a reduction; such a sum. */
static inline bool ambit__group_reduces(const ambit__group *g)
{
  for (int i = 0; i < g->rule->nparams; i++)
    if (g->rule->params[i].kind == PARAM_REDUCE) return true;
  return false;
}

/* The axes along which cells are folded into totals of fields; 0: none are. */
static inline unsigned ambit__group_folded(const ambit__group *g)
{
  for (int i = 0; i < g->rule->nparams; i++)
    if (g->bind[i].onto) return g->bind[i].dropped;
  return 0;
}

/* Whether cells compute the numbers of the components that they fold into; all such fields do. */
static inline bool ambit__group_is_binned(const ambit__group *g)
{
  for (int i = 0; i < g->rule->nparams; i++)
    if (g->bind[i].onto && g->rule->params[i].bins) return true;
  return false;
}

static inline bool ambit__group_sums_exactly(const ambit__group *g)
{
  for (int i = 0; i < g->rule->nparams; i++)
    if (ambit__sums_exactly(g, &g->rule->params[i])) return true;
  return false;
}

/* Whether parameter i has a long accumulator on a GPU. Kernels for users have none: they get eight
 * bytes per block. */
static inline bool ambit__group_is_exact(const ambit__group *g, int i)
{
  return !g->for_people && ambit__sums_exactly(g, &g->rule->params[i]);
}

#endif
