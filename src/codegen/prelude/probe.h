/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring a GPU. Compiled after prelude/cuda.h or prelude/opencl.h, and definitions of KERNEL,
 * GLOBAL, THREADS, THREAD, BLOCK, BLOCKS and EXP. The same text is compiled for all languages. */

/* Copies 16 bytes per thread and turn, all n of them, so many times. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_probe_copy(GLOBAL float4 *to,
                                                          GLOBAL const float4 *from, ambit_i64 n,
                                                          ambit_i64 times)
{
  for (ambit_i64 t = 0; t < times; t++)
    for (ambit_i64 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS)
      to[i] = from[i];
}

/* Eight chains per thread, whose results are stored where no compiler can see that nobody reads
 * them. */
#define PROBE(name, T, next)                                                                       \
  KERNEL AMBIT_THREADS(THREADS, 1, 1) void name(GLOBAL T *to, ambit_i64 rounds, T x, T y)          \
  {                                                                                                \
    T a = y, b = a + x, c = b + x, d = c + x, e = d + x, f = e + x, g = f + x, h = g + x;          \
    for (ambit_i64 i = 0; i < rounds; i++) {                                                       \
      a = next(a), b = next(b), c = next(c), d = next(d);                                          \
      e = next(e), f = next(f), g = next(g), h = next(h);                                          \
    }                                                                                              \
    to[BLOCK * THREADS + THREAD] = a + b + c + d + e + f + g + h;                                  \
  }
#define MULTIPLY_ADD(a) ((a)*x + y)
#define DIVIDE(a)       (x / (a))
#define SPECIAL(a)      EXP(-(a))

PROBE(ambit_probe_float, float, MULTIPLY_ADD)
PROBE(ambit_probe_divide, float, DIVIDE)
PROBE(ambit_probe_special, float, SPECIAL)
#if AMBIT_HAS_DOUBLE
PROBE(ambit_probe_double, double, MULTIPLY_ADD)
#endif

/* One chain of one thread. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_probe_chain(GLOBAL float *to, ambit_i64 rounds,
                                                           float x, float y)
{
  float a = y;

  for (ambit_i64 i = 0; i < rounds; i++)
    a = a * x + y;
  to[BLOCK * THREADS + THREAD] = a;
}
