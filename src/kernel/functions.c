/* SPDX-License-Identifier: BSD-3-Clause */
/* functions.c - the functions that a kernel may call: <math.h> in float and double, and index(),
 * extent(), step(), outside(), coefficient(). */
#include "kernel/ast.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const ambit__known_call functions[] = {
#define X(name, args)                                                                              \
  {#name, CALL_##name, false, AMBIT_F64, args}, {#name "f", CALL_##name, false, AMBIT_F32, args},
    AMBIT_CALL_MAP(X)
#undef X
        {"abs", CALL_abs, false, AMBIT_I32, 1},
    {"labs", CALL_abs, false, AMBIT_I64, 1},
    {"index", EXPR_INDEX, true, AMBIT_I64, 1},
    {"extent", EXPR_EXTENT, true, AMBIT_I64, 1},
    {"step", EXPR_STEP, true, AMBIT_I64, 0},
    {"normal", EXPR_NORMAL, true, AMBIT_I64, 1},
    {"coefficient", EXPR_TABLE, true, AMBIT_F64, 3},
    {"coefficientf", EXPR_TABLE, true, AMBIT_F32, 3},
    {"ambit__cell", EXPR_CONST, true, AMBIT_I64, 0}, /* of library/random.h */
    {"outside", EXPR_LOR, true, AMBIT_I32, -1},
};

const ambit__known_call *ambit__known_call_at(int i)
{
  return (size_t)i < sizeof functions / sizeof *functions ? &functions[i] : NULL;
}

const ambit__known_call *ambit__known_call_find(const char *name)
{
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].name, name)) return &functions[i];
  return NULL;
}

/* The macros of <math.h>, <float.h> and <limits.h> that kernels may use. */
static const struct {
  const char *name;
  ambit_type type;
  double value;
} constants[] = {
    {"INFINITY", AMBIT_F32, INFINITY},
    {"NAN", AMBIT_F32, NAN},
    {"M_PI", AMBIT_F64, 3.14159265358979323846},
    {"M_E", AMBIT_F64, 2.7182818284590452354},
    {"M_SQRT2", AMBIT_F64, 1.41421356237309504880},
    {"FLT_MAX", AMBIT_F32, FLT_MAX},
    {"FLT_MIN", AMBIT_F32, FLT_MIN},
    {"FLT_EPSILON", AMBIT_F32, FLT_EPSILON},
    {"DBL_MAX", AMBIT_F64, DBL_MAX},
    {"DBL_MIN", AMBIT_F64, DBL_MIN},
    {"DBL_EPSILON", AMBIT_F64, DBL_EPSILON},
    {"INT_MAX", AMBIT_I32, INT32_MAX},
    {"INT_MIN", AMBIT_I32, INT32_MIN},
};

bool ambit__constant_find(const char *name, ambit_type *type, ambit__value *value)
{
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
    if (!strcmp(constants[i].name, name)) {
      *type = constants[i].type;
      *value = ambit__value_of(constants[i].value, *type);
      return true;
    }
  return false;
}
