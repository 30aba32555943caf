/* SPDX-License-Identifier: BSD-3-Clause */
/* value.h - values of the kernel language and their operators.
 *
 * The arithmetic of the language is defined here, once: the constant folder and the reference
 * device both call it. Integers wrap; integer division by zero gives zero; floats round once per
 * operation, in their own type.
 */
#ifndef AMBIT_KERNEL_VALUE_H
#define AMBIT_KERNEL_VALUE_H

#include "ambit.h"
#include "base/error.h"

#include <stdbool.h>

/* A value; its type is stored elsewhere. float and half values are held exactly in `real`. No
 * operation but a conversion takes or gives a half. */
typedef union ambit__value {
  double real;     /* of all types of real numbers */
  int64_t integer; /* the others, within the range of their type; unsigned ones of 64 bits wrap */
} ambit__value;

/* The functions of <math.h> that kernels may call: name, number of arguments. Each exists as `name`
 * for double and as `namef` for float. */
/* clang-format off */
#define AMBIT_CALL_MAP(X) \
  X(fabs, 1) X(sqrt, 1) X(fmin, 2) X(fmax, 2) X(fma, 3) X(floor, 1) X(ceil, 1) X(trunc, 1) \
  X(round, 1) X(rint, 1) X(fmod, 2) X(exp, 1) X(exp2, 1) X(expm1, 1) X(log, 1) X(log2, 1) \
  X(log10, 1) X(log1p, 1) X(pow, 2) X(cbrt, 1) X(hypot, 2) X(sin, 1) X(cos, 1) X(tan, 1) \
  X(asin, 1) X(acos, 1) X(atan, 1) X(atan2, 2) X(sinh, 1) X(cosh, 1) X(tanh, 1) X(erf, 1) \
  X(copysign, 2)
/* clang-format on */

typedef enum ambit__call {
#define X(name, args) CALL_##name,
  AMBIT_CALL_MAP(X)
#undef X
      CALL_abs, /* int abs(int), long labs(long) */
  CALL_COUNT
} ambit__call;

const char *ambit__call_name(ambit__call c); /* the double form: "sqrt"; "abs" */
bool ambit__call_is_cheap(ambit__call c);    /* a few vector instructions */

bool ambit__type_is_real(ambit_type t); /* float, double, half or bfloat */
bool ambit__type_is_half(ambit_type t); /* of fields: 16 bits in memory, float in expressions */
bool ambit__type_is_unsigned(ambit_type t);
int ambit__type_bits(ambit_type t);
/* The type that C computes with: int for shorter integers, float for halves. */
ambit_type ambit__type_promoted(ambit_type t);
/* Of the partial results of a reduction: 64 bits. */
ambit_type ambit__type_total(ambit_type t);

/* Converts as EXPR_CAST does: saturating from real to integer, wrapping between integers. */
ambit__value ambit__value_cast(ambit__value v, ambit_type from, ambit_type to);
/* `op` is an ambit__op from EXPR_NEG to EXPR_COMPL, or from EXPR_ADD to EXPR_LOR; `type` is the
 * type of the operands. */
ambit__value ambit__value_unary(int op, ambit_type type, ambit__value a);
ambit__value ambit__value_binary(int op, ambit_type type, ambit__value a, ambit__value b);
/* On every device, fmin(x, y) is (x < y || y != y) ? x : y; fmax likewise with >. */
ambit__value ambit__value_call(ambit__call c, ambit_type type, ambit__value a, ambit__value b,
                               ambit__value d);
bool ambit__value_is_true(ambit__value v, ambit_type type);

/* To and from memory. */
ambit__value ambit__value_load(const void *p, ambit_type type);
void ambit__value_store(void *p, ambit_type type, ambit__value v);
/* Bits of infinity: of a type of real numbers, those of every NaN but for the sign are greater. Of
 * others: more than any bits. */
int64_t ambit__type_infinity(ambit_type t);
/* Whether n values did not change: each has the bits that it had, or is NaN and was NaN, whose bits
 * are those of a device. */
bool ambit__values_same(const void *a, const void *b, size_t n, ambit_type type);
/* Converts a number given by the user as EXPR_CAST from double does. */
ambit__value ambit__value_of(double number, ambit_type type);
double ambit__value_number(ambit__value v, ambit_type type);
/* Raises an error if the type has no such number: it is an integer type, and the number is a
 * fraction or beyond its range. `what` begins the message, as printf does: "scalar '%s'"; `advice`
 * follows "give a whole number from 0 to 255". */
ambit_status ambit__value_check(ambit__errors *errors, double number, ambit_type type,
                                const char *advice, const char *what, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 5, 6)))
#endif
    ;

#endif
