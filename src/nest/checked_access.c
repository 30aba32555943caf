/* SPDX-License-Identifier: BSD-3-Clause */
/* checked_access.c - access checks: every load and store of a field is checked against the limits
 * in the fault record.
 *
 * The checks find bugs in Ambit itself. Only builds with AMBIT_ACCESS_CHECKS have them.
 */
#include "nest/checked_access.h"

#include "codegen/prelude/faults.h"
#include "codegen/prelude/limits.h"
#include "nest/checked.h"

static bool is_checked(const ambit__nest *n)
{
  return n->group->checks & AMBIT__CHECK_ACCESS;
}

/* ---- limits ---- */

static void let_limit(ambit__nest *n, int i, const char *what, int axis, int word)
{
  const char *tail = axis < 0 ? "" : ambit__nest_text(n, "%d", axis);

  ambit__nest_do(n, "const %s %s_%s%s = faults[%d]", n->integer, ambit__nest_name(n, i), what, tail,
                 AMBIT_FAULT_WORDS + i * AMBIT_LIMIT_WORDS + word + (axis > 0 ? axis : 0));
}

void ambit__access_let_limits(ambit__nest *n)
{
  for (int i = 0; is_checked(n) && i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (!ambit__nest_is_field(n, i)) continue;
    ambit__nest_do(n, "AMBIT_GLOBAL %s%s *%s_0 = %s_mem%s", p->is_written ? "" : "const ",
                   ambit__nest_type(n, i), p->name, p->name,
                   n->dialect->kernel ? ambit__nest_text(n, " + %s_o", p->name) : "");
    let_limit(n, i, "first", -1, AMBIT_LIMIT_FIRST);
    let_limit(n, i, "end", -1, AMBIT_LIMIT_END);
    for (int d = 0; d < n->group->ndims; d++) {
      let_limit(n, i, "lo", d, AMBIT_LIMIT_READ_LO);
      let_limit(n, i, "hi", d, AMBIT_LIMIT_READ_HI);
      if (!p->is_written) continue;
      let_limit(n, i, "wlo", d, AMBIT_LIMIT_WRITE_LO);
      let_limit(n, i, "whi", d, AMBIT_LIMIT_WRITE_HI);
    }
  }
}

/* "((i0) * extent1 + i1)", or of the offsets of a neighbour. */
static const char *number_of(ambit__nest *n, const int *offset)
{
  const char *sum = offset ? ambit__nest_text(n, "(%s)%d", n->integer, offset[0]) : "i0";

  for (int d = 1; d < n->group->ndims; d++)
    sum = offset ? ambit__nest_text(n, "(%s * extent%d + %d)", sum, d, offset[d])
                 : ambit__nest_text(n, "(%s * extent%d + i%d)", sum, d, d);
  return sum;
}

void ambit__access_let_cell(ambit__nest *n)
{
  if (is_checked(n) && n->group->form)
    ambit__nest_do(n, "const %s here = %s", n->integer, number_of(n, NULL));
}

/* ---- accesses ---- */

/* On a sparse grid " && ambit_holds(faults + 700, at + k3 - 1, number)": whether the position has
 * the cell, if that is in the grid. */
static const char *holds(ambit__nest *n, const ambit__nest_access *a)
{
  const ambit__chunk_form *form = n->group->form;
  const int view = form ? ambit__chunk_form_of(form, a->param, a->component) : -1;
  const int k = form ? ambit__chunk_form_column(form, n->group->ndims, view, a->offset) : -1;
  const char *inside = "1", *row = k < 0 ? "" : ambit__nest_text(n, " + k%d", k);

  if (!form) return "";
  for (int d = 0; d < n->group->ndims; d++)
    if (a->offset[d])
      inside = ambit__nest_text(
          n, a->offset[d] < 0 ? "%s && i%d + (%d) >= 0" : "%s && i%d + (%d) < extent%d", inside, d,
          a->offset[d], d);
  return ambit__nest_text(
      n, " && ambit_holds(faults + %d, at%s%s + %d, %s ? here + %s : AMBIT_PLACE_FACE)",
      AMBIT_FAULT_WORDS + AMBIT_MAX_PARAMS * AMBIT_LIMIT_WORDS, n->dialect->kernel ? "" : " + x",
      row, a->offset[n->group->ndims - 1], inside, number_of(n, a->offset));
}

/* "i0 + (-1) >= u_lo0 && i0 + (-1) < u_hi0 && ..., (u_at - u_0) + (-u_s0), u_first, u_end": whether
 * it is within the cells that may be read or, with "w", written; and where it is in memory. */
static const char *place_of(ambit__nest *n, const ambit__nest_access *a, const char *which)
{
  const char *name = ambit__nest_name(n, a->param), *inside = "1";

  for (int d = 0; d < n->group->ndims; d++)
    inside = ambit__nest_text(n, "%s && i%d + (%d) >= %s_%slo%d && i%d + (%d) < %s_%shi%d", inside,
                              d, a->offset[d], name, which, d, d, a->offset[d], name, which, d);
  return ambit__nest_text(n, "%s%s, (%s_at - %s_0) + (%s), %s_first, %s_end", inside, holds(n, a),
                          name, name, ambit__nest_distance(n, a), name, name);
}

void ambit__access_check_load(ambit__nest *n, ambit__node *load)
{
  const ambit__nest_access *a = &load->access;
  const ambit__param *p = ambit__nest_param(n, a->param);
  ambit__expr e = {.component = a->component};

  if (!is_checked(n)) return;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    e.offset[d] = a->offset[d];
  load->value = ambit__nest_text(
      n, "%s_0[ambit_place(&fault, %d, %s)]", p->name,
      ambit__checked_read(n->rule, a->param, ambit__nest_read_number(p, &e)), place_of(n, a, ""));
}

void ambit__access_check_store(ambit__nest *n, ambit__node **store)
{
  const ambit__nest_access *a = &(*store)->access;
  ambit__node *may = ambit__arena_alloc(&n->arena, sizeof *may);

  if (!is_checked(n)) return;
  n->failed |= !may;
  if (!may) return;
  *may =
      (ambit__node){.kind = NODE_IF,
                    .value = ambit__nest_text(n, "ambit_may(&fault, AMBIT_FAULT_WRITE, %d, %s)",
                                              ambit__checked_write(n->rule, a->param, a->component),
                                              place_of(n, a, "w")),
                    .body = *store,
                    .next = (*store)->next};
  (*store)->next = NULL;
  *store = may;
}
