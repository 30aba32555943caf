/* SPDX-License-Identifier: BSD-3-Clause */
/* lean.h - programs that need a field less (docs/design/0021-lean.md).
 *
 *   step      after = f(before, now)     `before` is read at the cell itself only
 *   rotation  before, now, after
 *
 * The lean form of this program writes the new values over `before` and rotates two fields. The
 * field `after` is left alone: its values would be overwritten in the next iteration. Where someone
 * could see them, after the last iteration of a run, the program itself has computed that one.
 */
#ifndef AMBIT_RUNTIME_PROGRAM_LEAN_H
#define AMBIT_RUNTIME_PROGRAM_LEAN_H

#include "plan/trial.h"
#include "runtime/program/program.h"

enum { AMBIT__LEAN_ROUNDS = 2 }; /* of the trial */

typedef struct ambit__lean {
  ambit_program *program; /* the lean form */
  ambit__box region;      /* outside, no step writes rotated fields; they must agree there */
  bool everywhere;        /* that are no cells */
  bool open;              /* in this run they do */
  ambit__trial trial;     /* of iterations of the lean form, and of the program */
} ambit__lean;

/* Makes p->lean, if the program, which is sealed, has a lean form. Its own form is not sealed yet.
 */
ambit_status ambit__lean_make(ambit_program *p);
void ambit__lean_drop(ambit_program *p); /* NULL does nothing */

#endif
