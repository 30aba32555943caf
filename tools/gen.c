/* gen.c - `ambit gen`: a kernel as source. In C it is to be compiled into a program and registered.
 *
 * The C file has what the cpu device would compile, the text of the kernel as a string, and one
 * function that registers the one under the other. It is planned for a grid larger than the caches,
 * and right for any. Kernels for GPUs are the business of gen_gpu.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "gen.h"

#include "base/file.h"
#include "generate.h"
#include "runtime/run/run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT = 1, NAME, CUDA, OPENCL };

static const tool_option options[] = {
    {CUDA, 0, "cuda", NULL, "a kernel in CUDA C++ instead of C"},
    {OPENCL, 0, "opencl", NULL, "a kernel in OpenCL C instead of C"},
    TOOL_OPTION_TYPE,
    {OPT_SIZE, 0, "size", "NxM", "a typical grid, to plan for (default: one larger than caches)"},
    {OPT_STRICT, 0, "strict", NULL, "the order of operations as in the kernel, bit for bit"},
    {OPT_THREADS, 0, "threads", "N", "threads to plan for (default: one per core); C only"},
    {NAME, 0, "name", "ID",
     "names the functions: ambit_cpu_ID and ambit_register_ID,\n"
     "ambit_cuda_ID, ambit_opencl_ID"},
    {OUTPUT, 'o', "output", "FILE", "where to write (default: standard output)"},
    {0},
};

static int take_name(const tool_args *args, const char *name, tool_order *o)
{
  bool fits = strlen(name) < sizeof o->id && *name;

  for (const char *c = name; *c; c++)
    fits = fits && (isalnum((unsigned char)*c) || *c == '_');
  if (!fits)
    return tool_wrong(args, "--name is '%s'; it must be letters, digits and '_', as in a C name",
                      name);
  snprintf(o->id, sizeof o->id, "%s", name);
  return TOOL_OK;
}

static int take_language(const tool_args *args, const ambit__dialect *language, tool_order *o)
{
  if (o->language && o->language != language)
    return tool_wrong(args, "--cuda and --opencl: a file has one language; write two files");
  o->language = language;
  return TOOL_OK;
}

/* Weights make a kernel of any type under one name, so the type becomes part of it. */
static void default_name(tool_order *o)
{
  static const char *const types[] = {"float", "double", "int", "uchar", "short", "long"};
  const tool_problem *p = &o->problem;

  if (o->id[0]) return;
  if (tool_is_kernel_file(p->what))
    snprintf(o->id, sizeof o->id, "%.90s", ambit_kernel_name(p->kernel));
  else
    snprintf(o->id, sizeof o->id, "%.80s_%s", ambit_kernel_name(p->kernel), types[p->type]);
}

/* About a quarter of a gigabyte of floats: beyond any cache, as large grids are. */
static void default_size(tool_problem *p)
{
  static const int64_t cells[AMBIT_MAX_DIMS] = {1 << 26, 8192, 512, 96, 40, 20};

  if (p->size.ndims) return;
  p->size.ndims = p->ndims;
  for (int d = 0; d < p->size.ndims; d++)
    p->size.extents[d] = cells[p->size.ndims - 1];
}

/* ---- the file ---- */

static void print_head(ambit__text *t, const tool_order *o, bool strict)
{
  const char *id = o->id;

  ambit__print(
      t,
      "/* Written by `ambit gen`: kernel %s, to be compiled in and registered.\n"
      " *\n"
      " *   cc -std=gnu11 -O3 -march=native -fopenmp-simd -fno-math-errno \\\n"
      " *      -fno-trapping-math -fwrapv -ffp-contract=%s -c FILE.c\n"
      " *\n"
      " * and, in the program, before its first run:\n"
      " *\n"
      " *   ambit_status ambit_register_%s(void);\n"
      " *   ...\n"
      " *   ambit_register_%s();\n"
      " *\n"
      " * From then on ambit_cpu_%s runs wherever this kernel is applied on the cpu device.\n"
      " */\n",
      ambit_kernel_name(o->problem.kernel), strict ? "off" : "fast", id, id, id);
  ambit__print(t,
               "#include <ambit.h>\n\n"
               "void ambit_cpu_%s(const ambit_call *call);\n"
               "ambit_status ambit_register_%s(void);\n\n",
               id, id);
}

/* Warnings that say nothing about code that no person wrote. */
static void print_pragmas(ambit__text *t)
{
  static const char *const both[] = {"unknown-pragmas", "unused-parameter"};

  ambit__print(t, "#if defined(__GNUC__)\n");
  for (size_t i = 0; i < sizeof both / sizeof *both; i++)
    ambit__print(t, "#  pragma GCC diagnostic ignored \"-W%s\"\n", both[i]);
  ambit__print(t, "#  if defined(__clang__)\n"
                  "#    pragma GCC diagnostic ignored \"-Wpass-failed\"\n"
                  "#  endif\n"
                  "#endif\n\n");
}

/* The text as a C string, a line at a time. */
static void print_string(ambit__text *t, const char *text)
{
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    ambit__print(t, "\n    \"");
    for (size_t i = 0; i < n; i++)
      ambit__print(t, "%s%c", text[i] == '"' || text[i] == '\\' ? "\\" : "", text[i]);
    ambit__print(t, "\\n\"");
  }
}

static void print_tail(ambit__text *t, const tool_order *o, const char *text)
{
  ambit__print(t, "\n/* The kernel this is, in its canonical form. */\n"
                  "static const char kernel_text[] =");
  print_string(t, text);
  ambit__print(t,
               ";\n\n"
               "ambit_status ambit_register_%s(void)\n"
               "{\n"
               "  return ambit_register_cpu(kernel_text, ambit_cpu_%s);\n"
               "}\n",
               o->id, o->id);
}

/* The whole file in C; to free(), or NULL. */
static char *compose(ambit *a, const tool_order *o)
{
  char *text = ambit__rule_print(o->problem.rule), entry[128];
  ambit__text t = {0};
  tool_code code;

  snprintf(entry, sizeof entry, "ambit_cpu_%s", o->id);
  if (!text || tool_generate(a, &o->problem, entry, &code)) {
    free(text);
    return NULL;
  }
  print_head(&t, o, a->settings.strict);
  print_pragmas(&t);
  ambit__print(&t, "%s", code.source);
  print_tail(&t, o, text);
  free(text);
  tool_code_free(&code);
  return ambit__text_finish(&t);
}

static ambit_status write_file(ambit *a, const char *path, const char *text)
{
  ambit__file *f;
  ambit_status s;

  AMBIT_TRY(ambit__file_create(&a->errors, path, &f));
  s = ambit__file_write(f, text, strlen(text));
  if (!s) return ambit__file_commit(f);
  ambit__file_abort(f);
  return s;
}

static int generate(ambit *a, const tool_args *args, tool_order *o)
{
  char *text;
  int code = TOOL_OK;

  if (!o->problem.ndims && !o->language)
    return tool_wrong(args,
                      "kernel %s reads no neighbours and no index(), so it runs on grids of any "
                      "number of dimensions; a compiled function can serve one number only",
                      ambit_kernel_name(o->problem.kernel));
  if (!o->problem.ndims && !o->problem.size.ndims)
    return tool_wrong(args,
                      "kernel %s reads no neighbours and no index(), so it runs on grids of any "
                      "number of dimensions; say with --size for which this one is to be",
                      ambit_kernel_name(o->problem.kernel));
  default_size(&o->problem);
  if ((code = tool_problem_shape(args, &o->problem))) return code;
  default_name(o);
  text = o->language ? tool_gen_gpu(a, o) : compose(a, o);
  if (!text) return TOOL_FAILED;
  if (o->output)
    code = write_file(a, o->output, text) ? TOOL_FAILED : TOOL_OK;
  else
    fputs(text, stdout);
  free(text);
  return code;
}

static int run(ambit *a, tool_args *args)
{
  tool_order o = {0};
  bool is_threaded = false;
  const char *value;
  int id, code = TOOL_OK;

  while ((id = tool_next(args, &value))) {
    switch (id) {
    case TOOL_HELP: return tool_help(&tool_gen);
    case TOOL_WRONG: return TOOL_USAGE;
    case TOOL_WORD: code = tool_problem_word(args, value, &o.problem); break;
    case OUTPUT: o.output = value; break;
    case NAME: code = take_name(args, value, &o); break;
    case CUDA: code = take_language(args, &ambit__dialect_cuda, &o); break;
    case OPENCL: code = take_language(args, &ambit__dialect_opencl, &o); break;
    default: code = tool_problem_option(a, args, id, value, &o.problem); break;
    }
    if (code) return code;
    is_threaded = is_threaded || id == OPT_THREADS;
  }
  if (o.language && is_threaded)
    return tool_wrong(args, "--threads is for kernels in C; a GPU has its own (leave it out)");
  if ((code = tool_problem_load(a, args, &o.problem))) return code;
  return generate(a, args, &o);
}

const tool_command tool_gen = {
    .name = "gen",
    .words = "[--cuda|--opencl] NAME|FILE.c|FILE.weights [options]",
    .summary =
        "Writes the specialised kernel of a stencil, in C, CUDA or OpenCL, to be registered.",
    .options = options,
    .notes =
        "C: a program that is linked with the compiled file and calls ambit_register_ID() runs "
        "this\n"
        "kernel at full speed on a machine without a compiler. The file is planned for the caches "
        "of\n"
        "the machine that writes it, compiles for any processor, and is right for grids of any "
        "size.\n"
        "\n"
        "CUDA, OpenCL: a file that compiles as it stands, planned for a large GPU and for grids "
        "of\n"
        "about the size given. Its first comment tells how it is launched, and\n"
        "what each argument is. A program that hands the text, edited or not, to\n"
        "ambit_register_source runs it in the place of the generated kernel.\n"
        "\n"
        "The ID is the name of the kernel, and its type where it comes from weights: "
        "star2d1_float.\n"
        "\nexamples:\n"
        "  ambit gen star2d1 --type float -o star2d1.c\n"
        "  ambit gen heat.c --name heat --output heat_kernel.c\n"
        "  cc -std=gnu11 -O3 -march=native -fopenmp-simd -fno-math-errno -fno-trapping-math \\\n"
        "     -fwrapv -c heat_kernel.c\n"
        "  ambit gen --cuda star3d1 --size 512^3 -o star3d1.cu\n"
        "  nvcc -arch=sm_90 -cubin star3d1.cu\n",
    .run = run,
};
