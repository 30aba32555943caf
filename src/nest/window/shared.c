/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.c - three dimensions: the rows of a plane that the groups of a block share.
 *
 * Every value that is read along y has two buffers in shared memory, used in turn, with some rows
 * of each group: its first rows, which the group before it reads, and its last ones, which the
 * group after it reads.
 */
#include "nest/window/window.h"

/* Rows of a group that it publishes. */
static int published(const ambit__window *j, int value)
{
  const int n = j->values[value].down + j->values[value].up;

  return n < j->rows ? n : j->rows;
}

static int width(const ambit__window *j)
{
  return j->lanes * j->lane;
}

/* Cells of a group: in a brick, those of all planes. */
static int group(const ambit__window *j, int value)
{
  return (j->planes ? j->planes : 1) * published(j, value) * width(j);
}

/* Cells of one of the two buffers. */
static int buffer(const ambit__window *j, int value)
{
  return j->groups * group(j, value);
}

/* Bytes of shared memory for the values before this one. */
static size_t bytes_before(const ambit__window *j, int value)
{
  size_t n = 0;

  for (int v = 0; v < value; v++)
    if (j->values[v].fetched >= 0)
      n += 2 * (size_t)buffer(j, v) * ambit_type_size(j->flow->values[v].type);
  return n;
}

size_t ambit__window_shared(const ambit__window *j)
{
  return j->y < 0 ? 0 : bytes_before(j, j->flow->nvalues);
}

/* A pointer to the cells of this lane in the first row of a group. */
static void let_pointer(const ambit__window *j, int value, const char *name, const char *number)
{
  const char *type = ambit__window_type(j, value), *local = j->n->dialect->shared_pointer;

  ambit__nest_do(j->n, "%s%s *const %s%d = (%s%s *)(bytes + %zu) + (%s) * %d + lane * %d", local,
                 type, name, value, local, type, bytes_before(j, value), number, group(j, value),
                 j->lane);
}

void ambit__window_let_rows(const ambit__window *j, int value)
{
  const char *prior = "ambit_most(group - 1, 0)";
  const char *next = ambit__nest_text(j->n, "ambit_least(group + 1, %d)", j->groups - 1);

  if (j->values[value].fetched < 0) return;
  if (j->around[1]) {
    prior = ambit__nest_text(j->n, "(group + %d) %% %d", j->groups - 1, j->groups);
    next = ambit__nest_text(j->n, "(group + 1) %% %d", j->groups);
  }
  let_pointer(j, value, "own", "group");
  if (j->values[value].down) let_pointer(j, value, "prior", prior);
  if (j->values[value].up) let_pointer(j, value, "next", next);
}

/* "p % 2 * 1024 + k * 128 + ": one of the two buffers, and in a brick a plane in it. */
static const char *turn_of(const ambit__window *j, int value, const char *turn)
{
  const char *at = ambit__nest_text(j->n, "%s %% 2 * %d + ", turn, buffer(j, value));

  return j->planes ? ambit__nest_text(j->n, "%sk * %d + ", at, published(j, value) * width(j)) : at;
}

bool ambit__window_buffers_all(const ambit__window *j, int value)
{
  return j->values[value].fetched >= 0 && published(j, value) == j->rows;
}

const char *ambit__window_buffer(const ambit__window *j, int value)
{
  return ambit__nest_text(j->n, "(%s *)(bytes + %zu) + p %% 2 * %d", ambit__window_type(j, value),
                          bytes_before(j, value), buffer(j, value));
}

void ambit__window_publish(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];
  const int unused = j->rows - published(j, value);
  const char *row = "r";

  if (f->fetched < 0) return;
  ambit__window_open_own_planes(j);
  ambit__window_open_rows(j, 0, j->rows);
  if (unused) {
    ambit__nest_if(j->n, "r < %d || r >= %d", f->up, j->rows - f->down);
    row = ambit__nest_text(j->n, "(r < %d ? r : r - %d)", f->up, unused);
  }
  ambit__nest_call(j->n, "ambit_publish", ambit__window_type(j, value), j->lane,
                   "own%d + %s%s * %d, &%s[%d]", value, turn_of(j, value, "p"), row, width(j),
                   ambit__window_row(j, value, f->fetched - !j->stays), f->left);
  if (unused) ambit__nest_close(j->n);
  ambit__window_close_rows(j);
  ambit__window_close_planes(j);
}

/* Rows `first` to `end` - 1, which are rows r + shift of the adjacent group's published ones. */
static void fetch_rows(const ambit__window *j, int value, const char *from, int first, int end,
                       int shift)
{
  const ambit__window_value *f = &j->values[value];

  if (first == end) return;
  ambit__window_open_own_planes(j);
  ambit__window_open_rows(j, first, end);
  ambit__nest_call(j->n, "ambit_fetch", ambit__window_type(j, value), j->lane,
                   "&%s[%d], %s%d + %s(r + %d) * %d", ambit__window_row(j, value, f->fetched),
                   f->left, from, value, turn_of(j, value, "(p + 1)"), shift, width(j));
  ambit__window_close_rows(j);
  ambit__window_close_planes(j);
}

/* Row `to`, beyond a face, becomes a copy of row `from`; both count from the lane's first. */
static void copy_row(const ambit__window *j, int value, ambit_boundary kind, int to, int from)
{
  const ambit__window_value *f = &j->values[value];
  const char *plane = ambit__window_plane(j, value, f->fetched);
  const char *cell = ambit__nest_text(j->n, "%s[%d][j]", plane, f->down + from);

  ambit__nest_unroll(j->n, "j", f->left, f->left + j->lane);
  ambit__nest_do(j->n, "%s[%d][j] = %s", plane, f->down + to,
                 ambit__window_copied(j, value, kind, cell));
  ambit__nest_close(j->n);
}

/* Rows outside a face that repeats rows inside: the face lies between two groups, and the one
 * inside has these rows. */
static void mirror_rows(const ambit__window *j, int value, int side)
{
  const ambit_boundary kind = ambit__flow_kind(j->flow, value, j->y, side);
  const int n = side ? j->values[value].up : j->values[value].down;

  if (!n || !ambit__flow_mirror(kind, 1)) return;
  if (side)
    ambit__nest_if(j->n, "y + %d == end%d", j->rows, j->y);
  else
    ambit__nest_if(j->n, "y == first%d", j->y);
  ambit__window_open_own_planes(j);
  for (int k = 1; k <= n; k++) {
    const int from = ambit__flow_mirror(kind, k) - 1;

    copy_row(j, value, kind, side ? j->rows - 1 + k : -k, side ? j->rows - 1 - from : from);
  }
  ambit__window_close_planes(j);
  ambit__nest_close(j->n);
}

void ambit__window_fetch(const ambit__window *j, int value)
{
  const ambit__window_value *f = &j->values[value];

  if (f->fetched < 0) return;
  fetch_rows(j, value, "prior", -f->down, 0, published(j, value));
  fetch_rows(j, value, "next", j->rows, j->rows + f->up, -j->rows);
  for (int side = 0; j->edge && side < 2; side++)
    mirror_rows(j, value, side);
}
