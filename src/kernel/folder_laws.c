/* SPDX-License-Identifier: BSD-3-Clause */
/* folder_laws.c - tries whether the result of a reduction by a function of the user depends on the
 * order in which cells are folded.
 *
 * Every device starts from the identity x, some of them many times: thread by thread, lane by lane.
 * So the result is the same everywhere if f(a, b) = f(b, a), f(f(a, b), c) = f(a, f(b, c)) and
 * f(x, x) = x.
 *
 * No test of values proves a law, but a function that rounds, prefers its first argument or has
 * another identity breaks one among these: small and large numbers, fractions that binary digits
 * cannot hold, infinities, NaN, the ends of integer types.
 */
#include "kernel/ast.h"

#include <math.h>

enum { SAMPLES = 14 };

static ambit__value sample(ambit_type type, int i)
{
  static const double reals[SAMPLES] = {0,    -0.0, 1,     -1,       0.1,       -1.7, 3,
                                        1e-3, 7.3,  -2e30, INFINITY, -INFINITY, NAN,  123456.789};
  static const int64_t integers[SAMPLES] = {
      0, 1, -1, 2, 3, -7, 100, 200, 255, 12345, 40000, -2147483647, 987654321012, INT64_MIN};
  ambit__value v;

  if (ambit__type_is_real(type)) return ambit__value_of(reals[i], type);
  v.integer = integers[i];
  return ambit__value_cast(v, AMBIT_I64, type);
}

static bool equal(ambit_type type, ambit__value a, ambit__value b)
{
  if (!ambit__type_is_real(type)) return a.integer == b.integer;
  return a.real == b.real || (isnan(a.real) && isnan(b.real));
}

static void print_number(ambit__text *t, ambit_type type, ambit__value v)
{
  if (ambit__type_is_real(type))
    ambit__print(t, "%.9g", v.real);
  else
    ambit__print(t, "%lld", (long long)v.integer);
}

/* A text in which a, b, c stand for values, f for the function and = for the result of the left or
 * the right side. */
static void print_law(const ambit__folder *f, ambit__text *t, const char *law,
                      const ambit__value *values, ambit__value left, ambit__value right)
{
  ambit__value result = left;

  for (; *law; law++)
    if (*law == 'f')
      ambit__print(t, "%s", f->label);
    else if (*law >= 'a' && *law <= 'c')
      print_number(t, f->type, values[*law - 'a']);
    else if (*law == '=') {
      ambit__print(t, " is ");
      print_number(t, f->type, result);
      result = right;
    } else
      ambit__print(t, "%c", *law);
}

/* Whether both sides are equal; else prints the law. */
static bool holds(const ambit__folder *f, ambit__text *t, const char *law,
                  const ambit__value *values, ambit__value left, ambit__value right)
{
  if (equal(f->type, left, right)) return true;
  print_law(f, t, law, values, left, right);
  return false;
}

static bool try_triples(const ambit__folder *f, ambit__text *t, ambit__value *v)
{
  const ambit__value ab = ambit__folder_call(f, v[0], v[1]);

  if (!holds(f, t, "f(a, b)=, f(b, a)=", v, ab, ambit__folder_call(f, v[1], v[0]))) return false;
  for (int k = 0; k < SAMPLES; k++) {
    v[2] = sample(f->type, k);
    if (!holds(f, t, "f(f(a, b), c)=, f(a, f(b, c))=", v, ambit__folder_call(f, ab, v[2]),
               ambit__folder_call(f, v[0], ambit__folder_call(f, v[1], v[2]))))
      return false;
  }
  return true;
}

bool ambit__folder_lawful(const ambit__folder *f, ambit__text *broken)
{
  const ambit__value x = f->identity;
  ambit__value v[3] = {x};

  if (!holds(f, broken, "f(a, a)=, not the identity", v, ambit__folder_call(f, x, x), x))
    return false;
  for (int i = 0; i < SAMPLES; i++) {
    v[0] = sample(f->type, i);
    for (int j = 0; j < SAMPLES; j++) {
      v[1] = sample(f->type, j);
      if (!try_triples(f, broken, v)) return false;
    }
  }
  return true;
}
