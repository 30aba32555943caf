/* SPDX-License-Identifier: BSD-3-Clause */
/* test_footprint.c - reads, writes, kept components and cost of a kernel. */
#include "kernel_test.h"

static void reads_are_sorted_and_distinct(void)
{
  ambit__rule *r = parse_ok("void f(const float *u, float *v)\n"
                            "{ *v = u[1][0] + u[0][-2] + *u + u[1][0] + u[0][0]; }");
  const ambit__param *u = &r->params[0], *v = &r->params[1];

  CHECK_EQ(2, r->ndims);
  CHECK_EQ(3, u->nreads);
  CHECK_EQ(-2, u->reads[0].offset[1]);
  CHECK(u->reads[1].offset[0] == 0 && u->reads[1].offset[1] == 0);
  CHECK_EQ(1, u->reads[2].offset[0]);
  CHECK_EQ(2, u->reads[2].place.line);
  CHECK_EQ(8, u->reads[2].place.column);
  CHECK(u->low[0] == 0 && u->low[1] == 2 && u->high[0] == 1 && u->high[1] == 0);
  CHECK(u->reads_neighbours && !u->is_written);
  CHECK(v->is_written && v->writes[0] && !v->keeps[0] && !v->nreads && !v->reads_neighbours);
  ambit__rule_free(r);
}

static void components_are_told_apart(void)
{
  ambit__rule *r = parse_ok("void f(const float *p[3], float *q[3])\n"
                            "{ *q[0] = p[2][1] + *p[0]; if (*p[0] > 0) *q[2] = 1; }");
  const ambit__param *p = &r->params[0], *q = &r->params[1];

  CHECK_EQ(1, r->ndims);
  CHECK_EQ(2, p->nreads);
  CHECK(p->reads[0].component == 0 && p->reads[1].component == 2);
  CHECK(q->writes[0] && !q->writes[1] && q->writes[2]);
  CHECK(!q->keeps[0] && !q->keeps[1] && q->keeps[2]);
  CHECK_EQ(1, q->nreads);
  CHECK_EQ(2, q->reads[0].component);
  ambit__rule_free(r);
}

static bool keeps(const char *statements)
{
  char text[500];
  ambit__rule *r;
  bool answer;

  snprintf(text, sizeof text, "void f(const int *m, float *v) { %s }", statements);
  r = parse_ok(text);
  answer = r->params[1].keeps[0];
  CHECK_EQ(answer, r->params[1].nreads);
  ambit__rule_free(r);
  return answer;
}

static void an_old_value_counts_if_some_way_does_not_write(void)
{
  CHECK(!keeps("*v = 1;"));
  CHECK(!keeps("*v = 1; *v += 2;"));
  CHECK(keeps("*v += 1;"));
  CHECK(keeps("*v = *v * 2;"));
  CHECK(keeps("if (*m) *v = 1;"));
  CHECK(!keeps("if (*m) *v = 1; else *v = 2;"));
  CHECK(keeps("if (*m) *v = 1; else if (*m > 1) *v = 2;"));
  CHECK(!keeps("if (*m) { if (*m > 1) *v = 1; else *v = 3; } else *v = 2;"));
  CHECK(!keeps("if (*m) *v = 1; *v = 2;"));
  CHECK(keeps("if (*m) *v = 1; float t = *v; *v = 2 * t;"));
  CHECK(keeps("if (*m) { *v = 1; } else { if (*m > 1) { } else *v = 1; }"));
  CHECK(!keeps("if (1) *v = 1;"));
}

static void a_read_of_the_cell_itself_sees_what_was_written(void)
{
  ambit__rule *r = parse_ok("void f(const float *u, float *v) { *v = *u; *v = *v + u[0]; }");
  const ambit__stmt *s = r->body->next;

  CHECK_EQ(EXPR_OUT, s->value->a->op);
  CHECK_EQ(1, s->value->a->index);
  CHECK_EQ(EXPR_READ, s->value->b->op);
  CHECK_EQ(0, s->value->b->index);
  ambit__rule_free(r);
}

static void a_component_that_is_never_written_is_read_as_it_was(void)
{
  ambit__rule *r = parse_ok("void f(float *q[2]) { *q[0] = *q[1]; }");

  CHECK_EQ(EXPR_READ, r->body->value->op);
  CHECK_EQ(1, r->params[0].nreads);
  CHECK_EQ(1, r->params[0].reads[0].component);
  CHECK(!r->params[0].keeps[0] && !r->params[0].keeps[1]);
  ambit__rule_free(r);
}

static void a_field_may_be_read_around_and_written_in_one(void)
{
  ambit__rule *r = parse_ok("void f(float *u) { *u = 0.5f * (u[-1] + u[1]); }");

  CHECK(r->params[0].is_written && r->params[0].reads_neighbours && !r->params[0].keeps[0]);
  CHECK_EQ(2, r->params[0].nreads);
  ambit__rule_free(r);
}

static void a_component_may_be_written_at_a_neighbour(void)
{
  ambit__rule *r = parse_ok(
      "void f(float *f[2], float *v) { f[1][0][-2] = 1; *f[0] = f[0][1][0]; v[1][0] *= 2; }");
  const ambit__param *f = &r->params[0], *v = &r->params[1];

  CHECK_EQ(0, ambit__param_target(f, 0)[1]);
  CHECK_EQ(-2, ambit__param_target(f, 1)[1]);
  CHECK(f->keeps[1] && !f->keeps[0] && f->writes[0] && f->writes[1]);
  CHECK_EQ(2, f->nreads);
  CHECK_EQ(-2, f->reads[1].offset[1]);
  CHECK_EQ(2, f->low[1]);
  CHECK_EQ(1, v->nreads);
  CHECK_EQ(1, v->high[0]);
  CHECK(ambit__param_spreads(f, 1) && !ambit__param_spreads(f, 0) && ambit__rule_spreads(r));
  ambit__rule_free(r);
}

static void a_reduction_starts_with_a_value(void)
{
  ambit__rule *r = parse_ok("void f(const float *u, sum float *s) { if (*u > 0) *s = *s + *u; }");

  CHECK(r->params[1].is_written && r->params[1].writes[0] && !r->params[1].keeps[0]);
  CHECK_EQ(0, r->params[1].nreads);
  ambit__rule_free(r);
}

static void axes_are_counted_by_subscripts(void)
{
  static const struct {
    const char *text;
    int ndims, max_axis;
  } cases[] = {
      {"void f(const float *u, float *v) { *v = *u; }", 0, -1},
      {"void f(const float *u, float *v) { *v = u[0]; }", 1, -1},
      {"void f(const float *u[2], float *v) { *v = u[1][0][1][0]; }", 3, -1},
      {"void f(float *v) { *v = index(2) + extent(0); }", 0, 2},
      {"void f(float *v) { v[0][0][0][0][0][0] = 1; }", 6, -1},
      {"void f(float k, sum float *s) { *s = k; }", 0, -1},
      {"void f(const float *u, sum float *s) { if (0) *s = u[1][0]; *s = 1; }", 0, -1},
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ambit__rule *r = parse_ok(cases[i].text);

    CHECK_MSG(r->ndims == cases[i].ndims, "%s: %d axes", cases[i].text, r->ndims);
    CHECK_EQ(cases[i].max_axis, r->max_axis);
    ambit__rule_free(r);
  }
}

static int64_t flops(const char *value)
{
  char text[500];
  ambit__rule *r;
  int64_t n;

  snprintf(text, sizeof text, "void f(const float *u, float *v) { *v = %s; }", value);
  r = parse_ok(text);
  n = r->flops;
  ambit__rule_free(r);
  return n;
}

static void operations_are_counted(void)
{
  CHECK_EQ(0, flops("-*u"));
  CHECK_EQ(3, flops("*u + *u * *u / *u"));
  CHECK_EQ(0, flops("fabsf(*u)"));
  CHECK_EQ(2, flops("fmaf(*u, *u, *u)"));
  CHECK_EQ(2, flops("sqrtf(*u) - 1"));
  CHECK_EQ(1, flops("(int)*u + 1 + 2.0f"));
  CHECK_EQ(2, flops("*u > 0 ? *u + 1 : *u - 1"));
  CHECK_EQ(0, flops("2.0f * 3.0f"));
}

static bool mixes(const char *text)
{
  ambit__rule *r = parse_ok(text);
  bool answer = r->mixes_double;

  ambit__rule_free(r);
  return answer;
}

static void doubles_among_floats_are_noticed(void)
{
  CHECK(mixes("void f(const float *u, float *v) { *v = 0.5 * *u; }"));
  CHECK(mixes("void f(const float *u, float *v) { *v = sqrt(*u); }"));
  CHECK(!mixes("void f(const float *u, float *v) { *v = 0.5f * *u; }"));
  CHECK(!mixes("void f(const float *u, float *v) { *v = 0.5 * 2; *v += *u; }"));
  CHECK(!mixes("void f(const double *u, float *v) { *v = 0.5 * *u; }"));
  CHECK(!mixes("void f(double a, sum double *b) { *b = 0.5 * a; }"));
}

static void the_use_of_step_is_noted(void)
{
  ambit__rule *r = parse_ok("void f(float *v) { *v = step() % 2; }");

  CHECK(r->uses_step);
  ambit__rule_free(r);
  r = parse_ok("void f(float *v) { *v = index(0); }");
  CHECK(!r->uses_step);
  ambit__rule_free(r);
}

static void locals_must_have_a_value_before_they_are_read(void)
{
  ambit__rule_free(parse_ok("void f(const int *m, float *v)\n"
                            "{ float t; if (*m) t = 1; else t = 2; *v = t; }"));
  check_refused("void f(const int *m, float *v) { float t; if (*m) t = 1; *v = t; }",
                "'t' is read before it has a value");
  check_refused("void f(float *v) { float t[2]; t[0] = 1; *v = t[1]; }",
                "an element of 't' (t_1) is read before");
  check_refused("void f(float *v) { float t; t += 1; *v = t; }", "read before");
  /* a value set on one side of an inner if does not count for the outer side */
  check_refused("void f(const int *m, float *v)\n"
                "{ float t; if (*m) t = 1; else { if (*m > 1) {} else t = 2; } *v = t; }",
                "read before");
}

/* Which sides of two axes need a boundary: "-+" for low and high of each, '.' for none. */
static void check_crosses(const char *body, const char *want)
{
  char text[1000], got[5] = "....";
  ambit__rule *rule;

  snprintf(text, sizeof text, "void k(const float *u, float *v, int n) { *v = 0; %s }", body);
  rule = parse_ok(text);
  for (int i = 0; i < 4; i++)
    if (rule->params[0].crosses[i / 2][i % 2]) got[i] = i % 2 ? '+' : '-';
  CHECK_MSG(!strcmp(want, got), "%s: want %s, got %s", body, want, got);
  ambit__rule_free(rule);
}

static void reads_under_outside_cross_no_face(void)
{
  check_crosses("*v = u[-1][2];", "-..+");
  check_crosses("*v = outside(-1, 2) ? 0 : u[-1][2];", "....");
  check_crosses("*v = outside(-1, 1) ? 0 : u[-1][2];", "...+");
  check_crosses("*v = outside(-2, 3) ? 0 : u[-1][2];", "....");
  check_crosses("*v = outside(-1, 2) ? u[-1][2] : 0;", "-..+");
  check_crosses("*v = outside(1, 0) ? 0 : u[-1][0];", "-...");
  check_crosses("*v = !outside(-1, 0) && n ? u[-1][0] : 0;", "....");
  check_crosses("*v = outside(-1, 0) || n || outside(0, 1) ? 0 : u[-1][1];", "....");
  check_crosses("*v = outside(-1, 0) && n ? 0 : u[-1][0];", "-...");
  check_crosses("if (!outside(0, 1)) { *v = u[0][1]; if (n) *v += u[0][1]; } else *v = u[0][-1];",
                "..-.");
  check_crosses("if (outside(0, 1)) *v = 1; *v += u[0][1];", "...+");
  check_crosses("*v = !outside(0, 1) && u[0][1] > 0;", "....");
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"reads_are_sorted_and_distinct", reads_are_sorted_and_distinct},
      {"components_are_told_apart", components_are_told_apart},
      {"an_old_value_counts_if_some_way_does_not_write",
       an_old_value_counts_if_some_way_does_not_write},
      {"a_read_of_the_cell_itself_sees_what_was_written",
       a_read_of_the_cell_itself_sees_what_was_written},
      {"a_component_that_is_never_written_is_read_as_it_was",
       a_component_that_is_never_written_is_read_as_it_was},
      {"a_field_may_be_read_around_and_written_in_one",
       a_field_may_be_read_around_and_written_in_one},
      {"a_component_may_be_written_at_a_neighbour", a_component_may_be_written_at_a_neighbour},
      {"a_reduction_starts_with_a_value", a_reduction_starts_with_a_value},
      {"axes_are_counted_by_subscripts", axes_are_counted_by_subscripts},
      {"operations_are_counted", operations_are_counted},
      {"doubles_among_floats_are_noticed", doubles_among_floats_are_noticed},
      {"the_use_of_step_is_noted", the_use_of_step_is_noted},
      {"locals_must_have_a_value_before_they_are_read",
       locals_must_have_a_value_before_they_are_read},
      {"reads_under_outside_cross_no_face", reads_under_outside_cross_no_face},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
