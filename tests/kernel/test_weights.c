/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights, the catalogue, and their kernel text. */
#include "kernel/ast.h"
#include "kernel/kernel.h"
#include "kernel/weights.h"
#include "kernel/weights_file.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

static ambit__errors errors;

static ambit_weights find(const char *name)
{
  ambit_weights w;

  CHECK_MSG(!ambit__catalogue_find(&errors, name, &w), "%s: %s", name, errors.text);
  ambit__errors_clear(&errors);
  return w;
}

static void drop(ambit_weights *w)
{
  free((void *)w->weights);
}

static size_t cells_of(const ambit_weights *w)
{
  size_t n;

  CHECK(!ambit__weights_shape(NULL, "", w, &n));
  return n;
}

/* ---- fixed entries: every point is listed, the others must be zero ---- */

static const struct {
  const char *name, *file;
} fixed_entries[] = {
    {"1dc2", "dims 1\ndivisor 2\n"
             "weight -1 1\nweight 1 1\n"},
    {"1dnc4", "dims 1\ndivisor 3\n"
              "weight -2 0.5\nweight -1 1\nweight 1 1\nweight 2 0.5\n"},
    {"2d4", "dims 2\ndivisor 4\n"
            "weight -1 0 1\nweight 1 0 1\n"
            "weight 0 -1 1\nweight 0 1 1\n"},
    {"2d8", "dims 2\ndivisor 20\n"
            "weight -1 0 4\nweight 1 0 4\n"
            "weight 0 -1 4\nweight 0 1 4\n"
            "weight -1 -1 1\nweight -1 1 1\n"
            "weight 1 -1 1\nweight 1 1 1\n"},
    {"2df5", "dims 2\ndivisor 6.5\n"
             "weight -2 0 1\nweight -1 0 2\n"
             "weight 0 -2 1\nweight 0 -1 2\n"
             "weight -1 -1 0.5\n"},
    {"2dnc8", "dims 2\ndivisor 20\n"
              "weight -2 0 1\nweight -1 0 4\nweight 1 0 4\nweight 2 0 1\n"
              "weight 0 -2 1\nweight 0 -1 4\nweight 0 1 4\nweight 0 2 1\n"},
    {"3d27", "dims 3\ndivisor 27\n"
             "weight -1 -1 -1 1\nweight -1 -1 0 1\nweight -1 -1 1 1\n"
             "weight -1 0 -1 1\nweight -1 0 0 1\nweight -1 0 1 1\n"
             "weight -1 1 -1 1\nweight -1 1 0 1\nweight -1 1 1 1\n"
             "weight 0 -1 -1 1\nweight 0 -1 0 1\nweight 0 -1 1 1\n"
             "weight 0 0 -1 1\nweight 0 0 0 1\nweight 0 0 1 1\n"
             "weight 0 1 -1 1\nweight 0 1 0 1\nweight 0 1 1 1\n"
             "weight 1 -1 -1 1\nweight 1 -1 0 1\nweight 1 -1 1 1\n"
             "weight 1 0 -1 1\nweight 1 0 0 1\nweight 1 0 1 1\n"
             "weight 1 1 -1 1\nweight 1 1 0 1\nweight 1 1 1 1\n"},
    {"3d6", "dims 3\ndivisor 6\n"
            "weight -1 0 0 1\nweight 1 0 0 1\n"
            "weight 0 -1 0 1\nweight 0 1 0 1\n"
            "weight 0 0 -1 1\nweight 0 0 1 1\n"},
    {"3df7", "dims 3\ndivisor 9.5\n"
             "weight -2 0 0 1\nweight -1 0 0 2\n"
             "weight 0 -2 0 1\nweight 0 -1 0 2\n"
             "weight 0 0 -2 1\nweight 0 0 -1 2\n"
             "weight -1 -1 -1 0.5\n"},
    {"3dnc12", "dims 3\ndivisor 42\n"
               "weight -2 0 0 1\nweight -1 0 0 6\nweight 1 0 0 6\nweight 2 0 0 1\n"
               "weight 0 -2 0 1\nweight 0 -1 0 6\nweight 0 1 0 6\nweight 0 2 0 1\n"
               "weight 0 0 -2 1\nweight 0 0 -1 6\nweight 0 0 1 6\nweight 0 0 2 1\n"},
    {"4d8", "dims 4\ndivisor 8\n"
            "weight -1 0 0 0 1\nweight 1 0 0 0 1\n"
            "weight 0 -1 0 0 1\nweight 0 1 0 0 1\n"
            "weight 0 0 -1 0 1\nweight 0 0 1 0 1\n"
            "weight 0 0 0 -1 1\nweight 0 0 0 1 1\n"},
};
enum { NFIXED = sizeof fixed_entries / sizeof *fixed_entries };

static void check_fixed(const char *name, const char *file)
{
  ambit_weights got = find(name), want;

  CHECK_MSG(!ambit__weights_parse(&errors, name, file, &want), "%s", errors.text);
  CHECK_MSG(got.ndims == want.ndims && got.divisor == want.divisor, "%s", name);
  CHECK_MSG(!memcmp(got.low, want.low, sizeof got.low), "%s", name);
  CHECK_MSG(!memcmp(got.high, want.high, sizeof got.high), "%s", name);
  CHECK_MSG(!memcmp(got.weights, want.weights, cells_of(&want) * sizeof *want.weights), "%s", name);
  drop(&got);
  drop(&want);
}

static void fixed_entries_have_the_weights_of_the_paper(void)
{
  for (int i = 0; i < NFIXED; i++)
    check_fixed(fixed_entries[i].name, fixed_entries[i].file);
}

static void fixed_names_are_listed(void)
{
  int n = 0;

  while (ambit__catalogue_name(n)) {
    bool known = false;

    for (int i = 0; i < NFIXED; i++)
      known = known || !strcmp(fixed_entries[i].name, ambit__catalogue_name(n));
    CHECK_MSG(known, "%s is listed but not tested", ambit__catalogue_name(n));
    n++;
  }
  CHECK_EQ(NFIXED, n);
  CHECK(!ambit__catalogue_name(-1));
}

static void fixed_averages_keep_a_constant_field(void)
{
  for (int n = 0; ambit__catalogue_name(n); n++) {
    ambit_weights w = find(ambit__catalogue_name(n));
    size_t cells = cells_of(&w);
    double total = 0;

    for (size_t i = 0; i < cells; i++)
      total += w.weights[i];
    CHECK_MSG(total == w.divisor, "%s: %g / %g", ambit__catalogue_name(n), total, w.divisor);
    drop(&w);
  }
}

/* ---- families ---- */

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* The nonzero weights, sorted. The caller frees them. */
static double *sorted_points(const ambit_weights *w, size_t *npoints)
{
  size_t cells = cells_of(w);
  double *list = malloc(cells * sizeof *list);

  *npoints = 0;
  for (size_t i = 0; i < cells; i++)
    if (w->weights[i] != 0) list[(*npoints)++] = w->weights[i];
  qsort(list, *npoints, sizeof *list, by_value);
  return list;
}

static void check_family(const char *name, size_t want_points, bool distinct)
{
  ambit_weights w = find(name);
  double *list, total = 0;
  size_t n;

  if (!w.weights) return;
  list = sorted_points(&w, &n);
  CHECK_MSG(n == want_points, "%s has %zu points, not %zu", name, n, want_points);
  CHECK_MSG(list[0] > 0, "%s has the weight %g", name, list[0]);
  for (size_t i = 0; i < n; i++) {
    total += list[i];
    CHECK_MSG(!distinct || !i || (float)list[i] != (float)list[i - 1], "%s: %g twice", name,
              list[i]);
  }
  CHECK_MSG(fabs(total - 1) < 1e-14, "%s sums to %.17g", name, total);
  CHECK_MSG(w.divisor == 1, "%s", name);
  free(list);
  drop(&w);
}

static void families_are_positive_distinct_and_sum_to_one(void)
{
  char name[32];

  for (int dims = 1; dims <= 6; dims++)
    for (int radius = 1; radius <= 8; radius++) {
      double box = pow(2 * radius + 1, dims);

      if (box > 40000) continue;
      snprintf(name, sizeof name, "star%dd%d", dims, radius);
      check_family(name, (size_t)(2 * dims * radius + 1), true);
      strcat(name, "s");
      check_family(name, (size_t)(2 * dims * radius + 1), false);
      if (box > AMBIT__WEIGHTS_POINTS) continue;
      snprintf(name, sizeof name, "box%dd%d", dims, radius);
      check_family(name, (size_t)box, true);
      strcat(name, "s");
      check_family(name, (size_t)box, false);
    }
}

/* All reflections and permutations of axes are composed of these steps. */
static void check_symmetry(const char *name)
{
  ambit_weights w = find(name);
  int offset[AMBIT_MAX_DIMS];

  for (bool more = ambit__offset_start(&w, offset); more; more = ambit__offset_step(&w, offset)) {
    double here = w.weights[ambit__offset_place(&w, offset)];

    for (int d = 0; d < w.ndims; d++) {
      int mirrored[AMBIT_MAX_DIMS], turned[AMBIT_MAX_DIMS], next = (d + 1) % w.ndims;

      memcpy(mirrored, offset, sizeof mirrored);
      memcpy(turned, offset, sizeof turned);
      mirrored[d] = -offset[d];
      turned[d] = offset[next];
      turned[next] = offset[d];
      CHECK_MSG(here == w.weights[ambit__offset_place(&w, mirrored)], "%s: axis %d", name, d);
      CHECK_MSG(here == w.weights[ambit__offset_place(&w, turned)], "%s: axis %d", name, d);
    }
  }
  drop(&w);
}

static void an_s_makes_weights_symmetric(void)
{
  check_symmetry("star1d3s");
  check_symmetry("star2d4s");
  check_symmetry("box2d3s");
  check_symmetry("box3d2s");
  check_symmetry("box4d1s");
  check_symmetry("star6d2s");
}

static void symmetric_weights_differ_between_classes(void)
{
  /* (1,1,4) and (0,3,3) have the same distance and the same length. */
  static const int a[] = {1, 1, 4}, b[] = {0, 3, 3};
  ambit_weights w = find("box3d4s");

  CHECK(w.weights[ambit__offset_place(&w, a)] != w.weights[ambit__offset_place(&w, b)]);
  drop(&w);
}

static void the_same_name_gives_the_same_weights(void)
{
  ambit_weights a = find("box3d2"), b = find("box3d2");

  CHECK(!memcmp(a.weights, b.weights, cells_of(&a) * sizeof *a.weights));
  drop(&a);
  drop(&b);
}

static void refuse(const char *name, const char *words)
{
  ambit_weights w;

  CHECK_EQ(AMBIT_EINVAL, ambit__catalogue_find(&errors, name, &w));
  CHECK_MSG(errors.text && strstr(errors.text, words), "%s: \"%s\" is not in: %s",
            name ? name : "NULL", words, errors.text ? errors.text : "");
  CHECK(!w.weights);
  ambit__errors_clear(&errors);
}

static void unknown_names_are_refused_with_the_nearest_one(void)
{
  refuse("3d9", "nearest name is 3d6");
  refuse("2d4x", "nearest name is 2d4\n");
  refuse("2d44", "fixed names: 1dc2, 1dnc4, 2d4, 2d8, 2df5, 2dnc8, 3d27, 3d6, 3df7, 3dnc12, 4d8");
  refuse("strar2d1", "nearest name is star2d1");
  refuse("box2d1t", "nearest name is box2d1\n");
  refuse("box2d", "star<D>d<R> and box<D>d<R>");
  refuse("", "called \"\"");
  refuse(NULL, "NULL");
  refuse("a name so long that no stencil could ever be called by it, and longer still",
         "called \"a name");
}

static void families_past_their_limits_are_refused(void)
{
  refuse("star0d1", "0 dimensions");
  refuse("star7d1", "7 dimensions; a stencil has 1 to 6");
  refuse("star2d0", "radius 0");
  refuse("star2d9", "radius 9; stencils of the catalogue have radius 1 to 8");
  refuse("star2d99999999999999999999", "called \"star2d99999999999999999999\"\n");
  refuse("box6d2", "15625 points; a stencil has at most 4096");
  refuse("star6d8", "box of 24137569 cells");
}

/* ---- text ---- */

static void check_text(const char *want, const char *name, ambit_type type, const ambit_weights *w)
{
  char *text;

  CHECK_MSG(!ambit__weights_text(&errors, name, type, w, &text), "%s", errors.text);
  ambit__errors_clear(&errors);
  if (!text) return;
  CHECK_STR(want, text);
  free(text);
}

static void check_catalogue_text(const char *want, const char *name, ambit_type type)
{
  ambit_weights w = find(name);

  check_text(want, name, type, &w);
  drop(&w);
}

static void equal_weights_share_one_factor(void)
{
  check_catalogue_text("void stencil_2d4(const float *u, float *v)\n"
                       "{\n"
                       "  *v = 0.25f * (u[-1][0] + u[0][-1] + u[0][1] + u[1][0]);\n"
                       "}\n",
                       "2d4", AMBIT_F32);
  check_catalogue_text("void stencil_1dc2(const double *u, double *v)\n"
                       "{\n"
                       "  *v = 0.5 * (u[-1] + u[1]);\n"
                       "}\n",
                       "1dc2", AMBIT_F64);
}

static void different_weights_are_written_in_c_order(void)
{
  check_catalogue_text(
      "void stencil_2d8(const float *u, float *v)\n"
      "{\n"
      "  *v = 0.05f * u[-1][-1] + 0.2f * u[-1][0] + 0.05f * u[-1][1] + 0.2f * u[0][-1] + 0.2f * "
      "u[0][1]\n"
      "      + 0.05f * u[1][-1] + 0.2f * u[1][0] + 0.05f * u[1][1];\n"
      "}\n",
      "2d8", AMBIT_F32);
  check_catalogue_text("void stencil_1dnc4(const double *u, double *v)\n"
                       "{\n"
                       "  *v = 0.16666666666666666 * u[-2] + 0.3333333333333333 * u[-1]"
                       " + 0.3333333333333333 * u[1]\n"
                       "      + 0.16666666666666666 * u[2];\n"
                       "}\n",
                       "1dnc4", AMBIT_F64);
}

static void signs_ones_and_zeros_read_well(void)
{
  const double laplace[] = {1, -2, 1}, shift[] = {1, 0, 0}, minus[] = {-1, 0, 2},
               none[] = {0, 0, 0};
  const double flat[] = {-1, -1, -1};
  ambit_weights w = {.ndims = 1, .low = {1}, .high = {1}};

  w.weights = laplace;
  check_text("void f(const float *u, float *v)\n{\n  *v = u[-1] - 2.0f * u[0] + u[1];\n}\n", "f",
             AMBIT_F32, &w);
  w.weights = shift;
  check_text("void f(const float *u, float *v)\n{\n  *v = u[-1];\n}\n", "f", AMBIT_F32, &w);
  w.weights = minus;
  check_text("void f(const float *u, float *v)\n{\n  *v = -u[-1] + 2.0f * u[1];\n}\n", "f",
             AMBIT_F32, &w);
  w.weights = none;
  check_text("void f(const double *u, double *v)\n{\n  *v = 0.0 * u[0];\n}\n", "f", AMBIT_F64, &w);
  w.weights = flat;
  w.divisor = 2;
  check_text("void f(const double *u, double *v)\n{\n  *v = -0.5 * (u[-1] + u[0] + u[1]);\n}\n",
             "f", AMBIT_F64, &w);
}

static void integers_are_summed_in_double_and_divided_last(void)
{
  check_catalogue_text("void stencil_2d4(const int *u, int *v)\n"
                       "{\n"
                       "  *v = (int)(((double)u[-1][0] + u[0][-1] + u[0][1] + u[1][0]) / 4.0);\n"
                       "}\n",
                       "2d4", AMBIT_I32);
  check_catalogue_text(
      "void stencil_1dnc4(const unsigned char *u, unsigned char *v)\n"
      "{\n"
      "  *v = (unsigned char)((0.5 * u[-2] + 1.0 * u[-1] + 1.0 * u[1] + 0.5 * u[2])"
      " / 3.0);\n"
      "}\n",
      "1dnc4", AMBIT_U8);
}

static void no_line_of_a_text_is_long(void)
{
  ambit_weights w = find("box5d2");
  char *text = NULL;

  CHECK(!ambit__weights_text(&errors, "box5d2", AMBIT_F64, &w, &text));
  for (const char *line = text; line && *line; line += strcspn(line, "\n") + 1)
    CHECK_MSG(strcspn(line, "\n") <= 100, "%.110s", line);
  free(text);
  drop(&w);
}

static void refuse_weights(const char *words, const char *name, ambit_type type,
                           const ambit_weights *w)
{
  char *text;

  CHECK_EQ(AMBIT_EINVAL, ambit__weights_text(&errors, name, type, w, &text));
  CHECK_MSG(errors.text && strstr(errors.text, words), "\"%s\" is not in: %s", words,
            errors.text ? errors.text : "");
  CHECK(!text);
  ambit__errors_clear(&errors);
}

static void bad_weights_are_refused(void)
{
  double values[] = {1, 2, 3};
  const ambit_weights good = {.ndims = 1, .low = {1}, .high = {1}, .weights = values};
  ambit_weights w = good;

  refuse_weights("NULL", "f", AMBIT_F32, NULL);
  w.weights = NULL;
  refuse_weights("NULL", "f", AMBIT_F32, &w);
  refuse_weights("needs a name", NULL, AMBIT_F32, &good);
  refuse_weights("needs a name", "", AMBIT_F32, &good);
  refuse_weights("is not a valid kernel name", "f(); evil", AMBIT_F32, &good);
  refuse_weights("not an ambit_type", "f", (ambit_type)17, &good);
  w = good, w.ndims = 0;
  refuse_weights("0 dimensions", "f", AMBIT_F32, &w);
  w = good, w.ndims = 7;
  refuse_weights("7 dimensions", "f", AMBIT_F32, &w);
  w = good, w.low[0] = -1;
  refuse_weights("negative", "f", AMBIT_F32, &w);
  w = good, w.high[0] = 2000000000;
  refuse_weights("at most 1000", "f", AMBIT_F32, &w);
  w = good, w.high[0] = AMBIT_MAX_OFFSET + 1; /* not in the kernel text that is made of them */
  refuse_weights("at most 1000", "f", AMBIT_F32, &w);
  w = (ambit_weights){.ndims = 6, .weights = values, .low = {99, 99, 99, 99, 99, 99}};
  refuse_weights("more than 2097152 cells", "f", AMBIT_F32, &w);
  w = good, w.divisor = NAN;
  refuse_weights("divisor", "f", AMBIT_F32, &w);
  values[1] = INFINITY;
  refuse_weights("weight number 1 is inf", "f", AMBIT_F32, &good);
  values[1] = 1e300;
  refuse_weights("too large for float", "f", AMBIT_F32, &good);
}

static void too_many_points_are_refused(void)
{
  enum { N = 71 };
  static double values[N * N];
  const ambit_weights w = {.ndims = 2, .low = {35, 35}, .high = {35, 35}, .weights = values};

  for (int i = 0; i < N * N; i++)
    values[i] = 1;
  refuse_weights("5041 weights are not zero", "f", AMBIT_F32, &w);
}

/* ---- round trip: weights, text, rule, weights ---- */

static int points_of(const ambit_weights *w)
{
  size_t cells = cells_of(w);
  int n = 0;

  for (size_t i = 0; i < cells; i++)
    n += w->weights[i] != 0;
  return n;
}

static ambit__rule *rule_of(const char *name, ambit_type type, const ambit_weights *w)
{
  ambit__rule *rule = NULL;
  char *text;

  CHECK_MSG(!ambit__weights_text(&errors, name, type, w, &text), "%s", errors.text);
  CHECK_MSG(!ambit__rule_parse(&errors, name, text, &rule), "%s", errors.text);
  ambit__errors_clear(&errors);
  free(text);
  return rule;
}

/* The footprint is that of the weights: exactly these cells are read. */
static void check_reads(const char *name, const ambit__rule *rule, const ambit_weights *w)
{
  const ambit__param *u = &rule->params[0];

  CHECK_MSG(rule->ndims == w->ndims && u->nreads == points_of(w), "%s: %d axes, %d reads", name,
            rule->ndims, u->nreads);
  for (int d = 0; d < w->ndims; d++)
    CHECK_MSG(u->low[d] == w->low[d] && u->high[d] == w->high[d], "%s: axis %d", name, d);
}

static void check_taps(const char *name, const ambit__rule *rule, ambit_type type,
                       const ambit_weights *w)
{
  enum { MOST = AMBIT__WEIGHTS_POINTS };
  static ambit__tap taps[MOST];
  int n = 0;

  CHECK_MSG(ambit__rule_taps(rule, taps, MOST, &n), "%s is no weighted sum", name);
  CHECK_MSG(n == points_of(w), "%s has %d taps", name, n);
  for (int i = 0; i < n; i++) {
    double want = w->weights[ambit__offset_place(w, taps[i].offset)] / w->divisor;

    if (type == AMBIT_F32) want = (double)(float)want;
    CHECK_MSG(taps[i].weight == want, "%s: tap %d is %.17g, not %.17g", name, i, taps[i].weight,
              want);
  }
}

static void check_there_and_back(const char *name)
{
  ambit_weights w = find(name);

  for (int type = 0; ambit_type_size((ambit_type)type); type++) {
    ambit__rule *rule = rule_of(name, (ambit_type)type, &w);

    if (!rule) continue;
    check_reads(name, rule, &w);
    if (type == AMBIT_F32 || type == AMBIT_F64) check_taps(name, rule, (ambit_type)type, &w);
    ambit__rule_free(rule);
  }
  drop(&w);
}

static void every_text_parses_and_gives_its_weights_back(void)
{
  static const char *const families[] = {"star1d8", "star2d3", "star3d2s", "star4d2",
                                         "star6d1", "box1d4",  "box2d2",   "box2d4s",
                                         "box3d2",  "box4d1",  "box6d1"};

  for (int i = 0; ambit__catalogue_name(i); i++)
    check_there_and_back(ambit__catalogue_name(i));
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    check_there_and_back(families[i]);
}

static void the_largest_text_parses(void)
{
  ambit_weights w = find("box3d7");
  ambit__rule *rule = rule_of("box3d7", AMBIT_F64, &w);

  if (rule) check_taps("box3d7", rule, AMBIT_F64, &w);
  ambit__rule_free(rule);
  drop(&w);
}

/* ---- files ---- */

static void a_file_gives_weights(void)
{
  static const char text[] = "# nine points, one of them far\r\n"
                             "dims 2\n"
                             "\n"
                             "  divisor 2.5e1   # not 24\n"
                             "weight -1 0 4\n"
                             "weight 0 +3 -0.5\n"
                             "weight 0 0 1";
  ambit_weights w;

  CHECK_MSG(!ambit__weights_parse(&errors, "a.w", text, &w), "%s", errors.text);
  CHECK_EQ(2, w.ndims);
  CHECK(w.divisor == 25);
  CHECK_EQ(1, w.low[0]);
  CHECK_EQ(0, w.low[1]);
  CHECK_EQ(0, w.high[0]);
  CHECK_EQ(3, w.high[1]);
  if (w.weights) {
    static const double want[] = {4, 0, 0, 0, 1, 0, 0, -0.5};

    CHECK(!memcmp(want, w.weights, sizeof want));
  }
  drop(&w);
}

static void refuse_file(const char *want, const char *text)
{
  ambit_weights w;

  CHECK_EQ(AMBIT_EINVAL, ambit__weights_parse(&errors, "a.w", text, &w));
  CHECK_MSG(errors.text && strstr(errors.text, want), "\"%s\" is not in: %s", want,
            errors.text ? errors.text : "");
  CHECK(!w.weights);
  ambit__errors_clear(&errors);
}

static void mistakes_in_a_file_are_told_by_line(void)
{
  refuse_file("a.w:1: the file ends without a weight", "");
  refuse_file("a.w:2: the file ends without a weight", "dims 1\n# nothing");
  refuse_file("a.w:1: weight before dims; write \"dims 2\" first", "weight 0 1 1\n");
  refuse_file("a.w:2: dims is given twice; it was 1", "dims 1\ndims 2\n");
  refuse_file("a.w:1: dims 7; it must be 1 to 6", "dims 7\n");
  refuse_file("a.w:1: dims is followed by 2 words", "dims 1 2\n");
  refuse_file("a.w:1: \"two\" is not an integer", "dims two\n");
  refuse_file("a.w:2: divisor 0; it must not be zero", "dims 1\ndivisor 0\n");
  refuse_file("a.w:1: \"nan\" is not a finite number", "divisor nan\n");
  refuse_file("a.w:2: divisor is given twice; it was 2", "divisor 2\ndivisor 3\n");
  refuse_file("a.w:2: weight is followed by 2 numbers; it takes 2 offsets and the weight, 3 in all",
              "dims 2\nweight 1 1\n");
  refuse_file("a.w:2: \"0.5\" is not an integer", "dims 1\nweight 0.5 1\n");
  refuse_file("a.w:2: 5000 is too far", "dims 1\nweight 5000 1\n");
  refuse_file("a.w:2: -9223372036854775808 is too far",
              "dims 1\nweight -9223372036854775808 1\n"); /* which has no absolute value */
  refuse_file("a.w:2: \"1e999\" is not a finite number", "dims 1\nweight 1 1e999\n");
  refuse_file("a.w:4: this offset already has a weight, from line 2",
              "dims 1\nweight 1 1\nweight 2 1\nweight 1 3\n");
  refuse_file("a.w:1: \"size\" is unknown", "size 3\n");
  refuse_file("a.w:1: more than 9 words", "weight 1 2 3 4 5 6 7 8 9 10\n");
  refuse_file("too long for a word",
              "weight 0000000000000000000000000000000000000000000000000000000000000000000000001\n");
  refuse_file("a.w: the box of weights has more than 2097152 cells",
              "dims 2\nweight -1000 -1000 1\nweight 1000 1000 1\n");
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
#define T(name) {#name, name}
      T(fixed_entries_have_the_weights_of_the_paper),
      T(fixed_names_are_listed),
      T(fixed_averages_keep_a_constant_field),
      T(families_are_positive_distinct_and_sum_to_one),
      T(an_s_makes_weights_symmetric),
      T(symmetric_weights_differ_between_classes),
      T(the_same_name_gives_the_same_weights),
      T(unknown_names_are_refused_with_the_nearest_one),
      T(families_past_their_limits_are_refused),
      T(equal_weights_share_one_factor),
      T(different_weights_are_written_in_c_order),
      T(signs_ones_and_zeros_read_well),
      T(integers_are_summed_in_double_and_divided_last),
      T(no_line_of_a_text_is_long),
      T(bad_weights_are_refused),
      T(too_many_points_are_refused),
      T(every_text_parses_and_gives_its_weights_back),
      T(the_largest_text_parses),
      T(a_file_gives_weights),
      T(mistakes_in_a_file_are_told_by_line),
#undef T
      {0}};

  return test_main(argc, argv, tests);
}
