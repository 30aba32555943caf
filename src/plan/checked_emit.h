/* SPDX-License-Identifier: BSD-3-Clause */
/* checked_emit.h - shared by the files that write checked kernels. checked_sparse.c has what is
 * different on sparse grids, checked_access.c adds the access checks, in builds that have them. */
#ifndef AMBIT_PLAN_CHECKED_EMIT_H
#define AMBIT_PLAN_CHECKED_EMIT_H

#include "plan/checked.h"
#include "plan/sparse.h"

/* "i0 - 1": an index at an offset from this cell. */
void ambit__checked_print_index(const ambit__gpucode_job *j, char letter, int axis, int offset);
/* "(y0 - 1) * u_s0 + (y1) * u_s1 + 2 * u_c", from cell 0, 0, ... of the part. */
void ambit__checked_print_place(const ambit__gpucode_job *j, int i, int component,
                                const int *offset);

/* checked_sparse.c: the loop over the cells of a sparse grid, with their indices i0, i1, ...; the
 * position of a read, "at + k3 + 1", and its place, "(at + k3 + 1) * u_s1 + 2 * u_c"; whether the
 * kernel has the position of read k: not if it is one of activity alone, which tests then tell. */
void ambit__checked_open_sparse(const ambit__gpucode_job *j);
void ambit__checked_close_sparse(const ambit__gpucode_job *j);
void ambit__checked_print_position(const ambit__gpucode_job *j, int i, int component,
                                   const int *offset);
void ambit__checked_print_sparse(const ambit__gpucode_job *j, int i, int component,
                                 const int *offset);
bool ambit__checked_has_place(const ambit__gpucode_job *j, int i, int k);

/* Access checks: the prelude with their names, and the limits of every field. Then, on a sparse
 * grid, the number of the cell, and around each access: the position of a read, replaced by another
 * if it is not allowed (false: the access is not checked), and the condition of a write. */
#ifdef AMBIT_ACCESS_CHECKS
void ambit__access_emit_prelude(const ambit__gpucode_job *j);
void ambit__access_emit_limits(const ambit__gpucode_job *j);
void ambit__access_emit_cell(const ambit__gpucode_job *j);
bool ambit__access_print_read(const ambit__gpucode_job *j, int i, int k);
void ambit__access_print_write(const ambit__gpucode_job *j, int i, int c);
#else
static inline void ambit__access_emit_prelude(const ambit__gpucode_job *j)
{
  (void)j;
}

static inline void ambit__access_emit_limits(const ambit__gpucode_job *j)
{
  (void)j;
}

static inline void ambit__access_emit_cell(const ambit__gpucode_job *j)
{
  (void)j;
}

static inline bool ambit__access_print_read(const ambit__gpucode_job *j, int i, int k)
{
  (void)j, (void)i, (void)k;
  return false;
}

static inline void ambit__access_print_write(const ambit__gpucode_job *j, int i, int c)
{
  (void)j, (void)i, (void)c;
}
#endif

#endif
