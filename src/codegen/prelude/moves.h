/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of cells on a GPU: one box, or many at once; and fills.
 *
 * Compiled once per size of a value, after prelude/cuda.h or prelude/opencl.h and some definitions:
 *   KERNEL, GLOBAL   qualifiers of a kernel and of a type in device memory
 *   T                an unsigned integer of the size of a value
 *   THREADS          per block; THREAD and BLOCK are indices, BLOCKS is the number of blocks
 *   AXES             seven
 *   CHUNK            values that a block sets at a time
 *   MOST             all bits but the first
 *
 * Values are numbered in row-major order over up to seven axes, one of which is the component; axis
 * 0 is the innermost here. A place is the sum over the axes of index times stride.
 */

/* Splits the index along the innermost axis off `rest`. Division in 32 bits, where possible, is
 * much faster. */
#define TAKE(n, s, to)                                                                             \
  if ((n) > 1) {                                                                                   \
    ambit_i64 index = is_small ? (ambit_i64)((ambit_u32)rest % (ambit_u32)(n))                     \
                               : (ambit_i64)(rest % (ambit_u64)(n));                               \
                                                                                                   \
    rest = is_small ? (ambit_u64)((ambit_u32)rest / (ambit_u32)(n)) : rest / (ambit_u64)(n);       \
    to += index * (s);                                                                             \
  }

#define TAKE_BOTH(d)                                                                               \
  if (n##d > 1) {                                                                                  \
    ambit_i64 k = 0;                                                                               \
                                                                                                   \
    TAKE(n##d, 1, k)                                                                               \
    to_at += k * t##d;                                                                             \
    from_at += k * f##d;                                                                           \
  }
/* The parameters of a kernel that goes through `count` values of a box, starting with number
 * `first`, in two memories: n0, ... are its extents, t0, ... and f0, ... steps there and here. */
#define FROM_TO                                                                                    \
  GLOBAL T *to, ambit_i64 to_base, GLOBAL const T *from, ambit_i64 from_base, ambit_i64 first,     \
      ambit_i64 count, ambit_i64 n0, ambit_i64 n1, ambit_i64 n2, ambit_i64 n3, ambit_i64 n4,       \
      ambit_i64 n5, ambit_i64 n6, ambit_i64 t0, ambit_i64 t1, ambit_i64 t2, ambit_i64 t3,          \
      ambit_i64 t4, ambit_i64 t5, ambit_i64 t6, ambit_i64 f0, ambit_i64 f1, ambit_i64 f2,          \
      ambit_i64 f3, ambit_i64 f4, ambit_i64 f5, ambit_i64 f6
/* Runs `action` on the values of a thread: those at to[to_at] and from[from_at]. */
#define EACH_PLACE(action)                                                                         \
  const int is_small = first + count <= 0xffffffffL;                                               \
                                                                                                   \
  for (ambit_i64 i = BLOCK * THREADS + THREAD; i < count; i += BLOCKS * THREADS) {                 \
    ambit_u64 rest = (ambit_u64)(first + i);                                                       \
    ambit_i64 to_at = to_base, from_at = from_base;                                                \
                                                                                                   \
    TAKE_BOTH(0)                                                                                   \
    TAKE_BOTH(1)                                                                                   \
    TAKE_BOTH(2)                                                                                   \
    TAKE_BOTH(3)                                                                                   \
    TAKE_BOTH(4)                                                                                   \
    TAKE_BOTH(5)                                                                                   \
    TAKE_BOTH(6)                                                                                   \
    action                                                                                         \
  }

/* Copies values between two places of the same shape. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_move(FROM_TO)
{
  EACH_PLACE(to[to_at] = from[from_at];)
}

/* The same, and sets *changed if a value was different before: from NaN to NaN is no change. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_update(FROM_TO, ambit_u64 infinity,
                                                      GLOBAL ambit_i64 *changed)
{
  EACH_PLACE(if (to[to_at] != from[from_at]) {
    if (!((to[to_at] & MOST) > infinity && (from[from_at] & MOST) > infinity)) *changed = 1;
    to[to_at] = from[from_at];
  })
}

/* Sets a box of values: runs of `run` values, `step` apart, along six more axes. A block sets
 * one chunk of a run at a time; there are `units` chunks in all. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_fill(GLOBAL T *to, ambit_i64 base, ambit_i64 value,
                                                    ambit_i64 run, ambit_i64 step, ambit_i64 units,
                                                    ambit_i64 n0, ambit_i64 n1, ambit_i64 n2,
                                                    ambit_i64 n3, ambit_i64 n4, ambit_i64 n5,
                                                    ambit_i64 t0, ambit_i64 t1, ambit_i64 t2,
                                                    ambit_i64 t3, ambit_i64 t4, ambit_i64 t5)
{
  const int is_small = units <= 0xffffffffL;
  const ambit_i64 chunks = (run + CHUNK - 1) / CHUNK;

  for (ambit_i64 unit = BLOCK; unit < units; unit += BLOCKS) {
    ambit_u64 rest = (ambit_u64)unit;
    ambit_i64 at = base, first = 0, end;

    TAKE(chunks, CHUNK, first)
    TAKE(n0, t0, at)
    TAKE(n1, t1, at)
    TAKE(n2, t2, at)
    TAKE(n3, t3, at)
    TAKE(n4, t4, at)
    TAKE(n5, t5, at)
    end = first + CHUNK < run ? first + CHUNK : run;
    for (ambit_i64 i = first + THREAD; i < end; i += THREADS)
      to[at + i * step] = (T)value;
  }
}

/* A box of values to copy or to set; ambit__gpu_item of device/gpu/gpu.h. Copies have the bits of
 * `value` changed: none, or the sign. */
typedef struct ambit_item {
  ambit_i64 to, from, to_base, from_base, is_value, value, first, blocks, count, axes;
  ambit_i64 n[AXES], to_step[AXES], from_step[AXES];
} ambit_item;

/* All boxes of a table at once. After its items the table has, for each block, the number of its
 * item. The memories are m0 to m15. */
KERNEL AMBIT_THREADS(THREADS, 1,
                     1) void ambit_batch(GLOBAL const ambit_item *items, ambit_i64 nitems,
                                         GLOBAL T *m0, GLOBAL T *m1, GLOBAL T *m2, GLOBAL T *m3,
                                         GLOBAL T *m4, GLOBAL T *m5, GLOBAL T *m6, GLOBAL T *m7,
                                         GLOBAL T *m8, GLOBAL T *m9, GLOBAL T *m10, GLOBAL T *m11,
                                         GLOBAL T *m12, GLOBAL T *m13, GLOBAL T *m14, GLOBAL T *m15)
{
#define QUARTER(k, a, b, c, d) ((k) % 4 == 0 ? a : (k) % 4 == 1 ? b : (k) % 4 == 2 ? c : d)
#define MEMORY(k)                                                                                  \
  ((k) < 4    ? QUARTER(k, m0, m1, m2, m3)                                                         \
   : (k) < 8  ? QUARTER(k, m4, m5, m6, m7)                                                         \
   : (k) < 12 ? QUARTER(k, m8, m9, m10, m11)                                                       \
              : QUARTER(k, m12, m13, m14, m15))
  GLOBAL const ambit_item *it = items + ((GLOBAL const ambit_i64 *)(items + nitems))[BLOCK];
  const int axes = (int)it->axes, is_small = it->count <= 0xffffffffL;
  GLOBAL const T *from = MEMORY(it->from);
  GLOBAL T *to = MEMORY(it->to);

  for (ambit_i64 i = (BLOCK - it->first) * THREADS + THREAD; i < it->count;
       i += it->blocks * THREADS) {
    ambit_u64 rest = (ambit_u64)i;
    ambit_i64 to_at = it->to_base, from_at = it->from_base;

    for (int d = 0; d < axes; d++) {
      ambit_i64 k = 0;

      TAKE(it->n[d], 1, k)
      to_at += k * it->to_step[d];
      from_at += k * it->from_step[d];
    }
    to[to_at] = it->is_value ? (T)it->value : (T)(from[from_at] ^ (T)it->value);
  }
}
