/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - `ambit run`: runs a stencil on a grid without a C program.
 *
 * Results go to the files of --output, the values of reductions to stdout, and a one-line summary
 * to stderr.
 */
#include "runtime/run/run.h"
#include "base/number.h"
#include "base/text.h"
#include "io/npy.h"
#include "io/save.h"
#include "outputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 10, STEPS_UNTIL = 100000 };

/* Cell updates from which on a run shows its progress: about a second. */
#define LONG_COMPILED    2e9
#define LONG_INTERPRETED 2e7

typedef struct order {
  tool_problem problem;
  int64_t steps, check;
  bool has_steps;
  const char *input; /* NULL: the built-in initial values */
  const char *mask;  /* NULL: the grid is dense */
  double origin[AMBIT_MAX_DIMS + 1], spacing[AMBIT_MAX_DIMS + 1]; /* of the input; 0: unknown */
  tool_spool spool; /* of an input that can be read only once */
  tool_outputs outputs;
  tool_until until;
  bool report, quiet;
} order;

/* ---- the command line ---- */

enum { STEPS_ID = 1, CHECK, INPUT, MASK, UNTIL, REPORT, TRACE, VIEW, QUIET };

static const tool_option options[] = {
    TOOL_OPTION_SIZE,
    TOOL_OPTION_TYPE,
    {STEPS_ID, 'n', "steps", "N", "iterations (default: 10; at most 100000 with --until)"},
    TOOL_OPTION_BOUNDARY,
    {INPUT, 'i', "input", "FILE",
     "initial values, which also give size and type: .npy, .h5, .vtkhdf"},
    {MASK, 0, "mask", "FILE",
     "a sparse grid: an .npy array or a .png picture that is not 0\n"
     "in the active cells; sets the size; other cells are read as 0"},
    TOOL_OPTIONS_OUTPUT,
    TOOL_OPTION_SET,
    {UNTIL, 0, "until", "COND",
     "stop when a reduction of the kernel meets a condition:\n'change<1e-5', 'alive>100', "
     "'alive=0'"},
    {CHECK, 0, "check", "N", "test the condition every N iterations (default: 1)"},
    TOOL_OPTION_DEVICE,
    TOOL_OPTION_STRICT,
    TOOL_OPTION_THREADS,
    {REPORT, 0, "report", NULL, "print speed, bandwidth and plan when done"},
    {TRACE, 0, "trace", "FILE.json", "write a timeline for chrome://tracing or Perfetto"},
    {VIEW, 0, "view", "[=WORDS]",
     "show the run while it runs, in the terminal; or as the\nwords say: http, u:norm, z=40, "
     "paused, ... (docs/view.md)"},
    {QUIET, 'q', "quiet", NULL, "no progress line and no summary"},
    {0},
};

static int take_input(const tool_args *args, const char *path, order *o)
{
  o->input = path;
  if (!ambit__ends_in(path, ".png")) return TOOL_OK;
  return tool_wrong(args,
                    "%s is '%s'; initial values are an array, FILE.npy, .h5 or .vtkhdf. `ambit "
                    "stream` applies a stencil to a picture",
                    args->option, path);
}

static int take(ambit *a, const tool_args *args, int id, const char *value, order *o)
{
  switch (id) {
  case TOOL_WORD: return tool_problem_word(args, value, &o->problem);
  case STEPS_ID: o->has_steps = true; return tool_read_count(args, value, 0, INT64_MAX, &o->steps);
  case CHECK: return tool_read_count(args, value, 1, INT64_MAX, &o->check);
  case INPUT: return take_input(args, value, o);
  case MASK: o->mask = value; return TOOL_OK;
  case UNTIL: return tool_read_until(args, value, &o->until);
  case REPORT: o->report = true; return TOOL_OK;
  case TRACE: return ambit_option_set(a, "trace", value) ? TOOL_USAGE : TOOL_OK;
  case VIEW: return ambit_option_set(a, "view", value ? value : "1") ? TOOL_USAGE : TOOL_OK;
  case QUIET: o->quiet = true; return TOOL_OK;
  default:
    return tool_is_output_option(id) ? tool_outputs_option(args, id, value, &o->outputs)
                                     : tool_problem_option(a, args, id, value, &o->problem);
  }
}

/* ---- input ---- */

/* Where the values of the input are. */
static const char *input_path(const order *o)
{
  return o->spool.copy ? o->spool.copy : o->input;
}

static ambit_status read_header(ambit *a, order *o, ambit_file_info *info)
{
  ambit__npy_info npy;

  *info = (ambit_file_info){0};
  if (ambit__ends_in(o->input, ".vtkhdf") || ambit__ends_in(o->input, ".h5")) {
    AMBIT_TRY(ambit__hdf5_inspect(a, o->input, info, o->origin));
    memcpy(o->spacing, info->spacing, sizeof o->spacing);
    return AMBIT_OK;
  }
  if (tool_spool_open(a, o->input, &o->spool)) return ambit_error(a);
  AMBIT_TRY(ambit__npy_read_header(&a->errors, input_path(o), &npy));
  info->type = npy.type;
  info->ndims = npy.ndims;
  memcpy(info->extents, npy.shape, sizeof info->extents);
  return AMBIT_OK;
}

/* Without --type, a stencil made from weights has the type of the file. */
static void take_input_type(order *o, const ambit_file_info *info)
{
  if (o->problem.is_typed || !o->problem.what || tool_is_kernel_file(o->problem.what)) return;
  o->problem.is_typed = true;
  o->problem.type = info->type;
}

/* The shape of the file, without the axis of components. */
static int input_size(const tool_args *args, const order *o, const ambit_file_info *info,
                      tool_size *size)
{
  int components = o->problem.params[o->problem.in].components;
  bool has_all;

  size->ndims = info->ndims - (components > 1);
  has_all = size->ndims >= 1 && (components == 1 || info->extents[size->ndims] == components);
  if (!has_all || size->ndims > AMBIT_MAX_DIMS)
    return tool_wrong(
        args, "the array in %s has %d dimensions; it must have one for each axis of the grid%s",
        o->input, info->ndims,
        components > 1 ? ", and a last one for the components of a cell" : "");
  for (int d = 0; d < size->ndims; d++) {
    size->extents[d] = info->extents[d];
    if (!info->extents[d]) return tool_wrong(args, "the array in %s is empty", o->input);
  }
  return TOOL_OK;
}

/* Size and type of the file must match the options. */
static int check_input(const tool_args *args, order *o, const ambit_file_info *info)
{
  tool_problem *p = &o->problem;
  char asked[TOOL_SIZE_CHARS], have[TOOL_SIZE_CHARS];
  tool_size size;

  if (input_size(args, o, info, &size)) return TOOL_USAGE;
  tool_print_size(&p->size, asked);
  tool_print_size(&size, have);
  if (p->size.ndims && strcmp(asked, have))
    return tool_wrong(args, "%s %s, but the array in %s is %s%s",
                      o->mask ? "the mask has" : "--size is", asked, o->input, have,
                      o->mask ? "" : "; leave --size out");
  if (info->type != p->type)
    return tool_wrong(args,
                      "%s holds values of type %s, but the fields are %s; convert them in NumPy: "
                      "array.astype(...)",
                      o->input, ambit_type_name(info->type), ambit_type_name(p->type));
  p->size = size;
  return TOOL_OK;
}

/* ---- running ---- */

static void show_progress(ambit *a, const order *o)
{
  double cells = (double)o->steps;
  bool interpreted = !strncmp(ambit_option_get(a, "devices"), "ref", 3);

  for (int d = 0; d < o->problem.size.ndims; d++)
    cells *= (double)o->problem.size.extents[d];
  if (!o->quiet && isatty(STDERR_FILENO) &&
      cells > (interpreted ? LONG_INTERPRETED : LONG_COMPILED))
    ambit_option_set(a, "progress", "1");
}

static ambit_status iterate(const order *o, int until, tool_job *job)
{
  if (!o->until.name[0]) return ambit_run(job->program, o->steps);
  AMBIT_TRY(ambit_program_check_every(job->program, o->check));
  return ambit_run_until(job->program, job->scalars[until], o->until.when, o->until.value,
                         o->steps);
}

static void print_value(const char *name, ambit_type type, double x)
{
  char text[AMBIT__NUMBER_CHARS];

  if (!ambit__type_is_real(type) || !isfinite(x))
    snprintf(text, sizeof text, "%.0f", x);
  else if (type == AMBIT_F32)
    ambit__number_print_float(text, (float)x);
  else
    ambit__number_print_double(text, x);
  printf("%s = %s\n", name, text);
}

static bool keeps_all(const tool_problem *p)
{
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];

  tool_problem_region(p, lo, hi);
  for (int d = 0; d < p->size.ndims; d++)
    if (lo[d] == hi[d]) return true;
  return false;
}

/* The values of reductions, to stdout; length and speed of the run, to stderr. */
static void summarise(ambit *a, const order *o, const tool_job *job)
{
  const tool_problem *p = &o->problem;
  char size[TOOL_SIZE_CHARS];
  const ambit_stats *s;

  if (ambit_program_iterations(job->program))
    for (int i = 0; i < p->nparams; i++)
      if (job->scalars[i])
        print_value(p->params[i].name, p->params[i].type, ambit_scalar_get(job->scalars[i]));
  if (o->quiet || !(s = ambit_program_stats(job->program, 0))) return;
  tool_print_size(&o->problem.size, size);
  fprintf(tool_notes, "%s %s %s on %s: %" PRId64 " iteration%s in %.3g s, %.3f Gcells/s\n",
          o->problem.what, size, ambit_type_name(o->problem.type), ambit_option_get(a, "devices"),
          s->iterations, s->iterations == 1 ? "" : "s", s->seconds,
          s->seconds > 0 ? s->cells / s->seconds / 1e9 : 0);
  if (keeps_all(&o->problem))
    fprintf(tool_notes, "ambit run: no cell is updated: with fixed faces a grid this small has no "
                        "cells to update; use another --size or --boundary\n");
}

static int tell_not_met(const order *o, const tool_job *job, int until)
{
  fprintf(tool_notes, "ambit run: after %" PRId64 " iterations %s is %g: not %s\n",
          ambit_program_iterations(job->program), o->until.name,
          ambit_scalar_get(job->scalars[until]), o->until.text);
  return TOOL_FAILED;
}

/* Runs the job, and writes its outputs, while it runs or afterwards. */
static ambit_status work(ambit *a, order *o, int until, tool_job *job)
{
  if (o->spacing[0] > 0) ambit_grid_geometry(job->grid, o->origin, o->spacing);
  AMBIT_TRY(o->input ? ambit_field_load(job->in, input_path(o)) : tool_job_start(job));
  if (!tool_outputs_begin(a, &o->outputs, job)) iterate(o, until, job);
  return tool_outputs_end(a, &o->outputs, job);
}

static int execute(ambit *a, const tool_args *args, order *o)
{
  tool_job job;
  int until = -1;

  if (o->until.name[0] && (until = tool_problem_reduction(args, &o->problem, o->until.name)) < 0)
    return TOOL_USAGE;
  show_progress(a, o);
  if (tool_job_open(a, &o->problem, o->problem.kernel, &job)) return TOOL_FAILED;
  if (work(a, o, until, &job)) return TOOL_FAILED;
  summarise(a, o, &job);
  if (o->report && ambit_program_report(job.program)) return TOOL_FAILED;
  if (until >= 0 && !ambit_program_converged(job.program)) return tell_not_met(o, &job, until);
  return ambit_error(a) ? TOOL_FAILED : TOOL_OK;
}

/* Checks everything before memory is allocated. */
static int prepare(ambit *a, const tool_args *args, order *o)
{
  ambit_file_info info;
  int code;

  if (o->until.name[0] && !o->has_steps) o->steps = STEPS_UNTIL;
  if (o->input && read_header(a, o, &info)) return TOOL_FAILED;
  if (o->input) take_input_type(o, &info);
  if ((code = tool_problem_load(a, args, &o->problem))) return code;
  if ((code = tool_problem_bind(args, &o->problem))) return code;
  if (o->mask && (code = tool_problem_mask(a, args, o->mask, &o->problem))) return code;
  if (o->input && (code = check_input(args, o, &info))) return code;
  if ((code = tool_problem_shape(args, &o->problem))) return code;
  return tool_outputs_try(a, args, &o->outputs, &o->problem);
}

static int run(ambit *a, tool_args *args)
{
  order o = {.steps = STEPS, .check = 1};
  const char *value;
  int id, code;

  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_run);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    if ((code = take(a, args, id, value, &o))) return code;
  }
  code = prepare(a, args, &o);
  if (!code) code = execute(a, args, &o);
  if (code && o.spool.copy)
    fprintf(tool_notes, "ambit run: %s was a copy of %s\n", o.spool.copy, o.input);
  tool_spool_close(&o.spool);
  return code;
}

const tool_command tool_run = {
    .name = "run",
    .words = "NAME|FILE.c|FILE.weights [options]",
    .summary = "Runs iterations of a stencil on a grid.",
    .options = options,
    .notes =
        "NAME is a stencil of the catalogue: 2d4, 3d27, star2d1, box3d2s ... (docs/catalogue.md).\n"
        "FILE.c contains a kernel (docs/language.md) with one field that is read and one that is\n"
        "written, swapped after every iteration, or with a single field. Any other file contains\n"
        "weights.\n\n" TOOL_SIZE_NOTE "\nThe initial values are the same on every machine: a hash "
        "of each cell's index, in [0,1),\n"
        "or 0 and 1 for integers (docs/tool.md has the formula). With the boundary `fixed`, cells "
        "whose\n"
        "neighbourhood leaves the grid keep their initial value. The final values of the kernel's\n"
        "reductions are printed as `name = value`.\n"
        "\nexamples:\n"
        "  ambit run star2d1 --size 64x64 --steps 10 --output out.npy\n"
        "  ambit run 3d27 --size 128^3 --type double --boundary periodic --report\n"
        "  ambit run heat.c --set k=0.2 --input start.npy --output heat.png --output heat.npy\n"
        "  ambit run jacobi.c --until 'change<1e-6' --check 50 --steps 20000\n"
        "  ambit run life.c --size 512x512 --boundary periodic,fixed --steps 200 -o life.png\n"
        "  ambit run 3d27 --steps 1000 --every 100 -o out_%06d.vtkhdf\n"
        "  ambit run life.c --steps 500 --every 2 -o life.mp4 --colours viridis --range 0:1\n",
    .run = run,
};
