/* gen_gpu.c - `ambit gen --cuda` and `--opencl`: a kernel that compiles as it stands, with all that somebody must
 * know who launches it. It can be registered as it is, or edited first.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "gen.h"
#include "generate.h"
#include "plan/gpu.h"
#include "plan/recipe.h"
#include "runtime/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPENCL_THREADS = 256 }; /* of a block: what nearly every device takes */

/* The GPU that is planned for, which need not be here: a large one. */
static ambit__target target_of(const ambit__dialect *language)
{
  return (ambit__target){.kind = TARGET_GPU,
                         .dialect = language,
                         .threads = 132,
                         .warp = language->stream ? 32 : 1,
                         .max_threads = language->stream ? 1024 : OPENCL_THREADS,
                         .shared = 48 << 10,
                         .l2 = 50 << 20};
}

static bool is_cuda(const tool_order *o)
{
  return o->language == &ambit__dialect_cuda;
}

/* ---- the comment at the top ---- */

static void print_compiling(const tool_order *o, bool strict, ambit__text *t)
{
  ambit__print(t, " *\n * It compiles as it stands:\n *\n");
  if (is_cuda(o))
    ambit__print(t, " *   nvcc -arch=sm_90 -cubin%s FILE.cu   (or NVRTC, with the same options)\n",
                 strict ? " -fmad=false" : "");
  else
    ambit__print(t, " *   clBuildProgram(program, 1, &device, \"-cl-std=CL1.2 %s\", NULL, NULL)\n",
                 strict ? "-cl-fp32-correctly-rounded-divide-sqrt" : "-cl-mad-enable");
}

static void print_sizes(const int64_t *sizes, int n, ambit__text *t)
{
  for (int d = 0; d < n; d++)
    ambit__print(t, "%s%" PRId64, d ? " x " : "", sizes[d]);
}

static void print_launch(const ambit__group *g, const ambit__recipe *r, ambit__text *t)
{
  ambit__shape shape;

  ambit__recipe_shape(r, g->cells, &shape);
  ambit__print(t, " *\n * It is launched so, once for a box of cells:\n *\n *   ");
  ambit__recipe_print(r, t);
  ambit__print(t, "\n *\n * n0 is hi0 - lo0, and so on; quotients are rounded up. For ");
  print_sizes(g->cells, g->ndims, t);
  ambit__print(t, " cells that is\n * ");
  print_sizes(shape.blocks, 3, t);
  ambit__print(t, " blocks.%s\n",
               r->most ? " Where \"at most\" leaves fewer, they go on by themselves." : "");
  if (!ambit__recipe_fits(r, (const int64_t[AMBIT_MAX_DIMS]){0}))
    ambit__print(t, " * Boxes smaller than \"where\" says are not for this kernel.\n");
}

static void print_arguments(const ambit__group *g, const ambit__recipe *r, ambit__text *t)
{
  ambit__gpu_slot slots[AMBIT__GPU_SLOTS];
  int n = ambit__gpu_slots(g, slots);

  ambit__print(t, " *\n * Arguments, in this order; all but addresses are 64-bit integers:\n *\n");
  ambit__gpu_explain(g, n, slots, " *   ", t);
  ambit__print(t,
               " *\n"
               " * Cell 0 is the first of those in memory that belong to the grid; what cells to "
               "update read\n"
               " * lies around them, at indices below 0 and past the last. Cell 0 of every row is "
               "on a multiple\n"
               " * of 64 bytes, and a field's memory goes on for 64 cells behind its last row.\n");
  if (!ambit__gpu_reduces(g)) return;
  ambit__print(t,
               " *\n * After it %s" AMBIT__GPU_FOLD_TAIL
               ", one block of %d threads, puts together what the blocks left:\n *\n",
               r->entry, AMBIT__GPU_FOLD);
  n = ambit__gpu_fold_slots(g, slots);
  ambit__gpu_explain(g, n, slots, " *   ", t);
}

/* What the file is for. The kernel's own text has no comments that could end this one. */
static void print_use(const tool_order *o, const char *text, ambit__text *t)
{
  ambit__print(
      t,
      " *\n"
      " * A program that calls\n"
      " *\n"
      " *   ambit_register_source(kernel, AMBIT_%s, TEXT OF THIS FILE);\n"
      " *\n"
      " * before its first run has this code run wherever this kernel is applied on the %s\n"
      " * device, also after it was edited. `kernel` is\n"
      " *\n",
      is_cuda(o) ? "CUDA" : "OPENCL", o->language->name);
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    ambit__print(t, " *   %.*s\n", (int)n, text);
  }
}

static void print_head(const tool_order *o, const ambit__group *g, const ambit__recipe *r,
                       const char *text, ambit__text *t)
{
  ambit__print(t, "/* Written by `ambit gen --%s`: kernel %s on grids of %d dimension%s.\n",
               o->language->name, ambit_kernel_name(o->problem.kernel), g->ndims,
               g->ndims == 1 ? "" : "s");
  print_compiling(o, g->strict, t);
  print_launch(g, r, t);
  print_arguments(g, r, t);
  print_use(o, text, t);
  ambit__print(t, " */\n");
}

/* ---- the file ---- */

/* Helpers are named after the types they are for; and there are those of sums. */
static bool calls_helpers(const char *code)
{
  static const char *const tails[] = {"_f32(", "_f64(", "_i32(",    "_u8(",
                                      "_i16(", "_i64(", "ambit_sum"};

  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
    if (strstr(code, tails[i])) return true;
  return false;
}

/* Without the arithmetic that every file begins with, if the kernel needs none of it: readers need not see it then. */
static void print_source(const ambit__dialect *language, const char *source, ambit__text *t)
{
  ambit__text fixed = {0};
  const char *at, *rest;

  ambit__dialect_print(language, &fixed);
  at = fixed.chars ? strstr(source, fixed.chars) : NULL;
  rest = at ? at + fixed.len : source;
  if (at && !calls_helpers(rest))
    ambit__print(t, "%.*s%s%s", (int)(at - source), source, language->prelude, rest);
  else
    ambit__print(t, "%s", source);
  ambit__text_free(&fixed);
}

char *tool_gen_gpu(ambit *a, const tool_order *o)
{
  const ambit__target target = target_of(o->language);
  char *text = ambit__rule_print(o->problem.rule);
  ambit__text t = {0};
  tool_code code = {0};
  ambit__recipe recipe;
  char entry[128];
  tool_group g;

  snprintf(entry, sizeof entry, "ambit_%s_%s", o->language->name, o->id);
  tool_group_make(a, &o->problem, entry, &g);
  if (text && !tool_emit(a, &g.group, &target, &code)) {
    code.choice.strategy->recipe(&g.group, &code.choice, &recipe);
    memcpy(recipe.entry, entry, sizeof entry);
    print_head(o, &g.group, &recipe, text, &t);
    print_source(o->language, code.source, &t);
    tool_code_free(&code);
  }
  free(text);
  return t.len ? ambit__text_finish(&t) : NULL;
}
