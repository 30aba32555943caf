/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL: values exchanged between the 32 work-items with the same index along y, the lanes of a
 * warp.
 *
 * NVIDIA's compiler has the asm of CUDA. On other devices the text in front of this file tells the
 * way that device/opencl/lanes.c has found and tried: AMBIT_SHUFFLE, a function of sub-groups, with
 * AMBIT_SUB_GROUP work-items as the kernel requires, or of several warps; or AMBIT_WAVEFRONTS, of
 * AMD, where a wavefront is one warp or two. Elsewhere a work-group has at most 4 warps, which
 * exchange values through local memory: all work-items must call these functions at the same
 * places, and PoCL allows that in no branch. AMBIT_TOGETHER: so does it with sub-groups. */

/* The value of lane `from`, 0 to 31. */
#ifdef __NV_CL_C_VERSION
AMBIT_INLINE uint ambit_lane_word(uint value, int from)
{
  uint other;

  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;"
               : "=r"(other)
               : "r"(value), "r"(from));
  return other;
}
#elif defined AMBIT_SHUFFLE && defined AMBIT_SUB_GROUP
AMBIT_INLINE uint ambit_lane_word(uint value, int from)
{
  return AMBIT_SHUFFLE(value, (uint)from);
}
#elif defined AMBIT_SHUFFLE
AMBIT_INLINE uint ambit_lane_word(uint value, int from)
{
  return AMBIT_SHUFFLE(value, (get_sub_group_local_id() & ~31u) + (uint)from);
}
#elif defined AMBIT_WAVEFRONTS
AMBIT_INLINE uint ambit_lane_word(uint value, int from)
{
  const uint here = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));

  return (uint)__builtin_amdgcn_ds_bpermute((int)(4 * ((here & ~31u) + (uint)from)), (int)value);
}
#else
#  define AMBIT_LOCAL_LANES
#endif

#if defined AMBIT_LOCAL_LANES || defined AMBIT_TOGETHER
#  define AMBIT_UNLESS(condition)
#else
#  define AMBIT_UNLESS(condition) if (!(condition))
#endif

#ifndef AMBIT_LOCAL_LANES
#  define AMBIT_LANES
#  define AMBIT_LANE_OF_32(T, WORD, BACK)                                                          \
    AMBIT_INLINE T ambit_lane_##T(T value, int from)                                               \
    {                                                                                              \
      return BACK(ambit_lane_word(WORD(value), from & 31));                                        \
    }
#  define AMBIT_LANE_OF_64(T, WORDS, BACK)                                                         \
    AMBIT_INLINE T ambit_lane_##T(T value, int from)                                               \
    {                                                                                              \
      uint2 words = WORDS(value);                                                                  \
                                                                                                   \
      words.x = ambit_lane_word(words.x, from & 31);                                               \
      words.y = ambit_lane_word(words.y, from & 31);                                               \
      return BACK(words);                                                                          \
    }
AMBIT_LANE_OF_32(float, as_uint, as_float)
AMBIT_LANE_OF_32(int, as_uint, as_int)
AMBIT_LANE_OF_32(uchar, (uint), (uchar))
AMBIT_LANE_OF_32(short, (uint), (short))
AMBIT_LANE_OF_32(ambit_f16, (uint), (ambit_f16))
AMBIT_LANE_OF_32(ambit_u16, (uint), (ambit_u16))
AMBIT_LANE_OF_32(ambit_u32, (uint), (ambit_u32))
AMBIT_LANE_OF_64(long, as_uint2, as_long)
AMBIT_LANE_OF_64(ambit_u64, as_uint2, as_ulong)
#  if AMBIT_HAS_DOUBLE
AMBIT_LANE_OF_64(double, as_uint2, as_double)
#  endif
/* The value of the previous or next lane; `end` at the ends of the warp. */
#  define AMBIT_LANES_BESIDE(T)                                                                    \
    AMBIT_INLINE T ambit_before_##T(T value, T end)                                                \
    {                                                                                              \
      const int lane = (int)get_local_id(0);                                                       \
      const T other = ambit_lane_##T(value, lane - 1);                                             \
                                                                                                   \
      return lane == 0 ? end : other;                                                              \
    }                                                                                              \
    AMBIT_INLINE T ambit_after_##T(T value, T end)                                                 \
    {                                                                                              \
      const int lane = (int)get_local_id(0);                                                       \
      const T other = ambit_lane_##T(value, lane + 1);                                             \
                                                                                                   \
      return lane == 31 ? end : other;                                                             \
    }
AMBIT_LANES_BESIDE(float)
AMBIT_LANES_BESIDE(int)
AMBIT_LANES_BESIDE(uchar)
AMBIT_LANES_BESIDE(short)
AMBIT_LANES_BESIDE(ambit_f16)
AMBIT_LANES_BESIDE(ambit_u16)
AMBIT_LANES_BESIDE(ambit_u32)
AMBIT_LANES_BESIDE(ambit_u64)
AMBIT_LANES_BESIDE(long)
#  if AMBIT_HAS_DOUBLE
AMBIT_LANES_BESIDE(double)
#  endif
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
    AMBIT_INLINE void ambit_gather_##T##_##N(T *row, const int *from, local ulong *lanes)          \
    {                                                                                              \
      T old[N];                                                                                    \
                                                                                                   \
      for (int j = 0; j < N; j++)                                                                  \
        old[j] = row[j];                                                                           \
      for (int j = 0; j < N; j++)                                                                  \
        for (int k = 0; k < N; k++) {                                                              \
          const T other = ambit_lane_##T(old[k], from[j] / N);                                     \
                                                                                                   \
          if (from[j] % N == k) row[j] = other;                                                    \
        }                                                                                          \
    }
#else
#  define AMBIT_LANES      local ulong ambit_lanes[4][32 * 8]
#  define AMBIT_LANES_HERE ambit_lanes[get_local_id(1)]
#  define AMBIT_UNLESS(condition)
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
    AMBIT_INLINE void ambit_gather_##T##_##N(T *row, const int *from, local ulong *lanes)          \
    {                                                                                              \
      local T *all = ambit_spread_##T##_##N(row, lanes);                                           \
                                                                                                   \
      for (int j = 0; j < N; j++)                                                                  \
        row[j] = all[from[j]];                                                                     \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                \
    }
#endif
/* ambit_share fetches the cells beside those of a lane, which are row[left] to row[left + N - 1],
 * from the lanes beside it; any values at the ends of the warp. ambit_gather takes cell from[j] of
 * all cells of the warp for cell j. */
