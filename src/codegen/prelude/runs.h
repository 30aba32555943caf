/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of the cells of sparse grids on a GPU, and fills.
 *
 * Compiled once per size of a value, with the definitions that prelude/moves.h has too: KERNEL,
 * GLOBAL, T, THREADS, THREAD, BLOCK, BLOCKS, MOST. A place in memory is base + cell * step +
 * component * apart, in values.
 */

/* Copies segments of cells, three words each: the first cell there, the first cell here, and their
 * number; or sets them to one value. Half a warp works on a segment. Sets *changed, if it is not
 * NULL, if a value was different before, and not NaN before and after. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_runs(
    GLOBAL T *to, ambit_i64 to_base, ambit_i64 to_step, ambit_i64 to_apart, GLOBAL const T *from,
    ambit_i64 from_base, ambit_i64 from_step, ambit_i64 from_apart,
    GLOBAL const ambit_i32 *segments, ambit_i64 n, ambit_i64 components, ambit_i64 is_value,
    ambit_i64 value, ambit_u64 infinity, GLOBAL ambit_i64 *changed)
{
  for (ambit_i64 s = (BLOCK * THREADS + THREAD) / 16; s < n; s += BLOCKS * THREADS / 16) {
    const ambit_i64 there = segments[3 * s], here = segments[3 * s + 1],
                    count = segments[3 * s + 2];

    for (ambit_i64 i = THREAD % 16; i < count; i += 16)
      for (ambit_i64 c = 0; c < components; c++) {
        GLOBAL T *at = to + (to_base + (there + i) * to_step + c * to_apart);
        const T x = is_value ? (T)value : from[from_base + (here + i) * from_step + c * from_apart];

        if (changed && *at != x && !((*at & MOST) > infinity && (x & MOST) > infinity))
          *changed = 1;
        *at = x;
      }
  }
}

/* Copies single cells within a field: pairs of positions, to and from. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_pairs(GLOBAL T *cells, ambit_i64 base,
                                                     ambit_i64 step, ambit_i64 apart,
                                                     GLOBAL const ambit_i32 *pairs, ambit_i64 n,
                                                     ambit_i64 components)
{
  for (ambit_i64 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS)
    for (ambit_i64 c = 0; c < components; c++)
      cells[base + pairs[2 * i] * step + c * apart] =
          cells[base + pairs[2 * i + 1] * step + c * apart];
}
