/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from the reads of a flow: for chains of one rule, where stage i reads value i and
 * computes value i + 1, and in memory, where values overwrite each other. */
#include "flow/flow.h"
#include "support/test.h"

#include <stdlib.h>

enum { DEPTH = 3 };

static ambit__flow *make_chain(const ambit__rule *rule, const ambit__boundaries *boundaries)
{
  ambit__flow *f = calloc(1, sizeof *f);

  CHECK_EQ(AMBIT_OK, ambit__flow_open(NULL, DEPTH, DEPTH + 2, 2 * DEPTH + 1, f));
  f->nstages = DEPTH;
  f->nvalues = DEPTH + 1;
  f->nports = 2 * DEPTH;
  for (int i = 0; i < DEPTH; i++) {
    f->stages[i] = (ambit__flow_stage){.rule = rule, .iteration = i, .ports = 2 * i, .nports = 2};
    f->stages[i].port[0] = 2 * i;
    f->stages[i].port[1] = 2 * i + 1;
    f->in[2 * i] = i;
    f->out[2 * i] = f->in[2 * i + 1] = -1;
    f->out[2 * i + 1] = i + 1;
  }
  for (int v = 0; v <= DEPTH; v++)
    f->values[v] = (ambit__flow_value){.type = AMBIT_F32,
                                       .stage = v - 1,
                                       .target = v == DEPTH ? 1 : -1,
                                       .frozen = -1,
                                       .boundaries = boundaries};
  return f;
}

static void free_flow(ambit__flow *f)
{
  ambit__flow_free(f);
  free(f);
}

static ambit__rule *parse(const char *text)
{
  ambit__rule *rule = NULL;

  CHECK_EQ(AMBIT_OK, ambit__rule_parse(NULL, "chain", text, &rule));
  return rule;
}

/* Rows advance along axis 0; each is there when it arrives. */
static int ahead(const void *user, int stage, const ambit__flow_read *r)
{
  (void)user;
  (void)stage;
  return r->offset[0];
}

static const ambit__flow_pass rows = {.arrives = true, .ahead = ahead};

static void lags_grow_by_the_reads_ahead(void)
{
  ambit__rule *rule = parse("void k(const float *u, float *v)"
                            "{ *v = u[2][0] + u[-1][0] + u[0][-3]; }");
  ambit__flow *f = make_chain(rule, NULL);
  int stages[AMBIT__FLOW_STAGES], values[AMBIT__FLOW_VALUES];

  ambit__flow_lags(f, &rows, stages, values, NULL);
  for (int i = 0; i < DEPTH; i++) {
    CHECK_EQ(2 * (i + 1), stages[i]);
    CHECK_EQ(stages[i], values[i + 1]);
  }
  CHECK_EQ(0, values[0]);
  free_flow(f);
  ambit__rule_free(rule);
}

/* A second value that is only read beside the cells of the last stage. */
static void loaded_values_arrive_when_they_are_needed(void)
{
  ambit__rule *rule = parse("void k(const float *u, float *v) { *v = u[1][0] + u[-1][0]; }");
  ambit__rule *sum =
      parse("void s(const float *u, float *v, const float *c) { *v = u[1][0] + *c; }");
  ambit__flow *f = make_chain(rule, NULL);
  int stages[AMBIT__FLOW_STAGES], values[AMBIT__FLOW_VALUES];

  f->stages[DEPTH - 1].rule = sum;
  f->stages[DEPTH - 1].port[2] = f->nports;
  f->stages[DEPTH - 1].nports = 3;
  f->in[f->nports] = f->nvalues;
  f->out[f->nports++] = -1;
  f->values[f->nvalues++] = (ambit__flow_value){.stage = -1, .target = -1, .frozen = -1};
  CHECK(ambit__flow_is_new(f, DEPTH - 1, DEPTH + 1) && !ambit__flow_is_new(f, 0, DEPTH + 1));
  CHECK(ambit__flow_is_new(f, 1, 1) && !ambit__flow_is_new(f, 2, 1));
  ambit__flow_lags(f, &rows, stages, values, NULL);
  CHECK_EQ(DEPTH, stages[DEPTH - 1]);
  CHECK_EQ(DEPTH, values[DEPTH + 1]);
  free_flow(f);
  ambit__rule_free(rule);
  ambit__rule_free(sum);
}

static void cells_beside_a_tile_add_up(void)
{
  ambit__rule *rule = parse("void k(const float *u, float *v)"
                            "{ *v = u[2][0] + u[-1][0] + u[0][-3]; }");
  ambit__flow *f = make_chain(rule, NULL);
  ambit__flow_cells reach[AMBIT__FLOW_VALUES], beside[AMBIT__FLOW_VALUES];

  ambit__flow_reach(f, false, reach);
  ambit__flow_beside(f, false, true, beside);
  for (int v = 0; v <= DEPTH; v++) {
    CHECK_EQ(v < DEPTH ? 1 : 0, reach[v].n[0][0]);
    CHECK_EQ(v < DEPTH ? 2 : 0, reach[v].n[0][1]);
    CHECK_EQ(1 * (DEPTH - v), beside[v].n[0][0]);
    CHECK_EQ(2 * (DEPTH - v), beside[v].n[0][1]);
    CHECK_EQ(3 * (DEPTH - v), beside[v].n[1][0]);
    CHECK_EQ(0, beside[v].n[1][1]);
  }
  free_flow(f);
  ambit__rule_free(rule);
}

/* Reads before a face that reflects are reads after it, in a tile of one cell at the face. */
static void mirrored_cells_count_on_the_other_side(void)
{
  const ambit__boundaries b = {.kind = {{AMBIT_REFLECT, AMBIT_NONE}}};
  ambit__rule *rule = parse("void k(const float *u, float *v) { *v = u[-1][0]; }");
  ambit__flow *f = make_chain(rule, &b);
  ambit__flow_cells beside[AMBIT__FLOW_VALUES];

  ambit__flow_beside(f, false, false, beside);
  CHECK_EQ(0, beside[0].n[0][1]);
  ambit__flow_beside(f, false, true, beside);
  CHECK_EQ(DEPTH, beside[0].n[0][0]);
  CHECK_EQ(DEPTH, beside[0].n[0][1]);
  f->periodic[0] = true; /* the grid continues */
  ambit__flow_beside(f, false, true, beside);
  CHECK_EQ(0, beside[0].n[0][1]);
  free_flow(f);
  ambit__rule_free(rule);
}

/* ---- in memory ---- */

enum { BUFFERS = 4, STAGES = 8 };

/* Rows and columns that a stage reads before and after its own. */
static int above(const void *user, int stage, const ambit__flow_read *r)
{
  const int n = r->offset[*(const int *)user];

  (void)stage;
  return n > 0 ? n : 0;
}

static int below(const void *user, int stage, const ambit__flow_read *r)
{
  const int n = r->offset[*(const int *)user];

  (void)stage;
  return n < 0 ? -n : 0;
}

/* Stages on BUFFERS fields; now[b] is the present value of buffer b. */
typedef struct memory {
  ambit__flow f;
  int now[BUFFERS];
  ambit__flow_cells beside[BUFFERS + 3 * STAGES];
} memory;

static memory *make_memory(void)
{
  memory *m = calloc(1, sizeof *m);

  CHECK_EQ(AMBIT_OK, ambit__flow_open(NULL, STAGES, BUFFERS + 3 * STAGES, 3 * STAGES, &m->f));
  m->f.memory = true;
  for (int b = 0; b < BUFFERS; b++) {
    m->f.values[m->f.nvalues] =
        (ambit__flow_value){.stage = -1, .frozen = -1, .over = -1, .filler = -1, .field = b};
    m->now[b] = m->f.nvalues++;
  }
  return m;
}

static void free_memory(memory *m)
{
  m->f.beside = NULL;
  ambit__flow_free(&m->f);
  free(m);
}

/* A stage of a rule whose arguments have these buffers. It leaves cells alone if `partly`. */
static void add(memory *m, const ambit__rule *rule, const int *buffers, bool partly)
{
  ambit__flow *f = &m->f;
  ambit__flow_stage *st = &f->stages[f->nstages];

  *st = (ambit__flow_stage){.rule = rule, .ports = f->nports, .nports = rule->nparams};
  for (int i = 0; i < rule->nparams; i++) {
    st->port[i] = f->nports;
    f->in[f->nports] = m->now[buffers[i]];
    f->out[f->nports++] = -1;
  }
  for (int i = 0; i < rule->nparams; i++) {
    const int old = m->now[buffers[i]];

    if (!rule->params[i].is_written) continue;
    f->values[f->nvalues] = f->values[old];
    f->values[f->nvalues].stage = f->nstages;
    f->values[f->nvalues].over = old;
    f->values[f->nvalues].frozen = partly ? old : -1;
    f->out[st->port[i]] = m->now[buffers[i]] = f->nvalues++;
  }
  f->nstages++;
}

/* The lag of a stage along an axis; with `back`, its lead. */
static int lag_of(const memory *m, int stage, int axis, bool back, int unit)
{
  const ambit__flow_pass pass = {
      .unit = unit, .ahead = back ? below : above, .behind = back ? above : below, .user = &axis};
  int stages[STAGES], values[BUFFERS + 3 * STAGES], until[BUFFERS + 3 * STAGES];

  ambit__flow_lags(&m->f, &pass, stages, values, until);
  return stages[stage];
}

/* Two buffers take turns. A stage overwrites what the stage before it reads, so it also lags by the
 * reach back of that one. */
static void a_stage_waits_for_reads_of_what_it_overwrites(void)
{
  static const char *const texts[] = {
      "void k(const float *u, float *v) { *v = u[-1][0] + u[2][0]; }",
      "void k(const float *u, float *v) { *v = u[-3][0] + u[1][0]; }"};

  for (int t = 0; t < 2; t++) {
    ambit__rule *rule = parse(texts[t]);
    memory *m = make_memory();

    for (int i = 0; i < 5; i++)
      add(m, rule, (const int[]){i % 2, 1 - i % 2}, false);
    for (int i = 0; i < 5; i++) {
      CHECK_EQ((2 + t) * i, lag_of(m, i, 0, false, 1));
      CHECK_EQ((2 + t) * i, lag_of(m, i, 0, true, 1));
      CHECK_EQ(0, lag_of(m, i, 1, false, 1));
      CHECK_EQ(16 * i, lag_of(m, i, 0, false, 16)); /* a multiple of the unit */
    }
    free_memory(m);
    ambit__rule_free(rule);
  }
}

/* In place, as staggered fields are: h reads e ahead, e reads h back. A coefficient that nobody
 * writes costs nothing. */
static void staggered_fields_lag_once_per_iteration(void)
{
  ambit__rule *h = parse("void h(float *h, const float *e, const float *c)"
                         "{ *h += *c * (e[1][0] - *e) + c[9][0] + c[-9][0]; }");
  ambit__rule *e = parse("void e(float *e, const float *h) { *e += *h - h[-1][0]; }");
  memory *m = make_memory();

  for (int i = 0; i < 4; i++) {
    add(m, h, (const int[]){0, 1, 3}, false);
    add(m, e, (const int[]){1, 0}, false);
  }
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(i, lag_of(m, 2 * i, 0, false, 1));
    CHECK_EQ(i, lag_of(m, 2 * i + 1, 0, false, 1));
    CHECK_EQ(i, lag_of(m, 2 * i, 0, true, 1));
    CHECK_EQ(i + 1, lag_of(m, 2 * i + 1, 0, true, 1));
  }
  free_memory(m);
  ambit__rule_free(h);
  ambit__rule_free(e);
}

/* A stage reads the field that it writes, and the next one overwrites it: what the first one reads
 * back must stay for so long. */
static void a_stage_waits_for_reads_of_the_stage_before_it(void)
{
  ambit__rule *edge = parse("void e(float *u) { *u = u[-3][0] + u[1][0]; }");
  ambit__rule *damp = parse("void d(float *u) { *u = 2 * *u; }");
  memory *m = make_memory();

  for (int i = 0; i < 3; i++) {
    add(m, edge, (const int[]){0}, true);
    add(m, damp, (const int[]){0}, false);
  }
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(4 * i, lag_of(m, 2 * i, 0, false, 1));
    CHECK_EQ(4 * i + 3, lag_of(m, 2 * i + 1, 0, false, 1));
    CHECK_EQ(4 * i, lag_of(m, 2 * i, 0, true, 1));
    CHECK_EQ(4 * i + 1, lag_of(m, 2 * i + 1, 0, true, 1));
  }
  free_memory(m);
  ambit__rule_free(edge);
  ambit__rule_free(damp);
}

/* A stage that leaves cells alone needs those of the value before it, but a stage that overwrites
 * them all does not. */
static void layers_follow_the_values_that_stay(void)
{
  ambit__rule *copy = parse("void c(const float *u, float *v) { *v = *u; }");
  ambit__rule *star = parse("void s(const float *u, float *v) { *v = u[-1][0] + u[2][0]; }");

  for (int partly = 0; partly < 2; partly++) {
    memory *m = make_memory();

    add(m, copy, (const int[]){2, 0}, partly);
    add(m, star, (const int[]){0, 1}, false);
    m->f.beside = m->beside;
    m->f.cut[0] = true;
    ambit__flow_layers(&m->f);
    CHECK_EQ(partly ? 1 : 0, m->beside[0].n[0][0]);
    CHECK_EQ(partly ? 2 : 0, m->beside[0].n[0][1]);
    CHECK_EQ(2, m->beside[2].n[0][1]);
    CHECK_EQ(2, m->f.stages[0].beyond.n[0][1]);
    CHECK_EQ(2, ambit__flow_valid(&m->f, m->now[0])->n[0][1]);
    CHECK_EQ(0, m->f.stages[1].beyond.n[0][1]);
    free_memory(m);
  }
  ambit__rule_free(copy);
  ambit__rule_free(star);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"lags_grow_by_the_reads_ahead", lags_grow_by_the_reads_ahead},
      {"loaded_values_arrive_when_they_are_needed", loaded_values_arrive_when_they_are_needed},
      {"cells_beside_a_tile_add_up", cells_beside_a_tile_add_up},
      {"mirrored_cells_count_on_the_other_side", mirrored_cells_count_on_the_other_side},
      {"a_stage_waits_for_reads_of_what_it_overwrites",
       a_stage_waits_for_reads_of_what_it_overwrites},
      {"staggered_fields_lag_once_per_iteration", staggered_fields_lag_once_per_iteration},
      {"a_stage_waits_for_reads_of_the_stage_before_it",
       a_stage_waits_for_reads_of_the_stage_before_it},
      {"layers_follow_the_values_that_stay", layers_follow_the_values_that_stay},
      {0}};

  return test_main(argc, argv, tests);
}
