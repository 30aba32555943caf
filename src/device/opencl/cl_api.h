/* SPDX-License-Identifier: BSD-3-Clause */
/* cl_api.h - the part of OpenCL 1.2 used here, written from the specification.
 *
 * The library is loaded at run time, and none of its headers is needed to build. Every function is
 * one line of AMBIT__CL_MAP with its true prototype; the table of pointers is made from it.
 */
#ifndef AMBIT_DEVICE_OPENCL_CL_API_H
#define AMBIT_DEVICE_OPENCL_CL_API_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint, cl_bool;
typedef uint64_t cl_ulong, cl_bitfield;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

/* Codes by name, for messages: all that OpenCL 1.2 and the loader can return. */
#define AMBIT__CL_CODE_MAP(X)                                                                      \
  X(SUCCESS, 0)                                                                                    \
  X(DEVICE_NOT_FOUND, -1)                                                                          \
  X(DEVICE_NOT_AVAILABLE, -2)                                                                      \
  X(COMPILER_NOT_AVAILABLE, -3)                                                                    \
  X(MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                             \
  X(OUT_OF_RESOURCES, -5)                                                                          \
  X(OUT_OF_HOST_MEMORY, -6)                                                                        \
  X(PROFILING_INFO_NOT_AVAILABLE, -7)                                                              \
  X(MEM_COPY_OVERLAP, -8)                                                                          \
  X(BUILD_PROGRAM_FAILURE, -11)                                                                    \
  X(MAP_FAILURE, -12)                                                                              \
  X(MISALIGNED_SUB_BUFFER_OFFSET, -13)                                                             \
  X(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14)                                                \
  X(COMPILE_PROGRAM_FAILURE, -15)                                                                  \
  X(LINKER_NOT_AVAILABLE, -16)                                                                     \
  X(LINK_PROGRAM_FAILURE, -17)                                                                     \
  X(INVALID_VALUE, -30)                                                                            \
  X(INVALID_DEVICE_TYPE, -31)                                                                      \
  X(INVALID_PLATFORM, -32)                                                                         \
  X(INVALID_DEVICE, -33)                                                                           \
  X(INVALID_CONTEXT, -34)                                                                          \
  X(INVALID_QUEUE_PROPERTIES, -35)                                                                 \
  X(INVALID_COMMAND_QUEUE, -36)                                                                    \
  X(INVALID_HOST_PTR, -37)                                                                         \
  X(INVALID_MEM_OBJECT, -38)                                                                       \
  X(INVALID_BINARY, -42)                                                                           \
  X(INVALID_BUILD_OPTIONS, -43)                                                                    \
  X(INVALID_PROGRAM, -44)                                                                          \
  X(INVALID_PROGRAM_EXECUTABLE, -45)                                                               \
  X(INVALID_KERNEL_NAME, -46)                                                                      \
  X(INVALID_KERNEL_DEFINITION, -47)                                                                \
  X(INVALID_KERNEL, -48)                                                                           \
  X(INVALID_ARG_INDEX, -49)                                                                        \
  X(INVALID_ARG_VALUE, -50)                                                                        \
  X(INVALID_ARG_SIZE, -51)                                                                         \
  X(INVALID_KERNEL_ARGS, -52)                                                                      \
  X(INVALID_WORK_DIMENSION, -53)                                                                   \
  X(INVALID_WORK_GROUP_SIZE, -54)                                                                  \
  X(INVALID_WORK_ITEM_SIZE, -55)                                                                   \
  X(INVALID_GLOBAL_OFFSET, -56)                                                                    \
  X(INVALID_EVENT_WAIT_LIST, -57)                                                                  \
  X(INVALID_EVENT, -58)                                                                            \
  X(INVALID_OPERATION, -59)                                                                        \
  X(INVALID_BUFFER_SIZE, -61)                                                                      \
  X(INVALID_GLOBAL_WORK_SIZE, -63)                                                                 \
  X(INVALID_PROPERTY, -64)                                                                         \
  X(PLATFORM_NOT_FOUND_KHR, -1001)

enum {
#define X(name, value) CL_##name = value,
  AMBIT__CL_CODE_MAP(X)
#undef X
};

enum {
  CL_FALSE = 0,
  CL_TRUE = 1,
  /* kinds of devices, a bit each */
  CL_DEVICE_TYPE_CPU = 1 << 1,
  CL_DEVICE_TYPE_GPU = 1 << 2,
  CL_DEVICE_TYPE_ACCELERATOR = 1 << 3,
  /* clGetPlatformInfo */
  CL_PLATFORM_VERSION = 0x0901,
  CL_PLATFORM_NAME = 0x0902,
  /* clGetDeviceInfo */
  CL_DEVICE_TYPE = 0x1000,
  CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
  CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
  CL_DEVICE_MAX_PARAMETER_SIZE = 0x1017,
  CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
  CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101E,
  CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
  CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
  CL_DEVICE_AVAILABLE = 0x1027,
  CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
  CL_DEVICE_NAME = 0x102B,
  CL_DRIVER_VERSION = 0x102D,
  CL_DEVICE_VERSION = 0x102F,
  CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
  CL_DEVICE_EXTENSIONS = 0x1030,
  CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV = 0x4000, /* cl_nv_device_attribute_query */
  /* of CL_DEVICE_SINGLE_FP_CONFIG, a bit each */
  CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,
  /* the rest */
  CL_CONTEXT_PLATFORM = 0x1084,
  CL_MEM_READ_WRITE = 1 << 0,
  CL_MEM_ALLOC_HOST_PTR = 1 << 4,
  CL_MAP_READ = 1 << 0,
  CL_MAP_WRITE = 1 << 1,
  CL_PROGRAM_BINARY_SIZES = 0x1165,
  CL_PROGRAM_BINARIES = 0x1166,
  CL_PROGRAM_BUILD_LOG = 0x1183,
  CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
  CL_COMPLETE = 0
};

/* result, name, parameters */
#define AMBIT__CL_MAP(X)                                                                           \
  X(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                              \
  X(cl_int, clGetPlatformInfo, (cl_platform_id, cl_uint, size_t, void *, size_t *))                \
  X(cl_int, clGetDeviceIDs, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *))     \
  X(cl_int, clGetDeviceInfo, (cl_device_id, cl_uint, size_t, void *, size_t *))                    \
  X(cl_context, clCreateContext,                                                                   \
    (const intptr_t *, cl_uint, const cl_device_id *,                                              \
     void (*)(const char *, const void *, size_t, void *), void *, cl_int *))                      \
  X(cl_int, clReleaseContext, (cl_context))                                                        \
  X(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_bitfield, cl_int *))     \
  X(cl_int, clReleaseCommandQueue, (cl_command_queue))                                             \
  X(cl_int, clFlush, (cl_command_queue))                                                           \
  X(cl_int, clFinish, (cl_command_queue))                                                          \
  X(cl_mem, clCreateBuffer, (cl_context, cl_bitfield, size_t, void *, cl_int *))                   \
  X(cl_int, clReleaseMemObject, (cl_mem))                                                          \
  X(void *, clEnqueueMapBuffer,                                                                    \
    (cl_command_queue, cl_mem, cl_bool, cl_bitfield, size_t, size_t, cl_uint, const cl_event *,    \
     cl_event *, cl_int *))                                                                        \
  X(cl_int, clEnqueueUnmapMemObject,                                                               \
    (cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *))                     \
  X(cl_int, clEnqueueReadBuffer,                                                                   \
    (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,         \
     cl_event *))                                                                                  \
  X(cl_int, clEnqueueWriteBuffer,                                                                  \
    (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *,   \
     cl_event *))                                                                                  \
  X(cl_int, clEnqueueCopyBuffer,                                                                   \
    (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *,          \
     cl_event *))                                                                                  \
  X(cl_int, clEnqueueFillBuffer,                                                                   \
    (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *,    \
     cl_event *))                                                                                  \
  X(cl_program, clCreateProgramWithSource,                                                         \
    (cl_context, cl_uint, const char **, const size_t *, cl_int *))                                \
  X(cl_program, clCreateProgramWithBinary,                                                         \
    (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *,  \
     cl_int *))                                                                                    \
  X(cl_int, clBuildProgram,                                                                        \
    (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *),        \
     void *))                                                                                      \
  X(cl_int, clGetProgramInfo, (cl_program, cl_uint, size_t, void *, size_t *))                     \
  X(cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *))  \
  X(cl_int, clRetainProgram, (cl_program))                                                         \
  X(cl_int, clReleaseProgram, (cl_program))                                                        \
  X(cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *))                               \
  X(cl_int, clReleaseKernel, (cl_kernel))                                                          \
  X(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                            \
  X(cl_int, clEnqueueNDRangeKernel,                                                                \
    (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *,         \
     cl_uint, const cl_event *, cl_event *))                                                       \
  X(cl_int, clEnqueueMarkerWithWaitList,                                                           \
    (cl_command_queue, cl_uint, const cl_event *, cl_event *))                                     \
  X(cl_int, clEnqueueBarrierWithWaitList,                                                          \
    (cl_command_queue, cl_uint, const cl_event *, cl_event *))                                     \
  X(cl_int, clWaitForEvents, (cl_uint, const cl_event *))                                          \
  X(cl_int, clGetEventInfo, (cl_event, cl_uint, size_t, void *, size_t *))                         \
  X(cl_int, clReleaseEvent, (cl_event))

typedef struct ambit__cl_api {
#define X(result, name, parameters) result(*name) parameters;
  AMBIT__CL_MAP(X)
#undef X
} ambit__cl_api;

#endif
