/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA: helpers of kernels on strips of a grid. The lanes of a warp own adjacent runs of N
 * cells. */

/* N adjacent values, moved in pieces of up to 16 bytes. */
template <typename T, int N> struct __align__(sizeof(T) * N) ambit_pack
{
  T at[N];
};

/* A load that compilers do not delay in order to save registers: no computation moves before such
 * loads if they are followed by a barrier and a branch. */
template <typename T, int N> AMBIT_INLINE void ambit_now(ambit_pack<T, N> &to, const T *from)
{
#ifdef __CUDACC__
  union {
    ambit_pack<T, N> pack;
    unsigned words[4];
    double wide[2];
    unsigned short half;
  } all;

  if constexpr (sizeof(T) == 8 && N == 2)
    asm volatile("ld.global.v2.f64 {%0, %1}, [%2];"
                 : "=d"(all.wide[0]), "=d"(all.wide[1])
                 : "l"(from));
  else if constexpr (sizeof to == 16)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(all.words[0]), "=r"(all.words[1]), "=r"(all.words[2]), "=r"(all.words[3])
                 : "l"(from));
  else if constexpr (sizeof to == 8)
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(all.words[0]), "=r"(all.words[1])
                 : "l"(from));
  else if constexpr (sizeof to == 4)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(all.words[0]) : "l"(from));
  else if constexpr (sizeof to == 2)
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(all.half) : "l"(from));
  else
    all.pack = *(const ambit_pack<T, N> *)from;
  to = all.pack;
#else
  to = *(const ambit_pack<T, N> *)from;
#endif
}
template <int N, bool NOW = false, typename T> AMBIT_INLINE void ambit_load(T *to, const T *from)
{
  constexpr int piece = N * (int)sizeof(T) > 16 ? 16 / (int)sizeof(T) : N;

#pragma unroll
  for (int i = 0; i < N; i += piece) {
    ambit_pack<T, piece> values;

    if constexpr (NOW)
      ambit_now(values, from + i);
    else
      values = *(const ambit_pack<T, piece> *)(from + i);
#pragma unroll
    for (int k = 0; k < piece; k++)
      to[i + k] = values.at[k];
  }
}
template <int N, typename T> AMBIT_INLINE void ambit_load_now(T *to, const T *from)
{
  ambit_load<N, true>(to, from);
}
/* Copies N values to shared memory without waiting for them; ambit_copied ends a group of copies.
 * After ambit_arrived all groups of this thread but the last N are there. */
template <int N, typename T> AMBIT_INLINE void ambit_copy(T *to, const T *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  constexpr int bytes = N * (int)sizeof(T) < 16 ? N * (int)sizeof(T) : 16;
  const unsigned there = (unsigned)__cvta_generic_to_shared(to);

  if constexpr (bytes < 4) {
    ambit_load<N>(to, from);
  } else if constexpr (bytes < 16) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(there), "l"(from), "n"(bytes)
                 : "memory");
  } else {
#  pragma unroll
    for (int i = 0; i < N; i += 16 / (int)sizeof(T))
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(there + i * (int)sizeof(T)),
                   "l"(from + i)
                   : "memory");
  }
#else
  ambit_load<N>(to, from);
#endif
}
AMBIT_INLINE void ambit_copied()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int N> AMBIT_INLINE void ambit_arrived()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

/* Stores all values if `yes`; compiles to one predicated instruction, without a branch. */
template <int N, typename T> AMBIT_INLINE void ambit_store_all(bool yes, T *to, const T *from)
{
  constexpr int piece = N * (int)sizeof(T) > 16 ? 16 / (int)sizeof(T) : N;

#pragma unroll
  for (int i = 0; i < N; i += piece) {
    ambit_pack<T, piece> values;
#pragma unroll
    for (int k = 0; k < piece; k++)
      values.at[k] = from[i + k];
    if (yes) *(ambit_pack<T, piece> *)(to + i) = values;
  }
}

/* Stores the values whose bit is set: all at once, or one by one. */
template <int N, typename T> AMBIT_INLINE void ambit_store(T *to, const T *from, int bits)
{
  const bool whole = bits == (1 << N) - 1;

  ambit_store_all<N>(whole, to, from);
#pragma unroll
  for (int k = 0; k < N; k++)
    if (!whole && (bits >> k & 1)) to[k] = from[k];
}

/* The same if this warp owns the cells (`own`), without a branch, so that the code after early
 * loads stays one basic block. */
template <typename T, int N>
AMBIT_INLINE void ambit_put_if(bool yes, T *to, const ambit_pack<T, N> &values)
{
  if (yes) *(ambit_pack<T, N> *)to = values;
}
#ifdef __CUDACC__
#  define AMBIT_IF(store) "{ .reg .pred yes; setp.ne.s32 yes, %0, 0; @yes " store " }"
#  define AMBIT_PUT_IF(T, N, store, ...)                                                           \
    AMBIT_INLINE void ambit_put_if(bool yes, T *to, const ambit_pack<T, N> &v)                     \
    {                                                                                              \
      asm volatile(AMBIT_IF(store)::"r"((int)yes), "l"(to), __VA_ARGS__ : "memory");               \
    }
AMBIT_PUT_IF(float, 4, "st.global.v4.f32 [%1], {%2, %3, %4, %5};", "f"(v.at[0]), "f"(v.at[1]),
             "f"(v.at[2]), "f"(v.at[3]))
AMBIT_PUT_IF(float, 1, "st.global.f32 [%1], %2;", "f"(v.at[0]))
AMBIT_PUT_IF(double, 2, "st.global.v2.f64 [%1], {%2, %3};", "d"(v.at[0]), "d"(v.at[1]))
AMBIT_PUT_IF(double, 1, "st.global.f64 [%1], %2;", "d"(v.at[0]))
#endif
template <int N, typename T> AMBIT_INLINE void ambit_values_if(bool yes, T *to, const T *from)
{
  ambit_pack<T, N> values;

#pragma unroll
  for (int k = 0; k < N; k++)
    values.at[k] = from[k];
  ambit_put_if(yes, to, values);
}
template <int N, typename T>
AMBIT_INLINE void ambit_store_if(bool own, T *to, const T *from, int bits)
{
  constexpr int piece = N * (int)sizeof(T) > 16 ? 16 / (int)sizeof(T) : N;
  const bool whole = own && bits == (1 << N) - 1;

#pragma unroll
  for (int i = 0; i < N; i += piece)
    ambit_values_if<piece>(whole, to + i, from + i);
#pragma unroll
  for (int k = 0; k < N; k++)
    ambit_values_if<1>(own && !whole && (bits >> k & 1), to + k, from + k);
}

/* The value of the previous or next lane; `end` at the ends of the warp. */
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

/* ---- strips that overlap: the strategy `fused` ---- */

/* All shared memory of the block, as much as the launch asks for. */
#ifndef AMBIT_SHARED_BYTES
#  define AMBIT_SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]
#endif

/* Moves N values to and from shared memory. */
template <int N, typename T> AMBIT_INLINE void ambit_publish(T *to, const T *from)
{
  ambit_store_all<N>(true, to, from);
}
template <int N, typename T> AMBIT_INLINE void ambit_fetch(T *to, const T *from)
{
  ambit_load<N>(to, from);
}

/* A number that is the same in all lanes of a warp, which compilers learn here: branches on it need
 * no code for some of the lanes. */
AMBIT_FORMULA(int, ambit_of_warp, (int n), __shfl_sync(0xffffffffu, n, 0))

/* The value of the previous or next lane; any value at the ends of the warp. The same in a ring of
 * lanes. */
#define AMBIT_FROM_LANE(name, other)                                                               \
  template <typename T> AMBIT_FORMULA(T, name, (T value), (T)other)
AMBIT_FROM_LANE(ambit_from_before, __shfl_up_sync(0xffffffffu, value, 1))
AMBIT_FROM_LANE(ambit_from_after, __shfl_down_sync(0xffffffffu, value, 1))
AMBIT_FROM_LANE(ambit_around_before, __shfl_sync(0xffffffffu, value, (int)(threadIdx.x + 31) % 32))
AMBIT_FROM_LANE(ambit_around_after, __shfl_sync(0xffffffffu, value, (int)(threadIdx.x + 1) % 32))

/* Takes cells source[j] of those of all lanes that share the row. */
template <int N, typename T> AMBIT_INLINE void ambit_gather(T *row, const int *source, int lanes)
{
  const int lane = threadIdx.x / lanes * lanes;
  T old[N];

#pragma unroll
  for (int j = 0; j < N; j++)
    old[j] = row[j];
#pragma unroll
  for (int j = 0; j < N; j++)
#pragma unroll
    for (int k = 0; k < N; k++) {
      const T other = (T)__shfl_sync(0xffffffffu, old[k], lane + source[j] / N);

      if (source[j] % N == k) row[j] = other;
    }
}

/* ---- tiles that stay where they are: the strategy `persistent` ---- */

/* Waits for other blocks. */
#ifndef AMBIT_PAUSE
#  define AMBIT_PAUSE
#endif

/* The same number, which compilers take for another one: what depends on it is computed anew, and
 * keeps no registers meanwhile. */
AMBIT_INLINE int ambit_again(int n)
{
#ifdef __CUDACC__
  asm volatile("" : "+r"(n));
#endif
  return n;
}

/* The cells of the grid, of a tile, and beside it, along three axes, of which the first has one
 * cell in two dimensions. Along the row they are counted in units of U cells, which tiles do not
 * divide: those of a lane, or single ones. A tile has at most `rows` rows, with those beside it. */
struct ambit_tile {
  int first[3], end[3], from[3], till[3], halo[3];
  bool periodic[3];
  int rows;
};
AMBIT_FORMULA(bool, ambit_owns, (const ambit_tile &t, int axis, int at),
              at >= t.from[axis] && at < t.till[axis])
AMBIT_FORMULA(bool, ambit_sends, (const ambit_tile &t, int axis, int at),
              at < t.from[axis] + t.halo[axis] || at >= t.till[axis] - t.halo[axis])
AMBIT_FORMULA(bool, ambit_sees, (const ambit_tile &t, int axis, int at),
              at >= t.from[axis] - t.halo[axis] && at < t.till[axis] + t.halo[axis] &&
                  (t.periodic[axis] || (at >= t.first[axis] && at < t.end[axis])))
AMBIT_INLINE int ambit_place(const ambit_tile &t, int axis, int at)
{
  const int n = at - t.first[axis];

  return t.periodic[axis] ? ambit_wrap(n, t.end[axis] - t.first[axis]) : n;
}

/* Rows of the grid, and the number of one of them. */
AMBIT_FORMULA(ambit_i64, ambit_lines, (const ambit_tile &t),
              (ambit_i64)(t.end[0] - t.first[0]) * (t.end[1] - t.first[1]))
AMBIT_FORMULA(int, ambit_line, (const ambit_tile &t, int plane, int row),
              ambit_place(t, 0, plane) * (t.end[1] - t.first[1]) + ambit_place(t, 1, row))
/* A lane has N units of a row. Among the letters of a row, every N-th unit comes first, then those
 * after them, and so on: the lanes of a warp access adjacent ones. */
template <int N> AMBIT_INLINE int ambit_column(const ambit_tile &t, int unit)
{
  const int at = ambit_place(t, 2, unit);

  return at / N + at % N * ((t.end[2] - t.first[2] + N - 1) / N);
}

/* Whether a tile has to send some of a row, or to take some from others. */
AMBIT_FORMULA(bool, ambit_owns_row, (const ambit_tile &t, int plane, int row),
              ambit_owns(t, 0, plane) && ambit_owns(t, 1, row))
AMBIT_FORMULA(bool, ambit_sends_row, (const ambit_tile &t, int plane, int row),
              ambit_owns_row(t, plane, row) &&
                  (t.halo[2] || ambit_sends(t, 0, plane) || ambit_sends(t, 1, row)))
AMBIT_FORMULA(bool, ambit_takes_row, (const ambit_tile &t, int plane, int row),
              ambit_sees(t, 0, plane) && ambit_sees(t, 1, row) &&
                  (t.halo[2] || !ambit_owns_row(t, plane, row)))

/* U values as words of 32 bits, each of which travels with the number of the exchange. */
template <int U, typename T> struct ambit_letter {
  enum { WORDS = (sizeof(T) + 3) / 4, ALL = U * WORDS };
  union text {
    unsigned words[WORDS];
    T value;
  };
};
/* Two words in one access, each of which is whole. */
AMBIT_INLINE void ambit_post(ambit_u64 *to, ambit_u64 a, ambit_u64 b)
{
#ifdef __CUDACC__
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(a), "l"(b) : "memory");
#else
  to[0] = a;
  to[1] = b;
#endif
}
AMBIT_INLINE void ambit_look(ambit_u64 *to, const ambit_u64 *from)
{
#ifdef __CUDACC__
  asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(to[0]), "=l"(to[1])
               : "l"(from)
               : "memory");
#else
  to[0] = from[0];
  to[1] = from[1];
#endif
}

/* The letters of a value: `box`, with rows of `wide`. A lane sends those of its N units of a row
 * that others await; SURE: there are some. */
template <int N, int U, bool SURE, typename T>
AMBIT_INLINE void ambit_send(ambit_u64 *box, int wide, const ambit_tile &t, const T *values,
                             int plane, int row, int unit, unsigned round)
{
  typedef ambit_letter<U, T> letter;
  const bool own = SURE || ambit_owns_row(t, plane, row);
  const bool end = (SURE && !t.halo[2]) || ambit_sends(t, 0, plane) || ambit_sends(t, 1, row);
  ambit_u64 *const to = box + (ambit_i64)ambit_line(t, plane, row) * wide * letter::ALL;

#pragma unroll
  for (int g = 0; g < N; g++) {
    ambit_u64 words[letter::ALL];
    ambit_u64 *const at = to + (ambit_i64)ambit_column<N>(t, unit + g) * letter::ALL;

#pragma unroll
    for (int k = 0; k < U; k++) {
      typename letter::text text;

      text.words[0] = 0;
      text.value = values[g * U + k];
#pragma unroll
      for (int i = 0; i < letter::WORDS; i++)
        words[k * letter::WORDS + i] = (ambit_u64)round << 32 | text.words[i];
    }
    if (!(own && ambit_owns(t, 2, unit + g) && (end || ambit_sends(t, 2, unit + g)))) continue;
#pragma unroll
    for (int i = 0; i < letter::ALL / 2; i++)
      ambit_post(at + 2 * i, words[2 * i], words[2 * i + 1]);
    if (letter::ALL % 2) *(volatile ambit_u64 *)at = words[0];
  }
}

/* The units that a tile awaits are numbered: first whole rows, of 32 N units in the order of
 * letters, namely those of the planes before and after its own, and those before and after its rows
 * in each of its planes; then the units beside each of its own rows. */
AMBIT_FORMULA(int, ambit_planes, (const ambit_tile &t), t.till[0] - t.from[0])
/* Whole rows in other planes; in all. */
AMBIT_FORMULA(int, ambit_rows_apart, (const ambit_tile &t), 2 * t.halo[0] * t.rows)
AMBIT_FORMULA(int, ambit_rows_beside, (const ambit_tile &t),
              ambit_rows_apart(t) + ambit_planes(t) * 2 * t.halo[1])
/* The n-th cell along an axis of those before and after a tile. */
AMBIT_FORMULA(int, ambit_outer, (const ambit_tile &t, int axis, int n),
              (n < t.halo[axis] ? t.from[axis] : t.till[axis]) + n - t.halo[axis])
/* All numbers. */
template <int N> AMBIT_INLINE int ambit_numbers(const ambit_tile &t)
{
  return ambit_rows_beside(t) * 32 * N +
         ((ambit_planes(t) - 1) * (t.rows - 2 * t.halo[1]) + t.till[1] - t.from[1]) * 2 * t.halo[2];
}
/* The quotient of n and a number of rows per plane; 0 in two dimensions. */
AMBIT_FORMULA(int, ambit_plane_of, (const ambit_tile &t, int n, int rows),
              ambit_planes(t) == 1 || rows == 0 ? 0 : n / rows)
/* The unit with a number. false: there is none. */
struct ambit_spot {
  int plane, row, unit;
};
template <int N> AMBIT_INLINE bool ambit_numbered(const ambit_tile &t, int n, ambit_spot &s)
{
  const int beside = n - ambit_rows_beside(t) * 32 * N, sides = t.halo[2] ? 2 * t.halo[2] : 1;
  const int r = n / (32 * N) - ambit_rows_apart(t), c = n % 32 * N + n / 32 % N;
  const int each = beside < 0 ? 2 * t.halo[1] : t.rows - 2 * t.halo[1];
  const int own = beside < 0 ? r : beside / sides, p = ambit_plane_of(t, own, each);

  s.plane = t.from[0] + p;
  s.row = own - p * each;
  s.unit = t.from[2] - t.halo[2] + c;
  if (t.halo[0] && r < 0) {
    s.plane = ambit_outer(t, 0, n / (32 * N) / t.rows);
    s.row = t.from[1] - t.halo[1] + n / (32 * N) % t.rows;
  } else if (beside < 0) {
    s.row = ambit_outer(t, 1, s.row);
  } else {
    s.row += t.from[1];
    s.unit = ambit_outer(t, 2, beside % sides);
  }
  if (beside >= 0 && s.row >= t.till[1]) return false;
  return ambit_sees(t, 0, s.plane) && ambit_sees(t, 1, s.row) && ambit_sees(t, 2, s.unit);
}
/* The place of its letter. */
template <int N>
AMBIT_FORMULA(int, ambit_letter_at, (const ambit_tile &t, int wide, const ambit_spot &s),
              ambit_line(t, s.plane, s.row) * wide + ambit_column<N>(t, s.unit))

/* Waits for SOME letters of a value, `at` these places, and leaves them in `slot`s; place -1: there
 * is none. */
template <int U, int SOME, typename T>
AMBIT_INLINE
    void ambit_await(T *to, const ambit_u64 *box, const int *at, const int *slot, unsigned round)
{
  typedef ambit_letter<U, T> letter;
  enum { ALL = letter::ALL };
  ambit_u64 got[SOME][ALL];
  bool late;

  do {
    late = false;
#pragma unroll
    for (int k = 0; k < SOME; k++)
      if (at[k] >= 0) {
        const ambit_u64 *const from = box + (ambit_i64)at[k] * ALL;

#pragma unroll
        for (int i = 0; i < ALL / 2; i++)
          ambit_look(&got[k][2 * i], from + 2 * i);
        if (ALL % 2) got[k][0] = *(const volatile ambit_u64 *)from;
      }
#pragma unroll
    for (int k = 0; k < SOME; k++)
#pragma unroll
      for (int i = 0; i < ALL; i++)
        if (at[k] >= 0 && (unsigned)(got[k][i] >> 32) != round) late = true;
    if (late) AMBIT_PAUSE;
  } while (late);
#pragma unroll
  for (int k = 0; k < SOME; k++) {
    T values[U];

#pragma unroll
    for (int c = 0; c < U; c++) {
      typename letter::text text;

#pragma unroll
      for (int i = 0; i < letter::WORDS; i++)
        text.words[i] = (unsigned)got[k][c * letter::WORDS + i];
      values[c] = text.value;
    }
    ambit_store_all<U>(at[k] >= 0, to + slot[k], values);
  }
}

/* The places of SOME letters, and the slots of their cells: in two dimensions in the order of their
 * numbers, in a brick ROWS rows of a group in each of PLANES planes, group by group. */
template <int N, int U, int THREADS, int SOME, int PLANES = 0, int ROWS = 1>
AMBIT_INLINE void ambit_find(int *at, int *slot, const ambit_tile &t, int wide, int thread,
                             int level = 0, int line = 0, int column = 0)
{
  const int all = ambit_numbers<N>(t);

#pragma unroll
  for (int k = 0; k < SOME; k++) {
    const int n = thread + k * THREADS;
    ambit_spot s = {0, 0, 0};
    const bool is = n < all && ambit_numbered<N>(t, n, s);
    const int row = s.row - line;

    at[k] = is ? ambit_letter_at<N>(t, wide, s) : -1;
    slot[k] = PLANES ? ((row / ROWS * PLANES + s.plane - level) * ROWS + row % ROWS) * 32 * N * U +
                           s.unit * U - column
                     : n * U;
  }
}

/* In two dimensions. All THREADS of a block fetch the letters of a value, SOME at a time. */
template <int N, int U, int THREADS, int SOME, typename T>
AMBIT_INLINE void ambit_receive(T *to, const ambit_u64 *box, int wide, const ambit_tile &t,
                                int thread, unsigned round)
{
#pragma unroll 1
  for (int n = thread; n < ambit_numbers<N>(t); n += SOME * THREADS) {
    int at[SOME], slot[SOME];

    ambit_find<N, U, THREADS, SOME>(at, slot, t, wide, n);
    ambit_await<U, SOME>(to, box, at, slot, round);
  }
}
/* The number of a unit. */
template <int N> AMBIT_INLINE int ambit_number(const ambit_tile &t, int row, int unit)
{
  const bool before = row < t.from[1];
  const int at = unit - t.from[2] + t.halo[2];

  if (before || row >= t.till[1])
    return (before ? row - t.from[1] + t.halo[1] : row - t.till[1] + t.halo[1]) * 32 * N + at / N +
           at % N * 32;
  return 2 * t.halo[1] * 32 * N + (row - t.from[1]) * 2 * t.halo[2] +
         (unit < t.from[2] ? at : unit - t.till[2] + t.halo[2]);
}
/* The awaited ones of a lane's units of a row. */
template <int N, int U, typename T>
AMBIT_INLINE void ambit_take(T *to, const T *from, const ambit_tile &t, int row, int unit)
{
  const bool sees = ambit_sees(t, 1, row), own = ambit_owns(t, 1, row);

#pragma unroll
  for (int g = 0; g < N; g++)
    if (sees && ambit_sees(t, 2, unit + g) && !(own && ambit_owns(t, 2, unit + g))) {
      const T *const at = from + ambit_number<N>(t, row, unit + g) * U;

#pragma unroll
      for (int k = 0; k < U; k++)
        to[g * U + k] = at[k];
    }
}

/* In three dimensions a lane takes the awaited ones of its units of a row from their slots. */
template <int N, int U, typename T>
AMBIT_INLINE void ambit_take_row(T *to, const T *from, const ambit_tile &t, int plane, int row,
                                 int unit)
{
  const bool own = t.halo[2] && ambit_owns_row(t, plane, row);

#pragma unroll
  for (int g = 0; g < N; g++)
    if (ambit_sees(t, 2, unit + g) && !(own && ambit_owns(t, 2, unit + g)))
      ambit_load<U>(to + g * U, from + g * U);
}
