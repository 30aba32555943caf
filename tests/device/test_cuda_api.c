/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares our declarations of CUDA's functions and constants with the headers, and checks the
 * message without a GPU. Without the headers the first half is left out, and the test counts as
 * skipped. */
#if defined __has_include
#  if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#    define HAS_HEADERS 1
#    include <cuda.h> /* first: its macros rename functions */
#    include <nvrtc.h>
#  endif
#endif

#include "device/cuda/cuda_api.h"
#include "device/gpu/driver.h"
#include "support/test.h"

#ifdef HAS_HEADERS

/* The macros of the headers, such as cuMemAlloc for cuMemAlloc_v2, apply to both sides. */
#  define SAME_FUNCTION(table, name)                                                               \
    CHECK_MSG(__builtin_types_compatible_p(__typeof__(&name), __typeof__(((table *)NULL)->name)),  \
              "%s has another type", #name);

static void the_functions_of_the_driver_have_their_true_types(void)
{
#  define X(name, params) SAME_FUNCTION(ambit__cuda, name)
  AMBIT__CUDA_MAP(X)
#  undef X
}

static void the_functions_of_nvrtc_have_their_true_types(void)
{
#  define X(name, params) SAME_FUNCTION(ambit__nvrtc, name)
  AMBIT__NVRTC_MAP(X)
#  undef X
  SAME_FUNCTION(ambit__nvrtc, nvrtcGetErrorString)
}

static void the_numbers_are_theirs(void)
{
#  define X(name, original, value)                                                                 \
    CHECK_MSG((int)(original) == (value), "%s is %d, not %d", #original, (int)(original), value);
  AMBIT__CUDA_VALUES(X)
#  undef X
}

static void handles_and_addresses_have_their_size(void)
{
  CHECK_EQ(sizeof(CUresult), sizeof(ambit__cu_result));
  CHECK_EQ(sizeof(CUdevice), sizeof(ambit__cu_device));
  CHECK_EQ(sizeof(CUdeviceptr), sizeof(ambit__cu_pointer));
  CHECK_EQ(sizeof(nvrtcResult), sizeof(ambit__nvrtc_result));
}

#endif

static void having_no_device_has_a_reason(void)
{
  const ambit__gpu_driver *d = &ambit__gpu_driver_cuda;
  const char *why = d->why_none();

  CHECK(d->count() >= 0);
  CHECK_MSG((d->count() == 0) == (why[0] != '\0'), "%d devices, but: %s", d->count(), why);
  if (!d->count()) CHECK(strstr(why, "NVIDIA"));
}

static void a_device_past_the_last_is_refused_by_number(void)
{
  const ambit__gpu_driver *d = &ambit__gpu_driver_cuda;
  ambit__settings settings = {.cache = "none", .dump = ""};
  ambit__errors errors = {.status = AMBIT_OK};
  ambit__gpu *gpu = NULL;

  CHECK_EQ(AMBIT_ENODEVICE, d->open(&errors, &settings, 77, &gpu));
  CHECK(!gpu && errors.text && strstr(errors.text, "cuda:77"));
  ambit__errors_clear(&errors);
}

#ifndef HAS_HEADERS
static void skip(void)
{
  SKIP("cuda.h and nvrtc.h are not installed");
}
#  define WITH_HEADERS(name)                                                                       \
    {                                                                                              \
#      name, skip                                                                                  \
    }
#else
#  define WITH_HEADERS(name)                                                                       \
    {                                                                                              \
#      name, name                                                                                  \
    }
#endif

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      WITH_HEADERS(the_functions_of_the_driver_have_their_true_types),
      WITH_HEADERS(the_functions_of_nvrtc_have_their_true_types),
      WITH_HEADERS(the_numbers_are_theirs),
      WITH_HEADERS(handles_and_addresses_have_their_size),
      {"having_no_device_has_a_reason", having_no_device_has_a_reason},
      {"a_device_past_the_last_is_refused_by_number", a_device_past_the_last_is_refused_by_number},
      {0}};

  return test_main(argc, argv, tests);
}
