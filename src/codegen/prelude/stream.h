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

/* Those from `first` to `end` only: all at once, or one by one. Every store has a condition of its own and nothing branches. */
template <int N, typename T> AMBIT_INLINE void ambit_store(T *to, const T *from, int first, int end)
{
  constexpr int piece = N * (int)sizeof(T) > 16 ? 16 / (int)sizeof(T) : N;
  const bool whole = end - first == N;
  const int single =
      whole ? 0 : (1 << end) - (1 << first); /* a bit for each; none if end is before first */

#pragma unroll
  for (int i = 0; i < N; i += piece) {
    ambit_pack<T, piece> values;
#pragma unroll
    for (int k = 0; k < piece; k++)
      values.at[k] = from[i + k];
    if (whole) *(ambit_pack<T, piece> *)(to + i) = values;
  }
#pragma unroll
  for (int k = 0; k < N; k++)
    if (end > first && (single >> k & 1)) to[k] = from[k];
}

/* The value that the lane before or after this one has; at the ends of the warp, `end`. */
template <typename T> AMBIT_INLINE T ambit_before(T value, T end)
{
  const T other = (T)__shfl_up_sync(0xffffffffu, value, 1);

  return threadIdx.x == 0 ? end : other;
}
template <typename T> AMBIT_INLINE T ambit_after(T value, T end)
{
  const T other = (T)__shfl_down_sync(0xffffffffu, value, 1);

  return threadIdx.x == 31 ? end : other;
}

/* Every element of an array takes the place of the one before it, the first that of the last. */
template <typename T> AMBIT_INLINE void ambit_assign(T &to, const T &from)
{
  to = from;
}
template <typename T, int N> AMBIT_INLINE void ambit_assign(T (&to)[N], const T (&from)[N])
{
#pragma unroll
  for (int i = 0; i < N; i++)
    ambit_assign(to[i], from[i]);
}
template <typename T, int N> AMBIT_INLINE void ambit_rotate(T (&ring)[N])
{
  T first;

  ambit_assign(first, ring[0]);
#pragma unroll
  for (int i = 1; i < N; i++)
    ambit_assign(ring[i - 1], ring[i]);
  ambit_assign(ring[N - 1], first);
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
AMBIT_INLINE int ambit_between(int low, int x, int high)
{
  return x < low ? low : x > high ? high : x;
}
