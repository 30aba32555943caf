/* SPDX-License-Identifier: BSD-3-Clause */
/* The stop condition of a run, tested on the GPU. Compiled after prelude/cuda.h or
 * prelude/opencl.h, and definitions of KERNEL, GLOBAL, the values of ambit_type and of
 * ambit_condition. */

AMBIT_INLINE double number_at(GLOBAL const void *at, ambit_i64 type)
{
  if (type == AMBIT_F32) return (double)*(GLOBAL const float *)at;
  if (type == AMBIT_F64) return *(GLOBAL const double *)at;
  if (type == AMBIT_I32) return (double)*(GLOBAL const int *)at;
  if (type == AMBIT_U8) return (double)*(GLOBAL const unsigned char *)at;
  if (type == AMBIT_I16) return (double)*(GLOBAL const short *)at;
  if (type == AMBIT_U16) return (double)*(GLOBAL const ambit_u16 *)at;
  if (type == AMBIT_U32) return (double)*(GLOBAL const ambit_u32 *)at;
  if (type == AMBIT_U64) return (double)*(GLOBAL const ambit_u64 *)at;
  return (double)*(GLOBAL const ambit_i64 *)at;
}

/* If the condition holds, or the value is not finite, stores the iteration number in record[0] and
 * the eight bytes of the value after it; only the first time. */
KERNEL AMBIT_THREADS(1, 1, 1) void ambit_check(GLOBAL ambit_i64 *record, GLOBAL const void *at,
                                               ambit_i64 type, ambit_i64 when, double bound,
                                               ambit_i64 iteration)
{
  const double x = number_at(at, type);
  const int finite = x - x == 0;
  const int met = when == AMBIT_BELOW      ? x < bound
                  : when == AMBIT_ABOVE    ? x > bound
                  : when == AMBIT_AT_MOST  ? x <= bound
                  : when == AMBIT_AT_LEAST ? x >= bound
                                           : x == bound;

  if (record[0] || (finite && !met)) return;
  record[0] = iteration;
  record[1] = *(GLOBAL const ambit_i64 *)at;
}
