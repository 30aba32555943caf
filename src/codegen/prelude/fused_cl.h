/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL: helpers of the strategy `fused`, after those of strips_cl.h. */

/* ---- exchanges ---- */

/* ambit_share fetches the cells beside those of a lane, which are row[left] to row[left + N - 1],
 * from the lanes beside it; any values at the ends of the warp. ambit_gather takes cell source[j]
 * of those of the n lanes that share the row for cell j.
 *
 * A warp is the 32 work-items with the same index along y. NVIDIA's compiler has the asm of CUDA.
 * Elsewhere a work-group has at most 4 warps, which exchange values through local memory: all
 * work-items must call these functions at the same places, and PoCL allows that in no branch. */
#ifdef __NV_CL_C_VERSION
#  define AMBIT_LANES
#  define AMBIT_UNLESS(condition) if (!(condition))
/* The value of lane `from`, 0 to 31. */
AMBIT_INLINE uint ambit_lane_word(uint value, int from)
{
  uint other;

  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;"
               : "=r"(other)
               : "r"(value), "r"(from));
  return other;
}
#  define AMBIT_LANE(T, V)                                                                         \
    AMBIT_INLINE T ambit_lane_##T(T value, int from)                                               \
    {                                                                                              \
      union {                                                                                      \
        T value;                                                                                   \
        uint words[(sizeof(T) + 3) / 4];                                                           \
      } all;                                                                                       \
                                                                                                   \
      all.words[0] = 0;                                                                            \
      all.value = value;                                                                           \
      for (int i = 0; i < (int)(sizeof all / sizeof *all.words); i++)                              \
        all.words[i] = ambit_lane_word(all.words[i], from & 31);                                   \
      return all.value;                                                                            \
    }
AMBIT_EACH_TYPE(AMBIT_LANE)
#  define AMBIT_LANES_HERE ((local ulong *)0)
#  define AMBIT_EXCHANGES(T, N)                                                                    \
    AMBIT_INLINE void ambit_share_##T##_##N(T *row, int left, int right, local ulong *lanes)       \
    {                                                                                              \
      const int lane = (int)get_local_id(0);                                                       \
                                                                                                   \
      for (int i = 0; i < left; i++)                                                               \
        row[i] = ambit_lane_##T(row[i + N], lane - 1);                                             \
      for (int i = left; i < left + right; i++)                                                    \
        row[i + N] = ambit_lane_##T(row[i], lane + 1);                                             \
    }                                                                                              \
    AMBIT_INLINE void ambit_gather_##T##_##N(T *row, const int *source, int n, local ulong *lanes) \
    {                                                                                              \
      const int lane = (int)get_local_id(0) / n * n;                                               \
      T old[N];                                                                                    \
                                                                                                   \
      for (int j = 0; j < N; j++)                                                                  \
        old[j] = row[j];                                                                           \
      for (int j = 0; j < N; j++)                                                                  \
        for (int k = 0; k < N; k++) {                                                              \
          const T other = ambit_lane_##T(old[k], lane + source[j] / N);                            \
                                                                                                   \
          if (source[j] % N == k) row[j] = other;                                                  \
        }                                                                                          \
    }
#else
#  define AMBIT_UNLESS(condition)
#  define AMBIT_LANES      local ulong ambit_lanes[4][32 * 8]
#  define AMBIT_LANES_HERE ambit_lanes[get_local_id(1)]
#  define AMBIT_EXCHANGES(T, N)                                                                    \
    AMBIT_INLINE local T *ambit_spread_##T##_##N(const T *row, local ulong *lanes)                 \
    {                                                                                              \
      local T *all = (local T *)lanes;                                                             \
                                                                                                   \
      for (int j = 0; j < N; j++)                                                                  \
        all[get_local_id(0) * N + j] = row[j];                                                     \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                \
      return all;                                                                                  \
    }                                                                                              \
    AMBIT_INLINE void ambit_share_##T##_##N(T *row, int left, int right, local ulong *lanes)       \
    {                                                                                              \
      local T *all = ambit_spread_##T##_##N(row + left, lanes);                                    \
      const int lane = (int)get_local_id(0), before = lane - 1 & 31, after = lane + 1 & 31;        \
                                                                                                   \
      for (int i = 0; i < left; i++)                                                               \
        row[i] = all[before * N + N - left + i];                                                   \
      for (int i = 0; i < right; i++)                                                              \
        row[left + N + i] = all[after * N + i];                                                    \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                \
    }                                                                                              \
    AMBIT_INLINE void ambit_gather_##T##_##N(T *row, const int *source, int n, local ulong *lanes) \
    {                                                                                              \
      local T *all = ambit_spread_##T##_##N(row, lanes) + get_local_id(0) / n * n * N;             \
                                                                                                   \
      for (int j = 0; j < N; j++)                                                                  \
        row[j] = all[source[j]];                                                                   \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                \
    }
#endif

/* ---- positions ---- */

/* The same in all work-items of a warp. */
AMBIT_FORMULA(int, ambit_of_warp, (int n), n)

/* Stores N values if `yes`. */
#define AMBIT_STORE_ALL(T, N)                                                                      \
  AMBIT_EXCHANGES(T, N)                                                                            \
  AMBIT_INLINE void ambit_store_all_##T##_##N(bool yes, global T *to, const T *from)               \
  {                                                                                                \
    ambit_store_if_##T##_##N(yes, to, from, (1 << N) - 1);                                         \
  }
#define AMBIT_STORES(T, V)                                                                         \
  AMBIT_STORE_ALL(T, 1) AMBIT_STORE_ALL(T, 2) AMBIT_STORE_ALL(T, 4) AMBIT_STORE_ALL(T, 8)
AMBIT_EACH_TYPE(AMBIT_STORES)
