/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles on a GPU: boxes of differences, and lists of tiles to compute (nest/tiles.c). */
#ifdef __OPENCL_VERSION__
#  define AMBIT_GLOBAL          global
#  define AMBIT_LEAST(at, v)    atomic_min(at, v)
#  define AMBIT_MOST(at, v)     atomic_max(at, v)
#  define AMBIT_COUNT(at, v)    atomic_add(at, v)
#  define AMBIT_IS_FIRST(place) (atomic_xchg(place, 1) == 0)
#else
#  define AMBIT_GLOBAL
#  define AMBIT_LEAST(at, v)    atomicMin(at, v)
#  define AMBIT_MOST(at, v)     atomicMax(at, v)
#  define AMBIT_COUNT(at, v)    atomicAdd(at, v)
#  define AMBIT_IS_FIRST(place) (atomicExch(place, 1) == 0)
#endif
#define AMBIT_NOWHERE 0x7fffffff

/* Whether real numbers differ, by their bits; `most` are all but the sign. Two NaN do not. */
#define AMBIT_DIFFER(x, y, most, infinity)                                                         \
  ((x) != (y) && (((x) & (most)) <= (infinity) || ((y) & (most)) <= (infinity)))

/* The memory of a relaxation: AMBIT_HEAD words, then marks and lists by the parity of the round. */
#define AMBIT_MARKS(state, tiles, round) ((state) + AMBIT_HEAD + ((round)&1) * (tiles))
#define AMBIT_LIST(state, tiles, round)  ((state) + AMBIT_HEAD + (2 + ((round)&1)) * (tiles))

/* Puts a tile into the list of the next round, unless it is there. */
AMBIT_INLINE void ambit_wake(AMBIT_GLOBAL ambit_i32 *state, ambit_i64 tiles, ambit_i64 round,
                             ambit_i32 tile)
{
  if (AMBIT_IS_FIRST(AMBIT_MARKS(state, tiles, round + 1) + tile))
    AMBIT_LIST(state, tiles, round + 1)[AMBIT_COUNT(state + (round + 1) % 3, 1)] = tile;
}
