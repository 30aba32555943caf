/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines as data: text, speeds that are not known, and plans for machines that are not here. */
#include "plan/emit.h"
#include "support/test.h"

#include <math.h>

static ambit__errors errors;

static const char *const names[] = {"neoverse2", "xeon16", "xeon64", "h200", "laptop"};
enum { NAMES = sizeof names / sizeof *names };

/* ---- text ---- */

static char *print(const ambit__machine *m)
{
  ambit__text t = {0};

  ambit__machine_print(m, &t);
  return ambit__text_finish(&t);
}

static void what_is_printed_is_read_as_the_same(void)
{
  for (int i = 0; i < NAMES; i++) {
    ambit__machine read = {.cores = 1};
    char *first = print(ambit__machine_recorded(names[i])), *second;

    CHECK_EQ(AMBIT_OK, ambit__machine_read(&errors, "test", first, &read));
    second = print(&read);
    CHECK_STR(first, second);
    free(first);
    free(second);
  }
  CHECK(!ambit__machine_recorded("abacus"));
}

static void lines_may_have_comments_units_and_crlf(void)
{
  ambit__machine m = {.cores = 1, .l2 = 7};

  CHECK_EQ(AMBIT_OK, ambit__machine_read(&errors, "test",
                                         "# a fast one\r\n\r\n  machine My Box 3\r\ncores 12\r\n"
                                         "copy 12.5 GB/s  copies in memory\n",
                                         &m));
  CHECK_STR("My Box 3", m.name);
  CHECK_EQ(12, m.cores);
  CHECK(m.copy == 12.5);
  CHECK_EQ(7, m.l2); /* not named */
}

static void a_line_that_describes_nothing_is_refused_by_its_number(void)
{
  static const char *const wrong[] = {"cores 2\ncopy fast\n", "cores 2\nspeed 12\n",
                                      "cores 2\ncopy -3\n", "cores 2\ncopy\n", "l1 1\ncores 0"};

  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ambit__machine m = {.cores = 1};

    CHECK_EQ(AMBIT_EINVAL, ambit__machine_read(&errors, "box.txt", wrong[i], &m));
    CHECK_MSG(errors.text && strstr(errors.text, "box.txt, line 2"), "'%s' gives\n%s", wrong[i],
              errors.text);
    ambit__errors_clear(&errors);
  }
}

/* ---- speeds that are not known ---- */

static void a_speed_that_is_none_is_replaced_by_the_recorded_one(void)
{
  ambit__machine m = *ambit__machine_recorded("xeon16"), bad = m;

  CHECK_EQ(0, ambit__machine_complete(&m));
  bad.copy2 = 0;     /* was not measured */
  bad.launch = 1e12; /* somebody stopped the process */
  bad.chain = NAN;   /* a clock that stood */
  CHECK_EQ(3, ambit__machine_complete(&bad));
  CHECK(fabs(bad.copy2 / m.copy2 - 1) < 1e-9 && bad.launch == m.launch && bad.chain == m.chain);
  CHECK(bad.copy == m.copy);
}

static void a_device_that_was_never_measured_is_like_others_of_its_kind(void)
{
  ambit__machine cpu = {.cores = 4, .vector_bytes = 16}, gpu = {.is_gpu = true, .cores = 66};

  CHECK_EQ(14, ambit__machine_complete(&cpu));
  CHECK_EQ(14, ambit__machine_complete(&gpu));
  CHECK(cpu.copy > 0 && cpu.alone <= cpu.copy && cpu.fma64 < cpu.fma32);
  CHECK(fabs(gpu.copy / ambit__machine_h200.copy - 0.5) < 1e-9);
  CHECK(fabs(ambit__machine_issue(&gpu) / ambit__machine_issue(&ambit__machine_h200) - 1) < 1e-9);
}

/* ---- plans ---- */

static const char *const rules[] = {
    "void five(const float *u, float *v)\n"
    "{ *v = 0.2f * (*u + u[-1][0] + u[1][0] + u[0][-1] + u[0][1]); }",
    "void nine(const double *u, double *v, double k)\n"
    "{ *v = k * (u[-1][-1] + u[-1][1] + u[1][-1] + u[1][1]) / (1 + exp(*u)); }",
    "void seven(const float *u, float *v)\n"
    "{ *v = u[0][0][0] - 0.1f * (u[-1][0][0] + u[1][0][0] + u[0][-1][0] + u[0][1][0]\n"
    "  + u[0][0][-1] + u[0][0][1]); }",
    "void one(const float *u, float *v) { *v = sqrtf(u[1] * u[-1]); }",
};
enum { RULES = sizeof rules / sizeof *rules };

static ambit__target target_of(const ambit__machine *m)
{
  if (m->is_gpu)
    return (ambit__target){.kind = TARGET_GPU,
                           .machine = m,
                           .dialect = &ambit__dialect_cuda,
                           .threads = m->cores,
                           .l2 = m->l2,
                           .max_threads = 1024,
                           .shared = m->shared};
  return (ambit__target){.machine = m,
                         .vector_bytes = m->vector_bytes,
                         .l1 = m->l1,
                         .l2 = m->l2,
                         .l3 = m->l3,
                         .threads = m->cores,
                         .has_nontemporal = m->has_nontemporal};
}

typedef struct problem {
  ambit__binding bind[AMBIT_MAX_PARAMS];
  ambit__group group;
  ambit__rule *rule;
} problem;

static void open_problem(problem *p, const char *text, int64_t cells)
{
  *p = (problem){.rule = NULL};
  CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "test", text, &p->rule));
  for (int i = 0; i < p->rule->nparams; i++) {
    p->bind[i].is_field = p->rule->params[i].kind == PARAM_FIELD;
    p->bind[i].contiguous = p->bind[i].is_field;
  }
  p->group = (ambit__group){.rule = p->rule, .bind = p->bind, .depth = 1, .ndims = p->rule->ndims};
  for (int d = 0; d < p->group.ndims; d++)
    p->group.cells[d] = cells;
}

static double best_ns(const problem *p, const ambit__machine *m)
{
  const ambit__target t = target_of(m);
  ambit__plan plan;

  if (!ambit__plan_choose(&p->group, &t, &plan)) return -1;
  return plan.strategy->cost(&p->group, &t, &plan);
}

static void every_machine_has_plans_and_the_plain_nest_is_one_of_them(void)
{
  for (int i = 0; i < NAMES * RULES; i++) {
    const ambit__target t = target_of(ambit__machine_recorded(names[i / RULES]));
    ambit__plan plans[64];
    bool plain = false;
    problem p;
    int n;

    open_problem(&p, rules[i % RULES], 200);
    n = ambit__plan_candidates(&p.group, &t, plans, 64);
    for (int k = 0; k < n; k++) {
      const double ns = plans[k].strategy->cost(&p.group, &t, &plans[k]);

      plain |= plans[k].strategy == &ambit__strategy_cells;
      CHECK_MSG(ns > 0 && ns < 1e6, "%s, rule %d: %g ns by %s", names[i / RULES], i % RULES, ns,
                plans[k].strategy->name);
    }
    CHECK_MSG(plain, "%s, rule %d", names[i / RULES], i % RULES);
    ambit__rule_free(p.rule);
  }
}

/* Values that no cache keeps: twice the bandwidth, half the time. */
static void sweeps_over_large_fields_take_as_long_as_memory_does(void)
{
  for (int i = 0; i < NAMES; i++) {
    ambit__machine m = *ambit__machine_recorded(names[i]);
    double slow, fast;
    problem p;

    open_problem(&p, rules[0], 8192);
    slow = best_ns(&p, &m);
    m.copy *= 2;
    m.alone *= 2;
    fast = best_ns(&p, &m);
    CHECK_MSG(fabs(slow / fast - 2) < 0.3, "%s: %g ns, then %g ns", names[i], slow, fast);
    ambit__rule_free(p.rule);
  }
}

/* Whether the chosen plan of a star in so many cells squared stores past the caches. */
static bool stores_past(const ambit__target *t, int64_t cells)
{
  ambit__plan plan;
  problem p;

  open_problem(&p, rules[0], cells);
  CHECK(ambit__plan_choose(&p.group, t, &plan));
  ambit__rule_free(p.rule);
  return plan.nontemporal;
}

/* A machine whose memory all cores saturate, and of which one alone waits for non-temporal stores:
 * as some Xeons do. */
static void stores_go_past_the_caches_where_as_many_cores_copy_faster_so(void)
{
  const int threads[] = {1, 2, 16};
  ambit__machine m = *ambit__machine_recorded("xeon16");

  m.alone = m.plain1 = 12; /* by ordinary stores; by others it was slower */
  m.copy = 140;
  m.plain = 90;
  for (int i = 0; i < 3; i++) {
    ambit__target t = target_of(&m);

    t.threads = threads[i];
    CHECK_MSG(stores_past(&t, 8192) == (threads[i] == 16), "%d threads", threads[i]);
  }
}

/* 2048x2048 floats, two fields: 34 MB, where others may use most of the cache. */
static void stores_go_past_a_cache_that_does_not_keep_the_fields(void)
{
  const double kept[] = {16e6, 64e6};

  for (int i = 0; i < 2; i++) {
    ambit__machine m = *ambit__machine_recorded("xeon16");
    const ambit__target t = target_of(&m);

    m.kept = kept[i];
    CHECK_MSG(stores_past(&t, 2048) == (i == 0), "%g bytes are kept", kept[i]);
  }
}

static void speeds_of_ordinary_stores_that_are_not_known_follow_from_the_others(void)
{
  ambit__machine x = {.cores = 4, .has_nontemporal = true, .copy = 30, .alone = 15}, arm = x;

  arm.has_nontemporal = false;
  ambit__machine_complete(&x);
  ambit__machine_complete(&arm);
  CHECK(fabs(x.plain - 20) < 1e-9 && fabs(x.plain1 - 10) < 1e-9);
  CHECK(arm.plain == 30 && arm.plain1 == 15);
  CHECK(ambit__machine_stores_past(&x, 1) && ambit__machine_stores_past(&x, 4));
  CHECK(!ambit__machine_stores_past(&arm, 1) && !ambit__machine_stores_past(&arm, 4));
}

static void divisions_and_functions_take_longer_than_sums(void)
{
  ambit__machine m = *ambit__machine_recorded("xeon16");
  ambit__price price;
  problem p;

  open_problem(&p, rules[1], 100);
  price = ambit__price_of(p.rule);
  CHECK_EQ(1, (int)price.divisions);
  CHECK_EQ(1, (int)price.specials);
  CHECK(price.in_double);
  CHECK(ambit__price_work(&price, &m, 1) >
        2 * (1 / m.divide + 1 / m.special)); /* double: half as fast */
  ambit__rule_free(p.rule);
}

/* A sum, a comparison and a selection; lanes of bytes are a quarter as wide. */
static void operations_on_integers_take_time(void)
{
  static const char narrow[] = "void k(const unsigned char *u, unsigned char *v)"
                               "{ *v = u[1] + u[-1] == 3 ? 1 : 0; }";
  static const char wide[] = "void k(const int *u, int *v) { *v = u[1] + u[-1] == 3 ? 1 : 0; }";
  const ambit__machine m = *ambit__machine_recorded("xeon16");
  ambit__price price[2];

  for (int i = 0; i < 2; i++) {
    ambit__rule *rule;

    CHECK_EQ(AMBIT_OK, ambit__rule_parse(NULL, "k", i ? wide : narrow, &rule));
    price[i] = ambit__price_of(rule);
    CHECK(ambit__price_work(&price[i], &m, 1) > 0);
    ambit__rule_free(rule);
  }
  CHECK(price[1].others == 3);
  CHECK(price[0].others > 0.7 && price[0].others < 1.1); /* casts of bytes cost nothing */
}

/* The planes of the chosen tile of a rule in two dimensions on a GPU. */
static int planes_of(const char *text)
{
  const ambit__target t = target_of(ambit__machine_recorded("h200"));
  ambit__text line = {0};
  ambit__plan plan;
  int planes = 0;
  problem p;

  open_problem(&p, text, 4096);
  CHECK(ambit__plan_choose(&p.group, &t, &plan));
  plan.strategy->describe(&plan, &line);
  CHECK_MSG(line.chars && sscanf(line.chars, "(strip tile 4x1x%d", &planes) == 1, "%s",
            line.chars ? line.chars : "");
  ambit__text_free(&line);
  ambit__rule_free(p.rule);
  return planes;
}

static void code_is_as_long_as_the_cache_of_instructions(void)
{
  const int plain = planes_of("void k(const float *u, float *v)"
                              "{ *v = u[1][0] * u[0][1] + u[-1][0] * u[0][-1]; }");
  const int angle = planes_of("void k(const float *u, float *v)"
                              "{ float a = atan2f(u[1][0] - u[-1][0], u[0][1] - u[0][-1]);"
                              "  *v = sinf(a) * cosf(6 * a); }");

  CHECK_MSG(plain >= 6 && angle >= 2 && angle <= 4, "%d and %d planes", plain, angle);
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {
      T(what_is_printed_is_read_as_the_same),
      T(operations_on_integers_take_time),
      T(lines_may_have_comments_units_and_crlf),
      T(a_line_that_describes_nothing_is_refused_by_its_number),
      T(a_speed_that_is_none_is_replaced_by_the_recorded_one),
      T(a_device_that_was_never_measured_is_like_others_of_its_kind),
      T(every_machine_has_plans_and_the_plain_nest_is_one_of_them),
      T(sweeps_over_large_fields_take_as_long_as_memory_does),
      T(stores_go_past_the_caches_where_as_many_cores_copy_faster_so),
      T(stores_go_past_a_cache_that_does_not_keep_the_fields),
      T(speeds_of_ordinary_stores_that_are_not_known_follow_from_the_others),
      T(divisions_and_functions_take_longer_than_sums),
      T(code_is_as_long_as_the_cache_of_instructions),
      {0}};
#undef T

  return test_main(argc, argv, tests);
}
