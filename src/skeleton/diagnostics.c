/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnostics.c - numbers that tell about a field: norms, extreme values with their place,
 * histograms. Each is one kernel or two, written here for the field's type and components. */
#include "base/integers.h"
#include "base/number.h"
#include "runtime/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void open_values(ambit__text *t, const ambit_field *f, const char *type)
{
  ambit__print(t, "{ for (int i = 0; i < %d; i++) { %s x = (%s)*u%s; ", f->components, type, type,
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
  open_values(&t, f, "double");
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
  open_values(&t, f, "double");
  ambit__print(&t, "if (%s == s) *at = ", what == AMBIT_NORM_MAX ? "fabs(x)" : "x");
  print_number(&t, f);
  ambit__print(&t, "; } }");
  AMBIT_TRY(append(p, &t, 3, args));
  return together(p, first);
}

/* ---- intervals of histograms ---- */

/* The last interval has its end, and (x - lo) * scale may round to the next whole number. */
typedef struct intervals {
  double lo, hi, scale;
  int n;
} intervals;

/* The number of the interval of x; -1: it is in none. */
static int interval_of(const intervals *b, double x)
{
  const double d = (x - b->lo) * b->scale;

  if (!(d >= 0) || !(d < b->n || x <= b->hi)) return -1;
  return d < b->n ? (int)d : b->n - 1;
}

/* Floats in their order: 0 is the lowest number. */
static float float_at(uint32_t order)
{
  const uint32_t bits = order < 0x80000000u ? ~order : order - 0x80000000u;
  float x;

  memcpy(&x, &bits, sizeof x);
  return x;
}

enum { LOWEST = 0x007fffff }; /* the order of -inf; that of inf is UINT32_MAX - LOWEST */

/* The order of the first float whose interval is k or a later one, or (k == n) that is beyond all.
 */
static uint32_t first_of(const intervals *b, int k)
{
  uint32_t lo = LOWEST, hi = UINT32_MAX - LOWEST; /* -inf is in none */

  while (hi - lo > 1) {
    const uint32_t at = lo + (hi - lo) / 2;
    const int interval = interval_of(b, (double)float_at(at));
    const bool beyond = interval < 0 && (double)float_at(at) > b->lo;

    *(beyond || (k < b->n && interval >= k) ? &hi : &lo) = at;
  }
  return hi;
}

/* floor(x * scale) - shift in float, which takes half the time of double. A scale that is no float
 * is rounded up to one, and a whole number that is too large is corrected: there its distance from
 * x * scale is exact. So numbers grow with x, and they are those of double if they are for the
 * first and last float of each interval. Those that are counted are from low to high. */
typedef struct single {
  float scale, rest; /* rest: what scale has too much, negative or 0 */
  bool corrects;
  float low, high;
  int shift;
} single;

static int single_of(const intervals *b, const single *s, uint32_t at)
{
  const float x = float_at(at), y = floorf(x * s->scale);
  int k = (int)y - s->shift;

  if (s->corrects) k -= fmaf(x, s->rest, fmaf(x, s->scale, -y)) < 0;
  return k == b->n ? b->n - 1 : k;
}

static bool agrees(const intervals *b, const single *s, uint32_t first, uint32_t end)
{
  for (int k = 0; k <= b->n; k++) {
    const uint32_t at = k < b->n ? first_of(b, k) : end;

    if (at < end && single_of(b, s, at) < k) return false;
    if (at > first && single_of(b, s, at - 1) >= ambit__max(k, 1)) return false;
  }
  return single_of(b, s, first) >= 0;
}

static bool is_single(const intervals *b, single *s)
{
  const uint32_t first = first_of(b, 0), end = first_of(b, b->n);
  const double shift = nearbyint(b->lo * b->scale);

  if (fabs(shift) > 1 << 22 || fabs(b->hi * b->scale) > 1 << 22 || first >= end) return false;
  *s = (single){.scale = (float)b->scale,
                .low = float_at(first),
                .high = float_at(end - 1),
                .shift = (int)shift};
  if (agrees(b, s, first, end)) return true;
  if ((double)s->scale < b->scale) s->scale = nextafterf(s->scale, INFINITY);
  s->rest = (float)(b->scale - (double)s->scale);
  s->corrects = true;
  return agrees(b, s, first, end);
}

static void print_double(ambit__text *t, const intervals *b)
{
  char low[AMBIT__NUMBER_CHARS], high[AMBIT__NUMBER_CHARS], scale[AMBIT__NUMBER_CHARS];

  ambit__number_print_double(low, b->lo);
  ambit__number_print_double(high, b->hi);
  ambit__number_print_double(scale, b->scale);
  ambit__print(t, "double d = (x - %s) * %s; int k = (int)d; ", low, scale);
  ambit__print(t, "*c[d >= 0 && (d < %d || x <= %s) ? (k < %d ? k : %d) : -1] += 1; } }", b->n,
               high, b->n, b->n - 1);
}

static void print_single(ambit__text *t, const single *s, int n)
{
  char low[AMBIT__NUMBER_CHARS], high[AMBIT__NUMBER_CHARS], scale[AMBIT__NUMBER_CHARS];
  char rest[AMBIT__NUMBER_CHARS];

  ambit__number_print_float(low, s->low + 0.0f);
  ambit__number_print_float(high, s->high);
  ambit__number_print_float(scale, s->scale);
  ambit__number_print_float(rest, s->rest);
  ambit__print(t, "float y = %s(x * %sf); int k = (int)y - %d; ",
               s->low < 0 || s->corrects ? "floorf" : "", scale, s->shift);
  if (s->corrects) ambit__print(t, "k -= fmaf(x, %sf, fmaf(x, %sf, -y)) < 0; ", rest, scale);
  ambit__print(t, "*c[x >= %sf && x <= %sf ? k - (k == %d) : -1] += 1; } }", low, high, n);
}

/* Integers in intervals of length 1; bytes that are in one in any case. */
static void print_whole(ambit__text *t, const ambit_field *f, const single *s, int n)
{
  const int low = (int)ceilf(s->low), high = (int)floorf(s->high);

  if (f->type == AMBIT_U8 && low <= 0 && high >= UINT8_MAX && UINT8_MAX - s->shift < n)
    ambit__print(t, "*c[x - %d] += 1; } }", s->shift);
  else
    ambit__print(t, "*c[x >= %d && x <= %d ? x - (x < %d ? %d : %d) : -1] += 1; } }", low, high,
                 n + s->shift, s->shift, s->shift + 1);
}

/* A step that counts in a field of n components. */
static ambit_status count(ambit_program *p, const ambit_field *f, const intervals *b,
                          const ambit_field *counts)
{
  const ambit_arg args[] = {ambit_arg_field(f), ambit_arg_field(counts)};
  const bool whole = !ambit__type_is_real(f->type);
  const bool fits = whole ? ambit_type_size(f->type) <= 2 : f->type != AMBIT_F64;
  ambit__text t = {0};
  single s;

  ambit__print(&t, "void histogram(");
  print_field(&t, f);
  ambit__print(&t, "sum long *c[%d]) ", b->n);
  if (!fits || !is_single(b, &s)) {
    open_values(&t, f, "double");
    print_double(&t, b);
  } else if (whole && s.scale == 1) {
    open_values(&t, f, "int");
    print_whole(&t, f, &s, b->n);
  } else {
    open_values(&t, f, "float");
    print_single(&t, &s, b->n);
  }
  return append(p, &t, 2, args);
}

/* ---- counts in scalars ---- */

enum { SOME = 30 }; /* scalars of one kernel */

/* Scalars first .. first + m - 1 of n get their components. The first one is an argument, so that
 * all steps with as many are one kernel. */
static ambit_status give(ambit_program *p, const ambit_field *counts, int first, int m,
                         ambit_scalar *const *to)
{
  const int n = counts->components;
  ambit_arg args[SOME + 2] = {ambit_arg_field(counts), ambit_arg_number(first)};
  ambit__text t = {0};

  for (int k = 0; k < m; k++)
    args[k + 2] = ambit_arg_scalar(to[first + k]);
  ambit__print(&t, "void give(const long *c[%d], int first, sum long *s[%d]) ", n, m);
  ambit__print(&t, "{ for (int k = 0; k < %d; k++) for (int j = k; j < %d; j += %d) ", m, n, SOME);
  ambit__print(&t, "if (j - k == first) *s[k] = *c[j]; }");
  return append(p, &t, m + 2, args);
}

/* On a sparse grid, which has no fields on some axes: a comparison for each scalar. */
static ambit_status compare(ambit_program *p, const ambit_field *f, const intervals *b, int first,
                            int m, ambit_scalar *const *to)
{
  ambit_arg args[SOME + 2] = {ambit_arg_field(f), ambit_arg_number(first)};
  ambit__text t = {0};
  char low[AMBIT__NUMBER_CHARS], high[AMBIT__NUMBER_CHARS], scale[AMBIT__NUMBER_CHARS];

  ambit__number_print_double(low, b->lo);
  ambit__number_print_double(high, b->hi);
  ambit__number_print_double(scale, b->scale);
  for (int k = 0; k < m; k++)
    args[k + 2] = ambit_arg_scalar(to[first + k]);
  ambit__print(&t, "void histogram(");
  print_field(&t, f);
  ambit__print(&t, "double first, sum long *c[%d]) ", m);
  open_values(&t, f, "double");
  ambit__print(&t, "double d = floor((x - %s) * %s); ", low, scale);
  ambit__print(&t, "if (d >= %d && x <= %s) d = %d.0; d -= first; ", b->n, high, b->n - 1);
  ambit__print(&t, "for (int k = 0; k < %d; k++) if (d == k) *c[k] += 1; } }", m);
  return append(p, &t, m + 2, args);
}

static ambit_status count_in_scalars(ambit_program *p, const ambit_field *f, const intervals *b,
                                     ambit_scalar *const *to)
{
  const bool sparse = p->grid->active != NULL;
  ambit_field *counts = NULL;

  if (!sparse) {
    counts = ambit_field_create_vector_on(p->grid, "histogram", AMBIT_I64, b->n, AMBIT_SOA, 0);
    if (!counts) return ambit__program_status(p);
    AMBIT_TRY(count(p, f, b, counts));
  }
  for (int k = 0; k < b->n; k += SOME) {
    const int m = k + SOME < b->n ? SOME : b->n - k;

    AMBIT_TRY(sparse ? compare(p, f, b, k, m, to) : give(p, counts, k, m, to));
  }
  return AMBIT_OK;
}

/* ---- histograms ---- */

static ambit_status check_intervals(const ambit_program *p, const char *call, double lo, double hi,
                                    int n, intervals *b)
{
  *b = (intervals){lo, hi, n / (hi - lo), n};
  AMBIT_CHECK(n > 0 && lo < hi && isfinite(hi - lo) && isfinite(b->scale), ambit__program_errors(p),
              AMBIT_EINVAL,
              "%s: %d bin%s from %g to %g; there must be at least one, and the first "
              "number less than the second, by less than 1.8e308",
              call, n, n == 1 ? "" : "s", lo, hi);
  return AMBIT_OK;
}

ambit_status ambit_histogram(ambit_program *p, const ambit_field *f, double lo, double hi, int n,
                             ambit_scalar *const *counts)
{
  intervals b;
  size_t first;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  first = p->nwritten;
  AMBIT_TRY(check_intervals(p, "ambit_histogram", lo, hi, counts ? n : 0, &b));
  for (int k = 0; k < n; k++)
    AMBIT_TRY(check(p, "ambit_histogram", f, counts[k], AMBIT_I64));
  AMBIT_TRY(count_in_scalars(p, f, &b, counts));
  return together(p, first);
}

ambit_status ambit_histogram_on(ambit_program *p, const ambit_field *f, double lo, double hi,
                                ambit_field *counts)
{
  intervals b;

  if (ambit__program_failed(p)) return ambit__program_status(p);
  AMBIT_CHECK(f && f->grid == p->grid && counts && counts->grid == p->grid,
              ambit__program_errors(p), AMBIT_EINVAL,
              "ambit_histogram_on: a field is NULL or belongs to another grid than the program");
  AMBIT_CHECK(counts->type == AMBIT_I64 && counts->dropped, ambit__program_errors(p), AMBIT_EINVAL,
              "ambit_histogram_on: counts go to a field of type long on fewer axes than the grid "
              "(ambit_field_create_vector_on)");
  AMBIT_TRY(check_intervals(p, "ambit_histogram_on", lo, hi, counts->components, &b));
  return count(p, f, &b, counts);
}
