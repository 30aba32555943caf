/* SPDX-License-Identifier: BSD-3-Clause */
/* Checked kernels: each thread keeps the first fault among its cells, in row-major order, and at
 * the end stores it in the record, which keeps the fault of the lowest cell. A few definitions per
 * language, then the same text for all. */
#if defined(__OPENCL_VERSION__)
#  define AMBIT_GLOBAL     global
#  define AMBIT_TAKE(lock) (atomic_xchg((volatile global int *)(lock), 1) == 0)
#  define AMBIT_GIVE(lock) atomic_xchg((volatile global int *)(lock), 0)
#  define AMBIT_FENCED()   mem_fence(CLK_GLOBAL_MEM_FENCE)
#elif defined(__CUDACC__)
#  define AMBIT_GLOBAL
#  define AMBIT_TAKE(lock) (atomicExch((int *)(lock), 1) == 0)
#  define AMBIT_GIVE(lock) atomicExch((int *)(lock), 0)
#  define AMBIT_FENCED()   __threadfence()
#else
#  define AMBIT_GLOBAL
#  define AMBIT_TAKE(lock) (__atomic_exchange_n((int *)(lock), 1, __ATOMIC_ACQUIRE) == 0)
#  define AMBIT_GIVE(lock) __atomic_store_n((int *)(lock), 0, __ATOMIC_RELEASE)
#  define AMBIT_FENCED()   ((void)0)
#endif

/* The state of a thread: its current cell; after a fault, that fault. */
typedef struct ambit_fault {
  int kind, access, set, source, poison;
  ambit_i64 cell[AMBIT_FAULT_AXES];
} ambit_fault;

AMBIT_INLINE void ambit_fault_begin(ambit_fault *f)
{
  f->kind = 0;
  f->access = f->set = f->poison = 0;
  f->source = -1;
  for (int d = 0; d < AMBIT_FAULT_AXES; d++)
    f->cell[d] = 0;
}

/* Checks a value read into an expression, and a value about to be written. The checks use the bits,
 * independent of the compiler's treatment of NaN. Operands are evaluated in any order: of several
 * NaN read, the one with the lowest access number is recorded. */
#define AMBIT_WATCH(name, T, bits, infinity, sign, its_poison)                                     \
  AMBIT_INLINE T ambit_use_##name(ambit_fault *f, T x, int access)                                 \
  {                                                                                                \
    if (!f->kind && (f->source < 0 || access < f->source) && (bits(x) & ~sign) > infinity) {       \
      f->source = access;                                                                          \
      f->poison = bits(x) == its_poison;                                                           \
    }                                                                                              \
    return x;                                                                                      \
  }                                                                                                \
  AMBIT_INLINE void ambit_test_##name(ambit_fault *f, T x, int set, int access)                    \
  {                                                                                                \
    if (f->kind || !set || (bits(x) & ~sign) <= infinity) return;                                  \
    f->kind = AMBIT_FAULT_NAN;                                                                     \
    f->access = access;                                                                            \
    f->set = set;                                                                                  \
  }
#define AMBIT_BITS_F16(x) (x)
AMBIT_WATCH(f16, ambit_f16, AMBIT_BITS_F16, 0x7c00u, 0x8000u, AMBIT_POISON_F16)
AMBIT_WATCH(bf16, ambit_f16, AMBIT_BITS_F16, 0x7f80u, 0x8000u, AMBIT_POISON_BF16)
AMBIT_WATCH(f32, float, AMBIT_BITS_F32, 0x7f800000u, 0x80000000u, AMBIT_POISON_F32)
#if AMBIT_HAS_DOUBLE
AMBIT_WATCH(f64, double, AMBIT_BITS_F64, 0x7ff0000000000000ul, 0x8000000000000000ul,
            AMBIT_POISON_F64)
#endif

/* Keeps the fault of the lower cell: those of a sparse grid come in any order. */
AMBIT_INLINE void ambit_fault_keep(ambit_fault *first, const ambit_fault *f)
{
  int d = 0;

  if (!f->kind) return;
  while (d < AMBIT_FAULT_AXES - 1 && f->cell[d] == first->cell[d])
    d++;
  if (!first->kind || f->cell[d] < first->cell[d]) *first = *f;
}

AMBIT_INLINE int ambit_fault_is_first(const ambit_fault *f, AMBIT_GLOBAL volatile ambit_i64 *faults)
{
  if (!faults[AMBIT_FAULT_KIND]) return 1;
  for (int d = 0; d < AMBIT_FAULT_AXES; d++)
    if (f->cell[d] != faults[AMBIT_FAULT_CELL + d])
      return f->cell[d] < faults[AMBIT_FAULT_CELL + d];
  return 0;
}

AMBIT_INLINE void ambit_fault_store(const ambit_fault *f, AMBIT_GLOBAL volatile ambit_i64 *faults)
{
  faults[AMBIT_FAULT_KIND] = f->kind;
  faults[AMBIT_FAULT_ACCESS] = f->access;
  faults[AMBIT_FAULT_SET] = f->set;
  faults[AMBIT_FAULT_SOURCE] = f->source;
  faults[AMBIT_FAULT_POISON] = f->poison;
  for (int d = 0; d < AMBIT_FAULT_AXES; d++)
    faults[AMBIT_FAULT_CELL + d] = f->cell[d];
}

/* The lock is released in the same iteration of the loop; threads in lockstep would deadlock
 * otherwise. */
AMBIT_INLINE void ambit_fault_leave(const ambit_fault *f, AMBIT_GLOBAL volatile ambit_i64 *faults)
{
  int waits = f->kind != 0;

  while (waits)
    if (AMBIT_TAKE(faults)) {
      AMBIT_FENCED();
      if (ambit_fault_is_first(f, faults)) ambit_fault_store(f, faults);
      AMBIT_FENCED();
      AMBIT_GIVE(faults);
      waits = 0;
    }
}
