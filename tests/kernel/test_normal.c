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
  double result[AMBIT_MAX_PARAMS];
} cell;

static ambit__value leaf(const ambit__evaluator *v, const ambit__expr *e)
{
  const cell *c = v->user;

  switch (e->op) {
  case EXPR_INDEX: return (ambit__value){.integer = c->index[e->index]};
  case EXPR_EXTENT: return (ambit__value){.integer = c->extent[e->index]};
  case EXPR_READ: return (ambit__value){.real = c->near[e->offset[0] + 2][e->offset[1] + 2]};
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
  memset(c->result, 0, sizeof c->result);
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
  char text[6000];
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
  for (unsigned i = 0; i < 1500; i++) {
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

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"tests_of_place_have_one_form", tests_of_place_have_one_form},
      {"every_spelling_of_a_wall_is_known_inside", every_spelling_of_a_wall_is_known_inside},
      {"random_tests_of_place_have_the_same_value_in_every_cell",
       random_tests_of_place_have_the_same_value_in_every_cell},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
