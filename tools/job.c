/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - a problem ready to run: fields, initial values, and a program.
 */
#include "problem.h"

/* One argument per parameter; creates the scalars of reductions. */
static void bind_arguments(ambit *a, const tool_problem *p, tool_job *job, ambit_arg *args)
{
  for (int i = 0; i < p->nparams; i++) {
    const ambit_param_info *q = &p->params[i];

    if (q->kind == AMBIT_PARAM_FIELD) {
      args[i] = ambit_arg_field(i == p->in ? job->in : job->out);
    } else if (q->kind == AMBIT_PARAM_VALUE) {
      args[i] = ambit_arg_number(tool_find_setting(p, q->name)->value);
    } else {
      job->scalars[i] = ambit_scalar_create(a, q->name, q->type);
      args[i] = ambit_arg_scalar(job->scalars[i]);
    }
  }
}

ambit_status tool_job_open(ambit *a, const tool_problem *p, ambit_kernel *kernel, tool_job *job)
{
  const ambit_param_info *in = &p->params[p->in], *out = &p->params[p->out];
  ambit_arg args[AMBIT_MAX_PARAMS];

  *job = (tool_job){.grid = ambit_grid_create(a, p->size.ndims, p->size.extents)};
  job->in = job->out =
      ambit_field_create_vector(job->grid, in->name, in->type, in->components, AMBIT_SOA);
  if (p->in != p->out)
    job->out =
        ambit_field_create_vector(job->grid, out->name, out->type, out->components, AMBIT_SOA);
  for (int d = 0; d < p->size.ndims; d++)
    ambit_field_boundary(job->in, AMBIT_AXIS(d), p->boundaries.kind[d], p->boundaries.value[d]);
  bind_arguments(a, p, job, args);
  job->program = ambit_program_create(job->grid);
  ambit_apply_args(job->program, kernel, p->nparams, args);
  if (job->in != job->out) ambit_swap(job->program, job->in, job->out);
  return ambit_error(a);
}

/* The finaliser of splitmix64: every bit of x affects every bit of the result. */
static uint64_t mix(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static uint64_t hash_cell(const int64_t *index, int component, int ndims)
{
  const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t h = 0;

  for (int d = 0; d < ndims; d++)
    h = mix(h + golden + (uint64_t)index[d]);
  return mix(h + golden + (uint64_t)component);
}

double tool_start_real(const int64_t *index, int component, void *ndims)
{
  return (double)(hash_cell(index, component, *(const int *)ndims) >> 40) / (double)(1 << 24);
}

double tool_start_integer(const int64_t *index, int component, void *ndims)
{
  return (double)(hash_cell(index, component, *(const int *)ndims) >> 63);
}

ambit_status tool_job_start(tool_job *job)
{
  int ndims = ambit_grid_ndims(job->grid);

  return ambit_field_fill_parallel(
      job->in,
      ambit__type_is_real(ambit_field_type(job->in)) ? tool_start_real : tool_start_integer,
      &ndims);
}
