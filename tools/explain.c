/* explain.c - `ambit explain`: what a stencil needs, and how it would run here.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "device/cpu/pool.h"
#include "device/cpu/target.h"
#include "generate.h"
#include "grid/layout.h"
#include "problem.h"
#include "runtime/runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SOURCE = 1,
  MOST_DRAWN = 17, /* cells of a drawn footprint along an axis */
  MOST_OFFSETS = 125
};

static const tool_option options[] = {
    TOOL_OPTION_SIZE,
    TOOL_OPTION_TYPE,
    TOOL_OPTION_BOUNDARY,
    TOOL_OPTION_STRICT,
    TOOL_OPTION_THREADS,
    {SOURCE, 0, "source", NULL, "print the generated C instead"},
    {0},
};

/* ---- the footprint ---- */

static bool is_read(const ambit__param *q, const int *offset)
{
  for (int i = 0; i < q->nreads; i++)
    if (!memcmp(q->reads[i].offset, offset, sizeof q->reads[i].offset)) return true;
  return false;
}

/* One line of the drawing: along the last axis. */
static void draw_row(const ambit__param *q, int *offset, int last)
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
static void draw_plane(const ambit__param *q, int *offset, int ndims)
{
  const int rows = ndims - 2;

  if (ndims == 1) {
    draw_row(q, offset, 0);
    return;
  }
  for (offset[rows] = -q->low[rows]; offset[rows] <= q->high[rows]; offset[rows]++)
    draw_row(q, offset, ndims - 1);
}

/* Up to three axes, if they are small: O is the cell itself, o a neighbour that is read. */
static void draw(const ambit__param *q, int ndims)
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

static void print_offsets(const ambit__param *q, int ndims)
{
  const int shown = q->nreads < MOST_OFFSETS ? q->nreads : MOST_OFFSETS;
  int column = printf("    offsets");

  for (int i = 0; i < shown; i++) {
    if (column > 80) column = printf("\n%11s", "") - 1;
    column += printf(" ");
    if (q->is_vector) column += printf("%d:", q->reads[i].component);
    for (int d = 0; d < ndims; d++)
      column += printf("%s%d", d ? "," : "(", q->reads[i].offset[d]);
    column += printf(")");
  }
  printf("%s\n", shown < q->nreads ? " ..." : "");
}

static void print_field(const ambit__rule *rule, const ambit__param *q)
{
  printf("  %s: %s", q->name, ambit_type_name(q->type));
  if (q->is_vector) printf(", %d components", q->components);
  if (q->nreads) printf(", read at %d cell%s", q->nreads, q->nreads == 1 ? "" : "s");
  printf("%s\n", q->is_written ? ", written" : "");
  if (!q->nreads || !rule->ndims) return;
  printf("    radius ");
  for (int d = 0; d < rule->ndims; d++)
    printf(" axis %d: %d low, %d high%s", d, q->low[d], q->high[d],
           d + 1 < rule->ndims ? ";" : "\n");
  print_offsets(q, rule->ndims);
  if (q->reads_neighbours) draw(q, rule->ndims);
}

static void print_footprint(const ambit__rule *rule)
{
  static const char *const reductions[] = {"sum", "min", "max"};

  printf("footprint\n");
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];

    if (q->kind == PARAM_FIELD) print_field(rule, q);
    if (q->kind == PARAM_VALUE)
      printf("  %s: %s, a plain parameter\n", q->name, ambit_type_name(q->type));
    if (q->kind == PARAM_REDUCE)
      printf("  %s: %s, the %s over all cells\n", q->name, ambit_type_name(q->type),
             reductions[q->reduce]);
  }
}

/* ---- cost ---- */

static void print_cost(const ambit__rule *rule)
{
  ambit__price price = ambit__price_of(rule);

  printf("cost per cell\n");
  printf("  %g floating-point operation%s, %g bytes moved at least", price.flops,
         price.flops == 1 ? "" : "s", price.bytes);
  if (price.bytes > 0) printf(": %.3g operations per byte", price.flops / price.bytes);
  printf("\n");
}

/* Bytes of a field, with the margins that its boundaries ask for. */
static size_t field_bytes(const tool_problem *p, const ambit__param *q)
{
  ambit__layout l = {.type = q->type, .components = q->components};

  l.own = ambit__box_of_extents(p->size.ndims, p->size.extents);
  for (int d = 0; d < p->size.ndims; d++) {
    bool fixed = p->boundaries.kind[d] == AMBIT_FIXED;

    l.margin_lo[d] = !fixed && q->low[d] > 2 ? q->low[d] : 2;
    l.margin_hi[d] = !fixed && q->high[d] > 2 ? q->high[d] : 2;
  }
  return ambit__layout_make(&l) ? l.bytes : 0;
}

static void print_memory(const tool_problem *p)
{
  char size[TOOL_SIZE_CHARS], updated[TOOL_SIZE_CHARS];
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];
  tool_size region = {.ndims = p->size.ndims};
  double bytes = 0;
  int fields = 0;

  tool_problem_region(p, lo, hi);
  for (int d = 0; d < p->size.ndims; d++)
    region.extents[d] = hi[d] - lo[d];
  for (int i = 0; i < p->rule->nparams; i++) {
    if (p->rule->params[i].kind != PARAM_FIELD) continue;
    bytes += (double)field_bytes(p, &p->rule->params[i]);
    fields++;
  }
  tool_print_size(&p->size, size);
  tool_print_size(&region, updated);
  printf("grid %s\n", size);
  printf("  memory %.4g MiB for %d field%s\n", bytes / (1 << 20), fields, fields == 1 ? "" : "s");
  printf("  %s cells are updated in each iteration (boundary ", updated);
  for (int d = 0; d < p->size.ndims; d++)
    printf("%s%s", d ? "," : "", ambit__boundary_name(p->boundaries.kind[d]));
  printf(")\n");
}

/* ---- plan and text ---- */

static void print_warnings(const ambit__rule *rule)
{
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].is_written && rule->params[i].reads_neighbours)
      printf("warning\n  '%s' is read at a neighbour and written: which value is read would depend "
             "on the order of the cells,\n  so no program runs this. Read one field and write "
             "another, and swap them\n",
             rule->params[i].name);
  if (rule->mixes_double)
    printf("warning\n  computes in double though its fields are float: a literal such as 0.25 is "
           "a double, 0.25f a float\n");
}

/* The text with two blanks before each line. */
static void print_indented(const char *text)
{
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    printf("  %.*s\n", (int)n, text);
  }
}

static int print_plan(ambit *a, const tool_problem *p)
{
  tool_code code;

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

static int explain(ambit *a, const tool_problem *p)
{
  const ambit__rule *rule = p->rule;
  char *text = ambit__rule_print(rule);
  int code;

  if (!text) {
    ambit__raise(&a->errors, AMBIT_ENOMEM, "no memory for the text of kernel %s", rule->name);
    return TOOL_FAILED;
  }
  printf("kernel %s", rule->name);
  if (rule->ndims)
    printf(", %d dimension%s\n", rule->ndims, rule->ndims == 1 ? "" : "s");
  else
    printf(", any number of dimensions\n");
  print_footprint(rule);
  print_cost(rule);
  print_memory(p);
  code = print_plan(a, p);
  printf("text\n");
  print_indented(text);
  print_warnings(rule);
  free(text);
  return code;
}

static int run(ambit *a, tool_args *args)
{
  tool_problem p = {0};
  bool source = false;
  const char *value;
  int id, code = TOOL_OK;

  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_explain);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    if (id == SOURCE)
      source = true;
    else if (id == TOOL_WORD)
      code = tool_problem_word(args, value, &p);
    else
      code = tool_problem_option(a, args, id, value, &p);
    if (code) return code;
  }
  if ((code = tool_problem_load(a, args, &p)) || (code = tool_problem_shape(args, &p))) return code;
  return source ? print_source(a, &p) : explain(a, &p);
}

const tool_command tool_explain = {
    .name = "explain",
    .words = "NAME|FILE.c|FILE.weights [options]",
    .summary = "Shows what a stencil reads, costs and needs, and how it would run here.",
    .options = options,
    .notes =
        "In the drawing, O is the cell itself, o a neighbour that is read, x the cell itself "
        "where\nit is not read. Axis 0 runs down, the last axis to the right.\n\n" TOOL_SIZE_NOTE
        "\nexamples:\n"
        "  ambit explain star2d2\n"
        "  ambit explain 3d27 --size 512^3 --type double --boundary periodic\n"
        "  ambit explain heat.c --source\n",
    .run = run,
};
