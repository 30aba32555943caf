/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from the reads of a flow, for chains of one rule: stage i reads value i and computes
 * value i + 1. */
#include "flow/flow.h"
#include "support/test.h"

#include <stdlib.h>

enum { DEPTH = 3 };

static ambit__flow *make_chain(const ambit__rule *rule, const ambit__boundaries *boundaries)
{
  ambit__flow *f = calloc(1, sizeof *f);

  f->nstages = DEPTH;
  f->nvalues = DEPTH + 1;
  f->nports = 2 * DEPTH;
  for (int i = 0; i < DEPTH; i++) {
    f->stages[i] = (ambit__flow_stage){.rule = rule, .iteration = i};
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

static ambit__rule *parse(const char *text)
{
  ambit__rule *rule = NULL;

  CHECK_EQ(AMBIT_OK, ambit__rule_parse(NULL, "chain", text, &rule));
  return rule;
}

/* Rows advance along axis 0; each is there when it arrives. */
static int ahead(const void *user, int value, const int *offset)
{
  (void)user;
  (void)value;
  return offset[0];
}

static void lags_grow_by_the_reads_ahead(void)
{
  ambit__rule *rule = parse("void k(const float *u, float *v)"
                            "{ *v = u[2][0] + u[-1][0] + u[0][-3]; }");
  ambit__flow *f = make_chain(rule, NULL);
  int stages[AMBIT__FLOW_STAGES], values[AMBIT__FLOW_VALUES];

  ambit__flow_lags(f, false, ahead, NULL, stages, values);
  for (int i = 0; i < DEPTH; i++) {
    CHECK_EQ(2 * (i + 1), stages[i]);
    CHECK_EQ(stages[i], values[i + 1]);
  }
  CHECK_EQ(0, values[0]);
  free(f);
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
  f->in[f->nports] = f->nvalues;
  f->out[f->nports++] = -1;
  f->values[f->nvalues++] = (ambit__flow_value){.stage = -1, .target = -1, .frozen = -1};
  CHECK(ambit__flow_is_new(f, DEPTH - 1, DEPTH + 1) && !ambit__flow_is_new(f, 0, DEPTH + 1));
  CHECK(ambit__flow_is_new(f, 1, 1) && !ambit__flow_is_new(f, 2, 1));
  ambit__flow_lags(f, false, ahead, NULL, stages, values);
  CHECK_EQ(DEPTH, stages[DEPTH - 1]);
  CHECK_EQ(DEPTH, values[DEPTH + 1]);
  free(f);
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
  free(f);
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
  free(f);
  ambit__rule_free(rule);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"lags_grow_by_the_reads_ahead", lags_grow_by_the_reads_ahead},
      {"loaded_values_arrive_when_they_are_needed", loaded_values_arrive_when_they_are_needed},
      {"cells_beside_a_tile_add_up", cells_beside_a_tile_add_up},
      {"mirrored_cells_count_on_the_other_side", mirrored_cells_count_on_the_other_side},
      {0}};

  return test_main(argc, argv, tests);
}
