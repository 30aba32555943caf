/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights are turned into kernel text, as a user would write it.
 *
 * float and double:  *v = 0.2f * u[-1][0] + 0.05f * u[-1][1] + ...;   weight / divisor
 *                    *v = 0.25f * (u[-1][0] + ...);                   when all are equal
 * integers:          *v = (int)((4.0 * u[-1][0] + ...) / 20.0);
 *
 * Integers are summed in double and divided last, so that the average of equal cells is exact:
 * multiplying 49 ones by a rounded 1/49 would give 0.99... and truncate to 0. Coefficients that are
 * zero in the kernel's type are omitted.
 */
#include "kernel/weights.h"

#include "base/number.h"
#include "base/text.h"
#include "kernel/ast.h"
#include "kernel/kernel.h"

#include <float.h>
#include <math.h>

enum { LINE_CHARS = 98 };

ambit_status ambit__weights_shape(ambit__errors *errors, const char *what, const ambit_weights *w,
                                  size_t *cells)
{
  *cells = 1;
  AMBIT_CHECK(w->ndims >= 1 && w->ndims <= AMBIT_MAX_DIMS, errors, AMBIT_EINVAL,
              "%s: weights of %d dimensions; there must be 1 to %d", what, w->ndims,
              AMBIT_MAX_DIMS);
  for (int d = 0; d < w->ndims; d++) {
    AMBIT_CHECK(
        w->low[d] >= 0 && w->high[d] >= 0, errors, AMBIT_EINVAL,
        "%s: the weights reach %d back and %d forward along axis %d; neither may be negative", what,
        w->low[d], w->high[d], d);
    AMBIT_CHECK(
        w->low[d] <= AMBIT_MAX_OFFSET && w->high[d] <= AMBIT_MAX_OFFSET, errors, AMBIT_EINVAL,
        "%s: the weights reach %d back and %d forward along axis %d; at most %d is possible", what,
        w->low[d], w->high[d], d, AMBIT_MAX_OFFSET);
    *cells *= (size_t)w->low[d] + (size_t)w->high[d] + 1;
    AMBIT_CHECK(
        *cells <= AMBIT__WEIGHTS_CELLS, errors, AMBIT_EINVAL,
        "%s: the box of weights has more than %d cells; write the sum as kernel text instead", what,
        AMBIT__WEIGHTS_CELLS);
  }
  return AMBIT_OK;
}

bool ambit__offset_start(const ambit_weights *w, int offset[AMBIT_MAX_DIMS])
{
  for (int d = 0; d < w->ndims; d++)
    offset[d] = -w->low[d];
  return w->ndims > 0;
}

bool ambit__offset_step(const ambit_weights *w, int offset[AMBIT_MAX_DIMS])
{
  int d = w->ndims - 1;

  while (d >= 0 && offset[d] == w->high[d]) {
    offset[d] = -w->low[d];
    d--;
  }
  if (d >= 0) offset[d]++;
  return d >= 0;
}

size_t ambit__offset_place(const ambit_weights *w, const int *offset)
{
  size_t place = 0;

  for (int d = 0; d < w->ndims; d++)
    place = place * (size_t)(w->low[d] + w->high[d] + 1) + (size_t)(offset[d] + w->low[d]);
  return place;
}

/* The state of the generator. */
typedef struct sum {
  const ambit_weights *w;
  const char *name;
  ambit_type type;
  bool is_integer;  /* computed in double, divided at the end */
  double divisor;   /* never 0 */
  size_t points;    /* number of non-zero coefficients */
  bool equal;       /* all of them equal `first` */
  double first;     /* coefficient of the first point */
  ambit__text text; /* output */
  size_t line;      /* start of the current line in the text */
} sum;

/* The factor of one weight, as represented in the kernel. */
static double coefficient(const sum *s, double weight)
{
  double c = s->is_integer ? weight : weight / s->divisor;

  if (s->type == AMBIT_F64 || s->is_integer) return c;
  return fabs(c) > (double)FLT_MAX ? copysign(INFINITY, c) : (double)(float)c;
}

static ambit_status check_name(ambit__errors *errors, const char *name)
{
  AMBIT_CHECK(name && *name, errors, AMBIT_EINVAL, "a kernel made from weights needs a name");
  for (const char *c = name; *c; c++)
    AMBIT_CHECK(ambit__is_name_char(*c), errors, AMBIT_EINVAL,
                "\"%.60s\" is not a valid kernel name: use only letters, digits and _", name);
  return AMBIT_OK;
}

static ambit_status check_weight(ambit__errors *errors, const sum *s, size_t i)
{
  double weight = s->w->weights[i];

  AMBIT_CHECK(isfinite(weight), errors, AMBIT_EINVAL,
              "%s: weight number %zu is %g; every weight must be finite", s->name, i, weight);
  AMBIT_CHECK(isfinite(coefficient(s, weight)), errors, AMBIT_EINVAL,
              "%s: weight number %zu, %g / %g, is too large for %s", s->name, i, weight, s->divisor,
              ambit_type_name(s->type));
  return AMBIT_OK;
}

static ambit_status survey(ambit__errors *errors, sum *s, size_t cells)
{
  s->equal = true;
  for (size_t i = 0; i < cells; i++) {
    double c;

    AMBIT_TRY(check_weight(errors, s, i));
    c = coefficient(s, s->w->weights[i]);
    if (c == 0) continue;
    if (!s->points++) s->first = c;
    s->equal = s->equal && c == s->first;
  }
  AMBIT_CHECK(s->points <= AMBIT__WEIGHTS_POINTS, errors, AMBIT_EINVAL,
              "%s: %zu weights are not zero; a kernel made from weights has at most %d", s->name,
              s->points, AMBIT__WEIGHTS_POINTS);
  return AMBIT_OK;
}

static ambit_status check_all(ambit__errors *errors, const char *name, ambit_type type,
                              const ambit_weights *w, size_t *cells)
{
  AMBIT_TRY(check_name(errors, name));
  AMBIT_CHECK(ambit_type_size(type), errors, AMBIT_EINVAL, "%s: %d is not an ambit_type", name,
              (int)type);
  AMBIT_CHECK(w && w->weights, errors, AMBIT_EINVAL, "%s: the weights are NULL", name);
  AMBIT_CHECK(isfinite(w->divisor), errors, AMBIT_EINVAL,
              "%s: the divisor is %g; it must be finite (0 means 1)", name, w->divisor);
  return ambit__weights_shape(errors, name, w, cells);
}

static void print_number(ambit__text *t, ambit_type type, double x)
{
  char digits[AMBIT__NUMBER_CHARS];

  const bool is_float = type == AMBIT_F32 || ambit__type_is_half(type);

  if (is_float)
    ambit__number_print_float(digits, (float)x);
  else
    ambit__number_print_double(digits, x);
  ambit__print(t, "%s%s", digits, is_float ? "f" : "");
}

static void print_read(ambit__text *t, int ndims, const int *offset)
{
  ambit__print(t, "u");
  for (int d = 0; d < ndims; d++)
    ambit__print(t, "[%d]", offset[d]);
}

/* One operand of the sum. If all weights are equal, the factor is outside; in integer kernels the
 * first operand then makes the sum double. `term` is empty. */
static void print_term(ambit__text *term, const sum *s, bool is_first, double c, const int *offset)
{
  if (!is_first) ambit__print(term, "%c ", !s->equal && c < 0 ? '-' : '+');
  if (!s->equal && (fabs(c) != 1 || s->is_integer)) {
    print_number(term, s->type, is_first ? c : fabs(c));
    ambit__print(term, " * ");
  } else if (!s->equal && is_first && c < 0) {
    ambit__print(term, "-");
  }
  if (s->equal && is_first && s->is_integer) ambit__print(term, "(double)");
  print_read(term, s->w->ndims, offset);
}

/* Appends a term, on a new line if it would pass the right margin. */
static void add_term(sum *s, bool is_first, const ambit__text *term)
{
  bool wraps = !is_first && s->text.len + term->len - s->line > LINE_CHARS;

  if (wraps) s->line = s->text.len + 1;
  ambit__print(&s->text, "%s", wraps ? "\n      " : is_first ? "" : " ");
  ambit__print_chars(&s->text, term->chars, term->len);
}

static void print_chain(sum *s)
{
  const double *weight = s->w->weights;
  int offset[AMBIT_MAX_DIMS];
  ambit__text term = {0};
  bool is_first = true;

  for (bool more = ambit__offset_start(s->w, offset); more;
       more = ambit__offset_step(s->w, offset)) {
    double c = coefficient(s, *weight++);

    if (c == 0) continue;
    term.len = 0;
    print_term(&term, s, is_first, c, offset);
    if (term.failed) s->text.failed = true;
    add_term(s, is_first, &term);
    is_first = false;
  }
  ambit__text_free(&term);
}

/* All weights are zero: the result is zero, but the text still mentions the field and its
 * dimensions. */
static void print_nothing(sum *s)
{
  static const int centre[AMBIT_MAX_DIMS];

  print_number(&s->text, s->type, 0);
  ambit__print(&s->text, " * ");
  print_read(&s->text, s->w->ndims, centre);
}

static void print_sum(sum *s)
{
  bool factor = s->equal && s->first != 1, brackets;

  if (!s->points) {
    print_nothing(s);
    return;
  }
  if (factor) {
    print_number(&s->text, s->type, s->first);
    ambit__print(&s->text, " * ");
  }
  brackets = s->points > 1 && (factor || (s->is_integer && s->divisor != 1));
  if (brackets) ambit__print(&s->text, "(");
  print_chain(s);
  if (brackets) ambit__print(&s->text, ")");
}

static void print_kernel(sum *s)
{
  const char *type = ambit_type_name(s->type);

  ambit__print(&s->text, "void %s%s(const %s *u, %s *v)\n{\n",
               ambit__is_digit(*s->name) ? "stencil_" : "", s->name, type, type);
  s->line = s->text.len;
  ambit__print(&s->text, "  *v = ");
  if (s->is_integer) ambit__print(&s->text, "(%s)(", type);
  print_sum(s);
  if (s->is_integer && s->divisor != 1 && s->points) {
    ambit__print(&s->text, " / ");
    print_number(&s->text, s->type, s->divisor);
  }
  ambit__print(&s->text, "%s;\n}\n", s->is_integer ? ")" : "");
}

ambit_status ambit__weights_text(ambit__errors *errors, const char *name, ambit_type type,
                                 const ambit_weights *w, char **text)
{
  size_t cells;
  sum s = {.w = w, .name = name, .type = type};

  *text = NULL;
  AMBIT_TRY(check_all(errors, name, type, w, &cells));
  s.is_integer = !ambit__type_is_real(type);
  s.divisor = w->divisor == 0 ? 1 : w->divisor;
  AMBIT_TRY(survey(errors, &s, cells));
  print_kernel(&s);
  *text = ambit__text_finish(&s.text);
  AMBIT_CHECK(*text, errors, AMBIT_ENOMEM, "%s: out of memory for the text of %zu points", name,
              s.points);
  return AMBIT_OK;
}
