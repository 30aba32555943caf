/* Moving cells on a GPU: boxes of cells from place to place, and ghost cells.
 *
 * Compiled once per size of a value, behind prelude/cuda.h or prelude/opencl.h and a few definitions:
 *   KERNEL, GLOBAL   what stands before a kernel and before a type in device memory
 *   T                an unsigned integer of the size of a value
 *   THREADS          of a block; THREAD and BLOCK count from 0, BLOCKS is the number of blocks
 *
 * Values are counted in C order over up to seven axes, the components being one of them; axis 0 is the innermost
 * here. A place is the sum over the axes of index times stride.
 */

/* Takes the index along the innermost axis off `rest`. Counts that fit are divided in 32 bits: much faster. */
#define TAKE(n, s, to)                                                                             \
  if ((n) > 1) {                                                                                   \
    ambit_i64 index = is_small ? (ambit_i64)((ambit_u32)rest % (ambit_u32)(n))                     \
                               : (ambit_i64)(rest % (ambit_u64)(n));                               \
                                                                                                   \
    rest = is_small ? (ambit_u64)((ambit_u32)rest / (ambit_u32)(n)) : rest / (ambit_u64)(n);       \
    to += index * (s);                                                                             \
  }

/* Copies `count` values, from number `first` on, between two places of the same shape. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_move(
    GLOBAL T *to, ambit_i64 to_base, GLOBAL const T *from, ambit_i64 from_base, ambit_i64 first,
    ambit_i64 count, ambit_i64 n0, ambit_i64 n1, ambit_i64 n2, ambit_i64 n3, ambit_i64 n4,
    ambit_i64 n5, ambit_i64 n6, ambit_i64 t0, ambit_i64 t1, ambit_i64 t2, ambit_i64 t3,
    ambit_i64 t4, ambit_i64 t5, ambit_i64 t6, ambit_i64 f0, ambit_i64 f1, ambit_i64 f2,
    ambit_i64 f3, ambit_i64 f4, ambit_i64 f5, ambit_i64 f6)
{
  const int is_small = first + count <= 0xffffffffL;

#define TAKE_BOTH(d)                                                                               \
  if (n##d > 1) {                                                                                  \
    ambit_i64 k = 0;                                                                               \
                                                                                                   \
    TAKE(n##d, 1, k)                                                                               \
    to_at += k * t##d;                                                                             \
    from_at += k * f##d;                                                                           \
  }
  for (ambit_i64 i = BLOCK * THREADS + THREAD; i < count; i += BLOCKS * THREADS) {
    ambit_u64 rest = (ambit_u64)(first + i);
    ambit_i64 to_at = to_base, from_at = from_base;

    TAKE_BOTH(0)
    TAKE_BOTH(1)
    TAKE_BOTH(2)
    TAKE_BOTH(3)
    TAKE_BOTH(4)
    TAKE_BOTH(5)
    TAKE_BOTH(6)
    to[to_at] = from[from_at];
  }
}

/* The index inside 0 .. extent - 1 that index i, outside, stands for; kinds as in ambit_boundary. */
AMBIT_INLINE ambit_i64 mapped(ambit_i64 kind, ambit_i64 extent, ambit_i64 i)
{
  const ambit_i64 period = kind == AMBIT_PERIODIC  ? extent
                           : kind == AMBIT_REFLECT ? 2 * (extent - 1)
                                                   : 2 * extent;
  ambit_i64 r;

  if (kind == AMBIT_CLAMP) return i < 0 ? 0 : extent - 1;
  if (period == 0) return 0;
  r = i % period;
  if (r < 0) r += period;
  if (r < extent) return r;
  return kind == AMBIT_REFLECT ? period - r : period - 1 - r;
}

/* Fills the ghost cells of one axis: `layers` layers, the `low` ones before cell `first` of the axis and the others from `end` on.
 * In each layer there is a value for every place of the other axes; `base` is the one with the least
 * indices, at index 0 of the grid along the axis itself. Threads side by side take layers side by side if
 * `inner`, else places. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_ghosts(
    GLOBAL T *mem, ambit_i64 base, ambit_i64 places, ambit_i64 layers, ambit_i64 inner,
    ambit_i64 along, ambit_i64 low, ambit_i64 first, ambit_i64 end, ambit_i64 extent,
    ambit_i64 kind_low, ambit_i64 kind_high, T value_low, T value_high, ambit_i64 n0, ambit_i64 n1,
    ambit_i64 n2, ambit_i64 n3, ambit_i64 n4, ambit_i64 n5, ambit_i64 s0, ambit_i64 s1,
    ambit_i64 s2, ambit_i64 s3, ambit_i64 s4, ambit_i64 s5)
{
  const int is_small = places * layers <= 0xffffffffL;

  for (ambit_i64 i = BLOCK * THREADS + THREAD; i < places * layers; i += BLOCKS * THREADS) {
    ambit_u64 rest = (ambit_u64)i;
    ambit_i64 layer = 0, at = base, to;

    if (inner) TAKE(layers, 1, layer)
    TAKE(n0, s0, at)
    TAKE(n1, s1, at)
    TAKE(n2, s2, at)
    TAKE(n3, s3, at)
    TAKE(n4, s4, at)
    TAKE(n5, s5, at)
    if (!inner) layer = (ambit_i64)rest;
    to = (layer < low ? first : end) + layer - low;
    if ((layer < low ? kind_low : kind_high) == AMBIT_CONSTANT)
      mem[at + to * along] = layer < low ? value_low : value_high;
    else
      mem[at + to * along] =
          mem[at + mapped(layer < low ? kind_low : kind_high, extent, to) * along];
  }
}
