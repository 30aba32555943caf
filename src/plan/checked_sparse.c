/* SPDX-License-Identifier: BSD-3-Clause */
/* checked_sparse.c - checked kernels on sparse grids: cells and positions come from the tables that
 * other kernels use, chunks in C (grid/chunks.h) and units of one cell on GPUs (grid/deal.h).
 *
 * The cell is at position `at`, and k3 is the distance to the row of column 3, or in a list to its
 * cell, less the place of the read along the row.
 */
#include "grid/chunks.h"
#include "plan/checked_emit.h"

static const ambit__chunk_form *form_of(const ambit__gpucode_job *j)
{
  return j->group->form;
}

static bool in_c(const ambit__gpucode_job *j)
{
  return j->dialect == &ambit__dialect_c;
}

/* The column of a read; -1: the own row, or cell. */
static int column_of(const ambit__gpucode_job *j, int i, int component, const int *offset)
{
  const int view = ambit__chunk_form_of(form_of(j), i, component);

  return ambit__chunk_form_column(form_of(j), j->group->ndims, view, offset);
}

/* ---- positions ---- */

bool ambit__checked_has_place(const ambit__gpucode_job *j, int i, int k)
{
  const ambit__read *r = &j->rule->params[i].reads[k];
  const int column = column_of(j, i, r->component, r->offset);

  return in_c(j) || column < 0 || form_of(j)->columns[column].reads;
}

void ambit__checked_print_position(const ambit__gpucode_job *j, int i, int component,
                                   const int *offset)
{
  const int k = column_of(j, i, component, offset);

  ambit__print(j->t, "at");
  if (k >= 0) ambit__print(j->t, " + k%d", k);
  ambit__print(j->t, " + %d", offset[j->group->ndims - 1]);
}

void ambit__checked_print_sparse(const ambit__gpucode_job *j, int i, int component,
                                 const int *offset)
{
  const char *name = j->rule->params[i].name;

  ambit__print(j->t, "(");
  ambit__checked_print_position(j, i, component, offset);
  ambit__print(j->t, ") * %s_s%d + %d * %s_c", name, j->group->ndims - 1, component, name);
}

/* ---- cells ---- */

/* The indices of the first cell of a chunk. */
static void emit_indices(const ambit__gpucode_job *j)
{
  const int last = j->group->ndims - 1;

  ambit__line(j->w, "int64_t number = full->cells[k];");
  for (int d = last; d >= 0; d--) {
    ambit__line(j->w, "const int64_t %s%d = number %% extent%d;", d == last ? "from" : "i", d, d);
    if (d) ambit__line(j->w, "number /= extent%d;", d);
  }
}

static void open_chunks(const ambit__gpucode_job *j)
{
  const int last = j->group->ndims - 1, ncolumns = form_of(j)->ncolumns;

  ambit__line(j->w, "const ambit_full_call *full = (const ambit_full_call *)call;");
  ambit__open(j->w, "for (int64_t k = full->first; k < full->end; k++)");
  ambit__line(j->w, "const int32_t *chunk = full->chunks + k * %d;",
              AMBIT__CHUNK_COLUMN + ncolumns);
  for (int k = 0; k < ncolumns; k++)
    ambit__line(j->w, "const int64_t k%d = chunk[%d];", k, AMBIT__CHUNK_COLUMN + k);
  emit_indices(j);
  ambit__open(j->w, "for (int64_t x = 0; x < chunk[%d]; x++)", AMBIT__CHUNK_CELLS);
  ambit__line(j->w, "const int64_t at = chunk[%d] + x, i%d = from%d + x;", AMBIT__CHUNK_AT, last,
              last);
}

void ambit__checked_open_sparse(const ambit__gpucode_job *j)
{
  if (in_c(j)) {
    open_chunks(j);
    return;
  }
  ambit__sparse_open_loop(j);
  if (form_of(j)->list) return;
  ambit__sparse_emit_line_place(j);
  ambit__sparse_emit_tests(j);
}

void ambit__checked_close_sparse(const ambit__gpucode_job *j)
{
  ambit__close(j->w);
  if (in_c(j)) ambit__close(j->w);
}
