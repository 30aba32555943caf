/* CUDA: names for what prelude/gpu.h and the kernels below use. No header is needed: NVRTC has none. */
#define AMBIT_INLINE                    static __device__ __forceinline__
#define AMBIT_THREADS(x, y, z)          __launch_bounds__((x) * (y) * (z))
#define AMBIT_RESIDENT(x, y, z, blocks) __launch_bounds__((x) * (y) * (z), blocks)
#define AMBIT_HAS_DOUBLE                1

typedef unsigned int ambit_u32;
typedef long long ambit_i64;
typedef unsigned long long ambit_u64;
