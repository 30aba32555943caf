/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - a problem ready to run: fields, initial values, and a program.
 */
#include "problem.h"

#include "runtime/run/run.h"

#include <math.h>

ambit *tool_open_like(const ambit *like, const char *device)
{
  static const char *const others[][2] = {{"lanes", ""},     {"partition", "auto"}, {"plan", ""},
                                          {"progress", "0"}, {"report", "0"},       {"trace", ""},
                                          {"weights", ""}};
  char name[] = "ambit", off[] = "--ambit-mpi=off", *words[] = {name, off, NULL}, **argv = words;
  int argc = device ? 2 : 1;
  ambit *a;

  words[argc] = NULL;
  a = ambit_open(&argc, &argv);
  if (!a) return NULL;
  ambit__options_adopt(a, like);
  if (device) ambit_option_set(a, "devices", device);
  for (size_t i = 0; device && i < sizeof others / sizeof *others; i++)
    ambit_option_set(a, others[i][0], others[i][1]);
  return a;
}

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

/* Bytes of the host that are free for a part; 0: it lives elsewhere. */
static size_t free_for_part(const ambit_grid *g, int part)
{
  const ambit__engine *e = ambit__engine_of(g, part);
  ambit__device_info info = {0};

  e->device->backend->info(e->device, &info);
  return info.free;
}

/* Bytes that the parts of this process need at least in the host's memory, and those that are free
 * there. */
static double host_bytes(const tool_problem *p, const ambit_grid *g, size_t *left)
{
  const ambit__param *in = &p->rule->params[p->in], *out = &p->rule->params[p->out];
  double cell = (double)ambit_type_size(in->type) * in->components, cells = 0;

  if (p->in != p->out) cell += (double)ambit_type_size(out->type) * out->components;
  *left = 0;
  for (int i = 0; i < g->placement.n; i++) {
    const size_t here = free_for_part(g, i);

    if (here) *left = here;
    if (here) cells += (double)ambit__box_volume(&g->parts[g->first + i]);
  }
  return cell * cells;
}

/* All fields together, before one of them is made: touching the memory of the first may take a
 * minute. Processes of one machine look before any of them has begun. */
static ambit_status check_memory(ambit *a, const tool_problem *p, const ambit_grid *g)
{
  const double gib = 1024.0 * 1024.0 * 1024.0;
  char size[TOOL_SIZE_CHARS];
  size_t left;
  const double need = host_bytes(p, g, &left) * a->net->local_size;

  tool_print_size(&p->size, size);
  if (need > (double)left)
    ambit__raise(&a->errors, AMBIT_ENOMEM,
                 "a grid of %s cells needs %.2f GiB here, and the memory that is free is %.2f GiB; "
                 "each side may be at most %.2f times as long",
                 size, need / gib, (double)left / gib,
                 pow((double)left / need, 1.0 / p->size.ndims));
  return ambit__meet(a, "it has looked for memory");
}

ambit_status tool_job_open(ambit *a, const tool_problem *p, ambit_kernel *kernel, tool_job *job)
{
  const ambit_param_info *in = &p->params[p->in], *out = &p->params[p->out];
  ambit_arg args[AMBIT_MAX_PARAMS];

  *job = (tool_job){.grid = p->sparse};
  if (!p->sparse) job->grid = ambit_grid_create(a, p->size.ndims, p->size.extents);
  if (!job->grid) return ambit_error(a);
  if (!p->sparse) AMBIT_TRY(check_memory(a, p, job->grid));
  job->in = job->out =
      ambit_field_create_vector(job->grid, in->name, in->type, in->components, AMBIT_SOA);
  if (p->in != p->out)
    job->out =
        ambit_field_create_vector(job->grid, out->name, out->type, out->components, AMBIT_SOA);
  for (int d = 0; d < p->size.ndims; d++)
    for (int side = 0; side < 2; side++)
      ambit_field_boundary(job->in, AMBIT_FACE(d, side), p->boundaries.kind[d][side],
                           p->boundaries.value[d][side]);
  if (p->sparse) ambit_field_boundary(job->in, AMBIT_INACTIVE, AMBIT_CONSTANT, 0);
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
