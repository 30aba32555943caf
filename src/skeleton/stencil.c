/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil.c - ambit_stencil, the one-call interface: sizes, a stencil, iterations, input and
 * output. */
#include "runtime/run/run.h"

/* The kernel must have the form (const T *u, T *v). */
static ambit_status check_kernel(ambit *a, const ambit_kernel *k)
{
  const ambit__rule *r = k->rule;
  bool fits = r->nparams == 2 && r->params[0].kind == PARAM_FIELD && !r->params[0].is_written &&
              r->params[1].kind == PARAM_FIELD && r->params[1].is_written &&
              r->params[0].type == r->params[1].type && !r->params[0].is_vector &&
              !r->params[1].is_vector;

  AMBIT_CHECK(fits, &a->errors, AMBIT_EINVAL,
              "ambit_stencil: kernel %s must have two parameters, the field it reads and the field "
              "of the same type it writes: void %s(const float *u, float *v)",
              r->name, r->name);
  return AMBIT_OK;
}

static ambit_status run(ambit_grid *g, const ambit_kernel *k, int64_t iterations,
                        ambit_fill_fn init, ambit_output_fn output, void *user)
{
  ambit *a = g->context;
  ambit_type type = k->rule->params[0].type;
  ambit_field *u = ambit_field_create(g, "u", type), *v = ambit_field_create(g, "v", type);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  if (init)
    ambit_field_fill(u, init, user);
  else
    ambit_field_fill_value(u, 0);
  ambit_apply(p, k, u, v);
  ambit_swap(p, u, v);
  ambit_run(p, iterations);
  AMBIT_TRY(a->errors.status);
  return output ? output(u, user) : AMBIT_OK;
}

ambit_status ambit_stencil(ambit *a, int ndims, const int64_t *sizes, const ambit_weights *weights,
                           int64_t iterations, const ambit_kernel *kernel, ambit_fill_fn init,
                           ambit_output_fn output, void *user)
{
  ambit_kernel *made = NULL;
  ambit_grid *g;
  ambit_status s;

  if (ambit__failed(a)) return a ? a->errors.status : AMBIT_EINVAL;
  AMBIT_CHECK(weights || kernel, &a->errors, AMBIT_EINVAL,
              "ambit_stencil: weights and kernel are both NULL; give one of them");
  if (!kernel) kernel = made = ambit_kernel_from_weights(a, "stencil", AMBIT_F32, weights);
  if (!kernel) return a->errors.status;
  AMBIT_TRY(check_kernel(a, kernel));
  g = ambit_grid_create(a, ndims, sizes);
  s = g ? run(g, kernel, iterations, init, output, user) : a->errors.status;
  ambit_grid_destroy(g);
  ambit_kernel_destroy(made);
  return s;
}
