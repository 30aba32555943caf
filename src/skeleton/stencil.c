/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil.c - ambit_stencil, the one-call interface: sizes, a stencil, iterations, input and
 * output. */
#include "runtime/run/run.h"

/* The kernel must be (const T *u, T *v); finds T. */
static ambit_status check_kernel(ambit *a, const ambit_kernel *k, ambit_type *type)
{
  const bool two = ambit_kernel_params(k) == 2;
  const ambit_param_info *u = two ? ambit_kernel_param(k, 0) : NULL;
  const ambit_param_info *v = two ? ambit_kernel_param(k, 1) : NULL;
  const bool fits = u && v && u->kind == AMBIT_PARAM_FIELD && !u->is_written && !u->is_vector &&
                    v->kind == AMBIT_PARAM_FIELD && v->is_written && !v->is_vector &&
                    u->type == v->type;

  AMBIT_CHECK(fits, &a->errors, AMBIT_EINVAL,
              "ambit_stencil: kernel %s must have two parameters, the field it reads and the field "
              "of the same type it writes: void %s(const float *u, float *v)",
              ambit_kernel_name(k), ambit_kernel_name(k));
  *type = u->type;
  return AMBIT_OK;
}

static ambit_status show(ambit_field *result, ambit_output_fn output, void *user)
{
  ambit_status s;

  result->is_held = true;
  s = output(result, user);
  result->is_held = false;
  return s;
}

static ambit_status run(ambit *a, ambit_grid *g, const ambit_kernel *k, ambit_type type,
                        const ambit_problem *problem)
{
  ambit_field *u = ambit_field_create(g, "u", type), *v = ambit_field_create(g, "v", type);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  if (problem->init)
    ambit_field_fill(u, problem->init, problem->user);
  else
    ambit_field_set(u, 0);
  ambit_apply(p, k, u, v);
  ambit_swap(p, u, v);
  ambit_run(p, problem->iterations);
  AMBIT_TRY(ambit_error(a));
  return problem->output ? show(u, problem->output, problem->user) : AMBIT_OK;
}

ambit_status ambit_stencil(ambit *a, const ambit_problem *problem)
{
  const ambit_kernel *kernel;
  ambit_kernel *made = NULL;
  ambit_grid *g;
  ambit_type type = AMBIT_F32;
  ambit_status s;

  if (ambit__failed(a)) return a ? a->errors.status : AMBIT_EINVAL;
  AMBIT_CHECK(problem && !problem->weights != !problem->kernel, &a->errors, AMBIT_EINVAL,
              "ambit_stencil: the rule is either weights or a kernel; give one of them");
  kernel = problem->kernel;
  if (!kernel)
    kernel = made = ambit_kernel_create_weighted(a, "stencil", AMBIT_F32, problem->weights);
  if (!kernel) return a->errors.status;
  AMBIT_TRY(check_kernel(a, kernel, &type));
  g = ambit_grid_create(a, problem->ndims, problem->extents);
  s = g ? run(a, g, kernel, type, problem) : ambit_error(a);
  ambit_grid_destroy(g);
  ambit_kernel_destroy(made);
  return s;
}
