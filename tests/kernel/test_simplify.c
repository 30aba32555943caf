/* SPDX-License-Identifier: BSD-3-Clause */
/* test_simplify.c - rules on bytes and shorts: spelling does not matter, values stay. */
#include "kernel_test.h"

#include "kernel/range.h"

#include <string.h>

static ambit__rule *simplified(const ambit__rule *rule)
{
  ambit__errors errors = {0};
  ambit__rule *to;

  CHECK_EQ(AMBIT_OK, ambit__rule_simplify(&errors, rule, &to));
  return to;
}

/* ---- values ---- */

typedef struct cells {
  unsigned state;
  const ambit__rule *rule;
  int64_t near[3][3]; /* of the field, around the cell */
  int64_t result, total;
} cells;

static unsigned draw(unsigned *state, unsigned n)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % n;
}

static ambit__value leaf(const ambit__evaluator *v, const ambit__expr *e)
{
  const cells *c = v->user;

  if (e->op == EXPR_TABLE)
    return ambit__table_at(&c->rule->tables[e->index], ambit__evaluate(v, e->a).integer, 0);
  if (e->op == EXPR_READ)
    return (ambit__value){.integer = c->near[e->offset[0] + 1][e->offset[1] + 1]};
  return (ambit__value){.integer = e->index == 1 ? c->result : c->total};
}

static void set(const ambit__evaluator *v, const ambit__stmt *s, ambit__value value)
{
  cells *c = v->user;

  *(s->index == 1 ? &c->result : &c->total) = value.integer;
}

static void run(const ambit__rule *rule, cells *c)
{
  ambit__value locals[200] = {{0}};
  const ambit__evaluator v = {.locals = locals, .leaf = leaf, .set = set, .user = c};

  CHECK(rule->nlocals <= 200);
  c->rule = rule;
  c->result = c->total = 0;
  if (rule->nlocals <= 200) ambit__evaluate_all(&v, rule->body);
}

/* Random cells, many of which are the ends of the type or near each other. */
static void fill(cells *c, ambit_type type)
{
  const int64_t low = type == AMBIT_U8 ? 0 : INT16_MIN, high = type == AMBIT_U8 ? 255 : INT16_MAX;
  const unsigned kind = draw(&c->state, 4), width = kind == 1 ? 4 : (unsigned)(high - low + 1);

  for (int i = 0; i < 9; i++)
    c->near[i / 3][i % 3] = kind == 0 ? (draw(&c->state, 2) ? low : high)
                                      : (kind == 1 ? 0 : low) + draw(&c->state, width);
}

static void check_same_values(const ambit__rule *rule, const ambit__rule *other, int times)
{
  cells a = {.state = 7}, b;

  for (int i = 0; i < times; i++) {
    fill(&a, rule->params[0].type);
    b = a;
    run(rule, &a);
    run(other, &b);
    if (a.result == b.result && a.total == b.total) continue;
    CHECK_MSG(false, "%d, not %d, in\n%s", (int)b.result, (int)a.result, rule->text);
    return;
  }
}

/* ---- spelling ---- */

#define HEAD "void f(const unsigned char *a, unsigned char *b) "
#define GRADIENT                                                                                   \
  "int gx = a[-1][1] + 2 * a[0][1] + a[1][1] - a[-1][-1] - 2 * a[0][-1] - a[1][-1];"               \
  "int gy = a[1][-1] + 2 * a[1][0] + a[1][1] - a[-1][-1] - 2 * a[-1][0] - a[-1][1];"
#define LONGS "{ long p = *a * 3000000000L, q = a[0][1] * 3000000000L; "
#define SUM   "int n = 0; for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++) n += a[i][j]; "

/* All texts, up to NULL, become one rule; it has the words. */
static void check_one(const char *const *texts, const char *words)
{
  char *first = NULL;

  for (; *texts; texts++) {
    ambit__rule *rule = parse_ok(*texts), *to = simplified(rule);
    char *text = to ? ambit__rule_print(to) : NULL;

    CHECK_MSG(text, "not simplified: %s", *texts);
    if (text && first) CHECK_STR(first, text);
    CHECK_MSG(text && strstr(text, words), "no %s in %s", words, text);
    if (to) check_same_values(rule, to, 200);
    if (!first)
      first = text;
    else
      free(text);
    ambit__rule_free(to);
    ambit__rule_free(rule);
  }
  free(first);
}

static void sobel_is_one_rule_however_it_is_cut_off(void)
{
  static const char *const texts[] = {
      HEAD "{" GRADIENT "*b = fminf(sqrtf((float)(gx * gx + gy * gy)), 255.0f); }",
      HEAD "{" GRADIENT "*b = fminf(255, sqrtf(gy * gy + gx * gx)); }",
      HEAD "{" GRADIENT "*b = sqrtf(gx * gx + gy * gy); }",
      HEAD "{" GRADIENT "float m = sqrtf(gx * gx + gy * gy); *b = m > 255.0f ? 255.0f : m; }",
      HEAD "{" GRADIENT "float m = sqrtf(gx * gx + gy * gy); *b = m < 255.0f ? m : 255.0f; }",
      HEAD "{" GRADIENT "float m = sqrt(gx * gx + gy * gy); if (m >= 255) m = 255; *b = m; }",
      HEAD "{" GRADIENT "double m = sqrt((double)gx * gx + (double)gy * gy);"
           "if (m > 255) *b = 255; else *b = (unsigned char)m; }",
      HEAD "{" GRADIENT "int n = gx * gx + gy * gy; if (n > 65025) n = 65025; *b = sqrtf(n); }",
      HEAD "{" GRADIENT "int n = gx * gx + gy * gy; *b = n < 65536 ? (int)sqrt(n) : 255; }",
      HEAD "{" GRADIENT "*b = fminf(hypotf(gx, gy), 255.0f); }",
      HEAD "{ float gx = a[0][1] * 2.0f + a[1][1] + a[-1][1] - 0.5f * (2 * a[-1][-1] +"
           "4 * a[0][-1] + 2 * a[1][-1]); long gy = a[1][-1] + 2L * a[1][0] + a[1][1] -"
           "(a[-1][-1] + 2 * a[-1][0] + a[-1][1]); *b = hypot(gx, gy); }",
      NULL};

  check_one(texts, "fminf(sqrtf(");
}

static void sums_of_magnitudes_are_one_rule(void)
{
  static const char *const texts[] = {
      HEAD "{" GRADIENT "int m = abs(gx) + abs(gy); *b = m > 255 ? 255 : m; }",
      HEAD "{" GRADIENT "int m = (gx < 0 ? -gx : gx) + (gy > 0 ? gy : -gy); if (m > 255) m = 255;"
           "*b = m; }",
      HEAD "{" GRADIENT "if (gx < 0) gx = -gx; if (gy <= 0) gy *= -1; *b = fminf(gx + gy, 255); }",
      HEAD "{" GRADIENT "*b = fminf(fabsf(gx) + fabsf(-gy), 255.0f); }", NULL};

  check_one(texts, "abs(");
}

static void values_that_are_cut_off_are_one_rule(void)
{
  static const char *const texts[] = {
      HEAD "{ int s = 5 * *a - a[0][1] - a[1][0] - a[-1][0] - a[0][-1];"
           "if (s < 0) s = 0; else if (s > 255) s = 255; *b = s; }",
      HEAD "{ int s = 5 * *a - a[0][1] - a[1][0] - a[-1][0] - a[0][-1];"
           "if (s > 255) s = 255; if (s < 0) s = 0; *b = s; }",
      HEAD "{ int s = *a * 5 - (a[-1][0] + a[1][0] + a[0][-1] + a[0][1]);"
           "*b = s <= 0 ? 0 : s >= 255 ? 255 : s; }",
      HEAD "{ float s = 5.0f * *a - a[0][1] - a[1][0] - a[-1][0] - a[0][-1]; *b = s; }",
      HEAD "{ double s = 4 * *a - a[0][1] - a[1][0] - a[-1][0] - a[0][-1] + *a;"
           "*b = fmax(0, fmin(255, s)); }",
      NULL};

  check_one(texts, " < 255 ? ");
}

static void means_are_quotients_of_integers(void)
{
  static const char *const down[] = {HEAD "{" SUM "*b = n / 9; }", HEAD "{" SUM "*b = n / 9.0f; }",
                                     HEAD "{" SUM "*b = floor(n / 9.0); }",
                                     HEAD "{" SUM "float m = n; m /= 9; *b = m; }", NULL};
  static const char *const nearest[] = {
      HEAD "{" SUM "*b = n / 9.0f + 0.5f; }", HEAD "{" SUM "*b = (2 * n + 9) / 18; }",
      HEAD "{" SUM "*b = roundf(n / 9.0f); }", HEAD "{" SUM "*b = n * (1.0f / 9) + 0.5f; }", NULL};
  static const char *const power[] = {HEAD "{" SUM "*b = n >> 4; }", HEAD "{" SUM "*b = n / 16; }",
                                      HEAD "{" SUM "*b = n * 0.0625f; }",
                                      HEAD "{" SUM "*b = floorf(n / 16.0f); }", NULL};

  check_one(down, " / 9");
  check_one(nearest, " + 4) / 9");
  check_one(power, " >> 4");
}

static void minima_are_one_rule(void)
{
  static const char *const texts[] = {
      HEAD "{ int m = a[0][1] < a[0][-1] ? a[0][1] : a[0][-1]; *b = m < *a ? m : *a; }",
      HEAD "{ *b = a[0][-1]; if (a[0][1] < *b) *b = a[0][1]; if (!(*a >= *b)) *b = *a; }",
      HEAD "{ unsigned char m = a[0][1] >= a[0][-1] ? a[0][-1] : a[0][1]; *b = fminf(m, *a); }",
      HEAD "{ *b = fmin(fmin(a[0][-1], a[0][1]), *a); }", NULL};

  check_one(texts, " < ");
}

static void the_middle_of_three_is_four_minima(void)
{
  static const char *const texts[] = {
      HEAD "{ int c = *a, p = a[0][-1], q = a[0][1];"
           "*b = p < q ? (int)fmin(fmax(c, p), q) : (int)fmax(fmin(c, p), q); }",
      HEAD "{ int c = *a, p = a[0][-1], q = a[0][1];"
           "*b = p > q ? (int)fmin(fmax(c, q), p) : (int)fmax(fmin(c, q), p); }",
      HEAD "{ int c = *a, p = a[0][-1], q = a[0][1]; if (q >= p) { if (c > q) c = q; if (c < p)"
           "c = p; } else { if (c < q) c = q; if (c > p) c = p; } *b = c; }",
      HEAD "{ *b = fmax(fmin(a[0][-1], a[0][1]), fmin(fmax(a[0][-1], a[0][1]), *a)); }", NULL};

  check_one(texts, " < ");
}

static void conditions_on_whole_floats_are_on_integers(void)
{
  static const char *const texts[] = {
      HEAD "{ *b = 4 * *a > a[-1][0] + a[1][0] + a[0][-1] + a[0][1] ? 255 : 0; }",
      HEAD "{ float m = (a[-1][0] + a[1][0] + a[0][-1] + a[0][1]) * 0.25f; *b = 255;"
           "if (!(*a > m)) *b = 0; }",
      HEAD "{ double m = (a[-1][0] + a[1][0] + a[0][-1] + a[0][1]) / 4.0; *b = m < *a ? 255 : 0; }",
      NULL};

  check_one(texts, " ? 255 : 0");
}

static void costly_functions_of_a_byte_are_tables(void)
{
  static const char *const texts[] = {
      HEAD "{ *b = 255.0f * powf(*a / 255.0f, 0.45f) + 0.5f; }",
      HEAD "{ float x = *a; x /= 255; x = powf(x, 0.45f); if (x > 2) x = 0; *b = x * 255 + 0.5f; }",
      HEAD "{ int n = 255.0f * powf(*a / 255.0f, 0.45f) + 0.5f; *b = n > 255 ? 255 : n; }", NULL};

  check_one(texts, "f0[(int)*a]");
}

static void counts_are_sums_of_conditions(void)
{
  static const char *const texts[] = {
      HEAD "{ int n = (a[0][1] == 1) + (a[0][-1] > 7) - (*a < 3); *b = n + 4; }",
      HEAD "{ int n = a[0][1] == 1; if (a[0][-1] > 7) n += 1; if (*a < 3) n--; *b = n + 4; }",
      HEAD "{ int n = a[0][1] == 1; n = *a < 3 ? n + 3 : n + 4; *b = a[0][-1] > 7 ? n + 1 : n; }",
      NULL};

  check_one(texts, " == 1) + ");
}

static void masks_are_those_of_operands(void)
{
  static const char *const texts[] = {
      HEAD "{ int s = *a & 63; *b = (s << 3 | s >> 3) & 63; }",
      HEAD "{ int s = *a & 63; *b = (s & 7) * 8 | s / 8; }",
      HEAD "{ int s = *a & 63; *b = ((s & 7) << 3) | ((s >> 3) & 63); }", NULL};
  static const char *const sums[] = {HEAD "{ *b = (*a + 1) % 8; }", HEAD "{ *b = (*a + 9) & 7; }",
                                     HEAD "{ *b = ((*a & 7) + 1) & 7; }", NULL};

  check_one(texts, "& 7");
  check_one(sums, " & 7) + 1 & 7");
}

static void near_misses_keep_their_values(void)
{
  static const char *const texts[] = {
      HEAD "{ *b = *a < 100 ? *a : 200; }",
      HEAD "{ *b = *a < 100 ? 90 : *a; }",
      HEAD "{ *b = *a > 100 ? *a : 99; }",
      HEAD "{ int c = *a, p = a[0][-1], q = a[0][1];"
           "*b = p < q ? (int)fmax(fmin(c, p), q) : (int)fmin(fmax(c, p), q); }",
      HEAD "{ int d = *a - a[0][1]; *b = d < 2 ? -d : d; }",
      HEAD "{ int d = *a - a[0][1]; *b = d < 0 ? d : -d; }",
      HEAD "{ int n = *a * a[0][1]; *b = n > 40000 ? 199 : (int)sqrtf(n); }",
      HEAD "{ int n = *a * a[0][1]; *b = sqrtf(n) > 14.5f ? 255 : 0; }",
      HEAD "{ int n = *a * a[0][1]; *b = sqrtf(n + 0.75f); }",
      HEAD "{ *b = fminf(sqrtf(*a - 100.0f), 7); }",
      HEAD "{ *b = fminf(sqrtf((*a & 1) - 9.5f), 7); }",
      HEAD "{ *b = fmaxf(sqrtf(a[0][1] - *a), 7); }",
      HEAD "{ float z = -1.0f * (float)(*a & a[0][1]); *b = 1 / (z - 0.0f) < 0 ? 1 : 2; }",
      HEAD "{ float z = (float)(*a & 1) * (*a - 255.0f); *b = 1 / z < 0 ? 1 : 2; }",
      HEAD "{ *b = (*a - a[0][1]) / 4 + 128; }",
      HEAD "{ *b = (2 * *a - 2 * a[0][1] + 3) / 6 + 128; }",
      HEAD "{ *b = (2 * *a - 2 * a[0][1] + 3) >> 2; }",
      HEAD "{ *b = floorf((*a - a[0][1]) * 0.25f) + 128; }",
      HEAD "{ *b = ceilf((*a - a[0][1]) * 0.25f) + 128; }",
      HEAD "{ *b = rintf(*a * 0.5f); }",
      HEAD "{ *b = *a * 0.1f + a[0][1] * 0.7f; }",
      HEAD "{ *b = (*a + a[0][1]) % 8 + (*a - a[0][1]) % 8; }",
      HEAD "{ *b = (*a - 3 * a[0][1] + 5) & 15 | (*a << 5 ^ -8 * a[1][0]) & 224; }",
      HEAD "{ int n = *a - a[0][1]; if (*a > 9) n += 100; else n -= 3; *b = n & 127; }",
      HEAD LONGS "*b = p > q ? *a : a[0][1]; }",
      HEAD LONGS "*b = p <= q ? *a : a[0][1]; }",
      HEAD LONGS "*b = p < q ? *a : a[0][1]; }",
      HEAD LONGS "*b = p >= q ? *a : a[0][1]; }",
      HEAD LONGS "*b = p != q ? *a : a[0][1]; }",
      HEAD LONGS "*b = p == q ? *a : a[0][1]; }",
      HEAD LONGS "*b = p > 360000000000L ? 7 : a[0][1]; }",
      HEAD LONGS "*b = p <= 360000000000L ? 7 : a[0][1]; }",
      HEAD LONGS "*b = p != 360000000000L ? 7 : a[0][1]; }",
      NULL};

  for (int i = 0; texts[i]; i++) {
    ambit__rule *rule = parse_ok(texts[i]), *to = simplified(rule);

    CHECK_MSG(to, "not simplified: %s", texts[i]);
    if (to) check_same_values(rule, to, 1000);
    ambit__rule_free(to);
    ambit__rule_free(rule);
  }
}

static void rules_on_other_fields_stay(void)
{
  static const char *const texts[] = {"void f(const float *a, float *b) { *b = *a < 0 ? 0 : *a; }",
                                      "void f(const int *a, int *b) { *b = *a < 0 ? 0 : *a; }",
                                      HEAD "{ if (outside(-1, 0)) *b = 0; else *b = a[-1][0]; }",
                                      HEAD "{ if (*a > 3) *b = a[0][1] / a[0][-1]; }", NULL};

  for (int i = 0; texts[i]; i++) {
    ambit__rule *rule = parse_ok(texts[i]), *to = simplified(rule);

    CHECK_MSG(!to, "simplified: %s", texts[i]);
    ambit__rule_free(to);
    ambit__rule_free(rule);
  }
}

/* ---- reals ---- */

/* What *b is not below. */
static double least_of(const char *value)
{
  char text[400];
  ambit__rule *rule;
  const ambit__stmt *last;
  double least;

  snprintf(text, sizeof text,
           "void f(const float *a, float *b, float k) { float x = a[1] - *a; %s; }", value);
  rule = parse_ok(text);
  for (last = rule->body; last->next;)
    last = last->next;
  least = ambit__least_of(rule, last->value);
  ambit__rule_free(rule);
  return least;
}

static void sums_of_squares_and_numbers_are_not_below_these(void)
{
  CHECK(least_of("*b = 1 + 4 * x * x") == 1);
  CHECK(least_of("*b = x * x + *a * *a + 0.25f") == 0.25);
  CHECK(least_of("float s = sqrtf(x) + 2; *b = fmaxf(x, 3) * s") == 6);
  CHECK(least_of("*b = 1 + expf(x) + fabsf(x) / 5") == 1);
  CHECK(least_of("*b = x > 0 ? 2 + x * x : 1") == 1);
  CHECK(least_of("*b = 1 + x") < 0);
  CHECK(least_of("*b = 1 - x * x") < 0);
  CHECK(least_of("*b = 1 + k * x * x") < 0);
  CHECK(least_of("*b = 1 + x * x * x") < 0);
  CHECK(least_of("*b = fminf(x, 3)") < 0);
  CHECK(least_of("float s = 2; s += x; *b = s") < 0);
  CHECK(least_of("*b = x > 0 ? 2 + x : 1") < 0);
}

/* ---- random rules ---- */

typedef struct author {
  unsigned state;
  int locals; /* v0, v1, ... ints and x0, x1, ... reals */
  ambit__text t;
} author;

static unsigned pick(author *w, unsigned n)
{
  return draw(&w->state, n);
}

static void write_real(author *w, int depth);

static void write_int(author *w, int depth)
{
  static const char *const infix[] = {"+", "-", "*",  "+",  "-",  "&",  "|",  "^",
                                      "<", ">", "<=", ">=", "==", "!=", "&&", "||"};
  static const char *const by[] = {"/ 3", "/ 16", "/ -5", "% 7", "% 8", ">> 2", ">> 1", "<< 3"};
  const unsigned kind = depth ? pick(w, 12) : pick(w, 3);

  if (kind == 0 && w->locals) {
    ambit__print(&w->t, "v%u", pick(w, (unsigned)w->locals));
  } else if (kind == 1) {
    ambit__print(&w->t, "%d", (int)pick(w, 300) - 20);
  } else if (kind <= 2) {
    ambit__print(&w->t, "a[%d][%d]", (int)pick(w, 3) - 1, (int)pick(w, 3) - 1);
  } else if (kind <= 6) {
    ambit__print(&w->t, "(");
    write_int(w, depth - 1);
    ambit__print(&w->t, " %s ", infix[pick(w, 16)]);
    write_int(w, depth - 1);
    ambit__print(&w->t, ")");
  } else if (kind == 7) {
    ambit__print(&w->t, "(");
    write_int(w, depth - 1);
    ambit__print(&w->t, " %s)", by[pick(w, 8)]);
  } else if (kind <= 9) {
    ambit__print(&w->t, "(");
    write_int(w, depth - 1);
    ambit__print(&w->t, pick(w, 2) ? " < " : " >= ");
    write_int(w, depth - 1);
    ambit__print(&w->t, " ? ");
    write_int(w, depth - 1);
    ambit__print(&w->t, " : ");
    write_int(w, depth - 1);
    ambit__print(&w->t, ")");
  } else if (kind == 10) {
    static const char *const functions[] = {"abs(", "!(", "-(", "(unsigned char)(", "(short)("};

    ambit__print(&w->t, "%s", functions[pick(w, 5)]);
    write_int(w, depth - 1);
    ambit__print(&w->t, ")");
  } else {
    static const char *const types[] = {"(int)(", "(unsigned char)(", "(short)(", "("};
    const unsigned type = pick(w, 4);

    ambit__print(&w->t, "%s", types[type]);
    write_real(w, depth - 1);
    if (type == 3) ambit__print(&w->t, pick(w, 2) ? " > %d.0f" : " <= %d.5f", (int)pick(w, 300));
    ambit__print(&w->t, ")");
  }
}

static void write_real(author *w, int depth)
{
  static const char *const numbers[] = {"0.5f", "0.25f", "2.0f", "255.0f",
                                        "0.1f", "3.0",   "0.0f", "9.0f"};
  static const char *const functions[] = {"fabsf(", "sqrtf(",  "sqrt(fabs(", "floorf(",
                                          "ceilf(", "roundf(", "trunc(",     "rintf("};
  const unsigned kind = depth ? pick(w, 10) : pick(w, 3);

  if (kind == 0 && w->locals) {
    ambit__print(&w->t, "x%u", pick(w, (unsigned)w->locals));
  } else if (kind <= 1) {
    ambit__print(&w->t, "%s", numbers[pick(w, 8)]);
  } else if (kind <= 3) {
    ambit__print(&w->t, pick(w, 3) ? "(float)" : "(double)");
    write_int(w, depth ? depth - 1 : 0);
  } else if (kind <= 5) {
    ambit__print(&w->t, "(");
    write_real(w, depth - 1);
    ambit__print(&w->t, " %c ", "+-*"[pick(w, 3)]);
    write_real(w, depth - 1);
    ambit__print(&w->t, ")");
  } else if (kind == 6) {
    ambit__print(&w->t, "(");
    write_real(w, depth - 1);
    ambit__print(&w->t, " / ");
    if (pick(w, 2))
      write_real(w, depth - 1);
    else
      ambit__print(&w->t, "%s", numbers[pick(w, 8)]);
    ambit__print(&w->t, ")");
  } else if (kind == 7) {
    ambit__print(&w->t, pick(w, 2) ? "fminf(" : "fmaxf(");
    write_real(w, depth - 1);
    ambit__print(&w->t, ", ");
    write_real(w, depth - 1);
    ambit__print(&w->t, ")");
  } else if (kind == 8) {
    const unsigned f = pick(w, 8);

    ambit__print(&w->t, "%s", functions[f]);
    write_real(w, depth - 1);
    ambit__print(&w->t, f == 2 ? "))" : ")");
  } else {
    ambit__print(&w->t, "(");
    write_int(w, depth - 1);
    ambit__print(&w->t, " ? ");
    write_real(w, depth - 1);
    ambit__print(&w->t, " : ");
    write_real(w, depth - 1);
    ambit__print(&w->t, ")");
  }
}

static void write_statement(author *w)
{
  if (w->locals < 3 && pick(w, 2)) {
    ambit__print(&w->t, "  int v%d = ", w->locals);
    write_int(w, 3);
    ambit__print(&w->t, "; %s x%d = ", pick(w, 2) ? "float" : "double", w->locals);
    write_real(w, 3);
    ambit__print(&w->t, ";\n");
    w->locals++;
    return;
  }
  ambit__print(&w->t, "  if (");
  write_int(w, 2);
  ambit__print(&w->t, w->locals ? ") v0 = " : ") *b = ");
  write_int(w, 2);
  ambit__print(&w->t, "; else *s += ");
  write_int(w, 2);
  ambit__print(&w->t, ";\n");
}

static void random_rules_keep_their_values(void)
{
  int done = 0;

  for (unsigned seed = 1; seed <= 400; seed++) {
    author w = {.state = seed * 2654435761u};
    const char *type = seed % 3 ? "unsigned char" : "short";
    ambit__rule *rule, *to;
    char *text;

    ambit__print(&w.t, "void f%u(const %s *a, %s *b, sum int *s)\n{\n  *s = 1;\n", seed, type,
                 type);
    for (unsigned n = pick(&w, 4); n; n--)
      write_statement(&w);
    ambit__print(&w.t, "  *b = ");
    if (pick(&w, 2))
      write_int(&w, 4);
    else
      write_real(&w, 4);
    ambit__print(&w.t, ";\n}\n");
    text = ambit__text_finish(&w.t);
    rule = parse_ok(text);
    to = simplified(rule);
    done += to != NULL;
    if (to) check_same_values(rule, to, 100);
    ambit__rule_free(to);
    ambit__rule_free(rule);
    free(text);
  }
  CHECK(done > 300);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"sobel_is_one_rule_however_it_is_cut_off", sobel_is_one_rule_however_it_is_cut_off},
      {"sums_of_magnitudes_are_one_rule", sums_of_magnitudes_are_one_rule},
      {"values_that_are_cut_off_are_one_rule", values_that_are_cut_off_are_one_rule},
      {"means_are_quotients_of_integers", means_are_quotients_of_integers},
      {"minima_are_one_rule", minima_are_one_rule},
      {"the_middle_of_three_is_four_minima", the_middle_of_three_is_four_minima},
      {"conditions_on_whole_floats_are_on_integers", conditions_on_whole_floats_are_on_integers},
      {"costly_functions_of_a_byte_are_tables", costly_functions_of_a_byte_are_tables},
      {"counts_are_sums_of_conditions", counts_are_sums_of_conditions},
      {"masks_are_those_of_operands", masks_are_those_of_operands},
      {"near_misses_keep_their_values", near_misses_keep_their_values},
      {"rules_on_other_fields_stay", rules_on_other_fields_stay},
      {"sums_of_squares_and_numbers_are_not_below_these",
       sums_of_squares_and_numbers_are_not_below_these},
      {"random_rules_keep_their_values", random_rules_keep_their_values},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
