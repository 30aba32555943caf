/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_load.c - finds the HDF5 library and its functions, once per process.
 *
 * In this order: the one that the program has loaded itself, since two in one process would call
 * each other's functions; that of HDF5_DIR or HDF5_ROOT; those that the system's loader finds, a
 * serial one before one for MPI; those of conda and of Python's h5py.
 */
#define _GNU_SOURCE 1 /* RTLD_DEFAULT */
#include "io/hdf5_api.h"

#ifdef AMBIT_HAVE_HDF5
#  include "base/library.h"

#  include <dlfcn.h>
#  include <pthread.h>
#  include <stdio.h>
#  include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ambit__h5_api api;
static char why_none[400]; /* "": loaded */

/* Names of the library: those of Debian, which has several, and those of everybody else. The
 * numbers are of HDF5 2.0, 1.14, 1.12 and 1.10; without one, the file is of a developers' package.
 */
static const char *const names[] = {
    "libhdf5_serial.so.320",  "libhdf5_serial.so.310",
    "libhdf5_serial.so.200",  "libhdf5_serial.so.103",
    "libhdf5.so.320",         "libhdf5.so.310",
    "libhdf5.so.200",         "libhdf5.so.103",
    "libhdf5_serial.so",      "libhdf5.so",
    "libhdf5_openmpi.so.320", "libhdf5_openmpi.so.310",
    "libhdf5_openmpi.so.200", "libhdf5_openmpi.so.103",
    "libhdf5_mpich.so.320",   "libhdf5_mpich.so.310",
    "libhdf5_mpich.so.200",   "libhdf5_mpich.so.103",
};
enum { NAMES = sizeof names / sizeof *names };

static const char *const first_places[] = {"HDF5_DIR|/lib", "HDF5_DIR|/lib64", "HDF5_ROOT|/lib",
                                           "HDF5_ROOT|/lib64"};
static const char *const last_places[] = {"CONDA_PREFIX|/lib",
                                          "VIRTUAL_ENV|/lib/python3*/site-packages/h5py.libs"};

/* Fills in the table. Returns the name of the first thing that is missing, or NULL. */
static const char *find_all(void *library)
{
  ambit__hid *id;

#  define X(result, name, parameters)                                                              \
    {                                                                                              \
      void *address = dlsym(library, #name);                                                       \
                                                                                                   \
      if (!address) return #name;                                                                  \
      memcpy(&api.name, &address, sizeof address);                                                 \
    }
  AMBIT__H5_MAP(X)
#  undef X
  if (api.H5open() < 0) return "H5open";
#  define X(name)                                                                                  \
    if (!(id = dlsym(library, #name))) return #name;                                               \
    api.name = *id;
  AMBIT__H5_IDS(X)
#  undef X
  return NULL;
}

static void tell_missing(const char *path, const char *missing)
{
  snprintf(why_none, sizeof why_none,
           "%.200s is too old, or not a whole HDF5: it has no %s. Versions from 1.10.7 and 1.12.1 "
           "on can be used",
           path, missing);
}

static bool try_library(const char *path)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char *missing;

  if (!library) return false;
  missing = find_all(library);
  if (!missing) {
    why_none[0] = '\0';
    return true;
  }
  tell_missing(path, missing);
  return false; /* and stays loaded: HDF5 has registered a function to call at exit */
}

static bool try_places(const char *const *places, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (ambit__library_seek(places[i], "libhdf5[-.]*so*", try_library)) return true;
  return false;
}

static void load(void)
{
  const char *missing;

  if (dlsym(RTLD_DEFAULT, "H5open")) {
    missing = find_all(RTLD_DEFAULT);
    if (missing) tell_missing("the HDF5 library that this program has loaded", missing);
    return;
  }
  if (try_places(first_places, sizeof first_places / sizeof *first_places)) return;
  for (int i = 0; i < NAMES; i++)
    if (try_library(names[i])) return;
  if (try_places(last_places, sizeof last_places / sizeof *last_places) || why_none[0]) return;
  snprintf(why_none, sizeof why_none,
           "the HDF5 library is not installed: on Debian and Ubuntu it is libhdf5-103-1 or "
           "libhdf5-310, elsewhere hdf5. If it is somewhere else, set HDF5_DIR to its folder, the "
           "one with lib/libhdf5.so");
}

const ambit__h5_api *ambit__h5_load(const char **why)
{
  pthread_once(&once, load);
  *why = why_none;
  return why_none[0] ? NULL : &api;
}

#else

const ambit__h5_api *ambit__h5_load(const char **why)
{
  *why = "this build of Ambit has no HDF5 (AMBIT_HDF5=OFF)";
  return NULL;
}

#endif
