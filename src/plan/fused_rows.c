/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_rows.c - three dimensions: the rows of a plane that the groups of a block share.
 *
 * Every value that is read along y has two buffers in shared memory, used in turn, with some rows
 * of each group: its first rows, which the group before it reads, and its last ones, which the
 * group after it reads.
 */
#include "plan/fused.h"

#include <stdio.h>

/* Rows of a group that it publishes. */
static int published(const ambit__fused_job *j, int value)
{
  const int n = j->values[value].down + j->values[value].up;

  return n < j->rows ? n : j->rows;
}

static int width(const ambit__fused_job *j)
{
  return j->lanes * j->lane;
}

/* Cells of a group: in a brick, those of all planes. */
static int group(const ambit__fused_job *j, int value)
{
  return (j->planes ? j->planes : 1) * published(j, value) * width(j);
}

/* Cells of one of the two buffers. */
static int buffer(const ambit__fused_job *j, int value)
{
  return j->groups * group(j, value);
}

/* Bytes of shared memory for the values before this one. */
static size_t bytes_before(const ambit__fused_job *j, int value)
{
  size_t n = 0;

  for (int v = 0; v < value; v++)
    if (j->values[v].fetched >= 0)
      n += 2 * (size_t)buffer(j, v) * ambit_type_size(j->pipe->values[v].type);
  return n;
}

size_t ambit__fused_shared(const ambit__fused_job *j)
{
  return j->y < 0 ? 0 : bytes_before(j, j->pipe->nvalues);
}

static const char *type_of(const ambit__fused_job *j, int value)
{
  return j->gpu.dialect->types[j->pipe->values[value].type];
}

/* A pointer to the cells of this lane in the first row of a group. */
static void declare_pointer(const ambit__fused_job *j, int value, const char *name,
                            const char *number)
{
  const char *type = type_of(j, value), *local = j->gpu.dialect->shared_pointer;

  ambit__line(j->gpu.w, "%s%s *const %s%d = (%s%s *)(bytes + %zu) + (%s) * %d + lane * %d;", local,
              type, name, value, local, type, bytes_before(j, value), number, group(j, value),
              j->lane);
}

void ambit__fused_declare_rows(const ambit__fused_job *j, int value)
{
  char prior[48] = "ambit_most(group - 1, 0)", next[48];

  if (j->values[value].fetched < 0) return;
  snprintf(next, sizeof next, "ambit_least(group + 1, %d)", j->groups - 1);
  if (j->around[1]) {
    snprintf(prior, sizeof prior, "(group + %d) %% %d", j->groups - 1, j->groups);
    snprintf(next, sizeof next, "(group + 1) %% %d", j->groups);
  }
  declare_pointer(j, value, "own", "group");
  if (j->values[value].down) declare_pointer(j, value, "prior", prior);
  if (j->values[value].up) declare_pointer(j, value, "next", next);
}

/* "p % 2 * 1024 + k * 128 + ": one of the two buffers, and in a brick a plane in it. */
static void print_buffer(const ambit__fused_job *j, int value, const char *turn)
{
  ambit__print(j->gpu.t, "%s %% 2 * %d + ", turn, buffer(j, value));
  if (j->planes) ambit__print(j->gpu.t, "k * %d + ", published(j, value) * width(j));
}

bool ambit__fused_buffers_all(const ambit__fused_job *j, int value)
{
  return j->values[value].fetched >= 0 && published(j, value) == j->rows;
}

void ambit__fused_print_buffer(const ambit__fused_job *j, int value)
{
  ambit__print(j->gpu.t, "(%s *)(bytes + %zu) + p %% 2 * %d", type_of(j, value),
               bytes_before(j, value), buffer(j, value));
}

void ambit__fused_publish(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];
  const int n = published(j, value), unused = j->rows - n;

  if (f->fetched < 0) return;
  ambit__fused_open_own_planes(j);
  ambit__fused_open_rows(j, 0, j->rows);
  ambit__line_begin(j->gpu.w);
  if (unused) ambit__print(j->gpu.t, "if (r < %d || r >= %d) ", f->up, j->rows - f->down);
  ambit__fused_print_call(j, "ambit_publish", value);
  ambit__print(j->gpu.t, "own%d + ", value);
  print_buffer(j, value, "p");
  if (unused)
    ambit__print(j->gpu.t, "(r < %d ? r : r - %d) * %d, &", f->up, unused, width(j));
  else
    ambit__print(j->gpu.t, "r * %d, &", width(j));
  ambit__fused_print_row(j, value, f->fetched - !j->stays);
  ambit__print(j->gpu.t, "[%d]", f->left);
  ambit__line_end(j->gpu.w, ");");
  ambit__fused_close_rows(j);
  ambit__fused_close_planes(j);
}

/* Rows `first` to `end` - 1, which are rows r + shift of the adjacent group's published ones. */
static void fetch_rows(const ambit__fused_job *j, int value, const char *from, int first, int end,
                       int shift)
{
  const ambit__fused_value *f = &j->values[value];

  if (first == end) return;
  ambit__fused_open_own_planes(j);
  ambit__fused_open_rows(j, first, end);
  ambit__line_begin(j->gpu.w);
  ambit__fused_print_call(j, "ambit_fetch", value);
  ambit__print(j->gpu.t, "&");
  ambit__fused_print_row(j, value, f->fetched);
  ambit__print(j->gpu.t, "[%d], %s%d + ", f->left, from, value);
  print_buffer(j, value, "(p + 1)");
  ambit__print(j->gpu.t, "(r + %d) * %d", shift, width(j));
  ambit__line_end(j->gpu.w, ");");
  ambit__fused_close_rows(j);
  ambit__fused_close_planes(j);
}

/* Row `to` becomes a copy of row `from`; both count from the lane's first. */
static void copy_row(const ambit__fused_job *j, int value, int to, int from)
{
  const ambit__fused_value *f = &j->values[value];

  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__line(j->gpu.w, "for (int j = %d; j < %d; j++)", f->left, f->left + j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "  ");
  ambit__fused_print_plane(j, value, f->fetched);
  ambit__print(j->gpu.t, "[%d][j] = ", f->down + to);
  ambit__fused_print_plane(j, value, f->fetched);
  ambit__print(j->gpu.t, "[%d][j]", f->down + from);
  ambit__line_end(j->gpu.w, ";");
}

/* Rows outside a face that repeats rows inside: the face lies between two groups, and the one
 * inside has these rows. */
static void mirror_rows(const ambit__fused_job *j, int value, int side)
{
  const ambit_boundary kind = ambit__fused_kind(j, value, j->y, side);
  const int n = side ? j->values[value].up : j->values[value].down;

  if (!n || !ambit__fused_mirror(kind, 1)) return;
  if (side)
    ambit__open(j->gpu.w, "if (y + %d == end%d)", j->rows, j->y);
  else
    ambit__open(j->gpu.w, "if (y == first%d)", j->y);
  ambit__fused_open_own_planes(j);
  for (int k = 1; k <= n; k++) {
    const int from = ambit__fused_mirror(kind, k) - 1;

    copy_row(j, value, side ? j->rows - 1 + k : -k, side ? j->rows - 1 - from : from);
  }
  ambit__fused_close_planes(j);
  ambit__close(j->gpu.w);
}

void ambit__fused_fetch(const ambit__fused_job *j, int value)
{
  const ambit__fused_value *f = &j->values[value];

  if (f->fetched < 0) return;
  fetch_rows(j, value, "prior", -f->down, 0, published(j, value));
  fetch_rows(j, value, "next", j->rows, j->rows + f->up, -j->rows);
  for (int side = 0; j->edge && side < 2; side++)
    mirror_rows(j, value, side);
}
