/* CUDA: what kernels that stream strips of a grid call. The lanes of a warp own neighbouring runs of N cells. */

/* N values that lie beside each other, moved in pieces of up to 16 bytes. */
template <typename T, int N> struct __align__(sizeof(T) * N) ambit_pack
{
  T at[N];
};
template <int N, typename T> AMBIT_INLINE void ambit_load(T *to, const T *from)
{
  constexpr int piece = N * (int)sizeof(T) > 16 ? 16 / (int)sizeof(T) : N;

#pragma unroll
  for (int i = 0; i < N; i += piece) {
    const ambit_pack<T, piece> values = *(const ambit_pack<T, piece> *)(from + i);
#pragma unroll
    for (int k = 0; k < piece; k++)
      to[i + k] = values.at[k];
  }
}
/* Those from `first` to `end` only. */
template <int N, typename T> AMBIT_INLINE void ambit_store(T *to, const T *from, int first, int end)
{
  constexpr int piece = N * (int)sizeof(T) > 16 ? 16 / (int)sizeof(T) : N;

  if (end - first == N) {
#pragma unroll
    for (int i = 0; i < N; i += piece) {
      ambit_pack<T, piece> values;
#pragma unroll
      for (int k = 0; k < piece; k++)
        values.at[k] = from[i + k];
      *(ambit_pack<T, piece> *)(to + i) = values;
    }
  } else if (end > first) {
#pragma unroll
    for (int k = 0; k < N; k++)
      if (k >= first && k < end) to[k] = from[k];
  }
}

/* The value that the lane before or after this one has; at the ends of the warp, its own. */
template <typename T> AMBIT_INLINE T ambit_before(T value)
{
  return (T)__shfl_up_sync(0xffffffffu, value, 1);
}
template <typename T> AMBIT_INLINE T ambit_after(T value)
{
  return (T)__shfl_down_sync(0xffffffffu, value, 1);
}

template <typename T> AMBIT_INLINE T ambit_least(T a, T b)
{
  return b < a ? b : a;
}
template <typename T> AMBIT_INLINE T ambit_most(T a, T b)
{
  return b > a ? b : a;
}
/* x, but not under `low` nor over `high`. */
AMBIT_INLINE ambit_i64 ambit_between(ambit_i64 low, ambit_i64 x, ambit_i64 high)
{
  return x < low ? low : x > high ? high : x;
}
