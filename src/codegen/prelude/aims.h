/* SPDX-License-Identifier: BSD-3-Clause */
/* The cells that points touch in the tile of a warp (nest/window/points.c): z, y, x and a number
 * each, in the order of z, between rows that never come. Compiled after a definition of
 * AMBIT_GLOBAL, the address space of device memory. */

/* From cell `at` on, the first one that is not in rows before `row`; *seen gets the bits of the
 * last 32 of these rows. */
AMBIT_INLINE int ambit_aims_see(AMBIT_GLOBAL const int *list, int at, int row, unsigned *seen)
{
  for (; list[4 * at] < row; at++)
    if (row - list[4 * at] <= 32) *seen |= 1u << (row - list[4 * at] - 1);
  return at;
}

/* From cell `at` on, the first one that is not in the row; before it, the first one of the row or
 * of rows that follow. */
AMBIT_INLINE int ambit_aims_after(AMBIT_GLOBAL const int *list, int at, int row)
{
  while (list[4 * at] == row)
    at++;
  return at;
}

AMBIT_INLINE int ambit_aims_since(AMBIT_GLOBAL const int *list, int at, int row)
{
  while (list[4 * at - 4] >= row)
    at--;
  return at;
}

/* The number of a cell among those of a lane, `wide` in each of its rows from y, x on; -1: it has
 * it not. */
AMBIT_INLINE int ambit_aims_cell(AMBIT_GLOBAL const int *cell, int y, int x, int rows, int wide)
{
  const int dy = cell[1] - y, dx = cell[2] - x;

  return dy >= 0 && dy < rows && dx >= 0 && dx < wide ? dy * wide + dx : -1;
}
