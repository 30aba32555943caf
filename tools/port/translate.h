/* SPDX-License-Identifier: BSD-3-Clause */
/* translate.h - a program, nest by nest.
 */
#ifndef AMBIT_PORT_TRANSLATE_H
#define AMBIT_PORT_TRANSLATE_H

#include "pragma.h"

typedef struct settings {
  bool propose;     /* all nests, no pragma needed; nothing is written but the pragmas */
  bool check;       /* compare every step with its serial nest */
  bool explain;     /* notes about host code that costs copies */
  bool quiet;       /* no notes */
  double cpu_share; /* of the cells, where the cpu works beside other devices; 0: not given */
  ambit *context;   /* checks the kernels that are written */
} settings;

typedef struct outcome {
  int steps, nests; /* translated */
  int serial;       /* nests that stay as they are */
  bool failed;      /* a nest that must be translated was not */
} outcome;

/* colour.c: whether the library sees that a kernel writes a parameter in cells of one colour. */
bool port_has_colour(const ambit_kernel *k, int parameter);

/* support.c: the declarations of the support code, and in one file of a program its definitions. */
void port_write_head(unit *u, const settings *set, bool is_single, bool is_support);
void port_write_support(const unit *u, const settings *set);

/* Translates all nests that directives name, in all files of a program. port_edit_apply has the
 * text of each, and its `result` the counts. */
void port_translate(unit *units, const settings *set);

#endif
