/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_api.h - the part of the HDF5 C library used here, as HDF5 1.10, 1.12, 1.14 and 2.0 have it.
 *
 * The library is loaded at run time, and none of its headers is needed to build. Every function is
 * one line of AMBIT__H5_MAP with its true prototype, every variable one of AMBIT__H5_IDS; the table
 * is made from both. tests/io/test_hdf5_api.c compares them with the header.
 */
#ifndef AMBIT_IO_HDF5_API_H
#define AMBIT_IO_HDF5_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ambit__h5_error { /* H5E_error2_t */
  int64_t class_id, major, minor;
  unsigned line;
  const char *function, *file, *text;
};
struct ambit__h5_group_info { /* H5G_info_t */
  int storage;
  uint64_t links;
  int64_t most_order;
  bool mounted;
};

#ifndef AMBIT__H5_THEIRS /* the test that has the header defines them itself */
typedef int64_t ambit__hid, ambit__hssize;
typedef uint64_t ambit__hsize;
typedef struct ambit__h5_error ambit__h5_error;
typedef struct ambit__h5_group_info ambit__h5_group_info;
typedef int (*ambit__h5_print_fn)(ambit__hid stack, void *user);
typedef int (*ambit__h5_walk_fn)(unsigned n, const ambit__h5_error *error, void *user);
#endif

/* result, name, parameters */
#define AMBIT__H5_MAP(X)                                                                           \
  X(int, H5open, (void))                                                                           \
  X(int, H5Eget_auto2, (ambit__hid, ambit__h5_print_fn *, void **))                                \
  X(int, H5Eset_auto2, (ambit__hid, ambit__h5_print_fn, void *))                                   \
  X(int, H5Ewalk2, (ambit__hid, unsigned, ambit__h5_walk_fn, void *))                              \
  X(ambit__hid, H5Fopen, (const char *, unsigned, ambit__hid))                                     \
  X(int, H5Fclose, (ambit__hid))                                                                   \
  X(ambit__hid, H5Pcreate, (ambit__hid))                                                           \
  X(int, H5Pset_file_locking, (ambit__hid, bool, bool))                                            \
  X(int, H5Gget_info_by_name, (ambit__hid, const char *, ambit__h5_group_info *, ambit__hid))      \
  X(ssize_t, H5Lget_name_by_idx,                                                                   \
    (ambit__hid, const char *, int, int, ambit__hsize, char *, size_t, ambit__hid))                \
  X(ambit__hid, H5Oopen, (ambit__hid, const char *, ambit__hid))                                   \
  X(int, H5Idec_ref, (ambit__hid))                                                                 \
  X(int, H5Iget_type, (ambit__hid))                                                                \
  X(ambit__hid, H5Screate_simple, (int, const ambit__hsize *, const ambit__hsize *))               \
  X(int, H5Sget_simple_extent_ndims, (ambit__hid))                                                 \
  X(int, H5Sget_simple_extent_dims, (ambit__hid, ambit__hsize *, ambit__hsize *))                  \
  X(ambit__hssize, H5Sget_simple_extent_npoints, (ambit__hid))                                     \
  X(int, H5Sselect_hyperslab,                                                                      \
    (ambit__hid, int, const ambit__hsize *, const ambit__hsize *, const ambit__hsize *,            \
     const ambit__hsize *))                                                                        \
  X(ambit__hid, H5Tcopy, (ambit__hid))                                                             \
  X(int, H5Tget_class, (ambit__hid))                                                               \
  X(size_t, H5Tget_size, (ambit__hid))                                                             \
  X(int, H5Tget_sign, (ambit__hid))                                                                \
  X(size_t, H5Tget_ebias, (ambit__hid))                                                            \
  X(int, H5Tset_size, (ambit__hid, size_t))                                                        \
  X(int, H5Tset_fields, (ambit__hid, size_t, size_t, size_t, size_t, size_t))                      \
  X(int, H5Tset_ebias, (ambit__hid, size_t))                                                       \
  X(ambit__hid, H5Tget_super, (ambit__hid))                                                        \
  X(ambit__hid, H5Dopen2, (ambit__hid, const char *, ambit__hid))                                  \
  X(ambit__hid, H5Dget_space, (ambit__hid))                                                        \
  X(ambit__hid, H5Dget_type, (ambit__hid))                                                         \
  X(int, H5Dread, (ambit__hid, ambit__hid, ambit__hid, ambit__hid, ambit__hid, void *))            \
  X(ambit__hid, H5Aopen_by_name, (ambit__hid, const char *, const char *, ambit__hid, ambit__hid)) \
  X(int, H5Aexists_by_name, (ambit__hid, const char *, const char *, ambit__hid))                  \
  X(ambit__hid, H5Aget_space, (ambit__hid))                                                        \
  X(int, H5Aread, (ambit__hid, ambit__hid, void *))

/* Variables of the library, which H5open sets: behind its macros such as H5T_NATIVE_FLOAT. */
#define AMBIT__H5_IDS(X)                                                                           \
  X(H5P_CLS_FILE_ACCESS_ID_g)                                                                      \
  X(H5T_IEEE_F32LE_g)                                                                              \
  X(H5T_IEEE_F32BE_g)                                                                              \
  X(H5T_NATIVE_FLOAT_g)                                                                            \
  X(H5T_NATIVE_DOUBLE_g)                                                                           \
  X(H5T_NATIVE_UINT8_g)                                                                            \
  X(H5T_NATIVE_UINT16_g)                                                                           \
  X(H5T_NATIVE_UINT32_g)                                                                           \
  X(H5T_NATIVE_UINT64_g)                                                                           \
  X(H5T_NATIVE_INT16_g)                                                                            \
  X(H5T_NATIVE_INT32_g)                                                                            \
  X(H5T_NATIVE_INT64_g)

/* Their constants: our name, theirs, the value. */
#define AMBIT__H5_VALUES(X)                                                                        \
  X(H5_DEFAULT, H5P_DEFAULT, 0)                                                                    \
  X(H5_STACK, H5E_DEFAULT, 0)                                                                      \
  X(H5_WALK_UPWARD, H5E_WALK_UPWARD, 0)                                                            \
  X(H5_READ_ONLY, H5F_ACC_RDONLY, 0)                                                               \
  X(H5_INDEX_NAME, H5_INDEX_NAME, 0)                                                               \
  X(H5_INCREASING, H5_ITER_INC, 0)                                                                 \
  X(H5_IS_DATASET, H5I_DATASET, 5)                                                                 \
  X(H5_ALL, H5S_ALL, 0)                                                                            \
  X(H5_SELECT_SET, H5S_SELECT_SET, 0)                                                              \
  X(H5_CLASS_INTEGER, H5T_INTEGER, 0)                                                              \
  X(H5_CLASS_FLOAT, H5T_FLOAT, 1)                                                                  \
  X(H5_CLASS_ENUM, H5T_ENUM, 8)                                                                    \
  X(H5_UNSIGNED, H5T_SGN_NONE, 0)

enum {
#define X(name, theirs, value) AMBIT__##name = value,
  AMBIT__H5_VALUES(X)
#undef X
};

typedef struct ambit__h5_api {
#define X(result, name, parameters) result(*name) parameters;
  AMBIT__H5_MAP(X)
#undef X
#define X(name) ambit__hid name;
  AMBIT__H5_IDS(X)
#undef X
} ambit__h5_api;

/* The library, loaded once per process; NULL: there is none, and *why has the reason. */
const ambit__h5_api *ambit__h5_load(const char **why);

#endif
