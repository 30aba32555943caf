/* SPDX-License-Identifier: BSD-3-Clause */
/* fault_message.h - the parts of messages for faults. */
#ifndef AMBIT_RUNTIME_RUN_FAULT_MESSAGE_H
#define AMBIT_RUNTIME_RUN_FAULT_MESSAGE_H

#include "base/text.h"
#include "runtime/run/checked_launch.h"

typedef struct ambit__fault_report {
  const ambit_program *program;
  const ambit__step *step;
  const ambit__rule *rule; /* that was launched: the step's, or adapted to a sparse grid */
  int part, ndims;
  const int64_t *words; /* the record */
  ambit__text text;
} ambit__fault_report;

/* The field of a parameter; NULL: it is a scalar or number. */
const ambit_field *ambit__fault_field(const ambit__fault_report *s, int param);
void ambit__fault_print_offset(ambit__fault_report *s, const int *offset); /* "[-1][0]" */
/* "[3][17]": the cell of the fault, or the one at an offset from it (NULL: none). */
void ambit__fault_print_cell(ambit__fault_report *s, const int *offset);
/* "component 3 of field 'f'" */
void ambit__fault_print_argument(ambit__fault_report *s, int param, int component);
/* " from cell [3][17] in iteration 5" */
void ambit__fault_print_where(ambit__fault_report *s, const char *preposition);
/* The statement that sets a component: at this offset of the text, or (-1) the first. */
ambit__place ambit__fault_place_of_set(const ambit__fault_report *s, int param, int component,
                                       int offset);

#endif
