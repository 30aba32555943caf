/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.c - `ambit explain`: the footprint, cost, memory and plan of a stencil.
 */
#include "explain.h"
#include "device/cpu/pool.h"
#include "device/cpu/target.h"
#include "device/dry.h"
#include "device/measure.h"
#include "generate.h"
#include "grid/layout.h"
#include "grid/partition.h"
#include "runtime/run/balance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE = 1, PARTS, PROCESSES, PROCESS, PARTITION, WEIGHTS, OVERLAP, GRAPH, MASK };

enum {
  MOST_PROCESSES = 100000,
  MOST_DRAWN = 17, /* maximum cells of a drawn footprint along an axis */
  MOST_OFFSETS = 125
};

static const tool_option options[] = {
    TOOL_OPTION_SIZE,
    TOOL_OPTION_TYPE,
    TOOL_OPTION_BOUNDARY,
    TOOL_OPTION_STRICT,
    TOOL_OPTION_THREADS,
    {SOURCE, 0, "source", NULL, "print the generated C code instead"},
    {OPT_DEVICE, 0, "device", "LIST",
     "devices of a process, which need not be present: cpu*4,\n"
     "cuda:0,cuda:1 (default: the fastest)"},
    {PARTS, 0, "parts", "N", "the same as --device cpu*N"},
    {PROCESSES, 0, "processes", "N", "number of processes to simulate (default: 1)"},
    {PROCESS, 0, "process", "R", "the process to show (default: 0)"},
    {PARTITION, 0, "partition", "CUTS", "partition of the grid: auto, 4, 2x2 (default: auto)"},
    {WEIGHTS, 0, "weights", "LIST", "relative sizes of the parts: 1,0.5,2"},
    {OVERLAP, 0, "overlap", "KIND", "none, standard, extended or two-way (the default)"},
    {MASK, 0, "mask", "FILE",
     "an .npy array or a .png picture that is not 0 in the active cells\n"
     "of a sparse grid: compares the memory it takes; sets the size"},
    {GRAPH, 0, "graph", "FILE.dot",
     "write the dependencies within an iteration as a graph\n"
     "for Graphviz instead; - is standard output"},
    {0},
};

/* ---- the footprint ---- */

static bool is_read(const ambit_param_info *q, const int *offset)
{
  for (int i = 0; i < q->noffsets; i++)
    if (!memcmp(q->offsets[i].axis, offset, sizeof q->offsets[i].axis)) return true;
  return false;
}

/* One line of the drawing, along the last axis. */
static void draw_row(const ambit_param_info *q, int *offset, int last)
{
  printf("     ");
  for (offset[last] = -q->low[last]; offset[last] <= q->high[last]; offset[last]++) {
    bool here = true;

    for (int d = 0; d <= last; d++)
      here = here && offset[d] == 0;
    printf(" %s", is_read(q, offset) ? (here ? "O" : "o") : here ? "x" : ".");
  }
  printf("\n");
}

/* One plane: the last two axes. */
static void draw_plane(const ambit_param_info *q, int *offset, int ndims)
{
  const int rows = ndims - 2;

  if (ndims == 1) {
    draw_row(q, offset, 0);
    return;
  }
  for (offset[rows] = -q->low[rows]; offset[rows] <= q->high[rows]; offset[rows]++)
    draw_row(q, offset, ndims - 1);
}

/* Draws footprints of up to three axes, if small: O is the cell itself, o a neighbour that is
 * read. */
static void draw(const ambit_param_info *q, int ndims)
{
  int offset[AMBIT_MAX_DIMS] = {0};

  for (int d = 0; d < ndims; d++)
    if (q->low[d] + q->high[d] + 1 > MOST_DRAWN) return;
  if (ndims < 1 || ndims > 3) return;
  printf("\n");
  if (ndims < 3) draw_plane(q, offset, ndims);
  for (int z = -q->low[0]; ndims == 3 && z <= q->high[0]; z++) {
    printf("      at %d along axis 0:\n", z);
    offset[0] = z;
    draw_plane(q, offset, ndims);
  }
  printf("\n");
}

static void print_offsets(const ambit_param_info *q, int ndims)
{
  const int shown = q->noffsets < MOST_OFFSETS ? q->noffsets : MOST_OFFSETS;
  int column = printf("    offsets");

  for (int i = 0; i < shown; i++) {
    if (column > 80) column = printf("\n%11s", "") - 1;
    column += printf(" ");
    if (q->is_vector) column += printf("%d:", q->offsets[i].component);
    for (int d = 0; d < ndims; d++)
      column += printf("%s%d", d ? "," : "(", q->offsets[i].axis[d]);
    column += printf(")");
  }
  printf("%s\n", shown < q->noffsets ? " ..." : "");
}

static void print_field(int ndims, const ambit_param_info *q)
{
  printf("  %s: %s", q->name, ambit_type_name(q->type));
  if (q->is_vector) printf(", %d components", q->components);
  if (q->noffsets) printf(", read at %d cell%s", q->noffsets, q->noffsets == 1 ? "" : "s");
  printf("%s\n", q->is_written ? ", written" : "");
  if (!q->noffsets || !ndims) return;
  printf("    radius ");
  for (int d = 0; d < ndims; d++)
    printf(" axis %d: %d low, %d high%s", d, q->low[d], q->high[d], d + 1 < ndims ? ";" : "\n");
  print_offsets(q, ndims);
  if (q->reads_neighbours) draw(q, ndims);
}

static void print_footprint(const tool_problem *p)
{
  static const char *const reductions[] = {
      [AMBIT_SUM] = "sum", [AMBIT_MIN] = "min", [AMBIT_MAX] = "max", [AMBIT_FOLD] = "fold"};

  printf("footprint\n");
  for (int i = 0; i < p->nparams; i++) {
    const ambit_param_info *q = &p->params[i];

    if (q->kind == AMBIT_PARAM_FIELD) print_field(p->ndims, q);
    if (q->kind == AMBIT_PARAM_VALUE)
      printf("  %s: %s, a plain parameter\n", q->name, ambit_type_name(q->type));
    if (q->kind == AMBIT_PARAM_REDUCTION)
      printf("  %s: %s, the %s over all cells\n", q->name, ambit_type_name(q->type),
             reductions[q->reduction]);
  }
}

/* ---- cost ---- */

static void print_cost(const ambit_kernel *k)
{
  const double flops = ambit_kernel_flops(k), bytes = ambit_kernel_bytes(k);

  printf("cost per cell\n");
  printf("  %g floating-point operation%s, %g bytes moved at least", flops, flops == 1 ? "" : "s",
         bytes);
  if (bytes > 0) printf(": %.3g operations per byte", flops / bytes);
  printf("\n");
}

/* Bytes of a field, including the margins that its boundaries need. */
static size_t field_bytes(const tool_problem *p, const ambit_param_info *q)
{
  ambit__layout l = {.type = q->type, .components = q->components};

  l.own = ambit__box_of_extents(p->size.ndims, p->size.extents);
  for (int d = 0; d < p->size.ndims; d++) {
    const ambit_boundary *kind = p->boundaries.kind[d];

    l.margin_lo[d] = kind[0] != AMBIT_FIXED && q->low[d] > 2 ? q->low[d] : 2;
    l.margin_hi[d] = kind[1] != AMBIT_FIXED && q->high[d] > 2 ? q->high[d] : 2;
  }
  return ambit__layout_make(&l) ? l.bytes : 0;
}

static void print_memory(const tool_problem *p, bool has_mask)
{
  char size[TOOL_SIZE_CHARS], updated[TOOL_SIZE_CHARS];
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];
  tool_size region = {.ndims = p->size.ndims};
  double bytes = 0;
  int fields = 0;

  tool_problem_region(p, lo, hi);
  for (int d = 0; d < p->size.ndims; d++)
    region.extents[d] = hi[d] - lo[d];
  for (int i = 0; i < p->nparams; i++) {
    if (p->params[i].kind != AMBIT_PARAM_FIELD) continue;
    bytes += (double)field_bytes(p, &p->params[i]);
    fields++;
  }
  tool_print_size(&p->size, size);
  tool_print_size(&region, updated);
  printf("grid %s%s\n", size, has_mask ? ", if it were dense" : "");
  printf("  memory %.4g MiB for %d field%s\n", bytes / (1 << 20), fields, fields == 1 ? "" : "s");
  printf("  %s cells are updated in each iteration (boundary ", updated);
  for (int d = 0; d < p->size.ndims; d++) {
    const ambit_boundary *kind = p->boundaries.kind[d];

    printf("%s%s", d ? "," : "", ambit__boundary_name(kind[0]));
    if (kind[1] != kind[0]) printf("/%s", ambit__boundary_name(kind[1]));
  }
  printf(")\n");
}

/* ---- plan and text ---- */

static void print_warnings(const tool_problem *p)
{
  unsigned axes;

  for (int i = 0; i < p->nparams; i++)
    if (p->params[i].is_written && p->params[i].reads_neighbours && !p->rule->params[i].targets &&
        !ambit__rule_colour(p->rule, i, &axes))
      printf("warning\n  '%s' is read at a neighbour and written, so the result would depend on "
             "the order of the cells,\n"
             "  and no program can run this. Read one field, write another, and swap them\n",
             p->params[i].name);
  if (p->rule->mixes_double)
    printf("warning\n  computes in double although its fields are float: a literal such as 0.25 is "
           "a double, 0.25f a float\n");
}

/* Indents each line by two blanks. */
static void print_indented(const char *text)
{
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    printf("  %.*s\n", (int)n, text);
  }
}

/* The plan of a single iteration. */
static int print_gpu_plan(ambit *a, const tool_problem *p, const ambit__target *gpu)
{
  const ambit__box grid = ambit__box_of_extents(p->size.ndims, p->size.extents);
  const int turn = ambit__layout_turn(&grid);
  ambit__rule *turned = NULL;
  ambit_status s = AMBIT_OK;
  tool_code code;
  tool_group g;
  ambit__box box;

  tool_group_make(a, p, NULL, &g);
  box = ambit__box_of_extents(p->size.ndims, g.group.cells);
  box = ambit__box_turn(&box, turn);
  memcpy(g.group.cells, box.hi, sizeof g.group.cells);
  if (turn) s = ambit__rule_turn(&a->errors, g.group.rule, turn, p->size.ndims, &turned);
  if (turned) g.group.rule = turned;
  if (!s) s = tool_emit(a, &g.group, gpu, &code);
  ambit__rule_free(turned);
  tool_group_free(&g);
  if (s) return TOOL_FAILED;
  printf("plan on %s, in %s\n  %s\n", gpu->machine->name,
         gpu->dialect->has_lanes ? "CUDA" : "OpenCL", code.plan);
  tool_code_free(&code);
  return TOOL_OK;
}

static int print_plan(ambit *a, const tool_problem *p)
{
  ambit__machine machine = ambit__machine_h200;
  ambit__target gpu;
  tool_code code;

  if (*a->settings.machine) ambit__machine_load(NULL, a->settings.machine, &machine);
  if (ambit__dry_gpu(a->settings.devices, machine.is_gpu ? &machine : &ambit__machine_h200, &gpu))
    return print_gpu_plan(a, p, &gpu);
  if (tool_generate(a, p, NULL, &code)) return TOOL_FAILED;
  printf("plan on %s, %d thread%s\n  %s\n", code.machine, code.threads,
         code.threads == 1 ? "" : "s", code.plan);
  tool_code_free(&code);
  return TOOL_OK;
}

static int print_source(ambit *a, const tool_problem *p)
{
  tool_code code;

  if (tool_generate(a, p, NULL, &code)) return TOOL_FAILED;
  printf("%s", code.source);
  tool_code_free(&code);
  return TOOL_OK;
}

static int print_kernel(ambit *a, const tool_problem *p, bool has_mask)
{
  char *text = ambit__rule_print(p->rule);
  int code;

  if (!text) {
    ambit__raise(&a->errors, AMBIT_ENOMEM, "out of memory for the text of kernel %s",
                 ambit_kernel_name(p->kernel));
    return TOOL_FAILED;
  }
  printf("kernel %s", ambit_kernel_name(p->kernel));
  if (p->ndims)
    printf(", %d dimension%s\n", p->ndims, p->ndims == 1 ? "" : "s");
  else
    printf(", any number of dimensions\n");
  print_footprint(p);
  print_cost(p->kernel);
  print_memory(p, has_mask);
  code = has_mask ? TOOL_OK : print_plan(a, p);
  printf("text\n");
  print_indented(text);
  print_warnings(p);
  free(text);
  return code;
}

/* ---- parts ---- */

/* The request. */
typedef struct order {
  tool_problem problem;
  bool source;
  int64_t processes, process;
  const char *graph; /* NULL: none */
  const char *mask;  /* NULL: none */
} order;

/* The shares that earlier runs here found, and what they say about the gain. */
static bool print_remembered(const ambit_program *p)
{
  double weights[AMBIT__SHOWN_WEIGHTS], all = 0, most = 0;
  const ambit_grid *g = p->grid;
  int first = 0, ordinal;
  const char *name;

  if (!ambit__balance_remembers(p, weights)) return false;
  for (int i = 0; i < g->nparts; i++) {
    all += weights[i];
    if (weights[i] <= most) continue;
    most = weights[i];
    first = i;
  }
  printf("  earlier runs here found these shares:");
  for (int i = 0; i < g->nparts; i++)
    printf("%s %.1f %%", i ? "," : "", 100 * weights[i] / all);
  name = ambit__part_device(g, first, &ordinal);
  if (most < all)
    printf("\n  predicted gain: %.1f %% over %s:%d alone\n", 100 * (all / most - 1), name, ordinal);
  else
    printf("\n  %s:%d alone was the fastest\n", name, ordinal);
  return true;
}

/* The gain of unlike devices together, or the way in which the cut between them is found. */
static void print_gain(const ambit_program *p)
{
  const ambit_grid *g = p->grid;
  int64_t most = 0;
  int first = 0, ordinal;
  const char *name;

  if (!g->context->unlike) return;
  if (!*g->context->settings.weights) {
    if (print_remembered(p)) return;
    printf("  the devices differ: the cut begins with shares by copy bandwidth, and moves to where "
           "all "
           "of them\n  need the same time; `ambit devices --measure` prints their speeds\n");
    return;
  }
  for (int i = 0; i < g->nparts; i++)
    if (ambit__grid_count(g, &g->parts[i]) > most) {
      most = ambit__grid_count(g, &g->parts[i]);
      first = i;
    }
  name = ambit__part_device(g, first, &ordinal);
  printf("  predicted gain, if the weights are the speeds: %.1f %% over %s:%d alone\n",
         100 * ((double)ambit__grid_count(g, &g->box) / (double)most - 1), name, ordinal);
}

/* Prints a text, and frees it. */
static ambit_status print_text(const ambit_program *p, ambit__text *t)
{
  char *text = ambit__text_finish(t);

  AMBIT_CHECK(text, &p->grid->context->errors, AMBIT_ENOMEM, "out of memory to explain a program");
  printf("%s", text);
  free(text);
  return AMBIT_OK;
}

static ambit_status print_parts(ambit_program *p)
{
  ambit__text t = {0}, drawing = {0};

  ambit__explain_parts(p, &t);
  AMBIT_TRY(print_text(p, &t));
  print_gain(p);
  ambit__offers_print(p->grid->context, stdout);
  printf("\n");
  ambit__partition_print(&drawing, &p->grid->box, p->grid->parts, p->grid->nparts);
  AMBIT_TRY(print_text(p, &drawing));
  printf("\n");
  t = (ambit__text){0};
  if (ambit__explain_messages(p, &t)) {
    free(ambit__text_finish(&t));
    return p->grid->context->errors.status;
  }
  return print_text(p, &t);
}

/* A sealed program of the problem, for one of several simulated processes. */
static ambit_status seal(ambit *a, const order *o, tool_job *job)
{
  if (!o->problem.sparse) AMBIT_TRY(ambit__pretend(a, (int)o->process, (int)o->processes));
  AMBIT_TRY(tool_job_open(a, &o->problem, o->problem.kernel, job));
  return ambit__program_seal(job->program);
}

static int print_run(ambit *a, const order *o)
{
  ambit__text t = {0};
  tool_job job;

  if (seal(a, o, &job)) return TOOL_FAILED;
  if (job.grid->nparts > 1 && print_parts(job.program)) return TOOL_FAILED;
  ambit__explain_schedule(job.program, &t);
  return print_text(job.program, &t) ? TOOL_FAILED : TOOL_OK;
}

/* The grid is as large as the mask. */
static int load_mask(ambit *a, const tool_args *args, order *o)
{
  if (!o->mask) return TOOL_OK;
  if (o->source) return tool_wrong(args, "--source is that of a dense grid: leave out --mask");
  if (ambit__pretend(a, (int)o->process, (int)o->processes)) return TOOL_FAILED;
  return tool_problem_mask(a, args, o->mask, &o->problem);
}

static int explain(ambit *a, order *o)
{
  int code = print_kernel(a, &o->problem, o->mask != NULL);

  if (!code && o->problem.sparse && tool_print_sparse(&o->problem, o->problem.sparse))
    return TOOL_FAILED;
  return code || !tool_problem_try_bind(&o->problem) ? code : print_run(a, o);
}

static int write_graph(ambit *a, const tool_args *args, order *o)
{
  tool_job job;

  if (!tool_problem_try_bind(&o->problem))
    return tool_wrong(args,
                      "--graph: the tool cannot run kernel %s, so there is no schedule to show",
                      ambit_kernel_name(o->problem.kernel));
  return seal(a, o, &job) || ambit__explain_graph(job.program, o->graph) ? TOOL_FAILED : TOOL_OK;
}

/* ---- the command line ---- */

static int set_option(ambit *a, const char *name, const char *value)
{
  return ambit_option_set(a, name, value) ? TOOL_USAGE : TOOL_OK;
}

static int take_parts(ambit *a, const tool_args *args, const char *value)
{
  char devices[32];
  int64_t parts;

  if (tool_read_count(args, value, 1, 4096, &parts)) return TOOL_USAGE;
  snprintf(devices, sizeof devices, "cpu*%d", (int)parts);
  return set_option(a, "devices", devices);
}

static int take(ambit *a, const tool_args *args, int id, const char *value, order *o)
{
  switch (id) {
  case TOOL_WORD: return tool_problem_word(args, value, &o->problem);
  case SOURCE: o->source = true; return TOOL_OK;
  case PARTS: return take_parts(a, args, value);
  case PROCESSES: return tool_read_count(args, value, 1, MOST_PROCESSES, &o->processes);
  case PROCESS: return tool_read_count(args, value, 0, MOST_PROCESSES - 1, &o->process);
  case PARTITION: return set_option(a, "partition", value);
  case WEIGHTS: return set_option(a, "weights", value);
  case OVERLAP: return set_option(a, "overlap", value);
  case GRAPH: o->graph = value; return TOOL_OK;
  case MASK: o->mask = value; return TOOL_OK;
  default: return tool_problem_option(a, args, id, value, &o->problem);
  }
}

static int run(ambit *a, tool_args *args)
{
  order o = {.processes = ambit_processes(a)};
  const char *value;
  int id, code;

  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_explain);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    if ((code = take(a, args, id, value, &o))) return code;
  }
  if (ambit_process(a)) return TOOL_OK; /* the same on all processes */
  if (o.process >= o.processes)
    return tool_wrong(args, "--process is %d, but there are %d processes, numbered from 0",
                      (int)o.process, (int)o.processes);
  if ((code = load_mask(a, args, &o))) return code;
  if ((code = tool_problem_load(a, args, &o.problem))) return code;
  if ((code = tool_problem_shape(args, &o.problem))) return code;
  if (o.source) return print_source(a, &o.problem);
  return o.graph ? write_graph(a, args, &o) : explain(a, &o);
}

const tool_command tool_explain = {
    .name = "explain",
    .words = "NAME|FILE.c|FILE.weights [options]",
    .summary = "Shows the footprint, cost, memory and plan of a stencil.",
    .options = options,
    .notes = "In the drawing, O is the cell itself, o a neighbour that is read, and x the cell "
             "itself if it\n"
             "is not read. Axis 0 runs down, the last axis to the right.\n\n" TOOL_SIZE_NOTE
             "\nWith several parts it also shows the partition, the messages and the schedule of "
             "an iteration.\n"
             "Neither the devices nor the processes need be present. docs/explain.md describes the "
             "output.\n"
             "\nexamples:\n"
             "  ambit explain star2d2\n"
             "  ambit explain star2d1 --size 8x8 --processes 4 --partition 2x2\n"
             "  ambit explain box3d1 --size 4096^3 --processes 1000 --device cuda:0,cuda:1\n"
             "  ambit explain star2d1 --processes 4 --graph - | dot -Tsvg > iteration.svg\n"
             "  ambit explain 3d27 --size 512^3 --type double --boundary periodic\n"
             "  ambit explain heat.c --mask vessel.npy\n"
             "  ambit explain heat.c --source\n",
    .run = run,
};
