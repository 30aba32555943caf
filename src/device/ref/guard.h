/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.h - the checks of the interpreter, which fill in the same record as generated code.
 *
 * Without ghost cells, a read is checked after the boundary has mapped it to a cell, so only own
 * cells may be read. Cells come in row-major order, and the first fault is kept.
 */
#ifndef AMBIT_DEVICE_REF_GUARD_H
#define AMBIT_DEVICE_REF_GUARD_H

#include "device/access.h"
#include "nest/checked.h"

typedef struct ambit__guard {
  const ambit__rule *rule;
  unsigned checks;             /* AMBIT__CHECK_... */
  bool ghosts;                 /* reads outside the grid use ghost cells */
  const ambit__launch *launch; /* the current one */
  int64_t *faults;             /* its record */
#ifdef AMBIT_ACCESS_CHECKS
  ambit__limits limits[AMBIT_MAX_PARAMS]; /* of the launch */
#endif
  const int64_t *cell; /* the current one */
  int source;          /* least number of a read of the cell that gave NaN; -1: none */
  bool poison;         /* that value was never set */
  int *set; /* per number of write: source position that set it, offset + 1; 0: not yet */
  int nset;
} ambit__guard;

ambit_status ambit__guard_open(ambit__guard **guard, ambit__errors *errors, const ambit__rule *rule,
                               unsigned checks, bool ghosts);
void ambit__guard_close(ambit__guard *guard); /* NULL does nothing */
void ambit__guard_begin(ambit__guard *guard, const ambit__launch *launch);
void ambit__guard_cell(ambit__guard *guard, const int64_t *cell);

/* Notes a value that is read; notes a component that was set; whether it was set; checks its value
 * at the end of the cell. */
void ambit__guard_use(ambit__guard *guard, int param, int k, const void *value, ambit_type type);
void ambit__guard_set(ambit__guard *guard, const ambit__stmt *s);
bool ambit__guard_is_set(const ambit__guard *guard, int param, int component);
void ambit__guard_test(ambit__guard *guard, int param, int component, ambit__value value);
/* Keeps the first fault. */
void ambit__guard_note(ambit__guard *guard, int kind, int number);

/* Access checks (guard_access.c): sets the limits of a launch; whether read k of a parameter is
 * allowed at a cell, which `from` stands for; whether a component may be written. */
#ifdef AMBIT_ACCESS_CHECKS
void ambit__guard_limit(ambit__guard *guard);
bool ambit__guard_may_read(ambit__guard *guard, int param, int k, const int64_t *cell,
                           const int64_t *from);
bool ambit__guard_may_write(ambit__guard *guard, int param, int component, const int64_t *cell);
#else
static inline void ambit__guard_limit(ambit__guard *guard)
{
  (void)guard;
}

static inline bool ambit__guard_may_read(ambit__guard *guard, int param, int k, const int64_t *cell,
                                         const int64_t *from)
{
  (void)guard, (void)param, (void)k, (void)cell, (void)from;
  return true;
}

static inline bool ambit__guard_may_write(ambit__guard *guard, int param, int component,
                                          const int64_t *cell)
{
  (void)guard, (void)param, (void)component, (void)cell;
  return true;
}
#endif

#endif
