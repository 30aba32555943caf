/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated CUDA kernels through NVRTC, for a Hopper GPU that need not be present. Stars and boxes
 * in every plan of every strategy, and the whole catalogue in the chosen plan, are compiled to
 * machine code, which may not use local memory. Kernels of random programs are compiled to PTX, as
 * a check of the generated text. */
#include "device/cuda/nvrtc.h"
#include "device/gpu/gpu.h"
#include "plan/emit.h"
#include "random/program.h"
#include "support/test.h"

#include <stdlib.h>

enum { CAPABILITY = 90, MOST_PLANS = 32, FIRST_SEED = 0x1000, FAMILIES = 6 };

typedef enum depth { EVERY_PLAN, CHOSEN, TO_PTX } depth;

static const ambit__strategy *const strategies[] = {&ambit__strategy_cells, &ambit__strategy_once,
                                                    &ambit__strategy_strip, &ambit__strategy_tiles};

static const ambit__target h200 = {
    .kind = TARGET_GPU,
    .dialect = &ambit__dialect_cuda,
    .threads = 132,
    .max_threads = 1024,
    .shared = 227 << 10,
    .l2 = 60 << 20,
    .vector_bytes = 16,
};

static const ambit__nvrtc *nvrtc;
static unsigned checks; /* checks made by the kernels */
static ambit__tile_use tiles;
static ambit_boundary ends;       /* of rows of fields that are read at neighbours */
static long most_registers = 255; /* of a thread */

/* ---- one kernel ---- */

typedef struct usage {
  int kernels;                /* reported by ptxas */
  long registers;             /* of the kernel that uses most */
  long stack, stored, loaded; /* bytes of local memory, sum of all kernels */
} usage;

/* The numbers in "392 bytes stack frame, 772 bytes spill stores, 776 bytes spill loads" and "Used
 * 40 registers". */
static usage read_report(const char *log)
{
  usage u = {0};

  for (const char *line = log; line && *line; line = strchr(line, '\n')) {
    long stack, stored, loaded, registers;
    const char *at;

    line += *line == '\n';
    at = line + strcspn(line, "0123456789\n");
    if (sscanf(at, "%ld bytes stack frame, %ld bytes spill stores, %ld bytes spill loads", &stack,
               &stored, &loaded) == 3) {
      u.kernels++;
      u.stack += stack;
      u.stored += stored;
      u.loaded += loaded;
    }
    at = strstr(line, "Used ");
    if (at && at < line + strcspn(line, "\n") && sscanf(at, "Used %ld registers", &registers) == 1)
      u.registers = registers > u.registers ? registers : u.registers;
  }
  return u;
}

/* Compiles, to machine code with a report or to PTX. The compiler's output is to free(). */
static bool compile(const char *source, bool strict, bool to_ptx, char **said)
{
  ambit__nvrtc_how how = {.capability = CAPABILITY, .strict = strict, .report = true};
  ambit__text log = {0};
  void *image = NULL;
  size_t bytes = 0;
  ambit_status s;

  s = ambit__nvrtc_choose(NULL, nvrtc, &how);
  if (to_ptx) {
    how.is_ptx = true;
    snprintf(how.arch, sizeof how.arch, "--gpu-architecture=compute_%d", CAPABILITY);
  }
  if (!s) s = ambit__nvrtc_compile(nvrtc, &how, source, &image, &bytes, &log);
  CHECK(s || (image && bytes));
  free(image);
  *said = ambit__text_finish(&log);
  return !s;
}

static void check_spills(const char *name, const char *plan, const usage *u)
{
  CHECK_MSG(u->kernels > 0, "%s %s: ptxas did not tell what the kernel needs", name, plan);
  CHECK_MSG(!u->stored && !u->loaded, "%s %s: %ld bytes of registers are spilled, %ld registers",
            name, plan, u->stored, u->registers);
  CHECK_MSG(!u->stack, "%s %s: %ld bytes of local memory", name, plan, u->stack);
}

static void check_plan(const char *name, const ambit__group *g, const ambit__plan *p, bool to_ptx)
{
  char *source = ambit__plan_source(g, &h200, p), *said = NULL;
  ambit__text plan = {0};

  p->strategy->describe(p, &plan);
  if (source && !compile(source, g->strict, to_ptx, &said))
    CHECK_MSG(false, "%s %s is refused:\n%s\n%s", name, plan.chars, said, source);
  else if (source && !to_ptx) {
    usage u = read_report(said);

    check_spills(name, plan.chars, &u);
    CHECK_MSG(u.registers <= most_registers, "%s %s: %ld registers", name, plan.chars, u.registers);
  }
  CHECK(source != NULL);
  ambit__text_free(&plan);
  free(source);
  free(said);
}

/* ---- one rule ---- */

static bool is_known(const ambit__strategy *s)
{
  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
    if (strategies[i] == s) return true;
  return false;
}

static void check_every_plan(const char *name, const ambit__group *g)
{
  ambit__plan plans[MOST_PLANS];
  const int n = ambit__plan_candidates(g, &h200, plans, MOST_PLANS);

  for (int k = 0; k < n; k++) {
    CHECK_MSG(is_known(plans[k].strategy), "%s: this test does not know the strategy %s", name,
              plans[k].strategy->name);
    check_plan(name, g, &plans[k], false);
  }
  CHECK_MSG(n > 0, "%s: there is no plan", name);
}

/* All plans, or the chosen one. */
static void check_rule(const char *name, const ambit__rule *rule, int ndims, int64_t cells,
                       bool strict, depth how)
{
  ambit__binding bind[AMBIT_MAX_PARAMS];
  ambit__group g = {.rule = rule, .bind = bind, .depth = 1, .ndims = ndims, .strict = strict};
  ambit__plan plan;

  g.checks = checks;
  g.tiles = tiles;
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];
    bool is_field = p->kind == PARAM_FIELD && ndims > 0;

    bind[i] = (ambit__binding){.is_field = is_field, .contiguous = is_field};
    if (is_field && (p->low[ndims - 1] || p->high[ndims - 1]))
      bind[i].ends[0] = bind[i].ends[1] = ends;
  }
  for (int d = 0; d < ndims; d++)
    g.cells[d] = cells;
  if (!ambit__plan_choose(&g, &h200, &plan)) {
    CHECK_MSG(false, "%s: no strategy applies", name);
    return;
  }
  CHECK_MSG(is_known(plan.strategy), "%s: this test does not know the strategy %s", name,
            plan.strategy->name);
  if (how == EVERY_PLAN)
    check_every_plan(name, &g);
  else
    check_plan(name, &g, &plan, how == TO_PTX);
}

static void check_text(const char *name, const char *text, int ndims, int64_t cells, bool strict,
                       depth how)
{
  static const double numbers[TABLE_ROWS * TABLE_COLUMNS] = {0.5, -1, 0, 1e9};
  ambit__errors errors = {.status = AMBIT_OK};
  ambit__rule *rule = NULL;

  CHECK_MSG(!ambit__rule_parse(&errors, name, text, &rule), "%s", errors.text);
  for (int i = 0; rule && i < rule->ntables; i++)
    CHECK(!ambit__table_set(&errors, rule, i, numbers, AMBIT_F64));
  if (rule) check_rule(name, rule, ndims < 0 ? rule->ndims : ndims, cells, strict, how);
  ambit__rule_free(rule);
  ambit__errors_clear(&errors);
}

/* ---- the catalogue ---- */

static void check_entry(const char *name, ambit_type type, depth how)
{
  static const int64_t cells[] = {1, 1 << 26, 8192, 512, 96}; /* by number of dimensions */
  ambit__errors errors = {.status = AMBIT_OK};
  ambit_weights w = {0};
  char *text = NULL, label[64];

  snprintf(label, sizeof label, "%s %s", name, ambit_type_name(type));
  CHECK_EQ(AMBIT_OK, ambit__catalogue_find(&errors, name, &w));
  CHECK_EQ(AMBIT_OK, ambit__weights_text(&errors, name, type, &w, &text));
  if (text) check_text(label, text, w.ndims, cells[w.ndims], false, how);
  free(text);
  free((void *)(uintptr_t)w.weights);
  ambit__errors_clear(&errors);
}

static void the_fixed_names_compile_without_spills(void)
{
  const char *name;

  for (int i = 0; (name = ambit__catalogue_name(i)); i++) {
    if (test_takes(i, 18)) check_entry(name, i % 2 ? AMBIT_F32 : AMBIT_F64, CHOSEN);
  }
}

static const char *const families[] = {"star2d1", "star2d2", "box2d1", "box2d2",
                                       "star3d1", "star3d2", "box3d1", "box3d2"};

/* make check compiles the chosen plans, of every second family; make check-long every one. */
static depth for_all(void)
{
  return test_takes(1, 2) ? EVERY_PLAN : CHOSEN;
}

static void the_families_compile_without_spills(void)
{
  const depth how = for_all();

  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    if (test_takes((int)i + 1, 8)) check_entry(families[i], AMBIT_F32, how);
    if (test_takes((int)i + 5, 8)) check_entry(families[i], AMBIT_F64, how);
  }
}

/* Their planes go through a ring in shared memory. */
static void high_orders_compile_without_spills(void)
{
  const char *wave = "void wave(const float *u, const float *o, const float *c, float *v)\n"
                     "{\n"
                     "  float s = u[4][0][0] + u[-4][0][0] + u[0][4][0] + u[0][-4][0] + u[0][0][4] "
                     "+ u[0][0][-4];\n"
                     "  s = 0.2f * (u[1][0][0] + u[0][1][0] + u[0][-1][0] + u[0][0][1]) - s;\n"
                     "  *v = 2 * *u - *o + *c * s;\n"
                     "}\n";

  check_entry("star3d4", AMBIT_F32, CHOSEN);
  check_entry("star3d4", AMBIT_F64, CHOSEN);
  check_text("wave", wave, -1, 512, true, CHOSEN);
}

static void the_families_compile_without_spills_on_closed_rows(void)
{
  ends = AMBIT_PERIODIC;
  check_entry("star1d2", AMBIT_F32, CHOSEN);
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (test_takes((int)(i + i / 2), 4))
      check_entry(families[i], i % 2 ? AMBIT_F64 : AMBIT_F32, CHOSEN);
  ends = AMBIT_REFLECT;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (test_takes((int)(i + i / 2 + 1), 8))
      check_entry(families[i], i % 2 ? AMBIT_F32 : AMBIT_F64, CHOSEN);
  ends = AMBIT_NONE;
}

static void weights_of_every_type_compile_without_spills(void)
{
  static const ambit_type types[] = {AMBIT_I32, AMBIT_U8, AMBIT_I16, AMBIT_I64, AMBIT_F16};

  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    check_entry("star2d1", types[i], for_all());
}

/* ---- rules ---- */

static void reductions_compile_without_spills(void)
{
  const char *text =
      "void heat(const float *u, float *v, float k, max float *change, sum double *s)\n"
      "{\n"
      "  *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);\n"
      "  *change = fabsf(*v - *u);\n"
      "  *s = *v;\n"
      "}\n";

  check_text("heat", text, -1, 8192, false, for_all());
  check_text("heat, strict", text, -1, 8192, true, for_all());
}

static void several_components_and_a_branch_compile_without_spills(void)
{
  const char *text = "void mix(const double *f[5], double *g[5], const unsigned char *wall)\n"
                     "{\n"
                     "  for (int i = 0; i < 5; i++)\n"
                     "    *g[i] = *wall ? *f[i] : 0.5 * (f[i][0][-1] + f[4 - i][1][0]);\n"
                     "}\n";

  check_text("mix", text, -1, 4096, false, EVERY_PLAN);
}

/* Appends to a text the sum of all functions of math.h, and of all operators of an integer type. */
static void write_arithmetic(FILE *out, const char *real, const char *suffix, const char *whole)
{
  static const struct {
    const char *name;
    int nargs;
  } calls[] = {
#define X(name, nargs) {#name, nargs},
      AMBIT_CALL_MAP(X)
#undef X
  };
  static const char *const operators[] = {"+", "-", "*",  "/",  "%",  "<<", ">>", "&",  "|",
                                          "^", "<", "<=", "==", "!=", ">",  ">=", "&&", "||"};

  fprintf(out, "void all(const %s *u, %s *v, const %s *m, %s *n)\n{\n  %s x = *u, s = 0;\n", real,
          real, whole, whole, real);
  fprintf(out, "  %s i = *m, t = 0;\n", whole);
  for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
    fprintf(out, "  s += %s%s(x%s);\n", calls[c].name, suffix,
            calls[c].nargs == 1   ? ""
            : calls[c].nargs == 2 ? ", s"
                                  : ", s, x");
  for (size_t o = 0; o < sizeof operators / sizeof *operators; o++)
    fprintf(out, "  t += i %s (t + 3);\n", operators[o]);
  fprintf(out, "  *v = s + (%s)i;\n  *n = ~t - (%s)x;\n}\n", real, whole);
}

/* Devices run some cases of the tests of arithmetic in make check: here each of its operations is
 * compiled, since CUDA has a text of its own for some. */
static void all_functions_and_operators_compile(void)
{
  static const char *const wholes[] = {"unsigned char",  "short",    "int",          "long",
                                       "unsigned short", "unsigned", "unsigned long"};

  for (int w = 0; w < 7; w++) {
    const bool single = w % 2;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    write_arithmetic(out, single ? "float" : "double", single ? "f" : "", wholes[w]);
    fclose(out);
    if (test_takes(w, 2)) check_text(wholes[w], text, 1, 1 << 20, false, TO_PTX);
    if (test_takes(w + 1, 2)) check_text(wholes[w], text, 1, 1 << 20, true, TO_PTX);
    free(text);
  }
}

/* The branch for cells at walls must not take the registers of all cells. */
static void walls_leave_registers_for_three_blocks(void)
{
  const char *text =
      "void walls(const float *f[19], float *g[19])\n"
      "{\n"
      "  const int x[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};\n"
      "  const int y[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};\n"
      "  const int z[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};\n"
      "  float h[19];\n"
      "  float rho = 0;\n"
      "  for (int i = 0; i < 19; i++) {\n"
      "    h[i] = outside(-z[i], -y[i], -x[i]) ? *f[i > 0 ? (i - 1 ^ 1) + 1 : 0]\n"
      "                                        : f[i][-z[i]][-y[i]][-x[i]];\n"
      "    rho += h[i];\n"
      "  }\n"
      "  for (int i = 0; i < 19; i++) *g[i] = h[i] + 0.6f * (rho * h[18 - i] - h[i]);\n"
      "}\n";

  most_registers = 80;
  check_text("walls", text, -1, 128, false, CHOSEN);
  most_registers = 255;
}

static void tiles_compile_without_spills(void)
{
  const char *count = "void count(const float *u[2], float *v[2], double *w, max float *m)\n"
                      "{ *v[0] = u[0][-1][0] + u[1][0][1]; *v[1] = *u[1]; *m = *v[0];\n"
                      "  *w = *w + *u[0]; }\n";
  const char *ways = "void ways(const short *w, const short *c, short *n)\n"
                     "{ int m = *c;\n"
                     "  for (int i = -1; i <= 1; i++)\n"
                     "    m = c[0][i][-i] + *w < m ? c[0][i][-i] + *w : m;\n"
                     "  *n = m; }\n";

  tiles = TILES_COMPARE;
  check_text("count", count, -1, 64, false, CHOSEN);
  tiles = TILES_RELAX;
  check_text("ways", ways, -1, 8, true, CHOSEN);
  tiles = TILES_NONE;
}

/* The parser of the compiler's report must detect spills. */
static void a_kernel_that_spills_is_noticed(void)
{
  const char *source = "extern \"C\" __global__ void k(float *p, int n) { float a[400];\n"
                       "for (int i = 0; i < 400; i++) a[i] = p[i];\n"
                       "for (int j = 0; j < n; j++)\n"
                       "for (int i = 0; i < 400; i++) a[i] = a[i] * a[(i + 7) % 400] + 1.f;\n"
                       "for (int i = 0; i < 400; i++) p[i] = a[i]; }\n";
  char *said = NULL;
  usage u;

  CHECK(compile(source, false, false, &said));
  u = read_report(said);
  CHECK_EQ(1, u.kernels);
  CHECK_EQ(255, u.registers);
  CHECK(u.stored > 0 || u.stack > 0);
  free(said);
}

/* ---- fixed kernels ---- */

static ambit_status build_fixed(ambit__gpu *g, const char *what, const char *source,
                                const char *entry, bool strict, ambit__gpu_module **m)
{
  char *said = NULL;

  (void)g;
  (void)entry;
  (void)what;
  *m = NULL;
  CHECK_MSG(compile(source, strict, false, &said), "refused:\n%s\n%s", said, source);
  free(said);
  return AMBIT_OK;
}

static int functions;

static ambit_status count_function(ambit__gpu_module *m, const char *name, ambit__gpu_function **f)
{
  (void)m;
  (void)name;
  functions++;
  *f = NULL;
  return AMBIT_ENOMEM; /* stops further calls */
}

static void the_fixed_kernels_compile(void)
{
  static const ambit_type types[] = {AMBIT_U8, AMBIT_I16, AMBIT_F32, AMBIT_F64};
  const ambit__gpu_driver driver = {
      .dialect = &ambit__dialect_cuda, .build = build_fixed, .function = count_function};
  ambit__gpu_device d = {.driver = &driver, .info = {.has_double = true}};
  ambit__gpu_lane lane = {.head.device = &d.head, .device = &d, .driver = &driver};
  const ambit__watch watch = {.type = AMBIT_F32};
  ambit__gpu_moves *moves;
  bool can;

  for (int i = 0; i < 4; i++)
    for (int kit = 0; kit < KITS; kit++)
      ambit__gpu_moves_get(&d, types[i], (ambit__gpu_kit)kit, &moves);
  ambit__gpu_watch(&lane, AMBIT__COMMAND(watch, &watch, &can));
  CHECK_EQ(4 * KITS + 1, functions);
}

/* Every family (in make check every third one) without checks, and with the checks selected by its
 * number. */
static void kernels_of_random_programs_compile(void)
{
  static program_plan p;
#ifdef AMBIT_ACCESS_CHECKS
  const unsigned all = AMBIT__CHECK_NAN | AMBIT__CHECK_ACCESS;
#else
  const unsigned all = AMBIT__CHECK_NAN;
#endif

  for (uint64_t family = 0; family < FAMILIES; family++) {
    if (!test_takes((int)family, 3)) continue;
    program_make(&p, FIRST_SEED + family * VARIANTS);
    for (int k = 0; k < p.nkernels; k++) {
      char name[64];

      snprintf(name, sizeof name, "seed 0x%llx kernel %d", (unsigned long long)p.seed, k);
      for (unsigned turn = 0; turn < 2; turn++) {
        checks = turn ? 1 + (unsigned)family % all : 0;
        check_text(name, p.kernels[k].text, p.kernels[k].runs_once ? 0 : p.ndims, p.extents[0],
                   family % 2, TO_PTX);
      }
      checks = 0;
    }
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"the_fixed_names_compile_without_spills", the_fixed_names_compile_without_spills},
      {"the_families_compile_without_spills", the_families_compile_without_spills},
      {"high_orders_compile_without_spills", high_orders_compile_without_spills},
      {"the_families_compile_without_spills_on_closed_rows",
       the_families_compile_without_spills_on_closed_rows},
      {"weights_of_every_type_compile_without_spills",
       weights_of_every_type_compile_without_spills},
      {"reductions_compile_without_spills", reductions_compile_without_spills},
      {"several_components_and_a_branch_compile_without_spills",
       several_components_and_a_branch_compile_without_spills},
      {"all_functions_and_operators_compile", all_functions_and_operators_compile},
      {"walls_leave_registers_for_three_blocks", walls_leave_registers_for_three_blocks},
      {"tiles_compile_without_spills", tiles_compile_without_spills},
      {"a_kernel_that_spills_is_noticed", a_kernel_that_spills_is_noticed},
      {"the_fixed_kernels_compile", the_fixed_kernels_compile},
      {"kernels_of_random_programs_compile", kernels_of_random_programs_compile},
      {0}};
  ambit__nvrtc_how how = {.capability = CAPABILITY};
  const char *why;

  nvrtc = ambit__nvrtc_load(&why);
  if (!nvrtc || ambit__nvrtc_choose(NULL, nvrtc, &how) || how.is_ptx) {
    printf("# skipped: %s\n", nvrtc ? "this NVRTC does not know compute capability 9.0" : why);
    return 77;
  }
  return test_main(argc, argv, tests);
}
