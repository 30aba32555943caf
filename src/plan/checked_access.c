/* SPDX-License-Identifier: BSD-3-Clause */
/* checked_access.c - access checks in checked kernels: every read and write of a field is checked
 * against the limits in the fault record.
 *
 * The checks find bugs in Ambit itself. Only builds with AMBIT_ACCESS_CHECKS have them.
 */
#include "codegen/prelude/faults.h"
#include "codegen/prelude/limits.h"
#include "plan/checked_emit.h"

/* Embedded by the build. */
extern const char ambit__prelude_limits[], ambit__prelude_access[];

static const ambit__param *param(const ambit__gpucode_job *j, int i)
{
  return &j->rule->params[i];
}

static bool is_checked(const ambit__gpucode_job *j)
{
  return j->group->checks & AMBIT__CHECK_ACCESS;
}

void ambit__access_emit_prelude(const ambit__gpucode_job *j)
{
  if (is_checked(j)) ambit__print(j->t, "%s\n%s\n", ambit__prelude_limits, ambit__prelude_access);
}

/* ---- limits ---- */

static void emit_limit(const ambit__gpucode_job *j, int i, const char *what, int axis, int word)
{
  ambit__line_begin(j->w);
  ambit__print(j->t, "const %s %s_%s", j->integer, param(j, i)->name, what);
  if (axis >= 0) ambit__print(j->t, "%d", axis);
  ambit__print(j->t, " = faults[%d]",
               AMBIT_FAULT_WORDS + i * AMBIT_LIMIT_WORDS + word + (axis > 0 ? axis : 0));
  ambit__line_end(j->w, ";");
}

void ambit__access_emit_limits(const ambit__gpucode_job *j)
{
  if (!is_checked(j)) return;
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__gpucode_is_field(j, i)) continue;
    emit_limit(j, i, "first", -1, AMBIT_LIMIT_FIRST);
    emit_limit(j, i, "end", -1, AMBIT_LIMIT_END);
    for (int d = 0; d < j->group->ndims; d++) {
      emit_limit(j, i, "lo", d, AMBIT_LIMIT_READ_LO);
      emit_limit(j, i, "hi", d, AMBIT_LIMIT_READ_HI);
      if (!param(j, i)->is_written) continue;
      emit_limit(j, i, "wlo", d, AMBIT_LIMIT_WRITE_LO);
      emit_limit(j, i, "whi", d, AMBIT_LIMIT_WRITE_HI);
    }
  }
}

void ambit__access_emit_cell(const ambit__gpucode_job *j)
{
  if (!is_checked(j)) return;
  ambit__line_begin(j->w);
  ambit__print(j->t, "const %s here = ", j->integer);
  for (int d = 1; d < j->group->ndims; d++)
    ambit__print(j->t, "(");
  ambit__print(j->t, "i0");
  for (int d = 1; d < j->group->ndims; d++)
    ambit__print(j->t, " * extent%d + i%d)", d, d);
  ambit__line_end(j->w, ";");
}

/* ---- accesses ---- */

/* "i0 - 1 >= 0 ? here + ((long)-1 * extent1 + 0) : AMBIT_PLACE_FACE": the number of a cell in the
 * box. */
static void print_number(const ambit__gpucode_job *j, const int *offset)
{
  bool any = false;

  for (int d = 0; d < j->group->ndims; d++) {
    if (!offset[d]) continue;
    ambit__print(j->t, "%s", any ? " && " : "");
    ambit__checked_print_index(j, 'i', d, offset[d]);
    ambit__print(j->t, offset[d] < 0 ? " >= 0" : " < extent%d", d);
    any = true;
  }
  if (!any) {
    ambit__print(j->t, "here");
    return;
  }
  ambit__print(j->t, " ? here + ");
  for (int d = 1; d < j->group->ndims; d++)
    ambit__print(j->t, "(");
  ambit__print(j->t, "(%s)%d", j->integer, offset[0]);
  for (int d = 1; d < j->group->ndims; d++)
    ambit__print(j->t, " * extent%d + %d)", d, offset[d]);
  ambit__print(j->t, " : AMBIT_PLACE_FACE");
}

/* On a sparse grid " && ambit_holds(faults + 700, at + k3 - 1, ...)" besides. */
static void print_holds(const ambit__gpucode_job *j, int i, int component, const int *offset)
{
  if (!j->group->form) return;
  ambit__print(j->t, " && ambit_holds(faults + %d, ",
               AMBIT_FAULT_WORDS + AMBIT_MAX_PARAMS * AMBIT_LIMIT_WORDS);
  ambit__checked_print_position(j, i, component, offset);
  ambit__print(j->t, ", ");
  print_number(j, offset);
  ambit__print(j->t, ")");
}

/* "i0 - 1 >= u_lo0 && i0 - 1 < u_hi0 && ...": within the cells that may be read or, with "w",
 * written. */
static void print_inside(const ambit__gpucode_job *j, int i, const char *which, const int *offset)
{
  const char *name = param(j, i)->name;

  for (int d = 0; d < j->group->ndims; d++) {
    ambit__print(j->t, "%s", d ? " && " : "");
    ambit__checked_print_index(j, 'i', d, offset[d]);
    ambit__print(j->t, " >= %s_%slo%d && ", name, which, d);
    ambit__checked_print_index(j, 'i', d, offset[d]);
    ambit__print(j->t, " < %s_%shi%d", name, which, d);
  }
}

bool ambit__access_print_read(const ambit__gpucode_job *j, int i, int k)
{
  const ambit__read *r = &param(j, i)->reads[k];
  const char *name = param(j, i)->name;

  if (!is_checked(j)) return false;
  ambit__print(j->t, "ambit_place(&fault, %d, ", ambit__checked_read(j->rule, i, k));
  print_inside(j, i, "", r->offset);
  print_holds(j, i, r->component, r->offset);
  ambit__print(j->t, ", ");
  ambit__checked_print_place(j, i, r->component, r->offset);
  ambit__print(j->t, ", %s_first, %s_end)", name, name);
  return true;
}

void ambit__access_print_write(const ambit__gpucode_job *j, int i, int c)
{
  const int *target = ambit__param_target(param(j, i), c);
  const char *name = param(j, i)->name;

  if (!is_checked(j)) return;
  ambit__print(j->t, "if (ambit_may(&fault, AMBIT_FAULT_WRITE, %d, ",
               ambit__checked_write(j->rule, i, c));
  print_inside(j, i, "w", target);
  print_holds(j, i, c, target);
  ambit__print(j->t, ", ");
  ambit__checked_print_place(j, i, c, target);
  ambit__print(j->t, ", %s_first, %s_end)) ", name, name);
}
