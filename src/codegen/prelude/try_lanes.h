/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL, after lanes_cl.h: tries the exchange between lanes (device/opencl/lanes.c). */

AMBIT_INLINE uint ambit_number(int lane, int key)
{
  return (uint)(lane + 32 * key) * 0x9e3779b9u;
}

/* 1 if the value of lane `from` arrives; values differ by `key`. */
AMBIT_INLINE uint ambit_arrives(int lane, int key, int from)
{
  return ambit_lane_word(ambit_number(lane, key), from) == ambit_number(from, key);
}

/* The values that arrived at this work-item, of 4. */
kernel AMBIT_THREADS(32, 4, 1) void ambit_try_lanes(global uint *right)
{
  const int lane = (int)get_local_id(0), warp = (int)get_local_id(1);
  uint n = ambit_arrives(lane, warp, lane + 31 & 31) + ambit_arrives(lane, warp, lane + 1 & 31) +
           ambit_arrives(lane, warp, 31 - lane);

#ifdef AMBIT_TOGETHER
#  pragma unroll 1
  for (int i = 0; i < 4; i++)
    n += ambit_arrives(lane, warp + i, lane / 8) * (i == warp);
#else /* warps take branches of their own */
  for (int i = 0; i < 1 + warp; i++)
    if (warp & 1)
      n += ambit_arrives(lane, warp + i, lane / 8) * (i == warp);
    else
      n += ambit_arrives(lane, warp + i, 31 - lane / 8) * (i == warp);
#endif
  right[32 * warp + lane] = n;
}
