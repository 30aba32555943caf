/* SPDX-License-Identifier: BSD-3-Clause */
/* warp.h - CUDA kernels on the CPU: the definitions to compile a kernel as C++17, and a launch to
 * run it.
 *
 * The threads of a block are fibers that take turns; a fiber yields at exchanges between lanes and
 * at barriers. Blocks run one after the other, or all together if they wait for each other. Every
 * lane of a warp must reach the same exchanges in the same order: a launch returns false if one
 * does not.
 */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n)             __attribute__((aligned(n)))
#define __shared__               static
#define __constant__             static
#define AMBIT_SHARED_BYTES(name) unsigned char *const name = warp::shared_bytes()
#define AMBIT_PAUSE              warp::give_way()

struct warp_place {
  unsigned x, y, z;
};
static warp_place threadIdx, blockIdx, gridDim;

namespace warp
{

enum { LANES = 32, STACK = 1 << 16, SLOTS = 4, SHARED = 1 << 18 };

struct fiber {
  ucontext_t context; /* to start it */
  jmp_buf place;      /* to go on: this needs no system call */
  bool started, done;
  unsigned exchanges;             /* so far */
  unsigned char values[SLOTS][8]; /* values of the last exchanges */
};
struct block {
  warp_place place;
  int arrived, barriers;
  alignas(16) unsigned char shared[SHARED];
};
static fiber *fibers;
static block *running;        /* the blocks that run together */
static unsigned char *stacks; /* of fibers */
static ucontext_t outside;
static int current, count, all; /* fiber; threads of a block; fibers */
static unsigned threads_x;
static const long long *arguments;
static void (*kernel)(const long long *);

static block &here()
{
  return running[current / count];
}
static unsigned char *shared_bytes()
{
  return here().shared;
}

static void enter(int i)
{
  const unsigned thread = (unsigned)(i % count);

  current = i;
  threadIdx = {thread % threads_x, thread / threads_x, 0};
  blockIdx = here().place;
}

[[noreturn]] static void resume(int i)
{
  enter(i);
  if (fibers[i].started) _longjmp(fibers[i].place, 1);
  fibers[i].started = true;
  setcontext(&fibers[i].context);
  __builtin_unreachable();
}

/* Lets all other fibers run as far as they can. */
static void give_way()
{
  const int me = current;
  int next = me;

  do
    next = (next + 1) % all;
  while (fibers[next].done && next != me);
  if (next != me && !_setjmp(fibers[me].place)) resume(next);
}

static void body()
{
  kernel(arguments);
  fibers[current].done = true;
  for (int i = 0; i < all; i++)
    if (!fibers[i].done) resume(i);
  setcontext(&outside);
}

template <typename T> T exchange(T value, int lane)
{
  fiber &f = fibers[current];
  const unsigned slot = f.exchanges++ % SLOTS;
  const int from = current / LANES * LANES + lane;
  T result;

  memcpy(f.values[slot], &value, sizeof value);
  give_way();
  memcpy(&result, fibers[from].values[slot], sizeof result);
  return result;
}

/* Runs n blocks together. */
static bool run_blocks(int n)
{
  all = n * count;
  for (int i = 0; i < n; i++)
    running[i].arrived = running[i].barriers = 0;
  for (int i = 0; i < all; i++) {
    fiber &f = fibers[i];

    f.started = f.done = false;
    f.exchanges = 0;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = stacks + (size_t)i * STACK;
    f.context.uc_stack.ss_size = STACK;
    f.context.uc_link = nullptr;
    makecontext(&f.context, body, 0);
  }
  enter(0);
  fibers[0].started = true;
  swapcontext(&outside, &fibers[0].context);
  for (int i = 0; i < all; i++)
    if (fibers[i].exchanges != fibers[i / LANES * LANES].exchanges) return false;
  return true;
}

template <size_t... I> struct indices {
};
template <size_t N, size_t... I> struct below : below<N - 1, N - 1, I...> {
};
template <size_t... I> struct below<0, I...> : indices<I...> {
};
/* A parameter from its eight bytes: all bytes of a double count, the first ones of a float. */
template <typename P> struct argument {
  static P of(const long long &bytes)
  {
    return (P)bytes;
  }
};
template <typename P> struct real_argument {
  static P of(const long long &bytes)
  {
    P value;

    memcpy(&value, &bytes, sizeof value);
    return value;
  }
};
template <> struct argument<float> : real_argument<float> {
};
template <> struct argument<double> : real_argument<double> {
};
template <typename... P, size_t... I>
void call_with(void (*f)(P...), const long long *a, indices<I...>)
{
  f(argument<P>::of(a[I])...);
}
template <typename... P> void call(void (*f)(P...), const long long *a)
{
  call_with(f, a, below<sizeof...(P)>());
}

/* Runs all blocks. All parameters have eight bytes. */
static bool launch(void (*f)(const long long *), const long long *blocks, const int *threads,
                   const long long *args, bool together)
{
  const int n = together ? (int)(blocks[0] * blocks[1] * blocks[2]) : 1;
  bool good = true;
  int next = 0;

  kernel = f;
  arguments = args;
  count = threads[0] * threads[1];
  threads_x = (unsigned)threads[0];
  gridDim = {(unsigned)blocks[0], (unsigned)blocks[1], (unsigned)blocks[2]};
  fibers = (fiber *)malloc((size_t)n * count * sizeof(fiber));
  stacks = (unsigned char *)malloc((size_t)n * count * STACK);
  running = (block *)malloc((size_t)n * sizeof(block));
  for (unsigned z = 0; z < gridDim.z; z++)
    for (unsigned y = 0; y < gridDim.y; y++)
      for (unsigned x = 0; x < gridDim.x; x++) {
        running[next].place = {x, y, z};
        if (++next < n) continue;
        good = run_blocks(n) && good;
        next = 0;
      }
  free(fibers);
  free(stacks);
  free(running);
  return good;
}

} // namespace warp

template <typename T> T __shfl_up_sync(unsigned, T value, int n)
{
  const int lane = warp::current % warp::LANES;

  return warp::exchange(value, lane >= n ? lane - n : lane);
}
template <typename T> T __shfl_sync(unsigned, T value, int lane)
{
  return warp::exchange(value, lane);
}
template <typename T> T __shfl_down_sync(unsigned, T value, int n)
{
  const int lane = warp::current % warp::LANES;

  return warp::exchange(value, lane + n < warp::LANES ? lane + n : lane);
}
static inline int __popc(unsigned bits)
{
  return __builtin_popcount(bits);
}
static inline void __syncwarp()
{
  __shfl_sync(0xffffffffu, 0, 0);
}

static inline void __syncthreads()
{
  warp::block &b = warp::here();
  const int now = b.barriers;

  if (++b.arrived == warp::count) {
    b.arrived = 0;
    b.barriers++;
  }
  while (b.barriers == now)
    warp::give_way();
}
/* Instructions of a GPU: those that hide a value from its compiler, and conversions of halves,
 * which no kernel here uses. */
#define asm(...)

static inline float __int_as_float(int bits)
{
  float x;

  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline float __uint_as_float(unsigned bits)
{
  return __int_as_float((int)bits);
}
static inline unsigned __float_as_uint(float x)
{
  unsigned bits;

  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline long long __double_as_longlong(double x)
{
  long long bits;

  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline float warp_half_to_float(unsigned short bits)
{
  _Float16 half;

  memcpy(&half, &bits, sizeof half);
  return (float)half;
}
static inline unsigned short warp_float_to_half(float x)
{
  const _Float16 half = (_Float16)x;
  unsigned short bits;

  memcpy(&bits, &half, sizeof bits);
  return bits;
}
/* They need no atomic operation, as fibers yield only at barriers and exchanges. */
#define WARP_ATOMIC(name, value)                                                                   \
  template <typename T, typename N> T name(T *at, N by)                                            \
  {                                                                                                \
    const T old = *at, n = (T)by;                                                                  \
                                                                                                   \
    *at = value;                                                                                   \
    return old;                                                                                    \
  }
WARP_ATOMIC(atomicAdd, (T)(old + n))
WARP_ATOMIC(atomicExch, n)
WARP_ATOMIC(atomicMin, old < n ? old : n)
WARP_ATOMIC(atomicMax, old > n ? old : n)
static inline double __longlong_as_double(long long bits)
{
  double x;

  memcpy(&x, &bits, sizeof x);
  return x;
}
