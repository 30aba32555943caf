/* SPDX-License-Identifier: BSD-3-Clause */
/* test_normal.c - rules in normal form: spelling does not matter, values stay. */
#include "kernel_test.h"

#include <math.h>
#include <string.h>

/* The normal form of a rule, or the rule itself. */
static const ambit__rule *normal(const ambit__rule *rule, bool strict, ambit__rule **owned)
{
  ambit__errors errors = {0};

  CHECK_EQ(AMBIT_OK, ambit__rule_normal(&errors, rule, 1000, strict, owned));
  return *owned ? *owned : rule;
}

static char *print_normal(const char *text, bool strict)
{
  ambit__rule *rule = parse_ok(text), *to;
  char *printed = ambit__rule_print(normal(rule, strict, &to));

  ambit__rule_free(to);
  ambit__rule_free(rule);
  return printed;
}

/* ---- values ---- */

typedef struct cell {
  const ambit__rule *rule;
  int64_t index[2], extent[2];
  double near[5][5]; /* of field 0, around the cell */
  double values[AMBIT_MAX_PARAMS];
  double before[AMBIT_MAX_PARAMS]; /* of fields that are written, and reductions */
  double result[AMBIT_MAX_PARAMS];
} cell;

static ambit__value leaf(const ambit__evaluator *v, const ambit__expr *e)
{
  const cell *c = v->user;

  switch (e->op) {
  case EXPR_INDEX: return (ambit__value){.integer = c->index[e->index]};
  case EXPR_EXTENT: return (ambit__value){.integer = c->extent[e->index]};
  case EXPR_READ:
    if (e->index) return (ambit__value){.real = c->before[e->index]};
    return (ambit__value){.real = c->near[e->offset[0] + 2][e->offset[1] + 2]};
  case EXPR_VALUE: return (ambit__value){.real = c->values[e->index]};
  default: return (ambit__value){.real = c->result[e->index]};
  }
}

static void set(const ambit__evaluator *v, const ambit__stmt *s, ambit__value value)
{
  ((cell *)v->user)->result[s->index] = value.real;
}

static void run(const ambit__rule *rule, cell *c)
{
  ambit__value *locals = calloc((size_t)rule->nlocals + 1, sizeof *locals);
  const ambit__evaluator v = {.locals = locals, .both = true, .leaf = leaf, .set = set, .user = c};

  c->rule = rule;
  memcpy(c->result, c->before, sizeof c->result);
  ambit__evaluate_all(&v, rule->body);
  free(locals);
}

static unsigned draw(unsigned *state, unsigned n)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % n;
}

/* ---- places ---- */

/* Whether a rule and its normal form give the same number in all cells of small grids. */
static void check_places(const char *text)
{
  ambit__rule *rule = parse_ok(text), *to;
  const ambit__rule *other = normal(rule, true, &to);
  int wrong = 0;

  for (int64_t e = 0; e < 36 && !wrong; e++)
    for (int64_t i = 0; i < (e / 6 + 1) * (e % 6 + 1); i++) {
      cell a = {.extent = {e / 6 + 1, e % 6 + 1}, .near = {{0}}}, b;

      a.index[0] = i / a.extent[1];
      a.index[1] = i % a.extent[1];
      b = a;
      run(rule, &a);
      run(other, &b);
      wrong += memcmp(a.result, b.result, sizeof a.result) != 0;
    }
  CHECK_MSG(!wrong, "%s", text);
  ambit__rule_free(to);
  ambit__rule_free(rule);
}

static char *place_text(const char *condition)
{
  static char text[4000];

  snprintf(text, sizeof text, "void f(const float *u, float *v) { *v = %s ? u[0][0] : u[-1][0]; }",
           condition);
  return text;
}

static void check_same_place(const char *reference, const char *spelling)
{
  char *want = print_normal(place_text(reference), true);
  char *got = print_normal(place_text(spelling), true);

  CHECK_STR(want, got);
  check_places(place_text(spelling));
  free(want);
  free(got);
}

static void tests_of_place_have_one_form(void)
{
  static const char *const low[] = {
      "index(0) == 0",
      "0 == index(0)",
      "!index(0)",
      "index(0) <= 0",
      "1 > index(0)",
      "index(0) - 1 < 0",
      "!(index(0) > 0)",
      "!(index(0) && 1)",
      "(int)index(0) == 0",
      "-index(0) > -1",
      "2 + index(0) < 3",
      "(index(0) == 0) == 1",
      "(index(0) > 0 ? 0 : 1)",
      "(index(0) < 1 || index(1) < 0)",
      "(index(0) < 1 && index(1) < extent(1))",
      "((index(0) < index(1) ? index(0) : 7) < 1 && index(0) < 1 || index(0) < 1)",
  };
  static const char *const high[] = {
      "index(1) == extent(1) - 1",          "index(1) + 1 == extent(1)",
      "index(1) >= extent(1) - 1",          "!(index(1) + 1 < extent(1))",
      "extent(1) - index(1) <= 1",          "extent(1) <= index(1) + 1",
      "(int)extent(1) - 2 < (int)index(1)", "!(extent(1) - 1 - index(1))",
  };
  static const char *const near[] = {
      "(index(0) < 2 || index(0) >= extent(0) - 2)",
      "!(index(0) > 1 && index(0) + 2 < extent(0))",
      "!(index(0) >= 2 && extent(0) - index(0) > 2)",
      "((index(0) < extent(0) - 1 - index(0) ? index(0) : extent(0) - 1 - index(0)) < 2)",
  };

  for (size_t i = 0; i + 1 < sizeof low / sizeof *low; i++)
    check_same_place(low[0], low[i]);
  check_places(place_text(low[sizeof low / sizeof *low - 1]));
  for (size_t i = 0; i < sizeof high / sizeof *high; i++)
    check_same_place(high[0], high[i]);
  for (size_t i = 0; i < sizeof near / sizeof *near; i++)
    check_same_place(near[0], near[i]);
  check_same_place("outside(-1, 0)", "index(0) - 1 < 0");
  check_same_place("outside(0, 2)", "index(1) + 2 >= extent(1)");
}

/* The values of tests in cells that are far inside are known, however they are spelled. */
static void every_spelling_of_a_wall_is_known_inside(void)
{
  static const char *const spellings[] = {
      "int y = (int)index(0) - 1; *v = y < 0 || y >= extent(0) ? u[0][0] : u[-1][0];",
      "if (!(index(0) - 1 >= 0 && index(0) - 1 < extent(0))) *v = u[0][0]; else *v = u[-1][0];",
      "const long n = extent(0); *v = index(0) + 1 > n - 1 ? u[0][0] : u[-1][0];",
      "int wall = index(1) == 0 ? 1 : 0; *v = wall ? u[0][0] : u[0][-1];"};

  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
    int low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};
    char text[400];
    ambit__rule *rule, *to;

    snprintf(text, sizeof text, "void f(const float *u, float *v) { %s }", spellings[i]);
    rule = parse_ok(text);
    CHECK_MSG(ambit__rule_tests(normal(rule, true, &to), true, low, high), "%s", text);
    CHECK_EQ(1, low[0] + low[1] + high[0] + high[1]);
    check_places(text);
    ambit__rule_free(to);
    ambit__rule_free(rule);
  }
}

typedef struct maker {
  unsigned state;
  unsigned names; /* of locals so far */
  char text[20000];
} maker;

static void say(maker *m, const char *text)
{
  snprintf(m->text + strlen(m->text), sizeof m->text - strlen(m->text), "%s", text);
}

static void say_number(maker *m, int low, int high)
{
  char digits[16];

  snprintf(digits, sizeof digits, "%d", low + (int)draw(&m->state, (unsigned)(high - low + 1)));
  say(m, digits);
}

static void integer(maker *m, int depth)
{
  static const char *const leaves[] = {"index(0)",      "index(1)", "extent(0)", "extent(1)",
                                       "(int)index(0)", "i",        "n",         "(int)index(1)"};
  static const char *const operators[] = {" + ", " - ", " - ", " * ", " < "};
  const unsigned kind = draw(&m->state, depth > 2 ? 4 : 8);

  if (kind < 3) {
    say(m, leaves[draw(&m->state, 8)]);
  } else if (kind == 3) {
    say(m, "(");
    say_number(m, -3, 4);
    say(m, ")");
  } else if (kind < 7) {
    say(m, "(");
    integer(m, depth + 1);
    say(m, operators[draw(&m->state, 5)]);
    integer(m, depth + 1);
    say(m, ")");
  } else {
    say(m, "(");
    integer(m, depth + 1);
    say(m, " < ");
    integer(m, depth + 1);
    say(m, " ? ");
    integer(m, depth + 1);
    say(m, " : ");
    integer(m, depth + 1);
    say(m, ")");
  }
}

static void truth(maker *m, int depth)
{
  static const char *const comparisons[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
  const unsigned kind = draw(&m->state, depth > 3 ? 4 : 9);

  say(m, kind == 8 ? "!(" : "(");
  if (kind < 4) {
    integer(m, 1);
    say(m, comparisons[draw(&m->state, 6)]);
    integer(m, 1);
  } else if (kind == 4) {
    integer(m, 2);
  } else if (kind < 8) {
    truth(m, depth + 1);
    say(m, kind == 5 ? " && " : kind == 6 ? " || " : " ? 0 : ");
    truth(m, depth + 1);
  } else {
    truth(m, depth + 1);
  }
  say(m, ")");
}

static void random_tests_of_place_have_the_same_value_in_every_cell(void)
{
  for (unsigned i = 0; i < test_share(1500); i++) {
    maker m = {.state = i * 77773u + 5};

    say(&m, "void f(const float *u, float *v, float *w) { const int i = index(0) - ");
    say_number(&m, -2, 2);
    say(&m, "; const long n = extent(0) + ");
    say_number(&m, -2, 2);
    say(&m, "; *v = ");
    truth(&m, 0);
    say(&m, " ? 1 : 2; *w = ");
    integer(&m, 0);
    say(&m, " + 0.5f; }");
    check_places(m.text);
  }
}

/* ---- sums ---- */

#define STAR "u[-1][0] + u[1][0] + u[0][-1] + u[0][1]"

static void check_one_rule(const char *head, const char *const *bodies, size_t n, const char *want)
{
  for (size_t i = 0; i < n; i++) {
    char text[2000], *got;

    snprintf(text, sizeof text, "%s { %s }", head, bodies[i]);
    got = print_normal(text, false);
    CHECK_STR(want, got);
    free(got);
  }
}

static void heat_is_one_rule_however_it_is_spelled(void)
{
  static const char *const bodies[] = {
      "*v = *u + k * (" STAR " - 4 * *u); *c = fabsf(*v - *u);",
      "*v = (1 - 4 * k) * *u + k * (" STAR "); *c = fabsf(*v - *u);",
      "*v = k * u[0][1] + u[0][-1] * k + *u * (1 - k * 4) + k * u[1][0] + k * u[-1][0];"
      "*c = fabsf(*v - *u);",
      "float m = *u, l = u[-1][0] - 2 * m + u[1][0]; l += u[0][-1] - 2 * m + u[0][1];"
      "*v = m + k * l; *c = fabsf(*v - *u);",
      "float l = -4 * *u; for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++)"
      "if (i * i + j * j == 1) l += u[i][j]; *v = *u + l * k; *c = fabsf(*v - *u);",
      "*v = *u - k * (4 * *u - (" STAR ")); *c = fabsf(*v - *u);",
  };

  check_one_rule("void heat(const float *u, float *v, float k, max float *c)", bodies,
                 sizeof bodies / sizeof *bodies,
                 "void heat(const float *u, float *v, float k, max float *c)\n"
                 "{\n"
                 "  float shared0 = 1.0f - 4.0f * k;\n"
                 "  v[0][0] = k * (u[-1][0] + u[0][-1] + u[0][1] + u[1][0]) + shared0 * u[0][0];\n"
                 "  *c = fabsf(v[0][0] - u[0][0]);\n"
                 "}\n");
}

static void terms_that_are_not_linear_stay_beside_linear_ones(void)
{
  static const char *const bodies[] = {
      "*v = *u + dt * (d * (u[-1] - 2 * *u + u[1]) / (h * h) - *u * *u + f);",
      "const float r = dt * d / h / h; float l = u[1] + u[-1]; "
      "*v = r * l + (1 - 2 * r) * *u + dt * f - *u * *u * dt;",
  };

  check_one_rule("void react(const float *u, float *v, float dt, float d, float h, float f)",
                 bodies, 2,
                 "void react(const float *u, float *v, float dt, float d, float h, float f)\n"
                 "{\n"
                 "  float shared0 = dt * d / (h * h);\n"
                 "  float shared1 = 1.0f - 2.0f * (dt * d) / (h * h);\n"
                 "  float shared2 = dt * f;\n"
                 "  v[0] = shared0 * (u[-1] + u[1]) + shared1 * u[0] - dt * (u[0] * u[0]) + "
                 "shared2;\n"
                 "}\n");
}

/* The flux through a face, of whichever cell's difference it is made. */
static void fluxes_of_two_cells_have_one_form(void)
{
  static const char *const bodies[] = {
      "float a = u[1] - *u, b = u[-1] - *u; *v = *u + a / (1 + a * a) + b / (1 + b * b);",
      "float a = u[1] - *u, b = *u - u[-1]; *v = *u + a / (1 + a * a) - b / (1 + b * b);",
      "float a = *u - u[1], b = u[-1] - *u; *v = *u - -(-a / (1 + a * a)) - -b / (1 + -b * -b);"};

  check_one_rule("void flux(const float *u, float *v)", bodies, 3,
                 "void flux(const float *u, float *v)\n"
                 "{\n"
                 "  float a = u[1] - u[0];\n"
                 "  float b = u[0] - u[-1];\n"
                 "  v[0] = u[0] + a / (1.0f + a * a) - b / (1.0f + b * b);\n"
                 "}\n");
}

/* Both cells compute the mean at the face between them alike. */
static void means_of_two_cells_have_one_form(void)
{
  static const char *const bodies[] = {"*v = 2 * *u * u[1] / (*u + u[1]);",
                                       "*v = 2 * (*u * u[1]) / (*u + u[1]);",
                                       "float m = *u; *v = 2 * m * u[1] / (u[1] + m);"};

  check_one_rule("void mean(const float *u, float *v)", bodies, 3,
                 "void mean(const float *u, float *v)\n"
                 "{\n"
                 "  v[0] = 2.0f * (u[0] * u[1]) / (u[0] + u[1]);\n"
                 "}\n");
}

/* Parameters in any order, also between the fields. */
static void sums_with_parameters_are_taps_with_factors(void)
{
  static const char *const texts[] = {
      "void f(const double *u, double *v, double k) { *v = *u + k * (u[-1] - 2 * *u + u[1]); }",
      "void f(double k, double *v, const double *u) { *v = k * (u[1] + u[-1]) - (2 * k - 1) * *u; "
      "}",
      "void f(double *v, double a, const double *u, double k)"
      "{ double l = u[-1] + u[1]; *v = (1 - 2 * k + (a - a)) * *u + l * k; }"};

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ambit__rule *rule = parse_ok(texts[i]), *to;
    const ambit__rule *r = normal(rule, false, &to);
    ambit__tap taps[8];
    ambit__sum sum;
    int n;

    CHECK(!ambit__rule_taps(r, taps, 8, &n));
    CHECK_MSG(ambit__rule_sum(r, false, taps, 8, &sum), "%s", texts[i]);
    CHECK_EQ(3, sum.n);
    CHECK(!r->params[sum.from].is_written && r->params[sum.to].is_written);
    for (int k = 0; k < sum.n; k++) {
      CHECK(taps[k].weight == 1 && taps[k].factor);
      CHECK_EQ(taps[k].offset[0] ? EXPR_VALUE : EXPR_LOCAL, taps[k].factor->op);
    }
    ambit__rule_free(to);
    ambit__rule_free(rule);
  }
}

/* Rules of which nothing would be simpler, or whose sums are in place of others. */
static void some_rules_stay_as_they_are(void)
{
  static const char *const texts[] = {
      /* numbers alone: taps.c knows them */
      "void f(const float *u, float *v) { *v = *u + 0.2f * (u[-1] - 2 * *u + u[1]); }",
      /* no field is read in two cells */
      "void f(const float *a, const float *b, float *v, float k) { *v = *a + k * (*b - *a); }",
      /* the sum is used twice */
      "void f(const float *u, float *v, float *w) { float s = u[-1] * u[-1]; *v = s; *w = s; }",
  };

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ambit__rule *rule = parse_ok(texts[i]), *to;

    normal(rule, false, &to);
    CHECK_MSG(!to, "%s", texts[i]);
    ambit__rule_free(to);
    ambit__rule_free(rule);
  }
  {
    ambit__rule *rule = parse_ok("void f(const float *u, float *v, float k)"
                                 "{ *v = *u + k * (u[-1] - 2 * *u + u[1]); }");
    ambit__rule *to;

    normal(rule, true, &to);
    CHECK(!to); /* strict */
    ambit__rule_free(rule);
  }
}

/* A random sum, product, condition or local; `depth` bounds it. */
static void value(maker *m, int depth)
{
  static const char *const leaves[] = {"u[-1][0]", "u[1][0]", "u[0][-1]", "u[0][1]", "*u",
                                       "k",        "h",       "a",        "b",       "2.5f"};
  const unsigned kind = draw(&m->state, depth > 4 ? 3 : 12);

  if (kind < 3) {
    say(m, leaves[draw(&m->state, 10)]);
    return;
  }
  say(m, "(");
  if (kind == 11) {
    say(m, "*u < k ? ");
    value(m, depth + 2);
    say(m, " : ");
    value(m, depth + 2);
  } else if (kind == 10) {
    value(m, depth + 2);
    say(m, draw(&m->state, 2) ? " / (1.5f + k * k)" : " / h");
  } else if (kind == 9) {
    say(m, "-");
    value(m, depth + 1);
  } else {
    value(m, depth + 1);
    say(m, kind < 5 ? " + " : kind < 7 ? " - " : " * ");
    value(m, depth + 1 + (kind >= 7));
  }
  say(m, ")");
}

static void make_rule(maker *m)
{
  say(m, "void f(const float *u, float *v, float *w, float k, float h) { float a = h;"
         "float b = u[0][-1] - h * u[0][1]; a = ");
  value(m, 2);
  say(m, "; a ");
  say(m, draw(&m->state, 2) ? "+= " : "= k * ");
  value(m, 2);
  if (draw(&m->state, 3) == 0) say(m, "; if (*u > h) b = 2 * a - k");
  say(m, "; *v = ");
  value(m, 0);
  say(m, "; a -= *u; *w = ");
  value(m, 1);
  say(m, " + *v; }");
}

/* Values of all terms are near 1 and the rules small, so errors are a few units of the largest
 * intermediate value, which is at most 4 ^ depth. */
static void random_sums_keep_their_values(void)
{
  const unsigned rules = test_share(1500);
  unsigned changed = 0;

  for (unsigned i = 0; i < rules; i++) {
    maker m = {.state = i * 31337u + 11};
    ambit__rule *rule, *to;
    const ambit__rule *other;

    make_rule(&m);
    rule = parse_ok(m.text);
    other = normal(rule, false, &to);
    changed += to != NULL;
    for (int n = 0; to && n < 8; n++) {
      cell x = {.extent = {9, 9}, .index = {4, 4}}, y;

      for (int k = 0; k < 25; k++)
        x.near[k / 5][k % 5] = (double)(float)(0.5 + draw(&m.state, 1000) / 1000.0);
      x.values[3] = (double)(float)(0.3 + draw(&m.state, 1000) / 1000.0);
      x.values[4] = (double)(float)(0.8 + draw(&m.state, 1000) / 1000.0);
      y = x;
      run(rule, &x);
      run(other, &y);
      for (int r = 1; r < 3; r++) {
        const double size = fmax(1, fabs(x.result[r]));

        CHECK_MSG(fabs(x.result[r] - y.result[r]) < 2e-3 * size, "%s\n%g %g", m.text, x.result[r],
                  y.result[r]);
      }
    }
    ambit__rule_free(to);
    ambit__rule_free(rule);
  }
  CHECK_MSG(changed > rules * 7 / 15, "%u rules changed", changed);
}

/* ---- statements ---- */

/* Random statements that set locals and components, in conditions inside conditions. */
static void statements(maker *m, int depth)
{
  static const char *const targets[] = {"a", "b", "c", "*v", "*w"};
  static const char *const tests[] = {
      "index(0) < 2",        "is_far",        "c > b", "index(1) + 1 == extent(1) && *v > a",
      "!(is_far || *u < k)", "index(0) >= 0", "*w < h"};
  char name[32];

  for (unsigned n = 1 + draw(&m->state, 4); n; n--)
    if (draw(&m->state, 3) == 0 && depth < 3) {
      say(m, "if (");
      say(m, tests[draw(&m->state, 7)]);
      say(m, ") {");
      statements(m, depth + 1);
      if (draw(&m->state, 2)) {
        say(m, "} else {");
        statements(m, depth + 1);
      }
      say(m, "}");
    } else if (draw(&m->state, 4) == 0) { /* a local that ends with its block */
      snprintf(name, sizeof name, "t%u", m->names++);
      say(m, "float ");
      say(m, name);
      say(m, draw(&m->state, 2) ? " = *v + " : " = ");
      value(m, 3);
      say(m, "; c += ");
      say(m, name);
      say(m, "; b = ");
      say(m, name);
      say(m, " * 0.5f; ");
    } else if (draw(&m->state, 6) == 0) {
      say(m, "is_far = ");
      say(m, draw(&m->state, 2) ? "index(1) > 1; " : "1 - is_far; ");
    } else {
      say(m, targets[draw(&m->state, 5)]);
      say(m, " = ");
      value(m, 2);
      say(m, draw(&m->state, 2) ? " * 0.25f + *v * 0.5f; " : " + *w * 0.5f; ");
    }
}

/* Strict mode: bit for bit; else nearly. */
static void random_statements_keep_their_values(void)
{
  const unsigned rules = test_share(2000);
  unsigned changed = 0;

  for (unsigned i = 0; i < rules; i++) {
    maker m = {.state = i * 7919u + 5};
    const bool strict = i % 2;
    ambit__rule *rule, *to;
    const ambit__rule *other;

    say(&m, "void f(const float *u, float *v, float *w, float k, float h) {"
            "float a = h, b = *v, c = u[0][1] * k; int is_far = index(0) > 0; ");
    statements(&m, 0);
    say(&m, "*v = *v * 0.5f + b; *w = a + b * 0.5f + c * 0.25f + is_far + *v; }");
    rule = parse_ok(m.text);
    other = normal(rule, strict, &to);
    changed += to != NULL;
    for (int n = 0; to && n < 12; n++) {
      cell x = {.extent = {4, 4}, .index = {n / 3, n % 3 + n % 2}}, y;

      for (int k = 0; k < 25; k++)
        x.near[k / 5][k % 5] = (double)(float)(0.5 + draw(&m.state, 1000) / 1000.0);
      for (int k = 1; k < 5; k++)
        x.before[k] = x.values[k] = (double)(float)(0.4 + draw(&m.state, 1000) / 1000.0);
      y = x;
      run(rule, &x);
      run(other, &y);
      for (int r = 1; r < 3; r++) {
        const double size = fmax(1, fabs(x.result[r]));
        const bool same = x.result[r] == y.result[r] || (isnan(x.result[r]) && isnan(y.result[r]));

        CHECK_MSG(same || (!strict && fabs(x.result[r] - y.result[r]) < 4e-3 * size),
                  "%s\n%s rule %u: %g %g", m.text, strict ? "strict" : "plain", i, x.result[r],
                  y.result[r]);
      }
    }
    ambit__rule_free(to);
    ambit__rule_free(rule);
  }
  CHECK_MSG(changed > rules / 2, "%u rules changed", changed);
}

/* The first value of x is used after x has got another one: y is a part of the last sum. */
static void values_that_a_name_has_lost_stay(void)
{
  static const char *const bodies[] = {
      "float x = u[0] * u[1]; *w = x * x; float y = x + u[1]; x = u[-1] * u[2]; *z = x * x;"
      "*v = k * y + u[-1] + x;"};

  check_one_rule("void f(const float *u, float *v, float *w, float *z, float k)", bodies, 1,
                 "void f(const float *u, float *v, float *w, float *z, float k)\n"
                 "{\n"
                 "  float x = u[0] * u[1];\n"
                 "  w[0] = x * x;\n"
                 "  float x_1 = u[-1] * u[2];\n"
                 "  z[0] = x_1 * x_1;\n"
                 "  v[0] = x_1 + u[-1] + k * (x + u[1]);\n"
                 "}\n");
}

/* Conditions that only say where a cell is are tests of place; equal values are one. */
static void conditions_become_choices(void)
{
  static const char *const bodies[] = {
      "int in = 0; if (index(0) > 0) in = 1; if (in) *v = u[-1] * k; else *v = u[1] * k;",
      "int in; if (index(0) <= 0) in = 0; else in = 1; if (in) *v = u[-1] * k; else *v = u[1] * k;",
  };

  check_one_rule("void f(const float *u, float *v, float k)", bodies, 2,
                 "void f(const float *u, float *v, float k)\n"
                 "{\n"
                 "  if (index(0) >= 1L) {\n"
                 "    v[0] = u[-1] * k;\n"
                 "  } else {\n"
                 "    v[0] = u[1] * k;\n"
                 "  }\n"
                 "}\n");
}

/* An unsigned number may be more than any int. */
static void unsigned_bounds_are_no_ints(void)
{
  char *text = print_normal("void f(const float *u, float *v, unsigned n)"
                            "{ *v = index(0) < (long)n ? u[-1] : u[1]; }",
                            true);

  CHECK(strstr(text, "index(0) < (long)n"));
  free(text);
}

/* Each value of s is a version of its own, with a name of its own. Comparing each name with all
 * others took an hour for 10,000 of them; 500 terms of different sizes took seconds. */
static void long_sums_take_time_in_proportion(void)
{
  char *text = print_normal("void r(const float *u, float *v, float s_7) {"
                            "  float s = 0;"
                            "  for (int i = 0; i < 10000; i++)"
                            "    s += fabsf(u[0][1] * u[0][-1] - i);"
                            "  *v = s * (s_7 + u[0][1] + u[0][-1]);"
                            "}",
                            false);
  ambit__text sum = {0};
  char *whole;

  CHECK(strstr(text, "s_7"));
  free(text);

  ambit__print(&sum, "void r(const float *u, float *v, float k) { *v = k * *u");
  for (int i = 1; i < 500; i++)
    ambit__print(&sum, " + (k + %d) * u[0][%d]", i, i);
  ambit__print(&sum, "; }");
  whole = ambit__text_finish(&sum);
  text = print_normal(whole, false);
  free(whole);
  CHECK(strstr(text, "shared498"));
  free(text);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"tests_of_place_have_one_form", tests_of_place_have_one_form},
      {"every_spelling_of_a_wall_is_known_inside", every_spelling_of_a_wall_is_known_inside},
      {"random_tests_of_place_have_the_same_value_in_every_cell",
       random_tests_of_place_have_the_same_value_in_every_cell},
      {"heat_is_one_rule_however_it_is_spelled", heat_is_one_rule_however_it_is_spelled},
      {"terms_that_are_not_linear_stay_beside_linear_ones",
       terms_that_are_not_linear_stay_beside_linear_ones},
      {"fluxes_of_two_cells_have_one_form", fluxes_of_two_cells_have_one_form},
      {"means_of_two_cells_have_one_form", means_of_two_cells_have_one_form},
      {"sums_with_parameters_are_taps_with_factors", sums_with_parameters_are_taps_with_factors},
      {"some_rules_stay_as_they_are", some_rules_stay_as_they_are},
      {"random_sums_keep_their_values", random_sums_keep_their_values},
      {"random_statements_keep_their_values", random_statements_keep_their_values},
      {"values_that_a_name_has_lost_stay", values_that_a_name_has_lost_stay},
      {"conditions_become_choices", conditions_become_choices},
      {"unsigned_bounds_are_no_ints", unsigned_bounds_are_no_ints},
      {"long_sums_take_time_in_proportion", long_sums_take_time_in_proportion},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
