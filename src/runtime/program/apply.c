/* SPDX-License-Identifier: BSD-3-Clause */
/* apply.c - appending kernels: on all cells, a box, faces, and in order along an axis. */
#include "runtime/program/sweeping.h"

#include <stdio.h>
#include <string.h>

static const char applied_to[] = "a kernel was applied to";

/* Whether the kernel runs once, on scalars, instead of on every cell. Tables are arguments, too. */
static bool runs_once(const ambit__rule *rule, int nargs, const ambit_arg *args)
{
  for (int i = 0; i < nargs; i++)
    if (args[i].kind == AMBIT_ARG_FIELD) return false;
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_REDUCE) return false;
  return true;
}

/* The cells of a step. */
typedef struct region {
  ambit__box box;
  const int *normal; /* of the face that the box is; NULL: it is none */
  int sweep;         /* as in ambit__step */
} region;

/* Whether another parameter reduces into the scalar of parameter i, which is read. */
static bool is_replaced(const ambit__rule *rule, const ambit_arg *args, int i)
{
  if (!args[i].scalar || rule->params[i].kind == PARAM_REDUCE) return false;
  for (int k = 0; k < rule->nparams; k++)
    if (rule->params[k].kind == PARAM_REDUCE && args[k].scalar == args[i].scalar) return true;
  return false;
}

/* Appends a step that copies a scalar to one of its own, and returns that; NULL: it failed. */
static ambit_scalar *append_keep(ambit_program *p, const ambit_scalar *from)
{
  const char *type = ambit_type_name(from->type);
  char text[128];
  ambit_scalar *own = ambit__scalar_make(p->grid->context, from->name, from->type);
  const ambit_arg args[] = {ambit_arg_scalar(from), ambit_arg_scalar(own)};
  ambit__step s = {.kind = STEP_APPLY, .n = 2, .own_scalar = own};

  if (!own) return NULL;
  snprintf(text, sizeof text, "void keep(%s from, %s *to) { *to = from; }", type, type);
  s.kernel = s.bound = ambit_kernel_create(p->grid->context, text);
  if (s.bound && !ambit__program_append(p, s, args)) return own;
  ambit__kernel_free(s.bound);
  ambit__scalar_free(own);
  return NULL;
}

/* All cells read what a scalar was before the step that reduces into it, whichever part is computed
 * first. */
static ambit_status keep_scalars(ambit_program *p, const ambit__rule *rule, ambit_arg *args)
{
  for (int i = 0; p->grid->nparts > 1 && i < rule->nparams; i++) {
    if (!is_replaced(rule, args, i)) continue;
    args[i].scalar = append_keep(p, args[i].scalar);
    if (!args[i].scalar) return ambit__program_status(p);
  }
  return AMBIT_OK;
}

/* A kernel without tables to be given. */
static ambit_status apply_plain(ambit_program *p, const region *r, const ambit_kernel *k,
                                ambit_kernel *bound, const ambit_arg *args)
{
  const size_t first = p->nwritten;
  const ambit__rule *rule = bound ? bound->rule : k->rule;
  ambit_arg own[AMBIT_MAX_PARAMS];
  ambit__step s = {.kind = STEP_APPLY,
                   .kernel = bound ? bound : k,
                   .bound = bound,
                   .box = r->box,
                   .sweep = r->sweep,
                   .n = rule->nparams,
                   .args = (ambit_arg *)args};

  AMBIT_TRY(ambit__step_check(p, &s));
  AMBIT_TRY(ambit__step_profile(p, &s));
  if (s.sweep) AMBIT_TRY(ambit__step_check_sweep(p, &s));
  memcpy(own, args, (size_t)s.n * sizeof *own);
  AMBIT_TRY(keep_scalars(p, rule, own));
  AMBIT_TRY(ambit__program_append(p, s, own));
  p->last = first;
  return AMBIT_OK;
}

static ambit_status apply(ambit_program *p, const region *r, const ambit_kernel *k, int nargs,
                          const ambit_arg *args)
{
  region cells = *r;
  ambit_arg others[AMBIT_MAX_PARAMS];
  ambit_kernel *bound = NULL;
  unsigned onto = 0;
  ambit_status s;
  int want;

  AMBIT_CHECK(k, ambit__program_errors(p), AMBIT_EINVAL, "step %zu of a program has no kernel",
              p->nwritten + 1);
  AMBIT_CHECK(k->context == p->grid->context, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s belongs to another context", k->rule->name);
  want = ambit__arguments_wanted(k->rule, args ? nargs : 0, args, &onto) - k->rule->ntables +
         ambit__kernel_tables(k);
  AMBIT_CHECK(args && nargs == want, ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s has %d parameters, and %d arguments were given", k->rule->name, want,
              nargs);
  AMBIT_CHECK(r->normal || !ambit__kernel_needs_normal(k), ambit__program_errors(p), AMBIT_EINVAL,
              "kernel %s uses normal(), which only faces have: apply it with ambit_apply_faces",
              k->rule->name);
  if (runs_once(k->rule, nargs, args)) cells.box = (ambit__box){0};
  if (ambit__kernel_is_complete(k) && !onto && !ambit__arguments_fold(k->rule, nargs, args))
    return apply_plain(p, &cells, k, NULL, args);
  AMBIT_TRY(ambit__kernel_bind(k, args, r->normal, cells.box.ndims, onto, others, &bound));
  s = ambit__kernel_fold(bound, others);
  if (!s) s = apply_plain(p, &cells, k, bound, others);
  if (s) ambit__kernel_free(bound);
  return s;
}

ambit_status ambit_apply_args(ambit_program *p, const ambit_kernel *k, int nargs,
                              const ambit_arg *args)
{
  if (ambit__program_failed(p)) return ambit__program_status(p);
  return apply(p, &(region){.box = p->grid->box}, k, nargs, args);
}

ambit_status ambit__program_box(const ambit_program *p, const ambit_grid *g, const char *what,
                                const int64_t *lo, const int64_t *hi, ambit__box *box)
{
  char asked[160], have[160];

  *box = g->box;
  for (int d = 0; d < box->ndims; d++) {
    if (lo) box->lo[d] = lo[d];
    if (hi) box->hi[d] = hi[d];
  }
  ambit__box_print(box, asked, sizeof asked);
  ambit__box_print(&g->box, have, sizeof have);
  AMBIT_CHECK(!ambit__box_is_empty(box) && ambit__box_contains(&g->box, box),
              ambit__program_errors(p), AMBIT_EINVAL,
              "%s the box %s; it must be within the grid %s and not empty", what, asked, have);
  return AMBIT_OK;
}

ambit_status ambit_apply_box_args(ambit_program *p, const int64_t *lo, const int64_t *hi,
                                  const ambit_kernel *k, int nargs, const ambit_arg *args)
{
  region r = {.normal = NULL};

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_TRY(ambit__program_box(p, p->grid, applied_to, lo, hi, &r.box));
  return apply(p, &r, k, nargs, args);
}

ambit_status ambit_sweep_args(ambit_program *p, unsigned from, const int64_t *lo, const int64_t *hi,
                              const ambit_kernel *k, int nargs, const ambit_arg *args)
{
  region r = {.normal = NULL};
  char asked[120];

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_TRY(ambit__program_box(p, p->grid, applied_to, lo, hi, &r.box));
  ambit__faces_print(from, asked, sizeof asked);
  for (int d = 0; d < p->grid->box.ndims; d++) {
    if (from == AMBIT_LOW(d)) r.sweep = d + 1;
    if (from == AMBIT_HIGH(d)) r.sweep = -(d + 1);
  }
  AMBIT_CHECK(r.sweep, ambit__program_errors(p), AMBIT_EINVAL,
              "a sweep begins at %s; give one face of the grid, which has %d axes: "
              "AMBIT_LOW(0), AMBIT_HIGH(0), ...",
              asked, p->grid->box.ndims);
  return apply(p, &r, k, nargs, args);
}

ambit_status ambit_apply_faces_args(ambit_program *p, unsigned faces, const ambit_kernel *k,
                                    int nargs, const ambit_arg *args)
{
  ambit__box rest; /* cells at none of the faces so far: each cell is updated once */
  char asked[120];
  size_t first;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  ambit__faces_print(faces, asked, sizeof asked);
  rest = p->grid->box;
  first = p->nwritten;
  AMBIT_CHECK(faces && ambit__faces_fit(faces, p->grid->box.ndims), ambit__program_errors(p),
              AMBIT_EINVAL,
              "a kernel was applied to %s; give faces of the grid, which has %d axes: "
              "AMBIT_LOW(0), AMBIT_ALL_FACES, ...",
              asked, p->grid->box.ndims);
  for (int d = 0; d < p->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++) {
      int normal[AMBIT_MAX_DIMS] = {0};
      const region layer = {.box = ambit__box_layer(&rest, d, side), .normal = normal};

      if (!(faces & AMBIT_FACE(d, side)) || ambit__box_is_empty(&layer.box)) continue;
      normal[d] = side ? 1 : -1;
      AMBIT_TRY(apply(p, &layer, k, nargs, args));
      if (p->written[p->nwritten - 1].dropped >> d & 1) /* one layer is all cells of profiles */
        rest.hi[d] = rest.lo[d];
      else if (side == 0)
        rest.lo[d]++;
      else
        rest.hi[d]--;
    }
  p->last = first;
  return AMBIT_OK;
}
