/* SPDX-License-Identifier: BSD-3-Clause */
/* chore.h - work of a step that is no kernel: values of fields at points, and rows of numbers.
 *
 * Such a step has a rule without a body, which says what is read and written: its first parameter
 * is the field, or of CHORE_NOTE the scalar. The second, a long, is the address of the chore, for
 * devices in host memory. The third, if there is one, is the value to inject. A launch on a box is
 * about the points whose base cell lies in it (CHORE_SAMPLE), or the cells of it that points touch
 * (CHORE_INJECT), so that it may be cut into any boxes. All devices give the same bits: products
 * and sums are of float, or of double where the field is double or has integers of 32 bits or more,
 * each rounded. A sum that is added to a cell is rounded to the type of the field each time.
 */
#ifndef AMBIT_DEVICE_CHORE_H
#define AMBIT_DEVICE_CHORE_H

#include "ambit_compiled.h"
#include "device/device.h"
#include "grid/points.h"

typedef enum ambit__chore_kind {
  CHORE_SAMPLE, /* a row of the values of a field at points */
  CHORE_INJECT, /* adds values to a field around points */
  CHORE_NOTE,   /* one value of a row, that of a scalar */
  CHORE_HOST    /* a function of the user; not for devices */
} ambit__chore_kind;

/* As one engine does it. Rows may change between runs. */
typedef struct ambit__chore {
  ambit__chore_kind kind;
  const ambit__points *points; /* CHORE_SAMPLE, CHORE_INJECT */
  ambit_type field;            /* the type of the field */
  int components;              /* of the field */
  int64_t every;               /* of the step */
  ambit__buffer *rows;         /* of `columns` values of `type`; NULL: a value is injected */
  ambit_type type;             /* AMBIT_F32 or AMBIT_F64 */
  int64_t columns;
  int64_t column;   /* CHORE_NOTE: of the value */
  ambit_type value; /* of the scalar to note, or the value to inject */
  int64_t room;     /* rows in the buffer */
  int64_t shift;    /* the row of an iteration is number step / every + shift */
} ambit__chore;

enum { AMBIT__CHORE_ADDRESS = 1, AMBIT__CHORE_VALUE = 2 }; /* parameters */

/* Whether it is time in this iteration: waves have a stage in all of them. */
static inline bool ambit__chore_is_due(const ambit__chore *t, int64_t step)
{
  return (step + 1) % t->every == 0;
}

static inline int64_t ambit__chore_row(const ambit__chore *t, int64_t step)
{
  return step / t->every + t->shift;
}

/* The type of products and sums for values of a type. */
static inline ambit_type ambit__chore_type(ambit_type type)
{
  const bool wide = type == AMBIT_F64 || type == AMBIT_I32 || type == AMBIT_I64 ||
                    type == AMBIT_U32 || type == AMBIT_U64;

  return wide ? AMBIT_F64 : AMBIT_F32;
}

/* The column of a value in a row that has one for all, one per point, or one per component too. */
static inline int64_t ambit__chore_column(const ambit__chore *t, int64_t point, int component,
                                          int components)
{
  if (t->columns == 1) return 0;
  return t->columns == t->points->n ? point : point * components + component;
}

/* host_chore.c: runs a chore on a box, as a compiled function of the cpu device does. */
void ambit__host_chore(const ambit_compiled_call *call);
/* ref/chore.c: the definition. */
void ambit__ref_chore(const ambit__chore *t, const ambit__launch *l);

#endif
