/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnostics.c - numbers that tell about a field: norms, extreme values with their place,
 * histograms. Each is one kernel or two, written here for the field's type and components. */
#include "base/number.h"
#include "runtime/run/run.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = 16 }; /* of one kernel */

/* ---- kernels ---- */

/* Appends a kernel, which belongs to the context. */
static ambit_status append(ambit_program *p, ambit__text *text, int n, const ambit_arg *args)
{
  char *source = ambit__text_finish(text);
  const ambit_kernel *k;

  AMBIT_CHECK(source, ambit__program_errors(p), AMBIT_ENOMEM, "no memory for a kernel");
  k = ambit_kernel_create(p->grid->context, source);
  free(source);
  return k ? ambit_apply_args(p, k, n, args) : ambit__program_status(p);
}

/* "const float *u[3], ", and in the body x, the components one after the other. */
static void print_field(ambit__text *t, const ambit_field *f)
{
  ambit__print(t, "const %s *u", ambit_type_name(f->type));
  if (f->components > 1) ambit__print(t, "[%d]", f->components);
  ambit__print(t, ", ");
}

static void open_values(ambit__text *t, const ambit_field *f)
{
  ambit__print(t, "{ for (int i = 0; i < %d; i++) { double x = (double)*u%s; ", f->components,
               f->components > 1 ? "[i]" : "");
}

/* ---- checks ---- */

static ambit_status check(const ambit_program *p, const char *call, const ambit_field *f,
                          const ambit_scalar *s, ambit_type type)
{
  ambit__errors *errors = ambit__program_errors(p);

  AMBIT_CHECK(f && f->grid == p->grid, errors, AMBIT_EINVAL,
              "%s: the field is NULL or belongs to another grid than the program", call);
  AMBIT_CHECK(s && s->context == p->grid->context && s->type == type, errors, AMBIT_EINVAL,
              "%s: the result needs a scalar of type %s of the same context", call,
              ambit_type_name(type));
  return AMBIT_OK;
}

/* Steps from number `first` on were appended by one call. */
static ambit_status together(ambit_program *p, size_t first)
{
  p->last = first;
  return AMBIT_OK;
}

/* ---- measures ---- */

static const struct {
  const char *reduction, *change, *after; /* after: a kernel on the scalar s, or NULL */
} measures[] = {
    [AMBIT_MEAN] = {"sum", "*s += x;", "*s = *s / n"},
    [AMBIT_NORM_1] = {"sum", "*s += fabs(x);", NULL},
    [AMBIT_NORM_2] = {"sum", "*s += x * x;", "*s = sqrt(*s)"},
    [AMBIT_NORM_MAX] = {"max", "x = fabs(x); if (x > *s || x != x) *s = x;", NULL},
    [AMBIT_LEAST] = {"min", "if (x < *s || x != x) *s = x;", NULL},
    [AMBIT_GREATEST] = {"max", "if (x > *s || x != x) *s = x;", NULL},
};

static ambit_status measure(ambit_program *p, const ambit_field *f, ambit_quantity what,
                            ambit_scalar *value)
{
  const ambit__box cells = ambit__field_box(f);
  const double n = (double)ambit__grid_count(p->grid, &cells) * f->components;
  const ambit_arg args[] = {ambit_arg_field(f), ambit_arg_scalar(value)};
  const ambit_arg after[] = {ambit_arg_scalar(value), ambit_arg_number(n)};
  ambit__text t = {0}, u = {0};

  ambit__print(&t, "void measure(");
  print_field(&t, f);
  ambit__print(&t, "%s double *s) ", measures[what].reduction);
  open_values(&t, f);
  ambit__print(&t, "%s } }", measures[what].change);
  AMBIT_TRY(append(p, &t, 2, args));
  if (!measures[what].after) return AMBIT_OK;
  ambit__print(&u, "void finish(double *s, double n) { %s; }", measures[what].after);
  return append(p, &u, 2, after);
}

ambit_status ambit_measure(ambit_program *p, const ambit_field *f, ambit_quantity what,
                           ambit_scalar *value)
{
  size_t first;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  first = p->nwritten;
  AMBIT_TRY(check(p, "ambit_measure", f, value, AMBIT_F64));
  AMBIT_CHECK((int)what >= AMBIT_MEAN && what <= AMBIT_GREATEST, ambit__program_errors(p),
              AMBIT_EINVAL, "ambit_measure: quantity %d is none of ambit_quantity", (int)what);
  AMBIT_TRY(measure(p, f, what, value));
  return together(p, first);
}

/* The row-major number of a cell among those of the field, which has one along dropped axes. */
static void print_number(ambit__text *t, const ambit_field *f)
{
  ambit__print(t, "0");
  for (int d = 0; d < f->grid->box.ndims; d++) {
    if (f->dropped >> d & 1) continue;
    ambit__print(t, " + index(%d)", d);
    for (int e = d + 1; e < f->grid->box.ndims; e++)
      if (!(f->dropped >> e & 1)) ambit__print(t, " * extent(%d)", e);
  }
}

ambit_status ambit_locate(ambit_program *p, const ambit_field *f, ambit_quantity what,
                          ambit_scalar *value, ambit_scalar *place)
{
  const ambit_arg args[] = {ambit_arg_field(f), ambit_arg_scalar(value), ambit_arg_scalar(place)};
  ambit__text t = {0};
  size_t first;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  first = p->nwritten;
  AMBIT_TRY(check(p, "ambit_locate", f, value, AMBIT_F64));
  AMBIT_TRY(check(p, "ambit_locate", f, place, AMBIT_I64));
  AMBIT_CHECK(what == AMBIT_LEAST || what == AMBIT_GREATEST || what == AMBIT_NORM_MAX,
              ambit__program_errors(p), AMBIT_EINVAL,
              "ambit_locate: only AMBIT_LEAST, AMBIT_GREATEST and AMBIT_NORM_MAX have a place");
  AMBIT_TRY(measure(p, f, what, value));
  ambit__print(&t, "void locate(");
  print_field(&t, f);
  ambit__print(&t, "double s, min long *at) ");
  open_values(&t, f);
  ambit__print(&t, "if (%s == s) *at = ", what == AMBIT_NORM_MAX ? "fabs(x)" : "x");
  print_number(&t, f);
  ambit__print(&t, "; } }");
  AMBIT_TRY(append(p, &t, 3, args));
  return together(p, first);
}

/* ---- histograms ---- */

/* Bins first .. first + m - 1 of n. The first one is an argument, so that all steps with as many
 * bins are one kernel, compiled once. */
static ambit_status count_bins(ambit_program *p, const ambit_field *f, double lo, double hi, int n,
                               int first, int m, ambit_scalar *const *counts)
{
  ambit_arg args[BINS + 2] = {ambit_arg_field(f), ambit_arg_number(first)};
  char low[AMBIT__NUMBER_CHARS], high[AMBIT__NUMBER_CHARS], scale[AMBIT__NUMBER_CHARS];
  ambit__text t = {0};

  ambit__number_print_double(low, lo);
  ambit__number_print_double(high, hi);
  ambit__number_print_double(scale, n / (hi - lo));
  for (int k = 0; k < m; k++)
    args[k + 2] = ambit_arg_scalar(counts[first + k]);
  ambit__print(&t, "void histogram(");
  print_field(&t, f);
  ambit__print(&t, "double first, sum long *c[%d]) ", m);
  open_values(&t, f);
  ambit__print(&t, "double b = floor((x - %s) * %s); ", low, scale);
  ambit__print(&t, "if (b >= %d && x <= %s) b = %d.0; b -= first; ", n, high, n - 1); /* rounded */
  ambit__print(&t, "for (int k = 0; k < %d; k++) if (b == k) *c[k] += 1; } }", m);
  return append(p, &t, m + 2, args);
}

ambit_status ambit_histogram(ambit_program *p, const ambit_field *f, double lo, double hi, int n,
                             ambit_scalar *const *counts)
{
  size_t first;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  first = p->nwritten;
  AMBIT_CHECK(n > 0 && counts && lo < hi && isfinite(hi - lo) && isfinite(n / (hi - lo)),
              ambit__program_errors(p), AMBIT_EINVAL,
              "ambit_histogram: %d bin%s from %g to %g; there must be at least one, and the first "
              "number less than the second, by less than 1.8e308",
              n, n == 1 ? "" : "s", lo, hi);
  for (int k = 0; k < n; k++)
    AMBIT_TRY(check(p, "ambit_histogram", f, counts[k], AMBIT_I64));
  for (int k = 0; k < n; k += BINS)
    AMBIT_TRY(count_bins(p, f, lo, hi, n, k, k + BINS < n ? BINS : n - k, counts));
  return together(p, first);
}
