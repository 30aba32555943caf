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
