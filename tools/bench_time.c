/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_time.c - verifies and times one problem, and compares with the limits of the machine.
 *
 * The limits are measured just before and just after the repetitions, because those of a shared
 * machine change within minutes; the better of the two counts.
 */
#include "base/median.h"
#include "bench.h"
#include "device/cpu/compile.h"
#include "runtime/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct result {
  const bench_line *line;
  char plan[256], compiler[128], machine[128];
  double reps[BENCH_REPS];       /* Gcells/s of each */
  double best, median;           /* of all repetitions */
  double limit_bytes, limit_ops; /* Gcells/s; 0: none */
} result;

/* ---- the machine ---- */

static double larger(double a, double b)
{
  return a > b ? a : b;
}

/* The first line of the compiler's --version; "" if kernels are not compiled. */
static void find_compiler(ambit *a, char *out, size_t cap)
{
  const char *args[AMBIT__COMPILER_ARGS];
  ambit__text said = {0};
  ambit__cc *cc;
  int n = 0;

  out[0] = '\0';
  if (ambit__cc_open(&a->errors, &a->settings, &cc)) return;
  for (; cc->available && n < cc->compiler.nwords && n < AMBIT__COMPILER_ARGS - 2; n++)
    args[n] = cc->compiler.words[n];
  args[n] = "--version";
  args[n + 1] = NULL;
  if (cc->available &&
      ambit__process_run(&(ambit__process){.argv = args, .seconds = 10}, &said) == PROCESS_OK &&
      said.chars)
    snprintf(out, cap, "%.*s", (int)strcspn(said.chars, "\n"), said.chars);
  ambit__text_free(&said);
  ambit__cc_close(cc);
}

/* Multiply-adds per cell: one per point of a weighted sum, else half the operations. */
static double adds_per_cell(const ambit__rule *rule)
{
  enum { MOST = 4096 };
  ambit__tap *taps = malloc(MOST * sizeof *taps);
  int n = 0;
  bool is_sum = taps && ambit__rule_taps(rule, taps, MOST, &n);

  free(taps);
  return is_sum ? n : (double)rule->flops / 2;
}

static void set_limits(result *r, const ambit__machine *m)
{
  const tool_problem *p = &r->line->problem;
  double bytes = ambit_kernel_bytes(p->kernel), adds = adds_per_cell(p->rule);
  bool wide = (p->type != AMBIT_F32 && !ambit__type_is_half(p->type)) ||
              p->rule->mixes_double; /* integers are weighted in double */

  if (bytes > 0) r->limit_bytes = m->copy / bytes;
  if (adds > 0) r->limit_ops = (wide ? m->fma64 : m->fma32) / adds;
}

/* ---- timing ---- */

static void rank(result *r)
{
  double sorted[BENCH_REPS];
  size_t n = (size_t)r->line->reps;

  memcpy(sorted, r->reps, n * sizeof *sorted);
  r->median = ambit__median(sorted, n);
  r->best = sorted[n - 1];
}

static ambit_status repeat(tool_job *job, result *r)
{
  const ambit_stats *s = ambit_program_stats(job->program, 0);

  for (int64_t i = 0; i < r->line->reps && s; i++) {
    const ambit_stats before = *s;

    AMBIT_TRY(ambit_run(job->program, r->line->iterations));
    s = ambit_program_stats(job->program, 0);
    if (s) r->reps[i] = (s->cells - before.cells) / (s->seconds - before.seconds) / 1e9;
  }
  return s ? AMBIT_OK : AMBIT_EDEVICE;
}

static void find_plan(const tool_job *job, char *out, size_t cap)
{
  const ambit_program *p = job->program;

  snprintf(out, cap, "(nothing to do)");
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->applies[i].functions) snprintf(out, cap, "%s", p->applies[i].functions[0]->plan);
}

/* ---- the line ---- */

void bench_print_text(ambit__text *t, const char *name, const char *text)
{
  ambit__print(t, "\"%s\": \"", name);
  for (; *text; text++)
    if ((unsigned char)*text < ' ')
      ambit__print(t, "\\u%04x", *text);
    else
      ambit__print(t, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
  ambit__print(t, "\"");
}

static void print_number(ambit__text *t, const char *name, double x)
{
  if (x > 0)
    ambit__print(t, ", \"%s\": %.5g", name, x);
  else
    ambit__print(t, ", \"%s\": null", name);
}

static double limit(const result *r)
{
  if (r->limit_bytes <= 0) return r->limit_ops;
  return r->limit_ops > 0 && r->limit_ops < r->limit_bytes ? r->limit_ops : r->limit_bytes;
}

static void print_texts(ambit__text *t, const result *r, const char *size, const char *device)
{
  const struct {
    const char *name, *text;
  } rows[] = {{"problem", r->line->text},
              {"stencil", r->line->problem.what},
              {"size", size},
              {"type", ambit_type_name(r->line->problem.type)},
              {"device", device},
              {"machine", r->machine},
              {"compiler", r->compiler},
              {"plan", r->plan}};

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ambit__print(t, "%s", i ? ", " : "{");
    bench_print_text(t, rows[i].name, rows[i].text);
  }
}

static void print_result(const result *r, const ambit *a)
{
  const double bytes = ambit_kernel_bytes(r->line->problem.kernel), most = limit(r);
  char size[TOOL_SIZE_CHARS];
  ambit__text t = {0};

  tool_print_size(&r->line->problem.size, size);
  print_texts(&t, r, size, a->engines[0].device->backend->name);
  ambit__print(&t, ", \"processes\": %d, \"parts\": %d", a->net->size,
               a->placement.first[a->net->size]);
  ambit__print(&t, ", \"iterations\": %" PRId64, r->line->iterations);
  print_number(&t, "gcells", r->best);
  print_number(&t, "median", r->median);
  ambit__print(&t, ", \"reps\": [");
  for (int64_t i = 0; i < r->line->reps; i++)
    ambit__print(&t, "%s%.5g", i ? ", " : "", r->reps[i]);
  ambit__print(&t, "]");
  print_number(&t, "gbytes", r->best * bytes);
  print_number(&t, "limit_bytes", r->limit_bytes);
  print_number(&t, "limit_ops", r->limit_ops);
  print_number(&t, "share", most > 0 ? r->best / most : 0);
  ambit__print(&t, ", \"verified\": true}");
  printf("%s\n", t.chars ? t.chars : "");
  fflush(stdout);
  fprintf(tool_notes, "%-40s %8.3f Gcells/s  %5.1f %% of the limit (%s)\n", r->line->text, r->best,
          most > 0 ? 100 * r->best / most : 0,
          r->limit_ops > 0 && most == r->limit_ops ? "operations" : "bytes");
  ambit__text_free(&t);
}

/* ---- all of it ---- */

static ambit_status time_job(ambit *a, const bench_line *line)
{
  result r = {.line = line};
  ambit__device_info info;
  ambit__machine before, after;
  tool_job job;

  AMBIT_TRY(tool_job_open(a, &line->problem, line->problem.kernel, &job));
  AMBIT_TRY(tool_job_start(&job));
  if (!bench_verify_first(a, line, &job)) return AMBIT_EPROGRAM;
  AMBIT_TRY(ambit_run(job.program, 1));
  before = bench_measure_limits(a);
  AMBIT_TRY(repeat(&job, &r));
  after = bench_measure_limits(a);
  before.copy = larger(before.copy, after.copy);
  before.fma32 = larger(before.fma32, after.fma32);
  before.fma64 = larger(before.fma64, after.fma64);
  set_limits(&r, &before);
  rank(&r);
  find_plan(&job, r.plan, sizeof r.plan);
  if (!strcmp(a->engines[0].device->backend->name, "cpu"))
    find_compiler(a, r.compiler, sizeof r.compiler);
  a->engines[0].device->backend->info(a->engines[0].device, &info);
  memcpy(r.machine, info.name, sizeof r.machine);
  print_result(&r, a);
  return ambit_error(a);
}

int bench_problem(ambit *a, const tool_args *args, const bench_line *line)
{
  if (!bench_verify_small(a, args, line)) return TOOL_FAILED;
  return time_job(a, line) ? TOOL_FAILED : TOOL_OK;
}
